//! Tests of many sessions at once: while all of them are written to, `tv top` reports for each the
//! same as `tv stats` for it alone.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tv::analysis::wall::{News, SessionRow};
use tv::fleet::{Fleet, FleetOptions};
use tv::ingest::WatchMode;
use tv::ingest::find::{DiscoveryQuery, Environment};
use tv::model::timestamp::Timestamp;

use crate::fixtures::PATIENCE;

/// Sessions of each format.
const EACH: usize = 8;
/// About a hundred lines a second.
const PAUSE: Duration = Duration::from_millis(10);

/// It is now, as far as a fresh file tells.
pub(crate) fn made() -> SystemTime {
    tempfile::tempfile()
        .unwrap()
        .metadata()
        .unwrap()
        .modified()
        .unwrap()
}

fn now() -> Timestamp {
    let since = made().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since.as_millis()).unwrap())
}

fn tv(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command.env_clear();
    command
        .args(arguments)
        .env("HOME", home)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null());
    command
}

/// How a session ends up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Prompt,
    Tool,
    Question,
    Model,
}

const ENDS: [End; 4] = [End::Prompt, End::Tool, End::Question, End::Model];

/// What an agent writes next: a line that is appended, all of a document, or rows of a database, of which it is told
/// what names the session in it.
enum Step {
    Line(PathBuf, String),
    Whole(PathBuf, String),
    #[cfg(feature = "sqlite")]
    Rows(PathBuf, String, String),
}

fn claude(home: &Path, number: usize, end: End) -> Vec<Step> {
    let session = format!("c0000000-0000-4000-8000-{number:012}");
    let path = home.join(format!(
        ".claude/projects/-work-{}/{session}.jsonl",
        number % 3
    ));
    let at = now().to_rfc3339();
    let head = |kind: &str, id: String, message: Value| {
        json!({"parentUuid": null, "isSidechain": false, "type": kind, "message": message, "uuid": id,
            "timestamp": at, "sessionId": session, "cwd": "/work/mill", "version": "2.1.0"})
    };
    let answer = |id: usize, content: Value, stop: &str| {
        let message = json!({"id": format!("m{id}"), "type": "message", "role": "assistant",
            "model": "claude-opus-4-6", "content": content, "stop_reason": stop,
            "usage": {"input_tokens": 100 + number, "output_tokens": 20 * id, "cache_read_input_tokens": 1000}});
        let mut record = head("assistant", format!("a{id}"), message);
        record["requestId"] = json!(format!("r{id}"));
        record
    };
    let call = |id: usize, name: &str, input: Value| {
        answer(
            id,
            json!([{"type": "tool_use", "id": format!("t{id}"), "name": name, "input": input}]),
            "tool_use",
        )
    };
    let result = |id: usize| {
        let content =
            json!([{"type": "tool_result", "tool_use_id": format!("t{id}"), "content": "fine"}]);
        head(
            "user",
            format!("r{id}"),
            json!({"role": "user", "content": content}),
        )
    };
    let mut records = vec![head(
        "user",
        "u1".into(),
        json!({"role": "user", "content": "Grind the corn"}),
    )];
    records.extend([call(1, "Bash", json!({"command": "make flour"})), result(1)]);
    match end {
        End::Prompt => records.push(answer(
            2,
            json!([{"type": "text", "text": "Ground."}]),
            "end_turn",
        )),
        End::Tool => records.push(call(2, "Bash", json!({"command": "make bread"}))),
        End::Question => {
            records.push(call(
                2,
                "AskUserQuestion",
                json!({"questions": [{"question": "Rye?"}]}),
            ));
        }
        End::Model => {}
    }
    records
        .into_iter()
        .map(|record| Step::Line(path.clone(), record.to_string()))
        .collect()
}

/// pi's lines, which OpenClaw writes in its own folder, too.
fn pi(path: PathBuf, id: &str, number: usize, end: End) -> Vec<Step> {
    let at = now();
    let stamp = at.to_rfc3339();
    let message = |id: &str, message: Value| json!({"type": "message", "id": id, "parentId": null, "timestamp": stamp, "message": message});
    let answer = |id: &str, content: Value, stop: &str| {
        message(
            id,
            json!({"role": "assistant", "content": content, "provider": "p", "model": "some-model",
            "usage": {"input": 100, "output": 10 + number, "cacheRead": 0, "cacheWrite": 0,
                "cost": {"total": 0.01 * (number + 1) as f64}}, "stopReason": stop, "timestamp": at.0}),
        )
    };
    let call = |id: &str, name: &str| {
        answer(
            id,
            json!([{"type": "toolCall", "id": format!("t{id}"), "name": name, "arguments": {}}]),
            "toolUse",
        )
    };
    let mut records = vec![
        json!({"type": "session", "version": 3, "id": id, "timestamp": stamp, "cwd": "/work/oven"}),
        message(
            "u1",
            json!({"role": "user", "content": [{"type": "text", "text": "Bake"}], "timestamp": at.0}),
        ),
        call("a1", "bash"),
        message(
            "r1",
            json!({"role": "toolResult", "toolCallId": "ta1", "toolName": "bash",
            "content": [{"type": "text", "text": "hot"}], "isError": false, "timestamp": at.0}),
        ),
    ];
    match end {
        End::Prompt => records.push(answer(
            "a2",
            json!([{"type": "text", "text": "Baked."}]),
            "stop",
        )),
        End::Tool => records.push(call("a2", "bash")),
        End::Question => records.push(call("a2", "question")),
        End::Model => {}
    }
    records
        .into_iter()
        .map(|record| Step::Line(path.clone(), record.to_string()))
        .collect()
}

