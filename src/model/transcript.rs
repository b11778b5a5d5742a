//! The transcript: takes batches, keeps entries by key, and derives pairing, turns, branches and
//! totals from them. [`Transcript::apply`] is the only way to change it.
//!
//! Invariant: entry ids stay the same while the session is open; telling a batch twice changes
//! nothing; no entry disappears but by [`Edit::Retire`] or a new telling that leaves it out.

use std::collections::{HashMap, HashSet};

use super::edit::{Batch, Edit, MetaEdit, Mode, Notice};
use super::entry::{Block, BlockKind, Body, Entry, EntryId, Held, Key, Piece, Role, StrayResult};
use super::pairing::{PairIndex, calls_of, calls_of_mut, identifies};
use super::record::Origin;
use super::tally::Tally;
use super::text::{Name, Text};
use super::tool::{ToolResult, ToolState, Verdict};
use super::totals::Totals;
use super::tree::{Branches, Links};
use super::turn::{Turn, TurnFacts};
use super::usage::{Scope, Usage};

/// Facts about the session.
#[derive(Clone, Debug, Default)]
pub struct Meta {
    /// The session's id.
    pub id: Option<Text>,
    titles: [Option<Text>; 4],
    /// The agent's name.
    pub agent: Option<Name>,
    /// The working directory.
    pub cwd: Option<Text>,
    /// Versions of the agent program, in the order seen.
    pub versions: Vec<Text>,
    /// The model in use.
    pub model: Option<Name>,
    /// Models that answered, in the order seen.
    pub models: Vec<Name>,
    /// Size of the context window in tokens.
    pub window: Option<u64>,
    /// `Some(true)` running, `Some(false)` ended, as recorded.
    pub live: Option<bool>,
}

impl Meta {
    /// The title of the highest rank.
    pub fn title(&self) -> Option<&Text> {
        self.titles.iter().rev().flatten().next()
    }
}

/// A sub-agent.
#[derive(Clone, Debug)]
pub struct LaneFacts {
    /// The name that its entries carry.
    pub name: Name,
    /// What to call it.
    pub label: Text,
    /// The call that started it.
    pub call: Option<Key>,
    /// Its entries in file order.
    pub entries: Vec<EntryId>,
}

/// What a batch touched.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// New entries, in order.
    pub added: Vec<EntryId>,
    /// Entries with changed content.
    pub changed: Vec<EntryId>,
    /// Entries disappeared or changed places.
    pub reordered: bool,
    /// Facts about the session or its lanes changed.
    pub meta: bool,
}

impl Touched {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && !self.reordered && !self.meta
    }
}

/// Everything known of a session.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    entries: Vec<Entry>,
    index: HashMap<Key, EntryId>,
    order: Vec<EntryId>,
    retelling: Option<Vec<EntryId>>,
    pairs: PairIndex,
    lanes: Vec<LaneFacts>,
    beside: HashMap<Key, (Usage, Option<Name>)>,
    totals: Totals,
    links: HashMap<Key, Option<Key>>,
    leaf: Option<Key>,
    is_linked_tree: bool,
    branches: Branches,
    turns: Vec<Turn>,
    meta: Meta,
    tally: Tally,
    notices: Vec<Notice>,
    held_bytes: u64,
    derived_is_stale: bool,
}

impl Transcript {
    /// An empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a batch and says what it touched.
    pub fn apply(&mut self, batch: Batch) -> Touched {
        let mut touched = Touched::default();
        let mode = batch.mode;
        if matches!(mode, Mode::Replace | Mode::ReplaceStart) {
            self.retelling = Some(Vec::new());
            self.notices.clear();
        }
        for edit in batch.edits {
            self.apply_edit(edit, &mut touched);
        }
        if matches!(mode, Mode::Replace | Mode::ReplaceEnd) {
            self.end_retelling(&mut touched);
        }
        self.tally = batch.tally;
        self.notices.extend(batch.notices);
        touched
    }

    /// Brings turns and branches up to date; to be called once after the batches of a moment.
    pub fn settle(&mut self) {
        if !self.derived_is_stale {
            return;
        }
        self.derived_is_stale = false;
        self.turns = self.find_turns();
        let entries = self.order.iter().filter_map(|id| Some((*id, self.get(*id)?)));
        let links = Links {
            entries: entries.filter(|(_, entry)| entry.lane.is_none()).collect(),
            others: &self.links,
            leaf: self.leaf.as_ref().filter(|_| self.is_linked_tree),
        };
        self.branches = Branches::derive(&links);
    }

