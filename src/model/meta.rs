//! Metadata of a session and its sub-agents.
//!
//! **Paths are shown relative to the folder where the session began** (`model::meta::Meta::root`),
//! wherever its agent went later: so a file has one name throughout, and a `cd` does not restart
//! the list of files.

use std::collections::BTreeMap;
use std::path::Path;

use super::body::Key;
use super::entry::EntryId;
use super::limit::Limit;
use super::text::{Name, Text};
use super::timestamp::Timestamp;
use super::usage::Usage;

/// A change of the metadata. Later ones win.
#[derive(Clone, Debug, PartialEq)]
pub enum MetaEdit {
    Id(Text),
    /// A title; the highest rank wins, the later among equals.
    Title {
        /// 3 the user's own, 2 made by the agent, 1 a summary, 0 the first prompt.
        rank: u8,
        /// The title; empty removes that of this rank.
        title: Text,
    },
    /// Name of the agent: `main`, `build`, …
    Agent(Name),
    Cwd(Text),
    /// The working directory moved to another copy of the same project.
    Moved {
        /// Where the session began.
        from: Text,
        /// Folder of the copy.
        to: Text,
    },
    /// Version of the agent program that wrote the records.
    Version(Text),
    /// The model in use.
    Model(Name),
    /// Size of the model's context window in tokens.
    Window(u64),
    /// How much of a provider's allowance for a span of time is used.
    Limit(Limit),
    Lane {
        /// Name of the lane in its entries.
        name: Name,
        /// Label for display.
        label: Option<Text>,
        /// Key of the call that started it.
        call: Option<Key>,
    },
    /// A lane that is a session by itself: one of several joined sessions.
    Session {
        /// Name of the lane in the entries of its main lane.
        name: Name,
        /// Label for display.
        label: Text,
        /// Folder where its agent began; `None` if unknown.
        root: Option<Text>,
        /// Number of another session that records the same requests.
        duplicate_of: Option<usize>,
        /// What it repeats of older sessions, as a fork does.
        shares: Vec<RepeatedRequests>,
    },
    /// A lane that serves the session rather than a turn: it makes a compaction, answers a side
    /// question, finds a title.
    Helper(Name),
    /// All records have ids and parent ids, so the path to the last one is the active branch,
    /// provided that all links resolve.
    LinkedTree,
    /// The first record that the model still sees after a compaction.
    FirstKept {
        /// Key of the entry of the compaction.
        compaction: Key,
        /// Id of the record, which may hold a result.
        first: Key,
    },
    /// Whether the session is running (`Some(false)`: it ended cleanly; `None`: unknown).
    Live(Option<bool>),
    /// The process that has the session open, according to a file of its agent; `None`: no process.
    Running(Option<Running>),
    /// The total usage of the session after an answer, as the agent records it.
    SumSoFar {
        /// Key of the answer.
        after: Key,
        /// Usage by model; an empty name for usage of no model.
        sums: Vec<(Name, Usage)>,
    },
    /// A fact without a field of its own.
    Fact {
        /// Name of the fact in a word or two, for display: `git branch`, `channel`, `archived`.
        name: &'static str,
        /// Current value; empty removes the fact.
        value: Text,
    },
}

/// Metadata of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    pub id: Option<Text>,
    titles: [Option<Text>; 5],
    pub agent: Option<Name>,
    pub cwd: Option<Text>,
    /// The working directory where the session began; paths are shown relative to it.
    pub(crate) root: Option<Text>,
    /// Folder of the project, if the session began in a copy of it.
    origin: Option<Text>,
    /// Versions of the agent program, in order of occurrence.
    pub versions: Vec<Text>,
    /// The model in use.
    pub model: Option<Name>,
    /// Models that answered, in order of occurrence.
    pub models: Vec<Name>,
    /// Size of the context window in tokens.
    pub window: Option<u64>,
    /// Facts without a field of their own, by name.
    pub(crate) facts: BTreeMap<&'static str, Text>,
    /// `Some(true)` running, `Some(false)` ended, `None` not recorded.
    pub live: Option<bool>,
    /// The process that has the session open, according to a file of the agent.
    pub running: Option<Running>,
    /// Usage limits, the latest of each span.
    pub(crate) limits: Vec<Limit>,
    /// Total usage after answers, as the agent records it, by model.
    pub(crate) sums_so_far: Vec<(Key, Vec<(Name, Usage)>)>,
}

impl Meta {
    /// Folder of the project that the session counts to, wherever its agent went later.
    pub fn project(&self) -> Option<&Text> {
        self.origin.as_ref().or(self.root.as_ref())
    }

