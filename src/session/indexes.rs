//! The list of values that are derived from a session. To add one, write a file that defines which
//! facts of an entry it needs and how the value is computed from them
//! ([`Derived`](crate::analysis::derived::Derived)), and add a line to this list.
//!
//! Facts are extracted while a view needs the value, some hundred entries a frame; a session
//! without such a view does no work for it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::BitOr;

use crate::analysis::account::Account;
use crate::analysis::brief::Brief;
use crate::analysis::calls::Calls;
use crate::analysis::calls::flights::Flights;
use crate::analysis::context::window::Windows;
use crate::analysis::context::window::carried::Carried;
use crate::analysis::derived::Memo;
use crate::analysis::files::Files;
use crate::analysis::lint::Findings;
use crate::analysis::loops::Loops;
use crate::analysis::money::spending::statement::Statement;
use crate::analysis::timeline::Timeline;
use crate::model::entry::EntryId;
use crate::model::transcript::{Touched, Transcript};

/// Limit of entries, or equivalent work, that an index processes for one frame.
const A_FRAME: usize = 512;

/// Declares the derived values: name, type, and the other index that a value reads.
macro_rules! indexes {
    ($($(#[$doc:meta])* $name:ident: $value:ty $(, reads $other:ident)?;)*) => {
        /// Indexes that the current views need.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Needs {
            $($(#[$doc])* pub $name: bool,)*
            /// Findings of the lint.
            pub findings: bool,
        }

        impl BitOr for Needs {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self { $($name: self.$name || other.$name,)* findings: self.findings || other.findings }
            }
        }

        /// All indexes of a session.
        #[derive(Clone, Debug, Default)]
        pub struct Indexes {
            /// Sums of turns and lanes, updated for every session.
            pub account: Account,
            $($(#[$doc])* pub $name: Memo<$value>,)*
            /// Findings of the lint, updated incrementally because recomputing them would need all
            /// entries.
            pub findings: Findings,
            /// Increases with every change of the session.
            pub(crate) generation: u64,
            delayed: Delayed,
            /// Indexes that were needed last.
            pub(super) needs: Needs,
            /// Whether there are entries left to process.
            pub is_behind: bool,
        }

        impl Indexes {
            fn invalidate_each(&mut self, transcript: &Transcript, touched: &Touched) {
                self.account.invalidate(transcript, touched);
                self.findings.invalidate(transcript, touched);
                $(self.$name.invalidate(transcript, touched);)*
            }

            fn change_each(&mut self, transcript: &Transcript, ids: &[EntryId]) {
                for id in ids {
                    self.account.change(transcript, *id);
                    self.findings.change(transcript, *id);
                }
                self.reprocess_each(transcript, ids);
            }

            fn continue_from_each(&mut self, before: &Self) {
                self.findings.continue_from(&before.findings);
                $(self.$name.continue_from(&before.$name);)*
            }

            fn reprocess_each(&mut self, transcript: &Transcript, ids: &[EntryId]) {
                for id in ids {
                    $(self.$name.change(transcript, *id);)*
                }
            }

            /// Processes new entries for the indexes that are needed, and computes their values if
            /// `is_seen`. Returns whether all entries are processed.
            fn process(&mut self, transcript: &Transcript, needs: Needs, is_seen: bool) -> bool {
                let mut is_all = self.change_due(transcript);
                let needs = needs | Needs::always();
                is_all &= if is_seen {
                    self.account.follow(transcript, A_FRAME)
                } else {
                    self.account.watch(transcript, A_FRAME)
                };
                is_all &= !needs.findings || self.findings.follow(transcript, A_FRAME);
                $(if needs.$name {
                    is_all &= if is_seen {
                        self.$name.follow_with(transcript, indexes!(@other self $($other)?), A_FRAME)
                    } else {
                        self.$name.watch(transcript, A_FRAME)
                    };
                })*
                is_all
            }
        }
    };
    (@other $self:ident) => { &() };
    (@other $self:ident $other:ident) => { &$self.$other };
}

indexes! {
    /// Loops, and edits that were reverted.
    loops: Loops;
    /// Calls by tool, time and arguments.
    calls: Calls;
    spending: Statement, reads account;
    timeline: Timeline, reads account;
    /// Content of the model's context window, by request.
    windows: Windows;
    /// Cost of carrying results, by call.
    carried: Carried, reads windows;
    /// Calls in flight, by entry.
    flights: Flights;
    /// Files with their uses.
    files: Files;
    /// Work that was done, failed or is open.
    brief: Brief;
}

impl Needs {
    /// Indexes that are updated for every session, because entries are unpacked when they come and
    /// may be on disk later.
    fn always() -> Self {
        Self {
            loops: true,
            ..Self::default()
        }
    }
}

impl Indexes {
    /// Marks the touched entries for processing.
    pub(crate) fn invalidate(&mut self, transcript: &Transcript, touched: &Touched) {
        let now = self.delayed.delay(transcript, touched);
        self.invalidate_each(transcript, &now);
        self.generation += u64::from(!touched.is_empty());
    }

    /// Processes large entries whose delay is over. Returns whether none remains.
    fn change_due(&mut self, transcript: &Transcript) -> bool {
        let due = self.delayed.due();
        self.change_each(transcript, &due);
        self.delayed.0.is_empty()
    }

    /// Processes new entries as they come, without computing values.
    pub(crate) fn watch(&mut self, transcript: &Transcript, needs: Needs) {
        self.is_behind |= !self.process(transcript, needs, false);
    }

    /// Processes these entries again, because their bodies were read.
    pub(crate) fn reprocess(&mut self, transcript: &Transcript, ids: &[EntryId]) {
        self.generation += 1;
        self.reprocess_each(transcript, ids);
    }

    /// Drops everything; it is derived from the entries again on demand.
    pub(crate) fn clear(&mut self) {
        let mut anew = Self::default();
        anew.continue_from(self);
        *self = anew;
    }

    /// Replaces the indexes of the previous transcript: counters continue from there, so that users
    /// of the counters notice the change.
    pub(super) fn continue_from(&mut self, before: &Self) {
        self.generation += before.generation + 1;
        self.needs = before.needs;
        self.account.continue_from(&before.account);
        self.continue_from_each(before);
    }

    /// Processes new entries for the current views and computes their values. Without the beginning
    /// of the session the calls of many results are missing, so the lint waits for the whole.
    pub(crate) fn follow(&mut self, transcript: &Transcript, needs: Needs, is_whole: bool) {
        self.needs = needs;
        let was_behind = self.is_behind;
        let needs = Needs {
            findings: needs.findings && is_whole,
            ..needs
        };
        self.is_behind = !self.process(transcript, needs, true);
        self.generation += u64::from(was_behind || self.is_behind);
    }

    /// Computes the values that every session has, outside of frames.
    pub(crate) fn compute(&mut self, transcript: &Transcript) {
        self.is_behind |= !self.account.follow(transcript, A_FRAME);
        self.is_behind |= !self.loops.follow(transcript, A_FRAME);
    }

    /// Processes new entries for the lint only. Returns whether all are processed.
    pub(crate) fn follow_findings(&mut self, transcript: &Transcript) -> bool {
        let is_all = self.findings.follow(transcript, A_FRAME);
        self.is_behind |= !is_all;
        is_all
    }
}

/// Large entries that have changed, with the number of batches or frames until the indexes process
/// them: judging all calls of an answer for each of their results would take quadratic time.
#[derive(Clone, Debug, Default)]
struct Delayed(BTreeMap<EntryId, usize>);

/// Blocks for which an entry is delayed by one batch or frame.
const BLOCKS: usize = 1024;

impl Delayed {
    /// What was touched, without the large entries.
    fn delay<'t>(&mut self, transcript: &Transcript, touched: &'t Touched) -> Cow<'t, Touched> {
        if touched.reordered {
            // The indexes start again.
            self.0.clear();
            return Cow::Borrowed(touched);
        }
        let waits = |id: &EntryId| transcript.blocks_of(*id) / BLOCKS;
        if !touched
            .changed
            .iter()
            .chain(&touched.moved)
            .any(|id| waits(id) > 1)
        {
            return Cow::Borrowed(touched);
        }
        let mut touched = touched.clone();
        for ids in [&mut touched.changed, &mut touched.moved] {
            for id in ids.extract_if(.., |id| waits(id) > 1) {
                self.0.entry(id).or_insert(waits(&id));
            }
        }
        Cow::Owned(touched)
    }

    /// Counts a batch or frame, and returns the entries whose delay is over.
    fn due(&mut self) -> Vec<EntryId> {
        let mut due = Vec::new();
        self.0.retain(|id, left| {
            *left -= 1;
            if *left == 0 {
                due.push(*id);
            }
            *left > 0
        });
        due
    }
}

#[cfg(test)]
mod tests;
