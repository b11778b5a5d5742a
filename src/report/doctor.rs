//! `tv doctor`: how a file was understood, and what was not understood. Schema `tv.doctor/2`, only
//! ever added to.

pub mod health;
mod prices;
mod text;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use self::prices::PriceLines;
use super::figures::{self, RecordFigures};
use super::json;
use super::outcome::{ReportError, ReportOutcome};
use super::reading::{self, NamedSessions, Reading};
use crate::analysis::anomalies::{self, Anomaly};
use crate::analysis::calls::pairing;
use crate::analysis::lint;
use crate::ingest::fs;
use crate::ingest::{self, defined};
use crate::model::coverage::{Coverage, FieldCoverage};
use crate::model::edit::{Notice, Severity};
use crate::model::record::{FileId, Origin};
use crate::model::tally::Tally;
use crate::model::tally::unknown::Unknown;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// Options of `tv doctor` for named sessions.
pub struct DoctorOptions {
    pub sessions: NamedSessions,
    /// JSON instead of text.
    pub json: bool,
}

#[derive(Serialize)]
struct DoctorReport {
    schema: &'static str,
    path: String,
    #[serde(flatten)]
    recognition: Recognition,
    #[serde(flatten)]
    agent: AgentLines,
    files: Vec<String>,
    file_list: Vec<DoctorFile>,
    records: RecordFigures,
    shown_percent: Option<f64>,
    shown_bytes_percent: Option<f64>,
    strings: StringLines,
    unknown: Vec<UnknownLine>,
    /// The text of an overlay file that would name the unknown kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    overlay: Option<String>,
    unknown_fields: Vec<UnknownLine>,
    /// `null` if the format does not link all of its records.
    links: Option<LinkLines>,
    pairing: PairingLines,
    times: TimeLines,
    notices: Vec<NoticeLine>,
    prices: PriceLines,
    fault: Option<String>,
}

/// Facts that the agent records about itself and the session, and what it does not record.
#[derive(Serialize)]
struct AgentLines {
    versions: Vec<String>,
    version_list: Vec<VersionLine>,
    facts: BTreeMap<&'static str, String>,
    omits: &'static str,
}

/// The detected format, and the verdict of every format.
#[derive(Serialize)]
struct Recognition {
    format: &'static str,
    confidence: &'static str,
    reason: String,
    /// The format definition that was used, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<String>,
    /// The user's files that extend the format.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    added_by: Vec<String>,
    formats: Vec<FormatLine>,
}

/// A version of the agent program.
#[derive(Serialize)]
struct VersionLine {
    version: String,
    first: PlaceLine,
}

/// A file of the session.
#[derive(Serialize)]
struct DoctorFile {
    path: String,
    role: &'static str,
    bytes: Option<u64>,
    records: u64,
    record_bytes: u64,
}

/// The share of the strings in records that entries show. Raw records do not count as shown.
#[derive(Serialize)]
struct StringLines {
    bytes: u64,
    #[serde(rename = "told")]
    shown: u64,
    #[serde(rename = "told_percent")]
    shown_percent: Option<f64>,
    details: u64,
    details_percent: Option<f64>,
    missing: Vec<FieldLine>,
}

/// Strings that are not shown in full, by field.
#[derive(Serialize)]
struct FieldLine {
    path: String,
    strings: u64,
    bytes: u64,
    #[serde(rename = "told")]
    shown: u64,
    first: PlaceLine,
}

#[derive(Serialize)]
struct LinkLines {
    linked: u64,
    roots: u64,
    anomalies: Vec<AnomalyLine>,
}

#[derive(Serialize)]
struct PairingLines {
    calls: u64,
    paired: u64,
    failed: u64,
    refused: u64,
    stopped: u64,
    anomalies: Vec<AnomalyLine>,
}

#[derive(Serialize)]
struct TimeLines {
    first: Option<String>,
    last: Option<String>,
    /// The first and last timestamp, for the text output.
    #[serde(skip)]
    reach: Option<(Timestamp, Timestamp)>,
    anomalies: Vec<AnomalyLine>,
}

#[derive(Serialize)]
struct AnomalyLine {
    what: &'static str,
    note: Option<String>,
    count: u64,
    first: PlaceLine,
}

#[derive(Serialize)]
struct FormatLine {
    /// Whether this is a format definition that rejects the file; there are many, and the text
    /// omits them.
    #[serde(skip)]
    is_brief: bool,
    format: &'static str,
    confidence: &'static str,
    reason: String,
}

