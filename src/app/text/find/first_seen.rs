//! Where the model first saw a text, and by which route the text came to it.

use super::{Edge, PendingHit};
use crate::analysis::calls::Place;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::model::entry::{BlockKind, EntryId, Role};
use crate::model::tool::ToolKind;
use crate::model::transcript::Transcript;

/// Length of a quoted call, in characters.
const QUOTED: usize = 30;

/// Goes to the first place of the searched text, and says how it came there.
pub(super) fn arrive(text: &mut TextPane, scene: &mut Scene<'_>, hit: Place, from: Option<Place>) {
    let Some(search) = &text.find.search else {
        return;
    };
    let transcript = &scene.session.transcript;
    let account = &scene.session.indexes.account;
    let route = route(transcript, hit, search.first_piece(hit)).unwrap_or_default();
    let turn = account.turn_of(transcript, hit.entry);
    let turn = turn.map(|turn| format!(" at turn {}", turn + 1));
    let way = from.map(|from| distance(transcript, hit.entry, from.entry));
    let words = format!(
        "`{}` first {route}{}{}",
        search.typed,
        turn.unwrap_or_default(),
        way.unwrap_or_default()
    );
    if !text.find.shows(hit) {
        return scene.set_status(format!("{words}; the filter hides it"));
    }
    text.find.sought = Some(PendingHit {
        block: Some((hit, Edge::First)),
        steps: 0,
    });
    scene.set_status(words);
}

/// Entries between two, of the agent of the second: `, 14 entries before`.
fn distance(transcript: &Transcript, first: EntryId, from: EntryId) -> String {
    let places = [first, from].map(|id| transcript.place_of(id).unwrap_or(0));
    let [first, from_place] = places;
    let between = first.min(from_place)..first.max(from_place);
    let lane = transcript.lane_at(from);
    let between = transcript.order().get(between).unwrap_or_default().iter();
    let entries = between
        .filter(|id| transcript.lane_at(**id) == lane)
        .count();
    let entries = match entries {
        0 => return ", here".to_owned(),
        1 => "1 entry".to_owned(),
        several => format!("{several} entries"),
    };
    let side = if first < from_place {
        "before"
    } else {
        "after"
    };
    format!(", {entries} {side}")
}

/// How a text came to the model, by the block and the piece of the block that has it first.
fn route(transcript: &Transcript, hit: Place, piece: Option<usize>) -> Option<String> {
    let entry = transcript.get(hit.entry)?;
    let is_main = transcript.is_main_lane(entry.lane.as_ref());
    Some(match (&entry.blocks.get(hit.block)?.kind, entry.role) {
        (BlockKind::Call(call), _) => {
            let about = call.about(transcript.meta().root.as_deref());
            let what: String = format!("{} {about}", call.shown_name())
                .chars()
                .take(QUOTED)
                .collect();
            let what = what.trim();
            // The input of a call is its first piece.
            match (piece, call.kind) {
                (None | Some(0), _) => format!("written by the model, in its call `{what}`"),
                (_, ToolKind::Delegate) => "seen in the answer of a sub-agent".to_owned(),
                (_, ToolKind::Read) => format!("seen in the file that `{what}` read"),
                _ => format!("seen in the result of `{what}`"),
            }
        }
        (BlockKind::Result(_), _) => "seen in a result without its call".to_owned(),
        (BlockKind::Thinking(_), _) => "written by the model, in its thinking".to_owned(),
        (_, Role::Assistant) => "written by the model, in its answer".to_owned(),
        (_, Role::User) if entry.marks.prompt && is_main => "seen in your prompt".to_owned(),
        (_, Role::User) if entry.marks.prompt => "seen in what the sub-agent was asked".to_owned(),
        (_, Role::System) => "seen in the system prompt".to_owned(),
        (_, Role::User | Role::Harness) => "seen in what the agent program added".to_owned(),
    })
}
