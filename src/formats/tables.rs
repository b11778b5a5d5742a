//! The databases of a format: which tables identify it, and the SQL that reads sessions.
//!
//! **The format writes the SQL, the source runs it.** [`Queries`] define how sessions are listed
//! and read, and how a rewritten session is distinguished from one that grew. `source::rows` opens
//! the database for each read and closes it again: an open connection (for `PRAGMA data_version`)
//! would keep the agent's own from checkpointing its log when it closes. Changes are detected from
//! the state of the database file and its log.
//!
//! Invariant: the SQL names only tables and columns that the database has, and only those that hold
//! sessions. Differences between generations of a schema are resolved when the queries are built,
//! not when they run.

/// The tables of a database with their columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables(pub Vec<DatabaseTable>);

/// A table with its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseTable {
    pub name: String,
    /// The names of its columns, in order.
    pub columns: Vec<String>,
}

impl Tables {
    /// Whether there is a table with this name.
    pub(crate) fn has(&self, table: &str) -> bool {
        self.0.iter().any(|known| known.name == table)
    }

    /// Whether there are tables with all of these names.
    fn has_all(&self, tables: &[&str]) -> bool {
        tables.iter().all(|table| self.has(table))
    }

    /// Whether a table has all of these columns.
    pub(crate) fn has_columns(&self, table: &str, columns: &[&str]) -> bool {
        let known = self.0.iter().find(|known| known.name == table);
        known.is_some_and(|known| {
            columns
                .iter()
                .all(|name| known.columns.iter().any(|own| own == name))
        })
    }

    /// The column for an SQL expression, or `NULL` if the table lacks it.
    pub(crate) fn column<'c>(&self, table: &str, column: &'c str) -> &'c str {
        if self.has_columns(table, &[column]) {
            column
        } else {
            "NULL"
        }
    }
}

/// The queries for sessions of a database. `?1` is always the id of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queries {
    /// Why the tables are the format's, as a sentence without a full stop.
    pub(crate) reason: String,
    /// All sessions: id, key, title, time of the last change in ms, parent's id or key. Among
    /// several with one id the first is the most complete.
    pub heads: String,
    /// The ids of the sessions with the id or the key `?1`.
    pub named: String,
    /// The number of messages of a session.
    pub count: String,
    /// The ids of the sessions that this one started.
    pub children: Option<String>,
    /// Title of a session and whether it is running (1, 0 or null), if its rows do not have these.
    pub facts: Option<String>,
    /// A value that changes when the rows of the session are rewritten.
    pub generation: Option<String>,
    /// The tables that hold the rows of a session.
    pub tables: Vec<TableRows>,
    pub listing: RowListing,
    /// The row ids of the first table that the agent has abandoned, in order.
    pub abandoned: Option<String>,
    /// The newest rows in reading order, for a preview: index of the table, row id.
    pub newest: String,
    /// A whole session as JSON lines in one value, for sessions without rows.
    pub archive: Option<String>,
}

/// A table that holds rows of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRows {
    pub(crate) name: &'static str,
    /// The record of the session `?1` with the row id `?2`.
    pub one: String,
    /// Whether a record is what a line of a file would be.
    pub(crate) is_line: bool,
}

/// How the rows of a session are read, a portion at a time, and checked for changes by their row
/// ids. Each row is listed with the index of its table, its row id, the time of its last change,
/// its size in bytes, time and id of its message, and its own id; and with the record, if reading
/// it at once costs no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowListing {
    /// The number of rows of all tables.
    pub count: String,
    /// Rows that exist once per session: the session's own, its plan. No column shows changes, so
    /// they are read each time.
    pub single: Option<String>,
    /// Other rows that belong to no message, in reading order, with time and id of the message that follows each.
    pub strays: Option<String>,
    /// The next `?4` messages after the one of the time `?2` with the id `?3`, with their parts, in reading order.
    pub portion: String,
    /// By the index of the table: at most `?3` rows beyond the row id `?2`, in the order of row
    /// ids. A table whose rows have no time of change returns a value that grows with them.
    pub beyond: Vec<(usize, String)>,
    /// Index of the table and row id of all rows, read from indexes alone, in any order, for tables
    /// with a damaged page.
    pub places: String,
}

/// Describes a database that no format reads, and what to open instead.
pub(crate) fn describe(tables: &Tables) -> String {
    if let Some(what) = predecessor(tables) {
        return what.to_owned();
    }
    if let Some((what, instead)) = elsewhere(tables) {
        return format!("{what}; {instead}");
    }
    let names: Vec<&str> = tables
        .0
        .iter()
        .map(|table| table.name.as_str())
        .take(NAMED)
        .collect();
    match names.as_slice() {
        [] => "a SQLite database without tables".to_owned(),
        names => format!(
            "a SQLite database of another program (tables {}, …)",
            names.join(", ")
        ),
    }
}

/// Describes a database whose sessions no format reads.
pub(crate) fn predecessor(tables: &Tables) -> Option<&'static str> {
    let is_it = tables.has_all(&["sessions", "messages", "files"]);
    is_it.then_some(
        "a database of Crush's predecessor, the OpenCode written in Go, which is not read",
    )
}

/// Whether a database is not meant to hold sessions: it is empty, or the agent stores them elsewhere.
pub(crate) fn is_aside(tables: &Tables) -> bool {
    tables.0.is_empty() || elsewhere(tables).is_some()
}

/// Describes a database whose sessions are stored elsewhere, and where.
fn elsewhere(tables: &Tables) -> Option<(&'static str, &'static str)> {
    if tables.has_all(&["blobs", "meta"]) {
        let instead = "open the chat in ~/.cursor/projects/*/agent-transcripts/*/*.jsonl";
        return Some(("Cursor's own store of a chat", instead));
    }
    if tables.has("ItemTable") {
        let instead = "its agent's chats are in ~/.cursor/projects/*/agent-transcripts/*/*.jsonl";
        return Some((
            "the state of an editor made from VS Code, such as Cursor",
            instead,
        ));
    }
    if tables.has_all(&["trajectory_meta", "steps", "gen_metadata"]) {
        let instead = "open the transcript.jsonl below brain/<conversation>/ beside its folder";
        return Some(("Antigravity's own store of a conversation", instead));
    }
    if tables.has("assistant_usage_events") {
        let instead = "they are in session-state/*/events.jsonl beside it";
        return Some(("GitHub Copilot's index of sessions", instead));
    }
    if tables.has_columns("sessions", &["messages_path", "is_subagent"]) {
        let instead = "open a *.messages.json file in the folders beside it";
        return Some(("Cline's index of sessions", instead));
    }
    let has_transcripts = tables
        .0
        .iter()
        .any(|table| table.name.contains("transcript"));
    if tables.has_all(&["schema_meta", "cache_entries"]) && !has_transcripts {
        let instead = "they are in agents/<agent>/sessions/*.jsonl";
        return Some((
            "a database of an OpenClaw agent without transcripts",
            instead,
        ));
    }
    if tables.has("agent_databases") {
        let instead = "transcripts are in agents/<agent>/agent/openclaw-agent.sqlite";
        return Some(("OpenClaw's list of agents", instead));
    }
    None
}

/// Limit of the tables of another program that are named.
const NAMED: usize = 4;
