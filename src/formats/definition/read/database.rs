//! Parses `[database]` and `[rows_beside]`.

use super::leak;
use super::table::{ByteSpan, MistakeLog, TomlTable};
use super::when::literals;
use crate::formats::definition::head::RowsBeside;
use crate::formats::definition::rule::{
    ColumnTest, ColumnValue, Documents, Joined, RowStore, Store,
};

pub(super) fn store(table: &mut TomlTable<'_>) -> Option<Store> {
    let mut inner = table.table("database")?;
    if inner.has("list") || inner.has("read") {
        return documents(inner).map(Store::Documents);
    }
    let sessions = inner.word("sessions");
    let id = inner.word("id").unwrap_or("id");
    let title = inner.word("title");
    let untitled = inner.word("untitled").unwrap_or("");
    let parent = inner.word("parent");
    let rows = inner.word("rows");
    let changed = inner.word("changed");
    let updated = inner.words("updated");
    let mut session = inner.words("session");
    if session.is_empty() {
        session.push("session_id");
    }
    let index = inner.is("index");
    let has = inner.strings("has");
    let has = has
        .into_iter()
        .filter_map(|column| column_of(table.log, column))
        .collect();
    let with = inner
        .tables("with")
        .into_iter()
        .filter_map(joined)
        .collect();
    let continues = inner.tables("continues").into_iter();
    let continues = continues.map(tests).collect();
    let undone = inner.table("undone").map(tests).unwrap_or_default();
    let span = inner.span();
    inner.finish();
    if rows.is_none() {
        let what = "`database` names a table: rows = \"TABLE\" with the rows of all sessions, and mostly \
                    sessions = \"TABLE\" with a row for each session";
        table.log.mistake(span, what);
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
fn documents(mut table: TomlTable<'_>) -> Option<Documents> {
    let list = query(&mut table, "list");
    let read = query(&mut table, "read");
    let has = table.strings("has");
    let has: Vec<_> = has
        .into_iter()
        .filter_map(|column| column_of(table.log, column))
        .collect();
    let span = table.span();
    table.finish();
    let is_named = !has.is_empty() && read.is_none_or(|read| read.contains(":session"));
    let (Some(list), Some(read), true) = (list, read, is_named) else {
        let what = "documents of a database are written as { has = [\"TABLE.COLUMN\"], list = \"SELECT ID, TITLE, \
                    CHANGED, PARENT FROM …\", read = \"SELECT DOCUMENT FROM … WHERE … = :session\" }";
        table.log.mistake(span, what);
        return None;
    };
    Some(Documents { list, read, has })
}

/// Parses a query. It must be a single SELECT.
fn query(table: &mut TomlTable<'_>, key: &'static str) -> Option<&'static str> {
    let (text, span) = table.string(key)?;
    let text = text.trim();
    let is_query = text
        .get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case("select"));
    if !is_query || text.contains([';', '?']) {
        let what = "a query is one SELECT without `;` and `?`; the session is called `:session`";
        table.log.mistake(span, what);
        return None;
    }
    Some(leak(text))
}

pub(super) fn rows_beside(mut table: TomlTable<'_>) -> Option<RowsBeside> {
    let database = table.string("database").map(|(place, _)| place.to_owned());
    let rows = table.word("table");
    let session = table.word("session");
    let span = table.span();
    table.finish();
    let (Some(database), Some(rows), Some(session)) = (database, rows, session) else {
        let what = "rows beside the session are written as { database = \"{dir}/FILE\", table = \"TABLE\", session = \
                    \"COLUMN\" }";
        table.log.mistake(span, what);
        return None;
    };
    Some(RowsBeside {
        database,
        table: rows,
        session,
    })
}

/// Parses a table whose rows are lists in the rows of another one.
fn joined(mut table: TomlTable<'_>) -> Option<Joined> {
    let name = table.word("name");
    let own = table.word("table");
    let on = table.word("on");
    let to = table
        .string("to")
        .and_then(|column| column_of(table.log, column));
    let span = table.span();
    table.finish();
    let (Some(own), Some(on), Some(to)) = (own, on, to) else {
        let what = "a table beside the rows is written as { table = \"TABLE\", on = \"ITS COLUMN\", to = \
                    \"TABLE.COLUMN\" }";
        table.log.mistake(span, what);
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
    log: &MistakeLog<'_>,
    (text, span): (&str, ByteSpan),
) -> Option<(&'static str, &'static str)> {
    let column = text
        .split_once('.')
        .map(|(table, column)| (leak(table), leak(column)));
    if column.is_none() {
        log.mistake(span, format!("`{text}` is written as \"table.column\""));
    }
    column
}

/// Parses tests of a row: `column = value`, `has`, `lacks`, `same`. A column of the parent begins
/// with `parent.`; a member of an object in a column follows a colon.
fn tests(mut table: TomlTable<'_>) -> Vec<ColumnTest> {
    let mut tests = Vec::new();
    for (name, wanted) in [
        ("has", ColumnValue::There),
        ("lacks", ColumnValue::Missing),
        ("same", ColumnValue::AsInParent),
    ] {
        let columns = table.strings(name).into_iter();
        tests.extend(columns.map(|(column, _)| ColumnTest::of(column, wanted.clone())));
    }
    for (name, value) in table.unread_fields() {
        let values = literals(table.log, &name, value);
        tests.push(ColumnTest::of(&name, ColumnValue::OneOf(values)));
    }
    tests
}
