//! Tests of the files view: the list, the history of a file, and jumps from both.

use tv::model::body::Tree;
use tv::model::edit::{Batch, Edit};
use tv::model::entry::{BlockKind, Role};
use tv::model::text::Text;
use tv::model::tool::{ToolCall, ToolKind, ToolState, Verdict};
use tv::render::theme::Theme;

use crate::made::{calls, entry, in_lane, lane, lines, prompt, result_at};
use crate::stage::{Stage, demo};

/// A call with its input.
fn use_of(
    key: &str,
    at: i64,
    (kind, name): (ToolKind, &str),
    path: &str,
    input: &[(&str, &str)],
) -> Edit {
    let members = input
        .iter()
        .map(|(name, text)| (Text::from(*name), Tree::Text(Text::from(*text))));
    let tree = Tree::Map(members.collect());
    entry(key, at, Role::Assistant, |batch: &mut Batch| {
        vec![BlockKind::Call(Box::new(ToolCall {
            key: Text::from(key),
            name: Text::from(name),
            kind,
            headline: Text::from(path),
            input: batch.tree(&Text::from(path), path.len(), || tree),
            state: ToolState::Pending,
            started: None,
            lane: None,
        }))]
    })
}

const READ: (ToolKind, &str) = (ToolKind::Read, "read");
const EDIT: (ToolKind, &str) = (ToolKind::Edit, "edit");
const WRITE: (ToolKind, &str) = (ToolKind::Write, "write");

/// Two agents at work on the same files.
fn shipyard(size: (u16, u16)) -> Stage {
    let change = [
        ("old_string", "let planks = 3;\n"),
        ("new_string", "let planks = 4;\nlet nails = 9;\n"),
    ];
    let back = [
        ("new_string", "let planks = 3;\n"),
        ("old_string", "let planks = 4;\nlet nails = 9;\n"),
    ];
    let mut stage = Stage::made(size);
    stage.add([
        prompt("p1", "mend the hull"),
        use_of("r1", 1, READ, "src/hull.rs:1-40", &[]),
        result_at("r1", 2, &lines(30, |n| format!("plank {n}")), Verdict::Done),
        calls("t1", 3, "task", ToolKind::Delegate, "caulk it"),
        lane("mate", "t1"),
        in_lane(use_of("m1", 4, EDIT, "./src/hull.rs", &change), "mate"),
        result_at("m1", 5, "edited", Verdict::Done),
        result_at("t1", 6, "caulked", Verdict::Done),
        use_of("e1", 7, EDIT, "src/hull.rs", &back),
        result_at("e1", 8, "edited", Verdict::Done),
        use_of(
            "w1",
            9,
            WRITE,
            "docs/log.md",
            &[("content", "# Log\n\nday one\n")],
        ),
        result_at("w1", 10, "written", Verdict::Done),
        use_of(
            "f1",
            11,
            EDIT,
            "docs/log.md",
            &[("old_string", "day two"), ("new_string", "day three")],
        ),
        result_at("f1", 12, "no such text", Verdict::Failed),
        use_of("r2", 13, READ, "Cargo.toml", &[]),
        result_at("r2", 14, "[package]", Verdict::Done),
    ]);
    stage
}

#[test]
fn the_view_of_files() {
    for size in [(80, 24), (120, 40), (200, 60), (44, 14)] {
        let mut stage = shipyard(size);
        stage.press("g 7").wait(300);
        insta::assert_snapshot!(format!("files-{}x{}", size.0, size.1), stage.picture());
        stage.press("g enter");
        insta::assert_snapshot!(
            format!("files-history-{}x{}", size.0, size.1),
            stage.picture()
        );
    }
}

#[test]
fn from_the_list_over_the_history_to_the_call() {
    let mut stage = shipyard((100, 30));
    stage.press("G 7").wait(300);
    let chosen = |stage: &Stage| {
        let row = stage
            .app
            .reader
            .views
            .sheet
            .rows
            .iter()
            .find(|row| row.is_chosen);
        row.map(|row| row.line.to_string()).unwrap_or_default()
    };
    assert!(
        chosen(&stage).contains("Cargo.toml"),
        "it opens at the file of the focused call: {}",
        stage.picture()
    );
    stage.press("g");
    assert!(
        chosen(&stage).contains("src/hull.rs") && chosen(&stage).starts_with('!'),
        "{}",
        stage.picture()
    );
    stage.press("l");
    let page = stage.picture();
    assert!(
        page.contains("stale read") && page.contains("h all files"),
        "{page}"
    );
    stage.press("G");
    assert_eq!(stage.focused_key(), "e1", "the text goes along");
    assert!(
        stage.picture().contains("relies on what was read by main"),
        "{}",
        stage.picture()
    );
    stage.press("k");
    assert_eq!(stage.focused_key(), "m1", "into the sub-agent, too");
    assert!(
        stage.picture().contains("+let nails = 9;"),
        "{}",
        stage.picture()
    );
    stage.press("h");
    assert!(
        stage.picture().contains("3 files"),
        "back to the list: {}",
        stage.picture()
    );
    stage.press("enter G enter");
    assert_eq!(
        (stage.app.reader.views.open(), stage.focused_key().as_str()),
        (None, "e1")
    );
}

