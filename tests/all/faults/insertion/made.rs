//! Generates records, parts and blocks of unknown kinds from those of a file, and inserts them
//! among these.

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
    let place = (
        any::<Index>(),
        any::<Index>(),
        any::<Index>(),
        any::<Index>(),
    );
    let wish = (place, word, load, 1..3_usize, prop::bool::weighted(0.7));
    let wish = wish.prop_map(
        |((file, list, at, kind), word, load, copies, is_linked)| Wish {
            file,
            list,
            at,
            kind,
            word,
            load,
            copies,
            is_linked,
        },
    );
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

/// Where formats name the kinds of what a session is made of: the list that something stands in, and the member of it; `*`
/// is the name of its only member, `+` a member that nothing there has yet. All else that looks like a kind is a part of
/// what is known, or of what tools were told and said.
const PLACES: [(&str, &[&str]); 41] = [
    ("amp", &["/messages|role", "/messages/*/content|type"]),
    // The type of a step of the model is the tool that it ran, of which anybody may add one.
    ("antigravity-cli", &["|type"]),
    (
        "atif",
        &[
            "/steps|source",
            "/steps/*/message|type",
            "/*/message|type",
            "|source",
        ],
    ),
    (
        "claude-code",
        &[
            "|type",
            "|subtype",
            "|attachment.type",
            "|data.type",
            "/*/message/content|type",
            "/*/data/message/message/content|type",
        ],
    ),
    (
        "claude-stream-json",
        &[
            "|type",
            "|subtype",
            "|event.type",
            "|request.subtype",
            "/*/message/content|type",
        ],
    ),
    // The panel counts the messages of a task, whose roles are not changed for that.
    (
        "cline",
        &[
            "/messages|role",
            "/messages/*/content|type",
            "/*/content|type",
        ],
    ),
    (
        "codex",
        &[
            "|type",
            "|payload.type",
            "|payload.role",
            "|payload.item.type",
            "/*/payload/content|type",
            "/*/payload/item/content|type",
            "/*/payload/summary|type",
            "/*/content|type",
            "/*/summary|type",
        ],
    ),
    ("codex-exec-json", &["|type", "|item.type"]),
    (
        "continue",
        &["/history|message.role", "/history/*/message/content|type"],
    ),
    // An attachment is shown whole, whatever its type.
    ("copilot-cli", &["|type"]),
    ("crush", &["/messages|role", "/messages/*/parts|type"]),
    ("cursor", &["|type", "|role", "/*/message/content|type"]),
    ("devin", &["/message_nodes|chat_message.role"]),
    ("dsh", &["|type", "/*/data/message/content|type"]),
    // A role of a message decides who speaks, and no more: it is no kind.
    ("factory-droid", &["|type", "/*/message/content|type"]),
    (
        "gemini",
        &["|type", "/messages|type", "/*/$set/messages|type"],
    ),
    ("gptme", &["|role"]),
    (
        "goose",
        &[
            "|role",
            "/*/content|type",
            "/messages|role",
            "/messages/*/content_json|type",
        ],
    ),
    (
        "grok-cli",
        &["|type", "|params.update.sessionUpdate", "/*/content|type"],
    ),
    ("hermes", &["|role", "/messages|role"]),
    ("iflow", &["|type", "/*/message/content|type"]),
    (
        "inspect-eval",
        &[
            "/samples/*/messages|role",
            "/samples/*/messages/*/content|type",
        ],
    ),
    (
        "kimi-cli",
        &[
            "|message.type",
            "|message.payload.type",
            "/*/message/payload/user_input|type",
        ],
    ),
    (
        "kimi-code",
        &[
            "|type",
            "|event.type",
            "|event.part.type",
            "|message.role",
            "/*/message/content|type",
        ],
    ),
    ("kiro", &["|payload.type"]),
    // A rewind is told by writing all again that stays: what has no id has its place behind the last one.
    ("kiro-cli", &["|kind", "/*/data/content|kind"]),
    (
        "messages",
        &[
            "|role",
            "/messages|role",
            "/messages/*/content|type",
            "/*/content|type",
            "/*/messages|role",
        ],
    ),
    ("mini-swe-agent", &["/messages|role"]),
    ("mistral-vibe", &["|role"]),
    (
        "openclaw",
        &[
            "|type",
            "|event",
            "|role",
            "|message.role",
            "/*/message/content|type",
            "/*/content|type",
            "/transcript_events|event_json.type",
            "/transcript_events|event_zstd.type",
            "/transcript_events|event_json.message.role",
            "/transcript_events/*/event_json/message/content|type",
            "/transcript_events/*/event_zstd/message/content|type",
            "/session_transcript_archives/*/archive_blob|type",
            "/session_transcript_archives/*/archive_blob|message.role",
            "/session_transcript_archives/*/archive_blob/*/message/content|type",
        ],
    ),
    (
        "opencode",
        &[
            "|type",
            "|part.type",
            "|payload.type",
            "|role",
            "|info.role",
            "|properties.info.role",
            "/messages|info.role",
            "/message|data.role",
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
    (
        "openhands-events",
        &["|kind", "/*/llm_message/content|type", "/*/thought|type"],
    ),
    (
        "otel-genai",
        &[
            "/*/resourceSpans/*/scopeSpans/*/spans|attributes.gen_ai:operation:name",
            "/resourceSpans/*/scopeSpans/*/spans|attributes.gen_ai:operation:name",
            "/*/resourceSpans/*/scopeSpans/*/spans/*/attributes/gen_ai:output:messages/*/parts|type",
            "/resourceSpans/*/scopeSpans/*/spans/*/attributes/gen_ai:output:messages/*/parts|type",
            // A span of a database is a row of one table and many of another: only its messages are lists.
            "/span_attributes/*/value/*/parts|type",
        ],
    ),
    (
        "pi",
        &[
            "|type",
            "|kind",
            "/*|kind",
            "|record.type",
            "|entry.type",
            "|message.role",
            "|entry.message.role",
            "/*/message/content|type",
            "/*/entry/message/content|type",
        ],
    ),
    (
        "posit-assistant",
        &["|message.role", "/*/message/content|type"],
    ),
    ("qwen-code", &["|type", "|subtype"]),
    (
        "sharegpt",
        &[
            "/*/conversations|from",
            "/*/messages|role",
            "/*/messages/*/content|type",
        ],
    ),
    ("swe-agent-traj", &["/history|role"]),
    ("trae-agent", &["/agent_steps|+type"]),
    (
        "vscode-copilot-chat",
        &["/requests/*/response|kind", "/*/v|kind"],
    ),
    (
        "zed",
        &[
            "/threads/*/data/messages|*",
            "/threads/*/data/messages/*/User/content|*",
            "/threads/*/data/messages/*/Agent/content|*",
            "/threads/*/data/messages|role",
            "/threads/*/data/messages/*/segments|type",
        ],
    ),
];
/// Members that name kinds, the outermost first.
const KINDS: [&str; 11] = [
    "type",
    "kind",
    "event",
    "event_type",
    "method",
    "subtype",
    "sessionUpdate",
    "role",
    "source",
    "from",
    "gen_ai:operation:name",
];
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
const IDS: [&str; 9] = [
    "id",
    "uuid",
    "messageId",
    "message_id",
    "eventId",
    "event_id",
    "entryId",
    "requestId",
    "key",
];
/// What names the record before it.
const PARENTS: [&str; 5] = [
    "parentUuid",
    "parentId",
    "parent_id",
    "parentMessageId",
    "parentUUID",
];
/// What a record has of the session that it stands in.
const SURROUNDINGS: [&str; 30] = [
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
    "messageID",
    "lane",
    "traceId",
    "parentSpanId",
    "startTimeUnixNano",
    "endTimeUnixNano",
];
/// A format is known by nearly all of its records: of so many one may be strange.
const SHARE: usize = 8;
/// Kinds are named within so many objects.
const DEEPEST: usize = 3;

/// Lists into which the format lets something be put, behind these of their items, and the member that names its kind.
fn able(format: &str, root: &Value, lists: &[String]) -> Option<Vec<(String, String, Vec<usize>)>> {
    let places = PLACES
        .iter()
        .find(|(name, _)| *name == format)
        .map_or(&[][..], |(_, places)| *places);
    let mut able = Vec::new();
    for list in lists
        .iter()
        .filter(|list| !is_of_result(root, list) && !is_cut_later(root, list))
    {
        let items = root.pointer(list)?.as_array()?;
        // A session that moved to the tables of a later generation is read there.
        let moved = root["session_v2"]
            .as_array()
            .filter(|_| list == "/part" || list == "/message");
        let is_moved = |item: &Value| {
            moved
                .into_iter()
                .flatten()
                .any(|session| session["id"] == item["session_id"])
        };
        for place in places {
            let Some((of, kind)) = place.split_once('|') else {
                continue;
            };
            let is_system = |item: &Value| match kind {
                "subtype" => item["type"] == "system",
                "payload.type" if format == "codex" => ["event_msg", "response_item"]
                    .iter()
                    .any(|kind| item["type"] == *kind),
                "payload.role" => item["payload"]["type"] == "message",
                "message.payload.type" => item["message"]["type"] == "ContentPart",
                "message.role" if ["pi", "openclaw"].contains(&format) => item["type"] == "message",
                "type" if format == "antigravity-cli" => item["source"] != "MODEL",
                // What has a type, too, is named by that.
                "kind" if format == "pi" => item["type"].is_null(),
                _ => true,
            };
            let names = |item: &Value| {
                is_system(item)
                    && !is_moved(item)
                    && (kind.starts_with('+') && item.is_object()
                        || kinds_of(item).iter().any(|found| found.join(".") == kind))
            };
            let is_again = |at: &usize| items[..*at].contains(&items[*at]);
            let last = (0..items.len())
                .rev()
                .find(is_again)
                .filter(|_| format == "kiro-cli" && of.is_empty());
            let from = last.map_or(0, |last| last + 1);
            let at: Vec<usize> = (from..items.len())
                .filter(|at| names(&items[*at]))
                .collect();
            if generic(list) == of && !at.is_empty() {
                able.push((list.clone(), kind.to_owned(), at));
            }
        }
    }
    Some(able)
}

/// Puts one into the file at `number`, if there is a place for it; `is_known` if the kind of the file is not told by its
/// lines.
pub(super) fn insert(
    format: &str,
    (files, number, is_known): (&mut [&mut Value], usize, bool),
    wish: &Wish,
    next: &mut usize,
) -> Option<Inserted> {
    let (before, rest) = files.split_at_mut(number);
    let (root, after) = rest.split_first_mut()?;
    let mut lists = Vec::new();
    find_lists(root, "", &mut lists);
    let mut able = able(format, root, &lists)?;
    // Lists of a kind are as many as there are messages: each kind of them is chosen as often.
    let mut sorts: Vec<String> = able
        .iter()
        .map(|(list, kind, _)| format!("{}|{kind}", generic(list)))
        .collect();
    sorts.sort();
    sorts.dedup();
    let sort = choose(&sorts, wish.list)?;
    able.retain(|(list, kind, _)| format!("{}|{kind}", generic(list)) == *sort);
    let (list, kind, at) = choose(&able, wish.kind)?;
    let at = *choose(at, wish.at)?;
    let told = root.pointer(list)?.clone();
    let again: Vec<&String> = lists
        .iter()
        .filter(|other| *other != list && root.pointer(other) == Some(&told))
        .collect();
    let is_again = |other: &&String| !list.is_empty() && !is_of_result(root, other);
    let again: Vec<String> = again.into_iter().filter(is_again).cloned().collect();
    let items = root.pointer_mut(list)?.as_array_mut()?;
    let kind: Vec<String> = kind
        .trim_start_matches('+')
        .split('.')
        .map(str::to_owned)
        .collect();
    let name = format!("{TOKEN}{}{}", *next, wish.word);
    // A role decides in many formats, whatever else the record says of its kind.
    let wish = &match wish.load {
        Load::Role
            if kind.len() == 1
                && (list.is_empty() || ["kind", "from"].contains(&kind[0].as_str())) =>
        {
            Wish {
                load: Load::Usage,
                ..wish.clone()
            }
        }
        _ => wish.clone(),
    };
    let strange = items
        .iter()
        .filter(|item| item.to_string().contains(TOKEN))
        .count();
    let room = if is_known || !list.is_empty() {
        wish.copies
    } else {
        (items.len() / SHARE).saturating_sub(strange)
    };
    let copies = wish.copies.min(room);
    // Two messages of one time that say the same are one.
    let copies = if kind.last().is_some_and(|kind| kind == "role") {
        copies.min(1)
    } else {
        copies
    };
    // What hangs below the place is to hang below what is put in.
    let is_last = at + 1 == items.len();
    let goes_on = items.get(at + 1).is_some_and(|next| {
        PARENTS
            .iter()
            .any(|parent| next.get(parent).is_some() && next.get(parent) == id_of(&items[at]))
    });
    let wish = &Wish {
        is_linked: wish.is_linked && (is_last || goes_on),
        ..wish.clone()
    };
    let probes: Vec<String> = (*next + 1..=*next + copies)
        .map(|number| format!("probe{number}end"))
        .collect();
    *next += copies;
    if probes.is_empty() {
        return None;
    }
    let new = New {
        kind: &kind,
        name: &name,
        probes: &probes,
        wish,
    };
    // An agent that writes its history again, here or in the file of a session that begins with it, has it there, too.
    let like = items[at].clone();
    let mut tellings = again.len() + 1;
    let written: Vec<usize> = (0..items.len())
        .filter(|place| *place == at || is_copy(format, &items[*place], &like))
        .collect();
    for place in written.into_iter().rev() {
        let mark = if place == at {
            String::new()
        } else {
            format!("-{place}")
        };
        new.put_behind(items, place, &mark);
        tellings += usize::from(place != at);
    }
    let others = before
        .iter_mut()
        .chain(after)
        .filter(|_| ["openclaw", "cline"].contains(&format));
    tellings += others
        .map(|file| new.put_into(file, &like, (list, &told)))
        .sum::<usize>();
    let items = root.pointer_mut(list)?.as_array_mut()?;
    let first = items
        .iter()
        .position(|item| item.to_string().contains(&name))?;
    let judged = judge(
        format,
        &items[first],
        (list.is_empty(), &kind.join(".")),
        wish.load,
    );
    // A part that is a record by itself stands among the parts of its message.
    let is_part = list.is_empty() && like["messageID"].is_string();
    let place = format!(
        "{}|{}",
        if is_part {
            "/part".to_owned()
        } else {
            generic(list)
        },
        kind.join(".")
    );
    // What is told again has it again.
    let now = items.clone();
    for other in &again {
        root.pointer_mut(other)?
            .clone_from(&Value::Array(now.clone()));
    }
    Some(Inserted {
        name,
        probes,
        judged,
        place,
        tellings,
    })
}

/// What is put in.
struct New<'n> {
    kind: &'n [String],
    name: &'n str,
    probes: &'n [String],
    wish: &'n Wish,
}

impl New<'_> {
    /// One below the other behind an item; `mark` makes their ids others.
    fn put_behind(&self, items: &mut Vec<Value>, at: usize, mark: &str) {
        for (copy, probe) in self.probes.iter().enumerate() {
            let made = make(
                &items[at + copy],
                self.kind,
                self.name,
                (probe, mark),
                self.wish,
            );
            link(items, at + copy, &made, self.wish.is_linked);
            items.insert(at + copy + 1, made);
        }
    }

    /// Behind the same in another file; how often.
    fn put_into(&self, file: &mut Value, like: &Value, (list, told): (&str, &Value)) -> usize {
        let mut lists = Vec::new();
        find_lists(file, "", &mut lists);
        let mut tellings = 0;
        // What stands further behind moves.
        for other in lists.into_iter().rev() {
            let items = file.pointer_mut(&other).unwrap();
            if !list.is_empty() && items != told {
                continue;
            }
            let items = items.as_array_mut().unwrap();
            if let Some(place) = items.iter().position(|item| item == like) {
                self.put_behind(items, place, "");
                tellings += 1;
            }
        }
        tellings
    }
}

