//! Tests of unreadable files among an agent's sessions: every surface reports them, and none shows
//! them as empty.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tv::ingest::find::{DiscoveryQuery, Environment, watch};
use tv::model::found::Sighting;
use tv::model::timestamp::Timestamp;

/// Long after everything that these tests write.
const LATER: Timestamp = Timestamp(4_000_000_000_000);
const PROJECT: &str = ".claude/projects/-work-mill";

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, path: &str) -> PathBuf {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn file(&self, path: &str, content: &[u8]) -> PathBuf {
        let path = self.path(path);
        fs::write(&path, content).unwrap();
        path
    }

    /// A session that spent something.
    fn with_session(self) -> Self {
        let own = |record: Value| {
            let mut record = record;
            for (name, value) in [
                ("sessionId", "5d0c1c52"),
                ("cwd", "/work/mill"),
                ("version", "2.1.0"),
            ] {
                record[name] = json!(value);
            }
            record.to_string() + "\n"
        };
        let prompt = json!({"parentUuid": null, "isSidechain": false, "type": "user", "uuid": "u1",
            "message": {"role": "user", "content": "Grind the corn"}, "timestamp": "2026-01-31T10:41:07.000Z"});
        let answer = json!({"parentUuid": "u1", "isSidechain": false, "type": "assistant", "requestId": "r1",
            "message": {"id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
                "content": [{"type": "text", "text": "It is flour."}],
                "usage": {"input_tokens": 10, "output_tokens": 20}},
            "uuid": "a1", "timestamp": "2026-01-31T10:41:09.000Z"});
        self.file(
            &format!("{PROJECT}/5d0c1c52.jsonl"),
            (own(prompt) + &own(answer)).as_bytes(),
        );
        self
    }

    fn tv(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command
            .env_clear()
            .env("HOME", self.0.path())
            .env("LC_ALL", "C.UTF-8");
        let output = command
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// What is listed that cannot be read: the path below the home folder, the agent, and why.
    fn unreadable(&self, arguments: &[&str]) -> BTreeMap<String, (Option<String>, String)> {
        let (code, out, error) = self.tv(&[&["list", "--json"], arguments].concat());
        assert_eq!((code, error.as_str()), (0, ""), "{out}");
        let rows = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let rows = rows.filter(|row| row["unreadable"].is_string());
        rows.map(|row| {
            let known = ["schema", "path", "agent", "unreadable"];
            let others = row
                .as_object()
                .unwrap()
                .iter()
                .filter(|(name, _)| !known.contains(&name.as_str()));
            assert!(
                others.clone().count() > 5 && others.clone().all(|(_, value)| value.is_null()),
                "{row}"
            );
            let path = Path::new(row["path"].as_str().unwrap())
                .strip_prefix(self.0.path())
                .unwrap();
            let text = |name: &str| row[name].as_str().map(str::to_owned);
            (
                path.to_str().unwrap().to_owned(),
                (text("agent"), text("unreadable").unwrap()),
            )
        })
        .collect()
    }
}

fn because(agent: &str, why: &str) -> (Option<String>, String) {
    (Some(agent.to_owned()), why.to_owned())
}

#[cfg(feature = "sqlite")]
fn database(path: &Path, sql: &str) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

/// A home in which something of every kind cannot be read, and beside it what is none of these.
fn home_with_faults() -> Home {
    let home = Home::new().with_session();
    let at = |name: &str| home.path(&format!("{PROJECT}/{name}"));
    symlink("/there/is/no/such/file", at("gone.jsonl")).unwrap();
    symlink("loop.jsonl", at("loop.jsonl")).unwrap();
    for (to, from) in [("two.jsonl", "one.jsonl"), ("one.jsonl", "two.jsonl")] {
        symlink(to, at(from)).unwrap();
    }
    fs::create_dir(at("folder.jsonl")).unwrap();
    symlink(
        "/there/is/no/such/folder",
        home.path(".claude/projects/-gone"),
    )
    .unwrap();
    home.file(
        &format!("{PROJECT}/packed.jsonl"),
        b"PK\x03\x04 not a session",
    );
    home.file(
        &format!("{PROJECT}/noise.jsonl"),
        &[0x9d, 0xff, 0x00, 0x8a].repeat(2_000),
    );
    home.file(
        ".gemini/tmp/mill/chats/session-1.json",
        b"\xff\xd8\xff\xe0\x00\x10JFIF".repeat(9).as_slice(),
    );
    // What its agent has just made, or keeps beside its sessions, is no fault.
    home.file(&format!("{PROJECT}/empty.jsonl"), b"");
    home.file(
        &format!("{PROJECT}/begun.jsonl"),
        b"{\"type\":\"user\",\"mess",
    );
    home.file(&format!("{PROJECT}/5d0c1c52/notes.txt"), b"not a record");
    home.file(
        ".claude/projects/-work-mill/sessions-index.json",
        b"not even JSON",
    );
    home.file(".continue/sessions/sessions.json", b"[]");
    symlink("/there/is/nothing", home.path(".claude/debug/latest")).unwrap();
    symlink("lost", home.path("lost")).unwrap();
    home
}

fn expected() -> BTreeMap<String, (Option<String>, String)> {
    let looped = "a link that leads back to itself";
    let missing = "a link to a file that does not exist";
    let of_claude = [
        ("gone.jsonl", missing),
        ("loop.jsonl", looped),
        ("one.jsonl", looped),
        ("two.jsonl", looped),
        ("folder.jsonl", "a folder in place of a file"),
        (
            "packed.jsonl",
            "an archive; unpack it and open the session file in it",
        ),
        ("noise.jsonl", "a binary file, not a session"),
    ];
    let of_claude =
        of_claude.map(|(name, why)| (format!("{PROJECT}/{name}"), because("claude-code", why)));
    let others = [
        (
            ".claude/projects/-gone".to_owned(),
            because("claude-code", missing),
        ),
        (
            ".gemini/tmp/mill/chats/session-1.json".to_owned(),
            because("gemini", "a binary file, not a session"),
        ),
    ];
    of_claude.into_iter().chain(others).collect()
}

#[test]
fn what_cannot_be_read_is_a_row_of_the_list() {
    let home = home_with_faults();
    assert_eq!(home.unreadable(&[]), expected());
    let folder = home.path(".claude");
    let of_claude = home.unreadable(&[folder.to_str().unwrap()]);
    assert_eq!(
        of_claude,
        expected()
            .into_iter()
            .filter(|(path, _)| path.starts_with(".claude"))
            .collect()
    );
    assert_eq!(home.unreadable(&["--agent", "gemini"]).len(), 1);
    let (code, out, _) = home.tv(&["list", "--width", "140"]);
    assert_eq!(code, 0);
    let row = out
        .lines()
        .find(|line| line.contains("gone.jsonl"))
        .unwrap();
    let words =
        format!("claude-code  cannot be read: a link to a file that does not exist (~/{PROJECT}");
    assert!(row.contains(&words) && row.ends_with("gone.jsonl"), "{out}");
    assert!(out.contains("Grind the corn"), "{out}");
}

#[test]
fn reports_over_many_sessions_say_it_and_fail_only_if_they_are_to_be_strict() {
    let home = home_with_faults();
    for (command, counts_rows) in [
        (&["usage"][..], false),
        (&["usage", "--json"], false),
        (&["grep", "flour"], false),
        (&["top", "--once", "--since", "36500d"], true),
        (&["list"], true),
    ] {
        let (code, out, error) = home.tv(command);
        assert_eq!(code, 0, "{command:?} {error}");
        if command != ["list"] {
            for (path, (_, why)) in expected() {
                let line = format!("{path}: cannot be read: {why}");
                assert!(
                    error.lines().filter(|said| said.ends_with(&line)).count() == 1,
                    "{command:?} {error}"
                );
            }
            assert_eq!(
                error.lines().count(),
                expected().len(),
                "{command:?} {error}"
            );
        }
        assert!(
            !counts_rows || out.matches("cannot be read").count() >= expected().len(),
            "{command:?} {out}"
        );
        let (code, strictly, _) = home.tv(&[command, &["--strict"]].concat());
        assert_eq!(
            (code, strictly.lines().count()),
            (2, out.lines().count()),
            "{command:?}"
        );
    }
    let (code, out, error) = home.tv(&["grep", "no such words"]);
    assert_eq!(
        (code, out.as_str(), error.lines().count()),
        (1, "", expected().len())
    );
    let sound = Home::new().with_session();
    for command in [
        &["usage", "--strict"][..],
        &["list", "--strict"],
        &["grep", "flour", "--strict"],
    ] {
        let (code, _, error) = sound.tv(command);
        assert_eq!((code, error.as_str()), (0, ""), "{command:?}");
    }
    // What is named is meant.
    let named = home.path(&format!("{PROJECT}/gone.jsonl"));
    for command in ["usage", "list", "top"] {
        let (code, _, error) = home.tv(&[command, named.to_str().unwrap()]);
        assert_eq!(code, 2, "{command} {error}");
    }
}

/// Whoever reads one session of a folder that was named says what else lies in it and cannot be read, too.
#[test]
fn reports_on_a_folder_that_is_named_say_what_in_it_cannot_be_read() {
    let home = home_with_faults();
    let folder = home.path(".claude");
    let of_claude: Vec<_> = expected()
        .into_iter()
        .filter(|(path, _)| path.starts_with(".claude"))
        .collect();
    for command in ["stats", "check", "brief", "show", "doctor"] {
        let folder = folder.to_str().unwrap();
        let (code, out, error) = home.tv(&[command, folder]);
        assert_eq!(
            (code, error.lines().count()),
            (0, of_claude.len()),
            "{command} {error}"
        );
        for (path, (_, why)) in &of_claude {
            let line = format!("{path}: cannot be read: {why}");
            assert!(
                error.lines().any(|said| said.ends_with(&line)),
                "{command} {error}"
            );
        }
        let strictly = home.tv(&[command, folder, "--strict"]);
        assert_eq!(strictly, (2, out, error), "{command}");
        let file = home.path(&format!("{PROJECT}/5d0c1c52.jsonl"));
        let (code, _, error) = home.tv(&[command, file.to_str().unwrap(), "--strict"]);
        assert_eq!(
            (code, error.as_str()),
            (0, ""),
            "{command}: a file is meant alone"
        );
    }
    // Where nothing can be read, all that is wrong is the reason.
    let home = Home::new();
    for name in ["one.jsonl", "two.jsonl"] {
        symlink(
            "/there/is/no/such/file",
            home.path(&format!("{PROJECT}/{name}")),
        )
        .unwrap();
    }
    for command in ["stats", "check", "brief", "show", "doctor"] {
        let (code, out, error) = home.tv(&[command, home.path(".claude").to_str().unwrap()]);
        assert_eq!((code, out.as_str()), (2, ""), "{command} {error}");
        let missing = "cannot be read: a link to a file that does not exist";
        assert_eq!(error.matches(missing).count(), 2, "{command} {error}");
    }
}

#[test]
fn that_there_is_nothing_is_not_said_beside_what_cannot_be_read() {
    let home = Home::new();
    symlink("gone", home.path(&format!("{PROJECT}/gone.jsonl"))).unwrap();
    for command in [
        &["usage"][..],
        &["usage", "--limits"],
        &["list"],
        &["top", "--once"],
    ] {
        let (code, out, _) = home.tv(command);
        assert_eq!(code, 0, "{command:?}");
        for lie in ["nothing was spent", "no sessions", "no session "] {
            assert!(!out.contains(lie), "{command:?} {out}");
        }
        assert!(out.contains("cannot be read"), "{command:?} {out}");
    }
    let (_, out, error) = Home::new().tv(&["usage"]);
    assert_eq!((out.as_str(), error.as_str()), ("nothing was spent\n", ""));
}

#[cfg(feature = "sqlite")]
#[test]
fn databases_of_other_versions_and_damaged_ones_are_rows() {
    let home = Home::new().with_session();
    let data = ".local/share/opencode";
    let later = "CREATE TABLE session_v9(id TEXT, body BLOB); CREATE TABLE spool(id TEXT); INSERT INTO spool VALUES('x')";
    drop(database(&home.path(&format!("{data}/opencode.db")), later));
    // The tables of the first are those of an agent; half of it is gone.
    let half = home.path(&format!("{data}/opencode-dev.db"));
    let sql = fs::read_to_string("tests/fixtures/opencode/opencode.sql").unwrap();
    drop(database(&half, &sql));
    let bytes = fs::read(&half).unwrap();
    fs::write(&half, &bytes[..bytes.len() / 2]).unwrap();
    home.file(
        &format!("{data}/noise.db"),
        &[0x9d, 0xff, 0x00, 0x8a].repeat(2_000),
    );
    fs::create_dir(home.path(&format!("{data}/folder.db"))).unwrap();
    let locked = home.path(".local/share/goose/sessions/sessions.db");
    let sql = fs::read_to_string("tests/fixtures/goose/sessions.sql").unwrap();
    let writer = database(&locked, &sql);
    writer
        .execute_batch("PRAGMA journal_mode = delete; BEGIN EXCLUSIVE;")
        .unwrap();
    // Databases that hold no sessions by design, and such as have just been made.
    home.file(&format!("{data}/new.db"), b"");
    drop(database(
        &home.path(&format!("{data}/bare.db")),
        "PRAGMA user_version = 3; VACUUM;",
    ));
    let beside = "CREATE TABLE schema_meta(k TEXT); CREATE TABLE cache_entries(k TEXT)";
    drop(database(
        &home.path(".openclaw/agents/main/agent/openclaw-agent.sqlite"),
        beside,
    ));
    drop(database(&home.path(".codex/state.db"), later));
    let found = home.unreadable(&[]);
    let row = |name: &str| found.get(&format!("{data}/{name}"));
    let of_later = because("opencode", "an OpenCode database of a later version");
    assert_eq!(row("opencode.db"), Some(&of_later));
    assert!(
        row("opencode-dev.db").unwrap().1.contains("damaged"),
        "{found:?}"
    );
    assert_eq!(
        row("noise.db"),
        Some(&because(
            "opencode",
            "not a database, or only a piece of one"
        ))
    );
    assert_eq!(
        row("folder.db"),
        Some(&because("opencode", "a folder in place of a file"))
    );
    let busy = found.get(".local/share/goose/sessions/sessions.db");
    assert_eq!(busy, Some(&because("goose", "the database is busy")));
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(
        home.unreadable(&[home.path(data).to_str().unwrap()]).len(),
        4
    );
    for command in [&["usage"][..], &["grep", "flour"], &["top", "--once"]] {
        let (code, _, error) = home.tv(command);
        assert_eq!((code, error.lines().count()), (0, 5), "{command:?} {error}");
        assert!(
            error.contains("opencode.db: cannot be read: an OpenCode database of a later version"),
            "{error}"
        );
    }
    let (_, out, _) = home.tv(&["top", "--once", "--json"]);
    let rows: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let problem = "cannot be read: an OpenCode database of a later version";
    assert!(
        rows.iter()
            .any(|row| row["problem"] == problem && row["needs"] == "error"),
        "{out}"
    );
    drop(writer);
    assert_eq!(home.unreadable(&[]).len(), 4, "the busy one is free");
}

#[test]
fn whoever_goes_on_looking_sees_what_cannot_be_read_come_and_go() {
    let home = Home::new().with_session();
    let path = home.path(&format!("{PROJECT}/later.jsonl"));
    let target = home.path("elsewhere/session.jsonl");
    symlink(&target, &path).unwrap();
    let environment = Environment {
        home: Some(home.0.path().to_owned()),
        ..Environment::default()
    };
    let watch = watch(
        DiscoveryQuery {
            environment,
            ..DiscoveryQuery::default()
        },
        || LATER,
    );
    let next = |is_it: &dyn Fn(&Sighting) -> bool| {
        watch
            .sightings
            .iter()
            .find(|sighting| is_it(sighting))
            .unwrap()
    };
    let of_path =
        |sighting: &Sighting| matches!(sighting, Sighting::Found(found) if found.path == path);
    let Sighting::Found(found) = next(&of_path) else {
        unreachable!()
    };
    assert_eq!(
        found.fault().unwrap().as_str(),
        "cannot be read: a link to a file that does not exist"
    );
    next(&|sighting| *sighting == Sighting::Complete);
    fs::copy(home.path(&format!("{PROJECT}/5d0c1c52.jsonl")), &target).unwrap();
    let Sighting::Found(found) = next(&of_path) else {
        unreachable!()
    };
    assert_eq!(
        (found.fault(), found.title.as_deref()),
        (None, Some("Grind the corn"))
    );
}

#[cfg(feature = "sqlite")]
#[test]
fn every_command_over_many_sessions_takes_one_of_a_database() {
    let home = Home::new().with_session();
    let path = home.path(".local/share/goose/sessions/sessions.db");
    drop(database(
        &path,
        &fs::read_to_string("tests/fixtures/goose/sessions.sql").unwrap(),
    ));
    let (_, out, _) = home.tv(&["list", "--json", path.to_str().unwrap()]);
    let all: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let id = all[0]["session"].as_str().unwrap();
    let named = format!("{}#{id}", path.display());
    let rows = |arguments: &[&str], name: &str| {
        let (code, out, error) = home.tv(arguments);
        assert_eq!((code, error.as_str()), (0, ""), "{arguments:?}");
        let rows = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()[name].clone());
        rows.collect::<Vec<_>>()
    };
    assert_eq!(rows(&["list", "--json", &named], "session"), [id]);
    assert_eq!(
        rows(
            &["top", "--once", "--json", "--since", "36500d", &named],
            "name"
        ),
        [id]
    );
    assert_eq!(
        rows(&["usage", "--json", "--by", "session", &named], "sessions"),
        [1]
    );
    for command in [
        &["list"][..],
        &["top", "--once"],
        &["usage"],
        &["grep", "x"],
    ] {
        let (code, _, error) =
            home.tv(&[command, &[&format!("{}#nobody", path.display())]].concat());
        assert_eq!(
            (code, error.contains("no session nobody")),
            (2, true),
            "{command:?} {error}"
        );
    }
}

