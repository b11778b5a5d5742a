//! Tests of the tools view: the table of calls sorted by any column, the comparison of tools, and
//! jumps from both.

use tv::app::input::action::View;
use tv::model::edit::Edit;
use tv::model::entry::{BlockKind, Role};
use tv::model::tool::{ToolKind, Verdict};
use tv::render::theme::Theme;

use crate::made::{calls, in_lane, lane, lines, prompt, result_at, says, with};
use crate::stage::{Stage, demo};

/// A call that has a time of its own.
fn timed(edit: Edit) -> Edit {
    with(edit, |entry| {
        let at = entry.at;
        for block in &mut entry.blocks {
            if let BlockKind::Call(call) = &mut block.kind {
                call.started = at;
            }
        }
    })
}

fn bash(key: &str, at: i64, command: &str) -> Edit {
    timed(calls(key, at, "bash", ToolKind::Run, command))
}

/// Calls that went well and ill, one for the third time, one without a result, one of a sub-agent.
fn yard(size: (u16, u16)) -> Stage {
    let mut stage = Stage::made(size);
    stage.add([
        prompt("p1", "mend the hull"),
        bash("b1", 1, "make hull"),
        result_at("b1", 5, "planks", Verdict::Done),
        bash("b2", 6, "make hull"),
        result_at("b2", 16, "no nails", Verdict::Failed),
        timed(calls("r1", 17, "read", ToolKind::Read, "src/hull.rs")),
        result_at(
            "r1",
            18,
            &lines(30, |n| format!("plank {n}")),
            Verdict::Done,
        ),
        bash("b3", 20, "sail away"),
        says("p2", 60, Role::User, "caulk it"),
        timed(calls(
            "t1",
            61,
            "task",
            ToolKind::Delegate,
            "look at the seams",
        )),
        lane("mate", "t1"),
        in_lane(
            calls("m1", 62, "read", ToolKind::Read, "src/seam.rs"),
            "mate",
        ),
        result_at("m1", 65, "tar", Verdict::Done),
        result_at("t1", 80, "all tight", Verdict::Done),
        bash("b4", 90, "make hull"),
        result_at("b4", 92, "[Tool call interrupted]", Verdict::Failed),
    ]);
    stage
}

/// Opens the view with the calls in their order.
fn open(stage: &mut Stage) {
    stage.press("g 3").wait(300).press("+");
    assert_eq!(stage.app.reader.views.open(), Some(View::Tools));
}

/// The table as words: each row without the blanks between its columns.
fn rows(stage: &Stage) -> Vec<String> {
    let words = |line: String| line.split_whitespace().collect::<Vec<_>>().join(" ");
    stage
        .app
        .reader
        .views
        .sheet
        .rows
        .iter()
        .map(|row| words(row.line.to_string()))
        .collect()
}

/// What stands in the rows after their numbers and times.
fn numbers(stage: &Stage) -> Vec<String> {
    rows(stage)
        .iter()
        .filter_map(|row| row.split(' ').next().map(str::to_owned))
        .collect()
}

fn chosen(stage: &Stage) -> String {
    let rows = &stage.app.reader.views.sheet.rows;
    let place = rows
        .iter()
        .position(|row| row.is_chosen)
        .expect("a row is chosen");
    self::rows(stage)[place].clone()
}

fn foot(stage: &Stage) -> String {
    let lines: Vec<String> = stage
        .app
        .reader
        .views
        .sheet
        .foot
        .iter()
        .map(ToString::to_string)
        .collect();
    lines.join("\n")
}

#[test]
fn every_call_has_its_row() {
    let mut stage = yard((140, 40));
    open(&mut stage);
    let rows = rows(&stage);
    let shown = |place: usize| {
        rows[place]
            .split_once(' ')
            .unwrap()
            .1
            .split_once(' ')
            .unwrap()
            .1
    };
    assert_eq!(rows.len(), 7);
    assert_eq!(shown(0), "bash make hull ✓ 4.0s 6 B main");
    assert_eq!(shown(1), "bash make hull ✗ failed 10.0s 8 B main");
    assert!(
        shown(3).starts_with("bash sail away ╌ no result"),
        "{}",
        shown(3)
    );
    assert!(
        !shown(3).contains('✗'),
        "it stopped nothing, for the model answered: {}",
        shown(3)
    );
    assert_eq!(
        shown(5),
        "read src/seam.rs ✓ ≤3.0s 3 B mate",
        "only a bound is known"
    );
    assert!(
        shown(6).starts_with("bash make hull ! synthetic 2.0s"),
        "{}",
        shown(6)
    );
}

