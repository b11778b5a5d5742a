//! `tv check`: the findings of the lint as lines that editors can jump to, as JSON (schema
//! `tv.check/1`, only ever added to) and as SARIF 2.1.0.

mod sarif;
pub mod secrets;

use std::io::Write;

use serde::Serialize;

use super::json;
use super::outcome::{ReportError, ReportOutcome};
use super::reading::{self, NamedSessions, Reading};
use crate::analysis::lint::{self, Alike, Counts, Finding, Findings, Severity};
use crate::ingest::Pager;
use crate::model::figures::count;
use crate::model::record::{Origin, Shape};

/// Options of `tv check`.
pub struct CheckOptions {
    pub sessions: NamedSessions,
    pub form: CheckForm,
    /// Minimum severity; less severe findings are only counted.
    pub least: Severity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckForm {
    /// `path:line:col: error[rule]: text`
    Text,
    /// One JSON object per line.
    Json,
    Sarif,
}

/// A finding with its file.
#[derive(Serialize)]
struct FindingJson {
    schema: &'static str,
    path: String,
    #[serde(flatten)]
    finding: FindingLine,
    #[serde(skip)]
    len: u32,
    #[serde(skip)]
    has_lines: bool,
}

/// A finding with its position.
#[derive(Serialize)]
pub(crate) struct FindingLine {
    rule: &'static str,
    severity: &'static str,
    /// Number of the entry, from 1.
    entry: Option<usize>,
    /// The line number, or the number of the record if records are not lines.
    #[serde(rename = "line")]
    number: Option<u32>,
    /// The byte position of the call's id in the line, from 1.
    column: Option<usize>,
    /// Byte offset of the record.
    byte: u64,
    call_id: Option<String>,
    /// Numbers of the other entries involved.
    others: Vec<usize>,
    message: String,
    consequence: String,
}

/// Writes the findings of every session that can be opened.
pub fn write(options: &CheckOptions, out: &mut dyn Write) -> Result<ReportOutcome, ReportError> {
    let mut totals = Counts::default();
    let mut sessions = 0_u64;
    let mut all = Vec::new();
    let missed = options.sessions.each(
        |target| reading::read(target, true),
        |mut reading| {
            sessions += 1;
            let findings = Findings::of(&reading.transcript);
            totals = totals + findings.counts;
            let wanted = at_least(&findings, options.least);
            let mut pager = reading.pager.take();
            match options.form {
                CheckForm::Text => write_text(&wanted, (&reading, &mut pager), out)?,
                CheckForm::Json => write_json(&lines(wanted, &reading, &mut pager), out)?,
                CheckForm::Sarif => all.extend(lines(wanted, &reading, &mut pager)),
            }
            Ok(())
        },
    )?;
    match options.form {
        CheckForm::Text if sessions > 0 => {
            writeln!(out, "{}", summary(totals, sessions, options.least))?;
        }
        CheckForm::Sarif => sarif::write(&all, out)?,
        CheckForm::Text | CheckForm::Json => {}
    }
    let otherwise = if totals.errors > 0 {
        ReportOutcome::Found
    } else {
        ReportOutcome::Complete
    };
    Ok(options.sessions.outcome(missed, otherwise))
}

/// Writes the list of rules.
pub fn write_rules(form: CheckForm, out: &mut dyn Write) -> Result<ReportOutcome, ReportError> {
    #[derive(Serialize)]
    struct RuleJson {
        schema: &'static str,
        rule: &'static str,
        severity: &'static str,
        what: &'static str,
    }
    if form == CheckForm::Sarif {
        sarif::write(&[], out)?;
        return Ok(ReportOutcome::Complete);
    }
    let width = lint::rules().map(|rule| rule.id.len()).max().unwrap_or(0);
    for rule in lint::rules() {
        let severity = lint::word(rule.severity);
        if form == CheckForm::Json {
            let line = RuleJson {
                schema: "tv.check.rules/1",
                rule: rule.id,
                severity,
                what: rule.what,
            };
            json::write_line(out, &line)?;
        } else {
            writeln!(out, "{:<width$}  {severity:<7}  {}", rule.id, rule.what)?;
        }
    }
    Ok(ReportOutcome::Complete)
}

/// The findings of at least this severity, in file order.
pub(crate) fn at_least(findings: &Findings, least: Severity) -> Vec<&Finding> {
    let mut wanted: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.severity >= least)
        .collect();
    wanted.sort_by_key(|finding| (finding.place.file, finding.place.at, finding.block));
    wanted
}

