//! Decodes bytes as one format: as lines, as a document, and as the small files around a session.

use std::path::Path;

use tv::formats::decoder::{Format, RecordPlace, feed, unframed};
use tv::formats::named;
use tv::ingest::contents;
use tv::model::body::Body;
use tv::model::edit::{Batch, BatchMode};
use tv::model::record::{FileId, Origin, Record};
use tv::model::transcript::Transcript;
use tv::render::row::Level;
use tv::source::document::split;
use tv::source::lines::{Line, LineBuffer};

use crate::laws;

/// A record with bytes of its own.
struct Kept {
    origin: Origin,
    bytes: Vec<u8>,
}

impl Kept {
    fn record(&self) -> Record<'_> {
        Record {
            origin: self.origin,
            bytes: &self.bytes,
        }
    }
}

/// What else may lie around the sessions of a format.
fn around(format: &str) -> Vec<RecordPlace<'static>> {
    let file = |path: &'static str| RecordPlace::File(Path::new(path));
    let line = |path: &'static str| RecordPlace::CompanionLine(Path::new(path));
    match format {
        "claude-code" => vec![
            file("s/subagents/agent-c4d5e6f.meta.json"),
            line("s/subagents/agent-c4d5e6f.jsonl"),
            RecordPlace::Text(Path::new("s/tool-results/btest01.txt")),
        ],
        "openclaw" => vec![
            file("agents/main/sessions/sessions.json"),
            file("agents/main/sessions/a.jsonl.lock"),
            line("agents/main/sessions/b.jsonl"),
            RecordPlace::Row("transcript_events"),
        ],
        "cline" => {
            vec![
                file("1_a/1_a.json"),
                file("1_a/scout.messages.json"),
                file("task/ui_messages.json"),
            ]
        }
        "codex" => vec![
            line("h/.codex/sessions/rollout-x-01a0fbd7-d0a0-7000-8000-0000000000a2.jsonl"),
            line("h/.codex/session_index.jsonl"),
        ],
        "kimi-cli" => vec![file("sessions/a/b/state.json")],
        "kimi-code" => vec![
            file("sessions/a/b/state.json"),
            line("sessions/a/b/agents/agent-0/wire.jsonl"),
        ],
        "opencode" => vec![
            file("storage/session/p/ses_1.json"),
            file("storage/message/s/msg_01.json"),
            file("storage/part/msg_01/prt_001.json"),
            file("storage/session_diff/ses_1.json"),
            file("storage/todo/ses_1.json"),
            RecordPlace::Row("session"),
            RecordPlace::Row("message"),
            RecordPlace::Row("part"),
        ],
        _ => Vec::new(),
    }
}

/// Pseudo-random choices that depend on the bytes only (FNV-1a).
fn chance(data: &[u8]) -> usize {
    let mixed = data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    usize::try_from(mixed >> 33).expect("31 bits")
}

/// The inputs of a format's decoder; where there are several, a pseudo-random one is chosen.
pub fn decode(name: &str, data: &[u8]) {
    let format = named(name).expect("a format");
    let lines = lines_of(data);
    let chance = chance(data);
    as_session(format, &lines, chance);
    let around = around(name);
    if let Some(place) = around.get(chance % around.len().max(1)).copied() {
        match place {
            RecordPlace::File(_) | RecordPlace::Text(_) | RecordPlace::Passage => {
                let whole = Kept {
                    origin: origin(0, data.len(), 1),
                    bytes: data.to_vec(),
                };
                lightly(format, &[whole], place);
            }
            _ => lightly(format, &lines, place),
        }
    }
    as_document(format, data);
}

fn origin(at: usize, len: usize, line: u32) -> Origin {
    Origin {
        file: FileId(0),
        at: at as u64,
        len: u32::try_from(len).expect("small"),
        line,
    }
}

fn lines_of(data: &[u8]) -> Vec<Kept> {
    let mut lines = Vec::new();
    let mut keep = |line: Line<'_>| {
        let (Line::Whole(record) | Line::TooLong(record)) = line;
        lines.push(Kept {
            origin: record.origin,
            bytes: record.bytes.to_vec(),
        });
    };
    let mut buffer = LineBuffer::new(FileId(0));
    buffer.feed(data, &mut keep);
    buffer.unfinished().into_iter().for_each(keep);
    lines
}

