//! Edits, the only way to change a transcript, the batches of edits, and the events that carry
//! batches.
//!
//! **Entries come in pieces.** Agents spread a message over several records. An edit names the
//! entry by its key and its blocks by the `model::entry::Piece` that brought them: a piece that is
//! sent again replaces its blocks, a new one adds blocks. Streams, late results, rewritten files
//! and replayed history all use this mechanism; a replacement of the whole session also drops every
//! entry that it does not name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::body::{Body, BodyFlags, Held, Key, Tree};
use super::entry::{Entry, Marks, Piece, Role, Stop};
use super::found::Target;
pub use super::meta::MetaEdit;
use super::record::{FileId, Origin};
use super::resume::Resume;
use super::tally::unknown::Judged;
use super::tally::{Fate, Tally};
use super::text::stub::Manner;
use super::text::{Name, Text, count_lines, prefix, text};
use super::timestamp::Timestamp;
use super::tool::work::{Update, WorkReference};
use super::tool::{ToolResult, ToolState};
use super::usage::Usage;

/// One change of a transcript. Edits are upserts: applying one twice changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Adds the entry, or updates the one with its key: recorded fields replace, blocks replace
    /// those of the same [`Piece`] and are appended if the piece is new.
    Entry(Box<Entry>),
    /// Adds a tool's result. It joins the last open call with this id (within one message the
    /// first, and a call of its own lane before any other); without such a call it is a stray.
    Result {
        /// Id of the call.
        call: Key,
        result: Box<ToolResult>,
        /// Lane of the result, for the entry of a stray.
        lane: Option<Name>,
    },
    /// Sets the state of a call without a result: running, lost.
    State {
        /// Id of the call.
        call: Key,
        /// The new state; ignored if the call has a result.
        state: ToolState,
    },
    /// Reports on work that continued after the result of its call.
    Update {
        about: WorkReference,
        update: Update,
        /// Lane of the record that reports.
        lane: Option<Name>,
    },
    /// Adds usage recorded outside an entry. If an entry has the key, it becomes that entry's
    /// usage.
    Usage {
        /// Key of the entry, or a key of its own.
        of: Key,
        usage: Box<Usage>,
        /// The model that was used; `None` if not recorded.
        model: Option<Name>,
    },
    /// Adds a record that is a link of the parent chain without being an entry.
    Link {
        /// Id of the record.
        key: Key,
        /// Id of its parent; `None` for a root.
        parent: Option<Key>,
    },
    /// Sets a fact about the session.
    Meta(MetaEdit),
    Retire(Key),
    /// Removes a piece of an entry.
    RetirePiece {
        /// Key of the entry.
        of: Key,
        piece: Piece,
    },
    /// Removes the entries that a file brought to a lane, because they repeat what another lane
    /// said before.
    Copied {
        /// The lane; `None` is the main one.
        lane: Option<Name>,
        /// The record of the file before which everything is a copy.
        before: Origin,
    },
    /// Removes an entry that turns out to be a copy of another lane's, and everything that its file
    /// brought to its lane before it.
    CopiedWith(Key),
    /// Usage of an entry as a copy of it records it: of the two the one with more output counts.
    /// The copy itself costs nothing.
    Complete {
        /// Key of the entry.
        of: Key,
        /// The usage that the copy records.
        usage: Box<Usage>,
    },
}

/// How a batch relates to the transcript that it is applied to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchMode {
    /// Its edits are added.
    #[default]
    Append,
    /// It begins a replacement of the whole session, which is read beside the current transcript.
    ReplaceStart,
    /// It continues a replacement.
    ReplaceMore,
    /// It ends a replacement, which then replaces the current transcript.
    ReplaceEnd,
    /// It is a whole replacement in one batch.
    Replace,
}

impl BatchMode {
    /// Whether the batch begins a replacement.
    pub(crate) fn begins(self) -> bool {
        matches!(self, Self::ReplaceStart | Self::Replace)
    }

    /// Whether the batch completes a replacement.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::ReplaceEnd | Self::Replace)
    }
}

/// Something odd that the user should know, with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub severity: Severity,
    /// Origin of the record.
    pub origin: Origin,
    /// The message: a sentence without a full stop.
    pub what: Text,
}

/// Severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Odd, nothing is lost.
    Note,
    /// Something was not understood and is shown raw.
    Warning,
    /// A record could not be read.
    Error,
}

/// Edits of some records, with the tally of all records so far.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// How the batch relates to the transcript.
    pub mode: BatchMode,
    /// The edits in file order.
    pub edits: Vec<Edit>,
    pub(crate) notices: Vec<Notice>,
    /// Fates of all records of the session up to and including this batch.
    pub tally: Tally,
    /// Further files or sessions that belong to this one, found in its records: format-specific ids
    /// that `Format::follow_up` interprets.
    pub requested_files: Vec<Text>,
    /// Whether bodies stay on disk, so that only stubs are made.
    pub stubs_only: bool,
    /// Whether only figures are needed: bodies have their origin, but no stub.
    pub(crate) is_counted: bool,
    /// Whether bodies cannot be read again: they came through a pipe, or no record holds them
    /// verbatim.
    pub(crate) is_piped: bool,
    /// Name of the format of the records, for the names of their kinds; empty before the first
    /// record.
    pub(crate) format: &'static str,
    /// Whether names of kinds are ignored, to test which records the decoder recognizes without
    /// them.
    pub(crate) is_nameless: bool,
    origin: Origin,
    slot: u16,
    /// Bytes of the bodies made from the current record.
    body_bytes: usize,
}

/// Limit of the name of a kind, in characters.
pub(crate) const KIND_CHARS: usize = 120;
/// Limit of a stub, in characters.
const STUB_CHARS: usize = 160;
/// Texts up to this size in bytes are their own stub.
const STUB_BYTES: usize = 160;

impl Batch {
    /// Starts the next record: bodies made from here on belong to it.
    pub(crate) fn begin_record(&mut self, origin: Origin) {
        self.origin = origin;
        self.slot = 0;
        self.body_bytes = 0;
    }

    /// Bytes of the bodies made from the current record so far.
    pub(crate) fn made(&self) -> usize {
        self.body_bytes
    }

    /// Origin of the current record.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// A key for a record that has no id of its own; it depends on the position only.
    pub(crate) fn origin_key(&self) -> Key {
        text!("@{}:{}", self.origin.file.0, self.origin.at)
    }

    /// The key of an entry that several records make. It differs from the record's own, which is
    /// that of a broken record.
    pub(crate) fn key(&self, what: &str) -> Key {
        text!("{}:{what}", self.origin_key())
    }

    /// The piece of the current record within its entry.
    pub(crate) fn piece(&self) -> Piece {
        Piece::of(&self.origin_key())
    }

    /// Makes a body of prose.
    pub fn prose(&mut self, raw: &str) -> Body {
        self.body(raw, Manner::Prose)
    }

    /// Makes a body of tool output: SGR colours are retained.
    pub fn output(&mut self, raw: &str) -> Body {
        let flags = if self.is_counted {
            BodyFlags::default()
        } else {
            BodyFlags::of_output(raw)
        };
        Body {
            flags,
            ..self.body(raw, Manner::Output)
        }
    }

    /// Makes a body from a tree. `headline` becomes its stub, `bytes` is its size in the file.
    pub fn tree(&mut self, headline: &Text, bytes: usize, tree: impl FnOnce() -> Tree) -> Body {
        self.body_bytes = self.body_bytes.saturating_add(bytes);
        let held = if self.stubs_only {
            Held::OnDisk
        } else {
            Held::Tree(Arc::new(tree()))
        };
        Body {
            stub: headline.clone(),
            bytes: saturating_u32(bytes),
            lines: 1,
            from: self.origin,
            slot: self.next_slot(),
            flags: BodyFlags::default(),
            held,
        }
    }

    fn body(&mut self, raw: &str, manner: Manner) -> Body {
        let size = raw.len();
        if self.is_counted {
            return self.tree(&Text::default(), size, || Tree::Null);
        }
        self.body_bytes = self.body_bytes.saturating_add(size);
        let lines = count_lines(raw);
        let is_short = size <= STUB_BYTES && !raw.contains(['\n', '\u{1b}']);
        let (stub, held) = if is_short {
            (Text::clean(raw), Held::Stub)
        } else {
            let stub = Text::stub_cleaned(prefix(raw, 4 * STUB_CHARS), STUB_CHARS, manner);
            (
                stub,
                if self.stubs_only {
                    Held::OnDisk
                } else {
                    Held::Text(manner.clean(raw))
                },
            )
        };
        Body {
            stub,
            bytes: saturating_u32(size),
            lines: saturating_u32(lines),
            from: self.origin,
            slot: self.next_slot(),
            flags: BodyFlags::default(),
            held,
        }
    }

