//! A page as bytes.

use super::Printing;
use crate::model::entry::Entry;
use crate::model::entry::glance::Glance;
use crate::model::fingerprint::Print;
use crate::model::text::Name;

/// More than most pages take before they are packed.
const ROOM: usize = 64 << 10;

/// A page that was packed.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    bytes: Box<[u8]>,
    /// Number of the bytes before they were packed.
    len: usize,
    /// What a glance at its entries tells.
    pub(crate) glances: Box<[Glance]>,
    /// The sub-agents that they belong to; empty if none does.
    pub(crate) lanes: Box<[Option<Name>]>,
    /// Fingerprints of the keys of their parents; empty if none has one.
    pub(crate) parents: Box<[Option<Print>]>,
}

/// Packs entries, fast enough to be done between two frames. `None` if they cannot be packed: a body is in memory.
pub(super) fn pack(entries: &[Entry], print: Printing<'_>) -> Option<Packed> {
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
    Some(Packed {
        bytes: lz4_flex::block::compress(&plain).into(),
        len: plain.len(),
        glances: entries.iter().map(Glance::of).collect(),
        lanes: lanes.collect(),
        parents: parents.collect(),
    })
}

/// The entries of a page.
#[expect(
    clippy::expect_used,
    reason = "the bytes were made here, and stayed in memory"
)]
pub(super) fn unpack(packed: &Packed) -> Vec<Entry> {
    let plain = lz4_flex::block::decompress(&packed.bytes, packed.len).expect("packed bytes");
    postcard::from_bytes(&plain).expect("packed entries")
}
