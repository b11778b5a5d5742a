//! Tests of the views: their pages, and how they follow the transcript.

mod context;
pub mod diff;
mod files;
mod money;
mod timeline;
mod tools;
mod tree;