#[derive(Serialize)]
struct UnknownLine {
    what: String,
    count: u64,
    /// The loudest fate of a kind; fields have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'static str>,
    /// The agent version that wrote the first record of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
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

/// Writes how each session was understood.
pub fn write(
    options: &DoctorOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let DoctorOptions { sessions, json } = options;
    let mut written = 0;
    let missed = sessions.each_read(reading::survey, |reading, coverage| {
        let report = examine(&reading, &coverage, now);
        if *json {
            return Ok(json::write_line(out, &report)?);
        }
        if written > 0 {
            writeln!(out)?;
        }
        written += 1;
        Ok(text::write(&report, out)?)
    })?;
    Ok(sessions.outcome(missed, ReportOutcome::Complete))
}

fn examine(reading: &Reading, coverage: &Coverage, now: Timestamp) -> DoctorReport {
    let transcript = &reading.transcript;
    let tally = transcript.tally();
    let unknown = |(what, unknown): (&Text, &Unknown)| UnknownLine {
        what: what.to_string(),
        count: unknown.count(),
        judged: Some(unknown.judged().word()),
        version: version_at(unknown.first, tally),
        first: place(unknown.first, reading),
    };
    let field = |(what, (count, first)): (&Text, &(u64, Origin))| UnknownLine {
        what: what.to_string(),
        count: *count,
        judged: None,
        version: None,
        first: place(*first, reading),
    };
    let links = anomalies::of_links(transcript).map(|links| LinkLines {
        linked: links.linked,
        roots: links.roots,
        anomalies: anomaly_lines(links.anomalies, reading),
    });
    let times = anomalies::of_times(transcript);
    let counts = pairing::count(transcript, true);
    DoctorReport {
        schema: "tv.doctor/2",
        path: reading::shown(&reading.target.path).to_string(),
        recognition: recognition(reading),
        agent: AgentLines {
            versions: transcript
                .meta()
                .versions
                .iter()
                .map(ToString::to_string)
                .collect(),
            version_list: versions(reading),
            facts: transcript
                .meta()
                .facts
                .iter()
                .map(|(name, value)| (*name, value.to_string()))
                .collect(),
            omits: ingest::omits(reading.opened.format),
        },
        files: reading
            .files
            .values()
            .map(|path| reading::shown(path).to_string())
            .collect(),
        file_list: files(reading),
        records: figures::records(reading),
        // Faulty records count as shown, because they are shown raw.
        shown_percent: percent(tally.records() - tally.passed, tally.records()),
        shown_bytes_percent: percent(
            tally.bytes.total() - tally.bytes.passed,
            tally.bytes.total(),
        ),
        strings: strings(coverage, reading),
        unknown: tally.unknown.iter().map(unknown).collect(),
        overlay: defined::naming(
            reading.opened.format,
            tally
                .unknown
                .iter()
                .map(|(kind, unknown)| (kind.to_string(), unknown.judged())),
        ),
        unknown_fields: tally.unknown_fields.iter().map(field).collect(),
        links,
        pairing: PairingLines {
            calls: counts.calls,
            paired: counts.paired,
            failed: counts.failed,
            refused: counts.refused,
            stopped: counts.stopped,
            anomalies: anomaly_lines(anomalies::of_pairing(transcript), reading),
        },
        times: TimeLines {
            first: times.first.map(Timestamp::to_rfc3339),
            last: times.last.map(Timestamp::to_rfc3339),
            reach: times.first.zip(times.last),
            anomalies: anomaly_lines(times.anomalies, reading),
        },
        notices: notices(transcript.notices(), reading),
        prices: PriceLines::of(transcript.totals(), now),
        fault: reading.fault.as_ref().map(ToString::to_string),
    }
}

fn recognition(reading: &Reading) -> Recognition {
    let formats = reading.verdicts.iter().map(|verdict| FormatLine {
        is_brief: verdict.confidence == "no" && defined::definition_of(verdict.format).is_some(),
        format: verdict.format,
        confidence: verdict.confidence,
        reason: verdict.reason.to_string(),
    });
    Recognition {
        format: reading.opened.format,
        confidence: reading.opened.confidence,
        reason: reading.opened.reason.to_string(),
        definition: definition(reading.opened.format),
        added_by: defined::overlay_files(reading.opened.format)
            .map(|file| file.display().to_string())
            .collect(),
        formats: formats.collect(),
    }
}

fn definition(format: &str) -> Option<String> {
    Some(match &defined::definition_of(format)?.file {
        None => "built in".to_owned(),
        Some(file) if defined::is_replaced(format) => {
            format!("{}, in place of the one of tv", file.display())
        }
        Some(file) => file.display().to_string(),
    })
}

fn strings(coverage: &Coverage, reading: &Reading) -> StringLines {
    let FieldCoverage {
        bytes,
        shown,
        details,
        ..
    } = coverage.total();
    let line = |(path, share): (&Text, FieldCoverage)| FieldLine {
        path: path.to_string(),
        strings: share.strings,
        bytes: share.bytes,
        shown: share.shown,
        first: place(share.first, reading),
    };
    let missing = coverage.missing().into_iter().map(line).collect();
    StringLines {
        bytes,
        shown,
        shown_percent: percent(shown, bytes),
        details,
        details_percent: percent(details, bytes),
        missing,
    }
}

/// The version of the agent that wrote a record: the last version first seen before the record in
/// its file, else the first version.
fn version_at(record: Origin, tally: &Tally) -> Option<String> {
    let in_file = tally
        .versions
        .iter()
        .filter(|(_, first)| first.file == record.file);
    let before = in_file
        .filter(|(_, first)| **first <= record)
        .max_by_key(|(_, first)| **first);
    let version = before.or_else(|| tally.versions.iter().min_by_key(|(_, first)| **first));
    version.map(|(version, _)| version.to_string())
}

/// The versions in the order in which they first occur.
fn versions(reading: &Reading) -> Vec<VersionLine> {
    let mut versions: Vec<(&Text, &Origin)> = reading.transcript.tally().versions.iter().collect();
    versions.sort_by_key(|(_, first)| **first);
    let line = |(version, first): (&Text, &Origin)| VersionLine {
        version: version.to_string(),
        first: place(*first, reading),
    };
    versions.into_iter().map(line).collect()
}

fn files(reading: &Reading) -> Vec<DoctorFile> {
    let line = |(id, path): (&FileId, &Arc<Path>)| {
        let (records, record_bytes) = reading.transcript.tally().files.get(*id);
        let role = if fs::is_dir(path) {
            "folder"
        } else if **path == *reading.target.path {
            "session"
        } else if path.starts_with(&reading.target.path) {
            "part"
        } else {
            "companion"
        };
        let bytes = fs::metadata(path)
            .ok()
            .filter(fs::Metadata::is_file)
            .map(|file| file.len);
        DoctorFile {
            path: reading::shown(path).to_string(),
            role,
            bytes,
            records,
            record_bytes,
        }
    };
    reading.files.iter().map(line).collect()
}

fn anomaly_lines(anomalies: Vec<Anomaly>, reading: &Reading) -> Vec<AnomalyLine> {
    let line = |anomaly: Anomaly| AnomalyLine {
        what: anomaly.what,
        note: Some(anomaly.note).filter(|note| !note.is_empty()),
        count: anomaly.count,
        first: place(anomaly.first, reading),
    };
    anomalies.into_iter().map(line).collect()
}

/// A percentage with one decimal, rounded down, so that only the whole is 100.
fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 * 1000.0 / whole as f64).floor() / 10.0)
}

/// Lists equal notices once, with their count and first position. Unknown and faulty records are
/// left out, because they have sections of their own.
fn notices(all: &[Notice], reading: &Reading) -> Vec<NoticeLine> {
    let tally = reading.transcript.tally();
    let is_listed_elsewhere = |notice: &Notice| {
        notice.severity == Severity::Error
            || notice
                .what
                .strip_prefix("unknown ")
                .is_some_and(|what| tally.unknown.contains_key(what))
    };
    let mut lines: BTreeMap<&str, NoticeLine> = BTreeMap::new();
    for notice in all.iter().filter(|notice| !is_listed_elsewhere(notice)) {
        let line = lines.entry(&notice.what).or_insert_with(|| NoticeLine {
            severity: lint::word(notice.severity),
            what: notice.what.to_string(),
            count: 0,
            first: place(notice.origin, reading),
        });
        line.count += 1;
    }
    lines.into_values().collect()
}

fn place(origin: Origin, reading: &Reading) -> PlaceLine {
    PlaceLine {
        file: reading::shown(reading.file(origin.file)).to_string(),
        line: (origin.line > 0).then_some(origin.line),
        byte: origin.at,
    }
}

#[cfg(test)]
mod tests;
