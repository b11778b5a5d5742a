//! Tests of the README and the manual: their links, the layout of pages in 80 columns, the contents
//! of their tables, and the commands that show them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tv::app::input::command::COMMANDS;
use tv::app::mode::Mode;
use tv::render::manual::PAGES;
use tv::render::theme::Theme;
use unicode_width::UnicodeWidthStr;

use crate::stage::{Stage, demo, fixture};

/// A longer README is a manual.
const MOST_LINES: usize = 180;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder() -> PathBuf {
    root().join("assets/manual")
}

fn source(topic: &str) -> String {
    fs::read_to_string(folder().join(format!("{topic}.md"))).unwrap()
}

fn tv(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
    command
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap()
}

fn written(arguments: &[&str]) -> String {
    let output = tv(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Where the links of a Markdown text lead.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(
        readme.lines().count() <= MOST_LINES,
        "{} lines",
        readme.lines().count()
    );
    for page in PAGES {
        let link = format!("[{0}](assets/manual/{0}.md)", page.topic);
        assert!(readme.contains(&link), "the README does not link to {link}");
    }
}

#[test]
fn every_link_leads_to_a_file() {
    let pages = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for path in pages.chain([root().join("README.md")]) {
        let text = fs::read_to_string(&path).unwrap();
        for link in links(&text).filter(|link| !link.contains("://")) {
            let file = path.parent().unwrap().join(link);
            assert!(file.is_file(), "{} links to {link}", path.display());
        }
    }
}

#[test]
fn every_page_is_in_the_program_and_listed() {
    let files = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: HashSet<String> = files
        .map(|path| path.file_stem().unwrap().to_str().unwrap().into())
        .collect();
    assert_eq!(
        files,
        PAGES.iter().map(|page| page.topic.to_owned()).collect()
    );
    let list = written(&["help"]);
    for page in PAGES {
        let row = list
            .lines()
            .find(|line| line.trim_start().starts_with(page.topic))
            .unwrap();
        assert!(
            row.ends_with(page.about()) && !page.about().is_empty(),
            "{row}"
        );
    }
    assert!(list.lines().all(|line| line.width() <= 80), "{list}");
}

/// Pages are laid out in as many columns as there are, so what could break is what cannot be wrapped: words and samples
/// of code.
#[test]
fn pages_fit_80_columns() {
    for page in PAGES {
        let text = source(page.topic);
        let page_text = written(&["help", page.topic]);
        assert!(
            !page_text.contains('\u{1b}') && !page_text.contains("]("),
            "{}",
            page.topic
        );
        let word = |word: &str| word.replace(['`', '*', '|'], "").to_lowercase();
        let asked = page
            .text(|topic| format!("tv help {topic}"))
            .replace("\\|", "|");
        let known: HashSet<String> = asked.split([' ', '\n']).map(word).collect();
        for line in page_text.lines() {
            assert!(line.width() <= 80, "{}: {line}", page.topic);
            let mut words = line
                .split(' ')
                .filter(|word| !word.contains(['│', '─', '┼', '•']));
            let broken = words.find(|one| !known.contains(&word(one)));
            assert_eq!(broken, None, "{}: a word is broken in: {line}", page.topic);
        }
        let samples = text
            .split("```")
            .skip(1)
            .step_by(2)
            .flat_map(|sample| sample.lines().skip(1));
        for sample in samples.filter(|sample| !sample.is_empty()) {
            let is_whole = page_text.lines().any(|line| line.trim() == sample.trim());
            assert!(
                is_whole,
                "{}: this line of code is broken: {sample}",
                page.topic
            );
        }
        // What stands between backticks is found line by line.
        assert!(
            text.lines()
                .all(|line| line.matches('`').count() % 2 == 0 || line.starts_with("```"))
        );
    }
}

#[test]
fn what_the_manual_does_not_have_is_reported_with_what_it_has() {
    for command in ["help", "man"] {
        let output = tv(&[command, "nope"]);
        assert_eq!(output.status.code(), Some(2));
        let page_text = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.stdout.is_empty() && page_text.contains("nope"),
            "{page_text}"
        );
        assert!(
            PAGES.iter().all(|page| page_text.contains(page.topic)),
            "{page_text}"
        );
    }
    assert!(written(&["help", "show"]).contains("--redact"));
}

