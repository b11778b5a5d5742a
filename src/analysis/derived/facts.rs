//! Facts of entries: rows of a fixed size, in pages of a fixed number of entries.
//!
//! Pages are filled once and rarely change, so clones of all facts share them, and full pages have
//! no spare capacity.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// Entries per page.
const PAGE: usize = 128;

/// Rows by entry id.
#[derive(Clone, Debug)]
pub struct Facts<R> {
    pages: Vec<Arc<FactsPage<R>>>,
    /// Number of entries added.
    len: usize,
    names: Arc<Names>,
}

/// The rows of the entries of a page.
#[derive(Clone, Debug)]
struct FactsPage<R> {
    rows: Vec<R>,
    /// End index of the rows of each entry.
    ends: Vec<u32>,
}

/// Interned names and paths.
#[derive(Clone, Debug, Default)]
struct Names {
    list: Vec<Name>,
    numbers: HashMap<Name, u32>,
}

/// Collects the rows of an entry.
#[derive(Debug)]
pub struct Out<'n, R> {
    rows: Vec<R>,
    names: &'n mut Arc<Names>,
}

impl<R> Default for Facts<R> {
    fn default() -> Self {
        Self {
            pages: Vec::new(),
            len: 0,
            names: Arc::default(),
        }
    }
}

/// Compares the rows of each entry; an entry that was not added has none.
impl<R: PartialEq> PartialEq for Facts<R> {
    fn eq(&self, other: &Self) -> bool {
        let pages = self.pages.len().max(other.pages.len());
        let are_same = |number: usize| match (self.pages.get(number), other.pages.get(number)) {
            (Some(page), Some(other)) => {
                Arc::ptr_eq(page, other) || (0..PAGE).all(|at| page.rows(at) == other.rows(at))
            }
            (page, other) => page.or(other).is_none_or(|page| page.rows.is_empty()),
        };
        (0..pages).all(are_same)
    }
}

impl<R> Out<'_, R> {
    pub(crate) fn push(&mut self, row: R) {
        self.rows.push(row);
    }

    /// The row that was added last.
    pub(crate) fn last_mut(&mut self) -> Option<&mut R> {
        self.rows.last_mut()
    }

    /// The number of a name or a path, equal for equal names.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.names.numbers.get(name) {
            return *number;
        }
        // Looks up the cleaned name, which may be interned already.
        let (name, number) = (
            Name::from(name),
            u32::try_from(self.names.list.len()).unwrap_or(u32::MAX),
        );
        if let Some(number) = self.names.numbers.get(&name) {
            return *number;
        }
        let names = Arc::make_mut(self.names);
        names.list.push(name.clone());
        names.numbers.insert(name, number);
        number
    }
}

impl Names {
    fn of(&self, number: u32) -> Option<&Name> {
        self.list.get(usize::try_from(number).ok()?)
    }
}

impl<R> FactsPage<R> {
    fn rows(&self, at: usize) -> &[R] {
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        self.rows
            .get(at.checked_sub(1).map_or(0, end)..end(at))
            .unwrap_or_default()
    }
}

impl<R: Clone + PartialEq> Facts<R> {
    /// The number of entries added.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds the next entry. Returns whether it has rows.
    pub(super) fn add(&mut self, read: impl FnOnce(&[R], &mut Out<'_, R>)) -> bool {
        let mut out = Out {
            rows: Vec::new(),
            names: &mut self.names,
        };
        read(&[], &mut out);
        let rows = out.rows;
        if self.len.is_multiple_of(PAGE) {
            // The page before is full. Its rows are copied, because the allocator leaves a block that
            // shrinks by less than half all its room.
            if let Some(page) = self.pages.last_mut().map(Arc::make_mut) {
                page.rows = page.rows.clone();
            }
            self.pages.push(Arc::new(FactsPage {
                rows: Vec::new(),
                ends: Vec::with_capacity(PAGE),
            }));
        }
        self.len += 1;
        let has_rows = !rows.is_empty();
        if let Some(page) = self.pages.last_mut().map(Arc::make_mut) {
            page.rows.extend(rows);
            page.ends
                .push(u32::try_from(page.rows.len()).unwrap_or(u32::MAX));
        }
        has_rows
    }

    /// Extracts the rows of an entry again, if it was added before. Returns whether they have
    /// changed.
    pub(super) fn change(&mut self, id: EntryId, read: impl FnOnce(&[R], &mut Out<'_, R>)) -> bool {
        let (at, Some(page)) = (id.index() % PAGE, self.pages.get_mut(id.index() / PAGE)) else {
            return false;
        };
        if at >= page.ends.len() {
            return false;
        }
        let mut out = Out {
            rows: Vec::new(),
            names: &mut self.names,
        };
        let before = page.rows(at);
        read(before, &mut out);
        let rows = out.rows;
        if before == rows {
            return false;
        }
        let (known, count) = (before.len(), rows.len());
        let page = Arc::make_mut(page);
        let end = page.ends.get(at).map_or(0, |end| *end as usize);
        page.rows.splice(end - known..end, rows);
        for end in page.ends.iter_mut().skip(at) {
            *end = u32::try_from(*end as usize - known + count).unwrap_or(u32::MAX);
        }
        true
    }
}

impl<R> Facts<R> {
    /// The rows of an entry; empty if it was not added yet.
    pub(crate) fn get(&self, id: EntryId) -> &[R] {
        self.pages
            .get(id.index() / PAGE)
            .map(|page| page.rows(id.index() % PAGE))
            .unwrap_or_default()
    }

    /// The rows of entries in the order of the session, each with the position of the entry.
    pub(crate) fn in_order(
        &self,
        transcript: &Transcript,
    ) -> impl Iterator<Item = (usize, EntryId, &[R])> {
        let order = transcript.order().iter().enumerate();
        order
            .take_while(|(_, id)| id.index() < self.len)
            .map(|(place, id)| (place, *id, self.get(*id)))
    }

    pub(crate) fn name(&self, number: u32) -> Name {
        self.names.of(number).cloned().unwrap_or_default()
    }
}
