//! OpenCode's database (since 1.2, also of its forks Kilo and MiMo): sessions, messages and parts are
//! rows whose JSON lacks the ids, which stand in columns. With them put back a row is what the file of an
//! older storage folder was.

use super::sessions::DEFAULT_TITLES;
use crate::formats::tables::{Added, Edited, Growth, Queries, TableRows, Tables};

/// The messages that a first look shows, with their parts.
const NEWEST: u32 = 30;

/// Comes after everything that has a time.
const LAST: i64 = i64::MAX;

/// Columns of `session` that are values, with their names in JSON.
const VALUES: [(&str, &str); 9] = [
    ("id", "id"),
    ("project_id", "projectID"),
    ("parent_id", "parentID"),
    ("slug", "slug"),
    ("directory", "directory"),
    ("title", "title"),
    ("version", "version"),
    ("agent", "agent"),
    ("cost", "cost"),
];

/// Columns of `session` that hold JSON.
const DOCUMENTS: [&str; 2] = ["revert", "model"];

/// Whether the tables are those of OpenCode.
pub(super) fn are_ours(tables: &Tables) -> bool {
    let rows = ["id", "session_id", "time_created", "data"];
    tables.has_columns("session", &["id"])
        && tables.has_columns("message", &rows)
        && tables.has_columns("part", &["id", "message_id", "session_id", "data"])
}

/// How the sessions of such a database are read.
pub(super) fn queries(tables: &Tables) -> Option<Queries> {
    if !are_ours(tables) {
        return None;
    }
    let second = has_second_model(tables);
    let mut rows = vec![
        TableRows { name: "session", one: session(tables), is_line: false },
        TableRows {
            name: "message",
            one: with_ids("message", &["'$.id', id", "'$.sessionID', session_id"]),
            is_line: false,
        },
        TableRows {
            name: "part",
            one: with_ids("part", &["'$.id', id", "'$.messageID', message_id", "'$.sessionID', session_id"]),
            is_line: false,
        },
    ];
    if second {
        let time = tables.column("session_message", "time_created");
        let time = format!("'$.time_created', {time}");
        let fields = ["'$.id', id", "'$.type', type", "'$.seq', seq", "'$.sessionID', session_id", &time];
        rows.push(TableRows {
            name: "session_message",
            one: with_ids("session_message", &fields),
            is_line: false,
        });
    }
    let plan = has_plan(tables).then_some(rows.len());
    if plan.is_some() {
        rows.push(TableRows { name: "todo", one: PLAN.to_owned(), is_line: false });
    }
    let parent = tables.column("session", "parent_id");
    Some(Queries {
        reason: "a database with OpenCode's session, message and part".to_owned(),
        heads: heads(tables, parent),
        named: "SELECT id FROM session WHERE id = ?1".to_owned(),
        count: count(second),
        children: (parent != "NULL")
            .then(|| "SELECT id FROM session WHERE parent_id = ?1 AND id <> ?1 ORDER BY id".to_owned()),
        facts: None,
        generation: None,
        tables: rows,
        growth: Growth::Edited(Box::new(edited(tables, second, plan))),
        newest: newest(second),
        archive: None,
        added: added(tables, parent, second),
    })
}

fn added(tables: &Tables, parent: &str, second: bool) -> Vec<Added> {
    let changed = tables.column("session", "time_updated");
    let rows = ["message", "part"].into_iter().chain(second.then_some("session_message"));
    let sessions = Added::sessions("session", ["id", parent, changed]);
    std::iter::once(sessions).chain(rows.map(|table| Added::rows(table, "session_id"))).collect()
}

/// The tables of the second model hold whole messages. They are read if the first has none.
fn has_second_model(tables: &Tables) -> bool {
    tables.has_columns("session_message", &["id", "session_id", "type", "seq", "data"])
}

/// The plan of a session is a row for each item; together they are what its file was.
fn has_plan(tables: &Tables) -> bool {
    tables.has_columns("todo", &["session_id", "content", "status", "priority", "position", "time_updated"])
}

