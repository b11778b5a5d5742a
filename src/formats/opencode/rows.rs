//! Rows of `session_message`, the second generation of messages: one row holds a whole message with
//! its content, in an export with its id and type. They are converted to the form of the first
//! generation, so that both are shown alike.
//!
//! Invariant: a pure function of the row.

use std::borrow::Cow;

use super::sessions::SUSPENDED;
use super::{framing, message};
use crate::formats::json::Json;
use crate::model::entry::Break;
use crate::model::text::Text;
use crate::model::usage::Usage;

pub(super) enum DatabaseRow<'a> {
    Message {
        info: Json<'a>,
        parts: Vec<Json<'a>>,
    },
    /// A separator.
    Line(Break),
    /// The session is idle after a turn that ended in this way.
    Idle(Break),
}

const TYPES: [&str; 11] = [
    "user",
    "assistant",
    "synthetic",
    "system",
    "skill",
    "shell",
    "compaction",
    "agent-switched",
    "model-switched",
    "location-switched",
    "idle",
];

/// Whether a value is an exported row of a known type. An export has the session in its header
/// instead of in each row.
pub(super) fn is_exported(json: &Json<'_>) -> bool {
    let is_known = json
        .get("type")
        .str()
        .is_some_and(|kind| TYPES.contains(&kind));
    is_known
        && json.get("id").str_or_empty().starts_with("msg_")
        && !json.has("role")
        && json.has("time")
}

/// Decodes a row; `None` if it is not one, or of an unknown type.
pub(super) fn read<'a>(json: &Json<'a>) -> Option<DatabaseRow<'a>> {
    if json.has("messageID") || !(json.has("sessionID") || is_exported(json)) {
        return None;
    }
    let text = |name: &str| json.get(name).str_or_empty();
    Some(match json.get("type").str()? {
        "user" => message(json, "user", user_parts(json)),
        "synthetic" | "system" => message(
            json,
            "user",
            vec![synthetic(json, json.get("description").clone())],
        ),
        "skill" => {
            let title = format!(
                "skill {}",
                json.get("name").filled().unwrap_or(text("skill"))
            );
            message(json, "user", vec![synthetic(json, Json::Str(title.into()))])
        }
        "shell" => message(json, "shell", vec![shell(json)]),
        "assistant" => message(json, "assistant", assistant_parts(json)),
        "compaction" => compaction(json),
        "agent-switched" => DatabaseRow::Line(Break::setting(&format!("agent {}", text("agent")))),
        "model-switched" => {
            DatabaseRow::Line(Break::ModelChange(model(json).text().unwrap_or_default()))
        }
        "location-switched" => {
            let place = json
                .at("location.directory")
                .filled()
                .unwrap_or("another place");
            DatabaseRow::Line(Break::setting(&format!("works in {place}")))
        }
        "idle" => DatabaseRow::Idle(ended(text("outcome"))),
        _ => return None,
    })
}

/// The time at which the row was created.
pub(super) fn time<'v, 'a>(json: &'v Json<'a>) -> &'v Json<'a> {
    json.either("time.created", "time_created")
}

/// The separator for the end of a turn with this outcome.
pub(super) fn ended(outcome: &str) -> Break {
    match outcome {
        "interrupted" => Break::Interrupted(Text::default()),
        SUSPENDED => {
            Break::Interrupted("the server was stopped; it goes on when it starts again".into())
        }
        outcome => Break::setting(format!("turn {outcome}").trim_end()),
    }
}

/// The model's id, which is recorded within an object or directly.
pub(super) fn model<'v, 'a>(json: &'v Json<'a>) -> &'v Json<'a> {
    json.either("model.id", "model")
}

fn message<'a>(json: &Json<'a>, role: &'static str, parts: Vec<Json<'a>>) -> DatabaseRow<'a> {
    let same = [
        "id",
        "sessionID",
        "agent",
        "cost",
        "finish",
        "error",
        "copied",
    ];
    let mut info: Vec<(&'static str, Json<'a>)> = same
        .into_iter()
        .filter(|name| json.has(name))
        .map(|name| (name, json.get(name).clone()))
        .collect();
    let completed = json.at("time.completed").clone();
    let times = [("created", time(json).clone()), ("completed", completed)];
    info.extend([
        ("tokens", tokens(json.get("tokens"))),
        ("role", string(role)),
        ("source", json.at("metadata.source").clone()),
        ("modelID", model(json).clone()),
        ("time", object(times)),
    ]);
    DatabaseRow::Message {
        info: object(info),
        parts,
    }
}

