//! Entries by number, in pages, which are compressed when they are not used.
//!
//! **Unused pages are packed.** A page that was not accessed for a while is a small block of
//! compressed bytes, and is unpacked when one of its entries is read. Facts that are needed of all
//! entries at once are stored beside it (`model::glance`), and keys are stored as fingerprints, so
//! a session of a gigabyte takes a tenth to a fifth of that. Usage is summed by page, so the cost
//! of a branch is known without unpacking its entries.
//!
//! **Records are not decoded again for their entries.** A packed entry takes some 200 bytes, most of
//! it ids, positions and counts, which lists of rows would hold as well; the beginnings of its texts
//! are 60 of them. With only positions in their place a session of a gigabyte took 36 MB less, and
//! each pass over its entries would read the file again.
//!
//! Invariant: packing does not change what can be read. Pages with bodies in memory are not packed,
//! because a body is read from its file and not from here.

mod packing;

use std::sync::OnceLock;

use crate::model::body::{Body, Key};
use crate::model::entry::glance::{Boundary, EntrySummary};
use crate::model::entry::{Block, Entry, EntryId, Marks};
use crate::model::fingerprint::Print;
use crate::model::text::Name;
use packing::{PackedPage, pack, unpack};

/// Entries of a page. Larger pages compress better, smaller ones unpack faster.
const PAGE: usize = 128;
/// Pages at the end that stay unpacked, because their entries still change.
const RECENT: usize = 2;
/// Number of other unpacked pages above which pages are packed.
const OPEN: usize = 8;

/// Makes fingerprints of keys; it must be the same function for all pages of a transcript.
pub(crate) type Printing<'p> = &'p dyn Fn(&Key) -> Print;

/// Entries by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    list: Vec<EntryPage>,
    len: usize,
    /// Pages that stayed unpacked at the last packing, because they hold bodies.
    unpackable: usize,
}

#[derive(Clone, Debug, Default)]
struct EntryPage {
    entries: OnceLock<Vec<Entry>>,
    /// Cached glances at the entries: an entry may have thousands of blocks.
    glances: Vec<OnceLock<EntrySummary>>,
    /// The packed entries; `None` if they changed since.
    packed: Option<PackedPage>,
}

impl Pages {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Entry> {
        self.list.get(number / PAGE)?.entries().get(number % PAGE)
    }

    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut Entry> {
        let page = self.list.get_mut(number / PAGE)?;
        page.open_to_change();
        page.glances.get_mut(number % PAGE).and_then(OnceLock::take);
        page.entries.get_mut()?.get_mut(number % PAGE)
    }

    /// Summary of an entry, without unpacking it.
    pub(crate) fn glance(&self, number: usize) -> Option<EntrySummary> {
        let page = self.list.get(number / PAGE)?;
        match &page.packed {
            Some(packed) => packed.glances.get(number % PAGE).copied(),
            None => page.glance(number % PAGE),
        }
    }

    /// Reads a fact about an entry from the packed page, or from the unpacked entry.
    fn fact<'p, T>(
        &'p self,
        number: usize,
        packed: impl FnOnce(&'p PackedPage, usize) -> Option<T>,
        open: impl FnOnce(&'p Entry) -> T,
    ) -> Option<T> {
        let page = self.list.get(number / PAGE)?;
        match &page.packed {
            Some(page) => packed(page, number % PAGE),
            None => page.entries().get(number % PAGE).map(open),
        }
    }

    /// Marks of an entry, without visiting its blocks.
    pub(crate) fn marks(&self, number: usize) -> Option<Marks> {
        let packed = |page: &PackedPage, at: usize| page.glances.get(at).map(|glance| glance.marks);
        self.fact(number, packed, |entry| entry.marks)
    }

    /// Effect of an entry on the open calls before it.
    pub(crate) fn boundary(&self, number: usize) -> Option<Boundary> {
        let packed = |page: &PackedPage, at: usize| page.glances.get(at).map(Boundary::of_summary);
        self.fact(number, packed, Boundary::of)
    }

    pub(crate) fn blocks(&self, number: usize) -> usize {
        let packed = |page: &PackedPage, at: usize| {
            page.glances
                .get(at)
                .map(|glance| usize::from(glance.blocks))
        };
        self.fact(number, packed, |entry| entry.blocks.len())
            .unwrap_or(0)
    }

    pub(crate) fn lane(&self, number: usize) -> Option<&Name> {
        self.fact(
            number,
            |page, at| Some(page.lanes.get(at)?.as_ref()),
            |entry| entry.lane.as_ref(),
        )?
    }

    /// Fingerprint of the key of an entry's parent, by the function that pages are packed with.
    pub(crate) fn parent(&self, number: usize, print: Printing<'_>) -> Option<Print> {
        self.fact(
            number,
            |page, at| page.parents.get(at).copied(),
            |entry| entry.parent.as_ref().map(print),
        )?
    }

    /// A cursor for one pass over the entries.
    pub(crate) fn cursor(&self) -> Passing<'_> {
        Passing {
            pages: self,
            number: None,
            entries: Vec::new(),
        }
    }

