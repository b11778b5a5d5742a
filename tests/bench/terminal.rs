//! Latency of the program in a terminal, compared with other file viewers: `cargo bench -- terminal
//! 10 100 1000`. Programs that are not installed are skipped.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::console::{Console, Facts, SIZE};
use crate::sessions::{self, Emitter, FAR, FIRST, LAST, Shape};
use crate::words::{Dice, Words};

/// The slowest programs need this for a gigabyte.
const PATIENCE: Duration = Duration::from_secs(40);
/// Starts of which the middle one counts.
const STARTS: usize = 5;
const APPENDS: usize = 60;
const KEYS: usize = 60;
const IDLE: Duration = Duration::from_secs(10);

/// A program and its keys. What it cannot do is empty.
struct Peer {
    name: &'static str,
    program: Vec<String>,
    top: &'static str,
    end: &'static str,
    half: &'static str,
    down: &'static str,
    up: &'static str,
    find: &'static str,
    follows: bool,
    quit: &'static str,
}

impl Peer {
    fn new(name: &'static str, program: &[&str], quit: &'static str) -> Self {
        let program = program.iter().map(|&word| word.to_owned()).collect();
        let none = "";
        Self {
            name,
            program,
            top: none,
            end: none,
            half: none,
            down: none,
            up: none,
            find: none,
            follows: false,
            quit,
        }
    }

    fn moves(self, top: &'static str, end: &'static str, half: &'static str) -> Self {
        Self {
            top,
            end,
            half,
            down: "j",
            up: "k",
            ..self
        }
    }

    fn finds(self) -> Self {
        Self { find: "/", ..self }
    }

    fn follows(self) -> Self {
        Self {
            follows: true,
            ..self
        }
    }

    fn is_tv(&self) -> bool {
        self.name.ends_with("tv")
    }
}

fn peers() -> Vec<Peer> {
    let tv = |name, path: &str| {
        Peer::new(name, &[path], "Q")
            .moves("g", "G", ":50%\r")
            .finds()
            .follows()
    };
    let program = crate::program();
    if let Some(other) = crate::beside() {
        return vec![tv("tv", &program), tv("other tv", &other)];
    }
    let all = vec![
        tv("tv", &program),
        Peer::new("less +G", &["less", "+G"], "q")
            .moves("g", "G", "50%")
            .finds(),
        Peer::new("less +F", &["less", "+F"], "\x03q").follows(),
        Peer::new("lnav", &["lnav", "-c", ":enable-word-wrap"], "q")
            .moves("g", "G", ":goto 50%\r")
            .finds()
            .follows(),
        Peer::new("jless", &["jless"], "q").moves("g", "G", ""),
        Peer::new("tail -F", &["tail", "-n", "40", "-F"], "\x03").follows(),
    ];
    let is_there = |peer: &Peer| {
        let found = Path::new(&peer.program[0]).exists()
            || Command::new("sh")
                .args(["-c", &format!("command -v {}", peer.program[0])])
                .output()
                .is_ok_and(|output| output.status.success());
        if !found {
            println!("{} is not installed: left out", peer.program[0]);
        }
        found
    };
    all.into_iter().filter(is_there).collect()
}

/// What was measured, in the order of the table's rows.
#[derive(Default)]
struct Column {
    name: &'static str,
    figures: Vec<(&'static str, Option<f64>)>,
}

impl Column {
    fn add(&mut self, what: &'static str, figure: Option<f64>) {
        self.figures.push((what, figure));
    }

