//! Figures of hand-made sessions, and the shape of the JSON.

use super::{SessionReport, of};
use crate::ingest::Target;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Break, Entry, Marks, Role};
use crate::model::record::{FileId, Origin};
use crate::model::tally::Fate;
use crate::model::tally::unknown::Judged;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;
use crate::report::reading::Reading;

fn entry(out: &mut Batch, key: &str, role: Role, text: &str) -> Entry {
    let mut entry = out.new_entry(Text::clean(key), role, Some(Timestamp(1_000)));
    entry.marks = Marks {
        prompt: role == Role::User,
        ..Marks::default()
    };
    let body = out.prose(text);
    entry.push(BlockKind::Text(body));
    entry
}

fn counted(fill: impl FnOnce(&mut Batch)) -> SessionReport<'static> {
    let mut batch = Batch::default();
    fill(&mut batch);
    let target = Target::at("evil\u{1b}[2J.jsonl");
    let reading = Box::leak(Box::new(Reading::from_batch(target, batch)));
    of(reading, Timestamp(2_000))
}

#[test]
fn messages_are_counted_by_speaker_and_blank_text_is_no_text() {
    let figures = counted(|out| {
        for (key, role) in [
            ("u", Role::User),
            ("a", Role::Assistant),
            ("h", Role::Harness),
        ] {
            let entry = entry(out, key, role, "text");
            out.entry(entry);
        }
        let blank = entry(out, "blank", Role::Assistant, " \n ");
        out.entry(blank);
    });
    let entries = &figures.entries;
    assert_eq!(
        (
            entries.user,
            entries.assistant,
            entries.system,
            entries.harness
        ),
        (1, 2, 0, 1)
    );
    assert_eq!((figures.blocks.text, figures.turns), (3, 1));
}

#[test]
fn unknown_is_null_and_not_zero() {
    let figures = counted(|_| {});
    let json = serde_json::to_value(&figures).unwrap();
    assert_eq!(json["schema"], "tv.stats/2");
    for null in [
        "/usage/input",
        "/usage/reasoning",
        "/cost/usd",
        "/session/id",
        "/session/started",
    ] {
        assert!(
            json.pointer(null).is_some_and(serde_json::Value::is_null),
            "{null}"
        );
    }
    assert_eq!(json["usage"]["requests"], 0);
    assert_eq!(json["cost"]["source"], "unpriced");
    assert_eq!(json["session"]["state"], "unknown");
    assert!(!json["path"].as_str().unwrap().contains('\u{1b}'));
}

#[test]
fn records_are_counted_with_their_faults() {
    let figures = counted(|out| {
        out.begin_record(Origin {
            file: FileId(0),
            at: 70,
            len: 9,
            line: 3,
        });
        out.tally.count(Fate::Shown, FileId(0), 700);
        out.tally.count(Fate::Passed("a copy"), FileId(0), 20);
        out.tally.count(Fate::Faulty, FileId(0), 9);
        out.tally
            .record_fault(out.origin(), Text::clean("not JSON"));
        out.unknown("type/x", Judged::Text);
        out.unknown("type/x", Judged::Loud);
        out.unknown("type/x", Judged::Trace);
    });
    let records = &figures.records;
    assert_eq!(
        (records.total, records.shown, records.passed, records.faulty),
        (3, 1, 1, 1)
    );
    assert_eq!((records.faults[0].line, records.faults[0].byte), (3, 70));
    assert_eq!(records.passed_reasons["a copy"], 1);
    let bytes = &records.bytes;
    assert_eq!(
        (bytes.total, bytes.shown, bytes.passed, bytes.faulty),
        (729, 700, 20, 9)
    );
    assert_eq!(bytes.passed_reasons["a copy"], 20);
    assert_eq!(
        (records.unknown["type/x"], records.unknown_judged["type/x"]),
        (3, "loud")
    );
}

#[test]
fn lanes_count_in_the_whole_but_not_in_the_active_part() {
    let figures = counted(|out| {
        let spent = |cost| {
            Some(Box::new(Usage {
                input: Some(10),
                cost: Some(cost),
                ..Usage::default()
            }))
        };
        let main = Entry {
            usage: spent(0.5),
            ..entry(out, "main", Role::Assistant, "text")
        };
        let lane = Some(Text::clean("helper"));
        let sub = Entry {
            usage: spent(0.25),
            lane,
            ..entry(out, "sub", Role::Assistant, "text")
        };
        out.entry(main);
        out.entry(sub);
    });
    assert_eq!(
        (
            figures.lanes,
            figures.entries.assistant,
            figures.active.entries
        ),
        (1, 2, 1)
    );
    assert_eq!(
        (figures.cost.usd, figures.active.cost.usd),
        (Some(0.75), Some(0.5))
    );
    assert_eq!(
        (figures.usage.input, figures.active.usage.input),
        (Some(20), Some(10))
    );
}

#[test]
fn usage_beside_the_entries_is_active_where_nothing_else_is() {
    let figures = counted(|out| {
        let usage = Box::new(Usage {
            input: Some(7),
            cost: Some(0.1),
            ..Usage::default()
        });
        out.push(Edit::Usage {
            of: Text::clean("request"),
            usage,
            model: None,
        });
    });
    assert_eq!(
        (figures.usage.input, figures.active.usage.input),
        (Some(7), Some(7))
    );
}

#[test]
fn partial_compactions_are_breaks_but_no_compactions() {
    let figures = counted(|out| {
        for (key, partial) in [("one", true), ("two", false)] {
            let mut entry = out.new_entry(Text::clean(key), Role::Harness, None);
            let compaction = Break::Compaction {
                before: None,
                after: None,
                trigger: Text::default(),
                partial,
                took: None,
            };
            entry.push(compaction);
            out.entry(entry);
        }
        out.meta(MetaEdit::Id(Text::clean("7f3c")));
    });
    assert_eq!((figures.compactions, figures.blocks.breaks), (1, 2));
    assert_eq!(figures.session.id.as_deref(), Some("7f3c"));
}