/// Whether a record is what another one was written again as.
fn is_copy(format: &str, item: &Value, like: &Value) -> bool {
    let result = |item: &Value| {
        Some((
            item["message"]["toolCallId"].as_str()?.to_owned(),
            item["message"]["timestamp"].clone(),
        ))
    };
    let said = |item: &Value| {
        let mut said = item.clone();
        for name in ["id", "parentId", "timestamp"] {
            if let Some(members) = said.as_object_mut() {
                members.remove(name);
            }
        }
        said
    };
    format == "openclaw"
        && id_of(item).is_some()
        && id_of(item) != id_of(like)
        && (said(item) == said(like) || result(item).is_some() && result(item) == result(like))
}

fn choose<T>(list: &[T], index: Index) -> Option<&T> {
    (!list.is_empty()).then(|| index.get(list))
}

/// Whether a journal cuts later what it adds to here.
fn is_cut_later(root: &Value, list: &str) -> bool {
    let (Some(records), Some(at)) = (
        root.as_array(),
        list.split('/')
            .nth(1)
            .and_then(|at| at.parse::<usize>().ok()),
    ) else {
        return false;
    };
    let path = &records[at]["k"];
    path.is_array()
        && records[at + 1..]
            .iter()
            .any(|record| record["k"] == *path && !record["i"].is_null())
}

