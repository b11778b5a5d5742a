//! `tv status`: one line for tmux, a shell prompt, or the status line of Claude Code: how many
//! sessions need the user, work, and run something in the background, and what today cost.
//!
//! It is called every few seconds, so it reads as little as it can: a session only after a change,
//! or while its state depends on the time; all else is stored ([`Today`]). Of a session that was
//! written to lately it reads the end, for its state; for the cost of today a session whole, but a
//! large one only while there is time. What there was no time for keeps its earlier cost, or has
//! none, and the sum is marked as a lower bound until a later call has read it.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

use super::outcome::ReadFailure;
use super::outcome::{Missed, ReportError, ReportOutcome};
use super::reading;
use super::sessions::each::{ReadProgress, ReadToEnd, WhichFiles, each_unless};
use super::sessions::usage;
use super::stamps::Stamps;
use crate::analysis::expression::parse::moment;
use crate::analysis::ledger::Ledger;
use crate::analysis::phrases;
use crate::analysis::wall::SessionRow;
use crate::fleet;
use crate::ingest::find::{DiscoveryQuery, Unread};
use crate::ingest::{OpenError, Target};
use crate::model::found::FoundSession;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// Time in which large sessions are read for their cost.
const BUDGET: Duration = Duration::from_millis(25);
/// Size in bytes up to which a session is read for its cost in any case, since reading it for its
/// state takes as long.
const SMALL: u64 = 256 << 10;
/// Estimated bytes that are read in a millisecond.
const RATE: u64 = 200_000;
/// A session that takes longer than the budget is read again after this time in ms, or after this
/// multiple of the time that it takes, whichever is longer.
const PAUSE: u64 = 60_000;
const TIMES: u64 = 100;
/// Bytes that are read from standard input.
const INPUT: u64 = 1 << 20;
/// Version of the stored costs.
const SCHEMA: &str = "tv.today/2";

/// Options of `tv status`.
pub struct StatusOptions {
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// Sessions that were written to within this time, in ms, have a state.
    pub recent_ms: u64,
    /// The line with names in braces; `None` is the usual one.
    pub line: Option<StatusTemplate>,
    /// Whether standard input has the JSON that Claude Code gives its status line.
    pub has_input: bool,
    /// Identifies the prices, for stored costs.
    pub prices: u64,
}

/// A value in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Needs,
    Working,
    Running,
    Cost,
    Model,
    Context,
    Session,
}

const FIELDS: [(&str, Field); 7] = [
    ("needs", Field::Needs),
    ("working", Field::Working),
    ("running", Field::Running),
    ("cost", Field::Cost),
    ("model", Field::Model),
    ("context", Field::Context),
    ("session", Field::Session),
];

/// A line with values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusTemplate(Vec<TemplatePart>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Value(Field),
}

impl StatusTemplate {
    /// Parses `{needs} of {working}`; `{{` is a brace.
    pub fn parse(typed: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = typed;
        while let Some((text, behind)) = rest.split_once('{') {
            parts.push(TemplatePart::Text(text.to_owned()));
            if let Some(behind) = behind.strip_prefix('{') {
                parts.push(TemplatePart::Text("{".to_owned()));
                rest = behind;
                continue;
            }
            let name = behind.split_once('}');
            let known = name.and_then(|(name, behind)| {
                let (_, field) = FIELDS.iter().find(|(known, _)| *known == name)?;
                Some((*field, behind))
            });
            let Some((field, behind)) = known else {
                let names = FIELDS.map(|(name, _)| format!("{{{name}}}"));
                return Err(format!("in braces stands one of {}", names.join(" ")));
            };
            parts.push(TemplatePart::Value(field));
            rest = behind;
        }
        parts.push(TemplatePart::Text(rest.to_owned()));
        Ok(Self(parts))
    }
}

/// What the sessions of today cost, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Today {
    schema: String,
    version: String,
    prices: u64,
    /// Midnight.
    since: i64,
    /// By the address of the session.
    sessions: HashMap<String, CostToday>,
}

/// The cost of a session since midnight, and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CostToday {
    stamps: Option<Stamps>,
    /// When it was read, in ms.
    at: i64,
    usd: Option<f64>,
    is_estimated: bool,
    lacks_some: bool,
    modified: Option<i64>,
    state: Option<RestingState>,
}

/// The state of a session that only a write changes for some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RestingState {
    needs_user: bool,
    /// Time in ms after which it is read again.
    until: i64,
}

impl Today {
    /// Parses stored costs.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known: Self =
            serde_json::from_str(text).map_err(|why| format!("is not readable: {why}"))?;
        if known.schema == SCHEMA {
            Ok(known)
        } else {
            Err("is of another version of tv".to_owned())
        }
    }

    /// The stored form.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Without what is not of today, or was counted by other prices.
    fn of(self, prices: u64, since: Timestamp) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let is_current = self.prices == prices && self.since == since.0 && self.version == version;
        Self {
            schema: SCHEMA.to_owned(),
            version: version.to_owned(),
            prices,
            since: since.0,
            sessions: if is_current {
                self.sessions
            } else {
                HashMap::new()
            },
        }
    }
}

