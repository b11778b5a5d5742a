//! A search and its results: blocks with hits, in file order; first those of the lane that was
//! shown when it began, then those of helpers.
//!
//! This is the state of a search in a session; who started it is known to the view, and positions
//! of hits on the screen to the text.

pub mod progress;

use std::collections::HashSet;
use std::sync::Arc;

use regex::Regex;

use self::progress::{BlockHits, EarlierResults, SearchProgress, Texts};
use crate::analysis::calls::Place;
use crate::analysis::expression::parse::Mistake;
use crate::analysis::search::literal_prefilter::LiteralPrefilter;
use crate::analysis::search::scope::TextScope;
use crate::analysis::search::texts::{self, BlockText, Read};
use crate::model::entry::{BlockKind, EntryId};
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// A search and its results so far.
#[derive(Clone, Debug)]
pub struct Search {
    /// The text as typed.
    pub typed: String,
    /// The scope that it is restricted to.
    pub(crate) scope: Option<TextScope>,
    /// Whether the text is taken literally, even if it is a valid regular expression.
    pub is_literal: bool,
    /// Syntax error of the regular expression; then the text is taken literally, too.
    pub mistake: Option<Mistake>,
    pub(crate) pattern: Regex,
    prefilter: Arc<LiteralPrefilter>,
    /// The lane that was shown when the search began.
    pub(crate) start_lane: Option<Name>,
    /// Blocks with hits that the filter shows, in file order, with those of other lanes last.
    pub(crate) hits: Vec<BlockHits>,
    /// Number of changes of the hits.
    pub(crate) changes: u32,
    found: Vec<BlockHits>,
    pub(crate) progress: SearchProgress,
    /// The hit to move to, once it is found.
    pub(crate) seeks: Option<Seek>,
    /// Whether everything has been searched.
    pub is_complete: bool,
    /// Progress in percent.
    pub(crate) percent: u8,
    /// Distinguishes answers for this search from those for earlier ones.
    pub(crate) generation: u32,
}

/// Which hit to move to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seek {
    /// The first one at or after the user's position.
    Nearest,
    /// The first one after this block.
    After(Place),
    /// The last one before this block.
    Before(Place),
    /// The first one that the model saw; asked for at this block.
    First(Option<Place>),
}

/// A portion of a search, for another thread.
#[derive(Clone, Debug)]
pub struct Job {
    pub pattern: Regex,
    /// Literals that a record must contain to be decoded.
    pub prefilter: Arc<LiteralPrefilter>,
    /// The scope that the search is restricted to.
    pub scope: Option<TextScope>,
    /// See [`Search::generation`].
    pub generation: u32,
    /// Number of the portion.
    pub number: u32,
    /// Texts to search, in file order.
    pub entries: Texts,
}

/// Blocks of an entry with hits.
pub fn hits_of(
    pattern: &Regex,
    scope: Option<TextScope>,
    (entry, blocks): (EntryId, &[BlockText]),
    read: &mut Read<'_>,
) -> Vec<BlockHits> {
    let counted = blocks.iter().map(|text| {
        let (mut lines, mut first) = (0, None);
        texts::each_line(pattern, scope, text, read, &mut |line| {
            first = if lines == 0 { line.piece } else { first };
            lines += 1;
        });
        BlockHits {
            focus: Place {
                entry,
                block: text.block,
            },
            lines,
            first,
            is_in_other_lane: false,
        }
    });
    counted.filter(|hit| hit.lines > 0).collect()
}

/// Whether the model was sent a block, or wrote it.
fn is_seen(transcript: &Transcript, place: Place) -> bool {
    transcript.get(place.entry).is_some_and(|entry| {
        let is_sent = !(entry.marks.trace || entry.marks.unsent);
        let block = entry.blocks.get(place.block).map(|block| &block.kind);
        is_sent
            && matches!(
                block,
                Some(
                    BlockKind::Text(_)
                        | BlockKind::Thinking(_)
                        | BlockKind::Call(_)
                        | BlockKind::Result(_)
                )
            )
    })
}

