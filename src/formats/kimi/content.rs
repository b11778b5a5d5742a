//! Parts of messages and outputs, which both generations share.

use std::borrow::Cow;

use crate::formats::attached::joined;
use crate::formats::inline;
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Image;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Piece};
use crate::model::text::Text;

/// A part as a block; `None` if it is blank.
pub(crate) fn block(part: &Json<'_>, piece: Piece, out: &mut Batch) -> Option<Block> {
    let kind = match (part.kind(), text_part(part)) {
        (_, Some(text)) => BlockKind::Text((!text.trim().is_empty()).then(|| out.prose(text))?),
        ("text", None) => return None,
        ("think", None) => BlockKind::Thinking(out.prose(part.get("think").str_or_empty())),
        ("image_url" | "image", None) => BlockKind::Image(image(part, out)),
        (other, None) => unknown::block(NamedKind("part.type", other), part, out),
    };
    Some(Block::new(piece, kind))
}

/// Whether the kind of a part is known.
pub(crate) fn is_named(part: &Json<'_>) -> bool {
    let kind = part.kind();
    text_part(part).is_some()
        || [
            "think",
            "image_url",
            "image",
            "audio_url",
            "video_url",
            "file",
        ]
        .contains(&kind)
}

/// The text of a text part; `None` for other parts.
pub(crate) fn text_part<'j>(part: &'j Json<'_>) -> Option<&'j str> {
    let is_text = part.get("type").str().is_none_or(|kind| kind == "text");
    part.str()
        .or_else(|| part.get("text").str().filter(|_| is_text))
}

/// All parts as blocks.
pub(crate) fn blocks(content: &Json<'_>, piece: Piece, out: &mut Batch) -> Vec<Block> {
    content
        .blocks()
        .iter()
        .filter_map(|part| block(part, piece, out))
        .collect()
}

/// The text of a message.
pub(crate) fn text_of<'j>(content: &'j Json<'_>) -> Cow<'j, str> {
    joined(
        content
            .blocks()
            .iter()
            .filter_map(text_part)
            .map(Cow::Borrowed),
    )
}

/// The text of an output, from parts of any kind.
pub(crate) fn output_of<'j>(content: &'j Json<'_>) -> Cow<'j, str> {
    let texts = content.blocks().iter().filter_map(Json::part_text);
    joined(texts.map(Cow::Borrowed))
}

pub(crate) fn images(content: &Json<'_>, out: &Batch) -> Vec<Image> {
    let is_image = |part: &&Json<'_>| matches!(part.get("type").str(), Some("image_url" | "image"));
    content
        .items()
        .iter()
        .filter(is_image)
        .map(|part| image(part, out))
        .collect()
}

fn image(part: &Json<'_>, out: &Batch) -> Image {
    let places = ["image_url.url", "imageUrl.url", "image_url", "url"];
    let address = part.first(&places, Json::filled).unwrap_or_default();
    inline::image(address, Text::default(), false, out)
}
