//! A definition, compiled: the table of rules that `run` goes through for each record.

use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::AtomicU64;

use super::chat::Chat;
use super::head::Head;
use super::kinds::Fact;
use super::path::Path;
use super::when::{Literal, When};
use crate::formats::roots::{file_name, folder_name};
use crate::model::entry::Role;
use crate::model::entry::sender::SenderKind;
use crate::model::record::Shape;
use crate::model::text::Name;
use crate::model::tool::work::Ends;
use crate::model::usage::Scope;

/// A format that is a table of rules.
#[derive(Debug)]
pub struct Definition {
    /// What is known of it besides its rules.
    pub head: Head,
    /// The file that it was read from; `None` if it came with the program.
    pub file: Option<PathBuf>,
    /// How sessions lie on disk.
    pub(super) shapes: Vec<Shape>,
    /// The tables of a database that hold them.
    pub(super) store: Option<Store>,
    /// How sessions are written that are plain text.
    pub(super) chat: Option<Chat>,
    pub(super) folders: Folders,
    /// The file of a form of the same session that is listed in its place.
    pub(super) instead: Option<String>,
    /// A small file beside the session with facts of it.
    pub(super) beside: Option<String>,
    /// What identifies it.
    pub(super) detect: Detect,
    /// Facts of the session, wherever they come up.
    pub(super) facts: Vec<FactRule>,
    /// The rules, in order.
    pub rules: Vec<Rule>,
    /// What is known of entries of which no rule speaks.
    pub(super) unruled: EntryRule,
    /// Names of lanes that are the session itself.
    pub(super) main: Vec<&'static str>,
    /// An id that no two records have: one that has it again is the same.
    pub(super) unique: Option<Path>,
    /// What must be known of earlier records.
    pub(super) needs: Needs,
    /// How records change a state of which rules read parts.
    pub(super) journal: Option<Journal>,
}

/// What must be known of earlier records.
#[derive(Debug)]
pub(super) struct Needs {
    /// Whether results join calls by their order, so that it must be known which calls wait.
    pub(super) by_order: bool,
    /// Whether a rule takes entries back, so that it must be known which there are.
    pub(super) takes_back: bool,
    /// Whether the agent sums up what its session has spent so far, so that it must be known what came after that.
    pub(super) sums: bool,
    /// What each run of the program numbers anew.
    pub(super) numbered: Option<Numbered>,
    /// Whether a rule shows what no entry says, so that it must be known what they say.
    pub(super) unsaid: bool,
    /// The tool whose calls start sub-agents that name none, so that it must be known which there are.
    pub(super) starter: Option<&'static str>,
    /// Whether a rule answers questions, so that it must be known which are open.
    pub(super) answers: bool,
}

/// What each run of the program numbers anew, by which one is known whose beginning is lost.
#[derive(Debug)]
pub(super) struct Numbered {
    /// The id of an item.
    pub(super) item: Path,
    /// Records after which an item is what it is.
    pub(super) done: When,
    /// Records with which a run is over.
    pub(super) over: When,
}

/// Names of folders that say something.
#[derive(Debug)]
pub(super) struct Folders {
    /// Of which each file is a record of one session.
    pub(super) records: Option<String>,
    /// With sessions about the folder that holds it.
    pub(super) within: Option<String>,
    /// How many folders above its file the name of a session stands; 0 is the file.
    pub(super) named: usize,
}

/// How records change a state.
#[derive(Debug)]
pub(super) struct Journal {
    /// Where a record changes something: a list of names and numbers.
    pub(super) path: Path,
    /// What it brings.
    pub(super) value: Path,
    /// From which element on a list is cut.
    pub(super) from: Option<Path>,
    /// Records that bring all of the state.
    pub(super) whole: Option<When>,
    /// Records that put a value in place of another one.
    pub(super) set: Option<When>,
    /// Records that cut a list, add to it, or both.
    pub(super) push: Option<When>,
    /// Records that take a value away.
    pub(super) delete: Option<When>,
    /// The list of which the elements are those of a document.
    pub(super) elements: Option<Name>,
}

/// Which parts of a state a rule is for.
#[derive(Debug)]
pub(super) struct PartRule {
    pub(super) of: Vec<PartOf>,
    /// So many steps lead to the element that a part belongs to: that of the outermost list.
    pub(super) owner: usize,
    /// When something better is there.
    pub(super) unless: Option<Flag>,
}

/// A step to parts of a state.
#[derive(Debug, PartialEq)]
pub(super) enum PartOf {
    Member(Name),
    /// Each element of a list.
    Each,
}

