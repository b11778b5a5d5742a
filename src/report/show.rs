//! `tv show`: a transcript as text, laid out as on the screen, or as JSON with one entry per line.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use rustix::fs::{self, FileType};
use rustix::stdio;

use super::follow;
use super::outcome::{ReportError, ReportOutcome};
use super::printer::{BranchChoice, PrintOptions, Printer};
use super::reading::{self, Reading};
use crate::analysis::reading::order;
use crate::ingest::{OpenError, Target};
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;

/// Writes transcripts, one after the other.
pub fn write(
    options: &PrintOptions,
    now: fn() -> Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let (sessions, targets) = (&options.sessions, &options.sessions.targets);
    if let Some(target) = targets.iter().flatten().find(|it| is_output(&it.path)) {
        let path = target.path.display();
        return Err(OpenError(format!("{path}: the output goes into the session itself")).into());
    }
    if let Some(mode) = options.follow {
        return match targets.as_slice() {
            [target] => follow::write(options, &target.clone()?, mode, now, out),
            _ => Err(OpenError("one session at a time can be followed".to_owned()).into()),
        };
    }
    if options.is_joined {
        return write_joined(options, now, out);
    }
    let is_one = matches!(targets.as_slice(), [Ok(target)]
        if sessions.sessions_of(target).is_ok_and(|named| named.len() == 1));
    let mut written = 0;
    let read = |target: &Target| reading::read(target, reading::is_large(target));
    let missed = sessions.each(read, |mut reading| {
        if !options.json && !is_one {
            if written > 0 {
                writeln!(out)?;
            }
            writeln!(out, "{}", reading::on_one_line(&reading.address()))?;
        }
        written += 1;
        write_session(options, now, &mut reading, out)
    })?;
    Ok(sessions.outcome(missed, ReportOutcome::Complete))
}

fn write_joined(
    options: &PrintOptions,
    now: fn() -> Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let targets = options.sessions.targets.iter().cloned();
    let targets = targets.collect::<Result<Vec<Target>, _>>()?;
    let Some((first, others)) = targets.split_first() else {
        return Ok(ReportOutcome::Complete);
    };
    let read = reading::read_as_one(first, others);
    let has_some = read.is_ok();
    let failure = match read {
        Ok(mut reading) => {
            write_session(options, now, &mut reading, out)?;
            reading.failure()
        }
        Err(failure) => Some(failure),
    };
    let mut missed = options
        .sessions
        .missed(first, failure.into_iter().collect(), has_some);
    for other in others {
        missed.add(options.sessions.missed(other, Vec::new(), true));
    }
    Ok(options.sessions.outcome(missed, ReportOutcome::Complete))
}

fn write_session(
    options: &PrintOptions,
    now: fn() -> Timestamp,
    reading: &mut Reading,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let order = order(&reading.transcript);
    let printer = Printer::new(options, now).with_chosen(chosen(options, reading)?);
    let mut printer = printer.with_runs(&order, &reading.transcript);
    printer.print_head(reading, out)?;
    for id in order {
        printer.print(id, reading, out)?;
    }
    Ok(printer.print_unreached(reading, out)?)
}

/// Whether a file is the standard output: reading it would never end, and nothing may be written to
/// a session.
fn is_output(path: &Path) -> bool {
    let Ok(output) = fs::fstat(stdio::stdout()) else {
        return false;
    };
    let is_file = FileType::from_raw_mode(output.st_mode).is_file();
    is_file
        && fs::stat(path)
            .is_ok_and(|file| (file.st_dev, file.st_ino) == (output.st_dev, output.st_ino))
}

/// The entries of the chosen branch with the sub-agents that they started; `None` if all are shown.
fn chosen(
    options: &PrintOptions,
    reading: &Reading,
) -> Result<Option<HashSet<EntryId>>, ReportError> {
    let transcript = &reading.transcript;
    let on_main = |id: &EntryId| {
        transcript
            .get(*id)
            .is_some_and(|entry| entry.lane.is_none())
    };
    let mut shown: HashSet<EntryId> = match options.branch {
        BranchChoice::All => return Ok(None),
        BranchChoice::Active => {
            let abandoned = &transcript.branches().abandoned;
            let ids = transcript
                .order()
                .iter()
                .filter(|id| on_main(id) && !abandoned.contains(*id));
            ids.copied().collect()
        }
        BranchChoice::Number(number) => match transcript.visible_on_branch(number) {
            Some(ids) => ids.into_iter().collect(),
            None => return Err(no_branch(number, reading).into()),
        },
    };
    for lane in transcript.lanes() {
        // A sub-agent of unknown origin belongs to the active path.
        let is_shown = match transcript.root_caller(lane) {
            Some(caller) => shown.contains(&caller),
            None => options.branch == BranchChoice::Active,
        };
        if is_shown {
            shown.extend(lane.entries.iter().copied());
        }
    }
    Ok(Some(shown))
}

fn no_branch(number: usize, reading: &Reading) -> OpenError {
    let path = reading::shown(&reading.target.path);
    OpenError(match reading.transcript.branches().list.len() {
        0 => format!(
            "{path} has no branch {number}: it never left one; `--branch all` shows everything"
        ),
        1 => format!("{path} has no branch {number}, only branch 1"),
        last => format!(
            "{path} has no branch {number}, only branches 1 to {last}; `tv stats` lists them"
        ),
    })
}
