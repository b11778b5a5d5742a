//! The only way into a transcript: edits in batches, and the feed that carries them.
//!
//! **Entries come in pieces.** Agents spread a message over several records. An edit names the entry by its key
//! and its blocks by the `model::entry::Piece` that brought them: the same piece sent again replaces, a new one is
//! added. Streams, late results, rewritten files and replayed history are all the same mechanism; a replacement of
//! the whole session drops what it does not name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::body::{Body, BodyFlags, Held, Key, Tree};
use super::entry::{Entry, Marks, Piece, Role, Stop};
use super::found::Place;
pub use super::meta::MetaEdit;
use super::record::{FileId, Origin};
use super::resume::Resume;
use super::tally::unknown::Judged;
use super::tally::{Fate, Tally};
use super::text::stub::Manner;
use super::text::{Name, Text, count_lines, prefix};
use super::timestamp::Timestamp;
use super::tool::work::{About, Update};
use super::tool::{ToolResult, ToolState};
use super::usage::Usage;

/// One change of a transcript. Edits are upserts: applying one twice changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Adds the entry, or updates the one with its key: fields that are recorded replace, blocks replace
    /// those of the same [`Piece`] and are appended if the piece is new.
    Entry(Box<Entry>),
    /// A tool's result; it joins the last open call with this id (in one message the first, in its own
    /// lane before any other), else it shows as a stray.
    Result {
        /// The id of the call.
        call: Key,
        /// The result.
        result: Box<ToolResult>,
        /// Lane, for a result that stays a stray.
        lane: Option<Name>,
    },
    /// What the agent says of a call without giving its result: running, lost.
    State {
        /// The id of the call.
        call: Key,
        /// The new state; ignored if the call has a result.
        state: ToolState,
    },
    /// What a record tells of work that went on after the result of its call.
    Update {
        /// Which work.
        about: About,
        /// What is told.
        update: Update,
        /// The lane in which it is told.
        lane: Option<Name>,
    },
    /// Usage recorded beside an entry. If an entry has the key, it is that entry's usage.
    Usage {
        /// The entry, or an identity of its own.
        of: Key,
        /// What was spent.
        usage: Box<Usage>,
        /// The model it was spent on.
        model: Option<Name>,
    },
    /// A record that is a link of the parent chain without being an entry.
    Link {
        /// Its id.
        key: Key,
        /// The id of its parent.
        parent: Option<Key>,
    },
    /// A fact about the session.
    Meta(MetaEdit),
    /// The entry no longer exists.
    Retire(Key),
    /// A piece of an entry no longer exists.
    RetirePiece {
        /// The entry.
        of: Key,
        /// The piece.
        piece: Piece,
    },
    /// A file repeats to a lane what another lane said before: the entries that it brought the lane go.
    Copied {
        /// The lane.
        lane: Option<Name>,
        /// The record of the file before which all is copied.
        before: Origin,
    },
    /// An entry of a lane turns out to be a copy of what another lane says now: it goes, and with it all that its file
    /// brought the lane before it.
    CopiedWith(Key),
    /// What a copy of an entry says was spent for it: of two accounts the one with more output counts. Nothing is
    /// spent by the copy itself.
    Complete {
        /// The entry.
        of: Key,
        /// What the copy says.
        usage: Box<Usage>,
    },
}

/// How a batch relates to what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Its edits come on top.
    #[default]
    Append,
    /// It begins a replacement of the whole session, beside what is there.
    ReplaceStart,
    /// It goes on with a replacement.
    ReplaceMore,
    /// It ends a replacement, which takes the place of what was there.
    ReplaceEnd,
    /// It is a whole replacement by itself.
    Replace,
}

impl Mode {
    /// Whether a replacement begins with the batch.
    pub(crate) fn begins(self) -> bool {
        matches!(self, Self::ReplaceStart | Self::Replace)
    }

    /// Whether a replacement is complete with the batch.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::ReplaceEnd | Self::Replace)
    }
}

/// Something odd that the reader should know, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub origin: Origin,
    /// What, in a sentence without a full stop.
    pub what: Text,
}

/// How bad a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Odd, nothing is lost.
    Note,
    /// Something could not be understood and is shown raw.
    Warning,
    /// A record could not be read.
    Error,
}

