//! Joins the ends of background work with its calls by command, for work without ids. A command
//! that several calls or several records have is ambiguous and joins nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::Name;
use crate::model::tool::work::{Update, WorkReference};

/// Background calls and the records about their work, by command.
#[derive(Default)]
pub(super) struct BackgroundCommands(HashMap<Key, Same>);

#[derive(Default)]
struct Same {
    calls: BTreeSet<Key>,
    /// Updates by the key of their record, each with its lane.
    records: BTreeMap<Key, (Update, Option<Name>)>,
}

impl BackgroundCommands {
    /// Adds a call that started work with this command.
    pub(super) fn call(&mut self, command: &Key, call: &Key, out: &mut Batch) {
        let same = self.0.entry(command.clone()).or_default();
        if same.calls.insert(call.clone()) {
            same.emit(out);
        }
    }

    /// Adds a record about work with this command.
    pub(super) fn record(
        &mut self,
        command: &Key,
        update: Update,
        lane: Option<Name>,
        out: &mut Batch,
    ) {
        let same = self.0.entry(command.clone()).or_default();
        same.records.insert(update.by.clone(), (update, lane));
        same.emit(out);
    }
}

impl Same {
    fn emit(&self, out: &mut Batch) {
        let is_alone = self.calls.len() == 1 && self.records.len() == 1;
        for call in &self.calls {
            for (update, lane) in self.records.values() {
                let mut update = update.clone();
                if !is_alone {
                    // This replaces the end that was emitted before the command became ambiguous.
                    update.end = None;
                }
                let about = WorkReference::call(call.clone());
                out.update(about, update, lane.clone());
            }
        }
    }
}
