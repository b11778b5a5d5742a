//! Reads the usage of one session.

use std::collections::HashSet;
use std::sync::Arc;

use crate::analysis::by::{attribution_of, branch_of, server_of};
use crate::analysis::calls::Outcome;
use crate::analysis::ledger::{Spender, UsageRecord};
use crate::analysis::money::spending::amount::Amount;
use crate::analysis::money::spending::statement::{charges, incomplete_charges};
use crate::analysis::money::spending::{Charge, EntryCharges, For};
use crate::ingest::{OpenError, Target, find};
use crate::model::entry::attribution::Attribution;
use crate::model::entry::{Block, Entry};
use crate::model::found::FoundSession;
use crate::model::request::{CallIdentity, call_identity};
use crate::model::text::Text;
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;
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
    say(spender(found, &reading, has_calls));
    Ok(ReadToEnd::of(&reading))
}

/// The usage of a session; with `has_calls` by what requests call, too, and with the failed calls.
pub fn spender(found: FoundSession, reading: &Reading, has_calls: bool) -> Spender {
    let transcript = &reading.transcript;
    let charges = charges(EntryCharges::compute(transcript).charges, transcript);
    let lacking = if may_miss_agents(transcript) {
        incomplete_charges(&charges, &reading.account, transcript)
    } else {
        HashSet::new()
    };
    let id = transcript.meta().id.as_ref().unwrap_or(&found.id).clone();
    let failed = if has_calls {
        failed_calls(transcript, &id)
    } else {
        Vec::new()
    };
    // Charges without a timestamp get that of the newest entry.
    let is_timed = charges.iter().all(|charge| charge.at.is_some())
        && failed.iter().all(|(_, failed)| failed.at.is_some());
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
            failed: 0,
            is_run,
            lacks_agents,
        }
    };
    Spender {
        id,
        has_files: find::may_be_continued(found.format),
        is_fork: transcript
            .entries()
            .flat_map(|entry| &entry.blocks)
            .any(Block::is_resumption),
        spent: charges.into_iter().enumerate().map(spent).collect(),
        failed,
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

/// The failed calls of a session, as usage without an amount: what a call is grouped by is its own
/// tool, not those of its request.
fn failed_calls(transcript: &Transcript, session: &Text) -> Vec<(CallIdentity, UsageRecord)> {
    // A copy of an entry has no calls of its own.
    let entries = transcript.entries().filter(|entry| !entry.marks.copy);
    let calls = entries.flat_map(|entry| {
        let calls = entry.numbered_calls().map(move |call| (entry, call));
        calls.filter(|(_, (_, call))| Outcome::of(&call.state) == Outcome::Failed)
    });
    let record = |(entry, (block, call)): (&Entry, (usize, &ToolCall))| {
        let attribution = Attribution {
            mcp: server_of(call),
            tool: Some(call.name.clone()),
            ..attribution_of(transcript, entry, false)
        };
        let failed = UsageRecord {
            key: None,
            at: call.started.or(entry.at),
            model: entry.model.clone().unwrap_or_default(),
            attribution: Some(Arc::new(attribution)),
            amount: Amount::default(),
            failed: 1,
            is_run: false,
            lacks_agents: false,
        };
        (call_identity(entry, block, session), failed)
    };
    calls.map(record).collect()
}
