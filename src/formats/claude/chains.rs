//! Sub-agents of versions up to 1.0, without files and ids of their own: each is a chain of lines
//! in the session's file that begins without a parent, with the prompt of the call that started it.
//! Chains of concurrent calls are interleaved.

use std::collections::{HashMap, VecDeque};

use super::line::{SIDECHAIN, TranscriptLine};
use crate::formats::anthropic;
use crate::model::body::Key;
use crate::model::entry::Piece;
use crate::model::text::{Name, Text, text};

/// Number of characters of the first line's id that name a chain.
const ID_CHARS: usize = 8;

/// The chains so far.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    /// Lanes by the ids of their lines.
    of_line: HashMap<Key, Name>,
    /// The lane of the last line.
    last: Option<Name>,
    /// Calls whose sub-agents have no lines yet, by prompt; in order for equal prompts.
    prompts: HashMap<Piece, VecDeque<Key>>,
}

impl Chains {
    /// Adds a call that starts a sub-agent with this prompt.
    pub(crate) fn delegate(&mut self, prompt: &str, call: &Key) {
        if !prompt.trim().is_empty() {
            self.prompts
                .entry(Piece::of(prompt.trim()))
                .or_default()
                .push_back(call.clone());
        }
    }

    /// The lane of a line that names no sub-agent. A line of an unknown chain is on the common lane
    /// `SIDECHAIN`; a line without a `uuid` begins no chain.
    pub(crate) fn lane_of(&mut self, line: &TranscriptLine<'_>) -> Option<Name> {
        let lane = if let Some(parent) = &line.parent {
            self.of_line
                .get(parent)
                .cloned()
                .unwrap_or_else(|| Text::clean(SIDECHAIN))
        } else if line.has_uuid {
            let id: String = line.id.chars().take(ID_CHARS).collect();
            text!("{SIDECHAIN}-{id}")
        } else {
            return self.last.clone();
        };
        if line.has_uuid {
            self.of_line.insert(line.id.clone(), lane.clone());
        }
        self.last = Some(lane.clone());
        Some(lane)
    }

    /// Takes the call whose prompt is the first line of a chain.
    pub(crate) fn caller(&mut self, line: &TranscriptLine<'_>) -> Option<Key> {
        if line.parent.is_some() {
            return None;
        }
        let prompt = anthropic::output_text(line.json.at("message.content"));
        self.prompts.get_mut(&Piece::of(prompt.trim()))?.pop_front()
    }
}
