//! Sub-agents: threads of their own, in rollouts of their own. Their parent tells which call started them, they tell
//! what they are called; a lane is announced when it has entries, or when it is known which call started it: its rollout may
//! not be here.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::places;
use super::replay::Turns;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::text::{Name, Text};
use crate::model::tool::identifies;
use crate::model::tool::work::{About, Update};

/// The sub-agents of a session.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    known: HashMap<Name, Lane>,
    files: HashMap<Name, PathBuf>,
    asked: HashSet<Name>,
    /// What was told of how a sub-agent went on before it was known which call started it.
    early: HashMap<Name, Vec<Update>>,
    /// The turns of all threads.
    pub(crate) turns: Turns,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Lane {
    label: Option<Text>,
    call: Option<Key>,
    /// The lane of the call.
    of: Option<Name>,
    has_entries: bool,
}

impl Lanes {
    /// The call of a lane started the thread.
    pub(crate) fn link(
        &mut self,
        thread: &Text,
        (call, of): (Option<Key>, Option<&Name>),
        label: Option<Text>,
        out: &mut Batch,
    ) {
        if !identifies(thread) {
            return;
        }
        if self.asked.insert(thread.clone()) {
            out.wanted.push(thread.clone());
        }
        self.change(thread, out, |lane| {
            if lane.call.is_none() {
                lane.of = of.cloned();
            }
            lane.call = lane.call.take().or(call);
            lane.label = label.or(lane.label.take());
        });
        for update in self.early.remove(thread).unwrap_or_default() {
            self.update(thread, update, out);
        }
    }

    /// Tells the call that started a sub-agent how that went on: a turn of it began or ended.
    pub(crate) fn update(&mut self, thread: &Name, update: Update, out: &mut Batch) {
        let lane = self.known.get(thread);
        match lane.and_then(|lane| Some((lane.call.clone()?, lane.of.clone()))) {
            Some((call, lane)) => {
                let (call, handle) = (Some(call), None);
                let about = About { call, handle };
                out.push(Edit::Update {
                    about,
                    update,
                    lane,
                });
            }
            None => self.early.entry(thread.clone()).or_default().push(update),
        }
    }

    /// What a sub-agent calls itself.
    pub(crate) fn name(&mut self, thread: &Name, label: Option<Text>, out: &mut Batch) {
        self.change(thread, out, |lane| lane.label = lane.label.take().or(label));
    }

    /// An entry of this lane was emitted.
    pub(crate) fn enter(&mut self, thread: &Name, out: &mut Batch) {
        self.change(thread, out, |lane| lane.has_entries = true);
    }

    /// The lane of a file. Nothing if another file has it: for a while a rollout and its compressed form both exist.
    pub(crate) fn of_file(&mut self, path: &Path) -> Option<Name> {
        let stem = || {
            path.file_stem()
                .and_then(|stem| stem.to_str())
                .unwrap_or_default()
        };
        let name = Text::clean(places::thread_of(path).unwrap_or_else(stem));
        let holder = self
            .files
            .entry(name.clone())
            .or_insert_with(|| path.to_owned());
        (holder == path).then_some(name)
    }

    fn change(&mut self, name: &Name, out: &mut Batch, change: impl FnOnce(&mut Lane)) {
        let lane = self.known.entry(name.clone()).or_default();
        let before = lane.clone();
        change(lane);
        if (lane.has_entries || lane.call.is_some()) && *lane != before {
            let Lane { label, call, .. } = lane.clone();
            out.meta(MetaEdit::Lane {
                name: name.clone(),
                label,
                call,
            });
        }
    }
}