impl Search {
    /// A search without results. Text that is no regular expression is taken literally.
    pub(crate) fn new(typed: &str, is_literal: bool, generation: u32) -> Option<Self> {
        let (scope, text) = TextScope::split(typed);
        let text = if is_literal && !typed.is_empty() && text.is_empty() {
            typed
        } else {
            text
        };
        if text.is_empty() {
            return None;
        }
        let pattern = if is_literal {
            None
        } else {
            texts::pattern(text, false)
        };
        let is_pattern = pattern.is_some();
        let mistake = if is_literal || is_pattern {
            None
        } else {
            texts::mistake(text)
        };
        let before = typed.chars().count() - text.chars().count();
        let pattern = pattern.or_else(|| texts::pattern(text, true))?;
        Some(Self {
            typed: typed.to_owned(),
            scope,
            is_literal,
            mistake: mistake.map(|mistake| Mistake {
                at: mistake.at + before,
                ..mistake
            }),
            pattern,
            prefilter: Arc::new(texts::prefilter(text, !is_pattern)),
            start_lane: None,
            hits: Vec::new(),
            changes: 0,
            found: Vec::new(),
            progress: SearchProgress::default(),
            seeks: None,
            is_complete: false,
            percent: 0,
            generation,
        })
    }

    /// Replaces the hits of some entries.
    pub(crate) fn replace(
        &mut self,
        transcript: &Transcript,
        searched: &[EntryId],
        hits: Vec<BlockHits>,
    ) {
        let searched: HashSet<EntryId> = searched.iter().copied().collect();
        self.found
            .retain(|hit| !searched.contains(&hit.focus.entry));
        self.add(transcript, hits);
    }

    /// Adds hits that are in file order, and sorts them in.
    pub(crate) fn add(&mut self, transcript: &Transcript, mut hits: Vec<BlockHits>) {
        for hit in &mut hits {
            hit.is_in_other_lane = self.is_in_other_lane(transcript, hit.focus);
        }
        let place = |hit: &BlockHits| {
            (
                transcript.place_of(hit.focus.entry).unwrap_or(usize::MAX),
                hit.focus.block,
            )
        };
        let (Some(first), Some(last)) = (hits.first().map(place), hits.last().map(place)) else {
            return;
        };
        if self.found.last().is_none_or(|known| place(known) < first) {
            self.found.extend(hits);
        } else if self.found.first().is_some_and(|known| last < place(known)) {
            self.found.splice(0..0, hits);
        } else {
            self.found.extend(hits);
            self.found.sort_by_cached_key(place);
            self.found.dedup_by_key(|hit| hit.focus);
        }
    }

    /// Begins at a position of the order. Entries in which an earlier, less narrow search found
    /// nothing are skipped.
    pub(crate) fn begin(&mut self, place: usize, earlier: Option<&Self>) {
        let known = earlier
            .filter(|earlier| self.is_narrower_than(earlier))
            .map(|earlier| EarlierResults {
                places: earlier.progress.done.clone(),
                entries: earlier.found.iter().map(|hit| hit.focus.entry).collect(),
            });
        self.progress = SearchProgress::starting_at(place, known);
    }

    /// Whether this text extends the earlier one, so that its hits are among the earlier hits.
    fn is_narrower_than(&self, earlier: &Self) -> bool {
        let means_itself = |typed: &str| self.is_literal || regex::escape(typed) == typed;
        let (scope, text) = TextScope::split(&self.typed);
        let (_, before) = TextScope::split(&earlier.typed);
        self.is_literal == earlier.is_literal
            && scope == earlier.scope
            && means_itself(text)
            && !before.is_empty()
            && text.starts_with(before)
    }

    /// The next portion to search, if not enough are in progress.
    pub(crate) fn next_job(&mut self, transcript: &Transcript) -> Option<Job> {
        let (number, entries) = self.progress.next_portion(transcript)?;
        Some(Job {
            pattern: self.pattern.clone(),
            prefilter: Arc::clone(&self.prefilter),
            scope: self.scope,
            generation: self.generation,
            number,
            entries,
        })
    }

    /// Drops hits that the filter hides.
    pub(crate) fn narrow(&mut self, shows: impl Fn(Place) -> bool) {
        let shown = self.found.iter().copied().filter(|hit| shows(hit.focus));
        let (beside, own) = shown.partition::<Vec<BlockHits>, _>(|hit| hit.is_in_other_lane);
        self.hits = own;
        self.hits.extend(beside);
        self.changes = self.changes.wrapping_add(1);
    }

    /// Whether a position is in another lane than the one shown when the search began. Main lanes
    /// of joined sessions count as one.
    pub(crate) fn is_in_other_lane(&self, transcript: &Transcript, place: Place) -> bool {
        let (lane, home) = (transcript.lane_at(place.entry), self.start_lane.as_ref());
        let is_read = transcript.is_main_lane(lane) && transcript.is_main_lane(home);
        lane != home && !is_read
    }

