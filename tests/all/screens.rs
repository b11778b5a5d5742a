//! Snapshots of the screen for sessions of all formats, with their colours by role.

use std::path::Path;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Style};
use tv::formats::{DEFINITIONS, registry};
use tv::model::edit::{Feed, LinkState};
use tv::model::entry::Role;
use tv::render::theme::{ROLES, Theme};

use crate::made::says;
use crate::stage::{Stage, demo, fixture};

/// Of each format the session that shows most, and the keys that bring most of it into a small window:
/// prompt, thinking, calls that ended well, failed and wait, edits, lines across, sub-agents.
const SESSIONS: &[(&str, &str, &str)] = &[
    ("aider", "aider/aider.chat.history.md", "g"),
    (
        "claude-code",
        "claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl",
        "g ] t",
    ),
    (
        "claude-stream-json",
        "claude-stream-json/run.jsonl",
        "g ] t",
    ),
    (
        "cline",
        "cline/1790000000000_abcde/1790000000000_abcde.messages.json",
        "g e",
    ),
    (
        "codex",
        "codex/rollout-2026-03-02T10-00-00-019cadc6-9a80-7000-8000-0000000000e1.jsonl",
        "g ] t",
    ),
    ("generic", "generic/chat.jsonl", "g"),
    ("inspect-eval", "inspect-eval/log.json", "g e"),
    ("kimi-cli", "kimi-cli/wire.jsonl", "g e"),
    ("kimi-code", "kimi-code/main.jsonl", "g e"),
    ("openclaw", "openclaw/gateway-session.jsonl", "g e"),
    ("copilot-cli", "copilot-cli/events.jsonl", "g ] t"),
    ("opencode", "opencode/export.json", "g ] t"),
    ("pi", "pi/version-1.jsonl", "g ] k"),
    (
        "qoder",
        "qoder/7a000000-0000-4000-8000-000000000001.jsonl",
        "g ] t",
    ),
];

/// The sizes that the layout is made for, and the smallest that is of use.
const SIZES: [(u16, u16); 4] = [(80, 24), (120, 40), (200, 60), (44, 14)];

#[test]
fn sessions_of_all_formats() {
    // Those that are data are painted by the same rules as the one of them that is here.
    let is_code = |name: &str| {
        !DEFINITIONS
            .iter()
            .any(|definition| definition.head.name == name)
    };
    for format in registry().filter(|format| is_code(format.name())) {
        assert!(
            SESSIONS.iter().any(|(name, ..)| *name == format.name()),
            "no screen of {}",
            format.name()
        );
    }
    for (name, path, keys) in SESSIONS {
        for size in SIZES {
            let mut stage = Stage::open(&fixture(path), size, probe());
            stage.press(keys);
            let (picture, buffer) = (stage.picture(), stage.buffer());
            let painted = format!("{picture}\n{}", roles(&buffer));
            insta::assert_snapshot!(format!("{name}-{}x{}", size.0, size.1), painted);
            for theme in [Theme::dark(), Theme::light(), Theme::mono()] {
                let place = format!("{name} at {size:?} in {}", theme.name);
                stage.app.reader.screen.theme = theme.clone();
                stage.app.reader.text.invalidate_rows();
                stage.arrange();
                assert_eq!(stage.picture(), picture, "{place}");
                assert_colours(&buffer, &stage.buffer(), &theme, (&fixture(path), &place));
            }
        }
    }
}

#[test]
fn the_demo_from_end_to_end() {
    for size in [(80, 24), (120, 40), (44, 14)] {
        let mut stage = Stage::open(&demo(), size, Theme::dark());
        insta::assert_snapshot!(format!("demo-end-{}x{}", size.0, size.1), stage.picture());
        stage.press("g");
        insta::assert_snapshot!(format!("demo-top-{}x{}", size.0, size.1), stage.picture());
        stage.press("] s l j / p h a s e s enter");
        insta::assert_snapshot!(
            format!("demo-search-{}x{}", size.0, size.1),
            stage.picture()
        );
    }
    let mut stage = Stage::open(&demo(), (80, 24), Theme::dark());
    stage.press("]");
    insta::assert_snapshot!("demo-chord", stage.picture());
    stage.press("esc ?");
    insta::assert_snapshot!("demo-help", stage.picture());
    stage.press("q z 2 g");
    insta::assert_snapshot!("demo-outline", stage.picture());
    stage.press("z 1");
    insta::assert_snapshot!("demo-prompts", stage.picture());
}

#[test]
fn the_ascii_set_draws_in_ascii() {
    let mut stage = Stage::open(&demo(), (120, 40), Theme::mono().with_ascii(true));
    stage.press("g");
    insta::assert_snapshot!("demo-ascii", stage.picture());
    for (session, path, _) in SESSIONS {
        for keys in ["G", "g", "z 2", "]", "esc ?"] {
            let mut stage = Stage::open(&fixture(path), (120, 40), Theme::mono().with_ascii(true));
            stage.press(keys);
            let odd: Vec<String> = stage
                .picture()
                .lines()
                .filter(|line| has_drawing(line))
                .map(str::to_owned)
                .collect();
            assert!(odd.is_empty(), "{session} after {keys}: {odd:#?}");
            let picture = stage.painted();
            assert!(
                picture.is_ascii(),
                "{session} after {keys}: {}",
                String::from_utf8_lossy(&picture)
            );
        }
    }
}

