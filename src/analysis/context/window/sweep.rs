//! Walks the entries of a lane in order, keeping what is in the model's context and what the next
//! request is judged by.

use std::collections::{BTreeMap, HashMap};

use super::fact::{EntryFact, Prompted, SentEntryPart};
use super::sent::{SentParts, Tip};
use super::weigh::Sizes;
use super::{Compaction, ContextRow, Grown, LaneRequests, Request, RequestSums, TokenCount};
use crate::analysis::context::cache_breaks::{Between, Cache, CacheUse};
use crate::analysis::context::seen::{self, BranchPath};
use crate::analysis::context::{ModelWindow, window_of_session};
use crate::analysis::derived::Facts;
use crate::model::entry::{EntryId, Role};
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// Most nested branches that are followed back.
const FAR: usize = 8;

/// What is common to all lanes.
pub(super) struct WindowSweep<'a> {
    pub(super) transcript: &'a Transcript,
    pub(super) facts: &'a Facts<EntryFact>,
    /// Whether there are compactions whose summary is requested within the session.
    pub(super) asks_for_summaries: bool,
    pub(super) windows: HashMap<Option<Name>, Option<ModelWindow>>,
    /// Which requests each part was sent with, if that is asked.
    pub(super) sent: Option<SentParts>,
}

impl WindowSweep<'_> {
    fn shown(&self, id: EntryId) -> Option<&EntryFact> {
        self.facts.get(id).first()
    }

    /// Whether an entry is the answer with which the model wrote the summary of a compaction.
    fn is_summary(&self, id: EntryId, shown: &EntryFact) -> bool {
        let is_asked_for = || {
            let asked = self.transcript.find_print(shown.parent?)?;
            let is_same_lane = self.transcript.lane_at(asked) == self.transcript.lane_at(id);
            self.shown(asked)
                .filter(|asked| is_same_lane && asked.is_compaction && !asked.says)
        };
        shown.role == Role::Assistant
            && (shown.is_compaction || (self.asks_for_summaries && is_asked_for().is_some()))
    }

    /// The window of a request in tokens.
    fn window(&mut self, request: &Prompted) -> Option<u64> {
        let transcript = self.transcript;
        let window = self.windows.entry(request.model.clone());
        let window =
            *window.or_insert_with(|| window_of_session(transcript, request.model.as_ref()));
        window?.fitting(request.seen.context())
    }

    /// The branch of an entry; `None` is the active path.
    fn branch_of(&self, id: EntryId) -> Option<usize> {
        let branches = self.transcript.branches();
        branches
            .of(id)
            .filter(|_| branches.abandoned.contains(&id))
            .map(|branch| branch.number)
    }

    /// The entry from which a branch continues.
    fn point_of(&self, branch: usize) -> Option<EntryId> {
        self.transcript
            .branches()
            .list
            .get(branch.checked_sub(1)?)?
            .point
    }
}

/// The state at an entry of a path.
#[derive(Clone, Debug, Default)]
struct PathState {
    /// What is in the context.
    sizes: Sizes,
    /// The last part of it.
    tip: Tip,
    /// The last part of it at the last request.
    request_tip: Tip,
    /// What will be dropped, by time: results, and what is replaced.
    dropped: BTreeMap<Timestamp, Sizes>,
    /// What was in the context at the last request.
    request_sizes: Sizes,
    /// Tokens of the last request's prompt and answer.
    last: Option<(u64, u64)>,
    grown: Option<Grown>,
    cache: Cache,
    between: Between,
    /// A compaction whose summary is being written.
    pending: Option<EntryId>,
    /// Size in bytes and beginning of the system prompt, if the file records it.
    system: Option<(u64, Text)>,
    /// Growth of prompts without compactions, in bytes and tokens.
    growth: (u64, u64),
}

/// The walk through a lane.
struct LaneSweep<'a, 's> {
    session: &'s mut WindowSweep<'a>,
    ids: &'s [EntryId],
    track: LaneRequests,
    /// Index of each compaction's row.
    compactions: HashMap<EntryId, usize>,
    carry: PathState,
    /// The branch of the current state; `None` is the active path.
    branch: Option<usize>,
    paths: PathStates,
}

