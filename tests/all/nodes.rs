//! Tests of trees in the transcript: motions between nodes, folding of nodes, search in folded
//! nodes; and of the rows of successive plans.

use tv::model::body::Tree;
use tv::model::edit::{Batch, Edit};
use tv::model::entry::{Block, BlockKind, Entry, Piece, Role};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use tv::render::json;

use crate::stage::Stage;

fn entry(key: &str, role: Role, kind: impl FnOnce(&mut Batch) -> BlockKind) -> Edit {
    let mut batch = Batch::default();
    let kind = kind(&mut batch);
    let mut entry: Entry =
        batch.new_entry(Text::from(key), role, Some(Timestamp(1_700_000_000_000)));
    entry.marks.prompt = role == Role::User;
    entry.blocks = vec![Block::new(Piece(0), kind)];
    Edit::Entry(Box::new(entry))
}

fn said(key: &str, role: Role, text: &str) -> Edit {
    entry(key, role, |batch| BlockKind::Text(batch.prose(text)))
}

/// A call of a tool with a JSON text as its input.
fn call(key: &str, name: &str, kind: ToolKind, input: &str) -> Edit {
    entry(key, Role::Assistant, |batch| {
        let headline = Text::from(name);
        let tree: Tree = json::parse(input).expect("JSON");
        let input = batch.tree(&headline, input.len(), || tree);
        BlockKind::Call(Box::new(ToolCall {
            key: Text::from(key),
            name: Text::from(name),
            kind,
            headline,
            input,
            state: ToolState::Pending,
            started: None,
            lane: None,
        }))
    })
}

fn result(call: &str, text: &str) -> Edit {
    let mut batch = Batch::default();
    let result = ToolResult {
        key: Text::from(format!("result of {call}").as_str()),
        tool: None,
        body: batch.output(text),
        patch: None,
        images: Vec::new(),
        verdict: Verdict::Done,
        facts: Text::from(""),
        duration_ms: None,
        work: None,
        at: None,
    };
    Edit::Result {
        call: Text::from(call),
        result: Box::new(result),
        lane: None,
    }
}

const RUN: &str = r#"{"id": 12, "steps": [{"name": "build", "log": {"lines": 3}}, {"name": "test", "log": {"lines": 40}}], "ok": true}"#;

/// A question, a call with a JSON result, an answer.
fn session(result_text: &str) -> Stage {
    let mut stage = Stage::made((80, 24));
    stage.add([
        said("p1", Role::User, "how is the run?"),
        call("c1", "get_run", ToolKind::Other, "{}"),
        result("c1", result_text),
        said("a1", Role::Assistant, "The run is well."),
    ]);
    stage.press("g j");
    stage
}

/// The rows of the window without their indentation, with a mark at the node of the reader.
fn rows(stage: &Stage) -> Vec<String> {
    let mark = |line| {
        if stage.app.reader.text.view.is_at_node(line) {
            ">"
        } else {
            ""
        }
    };
    let lines = stage.app.reader.text.view.lines.iter();
    let row = |line| -> Option<String> {
        let line: &tv::app::text::viewport::WindowLine = line;
        Some(format!(
            "{}{}",
            mark(line),
            line.row()?.line.to_string().trim()
        ))
    };
    lines.filter_map(row).collect()
}

fn at_node(stage: &Stage) -> Option<String> {
    rows(stage)
        .into_iter()
        .find_map(|row| row.strip_prefix('>').map(str::to_owned))
}

#[test]
fn a_tree_is_walked_and_folded_node_by_node() {
    let mut stage = session(RUN);
    assert_eq!(at_node(&stage), None);
    // Opened by hand, a tree can be entered; its nodes follow each other.
    stage.press("enter");
    let mut seen = Vec::new();
    for _ in 0..4 {
        stage.press("j");
        seen.push(at_node(&stage).unwrap());
    }
    assert_eq!(seen, ["id:    12", "steps: ▾", "- ▾", "name: build"]);
    // A closed node keeps its line, and so does all above it.
    stage.press("k k");
    let line = |stage: &Stage| {
        rows(stage)
            .iter()
            .position(|row| row.starts_with('>'))
            .unwrap()
    };
    let (before, above) = (line(&stage), rows(&stage)[..line(&stage)].to_vec());
    stage.press("z a");
    assert_eq!(
        (line(&stage), &rows(&stage)[..before]),
        (before, above.as_slice())
    );
    assert!(
        at_node(&stage).unwrap().starts_with("steps: ▸ 2 items"),
        "{:?}",
        rows(&stage)
    );
    assert_eq!(rows(&stage)[before + 1], "ok:    true");
    stage.press("enter");
    assert_eq!(at_node(&stage).unwrap(), "steps: ▾");
    // Into it, and out of it with h: to what holds the node, to the head of the item, and folded again.
    stage.press("l l");
    assert_eq!(at_node(&stage).unwrap(), "name: build");
    stage.press("h");
    assert_eq!(at_node(&stage).unwrap(), "- ▾");
    stage.press("h h");
    assert_eq!(at_node(&stage).unwrap(), "steps: ▾");
    stage.press("h h");
    assert_eq!(
        (at_node(&stage), stage.focused().contains("get_run")),
        (None, true)
    );
    assert!(
        rows(&stage).iter().any(|row| row.starts_with("steps: ▸")),
        "{:?}",
        rows(&stage)
    );
}

