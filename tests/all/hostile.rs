//! Tests with hostile text in every text field of every format: only tv's own escape sequences
//! reach the terminal.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tv::analysis::lint::Severity;
use tv::ingest::find::DiscoveryQuery;
use tv::ingest::{self, Target};
use tv::model::timestamp::Timestamp;
use tv::render::row::Level;
use tv::render::theme::Theme;
use tv::report::reading::NamedSessions;
use tv::report::rows::Paper;
use tv::report::{check, doctor, list, printer, show, stats};

use crate::fixtures;
use crate::pty::Console;
use crate::stage::Stage;

fn named(target: &Target) -> NamedSessions {
    NamedSessions {
        targets: vec![Ok(target.clone())],
        ..NamedSessions::default()
    }
}

/// Stands for bytes that are no UTF-8, which no string can hold.
const INVALID: &str = "\u{e123}";
/// What is put at the end of texts.
const PAYLOADS: &[&str] = &[
    "\u{0}\u{1}\u{7}\u{8}\u{b}\u{c}\u{e}\u{7f}",
    "\u{1b}[2J\u{1b}[1;1H\u{1b}[5;10r\u{1b}[?1049l\u{1b}[6n\u{1b}[21t",
    "\u{1b}]0;PWN\u{7}\u{1b}]2;PWN\u{1b}\\",
    "\u{1b}]52;c;UFdO\u{7}\u{1b}]4;1;#f00\u{7}\u{1b}]10;#f00\u{7}",
    "\u{1b}]8;;http://PWN/\u{1b}\\x\u{1b}]8;;\u{1b}\\ \u{1b}]777;notify;PWN;x\u{7}",
    "\u{1b}P1;qPWN\u{1b}\\\u{1b}_GPWN\u{1b}\\\u{1b}^PWN\u{1b}\\\u{1b}XPWN\u{1b}\\",
    "\u{1b}c\u{1b}#8\u{1b}(0\u{1b}7\u{1b}=",
    "\u{90}PWN\u{9c}\u{9b}2J\u{9d}0;PWN\u{9c}\u{85}\u{84}",
    "\u{202e}gnp\u{2066}x\u{2069}\u{200f}\u{61c}",
    "\u{200b}\u{2060}\u{feff}\u{ad}\u{e0041}\u{e007f}",
    "x\r\u{8}\u{8}y\r\nz\n\u{1b}[8mPWN",
    "[x](http://PWN/\u{1b}]0;PWN\u{7}) &#27;]0;PWN&#7; &#x202e; `\u{1b}[2J`",
    "\u{e123}\u{e123}",
];

/// What a field says what its record is.
const KINDS: &[&str] = &[
    "type", "role", "subtype", "event", "kind", "state", "status", "op", "method", "api",
];

/// How much is hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// All texts but those that say what a record is, and those that are times.
    Texts,
    /// All texts.
    Everything,
    /// Objects have further members, whose names are hostile, too.
    Names,
}

/// Each pass, and how many of the sessions it takes: names are read in one way everywhere.
const PASSES: [(Pass, usize); 3] = [(Pass::Texts, 1), (Pass::Everything, 1), (Pass::Names, 3)];

fn payload(text: &str) -> String {
    // Equal texts stay equal, so that ids go on leading to each other.
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let number = usize::try_from(hasher.finish() % PAYLOADS.len() as u64).unwrap();
    format!("{text} {}", PAYLOADS[number])
}

fn is_time(text: &str) -> bool {
    text.len() >= 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[0].is_ascii_digit()
}

