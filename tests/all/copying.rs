//! Tests of copying: rows, items, turns and records, by keys and by the mouse.

use std::path::Path;

use proptest::prelude::{any, proptest};
use proptest::sample::select as one_of;
use ratatui::style::{Color, Modifier};
use tv::app::effect::Effect;
use tv::app::input::keys::parse_keys;
use tv::app::input::mouse::{Gesture, Pointer};
use tv::app::mode::Mode as KeyMode;
use tv::app::update::Event;
use tv::model::body::Tree;
use tv::model::edit::{Edit, Feed};
use tv::model::entry::{Block, Piece};
use tv::model::record::FileId;
use tv::model::text::Text;
use tv::model::tool::{ToolKind, Verdict};
use tv::render::theme::Theme;

use crate::made::{answer, call, calls, in_lane, lane, lines, prompt, result, thought};
use crate::stage::{Stage, demo};

/// A prompt, prose in every form, a command with much output, a file that was read, a sub-agent.
fn session() -> Stage {
    let mut stage = Stage::made((80, 40));
    stage.add([
        prompt("p1", "look into the hold\n\n  and count\twhat is there"),
        thought("t1", "A hold has crates.\n\nI count them."),
        answer("a1", &prose()),
        call("c1", "ls hold"),
        result(
            "c1",
            &lines(90, |n| format!("crate {n} of herring")),
            Verdict::Done,
        ),
        read("c2", "src/hold.rs"),
        result(
            "c2",
            "    1→fn hold() {\n    2→    herring();\n    3→}",
            Verdict::Done,
        ),
        call("c3", "ask the mate"),
        lane("mate", "c3"),
        in_lane(answer("m1", "Only the barnacle knows."), "mate"),
        result("c3", "no such mate", Verdict::Failed),
        prompt("p2", "thank you"),
        answer("a2", "You are welcome."),
    ]);
    stage.press("g");
    stage
}

fn prose() -> String {
    let long = "the hold of this ship is long and dark and full of fish ".repeat(5);
    format!(
        "# Hold\n\nFirst line of a paragraph\nthat goes on here.\n\n{}\n\n- one **item**\n- two\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\n| crate | fish |\n| --- | --- |\n| 1 | herring |\n| 2 | cod |\n\nThe end.",
        long.trim_end()
    )
}

fn read(key: &str, path: &str) -> Edit {
    calls(key, 0, "read", ToolKind::Read, path)
}

/// What the last copy holds.
#[track_caller]
fn copied(stage: &Stage) -> String {
    match stage.asked.last() {
        Some(Effect::Copy(text)) => text.clone(),
        other => panic!(
            "nothing was copied: {other:?}; {}\n{}",
            stage.status(),
            stage.picture()
        ),
    }
}

/// Puts the cursor on the row with these words and begins to select there.
#[track_caller]
fn select_at(stage: &mut Stage, words: &str) {
    stage.press("V");
    to_row(stage, words);
    stage.press("o");
    to_row(stage, words);
}

/// Moves the cursor of the selection to the row with these words.
#[track_caller]
fn to_row(stage: &mut Stage, words: &str) {
    let has = |stage: &Stage| {
        let cursor = stage
            .app
            .reader
            .text
            .view
            .selection
            .expect("rows are selected")
            .cursor;
        let rows = stage
            .app
            .reader
            .text
            .view
            .lines
            .iter()
            .filter(|line| line.entry == cursor.entry);
        rows.filter(|line| tv::app::text::viewport::row_ref_of(line) == Some(cursor))
            .any(|line| {
                line.row()
                    .is_some_and(|row| row.line.to_string().contains(words))
            })
    };
    let start = stage
        .app
        .reader
        .text
        .view
        .selection
        .expect("rows are selected")
        .cursor;
    stage.press("g");
    for _ in 0..300 {
        if has(stage) {
            return;
        }
        stage.press("j");
    }
    panic!(
        "{words:?} is in no row, from {start:?}: {}",
        stage.picture()
    );
}

#[track_caller]
fn select(stage: &mut Stage, from: &str, to: &str) -> String {
    select_at(stage, from);
    to_row(stage, to);
    stage.press("y");
    assert!(
        stage.app.reader.text.view.selection.is_none(),
        "copying ends the selection"
    );
    copied(stage)
}

