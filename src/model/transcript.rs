//! The transcript: applies batches, stores entries by key, and derives pairing, turns, branches and
//! totals. [`Transcript::apply`] is the only way to change it.
//!
//! Invariant: the id of an entry is stable for the lifetime of the transcript; applying a batch
//! twice changes nothing; an entry is removed only by [`Edit::Retire`] or as a copy ([`copies`]).

mod accounts;
mod bodies;
mod branching;
mod copies;
mod differences;
mod ending;
mod entries;
mod facts;
mod lanes;
mod large;
mod latest;
mod ledger;
mod lineage;
mod merge;
mod order;
mod pages;
mod pairing;
mod results;
mod turns;
mod work;

use std::collections::HashMap;
use std::ops::Range;

use super::body::Key;
use super::edit::{Batch, Edit, Notice};
use super::entry::glance::{Boundary, EntrySummary};
use super::entry::{Entry, EntryId, Marks};
use super::fingerprint::ByKey;
use super::meta::Meta;
use super::record::Origin;
use super::tally::Tally;
use super::text::Name;
use super::timestamp::Timestamp;
use super::totals::Totals;
use super::turn::Turn;
use super::usage::Usage;
pub(crate) use accounts::UsagePart;
pub(crate) use differences::{Differences, Replaced};
use lanes::LaneTable;
pub(crate) use lanes::{key_of_session, recorded_key};
use large::Large;
pub(crate) use ledger::Aside;
use ledger::UsageTable;
use lineage::Lineage;
use order::EntryOrder;
use pages::Pages;
pub use pages::Passing;
use pairing::PairIndex;
use turns::TurnTable;
use work::Works;

/// Number of further blocks that make an entry count as one more entry of work.
const BLOCKS: usize = 16;

/// Changes made by a batch.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// New entries, in order.
    pub added: Vec<EntryId>,
    /// Entries with changed content.
    pub changed: Vec<EntryId>,
    /// Entries at another position in the file, with equal content.
    pub moved: Vec<EntryId>,
    /// Whether entries were removed or their order changed.
    pub reordered: bool,
    /// Whether metadata of the session or its lanes changed.
    pub meta: bool,
    /// Whether the label or the call of a sub-agent changed.
    pub lanes: bool,
}

impl Touched {
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && !self.reordered && !self.meta
    }
}

/// A session as read so far: entries, indexes and derived data.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    entries: Pages,
    index: ByKey<EntryId>,
    order: EntryOrder,
    pairs: PairIndex,
    large: Large,
    lanes: LaneTable,
    ledger: UsageTable,
    lineage: Lineage,
    turns: TurnTable,
    background_work: Works,
    meta: Meta,
    tally: Tally,
    notices: Vec<Notice>,
    /// The first record that a compaction retained, by key of the compaction's entry.
    first_kept: HashMap<Key, Key>,
    /// Usage recorded by copies of entries that have not come yet.
    copied: HashMap<Key, Box<Usage>>,
    /// Asides retained from removed copies, with the keys of their entries.
    retained_asides: HashMap<copies::AsideIdentity, Key>,
    held_bytes: u64,
    /// Whether its bodies cannot be read again.
    is_piped: bool,
    changes: u64,
    work: u64,
}

impl Transcript {
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies a batch and returns what changed. A batch that begins a replacement removes everything: to show the
    /// old content until the replacement is complete, read it into a second transcript.
    pub fn apply(&mut self, batch: Batch) -> Touched {
        let begins = batch.mode.begins();
        let mut touched = Touched {
            reordered: begins,
            lanes: begins,
            meta: begins,
            ..Touched::default()
        };
        if begins {
            *self = Self {
                changes: self.changes,
                ..self.emptied()
            };
        }
        self.changes += 1;
        for edit in batch.edits {
            self.apply_edit(edit, &mut touched);
        }
        self.order.drop_retired();
        touched.changed.sort_unstable();
        touched.changed.dedup();
        self.is_piped |= batch.is_piped;
        self.tally = batch.tally;
        self.notices.extend(batch.notices);
        touched
    }

