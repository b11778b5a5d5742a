//! Tests of Codex and Kimi sessions on disk: threads over several files, compressed files, titles
//! in separate files, and sessions that grow while they are followed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tempfile::TempDir;
use tv::ingest::find::{self, DiscoveryQuery, Environment};
use tv::ingest::{Target, WatchMode};
use tv::model::edit::LinkState;
use tv::model::entry::{BlockKind, Break, Entry};
use tv::model::timestamp::Timestamp;
use tv::model::transcript::Transcript;

use crate::fixtures::{self, ReadSession, children};
use crate::follow::{Followed, append};

const THREAD: &str = "01a0fbd7-8280-7000-8000-0000000000a1";
const FIRST: &str = "rollout-2026-10-02T11-00-00-01a0fbd7-8280-7000-8000-0000000000a1.jsonl";
const SECOND: &str = "rollout-2026-10-02T11-05-00-01a0fbd7-8280-7000-8000-0000000000a1_01a0fbdc-1660-7000-8000-0000000000a3.jsonl";
const CHILD: &str = "rollout-2026-10-02T11-00-20-01a0fbd7-d0a0-7000-8000-0000000000a2.jsonl";
const PACKED: &str = "rollout-2026-09-20T08-00-00-01a0bd66-6700-7000-8000-0000000000d1.jsonl.zst";

fn fixture(name: &str) -> PathBuf {
    fixtures::root().join("codex").join(name)
}

fn read(path: &Path) -> ReadSession {
    fixtures::read(&Target {
        path: path.to_owned(),
        session: None,
    })
}

/// Codex's own folder, with these rollouts where it puts them.
fn home(rollouts: &[&str]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join(".codex");
    for name in rollouts {
        let folder = home
            .join("sessions")
            .join(name["rollout-".len().."rollout-2026-10-02".len()].replace('-', "/"));
        fs::create_dir_all(&folder).unwrap();
        fs::copy(fixture(name), folder.join(name)).unwrap();
    }
    (dir, home)
}

fn words(entry: &Entry) -> Vec<String> {
    let block = |kind: &BlockKind| match kind {
        BlockKind::Text(body) | BlockKind::Thinking(body) => body.stub.to_string(),
        BlockKind::Call(call) => format!("{} {} {:?}", call.name, call.headline, call.state.word()),
        BlockKind::Break(line) => format!("{line:?}"),
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => {
            format!("{} {}", raw.title, raw.body.stub)
        }
        BlockKind::Image(image) => format!("{:?}", image.bytes),
        BlockKind::Result(stray) => stray.result.body.stub.to_string(),
    };
    entry
        .blocks
        .iter()
        .map(|entry| block(&entry.kind))
        .collect()
}

