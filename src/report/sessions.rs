//! Reports over many sessions: all that agents store, or those that are named.
//!
//! **They share one walk.** Sessions are found without being opened, read on several threads, and
//! their results are taken in the order in which they were found (`walk`, `each`).

pub mod blame;
pub(crate) mod each;
pub mod grep;
pub mod tools;
pub mod usage;
mod walk;
pub mod waste;
