//! Image data: read from records, shown in place or opened in another program.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crossbeam_channel::Sender;

use super::editor::as_argument;
use crate::app::update::Event;
use crate::ingest::{Pager, image_data, image_ending};
use crate::model::body::Image;
use crate::render::picture::Pictures;

/// Decodes requested pictures until there are no more requests.
pub(crate) fn work(mut pager: Pager, pictures: &Pictures, say: &Sender<Event>) {
    while let Some(order) = pictures.next() {
        let made = image_data(&mut pager, &order.image).and_then(|data| order.make(&data));
        pictures.insert(&order, made);
        if say.send(Event::Coloured).is_err() {
            return;
        }
    }
}

/// Writes an image to a temporary file and opens it in the system's program for images.
pub fn open(pager: &mut Pager, image: &Image) -> Result<(), String> {
    let data = image_data(pager, image)?;
    // Other data might be opened by a program that executes it.
    let ending = image_ending(&data).ok_or("the image is of a kind that cannot be shown")?;
    let file = tempfile::Builder::new()
        .prefix("tv-")
        .suffix(&format!(".{ending}"))
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
