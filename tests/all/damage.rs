//! Tests with one record of a line file dropped, duplicated, truncated or garbled: no panic, and
//! every entry without a part in this record has the same blocks.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use tv::formats::named;
use tv::ingest::Target;
use tv::model::edit::Batch;
use tv::model::entry::{BlockKind, Break, Entry};
use tv::model::record::{FileId, Origin, Record};
use tv::model::text::Text;
use tv::model::tool::{ToolState, Verdict};
use tv::model::transcript::Transcript;

use crate::fixtures::{self, Lines};

/// What happens to a record. The others keep their places.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Dropped,
    Doubled,
    Cut,
    Garbled,
}

#[test]
fn damage_to_one_record_spares_all_others() {
    for path in fixtures::line_files() {
        let lines = Lines::of(&path);
        let sound = read(&lines, &lines.records());
        for n in 0..lines.count() {
            for damage in [
                Damage::Dropped,
                Damage::Doubled,
                Damage::Cut,
                Damage::Garbled,
            ] {
                let what = format!("{} record {} {damage:?}", fixtures::name(&path), n + 1);
                check(&lines, n, damage, &sound, &what);
            }
        }
    }
}

#[test]
fn known_fields_of_any_type_lose_no_record() {
    let mut known = HashSet::new();
    for path in fixtures::line_files() {
        let lines = Lines::of(&path);
        for n in 0..lines.count() {
            let record = lines.record(n);
            let Ok(value) = serde_json::from_slice::<Value>(record.bytes) else {
                continue;
            };
            // Other words in the same fields are read by the same code.
            if !known.insert((path.parent().unwrap().to_owned(), shape(&value))) {
                continue;
            }
            let mutants = mutants(&value);
            let records: Vec<Record<'_>> = mutants
                .iter()
                .map(|bytes| Record {
                    origin: record.origin,
                    bytes,
                })
                .collect();
            for mutant in &records {
                let what = || {
                    format!(
                        "{}: {}",
                        fixtures::name(&path),
                        String::from_utf8_lossy(mutant.bytes)
                    )
                };
                let read = catch_unwind(AssertUnwindSafe(|| {
                    read(&lines, std::slice::from_ref(mutant))
                }));
                let read = read.unwrap_or_else(|_| panic!("{}", what()));
                assert!(read.tally().records() >= 1, "{}", what());
            }
            // And all of them in one session: what came of one must not trip the next.
            read(&lines, &records);
        }
    }
}

/// Which fields a record has, and what they say that tells records apart.
fn shape(value: &Value) -> Vec<String> {
    let mut pointers = Vec::new();
    collect_pointers(value, String::new(), &mut pointers);
    let kind = |pointer: &String| {
        let name = pointer.rsplit('/').next()?;
        let is_kind =
            ["type", "kind", "role", "event", "subtype", "name", "status"].contains(&name);
        value.pointer(pointer)?.as_str().filter(|_| is_kind)
    };
    pointers
        .iter()
        .map(|pointer| format!("{pointer} {}", kind(pointer).unwrap_or_default()))
        .collect()
}

/// The record with each of its fields replaced by each other type, and by numbers at the limits.
fn mutants(value: &Value) -> Vec<Vec<u8>> {
    let others = [
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("2026-13-99T99:99:99Z"),
        json!([]),
        json!([[1, "x"], null]),
        json!({}),
        json!({"type": "text", "text": 7}),
    ];
    let mut pointers = Vec::new();
    collect_pointers(value, String::new(), &mut pointers);
    let mutant = |pointer: &String, other: &Value| {
        let mut mutant = value.clone();
        if let Some(place) = mutant.pointer_mut(pointer) {
            *place = other.clone();
        }
        serde_json::to_vec(&mutant).unwrap()
    };
    pointers
        .iter()
        .flat_map(|pointer| others.iter().map(move |other| mutant(pointer, other)))
        .collect()
}

fn collect_pointers(value: &Value, at: String, pointers: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect_pointers(value, format!("{at}/{key}"), pointers);
            }
        }
        Value::Array(items) => {
            for (n, value) in items.iter().enumerate() {
                collect_pointers(value, format!("{at}/{n}"), pointers);
            }
        }
        _ => {}
    }
    pointers.push(at);
}

/// A line of values as `generic` reads it, and the batch of it.
fn generic_line(bytes: &[u8]) -> Batch {
    let format = named("generic").unwrap();
    let len = u32::try_from(bytes.len()).unwrap();
    let origin = Origin {
        file: FileId(0),
        at: 0,
        len,
        line: 1,
    };
    fixtures::decode(
        &mut *format.decoder(None),
        &[Record { origin, bytes }],
        &Batch::default(),
    )
}

