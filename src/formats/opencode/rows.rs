//! Rows of `session_message`, the second model of messages: one row holds a whole message with its
//! content. They are put into the shape of the first model, so that both are shown alike.
//!
//! Invariant: a pure function of the row.

use std::borrow::Cow;

use super::message;
use crate::formats::json::Json;
use crate::model::entry::Break;
use crate::model::text::Text;

/// What a row is.
pub(super) enum DatabaseRow<'a> {
    /// A message with its parts.
    Message {
        /// The message.
        info: Json<'a>,
        /// Its parts.
        parts: Vec<Json<'a>>,
    },
    /// A line across the transcript.
    Line(Break),
}

/// Reads a row; `None` if it is none, or of an unknown type.
pub(super) fn read<'a>(json: &Json<'a>) -> Option<DatabaseRow<'a>> {
    if !json.has("sessionID") || json.has("messageID") || json.has("role") {
        return None;
    }
    let text = |name: &str| json.get(name).str_or_empty();
    Some(match json.get("type").str()? {
        "user" => message(json, "user", user_parts(json)),
        "synthetic" | "system" => message(json, "user", vec![synthetic(text("text").to_owned())]),
        "skill" => {
            message(json, "user", vec![synthetic(format!("skill {}\n\n{}", text("name"), text("text")))])
        }
        "shell" => message(json, "shell", vec![shell(json)]),
        "assistant" => message(json, "assistant", assistant_parts(json)),
        "compaction" => compaction(json),
        "agent-switched" => DatabaseRow::Line(setting(format!("agent {}", text("agent")))),
        "model-switched" => DatabaseRow::Line(Break::ModelChange(model(json).text().unwrap_or_default())),
        "location-switched" => {
            let place = json.at(&["location", "directory"]).filled().unwrap_or("another place");
            DatabaseRow::Line(setting(format!("works in {place}")))
        }
        "idle" => match text("outcome") {
            "interrupted" => DatabaseRow::Line(Break::Interrupted(Text::default())),
            outcome => DatabaseRow::Line(setting(format!("turn {outcome}"))),
        },
        _ => return None,
    })
}

/// When the row was made.
pub(super) fn time<'v, 'a>(json: &'v Json<'a>) -> &'v Json<'a> {
    let created = json.at(&["time", "created"]);
    if created.is_null() { json.get("time_created") } else { created }
}

fn setting(words: String) -> Break {
    Break::Setting(Text::clean(&words))
}

/// The name of the model, recorded as an object or by itself.
fn model<'v, 'a>(json: &'v Json<'a>) -> &'v Json<'a> {
    let model = json.get("model");
    if model.is_object() { model.get("id") } else { model }
}

fn message<'a>(json: &Json<'a>, role: &'static str, parts: Vec<Json<'a>>) -> DatabaseRow<'a> {
    let same = ["id", "sessionID", "agent", "cost", "finish", "error"];
    let mut info: Vec<(&'static str, Json<'a>)> =
        same.into_iter().filter(|name| json.has(name)).map(|name| (name, json.get(name).clone())).collect();
    let completed = json.at(&["time", "completed"]).clone();
    let times = [("created", time(json).clone()), ("completed", completed)];
    info.extend([
        ("tokens", tokens(json.get("tokens"))),
        ("role", string(role)),
        ("modelID", model(json).clone()),
        ("time", object(times)),
    ]);
    DatabaseRow::Message { info: object(info), parts }
}

/// Tokens with their total, by which the first model tells that reasoning lies beside output.
fn tokens<'a>(recorded: &Json<'a>) -> Json<'a> {
    let paths: [&[&str]; 5] =
        [&["input"], &["output"], &["reasoning"], &["cache", "read"], &["cache", "write"]];
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
    let agents = json
        .get("agents")
        .items()
        .iter()
        .map(|agent| object([("type", string("agent")), ("name", agent.get("name").clone())]));
    std::iter::once(text).chain(files).chain(agents).collect()
}

fn file<'a>(recorded: &Json<'a>) -> Json<'a> {
    object([
        ("type", string("file")),
        ("mime", recorded.get("mime").clone()),
        ("filename", recorded.get("name").clone()),
        ("url", recorded.get("uri").clone()),
    ])
}