/// What is said in each lane, in order: which lane comes first depends on when its file was seen.
fn all_words(transcript: &Transcript) -> Vec<(Option<String>, Vec<String>)> {
    let mut all: Vec<_> = transcript
        .entries()
        .map(|entry| (entry.lane.as_ref().map(ToString::to_string), words(entry)))
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn own(transcript: &Transcript) -> Vec<String> {
    transcript
        .entries()
        .filter(|entry| entry.lane.is_none())
        .flat_map(words)
        .collect()
}

#[test]
fn a_thread_over_two_files_is_one_session_everywhere_also_in_a_copy_of_the_folder() {
    let (dir, home) = home(&[FIRST, SECOND]);
    fs::write(
        home.join("session_index.jsonl"),
        format!("{{\"id\":\"{THREAD}\",\"thread_name\":\"The mill\"}}\n"),
    )
    .unwrap();
    let copy = dir.path().join("copy");
    fs::rename(&home, &copy).unwrap();
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let lines = |arguments: &[&str], is_named: bool| -> Vec<serde_json::Value> {
        let mut command = assert_cmd::Command::cargo_bin("tv").unwrap();
        command
            .args(arguments)
            .env("HOME", &elsewhere)
            .env_remove("CODEX_HOME");
        if is_named {
            command.arg(&copy);
        } else {
            command.env("CODEX_HOME", &copy);
        }
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    for is_named in [true, false] {
        let listed: Vec<_> = lines(&["list", "--json"], is_named);
        let rows: Vec<_> = listed
            .iter()
            .map(|row| (row["id"].as_str(), row["title"].as_str()))
            .collect();
        assert_eq!(rows, [(Some(THREAD), Some("The mill"))], "{is_named}");
        let spent = lines(&["usage", "--json", "--by", "session"], is_named);
        let rows: Vec<_> = spent
            .iter()
            .map(|row| (row["session"].as_str(), row["sessions"].as_u64()))
            .collect();
        assert_eq!(rows, [(Some(THREAD), Some(1))], "{is_named}");
        let hits = lines(&["grep", "--json", "mill"], is_named);
        assert!(
            !hits.is_empty() && hits.iter().all(|hit| hit["session"] == THREAD),
            "{is_named}"
        );
    }
}

#[test]
fn a_review_of_an_action_is_in_no_list() {
    let (dir, home) = home(&[FIRST]);
    let folder = home.join("sessions/2026/10/02");
    let review = |name: &str, source: &str| {
        let text = format!(
            "{{\"timestamp\":\"2026-10-02T09:00:00.000Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{name}\",\"cwd\":\"/x\"{source}}}}}\n"
        );
        fs::write(
            folder.join(format!("rollout-2026-10-02T12-00-00-{name}.jsonl")),
            text,
        )
        .unwrap();
    };
    review(
        "01a0fbd7-8280-7000-8000-0000000000c1",
        r#","source":{"subagent":{"other":"guardian"}}"#,
    );
    review(
        "01a0fbd7-8280-7000-8000-0000000000c2",
        r#","source":"vscode","thread_source":"guardian_review""#,
    );
    review(
        "01a0fbd7-8280-7000-8000-0000000000c3",
        r#","source":"vscode","thread_source":"automation""#,
    );
    let environment = Environment {
        home: Some(dir.path().to_owned()),
        ..Environment::default()
    };
    let found = find::sessions(
        &DiscoveryQuery {
            environment,
            ..DiscoveryQuery::default()
        },
        Timestamp(0),
    )
    .map(Result::unwrap);
    let mut ids: Vec<String> = found.map(|found| found.id.to_string()).collect();
    ids.sort();
    assert_eq!(ids, [THREAD, "01a0fbd7-8280-7000-8000-0000000000c3"]);
}

#[test]
fn the_first_file_is_found_by_any_way_to_name_the_second() {
    let folder = fixtures::root().join("codex");
    let (_dir, dated) = home(&[FIRST, SECOND]);
    let day = dated.join("sessions/2026/10/02");
    for (here, name) in [
        (folder.as_path(), SECOND.to_owned()),
        (folder.as_path(), format!("./{SECOND}")),
        (day.as_path(), SECOND.to_owned()),
        (dated.as_path(), format!("sessions/2026/10/02/{SECOND}")),
    ] {
        let output = assert_cmd::Command::cargo_bin("tv")
            .unwrap()
            .args(["show", &name])
            .current_dir(here)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("Count the sacks"), "{name}: {text}");
        assert!(!text.contains("which is not here"), "{name}: {text}");
    }
}

#[test]
fn a_thread_over_two_files_is_one_session_without_what_was_taken_back() {
    let (_dir, home) = home(&[FIRST, SECOND]);
    let path = home.join("sessions/2026/10/02").join(SECOND);
    let session = read(&path);
    let transcript = &session.transcript;
    let said = own(transcript);
    let place = |words: &str| said.iter().position(|said| said == words);
    let asked = place("Count the sacks and let somebody check");
    assert!(
        asked.is_some() && asked < place("Sell them instead"),
        "{said:?}"
    );
    let first = own(&read(&fixture(FIRST)).transcript);
    let taken_back = first.iter().filter(|words| !said.contains(words)).count();
    assert!(taken_back > 0 && !first.contains(&"Sell them instead".to_owned()));
    let is_resumed = |entry: &&Entry| {
        entry
            .blocks
            .iter()
            .any(|block| matches!(&block.kind, BlockKind::Break(Break::Resumed(_))))
    };
    assert_eq!(transcript.entries().filter(is_resumed).count(), 1);
    assert_eq!(transcript.tally().records(), 28 + 9);
    assert_eq!(transcript.meta().id.as_deref(), Some(THREAD));
    let spent: u64 = transcript
        .entries()
        .filter(|entry| entry.lane.is_none())
        .filter_map(|entry| Some(entry.usage.as_ref()?.total()))
        .sum();
    assert_eq!(spent, 4685, "the last sum of the thread");
    // Bodies of both files can be read again.
    let mut pager = session.pager;
    for origin in transcript.entries().map(|entry| entry.origin) {
        assert!(pager.bytes(origin).is_some(), "{origin:?}");
    }
}

#[test]
fn a_thread_has_one_row_in_the_list_whatever_files_it_has() {
    let (_dir, home) = home(&[FIRST, SECOND, PACKED]);
    let day = home.join("sessions/2026/10/02");
    let age = |path: &Path, seconds: u64| {
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_790_000_000 + seconds);
        fs::File::options()
            .append(true)
            .open(path)
            .unwrap()
            .set_modified(at)
            .unwrap();
    };
    age(&day.join(FIRST), 0);
    age(&day.join(SECOND), 60);
    // For a moment a rollout and what it is packed to lie beside each other.
    let packed = home.join("sessions/2026/09/20").join(PACKED);
    fs::copy(fixture(FIRST), packed.with_extension("")).unwrap();
    let list = assert_cmd::Command::cargo_bin("tv")
        .unwrap()
        .env("CODEX_HOME", &home)
        .args(["list", "--json"])
        .output();
    let list = String::from_utf8(list.unwrap().stdout).unwrap();
    let rows = |word: &str| {
        list.lines()
            .filter(|line| line.contains(word))
            .collect::<Vec<_>>()
    };
    assert!(
        matches!(rows(THREAD).as_slice(), [one] if one.contains(SECOND)),
        "{list}"
    );
    assert!(
        matches!(rows("2026/09/20").as_slice(), [one] if !one.contains(".zst")),
        "{list}"
    );
}

