//! Events of the program: `event_msg`, by type. Since paginated threads many of them are an
//! `item_completed` with an item of the same meaning.

use super::action;
use super::agents::ReportSource;
use super::call;
use super::header;
use super::lanes::SubAgentThreads;
use super::line::RolloutLine;
use super::message;
use super::repeated_texts::{RepeatedAuthor, Side};
use super::spent;
use super::thread::Thread;
use super::usage::limits;
use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Break, Piece, Role};
use crate::model::figures::count;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::tool::work::{Carrier, Update, WorkEnd};

pub(crate) fn event(
    line: &RolloutLine<'_>,
    thread: &mut Thread,
    lanes: &mut SubAgentThreads,
    out: &mut Batch,
) -> Fate {
    let payload = line.payload;
    match line.kind() {
        "token_count" => tokens(line, thread, out),
        "user_message" => message::user(line, Side::Event, payload.get("message"), thread, out),
        "agent_message" => message::answer(line, Side::Event, thread, out),
        "agent_reasoning" | "agent_reasoning_raw_content" => {
            let text = payload.get("text").str_or_empty();
            message::event(RepeatedAuthor::Thought, text, line, thread, out)
        }
        "task_started" | "turn_started" => {
            if let Some(tokens) = payload.get("model_context_window").count() {
                thread.meta(MetaEdit::Window(tokens), out);
            }
            update_starting_call(line, None, thread, lanes, out);
            Fate::Merged
        }
        "task_complete" | "turn_complete" => {
            let has_failed = !payload.get("error").is_null();
            let word = if has_failed { "failed" } else { "completed" };
            update_starting_call(line, Some(word), thread, lanes, out);
            end_of_turn(line, thread, out)
        }
        "turn_aborted" => {
            update_starting_call(line, Some("stopped"), thread, lanes, out);
            aborted(line, thread, out)
        }
        "thread_rolled_back" => {
            let turns = payload.get("num_turns").count().unwrap_or(1);
            thread.undo_turns(turns, out);
            let words = format!("took back {}", count(turns, "turn"));
            thread.line(line, Break::setting(&words), out)
        }
        "context_compacted" => compacted(line, thread, out),
        "item_completed" => item(line, payload.get("item"), thread, lanes, out),
        "web_search_end" => action::search(line, Side::Event, payload, thread, out),
        "guardian_assessment" => guardian(line, thread, out),
        "thread_name_updated" => title(line, thread, out),
        "thread_goal_updated" => goal(line, thread, out),
        "collab_agent_spawn_end" | "sub_agent_activity" => {
            sub_agent(line, payload, thread, lanes, out)
        }
        "entered_review_mode" | "exited_review_mode" => review(line, payload, thread, out),
        "error" | "stream_error" => {
            let words = payload.get("message").clean();
            thread.line(line, Break::Error(words), out)
        }
        "warning" | "background_event" | "undo_completed" => {
            let text = payload.get("message").filled().unwrap_or("done");
            thread.text(line, (line.kind(), text), false, out)
        }
        kind @ "thread_settings_applied" => {
            if !thread.replay.is_active() {
                spent::settings(payload.get("thread_settings"), thread);
            }
            thread.unknown(line, ("event_msg.type", kind), out)
        }
        kind => action::other(line, payload, thread, out)
            .unwrap_or_else(|| thread.unknown(line, ("event_msg.type", kind), out)),
    }
}

/// Decodes a completed item.
fn item(
    line: &RolloutLine<'_>,
    item: &Json<'_>,
    thread: &mut Thread,
    lanes: &mut SubAgentThreads,
    out: &mut Batch,
) -> Fate {
    match item.kind() {
        "UserMessage" => message::user(line, Side::Event, item.get("content"), thread, out),
        "AgentMessage" => message::answer(line, Side::Event, thread, out),
        "Reasoning" => {
            let texts = ["summary_text", "raw_content"]
                .iter()
                .flat_map(|name| item.get(name).items());
            let fates = texts
                .filter_map(Json::str)
                .map(|text| message::event(RepeatedAuthor::Thought, text, line, thread, out));
            let fates: Vec<Fate> = fates.collect();
            if fates.contains(&Fate::Shown) {
                Fate::Shown
            } else {
                Fate::Merged
            }
        }
        "ContextCompaction" => compacted(line, thread, out),
        "WebSearch" => action::search(line, Side::Event, item, thread, out),
        "Extension" if item.get("kind").is("web.search") => {
            action::search(line, Side::Event, item, thread, out)
        }
        "SubAgentActivity" => sub_agent(line, item, thread, lanes, out),
        "CollabAgentToolCall" => agent_tool(line, item, thread, lanes, out),
        "EnteredReviewMode" | "ExitedReviewMode" => review(line, item, thread, out),
        "HookPrompt" => message::hook(line, item, thread, out),
        "FunctionCallOutput" => call::program_output(line, item, thread, out),
        "Plan" => {
            let text = item.get("text").str_or_empty();
            message::event(RepeatedAuthor::Plan, text, line, thread, out)
        }
        kind => action::other(line, item, thread, out)
            .unwrap_or_else(|| thread.unknown(line, ("item_completed.type", kind), out)),
    }
}