/// What a status line of Claude Code is given, as far as it is of use.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StatusInput {
    transcript_path: Option<PathBuf>,
    model: InputModel,
    cost: InputCost,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputModel {
    display_name: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputCost {
    total_cost_usd: Option<f64>,
}

/// A session as it was read, now or earlier.
struct StatusSession {
    address: String,
    is_current: bool,
    row: Option<SessionRow>,
    counted: Option<CostToday>,
}

#[derive(Default)]
struct StatusValues {
    needs: u64,
    working: u64,
    running: u64,
    usd: Option<f64>,
    is_estimated: bool,
    lacks_some: bool,
    model: Option<Text>,
    context: String,
    session: Option<f64>,
}

/// Writes the line. `today` has the stored costs, and is brought up to date.
pub fn write(
    options: &StatusOptions,
    today: &mut Today,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let input = if options.has_input {
        input()?
    } else {
        StatusInput::default()
    };
    let midnight = moment("today").and_then(|when| when.resolve(Some(now)));
    let midnight = midnight.unwrap_or(now);
    let recent = Timestamp(now.0.saturating_sub_unsigned(options.recent_ms));
    let known = std::mem::take(today).of(options.prices, midnight);
    let is_recent = |modified: Option<i64>| modified.is_none_or(|at| at >= recent.0);
    let is_own = |path: &Path| input.transcript_path.as_deref() == Some(path);
    let cached = |unread: &Unread| {
        let address = unread.candidate.place().address();
        let counted = known.sessions.get(&address)?;
        let stamps = counted.stamps.as_ref()?;
        let is_at_rest = |state: &RestingState| state.until >= now.0;
        let has_state =
            !is_recent(counted.modified) || counted.state.as_ref().is_some_and(is_at_rest);
        if !has_state || is_own(unread.path()) || !stamps.are_current(unread.candidate.modified) {
            return None;
        }
        let files = stamps.files();
        let seen = StatusSession {
            address,
            is_current: true,
            row: None,
            counted: Some(counted.clone()),
        };
        Some((seen, files))
    };
    let (begun, has_exceeded) = (OnceLock::new(), AtomicBool::new(false));
    let may_read = |found: &FoundSession, before: Option<&CostToday>| {
        let ms = found.size.unwrap_or(0) / RATE;
        let is_due = |known: &CostToday| {
            now.since(Timestamp(known.at)) > PAUSE.max(ms.saturating_mul(TIMES))
        };
        let takes = Duration::from_millis(ms);
        // One is read by each call, so that all are read in the end.
        found.size.is_some_and(|size| size <= SMALL)
            || begun.get_or_init(Instant::now).elapsed() + takes <= BUDGET
            || ((takes <= BUDGET || before.is_none_or(is_due))
                && !has_exceeded.swap(true, Ordering::Relaxed))
    };
    let read =
        |target: &Target, found: FoundSession, say: &mut dyn FnMut(StatusSession) -> bool| {
            let address = found.place().address();
            let before = known.sessions.get(&address);
            let is_same = |known: &&CostToday| {
                let stamps = known.stamps.as_ref();
                stamps.is_some_and(|stamps| stamps.are_current(found.modified))
            };
            let current = before.filter(is_same);
            let modified = found.modified.map(|at| at.0);
            let wants_row = is_own(&found.path) || is_recent(modified);
            let row = wants_row.then(|| fleet::end(&found, now)).flatten();
            // Of a running process the state may change without a write.
            let is_live = found.live == Some(true);
            let until = row.as_ref().and_then(|row| row.holds_until(now));
            let state = until.filter(|_| !is_live).map(|until| RestingState {
                needs_user: row.as_ref().is_some_and(|row| row.need.needs_user()),
                until: until.0,
            });
            let (counted, is_current, end) = if current.is_some() || !may_read(&found, before) {
                let stamps = before.and_then(|known| known.stamps.as_ref());
                let end = ReadToEnd {
                    files: stamps.map(Stamps::files).unwrap_or_default(),
                    failure: None,
                };
                (before.cloned(), current.is_some(), end)
            } else {
                let (counted, end) = count(target, found, midnight, now)?;
                let is_current = counted.stamps.is_some();
                (Some(counted), is_current, end)
            };
            say(StatusSession {
                address,
                is_current,
                row,
                counted: counted.map(|counted| CostToday {
                    modified,
                    state,
                    ..counted
                }),
            });
            Ok(end)
        };
    let mut values = StatusValues {
        model: input.model.display_name.as_deref().map(Text::clean),
        session: input.cost.total_cost_usd,
        ..StatusValues::default()
    };
    let mut missed = Missed::default();
    let mut sessions = HashMap::new();
    let since = (Some(midnight.min(recent)), WhichFiles::Newest);
    each_unless(&options.search, since, cached, now, read, |step| {
        match step {
            ReadProgress::Session(seen) => {
                values.lacks_some |= !seen.is_current;
                match &seen.row {
                    Some(row) if is_own(&row.place.path) => values.context = row.context_words(),
                    Some(row) => values.add(row),
                    None => {}
                }
                if let Some(counted) = seen.counted {
                    let needs_user = |state: &RestingState| state.needs_user;
                    if seen.row.is_none() && is_recent(counted.modified) {
                        values.needs += u64::from(counted.state.as_ref().is_some_and(needs_user));
                    }
                    values.count(&counted);
                    sessions.insert(seen.address, counted);
                }
            }
            ReadProgress::Failure(ReadFailure::Named(failure)) => missed.refused.push(failure),
            // Each is a row of the wall that needs somebody.
            ReadProgress::Failure(ReadFailure::CameBy(found)) => {
                values.needs += u64::from(found.modified.is_some_and(|at| at >= recent));
            }
            ReadProgress::Found(_) | ReadProgress::Done => {}
        }
        true
    });
    *today = Today { sessions, ..known };
    let line = match &options.line {
        Some(line) => line.with(&values),
        None => values.line(),
    };
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(ReportOutcome::of_many(
        missed,
        false,
        ReportOutcome::Complete,
    ))
}

fn input() -> Result<StatusInput, OpenError> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(INPUT).read_to_end(&mut bytes);
    read.map_err(|why| OpenError(format!("standard input: {why}")))?;
    serde_json::from_slice(&bytes).map_err(|why| {
        OpenError(format!(
            "standard input is not what Claude Code gives a status line: {why}"
        ))
    })
}

