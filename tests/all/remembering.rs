//! Tests of state that survives: the line above new entries, marks, and the position after a change
//! of wrapping.

use std::path::Path;

use tv::app::effect::Effect;
use tv::app::input::action::Action;
use tv::app::input::bindings::BINDINGS;
use tv::app::mode::Mode as KeyMode;
use tv::app::text::wrapping::LineNumbers;
use tv::model::edit::{Batch, BatchMode, Edit, Feed, Stage as Stretch};
use tv::model::entry::{Block, BlockKind, Entry, Piece, Role};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::render::row::RowKind;
use tv::render::theme::Theme;
use tv::session::news::LastView;

use crate::stage::{Stage, demo, fixture};

const DAY: i64 = 24 * 60 * 60 * 1000;

fn said(key: &str, role: Role, text: &str, at: i64) -> Edit {
    let mut batch = Batch::default();
    let body = batch.prose(text);
    let mut entry: Entry = batch.new_entry(Text::from(key), role, Some(Timestamp(at)));
    entry.marks.prompt = role == Role::User;
    entry.blocks = vec![Block::new(Piece(0), BlockKind::Text(body))];
    Edit::Entry(Box::new(entry))
}

fn answers(from: usize, to: usize) -> Vec<Edit> {
    (from..to)
        .map(|n| {
            said(
                &format!("a{n}"),
                Role::Assistant,
                &format!("sentence {n}"),
                7,
            )
        })
        .collect()
}

/// A session of `old` entries when it was last looked at, and `new` more by now.
fn reopened(old: usize, new: usize) -> Stage {
    let mut stage = Stage::made((80, 24));
    let at = Timestamp(stage.app.reader.screen.now.0 - DAY);
    stage.app.reader.text.places.last_visit = old.checked_sub(1).map(|last| LastView {
        key: Text::from(format!("a{last}").as_str()),
        at,
    });
    stage.add(answers(0, old + new));
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    stage
}

fn rules(stage: &Stage) -> Vec<usize> {
    let lines = stage.app.reader.text.view.lines.iter().enumerate();
    let is_rule = |kind| kind == RowKind::News;
    lines
        .filter(|(_, line)| line.row().is_some_and(|row| is_rule(row.kind)))
        .map(|(place, _)| place)
        .collect()
}

/// The key of the focused entry.
fn focused(stage: &Stage) -> String {
    let entry = stage
        .app
        .reader
        .text
        .view
        .focus
        .and_then(|focus| stage.app.reader.session.transcript.get(focus.entry));
    entry.map(|entry| entry.key.to_string()).unwrap_or_default()
}

#[test]
fn a_line_stands_above_what_is_new() {
    let stage = reopened(5, 3);
    let window = stage.window();
    let rule = rules(&stage)[0];
    let day = Timestamp(stage.app.reader.screen.now.0 - DAY).short(stage.app.reader.screen.now);
    assert!(
        window[rule].2.contains(&format!("new since {day}")),
        "{window:?}"
    );
    let after = window[rule + 1..]
        .iter()
        .find(|row| row.2.contains("sentence"))
        .unwrap();
    assert!(after.2.contains("sentence 5"), "{window:?}");
    assert!(
        window[..rule]
            .iter()
            .any(|row| row.2.contains("sentence 4"))
    );
    assert!(
        stage.app.reader.text.view.follows(),
        "a session opens at its end"
    );
    // Nobody counts it: the status line numbers entries, motions pass it by.
    assert_eq!(stage.app.reader.text.sequence.len(), 8);
}

#[test]
fn it_is_reached_by_a_key_and_passed_by_motions() {
    let mut stage = reopened(40, 40);
    assert!(rules(&stage).is_empty(), "the end is far below");
    stage.press("[ n");
    assert_eq!(focused(&stage), "a40");
    let rule = rules(&stage)[0];
    assert_eq!(stage.line_of_focus(), Some(rule + 1), "{}", stage.picture());
    stage.press("k");
    assert_eq!(focused(&stage), "a39");
    stage.press("j");
    assert_eq!(focused(&stage), "a40");
    stage.press("[ n");
    assert!(
        stage.status().contains("no new entry before this"),
        "{}",
        stage.status()
    );
    stage.press("g ] n");
    assert_eq!(focused(&stage), "a40");
    // Scrolled line by line, the line comes to the top and leaves as any other.
    for _ in 0..30 {
        let before = stage.window();
        stage.press("ctrl-e");
        assert_eq!(stage.window()[..10], before[1..11], "{}", stage.picture());
    }
}

#[test]
fn without_news_or_without_anything_older_there_is_no_line() {
    for (old, new, words) in [
        (5, 0, "nothing was new when this was opened"),
        (0, 5, "this session was not looked at before"),
    ] {
        let mut stage = reopened(old, new);
        assert!(rules(&stage).is_empty());
        // What comes while one looks is not new since the last time.
        stage.add(answers(20, 23));
        assert!(rules(&stage).is_empty());
        stage.press("[ n");
        assert!(stage.status().contains(words), "{}", stage.status());
        stage.press("k");
        stage.add(answers(23, 25));
        stage.press("] n");
        assert!(
            stage
                .status()
                .contains("2 new below came since this was opened"),
            "{}",
            stage.status()
        );
    }
}

