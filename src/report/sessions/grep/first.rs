//! The first line in each session that has some words, for whoever chooses among sessions while typing.
//!
//! Invariant: ends soon after nobody wants it any more, whatever is left to be looked through.

use super::query::Query;
use super::search::{Message, search};
use crate::ingest::find::{self, Search};
use crate::model::found::{Found, TextHit};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::report::sessions::walk::walk;

/// More sessions than this are no choice: whoever looks for one types on.
const MOST: usize = 200;

/// Gives the first line with all of these words of each session that has one, newest first. Answers whether all sessions
/// were looked through, and how many of them could not be read.
pub(crate) fn first_of_each(
    places: &Search,
    words: &[String],
    now: Timestamp,
    is_wanted: impl Fn() -> bool + Sync,
    mut take: impl FnMut(TextHit),
) -> (bool, usize) {
    let Some(query) = Query::of_words(words) else { return (true, 0) };
    let (sessions, refused) = find::unread(places);
    let (mut failures, mut found) = (refused.len(), 0);
    let format = places.format.as_deref();
    let end = walk(
        &sessions,
        || find::Reader::new(now),
        |reader, session, say| {
            if is_wanted() {
                search(&query, reader, session, (format, true), say);
            }
        },
        |message| {
            match message {
                Message::Hits(session, hits) => {
                    for hit in hits {
                        found += 1;
                        take(TextHit {
                            found: Found::clone(&session),
                            entry: Text::clean(&hit.key),
                            line: Text::clean(&hit.text),
                            at: hit.found,
                        });
                    }
                }
                Message::Failure(_) => failures += 1,
            }
            if found < MOST && is_wanted() { Ok(()) } else { Err(()) }
        },
    );
    (end.is_ok(), failures)
}
