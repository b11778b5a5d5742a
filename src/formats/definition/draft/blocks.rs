//! What records of one kind hold: texts, reasoning, calls and results, also in lists of parts.

use std::collections::HashSet;

use super::fields::{
    self, Fields, Items, are_thoughts, at, best, is_below, joined, kinds_of_parts, last, lists, parent, toml,
};
use super::words::{
    BEGINNINGS, DEEDS, FAILED, ID, INPUT, NAME, OFFERS, PARTS, RESULT, RESULTS, TEXT, THINKING,
};
use crate::formats::json::{self, Json};

/// How deep lists are looked into.
const DEEPEST: usize = 3;

/// The ids of calls.
#[derive(Default)]
pub(super) struct Ids {
    all: HashSet<String>,
    /// Those of calls in lists. What repeats them by itself says that a call began.
    listed: HashSet<String>,
    /// Whether there are calls without ids, so that results join them by their order.
    has_unnamed: bool,
}

/// A block of a rule, as it is written.
pub(super) struct Block {
    body: String,
    when: Vec<String>,
    pub(super) is_call: bool,
    pub(super) is_result: bool,
    pub(super) comment: String,
}

/// A call: the paths of its id, name and input.
struct Call {
    id: Option<String>,
    name: String,
    input: String,
}

impl Block {
    fn new(body: String) -> Self {
        Self { body, when: Vec::new(), is_call: false, is_result: false, comment: String::new() }
    }

    /// As it is written, on one line.
    pub(super) fn written(&self) -> String {
        let Self { body, when, .. } = self;
        if when.is_empty() {
            return format!("{{ {body} }}");
        }
        format!("{{ {body}, when = {{ {} }} }}", when.join(", "))
    }
}

