//! Images as cells: each shows two pixels, one above the other, in half blocks.
//!
//! A layout takes what is finished and asks for the rest; a thread of the runtime fetches the data from
//! its record, and [`decode`] makes a small picture of it. The data itself is never kept.
//!
//! Invariant: what an image claims of itself is checked before memory is taken for it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ratatui::style::{Color, Style};
use ratatui::text::Span;

use super::colour::fit;
use super::row::Row;
use super::theme::Theme;
use super::wrap::Piece;
use crate::model::body::Image;

/// Columns of a picture at most.
#[cfg(feature = "images")]
const COLUMNS: u32 = 96;
/// Rows of a picture at most.
#[cfg(feature = "images")]
const ROWS: u32 = 32;
/// Pictures that are kept.
const MOST: usize = 64;
/// Requests that may wait; of more the oldest are forgotten, they scrolled away.
const MAX_WAITING: usize = 32;
/// Larger data is not decoded.
#[cfg(feature = "images")]
const LARGEST: usize = 32 << 20;
/// More pixels to a side are not decoded.
#[cfg(feature = "images")]
const LONGEST_SIDE: u32 = 12_000;
/// Decoding may take so much memory.
#[cfg(feature = "images")]
const MAX_MEMORY: u64 = 256 << 20;

/// A small image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Of the image itself, in pixels.
    pub size: (u32, u32),
    width: u32,
    /// Row by row.
    pixels: Vec<[u8; 3]>,
}

/// What there is to be seen of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It has been asked for.
    Waiting,
    /// This.
    Seen(Arc<Picture>),
    /// Nothing, and why.
    Broken(Arc<str>),
}

/// Finished pictures and open requests.
#[derive(Debug, Default)]
pub struct Pictures {
    state: Mutex<State>,
    wake: Condvar,
    generation: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    finished: HashMap<String, Sight>,
    /// Keys of `finished`, the oldest first.
    order: VecDeque<String>,
    waiting: VecDeque<Image>,
    in_work: Option<String>,
    is_stopped: bool,
}

impl Pictures {
    /// Rises with every finished picture.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// What there is of an image; it is asked for if there is nothing yet.
    pub fn get(&self, image: &Image) -> Sight {
        let key = key_of(image);
        let mut state = self.lock();
        if let Some(found) = state.finished.get(&key) {
            return found.clone();
        }
        let is_asked = state.in_work.as_ref() == Some(&key)
            || state.waiting.iter().any(|waiting| key_of(waiting) == key);
        if !is_asked {
            if state.waiting.len() >= MAX_WAITING {
                state.waiting.pop_front();
            }
            state.waiting.push_back(image.clone());
            drop(state);
            self.wake.notify_one();
        }
        Sight::Waiting
    }

