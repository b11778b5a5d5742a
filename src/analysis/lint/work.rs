//! Rules for work that continues after the result of its call: ends that the model was not told, or
//! late; ends reported for other work or too early; and missing ends.
//!
//! Each rule needs records as evidence. An end counts as undelivered only if a record has it and
//! the lane continued after it, so that it is not still on its way. An end counts as missing only
//! for agents whose format records how such work ends (`ends` in `assets/formats`).

use std::collections::BTreeSet;

use super::dependents::Dependency;
use super::scene::{CallWithBlock, LintScene, call_name};
use super::{Consequence, Finding, Rule, RuleGroup};
use crate::analysis::calls::lifecycle::{Lifecycle, late_ms};
use crate::model::body::Key;
use crate::model::edit::Severity;
use crate::model::entry::{Block, Entry, EntryId, Role};
use crate::model::figures;
use crate::model::meta::LaneFacts;
use crate::model::text::Name;
use crate::model::tool::Verdict;
use crate::model::tool::work::{EndRecording, Update, Work, WorkReference};

pub(super) const GROUP: RuleGroup = RuleGroup {
    rules: &[
        &UNDELIVERED,
        &LATE,
        &MISROUTED,
        &EARLY,
        &NO_END,
        &UNPOLLED,
        &ORPHAN,
    ],
    judge,
};

static UNDELIVERED: Rule = Rule {
    id: "undelivered-completion",
    severity: Severity::Error,
    what: "work in the background whose end is recorded and was never told to the model",
    consequence: Consequence::Words(
        "the model still takes it for running: it waits, asks in vain, or never looks at what came out; tell it, or have it look",
    ),
};
static LATE: Rule = Rule {
    id: "late-completion",
    severity: Severity::Note,
    what: "work in the background whose end was told to the model more than five minutes later, or than `late` in the settings says",
    consequence: Consequence::Words("nothing is lost; until then the model took it for running"),
};
static MISROUTED: Rule = Rule {
    id: "misrouted-completion",
    severity: Severity::Error,
    what: "the end of work in the background that is told with the id of one call and the task of another",
    consequence: Consequence::Words(
        "the model reads the end of one task as that of another; have it look at the output of both",
    ),
};
static EARLY: Rule = Rule {
    id: "early-completion",
    severity: Severity::Error,
    what: "work in the background that went on after its end was told, or ended twice in different ways",
    consequence: Consequence::Words(
        "the model goes on from an end that was none, or the other one; have it look at the output of the task",
    ),
};
static NO_END: Rule = Rule {
    id: "no-completion",
    severity: Severity::Warning,
    what: "work in the background of which nothing tells how it ended",
    consequence: Consequence::Words(
        "whether it went well is not known, and what it still changes nobody sees; look whether it runs, and at its output",
    ),
};
static UNPOLLED: Rule = Rule {
    id: "unpolled-session",
    severity: Severity::Warning,
    what: "a command that goes on and was never asked how it stands",
    consequence: Consequence::Words(
        "the model never learns how the command ended; have it ask, or look whether it runs",
    ),
};
static ORPHAN: Rule = Rule {
    id: "orphan-completion",
    severity: Severity::Warning,
    what: "the end of work in the background whose call is not in the session, though no file of it is missing",
    consequence: Consequence::Words(
        "the model is told of a task that it did not begin; the call may stand in another session, or in a file that is missing",
    ),
};

/// Tolerance in ms for records of a sub-agent after its end, which may have been on their way.
const ON_ITS_WAY_MS: i64 = 10 * 1000;
/// Limit of a sub-agent's last entries that are checked.
const LAST: usize = 64;

fn judge(scene: &mut LintScene<'_>) {
    for asked in scene.calls() {
        if let Some(work) = asked.call.state.work() {
            judge_call(scene, asked, work);
        }
    }
    let transcript = scene.transcript;
    for about in transcript.odd_notices(&scene.entry.key) {
        judge_notice(scene, about);
    }
}