    /// Runs `read` and discards the edits. Later bodies of the record get the slots that they have
    /// when all of it is decoded.
    pub(crate) fn discard_edits<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let mut apart = Self {
            stubs_only: true,
            is_counted: self.is_counted,
            is_piped: self.is_piped,
            format: self.format,
            is_nameless: self.is_nameless,
            origin: self.origin,
            slot: self.slot,
            ..Self::default()
        };
        let read = read(&mut apart);
        self.slot = apart.slot;
        read
    }

    fn next_slot(&mut self) -> u16 {
        let slot = self.slot;
        self.slot = self.slot.saturating_add(1);
        slot
    }

    pub fn push(&mut self, edit: Edit) {
        self.edits.push(edit);
    }

    pub(crate) fn entry(&mut self, entry: Entry) {
        self.edits.push(Edit::Entry(Box::new(entry)));
    }

    /// Adds an entry and returns the fate of its record.
    pub(crate) fn show(&mut self, entry: Entry) -> Fate {
        self.entry(entry);
        Fate::Shown
    }

    pub(crate) fn meta(&mut self, edit: MetaEdit) {
        if let MetaEdit::Version(version) = &edit {
            self.tally.record_version(version, self.origin);
        }
        self.edits.push(Edit::Meta(edit));
    }

    pub(crate) fn title(&mut self, rank: u8, title: Text) {
        self.meta(MetaEdit::Title { rank, title });
    }

    pub(crate) fn fact(&mut self, name: &'static str, value: Text) {
        self.meta(MetaEdit::Fact { name, value });
    }

    /// Adds a sub-agent, by the name of its lane.
    pub(crate) fn lane(&mut self, name: Name, label: Option<Text>, call: Option<Key>) {
        self.meta(MetaEdit::Lane { name, label, call });
    }

    /// Adds the result of a call.
    pub(crate) fn result(
        &mut self,
        call: Key,
        result: impl Into<Box<ToolResult>>,
        lane: Option<Name>,
    ) {
        let result = result.into();
        self.push(Edit::Result { call, result, lane });
    }

    pub(crate) fn state(&mut self, call: Key, state: ToolState) {
        self.push(Edit::State { call, state });
    }

    /// Adds a report on background work.
    pub(crate) fn update(&mut self, about: WorkReference, update: Update, lane: Option<Name>) {
        self.push(Edit::Update {
            about,
            update,
            lane,
        });
    }

    /// Adds usage of an entry, or outside all entries.
    pub(crate) fn usage(&mut self, of: Key, usage: impl Into<Box<Usage>>, model: Option<Name>) {
        let usage = usage.into();
        self.push(Edit::Usage { of, usage, model });
    }

    pub(crate) fn retire_piece(&mut self, of: Key, piece: Piece) {
        self.push(Edit::RetirePiece { of, piece });
    }

    /// An entry without blocks for the current record, to be filled in.
    pub fn new_entry(&self, key: Key, role: Role, at: Option<Timestamp>) -> Entry {
        Entry {
            key,
            parent: None,
            lane: None,
            at,
            ended: None,
            role,
            from: None,
            model: None,
            attribution: None,
            blocks: Vec::new(),
            usage: None,
            stop: Stop::Unrecorded,
            origin: self.origin,
            records: Vec::new(),
            marks: Marks::default(),
            revision: 0,
        }
    }

    /// Adds a notice about the current record.
    pub(crate) fn notice(&mut self, severity: Severity, what: &str) {
        self.notices.push(Notice {
            severity,
            origin: self.origin,
            what: Text::clean(what),
        });
    }

    /// Counts a part of a kind that the format does not know; the caller must still show it.
    pub(crate) fn unknown(&mut self, kind: &str, judged: Judged) {
        let kind = Text::stub(kind, KIND_CHARS);
        self.notices.push(Notice {
            severity: Severity::Note,
            origin: self.origin,
            what: Text::clean(&format!("unknown {kind}")),
        });
        self.tally.count_unknown(kind, judged, self.origin);
    }

    /// Counts a field that is not expected in records of this type.
    pub(crate) fn unknown_field(&mut self, record: &str, field: &str) {
        self.tally
            .count_unknown_field(Text::clean(&format!("{record}.{field}")), self.origin);
    }

    /// Drops results, which would become strays without the entries of their calls, and parent
    /// links. Blocks stay, because their pieces tell how a record relates to an existing entry.
    pub(crate) fn strip_contents(&mut self) {
        self.notices.clear();
        self.edits.retain(|edit| {
            !matches!(
                edit,
                Edit::Result { .. } | Edit::State { .. } | Edit::Update { .. } | Edit::Link { .. }
            )
        });
        for edit in &mut self.edits {
            let Edit::Entry(entry) = edit else { continue };
            entry.parent = None;
            entry.blocks.shrink_to_fit();
        }
    }

    /// Whether there is nothing to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.notices.is_empty() && self.mode == BatchMode::Append
    }
}

