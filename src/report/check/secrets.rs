//! `tv check --secrets`: where keys, tokens and passwords are that `--redact` would mask, as lines
//! that editors can jump to, and as JSON (schema `tv.secret/1`, only ever added to).
//!
//! The session is read as with `--redact`, so what is listed is what would be masked. Invariant: no
//! part of a secret is written but the beginning that all secrets of its kind share.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use serde::Serialize;

use super::has_lines;
use crate::model::body::Key;
use crate::model::figures::count;
use crate::model::record::{FileId, Origin};
use crate::model::text::Text;
use crate::model::text::secrets::{self, SecretPlace};
use crate::report::json;
use crate::report::outcome::{ReportError, ReportOutcome};
use crate::report::reading::{self, NamedSessions, Reading};

/// Options of `tv check --secrets`.
pub struct SecretsOptions {
    pub sessions: NamedSessions,
    /// Whether the output is JSON.
    pub json: bool,
}

/// A secret in a record.
#[derive(Serialize)]
struct SecretLine {
    schema: &'static str,
    path: String,
    session: Option<String>,
    /// Number of the secret; the same secret in another record has the same.
    secret: usize,
    kind: Text,
    /// How often it is in the record.
    times: usize,
    key: Option<Key>,
    line: Option<u32>,
    byte: Option<u64>,
}

/// Lists the secrets of every session that can be opened.
pub fn write(options: &SecretsOptions, out: &mut dyn Write) -> Result<ReportOutcome, ReportError> {
    let (mut sessions, mut places) = (0_u64, 0_u64);
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let missed = options.sessions.each(
        |target| {
            // Beginnings of files that were looked at to find the session.
            secrets::take_sites();
            reading::read(target, true)
        },
        |reading| {
            sessions += 1;
            for line in lines(&reading, &mut numbers) {
                places += 1;
                if options.json {
                    json::write_line(out, &line)?;
                } else {
                    write_text(&line, &reading, out)?;
                }
            }
            Ok(())
        },
    )?;
    if !options.json && sessions > 0 {
        let found = match numbers.len() as u64 {
            0 => "no known shape of a key or token".to_owned(),
            secrets => format!("{}, {}", count(secrets, "secret"), count(places, "place")),
        };
        writeln!(out, "{found} in {}", count(sessions, "session"))?;
    }
    let otherwise = if places > 0 {
        ReportOutcome::Found
    } else {
        ReportOutcome::Complete
    };
    Ok(options.sessions.outcome(missed, otherwise))
}

fn lines(reading: &Reading, numbers: &mut HashMap<String, usize>) -> Vec<SecretLine> {
    let mut times: Vec<(SecretPlace, usize)> = Vec::new();
    let mut known: HashMap<(Option<Origin>, String), usize> = HashMap::new();
    let all = secrets::take_sites();
    // In a second pass over the decoded texts a secret that one record has is masked already.
    let in_records: HashSet<String> = (all.iter())
        .filter(|site| site.record.is_some())
        .map(|site| site.secret.clone())
        .collect();
    for site in all {
        if site.record.is_none() && in_records.contains(&site.secret) {
            continue;
        }
        let at = *known
            .entry((site.record, site.secret.clone()))
            .or_insert(times.len());
        match times.get_mut(at) {
            Some((_, times)) => *times += 1,
            None => times.push((site, 1)),
        }
    }
    times.sort_by_key(|(site, _)| site.record.map(|record| (record.file, record.at)));
    let keys = keys(reading);
    let fields = reading.fields();
    let line = |(site, times): (SecretPlace, usize)| {
        let next = numbers.len() + 1;
        let record = site.record;
        let file = record.map_or(FileId(0), |record| record.file);
        SecretLine {
            schema: "tv.secret/1",
            path: reading::shown(reading.file(file)).to_string(),
            session: fields.session.clone(),
            secret: *numbers.entry(site.secret).or_insert(next),
            kind: Text::clean(&site.kind),
            times,
            key: record.and_then(|record| keys.get(&(record.file, record.at)).cloned()),
            line: record.map(|record| record.line).filter(|line| *line > 0),
            byte: record.map(|record| record.at),
        }
    };
    times.into_iter().map(line).collect()
}

/// The keys of the entries that records belong to.
fn keys(reading: &Reading) -> HashMap<(FileId, u64), Key> {
    let mut keys = HashMap::new();
    for entry in reading.transcript.entries() {
        let bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
        let bodies = bodies.map(|body| body.from);
        for record in [entry.origin].into_iter().chain(bodies) {
            keys.entry((record.file, record.at))
                .or_insert_with(|| entry.key.clone());
        }
    }
    keys
}

fn write_text(
    line: &SecretLine,
    reading: &Reading,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let path = reading::on_one_line(&line.path);
    let number = line.line.filter(|_| has_lines(reading)).unwrap_or(1);
    write!(
        out,
        "{path}:{number}: warning[secret]: {} (secret {}",
        reading::on_one_line(&line.kind),
        line.secret
    )?;
    if line.times > 1 {
        write!(out, ", {} times", line.times)?;
    }
    if let Some(key) = &line.key {
        write!(out, ", #{}", reading::on_one_line(key))?;
    }
    writeln!(out, ")")?;
    Ok(())
}
