//! The sessions of a reading: which one is the main session, which are its lanes, and which
//! messages are undone.
//!
//! Invariant: the main session is that of the first message; every other one is a lane.

use std::collections::HashMap;

use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, MetaEdit, Severity};
use crate::model::entry::{Break, Role};
use crate::model::record::Origin;
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::{Scope, Usage};

/// The maximum length of a title made from a prompt, in characters.
pub(super) const TITLE_CHARS: usize = 120;
/// All sessions read so far.
#[derive(Debug, Default)]
pub(super) struct OpenCodeSessions {
    main: Option<Text>,
    /// Whether a message has confirmed the main session.
    is_main_sure: bool,
    known: HashMap<Text, OpencodeSession>,
    agent: Option<Text>,
}

#[derive(Debug, Default)]
struct OpencodeSession {
    title: Text,
    parent: Option<Text>,
    created: Option<Timestamp>,
    call: Key,
    is_lane: bool,
    /// The first undone message, and whether it is undone itself.
    undone: Option<(Text, bool)>,
    /// The session's own total, until it is compared with its messages.
    claim: Option<Usage>,
    /// The session that it was forked from, whose messages it begins with.
    source: Option<Text>,
    /// Whether some of its messages are copies.
    has_copies: bool,
    /// When and how the session became idle.
    idle: Option<IdleState>,
    /// Whether the session's own total includes usage that no message has, such as that for titles
    /// and undone messages. This holds since version 2.
    has_total: bool,
    /// The part of the total beyond the usage of the messages.
    excess: Option<Usage>,
}

/// The outcome of a turn that continues when the stopped server restarts.
pub(super) const SUSPENDED: &str = "suspended";

/// When and how a session became idle.
#[derive(Clone, Debug)]
pub(super) struct IdleState {
    pub(super) at: Timestamp,
    /// The outcome of its last turn.
    pub(super) outcome: Text,
    /// The record of this.
    pub(super) origin: Origin,
}

impl OpenCodeSessions {
    /// Adds the facts of a session and returns its id.
    pub(super) fn add(&mut self, info: &Json<'_>, out: &mut Batch) -> Text {
        let id = info.get("id").clean();
        let title = info
            .get("title")
            .text()
            .filter(|title| !is_default_title(title));
        let session = self.known.entry(id.clone()).or_default();
        session.parent = info
            .get("parentID")
            .text()
            .or_else(|| session.parent.take());
        if let Some(title) = &title {
            session.title = title.clone();
        }
        let from = info.at("revert.messageID").text();
        session.undone = from.map(|id| (id, info.at("revert.partID").is_null()));
        session.created = info.at("time.created").moment().or(session.created);
        session.source = info.get("forkSessionID").text();
        session.has_total = info.get("location").is_object();
        let rest = |name: &str, how: Text| {
            let at = info.get("time").get(name).moment()?;
            Some(IdleState {
                at,
                outcome: how,
                origin: out.origin(),
            })
        };
        let idle = rest("idle", info.get("idleOutcome").text().unwrap_or_default());
        let rests = [idle, rest("suspended", SUSPENDED.into())];
        session.idle = rests.into_iter().flatten().max_by_key(|rest| rest.at);
        let is_lane = session.is_lane;
        if *self.main.get_or_insert_with(|| id.clone()) == id {
            out.meta(MetaEdit::Id(id.clone()));
            let recorded = [
                title.map(|title| MetaEdit::Title { rank: 2, title }),
                info.first(&["directory", "location.directory"], Json::text)
                    .map(MetaEdit::Cwd),
                info.at("time.archived").moment().map(archived),
                info.get("version").text().map(MetaEdit::Version),
                info.get("agent").text().map(MetaEdit::Agent),
            ];
            recorded
                .into_iter()
                .flatten()
                .for_each(|edit| out.meta(edit));
        } else if is_lane && title.is_some() {
            out.lane(id.clone(), title, None);
        }
        id
    }

    /// Whether a message was copied from another session. A fork of version 1 has copies with new
    /// ids and their old times, so they are older than the fork. Its own total may include the
    /// copies and is dropped.
    pub(super) fn is_copied(&mut self, id: &Text, at: Option<Timestamp>) -> bool {
        let Some(session) = self.known.get_mut(id) else {
            return false;
        };
        let is_copied = at
            .zip(session.created)
            .is_some_and(|(at, created)| at < created);
        if is_copied {
            session.has_copies = true;
            session.claim = None;
        }
        is_copied
    }

