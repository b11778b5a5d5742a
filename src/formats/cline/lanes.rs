//! Sub-agents and team mates: each has a file beside the lead's and is a lane, linked to the call
//! that started it.
//!
//! Newer versions record the call (`childSessions`). For older ones it is found by the agent's
//! name, the task or the time. The label of a lane that is linked by time alone says so.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::formats::json::{self, Json};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::record::FileId;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;

/// The minimum length in bytes of a task that identifies a call, since shorter ones are too common.
const DISTINCT_TASK: usize = 12;

/// The lanes of a session and the calls that may have started them.
#[derive(Default)]
pub(super) struct FileLanes {
    children: HashMap<FileId, LaneFile>,
    /// Files in reading order.
    order: Vec<FileId>,
    spawns: Vec<Spawn>,
    /// The calls that Cline records for session ids of children.
    recorded: HashMap<String, Key>,
    emitted: HashMap<Name, (Text, Option<Key>)>,
}

struct LaneFile {
    lane: Name,
    label: String,
    session: String,
    agent: String,
    parent: Option<String>,
    task: Option<String>,
    at: Option<Timestamp>,
}

struct Spawn {
    call: Key,
    lane: Option<Name>,
    /// Whether the agent runs in this call. The call that creates a team mate only prepares it.
    runs: bool,
    agent: Option<String>,
    task: Option<String>,
    at: Option<Timestamp>,
}

/// The evidence for linking a lane to a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evidence {
    Recorded,
    Agent,
    Task,
    Time,
}

impl FileLanes {
    /// Begins a file beside the opened one and returns its lane.
    pub(super) fn begin(&mut self, file: FileId, path: &Path, header: &Json<'_>) -> Name {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("");
        let stem = name.strip_suffix(".messages.json").unwrap_or(name);
        let origin = header.get("origin");
        // Older versions write the lead's id into all files of a session.
        let id = origin
            .get("sessionId")
            .filled()
            .or(header.get("sessionId").filled());
        let session = id.filter(|id| id.contains("__")).unwrap_or(stem);
        let agent = origin
            .get("subagent")
            .filled()
            .unwrap_or_else(|| stem.split("__").next().unwrap_or(stem));
        let part = header.get("agent").filled().unwrap_or("agent");
        let lane = Text::clean(stem);
        let child = LaneFile {
            lane: lane.clone(),
            label: format!("{part} {}", stem.replace("__", "/")),
            session: session.to_owned(),
            agent: agent.to_owned(),
            parent: origin.get("parentThreadId").filled().map(str::to_owned),
            task: None,
            at: None,
        };
        if self.children.insert(file, child).is_none() {
            self.order.push(file);
        }
        lane
    }

    /// The lane of a file; `None` for the opened one.
    pub(super) fn of(&self, file: FileId) -> Option<Name> {
        self.children.get(&file).map(|child| child.lane.clone())
    }

    /// Sets the agent's task: the first prompt in its file.
    pub(super) fn first_prompt(&mut self, file: FileId, text: &str, at: Option<Timestamp>) {
        if let Some(child) = self.children.get_mut(&file)
            && child.task.is_none()
        {
            child.task = Some(text.trim().to_owned());
            child.at = at;
        }
    }

    /// Adds a call that may start an agent.
    pub(super) fn call(&mut self, block: &Json<'_>, lane: Option<&Name>, at: Option<Timestamp>) {
        let (name, input) = (block.get("name").str_or_empty(), block.get("input"));
        let is_spawn = matches!(
            name,
            "spawn_agent" | "team_spawn_teammate" | "team_run_task"
        ) || name.starts_with("agent_")
            || name.starts_with("subagent_");
        let call = block.get("id").clean();
        if !is_spawn || call.is_empty() || self.spawns.iter().any(|spawn| spawn.call == call) {
            return;
        }
        let field = |names: [&str; 3]| input.first(&names, Json::filled);
        let task = field(["task", "prompt", "message"]).map(|task| task.trim().to_owned());
        self.spawns.push(Spawn {
            call,
            lane: lane.cloned(),
            runs: name != "team_spawn_teammate",
            agent: field(["agentId", "agent_id", "agent"]).map(str::to_owned),
            task,
            at,
        });
    }