/// The states of paths that continue later.
#[derive(Default)]
struct PathStates {
    /// Entries of each branch that are still to come.
    remaining: HashMap<Option<usize>, usize>,
    /// By branch, at its last entry so far.
    ends: HashMap<Option<usize>, PathState>,
    /// By the entry from which branches continue: how many of them have not begun, and the state
    /// there.
    points: HashMap<EntryId, (usize, Option<PathState>)>,
}

/// Computes the rows of a lane with these entries.
pub(super) fn sweep(session: &mut WindowSweep<'_>, ids: &[EntryId]) -> LaneRequests {
    let mut paths = PathStates::default();
    for id in ids {
        let branch = session.branch_of(*id);
        let left = paths.remaining.entry(branch).or_default();
        *left += 1;
        if let (1, Some(point)) = (*left, branch.and_then(|branch| session.point_of(branch))) {
            paths.points.entry(point).or_default().0 += 1;
        }
    }
    let (track, compactions, carry) = (
        LaneRequests::default(),
        HashMap::new(),
        PathState::default(),
    );
    let mut sweep = LaneSweep {
        session,
        ids,
        track,
        compactions,
        carry,
        branch: None,
        paths,
    };
    let mut before = None;
    for (number, id) in ids.iter().enumerate() {
        sweep.add_entry(number, *id, &mut before);
    }
    LaneRequests {
        growth: sweep.carry.growth,
        ..sweep.track
    }
}

impl LaneSweep<'_, '_> {
    /// Adds the next entry of the lane; `before` is the previous one that is no copy.
    fn add_entry(&mut self, number: usize, id: EntryId, before: &mut Option<EntryId>) {
        let (facts, branch) = (self.session.facts, self.session.branch_of(id));
        if let Some(left) = self.paths.remaining.get_mut(&branch) {
            *left -= 1;
        }
        if let Some(shown) = facts.get(id).first().filter(|shown| !shown.is_copy) {
            if branch != self.branch {
                self.change_path(branch, *before);
            }
            *before = Some(id);
            self.step(number, id, shown);
        }
        if let Some((_, known)) = self.paths.points.get_mut(&id) {
            let of_branch = if branch == self.branch {
                Some(&self.carry)
            } else {
                self.paths.ends.get(&branch)
            };
            *known = of_branch.cloned();
        }
    }

    /// The entry is on another branch than the one before it: a branch begins, or continues.
    fn change_path(&mut self, branch: Option<usize>, before: Option<EntryId>) {
        let old = std::mem::replace(&mut self.branch, branch);
        let known = self.paths.ends.remove(&branch);
        let Some(known) = known.or_else(|| self.state_before(branch, old, before)) else {
            self.paths.ends.insert(old, self.carry.clone());
            return;
        };
        let left = std::mem::replace(&mut self.carry, known);
        if self.paths.remaining.get(&old).is_some_and(|left| *left > 0) {
            self.paths.ends.insert(old, left);
        }
        self.carry.between.rewind = true;
    }

    /// The state where a branch begins; `None` if it continues from the previous entry of the file.
    /// The entry that it continues from may also come later in the file: then nothing is known.
    fn state_before(
        &mut self,
        branch: Option<usize>,
        old: Option<usize>,
        before: Option<EntryId>,
    ) -> Option<PathState> {
        let before = before?;
        let session = &self.session;
        let point_of = |branch: Option<usize>| branch.and_then(|branch| session.point_of(branch));
        let place = |id| session.transcript.place_of(id);
        let mut next = point_of(branch);
        for _ in 0..FAR {
            let Some(point) = next else { break };
            let on = session.branch_of(point);
            if on == old && place(point) >= place(before) {
                return None;
            }
            if let Some((left, known)) = self.paths.points.get_mut(&point)
                && known.is_some()
            {
                *left = left.saturating_sub(1);
                return if *left == 0 {
                    known.take()
                } else {
                    known.clone()
                };
            }
            if let Some(known) = self.paths.ends.get(&on) {
                return Some(known.clone());
            }
            next = point_of(on);
        }
        Some(PathState::default())
    }

