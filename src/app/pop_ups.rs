//! Pop-ups: help, palette, records, resume commands.
pub mod help;
pub mod palette;
pub mod raw;
pub mod resume;
