//! Tests of the real program in a real pseudo-terminal: few journeys, but with no test double in
//! between.

mod children;
mod input;
mod returning;
mod surroundings;

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::fixtures::PATIENCE;

/// The program in a terminal of its own.
pub struct Console {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// All that was written.
    pub raw: Vec<u8>,
}

/// Variables by which terminals make themselves known: those of the test's own terminal say nothing here.
const TERMINALS: [&str; 9] = [
    "COLORTERM",
    "KITTY_WINDOW_ID",
    "KONSOLE_VERSION",
    "LC_TERMINAL",
    "STY",
    "TERM_PROGRAM",
    "TMUX",
    "WEZTERM_EXECUTABLE",
    "COLORFGBG",
];

impl Console {
    /// Starts the program.
    pub fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::run(env!("CARGO_BIN_EXE_tv"), arguments, environment)
    }

    pub(crate) fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let size = PtySize {
            rows: 24,
            cols: 80,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).expect("a pty");
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        // Else it starts in the home folder, which may be missing.
        command.cwd(env!("CARGO_MANIFEST_DIR"));
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        // Whoever wants state names a folder for it.
        command.env("TV_STATE", "off");
        for name in TERMINALS {
            command.env_remove(name);
        }
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("tv starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 8_192];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            master: pair.master,
            writer,
            output,
            screen: emulator(),
            raw: Vec::new(),
        }
    }

    /// The process that was started.
    pub(crate) fn process(&self) -> u32 {
        self.child.process_id().expect("it runs")
    }

    fn drain(&mut self, patience: Duration) {
        if let Ok(bytes) = self.output.recv_timeout(patience) {
            self.raw.extend(&bytes);
            self.screen.process(&bytes);
        }
    }

    /// Waits for something.
    #[track_caller]
    pub fn wait(&mut self, what: &str, condition: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !condition(self) {
            assert!(
                start.elapsed() < PATIENCE,
                "{what} did not happen; the screen:\n{}",
                self.text()
            );
            self.drain(Duration::from_millis(20));
        }
    }

    /// Waits for words on the screen.
    #[track_caller]
    pub fn wait_for(&mut self, words: &str) {
        self.wait(&format!("{words:?} on the screen"), |console| {
            console.text().contains(words)
        });
    }

    /// The words on the screen.
    pub fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Types.
    pub fn send(&mut self, keys: &str) {
        self.writer
            .write_all(keys.as_bytes())
            .expect("keys are taken");
        self.writer.flush().expect("keys are taken");
    }

    /// Waits for the end, and gives the exit code.
    #[track_caller]
    pub fn wait_for_exit(&mut self) -> u32 {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("the child is ours") {
                while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
                    self.raw.extend(&bytes);
                    self.screen.process(&bytes);
                }
                return status.exit_code();
            }
            assert!(
                start.elapsed() < PATIENCE,
                "tv did not end; the screen:\n{}",
                self.text()
            );
            self.drain(Duration::from_millis(20));
        }
    }

    /// Alternate screen left, cursor shown, paste mode off.
    #[track_caller]
    pub(crate) fn assert_restored(&self) {
        let screen = self.screen.screen();
        assert!(!screen.alternate_screen(), "the alternate screen is left");
        assert!(!screen.hide_cursor(), "the cursor is shown");
        assert!(!screen.bracketed_paste(), "bracketed paste is off");
    }
}

fn emulator() -> vt100::Parser {
    vt100::Parser::new(cells(24), cells(80), 0)
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("at least one")
}

pub(crate) fn line(role: &str, text: &str, number: usize) -> String {
    let content = format!(
        r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}],"timestamp":{}}}"#,
        1_700_000_000_000_u64 + number as u64
    );
    format!(
        r#"{{"type":"message","id":"e{number:07}","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z","message":{content}}}"#
    ) + "\n"
}

pub(crate) fn session(folder: &Path) -> PathBuf {
    let path = folder.join("session.jsonl");
    let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/tmp"}"#;
    // More than a screen, so that what comes is below it.
    let filler = (100..112).map(|number| line("assistant", "an answer before", number));
    let lines: Vec<String> = std::iter::once(line("user", "FIRST PROMPT", 1))
        .chain(filler)
        .chain([line("assistant", "FIRST ANSWER", 2)])
        .collect();
    std::fs::write(&path, format!("{header}\n{}", lines.concat())).expect("a file");
    path
}

