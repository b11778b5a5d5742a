//! Images: as cells that show two pixels each, and as drawings for terminals with graphics
//! ([`drawing`]).
//!
//! A layout uses finished pictures and queues requests for others; a thread of the runtime reads
//! the data from the record, and [`PictureRequest::make`] decodes it. The data itself is not
//! cached.
//!
//! **Images are half blocks first**: cells like all others, which scroll, overlap and pass through
//! multiplexers, and which are there before anything else is made. The graphics of a terminal are
//! drawings over them: cells that refer to an image (`render::picture::kitty`) or, where images
//! cannot be referred to, a picture for each row of cells, written after the frame and again when
//! it moved or was covered (`runtime::terminal_images`). A partly covered row stays half blocks.
//! Only pixels that were decoded here are encoded; no byte of a file is passed on. The crate
//! `ratatui-image` waits for replies of the terminal, changes settings of tmux, sends an image
//! with a cell that may be covered or never drawn, deletes none, and leaves a hole where a pop-up
//! was.
//!
//! Invariant: what an image claims about itself is checked before memory is allocated for it.

pub mod canvas;
#[cfg(feature = "images")]
mod decoding;
pub mod drawing;
pub(crate) mod half_blocks;
pub mod kitty;
#[cfg(feature = "images")]
mod sixel;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use self::canvas::Canvas;
#[cfg(feature = "images")]
use self::decoding::{flat, open};
use self::drawing::{Drawing, DrawingShape};
use crate::model::body::Image;

/// Limit of a picture in columns and rows.
const LARGEST_CELLS: (u16, u16) = (96, 32);
/// Limit of cached pictures.
const MAX_PICTURES: usize = 64;
/// Limit of cached drawings in bytes; the latest one is always cached.
const MAX_DRAWING_BYTES: usize = 24 << 20;
/// Limit of the queue; the oldest requests are dropped, because their image has scrolled away.
const MAX_QUEUED: usize = 32;
/// An image scaled down to half blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Size of the original image in pixels.
    pub(crate) size: (u32, u32),
    width: usize,
    /// Pixels, row by row.
    pixels: Vec<[u8; 3]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PictureState {
    Requested,
    Ready(Arc<Picture>),
    /// Failed, with the reason.
    Failed(Arc<str>),
}

/// The cache of pictures and the queue of requests.
#[derive(Debug, Default)]
pub struct Pictures {
    state: Mutex<ImageState>,
    wake: Condvar,
    generation: AtomicU64,
}

#[derive(Debug, Default)]
struct ImageState {
    finished: HashMap<String, PictureState>,
    /// Keys of `finished`, the oldest first.
    order: VecDeque<String>,
    /// Finished drawings, the least recently used first; `None` if one cannot be made.
    drawings: VecDeque<(String, Option<Arc<Drawing>>)>,
    queue: VecDeque<PictureRequest>,
    in_work: Option<String>,
    is_stopped: bool,
}

/// A request for a picture or a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureRequest {
    pub(crate) image: Image,
    /// The shape of a drawing; `None` for a picture.
    pub(crate) shape: Option<DrawingShape>,
}

#[derive(Debug)]
pub enum PictureOutput {
    Picture(Picture),
    Drawing(Drawing),
}

impl PictureRequest {
    /// Makes it from the data of the image: PNG, JPEG, GIF (its first frame) or WebP.
    pub fn make(&self, data: &[u8]) -> Result<PictureOutput, String> {
        match self.shape {
            None => decode(data).map(PictureOutput::Picture),
            Some(shape) => drawing::draw(data, shape).map(PictureOutput::Drawing),
        }
    }

    /// The key of the cache. Images with the same record and size count as equal, as in the search
    /// for their data.
    fn key(&self) -> String {
        let Image {
            origin,
            bytes,
            mime,
            ..
        } = &self.image;
        format!("{origin:?} {bytes:?} {mime} {:?}", self.shape)
    }
}

