//! Applies usage recorded outside entries, metadata and lanes.

use super::ledger::Aside;
use super::{Touched, Transcript};
use crate::model::body::Key;
use crate::model::edit::MetaEdit;
use crate::model::entry::Entry;
use crate::model::text::Name;
use crate::model::totals::Totals;
use crate::model::usage::Usage;

/// Number of entries at either end that are checked for timestamps.
const ASKED: usize = 64;
/// Divisor: if fewer than one in so many has a timestamp, timestamps are exceptions.
const FEW: usize = 4;

impl Transcript {
    /// Whether the first and the latest entries have timestamps. Most agents record them for all
    /// entries or for none; a few among many are shown only where entries are shown in full.
    pub fn has_times(&self) -> bool {
        let order = self.order();
        let ends = || {
            let ids = order
                .iter()
                .take(ASKED)
                .chain(order.iter().rev().take(ASKED));
            ids.filter_map(|id| self.get(*id))
                .filter(|entry| !entry.is_aside())
        };
        let timed = ends().filter(|entry| entry.at.is_some()).count();
        timed > 0 && timed * FEW >= ends().count()
    }

    pub(super) fn apply_usage(
        &mut self,
        of: Key,
        usage: Usage,
        model: Option<Name>,
        touched: &mut Touched,
    ) {
        if let Some(entry) = self
            .index
            .get(&of)
            .and_then(|id| self.entries.get_mut(id.index()))
        {
            let is_named = entry.model.is_none() && model.is_some();
            let model = entry.model.clone().or(model);
            if entry.usage.as_deref() == Some(&usage) && entry.model == model {
                return;
            }
            self.ledger.remove(entry);
            entry.usage = Some(Box::new(usage));
            entry.model = model;
            self.ledger.add(entry);
            entry.revision += 1;
            if let Some(entry) = is_named.then(|| entry.clone()) {
                self.update_model(&entry);
            }
            touched.changed.extend(self.index.get(&of));
            return;
        }
        let nothing = Usage {
            scope: usage.scope,
            ..Usage::default()
        };
        if !usage.scope.is_of_requests() && usage == nothing {
            touched.meta |= self.ledger.remove_aside(&of).is_some();
            return;
        }
        // If it is sent again with other figures, its position stays.
        let after = self
            .ledger
            .asides
            .get(&of)
            .map_or_else(|| self.order.last_remaining(), |known| known.after);
        self.ledger.add_aside(
            of,
            Aside {
                usage,
                model,
                after,
            },
        );
        touched.meta = true;
    }

    /// Moves usage that was recorded before its entry came into the entry, with the model if the
    /// entry has none. Usage in the entry itself takes precedence.
    pub(super) fn attach_usage(&mut self, entry: &mut Entry, touched: &mut Touched) {
        let Some(before) = self.ledger.remove_aside(&entry.key) else {
            return;
        };
        entry.usage.get_or_insert_with(|| Box::new(before.usage));
        entry.model = entry.model.take().or(before.model);
        touched.meta = true;
    }

    /// Applies a change of the metadata. Returns whether a sub-agent's label or call changed.
    pub(super) fn apply_meta(&mut self, edit: MetaEdit) -> bool {
        match edit {
            MetaEdit::Lane { name, label, call } => return self.lanes.update(&name, label, call),
            MetaEdit::Session {
                name,
                label,
                root,
                duplicate_of: same,
                shares,
            } => {
                let is_known = self.is_main_lane(Some(&name));
                let is_new = self.lanes.mark_session(&name, label, root, (same, shares));
                if !is_known {
                    self.ledger.sessions.push(Totals::default());
                    self.turns.clear();
                }
                return is_new;
            }
            MetaEdit::Helper(name) => return self.lanes.mark_helper(&name),
            MetaEdit::LinkedTree => self.lineage.link_all(),
            MetaEdit::FirstKept { compaction, first } => {
                self.first_kept.insert(compaction, first);
            }
            fact => self.meta.apply(fact),
        }
        false
    }
}