impl Definition {
    /// Whether the file at this path is a record of a session that is a folder.
    pub(super) fn is_record(&self, path: &FilePath) -> bool {
        self.folders.records.as_deref() == Some(folder_name(path))
    }

    /// The folder that a session is about, of agents that keep sessions within it.
    pub(super) fn project<'p>(&self, path: &'p FilePath) -> Option<&'p FilePath> {
        let within = self.folders.within.as_deref()?;
        let own = path
            .ancestors()
            .find(|folder| file_name(folder) == within)?;
        own.parent().filter(|project| project.is_absolute())
    }

    /// Whether a file lies where the agent puts it, with others around it.
    pub(super) fn is_at_home(&self, path: &FilePath) -> bool {
        self.folders.records.is_none() || self.is_record(path)
    }
}

/// Rows on sessions that lie in files, in a database that the agent keeps beside them.
#[derive(Debug)]
pub(crate) struct RowsBeside {
    /// Where it lies.
    pub(crate) database: String,
    pub(super) table: &'static str,
    /// Its column with the name of the session.
    pub(super) session: &'static str,
}

/// Which tables of a database hold sessions, and their columns.
#[derive(Debug)]
pub(super) enum Store {
    /// Each record is a row.
    Rows(Box<RowStore>),
    /// Each session is one document.
    Documents(Documents),
}

/// Sessions of which each is one document in a database.
#[derive(Debug)]
pub(super) struct Documents {
    /// A query for all: id, title, time of the last change, id of the session that started it.
    pub(super) list: &'static str,
    /// A query for the document of the session `:session`.
    pub(super) read: &'static str,
    /// Tables with columns that must be there.
    pub(super) has: Vec<(&'static str, &'static str)>,
}

/// Sessions whose records are rows of a database.
#[derive(Debug)]
pub(super) struct RowStore {
    /// The table with a row for each session; without it a session is what its rows name.
    pub(super) sessions: Option<&'static str>,
    pub(super) id: &'static str,
    pub(super) title: Option<&'static str>,
    /// What that says where there is no title.
    pub(super) untitled: &'static str,
    /// When it last changed: the first of these columns that is filled.
    pub(super) updated: Vec<&'static str>,
    /// The session that started it.
    pub(super) parent: Option<&'static str>,
    /// When it continues that one instead: one of these must hold.
    pub(super) continues: Vec<Vec<ColumnTest>>,
    /// The table with the rows of all sessions, in the order in which they were written.
    pub(super) rows: &'static str,
    /// The session of a row: the first of these columns that is filled.
    pub(super) session: Vec<&'static str>,
    /// When a row was last changed.
    pub(super) changed: Option<&'static str>,
    /// Which rows the agent has taken back; none if this is empty.
    pub(super) undone: Vec<ColumnTest>,
    /// Whether the records of sessions lie in files, and rows are of use only where those are gone.
    pub(super) index: bool,
    /// Tables with columns that must be there, too.
    pub(super) has: Vec<(&'static str, &'static str)>,
    /// Tables whose rows belong to a row of another one.
    pub(super) with: Vec<Joined>,
}

/// What must hold of a column of a row.
#[derive(Debug)]
pub(super) struct ColumnTest {
    /// Whether it is one of the parent's row.
    pub(super) of_parent: bool,
    pub(super) column: &'static str,
    /// The member of an object in it.
    pub(super) member: Option<&'static str>,
    pub(super) wanted: Wanted,
}

/// What a column must hold.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    There,
    Missing,
    /// The same as in the parent's row.
    AsInParent,
    OneOf(Vec<Literal>),
}

impl ColumnTest {
    pub(super) fn of(name: &str, wanted: Wanted) -> Self {
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

/// A table whose rows belong to those of another one, and are a list in them.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) table: &'static str,
    /// Its column that names the row it belongs to.
    pub(super) on: &'static str,
    /// The table and the column with that name.
    pub(super) to: (&'static str, &'static str),
    /// What the list is called.
    pub(super) name: &'static str,
}

/// Marks of a format by how decisive they are.
#[derive(Debug, Default)]
pub(super) struct Detect {
    /// Of any record.
    pub(super) certain: Vec<Mark>,
    /// Of nearly all records.
    pub(super) likely: Vec<Mark>,
    /// Of nearly all records, and proves nothing.
    pub(super) maybe: Vec<Mark>,
    /// Of any record: it is another format.
    pub(super) never: Vec<Mark>,
}

/// What a record of the format looks like.
#[derive(Debug)]
pub(super) struct Mark {
    /// Whether it is the header of a document.
    pub(super) is_header: bool,
    /// What holds of it.
    pub(super) when: When,
    /// The same in words.
    pub(super) words: String,
}

/// Which records a rule is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// All but headers and files beside.
    #[default]
    Record,
    /// What surrounds the messages of a document.
    Header,
    /// Records of companions.
    Companion,
    /// A small file beside the session.
    Beside,
    /// Parts of a state that records change.
    Part,
}

