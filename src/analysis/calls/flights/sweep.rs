//! One item after the other along a lane: which calls are in flight where it begins.

use super::{Flight, Spot};
use crate::analysis::calls::Place;
use crate::model::entry::{Block, BlockKind, Entry, EntryId};
use crate::model::record::FileId;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;

/// More calls at a time are not followed: no gutter shows so many.
const MOST: usize = 64;

/// A call in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Active {
    flight: Flight,
    /// The last item that began meanwhile.
    last: Spot,
    /// The record of the result, if that is another one than the call's.
    record: Option<(FileId, u64)>,
    /// When the result came.
    at: Option<Timestamp>,
    /// When its sub-agent was heard of last.
    heard: Option<Timestamp>,
}

/// What is known of when an item began.
struct Begun {
    file: FileId,
    record: u64,
    at: Option<Timestamp>,
}

/// The way along a page.
pub(crate) struct Sweep<'t> {
    transcript: &'t Transcript,
    /// Calls in flight, in the order of their columns.
    pub(crate) active: Vec<Active>,
    done: Vec<Flight>,
}

impl<'t> Sweep<'t> {
    /// Begins with the calls that are in flight.
    pub(crate) fn new(transcript: &'t Transcript, active: Vec<Active>) -> Self {
        Self { transcript, active, done: Vec::new() }
    }

    /// Takes in the items of an entry.
    pub(crate) fn entry(&mut self, place: usize, id: EntryId, entry: &Entry) {
        for (number, block) in entry.blocks.iter().enumerate() {
            if !self.active.is_empty() {
                self.pass((place, number), entry, block);
            }
            if let BlockKind::Call(call) = &block.kind {
                self.begin((place, number), id, call);
            }
        }
    }

    /// Ends what is over before the first item of the next page, and begins nothing.
    pub(crate) fn look_ahead(&mut self, place: usize, entry: &Entry) {
        if let Some(block) = entry.blocks.first() {
            self.pass((place, 0), entry, block);
        }
    }

    /// The flights that were met. Those that are not over go on, unless there is nothing more to come.
    pub(crate) fn finish(mut self, is_end: bool) -> Vec<Flight> {
        for active in std::mem::take(&mut self.active) {
            let is_over = is_end && active.flight.is_answered;
            self.push(&active, is_over.then_some(active.last));
        }
        self.done
    }

    /// An item begins.
    fn pass(&mut self, spot: Spot, entry: &Entry, block: &Block) {
        let origin = entry.origin_of(block);
        let called = match &block.kind {
            BlockKind::Call(call) => call.started,
            _ => None,
        };
        let begun = Begun { file: origin.file, record: origin.at, at: called.or(entry.at) };
        let mut active = std::mem::take(&mut self.active);
        active.retain_mut(|active| {
            // Of blocks of one entry only calls have times of their own.
            let is_own = active.flight.from.0 == spot.0 && called.is_none();
            match active.is_in_flight(&begun, entry.marks.prompt, is_own) {
                Some(true) => {
                    active.last = spot;
                    true
                }
                Some(false) => {
                    self.push(active, Some(active.last));
                    false
                }
                None => true,
            }
        });
        self.active = active;
    }

    fn begin(&mut self, spot: Spot, id: EntryId, call: &ToolCall) {
        let taken = |column: usize| self.active.iter().any(|active| active.flight.column == column);
        if self.active.len() >= MOST {
            return;
        }
        let column = (0..MOST).find(|column| !taken(*column)).unwrap_or(MOST);
        let result = call.state.result();
        let asked = call.input.from;
        let record = result.map(|result| result.body.from);
        let record = record.filter(|record| record.file == asked.file && record.at != asked.at);
        let agent = self.transcript.lanes_of_call(&call.key).last();
        let last = agent.and_then(|lane| lane.entries.last()).and_then(|id| self.transcript.get(*id));
        let at = result.and_then(|result| result.at);
        let rank = record.map_or(at.map_or(0, |at| at.0), |record| i64::try_from(record.at).unwrap_or(0));
        let flight = Flight {
            call: Place { entry: id, block: spot.1 },
            from: spot,
            until: None,
            column,
            rank,
            is_answered: result.is_some(),
            is_agent: agent.is_some(),
        };
        let record = record.map(|record| (record.file, record.at));
        let heard = last.and_then(|last| last.at);
        let active = Active { flight, last: spot, record, at, heard };
        let behind = self.active.iter().position(|other| other.flight.column > column);
        self.active.insert(behind.unwrap_or(self.active.len()), active);
    }

    /// Notes a flight, unless it has the first column for itself, and only its own rows.
    fn push(&mut self, active: &Active, until: Option<Spot>) {
        let flight = Flight { until, ..active.flight };
        if flight.column > 0 || until != Some(flight.from) || !flight.is_answered {
            self.done.push(flight);
        }
    }
}

impl Active {
    /// Whether it is in flight where an item begins; nothing if that item does not say.
    fn is_in_flight(&self, begun: &Begun, is_prompt: bool, is_own: bool) -> Option<bool> {
        let is_before = |end: Option<Timestamp>| begun.at.zip(end).is_some_and(|(at, end)| at < end);
        if !is_own && is_before(self.heard) {
            return Some(true);
        }
        if !self.flight.is_answered {
            return Some(!is_prompt);
        }
        match self.record {
            Some((file, record)) if file == begun.file => Some(begun.record < record),
            _ if is_own => None,
            _ => Some(is_before(self.at)),
        }
    }
}
