//! Branches against the active path.

use super::{ComparedSides, Sides};
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{Block, BlockKind, Piece, Role};
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;

/// Records: key, parent, and either a prompt (`> text`) or a command.
fn transcript_of(records: &[(&str, &str, &str)]) -> Transcript {
    let mut batch = Batch::default();
    batch.meta(MetaEdit::LinkedTree);
    for (key, parent, says) in records {
        let mut entry = batch.new_entry(Text::from(*key), Role::User, None);
        entry.parent = (!parent.is_empty()).then(|| Text::from(*parent));
        let kind = if let Some(prompt) = says.strip_prefix("> ") {
            entry.marks.prompt = true;
            BlockKind::Text(batch.prose(prompt))
        } else {
            BlockKind::Call(Box::new(ToolCall {
                key: Text::clean(&format!("c{key}")),
                name: Text::from("bash"),
                kind: ToolKind::Run,
                headline: Text::from(*says),
                input: batch.prose(says),
                state: ToolState::Pending,
                started: None,
                lane: None,
            }))
        };
        entry.blocks = vec![Block::new(Piece(0), kind)];
        batch.entry(entry);
    }
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

fn compared(
    transcript: &Transcript,
    number: usize,
) -> (Option<&str>, ComparedSides, [Option<&str>; 2]) {
    let key = |id| transcript.get(id).map(|entry| entry.key.as_str());
    let sides = Sides::of(transcript, number).unwrap();
    let compared = sides.compare(transcript);
    let differs = compared
        .differs
        .map(|place| place.and_then(|place| key(place.entry)));
    (sides.common.and_then(key), compared, differs)
}

#[test]
fn the_first_step_that_differs_is_found() {
    let transcript = transcript_of(&[
        ("a", "", "> fix it"),
        ("b", "a", "ls"),
        ("c", "b", "> with mocks"),
        ("d", "c", "cat x"),
        ("e", "d", "rm x"),
        // Prompted anew: the same first steps, then another one.
        ("f", "b", "> with mocks"),
        ("g", "f", "cat x"),
        ("h", "g", "touch x"),
        ("i", "h", "> thanks"),
    ]);
    let (common, sides, differs) = compared(&transcript, 1);
    assert_eq!(
        (common, sides.same, differs),
        (Some("b"), 2, [Some("e"), Some("h")])
    );
    assert_eq!(
        (
            sides.branch.entries,
            sides.branch.turns,
            sides.branch.work.facts.calls
        ),
        (3, 1, 2)
    );
    assert_eq!(
        (
            sides.active.entries,
            sides.active.turns,
            sides.active.work.facts.calls
        ),
        (4, 2, 2)
    );
}

#[test]
fn a_branch_that_ends_first_differs_only_there() {
    let transcript = transcript_of(&[
        ("a", "", "> fix it"),
        ("b", "a", "> go"),
        ("c", "a", "> go"),
        ("d", "c", "ls"),
    ]);
    let (common, sides, differs) = compared(&transcript, 1);
    assert_eq!(
        (common, sides.same, differs),
        (Some("a"), 1, [None, Some("d")])
    );
}

#[test]
fn a_branch_within_a_branch_shares_what_both_hang_on() {
    let transcript = transcript_of(&[
        ("a", "", "> fix it"),
        ("b", "a", "> one"),
        ("c", "b", "ls"),
        ("d", "c", "> inner"),
        ("e", "c", "> instead"),
        ("f", "a", "> two"),
    ]);
    let (common, sides, differs) = compared(&transcript, 1);
    assert_eq!((common, differs), (Some("a"), [Some("b"), Some("f")]));
    assert_eq!(
        sides.branch.entries, 3,
        "the part of the outer branch that leads to it counts"
    );
    assert_eq!(compared(&transcript, 2).1.branch.entries, 3);
    assert!(Sides::of(&transcript, 3).is_none());
}
