//! Opens every example of the format descriptions as a file of its own, and snapshots the table of
//! how each is detected. Invented descriptions are fixtures; the real ones are stored beside the
//! crate, and are tested where they are available.
//!
//! An example is a fenced block of `json`, `jsonl` or `typescript` that begins with `{`; without
//! fences, the lines from one that is `{` to the next that is `}`. It is opened as it is, unless it is
//! no valid JSON: then comments are removed, `{ ... }` becomes `{}`, names are quoted, the first of
//! several alternatives is chosen, and commas before a bracket are removed. A list whose text says
//! that it is shown below contains the next example.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tv::ingest::Target;
use tv::model::entry::BlockKind;
use tv::model::entry::Entry;

use super::corpus::beside;
use super::fixtures::{self, ReadSession};

/// A description, the formats that its examples are of, and the sections whose examples are fragments:
/// no agent writes them by themselves, so they are shown as plain JSON.
type Spec = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

static SPECS: [Spec; 5] = [
    ("openclaw-message-spec.txt", &["openclaw", "pi"], &[]),
    ("openclaw-message-formats.txt", &["openclaw"], &[]),
    // A message of the file, without the file around it.
    ("cline-messages-contract.txt", &["cline"], &["a message"]),
    (
        "claude-stream-json.txt",
        &["claude-stream-json"],
        // Blocks of a message, counts of its usage, and members of the first message.
        &[
            "Text",
            "ToolUse",
            "ToolResult",
            "Thinking",
            "UsageInfo",
            "ToolInfo",
            "McpServerInfo",
        ],
    ),
    // It has declarations only.
    ("opencode-messages.txt", &["opencode"], &[]),
];

struct Example {
    section: String,
    text: String,
}

#[test]
fn every_example_is_recognised() {
    check(&fixtures::root().join("specs"), "invented");
}

#[test]
fn every_example_of_real_descriptions_is_recognised() {
    if let Some(folder) = beside("specs") {
        check(&folder, "examples");
    }
}

fn check(folder: &Path, snapshot: &str) {
    let mut table = String::new();
    for (name, formats, fragments) in SPECS {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let examples = examples(&text);
        writeln!(table, "{name}: {} examples", examples.len()).unwrap();
        let mut seen = Vec::new();
        for (number, example) in examples.iter().enumerate() {
            let place = format!("{name}, {} (example {})", example.section, number + 1);
            let session = open(&example.text, "as it stands");
            writeln!(
                table,
                "  {:2} {}\n     {}",
                number + 1,
                example.section,
                row(&session)
            )
            .unwrap();
            let is_fragment = fragments.contains(&example.section.as_str());
            let expected = if is_fragment {
                &["generic", "messages"][..]
            } else {
                formats
            };
            assert!(
                expected.contains(&session.opened.format),
                "{place}: {}",
                session.opened.format
            );
            assert_eq!(session.transcript.tally().faulty, 0, "{place}");
            // The beginning of an answer is a record that shows nothing before the first words.
            let tally = session.transcript.tally();
            // The members of a message alone may say nothing.
            let empty = if is_fragment { tally.passed } else { 0 };
            let shown = session.transcript.entries().count() as u64 + tally.merged + empty;
            assert!(shown > 0, "{place}: nothing is shown");
            seen.push(example.section.as_str());
            if !is_fragment {
                in_other_forms(example, &session, &place);
            }
        }
        assert!(
            fragments.iter().all(|fragment| seen.contains(fragment)),
            "{name}: {fragments:?}"
        );
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots/specs", omit_expression => true }, {
        insta::assert_snapshot!(snapshot, table);
    });
}

/// The same values one a line, each over several lines, and in one array.
fn in_other_forms(example: &Example, original: &ReadSession, place: &str) {
    let values: Vec<Value> = serde_json::Deserializer::from_str(&example.text)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    if values.iter().any(|value| value.get("messages").is_some()) {
        return; // One document is one value.
    }
    let lines: Vec<String> = values.iter().map(|value| format!("{value}\n")).collect();
    let printed: Vec<String> = values.iter().map(|value| format!("{value:#}\n")).collect();
    let array = format!("{:#}", Value::Array(values.clone()));
    for (form, text) in [
        ("lines", lines.concat()),
        ("printed", printed.concat()),
        ("array", array),
    ] {
        let session = open(&text, form);
        assert_eq!(
            session.opened.format, original.opened.format,
            "{place} as {form}"
        );
        assert_eq!(counts(&session), counts(original), "{place} as {form}");
    }
}

fn open(text: &str, form: &str) -> ReadSession {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(if form == "lines" {
        "example.jsonl"
    } else {
        "example.json"
    });
    fs::write(&path, text).unwrap();
    fixtures::read(&Target {
        path,
        session: None,
    })
}

/// Entries, blocks, calls, results, notices.
fn counts(session: &ReadSession) -> [usize; 5] {
    let entries = || session.transcript.entries();
    let results = entries()
        .flat_map(Entry::calls)
        .filter(|call| call.state.result().is_some())
        .count();
    let strays = entries().flat_map(|entry| &entry.blocks);
    let strays = strays
        .filter(|block| matches!(block.kind, BlockKind::Result(_)))
        .count();
    [
        entries().count(),
        entries().map(|entry| entry.blocks.len()).sum(),
        entries().flat_map(Entry::calls).count(),
        results + strays,
        session.transcript.notices().len(),
    ]
}