/// Each file of a thread begins with the records of those before; what was taken back was spent as well.
#[test]
fn requests_of_a_thread_over_two_files_count_once() {
    let (_dir, home) = home(&[FIRST, SECOND]);
    let day = home.join("sessions/2026/10/02");
    for named in [vec![], vec![day.join(FIRST), day.join(SECOND)]] {
        let usage = assert_cmd::Command::cargo_bin("tv")
            .unwrap()
            .env("CODEX_HOME", &home)
            .args(["usage", "--json"])
            .args(named)
            .output();
        let usage = String::from_utf8(usage.unwrap().stdout).unwrap();
        let total: serde_json::Value = serde_json::from_str(usage.lines().last().unwrap()).unwrap();
        let sums = [&total["requests"], &total["usage"]["output"]].map(serde_json::Value::as_u64);
        assert_eq!(sums, [Some(4), Some(185)], "{usage}");
    }
}

#[test]
fn a_thread_whose_beginning_is_elsewhere_says_so() {
    let (_dir, home) = home(&[SECOND]);
    let path = home.join("sessions/2026/10/02").join(SECOND);
    let is_told = |transcript: &Transcript| {
        own(transcript)
            .iter()
            .any(|said| said.contains("goes on from record 28") && said.contains("not here"))
    };
    assert!(is_told(&read(&path).transcript));
    // A file of the name that does not end as it should is another one.
    let text = fs::read_to_string(fixture(FIRST)).unwrap();
    fs::write(
        path.with_file_name(FIRST),
        text.replacen("Count", "Count all", 1),
    )
    .unwrap();
    assert!(is_told(&read(&path).transcript));
}

