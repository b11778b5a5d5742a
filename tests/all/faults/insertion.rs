//! The law of the unknown: if records, parts or blocks of unknown kinds are inserted into a
//! session, all known content is unchanged, and the inserted content is shown quietly, legibly, and
//! is counted.
//!
//! Exceptions: formats whose kinds are no strings (Cursor's editor and Kiro's first engine name
//! kinds by numbers or keys, Aider writes Markdown), the type of a step of Antigravity's model (it
//! is the tool that ran), spans in a database (each is rows of two tables; their messages are
//! covered); and the output of a tool, which is its text, whatever parts it has.

mod made;
mod spans;
#[cfg(feature = "sqlite")]
mod tables;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::{ProptestConfig, prop_assert};
use proptest::test_runner::TestRunner;
use serde_json::Value;
use tv::ingest::Target;
use tv::model::entry::{Block, BlockKind, Marks};
use tv::model::tally::unknown::Judged;
use tv::model::timestamp::Timestamp;
use tv::render::row::Level;
use tv::report::reading::NamedSessions;
use tv::report::rows::Paper;
use tv::report::{printer, show, stats};

use self::made::{Inserted, TOKEN, Wish};
use crate::fixtures;

/// What is seen of a session.
#[derive(Debug)]
pub(super) struct Seen {
    /// Its entries without what was put in: what they are, in the order in which they stand.
    entries: Vec<String>,
    /// The same as they are read.
    read: Vec<Value>,
    /// Its figures.
    stats: Value,
    /// Its rows at level 3.
    rows: Vec<String>,
    /// Those at level 4.
    more: Vec<String>,
    /// All there is of it.
    raw: String,
    /// Unknown kinds.
    unknown: BTreeMap<String, (u64, Judged)>,
}

fn seen(target: &Target) -> Seen {
    let session = fixtures::read(target);
    let is_new = |block: &Block| {
        matches!(block.kind, BlockKind::Aside(..)) && format!("{block:?}").contains(TOKEN)
    };
    let mut entries = Vec::new();
    for entry in session.transcript.entries() {
        if entry.blocks.iter().any(is_new)
            && entry.blocks.iter().all(is_new)
            && entry.usage.is_none()
        {
            continue;
        }
        // How loud things are that nobody knows, all of them together decide.
        let is_unknown = !entry.blocks.is_empty()
            && entry
                .blocks
                .iter()
                .all(|block| matches!(block.kind, BlockKind::Aside(..)));
        let marks = if is_unknown {
            Marks::default()
        } else {
            entry.marks
        };
        let of = (
            entry.role,
            entry.lane.as_deref(),
            marks,
            entry.stop,
            entry.at,
            entry.ended,
        );
        entries.push(without_places(&format!(
            "{of:?} {:?} {:?} {:?}",
            entry.usage, entry.model, entry.from
        )));
    }
    let unknown = session.transcript.tally().unknown.iter();
    let unknown = unknown
        .map(|(kind, found)| (kind.to_string(), (found.count(), found.judged())))
        .collect();
    let read = shown(target, Level::Preview, true);
    Seen {
        entries,
        read: read.lines().filter_map(known_of).collect(),
        stats: figures(target),
        rows: lines(&shown(target, Level::Preview, false)),
        more: lines(&shown(target, Level::Full, false)),
        raw: shown(target, Level::Raw, false),
        unknown,
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(str::to_owned)
        .collect()
}

fn named(target: &Target) -> NamedSessions {
    NamedSessions {
        targets: vec![Ok(target.clone())],
        ..NamedSessions::default()
    }
}

fn shown(target: &Target, level: Level, json: bool) -> String {
    let options = printer::PrintOptions {
        sessions: named(target),
        is_joined: false,
        paper: Paper {
            width: 200,
            colour: false,
            ascii: true,
        },
        level,
        json,
        follow: None,
        branch: printer::BranchChoice::All,
    };
    let mut out = Vec::new();
    show::write(&options, || Timestamp(0), &mut out).unwrap();
    without_places(&String::from_utf8(out).unwrap())
}

fn figures(target: &Target) -> Value {
    let mut out = Vec::new();
    let options = stats::StatsOptions {
        sessions: named(target),
        json: true,
    };
    stats::write(&options, Timestamp(1_893_456_000_000), &mut out).unwrap();
    let mut figures: Value =
        serde_json::from_str(&without_places(&String::from_utf8(out).unwrap())).unwrap();
    // What counts records counts what was put in, too.
    for name in ["path", "records"] {
        figures.as_object_mut().unwrap().remove(name);
    }
    without_counts(&mut figures);
    figures
}

fn without_counts(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("raw");
            members.remove("point");
            // A prompt may be called by its place, or by what is said around it.
            members.remove("prompt");
            members.values_mut().for_each(without_counts);
        }
        Value::Array(items) => items.iter_mut().for_each(without_counts),
        _ => {}
    }
}

