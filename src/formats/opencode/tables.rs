//! OpenCode's databases (since 1.2; also those of its forks Kilo and MiMo). There are two
//! generations of messages. In the first, messages and parts are rows whose JSON lacks the ids,
//! which are in columns; with the ids added, a row equals a file of an older storage folder. In the
//! second, a row of `session_message` is a whole message.
//!
//! A database that version 2 has migrated holds both generations. What the tables of the second
//! generation have of a session is read there; only the rest is read from the tables of the first,
//! which remain unchanged.

mod listing;

use itertools::Itertools as _;

use super::sessions::DEFAULT_TITLES;
use crate::formats::tables::{Queries, TableRows, Tables};

/// The number of newest messages in a preview, with their parts.
const NEWEST: u32 = 30;

/// Value columns of a table of sessions, with their names in JSON.
const VALUES: [(&str, &str); 11] = [
    ("id", "id"),
    ("project_id", "projectID"),
    ("parent_id", "parentID"),
    ("fork_session_id", "forkSessionID"),
    ("slug", "slug"),
    ("directory", "directory"),
    ("title", "title"),
    ("version", "version"),
    ("agent", "agent"),
    ("cost", "cost"),
    ("idle_outcome", "idleOutcome"),
];

/// JSON columns of a table of sessions.
const DOCUMENTS: [&str; 2] = ["revert", "model"];

/// Time columns of a table of sessions, without the prefix `time_`.
const TIMES: [&str; 6] = [
    "created",
    "updated",
    "archived",
    "compacting",
    "idle",
    "suspended",
];

/// Tables of prompts that are not delivered yet, with the column of the content.
const PENDING: [(&str, &str); 2] = [("session_pending", "data"), ("session_inbox", "payload")];

/// Tables of sessions that were imported from other agents, which have them as well.
const IMPORTS: [&str; 2] = ["external_import", "claude_import"];

/// The tables that a database of OpenCode has.
#[derive(Clone, Copy)]
struct Schema<'t> {
    tables: &'t Tables,
    /// Whether messages and parts are separate rows, as in the first generation.
    first: bool,
    /// Whether rows are whole messages, of version 2 or of a trial within the tables of version 1.
    second: bool,
    /// Whether the database is of version 2, which has its own table of sessions.
    is_new: bool,
}

/// The queries for such a database; `None` if the tables are not those of OpenCode.
pub(super) fn queries(tables: &Tables) -> Option<Queries> {
    let schema = Schema::of(tables);
    if !schema.first && !schema.is_new {
        return None;
    }
    let reason = if schema.is_new {
        "a database with OpenCode's session_v2 and session_message"
    } else {
        "a database with OpenCode's session, message and part"
    };
    Some(Queries {
        reason: reason.to_owned(),
        heads: schema.heads(),
        named: schema.of_session(|_| "id".to_owned(), ""),
        count: schema.count(),
        children: schema.children(),
        facts: None,
        generation: None,
        tables: schema.rows(),
        listing: listing::of(schema),
        abandoned: None,
        newest: schema.newest(),
        archive: None,
    })
}

impl<'t> Schema<'t> {
    fn of(tables: &'t Tables) -> Self {
        let rows = ["id", "session_id", "time_created", "data"];
        let first = tables.has_columns("session", &["id"])
            && tables.has_columns("message", &rows)
            && tables.has_columns("part", &["id", "message_id", "session_id", "data"]);
        let second = tables.has_columns(
            "session_message",
            &["id", "session_id", "type", "seq", "data"],
        );
        let is_new = second && tables.has_columns("session_v2", &["id"]);
        Self {
            tables,
            first,
            second,
            is_new,
        }
    }