/// Whether a record holds nothing, or only frames one.
fn is_blank(record: Record<'_>) -> bool {
    let text = String::from_utf8_lossy(record.bytes);
    let is_around = |c: char| c == '\0' || c.is_whitespace();
    let started = text.trim_start_matches(|c: char| c == '\u{feff}' || is_around(c));
    unframed(started.trim_end_matches(is_around)).is_empty()
}

/// Decodes records in one reading, and counts them. `before` are the records decoded before.
fn read(
    format: &dyn Format,
    portions: &[&[Kept]],
    place: RecordPlace<'_>,
    stubs_only: bool,
) -> Vec<Batch> {
    let mut decoder = format.decoder(None);
    let mut batches: Vec<Batch> = Vec::new();
    for portion in portions {
        let mut batch = Batch::default();
        batch.stubs_only = stubs_only;
        batch.tally = batches
            .last()
            .map(|batch| batch.tally.clone())
            .unwrap_or_default();
        for kept in *portion {
            let (records, bytes) = (batch.tally.records(), batch.tally.bytes.total());
            feed(&mut *decoder, kept.record(), place, &mut batch);
            let told = (
                batch.tally.records() - records,
                batch.tally.bytes.total() - bytes,
            );
            if is_blank(kept.record()) {
                assert_eq!(told, (0, 0), "a blank record is none");
            } else if matches!(place, RecordPlace::Line | RecordPlace::Element) {
                assert!(
                    told.0 > 0,
                    "a record was lost: {:?}",
                    String::from_utf8_lossy(&kept.bytes)
                );
                assert_eq!(told.1, kept.bytes.len() as u64, "every byte counts once");
            } else {
                assert!(told.1 <= kept.bytes.len() as u64, "no byte counts twice");
            }
        }
        decoder.finish(&mut batch);
        laws::assert_conserved(&batch.tally);
        batches.push(batch);
    }
    batches
}

fn lightly(format: &dyn Format, records: &[Kept], place: RecordPlace<'_>) {
    let batches = read(format, &[records], place, false);
    laws::assert_clean_within(&batches);
    laws::assert_transcript_clean(&laws::tell(batches));
}

/// Checks a line file. That text is clean and records are counted is always checked. Each other
/// law reads or lays out the whole session again, so an input is checked for two of them, chosen
/// by a hash of its bytes. `chance` also decides where the file is cut, how wide it is shown, and
/// which records are read again.
fn as_session(format: &'static dyn Format, lines: &[Kept], chance: usize) {
    let batches = read(format, &[lines], RecordPlace::Line, false);
    let whole = laws::tell(batches.clone());
    laws::assert_transcript_clean(&whole);
    let (asked, chance) = (chance % 4, chance / 4);
    if asked % 2 == 0 {
        in_two_portions(format, lines, &whole, chance);
    } else {
        bodies_come_again(format, lines, &whole, chance);
    }
    if asked / 2 == 0 {
        told_again(batches, &whole);
    } else {
        let level = if chance.is_multiple_of(2) {
            Level::Full
        } else {
            Level::Preview
        };
        laws::assert_laid_out(
            &whole,
            20 + u16::try_from(chance % 163).expect("small"),
            level,
        );
    }
}

/// Any chunks give the same session.
fn in_two_portions(format: &'static dyn Format, lines: &[Kept], whole: &Transcript, chance: usize) {
    let (head, rest) = lines.split_at(chance % (lines.len() + 1));
    let parts = laws::tell(read(format, &[head, rest], RecordPlace::Line, false));
    if is_stream(lines) {
        assert_eq!(parts.tally(), whole.tally());
    } else {
        laws::assert_same(&parts, whole);
    }
}

/// Edits sent twice give the same session.
fn told_again(batches: Vec<Batch>, whole: &Transcript) {
    let mut again = laws::tell(batches.clone());
    for mut batch in batches {
        batch.mode = BatchMode::Replace;
        again.apply(batch);
    }
    again.update_derived();
    laws::assert_same(&again, whole);
}

