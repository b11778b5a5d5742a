//! Facts about a thread: its header, which may be repeated with a change, and the settings of each
//! turn.

use super::line::RolloutLine;
use super::places;
use super::thread::Thread;
use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit, Severity};
use crate::model::entry::{BlockKind, Break, Role};
use crate::model::tally::Fate;
use crate::model::text::{Text, text};
use crate::model::tool::identifies;

/// Decodes `session_meta`, and the bare first line of the first generation. One with another id
/// begins a copy of the thread with that id; one with the same id changes a fact.
pub(crate) fn session(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let payload = line.payload;
    let id = payload.get("id").text().filter(|id| identifies(id));
    match (&thread.id, &id) {
        (Some(_), _) if payload.get("history_base").is_object() => {
            return continue_thread(line, id, thread, out);
        }
        (Some(own), Some(other)) if own != other && places::is_thread(other) => {
            let began = places::time_of(own);
            thread.replay.until_own_turn(began, Some(other.clone()));
            return Fate::Merged;
        }
        (Some(_), _) => {
            facts(payload, thread, out);
            return Fate::Merged;
        }
        (None, _) => {}
    }
    thread.id.clone_from(&id);
    if let Some(id) = id {
        thread.meta(MetaEdit::Id(id), out);
    }
    facts(payload, thread, out);
    let parent = parent(payload);
    thread.fact("started by", parent.clone(), out);
    let said = find_beginning(payload, parent, thread, out);
    let instructions = ["base_instructions.text", "instructions"];
    let Some(instructions) = payload.first(&instructions, Json::filled) else {
        // In the first generation no other line has the time of the beginning.
        return if line.input.json.has("payload") {
            said
        } else {
            thread.trace(line, "the session begins", out)
        };
    };
    let mut entry = thread.entry(line, out.key("instructions"), Role::System, out);
    entry.marks.quiet = true;
    let body = out.prose(instructions);
    entry.push_piece(out.piece(), BlockKind::Text(body));
    thread.emit(entry, out)
}

