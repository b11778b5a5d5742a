//! `tv tools` and `tv files`: the lists of the views as text, CSV or JSON, one object per row
//! (schemas `tv.tool/1`, `tv.tool.sums/1` and `tv.file/1`, only ever added to).
//!
//! Invariant: all three have the same rows in the same order. JSON and CSV have all columns, text
//! those that fit.

use std::io::{self, Write};

use ratatui::text::Line;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::json;
use super::outcome::{ReportError, ReportOutcome};
use super::reading::{self, NamedSessions, Reading, SessionFields};
use super::rows::Paper;
use crate::analysis::calls::Calls;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::context::window::Windows;
use crate::analysis::context::window::carried::Carried;
use crate::analysis::derived::Memo;
use crate::analysis::files::Files;
use crate::analysis::lint::Findings;
use crate::analysis::money::cost::usd;
use crate::listing::call::CallScene;
use crate::listing::calls::{CallList, IN_ORDER};
use crate::listing::files::{FileList, MOST_CHANGED, keys};
use crate::listing::sort::{Sort, Unit, Value};
use crate::listing::table::{Listing, Table};
use crate::listing::tools::{LONGEST, ToolList};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// A row per call.
    Calls,
    /// A row per tool.
    Tools,
    /// A row per file.
    Files,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingForm {
    Text,
    Csv,
    /// One JSON object per line.
    Json,
}

impl ListingForm {
    /// The form for the options `--json` and `--csv`.
    pub(crate) fn of(json: bool, csv: bool) -> Self {
        match (json, csv) {
            (true, _) => Self::Json,
            (false, true) => Self::Csv,
            (false, false) => Self::Text,
        }
    }
}

/// Options of `tv tools` and `tv files`.
pub struct ListingOptions {
    pub sessions: NamedSessions,
    pub kind: ListKind,
    pub form: ListingForm,
    pub paper: Paper,
}

/// Writes the list of every session that can be opened.
pub fn write(
    options: &ListingOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let mut out = ListWriter {
        options,
        begun: 0,
        out,
    };
    let missed = options.sessions.each(
        |target| reading::read(target, reading::is_large(target)),
        |reading| {
            let transcript = &reading.transcript;
            match options.kind {
                ListKind::Files => {
                    let files = Memo::<Files>::of(transcript);
                    let carried = carrying_costs(transcript);
                    let list = FileList::of(transcript, &files, &carried);
                    out.write(&reading, &list, keys(&files), MOST_CHANGED)?;
                }
                ListKind::Tools => {
                    let calls = Memo::<Calls>::of(transcript);
                    let names = calls.tools.iter().map(|(name, _)| name.clone());
                    out.write(
                        &reading,
                        &ToolList::of(&calls.tools, &carrying_costs(transcript)),
                        names.collect(),
                        LONGEST,
                    )?;
                }
                ListKind::Calls => {
                    let calls = Memo::<Calls>::of(transcript);
                    let scene = CallScene {
                        transcript,
                        calls: &calls,
                        carried: &carrying_costs(transcript),
                        findings: &Findings::of(transcript),
                        awaited: Awaited::of(transcript),
                        is_at_work: reading.activity(now).is_ongoing(now),
                        now,
                    };
                    out.write(&reading, &CallList(scene), calls.all().collect(), IN_ORDER)?;
                }
            }
            Ok(())
        },
    )?;
    Ok(options.sessions.outcome(missed, ReportOutcome::Complete))
}

/// What the results of a session cost to carry.
pub(crate) fn carrying_costs(transcript: &Transcript) -> Carried {
    Memo::<Carried>::compute(transcript, &Memo::<Windows>::of(transcript))
}

impl ListKind {
    fn schema(self) -> &'static str {
        match self {
            Self::Calls => "tv.tool/1",
            Self::Tools => "tv.tool.sums/1",
            Self::Files => "tv.file/1",
        }
    }

    /// The message for an empty list.
    fn none(self) -> &'static str {
        match self {
            Self::Tools | Self::Calls => "no tool was called",
            Self::Files => "no file was read or changed",
        }
    }
}

/// Writes listings, one after the other.
struct ListWriter<'a> {
    options: &'a ListingOptions,
    /// Number of listings begun.
    begun: usize,
    out: &'a mut dyn Write,
}

