//! Runs of hooks. Old versions write a progress line for each command, newer ones attachments and a
//! summary; what one event set off is one entry, named by the id that all of them carry.

use std::collections::HashSet;

use super::line::Line;
use super::system::seconds;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Piece, Raw, Role};
use crate::model::pairing::identifies;
use crate::model::tally::Fate;
use crate::model::text::Text;

/// Characters of a hook's command.
const COMMAND_CHARS: usize = 200;

/// Events whose entry was begun.
#[derive(Debug, Default)]
pub struct Hooks {
    begun: HashSet<Key>,
}

/// A progress line: a command was started. The same command of the same event is told once.
pub fn started(line: &Line<'_>, told: &Json<'_>, hooks: &mut Hooks, out: &mut Batch) -> Fate {
    let command = ["command", "promptText", "statusMessage"].iter().find_map(|name| told.get(name).filled());
    let words = words(told.get("hookName").str_or_empty(), command, None);
    let run = line.json.get("toolUseID").str_or_empty();
    tell(line, run, Piece::of(&words), BlockKind::Break(Break::Setting(words)), hooks, out)
}

/// An attachment: a hook ended well, with what it put out.
pub fn ended(line: &Line<'_>, attachment: &Json<'_>, hooks: &mut Hooks, out: &mut Batch) -> Fate {
    let texts = ["content", "stdout", "stderr"].map(|name| attachment.get(name).str_or_empty().trim());
    let text = texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    let took = attachment.get("durationMs").count();
    let name = attachment.get("hookName").str_or_empty();
    let title = words(name, attachment.get("command").filled(), took);
    let block = if text.is_empty() {
        BlockKind::Break(Break::Setting(title))
    } else {
        let body = out.output(&text);
        BlockKind::Raw(Raw { title, body })
    };
    tell(line, attachment.get("toolUseID").str_or_empty(), line.piece(), block, hooks, out)
}

/// A summary of the hooks that ran at the end of a turn, with nothing to complain about.
pub fn summary(line: &Line<'_>, hooks: &mut Hooks, out: &mut Batch) -> Fate {
    let ran = line.json.get("hookInfos").items();
    let mut parts: Vec<String> = ran
        .iter()
        .map(|hook| words("Stop", hook.get("command").filled(), hook.get("durationMs").count()).to_string())
        .collect();
    if parts.is_empty() {
        parts.push(words("Stop", None, None).to_string());
    }
    let words = Text::clean(&parts.join(" · "));
    let run = line.json.get("toolUseID").str_or_empty();
    tell(line, run, line.piece(), BlockKind::Break(Break::Setting(words)), hooks, out)
}

/// `hook Stop: make fmt, 3.3 s`
fn words(name: &str, command: Option<&str>, took: Option<u64>) -> Text {
    let mut words = format!("hook {name}").trim_end().to_owned();
    if let Some(command) = command {
        words.push_str(&format!(": {command}"));
    }
    if let Some(ms) = took {
        words.push_str(&format!(", {}", seconds(ms)));
    }
    Text::stub(&words, COMMAND_CHARS)
}

fn tell(
    line: &Line<'_>,
    run: &str,
    piece: Piece,
    block: BlockKind,
    known: &mut Hooks,
    out: &mut Batch,
) -> Fate {
    let key = if identifies(run) { Text::clean(&format!("hook:{run}")) } else { line.id.clone() };
    let is_first = known.begun.insert(key.clone());
    let mut entry = line.entry(key, Role::Harness, out);
    entry.marks.quiet = true;
    entry.marks.trace = true;
    entry.blocks.push(Batch::block(piece, block));
    out.entry(entry);
    if is_first { Fate::Shown } else { Fate::Merged }
}
