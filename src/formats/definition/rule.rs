//! The rules of a definition: the tables that `read` parses and `run` applies to each record.

use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::AtomicU64;

use super::chat::Chat;
use super::head::Head;
use super::kinds::FactKind;
use super::path::RecordPath;
use super::template::holder;
use super::when::{Conditions, Literal};
use crate::formats::roots::{file_name, folder_name};
use crate::model::entry::Role;
use crate::model::entry::sender::SenderKind;
use crate::model::tool::work::EndRecording;
use crate::model::usage::Scope;

/// A format defined by a table of rules.
#[derive(Debug)]
pub struct Definition {
    /// Everything except the rules: name, roots, kinds, detection.
    pub head: Head,
    /// The file that the definition was read from; `None` if it is built in.
    pub file: Option<PathBuf>,
    /// The tables of a database with sessions.
    pub(super) store: Option<Store>,
    /// The syntax of sessions in plain text.
    pub(super) chat: Option<Chat>,
    pub(super) folders: FolderRules,
    /// The name of a file with the same session in another form, which is listed instead of this
    /// one.
    pub(super) instead: Option<String>,
    /// The template of a small file beside the session that has facts about it.
    pub(super) facts_file: Option<String>,
    /// Facts of the session, read from every record.
    pub(super) facts: Vec<FactRule>,
    /// The rules in the order in which they are tried.
    pub rules: Vec<RecordRule>,
    /// The fields of entries for records that no rule matches.
    pub(super) unruled: EntryRule,
    /// Lane names that mean the main lane.
    pub(super) main: Vec<&'static str>,
    /// The path of a record's id. A record that repeats an earlier id is a copy.
    pub(super) unique: RecordPath,
    /// The state of earlier records that the rules need.
    pub(super) needs: RuleNeeds,
    /// How records edit a document; the rules then read the elements of that document.
    pub(super) journal: Option<Journal>,
}

/// The state of earlier records that the rules need. State that no rule needs is not collected.
#[derive(Debug)]
pub(super) struct RuleNeeds {
    /// Calls without results, for rules that join results by order.
    pub(super) by_order: bool,
    /// All entries, for rules that undo some of them.
    pub(super) undoes_entries: bool,
    /// Usage since the last sum, for agents that record sums of the session so far.
    pub(super) sums: bool,
    /// Ids that restart with each run of the program.
    pub(super) numbered: Option<Numbered>,
    /// Texts of answers, for rules that emit only texts that no answer has.
    pub(super) unless_answered: bool,
    /// Calls of this tool: they start sub-agents whose records do not name the call.
    pub(super) starter: Option<&'static str>,
    /// Open questions, for rules that answer them.
    pub(super) answers: bool,
    /// The commands of background calls, for rules about the end of work that has no id.
    pub(super) commands: bool,
}

/// Ids that restart with each run of the program. They reveal where a run begins if its first
/// record is missing.
#[derive(Debug)]
pub(super) struct Numbered {
    /// The id of an item.
    pub(super) item: RecordPath,
    /// Records after which an item no longer changes.
    pub(super) done: Conditions,
    /// Records that end a run.
    pub(super) over: Conditions,
}

/// Folder names that have a meaning.
#[derive(Debug)]
pub(super) struct FolderRules {
    /// The folder whose files are the records of one session, one per file.
    pub(super) records: Option<String>,
    /// The folder inside a project that holds the sessions of that project.
    pub(super) within: Option<String>,
    /// How many folders above the file the one that names the session is; 0 means the file itself.
    pub(super) named: usize,
}

/// How records edit a document.
#[derive(Debug)]
pub(super) struct Journal {
    /// The path of the edited value: a list of names and indexes.
    pub(super) path: RecordPath,
    pub(super) value: RecordPath,
    /// The length to which a list is truncated.
    pub(super) from: Option<RecordPath>,
    /// Records that contain the whole document.
    pub(super) whole: Option<Conditions>,
    /// Records that set a value.
    pub(super) set: Option<Conditions>,
    /// Records that truncate a list, append to it, or both.
    pub(super) push: Option<Conditions>,
    /// Records that delete a value.
    pub(super) delete: Option<Conditions>,
    /// The list whose elements the rules read as records.
    pub(super) elements: &'static str,
}

impl Definition {
    /// Whether the file is one record of a session that is a folder.
    pub(super) fn is_record(&self, path: &FilePath) -> bool {
        self.folders.records.as_deref() == Some(folder_name(path))
    }

