//! What is known of calls and of time, for the inspector and the time strip. It grows while they are in
//! sight, some thousand entries a frame; a session that is read without them pays nothing for it.

use crate::analysis::calls::Calls;
use crate::analysis::flights::Flights;
use crate::analysis::ledger::Ledger;
use crate::model::entry::EntryId;
use crate::model::transcript::{Touched, Transcript};

/// Entries that are taken in for one frame.
const A_FRAME: usize = 20_000;

/// What is in sight needs these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Calls by tool, time and arguments.
    pub calls: bool,
    /// Whose time it was.
    pub time: bool,
    /// What the lint finds; it is no part of the indexes, but as lazy.
    pub findings: bool,
}

/// The indexes.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Calls by tool, time and arguments.
    pub calls: Calls,
    /// Whose time it was.
    pub ledger: Ledger,
    /// Which calls are in flight where.
    pub flights: Flights,
    /// Rises with every change of the session.
    pub generation: u64,
    is_behind: bool,
    /// Whether that is so of what the text needs.
    is_text_behind: bool,
}

impl Evidence {
    /// The session has changed.
    pub fn note(&mut self, transcript: &Transcript, touched: &Touched) {
        self.generation += 1;
        if touched.reordered {
            return self.clear();
        }
        for id in &touched.changed {
            self.calls.change(transcript, *id);
            self.ledger.change(*id);
            self.flights.change(*id);
        }
    }

    /// Bodies of these entries were read again.
    pub fn learn(&mut self, transcript: &Transcript, ids: &[EntryId]) {
        self.generation += 1;
        self.calls.learn(transcript, ids);
    }

    /// Another transcript, or another order.
    pub fn clear(&mut self) {
        *self = Self { generation: self.generation + 1, ..Self::default() };
    }

    /// Takes in what is new for what stands beside and between the entries: before they are laid out.
    pub fn follow_text(&mut self, transcript: &Transcript, (lanes, times): (bool, bool)) {
        let was_behind = self.is_text_behind;
        let all_lanes = !lanes || self.flights.follow(transcript, A_FRAME);
        let all_times = !times || self.ledger.follow(transcript, A_FRAME);
        self.is_text_behind = !(all_lanes && all_times);
        self.generation += u64::from(was_behind || self.is_text_behind);
    }

    /// Takes in what is new for what is in sight.
    pub fn follow(&mut self, transcript: &Transcript, wants: Wants) {
        let was_behind = self.is_behind;
        let all_calls = !wants.calls || self.calls.follow(transcript, A_FRAME);
        let all_time = !wants.time || self.ledger.follow(transcript, A_FRAME);
        self.is_behind = !(all_calls && all_time);
        self.generation += u64::from(was_behind || self.is_behind);
    }

    /// Whether there is more to be taken in.
    pub fn is_behind(&self) -> bool {
        self.is_behind || self.is_text_behind
    }
}
