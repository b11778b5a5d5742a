//! Rules for results that are separated from their calls: on another branch or lane, after a
//! compaction, after a user message.
//!
//! Invariant: for linked records, the links determine what is between a call and its result;
//! otherwise the order of the file does, but only among records of one file.

use super::scene::{CallWithBlock, LintScene, OTHERS, call_name};
use super::{Consequence, Finding, Rule, RuleGroup};
use crate::model::edit::Severity;
use crate::model::entry::{EntryId, Role};
use crate::model::record::Origin;
use crate::model::tool::ToolResult;

pub(super) const GROUP: RuleGroup = RuleGroup {
    rules: &[&OTHER_BRANCH, &OTHER_LANE, &SPLIT, &USER_BETWEEN],
    judge,
};

static OTHER_BRANCH: Rule = Rule {
    id: "result-on-other-branch",
    severity: Severity::Warning,
    what: "a result that is recorded on another branch than its call",
    consequence: Consequence::Uncalled,
};
static OTHER_LANE: Rule = Rule {
    id: "result-in-other-lane",
    severity: Severity::Warning,
    what: "a result that is recorded for another agent than its call",
    consequence: Consequence::Uncalled,
};
static SPLIT: Rule = Rule {
    id: "split-by-compaction",
    severity: Severity::Error,
    what: "a compaction that keeps a result, but not its call",
    consequence: Consequence::Uncalled,
};
static USER_BETWEEN: Rule = Rule {
    id: "user-between",
    severity: Severity::Warning,
    what: "something that the user said between a call and its result",
    consequence: Consequence::Unanswered,
};

/// Limit of prompts or compactions between a call and its result that are checked.
const PROMPTS: usize = 64;

fn judge(scene: &mut LintScene<'_>) {
    for asked in scene.calls() {
        let Some(result) = asked.call.state.result() else {
            continue;
        };
        if result.body.flags.elsewhere {
            let message = format!(
                "the result of {} is recorded in another lane",
                call_name(asked.call)
            );
            scene.add_call(&OTHER_LANE, asked, message);
            continue;
        }
        if result.body.flags.early {
            continue;
        }
        match scene.path_to_call(&result.key, &scene.entry.key) {
            Some(Err(())) => {
                let message = format!(
                    "the result of {} is recorded on another branch",
                    call_name(asked.call)
                );
                scene.findings.push(Finding {
                    // The result is missing on the call's branch, even if that was abandoned.
                    severity: OTHER_BRANCH.severity,
                    place: result.body.from,
                    ..scene.of_call(&OTHER_BRANCH, asked, message)
                });
            }
            Some(Ok(way)) => {
                report_prompts(scene, asked, way.user_messages);
                add_split(scene, asked, result, way.compaction);
            }
            None => {
                prompts_in_between(scene, asked, result);
                let compaction = compaction_between(scene, asked.call.input.from, result.body.from);
                add_split(scene, asked, result, compaction);
            }
        }
    }
    strays_elsewhere(scene);
    split_by_kept(scene);
}

/// Reports a stray result on another branch, whose call has a result on its own branch.
fn strays_elsewhere(scene: &mut LintScene<'_>) {
    for given in scene.results() {
        if given.call.is_some() || given.id.is_blank() {
            continue;
        }
        let caller = scene.nearest_caller(given.id);
        let call = caller
            .and_then(|id| scene.transcript.get(id))
            .map(|entry| &entry.key);
        if call.is_some_and(|call| {
            matches!(scene.path_to_call(&given.result.key, call), Some(Err(())))
        }) {
            let message = format!("a result of {} on another branch than the call", given.id);
            let found = scene.of_result(&OTHER_BRANCH, given, message);
            let others = caller.into_iter().collect();
            scene.findings.push(Finding { others, ..found });
        }
    }
}

/// The next prompts in the lane of the entry.
fn prompts_after(scene: &LintScene<'_>) -> Vec<EntryId> {
    let transcript = scene.transcript;
    let lane = scene.entry.lane.as_ref();
    if !transcript.is_main_lane(lane) {
        let next = scene.next_in_lane();
        let prompts = next.filter(|(_, entry)| entry.marks.prompt);
        return prompts.take(PROMPTS).map(|(id, _)| id).collect();
    }
    let turns = transcript.turns();
    let session = lane
        .and_then(|lane| transcript.session_of_lane(lane))
        .map_or(0, |(session, _)| session);
    let own = transcript.turns_of(session);
    let next = own.partition_point(|turn| {
        turns
            .get(*turn)
            .is_some_and(|turn| turn.first <= scene.place)
    });
    let after = own
        .get(next..)
        .unwrap_or_default()
        .iter()
        .filter_map(|turn| turns.get(*turn));
    after.take(PROMPTS).map(|turn| turn.prompt).collect()
}

