//! SQL queries for the sessions of a database. Usually one table has a row per session and another
//! the rows of all sessions. If there is only the latter, the sessions are the ids in its rows.
//! Rows of further tables become lists in the rows that they refer to.
//!
//! A row becomes a record with a member for each column that the table has, in any version of the
//! agent. Rows are returned in the order of writing.

use itertools::Itertools as _;

use super::head::RowsBeside;
use super::rule::{ColumnTest, ColumnValue, Documents, Joined, RowStore, Store};
use super::when::Literal;
use crate::formats::tables::{Queries, RowListing, TableRows, Tables};

/// The number of newest rows in a preview.
const NEWEST: u32 = 60;
/// The maximum number of columns, due to the limit of arguments of SQLite functions.
const COLUMNS: usize = 59;
/// The maximum number of joined lists.
const LISTS: usize = 3;
/// A blob of at most this many bytes is taken as an id.
const ID: usize = 64;
/// The member of a session row that holds the id of the session it continues.
const CONTINUES: &str = "continues";

/// The queries for a database; `None` if it lacks the tables.
pub(super) fn queries(store: &Store, agent: &str, tables: &Tables) -> Option<Queries> {
    match store {
        Store::Rows(store) => of_rows(store, agent, tables),
        Store::Documents(store) => {
            let has = |(table, column): &(&str, &str)| tables.has_columns(table, &[column]);
            store
                .has
                .iter()
                .all(has)
                .then(|| of_documents(store, agent))
        }
    }
}

/// The queries for sessions that are documents: one row each, which is rewritten.
fn of_documents(store: &Documents, agent: &str) -> Queries {
    let listed = format!(
        "WITH listed (id, title, updated, parent) AS ({})",
        store.list
    );
    let document = format!(
        "document (own) AS ({})",
        store.read.replace(":session", "?1")
    );
    let read = format!("WITH {document}");
    let updated = moment("updated");
    let table = store.has.first().map_or("documents", |(table, _)| *table);
    Queries {
        reason: format!("a database with {agent}'s {table}"),
        heads: format!(
            "{listed} SELECT CAST(id AS TEXT), NULL, title, {updated}, CAST(parent AS TEXT) FROM listed \
             ORDER BY 4 DESC, 1"
        ),
        named: format!("{listed} SELECT CAST(id AS TEXT) FROM listed WHERE id = ?1"),
        count: format!("{read} SELECT NULL FROM document WHERE 0"),
        children: Some(format!(
            "{listed} SELECT CAST(id AS TEXT) FROM listed WHERE parent = ?1 AND id <> ?1 ORDER BY updated"
        )),
        facts: None,
        generation: None,
        tables: vec![TableRows {
            name: table,
            one: format!("{read} SELECT own FROM document WHERE ?2 = 0"),
            is_line: true,
        }],
        listing: RowListing {
            count: format!("{read} SELECT count(*) FROM document"),
            single: Some(format!("{read} SELECT 0, 0, 0, 0, -1, '' FROM document")),
            strays: None,
            portion: format!("{read} SELECT 0, 0 FROM document WHERE ?2 = ?3 AND ?4 < 0"),
            beyond: Vec::new(),
            places: format!("{read} SELECT 0, 0 FROM document"),
        },
        abandoned: None,
        newest: format!("{read} SELECT 0, 0 FROM document"),
        archive: None,
    }
}

fn of_rows(store: &RowStore, agent: &str, tables: &Tables) -> Option<Queries> {
    let has = |(table, column): &(&str, &str)| tables.has_columns(table, &[column]);
    let session: Vec<String> = store
        .session
        .iter()
        .filter(|column| has(&(store.rows, **column)))
        .map(|name| quoted(name))
        .collect();
    let is_ours = !session.is_empty() && store.sessions.is_none_or(|table| has(&(table, store.id)));
    if !is_ours || !store.has.iter().all(has) {
        return None;
    }
    let shape = QueryBuilder { store, tables };
    let all = format!(
        "FROM {} WHERE {} = ?1",
        quoted(store.rows),
        first_of(&session)
    );
    Some(match store.sessions {
        Some(sessions) => shape.of_two(sessions, agent, &all),
        None => shape.of_one(&first_of(&session), agent, &all),
    })
}

