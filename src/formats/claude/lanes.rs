//! Links sub-agents to the calls that started them. Claude Code records the link in several
//! records, early or late; the most trustworthy one wins. A lane is announced only once it has
//! entries.

pub(crate) mod fork;
pub(crate) mod owners;
pub(crate) mod workflow;

use std::collections::{HashMap, HashSet};

use self::owners::Rank;
use super::calls::LaneCalls;
use super::line::TranscriptLine;
use super::voice::background;
use crate::formats::lanes::LaneLinker;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::text::{Name, Text};
use crate::model::tool::identifies;
use crate::model::tool::work::{Carrier, WorkEnd, WorkReference};

/// How trustworthy the source of a link from a sub-agent to its call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trust {
    #[default]
    None,
    /// A progress line of the call.
    Progress,
    /// The call is at the end of the history that the fork inherits.
    Place,
    /// The result of the call.
    Result,
    /// The `.meta.json` file of the sub-agent.
    Meta,
}

/// Sub-agents and the calls that started them.
#[derive(Debug, Default)]
pub(crate) struct SubAgents {
    linker: LaneLinker,
    /// Whether a sub-agent is a fork of its parent, and its nesting depth.
    forks: HashMap<Name, (bool, u64)>,
    labels: HashMap<Key, Text>,
    copies: HashSet<Key>,
    /// Members of a team by name.
    members: HashMap<Text, Mate>,
    /// Agent types from `.meta.json` files that name no call.
    types: HashMap<Name, Text>,
    /// Whether all calls are copies from another file.
    is_copied: bool,
    /// Calls that are named as starting a sub-agent, but are not in the session yet.
    awaited: HashMap<Key, Vec<Name>>,
    runs: HashMap<String, WorkflowRun>,
    /// Background work of sub-agents without a recorded end, with their lanes.
    background_work: Vec<(Key, Option<Name>)>,
    /// Links whose calls have not been checked against the session yet.
    unchecked_links: Vec<(Name, Key)>,
}

impl SubAgents {
    /// Adds a sub-agent in the background, started by a call of this lane.
    pub(crate) fn begin_agent(&mut self, work: Key, lane: Option<Name>) {
        self.background_work.push((work, lane));
    }

    /// Removes background work whose end is recorded.
    pub(crate) fn end_agent(&mut self, about: &WorkReference) {
        if let Some(work) = &about.handle {
            self.background_work.retain(|(known, _)| known != work);
        }
    }

    /// Applies what a line reports on background work.
    pub(crate) fn report(
        &mut self,
        line: &TranscriptLine<'_>,
        (about, end): (WorkReference, Option<WorkEnd>),
        carrier: Carrier,
        out: &mut Batch,
    ) {
        if end.is_some() {
            self.end_agent(&about);
        }
        let record = (line.id.clone(), line.at);
        background::emit((about, end), record, carrier, line.lane.as_ref(), out);
    }

    /// Takes the work of all sub-agents in the background: it was stopped.
    pub(crate) fn stop_agents(&mut self) -> Vec<(Key, Option<Name>)> {
        std::mem::take(&mut self.background_work)
    }
}

/// A run of a workflow: the calls that started or resumed it, and its sub-agents.
#[derive(Debug, Default)]
struct WorkflowRun {
    calls: Vec<Key>,
    agents: Vec<Name>,
}

/// A member of a team. Each time it is woken it writes a new file.
#[derive(Debug, Default)]
struct Mate {
    call: Key,
    /// The lane of its first file.
    lane: Option<Name>,
}

/// Prefixes of the lanes of sub-agents that Claude Code starts for itself: "a" and the purpose,
/// followed by a number.
const HELPS: [&str; 8] = [
    "acompact-",
    "aside_question-",
    "aaside_question-",
    "aprompt_suggestion-",
    "asession_memory-",
    "aextract_memories-",
    "aspeculation-",
    "aagent_summary-",
];

/// Whether a lane is a helper's: it serves the session, not a turn.
fn is_helper(name: &str) -> bool {
    HELPS.iter().any(|begin| name.starts_with(begin))
}

impl SubAgents {
    /// Sets the sub-agent whose own file was opened. A helper's file begins with a copy of the
    /// conversation that it serves, so that the sub-agents started there are not its own.
    pub(crate) fn set_opened_agent(&mut self, home: Option<&Name>) {
        self.is_copied = home.is_some_and(|home| is_helper(home));
    }

    /// Resolves a lane to the one that replaces it: all files of a member of a team form one lane.
    pub(crate) fn resolve(&mut self, name: Name) -> Name {
        let Some(mate) = self
            .types
            .get(&name)
            .and_then(|name| self.members.get_mut(name))
        else {
            return name;
        };
        if self.linker.is_announced(&name) {
            return name;
        }
        mate.lane.get_or_insert(name).clone()
    }

    /// Adds a member of a team that the call created.
    pub(crate) fn spawn(&mut self, mate: &str, call: &Key, out: &mut Batch) {
        if !identifies(mate) || self.members.contains_key(mate) {
            return;
        }
        let (mate, call) = (Text::clean(mate), call.clone());
        let mut known: Vec<Name> = self
            .types
            .iter()
            .filter(|(_, own)| **own == mate)
            .map(|(name, _)| name.clone())
            .collect();
        known.sort();
        let lane = known
            .iter()
            .find(|name| self.linker.is_announced(name))
            .or(known.first())
            .cloned();
        if let Some(lane) = &lane {
            self.link(lane, &call, Trust::Result, out);
        }
        self.members.insert(mate, Mate { call, lane });
    }

