//! The doctor's report on a hand-made session.

use super::{examine, text};
use crate::ingest::{FormatVerdict, Target};
use crate::model::coverage::Coverage;
use crate::model::edit::{Batch, Severity};
use crate::model::record::{FileId, Origin};
use crate::model::tally::Fate;
use crate::model::tally::unknown::Judged;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::report::reading::Reading;

fn sick_session() -> Reading {
    let mut out = Batch::default();
    for line in 1..=8 {
        out.begin_record(Origin {
            file: FileId(0),
            at: u64::from(line) * 10,
            len: 9,
            line,
        });
        out.tally.count(
            if line == 8 {
                Fate::Passed("a copy")
            } else {
                Fate::Shown
            },
            FileId(0),
            9,
        );
        if line < 3 {
            out.unknown("type/x", Judged::Loud);
            out.notice(Severity::Warning, "a string was mended");
        }
    }
    out.begin_record(Origin {
        file: FileId(0),
        at: 90,
        len: 9,
        line: 9,
    });
    out.tally.count(Fate::Faulty, FileId(0), 9);
    out.tally
        .record_fault(out.origin(), Text::clean("not JSON"));
    let target = Target::at("sick.jsonl");
    let reason = Text::clean("no header");
    let verdicts = vec![FormatVerdict {
        format: "pi",
        confidence: "no",
        reason,
    }];
    Reading {
        verdicts,
        ..Reading::from_batch(target, out)
    }
}

fn coverage() -> Coverage {
    let at = |line: u32| Origin {
        file: FileId(0),
        at: u64::from(line) * 10,
        len: 9,
        line,
    };
    let mut coverage = Coverage::default();
    coverage.add("text", 900, (900, 100), at(1));
    coverage.add("details.mood", 40, (0, 0), at(2));
    coverage.add("details.note", 60, (10, 0), at(3));
    coverage
}

#[test]
fn every_anomaly_is_listed_with_its_place() {
    let mut written = Vec::new();
    text::write(
        &examine(&sick_session(), &coverage(), Timestamp(0)),
        &mut written,
    )
    .unwrap();
    let text = String::from_utf8(written).unwrap();
    for expected in [
        "9 records of 81 B: 88.8% of them and 88.8% of their bytes are shown",
        "2  loud   type/x (first: sick.jsonl:1, byte 10)",
        "2  warning: a string was mended (first: sick.jsonl:1, byte 10)",
        "sick.jsonl:9: byte 90: not JSON",
        "1      9 B  a copy",
        "no header",
        "strings: 1.0 KB of text, 91% of it shown (10% as details); in the raw record only:",
        "50 B of     60 B  details.note (first: sick.jsonl:3, byte 30)",
        "40 B of     40 B  details.mood (first: sick.jsonl:2, byte 20)",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
    assert!(!text.contains("note: unknown"), "listed twice:\n{text}");
}

#[test]
fn the_same_as_json() {
    let json = serde_json::to_value(examine(&sick_session(), &coverage(), Timestamp(0))).unwrap();
    assert_eq!(json["schema"], "tv.doctor/2");
    assert_eq!(json["shown_percent"], 88.8);
    assert_eq!(json["unknown"][0]["count"], 2);
    assert_eq!(json["formats"][0]["reason"], "no header");
    assert_eq!(json["strings"]["told_percent"], 91.0);
    assert_eq!(json["strings"]["missing"][0]["path"], "details.note");
    assert_eq!(json["strings"]["missing"][0]["told"], 10);
}