fn codex(home: &Path, number: usize, end: End) -> Vec<Step> {
    let id = format!("019cadc6-9a80-7000-8000-{number:012}");
    let path = home.join(format!(
        ".codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-{id}.jsonl"
    ));
    let at = now().to_rfc3339();
    let line =
        |kind: &str, payload: Value| json!({"timestamp": at, "type": kind, "payload": payload});
    let tokens = |sum: usize| {
        let usage = json!({"input_tokens": 1000 * sum + number, "cached_input_tokens": 500 * sum,
            "output_tokens": 50 * sum, "reasoning_output_tokens": 0, "total_tokens": 1050 * sum + number});
        line(
            "event_msg",
            json!({"type": "token_count", "info": {"total_token_usage": usage,
            "last_token_usage": usage, "model_context_window": 258_400}}),
        )
    };
    let call = |id: &str| {
        line(
            "response_item",
            json!({"type": "function_call", "name": "exec_command",
            "arguments": "{\"cmd\":\"sift\"}", "call_id": id}),
        )
    };
    let prompt = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Sift it"}]});
    let mut records = vec![
        line(
            "session_meta",
            json!({"id": id, "timestamp": at, "cwd": "/work/sieve", "cli_version": "0.106.0"}),
        ),
        line(
            "turn_context",
            json!({"turn_id": "t1", "cwd": "/work/sieve", "model": "gpt-5.2-codex"}),
        ),
        line("response_item", prompt),
        line(
            "event_msg",
            json!({"type": "user_message", "message": "Sift it"}),
        ),
        call("k1"),
        tokens(1),
        line(
            "response_item",
            json!({"type": "function_call_output", "call_id": "k1", "output": "sifted"}),
        ),
    ];
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]});
    match end {
        End::Prompt | End::Question => records.extend([
            line("response_item", said),
            line(
                "event_msg",
                json!({"type": "agent_message", "message": "Done."}),
            ),
            tokens(2),
            line(
                "event_msg",
                json!({"type": "task_complete", "turn_id": "t1", "last_agent_message": "Done."}),
            ),
        ]),
        End::Tool => records.push(call("k2")),
        End::Model => {}
    }
    records
        .into_iter()
        .map(|record| Step::Line(path.clone(), record.to_string()))
        .collect()
}

/// A document is written anew with each message.
fn cline(home: &Path, number: usize, end: End) -> Vec<Step> {
    let id = format!("17900000000{number:02}_abcde");
    let path = home.join(format!(".cline/data/sessions/{id}/{id}.messages.json"));
    let at = now().0;
    let answer = |name: &str, content: Value| {
        json!({"id": name, "role": "assistant", "ts": at, "modelInfo": {"id": "claude-sonnet-4-6", "provider": "anthropic"},
            "metrics": {"inputTokens": 20 + number, "outputTokens": 8, "cost": 0.1}, "content": content})
    };
    let call = |name: &str, tool: &str| {
        answer(
            name,
            json!([{"type": "tool_use", "id": format!("t-{name}"), "name": tool, "input": {"path": "/w"}}]),
        )
    };
    let mut messages = vec![
        json!({"id": "u1", "role": "user", "ts": at, "content": [{"type": "text", "text": "Knead it"}]}),
        call("a1", "read_files"),
        json!({"id": "u2", "role": "user", "ts": at, "content": [{"type": "tool_result", "tool_use_id": "t-a1",
            "name": "read_files", "content": "dough", "is_error": false}]}),
    ];
    match end {
        End::Prompt => messages.push(answer("a2", json!([{"type": "text", "text": "Kneaded."}]))),
        End::Tool => messages.push(call("a2", "read_files")),
        End::Question => messages.push(call("a2", "ask_question")),
        End::Model => {}
    }
    let document = |count: usize| {
        let messages = messages.get(..count).unwrap();
        json!({"version": 1, "agent": "lead", "sessionId": id, "messages": messages}).to_string()
    };
    (1..=messages.len())
        .map(|count| Step::Whole(path.clone(), document(count)))
        .collect()
}

/// All sessions of OpenCode lie in one database.
#[cfg(feature = "sqlite")]
fn opencode(home: &Path, number: usize, end: End) -> Vec<Step> {
    let path = home.join(".local/share/opencode/opencode.db");
    let (id, at) = (format!("ses_0oven{number:04}"), now().0);
    let head = |role: &str, more: Value| {
        let mut data = json!({"role": role, "time": {"created": at}, "agent": "build",
            "model": {"providerID": "anthropic", "modelID": "sonnet"}});
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        data
    };
    let answer = |more: Value| {
        let mut data = head("assistant", more);
        let own = json!({"mode": "build", "path": {"cwd": "/work/oven", "root": "/work/oven"}, "cost": 0.01,
            "tokens": {"total": 120, "input": 100 + number, "output": 20, "reasoning": 0, "cache": {"write": 0, "read": 0}},
            "modelID": "sonnet", "providerID": "anthropic"});
        data.as_object_mut()
            .unwrap()
            .extend(own.as_object().unwrap().clone());
        data
    };
    let call = |tool: &str, status: &str| {
        json!({"type": "tool", "tool": tool, "callID": format!("c-{tool}-{status}"), "state": {"status": status,
            "input": {"command": "heat it"}, "output": "hot", "title": "Heat", "metadata": {}, "time": {"start": at, "end": at}}})
    };
    let ended =
        |why: &str| answer(json!({"finish": why, "time": {"created": at, "completed": at}}));
    let mut messages = vec![
        (
            head("user", json!({})),
            json!({"type": "text", "text": "Heat the oven"}),
        ),
        (ended("tool-calls"), call("bash", "completed")),
    ];
    match end {
        End::Prompt => {
            messages.push((ended("stop"), json!({"type": "text", "text": "It is hot."})));
        }
        End::Tool => messages.push((answer(json!({})), call("bash", "running"))),
        End::Question => messages.push((answer(json!({})), call("question", "running"))),
        End::Model => {}
    }
    let rows = |(place, (message, part)): (usize, (Value, Value))| {
        let name = format!("{number:04}{place:02}");
        let sql = format!(
            "INSERT OR IGNORE INTO session VALUES ('{id}', 'p', NULL, 'hot-oven', '/work/oven', 'Heat the oven', '1.16.0', \
             NULL, NULL, {at}, {at}, NULL, 'build', NULL, 0);
             UPDATE session SET time_updated = {at} WHERE id = '{id}';
             INSERT INTO message VALUES ('msg_{name}', '{id}', {at}, {at}, '{message}');
             INSERT INTO part VALUES ('prt_{name}', 'msg_{name}', '{id}', {at}, {at}, '{part}');"
        );
        Step::Rows(path.clone(), id.clone(), sql)
    };
    messages.into_iter().enumerate().map(rows).collect()
}

