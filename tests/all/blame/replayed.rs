//! Real sessions whose edits are replayed into repositories, with commits of a human and a bot between them. Each line
//! has the authors that it may have; that of a human or a bot has none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::corpus;

/// A session of the corpus, its folder, and the share of the lines of its calls that must be found, in percent.
const SESSIONS: [(&str, &str, u64); 5] = [
    (
        "claude-code/entireio__cli__a3__c1ef347792__0__full.jsonl",
        "/Users/soph/Work/entire/devenv/cli",
        80,
    ),
    (
        "codex/jnarowski__agentcmd__rollout-2025-09-24T19-22-20-01997e76-d124-7592-9cac-2ec05abbca08.jsonl",
        "/Users/jnarowski/Dev/spectora/src/spectora-labs-monorepo-v2",
        85,
    ),
    (
        "pi/badlogic__pi-mono__before-compaction.jsonl",
        "/Users/badlogic/workspaces/pi-mono",
        93,
    ),
    (
        "opencode/dayhaysoos__nimbus__export_37__364f83fa16__0.json",
        "/Users/nickdejesus/Code/nimbus",
        93,
    ),
    (
        "copilot-cli/jjwvanboxtel__poule_v2__d5b1506c_events.jsonl",
        r"C:\Github\poule_v2",
        93,
    ),
];
/// Files of a session that are looked at, those with most edits.
const FILES: usize = 6;

/// A line, and the calls that may be named as its author; `None` is nobody.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    by: BTreeSet<Option<String>>,
}

impl Line {
    fn nobodys(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            by: BTreeSet::from([None]),
        }
    }
}

#[derive(Clone, Debug)]
enum What {
    Write(String),
    Replace(Vec<(String, String)>, bool),
    Patch(Vec<(String, String)>),
}

#[derive(Clone, Debug)]
struct Edit {
    id: String,
    at: i64,
    path: String,
    what: What,
}

/// What a human or a bot does after an edit.
#[derive(Clone, Debug)]
enum Deed {
    /// Types lines, of which one is a copy of the line of a call, and a brace.
    Type(usize),
    /// Changes a line of a call.
    Bump(usize),
    /// Takes a line of a call out, and types it again later.
    TakeOut(usize),
}

type Files = BTreeMap<String, Vec<Line>>;

/// Replaces lines by others. Lines that are the same at both ends keep their authors.
fn splice(lines: &mut Vec<Line>, from: usize, count: usize, text: &str, id: &str) {
    let old: Vec<Line> = lines[from..from + count].to_vec();
    let new: Vec<&str> = text.split_inclusive('\n').collect();
    let key = |text: &str| text.trim_end_matches('\n').to_owned();
    let least = old.len().min(new.len());
    let head = (0..least)
        .take_while(|at| key(&old[*at].text) == key(new[*at]))
        .count();
    let tail = (0..least - head)
        .take_while(|at| key(&old[old.len() - 1 - at].text) == key(new[new.len() - 1 - at]))
        .count();
    let made = new.iter().enumerate().map(|(at, text)| {
        let same = if at < head {
            Some(at)
        } else if at >= new.len() - tail {
            Some(old.len() - (new.len() - at))
        } else {
            None
        };
        let by = if let Some(same) = same {
            old[same].by.clone()
        } else {
            let mut by = BTreeSet::from([Some(id.to_owned())]);
            // What is the same in the middle may be kept or written again.
            for known in &old[head..old.len() - tail] {
                if key(&known.text) == key(text) {
                    by.extend(known.by.clone());
                }
            }
            by
        };
        Line {
            text: (*text).to_owned(),
            by,
        }
    });
    let made: Vec<Line> = made.collect();
    lines.splice(from..from + count, made);
}

/// Replaces a text that occurs once; the text that is missing, if it does not.
fn replace(lines: &mut Vec<Line>, old: &str, new: &str, id: &str) -> Result<(), Option<String>> {
    let text: String = lines.iter().map(|line| line.text.as_str()).collect();
    let place = text.find(old).ok_or_else(|| Some(old.to_owned()))?;
    if text.matches(old).count() > 1 || old.is_empty() {
        return Err(None);
    }
    let from = text[..place].matches('\n').count();
    let start = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let mut end = place + old.len();
    if !text[..end].ends_with('\n') || !(new.is_empty() || new.ends_with('\n')) {
        end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    }
    let count = text[start..end].split_inclusive('\n').count();
    let changed = format!(
        "{}{new}{}",
        &text[start..place],
        &text[place + old.len()..end]
    );
    splice(lines, from, count, &changed, id);
    Ok(())
}

