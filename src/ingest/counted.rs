//! What one record counted, in little room: most records count one fate and nothing else.

use crate::model::record::FileId;
use crate::model::tally::{Fate, Tally};

/// What a record of a file counted.
#[derive(Debug, PartialEq)]
pub(crate) enum Counted {
    /// It was shown, and had so many bytes.
    Shown(u64),
    /// It became part of something else, and had so many bytes.
    Merged(u64),
    /// Whatever it counted.
    Other(Box<Tally>),
}

impl Counted {
    /// Notes what a record of a file counted.
    pub(crate) fn of(tally: Tally, file: FileId) -> Self {
        let bytes = tally.bytes.total();
        let plain = [Self::Shown(bytes), Self::Merged(bytes)];
        plain
            .into_iter()
            .find(|plain| plain.tally(file) == tally)
            .unwrap_or_else(|| Self::Other(Box::new(tally)))
    }

    /// The same as a tally.
    pub(crate) fn tally(&self, file: FileId) -> Tally {
        let mut tally = Tally::default();
        match self {
            Self::Shown(bytes) => tally.count(Fate::Shown, file, *bytes),
            Self::Merged(bytes) => tally.count(Fate::Merged, file, *bytes),
            Self::Other(other) => tally.clone_from(other),
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Fate, FileId, Tally};

    #[test]
    fn nothing_that_was_counted_is_lost() {
        let file = FileId(4);
        for fate in [Fate::Shown, Fate::Merged, Fate::Passed("a ping"), Fate::Faulty] {
            let mut tally = Tally::default();
            tally.count(fate, file, 99);
            let counted = Counted::of(tally.clone(), file);
            assert_eq!(counted.tally(file), tally);
            assert_eq!(matches!(counted, Counted::Other(_)), !matches!(fate, Fate::Shown | Fate::Merged));
            tally.note_unknown(
                "type/x".into(),
                crate::model::tally::unknown::Judged::Loud,
                crate::model::record::Origin::default(),
            );
            assert_eq!(Counted::of(tally.clone(), file).tally(file), tally);
        }
    }
}