/// Edits of some records, with the tally of all records so far.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// How it relates to what is there.
    pub mode: Mode,
    /// The edits in file order.
    pub edits: Vec<Edit>,
    /// What was odd.
    pub(crate) notices: Vec<Notice>,
    /// Fates of all records of the session up to and including this batch.
    pub tally: Tally,
    /// Further files or sessions that belong to this one, found in its records. Format-specific ids
    /// that `Format::follow_up` understands.
    pub wanted: Vec<Text>,
    /// Leave bodies on disk: only stubs are made.
    pub stubs_only: bool,
    /// Only what counts is asked for: of bodies nothing is told but where they stand.
    pub(crate) is_counted: bool,
    /// Bodies stand nowhere else: they came through a pipe, or no record holds them as they are.
    pub(crate) is_piped: bool,
    /// The format of the records, which says what their kinds are called; empty before the first one.
    pub(crate) format: &'static str,
    /// No name of a kind counts: it is tried which ones the decoder knows by itself.
    pub(crate) is_nameless: bool,
    origin: Origin,
    slot: u16,
    /// Bytes of the bodies that were made of the record.
    made: usize,
}

/// Characters of the name of a kind.
pub(crate) const KIND_CHARS: usize = 120;
/// Characters that a stub shows.
const STUB_CHARS: usize = 160;
/// Texts up to this size in bytes are their own stub.
const STUB_BYTES: usize = 160;

impl Batch {
    /// Starts the next record: bodies made from here on belong to it.
    pub(crate) fn begin_record(&mut self, origin: Origin) {
        self.origin = origin;
        self.slot = 0;
        self.made = 0;
    }

    /// How many bytes the bodies have that were made of the record so far.
    pub(crate) fn made(&self) -> usize {
        self.made
    }

    /// The record that is being decoded.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// A key for a record that has no id of its own. It depends on the place only.
    pub(crate) fn origin_key(&self) -> Key {
        Text::clean(&format!("@{}:{}", self.origin.file.0, self.origin.at))
    }

    /// A body of prose.
    pub fn prose(&mut self, raw: &str) -> Body {
        self.body(raw, Manner::Prose)
    }

    /// A body of tool output: SGR colours survive.
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