    /// The project folder, for agents that store sessions inside the project.
    pub(super) fn project<'p>(&self, path: &'p FilePath) -> Option<&'p FilePath> {
        let within = self.folders.within.as_deref()?;
        let own = path
            .ancestors()
            .find(|folder| file_name(folder) == within)?;
        own.parent().filter(|project| project.is_absolute())
    }

    /// The folder that contains all files of the session at `path`.
    pub(super) fn home(&self, path: &FilePath) -> PathBuf {
        let above = if self.folders.records.is_some() && self.is_in_agent_folder(path) {
            self.folders.named.max(1)
        } else {
            1
        };
        let around = (self.head.companions.iter())
            .filter_map(|template| holder(template, path).map(|(folder, _)| folder))
            .min_by_key(|folder| folder.as_os_str().len());
        around
            .or_else(|| path.ancestors().nth(above))
            .unwrap_or(path)
            .to_owned()
    }

    /// Whether the file is in the folder where the agent writes it.
    pub(super) fn is_in_agent_folder(&self, path: &FilePath) -> bool {
        self.folders.records.is_none() || self.is_record(path)
    }
}

/// How a database stores sessions: its tables and columns.
#[derive(Debug)]
pub(super) enum Store {
    /// Each record is a row.
    Rows(Box<RowStore>),
    /// Each session is one document.
    Documents(Documents),
}

/// Sessions that are stored as documents in a database.
#[derive(Debug)]
pub(super) struct Documents {
    /// The query that lists all sessions: id, title, time of the last change, id of the parent
    /// session.
    pub(super) list: &'static str,
    /// The query for the document of one session, with the parameter `:session`.
    pub(super) read: &'static str,
    /// Tables and columns that must exist.
    pub(super) has: Vec<(&'static str, &'static str)>,
}

/// Sessions whose records are rows.
#[derive(Debug)]
pub(super) struct RowStore {
    /// The table with a row per session. Without it, the sessions are the ids found in the rows.
    pub(super) sessions: Option<&'static str>,
    pub(super) id: &'static str,
    pub(super) title: Option<&'static str>,
    /// The value of the title column that means no title.
    pub(super) untitled: &'static str,
    /// The time of the last change: the first non-empty one of these columns.
    pub(super) updated: Vec<&'static str>,
    /// The column with the id of the parent session.
    pub(super) parent: Option<&'static str>,
    /// Alternative conditions under which the session continues its parent, rather than being a
    /// sub-agent of it.
    pub(super) continues: Vec<Vec<ColumnTest>>,
    /// The table with the rows of all sessions, in the order of writing.
    pub(super) rows: &'static str,
    /// The session of a row: the first non-empty one of these columns.
    pub(super) session: Vec<&'static str>,
    /// The column with the time of a row's last change.
    pub(super) changed: Option<&'static str>,
    /// Conditions that identify rows undone by the agent. Empty: no rows are undone.
    pub(super) undone: Vec<ColumnTest>,
    /// Whether the database is an index of session files, so that its rows count only if the file
    /// is gone.
    pub(super) index: bool,
    /// Further tables and columns that must exist.
    pub(super) has: Vec<(&'static str, &'static str)>,
    /// Tables whose rows are attached to the rows of another table.
    pub(super) with: Vec<Joined>,
}

/// A condition on a column of a row.
#[derive(Debug)]
pub(super) struct ColumnTest {
    /// Whether the column belongs to the parent's row.
    pub(super) of_parent: bool,
    pub(super) column: &'static str,
    /// The member to test if the column holds a JSON object.
    pub(super) member: Option<&'static str>,
    pub(super) wanted: ColumnValue,
}

/// The value that a column must have.
#[derive(Clone, Debug)]
pub(super) enum ColumnValue {
    There,
    Missing,
    /// Equal to the same column of the parent's row.
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

/// A table whose rows become a list in each row of another table.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) table: &'static str,
    /// The column that refers to the other table's row.
    pub(super) on: &'static str,
    /// The table and column referred to.
    pub(super) to: (&'static str, &'static str),
    /// The member that holds the list.
    pub(super) name: &'static str,
}

/// The records that a rule applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// All except headers and small files.
    #[default]
    Record,
    /// The header of a document: what surrounds its list of records.
    Header,
    /// Records of companion files.
    Companion,
    /// A small file beside the session.
    Beside,
}

/// A `[[record]]` of a definition.
#[derive(Debug, Default)]
pub struct RecordRule {
    /// The line of the rule in the definition.
    pub line: usize,
    /// The conditions as text, for reports.
    pub(crate) words: String,
    /// The number of records matched since the program started.
    pub(crate) matched: AtomicU64,
    pub(super) kind: RecordKind,
    pub(super) when: Conditions,
    /// Whether further rules may match the same record.
    pub(super) also: bool,
    /// The reason for not showing the record.
    pub(super) skip: Option<&'static str>,
    pub(super) entry: Option<EntryRule>,
    pub(super) again: RepeatedKey,
    pub(super) blocks: Vec<BlockRule>,
    pub(super) results: Vec<ResultRule>,
    pub(super) usages: Vec<UsageRule>,
    pub(super) mark: Option<MarkRule>,
    pub(super) states: States,
    pub(super) lane: Option<LaneRule>,
    /// The path of records within the record, and whether they replace all earlier entries.
    pub(super) records: Option<(RecordPath, bool)>,
    pub(super) rewind: Option<Rewind>,
    /// State that the record resets.
    pub(super) resets: Resets,
    /// Emit the records within the record last, and only if no answer has the text at this path.
    pub(super) unless_answered: Option<RecordPath>,
}

