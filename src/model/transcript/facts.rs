//! Usage that is told beside entries, facts about the session, and its lanes.

use super::{Touched, Transcript};
use crate::model::body::Key;
use crate::model::edit::MetaEdit;
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::usage::Usage;

/// Usage that no entry carries: of a whole run, of a tool that asked a model, of messages that are gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Aside {
    /// What was spent.
    pub usage: Usage,
    /// On which model.
    pub(crate) model: Option<Name>,
    /// The last entry that was told before it.
    pub after: Option<EntryId>,
}

impl Transcript {
    pub(super) fn apply_usage(&mut self, of: Key, usage: Usage, model: Option<Name>, touched: &mut Touched) {
        self.retell_usage(&of);
        if let Some(entry) = self.index.get(&of).and_then(|id| self.entries.get_mut(id.index())) {
            if entry.usage.as_deref() == Some(&usage) {
                return;
            }
            if let Some(old) = entry.usage.replace(Box::new(usage.clone())) {
                self.totals.remove(&old, entry.model.as_ref());
            }
            self.totals.add(&usage, entry.model.as_ref());
            entry.revision += 1;
            touched.changed.extend(self.index.get(&of));
            return;
        }
        self.totals.add(&usage, model.as_ref());
        let last = match &self.retelling {
            Some(told) => told.last(),
            None => self.order.iter().rev().find(|id| !self.retired.contains(id)).copied(),
        };
        // Told again with other figures, it stays where it was told first.
        let known = self.beside.get(&of).filter(|_| self.retelling.is_none());
        let after = known.map_or(last, |known| known.after);
        if let Some(old) = self.beside.insert(of, Aside { usage, model, after }) {
            self.totals.remove(&old.usage, old.model.as_ref());
        }
        touched.meta = true;
    }

    /// What was recorded of an entry before it came is that entry's. What it says itself is newer.
    pub(super) fn adopt_usage(&mut self, entry: &mut Entry, touched: &mut Touched) {
        let Some(before) = self.beside.remove(&entry.key) else { return };
        self.totals.remove(&before.usage, before.model.as_ref());
        entry.usage.get_or_insert_with(|| Box::new(before.usage));
        touched.meta = true;
    }

    /// Answers whether a sub-agent is another one now, or belongs elsewhere.
    pub(super) fn apply_meta(&mut self, edit: MetaEdit) -> bool {
        match edit {
            MetaEdit::Lane { name, label, call } => return self.lanes.tell(&name, label, call),
            MetaEdit::Helper(name) => return self.lanes.tell_helper(&name),
            MetaEdit::LinkedTree => {
                self.branches_are_stale |= !self.is_linked_tree;
                self.is_linked_tree = true;
            }
            MetaEdit::Kept { compaction, first } => {
                self.kept.insert(compaction, first);
            }
            fact => self.meta.take(fact),
        }
        false
    }
}