impl Ids {
    /// Notes the ids of the calls in records, and in lists in them.
    pub(super) fn note(&mut self, items: &[&Json<'_>], depth: usize) {
        let fields = fields::of(items);
        let call = call_of(&fields, items);
        let written = call_in_text(&fields, items).map(|(_, call)| call);
        self.has_unnamed |= [&call, &written].into_iter().flatten().any(|call| call.id.is_none());
        let id = call.and_then(|call| call.id);
        for field in id.iter().flat_map(|id| id.split('|')).filter_map(|id| fields.get(id)) {
            self.all.extend(field.words.iter().cloned());
            if depth > 0 {
                self.listed.extend(field.words.iter().cloned());
            }
        }
        if depth < DEEPEST {
            let lists = lists(items).into_iter().filter(|(path, _)| !OFFERS.contains(&last(path).as_str()));
            for (_, parts) in lists.flat_map(|(_, items)| kinds_of_parts(&items)) {
                self.note(&parts, depth + 1);
            }
        }
    }
}

/// The blocks of records of a kind, or of parts in a list.
pub(super) fn blocks(items: &[&Json<'_>], ids: &Ids, kind: &[String]) -> Vec<Block> {
    within_list(items, (0, ""), ids, kind)
}

fn within_list(items: &[&Json<'_>], (depth, list): (usize, &str), ids: &Ids, kind: &[String]) -> Vec<Block> {
    let fields = fields::of(items);
    let lists = lists(items);
    let mut call = call_of(&fields, items);
    let mut answer = answer_of(&fields, ids, call.as_ref());
    let result = call.as_ref().and_then(|call| result_of(&fields, items, &call.name, &call.input));
    match (&call, &answer) {
        (Some(Call { id: None, .. }), Some(_)) => call = None,
        // A call may have an id of its own besides.
        (Some(Call { id: Some(id), .. }), Some(of)) if result.is_none() && parent(of) == parent(id) => {
            answer = None;
        }
        // It stands there with its result.
        (Some(Call { id: Some(id), .. }), Some(of)) if result.is_some() && are_same(&fields, id, of) => {
            answer = None;
        }
        _ => {}
    }
    if call.is_none() && answer.is_none() && ids.has_unnamed && is_result(items, kind) {
        answer = Some("@order".to_owned());
    }
    if let Some(of) = answer {
        return vec![answered(&fields, &lists.into_iter().collect::<Vec<_>>(), of)];
    }
    let is_listed = |id: &String| {
        let first = id.split('|').next().and_then(|id| fields.get(id));
        first.is_some_and(|field| field.words.is_subset(&ids.listed))
    };
    if depth == 0 && call.as_ref().and_then(|call| call.id.as_ref()).is_some_and(is_listed) {
        return Vec::new();
    }
    if call.is_none()
        && depth == 0
        && let Some(deed) = deed(&fields, items, kind)
    {
        return vec![deed];
    }
    let mut out = Vec::new();
    let thinking = fields.iter().find(|(path, f)| f.bytes > 0 && THINKING.contains(&last(path).as_str()));
    out.extend(thinking.map(|(path, field)| Block {
        comment: field.comment(),
        ..Block::new(format!("thinking = {}", toml(path)))
    }));
    let mut taken: Vec<&str> = thinking.iter().map(|(path, _)| path.as_str()).collect();
    if let Some(call) = &call {
        taken.extend(call.name.split('|').chain([call.input.as_str()]));
        taken.extend(result.as_deref());
    }
    let is_message = depth == 0 || TEXT.contains(&list) || PARTS.contains(&list);
    if let Some((path, call)) = call_in_text(&fields, items) {
        let each = format!("each = {}, {}", toml(&format!("{path}:json")), asked(&call, None, &fields).body);
        return vec![Block { is_call: true, ..Block::new(each) }];
    }
    if is_message && (call.is_none() || depth == 0) {
        let word = if depth > 0 && are_thoughts(list, items) { "thinking" } else { "text" };
        out.extend(said(items, &fields, word, &taken));
    }
    out.extend(call.as_ref().map(|call| asked(call, result.as_deref(), &fields)));
    if depth < DEEPEST {
        let is_taken = |path: &str| call.is_some() && taken.iter().any(|taken| is_below(path, taken));
        let is_free = |path: &str| !(OFFERS.contains(&last(path).as_str()) || is_taken(path));
        for (path, items) in lists.iter().filter(|(path, _)| is_free(path)) {
            out.extend(each(path, items, depth, ids));
        }
    }
    out
}

/// The text of records or parts, but nothing that is taken: it is this word.
fn said(items: &[&Json<'_>], fields: &Fields, word: &str, taken: &[&str]) -> Vec<Block> {
    let is_free = |path: &str| !taken.iter().any(|taken| is_below(path, taken));
    let Some((path, field)) = best(fields, &TEXT, |path, field| field.bytes > 0 && is_free(path)) else {
        return Vec::new();
    };
    let tag = tag_around(items, path);
    let inside = tag.as_ref().map_or_else(|| path.clone(), |tag| format!("{path}:inside({tag})"));
    let mut text = Block { comment: field.comment(), ..Block::new(format!("{word} = {}", toml(&inside))) };
    // It is a text now and a list of parts then.
    text.when
        .extend(lists(items).contains_key(path).then(|| format!("lacks = {}", toml(&format!("{path}[]")))));
    let around = tag.map(|tag| toml(&format!("{path}:outside({tag})")));
    let around = around.map(|path| Block::new(format!("raw = {path}, title = \"='around it'\"")));
    std::iter::once(text).chain(around).collect()
}

/// The tag that all of several texts have what matters in.
fn tag_around(items: &[&Json<'_>], path: &str) -> Option<String> {
    let texts: Vec<&str> = items.iter().filter_map(|item| at(item, path).filled()).collect();
    let (first, others) = texts.split_first()?;
    let mut tags = first.split("</").skip(1).filter_map(|end| end.split_once('>')).map(|(tag, _)| tag);
    let is_around = |text: &&str, tag: &str| {
        let text = text.trim();
        text.contains(&format!("<{tag}>"))
            && (text.starts_with(&format!("<{tag}>")) || text.ends_with(&format!("</{tag}>")))
    };
    let is_it = |tag: &&str| {
        tag.len() > 2
            && tag.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
            && is_around(first, tag)
            && others.iter().all(|text| is_around(text, tag))
    };
    if others.is_empty() { None } else { tags.find(is_it).map(str::to_owned) }
}

/// Calls that are written as JSON in the text of all records: the path of that, and the call in it.
fn call_in_text(fields: &Fields, items: &[&Json<'_>]) -> Option<(String, Call)> {
    let (path, _) = best(fields, &TEXT, |_, field| field.bytes > 0)?;
    let texts: Vec<&str> = items.iter().filter_map(|item| at(item, path).str()).collect();
    let within: Option<Vec<Json<'_>>> =
        texts.iter().map(|text| json::read(text).filter(Json::is_object)).collect();
    let within = within.filter(|within| within.len() == items.len())?;
    let within: Items<'_, '_> = within.iter().collect();
    Some((path.clone(), call_of(&fields::of(&within), &within)?))
}

/// Whether two fields have the same words.
fn are_same(fields: &Fields, one: &str, other: &str) -> bool {
    fields.get(one).zip(fields.get(other)).is_some_and(|(one, other)| one.words == other.words)
}

/// Whether a kind or the parts themselves say that they are results.
fn is_result(items: &[&Json<'_>], kind: &[String]) -> bool {
    let says = |word: &str| RESULTS.contains(&word.to_lowercase().as_str());
    let word = items.first().and_then(|item| item.get("type").str().or(item.get("kind").str()));
    kind.iter().any(|word| says(word)) || word.is_some_and(says)
}

/// A call, with its result if that stands there, too.
fn asked(call: &Call, result: Option<&str>, fields: &Fields) -> Block {
    let Call { id, name, input } = call;
    let failed = result.map(|_| failed_of(fields)).unwrap_or_default();
    let within =
        result.map(|text| format!(", result = {{ text = {}{failed} }}", toml(text))).unwrap_or_default();
    let [id, name, input] = [id.as_deref().unwrap_or("@order"), name, &format!("{input}:json")].map(toml);
    let body = format!("call = {id}, name = {name}, input = {input}{within}");
    Block { is_call: true, ..Block::new(body) }
}

/// The parts of a list, each kind by its own.
fn each(path: &str, items: &[&Json<'_>], depth: usize, ids: &Ids) -> Option<Block> {
    let kinds = kinds_of_parts(items);
    let mut inner: Vec<Block> = Vec::new();
    for (kind, parts) in &kinds {
        for mut block in within_list(parts, (depth + 1, &last(path)), ids, &[]) {
            if kinds.len() > 1 && !kind.is_empty() {
                if block.body.starts_with("each") {
                    // Its own condition is for its elements.
                    block.body = format!("block = [{}]", block.written());
                    block.when.clear();
                }
                block.when.push(kind.clone());
            }
            inner.push(block);
        }
    }
    let written: Vec<String> = inner.iter().map(Block::written).collect();
    (!inner.is_empty()).then(|| Block {
        is_call: inner.iter().any(|block| block.is_call),
        ..Block::new(format!("each = {}, block = [{}]", toml(&format!("{path}[]")), written.join(", ")))
    })
}

/// A result: its call, and its text.
fn answered(fields: &Fields, lists: &[(String, Items<'_, '_>)], of: String) -> Block {
    let is_text =
        |path: &str| path != of && !["type", "name", "role", "id", "status"].contains(&last(path).as_str());
    let texts = fields.iter().filter(|(path, field)| field.bytes > 0 && is_text(path));
    let texts = texts.map(|(path, field)| (field.bytes, path.as_str()));
    let parts = lists.iter().map(|(path, items)| (weight(items), path.as_str()));
    let text = texts.chain(parts).max().map_or(".", |(_, path)| path);
    let body = format!("result = {}, text = {}{}", toml(&of), toml(text), failed_of(fields));
    Block { is_result: true, ..Block::new(body) }
}

/// Records of which the kind names the tool.
fn deed(fields: &Fields, items: &[&Json<'_>], kind: &[String]) -> Option<Block> {
    let word = kind.last()?;
    let says = |words: &[&str], word: &str| words.iter().any(|part| word.to_lowercase().contains(part));
    let id = fields.keys().filter(|path| last(path) == "id").max_by_key(|path| path.len())?;
    let text = result_of(fields, items, "", "\0");
    if !says(&DEEDS, word) || word.contains(['\'', '"', '|']) {
        return None;
    }
    let input = if parent(id).is_empty() { "." } else { parent(id) };
    let failed = failed_of(fields);
    let result = match text {
        Some(text) => format!(", result = {{ text = {}{failed} }}", toml(&text)),
        None if kind.iter().any(|word| says(&BEGINNINGS, word)) => String::new(),
        None => format!(", result = {{ when = {{ has = {} }}{failed} }}", toml(id)),
    };
    let [id, name, input] = [id, &format!("='{word}'"), input].map(toml);
    let body = format!("call = {id}, name = {name}, input = {input}{result}");
    Some(Block { is_call: true, ..Block::new(body) })
}

/// A name with an input near, and an id near these.
fn call_of(fields: &Fields, items: &[&Json<'_>]) -> Option<Call> {
    let rank = |names: &[&str], path: &str| names.iter().position(|name| *name == last(path));
    let mut found: Option<((bool, usize, usize), Call)> = None;
    for (path, field) in fields.iter().filter(|(_, field)| field.bytes > 0) {
        let Some(name) = rank(&NAME, path) else { continue };
        let scopes: Vec<&str> =
            std::iter::successors(Some(parent(path)), |scope| (!scope.is_empty()).then(|| parent(scope)))
                .collect();
        let Some(input) = scopes.iter().find_map(|scope| input_of(items, scope)) else { continue };
        if input == *path {
            continue;
        }
        let ids = |scope: &&str| {
            // What says the same as the name is the id of the tool.
            let is_own = |(path, id): &(&String, &fields::Field)| {
                parent(path) == *scope && !path.ends_with("[0]") && id.words != field.words
            };
            let own = fields.iter().filter(is_own).map(|(path, _)| path);
            own.filter_map(|path| Some((rank(&ID, path)?, path))).min().map(|(_, path)| path)
        };
        let id = scopes.iter().find_map(ids);
        let score = (id.is_none(), name, path.len());
        if found.as_ref().is_none_or(|(known, _)| score < *known) {
            let id = id.map(|id| with_others(fields, id, &ID, items.len()));
            let name = with_others(fields, path, &NAME, field.values.max(items.len()));
            found = Some((score, Call { id, name, input }));
        }
    }
    found.map(|(_, call)| call)
}

/// A path, and those that stand for it where it is missing.
fn with_others(fields: &Fields, path: &str, names: &[&str], all: usize) -> String {
    if fields.get(path).is_none_or(|field| field.values >= all) {
        return path.to_owned();
    }
    let is_other = |other: &&String| {
        *other != path && parent(other) == parent(path) && names.contains(&last(other).as_str())
    };
    let others = fields.keys().filter(is_other).map(String::as_str);
    std::iter::once(path).chain(others).collect::<Vec<_>>().join("|")
}

/// The input in an object: a text, or an object.
fn input_of(items: &[&Json<'_>], scope: &str) -> Option<String> {
    INPUT.iter().find_map(|wanted| {
        let members = items.iter().flat_map(|item| at(item, scope).members());
        let mut inputs = members.filter(|(name, value)| {
            name.to_lowercase() == *wanted && (value.is_object() || value.str().is_some())
        });
        inputs.next().map(|(name, _)| joined(scope, name))
    })
}

/// The field of which all words are ids of calls.
fn answer_of(fields: &Fields, ids: &Ids, call: Option<&Call>) -> Option<String> {
    let own: Vec<&str> =
        call.and_then(|call| call.id.as_deref()).into_iter().flat_map(|id| id.split('|')).collect();
    let mut answers = fields.iter().filter(|(path, field)| {
        !own.contains(&path.as_str())
            && !last(path).starts_with("parent")
            && !field.words.is_empty()
            && field.words.is_subset(&ids.all)
    });
    answers.next().map(|(path, _)| path.clone())
}

/// The text of a result that stands with its call: the largest of what is named so.
fn result_of(fields: &Fields, items: &[&Json<'_>], name: &str, input: &str) -> Option<String> {
    let is_named = |path: &str| {
        let names = path.split('.').any(|part| RESULT.contains(&last(part).as_str()));
        names && !is_below(path, input) && !name.split('|').any(|name| name == path)
    };
    let is_text = |path: &str| !["type", "status", "mime"].contains(&last(path).as_str());
    let texts = fields.iter().filter(|(path, field)| field.bytes > 0 && is_named(path) && is_text(path));
    let texts = texts.map(|(path, field)| (field.bytes, path.clone()));
    let parts = lists(items).into_iter().filter(|(path, _)| is_named(path));
    let parts = parts.map(|(path, items)| (weight(&items), path));
    texts.chain(parts).max().map(|(_, path)| path)
}

fn weight(items: &[&Json<'_>]) -> usize {
    items.iter().map(|item| item.weight()).sum()
}

fn failed_of(fields: &Fields) -> String {
    let found = FAILED.iter().find_map(|(name, value)| {
        let path = fields.keys().find(|path| path.rsplit('.').next() == Some(name))?;
        Some(format!(", failed = {}", toml(&format!("{path}{value}"))))
    });
    found.unwrap_or_default()
}
