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
    pub(crate) glances: Distinct<EntrySummary>,
    pub(crate) lanes: Distinct<Option<Name>>,
    /// Fingerprints of the keys of the entries' parents.
    pub(crate) parents: Distinct<Option<Print>>,
}

/// A value of each entry of a page. Equal ones are kept once: in most sessions many entries look alike.
#[derive(Clone, Debug)]
pub(crate) struct Distinct<T> {
    values: Box<[T]>,
    /// By entry; a page has fewer than 256.
    numbers: Box<[u8]>,
}

impl<T: Clone + PartialEq> Distinct<T> {
    fn of(all: impl Iterator<Item = T>) -> Self {
        let mut values = Vec::new();
        let numbers = all.map(|value| {
            let known = values.iter().position(|known| *known == value);
            let number = known.unwrap_or_else(|| {
                values.push(value);
                values.len() - 1
            });
            u8::try_from(number).unwrap_or(u8::MAX)
        });
        Self {
            numbers: numbers.collect(),
            values: values.as_slice().into(),
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.values.get(usize::from(*self.numbers.get(at)?))
    }
}

/// Packs entries, fast enough to run between two frames. `None` if a body is in memory, which
/// cannot be packed.
pub(super) fn pack(entries: &[Entry], print: Printing<'_>) -> Option<PackedPage> {
    let plain = postcard::to_extend(entries, Vec::with_capacity(ROOM)).ok()?;
    let parents = entries.iter().map(|entry| entry.parent.as_ref().map(print));
    Some(PackedPage {
        // Copied, because the allocator leaves a block that shrinks by less than half all its room.
        bytes: lz4_flex::block::compress_prepend_size(&plain)
            .as_slice()
            .into(),
        glances: Distinct::of(entries.iter().map(EntrySummary::of)),
        lanes: Distinct::of(entries.iter().map(|entry| entry.lane.clone())),
        parents: Distinct::of(parents),
    })
}

#[expect(
    clippy::expect_used,
    reason = "the bytes were made here, and stayed in memory"
)]
pub(super) fn unpack(packed: &PackedPage) -> Vec<Entry> {
    let plain = lz4_flex::block::decompress_size_prepended(&packed.bytes).expect("packed bytes");
    postcard::from_bytes(&plain).expect("packed entries")
}
