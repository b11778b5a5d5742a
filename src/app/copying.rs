//! Copies to the clipboard, and records piped to commands.
pub mod clipboard;
pub mod excerpt;
pub(crate) mod markdown;
pub mod piping;
