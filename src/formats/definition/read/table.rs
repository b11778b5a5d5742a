//! A table of TOML whose fields are read by name: a field that is never read is a mistake.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::leak;
use crate::formats::definition::mistakes::{LineIndex, Mistake};
use crate::formats::definition::path::Path;

pub(super) type Span = Range<usize>;

/// The limit of reported mistakes; further ones are counted.
const MISTAKES: usize = 100;
/// The limit of members of a list or a table.
const MEMBERS: usize = 1000;
/// The limit of bytes of a text.
const TEXT: usize = 1024;

pub(super) struct MistakeLog<'t> {
    lines: LineIndex<'t>,
    mistakes: Vec<Mistake>,
    /// The number of mistakes beyond the limit.
    more: usize,
}

/// A table, and the fields that were read.
pub(super) struct TomlTable<'t> {
    table: &'t DeTable<'t>,
    span: Span,
    asked: Vec<&'static str>,
}

impl<'t> MistakeLog<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            lines: LineIndex::of(text),
            mistakes: Vec::new(),
            more: 0,
        }
    }

    pub(super) fn mistake(&mut self, at: Span, what: String) {
        if self.mistakes.len() < MISTAKES {
            self.mistakes.push(self.lines.mistake(at.start, what));
        } else {
            self.more += 1;
        }
    }

    /// The line of a position.
    pub(super) fn line(&self, at: &Span) -> usize {
        self.lines.line(at.start)
    }

    /// Whether a list or a table is within the limit; reports a mistake if not.
    pub(super) fn expect_few(&mut self, name: &str, members: usize, span: Span) -> bool {
        let is_few = members <= MEMBERS;
        if !is_few {
            self.mistake(
                span,
                format!("`{name}` has {members} members; a list or a table has at most {MEMBERS}"),
            );
        }
        is_few
    }

    pub(super) fn finish(mut self) -> Vec<Mistake> {
        self.mistakes
            .sort_by_key(|mistake| (mistake.line, mistake.column));
        if let (more @ 1.., Some(last)) = (self.more, self.mistakes.last_mut()) {
            last.what.push_str(&format!(" (and {more} more mistakes)"));
        }
        self.mistakes
    }

    /// A value that is a text.
    pub(super) fn text_of<'v>(
        &mut self,
        name: &str,
        value: &'v Spanned<DeValue<'_>>,
    ) -> Option<(&'v str, Span)> {
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

    fn wrong(&mut self, name: &str, value: &Spanned<DeValue<'_>>, right: &str) {
        let what = format!(
            "`{name}` is {}, where {right} is expected",
            kind_of(value.get_ref())
        );
        self.mistake(value.span(), what);
    }

    pub(super) fn path_of(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Path> {
        if let Some(items) = value
            .get_ref()
            .as_array()
            .filter(|items| items.iter().all(|item| item.get_ref().is_str()))
        {
            if !self.expect_few(name, items.len(), value.span()) {
                return None;
            }
            let paths: Option<Vec<Path>> =
                items.iter().map(|item| self.path_of(name, item)).collect();
            return paths.map(Path::all);
        }
        let Some(text) = value.get_ref().as_str() else {
            self.wrong(name, value, "a path, such as \"message.content\",");
            return None;
        };
        Path::parse(text)
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
    pub(super) fn root(table: &'t DeTable<'t>) -> Self {
        Self {
            table,
            span: 0..0,
            asked: Vec::new(),
        }
    }

    /// A value that is a table.
    pub(super) fn of(value: &'t Spanned<DeValue<'t>>) -> Option<Self> {
        Some(Self {
            table: value.get_ref().as_table()?,
            span: value.span(),
            asked: Vec::new(),
        })
    }

    pub(super) fn span(&self) -> Span {
        self.span.clone()
    }

    /// A field of any type.
    pub(super) fn take(&mut self, name: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.asked.push(name);
        self.table
            .iter()
            .find(|(key, _)| key.get_ref() == name)
            .map(|(_, value)| value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.table.iter().any(|(key, _)| key.get_ref() == name)
    }

    pub(super) fn string(
        &mut self,
        reader: &mut MistakeLog<'_>,
        name: &'static str,
    ) -> Option<(&'t str, Span)> {
        reader.text_of(name, self.take(name)?)
    }

    pub(super) fn integer(
        &mut self,
        reader: &mut MistakeLog<'_>,
        name: &'static str,
    ) -> Option<i64> {
        let value = self.take(name)?;
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|number| number.as_str().parse().ok());
        if number.is_none() {
            reader.wrong(name, value, "a whole number");
        }
        number
    }

    pub(super) fn bool(&mut self, reader: &mut MistakeLog<'_>, name: &'static str) -> Option<bool> {
        let value = self.take(name)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            reader.wrong(name, value, "true or false");
        }
        flag
    }

    /// A text, or a list of them.
    pub(super) fn strings(
        &mut self,
        reader: &mut MistakeLog<'_>,
        name: &'static str,
    ) -> Vec<(&'t str, Span)> {
        self.values(reader, name)
            .into_iter()
            .filter_map(|value| reader.text_of(name, value))
            .collect()
    }

    /// A value, or a list of them.
    pub(super) fn values(
        &mut self,
        reader: &mut MistakeLog<'_>,
        name: &'static str,
    ) -> Vec<&'t Spanned<DeValue<'t>>> {
        let Some(value) = self.take(name) else {
            return Vec::new();
        };
        let Some(items) = value.get_ref().as_array() else {
            return vec![value];
        };
        if reader.expect_few(name, items.len(), value.span()) {
            items.iter().collect()
        } else {
            Vec::new()
        }
    }

    pub(super) fn path(&mut self, reader: &mut MistakeLog<'_>, name: &'static str) -> Option<Path> {
        let value = self.take(name)?;
        reader.path_of(name, value)
    }

    pub(super) fn table(
        &mut self,
        reader: &mut MistakeLog<'_>,
        name: &'static str,
    ) -> Option<Self> {
        self.tables(reader, name).into_iter().next()
    }

    /// A table, or a list of them.
    pub(super) fn tables(&mut self, reader: &mut MistakeLog<'_>, name: &'static str) -> Vec<Self> {
        let mut tables = Vec::new();
        for value in self.values(reader, name) {
            match value.get_ref().as_table() {
                Some(table) => tables.push(Self {
                    table,
                    span: value.span(),
                    asked: Vec::new(),
                }),
                None => reader.wrong(name, value, "a table, such as { … },"),
            }
        }
        tables
    }

    /// All fields that were not read, by name; those of nested tables by dotted names.
    pub(super) fn rest(
        self,
        reader: &mut MistakeLog<'_>,
    ) -> Vec<(String, &'t Spanned<DeValue<'t>>)> {
        let mut rest = Vec::new();
        let Some(table) = self.small(reader) else {
            return rest;
        };
        let is_free = |key: &str| !table.asked.contains(&key);
        let free = table.table.iter().filter(|(key, _)| is_free(key.get_ref()));
        for (key, value) in free {
            flatten(key.get_ref().to_string(), value, &mut rest);
        }
        rest
    }

    /// All members, each with its name.
    fn by_name<T>(
        self,
        mut read: impl FnMut(&str, &'t Spanned<DeValue<'t>>) -> Option<T>,
    ) -> Vec<(String, Span, T)> {
        let members = self.table.iter().filter_map(|(key, value)| {
            Some((
                key.get_ref().to_string(),
                key.span(),
                read(key.get_ref(), value)?,
            ))
        });
        members.collect()
    }

    /// The table, if it is within the limit.
    fn small(self, reader: &mut MistakeLog<'_>) -> Option<Self> {
        reader
            .expect_few("this table", self.table.len(), self.span())
            .then_some(self)
    }

    /// All members, which are tables.
    pub(super) fn tables_by_name(self, reader: &mut MistakeLog<'_>) -> Vec<(String, Span, Self)> {
        let Some(table) = self.small(reader) else {
            return Vec::new();
        };
        table.by_name(|name, value| {
            let table = Self::of(value);
            if table.is_none() {
                reader.wrong(name, value, "a table, such as { … },");
            }
            table
        })
    }

    /// All members, which are paths.
    pub(super) fn paths_by_name(self, reader: &mut MistakeLog<'_>) -> Vec<(String, Span, Path)> {
        let Some(table) = self.small(reader) else {
            return Vec::new();
        };
        table.by_name(|name, value| reader.path_of(name, value))
    }

    /// All members, which are texts.
    pub(super) fn strings_by_name(
        self,
        reader: &mut MistakeLog<'_>,
    ) -> Vec<(String, Span, String)> {
        let Some(table) = self.small(reader) else {
            return Vec::new();
        };
        table.by_name(|name, value| reader.text_of(name, value).map(|(text, _)| text.to_owned()))
    }

    /// All members, which are texts or lists of them, with names that last as long as the program.
    pub(super) fn lists_by_name(
        self,
        reader: &mut MistakeLog<'_>,
    ) -> Vec<(&'static str, &'static [&'static str])> {
        let Some(table) = self.small(reader) else {
            return Vec::new();
        };
        let lists = table.by_name(|name, value| {
            let items = value.get_ref().as_array();
            let items = items.map_or_else(|| vec![value], |items| items.iter().collect());
            let texts = items
                .into_iter()
                .filter_map(|item| reader.text_of(name, item));
            Some(texts.map(|(text, _)| leak(text)).collect::<Vec<_>>())
        });
        let lists = lists.into_iter();
        lists
            .map(|(name, _, list)| (leak(&name), &*list.leak()))
            .collect()
    }

    /// As [`Self::rest`], with values that are paths.
    pub(super) fn paths(self, reader: &mut MistakeLog<'_>) -> Vec<(String, Path)> {
        let rest = self.rest(reader).into_iter();
        rest.filter_map(|(name, value)| reader.path_of(&name, value).map(|path| (name, path)))
            .collect()
    }

    /// Reports the fields that were not read.
    pub(super) fn finish(self, reader: &mut MistakeLog<'_>) {
        let known = self.asked.join(", ");
        for (key, _) in self
            .table
            .iter()
            .filter(|(key, _)| !self.asked.iter().any(|name| key.get_ref() == name))
        {
            let name: String = key.get_ref().chars().take(NAME).collect();
            reader.mistake(
                key.span(),
                format!("`{name}` is not known here; known are {known}"),
            );
        }
    }
}

/// The limit of characters of a name in a message.
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
