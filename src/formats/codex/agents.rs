//! Sub-agents that go on after the result of the call that spawned them: what is asked about them, and what is told of
//! how they stand. Waiting for one, closing one and listing all are calls of their own; a notice stands under the user's
//! name, or is a message of the agent to the one that spawned it.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::formats::json::{self, Json};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{About, Carrier, End, Ends, Update, Work};

/// How a message begins with which an agent hands over its result.
const FINAL: &str = "Message Type: FINAL_ANSWER";
/// What stands for a message that only the program can read.
pub(super) const ENCRYPTED: &str = "(encrypted)";
/// What stands before what it says.
const PAYLOAD: &str = "Payload:";
/// How it begins if the agent has no result.
const FAILED: &str = "Agent errored: ";
const CLOSED: [&str; 2] = ["Agent shut down.", "Agent was not found."];
/// Around what the program tells of how an agent stands.
const NOTICE: (&str, &str) = ("<subagent_notification>", "</subagent_notification>");

/// Characters of why an agent failed.
const REASON_CHARS: usize = 200;

/// How an agent ended, if it did, and why.
type Standing = (Option<End>, Option<Text>);

/// The sub-agents of a thread.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    /// By each name of an agent, its thread or its path: the call that spawned it.
    spawned: HashMap<Text, Key>,
    /// What calls without a result ask.
    asked: HashMap<Key, Request>,
    /// Calls that spawned an agent of whose end the model was not told, in their order.
    open: Vec<Key>,
}

/// What a call asks about sub-agents, named by their threads or paths.
#[derive(Debug)]
enum Request {
    Spawn,
    /// To wait for these, or for any.
    Wait(Vec<Text>),
    Close(Text),
    List,
    /// To go on with something.
    Send(Text),
}

/// Which record tells something of agents, when that was, and who gets to see it.
pub(super) struct Source<'a> {
    pub(super) by: Key,
    pub(super) at: Option<Timestamp>,
    pub(super) carrier: Carrier,
    pub(super) lane: Option<&'a Name>,
}

impl Agents {
    /// Takes note of a call that is about agents.
    pub(super) fn ask(&mut self, call: &Key, name: &str, input: &Json<'_>) {
        let lists = ["targets", "ids"].map(|field| input.get(field));
        let agents = || {
            let agents = lists.iter().flat_map(|list| list.items());
            agents.filter_map(Json::text).collect()
        };
        let named = || {
            let mut fields = ["target", "id"].iter();
            fields.find_map(|field| input.get(field).text())
        };
        let request = match name.rsplit("__").next().unwrap_or(name) {
            "spawn_agent" => Some(Request::Spawn),
            "wait_agent" => Some(Request::Wait(agents())),
            // Scripts are waited for by a tool of the same name.
            "wait" if !input.has("cell_id") => Some(Request::Wait(agents())),
            "close_agent" | "interrupt_agent" => named().map(Request::Close),
            "list_agents" => Some(Request::List),
            "send_input" | "resume_agent" | "followup_task" => named().map(Request::Send),
            _ => None,
        };
        if let Some(request) = request {
            self.asked.insert(call.clone(), request);
        }
    }

    /// Takes in what came of a call, and gives the work that it began.
    pub(super) fn answer(
        &mut self,
        call: &Key,
        (text, at): (&str, Option<Timestamp>),
        lane: Option<&Name>,
        out: &mut Batch,
    ) -> Option<Work> {
        let request = self.asked.remove(call)?;
        let answer = json::read(text.trim()).filter(Json::is_object)?;
        let source = |carrier| Source {
            by: call.clone(),
            at,
            carrier,
            lane,
        };
        match request {
            Request::Spawn => {
                let mut names = ["agent_id", "task_name"].iter();
                let agent = names.find_map(|name| answer.get(name).text())?;
                self.name(&agent, call);
                self.open.push(call.clone());
                return Some(Work::begun(agent, Ends::Announced));
            }
            Request::Wait(agents) => {
                let states = answer.get("status").members();
                let is_in = |agent: &Text| states.iter().any(|(name, _)| *name == **agent);
                let asked = if agents.is_empty() {
                    self.open
                        .iter()
                        .map(|call| About::call(call.clone()))
                        .collect()
                } else {
                    let others = agents.iter().filter(|agent| !is_in(agent));
                    others.map(|agent| self.about(agent)).collect::<Vec<_>>()
                };
                for about in asked {
                    self.update(about, (None, None), &source(Carrier::Poll), out);
                }
                self.stand(states, &source(Carrier::Poll), out);
            }
            Request::Close(agent) => {
                let names = ["status", "previous_status"];
                let status = names.map(|name| standing(answer.get(name)).and_then(|(end, _)| end));
                let end = status.into_iter().flatten().next();
                let end = end.or(End::by_word(Some("stopped"), None));
                let about = self.about(&agent);
                self.update(about, (end, None), &source(Carrier::Poll), out);
            }
            Request::List => {
                for agent in answer.get("agents").items() {
                    let name = agent.get("agent_name").text();
                    let known = name.filter(|name| self.spawned.contains_key(name));
                    let stands = standing(agent.get("agent_status"));
                    if let Some((name, standing)) = known.zip(stands) {
                        let about = self.about(&name);
                        self.update(about, standing, &source(Carrier::Poll), out);
                    }
                }
            }
            Request::Send(agent) => {
                let about = self.about(&agent);
                self.update(about, (None, None), &source(Carrier::Record), out);
            }
        }
        None
    }

