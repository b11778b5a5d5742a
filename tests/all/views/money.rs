//! Tests of the cost view.

use tv::app::input::action::View;
use tv::model::edit::{Batch, Edit};
use tv::model::entry::{BlockKind, Piece, Role};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::usage::Usage;
use tv::render::theme::Theme;

use crate::stage::{Stage, demo, fixture};

fn opened(name: &str, size: (u16, u16)) -> Stage {
    let mut stage = Stage::open(&fixture(name), size, Theme::dark());
    stage.press("4");
    stage.wait(300);
    assert_eq!(stage.app.reader.views.open(), Some(View::Money));
    stage
}

/// Only who moves in a page leads the reader elsewhere.
#[test]
fn another_order_of_a_page_does_not_end_following() {
    for keys in [
        "4 + 1", "4 - 1", "4 > 1", "3 + 1", "3 > 1", "7 > 1", "7 z r 1", "6 + - 1",
    ] {
        let mut stage = opened("pi/branches.jsonl", (120, 40));
        stage.press("1 G");
        assert!(stage.app.reader.text.view.follows());
        stage.press(keys);
        assert!(stage.app.reader.text.view.follows(), "{keys}");
    }
}

#[test]
fn the_page_fits_its_screen() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut stage = opened("pi/branches.jsonl", size);
        stage.press("g j");
        insta::assert_snapshot!(
            format!("money-turns-{}x{}", size.0, size.1),
            stage.picture()
        );
        stage.press("z 1 g");
        insta::assert_snapshot!(
            format!("money-session-{}x{}", size.0, size.1),
            stage.picture()
        );
    }
    let mut stage = opened(
        "claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl",
        (120, 40),
    );
    stage.press("+ g");
    insta::assert_snapshot!("money-requests-120x40", stage.picture());
    stage.press("z 3 g");
    insta::assert_snapshot!("money-lanes-120x40", stage.picture());
    let mut stage = opened("claude-stream-json/turns.jsonl", (120, 40));
    stage.press("z 2 G");
    insta::assert_snapshot!("money-models-of-a-run-120x40", stage.picture());
}

#[test]
fn small_and_plain_screens_do_not_break_it() {
    for size in [(44, 14), (20, 5), (1, 1)] {
        let mut stage = opened("pi/branches.jsonl", size);
        for level in ["z 1", "z 2", "z 3", "z 4", "z 5"] {
            stage.press(level).press("G g j > z r");
            let _ = stage.picture();
        }
    }
    let mut stage = Stage::open(
        &demo(),
        (100, 30),
        Theme {
            ascii: true,
            ..Theme::dark()
        },
    );
    stage.press("4");
    stage.wait(300);
    let view: String = stage.picture().lines().take(28).collect();
    assert!(view.is_ascii(), "{}", stage.picture());
}

#[test]
fn levels_group_and_columns_sort() {
    let mut stage = opened("pi/branches.jsonl", (120, 40));
    stage.press("+");
    assert!(stage.picture().contains("requests"), "{}", stage.picture());
    stage.press("- - -");
    assert!(
        stage.picture().contains("claude-opus-4-7 "),
        "{}",
        stage.picture()
    );
    stage.press("z 5 <");
    assert!(stage.picture().contains("cost↓"), "{}", stage.picture());
    let rows = |stage: &Stage| {
        let costs = stage
            .app
            .reader
            .views
            .sheet
            .rows
            .iter()
            .map(|row| row.line.to_string());
        costs.collect::<Vec<_>>()
    };
    let falling = rows(&stage);
    stage.press("z r");
    assert!(stage.picture().contains("cost↑"), "{}", stage.picture());
    assert_ne!(rows(&stage), falling);
    stage.press("z 1 >");
    assert!(
        stage.status().contains("its own order"),
        "{}",
        stage.status()
    );
}

#[test]
fn enter_leads_to_the_request() {
    let mut stage = opened("pi/branches.jsonl", (120, 40));
    stage.press("z 5 g j");
    let row = stage
        .app
        .reader
        .views
        .sheet
        .rows
        .iter()
        .find(|row| row.is_chosen)
        .unwrap()
        .line
        .to_string();
    let key = stage.focused_key();
    stage.press("enter");
    assert_eq!(stage.app.reader.views.open(), None);
    assert_eq!(stage.focused_key(), key, "{row}");
    let focus = stage.app.reader.text.view.focus.unwrap();
    assert!(
        stage
            .app
            .reader
            .session
            .transcript
            .get(focus.entry)
            .unwrap()
            .usage
            .is_some()
    );
}