#[test]
fn a_compressed_rollout_is_a_session_with_the_title_of_the_list() {
    let (_dir, home) = home(&[PACKED]);
    let index = "{\"id\":\"01a0bd66-6700-7000-8000-0000000000d1\",\"thread_name\":\"The quiet wheel\",\"updated_at\":\"2026-09-20T06:10:00Z\"}\n";
    fs::write(home.join("session_index.jsonl"), index).unwrap();
    let path = home.join("sessions/2026/09/20").join(PACKED);
    let session = read(&path);
    assert_eq!(
        (session.opened.format, session.opened.confidence),
        ("codex", "certain")
    );
    let said = own(&session.transcript);
    assert!(
        said.iter().any(|said| said == "The wheel is oiled."),
        "{said:?}"
    );
    assert_eq!(session.transcript.tally().faulty, 0);
    let list = assert_cmd::Command::cargo_bin("tv")
        .unwrap()
        .env("CODEX_HOME", &home)
        .args(["list", "--json"])
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let line = list.lines().find(|line| line.contains("0000000000d1"));
    assert!(
        line.is_some_and(|line| line.contains("The quiet wheel")),
        "{list}"
    );
}

/// The doctor reads all records, and loses none of what it counted when it looks for files beside.
#[test]
fn the_doctor_tells_what_of_a_compressed_rollout_is_shown() {
    let (_dir, home) = home(&[PACKED]);
    let path = home.join("sessions/2026/09/20").join(PACKED);
    let report = assert_cmd::Command::cargo_bin("tv")
        .unwrap()
        .args(["doctor", "--json"])
        .arg(&path)
        .output();
    let report: serde_json::Value = serde_json::from_slice(&report.unwrap().stdout).unwrap();
    assert!(
        report["strings"]["bytes"].as_u64() > Some(0),
        "{}",
        report["strings"]
    );
}

#[test]
fn a_session_that_grows_ends_as_one_that_is_read_whole() {
    for (format, name) in [
        ("codex", FIRST),
        (
            "codex",
            "rollout-2026-03-02T10-00-00-019cadc6-9a80-7000-8000-0000000000e1.jsonl",
        ),
        (
            "codex",
            "rollout-2026-07-28T15-42-00-019fa8f5-f840-7000-8000-0000000000c1.jsonl",
        ),
        ("aider", "aider.chat.history.md"),
        ("kimi-cli", "wire.jsonl"),
        ("kimi-code", "main.jsonl"),
    ] {
        let folder = fixtures::root().join(format);
        let whole = read(&folder.join(name)).transcript;
        for mode in [WatchMode::Native, WatchMode::Poll] {
            let dir = tempfile::tempdir().unwrap();
            for file in children(&folder).into_iter().filter(|file| file.is_file()) {
                fs::copy(&file, dir.path().join(file.file_name().unwrap())).unwrap();
            }
            let path = dir.path().join(name);
            let bytes = fs::read(&path).unwrap();
            let (first, rest) = bytes.split_at(bytes.len() / 3);
            fs::write(&path, first).unwrap();
            let mut followed = Followed::start(&path, mode);
            assert!(followed.whole.tally().records() < whole.tally().records());
            for piece in rest.chunks(rest.len() / 5 + 1) {
                let before = followed.whole.tally().bytes.total();
                append(&path, piece);
                followed.until("grown", |followed| {
                    followed.whole.tally().bytes.total() > before
                });
            }
            followed.until("read", |followed| {
                followed.whole.tally().records() == whole.tally().records()
                    && followed.whole.tally().faulty == whole.tally().faulty
            });
            followed.until(&format!("as {name}"), |followed| {
                all_words(&followed.whole) == all_words(&whole)
            });
            assert_eq!(
                followed.whole.totals().sum(),
                whole.totals().sum(),
                "{name}"
            );
            let is_said = followed
                .links
                .iter()
                .any(|link| matches!(link, LinkState::Reread(_)));
            assert!(
                !is_said,
                "{name} was only appended to: {:?}",
                followed.links
            );
            followed.end();
        }
    }
}