fn row(session: &ReadSession) -> String {
    let [entries, blocks, calls, results, notices] = counts(session);
    let mut row = format!("{} ({})", session.opened.format, session.opened.confidence);
    for (count, what) in [
        (entries, "entries"),
        (blocks, "blocks"),
        (calls, "calls"),
        (results, "results"),
        (notices, "notices"),
    ] {
        if count > 0 {
            write!(row, " {what}={count}").unwrap();
        }
    }
    let blocks = session
        .transcript
        .entries()
        .flat_map(|entry| entry.blocks.iter().map(move |block| (entry, block)));
    let mut first =
        blocks.map(|(entry, block)| format!("{} {}", entry.role.word(), words(&block.kind)));
    write!(row, " | {}", first.next().unwrap_or_default()).unwrap();
    row
}

fn words(kind: &BlockKind) -> String {
    let words = match kind {
        BlockKind::Text(body) | BlockKind::Thinking(body) => body.stub.as_str().to_owned(),
        BlockKind::Call(call) => format!("{} {}", call.name, call.headline),
        BlockKind::Result(stray) => format!("stray {}", stray.result.body.stub),
        BlockKind::Image(_) => "image".to_owned(),
        BlockKind::Break(at) => at.words().to_string(),
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => format!("[{}]", raw.title),
    };
    words
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(48)
        .collect()
}

// === examples in a text ===

fn examples(text: &str) -> Vec<Example> {
    let found = if text.contains("\n```") {
        fenced(text)
    } else {
        flat(text)
    };
    let repaired = |example: Example| Example {
        text: repaired(&example.text),
        ..example
    };
    found.into_iter().map(repaired).collect()
}

fn fenced(text: &str) -> Vec<Example> {
    let mut section = String::new();
    let mut examples = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            line.trim_start_matches('#').trim().clone_into(&mut section);
        }
        let Some(language) = line.strip_prefix("```") else {
            continue;
        };
        let inner: Vec<&str> = lines
            .by_ref()
            .take_while(|line| !line.starts_with("```"))
            .collect();
        let text = inner.join("\n");
        let begins = text
            .lines()
            .find(|line| !line.trim_start().starts_with("//"))
            .unwrap_or_default();
        if matches!(language, "json" | "jsonl" | "typescript")
            && begins.trim_start().starts_with('{')
        {
            examples.push(Example {
                section: section.clone(),
                text,
            });
        }
    }
    examples
}

/// Snippets of a text whose fences were lost.
fn flat(text: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line != "{" {
            continue;
        }
        let mut depth = 1_usize;
        let mut inner = vec![line];
        for line in lines.by_ref() {
            inner.push(line);
            depth += line.matches('{').count();
            depth = depth.saturating_sub(line.matches('}').count());
            if depth == 0 {
                break;
            }
        }
        let text = inner.join("\n");
        let section = if text.contains("\"messages\"") {
            "the file"
        } else {
            "a message"
        };
        examples.push(Example {
            section: section.to_owned(),
            text,
        });
    }
    // What is to be seen below stands there.
    if let [first, second, ..] = &mut examples[..] {
        first.text = first.text.replace("/* see below */", &second.text);
    }
    examples
}

fn repaired(text: &str) -> String {
    let is_json = |text: &str| {
        serde_json::Deserializer::from_str(text)
            .into_iter::<Value>()
            .all(|v| v.is_ok())
    };
    if is_json(text) {
        return text.to_owned();
    }
    let out = without_comments(text).replace("{ ... }", "{}");
    let out = with_quoted_names(&first_alternatives(&out));
    let commas = regex::Regex::new(r",(\s*[}\]])").unwrap();
    let out = commas.replace_all(&out, "$1").into_owned();
    assert!(is_json(&out), "no JSON after repair:\n{out}");
    out
}

/// Parts of a text in and out of strings.
fn parts(text: &str) -> Vec<(bool, String)> {
    let strings = regex::Regex::new(r#""(?:[^"\\]|\\.)*""#).unwrap();
    let mut parts = Vec::new();
    let mut end = 0;
    for found in strings.find_iter(text) {
        parts.push((false, text[end..found.start()].to_owned()));
        parts.push((true, found.as_str().to_owned()));
        end = found.end();
    }
    parts.push((false, text[end..].to_owned()));
    parts
}

/// No example has a quote in a comment that would hide its end.
fn without_comments(text: &str) -> String {
    let blocks = regex::Regex::new(r"/\*.*?\*/")
        .unwrap()
        .replace_all(text, "")
        .into_owned();
    let lines = regex::Regex::new(r"(^|[\s,])//.*$").unwrap();
    blocks
        .lines()
        .map(|line| lines.replace(line, "$1").into_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

fn first_alternatives(text: &str) -> String {
    let others = regex::Regex::new(r#"("[^"]*")(?:\s*\|\s*"[^"]*")+"#).unwrap();
    others.replace_all(text, "$1").into_owned()
}

fn with_quoted_names(text: &str) -> String {
    let names = regex::Regex::new(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)").unwrap();
    let quoted = |(is_string, part): (bool, String)| {
        if is_string {
            part
        } else {
            names.replace_all(&part, "$1\"$2\"$3").into_owned()
        }
    };
    parts(text).into_iter().map(quoted).collect()
}

#[test]
fn examples_are_repaired_in_the_stated_way() {
    for (text, expected) in [
        (r#"{"a": 1}"#, r#"{"a": 1}"#),
        (
            "// first\n{ a: \"x\", b_c: { d: 1 }, }",
            "\n{ \"a\": \"x\", \"b_c\": { \"d\": 1 } }",
        ),
        (
            r#"{"u": { ... }, "url": "https://a.b"}"#,
            r#"{"u": {}, "url": "https://a.b"}"#,
        ),
        (r#"{"a": "x" | "y", "l": [ /* none */ ] // why"#, ""),
    ] {
        if expected.is_empty() {
            assert_eq!(
                first_alternatives(&without_comments(text)).trim_end(),
                r#"{"a": "x", "l": [  ]"#
            );
        } else {
            assert_eq!(repaired(text), expected);
        }
    }
}