    /// The tables with a row per session; an earlier table takes precedence.
    fn sessions(self) -> impl Iterator<Item = &'static str> {
        let tables = [("session_v2", self.is_new), ("session", self.first)];
        tables
            .into_iter()
            .filter_map(|(name, is_there)| is_there.then_some(name))
    }

    /// Selects the row of session `?1`, with columns that depend on its table.
    fn of_session(self, columns: impl Fn(&'static str) -> String, condition: &str) -> String {
        let mut selected = self.sessions().enumerate().map(|(place, table)| {
            let is_left = if place > 0 {
                " AND NOT EXISTS (SELECT 1 FROM session_v2 WHERE id = ?1)"
            } else {
                ""
            };
            format!(
                "SELECT {} FROM {table} WHERE id = ?1{condition}{is_left}",
                columns(table)
            )
        });
        selected.join(" UNION ALL ")
    }

    /// The condition under which rows of the first generation belong to session `?1`.
    fn where_first(self) -> &'static str {
        if self.is_new {
            " AND NOT EXISTS (SELECT 1 FROM session_message WHERE session_id = ?1)"
        } else {
            ""
        }
    }

    /// The condition under which rows of the second generation belong to it. Where version 1 only
    /// tried the second generation, the first has all rows.
    fn where_second(self) -> &'static str {
        match (self.is_new, self.first) {
            (false, true) => " AND NOT EXISTS (SELECT 1 FROM message WHERE session_id = ?1)",
            _ => "",
        }
    }

    /// Whether the database has plans. A plan has a row per item; together they equal the plan's
    /// file.
    fn has_plan(self) -> bool {
        let columns = [
            "session_id",
            "content",
            "status",
            "priority",
            "position",
            "time_updated",
        ];
        self.first && self.tables.has_columns("todo", &columns)
    }

    /// The names of the tables with rows of a session. Their indexes are the table numbers.
    fn names(self) -> Vec<&'static str> {
        let mut names = vec!["session"];
        names.extend(["message", "part"].into_iter().filter(|_| self.first));
        names.extend(self.second.then_some("session_message"));
        names.extend(self.has_plan().then_some("todo"));
        names
    }

    fn number(self, table: &str) -> usize {
        self.names()
            .iter()
            .position(|name| *name == table)
            .unwrap_or_default()
    }

    fn rows(self) -> Vec<TableRows> {
        let one = |table: &str| match table {
            "session" => self.of_session(|table| self.session(table), " AND rowid = ?2"),
            "message" => with_ids("message", &["'$.id', id", "'$.sessionID', session_id"]),
            "part" => with_ids(
                "part",
                &[
                    "'$.id', id",
                    "'$.messageID', message_id",
                    "'$.sessionID', session_id",
                ],
            ),
            "session_message" => self.whole_message(),
            _ => PLAN.to_owned(),
        };
        let rows = |name: &'static str| TableRows {
            name,
            one: one(name),
            is_line: false,
        };
        self.names().into_iter().map(rows).collect()
    }

    fn heads(self) -> String {
        let of = |(place, table): (usize, &'static str)| {
            let title = self.tables.column(table, "title");
            let defaults = DEFAULT_TITLES
                .map(|beginning| format!("{title} LIKE '{beginning}%'"))
                .join(" OR ");
            let title = format!("CASE WHEN {defaults} THEN NULL ELSE {title} END");
            let updated = self.tables.column(table, "time_updated");
            let parent = self.tables.column(table, "parent_id");
            let newer = (place > 0).then_some(("session_v2", "id"));
            let imported = IMPORTS.into_iter().map(|import| (import, "session_id"));
            let imported = imported.filter(|(import, id)| self.tables.has_columns(import, &[id]));
            let is_own =
                newer
                    .into_iter()
                    .chain(imported)
                    .fold("1".to_owned(), |sum, (other, id)| {
                        format!(
                            "{sum} AND NOT EXISTS (SELECT 1 FROM {other} o WHERE o.{id} = s.id)"
                        )
                    });
            format!("SELECT id, NULL, {title}, {updated}, {parent} FROM {table} s WHERE {is_own}")
        };
        let selected: Vec<String> = self.sessions().enumerate().map(of).collect();
        format!("{} ORDER BY 4 DESC, 1 DESC", selected.join(" UNION ALL "))
    }

    fn children(self) -> Option<String> {
        let tables = || {
            self.sessions()
                .filter(|table| self.tables.has_columns(table, &["parent_id"]))
        };
        let mut selected = tables()
            .map(|table| format!("SELECT id FROM {table} WHERE parent_id = ?1 AND id <> ?1"));
        let all = selected.join(" UNION ");
        (!all.is_empty()).then(|| format!("{all} ORDER BY 1"))
    }

    /// Counts the messages of a session.
    fn count(self) -> String {
        let of = |table: &str| format!("(SELECT count(*) FROM {table} WHERE session_id = ?1)");
        let (first, second) = (of("message"), of("session_message"));
        match (self.first, self.second) {
            (true, false) => format!("SELECT {first}"),
            (false, _) => format!("SELECT {second}"),
            (true, true) if self.is_new => format!("SELECT coalesce(nullif({second}, 0), {first})"),
            (true, true) => format!("SELECT coalesce(nullif({first}, 0), {second})"),
        }
    }

    /// The tables of prompts that are not delivered yet, each with its content column.
    fn pending(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let is_there = move |(table, said): &(&str, &str)| {
            self.is_new && self.tables.has_columns(table, &["id", "session_id", said])
        };
        PENDING.into_iter().filter(is_there)
    }

    /// Selects the row of a session as JSON without null values.
    fn session(self, table: &'static str) -> String {
        let has = |column: &str| self.tables.has_columns(table, &[column]);
        let mut fields: Vec<String> = VALUES
            .iter()
            .filter(|(column, _)| has(column) && !(*column == "directory" && table == "session_v2"))
            .map(|(column, name)| format!("'{name}', {column}"))
            .collect();
        let json = |column: &str| {
            format!("CASE WHEN json_valid({column}) THEN json({column}) ELSE {column} END")
        };
        fields.extend(
            DOCUMENTS
                .iter()
                .filter(|c| has(c))
                .map(|c| format!("'{c}', {}", json(c))),
        );
        let times = TIMES.iter().filter(|name| has(&format!("time_{name}")));
        let times: Vec<String> = times.map(|name| format!("'{name}', time_{name}")).collect();
        fields.push(format!("'time', json_object({})", times.join(", ")));
        if table == "session_v2" {
            // The location, in the form in which version 2 exports it.
            fields.push(format!(
                "'location', json_object('directory', {})",
                self.tables.column(table, "directory")
            ));
            fields.extend(self.totals(table));
            fields.extend(self.pending().map(|(table, said)| {
                let column = |name: &'static str| self.tables.column(table, name);
                let [kind, delivery, at] = ["type", "delivery", "time_created"].map(column);
                let one = format!(
                    "json_object('id', id, 'type', {kind}, 'delivery', {delivery}, 'at', {at}, 'data', {})",
                    json(said)
                );
                let rows = format!("(SELECT * FROM {table} WHERE session_id = ?1 ORDER BY rowid)");
                format!("'{table}', json(nullif((SELECT json_group_array({one}) FROM {rows}), '[]'))")
            }));
        }
        format!("json_patch('{{}}', json_object({}))", fields.join(", "))
    }

    /// An expression for the tokens that the session records as its total.
    fn totals(self, table: &str) -> Option<String> {
        let column = |name: &str| format!("tokens_{name}");
        let names = ["input", "output", "reasoning", "cache_read", "cache_write"].map(column);
        let columns: Vec<&str> = names.iter().map(String::as_str).collect();
        self.tables.has_columns(table, &columns).then(|| {
            "'tokens', json_object('input', tokens_input, 'output', tokens_output, 'reasoning', tokens_reasoning, \
             'cache', json_object('read', tokens_cache_read, 'write', tokens_cache_write))"
                .to_owned()
        })
    }

    /// Selects a row of the second generation. Rows that a fork copied are marked `copied`.
    fn whole_message(self) -> String {
        let time = format!(
            "'$.time_created', {}",
            self.tables.column("session_message", "time_created")
        );
        let fields = [
            "'$.id', id",
            "'$.type', type",
            "'$.seq', seq",
            "'$.sessionID', session_id",
            &time,
        ];
        let fields = fields.join(", ");
        let copied = self.is_copied().map_or_else(String::new, |is_copied| {
            format!("WHEN {is_copied} THEN json_set(data, {fields}, '$.copied', json('true')) ")
        });
        format!(
            "SELECT CASE WHEN NOT json_valid(data) THEN data {copied}ELSE json_set(data, {fields}) END \
             FROM session_message m WHERE session_id = ?1 AND rowid = ?2"
        )
    }

    /// The condition that a row was copied by a fork. The fork records the last copied message by
    /// its id in one of the two sessions, either alone or with a type that may exclude that
    /// message. If the message is gone, rows older than the fork are copies.
    fn is_copied(self) -> Option<String> {
        let sessions =
            |column: &&str| self.is_new && self.tables.has_columns("session_v2", &[column]);
        let source = ["fork_session_id"]
            .into_iter()
            .find(|column| sessions(column))?;
        let ends = ["fork_boundary", "fork_message_id"];
        let ends: Vec<&str> = ends.into_iter().filter(|column| sessions(column)).collect();
        let end = match ends.as_slice() {
            [] => "NULL".to_owned(),
            [one] => format!("s.{one}"),
            all => format!(
                "coalesce({})",
                all.iter().map(|one| format!("s.{one}")).join(", ")
            ),
        };
        let of_end = |path: &str| {
            format!("CASE WHEN json_valid({end}) THEN json_extract({end}, '{path}') END")
        };
        let id = format!("coalesce({}, {end})", of_end("$.messageID"));
        let is_before = format!("coalesce({} = 'before', 0)", of_end("$.type"));
        let last = format!("(SELECT b.seq - {is_before} FROM session_message b WHERE b.id = {id})");
        let has_times = self
            .tables
            .has_columns("session_message", &["time_created"])
            && sessions(&"time_created");
        let is_older = if has_times {
            "m.time_created < s.time_created"
        } else {
            "0"
        };
        Some(format!(
            "EXISTS (SELECT 1 FROM session_v2 s WHERE s.id = ?1 AND s.{source} IS NOT NULL \
             AND coalesce(m.seq <= {last}, {is_older}))"
        ))
    }

    fn newest(self) -> String {
        let mut sources = vec![format!(
            "SELECT 0 AS t, at, -1 AS a, '' AS b, '' AS c FROM ({})",
            self.of_session(|_| "rowid AS at".to_owned(), "")
        )];
        let mut with = String::new();
        if self.first {
            with = format!(
                "WITH newest AS (SELECT rowid AS at, time_created AS a, id AS b FROM message \
                 WHERE session_id = ?1{} ORDER BY time_created DESC, id DESC LIMIT {NEWEST}) ",
                self.where_first()
            );
            sources.push("SELECT 1, at, a, b, '' FROM newest".to_owned());
            sources.push(
                "SELECT 2, p.rowid, n.a, n.b, p.id FROM newest n JOIN part p ON p.message_id = n.b"
                    .to_owned(),
            );
        }
        if self.second {
            sources.push(format!(
                "SELECT {}, at, seq, '', '' FROM (SELECT rowid AS at, seq FROM session_message \
                 WHERE session_id = ?1{} ORDER BY seq DESC LIMIT {NEWEST})",
                self.number("session_message"),
                self.where_second()
            ));
        }
        format!(
            "{with}SELECT t, at FROM ({}) ORDER BY a, b, c",
            sources.join(" UNION ALL ")
        )
    }
}

/// Selects the plan of a session as one record.
const PLAN: &str = "SELECT json_object('sessionID', ?1, 'todos', \
     json_group_array(json_object('content', content, 'status', status, 'priority', priority))) \
     FROM (SELECT * FROM todo WHERE session_id = ?1 AND ?2 IS NOT NULL ORDER BY position)";

/// Selects a row as JSON, with the values of columns added. Invalid JSON is unchanged, to be shown
/// as broken.
fn with_ids(table: &str, fields: &[&str]) -> String {
    let fields = fields.join(", ");
    format!(
        "SELECT CASE WHEN json_valid(data) THEN json_set(data, {fields}) ELSE data END \
         FROM {table} WHERE session_id = ?1 AND rowid = ?2"
    )
}