    fn get(&self, what: &str) -> Option<f64> {
        self.figures.iter().find(|(name, _)| *name == what)?.1
    }
}

/// Measures all programs on sessions of these sizes, and prints a table for each session.
pub(crate) fn run(folder: &Path, sizes: &[u64], words: &Words) {
    let peers = peers();
    for &megabytes in sizes {
        for shape in [Shape::Claude, Shape::Pi] {
            let path = fresh(folder, shape, megabytes, words);
            let columns: Vec<Column> = peers
                .iter()
                .map(|peer| measure(peer, &path, shape, words))
                .collect();
            print(&columns, &format!("{megabytes} MB, {}", shape.name()));
        }
    }
}

/// A session that nothing was appended to: a run that was broken off leaves its lines.
fn fresh(folder: &Path, shape: Shape, megabytes: u64, words: &Words) -> PathBuf {
    let path = sessions::file(folder, shape, megabytes, words);
    let mut file = File::open(&path).unwrap();
    let mut end = String::new();
    file.seek(SeekFrom::End(-600)).unwrap();
    file.take(600).read_to_string(&mut end).unwrap_or_default();
    if end.contains(LAST) {
        return path;
    }
    fs::remove_file(&path).unwrap();
    sessions::file(folder, shape, megabytes, words)
}

fn measure(peer: &Peer, path: &Path, shape: Shape, words: &Words) -> Column {
    let home = tempfile::tempdir().unwrap();
    let mut program = peer.program.clone();
    program.push(path.to_str().unwrap().to_owned());
    let start = || Console::start(&program, SIZE, home.path());
    let mut column = Column {
        name: peer.name,
        ..Column::default()
    };
    let mut firsts = Vec::new();
    let mut opens = Vec::new();
    for _ in 0..STARTS {
        let mut console = start();
        let shown = console.wait(PATIENCE, |console| console.shows(LAST));
        opens.extend(shown.map(|at| ms(at - console.started)));
        firsts.extend(console.first_byte.map(ms));
        console.quit(peer.quit);
        if shown.is_none() {
            println!("{} never showed the last entry", peer.name);
            break;
        }
    }
    column.add("first byte, ms", middle(&mut firsts));
    column.add("open, ms", middle(&mut opens));

    if peer.follows {
        let len = fs::metadata(path).unwrap().len();
        let mut console = start();
        console.wait(PATIENCE, |console| console.shows(LAST));
        let (mut early, mut late) = appends(&mut console, path, shape, words);
        console.quit(peer.quit);
        // Who still looked at it would read it all again.
        OpenOptions::new()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(len)
            .unwrap();
        if peer.is_tv() {
            column.add("append while it is read p50, ms", middle(&mut early));
            column.add("append while it is read p99, ms", last_percent(&mut early));
        }
        column.add("append p50, ms", middle(&mut late));
        column.add("append p99, ms", last_percent(&mut late));
    }
    let mut console = start();
    let shown = console.wait(PATIENCE, |console| console.shows(LAST));
    if let Some(shown) = shown.filter(|_| peer.is_tv()) {
        let known = console.known(shown, PATIENCE);
        column.add(
            "all of it known, ms",
            known.map(|known| ms(known - console.started)),
        );
        console.quiet(Duration::from_millis(500));
        column.add("peak memory until then, MB", Some(console.facts().peak));
    }
    if !peer.down.is_empty() {
        moves(peer, &mut console, &mut column);
    }
    if !peer.find.is_empty() {
        searches(peer, &mut console, &mut column);
    }
    idle(&mut console, &mut column);
    console.quit(peer.quit);
    column
}

/// Lines that are written while the program runs: while tv says `end only`, and after that.
fn appends(
    console: &mut Console,
    path: &Path,
    shape: Shape,
    words: &Words,
) -> (Vec<f64>, Vec<f64>) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    let mut emitter = Emitter::new(shape, words);
    let mut dice = Dice::new(3);
    let (mut early, mut late) = (Vec::new(), Vec::new());
    let mut unseen = 0;
    for number in 0.. {
        if late.len() + unseen >= APPENDS {
            break;
        }
        let mark = format!("APPENDED-{number:05}");
        let line = emitter.answer(&mark) + "\n";
        let next = Instant::now() + Duration::from_millis(60 + dice.roll() % 90);
        while Instant::now() < next {
            console.pump(Duration::from_millis(5));
        }
        let times = if console.shows("end only") {
            &mut early
        } else {
            &mut late
        };
        let written = Instant::now();
        file.write_all(line.as_bytes()).unwrap();
        match console.wait(Duration::from_secs(8), |console| console.shows(&mark)) {
            Some(at) => times.push(ms(at.saturating_duration_since(written))),
            None => unseen += 1,
        }
    }
    if unseen > 0 {
        println!("{unseen} appended lines were never seen");
    }
    (early, late)
}

fn moves(peer: &Peer, console: &mut Console, column: &mut Column) {
    column.add("key at the end p99, ms", keys(console, peer.up));
    column.add(
        "jump to the top, ms",
        jump(console, peer.top, |console| console.shows(FIRST)),
    );
    column.add("key at the start p99, ms", keys(console, peer.down));
    if !peer.half.is_empty() {
        let before = console.text();
        let is_there = |console: &Console| {
            console.text() != before && !console.shows(FIRST) && !console.text().contains(":50%")
        };
        column.add("jump to 50 %, ms", jump(console, peer.half, is_there));
        column.add("key at 50 % p99, ms", keys(console, peer.down));
    }
    column.add(
        "jump to the end, ms",
        jump(console, peer.end, |console| console.shows(LAST)),
    );
}

