//! Tests of files with one defect: an odd element among records, a truncated document, an archive
//! that grows without end, an unknown name. Everything else is read as usual, and the defect is
//! reported.

use std::fs;
use std::path::Path;

use tv::ingest::{self, Target};
use tv::model::edit::{Feed, Stage};
use tv::model::entry::BlockKind;
use tv::model::transcript::Transcript;

use crate::fixtures::{self, Lines};

/// The format of a file, its transcript, and why reading stopped.
fn read(path: &Path) -> (&'static str, Transcript, Option<String>) {
    let session = ingest::open(&Target {
        path: path.to_owned(),
        session: None,
    })
    .expect("it opens");
    let (mut transcript, mut fault) = (Transcript::new(), None);
    let format = session.opened.format;
    session.read_whole(false, &mut |feed| match feed {
        Feed::Batch {
            stage: Stage::Whole,
            batch,
        } => drop(transcript.apply(*batch)),
        Feed::Fault(what) => fault = Some(what.to_string()),
        _ => {}
    });
    transcript.update_derived();
    (format, transcript, fault)
}

/// Entries that show a record as it is.
fn raw(transcript: &Transcript) -> usize {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    blocks
        .filter(|block| matches!(block.kind, BlockKind::Raw(_)))
        .count()
}

#[test]
fn one_odd_element_does_not_hide_what_the_others_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for path in fixtures::line_files() {
        let lines = Lines::of(&path);
        let records: Vec<String> = (0..lines.count())
            .map(|n| String::from_utf8_lossy(lines.record(n).bytes).into_owned())
            .filter(|record| {
                serde_json::from_str::<serde_json::Value>(record)
                    .is_ok_and(|value| value.is_object())
            })
            .collect();
        let file = dir.path().join("array.json");
        let write = |odd: Option<(usize, &str)>| {
            let mut elements: Vec<&str> = records.iter().map(String::as_str).collect();
            if let Some((at, odd)) = odd {
                elements.insert(at, odd);
            }
            fs::write(&file, format!("[{}]", elements.join(",\n"))).unwrap();
            read(&file)
        };
        let (format, sound, _) = write(None);
        if records.len() < 4 || format == "generic" {
            continue;
        }
        seen += 1;
        for (at, odd) in [
            (0, "5"),
            (0, "\"text\""),
            (2, "null"),
            (records.len(), "[1]"),
            (1, "{\"odd\":1}"),
        ] {
            let (name, transcript, _) = write(Some((at, odd)));
            let what = format!("{} with {odd} at {at}", fixtures::name(&path));
            assert_eq!(name, format, "{what}");
            assert_eq!(
                transcript.tally().records(),
                sound.tally().records() + 1,
                "{what}"
            );
            assert!(
                raw(&transcript) <= raw(&sound) + 1,
                "{what}: {} of {}",
                raw(&transcript),
                raw(&sound)
            );
        }
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn every_byte_of_a_document_that_breaks_off_counts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("broken.json");
    for text in [
        "{\"a\":1,\n\"b\":2",
        "{\"title\":\"x\",\n\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"bot\"",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\n\"end\":{\"a\"",
        "[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"user\",\"content\":\"y\"},\n{\"ro",
        "{\"type\":\"user\",\"message\":{\"role\":\"user\"},\n\"x\":[{\"a\":1},{\"b\":",
    ] {
        fs::write(&path, text).unwrap();
        let (_, transcript, _) = read(&path);
        assert!(transcript.tally().faulty > 0, "{text}");
        // Between two elements stands a comma, which is a part of neither.
        let commas = transcript.tally().shown.saturating_sub(1);
        assert_eq!(
            transcript.tally().bytes.total() + commas,
            text.len() as u64,
            "{text}: {:?}",
            transcript.tally()
        );
        assert_eq!(
            transcript.tally().files.total(),
            (
                transcript.tally().records(),
                transcript.tally().bytes.total()
            )
        );
    }
}

/// A zstd frame: a text, then so many blocks of 128 KB of one letter, each of which takes four bytes.
fn bomb(text: &[u8], blocks: usize, letter: u8) -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    let header =
        |kind: u32, size: u32, is_last: u32| (size << 3 | kind << 1 | is_last).to_le_bytes();
    // No checksum and no size of the content; a window of 128 KB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    frame.extend(&header(0, u32::try_from(text.len()).unwrap(), 0)[..3]);
    frame.extend(text);
    for block in 1..=blocks {
        frame.extend(&header(1, BLOCK, u32::from(block == blocks))[..3]);
        frame.push(letter);
    }
    frame
}

#[test]
fn an_archive_that_grows_without_end_says_what_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.jsonl.zst");
    let record = fs::read_to_string(fixtures::line_files().into_iter().next().unwrap()).unwrap();
    fs::write(&path, bomb(record.as_bytes(), 600, b'\n')).unwrap();
    let (_, sound, fault) = read(&path);
    assert!(sound.tally().records() > 0 && fault.is_none(), "{fault:?}");
    fs::write(&path, bomb(record.as_bytes(), 3_300, b'x')).unwrap();
    let (_, transcript, fault) = read(&path);
    assert_eq!(transcript.tally().shown, sound.tally().shown);
    let fault = fault.unwrap_or_default();
    assert!(
        fault.contains("what the zstd archive holds takes more than"),
        "{fault}"
    );
    assert!(
        transcript
            .notices()
            .iter()
            .any(|notice| *notice.what == *fault)
    );
}
