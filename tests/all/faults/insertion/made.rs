//! Records, parts and blocks of unknown kinds, made after those that a file has, and put among them.

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use tv::model::tally::unknown::Judged;

/// What all names of unknown kinds begin with.
pub(super) const TOKEN: &str = "quux7";

/// The member of a row of a database that has its number; what is put in has none.
pub(super) const ROW: &str = "rowid";

/// What something of an unknown kind carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Nothing,
    Text(&'static str),
    Role,
    Usage,
    Call,
    Result,
}

/// One thing to put in.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// Of the files of a session.
    pub(super) file: Index,
    list: Index,
    at: Index,
    kind: Index,
    word: String,
    load: Load,
    copies: usize,
    /// It has an id, and is a link of the chain if there is one.
    is_linked: bool,
}

pub(super) fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let text = prop::sample::select(vec!["content", "text", "message", "summary"]);
    let load = prop_oneof![
        3 => Just(Load::Nothing),
        3 => text.prop_map(Load::Text),
        1 => Just(Load::Role),
        1 => Just(Load::Usage),
        1 => Just(Load::Call),
        1 => Just(Load::Result),
    ];
    let word = "[a-z]{1,6}([._/-][a-z]{1,6})?";
    let place = (any::<Index>(), any::<Index>(), any::<Index>(), any::<Index>());
    let wish = (place, word, load, 1..3_usize, prop::bool::weighted(0.7));
    let wish = wish.prop_map(|((file, list, at, kind), word, load, copies, is_linked)| Wish {
        file,
        list,
        at,
        kind,
        word,
        load,
        copies,
        is_linked,
    });
    prop::collection::vec(wish, 1..6)
}

/// What was put in.
#[derive(Clone, Debug)]
pub(super) struct Inserted {
    /// Its kind.
    pub(super) name: String,
    /// A word of each of its records.
    pub(super) probes: Vec<String>,
    /// How loud it is by what it carries.
    pub(super) judged: Judged,
    /// Where the kind is named in it, behind the place of its list.
    pub(super) place: String,
    /// How often it is told: lists that are alike have it all.
    pub(super) tellings: usize,
}

/// Where formats name the kinds of what a session is made of: the list that something stands in, and the member of it. All
/// else that looks like a kind is a part of what is known, or of what tools were told and said.
const PLACES: [(&str, &[&str]); 38] = [
    ("amp", &["/messages|role", "/messages/*/content|type"]),
    ("atif", &["/steps|source", "/steps/*/message|type", "/*/message|type", "|source"]),
    ("claude-code", &["|type", "|subtype", "|attachment.type", "|data.type", "/*/message/content|type"]),
    ("claude-stream-json", &["|type", "|subtype", "|event.type", "/*/message/content|type"]),
    // Files of one session are joined by what they say: of those in folders nothing is changed.
    ("cline", &["/messages/*/content|type"]),
    // What is said is told by a record and an event, which differ.
    ("codex", &["|type", "|payload.type", "|payload.item.type"]),
    ("codex-exec-json", &["|type", "|item.type"]),
    ("continue", &["/history|message.role", "/history/*/message/content|type"]),
    ("copilot-cli", &["|type"]),
    ("crush", &["/messages|role", "/messages/*/parts|type"]),
    ("cursor", &["|type", "|role", "/*/message/content|type"]),
    ("devin", &["/message_nodes|chat_message.role"]),
    ("dsh", &["|type", "/*/data/message/content|type"]),
    ("factory-droid", &["|type", "/*/message/content|type"]),
    ("gemini", &["|type", "/messages|type", "/*/$set/messages|type"]),
    ("goose", &["|role", "/*/content|type", "/messages|role", "/messages/*/content_json|type"]),
    ("grok-cli", &["|type", "|params.update.sessionUpdate", "/*/content|type"]),
    ("hermes", &["|role", "/messages|role"]),
    ("iflow", &["|type"]),
    ("inspect-eval", &["/samples/*/messages|role", "/samples/*/messages/*/content|type"]),
    ("kimi-cli", &["|message.type"]),
    ("kimi-code", &["|type", "/*/message/content|type"]),
    ("kiro", &["|payload.type"]),
    // A rewind is told by writing all again that stays: who knows where what has no id stood?
    ("kiro-cli", &["/*/data/content|kind"]),
    (
        "messages",
        &["|role", "/messages|role", "/messages/*/content|type", "/*/content|type", "/*/messages|role"],
    ),
    ("mini-swe-agent", &["/messages|role"]),
    ("mistral-vibe", &["|role"]),
    (
        "openclaw",
        &[
            "|type",
            "|message.role",
            "/*/message/content|type",
            "/*/content|type",
            "/transcript_events|event_json.type",
            "/transcript_events/*/event_json/message/content|type",
        ],
    ),
    (
        "opencode",
        &[
            "|type",
            "|part.type",
            "|payload.type",
            "/messages|type",
            "/messages/*/parts|type",
            "/messages/*/content|type",
            "/*/content|type",
            "/*/data/content|type",
            "/part|data.type",
            "/session_message|type",
            "/session_message/*/data/content|type",
        ],
    ),
    ("openhands-events", &["|kind", "/*/llm_message/content|type", "/*/thought|type"]),
    ("pi", &["|type", "|message.role", "/*/message/content|type", "/*/entry/message/content|type"]),
    ("posit-assistant", &["|message.role", "/*/message/content|type"]),
    ("qwen-code", &["|type", "|subtype"]),
    ("sharegpt", &["/*/conversations|from", "/*/messages|role", "/*/messages/*/content|type"]),
    ("swe-agent-traj", &["/history|role"]),
    ("trae-agent", &["/agent_steps|type"]),
    ("vscode-copilot-chat", &["/requests/*/response|kind", "/*/v|kind"]),
    ("zed", &["/threads/*/data/messages/*/segments|type", "/threads/*/data/messages/*/*/content|type"]),
];
/// Members that name kinds, the outermost first.
const KINDS: [&str; 10] =
    ["type", "kind", "event", "event_type", "method", "subtype", "sessionUpdate", "role", "source", "from"];
