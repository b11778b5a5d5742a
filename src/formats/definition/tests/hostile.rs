//! Definitions written to waste time, memory or the stack. Each is refused with a message, or
//! decodes its input quickly.

use crate::formats::decoder::{Format, RecordPlace, feed};
use crate::formats::definition::read::read;
use crate::formats::definition::rule::Definition;
use crate::model::edit::Batch;
use crate::model::record::{Origin, Record};

fn with(top: &str, when: &str, path: &str) -> String {
    format!(
        "name = \"h\"\n{top}\n[[record]]\n{when}\nentry = {{ role = \"user\" }}\nblock = [{{ text = \"{path}\" }}]\n"
    )
}

fn names(count: usize) -> String {
    (0..count)
        .map(|number| format!("\"f{number}\","))
        .collect::<Vec<_>>()
        .concat()
}

/// Definitions that are refused, each with a part of its first mistake.
fn refused() -> Vec<(&'static str, String, &'static str)> {
    let long = |unit: &str, times: usize| unit.repeat(times);
    vec![
        ("steps", with("", "", &long("a.", 16_000)), "at most 1024"),
        (
            "few bytes, many steps",
            with("", "", &long("[]", 100)),
            "at most 64 steps",
        ),
        ("alternatives", with("", "", &long("a|", 300)), "at most 64"),
        (
            "sources",
            with("", "", &format!("a{}", long(":source", 3))),
            "at most 2 times",
        ),
        (
            "dots",
            with(
                "",
                &format!("when = {{ {}a = 1 }}", long("a.", 16_000)),
                "text",
            ),
            "no TOML",
        ),
        (
            "a name",
            with("", "", "text").replace("\"h\"", &format!("\"{}\"", long("n", 65_536))),
            "at most",
        ),
        (
            "a name that fits a text",
            with("", "", "text").replace("\"h\"", &format!("\"{}\"", long("n", 65))),
            "at most 64",
        ),
        (
            "a template",
            with(
                &format!("beside = \"{}\"", long("{dir}", 100_000)),
                "",
                "text",
            ),
            "at most 1024",
        ),
        (
            "rules",
            with("", "", "text") + &long("[[record]]\nskip = \"no\"\n", 20_000),
            "at most 1000",
        ),
        (
            "mistakes",
            with("", "", "text") + &long("[[record]]\nfoo = 1\n", 900),
            "more mistakes",
        ),
        (
            "first facts",
            with(
                &format!("session = {{ first = [{}] }}", names(20_000)),
                "",
                "text",
            ),
            "at most 1000",
        ),
        (
            "kinds",
            with(
                &format!("kinds = {{ type = {{ quiet = [{}] }} }}", names(20_000)),
                "",
                "text",
            ),
            "at most 1000",
        ),
        (
            "values",
            with("", &format!("when = {{ a = [{}] }}", names(20_000)), "text"),
            "at most 1000",
        ),
        (
            "usages",
            with("", "", "text") + &long("[[record.usage]]\ninput = \"n\"\n", 20),
            "at most 16",
        ),
    ]
}

#[test]
fn what_would_cost_its_square_is_refused_with_a_sentence() {
    for (name, text, words) in refused() {
        let mistakes = read(&text, None).expect_err(name);
        assert!(mistakes.len() <= 100, "{name}: {} mistakes", mistakes.len());
        assert!(
            mistakes.iter().any(|mistake| mistake.what.contains(words)),
            "{name}: {mistakes:?}"
        );
        let lines = text.split('\n').count();
        assert!(
            mistakes
                .iter()
                .all(|mistake| mistake.line <= lines && mistake.what.len() < 2_000),
            "{name}"
        );
    }
}

/// Decodes records by a definition into one batch.
fn made(text: &str, records: &[String]) -> Batch {
    let definition: &'static Definition = Box::leak(Box::new(read(text, None).unwrap()));
    let mut decoder = (&definition).decoder(None);
    let mut batch = Batch::default();
    for (at, record) in (0..).zip(records) {
        let origin = Origin {
            at,
            ..Origin::default()
        };
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: record.as_bytes(),
            },
            RecordPlace::Line,
            &mut batch,
        );
    }
    batch
}

#[test]
fn rules_that_multiply_what_a_record_holds_make_no_more_than_is_bounded() {
    let list: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    let record = format!(
        "{{\"type\":\"user\",\"t\":\"x\",\"text\":\"hello\",\"l\":[{}]}}",
        list.join(",")
    );
    let records = vec![record; 5];
    let nested = |depth: usize| {
        let blocks = "[{ each = \"$.l[]\", block = ".repeat(depth)
            + "[{ text = \"$.t\" }]"
            + &"}]".repeat(depth);
        format!("name = \"h\"\n[[record]]\nentry = {{ role = \"user\" }}\nblock = {blocks}\n")
    };
    let also =
        "[[record]]\nalso = true\nrecords = [\"$\", \"$\", \"$\", \"$\", \"$\", \"$\", \"$\", \"$\"]\n"
            .repeat(20);
    let texts = "[[record]]\nalso = true\nentry = { role = \"user\" }\nblock = [{ each = \"$.l[]\", text = \"$.text\" }]\n";
    for (name, text) in [
        ("blocks", nested(12)),
        (
            "records",
            format!(
                "name = \"h\"\n{also}[[record]]\nentry = {{ role = \"user\" }}\nblock = [{{ text = \"text\" }}]\n"
            ),
        ),
        ("rules", format!("name = \"h\"\n{}", texts.repeat(900))),
    ] {
        let batch = made(&text, &records);
        assert!(batch.edits.len() < 20_000, "{name}: {}", batch.edits.len());
        let said = batch
            .notices
            .iter()
            .filter(|notice| notice.what.contains("far more of a record"));
        assert_eq!(said.count(), 1, "{name}");
        assert_eq!(batch.tally.records(), 5, "{name}");
    }
    // A value that a record has many times is emitted as many times.
    let many: Vec<String> = (0..20_000)
        .map(|number| format!("{{\"t\":\"{number}\"}}"))
        .collect();
    let text = "name = \"h\"\n[[record]]\nentry = { role = \"user\" }\nblock = [{ each = \"l[]\", text = \"t\" }]\n";
    let batch = made(text, &[format!("{{\"l\":[{}]}}", many.join(","))]);
    assert!(
        batch
            .notices
            .iter()
            .all(|notice| !notice.what.contains("far more"))
    );
    let text = "name = \"h\"\n[[record]]\nwhen = { has = \"l\" }\nrecords = \"l[]\"\n[[record]]\nentry = { role = \"user\" }\nblock = [{ text = \"t\" }]\n";
    let batch = made(text, &[format!("{{\"l\":[{}]}}", many.join(","))]);
    assert!(
        batch
            .notices
            .iter()
            .all(|notice| !notice.what.contains("far more"))
            && batch.edits.len() >= 20_000
    );
}
