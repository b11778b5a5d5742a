//! Sub-agents that run on after the result of the call that spawned them: requests about them, and
//! reports of their state. Waiting for one, closing one and listing all are calls of their own. A
//! notification is in a user message, or is a message of the agent to the one that spawned it.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::formats::json::{self, Json};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, EndRecording, Update, Work, WorkEnd, WorkReference};

/// First words of a message with which an agent returns its result.
const FINAL: &str = "Message Type: FINAL_ANSWER";
/// The text shown for an encrypted message.
pub(super) const ENCRYPTED: &str = "(encrypted)";
/// The label before the agent's text.
const PAYLOAD: &str = "Payload:";
/// First words of that text if the agent failed.
const FAILED: &str = "Agent errored: ";
const CLOSED: [&str; 2] = ["Agent shut down.", "Agent was not found."];
/// Tags around a notification of a sub-agent's state.
const NOTICE: (&str, &str) = ("<subagent_notification>", "</subagent_notification>");

/// Length limit of the reason why an agent failed, in characters.
const REASON_CHARS: usize = 200;

/// The end of an agent, `None` while it runs, and the reason.
type AgentEnd = (Option<WorkEnd>, Option<Text>);

/// The sub-agents of a thread.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    /// The calls that spawned agents, by each name of an agent: its thread or its path.
    spawned: HashMap<Text, Key>,
    /// Requests of calls without a result.
    requests: HashMap<Key, AgentRequest>,
    /// Calls that spawned an agent, in order, while the model has no report of its end.
    open: Vec<Key>,
}

/// A request about sub-agents, which are named by thread or path.
#[derive(Debug)]
enum AgentRequest {
    Spawn,
    /// Wait for these, or for any if empty.
    Wait(Vec<Text>),
    Close(Text),
    List,
    /// Send an agent further input.
    Send(Text),
}

/// The record that reports on agents, its timestamp, and who sees it.
pub(super) struct ReportSource<'a> {
    pub(super) by: Key,
    pub(super) at: Option<Timestamp>,
    pub(super) carrier: Carrier,
    pub(super) lane: Option<&'a Name>,
}

impl Agents {
    pub(super) fn record_call(&mut self, call: &Key, name: &str, input: &Json<'_>) {
        let lists = ["targets", "ids"].map(|field| input.get(field));
        let agents = || {
            let agents = lists.iter().flat_map(|list| list.items());
            agents.filter_map(Json::text).collect()
        };
        let named = || input.first(&["target", "id"], Json::text);
        let request = match name.rsplit("__").next().unwrap_or(name) {
            "spawn_agent" => Some(AgentRequest::Spawn),
            "wait_agent" => Some(AgentRequest::Wait(agents())),
            // A tool of the same name waits for scripts.
            "wait" if !input.has("cell_id") => Some(AgentRequest::Wait(agents())),
            "close_agent" | "interrupt_agent" => named().map(AgentRequest::Close),
            "list_agents" => Some(AgentRequest::List),
            "send_input" | "resume_agent" | "followup_task" => named().map(AgentRequest::Send),
            _ => None,
        };
        if let Some(request) = request {
            self.requests.insert(call.clone(), request);
        }
    }

    /// Applies the result of a call. Returns the work that the call started.
    pub(super) fn answer(
        &mut self,
        call: &Key,
        (text, at): (&str, Option<Timestamp>),
        lane: Option<&Name>,
        out: &mut Batch,
    ) -> Option<Work> {
        let request = self.requests.remove(call)?;
        let answer = json::read(text.trim()).filter(Json::is_object)?;
        let source = |carrier| ReportSource {
            by: call.clone(),
            at,
            carrier,
            lane,
        };
        match request {
            AgentRequest::Spawn => {
                let agent = answer.first(&["agent_id", "task_name"], Json::text)?;
                self.name(&agent, call);
                self.open.push(call.clone());
                return Some(Work::begun(agent, EndRecording::Announced));
            }
            AgentRequest::Wait(agents) => {
                let states = answer.get("status").members();
                let is_in = |agent: &Text| states.iter().any(|(name, _)| *name == **agent);
                let asked = if agents.is_empty() {
                    self.open
                        .iter()
                        .map(|call| WorkReference::call(call.clone()))
                        .collect()
                } else {
                    let others = agents.iter().filter(|agent| !is_in(agent));
                    others.map(|agent| self.about(agent)).collect::<Vec<_>>()
                };
                for about in asked {
                    self.update(about, (None, None), &source(Carrier::Poll), out);
                }
                self.apply_states(states, &source(Carrier::Poll), out);
            }
            AgentRequest::Close(agent) => {
                let names = ["status", "previous_status"];
                let status = names.map(|name| end_of(answer.get(name)).and_then(|(end, _)| end));
                let end = status.into_iter().flatten().next();
                let end = end.or(WorkEnd::from_word(Some("stopped"), None));
                let about = self.about(&agent);
                self.update(about, (end, None), &source(Carrier::Poll), out);
            }
            AgentRequest::List => {
                for agent in answer.get("agents").items() {
                    let name = agent.get("agent_name").text();
                    let known = name.filter(|name| self.spawned.contains_key(name));
                    let end = end_of(agent.get("agent_status"));
                    if let Some((name, end)) = known.zip(end) {
                        let about = self.about(&name);
                        self.update(about, end, &source(Carrier::Poll), out);
                    }
                }
            }
            AgentRequest::Send(agent) => {
                let about = self.about(&agent);
                self.update(about, (None, None), &source(Carrier::Record), out);
            }
        }
        None
    }