fn tokens(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let info = line.payload.get("info");
    if let Some(tokens) = info.get("model_context_window").count() {
        thread.meta(MetaEdit::Window(tokens), out);
    }
    let is_inherited = thread.replay.is_active();
    if let Some(counts) = thread.counter.count(info, is_inherited) {
        thread.add_usage(counts, line, out);
    }
    if !is_inherited {
        for limit in limits(line.payload.get("rate_limits"), line.at) {
            thread.meta(MetaEdit::Limit(limit), out);
        }
    }
    Fate::Merged
}

// === turns ===

/// Paths of the error that ended a turn.
const ERROR: [&str; 2] = ["error.message", "error"];

fn end_of_turn(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let payload = line.payload;
    let said = message::last_words(line, thread, out);
    thread.calls.mark_all_lost(out);
    thread.end_turn(line, out);
    if let Some(error) = payload.first(&ERROR, Json::filled) {
        return thread.line(line, Break::error(error), out);
    }
    if !payload.get("error").is_null() {
        return thread.line(line, Break::error(&payload.get("error").to_source()), out);
    }
    match payload.get("duration_ms").count() {
        Some(ms) => {
            let mut entry = thread.entry(line, out.key("took"), Role::Harness, out);
            (entry.marks.quiet, entry.marks.trace) = (true, true);
            entry.push(Break::Took(ms));
            thread.emit(entry, out)
        }
        None => said,
    }
}

fn aborted(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    thread.calls.mark_all_lost(out);
    thread.close_request();
    thread.stop_turn();
    let reason = line.payload.get("reason").str_or_empty().replace('_', " ");
    let reason = if reason == "interrupted" { "" } else { &reason };
    let words = match line.payload.first(&ERROR, Json::filled) {
        Some(error) => Text::clean(format!("{reason}  {error}").trim_start()),
        None => Text::clean(reason),
    };
    thread.line(line, Break::Interrupted(words), out)
}

/// Decodes a compaction, which is recorded by a line of its own and an event.
pub(crate) fn compacted(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let is_known = thread.compaction.is_some();
    let key = thread.compaction.take().unwrap_or_else(|| out.origin_key());
    thread.compaction = Some(key.clone());
    thread.close_request();
    let summary = line.payload.get("message").filled();
    if is_known && summary.is_none() {
        return Fate::Merged;
    }
    let mut entry = thread.entry(line, key, Role::Harness, out);
    entry.push(Break::compaction(""));
    if let Some(summary) = summary {
        let body = out.prose(summary);
        entry.push_piece(Piece(1), BlockKind::Text(body));
    }
    thread.emit(entry, out)
}

/// Updates the call that started a sub-agent: a turn of the sub-agent began, or ended in this way.
fn update_starting_call(
    line: &RolloutLine<'_>,
    end: Option<&str>,
    thread: &Thread,
    lanes: &mut SubAgentThreads,
    out: &mut Batch,
) {
    if let Some(lane) = &thread.lane {
        let update = Update {
            by: out.origin_key(),
            at: line.at,
            carrier: Carrier::Record,
            end: end.and_then(|word| WorkEnd::from_word(Some(word), None)),
            reason: None,
        };
        lanes.update(lane, update, out);
    }
}

// === facts ===

fn title(line: &RolloutLine<'_>, thread: &Thread, out: &mut Batch) -> Fate {
    if let Some(title) = line.payload.get("thread_name").text() {
        thread.meta(MetaEdit::Title { rank: 2, title }, out);
    }
    Fate::Merged
}

fn goal(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let goal = line.payload.get("goal");
    let words = format!(
        "goal {}: {}",
        goal.get("status").str_or_empty(),
        goal.get("objective").str_or_empty()
    );
    thread.line(line, Break::setting(&words), out)
}

/// Decodes an assessment of a guardian, which decides whether a call is allowed: request and
/// decision share an id.
fn guardian(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let payload = line.payload;
    let status = payload.get("status").str_or_empty();
    let action = payload.get("action");
    let asked = action.first(&["command", "tool", "target", "path"], Json::filled);
    let risk = payload
        .get("risk_level")
        .filled()
        .map(|risk| format!(", risk {risk}"))
        .unwrap_or_default();
    let why = payload
        .get("rationale")
        .filled()
        .map(|why| format!(": {why}"))
        .unwrap_or_default();
    let words = format!(
        "guardian {}{risk}{why}  {}",
        status.replace('_', " "),
        asked.unwrap_or_default()
    );
    let id = payload.get("id").filled();
    let key = id.map_or_else(|| out.origin_key(), |id| text!("guardian:{id}"));
    let mut entry = thread.entry(line, key, Role::Harness, out);
    entry.marks.quiet |= matches!(status, "approved" | "in_progress");
    entry.marks.trace |= status == "approved";
    entry.push(Break::setting(words.trim_end()));
    thread.emit(entry, out)
}

