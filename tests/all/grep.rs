//! Tests of `tv grep`: hits, their order, and that a search in a part of the sessions finds the
//! same hits there as a search in all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use regex::RegexBuilder;
use serde_json::{Value, json};
use tv::analysis::expression::parse::parse;
use tv::analysis::search::texts;
use tv::ingest::Target;
use tv::ingest::find::DiscoveryQuery;
use tv::model::entry::BlockKind;
use tv::model::record::FileId;
use tv::model::timestamp::Timestamp;
use tv::report::outcome::ReportOutcome;
use tv::report::reading;
use tv::report::rows::Paper;
use tv::report::sessions::grep::{self, Case, GrepForm, GrepOptions, GrepQuery};

use crate::fixtures;

/// Long after everything that these tests write.
const LATER: Timestamp = Timestamp(4_000_000_000_000);

fn options(pattern: &str, path: &Path, filter: Option<&str>) -> GrepOptions {
    let filter = filter.map(|filter| parse(filter).unwrap());
    GrepOptions {
        query: GrepQuery {
            pattern: pattern.to_owned(),
            is_literal: true,
            case: Case::Smart,
            filter,
            since: None,
        },
        search: DiscoveryQuery {
            targets: vec![Target::at(path)],
            ..DiscoveryQuery::default()
        },
        strict: false,
        form: GrepForm::Json,
        paper: Paper {
            width: 100,
            colour: false,
            ascii: false,
        },
    }
}

fn hits(options: &GrepOptions) -> (Vec<Value>, ReportOutcome) {
    let mut out = Vec::new();
    let outcome = grep::write(options, LATER, &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap();
    (
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        outcome,
    )
}

/// Words of a file, so spread that common and rare ones are among them.
fn words(path: &Path, most: usize) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    let words = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| (4..16).contains(&word.len()));
    let words: Vec<&str> = words
        .filter(|word| word.chars().any(char::is_alphabetic))
        .collect();
    let step = (words.len() / most).max(1);
    words
        .iter()
        .step_by(step)
        .map(|word| word.to_lowercase())
        .collect()
}

/// Whether the lines alone give what the whole session gives.
fn compare(path: &Path, most: usize, differing: &mut BTreeMap<String, Vec<String>>) -> usize {
    let mut found = 0;
    for word in words(path, most) {
        let (alone, _) = hits(&options(&word, path, None));
        // Ids are known of the whole session only.
        let (whole, _) = hits(&options(&word, path, Some("-id:no-such-id-anywhere")));
        found += whole.len();
        if alone != whole {
            let format = whole.first().or(alone.first()).unwrap()["format"]
                .as_str()
                .unwrap()
                .to_owned();
            let only = |some: &[Value], others: &[Value]| -> Vec<String> {
                some.iter()
                    .filter(|hit| !others.contains(hit))
                    .map(Value::to_string)
                    .take(2)
                    .collect()
            };
            let what = format!(
                "{} {word}: {} alone, {} of the whole; only alone {:?}; only of the whole {:?}",
                path.display(),
                alone.len(),
                whole.len(),
                only(&alone, &whole),
                only(&whole, &alone)
            );
            differing.entry(format).or_default().push(what);
        }
    }
    found
}

/// A session of lines is searched in the lines that may hold a hit; each tells the same there as in the whole session.
#[test]
fn lines_alone_give_the_hits_of_the_whole_session() {
    for corpus in crate::corpus::corpora() {
        let mut differing = BTreeMap::new();
        let is_small =
            |path: &&PathBuf| fs::metadata(path).is_ok_and(|metadata| metadata.len() < 1 << 20);
        let files = corpus.of(&["claude-code", "pi", "openclaw"]);
        let most = if corpus.is_ours() { 10 } else { 3 };
        let found: usize = files
            .iter()
            .filter(is_small)
            .map(|path| compare(path, most, &mut differing))
            .sum();
        assert!(found > corpus.least(200, 2_000), "{found}");
        for (format, all) in &differing {
            crate::corpus::say(&format!("{format}: {} differ", all.len()));
            all.iter()
                .take(6)
                .for_each(|what| crate::corpus::say(&format!("  {what}")));
        }
        assert!(differing.is_empty(), "{:?}", differing.keys());
    }
}

