//! Work that goes on after the result of its call: ends that nobody told the model, or told it late.
//!
//! That an end was not told is said only where a record has it and an answer came after it: then it is not on its way.

use super::scene::{Asked, Scene, Wait, named};
use super::{Finding, Group, Rule};
use crate::analysis::calls::lifecycle::{LATE_MS, Lifecycle};
use crate::model::edit::Severity;
use crate::model::figures;
use crate::model::tool::work::{Carrier, Work};

/// The rules of this file.
pub(super) const GROUP: Group = Group { rules: &[&UNDELIVERED, &LATE], judge };

pub(super) static UNDELIVERED: Rule = Rule {
    id: "undelivered-completion",
    severity: Severity::Error,
    what: "work in the background whose end is recorded and was never told to the model",
};
pub(super) static LATE: Rule = Rule {
    id: "late-completion",
    severity: Severity::Note,
    what: "work in the background whose end was told to the model more than five minutes later",
};

fn judge(scene: &mut Scene<'_>) {
    for asked in scene.calls() {
        if let Some(work) = asked.call.state.work() {
            judge_call(scene, asked, work);
        }
    }
}

fn judge_call(scene: &mut Scene<'_>, asked: Asked<'_>, work: &Work) {
    let life = Lifecycle::of(scene.transcript, (scene.id, &scene.entry.key), asked.call, false);
    let name = format!("{} as {}", named(asked.call), work.handle);
    if life.is_undelivered {
        let found = scene.found(&UNDELIVERED, asked.block, &asked.call.key, asked.call.input.from);
        // Where no agent promises to tell the model, that is how it works.
        let is_promised = work.updates.iter().any(|update| update.carrier == Carrier::Queue);
        let severity = if is_promised { found.severity } else { Severity::Note };
        let message = format!("{name} ended, and the model was never told");
        scene.findings.push(Finding { severity, message, ..found });
    } else if let Some(delay) = life.delay().filter(|delay| *delay > LATE_MS) {
        let late = figures::duration(delay);
        scene.add_call(&LATE, asked, format!("{name} ended, and the model was told {late} later"));
    }
    if life.completed.is_some() && life.delivered.is_none() && !life.is_undelivered {
        scene.wait_for(Wait::Next);
    }
}
