//! Tests of the scan for sessions: a home directory with the folders of every agent, `tv list` and
//! `tv ID`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
#[cfg(feature = "sqlite")]
use tv::analysis::wall::{Glance, Voice};
use tv::cli::{Config, Surroundings};
use tv::fleet;
use tv::ingest::Target;
use tv::ingest::find::{self, DiscoveryQuery, Environment};
use tv::model::found::{FoundSession, Sighting};
use tv::model::timestamp::Timestamp;
#[cfg(feature = "sqlite")]
use tv::runtime::config::Start;

/// Long after everything that these tests write.
const LATER: Timestamp = Timestamp(5_000_000_000_000);

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file that is `age` seconds old.
    fn file(&self, path: &str, age: u64, content: &str) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        #[expect(
            clippy::disallowed_methods,
            reason = "the age of a file is counted from now"
        )]
        let at = SystemTime::now() - Duration::from_secs(age);
        fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(at)
            .unwrap();
        path
    }

    fn search(&self) -> DiscoveryQuery {
        let environment = Environment {
            home: Some(self.path().to_owned()),
            ..Environment::default()
        };
        DiscoveryQuery {
            environment,
            ..DiscoveryQuery::default()
        }
    }

    fn tv(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command.env_clear();
        let command = command
            .args(arguments)
            .env("HOME", self.path())
            .env("LC_ALL", "C.UTF-8");
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    fn listed(&self, arguments: &[&str]) -> Vec<Value> {
        let (code, out, error) = self.tv(&[&["list", "--json"], arguments].concat());
        assert_eq!((code, error.as_str()), (0, ""));
        out.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn lines(records: &[Value]) -> String {
    records
        .iter()
        .map(|record| record.to_string() + "\n")
        .collect()
}

/// Sessions that tell of a time after that of every file: then the files' own times are the order.
fn claude(session: &str, prompt: &str) -> String {
    let prompt = json!({"parentUuid": null, "isSidechain": false, "type": "user",
        "message": {"role": "user", "content": prompt}, "uuid": "u1", "timestamp": "2096-01-31T10:41:07.000Z",
        "sessionId": session, "cwd": "/work", "version": "2.1.0"});
    let answer = json!({"parentUuid": "u1", "isSidechain": false, "type": "assistant", "requestId": "r1",
        "message": {"id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
            "content": [{"type": "text", "text": "Yes."}], "usage": {"input_tokens": 1, "output_tokens": 2}},
        "uuid": "a1", "timestamp": "2096-01-31T10:41:09.000Z", "sessionId": session});
    lines(&[prompt, answer])
}

fn pi(session: &str, prompt: &str) -> String {
    lines(&[
        json!({"type": "session", "version": 3, "id": session, "timestamp": "2096-03-01T08:00:00.000Z", "cwd": "/work"}),
        json!({"type": "message", "id": "e1", "parentId": null, "timestamp": "2096-03-01T08:00:01.000Z",
            "message": {"role": "user", "content": [{"type": "text", "text": prompt}], "timestamp": 1}}),
        json!({"type": "message", "id": "e2", "parentId": "e1", "timestamp": "2096-03-01T08:00:02.000Z",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Yes."}], "provider": "p",
                "model": "some-model", "stopReason": "stop", "timestamp": 2}}),
    ])
}

/// Every agent's tree, each session older than the one before.
fn full_home() -> Home {
    let home = Home::new();
    home.file(
        ".claude/projects/-work/5d0c1c52-0001.jsonl",
        100,
        &claude("5d0c1c52-0001", "Count the cans"),
    );
    let sub_agent = r#"{"isSidechain":true,"agentId":"1","uuid":"s1","type":"user","sessionId":"5d0c1c52-0001"}"#;
    home.file(
        ".claude/projects/-work/5d0c1c52-0001/subagents/agent-1.jsonl",
        1,
        sub_agent,
    );
    let titled = claude("77aa", "First words")
        + r#"{"type":"custom-title","customTitle":"Mine","sessionId":"77aa"}"#;
    home.file(".config/claude/projects/-old/77aa.jsonl", 200, &titled);
    home.file(
        ".pi/agent/sessions/--work--/2026-03-01T08-00-00-000Z_a5cd40eb.jsonl",
        300,
        &pi("a5cd40eb", "Oil it"),
    );
    let claw = ".openclaw/agents/main/sessions";
    home.file(&format!("{claw}/11aa.jsonl"), 400, &pi("11aa", "Hello bot"));
    home.file(&format!("{claw}/22bb.jsonl"), 500, &pi("22bb", "Find it"));
    home.file(
        &format!("{claw}/33cc.jsonl.reset.2026-06-27T03-21-20.768Z"),
        600,
        &pi("33cc", "Before"),
    );
    home.file(
        &format!("{claw}/11aa.jsonl.deleted.1782530279"),
        650,
        &pi("11aa", "Long ago"),
    );
    home.file(
        &format!("{claw}/11aa.checkpoint.5f.jsonl"),
        1,
        &pi("11aa", "copy"),
    );
    home.file(&format!("{claw}/11aa.trajectory.jsonl"), 1, "{}\n");
    home.file(
        &format!("{claw}/11aa.jsonl.lock"),
        1,
        &json!({"pid": std::process::id(), "createdAt": "x"}).to_string(),
    );
    let index = json!({"agent:main:main": {"sessionId": "11aa", "updatedAt": 1, "displayName": "Ann"},
        "agent:main:subagent:x": {"sessionId": "22bb", "updatedAt": 1, "spawnedBy": "agent:main:main"}});
    home.file(&format!("{claw}/sessions.json"), 1, &index.to_string());
    home.file(
        ".openclaw-work/agents/ops/sessions/44dd.jsonl",
        700,
        &pi("44dd", "At work"),
    );
    let sid = "1784094124598_rruoq";
    let messages = json!({"version": 1, "agent": "lead", "sessionId": sid, "messages": [
        {"id": "m1", "role": "user", "content": [{"type": "text", "text": "Paint it"}], "ts": 1_784_094_124_600_u64}]});
    let folder = format!(".cline/data/sessions/{sid}");
    home.file(
        &format!("{folder}/{sid}.messages.json"),
        800,
        &format!("{messages:#}"),
    );
    home.file(
        &format!("{folder}/scout.messages.json"),
        1,
        &format!("{messages:#}"),
    );
    let manifest = json!({"session_id": sid, "messages_path": format!("{sid}.messages.json"), "cwd": "/paint",
        "status": "running", "pid": i32::MAX, "metadata": {"title": "Painting"}});
    home.file(&format!("{folder}/{sid}.json"), 1, &manifest.to_string());
    let task = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1740000000000";
    home.file(
        &format!("{task}/ui_messages.json"),
        900,
        r#"[{"ts":1740000000000,"type":"say","say":"task","text":"Sweep"}]"#,
    );
    home.file(&format!("{task}/api_conversation_history.json"), 1, "[]");
    let store = ".local/share/opencode/storage";
    let session = |id: &str, parent: Value| {
        json!({"id": id, "projectID": "p", "directory": "/gears", "parentID": parent, "title": format!("Title of {id}"),
            "version": "1.0", "time": {"created": 1, "updated": 2}}).to_string()
    };
    home.file(
        &format!("{store}/session/p/ses_one.json"),
        1000,
        &session("ses_one", Value::Null),
    );
    home.file(
        &format!("{store}/session/p/ses_two.json"),
        1,
        &session("ses_two", json!("ses_one")),
    );
    home
}

fn ids(found: &[Value]) -> Vec<&str> {
    found
        .iter()
        .map(|found| found["id"].as_str().unwrap())
        .collect()
}

#[test]
fn what_says_that_it_ended_does_not_run() {
    let home = Home::new();
    let run = fs::read_to_string("tests/fixtures/claude-stream-json/run.jsonl").unwrap();
    let (going, last) = run.trim_end().rsplit_once('\n').unwrap();
    assert!(last.contains("\"type\":\"result\""), "{last}");
    home.file("runs/ended.jsonl", 2, &run);
    home.file("runs/going.jsonl", 3, &format!("{going}\n"));
    let found = home.listed(&[home.path().join("runs").to_str().unwrap()]);
    let live: Vec<&Value> = found.iter().map(|found| &found["live"]).collect();
    assert_eq!(live, [&json!(false), &json!(true)]);
}

#[test]
fn every_agents_sessions_are_listed_newest_first() {
    let home = full_home();
    let found = home.listed(&[]);
    let sightings: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|found| ["format", "id", "title"].map(|name| found[name].as_str().unwrap()))
        .map(|[format, id, title]| (format, id, title))
        .collect();
    let expected = [
        ("claude-code", "5d0c1c52-0001", "Count the cans"),
        ("claude-code", "77aa", "Mine"),
        ("pi", "a5cd40eb", "Oil it"),
        ("openclaw", "11aa", "Ann"),
        ("openclaw", "33cc", "Before"),
        ("openclaw", "11aa", "Long ago"),
        ("openclaw", "44dd", "At work"),
        ("opencode", "ses_one", "Title of ses_one"),
        // As old as what they tell.
        ("cline", "1784094124598_rruoq", "Painting"),
        ("cline", "1740000000000", "Sweep"),
    ];
    assert_eq!(sightings, expected);
    assert!(found.iter().all(|found| found["schema"] == "tv.list/1"));
    let first = &found[0];
    assert_eq!(
        (&first["model"], &first["cwd"]),
        (&json!("claude-opus-4-6"), &json!("/work"))
    );
    assert_eq!(first["started"], "2096-01-31T10:41:07.000Z");
    assert!(first["size_bytes"].as_u64().unwrap() > 100 && first["modified"].is_string());
    let live: Vec<&Value> = found.iter().map(|found| &found["live"]).collect();
    let unknown = &Value::Null;
    let (yes, no) = (&json!(true), &json!(false));
    assert_eq!(
        live,
        [
            unknown, unknown, unknown, yes, no, no, unknown, unknown, no, unknown
        ]
    );
    assert_eq!(
        (&found[3]["key"], &found[6]["agent"]),
        (&json!("agent:main:main"), &json!("ops"))
    );
    let opencode = &found[7];
    assert_eq!(
        (&opencode["cwd"], &opencode["size_bytes"]),
        (&json!("/gears"), unknown)
    );
}

