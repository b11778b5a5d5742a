//! Flights against the plain rule, and as pictures.

use proptest::prelude::{ProptestConfig, any, proptest};

use super::{Flight, Flights, PAGE};
use crate::analysis::calls::Place;
use crate::analysis::derived::Memo;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, EntryId, Piece, Role};
use crate::model::record::{FileId, Origin};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, EndRecording, Update, Work, WorkEnd, WorkReference};
use crate::model::tool::{ToolCall, ToolResult};
use crate::model::transcript::{Touched, Transcript};

/// A session that grows record by record, one second apart.
#[derive(Default)]
struct Fixture {
    transcript: Transcript,
    flights: Memo<Flights>,
    records: u64,
    /// Whether call and result are one record, as in databases, so that only timestamps determine
    /// how they overlap.
    is_timed: bool,
}

impl Fixture {
    fn feed(&mut self, edits: impl FnOnce(&mut Batch)) {
        self.records += 1;
        let mut batch = Batch::default();
        let at = if self.is_timed { 0 } else { self.records };
        batch.begin_record(Origin {
            file: FileId(0),
            at,
            len: 1,
            line: 1,
        });
        edits(&mut batch);
        self.take(batch);
    }

    fn take(&mut self, batch: Batch) {
        let touched: Touched = self.transcript.apply(batch);
        self.flights.invalidate(&self.transcript, &touched);
        while !self.flights.follow(&self.transcript, 3) {}
    }

    /// The timestamp of the next record.
    fn next(&self) -> Timestamp {
        Timestamp(i64::try_from(self.records + 1).unwrap_or(0) * 1_000)
    }

    fn say(&mut self, key: &str, role: Role, lane: Option<&str>) {
        let at = Some(self.next());
        self.feed(|out| {
            let mut entry = out.new_entry(Text::from(key), role, at);
            entry.lane = lane.map(Text::from);
            entry.marks.prompt = role == Role::User;
            let body = out.prose(key);
            entry.push(BlockKind::Text(body));
            out.entry(entry);
        });
    }

    /// Adds texts with the same timestamp.
    fn texts(&mut self, count: usize) {
        let mut out = Batch::default();
        for _ in 0..count {
            let at = Some(self.next());
            self.records += 1;
            out.begin_record(Origin {
                file: FileId(0),
                at: self.records,
                len: 1,
                line: 1,
            });
            let mut entry = out.new_entry(
                Text::from(format!("t{}", self.records).as_str()),
                Role::Assistant,
                at,
            );
            let body = out.prose("so");
            entry.push(BlockKind::Text(body));
            out.entry(entry);
        }
        self.take(out);
    }

    /// Adds a copy of an entry that is recorded elsewhere, with a call that has no result here.
    fn copy(&mut self, key: &str) {
        let at = Some(self.next());
        self.feed(|out| {
            let mut entry = out.new_entry(Text::from(key), Role::Assistant, at);
            entry.marks.copy = true;
            let call = ToolCall {
                started: at,
                ..samples::call(out, &format!("c{key}"))
            };
            entry.push(BlockKind::Call(Box::new(call)));
            out.entry(entry);
        });
    }

    fn text(&mut self, key: &str) {
        self.say(key, Role::Assistant, None);
    }

    fn prompt(&mut self, key: &str) {
        self.say(key, Role::User, None);
    }

    /// Adds calls in one message.
    fn calls(&mut self, keys: &[&str]) {
        let at = Some(self.next());
        self.feed(|out| {
            let mut entry = out.new_entry(
                Text::from(format!("m{}", keys.join("")).as_str()),
                Role::Assistant,
                at,
            );
            for (key, piece) in keys.iter().zip(0..) {
                let call = ToolCall {
                    started: at,
                    ..samples::call(out, key)
                };
                entry.push_piece(Piece(piece), BlockKind::Call(Box::new(call)));
            }
            out.entry(entry);
        });
    }

    fn result(&mut self, call: &str) {
        self.result_at(call, self.next());
    }

    fn result_at(&mut self, call: &str, at: Timestamp) {
        let at = Some(at);
        self.feed(|out| {
            let result = samples::result(out, &format!("r{call}"), at);
            out.push(Edit::Result {
                call: Text::from(call),
                result: Box::new(result),
                lane: None,
            });
        });
    }

    fn lane(&mut self, name: &str, call: &str) {
        self.feed(|out| {
            out.meta(MetaEdit::Lane {
                name: Text::from(name),
                label: None,
                call: Some(Text::from(call)),
            });
        });
    }

