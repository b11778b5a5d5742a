//! Sessions of any size in the shape that Claude Code writes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A session and what must come out of it.
pub(crate) struct Session {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) records: u64,
    pub(crate) entries: u64,
}

/// Records and entries of one turn.
const TURN: (u64, u64) = (5, 3);

/// Makes a session of about so many megabytes, unless it is there.
pub(crate) fn at(path: &Path, megabytes: u64) -> Session {
    let bytes_of_turn = turn(0).len() as u64;
    let turns = (megabytes * 1_000_000).div_ceil(bytes_of_turn);
    let expected = turns * bytes_of_turn;
    if fs::metadata(path).map_or(0, |found| found.len()) != expected {
        let mut out = BufWriter::new(File::create(path).unwrap());
        for n in 0..turns {
            out.write_all(turn(n).as_bytes()).unwrap();
        }
        out.flush().unwrap();
    }
    Session { path: path.to_owned(), bytes: expected, records: turns * TURN.0, entries: turns * TURN.1 }
}

/// A turn: prompt; thinking and a call; its result; an answer. All turns have the same length.
fn turn(n: u64) -> String {
    let output = "   Compiling harbour v0.1.0\\ntest tides::spring_tide_is_higher ... ok\\n".repeat(28);
    let prose = "The tide table was read **twice**, once for each pier; see `src/tides.rs`. ".repeat(8);
    let lines = [
        format!(
            r#""type":"user","message":{{"role":"user","content":"Prompt {n:09}: why is the tide late?"}}"#
        ),
        assistant(n, 1, &format!(r#"{{"type":"thinking","thinking":"{prose}","signature":"c2ln"}}"#), "null"),
        assistant(
            n,
            1,
            &format!(
                r#"{{"type":"tool_use","id":"toolu_{n:09}","name":"Bash","input":{{"command":"cargo test tides"}}}}"#
            ),
            r#""tool_use""#,
        ),
        format!(
            r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{n:09}","content":"{output}"}}]}},"toolUseResult":{{"stdout":"{output}","stderr":"","interrupted":false}}"#
        ),
        assistant(n, 2, &format!(r#"{{"type":"text","text":"{prose}"}}"#), r#""end_turn""#),
    ];
    lines.iter().enumerate().map(|(place, line)| envelope(n, place, line)).collect()
}

fn assistant(n: u64, message: u8, block: &str, stop: &str) -> String {
    format!(
        r#""type":"assistant","requestId":"req_{n:09}_{message}","message":{{"id":"msg_{n:09}_{message}","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{block}],"stop_reason":{stop},"usage":{{"input_tokens":3,"cache_creation_input_tokens":120,"cache_read_input_tokens":24000,"output_tokens":310}}}}"#
    )
}

/// One line of the file.
pub(crate) fn envelope(n: u64, place: usize, fields: &str) -> String {
    let second = n % 60;
    let minute = n / 60 % 60;
    format!(
        r#"{{"parentUuid":"{n:09}-{}","isSidechain":false,"userType":"external","cwd":"/srv/harbour","sessionId":"bench","version":"2.1.157","gitBranch":"main",{fields},"uuid":"{n:09}-{place}","timestamp":"2026-03-13T10:{minute:02}:{second:02}.{place}00Z"}}"#,
        place.wrapping_sub(1) % 5
    ) + "\n"
}
