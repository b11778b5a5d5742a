//! Queries of a timeline.

use super::{Lane, RowContent, Span, SpanId, Timeline, TimelineRow};
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// A request of the main agent and the size of its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextRequest {
    /// The timestamp of the answer.
    pub(crate) at: Timestamp,
    pub(crate) entry: EntryId,
    /// Tokens of the prompt and of the answer.
    pub(crate) tokens: u64,
}

impl Timeline {
    /// The main agent first, then sub-agents in file order.
    pub(crate) fn lanes(&self) -> &[Lane] {
        &self.lanes.list
    }

    pub(crate) fn row(&self, number: usize) -> Option<&TimelineRow> {
        self.rows.list.get(number)
    }

    pub(crate) fn first_row(&self, lane: usize, what: &RowContent) -> Option<usize> {
        self.rows.first.get(&(lane, what.clone())).copied()
    }

    /// A span by id, and the number of its row.
    pub(crate) fn get(&self, id: SpanId) -> Option<(&Span, usize)> {
        let (_, number) = *self
            .by_time
            .get(self.number_before(id))
            .filter(|(one, _)| *one == id)?;
        Some((self.rows.list.get(number)?.find(id)?, number))
    }

    /// Start and end of the session.
    pub(crate) fn extent(&self) -> Option<(Timestamp, Timestamp)> {
        let reaches = self.lanes.list.iter().filter_map(|lane| lane.reach);
        reaches.reduce(|(from, to), (start, end)| (from.min(start), to.max(end)))
    }

    /// Spans that begin after one, in order.
    pub(crate) fn after(&self, id: SpanId) -> impl Iterator<Item = SpanId> + '_ {
        let first = self.by_time.partition_point(|(one, _)| *one <= id);
        self.by_time.iter().skip(first).map(|(id, _)| *id)
    }

    /// Spans that begin before one, the last of them first.
    pub(crate) fn before(&self, id: SpanId) -> impl Iterator<Item = SpanId> + '_ {
        self.by_time
            .iter()
            .take(self.number_before(id))
            .rev()
            .map(|(id, _)| *id)
    }

    pub(crate) fn first(&self) -> Option<SpanId> {
        self.by_time.first().map(|(id, _)| *id)
    }

    /// The span that begins last.
    pub(crate) fn last(&self) -> Option<SpanId> {
        self.by_time.last().map(|(id, _)| *id)
    }

    /// Gaps in the activity that overlap a range; if no call is open, that after all activity up to
    /// `to` is one.
    pub(crate) fn gaps(
        &self,
        from: Timestamp,
        to: Timestamp,
    ) -> impl Iterator<Item = (Timestamp, Timestamp)> + '_ {
        let is_open = (0..self.lanes.list.len()).any(|lane| self.open_calls(lane).next().is_some());
        let end = self
            .busy
            .end()
            .filter(|end| !is_open && to.since(*end) > super::QUIET_MS);
        self.busy.gaps(from, to).chain(end.map(|end| (end, to)))
    }

    /// The last request up to a timestamp.
    pub(crate) fn request_at(&self, at: Timestamp) -> Option<ContextRequest> {
        let later = self.requests.partition_point(|request| request.at <= at);
        self.requests.get(later.checked_sub(1)?).copied()
    }

    /// The prompts of the main agent in a range, in order.
    pub(crate) fn prompts(
        &self,
        from: Timestamp,
        to: Timestamp,
    ) -> impl Iterator<Item = Timestamp> + '_ {
        let first = self.prompts.partition_point(|(at, _)| *at < from);
        self.prompts
            .iter()
            .skip(first)
            .map(|(at, _)| *at)
            .take_while(move |at| *at < to)
    }

    /// Start and end (exclusive) of the turn at a timestamp.
    pub(crate) fn turn_at(&self, at: Timestamp) -> (Timestamp, Timestamp) {
        let next = self.prompts.partition_point(|(prompt, _)| *prompt <= at);
        let prompt = |number: usize| self.prompts.get(number).map(|(at, _)| *at);
        let start = next.checked_sub(1).and_then(prompt);
        (
            start.unwrap_or(Timestamp(i64::MIN)),
            prompt(next).unwrap_or(Timestamp(i64::MAX)),
        )
    }

    /// The span of an item: that of the call, or the one that ended with the entry; otherwise one
    /// that was running then.
    pub(crate) fn span_of(
        &self,
        transcript: &Transcript,
        entry: EntryId,
        block: usize,
    ) -> Option<SpanId> {
        let first = self.by_call.partition_point(|id| id.entry < entry);
        let calls = self
            .by_call
            .get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(|id| id.entry == entry);
        let is_own = |id: &&SpanId| id.call().is_some_and(|place| place.block == block);
        if let Some(id) = calls.clone().find(is_own) {
            return Some(*id);
        }
        let said = transcript.get(entry)?;
        let lane = self.lanes.find(said.lane.as_ref())?;
        let first_call = || calls.clone().next().copied();
        let Some(at) = said.at else {
            return first_call();
        };
        if let Some(opened) = Some(at)
            .filter(|_| said.marks.prompt && lane == 0)
            .and_then(|at| self.opened_at(at))
        {
            return Some(opened);
        }
        let rows = || {
            self.lanes
                .list
                .get(lane)
                .into_iter()
                .flat_map(|lane| &lane.rows)
        };
        let of_rows = || rows().filter_map(|number| self.rows.list.get(*number));
        let ended_before = of_rows().find_map(|row| {
            let spans = &row.spans;
            let last = spans.partition_point(|span| span.end(None) < at);
            let near = spans
                .iter()
                .skip(last)
                .take_while(|span| span.id.from <= at);
            near.map(|span| span.id)
                .find(|id| id.entry == entry && id.block.is_none())
        });
        ended_before.or_else(first_call).or_else(|| {
            let at_the_time = of_rows().filter_map(|row| {
                let last = row
                    .spans
                    .partition_point(|span| span.id.from <= at)
                    .checked_sub(1)?;
                row.spans.get(last)
            });
            at_the_time
                .max_by_key(|span| (span.end(None), span.id))
                .map(|span| span.id)
        })
    }

    /// The first span after a prompt: the time before the prompt belongs to the turn before.
    fn opened_at(&self, prompt: Timestamp) -> Option<SpanId> {
        let next = self
            .prompts(Timestamp(prompt.0.saturating_add(1)), Timestamp(i64::MAX))
            .next();
        let spans = self
            .by_time
            .iter()
            .skip(self.number_before(SpanId::first_at(prompt)));
        let mut within = spans.take_while(|(id, _)| next.is_none_or(|next| id.from < next));
        within
            .find(|(_, row)| self.rows.list.get(*row).is_some_and(|row| row.lane == 0))
            .map(|(id, _)| *id)
    }

    /// The number of spans.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.by_time.len()
    }

    /// The lane that a call started.
    #[cfg(test)]
    pub(crate) fn started_by(&self, id: SpanId) -> Option<usize> {
        self.starts.get(&id).copied()
    }
}
