//! Packs a page of entries into compressed bytes.

use super::Printing;
use crate::model::entry::Entry;
use crate::model::entry::glance::EntrySummary;
use crate::model::fingerprint::Print;
use crate::model::text::Name;

/// Initial capacity in bytes: most pages need less before compression.
const ROOM: usize = 64 << 10;

#[derive(Clone, Debug)]
pub(crate) struct PackedPage {
    bytes: Box<[u8]>,
    /// Length of the bytes before compression.
    len: usize,
    pub(crate) glances: Box<[EntrySummary]>,
    /// Lanes of its entries; empty if all are of the main lane.
    pub(crate) lanes: Box<[Option<Name>]>,
    /// Fingerprints of the keys of the entries' parents; empty if none has a parent.
    pub(crate) parents: Box<[Option<Print>]>,
}

/// Packs entries, fast enough to run between two frames. `None` if a body is in memory, which
/// cannot be packed.
pub(super) fn pack(entries: &[Entry], print: Printing<'_>) -> Option<PackedPage> {
    let plain = postcard::to_extend(entries, Vec::with_capacity(ROOM)).ok()?;
    let has_lanes = entries.iter().any(|entry| entry.lane.is_some());
    let has_parents = entries.iter().any(|entry| entry.parent.is_some());
    let lanes = entries
        .iter()
        .filter(|_| has_lanes)
        .map(|entry| entry.lane.clone());
    let parents = entries
        .iter()
        .filter(|_| has_parents)
        .map(|entry| entry.parent.as_ref().map(print));
    Some(PackedPage {
        // Copied, because the allocator leaves a block that shrinks by less than half all its room.
        bytes: lz4_flex::block::compress(&plain).as_slice().into(),
        len: plain.len(),
        glances: entries.iter().map(EntrySummary::of).collect(),
        lanes: lanes.collect(),
        parents: parents.collect(),
    })
}

#[expect(
    clippy::expect_used,
    reason = "the bytes were made here, and stayed in memory"
)]
pub(super) fn unpack(packed: &PackedPage) -> Vec<Entry> {
    let plain = lz4_flex::block::decompress(&packed.bytes, packed.len).expect("packed bytes");
    postcard::from_bytes(&plain).expect("packed entries")
}
