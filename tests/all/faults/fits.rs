//! Tests of any session on a screen of any size: no panic, and every character stays within its
//! cells.

use proptest::prelude::{ProptestConfig, Strategy, any, proptest};
use proptest::sample::select;
use serde_json::json;
use tv::render::theme::Theme;
use unicode_width::UnicodeWidthStr;

use crate::fixtures;
use crate::stage::Stage;

fn config() -> ProptestConfig {
    ProptestConfig {
        max_shrink_iters: 500,
        ..fixtures::cases(24)
    }
}

/// Each row of the screen is as wide as the screen, and has nothing that would steer a terminal.
#[track_caller]
fn check_cells(stage: &Stage) {
    let (columns, lines) = stage.app.reader.screen.size;
    let buffer = stage.buffer();
    for y in 0..lines {
        let mut x = 0;
        while x < columns {
            let symbol = buffer[(x, y)].symbol();
            assert!(
                !symbol.chars().any(char::is_control),
                "{symbol:?} at {x}, {y}"
            );
            x += u16::try_from(symbol.width().max(1)).unwrap();
        }
        assert_eq!(x, columns, "a character is cut at the edge of line {y}");
    }
}

fn keys() -> impl Strategy<Value = &'static str> {
    select(vec![
        "z 1",
        "z 2",
        "z 3",
        "z 4",
        "z 5",
        "z R",
        "g",
        "G",
        "i",
        "I",
        "alt-2",
        "alt-4",
        "tab",
        "r",
        "esc",
        "?",
        "!",
        ":",
        "/ e",
        "& e",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
        "ctrl-right",
        "ctrl-d",
        "j",
        "v j",
    ])
}

fn sizes() -> impl Strategy<Value = (u16, u16)> {
    // Small ones are where sums go wrong.
    proptest::prop_oneof![
        (0_u16..300, 0_u16..120),
        (0_u16..12, 0_u16..8),
        (1_u16..60, 1_u16..20)
    ]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_session_fits_any_screen(
        which in 0_usize..1_000,
        first in sizes(),
        steps in proptest::collection::vec((keys(), sizes()), 1..6),
        ascii in any::<bool>(),
    ) {
        let all = fixtures::all();
        let target = fixtures::targets(&all[which % all.len()]).swap_remove(0);
        let theme = if ascii { Theme::mono().with_ascii(true) } else { Theme::dark() };
        let mut stage = Stage::open_target(&target, first, theme);
        check_cells(&stage);
        for (keys, (columns, lines)) in steps {
            stage.press(keys).wait(300);
            check_cells(&stage);
            stage.resize(columns, lines);
            check_cells(&stage);
        }
    }
}

#[test]
fn screens_without_room_and_with_very_much_of_it_are_drawn() {
    for (columns, lines) in [
        (0, 0),
        (0, 24),
        (80, 0),
        (1, 1),
        (2, 1),
        (1, 100),
        (10_000, 2),
        (2, 1_000),
    ] {
        for keys in ["G", "i", "?", "esc 2", "esc 5", "esc !", "esc :", "esc /"] {
            let mut stage = Stage::open(&crate::stage::demo(), (80, 24), Theme::dark());
            stage.press(keys).wait(300);
            stage.resize(columns, lines);
            check_cells(&stage);
            stage.resize(80, 24);
            check_cells(&stage);
        }
    }
}

/// Texts in which characters, cells and bytes are not the same.
fn wide() -> impl Strategy<Value = String> {
    "([a-z ]|日本|テ|👨‍👩‍👧‍👦|👩🏽‍🚀|🇩🇪|☎️|⚠|ﷺ|ا|é|e\u{301}|\u{301}|\u{200d}|\u{200b}|\u{fe0f}|①|한|\u{1112}\u{1161}\u{11ab}){0,60}"
}

