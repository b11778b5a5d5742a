//! A turn as Markdown: prompt, thinking, calls and answers.

use itertools::Itertools as _;

use super::excerpt::{self, ItemText};
use crate::app::input::action::CopyTarget;
use crate::model::body::Body;
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Role};
use crate::model::figures;
use crate::model::text::without_sgr;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;
use crate::render::tool::change_text;

/// Error: a body is on disk, so the text cannot be written yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotLoaded;

/// The entries of a turn in the lane of its prompt.
pub(crate) fn entries_of(transcript: &Transcript, turn: usize) -> Vec<EntryId> {
    let Some(prompt) = transcript.turns().get(turn).map(|turn| turn.prompt) else {
        return Vec::new();
    };
    let lane = transcript.lane_at(prompt);
    let is_shown = |id: &EntryId| {
        transcript
            .get(*id)
            .is_some_and(|entry| entry.lane.as_ref() == lane && !entry.marks.is_hidden())
    };
    transcript
        .places_of_turn(turn)
        .filter_map(|place| transcript.order().get(place).copied())
        .filter(is_shown)
        .collect()
}

pub(crate) fn markdown(transcript: &Transcript, entries: &[EntryId]) -> Result<String, NotLoaded> {
    let mut parts = Vec::new();
    let mut speaker = None;
    for entry in entries.iter().filter_map(|id| transcript.get(*id)) {
        let mut own = Vec::new();
        for (at, block) in entry.blocks.iter().enumerate() {
            own.extend(part(transcript, entry, at, block)?);
        }
        if own.is_empty() {
            continue;
        }
        let prompt = entry.marks.prompt;
        if speaker != Some((entry.role, &entry.from, prompt)) || prompt {
            parts.push(format!("## {}{}", name(entry), at(entry)));
        }
        speaker = Some((entry.role, &entry.from, prompt));
        parts.extend(own);
    }
    Ok(parts.join("\n\n"))
}

fn name(entry: &Entry) -> String {
    let role = match entry.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::System => "System",
        Role::Harness => "Note",
    };
    match &entry.from {
        Some(from) => format!("{role}: {}", without_sgr(&from.words())),
        None => role.to_owned(),
    }
}

fn at(entry: &Entry) -> String {
    entry
        .at
        .map(|at| format!(", {}", at.date_and_clock()))
        .unwrap_or_default()
}

fn part(
    transcript: &Transcript,
    entry: &Entry,
    at: usize,
    block: &Block,
) -> Result<Option<String>, NotLoaded> {
    Ok(match &block.kind {
        BlockKind::Text(body) => body_text(body)?,
        BlockKind::Thinking(body) => body_text(body)?.map(|text| quoted(&text)),
        BlockKind::Call(call) => Some(call_words(transcript, call)?),
        BlockKind::Result(stray) => {
            let head = if stray.duplicate {
                "second result of a call"
            } else {
                "result without a call"
            };
            body_text(&stray.result.body)?
                .map(|text| format!("**{head}**\n\n{}", fenced("", &text)))
        }
        BlockKind::Image(image) => {
            let source = image
                .source
                .as_ref()
                .map(|source| without_sgr(source).into_owned());
            Some(format!("![image]({})", source.unwrap_or_default()))
        }
        BlockKind::Break(what) => Some(format!("*{}*", without_sgr(&what.words()))),
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => {
            match excerpt::of(entry, at, CopyTarget::Text) {
                ItemText::Text(text) => Some(format!(
                    "**{}**\n\n{}",
                    without_sgr(&raw.title),
                    fenced("", &text)
                )),
                ItemText::Nothing(_) => None,
                ItemText::OnDisk => return Err(NotLoaded),
            }
        }
    })
}

/// The text of a body; `None` if it is empty.
fn body_text(body: &Body) -> Result<Option<String>, NotLoaded> {
    match excerpt::full_text(body) {
        ItemText::Text(text) => {
            Ok(Some(text.trim_end().to_owned()).filter(|text| !text.trim().is_empty()))
        }
        ItemText::Nothing(_) => Ok(None),
        ItemText::OnDisk => Err(NotLoaded),
    }
}

