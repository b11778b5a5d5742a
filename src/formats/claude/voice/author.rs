//! Who wrote a record with the role of the user, by its own fields: `origin`, `turnOrigin`,
//! `promptSource` (since 2.1.2xx). The text decides only if these fields are absent.

use crate::formats::json::Json;
use crate::model::entry::sender::{Sender, SenderKind};
use crate::model::text::Name;

/// Who wrote a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RecordAuthor<'a> {
    /// A human, or a program that prompts instead of one.
    Human,
    /// Another sender, with the exact message if it is recorded beside the text that the model
    /// received.
    Other(Sender, Option<&'a str>),
    /// Part of a turn that this sender began, unless the text says otherwise.
    InTurnOf(Sender),
    /// The program, for the model alone, unless the text says otherwise.
    Program,
    /// The record does not say.
    Unknown,
}

/// Determines the author of a record with this `origin`. `is_meta` marks additions of the program.
/// `is_main` is `false` for the records of sub-agents, whose `turnOrigin` is that of their caller's
/// turn.
pub(crate) fn author_of<'a>(
    record: &'a Json<'a>,
    origin: &'a Json<'a>,
    is_meta: bool,
    is_main: bool,
) -> RecordAuthor<'a> {
    if let Some(kind) = origin.get("kind").filled().filter(|kind| is_word(kind)) {
        return if kind == "human" {
            RecordAuthor::Human
        } else {
            RecordAuthor::Other(sender(kind, origin), origin.get("body").filled())
        };
    }
    if is_meta {
        return RecordAuthor::Program;
    }
    let in_turn_of = |kind| RecordAuthor::InTurnOf(Sender::of(kind));
    match record.get("promptSource").str_or_empty() {
        "typed" | "queued" | "sdk" | "suggestion_accepted" => return RecordAuthor::Human,
        _ if !is_main => return RecordAuthor::Unknown,
        _ => {}
    }
    match (
        record.get("turnOrigin").str_or_empty(),
        record.get("promptSource").str_or_empty(),
    ) {
        ("task_notification", _) => in_turn_of(SenderKind::Task),
        ("peer", _) => in_turn_of(SenderKind::Peer),
        ("scheduled", _) => in_turn_of(SenderKind::Schedule),
        (_, "system") => in_turn_of(SenderKind::Runtime),
        _ => RecordAuthor::Unknown,
    }
}

/// Whether a text is an identifier, rather than a placeholder from an anonymized session.
fn is_word(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn sender(kind: &str, origin: &Json<'_>) -> Sender {
    let of = |kind, name: Option<&str>| Sender {
        kind,
        name: name.map(Name::clean),
    };
    let name = || {
        origin
            .get("name")
            .filled()
            .or_else(|| origin.get("from").filled().filter(|from| is_word(from)))
    };
    match kind {
        "peer" if origin.get("handback").is_true() => of(SenderKind::Handback, name()),
        "peer" | "observer" => of(SenderKind::Peer, name()),
        "coordinator" => of(SenderKind::Coordinator, origin.get("name").filled()),
        "task-notification" => match origin.get("subkind").str_or_empty() {
            "scheduled-trigger" => of(SenderKind::Schedule, None),
            "peer-send-message" => of(SenderKind::Peer, name()),
            other @ ("projects-relay" | "session-inbox" | "external-event") => {
                of(SenderKind::Channel, Some(other))
            }
            _ => of(SenderKind::Task, None),
        },
        "channel" => of(SenderKind::Channel, origin.get("server").filled()),
        "slack-ping" => of(SenderKind::Channel, Some("slack")),
        "auto-continuation" => of(SenderKind::Runtime, None),
        other => of(SenderKind::Runtime, Some(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::{RecordAuthor, author_of};
    use crate::formats::json::read;
    use crate::model::entry::sender::SenderKind;

    /// Kind and name of the sender of a record, and its body.
    fn of(record: &str) -> Result<(SenderKind, String, Option<String>), String> {
        let record = read(record).unwrap();
        match author_of(
            &record,
            record.get("origin"),
            record.get("isMeta").is_true(),
            true,
        ) {
            RecordAuthor::Other(sender, body) => Ok((
                sender.kind,
                sender.name.map(|name| name.to_string()).unwrap_or_default(),
                body.map(str::to_owned),
            )),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn the_origin_of_a_record_names_its_sender() {
        let known = |kind, name: &str| Ok((kind, name.to_owned(), None));
        for (origin, expected) in [
            (
                r#"{"kind":"peer","from":"uds:/tmp/7.sock","name":"docs"}"#,
                known(SenderKind::Peer, "docs"),
            ),
            (
                r#"{"kind":"peer","from":"uds:/tmp/7.sock"}"#,
                known(SenderKind::Peer, ""),
            ),
            (
                r#"{"kind":"peer","from":"a1b2","senderTaskId":"a1b2"}"#,
                known(SenderKind::Peer, "a1b2"),
            ),
            (
                r#"{"kind":"peer","from":"a1b2","senderTaskId":"a1b2","handback":true}"#,
                known(SenderKind::Handback, "a1b2"),
            ),
            (
                r#"{"kind":"coordinator"}"#,
                known(SenderKind::Coordinator, ""),
            ),
            (
                r#"{"kind":"task-notification"}"#,
                known(SenderKind::Task, ""),
            ),
            (
                r#"{"kind":"task-notification","subkind":"scheduled-trigger"}"#,
                known(SenderKind::Schedule, ""),
            ),
            (
                r#"{"kind":"channel","server":"mail"}"#,
                known(SenderKind::Channel, "mail"),
            ),
            (
                r#"{"kind":"auto-continuation"}"#,
                known(SenderKind::Runtime, ""),
            ),
            (
                r#"{"kind":"brand-new"}"#,
                known(SenderKind::Runtime, "brand-new"),
            ),
        ] {
            assert_eq!(
                of(&format!(r#"{{"isMeta":true,"origin":{origin}}}"#)),
                expected,
                "{origin}"
            );
        }
    }

    #[test]
    fn fields_without_an_origin_say_less() {
        for (record, expected) in [
            (r#"{"isMeta":true,"origin":{"kind":"human"}}"#, "Human"),
            (r#"{"promptSource":"typed","turnOrigin":"peer"}"#, "Human"),
            (r#"{"promptSource":"sdk"}"#, "Human"),
            (r#"{"turnOrigin":"human"}"#, "Unknown"),
            (r#"{"origin":{"kind":"[trimmed for fixture]"}}"#, "Unknown"),
            (r#"{"isMeta":true,"turnOrigin":"peer"}"#, "Program"),
            (
                r#"{"turnOrigin":"scheduled"}"#,
                "InTurnOf(Sender { kind: Schedule, name: None })",
            ),
            (
                r#"{"promptSource":"system"}"#,
                "InTurnOf(Sender { kind: Runtime, name: None })",
            ),
        ] {
            assert_eq!(of(record), Err(expected.to_owned()), "{record}");
        }
    }
}
