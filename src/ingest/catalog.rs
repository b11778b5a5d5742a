//! Lists the sessions of a database, and finds one by its name.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use super::plan::{Plan, Verdicts};
use super::target::{OpenError, SessionHead, refusal};
use crate::formats::decoder::Format;
use crate::formats::tables::{DatabaseTable, Queries, Tables, describe, is_aside, predecessor};
use crate::formats::{DetectMode, Detection, detect_database};
use crate::model::found::Target;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::source::rows::{Database, DatabaseFailure, SqlValue};

/// Limit of the sessions whose messages are counted.
const COUNTED: usize = 200;
/// How long to wait for a writer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait for a writer while all agents' folders are scanned.
const LISTING: Duration = Duration::from_secs(1);
/// Limit of the sessions in an error message.
const NAMED: usize = 4;

/// Determines which session of a database is meant, and what the formats say about it.
pub(crate) fn plan(target: &Target, mode: DetectMode) -> Result<(Plan, Verdicts), OpenError> {
    let path = &target.path;
    let (database, detection, queries) =
        detect(path, mode, (None, PATIENCE)).map_err(|why| why.of(path))?;
    let heads = heads(&database, &queries).map_err(|why| why.of(path))?;
    let head = match &target.session {
        Some(name) => find(&heads, name).map_err(|what| refusal(path, &what))?,
        None => newest(&heads).ok_or_else(|| refusal(path, "no session in this database"))?,
    };
    if let Ok(None) = database.value(&queries.named, &[SqlValue::from(head.id.as_str())]) {
        let what = format!(
            "the id of session {} is no text, so its rows cannot be asked for",
            head.id
        );
        return Err(refusal(path, &what));
    }
    let (mut plan, others) = Plan::of(path, head.id.clone(), detection);
    plan.opened.written = head.updated;
    Ok((plan, others))
}

/// The sessions of a database, newest first.
pub fn sessions(path: &Path) -> Result<Vec<SessionHead>, OpenError> {
    let (database, _, queries) =
        detect(path, DetectMode::UntilCertain, (None, PATIENCE)).map_err(|why| why.of(path))?;
    let mut heads = heads(&database, &queries).map_err(|why| why.of(path))?;
    for head in heads.iter_mut().take(COUNTED) {
        let count = database
            .value(&queries.count, &[SqlValue::from(head.id.as_str())])
            .ok()
            .flatten();
        head.messages = count
            .and_then(|cell| cell.int())
            .and_then(|count| u64::try_from(count).ok());
    }
    Ok(heads)
}

/// Why the sessions of a database cannot be listed.
pub(crate) enum Unlisted {
    /// It cannot be read at the moment, for this reason.
    Unreadable(DatabaseFailure),
    /// It is at the path of this agent's database, but its tables are unknown: what it is, as a
    /// phrase.
    Unknown(String),
    /// It has no sessions.
    Foreign(OpenError),
}

/// The sessions of a database at an agent's path, newest first, without the counts of their
/// messages. Waits only briefly for a writer, because a listing scans again soon.
pub(crate) fn heads_at(
    path: &Path,
    of: Option<&'static dyn Format>,
    is_again: bool,
) -> Result<Vec<SessionHead>, Unlisted> {
    let patience = match of {
        None => PATIENCE,
        Some(_) if is_again => Duration::ZERO,
        Some(_) => LISTING,
    };
    let (database, _, queries) = detect(path, DetectMode::UntilCertain, (of, patience))?;
    heads(&database, &queries)
}