fn prompt(key: &str) -> Edit {
    let mut batch = Batch::default();
    let mut entry = batch.new_entry(Text::clean(key), Role::User, None);
    entry.marks.prompt = true;
    entry.push_piece(
        Piece(1),
        BlockKind::Text(batch.prose(&format!("please {key}"))),
    );
    Edit::Entry(Box::new(entry))
}

fn answer(key: &str, input: u64, cost: Option<f64>) -> Edit {
    let mut batch = Batch::default();
    let mut entry = batch.new_entry(Text::clean(key), Role::Assistant, None);
    entry.model = Some("claude-opus-4-6".into());
    entry.usage = Some(Box::new(Usage {
        input: Some(input),
        output: Some(1_000),
        cost,
        ..Usage::default()
    }));
    entry.push_piece(
        Piece(1),
        BlockKind::Text(batch.prose(&format!("answer {key}"))),
    );
    Edit::Entry(Box::new(entry))
}

#[test]
fn it_grows_with_the_session_and_the_arithmetic_is_shown() {
    let mut stage = Stage::made((120, 40));
    stage.add([prompt("one"), answer("a1", 100_000, None)]);
    stage.press("4");
    stage.wait(300);
    assert!(
        !stage.picture().contains("please one"),
        "of few turns the requests: {}",
        stage.picture()
    );
    stage.press("-");
    assert!(
        stage.picture().contains("please one"),
        "{}",
        stage.picture()
    );
    assert!(
        stage
            .picture()
            .contains("100 000 input × $5.00/M = $0.500000 + 1 000 output × $25.00/M = $0.025000"),
        "{}",
        stage.picture()
    );
    stage.press("G");
    stage.add([prompt("two"), answer("a2", 10_000, Some(0.5))]);
    let picture = stage.picture();
    assert!(
        picture.contains("please two") && picture.contains("2 requests"),
        "{picture}"
    );
    assert!(
        picture.contains("$0.500000 recorded by the agent"),
        "the cursor went on to the new end: {picture}"
    );
    assert!(picture.contains("85.0% less"), "{picture}");
    stage.press("g");
    stage.add([answer("a3", 1_000, None)]);
    assert!(
        stage.picture().contains("100 000 input"),
        "the cursor stays: {}",
        stage.picture()
    );
}

#[test]
fn a_bill_of_several_days_has_dates() {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let bill = |days: i64| {
        let at = |edit: Edit, at: i64| match edit {
            Edit::Entry(mut entry) => {
                entry.at = Some(Timestamp(1_769_856_067_000 + at));
                Edit::Entry(entry)
            }
            other => other,
        };
        let mut stage = Stage::made((120, 40));
        stage.add([prompt("one"), at(answer("a1", 10, None), 0)]);
        stage.add([prompt("two"), at(answer("a2", 20, None), days * DAY)]);
        stage.press("4");
        stage.wait(300);
        stage.press("-");
        stage.picture()
    };
    let rows = |days| {
        bill(days)
            .lines()
            .filter(|line| line.contains("please"))
            .collect::<String>()
    };
    assert!(rows(0).contains(" 00:00:00  2 please two"), "{}", rows(0));
    let dated = rows(3);
    assert!(dated.contains(" 02-03 00:00  2 please two"), "{dated}");
}

#[test]
fn an_unknown_price_is_shown_as_such() {
    let mut stage = Stage::made((120, 40));
    let mut edit = answer("a1", 100_000, None);
    if let Edit::Entry(entry) = &mut edit {
        entry.model = Some("unheard-of-5".into());
    }
    stage.add([prompt("one"), edit]);
    stage.press("4");
    stage.wait(300);
    let picture = stage.picture();
    assert!(
        picture.contains("$? unheard-of-5 has no price: 101 000 tokens"),
        "{picture}"
    );
    assert!(!picture.contains("$0"), "{picture}");
}

#[test]
fn a_session_without_figures_says_so() {
    let mut stage = Stage::open(&fixture("generic/chat.jsonl"), (100, 30), Theme::dark());
    stage.press("4");
    stage.wait(300);
    assert!(
        stage
            .picture()
            .contains("Nothing is recorded of what was spent"),
        "{}",
        stage.picture()
    );
}
