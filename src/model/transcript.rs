//! The transcript: takes batches, keeps entries by key, and derives pairing, turns, branches and
//! totals from them. [`Transcript::apply`] is the only way to change it.
//!
//! Invariant: the id of an entry stays the same as long as the transcript is there; applying a batch twice changes
//! nothing; no entry disappears but by [`Edit::Retire`] or as a copy ([`copies`]).

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
use super::entry::glance::{Boundary, Glance};
use super::entry::{Entry, EntryId, Marks};
use super::fingerprint::ByKey;
use super::meta::Meta;
use super::record::Origin;
use super::tally::Tally;
use super::text::Name;
use super::timestamp::Timestamp;
use super::totals::Totals;
use super::turn::Turn;
use super::usage::{Scope, Usage};
pub(crate) use accounts::Part;
pub(crate) use differences::{Differences, Replaced};
use lanes::Lanes;
pub(crate) use lanes::{key_of_session, recorded_key};
use large::Large;
pub(crate) use ledger::Aside;
use ledger::Ledger;
use lineage::Lineage;
use order::Order;
use pages::Pages;
pub use pages::Passing;
use pairing::PairIndex;
use turns::Turns;
use work::Works;

/// An entry with so many blocks more is as much work as two.
const BLOCKS: usize = 16;

/// What a batch touched.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// New entries, in order.
    pub added: Vec<EntryId>,
    /// Entries with changed content.
    pub changed: Vec<EntryId>,
    /// Entries that stand at another place of the file now.
    pub moved: Vec<EntryId>,
    /// Entries disappeared or changed places.
    pub reordered: bool,
    /// Facts about the session or its lanes changed.
    pub meta: bool,
    /// A sub-agent has another name or another call.
    pub lanes: bool,
}

impl Touched {
    /// Whether nothing changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && !self.reordered && !self.meta
    }
}

/// Everything known of a session.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    entries: Pages,
    index: ByKey<EntryId>,
    order: Order,
    pairs: PairIndex,
    large: Large,
    lanes: Lanes,
    ledger: Ledger,
    lineage: Lineage,
    turns: Turns,
    works: Works,
    meta: Meta,
    tally: Tally,
    notices: Vec<Notice>,
    /// The first record that a compaction kept, by the entry of the compaction.
    kept: HashMap<Key, Key>,
    /// What copies say was spent for entries that are not there.
    copied: HashMap<Key, Box<Usage>>,
    /// What was left of copies because it was not understood, and the key of its entry.
    left: HashMap<copies::Aside, Key>,
    held_bytes: u64,
    /// Its bodies cannot be read again.
    is_piped: bool,
    changes: u64,
    work: u64,
}

impl Transcript {
    /// An empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a batch and says what it touched. One that begins a replacement makes all go that was there: who shows that
    /// until the replacement is complete reads it into a transcript of its own.
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
                ..self.anew()
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

    /// An empty one for the same session, in which keys have the same fingerprints.
    pub(crate) fn anew(&self) -> Self {
        Self {
            index: self.index.emptied(),
            ..Self::default()
        }
    }