/// Reads a session, and counts what it cost since midnight.
fn count(
    target: &Target,
    found: FoundSession,
    midnight: Timestamp,
    now: Timestamp,
) -> Result<(CostToday, ReadToEnd), OpenError> {
    let before = Stamps::of([found.path.as_path()]);
    let reading = reading::count(target, found.format)?;
    let end = ReadToEnd::of(&reading);
    let stamps = Stamps::of_session(&end.files, &found, reading.shape)
        .filter(|_| before == Stamps::of([found.path.as_path()]));
    let mut ledger = Ledger::new(Some(midnight)..None);
    ledger.add(usage::spender(found, &reading, false));
    let cost = ledger.rows(&[], &[]).1.cost();
    let counted = CostToday {
        stamps,
        at: now.0,
        usd: cost.usd,
        is_estimated: cost.is_estimated,
        lacks_some: cost.is_lower_bound(),
        modified: None,
        state: None,
    };
    Ok((counted, end))
}

impl StatusTemplate {
    fn with(&self, values: &StatusValues) -> String {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => text.clone(),
            TemplatePart::Value(field) => values.word(*field),
        };
        self.0.iter().map(part).collect()
    }
}

impl StatusValues {
    fn add(&mut self, row: &SessionRow) {
        self.needs += u64::from(row.need.needs_user());
        self.working += u64::from(row.activity.is_work());
        self.running += row.flags.running as u64;
    }

    fn count(&mut self, counted: &CostToday) {
        if let Some(usd) = counted.usd {
            self.usd = Some(self.usd.unwrap_or(0.0) + usd);
        }
        self.is_estimated |= counted.is_estimated;
        self.lacks_some |= counted.lacks_some;
    }

    fn cost(&self) -> Option<String> {
        let mark = if self.is_estimated { "~" } else { "" };
        let more = if self.lacks_some { "+" } else { "" };
        let usd = self.usd.or(self.lacks_some.then_some(0.0))?;
        Some(format!("{mark}{}{more}", phrases::usd(usd)))
    }

    fn word(&self, field: Field) -> String {
        match field {
            Field::Needs => self.needs.to_string(),
            Field::Working => self.working.to_string(),
            Field::Running => self.running.to_string(),
            Field::Cost => self.cost().unwrap_or_else(|| phrases::usd(0.0)),
            Field::Model => self.model.as_deref().unwrap_or_default().to_owned(),
            Field::Context => self.context.clone(),
            Field::Session => self.session.map(phrases::usd).unwrap_or_default(),
        }
    }

    /// `opus · ctx 53% · $14.32 · 2 need you · 9 working · ~$31.20 today`, without what is not.
    fn line(&self) -> String {
        let number = |count: u64, word: &str| (count > 0).then(|| format!("{count} {word}"));
        let context = Some(&self.context).filter(|words| !words.is_empty());
        let parts = [
            self.model.as_deref().map(str::to_owned),
            context.map(|words| format!("ctx {words}")),
            self.session.map(phrases::usd),
            (self.needs > 0).then(|| phrases::needing(self.needs, "you")),
            number(self.working, "working"),
            number(self.running, "running"),
            self.cost().map(|cost| format!("{cost} today")),
        ];
        parts.into_iter().flatten().join(" · ")
    }
}

#[cfg(test)]
mod tests {
    use super::{StatusTemplate, StatusValues};

    #[test]
    fn a_line_has_values_in_braces() {
        let values = StatusValues {
            needs: 2,
            usd: Some(1.5),
            is_estimated: true,
            ..StatusValues::default()
        };
        let line = StatusTemplate::parse("{needs}! {{x} {cost}{context}").unwrap();
        assert_eq!(line.with(&values), "2! {x} ~$1.50");
        assert!(StatusTemplate::parse("{unknown}").is_err());
        assert!(StatusTemplate::parse("{needs").is_err());
    }
}
