//! Parses definitions and heads in TOML; reports all mistakes with their positions.

mod database;
mod head;
mod journal;
mod kinds;
mod places;
mod rules;
mod table;
mod when;

use std::path::PathBuf;

use toml::de::DeTable;

pub(crate) use self::head::{Base, overlay};
pub use self::head::{Overlay, head, is_overlay};
use self::rules::Defaults;
use self::table::MistakeLog;
use super::chat::Chat;
use super::head::{Aside, DetectionMark, Head};
use super::kinds::{FACTS, FactKind};
use super::mistakes::{LineIndex, Mistake};
use super::rule::{
    Definition, Detect, FactRule, Folders, MarkKind, Needs, Numbered, RecordKind, Rule, Store,
};
use crate::formats::fields;
use crate::model::record::Shape;

const SHAPES: [(&str, Shape); 5] = [
    ("lines", Shape::Lines),
    ("document", Shape::Document),
    ("array", Shape::Document),
    ("database", Shape::Rows),
    ("text", Shape::Text),
];

/// The limit of a name: it is a column of tables.
const NAME: usize = 64;

/// Parses a definition.
pub fn read(text: &str, file: Option<PathBuf>) -> Result<Definition, Vec<Mistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let mut reader = MistakeLog::new(text);
    let definition = definition(&mut reader, root.get_ref(), file);
    let mistakes = reader.finish();
    match definition {
        Some(definition) if mistakes.is_empty() => Ok(definition),
        _ => Err(mistakes),
    }
}

fn no_toml(text: &str, error: &toml::de::Error) -> Mistake {
    let at = error.span().map_or(0, |span| span.start);
    LineIndex::of(text).mistake(at, format!("no TOML: {}", error.message()))
}

fn definition(
    reader: &mut MistakeLog<'_>,
    root: &DeTable<'_>,
    file: Option<PathBuf>,
) -> Option<Definition> {
    let mut table = table::TomlTable::root(root);
    let head = head::common(reader, &mut table);
    let shapes = shapes(reader, &mut table);
    let store = database::store(reader, &mut table);
    let is_database = shapes.contains(&Shape::Rows);
    if is_database != store.is_some() {
        let what = "a format with shape = \"database\" says where its sessions lie: \
                    database = { sessions = \"TABLE\", rows = \"TABLE\", session = \"COLUMN\" }";
        reader.mistake(0..0, what.to_owned());
    }
    let chat = table.table(reader, "chat").map(|table| chat(reader, table));
    if shapes.contains(&Shape::Text) != chat.is_some() {
        let what = "a format with shape = \"text\" says who speaks: chat = { user = [\"user:\"], assistant = \
                    [\"assistant:\"] }";
        reader.mistake(0..0, what.to_owned());
    }
    let roots = places::roots(reader, &mut table, is_database);
    let named = table
        .integer(reader, "named")
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(0);
    let mut template = |reader: &mut MistakeLog<'_>, key| {
        table.string(reader, key).map(|(text, _)| text.to_owned())
    };
    let instead = template(reader, "instead");
    let beside = template(reader, "beside");
    let folders = Folders {
        records: template(reader, "folder"),
        within: template(reader, "within"),
        named,
    };
    let beside_rows = table.table(reader, "rows_beside");
    let rows_beside = beside_rows.and_then(|rows| database::rows_beside(reader, rows));
    let repeats: Vec<&'static str> = table
        .strings(reader, "repeats")
        .into_iter()
        .map(|(name, _)| leak(name))
        .collect();
    let (detect, aside) = detect(reader, &mut table);
    let unique = table.path(reader, "unique");
    let facts = facts(reader, &mut table);
    let defaults = Defaults::read(reader, &mut table);
    let numbered = table
        .table(reader, "runs")
        .and_then(|runs| rules::numbered(reader, runs));
    let journal = table
        .table(reader, "journal")
        .and_then(|journal| journal::journal(reader, journal));
    let rules = all_rules(reader, &mut table, &defaults, journal.is_some());
    table.finish(reader);
    let files_word = rules
        .iter()
        .find_map(|rule| rule.lane.as_ref()?.files_word())
        .map(leak);
    let names_files = rules
        .iter()
        .any(|rule| rule.lane.as_ref().is_some_and(|lane| lane.file.is_some()));
    if names_files && (beside.is_some() || folders.records.is_some()) {
        let what = "a lane with `file` is for sessions with nothing else beside them: no `beside`, no `folder`";
        reader.mistake(0..0, what.to_owned());
    }
    let mut head = head?;
    kinds::add_common(&mut head.kinds);
    Some(Definition {
        head: Head {
            roots,
            rows_beside,
            has_index: matches!(&store, Some(Store::Rows(rows)) if rows.index),
            aside,
            files_word,
            fields: fields::Fields {
                common: repeats.leak(),
                ..fields::Fields::default()
            },
            ..head
        },
        file,
        shapes,
        store,
        chat,
        folders,
        instead,
        beside,
        detect,
        facts,
        needs: needs(&rules, numbered),
        unruled: rules::unruled(reader, &defaults),
        rules,
        unique,
        journal,
        main: defaults.main,
    })
}

