//! What a session waits for its user to answer: the answer takes the place of the question.

use super::Head;
use crate::formats::definition::rule::MarkKind;
use crate::model::body::Key;
use crate::model::entry::{BlockKind, Break, Piece};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// Questions of a lane that nobody has answered yet, in the order in which they were asked.
#[derive(Default)]
pub(super) struct Questions(Vec<Question>);

struct Question {
    key: Key,
    piece: Piece,
    at: Option<Timestamp>,
    what: Text,
}

impl Questions {
    /// Notes a question. An answer becomes the line of the one that it names by its key, or else of the last one.
    pub(super) fn settle(
        &mut self,
        kind: MarkKind,
        blocks: &mut [BlockKind],
        (head, piece): (&mut Head, &mut Piece),
    ) {
        match (kind, blocks) {
            (MarkKind::Waiting | MarkKind::Permission, [BlockKind::Break(Break::Waiting(what))]) => {
                self.0.retain(|question| question.key != head.key);
                let (key, what) = (head.key.clone(), what.clone());
                self.0.push(Question { key, piece: *piece, at: head.at, what });
            }
            (MarkKind::Answered, [BlockKind::Break(Break::Setting(answer))]) => {
                let named = self.0.iter().position(|question| question.key == head.key);
                let Some(index) = named.or(self.0.len().checked_sub(1)) else { return };
                let Question { key, piece: of_question, at, what } = self.0.remove(index);
                *answer = Text::clean(&format!("{what}: {answer}"));
                head.answered = head.at.filter(|_| at.is_some());
                (head.key, head.at, *piece) = (key, at, of_question);
            }
            _ => {}
        }
    }
}