fn poison(value: &mut Value, key: &str, pass: Pass) {
    match value {
        Value::String(text) => {
            let is_spared = pass != Pass::Everything && (KINDS.contains(&key) || is_time(text));
            if !is_spared {
                *text = payload(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, key, pass)),
        Value::Object(members) => {
            members
                .iter_mut()
                .for_each(|(key, value)| poison(value, key, pass));
            if pass == Pass::Names {
                let names: Vec<String> = members.keys().take(3).map(|key| payload(key)).collect();
                members.extend(
                    names
                        .into_iter()
                        .map(|name| (name, Value::from("of a hostile name"))),
                );
            }
        }
        _ => {}
    }
}

/// A text with its JSON poisoned: as a whole, line by line, or, where it is none, as a text.
fn poisoned(text: &str, pass: Pass) -> Vec<u8> {
    let json = |text: &str| {
        let mut value: Value = serde_json::from_str(text).ok()?;
        poison(&mut value, "", pass);
        serde_json::to_string(&value).ok()
    };
    let line = |line: &str| {
        let (frame, rest) = line
            .strip_prefix("data: ")
            .map_or(("", line), |rest| ("data: ", rest));
        let rest = json(rest).unwrap_or_else(|| {
            if pass == Pass::Everything {
                payload(rest)
            } else {
                rest.to_owned()
            }
        });
        format!("{frame}{rest}\n")
    };
    let texts = json(text).unwrap_or_else(|| text.lines().map(line).collect());
    let mut bytes = Vec::new();
    for (place, part) in texts.split(INVALID).enumerate() {
        if place > 0 {
            bytes.extend(b"\xff\xc0\x9b\xed\xa0\x80");
        }
        bytes.extend(part.as_bytes());
    }
    bytes
}

fn copy_poisoned(from: &Path, to: &Path, pass: Pass) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for path in fixtures::children(from) {
            copy_poisoned(&path, &to.join(path.file_name().unwrap()), pass);
        }
    } else {
        let text = fs::read_to_string(from).unwrap();
        fs::write(to, poisoned(&text, pass)).unwrap();
    }
}

/// Changes every text in every table of a database.
#[cfg(feature = "sqlite")]
fn poison_database(path: &Path, pass: Pass) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let names = |sql: &str, column: usize| -> Vec<String> {
        let mut query = connection.prepare(sql).unwrap();
        let rows = query.query_map([], |row| row.get(column)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    connection
        .execute_batch("PRAGMA foreign_keys = off")
        .unwrap();
    for table in names(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        0,
    ) {
        for column in names(&format!("PRAGMA table_info(\"{table}\")"), 1) {
            if column == "type" || column == "role" {
                continue;
            }
            let values = names(
                &format!(
                    "SELECT DISTINCT \"{column}\" FROM \"{table}\" WHERE typeof(\"{column}\") = 'text'"
                ),
                0,
            );
            for value in values {
                let other = String::from_utf8_lossy(&poisoned(&value, pass))
                    .trim_end()
                    .to_owned();
                let other = if other.starts_with(['{', '[']) {
                    other
                } else {
                    payload(&value).replace('\0', "")
                };
                let sql =
                    format!("UPDATE \"{table}\" SET \"{column}\" = ?1 WHERE \"{column}\" = ?2");
                connection.execute(&sql, [other, value]).unwrap();
            }
        }
    }
}

/// Each fixture with its texts poisoned, in a folder with a hostile name.
fn sessions(folder: &Path, pass: Pass) -> Vec<PathBuf> {
    let home = folder.join(format!("evil\u{1b}]0;PWN\u{7}\u{9b}2J\u{202e}{pass:?}"));
    let mut sessions = Vec::new();
    for from in fixtures::all() {
        let to = home.join(from.strip_prefix(fixtures::root()).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        #[cfg(feature = "sqlite")]
        if from.extension().is_some_and(|extension| extension == "sql") {
            let to = to.with_extension("db");
            crate::databases::write(&from, &to);
            poison_database(&to, pass);
            sessions.push(to);
            continue;
        }
        copy_poisoned(&from, &to, pass);
        let (companion, stem) = (from.with_extension(""), to.with_extension(""));
        if companion != from && companion.is_dir() {
            copy_poisoned(&companion, &stem, pass);
        }
        sessions.push(to);
    }
    assert!(sessions.len() > 40, "{}", sessions.len());
    sessions
}

/// All sessions in a file, a folder or a database, as far as it opens.
fn targets(path: &Path) -> Vec<Target> {
    let whole = Target {
        path: path.to_owned(),
        session: None,
    };
    if path.is_file() && path.extension().is_none_or(|extension| extension != "db") {
        return vec![whole];
    }
    let heads = ingest::sessions(&whole).unwrap_or_default();
    heads
        .into_iter()
        .map(|head| Target {
            path: path.to_owned(),
            session: Some(head.id),
        })
        .collect()
}

/// The first thing in an output that is neither text nor a sequence of tv's own.
fn stranger(bytes: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Some("bytes that are no UTF-8".to_owned());
    };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let found = || Some(rest.chars().take(60).collect::<String>());
        if c != '\u{1b}' {
            let is_unseen = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}');
            if is_unseen || c.is_control() && !matches!(c, '\n' | '\r' | '\t') {
                return found();
            }
            rest = after;
            continue;
        }
        let Some(length) = own_sequence(after) else {
            return found();
        };
        rest = &after[length..];
    }
    None
}