fn quoted(text: &str) -> String {
    let line = |line: &str| format!("> {line}").trim_end().to_owned();
    text.lines().map(line).join("\n")
}

/// A call: name and headline, the input if it has more than the headline, and the result.
fn call_words(transcript: &Transcript, call: &ToolCall) -> Result<String, NotLoaded> {
    if call.input.is_on_disk() {
        return Err(NotLoaded);
    }
    let headline = without_sgr(&call.headline)
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned();
    let mut head = format!("**{}**", call.shown_name());
    // A command that is longer than the headline is written below, so the headline omits it.
    let command = call
        .command()
        .map(|command| without_sgr(command).into_owned());
    let below = command.as_deref().filter(|text| text.trim() != headline);
    let is_said = below.is_some_and(|text| text.trim().lines().next() == Some(&*headline));
    if !headline.is_empty() && !is_said {
        head.push_str(&format!(" {}", code_span(&headline)));
    }
    let mut parts = vec![head];
    if let Some(lane) = transcript.lane_of_call(&call.key) {
        let entries = figures::count(lane.entries.len() as u64, "message");
        parts.push(format!(
            "Sub-agent **{}** ({entries})",
            without_sgr(&lane.label)
        ));
    }
    if let Some(change) = change_text(call) {
        let language = if change.starts_with(['+', '-', ' ']) || change.contains("\n+") {
            "diff"
        } else {
            ""
        };
        parts.push(fenced(language, &without_sgr(&change)));
    } else if command.is_some() {
        parts.extend(below.map(|command| fenced("sh", command)));
    } else if call.input.bytes > 2 && call.input.text().is_none_or(|text| text.trim() != headline) {
        let language = if call.input.tree().is_some() {
            "json"
        } else {
            ""
        };
        parts.extend(body_text(&call.input)?.map(|text| fenced(language, &text)));
    }
    match &call.state {
        ToolState::Done(result) if call.kind != ToolKind::Edit && call.kind != ToolKind::Write => {
            parts.extend(body_text(&result.body)?.map(|text| fenced("", &text)));
        }
        ToolState::Done(_) => {}
        ToolState::Failed(result) | ToolState::Refused(result) | ToolState::Stopped(result) => {
            let word = match call.state {
                ToolState::Refused(_) => "Refused",
                ToolState::Stopped(_) => "Stopped",
                _ => "Failed",
            };
            let facts = without_sgr(&result.facts);
            let facts = if facts.is_empty() {
                String::new()
            } else {
                format!(" ({facts})")
            };
            parts.push(format!("{word}{facts}:"));
            parts.extend(body_text(&result.body)?.map(|text| fenced("", &text)));
        }
        ToolState::Acknowledged(result) => {
            parts.push("*goes on; no end is recorded*".to_owned());
            parts.extend(body_text(&result.body)?.map(|text| fenced("", &text)));
        }
        ToolState::Streaming(body) => {
            parts.push("Still running:".to_owned());
            parts.extend(body_text(body)?.map(|text| fenced("", &text)));
        }
        ToolState::Pending | ToolState::Running => parts.push("*no result yet*".to_owned()),
        ToolState::Lost => parts.push("*interrupted: there will be no result*".to_owned()),
    }
    Ok(parts.join("\n\n"))
}

/// A code block with a fence longer than any fence in the text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .lines()
        .map(str::trim_start)
        .map(|line| line.len() - line.trim_start_matches('`').len());
    let fence = "`".repeat(longest.max().unwrap_or(0).max(2) + 1);
    format!(
        "{fence}{language}\n{}\n{fence}",
        text.trim_end_matches('\n')
    )
}

fn code_span(text: &str) -> String {
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

#[cfg(test)]
mod tests {
    use super::{code_span, fenced, quoted};

    #[test]
    fn fences_hold_fences() {
        assert_eq!(fenced("sh", "ls\n"), "```sh\nls\n```");
        assert_eq!(fenced("", "```\nx\n```"), "````\n```\nx\n```\n````");
        assert_eq!(code_span("a`b"), "`` a`b ``");
        assert_eq!(quoted("a\n\nb"), "> a\n>\n> b");
    }
}