    /// Sort key of a position among the hits.
    pub(crate) fn sort_key(&self, transcript: &Transcript, place: Place) -> (bool, (usize, usize)) {
        (
            self.is_in_other_lane(transcript, place),
            place.file_order(transcript),
        )
    }

    /// Total number of hits.
    pub fn total(&self) -> usize {
        self.hits.iter().map(|hit| hit.lines).sum()
    }

    /// Number (from 1) of a hit, given its block and its index in it.
    pub(crate) fn number_of(&self, focus: Place, within: usize) -> Option<usize> {
        let place = self.hits.iter().position(|hit| hit.focus == focus)?;
        let before: usize = self.hits.iter().take(place).map(|hit| hit.lines).sum();
        let most = self
            .hits
            .get(place)
            .map_or(0, |hit| hit.lines.saturating_sub(1));
        Some(before + within.min(most) + 1)
    }

    /// The hit to move to. It is certain once everything between it and the start has been
    /// searched.
    pub(crate) fn chosen(
        &self,
        transcript: &Transcript,
        seeks: Seek,
        start: Option<Place>,
    ) -> Option<Place> {
        let rank = |focus: Place| self.sort_key(transcript, focus);
        let at_or_behind = |focus: Place| {
            self.hits
                .partition_point(|hit| rank(hit.focus) < rank(focus))
        };
        let own = self.hits.partition_point(|hit| !hit.is_in_other_lane);
        let complete = |hit: Option<&BlockHits>| hit.filter(|_| self.is_complete).copied();
        let done = &self.progress.done;
        let of_entry = |focus: Place| focus.file_order(transcript).0;
        // No hit may be missing between two positions of one lane.
        let is_sure = |from: Option<Place>, to: Place| {
            let from = from.unwrap_or(to);
            let (first, last) = (
                of_entry(from).min(of_entry(to)),
                of_entry(from).max(of_entry(to)),
            );
            let is_searched = done.start <= first && last < done.end;
            self.is_complete || is_searched && rank(from).0 == rank(to).0
        };
        let hit = match seeks {
            Seek::First(_) => {
                let mut seen = self
                    .found
                    .iter()
                    .filter(|hit| is_seen(transcript, hit.focus));
                let first = seen.clone().next();
                let own = seen.find(|hit| !hit.is_in_other_lane);
                let is_sure = |hit: &&BlockHits| done.start == 0 && of_entry(hit.focus) < done.end;
                own.filter(is_sure)
                    .copied()
                    .or_else(|| complete(own.or(first)))
            }
            Seek::Nearest => {
                let at = start.map_or(0, at_or_behind);
                // Hits of the shown lane; of the others, if that has none.
                let last = own.checked_sub(1).and_then(|last| self.hits.get(last));
                let behind = self.hits.get(at).filter(|hit| is_sure(start, hit.focus));
                let behind = behind.filter(|hit| !hit.is_in_other_lane || last.is_none());
                let start = start.map_or(0, of_entry);
                let is_last_part = done.end >= transcript.order().len() && done.start <= start;
                let before = last.filter(|_| is_last_part && at >= own);
                behind
                    .or(before)
                    .copied()
                    .or_else(|| complete(last.or(self.hits.first())))
            }
            Seek::After(from) => {
                let behind = self.hits.iter().find(|hit| rank(hit.focus) > rank(from));
                let behind = behind.filter(|hit| is_sure(Some(from), hit.focus));
                behind.copied().or_else(|| complete(self.hits.first()))
            }
            Seek::Before(from) => {
                let before = at_or_behind(from)
                    .checked_sub(1)
                    .and_then(|at| self.hits.get(at));
                let before = before.filter(|hit| is_sure(Some(from), hit.focus));
                before.copied().or_else(|| complete(self.hits.last()))
            }
        };
        hit.map(|hit| hit.focus)
    }

    /// The first piece of a block with a match; `None` is its head row.
    pub(crate) fn first_piece(&self, focus: Place) -> Option<usize> {
        self.found.iter().find(|hit| hit.focus == focus)?.first
    }

    /// Corrects the number of hits of a block after its rows were laid out.
    pub(crate) fn set_line_count(&mut self, focus: Place, lines: usize) {
        for hit in self
            .hits
            .iter_mut()
            .chain(&mut self.found)
            .filter(|hit| hit.focus == focus)
        {
            hit.lines = lines;
        }
    }
}
