//! Tests of runs of equal calls: one row with a count in the outline, opened and closed like any
//! fold.

use tv::app::text::viewport::Focus;
use tv::model::edit::{BatchMode, Edit, Feed, Stage as Stretch};
use tv::model::entry::{BlockKind, Role};
use tv::model::tool::{ToolKind, Verdict};

use crate::made::{calls, entry, result_at, says};
use crate::stage::Stage;

/// A read of a file that takes two seconds.
fn read(key: &str, seconds: i64, file: &str, verdict: Verdict) -> [Edit; 2] {
    [
        calls(key, seconds, "read", ToolKind::Read, file),
        result_at(key, seconds + 2, "a lantern", verdict),
    ]
}

/// Four reads of one file among others, and an answer.
fn session() -> Vec<Edit> {
    let mut edits = vec![says("p1", 0, Role::User, "where is the lantern?")];
    edits.extend(read("r0", 10, "hold.txt", Verdict::Done));
    for (key, seconds) in [("r1", 20), ("r2", 23), ("r3", 26), ("r4", 29)] {
        edits.extend(read(key, seconds, "deck.txt", Verdict::Done));
    }
    edits.extend(read("r5", 40, "mast.txt", Verdict::Done));
    edits.push(says("a1", 50, Role::Assistant, "On deck."));
    edits
}

/// All of it read.
fn reads() -> Stage {
    let mut stage = Stage::made((100, 24));
    stage.add(session());
    stage.feed(Feed::CaughtUp);
    stage.press("z 2");
    stage
}

fn rows(stage: &Stage) -> Vec<String> {
    let rows = stage.window().into_iter().map(|(_, _, text)| text);
    let words = |row: String| row[7..].split_whitespace().collect::<Vec<_>>().join(" ");
    rows.filter(|row| row.contains(".txt")).map(words).collect()
}

const FOLDED: [&str; 3] = ["read hold.txt", "read deck.txt ×4", "read mast.txt"];

#[test]
fn equal_calls_are_one_row_with_their_number_and_time() {
    let mut stage = reads();
    assert_eq!(rows(&stage), FOLDED);
    let line = (0..24)
        .map(|y| stage.line(y))
        .find(|line| line.contains("×4"))
        .unwrap();
    assert!(line.contains("8.0s"), "two seconds each: {line}");
    stage.press("z 3");
    assert!(
        rows(&stage)
            .iter()
            .filter(|row| row.contains("deck.txt"))
            .count()
            == 4,
        "previews differ"
    );
}

/// The first entry is missed, so all others have other ids.
#[test]
fn a_run_stays_open_when_its_file_is_written_anew() {
    for is_open in [true, false] {
        let mut stage = reads();
        stage.press("g j j");
        if is_open {
            stage.press("enter");
        }
        let before = rows(&stage);
        assert_eq!(before.len(), if is_open { 6 } else { 3 });
        stage.add_as(
            BatchMode::Replace,
            Stretch::Whole,
            session().into_iter().skip(1),
        );
        assert_eq!((rows(&stage), stage.focused_key().as_str()), (before, "r1"));
    }
}

#[test]
fn enter_opens_a_run_and_closes_it_again() {
    let mut stage = reads();
    stage.press("g j j");
    assert_eq!(stage.focused_key(), "r1");
    let line = stage.line_of_focus();
    stage.press("enter");
    assert_eq!(rows(&stage).len(), 6);
    assert_eq!(
        (stage.focused_key().as_str(), stage.line_of_focus()),
        ("r1", line)
    );
    stage.press("enter");
    assert_eq!(rows(&stage), FOLDED);
    stage.press("l j j");
    assert_eq!(stage.focused_key(), "r3");
    stage.press("h");
    assert_eq!(
        (rows(&stage).len(), stage.focused_key().as_str()),
        (3, "r1")
    );
}