    /// Sets the session's own total; `None` leaves it unchanged. The total of a fork is ignored,
    /// since it may include its copies.
    pub(super) fn set_total(&mut self, id: &Text, usage: Option<Usage>) {
        let session = self
            .known
            .get_mut(id)
            .filter(|session| session.source.is_none() && !session.has_copies);
        if let (Some(session), Some(usage)) = (session, usage) {
            session.claim = Some(usage);
        }
    }

    /// The session that this one was forked from.
    pub(super) fn source(&self, id: &Text) -> Option<&Text> {
        self.known.get(id)?.source.as_ref()
    }

    /// The idle sessions, with when and how each became idle.
    pub(super) fn idle_sessions(&self) -> Vec<(Text, IdleState)> {
        let known = self.known.iter();
        let mut rests: Vec<_> = known
            .filter_map(|(id, session)| Some((id.clone(), session.idle.clone()?)))
            .collect();
        rests.sort_by(|a, b| a.0.cmp(&b.0));
        rests
    }

    /// Lanes whose starting call is unknown: session, parent session and time of creation.
    pub(super) fn unlinked(&self) -> Vec<(Text, Text, Timestamp)> {
        let lanes = self
            .known
            .iter()
            .filter(|(_, session)| session.is_lane && session.call.is_empty());
        let unlinked =
            lanes.filter_map(|(id, one)| Some((id.clone(), one.parent.clone()?, one.created?)));
        let mut unlinked: Vec<_> = unlinked.collect();
        unlinked.sort_by(|a, b| (a.2, &a.0).cmp(&(b.2, &b.0)));
        unlinked
    }

    /// The main session, if it has been determined.
    pub(super) fn main(&self) -> Option<&Text> {
        self.main.as_ref()
    }

    /// The totals that sessions claim for themselves. Totals of version 2 are compared again with
    /// each message, others once.
    pub(super) fn totals(&mut self) -> Vec<(Text, Usage)> {
        let claims = self.known.iter_mut().filter_map(|(id, session)| {
            let claim = if session.has_total {
                session.claim.clone()
            } else {
                session.claim.take()
            };
            Some((id.clone(), claim?))
        });
        let mut claims: Vec<_> = claims.collect();
        claims.sort_by(|a, b| a.0.cmp(&b.0));
        claims
    }

    /// Registers the call that started a session.
    pub(super) fn started(&mut self, child: &Text, call: &Key, headline: &Text, out: &mut Batch) {
        let session = self.known.entry(child.clone()).or_default();
        if session.title.is_empty() {
            session.title.clone_from(headline);
        }
        session.call.clone_from(call);
        if session.is_lane {
            out.lane(child.clone(), None, Some(call.clone()));
        }
    }

    /// The lane of a session; `None` for the main session, which is that of the first message. A
    /// stream may begin with events of other sessions.
    pub(super) fn lane_of(&mut self, id: &Text, out: &mut Batch) -> Option<Name> {
        if id.is_empty() {
            return None;
        }
        if !std::mem::replace(&mut self.is_main_sure, true) {
            self.resolve_main(id, out);
        }
        if self.main.as_ref() == Some(id) {
            return None;
        }
        let session = self.known.entry(id.clone()).or_default();
        if !std::mem::replace(&mut session.is_lane, true) {
            let label = (!session.title.is_empty()).then(|| session.title.clone());
            let call = (!session.call.is_empty()).then(|| session.call.clone());
            out.lane(id.clone(), label, call);
        }
        Some(id.clone())
    }

    fn resolve_main(&mut self, id: &Text, out: &mut Batch) {
        let session = self.known.entry(id.clone()).or_default();
        let (title, parent) = (session.title.clone(), session.parent.clone());
        let is_other = self.main.as_ref().is_some_and(|main| main != id);
        if is_other && parent.is_some() {
            return;
        }
        self.main = Some(id.clone());
        if is_other {
            out.meta(MetaEdit::Id(id.clone()));
            out.title(2, title);
        }
        if let Some(parent) = parent {
            let mut entry = out.new_entry(text!("parent:{id}"), Role::Harness, None);
            let line = Break::setting(&format!("sub-agent of session {parent}"));
            entry.push(line);
            out.entry(entry);
        }
    }

