//! Invariants that are checked over every fixture of every format.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use tv::formats::decoder::{RecordPlace, feed};
use tv::ingest::Target;
use tv::model::body::{Body, Held, Key};
use tv::model::edit::{Batch, BatchMode, Edit};
use tv::model::entry::{BlockKind, Entry, EntryId, Marks, Piece};
use tv::model::record::{Origin, Record};
use tv::model::text::Name;
use tv::model::tool::identifies;
use tv::model::tool::{ToolResult, ToolState, Verdict};
use tv::model::totals::{ModelUsage, Totals};
use tv::model::transcript::Transcript;
use tv::model::usage::Usage;

use crate::fixtures::{self, Lines, ReadSession};

/// Calls `check` with every session of every fixture.
fn each_session(check: impl Fn(&str, &ReadSession)) {
    for path in fixtures::all() {
        for target in fixtures::targets(&path) {
            check(&fixtures::name(&path), &fixtures::read(&target));
        }
    }
}

/// An entry without what depends on how often and in which portions it came.
fn timeless(entry: &Entry) -> Entry {
    Entry {
        revision: 0,
        ..entry.clone()
    }
}

fn timeless_entries(transcript: &Transcript) -> Vec<Entry> {
    transcript.entries().map(timeless).collect()
}

/// Compares entry by entry: the first one that differs says enough.
fn assert_same(left: &[Entry], right: &[Entry], place: &str) {
    for (left, right) in left.iter().zip(right) {
        assert_eq!(left, right, "{place}");
    }
    let keys = |entries: &[Entry]| {
        entries
            .iter()
            .map(|entry| entry.key.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(left), keys(right), "{place}");
}

#[test]
fn prefix_then_rest_is_the_whole() {
    for path in fixtures::line_files() {
        let lines = Lines::of(&path);
        let records = lines.records();
        let in_one = |cut: usize| {
            let mut decoder = lines.format.decoder(None);
            let (head, rest) = records.split_at(cut);
            let first = fixtures::decode(&mut *decoder, head, &Batch::default());
            let second = fixtures::decode(&mut *decoder, rest, &first);
            fixtures::transcript_of(vec![first, second])
        };
        let whole = in_one(0);
        for cut in 1..=records.len() {
            let parts = in_one(cut);
            let place = format!("{} cut after record {cut}", fixtures::name(&path));
            assert_same(&timeless_entries(&parts), &timeless_entries(&whole), &place);
            assert_eq!(parts.tally(), whole.tally(), "{place}");
            assert_eq!(parts.totals().sum(), whole.totals().sum(), "{place}");
            assert_eq!(parts.turns(), whole.turns(), "{place}");
        }
    }
}

#[test]
fn packing_after_each_edit_changes_nothing() {
    each_session(|name, session| {
        let (mut plain, mut packed) = (Transcript::new(), Transcript::new());
        for batch in session.batches.iter().flat_map(one_by_one) {
            for transcript in [&mut plain, &mut packed] {
                transcript.apply(batch.clone());
                transcript.update_derived();
                transcript.release(0, |_| false);
            }
            packed.pack();
            for id in plain.order().iter().chain(packed.order()) {
                assert_eq!(packed.glance(*id), plain.glance(*id), "{name}");
                assert_eq!(packed.lane_at(*id), plain.lane_at(*id), "{name}");
            }
        }
        let entries =
            |transcript: &Transcript| format!("{:#?}", transcript.entries().collect::<Vec<_>>());
        assert_eq!(entries(&packed), entries(&plain), "{name}");
        assert_eq!(packed.totals().sum(), plain.totals().sum(), "{name}");
        assert_eq!(packed.turns(), plain.turns(), "{name}");
        assert_eq!(packed.branches().list, plain.branches().list, "{name}");
        assert_eq!(packed.loaded_bytes(), plain.loaded_bytes(), "{name}");
    });
}

/// A batch for each edit, if that says the same.
fn one_by_one(batch: &Batch) -> Vec<Batch> {
    if batch.mode != BatchMode::default() {
        return vec![batch.clone()];
    }
    let alone = |edit: &Edit| {
        let mut one = batch.clone();
        one.edits = vec![edit.clone()];
        one
    };
    batch.edits.iter().map(alone).collect()
}

#[test]
fn no_record_is_lost() {
    each_session(|name, session| {
        let tally = session.transcript.tally();
        assert_eq!(
            tally.records(),
            tally.shown + tally.merged + tally.passed + tally.faulty,
            "{name}"
        );
        assert_eq!(
            tally.passed,
            tally.reasons.values().sum::<u64>(),
            "{name}: every pass has a reason"
        );
        assert_eq!(
            tally.faulty,
            tally.faults.len() as u64,
            "{name}: every fault has a place"
        );
        assert_eq!(
            tally.bytes.passed,
            tally.bytes.reasons.values().sum::<u64>(),
            "{name}"
        );
        assert!(
            tally.bytes.total() >= tally.records(),
            "{name}: every record has bytes"
        );
    });
    for path in fixtures::line_files() {
        let lines = Lines::of(&path);
        let mut decoder = lines.format.decoder(None);
        let all = fixtures::decode(&mut *decoder, &lines.records(), &Batch::default());
        assert!(
            all.tally.records() >= lines.count() as u64,
            "{}",
            fixtures::name(&path)
        );
        let bytes = lines
            .records()
            .iter()
            .map(|record| record.bytes.len() as u64)
            .sum::<u64>();
        assert_eq!(
            all.tally.bytes.total(),
            bytes,
            "{}: every byte counts once",
            fixtures::name(&path)
        );
    }
}

#[test]
fn reading_twice_changes_nothing() {
    each_session(|name, session| {
        let mut transcript = fixtures::transcript_of(session.batches.clone());
        let before = timeless_entries(&transcript);
        let revisions = |transcript: &Transcript| -> Vec<(Key, u32)> {
            let streamed = streamed(&session.batches);
            let came_once = |entry: &&Entry| !streamed.contains(&entry.key);
            transcript
                .entries()
                .filter(came_once)
                .map(|entry| (entry.key.clone(), entry.revision))
                .collect()
        };
        let revisions_before = revisions(&transcript);
        let (totals, turns) = (transcript.totals().sum(), transcript.turns().to_vec());
        for batch in fixtures::reread(session.batches.clone()) {
            transcript.apply(batch);
        }
        transcript.update_derived();
        assert_same(&timeless_entries(&transcript), &before, name);
        assert_eq!(revisions(&transcript), revisions_before, "{name}");
        assert_eq!(transcript.totals().sum(), totals, "{name}");
        assert_eq!(transcript.turns(), turns, "{name}");
    });
}

/// Entries that come with different marks, usage or contents in the course of one reading: streams do that.
fn streamed(batches: &[Batch]) -> HashSet<Key> {
    let mut streamed = HashSet::new();
    let mut heads: HashMap<Key, (Marks, Option<Box<Usage>>)> = HashMap::new();
    let mut seen: HashMap<(Key, Piece), Vec<BlockKind>> = HashMap::new();
    let mut callers: HashMap<Key, Key> = HashMap::new();
    let mut places: HashMap<Key, (Option<Name>, Origin)> = HashMap::new();
    let mut states: HashSet<Key> = HashSet::new();
    let mut results: HashMap<Key, ToolResult> = HashMap::new();
    for edit in batches.iter().flat_map(|batch| &batch.edits) {
        match edit {
            Edit::Entry(entry) => {
                let head = (entry.marks, entry.usage.clone());
                if heads
                    .insert(entry.key.clone(), head.clone())
                    .is_some_and(|before| before != head)
                {
                    streamed.insert(entry.key.clone());
                }
                places.insert(entry.key.clone(), (entry.lane.clone(), entry.origin));
                callers.extend(
                    entry
                        .calls()
                        .map(|call| (call.key.clone(), entry.key.clone())),
                );
                for block in &entry.blocks {
                    let of_piece = entry
                        .blocks
                        .iter()
                        .filter(|other| other.piece == block.piece);
                    let kinds: Vec<BlockKind> = of_piece.map(|block| block.kind.clone()).collect();
                    let place = (entry.key.clone(), block.piece);
                    if seen
                        .insert(place, kinds.clone())
                        .is_some_and(|before| before != kinds)
                    {
                        streamed.insert(entry.key.clone());
                    }
                }
            }
            Edit::RetirePiece { of, .. }
            | Edit::Retire(of)
            | Edit::CopiedWith(of)
            | Edit::Complete { of, .. } => {
                streamed.insert(of.clone());
            }
            Edit::Copied { lane, before } => {
                let is_copy = |(of, at): &(Option<Name>, Origin)| {
                    of == lane && at.file == before.file && at.at < before.at
                };
                let copies = places.iter().filter(|(_, place)| is_copy(place));
                streamed.extend(copies.map(|(key, _)| key.clone()));
            }
            // The whole of an output may come after its beginning.
            Edit::Result { call, result, .. } => {
                let before = results.insert(result.key.clone(), (**result).clone());
                if states.contains(call) || before.is_some_and(|before| before != **result) {
                    streamed.extend(callers.get(call).cloned());
                }
            }
            // What a call is doing comes anew, until its end comes.
            Edit::State { call, .. } => {
                states.insert(call.clone());
                streamed.extend(callers.get(call).cloned());
            }
            Edit::Update { .. } | Edit::Usage { .. } | Edit::Link { .. } | Edit::Meta(_) => {}
        }
    }
    streamed
}

#[test]
fn every_call_ends_in_a_state_and_no_result_is_astray_beside_its_call() {
    each_session(|name, session| {
        let mut open: HashMap<Key, EntryId> = HashMap::new();
        for id in session.transcript.order() {
            for block in &session.transcript.get(*id).unwrap().blocks {
                let BlockKind::Call(call) = &block.kind else {
                    continue;
                };
                match &call.state {
                    ToolState::Acknowledged(result) => {
                        assert!(
                            result.ended().is_none(),
                            "{name}: what ended is no more on its way"
                        );
                    }
                    ToolState::Done(result) => assert_eq!(result.verdict, Verdict::Done, "{name}"),
                    ToolState::Failed(result) => {
                        assert_eq!(result.verdict, Verdict::Failed, "{name}");
                    }
                    ToolState::Refused(result) => {
                        assert_eq!(result.verdict, Verdict::Refused, "{name}");
                    }
                    ToolState::Stopped(result) => {
                        assert_eq!(result.verdict, Verdict::Stopped, "{name}");
                    }
                    ToolState::Pending
                    | ToolState::Running
                    | ToolState::Streaming(_)
                    | ToolState::Lost => {
                        open.insert(call.key.clone(), *id);
                    }
                }
            }
        }
        let strays = session.transcript.entries().flat_map(|entry| &entry.blocks);
        for block in strays {
            let BlockKind::Result(stray) = &block.kind else {
                continue;
            };
            let waits = identifies(&stray.call) && open.contains_key(&stray.call);
            assert!(
                !waits,
                "{name}: {:?} waits while its result is a stray",
                stray.call
            );
        }
    });
}

#[test]
fn totals_are_the_sum_of_what_entries_and_edits_say() {
    each_session(|name, session| {
        let mut sum = Totals::default();
        for entry in session.transcript.entries() {
            if let Some(usage) = &entry.usage {
                sum.add(usage, entry.model.as_ref());
            }
        }
        let mut beside: HashMap<&Key, (&Usage, Option<&Name>)> = HashMap::new();
        for edit in session.batches.iter().flat_map(|batch| &batch.edits) {
            if let Edit::Usage { of, usage, model } = edit
                && session.transcript.find(of).is_none()
            {
                beside.insert(of, (usage, model.as_ref()));
            }
        }
        for (usage, model) in beside.into_values() {
            sum.add(usage, model);
        }
        assert_eq!(spent(session.transcript.totals()), spent(&sum), "{name}");
    });
}

fn spent(totals: &Totals) -> Vec<(Name, ModelUsage)> {
    totals
        .by_model()
        .iter()
        .filter(|(_, spent)| *spent != ModelUsage::default())
        .cloned()
        .collect()
}

#[test]
fn a_record_read_again_gives_the_same_bodies() {
    for path in fixtures::all() {
        fixtures::targets(&path).iter().for_each(bodies_come_again);
    }
}

#[test]
fn what_stands_before_a_document_is_read_again_by_itself() {
    let text = r#"{
  "version": 1,
  "agent": "lead",
    {
  "sessionId": "clock",
  "messages": [
    { "id": "m1", "role": "user", "content": [ { "type": "text", "text": "Count the hands." } ] },
    { "id": "m2", "role": "assistant", "content": [ { "type": "text", "text": "Two." } ] }
  ]
}"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clock.json");
    std::fs::write(&path, text).unwrap();
    bodies_come_again(&Target {
        path,
        session: None,
    });
}

