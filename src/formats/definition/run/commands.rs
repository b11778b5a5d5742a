//! Work without an id: what was run says which work a record is about, where no other call and no other record has run
//! the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::Name;
use crate::model::tool::work::{About, Update};

/// Calls in the background and the records of their ends, by command.
#[derive(Default)]
pub(super) struct Commands(HashMap<Key, Same>);

#[derive(Default)]
struct Same {
    calls: BTreeSet<Key>,
    /// By the keys of the records, each with its lane.
    records: BTreeMap<Key, (Update, Option<Name>)>,
}

impl Commands {
    /// A call began work with this command.
    pub(super) fn call(&mut self, command: &Key, call: &Key, out: &mut Batch) {
        let same = self.0.entry(command.clone()).or_default();
        if same.calls.insert(call.clone()) {
            same.emit(out);
        }
    }

    /// A record is about work with this command.
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
                    // It takes the place of what was emitted before.
                    update.end = None;
                }
                let about = About::call(call.clone());
                out.update(about, update, lane.clone());
            }
        }
    }
}
