//! Blocks that several kinds of records make: text with a title, and images.

use crate::formats::json::Json;
use crate::model::body::Image;
use crate::model::edit::Batch;
use crate::model::entry::BlockKind;
use crate::model::text::Text;

pub(super) fn raw(title: &str, text: &str, out: &mut Batch) -> BlockKind {
    BlockKind::raw(title, out.prose(text))
}

/// The size in bytes of the content of a data URL.
pub(super) fn inline_bytes(url: &str) -> Option<u64> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let is_base64 = head.ends_with(";base64");
    let size = data.trim_end_matches('=').len() as u64;
    Some(if is_base64 { size * 3 / 4 } else { size })
}

/// The image in a file part, if it is one. Of a data URL only the size is kept.
pub(super) fn image(json: &Json<'_>, out: &Batch) -> Option<Image> {
    let mime = json.get("mime").str_or_empty();
    if !mime.starts_with("image/") {
        return None;
    }
    let url = json.get("url").str_or_empty();
    let bytes = inline_bytes(url);
    Some(Image {
        mime: Text::clean(mime),
        bytes,
        source: if bytes.is_some() {
            json.get("filename").text()
        } else {
            json.get("url").text()
        },
        origin: out.origin(),
    })
}
