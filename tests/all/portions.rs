//! The law of portions: however a session is read, it is the same session: in any chunks, with
//! results in any order, with bodies in memory or on disk, appended to or rewritten. Each law is
//! checked with fixtures of every format.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::{any, prop, proptest};

use tv::formats::decoder::{RecordPlace, feed};
use tv::formats::registry;
use tv::ingest::{Target, WatchMode};
use tv::model::body::Key;
use tv::model::edit::{Batch, BatchMode, Edit};
use tv::model::entry::{Block, BlockKind, Entry, EntryId, Piece};
use tv::model::record::{FileId, Origin};
use tv::model::transcript::Transcript;
use tv::source::lines::{Line, LineBuffer};

use crate::fixtures::{self, Lines, ReadSession};
use crate::follow::Followed;

static LINE_FILES: LazyLock<Vec<PathBuf>> = LazyLock::new(fixtures::line_files);

/// All sessions of all fixtures, read once: their contents are not changed here. Databases and what else
/// is made for a test would be gone, so they are no part of this.
static SESSIONS: LazyLock<Vec<Target>> = LazyLock::new(|| {
    let files = fixtures::all()
        .into_iter()
        .filter(|path| path.extension().is_none_or(|kind| kind != "sql"));
    files.flat_map(|path| fixtures::targets(&path)).collect()
});

fn timeless(transcript: &Transcript) -> Vec<Entry> {
    transcript
        .entries()
        .map(|entry| Entry {
            revision: 0,
            ..entry.clone()
        })
        .collect()
}

/// Everything that is known of a session, compared piece by piece: the first one that differs says enough.
fn assert_same(left: &Transcript, right: &Transcript, place: &str) {
    let (a, b) = (timeless(left), timeless(right));
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(a, b, "{place}");
    }
    assert_eq!(a.len(), b.len(), "{place}");
    assert_eq!(left.tally(), right.tally(), "{place}");
    assert_eq!(left.totals().sum(), right.totals().sum(), "{place}");
    // Entries may have other numbers: one that was taken back and came again has a new one.
    let prompts = |transcript: &Transcript| -> Vec<_> {
        let key = |id: EntryId| transcript.get(id).map(|entry| entry.key.clone());
        let rest = |turn: String| turn.split_once(", first").map(|(_, rest)| rest.to_owned());
        transcript
            .turns()
            .iter()
            .map(|turn| (key(turn.prompt), rest(format!("{turn:?}"))))
            .collect()
    };
    assert_eq!(prompts(left), prompts(right), "{place}");
}

/// Reads bytes in chunks that end at `cuts`; each chunk is a reading of its own.
fn chunked(lines: &Lines, bytes: &[u8], cuts: &[usize]) -> Transcript {
    let mut decoder = lines.format.decoder(None);
    let mut buffer = LineBuffer::new(FileId(0));
    let mut batches: Vec<Batch> = Vec::new();
    let mut start = 0;
    let cuts = cuts.iter().copied().filter(|cut| *cut < bytes.len());
    for end in cuts.chain([bytes.len()]) {
        let mut batch = Batch::default();
        batch.tally = batches
            .last()
            .map(|batch| batch.tally.clone())
            .unwrap_or_default();
        let mut take = |line: Line<'_>| {
            let (Line::Whole(record) | Line::TooLong(record)) = line;
            feed(&mut *decoder, record, RecordPlace::Line, &mut batch);
        };
        buffer.feed(&bytes[start..end], &mut take);
        if end == bytes.len() {
            buffer.unfinished().into_iter().for_each(&mut take);
        }
        decoder.finish(&mut batch);
        batches.push(batch);
        start = end;
    }
    fixtures::transcript_of(batches)
}

proptest! {
    #![proptest_config(fixtures::cases(160))]

    #[test]
    fn any_chunks_of_a_file_give_what_one_reading_gives(
        file in prop::sample::select(LINE_FILES.as_slice()),
        cuts in vec(any::<prop::sample::Index>(), 1..12),
    ) {
        let lines = Lines::of(&file);
        let bytes = fs::read(&file).unwrap();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let place = format!("{} cut at {cuts:?}", fixtures::name(&file));
        assert_same(&chunked(&lines, &bytes, &cuts), &chunked(&lines, &bytes, &[]), &place);
    }

    #[test]
    fn results_may_come_later_and_in_any_order(
        target in prop::sample::select(SESSIONS.as_slice()),
        delays in vec(0_usize..40, 1..60),
    ) {
        let ReadSession { batches, transcript, .. } = fixtures::read(&target);
        let mut late = Batch::default();
        late.tally = batches.last().map(|batch| batch.tally.clone()).unwrap_or_default();
        late.edits = delayed(batches.into_iter().flat_map(|batch| batch.edits).collect(), &delays);
        let late = fixtures::transcript_of(vec![late]);
        let place = fixtures::name(&target.path);
        // A stray result stands where it came; all else is in its place.
        let by_key = |transcript: &Transcript| -> BTreeMap<Key, Vec<Block>> {
            transcript.entries().map(|entry| (entry.key.clone(), entry.blocks.clone())).collect()
        };
        assert_eq!(by_key(&late), by_key(&transcript), "{place}");
        let keys = |transcript: &Transcript| -> Vec<Key> {
            let is_stray = |entry: &&Entry| entry.blocks.iter().any(|block| matches!(block.kind, BlockKind::Result(_)));
            transcript.entries().filter(|entry| !is_stray(entry)).map(|entry| entry.key.clone()).collect()
        };
        assert_eq!(keys(&late), keys(&transcript), "{place}");
        assert_eq!(late.totals().sum(), transcript.totals().sum(), "{place}");
    }
}

