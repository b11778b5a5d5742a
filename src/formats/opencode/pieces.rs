//! A set of pieces of a message. There are many messages, mostly with few pieces each, so small
//! sets are vectors.

use std::collections::HashSet;

use crate::model::entry::Piece;

/// The largest size at which a set is searched linearly.
const FEW: usize = 64;

#[derive(Debug)]
pub(super) enum PieceSet {
    /// In no order: few enough to be compared one by one.
    Few(Vec<Piece>),
    /// A hash set, for more than `FEW` pieces.
    #[expect(
        clippy::box_collection,
        reason = "messages are many, and few of them have one"
    )]
    Many(Box<HashSet<Piece>>),
}

impl Default for PieceSet {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl PieceSet {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Few(pieces) => pieces.is_empty(),
            Self::Many(pieces) => pieces.is_empty(),
        }
    }

    pub(super) fn contains(&self, piece: Piece) -> bool {
        match self {
            Self::Few(pieces) => pieces.contains(&piece),
            Self::Many(pieces) => pieces.contains(&piece),
        }
    }

    /// Inserts or removes a piece.
    pub(super) fn set(&mut self, piece: Piece, is_in: bool) {
        match self {
            Self::Few(pieces) => {
                if !is_in {
                    pieces.retain(|other| *other != piece);
                } else if !pieces.contains(&piece) {
                    pieces.push(piece);
                }
                if pieces.len() > FEW {
                    *self = Self::Many(Box::new(pieces.drain(..).collect()));
                }
            }
            Self::Many(pieces) if is_in => drop(pieces.insert(piece)),
            Self::Many(pieces) => drop(pieces.remove(&piece)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, PieceSet};
    use crate::model::entry::Piece;

    #[test]
    fn few_or_many_it_is_a_set() {
        let mut pieces = PieceSet::default();
        let all = || (0..3 * FEW as u64).map(Piece);
        for piece in all().chain(all()) {
            pieces.set(piece, true);
        }
        assert!(matches!(pieces, PieceSet::Many(_)) && all().all(|piece| pieces.contains(piece)));
        for piece in all().skip(1) {
            pieces.set(piece, false);
        }
        assert!(pieces.contains(Piece(0)) && !pieces.contains(Piece(1)) && !pieces.is_empty());
        pieces.set(Piece(0), false);
        assert!(pieces.is_empty());
        let mut few = PieceSet::default();
        few.set(Piece(7), true);
        few.set(Piece(7), true);
        few.set(Piece(7), false);
        assert!(few.is_empty() && !few.contains(Piece(7)));
    }
}