pub(crate) fn append(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(path)
        .expect("the file is there");
    file.write_all(text.as_bytes()).expect("it can be written");
}

fn start() -> (Console, PathBuf, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &[]);
    console.wait_for("FIRST ANSWER");
    (console, path, folder)
}

#[test]
fn it_shows_the_session_follows_it_and_leaves_no_trace() {
    let (mut console, path, _folder) = start();
    // Longer than the screen, so that what comes after it is out of sight at the beginning.
    let long = format!("{}SECOND ANSWER", r"and on\n\n".repeat(30));
    append(&path, &line("assistant", &long, 3));
    console.wait_for("SECOND ANSWER");
    assert!(
        !console.text().contains("reading"),
        "following is no loading"
    );
    console.send("g");
    console.wait_for("PAUSED");
    append(&path, &line("assistant", "THIRD ANSWER", 4));
    console.wait_for("1 new below");
    console.send("G");
    console.wait_for("THIRD ANSWER");
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn marks_what_was_typed_and_the_place_outlast_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let name = path.to_str().expect("a plain path");
    let state = folder.path().join("state");
    let environment = [
        ("TV_STATE", "on"),
        ("XDG_STATE_HOME", state.to_str().expect("a plain path")),
    ];
    let mut first = Console::start(&[name], &environment);
    first.wait_for("FIRST ANSWER");
    assert!(
        !first.text().contains("new since"),
        "nothing was there before"
    );
    first.send("gmx");
    first.wait_for("marked x");
    assert_eq!(
        std::fs::read_dir(state.join("tv/sessions"))
            .expect("kept at once")
            .count(),
        2
    );
    first.send("/boats\r");
    first.wait_for("/boats");
    first.send("Q");
    assert_eq!(first.wait_for_exit(), 0);
    append(&path, &line("assistant", "SECOND ANSWER", 3));
    append(&path, &line("assistant", "THIRD ANSWER", 4));

    let mut second = Console::start(&[name], &environment);
    second.wait_for("THIRD ANSWER");
    second.wait_for("new since");
    let text = second.text();
    let place = |words: &str| text.find(words).expect(words);
    assert!(
        place("FIRST ANSWER") < place("new since") && place("new since") < place("SECOND ANSWER")
    );
    second.send("'x");
    second.wait_for("FIRST PROMPT");
    second.send("/\u{1b}[A");
    second.wait_for("/boats");
    second.send("\u{1b}");
    second.wait("the search is given up", |console| {
        !console.text().contains("/boats")
    });
    second.send("Q");
    assert_eq!(second.wait_for_exit(), 0);
    second.assert_restored();

    let mut third = Console::start(&[name], &environment);
    third.wait_for("THIRD ANSWER");
    third.drain(Duration::from_millis(200));
    assert!(
        !third.text().contains("new since"),
        "all of it was there the last time"
    );
    third.send(":forget\r");
    third.wait_for("forgotten");
    third.send("q");
    assert_eq!(third.wait_for_exit(), 0);
    let left = std::fs::read_dir(state.join("tv/sessions"))
        .expect("a folder")
        .flatten();
    assert_eq!(
        left.filter(|entry| entry.file_name() != "lock").count(),
        0,
        "forgotten is forgotten"
    );
}

#[test]
fn a_state_that_cannot_be_kept_is_reported_and_hinders_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let state = folder.path().join("state");
    std::fs::create_dir_all(state.join("tv/sessions")).expect("a folder");
    // As tv makes it.
    for folder in ["tv", "tv/sessions"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(state.join(folder), mode).expect("a mode");
    }
    std::fs::write(
        state.join("tv/reader.json"),
        "{\"schema\": \"tv.reader/99\"}",
    )
    .expect("a file");
    let environment = [
        ("TV_STATE", "on"),
        ("XDG_STATE_HOME", state.to_str().expect("a plain path")),
    ];
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &environment);
    console.wait_for("FIRST ANSWER");
    console.wait_for("reader.json is tv.reader/99");
    std::fs::remove_dir_all(state.join("tv/sessions")).expect("it goes");
    std::fs::write(state.join("tv/sessions"), "in the way").expect("a file");
    console.send("/x\rQ");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
    assert!(
        console.text().contains("tv: not kept"),
        "{}",
        console.text()
    );
    let reader = std::fs::read_to_string(state.join("tv/reader.json")).expect("it is there");
    assert_eq!(reader, "{\"schema\": \"tv.reader/99\"}");
}

