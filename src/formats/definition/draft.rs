//! A first definition, guessed from samples: kinds of records by the field that tells them apart, and for each who
//! speaks, what is said, asked and answered, by the names that most programs use and by ids that come up twice.
//!
//! Every guess says by which value it was made, so that an author sees what to change.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;

use super::path::word_of;
use crate::formats::json::{Json, Str};
use crate::model::text::Text;

/// More values than this are no kinds.
const KINDS: usize = 40;
/// How deep fields are looked for.
const DEEPEST: usize = 6;
/// Items of a list that are looked at.
const ITEMS: usize = 20;
/// Characters of an example.
const EXAMPLE: usize = 40;

/// Fields that tell kinds of records apart, the best first.
const KIND: [&str; 14] = [
    "type",
    "kind",
    "event",
    "ev",
    "role",
    "payload.type",
    "data.type",
    "message.role",
    "message.type",
    "from",
    "who",
    "source",
    "action",
    "op",
];
const ROLE: [&str; 8] = ["role", "message.role", "payload.role", "from", "author", "sender", "who", "source"];
const USERS: [&str; 8] = ["user", "human", "prompt", "ask", "customer", "question", "input", "me"];
const ASSISTANTS: [&str; 10] =
    ["assistant", "model", "ai", "agent", "gpt", "gemini", "bot", "answer", "response", "llm"];
const SYSTEMS: [&str; 2] = ["system", "developer"];
const THINKING: [&str; 7] =
    ["thinking", "reasoning", "reasoning_content", "reasoning_text", "reasoningtext", "thought", "thoughts"];
const TEXT: [&str; 12] = [
    "text", "content", "say", "message", "msg", "output", "result", "response", "body", "value", "prompt",
    "summary",
];
const NAME: [&str; 8] =
    ["name", "tool", "toolname", "tool_name", "function_name", "fn", "function", "action"];
const INPUT: [&str; 8] =
    ["input", "arguments", "args", "parameters", "params", "tool_input", "with", "rawinput"];
const ID: [&str; 10] = [
    "id",
    "call_id",
    "callid",
    "tool_call_id",
    "toolcallid",
    "tool_use_id",
    "tooluseid",
    "toolid",
    "n",
    "uuid",
];
const TIME: [&str; 11] = [
    "timestamp",
    "ts",
    "time",
    "at",
    "t",
    "created_at",
    "createdat",
    "created",
    "date",
    "datetime",
    "start_time",
];
const USAGE: [(&str, &[&str]); 5] = [
    (
        "input",
        &["input_tokens", "inputtokens", "prompt_tokens", "prompttokens", "prompttokencount", "input", "in"],
    ),
    (
        "output",
        &[
            "output_tokens",
            "outputtokens",
            "completion_tokens",
            "completiontokens",
            "candidatestokencount",
            "output",
            "out",
        ],
    ),
    (
        "cache_read",
        &[
            "cache_read_input_tokens",
            "cachereadtokens",
            "cached_tokens",
            "cached",
            "cache_read",
            "cachedcontenttokencount",
            "hit",
        ],
    ),
    ("cache_write", &["cache_creation_input_tokens", "cachewritetokens", "cache_write"]),
    ("cost", &["cost_usd", "cost", "total_cost_usd"]),
];

/// What is known of a field.
#[derive(Default)]
struct Field {
    values: usize,
    bytes: usize,
    numbers: usize,
    example: String,
    words: HashSet<String>,
}

type Fields = BTreeMap<String, Field>;

/// Records of one kind.
#[derive(Default)]
struct Group<'r, 'a> {
    records: Vec<&'r Json<'a>>,
    fields: Fields,
}

/// A call that was found: the list or record that holds it, and the fields in it.
#[derive(Clone)]
struct Call {
    each: String,
    id: Option<String>,
    name: String,
    input: String,
}

