//! The files of a session: every read, search, edit and write of each, in the order of their times, over
//! all lanes, with what went wrong between them.
//!
//! A file is known by its path without detours. Shell commands that name a file where they read or write
//! it count for what the lanes know of it, but make no file of the list by themselves.
//!
//! Invariant: noting an entry again takes back what it told before. An entry that comes or changes costs
//! its calls, and the uses of their files.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::calls::Place;
use crate::model::body::{Held, Tree};
use crate::model::change;
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::moment::Moment;
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

mod flags;
pub mod paths;

/// How a call used a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read it, or some lines.
    Read,
    /// Searched it.
    Grep,
    /// Changed it.
    Edit,
    /// Wrote all of it.
    Write,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It failed, or was not allowed.
    Failed,
    /// There is no result.
    Open,
}

/// What went wrong with a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// It relies on a read that is older than a change by another lane or by a command.
    Stale {
        /// The read.
        read: Place,
        /// The change.
        change: Place,
    },
    /// It replaces what another lane changed, without having read that.
    Clobber {
        /// The change.
        change: Place,
    },
    /// It turns a change back.
    Undone {
        /// The change.
        edit: Place,
    },
    /// It failed, and the lane did not change the file after that.
    Unapplied,
}

impl Flag {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stale { .. } => "stale read",
            Self::Clobber { .. } => "clobber",
            Self::Undone { .. } => "undone",
            Self::Unapplied => "not applied",
        }
    }

    /// The call that it is about besides its own.
    pub fn other(self) -> Option<Place> {
        match self {
            Self::Stale { change, .. } | Self::Clobber { change } => Some(change),
            Self::Undone { edit } => Some(edit),
            Self::Unapplied => None,
        }
    }
}

/// What a change is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Print {
    /// No change, or its text is on disk.
    Unknown,
    /// What was taken away and what was put there.
    Edits(Vec<(u64, u64)>),
    /// All of the file.
    Content(u64),
}

/// A use of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The call.
    pub place: Place,
    /// How it used the file.
    pub op: Op,
    /// Whether that was a shell command.
    pub by_shell: bool,
    /// What came of it.
    pub outcome: Outcome,
    /// The sub-agent whose call it was.
    pub lane: Option<Name>,
    /// When it took effect.
    pub at: Option<Moment>,
    /// What went wrong.
    pub flag: Option<Flag>,
    rank: (usize, usize),
    print: Print,
}

/// A file with its uses.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// In the order of their times.
    pub uses: Vec<Use>,
    /// Calls that read or searched it.
    pub reads: usize,
    /// Calls that changed it.
    pub edits: usize,
    /// Calls that wrote all of it.
    pub writes: usize,
    /// Uses with a flag.
    pub flags: usize,
    /// Lanes that used it.
    pub lanes: usize,
    /// When it was used last.
    pub last: Option<Moment>,
    /// Whether a tool for files used it, and not only a command.
    pub is_listed: bool,
}

/// The files of a session.
#[derive(Clone, Debug, Default)]
pub struct Files {
    read: usize,
    cwd: Option<Text>,
    by_path: HashMap<Text, File>,
    of_entry: HashMap<EntryId, Box<[(Text, usize)]>>,
    stale: BTreeSet<Text>,
    generation: u64,
}

