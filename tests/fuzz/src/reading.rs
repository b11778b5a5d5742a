//! Reads bytes on disk into a transcript, as the program does, and splits bytes into lines.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use tv::ingest::{self, Pager, Target};
use tv::model::edit::{Batch, Feed, Stage};
use tv::model::record::FileId;
use tv::render::row::Level;
use tv::source::document::{Split, split, split_values};
use tv::source::lines::{Line, LineBuffer};

use crate::laws;

/// A file in memory, which is gone with the process.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() {
            memory
        } else {
            std::env::temp_dir()
        };
        Self(folder.join(format!("tv-fuzz-{}.jsonl", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok();
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

/// Opens a file: its format is detected, it is read to the end, and bodies left on disk are read
/// again.
pub fn session(data: &[u8]) {
    SCRATCH.with_borrow(|scratch| {
        fs::write(&scratch.0, data).expect("a file in memory");
        let target = Target {
            path: scratch.0.clone(),
            session: None,
        };
        let Ok((kept, _)) = read(&target, false) else {
            return;
        };
        let (away, mut pager) = read(&target, true).expect("it opened before");
        let last = kept
            .last()
            .map(|batch| batch.tally.clone())
            .unwrap_or_default();
        laws::assert_conserved(&last);
        assert_eq!(
            away.last()
                .map(|batch| batch.tally.clone())
                .unwrap_or_default(),
            last
        );
        laws::assert_clean_within(&kept);
        let (kept, mut away) = (laws::tell(kept), laws::tell(away));
        laws::assert_transcript_clean(&kept);
        let ids = away.order().to_vec();
        let contents: Vec<_> = away
            .entries()
            .flat_map(|entry| &entry.blocks)
            .flat_map(|block| block.kind.bodies())
            .filter(|body| body.is_on_disk())
            .map(|body| (body.from, pager.read(body.from)))
            .collect();
        away.fill(&ids, &contents);
        laws::assert_same(&away, &kept);
        laws::assert_laid_out(
            &kept,
            20 + u16::try_from(data.len() % 100).expect("small"),
            Level::Full,
        );
    });
}

fn read(target: &Target, stubs_only: bool) -> Result<(Vec<Batch>, Pager), ingest::OpenError> {
    let session = ingest::open(target)?;
    let pager = session.pager();
    let verdicts = ingest::verdicts(target)?;
    let format = session.opened.format;
    assert!(
        verdicts.iter().any(|verdict| verdict.format == format),
        "{format} is in the registry"
    );
    let mut batches = Vec::new();
    let mut is_whole = false;
    session.read_whole(stubs_only, &mut |message| match message {
        Feed::Batch {
            stage: Stage::Whole,
            batch,
        } => batches.push(*batch),
        Feed::CaughtUp => is_whole = true,
        Feed::Fault(what) => panic!("{what}"),
        _ => {}
    });
    assert!(is_whole, "the feed ends with CaughtUp");
    Ok((batches, pager))
}

/// Any chunks, chosen by the first bytes, give the lines of a plain split. Documents are split
/// into ranges that are in order and within the file.
pub fn lines(data: &[u8]) {
    let Some(([limit, cuts @ ..], bytes)) = data.split_first_chunk::<8>().map(|(a, b)| (*a, b))
    else {
        return;
    };
    let limit = 1 + usize::from(limit);
    let naive = naive(bytes, limit);
    assert_eq!(chunked(&[bytes], limit), naive);
    let mut places: Vec<usize> = cuts
        .iter()
        .map(|cut| usize::from(*cut) * bytes.len() / 256)
        .collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let chunks: Vec<&[u8]> = places
        .windows(2)
        .map(|pair| &bytes[pair[0]..pair[1]])
        .collect();
    assert_eq!(chunked(&chunks, limit), naive);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(chunked(&single, limit), naive);
    for split in [split(bytes), split_values(bytes)].into_iter().flatten() {
        assert_in_order(&split, bytes.len());
    }
}

type Seen = (u64, u32, u32, bool, Vec<u8>);

fn chunked(chunks: &[&[u8]], limit: usize) -> Vec<Seen> {
    let mut lines = Vec::new();
    let mut keep = |line: Line<'_>| {
        let is_whole = matches!(line, Line::Whole(_));
        let (Line::Whole(record) | Line::TooLong(record)) = line;
        assert_eq!(record.origin.file, FileId(7));
        lines.push((
            record.origin.at,
            record.origin.len,
            record.origin.line,
            is_whole,
            record.bytes.to_vec(),
        ));
    };
    let mut buffer = LineBuffer::new(FileId(7)).with_limit(limit);
    let mut fed = 0;
    for chunk in chunks {
        assert_eq!(buffer.offset(), fed);
        buffer.feed(chunk, &mut keep);
        fed += chunk.len() as u64;
    }
    buffer.unfinished().into_iter().for_each(keep);
    lines
}

/// A plain definition of a line.
fn naive(bytes: &[u8], limit: usize) -> Vec<Seen> {
    let mut lines = Vec::new();
    let mut at = 0;
    for (n, raw) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let is_whole = raw.len() <= limit;
        let kept = &raw[..if is_whole {
            raw.len()
        } else {
            raw.len().min(1024)
        }];
        let kept = kept.strip_suffix(b"\r").unwrap_or(kept);
        let len = if is_whole { kept.len() } else { raw.len() };
        if !raw.is_empty() {
            let small = |n: usize| u32::try_from(n).expect("small");
            lines.push((at, small(len), small(n + 1), is_whole, kept.to_vec()));
        }
        at += raw.len() as u64 + 1;
    }
    lines
}

fn assert_in_order(split: &Split, len: usize) {
    assert!(
        split.root.start < split.root.end && split.root.end <= len,
        "{split:?}"
    );
    let mut end = split.root.start;
    for element in &split.elements {
        assert!(
            end <= element.start && element.start < element.end,
            "{split:?}"
        );
        end = element.end;
    }
    assert!(end <= split.root.end, "{split:?}");
    assert!(
        split
            .cut
            .as_ref()
            .is_none_or(|cut| cut.start <= cut.end && cut.end <= len),
        "{split:?}"
    );
}