    fn find_turns(&self) -> Vec<Turn> {
        let opens = |(first, id): (usize, &EntryId)| {
            let entry = self.get(*id)?;
            (entry.marks.prompt && entry.lane.is_none()).then_some(Turn { prompt: *id, first })
        };
        self.order.iter().enumerate().filter_map(opens).collect()
    }

    fn apply_edit(&mut self, edit: Edit, touched: &mut Touched) {
        match edit {
            Edit::Entry(entry) => self.apply_entry(*entry, touched),
            Edit::Result { call, result, lane } => self.apply_result(call, *result, lane, touched),
            Edit::State { call, state } => self.apply_state(&call, state, touched),
            Edit::Usage { of, usage, model } => self.apply_usage(of, *usage, model, touched),
            Edit::Link { key, parent } => {
                self.leaf = Some(key.clone());
                self.links.insert(key, parent);
                self.derived_is_stale |= self.is_linked_tree;
            }
            Edit::Meta(edit) => {
                self.apply_meta(edit);
                touched.meta = true;
            }
            Edit::Retire(key) => self.retire(&key, touched),
            Edit::RetirePiece { of, piece } => self.retire_piece(&of, piece, touched),
        }
    }

    // === entries ===

    fn apply_entry(&mut self, new: Entry, touched: &mut Touched) {
        // A record without a link, such as a damaged line, and a copy, which hangs beside the path, say
        // nothing of where the branch ends.
        if self.is_linked_tree && new.lane.is_none() && new.parent.is_some() && !new.marks.copy {
            self.leaf = Some(new.key.clone());
        }
        if let Some(id) = self.index.get(&new.key).copied() {
            self.update_entry(id, new, touched);
            self.retell(id);
        } else {
            self.add_entry(new, touched);
        }
    }

    fn add_entry(&mut self, mut new: Entry, touched: &mut Touched) {
        let Ok(number) = u32::try_from(self.entries.len()) else { return };
        let id = EntryId(number);
        new.revision = 1;
        self.adopt_strays(&mut new, touched);
        self.pairs.add_calls(id, &new);
        if let Some(usage) = &new.usage {
            self.totals.add(usage, new.model.as_ref());
        }
        self.see_model(&new);
        self.held_bytes += held_bytes(&new.blocks);
        self.index.insert(new.key.clone(), id);
        let in_lane = new.lane.clone();
        let opens_turn = new.marks.prompt && in_lane.is_none();
        self.derived_is_stale |= opens_turn || self.is_linked_tree || new.marks.undone;
        self.entries.push(new);
        if self.retelling.is_some() {
            self.retell(id);
        } else {
            self.order.push(id);
        }
        if let Some(name) = in_lane {
            let lane = self.lane_of(&name);
            lane.entries.push(id);
        }
        touched.added.push(id);
    }

    fn update_entry(&mut self, id: EntryId, new: Entry, touched: &mut Touched) {
        let Some(old) = self.entries.get_mut(id.index()) else { return };
        let mut entry = old.clone();
        let changed_marks = entry.marks != new.marks;
        let had_model = entry.model.clone();
        let had_usage = entry.usage.clone();
        merge_head(&mut entry, &new);
        merge_blocks(&mut entry, new.blocks);
        if entry == *old {
            // Equal content may have moved in its file.
            for (kept, told) in old.blocks.iter_mut().zip(entry.blocks) {
                move_bodies(&mut kept.kind, told.kind);
            }
            return;
        }
        entry.revision += 1;
        let held_before = held_bytes(&old.blocks);
        let previous = std::mem::replace(old, entry.clone());
        self.held_bytes = (self.held_bytes + held_bytes(&entry.blocks)).saturating_sub(held_before);
        self.pairs.remove_calls(id, &previous);
        self.pairs.add_calls(id, &entry);
        if had_usage != entry.usage || had_model != entry.model {
            if let Some(usage) = &had_usage {
                self.totals.remove(usage, had_model.as_ref());
            }
            if let Some(usage) = &entry.usage {
                self.totals.add(usage, entry.model.as_ref());
            }
        }
        self.see_model(&entry);
        self.adopt_strays_of(id, touched);
        self.derived_is_stale |= changed_marks;
        touched.changed.push(id);
    }

    fn see_model(&mut self, entry: &Entry) {
        let Some(model) = &entry.model else { return };
        if entry.lane.is_none() && entry.role == Role::Assistant && self.meta.model.as_ref() != Some(model) {
            self.meta.model = Some(model.clone());
        }
        if !self.meta.models.contains(model) {
            self.meta.models.push(model.clone());
        }
    }