#[test]
fn beyond_the_last_node_is_the_next_item_and_before_the_first_one_the_head() {
    let mut stage = session(RUN);
    stage.press("enter j k");
    assert_eq!(
        (at_node(&stage), stage.focused().contains("get_run")),
        (None, true)
    );
    for _ in 0..20 {
        stage.press("j");
    }
    assert!(!stage.focused().contains("get_run"), "{}", stage.focused());
    assert_eq!(at_node(&stage), None);
}

#[test]
fn levels_and_all_folds_act_on_trees() {
    let mut stage = session(RUN);
    stage.press("enter j j z a");
    assert!(rows(&stage).iter().any(|row| row.contains("steps: ▸")));
    stage.press("z R");
    assert!(
        rows(&stage).iter().any(|row| row == "lines: 40"),
        "{:?}",
        rows(&stage)
    );
    stage.press("z M");
    assert!(
        !rows(&stage).iter().any(|row| row.contains("steps")),
        "{:?}",
        rows(&stage)
    );
}

#[test]
fn a_hit_in_a_folded_node_opens_it() {
    let items: Vec<String> = (0..400)
        .map(|n| format!(r#"{{"name": "thing {n}", "inner": {{"word": "w{n}"}}}}"#))
        .collect();
    let mut stage = session(&format!("[{}]", items.join(",")));
    stage.press("/").type_in("w399").press("enter");
    assert!(
        rows(&stage).iter().any(|row| row.contains("w399")),
        "{:?}",
        rows(&stage)
    );
}

#[test]
fn the_node_of_the_reader_keeps_its_line_when_the_screen_changes() {
    let items: Vec<String> = (0..60)
        .map(|n| format!(r#"{{"name": "{}", "n": {n}}}"#, "word ".repeat(12)))
        .collect();
    let mut stage = session(&format!("{{\"items\": [{}]}}", items.join(",")));
    stage.press("enter");
    for _ in 0..30 {
        stage.press("j");
    }
    let before = at_node(&stage).unwrap();
    for width in [60, 100, 44, 80] {
        stage.resize(width, 24);
        let here = at_node(&stage).unwrap();
        assert_eq!(
            here.get(..6),
            before.get(..6),
            "{width}: {:?}",
            rows(&stage)
        );
    }
    assert_eq!(at_node(&stage).unwrap(), before);
}

#[test]
fn a_result_of_7_mb_costs_what_is_shown_of_it() {
    let item = format!(r#"{{"id": 1, "body": "{}"}}"#, "x".repeat(2_000));
    let mut stage = session(&format!("[{}]", vec![item; 3_500].join(",")));
    stage.press("enter");
    let rows_made = stage
        .app
        .reader
        .text
        .view
        .lines
        .iter()
        .map(|line| line.rows.len())
        .max()
        .unwrap();
    assert!(rows_made < 200, "{rows_made}");
    let start = std::time::Instant::now();
    for _ in 0..50 {
        stage.press("j");
    }
    assert!(
        at_node(&stage).is_some_and(|row| row.starts_with("- ▸ id: 1")),
        "{:?}",
        at_node(&stage)
    );
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn a_plan_shows_what_changed_since_the_one_before_of_its_lane() {
    let plan = |key: &str, done: usize| {
        let tasks = ["read", "parse", "test", "lint", "ship"]
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let status = if at < done { "completed" } else { "pending" };
                format!(r#"{{"content": "{name} it", "status": "{status}"}}"#)
            });
        let input = format!(r#"{{"todos": [{}]}}"#, tasks.collect::<Vec<_>>().join(","));
        call(key, "todo", ToolKind::Plan, &input)
    };
    let mut stage = Stage::made((80, 40));
    let other = |edit: Edit| match edit {
        Edit::Entry(mut entry) => {
            entry.lane = Some(Text::from("mate"));
            Edit::Entry(entry)
        }
        edit => edit,
    };
    stage.add([
        said("p1", Role::User, "go"),
        plan("t1", 0),
        other(plan("m1", 5)),
        plan("t2", 3),
        plan("t3", 4),
    ]);
    let shown = rows(&stage);
    let now: Vec<&String> = shown
        .iter()
        .filter(|row| row.contains("done now"))
        .collect();
    assert_eq!(now.len(), 4, "{shown:?}");
    assert!(
        shown.iter().any(|row| row == "… 3 tasks as before, done"),
        "{shown:?}"
    );
    stage.press("z 4");
    assert!(
        !rows(&stage).iter().any(|row| row.contains("as before")),
        "{:?}",
        rows(&stage)
    );
}

#[test]
fn what_a_command_of_the_user_put_out_is_shown_as_output() {
    let mut stage = Stage::made((80, 24));
    let mut edits = vec![said("p1", Role::User, "!ls")];
    let output = (1..40)
        .map(|n| format!("crate {n}"))
        .collect::<Vec<_>>()
        .join("\n");
    edits.push(entry("o1", Role::User, |batch| {
        BlockKind::Raw(tv::model::entry::Raw {
            title: "command output".into(),
            body: batch.output(&output),
        })
    }));
    stage.add(edits);
    let shown = rows(&stage);
    assert!(
        shown.iter().any(|row| row.ends_with("crate 1")),
        "{shown:?}"
    );
    assert!(
        shown.iter().any(|row| row.ends_with("crate 39")),
        "{shown:?}"
    );
    assert!(
        shown.iter().any(|row| row.contains("… +31 lines")),
        "{shown:?}"
    );
}