// === rows ===

#[test]
fn a_wrapped_paragraph_comes_out_as_its_line() {
    let mut stage = session();
    let whole = prose().lines().nth(5).unwrap().to_owned();
    assert!(whole.len() > 200);
    assert_eq!(
        select(&mut stage, "the hold of this ship", "the hold of this ship"),
        whole
    );
    // A paragraph that was written over two lines and is shown on one.
    let both = "First line of a paragraph\nthat goes on here.";
    assert_eq!(select(&mut stage, "First line", "goes on here"), both);
}

#[test]
fn what_has_no_row_of_its_own_comes_with_what_stands_around_it() {
    let mut stage = session();
    let expected = "- two\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\n| crate | fish |\n| --- | --- |\n| 1 | herring |";
    assert_eq!(select(&mut stage, "two", "herring"), expected);
    assert_eq!(
        select(&mut stage, "let a", "let b"),
        "let a = 1;\n\nlet b = 2;"
    );
}

#[test]
fn whole_items_come_whole_and_apart() {
    let mut stage = session();
    let text = select(&mut stage, "look into the hold", "think");
    assert!(
        text.starts_with("look into the hold\n\n  and count\twhat is there\n\nA hold has crates."),
        "{text}"
    );
    stage.press("G");
    let text = select(&mut stage, "thank you", "You are welcome");
    assert_eq!(text, "thank you\n\nYou are welcome.");
    // What is folded away is part of an item that is selected as a whole.
    let text = select(&mut stage, "ls hold", "crate 90");
    assert_eq!(
        text,
        format!(
            "ls hold\n{}",
            lines(90, |n| format!("crate {n} of herring"))
        )
    );
}

#[test]
fn of_output_come_the_lines_that_are_seen() {
    let mut stage = session();
    assert_eq!(
        select(&mut stage, "crate 2 ", "crate 3 "),
        "crate 2 of herring\ncrate 3 of herring"
    );
    // What a row stands for is not what it says.
    let text = select(&mut stage, "crate 4 ", "crate 86 ");
    assert_eq!(
        text,
        "crate 4 of herring\ncrate 85 of herring\ncrate 86 of herring"
    );
}

#[test]
fn numbers_of_a_file_are_no_part_of_it() {
    let mut stage = session();
    stage.press("z 4");
    assert_eq!(
        select(&mut stage, "fn hold", "herring()"),
        "fn hold() {\n    herring();"
    );
}

#[test]
fn a_selection_can_begin_at_either_end_and_be_left() {
    let mut stage = session();
    let down = select(&mut stage, "crate 1 ", "crate 2 ");
    assert_eq!(select(&mut stage, "crate 2 ", "crate 1 "), down);
    stage.press("V j j esc");
    assert!(stage.app.reader.text.view.selection.is_none());
    stage.press("V V");
    assert!(stage.app.reader.text.view.selection.is_none());
    stage.press("V q");
    assert!(
        stage.app.reader.text.view.selection.is_none()
            && !stage.asked.iter().any(|it| matches!(it, Effect::Quit))
    );
}

#[test]
fn motions_extend_a_selection() {
    let mut stage = session();
    // The cursor is on the head of the next prompt; what it says is below.
    stage.press("V } y");
    assert!(
        copied(&stage).ends_with("\nno such mate"),
        "{}",
        copied(&stage)
    );
    stage.press("g V } j y");
    assert!(
        copied(&stage).ends_with("\nno such mate\n\nthank you"),
        "{}",
        copied(&stage)
    );
    stage.press("g V G y");
    let text = copied(&stage);
    assert!(
        text.starts_with("look into") && text.ends_with("You are welcome."),
        "{text}"
    );
    stage.press("g V j y");
    assert_eq!(copied(&stage), "look into the hold");
    stage.press("g V j j j y");
    assert_eq!(
        copied(&stage),
        "look into the hold\n\n  and count\twhat is there"
    );
    stage.press("g V j ctrl-d ctrl-u y");
    assert_eq!(copied(&stage), "look into the hold");
}