/// The page for a report of a bug.
#[test]
fn the_doctor_tells_of_all_sessions_without_their_content_and_paths() {
    let home = home_with_faults();
    let of = |session: &str, version: &str, kinds: &[(&str, usize)]| {
        let prompt = json!({"parentUuid": null, "isSidechain": false, "type": "user", "uuid": "u1",
            "message": {"role": "user", "content": "SECRET words"}, "timestamp": "2026-02-01T10:00:00.000Z",
            "sessionId": session, "cwd": "/work/mill", "version": version});
        let unknown = kinds.iter().flat_map(|(kind, count)| {
            std::iter::repeat_n(
                json!({"type": kind, "sessionId": session, "level": 3}).to_string(),
                *count,
            )
        });
        let lines: Vec<String> = std::iter::once(prompt.to_string()).chain(unknown).collect();
        home.file(
            &format!("{PROJECT}/{session}.jsonl"),
            (lines.join("\n") + "\n").as_bytes(),
        );
    };
    of("a1", "2.1.9", &[("tide-table", 2)]);
    of("a2", "2.1.10", &[("tide-table", 3), ("moon", 1)]);
    of("a3", "2.1.10", &[]);
    let (code, out, error) = home.tv(&["doctor", "--json"]);
    assert_eq!((code, error.as_str()), (0, ""));
    let rows: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        rows.iter().all(|row| row["schema"] == "tv.health/1"),
        "{out}"
    );
    let of_claude: Vec<&Value> = rows
        .iter()
        .filter(|row| row["agent"] == "claude-code")
        .collect();
    let versions: Vec<&Value> = of_claude.iter().map(|row| &row["version"]).collect();
    assert_eq!(
        versions,
        [
            &Value::Null,
            &json!("2.1.0"),
            &json!("2.1.9"),
            &json!("2.1.10")
        ]
    );
    let newest = of_claude[3];
    assert_eq!(
        (&newest["sessions"], &newest["records"]),
        (&json!(2), &json!(6))
    );
    let kinds: Vec<(&Value, &Value, &Value)> = newest["unknown"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| (&kind["kind"], &kind["judged"], &kind["count"]))
        .collect();
    assert_eq!(kinds.len(), 2, "{newest}");
    let tides = kinds
        .iter()
        .find(|(kind, ..)| kind.as_str().unwrap().contains("tide-table"))
        .unwrap();
    assert_eq!((tides.1, tides.2), (&json!("trace"), &json!(3)));
    assert_eq!(
        (&newest["oldest"], &newest["unreadable"]),
        (&json!("2026-02-01T10:00:00.000Z"), &json!([]))
    );
    let unreadable = of_claude[0]["unreadable"].as_array().unwrap();
    let looped = unreadable
        .iter()
        .find(|one| one["what"] == "a link that leads back to itself")
        .unwrap();
    assert_eq!(looped["count"], 3);
    let all: u64 = rows
        .iter()
        .flat_map(|row| row["unreadable"].as_array().unwrap())
        .map(|one| one["count"].as_u64().unwrap())
        .sum();
    assert_eq!(all, expected().len() as u64);
    let (_, page, _) = home.tv(&["doctor"]);
    assert!(
        page.contains("tide-table ×3")
            && page.contains("cannot be read: a link that leads back to itself ×3"),
        "{page}"
    );
    for text in [&out, &page] {
        for secret in [
            "SECRET",
            "mill",
            "a2",
            home.0.path().to_str().unwrap(),
            "5d0c1c52",
        ] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    assert_eq!(home.tv(&["doctor", "--strict"]).0, 2);
    let sound = Home::new().with_session();
    assert_eq!(sound.tv(&["doctor", "--strict"]).0, 0);
}