/// The length of what follows ESC, if it is one of tv's own.
fn own_sequence(text: &str) -> Option<usize> {
    const MODES: [&str; 7] = ["25", "1000", "1002", "1006", "1049", "2004", "2026"];
    if let Some(control) = text.strip_prefix('[') {
        let end = control.find(|c: char| ('@'..='~').contains(&c))?;
        let (parameters, last) = (&control[..end], control.as_bytes()[end]);
        let is_plain = parameters
            .bytes()
            .all(|b| b.is_ascii_digit() || b == b';' || b == b':');
        let is_own = match last {
            b'm' | b'H' | b'A' | b'B' | b'C' | b'D' | b'J' | b'K' => is_plain,
            b'h' | b'l' => parameters
                .strip_prefix('?')
                .is_some_and(|mode| MODES.contains(&mode)),
            // The questions.
            b'c' => parameters.is_empty(),
            b't' => parameters == "16",
            b'q' => parameters == ">0",
            _ => false,
        };
        return is_own.then_some(end + 2);
    }
    let own = ["]8;", "]11;?", "]52;c;", "]9;tv: ", "_Gi=31,"];
    let start = own.into_iter().find(|start| text.starts_with(start))?;
    let end = text.find(['\u{1b}', '\u{7}'])?;
    let content = &text[start.len()..end];
    if start == "]8;" && !content.bytes().all(|byte| (b'!'..=b'~').contains(&byte)) {
        return None;
    }
    if content.chars().any(char::is_control) {
        return None;
    }
    if text[end..].starts_with('\u{7}') {
        Some(end + 1)
    } else {
        text[end..].starts_with("\u{1b}\\").then_some(end + 2)
    }
}

#[test]
fn strangers_are_found() {
    for payload in PAYLOADS {
        if !payload.contains('\u{e123}') {
            assert!(stranger(payload.as_bytes()).is_some(), "{payload:?}");
        }
    }
    assert_eq!(
        stranger(
            "\u{1b}[?2026h\u{1b}[1;2H\u{1b}[38;5;1mä\u{1b}]8;id=1;http://x/\u{1b}\\y\u{1b}[0m"
                .as_bytes()
        ),
        None
    );
}

#[test]
fn no_view_lets_anything_of_a_session_through() {
    let folder = tempfile::tempdir().unwrap();
    for (pass, each) in PASSES {
        let sessions = sessions(folder.path(), pass);
        for target in sessions.iter().step_by(each).flat_map(|path| targets(path)) {
            if ingest::open(&target).is_err() {
                continue;
            }
            let theme = Theme::dark().with_links(true);
            let mut stage = Stage::open_target(&target, (100, 40), theme);
            for keys in [
                "z 4 g",
                "z R G",
                "z 5",
                "z 2 i",
                "alt-2",
                "alt-4",
                "alt-6",
                "i I z 3 r",
                "q ?",
                "q !",
            ] {
                stage.press(keys);
                let what = stranger(&stage.painted());
                assert_eq!(
                    what,
                    None,
                    "{:?} {} after {keys}",
                    pass,
                    target.path.display()
                );
            }
            stage.press("q");
            for view in ["2", "3", "4", "5", "6", "7"] {
                stage.press(view).wait(300);
                let what = stranger(&stage.painted());
                assert_eq!(
                    what,
                    None,
                    "{:?} {} in view {view}",
                    pass,
                    target.path.display()
                );
                stage.press("q");
            }
        }
    }
}