#[test]
fn lists_are_narrowed_by_agent_path_and_number() {
    let home = full_home();
    assert_eq!(ids(&home.listed(&["--agent", "pi"])), ["a5cd40eb"]);
    assert_eq!(
        ids(&home.listed(&["--limit", "2"])),
        ["5d0c1c52-0001", "77aa"]
    );
    assert_eq!(
        ids(&home.listed(&["--agent", "pi", "--since", "350s"])),
        ["a5cd40eb"]
    );
    let nothing: [&str; 0] = [];
    assert_eq!(
        ids(&home.listed(&["--agent", "pi", "--since", "250s"])),
        nothing
    );
    assert_eq!(
        ids(&home.listed(&["--since", "350s", "--until", "150s"])),
        ["77aa", "a5cd40eb"]
    );
    assert_eq!(ids(&home.listed(&["--until", "2020-01"])), nothing);
    let path = |path: &str| home.path().join(path).display().to_string();
    assert_eq!(ids(&home.listed(&[&path(".claude")])), ["5d0c1c52-0001"]);
    assert_eq!(
        ids(&home.listed(&[&path(".local"), "--limit", "5"])),
        ["ses_one"]
    );
    assert_eq!(
        ids(&home.listed(&[&path(".openclaw-work/agents/ops/sessions/44dd.jsonl")])),
        ["44dd"]
    );
    let (code, out, error) = home.tv(&["list", &path("missing"), &path(".pi")]);
    assert_eq!((code, out.lines().count()), (2, 1));
    assert!(error.contains("no such file"), "{error}");
    assert_eq!(home.tv(&["list", "--agent", "nobody"]).0, 2);
}

