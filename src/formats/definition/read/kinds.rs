//! `[kinds]` of a head, a definition or a reader's overlay.

use super::leak;
use super::table::{Fields, Reader, Span};
use crate::formats::definition::kinds::{Class, FACTS, Fact, Kinds, Known};

/// Classes that every definition has: members by which most agents name the kind of a record, and that of a block.
const COMMON: [&str; 5] = ["type", "kind", "role", "event", "block.type"];

/// Those of a definition.
pub(super) fn of_definition(reader: &mut Reader<'_>, table: &mut Fields<'_>) -> Kinds {
    let mut kinds = kinds(reader, table, None);
    for class in COMMON {
        kinds.0.entry(class).or_default();
    }
    kinds
}

/// Reads them. `base` are those that an overlay adds to: it can neither make up classes nor change what code does.
pub(super) fn kinds(reader: &mut Reader<'_>, table: &mut Fields<'_>, base: Option<&Kinds>) -> Kinds {
    let mut kinds = Kinds::default();
    let Some(inner) = table.table(reader, "kinds") else { return kinds };
    for (class, span, fields) in inner.tables_by_name(reader) {
        let known = base.map(|base| base.0.get(class.as_str()));
        if matches!(known, Some(None)) {
            let mut classes: Vec<&str> = base.into_iter().flat_map(Kinds::classes).collect();
            classes.sort_unstable();
            let classes = classes.join("`, `");
            let right = if classes.is_empty() {
                "this format has none".to_owned()
            } else {
                format!("classes are `{classes}`")
            };
            reader.mistake(span, format!("`{class}` is no class of kinds; {right}"));
        }
        let code: &[&str] = known.flatten().map_or(&[], |class| class.code.as_slice());
        let read = self::class(reader, fields, code);
        kinds.0.insert(leak(&class), read);
    }
    kinds
}

fn class(reader: &mut Reader<'_>, mut fields: Fields<'_>, code: &[&str]) -> Class {
    let mut class = Class::default();
    let mut found: Vec<(String, Span, Known)> = Vec::new();
    for (name, span) in fields.strings(reader, "quiet") {
        found.push((name.to_owned(), span, Known::Quiet));
    }
    for (name, span, path) in
        fields.table(reader, "note").into_iter().flat_map(|notes| notes.paths_by_name(reader))
    {
        found.push((name, span, Known::Note(path)));
    }
    let states = fields.table(reader, "state");
    for (name, span, facts) in states.map(|states| states.tables_by_name(reader)).unwrap_or_default() {
        let facts = facts.paths_by_name(reader).into_iter().map(|(word, _, path)| {
            let fact = FACTS.iter().find(|(known, _)| *known == word).map(|(_, fact)| *fact);
            (fact.unwrap_or_else(|| Fact::Other(leak(&word))), path)
        });
        let facts = facts.collect();
        found.push((name, span, Known::State(facts)));
    }
    let passed = fields.table(reader, "passed");
    for (name, span, reason) in passed.map(|passed| passed.strings_by_name(reader)).unwrap_or_default() {
        found.push((name, span, Known::Passed(leak(&reason))));
    }
    class.code = fields.strings(reader, "code").into_iter().map(|(name, _)| leak(name)).collect();
    for (name, span, known) in found {
        if code.contains(&name.as_str()) || class.code.contains(&name.as_str()) {
            reader.mistake(span, format!("`{name}` is read by code, which no list changes"));
        } else if class.known.insert(leak(&name), known).is_some() {
            reader.mistake(span, format!("`{name}` stands in two lists"));
        }
    }
    fields.finish(reader);
    class
}
