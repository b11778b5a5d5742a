//! Reads the usage of one session.

use std::collections::HashSet;
use std::sync::Arc;

use crate::analysis::by::{attribution_of, branch_of};
use crate::analysis::ledger::{Spender, UsageRecord};
use crate::analysis::money::spending::statement::{charges, incomplete_charges};
use crate::analysis::money::spending::{Charge, EntryCharges, For};
use crate::ingest::{OpenError, Target, find};
use crate::model::entry::attribution::Attribution;
use crate::model::entry::{Block, Entry};
use crate::model::found::FoundSession;
use crate::report::reading::{self, Reading, may_miss_agents};
use crate::report::sessions::each::ReadToEnd;

/// Reads a session and sends its usage.
pub(super) fn read(
    target: &Target,
    found: FoundSession,
    has_calls: bool,
    say: &mut dyn FnMut(Spender) -> bool,
) -> Result<ReadToEnd, OpenError> {
    let reading = if has_calls {
        reading::read(target, true)?
    } else {
        reading::count(target, found.format)?
    };
    let files = reading
        .files
        .values()
        .map(|path| path.to_path_buf())
        .collect();
    say(spender(found, &reading, has_calls));
    Ok(ReadToEnd {
        files,
        failure: reading.failure(),
    })
}

/// The usage of a session; with `has_calls` by what requests call, too.
pub fn spender(found: FoundSession, reading: &Reading, has_calls: bool) -> Spender {
    let transcript = &reading.transcript;
    let charges = charges(EntryCharges::compute(transcript).charges, transcript);
    let lacking = if may_miss_agents(transcript) {
        incomplete_charges(&charges, &reading.account, transcript)
    } else {
        HashSet::new()
    };
    // Charges without a timestamp get that of the newest entry.
    let is_timed = charges.iter().all(|charge| charge.at.is_some());
    let newest = || transcript.entries().filter_map(Entry::end).max();
    let of_session = Some(Attribution {
        branch: branch_of(transcript),
        ..Attribution::default()
    })
    .filter(|of| *of != Attribution::default())
    .map(Arc::new);
    let mut last = of_session.clone();
    let spent = |(number, charge): (usize, Charge)| {
        let lacks_agents = lacking.contains(&number);
        let entry = charge.entry.and_then(|id| transcript.get(id));
        let attribution = match entry.map(|entry| attribution_of(transcript, entry, has_calls)) {
            None => of_session.clone(),
            // Requests in a row share it.
            Some(of) => {
                if last.as_deref() != Some(&of) {
                    last = (of != Attribution::default()).then(|| Arc::new(of));
                }
                last.clone()
            }
        };
        let entry = entry.filter(|_| charge.is_own);
        let key = entry.map(|entry| entry.key.clone()).or(charge.beside);
        let is_run = charge.what == For::Run;
        UsageRecord {
            key,
            at: charge.at,
            model: charge.model,
            attribution,
            amount: charge.amount,
            is_run,
            lacks_agents,
        }
    };
    Spender {
        id: transcript
            .meta()
            .id
            .clone()
            .unwrap_or_else(|| found.id.clone()),
        has_files: find::may_be_continued(found.format),
        is_fork: transcript
            .entries()
            .flat_map(|entry| &entry.blocks)
            .any(Block::is_resumption),
        spent: charges.into_iter().enumerate().map(spent).collect(),
        limits: transcript.meta().limits.clone(),
        sums_so_far: transcript.meta().sums_so_far.clone(),
        newest: if is_timed { None } else { newest() },
        is_covered: transcript
            .parts()
            .iter()
            .all(|part| part.totals.is_covered()),
        found,
    }
}
