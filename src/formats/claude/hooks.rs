//! Runs of hooks. Old versions write a progress line for each command, newer ones attachments and a
//! summary. All commands of one event in a lane form one entry, keyed by the id that they share.

use std::collections::HashSet;

use itertools::Itertools as _;

use super::duration::seconds;
use super::line::TranscriptLine;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Piece, Raw, Stop};
use crate::model::tally::Fate;
use crate::model::text::{Text, text};
use crate::model::tool::identifies;

/// What was emitted for each event.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    begun: HashSet<Key>,
    emitted: HashSet<(Key, Piece)>,
}

/// Decodes a progress line: a command was started. The same command of the same event is shown
/// once.
pub(crate) fn started(
    line: &TranscriptLine<'_>,
    data: &Json<'_>,
    hooks: &mut Hooks,
    out: &mut Batch,
) -> Fate {
    let command = data.first(&["command", "promptText", "statusMessage"], Json::filled);
    let name = data.get("hookName").str_or_empty();
    let piece = Piece::of(&format!("{name} {}", command.unwrap_or_default()));
    let raw = Raw {
        title: title(name, None),
        body: out.output(command.unwrap_or_default()),
    };
    emit(
        line,
        line.json.get("toolUseID").str_or_empty(),
        piece,
        (raw, Stop::Unrecorded),
        hooks,
        out,
    )
}

/// Decodes an attachment: a hook succeeded, with its output.
pub(crate) fn ended(
    line: &TranscriptLine<'_>,
    attachment: &Json<'_>,
    hooks: &mut Hooks,
    out: &mut Batch,
) -> Fate {
    let texts =
        ["content", "stdout", "stderr"].map(|name| attachment.get(name).str_or_empty().trim());
    let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    let text = match texts.as_slice() {
        [] => attachment.get("command").str_or_empty().to_owned(),
        texts => texts.join("\n"),
    };
    let name = attachment.get("hookName").str_or_empty();
    let raw = Raw {
        title: title(name, attachment.get("durationMs").count()),
        body: out.output(&text),
    };
    emit(
        line,
        attachment.get("toolUseID").str_or_empty(),
        line.piece(),
        (raw, Stop::Unrecorded),
        hooks,
        out,
    )
}

/// Decodes the summary of the hooks that ran at the end of a turn without errors: the turn is over.
pub(crate) fn summary(line: &TranscriptLine<'_>, hooks: &mut Hooks, out: &mut Batch) -> Fate {
    let ran = line.json.get("hookInfos").items();
    let command = |hook: &Json<'_>| hook.get("command").str_or_empty().to_owned();
    let took = ran
        .iter()
        .filter_map(|hook| hook.get("durationMs").count())
        .reduce(u64::saturating_add);
    let body = out.output(&ran.iter().map(command).join("\n"));
    let raw = Raw {
        title: title("Stop", took),
        body,
    };
    emit(
        line,
        line.json.get("toolUseID").str_or_empty(),
        line.piece(),
        (raw, Stop::Done),
        hooks,
        out,
    )
}

/// `hook Stop, 3.3 s`
fn title(name: &str, took: Option<u64>) -> Text {
    let took = took
        .map(|ms| format!(", {}", seconds(ms)))
        .unwrap_or_default();
    Text::clean(format!("hook {name}{took}").trim_end())
}

fn emit(
    line: &TranscriptLine<'_>,
    run: &str,
    piece: Piece,
    (raw, stop): (Raw, Stop),
    hooks: &mut Hooks,
    out: &mut Batch,
) -> Fate {
    let key = match &line.lane {
        _ if !identifies(run) => line.id.clone(),
        None => text!("hook:{run}"),
        // A lane that repeats another's history repeats its ids.
        Some(lane) => text!("hook:{lane}/{run}"),
    };
    if !hooks.emitted.insert((key.clone(), piece)) {
        return Fate::Merged;
    }
    let is_first = hooks.begun.insert(key.clone());
    let mut entry = line.trace(key, out);
    entry.stop = stop;
    entry.push_piece(piece, BlockKind::Raw(raw));
    out.entry(entry);
    if is_first { Fate::Shown } else { Fate::Merged }
}
