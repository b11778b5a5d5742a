//! System lines: what the program reports about itself, by `subtype`.

use super::command::{self, PendingCommand};
use super::duration::seconds;
use super::line::TranscriptLine;
use super::session::DecoderState;
use super::voice::background;
use super::voice::{ClaudeAuthor, classify};
use super::{hooks, requests};
use crate::formats::anthropic;
use crate::formats::decoder::show_raw;
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Raw, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::tool::work::{Carrier, WorkEnd, WorkReference};

/// Decodes a system line.
pub(crate) fn decode(
    line: &TranscriptLine<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let json = line.json;
    let content = json.get("content").str_or_empty();
    match json.get("subtype").str_or_empty() {
        "compact_boundary" => {
            session.set_boundary(line);
            preserve(line, json.get("compactMetadata"), out);
            line.show(compaction(json.get("compactMetadata")), false, out)
        }
        "microcompact_boundary" => line.show(
            partial_compaction(json.get("microcompactMetadata")),
            false,
            out,
        ),
        "api_error" => {
            let attempt = json
                .get("retryAttempt")
                .int()
                .zip(json.get("maxRetries").int());
            requests::failed(line, attempt, api_error(json), &mut session.requests, out)
        }
        "turn_duration" => match json.get("durationMs").count() {
            Some(ms) => line.show_trace(Break::Took(ms), out),
            None => show_raw(line.input, "system/turn_duration", out),
        },
        "stop_hook_summary" => stop_hooks(line, session, out),
        "local_command" => local_command(line, content, session, out),
        "informational" => {
            let is_quiet = matches!(json.get("level").str_or_empty(), "" | "info" | "suggestion");
            show_text(line, "notice", content, is_quiet, out)
        }
        "" if json.has("message") => prompt(line, out),
        "" => show_text(line, "system", content, true, out),
        other => {
            retract(line, session, out);
            if other == "agents_killed" {
                stop_agents(line, session, out);
            }
            let entry = line.own_entry(Role::Harness, out);
            unknown::record(NamedKind("system.subtype", other), json, entry, out)
        }
    }
}

/// Ends the work of all sub-agents in the background: they were stopped at once.
fn stop_agents(line: &TranscriptLine<'_>, session: &mut DecoderState, out: &mut Batch) {
    for (work, lane) in session.lanes.stop_agents() {
        let about = WorkReference::handle(work);
        let end = WorkEnd::from_word(Some("killed"), None);
        let record = (line.id.clone(), line.at);
        background::emit((about, end), record, Carrier::Record, lane.as_ref(), out);
    }
}

/// Records the messages that a compaction preserved.
fn preserve(line: &TranscriptLine<'_>, metadata: &Json<'_>, out: &mut Batch) {
    let listed = metadata.at("preservedMessages.uuids").items().first();
    let first = listed.unwrap_or_else(|| metadata.at("preservedSegment.headUuid"));
    if let Some(first) = first.text().filter(|_| line.lane.is_none()) {
        out.meta(MetaEdit::FirstKept {
            compaction: line.id.clone(),
            first,
        });
    }
}

/// Marks answers as undone: the provider refused to continue, and the program retracted what it had
/// answered.
fn retract(line: &TranscriptLine<'_>, session: &DecoderState, out: &mut Batch) {
    let lines = line
        .json
        .get("retractedMessageUuids")
        .items()
        .iter()
        .filter_map(Json::str);
    let mut answers: Vec<&Key> = lines
        .filter_map(|line| session.requests.answer_of(line))
        .collect();
    answers.dedup();
    for answer in answers {
        let mut entry = line.entry(answer.clone(), Role::Assistant, out);
        entry.parent = None;
        entry.at = None;
        entry.marks.undone = true;
        out.entry(entry);
    }
}

/// A compaction by its metadata, in the spelling of disk or stream.
pub(crate) fn compaction(metadata: &Json<'_>) -> Break {
    let count = |names: [&str; 2]| metadata.first(&names, Json::count);
    Break::Compaction {
        before: count(["preTokens", "pre_tokens"]),
        after: count(["postTokens", "post_tokens"]),
        trigger: metadata.get("trigger").text().unwrap_or_default(),
        partial: false,
        took: metadata.first(&["durationMs", "duration_ms"], Json::count),
    }
}

fn partial_compaction(metadata: &Json<'_>) -> Break {
    let before = metadata.get("preTokens").count();
    let saved = metadata.get("tokensSaved").count();
    Break::Compaction {
        before,
        after: before
            .zip(saved)
            .map(|(before, saved)| before.saturating_sub(saved)),
        trigger: metadata.get("trigger").text().unwrap_or_default(),
        partial: true,
        took: None,
    }
}

fn api_error(json: &Json<'_>) -> Text {
    let error = json.get("error");
    let kinds = [
        error.at("error.error.type"),
        error.at("cause.code"),
        error.get("message"),
    ];
    retry(
        error.get("status").int(),
        kinds.iter().find_map(|kind| kind.filled()),
        json.get("retryAttempt")
            .int()
            .zip(json.get("maxRetries").int()),
        json.get("retryInMs").count(),
    )
}