fn judge_call(scene: &mut LintScene<'_>, asked: CallWithBlock<'_>, work: &Work) {
    let life = Lifecycle::of(
        scene.transcript,
        (scene.id, &scene.entry.key),
        asked.call,
        false,
    );
    let name = name_of(asked, work);
    let is_over = scene.frame.awaited.has_ended;
    if life.delivered.is_none() {
        // The notice may still arrive, or the session may end.
        scene.wait_for(Dependency::Next(scene.entry.lane.clone()));
    }
    let is_missed =
        || is_over && work.is_reported() && life.completed.is_some() && life.delivered.is_none();
    if life.is_undelivered || is_missed() {
        if let Some(id) = life.undelivered_by(scene.transcript, scene.id) {
            scene.depend_on(id);
        }
        // Unless the agent promises to notify the model, it is by design.
        let severity = if work.is_queued() {
            UNDELIVERED.severity
        } else {
            Severity::Note
        };
        let by = life.completed.map(|end| end.by);
        add(
            scene,
            &UNDELIVERED,
            asked,
            severity,
            by,
            format!("{name} ended, and the model was never told"),
        );
    } else if let Some(delay) = life.delay().filter(|delay| *delay > late_ms()) {
        let late = figures::duration(delay);
        let by = life.delivered.map(|(_, by)| by);
        add(
            scene,
            &LATE,
            asked,
            LATE.severity,
            by,
            format!("{name} ended, and the model was told {late} later"),
        );
    }
    if life.completed.is_none() {
        unended(scene, asked, work, &name);
    } else {
        early(scene, asked, work, &name);
    }
}

/// Judges work without a recorded end.
fn unended(scene: &mut LintScene<'_>, asked: CallWithBlock<'_>, work: &Work, name: &str) {
    let awaited = scene.frame.awaited;
    if work.ends == EndRecording::Unrecorded || !awaited.is_past(scene.transcript, scene.id) {
        return;
    }
    let asked_last = work.polls().last();
    if work.ends == EndRecording::Asked && asked_last.is_none() {
        let message = format!("{name} goes on, and the model never asked how it stands");
        return add(scene, &UNPOLLED, asked, UNPOLLED.severity, None, message);
    }
    // Servers run for long, as long as the session does.
    let severity = if awaited.has_ended {
        NO_END.severity
    } else {
        Severity::Note
    };
    let message = match asked_last {
        Some(_) => {
            format!("{name} went on when the model asked last, and nothing tells how it ended")
        }
        None => format!("{name} began, and nothing tells how it ended"),
    };
    add(
        scene,
        &NO_END,
        asked,
        severity,
        asked_last.map(|poll| &poll.by),
        message,
    );
}

/// Judges work that was reported as ended too early.
fn early(scene: &mut LintScene<'_>, asked: CallWithBlock<'_>, work: &Work, name: &str) {
    if let Some((first, later)) = work.contradiction() {
        let message = match later.end {
            Some(end) => format!(
                "{name} ended {}, and then {}",
                word(first),
                word_of(end.verdict, end.exit)
            ),
            None => format!("{name} ended {}, and went on after that", word(first)),
        };
        return add(
            scene,
            &EARLY,
            asked,
            EARLY.severity,
            Some(&later.by),
            message,
        );
    }
    let Some(lane) = &asked.call.lane else { return };
    scene.wait_for(Dependency::Next(Some(lane.clone())));
    let Some((end, first)) = work.completed() else {
        return;
    };
    let Some(at) = end
        .at
        .filter(|_| matches!(end.verdict, Verdict::Done | Verdict::Failed))
    else {
        return;
    };
    if let Some(later) = answer_after_end(scene, lane, at.0) {
        let message = format!(
            "{name} ended {}, and its sub-agent went on after that",
            word(first)
        );
        let found = scene.of_call(&EARLY, asked, message);
        let others = vec![later];
        scene.findings.push(Finding { others, ..found });
    }
}

/// The first answer of a sub-agent after its end, if it got no message in between.
fn answer_after_end(scene: &mut LintScene<'_>, lane: &Name, end: i64) -> Option<EntryId> {
    let transcript = scene.transcript;
    let mut first = None;
    for entry in transcript.lane_backwards(Some(lane)).take(LAST) {
        let id = transcript.find(&entry.key)?;
        scene.depend_on(id);
        if entry.at?.0 <= end {
            let late =
                first.filter(|(_, role, at)| *role == Role::Assistant && *at > end + ON_ITS_WAY_MS);
            return late.map(|(id, ..)| id);
        }
        first = Some((id, entry.role, entry.at?.0));
    }
    None
}