/// Writes a definition.
pub(crate) fn draft(records: &[Json<'_>], name: &str, is_document: bool) -> String {
    let kind = kind_field(records);
    let mut groups: BTreeMap<String, Group<'_, '_>> = BTreeMap::new();
    for record in records {
        let word = kind.as_ref().and_then(|kind| word_at(record, kind)).unwrap_or_default();
        groups.entry(word).or_default().records.push(record);
    }
    for group in groups.values_mut() {
        for record in &group.records {
            note(record, String::new(), 0, &mut group.fields);
        }
    }
    let calls = calls_of(&groups);
    let ids: HashSet<&String> = calls
        .iter()
        .filter_map(|(word, call)| groups.get(*word)?.fields.get(&joined(&call.each, call.id.as_ref()?)))
        .flat_map(|field| &field.words)
        .collect();
    let mut out = head(records, &groups, kind.as_deref(), name, is_document);
    for (word, group) in &groups {
        rule(&mut out, kind.as_deref(), word, group, calls.get(word), &ids);
    }
    out
}

fn head(
    records: &[Json<'_>],
    groups: &BTreeMap<String, Group<'_, '_>>,
    kind: Option<&str>,
    name: &str,
    is_document: bool,
) -> String {
    let mut all = Fields::new();
    for record in records.iter().take(500) {
        note(record, String::new(), 0, &mut all);
    }
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let mut out = format!(
        "# A draft from {} records. What a field is taken for stands behind it.\nname = \"{}\"\n",
        records.len(),
        name.trim_matches('-')
    );
    if is_document {
        out.push_str("shape = \"document\"\n");
    }
    let words: Vec<&String> = groups.keys().filter(|word| !word.is_empty()).collect();
    let shared = all
        .iter()
        .filter(|(path, field)| !path.contains(['.', '[']) && field.values >= records.len().min(500));
    let has: Vec<String> = shared.map(|(path, _)| format!("\"{}\"", quoted(path))).take(4).collect();
    out.push_str("\n# Say what no other agent writes.\n[detect]\n");
    match kind.filter(|_| !words.is_empty()) {
        Some(kind) => {
            let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            let _ = writeln!(
                out,
                "likely = [{{ \"{kind}\" = [{}], has = [{}] }}]",
                words.join(", "),
                has.join(", ")
            );
        }
        None => {
            let _ = writeln!(out, "likely = [{{ has = [{}] }}]", has.join(", "));
        }
    }
    let facts = [
        ("id", &["sessionid", "session_id", "session", "run", "conversation_id", "thread_id"][..]),
        ("cwd", &["cwd", "dir", "working_dir", "directory", "workspace"]),
        ("model", &["model", "modelid", "model_id", "llm", "model_name"]),
        ("version", &["version", "cliversion", "cli_version"]),
    ];
    out.push_str("\n[session]\n");
    for (fact, names) in facts {
        if let Some((path, field)) = best(&all, names, |_, field| field.numbers < field.values) {
            let _ = writeln!(out, "{fact} = \"{path}\"{}", example(field));
        }
    }
    if let Some((path, field)) = best(&all, &TIME, |_, field| field.words.iter().any(|word| is_time(word))) {
        let _ = write!(out, "\n[entry]\nat = \"{path}\"{}\n", example(field));
    }
    out
}

fn rule(
    out: &mut String,
    kind: Option<&str>,
    word: &str,
    group: &Group<'_, '_>,
    call: Option<&Call>,
    ids: &HashSet<&String>,
) {
    let fields = &group.fields;
    let _ = writeln!(out, "\n# {} records.\n[[record]]", group.records.len());
    if let Some(kind) = kind {
        let test =
            if word.is_empty() { format!("lacks = \"{kind}\"") } else { format!("\"{kind}\" = {word:?}") };
        let _ = writeln!(out, "when = {{ {test} }}");
    }
    let parts = parts_of(fields);
    let own_id = call.and_then(|call| Some(joined(&call.each, call.id.as_ref()?)));
    let answers = fields.iter().find(|(path, field)| {
        let is_other = !last(path).starts_with("parent")
            && own_id.as_ref() != Some(path)
            && !parts.as_ref().is_some_and(|parts| path.starts_with(parts));
        is_other && !field.words.is_empty() && field.words.iter().all(|word| ids.contains(word))
    });
    let mut taken: Vec<&str> = answers.iter().map(|(path, _)| path.as_str()).collect();
    taken.extend(call.map(|call| call.each.as_str()).filter(|each| !each.is_empty()));
    let text = text_of(fields, &taken, answers.is_some());
    if let Some(answer) = answers.filter(|_| call.is_none()) {
        write_result(out, fields, answer, text.map(|(text, _)| text));
        return;
    }
    let (role, is_said) = role_of(fields, word);
    let thinking = best(fields, &THINKING, |path, field| field.bytes > 0 && !path.contains('['));
    let has_blocks = parts.is_some() || text.is_some() || call.is_some() || thinking.is_some();
    if !has_blocks {
        out.push_str("entry = { role = \"harness\", trace = true }\nblock = [{ raw = \".\" }]\n");
        return;
    }
    let role = if call.is_some() && !is_said { "assistant".to_owned() } else { role };
    let _ = writeln!(out, "entry = {{ role = \"{role}\" }}\nblock = [");
    if let Some((path, field)) = thinking {
        let _ = writeln!(out, "  {{ thinking = \"{path}\" }},{}", example(field));
    }
    match (&parts, text) {
        (Some(parts), _) => {
            let _ =
                writeln!(out, "  {{ content = \"{}\" }}, # a list of parts", parts.trim_end_matches("[]"));
        }
        (None, Some((path, field))) => {
            let _ = writeln!(out, "  {{ text = \"{path}\" }},{}", example(field));
        }
        (None, None) => {}
    }
    if let Some(call) = call.filter(|call| parts.as_ref() != Some(&call.each)) {
        let each = if call.each.is_empty() { String::new() } else { format!("each = \"{}\", ", call.each) };
        let id = call.id.as_deref().unwrap_or("@order");
        let _ = writeln!(
            out,
            "  {{ {each}call = \"{id}\", name = \"{}\", input = \"{}:json\"{} }},",
            call.name,
            call.input,
            result_within(call, fields)
        );
    }
    out.push_str("]\n");
    usage(out, fields);
}

/// Writes a result, one or those of a list.
fn write_result(out: &mut String, fields: &Fields, answer: (&String, &Field), text: Option<&String>) {
    let (of, field) = answer;
    let example = example(field);
    if let Some((each, of)) = of.rfind("[]").map(|at| of.split_at(at + 2)) {
        let of = of.trim_start_matches('.');
        let near = fields.iter().filter(|(path, _)| path.starts_with(each) && **path != joined(each, of));
        let text = near.max_by_key(|(_, field)| field.bytes).and_then(|(path, _)| path.get(each.len()..));
        let text = text.map_or(".", |path| cut(path.trim_start_matches('.')));
        let _ = writeln!(out, "result = {{ each = \"{each}\", of = \"{of}\", text = \"{text}\" }}{example}");
    } else if let Some(text) = text {
        let failed = failed_of(fields);
        let _ = writeln!(out, "result = {{ of = \"{of}\", text = \"{text}\"{failed} }}{example}");
    } else {
        let _ = writeln!(out, "result = {{ of = \"{of}\" }}{example}");
    }
}

fn usage(out: &mut String, fields: &Fields) {
    let mut counts = Vec::new();
    for (name, names) in USAGE {
        let found = best(fields, names, |path, field| field.numbers > 0 && !path.contains('['));
        counts.extend(found.map(|(path, _)| format!("{name} = \"{path}\"")));
    }
    if !counts.is_empty() {
        let _ = writeln!(
            out,
            "usage = {{ {} }} # does input hold what was cached? then input_includes_cache = true",
            counts.join(", ")
        );
    }
}

/// The field whose few values tell the records apart.
fn kind_field(records: &[Json<'_>]) -> Option<String> {
    let score = |path: &str| {
        let words: Vec<String> = records.iter().filter_map(|record| word_at(record, path)).collect();
        let kinds: BTreeSet<&String> = words.iter().collect();
        let is_some = words.len() * 10 >= records.len() * 6 && !kinds.is_empty() && kinds.len() <= KINDS;
        is_some.then_some(kinds.len())
    };
    let found: Vec<(&str, usize)> = KIND.iter().filter_map(|path| Some((*path, score(path)?))).collect();
    let several = found.iter().find(|(_, kinds)| *kinds > 1);
    several.or(found.first()).map(|(path, _)| (*path).to_owned())
}

fn word_at(record: &Json<'_>, path: &str) -> Option<String> {
    let names: Vec<&str> = path.split('.').collect();
    let value = record.at(&names).str()?;
    (value.len() <= 60 && !value.trim().is_empty()).then(|| value.to_owned())
}

/// Notes all values of a record by their paths.
fn note(value: &Json<'_>, path: String, depth: usize, fields: &mut Fields) {
    match value {
        Json::Object(members) if depth < DEEPEST => {
            for (name, value) in members {
                note(value, joined(&path, &quoted(name)), depth + 1, fields);
            }
        }
        Json::Array(items) if depth < DEEPEST => {
            for item in items.iter().take(ITEMS) {
                note(item, format!("{path}[]"), depth + 1, fields);
            }
        }
        Json::Null => {}
        other => {
            let field = fields.entry(path).or_default();
            field.values += 1;
            field.numbers += usize::from(!matches!(other, Json::Str(_)) && other.number().is_some());
            field.bytes += other.string().map_or(0, Str::len);
            if let Some(word) = word_of(other) {
                if field.example.is_empty() {
                    field.example = Text::stub(&word, EXAMPLE).to_string();
                }
                if word.len() <= 200 && field.words.len() < 5000 {
                    field.words.insert(word.into_owned());
                }
            }
        }
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn quoted(name: &str) -> String {
    if name.contains(['.', ' ', ':', '[', '|']) { format!("'{name}'") } else { name.to_owned() }
}

fn last(path: &str) -> String {
    let last = path.rsplit('.').next().unwrap_or(path);
    last.trim_end_matches("[]").to_lowercase()
}

/// The field with the best of these names, the shallowest first.
fn best<'f>(
    fields: &'f Fields,
    names: &[&str],
    is_such: impl Fn(&str, &Field) -> bool,
) -> Option<(&'f String, &'f Field)> {
    let rank = |path: &str| names.iter().position(|name| last(path) == *name);
    let found = fields.iter().filter(|(path, field)| is_such(path, field));
    found
        .filter_map(|one| Some((rank(one.0)?, one)))
        .min_by_key(|(rank, (path, _))| (path.matches('.').count(), *rank))
        .map(|(_, one)| one)
}

/// A list of parts with a `type` each, in the manner of the large providers.
fn parts_of(fields: &Fields) -> Option<String> {
    let known = ["text", "tool_use", "tool_result", "thinking", "input_text", "output_text"];
    let is_such = |(path, field): &(&String, &Field)| {
        path.ends_with("[].type")
            && path.matches("[]").count() == 1
            && field.words.iter().any(|word| known.contains(&word.as_str()))
    };
    fields.iter().find(is_such).and_then(|(path, _)| path.strip_suffix(".type")).map(str::to_owned)
}

/// The call of each kind of record. What repeats the ids of lists of calls is no call, but says that one began.
fn calls_of<'g>(groups: &'g BTreeMap<String, Group<'_, '_>>) -> BTreeMap<&'g String, Call> {
    let mut calls: BTreeMap<&String, Call> =
        groups.iter().filter_map(|(word, group)| Some((word, call_of(&group.fields)?))).collect();
    let ids_of = |word: &String, call: &Call| {
        let path = joined(&call.each, call.id.as_ref()?);
        groups.get(word)?.fields.get(&path).map(|field| &field.words)
    };
    let listed: HashSet<String> = calls
        .iter()
        .filter(|(_, call)| !call.each.is_empty())
        .filter_map(|(word, call)| ids_of(word, call))
        .flatten()
        .cloned()
        .collect();
    calls.retain(|word, call| {
        !call.each.is_empty()
            || ids_of(word, call).is_none_or(|ids| !ids.iter().any(|id| listed.contains(id)))
    });
    calls
}

/// A list, or the record itself, with a name and an input.
fn call_of(fields: &Fields) -> Option<Call> {
    let mut calls = Vec::new();
    for (path, field) in fields {
        if field.bytes == 0 || !NAME.contains(&last(path).as_str()) {
            continue;
        }
        let each = path.rfind("[]").map_or("", |at| path.get(..at + 2).unwrap_or_default());
        let below = |path: &str| path.get(each.len()..).map(|rest| rest.trim_start_matches('.').to_owned());
        let near = fields.keys().filter(|other| other.starts_with(each));
        let input = near.clone().find_map(|other| {
            let rest = below(other)?;
            // An input may be an object, of which only the members are fields.
            let names: Vec<&str> = rest.split(['.', '[']).collect();
            let at = names.iter().position(|name| INPUT.contains(&name.to_lowercase().as_str()))?;
            (at < 3 && !names.get(..=at)?.contains(&"]"))
                .then(|| names.get(..=at).map(|names| names.join(".")))?
        });
        let id = near
            .filter_map(|other| below(other))
            .filter(|rest| !rest.contains('['))
            .filter(|rest| ID.contains(&last(rest).as_str()));
        // A record has an id of its own, which is not that of its call.
        let is_own = |rest: &str| each.is_empty() && matches!(last(rest).as_str(), "id" | "uuid");
        let id = id.min_by_key(|rest| (is_own(rest), rest.matches('.').count(), last(rest) == "uuid"));
        if let (Some(input), Some(name)) = (input, below(path)) {
            calls.push(Call { each: each.to_owned(), id, name, input });
        }
    }
    calls.into_iter().min_by_key(|call| (call.id.is_none(), call.each.is_empty(), call.name.len()))
}

/// The result that stands in a call, if one does.
fn result_within(call: &Call, fields: &Fields) -> String {
    let names = ["result", "output", "response", "content", "observation"];
    let below =
        |path: &'_ str| path.strip_prefix(&call.each).map(|rest| rest.trim_start_matches('.').to_owned());
    let is_result = |rest: &str| rest.split(['.', '[']).next().is_some_and(|name| names.contains(&name));
    let rests = fields
        .iter()
        .filter(|_| !call.each.is_empty())
        .filter_map(|(path, field)| Some((below(path)?, field)));
    let text =
        rests.filter(|(rest, field)| field.bytes > 0 && is_result(rest)).max_by_key(|(_, field)| field.bytes);
    text.map_or_else(String::new, |(text, _)| format!(", result = {{ text = \"{text}\" }}"))
}

/// The field with most text: by its name, else by its size.
fn text_of<'f>(fields: &'f Fields, taken: &[&str], is_result: bool) -> Option<(&'f String, &'f Field)> {
    let is_free = |path: &str, field: &Field| {
        let is_taken = taken.iter().any(|taken| path.starts_with(taken));
        field.bytes > 0
            && !is_taken
            && !THINKING.contains(&last(path).as_str())
            && (is_result || !path.contains("[]"))
    };
    let named =
        fields.iter().filter(|(path, field)| is_free(path, field) && TEXT.contains(&last(path).as_str()));
    named.max_by_key(|(_, field)| field.bytes)
}

fn failed_of(fields: &Fields) -> &'static str {
    let has = |names: &[&str]| fields.keys().any(|path| names.contains(&path.as_str()));
    if has(&["is_error"]) {
        ", failed = \"is_error\""
    } else if has(&["success"]) {
        ", failed = \"success=false\""
    } else if has(&["ok"]) {
        ", failed = \"ok=false\""
    } else if has(&["error"]) {
        ", failed = \"error\""
    } else {
        ""
    }
}

