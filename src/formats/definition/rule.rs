//! The rules of a definition, which `run` applies to each record.

use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::AtomicU64;

use super::chat::Chat;
use super::head::Head;
use super::kinds::FactKind;
use super::path::Path;
use super::when::{Conditions, Literal};
use crate::formats::roots::{file_name, folder_name};
use crate::model::entry::Role;
use crate::model::entry::sender::SenderKind;
use crate::model::tool::work::Ends;
use crate::model::usage::Scope;

/// A format that is a table of rules.
#[derive(Debug)]
pub struct Definition {
    /// Its properties besides rules.
    pub head: Head,
    /// The file that it was read from; `None` if it came with the program.
    pub file: Option<PathBuf>,
    /// The tables of a database with sessions.
    pub(super) store: Option<Store>,
    /// The syntax of sessions in plain text.
    pub(super) chat: Option<Chat>,
    pub(super) folders: Folders,
    /// The file of a form of the same session that is listed in its place.
    pub(super) instead: Option<String>,
    /// A small file beside the session with facts of it.
    pub(super) beside: Option<String>,
    /// Facts of the session in any record.
    pub(super) facts: Vec<FactRule>,
    /// The rules, in order.
    pub rules: Vec<Rule>,
    /// Fields of entries of records that no rule matches.
    pub(super) unruled: EntryRule,
    /// Names of lanes that are the session itself.
    pub(super) main: Vec<&'static str>,
    /// The id of a record: one with the id of an earlier record is a copy of it.
    pub(super) unique: Option<Path>,
    /// State that the rules need from earlier records.
    pub(super) needs: Needs,
    /// How records change a document, whose elements rules read.
    pub(super) journal: Option<Journal>,
}

/// State that the rules need from earlier records.
#[derive(Debug)]
pub(super) struct Needs {
    /// Calls without results: a rule joins results by order.
    pub(super) by_order: bool,
    /// All entries: a rule undoes some.
    pub(super) undoes_entries: bool,
    /// Usage since the last sum: the agent records sums of the session so far.
    pub(super) sums: bool,
    /// Ids that each run of the program numbers anew.
    pub(super) numbered: Option<Numbered>,
    /// Texts of answers: a rule emits only what no answer says.
    pub(super) unless_answered: bool,
    /// Calls of this tool, which start sub-agents whose records do not name the call.
    pub(super) starter: Option<&'static str>,
    /// Open questions: a rule answers them.
    pub(super) answers: bool,
    /// Whether a rule tells of work that has no id, so that it must be known which calls began some.
    pub(super) commands: bool,
}

/// Ids that each run of the program numbers anew. They show where a run begins whose first record is missing.
#[derive(Debug)]
pub(super) struct Numbered {
    /// The id of an item.
    pub(super) item: Path,
    /// Records after which an item does not change.
    pub(super) done: Conditions,
    /// Records that end a run.
    pub(super) over: Conditions,
}

/// Names of folders with a meaning.
#[derive(Debug)]
pub(super) struct Folders {
    /// The folder of which each file is a record of one session.
    pub(super) records: Option<String>,
    /// The folder with the sessions of the project that it lies in.
    pub(super) within: Option<String>,
    /// The number of folders from the file up to the one that names the session; 0 is the file.
    pub(super) named: usize,
}

/// How records change a document.
#[derive(Debug)]
pub(super) struct Journal {
    /// The path of the change: a list of names and indexes.
    pub(super) path: Path,
    pub(super) value: Path,
    /// The length to which a list is cut.
    pub(super) from: Option<Path>,
    /// Records with the whole document.
    pub(super) whole: Option<Conditions>,
    /// Records that set a value.
    pub(super) set: Option<Conditions>,
    /// Records that cut a list, append to it, or both.
    pub(super) push: Option<Conditions>,
    /// Records that delete a value.
    pub(super) delete: Option<Conditions>,
    /// The list whose elements are the records of the document.
    pub(super) elements: &'static str,
}

