//! The program where its surroundings fail: terminals that go, stop, shrink, know little or answer late, and
//! folders, settings and programs that are missing.

use std::io::Read;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::{Console, MOUSE_ON, PATIENCE, append, cells, line, session, start};

impl Console {
    fn resize(&mut self, rows: u16, cols: u16) {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).expect("the pty resizes");
        self.screen.screen_mut().set_size(cells(rows.max(1)), cells(cols.max(1)));
    }
}

#[test]
fn a_terminal_that_goes_without_a_signal_ends_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).expect("a pty");
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tv"));
    command.args([&path]);
    command.env("TERM", "xterm-256color");
    command.env("TV_STATE", "off");
    // Only the terminal that controls a program sends it a signal when it goes.
    command.set_controlling_tty(false);
    let mut child = pair.slave.spawn_command(command).expect("tv starts");
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().expect("a reader");
    let (mut raw, mut buffer) = (Vec::new(), [0; 4_096]);
    while !String::from_utf8_lossy(&raw).contains("FIRST ANSWER") {
        let count = reader.read(&mut buffer).expect("something is written");
        raw.extend(&buffer[..count]);
    }
    drop((reader, pair.master));
    let start = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().expect("the child is ours") {
            break status.exit_code();
        }
        assert!(start.elapsed() < PATIENCE, "it outlives its terminal");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_ne!(code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_stopped_program_has_given_the_terminal_back_and_takes_it_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    // A shell with job control stands between, so that the program can be stopped at all.
    let script = format!(
        "set -m; '{}' '{}'; echo STOPPED; read x; fg; read x",
        env!("CARGO_BIN_EXE_tv"),
        path.display()
    );
    let mut console = Console::run("bash", &["-c", &script], &[]);
    console.wait_for("FIRST ANSWER");
    console.send("\u{1a}");
    console.wait_for("STOPPED");
    console.assert_restored();
    console.resize(30, 90);
    console.send("\r");
    console.wait("the viewer is back", |console| console.screen.screen().alternate_screen());
    console.wait_for("FIRST ANSWER");
    console.send("Q");
    console.wait("the terminal is given back", |console| !console.screen.screen().alternate_screen());
    console.assert_restored();
    console.send("\r");
    console.wait_for_exit();
}

#[test]
fn a_storm_of_resizes_ends_in_the_right_picture() {
    let (mut console, path, _folder) = start();
    for step in 0..60_u16 {
        console.resize(1 + step * 7 % 50, 1 + step * 13 % 160);
        if step % 10 == 0 {
            append(&path, &line("assistant", "while it is resized", 200 + usize::from(step)));
        }
    }
    for (rows, cols) in [(0, 0), (1, 1), (2, 10_000), (1_000, 2), (24, 80)] {
        console.resize(rows, cols);
        console.drain(Duration::from_millis(50));
    }
    console.send("\u{c}G");
    console.wait_for("while it is resized");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn without_a_terminal_for_keys_a_pipe_is_refused_in_a_sentence() {
    let program = env!("CARGO_BIN_EXE_tv");
    // A session of its own has no terminal that it could open for keys.
    let script = format!("echo '{{}}' | setsid -w '{program}' - ; echo CODE $?");
    let mut console = Console::run("sh", &["-c", &script], &[]);
    console.wait_for("CODE");
    let text = console.text();
    assert!(text.contains("CODE 2") && text.contains("tv: "), "{text}");
    console.wait_for_exit();
    console.assert_restored();
}

#[test]
fn colours_are_those_that_the_terminal_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let shown = |environment: &[(&str, &str)]| {
        let mut console = Console::start(&[path.to_str().expect("a plain path")], environment);
        console.wait_for("FIRST ANSWER");
        console.send("Q");
        assert_eq!(console.wait_for_exit(), 0);
        console.assert_restored();
        (console.raw_text(), console)
    };
    let colours = |raw: &str| {
        regex::Regex::new(r"\x1b\[[0-9;]*?\b(3[0-7]|4[0-7]|9[0-7]|38;|48;)").expect("a pattern").is_match(raw)
    };
    assert!(colours(&shown(&[]).0), "256 colours where nothing else is said");
    assert!(!shown(&[]).0.contains("[38;2;"));
    assert!(!colours(&shown(&[("NO_COLOR", "1")]).0), "no colour at all");
    assert!(
        shown(&[("COLORTERM", "truecolor")]).0.contains("38;2;")
            || colours(&shown(&[("COLORTERM", "truecolor")]).0)
    );
    let few = shown(&[("TERM", "linux")]).0;
    assert!(
        !few.contains("38;2;")
            && !regex::Regex::new(r"38;5;(1[6-9]|[2-9]\d|\d{3})").expect("a pattern").is_match(&few)
    );
    let strange = shown(&[("TERM", "no-such-terminal")]).0;
    assert!(strange.contains("FIRST") && !strange.contains("38;2;"));
    let ascii = shown(&[("LC_ALL", "C")]).0;
    assert!(ascii.is_ascii(), "borders of ASCII");
}