/// What root may read, and others may not.
#[test]
fn what_an_ordinary_user_may_not_read_is_named_as_that() {
    const ORDINARY: [&str; 4] = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let home = Home::new().with_session();
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    mode(home.0.path(), 0o755);
    let closed = home.file(".claude/projects/-closed/s.jsonl", b"{}\n");
    // One sees what is in it, and can open none of that.
    let seen = home.file(".claude/projects/-seen/s.jsonl", b"{}\n");
    let file = home.file(&format!("{PROJECT}/own.jsonl"), b"{}\n");
    let database = home.file(".local/share/opencode/opencode.db", b"SQLite format 3\0");
    mode(closed.parent().unwrap(), 0o700);
    mode(seen.parent().unwrap(), 0o744);
    for path in [&file, &database] {
        mode(path, 0o600);
    }
    let before: &[&str] = if rustix::process::geteuid().is_root() {
        &ORDINARY
    } else {
        return;
    };
    let run = |arguments: &[&str]| {
        let mut command = Command::new(before[0]);
        command
            .args(&before[1..])
            .arg(env!("CARGO_BIN_EXE_tv"))
            .args(arguments);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let output = command
            .env("HOME", home.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    if run(&["--version"]).0 != Some(0) {
        return;
    }
    let all = [closed.parent().unwrap(), &seen, &file, &database];
    for command in [&["usage"][..], &["grep", "flour"], &["top", "--once"]] {
        let (code, _, said) = run(command);
        assert_ne!(code, Some(2), "{command:?}: {said}");
        for path in all {
            let line = format!(
                "tv: {}: cannot be read: no permission to read it",
                path.display()
            );
            assert!(
                said.lines().any(|said| said == line),
                "{command:?} does not name {line}: {said}"
            );
        }
    }
    assert_eq!(run(&["usage", "--strict"]).0, Some(2));
    // A folder in which nothing can be opened is not one without a session.
    let folder = closed.parent().unwrap();
    for (named, why) in [
        (
            seen.parent().unwrap(),
            format!(
                "{}: cannot be read: no permission to read it",
                seen.display()
            ),
        ),
        (
            folder,
            format!("{}: no permission to read it", folder.display()),
        ),
    ] {
        let (code, _, said) = run(&["stats", named.to_str().unwrap()]);
        assert_eq!((code, said), (Some(2), format!("tv: {why}\n")));
    }
}