    /// A body that is a tree. `headline` is its stub, `bytes` its size in the file.
    pub fn tree(&mut self, headline: &Text, bytes: usize, tree: impl FnOnce() -> Tree) -> Body {
        self.made = self.made.saturating_add(bytes);
        let held = if self.stubs_only {
            Held::Away
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
        self.made = self.made.saturating_add(size);
        let lines = count_lines(raw);
        let is_short = size <= STUB_BYTES && !raw.contains(['\n', '\u{1b}']);
        let (stub, held) = if is_short {
            (Text::clean(raw), Held::Stub)
        } else {
            let stub = Text::stub_cleaned(prefix(raw, 4 * STUB_CHARS), STUB_CHARS, manner);
            (
                stub,
                if self.stubs_only {
                    Held::Away
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

    /// Reads what is not to be told of the record. Bodies that are told after it have the slots that they have if all of
    /// the record is told.
    pub(crate) fn pass_over<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
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

    /// Adds an edit.
    pub fn push(&mut self, edit: Edit) {
        self.edits.push(edit);
    }

    /// Adds an entry.
    pub(crate) fn entry(&mut self, entry: Entry) {
        self.edits.push(Edit::Entry(Box::new(entry)));
    }

    /// Adds an entry that its record is shown by.
    pub(crate) fn show(&mut self, entry: Entry) -> Fate {
        self.entry(entry);
        Fate::Shown
    }

    /// Adds a fact about the session.
    pub(crate) fn meta(&mut self, edit: MetaEdit) {
        if let MetaEdit::Version(version) = &edit {
            self.tally.note_version(version, self.origin);
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

    /// Adds what came of a call.
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

    /// Adds what a record tells of work in the background.
    pub(crate) fn update(&mut self, about: About, update: Update, lane: Option<Name>) {
        self.push(Edit::Update {
            about,
            update,
            lane,
        });
    }

    /// Adds what was spent for an entry, or beside all of them.
    pub(crate) fn usage(&mut self, of: Key, usage: impl Into<Box<Usage>>, model: Option<Name>) {
        let usage = usage.into();
        self.push(Edit::Usage { of, usage, model });
    }

    pub(crate) fn retire_piece(&mut self, of: Key, piece: Piece) {
        self.push(Edit::RetirePiece { of, piece });
    }

    /// An entry without blocks for the record that is being decoded, to be filled in.
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
            blocks: Vec::new(),
            usage: None,
            stop: Stop::Unrecorded,
            origin: self.origin,
            records: Vec::new(),
            marks: Marks::default(),
            revision: 0,
        }
    }

    /// Notes something odd about the record that is being decoded.
    pub(crate) fn notice(&mut self, severity: Severity, what: &str) {
        self.notices.push(Notice {
            severity,
            origin: self.origin,
            what: Text::clean(what),
        });
    }

    /// Notes something of a kind that the format does not know; it must still be shown.
    pub(crate) fn unknown(&mut self, kind: &str, judged: Judged) {
        let kind = Text::stub(kind, KIND_CHARS);
        self.notices.push(Notice {
            severity: Severity::Note,
            origin: self.origin,
            what: Text::clean(&format!("unknown {kind}")),
        });
        self.tally.note_unknown(kind, judged, self.origin);
    }

    /// Notes a field that records of this type are not known to have.
    pub(crate) fn unknown_field(&mut self, record: &str, field: &str) {
        self.tally
            .note_unknown_field(Text::clean(&format!("{record}.{field}")), self.origin);
    }

    /// Leaves out what came of calls, for without what was said each result would stand alone; and how records hang
    /// together. Blocks stay: by their pieces it is told what a record is to an entry that is there.
    pub(crate) fn forget_contents(&mut self) {
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
        self.edits.is_empty() && self.notices.is_empty() && self.mode == Mode::Append
    }
}

/// A size as u32; sizes above 4 GiB do not occur in one record and are capped.
pub fn saturating_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// What an open session sends to whoever shows it.
#[derive(Clone, Debug)]
pub enum Feed {
    /// What was found. Comes first, and again when the format becomes clearer.
    Opened(Box<Opened>),
    /// Edits for the transcript on the screen, or for the one that is being read in the background.
    Batch {
        /// Which transcript.
        stage: Stage,
        /// The edits.
        batch: Box<Batch>,
    },
    /// How far the background reading is.
    Progress {
        /// Bytes read.
        done: u64,
        /// Bytes in the file.
        total: u64,
    },
    /// Everything that was in the file at the start is sent. If a preview was shown, the whole
    /// transcript takes its place now.
    CaughtUp,
    /// The contents of bodies that were away, by record, in slot order.
    Bodies(Vec<(Origin, Vec<Held>)>),
    /// A file of the session.
    File {
        /// Its number in origins.
        id: FileId,
        /// Where it lies.
        path: Arc<Path>,
    },
    /// How the file fares.
    Link(LinkState),
    /// Files are looked at a few times a second, because events do not tell all that happens to them.
    Polled(Polled),
    /// The thread that reads cannot go on; the transcript stays readable.
    Fault(Text),
}

/// Why files are looked at a few times a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Polled {
    /// It was asked for.
    Asked,
    /// They lie on a file system of this kind, to which others may write unseen.
    Unsure(&'static str),
    /// The system gives no events; says why.
    Refused(Text),
}

/// Which transcript a batch is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The end of a large file, shown until the whole is known.
    Preview,
    /// The whole session.
    Whole,
}

/// What was found when a session was opened.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The format's name as in the JSON outputs.
    pub format: &'static str,
    /// `certain`, `likely`, `maybe`.
    pub confidence: &'static str,
    /// Why this format, in a sentence.
    pub reason: Text,
    /// What was opened, for the header.
    pub path: PathBuf,
    /// How the agent itself goes on with the session.
    pub resumes: &'static [Resume],
    /// When something of it was last written, as its database says, in which other sessions lie beside it. `None`:
    /// its files tell.
    pub written: Option<Timestamp>,
    /// The sessions that are read as one, in their order.
    pub joined: Vec<Place>,
}

/// How the followed file fares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LinkState {
    /// It is there and watched.
    #[default]
    Live,
    /// It was cut or replaced; it was read anew.
    Reread(Text),
    /// All of it was cut off; what was read stays on the screen until something else is written.
    Emptied,
    /// It is gone; its content stays on the screen and its return is awaited.
    Gone,
    /// It was moved away, to where if that is known; it is read on there, and another one awaited.
    Moved(Option<Text>),
    /// Its agent put it aside, under the name that is recorded; a new session may begin in its place.
    Archived(Text),
    /// It cannot be read just now.
    Unreadable(Text),
    /// Of several sessions that are read as one some cannot be read on: which, and why.
    InPart(Text),
    /// The pipe was closed: nothing more will come.
    Closed,
}
