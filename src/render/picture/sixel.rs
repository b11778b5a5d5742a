//! Encodes sixels: characters of six pixels, one above the other, in colours that are defined
//! first.

use std::collections::HashMap;

use color_quant::NeuQuant;
use image::RgbImage;

/// Colour registers of terminals.
const COLOURS: usize = 256;
/// Number of pixels from which the palette is chosen.
const LOOKS: usize = 60_000;
/// Height of a character in pixels.
const BAND: usize = 6;

/// A sixel per row of cells; `height` is the height of a cell in pixels.
pub(crate) fn strips(pixels: &RgbImage, height: usize) -> Vec<String> {
    let width = usize::try_from(pixels.width()).unwrap_or(1).max(1);
    let (indices, palette) = reduced(pixels);
    indices
        .chunks(width * height.max(1))
        .map(|strip| sixels(strip, width, &palette))
        .collect()
}

/// The palette index of each pixel, and the palette.
fn reduced(pixels: &RgbImage) -> (Vec<u8>, Vec<[u8; 3]>) {
    let mut known: HashMap<[u8; 3], u8> = HashMap::new();
    let mut palette = Vec::new();
    let mut indices = Vec::with_capacity(pixels.pixels().len());
    for pixel in pixels.pixels() {
        match (known.get(&pixel.0), u8::try_from(palette.len())) {
            (Some(index), _) => indices.push(*index),
            (None, Ok(index)) => {
                known.insert(pixel.0, index);
                palette.push(pixel.0);
                indices.push(index);
            }
            (None, Err(_)) => return quantized(pixels),
        }
    }
    (indices, palette)
}

/// The same for an image with more colours than registers: the nearest colours of a palette of its
/// own.
fn quantized(pixels: &RgbImage) -> (Vec<u8>, Vec<[u8; 3]>) {
    let four = |[r, g, b]: [u8; 3]| [r, g, b, u8::MAX];
    let flat: Vec<u8> = pixels.pixels().flat_map(|pixel| four(pixel.0)).collect();
    // One of every `sample` pixels is used: 1 is best, 30 fastest.
    let sample = i32::try_from(pixels.pixels().len() / LOOKS)
        .unwrap_or(30)
        .clamp(1, 30);
    let net = NeuQuant::new(sample, COLOURS, &flat);
    // Images repeat their colours, so the nearest ones are cached.
    let mut known: HashMap<[u8; 3], u8> = HashMap::new();
    let mut index_of = |colour: [u8; 3]| {
        *known
            .entry(colour)
            .or_insert_with(|| u8::try_from(net.index_of(&four(colour))).unwrap_or(0))
    };
    let indices = pixels.pixels().map(|pixel| index_of(pixel.0)).collect();
    let palette = net.color_map_rgb().as_chunks().0.to_vec();
    (indices, palette)
}

/// Encodes a sixel in which unset pixels stay transparent (`P2=1`).
fn sixels(indices: &[u8], width: usize, palette: &[[u8; 3]]) -> String {
    let height = indices.len() / width;
    let mut out = format!("\x1bP0;1;0q\"1;1;{width};{height}");
    let mut is_used = [false; COLOURS];
    for index in indices {
        if let Some(is_used) = is_used.get_mut(usize::from(*index)) {
            *is_used = true;
        }
    }
    for (number, [r, g, b]) in palette.iter().enumerate() {
        if is_used.get(number) == Some(&true) {
            out.push_str(&format!(
                "#{number};2;{};{};{}",
                percent(*r),
                percent(*g),
                percent(*b)
            ));
        }
    }
    for (number, band) in indices.chunks(width * BAND).enumerate() {
        if number > 0 {
            out.push('-');
        }
        paint_band(band, width, &mut out);
    }
    out.push_str("\x1b\\");
    out
}

fn percent(part: u8) -> u16 {
    (u16::from(part) * 100 + 127) / 255
}

