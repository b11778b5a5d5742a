//! The queue of prompts that were typed while the agent was busy. What is taken out of it shows as a
//! prompt of its own, so that the entry of the queue is worth a row only while it waits.

use std::collections::VecDeque;

use super::lanes::{Lanes, Trust};
use super::line::Line;
use super::voice::element;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Raw, Role};
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
    if operation == "enqueue" && !content.trim().is_empty() {
        return enqueue(line, content, queue, lanes, out);
    }
    let what = match operation {
        "dequeue" => "taken from the queue",
        "remove" => "gone from the queue",
        "popAll" => "the queue was taken back to be edited",
        "enqueue" => "something without text was queued",
        other => other,
    };
    let all = operation == "popAll";
    let ended: Vec<Key> = match operation {
        "enqueue" => Vec::new(),
        _ if all => queue.waiting.drain(..).collect(),
        _ => queue.waiting.pop_front().into_iter().collect(),
    };
    let fate = if ended.is_empty() { Fate::Shown } else { Fate::Merged };
    let keys = if ended.is_empty() { vec![line.id.clone()] } else { ended };
    for key in keys {
        let words = Break::Setting(Text::clean(what));
        tell(line, key, Batch::block(line.piece(), BlockKind::Break(words)), !all, out);
    }
    fate
}

fn enqueue(line: &Line<'_>, content: &str, queue: &mut Queue, lanes: &mut Lanes, out: &mut Batch) -> Fate {
    if let (Some(task), Some(call)) = (element(content, "task-id"), element(content, "tool-use-id")) {
        lanes.link(task, call, Trust::Progress, out);
    }
    queue.waiting.push_back(line.id.clone());
    let body = out.output(content.trim());
    let block = BlockKind::Raw(Raw { title: Text::clean("queued"), body });
    tell(line, line.id.clone(), Batch::block(line.piece(), block), false, out);
    Fate::Shown
}

fn tell(line: &Line<'_>, key: Key, block: Block, is_trace: bool, out: &mut Batch) {
    let mut entry = line.entry(key, Role::Harness, out);
    entry.marks.quiet = true;
    entry.marks.trace = is_trace;
    entry.blocks.push(block);
    out.entry(entry);
}