/// Describes a database at an agent's path with unknown tables.
fn unknown_of(format: &dyn Format) -> String {
    let agent = format.head().agent;
    let article = if agent.starts_with(['A', 'E', 'I', 'O', 'U']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {agent} database of a later version")
}

impl Unlisted {
    /// The error for this database.
    pub(crate) fn of(self, path: &Path) -> OpenError {
        match self {
            Self::Unreadable(failure) => refusal(path, &failure.words()),
            Self::Unknown(what) => refusal(path, &what),
            Self::Foreign(why) => why,
        }
    }
}

/// How a format reads these tables.
pub(crate) fn queries(
    database: &Database,
    format: &dyn Format,
) -> Result<Option<Queries>, DatabaseFailure> {
    Ok(format.queries(&tables(database)?))
}

fn detect(
    path: &Path,
    mode: DetectMode,
    (of, patience): (Option<&'static dyn Format>, Duration),
) -> Result<(Database, Detection, Queries), Unlisted> {
    let database = Database::open_patiently(path, patience).map_err(Unlisted::Unreadable)?;
    let tables = tables(&database).map_err(Unlisted::Unreadable)?;
    let detected = detect_database(&tables, mode);
    let (detection, queries) = detected.ok_or_else(|| match of {
        Some(format) if !is_aside(&tables) => Unlisted::Unknown(
            predecessor(&tables).map_or_else(|| unknown_of(format), str::to_owned),
        ),
        _ => Unlisted::Foreign(refusal(path, &describe(&tables))),
    })?;
    Ok((database, detection, queries))
}

pub(crate) fn tables(database: &Database) -> Result<Tables, DatabaseFailure> {
    let tables = database
        .tables()?
        .into_iter()
        .map(|(name, columns)| DatabaseTable { name, columns });
    Ok(Tables(tables.collect()))
}

/// All sessions, newest first, without duplicates.
fn heads(database: &Database, queries: &Queries) -> Result<Vec<SessionHead>, Unlisted> {
    let mut heads: Vec<SessionHead> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let read = database.each(&queries.heads, &[], &mut |row| {
        let mut cells = row.iter();
        let mut text = || {
            cells
                .next()
                .and_then(SqlValue::text)
                .filter(|text| !text.is_empty())
        };
        let (Some(id), key, title) = (text(), text(), text()) else {
            return;
        };
        let updated = row
            .get(3)
            .and_then(SqlValue::int)
            .filter(|ms| *ms > 0)
            .map(Timestamp);
        let parent = row
            .get(4)
            .and_then(SqlValue::text)
            .filter(|text| !text.is_empty());
        let title = title.map(|title| Text::clean(&title));
        let head = SessionHead {
            id,
            key,
            title,
            updated,
            parent,
            messages: None,
        };
        if let Some(known) = places.get(&head.id).and_then(|place| heads.get_mut(*place)) {
            complete(known, head);
        } else {
            places.insert(head.id.clone(), heads.len());
            heads.push(head);
        }
    });
    read.map_err(Unlisted::Unreadable)?;
    heads.sort_by_key(|head| std::cmp::Reverse(head.updated));
    Ok(heads)
}

/// Fills missing fields from a duplicate; the first one takes precedence.
fn complete(known: &mut SessionHead, other: SessionHead) {
    known.key = known.key.take().or(other.key);
    known.title = known.title.take().or(other.title);
    known.parent = known.parent.take().or(other.parent);
    known.updated = known.updated.or(other.updated);
}

/// The newest session that no other session here started.
fn newest(heads: &[SessionHead]) -> Option<&SessionHead> {
    heads
        .iter()
        .find(|head| is_main(head, heads))
        .or_else(|| heads.first())
}

/// Time of the latest write to each session or its descendants, by id.
pub(crate) fn last_written(heads: &[SessionHead]) -> HashMap<String, Timestamp> {
    let names = |head: &'_ SessionHead| [Some(head.id.clone()), head.key.clone()];
    let by_name: HashMap<String, &SessionHead> = heads
        .iter()
        .rev()
        .flat_map(|head| {
            names(head)
                .into_iter()
                .flatten()
                .map(move |name| (name, head))
        })
        .collect();
    let mut newest: HashMap<String, Timestamp> = HashMap::new();
    for head in heads {
        let Some(at) = head.updated else { continue };
        let mut of = Some(head);
        // Stops at a parent that is already as new, so cycles of parents end too.
        while let Some(head) =
            of.filter(|head| newest.get(&head.id).is_none_or(|known| *known < at))
        {
            newest.insert(head.id.clone(), at);
            of = head
                .parent
                .as_ref()
                .and_then(|parent| by_name.get(parent))
                .copied();
        }
    }
    newest
}

/// Whether no other session here started this one.
pub(crate) fn is_main(head: &SessionHead, heads: &[SessionHead]) -> bool {
    let Some(parent) = &head.parent else {
        return true;
    };
    let is_parent = |other: &SessionHead| other.id == *parent || other.key.as_ref() == Some(parent);
    !heads
        .iter()
        .any(|other| other.id != head.id && is_parent(other))
}

/// The session with this id, with this key, or the only one whose id has this prefix.
pub(crate) fn find<'h>(heads: &'h [SessionHead], name: &str) -> Result<&'h SessionHead, String> {
    let exact = heads.iter().find(|head| head.id == name);
    if let Some(head) =
        exact.or_else(|| heads.iter().find(|head| head.key.as_deref() == Some(name)))
    {
        return Ok(head);
    }
    let meant: Vec<&SessionHead> = heads
        .iter()
        .filter(|head| head.id.starts_with(name))
        .collect();
    match meant.as_slice() {
        [only] => Ok(only),
        [] => Err(format!(
            "no session {name} among {} in it; `tv list` on it alone shows them",
            heads.len()
        )),
        [..] => {
            let ids: Vec<&str> = meant
                .iter()
                .map(|head| head.id.as_str())
                .take(NAMED)
                .collect();
            Err(format!(
                "{name} may mean {} sessions: {}, …",
                meant.len(),
                ids.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{find, is_main, newest};
    use crate::ingest::target::SessionHead;

    fn head(id: &str, key: Option<&str>, parent: Option<&str>) -> SessionHead {
        let own = |text: &str| text.to_owned();
        SessionHead {
            key: key.map(own),
            parent: parent.map(own),
            ..SessionHead::with_id(own(id))
        }
    }

    #[test]
    fn a_session_is_named_by_its_id_its_beginning_or_its_key() {
        let heads = [
            head("abc1", Some("agent:main:main"), None),
            head("abc2", None, None),
            head("x", None, None),
        ];
        assert_eq!(find(&heads, "abc2").unwrap().id, "abc2");
        assert_eq!(find(&heads, "agent:main:main").unwrap().id, "abc1");
        assert_eq!(find(&heads, "abc1").unwrap().id, "abc1");
        assert!(find(&heads, "abc").unwrap_err().contains("abc1, abc2"));
        assert!(find(&heads, "y").unwrap_err().contains("no session y"));
    }

    #[test]
    fn the_newest_session_is_one_that_nobody_here_started() {
        let heads = [
            head("c", None, Some("key")),
            head("p", Some("key"), None),
            head("o", None, Some("gone")),
        ];
        assert_eq!(newest(&heads).unwrap().id, "p");
        assert!(is_main(&heads[2], &heads));
        assert_eq!(newest(&heads[..1]).unwrap().id, "c");
    }
}