#[test]
fn rows_are_sorted_by_any_column() {
    let mut stage = yard((140, 40));
    open(&mut stage);
    assert_eq!(numbers(&stage), ["1", "2", "3", "4", "5", "6", "7"]);
    stage.press("z r");
    assert_eq!(numbers(&stage), ["7", "6", "5", "4", "3", "2", "1"]);
    stage.press("> >");
    assert_eq!(
        numbers(&stage),
        ["1", "2", "4", "7", "3", "6", "5"],
        "by tool, then as in the file"
    );
    stage.press("> > >");
    assert_eq!(
        numbers(&stage),
        ["5", "2", "1", "6", "7", "3", "4"],
        "by time, what has none last"
    );
    stage.press("z r");
    assert_eq!(numbers(&stage), ["3", "7", "6", "1", "2", "5", "4"]);
    stage.press("<");
    assert_eq!(
        numbers(&stage),
        ["2", "4", "7", "1", "3", "5", "6"],
        "what needs a look first"
    );
    assert!(
        stage.picture().contains("by status↑"),
        "{}",
        stage.picture()
    );
    stage.press("> > > > >");
    assert!(stage.picture().contains("by lane↑"), "{}", stage.picture());
    assert_eq!(numbers(&stage), ["6", "1", "2", "3", "4", "5", "7"]);
    stage.press(">");
    assert!(stage.picture().contains("by #↑"), "{}", stage.picture());
}

#[test]
fn the_foot_is_about_the_chosen_call() {
    let mut stage = yard((120, 40));
    open(&mut stage);
    stage.press("g j");
    let foot_text = foot(&stage);
    assert!(foot_text.contains("#2 bash · turn 1"), "{foot_text}");
    assert!(foot_text.contains("✗ failed · 10.0s"), "{foot_text}");
    assert!(
        foot_text.contains("same call before, 1 time:  #1 ✓ 4.0s"),
        "{foot_text}"
    );
    stage.press("G");
    let foot_text = foot(&stage);
    assert!(
        foot_text.contains("same call before, 2 times:  #2 ✗ 10.0s  #1 ✓ 4.0s"),
        "{foot_text}"
    );
    assert!(foot_text.contains("synthetic-result: "), "{foot_text}");
}

#[test]
fn the_reader_goes_along_and_enter_goes_to_the_call() {
    let mut stage = yard((120, 40));
    open(&mut stage);
    stage.press("g j j");
    assert_eq!(
        stage.focused_key(),
        "r1",
        "the transcript behind has the same place"
    );
    stage.press("enter");
    assert_eq!(
        (stage.app.reader.views.open(), stage.focused_key().as_str()),
        (None, "r1")
    );
    stage.press("] t 3").wait(300);
    assert!(chosen(&stage).starts_with("4 "), "{}", chosen(&stage));
    stage.press("j j enter");
    assert_eq!(stage.focused_key(), "m1", "into the sub-agent");
}

#[test]
fn tools_stand_against_each_other() {
    let mut stage = yard((140, 40));
    open(&mut stage);
    stage.press("g j j -");
    assert!(
        chosen(&stage).starts_with("read 2 "),
        "the tool of the chosen call: {}",
        chosen(&stage)
    );
    let rows = rows(&stage);
    assert!(
        rows[0].starts_with("task 1 19.0s 19.0s 19.0s 19.0s ████"),
        "{rows:?}"
    );
    assert!(
        rows[1].starts_with("bash 4 2 50% 1 4.0s 10.0s 10.0s 16.0s ████"),
        "{rows:?}"
    );
    assert!(rows[1].contains("44%"), "{rows:?}");
    assert!(
        rows[2].contains("1.0s 1.0s 1.0s 1.0s"),
        "a bound is no duration beside exact ones: {rows:?}"
    );
    stage.press("g j");
    let foot_text = foot(&stage);
    assert!(
        foot_text.contains("bash 4 calls · 1 done, 2 failed, 1 without an end"),
        "{foot_text}"
    );
    assert!(foot_text.contains("slowest        #2"), "{foot_text}");
    assert!(foot_text.contains("last failure   #7"), "{foot_text}");
    stage.press("enter");
    assert_eq!(numbers(&stage), ["1", "2", "4", "7"], "only its calls");
    assert!(
        stage.picture().contains("4 calls of bash"),
        "{}",
        stage.picture()
    );
    stage.press("h");
    assert!(chosen(&stage).starts_with("bash 4"), "{}", chosen(&stage));
    stage.press("z r +");
    assert_eq!(numbers(&stage).len(), 7, "all of them again");
    stage.press("-");
    assert!(chosen(&stage).starts_with("bash"), "{}", chosen(&stage));
    assert!(
        self::rows(&stage)[0].starts_with("read"),
        "the least time first: {:?}",
        self::rows(&stage)
    );
}

