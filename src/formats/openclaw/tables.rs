//! The database of an OpenClaw agent: a row of `transcript_events` is a line of its older files.
//!
//! Three generations name sessions: nodes with windows (since August 2026), `sessions` with
//! `session_entries`, and early stores that only have the rows.

use itertools::Itertools as _;

use crate::formats::tables::{Queries, RowListing, TableRows, Tables};

/// The table that identifies the format.
pub(crate) const EVENTS: &str = "transcript_events";

/// Tables with a row per session, newest generation first, with their id column.
const NAMING: [(&str, &str); 4] = [
    ("session_nodes", "current_session_id"),
    ("session_windows", "session_id"),
    ("sessions", "session_id"),
    ("session_entries", "session_id"),
];

/// The number of newest rows in a preview.
const NEWEST: u32 = 60;

/// The table number of rows without a position.
const UNPLACED: u32 = 1;

/// The queries for such a database; `None` if it lacks the columns.
pub(crate) fn queries(tables: &Tables) -> Option<Queries> {
    if !tables.has_columns(EVENTS, &["session_id", "seq", "event_json"]) {
        return None;
    }
    let record = record(tables);
    let all = format!("FROM {EVENTS} WHERE session_id = ?1");
    // A table that is not strict may hold any type in a number column.
    let of_session = format!("{all} AND typeof(seq) = 'integer'");
    let unplaced = format!("{all} AND typeof(seq) <> 'integer'");
    // SQLite reads the length of a column from the row's header, but must read the whole value for
    // the length of an expression.
    let bytes = if tables.has_columns(EVENTS, &["event_zstd"]) {
        "coalesce(octet_length(event_json), octet_length(event_zstd), 0)"
    } else {
        "coalesce(octet_length(event_json), 0)"
    };
    let listed = format!("0, seq, seq, {bytes}, seq, '', seq");
    Some(Queries {
        reason: format!("a database with OpenClaw's {EVENTS}"),
        heads: heads(tables),
        named: named(tables),
        count: format!("SELECT count(*) {all}"),
        // `spawned_by` has a session key, which remains the same for later transcripts. Only a call
        // shows which of them started a child.
        children: None,
        facts: facts(tables),
        generation: tables
            .has_columns("transcript_rewrite_watermarks", &["session_id", "generation"])
            .then(|| "SELECT generation FROM transcript_rewrite_watermarks WHERE session_id = ?1".to_owned()),
        tables: vec![
            TableRows {
                name: EVENTS,
                one: format!("SELECT {record} {of_session} AND seq = ?2"),
                is_line: true,
            },
            TableRows {
                name: "transcript_events without seq",
                one: "SELECT 'its seq is no whole number, so it cannot be asked for' WHERE ?2 IS NOT NULL"
                    .to_owned(),
                is_line: true,
            },
        ],
        listing: RowListing {
            count: format!("SELECT count(*) {all}"),
            single: None,
            strays: Some(format!("SELECT {UNPLACED}, row_number() OVER () - 1, 0, 0, -1, '' {unplaced}")),
            portion: format!("SELECT {listed}, {record} {of_session} AND seq > ?2 ORDER BY seq LIMIT ?4"),
            beyond: vec![
                (0, format!("SELECT {listed} {of_session} AND seq > ?2 ORDER BY seq LIMIT ?3")),
                (
                    1,
                    format!(
                        "SELECT {UNPLACED}, at, 0, 0, -1, '' FROM (SELECT row_number() OVER () - 1 AS at {unplaced}) \
                         WHERE at > ?2 ORDER BY at LIMIT ?3"
                    ),
                ),
            ],
            places: format!(
                "SELECT 0, seq {of_session} UNION ALL SELECT {UNPLACED}, row_number() OVER () - 1 {unplaced}"
            ),
        },
        abandoned: abandoned(tables),
        newest: format!(
            "SELECT 0, seq FROM (SELECT seq {of_session} ORDER BY seq DESC LIMIT {NEWEST}) ORDER BY seq"
        ),
        archive: archive(tables),
    })
}

/// The column with a record. Since September 2026 long events are compressed, and their text is
/// null.
fn record(tables: &Tables) -> &'static str {
    if tables.has_columns(EVENTS, &["event_zstd"]) {
        "coalesce(event_json, event_zstd)"
    } else {
        "event_json"
    }
}

