//! The parts of answers that are for the gateway instead of the reader: directives in double
//! brackets, and texts that mean silence.

use crate::formats::decoder::{Decoder, Input};
use crate::formats::json::Json;
use crate::formats::pi::block;
use crate::formats::pi::session::SessionDecoder;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Block, BlockKind, Entry, Role};
use crate::model::tally::Fate;

/// Texts that the gateway does not deliver.
const SILENT: [&str; 2] = ["NO_REPLY", "HEARTBEAT_OK"];
/// The names of directives.
const DIRECTIVES: [&str; 2] = ["reply_to", "audio_as_voice"];

/// Decodes a line of a session. Directives in its answers are removed from the text.
pub(crate) fn decode(session: &mut SessionDecoder, input: Input<'_>, out: &mut Batch) -> Fate {
    let before = out.edits.len();
    let (fate, directives) = match without_directives(input.json) {
        Some((json, directives)) => (
            session.decode(
                Input {
                    json: &json,
                    ..input
                },
                out,
            ),
            directives,
        ),
        None => (session.decode(input, out), Vec::new()),
    };
    mark(before, &directives, out);
    fate
}

/// Whether the session has decoded the line before, with or without directives.
pub(crate) fn is_known(session: &SessionDecoder, json: &Json<'_>) -> bool {
    session.has(json) || without_directives(json).is_some_and(|(clean, _)| session.has(&clean))
}

/// A copy of a record without the directives that its texts begin with, and these directives;
/// `None` if it has none.
fn without_directives<'a>(json: &Json<'a>) -> Option<(Json<'a>, Vec<String>)> {
    let mut directives = Vec::new();
    let is_answer = json.at("message.role").is("assistant");
    let has_any = |block: &Json<'_>| {
        block
            .get("text")
            .str()
            .is_some_and(|text| directive(text).is_some())
    };
    if !is_answer || !json.at("message.content").items().iter().any(has_any) {
        return None;
    }
    let mut json = json.clone();
    for block in items_mut(member_mut(
        member_mut(Some(&mut json), "message"),
        "content",
    )) {
        let Some(Json::Str(text)) = member_mut(Some(block), "text") else {
            continue;
        };
        while let Some((emitted, rest)) = directive(text) {
            directives.push(emitted.to_owned());
            *text = rest.to_owned().into();
        }
    }
    Some((json, directives))
}

/// The directive at the beginning of a text, and the rest of the text.
fn directive(text: &str) -> Option<(&str, &str)> {
    let (emitted, rest) = text.trim_start().strip_prefix("[[")?.split_once("]]")?;
    let emitted = emitted.trim();
    DIRECTIVES
        .iter()
        .any(|start| emitted.starts_with(start))
        .then(|| (emitted, rest.trim_start()))
}

fn member_mut<'j, 'a>(json: Option<&'j mut Json<'a>>, name: &str) -> Option<&'j mut Json<'a>> {
    match json? {
        Json::Object(members) => members
            .iter_mut()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value),
        _ => None,
    }
}

fn items_mut<'j, 'a>(json: Option<&'j mut Json<'a>>) -> &'j mut [Json<'a>] {
    match json {
        Some(Json::Array(items)) => items,
        _ => &mut [],
    }
}

/// Adds the directives to the answers that were emitted from index `from` on, and marks an answer
/// as quiet if nobody but the gateway reads it.
fn mark(from: usize, directives: &[String], out: &mut Batch) {
    let mut emitted = out.edits.split_off(from.min(out.edits.len()));
    for edit in &mut emitted {
        let Edit::Entry(entry) = edit else { continue };
        if entry.role != Role::Assistant {
            continue;
        }
        if !directives.is_empty() {
            let title = format!("to the gateway: {}", directives.join(", "));
            entry.blocks.push(block::raw_text(&title, "", out));
        }
        entry.marks.quiet |= is_silent(entry);
    }
    out.edits.extend(emitted);
}

fn is_silent(entry: &Entry) -> bool {
    let is_said =
        |block: &&Block| !matches!(block.kind, BlockKind::Thinking(_) | BlockKind::Aside(..));
    let mut said = entry.blocks.iter().filter(is_said);
    let is_word = |kind: &BlockKind| matches!(kind, BlockKind::Text(body) if SILENT.contains(&body.stub.trim().trim_matches(['*', '`'])));
    said.next().is_some_and(|block| is_word(&block.kind)) && said.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::{directive, without_directives};
    use crate::formats::json;

    #[test]
    fn directives_are_distinguished_from_words_in_brackets() {
        assert_eq!(
            directive("[[reply_to_current]] Yes."),
            Some(("reply_to_current", "Yes."))
        );
        assert_eq!(
            directive(" [[ reply_to: 17 ]]\nYes."),
            Some(("reply_to: 17", "Yes."))
        );
        assert_eq!(directive("[[wiki link]] is a page"), None);
        assert_eq!(directive("see [[reply_to_current]]"), None);
    }

    #[test]
    fn only_answers_give_directives() {
        let line = |role: &str| {
            format!(
                r#"{{"message":{{"role":"{role}","content":[{{"type":"text","text":"[[reply_to_current]] [[audio_as_voice]]Hi"}}]}}}}"#
            )
        };
        let (user, answer) = (line("user"), line("assistant"));
        assert!(without_directives(&json::parse(&user).unwrap()).is_none());
        let (clean, emitted) = without_directives(&json::parse(&answer).unwrap()).unwrap();
        assert_eq!(emitted, ["reply_to_current", "audio_as_voice"]);
        assert!(clean.to_source().contains(r#""text":"Hi""#));
    }
}