/// Frames, arrows and bars that terminals without Unicode cannot show. Dots, and rules in front of paths,
/// are part of some texts.
fn has_drawing(line: &str) -> bool {
    let line = line.replace("── /", "");
    line.chars()
        .any(|c| matches!(c, '─'..='╿' | '▀'..='◿' | '…' | '›' | '✓' | '✗' | '↯' | '–' | '↑' | '↓'))
}

/// A letter for each of [`ROLES`], as the snapshots have them.
const LETTERS: &str = "tdukmoxgwb+-hc123456*^f=";

/// A theme by which roles are recognised: the n-th of them has a colour that nothing else has.
fn probe() -> Theme {
    let mut theme = Theme::dark();
    for (role, number) in ROLES.iter().zip(0..) {
        let style = theme.role_mut(role).unwrap();
        (style.fg, style.bg) = (Some(Color::Rgb(1, number, 1)), None);
    }
    theme
}

/// The role of a cell in the probe's colours: nothing where no role is, and `None` for a colour that is not
/// the probe's.
#[expect(
    clippy::option_option,
    reason = "no role at all, the reader's own colour, or one of the roles"
)]
fn role(colour: Color) -> Option<Option<usize>> {
    match colour {
        Color::Reset => Some(None),
        Color::Rgb(1, number, 1) => Some(Some(usize::from(number))),
        _ => None,
    }
}

fn letter(cell: &Cell) -> char {
    match (role(cell.fg), role(cell.bg)) {
        (Some(Some(number)), Some(None)) => LETTERS.chars().nth(number).unwrap(),
        (Some(None), Some(None)) => '.',
        _ => '?',
    }
}

/// Which roles the cells have, line by line: `4. 3u 12t` are four cells without a role, three of the user's
/// and twelve of plain text. What follows to the end of the line without a role is left out.
fn roles(buffer: &Buffer) -> String {
    let mut out = String::from("\n");
    for (y, line) in buffer
        .content
        .chunks(usize::from(buffer.area.width))
        .enumerate()
    {
        let mut runs: Vec<(usize, char)> = Vec::new();
        for letter in line.iter().map(letter) {
            match runs.last_mut().filter(|run| run.1 == letter) {
                Some(run) => run.0 += 1,
                None => runs.push((1, letter)),
            }
        }
        runs.pop_if(|run| run.1 == '.');
        let runs: Vec<String> = runs
            .iter()
            .map(|(count, letter)| format!("{count}{letter}"))
            .collect();
        out += &format!("{y:>2}: {}\n", runs.join(" "));
    }
    out
}

/// Whether tools of a session wrote colours of their own, which no theme changes.
fn is_coloured(session: &Path) -> bool {
    let text = std::fs::read_to_string(session).unwrap().to_lowercase();
    ["\\u001b[", "\\u009b", "\u{9b}", "\u{1b}["]
        .iter()
        .any(|start| text.contains(start))
}

/// Each cell has the colours of its role, and no cell has any other.
fn assert_colours(probed: &Buffer, found: &Buffer, theme: &Theme, (session, place): (&Path, &str)) {
    let mut theme = theme.clone();
    let colours = |style: &Style| {
        (
            style.fg.unwrap_or(Color::Reset),
            style.bg.unwrap_or(Color::Reset),
        )
    };
    let of_roles: Vec<(Color, Color)> = ROLES
        .iter()
        .map(|role| colours(theme.role_mut(role).unwrap()))
        .collect();
    for (at, (probe, cell)) in probed.content.iter().zip(&found.content).enumerate() {
        let (x, y) = (
            at % usize::from(found.area.width),
            at / usize::from(found.area.width),
        );
        let known = role(probe.fg).zip(role(probe.bg)).map(|(fg, _)| fg);
        let Some(role) = known else {
            assert!(
                is_coloured(session),
                "{place}: {probe:?} at {x},{y} has a colour of its own"
            );
            let (fg, bg) = if theme.terminal.has_colour {
                (probe.fg, probe.bg)
            } else {
                (Color::Reset, Color::Reset)
            };
            assert_eq!(
                (cell.fg, cell.bg),
                (fg, bg),
                "{place}: {:?} at {x},{y}",
                cell.symbol()
            );
            continue;
        };
        let name = role.map_or("no role", |number| ROLES[number]);
        let wanted = role.map_or((Color::Reset, Color::Reset), |number| of_roles[number]);
        assert_eq!(
            (cell.fg, cell.bg),
            wanted,
            "{place}: {:?} at {x},{y} has {name}",
            cell.symbol()
        );
    }
}