fn jump(console: &mut Console, keys: &str, is_there: impl Fn(&Console) -> bool) -> Option<f64> {
    // What a reader types before the last key is not the jump.
    if let Some(words) = keys.strip_suffix('\r') {
        console.send(words);
        console.quiet(Duration::from_millis(200));
    }
    let last = if keys.ends_with('\r') { "\r" } else { keys };
    let at = console.send(last);
    let shown = console
        .wait(PATIENCE, is_there)
        .map(|shown| ms(shown.saturating_duration_since(at)));
    console.quiet(Duration::from_millis(300));
    shown
}

/// From a key to a screen that is another one. Keys that change nothing do not count.
fn keys(console: &mut Console, key: &str) -> Option<f64> {
    let mut times = Vec::new();
    for _ in 0..KEYS {
        console.quiet(Duration::from_millis(25));
        let before = console.picture();
        let at = console.send(key);
        let changed = console.wait(Duration::from_millis(400), |console| {
            console.picture() != before
        });
        times.extend(changed.map(|changed| ms(changed.saturating_duration_since(at))));
    }
    last_percent(&mut times)
}

/// From the top: a word that is near, and one behind nine tenths of the session.
fn searches(peer: &Peer, console: &mut Console, column: &mut Column) {
    for (what, word) in [
        ("find a near word, ms", "T000003"),
        ("find a word at 90 %, ms", FAR),
    ] {
        console.send(peer.top);
        console.quiet(Duration::from_millis(400));
        let row = if word == FAR {
            format!("] {FAR}")
        } else {
            format!("[{word}]")
        };
        let at = console.send(&format!("{}{word}\r", peer.find));
        let found = console.wait(PATIENCE, |console| console.shows(&row));
        column.add(
            what,
            found.map(|found| ms(found.saturating_duration_since(at))),
        );
        if found.is_none() {
            break;
        }
        if peer.is_tv() && word == FAR {
            let done = format!("/{FAR} 1/1");
            let is_done = |console: &Console| {
                let text = console.text();
                text.find(&done)
                    .is_some_and(|place| !text[place + done.len()..].starts_with(['…', '+', '?']))
            };
            let at_once = is_done(console).then_some(found).flatten();
            let whole = at_once.or_else(|| console.wait(PATIENCE, is_done));
            column.add(
                "search the whole, ms",
                whole.map(|whole| ms(whole.saturating_duration_since(at))),
            );
        }
        console.quiet(Duration::from_millis(300));
    }
}

fn idle(console: &mut Console, column: &mut Column) {
    console.quiet(Duration::from_millis(500));
    let (before, bytes) = (console.facts(), console.bytes);
    let end = Instant::now() + IDLE;
    while Instant::now() < end {
        console.pump(Duration::from_millis(100));
    }
    let after = console.facts();
    let seconds = IDLE.as_secs_f64();
    let is_known = |facts: Facts| (facts.peak > 0.0).then_some(facts);
    let share = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
    column.add("peak memory, MB", is_known(after).map(|facts| facts.peak));
    column.add(
        "idle: CPU, %",
        is_known(after).map(|facts| share(before.cpu, facts.cpu) / 10.0),
    );
    column.add(
        "idle: wake-ups a second",
        is_known(after).map(|facts| share(before.switches, facts.switches)),
    );
    column.add("idle: bytes written", Some((console.bytes - bytes) as f64));
}

/// A Markdown table: figures, and behind those of the others what tv's is in terms of them.
fn print(columns: &[Column], what: &str) {
    let Some(tv) = columns.first() else { return };
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    println!("\n| {what} | {} |", names.join(" | "));
    println!("| --- |{}", " ---: |".repeat(columns.len()));
    for (row, ours) in &tv.figures {
        let cell = |column: &Column| match (column.get(row), ours) {
            (None, _) => "–".to_owned(),
            (Some(figure), Some(ours)) if column.name != tv.name && figure > 0.0 => {
                format!("{} ({:.2}×)", number(figure), ours / figure)
            }
            (Some(figure), _) => number(figure),
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        println!("| {row} | {} |", cells.join(" | "));
    }
}

fn number(figure: f64) -> String {
    if figure >= 100.0 {
        format!("{figure:.0}")
    } else {
        format!("{figure:.1}")
    }
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The middle one.
pub(crate) fn middle(times: &mut [f64]) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// The slowest one of a hundred.
fn last_percent(times: &mut [f64]) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times
        .get((times.len() * 99 / 100).min(times.len().saturating_sub(1)))
        .copied()
}
