//! Tests that outcomes of calls, sub-agents and branches are visible wherever these are shown.

use tv::model::edit::Feed;
use tv::model::entry::Role;
use tv::model::tool::Verdict;

use crate::made::{call, prompt, result, says, with};
use crate::stage::Stage;

#[test]
fn what_came_of_a_long_command_is_seen_in_the_brief() {
    let mut stage = Stage::made((80, 24));
    let long = format!("touch {}", "a/very/long/name ".repeat(12));
    stage.add([
        prompt("p", "go"),
        call("c", &long),
        result("c", "no", Verdict::Refused),
    ]);
    stage.press("B").wait(300);
    let rows: Vec<String> = stage
        .app
        .reader
        .views
        .sheet
        .rows
        .iter()
        .map(|row| row.line.to_string())
        .collect();
    let row = rows.iter().find(|row| row.contains("touch a/very"));
    let row = row.unwrap_or_else(|| panic!("{rows:#?}"));
    // What was refused has a section of its own, and the row says so behind the cut command.
    let said = row
        .strip_prefix("refused")
        .unwrap_or_else(|| panic!("{row}"));
    assert!(said.contains("refused"), "{row}");
    assert!(
        !rows.iter().any(|row| row.starts_with("failed")),
        "{rows:#?}"
    );
}

#[test]
fn where_the_outline_has_no_room_its_key_says_so() {
    let mut stage = Stage::made((50, 20));
    stage.add([prompt("p", "go")]);
    stage.press("I");
    assert!(
        stage.picture().contains("from 60 columns on"),
        "{}",
        stage.picture()
    );
}

#[test]
fn what_nobody_writes_any_more_was_broken_off() {
    let mut stage = Stage::made((100, 24));
    let half = with(says("a", 1, Role::Assistant, "half an answer"), |entry| {
        entry.marks.open = true;
    });
    stage.add([prompt("p", "go"), half]);
    stage.feed(Feed::CaughtUp);
    stage.wait(1_000);
    let picture = stage.picture();
    assert!(
        picture.contains("broken off") && !picture.contains("writing"),
        "{picture}"
    );
}

/// What was asked has twice the rows of other sections of the brief, and the rest is counted.
#[test]
fn the_brief_has_twice_as_many_prompts_as_other_rows() {
    for lines in [24, 40] {
        let mut stage = Stage::made((80, lines));
        let turn = |number: i64| {
            let key = format!("c{number}");
            [
                prompt(&format!("p{number}"), &format!("prompt number {number}")),
                call(&key, &format!("./step-{number}")),
                result(&key, &format!("no step {number}"), Verdict::Failed),
            ]
        };
        stage.add((1..=30).flat_map(turn));
        stage.add([says("a", 900, Role::Assistant, "nothing went")]);
        stage.press("B").wait(300);
        let rows = stage.app.reader.views.sheet.rows.iter();
        let rows: Vec<String> = rows.map(|row| row.line.to_string()).collect();
        let with = |word: &str| rows.iter().filter(|row| row.contains(word)).count();
        let (prompts, others) = (with("prompt number"), with("./step-"));
        // The last row of each says how many more there are.
        assert_eq!(prompts + 1, 2 * (others + 1), "{lines}: {rows:#?}");
        for more in [30 - prompts, 30 - others] {
            assert_eq!(with(&format!("+ {more} more")), 1, "{lines}: {rows:#?}");
        }
    }
}
