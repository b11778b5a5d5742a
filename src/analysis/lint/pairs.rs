//! Rules for calls without results, results without calls, and duplicate or early results.

use super::scene::{CallWithBlock, Given, LintScene, call_name, result_name};
use super::{Consequence, Finding, Harmless, Rule, RuleGroup, order};
use crate::model::edit::Severity;
use crate::model::entry::{BlockKind, Entry};
use crate::model::tool::ToolState;

pub(super) const GROUP: RuleGroup = RuleGroup {
    rules: &[
        &ORPHAN_CALL,
        &INTERRUPTED_CALL,
        &ORPHAN_RESULT,
        &DUPLICATE_RESULT,
        &EARLY_RESULT,
        &PARTIAL_BATCH,
    ],
    judge,
};

static ORPHAN_CALL: Rule = Rule {
    id: "orphan-call",
    severity: Severity::Error,
    what: "a call that has no result, though the session went on or ended",
    consequence: Consequence::Unanswered,
};
static INTERRUPTED_CALL: Rule = Rule {
    id: "interrupted-call",
    severity: Severity::Note,
    what: "a call that the agent itself says it gave up",
    consequence: Consequence::Words(
        "the agent leaves it out of the next request, or answers it itself",
    ),
};
static ORPHAN_RESULT: Rule = Rule {
    id: "orphan-result",
    severity: Severity::Error,
    what: "a result whose call is not in the session",
    consequence: Consequence::Uncalled,
};
static DUPLICATE_RESULT: Rule = Rule {
    id: "duplicate-result",
    severity: Severity::Error,
    what: "a further result of a call that has its result already",
    consequence: Consequence::Twice,
};
static EARLY_RESULT: Rule = Rule {
    id: "result-before-call",
    severity: Severity::Error,
    what: "a result that is recorded before its call",
    consequence: Consequence::Uncalled,
};
static PARTIAL_BATCH: Rule = Rule {
    id: "partial-batch",
    severity: Severity::Warning,
    what: "parallel calls of one answer of which only some have results",
    consequence: Consequence::Unanswered,
};

/// Limit of calls without results that a message lists.
const NAMED: usize = 8;

fn judge(scene: &mut LintScene<'_>) {
    let calls = scene.calls();
    let mut orphans = Vec::new();
    for asked in &calls {
        let call = asked.call;
        match &call.state {
            ToolState::Lost => {
                let message = format!("{} was interrupted: the agent gave it up", call_name(call));
                scene.add_call(&INTERRUPTED_CALL, *asked, message);
            }
            state if state.is_open() => {
                // Without an id no result can match it, which is a rule of its own.
                if !call.key.is_blank() && !scene.may_get_results() {
                    orphans.push(*asked);
                }
            }
            _ => early(scene, *asked),
        }
    }
    if !orphans.is_empty() {
        let harmless = scene.harmless_reason();
        for asked in &orphans {
            add_open(
                scene,
                &ORPHAN_CALL,
                *asked,
                format!("{} has no result", call_name(asked.call)),
                harmless,
            );
        }
        partial(scene, &calls, &orphans, harmless);
    }
    for given in scene.results() {
        if given.call.is_none() && !given.id.is_blank() {
            stray(scene, given);
        }
    }
}

fn early(scene: &mut LintScene<'_>, asked: CallWithBlock<'_>) {
    let call = asked.call;
    let Some(result) = call.state.result().filter(|result| result.body.flags.early) else {
        return;
    };
    let (from, to) = (result.body.from, call.input.from);
    // Records of two files have no common order; and the order of lines in a file may differ from
    // that sent to the model, which is seen from links and timestamps.
    let is_older = result
        .at
        .zip(call.started.or(scene.entry.at))
        .is_some_and(|(ended, begun)| ended < begun);
    let hangs_on_call = |scene: &mut LintScene<'_>| {
        matches!(
            scene.path_to_call(&result.key, &scene.entry.key),
            Some(Ok(_))
        )
    };
    if from.file == to.file && from.at < to.at && (is_older || !hangs_on_call(scene)) {
        let message = format!("the result of {} stands before the call", call_name(call));
        scene.add_call(&EARLY_RESULT, asked, message);
    }
}

/// Adds a finding about a call without a result; a note if the session continued.
fn add_open(
    scene: &mut LintScene<'_>,
    rule: &'static Rule,
    asked: CallWithBlock<'_>,
    message: String,
    went_on: Option<Harmless>,
) {
    let found = scene.of_call(rule, asked, message);
    let harmless = found.harmless.or(went_on);
    let severity = if harmless.is_some() {
        Severity::Note
    } else {
        found.severity
    };
    scene.findings.push(Finding {
        severity,
        harmless,
        ..found
    });
}

fn partial(
    scene: &mut LintScene<'_>,
    calls: &[CallWithBlock<'_>],
    orphans: &[CallWithBlock<'_>],
    went_on: Option<Harmless>,
) {
    let answered = calls
        .iter()
        .filter(|asked| asked.call.state.result().is_some())
        .count();
    let Some(first) = orphans.first().filter(|_| answered > 0) else {
        return;
    };
    let mut missing: Vec<String> = orphans
        .iter()
        .take(NAMED)
        .map(|asked| call_name(asked.call))
        .collect();
    missing.extend(
        orphans
            .len()
            .checked_sub(NAMED + 1)
            .map(|more| format!("{} more", more + 1)),
    );
    let message = format!(
        "{answered} of {} parallel calls have results; missing: {}",
        calls.len(),
        missing.join(", ")
    );
    add_open(scene, &PARTIAL_BATCH, *first, message, went_on);
}

/// Judges a result without a call in its entry: the call is elsewhere, or missing.
fn stray(scene: &mut LintScene<'_>, given: Given<'_>) {
    let caller = scene.nearest_caller(given.id);
    let is_duplicate = matches!(
        scene.entry.blocks.get(given.block).map(|block| &block.kind),
        Some(BlockKind::Result(stray)) if stray.duplicate
    );
    if caller.is_none() && !is_duplicate {
        let message = format!("the result of {} has no call", result_name(given));
        return scene.add_result(&ORPHAN_RESULT, given, message);
    }
    let entry = caller.and_then(|id| scene.transcript.get(id));
    if let Some(entry) = entry
        && !is_sent_with_other(scene, given, entry)
    {
        return;
    }
    let message = format!("a further result of {}", result_name(given));
    let found = scene.of_result(&DUPLICATE_RESULT, given, message);
    let others = caller.into_iter().collect();
    scene.findings.push(Finding { others, ..found });
}

/// Whether one request contains both a stray result and the result of the call: not if they are on
/// two branches, or separated by a compaction.
fn is_sent_with_other(scene: &mut LintScene<'_>, given: Given<'_>, caller: &Entry) -> bool {
    let mut others = caller.calls().filter(|call| call.key == *given.id);
    let other = others.find_map(|call| call.state.result());
    match (scene.path_to_call(&given.result.key, &caller.key), other) {
        (Some(Err(())), _) => false,
        (Some(Ok(way)), Some(other)) => {
            let (key, own) = (&other.key, &given.result.key);
            let hangs_there = matches!(scene.path_to_call(key, &caller.key), Some(Ok(_)));
            let is_on_path =
                !hangs_there || scene.is_ancestor(key, own) || scene.is_ancestor(own, key);
            is_on_path && way.compaction.is_none()
        }
        (None, Some(other)) => {
            let between = order::compaction_between(scene, other.body.from, given.result.body.from);
            between.inspect(|id| scene.depend_on(*id)).is_none()
        }
        (_, None) => true,
    }
}