#[test]
fn appends_and_sizes_leave_a_selection_alone() {
    let mut stage = session();
    select_at(&mut stage, "First line");
    to_row(&mut stage, "goes on here");
    let before = stage.app.reader.text.view.selection;
    stage.add([answer("a3", "late words")]);
    stage.resize(50, 20);
    stage.resize(80, 40);
    assert_eq!(stage.app.reader.text.view.selection, before);
    stage.press("y");
    assert_eq!(
        copied(&stage),
        "First line of a paragraph\nthat goes on here."
    );
}

#[test]
fn selected_rows_are_seen_in_all_themes() {
    for (theme, is_reversed) in [
        (Theme::dark(), false),
        (Theme::light(), false),
        (Theme::mono(), true),
    ] {
        let mut stage = session();
        stage.app.reader.screen.theme = theme;
        stage.press("V j");
        let (first, last) = stage
            .app
            .reader
            .text
            .view
            .selected
            .expect("lines of the window");
        assert!(last > first);
        let buffer = stage.buffer();
        let area = stage.app.reader.frame().transcript;
        let y = area.y + u16::try_from(first).unwrap();
        let cell = &buffer[(area.x + 30, y)];
        if is_reversed {
            assert!(cell.modifier.contains(Modifier::REVERSED));
        } else {
            assert_ne!(cell.bg, Color::Reset);
        }
        let below = &buffer[(area.x + 30, area.y + u16::try_from(last).unwrap() + 1)];
        assert_eq!(below.bg, Color::Reset);
        assert!(!below.modifier.contains(Modifier::REVERSED));
    }
}

proptest! {
    #![proptest_config(crate::fixtures::cases(24))]

    /// Whatever is selected at whatever width: the copy holds lines that were written, and nothing else.
    #[test]
    fn copies_hold_only_what_was_written(
        width in 24_u16..160,
        level in one_of(vec!["z 2", "z 3", "z 4"]),
        steps in proptest::collection::vec(one_of(vec!["j", "k", "}", "{", "ctrl-d", "o", "G", "g"]), 1..8),
        start in 0_usize..8,
        grows in any::<bool>(),
    ) {
        let mut stage = session();
        stage.resize(width, 30);
        stage.press(level);
        for _ in 0..start {
            stage.press("j");
        }
        stage.press("V");
        for step in steps {
            stage.press(step);
            if grows {
                stage.add([answer("more", "late words")]);
            }
        }
        stage.press("y");
        let mut written: Vec<String> = prose().lines().map(str::to_owned).collect();
        written.extend(lines(90, |n| format!("crate {n} of herring")).lines().map(str::to_owned));
        let more = "look into the hold\n  and count\twhat is there\nA hold has crates.\nI count them.\nls hold\nsrc/hold.rs\nfn hold() {\n    herring();\n}\nask the mate\nno such mate\nthank you\nYou are welcome.\nlate words";
        written.extend(more.lines().map(str::to_owned));
        if let Some(Effect::Copy(text)) = stage.asked.last() {
            for line in text.lines().filter(|line| !line.is_empty()) {
                assert!(written.iter().any(|known| known == line), "{line:?} was never written");
            }
        }
    }
}

// === items ===

#[test]
fn a_turn_comes_as_markdown() {
    let mut stage = session();
    stage.press("y t");
    let text = copied(&stage);
    let expected = [
        "## User",
        "look into the hold\n\n  and count\twhat is there",
        "> A hold has crates.\n>\n> I count them.",
        "- one **item**",
        "**bash** `ls hold`\n\n```\ncrate 1 of herring\n",
        "crate 90 of herring\n```",
        "**read** `src/hold.rs`",
        "Sub-agent **mate** (1 message)",
        "Failed:\n\n```\nno such mate\n```",
    ];
    let mut rest = text.as_str();
    for part in expected {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("{part:?} is missing or out of order in:\n{text}"));
        rest = &rest[at + part.len()..];
    }
    assert!(!text.contains("thank you"), "the next turn is another one");
}

