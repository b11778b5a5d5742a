//! What one session spent.

use std::collections::HashSet;

use crate::analysis::index::Live;
use crate::analysis::ledger::{Spender, Spent};
use crate::analysis::money::spending::statement::{charges, lacking};
use crate::analysis::money::spending::{Charge, For, Spending};
use crate::ingest::OpenError;
use crate::ingest::find::{self, Unread};
use crate::model::entry::{Block, Entry};
use crate::model::found::Found;
use crate::report::reading::{self, Reading, may_lack_agents};

/// What comes of a session.
pub(super) enum Message {
    /// What it spent.
    Session(Box<Spender>),
    /// It is none, or one that another one started.
    Other(usize),
    /// It is of another format, or cannot be read.
    Passed,
    /// Why it could not be read, or not to its end.
    Failure(OpenError),
}

/// Reads a session that is listed, or any.
pub(super) fn read(
    reader: &mut find::Reader,
    (number, unread): (usize, &Unread),
    (format, is_listed): (Option<&str>, bool),
    say: &mut dyn FnMut(Message) -> bool,
) {
    let found = if is_listed { reader.listed(unread) } else { reader.found(unread) };
    let Some(found) = found.filter(|found| !is_listed || !reader.is_part(found)) else {
        say(Message::Other(number));
        return;
    };
    if format.is_some_and(|format| found.format != format) {
        say(Message::Passed);
        return;
    }
    match reading::count(&unread.target(), found.format) {
        Ok(reading) => {
            let failure = reading.failure();
            if say(Message::Session(Box::new(spender(found, &reading))))
                && let Some(failure) = failure
            {
                say(Message::Failure(failure));
            }
        }
        Err(failure) => {
            if say(Message::Failure(failure)) {
                say(Message::Passed);
            }
        }
    }
}

/// What a session spent.
pub fn spender(found: Found, reading: &Reading) -> Spender {
    let transcript = &reading.transcript;
    let charges = charges(Live::<Spending>::of(transcript).into_index().into_charges(), transcript);
    let lacking = if may_lack_agents(transcript) {
        lacking(&charges, &reading.account, transcript)
    } else {
        HashSet::new()
    };
    // What has no time of its own was spent by then.
    let is_timed = charges.iter().all(|charge| charge.at.is_some());
    let newest = || transcript.entries().filter_map(Entry::end).max();
    let spent = |(number, charge): (usize, Charge)| {
        let lacks_agents = lacking.contains(&number);
        let entry = charge.entry.filter(|_| charge.is_own).and_then(|id| transcript.get(id));
        let key = entry.map(|entry| entry.key.clone()).or(charge.beside);
        let is_run = charge.what == For::Run;
        Spent { key, at: charge.at, model: charge.model, amount: charge.amount, is_run, lacks_agents }
    };
    Spender {
        id: transcript.meta().id.clone().unwrap_or_else(|| found.id.clone()),
        has_files: find::may_go_on(found.format),
        is_fork: transcript.entries().flat_map(|entry| &entry.blocks).any(Block::is_resumption),
        files: reading.files.values().map(|path| path.to_path_buf()).collect(),
        spent: charges.into_iter().enumerate().map(spent).collect(),
        limits: transcript.meta().limits.clone(),
        newest: if is_timed { None } else { newest() },
        is_covered: transcript.parts().iter().all(|part| part.totals.is_covered()),
        found,
    }
}