/// `API error 529 overloaded error, retry 1 of 10 in 0.5 s`. `wait` is in ms.
pub(crate) fn retry(
    status: Option<i64>,
    kind: Option<&str>,
    attempt: Option<(i64, i64)>,
    wait: Option<u64>,
) -> Text {
    let mut text = "API error".to_owned();
    if let Some(status) = status {
        text.push_str(&format!(" {status}"));
    }
    if let Some(kind) = kind {
        text.push_str(&format!(" {}", kind.replace('_', " ")));
    }
    if let Some((attempt, most)) = attempt {
        text.push_str(&format!(", retry {attempt} of {most}"));
    }
    if let Some(ms) = wait {
        text.push_str(&format!(" in {}", seconds(ms)));
    }
    Text::clean(&text)
}

fn stop_hooks(line: &TranscriptLine<'_>, session: &mut DecoderState, out: &mut Batch) -> Fate {
    let json = line.json;
    let errors: Vec<&str> = json
        .get("hookErrors")
        .items()
        .iter()
        .filter_map(Json::filled)
        .collect();
    if !errors.is_empty() {
        let text = format!("stop hook: {}", errors.join("\n"));
        return line.show(Break::error(&text), false, out);
    }
    if json.get("preventedContinuation").is_true() {
        let reason = json.get("stopReason").str_or_empty();
        return setting(
            line,
            &format!("a stop hook ended the turn: {reason}"),
            false,
            out,
        );
    }
    hooks::summary(line, &mut session.hooks, out)
}

/// Decodes a command that does not reach the model; stored as a system line since 2.1, with its
/// output. Newer records name the command beside the output.
fn local_command(
    line: &TranscriptLine<'_>,
    content: &str,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let run = line.json.get("commandRun");
    let command = run.get("command").filled().map(|name| {
        let words = format!(
            "/{} {}",
            name.trim_start_matches('/'),
            run.get("args").str_or_empty()
        );
        BlockKind::Break(Break::setting(words.trim_end()))
    });
    let (title, text) = match classify(content) {
        ClaudeAuthor::Typed(command) => {
            let mut entry = line.own_entry(Role::Harness, out);
            let words = Break::setting(&command);
            entry.push_piece(line.piece(), words);
            session.command = Some(PendingCommand::of(&entry));
            out.entry(entry);
            return Fate::Shown;
        }
        ClaudeAuthor::Program(note) if note.is_output() => (note.title, note.text),
        ClaudeAuthor::Program(note) => {
            return show_text(line, note.title, &note.text, note.quiet, out);
        }
        ClaudeAuthor::Own { .. } | ClaudeAuthor::Relayed { .. } | ClaudeAuthor::Interrupted(_)
            if command.is_some() =>
        {
            (Raw::COMMAND_OUTPUT, content.trim().into())
        }
        ClaudeAuthor::Own { .. } | ClaudeAuthor::Relayed { .. } | ClaudeAuthor::Interrupted(_) => {
            return show_text(line, "command", content, false, out);
        }
    };
    let output = (!text.is_empty()).then(|| {
        let raw = BlockKind::raw(title, out.output(&text));
        Block::new(line.piece(), raw)
    });
    let output = output.into_iter().collect();
    command::add_output(line, output, session.command.take(), out).unwrap_or_else(|output| {
        let mut entry = line.own_entry(Role::Harness, out);
        entry
            .blocks
            .extend(command.map(|command| Block::new(line.piece(), command)));
        entry.blocks.extend(output);
        out.show(entry)
    })
}

/// Shows a system prompt in a message of its own.
fn prompt(line: &TranscriptLine<'_>, out: &mut Batch) -> Fate {
    let mut entry = line.own_entry(Role::System, out);
    let body = out.prose(&anthropic::output_text(line.json.at("message.content")));
    entry.push_piece(line.piece(), BlockKind::Text(body));
    out.show(entry)
}

/// Shows a setting or a small fact.
pub(crate) fn setting(
    line: &TranscriptLine<'_>,
    what: &str,
    is_quiet: bool,
    out: &mut Batch,
) -> Fate {
    line.show(Break::setting(what), is_quiet, out)
}

/// Records a fact as a trace: the screen shows it elsewhere.
pub(crate) fn bookkeeping(line: &TranscriptLine<'_>, what: &str, out: &mut Batch) -> Fate {
    line.show_trace(Break::setting(what), out)
}

/// Shows a text by the program under a title.
pub(crate) fn show_text(
    line: &TranscriptLine<'_>,
    title: &str,
    text: &str,
    is_quiet: bool,
    out: &mut Batch,
) -> Fate {
    if text.trim().is_empty() {
        return bookkeeping(line, &format!("{title}: empty"), out);
    }
    let body = out.output(text.trim());
    line.show(BlockKind::raw(title, body), is_quiet, out)
}