impl Definition {
    /// Whether the file at this path is a record of a session that is a folder.
    pub(super) fn is_record(&self, path: &FilePath) -> bool {
        self.folders.records.as_deref() == Some(folder_name(path))
    }

    /// The project folder, for agents that store sessions within it.
    pub(super) fn project<'p>(&self, path: &'p FilePath) -> Option<&'p FilePath> {
        let within = self.folders.within.as_deref()?;
        let own = path
            .ancestors()
            .find(|folder| file_name(folder) == within)?;
        own.parent().filter(|project| project.is_absolute())
    }

    /// Whether a file lies in the folder where the agent writes it.
    pub(super) fn is_at_home(&self, path: &FilePath) -> bool {
        self.folders.records.is_none() || self.is_record(path)
    }
}

/// The tables and columns of a database with sessions.
#[derive(Debug)]
pub(super) enum Store {
    /// Each record is a row.
    Rows(Box<RowStore>),
    /// Each session is one document.
    Documents(Documents),
}

/// Sessions that are documents in a database.
#[derive(Debug)]
pub(super) struct Documents {
    /// A query for all: id, title, time of the last change, id of the session that started it.
    pub(super) list: &'static str,
    /// A query for the document of the session `:session`.
    pub(super) read: &'static str,
    /// Tables with columns that must exist.
    pub(super) has: Vec<(&'static str, &'static str)>,
}

/// Sessions whose records are rows of a database.
#[derive(Debug)]
pub(super) struct RowStore {
    /// The table with a row for each session; without it a session is what its rows name.
    pub(super) sessions: Option<&'static str>,
    pub(super) id: &'static str,
    pub(super) title: Option<&'static str>,
    /// The value of that column for no title.
    pub(super) untitled: &'static str,
    /// The time of the last change: the first of these columns that is filled.
    pub(super) updated: Vec<&'static str>,
    /// The session that started it.
    pub(super) parent: Option<&'static str>,
    /// Conditions of which one holds if it continues that one instead.
    pub(super) continues: Vec<Vec<ColumnTest>>,
    /// The table with the rows of all sessions, in the order in which they were written.
    pub(super) rows: &'static str,
    /// The session of a row: the first of these columns that is filled.
    pub(super) session: Vec<&'static str>,
    /// The time of the last change of a row.
    pub(super) changed: Option<&'static str>,
    /// Conditions on rows that the agent has undone; none if empty.
    pub(super) undone: Vec<ColumnTest>,
    /// Whether sessions are files, and rows count only if the file is gone.
    pub(super) index: bool,
    /// Other tables with columns that must exist.
    pub(super) has: Vec<(&'static str, &'static str)>,
    /// Tables whose rows belong to a row of another one.
    pub(super) with: Vec<Joined>,
}

/// A condition on a column of a row.
#[derive(Debug)]
pub(super) struct ColumnTest {
    /// Whether it is a column of the parent's row.
    pub(super) of_parent: bool,
    pub(super) column: &'static str,
    /// A member of the object in the column.
    pub(super) member: Option<&'static str>,
    pub(super) wanted: ColumnValue,
}

/// The value that a column must have.
#[derive(Clone, Debug)]
pub(super) enum ColumnValue {
    There,
    Missing,
    /// The same as in the parent's row.
    AsInParent,
    OneOf(Vec<Literal>),
}

impl ColumnTest {
    pub(super) fn of(name: &str, wanted: ColumnValue) -> Self {
        let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let (of_parent, name) = match name.strip_prefix("parent.") {
            Some(column) => (true, column),
            None => (false, name),
        };
        let (column, member) = name
            .split_once(':')
            .map_or((name, None), |(column, member)| (column, Some(member)));
        Self {
            of_parent,
            column: leak(column),
            member: member.map(leak),
            wanted,
        }
    }
}

/// A table whose rows are lists in the rows of another one.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) table: &'static str,
    /// Its column that refers to the row.
    pub(super) on: &'static str,
    /// The table and the column that it refers to.
    pub(super) to: (&'static str, &'static str),
    /// The name of the list.
    pub(super) name: &'static str,
}

