//! Tests of the program in a failing environment: terminals that vanish, stop, shrink, support
//! little or reply late, and missing folders, settings and programs.

use std::time::Duration;

use portable_pty::PtySize;

use super::{Console, append, cells, line, session, start};

impl Console {
    pub(crate) fn resize(&mut self, rows: u16, cols: u16) {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        self.master.resize(size).expect("the pty resizes");
        self.screen
            .screen_mut()
            .set_size(cells(rows.max(1)), cells(cols.max(1)));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_stopped_program_has_given_the_terminal_back_and_takes_it_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    // A shell with job control stands between, so that the program can be stopped at all.
    let script = format!(
        "set -m; '{}' '{}'; echo STOPPED; read x; fg",
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
    console.wait("the viewer is back", |console| {
        console.screen.screen().alternate_screen()
    });
    console.wait_for("FIRST ANSWER");
    console.send("Q");
    console.wait("the terminal is given back", |console| {
        !console.screen.screen().alternate_screen()
    });
    console.wait_for_exit();
    console.assert_restored();
}

#[test]
fn a_storm_of_resizes_ends_in_the_right_picture() {
    let (mut console, path, _folder) = start();
    for step in 0..60_u16 {
        console.resize(1 + step * 7 % 50, 1 + step * 13 % 160);
        if step % 10 == 0 {
            append(
                &path,
                &line("assistant", "while it is resized", 200 + usize::from(step)),
            );
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
        regex::Regex::new(r"\x1b\[[0-9;]*?\b(3[0-7]|4[0-7]|9[0-7]|38;|48;)[0-9;]*m")
            .expect("a pattern")
            .is_match(raw)
    };
    assert!(
        colours(&shown(&[]).0),
        "256 colours where nothing else is said"
    );
    assert!(!shown(&[]).0.contains("[38;2;"));
    assert!(!colours(&shown(&[("NO_COLOR", "1")]).0), "no colour at all");
    assert!(
        shown(&[("COLORTERM", "truecolor")]).0.contains("38;2;")
            || colours(&shown(&[("COLORTERM", "truecolor")]).0)
    );
    let few = shown(&[("TERM", "linux")]).0;
    assert!(
        !few.contains("38;2;")
            && !regex::Regex::new(r"38;5;(1[6-9]|[2-9]\d|\d{3})")
                .expect("a pattern")
                .is_match(&few)
    );
    let strange = shown(&[("TERM", "no-such-terminal")]).0;
    assert!(strange.contains("FIRST") && !strange.contains("38;2;"));
    let ascii = shown(&[("LC_ALL", "C")]).0;
    assert!(ascii.is_ascii(), "borders of ASCII");
}

#[test]
fn a_terminal_without_a_name_or_with_a_strange_one_is_drawn_on_and_asked_nothing_risky() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let (program, path) = (
        env!("CARGO_BIN_EXE_tv"),
        path.to_str().expect("a plain path"),
    );
    for change in [&["-u", "TERM"][..], &["TERM="], &["TERM=quux-9000"]] {
        let arguments = [change, &[program, path]].concat();
        let mut console = Console::run("env", &arguments, &[]);
        console.wait_for("FIRST ANSWER");
        console.send("z5?");
        console.wait_for("Keys and signs");
        console.send("Q");
        assert_eq!(console.wait_for_exit(), 0, "{change:?}");
        console.assert_restored();
        let raw = console.raw_text();
        assert!(
            !raw.contains("38;2;") && !raw.contains("48;2;"),
            "{change:?}"
        );
        // A terminal of which nothing is known might write the questions on its screen.
        let asks = ["\u{1b}]11;?", "\u{1b}[>0q", "\u{1b}[16t"]
            .iter()
            .any(|question| raw.contains(question));
        assert!(!asks || change == ["TERM=quux-9000"], "{change:?}");
    }
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
fn broken_settings_are_reported_with_line_and_column() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let settings = folder.path().join("tv");
    std::fs::create_dir_all(settings.join("themes")).expect("folders");
    let home = folder.path().to_str().expect("a plain path");
    let is_reported = |config: &str, words: &str| {
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
    is_reported("wrap = true\nglow = 1\n", "2:1: no setting is called glow");
    std::fs::write(
        settings.join("themes/mine.toml"),
        "[roles]\nbot = \"red\"\n",
    )
    .expect("a theme");
    is_reported("theme = \"mine\"\n", "2:1: no role is called bot");
    is_reported("theme = \"nowhere\"\n", "no theme is called nowhere");
}

#[test]
fn without_a_home_the_session_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let environment = [
        ("HOME", ""),
        ("TV_STATE", "on"),
        ("XDG_STATE_HOME", ""),
        ("XDG_CONFIG_HOME", ""),
    ];
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &environment);
    console.wait_for("FIRST ANSWER");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}

#[test]
fn programs_that_are_missing_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let environment = [("VISUAL", ""), ("EDITOR", "no-such-editor-here -x")];
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &environment);
    console.wait_for("FIRST ANSWER");
    console.send("v");
    console.wait_for("no-such-editor-here cannot be started");
    console.wait("the viewer is back", |console| {
        console.screen.screen().alternate_screen()
    });
    console.send("|no-such-command-here\r");
    console.wait_for("press a key");
    console.send("x");
    console.wait_for("exit 127");
    console.wait("the viewer is back", |console| {
        console.screen.screen().alternate_screen()
    });
    // What was typed while the terminal was another program's does not count.
    console.drain(Duration::from_millis(300));
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
    let mut console = Console::start(
        &[path.to_str().expect("a plain path")],
        &[("VISUAL", ""), ("EDITOR", "")],
    );
    console.wait_for("FIRST ANSWER");
    console.send("v");
    console.wait_for("neither $VISUAL nor $EDITOR is set");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
}