    /// Whether this is the main session. True until that is determined.
    pub(super) fn is_main(&self, id: &Text) -> bool {
        self.main.as_ref().is_none_or(|main| main == id)
    }

    /// Whether the message is undone. Ids ascend in time, so they are compared.
    pub(super) fn is_undone(&self, session: &Text, message: &Key) -> bool {
        let from = self
            .known
            .get(session)
            .and_then(|session| session.undone.as_ref());
        from.is_some_and(|(from, included)| message > from || (*included && message == from))
    }

    /// Emits the agent's name when it changes.
    pub(super) fn emit_agent(&mut self, agent: Option<Text>, out: &mut Batch) {
        if let Some(agent) = agent
            && self.agent.as_ref() != Some(&agent)
        {
            out.meta(MetaEdit::Agent(agent.clone()));
            self.agent = Some(agent);
        }
    }
}

/// The fact that the user archived the session. An archived session has not ended, since it can be
/// restored.
fn archived(at: Timestamp) -> MetaEdit {
    MetaEdit::Fact {
        name: "archived",
        value: Text::clean(&at.to_rfc3339()),
    }
}

/// Prefixes of the titles that sessions have before their real one.
pub(super) const DEFAULT_TITLES: [&str; 2] = ["New session - ", "Child session - "];

fn is_default_title(title: &str) -> bool {
    DEFAULT_TITLES
        .iter()
        .any(|beginning| title.starts_with(beginning))
}

impl OpenCodeSessions {
    /// Compares the session's own total with the usage of its messages. Of a total of version 2 the
    /// excess counts as spent outside of messages. Sums of version 1 only repeat the messages; a
    /// difference is reported as a notice.
    pub(super) fn resolve(&mut self, id: &Text, claim: &Usage, spent: &Usage, out: &mut Batch) {
        let Some(session) = self.known.get_mut(id).filter(|session| session.has_total) else {
            return compare(id, claim, spent, out);
        };
        let rest = Some(excess(claim, spent)).filter(|rest| rest.cost.is_some() || !rest.is_zero());
        if session.excess != rest {
            session.excess.clone_from(&rest);
            // Usage of zero replaces an earlier excess.
            let usage = rest.unwrap_or_else(|| Usage {
                scope: Scope::Run,
                ..Usage::default()
            });
            let of = text!("total:{id}");
            out.usage(of, usage, None);
        }
    }
}

/// The part of a total beyond the sum of requests.
fn excess(total: &Usage, sum: &Usage) -> Usage {
    let tokens = |total: Option<u64>, sum: Option<u64>| {
        total.map(|total| total.saturating_sub(sum.unwrap_or_default()))
    };
    let usd = total.cost.unwrap_or_default() - sum.cost.unwrap_or_default();
    Usage {
        scope: Scope::Extra,
        input: tokens(total.input, sum.input),
        output: tokens(total.output, sum.output),
        cache_read: tokens(total.cache_read, sum.cache_read),
        cache_write: tokens(total.cache_write, sum.cache_write),
        reasoning: tokens(total.reasoning, sum.reasoning),
        cost: Some(usd).filter(|usd| *usd > EQUAL_USD),
        ..Usage::default()
    }
}

/// Tolerance in USD for sums of the same costs.
const EQUAL_USD: f64 = 1e-6;

fn compare(session: &Text, claim: &Usage, spent: &Usage, out: &mut Batch) {
    let cost = |usage: &Usage| usage.cost.unwrap_or(0.0);
    let is_same_cost = (cost(claim) - cost(spent)).abs() < EQUAL_USD;
    let is_same = is_same_cost && claim.prompt() == spent.prompt() || claim.is_zero();
    if !is_same {
        let what = format!(
            "session {session} says {} prompt tokens and {:.6} USD, its messages {} and {:.6}",
            claim.prompt(),
            cost(claim),
            spent.prompt(),
            cost(spent)
        );
        out.notice(Severity::Note, &what);
    }
}