/// The plan of a session as one record.
const PLAN: &str = "SELECT json_object('sessionID', ?1, 'todos', \
     json_group_array(json_object('content', content, 'status', status, 'priority', priority))) \
     FROM (SELECT * FROM todo WHERE session_id = ?1 AND ?2 IS NOT NULL ORDER BY position)";

fn heads(tables: &Tables, parent: &str) -> String {
    let title = tables.column("session", "title");
    let defaults = DEFAULT_TITLES.map(|beginning| format!("{title} LIKE '{beginning}%'")).join(" OR ");
    let title = format!("CASE WHEN {defaults} THEN NULL ELSE {title} END");
    let updated = tables.column("session", "time_updated");
    format!("SELECT id, NULL, {title}, {updated}, {parent} FROM session ORDER BY {updated} DESC, id DESC")
}

fn count(second: bool) -> String {
    let first = "(SELECT count(*) FROM message WHERE session_id = ?1)";
    if !second {
        return format!("SELECT {first}");
    }
    format!(
        "SELECT coalesce(nullif({first}, 0), (SELECT count(*) FROM session_message WHERE session_id = ?1))"
    )
}

/// The row of a session as JSON; what is null is left out.
fn session(tables: &Tables) -> String {
    let has = |column: &str| tables.has_columns("session", &[column]);
    let mut fields: Vec<String> = VALUES
        .iter()
        .filter(|(column, _)| has(column))
        .map(|(column, name)| format!("'{name}', {column}"))
        .collect();
    let documents = DOCUMENTS.iter().filter(|column| has(column));
    fields.extend(documents.map(|c| format!("'{c}', CASE WHEN json_valid({c}) THEN json({c}) ELSE {c} END")));
    let time = ["created", "updated", "archived", "compacting"];
    let times = time.iter().filter(|name| has(&format!("time_{name}")));
    let times: Vec<String> = times.map(|name| format!("'{name}', time_{name}")).collect();
    fields.push(format!("'time', json_object({})", times.join(", ")));
    format!(
        "SELECT json_patch('{{}}', json_object({})) FROM session WHERE id = ?1 AND rowid = ?2",
        fields.join(", ")
    )
}

/// The JSON of a row with what stands in columns. What is no JSON stays as it is, to be shown as broken.
fn with_ids(table: &str, fields: &[&str]) -> String {
    let fields = fields.join(", ");
    format!(
        "SELECT CASE WHEN json_valid(data) THEN json_set(data, {fields}) ELSE data END \
         FROM {table} WHERE session_id = ?1 AND rowid = ?2"
    )
}

/// What is listed of a row: the time of its last change and its bytes.
struct Listed {
    session: String,
    message: String,
    part: String,
    second: String,
}

impl Listed {
    fn of(tables: &Tables) -> Self {
        let changed = |table: &str, alias: &str| match tables.column(table, "time_updated") {
            "NULL" => "0".to_owned(),
            column => format!("coalesce({alias}{column}, 0)"),
        };
        let data = |table: &str, alias: &str| {
            format!("{} AS changed, octet_length({alias}data) AS bytes", changed(table, alias))
        };
        Self {
            session: format!("{} AS changed, {} AS bytes", changed("session", ""), session_bytes(tables)),
            message: data("message", ""),
            part: data("part", "p."),
            second: data("session_message", ""),
        }
    }
}

/// In reading order come the session, then each message with its parts. Parts whose message is missing come where
/// their time puts them.
fn edited(tables: &Tables, second: bool, plan: Option<usize>) -> Edited {
    let listed = Listed::of(tables);
    let mut names = vec!["session", "message", "part"];
    names.extend(second.then_some("session_message"));
    let exists = |name: &&str| {
        let id = if *name == "session" { "id" } else { "session_id" };
        format!("SELECT 1 FROM {name} WHERE {id} = ?1 AND rowid = ?2")
    };
    let mut exists: Vec<String> = names.iter().map(exists).collect();
    exists.extend(plan.map(|_| "SELECT 1 FROM todo WHERE session_id = ?1 AND ?2 = 0 LIMIT 1".to_owned()));
    let mut beyond =
        vec![(1, rows_beyond("message", &listed.message, "")), (2, rows_beyond("part p", &listed.part, ""))];
    beyond.extend(second.then(|| (3, rows_beyond("session_message", &listed.second, WITHOUT_FIRST))));
    Edited {
        count: rows_counted(second, plan),
        strays: strays(tables, &listed, second, plan),
        portion: portion(&listed),
        recent: recent(&listed, second, plan),
        leading: if second { vec![1, 3] } else { vec![1] },
        exists,
        beyond,
        places: places(second, plan),
    }
}

