//! Forks: sub-agents that inherit the history of their parent. The file of a fork refers to that
//! history, repeats the answer that started the fork, and continues with the fork's instructions.

use std::collections::HashMap;

use super::{SubAgents, Trust};
use crate::formats::anthropic::block_type;
use crate::formats::claude::line::TranscriptLine;
use crate::formats::claude::voice::{FORK, opens};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Break};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};

/// Forks and calls of forks that are not matched yet, by the last record of the inherited history.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    calls: Vec<(Vec<Key>, Key)>,
    waiting: Vec<(Key, Name)>,
    /// The last answer of each lane, and the record before it.
    answers: HashMap<Option<Name>, (Key, Option<Key>)>,
    /// Count and bytes of the records that made entries so far, in the file of a sub-agent that was
    /// opened.
    begun: (u64, u64),
}

impl Forks {
    /// Counts a record that made entries; `from` is the index of its first edit. Records with
    /// content of unknown kinds are not counted: they stay shown even if they prove to be copies.
    pub(crate) fn count(&mut self, from: usize, out: &Batch) {
        let made = out.edits.iter().skip(from).filter_map(|edit| match edit {
            Edit::Entry(entry) => Some(entry),
            _ => None,
        });
        let mut blocks = made.flat_map(|entry| &entry.blocks);
        if !blocks.any(|block| matches!(block.kind, BlockKind::Aside(..))) {
            self.begun = (self.begun.0 + 1, self.begun.1 + u64::from(out.origin().len));
        }
    }

    /// Counts the records of the opened file so far as passed: they are the history of the session
    /// that it is a fork of.
    pub(crate) fn mark_history_passed(&mut self, out: &mut Batch) {
        out.tally.mark_passed(
            "the history that a fork begins with",
            std::mem::take(&mut self.begun),
        );
    }

    /// Records the last answer of a lane.
    pub(crate) fn record_answer(&mut self, answer: &Key, line: &TranscriptLine<'_>) {
        match self.answers.get_mut(&line.lane) {
            Some((known, _)) if known == answer => {}
            Some(known) => *known = (answer.clone(), line.parent.clone()),
            None => drop(
                self.answers
                    .insert(line.lane.clone(), (answer.clone(), line.parent.clone())),
            ),
        }
    }

    /// The records that a fork called by this line may name as the end of its history: the one
    /// before the answer, and the answer's lines.
    fn possible_ends(&self, line: &TranscriptLine<'_>) -> Vec<Key> {
        let before = self
            .answers
            .get(&line.lane)
            .and_then(|(_, before)| before.clone())
            .into_iter();
        before
            .chain(line.parent.clone())
            .chain([line.id.clone()])
            .collect()
    }

    /// Decodes the first line of a fork's file.
    pub(crate) fn begin(
        &mut self,
        line: &TranscriptLine<'_>,
        lanes: &mut SubAgents,
        out: &mut Batch,
    ) -> Fate {
        if let (Some(lane), Some(last)) = (&line.lane, line.json.get("parentLastUuid").filled()) {
            lanes.mark_fork(lane);
            match self
                .calls
                .iter()
                .position(|(ends, _)| ends.iter().any(|end| end.as_str() == last))
            {
                Some(index) => {
                    let (_, call) = self.calls.remove(index);
                    lanes.link(lane, &call, Trust::Place, out);
                }
                None => self.waiting.push((Text::clean(last), lane.clone())),
            }
        }
        Fate::Passed("a reference to the history of a fork")
    }

    /// Records a call of a sub-agent, which may be a fork.
    pub(crate) fn call(
        &mut self,
        block: &Json<'_>,
        line: &TranscriptLine<'_>,
        call: &Key,
        lanes: &mut SubAgents,
        out: &mut Batch,
    ) {
        if !block.at("input.subagent_type").is("fork") {
            return;
        }
        let ends = self.possible_ends(line);
        let is_it =
            |(end, lane): &(Key, Name)| ends.contains(end) && Some(lane) != line.lane.as_ref();
        match self.waiting.iter().position(is_it) {
            Some(index) => {
                let (_, lane) = self.waiting.remove(index);
                lanes.link(&lane, call, Trust::Place, out);
            }
            None => self.calls.push((ends, call.clone())),
        }
    }
}

/// Decodes the first line of a session that was forked in the background: it inherits the history
/// of another session.
pub(crate) fn inherits(line: &TranscriptLine<'_>, out: &mut Batch) -> Fate {
    let what = Break::Resumed(Text::clean("forked, with the history of another session"));
    line.show_trace(what, out)
}

/// Whether a line has a fork's instructions: everything before it in its file is copied.
pub(crate) fn has_fork_instructions(line: &TranscriptLine<'_>) -> bool {
    let says = |block: &Json<'_>| {
        let text = block.part_text();
        block_type(block) == "text" && text.is_some_and(|text| opens(text.trim_start(), FORK))
    };
    line.kind() == "user" && line.json.at("message.content").blocks().iter().any(says)
}
