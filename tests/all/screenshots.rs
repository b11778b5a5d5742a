//! Regenerates `screenshots/` from the real program, driven by its keys only: `cargo test --test
//! all screenshots -- --ignored`.

use std::collections::HashSet;
use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use tv::model::timestamp::Timestamp;

use crate::fixtures::PATIENCE;

mod strokes;
mod svg;

/// A picture: its file name, a text that must be on it, its size in cells, what runs and which keys are
/// pressed.
struct Shot {
    name: &'static str,
    shows: &'static str,
    size: (u16, u16),
    arguments: &'static [&'static str],
    keys: &'static [&'static str],
}

const SESSION: &str = "session.jsonl";
/// How long ago the session ended when the pictures are taken.
const ENDED_BEFORE: Duration = Duration::from_secs(12);

/// The same session while its agent runs a command.
const LIVE: &str = "live.jsonl";
/// So many of its lines are there then.
const LIVE_LINES: usize = 41;

/// Sessions of several agents, and how many seconds ago each of them ended.
const FLEET: &str = "sessions";
const OTHERS: [(&str, u64); 6] = [
    ("claude-code/busy.jsonl", 41 * 60),
    (
        "claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl",
        26 * 3_600,
    ),
    (
        "codex/rollout-2026-10-02T11-00-00-01a0fbd7-8280-7000-8000-0000000000a1.jsonl",
        75 * 3_600,
    ),
    ("pi/headless.jsonl", 95),
    (
        "qwen-code/6a000000-0000-4000-8000-00000000000a.jsonl",
        100 * 3_600,
    ),
    ("copilot-cli/events.jsonl", 150 * 3_600),
];

/// To the third prompt and the agents that it led to, with the prompt near the top.
const AGENTS: &[&str] = &[
    "g",
    "}",
    "}",
    "j",
    "j",
    "j",
    "\u{5}\u{5}\u{5}\u{5}\u{5}\u{5}\u{5}\u{5}\u{5}",
];

/// The sizes that the layout is made for, on both
/// grounds, and what is worth a look of its own.
const SHOTS: &[Shot] = &[
    Shot {
        name: "transcript",
        shows: "Task   surveyor",
        size: (120, 40),
        arguments: &[SESSION],
        keys: AGENTS,
    },
    Shot {
        name: "diff",
        shows: "let gap",
        size: (120, 40),
        arguments: &[SESSION],
        keys: &["g", "/let gap\r"],
    },
    Shot {
        name: "answer",
        shows: "In one sentence",
        size: (120, 40),
        arguments: &[SESSION],
        keys: &[],
    },
    Shot {
        name: "narrow",
        shows: "group_flash_is_a_group",
        size: (80, 24),
        arguments: &[SESSION],
        keys: &["g", "j", "e"],
    },
    Shot {
        name: "keys",
        shows: "Keys and signs",
        size: (80, 24),
        arguments: &[SESSION],
        keys: &["?"],
    },
    Shot {
        name: "wide",
        shows: "INPUT",
        size: (200, 60),
        arguments: &[SESSION],
        keys: &["g", "]s", "]s", "l"],
    },
    Shot {
        name: "timeline",
        shows: "TIME  session",
        size: (200, 60),
        arguments: &[SESSION],
        keys: &["g", "]s", "]s", "2"],
    },
    Shot {
        name: "tools",
        shows: "TOOLS",
        size: (120, 40),
        arguments: &[SESSION],
        keys: &["g", "j", "e", "3"],
    },
    Shot {
        name: "money",
        shows: "COST",
        size: (120, 40),
        arguments: &[SESSION],
        keys: &["g", "j", "4"],
    },
    Shot {
        name: "context",
        shows: "CONTEXT",
        size: (120, 40),
        arguments: &[SESSION],
        keys: &["5"],
    },
    Shot {
        name: "live",
        shows: "Bash 12s",
        size: (120, 40),
        arguments: &[LIVE],
        keys: &[],
    },
    Shot {
        name: "all",
        shows: "all sessions of",
        size: (120, 40),
        arguments: &["top", "--since", "9d", FLEET],
        keys: &[],
    },
    Shot {
        name: "usage",
        shows: "usage",
        size: (120, 40),
        arguments: &["top", FLEET],
        keys: &["$"],
    },
    Shot {
        name: "narrow-light",
        shows: "group_flash_is_a_group",
        size: (80, 24),
        arguments: &["--theme", "light", SESSION],
        keys: &["g", "j", "e"],
    },
    Shot {
        name: "transcript-light",
        shows: "Task   surveyor",
        size: (120, 40),
        arguments: &["--theme", "light", SESSION],
        keys: AGENTS,
    },
    Shot {
        name: "wide-light",
        shows: "INPUT",
        size: (200, 60),
        arguments: &["--theme", "light", SESSION],
        keys: &["g", "]s", "]s", "l"],
    },
];

