//! Merges a typed command and the line after it with its output into one entry.

use super::line::TranscriptLine;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, Entry, Marks, Role};
use crate::model::tally::Fate;
use crate::model::text::Name;

/// A command whose output may follow.
#[derive(Debug)]
pub(crate) struct PendingCommand {
    key: Key,
    /// The expected parent of the output: the line of the command, or the last one in between.
    last: Key,
    lane: Option<Name>,
    role: Role,
    marks: Marks,
}

impl PendingCommand {
    /// The command of an entry that is about to be emitted.
    pub(crate) fn of(entry: &Entry) -> Self {
        let key = entry.key.clone();
        Self {
            last: key.clone(),
            key,
            lane: entry.lane.clone(),
            role: entry.role,
            marks: entry.marks,
        }
    }

    /// Skips lines that are not messages between a command and its output: attachments, or unknown
    /// types.
    pub(crate) fn skip(&mut self, line: &TranscriptLine<'_>) {
        let is_message = matches!(line.kind(), "user" | "assistant");
        if line.has_uuid
            && !is_message
            && self.lane == line.lane
            && line.parent.as_ref() == Some(&self.last)
        {
            self.last = line.id.clone();
        }
    }
}

/// Adds output to the preceding command. Returns the blocks as the error if there is none.
pub(crate) fn add_output(
    line: &TranscriptLine<'_>,
    blocks: Vec<Block>,
    command: Option<PendingCommand>,
    out: &mut Batch,
) -> Result<Fate, Vec<Block>> {
    let follows = |command: &PendingCommand| {
        command.lane == line.lane
            && line
                .parent
                .as_ref()
                .is_none_or(|parent| *parent == command.last)
    };
    let Some(command) = command.filter(follows) else {
        return Err(blocks);
    };
    let mut entry = line.entry(command.key, command.role, out);
    entry.parent = None;
    entry.marks = command.marks;
    entry.blocks = blocks;
    out.entry(entry);
    Ok(Fate::Merged)
}
