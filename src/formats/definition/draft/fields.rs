//! What stands in records: their fields by their paths, and the lists in them.

use std::collections::{BTreeMap, HashSet};

use super::words::{TEXT, THINKING};
use crate::formats::definition::path::word_of;
use crate::formats::json::Json;
use crate::model::text::Text;

/// How deep fields are looked for.
const DEEPEST: usize = 6;
/// Characters of an example.
const EXAMPLE: usize = 40;
/// Longer words are no ids, and more of them are not kept.
const WORD: usize = 200;
const WORDS: usize = 5000;

/// Records, or parts of them.
pub(super) type Items<'r, 'a> = Vec<&'r Json<'a>>;
/// Fields by their paths.
pub(super) type Fields = BTreeMap<String, Field>;

/// What is known of a field.
#[derive(Default)]
pub(super) struct Field {
    pub(super) values: usize,
    pub(super) bytes: usize,
    pub(super) numbers: usize,
    pub(super) example: String,
    pub(super) words: HashSet<String>,
}

impl Field {
    /// Behind a line of a definition.
    pub(super) fn comment(&self) -> String {
        let example = self.example.replace(char::is_control, " ");
        if example.is_empty() { String::new() } else { format!(" # {example}") }
    }
}

/// All fields that are in no list.
pub(super) fn of(items: &[&Json<'_>]) -> Fields {
    let mut fields = Fields::new();
    for item in items {
        note(item, String::new(), 0, &mut fields);
    }
    fields
}

fn note(value: &Json<'_>, path: String, depth: usize, fields: &mut Fields) {
    match value {
        Json::Object(members) if depth < DEEPEST => {
            for (name, value) in members {
                note(value, joined(&path, name), depth + 1, fields);
            }
        }
        // Some programs list the only call that a result belongs to.
        Json::Array(items) => {
            if let Some(first @ Json::Str(_)) = items.first() {
                note(first, format!("{path}[0]"), DEEPEST, fields);
            }
        }
        Json::Object(_) | Json::Null => {}
        other => {
            let field = fields.entry(path).or_default();
            field.values += 1;
            field.numbers += usize::from(!matches!(other, Json::Str(_)) && other.number().is_some());
            field.bytes += other.str().map_or(0, str::len);
            if let Some(word) = word_of(other) {
                if field.example.is_empty() {
                    field.example = Text::stub(&word, EXAMPLE).to_string();
                }
                if word.len() <= WORD && field.words.len() < WORDS {
                    field.words.insert(word.into_owned());
                }
            }
        }
    }
}

/// The objects in all lists, by the paths of these.
pub(super) fn lists<'r, 'a>(items: &[&'r Json<'a>]) -> BTreeMap<String, Items<'r, 'a>> {
    fn add<'r, 'a>(
        value: &'r Json<'a>,
        path: String,
        depth: usize,
        all: &mut BTreeMap<String, Items<'r, 'a>>,
    ) {
        match value {
            Json::Object(members) if depth < DEEPEST => {
                for (name, value) in members {
                    add(value, joined(&path, name), depth + 1, all);
                }
            }
            Json::Array(items) if items.iter().any(Json::is_object) => {
                all.entry(path).or_default().extend(items.iter().filter(|item| item.is_object()));
            }
            _ => {}
        }
    }
    let mut all = BTreeMap::new();
    for item in items {
        add(item, String::new(), 0, &mut all);
    }
    all
}

/// Parts by what tells them apart: their type, or the member that they have.
pub(super) fn kinds_of_parts<'r, 'a>(items: &[&'r Json<'a>]) -> BTreeMap<String, Items<'r, 'a>> {
    let mut kinds: BTreeMap<String, Items<'r, 'a>> = BTreeMap::new();
    for item in items {
        let named = ["type", "kind"].into_iter().find_map(|name| Some((name, item.get(name).str()?)));
        let object = || item.members().iter().find(|(_, value)| value.is_object());
        let text = || item.members().iter().find(|(name, _)| TEXT.contains(&name.to_lowercase().as_str()));
        let first = || object().or_else(text).or_else(|| item.members().first());
        let when = match named {
            Some((name, word)) => format!("{name} = {}", toml(word)),
            None => first().map_or_else(String::new, |(name, _)| format!("has = {}", toml(&quoted(name)))),
        };
        kinds.entry(when).or_default().push(item);
    }
    kinds
}

/// Whether parts of a list are reasoning.
pub(super) fn are_thoughts(list: &str, items: &[&Json<'_>]) -> bool {
    let is_thought = |item: &&Json<'_>| {
        let word = item.get("type").str().or(item.get("kind").str()).unwrap_or_default().to_lowercase();
        THINKING.contains(&word.as_str()) || item.get("thought").is_true()
    };
    THINKING.contains(&list) || items.iter().all(is_thought)
}

/// The value at a path without lists.
pub(super) fn at<'j, 'a>(value: &'j Json<'a>, path: &str) -> &'j Json<'a> {
    if path.is_empty() {
        return value;
    }
    path.split('.').fold(value, |value, name| value.get(name.trim_matches('\'')))
}

pub(super) fn joined(path: &str, name: &str) -> String {
    let name = quoted(name);
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

fn quoted(name: &str) -> String {
    let is_odd = name.contains(['.', ' ', ':', '[', '|', '=', '$', '"', '\\']);
    if is_odd { format!("'{}'", name.replace(['"', '\\', '\''], "")) } else { name.to_owned() }
}

/// The last name of a path, in small letters.
pub(super) fn last(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).trim_end_matches("[0]").trim_matches('\'').to_lowercase()
}

/// The path of the object that holds a field.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(parent, _)| parent)
}

/// Whether a path is this one or below it.
pub(super) fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The field with the best of these names, the shallowest first.
pub(super) fn best<'f>(
    fields: &'f Fields,
    names: &[&str],
    is_such: impl Fn(&str, &Field) -> bool,
) -> Option<(&'f String, &'f Field)> {
    let rank = |path: &str| names.iter().position(|name| last(path) == *name);
    fields
        .iter()
        .filter(|(path, field)| is_such(path, field))
        .filter_map(|one| Some((rank(one.0)?, one)))
        .min_by_key(|(rank, (path, _))| (path.matches('.').count(), *rank))
        .map(|(_, one)| one)
}

/// A text as TOML writes it.
pub(super) fn toml(text: &str) -> String {
    // JSON leaves one control character as it is.
    serde_json::to_string(text).unwrap_or_default().replace('\u{7f}', "\\u007f")
}