/// The tables of a database of OpenCode, without rows.
#[cfg(feature = "sqlite")]
fn tables_of_opencode(connection: &rusqlite::Connection) {
    let fixture = fs::read_to_string("tests/fixtures/opencode/opencode.sql").unwrap();
    let (tables, _) = fixture.split_once("INSERT INTO").unwrap();
    connection
        .execute_batch(
            &tables
                .replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS")
                .replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS"),
        )
        .unwrap();
}

impl Step {
    fn path(&self) -> &Path {
        match self {
            Self::Line(path, _) | Self::Whole(path, _) => path,
            #[cfg(feature = "sqlite")]
            Self::Rows(path, ..) => path,
        }
    }

    /// What opens the session.
    fn address(&self) -> String {
        match self {
            Self::Line(path, _) | Self::Whole(path, _) => path.to_string_lossy().into_owned(),
            #[cfg(feature = "sqlite")]
            Self::Rows(path, name, _) => format!("{}#{name}", path.display()),
        }
    }

    fn write(&self) {
        fs::create_dir_all(self.path().parent().unwrap()).unwrap();
        match self {
            Self::Line(path, line) => {
                let mut file = OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(path)
                    .unwrap();
                file.write_all(format!("{line}\n").as_bytes()).unwrap();
            }
            Self::Whole(path, text) => {
                let new = path.with_extension("new");
                fs::write(&new, text).unwrap();
                fs::rename(new, path).unwrap();
            }
            #[cfg(feature = "sqlite")]
            Self::Rows(path, _, sql) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                tables_of_opencode(&connection);
                connection
                    .execute_batch(&format!("BEGIN; {sql} COMMIT;"))
                    .unwrap();
            }
        }
    }
}

/// All sessions, each with what is written to it.
fn scripts(home: &Path) -> Vec<Vec<Step>> {
    let mut scripts = Vec::new();
    for number in 0..EACH {
        let end = ENDS[number % ENDS.len()];
        scripts.push(claude(home, number, end));
        scripts.push(codex(home, number, end));
        let id = format!("a0000000-0000-4000-8000-{number:012}");
        let name = format!(".pi/agent/sessions/--work--/2026-03-01T08-00-00-000Z_{id}.jsonl");
        scripts.push(pi(home.join(name), &id, number, end));
        let id = format!("d0000000-0000-4000-8000-{number:012}");
        scripts.push(pi(
            home.join(format!(".openclaw/agents/main/sessions/{id}.jsonl")),
            &id,
            number,
            end,
        ));
        scripts.push(cline(home, number, end));
        #[cfg(feature = "sqlite")]
        scripts.push(opencode(home, number, end));
    }
    scripts
}

type Rows = Arc<Mutex<HashMap<String, Value>>>;

