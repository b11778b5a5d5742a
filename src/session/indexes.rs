//! What is known of a session besides its entries: the list of its indexes. A new one is a file that says what it
//! keeps of an entry ([`Index`](crate::analysis::index::Index)), and a line in this list.
//!
//! An index grows while somebody needs it, some hundred entries a frame; a session that is read without it pays
//! nothing for it.

use std::ops::BitOr;

use crate::analysis::account::Account;
use crate::analysis::brief::Brief;
use crate::analysis::calls::Calls;
use crate::analysis::calls::flights::Flights;
use crate::analysis::context::window::Windows;
use crate::analysis::files::Files;
use crate::analysis::index::Live;
use crate::analysis::lint::Findings;
use crate::analysis::loops::Loops;
use crate::analysis::money::spending::Spending;
use crate::analysis::timeline::Timeline;
use crate::model::entry::EntryId;
use crate::model::transcript::{Touched, Transcript};

/// Entries that are taken in for one frame, or the work of so many.
const A_FRAME: usize = 512;

/// Declares the indexes: each with its name, its type, and the one before it that it reads.
macro_rules! indexes {
    ($($(#[$doc:meta])* $name:ident: $index:ty $(, reads $other:ident)?;)*) => {
        /// Which indexes are needed for what is in sight.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Needs {
            $($(#[$doc])* pub $name: bool,)*
        }

        impl BitOr for Needs {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self { $($name: self.$name || other.$name,)* }
            }
        }

        /// The indexes.
        #[derive(Clone, Debug, Default)]
        pub struct Indexes {
            $($(#[$doc])* pub $name: Live<$index>,)*
            /// Rises with every change of the session.
            pub(crate) generation: u64,
            paces: Paces,
            /// What was needed last.
            needs: Needs,
            is_behind: bool,
        }

        #[derive(Clone, Debug, Default)]
        struct Paces {
            $($name: Pace,)*
        }

        impl Indexes {
            fn note_each(&mut self, transcript: &Transcript, touched: &Touched) {
                $(self.$name.note(transcript, touched);)*
            }

            fn learn_each(&mut self, transcript: &Transcript, ids: &[EntryId]) {
                $(self.$name.learn(transcript, ids);)*
            }

            fn follow_each(&mut self, transcript: &Transcript, needs: Needs) -> bool {
                let mut is_all = true;
                $(if needs.$name {
                    is_all &= self.$name.follow_with(transcript, indexes!(@other self $($other)?), A_FRAME);
                })*
                is_all
            }

            fn keep_up_each(&mut self, transcript: &Transcript, needs: Needs) -> bool {
                let (mut is_all, entries) = (true, transcript.order().len());
                $(if needs.$name {
                    is_all &= self.paces.$name.goes_on(self.$name.is_to_begin(transcript), entries)
                        && self.$name.keep_up(transcript, indexes!(@other self $($other)?));
                })*
                is_all
            }

            /// Becomes what is known of another transcript; nothing, if that is new.
            pub(crate) fn become_other(&mut self, other: Self) {
                $(self.$name.become_other(other.$name);)*
                self.is_behind = other.is_behind;
                self.generation += other.generation + 1;
            }
        }
    };
    (@other $self:ident) => { &() };
    (@other $self:ident $other:ident) => { &$self.$other };
}

indexes! {
    /// What turns and lanes came to.
    account: Account;
    /// Loops, and edits that were turned back.
    loops: Loops;
    /// Calls by tool, time and arguments.
    calls: Calls;
    /// What was spent.
    spending: Spending;
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
    /// What the lint finds.
    findings: Findings;
}

impl Needs {
    /// What is known of every session, whatever is in sight: entries are at hand when they come, and may be on disk
    /// later.
    fn always() -> Self {
        Self { account: true, loops: true, ..Self::default() }
    }
}

impl Indexes {
    /// The session has changed.
    pub(crate) fn note(&mut self, transcript: &Transcript, touched: &Touched) {
        self.note_each(transcript, touched);
        self.generation += u64::from(!touched.is_empty());
    }

    /// Takes in what is new for what is always known, when it comes.
    pub(crate) fn watch(&mut self, transcript: &Transcript) {
        self.is_behind |= !self.follow_each(transcript, Needs::always());
    }

    /// Bodies of these entries were read again.
    pub(crate) fn learn(&mut self, transcript: &Transcript, ids: &[EntryId]) {
        self.generation += 1;
        self.learn_each(transcript, ids);
    }

    /// Takes in what is new for what is in sight. The end of a session alone lacks the calls of many results, so
    /// nothing is judged of it.
    pub(crate) fn follow(&mut self, transcript: &Transcript, needs: Needs, is_whole: bool) {
        self.needs = needs;
        let was_behind = self.is_behind;
        let needs = Needs { findings: needs.findings && is_whole, ..needs | Needs::always() };
        self.is_behind = !self.follow_each(transcript, needs);
        self.generation += u64::from(was_behind || self.is_behind);
    }

    /// Takes in what is new for the lint alone. Says whether that was all.
    pub(crate) fn follow_findings(&mut self, transcript: &Transcript) -> bool {
        let is_all = self.findings.follow(transcript, A_FRAME);
        self.is_behind |= !is_all;
        is_all
    }

    /// Takes in all that is new, of all that another one is needed for: in the background, where nothing is asked yet.
    /// What must begin again waits until the session is twice as long: so all of it together costs no more than twice
    /// the session.
    pub(crate) fn keep_up_as(&mut self, other: &Self, transcript: &Transcript) {
        self.needs = other.needs;
        self.is_behind = !self.keep_up_each(transcript, other.needs | Needs::always());
    }

    /// Whether there is more to be taken in.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }
}

/// How often something begins at the beginning again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    is_owed: bool,
    /// Entries there were the last time.
    began_at: usize,
}

impl Pace {
    /// Whether it goes on now, with so many entries there.
    pub(crate) fn goes_on(&mut self, begins_again: bool, entries: usize) -> bool {
        self.is_owed |= begins_again;
        if self.is_owed && entries < self.began_at * 2 {
            return false;
        }
        if std::mem::take(&mut self.is_owed) {
            self.began_at = entries;
        }
        true
    }
}

#[cfg(test)]
mod tests;