/// An entry as it is read, without what was put in, and without what it is called: keys may be places in the file.
fn known_of(line: &str) -> Option<Value> {
    let mut entry: Value = serde_json::from_str(line).unwrap();
    let members = entry.as_object_mut().unwrap();
    for name in ["id", "key", "parent", "origin"] {
        members.remove(name);
    }
    members.values_mut().for_each(without_details);
    let blocks = members["blocks"].as_array_mut().unwrap();
    for name in ["completed", "delivered"] {
        let said = blocks
            .iter_mut()
            .filter_map(|block| block[name].as_object_mut());
        said.for_each(|said| drop(said.remove("by")));
    }
    let is_new = |block: &Value| {
        block["type"] == "raw" && !block["judged"].is_null() && block.to_string().contains(TOKEN)
    };
    let before = blocks.len();
    blocks.retain(|block| !is_new(block));
    let is_known = !blocks.is_empty() || before == 0 || !members["usage"].is_null();
    is_known.then_some(entry)
}

/// What no block of a record shows stands below the last one, which may be what was put in.
fn without_details(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in ["details", "parentUuid", "parentId", "point"] {
                members.remove(name);
            }
            members.values_mut().for_each(without_details);
        }
        Value::Array(items) => items.iter_mut().for_each(without_details),
        _ => {}
    }
}

/// `@0:17` as `@`: where a record stands is no news.
fn without_places(text: &str) -> String {
    let mut parts = text.split('@');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = if rest.len() < part.len() {
            rest.strip_prefix(':').unwrap_or(part)
        } else {
            part
        };
        let rest = if rest.len() < part.len() {
            rest.trim_start_matches(|c: char| c.is_ascii_digit())
        } else {
            part
        };
        let mut rest = rest;
        while let Some(number) = rest
            .strip_prefix('/')
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        plain.push('@');
        plain.push_str(rest);
    }
    let is_count = |line: &str| {
        line.contains(" records inherited from ")
            || line.starts_with("  -- ") && line.ends_with(" UTC --")
    };
    let lines: Vec<&str> = plain.lines().filter(|line| !is_count(line)).collect();
    lines.join("\n")
}

/// What is different in a session into which nothing new was put.
pub(super) fn changes(before: &[Seen], after: &[Seen]) -> Vec<String> {
    faults(before, after, &[])
}

/// What is different in the main lane.
pub(super) fn changes_of_main(before: &[Seen], after: &[Seen]) -> Vec<String> {
    let main = |seen: &[Seen]| -> Vec<String> {
        let entries = seen.iter().flat_map(|seen| &seen.read);
        entries
            .filter(|entry| entry["lane"].is_null())
            .map(Value::to_string)
            .collect()
    };
    let mut faults = Vec::new();
    differ("main lane", &main(before), &main(after), &mut faults);
    faults
}