/// What went well and what failed, what was added and what was removed are shown by signs, too.
#[test]
fn meaning_hangs_on_no_colour() {
    let mut stage = Stage::open(&demo(), (100, 200), Theme::mono());
    stage.press("z 4 g");
    let changed = |sign: char, stage: &Stage| {
        let sign = regex::Regex::new(&format!(
            r"^\s*[│▎▶╎ ]*\s*\d+ {}",
            regex::escape(&sign.to_string())
        ))
        .unwrap();
        stage
            .window()
            .iter()
            .filter(|row| sign.is_match(&row.2))
            .count()
    };
    let (mut added, mut removed, mut well, mut badly) = (0, 0, 0, 0);
    for _ in 0..20 {
        added += changed('+', &stage);
        removed += changed('-', &stage);
        let glyphs = stage.app.reader.screen.theme.glyphs();
        well += stage.picture().matches(glyphs.outcome.done).count();
        badly += stage.picture().matches(glyphs.line.cross).count();
        stage.press("space");
    }
    assert!(
        added > 0 && removed > 0 && well > 0 && badly > 0,
        "{added} {removed} {well} {badly}"
    );
}

#[test]
fn every_role_has_a_letter() {
    assert_eq!(LETTERS.chars().count(), ROLES.len());
    let distinct: std::collections::HashSet<char> = LETTERS.chars().collect();
    assert_eq!(distinct.len(), ROLES.len());
}

#[test]
fn hits_and_bars_have_their_roles() {
    let mut stage = Stage::open(&demo(), (80, 24), probe());
    stage.press("g / t e s t s enter g");
    let buffer = stage.buffer();
    insta::assert_snapshot!("roles-of-hits", roles(&buffer));
    for theme in [Theme::dark(), Theme::light(), Theme::mono()] {
        stage.app.reader.screen.theme = theme.clone();
        stage.app.reader.text.invalidate_rows();
        stage.arrange();
        assert_colours(&buffer, &stage.buffer(), &theme, (&demo(), &theme.name));
    }
}

#[test]
fn no_size_is_too_small() {
    let mut stage = Stage::open(&demo(), (80, 24), Theme::dark());
    let widths = [
        1, 2, 3, 4, 5, 6, 7, 9, 12, 19, 24, 35, 43, 59, 60, 65, 66, 79, 99, 100, 101, 130, 160,
        200, 400,
    ];
    for columns in widths {
        for lines in [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 13, 24, 45] {
            stage.resize(columns, lines);
            for keys in [
                "G",
                "g",
                "] s l",
                "I i",
                "tab ctrl-right",
                "]",
                "esc ?",
                "q / a b",
                "esc F",
            ] {
                stage.press(keys);
                stage.buffer();
            }
        }
    }
}

/// What is over is not followed, and what was not understood is counted where the reader looks.
#[test]
fn the_status_says_that_nothing_comes_any_more_and_what_was_not_understood() {
    let mut stage = Stage::made((120, 24));
    stage.add([says("p", 0, Role::User, "go")]);
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    assert!(stage.status().starts_with(" FOLLOW"), "{}", stage.status());
    stage.feed(Feed::Link(LinkState::Closed));
    stage.arrange();
    assert!(stage.status().starts_with(" CLOSED"), "{}", stage.status());
    assert!(stage.status().contains("0 bad ·"), "{}", stage.status());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let line = r#"{"type":"assistant","uuid":"e1","sessionId":"s","message":{"id":"m1","role":"assistant",
        "content":[{"type":"text","text":"so"},{"type":"next-year","content":[{"type":"tool_use","id":"t1","name":"Zap","input":{}}]}]}}"#;
    std::fs::write(&path, line.replace('\n', "") + "\n").unwrap();
    let stage = Stage::open(&path, (120, 24), Theme::dark());
    assert!(
        stage.status().contains("0 bad, 1 unknown"),
        "{}",
        stage.status()
    );
}

#[test]
fn the_bar_of_views_stands_below_the_header_where_there_is_room() {
    for size in [(80, 24), (120, 40), (200, 60), (60, 20)] {
        let mut stage = Stage::open(&demo(), size, Theme::dark());
        stage.app.reader.screen.shows_bar = true;
        stage.arrange();
        let bar = stage.line(1);
        assert!(bar.starts_with(" 1 text"), "{bar}");
        assert_eq!(bar.contains("B brief"), size.0 >= 80, "{bar}");
        assert_eq!(bar.contains("? help"), size.0 >= 120, "{bar}");
        stage.press("4");
        assert!(
            stage.picture().contains("4 cost"),
            "it stays where a view is open"
        );
    }
    let mut small = Stage::open(&demo(), (80, 19), Theme::dark());
    small.app.reader.screen.shows_bar = true;
    small.arrange();
    assert!(
        !small.picture().contains("1 text"),
        "each line of text counts"
    );
}