/// A session that says these texts wherever a session says anything.
fn saying(texts: &[String]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let text = |n: usize| {
        texts
            .get(n % texts.len().max(1))
            .cloned()
            .unwrap_or_default()
    };
    let at = "2026-03-01T10:00:00.000Z";
    let entry = |id: &str, message: serde_json::Value| json!({"type": "message", "id": id, "parentId": null, "timestamp": at, "message": message});
    let says = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1});
    let call = json!({"type": "toolCall", "id": "c1", "name": format!("tool {}", text(1)), "arguments": {"command": text(2), text(3): text(0)}});
    let lines = [
        json!({"type": "session", "version": 3, "id": "s1", "timestamp": at, "cwd": format!("/tmp/{}", text(0))}),
        json!({"type": "session_info", "id": "i1", "parentId": null, "timestamp": at, "name": text(1)}),
        entry("e1", says("user", &text(0))),
        entry(
            "e2",
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": text(1)}, call], "model": text(2), "timestamp": 2}),
        ),
        entry(
            "e3",
            json!({"role": "toolResult", "toolCallId": "c1", "toolName": "x", "content": [{"type": "text", "text": text(3)}], "isError": false}),
        ),
        entry(
            "e4",
            says(
                "assistant",
                &format!(
                    "# {}\n\n| {} | {} |\n|---|---|\n| {} | x |\n\n```\n{}\n```\n",
                    text(0),
                    text(1),
                    text(2),
                    text(3),
                    text(1)
                ),
            ),
        ),
        entry("e5", says("user", &text(3))),
    ];
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    std::fs::write(dir.path().join("session.jsonl"), lines.join("\n") + "\n").unwrap();
    dir
}

/// What a terminal has in its cells when a frame is written to it.
fn on_a_terminal(stage: &Stage) -> vt100::Parser {
    let ((width, height), bytes) = (stage.app.reader.screen.size, stage.painted());
    let cells = |count| std::num::NonZeroU16::new(count).unwrap();
    let mut screen = vt100::Parser::new(cells(height), cells(width), 0);
    screen.process(&bytes);
    screen
}

/// The dividers of the panes are where they belong, whatever the text beside them is made of.
#[track_caller]
fn check_dividers(stage: &Stage) -> usize {
    let (frame, buffer, screen) = (
        stage.app.reader.frame(),
        stage.buffer(),
        on_a_terminal(stage),
    );
    let mut seen = 0;
    for area in [frame.outline_divider, frame.inspector_divider] {
        let first = area
            .positions()
            .next()
            .map(|at| buffer[at].symbol().to_owned());
        for at in area.positions() {
            assert_eq!(
                Some(buffer[at].symbol()),
                first.as_deref(),
                "{at:?}\n{}",
                stage.picture()
            );
            let shown = screen.screen().cell(at.y, at.x).map(vt100::Cell::contents);
            assert_eq!(
                shown,
                first.as_deref(),
                "{at:?} on a terminal\n{}",
                screen.screen().contents()
            );
            seen += 1;
        }
    }
    seen
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn wide_and_joined_characters_leave_all_borders_straight(
        texts in proptest::collection::vec(wide(), 1..5),
        columns in 100_u16..220,
        lines in 30_u16..60,
        level in 1_u8..=5,
    ) {
        let dir = saying(&texts);
        let mut stage = Stage::open(&dir.path().join("session.jsonl"), (columns, lines), Theme::dark());
        stage.press(&format!("z {level}"));
        let mut seen = check_dividers(&stage);
        for keys in ["i", "alt-2", "k", "k", "k"] {
            stage.press(keys);
            check_cells(&stage);
            seen += check_dividers(&stage);
        }
        assert!(seen > 100, "{seen} cells of dividers");
        stage.resize(columns / 3, lines);
        check_cells(&stage);
    }
}

#[test]
fn thousands_of_combining_marks_are_few_in_a_cell() {
    let marks = format!("a{}b", "\u{301}".repeat(3_000));
    let dir = saying(&[marks, "ﷺ".repeat(200), "👨‍👩‍👧‍👦".repeat(200), "日".repeat(301)]);
    let mut stage = Stage::open(&dir.path().join("session.jsonl"), (160, 50), Theme::dark());
    for keys in ["z 4", "i", "alt-2", "g"] {
        stage.press(keys);
        check_cells(&stage);
        assert!(check_dividers(&stage) > 20);
        let most = stage
            .buffer()
            .content()
            .iter()
            .map(|cell| cell.symbol().chars().count())
            .max();
        assert!(most < Some(20), "{most:?} characters in a cell");
    }
}
