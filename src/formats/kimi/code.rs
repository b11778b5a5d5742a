//! kimi-code: the wire of Kimi Code, which records operations on its context. Prompts are appended
//! as messages, answers are events of its loop; other records repeat these, or are about the
//! program.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::agent::Agent;
use super::content::{block, blocks, images, is_named, output_of, text_of, text_part};
use super::places;
use crate::formats::decoder::{BESIDE, Decoder, Format, Input, RecordPlace};
use crate::formats::definition::head::Head;
use crate::formats::definition::heads::{self, head};
use crate::formats::json::Json;
use crate::formats::roots::{FileRole, Pattern, SessionName, folder_name};
use crate::formats::tools;
use crate::formats::turns::TurnEntries;
use crate::formats::unknown::{self, NamedKind};
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{BlockKind, Break, Piece, Role, Stop};
use crate::model::figures::count;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, EndRecording, Update, Work, WorkEnd, WorkReference};
use crate::model::tool::{ToolResult, Verdict};
use crate::model::usage::Usage;

pub(crate) struct KimiCode;

impl Format for KimiCode {
    head!("kimi-code");

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(KimiCodeDecoder::default())
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        places::named(path)
    }

    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        match role {
            FileRole::Companion => places::companions(path),
            FileRole::Manifest => Pattern::list(places::state(path)),
            FileRole::Home => Pattern::list(places::session_folder(path).map(Path::to_owned)),
            _ => self.head().files(path, role),
        }
    }
}

#[derive(Default)]
struct KimiCodeDecoder {
    main: WireState,
    others: HashMap<PathBuf, WireState>,
}

#[derive(Default)]
struct WireState {
    agent: Agent,
    /// A hash of the last prompt, until its message is read.
    prompted: Option<Piece>,
    is_cancelled: bool,
    prompt_of_system: Option<Piece>,
    turns: TurnEntries,
}

/// Texts in the results of refused calls.
const REFUSALS: [&str; 3] = [
    "rejected by the user",
    "the user rejected the approval request",
    "the approval request was cancelled",
];

impl Decoder for KimiCodeDecoder {
    fn head(&self) -> &'static Head {
        KimiCode.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        match input.place {
            RecordPlace::File(path) if folder_name(path) == TASKS => task(path, input.json, out),
            RecordPlace::File(_) => {
                let json = input.json;
                if let Some(title) = json.get("title").text() {
                    let rank = if json.get("isCustomTitle").is_true() {
                        3
                    } else {
                        1
                    };
                    out.title(rank, title);
                }
                if let Some(cwd) = json.get("workDir").text() {
                    out.meta(MetaEdit::Cwd(cwd));
                }
                BESIDE
            }
            RecordPlace::CompanionLine(path) => {
                let new = || WireState {
                    agent: Agent::of_lane(Text::clean(folder_name(path))),
                    ..WireState::default()
                };
                let wire = self.others.entry(path.to_owned()).or_insert_with(new);
                wire.decode(input, out)
            }
            _ => self.main.decode(input, out),
        }
    }
}

