//! Rules for ids that do not distinguish calls, and names that contradict each other.

use std::collections::HashSet;

use super::provider::Provider;
use super::scene::{CallWithBlock, LintScene, call_name, result_name};
use super::{Consequence, Finding, Rule, RuleGroup};
use crate::model::edit::Severity;
use crate::model::entry::EntryId;
use crate::model::tool::identifies;

pub(super) const GROUP: RuleGroup = RuleGroup {
    rules: &[&EMPTY_ID, &REUSED_ID, &ID_IS_NAME, &NAME_MISMATCH],
    judge,
};

static EMPTY_ID: Rule = Rule {
    id: "empty-id",
    severity: Severity::Error,
    what: "a call or a result without an id",
    consequence: Consequence::Nameless,
};
static REUSED_ID: Rule = Rule {
    id: "reused-id",
    severity: Severity::Error,
    what: "an id that another call of the session has already",
    consequence: Consequence::Reused,
};
static ID_IS_NAME: Rule = Rule {
    id: "id-is-name",
    severity: Severity::Warning,
    what: "calls whose id is the name of their tool, so that it does not tell them apart",
    consequence: Consequence::Words(
        "calls of one tool are told apart by their order alone; other providers refuse the ids when the model is changed",
    ),
};
static NAME_MISMATCH: Rule = Rule {
    id: "name-mismatch",
    severity: Severity::Warning,
    what: "a result that names another tool than its call",
    consequence: Consequence::Words(
        "the model reads the output of another tool; providers that pair by name (Gemini, Ollama) pair it wrongly",
    ),
};

fn judge(scene: &mut LintScene<'_>) {
    let mut seen = HashSet::new();
    for asked in scene.calls() {
        let call = asked.call;
        let is_first_here = seen.insert(&call.key);
        if call.key.is_blank() {
            // While the message is incomplete, its id may still arrive.
            if !scene.entry.marks.open {
                scene.add_call(
                    &EMPTY_ID,
                    asked,
                    format!("the call of {} has no id", call_name(call)),
                );
            }
        } else if call.key == call.name {
            if is_first_here {
                id_is_name(scene, asked);
            }
        } else if identifies(&call.key) {
            reused(scene, asked, (!is_first_here).then_some(scene.id));
        }
    }
    for given in scene.results() {
        if given.id.is_blank() && given.call.is_none() {
            scene.add_result(&EMPTY_ID, given, "a result names no call".to_owned());
        }
        let names = given
            .call
            .map(|call| &call.name)
            .zip(given.result.tool.as_ref());
        if let Some((asked, answered)) = names
            && !asked.is_blank()
            && !answered.is_blank()
            && normalized(asked) != normalized(answered)
        {
            let message = format!(
                "{} is answered by a result of {answered}",
                result_name(given)
            );
            scene.add_result(&NAME_MISMATCH, given, message);
        }
    }
}

/// Reports once per tool, at its first call.
fn id_is_name(scene: &mut LintScene<'_>, asked: CallWithBlock<'_>) {
    let callers = scene.transcript.entries_with_call(&asked.call.key);
    let before = callers
        .partition_point(|caller| *caller < scene.id)
        .checked_sub(1);
    if let Some(before) = before.and_then(|before| callers.get(before)) {
        return scene.depend_on(*before);
    }
    let message = format!("the id of {} is its tool's name", call_name(asked.call));
    scene.add_call(&ID_IS_NAME, asked, message);
}

/// Reports an id that an earlier call in the same requests has; other lanes and abandoned branches
/// are in other requests.
fn reused(scene: &mut LintScene<'_>, asked: CallWithBlock<'_>, here: Option<EntryId>) {
    let key = &asked.call.key;
    let earlier = scene.earlier_caller(key);
    if here.or(earlier).is_none() {
        return;
    }
    let message = format!(
        "{}: the id is that of an earlier call",
        call_name(asked.call)
    );
    let found = scene.of_call(&REUSED_ID, asked, message);
    // Other providers use the last one, or the order.
    let severity = if found.provider == Provider::Anthropic {
        found.severity
    } else {
        found.severity.min(Severity::Warning)
    };
    scene.findings.push(Finding {
        severity,
        others: earlier.into_iter().collect(),
        ..found
    });
}

/// Normalizes the name of a tool, which agents write in several ways: `functions.bash`, `Bash`.
fn normalized(name: &str) -> String {
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    last.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}