/// The usage of a message of version 2.
pub(super) fn usage(json: &Json<'_>) -> Option<Usage> {
    message::usage(&object([
        ("tokens", tokens(json.get("tokens"))),
        ("cost", json.get("cost").clone()),
    ]))
}

/// The token counts with their total, by which `message::usage` determines that reasoning is
/// separate from output.
pub(super) fn tokens<'a>(recorded: &Json<'a>) -> Json<'a> {
    let paths = ["input", "output", "reasoning", "cache.read", "cache.write"];
    let known = paths.iter().filter_map(|path| recorded.at(path).count());
    let total = known.fold(0, u64::saturating_add);
    let mut members = recorded.members().to_vec();
    match i64::try_from(total) {
        Ok(total) if recorded.is_object() && !recorded.has("total") => {
            members.push(("total".into(), Json::Integer(total)));
            Json::Object(members)
        }
        _ => recorded.clone(),
    }
}

fn user_parts<'a>(json: &Json<'a>) -> Vec<Json<'a>> {
    let text = object([("type", string("text")), ("text", json.get("text").clone())]);
    let files = json.get("files").items().iter().map(file);
    let named = |list: &'static str, kind: &'static str| {
        let named = json.get(list).items().iter();
        named.map(move |one| object([("type", string(kind)), ("name", one.get("name").clone())]))
    };
    std::iter::once(text)
        .chain(files)
        .chain(named("agents", "agent"))
        .chain(named("skills", "skill"))
        .collect()
}

fn file<'a>(recorded: &Json<'a>) -> Json<'a> {
    object([
        ("type", string("file")),
        ("mime", recorded.get("mime").clone()),
        ("filename", recorded.get("name").clone()),
        ("url", recorded.get("uri").clone()),
    ])
}

/// A text by the program, with a title.
fn synthetic<'a>(json: &Json<'a>, title: Json<'a>) -> Json<'a> {
    let text = json.get("text").clone();
    object([
        ("type", string("text")),
        ("text", text),
        ("title", title),
        ("synthetic", Json::Bool(true)),
    ])
}

/// A command that the user ran.
fn shell<'a>(json: &Json<'a>) -> Json<'a> {
    let output = json.either("output.output", "output");
    let times = json.get("time");
    let how = json.get("status").str().unwrap_or("running");
    let is_running = times.get("completed").is_null() && how == "running";
    let id = ["callID", "shellID", "id"]
        .into_iter()
        .find(|name| json.has(name))
        .unwrap_or("id");
    let input = object([("command", json.get("command").clone())]);
    let note = match how {
        "timeout" => string("timed out"),
        "killed" => string("killed"),
        _ => Json::Null,
    };
    let metadata = object([
        ("exit", json.get("exit").clone()),
        ("output", output.clone()),
        ("stopped", note),
    ]);
    let state = object([
        (
            "status",
            string(if is_running { "running" } else { "completed" }),
        ),
        ("input", input),
        ("output", output.clone()),
        ("metadata", metadata),
        (
            "time",
            object([
                ("start", times.get("created").clone()),
                ("end", times.get("completed").clone()),
            ]),
        ),
    ]);
    object([
        ("type", string("tool")),
        ("tool", string("bash")),
        ("callID", json.get(id).clone()),
        ("state", state),
    ])
}

fn assistant_parts<'a>(json: &Json<'a>) -> Vec<Json<'a>> {
    let content = json
        .get("content")
        .items()
        .iter()
        .map(|item| match item.get("type").str() {
            Some("tool") => tool(item),
            // Only tool parts have another form.
            _ => item.clone(),
        });
    let retry = json.get("retry");
    let retry = retry.is_object().then(|| {
        object([
            ("type", string("retry")),
            ("attempt", retry.get("attempt").clone()),
            ("error", retry.get("error").clone()),
        ])
    });
    let files = json.at("snapshot.files");
    let patch = (!files.items().is_empty())
        .then(|| object([("type", string("patch")), ("files", files.clone())]));
    content.chain(retry).chain(patch).collect()
}

