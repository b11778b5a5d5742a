//! All tests outside the units: one binary, one module a kind.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod cli;
mod corpus;
mod damage;
mod demo;
mod detect;
mod dump;
mod fixtures;
mod follow;
mod golden;
mod invariants;
mod journeys;
mod layout;
mod openclaw;
mod pty;
mod screens;
mod screenshots;
mod stage;
mod tidy;