#[test]
fn it_searches_and_shows_help_and_raw_records() {
    let (mut console, _path, _folder) = start();
    console.send("/first\r");
    console.wait_for("2");
    console.wait_for("/first");
    console.send("?");
    console.wait_for("Keys and signs");
    console.send("q");
    console.wait("the help closes", |console| {
        !console.text().contains("Keys and signs")
    });
    console.send("r");
    console.wait_for("raw record");
    console.send("qQ");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn it_survives_resizes() {
    let (mut console, _path, _folder) = start();
    for (rows, cols) in [(10, 40), (1, 1), (3, 500), (50, 200), (24, 80)] {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        console.master.resize(size).expect("the pty resizes");
        console
            .screen
            .screen_mut()
            .set_size(cells(rows), cells(cols));
        console.drain(Duration::from_millis(100));
    }
    console.send("\u{c}");
    console.wait_for("FIRST ANSWER");
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn the_first_key_after_a_resize_is_heard() {
    let (mut console, _path, _folder) = start();
    // At first all bytes are taken for answers; what reads keys is set up with the first one after that.
    std::thread::sleep(Duration::from_millis(600));
    console.send("g");
    console.wait_for("PAUSED");
    for (rows, cols) in [(30, 90), (20, 70)] {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        console.master.resize(size).expect("the pty resizes");
        console
            .screen
            .screen_mut()
            .set_size(cells(rows), cells(cols));
        std::thread::sleep(Duration::from_millis(200));
    }
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn a_signal_restores_the_terminal() {
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let (mut console, _path, _folder) = start();
        let pid = console.child.process_id().expect("it runs").to_string();
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &pid])
            .status()
            .expect("kill runs");
        assert!(sent.success());
        assert_eq!(console.wait_for_exit(), code, "{signal}");
        console.assert_restored();
    }
}

#[test]
fn a_panic_restores_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let mut console = Console::start(
        &[path.to_str().expect("a plain path")],
        &[("TV_TEST_PANIC", "ui")],
    );
    assert_eq!(console.wait_for_exit(), 101);
    console.assert_restored();
    assert!(
        !console.text().contains("FIRST"),
        "no transcript text in the message"
    );
}

#[test]
fn a_panic_of_a_worker_leaves_the_viewer_alive() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let mut console = Console::start(
        &[path.to_str().expect("a plain path")],
        &[("TV_TEST_PANIC", "worker")],
    );
    console.wait_for("FIRST ANSWER");
    append(&path, &line("assistant", "STILL HERE", 3));
    console.wait_for("STILL HERE");
    assert!(
        !console.text().contains("panicked"),
        "nothing of it on the screen"
    );
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn a_pipe_is_followed_while_keys_come_from_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let script = format!(
        "(cat '{}'; sleep 30) | '{}' -",
        path.display(),
        env!("CARGO_BIN_EXE_tv")
    );
    let mut console = Console::run("sh", &["-c", &script], &[]);
    console.wait_for("FIRST ANSWER");
    console.send("?");
    console.wait_for("Keys and signs");
    console.send("Q");
    console.wait("the terminal is given back", |console| {
        !console.screen.screen().alternate_screen()
    });
    console.assert_restored();
    console.child.kill().expect("the shell ends");
}

#[test]
fn nothing_of_a_hostile_file_reaches_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    append(
        &path,
        &line(
            "assistant",
            r"evil \u001b]52;c;aGVsbG8=\u0007 \u001b]0;PWNED\u0007 \u009b2J \u001bPq#0\u001b\\ \u202egnp",
            3,
        ),
    );
    append(&path, &line("assistant", "THE END", 4));
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &[]);
    console.wait_for("THE END");
    console.send("q");
    console.wait_for_exit();
    let raw = String::from_utf8_lossy(&console.raw).into_owned();
    for escape in ["\u{1b}]52", "\u{1b}]0;", "\u{1b}P", "\u{9b}", "\u{202e}"] {
        assert!(!raw.contains(escape), "{escape:?}");
    }
}

