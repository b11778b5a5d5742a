//! Parses `[kinds]` of a head, a definition or an overlay.

use std::collections::HashMap;

use super::leak;
use super::table::{MistakeLog, Span, TomlTable};
use crate::formats::definition::kinds::{FACTS, FactKind, KindClass, KindRule, Kinds};
use crate::formats::json;

/// Classes of every definition: members with which most agents name the kind of a record or a block.
const COMMON: [&str; 5] = ["type", "kind", "role", "event", "block.type"];

/// Adds the classes of every definition. Its own classes take precedence.
pub(super) fn add_common(kinds: &mut Kinds) {
    for name in COMMON {
        if kinds.class(name).is_none() {
            kinds.0.push(KindClass {
                name,
                record: None,
                known: HashMap::new(),
            });
        }
    }
}

/// Parses `[kinds]` of a head or a definition.
pub(super) fn kinds(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> Kinds {
    let classes = table
        .table(reader, "kinds")
        .map(|inner| inner.tables_by_name(reader));
    let mut kinds = Kinds::default();
    for (name, _, mut fields) in classes.into_iter().flatten() {
        let record = fields.string(reader, "record");
        if let Some((_, span)) = record
            .as_ref()
            .filter(|(text, _)| !text.contains("\"?\"") || json::parse(text).is_err())
        {
            reader.mistake(
                span.clone(),
                "`record` is a record in JSON, with \"?\" where the name stands".to_owned(),
            );
        }
        let record = record.map(|(text, _)| leak(text));
        let known = known(reader, fields, &mut Vec::new());
        kinds.0.push(KindClass {
            name: leak(&name),
            record,
            known,
        });
    }
    kinds
}

/// Parses `[kinds]` of an overlay, with the position of each name. It adds no class to a format with a decoder in Rust.
pub(super) fn added(
    reader: &mut MistakeLog<'_>,
    table: &mut TomlTable<'_>,
    base: Option<&Kinds>,
) -> (Kinds, Vec<(&'static str, &'static str, Span)>) {
    let mut kinds = Kinds::default();
    let mut places = Vec::new();
    let classes = table
        .table(reader, "kinds")
        .map(|inner| inner.tables_by_name(reader));
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
            reader.mistake(span, format!("`{name}` is no class of kinds; {right}"));
        }
        let name = leak(&name);
        let mut found = Vec::new();
        let known = known(reader, fields, &mut found);
        places.extend(found.into_iter().map(|(kind, span)| (name, kind, span)));
        kinds.0.push(KindClass {
            name,
            record: None,
            known,
        });
    }
    (kinds, places)
}

/// Parses the kinds of a class, with the position of each name.
fn known(
    reader: &mut MistakeLog<'_>,
    mut fields: TomlTable<'_>,
    places: &mut Vec<(&'static str, Span)>,
) -> HashMap<&'static str, &'static KindRule> {
    let mut found: Vec<(String, Span, KindRule)> = Vec::new();
    for (name, span) in fields.strings(reader, "quiet") {
        found.push((name.to_owned(), span, KindRule::Quiet));
    }
    let mut with_text = |reader: &mut MistakeLog<'_>, list, known: fn(_) -> KindRule| {
        let paths = fields
            .table(reader, list)
            .map(|list| list.paths_by_name(reader));
        let paths = paths.into_iter().flatten();
        found.extend(paths.map(|(name, span, path)| (name, span, known(path))));
    };
    with_text(reader, "note", KindRule::Note);
    with_text(reader, "setting", KindRule::Setting);
    let states = fields.table(reader, "state");
    for (name, span, facts) in states
        .map(|states| states.tables_by_name(reader))
        .unwrap_or_default()
    {
        let facts = facts
            .paths_by_name(reader)
            .into_iter()
            .map(|(word, _, path)| {
                let fact = FACTS
                    .iter()
                    .find(|(known, _)| *known == word)
                    .map(|(_, fact)| *fact);
                (fact.unwrap_or_else(|| FactKind::Other(leak(&word))), path)
            });
        let facts = facts.collect();
        found.push((name, span, KindRule::State(facts)));
    }
    let passed = fields.table(reader, "passed");
    for (name, span, reason) in passed
        .map(|passed| passed.strings_by_name(reader))
        .unwrap_or_default()
    {
        found.push((name, span, KindRule::Passed(leak(&reason))));
    }
    let mut all: HashMap<&'static str, &'static KindRule> = HashMap::new();
    for (name, span, known) in found {
        let name = leak(&name);
        if all.insert(name, Box::leak(Box::new(known))).is_some() {
            reader.mistake(span, format!("`{name}` stands in two lists"));
        } else {
            places.push((name, span));
        }
    }
    fields.finish(reader);
    all
}