fn apply(files: &mut Files, edit: &Edit) -> Result<(), Option<String>> {
    let lines = files.entry(edit.path.clone()).or_default();
    match &edit.what {
        What::Write(content) => {
            let count = lines.len();
            splice(lines, 0, count, content, &edit.id);
            Ok(())
        }
        What::Replace(pairs, false) | What::Patch(pairs) => pairs
            .iter()
            .try_for_each(|(old, new)| replace(lines, old, new, &edit.id)),
        What::Replace(..) => Err(None),
    }
}

/// The hunks of a patch as `*** Begin Patch` has it, by file.
fn hunks(patch: &str) -> Vec<(String, What)> {
    let mut found: Vec<(String, What)> = Vec::new();
    for line in patch.lines() {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            found.push((path.to_owned(), What::Write(String::new())));
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            found.push((path.to_owned(), What::Patch(Vec::new())));
        } else if let Some((_, what)) = found.last_mut().filter(|_| !line.starts_with("*** ")) {
            match what {
                What::Write(content) => *content += &format!("{}\n", &line[1.min(line.len())..]),
                What::Patch(pairs) if line.starts_with("@@") => pairs.push(Default::default()),
                What::Patch(pairs) => {
                    if pairs.is_empty() {
                        pairs.push(Default::default());
                    }
                    let (old, new) = pairs.last_mut().unwrap();
                    let text = format!("{}\n", line.get(1..).unwrap_or_default());
                    if !line.starts_with('+') {
                        *old += &text;
                    }
                    if !line.starts_with('-') {
                        *new += &text;
                    }
                }
                What::Replace(..) => {}
            }
        }
    }
    found
}

struct Replay {
    folder: tempfile::TempDir,
    session: PathBuf,
}

impl Replay {
    /// A copy of a session, as if it had been in a folder of ours.
    fn of(original: &Path, root: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let session = folder
            .path()
            .join("sessions")
            .join(original.file_name().unwrap());
        fs::create_dir_all(session.parent().unwrap()).unwrap();
        let replay = Self { folder, session };
        let home = replay.root().to_str().unwrap().to_owned();
        let text = fs::read_to_string(original).unwrap();
        let mut moved = text.replace(root, &home);
        // Snapshots of the file that the agent had, without what was done by others here.
        moved = moved.replace("\"originalFile\":", "\"leftOut\":");
        if root.contains('\\') {
            moved = moved.replace(&root.replace('\\', "/"), &home);
            let escaped = root.replace('\\', r"\\");
            let mut parts = moved.split(&escaped);
            let mut whole = parts.next().unwrap().to_owned();
            for part in parts {
                let end = part.find(['"', ' ', '\n']).unwrap_or(part.len());
                whole += &home;
                whole += &part[..end].replace(r"\\", "/");
                whole += &part[end..];
            }
            moved = whole;
        }
        fs::write(&replay.session, moved).unwrap();
        fs::create_dir_all(replay.root()).unwrap();
        replay
    }

    fn root(&self) -> PathBuf {
        self.folder
            .path()
            .canonicalize()
            .unwrap()
            .join("repository")
    }

