//! SQL that lists the rows of a session in reading order: each message with its parts. Parts whose
//! message is missing are sorted in by their own time; rows that are whole messages are sorted by
//! their sequence numbers.

use itertools::Itertools as _;

use super::Schema;
use crate::formats::tables::RowListing;

/// A sort key after all times.
const LAST: i64 = i64::MAX;

pub(super) fn of(schema: Schema<'_>) -> RowListing {
    let mut beyond = Vec::new();
    if schema.first {
        let of = |number, table| (number, rows_beyond(schema, table, schema.where_first()));
        beyond.extend([of(1, "message"), of(2, "part")]);
    }
    if schema.second {
        let number = schema.number("session_message");
        beyond.push((
            number,
            rows_beyond(schema, "session_message", schema.where_second()),
        ));
    }
    RowListing {
        count: count(schema),
        single: Some(single(schema)),
        strays: schema.first.then(|| strays(schema)),
        portion: portion(schema),
        beyond,
        places: places(schema),
    }
}

fn count(schema: Schema<'_>) -> String {
    let of = |name: &str| match name {
        "session" => format!("EXISTS ({})", schema.of_session(|_| "1".to_owned(), "")),
        "todo" => format!(
            "EXISTS (SELECT 1 FROM todo WHERE session_id = ?1{})",
            schema.where_first()
        ),
        "session_message" => {
            format!(
                "(SELECT count(*) FROM session_message WHERE session_id = ?1{})",
                schema.where_second()
            )
        }
        _ => format!(
            "(SELECT count(*) FROM {name} WHERE session_id = ?1{})",
            schema.where_first()
        ),
    };
    format!("SELECT {}", schema.names().into_iter().map(of).join(" + "))
}

/// Lists the session's row and its plan. The plan has a fixed position, since its rows change.
fn single(schema: Schema<'_>) -> String {
    let session = schema.of_session(|_| "rowid AS at".to_owned(), "");
    let plan = schema.has_plan().then(|| {
        let (number, only) = (schema.number("todo"), schema.where_first());
        format!(
            " UNION ALL SELECT {number}, 0, 0, 0, {LAST}, '' FROM todo WHERE session_id = ?1{only} \
             GROUP BY session_id"
        )
    });
    format!(
        "SELECT 0, at, 0, 0, -1, '' FROM ({session}){}",
        plan.unwrap_or_default()
    )
}

/// The columns of a listed row: table, row id, time of change and size in bytes.
fn listed(schema: Schema<'_>, table: &str, alias: &str) -> String {
    let changed = match schema.tables.column(table, "time_updated") {
        "NULL" => "0".to_owned(),
        column => format!("coalesce({alias}{column}, 0)"),
    };
    let number = schema.number(table);
    format!(
        "{number} AS t, {alias}rowid AS at, {changed} AS changed, octet_length({alias}data) AS bytes"
    )
}

/// Parts with the times of their messages, or their own if the message is missing.
fn parts(schema: Schema<'_>) -> String {
    let created = match schema.tables.column("part", "time_created") {
        "NULL" => "NULL",
        _ => "p.time_created",
    };
    format!(
        "SELECT {}, coalesce(m.time_created, {created}, 0) AS a, p.message_id AS b, p.id AS c \
         FROM part p LEFT JOIN message m ON m.id = p.message_id",
        listed(schema, "part", "p.")
    )
}

/// Lists parts without a message of this session. They are searched only if the counts show that
/// there are any.
fn strays(schema: Schema<'_>) -> String {
    format!(
        "{} WHERE p.session_id = ?1 AND m.session_id IS NOT ?1{} \
         AND (SELECT count(*) FROM part WHERE session_id = ?1) <> \
         (SELECT count(*) FROM message n CROSS JOIN part q ON q.message_id = n.id WHERE n.session_id = ?1) \
         ORDER BY a, b, c",
        parts(schema),
        schema.where_first()
    )
}

fn portion(schema: Schema<'_>) -> String {
    let (mut with, mut sources) = (String::new(), Vec::new());
    if schema.first {
        with = format!(
            "WITH some AS (SELECT {}, time_created AS a, id AS b, id AS c FROM message \
             WHERE session_id = ?1{} AND (time_created, id) > (?2, ?3) ORDER BY time_created, id LIMIT ?4) ",
            listed(schema, "message", ""),
            schema.where_first()
        );
        sources.push("SELECT * FROM some".to_owned());
        sources.push(format!(
            "SELECT {}, s.a, s.b, p.id FROM some s CROSS JOIN part p ON p.message_id = s.b \
             WHERE +p.session_id = ?1",
            listed(schema, "part", "p.")
        ));
    }
    if schema.second {
        sources.push(format!(
            "SELECT * FROM (SELECT {}, seq AS a, id AS b, id AS c FROM session_message WHERE session_id = ?1{} \
             AND (seq, id) > (?2, ?3) ORDER BY seq, id LIMIT ?4)",
            listed(schema, "session_message", ""),
            schema.where_second()
        ));
    }
    format!(
        "{with}SELECT * FROM ({}) ORDER BY a, b, t, c",
        sources.join(" UNION ALL ")
    )
}

/// Positions are read from an index, and everything else from these rows alone.
fn rows_beyond(schema: Schema<'_>, table: &str, only: &str) -> String {
    let (rows, at) = match table {
        "part" => (parts(schema), "p.rowid"),
        "message" => (
            format!(
                "SELECT {}, time_created, id, id FROM message",
                listed(schema, table, "")
            ),
            "rowid",
        ),
        _ => (
            format!(
                "SELECT {}, seq, id, id FROM {table}",
                listed(schema, table, "")
            ),
            "rowid",
        ),
    };
    format!(
        "{rows} WHERE {at} IN (SELECT rowid FROM {table} WHERE session_id = ?1 AND rowid > ?2{only} \
         ORDER BY rowid LIMIT ?3) ORDER BY {at}"
    )
}

fn places(schema: Schema<'_>) -> String {
    let of = |(number, name): (usize, &'static str)| match name {
        "session" => format!(
            "SELECT 0, at FROM ({})",
            schema.of_session(|_| "rowid AS at".to_owned(), "")
        ),
        "todo" => {
            let only = schema.where_first();
            format!("SELECT {number}, 0 FROM todo WHERE session_id = ?1{only} GROUP BY session_id")
        }
        _ => {
            let only = if name == "session_message" {
                schema.where_second()
            } else {
                schema.where_first()
            };
            format!("SELECT {number}, rowid FROM {name} WHERE session_id = ?1{only}")
        }
    };
    schema
        .names()
        .into_iter()
        .enumerate()
        .map(of)
        .join(" UNION ALL ")
}
