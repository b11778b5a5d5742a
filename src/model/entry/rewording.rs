//! Replaces texts of entries: each text that is shown may be replaced, everything else stays.

use std::sync::Arc;

use super::details::Details;
use crate::model::body::{Body, Held, Image, Tree};
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Block, BlockKind, Break, Entry};
use crate::model::text::Text;
use crate::model::tool::{ToolResult, ToolState};

/// Returns the replacement of a text; `None` if it stays.
pub(crate) type Reword<'a> = dyn FnMut(&Text) -> Option<Text> + 'a;

/// Replaces the texts of all entries and results of a batch.
pub(crate) fn batch(batch: &mut Batch, reword: &mut Reword<'_>) {
    for edit in &mut batch.edits {
        match edit {
            Edit::Entry(one) => entry(one, reword),
            Edit::Result { result: one, .. } => result(one, reword),
            Edit::State {
                state: ToolState::Streaming(live),
                ..
            } => body(live, reword),
            _ => {}
        }
    }
}

/// Replaces the texts of an entry. Keys and names stay, because entries are looked up by them.
pub(crate) fn entry(entry: &mut Entry, reword: &mut Reword<'_>) {
    entry.blocks.iter_mut().for_each(|one| block(one, reword));
}

pub(crate) fn details(details: &mut Details, reword: &mut Reword<'_>) {
    for (path, value) in &mut details.fields {
        text(path, reword);
        tree(value, reword);
    }
    if let Some((_, record)) = &mut details.record {
        tree(record, reword);
    }
}

pub(crate) fn block(block: &mut Block, reword: &mut Reword<'_>) {
    match &mut block.kind {
        BlockKind::Text(body_) | BlockKind::Thinking(body_) => body(body_, reword),
        BlockKind::Call(call) => {
            text(&mut call.headline, reword);
            body(&mut call.input, reword);
            match &mut call.state {
                ToolState::Streaming(live) => body(live, reword),
                state => state
                    .result_mut()
                    .into_iter()
                    .for_each(|one| result(one, reword)),
            }
        }
        BlockKind::Result(stray) => result(&mut stray.result, reword),
        BlockKind::Image(one) => image(one, reword),
        BlockKind::Break(what) => line(what, reword),
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => {
            text(&mut raw.title, reword);
            body(&mut raw.body, reword);
        }
    }
}

pub(crate) fn body(body: &mut Body, reword: &mut Reword<'_>) {
    text(&mut body.stub, reword);
    match &mut body.held {
        Held::Text(whole) => text(whole, reword),
        Held::Tree(whole) => {
            let mut reworded = (**whole).clone();
            tree(&mut reworded, reword);
            if reworded != **whole {
                *whole = Arc::new(reworded);
            }
        }
        Held::Stub | Held::OnDisk => {}
    }
}

fn tree(node: &mut Tree, reword: &mut Reword<'_>) {
    match node {
        Tree::Text(words) => text(words, reword),
        Tree::List(items) => items.iter_mut().for_each(|item| tree(item, reword)),
        Tree::Map(members) => {
            for (key, value) in members {
                text(key, reword);
                tree(value, reword);
            }
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
    }
}

fn result(one: &mut ToolResult, reword: &mut Reword<'_>) {
    text(&mut one.facts, reword);
    body(&mut one.body, reword);
    one.patch.iter_mut().for_each(|patch| body(patch, reword));
    one.images.iter_mut().for_each(|one| image(one, reword));
}

fn image(one: &mut Image, reword: &mut Reword<'_>) {
    text(&mut one.mime, reword);
    one.source
        .iter_mut()
        .for_each(|source| text(source, reword));
}

fn line(what: &mut Break, reword: &mut Reword<'_>) {
    match what {
        Break::Compaction { trigger, .. } => text(trigger, reword),
        Break::Branch(words)
        | Break::Interrupted(words)
        | Break::Resumed(words)
        | Break::Error(words)
        | Break::ModelChange(words)
        | Break::Setting(words)
        | Break::Ended(words)
        | Break::Continued(words)
        | Break::Waiting(words) => text(words, reword),
        Break::Took(_) => {}
    }
}

fn text(text: &mut Text, reword: &mut Reword<'_>) {
    if let Some(other) = reword(text) {
        *text = other;
    }
}
