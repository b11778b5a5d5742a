//! Counts of unknown kinds, and how prominently they are shown.

use serde::{Deserialize, Serialize};

use crate::model::record::Origin;

/// Prominence of content outside the conversation, of unknown kinds or of kinds that a format
/// names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Judged {
    /// Bookkeeping: no row below level 4.
    Trace,
    /// Text that somebody wrote or saw: a dim row.
    Text,
    /// It has a role, usage, a call or a result that is not understood: a row in the colour of
    /// warnings.
    Loud,
}

impl Judged {
    /// All values in ascending order.
    pub(crate) const ALL: [Self; 3] = [Self::Trace, Self::Text, Self::Loud];

    /// The name in JSON outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Text => "text",
            Self::Loud => "loud",
        }
    }
}

/// Occurrences of one unknown kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Number by prominence, in the order of [`Judged::ALL`].
    counts: [u64; Judged::ALL.len()],
    pub first: Origin,
}

impl Unknown {
    pub(super) fn at(first: Origin) -> Self {
        Self {
            counts: [0; Judged::ALL.len()],
            first,
        }
    }

    pub(super) fn add(&mut self, judged: Judged) {
        if let Some(count) = self.counts.get_mut(judged as usize) {
            *count += 1;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (sum, n) in self.counts.iter_mut().zip(other.counts) {
            *sum += n;
        }
    }

    /// Subtracts counts that were added.
    pub(super) fn subtract(&mut self, other: &Self) {
        for (sum, n) in self.counts.iter_mut().zip(other.counts) {
            *sum = sum.saturating_sub(n);
        }
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The highest prominence among them.
    pub fn judged(&self) -> Judged {
        let counted = Judged::ALL.into_iter().zip(self.counts).rev();
        counted
            .into_iter()
            .find(|(_, n)| *n > 0)
            .map_or(Judged::Trace, |(judged, _)| judged)
    }
}