/// Encodes up to six lines of pixels: a layer per colour.
fn paint_band(band: &[u8], width: usize, out: &mut String) {
    let mut layers: Vec<(u8, Vec<u8>)> = Vec::new();
    let mut places = [usize::MAX; COLOURS];
    for (y, line) in band.chunks(width).enumerate() {
        for (x, index) in line.iter().enumerate() {
            let Some(place) = places.get_mut(usize::from(*index)) else {
                continue;
            };
            if *place == usize::MAX {
                *place = layers.len();
                layers.push((*index, vec![0; width]));
            }
            if let Some(bits) = layers.get_mut(*place).and_then(|(_, bits)| bits.get_mut(x)) {
                *bits |= 1 << y;
            }
        }
    }
    for (number, (index, bits)) in layers.iter().enumerate() {
        if number > 0 {
            out.push('$');
        }
        out.push_str(&format!("#{index}"));
        let end = bits
            .iter()
            .rposition(|bits| *bits != 0)
            .map_or(0, |last| last + 1);
        for run in bits.get(..end).unwrap_or_default().chunk_by(|a, b| a == b) {
            let sixel = char::from(b'?' + run.first().copied().unwrap_or(0));
            match run.len() {
                count @ 0..4 => out.extend(std::iter::repeat_n(sixel, count)),
                count => out.push_str(&format!("!{count}{sixel}")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::strips;
    use image::{Rgb, RgbImage};
    use regex::Regex;

    /// A terminal that paints sixels.
    struct SixelScreen {
        width: usize,
        pixels: Vec<Option<[u8; 3]>>,
        colours: HashMap<usize, [u8; 3]>,
        colour: [u8; 3],
        x: usize,
        y: usize,
    }

    impl SixelScreen {
        /// Paints a sixel this many times.
        fn paint(&mut self, sixel: u8, times: usize) {
            let bits = (0..6).filter(|bit| ((sixel - b'?') >> bit) & 1 == 1);
            for (x, bit) in
                (self.x..self.x + times).flat_map(|x| bits.clone().map(move |bit| (x, bit)))
            {
                assert!(x < self.width, "painted beside the picture");
                let at = (self.y + bit) * self.width + x;
                *self
                    .pixels
                    .get_mut(at)
                    .expect("nothing is painted below the picture") = Some(self.colour);
            }
            self.x += times;
        }

        /// Runs a command with its numeric parameters.
        fn take(&mut self, command: &str, numbers: &[usize]) {
            match (command.as_bytes()[0], numbers) {
                (b'#', [index, 2, rgb @ ..]) => {
                    let part = |n: usize| u8::try_from(rgb[n] * 255 / 100).unwrap();
                    self.colours.insert(*index, [part(0), part(1), part(2)]);
                }
                (b'#', [index]) => self.colour = self.colours[index],
                (b'!', [times]) => self.paint(*command.as_bytes().last().unwrap(), *times),
                (b'$', []) => self.x = 0,
                (b'-', []) => (self.x, self.y) = (0, self.y + 6),
                (sixel @ b'?'..=b'~', []) => self.paint(sixel, 1),
                _ => panic!("{command} is no command"),
            }
        }
    }

    /// The picture as a terminal shows it: its width, and its pixels (`None` where nothing is
    /// painted).
    fn shown(sixels: &str) -> (usize, Vec<Option<[u8; 3]>>) {
        let body = sixels
            .strip_prefix("\x1bP0;1;0q\"1;1;")
            .unwrap()
            .strip_suffix("\x1b\\")
            .unwrap();
        let (size, _) = body.split_once('#').unwrap();
        let (width, height) = size.split_once(';').unwrap();
        let (width, height): (usize, usize) = (width.parse().unwrap(), height.parse().unwrap());
        let pixels = vec![None; width * height];
        let mut screen = SixelScreen {
            width,
            pixels,
            colours: HashMap::new(),
            colour: [0; 3],
            x: 0,
            y: 0,
        };
        let command = Regex::new(r"#([0-9;]+)|!([0-9]+)[?-~]|[$\-?-~]").unwrap();
        let mut end = size.len();
        for found in command
            .captures_iter(body)
            .filter(|found| found.get(0).unwrap().start() >= size.len())
        {
            let whole = found.get(0).unwrap();
            assert_eq!(whole.start(), end, "nothing but sixels");
            end = whole.end();
            let numbers = found
                .get(1)
                .or(found.get(2))
                .map_or("", |numbers| numbers.as_str());
            let numbers: Vec<usize> = numbers
                .split(';')
                .filter_map(|number| number.parse().ok())
                .collect();
            screen.take(whole.as_str(), &numbers);
        }
        assert_eq!(end, body.len());
        (width, screen.pixels)
    }

    #[test]
    fn a_terminal_sees_the_picture_again() {
        let colour = |x: u32, y: u32| {
            Rgb([
                u8::try_from(x * 20).unwrap(),
                u8::try_from(y * 6).unwrap(),
                128,
            ])
        };
        let image = RgbImage::from_fn(12, 40, colour);
        let strips = strips(&image, 20);
        assert_eq!(strips.len(), 2);
        for (row, strip) in (0..).zip(&strips) {
            let (width, pixels) = shown(strip);
            assert_eq!((width, pixels.len()), (12, 12 * 20));
            for (at, pixel) in (0..).zip(pixels) {
                let wanted = image.get_pixel(at % 12, at / 12 + row * 20).0;
                let seen = pixel.expect("all is painted");
                let far = wanted
                    .iter()
                    .zip(seen)
                    .map(|(a, b)| a.abs_diff(b))
                    .max()
                    .unwrap();
                assert!(far <= 48, "{wanted:?} became {seen:?}");
            }
        }
    }

    #[test]
    fn few_colours_are_exact_and_runs_are_short() {
        let image = RgbImage::from_pixel(100, 8, Rgb([255, 0, 51]));
        assert_eq!(
            strips(&image, 8),
            ["\x1bP0;1;0q\"1;1;100;8#0;2;100;0;20#0!100~-#0!100B\x1b\\"]
        );
    }
}
