//! What a format does not know, and how much of it a reader sees.

use serde::{Deserialize, Serialize};

use crate::model::record::Origin;

/// How loud something is that stands beside the conversation: what its format names as such, and what it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Judged {
    /// Bookkeeping: no row below level 4.
    Trace,
    /// Somebody said or saw it: a dim row.
    Text,
    /// It has a role, usage, a call or a result that is not understood: a row in the colour of trouble.
    Loud,
}

impl Judged {
    /// All of them, the loudest last.
    pub(crate) const ALL: [Self; 3] = [Self::Trace, Self::Text, Self::Loud];

    /// The word used in JSON outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Text => "text",
            Self::Loud => "loud",
        }
    }
}

/// What was found of a kind that its format does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// How many of each fate, in the order of [`Judged::ALL`].
    counts: [u64; Judged::ALL.len()],
    /// Where it was found first.
    pub first: Origin,
}

impl Unknown {
    /// None so far.
    pub(super) fn at(first: Origin) -> Self {
        Self {
            counts: [0; Judged::ALL.len()],
            first,
        }
    }

    /// Adds one.
    pub(super) fn note(&mut self, judged: Judged) {
        if let Some(count) = self.counts.get_mut(judged as usize) {
            *count += 1;
        }
    }

    /// Adds all of another one.
    pub(super) fn absorb(&mut self, other: &Self) {
        for (sum, n) in self.counts.iter_mut().zip(other.counts) {
            *sum += n;
        }
    }

    /// Takes away what was added.
    pub(super) fn give_back(&mut self, other: &Self) {
        for (sum, n) in self.counts.iter_mut().zip(other.counts) {
            *sum = sum.saturating_sub(n);
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The loudest of them.
    pub fn judged(&self) -> Judged {
        let counted = Judged::ALL.into_iter().zip(self.counts).rev();
        counted
            .into_iter()
            .find(|(_, n)| *n > 0)
            .map_or(Judged::Trace, |(judged, _)| judged)
    }
}
