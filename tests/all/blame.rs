//! Tests of `tv blame`, `tv file` and `tv diff --files`: repositories in which sessions, a human and a bot write by
//! turns. No line of a human or a bot may be a session's.

mod replayed;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository with a home beside it, in which an agent has its sessions.
struct Place {
    folder: TempDir,
    /// The lines of the session that is being made.
    session: Vec<Value>,
}

/// The minute of a step, on a day long ago.
fn time(minute: usize) -> String {
    format!(
        "2026-01-31T{:02}:{:02}:00.000Z",
        10 + minute / 60,
        minute % 60
    )
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            session: Vec::new(),
        };
        fs::create_dir_all(place.root()).unwrap();
        fs::create_dir_all(place.folder.path().join("home/.claude/projects/boat")).unwrap();
        place.git(0, &["init", "-q"]);
        place
    }

    fn root(&self) -> PathBuf {
        // A temporary folder may stand behind a link.
        self.folder.path().canonicalize().unwrap().join("boat")
    }

    fn git(&self, minute: usize, arguments: &[&str]) {
        let at = time(minute);
        let done = Command::new("git")
            .args(["-c", "user.name=mira", "-c", "user.email=mira@example.org"])
            .args([
                "-c",
                "commit.gpgSign=false",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments)
            .current_dir(self.root())
            .env("HOME", self.folder.path().join("home"))
            .env("GIT_AUTHOR_DATE", &at)
            .env("GIT_COMMITTER_DATE", &at)
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?} {done:?}");
    }

    fn commit(&self, minute: usize, words: &str) {
        self.git(minute, &["add", "-A"]);
        self.git(minute, &["commit", "-q", "--allow-empty", "-m", words]);
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).unwrap();
    }

    fn prompt(&mut self, minute: usize, words: &str) {
        let number = self.session.len();
        self.session.push(json!({
            "type": "user", "uuid": format!("u{number}"), "parentUuid": null, "isSidechain": false,
            "sessionId": "s1", "cwd": self.root(), "version": "2.1.0", "timestamp": time(minute),
            "message": {"role": "user", "content": words},
        }));
    }

    /// A call with its result, and what the agent records beside that.
    fn call(&mut self, minute: usize, tool: &str, input: Value, result: &str) -> String {
        let number = self.session.len();
        let id = format!("toolu_{number}");
        let common = |kind: &str, number: usize, message: Value| {
            json!({
                "type": kind, "uuid": format!("u{number}"), "parentUuid": format!("u{}", number - 1),
                "isSidechain": false, "sessionId": "s1", "cwd": self.root(), "version": "2.1.0",
                "timestamp": time(minute), "message": message,
            })
        };
        let call = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        let asked = common(
            "assistant",
            number,
            json!({
                "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "claude-opus-4-6",
                "content": [call], "usage": {"input_tokens": 1, "output_tokens": 1},
            }),
        );
        let result =
            json!({"type": "tool_result", "tool_use_id": id, "content": result, "is_error": false});
        let answered = common(
            "user",
            number + 1,
            json!({"role": "user", "content": [result]}),
        );
        self.session.extend([asked, answered]);
        id
    }

    /// Writes a file as the agent does.
    fn write(&mut self, minute: usize, name: &str, text: &str) -> String {
        let path = self.root().join(name);
        let told = if path.exists() {
            "The file has been updated"
        } else {
            "File created successfully"
        };
        self.put(name, text);
        self.call(
            minute,
            "Write",
            json!({"file_path": path, "content": text}),
            told,
        )
    }

    /// Replaces a text as the agent does.
    fn edit(&mut self, minute: usize, name: &str, old: &str, new: &str) -> String {
        let path = self.root().join(name);
        let before = fs::read_to_string(&path).unwrap();
        assert_eq!(before.matches(old).count(), 1, "{old}");
        self.put(name, &before.replace(old, new));
        self.call(
            minute,
            "Edit",
            json!({"file_path": path, "old_string": old, "new_string": new}),
            "edited",
        )
    }

    fn session_path(&self) -> PathBuf {
        self.folder
            .path()
            .join("home/.claude/projects/boat/s1.jsonl")
    }

    fn save(&self) {
        let lines: Vec<String> = self.session.iter().map(Value::to_string).collect();
        fs::write(self.session_path(), lines.join("\n") + "\n").unwrap();
    }

    fn tv(&self, arguments: &[&str]) -> Output {
        self.save();
        Command::new(env!("CARGO_BIN_EXE_tv"))
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .current_dir(self.root())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// The id of the call of each line, or `?`, with a `~` in front if it was moved.
    fn blame(&self, arguments: &[&str]) -> Vec<String> {
        let done = self.tv(&[&["blame", "--json"], arguments].concat());
        assert!(done.status.success(), "{done:?}");
        let mut lines = Vec::new();
        for line in String::from_utf8(done.stdout).unwrap().lines() {
            let range: Value = serde_json::from_str(line).unwrap();
            let id = range["call"]["id"].as_str().unwrap_or("?");
            let sign = if range["sure"] == "moved" { "~" } else { "" };
            let (start, end) = (
                range["start_line"].as_u64().unwrap(),
                range["end_line"].as_u64().unwrap(),
            );
            lines.extend((start..=end).map(|_| format!("{sign}{id}")));
        }
        lines
    }
}