    /// An empty transcript for the same session, in which keys have the same fingerprints.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            index: self.index.emptied(),
            ..Self::default()
        }
    }

    /// Marks turns and branches for derivation from scratch, because something before the end changed.
    fn invalidate(&mut self) {
        self.turns.clear();
        self.lineage.invalidate();
    }

    fn apply_edit(&mut self, edit: Edit, touched: &mut Touched) {
        match edit {
            Edit::Entry(entry) => self.apply_entry(*entry, touched),
            Edit::Result { call, result, lane } => self.apply_result(call, *result, lane, touched),
            Edit::State { call, state } => self.apply_state(&call, state, touched),
            Edit::Update {
                about,
                update,
                lane,
            } => self.apply_update(about, update, lane, touched),
            Edit::Usage { of, usage, model } => self.apply_usage(of, *usage, model, touched),
            Edit::Link { key, parent } => self.apply_link(key, parent),
            Edit::Meta(edit) => {
                touched.lanes |= self.apply_meta(edit);
                touched.meta = true;
            }
            Edit::Retire(key) => self.retire(&key, touched),
            Edit::RetirePiece { of, piece } => self.retire_piece(&of, piece, touched),
            Edit::Copied { lane, before } => self.retire_copies(lane.as_ref(), before, touched),
            Edit::CopiedWith(key) => self.retire_with(&key, touched),
            Edit::Complete { of, usage } => self.complete(&of, usage, touched),
        }
    }

    // === reading ===

    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.index())
    }

    /// The record of an entry, if the previous entry was made from the same one: its other fields are shown there.
    pub(crate) fn shown_above(&self, id: EntryId) -> Option<Origin> {
        let before = self
            .get(EntryId(id.0.checked_sub(1)?))
            .filter(|before| !before.blocks.is_empty())?;
        (before.origin == self.get(id)?.origin).then_some(before.origin)
    }

    /// A cursor for one pass over the entries; packed pages stay packed.
    pub(crate) fn cursor(&self) -> Passing<'_> {
        self.entries.cursor()
    }

    /// Latest timestamp of the entries. The last entry in the order may be of a sub-agent that
    /// ended earlier, so the last one of each lane is checked.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        let mut passing = self.cursor();
        let mut known: HashMap<Option<&Name>, Timestamp> = HashMap::new();
        for id in self.order.iter().rev() {
            let lane = self.lane_at(*id);
            if !known.contains_key(&lane)
                && let Some(at) = passing.get(*id).and_then(|entry| entry.at)
            {
                known.insert(lane, at);
            }
        }
        known.into_values().max()
    }

    /// Position of the last of these entries that satisfies a condition; packed pages stay packed.
    pub(crate) fn last_such(
        &self,
        ids: &[EntryId],
        mut is_it: impl FnMut(&Entry) -> bool,
    ) -> Option<usize> {
        let mut passing = self.cursor();
        ids.iter()
            .rposition(|id| passing.get(*id).is_some_and(&mut is_it))
    }

    /// Summary of an entry, without unpacking it.
    pub fn glance(&self, id: EntryId) -> Option<EntrySummary> {
        self.entries.glance(id.index())
    }

    /// Marks of an entry; cheaper than its glance, even with thousands of blocks.
    pub(crate) fn marks(&self, id: EntryId) -> Option<Marks> {
        self.entries.marks(id.index())
    }

    /// Effect of an entry on the open calls before it, without unpacking it.
    pub(crate) fn boundary(&self, id: EntryId) -> Option<Boundary> {
        self.entries.boundary(id.index())
    }

    /// Number of blocks of an entry, without unpacking it.
    pub(crate) fn blocks_of(&self, id: EntryId) -> usize {
        self.entries.blocks(id.index())
    }

    /// Lane of an entry, without unpacking it.
    pub fn lane_at(&self, id: EntryId) -> Option<&Name> {
        self.entries.lane(id.index())
    }

    /// Packs pages that were not used for a while. Call it regularly, but not during a pass over
    /// entries: access unpacks a page, which then takes several times the memory.
    pub(crate) fn tidy(&mut self) {
        self.entries.tidy(&|key| self.index.print(key));
    }

    /// Packs all pages that can be packed; for sessions that will be idle.
    pub fn pack(&mut self) {
        self.entries.pack(&|key| self.index.print(key));
    }

    /// Number of unpacked pages.
    #[cfg(test)]
    pub(crate) fn open_pages(&self) -> usize {
        self.entries.open_pages()
    }

    pub fn find(&self, key: &str) -> Option<EntryId> {
        self.index.get(key).copied()
    }

    /// Entries of all lanes in file order.
    pub fn order(&self) -> &[EntryId] {
        &self.order
    }

    /// Entries of all lanes in file order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.order.iter().filter_map(|id| self.get(*id))
    }

    /// The next entries of the order from a position on, limited to the work of `most` plain
    /// entries: large entries count as several. At least one, if there is one.
    pub(crate) fn portion(&self, from: usize, most: usize) -> &[EntryId] {
        let rest = self.order.get(from..).unwrap_or_default();
        let mut left = most.max(1);
        let fits = |id: &&EntryId| {
            let is_left = left > 0;
            left = left.saturating_sub(1 + self.entries.blocks(id.index()) / BLOCKS);
            is_left
        };
        let count = rest.iter().take_while(fits).count();
        rest.get(..count).unwrap_or_default()
    }

    /// Number of ids assigned so far.
    pub(crate) fn ids(&self) -> usize {
        self.entries.len()
    }

    /// Ids from `first` on, limited to the work of `most` plain entries. At least one, if there is one.
    pub(crate) fn ids_from(
        &self,
        first: usize,
        most: usize,
    ) -> impl Iterator<Item = EntryId> + use<'_> {
        let mut left = most.max(1);
        (first..self.ids()).map_while(move |number| {
            let is_left = left > 0;
            left = left.saturating_sub(1 + self.entries.blocks(number) / BLOCKS);
            Some(EntryId(u32::try_from(number).ok()?)).filter(|_| is_left)
        })
    }

    /// Position of an entry in the order.
    pub(crate) fn place_of(&self, id: EntryId) -> Option<usize> {
        self.order.place_of(id)
    }

    /// Entries after an entry in its lane, limited to a number of entries.
    pub(crate) fn following_in_lane(
        &self,
        id: EntryId,
        most: usize,
    ) -> impl Iterator<Item = (EntryId, &Entry)> {
        let lane = self.lane_at(id);
        let from = self.place_of(id).map_or(usize::MAX, |place| place + 1);
        let behind = self.order.get(from..).unwrap_or_default().iter().take(most);
        let own = behind.filter(move |other| self.lane_at(**other) == lane);
        own.filter_map(|other| Some((*other, self.get(*other)?)))
    }

    /// Entries with calls of this id, in file order.
    pub(crate) fn entries_with_call(&self, call: &Key) -> &[EntryId] {
        self.pairs.entries_with(call)
    }

    /// Those of one lane, if calls of several entries have this id.
    pub(crate) fn several_with_call(&self, call: &Key, lane: Option<&Name>) -> &[EntryId] {
        self.pairs.several_in(call, lane)
    }

    /// Entries, blocks and records visited so far to apply batches and to derive branches: the cost
    /// of `apply` independent of the machine.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Number of changes so far.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Id of the first record that the model still sees after a compaction, as recorded.
    pub(crate) fn first_kept(&self, compaction: &Key) -> Option<&Key> {
        self.first_kept.get(compaction)
    }

    /// Facts about the session.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Fates of the records.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Notices about odd records.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Usage of the whole session; for several joined sessions see [`Transcript::parts`].
    pub fn totals(&self) -> &Totals {
        &self.ledger.totals
    }

    /// Usage recorded outside the entries, unordered.
    pub fn asides(&self) -> impl Iterator<Item = (&Key, &Aside)> {
        self.ledger.asides.iter()
    }

    /// Turns of the main lane, or of all joined sessions, by position; see [`Transcript::update_derived`].
    pub fn turns(&self) -> &[Turn] {
        &self.turns.list
    }

    /// Index of the turn of the entry at this position.
    pub(crate) fn turn_at(&self, place: usize) -> Option<usize> {
        if !self.is_joined() {
            return self.turns.at(0, place);
        }
        let (session, _) = self.session_of(*self.order.get(place)?)?;
        self.turns.at(session, place)
    }

    /// Index of the turn of an entry.
    pub(crate) fn turn_of(&self, id: EntryId) -> Option<usize> {
        self.turn_at(self.place_of(id)?)
    }

    /// Indexes of the turns of a joined session; all turns, if there is only one session.
    pub(crate) fn turns_of(&self, session: usize) -> &[usize] {
        self.turns.of_session(session)
    }

    /// The next turn of the same session.
    pub(crate) fn turn_after(&self, number: usize) -> Option<&Turn> {
        self.turns.neighbour(number, 1)
    }

    /// Positions from the prompt of a turn up to the next prompt of its session. Entries of other
    /// lanes and sessions may be between.
    pub(crate) fn places_of_turn(&self, number: usize) -> Range<usize> {
        let first = self.turns().get(number).map_or(0, |turn| turn.first);
        first
            ..self
                .turn_after(number)
                .map_or(self.order.len(), |next| next.first)
    }

    /// The previous turn of the same session.
    pub(crate) fn turn_before(&self, number: usize) -> Option<usize> {
        self.turn_at(self.turns.neighbour(number, -1)?.first)
    }

    /// Whether it is the last turn of its session; for `None`, whether there is no turn.
    pub(crate) fn is_newest_turn(&self, number: Option<usize>) -> bool {
        number.map_or(self.turns().is_empty(), |number| {
            self.turn_after(number).is_none()
        })
    }

    /// The latest answer of a lane, unless the history was shortened after it. Calls of earlier answers without a
    /// result will not get one, because another request followed. Valid after [`Transcript::update_derived`].
    pub(crate) fn latest_answer(&self, lane: Option<&Name>) -> Option<EntryId> {
        self.turns.latest.answer(lane)
    }

    /// How often an entry stopped being an answer or a compaction, so that the latest answer may be an older one.
    pub(crate) fn retracted_answers(&self) -> u32 {
        self.turns.latest.retractions
    }
}

#[cfg(test)]
mod tests;