/// A size as u32; sizes above 4 GiB do not occur in one record and are capped.
pub fn saturating_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Events of an open session, for the thread that shows it.
#[derive(Clone, Debug)]
pub enum Feed {
    /// The session was identified. Comes first, and again when the format becomes clearer.
    Opened(Box<OpenedSession>),
    /// A batch for the transcript on the screen, or for the one that is read in the background.
    Batch {
        /// The transcript to apply it to.
        stage: Stage,
        batch: Box<Batch>,
    },
    /// Progress of the background reading.
    Progress {
        /// Bytes read.
        done: u64,
        /// Bytes of the file.
        total: u64,
    },
    /// Everything that the file held at the start was sent. If a preview was shown, the whole
    /// transcript replaces it now.
    CaughtUp,
    /// A file of the session.
    File {
        /// Its number in origins.
        id: FileId,
        path: Arc<Path>,
    },
    /// The state of the followed file changed.
    Link(LinkState),
    /// Files are polled a few times a second, because file events do not cover all changes.
    Polled(Polled),
    /// The reading thread cannot continue; the transcript stays readable.
    Fault(Text),
}

/// Why files are polled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Polled {
    /// The user requested it.
    Requested,
    /// They are on a file system of this kind, where other machines may write without events.
    Eventless(&'static str),
    /// The system refused to send events, for this reason.
    Refused(Text),
}

/// The transcript that a batch is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The end of a large file, shown until the whole is read.
    Preview,
    Whole,
}

/// What was found out when a session was opened.
#[derive(Clone, Debug)]
pub struct OpenedSession {
    /// Name of the format in JSON outputs.
    pub format: &'static str,
    /// `certain`, `likely`, `maybe`.
    pub confidence: &'static str,
    /// Reason for the choice of the format, in a sentence.
    pub reason: Text,
    /// Path that was opened, for the header.
    pub path: PathBuf,
    /// Commands with which the agent itself resumes the session.
    pub resumes: &'static [Resume],
    /// When the session was last written according to its database, which holds other sessions too.
    /// `None`: the timestamps of its files apply.
    pub written: Option<Timestamp>,
    /// The sessions that are joined into this one, in their order.
    pub joined: Vec<Target>,
}

/// State of the followed file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LinkState {
    /// It exists and is watched.
    #[default]
    Live,
    /// It was truncated or replaced, and read again.
    Reread(Text),
    /// It was truncated to nothing; what was read stays on the screen until something else is
    /// written.
    Emptied,
    /// It was deleted; its content stays on the screen and tv waits for it to return.
    Deleted,
    /// It was moved, to this path if that is known; tv reads on there, and waits for a new one.
    Moved(Option<Text>),
    /// The agent archived it under this name; a new session may begin at its path.
    Archived(Text),
    /// It cannot be read at the moment, for this reason.
    Unreadable(Text),
    /// Some of several joined sessions cannot be followed: which, and why.
    InPart(Text),
    /// The pipe was closed: the session is complete.
    Closed,
}