const HULL: &str = "fn hull() {\n    plank();\n    caulk();\n}\n";

#[test]
fn lines_are_those_of_the_call_that_wrote_them_and_a_humans_are_nobodys() {
    let mut place = Place::new();
    place.put("hull.rs", HULL);
    place.commit(1, "begin by hand");
    place.prompt(2, "mend the hull\nplease");
    let first = place.edit(
        3,
        "hull.rs",
        "    caulk();\n",
        "    caulk_with_tar();\n    scrape_barnacles();\n",
    );
    place.commit(4, "what the agent did");
    let text = fs::read_to_string(place.root().join("hull.rs")).unwrap();
    place.put(
        "hull.rs",
        &format!("{text}\nfn sail() {{\n    hoist_the_main();\n}}\n"),
    );
    place.commit(5, "a sail by hand");
    place.prompt(6, "and a rudder");
    let second = place.edit(
        7,
        "hull.rs",
        "    hoist_the_main();\n",
        "    hoist_the_main();\n    steer_by_rudder();\n",
    );
    // Not committed.
    let text = fs::read_to_string(place.root().join("hull.rs")).unwrap();
    place.put("hull.rs", &format!("// written by hand\n{text}"));
    let blamed = place.blame(&["hull.rs"]);
    let (one, two) = (first.as_str(), second.as_str());
    assert_eq!(
        blamed,
        ["?", "?", "?", one, one, "?", "?", "?", "?", two, "?"]
    );
    let at_revision = place.blame(&["hull.rs", "--rev", "HEAD~1"]);
    assert_eq!(at_revision, ["?", "?", one, one, "?"]);
    assert_eq!(place.blame(&["hull.rs:4-5"]), [one, one]);
    let line = String::from_utf8(place.tv(&["blame", "hull.rs:4"]).stdout).unwrap();
    for words in [
        "turn 1",
        "mend the hull",
        "claude-opus-4-6",
        "exact",
        "what the agent did",
        "open",
    ] {
        assert!(line.contains(words), "{words}: {line}");
    }
}

#[test]
fn what_was_typed_again_by_hand_is_nobodys() {
    let mut place = Place::new();
    place.put("hull.rs", HULL);
    place.commit(1, "begin");
    place.prompt(2, "mend it");
    let added = "    caulk_with_tar();\n";
    place.edit(
        3,
        "hull.rs",
        "    plank();\n",
        "    plank();\n    caulk_with_tar();\n",
    );
    place.commit(4, "tar");
    let text = fs::read_to_string(place.root().join("hull.rs")).unwrap();
    place.put("hull.rs", &text.replace(added, ""));
    place.commit(5, "no tar");
    place.put("hull.rs", &text);
    place.commit(6, "tar again, by hand");
    assert!(place.blame(&["hull.rs"]).iter().all(|id| id == "?"));
}

#[test]
fn what_stood_there_before_is_not_of_the_call_that_writes_it_again() {
    let mut place = Place::new();
    place.put("hull.rs", HULL);
    place.commit(1, "begin");
    place.prompt(2, "write it anew");
    let whole = place.write(3, "hull.rs", &format!("use tar::Bucket;\n\n{HULL}"));
    assert_eq!(
        place.blame(&["hull.rs"]),
        [&whole, &whole, "?", "?", "?", "?"]
    );
    // A file that is new is all the call's, its braces too.
    let new = place.write(4, "sail.rs", "fn sail() {\n    hoist();\n}\n");
    place.commit(5, "all");
    assert_eq!(place.blame(&["sail.rs"]), vec![new; 3]);
}

