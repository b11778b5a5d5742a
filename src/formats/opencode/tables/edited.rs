//! Rows that are edited: the session, then each message with its parts, in the order in which they are read. Parts whose
//! message is missing come where their time puts them; rows that are whole messages come by their numbers.

use super::Schema;
use super::listed::{Listed, of_sessions};
use crate::formats::tables::Edited;

/// Comes after everything that has a time.
const LAST: i64 = i64::MAX;

pub(super) fn edited(schema: Schema<'_>) -> Edited {
    let listed = Listed::of(schema);
    let mut leading = Vec::new();
    let mut beyond = Vec::new();
    if schema.first {
        let only = schema.where_first();
        leading.push(1);
        beyond.push((1, rows_beyond("message", &listed.message, only)));
        beyond.push((2, rows_beyond("part p", &listed.part, only)));
    }
    if schema.second {
        let number = schema.number("session_message");
        leading.push(number);
        beyond.push((number, rows_beyond("session_message", &listed.second, schema.where_second())));
    }
    Edited {
        count: count(schema),
        strays: strays(schema, &listed),
        portion: portion(schema, &listed),
        recent: recent(schema, &listed),
        leading,
        exists: schema.names().into_iter().map(|name| exists(schema, name)).collect(),
        beyond,
        places: places(schema),
    }
}

fn exists(schema: Schema<'_>, name: &str) -> String {
    let only = match name {
        "session" => return schema.of_session(|_| "1".to_owned(), " AND rowid = ?2"),
        "todo" => {
            return format!(
                "SELECT 1 FROM todo WHERE session_id = ?1 AND ?2 = 0{} LIMIT 1",
                schema.where_first()
            );
        }
        "session_message" => schema.where_second(),
        _ => schema.where_first(),
    };
    format!("SELECT 1 FROM {name} WHERE session_id = ?1 AND rowid = ?2{only}")
}

fn count(schema: Schema<'_>) -> String {
    let of = |name: &str| match name {
        "session" => format!("EXISTS ({})", schema.of_session(|_| "1".to_owned(), "")),
        "todo" => format!("EXISTS (SELECT 1 FROM todo WHERE session_id = ?1{})", schema.where_first()),
        "session_message" => {
            format!("(SELECT count(*) FROM session_message WHERE session_id = ?1{})", schema.where_second())
        }
        _ => format!("(SELECT count(*) FROM {name} WHERE session_id = ?1{})", schema.where_first()),
    };
    format!("SELECT {}", schema.names().into_iter().map(of).collect::<Vec<_>>().join(" + "))
}

/// The session, where it is listed with others.
fn session_listed(schema: Schema<'_>) -> String {
    let columns = |table| format!("rowid AS at, {}", of_sessions(schema, table));
    format!(
        "SELECT 0 AS t, at, changed, bytes, -1 AS a, '' AS b, '' AS c FROM ({})",
        schema.of_session(columns, "")
    )
}

/// The plan has one place, whatever becomes of its rows.
fn plan_listed(schema: Schema<'_>) -> Option<String> {
    schema.has_plan().then(|| {
        format!(
            "SELECT {}, 0, max(time_updated), sum(octet_length(content || status)), {LAST}, '', '' \
             FROM todo WHERE session_id = ?1{} GROUP BY session_id",
            schema.number("todo"),
            schema.where_first()
        )
    })
}

/// The parts without a message of this session are looked for only if the numbers say that there are any.
fn strays(schema: Schema<'_>, listed: &Listed) -> String {
    let mut sources = vec![session_listed(schema)];
    if schema.first {
        let created = match schema.tables.column("part", "time_created") {
            "NULL" => "NULL",
            _ => "p.time_created",
        };
        sources.push(format!(
            "SELECT 2, p.rowid, {}, coalesce(m.time_created, {created}, 0), p.message_id, p.id \
             FROM part p LEFT JOIN message m ON m.id = p.message_id \
             WHERE p.session_id = ?1 AND m.session_id IS NOT ?1{} \
             AND (SELECT count(*) FROM part WHERE session_id = ?1) <> \
             (SELECT count(*) FROM message n CROSS JOIN part q ON q.message_id = n.id WHERE n.session_id = ?1)",
            listed.part,
            schema.where_first()
        ));
    }
    sources.extend(plan_listed(schema));
    format!("SELECT t, at, changed, bytes, a, b FROM ({}) ORDER BY a, b, c", sources.join(" UNION ALL "))
}

