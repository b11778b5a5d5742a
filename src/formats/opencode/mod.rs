//! OpenCode: a storage folder with a small JSON file per session, message and part; the export of a
//! session as one document; the event stream of its server. All of them contain the same objects,
//! so one decoder handles them by their content.

mod asks;
mod blocks;
mod changes;
mod decode;
mod deltas;
mod events;
mod framing;
mod head;
mod message;
mod messages;
mod part;
mod paths;
mod pieces;
mod rows;
mod sessions;
mod tables;
mod tool;
mod turns;

use std::path::Path;

use super::decoder::{Decoder, Format};

use super::probe::{Confidence, Probe, ProbeResult, nearly_all};

use super::definition::heads::head;
use super::json::Json;
use super::roots::{FileRole, Pattern, SessionName};
use super::tables::{Queries, Tables};
use crate::model::record::Shape;

/// The format. OpenCode finds a session by its id (opencode.ai/docs/cli).
pub(crate) struct Opencode;

impl Format for Opencode {
    head!("opencode");

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(decode::OpencodeDecoder::default())
    }

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        sniff(probe)
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        paths::named(path)
    }

    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        match role {
            FileRole::Home => vec![Pattern(paths::home(path))],
            FileRole::Session => paths::sessions(path),
            FileRole::Part(session) => paths::files(path, session),
            FileRole::Requested(wanted) => paths::requested_files(path, wanted),
            _ => self.head().files(path, role),
        }
    }

    fn queries(&self, tables: &Tables) -> Option<Queries> {
        tables::queries(tables)
    }
}

fn sniff(probe: &Probe<'_>) -> ProbeResult {
    if !probe.children.is_empty() {
        return sniff_folder(probe);
    }
    if let Some(header) = probe.header {
        if is_id(header.at("info.id"), "ses_") && header.has("messages") {
            return ProbeResult::yes(
                Confidence::Certain,
                Shape::Document,
                "an exported session (info.id ses_…)",
            );
        }
        let prefixes = ["ses_", "msg_", "prt_"];
        if prefixes
            .iter()
            .any(|prefix| is_id(header.get("id"), prefix))
        {
            return ProbeResult::yes(
                Confidence::Certain,
                Shape::Folder,
                "a file of a storage folder",
            );
        }
    }
    if let Some(verdict) = sniff_values(probe.elements, Shape::Document) {
        return verdict;
    }
    sniff_values(probe.lines, Shape::Lines)
        .unwrap_or_else(|| ProbeResult::no("no ses_, msg_ or prt_ ids"))
}

fn sniff_folder(probe: &Probe<'_>) -> ProbeResult {
    let has = |name: &str| probe.children.iter().any(|child| child == name);
    if has("session") && (has("message") || has("part")) {
        return ProbeResult::yes(
            Confidence::Certain,
            Shape::Folder,
            "a storage folder with session and message",
        );
    }
    if !has("storage") {
        return ProbeResult::no("no folders named session and message");
    }
    let confidence = if has("opencode.db") || probe.path.ends_with("opencode") {
        Confidence::Certain
    } else {
        Confidence::Maybe
    };
    ProbeResult::yes(confidence, Shape::Folder, "a folder that contains storage")
}

/// The verdict on array elements or lines: messages with parts, server events, or the parts that
/// `opencode run --format json` prints.
fn sniff_values(values: &[Json<'_>], shape: Shape) -> Option<ProbeResult> {
    let objects = || values.iter().filter(|value| value.is_object());
    objects().next()?;
    let is_message = |value: &Json<'_>| value.get("info").is_object() && value.has("parts");
    if nearly_all(objects(), is_message)
        && objects().any(|value| is_id(value.at("info.id"), "msg_"))
    {
        return Some(ProbeResult::yes(
            Confidence::Certain,
            shape,
            "messages with info and parts",
        ));
    }
    if nearly_all(objects(), events::is_event) {
        let recorded = objects().any(|value| {
            let kind = events::name_of(events::within(value));
            kind.starts_with("message.") || kind.starts_with("session.")
        });
        let confidence = if recorded {
            Confidence::Certain
        } else {
            Confidence::Maybe
        };
        return Some(ProbeResult::yes(
            confidence,
            shape,
            "events of the server (type with dots, properties)",
        ));
    }
    let is_row = |value: &Json<'_>| value.has("sessionID") || rows::is_exported(value);
    if objects().any(|value| rows::read(value).is_some()) && nearly_all(objects(), is_row) {
        return Some(ProbeResult::yes(
            Confidence::Likely,
            shape,
            "rows of the table session_message",
        ));
    }
    let is_part = |value: &Json<'_>| is_id(value.at("part.messageID"), "msg_");
    let is_error =
        |value: &Json<'_>| value.kind() == "error" && is_id(value.get("sessionID"), "ses_");
    (objects().any(is_part) && nearly_all(objects(), |value| is_part(value) || is_error(value)))
        .then(|| {
            ProbeResult::yes(
                Confidence::Certain,
                shape,
                "parts with the ids of their messages (run --format json)",
            )
        })
}

fn is_id(value: &Json<'_>, prefix: &str) -> bool {
    value.str_or_empty().starts_with(prefix)
}

#[cfg(test)]
mod tests;
