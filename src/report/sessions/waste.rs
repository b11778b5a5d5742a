//! `tv waste`: what was paid for in sessions and came to nothing, the dearest first, as a table, as
//! CSV or as JSON (schemas `tv.waste/1` and `tv.waste.sums/1`, only ever added to).
//!
//! Invariant: the sums are those of the sessions; what stands in several, as in a fork, counts in
//! each.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ratatui::text::{Line, Span};

use super::each::{ReadProgress, ReadToEnd, WhichFiles, each};
use crate::analysis::by::By;
use crate::analysis::calls::Calls;
use crate::analysis::context::window::Windows;
use crate::analysis::context::window::carried::Carried;
use crate::analysis::derived::Memo;
use crate::analysis::expression::When;
use crate::analysis::files::Files;
use crate::analysis::loops::Loops;
use crate::analysis::money::spending::statement::Statement;
use crate::analysis::waste::{Waste, WasteKind, WasteSources};
use crate::ingest::find::DiscoveryQuery;
use crate::ingest::{OpenError, Target};
use crate::listing::sort::Value;
use crate::listing::table::{Listing, Table};
use crate::listing::waste::{DEAREST, WasteList, WasteRow, estimated};
use crate::model::found::FoundSession;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;
use crate::report::json;
use crate::report::listing::{ListingForm, Object, names, plain, values};
use crate::report::outcome::{self, Missed, ReportError};
use crate::report::reading::{self, Reading, on_one_line};
use crate::report::rows::Paper;

/// Rows that the table has.
const SHOWN: usize = 20;

/// Options of the report.
pub struct WasteOptions {
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// What sums are grouped by; `None` for a row each.
    pub by: Option<By>,
    /// Only sessions that were written to from this time on.
    pub since: Option<When>,
    pub form: ListingForm,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
    /// Width and signs of the table.
    pub paper: Paper,
}

/// The waste of a session, each with the name of its group.
type Seen = Vec<(Name, WasteRow)>;

/// A sum over rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct WasteSum {
    count: usize,
    picos: i128,
    unpriced: usize,
}

impl WasteSum {
    fn add(&mut self, row: &WasteRow) {
        self.count += 1;
        self.picos += row.picos.unwrap_or(0);
        self.unpriced += usize::from(row.picos.is_none());
    }

    /// The cost; `None` if nothing of it has a price.
    fn picos(self) -> Option<i128> {
        (self.unpriced < self.count).then_some(self.picos)
    }
}

/// The sums of a group, by kind.
type KindSums = BTreeMap<WasteKind, WasteSum>;

