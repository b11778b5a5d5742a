//! `tv formats`: lists the formats and the folders of their sessions, checks a user's definition
//! against samples, and shows the built-in ones.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;

use super::outcome::{ReportError, ReportOutcome};
use super::reading::{self, Reading};
use crate::analysis::calls::pairing;
use crate::ingest::defined::{self, FormatInfo};
use crate::ingest::find::{self, Environment};
use crate::ingest::{OpenError, Target};
use crate::model::coverage::Coverage;
use crate::model::figures;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::Work;
use crate::model::transcript::Transcript;

/// Number of failed results from which a majority of failures is suspicious.
const LEAST_FAILED: u64 = 2;
/// Maximum number of listed fields that no rule reads.
const FIELDS: usize = 30;

/// Options of `tv formats`.
pub enum FormatsOptions {
    List(Environment),
    /// Check a definition and read samples with it.
    Check {
        /// The definition's name and its parts without effect, or its errors.
        definition: Result<(&'static str, Vec<String>), Vec<String>>,
        /// Files to read by it.
        samples: Vec<Target>,
        /// The folder that definitions are read from; `None` if this one is in it.
        folder: Option<PathBuf>,
    },
    /// Show the text of a built-in definition.
    Show(String),
}

/// Runs the chosen command.
pub fn write(options: &FormatsOptions, out: &mut dyn Write) -> Result<ReportOutcome, ReportError> {
    match options {
        FormatsOptions::List(environment) => list(environment, out)?,
        FormatsOptions::Check {
            definition: Err(mistakes),
            ..
        } => {
            for mistake in mistakes {
                writeln!(out, "{}", Text::clean(mistake))?;
            }
            return Ok(ReportOutcome::Found);
        }
        FormatsOptions::Check {
            definition: Ok((name, remarks)),
            samples,
            folder,
        } => {
            let outcome = check((name, remarks.as_slice()), samples, out)?;
            if let Some(folder) = folder {
                writeln!(
                    out,
                    "\nit is used for all sessions once it lies in {}",
                    reading::shown(folder)
                )?;
            }
            return Ok(outcome);
        }
        FormatsOptions::Show(text) => write!(out, "{text}")?,
    }
    Ok(ReportOutcome::Complete)
}

fn list(environment: &Environment, out: &mut dyn Write) -> io::Result<()> {
    let formats = defined::format_infos(environment);
    let width = formats
        .iter()
        .map(|known| known.name.len())
        .max()
        .unwrap_or(0);
    // The time is irrelevant, because running sessions are not queried.
    let counts = find::counts(environment, Timestamp(0));
    for FormatInfo {
        name,
        agent,
        places,
        file,
    } in &formats
    {
        let found = counts.get(name).copied().unwrap_or(0);
        let agent = if agent == name { "" } else { agent };
        let own = match file {
            Some(file) if defined::is_replaced(name) => {
                format!(
                    " (by {}, in place of the one of tv)",
                    environment.shortened(file)
                )
            }
            Some(file) => format!(" (by {})", environment.shortened(file)),
            None => String::new(),
        };
        let added = defined::overlay_files(name)
            .map(|file| format!(" (with {})", environment.shortened(file)));
        let line = format!(
            "{name:<width$} {found:>6}  {agent}{own}{}",
            added.collect::<String>()
        );
        writeln!(out, "{}", Text::clean(line.trim_end()))?;
        for place in places {
            writeln!(out, "{:<width$}         {}", "", Text::clean(place))?;
        }
    }
    Ok(())
}

fn check(
    (name, remarks): (&str, &[String]),
    samples: &[Target],
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let mut failures: Vec<OpenError> = Vec::new();
    let mut readings = Vec::new();
    for sample in samples {
        match reading::survey(sample) {
            Ok(read) => readings.push(read),
            Err(failure) => failures.push(failure),
        }
    }
    let is_odd = readings.iter().any(|(reading, _)| is_odd(reading));
    let warnings = match remarks.len() {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        several => format!(", {several} warnings"),
    };
    let unread = if is_odd {
        ", but not all of the samples can be read by it"
    } else {
        ""
    };
    writeln!(out, "{name}: no mistakes{warnings}{unread}")?;
    for remark in remarks {
        writeln!(out, "{}", Text::clean(remark))?;
    }
    if readings.is_empty() {
        return Ok(ReportOutcome::of(failures));
    }
    let rules = defined::rules(name);
    if !rules.is_empty() {
        writeln!(out, "\nrecords by rule:")?;
    }
    for rule in &rules {
        let words = if rule.words.is_empty() {
            "all"
        } else {
            &rule.words
        };
        let line = format!("{:>8}  line {:<4} {words}", rule.taken, rule.line);
        writeln!(out, "{}", Text::clean(&line))?;
    }
    // Fields that only identify a record need not be shown.
    let tested: HashSet<&str> = rules
        .iter()
        .flat_map(|rule| rule.words.split(", "))
        .filter_map(|test| test.split(' ').next())
        .collect();
    for (reading, coverage) in &readings {
        sample(reading, coverage, &tested, out)?;
    }
    Ok(if failures.is_empty() && is_odd {
        ReportOutcome::Found
    } else {
        ReportOutcome::of(failures)
    })
}

/// Whether a sample has records without a rule, faulty records, or results without a call.
fn is_odd(reading: &Reading) -> bool {
    let tally = reading.transcript.tally();
    !tally.unknown.is_empty()
        || tally.faulty > 0
        || is_unpaired(&pairing::count(&reading.transcript, true))
}

fn is_unpaired(counts: &pairing::PairingCounts) -> bool {
    counts.calls > 0 && counts.results > 0 && counts.paired == 0
}

/// Describes the work in the background of calls whose results only acknowledge the start.
fn background(transcript: &Transcript, out: &mut dyn Write) -> io::Result<()> {
    let works: Vec<&Work> = (transcript.calls_with_work())
        .filter_map(|(_, call)| call.state.work())
        .collect();
    if !works.is_empty() {
        let ended = works.iter().filter(|work| work.completed().is_some());
        let delivered = works.iter().filter(|work| work.delivered().is_some());
        let polls: usize = works.iter().map(|work| work.polls().count()).sum();
        writeln!(
            out,
            "  {} whose work goes on after the result: {} with an end, {} told to the model; asked {}",
            figures::count(works.len() as u64, "call"),
            ended.count(),
            delivered.count(),
            figures::count(polls as u64, "time")
        )?;
    }
    match transcript.orphaned_ends() {
        0 => Ok(()),
        ends => writeln!(
            out,
            "  {} of no work that is there: `of` of `completes` and `handle` of results give other ids",
            figures::count(ends as u64, "end")
        ),
    }
}

/// Describes how a sample was read.
fn sample(
    reading: &Reading,
    coverage: &Coverage,
    tested: &HashSet<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let transcript = &reading.transcript;
    let tally = transcript.tally();
    writeln!(out, "\n{}:", reading::shown(&reading.target.path))?;
    let counts = pairing::count(transcript, true);
    writeln!(
        out,
        "  {}: {} shown, {} part of other entries, {} passed over, {} faulty; {}",
        figures::count(tally.records(), "record"),
        tally.shown,
        tally.merged,
        tally.passed,
        tally.faulty,
        figures::count(transcript.turns().len() as u64, "turn")
    )?;
    writeln!(
        out,
        "  {}, {} with their results",
        figures::count(counts.calls, "call"),
        counts.paired
    )?;
    if is_unpaired(&counts) {
        writeln!(
            out,
            "  no result names a call that is there: `call` and `result` of the definition give other ids"
        )?;
    }
    if counts.failed >= LEAST_FAILED && counts.failed * 2 > counts.results {
        writeln!(
            out,
            "  {} of {} results failed: if they succeeded, `failed` of the definition holds for success",
            counts.failed, counts.results
        )?;
    }
    background(transcript, out)?;
    if !tally.unknown.is_empty() {
        writeln!(out, "  taken by no rule:")?;
        for (what, found) in &tally.unknown {
            writeln!(
                out,
                "  {:>8}  {what}: {} (first in line {})",
                found.count(),
                found.judged().word(),
                found.first.line
            )?;
        }
    }
    let missing: BTreeMap<&Text, u64> = coverage
        .missing()
        .into_iter()
        .filter(|(path, _)| !tested.contains(path.as_str()))
        .take(FIELDS)
        .map(|(path, share)| (path, share.strings))
        .collect();
    if !missing.is_empty() {
        writeln!(out, "  fields that nothing shows:")?;
        for (path, strings) in missing {
            writeln!(out, "  {strings:>8}  {path}")?;
        }
    }
    Ok(())
}