    /// An agent that a call spawned has this name.
    pub(super) fn name(&mut self, agent: &Text, call: &Key) {
        self.spawned.insert(agent.clone(), call.clone());
    }

    /// Takes in notices in a text that the program wrote.
    pub(super) fn notice(&mut self, text: &str, source: &Source<'_>, out: &mut Batch) {
        for part in text.split(NOTICE.0).skip(1) {
            let notice = part.split(NOTICE.1).next().unwrap_or_default();
            let notice = json::read(notice.trim()).unwrap_or(Json::Null);
            let mut names = ["agent_path", "agent_id"].iter();
            let agent = names.find_map(|name| notice.get(name).text());
            let stands = standing(notice.get("status")).filter(|(end, _)| end.is_some());
            if let Some((agent, standing)) = agent.zip(stands) {
                let about = self.about(&agent);
                self.update(about, standing, source, out);
            }
        }
    }

    /// Takes in a message of an agent, if that hands over its result.
    pub(super) fn message(
        &mut self,
        author: Option<Text>,
        text: &str,
        source: &Source<'_>,
        out: &mut Batch,
    ) {
        if text.contains(NOTICE.0) {
            return self.notice(text, source, out);
        }
        let Some(author) = author.filter(|author| self.spawned.contains_key(author)) else {
            return;
        };
        if text == ENCRYPTED {
            // Nobody can read whether it is the last one.
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
        let end = End::by_word(Some(word), None);
        self.update(about, (end, error.and_then(first_line)), source, out);
    }

    /// Takes in how agents stand: objects with their names.
    pub(super) fn stand(
        &mut self,
        agents: &[(Cow<'_, str>, Json<'_>)],
        source: &Source<'_>,
        out: &mut Batch,
    ) {
        for (agent, status) in agents {
            let is_poll = source.carrier == Carrier::Poll;
            if let Some(standing) = standing(status).filter(|(end, _)| is_poll || end.is_some()) {
                let about = self.about(&Text::clean(agent));
                self.update(about, standing, source, out);
            }
        }
    }

    /// Takes in what the program notes of an agent with these names: that it began, ended or goes on with something.
    pub(super) fn activity(
        &mut self,
        names: &[Text],
        kind: &str,
        source: &Source<'_>,
        out: &mut Batch,
    ) {
        let known = names.iter().find(|name| self.spawned.contains_key(*name));
        let Some(about) = known.map(|name| self.about(name)) else {
            return;
        };
        let end = End::by_word(Some(kind), None);
        if end.is_some() || kind == "interacted" {
            self.update(about, (end, None), source, out);
        }
    }

    fn about(&self, agent: &Text) -> About {
        let call = self.spawned.get(agent).cloned();
        About {
            handle: call.is_none().then(|| agent.clone()),
            call,
        }
    }

    fn update(
        &mut self,
        about: About,
        (end, reason): Standing,
        source: &Source<'_>,
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

/// The work of an agent that was spawned in code, where nobody else writes the call down.
pub(super) fn spawned(item: &Json<'_>) -> Option<Work> {
    let is_spawn = item.get("tool").str_or_empty().starts_with("spawn");
    let mut agents = item.get("receiver_thread_ids").items().iter();
    let agent = agents.find_map(Json::text).filter(|_| is_spawn)?;
    Some(Work::begun(agent, Ends::Announced))
}

/// How an agent stands, and why: that it ended, or nothing if it goes on. Nothing at all if that is not told.
fn standing(status: &Json<'_>) -> Option<Standing> {
    let (word, said) = match status.members().first() {
        Some((word, said)) => (word.as_ref(), said),
        None => (status.str()?, &Json::Null),
    };
    if matches!(word, "running" | "pending_init") {
        return Some((None, None));
    }
    let reason = said.str().filter(|_| word == "errored");
    let end = End::by_word(Some(word), None)?;
    Some((Some(end), reason.and_then(first_line)))
}

fn first_line(text: &str) -> Option<Text> {
    let line = text.trim().lines().next()?;
    Some(Text::stub(line, REASON_CHARS))
}
