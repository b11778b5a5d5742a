//! The doctor's report as text: the detected format first, then anomalies, then the verdicts of the
//! other formats.

use std::io::{self, Write};

use super::{
    AnomalyLine, DoctorFile, DoctorReport, FieldLine, FormatLine, PlaceLine, Recognition,
    VersionLine,
};
use crate::model::figures::{bytes, count};
use crate::report::stats::{from_to, further};

/// Maximum number of files listed by name.
const FILES: usize = 12;
/// Maximum number of hidden fields listed by name.
const FIELDS: usize = 20;

pub(super) fn write(report: &DoctorReport, out: &mut dyn Write) -> io::Result<()> {
    let DoctorReport {
        path, recognition, ..
    } = report;
    let Recognition {
        format,
        confidence,
        reason,
        definition,
        ..
    } = recognition;
    writeln!(out, "{path}: {format} ({confidence}): {reason}")?;
    if let Some(definition) = definition {
        writeln!(out, "  read by a definition: {definition}")?;
    }
    for file in &recognition.added_by {
        writeln!(out, "  with kinds and places of {file}")?;
    }
    if let Some(versions) = versions(&report.agent.version_list) {
        writeln!(out, "  written by {versions}")?;
    }
    if let Some((first, last)) = report.times.reach {
        writeln!(out, "  from {}", from_to(first, last))?;
    }
    for (name, value) in &report.agent.facts {
        writeln!(out, "  {name}: {value}")?;
    }
    if !report.agent.omits.is_empty() {
        writeln!(out, "  not recorded by this agent: {}", report.agent.omits)?;
    }
    report.prices.write(out)?;
    write_records(report, out)?;
    write_files(report, out)?;
    write_strings(report, out)?;
    section(
        "kinds that tv does not know",
        report.unknown.iter(),
        out,
        |line| {
            let judged = line.judged.unwrap_or_default();
            let version = line
                .version
                .as_ref()
                .map(|version| format!("version {version}, "))
                .unwrap_or_default();
            format!(
                "{:>6}  {judged:<5}  {} ({version}first: {})",
                line.count,
                line.what,
                shown(&line.first)
            )
        },
    )?;
    let lines: Vec<&str> = report
        .overlay
        .iter()
        .flat_map(|overlay| overlay.lines())
        .collect();
    let title =
        format!("lines that name them, for formats/{format}.toml in the folder of settings");
    section(&title, lines.into_iter(), out, str::to_owned)?;
    section(
        "fields that are new to tv, seen in the raw record only",
        report.unknown_fields.iter(),
        out,
        |line| {
            format!(
                "{:>6}  {} (first: {})",
                line.count,
                line.what,
                shown(&line.first)
            )
        },
    )?;
    let faults = report.records.faults.iter();
    section("faulty records, shown as they are", faults, out, |fault| {
        let file = fault.file.as_deref().unwrap_or(path);
        format!("{file}:{}: byte {}: {}", fault.line, fault.byte, fault.what)
    })?;
    write_anomalies(report, out)?;
    section("notices", report.notices.iter(), out, |line| {
        format!(
            "{:>6}  {}: {} (first: {})",
            line.count,
            line.severity,
            line.what,
            shown(&line.first)
        )
    })?;
    // Rejecting definitions all give the same reason.
    let formats: Vec<&FormatLine> = recognition
        .formats
        .iter()
        .filter(|line| !line.is_brief)
        .collect();
    section("what each format says", formats.into_iter(), out, |line| {
        format!(
            "{:<20} {:<10} {}",
            line.format, line.confidence, line.reason
        )
    })
}

/// `version 2.1.98 (line 3)`, `versions 2.0.64 (line 3) to 2.1.185 (line 900), 4 in all`.
fn versions(list: &[VersionLine]) -> Option<String> {
    let described =
        |line: &VersionLine| format!("{} (first: {})", line.version, shown(&line.first));
    Some(match list {
        [] => return None,
        [one] => format!("version {}", described(one)),
        [first, last] => format!("versions {} and {}", described(first), described(last)),
        [first, .., last] => {
            format!(
                "versions {} to {}, {} in all",
                described(first),
                described(last),
                list.len()
            )
        }
    })
}

fn write_records(report: &DoctorReport, out: &mut dyn Write) -> io::Result<()> {
    let records = &report.records;
    let total = count(records.total, "record");
    let share = match (report.shown_percent, report.shown_bytes_percent) {
        (Some(records), Some(bytes)) => {
            format!(": {records}% of them and {bytes}% of their bytes are shown")
        }
        _ => String::new(),
    };
    writeln!(out, "  {total} of {}{share}", bytes(records.bytes.total))?;
    let fates = [
        (records.shown, records.bytes.shown, "shown as entries"),
        (
            records.merged,
            records.bytes.merged,
            "part of other entries",
        ),
        (records.passed, records.bytes.passed, "passed over"),
    ];
    for (number, size, what) in fates {
        writeln!(out, "  {number:>8} {:>8}  {what}", bytes(size))?;
    }
    for (reason, number) in &records.passed_reasons {
        let size = records
            .bytes
            .passed_reasons
            .get(reason)
            .copied()
            .unwrap_or(0);
        writeln!(out, "    {number:>8} {:>8}  {reason}", bytes(size))?;
    }
    writeln!(
        out,
        "  {:>8} {:>8}  faulty",
        records.faulty,
        bytes(records.bytes.faulty)
    )?;
    match &report.fault {
        Some(fault) => writeln!(out, "  reading stopped: {fault}"),
        None => Ok(()),
    }
}