/// What was copied last, as the clipboard gets it.
fn clipboard(console: &Console) -> String {
    use base64::Engine as _;
    let raw = console.raw_text();
    let (_, rest) = raw
        .rsplit_once("\u{1b}]52;c;")
        .expect("something was copied");
    let data = rest.split('\u{7}').next().unwrap_or_default();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(data)
        .expect("it is base64");
    String::from_utf8(bytes).expect("it is a text")
}

#[test]
fn switches_say_what_is_copied_and_what_has_marks() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = session(folder.path());
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    append(
        &path,
        &line("assistant", &format!(r"odd\u202e\u0007text {key} end"), 3),
    );
    let environment = [
        ("SSH_CONNECTION", "1 2 3 4"),
        ("PATH", "/nowhere"),
        ("TMUX", ""),
        ("STY", ""),
    ];
    let mut console = Console::start(&[path.to_str().expect("a plain path")], &environment);
    console.resize(24, 200);
    console.wait_for("U+202E");
    let mut copies = 0;
    let mut copied = |console: &mut Console, switch: &str, words: &str| {
        console.send(&format!(":set {switch}\r"));
        console.drain(Duration::from_millis(100));
        console.send("yy");
        copies += 1;
        console.wait("it is copied", |console| {
            console.written("\u{1b}]52;c;") == copies
        });
        console.wait_for(words);
        clipboard(console)
    };
    let plain = copied(&mut console, "noclean", ":set clean leaves such out");
    assert!(plain.contains("U+202E") && plain.contains(key), "{plain:?}");
    let clean = copied(&mut console, "clean", "left out");
    assert_eq!(clean, format!("oddtext {key} end"));
    let masked = copied(&mut console, "redact", "1 key or token masked");
    assert!(
        masked.starts_with("oddtext ghp_")
            && !masked.contains("0123456789")
            && masked.ends_with(" end"),
        "{masked:?}"
    );
    let open = copied(&mut console, "noredact", "copied 1 line");
    assert_eq!(open, clean);
    let again = copied(&mut console, "noclean", ":set clean");
    assert_eq!(again, plain);
    // The inspector always shows what is there.
    console.send(":set noinspector\r");
    console.send(":set nomarks\r");
    console.wait("the marks are gone", |console| {
        !console.text().contains("U+202E")
    });
    console.wait_for("text ghp_");
    console.send(":set marks\r");
    console.wait_for("U+202E");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    assert!(
        !console.raw_text().contains('\u{202e}'),
        "it never reaches the screen"
    );
}