#[test]
fn man_has_the_pages() {
    let program = written(&["man"]);
    for page in PAGES {
        assert!(
            program.contains(&format!("tv\\-{}", page.topic.replace('-', "\\-"))),
            "{}",
            page.topic
        );
        let page_text = written(&["man", page.topic]);
        assert!(
            page_text.contains(&format!(".TH tv-{} 7\n.SH NAME\n", page.topic)),
            "{page_text}"
        );
        let headings = source(page.topic).matches("\n## ").count();
        assert_eq!(
            page_text.matches("\n.SH ").count(),
            headings + 2,
            "{}",
            page.topic
        );
    }
    let page_text = written(&["man", "finding"]);
    assert!(
        page_text.contains(".TP\n\\fBerr\\fR\nfailed calls"),
        "{page_text}"
    );
    assert!(
        page_text.contains(".nf\n:watch waiting or err\n"),
        "{page_text}"
    );
}

#[test]
fn a_page_is_shown_in_the_viewer() {
    for size in [(120, 40), (80, 24), (30, 10)] {
        let mut stage = Stage::open(&demo(), size, Theme::dark());
        stage.press(":");
        stage.type_in("help finding");
        stage.press("enter");
        let first = stage.picture();
        assert!(
            first.contains("Help on finding") && first.contains("Search, filters"),
            "{first}"
        );
        stage.press("space");
        assert_ne!(stage.picture(), first);
        stage.press("G");
        let end = stage.picture();
        assert!(end.contains("1m30s"), "{end}");
        stage.press("q");
        assert!(matches!(stage.app.mode, Mode::Normal));
    }
}

#[test]
fn an_open_page_fits_a_screen_of_another_size() {
    let mut stage = Stage::open(&demo(), (120, 40), Theme::dark());
    stage.press(":");
    stage.type_in("help settings");
    stage.press("enter G");
    stage.resize(50, 20);
    let picture = stage.picture();
    assert!(
        picture.contains("hinders nothing"),
        "the end stays in sight: {picture}"
    );
}

#[test]
fn topics_are_completed() {
    let mut stage = Stage::open(&demo(), (100, 30), Theme::dark());
    stage.press(":");
    stage.type_in("help ");
    let picture = stage.picture();
    assert!(
        picture.contains("help reading") && picture.contains("help finding"),
        "{picture}"
    );
    stage.type_in("cos");
    stage.press("enter");
    assert!(
        stage.picture().contains("Help on cost"),
        "{}",
        stage.picture()
    );
    stage.press("q :");
    stage.type_in("help nope");
    stage.press("enter");
    assert!(
        stage.status().contains("nope") && stage.status().contains("reading"),
        "{}",
        stage.status()
    );
    stage.press(":");
    stage.type_in("help");
    stage.press("enter");
    assert!(matches!(stage.app.mode, Mode::Help { .. }));
}

#[test]
fn the_manual_has_the_commands() {
    let page = source("command-line");
    let help = written(&["--help"]);
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.split("\n\n").next().unwrap();
    let names: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(
        names.contains(&"show") && names.contains(&"help"),
        "{names:?}"
    );
    for name in names {
        assert!(
            page.contains(&format!("| `tv {name}")),
            "command-line.md lacks {name}"
        );
    }
    let page = source("reading");
    for form in COMMANDS {
        let name = match form.name {
            "goto" => continue,
            name => name,
        };
        assert!(
            page.contains(name),
            "reading.md lacks {} {}",
            form.name,
            form.argument
        );
    }
}

#[test]
fn the_manual_has_the_fields() {
    let page = source("json");
    let session = fixture("claude-code/busy.jsonl");
    let faulty = fixture("lint/duplicate-result/bad.jsonl");
    let session = |command| {
        if command == "check" {
            &faulty
        } else {
            &session
        }
    };
    for command in ["stats", "show", "doctor", "list", "check"] {
        let output = tv(&[command, "--json", session(command).to_str().unwrap()]);
        let page_text = String::from_utf8(output.stdout).unwrap();
        let first: Value = serde_json::from_str(page_text.lines().next().unwrap()).unwrap();
        let schema = first["schema"].as_str().unwrap();
        let (_, section) = page.split_once(&format!("## {schema}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        for name in first
            .as_object()
            .unwrap()
            .keys()
            .filter(|name| !["schema", "path"].contains(&name.as_str()))
        {
            assert!(
                section.contains(&format!("`{name}`")),
                "{schema}: {name} is not explained"
            );
        }
    }
}
