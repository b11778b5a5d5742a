//! Parses `[database]` and `[rows_beside]`.

use super::leak;
use super::table::{MistakeLog, Span, TomlTable};
use super::when::literals;
use crate::formats::definition::head::RowsBeside;
use crate::formats::definition::rule::{
    ColumnTest, ColumnValue, Documents, Joined, RowStore, Store,
};

pub(super) fn store(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> Option<Store> {
    let mut inner = table.table(reader, "database")?;
    if inner.has("list") || inner.has("read") {
        return documents(reader, inner).map(Store::Documents);
    }
    let mut name =
        |reader: &mut MistakeLog<'_>, key| inner.string(reader, key).map(|(name, _)| leak(name));
    let sessions = name(reader, "sessions");
    let id = name(reader, "id").unwrap_or("id");
    let (title, untitled) = (
        name(reader, "title"),
        name(reader, "untitled").unwrap_or(""),
    );
    let parent = name(reader, "parent");
    let rows = name(reader, "rows");
    let changed = name(reader, "changed");
    let columns =
        |reader: &mut MistakeLog<'_>, inner: &mut TomlTable<'_>, key| -> Vec<&'static str> {
            inner
                .strings(reader, key)
                .into_iter()
                .map(|(column, _)| leak(column))
                .collect()
        };
    let updated = columns(reader, &mut inner, "updated");
    let mut session = columns(reader, &mut inner, "session");
    if session.is_empty() {
        session.push("session_id");
    }
    let index = inner.bool(reader, "index").unwrap_or(false);
    let has = inner.strings(reader, "has");
    let has = has
        .into_iter()
        .filter_map(|column| column_of(reader, column))
        .collect();
    let with = inner
        .tables(reader, "with")
        .into_iter()
        .filter_map(|table| joined(reader, table))
        .collect();
    let continues = inner.tables(reader, "continues").into_iter();
    let continues = continues.map(|table| tests(reader, table)).collect();
    let undone = inner
        .table(reader, "undone")
        .map(|table| tests(reader, table))
        .unwrap_or_default();
    let span = inner.span();
    inner.finish(reader);
    if rows.is_none() {
        let what = "`database` names a table: rows = \"TABLE\" with the rows of all sessions, and mostly \
                    sessions = \"TABLE\" with a row for each session";
        reader.mistake(span, what.to_owned());
    }
    let rows = rows?;
    Some(Store::Rows(Box::new(RowStore {
        sessions,
        id,
        title,
        untitled,
        updated,
        parent,
        continues,
        rows,
        session,
        changed,
        undone,
        index,
        has,
        with,
    })))
}

/// Parses a store of documents.
fn documents(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<Documents> {
    let list = query(reader, &mut table, "list");
    let read = query(reader, &mut table, "read");
    let has = table.strings(reader, "has");
    let has: Vec<_> = has
        .into_iter()
        .filter_map(|column| column_of(reader, column))
        .collect();
    let span = table.span();
    table.finish(reader);
    let is_named = !has.is_empty() && read.is_none_or(|read| read.contains(":session"));
    let (Some(list), Some(read), true) = (list, read, is_named) else {
        let what = "documents of a database are written as { has = [\"TABLE.COLUMN\"], list = \"SELECT ID, TITLE, \
                    CHANGED, PARENT FROM …\", read = \"SELECT DOCUMENT FROM … WHERE … = :session\" }";
        reader.mistake(span, what.to_owned());
        return None;
    };
    Some(Documents { list, read, has })
}

/// Parses a query, which is one SELECT.
fn query(
    reader: &mut MistakeLog<'_>,
    table: &mut TomlTable<'_>,
    key: &'static str,
) -> Option<&'static str> {
    let (text, span) = table.string(reader, key)?;
    let text = text.trim();
    let is_query = text
        .get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case("select"));
    if !is_query || text.contains([';', '?']) {
        let what = "a query is one SELECT without `;` and `?`; the session is called `:session`";
        reader.mistake(span, what.to_owned());
        return None;
    }
    Some(leak(text))
}

pub(super) fn rows_beside(
    reader: &mut MistakeLog<'_>,
    mut table: TomlTable<'_>,
) -> Option<RowsBeside> {
    let database = table
        .string(reader, "database")
        .map(|(place, _)| place.to_owned());
    let rows = table.string(reader, "table").map(|(name, _)| leak(name));
    let session = table.string(reader, "session").map(|(name, _)| leak(name));
    let span = table.span();
    table.finish(reader);
    let (Some(database), Some(rows), Some(session)) = (database, rows, session) else {
        let what = "rows beside the session are written as { database = \"{dir}/FILE\", table = \"TABLE\", session = \
                    \"COLUMN\" }";
        reader.mistake(span, what.to_owned());
        return None;
    };
    Some(RowsBeside {
        database,
        table: rows,
        session,
    })
}

/// Parses a table whose rows are lists in the rows of another one.
fn joined(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<Joined> {
    let name = table.string(reader, "name").map(|(name, _)| leak(name));
    let own = table.string(reader, "table").map(|(table, _)| leak(table));
    let on = table.string(reader, "on").map(|(column, _)| leak(column));
    let to = table
        .string(reader, "to")
        .and_then(|column| column_of(reader, column));
    let span = table.span();
    table.finish(reader);
    let (Some(own), Some(on), Some(to)) = (own, on, to) else {
        let what = "a table beside the rows is written as { table = \"TABLE\", on = \"ITS COLUMN\", to = \
                    \"TABLE.COLUMN\" }";
        reader.mistake(span, what.to_owned());
        return None;
    };
    Some(Joined {
        table: own,
        on,
        to,
        name: name.unwrap_or(own),
    })
}

fn column_of(
    reader: &mut MistakeLog<'_>,
    (text, span): (&str, Span),
) -> Option<(&'static str, &'static str)> {
    let column = text
        .split_once('.')
        .map(|(table, column)| (leak(table), leak(column)));
    if column.is_none() {
        reader.mistake(span, format!("`{text}` is written as \"table.column\""));
    }
    column
}

/// Parses conditions on a row: `column = value`, `has`, `lacks`, `same`. A column of the parent begins with `parent.`, a
/// member of an object in a column follows a colon.
fn tests(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Vec<ColumnTest> {
    let mut tests = Vec::new();
    for (name, wanted) in [
        ("has", ColumnValue::There),
        ("lacks", ColumnValue::Missing),
        ("same", ColumnValue::AsInParent),
    ] {
        let columns = table.strings(reader, name).into_iter();
        tests.extend(columns.map(|(column, _)| ColumnTest::of(column, wanted.clone())));
    }
    for (name, value) in table.rest(reader) {
        let values = literals(reader, &name, value);
        tests.push(ColumnTest::of(&name, ColumnValue::OneOf(values)));
    }
    tests
}