fn synthetic<'a>(text: String) -> Json<'a> {
    object([("type", string("text")), ("text", Json::Str(text.into())), ("synthetic", Json::Bool(true))])
}

/// A command that the user ran.
fn shell<'a>(json: &Json<'a>) -> Json<'a> {
    let output = json.get("output");
    let output = if output.is_object() { output.get("output") } else { output };
    let times = json.get("time");
    let is_running = times.get("completed").is_null() && json.get("status").str() != Some("exited");
    let id = ["callID", "shellID", "id"].into_iter().find(|name| json.has(name)).unwrap_or("id");
    let input = object([("command", json.get("command").clone())]);
    let metadata = object([("exit", json.get("exit").clone()), ("output", output.clone())]);
    let state = object([
        ("status", string(if is_running { "running" } else { "completed" })),
        ("input", input),
        ("output", output.clone()),
        ("metadata", metadata),
        ("time", object([("start", times.get("created").clone()), ("end", times.get("completed").clone())])),
    ]);
    object([
        ("type", string("tool")),
        ("tool", string("bash")),
        ("callID", json.get(id).clone()),
        ("state", state),
    ])
}

fn assistant_parts<'a>(json: &Json<'a>) -> Vec<Json<'a>> {
    let content = json.get("content").items().iter().map(|item| match item.get("type").str() {
        Some("tool") => tool(item),
        // Only parts of tools are shaped differently.
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
    let files = json.at(&["snapshot", "files"]);
    let patch =
        (!files.items().is_empty()).then(|| object([("type", string("patch")), ("files", files.clone())]));
    content.chain(retry).chain(patch).collect()
}

fn tool<'a>(item: &Json<'a>) -> Json<'a> {
    let (state, times) = (item.get("state"), item.get("time"));
    let texts = || state.get("content").items().iter().filter_map(|one| one.get("text").str());
    let output = texts().collect::<Vec<_>>().join("\n");
    let files = state.get("content").items().iter().filter(|one| one.get("type").str() == Some("file"));
    let attachments = files.chain(state.get("attachments").items()).map(file).collect();
    let structured = if state.has("metadata") { state.get("metadata") } else { state.get("structured") };
    let mut metadata: Vec<(Cow<'a, str>, Json<'a>)> = structured.members().to_vec();
    if state.get("status").str() == Some("running") && !output.is_empty() {
        metadata.push(("output".into(), Json::Str(output.clone().into())));
    }
    let started = if times.get("ran").is_null() { times.get("created") } else { times.get("ran") };
    let spans = [
        ("start", started.clone()),
        ("end", times.get("completed").clone()),
        ("compacted", times.get("pruned").clone()),
    ];
    let state = object([
        ("status", state.get("status").clone()),
        ("input", state.get("input").clone()),
        ("output", Json::Str(output.into())),
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

/// The line, and the summary after it. A compaction that failed is an answer with an error.
fn compaction<'a>(json: &Json<'a>) -> DatabaseRow<'a> {
    let is_running = json.get("status").str() == Some("running");
    let is_auto = json.get("reason").str() == Some("auto");
    let line = object([("type", string("compaction")), ("auto", Json::Bool(is_auto))]);
    let text = object([("type", string("text")), ("text", json.get("summary").clone())]);
    let is_failed = message::failure(json.get("error")).is_some();
    let has_text = json.get("summary").filled().is_some();
    let parts =
        if is_failed { Vec::new() } else { std::iter::once(line).chain(has_text.then_some(text)).collect() };
    let mut row = message(json, "assistant", parts);
    if let (DatabaseRow::Message { info: Json::Object(members), .. }, false) = (&mut row, is_running) {
        let done = object([("created", time(json).clone()), ("completed", time(json).clone())]);
        members.push((Cow::Borrowed("time"), done));
    }
    row
}

fn string<'a>(text: &'static str) -> Json<'a> {
    Json::Str(text.into())
}

fn object<'a>(members: impl IntoIterator<Item = (&'static str, Json<'a>)>) -> Json<'a> {
    let recorded = members.into_iter().filter(|(_, value)| !value.is_null());
    Json::Object(recorded.map(|(name, value)| (Cow::Borrowed(name), value)).collect())
}
