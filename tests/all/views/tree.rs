//! Tests of the tree view of branches and sub-agents: parents, outcomes, and jumps.

use tv::app::input::action::View;
use tv::model::edit::Edit;
use tv::model::entry::Role;
use tv::model::tool::{ToolKind, Verdict};
use tv::render::theme::Theme;

use crate::made::{calls, entry, in_lane, lane, prompt, result_at, says};
use crate::stage::{Stage, demo, fixture};

fn open(stage: &mut Stage) {
    stage.press("g 6").wait(300);
    assert_eq!(stage.app.reader.views.open(), Some(View::Tree));
}

fn branches(size: (u16, u16)) -> Stage {
    let mut stage = Stage::open(&fixture("pi/branches.jsonl"), size, Theme::dark());
    open(&mut stage);
    stage
}

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

fn chosen(stage: &Stage) -> String {
    let place = stage
        .app
        .reader
        .views
        .sheet
        .rows
        .iter()
        .position(|row| row.is_chosen);
    rows(stage)[place.expect("a row is chosen")].clone()
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

/// The beginnings of the rows, as far as these distinguish them.
fn heads(stage: &Stage) -> Vec<String> {
    let known = ["active path", "turn", "branch", "task", "sessions_spawn"];
    let head = |row: &String| {
        let at = known
            .iter()
            .filter_map(|word| Some((row.find(word)?, *word)))
            .min();
        let (at, word) = at.expect("a known row");
        let behind = row[at + word.len()..]
            .split_whitespace()
            .next()
            .unwrap_or_default();
        format!("{}{word} {behind}", &row[..at])
    };
    rows(stage).iter().map(head).collect()
}

#[test]
fn branches_hang_on_the_turns_that_they_left() {
    let stage = branches((120, 40));
    let heads = heads(&stage);
    assert_eq!(
        heads,
        [
            "▾ active path Which",
            "├ ▾ turn 1",
            "│ ├ branch 2",
            "│ └ branch 3",
            "└ ▾ turn 2",
            "└ branch 1"
        ]
    );
    let rows = rows(&stage);
    assert!(rows[2].contains("● active again"), "{}", rows[2]);
    assert!(rows[3].contains("○ left"), "{}", rows[3]);
    assert!(rows[5].contains("○ redone"), "{}", rows[5]);
}

#[test]
fn a_branch_is_compared_with_the_active_path() {
    let mut stage = branches((120, 40));
    stage.press("G");
    let foot_text = foot(&stage);
    assert!(
        foot_text.contains("branch 1 · another prompt took its place · left at"),
        "{foot_text}"
    );
    assert!(
        foot_text.contains("in turn 2: Converting them now."),
        "the common ancestor: {foot_text}"
    );
    assert!(
        foot_text.contains("branch 1   2 entries, 1 turn, 0 calls, $0.010, 3.0s"),
        "{foot_text}"
    );
    assert!(
        foot_text.contains("then you Try it with sudo"),
        "{foot_text}"
    );
    assert!(
        foot_text.contains("active     5 entries, 2 turns"),
        "{foot_text}"
    );
    assert!(
        foot_text.contains("then you Then write a copy"),
        "{foot_text}"
    );
    stage.press("enter");
    assert_eq!(
        (stage.app.reader.views.open(), stage.focused_key().as_str()),
        (None, "c0000009")
    );
    stage.press("j 6").wait(300);
    assert!(
        chosen(&stage).contains("branch 1"),
        "the reader is on it: {}",
        chosen(&stage)
    );
}

#[test]
fn nodes_fold_and_unfold() {
    let mut stage = branches((120, 40));
    stage.press("g j h");
    assert_eq!(heads(&stage).len(), 4);
    assert!(heads(&stage)[1].contains("▸ turn 1"), "{:?}", heads(&stage));
    stage.press("l");
    assert_eq!(heads(&stage).len(), 6);
    stage.press("j h");
    assert!(
        chosen(&stage).contains("turn 1"),
        "to what holds it: {}",
        chosen(&stage)
    );
    stage.press("z M");
    assert_eq!(heads(&stage).len(), 3, "{:?}", heads(&stage));
    stage.press("z R G -");
    assert_eq!(heads(&stage).len(), 3);
    assert!(
        chosen(&stage).contains("turn 2"),
        "the cursor goes to what holds its row: {}",
        chosen(&stage)
    );
    stage.press("+");
    assert_eq!(heads(&stage).len(), 6);
    stage.press("g h");
    assert_eq!(heads(&stage).len(), 1);
    stage.press("z a");
    assert_eq!(heads(&stage).len(), 6);
}

/// A sub-agent that started another one, and one that is still at work.
fn crew(size: (u16, u16)) -> Stage {
    let mut stage = Stage::made(size);
    let task = |key: &str, at: i64, what: &str| calls(key, at, "task", ToolKind::Delegate, what);
    stage.add([
        prompt("p1", "mend the hull"),
        task("t1", 1, "look at the seams"),
        lane("mate", "t1"),
        in_lane(says("m1", 2, Role::Assistant, "I look."), "mate"),
        in_lane(task("t2", 3, "fetch tar"), "mate"),
        lane("boy", "t2"),
        in_lane(says("o1", 4, Role::Assistant, "No tar."), "boy"),
        result_at("t2", 6, "none", Verdict::Failed),
        result_at("t1", 9, "tight", Verdict::Done),
        says("p2", 20, Role::User, "and the sails"),
        task("t3", 21, "count the sails"),
    ]);
    stage
}

#[test]
fn sub_agents_hang_on_those_that_started_them() {
    let mut stage = crew((120, 40));
    open(&mut stage);
    let shown = [
        "▾ active path 22:13",
        "├ ▾ turn 1",
        "│ └ ▾ task mate",
        "│ └ task boy",
        "└ ▾ turn 2",
        "└ task count",
    ];
    assert_eq!(heads(&stage), shown);
    let rows = rows(&stage);
    assert!(
        rows[2].contains("✓ done") && rows[3].contains("✗ failed"),
        "{rows:?}"
    );
    assert!(
        rows[5].contains("not here") && !rows[5].contains('✓'),
        "{rows:?}"
    );
    stage.press("g j j");
    let foot_text = foot(&stage);
    assert!(
        foot_text.contains("✓ done · started by #1 task in turn 1"),
        "{foot_text}"
    );
    assert!(
        foot_text.contains("asked      look at the seams"),
        "{foot_text}"
    );
    assert!(
        foot_text.contains("own work   2 entries, 1 call, 1 failed"),
        "{foot_text}"
    );
    assert!(
        foot_text.contains("with 1 sub-agent of its own: 3 entries"),
        "{foot_text}"
    );
    stage.press("j enter");
    assert_eq!(stage.focused_key(), "o1");
}

#[test]
fn the_tree_grows_with_the_session() {
    let mut stage = crew((120, 40));
    open(&mut stage);
    stage.press("g j j");
    stage.add([
        lane("topman", "t3"),
        in_lane(says("s1", 22, Role::Assistant, "Seven."), "topman"),
        in_lane(
            calls("t4", 23, "task", ToolKind::Delegate, "mend the eighth"),
            "topman",
        ),
    ]);
    assert!(
        heads(&stage).contains(&"└ ▾ task topman".to_owned()),
        "{:?}",
        heads(&stage)
    );
    assert_eq!(heads(&stage).len(), 7, "{:?}", heads(&stage));
    assert!(
        chosen(&stage).contains("mate"),
        "the cursor stays: {}",
        chosen(&stage)
    );
    stage.add([result_at("t3", 30, "seven", Verdict::Done)]);
    let row = rows(&stage)
        .into_iter()
        .find(|row| row.contains("topman"))
        .expect("its row");
    assert!(row.contains("✓ done"), "{row}");
}

#[test]
fn a_session_that_went_one_way_says_so() {
    let mut stage = Stage::made((80, 24));
    stage.add([
        prompt("p1", "good morning"),
        says("a1", 1, Role::Assistant, "Good morning."),
    ]);
    open(&mut stage);
    stage.press("j enter");
    assert_eq!(
        (stage.app.reader.views.open(), stage.focused_key().as_str()),
        (None, "p1")
    );
}

#[test]
fn the_page_reads_well_at_all_sizes() {
    for (columns, lines) in [(80, 24), (120, 40), (200, 60)] {
        let mut stage = branches((columns, lines));
        stage.press("G");
        insta::assert_snapshot!(format!("tree-{columns}x{lines}"), stage.picture());
        let mut stage = Stage::open(
            &fixture("openclaw/spawner.jsonl"),
            (columns, lines),
            Theme::dark(),
        );
        open(&mut stage);
        stage.press("g j j");
        insta::assert_snapshot!(format!("tree-agents-{columns}x{lines}"), stage.picture());
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
            stage.press("6").wait(300).press("g j h l j z M z R + -");
            let picture = stage.picture();
            assert!(!theme.ascii || picture.is_ascii(), "{picture}");
        }
    }
}

