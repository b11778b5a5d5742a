//! Facts about a session and its sub-agents.
//!
//! **Paths are shown as seen from where the session began**, wherever its agent went later
//! (`model::meta::Meta::root`): a file has one name throughout, and no `cd` makes the list of files begin anew.

use std::collections::BTreeMap;
use std::path::Path;

use super::body::Key;
use super::entry::EntryId;
use super::limit::Limit;
use super::text::{Name, Text};
use super::timestamp::Timestamp;
use super::usage::Usage;

/// A fact about the session. Later ones win.
#[derive(Clone, Debug, PartialEq)]
pub enum MetaEdit {
    /// The session's id.
    Id(Text),
    /// Its title; of several the highest rank wins, the later among equals.
    Title {
        /// 3 the user's own, 2 made by the agent, 1 a summary, 0 the first prompt.
        rank: u8,
        /// The title; empty clears this rank.
        title: Text,
    },
    /// The agent's name: `main`, `build`, …
    Agent(Name),
    /// The working directory.
    Cwd(Text),
    /// The working directory of a session before it moved to another copy of the same project, and where that is.
    Moved {
        /// Where it began.
        from: Text,
        /// The folder of the copy.
        to: Text,
    },
    /// A version of the agent program that wrote records.
    Version(Text),
    /// The model in use.
    Model(Name),
    /// Size of the model's context window in tokens.
    Window(u64),
    /// How much of what a provider allows for a span of time is used up.
    Limit(Limit),
    /// A sub-agent's lane.
    Lane {
        /// The name that its entries carry.
        name: Name,
        /// What to call it for readers.
        label: Option<Text>,
        /// The call that started it.
        call: Option<Key>,
    },
    /// A lane that is a session by itself: one of several that are read as one.
    Session {
        /// The name that entries of its main lane carry.
        name: Name,
        /// What to call it for readers.
        label: Text,
        /// Where its agent began, as far as that is known.
        root: Option<Text>,
        /// The number of another one that tells of the same requests.
        same: Option<usize>,
        /// What it has of sessions that are older, as a fork does.
        shares: Vec<Share>,
    },
    /// A lane that serves the session and no turn: it compacts it, answers a side question, finds a title.
    Helper(Name),
    /// All records carry ids and parent ids, so the path from the last one is the active branch,
    /// provided that all links resolve.
    LinkedTree,
    /// The first record that the model still sees after a compaction.
    Kept {
        /// Key of the entry with the compaction.
        compaction: Key,
        /// Id of the record, which may hold a result.
        first: Key,
    },
    /// The session runs (`Some(false)`: it ended cleanly; `None`: unknown).
    Live(Option<bool>),
    /// A process has the session open, as a file of its agent says; `None`: no such process is known.
    Running(Option<Running>),
    /// What the agent says that the session had cost in all after an answer.
    SumSoFar {
        /// Key of the answer.
        after: Key,
        /// By model; what is of no model has no name.
        sums: Vec<(Name, Usage)>,
    },
    /// A fact without a field of its own.
    Fact {
        /// What it speaks of, in a word or two for the reader: `git branch`, `channel`, `archived`.
        name: &'static str,
        /// How it stands now; empty forgets it.
        value: Text,
    },
}

/// Facts about the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// The session's id.
    pub id: Option<Text>,
    titles: [Option<Text>; 5],
    /// The agent's name.
    pub agent: Option<Name>,
    /// The working directory.
    pub cwd: Option<Text>,
    /// The one in which the session began: paths are shown as seen from there, wherever it went later.
    pub(crate) root: Option<Text>,
    /// The folder of the project, where the session began in a copy of it.
    origin: Option<Text>,
    /// Versions of the agent program, in the order seen.
    pub versions: Vec<Text>,
    /// The model in use.
    pub model: Option<Name>,
    /// Models that answered, in the order seen.
    pub models: Vec<Name>,
    /// Size of the context window in tokens.
    pub window: Option<u64>,
    /// Facts without a field of their own, by name.
    pub(crate) facts: BTreeMap<&'static str, Text>,
    /// `Some(true)` running, `Some(false)` ended, as recorded.
    pub live: Option<bool>,
    /// The process that has it open, as a file of the agent says.
    pub running: Option<Running>,
    /// What is used up of limits, the newest of each span.
    pub(crate) limits: Vec<Limit>,
    /// What the session had cost after answers, as the agent says, by model.
    pub(crate) sums_so_far: Vec<(Key, Vec<(Name, Usage)>)>,
}

impl Meta {
    /// The folder of the project that the session counts to, wherever it went later.
    pub fn project(&self) -> Option<&Text> {
        self.origin.as_ref().or(self.root.as_ref())
    }

    /// Takes a fact; the later one wins.
    pub(crate) fn take(&mut self, edit: MetaEdit) {
        match edit {
            MetaEdit::Id(id) => self.id = Some(id),
            MetaEdit::Title { rank, title } => {
                if let Some(slot) = self.titles.get_mut(usize::from(rank)) {
                    // The first prompt stays the first; all other titles can be changed.
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
            MetaEdit::Limit(limit) => limit.join(&mut self.limits),
            // Lanes and the tree are the transcript's.
            MetaEdit::Lane { .. }
            | MetaEdit::Session { .. }
            | MetaEdit::Helper(_)
            | MetaEdit::LinkedTree
            | MetaEdit::Kept { .. } => {}
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

    /// A fact without a field of its own.
    pub fn fact(&self, name: &str) -> Option<&Text> {
        self.facts.get(name)
    }

    /// Models that answered, in the order seen; where answers name none, the one of the session.
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

/// A process that has a session open, as its agent keeps a file of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// What it does.
    pub status: RunStatus,
    /// Since when.
    pub since: Option<Timestamp>,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// A turn runs.
    Busy,
    /// The user is asked to allow something, or a question.
    Waiting,
    /// The next prompt is awaited; commands may run in the background.
    Idle,
}

/// A sub-agent.
#[derive(Clone, Debug)]
pub struct LaneFacts {
    /// The name that its entries carry.
    pub name: Name,
    /// What to call it.
    pub label: Text,
    /// The call that started it.
    pub call: Option<Key>,
    /// Whether it serves the session and no turn: it compacts it, answers a side question, finds a title.
    pub(crate) is_helper: bool,
    /// Whether it is a session by itself: one of several that are read as one.
    pub(crate) is_session: bool,
    /// Where the agent of such a session began, as far as that is known.
    pub(crate) root: Option<Text>,
    /// The number of another such session that tells of the same requests.
    pub(crate) same: Option<usize>,
    /// What it has of sessions that are older.
    pub(crate) shares: Vec<Share>,
    /// When something was heard of it last.
    pub(crate) heard: Option<Timestamp>,
    /// Its entries in file order.
    pub entries: Vec<EntryId>,
}

/// How many of the requests of an older session stand in another one, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The number of the older one.
    pub(crate) session: usize,
    /// How many of its requests.
    pub(crate) requests: u64,
    /// Of how many.
    pub(crate) of: u64,
    /// What the older one had cost by then, as far as sums say, by model.
    pub(crate) sums: Vec<(Name, Usage)>,
}

impl LaneFacts {
    /// What it is and what it is called.
    pub(crate) fn title(&self) -> String {
        let what = if self.is_session {
            "session"
        } else {
            "sub-agent"
        };
        format!("{what} {}", self.label)
    }
}