    fn tv(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_tv"))
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.root())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let done = self.tv(arguments);
        let text = String::from_utf8(done.stdout).unwrap();
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    }

    /// The edits of the session, in order of time.
    fn edits(&self) -> Vec<Edit> {
        let mut edits = Vec::new();
        let session = self.session.to_str().unwrap();
        for entry in self.json(&["show", "--json", session]) {
            for block in entry["blocks"].as_array().into_iter().flatten() {
                let is_change = block["kind"] == "edit" || block["kind"] == "write";
                if block["type"] != "call" || !is_change || block["state"] != "done" {
                    continue;
                }
                let at = [&block["result"]["at"], &block["ended"], &entry["at"]]
                    .into_iter()
                    .find_map(|at| at.as_str()?.parse::<jiff::Timestamp>().ok());
                let (Some(at), Some(id)) = (at, block["id"].as_str()) else {
                    continue;
                };
                for (path, what) in self.changes(&block["input"]) {
                    edits.push(Edit {
                        id: id.to_owned(),
                        at: at.as_millisecond(),
                        path,
                        what,
                    });
                }
            }
        }
        edits.sort_by_key(|edit| edit.at);
        edits
    }

    fn changes(&self, input: &Value) -> Vec<(String, What)> {
        let root = format!("{}/", self.root().display());
        let text = |value: &Value, names: &[&str]| {
            let found = names.iter().find_map(|name| value[*name].as_str());
            found.map(str::to_owned)
        };
        let command = input["command"]
            .as_array()
            .and_then(|words| words.last()?.as_str());
        let patch = text(input, &["patchText", "input"]).or(command.map(str::to_owned));
        let patch = patch.or_else(|| input.as_str().map(str::to_owned));
        let below = |path: &str| path.strip_prefix(&root).unwrap_or(path).to_owned();
        if let Some(patch) = patch.filter(|patch| patch.contains("*** Begin Patch")) {
            let found = hunks(&patch).into_iter();
            return found.map(|(path, what)| (below(&path), what)).collect();
        }
        let Some(path) = text(input, &["file_path", "path", "filePath"]) else {
            return Vec::new();
        };
        let pair = |value: &Value| {
            Some((
                text(value, &["old_string", "oldText", "oldString", "old_str"])?,
                text(value, &["new_string", "newText", "newString", "new_str"])?,
            ))
        };
        let several = input["edits"].as_array().into_iter().flatten();
        let pairs: Vec<_> = pair(input)
            .into_iter()
            .chain(several.filter_map(pair))
            .collect();
        let is_all = input["replace_all"] == true || input["replaceAll"] == true;
        let what = match text(input, &["content", "file_text"]) {
            Some(content) => What::Write(content),
            None => What::Replace(pairs, is_all),
        };
        vec![(below(&path), what)]
    }

    fn git(&self, who: &str, at: i64, arguments: &[&str]) -> Vec<u8> {
        let date = format!("@{at} +0000");
        let done = Command::new("git")
            .args([
                "-c",
                &format!("user.name={who}"),
                "-c",
                "user.email=a@example.org",
            ])
            .args([
                "-c",
                "commit.gpgSign=false",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(["-c", "core.autocrlf=false", "-c", "gc.auto=0"])
            .args(arguments)
            .current_dir(self.root())
            .env("HOME", self.folder.path())
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?} {done:?}");
        done.stdout
    }

    fn commit(&self, who: &str, at: i64, files: &Files) -> String {
        for (path, lines) in files {
            let path = self.root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text: String = lines.iter().map(|line| line.text.as_str()).collect();
            fs::write(path, text).unwrap();
        }
        self.git(who, at, &["add", "-A", "-f"]);
        self.git(
            who,
            at,
            &["commit", "-q", "--allow-empty", "-m", "as it stands"],
        );
        let id = self.git(who, at, &["rev-parse", "HEAD"]);
        String::from_utf8(id).unwrap().trim().to_owned()
    }
}

/// What is there before the session, so that its edits apply, and those edits that do not.
fn base_of(edits: &[Edit]) -> (Files, HashSet<usize>) {
    let (mut blocks, mut left_out) = (BTreeMap::<String, Vec<String>>::new(), HashSet::new());
    let mut added: HashSet<(usize, String)> = HashSet::new();
    loop {
        let mut files: Files = BTreeMap::new();
        for (path, blocks) in &blocks {
            let lines = files.entry(path.clone()).or_default();
            for (number, block) in blocks.iter().enumerate() {
                lines.push(Line::nobodys(&format!(
                    "// what stands here before, part {number}\n"
                )));
                let end = if block.ends_with('\n') { "" } else { "\n" };
                let text = format!("{block}{end}");
                lines.extend(text.split_inclusive('\n').map(Line::nobodys));
            }
            lines.push(Line::nobodys("// the end of what stands here before\n"));
        }
        let base = files.clone();
        let mut is_done = true;
        for (number, edit) in edits.iter().enumerate() {
            if left_out.contains(&number) {
                continue;
            }
            match apply(&mut files, edit) {
                Ok(()) => continue,
                Err(Some(missing)) if added.insert((number, missing.clone())) => {
                    blocks.entry(edit.path.clone()).or_default().push(missing);
                }
                Err(_) => drop(left_out.insert(number)),
            }
            is_done = false;
            break;
        }
        if is_done {
            return (base, left_out);
        }
    }
}

