//! tv, a terminal transcript viewer for AI-agent sessions.
//!
//! *Sources give records, formats turn records into edits, the transcript takes edits, analysis judges
//! it, render lays entries out as rows, app decides which rows, ui paints them; reports write the same
//! things to stdout.*
//!
//! # Goals, in order
//!
//! 1. **Nothing hidden.** Every record of a file ends as shown, merged, passed for a named reason, or
//!    faulty; the counts are on the screen. Unknown types and broken lines show in their place.
//! 2. **Never mispaired, never miscounted.** Calls join results by the agent's own ids; usage and cost
//!    follow each agent's own rules, recorded cost first, estimates marked.
//! 3. **Instant and small.** Work for a frame depends on the screen; memory depends on the number of
//!    entries, not on the bytes of the file; the first paint does not wait for the whole file.
//! 4. **The reader keeps the place.** Appends, late results, rewrites, resizes and folds never move what
//!    is being read.
//! 5. **Read-only and safe.** Nothing is written near an agent's files, and no control byte of a file
//!    reaches the terminal.
//!
//! # The wings
//!
//! ```text
//!                          main ── cli
//!                           │
//!              settings ── runtime ── terminal, demo       the loop, threads, effects
//!                      ┌────┴─────┐
//!                      ui       report                   cells │ text and json
//!                       │       ┌─┤ \
//!                       │       │ fleet                  many sessions, one thread, a row each
//!                      app      │    ingest              state, actions, layout │ a thread per session
//!                     ┌─┴─session   ┌──┴────┐           one opened session with what is known of it
//!                     │         │   │       │
//!                  render   analysis  formats  source    wings that do not know each other
//!                     └─────────┴───┬──┴───────┘
//!                                 model                  what a transcript *is*
//! ```
//!
//! `settings` turns `config.toml` into values of app and render, `demo` writes the invented session that it replays.
//! A wing imports only what stands below it; `tests/all/tidy.rs` holds the table and keeps it true.
//!
//! # One appended line, from bytes to cells
//!
//! `source::watch` says "look"; `source::follow` finds that the file has grown; `source::lines` cuts whole
//! lines; `formats::decoder::feed` parses, counts and hands the value to the session's decoder, which
//! pushes edits into a batch; `ingest` sends the batch on a bounded channel; `runtime` drains all that
//! waits, `app::update` applies it, `app::arrange` lays out what the window needs, `ui::view` paints it,
//! and one synchronized write carries the difference to the terminal. Up to the channel nobody sees a
//! screen, from there on nobody sees a file: bodies that are on disk are asked for as an effect and come
//! back as an event.
//!
//! # What is known of a session
//!
//! * **One transcript is shown.** The end of a large file is shown first, while the whole is read into a session that
//!   nobody sees; a file that was written anew is read so, too. When that is complete it takes the place of what was
//!   shown, and whatever the reader was at is looked up by key ([`session`]).
//! * **Values are computed whole.** Calls, files, loops, windows, spending, the timeline and the brief are pure functions
//!   of a few facts of each entry. Facts are read once, while an entry is at hand; the value is computed when somebody
//!   looks, and nothing is ever taken back out of it ([`analysis::derived`]). Two are kept up otherwise: whose time it
//!   was depends on what stood before, so the account judges pages of entries and sums them up whole; and what the lint
//!   finds is judged entry by entry, because to judge one takes a look at others.
//! * **Entries that nobody looks at are packed**, some hundred together, on the thread that reads them.
//!
//! # What always holds
//!
//! * No record is lost: shown, merged, passed and faulty add up to what was read ([`model::tally`]).
//! * What is sent twice changes nothing: entries go by key, blocks by piece ([`model::edit`]).
//! * Chunks, portions, results in any order, bodies on disk or in memory, a file read on or anew: the same session.
//! * Content of an entry does not depend on how it was read; a record read again alone gives the same bodies.
//! * No string of a file reaches a cell but through [`model::text::Text::clean`].
//! * Cost of a record is constant on average, whatever the session's shape; cost of a frame is that of its window.
//! * The reader's place moves with the reader's keys only ([`app::text::viewport`]).
//! * A pane changes itself only; the session changes by what its files say ([`app::scene`], [`session`]).
//!
//! Each is a law that tests hold over every fixture. Why a thing is as it is stands at the head of its file.
//!
//! # Words
//!
//! * **record**: what a file is made of: a line, an element of a document, a row, a small file.
//! * **entry**, **block**: one message of the transcript, and one part of it: a text, a call, an image.
//! * **piece**: what a block is known by within its entry; the same piece sent again replaces.
//! * **body**, **stub**: the content of a block, which may stay on disk, and its beginning, which does not.
//! * **edit**, **batch**: one change of a transcript, and all changes of one reading with their counts.
//! * **fate**, **tally**: what became of a record, and the count of all.
//! * **lane**: the entries of one agent; the main lane has no name, sub-agents have lanes of their own.
//! * **turn**: a prompt with all that follows until the next one; **overhead**: what belongs to no turn.
//! * **trace**: an entry that is bookkeeping of the harness, shown at level 4.
//! * **stray**: a result without its call.
//! * **work**: what goes on after the result of its call, which only acknowledges that it began; the call is judged by
//!   the end of its work, wherever that is told ([`model::tool::work`]).
//! * **companion**: a file beside a session that belongs to it.
//! * **mark**, **landmark**: a place that the reader named, and one that the session has by itself.

pub mod analysis;
pub mod app;
pub mod cli;
pub mod demo;
pub mod fleet;
pub mod formats;
pub mod ingest;
pub mod model;
pub mod render;
pub mod report;
pub mod runtime;
pub mod session;
pub mod settings;
pub mod source;
pub mod terminal;
pub mod ui;
