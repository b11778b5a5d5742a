//! Rules for the content of results: placeholders, failures marked as success, empty results; and
//! answered calls with truncated arguments.

use super::scene::{Given, LintScene, call_name, result_name};
use super::{Consequence, Finding, Rule, RuleGroup};
use crate::model::body::OutputFailure;
use crate::model::edit::Severity;
use crate::model::tool::{ToolCall, ToolKind, Verdict};

pub(super) const GROUP: RuleGroup = RuleGroup {
    rules: &[
        &SYNTHETIC,
        &UNMARKED_FAILURE,
        &EMPTY_RESULT,
        &BROKEN_ARGUMENTS,
    ],
    judge,
};

static SYNTHETIC: Rule = Rule {
    id: "synthetic-result",
    severity: Severity::Warning,
    what: "a result that the agent made up, because the true one is lost or never came",
    consequence: Consequence::Words("the model never saw what the tool did; the call may have run"),
};
static UNMARKED_FAILURE: Rule = Rule {
    id: "error-as-success",
    severity: Severity::Warning,
    what: "a result that tells of a failure, while its mark says success or is missing",
    consequence: Consequence::Words(
        "the model must find the failure in the text; whatever counts errors by their mark misses it",
    ),
};
static EMPTY_RESULT: Rule = Rule {
    id: "empty-result",
    severity: Severity::Note,
    what: "a result with nothing in it",
    consequence: Consequence::Words(
        "nothing: providers take empty results, but the model cannot tell success from silence",
    ),
};
static BROKEN_ARGUMENTS: Rule = Rule {
    id: "truncated-arguments",
    severity: Severity::Warning,
    what: "a call whose arguments break off, but which was answered",
    consequence: Consequence::Words(
        "the tool ran on a part of what the model meant, or refused it",
    ),
};

/// Beginnings of results that agents write in place of lost ones.
const LOST: [&str; 9] = [
    "[openclaw] missing tool result in session history",
    "No result provided",
    "[Tool call interrupted]",
    "[Tool result missing",
    "[Tool execution was interrupted]",
    "Tool execution was interrupted",
    "Tool call was interrupted",
    "Task was interrupted before this tool call could be completed",
    "[Result lost",
];

/// Complete texts of results of interrupted calls.
const STOPPED: [&str; 9] = [
    "aborted",
    "Operation aborted",
    "Command aborted",
    "Tool execution aborted",
    "[Request interrupted by user for tool use]",
    "[Request interrupted by user]",
    "Interrupted by user",
    "Skipped due to queued user message.",
    "Cancelled",
];

fn judge(scene: &mut LintScene<'_>) {
    for asked in scene.calls() {
        let is_answered = asked.call.state.result().is_some();
        if asked.call.input.flags.broken_off && is_answered {
            let message = format!(
                "the arguments of {} break off, but it was answered",
                call_name(asked.call)
            );
            scene.add_call(&BROKEN_ARGUMENTS, asked, message);
        }
    }
    for given in scene.results() {
        if !synthetic(scene, given) && !unmarked(scene, given) {
            empty(scene, given);
        }
    }
}

fn synthetic(scene: &mut LintScene<'_>, given: Given<'_>) -> bool {
    let output = given.result.body.stub.trim();
    let (severity, why) = if LOST.iter().any(|filler| output.starts_with(filler)) {
        (SYNTHETIC.severity, "stands in for one that is lost")
    } else if STOPPED
        .iter()
        .any(|filler| output.eq_ignore_ascii_case(filler))
    {
        (Severity::Note, "only says that it was stopped")
    } else {
        return false;
    };
    let message = format!(
        "the result of {} {why}: \u{201c}{output}\u{201d}",
        result_name(given)
    );
    let found = scene.of_result(&SYNTHETIC, given, message);
    let severity = severity.min(found.severity);
    scene.findings.push(Finding { severity, ..found });
    true
}

fn unmarked(scene: &mut LintScene<'_>, given: Given<'_>) -> bool {
    let result = given.result;
    let flags = result.body.flags;
    let kind = given.call.map_or(ToolKind::Other, |call| call.kind);
    // A call that polls the work of another one reports its failure, but did not fail itself.
    let tells = given.call.is_some_and(ToolCall::is_follow_up)
        && flags.failure != Some(OutputFailure::Tool);
    let is_silent_failure = match (result.verdict, flags.failure) {
        _ if tells => false,
        (Verdict::Failed, _) if flags.unmarked => true,
        (Verdict::Done, Some(failure)) => is_own_failure(failure, kind),
        _ => false,
    };
    if is_silent_failure {
        let what = match (result.facts.is_blank(), result.body.stub.is_blank()) {
            (false, _) if result.facts.contains("exit ") => result.facts.to_string(),
            _ if result.body.stub.starts_with('{') => {
                "its output is an object that says so".to_owned()
            }
            (_, false) => format!("\u{201c}{}\u{201d}", short(&result.body.stub)),
            _ => "a failure".to_owned(),
        };
        let message = format!(
            "{} failed ({what}), but is not marked as an error",
            result_name(given)
        );
        scene.add_result(&UNMARKED_FAILURE, given, message);
    }
    is_silent_failure
}

/// Whether a failure in the output is the tool's own: contents of files and pages are not.
fn is_own_failure(failure: OutputFailure, kind: ToolKind) -> bool {
    let passes_on = matches!(
        kind,
        ToolKind::Read | ToolKind::Search | ToolKind::Run | ToolKind::Fetch
    );
    match failure {
        OutputFailure::Exit => kind == ToolKind::Run,
        OutputFailure::Tool => true,
        OutputFailure::Object | OutputFailure::Words => !passes_on,
    }
}

fn empty(scene: &mut LintScene<'_>, given: Given<'_>) {
    let result = given.result;
    let is_empty = result.body.bytes == 0 && result.images.is_empty() && result.patch.is_none();
    if is_empty && result.verdict == Verdict::Done {
        scene.add_result(
            &EMPTY_RESULT,
            given,
            format!("the result of {} is empty", result_name(given)),
        );
    }
}

/// The beginning of a text.
fn short(text: &str) -> String {
    const CHARS: usize = 80;
    let mut chars = text.chars();
    let begin: String = chars.by_ref().take(CHARS).collect();
    if chars.next().is_some() {
        format!("{begin}…")
    } else {
        begin
    }
}