impl Files {
    /// Takes in what was changed since the last time, and what was appended, but no more than so many
    /// entries and uses. Says whether that was all.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        let is_all = self.collect(transcript, most);
        self.generation += u64::from(!self.stale.is_empty());
        let mut room = most;
        while room > 0
            && let Some(path) = self.stale.pop_first()
        {
            if let Some(file) = self.by_path.get_mut(&path) {
                room = room.saturating_sub(file.uses.len());
                file.settle();
            }
        }
        is_all && self.stale.is_empty()
    }

    /// Takes in what was appended, but does not judge the uses of a file yet, which depend on each other. Says
    /// whether that was all.
    pub fn collect(&mut self, transcript: &Transcript, most: usize) -> bool {
        if self.cwd != transcript.meta().cwd {
            self.clear();
            self.cwd.clone_from(&transcript.meta().cwd);
        }
        for id in transcript.order().iter().skip(self.read).take(most) {
            if let Some(entry) = transcript.get(*id) {
                self.add(self.read, *id, entry);
            }
            self.read += 1;
        }
        self.read >= transcript.order().len()
    }

    /// An entry has changed, or its bodies were read again.
    pub fn change(&mut self, transcript: &Transcript, id: EntryId) {
        let place = transcript.place_of(id).filter(|place| *place < self.read);
        let (Some(place), Some(entry)) = (place, transcript.get(id)) else { return };
        let uses_files = entry.blocks.iter().any(|block| matches!(block.kind, BlockKind::Call(_)));
        if uses_files || self.of_entry.contains_key(&id) {
            self.take_back(id);
            self.add(place, id, entry);
        }
    }

    /// Forgets everything: the order is another one.
    pub fn clear(&mut self) {
        *self = Self { generation: self.generation + 1, ..Self::default() };
    }

    fn add(&mut self, place: usize, id: EntryId, entry: &Entry) {
        if entry.marks.copy {
            return;
        }
        let mut used = Vec::new();
        for (block, kind) in entry.blocks.iter().enumerate() {
            let BlockKind::Call(call) = &kind.kind else { continue };
            let result = call.state.result();
            let at = result.and_then(|result| result.at).or(call.started).or(entry.at);
            for (path, op, by_shell) in paths::used_by(call, self.cwd.as_deref()) {
                let path = Text::from(path.as_str());
                // One name for all uses of a file.
                let path = self.by_path.get_key_value(&path).map_or(path, |(known, _)| known.clone());
                self.stale.insert(path.clone());
                used.push((path.clone(), block));
                self.by_path.entry(path).or_default().uses.push(Use {
                    place: Place { entry: id, block },
                    op,
                    by_shell,
                    outcome: outcome_of(&call.state),
                    lane: entry.lane.clone(),
                    at,
                    flag: None,
                    rank: (place, block),
                    print: if by_shell { Print::Unknown } else { print_of(call, op) },
                });
            }
        }
        if !used.is_empty() {
            self.of_entry.insert(id, used.into_boxed_slice());
        }
    }

    fn take_back(&mut self, id: EntryId) {
        for (path, _) in self.of_entry.remove(&id).unwrap_or_default() {
            let Some(file) = self.by_path.get_mut(&path) else { continue };
            file.uses.retain(|one| one.place.entry != id);
            if file.uses.is_empty() {
                self.by_path.remove(&path);
            }
            self.stale.insert(path);
        }
    }

    // === questions ===

    /// Files that tools for files used, with their paths, in no order.
    pub fn list(&self) -> impl Iterator<Item = (&Text, &File)> {
        self.by_path.iter().filter(|(_, file)| file.is_listed)
    }

    /// The file with a path.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.by_path.get(path).filter(|file| file.is_listed)
    }

    /// The first listed file that a call used.
    pub fn of_call(&self, place: Place) -> Option<&Text> {
        let used = self.of_entry.get(&place.entry)?.iter().filter(|(_, block)| *block == place.block);
        used.map(|(path, _)| path).find(|path| self.file(path).is_some())
    }

    /// Rises with every change.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

impl File {
    /// Puts the uses in order, and judges them.
    fn settle(&mut self) {
        self.uses.sort_by_key(|one| one.rank);
        // What has no time stands behind what came before it in the file.
        let mut last = None;
        let mut timed: Vec<(Option<Moment>, Use)> = Vec::with_capacity(self.uses.len());
        for one in std::mem::take(&mut self.uses) {
            last = one.at.or(last);
            timed.push((last, one));
        }
        timed.sort_by_key(|(at, one)| (*at, one.rank));
        self.uses = timed.into_iter().map(|(_, one)| one).collect();
        flags::judge(&mut self.uses);
        let by_tool = || self.uses.iter().filter(|one| !one.by_shell);
        let count = |ops: &[Op]| {
            by_tool().filter(|one| one.outcome != Outcome::Failed && ops.contains(&one.op)).count()
        };
        (self.reads, self.edits, self.writes) =
            (count(&[Op::Read, Op::Grep]), count(&[Op::Edit]), count(&[Op::Write]));
        self.flags = self.uses.iter().filter(|one| one.flag.is_some()).count();
        let lanes: BTreeSet<Option<&Name>> = self.uses.iter().map(|one| one.lane.as_ref()).collect();
        self.lanes = lanes.len();
        self.last = self.uses.iter().filter_map(|one| one.at).max();
        // Searches name what may be no file, and what failed may not be there.
        let is_sure = |one: &Use| one.op != Op::Grep && one.outcome != Outcome::Failed;
        self.is_listed = by_tool().any(is_sure) || self.flags > 0;
    }
}

fn outcome_of(state: &ToolState) -> Outcome {
    match state {
        ToolState::Done(_) => Outcome::Done,
        ToolState::Failed(_) | ToolState::Refused(_) | ToolState::Lost => Outcome::Failed,
        ToolState::Pending | ToolState::Running | ToolState::Streaming(_) => Outcome::Open,
    }
}

fn hash_of(text: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn print_of(call: &ToolCall, op: Op) -> Print {
    if !matches!(op, Op::Edit | Op::Write) {
        return Print::Unknown;
    }
    let Held::Tree(input) = &call.input.held else { return Print::Unknown };
    let content = ["content", "contents", "text", "file_text"].iter().find_map(|name| input.get(name));
    if let Some(content) = content.and_then(Tree::as_text).filter(|_| op == Op::Write) {
        return Print::Content(hash_of(content));
    }
    let pairs = change::pairs_of(input);
    if !pairs.is_empty() {
        return Print::Edits(pairs.into_iter().map(|(old, new)| (hash_of(old), hash_of(new))).collect());
    }
    let Some(patch) = change::patch_of(input) else { return Print::Unknown };
    let lines = |sign: char| {
        let of_it = patch.lines().filter_map(|line| line.strip_prefix(sign));
        of_it.filter(|line| !line.starts_with(['-', '+'])).collect::<Vec<_>>()
    };
    let (old, new) = (lines('-'), lines('+'));
    if old.is_empty() && new.is_empty() {
        return Print::Unknown;
    }
    Print::Edits(vec![(hash_of(old), hash_of(new))])
}

#[cfg(test)]
mod tests;
