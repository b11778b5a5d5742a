//! Parses definitions and heads in TOML, and reports all mistakes with their positions.

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
use super::head::Head;
use super::kinds::{FACTS, FactKind};
use super::mistakes::{DefinitionMistake, LineIndex};
use super::rule::{
    Definition, FactRule, FolderRules, MarkKind, Numbered, RecordRule, RuleNeeds, Store,
};
use crate::formats::fields;
use crate::model::record::Shape;

/// The maximum length of a name, which is a column of tables.
const NAME: usize = 64;

/// Parses a definition. The error has all mistakes.
pub fn read(text: &str, file: Option<PathBuf>) -> Result<Definition, Vec<DefinitionMistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let log = MistakeLog::new(text);
    let definition = definition(&log, root.get_ref(), file);
    let mistakes = log.finish();
    match definition {
        Some(definition) if mistakes.is_empty() => Ok(definition),
        _ => Err(mistakes),
    }
}

fn no_toml(text: &str, error: &toml::de::Error) -> DefinitionMistake {
    let at = error.span().map_or(0, |span| span.start);
    LineIndex::of(text).mistake(at, format!("no TOML: {}", error.message()))
}

fn definition(
    log: &MistakeLog<'_>,
    root: &DeTable<'_>,
    file: Option<PathBuf>,
) -> Option<Definition> {
    let mut table = table::TomlTable::root(root, log);
    let head = head::common(&mut table);
    let store = database::store(&mut table);
    let has = |shape| {
        head.as_ref()
            .is_some_and(|head| head.detect.shapes.contains(&shape))
    };
    let is_database = has(Shape::Rows);
    if is_database != store.is_some() {
        let what = "a format with shape = \"database\" says where its sessions lie: \
                    database = { sessions = \"TABLE\", rows = \"TABLE\", session = \"COLUMN\" }";
        log.mistake(0..0, what);
    }
    let chat = table.table("chat").map(chat);
    if has(Shape::Text) != chat.is_some() {
        let what = "a format with shape = \"text\" says who speaks: chat = { user = [\"user:\"], assistant = \
                    [\"assistant:\"] }";
        log.mistake(0..0, what);
    }
    let roots = places::roots(&mut table, is_database);
    let named = table
        .integer("named")
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(0);
    let mut template = |key| table.string(key).map(|(text, _)| text.to_owned());
    let instead = template("instead");
    let beside = template("beside");
    let folders = FolderRules {
        records: template("folder"),
        within: template("within"),
        named,
    };
    let beside_rows = table.table("rows_beside");
    let rows_beside = beside_rows.and_then(database::rows_beside);
    let repeats = table.words("repeats");
    let unique = table.path("unique");
    let facts = facts(&mut table);
    let defaults = Defaults::read(&mut table);
    let numbered = table.table("runs").and_then(rules::numbered);
    let journal = table.table("journal").and_then(journal::journal);
    let rules = all_rules(&mut table, &defaults);
    table.finish();
    let files_word = rules
        .iter()
        .find_map(|rule| rule.lane.as_ref()?.files_word())
        .map(leak);
    let names_files = rules
        .iter()
        .any(|rule| rule.lane.as_ref().is_some_and(|lane| lane.file.is_given()));
    if names_files && (beside.is_some() || folders.records.is_some()) {
        let what = "a lane with `file` is for sessions with nothing else beside them: no `beside`, no `folder`";
        log.mistake(0..0, what);
    }
    let mut head = head?;
    kinds::add_common(&mut head.kinds);
    Some(Definition {
        head: Head {
            roots,
            rows_beside,
            has_index: matches!(&store, Some(Store::Rows(rows)) if rows.index),
            files_word,
            fields: fields::KnownFields {
                common: repeats.leak(),
                ..fields::KnownFields::default()
            },
            ..head
        },
        file,
        store,
        chat,
        folders,
        instead,
        facts_file: beside,
        facts,
        needs: needs(&rules, numbered),
        unruled: rules::unruled(&defaults),
        rules,
        unique,
        journal,
        main: defaults.main,
    })
}

/// The state of earlier records that these rules need.
fn needs(rules: &[RecordRule], numbered: Option<Numbered>) -> RuleNeeds {
    let undoes_entries =
        |rule: &RecordRule| rule.rewind.is_some() || matches!(rule.records, Some((_, true)));
    let starter = |rule: &RecordRule| Some(rule.lane.as_ref()?.by.as_ref()?.tool);
    RuleNeeds {
        starter: rules.iter().find_map(starter),
        by_order: rules.iter().any(RecordRule::is_by_order),
        undoes_entries: rules.iter().any(undoes_entries),
        sums: rules
            .iter()
            .any(|rule| rule.usages.iter().any(|usage| usage.so_far)),
        numbered,
        unless_answered: rules.iter().any(|rule| rule.unless_answered.is_some()),
        commands: rules
            .iter()
            .any(|rule| rule.states.of_work.iter().any(|end| end.command.is_given())),
        answers: rules.iter().any(|rule| {
            rule.mark
                .as_ref()
                .is_some_and(|mark| mark.kind == MarkKind::Answered)
        }),
    }
}

fn all_rules(table: &mut table::TomlTable<'_>, defaults: &Defaults<'_>) -> Vec<RecordRule> {
    let records = table.tables("record");
    let rules: Vec<RecordRule> = records
        .into_iter()
        .map(|one| rules::rule(one, defaults))
        .collect();
    if rules.is_empty() {
        table
            .log
            .mistake(0..0, "there is no [[record]], so that nothing can be read");
    }
    rules
}

/// Extends a text's lifetime to that of the program, since formats live as long.
fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn chat(mut table: table::TomlTable<'_>) -> Chat {
    let mut voices = Vec::new();
    for role in ["user", "assistant"] {
        let lines = table.words(role).into_iter();
        voices.extend(lines.map(|line| (line, role)));
    }
    let chat = Chat {
        voices,
        sign: table.word("sign"),
        thinking: table.word("thinking"),
        call: table.word("call"),
        result: table.word("result"),
    };
    table.finish();
    chat
}

fn facts(table: &mut table::TomlTable<'_>) -> Vec<FactRule> {
    let Some(mut inner) = table.table("session") else {
        return Vec::new();
    };
    let firsts = inner.words("first");
    let is_first = |name: &str| firsts.contains(&name);
    let mut rules = Vec::new();
    for (name, fact) in FACTS {
        let path = inner.required_path(name);
        rules.extend(path.map(|path| FactRule {
            fact,
            path,
            first: is_first(name),
        }));
    }
    if let Some(others) = inner.table("facts") {
        for (name, path) in others.paths() {
            rules.push(FactRule {
                first: is_first(&name),
                fact: FactKind::Other(leak(&name)),
                path,
            });
        }
    }
    inner.finish();
    rules
}
