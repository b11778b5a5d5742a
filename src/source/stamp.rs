//! Distinguishes states of a file, and reads that survive interruptions.

use std::io;
use std::path::Path;

use super::fs::{self, File, Metadata};
use crate::model::timestamp::Timestamp;

/// Which file it is, how long it is, and when it was last written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    /// In bytes.
    pub(crate) len: u64,
    seconds: i64,
    nanoseconds: i64,
    pub(crate) is_file: bool,
}

impl Stamp {
    /// The stamp of the file that a path names, links followed.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|metadata| Self::from(&metadata))
    }

    pub(crate) fn of_file(file: &File) -> io::Result<Self> {
        file.metadata().map(|metadata| Self::from(&metadata))
    }

    /// Whether it is the same file, perhaps in another state.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Device and inode: the same for all names of the file.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// When it was last written, in seconds and ns: orders files, says nothing about the clock.
    pub(crate) fn modified(&self) -> (i64, i64) {
        (self.seconds, self.nanoseconds)
    }

    /// When it was last written, as a point in time.
    pub(crate) fn moment(&self) -> Timestamp {
        Timestamp(
            self.seconds
                .saturating_mul(1_000)
                .saturating_add(self.nanoseconds / 1_000_000),
        )
    }
}

impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        Self {
            device: metadata.device,
            inode: metadata.inode,
            len: metadata.len,
            seconds: metadata.seconds,
            nanoseconds: metadata.nanoseconds,
            is_file: metadata.is_file(),
        }
    }
}

/// Reads at an offset until the buffer is full or the file ends. Returns how many bytes it read.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    fill(|rest, at| file.read_at(rest, at), buffer, at)
}

/// Reads `len` bytes at an offset; fewer if the file ends before.
pub(crate) fn read_range(file: &File, at: u64, len: usize) -> io::Result<Vec<u8>> {
    let left = file.metadata()?.len.saturating_sub(at);
    let mut bytes = vec![0; len.min(usize::try_from(left).unwrap_or(usize::MAX))];
    let read = read_at(file, &mut bytes, at)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Fills a buffer: short reads are continued, interrupted ones retried.
fn fill(
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
    buffer: &mut [u8],
    at: u64,
) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match read(rest, at + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::prelude::{any, prop, proptest};

    use super::fill;

    proptest! {
        #[test]
        fn short_and_interrupted_reads_lose_nothing(
            content in prop::collection::vec(any::<u8>(), 0..200),
            sizes in prop::collection::vec(0usize..9, 1..20),
            at in 0usize..50,
        ) {
            let mut turn = 0;
            let reader = |buffer: &mut [u8], at: u64| {
                let size = sizes[turn % sizes.len()];
                turn += 1;
                if size == 0 && turn % sizes.len() != 0 {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                let rest = content.get(usize::try_from(at).unwrap()..).unwrap_or_default();
                let size = size.max(1).min(buffer.len()).min(rest.len());
                buffer[..size].copy_from_slice(&rest[..size]);
                Ok(size)
            };
            let mut buffer = vec![0; 120];
            let read = fill(reader, &mut buffer, at as u64).unwrap();
            let expected = content.get(at..).unwrap_or_default();
            assert_eq!(&buffer[..read], &expected[..expected.len().min(120)]);
        }
    }
}