/// Nobody else tells what the sub-agent of a session did that is gone.
#[test]
fn a_sub_agent_of_codex_is_listed_once_its_session_is_gone() {
    let home = Home::new();
    let [parent, child] = [
        "01a0fbd7-8280-7000-8000-0000000000a1",
        "01a0fbd7-d0a0-7000-8000-0000000000a2",
    ];
    let names = [
        format!("rollout-2026-10-02T11-00-00-{parent}.jsonl"),
        format!("rollout-2026-10-02T11-00-20-{child}.jsonl"),
    ];
    let place = |name: &String| format!(".codex/sessions/2026/10/02/{name}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/codex");
    for name in &names {
        home.file(
            &place(name),
            100,
            &fs::read_to_string(folder.join(name)).unwrap(),
        );
    }
    assert_eq!(ids(&home.listed(&[])), [parent]);
    fs::remove_file(home.path().join(place(&names[0]))).unwrap();
    assert_eq!(ids(&home.listed(&[])), [child]);
}

#[test]
fn a_folder_outside_of_all_roots_is_searched_by_content() {
    let home = Home::new();
    home.file("copies/one/a.jsonl", 10, &claude("s-one", "Copied"));
    home.file(
        "copies/one/a/subagents/agent-1.jsonl",
        1,
        &claude("s-one", "no"),
    );
    home.file("copies/two/package.json", 1, r#"{"name":"no session"}"#);
    home.file("copies/two/b.jsonl", 20, &pi("s-two", "Copied too"));
    home.file("copies/notes.txt", 1, "nothing");
    let folder = home.path().join("copies").display().to_string();
    assert_eq!(ids(&home.listed(&[&folder])), ["s-one", "s-two"]);
}

#[test]
fn variables_move_roots() {
    let home = full_home();
    home.file(
        "elsewhere/projects/-moved/99ff.jsonl",
        1,
        &claude("99ff", "Moved"),
    );
    let mut search = home.search();
    search
        .environment
        .variables
        .insert("CLAUDE_CONFIG_DIR".into(), home.path().join("elsewhere"));
    search.format = Some("claude-code".to_owned());
    let found: Vec<FoundSession> = find::sessions(&search, LATER).map(Result::unwrap).collect();
    let ids: Vec<&str> = found.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(ids, ["99ff", "77aa"]);
}

#[test]
fn a_history_in_a_project_is_found_from_its_folders() {
    let home = Home::new();
    let history = include_str!("../fixtures/aider/aider.chat.history.md");
    home.file("work/mill/.aider.chat.history.md", 1, history);
    home.file("work/mill/src/main.rs", 1, "");
    let mut search = home.search();
    let found = |search: &DiscoveryQuery| -> Vec<(String, bool)> {
        let all = find::sessions(search, LATER).map(Result::unwrap);
        all.map(|found| (found.id.to_string(), found.started.is_some()))
            .collect()
    };
    for (folder, expected) in [
        ("work", vec![]),
        ("work/mill/src", vec![("mill".to_owned(), true)]),
    ] {
        search
            .environment
            .variables
            .insert("PWD".into(), home.path().join(folder));
        assert_eq!(found(&search), expected, "{folder}");
    }
    search.environment.variables.clear();
    search.targets = vec![Target::at(home.path().join("work"))];
    assert_eq!(found(&search), [("mill".to_owned(), true)]);
}

#[test]
fn a_session_is_opened_by_its_id_its_beginning_or_its_key() {
    let home = full_home();
    for (name, words) in [
        ("5d0c1c52-0001", "Count the cans"),
        ("5d0c", "Count the cans"),
        ("a5cd", "Oil it"),
        ("agent:main:main", "Hello bot"),
        ("agent:main:subagent:x", "Find it"),
        ("11aa", "Hello bot"),
        ("11aa.jsonl.deleted.1782530279", "Long ago"),
        ("33cc", "Before"),
        ("1784094124598_rruoq", "Paint it"),
        ("17400", "Sweep"),
    ] {
        let (code, out, error) = home.tv(&["show", name]);
        assert_eq!((code, error.as_str()), (0, ""), "{name}");
        assert!(out.contains(words), "{name}: {out}");
        let (code, again, _) = home.tv(&[name]);
        assert_eq!((code, again), (0, out), "{name}");
    }
    let (code, out, _) = home.tv(&["stats", "--json", "77aa", "ses_one"]);
    let formats: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["format"].clone())
        .collect();
    assert_eq!(
        (code, formats),
        (0, vec![json!("claude-code"), json!("opencode")])
    );
    assert!(home.tv(&["doctor", "a5cd"]).1.contains("pi"));
}

#[test]
fn several_and_none_are_reported_in_one_sentence() {
    let home = full_home();
    home.file(
        ".claude/projects/-other/5d0c9999.jsonl",
        5,
        &claude("5d0c9999", "Other"),
    );
    for command in [&["show"][..], &["stats"], &["doctor"], &[]] {
        let refusal = |name: &str| {
            let (code, out, error) = home.tv(&[command, &[name]].concat());
            assert_eq!(
                (code, out.as_str(), error.lines().count()),
                (2, "", 1),
                "{command:?}"
            );
            error
        };
        let several = refusal("5d0c");
        assert!(
            several.contains("2 sessions") && several.contains("5d0c9999 (claude-code)"),
            "{several}"
        );
        let none = refusal("zzzz");
        assert!(
            none.contains("session is called so") && none.contains("`tv list`") && none.len() < 160,
            "{none}"
        );
    }
}

#[test]
fn the_first_of_many_are_listed_without_reading_the_others() {
    let home = Home::new();
    for n in 0..5_000 {
        let folder = home.path().join(format!(".claude/projects/-p{}", n % 50));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{n:04}.jsonl")), claude("s", "Prompt")).unwrap();
    }
    let mut sessions = find::sessions(&home.search(), LATER);
    assert_eq!(sessions.by_ref().take(20).count(), 20);
    // The others were not opened yet, and are gone.
    fs::remove_dir_all(home.path().join(".claude")).unwrap();
    assert_eq!(sessions.count(), 0);
}

