//! How much memory reading one compressed file may take.

use std::io;

use crate::model::figures::bytes;

/// How much memory what is read of an archive may take: nothing of it can be read again by its place, so all is kept.
/// How much it grew by does not matter.
pub(crate) const MEMORY: u64 = 400_000_000;
/// What of that is for what was read, and how long a single text in it may be: while it is read there are copies of it.
pub(crate) const HELD: u64 = MEMORY / 8 * 5;
pub(crate) const LONGEST: u64 = MEMORY / 8;
/// The same of a document, of which nothing is held before it is there to its end.
pub(crate) const DOCUMENT: u64 = MEMORY / 4;

/// Why the rest of an archive of this name is not read.
pub(crate) fn exceeded(name: &str) -> io::Error {
    let most = bytes(MEMORY);
    let what = format!(
        "what the {name} archive holds takes more than {most} of memory; the rest is left out"
    );
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}
