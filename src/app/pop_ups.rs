//! Pop-ups: help, palette, records, resume commands.
pub mod help;
pub mod list_keys;
pub mod palette;
pub mod raw;
pub mod resume;
pub(crate) mod signs;
mod sought;
