//! A page as bytes.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use crate::model::entry::Entry;
use crate::model::glance::Glance;
use crate::model::text::Name;

/// A page that was packed.
#[derive(Clone, Debug)]
pub struct Packed {
    bytes: Box<[u8]>,
    /// Number of the bytes before they were packed.
    len: usize,
    /// What a glance at its entries tells.
    pub glances: Box<[Glance]>,
    /// The sub-agents that they belong to; empty if none does.
    pub lanes: Box<[Option<Name>]>,
}

/// Packs entries. `None` if they cannot be packed: a body is in memory.
pub fn pack(entries: &[Entry]) -> Option<Packed> {
    let plain = postcard::to_stdvec(entries).ok()?;
    let mut deflated = DeflateEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    deflated.write_all(&plain).ok()?;
    let bytes = deflated.finish().ok()?.into_boxed_slice();
    let glances = entries.iter().map(Glance::of).collect();
    let has_lanes = entries.iter().any(|entry| entry.lane.is_some());
    let lanes =
        if has_lanes { entries.iter().map(|entry| entry.lane.clone()).collect() } else { Box::default() };
    Some(Packed { bytes, len: plain.len(), glances, lanes })
}

/// The entries of a page.
#[expect(clippy::expect_used, reason = "the bytes were made here, and stayed in memory")]
pub fn unpack(packed: &Packed) -> Vec<Entry> {
    let mut plain = Vec::with_capacity(packed.len);
    DeflateDecoder::new(&*packed.bytes).read_to_end(&mut plain).expect("packed bytes");
    postcard::from_bytes(&plain).expect("packed entries")
}