impl ImageState {
    fn request(&mut self, order: PictureRequest, key: &str) -> bool {
        let is_pending = self.in_work.as_deref() == Some(key)
            || self.queue.iter().any(|queue| queue.key() == key);
        if !is_pending {
            if self.queue.len() >= MAX_QUEUED {
                self.queue.pop_front();
            }
            self.queue.push_back(order);
        }
        !is_pending
    }

    fn insert_drawing(&mut self, key: String, drawing: Option<Drawing>) {
        self.drawings.push_back((key, drawing.map(Arc::new)));
        let held = |(_, drawing): &(String, Option<Arc<Drawing>>)| {
            drawing.as_ref().map_or(0, |d| d.bytes())
        };
        while self.drawings.len() > 1
            && (self.drawings.len() > MAX_PICTURES
                || self.drawings.iter().map(held).sum::<usize>() > MAX_DRAWING_BYTES)
        {
            self.drawings.pop_front();
        }
    }

    fn insert_picture(&mut self, key: String, sight: PictureState) {
        self.order.push_back(key.clone());
        self.finished.insert(key, sight);
        if self.order.len() > MAX_PICTURES
            && let Some(oldest) = self.order.pop_front()
        {
            self.finished.remove(&oldest);
        }
    }
}

impl Pictures {
    /// Incremented with every finished request.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The state of a picture; a new one is requested.
    pub(crate) fn get(&self, image: &Image) -> PictureState {
        let order = PictureRequest {
            image: image.clone(),
            shape: None,
        };
        let key = order.key();
        let state = self.lock();
        if let Some(found) = state.finished.get(&key) {
            return found.clone();
        }
        self.request(state, order, &key);
        PictureState::Requested
    }

    /// The drawing of an image, if it is finished; a new one is requested.
    pub(crate) fn drawing(&self, image: &Image, shape: DrawingShape) -> Option<Arc<Drawing>> {
        let order = PictureRequest {
            image: image.clone(),
            shape: Some(shape),
        };
        let key = order.key();
        let mut state = self.lock();
        let place = state.drawings.iter().position(|(known, _)| *known == key);
        if let Some(found) = place.and_then(|place| state.drawings.remove(place)) {
            state.drawings.push_back(found.clone());
            return found.1;
        }
        self.request(state, order, &key);
        None
    }

    fn request(&self, mut state: MutexGuard<'_, ImageState>, order: PictureRequest, key: &str) {
        let is_new = state.request(order, key);
        drop(state);
        if is_new {
            self.wake.notify_one();
        }
    }