/// A home with two sessions of one agent.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join(".pi/agent/sessions/--work--");
    std::fs::create_dir_all(&folder).expect("folders");
    std::fs::rename(session(home.path()), folder.join("2026-03-01_s1.jsonl")).expect("a session");
    let header = r#"{"type":"session","version":3,"id":"s2","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/tmp"}"#;
    let lines = line("user", "PAINT the boat", 1) + &line("assistant", "It is blue", 2);
    std::fs::write(
        folder.join("2026-03-02_s2.jsonl"),
        format!("{header}\n{lines}"),
    )
    .expect("a session");
    home
}

#[test]
fn a_session_is_chosen_left_and_another_one_chosen() {
    let home = home();
    let path = home.path().to_str().expect("a plain path");
    let environment = [
        ("HOME", path),
        ("PI_CODING_AGENT_DIR", ""),
        ("PI_CODING_AGENT_SESSION_DIR", ""),
    ];
    let mut console = Console::start(&[], &environment);
    console.wait_for("2 sessions");
    console.wait_for("PAINT the boat");
    console.send("first");
    console.wait_for("1 of 2");
    console.send("\r");
    console.wait_for("FIRST ANSWER");
    console.send("s");
    console.wait_for("esc clear");
    console.send("\u{15}paint");
    console.wait("only the other one fits", |console| {
        !console.text().contains("FIRST PROMPT")
    });
    console.send("\r");
    console.wait_for("It is blue");
    // What comes in the session that was left is not shown in this one.
    let first = home
        .path()
        .join(".pi/agent/sessions/--work--/2026-03-01_s1.jsonl");
    append(&first, &line("assistant", "TOO LATE", 3));
    append(
        &home
            .path()
            .join(".pi/agent/sessions/--work--/2026-03-02_s2.jsonl"),
        &line("assistant", "RED", 3),
    );
    console.wait_for("RED");
    assert!(!console.text().contains("TOO LATE"));
    console.send("q");
    console.wait_for("1 of 2");
    // The one over which it was chosen lies below, as it is now.
    console.send("\u{15}");
    console.wait_for("esc back");
    console.send("\u{1b}");
    console.wait_for("TOO LATE");
    console.send("q");
    console.wait_for("esc quit");
    console.send("\u{1b}");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn a_home_without_sessions_says_where_was_looked() {
    let home = tempfile::tempdir().expect("a folder");
    let mut console = Console::start(
        &[],
        &[("HOME", home.path().to_str().expect("a plain path"))],
    );
    console.wait_for("~/.claude/projects");
    console.wait_for("tv demo");
    console.send("\u{3}");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

/// However many formats there are.
#[test]
fn what_to_try_is_said_before_all_places() {
    let home = tempfile::tempdir().expect("a folder");
    let formats = home.path().join("config/tv/formats");
    std::fs::create_dir_all(&formats).expect("a folder");
    let roots: Vec<String> = (0..90)
        .map(|n| format!("\"~/a/rather/long/place/{n}/*.jsonl\""))
        .collect();
    let text = format!("extends = \"pi\"\nroots = [{}]\n", roots.join(", "));
    std::fs::write(formats.join("pi.toml"), text).expect("a definition");
    let config = home.path().join("config");
    let variables = [("HOME", home.path()), ("XDG_CONFIG_HOME", &config)];
    let variables = variables.map(|(name, path)| (name, path.to_str().expect("a plain path")));
    let mut console = Console::start(&[], &variables);
    console.wait_for("more that `tv formats` lists");
    let text = console.text();
    assert!(
        text.contains("tv demo") && text.contains("~/a/rather/long/place/1,"),
        "{text}"
    );
    console.send("\u{3}");
    assert_eq!(console.wait_for_exit(), 0);
}

const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1002h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1002l\u{1b}[?1000l";

impl Console {
    pub(crate) fn raw_text(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// How often something was written.
    fn written(&self, what: &str) -> usize {
        self.raw_text().matches(what).count()
    }
}

#[test]
fn the_mouse_is_asked_for_and_always_given_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &[]);
    console.wait_for("FIRST ANSWER");
    assert_eq!(console.written("\u{1b}[?1000h"), 0, "nobody asked for it");
    console.send("\u{1b}[24~");
    console.wait("the mouse is asked for", |console| {
        console.written(MOUSE_ON) == 1
    });
    // The wheel, as a terminal reports it.
    let before = console.text();
    console.send("\u{1b}[<64;20;10M");
    console.wait("the wheel scrolls", |console| console.text() != before);
    // While something else has the terminal, the mouse is not ours.
    console.send("|true\r");
    console.wait_for("press a key");
    assert_eq!(console.written(MOUSE_OFF), 1);
    console.send("x");
    console.wait("it comes back", |console| console.written(MOUSE_ON) == 2);
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
    assert_eq!(console.written(MOUSE_OFF), 2);
}

#[test]
fn a_panic_gives_the_mouse_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let settings = folder.path().join("tv");
    std::fs::create_dir(&settings).expect("a folder");
    std::fs::write(settings.join("config.toml"), "mouse = true\n").expect("settings");
    let home = folder.path().to_str().expect("a plain path");
    let environment = [("XDG_CONFIG_HOME", home), ("TV_TEST_PANIC", "ui")];
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &environment);
    assert_eq!(console.wait_for_exit(), 101);
    console.assert_restored();
    assert_eq!(
        (console.written(MOUSE_ON), console.written(MOUSE_OFF)),
        (1, 1)
    );
}