    /// Applies a change; later ones win.
    pub(crate) fn apply(&mut self, edit: MetaEdit) {
        match edit {
            MetaEdit::Id(id) => self.id = Some(id),
            MetaEdit::Title { rank, title } => {
                if let Some(slot) = self.titles.get_mut(usize::from(rank)) {
                    // The first prompt stays the first; all other titles can be replaced.
                    let keeps = rank == 0 && slot.is_some();
                    if !keeps {
                        *slot = (!title.is_blank()).then_some(title);
                    }
                }
            }
            MetaEdit::Agent(agent) => self.agent = Some(agent),
            MetaEdit::Cwd(cwd) => {
                self.root.get_or_insert_with(|| cwd.clone());
                self.cwd = Some(cwd);
            }
            MetaEdit::Moved { from, to } => {
                let is_copy = self
                    .root
                    .as_ref()
                    .is_none_or(|root| Path::new(root.as_str()).starts_with(to.as_str()));
                if is_copy && self.origin.is_none() {
                    self.origin = Some(from);
                }
            }
            MetaEdit::Version(version) => {
                if !self.versions.contains(&version) {
                    self.versions.push(version);
                }
            }
            MetaEdit::Model(model) => self.model = Some(model),
            MetaEdit::Window(tokens) => self.window = Some(tokens),
            MetaEdit::Limit(limit) => limit.merge_into(&mut self.limits),
            // The transcript handles lanes and the linked tree.
            MetaEdit::Lane { .. }
            | MetaEdit::Session { .. }
            | MetaEdit::Helper(_)
            | MetaEdit::LinkedTree
            | MetaEdit::FirstKept { .. } => {}
            MetaEdit::Live(live) => self.live = live,
            MetaEdit::Running(running) => self.running = running,
            MetaEdit::SumSoFar { after, sums } => {
                self.sums_so_far.pop_if(|(last, _)| *last == after);
                self.sums_so_far.push((after, sums));
            }
            MetaEdit::Fact { name, value } => {
                if value.is_blank() {
                    self.facts.remove(name);
                } else {
                    self.facts.insert(name, value);
                }
            }
        }
    }

    /// Value of a fact without a field of its own.
    pub fn fact(&self, name: &str) -> Option<&Text> {
        self.facts.get(name)
    }

    /// Models that answered, in order of occurrence; the session's model if answers name none.
    pub(crate) fn models(&self) -> impl Iterator<Item = &Name> {
        self.models
            .iter()
            .chain(self.model.iter().filter(|_| self.models.is_empty()))
    }

    /// The title of the highest rank.
    pub fn title(&self) -> Option<&Text> {
        self.titles.iter().rev().flatten().next()
    }
}

/// A process that has a session open, according to a file of its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// What the process does.
    pub status: RunStatus,
    /// Since when it does that.
    pub since: Option<Timestamp>,
}

/// State of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// A turn runs.
    Busy,
    /// It asks the user for permission or a question.
    Waiting,
    /// It waits for the next prompt; commands may run in the background.
    Idle,
}

#[derive(Clone, Debug)]
pub struct LaneFacts {
    /// Name of the lane in its entries.
    pub name: Name,
    /// Label for display.
    pub label: Text,
    /// Key of the call that started it.
    pub call: Option<Key>,
    /// Whether it serves the session rather than a turn: it makes a compaction, answers a side
    /// question, finds a title.
    pub(crate) is_helper: bool,
    /// Whether it is one of several joined sessions.
    pub(crate) is_session: bool,
    /// Folder where the agent of a joined session began; `None` if unknown.
    pub(crate) root: Option<Text>,
    /// Number of another joined session that records the same requests.
    pub(crate) duplicate_of: Option<usize>,
    /// What it repeats of older sessions.
    pub(crate) shares: Vec<RepeatedRequests>,
    /// Latest timestamp of its records.
    pub(crate) last_time: Option<Timestamp>,
    /// Its entries in file order.
    pub entries: Vec<EntryId>,
}

/// How many requests of an older session another session repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedRequests {
    /// Number of the older session.
    pub(crate) session: usize,
    /// Number of repeated requests.
    pub(crate) requests: u64,
    /// Number of all requests of the older session.
    pub(crate) of: u64,
    /// Usage of the older session up to the fork, according to its sums, by model.
    pub(crate) sums: Vec<(Name, Usage)>,
}

impl LaneFacts {
    /// Kind and label, for display; the label of a helper says what it does.
    pub(crate) fn title(&self) -> String {
        match self.is_session {
            _ if self.is_helper => self.label.to_string(),
            true => format!("session {}", self.label),
            false => format!("sub-agent {}", self.label),
        }
    }
}