#[test]
fn the_lines_of_a_file_lead_to_the_calls_that_wrote_them() {
    let mut stage = shipyard((100, 30));
    stage.add([
        prompt("p2", "go on with the log"),
        use_of(
            "e2",
            20,
            EDIT,
            "docs/log.md",
            &[
                ("old_string", "day one\n"),
                ("new_string", "day one\nday two\n"),
            ],
        ),
        result_at("e2", 21, "edited", Verdict::Done),
    ]);
    stage.press("G 7").wait(300).press("enter +");
    let rows: Vec<String> = stage
        .app
        .reader
        .views
        .sheet
        .rows
        .iter()
        .map(|row| row.line.to_string())
        .collect();
    let page = stage.picture();
    assert_eq!(rows.len(), 4, "{page}");
    for (row, (turn, text)) in rows.iter().zip([
        ("t1", "# Log"),
        ("", ""),
        ("", "day one"),
        ("t2", "day two"),
    ]) {
        assert!(
            row.trim_end().ends_with(text) && row.contains(turn),
            "{page}"
        );
    }
    assert!(
        page.contains("4 lines") && !page.contains("not all known"),
        "{page}"
    );
    stage.press("g");
    assert_eq!(stage.focused_key(), "w1", "{}", stage.picture());
    stage.press("G enter");
    assert_eq!(
        (stage.app.reader.views.open(), stage.focused_key().as_str()),
        (None, "e2")
    );
    stage.press("7").wait(300).press("-");
    assert!(stage.picture().contains("+ lines"), "{}", stage.picture());
}

#[test]
fn the_list_is_sorted_by_each_column() {
    let mut stage = shipyard((100, 30));
    stage.press("7").wait(300);
    let first = |stage: &Stage| stage.app.reader.views.sheet.rows[0].line.to_string();
    assert!(first(&stage).contains("src/hull.rs"), "changes first");
    stage.press("> > >");
    assert!(
        first(&stage).contains("Cargo.toml"),
        "the last use: {}",
        stage.picture()
    );
    stage.press("z r");
    assert!(first(&stage).contains("src/hull.rs"), "{}", stage.picture());
    stage.press("> >");
    assert!(
        first(&stage).contains("Cargo.toml"),
        "by path: {}",
        stage.picture()
    );
}

#[test]
fn the_history_grows_while_it_is_looked_at() {
    let mut stage = shipyard((100, 30));
    stage.press("g 7").wait(300).press("g enter");
    let uses = stage.app.reader.views.sheet.rows.len();
    stage.add([
        use_of("r9", 20, READ, "src/hull.rs", &[]),
        result_at("r9", 21, "planks", Verdict::Done),
        use_of("r10", 22, READ, "src/mast.rs", &[]),
        result_at("r10", 23, "mast", Verdict::Done),
    ]);
    assert_eq!(
        stage.app.reader.views.sheet.rows.len(),
        uses + 1,
        "{}",
        stage.picture()
    );
    stage.press("h");
    assert!(stage.picture().contains("4 files"), "{}", stage.picture());
}

#[test]
fn the_outline_marks_files_with_flags() {
    let mut stage = shipyard((120, 40));
    stage.press(":").type_in("set outline").press("enter");
    let picture = stage.picture();
    assert!(
        picture.contains("! src/hull.rs") && picture.contains("! docs/log.md"),
        "{picture}"
    );
    assert!(!picture.contains("! Cargo.toml"), "{picture}");
}

#[test]
fn a_session_without_files_says_so() {
    let mut stage = Stage::made((60, 16));
    stage.add([prompt("p", "hello")]);
    stage.press("7").wait(300);
    assert!(stage.picture().contains("FILES"), "{}", stage.picture());
    for size in [(20, 6), (1, 1), (60, 16)] {
        stage.resize(size.0, size.1);
    }
    let mut stage = Stage::open(&demo(), (60, 16), Theme::dark());
    stage.press("7").wait(300).press("enter G g h q");
    assert_eq!(stage.app.reader.views.open(), None);
    assert_eq!(stage.app.reader.frame().view.width, 0);
}
