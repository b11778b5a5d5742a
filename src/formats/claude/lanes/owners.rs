//! Which lane owns an id. Transcripts of sub-agents repeat earlier content: a fork the answer that
//! started it, a helper or an aside the whole conversation. Their records may have other ids, but
//! the ids of messages are the same.
//!
//! **What another lane contained before is a copy, and so is all before it in its file.** The main
//! lane owns first, then sub-agents, then their forks, then helpers, independent of the order in
//! which their files are read.
//!
//! Invariant: an id belongs to one lane.

use std::collections::HashMap;

use crate::formats::claude::line::TranscriptLine;
use crate::formats::decoder::RecordPlace;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::fingerprint::ByKey;
use crate::model::record::FileId;
use crate::model::text::Name;

/// Index of a stretch: the lines of one lane in one file, up to a copied part. The main lane has
/// index 0.
pub(crate) type Stretch = u32;
/// The main lane.
const MAIN: Stretch = 0;

/// Order of lanes by ownership, lower first: whether it is a helper, whether it is a fork, and its
/// nesting depth.
pub(crate) type Rank = (bool, bool, u64);

/// How a line relates to the earlier ones with its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineStanding {
    /// It is the first one of its lane.
    New,
    /// Its own lane had it before.
    Known,
    /// Another lane owns it: this is a copy.
    Copy,
}

/// The owners of ids.
#[derive(Debug)]
pub(crate) struct Owners {
    stretches: Vec<LineOwner>,
    /// The current stretches by lane and file.
    open: HashMap<(Name, FileId), Stretch>,
    answers: ByKey<Stretch>,
}

#[derive(Debug)]
struct LineOwner {
    lane: Option<Name>,
    /// Whether its file is a sub-agent's own.
    has_own_file: bool,
    is_copy: bool,
    /// Whether no line of it was applied.
    is_empty: bool,
}

impl Default for Owners {
    fn default() -> Self {
        let main = LineOwner {
            lane: None,
            has_own_file: false,
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
    /// The stretch of a line.
    pub(crate) fn stretch(
        &mut self,
        lane: Option<&Name>,
        file: FileId,
        is_beside: bool,
    ) -> Stretch {
        let Some(lane) = lane else { return MAIN };
        let stretches = &mut self.stretches;
        *self.open.entry((lane.clone(), file)).or_insert_with(|| {
            stretches.push(LineOwner {
                lane: Some(lane.clone()),
                has_own_file: is_beside,
                is_copy: false,
                is_empty: true,
            });
            Stretch::try_from(stretches.len() - 1).unwrap_or_default()
        })
    }

    /// How a line relates to the one with the same id, which is in the stretch `known`.
    pub(crate) fn compare(
        &self,
        line: &TranscriptLine<'_>,
        known: Stretch,
        rank: impl Fn(&Name) -> Rank,
    ) -> LineStanding {
        let Some(known) = self.of(known) else {
            return LineStanding::New;
        };
        match (&known.lane, &line.lane) {
            (before, own) if before == own => LineStanding::Known,
            _ if known.is_copy => LineStanding::New,
            (None, _) => LineStanding::Copy,
            (Some(before), Some(own)) if rank(before) <= rank(own) => LineStanding::Copy,
            _ => LineStanding::New,
        }
    }

    pub(crate) fn lane(&self, stretch: Stretch) -> Option<&Name> {
        self.of(stretch)?.lane.as_ref()
    }

    /// Marks a stretch as having a line that is not a copy.
    pub(crate) fn mark_used(&mut self, stretch: Stretch) {
        if let Some(of) = usize::try_from(stretch)
            .ok()
            .and_then(|stretch| self.stretches.get_mut(stretch))
        {
            of.is_empty = false;
        }
    }

    /// Records the stretch of an answer. Returns whether this is the first line of the answer in
    /// its lane.
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

    pub(crate) fn of_answer(&self, key: &Key) -> Option<Stretch> {
        self.answers.get(key).copied()
    }

    /// Retracts the entry with this key from its lane: another lane owns it.
    pub(crate) fn retract(&self, key: &Key, known: Stretch, out: &mut Batch) {
        let Some(of) = self.of(known).filter(|of| !of.is_copy) else {
            return;
        };
        out.push(if of.has_own_file {
            Edit::CopiedWith(key.clone())
        } else {
            Edit::Retire(key.clone())
        });
    }

    /// Marks all that the file of a line had before it as copied.
    pub(crate) fn end_copy(&mut self, line: &TranscriptLine<'_>, out: &mut Batch) {
        let before = out.origin();
        let stretch = self.stretch(line.lane.as_ref(), before.file, is_companion_line(line));
        let of = usize::try_from(stretch)
            .ok()
            .and_then(|stretch| self.stretches.get_mut(stretch));
        if let Some(of) = of.filter(|of| of.has_own_file && !of.is_empty)
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

    fn of(&self, stretch: Stretch) -> Option<&LineOwner> {
        self.stretches.get(usize::try_from(stretch).ok()?)
    }
}

/// Whether a line is in the transcript of a sub-agent beside its session.
pub(crate) fn is_companion_line(line: &TranscriptLine<'_>) -> bool {
    matches!(line.input.place, RecordPlace::CompanionLine(_))
}