/// Edits with results put off by so many places each. Those of one call stay in their order, and all stay before what
/// takes a call back, which takes its result, too: a piece that is retired, or an entry with a call; or, in a journal
/// whose element became another, a piece that comes again without a call that it had.
fn delayed(edits: Vec<Edit>, delays: &[usize]) -> Vec<Edit> {
    let call_of = |edit: &Edit| match edit {
        Edit::Result { call, .. } => Some(call.clone()),
        _ => None,
    };
    let mut out: Vec<(usize, usize, Edit)> = Vec::with_capacity(edits.len());
    let mut last: HashMap<Key, usize> = HashMap::new();
    let mut calls: HashMap<Key, HashMap<Piece, HashSet<Key>>> = HashMap::new();
    let is_return = |(_, edit): &(usize, &Edit)| match edit {
        Edit::RetirePiece { .. } => true,
        Edit::Retire(key) => calls
            .remove(key)
            .is_some_and(|pieces| pieces.values().any(|calls| !calls.is_empty())),
        Edit::Entry(entry) => {
            let mut now: HashMap<Piece, HashSet<Key>> = HashMap::new();
            for block in &entry.blocks {
                let of_piece = now.entry(block.piece).or_default();
                if let BlockKind::Call(call) = &block.kind {
                    of_piece.insert(call.key.clone());
                }
            }
            let known = calls.entry(entry.key.clone()).or_default();
            let is_gone = now.iter().any(|(piece, now)| {
                let before = known.get(piece);
                before.is_some_and(|before| !before.is_subset(now))
            });
            known.extend(now);
            is_gone
        }
        _ => false,
    };
    let returns: Vec<usize> = edits
        .iter()
        .enumerate()
        .filter(is_return)
        .map(|(n, _)| n)
        .collect();
    for (n, edit) in edits.into_iter().enumerate() {
        let due = match call_of(&edit) {
            Some(call) => {
                let due = (n + delays[n % delays.len()]).max(last.get(&call).copied().unwrap_or(0));
                let due = returns
                    .iter()
                    .find(|at| **at > n)
                    .map_or(due, |at| due.min(*at));
                last.insert(call, due);
                due
            }
            None => n,
        };
        out.push((due, n, edit));
    }
    out.sort_by_key(|(due, n, _)| (*due, *n));
    out.into_iter().map(|(_, _, edit)| edit).collect()
}

proptest! {
    #![proptest_config(fixtures::cases(96))]

    #[test]
    fn bodies_that_go_and_come_again_are_the_same(
        target in prop::sample::select(SESSIONS.as_slice()),
        steps in vec((any::<prop::sample::Index>(), 0_u64..4_000), 1..8),
    ) {
        let ReadSession { mut transcript, mut pager, .. } = fixtures::read(&target);
        let whole = transcript.clone();
        let ids = transcript.order().to_vec();
        let held = transcript.loaded_bytes();
        let place = fixtures::name(&target.path);
        for (kept, budget) in steps {
            let kept = (!ids.is_empty()).then(|| ids[kept.index(ids.len())]);
            transcript.release(budget, |id| Some(id) == kept);
            if let Some(id) = kept {
                assert_eq!(transcript.get(id), whole.get(id), "{place}: who is looked at stays");
            }
            let back: Vec<EntryId> = ids.iter().copied().filter(|id| u64::from(id.0) % 3 == budget % 3).collect();
            page_in(&mut transcript, &mut pager, &back);
        }
        page_in(&mut transcript, &mut pager, &ids);
        assert_same(&transcript, &whole, &place);
        assert_eq!(transcript.loaded_bytes(), held, "{place}");
    }
}

/// Reads the bodies of these entries that are away.
fn page_in(transcript: &mut Transcript, pager: &mut tv::ingest::Pager, ids: &[EntryId]) {
    let entries = ids.iter().filter_map(|id| transcript.get(*id));
    let bodies = entries
        .flat_map(|entry| &entry.blocks)
        .flat_map(|block| block.kind.bodies());
    let away = bodies
        .filter(|body| body.is_on_disk())
        .map(|body| body.from);
    let contents: Vec<_> = away.map(|from| (from, pager.read(from))).collect();
    transcript.fill(ids, &contents);
}