/// What holds texts, inputs and outputs, which have no kinds of the format's.
const CONTENTS: [&str; 20] = [
    "input",
    "args",
    "arguments",
    "parameters",
    "params_",
    "output",
    "result",
    "results",
    "tools",
    "schema",
    "metadata",
    "toolUseResult",
    "rawInput",
    "rawOutput",
    "observation",
    "action",
    "usage",
    "todos",
    "options",
    "inputs",
];
/// What names a record, and must not be that of another one.
const IDS: [&str; 9] =
    ["id", "uuid", "messageId", "message_id", "eventId", "event_id", "entryId", "requestId", "key"];
/// What names the record before it.
const PARENTS: [&str; 5] = ["parentUuid", "parentId", "parent_id", "parentMessageId", "parentUUID"];
/// What a record has of the session that it stands in.
const SURROUNDINGS: [&str; 24] = [
    "timestamp",
    "time",
    "ts",
    "at",
    "created",
    "created_at",
    "createdAt",
    "sessionId",
    "session_id",
    "sessionID",
    "thread_id",
    "cwd",
    "version",
    "isSidechain",
    "agentId",
    "seq",
    "ordinal",
    "step_index",
    "runId",
    "run_id",
    "sessionKey",
    "jsonrpc",
    "v",
    "date",
];
/// A format is known by nearly all of its records: of so many one may be strange.
const SHARE: usize = 8;
/// Kinds are named within so many objects.
const DEEPEST: usize = 3;

/// Lists into which the format lets something be put, behind these of their items, and the member that names its kind.
fn able(format: &str, root: &Value, lists: &[String]) -> Option<Vec<(String, String, Vec<usize>)>> {
    let places = PLACES.iter().find(|(name, _)| *name == format).map_or(&[][..], |(_, places)| *places);
    let mut able = Vec::new();
    for list in lists.iter().filter(|list| !is_of_result(root, list)) {
        let items = root.pointer(list)?.as_array()?;
        // A session that moved to the tables of a later generation is read there.
        let moved = root["session_v2"].as_array().filter(|_| list == "/part");
        let is_moved =
            |item: &Value| moved.into_iter().flatten().any(|session| session["id"] == item["session_id"]);
        for place in places {
            let Some((of, kind)) = place.split_once('|') else { continue };
            let is_system = |item: &Value| match kind {
                "subtype" => item["type"] == "system",
                "payload.type" if format == "codex" => {
                    ["event_msg", "response_item"].iter().any(|kind| item["type"] == *kind)
                }
                "message.role" if ["pi", "openclaw"].contains(&format) => item["type"] == "message",
                _ => true,
            };
            let names = |item: &Value| {
                is_system(item)
                    && !is_moved(item)
                    && kinds_of(item).iter().any(|found| found.join(".") == kind)
            };
            let at: Vec<usize> = (0..items.len()).filter(|at| names(&items[*at])).collect();
            if generic(list) == of && !at.is_empty() {
                able.push((list.clone(), kind.to_owned(), at));
            }
        }
    }
    Some(able)
}