/// What is wrong with a session into which things of unknown kinds were put.
fn faults(before: &[Seen], after: &[Seen], inserted: &[Inserted]) -> Vec<String> {
    let mut faults = Vec::new();
    if before.len() != after.len() {
        faults.push(format!("{} sessions are {}", before.len(), after.len()));
        return faults;
    }
    for (before, after) in before.iter().zip(after) {
        differ("entries", &before.entries, &after.entries, &mut faults);
        let mut found = None;
        first_difference(
            &Value::Array(before.read.clone()),
            &Value::Array(after.read.clone()),
            "",
            &mut found,
        );
        faults.extend(found.map(|found| format!("read: {found}")));
        for (name, value) in before.stats.as_object().unwrap() {
            if after.stats[name] != *value {
                let mut found = None;
                first_difference(value, &after.stats[name], name, &mut found);
                faults.push(format!("figures: {}", found.unwrap_or_default()));
            }
        }
        let old: Vec<&String> = after
            .rows
            .iter()
            .filter(|row| !row.contains(TOKEN))
            .collect();
        differ(
            "rows",
            &before.rows.iter().collect::<Vec<_>>(),
            &old,
            &mut faults,
        );
    }
    let mut counted: BTreeMap<&str, (u64, Option<Judged>)> = BTreeMap::new();
    for (kind, (count, judged)) in after.iter().flat_map(|seen| &seen.unknown) {
        if let Some(name) = kind.find(TOKEN) {
            let known = counted.entry(&kind[name..]).or_default();
            *known = (known.0 + count, Some(*judged));
        }
    }
    for Inserted {
        name,
        probes,
        judged,
        place,
        tellings,
    } in inserted
    {
        // A session of a database may be told by the one that began it, too.
        let most = probes.len() * tellings * after.len();
        let (count, found) = counted.get(name.as_str()).copied().unwrap_or_default();
        if found != Some(*judged)
            || !(probes.len()..=most).contains(&usize::try_from(count).unwrap())
        {
            faults.push(format!(
                "counted {place}: {count} {found:?} of {} {judged:?}",
                probes.len()
            ));
        }
        for probe in probes {
            if !after.iter().any(|seen| seen.raw.contains(probe.as_str())) {
                faults.push(format!("lost {place}"));
            }
        }
        let of_it = |rows: &Vec<String>| {
            rows.iter()
                .filter(|row| row.contains(name.as_str()))
                .count()
        };
        let rows = |rows: fn(&Seen) -> &Vec<String>| {
            after.iter().map(rows).map(of_it).max().unwrap_or_default()
        };
        let most = if *judged == Judged::Trace {
            0
        } else {
            probes.len() * tellings
        };
        // What is of a sub-agent or of a copied history is folded away with it.
        if *judged == Judged::Loud && rows(|seen| &seen.rows).max(rows(|seen| &seen.more)) == 0 {
            faults.push(format!("no row of {place}: {judged:?}"));
        }
        if rows(|seen| &seen.rows) > most {
            faults.push(format!(
                "rows of {place}: {} of {most} {judged:?}",
                rows(|seen| &seen.rows)
            ));
        }
        if *judged == Judged::Trace
            && !place.starts_with("/*")
            && !place.contains("/*/")
            && !place.starts_with("/part|")
            && !["|message.payload.type", "|event.part.type"].contains(&place.as_str())
            && rows(|seen| &seen.more) > inserted.len() * tellings
        {
            faults.push(format!("unfolded {place}: {}", rows(|seen| &seen.more)));
        }
    }
    faults
}

fn differ<T: PartialEq + std::fmt::Debug>(
    what: &str,
    before: &[T],
    after: &[T],
    faults: &mut Vec<String>,
) {
    let pair = before
        .iter()
        .zip(after)
        .find(|(before, after)| before != after);
    if let Some((before, after)) = pair {
        faults.push(format!("{what}: {before:?}\n      is {after:?}"));
    } else if before.len() != after.len() {
        let more = before.get(after.len()).or(after.get(before.len()));
        faults.push(format!(
            "{what}: {} are {}: {more:?}",
            before.len(),
            after.len()
        ));
    }
}

/// Where two values differ first, and how.
fn first_difference(before: &Value, after: &Value, at: &str, found: &mut Option<String>) {
    if before == after || found.is_some() {
        return;
    }
    match (before, after) {
        (Value::Object(old), Value::Object(new)) if old.keys().eq(new.keys()) => {
            old.iter().for_each(|(name, value)| {
                first_difference(value, &new[name], &format!("{at}.{name}"), found);
            });
        }
        (Value::Array(old), Value::Array(new)) => {
            let pairs = old.iter().zip(new).enumerate();
            pairs.for_each(|(n, (old, new))| {
                first_difference(old, new, &format!("{at}[{n}]"), found);
            });
            if found.is_none() {
                let longer = if old.len() < new.len() { new } else { old };
                let more = &longer[old.len().min(new.len())];
                *found = Some(format!("{at}: {} are {}: {more}", old.len(), new.len()));
            }
        }
        _ => *found = Some(format!("{at}: {before} is {after}")),
    }
}

