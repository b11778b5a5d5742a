//! Decodes images within limits: the size that an image declares is checked first.

/// Limit of the data in bytes.
const LARGEST: usize = 32 << 20;
/// Limit of a side in pixels.
const LONGEST_SIDE: u32 = 12_000;
/// Limit of memory for decoding.
const MAX_MEMORY: u64 = 256 << 20;

/// Reads an image within limits.
pub(super) fn open(data: &[u8]) -> Result<image::DynamicImage, String> {
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
    reader.decode().map_err(broken)
}

/// Blends transparent pixels with a medium grey, on which black and white are visible.
pub(super) fn flat(pixels: &image::RgbaImage) -> image::RgbImage {
    let over = |part: u8, alpha: u8| {
        let mixed = (u32::from(part) * u32::from(alpha) + 128 * (255 - u32::from(alpha))) / 255;
        u8::try_from(mixed).unwrap_or(u8::MAX)
    };
    image::RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [r, g, b, alpha] = pixels.get_pixel(x, y).0;
        image::Rgb([over(r, alpha), over(g, alpha), over(b, alpha)])
    })
}