#[test]
fn no_report_lets_anything_of_a_session_through() {
    let folder = tempfile::tempdir().unwrap();
    let now = Timestamp(1_893_456_000_000);
    for (pass, each) in PASSES {
        let sessions = sessions(folder.path(), pass);
        for path in sessions.iter().step_by(each) {
            for target in targets(path) {
                let mut out = Vec::new();
                for (level, colour, json) in [(3, true, false), (5, false, false), (4, true, true)]
                {
                    let paper = Paper {
                        width: 80,
                        colour,
                        ascii: false,
                    };
                    let (level, follow, branch) =
                        (Level::of(level), None, printer::BranchChoice::All);
                    let options = printer::PrintOptions {
                        sessions: named(&target),
                        is_joined: false,
                        paper,
                        level,
                        json,
                        follow,
                        branch,
                    };
                    let _ = show::write(&options, || Timestamp(0), &mut out);
                }
                for json in [false, true] {
                    let sessions = named(&target);
                    let _ = stats::write(&stats::StatsOptions { sessions, json }, now, &mut out);
                    let sessions = named(&target);
                    let options = doctor::DoctorOptions { sessions, json };
                    let _ = doctor::write(&options, Timestamp(0), &mut out);
                }
                for form in [
                    check::CheckForm::Text,
                    check::CheckForm::Json,
                    check::CheckForm::Sarif,
                ] {
                    let options = check::CheckOptions {
                        sessions: named(&target),
                        form,
                        least: Severity::Note,
                    };
                    let _ = check::write(&options, &mut out);
                }
                assert_eq!(stranger(&out), None, "{pass:?} {}", path.display());
            }
        }
        let paper = Paper {
            width: 120,
            colour: true,
            ascii: false,
        };
        for json in [false, true] {
            let search = DiscoveryQuery {
                targets: sessions.iter().map(Target::at).collect(),
                ..DiscoveryQuery::default()
            };
            let mut out = Vec::new();
            let options = list::ListOptions {
                search,
                hint: true,
                since: None,
                until: None,
                limit: None,
                json,
                strict: false,
                paper,
            };
            let _ = list::write(&options, now, &mut out);
            assert!(!out.is_empty());
            assert_eq!(stranger(&out), None, "{pass:?} list");
        }
    }
}

#[test]
fn no_sentence_about_what_is_wrong_quotes_an_order() {
    let folder = tempfile::tempdir().unwrap();
    let evil = "\u{1b}]0;PWN\u{7}\u{9b}2J\u{202e}";
    let empty = folder.path().join(evil);
    fs::create_dir(&empty).unwrap();
    let missing = format!("{}/{evil}.jsonl", folder.path().display());
    let empty = empty.to_str().unwrap();
    let option = format!("--{evil}");
    for arguments in [
        vec!["show", &missing],
        vec!["stats", &missing],
        vec!["check", empty],
        vec!["doctor", empty],
        vec!["show", &option],
        vec!["show", "--level", evil, "x"],
        vec!["list", "--agent", evil],
        vec!["wait", &missing, "--until", evil],
        vec!["--theme", evil],
        vec![&missing],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        let output = command
            .args(&arguments)
            .stdin(Stdio::null())
            .env("TERM", "xterm")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty());
        assert_eq!(stranger(&output.stderr), None, "{arguments:?}");
        assert_eq!(stranger(&output.stdout), None, "{arguments:?}");
    }
}

/// Presses keys one after the other, each as soon as what the last one does is drawn.
fn press(console: &mut Console, all: &[&str]) {
    for keys in all {
        console.send(keys);
        let sent = Instant::now();
        console.wait("what the keys do is drawn", |_| {
            sent.elapsed() > Duration::from_millis(120)
        });
    }
}

#[test]
fn a_real_terminal_gets_nothing_of_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let texts = sessions(folder.path(), Pass::Texts);
    let names = sessions(folder.path(), Pass::Names);
    for (sessions, name) in [
        (&texts, "claude-code/busy.jsonl"),
        (&texts, "pi/version-3.jsonl"),
        (&texts, "opencode/export.json"),
        (&texts, "openclaw/d2000000"),
        (&texts, "claude-stream-json/turns.jsonl"),
        (&texts, "cline/contract.messages.json"),
        (&texts, "messages/array.json"),
        (&names, "claude-code/busy.jsonl"),
        (&names, "generic/thing.json"),
    ] {
        let path = sessions
            .iter()
            .find(|path| path.to_string_lossy().contains(name))
            .unwrap();
        let state = folder.path().join("home");
        let environment = [
            ("NO_OSC8", ""),
            ("XDG_CONFIG_HOME", state.to_str().unwrap()),
        ];
        let mut console = Console::start(&[path.to_str().unwrap()], &environment);
        console.wait("a frame is drawn", |console| console.raw.len() > 1_000);
        press(
            &mut console,
            &[
                "g",
                "i",
                "z5",
                "z3",
                "!",
                "q",
                "?",
                "q",
                ":watch err\r",
                "r",
                "q",
                ":set nomarks\r",
                "z5",
            ],
        );
        console.send("Q");
        assert_eq!(console.wait_for_exit(), 0);
        assert_eq!(stranger(&console.raw), None, "{name}");
    }
}

