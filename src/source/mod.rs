//! Reads records from disk, here or on another machine: line files, documents, folders, pipes and
//! databases, and notices their changes.
//!
//! Invariant: reads only, by offset, never through a memory map; knows no agent and no JSON
//! library. Nothing here waits for anything but the disk and another machine: times are arguments, and
//! waiting is left to `watch`.

pub(crate) mod budget;
pub(crate) mod discover;
pub mod document;
pub mod expansion;
pub(crate) mod folder;
pub mod follow;
pub mod fs;
pub mod lines;
mod metadata;
pub mod packed;
pub mod pattern;
pub(crate) mod process;
pub(crate) mod read;
pub mod regular;
pub mod remote;
pub(crate) mod rewritten;
pub mod rows;
pub mod serve;
pub(crate) mod stream;
pub(crate) mod watch;
mod wire;
pub(crate) mod zip;
mod zstd;
