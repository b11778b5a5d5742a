//! `tv waste`: what was paid for in sessions and came to nothing, the dearest first, as a table, as
//! CSV or as JSON (schemas `tv.waste/1` and `tv.waste.sums/1`, only ever added to).
//!
//! Invariant: the sums are those of the sessions; what stands in several, as in a fork, counts in
//! each.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ratatui::text::Line;

use super::each::{ReadToEnd, SumsOptions, WhichFiles, each_result};
use crate::analysis::by::By;
use crate::analysis::calls::Calls;
use crate::analysis::context::window::Windows;
use crate::analysis::context::window::carried::Carried;
use crate::analysis::derived::Memo;
use crate::analysis::expression::When;
use crate::analysis::files::Files;
use crate::analysis::loops::Loops;
use crate::analysis::money::spending::statement::Statement;
use crate::analysis::waste::{Waste, WasteSources};
use crate::ingest::{OpenError, Target};
use crate::listing::groups::{KindSums, WasteGroups};
use crate::listing::table::{Listing, Table};
use crate::listing::waste::{DEAREST, WasteList, WasteRow, estimated};
use crate::model::found::FoundSession;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::report::listing::{ListingForm, write_csv, write_json, write_text};
use crate::report::outcome::{ReportError, ReportOutcome};
use crate::report::reading::{self, Reading};

/// Rows that the table has.
const SHOWN: usize = 20;

/// The waste of a session, each with the name of its group.
type Seen = Vec<(Name, WasteRow)>;

/// Finds the waste of all sessions and writes it.
pub(crate) fn write(
    options: &SumsOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let since = When::option(options.since, now);
    let mut rows: Vec<(Name, WasteRow)> = Vec::new();
    let read = |target: &Target, found: FoundSession, say: &mut dyn FnMut(Seen) -> bool| {
        let reading = reading::read(target, false)?;
        say(waste_of(&reading, &found, options.by, now));
        Ok::<_, OpenError>(ReadToEnd::of(&reading))
    };
    let which = (since, WhichFiles::Newest);
    let missed = each_result(&options.search, which, now, read, |seen| {
        rows.extend(seen);
        true
    });
    match options.by {
        Some(by) => write_sums(&rows, by, options, out)?,
        None => write_rows(rows.into_iter().map(|(_, row)| row).collect(), options, out)?,
    }
    Ok(ReportOutcome::of_many(
        missed,
        options.strict,
        ReportOutcome::Complete,
    ))
}

/// The waste of a session that was read with its bodies.
fn waste_of(reading: &Reading, found: &FoundSession, by: Option<By>, now: Timestamp) -> Seen {
    let transcript = &reading.transcript;
    let windows = Memo::<Windows>::of(transcript);
    let sources = WasteSources {
        transcript,
        calls: &Memo::<Calls>::of(transcript),
        carried: &Memo::<Carried>::compute(transcript, &windows),
        windows: &windows,
        files: &Memo::<Files>::of(transcript),
        loops: &Memo::<Loops>::of(transcript),
        statement: &Statement::compute(transcript, &reading.account),
        is_over: !reading.activity(now).is_ongoing(now),
    };
    let of_session = by.map(|by| by.group_of_session(found, transcript));
    let of_session = of_session.unwrap_or_default();
    let (address, fields) = (reading.address(), reading.fields());
    let row = |waste: Waste| {
        let entry = transcript.get(waste.entry)?;
        let call = waste.block.and_then(|block| entry.call(block));
        let group = by.map(|by| by.group_of((transcript, &of_session), entry, call));
        let row = WasteRow {
            kind: waste.kind,
            picos: waste.picos,
            what: waste.what,
            at: call.and_then(|call| call.started).or(entry.at),
            model: entry.model.clone(),
            tool: call.map(|call| call.name.clone()),
            path: fields.path.clone(),
            session: fields.session.clone(),
            key: entry.key.clone(),
            address: format!("{address}#{}", entry.key),
        };
        Some((group.unwrap_or_default(), row))
    };
    sources.waste().into_iter().filter_map(row).collect()
}

fn write_rows(rows: Vec<WasteRow>, options: &SumsOptions, out: &mut dyn Write) -> io::Result<()> {
    let list = WasteList(&rows);
    let keys = DEAREST.sort(&list, (0..rows.len()).collect());
    match options.form {
        ListingForm::Json => write_json(&list, &keys, "tv.waste/1", &[], out),
        ListingForm::Csv => write_csv(&list, &keys, &[], true, out),
        ListingForm::Text => {
            if rows.is_empty() {
                return writeln!(out, "nothing was wasted, as far as records tell");
            }
            let mut sums: Vec<_> = sums_of(rows.iter()).into_iter().collect();
            sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.picos));
            for (kind, sum) in sums {
                let cost = estimated(sum.priced());
                let (words, word) = (kind.words(), kind.word());
                writeln!(out, "{cost:>10} {:>6}×  {word:<9} {words}", sum.count)?;
            }
            writeln!(out)?;
            let (paper, theme) = (options.paper, options.paper.theme());
            let table = Table::of(&list, usize::from(paper.width));
            let mut line = |line: Line<'static>| writeln!(out, "{}", paper.bare_line(&line.spans));
            line(table.heads(None, &theme))?;
            for row in keys.iter().filter_map(|key| list.row(key)).take(SHOWN) {
                line(table.row(&row, &theme, false))?;
                // What is cut opens nothing.
                line(Line::raw(format!("           tv '{}'", row.address)))?;
            }
            match rows.len().saturating_sub(SHOWN) {
                0 => Ok(()),
                more => writeln!(out, "           and {more} more"),
            }
        }
    }
}

/// The sums of some waste, by kind.
fn sums_of<'r>(rows: impl Iterator<Item = &'r WasteRow>) -> KindSums {
    let mut sums = KindSums::new();
    for row in rows {
        sums.entry(row.kind).or_default().add(row);
    }
    sums
}

fn write_sums(
    rows: &[(Name, WasteRow)],
    by: By,
    options: &SumsOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut groups: BTreeMap<Name, KindSums> = BTreeMap::new();
    for (group, row) in rows {
        let kinds = groups.entry(group.clone()).or_default();
        kinds.entry(row.kind).or_default().add(row);
    }
    let picos = |kinds: &KindSums| kinds.values().map(|sum| sum.picos).sum::<i128>();
    let mut keys: Vec<Name> = groups.keys().cloned().collect();
    keys.sort_by_key(|group| std::cmp::Reverse(groups.get(group).map_or(0, picos)));
    let list = WasteGroups {
        by,
        groups: &groups,
        all: &sums_of(rows.iter().map(|(_, row)| row)),
    };
    match options.form {
        ListingForm::Json => write_json(&list, &keys, "tv.waste.sums/1", &[], out),
        ListingForm::Csv => write_csv(&list, &keys, &[], true, out),
        ListingForm::Text => write_text(&list, &keys, None, options.paper, out),
    }
}