    /// The items of the main lane, each with the columns of its flights.
    fn picture(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for id in self.transcript.order() {
            let entry = self.transcript.get(*id).unwrap();
            if entry.lane.is_some() {
                continue;
            }
            for (block, kind) in entry.blocks.iter().enumerate() {
                let name = match &kind.kind {
                    BlockKind::Call(call) => call.key.to_string(),
                    _ => entry.key.to_string(),
                };
                rows.push(
                    format!("{name} {}", self.columns(*id, block))
                        .trim_end()
                        .to_owned(),
                );
            }
        }
        rows
    }

    fn columns(&self, id: EntryId, block: usize) -> String {
        let spot = self.flights.position(id, block).unwrap();
        let mut columns: Vec<(usize, String)> = self
            .flights
            .overlapping(id)
            .filter(|flight| flight.covers(spot))
            .map(|flight| (flight.column, self.name_of(flight)))
            .collect();
        columns.sort();
        let mut out = String::new();
        for (column, name) in columns {
            while out.len() < column {
                out.push('.');
            }
            out += &name;
        }
        out
    }

    fn name_of(&self, flight: &Flight) -> String {
        let Place { entry, block } = flight.call;
        match &self.transcript.get(entry).unwrap().blocks[block].kind {
            BlockKind::Call(call) => call.key.to_string(),
            _ => "?".to_owned(),
        }
    }
}

#[test]
fn calls_of_one_message_run_side_by_side() {
    let mut fixture = Fixture::default();
    fixture.calls(&["a", "b", "c"]);
    fixture.result("b");
    fixture.result("a");
    fixture.text("x");
    fixture.result("c");
    fixture.text("y");
    assert_eq!(fixture.picture(), ["a a", "b ab", "c abc", "x ..c", "y"]);
    let id = fixture.transcript.find("mabc").unwrap();
    let mut ends: Vec<(i64, String)> = fixture
        .flights
        .overlapping(id)
        .map(|flight| (flight.rank, fixture.name_of(flight)))
        .collect();
    ends.sort();
    let ends: String = ends.into_iter().map(|(_, name)| name).collect();
    assert_eq!(ends, "bac", "in the order of their results");
}

#[test]
fn a_call_is_in_flight_until_its_work_has_ended() {
    let mut fixture = Fixture::default();
    fixture.prompt("p");
    fixture.calls(&["a"]);
    let at = Some(fixture.next());
    fixture.feed(|out| {
        let work = Some(Box::new(Work::begun(
            Text::from("w"),
            EndRecording::Announced,
        )));
        let result = ToolResult {
            work,
            ..samples::result(out, "ra", at)
        };
        out.push(Edit::Result {
            call: Text::from("a"),
            result: Box::new(result),
            lane: None,
        });
    });
    fixture.text("x");
    fixture.calls(&["b"]);
    fixture.result("b");
    assert_eq!(
        fixture.picture(),
        ["p", "a a", "x a", "b ab"],
        "as long as nothing tells its end"
    );
    fixture.text("y");
    fixture.text("z");
    let ended = Some(
        fixture
            .transcript
            .get(fixture.transcript.find("z").unwrap())
            .unwrap()
            .at
            .unwrap(),
    );
    fixture.feed(|out| {
        let end = WorkEnd::from_word(Some("completed"), Some(1));
        let update = Update {
            by: Text::from("n"),
            at: ended,
            carrier: Carrier::Notice,
            end,
            reason: None,
        };
        let about = WorkReference {
            call: Some(Text::from("a")),
            handle: None,
        };
        out.push(Edit::Update {
            about,
            update,
            lane: None,
        });
    });
    assert_eq!(fixture.picture(), ["p", "a a", "x a", "b ab", "y a", "z"]);
}

#[test]
fn one_call_after_the_other_has_no_flight() {
    let mut fixture = Fixture::default();
    for key in ["a", "b", "c"] {
        fixture.calls(&[key]);
        fixture.result(key);
    }
    fixture.text("x");
    assert_eq!(
        fixture.picture(),
        ["a", "b", "c", "x"],
        "each has the first column for itself"
    );
}

#[test]
fn a_freed_column_is_taken_by_the_next_call() {
    let mut fixture = Fixture::default();
    fixture.calls(&["a", "b"]);
    fixture.result("a");
    fixture.calls(&["c"]);
    fixture.result("b");
    fixture.calls(&["d"]);
    fixture.result("d");
    fixture.result("c");
    fixture.text("x");
    assert_eq!(fixture.picture(), ["a a", "b ab", "c cb", "d cd", "x"]);
}