/// What a stream says up to the end of a reading may change once the rest is there and breaks it.
/// Valid streams are cut in the tests of the program.
fn is_stream(lines: &[Kept]) -> bool {
    lines
        .iter()
        .any(|line| line.bytes.windows(4).any(|part| part == b"elta"))
}

/// Bodies that were left on disk are the same when a fresh decoder reads their record.
fn bodies_come_again(format: &dyn Format, lines: &[Kept], whole: &Transcript, chance: usize) {
    let away = laws::tell(read(format, &[lines], RecordPlace::Line, true));
    let gone: Vec<(&Body, &Body)> = bodies(&away)
        .zip(bodies(whole))
        .filter(|(away, _)| away.is_on_disk())
        .collect();
    assert_eq!(bodies(&away).count(), bodies(whole).count());
    for (away, kept) in gone.iter().skip(chance % (gone.len() + 1)).take(3) {
        let end = |origin: Origin| origin.at + u64::from(origin.len);
        let its = |line: &&Kept| (line.origin.at..=end(line.origin)).contains(&away.from.at);
        let first = lines
            .iter()
            .position(|line| its(&line))
            .expect("a body has a record");
        let line = &lines[first];
        let mut decoder = format.decoder(None);
        let mut batch = Batch::default();
        let is_several = end(away.from) > end(line.origin);
        if is_several {
            // The body was streamed in pieces, so all lines of its record are needed.
            for line in lines[first..]
                .iter()
                .take_while(|line| line.origin.at < end(away.from))
            {
                feed(&mut *decoder, line.record(), RecordPlace::Line, &mut batch);
            }
        } else {
            let start = usize::try_from(away.from.at - line.origin.at).expect("small");
            let len = usize::try_from(away.from.len).expect("small");
            // As the pager does: the bytes of the body's own record, which may be a part of its
            // line.
            let bytes = line.bytes[start..start + len].to_vec();
            feed(
                &mut *decoder,
                Kept {
                    origin: away.from,
                    bytes,
                }
                .record(),
                RecordPlace::Line,
                &mut batch,
            );
        }
        decoder.finish(&mut batch);
        let of_all = |body: &Body| !is_several || body.from == away.from;
        let same = contents(&batch, of_all)
            .into_iter()
            .nth(usize::from(away.slot));
        assert_eq!(same.as_ref(), Some(&kept.held), "{away:?}");
    }
}

fn bodies(transcript: &Transcript) -> impl Iterator<Item = &Body> {
    transcript
        .entries()
        .flat_map(|entry| &entry.blocks)
        .flat_map(|block| block.kind.bodies())
}

/// A document is split into its root and its messages; the ranges are in order and within the
/// file.
fn as_document(format: &dyn Format, data: &[u8]) {
    let Some(split) = split(data) else { return };
    let mut end = split.root.start;
    for element in &split.elements {
        assert!(
            end <= element.start && element.start < element.end && element.end <= split.root.end
        );
        end = element.end;
    }
    let kept = |at: usize, bytes: &[u8], line| Kept {
        origin: origin(at, bytes.len(), line),
        bytes: bytes.to_vec(),
    };
    let header = split
        .header
        .as_ref()
        .map(|header| kept(split.root.start, header, 0));
    let elements: Vec<Kept> = split
        .elements
        .iter()
        .map(|range| kept(range.start, &data[range.clone()], 1))
        .collect();
    let mut decoder = format.decoder(None);
    let mut batch = Batch::default();
    if let Some(header) = &header {
        feed(
            &mut *decoder,
            header.record(),
            RecordPlace::Header,
            &mut batch,
        );
    }
    for element in elements
        .iter()
        .filter(|element| !is_blank(element.record()))
    {
        let before = batch.tally.records();
        feed(
            &mut *decoder,
            element.record(),
            RecordPlace::Element,
            &mut batch,
        );
        let told = batch.tally.records() > before;
        assert!(
            told,
            "a message was lost: {:?}",
            String::from_utf8_lossy(&element.bytes)
        );
    }
    decoder.finish(&mut batch);
    laws::assert_conserved(&batch.tally);
    laws::assert_clean_within(&batch);
    laws::assert_transcript_clean(&laws::tell([batch]));
}
