use std::fs;
use std::path::Path;

use super::{FoundTable, ListOptions, write};
use crate::ingest::find::{DiscoveryQuery, Environment};
use crate::model::figures;
use crate::model::found::{FoundSession, Target};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;
use crate::report::rows::Paper;

fn options(folder: &Path, width: u16) -> ListOptions {
    let environment = Environment {
        home: Some(folder.to_owned()),
        ..Environment::default()
    };
    ListOptions {
        search: DiscoveryQuery {
            environment,
            ..DiscoveryQuery::default()
        },
        hint: false,
        since: None,
        until: None,
        limit: None,
        json: false,
        strict: false,
        paper: Paper {
            width,
            colour: false,
            ascii: false,
        },
    }
}

fn written(options: &ListOptions) -> String {
    let mut out = Vec::new();
    // Far in the future, so that the files of the test count as old.
    write(options, Timestamp(4_000_000_000_000), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A line of Claude Code.
fn prompt(uuid: &str, cwd: &str, words: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":"{words}"}},"uuid":"{uuid}","timestamp":"2026-01-31T10:41:07.000Z","sessionId":"s1","cwd":"{cwd}","version":"2.1.0"}}"#
    )
}

#[test]
fn rows_fit_the_page_whatever_stands_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join(".claude/projects/-home-mira");
    fs::create_dir_all(&project).unwrap();
    let wide = prompt(
        "u1",
        "/home/mira/山の上の家の中の猫の本",
        "山の上の家の中の猫の本を読む\\nand more\\u001b[2J of it 山の上の家",
    );
    fs::write(project.join("5d0c1c52-7f4e-4a39.jsonl"), wide).unwrap();
    fs::write(project.join("a.jsonl"), prompt("u1", "/w", "short")).unwrap();
    fs::write(project.join("empty.jsonl"), "").unwrap();
    for width in [20, 50, 80, 100, 160] {
        let table = written(&options(folder.path(), width));
        assert_eq!(table.lines().count(), 3, "{table}");
        assert!(!table.contains('\u{1b}'), "{table}");
        for row in table.lines().filter(|_| width > 40) {
            assert!(wrap::width(row) <= usize::from(width), "{width}: {row}");
        }
    }
    let table = written(&options(folder.path(), 100));
    assert!(
        table.contains("5d0c1c52-7f4…") && table.contains("(no title)"),
        "{table}"
    );
    let starts: Vec<usize> = table
        .lines()
        .map(|row| wrap::width(row.split("claude-code").next().unwrap()))
        .collect();
    assert_eq!(starts, [8, 8, 8], "{table}");
}

#[test]
fn nothing_found_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), 100);
    assert_eq!(written(&options), "no sessions\n");
    options.json = true;
    assert_eq!(written(&options), "");
}

#[test]
fn a_session_counts_to_the_project_in_which_it_began() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join(".claude/projects/-w-mill");
    fs::create_dir_all(&project).unwrap();
    let lines = [
        prompt("u1", "/w/mill", "grind"),
        prompt("u2", "/w/mill/wheel", "grind"),
    ];
    fs::write(
        project.join("5d0c1c52-7f4e-4a39.jsonl"),
        lines.join("\n") + "\n",
    )
    .unwrap();
    let table = written(&options(folder.path(), 160));
    assert!(table.contains(" /w/mill "), "{table}");
}

#[test]
fn a_session_that_runs_has_its_age_and_others_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), 120);
    let now = Timestamp(4_000_000_000_000);
    let at = Timestamp(now.0 - 300_000);
    let table = FoundTable::new(&options, now);
    let place = || Target::at(folder.path().join("a.jsonl"));
    let line = |found: FoundSession| {
        table.line(FoundSession {
            modified: Some(at),
            ..found
        })
    };
    let found = |live| FoundSession {
        live,
        ..FoundSession::new(place(), "pi", Text::from("a"))
    };
    assert!(line(found(Some(true))).starts_with(&format!("● {:>4}  ", figures::age(300_000))));
    for live in [Some(false), None] {
        assert!(line(found(live)).starts_with(&format!("  {:>4}  ", figures::age(300_000))));
    }
    // Unreadable sessions have one, too.
    let row = line(FoundSession::unreadable(
        place().path,
        "pi",
        Text::from("no permission"),
    ));
    assert!(
        row.starts_with(&format!("  {:>4}  pi ", figures::age(300_000)))
            && row.contains("no permission"),
        "{row}"
    );
}
