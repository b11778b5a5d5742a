//! `tv grep`: matches in all sessions, newest first, as lines for people and for programs (schema
//! `tv.hit/1`, only ever added to).
//!
//! **There is no index.** The bytes of each session are searched first (`ingest::sift`); a session
//! without a match is not even identified. Of files of lines only the matching lines are decoded,
//! with the records that they pair with.
//!
//! **A session may have several files**: one that was set aside, and one that continues it. All are
//! searched, because the older one may have what the newer has lost; matches in both are reported
//! once.
//!
//! Invariant: hits come in the order of sessions and entries, whichever thread finds them first.

mod first;
mod options;
mod print;
mod query;
mod repeats;
mod search;

use std::io::Write;

pub(crate) use self::first::first_of_each;
pub use self::options::{Case, GrepForm, GrepOptions, GrepQuery};
use self::print::HitPrinter;
use self::query::Query;
use self::repeats::Repeats;
use self::search::{GrepMessage, search};
use super::walk::walk;
use crate::ingest::OpenError;
use crate::ingest::find::{self, Looked};
use crate::model::timestamp::Timestamp;
use crate::report::outcome::{Missed, ReportError, ReportOutcome};

/// Searches all sessions and writes the hits.
pub fn write(
    options: &GrepOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let (query, said) = Query::new(&options.query, now).map_err(OpenError)?;
    let Looked {
        mut sessions,
        unreadable,
        refused,
        listings,
    } = find::unread(&options.search);
    let mut missed = Missed {
        refused,
        unreadable,
    };
    if let Some(since) = query.since {
        sessions.retain(|session| session.is_since(since));
    }
    let sessions = find::with_sub_agents(sessions);
    let mut printer = HitPrinter::new(options, now);
    let mut repeats = Repeats::of(sessions.iter().filter_map(find::Unread::session));
    let only_first = options.form == GrepForm::Sessions;
    walk(
        &sessions,
        find::Unread::path,
        || find::FactReader::new(now),
        |reader, session, say| {
            let wanted = (&options.search, only_first);
            search(&query, (reader, &listings), session, wanted, say);
        },
        |message| match message {
            GrepMessage::Hits(head, mut hits) => {
                repeats.remove_known(&head, &mut hits);
                if hits.is_empty() {
                    Ok(())
                } else {
                    printer.write(&head, &hits, out)
                }
            }
            GrepMessage::Failure(failure) => {
                missed.push(failure);
                Ok(())
            }
        },
    )?;
    let otherwise = if printer.has_written() {
        ReportOutcome::Complete
    } else {
        ReportOutcome::Nothing
    };
    let outcome = ReportOutcome::of_many(missed, options.strict, otherwise);
    Ok(match said {
        Some(said) => ReportOutcome::Saying(said, Box::new(outcome)),
        None => outcome,
    })
}
