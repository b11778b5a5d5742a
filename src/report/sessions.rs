//! Reports over many sessions: all that agents keep, or those that were named.
//!
//! **They share one walk.** Sessions are found without being opened, read on two threads, and what comes of each is
//! taken in the order in which they were found (`walk`, `each`).

pub(crate) mod each;
pub mod grep;
pub mod usage;
mod walk;
