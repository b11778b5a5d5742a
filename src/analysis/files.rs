//! The files of a session: every read, search, edit and write of each, in the order of their times, over
//! all lanes, with what went wrong between them.
//!
//! A file is known by its path without detours. Shell commands that name a file where they read or write
//! it count for what the lanes know of it, but make no file of the list by themselves.
//!
//! Invariant: noting an entry again takes back what it added before. An entry that comes or changes costs
//! its calls; that the uses of their files are judged anew is left for when somebody asks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::calls::Place;
use super::index::Index;
use crate::model::edit::saturating_u32;
use crate::model::entry::{BlockKind, EntryId};
use crate::model::text::Text;
use crate::model::transcript::Transcript;

mod file;
mod flags;
pub(crate) mod paths;
mod uses;

pub(crate) use file::File;
pub(crate) use uses::{Flag, Op, Outcome, Use};

/// Uses that are judged in the time that it takes to take in an entry, which may have to be unpacked.
const USES: usize = 8;

/// The files of a session.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Entries that were taken in.
    read: usize,
    root: Option<Text>,
    known: Known,
    /// What was known before all began again; it is shown until that is done: a list that is looked at must not
    /// grow from nothing.
    former: Option<Known>,
    stale: BTreeSet<Text>,
    has_news: bool,
}

#[derive(Clone, Debug, Default)]
struct Known {
    by_path: HashMap<Text, File>,
    /// Files by the calls that used them.
    of_call: BTreeMap<Named, Text>,
}

/// Names a use: the entry, the block, and which file of the call it is.
type Named = (EntryId, usize, usize);

impl Index for Files {
    type Reads = ();

    fn add(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        self.read = place + 1;
        if place == 0 {
            self.root.clone_from(&transcript.meta().root);
        }
        for (used, one) in self.uses_of(transcript, place, id) {
            self.file_of(used).append(one);
        }
    }

    /// An entry has changed, or its bodies were read again. Mostly that says nothing new of its files, which then
    /// need not be judged anew: one may have been used ten thousand times.
    fn change(&mut self, transcript: &Transcript, place: usize, id: EntryId) -> bool {
        let uses_now = self.uses_of(transcript, place, id);
        let known: Vec<(Named, Text)> =
            self.of_entry(id).map(|(named, path)| (*named, path.clone())).collect();
        if !known.iter().eq(uses_now.iter().map(|(used, _)| used)) {
            self.forget(known);
            for (used, one) in uses_now {
                self.file_of(used).insert(one);
            }
            return true;
        }
        let mut by_path: BTreeMap<Text, Vec<Use>> = BTreeMap::new();
        for ((_, path), one) in uses_now {
            by_path.entry(path).or_default().push(one);
        }
        for (path, uses) in by_path {
            let file = self.known.by_path.get_mut(&path);
            if file.is_some_and(|file| file.update(id, uses)) {
                self.stale.insert(path);
            }
        }
        true
    }

    fn learn(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        self.change(transcript, place, id);
    }

    /// Where the session began is recorded first, or seldom a little later.
    fn begins_again(&self, transcript: &Transcript) -> bool {
        self.root != transcript.meta().root
    }

    /// Shows what it knows until all is taken in again.
    fn begin_again(&mut self) {
        let known = std::mem::take(&mut self.known);
        *self = Self { former: self.former.take().or(Some(known)), ..Self::default() };
    }

    fn settle(&mut self, transcript: &Transcript, _reads: &(), most: usize) -> bool {
        self.has_news |= !self.stale.is_empty();
        let mut room = most.saturating_mul(USES);
        while room > 0
            && let Some(path) = self.stale.pop_first()
        {
            if let Some(file) = self.known.by_path.get_mut(&path) {
                room = room.saturating_sub(file.uses.len());
                file.settle();
            }
        }
        let is_all = self.stale.is_empty() && self.read >= transcript.order().len();
        self.has_news |= is_all && self.former.take().is_some();
        self.stale.is_empty()
    }

    fn has_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }
}

impl Files {
    fn shown(&self) -> &Known {
        self.former.as_ref().unwrap_or(&self.known)
    }

    /// How the calls of an entry use files.
    fn uses_of(&self, transcript: &Transcript, place: usize, id: EntryId) -> Vec<((Named, Text), Use)> {
        let mut uses = Vec::new();
        let Some(entry) = transcript.get(id).filter(|entry| !entry.marks.copy) else { return uses };
        // Of sessions that began in different folders, each has its own.
        let session = transcript.session_of(id).and_then(|(_, session)| session.root.as_ref());
        let folder = session.filter(|folder| self.root.as_ref() != Some(*folder));
        let order = saturating_u32(place);
        for (block, kind) in entry.blocks.iter().enumerate() {
            let BlockKind::Call(call) = &kind.kind else { continue };
            let used = paths::used_by(call, self.root.as_deref());
            for (number, (path, op, by_shell)) in used.into_iter().enumerate() {
                let path = match folder.filter(|_| paths::is_relative(&path)) {
                    Some(folder) => paths::normal(&format!("{folder}/{path}"), self.root.as_deref()),
                    None => path,
                };
                let path = Text::from(path.as_str());
                // One name for all uses of a file.
                let path = self.known.by_path.get_key_value(&path).map_or(path, |(known, _)| known.clone());
                let place = Place { entry: id, block };
                let one = Use::of((call, &path), entry, place, order, (op, by_shell));
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
    pub(crate) fn list(&self) -> impl Iterator<Item = (&Text, &File)> {
        self.shown().by_path.iter().filter(|(_, file)| file.is_listed)
    }

    /// The file with a path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.shown().by_path.get(path).filter(|file| file.is_listed)
    }

    /// The first listed file that a call used.
    pub(crate) fn of_call(&self, place: Place) -> Option<&Text> {
        let Place { entry, block } = place;
        let mut used = self.shown().of_call.range((entry, block, 0)..=(entry, block, usize::MAX));
        used.find_map(|(_, path)| self.file(path).map(|_| path))
    }
}

#[cfg(test)]
mod tests;
