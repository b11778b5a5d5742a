//! Tests of journals: replaying one gives the document that it describes.

use tv::ingest::Target;
use tv::model::entry::{BlockKind, Role};

use crate::fixtures::{self, ReadSession};

/// What counts of a session, without what is undone.
fn said(session: &ReadSession) -> Vec<String> {
    let entries = session.transcript.entries();
    let there = entries.filter(|entry| entry.role != Role::Harness && !entry.marks.undone);
    let words = |kind: &BlockKind| match kind {
        BlockKind::Text(body) | BlockKind::Thinking(body) => {
            format!("{:?}", body.held) + &body.stub
        }
        BlockKind::Call(call) => {
            format!(
                "{} {:?} {:?}",
                call.key,
                call.headline,
                call.state.result().map(|r| &r.body.stub)
            )
        }
        other => panic!("{other:?}"),
    };
    there
        .map(|entry| {
            let blocks: Vec<String> = entry
                .blocks
                .iter()
                .map(|block| words(&block.kind))
                .collect();
            let head = (
                &entry.key,
                entry.at,
                entry.ended,
                &entry.model,
                &entry.usage,
                entry.marks.prompt,
            );
            format!("{head:?} {blocks:#?}")
        })
        .collect()
}

#[test]
fn a_journal_comes_to_what_its_session_is() {
    let read = |name: &str| {
        let path = fixtures::root().join("vscode-copilot-chat").join(name);
        fixtures::read(&Target {
            path,
            session: None,
        })
    };
    let journal = read("0d000000-0000-4000-8000-000000000004.jsonl");
    let object = read("0d000000-0000-4000-8000-000000000005.json");
    assert_eq!(said(&journal), said(&object));
    assert_eq!(
        journal.transcript.totals().sum(),
        object.transcript.totals().sum()
    );
    let title = |session: &ReadSession| session.transcript.meta().title().map(ToString::to_string);
    assert_eq!(title(&journal).as_deref(), Some("Gulls and terns"));
    assert_eq!(title(&object), title(&journal));
    let undone = journal
        .transcript
        .entries()
        .filter(|entry| entry.marks.undone);
    assert_eq!(
        undone.count(),
        2,
        "the request that was sent again in other words, and its answer"
    );
}
