//! tv, a terminal transcript viewer for AI-agent sessions.
//!
//! *Sources give records, formats turn records into edits, the transcript takes edits, analysis judges
//! it, render lays entries out as rows, app decides which rows, ui paints them; reports write the same
//! things to stdout.*
//!
//! ```text
//!                          main ── cli
//!                           │
//!                        runtime ── terminal             the loop, threads, effects
//!                      ┌────┴─────┐
//!                      ui       report                   cells │ text and json
//!                       │       ┌─┘ \
//!                      app      │    ingest              state, actions, layout │ a thread per session
//!                     ┌─┴───────┤   ┌──┴────┐
//!                  render   analysis  formats  source    wings that do not know each other
//!                     └─────────┴───┬──┴───────┘
//!                                 model                  what a transcript *is*
//! ```

pub mod analysis;
pub mod app;
pub mod cli;
pub mod demo;
pub mod formats;
pub mod ingest;
pub mod model;
pub mod render;
pub mod report;
pub mod runtime;
pub mod source;
pub mod terminal;
pub mod ui;