    /// Adds the agent that the result of such a call names.
    pub(super) fn result(&mut self, call: &Key, block: &Json<'_>) {
        let Some(spawn) = self
            .spawns
            .iter_mut()
            .find(|spawn| spawn.call == *call && spawn.agent.is_none())
        else {
            return;
        };
        let content = block.get("content");
        let parsed = content.str().and_then(|text| json::parse(text).ok());
        let content = parsed.as_ref().unwrap_or(content);
        spawn.agent = content.get("agentId").filled().map(str::to_owned);
    }

    /// Adds the sessions that the calls of a message started.
    pub(super) fn add_links(&mut self, message: &Json<'_>) {
        for link in message.get("childSessions").items() {
            if let (Some(session), Some(call)) = (
                link.get("sessionId").filled(),
                link.get("toolCallId").filled(),
            ) {
                self.recorded.insert(session.to_owned(), Text::clean(call));
            }
        }
    }

    /// Emits the lanes whose call or label has changed.
    pub(super) fn emit(&mut self, out: &mut Batch) {
        for (lane, label, call) in self.lanes_with_calls() {
            let named = (label.clone(), call.clone());
            if self.emitted.get(&lane) != Some(&named) {
                self.emitted.insert(lane.clone(), named);
                out.lane(lane, Some(label), call);
            }
        }
    }

    /// All lanes with their calls. Stronger evidence is used first.
    fn lanes_with_calls(&self) -> Vec<(Name, Text, Option<Key>)> {
        let mut children: Vec<&LaneFile> = self
            .order
            .iter()
            .filter_map(|file| self.children.get(file))
            .collect();
        children.sort_by_key(|child| child.at);
        let mut used: HashSet<&Key> = HashSet::new();
        let mut ties: Vec<Option<(&Key, Evidence)>> = vec![None; children.len()];
        for evidence in [
            Evidence::Recorded,
            Evidence::Agent,
            Evidence::Task,
            Evidence::Time,
        ] {
            for (child, tie) in children.iter().zip(&mut ties) {
                if tie.is_none()
                    && let Some(call) = self.call_of(child, evidence, &used)
                {
                    used.insert(call);
                    *tie = Some((call, evidence));
                }
            }
        }
        let named = |(child, tie): (&&LaneFile, Option<(&Key, Evidence)>)| {
            let is_guess = matches!(tie, Some((_, Evidence::Time)));
            let label = if is_guess {
                format!("{} (call by time)", child.label)
            } else {
                child.label.clone()
            };
            (
                child.lane.clone(),
                Text::clean(&label),
                tie.map(|(call, _)| call.clone()),
            )
        };
        children.iter().zip(ties).map(named).collect()
    }

    fn call_of<'s>(
        &'s self,
        child: &LaneFile,
        evidence: Evidence,
        used: &HashSet<&Key>,
    ) -> Option<&'s Key> {
        if evidence == Evidence::Recorded {
            // An older file lacks its own session id, which ends in the name of the file.
            let own = format!("__{}", child.lane.as_str());
            let fits = |(session, _): &(&String, &Key)| {
                **session == child.session || session.ends_with(&own)
            };
            return self.recorded.iter().find(fits).map(|(_, call)| call);
        }
        let parent = self
            .children
            .values()
            .find(|other| Some(&other.session) == child.parent.as_ref());
        let parent = parent.map(|parent| &parent.lane);
        let free = || {
            let is_free =
                |spawn: &&Spawn| !used.contains(&spawn.call) && spawn.lane.as_ref() == parent;
            self.spawns
                .iter()
                .filter(is_free)
                .filter(|spawn| spawn.lane.as_ref() != Some(&child.lane))
        };
        let found = match evidence {
            Evidence::Recorded => None,
            Evidence::Agent => {
                let mut own = free().filter(|spawn| spawn.agent.as_ref() == Some(&child.agent));
                own.clone().find(|spawn| spawn.runs).or_else(|| own.next())
            }
            Evidence::Task => free().find(|spawn| {
                let task = spawn
                    .task
                    .as_ref()
                    .filter(|task| task.len() >= DISTINCT_TASK);
                task.is_some_and(|task| {
                    child
                        .task
                        .as_ref()
                        .is_some_and(|words| words.contains(task))
                })
            }),
            // A call that names its agent or its task would have been found by these.
            Evidence::Time => free().find(|spawn| {
                let says = spawn
                    .task
                    .as_ref()
                    .is_some_and(|task| task.len() >= DISTINCT_TASK);
                !says && spawn.agent.is_none() && spawn.at.is_some() && spawn.at <= child.at
            }),
        };
        found.map(|spawn| &spawn.call)
    }
}
