//! What the screen shows: pictures of sessions of all formats, and their colours by role.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Style};
use tv::render::theme::Theme;

use crate::stage::{Stage, demo, fixture};

/// A rich session of each format.
const SESSIONS: &[(&str, &str)] = &[
    ("claude-code", "claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl"),
    ("claude-stream-json", "claude-stream-json/run.jsonl"),
    ("cline", "cline/1790000000000_abcde/1790000000000_abcde.messages.json"),
    ("generic", "generic/chat.jsonl"),
    ("openclaw", "openclaw/gateway-session.jsonl"),
    ("opencode", "opencode/export.json"),
    ("pi", "pi/version-3.jsonl"),
];

const SIZES: [(u16, u16); 4] = [(80, 24), (120, 40), (200, 60), (44, 14)];

#[test]
fn sessions_of_all_formats() {
    for (name, path) in SESSIONS {
        for size in SIZES {
            let stage = Stage::open(&fixture(path), size, Theme::dark());
            insta::assert_snapshot!(format!("{name}-{}x{}", size.0, size.1), stage.picture());
        }
    }
}

#[test]
fn the_demo_from_end_to_end() {
    for size in SIZES {
        let mut stage = Stage::open(&demo(), size, Theme::dark());
        insta::assert_snapshot!(format!("demo-end-{}x{}", size.0, size.1), stage.picture());
        stage.press("g");
        insta::assert_snapshot!(format!("demo-top-{}x{}", size.0, size.1), stage.picture());
        stage.press("] s l j / p h a s e s enter");
        insta::assert_snapshot!(format!("demo-search-{}x{}", size.0, size.1), stage.picture());
    }
    let mut stage = Stage::open(&demo(), (80, 24), Theme::dark());
    stage.press("3 ]");
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
    for (session, path) in SESSIONS {
        for keys in ["G", "g", "z 2", "]", "esc ?"] {
            let mut stage = Stage::open(&fixture(path), (120, 40), Theme::mono().with_ascii(true));
            stage.press(keys);
            let odd: Vec<String> =
                stage.picture().lines().filter(|line| has_drawing(line)).map(str::to_owned).collect();
            assert!(odd.is_empty(), "{session} after {keys}: {odd:#?}");
        }
    }
}

/// Frames, arrows and bars that terminals without Unicode cannot show. Dots, and rules in front of paths,
/// are part of some texts.
fn has_drawing(line: &str) -> bool {
    let line = line.replace("── /", "");
    line.chars().any(|c| matches!(c, '─'..='╿' | '▀'..='◿' | '…' | '›' | '✓' | '✗' | '↯' | '–' | '↑' | '↓'))
}

#[test]
fn colours_are_those_of_their_roles() {
    for theme in [Theme::dark(), Theme::light(), Theme::mono()] {
        let mut stage = Stage::open(&demo(), (80, 24), theme.clone());
        stage.press("g / t e s t s enter g");
        let lines: Vec<String> = (0..24).map(|y| runs(&stage, y)).collect();
        insta::assert_snapshot!(format!("roles-{}", theme.name), lines.join("\n"));
    }
}

/// A line of the screen as runs of one style: `role start..end "text"`.
fn runs(stage: &Stage, y: u16) -> String {
    let buffer = stage.buffer();
    let mut runs: Vec<(String, u16, u16, String)> = Vec::new();
    for x in 0..stage.state.size.0 {
        let cell = &buffer[(x, y)];
        let role = role(&stage.state.theme, cell);
        match runs.last_mut().filter(|run| run.0 == role) {
            Some(run) => {
                run.2 = x + 1;
                run.3.push_str(cell.symbol());
            }
            None => runs.push((role, x, x + 1, cell.symbol().to_owned())),
        }
    }
    let shown = runs.iter().filter(|run| !run.3.trim().is_empty() || run.0 != "text");
    let words = shown.map(|(role, from, to, _)| format!("{role} {from}..{to}"));
    format!("{y:>2}: {}", words.collect::<Vec<_>>().join(", "))
}

/// The roles of the theme that look like the cell; by their modifiers alone if none does.
fn role(theme: &Theme, cell: &Cell) -> String {
    let roles = [
        ("text", theme.text),
        ("dim", theme.dim),
        ("user", theme.user),
        ("assistant", theme.assistant),
        ("thinking", theme.thinking),
        ("tool", theme.tool),
        ("accent", theme.accent),
        ("good", theme.good),
        ("warn", theme.warn),
        ("bad", theme.bad),
        ("heading", theme.heading),
        ("code", theme.code),
        ("focus", theme.focus),
        ("bar", theme.bar),
        ("hit", theme.hit),
    ];
    let looks = |style: &Style| {
        style.fg.unwrap_or(Color::Reset) == cell.fg
            && style.bg.unwrap_or(Color::Reset) == cell.bg
            && style.add_modifier == cell.modifier
    };
    let names: Vec<&str> = roles.iter().filter(|(_, style)| looks(style)).map(|(name, _)| *name).collect();
    if names.is_empty() { format!("{:?}+{:?}", cell.fg, cell.modifier) } else { names.join("/") }
}

#[test]
fn no_size_is_too_small() {
    let mut stage = Stage::open(&demo(), (80, 24), Theme::dark());
    let widths =
        [1, 2, 3, 4, 5, 6, 7, 9, 12, 19, 24, 35, 43, 59, 60, 65, 66, 79, 99, 100, 101, 130, 160, 200, 400];
    for columns in widths {
        for lines in [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 13, 24, 45] {
            stage.resize(columns, lines);
            for keys in ["G", "g", "] s l", "I i", "tab ctrl-right", "]", "esc ?", "q / a b", "esc F"] {
                stage.press(keys);
                stage.buffer();
            }
        }
    }
}
