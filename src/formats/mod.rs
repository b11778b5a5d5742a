//! Records to edits: one room for each agent's way to write sessions.
//!
//! Invariant: pure functions of bytes. No file, no clock, no terminal. The only wing that knows JSON
//! when reading.

pub mod decoder;
pub mod json;