impl ListWriter<'_> {
    fn write<L: Listing>(
        &mut self,
        reading: &Reading,
        listing: &L,
        keys: Vec<L::Key>,
        sort: Sort,
    ) -> Result<(), ReportError> {
        let ListingOptions { kind, paper, .. } = self.options;
        let keys = sort.sort(listing, keys);
        let SessionFields { path, session } = reading.fields();
        self.begun += 1;
        let before = [
            ("path", Value::text(Some(path.as_str()))),
            ("session", Value::text(session)),
        ];
        let out = &mut *self.out;
        match self.options.form {
            ListingForm::Json => write_json(listing, &keys, kind.schema(), &before, out)?,
            ListingForm::Csv => write_csv(listing, &keys, &before, self.begun == 1, out)?,
            ListingForm::Text => {
                if self.begun > 1 {
                    writeln!(out)?;
                }
                if self.options.sessions.targets.len() > 1 {
                    writeln!(out, "{}", reading::on_one_line(&path))?;
                }
                if keys.is_empty() {
                    writeln!(out, "{}", kind.none())?;
                } else {
                    write_text(listing, &keys, Some(sort), *paper, out)?;
                }
            }
        }
        Ok(())
    }
}

/// A value with the name of its column.
type Field = (&'static str, Value);

/// Writes the heads of columns, the rows, and their total.
pub(super) fn write_text<L: Listing>(
    listing: &L,
    keys: &[L::Key],
    sort: Option<Sort>,
    paper: Paper,
    out: &mut dyn Write,
) -> io::Result<()> {
    let theme = paper.theme();
    let rows = keys.iter().filter_map(|key| listing.row(key));
    let rows: Vec<L::Row> = rows.chain(listing.total()).collect();
    let table = Table::for_rows(listing, rows.iter(), usize::from(paper.width), &theme);
    std::iter::once(table.heads(sort, &theme))
        .chain(rows.iter().map(|row| table.row(row, &theme, false)))
        .try_for_each(|Line { spans, .. }| writeln!(out, "{}", paper.bare_line(&spans)))
}

/// Writes a line for each row, with the fields `before` in front of its own.
pub(super) fn write_csv<L: Listing>(
    listing: &L,
    keys: &[L::Key],
    before: &[Field],
    has_heads: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    if has_heads {
        let columns = listing.columns(usize::MAX).into_iter();
        let own = columns.filter_map(|column| Some(column.sort?.by));
        csv.write_record(before.iter().map(|(name, _)| *name).chain(own))?;
    }
    for row in keys.iter().filter_map(|key| listing.row(key)) {
        let cells = before.iter().cloned().chain(values(listing, &row));
        csv.write_record(cells.map(|(_, value)| plain(&value)))?;
    }
    csv.flush()
}

/// Writes an object for each row, with the fields `before` in front of its own.
pub(super) fn write_json<L: Listing>(
    listing: &L,
    keys: &[L::Key],
    schema: &str,
    before: &[Field],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rows = keys.iter().filter_map(|key| listing.row(key));
    rows.try_for_each(|row| {
        let fields = [("schema", Value::text(Some(schema)))].into_iter();
        let fields = fields.chain(before.iter().cloned());
        let fields: Vec<Field> = fields.chain(values(listing, &row)).collect();
        json::write_line(out, &Object(&fields))
    })
}

/// The values of a row with the names of their columns.
fn values<L: Listing>(listing: &L, row: &L::Row) -> impl Iterator<Item = Field> {
    let columns = listing.columns(usize::MAX).into_iter();
    columns.filter_map(move |column| Some((column.sort?.by, (column.value)(row))))
}

/// A value as CSV: on one line, empty if unknown.
fn plain(value: &Value) -> String {
    match value {
        Value::None => String::new(),
        Value::Rows(_) => serde_json::to_string(&ValueJson(value)).unwrap_or_default(),
        Value::Bool(is_so) => is_so.to_string(),
        // As in JSON: `0.0`.
        Value::Figure(picos, Unit::Usd) => serde_json::Value::from(micros(*picos)).to_string(),
        Value::Figure(figure, _) => figure.to_string(),
        Value::Time(at) => at.to_rfc3339(),
        Value::Text(text) => reading::on_one_line(text).into_owned(),
        Value::Texts(texts) => texts.join(", "),
        Value::Ranked(_, value) => plain(value),
    }
}

/// USD to a millionth.
fn micros(picos: i128) -> f64 {
    (usd(picos) * 1e6).round() / 1e6
}

/// A row as JSON.
struct Object<'a>(&'a [Field]);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, &ValueJson(value))?;
        }
        map.end()
    }
}

struct ValueJson<'a>(&'a Value);

impl Serialize for ValueJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::None => serializer.serialize_none(),
            Value::Bool(is_so) => is_so.serialize(serializer),
            Value::Figure(picos, Unit::Usd) => micros(*picos).serialize(serializer),
            Value::Figure(figure, _) => figure.serialize(serializer),
            Value::Time(at) => at.to_rfc3339().serialize(serializer),
            Value::Text(text) => text.serialize(serializer),
            Value::Texts(texts) => texts.serialize(serializer),
            Value::Rows(rows) => serializer.collect_seq(rows.iter().map(|row| Object(row))),
            Value::Ranked(_, value) => ValueJson(value).serialize(serializer),
        }
    }
}
