//! The transcript's data: entries, blocks, calls, usage, and edits, the only way to change them.
//!
//! Invariant: the model does not depend on JSON, files, terminals or the clock. Every string in it
//! is a [`text::Text`], so it is safe to show.

pub mod body;
pub mod branches;
pub mod change;
pub(crate) mod coverage;
pub mod edit;
pub mod entry;
pub mod figures;
pub mod fingerprint;
pub mod found;
pub mod limit;
pub mod memory;
pub mod meta;
pub mod path;
pub mod record;
pub mod request;
pub mod resume;
#[cfg(test)]
pub(crate) mod samples;
pub mod tally;
pub mod text;
pub mod timestamp;
pub mod tool;
pub mod totals;
pub mod transcript;
pub mod turn;
pub mod usage;
