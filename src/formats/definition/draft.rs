//! A first definition, guessed from samples: kinds of records by the fields that tell them apart, and for each who
//! speaks, what is said, asked and answered, by the names that most programs use and by ids that come up twice.
//!
//! Guesses say by which value they were made, so that an author sees what to change.

mod blocks;
mod fields;
mod words;

use std::collections::BTreeMap;
use std::fmt::Write;

use self::blocks::{Ids, blocks};
use self::fields::{Fields, Items, at, best, toml};
use self::words::{ASSISTANTS, FACTS, KIND, ROLE, SYSTEMS, TIME, USAGE, USERS};
use crate::formats::json::Json;
use crate::model::timestamp::Timestamp;

/// More values than this are no kinds.
const KINDS: usize = 40;
/// So many records are looked at for what all of them share.
const SEEN: usize = 500;
/// A longer word is no kind.
const WORD: usize = 60;

/// What the fields that tell kinds apart say of a record.
type Kind = Vec<(&'static str, Option<String>)>;

/// Writes a definition.
pub(crate) fn draft(records: &[Json<'_>], name: &str, is_document: bool) -> String {
    let whole: Items<'_, '_> = records.iter().collect();
    let within = conversation(&whole, ROLE.strip_suffix(&["type"]).unwrap_or(&ROLE));
    let records = within.as_ref().map_or(&whole, |(_, records)| records);
    let mut apart: Vec<&'static str> = KIND.into_iter().filter(|path| tells_apart(records, path)).collect();
    let mut groups = grouped(records, &apart);
    while groups.len() > KINDS && apart.len() > 1 {
        apart.pop();
        groups = grouped(records, &apart);
    }
    let mut ids = Ids::default();
    for group in groups.values() {
        ids.note(group, 0);
    }
    let list = within.as_ref().map(|(list, _)| list);
    let mut out = head(records, (&apart, list), name, is_document);
    if let Some(list) = list {
        let [has, path] = [list, &format!("{list}[]")].map(|path| toml(path));
        let _ = write!(
            out,
            "\n# Its items are records.\n[[record]]\nwhen = {{ has = {has} }}\nrecords = {path}\n"
        );
    }
    for (kind, group) in &groups {
        rule(&mut out, kind, group, &ids);
    }
    out
}

/// The list in records that is most of them, and whose items say by one of these fields who speaks; and its items.
fn conversation<'r, 'a>(records: &[&'r Json<'a>], roles: &[&str]) -> Option<(String, Items<'r, 'a>)> {
    let weight = |items: &[&Json<'_>]| items.iter().map(|item| item.weight()).sum::<usize>();
    let says_who = |item: &&Json<'_>| {
        let word = roles.iter().find_map(|path| at(item, path).filled()).unwrap_or_default().to_lowercase();
        [&USERS[..], &ASSISTANTS, &SYSTEMS].iter().any(|words| words.contains(&word.as_str()))
    };
    let mut lists = fields::lists(records).into_iter().filter(|(path, _)| !path.is_empty());
    lists.find(|(_, items)| {
        items.iter().filter(|item| says_who(item)).count() * 2 > items.len()
            && weight(items) * 2 > weight(records)
    })
}

fn word_at(record: &Json<'_>, path: &str) -> Option<String> {
    let word = at(record, path).filled()?;
    (word.len() <= WORD).then(|| word.to_owned())
}

/// Whether a field is there, with few values.
fn tells_apart(records: &[&Json<'_>], path: &str) -> bool {
    let words: std::collections::BTreeSet<String> =
        records.iter().filter_map(|record| word_at(record, path)).collect();
    (1..=KINDS).contains(&words.len())
}

fn grouped<'r, 'a>(records: &[&'r Json<'a>], apart: &[&'static str]) -> BTreeMap<Kind, Items<'r, 'a>> {
    let mut groups: BTreeMap<Kind, Items<'r, 'a>> = BTreeMap::new();
    for record in records {
        let kind = apart.iter().map(|path| (*path, word_at(record, path))).collect();
        groups.entry(kind).or_default().push(record);
    }
    groups
}

fn head(
    records: &[&Json<'_>],
    (apart, list): (&[&str], Option<&String>),
    name: &str,
    is_document: bool,
) -> String {
    let some: Items<'_, '_> = records.iter().take(SEEN).copied().collect();
    let all = fields::of(&some);
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let name = Some(name.trim_matches('-')).filter(|name| !name.is_empty()).unwrap_or("my-agent");
    let mut out = format!(
        "# A draft from {} records. What a field is taken for stands behind it.\nname = \"{name}\"\n",
        records.len()
    );
    if is_document {
        out.push_str("shape = \"document\"\n");
    }
    let shared = all.iter().filter(|(path, field)| !path.contains(['.', '[']) && field.values >= some.len());
    let has = shared.map(|(path, _)| toml(path)).take(4);
    let has: Vec<String> = list.map_or_else(|| has.collect(), |list| vec![toml(list)]);
    out.push_str("\n# Say what no other agent writes.\n[detect]\n");
    let mut marks: Vec<String> = Vec::new();
    if let Some(path) = apart.first().filter(|_| list.is_none()) {
        let words: std::collections::BTreeSet<String> =
            records.iter().filter_map(|record| word_at(record, path)).collect();
        let words: Vec<String> = words.iter().map(|word| toml(word)).collect();
        marks.push(format!("\"{path}\" = [{}]", words.join(", ")));
    }
    marks.extend((!has.is_empty()).then(|| format!("has = [{}]", has.join(", "))));
    let _ = writeln!(out, "likely = [{{ {} }}]", marks.join(", "));
    out.push_str("\n[session]\n");
    for (fact, names) in FACTS {
        if let Some((path, field)) = best(&all, names, |_, field| field.numbers < field.values) {
            let _ = writeln!(out, "{fact} = {}{}", toml(path), field.comment());
        }
    }
    let is_time = |word: &String| {
        Timestamp::parse(word).is_some()
            || word.parse::<f64>().is_ok_and(|number| (1e9..1e17).contains(&number))
    };
    if let Some((path, field)) = best(&all, &TIME, |_, field| field.words.iter().any(is_time)) {
        let _ = write!(out, "\n[entry]\nat = {}{}\n", toml(path), field.comment());
    }
    out
}

fn rule(out: &mut String, kind: &Kind, group: &[&Json<'_>], ids: &Ids) {
    let _ = writeln!(out, "\n# {} records.\n[[record]]", group.len());
    let is = kind.iter().filter_map(|(path, word)| Some(format!("\"{path}\" = {}", toml(word.as_ref()?))));
    let mut tests: Vec<String> = is.collect();
    let lacks: Vec<String> =
        kind.iter().filter(|(_, word)| word.is_none()).map(|(path, _)| toml(path)).collect();
    tests.extend((!lacks.is_empty()).then(|| format!("lacks = [{}]", lacks.join(", "))));
    if !tests.is_empty() {
        let _ = writeln!(out, "when = {{ {} }}", tests.join(", "));
    }
    if let Some((list, _)) = conversation(group, &ROLE) {
        let _ = writeln!(out, "records = {}", toml(&format!("{list}[]")));
        return;
    }
    let words: Vec<String> = kind.iter().filter_map(|(_, word)| word.clone()).collect();
    let fields = fields::of(group);
    let blocks = blocks(group, ids, &words);
    if blocks.is_empty() {
        out.push_str("entry = { role = \"harness\", trace = true }\nblock = [{ raw = \".\" }]\n");
        return;
    }
    let (role, is_said) = role_of(&fields, &words);
    let asks = blocks.iter().any(|block| block.is_call);
    let role = if asks && !is_said { "assistant" } else { role };
    let _ = writeln!(out, "entry = {{ role = \"{role}\" }}\nblock = [");
    for block in &blocks {
        let _ = writeln!(out, "  {},{}", block.written(), block.comment);
    }
    out.push_str("]\n");
    if blocks.iter().all(|block| !block.is_result) {
        usage(out, &fields);
    }
}

fn usage(out: &mut String, fields: &Fields) {
    let mut counts = Vec::new();
    for (name, names) in USAGE {
        let found = best(fields, names, |_, field| field.numbers > 0);
        counts.extend(found.map(|(path, _)| format!("{name} = {}", toml(path))));
    }
    if !counts.is_empty() {
        let _ = writeln!(
            out,
            "usage = {{ {} }} # does input hold what was cached? then input_includes_cache = true",
            counts.join(", ")
        );
    }
}

/// Who speaks, and whether a field says so.
fn role_of<'f>(fields: &'f Fields, kind: &[String]) -> (&'f str, bool) {
    let roles = [("user", &USERS[..]), ("assistant", &ASSISTANTS), ("system", &SYSTEMS)];
    for path in ROLE {
        let is_known = |word: &String| {
            let word = word.to_lowercase();
            roles.iter().any(|(_, words)| words.contains(&word.as_str()))
        };
        if fields.get(path).is_some_and(|field| field.words.iter().any(is_known)) {
            return (path, true);
        }
    }
    for word in kind {
        let word = word.to_lowercase();
        for part in word.split(|c: char| !c.is_ascii_lowercase()) {
            if let Some((role, _)) = roles.iter().find(|(_, words)| words.contains(&part)) {
                return (role, true);
            }
        }
    }
    ("harness", false)
}

#[cfg(test)]
mod tests {
    use toml::de::DeTable;

    use super::draft;
    use crate::formats::json;

    #[test]
    fn whatever_stands_in_records_a_draft_is_toml() {
        for odd in ["\u{1b}[1m", "it's", "say \"so\"", "a\\b", "\u{7f}", "\u{200b}", "a.b", "\n", "\u{0}"] {
            let odd = serde_json::to_string(odd).unwrap();
            let lines = [
                format!(
                    r#"{{"type":{odd},"role":"user",{odd}:{odd},"content":[{{"type":{odd},"text":{odd}}},{{{odd}:{{}}}}]}}"#
                ),
                format!(
                    r#"{{"type":"tool","role":{odd},{odd}:{{"id":{odd},"name":{odd},"arguments":{{}},"output":{odd}}}}}"#
                ),
                format!(
                    r#"{{"type":"bash_tool","id":{odd},"text":{odd},{odd}:{{"input":{odd},"input_tokens":1}}}}"#
                ),
            ];
            let records: Vec<_> = lines.iter().map(|line| json::read(line).unwrap()).collect();
            let text = draft(&records, &odd, false);
            assert!(DeTable::parse(&text).is_ok(), "{odd}: {:?}\n{text}", DeTable::parse(&text).err());
        }
    }
}
