//! What is known of a session besides its entries: the list of values that are derived from it. A new one is a file that
//! says what it needs of an entry, and what all of that comes to ([`Derived`](crate::analysis::derived::Derived)), and a
//! line in this list.
//!
//! Facts are read while somebody needs the value, some hundred entries a frame; a session that is read without it pays
//! nothing for it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::BitOr;

use crate::analysis::account::Account;
use crate::analysis::brief::Brief;
use crate::analysis::calls::Calls;
use crate::analysis::calls::flights::Flights;
use crate::analysis::context::window::Windows;
use crate::analysis::derived::Memo;
use crate::analysis::files::Files;
use crate::analysis::lint::Findings;
use crate::analysis::loops::Loops;
use crate::analysis::money::spending::statement::Statement;
use crate::analysis::timeline::Timeline;
use crate::model::entry::EntryId;
use crate::model::transcript::{Touched, Transcript};

/// Entries that are taken in for one frame, or the work of so many.
const A_FRAME: usize = 512;

/// Declares the derived values: each with its name, its type, and what it reads besides.
macro_rules! indexes {
    ($($(#[$doc:meta])* $name:ident: $value:ty $(, reads $other:ident)?;)*) => {
        /// Which indexes are needed for what is in sight.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Needs {
            $($(#[$doc])* pub $name: bool,)*
            /// What the lint finds.
            pub findings: bool,
        }

        impl BitOr for Needs {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self { $($name: self.$name || other.$name,)* findings: self.findings || other.findings }
            }
        }

        /// The indexes.
        #[derive(Clone, Debug, Default)]
        pub struct Indexes {
            /// What turns and lanes came to: known of every session.
            pub account: Account,
            $($(#[$doc])* pub $name: Memo<$value>,)*
            /// What the lint finds: to judge all again would take a look at all entries.
            pub findings: Findings,
            /// Rises with every change of the session.
            pub(crate) generation: u64,
            delayed: Delayed,
            /// What was needed last.
            pub(super) needs: Needs,
            /// Whether there is more to be taken in.
            pub is_behind: bool,
        }

        impl Indexes {
            fn note_each(&mut self, transcript: &Transcript, touched: &Touched) {
                self.account.note(transcript, touched);
                self.findings.note(transcript, touched);
                $(self.$name.note(transcript, touched);)*
            }

            fn change_each(&mut self, transcript: &Transcript, ids: &[EntryId]) {
                for id in ids {
                    self.account.change(transcript, *id);
                    self.findings.change(transcript, *id);
                }
                self.learn_each(transcript, ids);
            }

            fn go_on_from_each(&mut self, before: &Self) {
                self.findings.go_on_from(&before.findings);
                $(self.$name.go_on_from(&before.$name);)*
            }

            fn learn_each(&mut self, transcript: &Transcript, ids: &[EntryId]) {
                for id in ids {
                    $(self.$name.change(transcript, *id);)*
                }
            }

            /// Takes in what is new for what is needed, and computes it if somebody looks. Says whether that was all.
            fn take_in(&mut self, transcript: &Transcript, needs: Needs, is_seen: bool) -> bool {
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
    /// Loops, and edits that were turned back.
    loops: Loops;
    /// Calls by tool, time and arguments.
    calls: Calls;
    /// What was spent.
    spending: Statement, reads account;
    /// What ran from when to when.
    timeline: Timeline, reads account;
    /// What filled the model's window, request by request.
    windows: Windows;
    /// Which calls are in flight where.
    flights: Flights;
    /// Files with their uses.
    files: Files;
    /// What was done, failed and is open.
    brief: Brief;
}

impl Needs {
    /// What is known of every session, whatever is in sight: entries are at hand when they come, and may be on disk
    /// later.
    fn always() -> Self {
        Self {
            loops: true,
            ..Self::default()
        }
    }
}

impl Indexes {
    /// The session has changed.
    pub(crate) fn note(&mut self, transcript: &Transcript, touched: &Touched) {
        let now = self.delayed.delay(transcript, touched);
        self.note_each(transcript, &now);
        self.generation += u64::from(!touched.is_empty());
    }

    /// Large entries that were put off and are due. Says whether that was all of them.
    fn change_due(&mut self, transcript: &Transcript) -> bool {
        let due = self.delayed.due();
        self.change_each(transcript, &due);
        self.delayed.0.is_empty()
    }

    /// Takes in what is new when it comes, for what is always known and for what else is needed.
    pub(crate) fn watch(&mut self, transcript: &Transcript, needs: Needs) {
        self.is_behind |= !self.take_in(transcript, needs, false);
    }

    /// Bodies of these entries were read again.
    pub(crate) fn learn(&mut self, transcript: &Transcript, ids: &[EntryId]) {
        self.generation += 1;
        self.learn_each(transcript, ids);
    }

    /// Lets go of all, which entries tell again when it is asked for.
    pub(crate) fn let_go(&mut self) {
        let mut anew = Self::default();
        anew.go_on_from(self);
        *self = anew;
    }

    /// Takes the place of what was known of the session before: whoever goes by how often something has changed sees that
    /// it has.
    pub(super) fn go_on_from(&mut self, before: &Self) {
        self.generation += before.generation + 1;
        self.needs = before.needs;
        self.account.go_on_from(&before.account);
        self.go_on_from_each(before);
    }

    /// Takes in what is new for what is in sight. The end of a session alone lacks the calls of many results, so
    /// nothing is judged of it.
    pub(crate) fn follow(&mut self, transcript: &Transcript, needs: Needs, is_whole: bool) {
        self.needs = needs;
        let was_behind = self.is_behind;
        let needs = Needs {
            findings: needs.findings && is_whole,
            ..needs
        };
        self.is_behind = !self.take_in(transcript, needs, true);
        self.generation += u64::from(was_behind || self.is_behind);
    }

    /// Computes what is known of every session, for a look at it without a frame.
    pub(crate) fn compute(&mut self, transcript: &Transcript) {
        self.is_behind |= !self.account.follow(transcript, A_FRAME);
        self.is_behind |= !self.loops.follow(transcript, A_FRAME);
    }

    /// Takes in what is new for the lint alone. Says whether that was all.
    pub(crate) fn follow_findings(&mut self, transcript: &Transcript) -> bool {
        let is_all = self.findings.follow(transcript, A_FRAME);
        self.is_behind |= !is_all;
        is_all
    }
}

/// Large entries that have changed, each with how many batches or frames go by until the indexes hear of it: to judge
/// all calls of an answer with each of their results would cost the square of their number.
#[derive(Clone, Debug, Default)]
struct Delayed(BTreeMap<EntryId, usize>);

/// Blocks that are judged for a batch or a frame, on average.
const BLOCKS: usize = 1024;

impl Delayed {
    /// What was touched, without the large entries.
    fn delay<'t>(&mut self, transcript: &Transcript, touched: &'t Touched) -> Cow<'t, Touched> {
        if touched.reordered {
            // All begins again.
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

    /// A batch or a frame goes by: those that have waited.
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
