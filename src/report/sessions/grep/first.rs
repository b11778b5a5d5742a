//! The first matching line of each session, for the picker, which searches while the user types.
//!
//! Invariant: the search ends soon after it is cancelled, however much is not searched yet.

use super::query::Query;
use super::repeats::Repeats;
use super::search::{GrepMessage, search};
use crate::ingest::find::{self, DiscoveryQuery, Looked};
use crate::model::found::{FoundSession, TextHit};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::report::sessions::walk::walk;

/// Maximum number of sessions: more are no choice, and the user types on.
const MOST: usize = 200;

/// Calls `take` with the first line that has all words, for each session with one, newest first. A
/// file that was set aside counts only for lines that the session has no more. Returns whether all
/// sessions were searched, and how many could not be read.
pub(crate) fn first_of_each(
    places: &DiscoveryQuery,
    words: &[String],
    now: Timestamp,
    is_wanted: impl Fn() -> bool + Sync,
    mut take: impl FnMut(TextHit),
) -> (bool, usize) {
    let Some(query) = Query::of_words(words) else {
        return (true, 0);
    };
    let Looked {
        sessions,
        unreadable,
        refused,
        listings,
    } = find::unread(places);
    let mut repeats = Repeats::of(sessions.iter().filter_map(find::Unread::session));
    let (mut failures, mut found) = (refused.len() + unreadable.len(), 0);
    let end = walk(
        &sessions,
        find::Unread::path,
        || find::FactReader::new(now),
        |reader, session, say| {
            if is_wanted() {
                search(&query, (reader, &listings), session, (places, true), say);
            }
        },
        |message| {
            match message {
                GrepMessage::Hits(session, mut hits) => {
                    repeats.remove_known(&session, &mut hits);
                    for hit in hits {
                        found += 1;
                        take(TextHit {
                            found: FoundSession::clone(&session),
                            entry: Text::clean(&hit.key),
                            line: Text::clean(&hit.text),
                            at: hit.found,
                        });
                    }
                }
                GrepMessage::Failure(_) => failures += 1,
            }
            if found < MOST && is_wanted() {
                Ok(())
            } else {
                Err(())
            }
        },
    );
    (end.is_ok(), failures)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::first_of_each;
    use crate::ingest::find::{DiscoveryQuery, Environment};
    use crate::model::timestamp::Timestamp;

    #[test]
    fn what_was_put_aside_and_is_in_its_session_still_is_told_once() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".openclaw/agents/main/sessions");
        fs::create_dir_all(&folder).unwrap();
        let said = |id: &str, text: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-03-01T08:00:01.000Z","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"timestamp":1}}}}"#
            )
        };
        let head = r#"{"type":"session","version":3,"id":"11aa","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/work"}"#;
        let write = |name: &str, lines: &[String]| {
            fs::write(folder.join(name), format!("{head}\n{}\n", lines.join("\n"))).unwrap();
        };
        write("11aa.jsonl", &[said("e1", "lay the garboard")]);
        let aside = [
            said("e1", "lay the garboard"),
            said("e2", "lay the old strake"),
        ];
        write("11aa.jsonl.reset.2026-06-27T03-21-20.768Z", &aside);
        let environment = Environment {
            home: Some(home.path().to_owned()),
            ..Environment::default()
        };
        let places = DiscoveryQuery {
            environment,
            ..DiscoveryQuery::default()
        };
        let found = |word: &str| {
            let mut lines = Vec::new();
            first_of_each(
                &places,
                &[word.to_owned()],
                Timestamp(4_000_000_000_000),
                || true,
                |hit| {
                    lines.push((
                        hit.line.to_string(),
                        hit.found.path.extension().unwrap() == "jsonl",
                    ));
                },
            );
            lines
        };
        assert_eq!(found("garboard"), [("lay the garboard".to_owned(), true)]);
        assert_eq!(found("strake"), [("lay the old strake".to_owned(), false)]);
    }
}