#[test]
fn values_on_one_line_know_their_own_places() {
    let said = |text: &str| format!(r#"{{"role":"user","content":"{text}\n{text}"}}"#).into_bytes();
    let (one, two, three) = (said("one"), said("two"), said("three"));
    for front in ["", "  ", "\u{feff}\t", "data: "] {
        // Bytes that are no UTF-8 are shown as characters of another length.
        let mut odd = two.clone();
        odd.splice(27..27, *b"\xff\xfe\xe2\x82");
        // A frame is no part of its value: read again by its place, the value is the same.
        let line = [
            front.as_bytes(),
            &one,
            b"  ",
            &odd,
            b"data: ",
            &three,
            b" \xff {",
        ]
        .concat();
        let batch = generic_line(&line);
        assert_eq!(batch.tally.records(), 4, "{front:?}");
        assert_eq!(batch.tally.bytes.total(), line.len() as u64, "{front:?}");
        let transcript = fixtures::transcript_of(vec![batch]);
        let bodies = transcript
            .entries()
            .flat_map(|entry| &entry.blocks)
            .flat_map(|block| block.kind.bodies());
        let places: Vec<&[u8]> = bodies
            .map(|body| &line[usize::try_from(body.from.at).unwrap()..][..body.from.len as usize])
            .collect();
        assert_eq!(places, [&one[..], &odd, &three, b"\xff {"], "{front:?}");
    }
}

#[test]
fn a_value_that_cannot_be_read_is_lost_on_no_line() {
    for broken in [
        r#"{"role":"user","content":1e999}"#,
        r#"{"role":"user","content":"\ud800"}"#,
    ] {
        for line in [
            format!(r#"{broken} {{"a":1}}"#),
            format!(r#"{{"a":1}} {broken} {{"a":2}}"#),
            format!("{broken}{broken}"),
        ] {
            let batch = generic_line(line.as_bytes());
            assert_eq!(
                batch.tally.records(),
                line.matches('{').count() as u64,
                "{line}"
            );
        }
    }
}

#[test]
fn a_document_that_breaks_off_comes_again_from_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    let messages = r#"{"messages":[{"role":"user","content":"a"},
  {"role":"user","content":"b"},
   {"role":"user",
   "#;
    // What breaks off may be a value by itself: a key, here with lines in it.
    let key = "{\"role\":\"user\",\"messages]:[{\n {\"";
    let bare = "{\"messages]:[{\n {\"";
    for text in [messages, key, bare] {
        std::fs::write(&path, text).unwrap();
        let mut session = fixtures::read(&Target {
            path: path.clone(),
            session: None,
        });
        let mut cut = 0;
        for body in session
            .transcript
            .entries()
            .flat_map(|entry| &entry.blocks)
            .flat_map(|block| block.kind.bodies())
        {
            let again = session.pager.read(body.from);
            assert_eq!(
                again.get(usize::from(body.slot)),
                Some(&body.held),
                "{body:?}"
            );
            let next = session.pager.read_next(body.from, &|_| true);
            assert_eq!(
                next.get(usize::from(body.slot)),
                Some(&body.held),
                "{body:?}"
            );
            cut += usize::from(body.lines > 1);
        }
        assert_eq!(cut, 1, "{text}");
    }
}

fn check(lines: &Lines, n: usize, damage: Damage, sound: &Transcript, what: &str) {
    let bytes = lines.record(n).bytes;
    let broken = match damage {
        Damage::Dropped | Damage::Doubled => Vec::new(),
        Damage::Cut => bytes[..bytes.len() / 2].to_vec(),
        Damage::Garbled => garbled(bytes),
    };
    let mut records = lines.records();
    match damage {
        Damage::Dropped => drop(records.remove(n)),
        Damage::Doubled => records.insert(
            n + 1,
            Record {
                origin: lines.end(),
                bytes,
            },
        ),
        Damage::Cut | Damage::Garbled => records[n].bytes = &broken,
    }
    let damaged = read(lines, &records);
    let tells_of_others = match lines.format.name() {
        // Each run of a file counts its items anew: without the line that begins it, they are those of the run before.
        "codex-exec-json" => n > 0 && memchr::memmem::find(bytes, b"thread.started").is_some(),
        // Whoever looks after a process tells how the command ended that another call began.
        "codex" => looks_after_a_process(lines, bytes),
        // A line of the machine's before what the human said says how a command ended.
        "openclaw" => memchr::memmem::find(bytes, b"] Exec ").is_some(),
        // Events of version 2 make a message step by step.
        "opencode" => memchr::memmem::find(bytes, b"\"aggregate_id\"").is_some(),
        // A journal names elements by their numbers, and puts one thing in the place of another.
        "vscode-copilot-chat" => true,
        _ => false,
    };
    if tells_of_others {
        return;
    }
    let origin = lines.record(n).origin;
    let end = |origin: Origin| origin.at + u64::from(origin.len);
    let its = |other: Origin| other.at <= end(origin) && origin.at <= end(other);
    // A line that takes a prompt out of a queue names none: which one it means is known by the lines before it.
    let depends_on_others = |entry: &Entry| {
        let bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
        (entry.marks.prompt || entry.marks.trace)
            && bodies
                .into_iter()
                .any(|body| body.from.at != entry.origin.at)
    };
    for entry in sound
        .entries()
        .filter(|entry| !has_part(entry, its) && !depends_on_others(entry))
    {
        // An error may come with the answer it ended or, if that is lost, by itself. More blocks may
        // be there: the lost record may have been one that takes something back.
        let now = damaged.find(&entry.key).and_then(|id| damaged.get(id));
        let after: Vec<BlockKind> =
            now.map_or_else(|| damaged.entries().flat_map(contents).collect(), contents);
        let mut rest = after.iter();
        let is_kept = contents(entry)
            .iter()
            .all(|block| rest.any(|other| other == block));
        assert!(
            is_kept,
            "{what}: {}\n{after:#?}\n{:#?}",
            entry.key,
            contents(entry)
        );
        // A line of bookkeeping may be all that is left of what the lost record held.
        let is_same = |now: &Entry| now.role == entry.role || entry.marks.trace;
        assert!(now.is_none_or(is_same), "{what}: {}", entry.key);
    }
}

/// Whether a record is a call of Codex's `write_stdin`, or its output, or says under which number a command goes on; or is
/// what a script printed, in whose place what its command put out may stand; or ends a turn, behind which commands may end.
fn looks_after_a_process(lines: &Lines, bytes: &[u8]) -> bool {
    const ID: &str = "\"call_id\":\"";
    let marks: [&[u8]; 3] = [
        b"Process running with session ID",
        b"custom_tool_call_output",
        b"task_complete",
    ];
    if marks
        .iter()
        .any(|mark| memchr::memmem::find(bytes, mark).is_some())
    {
        return true;
    }
    let polls = lines
        .records()
        .into_iter()
        .filter(|record| memchr::memmem::find(record.bytes, b"write_stdin").is_some());
    polls.into_iter().any(|poll| {
        let text = String::from_utf8_lossy(poll.bytes);
        let id = text
            .split_once(ID)
            .and_then(|(_, rest)| rest.split('"').next())
            .unwrap_or_default();
        !id.is_empty() && memchr::memmem::find(bytes, format!("{ID}{id}\"").as_bytes()).is_some()
    })
}

fn read(lines: &Lines, records: &[Record<'_>]) -> Transcript {
    let mut decoder = lines.format.decoder(None);
    fixtures::transcript_of(vec![fixtures::decode(
        &mut *decoder,
        records,
        &Batch::default(),
    )])
}

/// Keeps the braces and breaks what is between them.
fn garbled(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let middle = bytes.len() / 2;
    let end = bytes.len().min(middle + 7);
    bytes[middle..end].fill(b'"');
    bytes
}

/// Whether a record brought anything of an entry.
fn has_part(entry: &Entry, its: impl Fn(Origin) -> bool) -> bool {
    let bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
    let mut images = entry.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Image(image) => Some(image.origin),
        _ => None,
    });
    its(entry.origin) || bodies.into_iter().any(|body| its(body.from)) || images.any(its)
}

/// What a reader sees of an entry. Whose lane a call started and whether it was given up is known from
/// other records, and so are the lines of a message that say what was asked and replied, what failed and
/// was made again, and how a sum compares.
fn contents(entry: &Entry) -> Vec<BlockKind> {
    let is_line = |kind: &BlockKind| {
        matches!(
            kind,
            BlockKind::Break(Break::Setting(_) | Break::Waiting(_) | Break::Error(_))
        )
    };
    let kinds = entry.blocks.iter().map(|block| block.kind.clone());
    let mut kinds: Vec<BlockKind> = kinds.filter(|kind| !is_line(kind)).collect();
    for kind in &mut kinds {
        match kind {
            BlockKind::Call(call) => {
                call.lane = None;
                // How work ended that goes on after its result is what others say.
                let begun = call.state.result().filter(|result| result.work.is_some());
                if let Some(mut result) = begun.cloned() {
                    if let Some(work) = &mut result.work {
                        work.updates.clear();
                    }
                    (result.verdict, result.duration_ms) = (Verdict::Done, None);
                    result.facts = Text::default();
                    call.state = ToolState::Acknowledged(Box::new(result));
                }
                if call.state.result().is_none() {
                    call.state = ToolState::Pending;
                }
            }
            BlockKind::Break(Break::Error(error)) => {
                let once = error
                    .rsplit_once(" ×")
                    .map_or(error.as_str(), |(once, _)| once);
                *error = Text::clean(once);
            }
            _ => {}
        }
    }
    kinds
}
