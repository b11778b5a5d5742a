//! Records that no rule matches.

use super::read_lines;
use crate::model::text::Text;

/// A record that no rule matches gives no facts of the session, is named by a class of the format's
/// own, and is undone with its neighbours, also by its own id.
#[test]
fn what_no_rule_takes_changes_nothing_of_what_rules_take() {
    let text = r#"
name = "bells"
agent = "Bells"
shape = "lines"
roots = ["~/bells/*.jsonl"]
[detect]
certain = [{ has = ["kind.of", "id"] }]
[kinds."kind.of"]
[entry]
key = "id"
at = "when:ms"
[session]
title = "summary"
[[record]]
when = { "kind.of" = "back" }
rewind = { to = "to" }
skip = "a rewind"
[[record]]
when = { "kind.of" = "said" }
entry = { role = "role" }
block = [{ each = "parts[]", block = [
  { text = "text", when = { type = "text" } },
  { unknown = "type", when = { not = { type = "text" } } },
] }]
"#;
    let said = |id: &str, role: &str, part: &str| {
        format!(
            r#"{{"kind":{{"of":"said"}},"id":"{id}","role":"{role}","when":1,"parts":[{{"type":"text","text":"{id}"}}{part}]}}"#
        )
    };
    let strange =
        r#"{"kind":{"of":"peal"},"id":"s1","when":2,"summary":"no title of the session"}"#;
    for to in ["b", "s1"] {
        let back = format!(r#"{{"kind":{{"of":"back"}},"to":"{to}"}}"#);
        let lines = [
            said("a", "user", ""),
            said("b", "assistant", r#",{"type":"chime","pitch":3}"#),
            strange.to_owned(),
            said("c", "user", ""),
            back,
            said("d", "user", ""),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (transcript, batch) = read_lines(text, &lines);
        let undone: Vec<String> = transcript
            .entries()
            .filter(|entry| entry.marks.undone)
            .map(|entry| entry.key.to_string())
            .collect();
        let number = if to == "b" { 3 } else { 2 };
        assert_eq!(undone.len(), number, "{undone:?}");
        assert_eq!(transcript.branches().list.len(), 1);
        let kinds: Vec<String> = batch
            .tally
            .unknown
            .keys()
            .map(ToString::to_string)
            .collect();
        assert_eq!(kinds, ["block/chime", "kind/peal"]);
        assert_ne!(
            transcript.meta().title().map(Text::as_str),
            Some("no title of the session")
        );
        let strange = transcript.entries().find(|entry| entry.is_aside()).unwrap();
        assert!(strange.at.is_some());
    }
}