    fn retire(&mut self, key: &Key, touched: &mut Touched) {
        let Some(id) = self.index.remove(key) else { return };
        self.order.retain(|other| *other != id);
        if let Some(told) = &mut self.retelling {
            told.retain(|other| *other != id);
        }
        self.forget(id);
        touched.reordered = true;
        self.derived_is_stale = true;
    }

    fn retire_piece(&mut self, of: &Key, piece: Piece, touched: &mut Touched) {
        let Some(id) = self.index.get(of).copied() else { return };
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        if !entry.blocks.iter().any(|block| block.piece == piece) {
            return;
        }
        let previous = entry.clone();
        entry.blocks.retain(|block| block.piece != piece);
        entry.revision += 1;
        let entry = entry.clone();
        self.held_bytes =
            (self.held_bytes + held_bytes(&entry.blocks)).saturating_sub(held_bytes(&previous.blocks));
        self.pairs.remove_calls(id, &previous);
        self.pairs.add_calls(id, &entry);
        touched.changed.push(id);
    }

    /// Undoes what a retired entry contributed; its place in the arena stays empty.
    fn forget(&mut self, id: EntryId) {
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let blocks = std::mem::take(&mut entry.blocks);
        self.held_bytes = self.held_bytes.saturating_sub(held_bytes(&blocks));
        if let Some(usage) = entry.usage.take() {
            self.totals.remove(&usage, entry.model.as_ref());
        }
        let gone = Entry { blocks, ..entry.clone() };
        self.pairs.remove_calls(id, &gone);
        if let Some(lane) = self.lanes.iter_mut().find(|lane| Some(&lane.name) == gone.lane.as_ref()) {
            lane.entries.retain(|other| *other != id);
        }
    }

    // === a new telling ===

    fn retell(&mut self, id: EntryId) {
        if let Some(told) = &mut self.retelling {
            told.push(id);
        }
    }

    fn end_retelling(&mut self, touched: &mut Touched) {
        let Some(mut told) = self.retelling.take() else { return };
        let mut seen = HashSet::new();
        told.retain(|id| seen.insert(*id));
        let gone: Vec<EntryId> = self.order.iter().copied().filter(|id| !seen.contains(id)).collect();
        for id in gone {
            if let Some(key) = self.get(id).map(|entry| entry.key.clone()) {
                self.index.remove(&key);
            }
            self.forget(id);
            touched.reordered = true;
        }
        touched.reordered |= !told.starts_with(&self.order);
        self.order = told;
        for lane in &mut self.lanes {
            lane.entries = self.order.iter().copied().filter(|id| lane.entries.contains(id)).collect();
        }
        self.derived_is_stale = true;
    }

    // === calls and results ===

    fn apply_result(&mut self, call: Key, result: ToolResult, lane: Option<Name>, touched: &mut Touched) {
        let entries = self.pairs.entries_with(&call).to_vec();
        let told_before = entries.iter().copied().find(|id| {
            self.get(*id).is_some_and(|entry| {
                calls_of(entry).any(|c| c.key == call && has_result(c.state.result(), &result))
            })
        });
        let waiting = entries.iter().copied().find(|id| {
            self.get(*id).is_some_and(|e| calls_of(e).any(|c| c.key == call && c.state.result().is_none()))
        });
        match told_before.or(waiting) {
            Some(id) => self.join_result(id, &call, result, touched),
            None => self.add_stray(call, result, lane, !entries.is_empty(), touched),
        }
    }

    fn join_result(&mut self, id: EntryId, key: &Key, result: ToolResult, touched: &mut Touched) {
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let before = held_bytes(&entry.blocks);
        let same = |state: &ToolState| has_result(state.result(), &result);
        let told = calls_of(entry).any(|call| call.key == *key && same(&call.state));
        let fits = |state: &ToolState| if told { same(state) } else { state.result().is_none() };
        let Some(call) = calls_of_mut(entry).find(|call| call.key == *key && fits(&call.state)) else {
            return;
        };
        let state = ended(result);
        if call.state == state {
            return;
        }
        call.state = state;
        entry.revision += 1;
        self.held_bytes = (self.held_bytes + held_bytes(&entry.blocks)).saturating_sub(before);
        touched.changed.push(id);
    }