fn bodies_come_again(target: &Target) {
    let mut session = fixtures::read(target);
    let stay = staying(&target.path, session.opened.format);
    for body in bodies(&session.transcript) {
        if stay.contains(&(body.from.at, body.slot)) {
            continue;
        }
        let held = session.pager.read(body.from);
        let again = held.get(usize::from(body.slot));
        // What is no longer than its beginning is never read again: the end of a run may answer the call before it,
        // which is not there when its record is read alone.
        if again.is_none() && body.held == Held::Stub {
            continue;
        }
        let place = format!(
            "{} record {} slot {}",
            fixtures::name(&target.path),
            body.from.line,
            body.slot
        );
        assert_eq!(again, Some(&body.held), "{place}");
    }
}

#[test]
fn a_record_decoded_alone_gives_the_same_bodies() {
    for path in fixtures::line_files() {
        let lines = Lines::of(&path);
        let mut decoder = lines.format.decoder(None);
        let whole = fixtures::decode(&mut *decoder, &lines.records(), &Batch::default());
        let whole = fixtures::transcript_of(vec![whole]);
        let stay = staying(&path, lines.format.name());
        let is_read_again = |body: &&Body| !stay.contains(&(body.from.at, body.slot));
        for stubs_only in [false, true] {
            for body in bodies(&whole).into_iter().filter(is_read_again) {
                let alone = alone(&lines, body, stubs_only);
                let place = format!(
                    "{} record {} slot {}",
                    fixtures::name(&path),
                    body.from.line,
                    body.slot
                );
                let alone = alone.unwrap_or_else(|| panic!("{place}: there is no such body"));
                assert_eq!(&alone, body, "{place}");
                assert!(
                    !stubs_only || body.bytes <= 160 || alone.is_on_disk(),
                    "{place} stays on disk"
                );
            }
        }
    }
}