/// The state that rules need from earlier records.
fn needs(rules: &[Rule], numbered: Option<Numbered>) -> Needs {
    let undoes_entries =
        |rule: &Rule| rule.rewind.is_some() || matches!(rule.records, Some((_, true)));
    let starter = |rule: &Rule| Some(rule.lane.as_ref()?.by.as_ref()?.tool);
    Needs {
        starter: rules.iter().find_map(starter),
        by_order: rules.iter().any(Rule::is_by_order),
        undoes_entries: rules.iter().any(undoes_entries),
        sums: rules
            .iter()
            .any(|rule| rule.usages.iter().any(|usage| usage.so_far)),
        numbered,
        unless_answered: rules.iter().any(|rule| rule.unless_answered.is_some()),
        commands: rules
            .iter()
            .any(|rule| rule.states.of_work.iter().any(|end| end.command.is_some())),
        answers: rules.iter().any(|rule| {
            rule.mark
                .as_ref()
                .is_some_and(|mark| mark.kind == MarkKind::Answered)
        }),
    }
}

fn all_rules(
    reader: &mut MistakeLog<'_>,
    table: &mut table::TomlTable<'_>,
    defaults: &Defaults<'_>,
    has_state: bool,
) -> Vec<Rule> {
    let records = table.tables(reader, "record");
    let rules: Vec<Rule> = records
        .into_iter()
        .map(|one| rules::rule(reader, one, defaults))
        .collect();
    if rules.is_empty() {
        reader.mistake(
            0..0,
            "there is no [[record]], so that nothing can be read".to_owned(),
        );
    }
    if !has_state && rules.iter().any(|rule| rule.part.is_some()) {
        let what = "rules with `part` read a state, so that [journal] says how records change it";
        reader.mistake(0..0, what.to_owned());
    }
    rules
}

/// Texts of formats live as long as the program.
fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn shapes(reader: &mut MistakeLog<'_>, table: &mut table::TomlTable<'_>) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (word, span) in table.strings(reader, "shape") {
        match SHAPES.iter().find(|(known, _)| *known == word) {
            Some((_, shape)) => shapes.push(*shape),
            None => reader.mistake(
                span,
                format!("`{word}` is no shape; shapes are lines, document, array, database, text"),
            ),
        }
    }
    if shapes.is_empty() {
        vec![Shape::Lines]
    } else {
        shapes
    }
}

fn chat(reader: &mut MistakeLog<'_>, mut table: table::TomlTable<'_>) -> Chat {
    let mut voices = Vec::new();
    for role in ["user", "assistant"] {
        let lines = table.strings(reader, role);
        voices.extend(lines.into_iter().map(|(line, _)| (leak(line), role)));
    }
    let mut mark =
        |reader: &mut MistakeLog<'_>, key| table.string(reader, key).map(|(mark, _)| leak(mark));
    let (sign, thinking) = (mark(reader, "sign"), mark(reader, "thinking"));
    let (call, result) = (mark(reader, "call"), mark(reader, "result"));
    table.finish(reader);
    Chat {
        voices,
        sign,
        thinking,
        call,
        result,
    }
}

fn detect(reader: &mut MistakeLog<'_>, table: &mut table::TomlTable<'_>) -> (Detect, Vec<Aside>) {
    let Some(mut inner) = table.table(reader, "detect") else {
        return Default::default();
    };
    let mut marks = |reader: &mut MistakeLog<'_>, key| {
        let tables = inner.tables(reader, key);
        tables
            .into_iter()
            .map(|mark| self::mark(reader, mark))
            .collect::<Vec<_>>()
    };
    let (certain, likely) = (marks(reader, "certain"), marks(reader, "likely"));
    let (maybe, never) = (marks(reader, "maybe"), marks(reader, "never"));
    let aside = head::aside(reader, &mut inner);
    inner.finish(reader);
    let detect = Detect {
        certain,
        likely,
        maybe,
        never,
    };
    (detect, aside)
}

fn mark(reader: &mut MistakeLog<'_>, mut table: table::TomlTable<'_>) -> DetectionMark {
    let is_header = rules::kind(reader, &mut table) == RecordKind::Header;
    let mut words = Vec::new();
    let when = when::tests(reader, table, &mut words);
    DetectionMark {
        is_header,
        when,
        words: words.join(", "),
    }
}

fn facts(reader: &mut MistakeLog<'_>, table: &mut table::TomlTable<'_>) -> Vec<FactRule> {
    let Some(mut inner) = table.table(reader, "session") else {
        return Vec::new();
    };
    let firsts: Vec<String> = inner
        .strings(reader, "first")
        .into_iter()
        .map(|(name, _)| name.to_owned())
        .collect();
    let is_first = |name: &str| firsts.iter().any(|first| first == name);
    let mut rules = Vec::new();
    for (name, fact) in FACTS {
        let path = inner.path(reader, name);
        rules.extend(path.map(|path| FactRule {
            fact,
            path,
            first: is_first(name),
        }));
    }
    if let Some(others) = inner.table(reader, "facts") {
        for (name, path) in others.paths(reader) {
            rules.push(FactRule {
                first: is_first(&name),
                fact: FactKind::Other(leak(&name)),
                path,
            });
        }
    }
    inner.finish(reader);
    rules
}