/// Whether a list is what a tool said, or a part of a message that failed or is still being written. Results themselves
/// are parts of a message.
fn is_of_result(root: &Value, list: &str) -> bool {
    let items = root.pointer(list).and_then(Value::as_array);
    if items.is_some_and(|items| items.iter().all(|item| item["type"] == "finish")) {
        return true;
    }
    let holds_results = items
        .into_iter()
        .flatten()
        .any(|item| is_named(item, &["result"]));
    let mut at = list;
    while let Some((above, _)) = at.rsplit_once('/') {
        at = above;
        let around = root.pointer(above).unwrap_or(&Value::Null);
        let is_block = above
            .rsplit_once('/')
            .is_some_and(|(list, _)| list.ends_with("/content"));
        let is_of_tool = is_named(around, &["tool", "result"]) && (is_block || !holds_results);
        let is_unfinished = is_named(
            around,
            &["function", "update", "start", "_end", "jester", TOKEN],
        );
        if is_of_tool || is_unfinished || around["stopReason"] == "error" {
            return true;
        }
        // What a journal sets may be no part of an answer.
        if around["k"]
            .as_array()
            .is_some_and(|path| path.last().is_none_or(|last| last != "response"))
        {
            return true;
        }
        // Of messages among attributes those count that the model wrote.
        if around["span_id"].is_string() && around["key"] != "gen_ai.output.messages" {
            return true;
        }
    }
    false
}