#[test]
fn of_a_long_session_only_the_ends_are_read() {
    let home = Home::new();
    let filler =
        json!({"type": "progress", "data": {"output": "x".repeat(2_000)}}).to_string() + "\n";
    let middle =
        r#"{"type":"custom-title","customTitle":"Renamed once","sessionId":"s"}"#.to_owned() + "\n";
    let last = r#"{"type":"ai-title","aiTitle":"Said at the end","sessionId":"s"}"#;
    let long =
        claude("s", "First words") + &filler.repeat(500) + &middle + &filler.repeat(1_000) + last;
    home.file(".claude/projects/-p/long.jsonl", 1, &long);
    // The first prompt comes behind a long note, and breaks off.
    let late = filler.repeat(60) + &claude("s", "Late words") + r#"{"type":"ai-ti"#;
    home.file(".claude/projects/-p/late.jsonl", 2, &late);
    let found: Vec<FoundSession> = find::sessions(&home.search(), LATER)
        .map(Result::unwrap)
        .collect();
    let titles: Vec<&str> = found
        .iter()
        .map(|found| found.title.as_deref().unwrap())
        .collect();
    assert_eq!(titles, ["Said at the end", "Late words"]);
}

#[test]
fn who_watches_gets_all_newest_first() {
    let home = full_home();
    let watch = find::watch(home.search(), || LATER);
    let sightings: Vec<Sighting> = watch
        .sightings
        .iter()
        .take_while(|sighting| *sighting != Sighting::Complete)
        .collect();
    assert_eq!(sightings.len(), 10);
    assert!(
        matches!(&sightings[0], Sighting::Found(found) if found.id.as_str() == "5d0c1c52-0001")
    );
    home.file(
        ".claude/projects/-work/new.jsonl",
        1,
        &claude("new", "Just begun"),
    );
    let next = watch
        .sightings
        .iter()
        .find(|sighting| *sighting != Sighting::Complete);
    assert!(
        matches!(next, Some(Sighting::Found(found)) if found.title.as_deref() == Some("Just begun"))
    );
}

#[test]
fn a_glance_has_the_first_prompt_and_the_last_answer() {
    let home = full_home();
    let found: Vec<FoundSession> = find::sessions(&home.search(), LATER)
        .map(Result::unwrap)
        .collect();
    let glanced = |id: &str| {
        let found = found.iter().find(|found| found.id.as_str() == id).unwrap();
        fleet::glance(found, LATER, || true).unwrap()
    };
    for (id, prompt, answer) in [
        ("5d0c1c52-0001", Some("Count the cans"), Some("Yes.")),
        ("a5cd40eb", Some("Oil it"), Some("Yes.")),
        ("1784094124598_rruoq", Some("Paint it"), None),
        ("1740000000000", Some("Sweep"), None),
    ] {
        let glance = glanced(id);
        assert_eq!(
            (glance.prompt.as_deref(), answer_of(&glance)),
            (prompt, answer),
            "{id}"
        );
    }
    let counts = |glance: &Glance| glance.counts.map(|(prompts, calls, _)| (prompts, calls));
    assert_eq!(counts(&glanced("a5cd40eb")), Some((1, 0)));
    let long = format!("Please {}", "read all of this ".repeat(20_000));
    let path = home.file(
        ".pi/agent/sessions/--work--/2026_long.jsonl",
        1,
        &pi("long", &long),
    );
    let found = FoundSession {
        path,
        ..found
            .iter()
            .find(|found| found.format == "pi")
            .unwrap()
            .clone()
    };
    let glance = fleet::glance(&found, LATER, || true).unwrap();
    assert_eq!(
        counts(&glance),
        Some((1, 0)),
        "the prompt is all there is but the answer"
    );
    let prompt = glance.prompt.map_or(0, |prompt| prompt.len());
    assert!((1_000..20_000).contains(&prompt), "{prompt}");
}

/// What its agent said last.
fn answer_of(glance: &Glance) -> Option<&str> {
    let mut said = glance.row.last.iter().rev();
    let answer = said.find(|said| said.voice == Voice::Agent)?;
    Some(answer.text.as_str())
}

/// What is read of both ends of a long session must not pass for its last answer.
#[test]
fn the_last_answer_of_a_long_session_is_not_its_first() {
    let home = Home::new();
    let call = |number: usize| {
        let parent = if number == 0 {
            "e2".to_owned()
        } else {
            format!("x{}", number - 1)
        };
        json!({"type": "message", "id": format!("x{number}"), "parentId": parent,
            "timestamp": "2096-03-01T08:00:03.000Z", "message": {"role": "assistant", "provider": "p",
                "model": "some-model", "stopReason": "toolUse", "timestamp": 3, "content": [{"type": "toolCall",
                    "id": format!("c{number}"), "name": "bash", "arguments": {"command": "sort"}}]}})
    };
    let calls: Vec<Value> = (0..5_999).map(call).collect();
    let text = pi("long", "Sort the sacks") + &lines(&calls);
    let path = home.file(".pi/agent/sessions/--work--/2026_long.jsonl", 1, &text);
    let mut found = find::sessions(&home.search(), LATER).map(Result::unwrap);
    let found = found.find(|found| found.path == path).unwrap();
    let glance = fleet::glance(&found, LATER, || true).unwrap();
    let said = &glance.row.last;
    assert!(
        said.iter().all(|said| said.voice == Voice::Open),
        "{said:?}"
    );
    assert_eq!(glance.counts.map(|(_, calls, _)| calls), Some(5_999));
}

