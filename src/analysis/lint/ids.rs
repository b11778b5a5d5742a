//! Ids that do not tell calls apart, and names that contradict each other.

use super::provider::Provider;
use super::scene::{Asked, Scene, named, named_result};
use super::{Finding, Group, Rule};
use crate::model::edit::Severity;
use crate::model::entry::EntryId;
use crate::model::pairing::{calls_of, identifies};

/// The rules of this file.
pub(super) const GROUP: Group = Group { rules: &[&EMPTY_ID, &REUSED_ID, &ID_IS_NAME, &NAME_MISMATCH], judge };

pub(super) static EMPTY_ID: Rule =
    Rule { id: "empty-id", severity: Severity::Error, what: "a call or a result without an id" };
pub(super) static REUSED_ID: Rule = Rule {
    id: "reused-id",
    severity: Severity::Error,
    what: "an id that another call of the session has already",
};
pub(super) static ID_IS_NAME: Rule = Rule {
    id: "id-is-name",
    severity: Severity::Warning,
    what: "calls whose id is the name of their tool, so that it does not tell them apart",
};
pub(super) static NAME_MISMATCH: Rule = Rule {
    id: "name-mismatch",
    severity: Severity::Warning,
    what: "a result that names another tool than its call",
};

fn judge(scene: &mut Scene<'_>) {
    for asked in scene.calls() {
        let call = asked.call;
        if call.key.is_blank() {
            scene.add_call(&EMPTY_ID, asked, format!("the call of {} has no id", named(call)));
        } else if call.key == call.name {
            id_is_name(scene, asked);
        } else if identifies(&call.key) {
            reused(scene, asked);
        }
    }
    for given in scene.results() {
        if given.id.is_blank() && given.call.is_none() {
            scene.add_result(&EMPTY_ID, given, "a result names no call".to_owned());
        }
        let names = given.call.map(|call| &call.name).zip(given.result.tool.as_ref());
        if let Some((asked, told)) = names
            && !asked.is_blank()
            && !told.is_blank()
            && bare(asked) != bare(told)
        {
            let message = format!("{} is answered by a result of {told}", named_result(given));
            scene.add_result(&NAME_MISMATCH, given, message);
        }
    }
}

/// Told once for each tool, at the first call.
fn id_is_name(scene: &mut Scene<'_>, asked: Asked<'_>) {
    let callers = scene.transcript.entries_with_call(&asked.call.key);
    for caller in callers {
        scene.looked_at(*caller);
    }
    let first_here = scene.calls().iter().find(|other| other.call.key == asked.call.key).map(|one| one.block);
    if callers.first() == Some(&scene.id) && first_here == Some(asked.block) {
        let message = format!("the id of {} is its tool's name", named(asked.call));
        scene.add_call(&ID_IS_NAME, asked, message);
    }
}

/// Calls of other lanes and of what the session left are in other requests.
fn reused(scene: &mut Scene<'_>, asked: Asked<'_>) {
    let transcript = scene.transcript;
    let key = &asked.call.key;
    let here = scene.calls().iter().any(|other| other.block < asked.block && other.call.key == *key);
    let callers: Vec<EntryId> = transcript.entries_with_call(key).to_vec();
    let before: Vec<EntryId> = callers.into_iter().take_while(|caller| *caller != scene.id).collect();
    for caller in &before {
        scene.looked_at(*caller);
    }
    let is_left = |id: &EntryId| transcript.branches().abandoned.contains(id);
    let is_beside = |id: &EntryId| {
        let other = transcript.get(*id).filter(|other| !other.marks.copy && other.lane == scene.entry.lane);
        other.is_some_and(|other| calls_of(other).any(|call| call.key == *key)) && !is_left(id)
    };
    let others: Vec<EntryId> =
        before.into_iter().filter(is_beside).filter(|_| !scene.is_abandoned()).collect();
    if !here && others.is_empty() {
        return;
    }
    let found = scene.found(&REUSED_ID, asked.block, key, asked.call.input.from);
    // Others take what comes last, or go by the order.
    let severity = if found.provider == Provider::Anthropic {
        found.severity
    } else {
        found.severity.min(Severity::Warning)
    };
    let message = format!("{}: the id is that of an earlier call", named(asked.call));
    scene.findings.push(Finding { severity, others, message, ..found });
}

/// Agents write the names of tools in several manners: `functions.bash`, `Bash`.
fn bare(name: &str) -> String {
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    last.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
