//! What leaves the viewer: copies, and what commands get.
pub mod clipboard;
pub mod excerpt;
pub mod piping;
pub(crate) mod words;
