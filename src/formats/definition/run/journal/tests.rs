use crate::formats::decoder::RecordPlace;
use crate::formats::definition::read::read;
use crate::formats::definition::rule::Definition;
use crate::formats::definition::tests;
use crate::formats::fed;
use crate::model::edit::Batch;
use crate::model::entry::BlockKind;
use crate::model::transcript::Transcript;

/// A document with a title, and a list of questions with answers and notes.
const JOURNAL: &str = r#"
name = "journal"
[session]
title = "title"
facts = { mood = "mood" }
[journal]
path = "at"
value = "to"
from = "cut"
whole = { do = "all" }
set = { do = "set" }
push = { do = "add" }
delete = { do = "drop" }
elements = "asked"
[[record]]
when = { has = "words|draft", lacks = "do" }
entry = { role = "user", key = "id" }
block = [{ text = "words" }]
[[record]]
also = true
when = { has = "draft|answer", lacks = "do" }
entry = { role = "assistant", key = ["id", "='answer'"], model = "llm" }
block = [
  { when = { has = "answer.final" }, block = [{ text = "answer.words" }, { each = "answer.calls[]", call = "id", name = "name" }] },
  { when = { lacks = "answer.final" }, block = [{ each = "draft[]", text = "." }] },
]
result = { each = "answer.calls[]", of = "id", text = "got" }
usage = { input = "read", output = "wrote" }
[[record]]
when = { has = "do" }
entry = { role = "harness", trace = true }
block = [{ raw = ".", title = "do" }]
"#;

const BEGINNING: &str = r#"{"do":"all","to":{"title":"One","asked":[{"id":"q1","words":"Why?","draft":["Be","cause."]}]}}"#;

fn read_lines(lines: &[&str]) -> (Transcript, Batch) {
    tests::read_lines(JOURNAL, lines)
}

/// The texts of all entries; those of undone entries in brackets.
fn said(transcript: &Transcript) -> Vec<String> {
    let texts = transcript.entries().map(|entry| {
        let text = |kind: &BlockKind| match kind {
            BlockKind::Text(body) => body.stub.to_string(),
            BlockKind::Call(call) => {
                format!("{}: {}", call.name, call.state.result().unwrap().body.stub)
            }
            BlockKind::Raw(raw) => format!("raw {}", raw.title),
            other => panic!("{other:?}"),
        };
        let words = entry
            .blocks
            .iter()
            .map(|block| text(&block.kind))
            .collect::<Vec<_>>()
            .join(" ");
        if entry.marks.undone {
            format!("({words})")
        } else {
            words
        }
    });
    texts.collect()
}

fn after(lines: &[&str]) -> Vec<String> {
    said(&read_lines(&[&[BEGINNING], lines].concat()).0)
}

#[test]
fn what_stands_back_comes_again_when_the_better_is_gone() {
    let set = r#"{"do":"set","at":["asked",0,"answer"],"to":{"final":true,"words":"So.","calls":[{"id":"c","name":"look","got":"it"}]}}"#;
    let add = r#"{"do":"add","at":["asked",0,"draft"],"to":["Perhaps."]}"#;
    let drop = r#"{"do":"drop","at":["asked",0,"answer"]}"#;
    assert_eq!(after(&[]), ["Why?", "Be cause."]);
    assert_eq!(after(&[set]), ["Why?", "So. look: it"]);
    assert_eq!(after(&[set, add]), ["Why?", "So. look: it"]);
    assert_eq!(after(&[set, add, drop]), ["Why?", "Be cause. Perhaps."]);
    assert_eq!(after(&[set, add, drop, set]), ["Why?", "So. look: it"]);
}

