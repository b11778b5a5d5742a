//! Tests of the files around an OpenClaw session: index, lock, archives, sessions of sub-agents.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tempfile::TempDir;
use tv::ingest::find::{self, DiscoveryQuery, Environment};
use tv::ingest::{Target, WatchMode};
use tv::model::edit::LinkState;
use tv::model::entry::{BlockKind, Entry, Role};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::transcript::Transcript;

use crate::corpus::corpora;
#[cfg(feature = "sqlite")]
use crate::databases::{Writer, tables_of};
use crate::fixtures::{self, ReadSession};
use crate::follow::Followed;

const WINDOWS: &str = "agent:main:subagent:0a0a0a0a-0000-4000-8000-00000000000a";
const ROOF: &str = "agent:main:subagent:0b0b0b0b-0000-4000-8000-00000000000b";
const PANES: &str = "agent:main:subagent:d3000000-0000-4000-8000-000000000003";

fn fixture(name: &str) -> PathBuf {
    fixtures::root().join("openclaw").join(name)
}

fn read(path: &Path) -> ReadSession {
    fixtures::read(&Target {
        path: path.to_owned(),
        session: None,
    })
}

fn pack(path: &Path) -> Vec<u8> {
    compress_to_vec(
        fs::read(path).unwrap().as_slice(),
        CompressionLevel::Fastest,
    )
}

/// The sessions of an agent in a folder of their own.
fn agent() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let sessions = dir.path().join("agents/main/sessions");
    fs::create_dir_all(&sessions).unwrap();
    for name in [
        "spawner.jsonl",
        "sessions.json",
        "d2000000-0000-4000-8000-000000000002.jsonl",
    ] {
        fs::copy(fixture(name), sessions.join(name)).unwrap();
    }
    (dir, sessions)
}

fn in_lane<'t>(transcript: &'t Transcript, lane: &str) -> Vec<&'t Entry> {
    transcript
        .entries()
        .filter(|entry| entry.lane.as_deref() == Some(lane))
        .collect()
}

fn said(entries: &[&Entry]) -> Vec<String> {
    let blocks = entries.iter().flat_map(|entry| &entry.blocks);
    blocks
        .filter_map(|block| match &block.kind {
            BlockKind::Text(body) => Some(body.stub.to_string()),
            BlockKind::Break(line) => Some(line.words().to_string()),
            _ => None,
        })
        .collect()
}

#[test]
fn sessions_of_sub_agents_are_lanes_of_their_calls() {
    let session = read(&fixture("spawner.jsonl"));
    let transcript = &session.transcript;
    let calls: HashMap<&str, &str> = transcript
        .lanes()
        .iter()
        .map(|lane| (lane.name.as_str(), lane.call.as_ref().unwrap().as_str()))
        .collect();
    let of_windows = format!("{WINDOWS}/call_7");
    assert_eq!(
        calls,
        HashMap::from([
            (WINDOWS, "call_1"),
            (ROOF, "call_2"),
            (PANES, of_windows.as_str())
        ])
    );
    let labels: Vec<&str> = transcript
        .lanes()
        .iter()
        .map(|lane| lane.label.as_str())
        .collect();
    assert_eq!(labels, ["windows", "Look at the roof.", "Count the panes."]);
    let words = said(&in_lane(transcript, WINDOWS));
    assert_eq!(
        words.len(),
        3,
        "the copied history is shown once: {words:?}"
    );
    assert_eq!(
        words[1..],
        ["Look at the windows.", "All windows are closed."]
    );
    assert_eq!(
        said(&in_lane(transcript, PANES)),
        ["Count the panes.", "Eleven."]
    );
    assert_eq!(
        said(&in_lane(transcript, ROOF)),
        ["the session of this sub-agent is not here"]
    );
    let sum = transcript.totals().sum();
    assert_eq!((sum.requests, sum.recorded_nanos), (7, 6_100_000));
    assert_eq!(transcript.turns().len(), 1, "an announcement is no prompt");
    assert_eq!(transcript.tally().faulty, 0);
}

