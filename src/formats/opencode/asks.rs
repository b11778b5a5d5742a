//! Permissions and questions that wait for the user. Both are one line of the message that made the
//! call; the reply replaces the question.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::entry::{Break, Piece};
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;

/// Open requests by id.
#[derive(Debug, Default)]
pub(super) struct Asks {
    open: BTreeMap<Text, PermissionRequest>,
}

/// A line of a message, or an entry of its own if no message is named.
#[derive(Clone, Debug)]
pub(super) struct PermissionRequest {
    pub(super) id: Text,
    pub(super) session: Text,
    /// The message that made the call.
    pub(super) message: Option<Key>,
    /// The question or the reply.
    pub(super) line: Break,
    /// The time of the question.
    pub(super) at: Option<Timestamp>,
    /// The time of the reply.
    pub(super) replied: Option<Timestamp>,
    call: Key,
    kind: &'static str,
    what: String,
}

impl PermissionRequest {
    /// The piece of the line within its message.
    pub(super) fn piece(&self) -> Piece {
        Piece::of(&self.id)
    }
}

impl Asks {
    /// Adds a request; `at` is the time of its event.
    pub(super) fn add(&mut self, recorded: &Json<'_>, at: Option<Timestamp>) -> PermissionRequest {
        let message = recorded.first(&["messageID", "tool.messageID"], Json::text);
        let (kind, what) = words(recorded);
        let ask = PermissionRequest {
            id: recorded.get("id").clean(),
            session: recorded.get("sessionID").clean(),
            message,
            line: Break::Waiting(text!("{kind}: {what}")),
            at: recorded.at("time.created").moment().or(at),
            replied: None,
            call: recorded
                .first(&["callID", "tool.callID"], Json::text)
                .unwrap_or_default(),
            kind,
            what,
        };
        self.open.insert(ask.id.clone(), ask.clone());
        ask
    }

    /// Adds the user's reply.
    pub(super) fn reply(
        &mut self,
        recorded: &Json<'_>,
        at: Option<Timestamp>,
    ) -> PermissionRequest {
        let named = recorded.first(&["requestID", "permissionID"], Json::text);
        let id = named
            .or_else(|| recorded.get("id").text())
            .unwrap_or_default();
        let reply = verdict(recorded);
        match self.open.remove(&id) {
            Some(ask) => {
                let line = Break::setting(&format!("{reply}: {}", ask.what));
                PermissionRequest {
                    line,
                    replied: at,
                    ..ask
                }
            }
            None => PermissionRequest {
                id,
                session: recorded.get("sessionID").clean(),
                message: None,
                line: Break::setting(&format!("permission or question: {reply}")),
                at: None,
                replied: None,
                call: Key::default(),
                kind: "",
                what: String::new(),
            },
        }
    }

    /// Closes the request of a call that has ended: nobody waits for a reply any more, recorded or
    /// not.
    pub(super) fn ended(&mut self, call: &Key) -> Option<PermissionRequest> {
        let found = self
            .open
            .iter()
            .find(|(_, ask)| !call.is_empty() && ask.call == *call);
        let ask = self.open.remove(&found?.0.clone())?;
        Some(PermissionRequest {
            line: Break::setting(&format!("{}: {}", ask.kind, ask.what)),
            ..ask
        })
    }
}

/// Whether the request is a permission or a question, and its text on one line.
fn words(recorded: &Json<'_>) -> (&'static str, String) {
    let questions: Vec<&str> = recorded
        .get("questions")
        .items()
        .iter()
        .filter_map(|one| one.get("question").filled())
        .collect();
    if !questions.is_empty() {
        return ("question", questions.join(" · "));
    }
    if let Some(title) = recorded.get("title").filled() {
        return ("permission", title.to_owned());
    }
    let kind = recorded.first(&["permission", "action", "type"], Json::filled);
    let listed = ["patterns", "resources", "pattern"]
        .iter()
        .find_map(|name| {
            let recorded: Vec<&str> = recorded
                .get(name)
                .blocks()
                .iter()
                .filter_map(Json::filled)
                .collect();
            (!recorded.is_empty()).then(|| recorded.join(" · "))
        });
    let recorded = [kind.map(str::to_owned), listed];
    ("permission", recorded.into_iter().flatten().join(" "))
}

/// The user's reply as a short text.
fn verdict(recorded: &Json<'_>) -> String {
    let answers = recorded.get("answers").items().iter().map(|answer| {
        let chosen: Vec<&str> = answer.blocks().iter().filter_map(Json::filled).collect();
        chosen.join(", ")
    });
    let answers: Vec<String> = answers.collect();
    if !answers.is_empty() {
        return format!("answered {}", answers.join(" · "));
    }
    match recorded.first(&["reply", "response"], Json::filled) {
        Some("once") => "allowed once".to_owned(),
        Some("always") => "allowed always".to_owned(),
        Some("reject") => "refused".to_owned(),
        Some(other) => other.to_owned(),
        None => "dismissed".to_owned(),
    }
}