/// Lines with a word as the viewer's own search counts them, by entry, and where the record of each lies.
fn seen(path: &Path, word: &str) -> BTreeMap<String, (usize, u32)> {
    let reading = reading::read(
        &Target {
            path: path.to_owned(),
            session: None,
        },
        false,
    )
    .unwrap();
    let pattern = RegexBuilder::new(&regex::escape(word))
        .case_insensitive(true)
        .build()
        .unwrap();
    let mut lines: BTreeMap<String, (usize, u32)> = BTreeMap::new();
    for entry in reading.transcript.entries() {
        let blocks = texts::of_entry(entry);
        let counted = blocks
            .iter()
            .map(|text| texts::count(&pattern, text, &mut |_, _| None));
        let line = if entry.origin.file == FileId(0) {
            entry.origin.line
        } else {
            0
        };
        let known = lines.entry(entry.key.to_string()).or_insert((0, line));
        known.0 += counted.sum::<usize>();
    }
    lines.retain(|_, (lines, _)| *lines > 0);
    lines
}

/// What the viewer finds is found, but for what it says in words of its own; and nothing else is.
#[test]
fn hits_are_those_of_the_viewer() {
    let mut differing = Vec::new();
    let mut found = 0;
    for path in fixtures::line_files() {
        let text = fs::read_to_string(&path).unwrap_or_default().to_lowercase();
        let records: Vec<&str> = text.lines().collect();
        let common = ["shell", "error", "read"].map(str::to_owned);
        for word in words(&path, 4).into_iter().chain(common) {
            let mut grepped: BTreeMap<String, usize> = BTreeMap::new();
            for hit in hits(&options(&word, &path, None)).0 {
                *grepped
                    .entry(hit["key"].as_str().unwrap().to_owned())
                    .or_default() += 1;
            }
            found += grepped.values().sum::<usize>();
            let viewed = seen(&path, &word);
            for (key, (lines, place)) in &viewed {
                let record = place.checked_sub(1).map(|place| records[place as usize]);
                if !grepped.contains_key(key) && record.is_some_and(|record| record.contains(&word))
                {
                    differing.push(format!(
                        "{} {word}: {key} has {lines}",
                        fixtures::name(&path)
                    ));
                }
            }
            for (key, lines) in &grepped {
                if viewed.get(key).is_none_or(|(known, _)| known < lines) {
                    differing.push(format!(
                        "{} {word}: {key} only in grep",
                        fixtures::name(&path)
                    ));
                }
            }
        }
    }
    assert!(found > 200, "{found}");
    assert!(
        differing.is_empty(),
        "{}:\n{}",
        differing.len(),
        differing.join("\n")
    );
}

