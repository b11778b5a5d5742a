//! The files of a session: every read, search, edit and write of each, in the order of their times, over
//! all lanes, with what went wrong between them.
//!
//! A file is known by its path without detours. Shell commands that name a file where they read or write
//! it count for what the lanes know of it, but make no file of the list by themselves.
//!
//! Invariant: noting an entry again takes back what it told before. An entry that comes or changes costs
//! its calls; that the uses of their files are judged anew is left for when somebody asks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::calls::Place;
use crate::model::edit::saturating_u32;
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::text::Text;
use crate::model::transcript::Transcript;

mod file;
mod flags;
pub mod paths;
mod uses;

pub use file::File;
pub use uses::{Flag, Op, Outcome, Use};

/// Uses that are judged in the time that it takes to take in an entry, which may have to be unpacked.
const USES: usize = 8;

/// The files of a session.
#[derive(Clone, Debug, Default)]
pub struct Files {
    read: usize,
    root: Option<Text>,
    known: Known,
    /// What was known before all began again; it is shown until that is done: a list that is looked at must not
    /// grow from nothing.
    former: Option<Known>,
    stale: BTreeSet<Text>,
    generation: u64,
}

#[derive(Clone, Debug, Default)]
struct Known {
    by_path: HashMap<Text, File>,
    /// Files by the calls that used them.
    of_call: BTreeMap<Named, Text>,
}

/// Names a use: the entry, the block, and which file of the call it is.
type Named = (EntryId, usize, usize);

impl Files {
    /// Takes in what was changed since the last time, and what was appended, but no more than so many
    /// entries. Says whether that was all.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        let is_all = self.collect(transcript, most);
        self.generation += u64::from(!self.stale.is_empty());
        let mut room = most.saturating_mul(USES);
        while room > 0
            && let Some(path) = self.stale.pop_first()
        {
            if let Some(file) = self.known.by_path.get_mut(&path) {
                room = room.saturating_sub(file.uses.len());
                file.settle();
            }
        }
        let is_all = is_all && self.stale.is_empty();
        self.generation += u64::from(is_all && self.former.take().is_some());
        is_all
    }

    /// Takes in what was appended, but does not judge the uses of a file yet, which depend on each other. Says
    /// whether that was all. Where the session began is told first, or seldom a little later: then all begins again.
    pub fn collect(&mut self, transcript: &Transcript, most: usize) -> bool {
        if self.root != transcript.meta().root {
            if self.read > 0 {
                self.begin_again();
            }
            self.root.clone_from(&transcript.meta().root);
        }
        for id in transcript.portion(self.read, most) {
            if let Some(entry) = transcript.get(*id) {
                self.add(self.read, *id, entry);
            }
            self.read += 1;
        }
        self.read >= transcript.order().len()
    }

    /// An entry has changed, or its bodies were read again. Mostly that says nothing new of its files, which then
    /// need not be judged anew: one may have been used ten thousand times.
    pub fn change(&mut self, transcript: &Transcript, id: EntryId) {
        let place = transcript.place_of(id).filter(|place| *place < self.read);
        let (Some(place), Some(entry)) = (place, transcript.get(id)) else { return };
        let told = self.uses_of(place, id, entry);
        let known: Vec<(Named, Text)> =
            self.of_entry(id).map(|(named, path)| (*named, path.clone())).collect();
        if !known.iter().eq(told.iter().map(|(used, _)| used)) {
            self.forget(known);
            for (used, one) in told {
                self.file_of(used).insert(one);
            }
            return;
        }
        let mut by_path: BTreeMap<Text, Vec<Use>> = BTreeMap::new();
        for ((_, path), one) in told {
            by_path.entry(path).or_default().push(one);
        }
        for (path, uses) in by_path {
            let file = self.known.by_path.get_mut(&path);
            if file.is_some_and(|file| file.tell_again(id, uses)) {
                self.stale.insert(path);
            }
        }
    }

    /// The order is another one: takes everything in again, and shows what it knows until that is done.
    pub fn begin_again(&mut self) {
        let known = std::mem::take(&mut self.known);
        let former = self.former.take().or(Some(known));
        *self = Self { former, generation: self.generation, ..Self::default() };
    }

    fn shown(&self) -> &Known {
        self.former.as_ref().unwrap_or(&self.known)
    }

    fn add(&mut self, place: usize, id: EntryId, entry: &Entry) {
        for (used, one) in self.uses_of(place, id, entry) {
            self.file_of(used).append(one);
        }
    }

    /// How the calls of an entry use files.
    fn uses_of(&self, place: usize, id: EntryId, entry: &Entry) -> Vec<((Named, Text), Use)> {
        let mut uses = Vec::new();
        if entry.marks.copy {
            return uses;
        }
        let order = saturating_u32(place);
        for (block, kind) in entry.blocks.iter().enumerate() {
            let BlockKind::Call(call) = &kind.kind else { continue };
            let used = paths::used_by(call, self.root.as_deref());
            for (number, (path, op, by_shell)) in used.into_iter().enumerate() {
                let path = Text::from(path.as_str());
                // One name for all uses of a file.
                let path = self.known.by_path.get_key_value(&path).map_or(path, |(known, _)| known.clone());
                let place = Place { entry: id, block };
                let one = Use::of(call, entry, place, order, (op, by_shell));
                uses.push((((id, block, number), path), one));
            }
        }
        uses
    }

    /// The file of a use that is new.
    fn file_of(&mut self, (named, path): (Named, Text)) -> &mut File {
        self.stale.insert(path.clone());
        self.known.of_call.insert(named, path.clone());
        self.known.by_path.entry(path).or_default()
    }

    /// Files that an entry uses, by call.
    fn of_entry(&self, id: EntryId) -> impl Iterator<Item = (&Named, &Text)> {
        self.known.of_call.range((id, 0, 0)..=(id, usize::MAX, usize::MAX))
    }

    fn forget(&mut self, used: Vec<(Named, Text)>) {
        for (named, path) in used {
            self.known.of_call.remove(&named);
            let Some(file) = self.known.by_path.get_mut(&path) else { continue };
            file.take_back(named.0);
            if file.uses.is_empty() {
                self.known.by_path.remove(&path);
            }
            self.stale.insert(path);
        }
    }

    // === questions ===

    /// Files that tools for files used, with their paths, in no order.
    pub fn list(&self) -> impl Iterator<Item = (&Text, &File)> {
        self.shown().by_path.iter().filter(|(_, file)| file.is_listed)
    }

    /// The file with a path.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.shown().by_path.get(path).filter(|file| file.is_listed)
    }

    /// The first listed file that a call used.
    pub fn of_call(&self, place: Place) -> Option<&Text> {
        let Place { entry, block } = place;
        let mut used = self.shown().of_call.range((entry, block, 0)..=(entry, block, usize::MAX));
        used.find_map(|(_, path)| self.file(path).map(|_| path))
    }

    /// Rises with every change.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

#[cfg(test)]
mod tests;