/// A link to the session, to its folder, or to that of its agent leads to its sub-agents, too: those of its own agent lie
/// beside it, those of another one beside that.
#[test]
fn sub_agents_are_found_behind_links() {
    let (dir, sessions) = agent();
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let link = |to: &Path, name: &str| {
        let link = elsewhere.join(name);
        std::os::unix::fs::symlink(to, &link).unwrap();
        link
    };
    let own = sessions.join("spawner.jsonl");
    let paths = [
        own.clone(),
        link(&own, "one.jsonl"),
        link(&sessions, "folder").join("spawner.jsonl"),
        link(sessions.parent().unwrap(), "agent").join("sessions/spawner.jsonl"),
        link(dir.path(), "home").join("agents/main/sessions/spawner.jsonl"),
    ];
    let words = paths.map(|path| said(&in_lane(&read(&path).transcript, WINDOWS)));
    assert!(words[0].len() > 1, "{words:?}");
    assert!(words.iter().all(|said| *said == words[0]), "{words:?}");
}

#[test]
fn the_index_says_what_a_session_is() {
    let meta = read(&fixture("spawner.jsonl")).transcript.meta().clone();
    assert_eq!(meta.title().map(Text::as_str), Some("telegram:home"));
    assert_eq!(
        meta.fact("session key").map(Text::as_str),
        Some("agent:main:telegram:group:-100")
    );
    assert_eq!(
        (meta.window, meta.agent.as_deref()),
        (Some(200_000), Some("main"))
    );
    let child = read(&fixture("d2000000-0000-4000-8000-000000000002.jsonl"))
        .transcript
        .meta()
        .clone();
    assert_eq!(
        child.fact("spawned by").map(Text::as_str),
        Some("agent:main:telegram:group:-100")
    );
}

#[test]
fn the_index_by_itself_is_a_list_of_sessions() {
    let transcript = read(&fixture("sessions.json")).transcript;
    let rows: Vec<&Entry> = transcript.entries().collect();
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row.role == Role::Harness && row.blocks.len() == 1)
    );
    assert!(
        rows.windows(2).all(|pair| pair[0].at >= pair[1].at),
        "newest first"
    );
    let BlockKind::Raw(main) = &rows[2].blocks[0].kind else {
        panic!("a row")
    };
    assert_eq!(main.title.as_str(), "agent:main:main");
    assert!(main.body.stub.contains("5223 of 200000 tokens") && main.body.stub.contains("Ann"));
    let kept = format!("{:?}", main.body.tree());
    assert!(kept.contains("deliveryContext") && !kept.contains("skillsSnapshot"));
}

#[test]
fn archives_have_ended_and_say_why() {
    for (name, archived) in [
        (
            "d4000000-0000-4000-8000-000000000004.jsonl.reset.2026-06-27T03-21-20.768Z",
            "reset 2026-06-27 03:21Z",
        ),
        (
            "d3000000-0000-4000-8000-000000000003.jsonl.deleted.1773046800",
            "deleted 2026-03-09 09:00Z",
        ),
        (
            "d5000000-0000-4000-8000-000000000005.checkpoint.0f0f0f0f-0000-4000-8000-00000000000f.jsonl",
            "a copy made before a compaction",
        ),
    ] {
        let session = read(&fixture(name));
        assert_eq!(session.opened.format, "openclaw", "{name}");
        let meta = session.transcript.meta();
        assert_eq!(
            (meta.fact("archived").map(Text::as_str), meta.live),
            (Some(archived), Some(false))
        );
    }
    assert_eq!(
        read(&fixture("running.jsonl")).transcript.meta().live,
        Some(true),
        "its lock is there"
    );
}

#[test]
fn a_compressed_archive_reads_like_its_text() {
    let dir = tempfile::tempdir().unwrap();
    let name = "d4000000-0000-4000-8000-000000000004.jsonl.reset.2026-06-27T03-21-20.768Z";
    let path = dir.path().join(format!("{name}.zst"));
    fs::write(&path, pack(&fixture(name))).unwrap();
    let (plain, packed) = (read(&fixture(name)), read(&path));
    let words = |session: &ReadSession| said(&session.transcript.entries().collect::<Vec<_>>());
    assert_eq!(words(&packed), words(&plain));
    assert!(
        packed.opened.reason.ends_with("decompressed from zstd"),
        "{}",
        packed.opened.reason
    );
    assert_eq!(packed.transcript.meta().live, Some(false));
    let bytes = [pack(&fixture(name)), pack(&fixture("spawner.jsonl"))].concat();
    fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
    let cut = read(&path).transcript;
    assert_eq!(
        cut.order().len(),
        plain.transcript.order().len(),
        "what came is shown"
    );
    let is_reported = cut
        .notices()
        .iter()
        .any(|notice| notice.what.contains("the zstd archive breaks off"));
    assert!(is_reported, "{:?}", cut.notices());
}