#[test]
fn a_link_opens_the_session_at_the_entry() {
    let mut stage = session();
    stage.press("y l");
    assert!(stage.status().contains("no file"), "{}", stage.status());
    stage.app.reader.session.file.address = Some("/work/boat.jsonl".to_owned());
    stage.press("y l");
    assert_eq!(copied(&stage), "/work/boat.jsonl#p1");
    let mut other = session();
    other.press("G");
    other.app.reader.text.places.requested_entry = Some("c1".to_owned());
    other.feed(Feed::CaughtUp);
    other.arrange();
    assert!(other.focused().contains("ls hold"), "{}", other.focused());
    // It is the call, not what the same answer says before it.
    let (Edit::Entry(mut both), Edit::Entry(asks)) =
        (answer("a9", "I look."), call("c9", "ls keel"))
    else {
        panic!("both are entries")
    };
    both.blocks.extend(asks.blocks.iter().map(|block| Block {
        piece: Piece(1),
        ..block.clone()
    }));
    other.add([Edit::Entry(both)]);
    other.app.reader.text.places.requested_entry = Some("c9".to_owned());
    other.feed(Feed::CaughtUp);
    other.arrange();
    assert!(other.focused().contains("ls keel"), "{}", other.focused());
    other.app.reader.text.places.requested_entry = Some("nobody".to_owned());
    other.feed(Feed::CaughtUp);
    assert!(
        other.status().contains("no entry is called nobody"),
        "{}",
        other.status()
    );
}

#[test]
fn texts_on_disk_are_read_before_they_are_copied() {
    let mut stage = Stage::open(&demo(), (80, 24), Theme::dark());
    stage.press("g y t");
    let whole = copied(&stage);
    let mut again = Stage::open(&demo(), (80, 24), Theme::dark());
    again.app.reader.session.transcript.release(0, |_| false);
    again.press("g y t");
    assert_eq!(copied(&again), whole);
    assert!(again.app.reader.text.pending_copy.is_none());
}

// === records ===

fn tree() -> Tree {
    let text = |text: &str| Tree::Text(Text::from(text));
    Tree::Map(vec![
        (Text::from("type"), text("message")),
        (
            Text::from("message"),
            Tree::Map(vec![(
                Text::from("content"),
                Tree::List(vec![Tree::Map(vec![(Text::from("odd key"), text("a\nb"))])]),
            )]),
        ),
    ])
}

#[test]
fn the_raw_record_knows_the_paths_of_its_fields() {
    let mut stage = session();
    stage.press("r");
    stage.happen(Event::Records {
        title: "raw record".to_owned(),
        trees: vec![("line 7".to_owned(), tree())],
    });
    stage.press("y q");
    assert_eq!(copied(&stage), ".type");
    stage.press("G k k y q");
    assert_eq!(copied(&stage), ".message.content[0].[\"odd key\"]");
    stage.press("y y");
    assert_eq!(
        copied(&stage),
        r#"{"type":"message","message":{"content":[{"odd key":"a\nb"}]}}"#
    );
    stage.press("g y q");
    assert!(
        stage.picture().contains("no value"),
        "it is said where it can be seen: {}",
        stage.picture()
    );
    stage.press("q");
    assert!(matches!(stage.app.mode, KeyMode::Normal));
}

#[test]
fn records_are_piped_to_a_command() {
    let mut stage = session();
    stage.press("|");
    assert!(
        stage.status().contains('|') && stage.status().contains("1 record"),
        "{}",
        stage.status()
    );
    stage.type_in("jq .type").press("enter");
    let Some(Effect::Pipe { command, origins }) = stage.asked.last() else {
        panic!("nothing is piped")
    };
    assert_eq!((command.as_str(), origins.len()), ("jq .type", 1));
    stage.press("|").press("up");
    assert!(
        stage.status().starts_with("|jq .type"),
        "{}",
        stage.status()
    );
    stage.press("enter");
    assert!(matches!(stage.asked.last(), Some(Effect::Pipe { origins, .. }) if origins.len() == 1));
    stage.press("V } | x enter");
    assert!(matches!(stage.asked.last(), Some(Effect::Pipe { origins, .. }) if origins.len() > 3));
    let before = stage.asked.len();
    stage.press("| esc");
    stage.press("| enter");
    assert_eq!(
        stage.asked.len(),
        before,
        "nothing is typed, nothing happens"
    );
    stage.press(":").type_in("pipe wc -l").press("enter");
    assert!(matches!(stage.asked.last(), Some(Effect::Pipe { command, .. }) if command == "wc -l"));
}

