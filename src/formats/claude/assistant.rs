//! Assistant lines. An answer spans a line per content block; all of them repeat its usage, in old
//! versions as a growing snapshot.

use itertools::Itertools as _;

use super::bill::BilledRequest;
use super::lanes::owners::is_companion_line;
use super::line::TranscriptLine;
use super::session::DecoderState;
use super::user::MessageReader;
use crate::formats::anthropic::{self, BlockContent, Site, block_type, spent};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Block, BlockKind, Break, Entry, Role, Stop};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::tool::ToolKind;
use crate::model::usage::Usage;

/// The model name of answers that the program made itself: errors and notices.
pub(crate) const SYNTHETIC: &str = "<synthetic>";

/// Decodes an assistant line.
pub(crate) fn decode(
    line: &TranscriptLine<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let from = out.edits.len();
    let entry = read(line, session, out);
    let is_beside = is_companion_line(line);
    let others = split_off_usages(from, out);
    let request = BilledRequest::of(&entry, &others);
    let fate = add_part(entry, session, out);
    out.edits.extend(others);
    session
        .bill
        .add(request, (is_beside, fate == Fate::Shown), out);
    fate
}

/// Reads the part of an answer that a line contains.
pub fn read(line: &TranscriptLine<'_>, session: &mut DecoderState, out: &mut Batch) -> Entry {
    session.requests.end(line.lane.as_ref());
    let key = line.answer();
    session.forks.record_answer(&key, line);
    let message = line.json.get("message");
    let model = message.get("model").text();
    let is_synthetic = model.as_deref() == Some(SYNTHETIC);
    let is_error = is_error(line);
    let mut entry = line.entry(key.clone(), Role::Assistant, out);
    if line.has_uuid {
        session.requests.answer(&line.id, &key);
    }
    entry.blocks = blocks(line, &key, session, out);
    if is_error {
        join_error_texts(line, &mut entry.blocks);
    }
    // The message is complete with its last line.
    entry.ended = line.at;
    entry.marks.quiet = is_synthetic && !is_error;
    if !is_synthetic {
        entry.model = model;
        entry.stop = Stop::of(message.get("stop_reason").str_or_empty());
        entry.attribution = session.attribution(line.json);
        entry.usage = usage(line, &key, entry.model.as_ref(), out).map(Box::new);
    }
    entry
}

/// Whether an answer is an error: streams name its kind beside the message, on disk a flag marks
/// it.
fn is_error(line: &TranscriptLine<'_>) -> bool {
    line.json.get("isApiErrorMessage").is_true() || line.json.get("error").filled().is_some()
}

/// Joins the texts of an error into one block before the other blocks of its line.
fn join_error_texts(line: &TranscriptLine<'_>, blocks: &mut Vec<Block>) {
    let content = line.json.at("message.content").blocks();
    let texts = content.iter().filter(|block| block_type(block) == "text");
    let mut texts = texts.filter_map(|block| block.part_text());
    let words = Text::clean(&texts.join("\n"));
    blocks.retain(|block| !matches!(block.kind, BlockKind::Text(_)));
    blocks.insert(0, Block::new(line.piece(), Break::Error(words)));
}

/// Removes the usage edits of requests made on behalf of an answer, to be emitted after it.
pub(crate) fn split_off_usages(from: usize, out: &mut Batch) -> Vec<Edit> {
    let made = out.edits.split_off(from.min(out.edits.len()));
    let (usages, others) = made
        .into_iter()
        .partition(|edit| matches!(edit, Edit::Usage { .. }));
    out.edits.extend::<Vec<Edit>>(others);
    usages
}

/// Emits a part of an answer. Shown for the first part, merged for further ones.
pub fn add_part(entry: Entry, session: &mut DecoderState, out: &mut Batch) -> Fate {
    let begins = session.begin_answer(&entry.key, entry.lane.as_ref(), entry.origin.file);
    let fate = if begins { Fate::Shown } else { Fate::Merged };
    out.entry(entry);
    fate
}