/// Does what a human or a bot does to a file. Returns who.
fn act(lines: &mut Vec<Line>, deed: &Deed, number: usize) -> &'static str {
    let of_call = |line: &Line| line.by.iter().any(Option::is_some) && line.text.trim().len() > 12;
    let calls: Vec<usize> = (0..lines.len()).filter(|at| of_call(&lines[*at])).collect();
    let chosen = |at: &usize| calls.get(at % calls.len().max(1)).copied();
    match deed {
        Deed::Type(at) => {
            let copy = chosen(at).map(|at| lines[at].text.clone());
            let typed = [
                format!("typed by hand, {number}\n"),
                "}\n".to_owned(),
                "\n".to_owned(),
            ];
            let place = at % (lines.len() + 1);
            if place > 0 && !lines[place - 1].text.ends_with('\n') {
                lines[place - 1].text.push('\n');
                lines[place - 1].by.insert(None);
            }
            let typed = typed.into_iter().chain(copy);
            lines.splice(
                place..place,
                typed.map(|text| Line::nobodys(&text)).collect::<Vec<_>>(),
            );
            "mira"
        }
        Deed::Bump(at) => {
            if let Some(at) = chosen(at) {
                let text = format!("{} // bumped, {number}\n", lines[at].text.trim_end());
                lines[at] = Line::nobodys(&text);
            }
            "bot"
        }
        Deed::TakeOut(at) => {
            if let Some(at) = chosen(at) {
                lines.remove(at);
            }
            "mira"
        }
    }
}

