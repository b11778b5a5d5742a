//! All tests besides unit tests: one binary, with a module per subject.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

mod account;
mod activity;
mod agreement;
mod alarms;
#[cfg(feature = "sqlite")]
mod beside;
mod blame;
mod branches;
mod briefs;
mod browser;
#[cfg(feature = "sqlite")]
mod cells;
mod cli;
mod commands;
mod copying;
mod corpus;
mod counts;
mod damage;
#[cfg(feature = "sqlite")]
mod databases;
mod demo;
mod details;
mod detect;
mod diff;
mod dump;
mod ends;
mod evaluations;
mod everywhere;
mod export;
mod faults;
mod find;
mod finding;
mod fixtures;
mod fleet;
mod follow;
mod golden;
mod grammars;
#[cfg(feature = "images")]
mod graphics;
mod grep;
mod growth;
mod hits;
mod hostile;
mod inspector;
mod invariants;
mod joined;
mod joined_views;
mod journals;
mod journeys;
mod keys;
mod lanes;
mod layout;
mod ledger;
mod lint;
mod made;
mod manual;
mod markdown;
mod needles;
mod nodes;
mod odd;
mod openclaw;
#[cfg(feature = "sqlite")]
mod opencode;
mod outcomes;
mod paging;
mod panes;
mod parallel;
mod picker;
mod portions;
mod preview;
mod prices;
mod pty;
mod questions;
mod remembering;
mod remote;
mod reports;
mod rollouts;
#[cfg(feature = "sqlite")]
mod rows;
mod runs;
mod screens;
mod screenshots;
mod side_by_side;
mod skill;
mod specs;
mod spending;
mod stage;
mod status;
mod steady;
mod streams;
mod tidy;
mod trajectories;
mod unreadable;
mod usage;
mod views;
mod waiting;
mod wall;
mod waste;
mod work;