/// OpenClaw's and OpenCode's databases of now, beside what they took over.
#[cfg(feature = "sqlite")]
fn home_with_databases() -> Home {
    let home = Home::new();
    let database = |path: &str, sql: &str| {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        rusqlite::Connection::open(path)
            .unwrap()
            .execute_batch(sql)
            .unwrap();
    };
    let events: Vec<String> = pi("11aa", "Hello bot")
        .lines()
        .enumerate()
        .map(|(seq, line)| {
            format!("INSERT INTO transcript_events VALUES('11aa', {seq}, '{line}', 1700000000000);")
        })
        .collect();
    database(
        ".openclaw/agents/main/agent/openclaw-agent.sqlite",
        &format!(
            "CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER,
             PRIMARY KEY(session_id, seq)); {}",
            events.concat()
        ),
    );
    home.file(
        ".openclaw/agents/main/sessions/11aa.jsonl",
        1,
        &pi("11aa", "Hello bot"),
    );
    home.file(
        ".openclaw/agents/main/sessions/22bb.jsonl.reset.2026-06-27T03-21-20.768Z",
        50,
        &pi("22bb", "Reset"),
    );
    database(
        ".local/share/opencode/opencode.db",
        r#"CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
             version TEXT, time_created INTEGER, time_updated INTEGER);
           CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
           CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
             time_updated INTEGER, data TEXT);
           INSERT INTO session VALUES('ses_one', 'p', NULL, '/gears', 'Oil the gears', '1.2', 1600000000000, 1600000000000);
           INSERT INTO session VALUES('ses_two', 'p', 'ses_one', '/gears', 'A helper', '1.2', 1600000000001, 1600000000001);
           INSERT INTO message VALUES('msg_1', 'ses_one', 1600000000000, 1600000000000, '{"role":"assistant",
             "modelID":"some-model","providerID":"p","time":{"created":1600000000000,"completed":1600000000001}}');
           INSERT INTO part VALUES('prt_1', 'msg_1', 'ses_one', 1600000000000, 1600000000000,
             '{"type":"text","text":"All oiled."}');"#,
    );
    let left = r#"{"id":"ses_one","title":"Left behind","directory":"/gears"}"#;
    home.file(
        ".local/share/opencode/storage/session/p/ses_one.json",
        1,
        left,
    );
    let only_there = r#"{"id":"ses_old","title":"Only there","directory":"/gears"}"#;
    home.file(
        ".local/share/opencode/storage/session/p/ses_old.json",
        60,
        only_there,
    );
    home
}

