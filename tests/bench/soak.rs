//! A long run with everything at once: `cargo bench -- soak 30` (minutes; `--seed N` repeats a
//! run). Three sessions grow, one of them with a sub-agent, while random keys are pressed and the
//! terminal is resized.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tv::app::input::action::Action;
use tv::app::input::bindings::BINDINGS;
use tv::app::input::keys::{Code, Press, parse_keys};

use crate::console::{Console, Facts, SIZE};
use crate::sessions::{Emitter, Shape};
use crate::words::{Dice, Words};

/// Time between two looks at the process.
const SAMPLE: Duration = Duration::from_secs(10);
/// Turns that each session has at the beginning.
const TURNS: usize = 100;
/// Words on the screen that nothing here gives a reason for.
const ALARMS: [&str; 7] = [
    "error in tv",
    "panicked",
    "reading stopped",
    "unreadable",
    "file gone",
    "archived as",
    "bytes that are not",
];

/// What was seen.
#[derive(Default)]
struct Seen {
    samples: Vec<(Duration, Facts)>,
    notices: BTreeMap<String, Duration>,
    keys: u64,
    resizes: u64,
    switches: u64,
}

/// Runs for so many minutes.
pub(crate) fn run(minutes: f64, seed: u64) {
    println!("soak: {minutes} minutes, seed {seed}, {}", crate::program());
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let words = Arc::new(Words::new(seed));
    let sessions = sessions(home, &words);
    let (stop, lines) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let writers: Vec<JoinHandle<()>> = (0..sessions.len())
        .map(|number| {
            let (path, words) = (sessions[number].clone(), Arc::clone(&words));
            let (stop, lines) = (Arc::clone(&stop), Arc::clone(&lines));
            std::thread::spawn(move || write(&path, seed + number as u64, &words, &stop, &lines))
        })
        .collect();
    let program = [crate::program(), sessions[0].to_str().unwrap().to_owned()];
    // Nothing that a key could start is found.
    let mut console = Console::start_in(&program, SIZE, home, &[("PATH", home.to_str().unwrap())]);
    let mut seen = Seen::default();
    let over = keep_busy(
        &mut console,
        Duration::from_secs_f64(minutes * 60.0),
        seed,
        &mut seen,
    );
    let is_early = over.is_some();
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.join().unwrap();
    }
    let code = over.or_else(|| {
        console.resize(SIZE);
        console.quit("\x1b");
        console.quit("\x1b\x1bQ").or_else(|| console.quit("\x03"))
    });
    report(
        &seen,
        &console,
        (code, is_early),
        lines.load(Ordering::Relaxed),
        &sessions,
    );
}

/// Three sessions where Claude Code keeps them; the first one has a sub-agent.
fn sessions(home: &Path, words: &Words) -> Vec<PathBuf> {
    let folder = home.join(".claude/projects/-srv-harbour");
    fs::create_dir_all(&folder).unwrap();
    let paths =
        (1..=3).map(|number| folder.join(format!("50a50a50-0000-4000-8000-{number:012}.jsonl")));
    let mut paths: Vec<PathBuf> = paths.collect();
    for path in &paths {
        let mut emitter = Emitter::new(Shape::Claude, words);
        let turns = (0..TURNS).flat_map(|_| emitter.turn(false));
        let text: String = turns.map(|line| line + "\n").collect();
        fs::write(path, text).unwrap();
    }
    let agents = paths[0].with_extension("").join("subagents");
    fs::create_dir_all(&agents).unwrap();
    let agent = agents.join("agent-50a5.jsonl");
    fs::write(&agent, "").unwrap();
    paths.push(agent);
    paths
}

