//! Tests of `tv export`: sums of rows, continued exports into a folder, names of files, and that
//! nothing of a transcript is markup of a page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::corpus::{self, say};
use crate::fixtures;

fn tv(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command.env_clear().args(arguments).current_dir(home);
    command.env("HOME", home).env("LC_ALL", "C.UTF-8");
    command.env("TZ", "UTC").env("HOSTNAME", "here");
    command.stdin(Stdio::null()).output().unwrap()
}

/// What is written to standard output, of an export that ends well.
fn exported(home: &Path, arguments: &[&str]) -> String {
    let output = tv(home, &[&["export"], arguments].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn of_kind<'v>(rows: &'v [Value], kind: &str) -> Vec<&'v Value> {
    let schema = format!("tv.row.{kind}/1");
    rows.iter()
        .filter(|row| row["schema"] == schema.as_str())
        .collect()
}

fn line(key: &str, value: &Value) -> String {
    let mut line = json!({ "uuid": key, "sessionId": "s", "cwd": "/work", "version": "2.1.0",
        "timestamp": format!("2026-02-03T10:00:{:02}Z", key.len() % 60) });
    let more = value.as_object().unwrap().clone();
    line.as_object_mut().unwrap().extend(more);
    format!("{line}\n")
}

/// A session of Claude Code with a prompt, an answer with a call, and its result.
fn session(id: &str, [prompt, answer, command, output]: [&str; 4]) -> String {
    let at = |line: String| line.replace("\"s\"", &json!(id).to_string());
    let user = json!({ "type": "user", "parentUuid": null, "message": { "role": "user", "content": prompt } });
    let assistant = json!({ "type": "assistant", "parentUuid": "a", "message": { "id": "m", "role": "assistant",
        "model": "claude-sonnet-4-5", "usage": { "input_tokens": 10, "output_tokens": 20,
            "cache_read_input_tokens": 30, "cache_creation_input_tokens": 40 },
        "content": [ { "type": "text", "text": answer },
            { "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": { "command": command } } ] } });
    let result = json!({ "type": "user", "parentUuid": "bb", "message": { "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "toolu_1", "content": output } ] } });
    [
        at(line("a", &user)),
        at(line("bb", &assistant)),
        at(line("ccc", &result)),
    ]
    .concat()
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A session of Claude Code where Claude Code has it.
fn place(home: &Path, id: &str, content: &str) -> PathBuf {
    let folder = home.join(".claude/projects/-work");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{id}.jsonl"));
    fs::write(&path, content).unwrap();
    path
}

fn id(number: u32) -> String {
    format!("{number:08}-0000-4000-8000-000000000000")
}

#[test]
fn spans_add_up_to_the_figures_of_every_fixture() {
    let home = home();
    let mut sessions = 0;
    for path in fixtures::all() {
        let path = path.to_str().unwrap();
        let stats = tv(home.path(), &["stats", "--json", path]);
        let [figures] = &*objects(&String::from_utf8(stats.stdout).unwrap()) else {
            continue;
        };
        let output = tv(home.path(), &["export", "--to", "otlp", path]);
        let spans = objects(&String::from_utf8(output.stdout).unwrap());
        let [trace] = &*spans else { continue };
        let spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array();
        // A folder that is one session is exported as the file in it that is listed.
        if Path::new(path).is_dir() {
            continue;
        }
        let sum = |name: &str| -> i64 {
            let attributes = spans.unwrap().iter();
            let attributes = attributes.flat_map(|span| span["attributes"].as_array().unwrap());
            let named = attributes.filter(|attribute| attribute["key"] == name);
            named
                .map(|attribute| {
                    let number = attribute["value"]["intValue"].as_str().unwrap();
                    number.parse::<i64>().unwrap()
                })
                .sum()
        };
        let usage = |class: &str| figures["usage"][class].as_i64().unwrap_or(0);
        let prompt = usage("input") + usage("cache_read") + usage("cache_write");
        assert_eq!(sum("gen_ai.usage.input_tokens"), prompt, "{path}");
        assert_eq!(sum("gen_ai.usage.output_tokens"), usage("output"), "{path}");
        sessions += 1;
    }
    assert!(sessions > 50, "{sessions}");
}

#[test]
fn rows_add_up_to_the_figures_of_every_fixture() {
    let home = home();
    let mut sessions = 0;
    for path in fixtures::all() {
        let path = path.to_str().unwrap();
        let stats = tv(home.path(), &["stats", "--json", path]);
        let output = tv(home.path(), &["export", "--to", "jsonl", path]);
        let rows = objects(&String::from_utf8(output.stdout).unwrap());
        let mut figures: BTreeMap<String, Value> = BTreeMap::new();
        for of_one in objects(&String::from_utf8(stats.stdout).unwrap()) {
            let id = of_one["session"]["id"].as_str().unwrap_or(path).to_owned();
            figures.insert(id, of_one);
        }
        for row in of_kind(&rows, "session") {
            // A folder that is one session is exported as the file in it that is listed, which may
            // lack what lies beside it.
            let named = figures.get(row["session"].as_str().unwrap());
            let Some(figures) = named.filter(|figures| figures["path"] == row["path"]) else {
                continue;
            };
            sessions += 1;
            let own = |kind| -> Vec<&Value> {
                let rows = of_kind(&rows, kind).into_iter();
                rows.filter(|other| {
                    other["session"] == row["session"] && other["path"] == row["path"]
                })
                .collect()
            };
            for class in ["input", "output", "cache_read", "cache_write", "requests"] {
                let sum: i64 = own("request")
                    .iter()
                    .filter_map(|row| row["usage"][class].as_i64())
                    .sum();
                assert_eq!(
                    sum,
                    figures["usage"][class].as_i64().unwrap_or(0),
                    "{path}: {class}"
                );
            }
            let usd: f64 = own("request")
                .iter()
                .filter_map(|row| row["cost"]["usd"].as_f64())
                .sum();
            let expected = figures["cost"]["usd"].as_f64().unwrap_or(0.0);
            assert!(
                (usd - expected).abs() < 1e-4,
                "{path}: {usd} is not {expected}"
            );
            assert_eq!(
                own("turn").len() as u64,
                figures["turns"].as_u64().unwrap(),
                "{path}"
            );
            assert_eq!(row["pairing"], figures["pairing"], "{path}");
            let calls = own("call");
            let failed = calls
                .iter()
                .filter(|call| !call["call_id"].is_null() && call["state"] == "failed")
                .count() as u64;
            // A result whose call is not there has no row.
            assert!(
                failed <= figures["pairing"]["failed"].as_u64().unwrap(),
                "{path}: failed calls"
            );
        }
        let mut ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{path}: a row is known by its id");
    }
    assert!(sessions > 100, "{sessions}");
}

#[test]
fn a_dash_is_standard_output() {
    let home = home();
    place(
        home.path(),
        &id(0),
        &session(&id(0), ["ask", "answer", "ls", "a"]),
    );
    let to_dash = exported(home.path(), &["--to", "md", &id(0), "-o", "-"]);
    assert!(to_dash.starts_with("# ask"), "{to_dash}");
    assert_eq!(to_dash, exported(home.path(), &["--to", "md", &id(0)]));
    assert!(!home.path().join("-").exists());
}

#[test]
fn a_folder_is_gone_on_with() {
    let home = home();
    let texts = ["ask", "answer", "ls", "a"];
    for number in 0..3 {
        place(home.path(), &id(number), &session(&id(number), texts));
    }
    let folder = home.path().join("rows");
    let export = || {
        let output = tv(home.path(), &["export", "--to", "jsonl", "-o", "rows/"]);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(export().contains("3 sessions written\n"));
    let calls = folder.join(format!("{}.calls.jsonl", id(1)));
    let before = fs::read_to_string(&calls).unwrap();
    assert_eq!(objects(&before)[0]["result"]["text"], "a");
    assert!(export().contains("0 sessions written, 3 lay there already"));
    assert_eq!(fs::read_to_string(&calls).unwrap(), before);
    let more = session(&id(1), texts).replace("\"a\"", "\"b\"");
    place(home.path(), &id(1), &more.replace("ask", "ask more"));
    fs::remove_file(folder.join(format!("{}.turns.jsonl", id(2)))).unwrap();
    assert!(export().contains("2 sessions written, 1 lay there already"));
    // With other masking nothing that lies there is what was asked for.
    let output = tv(
        home.path(),
        &["export", "--to", "jsonl", "-o", "rows/", "--redact"],
    );
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("3 sessions written\n")
    );
    let parts = fs::read_dir(&folder).unwrap();
    let names: Vec<String> = parts
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 3 * 6 + 1, "{names:?}");
}

#[test]
fn names_of_files_are_safe_and_differ_also_where_case_does_not() {
    let home = home();
    let folder = home.path().join("mine");
    fs::create_dir(&folder).unwrap();
    let long = "x".repeat(300);
    let names = ["../../up/and/away", "UPPER", "upper", "a\nb", long.as_str()];
    for (number, name) in names.iter().enumerate() {
        fs::write(
            folder.join(format!("{number}.jsonl")),
            session(name, ["ask", "answer", "ls", "a"]),
        )
        .unwrap();
    }
    exported(home.path(), &["--to", "jsonl", "mine", "-o", "out/"]);
    let files = fs::read_dir(home.path().join("out")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut sessions: Vec<String> = files
        .filter_map(|name| name.strip_suffix(".sessions.jsonl").map(str::to_lowercase))
        .collect();
    sessions.sort();
    sessions.dedup();
    assert_eq!(sessions.len(), 5, "{sessions:?}");
    assert!(
        sessions
            .iter()
            .all(|name| name.len() < 120 && !name.starts_with('.')),
        "{sessions:?}"
    );
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}

#[test]
fn what_cannot_be_written_is_a_sentence() {
    let home = home();
    let path = place(
        home.path(),
        &id(1),
        &session(&id(1), ["ask", "answer", "ls", "a"]),
    );
    let before = fs::read(&path).unwrap();
    let path = path.to_str().unwrap();
    for (arguments, words) in [
        (
            vec!["--to", "jsonl", path, "-o", path],
            "goes into the session itself",
        ),
        (
            vec!["--to", "jsonl", "-o", "none/of/this"],
            "cannot write to none/of/this",
        ),
        (vec!["--to", "jsonl", "-o", "/dev/full"], "cannot write"),
        (vec!["--to", "jsonl", "gone.jsonl"], "gone.jsonl"),
    ] {
        let output = tv(home.path(), &[&["export"], arguments.as_slice()].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    assert_eq!(fs::read(path).unwrap(), before);
    let mut out = Command::new(env!("CARGO_BIN_EXE_tv"))
        .args(["export", "--to", "jsonl", path])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(out.stdout.take());
    assert_eq!(out.wait().unwrap().code(), Some(0), "a closed pipe is fine");
}

#[test]
fn huge_and_broken_records_give_pages_that_open() {
    let home = home();
    let output = "words of an output\n".repeat((50 << 20) / 19);
    let content = session(&id(1), ["ask", "answer", "ls", &output])
        + "{\"type\":\"user\", broken\n"
        + &line(
            "z",
            &json!({ "type": "user", "message": { "role": "user", "content": "last" } }),
        );
    let path = place(home.path(), &id(1), &content);
    for form in ["html", "md"] {
        let page = exported(home.path(), &["--to", form, path.to_str().unwrap()]);
        assert!(page.len() < 1 << 20, "{form}: {}", page.len());
        assert!(page.contains("52 MB"), "{form} says how much there was");
        assert!(page.contains("1 faulty") && page.contains("last"), "{form}");
    }
}

/// A session in which every text tries to be markup.
fn hostile() -> String {
    let evil = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>";
    let prose = format!(
        "# {evil}\n\n[link](javascript:alert(1)) <javascript:alert(1)> ![i](https://e.example/\"onload=x) `{evil}`\n\n\
         <div onclick=x>\n\n| a | {evil} |\n| - | - |\n| <b> | c |\n\n```<x>\n</code></pre>{evil}\n````\n<a href=\"`\">`<script>`\n\n```\nopen"
    );
    let output = format!(
        "\u{1b}[31m{evil}\u{1b}]8;;javascript:alert(1)\u{7}x\u{1b}[0m\n```\n````\n</details>"
    );
    let command = format!("echo {evil}\n</summary>");
    let mut lines = session(
        "s",
        [&format!("{evil}\n</blockquote>"), &prose, &command, &output],
    );
    lines = lines
        .replace("claude-sonnet-4-5", "m<script>")
        .replace("\"Bash\"", &json!(format!("Tool{evil}")).to_string());
    let title = json!({ "type": "ai-title", "aiTitle": format!("title {evil}"), "sessionId": "s" });
    let key = json!({ "type": "user", "uuid": format!("k {evil}"), "parentUuid": "ccc", "sessionId": "s", "timestamp": "2026-02-03T10:01:00Z",
        "cwd": evil, "version": evil, "gitBranch": evil,
        "message": { "role": "user", "content": [ { "type": "text", "text": evil },
            { "type": "image", "source": { "type": "base64", "media_type": evil, "data": "AAAA" } } ] } });
    let edit = json!({ "type": "assistant", "uuid": "e", "parentUuid": format!("k {evil}"), "sessionId": "s", "timestamp": "2026-02-03T10:01:10Z",
        "message": { "id": "m2", "role": "assistant", "model": "x", "content": [ { "type": "tool_use", "id": evil, "name": "Edit",
            "input": { "file_path": format!("/{evil}.html"), "old_string": evil, "new_string": format!("{evil}\n{evil}") } } ] } });
    let strange = json!({ "type": evil, "content": evil, "sessionId": "s", "timestamp": "2026-02-03T10:01:20Z" });
    format!("{lines}{title}\n{key}\n{edit}\n{strange}\n")
}

#[test]
fn nothing_of_a_transcript_is_markup_of_a_page() {
    let home = home();
    let mut pages = vec![place(home.path(), &id(1), &hostile())];
    pages.extend(
        [
            "claude-code/busy.jsonl",
            "codex/rollout-2026-03-02T10-00-00-019cadc6-9a80-7000-8000-0000000000e1.jsonl",
            "pi/branches.jsonl",
        ]
        .map(|name| fixtures::root().join(name)),
    );
    let tag = regex::Regex::new(r#"^<(?:!doctype html|/?[a-z]+[0-9]?(?: [A-Za-z]+(?:-[a-z]+)*="[^"<>]*"| open| checked)*/?)>$"#)
        .unwrap();
    for path in &pages {
        let page = exported(home.path(), &["--to", "html", path.to_str().unwrap()]);
        assert!(page.ends_with("</html>\n"));
        let mut targets = Vec::new();
        let script = include_str!("../../assets/export/page.js");
        let script = format!("<script>{script}</script>");
        assert_eq!(page.matches(&script).count(), 1);
        for part in page.replace(&script, "").split('<').skip(1) {
            let (inner, _) = part.split_once('>').unwrap();
            let markup = format!("<{inner}>");
            assert!(tag.is_match(&markup), "{markup}");
            let name = inner
                .trim_start_matches('/')
                .split([' ', '>'])
                .next()
                .unwrap();
            assert!(
                !["script", "iframe", "object", "form", "link", "base"].contains(&name),
                "{markup}"
            );
            if name == "img" {
                assert!(
                    markup.starts_with("<img loading=\"lazy\" alt=\"\" src=\"data:image/"),
                    "{markup}"
                );
            }
            for attribute in inner
                .split('"')
                .next()
                .into_iter()
                .chain(inner.split("\" ").skip(1))
            {
                assert!(
                    !attribute.trim_start_matches(name).trim().starts_with("on"),
                    "{markup}"
                );
            }
            if let Some((_, address)) = inner.split_once("href=\"") {
                let address = address.split('"').next().unwrap();
                let is_page = ["https://", "http://", "mailto:"]
                    .iter()
                    .any(|scheme| address.starts_with(scheme));
                assert!(is_page || address.starts_with('#'), "{markup}");
                targets.extend(address.strip_prefix('#').map(str::to_owned));
            }
        }
        assert!(!targets.is_empty());
        for target in targets {
            let mut key = Vec::new();
            let mut bytes = target.bytes();
            while let Some(byte) = bytes.next() {
                if byte != b'%' {
                    key.push(byte);
                    continue;
                }
                let hex: Vec<u8> = bytes.by_ref().take(2).collect();
                let hex = std::str::from_utf8(&hex).unwrap();
                key.push(u8::from_str_radix(hex, 16).unwrap());
            }
            let key = String::from_utf8(key).unwrap();
            let key = key
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
                .replace('"', "&quot;")
                .replace('\'', "&#39;");
            assert!(page.contains(&format!("id=\"{key}\"")), "{key}");
        }
        let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
        assert!(page.contains(policy));
    }
}

#[test]
fn nothing_of_a_transcript_is_markup_of_markdown() {
    use pulldown_cmark::{Event, Options, Parser};
    let home = home();
    let path = place(home.path(), &id(1), &hostile());
    let page = exported(home.path(), &["--to", "md", path.to_str().unwrap()]);
    let own = regex::Regex::new(r"^(?s)(?:</?(?:details|summary|code|sub|b)>|[^<])*$").unwrap();
    let (mut opened, mut closed) = (0, 0);
    for event in Parser::new_ext(&page, Options::ENABLE_TABLES) {
        if let Event::Html(html) | Event::InlineHtml(html) = event {
            assert!(own.is_match(&html), "{html}");
            opened += html.matches("<details>").count();
            closed += html.matches("</details>").count();
        }
    }
    assert!(
        opened >= 2 && opened == closed,
        "{opened} folds, {closed} ends:\n{page}"
    );
}

#[test]
fn what_is_for_people_is_masked_and_says_so() {
    let home = home();
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let content = session(&id(1), [&format!("use {token}"), "answer", "ls", token]);
    let path = place(home.path(), &id(1), &content);
    let path = path.to_str().unwrap();
    for (form, arguments, is_masked) in [
        ("html", vec![], true),
        ("md", vec![], true),
        ("html", vec!["--no-redact"], false),
        ("jsonl", vec![], false),
        ("jsonl", vec!["--redact"], true),
        ("atif", vec![], false),
        ("otlp", vec!["--redact"], true),
    ] {
        let all = [vec!["export", "--to", form, path], arguments].concat();
        let output = tv(home.path(), &all);
        let (page, said) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        );
        assert_eq!(page.contains(token), !is_masked, "{all:?}");
        assert_eq!(
            said.contains("1 key or token masked"),
            is_masked,
            "{all:?}: {said}"
        );
        assert_eq!(
            said.contains("are not masked"),
            !is_masked,
            "{all:?}: {said}"
        );
    }
    let page = exported(home.path(), &["--to", "html", path]);
    let places = page.matches("[masked]").count();
    assert!(
        page.contains(&format!("masked: in {places} places")),
        "{places}"
    );
}

#[test]
fn several_pages_need_a_folder() {
    let home = home();
    for number in 0..2 {
        place(
            home.path(),
            &id(number),
            &session(&id(number), ["ask", "answer", "ls", "a"]),
        );
    }
    let output = tv(home.path(), &["export", "--to", "html"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("-o FOLDER/")
    );
    exported(home.path(), &["--to", "html", "-o", "pages"]);
    assert!(home.path().join(format!("pages/{}.html", id(1))).is_file());
    exported(home.path(), &["--to", "md", &id(0), "-o", "one.md"]);
    assert!(
        fs::read_to_string(home.path().join("one.md"))
            .unwrap()
            .contains("ask")
    );
}

/// Sessions of the corpus whose exports once came back with other counts: calls that share an id or
/// whose ids are taken out, and a run that counts less than its requests.
const ONCE_WRONG: [&str; 5] = [
    "252d6b6b_events.jsonl",
    "marshmallow-code__marshmallow-1867.traj",
    "export_ac__0b718eb874__0.json",
    "export_ac__0b718eb874__1.json",
    "export_37__364f83fa16__0.json",
];

/// Figures that must be the same when an export is read again. Not among them: how many requests
/// there were, because ATIF has no place for one without an entry, and whether the output is a
/// lower bound, for which no form has a name.
const PAIRING: [&str; 14] = [
    "calls",
    "results",
    "paired",
    "failed",
    "refused",
    "stopped",
    "running",
    "without_end",
    "undelivered",
    "pending",
    "orphan_calls",
    "orphan_results",
    "duplicate_results",
    "textual_calls",
];
const USAGE: [&str; 5] = ["input", "output", "cache_read", "cache_write", "reasoning"];

/// Why a figure cannot be the same, if that is so.
fn unheld(form: &str, class: &str, first: &Value, again: &Value) -> Option<&'static str> {
    let count = |figures: &Value, class: &str| figures["pairing"][class].as_u64().unwrap_or(0);
    let less = |class: &str| count(first, class).saturating_sub(count(again, class));
    let of_strays = ["results", "failed", "refused", "stopped"];
    match (form, class) {
        (_, "undelivered") => Some("neither form says whether an agent was told how work ended"),
        ("otlp", "duplicate_results") => Some("a call has one span, with one result"),
        // It stands among the inputs of the next request.
        ("otlp", "orphan_results") => Some("a result without its call behind the last answer"),
        ("otlp", class) if of_strays.contains(&class) => {
            let lost = less("orphan_results") + less("duplicate_results");
            (1..=lost)
                .contains(&less(class))
                .then_some("it was of one of these results")
        }
        (_, class) if first["usage"][class] == 0 && again["usage"][class].is_null() => {
            Some("a sum of 0 that no request has")
        }
        _ => None,
    }
}

/// The figures of sessions, by `tv stats`.
fn stats(home: &Path, paths: &[String]) -> Vec<Value> {
    let mut arguments = vec!["stats", "--json"];
    arguments.extend(paths.iter().map(String::as_str));
    let output = tv(home, &arguments);
    objects(&String::from_utf8(output.stdout).unwrap())
}

/// Exports the sessions of some files and reads the exports. Returns how many exports there were,
/// and for what they could not hold the reasons.
fn read_again(files: &[PathBuf]) -> (usize, Vec<&'static str>) {
    let home = home();
    let (mut first, mut exports) = (Vec::new(), Vec::new());
    for path in files {
        let sessions = stats(home.path(), &[path.to_str().unwrap().to_owned()]);
        let several = sessions.len() > 1;
        for figures in sessions {
            let mut address = path.to_str().unwrap().to_owned();
            if several {
                address = format!("{address}#{}", figures["session"]["id"].as_str().unwrap());
            }
            for (form, extension) in [("atif", "json"), ("otlp", "jsonl")] {
                let to = home.path().join(format!("{}.{extension}", exports.len()));
                let to_path = to.to_str().unwrap();
                tv(
                    home.path(),
                    &["export", "--to", form, &address, "-o", to_path],
                );
                let Ok(file) = fs::OpenOptions::new().append(true).open(&to) else {
                    continue;
                };
                // A session is over when its file is old.
                let written = fs::metadata(path).unwrap().modified().unwrap();
                file.set_modified(written).unwrap();
                exports.push(to_path.to_owned());
                first.push((form, address.clone(), figures.clone()));
            }
        }
    }
    let mut reasons = Vec::new();
    let again = stats(home.path(), &exports);
    assert_eq!(again.len(), first.len());
    for ((form, address, first), again) in first.iter().zip(again) {
        let pairing = PAIRING.iter().map(|class| ("pairing", class));
        let usage = USAGE.iter().map(|class| ("usage", class));
        for (part, class) in pairing.chain(usage) {
            let (is, was) = (&again[part][class], &first[part][class]);
            if is != was {
                let reason = unheld(form, class, first, &again);
                reasons.push(reason.unwrap_or_else(|| {
                    panic!("{address}: {form} {class}: {was} is read again as {is}")
                }));
            }
        }
    }
    (first.len(), reasons)
}

#[test]
fn what_is_read_again_has_the_same_calls_pairing_and_tokens() {
    let mut files = Vec::new();
    for corpus in corpus::corpora() {
        let is_chosen = |at: usize, path: &Path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            corpus.is_ours()
                || at.is_multiple_of(10)
                || ONCE_WRONG.iter().any(|end| name.ends_with(end))
        };
        let all = corpus.files().into_iter().enumerate();
        files.extend(all.filter_map(|(at, path)| is_chosen(at, &path).then_some(path)));
    }
    // Long files stand beside each other.
    let threads = 4;
    let parts = (0..threads).map(|part| {
        let part = files.iter().skip(part).step_by(threads);
        let part: Vec<PathBuf> = part.cloned().collect();
        std::thread::spawn(move || read_again(&part))
    });
    let parts: Vec<_> = parts.collect();
    let parts: Vec<_> = parts.into_iter().map(|part| part.join().unwrap()).collect();
    let exports: usize = parts.iter().map(|(exports, _)| exports).sum();
    assert!(exports > 500, "{exports}");
    let reasons: BTreeSet<&str> = parts.into_iter().flat_map(|(_, reasons)| reasons).collect();
    let least = 4;
    assert!(reasons.len() >= least, "what is held by now: {reasons:?}");
}

#[test]
fn one_turn_can_be_exported() {
    let home = home();
    let more = |id: &str, number: usize| {
        let session = session(id, [&format!("prompt {number}"), "answer", "true", "ok"]);
        ["\"a\"", "\"bb\"", "\"ccc\"", "\"m\"", "\"toolu_1\""]
            .iter()
            .fold(session, |session, key| {
                session.replace(key, &format!("{}{number}\"", &key[..key.len() - 1]))
            })
    };
    let content: String = (1..4).map(|number| more(&id(1), number)).collect();
    let path = place(home.path(), &id(1), &content);
    let path = path.to_str().unwrap();
    for form in ["html", "md"] {
        let by_number = exported(home.path(), &["--to", form, "--turn", "2", path]);
        assert!(by_number.contains("turn 2 of 3"), "{by_number}");
        assert!(by_number.contains("prompt 2") && !by_number.contains("prompt 3"));
        let by_key = exported(home.path(), &["--to", form, "--turn", "a2", path]);
        assert_eq!(by_key, by_number);
        let entries = ["--to", form, "--entry", "a3", "--entry", "m1", path];
        let entries = exported(home.path(), &entries);
        assert!(entries.contains("2 of "), "{entries}");
        assert!(entries.contains("prompt 3") && !entries.contains("prompt 2"));
        assert_eq!(entries.matches("answer").count(), 1, "{entries}");
    }
    for wrong in [["html", "4"], ["html", "nobody"], ["jsonl", "1"]] {
        let output = tv(
            home.path(),
            &["export", "--to", wrong[0], "--turn", wrong[1], path],
        );
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(output.stdout.is_empty());
    }
}

/// A file system of 300 KB, until it is dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = home();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=300k", "tmpfs"])
            .arg(folder.path())
            .output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        say("no file system can be mounted: an export to a full disk is not tested");
        None
    }

    fn grow(&self) {
        let mut mount = Command::new("mount");
        mount.args(["-o", "remount,size=20m"]).arg(self.0.path());
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn an_export_to_a_full_disk_says_so_and_is_gone_on_with() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let home = home();
    let long = "word ".repeat(4_000);
    for number in 0..30 {
        place(
            home.path(),
            &id(number),
            &session(&id(number), ["Go", &long, "ls", "a"]),
        );
    }
    let out = disk.0.path().join("out");
    let arguments = ["export", "--to", "md", "-o", out.to_str().unwrap()];
    let run = || {
        let output = tv(home.path(), &arguments);
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let names = || -> Vec<String> {
        let entries = fs::read_dir(&out).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != ".tv-export").collect()
    };
    // Nothing is lost by a second try.
    for _ in 0..2 {
        let (code, error) = run();
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains("No space left"), "{error}");
    }
    // No part of a page is left over.
    let is_page = |name: &String| name.strip_suffix(".md").is_some_and(|id| id.len() == 36);
    let first = names();
    assert!(first.len() < 30 && first.iter().all(is_page), "{first:?}");
    let is_whole = |name: &&String| {
        let text = fs::read_to_string(out.join(name)).unwrap();
        text.len() > long.len()
    };
    let whole = first.iter().filter(is_whole).count();
    assert_eq!((whole > 3, whole), (true, first.len()));
    disk.grow();
    // The journal was cut within a letter.
    let mut journal = fs::OpenOptions::new()
        .append(true)
        .open(out.join(".tv-export"))
        .unwrap();
    journal
        .write_all(b"{\"form\":\"md\",\"place\":\"/\xc3")
        .unwrap();
    let (code, error) = run();
    assert_eq!(code, Some(0), "{error}");
    let left = 30 - whole;
    assert!(
        error.contains(&format!(
            "{left} sessions written, {whole} lay there already"
        )),
        "{error}"
    );
    assert_eq!(names().iter().filter(is_whole).count(), 30);
}

#[test]
fn sessions_may_grow_and_vanish_meanwhile() {
    let home = home();
    let words = ["one", "two", "true", "ok"];
    let paths: Vec<PathBuf> = (0..120)
        .map(|number| place(home.path(), &id(number), &session(&id(number), words)))
        .collect();
    let grows = paths.first().unwrap().clone();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let to = home.path().join("rows");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use std::io::Write;
            let mut file = fs::OpenOptions::new().append(true).open(&grows).unwrap();
            let mut number = 0;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                number += 1;
                let key = format!("k{number}");
                let prompt =
                    json!({ "type": "user", "message": { "role": "user", "content": key } });
                let line = line(&key, &prompt).replace("\"s\"", &json!(id(0)).to_string());
                // Half lines, too, and not faster than they can be read.
                for half in [&line[..9], &line[9..]] {
                    file.write_all(half.as_bytes()).unwrap();
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        scope.spawn(|| {
            for path in paths.iter().skip(60) {
                fs::remove_file(path).unwrap();
                std::thread::yield_now();
            }
        });
        let exports =
            [(); 3].map(|()| tv(home.path(), &["export", "--to", "jsonl", "-o", "rows/"]));
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        for output in exports {
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{error}");
        }
    });
    tv(home.path(), &["export", "--to", "jsonl", "-o", "rows/"]);
    for file in fs::read_dir(&to).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(path.extension().is_none_or(|kind| kind != "part"), "{name}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{name}");
        objects(&text);
    }
    for number in 0..60 {
        let rows = fs::read_to_string(to.join(format!("{}.sessions.jsonl", id(number)))).unwrap();
        let stats = tv(
            home.path(),
            &["stats", "--json", paths[number as usize].to_str().unwrap()],
        );
        let figures = objects(&String::from_utf8(stats.stdout).unwrap());
        assert_eq!(objects(&rows)[0]["entries"], figures[0]["entries"]);
    }
}
