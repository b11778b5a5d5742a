//! The place of sessions that are rows of a database. They are not read yet; a database is recognised
//! so that its reader learns what helps.

/// The first bytes of each SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Whether a file that begins so is a database.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// What to say about a database.
pub const ADVICE: &str = "a SQLite database; sessions in databases are not read yet. \
     `opencode export ID > session.json` writes a file that can be opened, and OpenClaw keeps JSONL \
     archives beside its database";
