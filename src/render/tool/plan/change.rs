//! Compares two plans: tasks are matched by their text, whatever their position.
//!
//! Invariant: every task of both plans is listed once.

use std::collections::HashSet;

use super::{Task, TaskState};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskChange {
    None,
    /// Its state before.
    StateWas(TaskState),
    Added,
    /// Its text before.
    Renamed(String),
    /// Dropped from the plan.
    Gone,
}

/// A task of the new plan, or one that was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ComparedTask {
    pub(crate) task: Task,
    pub(crate) change: TaskChange,
}

/// The tasks of the new plan in order, then those that were dropped.
pub(crate) fn between(before: &[Task], after: &[Task]) -> Vec<ComparedTask> {
    let mut left: Vec<Option<&Task>> = before.iter().map(Some).collect();
    let mut partners: Vec<Option<&Task>> = after
        .iter()
        .map(|task| take(&mut left, |old| is_same(old, task)))
        .collect();
    for (task, partner) in after
        .iter()
        .zip(&mut partners)
        .filter(|(_, partner)| partner.is_none())
    {
        *partner = take(&mut left, |old| is_alike(&old.text, &task.text));
    }
    let kept = after
        .iter()
        .zip(partners)
        .map(|(task, partner)| ComparedTask {
            task: task.clone(),
            change: change(partner, task),
        });
    let gone = left
        .iter()
        .flatten()
        .filter(|old| old.state != TaskState::Dropped);
    let gone = gone.map(|old| ComparedTask {
        task: (*old).clone(),
        change: TaskChange::Gone,
    });
    kept.chain(gone).collect()
}

fn take<'t>(left: &mut [Option<&'t Task>], fits: impl Fn(&Task) -> bool) -> Option<&'t Task> {
    left.iter_mut()
        .find(|old| old.is_some_and(&fits))
        .and_then(Option::take)
}

fn change(before: Option<&Task>, after: &Task) -> TaskChange {
    match before {
        None => TaskChange::Added,
        Some(old) if !is_same(old, after) => TaskChange::Renamed(old.text.clone()),
        Some(old) if old.state != after.state => TaskChange::StateWas(old.state),
        Some(_) => TaskChange::None,
    }
}

fn is_same(one: &Task, other: &Task) -> bool {
    one.text
        .split_whitespace()
        .eq(other.text.split_whitespace())
}

/// Whether texts share more than half of the words of the shorter one.
fn is_alike(one: &str, other: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        let words = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() > 2);
        words.map(str::to_lowercase).collect()
    };
    let (one, other) = (words(one), words(other));
    let shorter = one.len().min(other.len());
    shorter > 1 && one.intersection(&other).count() * 2 > shorter
}
