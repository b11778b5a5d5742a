//! What a transcript *is*: entries, blocks, tool calls, usage, and the one way to change them.
//!
//! Invariant: knows nothing of JSON, files, terminals or the clock; every string that enters is a
//! [`text::Text`], so it is safe to show.

pub mod body;
pub mod body_flags;
pub mod branch;
pub mod change;
pub mod coverage;
pub mod details;
mod digits;
pub mod edit;
pub mod entry;
pub mod entry_set;
pub mod figures;
pub mod fingerprint;
pub mod forest;
pub mod found;
pub mod glance;
pub mod merge;
pub mod meta;
pub mod octets;
pub mod outlet;
pub mod pages;
pub mod pairing;
pub mod record;
pub mod rewording;
#[cfg(test)]
pub mod samples;
mod stub;
pub mod tally;
pub mod text;
pub mod timestamp;
pub mod tool;
pub mod totals;
pub mod transcript;
pub mod tree;
pub mod turn;
pub mod usage;
pub mod written;
pub mod zone;
