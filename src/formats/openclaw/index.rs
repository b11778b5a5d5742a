//! `sessions.json`: the index of an agent's sessions, by session key. Beside a transcript it
//! provides title and origin of the session, also before that is opened; opened itself it is shown
//! as a list.
//!
//! Invariant: its token counts are a snapshot of the last run, shown in the list and never counted.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::name;
use crate::formats::json::Json;
use crate::formats::pi::block;
use crate::formats::roots::ListedSession;
use crate::model::body::Tree;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;

/// Large members that repeat what every prompt contains.
const BULK: [&str; 2] = ["skillsSnapshot", "systemPromptReport"];
/// The maximum length of a title, in characters.
const TITLE_CHARS: usize = 80;

/// The sessions of one or more agents.
#[derive(Debug, Default)]
pub(crate) struct SessionIndex {
    sessions: BTreeMap<Name, IndexedSession>,
}

/// The facts that an index has about a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexedSession {
    pub(crate) id: String,
    /// The name of its file, if that is recorded.
    pub(crate) file: Option<String>,
    pub(crate) title: Option<Text>,
    /// The model of the last run.
    pub(crate) model: Option<Name>,
    /// The key of the parent session.
    spawner: Option<String>,
    /// The label of the other party.
    other: Option<Text>,
    facts: Vec<MetaEdit>,
}

/// Whether a value is an index of sessions.
pub(crate) fn is_index(root: &Json<'_>) -> bool {
    let is_session = |value: &Json<'_>| value.has("sessionId") && value.has("updatedAt");
    let sessions = root.members();
    sessions.iter().all(|(_, value)| value.is_object())
        && sessions.iter().any(|(_, value)| is_session(value))
        && sessions
            .iter()
            .all(|(key, value)| key.contains(':') || is_session(value))
}

impl SessionIndex {
    /// Adds the sessions of an index.
    pub(crate) fn read(&mut self, root: &Json<'_>) {
        for (key, session) in root.members() {
            self.sessions
                .insert(Text::clean(key), parse_session(key, session));
        }
    }

    pub(crate) fn get(&self, key: &Name) -> Option<&IndexedSession> {
        self.sessions.get(key)
    }

    /// The sessions in the form that lists of sessions need.
    pub(crate) fn listings(self) -> Vec<ListedSession> {
        let listing = |(key, known): (Name, IndexedSession)| ListedSession {
            id: known.id,
            file: known.file,
            key: key.to_string(),
            title: known.title.or(known.other),
            model: known.model,
            parent: known.spawner,
        };
        self.sessions
            .into_iter()
            .filter(|(_, known)| !known.id.is_empty())
            .map(listing)
            .collect()
    }

    /// The session with this file, otherwise the one with this id.
    pub(crate) fn of_file(&self, file: &str, id: &str) -> Option<&IndexedSession> {
        let has_file = |known: &&IndexedSession| known.file.as_deref() == Some(file);
        self.sessions
            .values()
            .find(has_file)
            .or_else(|| self.sessions.values().find(|known| known.id == id))
    }
}

impl IndexedSession {
    /// Emits the facts about the session that is being read.
    pub(crate) fn emit(&self, out: &mut Batch) {
        self.facts.iter().for_each(|fact| out.meta(fact.clone()));
        if let Some(title) = &self.title {
            out.title(2, title.clone());
        }
    }
}

fn parse_session(key: &str, session: &Json<'_>) -> IndexedSession {
    let fact = |name, value: &str| MetaEdit::Fact {
        name,
        value: Text::clean(value),
    };
    let mut facts = vec![fact("session key", key)];
    facts.extend(agent_of(key).map(|agent| MetaEdit::Agent(Text::clean(agent))));
    facts.extend(channel(session).map(|channel| fact("channel", &channel)));
    facts.extend(spawner(session).map(|spawner| fact("spawned by", spawner)));
    facts.extend(
        session
            .get("contextTokens")
            .count()
            .filter(|n| *n > 0)
            .map(MetaEdit::Window),
    );
    let file = session
        .get("sessionFile")
        .filled()
        .and_then(|path| path.rsplit(['/', '\\']).next());
    IndexedSession {
        id: session.get("sessionId").str_or_empty().to_owned(),
        file: file.map(str::to_owned),
        title: title(session),
        model: session.get("model").text(),
        spawner: session.get("spawnedBy").filled().map(str::to_owned),
        other: session
            .at("origin.label")
            .filled()
            .map(|other| Text::stub(other, TITLE_CHARS)),
        facts,
    }
}

/// The agent in a session key, such as `agent:main:telegram:direct:7`.
pub(crate) fn agent_of(key: &str) -> Option<&str> {
    key.strip_prefix("agent:")?
        .split(':')
        .next()
        .filter(|agent| !agent.is_empty())
}

fn title(session: &Json<'_>) -> Option<Text> {
    let names = ["label", "displayName", "subject"].map(|name| session.get(name));
    let name = names.into_iter().find_map(Json::filled)?;
    Some(Text::stub(name, TITLE_CHARS)).filter(|title| !title.is_blank())
}

