//! All tests outside the units: one binary, one module a kind.

mod cli;
mod corpus;
mod damage;
mod demo;
mod detect;
mod dump;
mod follow;
mod golden;
mod invariants;
mod journeys;
mod layout;
mod pty;
mod screens;
mod tidy;