#[test]
fn the_list_of_sessions_lets_nothing_through() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = sessions(folder.path(), Pass::Texts);
    let home = folder.path().join("home");
    let mut places = Vec::new();
    for (number, path) in sessions.iter().filter(|path| path.is_file()).enumerate() {
        let agent = match path.to_string_lossy() {
            name if name.contains("/claude-code/") => ".claude/projects",
            name if name.contains("/pi/") => ".pi/agent/sessions",
            _ => continue,
        };
        // The folder and the file are named by somebody hostile, too.
        let place = home
            .join(agent)
            .join("--evil\u{1b}]0;PWN\u{7}\u{9b}2J\u{202e}--");
        fs::create_dir_all(&place).unwrap();
        let place = place.join(format!("{number}\u{1b}[2J\u{9b}2J\u{202e}.jsonl"));
        fs::copy(path, &place).unwrap();
        places.push(place);
    }
    assert!(places.len() > 4, "{places:?}");
    let home = home.to_str().unwrap();
    let environment = [
        ("HOME", home),
        ("XDG_CONFIG_HOME", home),
        ("PI_CODING_AGENT_DIR", ""),
        ("PI_CODING_AGENT_SESSION_DIR", ""),
        ("CLAUDE_CONFIG_DIR", ""),
    ];
    for size in [(24, 80), (50, 200)] {
        let mut console = Console::start(&[], &environment);
        console.resize(size.0, size.1);
        console.wait_for(&format!("{} sessions", places.len()));
        press(&mut console, &["\t", "\t"]);
        for _ in &places {
            press(&mut console, &["\u{1b}[B"]);
        }
        press(
            &mut console,
            &["x", "\u{15}", "\u{1b}OP", "q", "\r", "s", "\u{1b}"],
        );
        console.send("\u{3}");
        console.wait_for_exit();
        console.assert_restored();
        assert_eq!(stranger(&console.raw), None);
        assert!(
            console.raw_text().contains("U+"),
            "the list was there, with marks in it"
        );
    }
}

#[test]
fn alarms_say_nothing_that_a_session_says_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = crate::pty::session(folder.path());
    let mut console = Console::start(&[path.to_str().unwrap()], &[]);
    console.wait_for("FIRST ANSWER");
    press(
        &mut console,
        &[":watch err\r", ":watch tool:*\r", ":watch loop\r"],
    );
    for (number, payload) in PAYLOADS
        .iter()
        .enumerate()
        .filter(|(_, payload)| !payload.contains(INVALID))
    {
        let id = format!("t{number}{payload}");
        let call = serde_json::json!({"type": "message", "id": format!("a{number}{payload}"), "parentId": null,
            "timestamp": "2026-03-01T10:00:03.000Z", "message": {"role": "assistant", "timestamp": 1_700_000_009_000_u64,
            "content": [{"type": "toolCall", "id": id, "name": format!("bash{payload}"), "arguments": {*payload: payload}}]}});
        let result = serde_json::json!({"type": "message", "id": format!("r{number}"), "parentId": null,
            "timestamp": "2026-03-01T10:00:04.000Z", "message": {"role": "toolResult", "toolCallId": id, "toolName": payload,
            "content": [{"type": "text", "text": format!("boom {payload}")}], "isError": true}});
        crate::pty::append(&path, &format!("{call}\n{result}\n"));
    }
    crate::pty::append(&path, &crate::pty::line("assistant", "THE END", 900));
    console.wait_for("THE END");
    console.wait("an alarm rings", |console| {
        console.raw_text().contains("\u{1b}]9;tv: ")
    });
    press(&mut console, &[":watch\r", "\u{1b}", "'!", "z5"]);
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    // The bell is the terminal's, too.
    assert_eq!(
        stranger(console.raw_text().replace("\u{7}\u{7}", "\u{7}").as_bytes()),
        None
    );
}
