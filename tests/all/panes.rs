//! Tests of panes: their areas at any size, which one has the focus, and that none of this moves
//! the window.

use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::sample::select;
use ratatui::layout::Rect;
use tv::app::layout::Frame;
use tv::app::panes::{Pane, Panes};
use tv::app::text::viewport::focus_of;
use tv::model::edit::{Edit, Feed, MetaEdit};
use tv::model::entry::Role;
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolKind, Verdict};
use tv::model::transcript::Touched;
use tv::render::theme::Theme;

use crate::made::{START, calls, in_lane, lane, prompt, result_at, says};
use crate::stage::{Stage, demo, fixture};

fn stage(columns: u16, lines: u16) -> Stage {
    Stage::open(&demo(), (columns, lines), Theme::dark())
}

fn areas(frame: &Frame) -> Vec<Rect> {
    let inspector = if frame.is_pushed {
        Rect::default()
    } else {
        frame.inspector
    };
    let parts = [
        frame.header,
        frame.outline,
        frame.outline_divider,
        frame.transcript,
        frame.spine,
        frame.inspector_divider,
        inspector,
        frame.pill,
        frame.status,
        frame.hints,
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

#[test]
fn panes_come_with_the_width() {
    let shown = |columns, lines| {
        let frame = stage(columns, lines).app.reader.frame();
        (frame.outline.width, frame.text(), frame.inspector.width)
    };
    assert_eq!(shown(80, 24), (0, 74, 0));
    assert_eq!(shown(99, 29), (0, 93, 0));
    assert_eq!(shown(100, 30), (31, 62, 0));
    assert_eq!(shown(120, 40), (35, 78, 0));
    assert_eq!(shown(160, 40), (31, 78, 43));
    assert_eq!(shown(200, 60), (44, 90, 58));
    assert_eq!(shown(230, 60), (47, 100, 73));
    assert_eq!(shown(400, 100), (47, 100, 243));
}

#[test]
fn on_wide_screens_the_text_keeps_its_width_whatever_the_session_turns_out_to_be() {
    for size in [(80, 24), (160, 40), (200, 60)] {
        let mut stage = Stage::made(size);
        stage.arrange();
        let empty = stage.app.reader.frame();
        for (key, text) in [
            ("p1", "Look after the lighthouse while I am away"),
            ("p2", "Is it lit?"),
        ] {
            stage.add([prompt(key, text)]);
            assert_eq!(stage.app.reader.frame(), empty, "{}", stage.picture());
        }
        let is_shown = stage
            .picture()
            .lines()
            .any(|line| line.contains(" 1 Look after the li"));
        assert_eq!(is_shown, size.0 >= 100, "{}", stage.picture());
    }
}

#[test]
fn the_inspector_lies_over_the_text_where_there_is_no_room_beside_it() {
    let mut stage = stage(80, 24);
    stage.press("g } i");
    let frame = stage.app.reader.frame();
    assert!(frame.is_pushed && frame.inspector.width == 80, "{frame:?}");
    assert_eq!(stage.app.reader.focused(), Pane::Inspector);
    let before = stage.window();
    stage.press("esc");
    assert!(!stage.app.reader.frame().is_pushed && stage.app.reader.focused() == Pane::Transcript);
    assert_eq!(stage.window(), before, "what lies under it has not moved");
    stage.press("i q");
    assert!(
        !stage.app.reader.frame().is_pushed && stage.asked.is_empty(),
        "q closes it and does not quit"
    );
    stage.press("i i");
    assert!(!stage.app.reader.frame().is_pushed);
}

#[test]
fn tab_gives_the_keys_to_what_is_shown() {
    let mut stage = stage(200, 60);
    let mut seen = Vec::new();
    for _ in 0..3 {
        stage.press("tab");
        seen.push(stage.app.reader.focused());
    }
    assert_eq!(seen, [Pane::Inspector, Pane::Outline, Pane::Transcript]);
    stage.press("shift-tab");
    assert_eq!(stage.app.reader.focused(), Pane::Outline);
    stage.press("I");
    assert_eq!(
        stage.app.reader.focused(),
        Pane::Transcript,
        "what is hidden has no keys"
    );
    stage.press("i tab");
    assert_eq!(stage.app.reader.focused(), Pane::Transcript);
    assert!(
        stage.status().contains("nothing else is shown"),
        "{}",
        stage.status()
    );
}

#[test]
fn dividers_move_with_the_pane_that_has_the_keys() {
    let mut stage = stage(200, 60);
    let widths = |stage: &Stage| {
        let frame = stage.app.reader.frame();
        (frame.outline.width, frame.inspector.width)
    };
    let (outline, inspector) = widths(&stage);
    stage.press("ctrl-left");
    assert_eq!(
        widths(&stage),
        (outline, inspector + 2),
        "of the text the right one"
    );
    stage.press("tab ctrl-right ctrl-right");
    assert_eq!(widths(&stage), (outline, inspector - 2));
    stage.press("tab ctrl-right ctrl-right ctrl-right ctrl-right ctrl-right");
    assert_eq!(widths(&stage), (outline + 10, inspector - 2));
    for _ in 0..60 {
        stage.press("ctrl-left");
    }
    assert_eq!(widths(&stage).0, 15, "no pane is narrower");
    let kept = stage.app.reader.panes;
    stage.resize(80, 24);
    stage.resize(200, 60);
    assert_eq!(
        (widths(&stage), stage.app.reader.panes),
        ((15, inspector - 2), kept)
    );
}

/// Titles of the rows of the outline that are in sight, with the one under the cursor.
fn rows(stage: &Stage) -> (Vec<String>, Option<String>) {
    let sections = &stage.app.reader.outline.sections;
    let titles = sections
        .iter()
        .flat_map(|section| &section.rows)
        .map(|row| row.title.clone())
        .collect();
    let cursor = sections
        .iter()
        .find_map(|section| Some(section.rows.get(section.cursor?)?.title.clone()));
    (titles, cursor)
}

#[test]
fn the_cursor_goes_over_all_sections_and_leads_into_the_text() {
    let mut stage = stage(120, 60);
    stage.press("g tab");
    assert_eq!(stage.app.reader.focused(), Pane::Outline);
    let (titles, cursor) = rows(&stage);
    assert_eq!(
        cursor.as_ref(),
        titles.first(),
        "it begins at the focused turn"
    );
    let before = stage.window();
    for title in titles.iter().skip(1) {
        stage.press("j");
        assert_eq!(rows(&stage).1.as_ref(), Some(title));
    }
    assert_eq!(stage.window(), before, "the text stays meanwhile");
    stage.press("j g");
    assert_eq!(rows(&stage).1.as_ref(), titles.first());
    stage.press("G");
    assert_eq!(rows(&stage).1.as_ref(), titles.last());
    let parts: Vec<_> = stage
        .app
        .reader
        .outline
        .sections
        .iter()
        .map(|section| section.part)
        .collect();
    stage.press("g");
    let at = |stage: &Stage| {
        let held = stage
            .app
            .reader
            .outline
            .sections
            .iter()
            .find(|section| section.cursor.is_some());
        held.map(|section| (section.part, section.cursor))
    };
    for part in parts.iter().skip(1) {
        stage.press("}");
        assert_eq!(at(&stage), Some((*part, Some(0))));
    }
    stage.press("} {");
    assert_eq!(at(&stage), Some((parts[parts.len() - 2], Some(0))));
    stage.press("esc");
    assert_eq!(
        (stage.app.reader.focused(), rows(&stage).1),
        (Pane::Transcript, None)
    );
    stage.press("tab G enter");
    assert_eq!(
        stage.app.reader.focused(),
        Pane::Transcript,
        "the keys go along"
    );
    assert_ne!(stage.window(), before);
    stage.press("' '");
    assert_eq!(
        stage.window().first(),
        before.first(),
        "a jump like any other"
    );
}

#[test]
fn rows_lead_to_what_they_stand_for() {
    let mut stage = stage(120, 60);
    stage.press("tab g enter");
    let first = stage
        .app
        .reader
        .session
        .transcript
        .turns()
        .first()
        .map(|turn| turn.prompt);
    assert_eq!(
        stage.app.reader.text.view.focus.map(|focus| focus.entry),
        first
    );
    let mut led = 0;
    let (titles, _) = rows(&stage);
    for (row, title) in titles.iter().enumerate() {
        stage.press("tab g");
        for _ in 0..row {
            stage.press("j");
        }
        stage.press("enter");
        let is_text = stage.app.reader.focused() == Pane::Transcript;
        assert!(is_text || title.contains("paired"), "{title} leads nowhere");
        if is_text && title.contains("src/") {
            let focus = stage.app.reader.text.view.focus.unwrap();
            let entry = stage
                .app
                .reader
                .session
                .transcript
                .get(focus.entry)
                .unwrap();
            let tv::model::entry::BlockKind::Call(call) = &entry.blocks[focus.block].kind else {
                panic!("{title} leads to no call")
            };
            assert!(
                call.headline.contains(title.as_str()),
                "{title}: {}",
                call.headline
            );
            led += 1;
        }
        stage.press("esc");
    }
    assert!(led > 0, "the demo uses files: {titles:?}");
}

#[test]
fn what_comes_bit_by_bit_makes_the_same_outline() {
    for name in [
        "pi/branches.jsonl",
        "claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl",
        "generic/chat.jsonl",
    ] {
        let mut stage = Stage::open(&fixture(name), (120, 60), Theme::dark());
        let first = stage.app.reader.outline.sections.clone();
        // Every entry is noted once more, as if it had changed.
        let ids = stage.app.reader.session.transcript.order().to_vec();
        for id in ids {
            let app = &mut stage.app;
            let touched = Touched {
                added: vec![id],
                ..Touched::default()
            };
            app.reader
                .outline
                .update(&app.reader.session.transcript, &touched);
            app.reader
                .checks
                .update(&app.reader.session.transcript, &touched);
        }
        stage.arrange();
        assert_eq!(stage.app.reader.outline.sections, first, "{name}");
        stage.app.reader.outline.clear();
        stage.app.reader.checks.clear();
        stage.arrange();
        assert_eq!(stage.app.reader.outline.sections, first, "{name}");
    }
}

#[test]
fn files_are_named_from_a_directory_that_comes_late() {
    let mut text = r#"{"type":"session","version":3,"id":"s1"}"#.to_owned() + "\n";
    let mut line = |id: &str, parent: &str, role: &str, content: &str| {
        let message = format!(r#"{{"role":"{role}","content":[{content}]}}"#);
        text += &format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-05-20T14:01:00.000Z","message":{message}}}"#
        );
        text.push('\n');
    };
    line(
        "p0",
        "null",
        "user",
        r#"{"type":"text","text":"Where do we begin?"}"#,
    );
    line(
        "a0",
        r#""p0""#,
        "user",
        r#"{"type":"text","text":"Count the boats."}"#,
    );
    for n in 1..=3_000 {
        let parent = format!(r#""a{}""#, n - 1);
        let call = format!(
            r#"{{"type":"toolCall","id":"call{n}","name":"read","arguments":{{"path":"/home/ann/boats.md"}}}}"#
        );
        line(&format!("a{n}"), &parent, "assistant", &call);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    std::fs::write(&path, &text).unwrap();
    let mut stage = Stage::open_from_disk(&path, (200, 40));
    let is_named = |stage: &Stage, name: &str| {
        let picture = stage.picture();
        picture
            .lines()
            .any(|row| row.starts_with(name) && row.contains("3000 - -"))
    };
    while stage.app.is_unfinished() {
        stage.arrange();
    }
    assert!(
        is_named(&stage, " /home/ann/boats.md"),
        "{}",
        stage.picture()
    );
    stage.add([Edit::Meta(MetaEdit::Cwd(Text::from("/home/ann")))]);
    assert!(is_named(&stage, " boats.md"), "{}", stage.picture());
    // Their paths begin where the session began, wherever it goes.
    stage.add([Edit::Meta(MetaEdit::Cwd(Text::from("/home/ann/piers")))]);
    assert!(
        !stage.app.is_unfinished() && is_named(&stage, " boats.md"),
        "{}",
        stage.picture()
    );
}

#[test]
fn each_pane_has_hints_of_its_own() {
    let mut stage = stage(200, 40);
    let hints = |stage: &Stage| stage.line(stage.app.reader.frame().hints.y);
    let reading = hints(&stage);
    stage.press("tab");
    let inspector = hints(&stage);
    stage.press("tab");
    let outline = hints(&stage);
    assert!(
        reading.contains("search") && inspector.contains("back") && outline.contains("heading")
    );
}

fn keys() -> impl proptest::strategy::Strategy<Value = &'static str> {
    select(vec![
        "I",
        "i",
        "tab",
        "shift-tab",
        "ctrl-left",
        "ctrl-right",
        "7 ctrl-left",
        "7 ctrl-right",
    ])
}

proptest! {
    #![proptest_config(crate::fixtures::cases(60))]

    #[test]
    fn parts_cover_the_screen_and_do_not_overlap(
        columns in 1_u16..=420,
        lines in 1_u16..=120,
        wishes in any::<(Option<bool>, Option<bool>, Option<u16>, Option<u16>, bool)>(),
        unseen in 0_usize..2,
    ) {
        let mut stage = Stage::made((columns, lines));
        stage.app.reader.text.unseen = unseen;
        stage.app.reader.panes = Panes {
            wants_outline: wishes.0,
            wants_inspector: wishes.1,
            outline_width: wishes.2,
            inspector_width: wishes.3,
            is_pushed: wishes.4,
            ..Panes::default()
        };
        let frame = stage.app.reader.frame();
        let areas = areas(&frame);
        let cells: u32 = areas.iter().map(|area| area.area()).sum();
        prop_assert_eq!(cells, u32::from(columns) * u32::from(lines), "{:?}", frame);
        for (place, area) in areas.iter().enumerate() {
            prop_assert!(area.right() <= columns && area.bottom() <= lines, "{:?}", frame);
            prop_assert!(areas.iter().skip(place + 1).all(|other| !area.intersects(*other)), "{:?}", frame);
        }
        prop_assert!(frame.transcript.height > 0 && frame.text() > 0);
        let is_beside = frame.inspector_divider.width > 0 && wishes.2.is_none() && wishes.3.is_none();
        prop_assert!(!is_beside || frame.text() <= 100, "{:?}", frame);
    }

    #[test]
    fn panes_do_not_move_what_is_read(
        jumps in 0_usize..12,
        keys in prop::collection::vec(keys(), 1..10),
        size in select(vec![(80_u16, 24_u16), (120, 40), (200, 60), (180, 50)]),
    ) {
        let mut stage = stage(size.0, size.1);
        stage.press("g");
        for _ in 0..jumps {
            stage.press("j");
        }
        let focus = stage.app.reader.text.view.focus;
        for key in keys {
            let before = stage.line_of_focus();
            stage.press(key);
            prop_assert_eq!(stage.app.reader.text.view.focus, focus, "{} keeps the focus", key);
            let height = usize::from(stage.app.reader.frame().lines());
            let is_at_end = stage.app.reader.text.view.lines.last().is_some_and(|line| {
                stage.app.reader.text.sequence.place_of(line.entry).is_some_and(|at| at + 1 == stage.app.reader.text.sequence.len())
            });
            let is_at_top = stage.app.reader.text.view.lines.first().is_some_and(|line| {
                stage.app.reader.text.sequence.place_of(line.entry) == Some(0) && line.row == 0
            });
            // Where the session begins or ends, there may be nothing to keep the item on its line with.
            if !is_at_end && !is_at_top {
                prop_assert_eq!(stage.line_of_focus(), before, "{} at {:?}", key, size);
            }
            prop_assert!(stage.app.reader.text.view.lines.len() <= height);
            prop_assert!(stage.app.reader.text.view.lines.iter().any(|line| focus_of(line) == focus));
        }
    }
}

/// What hangs on turns has rows too, but is no turn.
#[test]
fn the_heading_counts_turns_and_not_what_hangs_on_them() {
    let mut stage = Stage::made((120, 30));
    for turn in 0..40 {
        let (call, scout) = (format!("c{turn}"), format!("scout{turn}"));
        let at = 100 + turn * 10;
        stage.add([
            says(&format!("p{turn}"), at, Role::User, "Look at the next boat"),
            lane(&scout, &call),
            calls(&call, at + 1, "task", ToolKind::Delegate, "look"),
            in_lane(
                says(&format!("s{turn}"), at + 2, Role::Assistant, "A boat."),
                &scout,
            ),
            result_at(&call, at + 3, "A boat.", Verdict::Done),
        ]);
    }
    let turns = stage.app.reader.session.transcript.turns().len();
    let section = stage.app.reader.outline.sections.first().unwrap();
    let in_sight = section
        .rows
        .iter()
        .filter(|row| row.title.contains("Look at the next boat"))
        .count();
    assert!(
        in_sight < section.rows.len() && in_sight > 1,
        "{}",
        stage.picture()
    );
    let heading = format!("TURNS {in_sight} of {turns}");
    assert!(
        stage.picture().contains(&heading),
        "{heading}\n{}",
        stage.picture()
    );
}

#[test]
fn the_mark_of_the_focus_is_quiet_while_another_pane_has_the_keys() {
    let mut stage = stage(120, 40);
    stage.press("g");
    let mark = |stage: &Stage| {
        let (line, area) = (
            stage.line_of_focus().unwrap(),
            stage.app.reader.frame().transcript,
        );
        let cell = &stage.buffer()[(area.x, area.y + u16::try_from(line).unwrap())];
        (cell.symbol().to_owned(), Some(cell.fg))
    };
    let theme = Theme::dark();
    assert_eq!(
        mark(&stage),
        ("▶".to_owned(), theme.focus.fg),
        "{}",
        stage.picture()
    );
    stage.press("tab");
    assert_eq!(
        mark(&stage),
        ("▶".to_owned(), theme.dim.fg),
        "{}",
        stage.picture()
    );
}

#[test]
fn a_sub_agent_that_nobody_waits_for_does_not_look_at_work() {
    let mut stage = Stage::made((120, 40));
    stage.app.reader.screen.now = Timestamp(START + 5_000);
    stage.add([
        prompt("p", "go"),
        calls("t", 1, "task", ToolKind::Delegate, "look around"),
        lane("mate", "t"),
        in_lane(says("m", 2, Role::Assistant, "it is dark"), "mate"),
    ]);
    stage.feed(Feed::CaughtUp);
    stage.wait(50);
    let outline = |stage: &Stage| {
        let width = usize::from(stage.app.reader.frame().outline.width);
        (1..38)
            .map(|y| stage.line(y).chars().take(width).collect::<String>())
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(outline(&stage).contains('●'), "{}", stage.picture());
    stage.wait(200 * 3_600_000);
    let left = outline(&stage);
    assert!(!left.contains('●') && left.contains('╌'), "{left}");
}

#[test]
fn the_chosen_row_of_the_outline_gives_its_figures_for_its_title() {
    let mut stage = stage(120, 40);
    stage.press("g tab");
    assert_eq!(stage.app.reader.focused(), Pane::Outline);
    let frame = stage.app.reader.frame();
    let section = &stage.app.reader.outline.sections[0];
    let y = frame.outline.y + 1 + u16::try_from(section.cursor.unwrap()).unwrap();
    let row = |stage: &Stage| {
        let row: String = stage
            .line(y)
            .chars()
            .take(usize::from(frame.outline.width))
            .collect();
        row.trim_end_matches(['│', ' ']).to_owned()
    };
    let chosen = row(&stage);
    stage.press("j");
    let other = row(&stage);
    let figure = other.split_whitespace().last().unwrap();
    assert!(figure.contains(|c: char| c.is_ascii_digit()), "{other}");
    assert!(!chosen.ends_with(figure), "{chosen} and {other}");
}