#[test]
#[ignore = "writes screenshots/, run by hand"]
fn screenshots() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::create_dir_all(root.join("screenshots")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let session = fs::read_to_string(root.join("assets/demo/session.jsonl")).unwrap();
    let live: Vec<&str> = session.lines().take(LIVE_LINES).collect();
    for shot in SHOTS {
        // Written anew for each, so that no clock runs on from picture to picture.
        fs::write(
            folder.path().join(SESSION),
            of_today(&session, ENDED_BEFORE),
        )
        .unwrap();
        fs::write(
            folder.path().join(LIVE),
            of_today(&live.join("\n"), ENDED_BEFORE),
        )
        .unwrap();
        write_fleet(&folder.path().join(FLEET), &session, &live.join("\n"));
        let screen = run(folder.path(), shot.arguments, shot.size, shot.keys);
        let text = screen.contents();
        assert!(text.contains(shot.shows), "{}:\n{text}", shot.name);
        let title = format!("tv {}", shot.arguments.join(" "));
        let palette = if shot.arguments.contains(&"light") {
            &svg::LIGHT
        } else {
            &svg::DARK
        };
        let picture = svg::draw(&screen, &title, palette);
        fs::write(
            root.join("screenshots").join(format!("{}.svg", shot.name)),
            picture,
        )
        .unwrap();
    }
}

#[test]
fn a_picture_shows_text_colours_and_frame() {
    let mut terminal = parser((20, 3));
    terminal.process(
        "plain \u{1b}[1;31mred&bold\u{1b}[0m\r\n\u{1b}[7minverse\u{1b}[0m 灯台 ╭│\r\n".as_bytes(),
    );
    let svg = svg::draw(terminal.screen(), "a <title>", &svg::DARK);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for part in [
        "plain",
        "red&amp;bold",
        "font-weight=\"bold\"",
        "a &lt;title&gt;",
        "灯",
        "台",
        "inverse",
        "<path",
    ] {
        assert!(svg.contains(part), "{part} is missing in\n{svg}");
    }
}

/// The two sessions and the others, in a folder of their own.
fn write_fleet(folder: &Path, session: &str, live: &str) {
    let write = |name: &str, text: &str, before: Duration| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, of_today(text, before)).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::from(jiff::Timestamp::now()) - before)
            .unwrap();
    };
    write("demo/session.jsonl", session, Duration::from_secs(7 * 60));
    write("demo/live.jsonl", live, ENDED_BEFORE);
    for (name, seconds) in OTHERS {
        let text = fs::read_to_string(crate::stage::fixture(name)).unwrap();
        write(name, &text, Duration::from_secs(seconds));
    }
}

/// A session with all its times moved, so that it ended so long ago.
fn of_today(text: &str, before: Duration) -> String {
    let stamps: Vec<&str> = text
        .split("\"timestamp\":\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"').map(|(stamp, _)| stamp))
        .collect();
    let last = stamps
        .iter()
        .filter_map(|stamp| Timestamp::parse(stamp))
        .max()
        .unwrap();
    let end = Timestamp::parse(&jiff::Timestamp::now().to_string())
        .unwrap()
        .0
        - i64::try_from(before.as_millis()).unwrap();
    stamps
        .iter()
        .collect::<HashSet<_>>()
        .into_iter()
        .fold(text.to_owned(), |text, stamp| {
            let at = Timestamp::parse(stamp).unwrap().0 - last.0 + end;
            text.replace(*stamp, &Timestamp(at).to_rfc3339())
        })
}

/// Runs tv in a terminal of its own, presses keys once it is quiet, and reads the screen.
fn run(
    folder: &Path,
    arguments: &[&str],
    (cols, rows): (u16, u16),
    keys: &[&str],
) -> vt100::Screen {
    let size = PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    };
    let pty = native_pty_system().openpty(size).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tv"));
    command.args(arguments);
    command.cwd(folder);
    for (name, value) in [
        ("TERM", "xterm-256color"),
        ("COLORTERM", "truecolor"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
        ("TV_STATE", "off"),
    ] {
        command.env(name, value);
    }
    let mut child = pty.slave.spawn_command(command).unwrap();
    drop(pty.slave);
    let output = listen(pty.master.try_clone_reader().unwrap());
    let mut keyboard = pty.master.take_writer().unwrap();
    let mut terminal = parser((cols, rows));
    settle(&output, &mut terminal);
    for key in keys {
        keyboard.write_all(key.as_bytes()).unwrap();
        keyboard.flush().unwrap();
        settle(&output, &mut terminal);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    terminal.screen().clone()
}

fn parser((cols, rows): (u16, u16)) -> vt100::Parser {
    vt100::Parser::new(
        NonZeroU16::new(rows).unwrap(),
        NonZeroU16::new(cols).unwrap(),
        0,
    )
}

fn listen(mut output: Box<dyn Read + Send>) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(n @ 1..) = output.read(&mut chunk) {
            if send.send(chunk[..n].to_vec()).is_err() {
                return;
            }
        }
    });
    receive
}

/// Draws what comes until nothing has come for a while: colours of code arrive after the first frame.
fn settle(output: &Receiver<Vec<u8>>, terminal: &mut vt100::Parser) {
    const QUIET: Duration = Duration::from_millis(600);
    let deadline = Instant::now() + PATIENCE;
    while let Ok(bytes) = output.recv_timeout(QUIET) {
        terminal.process(&bytes);
        if Instant::now() > deadline {
            return;
        }
    }
}