#[test]
fn thousands_of_sub_agents_are_fast() {
    let agents = (0..5_000).flat_map(|n| {
        let (call, name) = (format!("t{n}"), format!("mate{n}"));
        let first = entry(&format!("m{n}"), 60 + n, Role::Assistant, |_| Vec::new());
        let task = calls(&call, 60 + n, "task", ToolKind::Delegate, "look");
        [task, lane(&name, &call), in_lane(first, &name)]
    });
    let agents: Vec<Edit> = agents.collect();
    let mut stage = Stage::made((120, 40));
    stage.add(std::iter::once(prompt("p1", "all hands")).chain(agents));
    let started = std::time::Instant::now();
    stage.press("6").wait(300).press("G k k k k k k k k k");
    let taken = started.elapsed();
    assert!(chosen(&stage).contains("mate4990"), "{}", chosen(&stage));
    assert!(taken.as_millis() < 8_000, "{taken:?}");
}

#[test]
fn a_sub_agent_that_is_not_here_says_so_and_not_how_long_it_took_to_start_it() {
    let mut stage = Stage::made((140, 40));
    let begun = match result_at("t", 1, "begun", Verdict::Done) {
        Edit::Result {
            call,
            mut result,
            lane,
        } => {
            result.duration_ms = Some(44);
            Edit::Result { call, result, lane }
        }
        other => other,
    };
    let spawn = calls(
        "t",
        1,
        "spawn_agent",
        ToolKind::Delegate,
        "look at the seams",
    );
    stage.add([
        prompt("p", "mend the hull"),
        spawn,
        lane("Gibbs", "t"),
        begun,
    ]);
    stage.wait(300);
    let picture = stage.picture();
    assert!(
        picture.contains("Gibbs (not here)") && picture.contains("SUB-AGENTS"),
        "{picture}"
    );
    open(&mut stage);
    let rows = rows(&stage);
    let own = rows
        .iter()
        .find(|row| row.contains("Gibbs"))
        .expect("it has a row");
    assert!(own.contains("not here") && !own.contains("44ms"), "{own}");
}
