//! What the fuzz targets share: the laws that hold for any input, and a way to change records that
//! keeps them records. A target itself is only a few lines.
//!
//! Inputs are as plain as they can be: a session file as it is, or a text behind a few bytes that choose
//! widths and the like. So the fixtures of the tests are seeds, and a seed can be read.

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

/// The first bytes as choices, and the rest as a text: without UTF-8 there is none.
pub fn knobs<const N: usize>(data: &[u8]) -> Option<([u8; N], &str)> {
    let (knobs, rest) = data.split_first_chunk::<N>()?;
    Some((*knobs, std::str::from_utf8(rest).ok()?))
}