#[test]
fn a_brace_that_may_be_either_ones_is_nobodys() {
    let mut place = Place::new();
    place.put("a.rs", "fn one() {\n    first_thing();\n}\n");
    place.commit(1, "begin");
    place.prompt(2, "another");
    let id = place.edit(
        3,
        "a.rs",
        "    first_thing();\n}\n",
        "    first_thing();\n}\n\nfn two() {\n    second_thing();\n}\n",
    );
    let blamed = place.blame(&["a.rs"]);
    assert_eq!(blamed[..2], ["?", "?"]);
    assert_eq!(blamed[4..6], [id.as_str(), id.as_str()]);
    assert_eq!(blamed[2], "?");
}

#[test]
fn what_a_human_puts_in_place_of_a_calls_lines_has_its_own_braces() {
    let mut place = Place::new();
    place.put("a.rs", "mod a;\n");
    place.commit(1, "begin");
    place.prompt(2, "a function");
    place.edit(
        3,
        "a.rs",
        "mod a;\n",
        "mod a;\n\nfn scrape() {\n    barnacles();\n}\n",
    );
    place.commit(4, "by the agent");
    place.put("a.rs", "mod a;\n\nfn paint() {\n    red_lead();\n}\n");
    place.commit(5, "by hand");
    assert!(place.blame(&["a.rs"]).iter().all(|id| id == "?"));
}