/// The query for the rows about one session in a database beside its file; `None` if the database
/// lacks the table.
pub(crate) fn companion_query(rows: &RowsBeside, tables: &Tables) -> Option<String> {
    let (table, session) = (quoted(rows.table), quoted(rows.session));
    tables.has_columns(rows.table, &[rows.session]).then(|| {
        let row = object(tables, rows.table, "");
        let all = format!("SELECT {row} AS own FROM {table} WHERE {session} = ?1 ORDER BY rowid");
        let name = rows.table.replace('\'', "''");
        format!(
            "SELECT json_object('{name}', json((SELECT json_group_array(json(own)) FROM ({all}))))"
        )
    })
}

/// An expression for the first non-empty one of these columns.
fn first_of(columns: &[String]) -> String {
    match columns {
        [one] => one.clone(),
        several => {
            let filled: Vec<String> = several
                .iter()
                .map(|column| format!("nullif({column}, '')"))
                .collect();
            format!("CAST(coalesce({}) AS TEXT)", filled.join(", "))
        }
    }
}

/// Builds the queries, for the columns that the database's version of the tables has.
struct QueryBuilder<'s> {
    store: &'s RowStore,
    tables: &'s Tables,
}

impl QueryBuilder<'_> {
    /// The queries for a table of sessions and a table of rows.
    fn of_two(&self, sessions: &'static str, agent: &str, all: &str) -> Queries {
        const SESSION: usize = 0;
        const ROW: usize = 1;
        let store = self.store;
        let table = quoted(sessions);
        let own = format!("FROM {table} WHERE {} = ?1", quoted(store.id));
        let id = format!("CAST({} AS TEXT)", quoted(store.id));
        let title = format!(
            "nullif({}, '{}')",
            self.column_or_null(sessions, store.title),
            store.untitled.replace('\'', "''")
        );
        let updated = self.first_column(sessions, &store.updated);
        let updated = moment(&updated);
        let parent = self.parent(sessions);
        Queries {
            reason: format!("a database with {agent}'s {sessions} and {}", store.rows),
            heads: format!(
                "SELECT {id}, NULL, {title}, {updated}, {parent} FROM {table} ORDER BY 4 DESC, rowid DESC"
            ),
            named: format!("SELECT {id} {own}"),
            count: format!("SELECT count(*) {all}"),
            children: (parent != "NULL").then(|| {
                format!(
                    "SELECT {id} FROM {table} WHERE {parent} = ?1 AND {id} <> ?1 ORDER BY rowid"
                )
            }),
            facts: None,
            generation: self.undone(all),
            tables: vec![self.rows_of(sessions, &own), self.rows_of(store.rows, all)],
            listing: RowListing {
                count: format!("SELECT (SELECT count(*) {own}) + (SELECT count(*) {all})"),
                single: Some(format!("SELECT {SESSION}, rowid, 0, 0, -1, '' {own}")),
                strays: None,
                portion: self.portion(ROW, all),
                beyond: vec![(ROW, self.beyond(ROW, all))],
                places: format!("{} UNION ALL {}", places(SESSION, &own), places(ROW, all)),
            },
            abandoned: None,
            newest: format!(
                "SELECT * FROM (SELECT {SESSION}, rowid {own}) UNION ALL {}",
                newest(ROW, all)
            ),
            archive: None,
        }
    }

    /// The queries for a single table of rows.
    fn of_one(&self, session: &str, agent: &str, all: &str) -> Queries {
        const ROW: usize = 0;
        let store = self.store;
        let table = quoted(store.rows);
        let title = self.column_or_null(store.rows, store.title);
        let updated = moment(&self.first_column(store.rows, &store.updated));
        Queries {
            reason: format!("a database with {agent} as {}", store.rows),
            heads: format!(
                "SELECT {session}, NULL, max({title}), max({updated}), NULL FROM {table} \
                 WHERE {session} IS NOT NULL GROUP BY 1 ORDER BY 4 DESC, max(rowid) DESC"
            ),
            named: format!("SELECT DISTINCT {session} {all}"),
            count: format!("SELECT count(*) {all}"),
            children: None,
            facts: None,
            generation: self.undone(all),
            tables: vec![self.rows_of(store.rows, all)],
            listing: RowListing {
                count: format!("SELECT count(*) {all}"),
                single: None,
                strays: None,
                portion: self.portion(ROW, all),
                beyond: vec![(ROW, self.beyond(ROW, all))],
                places: places(ROW, all),
            },
            abandoned: None,
            newest: newest(ROW, all),
            archive: None,
        }
    }

    /// The column, or `NULL` if the table lacks it.
    fn column_or_null(&self, table: &str, column: Option<&'static str>) -> String {
        let column = column.filter(|column| self.tables.has_columns(table, &[column]));
        column.map_or_else(|| "NULL".to_owned(), quoted)
    }

    /// An expression for the first non-empty one of the columns that the table has.
    fn first_column(&self, table: &str, columns: &[&'static str]) -> String {
        let has = |column: &&&str| self.tables.has_columns(table, &[**column]);
        let known: Vec<String> = columns
            .iter()
            .filter(has)
            .map(|column| quoted(column))
            .collect();
        match known.as_slice() {
            [] => "NULL".to_owned(),
            [one] => one.clone(),
            several => format!("coalesce({})", several.join(", ")),
        }
    }

    /// An expression for the session's parent, unless the session continues the parent.
    fn parent(&self, sessions: &str) -> String {
        let parent = self.column_or_null(sessions, self.store.parent);
        self.continued(sessions).map_or_else(
            || parent.clone(),
            |continued| format!("CASE WHEN {continued} THEN NULL ELSE {parent} END"),
        )
    }

    /// The condition that a session continues another one; `None` if no session does.
    fn continued(&self, sessions: &str) -> Option<String> {
        let of = self
            .store
            .parent
            .filter(|column| self.tables.has_columns(sessions, &[column]))?;
        let ways = self
            .store
            .continues
            .iter()
            .filter_map(|tests| self.conjunction(tests, sessions, "parent"));
        let ways: Vec<String> = ways.collect();
        let (table, id) = (quoted(sessions), quoted(self.store.id));
        let parent = format!("parent.{id} = {table}.{}", quoted(of));
        let ways = (!ways.is_empty()).then(|| ways.join(" OR "))?;
        Some(format!(
            "EXISTS (SELECT 1 FROM {table} AS parent WHERE {parent} AND ({ways}))"
        ))
    }

    /// A query for the number of rows that the agent has undone in a session. When it changes, the
    /// session is read again.
    fn undone(&self, all: &str) -> Option<String> {
        let hold = self.conjunction(&self.store.undone, self.store.rows, "")?;
        Some(format!("SELECT count(*) {all} AND {hold}"))
    }

    /// The conjunction of tests; `None` if there are none or a column is missing.
    fn conjunction(&self, tests: &[ColumnTest], table: &str, parent: &str) -> Option<String> {
        let hold: Option<Vec<String>> = tests
            .iter()
            .map(|test| {
                let is_known = self.tables.has_columns(table, &[test.column]);
                is_known.then(|| test_sql(test, &quoted(table), parent))
            })
            .collect();
        hold.filter(|hold| !hold.is_empty())
            .map(|hold| format!("({})", hold.join(" AND ")))
    }

    /// The query that lists rows. The size of a row includes its joined lists.
    fn listed(&self, number: usize, all: &str) -> String {
        let table = self.store.rows;
        let changed = match self.column_or_null(table, self.store.changed).as_str() {
            "NULL" => "rowid".to_owned(),
            column => format!("coalesce({}, 0)", moment(column)),
        };
        let lists = self.lists(table).map(|list| {
            let own = sizes(self.tables, list.table);
            format!(" + coalesce((SELECT sum({own}) {}), 0)", list_of(list))
        });
        let (bytes, lists) = (sizes(self.tables, table), lists.collect::<String>());
        let id = self.column_or_null(table, Some("id"));
        format!(
            "SELECT {number}, rowid, {changed}, {bytes}{lists}, rowid, '', {id} {all} AND rowid > ?2"
        )
    }

    fn portion(&self, number: usize, all: &str) -> String {
        format!(
            "{} AND ?3 IS NOT NULL ORDER BY rowid LIMIT ?4",
            self.listed(number, all)
        )
    }

    fn beyond(&self, number: usize, all: &str) -> String {
        format!("{} ORDER BY rowid LIMIT ?3", self.listed(number, all))
    }

    fn rows_of(&self, name: &'static str, from: &str) -> TableRows {
        let lists = self.lists(name).map(|list| {
            let row = object(self.tables, list.table, "");
            format!(
                ", '{}', json((SELECT json_group_array(json(own)) FROM (SELECT {row} AS own {} ORDER BY rowid)))",
                list.name.replace('\'', "''"),
                list_of(list)
            )
        });
        let mut further: String = lists.collect();
        if let (Some(parent), Some(continued)) = (self.store.parent, self.continued(name))
            && self.store.sessions == Some(name)
        {
            further.push_str(&format!(
                ", '{CONTINUES}', CASE WHEN {continued} THEN {} END",
                quoted(parent)
            ));
        }
        let record = object(self.tables, name, &further);
        TableRows {
            name,
            one: format!("SELECT {record} {from} AND rowid = ?2"),
            is_line: true,
        }
    }

    /// The tables whose rows become lists in the rows of this table.
    fn lists<'t>(&'t self, table: &'t str) -> impl Iterator<Item = &'t Joined> {
        let has = |table: &str, column: &str| self.tables.has_columns(table, &[column]);
        let of_table = self
            .store
            .with
            .iter()
            .filter(move |list| list.to.0 == table);
        of_table
            .filter(move |list| has(list.table, list.on) && has(list.to.0, list.to.1))
            .take(LISTS)
    }
}