fn facts(payload: &Json<'_>, thread: &mut Thread, out: &mut Batch) {
    let is_name = |name: &&str| {
        name.bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    if let Some(provider) = payload.get("model_provider").filled().filter(is_name) {
        thread.provider = (provider != "openai").then(|| Text::clean(provider));
    }
    let cwd = payload.get("cwd").text().map(MetaEdit::Cwd);
    let version = payload.get("cli_version").text().map(MetaEdit::Version);
    for edit in cwd.into_iter().chain(version) {
        thread.meta(edit, out);
    }
    for (name, path) in [
        ("git branch", "git.branch"),
        ("provider", "model_provider"),
        ("program", "originator"),
    ] {
        thread.fact(name, payload.at(path).text(), out);
    }
}

/// The thread that started this one.
fn parent(payload: &Json<'_>) -> Option<Text> {
    let spawned = [
        "source.subagent.thread_spawn.parent_thread_id",
        "parent_thread_id",
    ];
    // Reviewers and guardians do not name their thread.
    let is_review = || payload.get("thread_source").is("guardian_review");
    let other = || {
        let kind = payload.first(&["source.subagent.other", "source.subagent"], Json::filled);
        let kind = kind.or_else(|| is_review().then_some(GUARDIAN))?;
        Some(text!("{NAMELESS}{kind}"))
    };
    payload.first(&spawned, Json::text).or_else(other)
}

/// Prefix of the fact for a parent thread that is not named.
const NAMELESS: &str = "a session, as its ";
/// The kind of thread that judges a single action of another thread.
const GUARDIAN: &str = "guardian";

/// Whether a thread with this parent only judges an action of another thread, so that it is not a
/// session.
pub(crate) fn is_review(by: &str) -> bool {
    by.strip_prefix(NAMELESS) == Some(GUARDIAN)
}

/// The label of a sub-agent.
pub(crate) fn label(payload: &Json<'_>) -> Option<Text> {
    let names = [
        "source.subagent.thread_spawn.agent_nickname",
        "source.subagent.thread_spawn.agent_role",
        "agent_path",
        "source.subagent.other",
        "source.subagent",
    ];
    payload.first(&names, Json::text)
}

/// Decodes a header after content of another file: the thread continues, possibly under another id.
fn continue_thread(
    line: &RolloutLine<'_>,
    id: Option<Text>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    if let Some(id) = id {
        thread.id = Some(id.clone());
        thread.meta(MetaEdit::Id(id), out);
    }
    facts(line.payload, thread, out);
    let of = line.payload.at("history_base.thread_id").str_or_empty();
    let words = format!("goes on from rollout-…-{of}.jsonl; what followed there was taken back");
    thread.line(line, Break::Resumed(Text::clean(&words)), out)
}

/// Members of a header with the number of the first record that is the thread's own.
const FIRSTS: [&str; 2] = [
    "subagent_history_start_ordinal",
    "forked_from_ordinal_exclusive",
];

/// The number of a record, which some builds write as a string.
fn ordinal(json: &Json<'_>) -> Option<u64> {
    json.count().or_else(|| json.filled()?.trim().parse().ok())
}

/// Determines where the thread begins: in another file, or as a copy of another thread.
fn find_beginning(
    payload: &Json<'_>,
    parent: Option<Text>,
    thread: &mut Thread,
    out: &mut Batch,
) -> Fate {
    let base = payload.get("history_base");
    let forked = payload.get("forked_from_id").text();
    let began = thread.id.as_ref().and_then(|id| places::time_of(id));
    if let Some(first) = payload.first(&FIRSTS, ordinal) {
        thread.replay.until_ordinal(first, began, parent.or(forked));
    } else if let Some(of) = &forked {
        thread.replay.until_own_turn(began, Some(of.clone()));
    }
    if !base.is_object() {
        return Fate::Merged;
    }
    thread.counter.reset();
    let of = base.get("thread_id").str_or_empty();
    let end = base.get("end_ordinal_exclusive").count().unwrap_or(0);
    let words = format!("goes on from record {end} of rollout-…-{of}.jsonl, which is not here");
    out.notice(Severity::Note, &words);
    let mut entry = out.new_entry(out.key("base"), Role::Harness, None);
    entry.lane.clone_from(&thread.lane);
    entry.push_piece(out.piece(), Break::Resumed(Text::clean(&words)));
    thread.emit(entry, out)
}

/// The thread from which one with these first records was copied: the header names it, or the
/// header of that thread follows.
pub(crate) fn copied_from<'j>(first: &'j [Json<'_>]) -> Option<&'j str> {
    let [header, rest @ ..] = first else {
        return None;
    };
    let header = header.get("payload");
    let next = rest.iter().find(|next| next.kind() == "session_meta");
    let other = || {
        next?
            .at("payload.id")
            .filled()
            .filter(|id| header.get("id").str() != Some(id))
    };
    header.get("forked_from_id").filled().or_else(other)
}

/// Decodes `turn_context`: the model and its settings.
pub(crate) fn turn(line: &RolloutLine<'_>, thread: &mut Thread, out: &mut Batch) -> Fate {
    let payload = line.payload;
    if let Some(cwd) = payload.get("cwd").text() {
        thread.meta(MetaEdit::Cwd(cwd), out);
    }
    let model = payload
        .get("model")
        .text()
        .map(|model| thread.with_provider(model));
    let is_change = model.is_some() && thread.model.is_some() && thread.model != model;
    if let Some(model) = model {
        thread.model = Some(model.clone());
        thread.meta(MetaEdit::Model(model), out);
    }
    let sandbox = payload.first(
        &["sandbox_policy.type", "sandbox_policy.mode"],
        Json::filled,
    );
    let approval = payload.get("approval_policy").filled();
    thread.fact("approval", approval.map(Text::clean), out);
    thread.fact("sandbox", sandbox.map(Text::clean), out);
    let parts = [
        ("", thread.model.as_deref()),
        ("effort ", payload.get("effort").filled()),
        ("approval ", approval),
        ("sandbox ", sandbox),
    ];
    let parts = parts
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}{}", (*value)?)));
    let setup = parts.collect::<Vec<_>>().join(" · ");
    let is_known = std::mem::replace(&mut thread.setup, setup.clone()) == setup;
    if is_known {
        return Fate::Merged;
    }
    match thread.model.clone().filter(|_| is_change) {
        Some(model) => thread.line(line, Break::ModelChange(model), out),
        None => thread.trace(line, &setup, out),
    }
}
