//! How sessions are read from a database by two tables: one with a row for each session, and one with the rows of all.
//!
//! A row is a record with a member for each column that the table has, whatever its generation. Rows come in the order in
//! which they were written.

use super::rule::Store;
use crate::formats::tables::{Edited, Growth, Queries, TableRows, Tables};

/// The rows that a first look shows.
const NEWEST: u32 = 60;
/// Functions of SQLite take no more columns than this.
const COLUMNS: usize = 60;
/// Numbers of the tables.
const SESSION: usize = 0;
const ROW: usize = 1;

/// How the sessions of a database are read; `None` if these are not its tables.
pub(super) fn queries(store: &Store, agent: &str, tables: &Tables) -> Option<Queries> {
    let has = |(table, column): &(&str, &str)| tables.has_columns(table, &[column]);
    let is_ours = has(&(store.sessions, store.id)) && has(&(store.rows, store.session));
    if !is_ours || !store.has.iter().all(has) {
        return None;
    }
    let known = |table: &str, column: Option<&'static str>| {
        let column = column.filter(|column| tables.has_columns(table, &[column]));
        column.map_or_else(|| "NULL".to_owned(), quoted)
    };
    let (sessions, rows) = (quoted(store.sessions), quoted(store.rows));
    let own = format!("FROM {sessions} WHERE {} = ?1", quoted(store.id));
    let all = format!("FROM {rows} WHERE {} = ?1", quoted(store.session));
    let id = format!("CAST({} AS TEXT)", quoted(store.id));
    let title =
        format!("nullif({}, '{}')", known(store.sessions, store.title), store.untitled.replace('\'', "''"));
    let updated = moment(&known(store.sessions, store.updated));
    let parent = known(store.sessions, store.parent);
    let row = |table: &str, from: &str| format!("SELECT {} {from} AND rowid = ?2", record(tables, table));
    let listed = |table: &str, changed: Option<&'static str>| {
        format!(
            "coalesce({}, 0) AS changed, {} AS bytes",
            moment(&known(table, changed)),
            bytes(tables, table)
        )
    };
    let session = format!("SELECT {SESSION}, rowid, {}, -1, '' {own}", listed(store.sessions, store.updated));
    let of_rows = listed(store.rows, store.changed);
    let some = |condition: &str| format!("SELECT {ROW}, rowid, {of_rows}, rowid, '' {all} {condition}");
    Some(Queries {
        reason: format!("a database with {agent}'s {} and {}", store.sessions, store.rows),
        heads: format!(
            "SELECT {id}, NULL, {title}, {updated}, {parent} FROM {sessions} ORDER BY 4 DESC, rowid DESC"
        ),
        named: format!("SELECT {id} {own}"),
        count: format!("SELECT count(*) {all}"),
        children: (parent != "NULL").then(|| {
            format!("SELECT {id} FROM {sessions} WHERE {parent} = ?1 AND {id} <> ?1 ORDER BY rowid")
        }),
        facts: None,
        generation: None,
        tables: vec![
            TableRows { name: store.sessions, one: row(store.sessions, &own), is_line: true },
            TableRows { name: store.rows, one: row(store.rows, &all), is_line: true },
        ],
        growth: Growth::Edited(Box::new(Edited {
            count: format!("SELECT (SELECT count(*) {own}) + (SELECT count(*) {all})"),
            strays: session.clone(),
            portion: some("AND rowid > ?2 AND ?3 IS NOT NULL ORDER BY rowid LIMIT ?4"),
            recent: format!(
                "SELECT * FROM ({session}) UNION ALL SELECT * FROM (SELECT * FROM ({}) ORDER BY 5)",
                some("ORDER BY rowid DESC LIMIT ?2")
            ),
            leading: vec![ROW],
            exists: vec![format!("SELECT 1 {own} AND rowid = ?2"), format!("SELECT 1 {all} AND rowid = ?2")],
            beyond: vec![(
                ROW,
                format!("SELECT rowid, {of_rows} {all} AND rowid > ?2 ORDER BY rowid LIMIT ?3"),
            )],
            places: format!("SELECT {SESSION}, rowid, 0, 0 {own} UNION ALL SELECT {ROW}, rowid, 0, 0 {all}"),
        })),
        newest: format!(
            "SELECT * FROM (SELECT {SESSION}, rowid {own}) UNION ALL SELECT * FROM (SELECT * FROM \
             (SELECT {ROW}, rowid AS at {all} ORDER BY rowid DESC LIMIT {NEWEST}) ORDER BY at)"
        ),
        archive: None,
    })
}

/// A row as JSON. Bytes that are no text are told by their number.
fn record(tables: &Tables, table: &str) -> String {
    let field = |column: &String| {
        let (name, column) = (column.replace('\'', "''"), quoted(column));
        format!(
            "'{name}', CASE typeof({column}) WHEN 'blob' THEN length({column}) || ' bytes' ELSE {column} END"
        )
    };
    format!("json_object({})", columns(tables, table).map(field).collect::<Vec<_>>().join(", "))
}

/// The bytes of a row, by which an edit is seen.
fn bytes(tables: &Tables, table: &str) -> String {
    let size = |column: &String| format!("coalesce(octet_length({}), 0)", quoted(column));
    columns(tables, table).map(size).collect::<Vec<_>>().join(" + ")
}

fn columns<'t>(tables: &'t Tables, table: &str) -> impl Iterator<Item = &'t String> {
    let known = tables.0.iter().find(|known| known.name == table);
    known.into_iter().flat_map(|known| &known.columns).take(COLUMNS)
}

/// A time in milliseconds: of a text in UTC, of seconds or of milliseconds.
fn moment(column: &str) -> String {
    format!(
        "CASE typeof({column}) WHEN 'text' THEN unixepoch({column}) * 1000 \
         ELSE CAST({column} * iif(abs({column}) < 1e11, 1000, 1) AS INTEGER) END"
    )
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