#[test]
fn lists_are_cut_and_added_to() {
    let cut = r#"{"do":"add","at":["asked",0,"draft"],"cut":1}"#;
    let other = r#"{"do":"add","at":["asked",0,"draft"],"cut":1,"to":["fore."]}"#;
    let nothing = r#"{"do":"set","at":["asked",0,"draft"],"to":[]}"#;
    assert_eq!(after(&[cut]), ["Why?", "Be"]);
    assert_eq!(after(&[other]), ["Why?", "Be fore."]);
    assert_eq!(
        after(&[nothing]),
        ["Why?"],
        "an answer with nothing in it is none"
    );
    assert_eq!(after(&[nothing, other]), ["Why?", "fore."]);
}

#[test]
fn a_change_within_an_element_is_that_element_once_more() {
    let set = r#"{"do":"set","at":["asked",0,"answer"],"to":{"final":true,"words":"So.","calls":[{"id":"c","name":"look","got":"it"}]}}"#;
    let words = r#"{"do":"set","at":["asked",0,"answer","words"],"to":"So it is."}"#;
    let got = r#"{"do":"set","at":["asked",0,"answer","calls",0,"got"],"to":"more"}"#;
    let other = r#"{"do":"add","at":["asked",0,"answer","calls"],"to":[{"id":"d","name":"find","got":"all"}]}"#;
    let cut = r#"{"do":"add","at":["asked",0,"answer","calls"],"cut":1}"#;
    let gone = r#"{"do":"drop","at":["asked",0,"answer","final"]}"#;
    assert_eq!(after(&[set, words]), ["Why?", "So it is. look: it"]);
    assert_eq!(after(&[set, got, words]), ["Why?", "So it is. look: more"]);
    assert_eq!(after(&[set, other]), ["Why?", "So. look: it find: all"]);
    assert_eq!(
        after(&[set, other, cut, words]),
        ["Why?", "So it is. look: it"]
    );
    assert_eq!(
        after(&[set, gone]),
        ["Why?", "Be cause."],
        "an answer that is not final is none"
    );
    let (transcript, batch) = read_lines(&[BEGINNING, set, words]);
    assert_eq!((batch.tally.shown, transcript.entries().count()), (3, 2));
    assert!(batch.is_piped, "no record holds what it came to");
}

#[test]
fn elements_that_are_gone_are_undone() {
    let other =
        r#"{"do":"add","at":["asked"],"cut":0,"to":[{"id":"q2","words":"How?","draft":["So."]}]}"#;
    let back =
        r#"{"do":"add","at":["asked"],"cut":0,"to":[{"id":"q1","words":"Why?","draft":["Be"]}]}"#;
    let drop = r#"{"do":"drop","at":["asked"]}"#;
    assert_eq!(after(&[other]), ["(Why?)", "(Be cause.)", "How?", "So."]);
    assert_eq!(after(&[other, back]), ["Why?", "Be", "(How?)", "(So.)"]);
    assert_eq!(after(&[drop]), ["(Why?)", "(Be cause.)"]);
    assert_eq!(
        after(&[other, BEGINNING]),
        ["Why?", "Be cause.", "(How?)", "(So.)"]
    );
}

#[test]
fn facts_are_those_of_the_state() {
    let title = |lines: &[&str]| read_lines(lines).0.meta().title().map(ToString::to_string);
    let set = r#"{"do":"set","at":["title"],"to":"Two"}"#;
    let drop = r#"{"do":"drop","at":["title"]}"#;
    assert_eq!(title(&[BEGINNING]).as_deref(), Some("One"));
    assert_eq!(title(&[BEGINNING, set]).as_deref(), Some("Two"));
    assert_eq!(
        title(&[BEGINNING, set, drop]).as_deref(),
        Some("Why?"),
        "the first prompt"
    );
    let mood = |lines: &[&str]| {
        read_lines(lines)
            .0
            .meta()
            .fact("mood")
            .map(ToString::to_string)
    };
    let (good, none) = (
        r#"{"do":"set","at":["mood"],"to":"good"}"#,
        r#"{"do":"set","at":["mood"],"to":null}"#,
    );
    assert_eq!(
        (mood(&[good]).as_deref(), mood(&[good, none])),
        (Some("good"), None)
    );
    let model = r#"{"do":"set","at":["asked",0,"llm"],"to":"m1"}"#;
    let (transcript, batch) = read_lines(&[BEGINNING, model]);
    assert_eq!(
        transcript.entries().last().unwrap().model.as_deref(),
        Some("m1")
    );
    assert_eq!((batch.tally.shown, batch.tally.merged), (1, 1));
}