/// What is written to the terminal when a text is copied, in an environment without programs that copy.
fn copied_with(environment: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let mut all = vec![
        ("SSH_CONNECTION", "1 2 3 4"),
        ("PATH", "/nowhere"),
        ("TMUX", ""),
        ("STY", ""),
    ];
    all.extend(environment);
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &all);
    console.wait_for("FIRST ANSWER");
    console.send("yy");
    console.wait_for("copied 1 line");
    console.send("Q");
    console.wait_for_exit();
    console.raw_text()
}

/// "FIRST ANSWER" as the clipboard gets it.
const PLAIN: &str = "\u{1b}]52;c;RklSU1QgQU5TV0VS\u{7}";

#[test]
fn the_clipboard_is_reached_through_multiplexers() {
    let passed = "\u{1b}Ptmux;\u{1b}\u{1b}]52;c;RklSU1QgQU5TV0VS\u{7}\u{1b}\\";
    let plain = copied_with(&[]);
    assert!(
        plain.contains(PLAIN) && !plain.contains("\u{1b}P"),
        "{plain:?}"
    );
    let tmux = copied_with(&[("TMUX", "/tmp/x,1,0"), ("TERM", "tmux-256color")]);
    assert!(tmux.contains(&format!("{passed}{PLAIN}")), "{tmux:?}");
    let screen = copied_with(&[("STY", "1.x"), ("TERM", "screen-256color")]);
    assert!(
        screen.contains(&format!("\u{1b}P{PLAIN}\u{1b}\\")),
        "{screen:?}"
    );
}

#[test]
fn the_clipboard_of_the_machine_gets_the_text_where_the_reader_sits_at_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let program = folder.path().join("wl-copy");
    let taken = folder.path().join("taken");
    std::fs::write(
        &program,
        format!(
            "#!/bin/sh\ncat > '{0}.part'; mv '{0}.part' '{0}'\n",
            taken.display()
        ),
    )
    .expect("a program");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("it can be run");
    let search = format!("{}:/usr/bin:/bin", folder.path().display());
    let local = [
        ("SSH_CONNECTION", ""),
        ("SSH_TTY", ""),
        ("WAYLAND_DISPLAY", "w"),
        ("TMUX", ""),
        ("PATH", search.as_str()),
    ];
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &local);
    console.wait_for("FIRST ANSWER");
    console.send("yy");
    console.wait_for("(wl-copy)");
    console.wait("the program has it", |_| {
        std::fs::read_to_string(&taken).is_ok_and(|text| text == "FIRST ANSWER")
    });
    assert!(console.raw_text().contains(PLAIN), "and the terminal");
    console.send("Q");
    console.wait_for_exit();
}