/// The state that a record resets.
#[derive(Debug, Default)]
pub(super) struct Resets {
    /// The record begins a run of the program with this name, whose ids restart.
    pub(super) run: Option<RecordPath>,
    /// Cumulative sums restart at zero.
    pub(super) sums: bool,
}

/// What a second record with the same key does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RepeatedKey {
    /// It is merged into the entry.
    #[default]
    Join,
    /// It replaces the entry.
    Replace,
    /// It is a copy, and passed.
    Keep,
}

/// A boolean: constant, or decided by conditions.
#[derive(Debug)]
pub(super) enum FlagRule {
    Fixed(bool),
    /// True if one of these sets of conditions holds. Flags that are not given have none.
    If(Vec<Conditions>),
}

impl Default for FlagRule {
    fn default() -> Self {
        Self::If(Vec::new())
    }
}

/// The role that an agent's name for it means.
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
    Named(RecordPath),
}

/// The sender of an entry that no human wrote.
#[derive(Debug)]
pub(super) struct FromRule {
    pub(super) kind: SenderKind,
    pub(super) name: RecordPath,
}

#[derive(Debug, Default)]
pub(super) struct EntryRule {
    pub(super) role: Option<RoleRule>,
    pub(super) from: Option<FromRule>,
    pub(super) key: RecordPath,
    pub(super) parent: RecordPath,
    pub(super) at: RecordPath,
    pub(super) ended: RecordPath,
    pub(super) model: RecordPath,
    pub(super) lane: RecordPath,
    pub(super) stop: RecordPath,
    pub(super) title: RecordPath,
    /// Whether only the first such entry is the prompt of the session.
    pub(super) once: bool,
    pub(super) prompt: Option<FlagRule>,
    pub(super) quiet: FlagRule,
    pub(super) trace: FlagRule,
    pub(super) copy: FlagRule,
    pub(super) open: FlagRule,
    /// Whether the answer is complete, used if there is no `stop` field.
    pub(super) done: FlagRule,
}

#[derive(Debug)]
pub(super) struct BlockRule {
    pub(super) each: RecordPath,
    pub(super) when: Conditions,
    pub(super) what: BlockSource,
}

#[derive(Debug)]
pub(super) enum BlockSource {
    Text(RecordPath),
    Thinking(RecordPath),
    /// Content as in the APIs of the large providers: a string, or a list of parts with a `type`.
    Content(RecordPath),
    Image {
        data: RecordPath,
        mime: RecordPath,
    },
    Raw {
        value: RecordPath,
        title: RecordPath,
    },
    /// A part of an unknown kind; the path gives the name of the kind.
    Unknown(RecordPath),
    Call(Box<CallRule>),
    Result(Box<ResultRule>),
    Mark(MarkRule),
    Blocks(Vec<BlockRule>),
}

#[derive(Debug)]
pub(super) struct CallRule {
    pub(super) id: CallId,
    pub(super) name: RecordPath,
    pub(super) input: RecordPath,
    pub(super) started: RecordPath,
    pub(super) lane: RecordPath,
    pub(super) lost: FlagRule,
    pub(super) result: Option<ResultRule>,
    /// Whether several records repeat the call; the first one counts.
    pub(super) once: bool,
}

/// How a result is joined with its call.
#[derive(Debug)]
pub(super) enum CallId {
    /// By an id.
    Path(RecordPath),
    /// By an id if there is one, otherwise by order.
    PathOrOrder(RecordPath),
    /// By order, for agents that write no ids.
    Order,
    /// With the oldest call that has no result, if there is one.
    Waiting,
}