/// A rule.
#[derive(Debug, Default)]
pub struct Rule {
    /// Its line in the definition.
    pub line: usize,
    /// Which records it is for, in words.
    pub(crate) words: String,
    /// How many it has taken since the program began.
    pub(crate) taken: AtomicU64,
    pub(super) kind: Kind,
    pub(super) part: Option<PartRule>,
    pub(super) when: When,
    /// Whether it takes nothing away: it sees what other rules take, and they what it sees.
    pub(super) also: bool,
    /// Why there is nothing to show.
    pub(super) skip: Option<&'static str>,
    pub(super) entry: Option<EntryRule>,
    pub(super) again: Again,
    pub(super) blocks: Vec<BlockRule>,
    pub(super) results: Vec<ResultRule>,
    pub(super) usages: Vec<UsageRule>,
    pub(super) mark: Option<MarkRule>,
    pub(super) states: States,
    pub(super) lane: Option<LaneRule>,
    /// Records within the record, and whether they replace all that there was.
    pub(super) records: Option<(Path, bool)>,
    pub(super) rewind: Option<Rewind>,
    /// What begins anew.
    pub(super) anew: Anew,
    /// The records within the record stand behind all others, and only if no answer says the text at this path.
    pub(super) unsaid: Option<Path>,
}

/// What begins anew with a record.
#[derive(Debug, Default)]
pub(super) struct Anew {
    /// A run of the program, with this name: ids begin anew.
    pub(super) run: Option<Path>,
    /// Sums of all so far.
    pub(super) sums: bool,
}

/// What the same key again means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Again {
    /// A further part of the entry.
    #[default]
    Join,
    /// The entry as it is now.
    Replace,
    /// Nothing new.
    Keep,
}

/// A part of what a rule says of a value that may be a constant.
#[derive(Debug)]
pub(super) enum Flag {
    /// Always, or never.
    Fixed(bool),
    /// If one of these holds.
    If(Vec<When>),
}

/// Whom a word names that agents use for roles.
pub(super) fn role_of(word: &str) -> Option<Role> {
    Some(match word.to_lowercase().as_str() {
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" | "agent" | "gpt" | "bot" | "gemini" => Role::Assistant,
        "system" | "developer" => Role::System,
        "harness" => Role::Harness,
        _ => return None,
    })
}

/// Who speaks.
#[derive(Debug)]
pub(super) enum RoleRule {
    Fixed(Role),
    Named(Path),
}

/// Who wrote what no human wrote.
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
    /// The first one is the prompt of the session, which has no other.
    pub(super) once: bool,
    pub(super) prompt: Option<Flag>,
    pub(super) quiet: Option<Flag>,
    pub(super) trace: Option<Flag>,
    pub(super) copy: Option<Flag>,
    pub(super) open: Option<Flag>,
    /// The model has said all, where no `stop` says so.
    pub(super) done: Option<Flag>,
}

#[derive(Debug)]
pub(super) struct BlockRule {
    pub(super) each: Option<Path>,
    pub(super) when: When,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Text(Path),
    Thinking(Path),
    /// Content in the manner of the large providers: a string, or parts with a `type`.
    Content(Path),
    Image {
        data: Path,
        mime: Option<Path>,
    },
    Raw {
        value: Path,
        title: Option<Path>,
    },
    /// A part of a kind that has no rule: this is its name.
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
    /// Records tell it twice: the first to tell it has it.
    pub(super) once: bool,
}

/// How calls and results find each other.
#[derive(Debug)]
pub(super) enum CallId {
    /// By an id.
    Path(Path),
    /// By an id if there is one, else by their order.
    PathOrOrder(Path),
    /// By their order: the agent writes no ids.
    Order,
    /// The call that waits, if one does: of results alone.
    Waiting,
}

