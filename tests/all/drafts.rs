//! What `tv formats draft` makes of files whose format it does not know.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::fixtures;

/// At least so many formats are drafted well enough.
const FLOOR: usize = 12;

/// What was said, and the ids of calls that have a result.
#[derive(Default)]
struct Read {
    texts: Vec<String>,
    pairs: Vec<String>,
}

#[test]
fn a_draft_reads_most_texts_and_joins_most_calls_with_their_results() {
    let folder = tempfile::tempdir().unwrap();
    let definition = folder.path().join("draft.toml");
    let (mut table, mut good) = (String::new(), 0);
    let mut formats: Vec<PathBuf> =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/formats"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
    formats.sort();
    for format in formats.iter().filter_map(|path| path.file_stem()) {
        let own = fixtures::root().join(format);
        let (mut texts, mut pairs) = ((0, 0), (0, 0));
        for file in &files_below(&own) {
            let Some(sound) = read(file, None) else { continue };
            let draft = tv(&["formats", "draft", file.to_str().unwrap()]).unwrap();
            fs::write(&definition, draft).unwrap();
            let drafted = read(file, Some(&definition)).unwrap_or_default();
            let shared = |own: &[String], mut got: Vec<String>| {
                let is_there = |one: &&String| {
                    let place = got.iter().position(|got| got == *one);
                    place.map(|place| got.swap_remove(place)).is_some()
                };
                own.iter().filter(is_there).count()
            };
            texts = (texts.0 + shared(&sound.texts, drafted.texts), texts.1 + sound.texts.len());
            pairs = (pairs.0 + shared(&sound.pairs, drafted.pairs), pairs.1 + sound.pairs.len());
        }
        let is_most = |(some, all): (usize, usize)| all > 0 && some * 5 >= all * 4;
        good += usize::from(is_most(texts) && is_most(pairs));
        table += &format!(
            "{:22} texts {:2} of {:2}   pairs {:2} of {:2}\n",
            format.to_string_lossy(),
            texts.0,
            texts.1,
            pairs.0,
            pairs.1
        );
    }
    println!("{table}{good} formats with four of five of each");
    assert!(good >= FLOOR, "{good} formats\n{table}");
}

/// All files but the SQL of databases and notes.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_other = |path: &Path| path.extension().is_some_and(|end| end == "sql" || end == "md");
    // A file with one record of many says too little.
    paths.retain(|path| !path.ends_with("events"));
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    paths.into_iter().filter(|path| !is_other(path)).flat_map(below).collect()
}

/// Reads a file by its own format, or by a definition.
fn read(file: &Path, definition: Option<&Path>) -> Option<Read> {
    let mut arguments = vec!["show", "--json", file.to_str()?];
    if let Some(definition) = definition {
        arguments.extend(["--format", definition.to_str()?]);
    }
    let mut read = Read::default();
    for line in tv(&arguments)?.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let is_said = ["user", "assistant", "system"].iter().any(|role| entry["role"] == **role);
        for block in entry["blocks"].as_array().unwrap() {
            if is_said && block["type"] == "text" {
                read.texts.push(block["text"].as_str().unwrap().trim().to_owned());
            }
            if block["type"] == "call" && !block["result"].is_null() {
                // Calls without an id are known by their names.
                let id = block["id"].as_str().filter(|id| !id.starts_with("text:"));
                read.pairs.push(id.or(block["name"].as_str()).unwrap().to_owned());
            }
        }
    }
    Some(read)
}

fn tv(arguments: &[&str]) -> Option<String> {
    let out = Command::new(env!("CARGO_BIN_EXE_tv")).args(arguments).output().unwrap();
    out.status.success().then(|| String::from_utf8(out.stdout).unwrap())
}

#[test]
fn a_check_says_when_results_name_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let definition = r#"name = "mill"
[detect]
certain = [{ has = "mill" }]
[[record]]
when = { has = "asks" }
entry = { role = "assistant" }
block = [{ call = "asks", name = "tool" }]
[[record]]
when = { has = "of" }
result = { of = "of", text = "got" }
"#;
    fs::write(at("mill.toml"), definition).unwrap();
    let check = |of: &str| {
        let lines = format!(
            "{{\"mill\":1,\"asks\":\"a\",\"tool\":\"sh\"}}\n{{\"mill\":1,\"of\":\"{of}\",\"got\":\"x\"}}\n"
        );
        fs::write(at("run.jsonl"), lines).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command.args(["formats", "check"]).args([at("mill.toml"), at("run.jsonl")]);
        let out = command.output().unwrap();
        (out.status.code(), String::from_utf8(out.stdout).unwrap().contains("no result names a call"))
    };
    assert_eq!(check("a"), (Some(0), false));
    assert_eq!(check("b"), (Some(1), true));
}
