//! `tv usage`: tokens and cost of all sessions, as a table, as CSV, or as JSON (schema
//! `tv.usage/1`, only ever added to).
//!
//! **It uses the same account.** A session is read as by every other report, and its usage are the
//! charges of its bill (`analysis::money::spending::statement`). In addition a request may be in
//! several files: see `analysis::ledger`.
//!
//! Invariant: every request counts once, in however many files it is, so the rows of each grouping
//! have the same sum.

mod options;
mod print;
mod read;

use std::io::Write;

pub use self::options::UsageOptions;
use self::read::read;
pub use self::read::spender;
use super::each::{self, WhichFiles, each, each_result};
use crate::analysis::expression::When;
use crate::analysis::ledger::{Ledger, Spender};
use crate::ingest::Target;
use crate::ingest::find::DiscoveryQuery;
use crate::model::found::FoundSession;
use crate::model::timestamp::Timestamp;
use crate::report::outcome::{ReportError, ReportOutcome};

/// Sums up the usage of all sessions and writes the rows.
pub fn write(
    options: &UsageOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let since = When::option(options.since, now);
    let until = When::option(options.until, now);
    let mut ledger = Ledger::new(since..until);
    let has_calls = options.has_calls();
    let read = |target: &Target, found: FoundSession, say: &mut dyn FnMut(Spender) -> bool| {
        read(target, found, has_calls, say)
    };
    let which = (since, WhichFiles::All);
    let missed = each_result(&options.search, which, now, read, |session| {
        ledger.add(session);
        true
    });
    print::write(&ledger, options, &missed, now, out)?;
    Ok(ReportOutcome::of_many(
        missed,
        options.strict,
        ReportOutcome::Complete,
    ))
}

/// A message about the progress of counting.
pub type Step = each::ReadProgress<Spender>;

/// Reads the usage and the failed calls of all sessions that were written to since then, or of those
/// at the named paths, until `take` returns false.
pub fn count(
    search: &DiscoveryQuery,
    since: Option<Timestamp>,
    now: Timestamp,
    take: impl FnMut(Step) -> bool,
) {
    let read = |target: &Target, found: FoundSession, say: &mut dyn FnMut(Spender) -> bool| {
        read(target, found, true, say)
    };
    each(search, (since, WhichFiles::All), now, read, take);
}
