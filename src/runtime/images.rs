//! Image data: read from records, shown in place or opened in another program.

use std::io::Write as _;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crossbeam_channel::Sender;

use super::editor::as_argument;
use crate::app::update::Event;
use crate::formats::inline::decoded_size;
use crate::formats::json::{self, Json};
use crate::ingest::Pager;
use crate::model::body::Image;
use crate::render::picture::Pictures;

/// Length of the shortest string that is tried as image data.
const SHORTEST: usize = 32;

/// Decodes requested pictures until there are no more requests.
pub(crate) fn work(mut pager: Pager, pictures: &Pictures, say: &Sender<Event>) {
    while let Some(order) = pictures.next() {
        let made = data(&mut pager, &order.image).and_then(|data| order.make(&data));
        pictures.insert(&order, made);
        if say.send(Event::Coloured).is_err() {
            return;
        }
    }
}

/// Writes an image to a temporary file and opens it in the system's program for images.
pub fn open(pager: &mut Pager, image: &Image) -> Result<(), String> {
    let data = data(pager, image)?;
    let ending = match data.get(..4) {
        Some([0x89, b'P', b'N', b'G']) => ".png",
        Some([0xff, 0xd8, ..]) => ".jpg",
        Some([b'G', b'I', b'F', _]) => ".gif",
        Some([b'R', b'I', b'F', b'F']) => ".webp",
        // Other data might be opened by a program that executes it.
        _ => return Err("the image is of a kind that cannot be shown".to_owned()),
    };
    let file = tempfile::Builder::new()
        .prefix("tv-")
        .suffix(ending)
        .tempfile();
    let mut file = file.map_err(|error| error.to_string())?;
    file.write_all(&data).map_err(|error| error.to_string())?;
    let (_, path) = file.keep().map_err(|error| error.to_string())?;
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command
        .arg(as_argument(&path))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| {
        let path = path.display();
        format!("{program} cannot be started: {error}; the image is in {path}")
    })?;
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// The data of an image. Its record may hold several: the one of the right size is taken.
fn data(pager: &mut Pager, image: &Image) -> Result<Vec<u8>, String> {
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