#[test]
fn a_dumb_terminal_gets_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &[("TERM", "dumb")]);
    assert_eq!(console.wait_for_exit(), 0);
    assert!(console.raw_text().contains("FIRST ANSWER") && !console.raw_text().contains('\u{1b}'));
}

#[test]
fn answers_that_come_late_are_no_keys() {
    let (mut console, _path, _folder) = start();
    std::thread::sleep(Duration::from_millis(700));
    console.send(
        "\u{1b}]11;rgb:ffff/ffff/ffff\u{1b}\\\u{1b}P>|foot(1.16)\u{1b}\\\u{1b}_Gi=31;OK\u{1b}\\\u{1b}[?62;4c",
    );
    console.send("/first");
    console.wait_for("/first");
    let text = console.text();
    assert!(!text.contains("ffff") && !text.contains("foot(") && !text.contains("i=31"), "{text}");
    console.send("\u{3}");
    assert_eq!(console.wait_for_exit(), 0);
}

#[test]
fn a_huge_paste_and_a_flood_of_the_mouse_are_survived() {
    let (mut console, _path, _folder) = start();
    console.send("\u{1b}OQ");
    console.wait("the mouse is asked for", |console| console.told(MOUSE_ON) == 1);
    let wheel = "\u{1b}[<64;20;10M\u{1b}[<65;20;10M".repeat(2_000);
    console.send(&wheel);
    console.send("/");
    console.send(&format!("\u{1b}[200~{}\u{1b}[201~", "harbour ".repeat(1 << 17)));
    console.send("\u{1b}");
    console.send("?");
    console.wait_for("All keys");
    console.send("qQ");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn broken_settings_are_told_with_line_and_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let settings = folder.path().join("tv");
    std::fs::create_dir_all(settings.join("themes")).expect("folders");
    let home = folder.path().to_str().expect("a plain path");
    let told = |config: &str, words: &str| {
        std::fs::write(settings.join("config.toml"), config).expect("settings");
        let mut console = Console::start(
            &["--level", "3", path.to_str().expect("a plain path")],
            &[("XDG_CONFIG_HOME", home)],
        );
        console.wait_for("FIRST ANSWER");
        console.wait_for(words);
        console.send("Q");
        assert_eq!(console.wait_for_exit(), 0);
        console.assert_restored();
    };
    told("wrap = true\nglow = 1\n", "2:1: nothing is called glow");
    std::fs::write(settings.join("themes/mine.toml"), "[roles]\nbot = \"red\"\n").expect("a theme");
    told("theme = \"mine\"\n", "2:1: no role is called bot");
    told("theme = \"nowhere\"\n", "no theme is called nowhere");
}

#[test]
fn without_a_home_the_session_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let environment = [("HOME", ""), ("TV_STATE", "on"), ("XDG_STATE_HOME", ""), ("XDG_CONFIG_HOME", "")];
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &environment);
    console.wait_for("FIRST ANSWER");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn programs_that_are_missing_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let environment = [("VISUAL", ""), ("EDITOR", "no-such-editor-here -x")];
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &environment);
    console.wait_for("FIRST ANSWER");
    console.send("v");
    console.wait_for("no-such-editor-here cannot be started");
    console.wait("the viewer is back", |console| console.screen.screen().alternate_screen());
    console.send("|no-such-command-here\r");
    console.wait_for("press a key");
    console.send("x");
    console.wait_for("exit 127");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
    let mut console =
        Console::start(&[path.to_str().expect("a plain path")], &[("VISUAL", ""), ("EDITOR", "")]);
    console.wait_for("FIRST ANSWER");
    console.send("v");
    console.wait_for("neither $VISUAL nor $EDITOR is set");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}