fn spawner<'j>(session: &'j Json<'_>) -> Option<&'j str> {
    session.first(&["spawnedBy", "parentSessionKey"], Json::filled)
}

/// The channel on one row, such as `telegram direct · Ann (@ann)`.
fn channel(session: &Json<'_>) -> Option<String> {
    let origin = session.get("origin");
    let through = [
        session.get("lastChannel"),
        session.get("channel"),
        origin.get("provider"),
    ];
    let through = through.into_iter().find_map(Json::filled);
    let kind = session
        .get("chatType")
        .filled()
        .or_else(|| origin.get("chatType").filled());
    let place = [through, kind].into_iter().flatten().join(" ");
    let parts = [
        Some(place.as_str()).filter(|place| !place.is_empty()),
        origin.get("label").filled(),
    ];
    let recorded = parts.into_iter().flatten().join(" · ");
    (!recorded.is_empty()).then_some(recorded)
}

// === the list ===

/// Emits an index as a list, newest first.
pub fn list(root: &Json<'_>, out: &mut Batch) -> Fate {
    let mut sessions: Vec<(&str, &Json<'_>)> = root
        .members()
        .iter()
        .map(|(key, session)| (&**key, session))
        .collect();
    sessions.sort_by_key(|(_, session)| std::cmp::Reverse(session.get("updatedAt").moment()));
    let title = format!("{} sessions of {}", sessions.len(), agents(&sessions));
    out.title(2, Text::clean(&title));
    out.meta(MetaEdit::Live(None));
    for (key, session) in sessions {
        let at = session.get("updatedAt").moment();
        let mut entry = out.new_entry(Text::clean(key), Role::Harness, at);
        // One row per session, which expands to the other facts.
        entry.marks.quiet = true;
        let headline = Text::clean(&headline(session, at));
        let kept = || {
            session
                .members()
                .iter()
                .filter(|(name, _)| !BULK.contains(&&**name))
        };
        let bytes = kept()
            .map(|(name, value)| name.len() + value.weight())
            .sum();
        let body = out.tree(&headline, bytes, || {
            Tree::Map(
                kept()
                    .map(|(name, value)| (Text::clean(name), value.to_tree()))
                    .collect(),
            )
        });
        entry.push(BlockKind::raw(key, body));
        out.entry(entry);
    }
    Fate::Shown
}

fn agents(sessions: &[(&str, &Json<'_>)]) -> String {
    let mut agents: Vec<&str> = sessions
        .iter()
        .filter_map(|(key, _)| agent_of(key))
        .collect();
    agents.sort_unstable();
    agents.dedup();
    if agents.is_empty() {
        "an agent".to_owned()
    } else {
        agents.join(", ")
    }
}

fn headline(session: &Json<'_>, at: Option<Timestamp>) -> String {
    let tokens = session.get("totalTokens").count().filter(|n| *n > 0);
    let window = session.get("contextTokens").count().filter(|n| *n > 0);
    let tokens = match (tokens, window) {
        (Some(tokens), Some(window)) => Some(format!("{tokens} of {window} tokens")),
        (Some(tokens), None) => Some(format!("{tokens} tokens")),
        (None, _) => None,
    };
    let parts = [
        at.map(name::minute),
        title(session).map(|title| title.to_string()),
        channel(session),
        session.get("model").filled().map(str::to_owned),
        tokens,
        spawner(session).map(|spawner| format!("spawned by {spawner}")),
        session.get("sessionId").filled().map(str::to_owned),
    ];
    parts.into_iter().flatten().join(" · ")
}

/// Emits the lock of a running session that was opened itself.
pub(crate) fn lock(json: &Json<'_>, out: &mut Batch) -> Fate {
    let mut entry = out.new_entry(
        out.origin_key(),
        Role::Harness,
        json.get("createdAt").moment(),
    );
    let title = format!(
        "a run is said to be live: process {}",
        json.get("pid").to_source()
    );
    entry.blocks.push(block::tree(&title, json, out));
    out.show(entry)
}

#[cfg(test)]
mod tests {
    use super::SessionIndex;
    use crate::formats::json::parse;
    use crate::model::text::Text;

    #[test]
    fn the_index_names_sessions() {
        let index = parse(
            r#"{"agent:main:main":{"sessionId":"a1","origin":{"label":"Ann"},"sessionFile":"/x/a1-topic-7.jsonl"},
                "agent:main:subagent:x":{"sessionId":"a2","label":"scout","displayName":"d","spawnedBy":"agent:main:main"},
                "odd":7}"#,
        )
        .unwrap();
        let mut known = SessionIndex::default();
        known.read(&index);
        let recorded = known.listings();
        let titles: Vec<&str> = recorded
            .iter()
            .filter_map(|l| l.title.as_ref())
            .map(Text::as_str)
            .collect();
        assert_eq!((recorded.len(), titles), (2, vec!["Ann", "scout"]));
        assert_eq!(recorded[0].file.as_deref(), Some("a1-topic-7.jsonl"));
        assert_eq!(recorded[1].parent.as_deref(), Some("agent:main:main"));
    }
}