/// Reports prompts between call and result by file order. Linked prompts are skipped: they may be
/// on another branch.
fn prompts_in_between(scene: &mut LintScene<'_>, asked: CallWithBlock<'_>, result: &ToolResult) {
    let (from, to) = (asked.call.input.from, result.body.from);
    if !is_before(from, to) {
        return;
    }
    let mut said = Vec::new();
    for id in prompts_after(scene) {
        scene.memory.work += 1;
        let Some(entry) = scene.transcript.get(id) else {
            continue;
        };
        if entry.origin.file == to.file && entry.origin.at >= to.at {
            break;
        }
        let is_between = is_before(from, entry.origin) && is_before(entry.origin, to);
        let is_said = entry.role == Role::User && !entry.marks.copy;
        if is_between && is_said && entry.parent.is_none() && said.len() < OTHERS {
            said.push(id);
        }
    }
    report_prompts(scene, asked, said);
}

fn report_prompts(scene: &mut LintScene<'_>, asked: CallWithBlock<'_>, said: Vec<EntryId>) {
    if said.is_empty() {
        return;
    }
    for id in &said {
        scene.depend_on(*id);
    }
    let message = format!(
        "the user spoke between {} and its result",
        call_name(asked.call)
    );
    let found = scene.of_call(&USER_BETWEEN, asked, message);
    scene.findings.push(Finding {
        others: said,
        ..found
    });
}

/// Reports a compaction between call and result. If the compaction does not record what it kept,
/// everything before it is gone.
fn add_split(
    scene: &mut LintScene<'_>,
    asked: CallWithBlock<'_>,
    result: &ToolResult,
    compaction: Option<EntryId>,
) {
    let Some(compaction) = compaction else { return };
    scene.depend_on(compaction);
    let message = format!(
        "a compaction stands between {} and its result",
        call_name(asked.call)
    );
    scene.findings.push(Finding {
        others: vec![compaction],
        place: result.body.from,
        ..scene.of_call(&SPLIT, asked, message)
    });
}

/// The first compaction of the lane between two records of one file that does not record what it
/// kept.
pub(super) fn compaction_between(
    scene: &LintScene<'_>,
    from: Origin,
    to: Origin,
) -> Option<EntryId> {
    if !is_before(from, to) {
        return None;
    }
    let is_between = |(at, id): &&(Origin, EntryId)| {
        let other = scene.transcript.get(*id);
        is_before(from, *at)
            && is_before(*at, to)
            && other.is_some_and(|other| {
                other.lane == scene.entry.lane && scene.transcript.first_kept(&other.key).is_none()
            })
    };
    // The range excludes those elsewhere, because there may be thousands.
    let mut near = scene
        .frame
        .compactions
        .range((from, EntryId(0))..(to, EntryId(0)))
        .take(PROMPTS);
    near.find(is_between).map(|(_, id)| *id)
}

/// Reports a compaction whose first kept record is a result, or follows other results of the same
/// answer.
fn split_by_kept(scene: &mut LintScene<'_>) {
    let blocks = &scene.entry.blocks;
    let compaction = blocks.iter().position(|block| block.kind.is_compaction());
    let kept = compaction.and_then(|_| scene.transcript.first_kept(&scene.entry.key));
    let (Some(block), Some(kept)) = (compaction, kept) else {
        return;
    };
    if scene.transcript.find(kept).is_some() {
        return;
    }
    // Results are nodes of the tree; the first entry above is the answer with their calls.
    let mut at = scene.transcript.print_of(kept);
    let mut above = None;
    for _ in 0..1_000 {
        scene.memory.work += 1;
        match scene.transcript.parent_of(at) {
            None => return scene.depend_on_missing(at),
            Some(None) => return,
            Some(Some(parent)) => at = parent,
        }
        above = scene.transcript.find_print(at);
        if above.is_some() {
            break;
        }
    }
    let Some(id) = above else { return };
    scene.depend_on(id);
    let Some(entry) = scene.transcript.get(id) else {
        return;
    };
    let call = entry.calls().find(|call| {
        call.state
            .result()
            .is_some_and(|result| result.key == *kept)
    });
    if let Some(call) = call {
        let message = format!(
            "the compaction keeps the result of {}, but not the call",
            call_name(call)
        );
        let origin = scene.entry.origin;
        let found = scene.new_finding(&SPLIT, block, &call.key, origin, message);
        let others = vec![id];
        scene.findings.push(Finding { others, ..found });
    }
}

/// Whether a record is before another one in the same file.
fn is_before(one: Origin, other: Origin) -> bool {
    one.file == other.file && one.at < other.at
}