#[test]
fn without_a_result_it_goes_on_until_the_next_prompt() {
    let mut fixture = Fixture::default();
    fixture.calls(&["a"]);
    fixture.text("x");
    fixture.calls(&["b"]);
    assert_eq!(fixture.picture(), ["a a", "x a", "b ab"]);
    let before = fixture.picture();
    fixture.result("b");
    fixture.prompt("p");
    fixture.text("y");
    assert_eq!(
        fixture.picture(),
        [before, vec!["p".to_owned(), "y".to_owned()]].concat()
    );
    fixture.result("a");
    assert_eq!(
        fixture.picture()[3..],
        ["p a", "y a"],
        "a result that comes after all crosses the prompt"
    );
}

#[test]
fn where_records_do_not_say_what_overlapped_times_do() {
    let mut fixture = Fixture {
        is_timed: true,
        ..Fixture::default()
    };
    fixture.calls(&["a"]);
    fixture.calls(&["b"]);
    fixture.result("b");
    fixture.text("x");
    fixture.result("a");
    fixture.text("y");
    assert_eq!(fixture.picture(), ["a a", "b ab", "x a", "y"]);
}

#[test]
fn a_sub_agent_keeps_its_call_in_flight_while_it_works() {
    let mut fixture = Fixture::default();
    fixture.calls(&["a"]);
    fixture.lane("mate", "a");
    fixture.result("a");
    fixture.text("x");
    fixture.say("in it", Role::Assistant, Some("mate"));
    assert_eq!(
        fixture.picture(),
        ["a a", "x a"],
        "it was sent off, and goes on working"
    );
    fixture.text("y");
    fixture.say("in it again", Role::Assistant, Some("mate"));
    fixture.text("z");
    assert_eq!(fixture.picture(), ["a a", "x a", "y a", "z"]);
    let id = fixture.transcript.find("ma").unwrap();
    assert!(
        fixture
            .flights
            .overlapping(id)
            .all(|flight| flight.is_agent)
    );
}

#[test]
fn a_sub_agent_that_is_announced_last_keeps_its_call_in_flight() {
    let mut fixture = Fixture::default();
    fixture.calls(&["a"]);
    fixture.result("a");
    fixture.text("x");
    fixture.say("in it", Role::Assistant, Some("mate"));
    assert_eq!(fixture.picture(), ["a", "x"]);
    fixture.lane("mate", "a");
    assert_eq!(fixture.picture(), ["a a", "x a"]);
}

#[test]
fn a_call_of_a_copy_is_not_in_flight_here() {
    let mut fixture = Fixture::default();
    fixture.copy("x");
    fixture.text("y");
    assert_eq!(fixture.picture(), ["cx", "y"]);
}

#[test]
fn flights_cross_pages() {
    let mut fixture = Fixture::default();
    fixture.calls(&["a"]);
    for number in 0..PAGE + 10 {
        fixture.text(&format!("x{number}"));
    }
    fixture.calls(&["b"]);
    fixture.result("a");
    fixture.text("y");
    let picture = fixture.picture();
    assert!(
        picture[..=PAGE + 10].iter().all(|row| row.ends_with(" a")),
        "{picture:?}"
    );
    assert_eq!(picture[PAGE + 11..], ["b ab", "y .b"]);
    fixture.result("b");
    assert_eq!(fixture.picture()[PAGE + 11..], ["b ab", "y .b"]);
}

#[test]
fn what_ends_with_a_page_ends_there() {
    let mut fixture = Fixture::default();
    for number in 0..PAGE - 1 {
        fixture.text(&format!("x{number}"));
    }
    fixture.calls(&["a", "b"]);
    fixture.result("b");
    fixture.result("a");
    fixture.text("y");
    let id = fixture.transcript.find("mab").unwrap();
    assert!(
        fixture
            .flights
            .overlapping(id)
            .all(|flight| flight.until == Some((PAGE - 1, 1)))
    );
}

#[test]
fn what_comes_first_on_a_page_shows_how_the_one_before_ends() {
    let mut fixture = Fixture {
        is_timed: true,
        ..Fixture::default()
    };
    fixture.texts(PAGE - 1);
    fixture.calls(&["a"]);
    let later = Timestamp(fixture.next().0 + 60_000);
    fixture.result_at("a", later);
    assert_eq!(fixture.picture()[PAGE - 1..], ["a"]);
    // Recorded late: the call was still in flight.
    fixture.text("y");
    assert_eq!(fixture.picture()[PAGE - 1..], ["a a", "y a"]);
}