#[derive(Debug)]
pub(super) struct ResultRule {
    pub(super) each: Option<Path>,
    pub(super) when: When,
    /// The call; `None` for a result within its call.
    pub(super) of: Option<CallId>,
    pub(super) tool: Option<Path>,
    pub(super) text: Option<Path>,
    pub(super) failed: Option<Flag>,
    pub(super) refused: Option<Flag>,
    /// It has not ended: what is there is what it has put out so far.
    pub(super) running: Option<Flag>,
    pub(super) exit: Option<Path>,
    pub(super) patch: Option<Path>,
    pub(super) at: Option<Path>,
    pub(super) took: Option<Path>,
    /// Records tell it again: the first to tell it has it.
    pub(super) once: bool,
    /// The agent records that there was a call, and nothing of what came of it.
    pub(super) unrecorded: bool,
    /// It only says that work began, which goes on.
    pub(super) acknowledges: Option<Flag>,
    /// The id of that work.
    pub(super) handle: Option<Path>,
    /// Whether it is recorded how such work ends, if that is another thing than what holds for the format.
    pub(super) ends: Option<Ends>,
}

/// How work ended that went on after the result of its call, or that it goes on.
#[derive(Debug)]
pub(super) struct EndRule {
    pub(super) when: When,
    /// The id of the work.
    pub(super) of: Option<Path>,
    /// The call that began it.
    pub(super) call: Option<Path>,
    /// The word for how it stands.
    pub(super) status: Option<Path>,
    pub(super) exit: Option<Path>,
    pub(super) at: Option<Path>,
}

#[derive(Debug, Default)]
pub(super) struct UsageRule {
    pub(super) each: Option<Path>,
    pub(super) when: When,
    /// In the order of [`COUNTS`].
    pub(super) counts: [Option<Path>; COUNTS.len()],
    pub(super) cost: Option<Path>,
    pub(super) model: Option<Path>,
    pub(super) of: Option<Path>,
    pub(super) scope: Scope,
    pub(super) input_includes_cache: bool,
    pub(super) output_includes_reasoning: bool,
    pub(super) cumulative: bool,
    /// It sums up all of the session so far: the next one takes its place, and requests after it come on top.
    pub(super) so_far: bool,
}

/// What a usage counts.
pub(super) const COUNTS: [&str; 7] = [
    "input",
    "output",
    "cache_read",
    "cache_write",
    "cache_write_1h",
    "reasoning",
    "searches",
];

/// A line across the transcript.
#[derive(Debug)]
pub(super) struct MarkRule {
    pub(super) kind: MarkKind,
    pub(super) text: Option<Path>,
    pub(super) before: Option<Path>,
    pub(super) after: Option<Path>,
    pub(super) trigger: Option<Path>,
    /// The call that waits for the answer: what it does later is one.
    pub(super) of: Option<Path>,
}

/// What a line across the transcript says.
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

/// What a record says of how calls stand, and of how the work ended that they began.
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
    /// The sub-agents that it names, if these may be several.
    pub(super) of: Option<Path>,
    /// The file beside the session that holds its records.
    pub(super) file: Option<Path>,
    pub(super) name: Path,
    pub(super) label: Option<Path>,
    pub(super) call: Option<Path>,
    /// How its call is found if its records name none.
    pub(super) by: Option<StarterRule>,
}

/// The call that started a sub-agent: the last one of a tool before that began.
#[derive(Debug)]
pub(super) struct StarterRule {
    pub(super) tool: &'static str,
    /// When the sub-agent began.
    pub(super) before: Path,
    /// Whose call it is: the session's own, unless this names a sub-agent.
    pub(super) of: Option<Path>,
}

/// From which entry on all is undone.
#[derive(Debug)]
pub(super) struct Rewind {
    pub(super) to: Path,
    /// Whether that entry stays.
    pub(super) stays: bool,
}

#[derive(Debug)]
pub(super) struct FactRule {
    pub(super) fact: Fact,
    pub(super) path: Path,
    /// Whether the first one stays.
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
    /// The name of the member by which records name files of sub-agents, if they do.
    pub(super) fn files_word(&self) -> Option<&str> {
        self.file
            .as_ref()
            .and(self.of.as_ref().or(self.file.as_ref()))?
            .last_member()
    }
}

impl BlockRule {
    /// Whether it brings results of calls elsewhere.
    pub(super) fn has_results(&self) -> bool {
        match &self.what {
            What::Result(_) | What::Content(_) => true,
            What::Blocks(blocks) => blocks.iter().any(Self::has_results),
            _ => false,
        }
    }

    fn is_by_order(&self) -> bool {
        match &self.what {
            What::Call(call) => call.id.is_by_order(),
            What::Result(result) => result.is_by_order(),
            What::Blocks(blocks) => blocks.iter().any(Self::is_by_order),
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