#[test]
fn reading_all_anew_is_what_reading_on_would_have_given() {
    for path in LINE_FILES.iter() {
        let lines = Lines::of(path);
        let records = lines.records();
        for cut in 0..=records.len() {
            let (head, rest) = records.split_at(cut);
            let mut decoder = lines.format.decoder(None);
            let first = fixtures::decode(&mut *decoder, head, &Batch::default());
            let second = fixtures::decode(&mut *decoder, rest, &first);
            let mut anew = fixtures::decode(
                &mut *lines.format.decoder(None),
                &records,
                &Batch::default(),
            );
            anew.mode = BatchMode::Replace;
            let appended = fixtures::transcript_of(vec![first.clone(), second]);
            let rewritten = fixtures::transcript_of(vec![first, anew]);
            assert_same(
                &rewritten,
                &appended,
                &format!("{} after record {cut}", fixtures::name(path)),
            );
        }
    }
}

#[test]
fn what_fuzzing_found_is_the_same_session_however_it_comes() {
    let found: Vec<PathBuf> = registry().flat_map(fixtures::found).collect();
    assert!(found.len() >= 6, "{found:?}");
    for path in found {
        let lines = Lines::of(&path);
        let records = lines.records();
        let whole = fixtures::decode(
            &mut *lines.format.decoder(None),
            &records,
            &Batch::default(),
        );
        let mut anew = whole.clone();
        anew.mode = BatchMode::Replace;
        let once = fixtures::transcript_of(vec![whole.clone()]);
        let twice = fixtures::transcript_of(vec![whole, anew.clone()]);
        assert_same(&twice, &once, &format!("{} read twice", path.display()));
        assert_eq!(
            twice.loaded_bytes(),
            once.loaded_bytes(),
            "{}",
            path.display()
        );
        for cut in 0..=records.len() {
            let (head, rest) = records.split_at(cut);
            let mut decoder = lines.format.decoder(None);
            let first = fixtures::decode(&mut *decoder, head, &Batch::default());
            let second = fixtures::decode(&mut *decoder, rest, &first);
            let place = format!("{} after record {cut}", path.display());
            assert_same(
                &fixtures::transcript_of(vec![first.clone(), second]),
                &once,
                &place,
            );
            assert_same(
                &fixtures::transcript_of(vec![first, anew.clone()]),
                &once,
                &place,
            );
        }
        let ReadSession {
            mut transcript,
            mut pager,
            ..
        } = fixtures::read(&Target {
            path: path.clone(),
            session: None,
        });
        let kept = transcript.clone();
        transcript.release(0, |_| false);
        let ids = transcript.order().to_vec();
        page_in(&mut transcript, &mut pager, &ids);
        assert_same(
            &transcript,
            &kept,
            &format!("{} from the disk", path.display()),
        );
    }
}

proptest! {
    #![proptest_config(fixtures::cases(24))]

    /// The same from the disk: while the file is followed, its rest is appended in two writes, or the
    /// whole takes its place.
    #[test]
    fn a_file_written_anew_is_what_appending_makes_of_it(
        file in prop::sample::select(LINE_FILES.as_slice()),
        cuts in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        is_polled in any::<bool>(),
    ) {
        let lines = Lines::of(&file);
        let bytes = fs::read(&file).unwrap();
        // With its first record a file has its format.
        let first = lines.record(0).origin;
        let least = lines.record(lines.count() / 2).origin.at.max(first.at + u64::from(first.len));
        let least = usize::try_from(least).unwrap();
        let mut cuts = [cuts.0.index(bytes.len() - least + 1) + least, cuts.1.index(bytes.len() - least + 1) + least];
        cuts.sort_unstable();
        let mode = if is_polled { WatchMode::Poll } else { WatchMode::Native };
        let check = |is_anew: bool| {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join(file.file_name().unwrap());
            fs::write(&path, &bytes[..cuts[0]]).unwrap();
            let mut followed = Followed::start(&path, mode);
            if is_anew {
                fs::write(path.with_extension("new"), &bytes).unwrap();
                fs::rename(path.with_extension("new"), &path).unwrap();
            } else {
                let mut open = OpenOptions::new().append(true).open(&path).unwrap();
                open.write_all(&bytes[cuts[0]..cuts[1]]).unwrap();
                open.write_all(&bytes[cuts[1]..]).unwrap();
            }
            let whole = fixtures::read(&Target { path: path.clone(), session: None }).transcript;
            followed.until("read to the end", |followed| followed.whole.tally() == whole.tally());
            let mut transcript = followed.whole.clone();
            transcript.update_derived();
            followed.end();
            // What comes at the end of a reading, as that a sub-agent's file is missing, stands where that was.
            let sorted = |transcript: &Transcript| {
                let mut entries = timeless(transcript);
                for entry in &mut entries {
                    entry.origin = Origin::default();
                }
                entries.sort_by(|a, b| a.key.cmp(&b.key));
                entries
            };
            let place = format!("{} at {cuts:?}", fixtures::name(&file));
            assert_eq!(sorted(&transcript), sorted(&whole), "{place}");
            assert_eq!(transcript.totals().sum(), whole.totals().sum(), "{place}");
        };
        check(false);
        check(true);
    }
}
