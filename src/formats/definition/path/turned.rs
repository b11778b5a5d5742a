//! The conversions that suffixes of a path apply to values and texts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::formats::json::{self, Json};

/// The maximum number of dots at which a name is split.
const DEEPEST_NAME: u8 = 8;

/// Appends the texts of all members of this name, joined by line breaks.
pub(super) fn deep(value: &Json<'_>, member: &str, text: &mut String) {
    value
        .items()
        .iter()
        .for_each(|item| deep(item, member, text));
    for (name, inner) in value.members() {
        match inner.str().filter(|_| &**name == member) {
            Some(said) => {
                if !(text.is_empty() || text.ends_with('\n')) {
                    text.push('\n');
                }
                text.push_str(said);
            }
            None => deep(inner, member, text),
        }
    }
}

/// The maximum length of a label in bytes.
const LONGEST_NAME: usize = 32;

/// The value behind a label, in the lines that an agent adds before or after an output. Lines with
/// other labels may come between, such as `Signal: 9`; any other line belongs to the output, even
/// if it resembles the label.
pub(super) fn labelled_value<'t>(text: &'t str, mark: &str, is_head: bool) -> Option<&'t str> {
    let is_name = |c: char| c.is_ascii_alphabetic() || c == ' ';
    let is_named = |line: &str| {
        let name = line.split_once(": ").map(|(name, _)| name);
        name.is_some_and(|name| {
            name.starts_with(|c: char| c.is_ascii_uppercase())
                && name.len() <= LONGEST_NAME
                && name.chars().all(is_name)
        })
    };
    let is_it = |line: &str| line.starts_with(mark) || !(line.is_empty() || is_named(line));
    let mut lines = text.lines().map(str::trim);
    let line = if is_head {
        lines.find(|line| is_it(line))
    } else {
        lines.rfind(|line| is_it(line))
    };
    line?.strip_prefix(mark)
}

/// Collects attributes with dotted names, such as `name.0.role`, into one value. The attributes are
/// members, or a list of keys and values.
pub(super) fn under<'j, 'a>(value: &'j Json<'a>, name: &str) -> Option<Json<'a>> {
    let rest = |key: &'j str| key.strip_prefix(name)?.strip_prefix('.');
    let members = value
        .members()
        .iter()
        .filter_map(|(key, value)| Some((rest(key)?, value)));
    let items = value
        .items()
        .iter()
        .filter_map(|item| Some((rest(item.get("key").str()?)?, plain(item.get("value")))));
    let found: Vec<(&str, &Json<'a>)> = members.chain(items).collect();
    (!found.is_empty()).then(|| described(found, DEEPEST_NAME))
}

/// The value of an attribute. OpenTelemetry wraps it in an object whose only member is named after
/// the type.
fn plain<'j, 'a>(value: &'j Json<'a>) -> &'j Json<'a> {
    match value.members() {
        [(_, only)] => only,
        _ => value,
    }
}

fn described<'a>(found: Vec<(&str, &Json<'a>)>, depth: u8) -> Json<'a> {
    // If a name is repeated, the last one counts.
    if let Some((_, value)) = found
        .last()
        .filter(|_| found.iter().all(|(name, _)| name.is_empty()))
    {
        return (*value).clone();
    }
    let mut parts: BTreeMap<&str, Vec<(&str, &Json<'a>)>> = BTreeMap::new();
    for (name, value) in found {
        let (first, rest) = name
            .split_once('.')
            .filter(|_| depth > 0)
            .unwrap_or((name, ""));
        parts.entry(first).or_default().push((rest, value));
    }
    let numbers: Option<BTreeMap<u32, &str>> = parts
        .keys()
        .map(|part| Some((part.parse().ok()?, *part)))
        .collect();
    let one = |found| described(found, depth.saturating_sub(1));
    match numbers {
        Some(numbers) => {
            let parts = numbers.into_values().filter_map(|part| parts.remove(part));
            Json::Array(parts.map(one).collect())
        }
        None => Json::Object(
            parts
                .into_iter()
                .map(|(name, found)| (Cow::Owned(name.to_owned()), one(found)))
                .collect(),
        ),
    }
}

/// The text between `<tag>` and `</tag>`; the whole text if it has no such tags.
pub(super) fn inside<'t>(text: &'t str, tag: &str) -> &'t str {
    let after = text
        .split_once(&*format!("<{tag}>"))
        .map(|(_, after)| after);
    after.map_or(text, |after| {
        after
            .split_once(&*format!("</{tag}>"))
            .map_or(after, |(inner, _)| inner)
            .trim()
    })
}

/// The text around `<tag>…</tag>`; empty if there are no such tags.
pub(super) fn outside(text: &str, tag: &str) -> String {
    let Some((before, after)) = text.split_once(&*format!("<{tag}>")) else {
        return String::new();
    };
    let after = after
        .split_once(&*format!("</{tag}>"))
        .map_or("", |(_, after)| after);
    format!("{}\n{}", before.trim(), after.trim())
        .trim()
        .to_owned()
}

/// The texts between each `<tag>` and `</tag>`, and the remaining text. A tag that is not closed
/// extends to the end, unless text precedes it: then somebody wrote about the tag.
pub(super) fn tagged<'t>(text: &'t str, tag: &str) -> (Vec<&'t str>, String) {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let (mut inner, mut left, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once(&*open) {
        let closed = after.split_once(&*close);
        if closed.is_none() && !before.trim().is_empty() {
            break;
        }
        let (inside, behind) = closed.unwrap_or((after, ""));
        inner.push(inside.trim());
        left.push(before.trim());
        rest = behind;
    }
    if inner.is_empty() {
        return (inner, text.to_owned());
    }
    left.push(rest.trim());
    left.retain(|part| !part.is_empty());
    (inner, left.join("\n\n"))
}

/// Parses strings in an object that are themselves JSON: `"\"a\""` becomes `a`, `"[1]"` a list.
pub(super) fn unquoted<'a>(value: &Json<'a>) -> Json<'a> {
    let once = |value: &Json<'a>| match value {
        Json::Str(text) if text.starts_with(['"', '[', '{']) => {
            let Some(inner) = json::read(text) else {
                return value.clone();
            };
            inner.into_owned()
        }
        other => other.clone(),
    };
    match value {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(name, value)| (name.clone(), once(value)))
                .collect(),
        ),
        other => once(other),
    }
}