fn heads(tables: &Tables) -> String {
    let mut sources: Vec<String> = naming(tables)
        .map(|(table, id)| {
            let column = |name: &'static str| tables.column(table, name);
            let title = format!(
                "coalesce({}, {}, NULL)",
                column("label"),
                column("display_name")
            );
            let updated = format!(
                "coalesce({}, {}, 0)",
                column("transcript_updated_at"),
                column("updated_at")
            );
            let (key, parent) = (column("session_key"), column("spawned_by"));
            format!(
                "SELECT {id}, {key}, {title}, {updated}, {parent} FROM {table} WHERE {}",
                has_rows(tables, id)
            )
        })
        .collect();
    sources.push(format!(
        "SELECT id, NULL, NULL, {}, NULL FROM ids WHERE id IS NOT NULL",
        last_change(tables)
    ));
    for (table, at) in archives(tables) {
        let key = tables.column(table, "session_key");
        sources.push(format!(
            "SELECT session_id, {key}, NULL, {at}, NULL FROM {table}"
        ));
    }
    // The ids of the rows, found by one index step per id instead of a scan of all rows.
    format!(
        "WITH RECURSIVE ids(id) AS (SELECT min(session_id) FROM {EVENTS} UNION ALL \
         SELECT (SELECT min(session_id) FROM {EVENTS} WHERE session_id > ids.id) FROM ids WHERE id IS NOT NULL) {}",
        sources.join(" UNION ALL ")
    )
}

fn naming(tables: &Tables) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    NAMING
        .iter()
        .filter(|(table, id)| tables.has_columns(table, &[id]))
}

/// The condition that a session has rows. Sessions that were named but have no content yet are not
/// listed.
fn has_rows(tables: &Tables, id: &str) -> String {
    let kept = archives(tables).into_iter().map(|(table, _)| table);
    let holds = |table| format!("EXISTS (SELECT 1 FROM {table} r WHERE r.session_id = {id})");
    std::iter::once(EVENTS).chain(kept).map(holds).join(" OR ")
}

fn named(tables: &Tables) -> String {
    let keyed: Vec<_> = naming(tables)
        .filter(|(table, _)| tables.has_columns(table, &["session_key"]))
        .collect();
    let by_key = keyed
        .iter()
        .map(|(table, id)| format!("SELECT {id} FROM {table} WHERE session_key = ?1"));
    let by_id = format!("SELECT ?1 WHERE {}", has_rows(tables, "?1"));
    // The last part of a key is the name that a file of the session would have.
    let by_end = keyed.iter().map(|(table, id)| {
        format!("SELECT {id} FROM {table} WHERE substr(session_key, -length(?1) - 1) = ':' || ?1")
    });
    by_key.chain([by_id]).chain(by_end).join(" UNION ALL ")
}

fn last_change(tables: &Tables) -> String {
    match tables.column(EVENTS, "created_at") {
        "NULL" => "NULL".to_owned(),
        at => format!(
            "(SELECT {at} FROM {EVENTS} WHERE session_id = ids.id ORDER BY seq DESC LIMIT 1)"
        ),
    }
}

/// The facts of a session that none of its rows has.
fn facts(tables: &Tables) -> Option<String> {
    let nodes = "session_nodes";
    tables.has_columns(nodes, &["current_session_id"]).then(|| {
        let column = |name: &'static str| tables.column(nodes, name);
        format!(
            "SELECT coalesce({}, {}, NULL), {} = 'running' FROM {nodes} WHERE current_session_id = ?1",
            column("label"),
            column("display_name"),
            column("status")
        )
    })
}

/// The rows that the model no longer sees. The store lists the rows on the active path; rows after
/// the last indexed one are not judged yet.
fn abandoned(tables: &Tables) -> Option<String> {
    let active = "session_transcript_active_events";
    if !tables.has_columns(active, &["session_id", "event_seq"]) {
        return None;
    }
    let state = "session_transcript_index_state";
    let judged = if tables.has_columns(state, &["session_id", "indexed_seq"]) {
        format!("coalesce((SELECT indexed_seq FROM {state} WHERE session_id = ?1), -1)")
    } else {
        format!("(SELECT max(event_seq) FROM {active} WHERE session_id = ?1)")
    };
    Some(format!(
        "SELECT seq FROM {EVENTS} e WHERE session_id = ?1 AND typeof(seq) = 'integer' AND seq <= {judged} \
         AND EXISTS (SELECT 1 FROM {active} WHERE session_id = ?1) \
         AND NOT EXISTS (SELECT 1 FROM {active} a WHERE a.session_id = ?1 AND a.event_seq = e.seq) ORDER BY seq"
    ))
}

/// The tables with transcripts that were deleted, reset or archived, each with its time column.
fn archives(tables: &Tables) -> Vec<(&'static str, &'static str)> {
    [
        ("session_transcript_archives", "created_at"),
        ("session_transcript_cold_archives", "archived_at"),
    ]
    .into_iter()
    .filter(|(table, at)| tables.has_columns(table, &["session_id", "archive_blob", at]))
    .collect()
}

fn archive(tables: &Tables) -> Option<String> {
    let kept: Vec<String> = archives(tables)
        .iter()
        .map(|(table, at)| {
            format!("SELECT archive_blob, {at} AS at FROM {table} WHERE session_id = ?1 AND archive_blob IS NOT NULL")
        })
        .collect();
    let kept = (!kept.is_empty()).then(|| kept.join(" UNION ALL "))?;
    Some(format!(
        "SELECT archive_blob FROM ({kept}) ORDER BY at DESC LIMIT 1"
    ))
}
