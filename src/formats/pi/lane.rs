//! Makes the edits of a session that another one started those of a lane.
//!
//! Invariant: keys of the two sessions never collide, and facts of the one are not applied to the
//! other.

use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::Entry;
use crate::model::text::{Name, text};
use crate::model::tool::identifies;
use crate::model::tool::work::{Update, WorkReference};

/// The key for an item of a lane, unique within the session.
pub(crate) fn inside(lane: Option<&Name>, key: Key) -> Key {
    match lane {
        Some(lane) if identifies(&key) => text!("{lane}/{key}"),
        Some(_) | None => key,
    }
}

/// Moves the edits from index `from` on to the lane.
pub(crate) fn into_lane(from: usize, lane: &Name, out: &mut Batch) {
    let emitted = out.edits.split_off(from.min(out.edits.len()));
    out.edits
        .extend(emitted.into_iter().filter_map(|edit| of_lane(edit, lane)));
}

fn of_lane(edit: Edit, lane: &Name) -> Option<Edit> {
    let own = |key: Key| text!("{lane}/{key}");
    let call_key = |key: Key| inside(Some(lane), key);
    Some(match edit {
        Edit::Entry(entry) => {
            let Entry { key, parent, .. } = *entry;
            let mut entry = Entry {
                key: own(key),
                parent: parent.map(own),
                lane: Some(lane.clone()),
                ..*entry
            };
            for call in entry.calls_mut() {
                call.key = call_key(call.key.clone());
            }
            Edit::Entry(Box::new(entry))
        }
        Edit::Result {
            call, mut result, ..
        } => {
            result.key = own(result.key);
            Edit::Result {
                call: call_key(call),
                result,
                lane: Some(lane.clone()),
            }
        }
        Edit::State { call, state } => Edit::State {
            call: call_key(call),
            state,
        },
        Edit::Update { about, update, .. } => Edit::Update {
            about: WorkReference {
                call: about.call.map(call_key),
                ..about
            },
            update: Update {
                by: own(update.by),
                ..update
            },
            lane: Some(lane.clone()),
        },
        Edit::Usage { of, usage, model } => Edit::Usage {
            of: own(of),
            usage,
            model,
        },
        Edit::Meta(MetaEdit::Lane { name, label, call }) => Edit::Meta(MetaEdit::Lane {
            name,
            label,
            call: call.map(call_key),
        }),
        Edit::Meta(MetaEdit::Helper(name)) => Edit::Meta(MetaEdit::Helper(name)),
        Edit::Retire(key) => Edit::Retire(own(key)),
        Edit::RetirePiece { of, piece } => Edit::RetirePiece { of: own(of), piece },
        Edit::CopiedWith(key) => Edit::CopiedWith(own(key)),
        Edit::Complete { of, usage } => Edit::Complete { of: own(of), usage },
        Edit::Copied { before, .. } => Edit::Copied {
            lane: Some(lane.clone()),
            before,
        },
        // A lane is not a branch, and the session keeps its own facts.
        Edit::Link { .. } | Edit::Meta(_) => return None,
    })
}
