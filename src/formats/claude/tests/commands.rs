//! Commands that were typed, and what they put out.

use super::{BUSY, read};
use crate::model::entry::{BlockKind, Entry, Role};

fn said(entry: &Entry) -> &str {
    match entry.blocks.first().map(|block| &block.kind) {
        Some(BlockKind::Text(body)) => body.text_or_stub(),
        _ => "",
    }
}

#[test]
fn a_command_and_its_output_are_one_entry_and_no_title() {
    let transcript = read(BUSY);
    assert_eq!(transcript.meta().title().unwrap().as_str(), "Run the tide tests and store the table.");
    let model = transcript.entries().find(|entry| said(entry) == "/model").unwrap();
    assert!(matches!(model.blocks.as_slice(), [_, block] if matches!(block.kind, BlockKind::Raw(_))));
}

#[test]
fn a_typed_command_is_the_same_in_a_user_line_and_in_a_system_line() {
    const TYPED: &str = "<command-name>/model</command-name><command-args>opus</command-args>";
    const OUTPUT: &str = "<local-command-stdout>Set model</local-command-stdout>";
    let [user, system] = [true, false].map(|is_user| {
        let lines = [("a", "null", TYPED), ("b", "\"a\"", OUTPUT)].map(|(id, parent, text)| {
            let told = if is_user {
                format!(r#""type":"user","message":{{"role":"user","content":"{text}"}}"#)
            } else {
                format!(r#""type":"system","subtype":"local_command","content":"{text}","level":"info""#)
            };
            format!(
                r#"{{"uuid":"{id}","parentUuid":{parent},"timestamp":"2026-01-02T03:04:05Z","isMeta":false,{told}}}"#
            )
        });
        read(&lines.join("\n"))
    });
    for transcript in [&user, &system] {
        let typed = transcript.entries().next().unwrap();
        assert_eq!((said(typed), typed.role, typed.marks.prompt), ("/model opus", Role::User, true));
        assert_eq!((typed.blocks.len(), transcript.turns().len()), (2, 1));
    }
    assert_eq!(user.meta().title(), system.meta().title());
}
