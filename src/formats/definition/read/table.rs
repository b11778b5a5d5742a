//! A TOML table whose fields are read by name. A field that is never read is reported as a mistake.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use itertools::Itertools as _;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::leak;
use crate::formats::definition::mistakes::{DefinitionMistake, LineIndex};
use crate::formats::definition::path::RecordPath;
use crate::model::text::likeness::near_words;

pub(super) type ByteSpan = Range<usize>;

/// The maximum number of reported mistakes; further ones are counted.
const MISTAKES: usize = 100;
/// The maximum number of members of a list or a table.
const MEMBERS: usize = 1000;
/// The maximum length of a text in bytes.
const TEXT: usize = 1024;

pub(super) struct MistakeLog<'t> {
    lines: LineIndex<'t>,
    mistakes: RefCell<Vec<DefinitionMistake>>,
    /// The number of mistakes beyond the maximum.
    more: Cell<usize>,
}

/// A table, with the names of the fields that were read.
pub(super) struct TomlTable<'t> {
    pub(super) log: &'t MistakeLog<'t>,
    table: &'t DeTable<'t>,
    span: ByteSpan,
    read_fields: Vec<&'static str>,
}

impl<'t> MistakeLog<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            lines: LineIndex::of(text),
            mistakes: RefCell::default(),
            more: Cell::default(),
        }
    }

    pub(super) fn mistake(&self, at: ByteSpan, what: impl Into<String>) {
        let mut mistakes = self.mistakes.borrow_mut();
        if mistakes.len() < MISTAKES {
            mistakes.push(self.lines.mistake(at.start, what.into()));
        } else {
            self.more.update(|more| more + 1);
        }
    }

    /// The line number of a position.
    pub(super) fn line(&self, at: &ByteSpan) -> usize {
        self.lines.line(at.start)
    }

    /// Whether the number of members is within the limit; reports a mistake if not.
    pub(super) fn expect_few(&self, name: &str, members: usize, span: ByteSpan) -> bool {
        let is_few = members <= MEMBERS;
        if !is_few {
            self.mistake(
                span,
                format!("`{name}` has {members} members; a list or a table has at most {MEMBERS}"),
            );
        }
        is_few
    }

    pub(super) fn finish(self) -> Vec<DefinitionMistake> {
        let mut mistakes = self.mistakes.into_inner();
        mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
        if let (more @ 1.., Some(last)) = (self.more.get(), mistakes.last_mut()) {
            last.what.push_str(&format!(" (and {more} more mistakes)"));
        }
        mistakes
    }

    /// A value as a text; reports a mistake if it is not one.
    pub(super) fn text_of<'v>(
        &self,
        name: &str,
        value: &'v Spanned<DeValue<'_>>,
    ) -> Option<(&'v str, ByteSpan)> {
        let Some(text) = value.get_ref().as_str() else {
            self.wrong(name, value, "a text");
            return None;
        };
        if text.len() > TEXT {
            self.mistake(
                value.span(),
                format!(
                    "`{name}` has {} bytes; a text has at most {TEXT}",
                    text.len()
                ),
            );
            return None;
        }
        Some((text, value.span()))
    }

    fn wrong(&self, name: &str, value: &Spanned<DeValue<'_>>, right: &str) {
        let what = format!(
            "`{name}` is {}, where {right} is expected",
            kind_of(value.get_ref())
        );
        self.mistake(value.span(), what);
    }

    pub(super) fn path_of(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<RecordPath> {
        if let Some(items) = value
            .get_ref()
            .as_array()
            .filter(|items| items.iter().all(|item| item.get_ref().is_str()))
        {
            if !self.expect_few(name, items.len(), value.span()) {
                return None;
            }
            let paths: Option<Vec<RecordPath>> =
                items.iter().map(|item| self.path_of(name, item)).collect();
            return paths.map(RecordPath::all);
        }
        let Some(text) = value.get_ref().as_str() else {
            self.wrong(name, value, "a path, such as \"message.content\",");
            return None;
        };
        RecordPath::parse(text)
            .map_err(|why| self.mistake(value.span(), why))
            .ok()
    }
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

impl<'t> TomlTable<'t> {
    pub(super) fn root(table: &'t DeTable<'t>, log: &'t MistakeLog<'t>) -> Self {
        Self {
            log,
            table,
            span: 0..0,
            read_fields: Vec::new(),
        }
    }

    /// The value as a table; `None` if it is not one.
    pub(super) fn of(value: &'t Spanned<DeValue<'t>>, log: &'t MistakeLog<'t>) -> Option<Self> {
        Some(Self {
            log,
            table: value.get_ref().as_table()?,
            span: value.span(),
            read_fields: Vec::new(),
        })
    }

    pub(super) fn span(&self) -> ByteSpan {
        self.span.clone()
    }

    /// Reads a field of any type.
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.read_fields.push(name);
        self.table
            .iter()
            .find(|(key, _)| key.get_ref() == name)
            .map(|(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.table.iter().any(|(key, _)| key.get_ref() == name)
    }

    pub(super) fn string(&mut self, name: &'static str) -> Option<(&'t str, ByteSpan)> {
        self.log.text_of(name, self.get(name)?)
    }

    /// Reads a word that stands for one of these values.
    pub(super) fn one_of<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let (word, span) = self.string(name)?;
        let known = words.iter().find(|(known, _)| *known == word);
        if known.is_none() {
            let (last, others) = words.split_last()?;
            let others = others.iter().map(|(word, _)| *word).join(", ");
            self.log.mistake(
                span,
                format!("`{word}` is not known; `{name}` is {others} or {}", last.0),
            );
        }
        known.map(|(_, value)| *value)
    }

    /// Reads a text with the lifetime of the program.
    pub(super) fn word(&mut self, name: &'static str) -> Option<&'static str> {
        self.string(name).map(|(word, _)| leak(word))
    }

    pub(super) fn words(&mut self, name: &'static str) -> Vec<&'static str> {
        let words = self.strings(name).into_iter();
        words.map(|(word, _)| leak(word)).collect()
    }

    /// Reads a boolean, `false` by default.
    pub(super) fn is(&mut self, name: &'static str) -> bool {
        self.bool(name).unwrap_or(false)
    }

    pub(super) fn integer(&mut self, name: &'static str) -> Option<i64> {
        let value = self.get(name)?;
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|number| number.as_str().parse().ok());
        if number.is_none() {
            self.log.wrong(name, value, "a whole number");
        }
        number
    }

    pub(super) fn bool(&mut self, name: &'static str) -> Option<bool> {
        let value = self.get(name)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.log.wrong(name, value, "true or false");
        }
        flag
    }

    /// Reads a text or a list of texts.
    pub(super) fn strings(&mut self, name: &'static str) -> Vec<(&'t str, ByteSpan)> {
        let values = self.values(name).into_iter();
        values
            .filter_map(|value| self.log.text_of(name, value))
            .collect()
    }

    /// Reads a value or a list of values.
    pub(super) fn values(&mut self, name: &'static str) -> Vec<&'t Spanned<DeValue<'t>>> {
        let Some(value) = self.get(name) else {
            return Vec::new();
        };
        let Some(items) = value.get_ref().as_array() else {
            return vec![value];
        };
        if self.log.expect_few(name, items.len(), value.span()) {
            items.iter().collect()
        } else {
            Vec::new()
        }
    }

    pub(super) fn path(&mut self, name: &'static str) -> RecordPath {
        self.required_path(name).unwrap_or_default()
    }

    pub(super) fn required_path(&mut self, name: &'static str) -> Option<RecordPath> {
        let value = self.get(name)?;
        self.log.path_of(name, value)
    }

    pub(super) fn table(&mut self, name: &'static str) -> Option<Self> {
        self.tables(name).into_iter().next()
    }

    /// Reads a table or a list of tables.
    pub(super) fn tables(&mut self, name: &'static str) -> Vec<Self> {
        let mut tables = Vec::new();
        for value in self.values(name) {
            match value.get_ref().as_table() {
                Some(table) => tables.push(Self {
                    table,
                    span: value.span(),
                    read_fields: Vec::new(),
                    log: self.log,
                }),
                None => self.log.wrong(name, value, "a table, such as { … },"),
            }
        }
        tables
    }

    /// The fields that were not read, by name. Fields of nested tables have dotted names.
    pub(super) fn unread_fields(&self) -> Vec<(String, &'t Spanned<DeValue<'t>>)> {
        let mut rest = Vec::new();
        let is_free = |key: &str| !self.read_fields.contains(&key);
        for (key, value) in self.members().filter(|(key, _)| is_free(key.get_ref())) {
            flatten(key.get_ref().to_string(), value, &mut rest);
        }
        rest
    }

    /// All members; none if the table exceeds the limit.
    fn members(
        &self,
    ) -> impl Iterator<Item = (&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>)> {
        let is_few = self
            .log
            .expect_few("this table", self.table.len(), self.span());
        self.table.iter().take(if is_few { MEMBERS } else { 0 })
    }

    /// All members that `read` accepts, by name.
    fn by_name<T>(
        &self,
        read: impl Fn(&str, &'t Spanned<DeValue<'t>>) -> Option<T>,
    ) -> Vec<(String, ByteSpan, T)> {
        let members = self.members().filter_map(|(key, value)| {
            let name = key.get_ref();
            Some((name.to_string(), key.span(), read(name, value)?))
        });
        members.collect()
    }

    /// All members, which must be tables.
    pub(super) fn tables_by_name(self) -> Vec<(String, ByteSpan, Self)> {
        self.by_name(|name, value| {
            let table = Self::of(value, self.log);
            if table.is_none() {
                self.log.wrong(name, value, "a table, such as { … },");
            }
            table
        })
    }

    /// All members, which must be paths.
    pub(super) fn paths_by_name(self) -> Vec<(String, ByteSpan, RecordPath)> {
        self.by_name(|name, value| self.log.path_of(name, value))
    }

    /// All members, which must be texts.
    pub(super) fn strings_by_name(self) -> Vec<(String, ByteSpan, String)> {
        self.by_name(|name, value| Some(self.log.text_of(name, value)?.0.to_owned()))
    }

    /// All members, which must be texts or lists of texts, with the lifetime of the program.
    pub(super) fn lists_by_name(self) -> Vec<(&'static str, &'static [&'static str])> {
        let lists = self.by_name(|name, value| {
            let items = value.get_ref().as_array();
            let items = items.map_or_else(|| vec![value], |items| items.iter().collect());
            let texts = items.into_iter();
            let texts = texts.filter_map(|item| self.log.text_of(name, item));
            Some(texts.map(|(text, _)| leak(text)).collect::<Vec<_>>())
        });
        let lists = lists.into_iter();
        lists
            .map(|(name, _, list)| (leak(&name), &*list.leak()))
            .collect()
    }

    /// As [`Self::unread_fields`], for values that must be paths.
    pub(super) fn paths(self) -> Vec<(String, RecordPath)> {
        let rest = self.unread_fields().into_iter();
        rest.filter_map(|(name, value)| {
            let path = self.log.path_of(&name, value)?;
            Some((name, path))
        })
        .collect()
    }

    /// Reports the fields that were not read.
    pub(super) fn finish(&self) {
        let known = &self.read_fields;
        for (key, _) in self
            .table
            .iter()
            .filter(|(key, _)| !self.read_fields.iter().any(|name| key.get_ref() == name))
        {
            let name: String = key.get_ref().chars().take(NAME).collect();
            self.log.mistake(
                key.span(),
                match near_words(&name, known.iter().copied()).as_str() {
                    "" => format!("`{name}` is not known here; known are {}", known.join(", ")),
                    near => format!("`{name}` is not known here{near}"),
                },
            );
        }
    }
}

/// The maximum length of a name in a message, in characters.
const NAME: usize = 80;

fn flatten<'t>(
    name: String,
    value: &'t Spanned<DeValue<'t>>,
    out: &mut Vec<(String, &'t Spanned<DeValue<'t>>)>,
) {
    match value.get_ref().as_table() {
        Some(table) => {
            for (key, value) in table {
                flatten(format!("{name}.{}", key.get_ref()), value, out);
            }
        }
        None => out.push((name, value)),
    }
}
