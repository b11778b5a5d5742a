//! A definition as it is written in TOML, to its table of rules; all mistakes in it with their places.

mod journal;
mod places;
mod rules;
mod table;
mod when;

use std::path::PathBuf;

use toml::de::DeTable;

use self::rules::Defaults;
use self::table::{Reader, Span};
use super::mistakes::Mistake;
use super::rule::{
    Definition, Detect, FACTS, Fact, FactRule, Folders, Joined, Kind, Mark, Needs, Rule, Store,
};
use crate::formats::fields;
use crate::model::record::Shape;

/// The words for shapes.
const SHAPES: [(&str, Shape); 4] = [
    ("lines", Shape::Lines),
    ("document", Shape::Document),
    ("array", Shape::Document),
    ("database", Shape::Rows),
];

/// Reads a definition; or what is wrong with it.
pub fn read(text: &str, file: Option<PathBuf>) -> Result<Definition, Vec<Mistake>> {
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        vec![Mistake::at(text, at, format!("no TOML: {}", error.message()))]
    })?;
    let mut reader = Reader::new(text);
    let definition = definition(&mut reader, root.get_ref(), file);
    let mistakes = reader.finish();
    match definition {
        Some(definition) if mistakes.is_empty() => Ok(definition),
        _ => Err(mistakes),
    }
}

fn definition(reader: &mut Reader<'_>, root: &DeTable<'_>, file: Option<PathBuf>) -> Option<Definition> {
    let mut table = table::Fields::root(root);
    let name = table.string(reader, "name");
    if let Some((name, span)) = &name
        && (name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)))
    {
        reader.mistake(span.clone(), "`name` is made of letters, digits, `-`, `_` and `.`".to_owned());
    }
    if name.is_none() {
        reader.mistake(0..0, "`name` is missing, such as name = \"my-agent\"".to_owned());
    }
    let name = name.map(|(name, _)| leak(name));
    let agent = table.string(reader, "agent").map(|(agent, _)| leak(agent));
    let omits = table.string(reader, "omits").map_or("", |(omits, _)| leak(omits));
    let shapes = shapes(reader, &mut table);
    let store = store(reader, &mut table);
    let is_database = shapes.contains(&Shape::Rows);
    if is_database != store.is_some() {
        let what = "a format with shape = \"database\" says where its sessions lie: \
                    database = { sessions = \"TABLE\", rows = \"TABLE\", session = \"COLUMN\" }";
        reader.mistake(0..0, what.to_owned());
    }
    let roots = places::roots(reader, &mut table, is_database);
    let named = table.integer(reader, "named").and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let mut template =
        |reader: &mut Reader<'_>, key| table.string(reader, key).map(|(text, _)| text.to_owned());
    let instead = template(reader, "instead");
    let beside = template(reader, "beside");
    let folders = Folders { records: template(reader, "folder"), within: template(reader, "within") };
    let companions =
        table.strings(reader, "companions").into_iter().map(|(text, _)| text.to_owned()).collect();
    let repeats: Vec<&'static str> =
        table.strings(reader, "repeats").into_iter().map(|(name, _)| leak(name)).collect();
    let detect = detect(reader, &mut table);
    let facts = facts(reader, &mut table);
    let defaults = Defaults::read(reader, &mut table);
    let numbered = table.table(reader, "runs").and_then(|runs| rules::numbered(reader, runs));
    let journal = table.table(reader, "journal").and_then(|journal| journal::journal(reader, journal));
    let rules = all_rules(reader, &mut table, &defaults, journal.is_some());
    table.finish(reader);
    let takes_back =
        rules.iter().any(|rule: &Rule| rule.rewind.is_some() || matches!(rule.records, Some((_, true))));
    let by_order = rules.iter().any(Rule::is_by_order);
    let asks = rules.iter().any(|rule| rule.lane.as_ref().is_some_and(|lane| lane.file.is_some()));
    if asks && (beside.is_some() || folders.records.is_some()) {
        let what =
            "a lane with `file` is for sessions with nothing else beside them: no `beside`, no `folder`";
        reader.mistake(0..0, what.to_owned());
    }
    let name = name?;
    Some(Definition {
        name,
        agent: agent.unwrap_or(name),
        omits,
        file,
        shapes,
        store,
        folders,
        roots,
        named,
        instead,
        beside,
        companions,
        repeats: fields::Fields { common: repeats.leak(), ..fields::NONE },
        detect,
        facts,
        rules,
        needs: Needs { by_order, takes_back, numbered },
        journal,
        main: defaults.main,
    })
}

fn all_rules(
    reader: &mut Reader<'_>,
    table: &mut table::Fields<'_>,
    defaults: &Defaults<'_>,
    has_state: bool,
) -> Vec<Rule> {
    let records = table.tables(reader, "record");
    let rules: Vec<Rule> = records.into_iter().map(|one| rules::rule(reader, one, defaults)).collect();
    if rules.is_empty() {
        reader.mistake(0..0, "there is no [[record]], so that nothing can be read".to_owned());
    }
    if !has_state && rules.iter().any(|rule| rule.part.is_some()) {
        let what = "rules with `part` read a state, so that [journal] says how records change it";
        reader.mistake(0..0, what.to_owned());
    }
    rules
}