fn write_files(report: &DoctorReport, out: &mut dyn Write) -> io::Result<()> {
    let files = &report.file_list;
    if files.len() < 2 {
        return Ok(());
    }
    let line = |file: &DoctorFile| {
        let size = file.bytes.map_or_else(|| "?".to_owned(), bytes);
        format!(
            "{:<9} {size:>8} {:>14}  {}",
            file.role,
            count(file.records, "record"),
            file.path
        )
    };
    section(
        &format!("{} files", files.len()),
        files.iter().take(FILES),
        out,
        line,
    )?;
    let more: Vec<&DoctorFile> = files.iter().skip(FILES).collect();
    if more.is_empty() {
        return Ok(());
    }
    let size = more.iter().filter_map(|file| file.bytes).sum();
    let records = more.iter().map(|file| file.records).sum();
    writeln!(
        out,
        "  and {} more: {}, {}",
        more.len(),
        bytes(size),
        count(records, "record")
    )
}

fn write_strings(report: &DoctorReport, out: &mut dyn Write) -> io::Result<()> {
    let strings = &report.strings;
    let Some(percent) = strings.shown_percent else {
        return Ok(());
    };
    let only = if strings.missing.is_empty() {
        ""
    } else {
        "; in the raw record only:"
    };
    let details = match strings.details_percent.filter(|_| strings.details > 0) {
        Some(details) => format!(" ({details}% as details)"),
        None => String::new(),
    };
    let title = format!(
        "strings: {} of text, {percent}% of it shown{details}{only}",
        bytes(strings.bytes)
    );
    let line = |field: &FieldLine| {
        let missing = bytes(field.bytes.saturating_sub(field.shown));
        format!(
            "{missing:>8} of {:>8}  {} (first: {})",
            bytes(field.bytes),
            field.path,
            shown(&field.first)
        )
    };
    titled(&title, strings.missing.iter().take(FIELDS), out, line)?;
    let more = strings.missing.len().saturating_sub(FIELDS);
    if more == 0 {
        Ok(())
    } else {
        writeln!(out, "  and {} more", count(more as u64, "field"))
    }
}

fn write_anomalies(report: &DoctorReport, out: &mut dyn Write) -> io::Result<()> {
    let line = |anomaly: &AnomalyLine| {
        let note = anomaly
            .note
            .as_deref()
            .map(|note| format!(", {note}"))
            .unwrap_or_default();
        format!(
            "{}: {}{note} (first: {})",
            anomaly.what,
            anomaly.count,
            shown(&anomaly.first)
        )
    };
    if let Some(links) = &report.links {
        let title = format!(
            "links: {} with a parent, {}",
            links.linked,
            count(links.roots, "root")
        );
        titled(&title, links.anomalies.iter(), out, line)?;
    }
    let pairing = &report.pairing;
    if pairing.calls > 0 || !pairing.anomalies.is_empty() {
        let others = [
            (pairing.refused, "not allowed"),
            (pairing.stopped, "stopped"),
        ];
        let title = format!(
            "calls: {}, {} with their result, {} failed{}",
            pairing.calls,
            pairing.paired,
            pairing.failed,
            further(&others)
        );
        titled(&title, pairing.anomalies.iter(), out, line)?;
    }
    section("times", report.times.anomalies.iter(), out, line)
}

fn titled<T>(
    title: &str,
    lines: impl ExactSizeIterator<Item = T>,
    out: &mut dyn Write,
    line: impl Fn(T) -> String,
) -> io::Result<()> {
    writeln!(out, "\n{title}")?;
    for item in lines {
        writeln!(out, "  {}", line(item))?;
    }
    Ok(())
}

/// Writes a section as [`titled`] does, if it has lines.
fn section<T>(
    title: &str,
    lines: impl ExactSizeIterator<Item = T>,
    out: &mut dyn Write,
    line: impl Fn(T) -> String,
) -> io::Result<()> {
    if lines.len() == 0 {
        Ok(())
    } else {
        titled(title, lines, out, line)
    }
}

/// The position with the file's name only; its path is listed above.
fn shown(place: &PlaceLine) -> String {
    let name = place.file.rsplit('/').next().unwrap_or(&place.file);
    let line = place
        .line
        .map(|line| format!(":{line}"))
        .unwrap_or_default();
    format!("{name}{line}, byte {}", place.byte)
}
