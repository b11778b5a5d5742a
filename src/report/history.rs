//! What the calls of a session did to a file, in order of time, with the texts that its records
//! hold, and the snapshots that agents record of a file before they change it.

use std::collections::HashMap;

use serde_json::Value;

use super::reading::{Contents, Reading};
use crate::analysis::files::steps::{FileStep, step_of};
use crate::analysis::files::{FileUses, Op, Use};
use crate::ingest::Pager;
use crate::model::record::Origin;
use crate::model::text::Text;

/// How deep JSON is looked into that stands as a text in JSON.
const NESTED: usize = 3;

/// Fields of results that hold what the file was before the call, and the field around each.
const SNAPSHOTS: [(&str, Option<&str>); 3] = [
    ("originalFile", None),
    ("originalContent", None),
    ("before", Some("filediff")),
];

/// The texts that steps have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    /// Those that are safe to show.
    Clean,
    /// Those of the records.
    Raw,
}

/// What the calls did to a file, each with its use. Calls that failed did nothing.
pub(crate) fn steps(
    reading: &mut Reading,
    (path, file): (&str, &FileUses),
    texts: Texts,
) -> Vec<(Use, FileStep)> {
    let mut pager = reading.pager.take();
    let mut steps = Vec::new();
    for used in &file.uses {
        let is_change = matches!(used.op, Op::Edit | Op::Write);
        // A command may have changed the file before it failed.
        if !(used.outcome.is_good() || used.by_shell && is_change) {
            continue;
        }
        let Some(block) = reading
            .transcript
            .get(used.place.entry)
            .and_then(|entry| entry.blocks.get(used.place.block))
        else {
            continue;
        };
        let block = Contents::of(pager.as_mut()).with_bodies(block);
        let Some(call) = block.call() else { continue };
        let Some(mut step) = step_of(call, path, (used.op, used.by_shell)) else {
            continue;
        };
        if let (Texts::Raw, Some(pager)) = (texts, &mut pager) {
            restore(&mut step, pager, call.input.from);
        }
        let is_recorded = is_change && !used.by_shell;
        if let (true, Some(result), Some(pager)) = (is_recorded, call.state.result(), &mut pager)
            && let Some(before) =
                record(pager, result.body.from).and_then(|record| before(&record, &step))
        {
            let before = match texts {
                Texts::Clean => Text::clean(&before).to_string(),
                Texts::Raw => before,
            };
            steps.push((used.clone(), FileStep::Before(before)));
        }
        steps.push((used.clone(), step));
    }
    reading.pager = pager;
    steps
}

/// Gives a step the texts of the record, with line ends and characters that are not shown.
fn restore(step: &mut FileStep, pager: &mut Pager, origin: Origin) {
    let texts: Vec<&mut String> = match step {
        FileStep::Write { content, .. } => vec![content],
        FileStep::Replace { pairs, .. } => {
            pairs.iter_mut().flat_map(|(old, new)| [old, new]).collect()
        }
        _ => return,
    };
    let Some(record) = record(pager, origin) else {
        return;
    };
    let mut altered = HashMap::new();
    add_altered(&record, NESTED, &mut altered);
    for text in texts {
        if let Some(raw) = altered.get(text.as_str()) {
            text.clone_from(raw);
        }
    }
}

fn record(pager: &mut Pager, origin: Origin) -> Option<Value> {
    serde_json::from_slice(&pager.bytes(origin)?).ok()
}

/// The snapshots in the record of a result.
fn snapshots<'v>(value: &'v Value, around: Option<&str>, found: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| snapshots(item, around, found)),
        Value::Object(members) => {
            for (name, value) in members {
                let is_one = SNAPSHOTS.iter().any(|(field, within)| {
                    field == name && within.is_none_or(|within| around == Some(within))
                });
                found.extend(value.as_str().filter(|_| is_one));
                snapshots(value, Some(name), found);
            }
        }
        _ => {}
    }
}

/// What the file was before a step, if the record of its result has this one snapshot.
fn before(record: &Value, step: &FileStep) -> Option<String> {
    let mut found = Vec::new();
    snapshots(record, None, &mut found);
    match found.as_slice() {
        [before] if is_of(before, step) => Some((*before).to_owned()),
        _ => None,
    }
}

/// Whether a step fits to a snapshot.
fn is_of(before: &str, step: &FileStep) -> bool {
    match step {
        FileStep::Replace { pairs, .. } => pairs.first().is_some_and(|(old, _)| {
            before.contains(old) || Text::clean(before).contains(old.as_str())
        }),
        FileStep::Patch(_) | FileStep::Write { .. } => true,
        FileStep::Delete | FileStep::Read { .. } | FileStep::Before(_) | FileStep::Unknown => false,
    }
}

/// Collects the texts of a record that were altered to be safe to show, by what they became.
fn add_altered(value: &Value, nested: usize, altered: &mut HashMap<String, String>) {
    match value {
        Value::String(text) => {
            let clean = Text::clean(text);
            if *clean != **text {
                altered.insert(clean.to_string(), text.clone());
            }
            let is_json = text.trim_start().starts_with(['{', '[']) && nested > 0;
            if let Some(inner) = is_json.then(|| serde_json::from_str(text).ok()).flatten() {
                add_altered(&inner, nested - 1, altered);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| add_altered(item, nested, altered)),
        Value::Object(members) => members
            .values()
            .for_each(|value| add_altered(value, nested, altered)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
