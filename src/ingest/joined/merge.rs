//! Merges the edits of several sessions: by time for what exists at the start, then in order of
//! arrival.
//!
//! **By time, and in each session's own order.** An entry comes after all earlier ones of its own
//! lane, whatever its timestamp; of two with the same timestamp, that of the session named first
//! comes first. Later entries are in the order in which they were written, so that nothing on the
//! screen moves.
//!
//! **A request in several sessions belongs to the one that began it**, as in the ledger: for a
//! fork, the session it was forked from. Nothing is merged before all sessions were read.
//!
//! Invariant: the result has each entry of each session once.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::seat::SessionSeat;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit, Notice};
use crate::model::entry::{Block, Piece};
use crate::model::meta::{Meta, RepeatedRequests};
use crate::model::request::RequestIdentity;
use crate::model::tally::Tally;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::totals::Tokens;
use crate::model::totals::so_far::{self, RequestLog};
use crate::model::usage::{Scope, Usage};

/// Edits of a batch.
const EDITS: usize = 128;

pub(crate) struct Merge {
    parts: Vec<JoinedSource>,
    is_begun: bool,
    requests: RequestOwners,
}

/// One of the joined sessions.
#[derive(Default)]
struct JoinedSource {
    seat: SessionSeat,
    /// Name of its file, until it has a title, and name of its format.
    name: Name,
    format: &'static str,
    id: Option<Text>,
    /// Its titles, folders and sums; other metadata is not collected.
    meta: Meta,
    tally: Tally,
    /// Its edits before all sessions were read.
    early_edits: Vec<Edit>,
    /// Its edits with their times, before all are merged.
    waiting: Vec<(Option<Timestamp>, Edit)>,
    notices: Vec<Notice>,
    clocks: HashMap<Option<Name>, Timestamp>,
    is_read: bool,
    /// Timestamp of its last entry.
    last: Option<Timestamp>,
    /// Whether only its last entries were read.
    is_cut: bool,
    /// Its entries with their pieces.
    known: HashMap<Key, Vec<Piece>>,
    /// Its requests by entry.
    own: HashMap<Key, OwnRequest>,
    /// Number of another session that records the same requests.
    duplicate_of: Option<u32>,
    /// What it repeats of older sessions with other ids.
    shares: Vec<RepeatedRequests>,
    sum: RecordedTotals,
    /// Entries before a replacement, while that is in progress.
    before_replacement: HashMap<Key, Vec<Piece>>,
}

/// A request of a session.
struct OwnRequest {
    request: RequestIdentity,
    /// Number of the session's earlier requests.
    number: usize,
    at: Option<Timestamp>,
    model: Name,
    tokens: Tokens,
}

/// Totals that a session records.
#[derive(Default)]
struct RecordedTotals {
    /// Whether its agent records running totals.
    is_own: bool,
    /// Requests that a fork's totals include, if this session has no totals of its own.
    of_fork: Option<HashSet<RequestIdentity>>,
    /// Time of the last of these requests.
    forked: Option<Timestamp>,
    /// Usage that was reported as not included in any total.
    open: Vec<Key>,
}