/// Finds the waste of all sessions and writes it.
pub fn write(
    options: &WasteOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<outcome::ReportOutcome, ReportError> {
    let since = options.since.and_then(|when| when.resolve(Some(now)));
    let mut missed = Missed::default();
    let mut rows: Vec<(Name, WasteRow)> = Vec::new();
    let read = |target: &Target, found: FoundSession, say: &mut dyn FnMut(Seen) -> bool| {
        let reading = reading::read(target, false)?;
        say(waste_of(&reading, &found, options.by, now));
        Ok::<_, OpenError>(ReadToEnd {
            files: reading
                .files
                .values()
                .map(|path| path.to_path_buf())
                .collect(),
            failure: reading.failure(),
        })
    };
    let which = (since, WhichFiles::Newest);
    each(&options.search, which, now, read, |step| {
        match step {
            ReadProgress::Session(seen) => rows.extend(*seen),
            ReadProgress::Failure(failure) => missed.push(failure),
            ReadProgress::Found(_) | ReadProgress::Done => {}
        }
        true
    });
    match options.by {
        Some(by) => write_sums(&rows, by, options, out)?,
        None => write_rows(rows.into_iter().map(|(_, row)| row).collect(), options, out)?,
    }
    Ok(outcome::ReportOutcome::of_many(
        missed,
        options.strict,
        outcome::ReportOutcome::Complete,
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

fn write_rows(rows: Vec<WasteRow>, options: &WasteOptions, out: &mut dyn Write) -> io::Result<()> {
    let list = WasteList(&rows);
    let keys = DEAREST.sort(&list, (0..rows.len()).collect());
    let sorted = || keys.iter().filter_map(|key| list.row(key));
    match options.form {
        ListingForm::Json => sorted().try_for_each(|row| {
            let schema = ("schema", Value::text(Some("tv.waste/1")));
            let fields = std::iter::once(schema).chain(values(&list, &row));
            json::write_line(out, &Object(fields.collect()))
        }),
        ListingForm::Csv => {
            let mut csv = csv::Writer::from_writer(out);
            csv.write_record(names(&list))?;
            for row in sorted() {
                csv.write_record(values(&list, &row).map(|(_, value)| plain(&value)))?;
            }
            csv.flush()
        }
        ListingForm::Text => {
            if rows.is_empty() {
                return writeln!(out, "nothing was wasted, as far as records tell");
            }
            let mut sums = KindSums::new();
            for row in &rows {
                sums.entry(row.kind).or_default().add(row);
            }
            let mut sums: Vec<_> = sums.into_iter().collect();
            sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.picos));
            for (kind, sum) in sums {
                let cost = estimated(sum.picos());
                let (words, word) = (kind.words(), kind.word());
                writeln!(out, "{cost:>10} {:>6}×  {word:<9} {words}", sum.count)?;
            }
            writeln!(out)?;
            let (paper, theme) = (options.paper, options.paper.theme());
            let table = Table::of(&list, usize::from(paper.width));
            let mut line =
                |line: Line<'static>| writeln!(out, "{}", paper.bare_line(&line.spans).trim_end());
            line(table.heads(None, &theme))?;
            for row in sorted().take(SHOWN) {
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

fn write_sums(
    rows: &[(Name, WasteRow)],
    by: By,
    options: &WasteOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut groups: BTreeMap<&Name, (WasteSum, KindSums)> = BTreeMap::new();
    for (group, row) in rows {
        let (all, kinds) = groups.entry(group).or_default();
        all.add(row);
        kinds.entry(row.kind).or_default().add(row);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (all, _))| std::cmp::Reverse(all.picos));
    let fields = |name: &Name, kinds: &KindSums| {
        let head = [
            ("schema", Value::text(Some("tv.waste.sums/1"))),
            ("by", Value::text(Some(by.word()))),
            (
                "name",
                Value::text(Some(name.as_str()).filter(|name| !name.is_empty())),
            ),
        ];
        let sums = WasteKind::ALL.into_iter().flat_map(|(kind, count, usd)| {
            let sum = kinds.get(&kind).copied().unwrap_or_default();
            [
                (count, Value::int(Some(sum.count))),
                (usd, Value::usd(sum.picos())),
            ]
        });
        head.into_iter().chain(sums).collect::<Vec<_>>()
    };
    match options.form {
        ListingForm::Json => groups
            .iter()
            .try_for_each(|(name, (_, kinds))| json::write_line(out, &Object(fields(name, kinds)))),
        ListingForm::Csv => {
            let mut csv = csv::Writer::from_writer(out);
            let empty = fields(&Name::default(), &KindSums::new());
            csv.write_record(empty.iter().skip(1).map(|(name, _)| name))?;
            for (name, (_, kinds)) in &groups {
                let values = fields(name, kinds).into_iter().skip(1);
                csv.write_record(values.map(|(_, value)| plain(&value)))?;
            }
            csv.flush()
        }
        ListingForm::Text => {
            let width = usize::from(options.paper.width);
            let room = width
                .saturating_sub(10 * WasteKind::ALL.len())
                .clamp(14, 60);
            let cut = options.paper.theme().glyphs().cut;
            let mut line = |name: &str, cells: Vec<String>| {
                let name = wrap::fit(&[Span::raw(name.to_owned())], room, cut);
                let gap = " ".repeat(room.saturating_sub(wrap::width_of(&name)));
                let cells = cells.iter().map(|cell| format!(" {cell:>9}"));
                let line = options.paper.bare_line(&name);
                writeln!(
                    out,
                    "{}",
                    format!("{line}{gap}{}", cells.collect::<String>()).trim_end()
                )
            };
            let heads = WasteKind::ALL.map(|(_, word, _)| word.to_owned());
            line(by.word(), heads.to_vec())?;
            let mut all = KindSums::new();
            for (_, row) in rows {
                all.entry(row.kind).or_default().add(row);
            }
            let cells = |kinds: &KindSums| {
                let cells = WasteKind::ALL.map(|(kind, ..)| {
                    let sum = kinds.get(&kind);
                    sum.map_or_else(String::new, |sum| estimated(sum.picos()))
                });
                cells.to_vec()
            };
            for (name, (_, kinds)) in &groups {
                let name = on_one_line(name);
                line(
                    if name.is_empty() { by.none() } else { &name },
                    cells(kinds),
                )?;
            }
            line("all", cells(&all))
        }
    }
}