/// Qoder writes as Claude Code does, in folders of its own, and has a name of its own wherever sessions are told of.
#[test]
fn sessions_of_qoder_are_its_own() {
    let home = Home::new();
    let session = "7a000000-0000-4000-8000-000000000001";
    let text = |name: &str| fs::read_to_string(format!("tests/fixtures/qoder/{name}")).unwrap();
    let lines = text(&format!("{session}.jsonl"));
    let agent = text(&format!("{session}/subagents/agent-aExplore-0001.jsonl"));
    home.file(
        &format!(".qoder/projects/-srv-harbour/{session}.jsonl"),
        50,
        &lines,
    );
    home.file(
        &format!(".qoder/projects/-srv-harbour/{session}/subagents/agent-aExplore-0001.jsonl"),
        40,
        &agent,
    );
    // Without the line that only Qoder writes, and the credits that only it counts.
    let bare = claude("7b000000", "Tidy up");
    home.file(".qoderwork/projects/-srv-work/7b000000.jsonl", 60, &bare);
    home.file(
        ".claude/projects/-srv-work/7c000000.jsonl",
        70,
        &claude("7c000000", "Sweep"),
    );
    let found = home.listed(&[]);
    let formats = |found: &[Value]| -> Vec<(String, String)> {
        let fact = |found: &Value, name: &str| found[name].as_str().unwrap().to_owned();
        let mut all: Vec<_> = found
            .iter()
            .map(|found| (fact(found, "id"), fact(found, "format")))
            .collect();
        all.sort();
        all
    };
    let [own, work, other] = [
        (session, "qoder"),
        ("7b000000", "qoder"),
        ("7c000000", "claude-code"),
    ]
    .map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(formats(&found), [own, work, other]);
    assert!(
        found
            .iter()
            .any(|found| found["title"] == "Depth of the harbour")
    );
    let copy = home.file("copies/a.jsonl", 1, &lines);
    assert_eq!(
        home.listed(&[copy.to_str().unwrap()])[0]["format"],
        "qoder",
        "by its content alone"
    );
    let objects = |arguments: &[&str]| -> Vec<Value> {
        let (code, out, error) = home.tv(arguments);
        assert_eq!((code, error.as_str()), (0, ""), "{arguments:?}");
        out.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let stats = &objects(&["stats", "--json", session])[0];
    assert_eq!(
        (&stats["format"], &stats["lanes"], &stats["turns"]),
        (&json!("qoder"), &json!(1), &json!(1))
    );
    assert_eq!(
        (&stats["usage"]["output"], &stats["cost"]["usd"]),
        (&Value::Null, &Value::Null),
        "{stats}"
    );
    assert!(
        stats["records"]["unknown"].as_object().unwrap().is_empty(),
        "{stats}"
    );
    let agents =
        |rows: &[Value], name: &str| rows.iter().filter(|row| row[name] == "qoder").count();
    assert_eq!(
        agents(
            &objects(&["top", "--once", "--json", "--since", "90000d"]),
            "format"
        ),
        2
    );
    assert_eq!(
        agents(&objects(&["doctor", "--json"]), "agent"),
        2,
        "two versions"
    );
    assert_eq!(
        agents(&objects(&["usage", "--json", "--by", "agent"]), "agent"),
        1
    );
}

/// Cursor writes a chat of its editor into a file as well, which lacks what tools put out.
#[cfg(feature = "sqlite")]
#[test]
fn a_chat_in_a_file_and_in_the_editors_database_is_listed_once() {
    let home = Home::new();
    let chat = "c0ffee00-0000-4000-8000-000000000001";
    let only = "3f000000-0000-4000-8000-000000000001";
    let lines = fs::read_to_string(format!("tests/fixtures/cursor/{only}.jsonl")).unwrap();
    for id in [chat, only] {
        home.file(
            &format!(".cursor/projects/mill/agent-transcripts/{id}/{id}.jsonl"),
            50,
            &lines,
        );
    }
    let database = home
        .path()
        .join(".config/Cursor/User/globalStorage/state.vscdb");
    fs::create_dir_all(database.parent().unwrap()).unwrap();
    crate::databases::write(Path::new("tests/fixtures/cursor/editor.sql"), &database);
    let found = home.listed(&[]);
    let named: Vec<&str> = ids(&found)
        .into_iter()
        .filter(|id| [chat, only].contains(id))
        .collect();
    assert_eq!(named.len(), 2, "{found:?}");
    let listed = found.iter().find(|found| found["id"] == chat).unwrap();
    assert_eq!(
        (&listed["session"], &listed["title"]),
        (&json!(chat), &json!("Grease the axle"))
    );
    let (code, out, _) = home.tv(&["usage", "--by", "session", "--json"]);
    let counted = out.lines().filter(|line| line.contains(chat)).count();
    assert_eq!((code, counted), (0, 1), "{out}");
}

#[cfg(feature = "sqlite")]
#[test]
fn rows_of_databases_are_sessions_and_what_they_took_over_is_not() {
    let home = home_with_databases();
    let found = home.listed(&[]);
    let sightings: Vec<[&str; 3]> = found
        .iter()
        .map(|found| ["id", "title", "format"].map(|name| found[name].as_str().unwrap()))
        .collect();
    // What is read with its file is as new as that.
    let expected = [
        ["11aa", "Hello bot", "openclaw"],
        ["22bb", "Reset", "openclaw"],
        ["ses_old", "Only there", "opencode"],
        ["ses_one", "Oil the gears", "opencode"],
    ];
    assert_eq!(sightings, expected);
    let (claw, opencode) = (&found[0], &found[3]);
    assert_eq!(
        (&claw["session"], &claw["agent"], &claw["cwd"]),
        (&json!("11aa"), &json!("main"), &json!("/work"))
    );
    assert_eq!(
        (&claw["model"], &claw["started"]),
        (&json!("some-model"), &json!("2096-03-01T08:00:01.000Z"))
    );
    assert_eq!(
        (&opencode["model"], &opencode["cwd"]),
        (&json!("some-model"), &json!("/gears"))
    );
    for (name, words) in [
        ("11aa", "Hello bot"),
        ("ses_one", "All oiled"),
        ("22b", "Reset"),
    ] {
        let (code, out, error) = home.tv(&["show", name]);
        assert_eq!((code, error.as_str()), (0, ""), "{name}");
        assert!(out.contains(words), "{name}: {out}");
    }
    let database = home.path().join(".local/share/opencode/opencode.db");
    assert_eq!(
        ids(&home.listed(&[database.to_str().unwrap()])),
        ["ses_one"]
    );
    let folder = home.path().join(".local/share/opencode");
    assert_eq!(
        ids(&home.listed(&[folder.to_str().unwrap()])),
        ["ses_old", "ses_one"]
    );
    assert!(!folder.join("opencode.db-wal").exists() && !folder.join("opencode.db-shm").exists());
    // A session that another one started is no row of the list, yet it has a name.
    assert_eq!(home.tv(&["stats", "ses_two"]).0, 0);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_database_of_several_sessions_leaves_the_choice() {
    let home = home_with_databases();
    let path = home.path().join(".local/share/opencode/opencode.db");
    let viewed = |surroundings: Surroundings| {
        let arguments = ["tv".into(), path.clone().into_os_string()];
        match Config::resolve(arguments, surroundings) {
            Ok(Config::View(view)) => (view.start, view.listed),
            other => panic!("{other:?}"),
        }
    };
    let terminal = || Surroundings {
        columns: Some(80),
        ..Surroundings::default()
    };
    assert!(
        matches!(viewed(terminal()), (Start::Session(_), _)),
        "the other one is a sub-agent"
    );
    let another = "INSERT INTO session VALUES('ses_three', 'p', NULL, '/gears', 'Paint the gears', '1.2', 1, 2)";
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(another)
        .unwrap();
    let listed = vec![Target {
        path: path.clone(),
        session: None,
    }];
    assert_eq!(viewed(terminal()), (Start::Picker, listed));
    let (code, out, error) = home.tv(&[path.to_str().unwrap()]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(
        out.contains("Oil the gears") && out.contains("Paint the gears"),
        "{out}"
    );
    assert!(
        out.contains("2 sessions; open one with: tv '") && out.contains("opencode.db#ID'"),
        "{out}"
    );
    let (_, out, _) = home.tv(&[&format!("{}#ses_one", path.display())]);
    assert!(out.contains("All oiled"), "{out}");
    let search = DiscoveryQuery {
        targets: vec![Target::at(path)],
        ..home.search()
    };
    let found = find::sessions(&search, LATER)
        .map(Result::unwrap)
        .find(|found| found.id.as_str() == "ses_one");
    let glance = fleet::glance(&found.unwrap(), LATER, || true).unwrap();
    assert_eq!(answer_of(&glance), Some("All oiled."));
}

/// The list reads the beginning of a session and its header all of it: both name it after the same prompt.
#[test]
fn a_title_is_the_first_prompt_however_large_an_image_lies_beside_its_words() {
    let home = Home::new();
    let prompt = |uuid: &str, content: Value| {
        json!({"parentUuid": null, "isSidechain": false, "type": "user", "uuid": uuid, "sessionId": "s",
            "message": {"role": "user", "content": content}, "timestamp": "2096-01-31T10:41:07.000Z"})
    };
    let image = |bytes: usize| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(bytes)}});
    let words = json!({"type": "text", "text": "First words"});
    let last = |session: &str| {
        let filler =
            json!({"type": "progress", "data": {"output": "x".repeat(2_000)}}).to_string() + "\n";
        filler.repeat(40) + &prompt(session, json!("Last words")).to_string() + "\n"
    };
    for (name, content) in [
        ("behind", json!([words, image(300_000)])),
        ("before", json!([image(300_000), words])),
        (
            "several",
            json!([image(1_500_000), image(1_500_000), words, image(9)]),
        ),
    ] {
        let first = prompt("u1", content).to_string() + "\n";
        home.file(
            &format!(".claude/projects/-p/{name}.jsonl"),
            1,
            &(first + &last("u2")),
        );
    }
    // No prompt is in reach: none is better than another one's.
    let far =
        json!({"type": "progress", "data": {"output": "x".repeat(17 << 20)}}).to_string() + "\n";
    home.file(".claude/projects/-p/far.jsonl", 1, &(far + &last("u2")));
    let thread = json!({"v": 1, "id": "T-1", "created": 1_784_094_124_600_u64, "messages": [
        {"role": "user", "content": [image(300_000), words]},
        {"role": "assistant", "content": [{"type": "text", "text": "I see."}]},
        {"role": "user", "content": [{"type": "text", "text": "Last words"}]}]});
    home.file(".local/share/amp/threads/T-1.json", 1, &thread.to_string());
    let found = home.listed(&[]);
    assert_eq!(found.len(), 5);
    for found in found {
        let path = found["path"].as_str().unwrap();
        let (_, out, _) = home.tv(&["stats", "--json", path]);
        let stats: Value = serde_json::from_str(&out).unwrap();
        if path.ends_with("far.jsonl") {
            assert_eq!(found["title"], Value::Null);
        } else {
            assert_eq!(
                (&found["title"], &stats["session"]["title"]),
                (&json!("First words"), &json!("First words")),
                "{path}"
            );
        }
    }
}

