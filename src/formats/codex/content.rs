//! The content of messages: its parts as texts and blocks.

use std::borrow::Cow;

use super::line::RolloutLine;
use super::repeated_texts::{self, Side};
use super::thread::{Thread, context_block};
use crate::formats::inline;
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Image;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Piece, Role};
use crate::model::tally::Fate;

/// The content of an event or an item.
pub(super) fn content<'j>(line: &RolloutLine<'j>, side: Side) -> &'j Json<'j> {
    let holder = content_holder(line, side);
    holder.either("message", "content")
}

/// The object with the content: the payload, or the item in it.
pub(super) fn content_holder<'j>(line: &RolloutLine<'j>, side: Side) -> &'j Json<'j> {
    let is_in_item = side == Side::Event && line.payload.has("item");
    if is_in_item {
        line.payload.get("item")
    } else {
        line.payload
    }
}

/// The text of a part, with its type in either casing.
pub(super) fn text_in<'j>(part: &'j Json<'_>) -> Option<&'j str> {
    let kind = part.kind();
    let is_text = matches!(
        kind,
        "input_text"
            | "output_text"
            | "text"
            | "Text"
            | "refusal"
            | "summary_text"
            | "reasoning_text"
    );
    part.str().or_else(|| {
        part.get("text")
            .str()
            .filter(|_| is_text || kind.is_empty())
    })
}

/// The parts of a content without the tags that the program writes around an image.
pub(super) fn without_image_tags<'j, 'a>(
    content: &'j Json<'a>,
) -> impl Iterator<Item = &'j Json<'a>> {
    let parts = content.blocks();
    let has_image = parts.iter().any(|part| part.kind() == "input_image");
    let is_tag =
        |text: &str| text == "</image>" || text.starts_with("<image") && text.ends_with('>');
    parts
        .iter()
        .filter(move |part| !has_image || !text_in(part).is_some_and(|text| is_tag(text.trim())))
}

/// The texts of a content, one per part.
pub(super) fn texts<'j>(content: &'j Json<'_>) -> impl Iterator<Item = &'j str> {
    without_image_tags(content).filter_map(text_in)
}

/// The texts of a content, joined by line breaks.
pub(super) fn text_of<'j>(content: &'j Json<'_>) -> Cow<'j, str> {
    let mut texts = without_image_tags(content).filter_map(text_in);
    let first = texts.next();
    let rest: Vec<&str> = texts.collect();
    match first {
        None => Cow::Owned(String::new()),
        Some(first) if rest.is_empty() => Cow::Borrowed(first),
        Some(first) => {
            let mut all = first.to_owned();
            for text in rest {
                if !all.ends_with('\n') {
                    all.push('\n');
                }
                all.push_str(text);
            }
            Cow::Owned(all)
        }
    }
}

/// The parts of a content as blocks.
pub(super) fn parts(content: &Json<'_>, piece: Piece, out: &mut Batch) -> Vec<Block> {
    without_image_tags(content)
        .filter_map(|part| block(part, piece, out))
        .collect()
}

pub(super) fn answer_blocks(part: &Json<'_>, piece: Piece, out: &mut Batch) -> Vec<Block> {
    match text_in(part) {
        Some(text) if repeated_texts::is_tagged(text) => words(text, piece, out),
        _ => block(part, piece, out).into_iter().collect(),
    }
}

/// The text of an answer, with its citations of memory in folded blocks.
pub(super) fn words(text: &str, piece: Piece, out: &mut Batch) -> Vec<Block> {
    let (words, cited) = repeated_texts::read(text);
    let body = (!words.trim().is_empty()).then(|| out.prose(&words));
    let mut blocks: Vec<Block> = body
        .into_iter()
        .map(|body| Block::new(piece, BlockKind::Text(body)))
        .collect();
    blocks.extend(
        cited
            .into_iter()
            .map(|citation| context_block(piece, "cited from memory", citation, out)),
    );
    blocks
}

