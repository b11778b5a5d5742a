//! Reads records from disk: line files, documents, folders, pipes and databases, and notices their
//! changes.
//!
//! Invariant: reads only, by offset, never through a memory map; knows no agent and no JSON
//! library. Nothing here waits for anything but the disk: times are arguments, and waiting is left
//! to `watch`.

pub(crate) mod budget;
pub(crate) mod discover;
pub mod document;
pub(crate) mod folder;
pub mod follow;
pub mod lines;
pub mod packed;
pub mod pattern;
pub(crate) mod process;
pub mod regular;
pub(crate) mod rewritten;
pub mod rows;
pub(crate) mod stamp;
pub(crate) mod stream;
pub(crate) mod watch;
pub(crate) mod zip;
mod zstd;
