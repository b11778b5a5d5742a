//! Whether a file still holds the text that was read from it.

use std::io;

use crate::source::fs::File;
use crate::source::read::read_range;

/// Bytes of the beginning that must stay the same.
const HEAD: usize = 1024;
/// Bytes before the read offset that must stay the same.
const MARK: usize = 256;

/// The first bytes of a text, and those just before the read offset.
#[derive(Debug, Default)]
pub(super) struct FollowIdentity {
    head: Vec<u8>,
    mark: Vec<u8>,
}

impl FollowIdentity {
    /// The identity of a file of which only the beginning was read.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self {
            head: read_range(file, 0, HEAD)?,
            mark: Vec::new(),
        })
    }

    /// Records bytes that were read at an offset.
    pub(super) fn record(&mut self, bytes: &[u8], at: u64) {
        if at == self.head.len() as u64 {
            let wanting = HEAD.saturating_sub(self.head.len()).min(bytes.len());
            self.head
                .extend_from_slice(bytes.get(..wanting).unwrap_or_default());
        }
        self.mark.extend_from_slice(
            bytes
                .get(bytes.len().saturating_sub(MARK)..)
                .unwrap_or_default(),
        );
        self.mark.drain(..self.mark.len().saturating_sub(MARK));
    }

    /// Whether a file still holds the text that was read up to `read_to`.
    pub(super) fn is_of(&self, file: &File, read_to: u64) -> io::Result<bool> {
        let mark_at = read_to.saturating_sub(self.mark.len() as u64);
        Ok(read_range(file, 0, self.head.len())? == self.head
            && read_range(file, mark_at, self.mark.len())? == self.mark)
    }
}
