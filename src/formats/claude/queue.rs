//! The queue of prompts that were typed while the agent was busy. What is taken out of it shows as a
//! prompt of its own, so that the entry of the queue is worth a row only while it waits.

use std::collections::VecDeque;

use super::lanes::{Lanes, Trust};
use super::line::Line;
use super::voice::element;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry, Raw, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;

/// Prompts that wait, the oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    waiting: VecDeque<Key>,
}

/// A line about the queue.
pub fn decode(line: &Line<'_>, queue: &mut Queue, lanes: &mut Lanes, out: &mut Batch) -> Fate {
    let operation = line.json.get("operation").str_or_empty();
    let content = line.json.get("content").str_or_empty();
    if operation == "enqueue" {
        return enqueue(line, content, queue, lanes, out);
    }
    let (what, ended) = match operation {
        "dequeue" => ("taken from the queue", 1),
        "remove" => ("gone from the queue", 1),
        "popAll" => ("the queue was taken back to be edited", queue.waiting.len()),
        other => (other, 0),
    };
    for key in queue.waiting.drain(..ended.min(queue.waiting.len())) {
        out.entry(trace(line, key, out));
    }
    let mut entry = trace(line, line.id.clone(), out);
    let words = Break::Setting(Text::clean(format!("{what} {content}").trim()));
    entry.blocks.push(Batch::block(line.piece(), BlockKind::Break(words)));
    out.entry(entry);
    Fate::Shown
}

fn enqueue(line: &Line<'_>, content: &str, queue: &mut Queue, lanes: &mut Lanes, out: &mut Batch) -> Fate {
    if let (Some(task), Some(call)) = (element(content, "task-id"), element(content, "tool-use-id")) {
        lanes.link(task, call, Trust::Progress, out);
    }
    queue.waiting.push_back(line.id.clone());
    let mut entry = line.entry(line.id.clone(), Role::Harness, out);
    entry.marks.quiet = true;
    let raw = Raw { title: Text::clean("queued"), body: out.output(content.trim()) };
    entry.blocks.push(Batch::block(line.piece(), BlockKind::Raw(raw)));
    out.entry(entry);
    Fate::Shown
}

fn trace(line: &Line<'_>, key: Key, out: &Batch) -> Entry {
    let mut entry = line.entry(key, Role::Harness, out);
    entry.marks.quiet = true;
    entry.marks.trace = true;
    entry
}