#[test]
fn what_is_about_no_element_is_for_the_other_rules() {
    let seen = r#"{"do":"set","at":["asked",0,"seen"],"to":true}"#;
    let within = r#"{"do":"set","at":["asked",0,"draft",0,"deep"],"to":1}"#;
    let far = r#"{"do":"set","at":["asked",4294967295,"words"],"to":"Far?"}"#;
    let nowhere = r#"{"do":"set","at":["asked",-1,"words"],"to":"?"}"#;
    assert_eq!(
        after(&[seen, within]),
        ["Why?", "Be cause."],
        "fields that no rule reads"
    );
    assert_eq!(
        after(&[far, nowhere]),
        ["Why?", "Be cause.", "raw set"],
        "lists are not that long"
    );
    // Read from the middle, the journal does not contain the element's name.
    let later = r#"{"do":"add","at":["asked",7,"draft"],"cut":3,"to":["later"]}"#;
    assert_eq!(said(&read_lines(&[later, later]).0), ["later"]);
}

#[test]
fn a_document_that_changes_again_and_again_is_read_at_the_end() {
    let words = "word ".repeat(60_000);
    let first = format!(
        r#"{{"do":"all","to":{{"asked":[{{"id":"q1","words":"Why?","draft":["{words}"]}}]}}}}"#
    );
    let add = r#"{"do":"add","at":["asked",0,"draft"],"to":["x"]}"#;
    let mut lines = vec![first.as_str()];
    lines.resize(401, add);
    let (_, batch) = read_lines(&lines);
    assert!(batch.tally.merged > 0, "put off");
    let definition: &'static Definition = Box::leak(Box::new(read(JOURNAL, None).unwrap()));
    let transcript = fed::transcript(&definition, &[(RecordPlace::Line, lines.as_slice())]);
    assert_eq!(transcript.entries().last().unwrap().blocks.len(), 401);
}

#[test]
fn mistakes_say_what_would_be_right() {
    for (text, wrong) in [
        (
            JOURNAL.replace("set = {", "sets = {"),
            "a journal says where",
        ),
        (
            JOURNAL.replace("elements = \"asked\"\n", ""),
            "which list of it",
        ),
    ] {
        let mistakes = read(&text, None).unwrap_err();
        let all: Vec<String> = mistakes
            .iter()
            .map(|mistake| format!("{mistake:?}"))
            .collect();
        assert!(
            all.iter().any(|mistake| mistake.contains(wrong)),
            "{wrong}: {all:?}"
        );
    }
}

#[test]
fn usage_that_is_set_anew_takes_the_place_of_what_was() {
    let set = |name: &str, value: u32| {
        format!(r#"{{"do":"set","at":["asked",0,"{name}"],"to":{value}}}"#)
    };
    let sets = [
        ("read", 100),
        ("wrote", 20),
        ("read", 160),
        ("wrote", 7),
        ("read", 30),
    ];
    let lines: Vec<String> = std::iter::once(BEGINNING.to_owned())
        .chain(sets.map(|(name, value)| set(name, value)))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let sums = |lines: &[&str]| {
        let (transcript, _) = read_lines(lines);
        let sum = transcript.totals().sum();
        (sum.input.value(), sum.output.value())
    };
    assert_eq!(sums(&lines[..4]), (Some(160), Some(20)));
    assert_eq!(sums(&lines), (Some(30), Some(7)));
}
