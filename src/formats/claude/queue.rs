//! The queue of prompts typed while the agent is busy. A prompt taken from it between turns is
//! shown as an entry of its own, so the queue's entry is of interest only while the prompt is
//! queued. Delivery within a turn is recorded by an attachment; in older versions only by the
//! removal from the queue.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::lanes::{SubAgents, Trust};
use super::line::TranscriptLine;
use super::voice::background;
use super::voice::{ClaudeAuthor, classify, element};
use crate::formats::json::Json;
use crate::model::body::{Body, Key};
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Entry, Piece, Role};
use crate::model::tally::Fate;
use crate::model::tool::work::Carrier;

/// Queued prompts and notifications.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Prompts of the user, in order of arrival.
    prompts: BTreeMap<usize, QueuedPrompt>,
    /// Notifications of the program.
    notices: BTreeMap<usize, QueuedPrompt>,
    /// Number of prompts and notifications so far.
    count: usize,
    /// Indexes of the prompts with this text; some may have been removed.
    by_words: HashMap<Piece, VecDeque<usize>>,
    /// Hashes of prompts by the id under which lines refer to them.
    by_id: HashMap<Key, Piece>,
    /// Prompts that were delivered, but whose removal was not recorded yet.
    unannounced: Vec<Piece>,
    /// Prompts that were delivered in this turn, by text: an attachment may still record them.
    delivered: HashMap<Piece, Key>,
    /// Whether attachments record deliveries.
    has_attachments: bool,
}

#[derive(Debug)]
struct QueuedPrompt {
    key: Key,
    words: Piece,
    /// The text; the body is that of the line that queued it.
    body: Body,
}

impl Queue {
    /// Applies an attachment that records a delivered prompt.
    pub(crate) fn attach(&mut self, line: &TranscriptLine<'_>, words: Piece, out: &mut Batch) {
        self.has_attachments = true;
        let key = self.delivered.remove(&words).or_else(|| {
            let (waiting, _) = self.take_with(words)?;
            self.unannounced.push(words);
            Some(waiting.key)
        });
        if let Some(key) = key {
            out.entry(line.trace(key, out));
        }
    }

    pub(crate) fn begin_turn(&mut self) {
        self.delivered.clear();
    }

    fn add(&mut self, waiting: QueuedPrompt, id: Option<Key>, is_said: bool) {
        self.by_words
            .entry(waiting.words)
            .or_default()
            .push_back(self.count);
        self.by_id.extend(id.map(|id| (id, waiting.words)));
        let of_kind = if is_said {
            &mut self.prompts
        } else {
            &mut self.notices
        };
        of_kind.insert(self.count, waiting);
        self.count += 1;
    }

    /// Takes the first prompt with this text, and whether it is the user's.
    fn take_with(&mut self, words: Piece) -> Option<(QueuedPrompt, bool)> {
        let numbers = self.by_words.get_mut(&words)?;
        let (said, notices) = (&mut self.prompts, &mut self.notices);
        let taken = std::iter::from_fn(|| numbers.pop_front()).find_map(|number| {
            let own = said.remove(&number).map(|waiting| (waiting, true));
            own.or_else(|| notices.remove(&number).map(|waiting| (waiting, false)))
        });
        if numbers.is_empty() {
            self.by_words.remove(&words);
        }
        taken
    }

    /// Takes the prompt that a line refers to, and whether it is the user's; `None` if an
    /// attachment recorded its delivery. For a line that names none it is the first prompt of the
    /// user, as notifications stay queued longer.
    fn take(&mut self, line: &TranscriptLine<'_>) -> Option<(QueuedPrompt, bool)> {
        let content = line.json.get("content");
        let named = || {
            self.by_id
                .get(line.json.get("commandUuid").str_or_empty())
                .copied()
        };
        let words = content.filled().map(|_| words_of(content)).or_else(named);
        let is_gone = |gone: &Piece| words.is_none_or(|words| words == *gone);
        if let Some(gone) = self.unannounced.iter().position(is_gone) {
            self.unannounced.remove(gone);
            return None;
        }
        if let Some(taken) = words.and_then(|words| self.take_with(words)) {
            return Some(taken);
        }
        let said = self.prompts.pop_first().map(|(_, waiting)| (waiting, true));
        said.or_else(|| {
            self.notices
                .pop_first()
                .map(|(_, waiting)| (waiting, false))
        })
    }