#[test]
fn a_compressed_thread_goes_on_from_its_compressed_beginning() {
    let (_dir, home) = home(&[FIRST, SECOND]);
    let folder = home.join("sessions/2026/10/02");
    let plain = read(&folder.join(SECOND)).transcript;
    for name in [FIRST, SECOND] {
        let path = folder.join(name);
        let text = fs::read(&path).unwrap();
        let packed = compress_to_vec(text.as_slice(), CompressionLevel::Fastest);
        fs::write(path.with_extension("jsonl.zst"), packed).unwrap();
        fs::remove_file(&path).unwrap();
    }
    let packed = read(&folder.join(SECOND).with_extension("jsonl.zst")).transcript;
    assert_eq!(all_words(&packed), all_words(&plain));
    assert_eq!(packed.totals().sum(), plain.totals().sum());
}

#[test]
fn a_compressed_parent_has_its_sub_agents_and_its_title() {
    let (_dir, home) = home(&[FIRST, CHILD]);
    let path = home.join("sessions/2026/10/02").join(FIRST);
    let index =
        format!(r#"{{"id":"{THREAD}","thread_name":"Sacks","updated_at":"2026-10-02T12:00:00Z"}}"#);
    fs::write(home.join("session_index.jsonl"), index + "\n").unwrap();
    let plain = read(&path).transcript;
    let packed = path.with_extension("jsonl.zst");
    let text = fs::read(&path).unwrap();
    fs::write(
        &packed,
        compress_to_vec(text.as_slice(), CompressionLevel::Fastest),
    )
    .unwrap();
    fs::remove_file(&path).unwrap();
    let packed = read(&packed).transcript;
    assert!(!plain.lanes().is_empty());
    assert_eq!(all_words(&packed), all_words(&plain));
    assert_eq!(
        packed.meta().title().map(ToString::to_string).as_deref(),
        Some("Sacks")
    );
}

#[test]
fn a_thread_in_two_files_is_listed_under_the_name_that_it_is_read_under() {
    let (dir, home) = home(&[FIRST, SECOND]);
    let path = home.join("sessions/2026/10/02").join(SECOND);
    let first = fs::File::options()
        .append(true)
        .open(path.with_file_name(FIRST))
        .unwrap();
    first.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let title = read(&path).transcript.meta().title().cloned();
    assert_eq!(
        title.as_deref(),
        Some("Count the sacks and let somebody check")
    );
    let environment = Environment {
        home: Some(dir.path().to_owned()),
        ..Environment::default()
    };
    let search = DiscoveryQuery {
        environment,
        ..DiscoveryQuery::default()
    };
    let found = find::sessions(&search, Timestamp(4_000_000_000_000)).map(Result::unwrap);
    assert_eq!(
        found
            .map(|found| (found.path, found.title))
            .collect::<Vec<_>>(),
        [(path, title)]
    );
}

/// A thread whose turns have names that tell no time, and one that was forked from it, which copied it with a pause.
const FORKED: &str = "0a1b2c3d-0000-4000-8000-00000000f0f0";
const FORK: &str = "0a1b2c3d-0000-4000-8000-00000000f0f1";

fn turn(second: u32, name: &str, sum: u32) -> Vec<String> {
    let line = |kind: &str, payload: String| {
        format!(
            r#"{{"timestamp":"2026-09-01T10:{:02}:{:02}.000Z","type":"{kind}","payload":{payload}}}"#,
            second / 60,
            second % 60
        )
    };
    vec![
        line(
            "event_msg",
            format!(r#"{{"type":"task_started","turn_id":"{name}"}}"#),
        ),
        line(
            "turn_context",
            format!(r#"{{"turn_id":"{name}","cwd":"/w","model":"gpt-5","effort":"low"}}"#),
        ),
        line(
            "response_item",
            format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"Ask {name}"}}]}}"#
            ),
        ),
        line(
            "event_msg",
            format!(r#"{{"type":"user_message","message":"Ask {name}"}}"#),
        ),
        line(
            "response_item",
            format!(
                r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"Told {name}"}}]}}"#
            ),
        ),
        line(
            "event_msg",
            format!(
                r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{sum},"output_tokens":0,"total_tokens":{sum}}},"last_token_usage":{{"input_tokens":100,"output_tokens":0,"total_tokens":100}}}}}}"#
            ),
        ),
    ]
}