/// The SQL clause that selects the rows of a list.
fn list_of(list: &Joined) -> String {
    let (table, (row, id)) = (quoted(list.table), list.to);
    format!(
        "FROM {table} WHERE {table}.{} = {}.{}",
        quoted(list.on),
        quoted(row),
        quoted(id)
    )
}

fn places(number: usize, from: &str) -> String {
    format!("SELECT {number}, rowid {from}")
}

fn newest(number: usize, all: &str) -> String {
    format!(
        "SELECT * FROM (SELECT * FROM (SELECT {number}, rowid AS at {all} ORDER BY rowid DESC LIMIT {NEWEST}) \
         ORDER BY at)"
    )
}

/// An expression for a row as JSON. A short blob is written as an id, a longer one as its size.
fn object(tables: &Tables, table: &str, lists: &str) -> String {
    let field = |column: &String| {
        let (name, column) = (column.replace('\'', "''"), quoted(column));
        format!(
            "'{name}', CASE typeof({column}) WHEN 'blob' THEN \
             iif(length({column}) <= {ID}, hex({column}), length({column}) || ' bytes') ELSE {column} END"
        )
    };
    format!(
        "json_object({}{lists})",
        columns(tables, table).map(field).join(", ")
    )
}

/// An expression for the size of a row in bytes.
fn sizes(tables: &Tables, table: &str) -> String {
    let size = |column: &String| format!("coalesce(octet_length({}), 0)", quoted(column));
    columns(tables, table).map(size).join(" + ")
}

