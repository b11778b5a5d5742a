//! Anomalies of hand-made sessions.

use super::{Anomaly, of_links, of_pairing, of_times};
use crate::analysis::calls::pairing;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Role};
use crate::model::record::{FileId, Origin};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

fn transcript_of(fill: impl FnOnce(&mut Batch)) -> Transcript {
    let mut batch = Batch::default();
    fill(&mut batch);
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

fn record(out: &mut Batch, line: u32) {
    out.begin_record(Origin {
        file: FileId(0),
        at: u64::from(line) * 100,
        len: 9,
        line,
    });
}

/// Description, count, and the line of the first record.
fn seen(anomalies: &[Anomaly]) -> Vec<(&str, u64, u32)> {
    anomalies
        .iter()
        .map(|anomaly| (anomaly.what, anomaly.count, anomaly.first.line))
        .collect()
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let links = [
        ("a", None),
        ("b", Some("a")),
        ("c", Some("gone")),
        ("d", Some("gone")),
        ("e", Some("e")),
    ];
    let circle = [("f", Some("g")), ("g", Some("f")), ("h", Some("f"))];
    let transcript = transcript_of(|out| {
        out.meta(MetaEdit::LinkedTree);
        for ((key, parent), line) in links.into_iter().chain(circle).zip(1..) {
            record(out, line);
            let mut entry = out.new_entry(Key::from(key), Role::User, None);
            entry.parent = parent.map(Key::from);
            out.entry(entry);
        }
    });
    let links = of_links(&transcript).unwrap();
    assert_eq!((links.linked, links.roots), (7, 1));
    let expected = [
        ("parents that are not in the file", 1, 3),
        ("entries that are their own parent", 1, 5),
        ("entries whose parents lead back to them", 2, 6),
    ];
    assert_eq!(seen(&links.anomalies), expected);
    assert_eq!(
        of_links(&transcript_of(|_| ())),
        None,
        "nothing says that records are linked"
    );
}

fn call(out: &mut Batch, line: u32, key: &str, at: i64, state: ToolState) {
    record(out, line);
    let mut entry = out.new_entry(
        Text::clean(&format!("answer {line}")),
        Role::Assistant,
        Some(Timestamp(at)),
    );
    let call = ToolCall {
        input: out.prose("{}"),
        state,
        ..samples::call(out, key)
    };
    entry.push(BlockKind::Call(Box::new(call)));
    out.entry(entry);
}

fn result(out: &mut Batch, line: u32, call: &str, at: i64) {
    record(out, line);
    let result = samples::result(out, &format!("r{line}"), Some(Timestamp(at)));
    out.push(Edit::Result {
        call: Text::clean(call),
        result: Box::new(result),
        lane: None,
    });
}

#[test]
fn calls_and_results_that_do_not_meet_are_found() {
    let transcript = transcript_of(|out| {
        call(out, 1, "a", 10, ToolState::Pending);
        result(out, 2, "a", 5);
        result(out, 3, "a", 20);
        result(out, 4, "nobody", 20);
        call(out, 5, "b", 30, ToolState::Lost);
        call(out, 6, "", 40, ToolState::Pending);
        call(out, 7, "b", 50, ToolState::Pending);
        out.meta(MetaEdit::Live(Some(false)));
    });
    let expected = [
        ("results that are older than their calls", 1, 1),
        ("further results of a call", 1, 3),
        ("results without a call", 1, 4),
        ("calls that were interrupted", 1, 5),
        ("calls without an id", 1, 6),
        ("calls without a result", 2, 6),
        ("ids that several calls share", 1, 7),
    ];
    assert_eq!(seen(&of_pairing(&transcript)), expected);
    let counts = pairing::count(&transcript, true);
    assert_eq!(
        (
            counts.orphan_calls,
            counts.orphan_results,
            counts.duplicate_results
        ),
        (3, 1, 1)
    );
}

#[test]
fn times_that_run_backwards_are_found_lane_by_lane() {
    let transcript = transcript_of(|out| {
        let entries = [
            (Some(10), None),
            (None, None),
            (Some(4), None),
            (Some(1), Some("scout")),
            (Some(6), None),
        ];
        for ((at, lane), line) in entries.into_iter().zip(1..) {
            record(out, line);
            let key = Text::clean(&format!("e{line}"));
            let mut entry = out.new_entry(
                key,
                Role::User,
                at.map(|seconds: i64| Timestamp(seconds * 1000)),
            );
            entry.lane = lane.map(Key::from);
            out.entry(entry);
        }
    });
    let times = of_times(&transcript);
    assert_eq!(
        (times.first, times.last),
        (Some(Timestamp(1000)), Some(Timestamp(10_000)))
    );
    let expected = [
        ("entries without a time", 1, 2),
        ("entries that are older than the one before", 1, 3),
    ];
    assert_eq!(seen(&times.anomalies), expected);
    assert_eq!(times.anomalies[1].note, "by 6.0s at most");
}
