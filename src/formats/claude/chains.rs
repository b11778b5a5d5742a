//! Sub-agents before they had files of their own and ids (up to 1.0): each is a chain of lines in the session's file
//! that begins anew, with the prompt of the call that started it. Chains of calls that run at once are interleaved.

use std::collections::{HashMap, VecDeque};

use super::line::{Line, SIDECHAIN};
use crate::formats::anthropic;
use crate::model::body::Key;
use crate::model::entry::Piece;
use crate::model::text::{Name, Text};

/// Characters of the id of its first line by which a chain is known.
const ID_CHARS: usize = 8;

/// The chains so far.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    /// By the ids of their lines.
    of_line: HashMap<Key, Name>,
    /// The one that was written to last.
    last: Option<Name>,
    /// Calls whose sub-agents have said nothing yet, by their prompts; of equal ones the first comes first.
    prompts: HashMap<Piece, VecDeque<Key>>,
}

impl Chains {
    /// A call asks a sub-agent for something.
    pub(crate) fn delegate(&mut self, prompt: &str, call: &Key) {
        if !prompt.trim().is_empty() {
            self.prompts
                .entry(Piece::of(prompt.trim()))
                .or_default()
                .push_back(call.clone());
        }
    }

    /// The lane of a line that names no sub-agent. One whose chain is not known keeps the name that all of them have; what
    /// is no link of a chain begins none.
    pub(crate) fn lane_of(&mut self, line: &Line<'_>) -> Option<Name> {
        let lane = if let Some(parent) = &line.parent {
            self.of_line
                .get(parent)
                .cloned()
                .unwrap_or_else(|| Text::clean(SIDECHAIN))
        } else if line.has_uuid {
            let id: String = line.id.chars().take(ID_CHARS).collect();
            Text::clean(&format!("{SIDECHAIN}-{id}"))
        } else {
            return self.last.clone();
        };
        if line.has_uuid {
            self.of_line.insert(line.id.clone(), lane.clone());
        }
        self.last = Some(lane.clone());
        Some(lane)
    }

    /// The call that a line answers with which a chain begins.
    pub(crate) fn caller(&mut self, line: &Line<'_>) -> Option<Key> {
        if line.parent.is_some() {
            return None;
        }
        let prompt = anthropic::output_text(line.json.at(&["message", "content"]));
        self.prompts.get_mut(&Piece::of(prompt.trim()))?.pop_front()
    }
}
