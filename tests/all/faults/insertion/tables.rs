//! Represents databases as values: each table is a list of its rows, and JSON in a column is
//! parsed.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, params_from_iter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Map, Value, json};

use super::made::ROW;
use crate::databases;

/// The database of a file of SQL, beside it; another file is itself.
pub(super) fn made_of(path: PathBuf) -> PathBuf {
    if path.extension().is_none_or(|extension| extension != "sql") {
        return path;
    }
    let database = path.with_extension("db");
    databases::write(&path, &database);
    database
}

pub(super) fn read(path: &Path) -> Value {
    let connection = Connection::open(path).unwrap();
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut names = connection.prepare(sql).unwrap();
    let names = names
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap()
        .map(Result::unwrap);
    names
        .map(|name| (name.clone(), Value::Array(rows(&connection, &name))))
        .collect::<Map<_, _>>()
        .into()
}

fn rows(connection: &Connection, table: &str) -> Vec<Value> {
    let sql = format!("SELECT rowid AS {ROW}, * FROM {table} ORDER BY rowid");
    let mut statement = connection.prepare(&sql).unwrap();
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let row = |row: &rusqlite::Row<'_>| {
        let cell = |(n, name): (usize, &String)| (name.clone(), value(row.get_ref(n).unwrap()));
        Ok(Value::Object(names.iter().enumerate().map(cell).collect()))
    };
    statement
        .query_map([], row)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

/// What a cell says; bytes that are no text say nothing.
fn value(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            let unpacked = is_packed(bytes).then(|| unpack(bytes));
            let text = str::from_utf8(unpacked.as_deref().unwrap_or(bytes)).unwrap_or_default();
            let json = serde_json::from_str::<Value>(text).ok();
            let lines = || {
                text.lines()
                    .map(|line| serde_json::from_str::<Value>(line).ok())
            };
            let lines = || lines().collect::<Option<Vec<_>>>().map(Value::Array);
            let json = json.or_else(|| unpacked.as_ref().and_then(|_| lines()));
            json.filter(|json| json.is_object() || json.is_array())
                .unwrap_or_else(|| json!(text))
        }
    }
}

fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

fn unpack(bytes: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(bytes)
        .unwrap()
        .read_to_end(&mut unpacked)
        .unwrap();
    unpacked
}

/// What a cell of this column and row is to say, written as it was: packed, or as lines, or as plain JSON.
fn written(
    connection: &Connection,
    (table, name, row): (&str, &str, &Value),
    value: &Value,
) -> Cell {
    let sql = format!("SELECT CAST({name} AS BLOB) FROM {table} WHERE rowid = ?1");
    let before: Option<Vec<u8>> = connection
        .query_row(&sql, [row.as_i64()], |row| row.get(0))
        .unwrap();
    let Some(before) = before.filter(|before| is_packed(before)) else {
        return Cell::Text(value.to_string());
    };
    let is_lines = serde_json::from_slice::<Value>(&unpack(&before)).is_err();
    let text = match value {
        Value::Array(lines) if is_lines => lines
            .iter()
            .flat_map(|line| [line.to_string(), "\n".to_owned()])
            .collect(),
        _ => value.to_string(),
    };
    Cell::Blob(compress_to_vec(text.as_bytes(), CompressionLevel::Fastest))
}

/// Writes a database of these bytes with the JSON and the new rows of the value.
pub(super) fn write(bytes: &[u8], root: &Value, path: &Path) {
    fs::write(path, bytes).unwrap();
    let connection = Connection::open(path).unwrap();
    // Nothing is to outlast the test.
    connection
        .pragma_update(None, "synchronous", "off")
        .unwrap();
    let transaction = connection.unchecked_transaction().unwrap();
    for (table, rows) in root.as_object().unwrap() {
        let mut before = &Value::Null;
        for row in rows.as_array().unwrap() {
            if row.get(ROW).is_some() {
                before = row;
                edit(&transaction, table, row);
            } else {
                add(&transaction, table, row, before);
            }
        }
    }
    transaction.commit().unwrap();
}

fn edit(connection: &Connection, table: &str, row: &Value) {
    for (name, value) in row.as_object().unwrap() {
        if value.is_object() || value.is_array() {
            let sql = format!(
                "UPDATE {table} SET {name} = CASE typeof({name}) WHEN 'blob' THEN CAST(?1 AS BLOB) ELSE ?1 END \
                 WHERE rowid = ?2"
            );
            let value = written(connection, (table, name, &row[ROW]), value);
            connection
                .execute(&sql, (value, row[ROW].as_i64()))
                .unwrap();
        }
    }
}

/// Adds a row: what it does not say and must not lack is as in the row before it.
fn add(connection: &Connection, table: &str, row: &Value, before: &Value) {
    let sql = format!(
        "SELECT name, (\"notnull\" AND dflt_value IS NULL) OR pk FROM pragma_table_info('{table}')"
    );
    let mut columns = connection.prepare(&sql).unwrap();
    let columns = columns
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let columns: Vec<(String, bool)> = columns.map(Result::unwrap).collect();
    let has_column = |name: &String| columns.iter().any(|(column, _)| column == name);
    let more: Map<String, Value> = row
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| !has_column(name))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    let said = json!(Value::from(more.clone()).to_string());
    let (mut names, mut values, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for (name, is_needed) in &columns {
        let value = match (name.as_str(), &before[name], &row[name]) {
            ("id" | "row_id", Value::Number(_), _) => continue,
            ("id", id, _) => json!(format!(
                "{}{}",
                id.as_str().unwrap(),
                more_of(&row.to_string())
            )),
            ("seq" | "node_id", ..) => {
                names.push(name.as_str());
                values.push(format!("(SELECT max({name}) + 1 FROM {table})"));
                continue;
            }
            // What has no column stands in the one that holds JSON or the text.
            ("data", Value::Object(_) | Value::String(_), Value::Null) => Value::from(more.clone()),
            ("content", ..) => said.clone(),
            (_, Value::Array(_), Value::Null) | ("parts", _, Value::Null) => {
                json!([{"type": "text", "text": said, "data": {"text": said}}])
            }
            (_, _, Value::Null) if *is_needed => {
                names.push(name);
                values.push(name.clone());
                continue;
            }
            (_, _, Value::Null) => continue,
            (_, _, value) => value.clone(),
        };
        names.push(name);
        values.push("?".to_owned());
        cells.push(match value {
            Value::Number(number) => number
                .as_i64()
                .map_or_else(|| Cell::Real(number.as_f64().unwrap()), Cell::Integer),
            Value::String(text) => Cell::Text(text),
            value => written(connection, (table, name, &before[ROW]), &value),
        });
    }
    let sql = format!(
        "INSERT INTO {table} ({}) SELECT {} FROM {table} WHERE rowid = {}",
        names.join(", "),
        values.join(", "),
        before[ROW]
    );
    connection.execute(&sql, params_from_iter(cells)).unwrap();
}

/// What makes an id another one, behind the same place: the word that is in this row alone.
fn more_of(row: &str) -> &str {
    let at = row.find("probe").unwrap();
    &row[at..at + row[at..].find("end").unwrap()]
}