/// Which records a rule is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// All but headers and small files.
    #[default]
    Record,
    /// The header of a document.
    Header,
    /// Records of companion files.
    Companion,
    /// A small file beside the session.
    Beside,
}

/// A `[[record]]`.
#[derive(Debug, Default)]
pub struct Rule {
    /// Its line in the definition.
    pub line: usize,
    /// Its conditions in words.
    pub(crate) words: String,
    /// How many records it has matched since the program started.
    pub(crate) matched: AtomicU64,
    pub(super) kind: RecordKind,
    pub(super) when: Conditions,
    /// Whether other rules match the same records, too.
    pub(super) also: bool,
    /// Why the record is not shown.
    pub(super) skip: Option<&'static str>,
    pub(super) entry: Option<EntryRule>,
    pub(super) again: RepeatedKey,
    pub(super) blocks: Vec<BlockRule>,
    pub(super) results: Vec<ResultRule>,
    pub(super) usages: Vec<UsageRule>,
    pub(super) mark: Option<MarkRule>,
    pub(super) states: States,
    pub(super) lane: Option<LaneRule>,
    /// Records within the record, and whether they replace all entries so far.
    pub(super) records: Option<(Path, bool)>,
    pub(super) rewind: Option<Rewind>,
    /// State that the record resets.
    pub(super) resets: Resets,
    /// The records within the record come last, and only if no answer has the text at this path.
    pub(super) unless_answered: Option<Path>,
}

/// State that is reset by a record.
#[derive(Debug, Default)]
pub(super) struct Resets {
    /// A run of the program with this name begins: ids are numbered anew.
    pub(super) run: Option<Path>,
    /// Cumulative sums begin anew.
    pub(super) sums: bool,
}

/// What a second record with the same key means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RepeatedKey {
    /// It adds to the entry.
    #[default]
    Join,
    /// It replaces the entry.
    Replace,
    /// It is a copy.
    Keep,
}

/// A flag: a constant, or conditions.
#[derive(Debug)]
pub(super) enum Flag {
    /// Always, or never.
    Fixed(bool),
    /// True if one of these holds.
    If(Vec<Conditions>),
}

/// The roles that agents have words for.
pub(super) fn role_of(word: &str) -> Option<Role> {
    Some(match word.to_lowercase().as_str() {
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" | "agent" | "gpt" | "bot" | "gemini" => Role::Assistant,
        "system" | "developer" => Role::System,
        "harness" => Role::Harness,
        _ => return None,
    })
}

/// The role of an entry.
#[derive(Debug)]
pub(super) enum RoleRule {
    Fixed(Role),
    Named(Path),
}

/// The sender of an entry that no human wrote.
#[derive(Debug)]
pub(super) struct FromRule {
    pub(super) kind: SenderKind,
    pub(super) name: Option<Path>,
}

#[derive(Debug, Default)]
pub(super) struct EntryRule {
    pub(super) role: Option<RoleRule>,
    pub(super) from: Option<FromRule>,
    pub(super) key: Option<Path>,
    pub(super) parent: Option<Path>,
    pub(super) at: Option<Path>,
    pub(super) ended: Option<Path>,
    pub(super) model: Option<Path>,
    pub(super) lane: Option<Path>,
    pub(super) stop: Option<Path>,
    pub(super) title: Option<Path>,
    /// Whether the first one is the prompt of the session.
    pub(super) once: bool,
    pub(super) prompt: Option<Flag>,
    pub(super) quiet: Option<Flag>,
    pub(super) trace: Option<Flag>,
    pub(super) copy: Option<Flag>,
    pub(super) open: Option<Flag>,
    /// Whether the answer is complete, if no `stop` says so.
    pub(super) done: Option<Flag>,
}

#[derive(Debug)]
pub(super) struct BlockRule {
    pub(super) each: Option<Path>,
    pub(super) when: Conditions,
    pub(super) what: BlockSource,
}

