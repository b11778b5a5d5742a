//! A page as bytes.

use std::io::Read;

use flate2::read::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use postcard::ser_flavors::Flavor;

use super::Printing;
use crate::model::entry::Entry;
use crate::model::entry::glance::{Glance, Kept};
use crate::model::fingerprint::Print;
use crate::model::text::Name;

/// A page that was packed.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    bytes: Box<[u8]>,
    /// Number of the bytes before they were packed.
    len: usize,
    /// What a glance at its entries tells.
    pub(crate) glances: Box<[Kept]>,
    /// The sub-agents that they belong to; empty if none does.
    pub(crate) lanes: Box<[Option<Name>]>,
    /// Fingerprints of the keys of their parents; empty if none has one.
    pub(crate) parents: Box<[Option<Print>]>,
}

/// How well it packs: less does without codes made for the page, and takes a fifth more room.
const LEVEL: u32 = 2;

/// Packs pages, one after the other, with the same room to work in.
pub struct Packer {
    deflate: Compress,
    plain: Vec<u8>,
    deflated: Vec<u8>,
}

impl Default for Packer {
    fn default() -> Self {
        Self {
            deflate: Compress::new(Compression::new(LEVEL), false),
            plain: Vec::new(),
            deflated: Vec::new(),
        }
    }
}

/// Takes what is written as a whole, where `postcard::to_extend` takes it byte by byte.
struct Room(Vec<u8>);

impl Flavor for Room {
    type Output = Vec<u8>;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

impl Packer {
    /// Packs entries with these parents. `None` if they cannot be packed: a body is in memory.
    pub(super) fn pack(&mut self, entries: &[Entry], parents: Box<[Option<Print>]>) -> Option<Packed> {
        let mut room = std::mem::take(&mut self.plain);
        room.clear();
        self.plain = postcard::serialize_with_flavor(entries, Room(room)).ok()?;
        self.deflated.clear();
        self.deflated.reserve(self.plain.len() + self.plain.len() / 8 + 1_024);
        self.deflate.reset();
        let status =
            self.deflate.compress_vec(&self.plain, &mut self.deflated, FlushCompress::Finish).ok()?;
        (status == Status::StreamEnd).then_some(())?;
        let glances = entries.iter().map(|entry| Kept::from(Glance::of(entry))).collect();
        let has_lanes = entries.iter().any(|entry| entry.lane.is_some());
        let lanes =
            if has_lanes { entries.iter().map(|entry| entry.lane.clone()).collect() } else { Box::default() };
        Some(Packed {
            bytes: self.deflated.as_slice().into(),
            len: self.plain.len(),
            glances,
            lanes,
            parents,
        })
    }
}

/// Fingerprints of the keys of the parents of entries; empty if none has one.
pub(crate) fn parents_of(entries: &[Entry], print: Printing<'_>) -> Box<[Option<Print>]> {
    if entries.iter().all(|entry| entry.parent.is_none()) {
        return Box::default();
    }
    entries.iter().map(|entry| entry.parent.as_ref().map(print)).collect()
}

/// The entries of a page.
#[expect(clippy::expect_used, reason = "the bytes were made here, and stayed in memory")]
pub(crate) fn unpack(packed: &Packed) -> Vec<Entry> {
    let mut plain = Vec::with_capacity(packed.len);
    DeflateDecoder::new(&*packed.bytes).read_to_end(&mut plain).expect("packed bytes");
    postcard::from_bytes(&plain).expect("packed entries")
}
