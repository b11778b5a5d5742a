//! Pages that are packed by somebody else: on another thread, while more entries come.
//!
//! Invariant: a page that was looked at or changed meanwhile is as if it had not been given out.

use std::sync::Arc;

use super::packing::{Packed, Packer, parents_of};
use super::{Page, Pages, Printing, RECENT};
use crate::model::entry::Entry;
use crate::model::fingerprint::Print;

/// Pages that may be given out at a time. Who packs them is too slow otherwise.
pub(super) const GIVEN: usize = 32;
/// Pages that are packed at once here in that case: more than come meanwhile, and few enough not to be noticed.
pub(super) const A_FEW: usize = 2;

/// A page that is to be packed.
#[derive(Clone, Debug)]
pub struct ToPack {
    number: usize,
    entries: Arc<Vec<Entry>>,
    parents: Box<[Option<Print>]>,
}

/// A page that was packed.
#[derive(Clone, Debug)]
pub struct WasPacked {
    number: usize,
    /// What it was packed of. Who packed it lets go of it last, and so has the work of freeing it.
    pub(crate) entries: Arc<Vec<Entry>>,
    packed: Option<Packed>,
}

impl ToPack {
    /// Packs it.
    pub fn pack(self, packer: &mut Packer) -> WasPacked {
        let packed = packer.pack(&self.entries, self.parents);
        WasPacked { number: self.number, entries: self.entries, packed }
    }
}

impl Pages {
    /// As [`Pages::tidy`], but gives out what is to be packed.
    pub(crate) fn hand_out(&mut self, print: Printing<'_>) -> Vec<ToPack> {
        if !self.has_many_open() {
            return Vec::new();
        }
        let pages = self.list.len().saturating_sub(RECENT);
        // What was only looked at needs nobody to pack it.
        let unchanged = self.list.iter_mut().take(pages).filter(|page| page.packed.is_some());
        unchanged.for_each(|page| drop(page.entries.take()));
        if self.list.iter().filter(|page| page.is_given).count() > GIVEN {
            let mut packer = Packer::default();
            let own = self.list.iter_mut().take(pages).filter(|page| page.waits() && !page.holds_bodies());
            own.take(A_FEW).for_each(|page| page.close(&mut packer, print));
            return Vec::new();
        }
        let closable = self.list.iter_mut().enumerate().take(pages);
        let given = closable.filter_map(|(number, page)| page.give(number, print)).collect();
        self.held = self.list.iter().take(pages).filter(|page| page.waits()).count();
        given
    }

    /// Takes a page that was packed. Gives it back if it is none of these, or another one by now.
    pub(crate) fn take_back(&mut self, page: WasPacked) -> Option<WasPacked> {
        let is_same = |place: &&mut Page| {
            place.entries.get().is_some_and(|entries| Arc::ptr_eq(entries, &page.entries))
        };
        let Some(place) = self.list.get_mut(page.number).filter(is_same) else { return Some(page) };
        if page.packed.is_some() {
            place.packed = page.packed;
            place.is_given = false;
            place.entries.take();
            place.glances = Vec::new();
        }
        None
    }
}

impl Page {
    fn give(&mut self, number: usize, print: Printing<'_>) -> Option<ToPack> {
        if self.is_given || self.holds_bodies() {
            return None;
        }
        let entries = Arc::clone(self.entries.get()?);
        self.is_given = true;
        let parents = parents_of(&entries, print);
        Some(ToPack { number, entries, parents })
    }
}
