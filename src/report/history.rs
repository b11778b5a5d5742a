//! What the calls of a session did to a file, in order of time, with the texts that its records
//! hold.

use std::collections::HashMap;

use serde_json::Value;

use super::reading::{Contents, Reading};
use crate::analysis::files::steps::{Step, step_of};
use crate::analysis::files::{File, Op, Use};
use crate::ingest::Pager;
use crate::model::record::Origin;
use crate::model::text::Text;

/// How deep JSON is looked into that stands as a text in JSON.
const NESTED: usize = 3;

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
    (path, file): (&str, &File),
    texts: Texts,
) -> Vec<(Use, Step)> {
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
        let block = Contents::of(pager.as_mut()).whole(block);
        let Some(call) = block.call() else { continue };
        let Some(mut step) = step_of(call, path, (used.op, used.by_shell)) else {
            continue;
        };
        if let (Texts::Raw, Some(pager)) = (texts, &mut pager) {
            restore(&mut step, pager, call.input.from);
        }
        steps.push((used.clone(), step));
    }
    reading.pager = pager;
    steps
}

/// Gives a step the texts of the record, with line ends and characters that are not shown.
fn restore(step: &mut Step, pager: &mut Pager, origin: Origin) {
    let texts: Vec<&mut String> = match step {
        Step::Write { content, .. } => vec![content],
        Step::Replace { pairs, .. } => pairs.iter_mut().flat_map(|(old, new)| [old, new]).collect(),
        _ => return,
    };
    let record = pager.bytes(origin).unwrap_or_default();
    let Ok(record) = serde_json::from_slice::<Value>(&record) else {
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