/// Whether one of its kinds has such a word in it.
fn is_named(value: &Value, parts: &[&str]) -> bool {
    let mut words = KINDS
        .into_iter()
        .filter_map(|name| value[name].as_str())
        .map(str::to_lowercase);
    words.any(|word| parts.iter().any(|part| word.contains(part)))
}

/// The place of a list without numbers.
fn generic(list: &str) -> String {
    let step = |step: &str| {
        let is_number = !step.is_empty() && step.bytes().all(|c| c.is_ascii_digit());
        if is_number {
            "*".to_owned()
        } else {
            step.to_owned()
        }
    };
    list.split('/').map(step).collect::<Vec<_>>().join("/")
}

/// The places of lists of things of which each names its kind.
fn find_lists(value: &Value, at: &str, lists: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            // Steps of Trae Agent have no kinds yet.
            if items
                .iter()
                .any(|item| !kinds_of(item).is_empty() || item.get("step_number").is_some())
            {
                lists.push(at.to_owned());
            }
            items
                .iter()
                .enumerate()
                .for_each(|(n, item)| find_lists(item, &format!("{at}/{n}"), lists));
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .filter(|(name, _)| !CONTENTS.contains(&name.as_str()));
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
    let mut members = value.as_object().into_iter().flatten();
    if let (Some((name, _)), None) = (members.next(), members.next())
        && name.starts_with(|c: char| c.is_ascii_uppercase())
    {
        found.push(vec![VARIANT.to_owned()]);
    }
    found
}

