//! Shared by the fuzz targets: the laws for any input, and mutations that keep records valid. A
//! target itself has only a few lines.
//!
//! Inputs are plain: a session file, or a text after a few bytes that choose widths and the like.
//! So the fixtures of the tests serve as seeds, and seeds can be read.

pub mod cells;
pub mod decoding;
pub mod defining;
pub mod laws;
pub mod mutate;
pub mod painting;
pub mod parsing;
pub mod reading;
pub mod scrolling;
pub mod shapes;

/// The first bytes as choices, and the rest as text; `None` if it is not UTF-8.
pub fn knobs<const N: usize>(data: &[u8]) -> Option<([u8; N], &str)> {
    let (knobs, rest) = data.split_first_chunk::<N>()?;
    Some((*knobs, std::str::from_utf8(rest).ok()?))
}
