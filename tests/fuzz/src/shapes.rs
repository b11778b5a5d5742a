//! Sessions of any shape: few ids of calls, messages and records are used again and again, in any
//! relation. The content is plain; the cost must not depend on the relations.

use std::fmt::Write;

use tv::analysis::lint::Findings;
use tv::formats::decoder::{RecordPlace, feed};
use tv::formats::named;
use tv::model::edit::Batch;
use tv::model::record::{FileId, Origin, Record};
use tv::model::transcript::Transcript;

/// Bytes that a record is made of.
const A_RECORD: usize = 4;
/// Records of a session.
const MOST: usize = 1_500;
/// Limit of steps per record or call: an entry is judged twice at most, each time with bounded
/// work.
const STEPS: usize = 400;

/// Counts the cost of a session of this shape, read at once and in chunks.
pub fn cost(data: &[u8]) {
    let Some((knobs, records)) = data.split_first() else {
        return;
    };
    let is_tree = knobs & 1 != 0;
    let name = if is_tree { "pi" } else { "claude-code" };
    let format = named(name).expect("a format");
    let pace = 1 + usize::from(knobs >> 4);
    let mut decoder = format.decoder(None);
    let mut transcript = Transcript::new();
    let mut findings = Findings::default();
    let (mut count, mut at) = (0, 0_u64);
    let header =
        br#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T08:00:00.000Z","cwd":"/w"}"#;
    let header = is_tree.then(|| header.to_vec());
    let lines = records
        .chunks_exact(A_RECORD)
        .take(MOST)
        .enumerate()
        .map(|(number, of)| {
            let of = [of[0], of[1], of[2], of[3]];
            if is_tree {
                in_tree(number, of).into_bytes()
            } else {
                in_lines(number, of).into_bytes()
            }
        });
    for (number, line) in header.into_iter().chain(lines).enumerate() {
        let mut batch = Batch::default();
        let line_number = u32::try_from(number).expect("few") + 1;
        let origin = Origin {
            file: FileId(0),
            at,
            len: u32::try_from(line.len()).expect("short"),
            line: line_number,
        };
        at += line.len() as u64 + 1;
        count += 1 + line
            .windows(4)
            .filter(|part| [&b"\"id\""[..], &b"\"ok\""[..]].contains(part))
            .count();
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: &line,
            },
            RecordPlace::Line,
            &mut batch,
        );
        decoder.finish(&mut batch);
        let touched = transcript.apply(batch);
        findings.invalidate(&transcript, &touched);
        if number % (16 * pace) == 0 {
            transcript.update_derived();
            findings.follow(&transcript, pace);
        }
    }
    transcript.update_derived();
    while !findings.follow(&transcript, 64) {}
    let whole = Findings::of(&transcript);
    assert!(
        findings.iter().eq(whole.iter()),
        "what is kept up to date is what the whole has"
    );
    assert!(
        whole.work() <= count * STEPS,
        "{} steps of judging for {count} records and calls",
        whole.work()
    );
    let joined = usize::try_from(transcript.work()).expect("few");
    assert!(
        joined <= count * STEPS,
        "{joined} steps of joining for {count} records and calls"
    );
}

/// Few bits choose among few ids, the others make each record different.
fn few(choice: u8, number: usize) -> usize {
    match choice & 0b11 {
        0 => number,
        1 => number.saturating_sub(usize::from(choice >> 2)),
        2 => usize::from(choice >> 2) % 4,
        _ => number ^ 1,
    }
}

fn call(choice: u8, number: usize) -> String {
    match choice {
        0..16 => "bash".to_owned(),
        16..24 => String::new(),
        _ => format!("t{}", few(choice, number)),
    }
}

fn in_tree(number: usize, [kind, id, parent, calls]: [u8; A_RECORD]) -> String {
    let key = few(kind >> 2, number);
    let parent = few(parent, number.saturating_sub(1));
    let head = format!(
        r#"{{"type":"message","id":"k{key}","parentId":"k{parent}","timestamp":"2026-01-05T08:00:00.000Z","message":{{"#
    );
    let body = match kind & 0b11 {
        0 => r#""role":"user","content":"go on"}}"#.to_owned(),
        1 => format!(
            r#""role":"toolResult","toolCallId":"{}","toolName":"bash","content":[{{"type":"text","text":"ok"}}],"isError":false}}}}"#,
            call(id, number)
        ),
        _ => format!(
            r#""role":"assistant","model":"m","stopReason":"toolUse","content":[{}]}}}}"#,
            joined(calls, |place| {
                format!(
                    r#"{{"type":"toolCall","id":"{}","name":"bash","arguments":{{}}}}"#,
                    call(id, number + place)
                )
            })
        ),
    };
    head + &body
}

fn in_lines(number: usize, [kind, id, message, calls]: [u8; A_RECORD]) -> String {
    let lane = if kind & 0b1100 == 0b1100 {
        r#","agentId":"scout","isSidechain":true"#
    } else {
        ""
    };
    let head = format!(
        r#"{{"uuid":"k{number}","parentUuid":"k{}","sessionId":"s","timestamp":"2026-01-05T08:00:00.000Z"{lane},"#,
        few(kind >> 2, number.saturating_sub(1))
    );
    let body = match kind & 0b11 {
        0 => r#""type":"user","message":{"role":"user","content":"go on"}}"#.to_owned(),
        1 => format!(
            r#""type":"user","message":{{"role":"user","content":[{}]}}}}"#,
            joined(calls, |place| {
                format!(
                    r#"{{"type":"tool_result","tool_use_id":"{}","content":"ok"}}"#,
                    call(id, number + place)
                )
            })
        ),
        _ => format!(
            r#""type":"assistant","message":{{"id":"m{}","role":"assistant","model":"m","content":[{}]}}}}"#,
            few(message, number),
            joined(calls, |place| {
                format!(
                    r#"{{"type":"tool_use","id":"{}","name":"bash","input":{{}}}}"#,
                    call(id, number + place)
                )
            })
        ),
    };
    head + &body
}

fn joined(calls: u8, one: impl Fn(usize) -> String) -> String {
    let count = if calls >= 250 {
        200
    } else {
        usize::from(calls) % 4
    };
    let mut text = String::new();
    for place in 0..count {
        let comma = if place > 0 { "," } else { "" };
        let _ = write!(text, "{comma}{}", one(place));
    }
    text
}