/// Appends turns line by line, about one a second; sometimes a line comes in two pieces.
fn write(path: &Path, seed: u64, words: &Words, stop: &AtomicBool, lines: &AtomicU64) {
    let is_agent = path
        .parent()
        .is_some_and(|folder| folder.ends_with("subagents"));
    let mut emitter = Emitter::new(Shape::Claude, words);
    // Its sessions begin where those that were written before end.
    (0..TURNS).for_each(|_| drop(emitter.turn(false)));
    let mut dice = Dice::new(seed);
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    while !stop.load(Ordering::Relaxed) {
        for line in emitter.turn(false) {
            let mut line = line + "\n";
            if is_agent {
                line = line.replacen(
                    r#""isSidechain":false"#,
                    r#""isSidechain":true,"agentId":"50a5""#,
                    1,
                );
            }
            let (first, rest) = line.as_bytes().split_at(if dice.permille(100) {
                line.len() / 2
            } else {
                0
            });
            file.write_all(first).unwrap();
            std::thread::sleep(Duration::from_millis(10 + dice.roll() % 150));
            file.write_all(rest).unwrap();
            lines.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Presses keys until the time is over, or the program. Answers with its exit code in that case.
fn keep_busy(console: &mut Console, time: Duration, seed: u64, seen: &mut Seen) -> Option<u32> {
    let keys = bound_keys();
    let mut dice = Dice::new(seed);
    let started = Instant::now();
    let mut next_sample = Duration::from_secs(5);
    while started.elapsed() < time {
        if let Some(code) = console.exit() {
            return Some(code);
        }
        press(console, &keys, &mut dice, seen);
        let pause = Instant::now() + Duration::from_millis(5 + dice.roll() % 60);
        while Instant::now() < pause {
            console.pump(Duration::from_millis(5));
        }
        look_for_alarms(console, started, seen);
        if started.elapsed() >= next_sample {
            next_sample += SAMPLE;
            let facts = console.facts();
            seen.samples.push((started.elapsed(), facts));
        }
    }
    None
}

fn press(console: &mut Console, keys: &[String], dice: &mut Dice, seen: &mut Seen) {
    match dice.below(100) {
        0 | 1 => {
            let size = if dice.permille(100) {
                (1, 1)
            } else {
                (1 + dice.below(300), 1 + dice.below(100))
            };
            console.resize((
                u16::try_from(size.0).unwrap(),
                u16::try_from(size.1).unwrap(),
            ));
            seen.resizes += 1;
        }
        2 => {
            console.resize(SIZE);
            seen.resizes += 1;
        }
        // Another session: the picker, some rows down, and in.
        3 => {
            console.send("\x1b");
            std::thread::sleep(Duration::from_millis(60));
            console.send("s");
            console.pump(Duration::from_millis(100));
            console.send(["\r", "\x1b[B\r", "\x1b[B\x1b[B\r", "\x1b"][dice.below(4)]);
            seen.switches += 1;
        }
        // Words for a prompt that may be open.
        4..=6 => {
            console
                .send(["tide", "harbour\r", "\x7f", "e:error\r", "tool\r", "\x1b"][dice.below(6)]);
            seen.keys += 1;
        }
        _ => {
            let key = &keys[dice.below(keys.len())];
            console.send(key);
            // A line of commands could end the program; this one moves.
            if key == ":" || key == "\x10" {
                std::thread::sleep(Duration::from_millis(20));
                console.send(["goto 50%\r", "\x1b"][dice.below(2)]);
            }
            seen.keys += 1;
        }
    }
}

fn look_for_alarms(console: &Console, started: Instant, seen: &mut Seen) {
    let text = console.text();
    for row in text.lines() {
        let is_bad = row.match_indices(" bad").any(|(at, _)| {
            row[..at].ends_with(|c: char| c.is_ascii_digit()) && !row[..at].ends_with(" 0")
        });
        if is_bad || ALARMS.iter().any(|alarm| row.contains(alarm)) {
            seen.notices
                .entry(row.trim().to_owned())
                .or_insert_with(|| started.elapsed());
        }
    }
}

/// What a terminal sends for every binding, without those that leave the program or start another one.
fn bound_keys() -> Vec<String> {
    let leaves = |action: &Action| {
        matches!(
            action,
            Action::Suspend | Action::Quit | Action::QuitNow | Action::Edit | Action::Pipe
        )
    };
    let bindings = BINDINGS.iter().filter(|binding| !leaves(&binding.action));
    let keys = bindings.flat_map(|binding| binding.keys.iter());
    let sent = keys.map(|keys| {
        parse_keys(keys)
            .unwrap()
            .into_iter()
            .map(sent)
            .collect::<String>()
    });
    // Where the first key of several does something by itself, this one leaves.
    sent.filter(|keys| !keys.contains('q')).collect()
}

fn sent(press: Press) -> String {
    let plain = match press.code {
        Code::Char(c) if press.ctrl => char::from(u8::try_from(c).unwrap() & 0x1f).to_string(),
        Code::Char(c) => c.to_string(),
        // Any letter would do; this one turns pages where no letter is waited for.
        Code::Letter => "b".to_owned(),
        Code::Enter => "\r".to_owned(),
        Code::Esc => "\x1b".to_owned(),
        Code::Tab => "\t".to_owned(),
        Code::BackTab => "\x1b[Z".to_owned(),
        Code::Backspace => "\x7f".to_owned(),
        Code::Delete => "\x1b[3~".to_owned(),
        Code::PageUp => "\x1b[5~".to_owned(),
        Code::PageDown => "\x1b[6~".to_owned(),
        Code::F(number) => format!("\x1bO{}", ["P", "Q", "R", "S"][usize::from(number - 1) % 4]),
        Code::Up | Code::Down | Code::Right | Code::Left | Code::Home | Code::End => {
            let letter = match press.code {
                Code::Up => 'A',
                Code::Down => 'B',
                Code::Right => 'C',
                Code::Left => 'D',
                Code::Home => 'H',
                _ => 'F',
            };
            let modifier = if press.ctrl {
                "1;5"
            } else if press.alt {
                "1;3"
            } else {
                ""
            };
            return format!("\x1b[{modifier}{letter}");
        }
    };
    if press.alt {
        format!("\x1b{plain}")
    } else {
        plain
    }
}

fn report(
    seen: &Seen,
    console: &Console,
    (code, is_early): (Option<u32>, bool),
    lines: u64,
    sessions: &[PathBuf],
) {
    let bytes: u64 = sessions
        .iter()
        .map(|path| fs::metadata(path).map_or(0, |found| found.len()))
        .sum();
    let rss = |place: usize| seen.samples.get(place).map_or(0.0, |(_, facts)| facts.rss);
    let (half, end) = (
        rss(seen.samples.len() / 2),
        rss(seen.samples.len().saturating_sub(1)),
    );
    let minute = seen
        .samples
        .iter()
        .find(|(at, _)| at.as_secs() >= 60)
        .map_or(0.0, |(_, facts)| facts.rss);
    let range = |of: fn(&Facts) -> usize| {
        let all = || seen.samples.iter().map(|(_, facts)| of(facts));
        format!(
            "{} to {}",
            all().min().unwrap_or(0),
            all().max().unwrap_or(0)
        )
    };
    for (at, facts) in &seen.samples {
        let (rss, threads, fds) = (facts.rss, facts.threads, facts.fds);
        println!(
            "{:>5} s: {rss:.1} MB, {threads} threads, {fds} files",
            at.as_secs()
        );
    }
    println!(
        "appended lines: {lines} ({:.1} MB in all sessions)",
        bytes as f64 / 1e6
    );
    println!(
        "keys: {}, resizes: {}, sessions chosen: {}",
        seen.keys, seen.resizes, seen.switches
    );
    println!("memory after 1 minute / half / end: {minute:.1} / {half:.1} / {end:.1} MB");
    println!(
        "threads: {}, open files: {}",
        range(|facts| facts.threads),
        range(|facts| facts.fds)
    );
    println!(
        "notices that nothing gave a reason for: {}",
        seen.notices.len()
    );
    for (notice, at) in &seen.notices {
        println!("  after {:.1} s: {notice}", at.as_secs_f64());
    }
    let left = console.left_behind();
    match code {
        Some(0) if is_early => {
            println!(
                "ENDED BEFORE ITS TIME, as if it was asked to, after {:?}",
                console.typed
            );
        }
        Some(0) => println!("ended when it was asked to"),
        Some(code) => println!("ENDED with code {code}; the screen:\n{}", console.text()),
        None => println!(
            "DID NOT END when it was asked to; the screen:\n{}",
            console.text()
        ),
    }
    println!(
        "left behind in the terminal: {}",
        if left.is_empty() {
            "nothing".to_owned()
        } else {
            left.join(", ")
        }
    );
}