/// Who speaks, and whether a field says so.
fn role_of(fields: &Fields, word: &str) -> (String, bool) {
    for path in ROLE {
        let known = |word: &String| {
            let word = word.to_lowercase();
            [&USERS[..], &ASSISTANTS[..], &SYSTEMS[..]].iter().any(|words| words.contains(&word.as_str()))
        };
        if fields.get(path).is_some_and(|field| field.words.iter().any(known)) {
            return (path.to_owned(), true);
        }
    }
    let word = word.to_lowercase();
    let has = |words: &[&str]| {
        words.iter().any(|known| word.split(|c: char| !c.is_alphanumeric()).any(|part| part == *known))
    };
    let words = [("user", &USERS[..]), ("assistant", &ASSISTANTS), ("system", &SYSTEMS)];
    let role = words.into_iter().find(|(_, words)| has(words)).map_or("harness", |(role, _)| role);
    (role.to_owned(), role != "harness")
}

fn is_time(word: &str) -> bool {
    crate::model::timestamp::Timestamp::parse(word).is_some()
        || word.parse::<f64>().is_ok_and(|number| (1e9..1e17).contains(&number))
}

/// A path without what stands behind a list in it.
fn cut(path: &str) -> &str {
    path.split("[]").next().filter(|path| !path.is_empty()).unwrap_or(".")
}

fn example(field: &Field) -> String {
    let example = field.example.replace(['\n', '\r'], " ");
    if example.is_empty() { String::new() } else { format!(" # {example}") }
}
