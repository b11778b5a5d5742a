//! tv, a terminal transcript viewer for AI-agent sessions.
//!
//! *Sources read records, formats decode records into edits, the transcript applies edits, analysis derives
//! figures and findings from it, render lays entries out as rows, app decides which rows, ui paints them;
//! reports write the same values to stdout.*
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
//! # Layers
//!
//! ```text
//!                          main ── cli
//!                           │
//!              settings ── runtime ── terminal, demo       event loop, threads, effects
//!                      ┌────┴─────┐
//!                      ui       report                   cells │ text and JSON
//!                       │       ┌─┤ \
//!                       │       │ fleet                  many sessions on one thread, a row each
//!                      app      │    ingest              state, actions, layout │ a thread per session
//!                     ┌─┴─session   ┌──┴────┐           one open session and its indexes
//!                  listing      │   │       │           lists of rows with columns, for app and report
//!                     │         │   │       │
//!                  render   analysis  formats  source    independent of each other
//!                     └─────────┴───┬──┴───────┘
//!                                 model                  the transcript: entries, blocks, calls, usage
//! ```
//!
//! A layer imports only layers below it; `tests/all/tidy.rs` has the table and checks it. `settings` parses
//! `config.toml` into values of app and render, `demo` writes the invented session that it replays.
//!
//! # One appended line, from bytes to cells
//!
//! `source::watch` signals a change; `source::follow` finds that the file has grown; `source::lines` cuts whole
//! lines; `formats::decoder::feed` parses, counts and hands the value to the session's decoder, which
//! pushes edits into a batch; `ingest` sends the batch on a bounded channel; `runtime` drains the channel,
//! `app::update` applies the batch, `app::arrange` lays out what the window needs, `ui::view` paints it,
//! and one synchronized write carries the difference to the terminal. The reading thread knows no screen, the
//! screen's thread reads no file: bodies that are on disk are requested as an effect and come back as an event.
//! Commands apply, on their own thread, what such a reading thread sends ([`ingest::SessionSource::read_whole`]).
//!
//! # What is derived from a session
//!
//! * **One transcript is shown.** The end of a large file is shown first, while a background thread reads the whole
//!   file into a second session; a file that was rewritten is read the same way. The complete session then replaces
//!   the first, and the reader's entry, folds and marks are looked up by key ([`session`]).
//! * **Values are computed whole.** Calls, files, loops, windows, spending, the timeline and the brief are pure functions
//!   of a few facts of each entry. Facts are extracted once, while an entry is in memory; the value is computed when a
//!   view needs it, and nothing is ever subtracted from it ([`analysis::derived`]). Two exceptions: the account of whose
//!   time it was depends on what came before, so it sums pages of entries; and the lint judges entry by entry, because
//!   judging one looks at others.
//! * **Entries outside the window are packed**, some hundred to a page, by the thread that applies batches. What reading
//!   a session took beside them is returned to the system when it is read ([`model::memory`]).
//!
//! # Invariants
//!
//! * No record is lost: shown, merged, passed and faulty add up to what was read ([`model::tally`]).
//! * Applying an edit twice changes nothing: entries are replaced by key, blocks by piece ([`model::edit`]).
//! * Chunks, portions, results in any order, bodies on disk or in memory, one reading or many: the same session.
//! * The content of an entry does not depend on how it was read; a record that is decoded again gives the same bodies.
//! * No string of a file reaches a cell but through [`model::text::Text::clean`].
//! * The cost of a record is constant on average, whatever the session's shape; the cost of a frame is that of its window.
//! * Only the reader's keys move the reader's place ([`app::text::viewport`]).
//! * A pane changes only itself; the session changes only by batches ([`app::scene`], [`session`]).
//!
//! Tests check each of them over every fixture. The reason for a design stands at the head of its file.
//!
//! # Words
//!
//! * **session**: the work of an agent on one task as its files record it, with all its sub-agents.
//! * **record**: what a file is made of: a line, an element of a document, a database row, a small file.
//! * **entry**, **block**: one message of the transcript, and one part of it: a text, a call, a result, an image.
//! * **piece**: the key of a block within its entry; the same piece sent again replaces the block.
//! * **body**, **stub**: the content of a block, which may stay on disk, and its beginning, which stays in memory.
//! * **origin**: where a record stands: its file, offset and length, or its row.
//! * **edit**, **batch**: one change of a transcript, and all changes of one reading with their counts.
//! * **fate**, **tally**: what became of a record (shown, merged, passed, faulty), and the count of all.
//! * **call**, **result**: what the model asked a tool to do, and what came back.
//! * **work**: what goes on after the result of its call, which only acknowledges that it began; the call is judged by
//!   the end of its work, whichever record has it ([`model::tool::work`]).
//! * **request**, **usage**: one answer of a model that was paid for, and its tokens by kind.
//! * **lane**: the entries of one agent; the main lane has no name, sub-agents have lanes of their own.
//! * **branch**: a path through a session that was continued from an earlier entry.
//! * **turn**: a prompt with all that follows until the next one; **overhead** belongs to no turn.
//! * **compaction**: where the agent replaced its history by a summary.
//! * **trace**: an entry that is bookkeeping of the harness, shown at level 4.
//! * **orphan**: a result without its call (`StrayResult`).
//! * **finding**: what a rule of the lint reports; **failure**: a call whose tool or command failed.
//! * **host**, **far**: another machine or a container, and what is there; its files are read through a `tv serve` there.
//! * **companion**: a file beside a session that belongs to it.
//! * **mark**, **landmark**: a place that the reader named, and one that the session has by itself.
//! * **wall**, **ledger**, **picker**: all live sessions, what all sessions cost, and all sessions to choose from.
//!
//! # Words on the screen
//!
//! An idea has one word on screens, in the help and in the manual. Ids of rules and fields of JSON stay as they are.
//!
//! | Word | Not |
//! | --- | --- |
//! | cost | money, bill, spending |
//! | usage | ledger |
//! | sub-agent | subagent, sub agent |
//! | failed | errored |
//! | failure | next error, previous error |
//! | refused | denied, rejected |
//! | inspector | detail pane |

pub mod analysis;
pub mod app;
pub mod cli;
pub mod demo;
pub mod fleet;
pub mod formats;
pub mod ingest;
pub(crate) mod listing;
pub mod model;
pub mod render;
pub mod report;
pub mod runtime;
pub mod session;
pub mod settings;
pub mod source;
pub mod terminal;
pub mod ui;