/// A call with its result. The output is in `content`; earlier builds had it in `output`, `result`
/// or `structured`.
pub(super) fn tool<'a>(item: &Json<'a>) -> Json<'a> {
    let (state, times) = (item.get("state"), item.get("time"));
    let content = state.get("content").items();
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|one| one.get("text").str())
        .collect();
    let files = content.iter().filter(|one| one.kind() == "file");
    let attachments = files
        .chain(state.get("attachments").items())
        .map(file)
        .collect();
    let structured = state.either("metadata", "structured");
    let mut metadata: Vec<(Cow<'a, str>, Json<'a>)> = structured.members().to_vec();
    let is_ended = matches!(state.get("status").str(), Some("completed" | "error"));
    let others = [
        state.get("output"),
        state.get("result"),
        state.get("structured"),
    ];
    let says = |one: &&Json<'a>| one.str().is_some() || (is_ended && !one.members().is_empty());
    let other = others.into_iter().find(says).filter(|_| content.is_empty());
    let output = if texts.is_empty() {
        other.cloned()
    } else {
        Some(Json::Str(texts.join("\n").into()))
    };
    let name = item.get("name").str_or_empty();
    if let Some(text) = output.as_ref().and_then(Json::str) {
        if !is_ended && !text.is_empty() {
            metadata.push(("output".into(), Json::Str(text.to_owned().into())));
        }
        let has_exit = metadata.iter().any(|(key, _)| key == "exit");
        if let Some(code) = framing::shell_exit(name, text).filter(|_| !has_exit) {
            metadata.push(("exit".into(), Json::Integer(code)));
        }
    }
    let started = times.either("ran", "created");
    let spans = [
        ("start", started.clone()),
        ("end", times.get("completed").clone()),
        ("compacted", times.get("pruned").clone()),
    ];
    let state = object([
        ("status", state.get("status").clone()),
        ("input", state.get("input").clone()),
        ("output", output.unwrap_or(Json::Null)),
        ("error", state.get("error").clone()),
        ("metadata", Json::Object(metadata)),
        ("attachments", Json::Array(attachments)),
        ("time", object(spans)),
    ]);
    object([
        ("type", string("tool")),
        ("tool", item.get("name").clone()),
        ("callID", item.get("id").clone()),
        ("state", state),
    ])
}

/// A compaction: the separator, and the summary after it. A failed compaction becomes an answer
/// with an error.
fn compaction<'a>(json: &Json<'a>) -> DatabaseRow<'a> {
    let is_running = json.get("status").is("running");
    let is_auto = json.get("reason").is("auto");
    let line = object([
        ("type", string("compaction")),
        ("auto", Json::Bool(is_auto)),
    ]);
    let text = object([
        ("type", string("text")),
        ("text", json.get("summary").clone()),
    ]);
    let is_failed = message::failure(json.get("error")).is_some();
    let has_text = json.get("summary").filled().is_some();
    let parts = if is_failed {
        Vec::new()
    } else {
        std::iter::once(line)
            .chain(has_text.then_some(text))
            .collect()
    };
    let mut row = message(json, "assistant", parts);
    if let (
        DatabaseRow::Message {
            info: Json::Object(members),
            ..
        },
        false,
    ) = (&mut row, is_running)
    {
        let done = object([
            ("created", time(json).clone()),
            ("completed", time(json).clone()),
        ]);
        members.push((Cow::Borrowed("time"), done));
    }
    row
}

fn string<'a>(text: &'static str) -> Json<'a> {
    Json::Str(text.into())
}

/// An object of the members that are not null.
pub(super) fn object<'a>(members: impl IntoIterator<Item = (&'static str, Json<'a>)>) -> Json<'a> {
    let recorded = members.into_iter().filter(|(_, value)| !value.is_null());
    Json::Object(
        recorded
            .map(|(name, value)| (Cow::Borrowed(name), value))
            .collect(),
    )
}