#[test]
fn a_command_gets_the_record_and_its_end_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let taken = folder.path().join("taken");
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &[]);
    console.wait_for("FIRST ANSWER");
    console.send(&format!("|tee '{}' | wc -l; exit 3\r", taken.display()));
    console.wait_for("[exit 3; press a key]");
    assert!(
        !console.screen.screen().alternate_screen(),
        "its output stands on the screen of the shell"
    );
    // What is typed while the command has the terminal interrupts that, not us.
    console.send(" ");
    console.wait_for("exit 3");
    console.wait("the viewer is back", |console| {
        console.screen.screen().alternate_screen()
    });
    let text = std::fs::read_to_string(&taken).expect("the command got something");
    assert!(
        text.ends_with('\n') && text.lines().count() == 1 && text.contains("FIRST ANSWER"),
        "{text}"
    );
    console.send("|sleep 30\r");
    console.wait("the terminal is away", |console| {
        !console.screen.screen().alternate_screen()
    });
    // Until the shell has begun, the interrupt is for nobody.
    std::thread::sleep(Duration::from_millis(300));
    console.send("\u{3}");
    // What the command before it ended with may still stand on the screen of the shell.
    console.wait_for("SIGINT); press a key");
    console.send("x");
    console.wait("the viewer is back", |console| {
        console.screen.screen().alternate_screen()
    });
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn an_entry_is_opened_by_its_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    for number in 3..200 {
        append(
            &path,
            &line("assistant", &format!("SENTENCE {number}."), number),
        );
    }
    let link = format!("{}#e0000040", path.display());
    let mut console = Console::start(&[&link], &[]);
    console.wait_for("SENTENCE 40.");
    assert!(!console.text().contains("SENTENCE 199."));
    console.send("Q");
    console.wait_for_exit();
    let link = format!("{}#nobody", path.display());
    let mut console = Console::start(&[&link], &[]);
    console.wait_for("no entry is called nobody");
    console.send("Q");
    console.wait_for_exit();
}

