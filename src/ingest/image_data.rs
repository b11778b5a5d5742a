//! Data of images, read from the records that hold them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::pager::Pager;
use crate::formats::inline::decoded_size;
use crate::formats::json::{self, Json};
use crate::model::body::Image;

/// Length of the shortest string that is tried as image data.
const SHORTEST: usize = 32;

/// The data of an image. Its record may hold several: the one of the right size is taken.
pub(crate) fn image_data(pager: &mut Pager, image: &Image) -> Result<Vec<u8>, String> {
    let record = pager
        .bytes(image.origin)
        .ok_or("its record cannot be read any more")?;
    let text = String::from_utf8_lossy(&record);
    let value = json::parse(&text).map_err(|_damage| "its record is broken")?;
    let mut found = Vec::new();
    encoded(&value, &mut found);
    let same = found
        .iter()
        .find(|text| image.bytes == Some(decoded_size(text)));
    let text = same
        .or(found.first())
        .ok_or("its data is not in the record")?;
    let text: String = text.split_ascii_whitespace().collect();
    STANDARD
        .decode(text)
        .map_err(|error| format!("its data is broken: {error}"))
}

/// The kind of image that data is, by its first bytes, as in names of files; `None` for others.
pub(crate) fn image_ending(data: &[u8]) -> Option<&'static str> {
    Some(match data.get(..4)? {
        [0x89, b'P', b'N', b'G'] => "png",
        [0xff, 0xd8, ..] => "jpg",
        [b'G', b'I', b'F', _] => "gif",
        [b'R', b'I', b'F', b'F'] => "webp",
        _ => return None,
    })
}

/// Collects the strings of a value that hold image data, in their order: data URLs, and Base64 by
/// its first bytes.
fn encoded<'j>(value: &'j Json<'_>, found: &mut Vec<&'j str>) {
    // PNG, JPEG, GIF and WebP in Base64.
    const STARTS: [&str; 4] = ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"];
    match value {
        Json::Str(text) => {
            let is_address = text.starts_with("data:image/");
            let text = if is_address {
                text.split_once(',').map_or("", |(_, data)| data)
            } else {
                text
            };
            if is_address
                || (text.len() >= SHORTEST && STARTS.iter().any(|start| text.starts_with(start)))
            {
                found.push(text);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| encoded(item, found)),
        Json::Object(members) => members
            .iter()
            .for_each(|(_, member)| encoded(member, found)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Integer(_) | Json::Deep(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::encoded;
    use crate::formats::json;

    #[test]
    fn the_data_is_found_wherever_it_stands() {
        let text = r#"{"content":[{"type":"text","text":"iVBORw0KGgo"},
            {"source":{"data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAA="}},
            {"image_url":{"url":"data:image/bmp;base64,AAAA"}}]}"#;
        let value = json::parse(text).unwrap();
        let mut found = Vec::new();
        encoded(&value, &mut found);
        assert_eq!(found, ["iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAA=", "AAAA"]);
    }
}