    /// Records the agent type from a `.meta.json` file without a call. If it is the name of a team
    /// member, the file is the member's.
    pub(crate) fn set_agent_type(&mut self, name: &str, kind: Text, out: &mut Batch) {
        let name = Text::clean(name);
        self.types.insert(name.clone(), kind.clone());
        let Some(mate) = self.members.get_mut(&kind) else {
            return;
        };
        if mate.lane.get_or_insert_with(|| name.clone()) == &name {
            let call = mate.call.clone();
            self.link(&name, &call, Trust::Result, out);
        }
    }

    /// Announces a lane before its next entry. Returns whether that is its first.
    pub(crate) fn enter(&mut self, name: &Name, out: &mut Batch) -> bool {
        let is_first = !self.linker.is_announced(name);
        if is_first && let Some(label) = helper(name) {
            out.meta(MetaEdit::Helper(name.clone()));
            if self.linker.label(name).is_none() {
                self.linker.name(name, 0, label, out);
            }
        }
        self.linker.announce(name, out);
        is_first
    }

    /// Links a sub-agent to the call that started it.
    pub(crate) fn link(&mut self, name: &str, call: &str, trust: Trust, out: &mut Batch) {
        if !identifies(name) || !identifies(call) {
            return;
        }
        if self.is_copied {
            return;
        }
        let (name, call) = (Text::clean(name), Text::clean(call));
        if !self.linker.contains(&name) {
            out.requested_files.push(name.clone());
        }
        if let Some(label) = self.labels.get(&call)
            && self.linker.label(&name).is_none()
            && !is_helper(&name)
        {
            self.linker.name(&name, 0, label.clone(), out);
        }
        if self.linker.claim(&name, call.clone(), trust as u8, out) {
            self.unchecked_links.push((name, call));
        }
    }

    /// Records that a call started a workflow's run.
    pub(crate) fn run_began(&mut self, run: &str, call: &Key, out: &mut Batch) {
        if !identifies(run) {
            return;
        }
        let WorkflowRun { calls, agents } = self.runs.entry(run.to_owned()).or_default();
        calls.push(call.clone());
        for agent in agents.clone() {
            self.link(&agent, call, Trust::Result, out);
        }
    }

    /// Adds a sub-agent to a workflow's run.
    pub(crate) fn run_has(&mut self, run: &str, agent: &Name, out: &mut Batch) {
        let WorkflowRun { calls, agents } = self.runs.entry(run.to_owned()).or_default();
        if !agents.contains(agent) {
            agents.push(agent.clone());
            if let Some(call) = calls.first().cloned() {
                self.link(agent, &call, Trust::Result, out);
            }
        }
    }

    /// Confirms the new links whose calls are in the session, in a lane other than the one they
    /// started.
    pub(crate) fn link_calls(&mut self, calls: &LaneCalls, out: &mut Batch) {
        for (name, call) in std::mem::take(&mut self.unchecked_links) {
            if calls.is_in_other_lane(&name, &call) {
                self.linker.confirm(&name, &call, out);
            } else {
                self.awaited.entry(call).or_default().push(name);
            }
        }
    }

    /// Confirms the links that waited for this call.
    pub(crate) fn confirm_links(&mut self, call: &Key, by: Option<&Name>, out: &mut Batch) {
        if self.awaited.is_empty() {
            return;
        }
        let Some(waiting) = self.awaited.get_mut(call) else {
            return;
        };
        let (own, found): (Vec<Name>, Vec<Name>) = std::mem::take(waiting)
            .into_iter()
            .partition(|name| Some(name) == by);
        *waiting = own;
        for name in found {
            self.linker.confirm(&name, call, out);
        }
    }

    pub(crate) fn mark_fork(&mut self, name: &Name) {
        self.forks.entry(name.clone()).or_default().0 = true;
    }

    pub(crate) fn set_depth(&mut self, name: &Name, depth: u64) {
        self.forks.entry(name.clone()).or_default().1 = depth;
    }

    /// Which of two lanes owns what both contain: the lower rank.
    pub(crate) fn rank(&self, name: &Name) -> Rank {
        let (is_fork, depth) = self.forks.get(name).copied().unwrap_or_default();
        (is_helper(name), is_fork, depth)
    }

    /// Sets the label of a sub-agent.
    pub(crate) fn name(&mut self, name: &Name, rank: u8, label: Text, out: &mut Batch) {
        self.linker.name(name, rank, label, out);
    }

    /// The label of a sub-agent; `None` if no record names it.
    pub(crate) fn label(&self, name: &str) -> Option<&Text> {
        self.linker.label(name)
    }

    /// Records the description in a call as the label of its sub-agent.
    pub(crate) fn label_call(&mut self, call: Key, label: Text) {
        if identifies(&call) && !label.is_blank() {
            self.labels.insert(call, label);
        }
    }

    /// Records that a copy of a sub-agent's message was shown.
    pub(crate) fn add_copy(&mut self, copy: Key) -> bool {
        self.copies.insert(copy)
    }

    /// Retires the copy of a message that has been read itself.
    pub(crate) fn replace_copy(&mut self, copy: &Key, out: &mut Batch) {
        if self.copies.remove(copy) {
            out.push(Edit::Retire(copy.clone()));
        }
    }
}

/// The purpose of a helper, from its name.
fn helper(name: &str) -> Option<Text> {
    let (word, _) = name
        .strip_prefix('a')
        .filter(|_| is_helper(name))?
        .split_once('-')?;
    let word = if word == "compact" {
        "compaction"
    } else {
        word
    };
    Some(Text::clean(&word.replace('_', " ")))
}
