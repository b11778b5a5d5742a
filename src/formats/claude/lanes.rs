//! Which sub-agent was started by which call. Claude Code writes it in several places, early or late;
//! the most trustworthy one counts, and a lane is announced only when it has entries.

use std::collections::{HashMap, HashSet};

use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::text::{Name, Text};
use crate::model::tool::identifies;

/// How far a link from a sub-agent to its call can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trust {
    /// Nothing is known.
    #[default]
    None,
    /// A progress line of the call.
    Progress,
    /// The result of the call.
    Result,
    /// The small file beside the sub-agent's own.
    Meta,
}

/// Sub-agents and the calls that started them.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    known: HashMap<Name, Lane>,
    labels: HashMap<Key, Text>,
    copies: HashSet<Key>,
    /// Members of a team by name.
    mates: HashMap<Text, Mate>,
    /// What small files call sub-agents without naming a call.
    types: HashMap<Name, Text>,
    /// Whether all calls are copies of another file's.
    is_copied: bool,
}

/// A member of a team: each time that it is woken it writes a file of its own.
#[derive(Debug, Default)]
struct Mate {
    call: Key,
    /// The lane of its first file.
    lane: Option<Name>,
}

/// What the names of lanes begin with that Claude Code starts for itself: "a", what for, and a number.
const HELPS: [&str; 7] = [
    "acompact-",
    "aside_question-",
    "aprompt_suggestion-",
    "asession_memory-",
    "aextract_memories-",
    "aspeculation-",
    "aagent_summary-",
];

/// Whether a lane serves the session and no turn.
fn is_helper(name: &str) -> bool {
    HELPS.iter().any(|begin| name.starts_with(begin))
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Lane {
    label: Option<Text>,
    call: Option<Key>,
    trust: Trust,
    has_entries: bool,
}

impl Lanes {
    /// The opened file is a sub-agent's own. A helper's begins with a copy of the conversation that it helps in:
    /// what was started there is not its own.
    pub(crate) fn settle_home(&mut self, home: Option<&Name>) {
        self.is_copied = home.is_some_and(|home| is_helper(home));
    }

    /// The lane that stands for this one: all files of a member of a team are one lane.
    pub(crate) fn resolve(&mut self, name: Name) -> Name {
        let Some(mate) = self.types.get(&name).and_then(|name| self.mates.get_mut(name)) else { return name };
        if self.known.get(&name).is_some_and(|lane| lane.has_entries) {
            return name;
        }
        mate.lane.get_or_insert(name).clone()
    }

    /// The call made a member of a team.
    pub(crate) fn spawn(&mut self, mate: &str, call: &Key, out: &mut Batch) {
        if !identifies(mate) || self.mates.contains_key(mate) {
            return;
        }
        let (mate, call) = (Text::clean(mate), call.clone());
        let mut known: Vec<Name> =
            self.types.iter().filter(|(_, own)| **own == mate).map(|(name, _)| name.clone()).collect();
        known.sort();
        let has_entries = |name: &Name| self.known.get(name).is_some_and(|lane| lane.has_entries);
        let lane = known.iter().find(|name| has_entries(name)).or(known.first()).cloned();
        if let Some(lane) = &lane {
            self.link(lane, &call, Trust::Result, out);
        }
        self.mates.insert(mate, Mate { call, lane });
    }

    /// What a small file calls a sub-agent of which it names no call: a member of a team, if there is one.
    pub(crate) fn call_mate(&mut self, name: &str, kind: Text, out: &mut Batch) {
        let name = Text::clean(name);
        self.types.insert(name.clone(), kind.clone());
        let Some(mate) = self.mates.get_mut(&kind) else { return };
        if mate.lane.get_or_insert_with(|| name.clone()) == &name {
            let call = mate.call.clone();
            self.link(&name, &call, Trust::Result, out);
        }
    }

    /// An entry of this lane is about to be emitted.
    pub(crate) fn enter(&mut self, name: &Name, out: &mut Batch) {
        self.change(name, out, |lane| lane.has_entries = true);
    }

    /// The call started the sub-agent.
    pub(crate) fn link(&mut self, name: &str, call: &str, trust: Trust, out: &mut Batch) {
        if !identifies(name) || !identifies(call) {
            return;
        }
        if self.is_copied {
            return;
        }
        if !self.known.contains_key(name) {
            out.wanted.push(Text::clean(name));
        }
        let call = Text::clean(call);
        let label = self.labels.get(&call).cloned();
        self.change(&Text::clean(name), out, |lane| {
            if trust > lane.trust {
                lane.call = Some(call);
                lane.trust = trust;
            }
            lane.label = lane.label.take().or(label);
        });
    }

    /// What a sub-agent is called.
    pub(crate) fn name(&mut self, name: &Name, label: Text, out: &mut Batch) {
        self.change(name, out, |lane| lane.label = Some(label));
    }

    /// A call that starts a sub-agent says what for.
    pub(crate) fn label_call(&mut self, call: Key, label: Text) {
        if identifies(&call) && !label.is_blank() {
            self.labels.insert(call, label);
        }
    }

    /// A copy of a sub-agent's message was shown.
    pub(crate) fn note_copy(&mut self, copy: Key) -> bool {
        self.copies.insert(copy)
    }

    /// The message itself is there: its copy goes.
    pub(crate) fn replace_copy(&mut self, copy: &Key, out: &mut Batch) {
        if self.copies.remove(copy) {
            out.push(Edit::Retire(copy.clone()));
        }
    }

    fn change(&mut self, name: &Name, out: &mut Batch, change: impl FnOnce(&mut Lane)) {
        let lane =
            self.known.entry(name.clone()).or_insert_with(|| Lane { label: helper(name), ..Lane::default() });
        let before = lane.clone();
        change(lane);
        if lane.has_entries && !before.has_entries && is_helper(name) {
            out.meta(MetaEdit::Helper(name.clone()));
        }
        if lane.has_entries && *lane != before && (lane.label.is_some() || lane.call.is_some()) {
            out.meta(MetaEdit::Lane {
                name: name.clone(),
                label: lane.label.clone(),
                call: lane.call.clone(),
            });
        }
    }
}

/// What a helper is for; its name says it.
fn helper(name: &str) -> Option<Text> {
    let (word, _) = name.strip_prefix('a').filter(|_| is_helper(name))?.split_once('-')?;
    let word = if word == "compact" { "compaction" } else { word };
    Some(Text::clean(&word.replace('_', " ")))
}
