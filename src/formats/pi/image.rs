//! Images in pi's messages and results.

use crate::formats::inline::decoded_size;
use crate::formats::json::Json;
use crate::model::body::Image;
use crate::model::edit::Batch;
use crate::model::text::Text;

/// An image, inline as base64 or by reference.
pub(crate) fn image(block: &Json<'_>, out: &Batch) -> Image {
    let data = block.get("data").str_or_empty();
    let inline = !data.is_empty() && !data.starts_with("blob:");
    let source = block
        .at("source.url")
        .filled()
        .or_else(|| (!inline).then_some(data).filter(|d| !d.is_empty()));
    Image {
        mime: block.get("mimeType").text().unwrap_or_default(),
        bytes: inline.then(|| decoded_size(data)),
        source: source.map(Text::clean),
        origin: out.origin(),
    }
}