/// Formats are known for as long as the program runs.
fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn shapes(reader: &mut Reader<'_>, table: &mut table::Fields<'_>) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (word, span) in table.strings(reader, "shape") {
        match SHAPES.iter().find(|(known, _)| *known == word) {
            Some((_, shape)) => shapes.push(*shape),
            None => reader
                .mistake(span, format!("`{word}` is no shape; shapes are lines, document, array, database")),
        }
    }
    if shapes.is_empty() { vec![Shape::Lines] } else { shapes }
}

fn store(reader: &mut Reader<'_>, table: &mut table::Fields<'_>) -> Option<Store> {
    let mut inner = table.table(reader, "database")?;
    let mut name = |reader: &mut Reader<'_>, key| inner.string(reader, key).map(|(name, _)| leak(name));
    let sessions = name(reader, "sessions");
    let id = name(reader, "id").unwrap_or("id");
    let (title, untitled) = (name(reader, "title"), name(reader, "untitled").unwrap_or(""));
    let (updated, parent) = (name(reader, "updated"), name(reader, "parent"));
    let rows = name(reader, "rows");
    let changed = name(reader, "changed");
    let mut session: Vec<_> =
        inner.strings(reader, "session").into_iter().map(|(column, _)| leak(column)).collect();
    if session.is_empty() {
        session.push("session_id");
    }
    let has = inner.strings(reader, "has");
    let has = has.into_iter().filter_map(|column| column_of(reader, column)).collect();
    let with = inner.tables(reader, "with").into_iter().filter_map(|table| joined(reader, table)).collect();
    let span = inner.span();
    inner.finish(reader);
    if rows.is_none() {
        let what = "`database` names a table: rows = \"TABLE\" with the rows of all sessions, and mostly \
                    sessions = \"TABLE\" with a row for each session";
        reader.mistake(span, what.to_owned());
    }
    Some(Store { sessions, id, title, untitled, updated, parent, rows: rows?, session, changed, has, with })
}

/// A table with rows that belong to those of another one.
fn joined(reader: &mut Reader<'_>, mut table: table::Fields<'_>) -> Option<Joined> {
    let name = table.string(reader, "name").map(|(name, _)| leak(name));
    let own = table.string(reader, "table").map(|(table, _)| leak(table));
    let on = table.string(reader, "on").map(|(column, _)| leak(column));
    let to = table.string(reader, "to").and_then(|column| column_of(reader, column));
    let span = table.span();
    table.finish(reader);
    let (Some(own), Some(on), Some(to)) = (own, on, to) else {
        let what = "a table beside the rows is written as { table = \"TABLE\", on = \"ITS COLUMN\", to = \
                    \"TABLE.COLUMN\" }";
        reader.mistake(span, what.to_owned());
        return None;
    };
    Some(Joined { table: own, on, to, name: name.unwrap_or(own) })
}

/// A table with a column.
fn column_of(reader: &mut Reader<'_>, (text, span): (&str, Span)) -> Option<(&'static str, &'static str)> {
    let column = text.split_once('.').map(|(table, column)| (leak(table), leak(column)));
    if column.is_none() {
        reader.mistake(span, format!("`{text}` is written as \"table.column\""));
    }
    column
}

fn detect(reader: &mut Reader<'_>, table: &mut table::Fields<'_>) -> Detect {
    let Some(mut inner) = table.table(reader, "detect") else { return Detect::default() };
    let mut marks = |reader: &mut Reader<'_>, key| {
        let tables = inner.tables(reader, key);
        tables.into_iter().map(|mark| self::mark(reader, mark)).collect::<Vec<_>>()
    };
    let (certain, likely) = (marks(reader, "certain"), marks(reader, "likely"));
    let (maybe, never) = (marks(reader, "maybe"), marks(reader, "never"));
    let aside = inner.tables(reader, "aside").into_iter().filter_map(|mark| aside(reader, mark)).collect();
    inner.finish(reader);
    Detect { certain, likely, maybe, never, aside }
}

/// What no session is, and what to say of it.
fn aside(reader: &mut Reader<'_>, mut table: table::Fields<'_>) -> Option<(Mark, &'static str)> {
    let (span, what) = (table.span(), table.string(reader, "what"));
    if what.is_none() {
        let right = "`what` is missing: what the file is and which one to open, such as \"a list of prompts; open …\"";
        reader.mistake(span, right.to_owned());
    }
    let mark = mark(reader, table);
    what.map(|(what, _)| (mark, leak(what)))
}

fn mark(reader: &mut Reader<'_>, mut table: table::Fields<'_>) -> Mark {
    let is_header = rules::kind(reader, &mut table) == Kind::Header;
    let mut words = Vec::new();
    let when = when::tests(reader, table, &mut words);
    Mark { is_header, when, words: words.join(", ") }
}

fn facts(reader: &mut Reader<'_>, table: &mut table::Fields<'_>) -> Vec<FactRule> {
    let Some(mut inner) = table.table(reader, "session") else { return Vec::new() };
    let firsts: Vec<String> =
        inner.strings(reader, "first").into_iter().map(|(name, _)| name.to_owned()).collect();
    let is_first = |name: &str| firsts.iter().any(|first| first == name);
    let mut rules = Vec::new();
    for (name, fact) in FACTS {
        let path = inner.path(reader, name);
        rules.extend(path.map(|path| FactRule { fact, path, first: is_first(name) }));
    }
    if let Some(others) = inner.table(reader, "facts") {
        for (name, path) in others.paths(reader) {
            rules.push(FactRule { first: is_first(&name), fact: Fact::Other(leak(&name)), path });
        }
    }
    inner.finish(reader);
    rules
}