/// A file of JSON, or a database with JSON in its columns.
#[derive(Clone)]
struct Content {
    root: Value,
    form: Form,
}

#[derive(Clone)]
enum Form {
    Document,
    /// What stands before each line.
    Lines(&'static str),
    /// A folder with a file for each.
    Folder,
    /// Its bytes before anything was put in.
    #[cfg(feature = "sqlite")]
    Database(Vec<u8>),
}

impl Content {
    fn of(file: &Path) -> Option<Self> {
        if file.is_dir() {
            let records = fixtures::children(file)
                .into_iter()
                .map(|file| fs::read_to_string(file).unwrap());
            let root = records
                .map(|record| serde_json::from_str(&record).unwrap())
                .collect();
            return Some(Self {
                root: Value::Array(root),
                form: Form::Folder,
            });
        }
        #[cfg(feature = "sqlite")]
        if file.extension().is_some_and(|extension| extension == "db") {
            return Some(Self {
                root: tables::read(file),
                form: Form::Database(fs::read(file).unwrap()),
            });
        }
        let text = fs::read_to_string(file).ok()?;
        if let Ok(mut root) = serde_json::from_str::<Value>(&text) {
            spans::open(&mut root);
            return Some(Self {
                root,
                form: Form::Document,
            });
        }
        let frame = if text.starts_with("data: ") {
            "data: "
        } else {
            ""
        };
        let line = |line: &str| {
            let json = line.strip_prefix(frame).unwrap_or(line);
            serde_json::from_str::<Value>(json).unwrap_or_else(|_| Value::from(line))
        };
        let items: Vec<Value> = text.lines().map(line).collect();
        let is_json = items.iter().any(Value::is_object);
        let mut root = Value::Array(items);
        spans::open(&mut root);
        is_json.then_some(Self {
            root,
            form: Form::Lines(frame),
        })
    }

    /// Whether its format is told by something else than most of its records.
    fn is_known(&self) -> bool {
        match self.form {
            Form::Document | Form::Lines(_) => false,
            Form::Folder => true,
            #[cfg(feature = "sqlite")]
            Form::Database(_) => true,
        }
    }

    fn write(&self, file: &Path) {
        let mut root = self.root.clone();
        spans::close(&mut root);
        let text = match &self.form {
            Form::Document => root.to_string(),
            Form::Folder => {
                let mut gone = fixtures::children(file);
                for (number, record) in root.as_array().into_iter().flatten().enumerate() {
                    let name = record["id"]
                        .as_str()
                        .map_or_else(|| format!("unnamed-{number}"), str::to_owned);
                    let (path, text) = (file.join(name + ".json"), record.to_string());
                    gone.retain(|other| *other != path);
                    // The one that was written last comes first in a list.
                    if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
                        fs::write(path, text).unwrap();
                    }
                }
                for record in &gone {
                    fs::remove_file(record).unwrap();
                }
                return;
            }
            Form::Lines(frame) => {
                let line = |line: &Value| match line {
                    Value::String(text) => format!("{text}\n"),
                    _ => format!("{frame}{line}\n"),
                };
                root.as_array().into_iter().flatten().map(line).collect()
            }
            #[cfg(feature = "sqlite")]
            Form::Database(bytes) => return tables::write(bytes, &self.root, file),
        };
        fs::write(file, text).unwrap();
    }
}

/// The files that a session is made of.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let stem = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut folders = if path.is_dir() {
        vec![path.to_owned()]
    } else {
        Vec::new()
    };
    if path.is_file() {
        files.push(path.to_owned());
        let is_its = |folder: &PathBuf| {
            let name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            folder.is_dir() && (name == stem || stem.ends_with(name.get(..8).unwrap_or(&name)))
        };
        folders.extend(
            fixtures::children(path.parent().unwrap())
                .into_iter()
                .filter(is_its),
        );
    }
    // A sub-agent of OpenClaw may begin with what its parent said.
    if path
        .parent()
        .is_some_and(|folder| folder.ends_with("openclaw"))
        && stem == "spawner"
    {
        let siblings = fixtures::children(path.parent().unwrap()).into_iter();
        files.extend(siblings.filter(|file| file.to_string_lossy().contains("/d2000000-")));
    }
    while let Some(folder) = folders.pop() {
        if has_file_for_each(&folder) {
            files.push(folder);
            continue;
        }
        let (below, found): (Vec<_>, Vec<_>) = fixtures::children(&folder)
            .into_iter()
            .partition(|path| path.is_dir());
        files.extend(found);
        folders.extend(below);
    }
    files
}

