//! Tests of the differences between successive plans.

use std::cmp::Ordering;

use super::change::{TaskChange, between};
use super::{Task, TaskState, rows};
use crate::model::body::BodyFlags;
use crate::model::body::{Body, Held, Tree};
use crate::model::record::Origin;
use crate::model::text::Text;
use crate::render::code::Colours;
use crate::render::json::parse;
use crate::render::row::{Level, Look};
use crate::render::theme::Theme;

fn task(text: &str, state: TaskState) -> Task {
    Task {
        text: text.to_owned(),
        state,
    }
}

fn plan(tasks: &[(&str, &str)]) -> Tree {
    let tasks = tasks
        .iter()
        .map(|(text, status)| format!(r#"{{"content":"{text}","status":"{status}"}}"#));
    parse(&format!(
        r#"{{"todos":[{}]}}"#,
        tasks.collect::<Vec<_>>().join(",")
    ))
    .unwrap()
}

fn shown(before: Option<Tree>, after: &Tree, whole: bool) -> Vec<String> {
    let (theme, colours) = (Theme::mono(), Colours::never());
    let look = Look {
        level: Level::Preview,
        ..Look::full(60, &theme, &colours)
    };
    let before = before.map(|tree| Body {
        stub: Text::default(),
        bytes: 10,
        lines: 1,
        from: Origin::default(),
        slot: 0,
        flags: BodyFlags::default(),
        held: Held::Tree(tree.into()),
    });
    let rows = rows(after, before.as_ref(), whole, 60, &look).unwrap();
    rows.iter()
        .map(|row| row.line.to_string().trim_end().to_owned())
        .collect()
}

#[test]
fn tasks_are_known_by_their_words() {
    let before = [
        task("read the code", TaskState::Done),
        task("write tests", TaskState::Todo),
        task("sing", TaskState::Todo),
    ];
    let after = [
        task("write tests", TaskState::Doing),
        task("read  the code", TaskState::Done),
        task("dance", TaskState::Todo),
    ];
    let changes: Vec<TaskChange> = between(&before, &after)
        .into_iter()
        .map(|changed| changed.change)
        .collect();
    assert_eq!(
        changes,
        [
            TaskChange::StateWas(TaskState::Todo),
            TaskChange::None,
            TaskChange::Added,
            TaskChange::Gone
        ]
    );
}

#[test]
fn other_words_for_the_same_task_are_a_new_name() {
    let before = [task("Add a parser for dates", TaskState::Todo)];
    let after = [task("Add the parser for dates and times", TaskState::Todo)];
    assert_eq!(
        between(&before, &after)[0].change,
        TaskChange::Renamed("Add a parser for dates".to_owned())
    );
    assert_eq!(between(&before, &after).len(), 1);
}

#[test]
fn the_first_plan_is_shown_whole() {
    let first = plan(&[("a", "completed"), ("b", "in_progress"), ("c", "pending")]);
    let shown = shown(None, &first, false);
    assert_eq!(shown.len(), 3);
    assert!(shown.iter().all(|row| !row.contains("added")));
}

#[test]
fn later_plans_show_what_changed() {
    let names = ["one", "two", "three", "four", "five", "six"];
    let state = |done: usize| {
        let status = move |at: usize| match at.cmp(&done) {
            Ordering::Less => "completed",
            Ordering::Equal => "in_progress",
            Ordering::Greater => "pending",
        };
        names
            .iter()
            .enumerate()
            .map(|(at, name)| (*name, status(at)))
            .collect::<Vec<_>>()
    };
    let mut next = state(4);
    next.push(("seven", "pending"));
    let lines = shown(Some(plan(&state(3))), &plan(&next), false);
    let ends: Vec<&str> = lines
        .iter()
        .map(|line| line.split_once(' ').unwrap().1)
        .collect();
    assert_eq!(
        ends,
        [
            "3 tasks as before, done",
            "four  done now",
            "five  begun",
            "six",
            "seven  + added"
        ]
    );
    let whole = shown(Some(plan(&state(3))), &plan(&next), true);
    assert_eq!(whole.len(), 7, "{whole:?}");
    let same = shown(Some(plan(&next)), &plan(&next), false);
    assert_eq!(same.len(), 4, "{same:?}");
}
