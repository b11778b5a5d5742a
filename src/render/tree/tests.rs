//! Tests of trees as rows, and of their folds.

use super::{TreeValue, folded, rows};
use crate::render::code::Colours;
use crate::render::excerpt::Detail;
use crate::render::json::parse;
use crate::render::nodes::{NodeFolds, ValueNodes};
use crate::render::row::{Level, Look, Row};
use crate::render::theme::Theme;

const DEEP: &str = r#"{"id": 12, "steps": [{"name": "build", "env": {"CC": "clang"}}, {"name": "test"}], "tags": ["a", "b"]}"#;

fn laid_out(text: &str, detail: Detail, folds: &NodeFolds, limit: usize) -> Vec<Row> {
    let (theme, colours) = (Theme::dark(), Colours::never());
    let look = Look {
        level: Level::Preview,
        ..Look::full(60, &theme, &colours)
    };
    let nodes = ValueNodes::of(Some(folds), 0, 0);
    let tree = parse(text);
    let value = tree
        .as_ref()
        .map(TreeValue::Tree)
        .or_else(|| TreeValue::of_large(text))
        .expect("JSON");
    let rows = folded(value, detail, nodes, (60, limit), &look);
    assert!(
        rows.iter()
            .all(|row| crate::render::wrap::width_of(&row.line.spans) <= 60)
    );
    rows
}

fn shown(rows: &[Row]) -> Vec<String> {
    let row = |row: &Row| {
        let right: String = row.right.iter().map(|span| span.content.as_ref()).collect();
        format!("{} {right}", row.line).trim_end().to_owned()
    };
    rows.iter().map(row).collect()
}

#[test]
fn a_preview_is_as_deep_as_its_rows_allow() {
    let folds = NodeFolds::default();
    let few = shown(&laid_out(DEEP, Detail::Preview, &folds, 4));
    assert_eq!(
        few,
        [
            "id:    12",
            "steps: ▸ 2 items  {name: build, env: {CC: clang}}, {name: t…",
            "tags:  [a, b]"
        ]
    );
    let all = shown(&laid_out(DEEP, Detail::Preview, &folds, 20));
    assert_eq!(
        all,
        [
            "id:    12",
            "steps:",
            "  - name: build",
            "    env:",
            "      CC: clang",
            "  - name: test",
            "tags:  [a, b]"
        ]
    );
}

#[test]
fn nodes_fold_by_hand_and_rows_know_them() {
    let mut folds = NodeFolds::default();
    let open = laid_out(DEEP, Detail::Open, &folds, 1000);
    let texts = shown(&open);
    assert_eq!(
        texts[..4],
        ["id:    12", "steps: ▾", "  - ▾", "    name: build"]
    );
    let steps = open[1].node.unwrap();
    assert_eq!((steps.is_open, steps.parent), (Some(true), None));
    assert_eq!(open[2].node.unwrap().parent, Some(steps.id));
    folds.set(steps.id, false);
    let closed = laid_out(DEEP, Detail::Open, &folds, 1000);
    assert_eq!(closed.len(), 3);
    assert_eq!(closed[1].node.unwrap().id, steps.id);
    assert!(closed[1].hides > 0);
    // In a preview, nodes cannot be focused one by one.
    assert!(
        laid_out(DEEP, Detail::Preview, &folds, 20)
            .iter()
            .all(|row| row.node.is_none())
    );
}

#[test]
fn a_long_list_shows_its_beginning_and_opens_piece_by_piece() {
    let numbers: Vec<String> = (0..1312)
        .map(|number| format!("\"entry {number}\""))
        .collect();
    let text = format!("{{\"list\": [{}]}}", numbers.join(","));
    let mut folds = NodeFolds::default();
    let rows = laid_out(&text, Detail::Open, &folds, 20_000);
    let last = rows.last().unwrap();
    assert_eq!(
        (rows.len(), shown(&rows).last().unwrap().trim()),
        (102, "… 1212 items more")
    );
    folds.set(last.node.unwrap().id, true);
    let rows = laid_out(&text, Detail::Open, &folds, 20_000);
    assert_eq!(
        (rows.len(), shown(&rows).last().unwrap().trim()),
        (602, "… 712 items more")
    );
    folds.open_all(0);
    let rows = laid_out(&text, Detail::Open, &folds, 20_000);
    assert_eq!(
        (rows.len(), shown(&rows).last().unwrap().trim()),
        (1313, "- entry 1311")
    );
}