#[derive(Debug)]
pub(super) enum BlockSource {
    Text(Path),
    Thinking(Path),
    /// Content as in the APIs of the large providers: a string, or parts with a `type`.
    Content(Path),
    Image {
        data: Path,
        mime: Option<Path>,
    },
    Raw {
        value: Path,
        title: Option<Path>,
    },
    /// A part of an unknown kind with this name.
    Unknown(Path),
    Call(Box<CallRule>),
    Result(Box<ResultRule>),
    Mark(MarkRule),
    Blocks(Vec<BlockRule>),
}

#[derive(Debug)]
pub(super) struct CallRule {
    pub(super) id: CallId,
    pub(super) name: Path,
    pub(super) input: Option<Path>,
    pub(super) started: Option<Path>,
    pub(super) lane: Option<Path>,
    pub(super) lost: Option<Flag>,
    pub(super) result: Option<ResultRule>,
    /// Whether several records have it: the first one counts.
    pub(super) once: bool,
}

/// How results are joined with calls.
#[derive(Debug)]
pub(super) enum CallId {
    /// By an id.
    Path(Path),
    /// By an id if there is one, else by order.
    PathOrOrder(Path),
    /// By order: the agent writes no ids.
    Order,
    /// With the oldest call without a result, if there is one.
    Waiting,
}

#[derive(Debug)]
pub(super) struct ResultRule {
    pub(super) each: Option<Path>,
    pub(super) when: Conditions,
    /// The call; `None` for a result within its call.
    pub(super) of: Option<CallId>,
    pub(super) tool: Option<Path>,
    pub(super) text: Option<Path>,
    pub(super) failed: Option<Flag>,
    pub(super) refused: Option<Flag>,
    /// Whether it is the partial output of a call that has not ended.
    pub(super) running: Option<Flag>,
    pub(super) exit: Option<Path>,
    pub(super) patch: Option<Path>,
    pub(super) at: Option<Path>,
    pub(super) took: Option<Path>,
    /// Whether several records have it: the first one counts.
    pub(super) once: bool,
    /// Whether the agent records the call, but never its result.
    pub(super) unrecorded: bool,
    /// Whether it only says that background work began.
    pub(super) acknowledges: Option<Flag>,
    /// The id of that work.
    pub(super) handle: Option<Path>,
    /// The command of work without an id.
    pub(super) command: Option<Path>,
    /// Whether the end of such work is recorded, if that differs from the format.
    pub(super) ends: Option<Ends>,
}

/// The state of work that continues after the result of its call.
#[derive(Debug)]
pub(super) struct EndRule {
    pub(super) each: Option<Path>,
    pub(super) when: Conditions,
    /// The id of the work.
    pub(super) of: Option<Path>,
    /// The call that began it.
    pub(super) call: Option<Path>,
    /// The word for its state; several words are those of its parts.
    pub(super) status: Option<Path>,
    pub(super) exit: Option<Path>,
    pub(super) at: Option<Path>,
    /// Why it ended so.
    pub(super) reason: Option<Path>,
    /// The model asked.
    pub(super) asked: Option<Flag>,
    /// Where there is no id: what was run, if no other work has run the same.
    pub(super) command: Option<Path>,
    /// It waits to be told to the model.
    pub(super) queued: Option<Flag>,
    /// When the model was told, by what may stand elsewhere.
    pub(super) delivered: Option<Path>,
}

#[derive(Debug, Default)]
pub(super) struct UsageRule {
    pub(super) each: Option<Path>,
    pub(super) when: Conditions,
    /// In the order of [`COUNTS`].
    pub(super) counts: [Option<Path>; COUNTS.len()],
    pub(super) cost: Option<Path>,
    pub(super) model: Option<Path>,
    pub(super) of: Option<Path>,
    pub(super) scope: Scope,
    pub(super) input_includes_cache: bool,
    pub(super) output_includes_reasoning: bool,
    pub(super) cumulative: bool,
    /// Whether it is the sum of the session so far: the next one replaces it, and later requests are added.
    pub(super) so_far: bool,
}

/// The counts of a usage.
pub(super) const COUNTS: [&str; 7] = [
    "input",
    "output",
    "cache_read",
    "cache_write",
    "cache_write_1h",
    "reasoning",
    "searches",
];