fn lines(
    findings: Vec<&Finding>,
    reading: &Reading,
    pager: &mut Option<Pager>,
) -> Vec<FindingJson> {
    findings
        .into_iter()
        .map(|finding| line(finding, reading, pager))
        .collect()
}

fn line(finding: &Finding, reading: &Reading, pager: &mut Option<Pager>) -> FindingJson {
    FindingJson {
        schema: "tv.check/1",
        path: reading::shown(reading.file(finding.place.file)).to_string(),
        finding: finding_line(finding, reading, pager.as_mut()),
        len: finding.place.len,
        has_lines: has_lines(reading),
    }
}

fn has_lines(reading: &Reading) -> bool {
    matches!(reading.shape, Shape::Lines | Shape::Stream)
}

/// Converts a finding to its output form.
pub(crate) fn finding_line(
    finding: &Finding,
    reading: &Reading,
    pager: Option<&mut Pager>,
) -> FindingLine {
    let Origin { at, line, .. } = finding.place;
    let number = |id| reading.transcript.place_of(id).map(|place| place + 1);
    FindingLine {
        rule: finding.rule.id,
        severity: lint::word(finding.severity),
        entry: number(finding.entry),
        number: (line > 0).then_some(line),
        others: finding.others.iter().filter_map(|id| number(*id)).collect(),
        column: column(finding, pager).filter(|_| has_lines(reading)),
        byte: at,
        call_id: Some(finding.call.to_string()).filter(|id| !id.is_empty()),
        message: finding.message.clone(),
        consequence: finding.consequence(),
    }
}

/// The position of the call's id in its record, from 1.
fn column(finding: &Finding, pager: Option<&mut Pager>) -> Option<usize> {
    let bytes = pager?
        .bytes(finding.place)
        .filter(|_| !finding.call.is_empty())?;
    memchr::memmem::find(&bytes, finding.call.as_bytes()).map(|at| at + 1)
}

/// Writes one line for all findings of a kind in a file: the position of the first, their count,
/// and the position of the last.
fn write_text(
    findings: &[&Finding],
    (reading, pager): (&Reading, &mut Option<Pager>),
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let of_files = findings.chunk_by(|one, next| one.place.file == next.place.file);
    let kinds: Vec<Alike<'_>> = of_files
        .flat_map(|of_file| lint::group_findings(of_file.iter().copied()))
        .collect();
    for kind in kinds {
        let first = line(kind.first, reading, pager);
        let FindingLine {
            rule,
            severity,
            message,
            ..
        } = &first.finding;
        let (row, column) = (
            first.finding.number.unwrap_or(1),
            first.finding.column.unwrap_or(1),
        );
        let path = &first.path;
        let path = reading::on_one_line(path);
        write!(out, "{path}:{row}:{column}: {severity}[{rule}]: {message}")?;
        let unit = if first.has_lines { "line" } else { "record" };
        match (kind.count, kind.last.place.line) {
            (1, _) => {}
            (count, 0) => write!(out, " (the first of {count})")?,
            (count, last) => write!(out, " (the first of {count}, the last in {unit} {last})")?,
        }
        if *severity == "error" {
            write!(out, "; {}", first.finding.consequence)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_json(lines: &[FindingJson], out: &mut dyn Write) -> Result<(), ReportError> {
    for line in lines {
        json::write_line(out, line)?;
    }
    Ok(())
}

fn summary(counts: Counts, sessions: u64, least: Severity) -> String {
    let counted = [
        (Severity::Error, counts.errors, "error"),
        (Severity::Warning, counts.warnings, "warning"),
        (Severity::Note, counts.notes, "note"),
    ];
    let parts = counted
        .iter()
        .filter(|(_, n, _)| *n > 0)
        .map(|(severity, n, what)| {
            let hidden = if *severity < least {
                " (not shown)"
            } else {
                ""
            };
            format!("{}{hidden}", count(*n as u64, what))
        });
    let parts: Vec<String> = parts.collect();
    let found = if parts.is_empty() {
        "nothing found".to_owned()
    } else {
        parts.join(", ")
    };
    format!("{found} in {}", count(sessions, "session"))
}