/// Checks that a flight ends at the last item that began before its result, also at the border of a
/// page.
fn assert_none_ends_early(
    flights: &[Flight],
    items: &[(u64, usize)],
    copies: &[usize],
    spans: &[(u64, Option<u64>)],
) {
    for (flight, end) in flights
        .iter()
        .filter_map(|flight| Some((flight, flight.until?)))
    {
        let (_, to) = spans[items[flight.from.0].1];
        let mut later = items.iter().enumerate().skip(end.0 + 1);
        let next = later
            .find(|(place, _)| !copies.contains(place))
            .map(|(_, (record, _))| *record);
        assert!(
            next.is_none_or(|next| to.is_some_and(|to| to < next)),
            "it ends while it is in flight"
        );
    }
}

/// Checks that incremental updates give the same flights as one pass, and follow the plain rule: an
/// item is beside a call if its record is between those of the call and of the result.
fn assert_flights_follow_the_records(before: usize, steps: &[u8]) {
    let mut fixture = Fixture::default();
    fixture.texts(before);
    let (mut open, mut spans): (Vec<usize>, Vec<(u64, Option<u64>)>) = (Vec::new(), Vec::new());
    let mut items: Vec<(u64, usize)> = (1..=fixture.records)
        .map(|record| (record, usize::MAX))
        .collect();
    let mut copies = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        match step % 4 {
            0 if !open.is_empty() => {
                let call = open.remove(usize::from(step / 4) % open.len());
                fixture.result(&format!("c{call}"));
                spans[call].1 = Some(fixture.records);
            }
            1 if step / 4 % 4 == 0 => {
                fixture.copy(&format!("x{number}"));
                copies.push(items.len());
                items.push((fixture.records, usize::MAX));
            }
            1 => {
                fixture.text(&format!("x{number}"));
                items.push((fixture.records, usize::MAX));
            }
            _ => {
                let call = spans.len();
                fixture.calls(&[format!("c{call}").as_str()]);
                items.push((fixture.records, call));
                spans.push((fixture.records, None));
                open.push(call);
            }
        }
    }
    let mut fresh = Memo::<Flights>::default();
    assert!(fresh.follow(&fixture.transcript, usize::MAX));
    for (place, (id, (record, own))) in fixture
        .transcript
        .order()
        .iter()
        .zip(items.iter().copied())
        .enumerate()
    {
        let spot = fixture.flights.position(*id, 0).unwrap();
        let mut flights: Vec<Flight> = fixture.flights.overlapping(*id).copied().collect();
        let mut at_once: Vec<Flight> = fresh.overlapping(*id).copied().collect();
        flights.sort_by_key(|flight| flight.from);
        at_once.sort_by_key(|flight| flight.from);
        assert_eq!(flights, at_once);
        assert_none_ends_early(&flights, &items, &copies, &spans);
        if copies.contains(&place) {
            continue;
        }
        let mut now: Vec<usize> = flights
            .iter()
            .filter(|flight| flight.covers(spot))
            .map(|flight| flight.column)
            .collect();
        now.sort_unstable();
        let before = now.len();
        now.dedup();
        assert_eq!(before, now.len(), "no column twice");
        let rule = spans.iter().enumerate().filter(|(call, (from, to))| {
            *call == own || (*from < record && to.is_none_or(|to| record < to))
        });
        let count = rule.count().min(64);
        // A call with only its own rows in the first column is not a flight.
        let has_flight = own == usize::MAX || flights.iter().any(|flight| flight.from == spot);
        assert!(
            has_flight
                || flights
                    .iter()
                    .all(|flight| flight.column > 0 || !flight.covers(spot))
        );
        assert_eq!(before + usize::from(!has_flight), count, "at {place}");
    }
}

proptest! {
    #[test]
    fn flights_follow_the_records(steps in proptest::collection::vec(any::<u8>(), 1..60)) {
        assert_flights_follow_the_records(0, &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Calls that start, end and continue on both sides of the border between two pages.
    #[test]
    fn flights_follow_the_records_over_the_border_of_a_page(
        before in PAGE - 24..PAGE + 2,
        steps in proptest::collection::vec(any::<u8>(), 1..48),
    ) {
        assert_flights_follow_the_records(before, &steps);
    }
}