fn columns<'t>(tables: &'t Tables, table: &str) -> impl Iterator<Item = &'t String> {
    let known = tables.0.iter().find(|known| known.name == table);
    known
        .into_iter()
        .flat_map(|known| &known.columns)
        .take(COLUMNS)
}

/// An expression for a time in milliseconds, from a text in UTC, seconds or milliseconds.
fn moment(column: &str) -> String {
    format!(
        "CASE typeof({column}) WHEN 'text' THEN unixepoch({column}) * 1000 \
         ELSE CAST({column} * iif(abs({column}) < 1e11, 1000, 1) AS INTEGER) END"
    )
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn test_sql(test: &ColumnTest, table: &str, parent: &str) -> String {
    let of = |row: &str| {
        let column = format!("{row}.{}", quoted(test.column));
        test.member.map_or_else(
            || column.clone(),
            |member| {
                let path = format!("$.\"{member}\"").replace('\'', "''");
                format!("json_extract(CASE WHEN json_valid({column}) THEN {column} END, '{path}')")
            },
        )
    };
    let value = of(if test.of_parent { parent } else { table });
    match &test.wanted {
        ColumnValue::There => format!("{value} IS NOT NULL"),
        ColumnValue::Missing => format!("{value} IS NULL"),
        ColumnValue::AsInParent => format!("{value} = {}", of(parent)),
        ColumnValue::OneOf(values) => {
            let values: Vec<String> = values.iter().map(literal).collect();
            format!("{value} IN ({})", values.join(", "))
        }
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Literal::Number(number) => number.to_string(),
        Literal::Bool(flag) => u8::from(*flag).to_string(),
    }
}