    /// Records a name of an agent that a call spawned.
    pub(super) fn name(&mut self, agent: &Text, call: &Key) {
        self.spawned.insert(agent.clone(), call.clone());
    }

    /// Applies the notifications in a text by the program.
    pub(super) fn notice(&mut self, text: &str, source: &ReportSource<'_>, out: &mut Batch) {
        for part in text.split(NOTICE.0).skip(1) {
            let notice = part.split(NOTICE.1).next().unwrap_or_default();
            let notice = json::read(notice.trim()).unwrap_or(Json::Null);
            let agent = notice.first(&["agent_path", "agent_id"], Json::text);
            let end = end_of(notice.get("status")).filter(|(end, _)| end.is_some());
            if let Some((agent, end)) = agent.zip(end) {
                let about = self.about(&agent);
                self.update(about, end, source, out);
            }
        }
    }

    /// Applies a message of an agent, if it returns the agent's result.
    pub(super) fn message(
        &mut self,
        author: Option<Text>,
        text: &str,
        source: &ReportSource<'_>,
        out: &mut Batch,
    ) {
        if text.contains(NOTICE.0) {
            return self.notice(text, source, out);
        }
        let Some(author) = author.filter(|author| self.spawned.contains_key(author)) else {
            return;
        };
        if text == ENCRYPTED {
            // Encrypted, so that it is unknown whether it is the last one.
            return self.update(self.about(&author), (None, None), source, out);
        }
        if !text.trim_start().starts_with(FINAL) {
            return;
        }
        let said = text.split_once(PAYLOAD).map_or("", |(_, said)| said.trim());
        let error = said.strip_prefix(FAILED);
        let word = match error {
            Some(_) => "failed",
            None if CLOSED.contains(&said) => "stopped",
            None => "completed",
        };
        let about = self.about(&author);
        let end = WorkEnd::from_word(Some(word), None);
        self.update(about, (end, error.and_then(first_line)), source, out);
    }

    /// Applies the states of agents, an object by their names.
    pub(super) fn apply_states(
        &mut self,
        agents: &[(Cow<'_, str>, Json<'_>)],
        source: &ReportSource<'_>,
        out: &mut Batch,
    ) {
        for (agent, status) in agents {
            let is_poll = source.carrier == Carrier::Poll;
            if let Some(end) = end_of(status).filter(|(end, _)| is_poll || end.is_some()) {
                let about = self.about(&Text::clean(agent));
                self.update(about, end, source, out);
            }
        }
    }

    /// Applies a record that the agent with one of these names began, ended or received input.
    pub(super) fn activity(
        &mut self,
        names: &[Text],
        kind: &str,
        source: &ReportSource<'_>,
        out: &mut Batch,
    ) {
        let known = names.iter().find(|name| self.spawned.contains_key(*name));
        let Some(about) = known.map(|name| self.about(name)) else {
            return;
        };
        let end = WorkEnd::from_word(Some(kind), None);
        if end.is_some() || kind == "interacted" {
            self.update(about, (end, None), source, out);
        }
    }

    fn about(&self, agent: &Text) -> WorkReference {
        let call = self.spawned.get(agent).cloned();
        WorkReference {
            handle: call.is_none().then(|| agent.clone()),
            call,
        }
    }

    fn update(
        &mut self,
        about: WorkReference,
        (end, reason): AgentEnd,
        source: &ReportSource<'_>,
        out: &mut Batch,
    ) {
        if end.is_some() && source.carrier.is_seen() {
            self.open.retain(|call| Some(call) != about.call.as_ref());
        }
        let update = Update {
            by: source.by.clone(),
            at: source.at,
            carrier: source.carrier,
            end,
            reason,
        };
        out.update(about, update, source.lane.cloned());
    }
}

/// The work of an agent that was spawned from code, which has no other record of the call.
pub(super) fn spawned(item: &Json<'_>) -> Option<Work> {
    let is_spawn = item.get("tool").str_or_empty().starts_with("spawn");
    let mut agents = item.get("receiver_thread_ids").items().iter();
    let agent = agents.find_map(Json::text).filter(|_| is_spawn)?;
    Some(Work::begun(agent, EndRecording::Announced))
}

/// Parses the state of an agent: its end with a reason, no end if it is running. `None` if it is
/// not a state.
fn end_of(status: &Json<'_>) -> Option<AgentEnd> {
    let (word, said) = match status.members().first() {
        Some((word, said)) => (word.as_ref(), said),
        None => (status.str()?, &Json::Null),
    };
    if matches!(word, "running" | "pending_init") {
        return Some((None, None));
    }
    let reason = said.str().filter(|_| word == "errored");
    let end = WorkEnd::from_word(Some(word), None)?;
    Some((Some(end), reason.and_then(first_line)))
}

fn first_line(text: &str) -> Option<Text> {
    let line = text.trim().lines().next()?;
    Some(Text::stub(line, REASON_CHARS))
}
