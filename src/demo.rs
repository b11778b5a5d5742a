//! `tv demo`: replays the embedded session into a temporary file as an agent would write it, line
//! after line with pauses, some lines in two halves.
//!
//! Invariant: only that file is written, and it is deleted when the [`Demo`] is dropped.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use tempfile::NamedTempFile;

use crate::model::text::prefix;
use crate::model::timestamp::Timestamp;

const SESSION: &str = include_str!("../assets/demo/session.jsonl");

/// Seconds of the recording per second of the replay at speed 1.
const PACE: f64 = 5.0;
/// Limit of a pause at speed 1, in seconds.
const LONGEST_PAUSE: f64 = 2.0;
/// Lines that are written at the start: they hold the first prompt and identify the format.
const LINES_AT_ONCE: usize = 4;
/// Every line with a multiple of this number is written in two halves, as agents do.
const HALVED: usize = 4;
/// Seconds between the halves at speed 1.
const BETWEEN_HALVES: f64 = 0.15;

pub struct Demo {
    file: NamedTempFile,
    stop: Option<Sender<()>>,
    writer: Option<JoinHandle<()>>,
}

impl Demo {
    /// Starts a replay; at speed 1 it takes about a minute.
    pub fn start(speed: f64) -> io::Result<Self> {
        Self::replay(lines(), speed)
    }

    /// As [`Demo::start`], with timestamps shifted to the time of the replay, so that durations
    /// and ages look as if the session ran now.
    pub(crate) fn start_at(speed: f64, now: Timestamp) -> io::Result<Self> {
        Self::replay(restamped(lines(), speed, now), speed)
    }

    /// The file that is written.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    fn replay(lines: Vec<ReplayLine>, speed: f64) -> io::Result<Self> {
        let file = tempfile::Builder::new()
            .prefix("tv-demo-")
            .suffix(".jsonl")
            .tempfile()?;
        let mut out = file.as_file().try_clone()?;
        for line in lines.iter().take(LINES_AT_ONCE) {
            writeln!(out, "{}", line.line)?;
        }
        let (stop, stopped) = bounded(0);
        let writer = thread::Builder::new()
            .name("demo".to_owned())
            .spawn(move || {
                // A full disk ends the replay; what was written stays readable.
                drop(write_rest(&mut out, &lines, speed, &stopped));
            })?;
        Ok(Self {
            file,
            stop: Some(stop),
            writer: Some(writer),
        })
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(writer) = self.writer.take() {
            drop(writer.join());
        }
    }
}

/// A line, and the pause before it in seconds at speed 1.
struct ReplayLine {
    pause: f64,
    line: String,
}

fn lines() -> Vec<ReplayLine> {
    let mut before: Option<Timestamp> = None;
    let mut lines = Vec::new();
    for line in SESSION.lines() {
        let at = stamp(line).and_then(Timestamp::parse);
        let gap = before.zip(at).map_or(0, |(before, at)| at.since(before));
        before = at.or(before);
        lines.push(ReplayLine {
            pause: (gap as f64 / 1000.0 / PACE).min(LONGEST_PAUSE),
            line: line.to_owned(),
        });
    }
    lines
}

fn restamped(lines: Vec<ReplayLine>, speed: f64, now: Timestamp) -> Vec<ReplayLine> {
    let mut passed = Duration::ZERO;
    let mut number = 0;
    let restamp = |mut line: ReplayLine| {
        if number >= LINES_AT_ONCE {
            passed += at_speed(line.pause, speed);
        }
        number += 1;
        let offset = i64::try_from(passed.as_millis()).unwrap_or(0);
        let at = Timestamp(now.0.saturating_add(offset)).to_rfc3339();
        if let Some(old) = stamp(&line.line).map(str::to_owned) {
            line.line = line.line.replace(&old, &at);
        }
        line
    };
    lines.into_iter().map(restamp).collect()
}

/// The timestamp of a line; the record's own is the last one.
fn stamp(line: &str) -> Option<&str> {
    let (_, rest) = line.rsplit_once(r#""timestamp":""#)?;
    rest.split_once('"').map(|(stamp, _)| stamp)
}

fn at_speed(seconds: f64, speed: f64) -> Duration {
    Duration::try_from_secs_f64(seconds / speed.max(0.01)).unwrap_or_default()
}

/// Why the replay ends early.
enum ReplayEnd {
    Stopped,
    Failed,
}

impl From<io::Error> for ReplayEnd {
    fn from(_: io::Error) -> Self {
        Self::Failed
    }
}

fn write_rest(
    out: &mut File,
    lines: &[ReplayLine],
    speed: f64,
    stopped: &Receiver<()>,
) -> Result<(), ReplayEnd> {
    for (number, line) in lines.iter().enumerate().skip(LINES_AT_ONCE) {
        wait(at_speed(line.pause, speed), stopped)?;
        let mut rest = line.line.as_str();
        if number % HALVED == 0 {
            let half = prefix(rest, rest.len() / 2);
            out.write_all(half.as_bytes())?;
            rest = rest.strip_prefix(half).unwrap_or_default();
            wait(at_speed(BETWEEN_HALVES, speed), stopped)?;
        }
        out.write_all(format!("{rest}\n").as_bytes())?;
    }
    Ok(())
}

/// Waits, unless the demo is dropped meanwhile.
fn wait(pause: Duration, stopped: &Receiver<()>) -> Result<(), ReplayEnd> {
    match stopped.recv_timeout(pause) {
        Err(RecvTimeoutError::Timeout) => Ok(()),
        Ok(()) | Err(RecvTimeoutError::Disconnected) => Err(ReplayEnd::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_takes_about_a_minute() {
        let seconds: f64 = lines()
            .iter()
            .skip(LINES_AT_ONCE)
            .map(|line| line.pause)
            .sum();
        assert!((50.0..75.0).contains(&seconds), "{seconds} s");
    }

    #[test]
    fn moved_times_start_now_and_never_go_back() {
        let now = Timestamp(1_900_000_000_000);
        let times: Vec<Timestamp> = restamped(lines(), 1.0, now)
            .iter()
            .filter_map(|line| stamp(&line.line).and_then(Timestamp::parse))
            .collect();
        assert_eq!(times.first(), Some(&now));
        assert!(times.is_sorted());
        assert!(times.last().is_some_and(|last| last.since(now) > 30_000));
    }
}