#[test]
fn the_archive_of_a_sub_agent_may_be_compressed() {
    let (_dir, sessions) = agent();
    let archive = fixture("d3000000-0000-4000-8000-000000000003.jsonl.deleted.1773046800");
    let name = "d3000000-0000-4000-8000-000000000003.jsonl.deleted.1773046800.zst";
    fs::write(sessions.join(name), pack(&archive)).unwrap();
    let transcript = read(&sessions.join("spawner.jsonl")).transcript;
    assert_eq!(
        said(&in_lane(&transcript, PANES)),
        ["Count the panes.", "Eleven."]
    );
}

#[test]
fn a_session_that_is_put_aside_stays_until_a_new_one_begins() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (_dir, sessions) = agent();
        let path = sessions.join("spawner.jsonl");
        let mut followed = Followed::start(&path, mode);
        let before = followed.whole.order().len();
        let name = "spawner.jsonl.reset.2026-03-09T09-00-00.000Z";
        fs::rename(&path, sessions.join(name)).unwrap();
        let archived = LinkState::Archived(Text::from(name));
        followed.until("archived", |followed| followed.links.contains(&archived));
        assert_eq!(followed.whole.order().len(), before, "what was shown stays");
        fs::copy(fixture("running.jsonl"), &path).unwrap();
        followed.until("followed anew", |followed| {
            followed.whole.meta().id.as_deref() == Some("d6000000-0000-4000-8000-000000000006")
                && in_lane(&followed.whole, WINDOWS).is_empty()
        });
        followed.end();
    }
}

#[test]
fn a_lock_comes_and_goes() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let (_dir, sessions) = agent();
        let lock = sessions.join("spawner.jsonl.lock");
        let mut followed = Followed::start(&sessions.join("spawner.jsonl"), mode);
        for _ in 0..2 {
            assert_eq!(followed.whole.meta().live, None);
            fs::copy(fixture("running.jsonl.lock"), &lock).unwrap();
            followed.until("live", |followed| followed.whole.meta().live == Some(true));
            fs::remove_file(&lock).unwrap();
            followed.until("not live", |followed| followed.whole.meta().live.is_none());
        }
        followed.end();
    }
}

#[test]
fn a_sub_agent_whose_file_appears_late_is_shown() {
    let (_dir, sessions) = agent();
    let mut followed = Followed::start(&sessions.join("spawner.jsonl"), WatchMode::Native);
    assert_eq!(
        said(&in_lane(&followed.whole, PANES)),
        ["the session of this sub-agent is not here"]
    );
    let archive = fixture("d3000000-0000-4000-8000-000000000003.jsonl.deleted.1773046800");
    fs::copy(
        archive,
        sessions.join("d3000000-0000-4000-8000-000000000003.jsonl"),
    )
    .unwrap();
    followed.until("shown", |followed| {
        said(&in_lane(&followed.whole, PANES)) == ["Count the panes.", "Eleven."]
    });
    followed.end();
}