    /// Something in the middle is different: turns and branches must be found anew.
    fn unsettle(&mut self) {
        self.turns.forget();
        self.lineage.unsettle();
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

    /// The entry with this id.
    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.index())
    }

    /// The record that an entry came from, if another one came from it before: what else it holds is told there.
    pub(crate) fn shown_above(&self, id: EntryId) -> Option<Origin> {
        let before = self
            .get(EntryId(id.0.checked_sub(1)?))
            .filter(|before| !before.blocks.is_empty())?;
        (before.origin == self.get(id)?.origin).then_some(before.origin)
    }

    /// A look at one entry after the other, which leaves packed what is packed.
    pub(crate) fn passing(&self) -> Passing<'_> {
        self.entries.passing()
    }

    /// The time of the newest entry. The last one in the order may be of a sub-agent that ended before: of each lane
    /// the last one is looked at.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        let mut passing = self.passing();
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

    /// The place of the last of these entries that is such a one; packed ones stay packed.
    pub(crate) fn last_such(
        &self,
        ids: &[EntryId],
        mut is_it: impl FnMut(&Entry) -> bool,
    ) -> Option<usize> {
        let mut passing = self.passing();
        ids.iter()
            .rposition(|id| passing.get(*id).is_some_and(&mut is_it))
    }

    /// What a glance at the entry tells; it costs little, whatever was done with the entry.
    pub fn glance(&self, id: EntryId) -> Option<Glance> {
        self.entries.glance(id.index())
    }

    /// Its marks; they cost less, and the same for an entry with thousands of blocks.
    pub(crate) fn marks(&self, id: EntryId) -> Option<Marks> {
        self.entries.marks(id.index())
    }

    /// What it is to the calls before it; it costs little, too.
    pub(crate) fn boundary(&self, id: EntryId) -> Option<Boundary> {
        self.entries.boundary(id.index())
    }

    /// How many blocks it has; it costs little, too.
    pub(crate) fn blocks_of(&self, id: EntryId) -> usize {
        self.entries.blocks(id.index())
    }

    /// The sub-agent that the entry belongs to; it costs little, too.
    pub fn lane_at(&self, id: EntryId) -> Option<&Name> {
        self.entries.lane(id.index())
    }

    /// Packs entries that nobody looked at for a while. To be called now and then, while no entry is being
    /// looked at: what is looked at is unpacked, and takes several times the room.
    pub(crate) fn tidy(&mut self) {
        self.entries.tidy(&|key| self.index.print(key));
    }

    /// Packs all entries that can be packed: nothing will be looked at for a while.
    pub fn pack(&mut self) {
        self.entries.pack(&|key| self.index.print(key));
    }

    /// Pages of entries that stand open.
    #[cfg(test)]
    pub(crate) fn open_pages(&self) -> usize {
        self.entries.open_pages()
    }

    /// The entry with this key.
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

    /// What comes next in the order from a place on, and is no more work than so many plain entries are: a large one
    /// counts as many. One at least, if there is one.
    pub(crate) fn portion(&self, from: usize, most: usize) -> &[EntryId] {
        let rest = self.order.get(from..).unwrap_or_default();
        let mut left = most.max(1);
        let fits = |id: &&EntryId| {
            let is_left = left > 0;
            left = left.saturating_sub(1 + self.entries.blocks(id.index()) / BLOCKS);
            is_left
        };
        let count = if most == usize::MAX {
            rest.len()
        } else {
            rest.iter().take_while(fits).count()
        };
        rest.get(..count).unwrap_or_default()
    }

    /// How many ids were given to entries.
    pub(crate) fn ids(&self) -> usize {
        self.entries.len()
    }

    /// Ids from one on that are no more work than so many plain entries are. One at least, if there is one.
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

    /// The place of an entry in the order.
    pub(crate) fn place_of(&self, id: EntryId) -> Option<usize> {
        self.order.place_of(id)
    }

    /// What stands behind an entry in its lane, and no more than so many entries behind it.
    pub(crate) fn behind_in_lane(
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

    /// Entries with calls of this id.
    pub(crate) fn entries_with_call(&self, call: &Key) -> &[EntryId] {
        self.pairs.entries_with(call)
    }

    /// Those of one lane, if calls of several entries have this id.
    pub(crate) fn several_with_call(&self, call: &Key, lane: Option<&Name>) -> &[EntryId] {
        self.pairs.several_in(call, lane)
    }

    /// Entries and blocks that were looked at to find the places of what came, and records to find what was left: what
    /// taking it costs, whatever machine it runs on.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// How often it was changed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Id of the first record that the model still sees after a compaction, as recorded.
    pub(crate) fn kept_by(&self, compaction: &Key) -> Option<&Key> {
        self.kept.get(compaction)
    }

    /// Facts about the session.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// What became of the records.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What was odd.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// What was spent; of several sessions that are read as one see [`Transcript::parts`].
    pub fn totals(&self) -> &Totals {
        &self.ledger.totals
    }

    /// Usage that was recorded beside the entries, in no order.
    pub fn asides(&self) -> impl Iterator<Item = (&Key, &Aside)> {
        self.ledger.asides.iter()
    }

    /// Turns of the main lane, or of all sessions, by where they begin; see [`Transcript::settle`].
    pub fn turns(&self) -> &[Turn] {
        &self.turns.list
    }

    /// The turn that the entry at this place of the order belongs to.
    pub(crate) fn turn_at(&self, place: usize) -> Option<usize> {
        if !self.is_joined() {
            return self.turns.at(0, place);
        }
        let (session, _) = self.session_of(*self.order.get(place)?)?;
        self.turns.at(session, place)
    }

    /// The numbers of the turns of one of several sessions; of all, if there is only one.
    pub(crate) fn turns_of(&self, session: usize) -> &[usize] {
        self.turns.of_session(session)
    }

    /// The next turn of the same session.
    pub(crate) fn turn_after(&self, number: usize) -> Option<&Turn> {
        self.turns.beside(number, 1)
    }

    /// Places of the order from the prompt of a turn up to the next one of its session. Between them stands what other
    /// lanes and sessions said.
    pub(crate) fn places_of_turn(&self, number: usize) -> Range<usize> {
        let first = self.turns().get(number).map_or(0, |turn| turn.first);
        first
            ..self
                .turn_after(number)
                .map_or(self.order.len(), |next| next.first)
    }

    /// The turn before of the same session.
    pub(crate) fn turn_before(&self, number: usize) -> Option<usize> {
        self.turn_at(self.turns.beside(number, -1)?.first)
    }

    /// Whether no turn of the same session comes after one; after none at all, if there is none.
    pub(crate) fn is_newest_turn(&self, number: Option<usize>) -> bool {
        number.map_or(self.turns().is_empty(), |number| {
            self.turn_after(number).is_none()
        })
    }

    /// The newest answer of a lane, unless the history was shortened since. The model was asked again after all
    /// others: calls of theirs that have no result will have none. Known when the transcript is settled.
    pub(crate) fn latest_answer(&self, lane: Option<&Name>) -> Option<EntryId> {
        self.turns.latest.answer(lane)
    }

    /// How often an entry turned out to be no answer, or no compaction, so that an older answer may be the newest.
    pub(crate) fn answers_taken_back(&self) -> u32 {
        self.turns.latest.taken_back
    }

    /// Usage of the last request of the main lane: its prompt is the size of the context.
    pub(crate) fn last_request(&self) -> Option<(&Entry, &Usage)> {
        let order: &[EntryId] = if self.is_joined() { &[] } else { &self.order };
        let main = order.iter().rev().filter(|id| self.lane_at(**id).is_none());
        main.filter_map(|id| self.get(*id)).find_map(|entry| {
            let usage = entry.usage.as_deref()?;
            (usage.scope == Scope::Request && usage.prompt() > 0).then_some((entry, usage))
        })
    }
}

#[cfg(test)]
mod tests;