impl WireState {
    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let before = out.edits.len();
        let fate = self.record(input, out);
        for edit in out.edits.get(before..).unwrap_or_default() {
            if let Edit::Entry(entry) = edit
                && !entry.marks.undone
            {
                if entry.marks.prompt {
                    self.turns.begin();
                }
                self.turns.push(entry);
            }
        }
        fate
    }

    fn record(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        let at = json.first(&["time", "created_at"], Json::moment);
        let kind = json.kind();
        match kind {
            "full_compaction.complete" => Fate::Merged,
            "turn.prompt" | "turn.steer" => {
                self.prompt(json.get("input"), json.get("origin"), at, out)
            }
            "context.append_message" => self.message(json.get("message"), at, out),
            "context.append_loop_event" => self
                .step(json.get("event"), at, out)
                .unwrap_or_else(|| unknown(&self.agent, json, "loop_event.type", at, out)),
            "usage.record" => {
                let usage = usage(json.get("usage"));
                let is_of_step = json.get("usageScope").is("turn");
                let model = self
                    .agent
                    .model
                    .clone()
                    .or_else(|| json.get("model").text());
                self.agent.add_usage(usage, model, is_of_step, out);
                Fate::Merged
            }
            "llm.request" => {
                self.agent.set_model(json.get("model").text(), out);
                Fate::Merged
            }
            "config.update" | "profile.bind" => self.configure(json, at, out),
            "permission.set_mode" => {
                let value = json.get("mode").text().unwrap_or_default();
                let line = Break::setting(&format!("permission mode: {value}"));
                let name = "permission mode";
                self.agent.meta(MetaEdit::Fact { name, value }, out);
                self.agent.trace(line, at, out)
            }
            "permission.record_approval_result" => self.approval(json, at, out),
            "context.clear" => {
                self.turns = TurnEntries::default();
                self.agent.line(Break::setting("context cleared"), at, out)
            }
            "context.undo" => {
                let turns = json.get("count").count().unwrap_or(1);
                self.turns.undo_last(turns, self.agent.lane.as_ref(), out);
                let words = format!("took back {}", count(turns, "turn"));
                self.agent.line(Break::setting(&words), at, out)
            }
            "full_compaction.begin" => {
                let words = format!("compaction, {}", json.get("source").str_or_empty());
                self.agent.trace(Break::setting(&words), at, out)
            }
            "context.apply_compaction" => self.compaction(json, at, out),
            "turn.cancel" => {
                self.agent.mark_lost(out);
                if std::mem::replace(&mut self.is_cancelled, true) {
                    return Fate::Merged;
                }
                self.agent
                    .line(Break::Interrupted(Text::default()), at, out)
            }
            "turn.ended" => self.ended(json, at, out),
            _ => unknown(&self.agent, json, "type", at, out),
        }
    }

    // === messages ===

    /// Decodes a prompt. Usually the next record appends it to the context.
    fn prompt(
        &mut self,
        content: &Json<'_>,
        origin: &Json<'_>,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) -> Fate {
        self.is_cancelled = false;
        let words = text_of(content);
        if !is_from_user(origin) {
            return self.context(title_of(origin), content, at, out);
        }
        let mut entry = self.agent.prompt(&words, at, out);
        entry.blocks = blocks(content, out.piece(), out);
        self.prompted = Some(Piece::of(&words));
        out.show(entry)
    }

    fn message(&mut self, message: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> Fate {
        let content = message.get("content");
        let words = text_of(content);
        let origin = message.get("origin");
        if origin.get("kind").is("background_task") {
            let handle = origin.get("taskId").text();
            let about = WorkReference { call: None, handle };
            let end = WorkEnd::from_word(origin.get("status").str(), None);
            let update = Update {
                by: out.origin_key(),
                at,
                carrier: Carrier::Notice,
                end,
                reason: None,
            };
            out.update(about, update, self.agent.lane.clone());
        }
        match message.get("role").str_or_empty() {
            "user"
                if is_from_user(origin)
                    && self
                        .prompted
                        .take_if(|print| *print == Piece::of(&words))
                        .is_some() =>
            {
                let mut entry = self.agent.entry(out.origin_key(), Role::Harness, at, out);
                // Read alone this record is the prompt, so the known parts are decoded as well, to
                // number its bodies alike.
                let mut other = |part| block(part, Piece(0), out).filter(|_| !is_named(part));
                entry.blocks = content.blocks().iter().filter_map(&mut other).collect();
                if entry.blocks.is_empty() {
                    return Fate::Merged;
                }
                out.show(entry)
            }
            "user" if is_from_user(origin) => {
                let fate = self.prompt(content, origin, at, out);
                self.prompted = None;
                fate
            }
            "user" => self.context(title_of(origin), content, at, out),
            "assistant" => {
                let (mut entry, fate) = self.agent.answer(at, out);
                entry.blocks = blocks(content, out.piece(), out);
                out.entry(entry);
                fate
            }
            "" => self.context("message", content, at, out),
            role => {
                let entry = self.agent.entry(out.origin_key(), Role::Harness, at, out);
                unknown::record(NamedKind("role", role), message, entry, out)
            }
        }
    }

    /// Decodes a message of the program.
    fn context(
        &self,
        title: &str,
        content: &Json<'_>,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) -> Fate {
        let mut entry = self.agent.entry(out.origin_key(), Role::Harness, at, out);
        entry.marks.quiet = true;
        let body = out.output(&text_of(content));
        entry.push(BlockKind::raw(title, body));
        let others = content
            .blocks()
            .iter()
            .filter(|part| text_part(part).is_none());
        entry
            .blocks
            .extend(others.filter_map(|part| block(part, Piece(0), out)));
        out.show(entry)
    }

    // === the loop ===

    fn step(&mut self, event: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> Option<Fate> {
        Some(match event.kind() {
            "step.begin" => {
                self.is_cancelled = false;
                self.agent.begin_step(out);
                Fate::Merged
            }
            "content.part" => {
                let (mut entry, fate) = self.agent.answer(at, out);
                entry
                    .blocks
                    .extend(block(event.get("part"), out.piece(), out));
                out.entry(entry);
                fate
            }
            "tool.call" => {
                let (mut entry, fate) = self.agent.answer(at, out);
                let id = event.get("toolCallId").str_or_empty();
                let call = tools::call(event.get("name").str_or_empty(), event.get("args"), out);
                entry.push_piece(out.piece(), self.agent.begin_call(id, call, at));
                out.entry(entry);
                fate
            }
            "tool.result" => self.result(event, at, out),
            "step.end" => {
                self.agent
                    .stop(Stop::of(event.get("finishReason").str_or_empty()), at, out)
            }
            "step.retry" | "step.error" => {
                let words = event.first(&["error", "message"], Json::filled);
                self.agent
                    .line(Break::error(words.unwrap_or("the step failed")), at, out)
            }
            _ => return None,
        })
    }

    fn result(&mut self, event: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> Fate {
        let call = event.get("toolCallId").clean();
        let is_known = self.agent.end_call(&call);
        let result = event.get("result");
        let output = output_of(result.get("output"));
        let note = result.get("note").str_or_empty();
        let is_error = result.get("isError").is_true();
        let is_refused = is_error && REFUSALS.iter().any(|words| output.contains(words));
        let key = ToolResult::key_of(&call, self.agent.lane.as_ref());
        announce(&call, &output, out);
        let shown = if output.trim().is_empty() {
            note
        } else {
            &output
        };
        let verdict = Verdict::of(is_error, is_refused);
        let result = ToolResult {
            images: images(result.get("output"), out),
            work: work_of(&output, out),
            ..ToolResult::new(key, verdict, out.output(shown), at)
        };
        out.result(call, result, self.agent.lane.clone());
        if is_known { Fate::Merged } else { Fate::Shown }
    }

    // === the program ===

    fn configure(&mut self, json: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> Fate {
        self.agent.set_model(json.get("modelAlias").text(), out);
        if let Some(cwd) = json.first(&["cwd", "environmentDisclosure.cwd"], Json::text) {
            self.agent.meta(MetaEdit::Cwd(cwd), out);
        }
        if let Some(value) = json.get("profileName").text() {
            let name = "profile";
            self.agent.meta(MetaEdit::Fact { name, value }, out);
        }
        let Some(prompt) = json.get("systemPrompt").filled() else {
            return self.agent.tree(json.kind(), json, at, out);
        };
        if self.prompt_of_system.replace(Piece::of(prompt)) == Some(Piece::of(prompt)) {
            return Fate::Merged;
        }
        let mut entry = self.agent.entry(out.origin_key(), Role::System, at, out);
        entry.marks.quiet = true;
        let body = out.prose(prompt);
        entry.push(BlockKind::Text(body));
        out.show(entry)
    }

    fn approval(&self, json: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> Fate {
        let decision = json.at("result.decision").str_or_empty();
        let more = json.first(&["result.selectedLabel", "result.scope"], Json::filled);
        let words = format!(
            "permission {decision} {}  {}",
            more.unwrap_or_default(),
            json.get("action").str_or_empty()
        );
        let what = Break::setting(words.trim_end());
        if decision == "approved" {
            self.agent.trace(what, at, out)
        } else {
            self.agent.line(what, at, out)
        }
    }

    /// Decodes a compaction. Turns before it can no longer be undone.
    fn compaction(&mut self, json: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> Fate {
        let mut entry = self.agent.entry(out.origin_key(), Role::Harness, at, out);
        self.turns = TurnEntries::default();
        let what = Break::Compaction {
            before: json.get("tokensBefore").count(),
            after: json.get("tokensAfter").count(),
            trigger: Text::default(),
            partial: false,
            took: None,
        };
        entry.push(what);
        if let Some(summary) = json.get("summary").filled() {
            let body = out.prose(summary);
            entry.push_piece(Piece(1), BlockKind::Text(body));
        }
        out.show(entry)
    }

    fn ended(&mut self, json: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> Fate {
        let fate = self.agent.stop(Stop::Done, at, out);
        let reason = json.get("reason").str_or_empty();
        match json.get("durationMs").count() {
            _ if reason == "failed" || reason == "error" => {
                let why = json.first(&["error", "error.message"], Json::filled);
                self.agent
                    .line(Break::error(why.unwrap_or("the turn failed")), at, out)
            }
            Some(ms) => self.agent.trace(Break::Took(ms), at, out),
            None => fate,
        }
    }
}

/// The maximum length of the reason for a task's end, in characters.
const REASON_CHARS: usize = 200;
/// The folder with a file for each background task.
const TASKS: &str = "tasks";

/// Decodes the file of a background task, which has its end and exit code.
fn task(path: &Path, json: &Json<'_>, out: &mut Batch) -> Fate {
    let handle = json.get("taskId").text().or_else(|| {
        let stem = path.file_stem()?.to_string_lossy();
        Some(Text::clean(&stem)).filter(|stem| !stem.is_blank())
    });
    let status = json.get("status").str();
    let end = status.and_then(|word| WorkEnd::from_word(Some(word), json.get("exitCode").int()));
    if let Some((handle, end)) = handle.zip(end) {
        let at = json.get("endedAt").moment();
        let update = Update {
            by: out.origin_key(),
            at,
            carrier: Carrier::Record,
            reason: json
                .get("stopReason")
                .text()
                .map(|reason| Text::stub(&reason, REASON_CHARS)),
            end: Some(WorkEnd { at, ..end }),
        };
        out.update(WorkReference::handle(handle), update, None);
    }
    BESIDE
}

/// The background work that the first lines of a result name.
fn work_of(output: &str, out: &Batch) -> Option<Box<Work>> {
    let field = |name: &str| {
        output
            .lines()
            .take(WORK_LINES)
            .find_map(|line| line.strip_prefix(name))
    };
    let handle = field("task_id: ")?.trim();
    let goes_on =
        field("status: ")?.trim() == "running" && field("automatic_notification: ").is_some();
    let mut work =
        (goes_on && !handle.is_empty()).then(|| heads::work(out.format, Text::clean(handle)))?;
    if field("automatic_notification: ")?.trim() == "false" {
        work.ends = EndRecording::Asked;
    }
    Some(Box::new(work))
}

/// The number of leading lines of a result that may name the work.
const WORK_LINES: usize = 12;

/// Emits the lane of a sub-agent. The result of the call that started it begins with its name.
fn announce(call: &Text, output: &str, out: &mut Batch) {
    let Some(rest) = output.strip_prefix("agent_id: ") else {
        return;
    };
    let mut lines = rest.lines();
    let name: Name = Text::clean(lines.next().unwrap_or_default().trim());
    let label = lines
        .next()
        .and_then(|line| line.strip_prefix("actual_subagent_type: "))
        .map(Text::clean);
    if !name.is_blank() {
        out.lane(name, label, Some(call.clone()));
    }
}

fn unknown(
    agent: &Agent,
    json: &Json<'_>,
    class: &'static str,
    at: Option<Timestamp>,
    out: &mut Batch,
) -> Fate {
    let kind = json.first(&["event.type", "type"], Json::filled);
    let entry = agent.entry(out.origin_key(), Role::Harness, at, out);
    unknown::record(NamedKind(class, kind.unwrap_or_default()), json, entry, out)
}

/// Whether a prompt is by a human or a calling agent. Older records do not say.
fn is_from_user(origin: &Json<'_>) -> bool {
    let is_of_agent = origin.get("name").is("subagent");
    origin.is_null() || origin.get("kind").is("user") || is_of_agent
}

/// The title for a message that the program adds to the context.
fn title_of<'j>(origin: &'j Json<'_>) -> &'j str {
    let names = ["variant", "name", "kind"];
    origin.first(&names, Json::filled).unwrap_or("context")
}

fn usage(json: &Json<'_>) -> Usage {
    Usage {
        input: json.get("inputOther").count(),
        output: json.get("output").count(),
        cache_read: json.get("inputCacheRead").count(),
        cache_write: json.get("inputCacheCreation").count(),
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