impl Merge {
    /// Sessions with these names and formats.
    pub(crate) fn new(names: &[(String, &'static str)]) -> Self {
        let of = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let part = |(number, (name, format)): (u32, &(String, &'static str))| JoinedSource {
            seat: SessionSeat {
                number,
                of,
                lane: Text::clean(&format!("{}:{name}", number + 1)),
            },
            name: Text::clean(name),
            format,
            ..JoinedSource::default()
        };
        let parts = (0..of).zip(names).map(part).collect();
        Self {
            parts,
            is_begun: false,
            requests: RequestOwners::default(),
        }
    }

    pub(crate) fn seat(&self, number: usize) -> Option<&SessionSeat> {
        self.parts.get(number).map(|part| &part.seat)
    }

    /// Marks a session as represented by its last entries only.
    pub(crate) fn cut(&mut self, number: usize) {
        self.parts
            .get_mut(number)
            .into_iter()
            .for_each(|part| part.is_cut = true);
    }

    pub(crate) fn add(&mut self, number: usize, batch: Batch) -> Vec<Batch> {
        let Self {
            parts,
            requests,
            is_begun,
        } = self;
        let Some(part) = parts.get_mut(number) else {
            return Vec::new();
        };
        let before = part.session();
        if batch.mode.begins() {
            part.restart();
        }
        let is_piped = batch.is_piped;
        let ends = batch.mode.ends();
        let seat = part.seat.clone();
        part.tally = batch.tally.renumbered(&|origin| seat.origin(origin));
        for mut notice in batch.notices {
            seat.origin(&mut notice.origin);
            part.notices.push(notice);
        }
        if !*is_begun {
            part.early_edits.extend(batch.edits);
            return Vec::new();
        }
        part.add_edits(batch.edits, requests);
        let session = part.session();
        if session != before {
            part.waiting.push((None, session));
        }
        if ends {
            part.drop_former();
        }
        let fuller = requests.take_fuller();
        part.waiting
            .extend(fuller.into_iter().map(|edit| (None, edit)));
        let mut batches = self.drain(number);
        for batch in &mut batches {
            batch.is_piped = is_piped;
        }
        batches
    }

    /// Marks a session as complete, or as unreadable. Returns the merged edits after the last of
    /// them.
    pub(crate) fn finish(&mut self, number: usize) -> Option<Vec<Batch>> {
        let part = self.parts.get_mut(number)?;
        part.is_read = true;
        if self.is_begun || !self.parts.iter().all(|part| part.is_read) {
            return None;
        }
        self.is_begun = true;
        Some(self.all())
    }

    /// A message about a session, for the user.
    pub(crate) fn message(&self, number: usize, what: &str) -> String {
        let name = self
            .parts
            .get(number)
            .map(JoinedSource::label)
            .unwrap_or_default();
        format!("{name}: {what}")
    }

    fn all(&mut self) -> Vec<Batch> {
        let mut first: Vec<(usize, &mut JoinedSource)> =
            self.parts.iter_mut().enumerate().collect();
        first.sort_by_key(|(_, part)| part.precedence());
        let mut order = Vec::new();
        for (number, part) in first {
            let said = std::mem::take(&mut part.early_edits);
            part.add_edits(said, &mut self.requests);
            order.push(number);
        }
        self.count_shares(&order);
        self.count_forks();
        let mut edits = vec![self.title()];
        edits.extend(self.parts.iter().map(JoinedSource::session));
        let mut roots = self.parts.iter().map(|part| part.meta.root.as_ref());
        let first = roots.next().flatten().cloned();
        if let Some(root) = first.filter(|first| roots.all(|root| root == Some(first))) {
            edits.push(Edit::Meta(MetaEdit::Cwd(root)));
        }
        self.parts.iter_mut().for_each(JoinedSource::date_beginning);
        let cut = self.parts.iter().filter(|part| part.is_cut);
        let from = cut
            .filter_map(|part| part.waiting.iter().find_map(|(at, _)| *at))
            .max();
        let mut timed: Vec<_> = self
            .parts
            .iter_mut()
            .flat_map(|part| part.waiting.drain(..))
            .collect();
        timed.retain(|(at, edit)| *at >= from || matches!(edit, Edit::Meta(_)));
        timed.sort_by_key(|(at, _)| *at);
        edits.extend(timed.into_iter().map(|(_, edit)| edit));
        edits.extend(self.requests.take_fuller());
        let notices = self
            .parts
            .iter_mut()
            .flat_map(|part| part.notices.drain(..))
            .collect();
        self.batches(edits, notices)
    }

    /// Counts what each session repeats of those before it in this order.
    fn count_shares(&mut self, order: &[usize]) {
        let mut having: HashMap<&RequestIdentity, Vec<usize>> = HashMap::new();
        for (number, part) in order
            .iter()
            .filter_map(|number| Some((*number, self.parts.get(*number)?)))
        {
            part.own
                .values()
                .for_each(|own| having.entry(&own.request).or_default().push(number));
        }
        let mut counts: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for numbers in having.values() {
            for (place, later) in numbers.iter().enumerate() {
                let earlier = numbers.get(..place).unwrap_or_default().iter();
                earlier.for_each(|earlier| *counts.entry((*later, *earlier)).or_default() += 1);
            }
        }
        for ((later, session), requests) in counts {
            let Some(other) = self.parts.get(session) else {
                continue;
            };
            let of = other.own.len() as u64;
            let Some(part) = self
                .parts
                .get(later)
                .filter(|part| part.id.is_none() || part.id != other.id)
            else {
                continue;
            };
            let sums = so_far::usage_at_fork(&other.log(), &part.log());
            let sums = sums.map(|(_, sums)| sums).unwrap_or_default();
            if let Some(part) = self.parts.get_mut(later) {
                part.shares.push(RepeatedRequests {
                    session,
                    requests,
                    of,
                    sums,
                });
            }
        }
    }

    /// A fork's totals include what it was forked with. The rest of the other session's usage is in
    /// no total, unless its agent records totals, too.
    fn count_forks(&mut self) {
        let has_none = |share: &&RepeatedRequests| {
            self.parts
                .get(share.session)
                .is_some_and(|origin| !origin.sum.is_own)
        };
        let summed = self.parts.iter().filter(|part| part.sum.is_own);
        let forks = summed.flat_map(|fork| {
            fork.shares
                .iter()
                .filter(has_none)
                .map(move |share| (share.session, fork))
        });
        let shared =
            forks.map(|(origin, fork)| (origin, fork.requests().cloned().collect::<HashSet<_>>()));
        for (origin, shared) in shared.collect::<Vec<_>>() {
            if let Some(origin) = self.parts.get_mut(origin) {
                origin.sum.of_fork.get_or_insert_default().extend(shared);
            }
        }
        self.parts
            .iter_mut()
            .for_each(JoinedSource::report_outside_forks);
    }

    /// Title of the joined session.
    fn title(&self) -> Edit {
        let labels: Vec<Text> = self.parts.iter().map(JoinedSource::label).collect();
        let title = format!("{} sessions joined: {}", labels.len(), labels.join(", "));
        Edit::Meta(MetaEdit::Title {
            rank: 4,
            title: Text::clean(&title),
        })
    }

    fn drain(&mut self, number: usize) -> Vec<Batch> {
        let Some(part) = self.parts.get_mut(number) else {
            return Vec::new();
        };
        part.report_outside_forks();
        let mut edits: Vec<Edit> = part.waiting.drain(..).map(|(_, edit)| edit).collect();
        let notices = std::mem::take(&mut part.notices);
        if edits
            .iter()
            .any(|edit| matches!(edit, Edit::Meta(MetaEdit::Session { .. })))
        {
            edits.push(self.title());
        }
        self.batches(edits, notices)
    }

    fn batches(&self, edits: Vec<Edit>, notices: Vec<Notice>) -> Vec<Batch> {
        let mut tally = Tally::default();
        self.parts.iter().for_each(|part| tally.merge(&part.tally));
        let batch = |edits| {
            let mut batch = Batch::default();
            (batch.edits, batch.tally) = (edits, tally.clone());
            batch
        };
        let (mut batches, mut edits) = (Vec::new(), edits.into_iter());
        loop {
            let some: Vec<Edit> = edits.by_ref().take(EDITS).collect();
            if some.is_empty() {
                break;
            }
            batches.push(batch(some));
        }
        if batches.is_empty() {
            batches.push(batch(Vec::new()));
        }
        batches
            .first_mut()
            .into_iter()
            .for_each(|first| first.notices.clone_from(&notices));
        batches
    }
}

impl JoinedSource {
    fn restart(&mut self) {
        self.before_replacement = std::mem::take(&mut self.known);
        self.meta = Meta::default();
        self.clocks.clear();
        self.waiting.clear();
        self.early_edits.clear();
    }

    /// Sort key: of two sessions with the same request, the lesser one recorded it first. A fork
    /// may have the timestamps of its original.
    fn precedence(&self) -> (bool, Option<Timestamp>, bool) {
        let entries = || {
            self.early_edits.iter().filter_map(|edit| match edit {
                Edit::Entry(entry) => Some(entry),
                _ => None,
            })
        };
        let began = entries().find_map(|entry| entry.at);
        (
            began.is_none(),
            began,
            entries()
                .flat_map(|entry| &entry.blocks)
                .any(Block::is_resumption),
        )
    }

    fn add_edits(&mut self, edits: Vec<Edit>, requests: &mut RequestOwners) {
        // The session it continues may have records here under an id of its own.
        let id = edits.iter().rev().find_map(|edit| match edit {
            Edit::Meta(MetaEdit::Id(id)) => Some(id),
            _ => None,
        });
        if let Some(id) = id {
            self.duplicate_of = self
                .duplicate_of
                .or_else(|| requests.other_of(id, &self.seat));
            self.id = Some(id.clone());
        }
        for edit in edits {
            self.add(edit, requests);
        }
    }

    fn requests(&self) -> impl Iterator<Item = &RequestIdentity> {
        self.own.values().map(|own| &own.request)
    }

    fn requests_by_time(&self) -> Vec<(&Key, &OwnRequest)> {
        let mut own: Vec<_> = self.own.iter().collect();
        own.sort_by_key(|(_, own)| own.number);
        let mut clock = None;
        let timed = own.into_iter().map(|one| {
            clock = one.1.at.or(clock);
            (clock, one)
        });
        let mut timed: Vec<_> = timed.collect();
        timed.sort_by_key(|(at, _)| *at);
        timed.into_iter().map(|(_, one)| one).collect()
    }

    fn log(&self) -> RequestLog<'_, &RequestIdentity> {
        let own = self.requests_by_time();
        let numbers: HashMap<&Key, usize> = own
            .iter()
            .zip(1..)
            .map(|((key, _), number)| (*key, number))
            .collect();
        let sums = self.meta.sums_so_far.iter();
        let sums = sums.filter_map(|(after, sums)| Some((*numbers.get(after)?, sums.as_slice())));
        let requests = own
            .iter()
            .map(|(_, own)| (&own.request, &own.model, own.tokens));
        RequestLog {
            requests: requests.collect(),
            sums: sums.collect(),
        }
    }

    /// Reports the usage that is in no fork's totals.
    fn report_outside_forks(&mut self) {
        let Some(forked) = &self.sum.of_fork else {
            return;
        };
        if self.sum.is_own {
            // Its own totals include everything.
            self.sum.of_fork = None;
            let usage = || {
                Box::new(Usage {
                    scope: Scope::Open,
                    ..Usage::default()
                })
            };
            let closed = self.sum.open.drain(..).map(|of| Edit::Usage {
                of,
                usage: usage(),
                model: None,
            });
            return self.waiting.extend(closed.map(|edit| (None, edit)));
        }
        let names: HashMap<Key, (&Key, bool)> = self
            .own
            .iter()
            .map(|(key, own)| (self.seat.key(key), (key, forked.contains(&own.request))))
            .collect();
        let spent = self.waiting.iter().filter_map(|(at, edit)| match edit {
            Edit::Entry(entry) => {
                Some((at, &entry.key, entry.usage.as_ref()?, entry.model.as_ref()))
            }
            Edit::Usage { of, usage, model } => Some((at, of, usage, model.as_ref())),
            _ => None,
        });
        let spent: Vec<_> = spent
            .filter(|(_, _, usage, _)| usage.scope.is_of_requests())
            .collect();
        let shared = spent
            .iter()
            .filter(|(_, of, ..)| names.get(*of).is_some_and(|(_, is_shared)| *is_shared));
        // The fork's totals include usage before the fork, although it has no copies of what
        // sub-agents did.
        self.sum.forked = shared
            .filter_map(|(at, ..)| **at)
            .max()
            .max(self.sum.forked);
        let is_later = |at: Option<Timestamp>| at.is_none() || at > self.sum.forked;
        let open = spent.into_iter().filter_map(|(at, of, usage, model)| {
            let (key, is_shared) = names.get(of)?;
            (!is_shared && is_later(*at)).then_some((at, *key, usage, model))
        });
        let open: Vec<_> = open
            .map(|(at, key, usage, model)| {
                let of = self.seat.key(&Text::clean(&format!("{key}:open")));
                let usage = Box::new(Usage {
                    scope: Scope::Open,
                    ..(**usage).clone()
                });
                (*at, of, usage, model.cloned())
            })
            .collect();
        for (at, of, usage, model) in open {
            self.sum.open.push(of.clone());
            self.waiting.push((at, Edit::Usage { of, usage, model }));
        }
    }

    /// Gives edits without a timestamp that of the next one that has one.
    fn date_beginning(&mut self) {
        let mut next = None;
        for (at, _) in self.waiting.iter_mut().rev() {
            *at = at.or(next);
            next = *at;
        }
    }

    /// Removes entries that the replacement did not name.
    fn drop_former(&mut self) {
        for (key, pieces) in std::mem::take(&mut self.before_replacement) {
            let Some(now) = self.known.get(&key) else {
                self.waiting.push((None, Edit::Retire(key)));
                continue;
            };
            let gone = pieces.into_iter().filter(|piece| !now.contains(piece));
            let gone = gone.map(|piece| {
                (
                    None,
                    Edit::RetirePiece {
                        of: key.clone(),
                        piece,
                    },
                )
            });
            self.waiting.extend(gone);
        }
    }

    /// Label: its title, as everywhere else, with its format.
    fn label(&self) -> Text {
        let name = self.meta.title().unwrap_or(&self.name);
        Text::clean(&format!("{name} ({})", self.format))
    }

    /// The edit that makes its lane a session, with its metadata.
    fn session(&self) -> Edit {
        let (name, label, root) = (self.seat.lane.clone(), self.label(), self.meta.root.clone());
        let same = self
            .duplicate_of
            .and_then(|number| usize::try_from(number).ok());
        Edit::Meta(MetaEdit::Session {
            name,
            label,
            root,
            duplicate_of: same,
            shares: self.shares.clone(),
        })
    }

    fn add(&mut self, edit: Edit, requests: &mut RequestOwners) {
        if let Edit::Meta(
            fact @ (MetaEdit::Id(_)
            | MetaEdit::Title { .. }
            | MetaEdit::Cwd(_)
            | MetaEdit::SumSoFar { .. }),
        ) = edit
        {
            self.meta.apply(fact);
            return;
        }
        let (lane, at) = match &edit {
            Edit::Entry(entry) => (entry.lane.clone(), entry.at),
            Edit::Result { lane, .. } | Edit::Copied { lane, .. } => (lane.clone(), None),
            _ => (None, None),
        };
        let is_counted = self.counts(&edit, requests);
        let Some(mut edit) = self.seat.qualify(edit) else {
            return;
        };
        let before = self.clocks.get(&lane).copied();
        let clock = before.max(at);
        if let Some(clock) = clock {
            self.clocks.insert(lane, clock);
        }
        match &mut edit {
            Edit::Entry(entry) => {
                if !is_counted {
                    entry.usage = None;
                    entry.marks.copy = true;
                }
                let pieces = self.known.entry(entry.key.clone()).or_default();
                for block in &entry.blocks {
                    if pieces.last() != Some(&block.piece) && !pieces.contains(&block.piece) {
                        pieces.push(block.piece);
                    }
                }
            }
            Edit::Usage { .. } | Edit::Complete { .. } if !is_counted => return,
            _ => {}
        }
        self.waiting.push((clock, edit));
    }

    /// Whether the usage of an edit counts: no other session has recorded it.
    fn counts(&mut self, edit: &Edit, requests: &mut RequestOwners) -> bool {
        let (key, usage, model) = match edit {
            Edit::Entry(entry) => {
                self.last = entry.at.or(self.last);
                let Some(usage) = entry.usage.as_ref() else {
                    return true;
                };
                (&entry.key, usage, entry.model.as_ref())
            }
            Edit::Usage { of, usage, model } => (of, usage, model.as_ref()),
            Edit::Complete { of, usage } => {
                return self
                    .own
                    .get(of)
                    .is_none_or(|own| requests.complete(&self.seat, &own.request, usage));
            }
            _ => return true,
        };
        self.sum.is_own |= usage.scope == Scope::Total;
        let session = self.id.as_ref().unwrap_or(&self.name);
        let prompt = [usage.input, usage.cache_read, usage.cache_write];
        let prompt = prompt.map(|tokens| i64::try_from(tokens.unwrap_or(0)).unwrap_or(i64::MAX));
        let at = if let Edit::Entry(entry) = edit {
            entry.at
        } else {
            self.last
        };
        let request = if usage.scope.is_of_requests() {
            RequestIdentity::new(Some(key), at, prompt, session)
        } else if matches!(usage.scope, Scope::Total | Scope::Open) {
            // Of running totals the newest counts, whichever copy of the session has it, and the
            // usage after it.
            RequestIdentity::within(session, Text::clean(&format!("total:{key}")), None, [0; 3])
        } else {
            // Only copies of the same session record the same run.
            let output = usage.output.unwrap_or(0);
            RequestIdentity::within(session, Text::clean(&format!("run:{output}")), None, prompt)
        };
        if usage.scope.is_of_requests() {
            let number = self
                .own
                .get(key)
                .map_or(self.own.len(), |known| known.number);
            let (request, tokens) = (request.clone(), so_far::tokens(usage));
            let own = OwnRequest {
                request,
                number,
                at,
                model: model.cloned().unwrap_or_default(),
                tokens,
            };
            self.own.insert(key.clone(), own);
        }
        let owner = requests.owner(&self.seat, request, key, usage, model);
        if owner != self.seat.number && usage.scope.is_of_requests() {
            self.duplicate_of = Some(owner);
        }
        owner == self.seat.number
    }
}

/// The session that each request was first read from.
#[derive(Default)]
struct RequestOwners {
    known: HashMap<RequestIdentity, ReadRequest>,
    ids: HashMap<Text, u32>,
    /// Usage of which a copy has more than the first record.
    fuller: Vec<Edit>,
}

struct ReadRequest {
    session: u32,
    key: Key,
    output: u64,
}

impl RequestOwners {
    /// Number of another session with this id.
    fn other_of(&mut self, id: &Text, seat: &SessionSeat) -> Option<u32> {
        let first = *self.ids.entry(id.clone()).or_insert(seat.number);
        (first != seat.number).then_some(first)
    }

    /// Number of the session that a request belongs to. Copies may have been made while an answer
    /// was written: the one with the most output counts.
    fn owner(
        &mut self,
        seat: &SessionSeat,
        request: RequestIdentity,
        key: &Key,
        usage: &Usage,
        model: Option<&Name>,
    ) -> u32 {
        let output = usage.output.unwrap_or(0);
        let known = self.known.entry(request);
        let known = known.or_insert_with(|| ReadRequest {
            session: seat.number,
            key: seat.key(key),
            output,
        });
        let is_own = known.session == seat.number;
        if known.output < output {
            known.output = output;
            if !is_own {
                let (of, usage) = (known.key.clone(), Box::new(usage.clone()));
                self.fuller.push(Edit::Usage {
                    of,
                    usage,
                    model: model.cloned(),
                });
            }
        }
        known.session
    }

    /// Completes the usage of a request from a copy within its session. Returns whether the request
    /// belongs to that session.
    fn complete(&mut self, seat: &SessionSeat, request: &RequestIdentity, usage: &Usage) -> bool {
        let Some(known) = self.known.get_mut(request) else {
            return true;
        };
        let is_own = known.session == seat.number;
        let output = usage.output.unwrap_or(0);
        if known.output < output {
            known.output = output;
            if !is_own {
                let usage = Box::new(usage.clone());
                self.fuller.push(Edit::Complete {
                    of: known.key.clone(),
                    usage,
                });
            }
        }
        is_own
    }

    fn take_fuller(&mut self) -> Vec<Edit> {
        std::mem::take(&mut self.fuller)
    }
}