    fn add_stray(
        &mut self,
        call: Key,
        result: ToolResult,
        lane: Option<Name>,
        duplicate: bool,
        touched: &mut Touched,
    ) {
        let key = Text::clean(&format!("result:{}", result.key));
        if !duplicate && !call.is_empty() {
            self.pairs.add_stray(&call, key.clone());
        }
        let origin = result.body.from;
        let at = result.at;
        let stray = StrayResult { call, result, duplicate };
        let mut entry = Batch::default().new_entry(key, Role::Harness, at);
        entry.origin = origin;
        entry.lane = lane;
        entry.blocks = vec![Batch::block(Piece(0), BlockKind::Result(Box::new(stray)))];
        self.apply_entry(entry, touched);
    }

    /// Gives results that came before their calls to the calls of a new entry.
    fn adopt_strays(&mut self, new: &mut Entry, touched: &mut Touched) {
        let waiting: Vec<Key> = calls_of(new)
            .filter(|call| call.state.is_open() && self.pairs.has_stray(&call.key))
            .map(|c| c.key.clone())
            .collect();
        for key in waiting {
            let Some(result) = self.take_stray(&key, touched) else { continue };
            if let Some(call) = calls_of_mut(new).find(|call| call.key == key && call.state.is_open()) {
                call.state = ended(result);
            }
        }
    }

    fn adopt_strays_of(&mut self, id: EntryId, touched: &mut Touched) {
        let Some(entry) = self.get(id) else { return };
        if !calls_of(entry).any(|call| call.state.is_open() && self.pairs.has_stray(&call.key)) {
            return;
        }
        let mut entry = entry.clone();
        self.adopt_strays(&mut entry, touched);
        if let Some(place) = self.entries.get_mut(id.index()) {
            *place = entry;
        }
    }

    fn take_stray(&mut self, call: &Key, touched: &mut Touched) -> Option<ToolResult> {
        let key = self.pairs.take_stray(call)?;
        let id = self.index.get(&key).copied()?;
        let block = self.entries.get_mut(id.index())?.blocks.pop()?;
        self.retire(&key, touched);
        match block.kind {
            BlockKind::Result(stray) => Some(stray.result),
            _ => None,
        }
    }

    fn apply_state(&mut self, key: &Key, state: ToolState, touched: &mut Touched) {
        for id in self.pairs.entries_with(key).to_vec() {
            let Some(entry) = self.entries.get_mut(id.index()) else { continue };
            let open = calls_of_mut(entry)
                .find(|call| call.key == *key && call.state.is_open() && call.state != state);
            if let Some(call) = open {
                call.state = state;
                entry.revision += 1;
                touched.changed.push(id);
                return;
            }
        }
    }

    // === usage and facts ===

    fn apply_usage(&mut self, of: Key, usage: Usage, model: Option<Name>, touched: &mut Touched) {
        if let Some(entry) = self.index.get(&of).and_then(|id| self.entries.get_mut(id.index())) {
            if entry.usage.as_deref() == Some(&usage) {
                return;
            }
            if let Some(old) = entry.usage.replace(Box::new(usage.clone())) {
                self.totals.remove(&old, entry.model.as_ref());
            }
            self.totals.add(&usage, entry.model.as_ref());
            entry.revision += 1;
            touched.changed.extend(self.index.get(&of));
            return;
        }
        self.totals.add(&usage, model.as_ref());
        if let Some((old, old_model)) = self.beside.insert(of, (usage, model)) {
            self.totals.remove(&old, old_model.as_ref());
        }
        touched.meta = true;
    }

    fn apply_meta(&mut self, edit: MetaEdit) {
        match edit {
            MetaEdit::Id(id) => self.meta.id = Some(id),
            MetaEdit::Title { rank, title } => {
                if let Some(slot) = self.meta.titles.get_mut(usize::from(rank)) {
                    // The first prompt stays the first; all other titles can be changed.
                    let keeps = rank == 0 && slot.is_some();
                    if !keeps {
                        *slot = (!title.is_blank()).then_some(title);
                    }
                }
            }
            MetaEdit::Agent(agent) => self.meta.agent = Some(agent),
            MetaEdit::Cwd(cwd) => self.meta.cwd = Some(cwd),
            MetaEdit::Version(version) => {
                if !self.meta.versions.contains(&version) {
                    self.meta.versions.push(version);
                }
            }
            MetaEdit::Model(model) => self.meta.model = Some(model),
            MetaEdit::Window(tokens) => self.meta.window = Some(tokens),
            MetaEdit::Lane { name, label, call } => {
                let lane = self.lane_of(&name);
                if let Some(label) = label {
                    lane.label = label;
                }
                lane.call = call.or_else(|| lane.call.take());
            }
            MetaEdit::LinkedTree => self.is_linked_tree = true,
            MetaEdit::Live(live) => self.meta.live = live,
        }
    }

