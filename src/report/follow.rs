//! `tv show --follow`: writes entries as they become complete, in file order, until interrupted.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use signal_hook::consts::SIGINT;

use super::outcome::{ReportError, ReportOutcome};
use super::printer::{PrintOptions, Printer};
use super::reading::{Reading, Taken};
use crate::analysis::calls::lookup::Lookup;
use crate::ingest::{self, Target, WatchMode};
use crate::model::edit::{Feed, LinkState};
use crate::model::entry::{Entry, EntryId, Role};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::{Replaced, Transcript};

/// Capacity of the queue between reading and writing, in batches.
const QUEUE: usize = 16;
/// A message may span several records; after a pause of this length the last one is taken as
/// complete.
const PAUSE: Duration = Duration::from_millis(300);

/// A flag that the first interrupt sets; a second one ends the program.
pub(super) fn interrupts() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&stop))?;
    signal_hook::flag::register(SIGINT, Arc::clone(&stop))?;
    Ok(stop)
}

/// Follows a session until `work` returns. Returns its result, whether the user interrupted, and
/// the session as read.
pub(super) fn followed<T>(
    target: &Target,
    mode: WatchMode,
    work: impl FnOnce(&Receiver<Feed>, &AtomicBool, &mut Reading) -> T,
) -> Result<(T, bool, Reading), ReportError> {
    let stop = interrupts()?;
    let session = ingest::open(target)?;
    let mut reading = Reading::of(target, &session);
    let (sender, feed) = bounded(QUEUE);
    let thread = session.follow(sender, mode, Arc::clone(&stop), Box::new(|| {}));
    let outcome = work(&feed, &stop, &mut reading);
    let was_interrupted = stop.swap(true, Ordering::Relaxed);
    drop(feed);
    thread.thread().unpark();
    // A panic of the thread is already reported in the feed.
    let _ = thread.join();
    Ok((outcome, was_interrupted, reading))
}

/// Writes the entries that exist, then those that are appended.
pub fn write(
    options: &PrintOptions,
    target: &Target,
    mode: WatchMode,
    now: fn() -> Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let work = |feed: &Receiver<Feed>, stop: &AtomicBool, reading: &mut Reading| {
        write_feed(Printer::new(options, now), feed, stop, reading, out)
    };
    let (printer, was_interrupted, reading) = followed(target, mode, work)?;
    let outcome = if was_interrupted {
        ReportOutcome::Interrupted
    } else {
        ReportOutcome::of(reading.failure().into_iter().collect())
    };
    printer?;
    Ok(outcome)
}

fn write_feed<'o>(
    mut printer: Printer<'o>,
    feed: &Receiver<Feed>,
    stop: &AtomicBool,
    reading: &mut Reading,
    out: &mut dyn Write,
) -> io::Result<Printer<'o>> {
    let (mut is_known_whole, mut has_head) = (false, false);
    let mut is_open = true;
    while is_open && !stop.load(Ordering::Relaxed) {
        let is_quiet = match feed.recv_timeout(PAUSE) {
            Ok(message) => {
                is_known_whole |= matches!(message, Feed::CaughtUp);
                is_open = !matches!(message, Feed::Link(LinkState::Closed) | Feed::Fault(_));
                if let Taken::Replaced(Replaced {
                    before: Some(before),
                    ..
                }) = reading.apply_and_pack(message)
                {
                    printer.remap(&Lookup {
                        before: &before,
                        now: &reading.transcript,
                    });
                }
                false
            }
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => {
                is_open = false;
                true
            }
        };
        if is_known_whole && feed.is_empty() {
            reading.update_derived();
            if !std::mem::replace(&mut has_head, true) {
                printer.print_head(reading, out)?;
            }
            write_complete(&mut printer, is_quiet, reading, out)?;
        }
    }
    reading.update_derived();
    if !has_head {
        printer.print_head(reading, out)?;
    }
    for id in reading.transcript.order().to_vec() {
        printer.print(id, reading, out)?;
    }
    out.flush()?;
    Ok(printer)
}

/// Writes entries up to the first that may still change.
fn write_complete(
    printer: &mut Printer<'_>,
    is_quiet: bool,
    reading: &mut Reading,
    out: &mut dyn Write,
) -> io::Result<()> {
    printer.reset_colour_budget();
    let order = reading.transcript.order();
    let new = order
        .iter()
        .rposition(|id| printer.has_printed(*id))
        .map_or(0, |last| last + 1);
    for id in order.get(new..).unwrap_or_default().to_vec() {
        if !is_complete(id, is_quiet, &reading.transcript) {
            break;
        }
        printer.print(id, reading, out)?;
    }
    out.flush()
}

/// Whether an entry will not change any more: its calls have results, or the model continued
/// without them.
fn is_complete(id: EntryId, is_quiet: bool, transcript: &Transcript) -> bool {
    let Some(entry) = transcript.get(id) else {
        return true;
    };
    let later = || later_entries(id, transcript);
    let is_ahead = |other: &Entry| other.lane.is_none() || other.lane == entry.lane;
    let went_on = || later().any(|other| other.role == Role::Assistant && is_ahead(other));
    let waits = entry.calls().any(|call| call.state.is_open());
    let may_grow = entry.marks.open || !(is_quiet || later().next().is_some());
    went_on() || (!waits && !may_grow)
}

fn later_entries(id: EntryId, transcript: &Transcript) -> impl Iterator<Item = &Entry> {
    let others = transcript
        .order()
        .iter()
        .rev()
        .take_while(move |other| **other != id);
    others.filter_map(|other| transcript.get(*other))
}

#[cfg(test)]
mod tests;
