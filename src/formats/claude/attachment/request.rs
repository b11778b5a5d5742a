//! System prompt and tool definitions of requests, from the copies that the program stores.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use hashbrown::DefaultHashBuilder;

use crate::formats::claude::line::TranscriptLine;
use crate::formats::json::Json;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Entry, Raw, Role, Sent};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};

/// The last snapshot of each lane, which a later one replaces.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    last: HashMap<Option<Name>, (u64, Entry)>,
    contents: DefaultHashBuilder,
}

/// Shows a snapshot, unless it equals the one before.
pub(super) fn snapshot(
    line: &TranscriptLine<'_>,
    attachment: &Json<'_>,
    snapshots: &mut Snapshots,
    out: &mut Batch,
) -> Fate {
    let mut content = snapshots.contents.build_hasher();
    for name in ["systemPrompt", "tools"] {
        attachment.get(name).print(&mut content);
    }
    let print = content.finish();
    let before = snapshots.last.get(&line.lane);
    if before.is_some_and(|(before, _)| *before == print) {
        return Fate::Merged;
    }
    if let Some((_, before)) = before
        && let Some(at) = line.at
    {
        let mut before = before.clone();
        before
            .blocks
            .iter_mut()
            .for_each(|block| block.sent = Sent::Until(at));
        out.entry(before);
    }
    let mut entry = line.own_entry(Role::System, out);
    entry.marks.quiet = true;
    let parts = attachment
        .get("systemPrompt")
        .blocks()
        .iter()
        .filter_map(Json::filled);
    let prompt: Vec<&str> = parts.collect();
    if !prompt.is_empty() {
        let body = out.prose(&prompt.join("\n\n"));
        entry.push_piece(line.piece(), BlockKind::Text(body));
    }
    if !attachment.get("tools").items().is_empty() {
        let mut block = Block::new(line.piece(), tools(attachment.get("tools"), out));
        block.sent = Sent::Whole;
        entry.blocks.push(block);
    }
    snapshots
        .last
        .insert(line.lane.clone(), (print, entry.clone()));
    out.show(entry)
}

/// Shows tools that the model may be given later, as a trace.
pub(super) fn further_tools(line: &TranscriptLine<'_>, list: &Json<'_>, out: &mut Batch) -> Fate {
    let kind = tools(list, out);
    line.show_trace(kind, out)
}

fn tools(list: &Json<'_>, out: &mut Batch) -> BlockKind {
    let names: Vec<&str> = list
        .items()
        .iter()
        .filter_map(|tool| tool.get("name").filled())
        .collect();
    let title = Text::stub(&format!("{}: {}", Raw::TOOLS, names.join(", ")), 120);
    let body = list.to_body(&Text::default(), out);
    BlockKind::Raw(Raw { title, body })
}