#[test]
fn without_git_the_sessions_alone_are_replayed() {
    let mut place = Place::new();
    fs::remove_dir_all(place.root().join(".git")).unwrap();
    place.put("hull.rs", HULL);
    place.prompt(2, "mend it");
    let id = place.edit(
        3,
        "hull.rs",
        "    caulk();\n",
        "    caulk_with_tar_and_oakum();\n    scrape_all_the_barnacles();\n",
    );
    let blamed = place.blame(&["hull.rs"]);
    assert_eq!(blamed, ["?", "?", &id, &id, "?"]);
    place.put(
        "hull.rs",
        &fs::read_to_string(place.root().join("hull.rs"))
            .unwrap()
            .replace("_all_", "_some_"),
    );
    assert_eq!(place.blame(&["hull.rs"])[3], "?", "it was changed by hand");
    let missing = place.tv(&["blame", "gone.rs"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn a_file_is_written_as_it_was_after_a_call() {
    let mut place = Place::new();
    place.prompt(2, "build it");
    let odd = "a\r\nb\u{7}\tc\u{200b}\r\nlast without an end";
    let first = place.write(3, "odd.txt", odd);
    let second = place.edit(4, "odd.txt", "b\u{7}", "B");
    let path = place.session_path();
    let at = |id: &str| format!("{}#{id}", path.display());
    let done = place.tv(&["file", &at(&first), "odd.txt"]);
    assert_eq!(
        (done.stdout.as_slice(), done.status.code()),
        (odd.as_bytes(), Some(0))
    );
    let done = place.tv(&["file", &at(&second), "odd.txt"]);
    assert_eq!(done.stdout, odd.replace("b\u{7}", "B").as_bytes());
    assert!(
        String::from_utf8(done.stderr)
            .unwrap()
            .contains("1 whole write, 1 edit")
    );
}

#[test]
fn what_is_not_known_of_a_file_has_a_mark() {
    let mut place = Place::new();
    place.put("hull.rs", HULL);
    place.prompt(2, "mend it");
    place.edit(3, "hull.rs", "    caulk();\n", "    caulk_with_tar();\n");
    let path = place.session_path();
    let done = place.tv(&["file", path.to_str().unwrap(), "hull.rs"]);
    assert_eq!(done.status.code(), Some(1));
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(
        text.contains("    caulk_with_tar();\n") && text.contains("[tv: "),
        "{text}"
    );
    place.call(
        4,
        "Read",
        json!({"file_path": place.root().join("hull.rs")}),
        "     1→fn hull() {\n     2→    plank();\n     3→    caulk_with_tar();\n     4→}\n",
    );
    let done = place.tv(&["file", path.to_str().unwrap(), "hull.rs"]);
    assert_eq!(
        (done.status.code(), done.stdout),
        (Some(0), fs::read(place.root().join("hull.rs")).unwrap())
    );
    let none = place.tv(&["file", path.to_str().unwrap(), "mast.rs"]);
    assert_eq!(none.status.code(), Some(2));
}

#[test]
fn a_snapshot_that_the_agent_recorded_is_what_the_file_was() {
    let mut place = Place::new();
    place.put("hull.rs", HULL);
    place.prompt(2, "mend it");
    let id = place.edit(3, "hull.rs", "    caulk();\n", "    tar();\n");
    let answer = place.session.last_mut().unwrap();
    answer["toolUseResult"] = json!({"filePath": "hull.rs", "originalFile": HULL});
    let text = fs::read_to_string(place.root().join("hull.rs")).unwrap();
    let path = place.session_path();
    let done = place.tv(&["file", path.to_str().unwrap(), "hull.rs"]);
    assert_eq!(
        (done.status.code(), done.stdout),
        (Some(0), text.into_bytes())
    );
    let words = String::from_utf8(done.stderr).unwrap();
    assert!(words.contains("1 snapshot, 1 edit"), "{words}");
    fs::remove_dir_all(place.root().join(".git")).unwrap();
    assert_eq!(place.blame(&["hull.rs"]), ["?", "?", &id, "?"]);
}

#[test]
fn all_that_a_session_changed_is_one_diff_that_git_applies() {
    let mut place = Place::new();
    place.put("hull.rs", HULL);
    place.commit(1, "begin");
    place.prompt(2, "mend it");
    place.call(
        2,
        "Read",
        json!({"file_path": place.root().join("hull.rs")}),
        "     1→fn hull() {\n     2→    plank();\n     3→    caulk();\n     4→}\n",
    );
    place.edit(3, "hull.rs", "    caulk();\n", "    caulk_with_tar();\n");
    place.write(4, "sail.rs", "fn sail() {}\n");
    place.edit(5, "hull.rs", "    plank();\n", "");
    let (hull, sail) = ("hull.rs", "sail.rs");
    let after = [hull, sail].map(|name| fs::read(place.root().join(name)).unwrap());
    let path = place.session_path();
    let done = place.tv(&["diff", path.to_str().unwrap(), "--files"]);
    assert_eq!(
        (done.status.code(), done.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    place.put(hull, HULL);
    fs::remove_file(place.root().join(sail)).unwrap();
    let patch = place.folder.path().join("changes.patch");
    fs::write(&patch, done.stdout).unwrap();
    place.git(6, &["apply", patch.to_str().unwrap()]);
    assert_eq!(
        [hull, sail].map(|name| fs::read(place.root().join(name)).unwrap()),
        after
    );
}

/// Editors read the form of `git blame --porcelain`: an id of 40 digits and the number of each line, the facts of a
/// range at its first line, and the line behind a tab.
#[test]
fn editors_get_the_form_of_git() {
    let mut place = Place::new();
    place.put("hull.rs", HULL);
    place.commit(1, "begin by hand");
    place.prompt(2, "mend the hull");
    place.edit(3, "hull.rs", "    caulk();\n", "    caulk_with_tar();\n");
    place.commit(4, "what the agent did");
    let done = place.tv(&["blame", "--porcelain", "hull.rs"]);
    assert!(done.status.success(), "{done:?}");
    let written = String::from_utf8(done.stdout).unwrap();
    let (mut text, mut sure) = (String::new(), Vec::new());
    let mut lines = written.lines();
    while let Some(head) = lines.next() {
        let parts: Vec<&str> = head.split(' ').collect();
        let number = text.lines().count() + 1;
        assert!(
            parts[0].len() == 40 && parts[0].chars().all(|c| c.is_ascii_hexdigit()),
            "{head}"
        );
        assert_eq!(parts[1], number.to_string(), "{head}");
        for line in lines.by_ref() {
            if let Some(line) = line.strip_prefix('\t') {
                text += &format!("{line}\n");
                break;
            }
            let known = line.strip_prefix("tv-sure ");
            sure.extend(known.map(|word| (number, word.to_owned())));
            assert!(
                !line.starts_with("author ") || (line == "author claude-code") == (number == 3),
                "{number} {line}"
            );
        }
    }
    assert_eq!(text, HULL.replace("caulk()", "caulk_with_tar()"));
    let sure: Vec<(usize, &str)> = sure.iter().map(|(n, word)| (*n, word.as_str())).collect();
    assert_eq!(
        sure,
        [(1, "unknown"), (3, "exact"), (4, "unknown")],
        "{written}"
    );
}