/// A session counts to the project where it began, wherever it went.
#[test]
fn a_session_in_a_worktree_is_of_its_project() {
    let home = Home::new();
    let answer = |session: &str, cwd: &str| {
        json!({"parentUuid": null, "isSidechain": false, "type": "assistant", "requestId": format!("r-{session}"),
            "message": {"id": format!("m-{session}"), "type": "message", "role": "assistant", "model": "claude-opus-4-6",
                "content": [{"type": "text", "text": "Yes."}], "usage": {"input_tokens": 1, "output_tokens": 2}},
            "uuid": format!("a-{session}"), "timestamp": "2096-01-31T10:41:09.000Z", "sessionId": session, "cwd": cwd})
    };
    let state = |session: &str| {
        json!({"type": "worktree-state", "sessionId": session, "worktreeSession": {"originalCwd": "/work/mill",
            "worktreeName": "wheel", "worktreePath": "/work/trees/wheel", "worktreeBranch": "wheel"}})
    };
    let relocated =
        json!({"type": "relocated", "relocatedCwd": "/work/trees/wheel", "sessionId": "moved"});
    let prompt = |session: &str, cwd: &str| {
        json!({"parentUuid": null, "isSidechain": false, "type": "user", "uuid": format!("u-{session}"), "cwd": cwd,
            "message": {"role": "user", "content": "Grind"}, "timestamp": "2096-01-31T10:41:07.000Z", "sessionId": session})
    };
    let tree = "/work/trees/wheel";
    for (name, records) in [
        (
            "moved",
            vec![
                prompt("moved", "/work/mill"),
                state("moved"),
                relocated,
                answer("moved", tree),
            ],
        ),
        (
            "began",
            vec![state("began"), prompt("began", tree), answer("began", tree)],
        ),
        (
            "late",
            vec![prompt("late", tree), answer("late", tree), state("late")],
        ),
        (
            "stayed",
            vec![
                prompt("stayed", "/work/mill"),
                answer("stayed", "/work/mill/src"),
            ],
        ),
        (
            "other",
            vec![prompt("other", "/work/oven"), answer("other", "/work/oven")],
        ),
    ] {
        home.file(
            &format!(".claude/projects/-work-mill/{name}.jsonl"),
            1,
            &lines(&records),
        );
    }
    let found = home.listed(&[]);
    let projects: Vec<(&str, &str)> = found
        .iter()
        .map(|found| {
            (
                found["id"].as_str().unwrap(),
                found["project"].as_str().unwrap(),
            )
        })
        .collect();
    for (id, project) in projects {
        assert_eq!(
            project,
            if id == "other" {
                "/work/oven"
            } else {
                "/work/mill"
            },
            "{id}"
        );
    }
    let (_, out, _) = home.tv(&["usage", "--by", "project", "--json"]);
    let rows: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sums: Vec<(&str, u64)> = rows
        .iter()
        .map(|row| {
            (
                row["project"].as_str().unwrap(),
                row["sessions"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        sums.iter()
            .copied()
            .collect::<std::collections::BTreeMap<_, _>>(),
        [("/work/mill", 4), ("/work/oven", 1)].into()
    );
}

/// Which formats a session is said to be of: by the list, the wall, hits, sums, and whoever opens it.
fn formats_of(home: &Home, path: &Path, arguments: &[&str]) -> Vec<String> {
    let told = |command: &[&str]| {
        let (_, out, error) = home.tv(&[command, &["--json"], arguments].concat());
        assert_eq!(error, "", "{command:?}");
        out.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect::<Vec<Value>>()
    };
    let format = |line: &Value| line["format"].as_str().unwrap().to_owned();
    let sums = told(&["usage", "--by", "agent"]);
    let mut formats: Vec<String> = sums
        .iter()
        .filter_map(|sum| sum["agent"].as_str())
        .map(str::to_owned)
        .collect();
    for command in [
        &["list"][..],
        &["top", "--once", "--since", "90000d"],
        &["grep", "Wind"],
    ] {
        let lines = told(command);
        assert!(!lines.is_empty(), "{command:?}");
        formats.extend(lines.iter().map(format));
    }
    let target = Target {
        path: path.to_owned(),
        session: None,
    };
    formats.push(tv::ingest::open(&target).unwrap().opened.format.to_owned());
    formats.sort();
    formats.dedup();
    formats
}

#[test]
fn the_agents_own_folder_decides_between_formats_that_fit_equally() {
    let message = |content: Value, more: Value| {
        let mut records = Vec::new();
        for role in ["user", "assistant"] {
            let mut record = json!({"role": role, "content": content});
            record
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            records.push(record);
        }
        lines(&records)
    };
    let text = json!([{"type": "text", "text": "Wind the clock."}]);
    let several = message(
        text.clone(),
        json!({"message_id": "m1", "created": 1_772_359_200, "message": {"content": text}}),
    );
    let timed = message(
        json!("Wind the clock."),
        json!({"timestamp": "2026-03-01T08:00:00.000"}),
    );
    let bare = message(json!("Wind the clock."), json!({}));
    let places = [
        (
            ".cursor/projects/work/agent-transcripts/c1/c1.jsonl",
            "cursor",
        ),
        (".local/share/goose/sessions/g1.jsonl", "goose"),
        (".vibe/logs/session/s1/messages.jsonl", "mistral-vibe"),
        (".local/share/gptme/logs/l1/conversation.jsonl", "gptme"),
        (
            ".claude/projects/-work/5d0c1c52-0001-4a3c-9e44-7e1d2f3a4b5c.jsonl",
            "claude-code",
        ),
        // Moved as a whole, as a variable may say.
        ("disk/logs/session/s1/messages.jsonl", "mistral-vibe"),
        ("elsewhere/one.jsonl", ""),
    ];
    for (content, fits, otherwise) in [
        (several, &["cursor", "goose", "mistral-vibe"][..], "cursor"),
        (timed, &["gptme"], "gptme"),
        // What no agent writes is no agent's, wherever it lies.
        (bare, &[], "messages"),
    ] {
        for (place, owner) in places {
            let home = Home::new();
            let path = home.file(place, 1, &content);
            let is_listed = place.starts_with('.');
            let named: &[&str] = if is_listed {
                &[]
            } else {
                &[path.to_str().unwrap()]
            };
            let expected = if fits.contains(&owner) {
                owner
            } else {
                otherwise
            };
            assert_eq!(
                formats_of(&home, &path, named),
                [expected],
                "{place}: {content}"
            );
        }
    }
}

#[test]
fn a_session_is_as_old_as_its_last_record_however_large_that_is() {
    let began = Timestamp::parse("2026-01-31T10:41:07.000Z").unwrap();
    let ended = Timestamp::parse("2026-02-01T08:00:00.000Z").unwrap();
    let told = |text: String| text.replace("2096-01-31T10:41:07.000Z", &began.to_rfc3339());
    let claude = |session: &str| {
        told(claude(session, "Wind it"))
            .lines()
            .next()
            .unwrap()
            .to_owned()
            + "\n"
    };
    let result = |bytes: usize| {
        let said =
            json!([{"type": "tool_result", "tool_use_id": "t1", "content": "x".repeat(bytes)}]);
        json!({"parentUuid": "u1", "isSidechain": false, "type": "user", "uuid": "u2", "sessionId": "s",
            "timestamp": ended.to_rfc3339(), "message": {"role": "user", "content": said}})
    };
    let untimed = json!({"type": "summary", "summary": "y".repeat(100_000), "leafUuid": "u2"});
    let folder = ".claude/projects/-work";
    let home = Home::new();
    let mut paths = Vec::new();
    for (number, end) in [
        vec![result(100_000)],
        vec![result(600_000)],
        vec![result(9), untimed.clone()],
    ]
    .iter()
    .enumerate()
    {
        let path = format!("{folder}/5d0c1c52-000{number}-4a3c-9e44-7e1d2f3a4b5c.jsonl");
        paths.push(home.file(&path, 5, &(claude("s") + &lines(end))));
    }
    let message = |number: usize, at: Timestamp| {
        json!({"id": format!("m{number}"), "timestamp": at.to_rfc3339(), "type": "user",
            "content": format!("Wind it {number} {}", "z".repeat(400))})
    };
    for count in [2_000, 5_000] {
        let mut messages: Vec<Value> = (0..count).map(|number| message(number, began)).collect();
        messages.push(message(count, ended));
        let document = json!({"sessionId": format!("g{count}"), "projectHash": "abc",
            "startTime": began.to_rfc3339(), "lastUpdated": ended.to_rfc3339(), "messages": messages});
        let path = format!(".gemini/tmp/abc/chats/session-2026-01-31T10-41-{count}.json");
        paths.push(home.file(&path, 5, &document.to_string()));
    }
    let rollout = lines(&[
        json!({"timestamp": began.to_rfc3339(), "type": "session_meta", "payload": {
            "id": "0199d9a2-3e8b-7b51-9d4e-2f1f6f6b7a10", "timestamp": began.to_rfc3339(), "cwd": "/work",
            "originator": "codex_cli_rs", "cli_version": "0.98.0"}}),
        json!({"timestamp": ended.to_rfc3339(), "type": "response_item", "payload": {"type": "message",
            "role": "user", "content": [{"type": "input_text", "text": "Wind it"}]}}),
    ]);
    let name = "rollout-2026-01-31T10-41-07-0199d9a2-3e8b-7b51-9d4e-2f1f6f6b7a10.jsonl.zst";
    let path = home.file(&format!(".codex/sessions/2026/01/31/{name}"), 5, "");
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    fs::write(
        &path,
        ruzstd::encoding::compress_to_vec(rollout.as_bytes(), level),
    )
    .unwrap();
    paths.push(path);
    let listed = home.listed(&[]);
    for path in paths {
        let found = listed
            .iter()
            .find(|found| found["path"] == json!(path))
            .unwrap();
        assert_eq!(
            found["modified"],
            json!(ended.to_rfc3339()),
            "{}",
            path.display()
        );
    }
}