/// `tv top --json` with the newest line of each session.
fn top(home: &Path) -> (Child, Rows) {
    let mut child = tv(home, &["top", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let rows = rows_of(&mut child);
    (child, rows)
}

fn rows_of(child: &mut Child) -> Rows {
    let out = BufReader::new(child.stdout.take().unwrap());
    let rows = Rows::default();
    let known = Arc::clone(&rows);
    std::thread::spawn(move || {
        for line in out.lines() {
            let Ok(row) = serde_json::from_str::<Value>(&line.unwrap()) else {
                return;
            };
            let path = row["path"].as_str().unwrap();
            let address = row["name"]
                .as_str()
                .map_or(path.to_owned(), |name| format!("{path}#{name}"));
            known.lock().unwrap().insert(address, row);
        }
    });
    rows
}

/// What is the same wherever it is asked.
fn standing(row: &Value) -> (Value, Value, Value) {
    (
        row["session"]["state"].clone(),
        row["session"]["waiting_for"].clone(),
        row["cost"].clone(),
    )
}

fn alone(home: &Path, address: &str) -> Value {
    let output = tv(home, &["stats", "--json"])
        .arg(address)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What somebody is needed for follows from the state.
fn needs(state: &Value, waiting_for: &Value) -> Value {
    match (state.as_str().unwrap(), waiting_for.as_str()) {
        ("waiting", Some("question")) => json!("answer"),
        ("waiting", Some(wish)) => json!(wish),
        ("unclean", _) => json!("error"),
        _ => Value::Null,
    }
}

#[test]
fn forty_and_more_sessions_at_once_stand_as_each_alone() {
    let home = tempfile::tempdir().unwrap();
    let mut scripts = scripts(home.path());
    let addresses: Vec<String> = scripts.iter().map(|script| script[0].address()).collect();
    // Some are there before anybody looks.
    for script in scripts.iter_mut().step_by(3) {
        script.remove(0).write();
    }
    let (mut child, rows) = top(home.path());
    let longest = scripts.iter().map(Vec::len).max().unwrap();
    for round in 0..longest {
        for write in scripts.iter().filter_map(|script| script.get(round)) {
            write.write();
            std::thread::sleep(PAUSE);
        }
    }
    let alone: BTreeMap<String, Value> = addresses
        .iter()
        .map(|address| (address.clone(), alone(home.path(), address)))
        .collect();
    let states: Vec<&str> = alone
        .values()
        .map(|session| session["session"]["state"].as_str().unwrap())
        .collect();
    for state in ["waiting", "tool", "model"] {
        assert!(
            states.contains(&state),
            "nothing is shown of {state}: {states:?}"
        );
    }
    let begun = Instant::now();
    let differing = loop {
        let rows = rows.lock().unwrap();
        let differing: Vec<String> = alone
            .iter()
            .filter(|(path, session)| {
                let (state, waiting_for, cost) = standing(session);
                let row = rows.get(*path);
                let is_same = row.is_some_and(|row| {
                    standing(row) == (state.clone(), waiting_for.clone(), cost)
                        && row["needs"] == needs(&state, &waiting_for)
                });
                !is_same
            })
            .map(|(path, session)| {
                format!(
                    "{path}\n  {:?}\n  {:?}",
                    standing(session),
                    rows.get(path).map(standing)
                )
            })
            .collect();
        drop(rows);
        if differing.is_empty() || begun.elapsed() > PATIENCE {
            break differing;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        differing.is_empty(),
        "{} of {} differ:\n{}",
        differing.len(),
        addresses.len(),
        differing.join("\n")
    );
}

#[test]
fn what_cannot_be_read_is_named_and_holds_nobody_up() {
    let home = tempfile::tempdir().unwrap();
    for write in claude(home.path(), 1, End::Prompt) {
        write.write();
    }
    let folder = home.path().join(".claude/projects/-work-1");
    fs::write(
        folder.join("e0000000-0000-4000-8000-000000000001.jsonl"),
        "PK\u{3}\u{4} not a session",
    )
    .unwrap();
    let locked = folder.join("e0000000-0000-4000-8000-000000000002.jsonl");
    std::os::unix::fs::symlink("/there/is/no/such/file", &locked).unwrap();
    let output = tv(home.path(), &["top", "--once", "--json"])
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let out = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let problem = |row: &&Value| row["problem"].is_string();
    assert!(rows.iter().filter(problem).count() >= 1, "{out}");
    assert!(
        rows.iter()
            .filter(problem)
            .all(|row| row["needs"] == "error")
    );
    let good = rows
        .iter()
        .find(|row| row["session"]["title"] == "Grind the corn")
        .unwrap();
    assert_eq!(
        (&good["needs"], &good["complete"]),
        (&json!("prompt"), &json!(true))
    );
    let nowhere = tv(home.path(), &["top", "/there/is/no/such/folder"])
        .output()
        .unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("/there/is/no/such/folder"));
}

/// The line below the table.
#[test]
fn the_sum_counts_who_needs_somebody_and_who_is_at_work() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let sum = || {
        let output = tv(home, &["top", "--once", "--width", "160"])
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        out.lines().last().unwrap_or_default().to_owned()
    };
    let write = |number, end| claude(home, number, end).iter().for_each(Step::write);
    write(0, End::Prompt);
    let one = sum();
    assert!(
        one.starts_with("1 session, 1 needs somebody, rows add up to ~$"),
        "{one}"
    );
    for (number, end) in [(1, End::Tool), (2, End::Model), (3, End::Question)] {
        write(number, end);
    }
    let four = sum();
    assert!(
        four.starts_with("4 sessions, 2 need somebody, 2 at work, rows add up to ~$"),
        "{four}"
    );
}

/// As long as only the end of a session is read nobody knows what it has cost; nor of one that cannot be read.
#[test]
fn a_row_says_whether_all_of_its_session_is_read() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let script = claude(home, 0, End::Prompt);
    let [Step::Line(path, prompt), rest @ ..] = &script[..] else {
        panic!("a prompt first");
    };
    let mut record: Value = serde_json::from_str(prompt).unwrap();
    let more = (0..2_000).map(|number| {
        record["uuid"] = json!(format!("p{number}"));
        record["message"]["content"] = json!(format!("Grind {number} {}", "more ".repeat(40)));
        Step::Line(path.clone(), record.to_string())
    });
    more.for_each(|step| step.write());
    rest.iter().for_each(Step::write);
    let missing = path.with_file_name("e0000000-0000-4000-8000-000000000001.jsonl");
    std::os::unix::fs::symlink("/there/is/no/such/file", &missing).unwrap();

    let mut child = tv(home, &["top", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut told = Vec::new();
    for line in out.lines() {
        let row: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if row["path"] == json!(path) {
            told.push((row["complete"].clone(), row["cost"]["usd"].is_number()));
        } else {
            assert_eq!(
                (&row["path"], &row["complete"]),
                (&json!(missing), &json!(false))
            );
        }
        if told.last().is_some_and(|(complete, _)| *complete == true) {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (last, before) = told.split_last().unwrap();
    assert_eq!(*last, (json!(true), true));
    assert!(!before.is_empty() && before.iter().all(|row| *row == (json!(false), false)));
}

/// A folder below a root that is closed may hold sessions that nobody counts: each surface says so.
#[test]
fn a_closed_folder_is_named_by_all_that_look_for_sessions() {
    let home = tempfile::tempdir().unwrap();
    claude(home.path(), 1, End::Prompt)
        .iter()
        .for_each(Step::write);
    // A link that leads back to itself is closed even to root.
    let folder = home.path().join(".claude/projects/-work-knot");
    std::os::unix::fs::symlink("-work-knot", &folder).unwrap();
    // What is closed in the home folder is nobody's in particular.
    std::os::unix::fs::symlink("lost", home.path().join("lost")).unwrap();
    let projects = home.path().join(".claude/projects");
    for place in [None, Some(projects.to_str().unwrap())] {
        for (command, forms) in [
            ("list", &["--json"][..]),
            ("usage", &["--by", "session", "--json"]),
            ("top", &["--once", "--json"]),
            ("grep", &["corn", "-l"]),
        ] {
            let arguments: Vec<&str> =
                [&[command], forms, &place.into_iter().collect::<Vec<_>>()].concat();
            let output = tv(home.path(), &arguments).output().unwrap();
            let out = String::from_utf8(output.stdout).unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{arguments:?} {error}");
            let why = "a link that leads back to itself";
            let rows = if ["list", "top"].contains(&command) {
                2
            } else {
                1
            };
            assert_eq!(
                out.lines().count(),
                rows,
                "the others are there: {arguments:?} {out}"
            );
            if command == "list" {
                assert!(
                    error.is_empty() && out.contains(why),
                    "{arguments:?} {error} {out}"
                );
            } else {
                assert_eq!(error.lines().count(), 1, "{arguments:?} {error}");
                let line = format!("-work-knot: cannot be read: {why}");
                assert!(error.contains(&line), "{arguments:?} {error}");
            }
        }
    }
}

#[test]
fn what_was_deleted_needs_nobody() {
    let home = tempfile::tempdir().unwrap();
    let script = claude(home.path(), 1, End::Question);
    script.iter().for_each(Step::write);
    let (path, (mut child, rows)) = (script[0].address(), top(home.path()));
    let stands = |is_it: &dyn Fn(&Value) -> bool| {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if rows.lock().unwrap().get(&path).is_some_and(is_it) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    };
    let has_asked = stands(&|row| row["needs"] == "answer");
    fs::remove_file(&path).unwrap();
    let is_gone = stands(&|row| row["problem"] == "file gone" && row["needs"].is_null());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(has_asked && is_gone, "{:?}", rows.lock().unwrap());
}

/// Writes a session to which nothing was written for so long.
fn resting(script: &[Step], age: Duration) -> PathBuf {
    script.iter().for_each(Step::write);
    let path = script[0].path().to_owned();
    rest(&path, age);
    path
}

fn rest(path: &Path, age: Duration) {
    let file = OpenOptions::new().append(true).open(path).unwrap();
    file.set_modified(made() - age).unwrap();
}

/// A session may begin, or go on after long, in any folder where one may lie.
#[test]
fn what_begins_is_seen_at_once_wherever_it_lies() {
    const SOON: Duration = Duration::from_secs(4);
    const DAYS: Duration = Duration::from_secs(100 * 3600);
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let works = claude(home, 0, End::Prompt);
    works.iter().for_each(Step::write);
    // A project without a session; one whose session rests; a day on which nothing was said yet.
    let begins = claude(home, 1, End::Prompt);
    fs::create_dir_all(begins[0].path().parent().unwrap()).unwrap();
    let mut resumed = claude(home, 2, End::Question);
    let more = resumed.pop().unwrap();
    resting(&resumed, DAYS);
    resting(&codex(home, 0, End::Prompt), DAYS);
    let next_day = codex(home, 1, End::Prompt)
        .into_iter()
        .map(|step| match step {
            Step::Line(path, line) => {
                Step::Line(path.to_string_lossy().replace("/02/", "/03/").into(), line)
            }
            step => step,
        });
    let mut new: Vec<Step> = begins.into_iter().chain(next_day).chain([more]).collect();
    #[cfg(feature = "sqlite")]
    {
        opencode(home, 0, End::Prompt).iter().for_each(Step::write);
        new.extend(opencode(home, 1, End::Prompt));
    }
    let (mut child, rows) = top(home);
    let begun = Instant::now();
    while !rows.lock().unwrap().contains_key(&works[0].address()) && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    // All looks that the start gives a reason for are over.
    std::thread::sleep(Duration::from_secs(2));
    new.iter().for_each(Step::write);
    let written = Instant::now();
    let unseen = || {
        let rows = rows.lock().unwrap();
        let unseen = new
            .iter()
            .map(Step::address)
            .filter(|address| !rows.contains_key(address));
        unseen.collect::<std::collections::BTreeSet<String>>()
    };
    while !unseen().is_empty() && written.elapsed() < SOON {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(unseen().is_empty(), "{:?}", unseen());
}

#[test]
fn more_sessions_than_a_process_may_have_open_files_are_followed() {
    const MOST: usize = 64;
    let home = tempfile::tempdir().unwrap();
    let scripts: Vec<Vec<Step>> = (0..3 * MOST)
        .map(|number| claude(home.path(), number, End::Prompt))
        .collect();
    let paths: Vec<PathBuf> = scripts
        .iter()
        .map(|script| resting(script, Duration::from_secs(600)))
        .collect();
    let within = format!("ulimit -n {MOST} && exec \"$0\" top --json");
    let mut command = Command::new("sh");
    command
        .env_clear()
        .env("HOME", home.path())
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null());
    let mut child = command
        .args(["-c", &within, env!("CARGO_BIN_EXE_tv")])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let rows = rows_of(&mut child);
    let wait = |what: &dyn Fn(&HashMap<String, Value>) -> bool| {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && !what(&rows.lock().unwrap()) {
            std::thread::sleep(Duration::from_millis(20));
        }
        what(&rows.lock().unwrap())
    };
    let is_read = wait(&|rows| {
        rows.len() == paths.len()
            && rows
                .values()
                .all(|row| row["complete"] == true && row["problem"].is_null())
    });
    // One that was closed is read on from where it ended, and one that another file took the place of is read anew.
    let more = claude(home.path(), 0, End::Question).pop().unwrap();
    more.write();
    let goes_on = wait(&|rows| rows[&more.address()]["needs"] == "answer");
    let other: String = scripts[1]
        .iter()
        .skip(1)
        .map(|step| match step {
            Step::Line(_, line) => line.replace("Ground.", "Milled.") + "\n",
            _ => String::new(),
        })
        .collect();
    fs::write(paths[1].with_extension("new"), other).unwrap();
    fs::rename(paths[1].with_extension("new"), &paths[1]).unwrap();
    let is_anew = wait(&|rows| rows[paths[1].to_str().unwrap()]["last"] == "Milled.");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        is_read && goes_on && is_anew,
        "{is_read} {goes_on} {is_anew} {:?}",
        rows.lock().unwrap()
    );
}

/// A script whose records tell of another time, in files that are written now.
fn told_at(script: Vec<Step>, at: Timestamp) -> Vec<Step> {
    let told = |step| match step {
        Step::Line(path, line) => {
            let mut record: Value = serde_json::from_str(&line).unwrap();
            record["timestamp"] = json!(at.to_rfc3339());
            Step::Line(path, record.to_string())
        }
        step => step,
    };
    script.into_iter().map(told).collect()
}

/// A home that was copied or restored today.
#[test]
fn what_was_copied_is_as_old_as_what_it_tells() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let winter = Timestamp::parse("2026-01-31T10:41:07.000Z").unwrap();
    let today = claude(home, 0, End::Prompt);
    let old = told_at(claude(home, 1, End::Prompt), winter);
    let mut resumed = told_at(claude(home, 2, End::Question), winter);
    let more = resumed.pop().unwrap();
    old.iter()
        .chain(&resumed)
        .chain(&today)
        .for_each(Step::write);
    let beside = old[0]
        .path()
        .with_extension("")
        .join("subagents/agent-a1b2c3d4.jsonl");
    fs::create_dir_all(beside.parent().unwrap()).unwrap();
    fs::copy(old[0].path(), beside).unwrap();

    let listed = tv(home, &["list", "--json"]).output().unwrap();
    let listed: Vec<Value> = listed
        .stdout
        .split(|byte| *byte == b'\n')
        .flat_map(serde_json::from_slice)
        .collect();
    assert_eq!(listed[0]["path"], json!(today[0].path()));
    let modified: Vec<&Value> = listed[1..].iter().map(|found| &found["modified"]).collect();
    assert_eq!(modified, [&json!(winter.to_rfc3339()); 2]);

    let (mut child, rows) = top(home);
    let wait = |what: &dyn Fn(&HashMap<String, Value>) -> bool| {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && !what(&rows.lock().unwrap()) {
            std::thread::sleep(Duration::from_millis(20));
        }
        rows.lock().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    let at_first = wait(&|rows| rows.values().any(|row| row["complete"] == true));
    // One that grows is at work, whatever its clock says.
    more.write();
    let grown = wait(&|rows| rows.len() > 1 && rows.values().all(|row| row["complete"] == true));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(at_first, [today[0].address()]);
    assert_eq!(grown.len(), 2, "{grown:?}");
    assert!(grown.contains(&more.address()));
}

type RowsByPath = HashMap<PathBuf, SessionRow>;

/// Of too many sessions the newest have rows, and one that goes on has one again.
#[test]
fn the_newest_are_followed_and_the_others_are_counted() {
    const HOUR_MS: i64 = 3_600_000;
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let mut scripts: Vec<Vec<Step>> = (0..5)
        .zip(2..)
        .map(|(number, hours)| {
            told_at(
                claude(home, number, End::Model),
                Timestamp(now().0 - hours * HOUR_MS),
            )
        })
        .collect();
    let more: Vec<Step> = [0, 4]
        .into_iter()
        .filter_map(|number| claude(home, number, End::Prompt).pop())
        .collect();
    scripts.iter_mut().flatten().for_each(|step| step.write());
    let places: Vec<PathBuf> = scripts
        .iter()
        .map(|script| script[0].path().to_owned())
        .collect();
    let environment = Environment {
        home: Some(home.to_owned()),
        ..Environment::default()
    };
    let fleet = Fleet::start(FleetOptions {
        search: DiscoveryQuery {
            environment,
            ..DiscoveryQuery::default()
        },
        recent_ms: 24 * 3_600_000,
        most: 3,
        watch: WatchMode::Native,
        alarms: Vec::new(),
        clock: now,
    });
    let (mut rows, mut others) = (HashMap::new(), 0);
    let mut wait = |what: &dyn Fn(&RowsByPath, bool) -> bool| {
        let begun = Instant::now();
        let mut is_complete = false;
        while begun.elapsed() < PATIENCE && !what(&rows, is_complete) {
            match fleet.news.recv_timeout(Duration::from_millis(50)) {
                Ok(News::Row(row)) => drop(rows.insert(row.place.path.clone(), *row)),
                Ok(News::Removed(place)) => drop(rows.remove(&place.path)),
                Ok(News::More(count)) => others = count,
                Ok(News::Complete) => is_complete = true,
                _ => {}
            }
        }
        (rows.clone(), others)
    };
    let (first, count) = wait(&|_, is_complete| is_complete);
    assert_eq!((first.len(), count), (3, 2));
    assert!(places[..3].iter().all(|path| first.contains_key(path)));
    let costs = |rows: &RowsByPath| rows.get(&places[0]).and_then(|row| row.cost.clone()?.usd);
    more.iter().for_each(Step::write);
    let goes_on = |rows: &RowsByPath, _| {
        rows.contains_key(&places[4])
            && costs(rows) > costs(&first)
            && !rows.contains_key(&places[2])
    };
    let (second, count) = wait(&goes_on);
    assert!(goes_on(&second, true), "{second:?}");
    assert_eq!((second.len(), count), (3, 2));
}

#[test]
fn a_session_counts_whose_sub_agent_alone_writes() {
    let home = tempfile::tempdir().unwrap();
    let day = Duration::from_secs(24 * 3600);
    let waits = resting(&claude(home.path(), 1, End::Tool), day);
    let rests = resting(&claude(home.path(), 2, End::Tool), day);
    for (session, age) in [(&waits, Duration::ZERO), (&rests, day)] {
        let folder = session.with_extension("").join("subagents");
        fs::create_dir_all(&folder).unwrap();
        let agent = folder.join("agent-a1b2c3d4.jsonl");
        fs::copy(session, &agent).unwrap();
        rest(&agent, age);
    }
    let output = tv(home.path(), &["top", "--once", "--json"])
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let paths: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["path"].clone())
        .collect();
    assert_eq!(paths, [json!(waits)], "{out}");
}

#[test]
fn a_closed_pipe_is_a_clean_end() {
    let home = tempfile::tempdir().unwrap();
    let script = claude(home.path(), 1, End::Tool);
    script[0].write();
    let mut child = tv(home.path(), &["top", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert!(first.contains("\"schema\":\"tv.top/1\""), "{first}");
    let begun = Instant::now();
    let mut lines = script.iter().skip(1).cycle();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < PATIENCE, "it goes on for nobody");
        lines.next().unwrap().write();
        std::thread::sleep(Duration::from_millis(100));
    };
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

/// A database in the middle of a change that nobody ended stands for its sessions, until it can be read again.
#[cfg(feature = "sqlite")]
#[test]
fn a_database_that_cannot_be_read_has_a_row() {
    let home = tempfile::tempdir().unwrap();
    for write in opencode(home.path(), 1, End::Prompt) {
        write.write();
    }
    let path = home.path().join(".local/share/opencode/opencode.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = delete;")
        .unwrap();
    drop(connection);
    let rows = |home: &Path| -> Vec<Value> {
        let output = tv(home, &["top", "--once", "--json"]).output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    assert_eq!(
        rows(home.path()).first().unwrap()["session"]["title"],
        "Heat the oven"
    );
    let journal = hot_journal(&path);
    let named = rows(home.path());
    assert_eq!(named.len(), 1, "{named:?}");
    let row = named.first().unwrap();
    assert_eq!(
        (&row["name"], &row["format"], &row["needs"]),
        (&Value::Null, &json!("opencode"), &json!("error"))
    );
    assert!(
        row["problem"].as_str().unwrap().contains("not finished"),
        "{row}"
    );
    for command in [
        &["list", "--width", "200"][..],
        &["usage"],
        &["grep", "oven"],
    ] {
        let output = tv(home.path(), command).output().unwrap();
        let said = [output.stdout, output.stderr]
            .map(|said| String::from_utf8(said).unwrap())
            .concat();
        assert!(
            said.contains("opencode.db") && said.contains("not finished"),
            "{command:?}: {said}"
        );
    }
    // In a stream its place is taken by its sessions as soon as they are there.
    let (mut child, lines) = top(home.path());
    let begun = Instant::now();
    let wait = |what: &dyn Fn(&HashMap<String, Value>) -> bool| {
        while !what(&lines.lock().unwrap()) {
            assert!(begun.elapsed() < PATIENCE, "{:?}", lines.lock().unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let address = path.to_string_lossy().into_owned();
    wait(&|rows| {
        rows.get(&address)
            .is_some_and(|row| row["problem"].is_string())
    });
    fs::remove_file(journal).unwrap();
    wait(&|rows| {
        rows.get(&address).is_some_and(|row| row["left"] == true)
            && rows
                .get(&format!("{address}#ses_0oven0001"))
                .is_some_and(|row| row["needs"] == "prompt")
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Follows two sessions of a database that has no log. Says whether at some time what is asked for is true of the first.
#[cfg(feature = "sqlite")]
fn followed_in_a_database(
    change: impl FnOnce(&rusqlite::Connection, &dyn Fn(&dyn Fn(&Value) -> bool) -> bool),
) {
    let home = tempfile::tempdir().unwrap();
    let scripts = [
        opencode(home.path(), 1, End::Prompt),
        opencode(home.path(), 2, End::Prompt),
    ];
    scripts.iter().flatten().for_each(Step::write);
    let connection = rusqlite::Connection::open(scripts[0][0].path()).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = delete;")
        .unwrap();
    let (mut child, rows) = top(home.path());
    let address = scripts[0][0].address();
    let stands = |is_it: &dyn Fn(&Value) -> bool| {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && !rows.lock().unwrap().get(&address).is_some_and(is_it) {
            std::thread::sleep(Duration::from_millis(5));
        }
        rows.lock().unwrap().get(&address).is_some_and(is_it)
    };
    let is_read = stands(&|row| row["complete"] == true && row["needs"] == "prompt");
    if is_read {
        change(&connection, &stands);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_read, "{:?}", rows.lock().unwrap());
}

#[cfg(feature = "sqlite")]
#[test]
fn a_session_that_is_deleted_from_a_database_is_gone_as_a_file_is() {
    let mut is_gone = false;
    followed_in_a_database(|connection, stands| {
        let of_first = "DELETE FROM part WHERE session_id = 'ses_0oven0001'; \
            DELETE FROM message WHERE session_id = 'ses_0oven0001'; DELETE FROM session WHERE id = 'ses_0oven0001';";
        connection
            .execute_batch(&format!("BEGIN; {of_first} COMMIT;"))
            .unwrap();
        is_gone = stands(&|row| {
            row["problem"] == "file gone" && row["needs"].is_null() && row["last"] == "It is hot."
        });
    });
    assert!(is_gone);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_database_that_is_busy_for_a_moment_needs_nobody() {
    let (mut had_problem, mut goes_on) = (false, false);
    followed_in_a_database(|connection, stands| {
        // With no room for changed pages they are written to the database before the change ends.
        let change = "UPDATE part SET data = replace(data, 'It is hot.', 'It is cold.')";
        connection
            .execute_batch(&format!(
                "PRAGMA cache_size = 1; BEGIN EXCLUSIVE; {change};"
            ))
            .unwrap();
        connection.cache_flush().unwrap();
        let begun = Instant::now();
        had_problem = stands(&|row| {
            row["problem"].is_string()
                || row["needs"] == "error"
                || begun.elapsed() > Duration::from_millis(1500)
        }) && begun.elapsed() < Duration::from_millis(1500);
        connection.execute_batch("COMMIT").unwrap();
        goes_on = stands(&|row| row["last"] == "It is cold." && row["problem"].is_null());
    });
    assert!(!had_problem && goes_on, "{had_problem} {goes_on}");
}

#[cfg(feature = "sqlite")]
#[test]
fn sessions_of_a_busy_database_are_read_when_it_is_free() {
    let home = tempfile::tempdir().unwrap();
    let script = opencode(home.path(), 1, End::Prompt);
    script.iter().for_each(Step::write);
    let path = script[0].path().to_string_lossy().into_owned();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = delete; BEGIN EXCLUSIVE;")
        .unwrap();
    let (mut child, rows) = top(home.path());
    let (mut other, others) = {
        let mut command = tv(home.path(), &["top", "--json", &path]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let rows = rows_of(&mut child);
        (child, rows)
    };
    let wait = |rows: &Rows, what: &dyn Fn(&HashMap<String, Value>) -> bool| {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && !what(&rows.lock().unwrap()) {
            std::thread::sleep(Duration::from_millis(20));
        }
        what(&rows.lock().unwrap())
    };
    let is_busy = |row: &Value| {
        row["problem"]
            .as_str()
            .is_some_and(|problem| problem.contains("busy"))
    };
    let is_named = wait(&rows, &|rows| rows.get(&path).is_some_and(is_busy));
    connection.execute_batch("COMMIT").unwrap();
    let is_read = |rows: &HashMap<String, Value>| {
        let row = rows.get(&script[0].address());
        row.is_some_and(|row| row["complete"] == true && row["problem"].is_null())
    };
    let are_read = [&rows, &others].map(|rows| wait(rows, &is_read));
    let has_left = wait(&rows, &|rows| {
        rows.get(&path).is_some_and(|row| row["left"] == true)
    });
    for child in [&mut child, &mut other] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(
        is_named && has_left && are_read == [true; 2],
        "{is_named} {has_left} {are_read:?}"
    );
}

/// Whoever writes to a database with a log keeps nobody from reading it; without one it is busy, which is said.
#[cfg(feature = "sqlite")]
#[test]
fn databases_of_all_agents_are_read_beside_a_writer() {
    for (fixture, place) in [
        (
            "goose/sessions.sql",
            ".local/share/goose/sessions/sessions.db",
        ),
        ("crush/crush.sql", "work/.crush/crush.db"),
        ("devin/devin.sql", ".local/share/devin/cli/sessions.db"),
        ("hermes/state.sql", ".hermes/state.db"),
        ("hermes/state.sql", ".hermes/profiles/work/state.db"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let connection = rusqlite::Connection::open(&path).unwrap();
        let sql = fs::read_to_string(Path::new("tests/fixtures").join(fixture)).unwrap();
        connection.execute_batch(&sql).unwrap();
        let list = |arguments: &[&str]| {
            let output = tv(home.path(), &[&["list", "--json"], arguments].concat())
                .output()
                .unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            (
                output.status.code().unwrap(),
                String::from_utf8(output.stdout).unwrap().lines().count(),
                error,
            )
        };
        connection
            .execute_batch("PRAGMA journal_mode = wal; BEGIN IMMEDIATE; DELETE FROM sessions;")
            .unwrap();
        let (code, count, error) = list(&[]);
        assert_eq!((code, error.as_str()), (0, ""), "{fixture}");
        assert!(count > 0, "{fixture}");
        connection
            .execute_batch("ROLLBACK; PRAGMA journal_mode = delete; BEGIN EXCLUSIVE;")
            .unwrap();
        // By its place, by its name, and in a folder that is named.
        let folder = path.parent().unwrap();
        for (named, expected) in [
            (&[][..], (0, 1)),
            (&[path.to_str().unwrap()], (2, 0)),
            (&[folder.to_str().unwrap()], (0, 1)),
        ] {
            let (code, count, error) = list(named);
            assert_eq!((code, count), expected, "{fixture} {named:?} {error}");
            assert_eq!(
                error.contains("the database is busy"),
                code == 2,
                "{fixture} {named:?} {error}"
            );
        }
        connection.execute_batch("COMMIT").unwrap();
        assert_eq!(list(&[]).0, 0);
    }
}

/// Leaves beside a database the journal of a change that was never ended.
#[cfg(feature = "sqlite")]
fn hot_journal(path: &Path) -> PathBuf {
    let journal = path.with_extension("db-journal");
    let connection = rusqlite::Connection::open(path).unwrap();
    // With no room for changed pages they are written to the database before the change ends.
    connection
        .execute_batch(
            "PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE part SET data = data || ' ';",
        )
        .unwrap();
    connection.cache_flush().unwrap();
    let copy = fs::read(&journal).unwrap();
    assert!(!copy.is_empty());
    drop(connection);
    fs::write(&journal, copy).unwrap();
    journal
}

#[test]
fn an_empty_session_is_of_the_agent_in_whose_place_it_lies() {
    let home = tempfile::tempdir().unwrap();
    let path = home
        .path()
        .join(".claude/projects/-work-mill/c0000000-0000-4000-8000-000000000001.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    let output = tv(home.path(), &["top", "--once", "--json"])
        .output()
        .unwrap();
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&row["path"], &row["format"]),
        (&json!(path), &json!("claude-code")),
        "{row}"
    );
}

#[test]
fn the_cost_of_the_last_hour_is_that_of_its_requests() {
    let home = tempfile::tempdir().unwrap();
    let path = home
        .path()
        .join(".claude/projects/-work-mill/c0000000-0000-4000-8000-000000000001.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let record = |kind: &str, id: &str, minutes: i64, message: Value| {
        let at = Timestamp(now().0 - minutes * 60_000).to_rfc3339();
        json!({"parentUuid": null, "isSidechain": false, "type": kind, "message": message, "uuid": id,
            "requestId": id, "timestamp": at, "sessionId": "c0000000-0000-4000-8000-000000000001",
            "cwd": "/work/mill", "version": "2.1.0"})
    };
    let answer = |id: &str, minutes: i64, output: u64| {
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-6",
            "content": [{"type": "text", "text": "ground"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 0, "output_tokens": output}});
        record("assistant", id, minutes, message)
    };
    let records = [
        record(
            "user",
            "u1",
            130,
            json!({"role": "user", "content": "Grind the corn"}),
        ),
        answer("a1", 120, 3_000),
        record(
            "user",
            "u2",
            10,
            json!({"role": "user", "content": "And again"}),
        ),
        answer("a2", 9, 1_000),
    ];
    fs::write(&path, records.map(|record| format!("{record}\n")).concat()).unwrap();
    let output = tv(home.path(), &["top", "--once", "--json"])
        .output()
        .unwrap();
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (all, hour) = (
        row["cost"]["usd"].as_f64().unwrap(),
        row["cost_last_hour"]["usd"].as_f64().unwrap(),
    );
    assert!(
        hour > 0.0 && (all - 4.0 * hour).abs() < 1e-9,
        "{hour} of {all}"
    );
}