/// Puts one in, if there is a place for it.
pub(super) fn insert(format: &str, root: &mut Value, wish: &Wish, next: &mut usize) -> Option<Inserted> {
    let mut lists = Vec::new();
    find_lists(root, "", &mut lists);
    let mut able = able(format, root, &lists)?;
    // Lists of a kind are as many as there are messages: each kind of them is chosen as often.
    let mut sorts: Vec<String> =
        able.iter().map(|(list, kind, _)| format!("{}|{kind}", generic(list))).collect();
    sorts.sort();
    sorts.dedup();
    let sort = choose(&sorts, wish.list)?;
    able.retain(|(list, kind, _)| format!("{}|{kind}", generic(list)) == *sort);
    let (list, kind, at) = choose(&able, wish.kind)?;
    let at = *choose(at, wish.at)?;
    let told = root.pointer(list)?.clone();
    let again: Vec<&String> =
        lists.iter().filter(|other| *other != list && root.pointer(other) == Some(&told)).collect();
    let again: Vec<String> = again.into_iter().filter(|_| !list.is_empty()).cloned().collect();
    let items = root.pointer_mut(list)?.as_array_mut()?;
    let kind: Vec<String> = kind.split('.').map(str::to_owned).collect();
    let name = format!("{TOKEN}{}{}", *next, wish.word);
    let mut probes = Vec::new();
    // A role decides in many formats, whatever else the record says of its kind.
    let wish = &match wish.load {
        Load::Role if list.is_empty() && kind.len() == 1 => Wish { load: Load::Usage, ..wish.clone() },
        _ => wish.clone(),
    };
    let is_part = is_part(list);
    let strange = items.iter().filter(|item| item.to_string().contains(TOKEN)).count();
    let is_row = items.iter().any(|item| item.get(ROW).is_some());
    let room = if is_part || is_row { wish.copies } else { (items.len() / SHARE).saturating_sub(strange) };
    let copies = wish.copies.min(room);
    // Two messages of one time that say the same are one.
    let copies = if kind.last().is_some_and(|kind| kind == "role") { copies.min(1) } else { copies };
    // What hangs below the place is to hang below what is put in.
    let is_last = at + 1 == items.len();
    let goes_on = items.get(at + 1).is_some_and(|next| {
        PARENTS.iter().any(|parent| next.get(parent).is_some() && next.get(parent) == id_of(&items[at]))
    });
    let wish = &Wish { is_linked: wish.is_linked && (is_last || goes_on), ..wish.clone() };
    for copy in 0..copies {
        *next += 1;
        let probe = format!("probe{}end", *next);
        let place = at + copy;
        let made = make(&items[place], &kind, &name, &probe, wish);
        link(items, place, &made, wish.is_linked);
        items.insert(place + 1, made);
        probes.push(probe);
    }
    if probes.is_empty() {
        return None;
    }
    let judged = judge(format, &items[at + 1], (list.is_empty(), &kind.join(".")), wish.load);
    let place = format!("{}|{}", generic(list), kind.join("."));
    // What is told again has it again.
    let now = items.clone();
    for other in &again {
        root.pointer_mut(other)?.clone_from(&Value::Array(now.clone()));
    }
    Some(Inserted { name, probes, judged, place, tellings: again.len() + 1 })
}

fn choose<T>(list: &[T], index: Index) -> Option<&T> {
    (!list.is_empty()).then(|| index.get(list))
}

/// Whether a list is what a tool said, or a part of a message that failed or is still being written, or of one of which
/// nothing or its text alone is shown.
fn is_of_result(root: &Value, list: &str) -> bool {
    let items = root.pointer(list).and_then(Value::as_array);
    if items.is_some_and(|items| items.iter().all(|item| item["type"] == "finish")) {
        return true;
    }
    let mut at = list;
    while let Some((above, _)) = at.rsplit_once('/') {
        at = above;
        let around = root.pointer(above).unwrap_or(&Value::Null);
        let words = KINDS.into_iter().filter_map(|name| around[name].as_str());
        if around["stopReason"] == "error" || around["is_summary_message"] == 1 {
            return true;
        }
        let is_it = |word: &str| {
            ["tool", "result", "function", "update", "start", "_end", "jester", TOKEN]
                .iter()
                .any(|part| word.contains(part))
        };
        if words.into_iter().any(|word| is_it(&word.to_lowercase())) {
            return true;
        }
    }
    false
}

/// Whether a list holds parts of a message, and no records.
fn is_part(list: &str) -> bool {
    let name = list.rsplit('/').next().unwrap_or_default();
    ["content", "content_json", "parts", "segments", "thought", "message", "response"].contains(&name)
}

/// The place of a list without numbers.
fn generic(list: &str) -> String {
    let step = |step: &str| {
        let is_number = !step.is_empty() && step.bytes().all(|c| c.is_ascii_digit());
        if is_number { "*".to_owned() } else { step.to_owned() }
    };
    list.split('/').map(step).collect::<Vec<_>>().join("/")
}