fn header(second: u32, id: &str, from: Option<&str>) -> String {
    let from = from
        .map(|from| format!(r#","forked_from_id":"{from}""#))
        .unwrap_or_default();
    format!(
        r#"{{"timestamp":"2026-09-01T10:{:02}:00.000Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-09-01T10:00:00.000Z","cwd":"/w","cli_version":"0.140.0"{from}}}}}"#,
        second / 60
    )
}

/// The folder with both, the fork as far as it is a copy.
fn forked() -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let day = dir.path().join(".codex/sessions/2026/09/01");
    fs::create_dir_all(&day).unwrap();
    let place = |id: &str| day.join(format!("rollout-2026-09-01T10-00-00-{id}.jsonl"));
    let write = |path: &Path, parts: Vec<Vec<String>>| {
        fs::write(path, parts.concat().join("\n") + "\n").unwrap();
    };
    let of = [turn(10, "one", 100), turn(20, "two", 200)];
    write(
        &place(FORKED),
        [vec![vec![header(0, FORKED, None)]], of.to_vec()].concat(),
    );
    let copied = [
        vec![header(300, FORK, Some(FORKED)), header(300, FORKED, None)],
        turn(300, "one", 100),
        turn(305, "two", 200),
    ];
    write(&place(FORK), copied.to_vec());
    (dir, place(FORKED), place(FORK))
}

/// How many records a fork says that it inherited, and what it spent beyond them.
fn inherited(transcript: &Transcript) -> (Vec<String>, u64) {
    let says = |words: &String| words.contains("inherited from").then(|| words.clone());
    (
        own(transcript).iter().filter_map(says).collect(),
        transcript.totals().sum().input.total,
    )
}

#[test]
fn a_copy_ends_with_the_first_turn_that_the_other_thread_does_not_have() {
    let (dir, parent, fork) = forked();
    let mut followed = Followed::start(&fork, WatchMode::Poll);
    followed.until("the copy is read", |followed| {
        followed.whole.tally().records() == 14
    });
    assert_eq!(
        inherited(&followed.whole),
        (Vec::new(), 0),
        "all of it is a copy, whatever pauses it has"
    );
    append(&fork, &(turn(400, "three", 300).join("\n") + "\n"));
    followed.until("its own turn is read", |followed| {
        followed.whole.tally().records() == 20
    });
    let (words, spent) = inherited(&followed.whole);
    assert!(
        matches!(words.as_slice(), [one] if one.contains("13 records inherited")),
        "{words:?}"
    );
    assert_eq!(spent, 100);
    assert_eq!(inherited(&read(&fork).transcript), (words.clone(), spent));
    let packed = dir.path().join("packed");
    fs::create_dir_all(&packed).unwrap();
    let usage = |named: &[&Path]| {
        let usage = assert_cmd::Command::cargo_bin("tv")
            .unwrap()
            .env("CODEX_HOME", dir.path().join(".codex"))
            .args(["usage", "--json"])
            .args(named)
            .output();
        let usage = String::from_utf8(usage.unwrap().stdout).unwrap();
        let total: serde_json::Value = serde_json::from_str(usage.lines().last().unwrap()).unwrap();
        total["usage"]["input"].as_u64()
    };
    assert_eq!((usage(&[]), usage(&[&fork])), (Some(300), Some(100)));
    // Where the other thread is gone a pause must do.
    fs::rename(&parent, packed.join("parent.jsonl")).unwrap();
    let (words, _) = inherited(&read(&fork).transcript);
    assert!(
        matches!(words.as_slice(), [one] if one.contains("7 records inherited")),
        "{words:?}"
    );
}
