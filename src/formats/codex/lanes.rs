//! Sub-agents: threads in rollouts of their own. The parent records which call started them, they
//! record their own labels. A lane is announced once it has entries, or once the call that started
//! it is recorded, as its rollout may be missing.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::places;
use super::replay::TurnHashes;
use crate::formats::lanes::LaneLinker;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::{Name, Text};
use crate::model::tool::identifies;
use crate::model::tool::work::{Update, WorkReference};

/// The sub-agents of a session.
#[derive(Debug, Default)]
pub(crate) struct SubAgentThreads {
    linker: LaneLinker,
    /// The lanes of the calls that started them.
    callers: HashMap<Name, Option<Name>>,
    files: HashMap<Name, PathBuf>,
    asked: HashSet<Name>,
    /// Updates of sub-agents that came before the link to the call.
    early: HashMap<Name, Vec<Update>>,
    /// The turns of all threads.
    pub(crate) turns: TurnHashes,
}

impl SubAgentThreads {
    /// Links a thread to the call of a lane that started it.
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
            out.requested_files.push(thread.clone());
        }
        if let Some(call) = call
            && self.linker.claim(thread, call, 0, out)
        {
            self.callers.insert(thread.clone(), of.cloned());
            self.linker.announce(thread, out);
        }
        if let Some(label) = label {
            self.linker.name(thread, 1, label, out);
        }
        for update in self.early.remove(thread).unwrap_or_default() {
            self.update(thread, update, out);
        }
    }

    /// Updates the call that started a sub-agent: a turn began or ended.
    pub(crate) fn update(&mut self, thread: &Name, update: Update, out: &mut Batch) {
        match self.linker.call(thread) {
            Some(call) => {
                let lane = self.callers.get(thread).cloned().flatten();
                out.update(WorkReference::call(call.clone()), update, lane);
            }
            None => self.early.entry(thread.clone()).or_default().push(update),
        }
    }

    /// Labels a sub-agent by its own header.
    pub(crate) fn name(&mut self, thread: &Name, label: Option<Text>, out: &mut Batch) {
        if let Some(label) = label.filter(|_| self.linker.label(thread).is_none()) {
            self.linker.name(thread, 0, label, out);
        }
    }

    /// Announces the lane of an entry.
    pub(crate) fn enter(&mut self, thread: &Name, out: &mut Batch) {
        self.linker.announce(thread, out);
    }

    /// The lane of a file; `None` if another file has it: for a while a rollout and its compressed
    /// form both exist.
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
}