    /// Adds an entry; its number is the previous length.
    pub(crate) fn push(&mut self, entry: Entry) {
        if self.len.is_multiple_of(PAGE) {
            let entries = OnceLock::from(Vec::with_capacity(PAGE));
            self.list.push(EntryPage {
                entries,
                ..EntryPage::default()
            });
        }
        let Some(page) = self.list.last_mut() else {
            return;
        };
        if let Some(entries) = page.entries_mut() {
            entries.push(entry);
            self.len += 1;
        }
        page.glances.push(OnceLock::new());
    }

    /// Entries of unpacked pages with their numbers; packed pages hold no bodies. Callers may
    /// change only contents of bodies, which glances do not depend on.
    pub(crate) fn open_mut(&mut self) -> impl Iterator<Item = (usize, &mut Entry)> {
        let open = self
            .list
            .iter_mut()
            .enumerate()
            .filter(|(_, page)| page.has_bodies());
        open.flat_map(|(number, page)| {
            let entries = page.entries_mut().into_iter().flatten().enumerate();
            entries.map(move |(at, entry)| (number * PAGE + at, entry))
        })
    }

    /// Packs unused pages, if many are unpacked.
    pub(crate) fn tidy(&mut self, print: Printing<'_>) {
        let open = self.list.iter().filter(|page| page.is_open()).count();
        if open > self.unpackable + OPEN + RECENT {
            self.close(self.list.len().saturating_sub(RECENT), print);
        }
    }

    /// Packs all pages that can be packed.
    pub(crate) fn pack(&mut self, print: Printing<'_>) {
        self.close(self.list.len(), print);
    }

    fn close(&mut self, pages: usize, print: Printing<'_>) {
        self.unpackable = 0;
        for page in self.list.iter_mut().take(pages) {
            page.close(print);
            self.unpackable += usize::from(page.is_open());
        }
    }

    /// Number of unpacked pages.
    #[cfg(test)]
    pub(crate) fn open_pages(&self) -> usize {
        self.list.iter().filter(|page| page.is_open()).count()
    }
}

/// A cursor for one pass over the entries, which does not unpack pages in place.
pub struct Passing<'p> {
    pages: &'p Pages,
    /// Number of the page that was unpacked last.
    number: Option<usize>,
    entries: Vec<Entry>,
}

impl Passing<'_> {
    pub(crate) fn get(&mut self, id: EntryId) -> Option<&Entry> {
        let number = id.index();
        let page = self.pages.list.get(number / PAGE)?;
        if let Some(open) = page.entries.get() {
            return open.get(number % PAGE);
        }
        if self.number.replace(number / PAGE) != Some(number / PAGE) {
            self.entries = page.packed.as_ref().map(unpack).unwrap_or_default();
        }
        self.entries.get(number % PAGE)
    }
}

impl EntryPage {
    fn entries(&self) -> &Vec<Entry> {
        self.entries
            .get_or_init(|| self.packed.as_ref().map(unpack).unwrap_or_default())
    }

    fn glance(&self, at: usize) -> Option<EntrySummary> {
        let entry = self.entries().get(at)?;
        Some(
            *self
                .glances
                .get(at)?
                .get_or_init(|| EntrySummary::of(entry)),
        )
    }

    fn is_open(&self) -> bool {
        self.entries.get().is_some()
    }

    fn open_to_change(&mut self) {
        self.entries();
        if let Some(packed) = self.packed.take() {
            let glances = (0..).map_while(|at| packed.glances.get(at));
            self.glances = glances.map(|glance| OnceLock::from(*glance)).collect();
        }
    }

    fn entries_mut(&mut self) -> Option<&mut Vec<Entry>> {
        self.open_to_change();
        self.entries.get_mut()
    }

    fn has_bodies(&self) -> bool {
        self.entries
            .get()
            .is_some_and(|entries| entries.iter().any(|entry| loaded_bytes(&entry.blocks) > 0))
    }

    fn close(&mut self, print: Printing<'_>) {
        let Some(entries) = self.entries.get() else {
            return;
        };
        if self.packed.is_none() {
            if self.has_bodies() {
                return;
            }
            self.packed = pack(entries, print);
        }
        if self.packed.is_some() {
            self.entries.take();
            self.glances = Vec::new();
        }
    }
}

/// Bytes of bodies in memory in these blocks.
pub(crate) fn loaded_bytes(blocks: &[Block]) -> u64 {
    let bodies = blocks.iter().flat_map(|block| block.kind.bodies());
    bodies.map(Body::loaded_bytes).sum()
}

#[cfg(test)]
mod tests;