#[test]
fn the_picker_finds_a_word_in_a_text_and_opens_the_session_there() {
    let home = home();
    let folder = home.path().to_str().expect("a plain path");
    let path = home
        .path()
        .join(".pi/agent/sessions/--work--/2026-03-02_s2.jsonl");
    for number in 3..200 {
        append(
            &path,
            &line("assistant", &format!("SENTENCE {number}."), number),
        );
    }
    let environment = [
        ("HOME", folder),
        ("PI_CODING_AGENT_DIR", ""),
        ("PI_CODING_AGENT_SESSION_DIR", ""),
    ];
    let mut console = Console::start(&[], &environment);
    console.wait_for("PAINT the boat");
    console.send("sentence\\ 40.");
    console.wait_for("1 by text ");
    console.send("\r");
    console.wait_for("SENTENCE 40.");
    console.wait("the search stands", |console| {
        console.text().contains("/sentence 40.")
    });
    assert!(!console.text().contains("SENTENCE 199."));
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

/// What is written to the terminal when an alarm rings.
fn rung_with(command: &str, environment: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let mut console = Console::start(&[path.to_str().expect("a plain path")], environment);
    console.wait_for("FIRST ANSWER");
    console.send(&format!(":watch {command}\r"));
    console.wait_for("watching");
    let before = console.raw.len();
    append(
        &path,
        &line("user", "the WORD\\u0007\\u001b]52;c;eA==\\u0007", 3),
    );
    console.wait("the alarm", |console| console.text().contains("! \"WORD\""));
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
    String::from_utf8_lossy(&console.raw[before..]).into_owned()
}

#[test]
fn an_alarm_rings_the_bell_and_notifies_through_multiplexers() {
    let plain = "\u{1b}]9;tv: FIRST PROMPT: \"WORD\": the WORD]52;c;eA==\u{7}\u{7}";
    let raw = rung_with("\"WORD\"", &[]);
    assert!(
        raw.contains("\u{1b}]9;tv: ") && raw.contains("\u{7}\u{7}"),
        "{plain:?} in {raw:?}"
    );
    assert!(
        !raw.contains("]52;c;eA==\u{7}\u{1b}") || !raw.contains("\u{1b}]52"),
        "{raw:?}"
    );
    let raw = rung_with("\"WORD\"", &[("TMUX", "/tmp/x,1,0")]);
    assert!(raw.contains("\u{1b}Ptmux;\u{1b}\u{1b}]9;tv: "), "{raw:?}");
    let raw = rung_with("\"WORD\"", &[("TERM", "foot")]);
    assert!(raw.contains("\u{1b}]777;notify;tv: "), "{raw:?}");
}

/// On the wall `w` watches all sessions: one that nobody has opened rings, too.
#[test]
fn an_alarm_of_all_sessions_rings_in_the_terminal() {
    for (environment, notification) in [
        (
            [("TERM", "xterm-256color")],
            "\u{1b}]9;tv: PAINT the boat: ",
        ),
        ([("TERM", "foot")], "\u{1b}]777;notify;tv: PAINT the boat;"),
    ] {
        let home = home();
        let folder = home.path().to_str().expect("a plain path");
        let own = [
            ("HOME", folder),
            ("PI_CODING_AGENT_DIR", ""),
            ("PI_CODING_AGENT_SESSION_DIR", ""),
        ];
        let mut console = Console::start(
            &["top", "--since", "90000d"],
            &[&own[..], &environment].concat(),
        );
        console.wait_for("PAINT the boat");
        console.wait("all is read", |console| !console.text().contains("reading"));
        console.send("W");
        console.wait_for("watch");
        console.send("err or \"WORD\"\r");
        console.wait_for("watching all sessions");
        let before = console.raw.len();
        append(
            &home
                .path()
                .join(".pi/agent/sessions/--work--/2026-03-02_s2.jsonl"),
            &line("user", "the WORD", 3),
        );
        console.wait("the alarm", |console| {
            console.text().contains("! PAINT the boat")
        });
        console.send("Q");
        assert_eq!(console.wait_for_exit(), 0);
        console.assert_restored();
        let raw = String::from_utf8_lossy(&console.raw[before..]).into_owned();
        let place = raw.find(notification);
        // The notification ends with one, the bell is the other.
        let bells = place.map(|at| raw[at..].matches('\u{7}').count());
        assert!(
            bells.is_some_and(|bells| bells >= 2),
            "{notification:?} in {raw:?}"
        );
    }
}

#[test]
fn an_alarm_runs_the_command_of_the_reader_with_no_word_of_the_session_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let rung = folder.path().join("rung");
    let command = format!(
        "\"WORD\" | printf '%s|%s|%s' \"$TV_SESSION\" \"$TV_EXPRESSION\" \"$TV_STATE\" > '{}'",
        rung.display()
    );
    rung_with(&command, &[]);
    let start = Instant::now();
    let mut text = String::new();
    // Its records are old, but it was seen to be written.
    while !text.contains("model") {
        assert!(start.elapsed() < PATIENCE, "{text}");
        text = std::fs::read_to_string(&rung).unwrap_or_default();
        std::thread::sleep(Duration::from_millis(20));
    }
    let parts: Vec<&str> = text.split('|').collect();
    assert!(parts[0].ends_with("session.jsonl"), "{text}");
    assert_eq!(&parts[1..], ["\"WORD\"", "model"]);
}

#[test]
fn a_session_is_joined_while_another_is_open_and_both_are_followed() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let [one, two] = folders.each_ref().map(|folder| session(folder.path()));
    append(&two, &line("user", "SECOND PROMPT", 3));
    let mut console = Console::start(&[one.to_str().expect("a plain path")], &[]);
    console.wait_for("FIRST ANSWER");
    console.send(&format!(":join {}\r", two.display()));
    console.wait_for("2 sessions joined");
    console.wait_for("SECOND PROMPT");
    append(&one, &line("assistant", "ONE GOES ON", 4));
    console.wait_for("ONE GOES ON");
    append(&two, &line("assistant", "TWO GOES ON", 5));
    console.wait_for("TWO GOES ON");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}