    fn lane_of(&mut self, name: &Name) -> &mut LaneFacts {
        let place = self.lanes.iter().position(|lane| lane.name == *name).unwrap_or_else(|| {
            self.lanes.push(LaneFacts {
                name: name.clone(),
                label: name.clone(),
                call: None,
                entries: Vec::new(),
            });
            self.lanes.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the place was just found or made")]
        &mut self.lanes[place]
    }

    // === bodies ===

    /// Puts contents back that were away. Returns the entries that changed their looks.
    pub fn fill(&mut self, ids: &[EntryId], contents: &[(Origin, Vec<Held>)]) -> Vec<EntryId> {
        let mut filled = Vec::new();
        for id in ids {
            let Some(entry) = self.entries.get_mut(id.index()) else { continue };
            let before = held_bytes(&entry.blocks);
            for body in entry
                .blocks
                .iter_mut()
                .flat_map(|block| block.kind.bodies_mut())
                .filter(|body| body.is_away())
            {
                let record = contents
                    .iter()
                    .find(|(origin, _)| origin.file == body.from.file && origin.at == body.from.at);
                if let Some(held) = record.and_then(|(_, held)| held.get(usize::from(body.slot))) {
                    body.held = held.clone();
                }
            }
            let after = held_bytes(&entry.blocks);
            if after != before {
                self.held_bytes = (self.held_bytes + after).saturating_sub(before);
                filled.push(*id);
            }
        }
        filled
    }

    /// Lets go of bodies, oldest entries first, until at most `budget` bytes are held. Entries for
    /// which `keeps` says so are spared.
    pub fn release(&mut self, budget: u64, keeps: impl Fn(EntryId) -> bool) {
        for (number, entry) in self.entries.iter_mut().enumerate() {
            if self.held_bytes <= budget {
                return;
            }
            let id = EntryId(u32::try_from(number).unwrap_or(u32::MAX));
            if keeps(id) {
                continue;
            }
            for body in entry.blocks.iter_mut().flat_map(|block| block.kind.bodies_mut()) {
                self.held_bytes = self.held_bytes.saturating_sub(u64::from(body.release()));
            }
        }
    }

    /// Bytes of bodies in memory.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    // === reading ===

    /// The entry with this id.
    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.index())
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

    /// Entries with calls of this id.
    pub fn entries_with_call(&self, call: &Key) -> &[EntryId] {
        self.pairs.entries_with(call)
    }

    /// The sub-agents.
    pub fn lanes(&self) -> &[LaneFacts] {
        &self.lanes
    }

    /// The sub-agent that a call started.
    pub fn lane_of_call(&self, call: &Key) -> Option<&LaneFacts> {
        self.lanes.iter().find(|lane| !call.is_empty() && lane.call.as_ref() == Some(call))
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

    /// What was spent.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Turns of the main lane; see [`Transcript::settle`].
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The turn that the entry at this place of the order belongs to.
    pub fn turn_at(&self, place: usize) -> Option<usize> {
        self.turns.partition_point(|turn| turn.first <= place).checked_sub(1)
    }

    /// What happened in a turn, all lanes included.
    pub fn turn_facts(&self, turn: usize) -> TurnFacts {
        let Some(first) = self.turns.get(turn).map(|turn| turn.first) else { return TurnFacts::default() };
        let end = self.turns.get(turn + 1).map_or(self.order.len(), |next| next.first);
        TurnFacts::of(self.order.get(first..end).unwrap_or_default().iter().filter_map(|id| self.get(*id)))
    }

    /// What the session left behind; see [`Transcript::settle`].
    pub fn branches(&self) -> &Branches {
        &self.branches
    }

    /// Usage of the last request of the main lane: its prompt is the size of the context.
    pub fn last_request(&self) -> Option<(&Entry, &Usage)> {
        self.order.iter().rev().filter_map(|id| self.get(*id)).find_map(|entry| {
            let usage = entry.usage.as_deref()?;
            (entry.lane.is_none() && usage.scope == Scope::Request && usage.prompt() > 0)
                .then_some((entry, usage))
        })
    }
}

fn has_result(result: Option<&ToolResult>, other: &ToolResult) -> bool {
    result.is_some_and(|result| result.key == other.key)
}

/// The state of a call that has this result.
pub fn ended(result: ToolResult) -> ToolState {
    match result.verdict {
        Verdict::Done => ToolState::Done(Box::new(result)),
        Verdict::Failed => ToolState::Failed(Box::new(result)),
        Verdict::Refused => ToolState::Refused(Box::new(result)),
    }
}

fn held_bytes(blocks: &[Block]) -> u64 {
    let bodies = blocks.iter().flat_map(|block| block.kind.bodies());
    bodies
        .filter(|body| matches!(body.held, Held::Text(_) | Held::Tree(_)))
        .map(|body| u64::from(body.bytes))
        .sum()
}

fn merge_head(entry: &mut Entry, new: &Entry) {
    let brings_piece = new.blocks.iter().any(|block| !is_among(&entry.blocks, block));
    let leaves_piece = entry.blocks.iter().any(|block| !is_among(&new.blocks, block));
    entry.parent = entry.parent.take().or_else(|| new.parent.clone());
    entry.lane = new.lane.clone().or_else(|| entry.lane.take());
    entry.at = entry.at.or(new.at);
    entry.role = new.role;
    entry.model = new.model.clone().or_else(|| entry.model.take());
    entry.marks = new.marks;
    entry.usage = richer(entry.usage.take(), new.usage.clone(), brings_piece || leaves_piece);
    let tells_first = match (entry.blocks.first(), new.blocks.first()) {
        (Some(old), Some(new)) => !brings_piece && old.piece == new.piece,
        (None, Some(_)) => true,
        (_, None) => false,
    };
    if tells_first {
        entry.origin = new.origin;
    }
}

/// Several records of one request repeat its usage while it grows: the greatest output counts, and of
/// equal ones the first, so that telling them again changes nothing.
fn richer(old: Option<Box<Usage>>, new: Option<Box<Usage>>, is_part: bool) -> Option<Box<Usage>> {
    match (old, new) {
        (Some(old), Some(new)) if is_part && old.output >= new.output => Some(old),
        (old, new) => new.or(old),
    }
}

/// Blocks of a piece told again take the place of the old ones; blocks of new pieces come last.
fn merge_blocks(entry: &mut Entry, new: Vec<Block>) {
    let old = std::mem::take(&mut entry.blocks);
    let is_retold = |block: &Block| new.iter().any(|told| told.piece == block.piece);
    let (retold, kept): (Vec<Block>, Vec<Block>) = old.iter().cloned().partition(is_retold);
    let mut further = Vec::new();
    let mut again: HashMap<Piece, Vec<Block>> = HashMap::new();
    for mut block in new {
        if repeats_call(&kept, &block) {
            continue;
        }
        carry_over(&retold, &mut block);
        if retold.iter().any(|old| old.piece == block.piece) {
            again.entry(block.piece).or_default().push(block);
        } else {
            further.push(block);
        }
    }
    let mut seen = HashSet::new();
    for block in old {
        if !is_among(&retold, &block) {
            entry.blocks.push(block);
        } else if seen.insert(block.piece) {
            entry.blocks.extend(again.remove(&block.piece).unwrap_or_default());
        }
    }
    entry.blocks.extend(further);
}

fn is_among(blocks: &[Block], block: &Block) -> bool {
    blocks.iter().any(|other| other.piece == block.piece)
}

/// The same call told by another piece of the same message.
fn repeats_call(kept: &[Block], block: &Block) -> bool {
    let BlockKind::Call(call) = &block.kind else { return false };
    identifies(&call.key)
        && kept.iter().any(|old| matches!(&old.kind, BlockKind::Call(known) if known.key == call.key))
}

/// A call told again does not lose its result, and equal bodies stay in memory.
fn carry_over(replaced: &[Block], block: &mut Block) {
    let BlockKind::Call(call) = &mut block.kind else { return };
    if !call.state.is_open() {
        return;
    }
    let known = replaced.iter().find_map(|old| match &old.kind {
        BlockKind::Call(known) if known.key == call.key && !known.state.is_open() => Some(known),
        _ => None,
    });
    if let Some(known) = known {
        call.state = known.state.clone();
    }
}

/// Takes over where bodies lie now.
fn move_bodies(kept: &mut BlockKind, told: BlockKind) {
    let mut told = told;
    for (body, new) in kept.bodies_mut().into_iter().zip(told.bodies_mut()) {
        let Body { from, slot, .. } = new;
        body.from = *from;
        body.slot = *slot;
    }
}
