//! Progress of a search: outward from the user's position, in portions of which a few are in
//! progress at a time.
//!
//! **Bytes first, and nearest first.** Memory does not grow with the session, a key never waits for
//! the whole, and the nearest hit is found first. A record on disk is decoded only if its bytes
//! contain the literals that the pattern needs (`analysis::literal_prefilter`).
//!
//! Invariant: results are added in the order of the portions, so the searched range has no gaps.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use crate::analysis::calls::Place;
use crate::analysis::search::texts::{self, BlockText};
use crate::model::entry::{Entry, EntryId};
use crate::model::transcript::Transcript;

/// Portions in progress: two are being searched, two are queued.
const AT_ONCE: usize = 4;
/// Entries of the first portion; each is twice as large as the previous one.
const FIRST: usize = 64;
/// Limit of the entries of a portion.
const LARGEST: usize = 2_048;
/// Bytes after which a portion is complete.
const HEAVY: u64 = 8 << 20;
/// Limit of the entries skipped for one portion.
const PASSED: usize = 50_000;

/// Texts of some entries, in file order.
pub(crate) type Texts = Vec<(EntryId, Vec<BlockText>)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHits {
    /// Position of the block.
    pub(crate) focus: Place,
    /// Lines of its text with a match; after it was shown, rows with one.
    pub(crate) lines: usize,
    /// The first piece of the block with a match; `None` is its head row.
    pub(crate) first: Option<usize>,
    /// Whether it is in another lane than the one shown when the search began.
    pub(crate) is_in_other_lane: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SearchProgress {
    /// Positions in file order that were handed out.
    out: Range<usize>,
    /// Positions that were searched.
    pub(crate) done: Range<usize>,
    size: usize,
    goes_up: bool,
    portions: VecDeque<SearchPortion>,
    next: u32,
    known: Option<EarlierResults>,
}

#[derive(Clone, Debug)]
struct SearchPortion {
    number: u32,
    places: Range<usize>,
    hits: Option<Vec<BlockHits>>,
}

/// Results of an earlier, less narrow search.
#[derive(Clone, Debug)]
pub(crate) struct EarlierResults {
    /// Positions that it has searched.
    pub(crate) places: Range<usize>,
    /// The only entries with hits in that range.
    pub(crate) entries: HashSet<EntryId>,
}

impl SearchProgress {
    /// A search that begins at a position of the order.
    pub(crate) fn starting_at(place: usize, known: Option<EarlierResults>) -> Self {
        Self {
            out: place..place,
            done: place..place,
            size: FIRST,
            known,
            ..Self::default()
        }
    }

    /// The next portion, if there is one and not enough are in progress.
    pub(crate) fn next_portion(&mut self, transcript: &Transcript) -> Option<(u32, Texts)> {
        while self.portions.len() < AT_ONCE {
            let (above, below) = (self.out.start > 0, self.out.end < transcript.order().len());
            if !above && !below {
                return None;
            }
            let is_up = above && (self.goes_up || !below);
            self.goes_up = !is_up;
            let (places, entries) = self.collect(transcript, is_up);
            self.out = self.out.start.min(places.start)..self.out.end.max(places.end);
            self.size = (self.size * 2).min(LARGEST);
            self.next += 1;
            let number = self.next;
            // Without a text to search there are no hits.
            let hits = entries.is_empty().then(Vec::new);
            self.portions.push_back(SearchPortion {
                number,
                places,
                hits,
            });
            if !entries.is_empty() {
                return Some((number, entries));
            }
            self.drain_ready();
        }
        None
    }

    fn collect(&self, transcript: &Transcript, is_up: bool) -> (Range<usize>, Texts) {
        let (from, order) = (self.out.clone(), transcript.order());
        // This passes over the whole session, so packed pages stay packed.
        let mut passing = transcript.cursor();
        let mut texts = Texts::new();
        let (mut passed, mut bytes) = (0, 0);
        let mut is_full = |place: usize| {
            let Some(id) = order.get(place) else {
                return true;
            };
            passed += 1;
            let is_unknown = !self.is_known_to_miss(place, *id);
            if let Some(entry) = is_unknown.then(|| passing.get(*id)).flatten() {
                bytes += weight(entry);
                texts.push((*id, texts::of_entry_in(transcript, entry)));
            }
            texts.len() >= self.size || bytes >= HEAVY || passed >= PASSED
        };
        if is_up {
            let first = (0..from.start)
                .rev()
                .find(|place| is_full(*place))
                .unwrap_or(0);
            texts.reverse();
            (first..from.start, texts)
        } else {
            let last = (from.end..order.len()).find(|place| is_full(*place));
            (from.end..last.map_or(order.len(), |last| last + 1), texts)
        }
    }

    fn is_known_to_miss(&self, place: usize, id: EntryId) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.places.contains(&place) && !known.entries.contains(&id))
    }

    /// Adds the hits of a portion. Returns the hits of all portions that are next in order.
    pub(crate) fn add_hits(&mut self, number: u32, hits: Vec<BlockHits>) -> Vec<Vec<BlockHits>> {
        if let Some(portion) = self
            .portions
            .iter_mut()
            .find(|portion| portion.number == number)
        {
            portion.hits = Some(hits);
        }
        self.drain_ready()
    }

    fn drain_ready(&mut self) -> Vec<Vec<BlockHits>> {
        let mut released = Vec::new();
        let is_next = |portion: &SearchPortion, done: &Range<usize>| {
            portion.hits.is_some()
                && (portion.places.end == done.start || portion.places.start == done.end)
        };
        while let Some(at) = self
            .portions
            .iter()
            .position(|portion| is_next(portion, &self.done))
        {
            let Some(portion) = self.portions.remove(at) else {
                break;
            };
            self.done =
                self.done.start.min(portion.places.start)..self.done.end.max(portion.places.end);
            released.extend(portion.hits.filter(|hits| !hits.is_empty()));
        }
        released
    }

    /// Extends the searched range by appended entries, which were searched as they came.
    pub(crate) fn grow(&mut self, len: usize) {
        self.out.end = self.out.end.max(len);
        self.done.end = self.done.end.max(len);
    }

    /// Whether all `len` positions are searched.
    pub(crate) fn is_complete(&self, len: usize) -> bool {
        self.done.start == 0 && self.done.end >= len
    }

    /// The searched part of `len` positions, in percent.
    pub(crate) fn percent(&self, len: usize) -> u8 {
        u8::try_from(self.done.len() * 100 / len.max(1))
            .unwrap_or(100)
            .min(100)
    }
}