#[test]
fn long_strings_are_cut_and_open() {
    let lines: Vec<String> = (0..212).map(|number| format!("line {number}")).collect();
    let text = format!(
        r#"{{"log": "{}", "words": "{}"}}"#,
        lines.join("\\n"),
        "word ".repeat(400)
    );
    let mut folds = NodeFolds::default();
    let rows = laid_out(&text, Detail::Open, &folds, 20_000);
    let texts = shown(&rows);
    assert!(
        texts.iter().any(|row| row.ends_with("… +200 lines")),
        "{texts:?}"
    );
    assert!(
        texts.last().unwrap().contains("KB") || texts.last().unwrap().contains(" B"),
        "{texts:?}"
    );
    assert!(rows.len() < 40);
    let log = rows[0].node.unwrap();
    assert_eq!(log.is_open, Some(false));
    folds.set(log.id, true);
    let rows = laid_out(&text, Detail::Open, &folds, 20_000);
    assert!(shown(&rows).iter().any(|row| row.ends_with("line 211")));
    assert_eq!(rows[0].node.unwrap().is_open, Some(true));
}

#[test]
fn a_text_too_large_for_a_tree_is_read_as_far_as_it_is_shown() {
    let item = format!(r#"{{"id": 1, "body": "{}"}}"#, "x".repeat(1000));
    let text = format!("[{}]", vec![item; 5_000].join(","));
    assert!(parse(&text).is_none());
    let mut folds = NodeFolds::default();
    let preview = laid_out(&text, Detail::Preview, &folds, 8);
    assert!(preview.len() <= 10, "{}", preview.len());
    assert!(
        shown(&preview)[0].starts_with("- ▸ id: 1, body: xxx"),
        "{:?}",
        shown(&preview)[0]
    );
    let open = laid_out(&text, Detail::Open, &folds, 20_000);
    assert_eq!(open.len(), 101);
    assert!(
        shown(&open)[100].contains("MB more"),
        "{:?}",
        shown(&open)[100]
    );
    folds.set(open[3].node.unwrap().id, true);
    let open = laid_out(&text, Detail::Open, &folds, 20_000);
    assert_eq!(shown(&open)[3..5], ["- ▾", "  id:   1"]);
}

#[test]
fn strings_of_json_are_trees_but_not_in_raw_records() {
    let text =
        r#"{"name": "shell", "arguments": "{\"command\": [\"ls\", \"-l\"], \"why\": \"to see\"}"}"#;
    let shown_as = |detail| shown(&laid_out(text, detail, &NodeFolds::default(), 20));
    assert_eq!(
        shown_as(Detail::Preview)[2..],
        ["  command: [ls, -l]", "  why:     to see"]
    );
    assert!(shown_as(Detail::Raw)[1].starts_with(r#"arguments: {"command": ["#));
}

#[test]
fn nothing_is_hidden_that_would_fit_in_the_row_that_says_so() {
    let text = format!(r#"{{"id": "{}", "log": "a\nb\nc"}}"#, "word ".repeat(30));
    let rows = shown(&laid_out(&text, Detail::Preview, &NodeFolds::default(), 20));
    assert!(!rows[..3].iter().any(|row| row.contains('…')), "{rows:?}");
}

#[test]
fn whole_trees_have_no_folds() {
    let (theme, colours) = (Theme::dark(), Colours::never());
    let look = Look {
        level: Level::Raw,
        ..Look::full(40, &theme, &colours)
    };
    let numbers: Vec<String> = (0..500).map(|number| number.to_string()).collect();
    let tree = parse(&format!(
        r#"{{"a": {{"b": {{"c": [{}]}}}}}}"#,
        numbers.join(",")
    ))
    .unwrap();
    let rows = rows(&tree, 40, 2_000, &look);
    assert_eq!(rows.len(), 503);
    assert!(rows.iter().all(|row| row.hides == 0));
}