pub(super) fn block(part: &Json<'_>, piece: Piece, out: &mut Batch) -> Option<Block> {
    if let Some(text) = text_in(part) {
        let body = (!text.trim().is_empty()).then(|| out.prose(text));
        return body.map(|body| Block::new(piece, BlockKind::Text(body)));
    }
    if let Some(image) = image(part, out) {
        return Some(Block::new(piece, image));
    }
    let kind = part.kind();
    if kind == "encrypted_content" {
        return Some(context_block(piece, "encrypted", "", out));
    }
    if let Some(title) = attached(kind, part) {
        return Some(context_block(piece, &title, "", out));
    }
    Some(Block::new(
        piece,
        unknown::block(NamedKind("content.type", kind), part, out),
    ))
}

/// The parts of a content that have an unknown kind, as blocks.
pub(super) fn unknown_parts(content: &Json<'_>, piece: Piece, out: &mut Batch) -> Vec<Block> {
    without_image_tags(content)
        .filter(|part| is_unknown(part))
        .filter_map(|part| block(part, piece, out))
        .collect()
}

pub(super) fn is_unknown(part: &Json<'_>) -> bool {
    let kind = part.kind();
    let is_known = text_in(part).is_some() || is_image(kind) || kind == "encrypted_content";
    !is_known && attached(kind, part).is_none()
}

/// The parts of a message that an item or an event contributes to its entry. Parts of unknown kinds
/// in an event are shown beside the entry ([`show_unknown`]), as an item replaces the rest of the event.
pub(super) fn of_side<'j, 'a>(
    content: &'j Json<'a>,
    side: Side,
) -> impl Iterator<Item = &'j Json<'a>> {
    without_image_tags(content).filter(move |part| side == Side::Item || !is_unknown(part))
}

/// The parts of unknown kinds in an event's message. They are read before the message, which is
/// read only if no item had it: so the bodies have the same numbers when the record is read alone.
pub(super) fn unknown_of(side: Side, content: &Json<'_>, out: &mut Batch) -> Vec<Block> {
    if side == Side::Event {
        unknown_parts(content, out.piece(), out)
    } else {
        Vec::new()
    }
}

/// Shows parts of unknown kinds in an entry after the message.
pub(super) fn show_unknown(
    line: &RolloutLine<'_>,
    unknown: Vec<Block>,
    fate: Fate,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    if unknown.is_empty() {
        return fate;
    }
    let mut entry = thread.entry(line, out.key("unknown"), Role::Harness, out);
    entry.blocks = unknown;
    entry.mark_by_asides();
    thread.emit_outside(entry, out);
    Fate::Shown
}

/// The title of an attachment of a prompt that is neither text nor image: a skill, a file, audio.
fn attached(kind: &str, part: &Json<'_>) -> Option<String> {
    let what = match kind {
        "skill" | "mention" => kind,
        "audio" | "local_audio" | "input_audio" | "localAudio" => "audio",
        _ => return None,
    };
    let names = ["name", "path", "audio_url", "url"]
        .iter()
        .filter_map(|name| part.get(name).filled());
    let is_inline = |name: &&str| name.starts_with("data:");
    let names: Vec<&str> = names.filter(|name| !is_inline(name)).collect();
    Some(format!("{what} {}", names.join("  ")).trim_end().to_owned())
}

fn is_image(kind: &str) -> bool {
    matches!(
        kind,
        "input_image" | "image" | "localImage" | "local_image" | "Image"
    )
}

/// Decodes an image, inline as a data URL or referenced.
pub(super) fn image(part: &Json<'_>, out: &Batch) -> Option<Image> {
    if !is_image(part.kind()) {
        return None;
    }
    let address = part.first(&["image_url", "data", "path", "url"], Json::filled);
    let mime = part.get("mimeType").text();
    let is_data = mime.is_some();
    Some(inline::image(
        address.unwrap_or_default(),
        mime.unwrap_or_default(),
        is_data,
        out,
    ))
}