/// Rows of the second model count where the first has none.
const WITHOUT_FIRST: &str = "AND NOT EXISTS (SELECT 1 FROM message WHERE session_id = ?1)";

fn rows_counted(second: bool, plan: Option<usize>) -> String {
    let of = |table: &str| format!("(SELECT count(*) FROM {table} WHERE session_id = ?1)");
    let (messages, parts) = (of("message"), of("part"));
    let second =
        if second { format!("+ iif({messages} = 0, {}, 0)", of("session_message")) } else { String::new() };
    let plan = if plan.is_some() { "+ EXISTS (SELECT 1 FROM todo WHERE session_id = ?1)" } else { "" };
    format!("SELECT (SELECT count(*) FROM session WHERE id = ?1) + {messages} + {parts} {second} {plan}")
}

/// The session, where it is listed with others.
fn session_listed(listed: &Listed) -> String {
    let columns = &listed.session;
    format!("SELECT 0 AS t, rowid AS at, {columns}, -1 AS a, '' AS b, '' AS c FROM session WHERE id = ?1")
}

/// The plan has one place, whatever becomes of its rows.
fn plan_listed(number: usize) -> String {
    format!(
        "SELECT {number}, 0, max(time_updated), sum(octet_length(content || status)), {LAST}, '', '' \
         FROM todo WHERE session_id = ?1 GROUP BY session_id"
    )
}

/// The parts without a message of this session are looked for only if the numbers say that there are any.
fn strays(tables: &Tables, listed: &Listed, second: bool, plan: Option<usize>) -> String {
    let created = match tables.column("part", "time_created") {
        "NULL" => "NULL",
        _ => "p.time_created",
    };
    let mut sources = vec![
        session_listed(listed),
        format!(
            "SELECT 2, p.rowid, {}, coalesce(m.time_created, {created}, 0), p.message_id, p.id \
             FROM part p LEFT JOIN message m ON m.id = p.message_id \
             WHERE p.session_id = ?1 AND m.session_id IS NOT ?1 \
             AND (SELECT count(*) FROM part WHERE session_id = ?1) <> \
             (SELECT count(*) FROM message n CROSS JOIN part q ON q.message_id = n.id WHERE n.session_id = ?1)",
            listed.part
        ),
    ];
    sources.extend(second.then(|| {
        let columns = &listed.second;
        format!(
            "SELECT 3, rowid, {columns}, seq, '', '' FROM session_message WHERE session_id = ?1 {WITHOUT_FIRST}"
        )
    }));
    sources.extend(plan.map(plan_listed));
    format!("SELECT t, at, changed, bytes, a, b FROM ({}) ORDER BY a, b, c", sources.join(" UNION ALL "))
}

fn portion(listed: &Listed) -> String {
    let Listed { message, part, .. } = listed;
    format!(
        "WITH some AS (SELECT rowid AS at, {message}, time_created AS a, id AS b FROM message \
         WHERE session_id = ?1 AND (time_created, id) > (?2, ?3) ORDER BY time_created, id LIMIT ?4) \
         SELECT t, at, changed, bytes, a, b FROM (\
         SELECT 1 AS t, at, changed, bytes, a, b, '' AS c FROM some UNION ALL \
         SELECT 2, p.rowid, {part}, s.a, s.b, p.id FROM some s CROSS JOIN part p ON p.message_id = s.b \
         WHERE +p.session_id = ?1) ORDER BY a, b, c"
    )
}