#[test]
fn letters_that_are_others_without_regard_to_case_are_found_escaped_or_not() {
    let home = Home::new();
    let spelled = said("spelled", "A \u{212a}eelson and a \u{17f}heet");
    home.write(
        ".claude/projects/-work/plain.jsonl",
        100,
        spelled.as_bytes(),
    );
    let escaped = spelled
        .replace('\u{212a}', "\\u212a")
        .replace('\u{17f}', "\\u017F");
    home.write(
        ".claude/projects/-work/escaped.jsonl",
        50,
        escaped.as_bytes(),
    );
    for word in ["keelson", "sheet"] {
        let sessions: Vec<String> = home
            .json(&[word])
            .iter()
            .map(|hit| hit["session"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(sessions, ["escaped", "plain"], "{word}");
    }
}

/// Longer ago than anything that sessions say.
const YEARS: u64 = 40 * 365 * 86_400;

#[test]
fn what_was_written_beside_a_session_makes_it_new_enough() {
    let home = Home(tempfile::tempdir().unwrap());
    let project = ".claude/projects/-work";
    let later = |session: &str| said(session, "A keel").replace("T10:41:07", "T10:43:00");
    let agent = later("one").replace("u-one", "s-one");
    let agent = agent.replace(
        "\"isSidechain\":false",
        "\"isSidechain\":true,\"agentId\":\"a1\"",
    );
    home.write(
        &format!("{project}/one.jsonl"),
        YEARS,
        said("one", "A keel").as_bytes(),
    );
    home.write(
        &format!("{project}/one/subagents/agent-a1.jsonl"),
        10,
        agent.as_bytes(),
    );
    home.write(
        &format!("{project}/two.jsonl"),
        YEARS,
        later("two").as_bytes(),
    );
    let hits = home.json(&["keel", "--since", "2026-01-31T10:42:30Z"]);
    let places: Vec<&str> = hits
        .iter()
        .map(|hit| hit["path"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(places, ["agent-a1.jsonl"]);
}

/// A home in which every way to keep a session has one that says "keel".
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let claude = ".claude/projects/-work";
        home.write(
            &format!("{claude}/old.jsonl"),
            4_000,
            said("old", "The keel is \"oak\"\nand lead").as_bytes(),
        );
        home.write(
            &format!("{claude}/new.jsonl"),
            1_000,
            called("new").as_bytes(),
        );
        home.write(
            &format!("{claude}/none.jsonl"),
            900,
            said("none", "Nothing of the sort").as_bytes(),
        );
        let agent = said("new", "Sand the KEEL").replace("u-new", "s-new");
        let agent = agent.replace(
            "\"isSidechain\":false",
            "\"isSidechain\":true,\"agentId\":\"a1\"",
        );
        home.write(
            &format!("{claude}/new/subagents/agent-a1.jsonl"),
            1_000,
            agent.as_bytes(),
        );
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packed, said("packed", "A packed keel").as_bytes()).unwrap();
        home.write("else/packed.jsonl.gz", 2_000, &packed.finish().unwrap());
        let broken = said("broken", "Go on")
            + "{\"type\":\"user\",\"message\":{\"content\":\"a keel that\n\n{\"type\":\n";
        home.write("else/broken.jsonl", 3_000, broken.as_bytes());
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file that is so many seconds old.
    fn write(&self, name: &str, age: u64, content: &[u8]) {
        let path = self.path(name);
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
    }

    /// Exit code, output and what is said besides.
    fn grep(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command.env_clear();
        let command = command
            .arg("grep")
            .args(arguments)
            .env("HOME", self.0.path())
            .env("LC_ALL", "C.UTF-8");
        let output = command
            .env("TZ", "UTC")
            .current_dir(self.0.path())
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

    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let (code, out, error) = self.grep(&[arguments, &["--json"]].concat());
        assert!(code < 2 && error.is_empty(), "{code} {error}");
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

fn said(session: &str, prompt: &str) -> String {
    lines(&[
        json!({"parentUuid": null, "isSidechain": false, "type": "user",
        "message": {"role": "user", "content": prompt}, "uuid": format!("u-{session}"),
        "timestamp": "2026-01-31T10:41:07.000Z", "sessionId": session, "cwd": "/work/boats", "version": "2.1.0"}),
    ])
}

/// A call whose output has the word, and one that has it in its input.
fn called(session: &str) -> String {
    let answer = |n: u32, command: &str| {
        json!({"parentUuid": format!("u-{session}"), "isSidechain": false, "type": "assistant",
            "requestId": format!("r{n}"), "message": {"id": format!("m{n}"), "type": "message", "role": "assistant",
                "model": "claude-opus-4-6", "content": [{"type": "tool_use", "id": format!("toolu_{n}"),
                    "name": "Bash", "input": {"command": command}}], "usage": {"input_tokens": 1, "output_tokens": 2}},
            "uuid": format!("a{n}"), "timestamp": "2026-01-31T10:42:00.000Z", "sessionId": session})
    };
    let result = |n: u32, output: &str| {
        json!({"parentUuid": format!("a{n}"), "isSidechain": false, "type": "user",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("toolu_{n}"),
                "content": output}]},
            "uuid": format!("t{n}"), "timestamp": "2026-01-31T10:43:00.000Z", "sessionId": session})
    };
    said(session, "Find it")
        + &lines(&[
            answer(1, "ls"),
            result(1, "mast\nthe \u{1b}[1mke\u{1b}[0mel, \u{1b}[2Jcaf\u{e9}"),
        ])
        + &lines(&[answer(2, "cat keel"), result(2, "oak")])
}

#[test]
fn hits_are_found_newest_first_with_their_places() {
    let home = Home::new();
    let seen: Vec<_> = home
        .json(&["keel"])
        .iter()
        .map(|hit| {
            let of = |name: &str| hit[name].as_str().unwrap_or("-").to_owned();
            let (start, end) = (hit["start"].as_u64().unwrap(), hit["end"].as_u64().unwrap());
            let found = of("text")[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()]
                .to_owned();
            let place = (of("session"), hit["line"].as_u64().unwrap());
            (place, of("field"), of("tool"), of("key"), of("text"), found)
        })
        .collect();
    let own = |text: &str| text.to_owned();
    let hit = |place: (&str, u64), field: &str, tool: &str, key: &str, text: &str, found: &str| {
        (
            (own(place.0), place.1),
            own(field),
            own(tool),
            own(key),
            own(text),
            own(found),
        )
    };
    assert_eq!(
        seen,
        [
            hit(
                ("new", 3),
                "output",
                "Bash",
                "m1",
                "the keel, caf\u{e9}",
                "keel"
            ),
            hit(("new", 4), "input", "Bash", "m2", "Bash cat keel", "keel"),
            hit(("new", 1), "text", "-", "s-new", "Sand the KEEL", "KEEL"),
            hit(
                ("old", 1),
                "text",
                "-",
                "u-old",
                "The keel is \"oak\"",
                "keel"
            ),
        ]
    );
}

#[test]
fn filters_scopes_and_places_narrow_it() {
    let home = Home::new();
    let found = |arguments: &[&str]| {
        let hits = home.json(arguments);
        hits.iter()
            .map(|hit| hit["session"].as_str().unwrap())
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (arguments, expected) in [
        (vec!["KEEL"], "new"),
        (vec!["KEEL", "-i"], "new new new old"),
        (vec!["u:keel"], "new old"),
        (vec!["t:keel"], "new new"),
        (vec!["keel", "tool:bash"], "new new"),
        (vec!["keel", "tool:bash", "-f", "oak"], "new"),
        (vec!["keel", "role:user"], "old"),
        (vec!["keel", "lane:main"], "new new old"),
        (vec!["is \"oak\"", "-F"], "old"),
        (vec!["k.{3} is"], "old"),
        (vec!["caf\u{e9}"], "new"),
        (vec!["oak.*\\n?and"], "old"),
        (vec!["keel", "--since", "30m"], ""),
        (vec!["keel", "--since", "2026-01-31T10:41:30Z"], "new new"),
        (vec!["keel", "--agent", "pi"], ""),
        (vec!["keel", "old"], "old"),
        (vec!["keel", ".claude/projects/-work/old.jsonl"], "old"),
        (vec!["keel", "else"], "packed broken"),
        (vec!["nowhere to be found"], ""),
    ] {
        assert_eq!(found(&arguments), expected, "{arguments:?}");
    }
    // A filter alone shows a line of each call that it fits, unless its text is meant.
    let firsts = home.json(&["tool:bash", "new"]);
    let texts: Vec<_> = firsts
        .iter()
        .map(|hit| hit["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["Bash ls", "Bash cat keel"]);
    assert_eq!(found(&["", "tool:bash", "new"]), "new new");
    assert_eq!(found(&["tool:bash", "-F"]), "");
}

#[test]
fn each_form_and_its_exit_code() {
    let home = Home::new();
    let (old, new) = (
        home.path(".claude/projects/-work/old.jsonl"),
        home.path(".claude/projects/-work/new.jsonl"),
    );
    let (code, out, error) = home.grep(&["keel", "-l"]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert_eq!(out, format!("{}\n{}\n", new.display(), old.display()));
    let (code, out, _) = home.grep(&["oak", "old"]);
    assert_eq!(
        (code, out),
        (
            0,
            format!(
                "{}:1: 01-31 10:41 you: The keel is \"oak\"\n",
                old.display()
            )
        )
    );
    let (code, out, error) = home.grep(&["nowhere"]);
    assert_eq!((code, out.as_str(), error.as_str()), (1, "", ""));
    let (code, out, error) = home.grep(&["keel(", "old"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("taken literally"), "{error}");
    for (arguments, what) in [
        (vec!["keel", "missing.jsonl"], "missing.jsonl"),
        (vec!["keel", "-f", "rol:user"], "no fact is called rol"),
        (vec!["keel", "--since", "soon"], "a time is written like"),
        (vec!["", "old"], "nothing to look for"),
        (
            vec!["keel", "is", "oak"],
            "in quotes: tv grep 'keel is oak'",
        ),
        (vec!["keel", "-"], "standard input"),
    ] {
        let (code, out, error) = home.grep(&arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(error.contains(what), "{arguments:?}: {error}");
    }
    let (_, _, error) = home.grep(&["tool:bash", "missing"]);
    assert!(!error.contains("in quotes"), "a filter is no word: {error}");
    // The other sessions are searched all the same.
    let (code, out, error) = home.grep(&["keel", "old", "missing.jsonl", "-l"]);
    assert_eq!((code, out), (2, format!("{}\n", old.display())));
    assert!(error.contains("missing.jsonl"), "{error}");
}

#[cfg(feature = "sqlite")]
#[test]
fn rows_of_databases_are_searched() {
    let path = crate::databases::made_from(&fixtures::root().join("opencode/opencode.sql"));
    let (all, outcome) = hits(&options("the", &path, None));
    assert!(all.len() > 5, "{}", all.len());
    assert_eq!(outcome, ReportOutcome::Complete);
}

/// What was asked for holds also where no terminal is.
#[test]
fn colours_and_columns_are_obeyed_in_a_pipe() {
    let home = Home::new();
    let old = home.path(".claude/projects/-work/old.jsonl");
    let (code, out, _) = home.grep(&["oak", "old", "--color", "always"]);
    let line = "\u{1b}[36myou\u{1b}[0m: The keel is \"\u{1b}[1;33moak\u{1b}[0m\"\n";
    let expected = format!("\u{1b}[90m{}:1: 01-31 10:41 \u{1b}[0m{line}", old.display());
    assert_eq!((code, out), (0, expected));
    let long = said("long", &format!("{}mizzen", "a ".repeat(200)));
    home.write(".claude/projects/-work/long.jsonl", 5, long.as_bytes());
    for width in [60, 90] {
        let (_, out, _) = home.grep(&["mizzen", "--width", &width.to_string()]);
        let lines: Vec<&str> = out.lines().collect();
        let [head, name, hit] = lines[..] else {
            panic!("{out}")
        };
        assert!(
            name.ends_with("long.jsonl") && hit.ends_with("a mizzen"),
            "{out}"
        );
        let columns = [head, hit].map(|line| line.chars().count());
        assert!(
            columns.iter().all(|columns| (40..=width).contains(columns)),
            "{columns:?} {out}"
        );
    }
}

/// What was put aside of a session that goes on, and is in it still, is told once, of the one that goes on; what only
/// the older file has is told of that.
#[test]
fn what_an_archive_has_in_common_with_its_session_is_told_once() {
    let home = Home::new();
    let claw = ".openclaw/agents/main/sessions";
    let said = |id: &str, text: &str| {
        json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-03-01T08:00:01.000Z",
            "message": {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}})
    };
    let head = json!({"type": "session", "version": 3, "id": "11aa", "timestamp": "2026-03-01T08:00:00.000Z",
        "cwd": "/work"});
    let lines = |records: &[Value]| {
        records
            .iter()
            .map(|record| record.to_string() + "\n")
            .collect::<String>()
    };
    let both = said("e1", "lay the garboard\nlay the garboard");
    let live = lines(&[head.clone(), both.clone(), said("e3", "new garboard")]);
    let aside = lines(&[head, both, said("e2", "old garboard")]);
    let archive = format!("{claw}/11aa.jsonl.reset.2026-06-27T03-21-20.768Z");
    home.write(&format!("{claw}/11aa.jsonl"), 100, live.as_bytes());
    // It was put aside after the last word.
    home.write(&archive, 10, aside.as_bytes());
    let (code, out, error) = home.grep(&["garboard", "--json"]);
    assert_eq!((code, error.as_str()), (0, ""));
    let hits: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found = |hit: &Value| {
        let is_archive = hit["path"].as_str().unwrap().contains(".reset.");
        (hit["text"].as_str().unwrap().to_owned(), is_archive)
    };
    let own = |text: &str, is_archive| (text.to_owned(), is_archive);
    assert_eq!(
        hits.iter().map(found).collect::<Vec<_>>(),
        [
            own("lay the garboard", false),
            own("lay the garboard", false),
            own("new garboard", false),
            own("old garboard", true)
        ]
    );
}

/// What cannot be read is named, and what is no session is not.
#[test]
fn what_cannot_be_read_is_named() {
    let home = Home::new();
    let folder = ".claude/projects/-work";
    std::os::unix::fs::symlink("/nowhere", home.path(&format!("{folder}/dangling.jsonl"))).unwrap();
    home.write("notes/keel.json", 10, b"{\"keel\": 1}");
    home.write("notes/keel.jsonl", 10, b"keel");
    let (code, out, error) = home.grep(&["keel", "notes"]);
    assert_eq!((code, out.as_str(), error.as_str()), (1, "", ""));
    let (code, out, error) = home.grep(&["keel", "-l"]);
    assert_eq!(
        (code, out.lines().count(), error.lines().count()),
        (0, 2, 1)
    );
    assert!(
        error.contains("dangling.jsonl: cannot be read: a link to a file that does not exist"),
        "{error}"
    );
    let path = home.path(&format!("{folder}/pipe.jsonl"));
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    let (code, _, error) = home.grep(&["keel", path.to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(error.contains("a named pipe"), "{error}");
    let locked = home.path("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    // Nothing is closed to root.
    if fs::read_dir(&locked).is_err() {
        let (code, _, error) = home.grep(&["keel", "locked"]);
        assert_eq!(code, 2);
        assert!(
            error.contains("locked: no permission to read it"),
            "{error}"
        );
    }
}

/// What is said in a session: a few words each that stand side by side.
fn phrases(path: &Path) -> BTreeSet<String> {
    let target = Target {
        path: path.to_owned(),
        session: None,
    };
    let transcript = fixtures::read(&target).transcript;
    let mut phrases = BTreeSet::new();
    for block in transcript.entries().flat_map(|entry| &entry.blocks) {
        let (BlockKind::Text(body) | BlockKind::Thinking(body)) = &block.kind else {
            continue;
        };
        for line in body.text_or_stub().as_str().lines() {
            let words: Vec<&str> = line.split(' ').filter(|word| word.len() > 1).collect();
            let stands = |phrase: &String| phrase.is_ascii() && line.contains(phrase.as_str());
            phrases.extend(
                [2, 5]
                    .iter()
                    .flat_map(|size| words.windows(*size))
                    .map(|words| words.join(" "))
                    .filter(stands),
            );
        }
    }
    phrases
}

/// A stream that ends before a message does holds its text in pieces only, of which each is a record of its own.
#[test]
fn what_stands_in_pieces_over_several_records_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for stream in fixtures::line_files() {
        let text = fs::read_to_string(&stream).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        for end in (1..=lines.len()).filter(|end| lines[end - 1].contains("\"delta\"")) {
            let (path, lines) = (dir.path().join(stream.file_name().unwrap()), &lines[..end]);
            fs::write(&path, lines.join("\n")).unwrap();
            let is_in =
                |line: &&str, phrase: &str| phrase.split(' ').all(|word| line.contains(word));
            let is_torn = |phrase: &String| !lines.iter().any(|line| is_in(line, phrase));
            for phrase in phrases(&path).into_iter().filter(is_torn) {
                let (hits, _) = hits(&options(&phrase, &path, None));
                assert!(
                    !hits.is_empty(),
                    "{phrase}: {} up to line {end}",
                    fixtures::name(&stream)
                );
                *found
                    .entry(hits[0]["format"].as_str().unwrap().to_owned())
                    .or_default() += 1;
            }
        }
    }
    // The other formats' own tests put messages together from pieces; these are in the fixtures.
    assert!(
        found.len() > 1 && found.values().sum::<usize>() > 5,
        "{found:?}"
    );
}

/// Arguments of a call come in pieces, too, and are left on disk as those of other calls are.
#[test]
fn what_stands_in_pieces_of_arguments_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire.jsonl");
    let line = |kind: &str, payload: Value| json!({"timestamp": 1.0, "message": {"type": kind, "payload": payload}});
    let begun = json!({"type": "function", "id": "a",
        "function": {"name": "WriteFile", "arguments": "{\"path\": \"a.rs\", \"content\": \"the kee"}});
    let lines = [
        json!({"type": "metadata", "protocol_version": "1.6"}),
        line("TurnBegin", json!({"user_input": "w"})),
        line("StepBegin", json!({"n": 1})),
        line("ToolCall", begun),
        line("ToolCallPart", json!({"arguments_part": "lson\\n"})),
        line("ToolCallPart", json!({"arguments_part": "of oak\"}"})),
    ];
    fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    for (word, expected) in [("keelson", 1), ("of oak", 1), ("birch", 0)] {
        let (hits, _) = hits(&options(word, &path, None));
        assert_eq!(hits.len(), expected, "{word}");
    }
    let target = Target {
        path: path.clone(),
        session: None,
    };
    let mut read = fixtures::read(&target);
    let input = read
        .transcript
        .entries()
        .flat_map(tv::model::entry::Entry::calls)
        .next()
        .unwrap()
        .input
        .clone();
    assert_eq!(
        read.pager.read(input.from).get(usize::from(input.slot)),
        Some(&input.held)
    );
}

/// What a call puts out while it runs is a state of the call, and a summary is a part of its compaction: alone they
/// would be entries of their own.
#[test]
fn progress_and_summaries_are_found_where_the_whole_session_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let line = |more: Value| {
        let mut line = json!({"isSidechain": false, "sessionId": "s", "cwd": "/work/boats", "version": "2.1.0",
            "timestamp": "2026-01-31T10:44:00.000Z"});
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        line
    };
    let call = line(
        json!({"type": "assistant", "uuid": "a1", "parentUuid": "u-s", "requestId": "r1",
        "message": {"id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}],
            "usage": {"input_tokens": 1, "output_tokens": 2}}}),
    );
    let progress = line(
        json!({"type": "progress", "uuid": "p1", "parentUuid": "a1", "toolUseID": "bash-progress-0",
        "parentToolUseID": "toolu_1", "data": {"type": "bash_progress", "output": "caulk",
            "fullOutput": "caulking the seams", "elapsedTimeSeconds": 3, "totalLines": 1}}),
    );
    let boundary = line(
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "c1", "parentUuid": null,
        "content": "Conversation compacted", "compactMetadata": {"trigger": "auto", "preTokens": 9}}),
    );
    let summary = line(
        json!({"type": "user", "uuid": "c2", "parentUuid": "c1", "isCompactSummary": true,
        "message": {"role": "user", "content": "The mizzen was stepped"}}),
    );
    for (records, word) in [
        (vec![call, progress], "caulking"),
        (vec![boundary, summary], "mizzen"),
    ] {
        fs::write(&path, said("s", "Go on") + &lines(&records)).unwrap();
        let (alone, _) = hits(&options(word, &path, None));
        let (whole, _) = hits(&options(word, &path, Some("-id:no-such-id-anywhere")));
        assert_eq!((alone.len(), &alone), (1, &whole), "{word}");
    }
}

/// A session that is named as a file is searched with its sub-agents, and these once.
#[test]
fn what_lies_beside_a_named_file_is_searched_with_it() {
    let home = Home::new();
    let claude = home.path(".claude/projects/-work");
    let main = claude.join("new.jsonl");
    let agent = claude.join("new/subagents/agent-a1.jsonl");
    let of = |paths: &[&Path]| {
        let paths: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
        let hits = home.json(&[&["sand the keel"], &paths[..]].concat());
        hits.iter()
            .map(|hit| hit["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let only = [agent.to_str().unwrap().to_owned()];
    assert_eq!(of(&[&main]), only);
    assert_eq!(of(&[&agent]), only);
    assert_eq!(of(&[&main, &agent]), only);
    assert_eq!(of(&[&claude]), only);
}

/// The same where sub-agents are sessions of their own, which only the records of their session name.
#[test]
fn sub_agents_of_a_named_file_that_lie_elsewhere_are_searched_with_it() {
    let home = Home::new();
    let sessions = ".codex/sessions/2026/10/02";
    let names = [
        "2026-10-02T11-00-00-01a0fbd7-8280-7000-8000-0000000000a1",
        "2026-10-02T11-00-20-01a0fbd7-d0a0-7000-8000-0000000000a2",
    ];
    let [main, agent] = names.map(|name| {
        let name = format!("rollout-{name}.jsonl");
        let fixture = fixtures::root().join("codex").join(&name);
        let mut said = fs::read_to_string(fixture).unwrap();
        if name.ends_with("a2.jsonl") {
            // The result of its call has its last words, too.
            said = said.replace("Five, as you say", "There are five of rye");
        }
        home.write(&format!("{sessions}/{name}"), 100, said.as_bytes());
        home.path(&format!("{sessions}/{name}"))
    });
    let of = |paths: &[&Path]| {
        let paths: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
        let hits = home.json(&[&["five of rye"], &paths[..]].concat());
        hits.iter()
            .map(|hit| hit["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let only = [agent.to_str().unwrap().to_owned()];
    assert_eq!(of(&[]), only);
    assert_eq!(of(&[&main]), only);
    assert_eq!(of(&[&agent]), only);
    assert_eq!(of(&[&main, &agent]), only);
    assert_eq!(of(&[&home.path(sessions)]), only);
}

/// A message that is written block by block has one entry, and each block the time of its line.
#[test]
fn a_hit_has_the_time_of_its_record() {
    let home = Home::new();
    let block = |second: u32, content: Value| {
        json!({"parentUuid": "u-slow", "isSidechain": false, "type": "assistant", "requestId": "r1",
            "message": {"id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
                "content": [content], "usage": {"input_tokens": 1, "output_tokens": 2}},
            "uuid": format!("a{second}"), "timestamp": format!("2026-01-31T10:42:0{second}.000Z"), "sessionId": "slow"})
    };
    let text = |second: u32, text: &str| block(second, json!({"type": "text", "text": text}));
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "plane the stem"}});
    let records = [
        text(1, "First the stem"),
        text(4, "then the stem again"),
        block(7, call),
    ];
    let file = said("slow", "Go on") + &lines(&records);
    home.write(".claude/projects/-work/slow.jsonl", 10, file.as_bytes());
    // Whether lines are read alone or with all others.
    for filter in [&[][..], &["lane:main"]] {
        let hits = home.json(&[&["stem"], filter].concat());
        let at = |hit: &Value| {
            let at = hit["at"].as_str().unwrap();
            (
                hit["line"].as_u64().unwrap(),
                at.get(11..19).unwrap().to_owned(),
            )
        };
        let expected = [(2, "10:42:01"), (3, "10:42:04"), (4, "10:42:07")]
            .map(|(line, at)| (line, at.to_owned()));
        assert_eq!(
            hits.iter().map(at).collect::<Vec<_>>(),
            expected,
            "{filter:?}"
        );
    }
}

#[test]
fn the_head_of_a_session_says_how_old_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let at = Timestamp(1_800_000_000_000);
    let record = json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s", "timestamp": at.to_rfc3339(),
        "cwd": "/w/mill", "version": "2.0.0", "message": {"role": "user", "content": "grind the corn"}});
    fs::write(&path, format!("{record}\n")).unwrap();
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(written)
        .unwrap();
    let head = |later: i64| {
        let options = GrepOptions {
            form: GrepForm::Headed,
            ..options("corn", &path, None)
        };
        let mut out = Vec::new();
        grep::write(&options, Timestamp(at.0 + later), &mut out).unwrap();
        String::from_utf8(out)
            .unwrap()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        head(60_000).ends_with(&at.short(Timestamp(at.0 + 60_000))),
        "{}",
        head(60_000)
    );
    assert!(
        head(24 * 3_600_000).ends_with("yesterday"),
        "{}",
        head(24 * 3_600_000)
    );
    assert!(
        head(50 * 3_600_000).ends_with("2027-01-15"),
        "{}",
        head(50 * 3_600_000)
    );
}

/// A pattern that would grow beyond all measure is sought as it stands there; all others take time by the text alone.
#[test]
fn a_pattern_without_measure_ends_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let too_large = [
        "(a{1000}){1000}",
        r"\w{5000}",
        "(.{1,40}){1,40}z",
        "(?s).{0,900}q.{0,900}",
    ];
    let texts = [
        "x".repeat(300_000),
        "a b ".repeat(50_000),
        "ab\n".repeat(50_000),
    ];
    let texts = texts.iter().map(String::as_str).chain(too_large);
    let records: Vec<String> = texts
        .zip('a'..)
        .map(|(text, id)| said(&id.to_string(), text))
        .collect();
    fs::write(&path, records.concat()).unwrap();
    let hits = |pattern: &str| {
        let mut options = options(pattern, &path, None);
        options.query.is_literal = false;
        let (hits, outcome) = hits(&options);
        (
            hits.len(),
            matches!(outcome, ReportOutcome::Saying(said, _) if said.contains("taken literally")),
        )
    };
    let nested = "(".repeat(5_000) + "a" + &")".repeat(5_000);
    let begun = Instant::now();
    for pattern in too_large {
        assert_eq!(hits(pattern), (1, true), "{pattern}");
    }
    assert_eq!(hits(&nested), (0, true));
    for pattern in [
        "(x+x+)+y",
        "((((a*)*)*)*)c",
        "(x?){200}y{200}",
        ".*.*.*.*=.*=.*",
        "(a|b|ab| )*c",
        &"a?".repeat(400),
    ] {
        assert!(!hits(pattern).1, "{pattern}");
    }
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
}