    fn step(&mut self, number: usize, id: EntryId, shown: &EntryFact) {
        self.record_changes(id, shown);
        self.drop_results(shown.at);
        let is_answer = shown.role == Role::Assistant;
        let is_summary = self.session.is_summary(id, shown);
        // A compaction without a summary requests one from the model, which sees everything until
        // it has answered.
        if is_answer && !is_summary {
            self.drop_pending(number, id, shown.at);
        }
        if let Some(request) = &shown.request {
            self.request(id, shown.at, request, is_summary);
        }
        if let Some(line) = shown.compacted() {
            let recorded = |tokens: Option<u64>| {
                tokens.map(|tokens| TokenCount {
                    tokens,
                    is_recorded: true,
                })
            };
            let asked = self
                .carry
                .last
                .map(|(prompt, output)| prompt.saturating_add(output));
            let asked = asked.map(|tokens| TokenCount {
                tokens,
                is_recorded: false,
            });
            let (before, after) = (recorded(line.before).or(asked), recorded(line.after));
            self.compactions.insert(id, self.track.rows.len());
            self.track.sums.compactions += usize::from(!line.is_partial);
            self.push(
                id,
                ContextRow::Compaction(Compaction {
                    entry: id,
                    before,
                    after,
                    is_partial: line.is_partial,
                }),
            );
            if line.is_partial {
                self.carry.between.pruned = Some(id);
            } else {
                self.carry.pending = Some(id);
                if shown.says {
                    self.drop_pending(number, id, shown.at);
                }
            }
        } else if is_summary {
            self.drop_pending(number, id, shown.at);
        }
        self.add_parts(id, shown, shown.at);
        for (
            SentEntryPart {
                class,
                block,
                bytes,
            },
            _,
        ) in shown.parts_at(shown.at)
        {
            if self
                .carry
                .grown
                .is_none_or(|grown| grown.bytes < u64::from(bytes))
            {
                self.carry.grown = Some(Grown {
                    entry: id,
                    block: block as usize,
                    class,
                    bytes: bytes.into(),
                });
            }
        }
    }

    /// Adds what the model sees of an entry from a time on.
    fn add_parts(&mut self, id: EntryId, shown: &EntryFact, now: Option<Timestamp>) {
        for (part, until) in shown.parts_at(now) {
            let SentEntryPart { class, bytes, .. } = part;
            self.carry.sizes.add(class, bytes.into());
            if let Some(sent) = &mut self.session.sent {
                self.carry.tip = sent.push(self.carry.tip, id, part, until);
            }
            if let Some(until) = until {
                self.carry
                    .dropped
                    .entry(until)
                    .or_default()
                    .add(class, bytes.into());
            }
        }
    }

    /// Removes what is dropped by now.
    fn drop_results(&mut self, now: Option<Timestamp>) {
        let Some(now) = now else { return };
        let PathState {
            sizes,
            dropped,
            tip,
            ..
        } = &mut self.carry;
        let mut are_dropped = false;
        while let Some(first) = dropped.first_entry().filter(|first| *first.key() <= now) {
            sizes.remove(&first.remove());
            are_dropped = true;
        }
        if let Some(sent) = self.session.sent.as_mut().filter(|_| are_dropped) {
            *tip = sent.without_dropped(*tip, now);
        }
    }

    /// Records what may have changed the beginning of the next prompt.
    fn record_changes(&mut self, id: EntryId, shown: &EntryFact) {
        let PathState {
            between, system, ..
        } = &mut self.carry;
        between.turn |= shown.opens_turn;
        between.resumed = Some(id).filter(|_| shown.is_resumed).or(between.resumed);
        between.thinking = Some(id)
            .filter(|_| shown.sets_thinking)
            .or(between.thinking);
        // The same system prompt recorded again changes nothing.
        if let Some(prompt) = shown.rare.as_ref().and_then(|rare| rare.system.clone())
            && system
                .replace(prompt.clone())
                .is_some_and(|before| before != prompt)
        {
            between.instructions = Some(id);
        }
    }