/// The places of lists of things of which each names its kind.
fn find_lists(value: &Value, at: &str, lists: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            if items.iter().any(|item| !kinds_of(item).is_empty()) {
                lists.push(at.to_owned());
            }
            items.iter().enumerate().for_each(|(n, item)| find_lists(item, &format!("{at}/{n}"), lists));
        }
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| !CONTENTS.contains(&name.as_str()));
            members.for_each(|(name, value)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                find_lists(value, &format!("{at}/{name}"), lists);
            });
        }
        _ => {}
    }
}

/// Where something names its kind.
fn kinds_of(value: &Value) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    find_kinds(value, &mut Vec::new(), &mut found);
    found
}

fn find_kinds(value: &Value, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let Some(members) = value.as_object().filter(|_| at.len() < DEEPEST) else { return };
    for (name, value) in members {
        at.push(name.clone());
        match value {
            Value::String(word) if KINDS.contains(&name.as_str()) && !word.contains(' ') => {
                found.push(at.clone());
            }
            Value::Object(_) if !CONTENTS.contains(&name.as_str()) => find_kinds(value, at, found),
            _ => {}
        }
        at.pop();
    }
}

/// One like another, of another kind: of that only what says where in the session it stands is left.
fn make(like: &Value, kind: &[String], name: &str, probe: &str, wish: &Wish) -> Value {
    let mut made = Map::new();
    let (first, rest) = kind.split_first().unwrap();
    let is_linked = wish.is_linked && (PARENTS.iter().any(|parent| like.get(parent).is_some()));
    for (member, value) in like.as_object().into_iter().flatten() {
        let member_name = member.as_str();
        let is_outer = KINDS.iter().position(|kind| *kind == member_name)
            < KINDS.iter().position(|kind| kind == first)
            || !rest.is_empty();
        let value = match value {
            _ if member == first && rest.is_empty() => json!(name),
            _ if member == first => make(value, rest, name, probe, wish),
            Value::String(_) if KINDS.contains(&member_name) && is_outer => value.clone(),
            Value::String(_) if IDS.contains(&member_name) && is_linked => json!(format!("id-{probe}")),
            Value::Number(_) if IDS.contains(&member_name) => json!(900_000 + probe.len()),
            _ if PARENTS.contains(&member_name) && is_linked => id_of(like).cloned().unwrap_or_default(),
            _ if SURROUNDINGS.contains(&member_name) => value.clone(),
            _ => continue,
        };
        made.insert(member.clone(), value);
    }
    if rest.is_empty() {
        load(&mut made, probe, wish.load);
    }
    Value::Object(made)
}

fn load(made: &mut Map<String, Value>, probe: &str, load: Load) {
    let said = json!(format!("It says {probe} here"));
    let members = match load {
        Load::Nothing => json!({"count": 7, "flags": [true]}),
        Load::Text(member) => json!({ member: said }),
        Load::Role => json!({"role": "assistant", "content": said}),
        Load::Usage => json!({"usage": {"input_tokens": 7, "output_tokens": 3}}),
        Load::Call => {
            json!({"content": [{"type": "tool_use", "id": format!("call-{probe}"), "name": "Zap", "input": {}}]})
        }
        Load::Result => json!({"tool_use_id": format!("call-{probe}"), "content": said, "is_error": false}),
    };
    for (name, value) in members.as_object().unwrap() {
        made.entry(name).or_insert(value.clone());
    }
    made.insert("mark".to_owned(), json!(probe));
}

fn id_of(value: &Value) -> Option<&Value> {
    IDS.iter().find_map(|id| value.get(id))
}

/// What came behind the one before comes behind this now.
fn link(items: &mut [Value], at: usize, made: &Value, is_linked: bool) {
    let (Some(before), Some(id)) = (id_of(&items[at]).cloned(), id_of(made).filter(|_| is_linked)) else {
        return;
    };
    for item in items.iter_mut().skip(at + 1) {
        for parent in PARENTS {
            if item.get(parent) == Some(&before) {
                item[parent] = id.clone();
            }
        }
    }
}

/// How loud it is.
fn judge(format: &str, made: &Value, (is_record, kind): (bool, &str), load: Load) -> Judged {
    // Of Claude Code a mark says what is no part of the conversation.
    let is_apart = kind == "data.type" || kind == "type" && is_record && made.get("uuid").is_none();
    if format == "claude-code" && is_apart {
        return Judged::Trace;
    }
    let has_role = |value: &Value| value.get("role").is_some();
    let is_spoken =
        has_role(made) || made.as_object().into_iter().flatten().any(|(_, inner)| has_role(inner));
    match load {
        _ if is_spoken => Judged::Loud,
        Load::Nothing => Judged::Trace,
        Load::Text(_) => Judged::Text,
        Load::Role | Load::Usage | Load::Call | Load::Result => Judged::Loud,
    }
}