#[test]
fn a_part_is_exported_by_the_keys_of_its_entries() {
    let mut stage = session();
    let export = |stage: &mut Stage, part: &str| {
        stage
            .press(":")
            .type_in(&format!("export md {part}"))
            .press("enter");
        match stage.asked.pop() {
            Some(Effect::Export(_, _, keys)) => keys.len(),
            _ => panic!("{}", stage.status()),
        }
    };
    assert_eq!(export(&mut stage, ""), 0);
    assert_eq!(export(&mut stage, "turn"), 1);
    for (part, why) in [("rows", "V selects"), ("marks", "nothing is marked")] {
        let asked = stage.asked.len();
        stage
            .press(":")
            .type_in(&format!("export md {part}"))
            .press("enter");
        assert!(stage.status().contains(why), "{}", stage.status());
        assert_eq!(stage.asked.len(), asked);
    }
    stage.press("g m a m b G m c");
    assert_eq!(export(&mut stage, "marks"), 2);
    stage.press("g V } }");
    assert!(export(&mut stage, "rows") > 1);
}

#[test]
fn the_path_names_file_and_line() {
    let mut stage = session();
    stage.feed(Feed::File {
        id: FileId(0),
        path: Path::new("/work/boat.jsonl").into(),
    });
    stage.press("y p");
    assert_eq!(copied(&stage), "/work/boat.jsonl:1");
}

// === the mouse ===

fn at(stage: &mut Stage, gesture: Gesture, column: u16, line: u16) {
    stage.happen(Event::Mouse(Pointer {
        gesture,
        column,
        line,
    }));
    stage.arrange();
}

/// The line of the screen with these words, and the column where they begin.
#[track_caller]
fn place_of(stage: &Stage, words: &str) -> (u16, u16) {
    let line = (0..stage.app.reader.screen.size.1).find(|y| stage.line(*y).contains(words));
    let line =
        line.unwrap_or_else(|| panic!("{words:?} is not on the screen: {}", stage.picture()));
    let text = stage.line(line);
    let before = text.split(words).next().unwrap();
    (u16::try_from(before.chars().count()).unwrap(), line)
}

/// Whether a row of the window says this and nothing else; the head of a folded sub-agent says more.
fn has_row(stage: &Stage, words: &str) -> bool {
    stage.window().iter().any(|(_, _, row)| row.trim() == words)
}

#[test]
fn the_mouse_is_off_until_it_is_asked_for() {
    let mut stage = session();
    let before = stage.window();
    at(&mut stage, Gesture::WheelDown, 20, 10);
    assert_eq!(stage.window(), before);
    stage.press("F12");
    assert!(matches!(stage.asked.last(), Some(Effect::Mouse(true))));
    stage.press("F12");
    assert!(matches!(stage.asked.last(), Some(Effect::Mouse(false))));
    stage.press(":").type_in("set mouse on").press("enter");
    assert!(matches!(stage.asked.last(), Some(Effect::Mouse(true))) && stage.app.mouse.is_on);
    stage.press(":").type_in("set nomouse").press("enter");
    assert!(matches!(stage.asked.last(), Some(Effect::Mouse(false))) && !stage.app.mouse.is_on);
}

#[test]
fn the_wheel_scrolls_three_lines() {
    let mut stage = session();
    stage.press("F12");
    let (before, focus) = (stage.window(), stage.app.reader.text.view.focus);
    at(&mut stage, Gesture::WheelDown, 20, 10);
    assert_eq!(stage.window()[0], before[3]);
    assert_eq!(stage.app.reader.text.view.focus, focus, "the cursor stays");
    at(&mut stage, Gesture::WheelUp, 20, 10);
    assert_eq!(stage.window(), before);
    stage.press("?");
    at(&mut stage, Gesture::WheelDown, 20, 10);
    assert!(matches!(stage.app.mode, KeyMode::Help { top: 3, .. }));
}