#[test]
fn a_rewritten_session_is_parted_by_time() {
    let mut stage = Stage::made((80, 24));
    stage.app.reader.text.places.last_visit = Some(LastView {
        key: Text::from("gone"),
        at: Timestamp(1_003),
    });
    stage.add((0..8).map(|n| {
        said(
            &format!("r{n}"),
            Role::Assistant,
            &format!("again {n}"),
            1_000 + n,
        )
    }));
    stage.arrange();
    assert!(rules(&stage).is_empty(), "not before all is read");
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    let rule = rules(&stage)[0];
    assert!(
        stage.window()[rule + 1..]
            .iter()
            .any(|row| row.2.contains("again 4")),
        "{}",
        stage.picture()
    );
    assert!(
        stage.window()[..rule]
            .iter()
            .any(|row| row.2.contains("again 3"))
    );
    assert!(
        stage.window()[rule].2.contains("new since 1970-01-01"),
        "older than a week: with its date"
    );
}

#[test]
fn the_line_moves_nothing_and_goes_with_filters_and_levels() {
    // The end of a long session first: what was seen last is not in it.
    let mut stage = Stage::made((80, 24));
    let at = Timestamp(stage.app.reader.screen.now.0 - DAY);
    stage.app.reader.text.places.last_visit = Some(LastView {
        key: Text::from("a30"),
        at,
    });
    stage.add_as(BatchMode::Append, Stretch::Preview, answers(31, 90));
    stage.press("g j j");
    stage.add_as(BatchMode::Append, Stretch::Whole, answers(0, 90));
    stage.feed(Feed::CaughtUp);
    stage.press("g");
    stage.press("] n");
    assert_eq!(focused(&stage), "a31");
    assert_eq!(rules(&stage).len(), 1);
    // A filter that hides the first new entry leaves the line above the next one.
    stage.press("&").type_in("/sentence [2-4]5/").press("enter");
    let rule = rules(&stage)[0];
    let window = stage.window();
    assert!(
        window[rule + 1..]
            .iter()
            .any(|row| row.2.contains("sentence 35")),
        "{window:?}"
    );
    assert!(
        !window[rule + 1..]
            .iter()
            .any(|row| row.2.contains("sentence 25")),
        "{window:?}"
    );
    stage.press("f f");
    // Searching for its words finds nothing.
    stage.press("/").type_in("new since").press("enter");
    assert!(
        stage.status().contains("no hit") || stage.status().contains('0'),
        "{}",
        stage.status()
    );
}

#[test]
fn the_end_is_noted_only_when_it_is_known() {
    let mut stage = Stage::made((80, 24));
    assert_eq!(stage.app.reader.session.last_view(Timestamp(7)), None);
    stage.add(answers(0, 3));
    assert_eq!(
        stage.app.reader.session.last_view(Timestamp(7)),
        None,
        "more may be there"
    );
    stage.feed(Feed::CaughtUp);
    let seen = stage.app.reader.session.last_view(Timestamp(7)).unwrap();
    assert_eq!((seen.key.as_str(), seen.at), ("a2", Timestamp(7)));
    stage.press("g m a");
    assert!(
        stage
            .asked
            .iter()
            .any(|effect| matches!(effect, Effect::Remember))
    );
    stage.press(":").type_in("forget").press("enter");
    assert!(
        stage
            .asked
            .iter()
            .any(|effect| matches!(effect, Effect::Forget))
    );
    assert!(stage.app.reader.text.places.marks.is_empty());
}

/// The lines of a call's output that are longer than the window is wide.
fn long_lines() -> Stage {
    let words = "of words and more words ".repeat(8);
    let code = (0..60)
        .map(|n| format!("line {n} {words}end{n}"))
        .collect::<Vec<_>>()
        .join("\n");
    let mut stage = Stage::made((80, 24));
    let prose = "prose that is long enough to be wrapped ".repeat(6);
    stage.add([
        said("p", Role::User, "show it", 1),
        said(
            "a",
            Role::Assistant,
            &format!("{prose}\n\n```\n{code}\n```\n"),
            2,
        ),
        said("z", Role::Assistant, "done", 3),
    ]);
    stage.press("z 4");
    stage
}

fn is_on_screen(stage: &Stage, words: &str) -> bool {
    stage.window().iter().any(|row| row.2.contains(words))
}

