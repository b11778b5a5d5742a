//! Which lane an id belongs to. Files of sub-agents repeat what was said before them: a fork the answer that called it, a
//! helper or an aside the whole conversation, with the ids of their records or with others, but with those of messages.
//!
//! **What another lane said before is a copy, and so is all that stands before it in its file.** The main lane comes
//! first, sub-agents before forks of them, helpers last, in whatever order their files are read.
//!
//! Invariant: an id belongs to one lane.

use std::collections::HashMap;

use crate::formats::claude::line::Line;
use crate::formats::decoder::Place;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::fingerprint::ByKey;
use crate::model::record::FileId;
use crate::model::text::Name;

/// A stretch of lines that one file brings one lane, up to what turns out to be copied. The main lane is the first one.
pub(crate) type Stretch = u32;
/// The main lane.
const MAIN: Stretch = 0;

/// What comes first of two lanes is the lesser one: whether it is a helper, whether it is a fork, and how deep it lies.
pub(crate) type Rank = (bool, bool, u64);

/// How a line stands to those with its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is the first one of its lane.
    New,
    /// Its own lane said it before.
    Known,
    /// Another lane said it: it is a copy.
    Copy,
}

/// The lanes that ids belong to.
#[derive(Debug)]
pub(crate) struct Owners {
    stretches: Vec<Of>,
    /// Those that go on, by lane and file.
    open: HashMap<(Name, FileId), Stretch>,
    answers: ByKey<Stretch>,
}

#[derive(Debug)]
struct Of {
    lane: Option<Name>,
    /// Whether its file is a sub-agent's own.
    is_beside: bool,
    is_copy: bool,
    /// Whether nothing of it was taken in.
    is_empty: bool,
}

impl Default for Owners {
    fn default() -> Self {
        let main = Of {
            lane: None,
            is_beside: false,
            is_copy: false,
            is_empty: false,
        };
        Self {
            stretches: vec![main],
            open: HashMap::new(),
            answers: ByKey::default(),
        }
    }
}

impl Owners {
    /// The stretch that a line of a file is of.
    pub(crate) fn stretch(
        &mut self,
        lane: Option<&Name>,
        file: FileId,
        is_beside: bool,
    ) -> Stretch {
        let Some(lane) = lane else { return MAIN };
        let stretches = &mut self.stretches;
        *self.open.entry((lane.clone(), file)).or_insert_with(|| {
            stretches.push(Of {
                lane: Some(lane.clone()),
                is_beside,
                is_copy: false,
                is_empty: true,
            });
            Stretch::try_from(stretches.len() - 1).unwrap_or_default()
        })
    }

    /// How a line stands to the one with the same id, which is of the stretch `known`.
    pub(crate) fn standing(
        &self,
        line: &Line<'_>,
        known: Stretch,
        rank: impl Fn(&Name) -> Rank,
    ) -> Standing {
        let Some(known) = self.of(known) else {
            return Standing::New;
        };
        match (&known.lane, &line.lane) {
            (before, own) if before == own => Standing::Known,
            _ if known.is_copy => Standing::New,
            (None, _) => Standing::Copy,
            (Some(before), Some(own)) if rank(before) <= rank(own) => Standing::Copy,
            _ => Standing::New,
        }
    }

    /// The lane that a stretch is of.
    pub(crate) fn lane(&self, stretch: Stretch) -> Option<&Name> {
        self.of(stretch)?.lane.as_ref()
    }

    /// Takes a line in that is no copy.
    pub(crate) fn take(&mut self, stretch: Stretch) {
        if let Some(of) = usize::try_from(stretch)
            .ok()
            .and_then(|stretch| self.stretches.get_mut(stretch))
        {
            of.is_empty = false;
        }
    }

    /// An answer is of this stretch. Whether that is its lane's first word of it.
    pub(crate) fn begin_answer(&mut self, key: &Key, stretch: Stretch) -> bool {
        let known = self
            .answers
            .insert(key, stretch)
            .and_then(|known| self.of(known));
        let own = self.of(stretch);
        known
            .zip(own)
            .is_none_or(|(known, own)| known.lane != own.lane)
    }

    /// The stretch that an answer is of.
    pub(crate) fn of_answer(&self, key: &Key) -> Option<Stretch> {
        self.answers.get(key).copied()
    }

    /// Takes back what the lane of a line said under this key: the line is of a lane that comes first.
    pub(crate) fn take_back(&self, key: &Key, known: Stretch, out: &mut Batch) {
        let Some(of) = self.of(known).filter(|of| !of.is_copy) else {
            return;
        };
        out.push(if of.is_beside {
            Edit::CopiedWith(key.clone())
        } else {
            Edit::Retire(key.clone())
        });
    }

    /// All that the file of a line said before it is copied.
    pub(crate) fn end_copy(&mut self, line: &Line<'_>, out: &mut Batch) {
        let before = out.origin();
        let stretch = self.stretch(line.lane.as_ref(), before.file, is_beside(line));
        let of = usize::try_from(stretch)
            .ok()
            .and_then(|stretch| self.stretches.get_mut(stretch));
        if let Some(of) = of.filter(|of| of.is_beside && !of.is_empty)
            && let Some(lane) = of.lane.clone()
        {
            of.is_copy = true;
            self.open.remove(&(lane.clone(), before.file));
            out.push(Edit::Copied {
                lane: Some(lane),
                before,
            });
        }
    }

    fn of(&self, stretch: Stretch) -> Option<&Of> {
        self.stretches.get(usize::try_from(stretch).ok()?)
    }
}

/// Whether a line is of a sub-agent's own file, beside that of its session.
pub(crate) fn is_beside(line: &Line<'_>) -> bool {
    matches!(line.input.place, Place::CompanionLine(_))
}
