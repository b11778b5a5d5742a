//! `tv doctor`: how a file was understood, and what was not. Schema `tv.doctor/1`, only ever added to.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::figures::{self, RecordFigures};
use super::outcome::{Outcome, Trouble};
use super::reading::{self, Reading};
use crate::ingest::Target;
use crate::model::edit::{Notice, Severity};
use crate::model::record::Origin;

/// What to examine.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The session.
    pub target: Target,
    /// JSON instead of text.
    pub json: bool,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    path: String,
    format: &'static str,
    confidence: &'static str,
    reason: String,
    formats: Vec<FormatLine>,
    versions: Vec<String>,
    facts: BTreeMap<&'static str, String>,
    files: Vec<String>,
    records: RecordFigures,
    shown_percent: Option<f64>,
    unknown: Vec<UnknownLine>,
    notices: Vec<NoticeLine>,
    fault: Option<String>,
}

#[derive(Serialize)]
struct FormatLine {
    format: &'static str,
    confidence: &'static str,
    reason: String,
}

#[derive(Serialize)]
struct UnknownLine {
    what: String,
    count: u64,
    first: PlaceLine,
}

#[derive(Serialize)]
struct NoticeLine {
    severity: &'static str,
    what: String,
    count: u64,
    first: PlaceLine,
}

#[derive(Serialize)]
struct PlaceLine {
    file: String,
    line: Option<u32>,
    byte: u64,
}

/// Writes how a session was understood.
pub fn write(options: &Options, out: &mut dyn Write) -> Result<Outcome, Trouble> {
    let reading = reading::read(&options.target, true)?;
    let report = examine(&reading);
    if options.json {
        serde_json::to_writer(&mut *out, &report)?;
        writeln!(out)?;
    } else {
        write_text(&report, out)?;
    }
    Ok(Outcome::of(reading.failure().into_iter().collect()))
}

fn examine(reading: &Reading) -> Report {
    let transcript = &reading.transcript;
    let tally = transcript.tally();
    let formats = reading.verdicts.iter().map(|verdict| FormatLine {
        format: verdict.format,
        confidence: verdict.confidence,
        reason: verdict.reason.to_string(),
    });
    let unknown = tally.unknown.iter().map(|(what, (count, first))| UnknownLine {
        what: what.to_string(),
        count: *count,
        first: place(*first, reading),
    });
    let total = tally.records();
    // Faulty records are shown too, as they are.
    let visible = (total - tally.passed) as f64;
    Report {
        schema: "tv.doctor/1",
        path: reading::shown(&reading.target.path).to_string(),
        format: reading.opened.format,
        confidence: reading.opened.confidence,
        reason: reading.opened.reason.to_string(),
        formats: formats.collect(),
        versions: transcript.meta().versions.iter().map(ToString::to_string).collect(),
        facts: transcript.meta().facts.iter().map(|(name, value)| (*name, value.to_string())).collect(),
        files: reading.files.values().map(|path| reading::shown(path).to_string()).collect(),
        records: figures::records(reading),
        shown_percent: (total > 0).then(|| (visible * 1000.0 / total as f64).round() / 10.0),
        unknown: unknown.collect(),
        notices: notices(transcript.notices(), reading),
        fault: reading.fault.as_ref().map(ToString::to_string),
    }
}

/// Equal notices are told once, with their count and first place. What is unknown or faulty has a
/// section of its own.
fn notices(all: &[Notice], reading: &Reading) -> Vec<NoticeLine> {
    let tally = reading.transcript.tally();
    let is_told = |notice: &Notice| {
        notice.severity == Severity::Error
            || notice.what.strip_prefix("unknown ").is_some_and(|what| tally.unknown.contains_key(what))
    };
    let mut lines: BTreeMap<&str, NoticeLine> = BTreeMap::new();
    for notice in all.iter().filter(|notice| !is_told(notice)) {
        let line = lines.entry(&notice.what).or_insert_with(|| NoticeLine {
            severity: severity(notice.severity),
            what: notice.what.to_string(),
            count: 0,
            first: place(notice.origin, reading),
        });
        line.count += 1;
    }
    lines.into_values().collect()
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn place(origin: Origin, reading: &Reading) -> PlaceLine {
    PlaceLine {
        file: reading::shown(reading.file(origin.file)).to_string(),
        line: (origin.line > 0).then_some(origin.line),
        byte: origin.at,
    }
}

fn write_text(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let Report { path, format, confidence, reason, .. } = report;
    writeln!(out, "{path}: {format} ({confidence}): {reason}")?;
    for version in &report.versions {
        writeln!(out, "  written by version {version}")?;
    }
    for (name, value) in &report.facts {
        writeln!(out, "  {name}: {value}")?;
    }
    if report.files.len() > 1 {
        writeln!(out, "  read from {} files", report.files.len())?;
    }
    write_records(report, out)?;
    section("unknown types and fields, shown raw", report.unknown.iter(), out, |line| {
        format!("{:>6}  {} (first: {})", line.count, line.what, shown(&line.first))
    })?;
    let faults = report.records.faults.iter();
    section("faulty records, shown as they are", faults, out, |fault| {
        let file = fault.file.as_deref().unwrap_or(path);
        format!("{file}:{}: byte {}: {}", fault.line, fault.byte, fault.what)
    })?;
    section("notices", report.notices.iter(), out, |line| {
        format!("{:>6}  {}: {} (first: {})", line.count, line.severity, line.what, shown(&line.first))
    })?;
    section("what each format says", report.formats.iter(), out, |line| {
        format!("{:<20} {:<10} {}", line.format, line.confidence, line.reason)
    })
}

fn write_records(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let RecordFigures { total, shown, merged, passed, faulty, .. } = &report.records;
    let share = report.shown_percent.map(|percent| format!(" ({percent}% shown)")).unwrap_or_default();
    writeln!(out, "  {total} records{share}")?;
    writeln!(out, "  {shown:>6}  shown as entries")?;
    writeln!(out, "  {merged:>6}  part of other entries")?;
    writeln!(out, "  {passed:>6}  passed over")?;
    for (reason, count) in &report.records.passed_reasons {
        writeln!(out, "          {count:>6}  {reason}")?;
    }
    writeln!(out, "  {faulty:>6}  faulty")?;
    match &report.fault {
        Some(fault) => writeln!(out, "  reading stopped: {fault}"),
        None => Ok(()),
    }
}

fn section<T>(
    title: &str,
    lines: impl ExactSizeIterator<Item = T>,
    out: &mut dyn Write,
    line: impl Fn(T) -> String,
) -> io::Result<()> {
    if lines.len() == 0 {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for item in lines {
        writeln!(out, "  {}", line(item))?;
    }
    Ok(())
}

fn shown(place: &PlaceLine) -> String {
    let line = place.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}, byte {}", place.file, place.byte)
}

#[cfg(test)]
mod tests;