#[test]
fn long_lines_are_cut_and_scrolled_and_the_line_that_is_read_stays() {
    let mut stage = long_lines();
    stage.press("g j");
    for _ in 0..90 {
        stage.press("ctrl-e");
    }
    let top = stage.window()[0].2.clone();
    let start = stage
        .window()
        .iter()
        .position(|row| row.2.contains("line "))
        .unwrap();
    let number = stage.window()[start].2.clone();
    let word = number
        .split_whitespace()
        .take(2)
        .collect::<Vec<_>>()
        .join(" ");
    stage.press("w");
    assert!(
        stage
            .window()
            .iter()
            .take(start + 2)
            .any(|row| row.2.contains(&word)),
        "{top}\n{}",
        stage.picture()
    );
    let cut = stage.app.reader.screen.theme.glyphs().cut;
    assert!(
        stage
            .window()
            .iter()
            .all(|row| !row.2.contains("line ") || row.2.ends_with(cut))
    );
    let lines = stage
        .window()
        .iter()
        .filter(|row| row.2.contains("line "))
        .count();
    assert!(lines > 15, "one row for each: {}", stage.picture());
    let far = stage.window()[0].2.clone();
    for _ in 0..12 {
        stage.press("z l");
    }
    assert!(is_on_screen(&stage, "end"), "{}", stage.picture());
    assert_eq!(stage.window()[0].0, 1);
    for _ in 0..12 {
        stage.press("z h");
    }
    assert_eq!(stage.window()[0].2, far);
    // Back again, as often as one likes.
    for _ in 0..3 {
        stage.press("w w");
        assert_eq!(stage.window()[0].2, far);
    }
    stage.press("w");
    assert!(is_on_screen(&stage, &word), "{}", stage.picture());
    stage.press("z l");
    assert!(
        stage.status().contains("long lines are wrapped"),
        "{}",
        stage.status()
    );
}

#[test]
fn prose_stays_wrapped() {
    let mut stage = long_lines();
    stage.press("g w");
    let rows = stage
        .window()
        .iter()
        .filter(|row| row.2.contains("prose that is"))
        .count();
    assert!(rows >= 2, "{}", stage.picture());
}

#[test]
fn numbers_stand_beside_items_and_move_nothing_else() {
    let mut stage = Stage::open(&demo(), (100, 30), Theme::dark());
    stage.press("g j j j");
    let focused = (stage.line_of_focus(), stage.app.reader.text.view.focus);
    stage.press("ctrl-n");
    assert_eq!(
        (stage.line_of_focus(), stage.app.reader.text.view.focus),
        focused
    );
    let focus = stage.app.reader.text.view.focus.unwrap();
    let block = &stage
        .app
        .reader
        .session
        .transcript
        .get(focus.entry)
        .unwrap()
        .blocks[focus.block];
    let origin = block.kind.bodies().next().unwrap().from;
    let line = origin.line;
    let y = u16::try_from(stage.line_of_focus().unwrap()).unwrap() + 1;
    assert!(
        stage.line(y).contains(&format!(" {line} ")),
        "{}",
        stage.line(y)
    );
    stage.press("ctrl-n");
    assert_eq!(stage.app.reader.text.wrapping.numbers, LineNumbers::Bytes);
    let at = origin.at;
    assert!(
        stage.line(y).contains(&format!(" {at} ")),
        "{}",
        stage.line(y)
    );
    stage.press("ctrl-n");
    assert_eq!(stage.app.reader.text.wrapping.numbers, LineNumbers::None);
    stage.press(":").type_in("set gutter=lines").press("enter");
    assert_eq!(stage.app.reader.text.wrapping.numbers, LineNumbers::Lines);
    stage.press(":").type_in("set nowrap").press("enter");
    assert!(!stage.app.reader.text.wrapping.wraps);
}

#[test]
fn no_row_is_wider_than_its_window_when_lines_are_cut() {
    for name in ["claude-code", "pi", "openclaw", "opencode", "cline"] {
        let folder = fixture(name);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        files.sort();
        for file in files.iter().take(6) {
            for width in [1, 7, 30, 81, 170] {
                page_with_cut_lines(file, width);
            }
        }
    }
}

fn page_with_cut_lines(file: &Path, width: u16) {
    let mut stage = Stage::open(file, (width, 20), Theme::dark());
    stage.press("z 4 w ctrl-n z l g");
    for _ in 0..4 {
        stage.press("space");
        let room = usize::from(stage.app.reader.frame().text());
        for line in &stage.app.reader.text.view.lines {
            let row = line.row().unwrap();
            let used = tv::render::wrap::width_of(&row.line.spans);
            assert!(
                used <= room,
                "{}: {used} of {room}: {}",
                file.display(),
                row.line
            );
        }
    }
}

#[test]
fn the_keys_are_shown_while_a_session_is_chosen() {
    let mut stage = Stage::made((80, 24));
    stage.press("s F1");
    assert!(matches!(stage.app.mode, KeyMode::Help { .. }));
    assert!(
        stage.picture().contains("Keys and signs"),
        "{}",
        stage.picture()
    );
    stage.press("esc");
    assert!(matches!(stage.app.mode, KeyMode::Picker));
    stage.press("?");
    assert!(matches!(stage.app.mode, KeyMode::Help { .. }));
    stage.press("esc a ?");
    assert!(
        matches!(stage.app.mode, KeyMode::Picker),
        "behind a letter it is typed"
    );
    assert!(
        BINDINGS
            .iter()
            .any(|binding| binding.action == Action::Help)
    );
}
