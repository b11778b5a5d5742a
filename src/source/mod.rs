//! Disk to records: line files, documents, folders and pipes, and how their changes are noticed.
//!
//! Invariant: reads only, by position, never through a memory map; knows no agent and no JSON library.
//! A room waits for nothing but the disk: times come in as arguments, waiting is `watch`'s.

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
