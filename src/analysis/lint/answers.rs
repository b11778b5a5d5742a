//! Error messages of providers for histories that break their rules, verbatim where known, and the
//! consequences of other findings.
//!
//! Indexes of messages are left out: they are those of a request that was never made.

use super::provider::Provider;
use super::{Finding, Harmless, ids, order, pairs, results, stops, work};
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
    if rule == &pairs::ORPHAN_CALL || rule == &pairs::PARTIAL_BATCH || rule == &order::USER_BETWEEN
    {
        return refused(finding, Some(unanswered(finding)));
    }
    if rule == &pairs::ORPHAN_RESULT
        || rule == &pairs::EARLY_RESULT
        || rule == &order::SPLIT
        || rule == &order::OTHER_BRANCH
        || rule == &order::OTHER_LANE
    {
        return refused(finding, Some(uncalled(finding)));
    }
    if rule == &pairs::DUPLICATE_RESULT {
        return refused(finding, twice(finding));
    }
    if rule == &ids::EMPTY_ID {
        return refused(finding, nameless(finding));
    }
    if rule == &ids::REUSED_ID {
        return match finding.provider {
            Provider::Anthropic => refused(finding, Some("`tool_use` ids must be unique".to_owned())),
            _ => "most providers take it; which result belongs to which call follows from the order alone"
                .to_owned(),
        };
    }
    let words = CONSEQUENCES
        .iter()
        .find(|(id, _)| *id == rule.id)
        .map(|(_, words)| *words);
    words.unwrap_or_default().to_owned()
}

/// Consequences of rules that no provider checks.
const CONSEQUENCES: &[(&str, &str)] = &[
    (
        pairs::INTERRUPTED_CALL.id,
        "the agent leaves it out of the next request, or answers it itself",
    ),
    (
        ids::ID_IS_NAME.id,
        "calls of one tool are told apart by their order alone; other providers refuse the ids when the model is changed",
    ),
    (
        ids::NAME_MISMATCH.id,
        "the model reads the output of another tool; providers that pair by name (Gemini, Ollama) pair it wrongly",
    ),
    (
        results::SYNTHETIC.id,
        "the model never saw what the tool did; the call may have run",
    ),
    (
        results::UNMARKED_FAILURE.id,
        "the model must find the failure in the text; whatever counts errors by their mark misses it",
    ),
    (
        results::EMPTY_RESULT.id,
        "nothing: providers take empty results, but the model cannot tell success from silence",
    ),
    (
        results::BROKEN_ARGUMENTS.id,
        "the tool ran on a part of what the model meant, or refused it",
    ),
    (
        work::UNDELIVERED.id,
        "the model still takes it for running: it waits, asks in vain, or never looks at what came out; tell it, or have it look",
    ),
    (
        work::LATE.id,
        "nothing is lost; until then the model took it for running",
    ),
    (
        work::MISROUTED.id,
        "the model reads the end of one task as that of another; have it look at the output of both",
    ),
    (
        work::EARLY.id,
        "the model goes on from an end that was none, or the other one; have it look at the output of the task",
    ),
    (
        work::NO_END.id,
        "whether it went well is not known, and what it still changes nobody sees; look whether it runs, and at its output",
    ),
    (
        work::UNPOLLED.id,
        "the model never learns how the command ended; have it ask, or look whether it runs",
    ),
    (
        work::ORPHAN.id,
        "the model is told of a task that it did not begin; the call may stand in another session, or in a file that is missing",
    ),
    (
        stops::STOP_WITHOUT_CALL.id,
        "nothing is left to run: the agent stops, or asks the model again",
    ),
    (
        stops::CALL_WITHOUT_STOP.id,
        "an agent that goes by the stop reason takes the answer for the last one and runs no call",
    ),
];

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