/// A session in a database may stand in a file as well, which the gateway goes on writing: it is one session, nothing of it
/// counts twice, and nothing is lost that only one of them has.
#[cfg(feature = "sqlite")]
#[test]
fn a_session_in_a_database_and_a_file_is_one() {
    let line = |n: i64| {
        match n {
        0 => r#"{"type":"session","version":3,"id":"s","timestamp":"2026-09-20T10:00:00.000Z","cwd":"/w"}"#
            .to_owned(),
        n => format!(
            r#"{{"type":"message","id":"e{n}","parentId":{},"timestamp":"2026-09-20T10:00:{n:02}.000Z","message":{}}}"#,
            if n == 1 { "null".to_owned() } else { format!("\"e{}\"", n - 1) },
            if n % 2 == 1 {
                format!(r#"{{"role":"user","content":"message {n}","timestamp":{n}}}"#)
            } else {
                format!(
                    r#"{{"role":"assistant","content":[{{"type":"text","text":"message {n}"}}],"provider":"p","model":"m","stopReason":"stop","timestamp":{n},"usage":{{"input":10,"output":{n},"cacheRead":0,"cacheWrite":0,"totalTokens":1,"cost":{{"total":0.01}}}}}}"#
                )
            }
        ),
    }
    };
    let lines = |numbers: std::ops::Range<i64>| numbers.map(|n| line(n) + "\n").collect::<String>();
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let home = tempfile::tempdir().unwrap();
        let agent = home.path().join(".openclaw/agents/main");
        for folder in ["agent", "sessions"] {
            fs::create_dir_all(agent.join(folder)).unwrap();
        }
        let file = agent.join("sessions/s.jsonl");
        let database = agent.join("agent/openclaw-agent.sqlite");
        let writer = Writer::open(&database);
        writer.run(&tables_of(&fixture("openclaw-agent.sql")));
        let add = |n: i64| {
            let sql = "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES ('s', ?1, ?2, 0)";
            writer
                .connection
                .execute(sql, rusqlite::params![n, line(n)])
                .unwrap();
        };
        (0..1).chain(3..8).for_each(add);
        fs::write(&file, lines(0..6)).unwrap();

        let environment = Environment {
            home: Some(home.path().to_owned()),
            ..Environment::default()
        };
        let search = DiscoveryQuery {
            environment,
            ..DiscoveryQuery::default()
        };
        let found: Vec<_> = find::sessions(&search, Timestamp(0))
            .map(Result::unwrap)
            .collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (&found[0].path, found[0].title.as_ref().map(Text::as_str)),
            (&database, Some("message 1"))
        );

        let target = Target {
            path: database.clone(),
            session: Some("s".to_owned()),
        };
        let words = |count: i64| {
            (1..count)
                .map(|n| format!("message {n}"))
                .collect::<Vec<_>>()
        };
        let session = fixtures::read(&target);
        let transcript = &session.transcript;
        assert_eq!(said(&transcript.entries().collect::<Vec<_>>()), words(8));
        assert_eq!(
            transcript.meta().title().map(Text::as_str),
            Some("message 1")
        );
        let (sum, tally) = (transcript.totals().sum(), transcript.tally());
        assert_eq!(
            (sum.requests, sum.output.total, sum.recorded_nanos),
            (3, 12, 30_000_000)
        );
        assert_eq!((tally.records(), tally.faulty, tally.merged), (12, 0, 5));

        let mut followed = Followed::of(fixtures::open(&target), mode);
        followed.until("caught up", |followed| followed.is_caught_up);
        let heard = |followed: &mut Followed| said(&followed.whole.entries().collect::<Vec<_>>());
        assert_eq!(heard(&mut followed), words(8));
        fs::write(&file, lines(0..9)).unwrap();
        followed.until("a line", |followed| heard(followed) == words(9));
        (8..10).for_each(add);
        followed.until("a row", |followed| heard(followed) == words(10));
        assert_eq!(followed.whole.totals().sum().requests, 4);
        followed.end();
    }
}

#[test]
fn no_word_of_a_real_prompt_is_lost() {
    for corpus in corpora() {
        let mut lost = Vec::new();
        let mut prompts = 0;
        for path in &corpus.of(&["openclaw", "pi"]) {
            let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
            let is_lines = path
                .extension()
                .is_none_or(|e| e != "sqlite" && e != "lock");
            if !is_lines {
                continue;
            }
            let shown = shown_words(&read(path).transcript);
            for line in text
                .lines()
                .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            {
                let message = &line["message"];
                if message["role"] != "user" {
                    continue;
                }
                prompts += 1;
                let content = &message["content"];
                let texts: Vec<&str> = content
                    .as_str()
                    .into_iter()
                    .chain(
                        content
                            .as_array()
                            .into_iter()
                            .flatten()
                            .filter_map(|block| block["text"].as_str()),
                    )
                    .collect();
                let words = texts
                    .iter()
                    .flat_map(|text| words_of(text))
                    .collect::<Vec<_>>();
                let missing = words
                    .iter()
                    .filter(|word| !shown.contains(*word) && !word.starts_with("message_id"))
                    .count();
                // The id of a message without other facts is all that may go.
                let ids = texts
                    .iter()
                    .filter(|text| text.contains("[message_id: "))
                    .count();
                if missing > ids {
                    lost.push((path.clone(), missing));
                }
            }
        }
        assert!(prompts > corpus.least(10, 50), "{prompts} prompts");
        // Three of ours come with facts about their sender as JSON, whose names are shown as words.
        assert!(
            lost.len() <= if corpus.is_ours() { 3 } else { 0 },
            "{lost:?}"
        );
    }
}

fn words_of(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.split(|c: char| !is_part(c))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn shown_words(transcript: &Transcript) -> HashSet<String> {
    let mut words = HashSet::new();
    for block in transcript.entries().flat_map(|entry| &entry.blocks) {
        match &block.kind {
            BlockKind::Text(body) => words.extend(words_of(body.text_or_stub())),
            BlockKind::Raw(raw) => {
                words.extend(words_of(&raw.title));
                words.extend(words_of(raw.body.text_or_stub()));
            }
            _ => {}
        }
    }
    words
}