#[test]
fn no_line_of_a_human_or_a_bot_is_a_sessions() {
    let Some(folder) = corpus::beside("corpus") else {
        return;
    };
    let (mut wrong, mut same) = (Vec::new(), 0);
    for (name, root, least) in SESSIONS {
        let replay = Replay::of(&folder.join(name), root);
        let shares = check(&replay, name, &mut wrong);
        let percent = shares.exact * 100 / shares.of_calls.max(1);
        println!(
            "{name}: {} lines of calls, {percent} % exact, {} moved; {} lines of others; {} files as committed",
            shares.of_calls, shares.moved, shares.of_others, shares.same
        );
        same += shares.same;
        assert!(percent >= least, "{name}: {percent} %");
        assert!(shares.of_calls > 100 && shares.of_others > 20, "{name}");
    }
    assert!(same >= 10, "{same} files as they were committed");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[derive(Default)]
struct Shares {
    of_calls: u64,
    exact: u64,
    moved: u64,
    of_others: u64,
    /// Files that `tv file` writes as git has them.
    same: u64,
}

/// Replays a session, and compares what `tv` says with what was done.
fn check(replay: &Replay, name: &str, wrong: &mut Vec<String>) -> Shares {
    let all = replay.edits();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for edit in &all {
        *counts.entry(&edit.path).or_default() += 1;
    }
    let mut paths: Vec<(&str, usize)> = counts.into_iter().collect();
    paths.sort_by_key(|(path, count)| (std::cmp::Reverse(*count), *path));
    let paths: Vec<&str> = paths
        .into_iter()
        .map(|(path, _)| path)
        .take(FILES)
        .collect();
    let edits: Vec<Edit> = all
        .iter()
        .filter(|edit| paths.contains(&edit.path.as_str()))
        .cloned()
        .collect();
    let (base, left_out) = base_of(&edits);
    let edits: Vec<Edit> = edits
        .into_iter()
        .enumerate()
        .filter(|(number, _)| !left_out.contains(number))
        .map(|(_, edit)| edit)
        .collect();
    // Deeds that would keep later edits from applying are not done.
    let mut deeds: Vec<(usize, Deed)> = Vec::new();
    for number in 0..edits.len() {
        let after = edits.get(number + 1).map_or(i64::MAX, |edit| edit.at);
        if after - edits[number].at < 6_000 {
            continue;
        }
        let deed = match number % 3 {
            0 => Deed::Type(number * 7 + 3),
            1 => Deed::Bump(number * 5 + 1),
            _ => Deed::TakeOut(number * 3 + 2),
        };
        deeds.push((number, deed));
        let mut files = base.clone();
        let is_fine = edits.iter().enumerate().all(|(at, edit)| {
            let is_applied = apply(&mut files, edit).is_ok();
            for (_, deed) in deeds.iter().filter(|(after, _)| *after == at) {
                act(files.get_mut(&edit.path).unwrap(), deed, at);
            }
            is_applied
        });
        if !is_fine {
            deeds.pop();
        }
    }
    replay.git("mira", 0, &["init", "-q"]);
    let mut files = base.clone();
    replay.commit("mira", edits[0].at / 1_000 - 3_600, &files);
    let (mut committed, mut touched) = (Vec::new(), HashSet::new());
    for (number, edit) in edits.iter().enumerate() {
        apply(&mut files, edit).unwrap();
        let after = edits.get(number + 1).map_or(i64::MAX, |edit| edit.at);
        let second = edit.at / 1_000 + 1;
        let has_deed = deeds.iter().any(|(at, _)| *at == number);
        if after / 1_000 > second && (number % 2 == 0 || has_deed) {
            let id = replay.commit("agent", second, &files);
            let is_whole = !base.contains_key(&edit.path) && !touched.contains(&edit.path);
            committed.push((edit.clone(), id, is_whole));
        }
        for (_, deed) in deeds.iter().filter(|(at, _)| *at == number) {
            let lines = files.get_mut(&edit.path).unwrap();
            let before = lines.clone();
            let who = act(lines, deed, number);
            touched.insert(edit.path.clone());
            replay.commit(who, second + 1, &files);
            if let Deed::TakeOut(_) = deed {
                // Typed again by hand, in the same place.
                let after: Vec<String> = files[&edit.path]
                    .iter()
                    .map(|line| line.text.clone())
                    .collect();
                let mut again = before;
                let at = (0..again.len()).find(|at| after.get(*at) != Some(&again[*at].text));
                if let Some(line) = at.and_then(|at| again.get_mut(at)) {
                    *line = Line::nobodys(&line.text.clone());
                }
                files.insert(edit.path.clone(), again);
                replay.commit("mira", second + 2, &files);
            }
        }
    }
    let last = edits.last().unwrap().at / 1_000 + 60;
    replay.commit("mira", last, &files);
    let mut shares = Shares::default();
    let session = replay.session.to_str().unwrap();
    for (path, lines) in &files {
        let mut found: Vec<(Option<String>, bool)> = Vec::new();
        for range in replay.json(&["blame", "--json", path, session]) {
            let id = range["call"]["id"].as_str().map(str::to_owned);
            let count =
                range["end_line"].as_u64().unwrap() + 1 - range["start_line"].as_u64().unwrap();
            let is_moved = range["sure"] == "moved";
            found.extend((0..count).map(|_| (id.clone(), is_moved)));
        }
        assert_eq!(found.len(), lines.len(), "{name} {path}");
        for (number, (line, (id, is_moved))) in lines.iter().zip(found).enumerate() {
            let is_of_call = !line.by.contains(&None);
            shares.of_calls += u64::from(is_of_call);
            shares.of_others += u64::from(!is_of_call);
            shares.exact += u64::from(is_of_call && id.is_some() && !is_moved);
            shares.moved += u64::from(is_of_call && is_moved);
            if id.is_some() && !line.by.contains(&id) {
                wrong.push(format!("{name} {path}:{}: {id:?} not {line:?}", number + 1));
            }
        }
    }
    let whole = committed.iter().filter(|(.., is_whole)| *is_whole);
    for (edit, commit, _) in whole.take(8) {
        let done = replay.tv(&["file", &format!("{session}#{}", edit.id), &edit.path]);
        let expected = replay.git("mira", 0, &["show", &format!("{commit}:{}", edit.path)]);
        if done.stdout == expected {
            shares.same += 1;
        } else if done.status.code() == Some(0) {
            wrong.push(format!(
                "{name}: {} after {} is not as committed",
                edit.path, edit.id
            ));
        }
    }
    shares
}
