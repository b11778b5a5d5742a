//! Tests of detection by content: each real file is recognised by its own format, and by no other.

use std::fs;
use std::path::Path;
use std::process::Command;

use tv::formats::probe::Confidence;
use tv::ingest::Target;

use super::corpus::{Cut, corpora};
use super::fixtures;

/// Formats whose files lie in corpus folders of the same name.
const OURS: [&str; 38] = [
    "amp",
    "antigravity-cli",
    "atif",
    "claude-code",
    "claude-stream-json",
    "cline",
    "codex",
    "codex-exec-json",
    "continue",
    "copilot-cli",
    "crush",
    "cursor",
    "devin",
    "dsh",
    "factory-droid",
    "gemini",
    "goose",
    "grok-cli",
    "hermes",
    "iflow",
    "kimi-cli",
    "kimi-code",
    "kiro",
    "kiro-cli",
    "messages",
    "mini-swe-agent",
    "mistral-vibe",
    "openclaw",
    "opencode",
    "openhands-events",
    "otel-genai",
    "pi",
    "posit-assistant",
    "qwen-code",
    "sharegpt",
    "swe-agent-traj",
    "trae-agent",
    "vscode-copilot-chat",
];

/// Files of our folders that are no sessions: sidecars and what a migration left; databases are recognised
/// apart by their tables (`rows`).
fn is_no_session(name: &str) -> bool {
    [".db", ".vscdb", ".sqlite", "-wal", "-shm", ".md", ".tsv", ".lock", "/migration", ".txt", ".eval"]
        .iter()
        .any(|end| name.ends_with(end))
        || ["project", "todo", "session_diff"].iter().any(|room| name.contains(&format!("/storage/{room}/")))
        || name.contains("trajectory")
        || name.ends_with("sessions.json")
        || name.starts_with("kimi-") && (name.ends_with("state.json") || name.ends_with("context.jsonl"))
        || name.ends_with(".meta.json")
        || name.ends_with("/journal.jsonl")
        || name.strip_suffix(".json").is_some_and(|name| name.contains("/workflows/wf_"))
        // Rows of a database that somebody wrote down in a form of their own.
        || name.starts_with("opencode/ingo-eichhorst__Irrlicht")
}

/// Files of other folders that one of our formats may claim, and why.
fn is_kin(folder: &str, format: &str) -> bool {
    // Roo Code is a fork of Cline and writes the same task files; VS Code runs Copilot's command line;
    // early runs of mini-SWE-agent are bare messages. Others lie in folders of those that they resemble.
    [
        ("roo-code", "cline"),
        ("vscode-copilot-chat", "copilot-cli"),
        ("mini-swe-agent", "messages"),
        ("claude-code", "iflow"),
        ("pi", "dsh"),
        ("other", "dsh"),
        ("other", "posit-assistant"),
    ]
    .contains(&(folder, format))
}

