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
//!                        runtime ── terminal             the loop, threads, effects
//!                      ┌────┴─────┐
//!                      ui       report                   cells │ text and json
//!                       │       ┌─┘ \
//!                      app      │    ingest              state, actions, layout │ a thread per session
//!                     ┌─┴─session   ┌──┴────┐           one opened session with what is known of it
//!                     │         │   │       │
//!                  render   analysis  formats  source    wings that do not know each other
//!                     └─────────┴───┬──┴───────┘
//!                                 model                  what a transcript *is*
//! ```
//!
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
//! # Decisions
//!
//! * **The driver counts, not the decoders.** [`formats::decoder::feed`] parses a record, mends what can
//!   be mended, splits lines that hold several values, and calls the decoder once for each value; records
//!   and their bytes are counted alike. The
//!   decoder answers with a [`model::tally::Fate`], so a record that nobody counts cannot be written.
//!   Records of a document are its messages; what surrounds them is read, but is no record.
//! * **Entries are told in pieces.** Agents spread a message over several records. An edit names the
//!   entry by its key and its blocks by the [`model::entry::Piece`] that brought them: the same piece told
//!   again replaces, a new one is added. Streams, late results, rewritten files and replayed history are
//!   all the same mechanism; a new telling of the whole session drops what it does not name.
//! * **Entries that are left alone are packed.** A transcript keeps its entries in pages; a page that nobody
//!   looked at for a while is a small block of compressed bytes, and unpacks itself when one of its entries is asked
//!   for. What is asked of all entries at once stays beside it ([`model::glance`]), and keys are kept as
//!   fingerprints, so a session of a gigabyte takes a tenth to a fifth of that. While a session is read, pages are
//!   handed out to a thread that packs them ([`model::pages`]); one that changed meanwhile stays as it is. What
//!   happened in a page is summed up with it, so what a branch cost is known without a look at each entry.
//! * **The program has an allocator of its own.** What one thread decodes another one packs and frees. With glibc's
//!   a session of a gigabyte takes a quarter more time, and what its arenas keep for each thread is not given back
//!   in a session that grows for hours; one arena for all threads would keep less and cost half as much again.
//! * **Bodies know where they lie.** A [`model::entry::Body`] keeps its beginning, its size, its record
//!   and its place among the bodies of that record. A fresh decoder gives the same bodies for the same
//!   bytes, so contents can be left on disk and read again.
//! * **A stream is told as it stands at the end of a reading.** Deltas build the message in the decoder;
//!   what is told of it on the way has the key of the final message, which takes its place. No record
//!   holds a text that is made of deltas, so it stays in its stub and is never left on disk. Summaries
//!   of turns and runs name messages again: the n-th of one identity is the n-th that was told.
//! * **Records printed for reading are records.** A document that no agent writes is offered to the
//!   formats once more, as the values that it holds: see [`model::record::Shape::Values`].
//! * **A string is as it is written until somebody asks.** The lexer of records counts size and lines of a long
//!   string with escapes while it looks for its end ([`model::written`]); what is left on disk is never put
//!   together. Why a text is no JSON is asked of serde_json, whose rules the lexer keeps to. While a large
//!   file is read, a second thread takes the lines of each chunk apart ahead of the decoder, which takes them
//!   in their order.
//! * **Two transcripts while a large file is read.** The last mebibyte is shown at once, and goes on
//!   growing; a second transcript is read from the start and takes its place, by key, when it is
//!   complete. Who goes to the top before sees its first entries, which are kept apart for that ([`app::ends`]):
//!   a jump costs the same however much is read, and each end is marked as the only one that is shown.
//!   A large file that is cut or replaced while it is shown is read in the same way: as another transcript beside the
//!   one that is shown, which goes when the new one is complete.
//! * **Work is counted in steps, not in entries.** The lint is a queue of entries to be judged and stops in the middle
//!   of it when a frame's steps are taken ([`analysis::lint`]); the other indexes take in as many entries as are no more
//!   work than a number of plain ones ([`model::transcript::Transcript::portion`]). Who has an id, who waits for a
//!   result and where the blocks of a large entry stand is remembered, ways along links are walked once, and an entry is
//!   judged again only for what it waits for: tests hold the number of steps for a record, whatever repeats.
//! * **What is known of a session is taken in while it is read** ([`app::whole`]). Indexes and the lint follow batch by
//!   batch, while the entries are at hand; to unpack them all afterwards costs more than reading them did. What has
//!   to begin again waits until the session is twice as long.
//! * **Paths are told as seen from where the session began**, wherever its agent went later
//!   ([`model::meta::Meta::root`]): a file has one name throughout, and no `cd` makes the list of files begin anew.
//! * **A search asks the bytes first, and from where the reader stands.** It goes outward in portions, a few at a
//!   time ([`app::hunt`]), so memory does not grow with it and the nearest hit is known first. A record on disk is
//!   decoded only if its bytes hold the words that the pattern needs ([`analysis::needle`]).
//! * **The end comes before the companions.** A session may have thousands of files beside it; they are looked for
//!   when its end is told, and of those that rest some are looked at each time.
//! * **Bookkeeping has its place, but no row below level 4.** Runs of hooks, snapshots and lists of tools are
//!   entries like all others, so that no record is passed over; [`model::entry::Marks::trace`] keeps them
//!   out of the way of the conversation.
//! * **File order is the reading order.** Parent links are evidence: a branch is drawn where all links of
//!   a tree resolve, where two prompts share a parent, or where the agent says that something was undone.
//! * **Branches are numbered as they are left.** Whenever the last record moves to another path, another
//!   prompt takes a prompt's place or the agent undoes something, what was left gets the next number; so
//!   appends change no number, and a branch is the session as it stood at that moment. What the session
//!   goes back to keeps its number, and is active. [`model::branch`] holds the rule.
//! * **A result stands under its call.** One that finds no call, or a call that has its result already, is
//!   shown in its own place as a stray.
//! * **Calls in prose are calls.** Where a model writes them as text they are shown as calls with the results
//!   that follow in order; they have no ids to prove it, so no figure of pairing holds them.
//! * **The window is anchored to a row of a block**, best of all to the focused one. Motions wait until the
//!   next arrangement, the only place where rows exist; heights of all else are estimates for the
//!   scrollbar.
//! * **Names tell what records cannot.** A format is asked for a decoder of a path, for what an archived
//!   file may be called, and for files that records ask for. Facts from small files beside a session are
//!   facts about it, but no records.
//! * **Compressed files are pipes.** They are read once, from beginning to end, with their bodies kept,
//!   and within bounds; nothing in them can be read again by its place. While a pipe is shown, a file without a name
//!   has its bytes, for who asks for a record as it was written.
//! * **What has many blocks is laid out in portions** ([`app::portions`]): one answer may hold twenty thousand calls,
//!   and a frame costs what the window shows of it. Whoever asks for rows walks from portion to portion as from entry
//!   to entry.
//! * **A filter takes effect as a whole.** Facts are judged at once, texts on a thread; until all are
//!   known, nothing moves. It judges blocks, and shows nothing else for the sake of context.
//! * **Trees fold by their paths.** A row of a tree knows its node, and a node is a number made of its path,
//!   so folds and the reader's place in a tree hold when it is laid out anew or has grown. A tree is open as
//!   deep as its rows fit; JSON that is too large for a tree is read as a text, as far as it is shown.
//! * **Colours come later.** Syntax highlighting costs a hundred times more than everything else, so a
//!   layout is plain at first and a thread of its own colours what was asked for. The grammars are an asset made of
//!   those of `two-face`: letters by ranges in the place of Unicode categories halve what they take to compile.
//! * **What a terminal is told stands in its cell.** A link's escape sequence opens and closes within each
//!   cell ([`render::link`]), so the difference of two frames may write any of them alone. A thread decodes
//!   images out of their records, within limits, and keeps only what is small.
//! * **Images are half blocks first.** They are cells like all others, which scroll, overlap and pass through
//!   multiplexers, and they are there before anything else is made. What a terminal can do beyond that lies
//!   over them: cells that name a place in an image ([`render::picture::kitty`]), or, where images cannot be
//!   named, a picture for each row of cells, written when the frame is out and again when it moved or was
//!   covered (`runtime::gallery`). A row that is partly covered stays half blocks. Encoded here are only pixels
//!   that were decoded here; no byte of a file goes on. The crate for this (`ratatui-image`) asks and waits for
//!   answers, changes the settings of tmux, sends an image with a cell that may be covered or never drawn,
//!   takes none away, and leaves a hole where a pop-up was.
//! * **Which graphics a terminal has is known by its name.** Knowing a protocol is not enough, and cells that
//!   name an image cannot be asked for. The questions go out after the first frame, and nobody waits.
//! * **What the terminal sends is read in one place.** Answers come late, in the middle of keys, or never, and
//!   a library that reads keys types the ones and drops the others, with what stands behind them; so keys, the
//!   mouse, pastes and answers are told apart by `runtime::hearing` alone.
//! * **The reader's place is one.** A view ([`app::views`]) is a page over the text whose cursor is the focused item:
//!   the transcript stays arranged behind it, so moving in either moves the other, and the inspector needs to know
//!   of no page. Pages list cheap keys and write out what their window shows; the indexes that they need grow while
//!   one of them is open ([`session::indexes`]).
//! * **A digit is a count until nothing follows.** Views have digits, and so have counts: a digit opens its view a
//!   quarter of a second after it was typed, unless another key makes it a count.
//! * **There is one account** ([`analysis::account`]): which turn an entry, a request or a sub-agent belongs to, what is
//!   overhead of the session, what was work and what was waiting. Every surface reads it and none reckons, so two of
//!   them never differ. It is a fold over the entries of each lane, as other indexes are ([`analysis`], `fold`): pages
//!   are judged in order, anew only where they begin with something else, and never more than a portion at a time. A
//!   figure is shown when all that belongs to it was taken in.
//! * **Lanes with files of their own stand in time.** One that no call in the transcript started stands where it began
//!   ([`analysis::reading`]), so the last entry of the main lane is the last of all.
//! * **Records tell when a session was alive, not its file.** A file that changed long after its newest record was
//!   copied ([`analysis::activity`]).
//! * **Finding sessions opens none.** [`ingest::find`] walks under the roots that the formats name and the
//!   environment moves, and orders files by when they were written. The facts of each are read when its
//!   row is asked for, by its own decoder from the beginning and the end of the file, and never more.
//! * **The picker is a mode, not a program of its own.** It lies over the session, or over nothing, so the loop,
//!   the keys and the screen are the same. The session behind goes on being followed until another one is
//!   opened; [`runtime`] drops it then, with its threads and whatever they still have to say. Sessions are
//!   told one by one and matched in steps, so a key costs the same with ten sessions and with ten thousand.
//! * **A finding is judged from what stays in memory.** What the lint must know of bodies is read off when they are
//!   decoded ([`model::signs`]), so it needs no second look at the disk and finds the same in a session that is read
//!   whole and in one that grows; each judgement names the entries that it looked at ([`analysis::lint`]).
//! * **Prompts are recorded, what they were made of is estimated.** Files tell the tokens of whole prompts; which
//!   texts filled them is judged from what the model saw by then ([`analysis::seen`]: the path, the last compaction
//!   with what it kept), from what each format says was sent of a block ([`model::entry::Sent`]) and from sizes that
//!   stay in memory, at as many bytes a token as the session's own growth shows. A missed cache is judged from two
//!   requests and what the file tells between them ([`analysis::cache_breaks`]); where it tells nothing, the cause is
//!   unknown.
//! * **Of a database the SQL is the format's, running it the source's.** A format says by
//!   [`formats::tables::Queries`] how sessions are listed, read and told apart from rewritten ones;
//!   `source::rows` opens the database for one look, in the way that the files beside it allow, and lets it
//!   go: a connection that stayed (for `PRAGMA data_version`) would keep the agent's own last one from
//!   putting its log away. Whether anything changed is told by the state of the database and of its log.
//! * **A look at rows that change asks for the last messages.** These are the rows that change; of all others a
//!   bounded piece is looked at each time, in turn, as long as the database was written to since. Rows are compared
//!   by time and size, and by content once it is quiet. A session is read in portions of messages, and of a row
//!   that was told only sixteen bytes stay, which tell an edit.

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
pub mod session;
pub mod settings;
pub mod source;
pub mod terminal;
pub mod ui;