#[test]
fn clicks_focus_open_and_expand() {
    let mut stage = session();
    stage.press("F12");
    let (x, y) = place_of(&stage, "crate 1 of");
    at(&mut stage, Gesture::Press, x, y);
    at(&mut stage, Gesture::Release, x, y);
    assert!(stage.focused().contains("ls hold"), "{}", stage.focused());
    assert!(!stage.picture().contains("crate 40"));
    stage.press("ctrl-e ctrl-e");
    let (x, y) = place_of(&stage, "+80 lines");
    at(&mut stage, Gesture::Press, x, y);
    at(&mut stage, Gesture::Release, x, y);
    stage.press("/").type_in("crate 40").press("enter");
    assert!(
        stage.picture().contains("crate 40 of herring"),
        "{}",
        stage.picture()
    );
    let mut stage = session();
    stage.press("F12 G");
    let (x, y) = place_of(&stage, "▸ mate");
    at(&mut stage, Gesture::Press, x, y);
    assert!(
        has_row(&stage, "Only the barnacle knows."),
        "{}",
        stage.picture()
    );
    let (x, y) = place_of(&stage, "▾ mate");
    at(&mut stage, Gesture::Press, x, y);
    assert!(
        !has_row(&stage, "Only the barnacle knows."),
        "{}",
        stage.picture()
    );
    let (x, y) = place_of(&stage, "ask the mate");
    at(&mut stage, Gesture::Press, x, y);
    at(&mut stage, Gesture::Release, x, y);
    at(&mut stage, Gesture::Double, x, y);
    assert!(
        has_row(&stage, "Only the barnacle knows."),
        "enter: {}",
        stage.picture()
    );
}

#[test]
fn dragging_selects_rows_and_a_click_ends_that() {
    let mut stage = session();
    stage.press("F12");
    let (x, y) = place_of(&stage, "crate 1 of");
    at(&mut stage, Gesture::Press, x, y);
    at(&mut stage, Gesture::Drag, x, y + 1);
    at(&mut stage, Gesture::Release, x, y + 1);
    stage.press("y");
    assert_eq!(copied(&stage), "crate 1 of herring\ncrate 2 of herring");
    at(&mut stage, Gesture::Press, x, y);
    at(&mut stage, Gesture::Drag, x, y + 1);
    at(&mut stage, Gesture::Release, x, y + 1);
    assert!(stage.app.reader.text.view.selection.is_some());
    at(&mut stage, Gesture::Press, x, y);
    assert!(stage.app.reader.text.view.selection.is_none());
}

#[test]
fn the_spine_and_the_dividers_follow_the_mouse() {
    let mut stage = session();
    stage.press("F12 G");
    let frame = stage.app.reader.frame();
    at(&mut stage, Gesture::Press, frame.spine.x, frame.spine.y);
    assert!(stage.focused().contains("you"), "{}", stage.focused());
    assert_eq!(stage.window()[0].0, 0, "the beginning");
    stage.resize(120, 40);
    let frame = stage.app.reader.frame();
    assert!(frame.outline.width > 0);
    let (x, y) = (frame.outline_divider.x, 5);
    at(&mut stage, Gesture::Press, x, y);
    at(&mut stage, Gesture::Drag, x + 6, y);
    at(&mut stage, Gesture::Release, x + 6, y);
    assert_eq!(stage.app.reader.frame().outline_divider.x, x + 6);
    at(&mut stage, Gesture::Drag, x, y);
    assert_eq!(
        stage.app.reader.frame().outline_divider.x,
        x + 6,
        "nothing is held any more"
    );
}

#[test]
fn a_click_on_the_outline_goes_there() {
    let mut stage = session();
    stage.resize(120, 40);
    stage.press("F12 g");
    let line = (0..40).find(|y| {
        stage
            .line(*y)
            .split('│')
            .next()
            .unwrap_or_default()
            .contains("thank you")
    });
    at(
        &mut stage,
        Gesture::Press,
        6,
        line.expect("the turn is in the outline"),
    );
    assert!(stage.picture().contains("You are welcome"));
    let focus = stage.app.reader.text.view.focus.expect("an item");
    assert_eq!(
        stage
            .app
            .reader
            .session
            .transcript
            .get(focus.entry)
            .unwrap()
            .key
            .as_str(),
        "p2"
    );
}

#[test]
fn keys_of_the_table_are_the_ones_tried_here() {
    for keys in ["V", "y t", "y l", "y q", "|", "F12"] {
        let keys = parse_keys(keys).expect("keys");
        assert!(matches!(
            tv::app::input::keymap::Keymap::default().find(&keys),
            tv::app::input::keymap::KeyMatch::Action(_)
        ));
    }
}
