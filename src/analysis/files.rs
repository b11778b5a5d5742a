//! The files of a session: every read, search, edit and write of each, in the order of their times, over
//! all lanes, with what went wrong between them.
//!
//! A file is known by its path without detours. Shell commands that name a file where they read or write
//! it count for what the lanes know of it, but make no file of the list by themselves.
//!
//! Invariant: noting an entry again takes back what it told before. An entry that comes or changes costs
//! its calls; that the uses of their files are judged anew is left for when somebody asks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::calls::Place;
use crate::model::body::{Held, Tree};
use crate::model::change;
use crate::model::edit::saturating_u32;
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::moment::Moment;
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

mod flags;
pub mod paths;

/// Uses that are judged in the time that it takes to take in an entry, which may have to be unpacked.
const USES: usize = 8;

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
    /// What went wrong; seldom anything, so it takes no room.
    flag: Option<Box<Flag>>,
    /// Place of the entry in the order of the session.
    order: u32,
    /// `None`: no change, or its text is on disk.
    print: Option<Box<Print>>,
}

impl Use {
    /// What went wrong.
    pub fn flag(&self) -> Option<Flag> {
        self.flag.as_deref().copied()
    }

    fn rank(&self) -> (u32, usize) {
        (self.order, self.place.block)
    }
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
    /// Files by the calls that used them: the entry, the block, and which file of the call it is.
    of_call: BTreeMap<(EntryId, usize, usize), Text>,
}

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
        if uses_files || self.of_entry(id).next().is_some() {
            self.take_back(id);
            self.add(place, id, entry);
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
        if entry.marks.copy {
            return;
        }
        for (block, kind) in entry.blocks.iter().enumerate() {
            let BlockKind::Call(call) = &kind.kind else { continue };
            let result = call.state.result();
            let at = result.and_then(|result| result.at).or(call.started).or(entry.at);
            let used = paths::used_by(call, self.root.as_deref());
            for (number, (path, op, by_shell)) in used.into_iter().enumerate() {
                let path = Text::from(path.as_str());
                // One name for all uses of a file.
                let path = self.known.by_path.get_key_value(&path).map_or(path, |(known, _)| known.clone());
                self.stale.insert(path.clone());
                self.known.of_call.insert((id, block, number), path.clone());
                self.known.by_path.entry(path).or_default().uses.push(Use {
                    place: Place { entry: id, block },
                    op,
                    by_shell,
                    outcome: outcome_of(&call.state),
                    lane: entry.lane.clone(),
                    at,
                    flag: None,
                    order: saturating_u32(place),
                    print: if by_shell { None } else { print_of(call, op).map(Box::new) },
                });
            }
        }
    }

    /// Files that an entry uses, by call.
    fn of_entry(&self, id: EntryId) -> impl Iterator<Item = (&(EntryId, usize, usize), &Text)> {
        self.known.of_call.range((id, 0, 0)..=(id, usize::MAX, usize::MAX))
    }

    fn take_back(&mut self, id: EntryId) {
        let used: Vec<(EntryId, usize, usize)> = self.of_entry(id).map(|(used, _)| *used).collect();
        for path in used.iter().filter_map(|used| self.known.of_call.remove(used)).collect::<Vec<_>>() {
            let Some(file) = self.known.by_path.get_mut(&path) else { continue };
            // What changes is mostly new, and so among the last of perhaps very many uses.
            if let Some(at) = file.uses.iter().rposition(|one| one.place.entry == id) {
                file.uses.remove(at);
            }
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

impl File {
    /// Puts the uses in order, and judges them.
    fn settle(&mut self) {
        self.uses.sort_by_key(Use::rank);
        // What has no time stands behind what came before it in the file.
        let mut last = None;
        let mut timed: Vec<(Option<Moment>, Use)> = Vec::with_capacity(self.uses.len());
        for one in std::mem::take(&mut self.uses) {
            last = one.at.or(last);
            timed.push((last, one));
        }
        timed.sort_by_key(|(at, one)| (*at, one.rank()));
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

fn print_of(call: &ToolCall, op: Op) -> Option<Print> {
    if !matches!(op, Op::Edit | Op::Write) {
        return None;
    }
    let Held::Tree(input) = &call.input.held else { return None };
    let content = ["content", "contents", "text", "file_text"].iter().find_map(|name| input.get(name));
    if let Some(content) = content.and_then(Tree::as_text).filter(|_| op == Op::Write) {
        return Some(Print::Content(hash_of(content)));
    }
    let pairs = change::pairs_of(input);
    if !pairs.is_empty() {
        let pairs = pairs.into_iter().map(|(old, new)| (hash_of(old), hash_of(new)));
        return Some(Print::Edits(pairs.collect()));
    }
    let patch = change::patch_of(input)?;
    let lines = |sign: char| {
        let of_it = patch.lines().filter_map(|line| line.strip_prefix(sign));
        of_it.filter(|line| !line.starts_with(['-', '+'])).collect::<Vec<_>>()
    };
    let (old, new) = (lines('-'), lines('+'));
    if old.is_empty() && new.is_empty() {
        return None;
    }
    Some(Print::Edits(vec![(hash_of(old), hash_of(new))]))
}

#[cfg(test)]
mod tests;
