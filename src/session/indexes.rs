//! What is known of calls and of time, for the inspector and the time strip. It grows while they are in
//! sight, some hundred entries a frame; a session that is read without them pays nothing for it.

use crate::analysis::account::Account;
use crate::analysis::calls::Calls;
use crate::analysis::files::Files;
use crate::analysis::flights::Flights;
use crate::analysis::lint::Findings;
use crate::analysis::loops::Loops;
use crate::analysis::spending::Spending;
use crate::analysis::timeline::Timeline;
use crate::analysis::window::Windows;
use crate::model::entry::EntryId;
use crate::model::transcript::{Touched, Transcript};

/// Entries that are taken in for one frame, or the work of so many.
const A_FRAME: usize = 512;

/// What is in sight needs these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Calls by tool, time and arguments.
    pub calls: bool,
    /// What was spent.
    pub money: bool,
    /// What ran from when to when.
    pub spans: bool,
    /// What filled the model's window.
    pub windows: bool,
    /// What the lint finds; it is no part of the indexes, but as lazy.
    pub findings: bool,
}

/// What stands around the text needs these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Which calls are in flight where.
    pub lanes: bool,
    /// Which files were used.
    pub files: bool,
}

/// The indexes.
#[derive(Clone, Debug, Default)]
pub struct Indexes {
    /// What turns and lanes came to.
    pub account: Account,
    /// Calls by tool, time and arguments.
    pub calls: Calls,
    /// Loops, and edits that were turned back.
    pub loops: Loops,
    /// What was spent.
    pub spending: Spending,
    /// What ran from when to when.
    pub timeline: Timeline,
    /// What filled the model's window, request by request.
    pub windows: Windows,
    /// Which calls are in flight where.
    pub flights: Flights,
    /// Files with their uses.
    pub files: Files,
    /// Rises with every change of the session.
    pub generation: u64,
    is_behind: bool,
    /// Whether that is so of what stands around the text.
    is_behind_around: bool,
    /// What was wanted last.
    wants: Wants,
    around: Around,
}

impl Indexes {
    /// The session has changed.
    pub fn note(&mut self, transcript: &Transcript, touched: &Touched) {
        self.generation += 1;
        if !self.account.note(transcript, touched) {
            let mut files = std::mem::take(&mut self.files);
            files.begin_again();
            self.clear();
            self.files = files;
            return;
        }
        for id in &touched.changed {
            self.loops.change(transcript, *id);
            self.calls.change(transcript, *id);
            self.windows.change(transcript, *id);
            self.spending.change(transcript, *id);
            self.timeline.change(transcript, *id);
            self.flights.change(transcript, *id);
            self.files.change(transcript, *id);
        }
        if touched.lanes {
            self.timeline.rename();
        }
        // Their arguments are in memory now, and may not be later.
        self.watch(transcript);
    }

    /// Adds up what is new and looks for troubles in it, whatever is in sight.
    pub fn watch(&mut self, transcript: &Transcript) {
        self.is_behind |= !self.loops.follow(transcript, A_FRAME);
        self.is_behind |= !self.account.follow(transcript, A_FRAME);
    }

    /// Bodies of these entries were read again.
    pub fn learn(&mut self, transcript: &Transcript, ids: &[EntryId]) {
        self.generation += 1;
        self.calls.learn(transcript, ids);
        for id in ids {
            self.files.change(transcript, *id);
        }
    }

    /// Another transcript, or another order.
    pub fn clear(&mut self) {
        let mut loops = std::mem::take(&mut self.loops);
        loops.clear();
        let (wants, around) = (self.wants, self.around);
        *self = Self { generation: self.generation + 1, loops, wants, around, ..Self::default() };
    }

    /// What is known of another transcript.
    pub fn become_other(&mut self, other: Self) {
        let before = std::mem::replace(self, other);
        self.generation += before.generation + 1;
        self.loops.succeed(&before.loops);
    }

    /// Takes in what is new for what stands around the text: before that is laid out.
    pub fn follow_around(&mut self, transcript: &Transcript, wants: Around) {
        self.around = wants;
        let was_behind = self.is_behind_around;
        let all_lanes = !wants.lanes || self.flights.follow(transcript, A_FRAME);
        let all_files = !wants.files || self.files.follow(transcript, A_FRAME);
        self.is_behind_around = !(all_lanes && all_files);
        self.generation += u64::from(was_behind || self.is_behind_around);
    }

    /// Takes in what is new for what is in sight.
    pub fn follow(&mut self, transcript: &Transcript, wants: Wants) {
        self.take_in(transcript, wants, A_FRAME);
    }

    fn take_in(&mut self, transcript: &Transcript, wants: Wants, most: usize) {
        self.wants = wants;
        let was_behind = self.is_behind;
        let all_troubles = self.loops.follow(transcript, most);
        let all_calls = !wants.calls || self.calls.follow(transcript, most);
        let is_added_up = self.account.follow(transcript, most);
        let all_windows = !wants.windows || self.windows.follow(transcript, most);
        let all_money = !wants.money || self.spending.follow(transcript, most);
        let all_spans = !wants.spans || self.timeline.follow(transcript, &self.account, most);
        self.is_behind = !(all_troubles && is_added_up && all_calls && all_money && all_spans && all_windows);
        self.generation += u64::from(was_behind || self.is_behind);
    }

    /// Takes in what is new for the lint, after [`Indexes::follow`]. Says whether that was all.
    pub fn follow_findings(&mut self, transcript: &Transcript, findings: &mut Findings) -> bool {
        let is_all = findings.follow(transcript, A_FRAME);
        self.is_behind |= !is_all;
        is_all
    }

    /// Takes in all that is new, of all that another one was wanted for: in the background, where nothing is
    /// asked yet.
    pub fn follow_as(&mut self, other: &Self, transcript: &Transcript) {
        let around = other.around;
        let all_lanes = !around.lanes || self.flights.follow(transcript, usize::MAX);
        let all_files = !around.files || self.files.collect(transcript, usize::MAX);
        self.is_behind_around = !(all_lanes && all_files);
        self.around = around;
        self.take_in(transcript, other.wants, usize::MAX);
    }

    /// Whether the lint was wanted last.
    pub fn wants_findings(&self) -> bool {
        self.wants.findings
    }

    /// Whether there is more to be taken in.
    pub fn is_behind(&self) -> bool {
        self.is_behind || self.is_behind_around
    }
}