/// Some messages of the first generation, each with its parts: a list of them, and what it gives.
fn with_parts(schema: Schema<'_>, listed: &Listed, which: &str) -> (String, [String; 2]) {
    let with = format!(
        "WITH some AS (SELECT rowid AS at, {}, time_created AS a, id AS b FROM message \
         WHERE session_id = ?1{}{which}) ",
        listed.message,
        schema.where_first()
    );
    let messages = "SELECT 1 AS t, at, changed, bytes, a, b, '' AS c FROM some".to_owned();
    let parts = format!(
        "SELECT 2, p.rowid, {}, s.a, s.b, p.id FROM some s CROSS JOIN part p ON p.message_id = s.b \
         WHERE +p.session_id = ?1",
        listed.part
    );
    (with, [messages, parts])
}

/// Some rows that are whole messages.
fn whole(schema: Schema<'_>, listed: &Listed, which: &str) -> String {
    format!(
        "SELECT * FROM (SELECT {} AS t, rowid AS at, {}, seq AS a, id AS b, '' AS c FROM session_message \
         WHERE session_id = ?1{}{which})",
        schema.number("session_message"),
        listed.second,
        schema.where_second()
    )
}

fn portion(schema: Schema<'_>, listed: &Listed) -> String {
    let (mut with, mut sources) = (String::new(), Vec::new());
    if schema.first {
        let next = " AND (time_created, id) > (?2, ?3) ORDER BY time_created, id LIMIT ?4";
        let (some, rows) = with_parts(schema, listed, next);
        with = some;
        sources.extend(rows);
    }
    if schema.second {
        sources.push(whole(schema, listed, " AND (seq, id) > (?2, ?3) ORDER BY seq, id LIMIT ?4"));
    }
    format!(
        "{with}SELECT t, at, changed, bytes, a, b FROM ({}) ORDER BY a, b, c",
        sources.join(" UNION ALL ")
    )
}

fn recent(schema: Schema<'_>, listed: &Listed) -> String {
    let (mut with, mut sources) = (String::new(), vec![session_listed(schema)]);
    if schema.first {
        let (some, rows) = with_parts(schema, listed, " ORDER BY time_created DESC, id DESC LIMIT ?2");
        with = some;
        sources.extend(rows);
    }
    if schema.second {
        sources.push(whole(schema, listed, " ORDER BY seq DESC LIMIT ?2"));
    }
    sources.extend(plan_listed(schema));
    format!("{with}SELECT t, at, changed, bytes FROM ({}) ORDER BY a, b, c", sources.join(" UNION ALL "))
}

/// The places come from an index, the rest from these rows alone.
fn rows_beyond(table: &str, columns: &str, only: &str) -> String {
    let name = table.split(' ').next().unwrap_or(table);
    format!(
        "SELECT rowid, {columns} FROM {table} WHERE rowid IN (SELECT rowid FROM {name} \
         WHERE session_id = ?1 AND rowid > ?2{only} ORDER BY rowid LIMIT ?3) ORDER BY rowid"
    )
}

fn places(schema: Schema<'_>) -> String {
    let of = |(number, name): (usize, &'static str)| match name {
        "session" => {
            format!("SELECT 0, at, 0, 0 FROM ({})", schema.of_session(|_| "rowid AS at".to_owned(), ""))
        }
        "todo" => {
            let only = schema.where_first();
            format!("SELECT {number}, 0, 0, 0 FROM todo WHERE session_id = ?1{only} GROUP BY session_id")
        }
        _ => {
            let only = if name == "session_message" { schema.where_second() } else { schema.where_first() };
            format!("SELECT {number}, rowid, 0, 0 FROM {name} WHERE session_id = ?1{only}")
        }
    };
    schema.names().into_iter().enumerate().map(of).collect::<Vec<_>>().join(" UNION ALL ")
}
