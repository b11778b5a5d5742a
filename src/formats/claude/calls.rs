//! Calls that wait for their results. An interruption says of them that nothing will come.

use std::collections::HashMap;

use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::fingerprint::Seen;
use crate::model::text::{Name, Text};
use crate::model::tool::ToolState;

/// Calls of all lanes.
#[derive(Debug, Default)]
pub struct Calls {
    known: Seen<()>,
    open: HashMap<Option<Name>, Vec<Key>>,
}

impl Calls {
    /// The model asks for a tool.
    pub(crate) fn begin(&mut self, lane: Option<&Name>, call: &Key) {
        if self.known.insert(call, ()).is_none() {
            self.open.entry(lane.cloned()).or_default().push(call.clone());
        }
    }

    /// A call has its result.
    pub(crate) fn end(&mut self, lane: Option<&Name>, call: &Key) {
        if let Some(open) = self.open.get_mut(&lane.cloned()) {
            open.retain(|other| other != call);
        }
    }

    /// Whether a call is in the session.
    pub(crate) fn knows(&self, call: &str) -> bool {
        self.known.contains(call)
    }

    /// What a lane waits for will not come.
    pub(crate) fn lose(&mut self, lane: Option<&Name>, out: &mut Batch) {
        for call in self.open.remove(&lane.cloned()).unwrap_or_default() {
            out.push(Edit::State { call, state: ToolState::Lost });
        }
    }

    /// A lane waits for nothing more, though nobody says that its calls were given up.
    pub(crate) fn forget(&mut self, lane: Option<&Name>) {
        self.open.remove(&lane.cloned());
    }

    /// A call was given up, if it is in the session.
    pub(crate) fn give_up(&self, call: &str, out: &mut Batch) {
        if self.knows(call) {
            out.push(Edit::State { call: Text::clean(call), state: ToolState::Lost });
        }
    }
}
