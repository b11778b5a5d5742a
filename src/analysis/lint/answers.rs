//! Error messages of providers for histories that break their rules, verbatim where known, and the
//! consequences of other findings.
//!
//! Indexes of messages are left out: they are those of a request that was never made.

use super::provider::Provider;
use super::{Consequence, Finding, Harmless};
use crate::model::edit::Severity;

pub(super) fn consequence(finding: &Finding) -> String {
    let rule = finding.rule;
    match finding.harmless {
        Some(Harmless::Abandoned) if rule.severity == Severity::Error => {
            return "on a branch that the session left: no provider sees it".to_owned();
        }
        Some(Harmless::Compacted) => {
            return "a compaction took it out of the history since: no provider sees it".to_owned();
        }
        Some(Harmless::Answered) => {
            return "the model was asked again and answered: the agent left the call out, or answered it itself"
                .to_owned();
        }
        Some(Harmless::Abandoned) | None => {}
    }
    match rule.consequence {
        Consequence::Words(words) => words.to_owned(),
        Consequence::Unanswered => refused(finding, Some(unanswered(finding))),
        Consequence::Uncalled => refused(finding, Some(uncalled(finding))),
        Consequence::Twice => refused(finding, twice(finding)),
        Consequence::Nameless => refused(finding, nameless(finding)),
        Consequence::Reused if finding.provider == Provider::Anthropic => {
            refused(finding, Some("`tool_use` ids must be unique".to_owned()))
        }
        Consequence::Reused => {
            "most providers take it; which result belongs to which call follows from the order alone"
                .to_owned()
        }
    }
}

/// The provider's error message, or a general sentence if it is not known.
fn refused(finding: &Finding, words: Option<String>) -> String {
    match (words, finding.provider) {
        (Some(words), Provider::Anthropic) => format!("Anthropic answers 400: {words}"),
        (Some(words), Provider::OpenAi) => format!("OpenAI answers 400: {words}"),
        (Some(words), Provider::Google) => format!("Gemini answers 400: {words}"),
        (Some(words), _) => format!("providers answer 400, such as: {words}"),
        (None, _) => "providers that check the pairing answer 400".to_owned(),
    }
}

fn unanswered(finding: &Finding) -> String {
    let id = &finding.call;
    match finding.provider {
        Provider::Anthropic => format!(
            "`tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        ),
        Provider::OpenAi => format!("No tool output found for function call {id}."),
        Provider::Google => "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.".to_owned(),
        Provider::Other | Provider::Unknown => format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}"
        ),
    }
}

fn uncalled(finding: &Finding) -> String {
    let id = &finding.call;
    match finding.provider {
        Provider::Anthropic => format!(
            "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
        ),
        Provider::OpenAi => format!("No tool call found for function call output with call_id {id}."),
        Provider::Google => {
            "Please ensure that function response turn comes immediately after a function call turn."
                .to_owned()
        }
        Provider::Other | Provider::Unknown => {
            // The misspelling is the API's.
            "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                .to_owned()
        }
    }
}

fn twice(finding: &Finding) -> Option<String> {
    match finding.provider {
        Provider::Anthropic => Some(format!(
            "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {}",
            finding.call
        )),
        Provider::Google => Some(unanswered(finding)),
        Provider::OpenAi | Provider::Other | Provider::Unknown => None,
    }
}

fn nameless(finding: &Finding) -> Option<String> {
    match finding.provider {
        Provider::Anthropic => Some("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'".to_owned()),
        Provider::OpenAi => Some(
            "Invalid 'call_id': empty string. Expected a string with minimum length 1, but got an empty string instead."
                .to_owned(),
        ),
        Provider::Google | Provider::Other | Provider::Unknown => None,
    }
}
