//! The views: what their pages show, and how they go along with the transcript.

mod money;
mod timeline;
mod tools;
mod tree;
