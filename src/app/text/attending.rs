//! A sub-agent opens by itself while it is the only thing that happens, and folds by itself when it ends.
//!
//! Invariant: only a window that follows is changed so, and what the reader has touched is not: neither a sub-agent that
//! was folded by hand, nor one among whose entries the reader stopped.

use std::collections::HashSet;

use super::TextPane;
use super::sequence::starter_of;
use crate::analysis::activity::Activity;
use crate::app::scene::Scene;
use crate::model::entry::Entry;
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::render::row::Level;

/// What was opened so, and what the reader has touched.
#[derive(Debug, Default)]
pub(crate) struct Attending {
    opened: Option<Name>,
    touched: HashSet<Name>,
}

impl Attending {
    /// The reader does something with what is open: from now on it is the reader's.
    pub(crate) fn touch(&mut self) {
        self.touched.extend(self.opened.take());
    }
}

/// Opens the sub-agent that is at work alone, and folds one that was opened so and has ended.
pub(crate) fn look(text: &mut TextPane, scene: &Scene<'_>) {
    if scene.view.is_some() {
        return;
    }
    let is_watching = text.view.follows() && text.view.selection.is_none();
    if !is_watching
        || text
            .attending
            .opened
            .as_ref()
            .is_some_and(|name| !text.open_lanes.contains(name))
    {
        return text.attending.touch();
    }
    let transcript = &scene.session.transcript;
    if let Some(name) = text
        .attending
        .opened
        .take_if(|name| has_ended(transcript, name))
    {
        text.open_lanes.remove(&name);
        return changed(text, transcript, &name);
    }
    let is_free = text.attending.opened.is_none()
        && text.find.filter.is_none()
        && text.level > Level::Prompts;
    let alone = if is_free { alone(scene) } else { None };
    let Some(name) = alone.filter(|name| !text.attending.touched.contains(name)) else {
        return;
    };
    if text.open_lanes.insert(name.clone()) {
        changed(text, transcript, &name);
        text.attending.opened = Some(name);
    } else {
        text.attending.touched.insert(name);
    }
}

fn changed(text: &mut TextPane, transcript: &Transcript, name: &Name) {
    text.stale.sequence = true;
    if let Some(starter) = starter_of(transcript, name) {
        text.cache.forget(starter);
    }
}

/// The sub-agent that is all that the main agent waits for.
fn alone(scene: &Scene<'_>) -> Option<Name> {
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

/// Whether the call of a sub-agent has its result, or is none any more.
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