#[test]
fn what_leads_into_a_run_opens_it_and_a_search_folds_it_again() {
    let mut stage = reads();
    stage.press("g j j l j j m a h");
    assert_eq!(
        (stage.focused_key().as_str(), rows(&stage).len()),
        ("r1", 3)
    );
    stage.press("G ' a");
    assert_eq!(
        (stage.focused_key().as_str(), rows(&stage).len()),
        ("r3", 6)
    );
    // From call to call a folded run is one.
    stage.press("h g ] t ] t ] t");
    assert_eq!(
        (stage.focused_key().as_str(), rows(&stage).len()),
        ("r5", 3)
    );
    let mut searched = Stage::made((100, 24));
    searched.add([says("p1", 0, Role::User, "where?")]);
    for (key, found) in [("r1", "rope"), ("r2", "lantern"), ("r3", "rope")] {
        searched.add([
            calls(key, 10, "read", ToolKind::Read, "deck.txt"),
            result_at(key, 11, found, Verdict::Done),
        ]);
    }
    searched.feed(Feed::CaughtUp);
    searched.press("z 2");
    assert_eq!(rows(&searched).len(), 1);
    searched.press("/ l a n t e r n enter");
    assert_eq!(searched.focused_key(), "r2");
    assert!(rows(&searched).len() >= 3, "{}", searched.picture());
    searched.press("esc");
    assert_eq!(rows(&searched).len(), 1);
}

#[test]
fn what_failed_or_says_more_is_never_folded() {
    let mut stage = Stage::made((100, 24));
    stage.add([says("p1", 0, Role::User, "where is the lantern?")]);
    for (key, verdict) in [
        ("r1", Verdict::Done),
        ("r2", Verdict::Failed),
        ("r3", Verdict::Done),
    ] {
        stage.add(read(key, 10, "deck.txt", verdict));
    }
    for key in ["r4", "r5", "r6"] {
        let thinks = |batch: &mut tv::model::edit::Batch| {
            let call = crate::made::call_of(batch, key, "read", ToolKind::Read, "deck.txt");
            vec![BlockKind::Thinking(batch.prose("again")), call]
        };
        stage.add([
            entry(key, 20, Role::Assistant, thinks),
            result_at(key, 21, "rope", Verdict::Done),
        ]);
    }
    stage.feed(Feed::CaughtUp);
    stage.press("z 2");
    assert_eq!(rows(&stage).len(), 6);
    // Without thinking the last three show nothing but their calls, and r3 goes on with them.
    stage.press("t");
    assert_eq!(
        rows(&stage),
        ["read deck.txt", "read deck.txt", "read deck.txt ×4"]
    );
    stage.press("t");
    assert_eq!(rows(&stage).len(), 6);
}

#[test]
fn equal_results_without_calls_are_one_row_with_previews_too() {
    let mut stage = Stage::made((100, 24));
    stage.add([says("p1", 0, Role::User, "where is the lantern?")]);
    for key in ["s1", "s2", "s3", "s4"] {
        stage.add([result_at(
            key,
            5,
            "blocked: the deck is wet",
            Verdict::Failed,
        )]);
    }
    stage.add([result_at(
        "s5",
        6,
        "blocked: the deck is dry",
        Verdict::Failed,
    )]);
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    let strays = |stage: &Stage| {
        stage
            .window()
            .iter()
            .filter(|row| row.2.contains("without a call"))
            .count()
    };
    assert!(stage.picture().contains("×4"), "{}", stage.picture());
    assert_eq!(
        strays(&stage),
        2,
        "what says something else has a row of its own: {}",
        stage.picture()
    );
    stage.press("g j enter");
    assert_eq!(strays(&stage), 5, "{}", stage.picture());
    stage.press("enter");
    assert_eq!(strays(&stage), 2);
    stage.press("z 4");
    assert_eq!(strays(&stage), 5, "the full level folds nothing");
}

#[test]
fn what_is_appended_folds_nothing_that_is_read() {
    let mut stage = reads();
    stage.press("G k");
    let before = stage.window();
    for key in ["s1", "s2", "s3"] {
        stage.add(read(key, 60, "keel.txt", Verdict::Done));
    }
    assert_eq!(
        rows(&stage)
            .iter()
            .filter(|row| row.contains("keel.txt"))
            .count(),
        3
    );
    assert_eq!(stage.window()[..before.len()], before[..]);
    stage.press("z 3 z 2");
    assert_eq!(
        rows(&stage).last().map(String::as_str),
        Some("read keel.txt ×3")
    );
    let focus = stage.app.reader.text.view.focus;
    assert!(focus.is_some_and(|Focus { entry, .. }| {
        stage.app.reader.session.transcript.get(entry).is_some()
    }));
}