fn weight(entry: &Entry) -> u64 {
    let bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
    bodies.map(|body| u64::from(body.bytes)).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{any, prop, proptest};

    use super::{HEAVY, SearchProgress};
    use crate::model::body::Key;
    use crate::model::edit::Batch;
    use crate::model::entry::{BlockKind, EntryId, Role};
    use crate::model::transcript::Transcript;

    fn session(are_heavy: &[bool]) -> Transcript {
        let mut batch = Batch::default();
        for (number, is_heavy) in are_heavy.iter().enumerate() {
            let mut entry =
                batch.new_entry(Key::clean(&format!("k{number}")), Role::Assistant, None);
            let mut body = batch.prose("mast");
            if *is_heavy {
                body.bytes = u32::try_from(HEAVY).unwrap();
            }
            entry.push(BlockKind::Text(body));
            batch.entry(entry);
        }
        let mut transcript = Transcript::new();
        transcript.apply(batch);
        transcript
    }

    proptest! {
        /// Wherever it begins, however large its portions are and in whatever order they are
        /// answered: the searched range was answered, each entry once, and the search is complete
        /// with the last answer and not before.
        #[test]
        fn a_search_is_complete_when_all_is_answered(
            are_heavy in prop::collection::vec(any::<bool>(), 1..60),
            start in 0usize..60,
            order in prop::collection::vec(0usize..4, 1..9),
        ) {
            let transcript = session(&are_heavy);
            let len = transcript.order().len();
            let mut progress = SearchProgress::starting_at(start.min(len), None);
            let mut waiting: Vec<(u32, Vec<EntryId>)> = Vec::new();
            let mut answered = HashSet::new();
            for turn in order.iter().cycle() {
                while let Some((number, texts)) = progress.next_portion(&transcript) {
                    waiting.push((number, texts.iter().map(|(id, _)| *id).collect()));
                }
                assert_eq!(progress.is_complete(len), answered.len() == len);
                let mut counted = transcript.order()[progress.done.clone()].iter();
                assert!(counted.all(|id| answered.contains(id)));
                if waiting.is_empty() {
                    break;
                }
                let (number, ids) = waiting.remove(turn % waiting.len());
                assert!(ids.into_iter().all(|id| answered.insert(id)), "each entry once");
                progress.add_hits(number, Vec::new());
            }
            assert_eq!(answered.len(), len);
        }
    }
}
