//! Reports: the model as text and JSON on stdout, without a screen.
//!
//! Invariant: nothing here prints. Every report writes to the writer that it is given, and every
//! string of a file that it writes is clean.

pub mod brief;
pub mod check;
pub mod diff;
pub mod doctor;
pub mod entry;
pub mod export;
pub mod figures;
pub mod file;
pub mod follow;
pub mod formats;
mod history;
mod json;
pub mod list;
pub mod listing;
pub mod manual;
pub mod outcome;
pub(crate) mod parts;
pub mod printer;
pub mod reading;
pub mod rows;
pub mod sessions;
pub mod show;
pub(crate) mod spent;
mod stamps;
pub mod stats;
pub mod status;
pub mod themes;
pub mod top;
mod turns;
pub mod wait;