/// The places of a journal's bodies that stay in memory even if bodies stay on disk and memory is short: no single
/// record holds what an element of the document has come to, so they are never read again. Its other bodies are, as
/// all bodies of all other files are.
fn staying(path: &Path, format: &str) -> HashSet<(u64, u16)> {
    if !fixtures::is_journal(path, format) {
        return HashSet::new();
    }
    let lines = Lines::of(path);
    let mut decoder = lines.format.decoder(None);
    let mut batch = Batch::default();
    batch.stubs_only = true;
    for record in lines.records() {
        feed(&mut *decoder, record, RecordPlace::Line, &mut batch);
    }
    decoder.finish(&mut batch);
    let mut made = fixtures::transcript_of(vec![batch]);
    made.release(0, |_| false);
    let there = bodies(&made).into_iter().filter(|body| !body.is_on_disk());
    there.map(|body| (body.from.at, body.slot)).collect()
}

/// The same body from a fresh decoder that sees nothing but the body's record, or its records.
fn alone(lines: &Lines, body: &Body, stubs_only: bool) -> Option<Body> {
    let end = |origin: Origin| origin.at + u64::from(origin.len);
    let is_its = |record: &Record<'_>| {
        body.from.at <= end(record.origin) && record.origin.at <= end(body.from)
    };
    let mut decoder = lines.format.decoder(None);
    let mut batch = Batch::default();
    batch.stubs_only = stubs_only;
    for record in lines.records().into_iter().filter(is_its) {
        feed(&mut *decoder, record, RecordPlace::Line, &mut batch);
    }
    decoder.finish(&mut batch);
    let made = fixtures::transcript_of(vec![batch]);
    let same = |made: &&Body| made.from.at == body.from.at && made.slot == body.slot;
    bodies(&made).into_iter().find(same).cloned()
}

fn bodies(transcript: &Transcript) -> Vec<&Body> {
    transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .flat_map(|block| block.kind.bodies())
        .collect()
}
