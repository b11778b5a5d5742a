//! Rules for stop reasons that contradict the blocks of the answer.

use super::dependents::Dependency;
use super::scene::LintScene;
use super::{Consequence, Finding, Rule, RuleGroup};
use crate::model::edit::Severity;
use crate::model::entry::{BlockKind, Break, Entry, Role, Stop};

pub(super) const GROUP: RuleGroup = RuleGroup {
    rules: &[&STOP_WITHOUT_CALL, &CALL_WITHOUT_STOP],
    judge,
};

static STOP_WITHOUT_CALL: Rule = Rule {
    id: "stop-without-call",
    severity: Severity::Warning,
    what: "an answer that ended for the sake of its calls, but has none",
    consequence: Consequence::Words(
        "nothing is left to run: the agent stops, or asks the model again",
    ),
};
static CALL_WITHOUT_STOP: Rule = Rule {
    id: "call-without-stop",
    severity: Severity::Warning,
    what: "an answer with calls that ended as if all was said",
    consequence: Consequence::Words(
        "an agent that goes by the stop reason takes the answer for the last one and runs no call",
    ),
};

/// Prefix of tools that the provider runs within the answer, which do not change its stop reason.
const OF_PROVIDER: &str = "srvtoolu_";

fn judge(scene: &mut LintScene<'_>) {
    if scene.entry.role != Role::Assistant || scene.entry.marks.open {
        return;
    }
    match scene.entry.stop {
        Stop::Calls => without_call(scene),
        Stop::Done => without_stop(scene),
        Stop::Unrecorded | Stop::Other => {}
    }
}

fn without_call(scene: &mut LintScene<'_>) {
    if scene.entry.calls().next().is_some() {
        return;
    }
    // An answer whose parts have no common id continues in the next entry.
    let next = scene.next_in_lane().find(|(_, entry)| !entry.marks.copy);
    if let Some((id, entry)) = next {
        scene.depend_on_following(id);
        let is_interrupted =
            |kind: &BlockKind| matches!(kind, BlockKind::Break(Break::Interrupted(_)));
        if entry.role == Role::Assistant || entry.has(is_interrupted) {
            return;
        }
    } else {
        // The part with the call may still arrive.
        scene.wait_for(Dependency::Next(scene.entry.lane.clone()));
        if !scene.frame.awaited.has_ended {
            return;
        }
    }
    let Entry { key, origin, .. } = scene.entry;
    let message = "the answer ended for calls of tools, but has none".to_owned();
    let found = scene.new_finding(&STOP_WITHOUT_CALL, 0, key, *origin, message);
    scene.findings.push(Finding {
        call: "".into(),
        ..found
    });
}

fn without_stop(scene: &mut LintScene<'_>) {
    let calls = scene.calls();
    let own: Vec<_> = calls
        .iter()
        .filter(|asked| !asked.call.key.starts_with(OF_PROVIDER))
        .collect();
    let Some(first) = own.first() else { return };
    let mut waits = false;
    let mut unanswered = 0;
    for _ in own.iter().filter(|asked| asked.call.state.is_open()) {
        let may_go_on = scene.may_get_results();
        waits |= may_go_on;
        unanswered += usize::from(!may_go_on);
    }
    let last_said = scene
        .entry
        .blocks
        .iter()
        .rposition(|block| matches!(block.kind, BlockKind::Text(_)));
    let is_of_several = unanswered == 0 && own.last().map(|asked| asked.block) < last_said;
    // Text after the results of its calls, in one entry, is another answer.
    if waits || is_of_several {
        return;
    }
    let tail = if unanswered > 0 {
        format!(", and {unanswered} of them never ran")
    } else {
        String::new()
    };
    let calls = if own.len() == 1 {
        "a call".to_owned()
    } else {
        format!("{} calls", own.len())
    };
    let message = format!("the answer has {calls}, but ended as if all was said{tail}");
    let found = scene.of_call(&CALL_WITHOUT_STOP, **first, message);
    let severity = if unanswered > 0 {
        found.severity
    } else {
        Severity::Note
    };
    scene.findings.push(Finding {
        severity,
        place: scene.entry.origin,
        ..found
    });
}