fn review(line: &RolloutLine<'_>, json: &Json<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let output = json.get("review_output");
    let hint = json.first(&["user_facing_hint", "review", "prompt"], Json::filled);
    let hint = hint.unwrap_or_default();
    if !output.is_object() {
        let is_begin = json.kind().to_lowercase().starts_with("enter");
        let words = format!(
            "review {}  {hint}",
            if is_begin { "begins" } else { "ended" }
        );
        return thread.line(line, Break::setting(words.trim_end()), out);
    }
    let said = |json: &Json<'_>, name: &str| json.get(name).str_or_empty().to_owned();
    let mut text = format!(
        "{}\n{}\n",
        said(output, "overall_correctness"),
        said(output, "overall_explanation")
    );
    for finding in output.get("findings").items() {
        let place = finding.get("code_location");
        let lines = place.get("line_range");
        text.push_str(&format!(
            "\n{}  {}:{}-{}\n{}\n",
            said(finding, "title"),
            said(place, "absolute_file_path"),
            lines.get("start").count().unwrap_or(0),
            lines.get("end").count().unwrap_or(0),
            said(finding, "body")
        ));
    }
    thread.text(line, ("review", &text), false, out)
}

/// Decodes a record that a sub-agent was started by a call, or continued.
fn sub_agent(
    line: &RolloutLine<'_>,
    json: &Json<'_>,
    thread: &mut Thread,
    lanes: &mut SubAgentThreads,
    out: &mut Batch,
) -> Fate {
    let child = json.first(&["new_thread_id", "agent_thread_id"], Json::text);
    let call = json.first(&["call_id", "event_id", "id"], Json::text);
    let names = ["new_agent_nickname", "agent_path", "new_agent_role"];
    let label = json.first(&names, Json::text);
    let kind = json.get("kind").str().unwrap_or("started");
    let path = json.get("agent_path").text();
    let called: Vec<Text> = child.iter().cloned().chain(path).collect();
    // In an inherited history the sub-agents belong to the original thread.
    if let Some(child) = child.filter(|_| kind == "started" && !thread.replay.is_active()) {
        let call = call.filter(|call| thread.calls.contains(call));
        for name in &called {
            if let Some(call) = &call {
                thread.agents.name(name, call);
            }
        }
        lanes.link(&child, (call, thread.lane.as_ref()), label, out);
    }
    let lane = thread.lane.clone();
    let source = report_source(line, lane.as_ref(), out);
    thread.agents.activity(&called, kind, &source, out);
    thread.tree(line, json.kind(), out)
}

/// The source for states of sub-agents that the program records for itself.
fn report_source<'l>(
    line: &RolloutLine<'_>,
    lane: Option<&'l Name>,
    out: &Batch,
) -> ReportSource<'l> {
    ReportSource {
        by: out.origin_key(),
        at: line.at,
        carrier: Carrier::Record,
        lane,
    }
}

/// Decodes the use of a tool for sub-agents: by a call of the model, or from code, which has no
/// other record of the call.
fn agent_tool(
    line: &RolloutLine<'_>,
    item: &Json<'_>,
    thread: &mut Thread,
    lanes: &mut SubAgentThreads,
    out: &mut Batch,
) -> Fate {
    let call = item.get("id").text();
    let is_known = call.as_ref().is_none_or(|call| thread.calls.contains(call));
    let deed = if is_known {
        None
    } else {
        action::other(line, item, thread, out)
    };
    let fate = deed.unwrap_or_else(|| thread.tree(line, "CollabAgentToolCall", out));
    if item.get("tool").str_or_empty().starts_with("spawn") && !thread.replay.is_active() {
        let ids = item
            .get("receiver_thread_ids")
            .items()
            .iter()
            .map(|id| (id.text(), None));
        let agents = item.get("receiver_agents").items().iter();
        let agents = agents.map(|agent| {
            (
                agent.get("thread_id").text(),
                agent.get("agent_nickname").text(),
            )
        });
        for (child, label) in ids.chain(agents) {
            if let Some(child) = child {
                if let Some(call) = &call {
                    thread.agents.name(&child, call);
                }
                lanes.link(&child, (call.clone(), thread.lane.as_ref()), label, out);
            }
        }
    }
    let lane = thread.lane.clone();
    let source = report_source(line, lane.as_ref(), out);
    let states = item.get("agents_states").members();
    thread.agents.apply_states(states, &source, out);
    fate
}

pub(crate) fn name_lane(
    line: &RolloutLine<'_>,
    thread: &Thread,
    lanes: &mut SubAgentThreads,
    out: &mut Batch,
) {
    if let Some(lane) = &thread.lane {
        lanes.name(lane, header::label(line.payload), out);
    }
}