    /// Waits for a request and returns the latest, which is most likely on the screen. `None`
    /// stops the worker.
    pub fn next(&self) -> Option<PictureRequest> {
        let mut state = self.lock();
        while state.queue.is_empty() && !state.is_stopped {
            state = self
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_stopped {
            return None;
        }
        let order = state.queue.pop_back()?;
        state.in_work = Some(order.key());
        Some(order)
    }

    /// Stores the result of a request.
    pub fn insert(&self, order: &PictureRequest, outcome: Result<PictureOutput, String>) {
        let key = order.key();
        let mut state = self.lock();
        state.in_work = None;
        match outcome {
            Ok(PictureOutput::Picture(picture)) => {
                state.insert_picture(key, PictureState::Ready(Arc::new(picture)));
            }
            Ok(PictureOutput::Drawing(drawing)) => state.insert_drawing(key, Some(drawing)),
            // Without a drawing the half blocks remain.
            Err(_) if order.shape.is_some() => state.insert_drawing(key, None),
            Err(why) => state.insert_picture(key, PictureState::Failed(why.into())),
        }
        drop(state);
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Stops the workers in [`Pictures::next`].
    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.wake.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ImageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Decodes an image and scales it down to half blocks.
#[cfg(feature = "images")]
pub(crate) fn decode(data: &[u8]) -> Result<Picture, String> {
    let whole = open(data)?;
    let size = (whole.width(), whole.height());
    let (columns, rows) = Canvas::BLOCKS.fit(size, LARGEST_CELLS);
    let small = flat(
        &whole
            .thumbnail_exact(columns.into(), u32::from(rows) * 2)
            .into_rgba8(),
    );
    let pixels = small.pixels().map(|pixel| pixel.0).collect();
    Ok(Picture {
        size,
        width: usize::from(columns),
        pixels,
    })
}

/// Without the decoders no image can be shown.
#[cfg(not(feature = "images"))]
pub(crate) fn decode(_data: &[u8]) -> Result<Picture, String> {
    Err("not shown: this program was built without images".to_owned())
}

/// Columns and rows for an image of this size in pixels, within the available ones.
pub(crate) fn cells(size: (u32, u32), columns: usize, most: usize, canvas: Canvas) -> (u16, u16) {
    let within =
        |room: usize, largest: u16| u16::try_from(room).map_or(largest, |room| room.min(largest));
    canvas.fit(
        size,
        (
            within(columns, LARGEST_CELLS.0),
            within(most, LARGEST_CELLS.1),
        ),
    )
}

/// A row of a drawing, over the half blocks of a row of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    pub(crate) drawing: Arc<Drawing>,
    /// Index of the row within the drawing.
    pub(crate) row: u16,
}

#[cfg(feature = "images")]
#[cfg(test)]
mod tests {
    use super::canvas::{Canvas, Means};
    use super::drawing::DrawingShape;
    use super::{PictureState, Pictures, decode};
    use crate::model::body::Image;
    use crate::model::record::Origin;

    /// A PNG of this size in pixels, the upper half red, the lower half blue.
    pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
        let colour = |_, y| {
            if y < height / 2 {
                image::Rgb([255, 0, 0])
            } else {
                image::Rgb([0, 0, 255])
            }
        };
        let made = image::RgbImage::from_fn(width, height, colour);
        let mut data = std::io::Cursor::new(Vec::new());
        made.write_to(&mut data, image::ImageFormat::Png).unwrap();
        data.into_inner()
    }

    #[test]
    fn drawings_are_bounded_and_those_in_use_stay() {
        let pictures = Pictures::default();
        let image = |bytes| Image {
            bytes: Some(bytes),
            ..image()
        };
        let canvas = Canvas {
            means: Means::Kitty,
            cell: (10, 20),
            in_tmux: false,
        };
        let shape = DrawingShape {
            cells: (2, 1),
            canvas,
        };
        let data = png(20, 20);
        for bytes in 0..100 {
            assert_eq!(pictures.drawing(&image(bytes), shape), None);
            let order = pictures.next().unwrap();
            let made = order.make(&data);
            pictures.insert(&order, made);
            assert!(
                pictures.drawing(&image(0), shape).is_some(),
                "it was in use all the time"
            );
        }
        assert_eq!(pictures.lock().drawings.len(), super::MAX_PICTURES);
        assert_eq!(pictures.drawing(&image(1), shape), None, "it went long ago");
    }

    fn image() -> Image {
        Image {
            mime: "image/png".into(),
            bytes: Some(9),
            source: None,
            origin: Origin::default(),
        }
    }

    #[test]
    fn what_cannot_be_decoded_says_why() {
        assert_eq!(
            decode(b"no image").unwrap_err(),
            "of a kind that cannot be shown"
        );
        let whole = png(40, 40);
        assert_eq!(decode(&whole[..whole.len() / 2]).unwrap_err(), "broken");
        assert_eq!(
            decode(&png(12_001, 1)).unwrap_err(),
            "too large to be shown"
        );
    }

    #[test]
    fn asks_once_and_answers_later() {
        let pictures = Pictures::default();
        let image = image();
        assert_eq!(pictures.get(&image), PictureState::Requested);
        assert_eq!(pictures.get(&image), PictureState::Requested);
        let order = pictures.next().unwrap();
        assert_eq!((&order.image, order.shape), (&image, None));
        let made = order.make(&png(2, 2));
        pictures.insert(&order, made);
        assert!(matches!(pictures.get(&image), PictureState::Ready(_)));
        assert_eq!(pictures.generation(), 1);
        pictures.stop();
        assert_eq!(pictures.next(), None);
    }
}
