//! Opens a sub-agent automatically while it is the only agent at work, and closes it when it ends.
//!
//! Invariant: this happens only while the window follows, and never to a sub-agent that the user
//! has folded or whose entries the user has stopped at.

use std::collections::HashSet;

use super::TextPane;
use super::sequence::starter_of;
use crate::analysis::activity::Activity;
use crate::app::scene::Scene;
use crate::model::entry::Entry;
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::render::row::Level;

/// The sub-agent that was opened automatically, and those that the user controls.
#[derive(Debug, Default)]
pub(crate) struct AutoOpened {
    opened: Option<Name>,
    touched: HashSet<Name>,
}

impl AutoOpened {
    /// Hands the open sub-agent over to the user: it is no longer closed automatically.
    pub(crate) fn release(&mut self) {
        self.touched.extend(self.opened.take());
    }
}

/// Opens the sub-agent that alone is at work, and closes the automatically opened one when it has
/// ended.
pub(crate) fn update(text: &mut TextPane, scene: &Scene<'_>) {
    if scene.view.is_some() {
        return;
    }
    let is_watching = text.view.follows() && text.view.selection.is_none();
    if !is_watching
        || text
            .auto_opened
            .opened
            .as_ref()
            .is_some_and(|name| !text.open_lanes.contains(name))
    {
        return text.auto_opened.release();
    }
    let transcript = &scene.session.transcript;
    if let Some(name) = text
        .auto_opened
        .opened
        .take_if(|name| has_ended(transcript, name))
    {
        text.open_lanes.remove(&name);
        return changed(text, transcript, &name);
    }
    let is_free = text.auto_opened.opened.is_none()
        && text.find.filter.is_none()
        && text.level > Level::Prompts;
    let alone = if is_free { only_agent(scene) } else { None };
    let Some(name) = alone.filter(|name| !text.auto_opened.touched.contains(name)) else {
        return;
    };
    if text.open_lanes.insert(name.clone()) {
        changed(text, transcript, &name);
        text.auto_opened.opened = Some(name);
    } else {
        text.auto_opened.touched.insert(name);
    }
}

fn changed(text: &mut TextPane, transcript: &Transcript, name: &Name) {
    text.stale.sequence = true;
    if let Some(starter) = starter_of(transcript, name) {
        text.cache.remove(starter);
    }
}

/// The sub-agent of the only call that the main agent waits for.
fn only_agent(scene: &Scene<'_>) -> Option<Name> {
    let session = scene.session;
    let runs =
        matches!(session.status.activity, Activity::Tool { .. }) && session.file.is_caught_up;
    let id = session.transcript.latest_answer(None).filter(|_| runs)?;
    let mut open = session
        .transcript
        .get(id)?
        .calls()
        .filter(|call| call.state.is_open());
    let only = open.next().filter(|_| open.next().is_none())?;
    if !session.runs(id, only, scene.screen.now) {
        return None;
    }
    session
        .transcript
        .lane_of_call(&only.key)
        .map(|lane| lane.name.clone())
}

/// Whether the call of a sub-agent has its result, or no longer exists.
fn has_ended(transcript: &Transcript, name: &Name) -> bool {
    let call = transcript.lane(name).and_then(|lane| lane.call.as_ref());
    let entry = starter_of(transcript, name).and_then(|id| transcript.get(id));
    let is_open = |entry: &Entry| {
        entry
            .calls()
            .any(|one| Some(&one.key) == call && one.state.is_open())
    };
    !entry.is_some_and(is_open)
}