/// The name of the only member, where that is the kind.
const VARIANT: &str = "*";

fn find_kinds(value: &Value, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let Some(members) = value.as_object().filter(|_| at.len() < DEEPEST) else {
        return;
    };
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
fn make(
    like: &Value,
    kind: &[String],
    name: &str,
    (probe, mark): (&str, &str),
    wish: &Wish,
) -> Value {
    let mut made = Map::new();
    let (first, rest) = kind.split_first().unwrap();
    if first == VARIANT {
        load(&mut made, probe, wish.load);
        return json!({ name: made });
    }
    let is_linked = wish.is_linked && (PARENTS.iter().any(|parent| like.get(parent).is_some()));
    for (member, value) in like.as_object().into_iter().flatten() {
        let member_name = member.as_str();
        let is_outer = KINDS.iter().position(|kind| *kind == member_name)
            < KINDS.iter().position(|kind| kind == first)
            || !rest.is_empty();
        let value = match value {
            _ if member == first && rest.is_empty() => json!(name),
            _ if member == first => make(value, rest, name, (probe, mark), wish),
            // A step of the system stays one, a span has a name, and a message parts.
            Value::String(_) if member == "source" && like.get("step_index").is_some() => {
                value.clone()
            }
            Value::String(_) if member == "name" && like.get("spanId").is_some() => value.clone(),
            Value::Array(_) if member == "parts" && first == "info" => json!([]),
            Value::String(_) if member == "spanId" => json!(format!("id-{probe}{mark}")),
            // Those of OpenCode are in order.
            Value::String(id) if member == "id" && like.get("sessionID").is_some() => {
                json!(format!("{id}{probe}"))
            }
            Value::String(_) if KINDS.contains(&member_name) && is_outer => value.clone(),
            Value::String(_) if IDS.contains(&member_name) && is_linked => {
                json!(format!("id-{probe}{mark}"))
            }
            Value::Number(_) if IDS.contains(&member_name) => json!(900_000 + probe.len()),
            _ if PARENTS.contains(&member_name) && is_linked => {
                id_of(like).cloned().unwrap_or_default()
            }
            _ if SURROUNDINGS.contains(&member_name) => value.clone(),
            _ => continue,
        };
        made.insert(member.clone(), value);
    }
    if rest.is_empty() {
        made.entry(first.clone()).or_insert(json!(name));
        // What a span carries stands in its attributes.
        match (first.as_str(), wish.load) {
            ("gen_ai:operation:name", Load::Usage) => {
                made.insert(
                    "gen_ai:usage:input_tokens".to_owned(),
                    json!({"number": {"intValue": "7"}}),
                );
            }
            ("gen_ai:operation:name", _) => {}
            (_, load) => self::load(&mut made, probe, load),
        }
        made.insert("mark".to_owned(), json!(probe));
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
        Load::Result => {
            json!({"tool_use_id": format!("call-{probe}"), "content": said, "is_error": false})
        }
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
    let (Some(before), Some(id)) = (
        id_of(&items[at]).cloned(),
        id_of(made).filter(|_| is_linked),
    ) else {
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
    match load {
        _ if has_role(made) => Judged::Loud,
        Load::Text(_) | Load::Call | Load::Result | Load::Role
            if kind.ends_with("gen_ai:operation:name") =>
        {
            Judged::Trace
        }
        Load::Nothing => Judged::Trace,
        Load::Text(_) => Judged::Text,
        Load::Role | Load::Usage | Load::Call | Load::Result => Judged::Loud,
    }
}

fn has_role(value: &Value) -> bool {
    let members = value.as_object().into_iter().flatten();
    members
        .into_iter()
        .any(|(name, inner)| name == "role" || has_role(inner))
}