/// Whether each file of a folder is one record, and called as it is.
fn has_file_for_each(folder: &Path) -> bool {
    let is_record = |file: &PathBuf| {
        let record = fs::read_to_string(file)
            .ok()
            .and_then(|text| serde_json::from_str::<Value>(&text).ok());
        record.is_some_and(|record| {
            record["id"].as_str() == file.file_stem().and_then(|stem| stem.to_str())
        })
    };
    let files = fixtures::children(folder);
    !files.is_empty() && files.iter().all(is_record)
}

pub(super) fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for path in fixtures::children(from) {
            copy(&path, &to.join(path.file_name().unwrap()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

pub(super) fn all_seen(path: &Path) -> Vec<Seen> {
    fixtures::targets(path).iter().map(seen).collect()
}

/// A session whose files are written anew, each time with something else in them.
struct Sample {
    format: String,
    path: PathBuf,
    files: Vec<(PathBuf, Content)>,
    before: Vec<Seen>,
}

impl Sample {
    /// The copy of a fixture; nothing if it is of no named format, or no JSON.
    fn of(fixture: &Path, home: &Path) -> Option<Self> {
        let name = fixtures::name(fixture);
        let format = name.split('/').next()?.to_owned();
        let path = home.join(&name);
        #[cfg(feature = "sqlite")]
        let path = tables::made_of(path);
        let content = |file: PathBuf| {
            // What a model was sent in place of a history is one tree, and of a panel beside its history only what was
            // spent is read.
            let is_copy = ["compaction.json", "ui_messages.json"]
                .iter()
                .any(|end| file.to_string_lossy().ends_with(end));
            if is_copy {
                return None;
            }
            let content = Content::of(&file)?;
            // What is compared is written by the same hand.
            content.write(&file);
            Some((file, content))
        };
        let files: Vec<_> = files_of(&path).into_iter().filter_map(content).collect();
        let is_sample = format != "generic" && !files.is_empty();
        is_sample.then(|| Self {
            before: all_seen(&path),
            format,
            path,
            files,
        })
    }

    /// What is wrong with it once all of this is put in.
    fn with(&self, wishes: &[Wish]) -> Vec<String> {
        let mut files: Vec<Content> = self
            .files
            .iter()
            .map(|(_, content)| content.clone())
            .collect();
        let (mut inserted, mut next) = (Vec::new(), 0);
        for wish in wishes {
            let number = wish.file.index(files.len());
            let is_known = files[number].is_known();
            let mut roots: Vec<&mut Value> =
                files.iter_mut().map(|content| &mut content.root).collect();
            inserted.extend(made::insert(
                &self.format,
                (&mut roots, number, is_known),
                wish,
                &mut next,
            ));
        }
        if inserted.is_empty() {
            return Vec::new();
        }
        for ((file, _), content) in self.files.iter().zip(&files) {
            content.write(file);
        }
        let mut faults = faults(&self.before, &all_seen(&self.path), &inserted);
        if !faults.is_empty() {
            faults.extend(
                inserted
                    .iter()
                    .map(|inserted| format!("put in: {inserted:?}")),
            );
        }
        for (file, content) in &self.files {
            content.write(file);
        }
        faults
    }
}

#[test]
fn nothing_known_changes_whatever_unknown_is_put_in() {
    let home = tempfile::tempdir().unwrap();
    copy(&fixtures::root(), home.path());
    let mut wrong = Vec::new();
    for fixture in fixtures::all() {
        let Some(sample) = Sample::of(&fixture, home.path()) else {
            continue;
        };
        let config = ProptestConfig {
            failure_persistence: None,
            max_shrink_iters: 20,
            ..fixtures::cases(CASES)
        };
        let outcome = TestRunner::new(config).run(&made::wishes(), |wishes| {
            let faults = sample.with(&wishes);
            prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
            Ok(())
        });
        if let Err(error) = outcome {
            wrong.push(format!("{}: {error}", fixtures::name(&fixture)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// So many for each fixture.
const CASES: u32 = 3;