    fn take_all(&mut self) -> Vec<QueuedPrompt> {
        self.by_words.clear();
        let (said, notices) = (
            std::mem::take(&mut self.prompts),
            std::mem::take(&mut self.notices),
        );
        said.into_values().chain(notices.into_values()).collect()
    }
}

/// Decodes a `queue-operation`.
pub(crate) fn decode(
    line: &TranscriptLine<'_>,
    queue: &mut Queue,
    lanes: &mut SubAgents,
    out: &mut Batch,
) -> Fate {
    let operation = line.json.get("operation").str_or_empty();
    let content = line.json.get("content").str_or_empty();
    if operation == "enqueue" {
        return enqueue(line, content, queue, lanes, out);
    }
    let mut given = None;
    let what = match operation {
        // It is no prompt of this lane, but the sub-agent's file may be missing: its row stays.
        "remove" | "absorb" if line.json.get("reason").is("delivered_to_agent") => {
            if let Some((one, false)) = queue.take(line) {
                out.entry(line.trace(one.key, out));
            }
            "given to a sub-agent"
        }
        "dequeue" | "remove" | "absorb" => {
            if let Some((one, is_said)) = queue.take(line) {
                out.entry(line.trace(one.key, out));
                if operation != "dequeue" && is_said && !queue.has_attachments {
                    queue.delivered.insert(one.words, line.id.clone());
                    given = Some(one.body);
                }
            }
            if operation == "dequeue" {
                "taken from the queue"
            } else {
                "gone from the queue"
            }
        }
        "popAll" => {
            for one in queue.take_all() {
                out.entry(line.trace(one.key, out));
            }
            "the queue was taken back to be edited"
        }
        other => other,
    };
    let (entry, kind) = if let Some(words) = given {
        let mut entry = line.own_entry(Role::User, out);
        entry.marks.prompt = true;
        (entry, BlockKind::Text(words))
    } else {
        let words = Break::setting(format!("{what} {content}").trim());
        (line.trace(line.id.clone(), out), BlockKind::Break(words))
    };
    let entry = Entry {
        blocks: vec![Block::new(line.piece(), kind)],
        ..entry
    };
    out.show(entry)
}

fn enqueue(
    line: &TranscriptLine<'_>,
    content: &str,
    queue: &mut Queue,
    lanes: &mut SubAgents,
    out: &mut Batch,
) -> Fate {
    if let (Some(task), Some(call)) = (element(content, "task-id"), element(content, "tool-use-id"))
    {
        lanes.link(task, call, Trust::Progress, out);
    }
    for (about, end) in background::notices(content) {
        lanes.report(line, (about, Some(end)), Carrier::Queue, out);
    }
    let words = words_of(line.json.get("content"));
    let voice = classify(content);
    let is_said = !content.trim().is_empty()
        && matches!(
            voice,
            ClaudeAuthor::Own { .. }
                | ClaudeAuthor::Typed(_)
                | ClaudeAuthor::Relayed { from: None, .. }
        );
    let body = match voice {
        _ if is_said => out.prose(content.trim()),
        ClaudeAuthor::Program(note) => out.output(&note.text),
        _ => out.output(content.trim()),
    };
    let id = line.json.get("commandUuid").text();
    queue.add(
        QueuedPrompt {
            key: line.id.clone(),
            words,
            body: body.clone(),
        },
        id,
        is_said,
    );
    line.show(BlockKind::raw("queued", body), true, out)
}

/// A hash of a prompt's text.
pub(super) fn words_of(prompt: &Json<'_>) -> Piece {
    let text = |block: &Json<'_>| {
        block
            .str()
            .or_else(|| block.get("text").str())
            .map(|text| Piece::of(text.trim()))
    };
    prompt.blocks().iter().find_map(text).unwrap_or_default()
}