#[derive(Debug)]
pub(super) struct MarkRule {
    pub(super) kind: MarkKind,
    pub(super) text: Option<Path>,
    pub(super) before: Option<Path>,
    pub(super) after: Option<Path>,
    pub(super) trigger: Option<Path>,
    /// The call that waits for the answer: its later progress is one.
    pub(super) of: Option<Path>,
}

/// The kinds of separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    Compaction,
    Model,
    Error,
    Interrupted,
    Resumed,
    Setting,
    Ended,
    Branch,
    Waiting,
    Permission,
    Answered,
}

/// The words for them.
pub(super) const MARKS: [(&str, MarkKind); 11] = [
    ("compaction", MarkKind::Compaction),
    ("model", MarkKind::Model),
    ("error", MarkKind::Error),
    ("interrupted", MarkKind::Interrupted),
    ("resumed", MarkKind::Resumed),
    ("setting", MarkKind::Setting),
    ("ended", MarkKind::Ended),
    ("branch", MarkKind::Branch),
    ("waiting", MarkKind::Waiting),
    ("permission", MarkKind::Permission),
    ("answered", MarkKind::Answered),
];

/// The state of calls, and the end of the work that they began.
#[derive(Debug, Default)]
pub(super) struct States {
    pub(super) of_calls: Vec<StateRule>,
    pub(super) of_work: Vec<EndRule>,
}

impl States {
    pub(super) fn is_empty(&self) -> bool {
        self.of_calls.is_empty() && self.of_work.is_empty()
    }
}

#[derive(Debug)]
pub(super) struct StateRule {
    pub(super) of: Path,
    /// Running, or lost.
    pub(super) is_lost: bool,
}

#[derive(Debug)]
pub(super) struct LaneRule {
    pub(super) each: Option<Path>,
    /// The list of sub-agents, if there are several.
    pub(super) of: Option<Path>,
    /// The file beside the session with its records.
    pub(super) file: Option<Path>,
    pub(super) name: Path,
    pub(super) label: Option<Path>,
    pub(super) call: Option<Path>,
    /// How its call is found if no record names it.
    pub(super) by: Option<StarterRule>,
}

/// The call that started a sub-agent: the last one of a tool before its begin.
#[derive(Debug)]
pub(super) struct StarterRule {
    pub(super) tool: &'static str,
    /// When the sub-agent began.
    pub(super) before: Path,
    /// The sub-agent that made the call, if not the session.
    pub(super) of: Option<Path>,
}

/// The entry from which on everything is undone.
#[derive(Debug)]
pub(super) struct Rewind {
    pub(super) to: Path,
    /// Whether that entry is kept.
    pub(super) stays: bool,
}

#[derive(Debug)]
pub(super) struct FactRule {
    pub(super) fact: FactKind,
    pub(super) path: Path,
    /// Whether the first one is kept.
    pub(super) first: bool,
}

impl Rule {
    /// Whether one of its calls or results is joined by order.
    pub(super) fn is_by_order(&self) -> bool {
        self.results.iter().any(ResultRule::is_by_order)
            || self.blocks.iter().any(BlockRule::is_by_order)
    }
}

impl LaneRule {
    /// The last name of the path to files of sub-agents, if records name files.
    pub(super) fn files_word(&self) -> Option<&str> {
        self.file
            .as_ref()
            .and(self.of.as_ref().or(self.file.as_ref()))?
            .last_member()
    }
}

impl BlockRule {
    fn is_by_order(&self) -> bool {
        match &self.what {
            BlockSource::Call(call) => call.id.is_by_order(),
            BlockSource::Result(result) => result.is_by_order(),
            BlockSource::Blocks(blocks) => blocks.iter().any(Self::is_by_order),
            _ => false,
        }
    }
}

impl ResultRule {
    fn is_by_order(&self) -> bool {
        self.of.as_ref().is_some_and(CallId::is_by_order)
    }
}

impl CallId {
    fn is_by_order(&self) -> bool {
        !matches!(self, Self::Path(_))
    }
}
