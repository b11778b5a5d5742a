//! Memory budgets for reading compressed files, in bytes.

use std::io;

use crate::model::figures::bytes;

/// Budget for one archive. Nothing in an archive can be read again by its offset, so all of it is
/// held.
pub(crate) const MEMORY: u64 = 400_000_000;
/// The part of it for decoded records, and the longest single text: decoding holds copies of what
/// it reads.
pub(crate) const HELD: u64 = MEMORY / 8 * 5;
pub(crate) const LONGEST: u64 = MEMORY / 8;
/// Budget for a compressed document, of which nothing is decoded before its end.
pub(crate) const DOCUMENT: u64 = MEMORY / 4;

pub(crate) fn exceeded(name: &str) -> io::Error {
    let most = bytes(MEMORY);
    let what = format!(
        "what the {name} archive holds takes more than {most} of memory; the rest is left out"
    );
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}