/// Decodes a copy of another lane's line. It may have been made once the answer was complete, while
/// the owner's file has only its beginning.
pub(crate) fn copy(line: &TranscriptLine<'_>, session: &mut DecoderState, out: &mut Batch) -> Fate {
    for block in line.json.at("message.content").blocks() {
        if block_type(block).ends_with("tool_use") {
            session.calls.add_copied(block.get("id").str_or_empty());
        }
    }
    let model = line.json.at("message.model").text();
    if line.kind() == "assistant" && model.as_deref() != Some(SYNTHETIC) {
        let of = line.answer();
        if let Some(usage) = usage(line, &of, model.as_ref(), out) {
            out.push(Edit::Complete {
                of,
                usage: Box::new(usage),
            });
        }
    }
    add_unknown(line, session, out)
}

/// Shows the blocks of unknown kinds that only a copy of a message has, as an entry beside the
/// message. All other blocks are read without effect, because bodies that are read again are
/// numbered by their order in the record.
fn add_unknown(line: &TranscriptLine<'_>, session: &mut DecoderState, out: &mut Batch) -> Fate {
    let mut reader = match line.kind() {
        "user" if !line.json.get("isCompactSummary").is_true() => Some(MessageReader::of(line)),
        "assistant" => None,
        // These have no blocks: they are shown as one text, or not as a message.
        _ => return Fate::Merged,
    };
    let new = session.new_blocks(line);
    if new.is_empty() {
        return Fate::Merged;
    }
    let mut entry = line.entry(line.sub_key("unknown"), Role::Harness, out);
    entry.parent = None;
    entry.marks.copy = true;
    for (place, block) in line.json.at("message.content").blocks().iter().enumerate() {
        let site = Site {
            record: &line.id,
            place,
            at: line.at,
        };
        if new.contains(&place) {
            if let BlockContent::Part(kind @ BlockKind::Aside(..)) =
                anthropic::content(block, site, out)
            {
                entry.push_piece(line.piece(), kind);
            }
        } else if let Some(reader) = &mut reader {
            out.discard_edits(|out| reader.read(block, site, out));
        } else {
            out.discard_edits(|out| anthropic::content(block, site, out));
        }
    }
    if entry.blocks.is_empty() {
        return Fate::Merged;
    }
    entry.mark_by_asides();
    out.show(entry)
}

fn blocks(
    line: &TranscriptLine<'_>,
    answer: &Key,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Vec<Block> {
    let content = line.json.at("message.content").blocks();
    let mut blocks = Vec::with_capacity(content.len());
    for (place, block) in content.iter().enumerate() {
        let site = Site {
            record: &line.id,
            place,
            at: line.at,
        };
        match anthropic::content(block, site, out) {
            BlockContent::Part(kind) => {
                if let BlockKind::Call(call) = &kind {
                    session.calls.begin(line.lane.as_ref(), answer, &call.key);
                    session
                        .lanes
                        .confirm_links(&call.key, line.lane.as_ref(), out);
                    if call.kind == ToolKind::Delegate {
                        session
                            .lanes
                            .label_call(call.key.clone(), call.headline.clone());
                        session
                            .chains
                            .delegate(block.at("input.prompt").str_or_empty(), &call.key);
                        session
                            .forks
                            .call(block, line, &call.key, &mut session.lanes, out);
                    }
                }
                blocks.push(Block::new(line.piece(), kind));
            }
            BlockContent::Result(call, result) => {
                session.calls.end(line.lane.as_ref(), &call);
                out.result(call, result, line.lane.clone());
            }
            BlockContent::Blank => {}
        }
    }
    blocks
}

/// Reads the usage of an answer. Lines before version 1.0.x have its cost. Lines before 2.1.8x, and
/// streams, have the usage of when the answer began, and no stop reason.
fn usage(
    line: &TranscriptLine<'_>,
    answer: &Key,
    model: Option<&Name>,
    out: &mut Batch,
) -> Option<Usage> {
    let made = spent::read_usage(line.json.at("message.usage"), model, out)?;
    for (number, (usage, model)) in made.others.into_iter().enumerate() {
        let of = text!("{answer}:iteration {number}");
        out.usage(of, usage, model);
    }
    let usage = made.own;
    let cost = line.json.get("costUSD").number().filter(|usd| *usd > 0.0);
    let message = line.json.get("message");
    let is_partial =
        cost.is_none() && message.has("stop_reason") && message.get("stop_reason").is_null();
    Some(Usage {
        is_partial,
        cost,
        ..usage
    })
}