#[test]
fn each_real_file_is_taken_by_its_own_format() {
    for corpus in corpora() {
        let mut wrong = Vec::new();
        let mut seen = 0;
        for path in corpus.files() {
            let name = path
                .strip_prefix(&corpus.folder)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            let Some((folder, _)) = name.split_once('/') else {
                continue;
            };
            // The lint has sessions of several formats; the others are each like that of another agent.
            if is_no_session(&name) || ["lint", "lookalikes"].contains(&folder) {
                continue;
            }
            let Ok(text) = read_head(&path) else { continue };
            let found = Cut::new(&text).detect(&path);
            let format = found.format.name();
            let is_sure = matches!(
                found.verdict.confidence,
                Confidence::Certain | Confidence::Likely
            );
            if found.aside.is_some() {
                continue;
            }
            let is_right = if OURS.contains(&folder) {
                format == folder || is_kin(folder, format) || opened_as(&path) == folder
            } else {
                !is_sure || !OURS.contains(&format) || is_kin(folder, format)
            };
            seen += 1;
            if !is_right {
                wrong.push(format!(
                    "{name}: {format} ({}: {})",
                    found.verdict.confidence.word(),
                    found.verdict.reason
                ));
            }
        }
        assert!(seen > corpus.least(60, 300), "{seen} files");
        assert!(
            wrong.is_empty(),
            "{} of {seen} files:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }
}

#[test]
fn files_that_are_no_sessions_say_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    for (text, words) in [
        (
            r#"{"display":"/usage","timestamp":1,"workspace":"/w"}"#,
            "list of prompts",
        ),
        (
            r#"[{"sessionId":"a","title":"t","dateCreated":"1","workspaceDirectory":"/w"}]"#,
            "list of sessions",
        ),
        (
            "{\n \"autonomyMode\":\"low\",\n \"tokenUsage\":{\"inputTokens\":1}}",
            "settings of a session",
        ),
        (
            r#"{"info":{"id":"a"},"session_summary":"x","num_chat_messages":2}"#,
            "summary of a session",
        ),
        (
            r#"{"session_id":"a","environment":{"working_directory":"/w"},"stats":{}}"#,
            "messages.jsonl beside",
        ),
        (
            "{\"role\":\"_checkpoint\",\"id\":0}\n{\"role\":\"user\",\"content\":\"Hi.\"}\n",
            "wire.jsonl beside",
        ),
        (
            r#"{"version":1,"approval":{"yolo":false},"dynamic_subagents":[]}"#,
            "state of a session of Kimi",
        ),
        (
            r#"{"title":"t","agents":{"main":{}},"workDir":"/w"}"#,
            "state of a session of Kimi",
        ),
        (
            r#"{"session_id":"a","cwd":"/w","session_state":{"version":"v1"}}"#,
            "Kiro's state of a session",
        ),
    ] {
        let path = dir.path().join("beside.json");
        fs::write(&path, text).unwrap();
        let refused = tv::ingest::open(&Target {
            path,
            session: None,
        })
        .err();
        assert!(
            refused
                .as_ref()
                .is_some_and(|error| error.0.contains(words)),
            "{text}: {refused:?}"
        );
    }
}

/// What a file is opened as: of ours, some are printed over several lines, which one look does not take apart.
fn opened_as(path: &Path) -> String {
    let target = Target {
        path: path.to_owned(),
        session: None,
    };
    tv::ingest::open(&target).map_or_else(
        |_| String::new(),
        |session| session.opened.format.to_string(),
    )
}

/// The whole of a file; of large line files the beginning.
fn read_head(path: &Path) -> std::io::Result<String> {
    let bytes = fs::read(path)?;
    if bytes.starts_with(b"SQLite format 3") {
        return Err(std::io::Error::other("a database"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[test]
fn asking_until_one_is_certain_finds_what_asking_all_finds() {
    const WORDS: [&str; 5] = ["no", "need-more", "maybe", "likely", "certain"];
    let rank = |word: &str| WORDS.iter().position(|known| *known == word).unwrap();
    let mut certain = 0;
    for path in fixtures::all() {
        for target in fixtures::targets(&path) {
            let (Ok(opened), Ok(verdicts)) =
                (tv::ingest::open(&target), tv::ingest::verdicts(&target))
            else {
                assert!(
                    tv::ingest::open(&target).is_err() && tv::ingest::verdicts(&target).is_err(),
                    "{target:?}"
                );
                continue;
            };
            let opened = opened.opened;
            let best = verdicts
                .iter()
                .map(|verdict| rank(verdict.confidence))
                .max()
                .unwrap();
            let first = verdicts
                .iter()
                .find(|verdict| rank(verdict.confidence) == best)
                .unwrap();
            let is_empty = opened.reason.as_str().starts_with("the file is empty");
            assert!(
                is_empty || opened.format == first.format,
                "{target:?}: {} and {}",
                opened.format,
                first.format
            );
            certain += usize::from(opened.confidence == "certain");
        }
    }
    assert!(certain > 50, "{certain}");
}

/// Editors that are made from VS Code keep what their extensions write alike, each in a folder of its name.
#[test]
fn every_editor_that_is_made_from_vs_code_is_looked_into() {
    let chat =
        fixtures::root().join("vscode-copilot-chat/0d000000-0000-4000-8000-000000000001.jsonl");
    let task = fixtures::root().join("cline/task");
    for user in [
        ".config/Code/User",
        ".config/Code - Insiders/User",
        ".config/VSCodium/User",
        "Library/Application Support/Code - Insiders/User",
        "Library/Application Support/VSCodium/User",
        "AppData/Roaming/Code/User",
        "AppData/Roaming/VSCodium - Insiders/User",
        ".vscode-server/data/User",
        ".vscode-server-insiders/data/User",
        ".vscodium-server/data/User",
        "portable/user-data/User",
    ] {
        let home = tempfile::tempdir().unwrap();
        let sessions = home
            .path()
            .join(user)
            .join("workspaceStorage/0a1b/chatSessions");
        let empty = home
            .path()
            .join(user)
            .join("globalStorage/emptyWindowChatSessions");
        let tasks = home
            .path()
            .join(user)
            .join("globalStorage/saoudrizwan.claude-dev/tasks/1790000000000");
        for folder in [&sessions, &empty, &tasks] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::copy(
            &chat,
            sessions.join("0d000000-0000-4000-8000-000000000001.jsonl"),
        )
        .unwrap();
        fs::copy(
            &chat,
            empty.join("0d000000-0000-4000-8000-000000000009.jsonl"),
        )
        .unwrap();
        for name in ["ui_messages.json", "api_conversation_history.json"] {
            fs::copy(task.join(name), tasks.join(name)).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command.args(["list", "--json"]).env("HOME", home.path());
        if user.starts_with("portable") {
            command.env("VSCODE_PORTABLE", home.path().join("portable"));
        }
        let list = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let of = |format: &str| list.matches(&format!("\"format\":\"{format}\"")).count();
        assert_eq!(
            (of("vscode-copilot-chat"), of("cline")),
            (2, 1),
            "{user}: {list}"
        );
    }
}

/// A prompt may have a picture in it, and a whole session may stand on one line.
#[test]
fn a_first_record_of_any_length_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for fixture in fixtures::all().iter().filter(|path| path.is_file()) {
        let text = fs::read_to_string(fixture).unwrap();
        let Some(at) = text
            .find('{')
            .filter(|_| text.trim_start().starts_with(['{', '[']))
        else {
            continue;
        };
        let (before, after) = text.split_at(at + 1);
        let comma = if after.trim_start().starts_with('}') {
            ""
        } else {
            ","
        };
        let path = folder.path().join(fixture.file_name().unwrap());
        let padding = |len: usize| format!("\"padding\":\"{}\"", "x".repeat(len));
        // In front of all else of the first record, and behind it; what a document holds may be known by all its members.
        let end = text.get(at..).and_then(|record| {
            let mut values =
                serde_json::Deserializer::from_str(record).into_iter::<serde::de::IgnoredAny>();
            values.next()?.ok()?;
            Some(at + values.byte_offset() - 1)
        });
        let is_line = !comma.is_empty()
            && fixture
                .extension()
                .is_some_and(|extension| extension == "jsonl");
        let behind = end
            .and_then(|end| text.split_at_checked(end))
            .filter(|_| is_line);
        let padded = |len: usize| {
            let front = Some(format!("{before}{}{comma}{after}", padding(len)));
            [
                front,
                behind.map(|(before, after)| format!("{before},{}{after}", padding(len))),
            ]
        };
        let opened = |len: usize| {
            padded(len).map(|text| {
                fs::write(&path, text?).unwrap();
                Some(opened_as(&path))
            })
        };
        let short = opened(1);
        for len in [400_000, 5_000_000] {
            assert_eq!(opened(len), short, "{}: {len}", fixtures::name(fixture));
        }
        fs::remove_file(&path).unwrap();
        seen += 1;
    }
    assert!(seen > 60, "{seen}");
}