#[derive(Debug)]
pub(super) struct ResultRule {
    pub(super) each: RecordPath,
    pub(super) when: Conditions,
    /// How the call is found; `None` for a result within its call.
    pub(super) of: Option<CallId>,
    pub(super) tool: RecordPath,
    pub(super) text: RecordPath,
    pub(super) failed: FlagRule,
    pub(super) refused: FlagRule,
    /// Whether the call ended early.
    pub(super) stopped: FlagRule,
    /// Whether this is partial output of a call that is still running.
    pub(super) running: FlagRule,
    pub(super) exit: RecordPath,
    pub(super) patch: RecordPath,
    pub(super) at: RecordPath,
    pub(super) took: RecordPath,
    /// Whether several records repeat the result; the first one counts.
    pub(super) once: bool,
    /// Whether the agent records the call but never its result.
    pub(super) unrecorded: bool,
    /// Whether the result only acknowledges that background work began.
    pub(super) acknowledges: Option<FlagRule>,
    /// The id of the background work.
    pub(super) handle: RecordPath,
    /// The command of background work that has no id.
    pub(super) command: RecordPath,
    /// Whether the agent records the end of this work, if that differs from the format's `ends`.
    pub(super) ends: Option<EndRecording>,
}

/// An update of work that continues after the result of its call.
#[derive(Debug)]
pub(super) struct EndRule {
    pub(super) each: RecordPath,
    pub(super) when: Conditions,
    /// The id of the work.
    pub(super) of: RecordPath,
    /// The call that started the work.
    pub(super) call: RecordPath,
    /// The agent's name for the state; several values are the states of the parts of the work.
    pub(super) status: RecordPath,
    pub(super) exit: RecordPath,
    pub(super) at: RecordPath,
    /// Why the work ended.
    pub(super) reason: RecordPath,
    /// Whether the model requested this update.
    pub(super) asked: FlagRule,
    /// The command of work without an id. It identifies the work only if no other work ran the same
    /// command.
    pub(super) command: RecordPath,
    /// Whether the update is queued and not yet delivered to the model.
    pub(super) queued: FlagRule,
    /// The time of delivery to the model, which may be recorded in another record.
    pub(super) delivered: RecordPath,
}

#[derive(Debug, Default)]
pub(super) struct UsageRule {
    pub(super) each: RecordPath,
    pub(super) when: Conditions,
    /// The paths of the counts, in the order of [`COUNTS`].
    pub(super) counts: [RecordPath; COUNTS.len()],
    pub(super) cost: RecordPath,
    pub(super) model: RecordPath,
    pub(super) of: RecordPath,
    pub(super) scope: Scope,
    pub(super) input_includes_cache: bool,
    pub(super) output_includes_reasoning: bool,
    pub(super) cumulative: bool,
    /// Whether this is the sum of the session so far: the next sum replaces it, and later requests
    /// are added to it.
    pub(super) so_far: bool,
}

/// The names of token counts in a definition.
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
    pub(super) text: RecordPath,
    pub(super) before: RecordPath,
    pub(super) after: RecordPath,
    pub(super) trigger: RecordPath,
    /// The call that waits for the answer. Any later progress of that call answers the question.
    pub(super) of: RecordPath,
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

/// The names of separators in a definition.
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

/// Updates of calls and of the background work that they started.
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
    pub(super) of: RecordPath,
    /// Whether the call is lost; otherwise it is running.
    pub(super) is_lost: bool,
}

#[derive(Debug)]
pub(super) struct LaneRule {
    pub(super) each: RecordPath,
    /// The list of sub-agents, if the record names several.
    pub(super) of: RecordPath,
    /// The file beside the session that holds the records of the sub-agent.
    pub(super) file: RecordPath,
    pub(super) name: RecordPath,
    pub(super) label: RecordPath,
    pub(super) call: RecordPath,
    /// How the call is found if no record names it.
    pub(super) by: Option<StarterRule>,
}

/// How the call that started a sub-agent is found: the last call of a tool before the sub-agent
/// began.
#[derive(Debug)]
pub(super) struct StarterRule {
    pub(super) tool: &'static str,
    /// When the sub-agent began.
    pub(super) before: RecordPath,
    /// The lane that made the call, if not the main lane.
    pub(super) of: RecordPath,
}

/// The entry from which on all entries are undone.
#[derive(Debug)]
pub(super) struct Rewind {
    pub(super) to: RecordPath,
    /// Whether that entry itself stays.
    pub(super) stays: bool,
}

#[derive(Debug)]
pub(super) struct FactRule {
    pub(super) fact: FactKind,
    pub(super) path: RecordPath,
    /// Whether the first one stays.
    pub(super) first: bool,
}

impl RecordRule {
    /// Whether the rule joins results with calls by order.
    pub(super) fn is_by_order(&self) -> bool {
        self.results.iter().any(ResultRule::is_by_order)
            || self.blocks.iter().any(BlockRule::is_by_order)
    }
}

impl LaneRule {
    /// The last member name of the path to sub-agents' files, if records name such files.
    pub(super) fn files_word(&self) -> Option<&str> {
        let of = [&self.of, &self.file]
            .into_iter()
            .find(|path| path.is_given());
        of.filter(|_| self.file.is_given())?.last_member()
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
