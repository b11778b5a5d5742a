//! Parses `[kinds]` of a head, a definition or an overlay.

use std::collections::HashMap;

use super::leak;
use super::table::{ByteSpan, TomlTable};
use crate::formats::definition::kinds::{FACTS, FactKind, KindClass, KindRule, Kinds};
use crate::formats::json;

/// Classes of every definition: the members in which most agents name the kind of a record or
/// block.
const COMMON: [&str; 5] = ["type", "kind", "role", "event", "block.type"];

/// Adds the classes that every definition has. The definition's own classes take precedence.
pub(super) fn add_common(kinds: &mut Kinds) {
    for name in COMMON {
        if kinds.class(name).is_none() {
            kinds.0.push(KindClass {
                name,
                record: None,
                rules: HashMap::new(),
            });
        }
    }
}

/// Parses `[kinds]` of a head or a definition.
pub(super) fn kinds(table: &mut TomlTable<'_>) -> Kinds {
    let classes = table.table("kinds").map(TomlTable::tables_by_name);
    let mut kinds = Kinds::default();
    for (name, _, mut fields) in classes.into_iter().flatten() {
        let record = fields.string("record");
        if let Some((_, span)) = record
            .as_ref()
            .filter(|(text, _)| !text.contains("\"?\"") || json::parse(text).is_err())
        {
            table.log.mistake(
                span.clone(),
                "`record` is a record in JSON, with \"?\" where the name stands",
            );
        }
        let record = record.map(|(text, _)| leak(text));
        let known = parse_class(fields, &mut Vec::new());
        kinds.0.push(KindClass {
            name: leak(&name),
            record,
            rules: known,
        });
    }
    kinds
}

/// Parses `[kinds]` of an overlay, with the position of each name. An overlay cannot add a class to
/// a format with a decoder in Rust.
pub(super) fn added(
    table: &mut TomlTable<'_>,
    base: Option<&Kinds>,
) -> (Kinds, Vec<(&'static str, &'static str, ByteSpan)>) {
    let mut kinds = Kinds::default();
    let mut places = Vec::new();
    let classes = table.table("kinds").map(TomlTable::tables_by_name);
    for (name, span, fields) in classes.into_iter().flatten() {
        if let Some(base) = base.filter(|base| base.class(&name).is_none()) {
            let mut classes: Vec<&str> = base.classes().map(|class| class.name).collect();
            classes.sort_unstable();
            let classes = classes.join("`, `");
            let right = if classes.is_empty() {
                "this format has none".to_owned()
            } else {
                format!("classes are `{classes}`")
            };
            table
                .log
                .mistake(span, format!("`{name}` is no class of kinds; {right}"));
        }
        let name = leak(&name);
        let mut found = Vec::new();
        let known = parse_class(fields, &mut found);
        places.extend(found.into_iter().map(|(kind, span)| (name, kind, span)));
        kinds.0.push(KindClass {
            name,
            record: None,
            rules: known,
        });
    }
    (kinds, places)
}

/// Parses the kinds of one class, and adds the position of each name to `places`.
fn parse_class(
    mut fields: TomlTable<'_>,
    places: &mut Vec<(&'static str, ByteSpan)>,
) -> HashMap<&'static str, &'static KindRule> {
    let mut found: Vec<(String, ByteSpan, KindRule)> = Vec::new();
    for (name, span) in fields.strings("quiet") {
        found.push((name.to_owned(), span, KindRule::Quiet));
    }
    let mut with_text = |list, known: fn(_) -> KindRule| {
        let paths = fields.table(list).map(TomlTable::paths_by_name);
        let paths = paths.into_iter().flatten();
        found.extend(paths.map(|(name, span, path)| (name, span, known(path))));
    };
    with_text("note", KindRule::Note);
    with_text("setting", KindRule::Setting);
    let states = fields.table("state");
    for (name, span, facts) in states.map(TomlTable::tables_by_name).unwrap_or_default() {
        let facts = facts.paths_by_name().into_iter().map(|(word, _, path)| {
            let fact = FACTS
                .iter()
                .find(|(known, _)| *known == word)
                .map(|(_, fact)| *fact);
            (fact.unwrap_or_else(|| FactKind::Other(leak(&word))), path)
        });
        let facts = facts.collect();
        found.push((name, span, KindRule::State(facts)));
    }
    let passed = fields.table("passed");
    for (name, span, reason) in passed.map(TomlTable::strings_by_name).unwrap_or_default() {
        found.push((name, span, KindRule::Passed(leak(&reason))));
    }
    let mut all: HashMap<&'static str, &'static KindRule> = HashMap::new();
    for (name, span, known) in found {
        let name = leak(&name);
        if all.insert(name, Box::leak(Box::new(known))).is_some() {
            fields
                .log
                .mistake(span, format!("`{name}` stands in two lists"));
        } else {
            places.push((name, span));
        }
    }
    fields.finish();
    all
}
