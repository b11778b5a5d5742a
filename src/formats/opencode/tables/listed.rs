//! What is listed of a row: the time of its last change and its bytes, by which an edit is seen.

use super::Schema;

/// Columns of each table, named `changed` and `bytes`.
pub(super) struct Listed {
    pub(super) message: String,
    pub(super) part: String,
    pub(super) second: String,
}

impl Listed {
    pub(super) fn of(schema: Schema<'_>) -> Self {
        let data = |table: &str, alias: &str| {
            let changed = match schema.tables.column(table, "time_updated") {
                "NULL" => "0".to_owned(),
                column => format!("coalesce({alias}{column}, 0)"),
            };
            format!("{changed} AS changed, octet_length({alias}data) AS bytes")
        };
        Self { message: data("message", ""), part: data("part", "p."), second: data("session_message", "") }
    }
}

/// Undo, new titles, what was spent, the end of a turn and prompts that wait change a session, but not its time.
pub(super) fn of_sessions(schema: Schema<'_>, table: &str) -> String {
    let or_0 = |column: &str| match schema.tables.column(table, column) {
        "NULL" => "0".to_owned(),
        column => format!("coalesce({column}, 0)"),
    };
    let bytes = |column: &str| match schema.tables.column(table, column) {
        "NULL" => "0".to_owned(),
        column => format!("coalesce(octet_length({column}), 0)"),
    };
    let mut state = vec![bytes("title"), format!("1000003 * {}", bytes("revert"))];
    let mut changed = or_0("time_updated");
    if table == "session_v2" {
        state.extend(["tokens_input", "tokens_output"].map(or_0));
        changed = format!("max({changed}, {})", or_0("time_idle"));
        let pending = schema.pending();
        state.extend(pending.map(|(table, said)| {
            format!(
                "(SELECT coalesce(sum(7919 * rowid + octet_length({said})), 0) FROM {table} WHERE session_id = ?1)"
            )
        }));
    }
    format!("{changed} AS changed, {} AS bytes", state.join(" + "))
}