    fn request(
        &mut self,
        id: EntryId,
        at: Option<Timestamp>,
        request: &Prompted,
        is_summary: bool,
    ) {
        let limit = self.session.window(request);
        let (seen, prompt) = (request.seen, request.seen.prompt());
        let carry = &mut self.carry;
        let is_continued =
            carry.between.compaction.is_none() && !carry.between.rewind && !is_summary;
        let before = carry
            .last
            .map(|(prompt, _)| prompt)
            .filter(|_| is_continued);
        if let Some(before) = before
            && prompt > before
            && carry.sizes.total() > carry.request_sizes.total()
        {
            carry.growth.0 = carry
                .growth
                .0
                .saturating_add(carry.sizes.total() - carry.request_sizes.total());
            carry.growth.1 = carry.growth.1.saturating_add(prompt - before);
        }
        // Summaries are requested with instructions of their own, which nothing else in the session
        // uses.
        let cache_break = if is_summary {
            None
        } else {
            let asked = CacheUse::of(&seen, request.write_1h, request.model.as_ref(), at);
            carry.cache.add_request(asked, &carry.between)
        };
        let between = std::mem::take(&mut carry.between);
        let row = Request {
            entry: id,
            at,
            prompt,
            read: seen.cache_read,
            write: seen.cache_write,
            output: seen.output,
            limit,
            sizes: carry.sizes,
            before,
            grown: carry.grown.take(),
            cache_break: cache_break.map(Box::new),
            compacted: between.compaction,
            opens_turn: between.turn,
            is_summary,
        };
        if let Some(sent) = &mut self.session.sent {
            if let Some(before) = before {
                sent.measure(carry.request_tip, carry.tip, prompt.saturating_sub(before));
            }
            sent.add_request(carry.tip, request);
            carry.request_tip = carry.tip;
        }
        carry.request_sizes = carry.sizes;
        carry.last = Some((prompt, seen.output.unwrap_or(0)));
        self.track.sums.add(&row);
        // Where an agent does not record what a compaction left, the next request shows it.
        if let Some(number) = row
            .compacted
            .and_then(|compaction| self.compactions.get(&compaction))
            && let Some(ContextRow::Compaction(compaction)) = self.track.rows.get_mut(*number)
            && compaction.after.is_none_or(|after| !after.is_recorded)
        {
            compaction.after = Some(TokenCount {
                tokens: prompt,
                is_recorded: false,
            });
        }
        self.push(id, ContextRow::Request(Box::new(row)));
    }

    /// Applies the pending compaction: only what it kept is left, and what came since.
    fn drop_pending(&mut self, number: usize, here: EntryId, now: Option<Timestamp>) {
        let Some(compaction) = self.carry.pending.take() else {
            return;
        };
        self.carry.sizes = Sizes::default();
        self.carry.tip = Tip::default();
        self.carry.dropped = BTreeMap::new();
        self.carry.grown = None;
        self.carry.between.compaction = Some(compaction);
        let (transcript, facts) = (self.session.transcript, self.session.facts);
        let shown = |id| facts.get(id).first();
        let key = shown(compaction)
            .and_then(EntryFact::compacted)
            .map(|line| &line.key);
        let (Some(key), Some(end)) = (key, transcript.place_of(compaction)) else {
            return;
        };
        let first = seen::kept_from(transcript, key, end).unwrap_or(end);
        let path = BranchPath::to(transcript, here);
        let before = self.ids.get(..number).unwrap_or_default();
        let is_left = |id: &EntryId| transcript.place_of(*id).is_none_or(|place| place < first);
        let since = before.iter().rposition(is_left).map_or(0, |last| last + 1);
        for id in before.iter().skip(since) {
            let (Some(shown), Some(place)) = (shown(*id), transcript.place_of(*id)) else {
                continue;
            };
            let is_older = place < end && shown.is_compaction;
            if !is_older && path.contains(transcript, *id, place) {
                self.add_parts(*id, shown, now);
            }
        }
    }

    fn push(&mut self, id: EntryId, row: ContextRow) {
        self.track.rows.push(row);
        self.track
            .places
            .extend(self.session.transcript.place_of(id));
    }
}

impl RequestSums {
    fn add(&mut self, request: &Request) {
        let is_first = self.requests == 0;
        self.requests += 1;
        if let Some(read) = request.read {
            self.prompts = self.prompts.saturating_add(request.prompt);
            self.read = self.read.saturating_add(read);
            if request.opens_turn && !is_first && !request.is_summary {
                self.first_prompts = self.first_prompts.saturating_add(request.prompt);
                self.first_read = self.first_read.saturating_add(read);
            }
        }
        if let Some(found) = &request.cache_break {
            self.breaks += 1;
            self.usd += found.usd.unwrap_or(0.0);
            self.unpriced += usize::from(found.usd.is_none());
        }
        if request.prompt > self.largest {
            self.largest = request.prompt;
            self.limit = request.limit;
        }
    }
}