    /// Waits for a request, the latest first: it is the one on the screen. `None` means to stop.
    pub fn next(&self) -> Option<Image> {
        let mut state = self.lock();
        while state.waiting.is_empty() && !state.is_stopped {
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_stopped {
            return None;
        }
        let image = state.waiting.pop_back()?;
        state.in_work = Some(key_of(&image));
        Some(image)
    }

    /// Keeps what came of a request.
    pub fn keep(&self, image: &Image, outcome: Result<Picture, String>) {
        let sight = match outcome {
            Ok(picture) => Sight::Seen(Arc::new(picture)),
            Err(why) => Sight::Broken(why.into()),
        };
        let key = key_of(image);
        let mut state = self.lock();
        state.in_work = None;
        state.order.push_back(key.clone());
        state.finished.insert(key, sight);
        if state.order.len() > MOST
            && let Some(oldest) = state.order.pop_front()
        {
            state.finished.remove(&oldest);
        }
        drop(state);
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Ends all [`Pictures::next`].
    pub fn stop(&self) {
        self.lock().is_stopped = true;
        self.wake.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Two images of one record and of one size are the same to us, as they are to who looks for their data.
fn key_of(image: &Image) -> String {
    format!("{:?} {:?} {}", image.origin, image.bytes, image.mime)
}

/// Makes a small picture of the data of an image: PNG, JPEG, GIF or WebP.
#[cfg(feature = "images")]
pub fn decode(data: &[u8]) -> Result<Picture, String> {
    use image::{ImageReader, Limits};
    if data.len() > LARGEST {
        return Err("too large to be shown".to_owned());
    }
    let broken = |error: image::ImageError| match error {
        image::ImageError::Limits(_) => "too large to be shown".to_owned(),
        image::ImageError::Unsupported(_) => "of a kind that cannot be shown".to_owned(),
        _ => "broken".to_owned(),
    };
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MAX_MEMORY);
    let mut reader = ImageReader::new(std::io::Cursor::new(data))
        .with_guessed_format()
        .map_err(|error| error.to_string())?;
    reader.limits(limits);
    let whole = reader.decode().map_err(broken)?;
    let size = (whole.width(), whole.height());
    let (width, height) = fitted(size);
    let small = whole.thumbnail_exact(width, height).into_rgba8();
    // What is transparent is seen on a middle grey, which shows black as well as white.
    let over = |part: u8, alpha: u8| {
        let mixed = (u32::from(part) * u32::from(alpha) + 128 * (255 - u32::from(alpha))) / 255;
        u8::try_from(mixed).unwrap_or(u8::MAX)
    };
    let pixels = small.pixels().map(|pixel| {
        let [r, g, b, alpha] = pixel.0;
        [over(r, alpha), over(g, alpha), over(b, alpha)]
    });
    Ok(Picture { size, width, pixels: pixels.collect() })
}

/// Without the decoders nothing can be seen.
#[cfg(not(feature = "images"))]
pub fn decode(_data: &[u8]) -> Result<Picture, String> {
    Err("not shown: this program was built without images".to_owned())
}

/// Pixels of the small picture: of the same shape, not larger than the image.
#[cfg(feature = "images")]
fn fitted((width, height): (u32, u32)) -> (u32, u32) {
    let scale = (f64::from(COLUMNS) / f64::from(width.max(1)))
        .min(f64::from(ROWS * 2) / f64::from(height.max(1)))
        .min(1.0);
    let side = |pixels: u32, most: u32| {
        let wanted =
            (1..=most).take_while(|side| f64::from(*side) <= f64::from(pixels) * scale + 0.5).count();
        u32::try_from(wanted).unwrap_or(1).max(1)
    };
    (side(width, COLUMNS), side(height, ROWS * 2))
}

/// The rows of a picture, not wider and not higher than so many columns and rows.
pub fn rows(picture: &Picture, columns: usize, most: usize, theme: &Theme) -> Vec<Row> {
    let width = usize::try_from(picture.width).unwrap_or(1).max(1);
    let height = picture.pixels.len() / width;
    let step = width.div_ceil(columns.max(1)).max(height.div_ceil(most.max(1) * 2)).max(1);
    let pixel = |x: usize, y: usize| {
        let [r, g, b] = *picture.pixels.get(y * width + x).unwrap_or(&[0; 3]);
        fit(Color::Rgb(r, g, b), theme.depth)
    };
    let mut rows = Vec::new();
    for y in (0..height).step_by(step * 2) {
        let mut spans: Vec<Piece> = Vec::new();
        for x in (0..width).step_by(step) {
            let top = Style::new().fg(pixel(x, y));
            let style = if y + step < height { top.bg(pixel(x, y + step)) } else { top };
            match spans.last_mut() {
                Some(last) if last.style == style => last.content.to_mut().push('▀'),
                _ => spans.push(Span::styled("▀", style)),
            }
        }
        rows.push(Row { line: spans.into(), ..Row::default() });
    }
    rows
}

#[cfg(feature = "images")]
#[cfg(test)]
mod tests {
    use super::{Pictures, Sight, decode, fitted, rows};
    use crate::model::body::Image;
    use crate::model::record::Origin;
    use crate::render::colour::Depth;
    use crate::render::theme::Theme;
    use ratatui::style::Color;

    /// A PNG of so many pixels, the upper half red, the lower one blue.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let colour = |_, y| if y < height / 2 { image::Rgb([255, 0, 0]) } else { image::Rgb([0, 0, 255]) };
        let made = image::RgbImage::from_fn(width, height, colour);
        let mut data = std::io::Cursor::new(Vec::new());
        made.write_to(&mut data, image::ImageFormat::Png).unwrap();
        data.into_inner()
    }

    #[test]
    fn two_pixels_stand_in_a_cell() {
        let theme = Theme::dark().with_depth(Depth::True);
        let shown = rows(&decode(&png(3, 2)).unwrap(), 80, 20, &theme);
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].line.to_string(), "▀▀▀");
        let style = shown[0].line.spans[0].style;
        assert_eq!((style.fg, style.bg), (Some(Color::Rgb(255, 0, 0)), Some(Color::Rgb(0, 0, 255))));
    }

    #[test]
    fn pictures_keep_their_shape_within_any_room() {
        assert_eq!(fitted((1_920, 1_080)), (96, 54));
        assert_eq!(fitted((10, 4)), (10, 4));
        assert_eq!(fitted((12_000, 1)), (96, 1));
        let picture = decode(&png(300, 200)).unwrap();
        assert_eq!(picture.size, (300, 200));
        for columns in 1..120 {
            let shown = rows(&picture, columns, 10, &Theme::dark());
            assert!(!shown.is_empty() && shown.len() <= 10);
            assert!(shown.iter().all(|row| row.line.width() <= columns));
        }
    }

    #[test]
    fn what_cannot_be_decoded_says_why() {
        assert_eq!(decode(b"no image").unwrap_err(), "of a kind that cannot be shown");
        let whole = png(40, 40);
        assert_eq!(decode(&whole[..whole.len() / 2]).unwrap_err(), "broken");
        assert_eq!(decode(&png(12_001, 1)).unwrap_err(), "too large to be shown");
    }

    #[test]
    fn asks_once_and_answers_later() {
        let pictures = Pictures::default();
        let image =
            Image { mime: "image/png".into(), bytes: Some(9), source: None, origin: Origin::default() };
        assert_eq!(pictures.get(&image), Sight::Waiting);
        assert_eq!(pictures.get(&image), Sight::Waiting);
        assert_eq!(pictures.next().as_ref(), Some(&image));
        pictures.keep(&image, decode(&png(2, 2)));
        assert!(matches!(pictures.get(&image), Sight::Seen(_)));
        assert_eq!(pictures.generation(), 1);
        pictures.stop();
        assert_eq!(pictures.next(), None);
    }
}
