//! Facts that rows of the second generation record between messages: where a fork begins on its
//! own, queued prompts, and when a session became idle.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::blocks::raw;
use super::messages::MessageStore;
use super::rows;
use super::sessions::{IdleState, OpenCodeSessions, SUSPENDED};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Break, Entry, Marks, Role, Stop};
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;

/// The state of these facts, by session.
#[derive(Debug, Default)]
pub(super) struct TurnStates {
    /// Forks of which only copied rows have been read so far.
    copying: HashSet<Text>,
    /// Sessions that record with a row when they become idle.
    recorded: HashSet<Text>,
    /// Sessions for which an idle entry was emitted, with its time.
    idle_entries: HashMap<Text, Timestamp>,
    /// Queued prompts in order, by session.
    waiting: BTreeMap<Text, Vec<UndeliveredPrompt>>,
    /// The keys of queued prompts that are shown, by session.
    shown: HashMap<Text, Vec<Key>>,
}

/// A prompt that is not delivered yet.
#[derive(Clone, Debug)]
struct UndeliveredPrompt {
    key: Key,
    at: Option<Timestamp>,
    kind: BlockKind,
}

/// The tables of queued prompts.
const PENDING: [&str; 2] = ["session_pending", "session_inbox"];

impl TurnStates {
    /// Sets the queued prompts of a session, which are shown after its messages.
    pub(super) fn set_queued(&mut self, session: &Text, info: &Json<'_>, out: &mut Batch) {
        let pending = PENDING.iter().flat_map(|table| info.get(table).items());
        let waiting: Vec<UndeliveredPrompt> =
            pending.filter_map(|one| queued_prompt(one, out)).collect();
        if waiting.is_empty() {
            if let Some(all) = self.waiting.get_mut(session) {
                all.clear();
            }
        } else {
            self.waiting.insert(session.clone(), waiting);
        }
    }

    /// Emits the origin of a fork before the fork's first row of its own.
    pub(super) fn emit_fork_origin(
        &mut self,
        session: &Text,
        json: &Json<'_>,
        sessions: &mut OpenCodeSessions,
        out: &mut Batch,
    ) {
        if json.get("copied").is_true() {
            self.copying.insert(session.clone());
        } else if self.copying.remove(session)
            && let Some(source) = sessions.source(session)
        {
            let line = Break::setting(&format!("forked from session {source}"));
            let mut entry = out.new_entry(
                text!("fork:{session}"),
                Role::Harness,
                rows::time(json).moment(),
            );
            entry.lane = sessions.lane_of(session, out);
            entry.push(line);
            out.entry(entry);
        }
    }

    /// Registers that a session records with a row when it becomes idle.
    pub(super) fn mark_idle_recorded(&mut self, session: &Text) {
        self.recorded.insert(session.clone());
    }

    /// Updates the queued prompts that are shown, and the idle entries of sessions that have no row
    /// for it.
    pub(super) fn update_shown(
        &mut self,
        sessions: &mut OpenCodeSessions,
        messages: &MessageStore,
        out: &mut Batch,
    ) {
        self.show_waiting(sessions, out);
        for (session, rest) in sessions.idle_sessions() {
            let IdleState {
                at,
                outcome: how,
                origin,
            } = rest;
            let is_over = messages.last_time(&session).is_some_and(|last| last <= at);
            let rests = is_over && (how.as_str() == SUSPENDED || !self.recorded.contains(&session));
            let key = text!("idle:{session}");
            match (rests, self.idle_entries.get(&session)) {
                (true, Some(known)) if *known == at => {}
                (true, _) => {
                    let is_recorded = messages.has_failed(&session);
                    let how = rows::ended(&how);
                    let lane = sessions.lane_of(&session, out);
                    let entry = idle_entry(key, Some(at), how, is_recorded, out);
                    out.push(Edit::Retire(entry.key.clone()));
                    out.entry(Entry {
                        lane,
                        origin,
                        ..entry
                    });
                    self.idle_entries.insert(session, at);
                }
                (false, Some(_)) => {
                    out.push(Edit::Retire(key));
                    self.idle_entries.remove(&session);
                }
                (false, None) => {}
            }
        }
    }

    fn show_waiting(&mut self, sessions: &mut OpenCodeSessions, out: &mut Batch) {
        for (session, waiting) in &self.waiting {
            let shown = self.shown.entry(session.clone()).or_default();
            shown.retain(|key| {
                let waits = waiting.iter().any(|one| one.key == *key);
                if !waits {
                    out.push(Edit::Retire(key.clone()));
                }
                waits
            });
            for one in waiting
                .iter()
                .filter(|one| !shown.contains(&one.key))
                .cloned()
                .collect::<Vec<_>>()
            {
                let mut entry = out.new_entry(one.key.clone(), Role::Harness, one.at);
                entry.lane = sessions.lane_of(session, out);
                entry.marks = Marks {
                    quiet: true,
                    unsent: true,
                    ..Marks::default()
                };
                entry.origin = one
                    .kind
                    .bodies()
                    .next()
                    .map_or(entry.origin, |body| body.from);
                entry.push(one.kind);
                out.entry(entry);
                shown.push(one.key);
            }
        }
    }
}

/// A queued prompt, or another item in the queue for the model. Its content is in `data`.
fn queued_prompt(pending: &Json<'_>, out: &mut Batch) -> Option<UndeliveredPrompt> {
    let id = pending.get("id").filled()?;
    let said = pending.at("data.text").filled().unwrap_or_default();
    let title = match pending.get("type").filled() {
        None | Some("user") => "queued".to_owned(),
        Some(kind) => format!("queued {kind}"),
    };
    let at = pending.get("at").moment();
    Some(UndeliveredPrompt {
        key: text!("queued:{id}"),
        at,
        kind: raw(&title, said, out),
    })
}

/// The entry for an idle session. It is a trace unless the turn was interrupted and its last answer
/// does not record that (`is_recorded`).
pub(super) fn idle_entry(
    key: Key,
    at: Option<Timestamp>,
    how: Break,
    is_recorded: bool,
    out: &Batch,
) -> Entry {
    let mut entry = out.new_entry(key, Role::Harness, at);
    entry.stop = Stop::Done;
    let is_news = matches!(how, Break::Interrupted(_)) && !is_recorded;
    entry.marks = Marks {
        quiet: !is_news,
        trace: !is_news,
        unsent: true,
        ..Marks::default()
    };
    entry.push(how);
    entry
}
