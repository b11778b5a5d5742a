//! Questions to the user: an answer replaces its question.

use super::{DefinitionDecoder, EntryHead};
use crate::formats::definition::rule::MarkKind;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Break, Piece, Role};
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;

/// The open questions of a lane, in order.
#[derive(Default)]
pub(super) struct Questions(Vec<PendingQuestion>);

struct PendingQuestion {
    key: Key,
    piece: Piece,
    at: Option<Timestamp>,
    what: Text,
    /// The call that waits for the answer.
    call: Option<Key>,
    is_permission: bool,
}

impl Questions {
    /// Adds a question, or replaces a question by its answer: the one with the same key, otherwise
    /// the last.
    pub(super) fn merge(
        &mut self,
        (kind, call): (MarkKind, Option<Key>),
        blocks: &mut [BlockKind],
        (head, piece): (&mut EntryHead, &mut Piece),
    ) {
        match (kind, blocks) {
            (
                MarkKind::Waiting | MarkKind::Permission,
                [BlockKind::Break(Break::Waiting(what))],
            ) => {
                self.0.retain(|question| question.key != head.key);
                let (key, what) = (head.key.clone(), what.clone());
                let is_permission = kind == MarkKind::Permission;
                self.0.push(PendingQuestion {
                    key,
                    piece: *piece,
                    at: head.at,
                    what,
                    call,
                    is_permission,
                });
            }
            (MarkKind::Answered, [BlockKind::Break(Break::Setting(answer))]) => {
                let named = self.0.iter().position(|question| question.key == head.key);
                let Some(index) = named.or(self.0.len().checked_sub(1)) else {
                    return;
                };
                let PendingQuestion {
                    key,
                    piece: of_question,
                    at,
                    what,
                    ..
                } = self.0.remove(index);
                *answer = text!("{what}: {answer}");
                head.answered = head.at.filter(|_| at.is_some());
                (head.key, head.at, *piece) = (key, at, of_question);
            }
            _ => {}
        }
    }

    /// Closes questions whose calls have progressed: they were answered, though no record has the
    /// answer. A permission without a call is closed by any call of its own lane.
    fn remove_answered_by(
        &mut self,
        (calls, is_own): (&[Key], bool),
        lane: Option<&Name>,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) {
        let went_on = |question: &mut PendingQuestion| match &question.call {
            Some(call) => calls.contains(call),
            None => is_own && question.is_permission,
        };
        for question in self.0.extract_if(.., went_on) {
            let mut entry = out.new_entry(question.key, Role::Harness, question.at);
            entry.lane = lane.cloned();
            entry.ended = at.filter(|_| question.at.is_some());
            let answered = text!("{}: answered", question.what);
            entry.push_piece(question.piece, Break::Setting(answered));
            out.entry(entry);
        }
    }
}

impl DefinitionDecoder {
    /// Closes the questions about calls that have progressed, by the edits of the current record
    /// from index `from` on.
    pub(super) fn answer_by_calls(
        &mut self,
        from: usize,
        (at, own): (Option<Timestamp>, &Option<Name>),
        out: &mut Batch,
    ) {
        let made = out.edits.get(from..).unwrap_or_default().iter();
        let calls: Vec<Key> = made
            .filter_map(|edit| match edit {
                Edit::Result { call, .. } | Edit::State { call, .. } => Some(call.clone()),
                _ => None,
            })
            .collect();
        if !calls.is_empty() {
            for (lane, waiting) in &mut self.waiting {
                waiting
                    .questions
                    .remove_answered_by((&calls, lane == own), lane.as_ref(), at, out);
            }
        }
    }
}