fn recent(listed: &Listed, second: bool, plan: Option<usize>) -> String {
    let Listed { message, part, .. } = listed;
    let mut sources = vec![
        session_listed(listed),
        "SELECT 1, at, changed, bytes, a, b, '' FROM newest".to_owned(),
        format!(
            "SELECT 2, p.rowid, {part}, n.a, n.b, p.id FROM newest n CROSS JOIN part p ON p.message_id = n.b \
             WHERE +p.session_id = ?1"
        ),
    ];
    sources.extend(second.then(|| {
        let columns = &listed.second;
        format!(
            "SELECT 3, at, changed, bytes, seq, '', '' FROM (SELECT rowid AS at, {columns}, seq \
             FROM session_message WHERE session_id = ?1 {WITHOUT_FIRST} ORDER BY seq DESC LIMIT ?2)"
        )
    }));
    sources.extend(plan.map(plan_listed));
    format!(
        "WITH newest AS (SELECT rowid AS at, {message}, time_created AS a, id AS b FROM message \
         WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT ?2) \
         SELECT t, at, changed, bytes FROM ({}) ORDER BY a, b, c",
        sources.join(" UNION ALL ")
    )
}

/// The places come from an index, the rest from these rows alone.
fn rows_beyond(table: &str, columns: &str, only: &str) -> String {
    let name = table.split(' ').next().unwrap_or(table);
    format!(
        "SELECT rowid, {columns} FROM {table} WHERE rowid IN (SELECT rowid FROM {name} \
         WHERE session_id = ?1 AND rowid > ?2 {only} ORDER BY rowid LIMIT ?3) ORDER BY rowid"
    )
}

fn places(second: bool, plan: Option<usize>) -> String {
    let mut sources = vec![
        "SELECT 0, rowid, 0, 0 FROM session WHERE id = ?1".to_owned(),
        "SELECT 1, rowid, 0, 0 FROM message WHERE session_id = ?1".to_owned(),
        "SELECT 2, rowid, 0, 0 FROM part WHERE session_id = ?1".to_owned(),
    ];
    if second {
        sources.push(format!(
            "SELECT 3, rowid, 0, 0 FROM session_message WHERE session_id = ?1 {WITHOUT_FIRST}"
        ));
    }
    sources.extend(plan.map(|number| {
        format!("SELECT {number}, 0, 0, 0 FROM todo WHERE session_id = ?1 GROUP BY session_id")
    }));
    sources.join(" UNION ALL ")
}

/// Undo and new titles change the row of a session, not always its time.
fn session_bytes(tables: &Tables) -> String {
    let recorded = ["title", "revert"].map(|column| match tables.column("session", column) {
        "NULL" => "0".to_owned(),
        column => format!("coalesce(octet_length({column}), 0)"),
    });
    recorded.join(" + 1000003 * ")
}

fn newest(second: bool) -> String {
    let messages = format!(
        "SELECT rowid AS at, time_created AS a, id AS b FROM message WHERE session_id = ?1 \
         ORDER BY time_created DESC, id DESC LIMIT {NEWEST}"
    );
    let mut sources = vec![
        "SELECT 0 AS t, rowid AS at, -1 AS a, '' AS b, '' AS c FROM session WHERE id = ?1".to_owned(),
        "SELECT 1, at, a, b, '' FROM newest".to_owned(),
        "SELECT 2, p.rowid, n.a, n.b, p.id FROM newest n JOIN part p ON p.message_id = n.b".to_owned(),
    ];
    if second {
        sources.push(format!(
            "SELECT 3, at, seq, '', '' FROM (SELECT rowid AS at, seq FROM session_message WHERE session_id = ?1 \
             AND NOT EXISTS (SELECT 1 FROM newest) ORDER BY seq DESC LIMIT {NEWEST})"
        ));
    }
    format!(
        "WITH newest AS ({messages}) SELECT t, at FROM ({}) ORDER BY a, b, c",
        sources.join(" UNION ALL ")
    )
}