#[test]
fn a_filter_narrows_calls_and_tools() {
    let mut stage = yard((140, 40));
    stage.press("f e");
    open(&mut stage);
    assert_eq!(numbers(&stage), ["2", "7"]);
    assert!(
        stage.picture().contains("2 calls · of 7 that the filter"),
        "{}",
        stage.picture()
    );
    stage.press("-");
    assert_eq!(rows(&stage).len(), 1);
    assert!(
        rows(&stage)[0].starts_with("bash 2 2 100%"),
        "{:?}",
        rows(&stage)
    );
    stage.press("f f");
    assert_eq!(rows(&stage).len(), 3);
    stage.press("& t o o l : n o n e enter");
    assert!(
        stage.picture().contains("lets no call through"),
        "{}",
        stage.picture()
    );
}

#[test]
fn the_table_grows_with_the_session() {
    let mut stage = yard((120, 40));
    open(&mut stage);
    stage.press("g");
    stage.add([bash("b5", 100, "make sail")]);
    assert_eq!(
        (numbers(&stage).len(), chosen(&stage).starts_with("1 ")),
        (8, true),
        "{:?}",
        rows(&stage)
    );
    assert!(
        rows(&stage)[7].contains("bash make sail"),
        "{:?}",
        rows(&stage)
    );
    stage.press("G");
    stage.add([
        result_at("b5", 103, "cloth", Verdict::Done),
        bash("b6", 104, "hoist"),
    ]);
    assert!(
        rows(&stage)[7].contains("make sail ✓ 3.0s"),
        "{:?}",
        rows(&stage)
    );
    assert!(
        chosen(&stage).contains("hoist"),
        "who follows goes on: {}",
        chosen(&stage)
    );
    stage.press("-");
    stage.add([
        calls("w1", 110, "weigh", ToolKind::Other, "anchor"),
        result_at("w1", 111, "", Verdict::Done),
    ]);
    assert!(
        rows(&stage).iter().any(|row| row.starts_with("weigh 1")),
        "{:?}",
        rows(&stage)
    );
}

#[test]
fn a_session_without_calls_says_so() {
    let mut stage = Stage::made((80, 24));
    stage.add([prompt("p1", "good morning")]);
    stage.press("3").wait(300);
    assert!(rows(&stage)[0].contains("no tool calls") || rows(&stage)[0].contains("being read"));
    stage.press("j enter h - > z r");
    assert_eq!(stage.app.reader.views.open(), Some(View::Tools));
}

#[test]
fn the_page_reads_well_at_all_sizes() {
    for (columns, lines) in [(80, 24), (120, 40), (200, 60)] {
        let mut stage = Stage::open(&demo(), (columns, lines), Theme::dark());
        open(&mut stage);
        stage.press("j j j");
        insta::assert_snapshot!(format!("tools-{columns}x{lines}"), stage.picture());
        stage.press("-");
        insta::assert_snapshot!(format!("tools-summary-{columns}x{lines}"), stage.picture());
    }
    for theme in [
        Theme::dark(),
        Theme {
            ascii: true,
            ..Theme::mono()
        },
    ] {
        for (columns, lines) in [(44, 14), (20, 5), (3, 3), (1, 1)] {
            let mut stage = Stage::open(&demo(), (columns, lines), theme.clone());
            stage.press("3").wait(300).press("j > - j enter z r h +");
            let picture = stage.picture();
            assert!(!theme.ascii || picture.is_ascii(), "{picture}");
        }
    }
}

#[test]
fn a_hundred_thousand_calls_are_sorted_at_once() {
    let mut stage = Stage::made((120, 40));
    let calls = (0..100_000).map(|n| {
        let command = format!("make {}", n % 97);
        bash(&format!("b{n}"), n, &command)
    });
    stage.add(std::iter::once(prompt("p1", "mend it")).chain(calls));
    stage.press("3").wait(300);
    while stage.app.is_unfinished() {
        stage.arrange();
    }
    stage.press("+ g");
    let started = std::time::Instant::now();
    stage.press("> > >");
    let sorted = started.elapsed();
    assert!(rows(&stage)[0].contains("make 0"), "{:?}", rows(&stage)[0]);
    assert!(
        sorted.as_millis() < 5_000,
        "three times sorted in {sorted:?}"
    );
    let laid_out = stage.app.reader.views.sheet.rows.len();
    assert!(laid_out < 40, "texts for the window only: {laid_out}");
}

#[test]
fn it_opens_on_the_slowest_call() {
    let mut stage = yard((140, 40));
    stage.press("3").wait(300);
    for _ in 0..2 {
        assert_eq!(numbers(&stage)[..2], ["5", "2"], "{}", stage.picture());
        assert!(chosen(&stage).starts_with("5 "), "{}", chosen(&stage));
        stage.press("+");
        assert_eq!(numbers(&stage)[..2], ["1", "2"], "{}", stage.picture());
        stage.press("+");
    }
}