/// Judges a notice that names a call, but does not clearly match its work.
fn judge_notice(scene: &mut LintScene<'_>, about: &WorkReference) {
    let Some(call) = &about.call else { return };
    let transcript = scene.transcript;
    let mut beginners = about
        .handle
        .iter()
        .flat_map(|handle| transcript.calls_beginning(handle));
    let (other, is_only) = (beginners.next(), beginners.next().is_none());
    if let Some((id, _)) = other {
        scene.depend_on(id);
    }
    let caller = scene.nearest_caller(call);
    let place = scene.entry.origin;
    match (caller, other, &about.handle) {
        (None, None, _) if has_all_files(scene) => {
            let message = format!("work of {call} ended, and no call of the session has this id");
            let found = scene.new_finding(&ORPHAN, 0, call, place, message);
            scene.findings.push(found);
        }
        (Some(caller), Some((id, key)), Some(handle))
            if is_only && key != call && has_work(scene, caller, call) =>
        {
            let message =
                format!("the end of {handle}, which {key} began, is told as that of {call}");
            let found = scene.new_finding(&MISROUTED, 0, call, place, message);
            let others = BTreeSet::from([caller, id]).into_iter().collect();
            scene.findings.push(Finding { others, ..found });
        }
        _ => {}
    }
}

/// Whether no missing file can contain the call that a notice refers to: neither that of a
/// sub-agent that was started before, nor of a session that this one continues.
fn has_all_files(scene: &mut LintScene<'_>) -> bool {
    let transcript = scene.transcript;
    let is_missing = |lane: &&LaneFacts| {
        let is_before = || transcript.caller(lane).is_some_and(|id| id <= scene.id);
        lane.entries.is_empty() && is_before()
    };
    let missing: Vec<&LaneFacts> = transcript.lanes().iter().filter(is_missing).collect();
    for lane in &missing {
        scene.wait_for(Dependency::Next(Some(lane.name.clone())));
    }
    let goes_on = |entry: &Entry| entry.marks.copy || entry.blocks.iter().any(Block::is_resumption);
    let key = &scene.entry.key;
    let mut before = transcript.entries().take_while(|entry| entry.key != *key);
    missing.is_empty() && !before.any(goes_on)
}

/// Whether a call with this id began work.
fn has_work(scene: &LintScene<'_>, entry: EntryId, call: &Key) -> bool {
    let entry = scene.transcript.get(entry);
    entry.is_some_and(|entry| {
        entry
            .calls()
            .any(|own| own.key == *call && own.state.work().is_some())
    })
}

/// Adds a finding about a call; `by` is the record of the other end.
fn add(
    scene: &mut LintScene<'_>,
    rule: &'static Rule,
    asked: CallWithBlock<'_>,
    severity: Severity,
    by: Option<&Key>,
    message: String,
) {
    let other = by
        .and_then(|by| scene.transcript.find(by))
        .filter(|other| *other != scene.id);
    if let Some(other) = other {
        scene.depend_on(other);
    }
    let found = scene.of_call(rule, asked, message);
    let severity = severity.min(found.severity);
    scene.findings.push(Finding {
        severity,
        others: other.into_iter().collect(),
        ..found
    });
}

fn name_of(asked: CallWithBlock<'_>, work: &Work) -> String {
    let name = call_name(asked.call);
    if work.handle.is_blank() {
        name
    } else {
        format!("{name} as {}", work.handle)
    }
}

/// How work ended according to a record.
fn word(update: &Update) -> String {
    update
        .end
        .map(|end| word_of(end.verdict, end.exit))
        .unwrap_or_default()
}

fn word_of(verdict: Verdict, exit: Option<i64>) -> String {
    let word = match verdict {
        Verdict::Done => "well",
        Verdict::Failed => "with an error",
        Verdict::Refused => "refused",
        Verdict::Stopped => "stopped",
    };
    exit.map_or_else(|| word.to_owned(), |code| format!("{word} (exit {code})"))
}
