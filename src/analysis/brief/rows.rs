//! Rows of the brief by section, each with the position of its subject.

use std::collections::HashMap;
use std::hash::Hash;

use itertools::Itertools as _;

use super::{Brief, Change, Failure, Fault, TestRun, UnfinishedCall, as_is, prompts, quoted};
use crate::analysis::account::{Account, Class, Sums};
use crate::analysis::calls::Place;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::calls::lifecycle::Lifecycle;
use crate::analysis::context::cache_breaks::CacheBreak;
use crate::analysis::context::window::Windows;
use crate::analysis::loops::{Loops, loop_words};
use crate::analysis::phrases;
use crate::model::entry::{Block, Entry, EntryId};
use crate::model::figures::{count, duration};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// Limit of a row in characters, and of the text that it is taken from in bytes.
pub(super) const ROW: usize = 140;
const LINE: usize = 4 << 10;

/// A section of the brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// The prompts of the human.
    Asked,
    Files,
    Commits,
    /// Successful commands with side effects.
    Commands,
    /// Test runs, and the outcome of the last one.
    Tests,
    /// Failures, those not mended first.
    Failed,
    /// Refused and interrupted calls.
    Refused,
    /// Calls without a result.
    Open,
    Cost,
    /// Loops, abandoned branches, and cache misses.
    Waste,
}

impl Section {
    /// All sections, in order.
    pub(crate) const ALL: [Self; 10] = [
        Self::Asked,
        Self::Files,
        Self::Failed,
        Self::Tests,
        Self::Open,
        Self::Refused,
        Self::Commits,
        Self::Commands,
        Self::Cost,
        Self::Waste,
    ];

    /// The prefix of a row by its index: turns are numbered.
    pub(crate) fn prefix(self, number: usize) -> String {
        if self == Self::Asked {
            format!("{:>2} ", number + 1)
        } else {
            String::new()
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Files => "files",
            Self::Commits => "commits",
            Self::Commands => "commands",
            Self::Tests => "tests",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Open => "open",
            Self::Cost => "cost",
            Self::Waste => "waste",
        }
    }
}

/// Limit of calls without a recorded end that have rows of their own.
const HANDFUL: usize = 5;

/// The tone of a row's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BriefRow {
    /// Text that is written as code: a path, a hash, a command.
    pub(crate) code: String,
    /// The remaining text.
    pub(crate) text: String,
    /// The reason, which gets up to half of the row.
    pub(crate) why: String,
    /// The outcome, which is never truncated.
    pub(crate) end: String,
    /// The tone of the outcome.
    pub(crate) tone: Tone,
    /// Position of the subject.
    pub(crate) place: Option<Place>,
}

impl BriefRow {
    fn of(text: String, place: Option<Place>) -> Self {
        Self {
            text,
            place,
            ..Self::default()
        }
    }

    /// The whole text of the row.
    pub(crate) fn words(&self) -> String {
        let parts = [self.code.as_str(), self.text.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).join(" ") + &self.why + &self.end
    }
}

/// The indexes from which the rows are made.
pub(crate) struct BriefSources<'a> {
    pub(crate) transcript: &'a Transcript,
    pub(crate) brief: &'a Brief,
    pub(crate) account: &'a Account,
    pub(crate) loops: &'a Loops,
    pub(crate) windows: &'a Windows,
    /// Whether the session gets no more records.
    pub(crate) is_over: bool,
}

impl BriefSources<'_> {
    /// The first rows of a section, and their total number.
    pub(crate) fn first(&self, section: Section, most: usize) -> (Vec<BriefRow>, usize) {
        if section == Section::Asked {
            // Makes only the requested rows, because an entry may have to be unpacked.
            return (self.prompts(most), self.transcript.turns().len());
        }
        let mut rows = self.rows(section);
        let all = rows.len();
        rows.truncate(most);
        (rows, all)
    }

    /// All rows of a section.
    pub(crate) fn rows(&self, section: Section) -> Vec<BriefRow> {
        let brief = self.brief;
        match section {
            Section::Asked => self.prompts(usize::MAX),
            Section::Files => {
                let mut files: Vec<(&String, &Change)> = brief.files.iter().collect();
                files.sort_by_key(|(_, change)| std::cmp::Reverse(change.extent()));
                files
                    .into_iter()
                    .map(|(path, change)| file(path, change))
                    .collect()
            }
            Section::Commits => {
                let row = |commit: &super::Commit| BriefRow {
                    code: commit.hash.clone(),
                    text: line(&commit.subject),
                    place: Some(commit.place),
                    ..BriefRow::default()
                };
                brief.commits.iter().map(row).collect()
            }
            Section::Commands => {
                let row = |command: &super::SideEffect| BriefRow {
                    code: line(&command.text),
                    place: Some(command.place),
                    ..BriefRow::default()
                };
                grouped(brief.commands.iter().map(row))
            }
            Section::Tests => tests(brief),
            Section::Failed => failed(brief, |fault| {
                matches!(fault, Fault::Failed | Fault::Hidden)
            }),
            Section::Refused => failed(brief, |fault| {
                matches!(fault, Fault::Refused | Fault::Stopped)
            }),
            Section::Open => self.open(&brief.open),
            Section::Cost => vec![self.cost()],
            Section::Waste => self.waste(),
        }
    }

    fn prompts(&self, most: usize) -> Vec<BriefRow> {
        let row = |(id, entry): (EntryId, &Entry)| {
            let place = Place {
                entry: id,
                block: phrases::headline(entry),
            };
            BriefRow::of(line(&quoted(entry, LINE, &mut as_is)), Some(place))
        };
        prompts(self.transcript).take(most).map(row).collect()
    }

    fn open(&self, open: &[UnfinishedCall]) -> Vec<BriefRow> {
        let is_unknown = |call: &&UnfinishedCall| {
            word_of(self.transcript, call, self.is_over).is_some_and(|word| word == "unknown")
        };
        let unknown = open.iter().filter(is_unknown).count();
        let mut first_unknown = true;
        let row = |call: &UnfinishedCall| {
            let word = word_of(self.transcript, call, self.is_over)?;
            if unknown > HANDFUL && word == "unknown" {
                let is_first = std::mem::take(&mut first_unknown);
                let words = format!("{unknown} calls without a recorded end");
                return is_first.then(|| BriefRow::of(words, Some(call.place)));
            }
            let end = match word {
                "lost" => "never got a result",
                "running" => "goes on in the background",
                "unknown" => "nothing tells how it ended",
                "undelivered" => "ended, and the model was never told",
                _ => "has no result yet",
            };
            let row = BriefRow::of(line(&call.what), Some(call.place));
            Some(BriefRow {
                end: format!(" · {end}"),
                ..row
            })
        };
        grouped(open.iter().filter_map(row))
    }

    fn cost(&self) -> BriefRow {
        let cost = self.account.cost(self.transcript);
        let words = match cost.usd {
            Some(usd) => format!("{} {}", phrases::usd(usd), cost.source.word()),
            None => cost.source.word().to_owned(),
        };
        let is_part = cost.usd.is_some() && cost.is_lower_bound();
        let words = if is_part {
            format!("{words}, or more")
        } else {
            words
        };
        let times = TurnTimes::of(self.transcript, self.account);
        let parts = [
            Some(words),
            times.work_ms.map(|ms| format!("{} work", duration(ms))),
            times
                .waiting_ms
                .filter(|ms| *ms > 0)
                .map(|ms| format!("{} waiting for you", duration(ms))),
            times
                .span_ms()
                .map(|ms| format!("{} from first to last", duration(ms))),
        ];
        BriefRow::of(parts.into_iter().flatten().join(" · "), None)
    }

    fn waste(&self) -> Vec<BriefRow> {
        let loops = &self.loops.runs;
        let row = |run: &crate::analysis::loops::CallRun| {
            BriefRow::of(line(&loop_words(run, "x")), run.places().next())
        };
        let mut rows = grouped(loops.iter().map(row));
        let roots = &self.transcript.branches().roots;
        if !roots.is_empty() {
            let many = if roots.len() == 1 {
                "abandoned branch"
            } else {
                "abandoned branches"
            };
            rows.push(BriefRow::of(
                format!("{} {many}", roots.len()),
                roots.first().map(|entry| start_of(*entry)),
            ));
        }
        let (misses, usd) = self.cache_misses();
        if misses > 0 {
            let usd = if usd > 0.0 {
                format!(", ~{}", phrases::usd(usd))
            } else {
                String::new()
            };
            let many = if misses == 1 {
                "missed cache"
            } else {
                "missed caches"
            };
            rows.push(BriefRow::of(
                format!("{misses} {many}{usd}"),
                self.costliest_miss().map(start_of),
            ));
        }
        rows
    }

    /// The request with the most expensive cache miss, or that which paid for most tokens again.
    fn costliest_miss(&self) -> Option<EntryId> {
        let rows = self
            .windows
            .lanes()
            .flat_map(|lane| self.windows.rows(lane));
        let misses =
            rows.filter_map(|row| Some((row.entry(), row.request()?.cache_break.as_deref()?)));
        let key = |miss: &CacheBreak| (miss.usd.unwrap_or(0.0), miss.repaid);
        let costliest = misses.max_by(|(_, one), (_, other)| {
            let ((usd, again), (other_usd, other_again)) = (key(one), key(other));
            usd.total_cmp(&other_usd).then(again.cmp(&other_again))
        });
        costliest.map(|(entry, _)| entry)
    }

    /// The number of cache misses, and their cost in USD.
    pub(crate) fn cache_misses(&self) -> (usize, f64) {
        let missed = self.windows.lanes().map(|lane| self.windows.sums(lane));
        missed.fold((0, 0.0), |(misses, usd), sums| {
            (misses + sums.breaks, usd + sums.usd)
        })
    }
}

/// Joins equal rows into one, with the position of the last.
fn grouped(rows: impl Iterator<Item = BriefRow>) -> Vec<BriefRow> {
    let row = |(row, times): (BriefRow, usize)| {
        match times {
            1 => row,
            // Without a text beside the code, the count is the text.
            _ if row.text.is_empty() => BriefRow {
                text: format!("{times} times"),
                ..row
            },
            _ => BriefRow {
                end: format!("{} · {times} times", row.end),
                ..row
            },
        }
    };
    counted(rows, BriefRow::words)
        .into_iter()
        .map(row)
        .collect()
}

/// Start, end and durations of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TurnTimes {
    /// Start of the first turn.
    pub(crate) started: Option<Timestamp>,
    /// End of the last turn.
    pub(crate) ended: Option<Timestamp>,
    /// Work of model and tools in ms.
    pub(crate) work_ms: Option<u64>,
    /// Waiting for the human in ms, between turns as well.
    pub(crate) waiting_ms: Option<u64>,
}

impl TurnTimes {
    /// The times of all turns.
    pub(crate) fn of(transcript: &Transcript, account: &Account) -> Self {
        let mut sums = Sums::default();
        let mut times = Self::default();
        for number in 0..transcript.turns().len() {
            let turn = account.turn(transcript, number);
            sums.merge(&turn.time);
            times.started = times.started.or(turn.facts.started);
            times.ended = times.ended.max(turn.facts.ended);
        }
        let is_known = sums.work() > 0;
        times.work_ms = is_known.then(|| sums.work());
        // Includes the time between turns.
        let all = account.time(None);
        let all = if all.total() > 0 { all } else { sums };
        times.waiting_ms = is_known.then(|| all.of(Class::Human));
        times
    }

    /// From start to end in ms.
    pub(crate) fn span_ms(&self) -> Option<u64> {
        self.started
            .zip(self.ended)
            .map(|(started, ended)| ended.since(started))
    }
}

/// `pending`, or `lost` if no result will come; of background work `running`, `unknown` without a
/// recorded end, and `undelivered` if the model was not told of its end. `None` if the notice may
/// still arrive.
pub(crate) fn word_of(
    transcript: &Transcript,
    open: &UnfinishedCall,
    is_over: bool,
) -> Option<&'static str> {
    let Some(entry) = transcript.get(open.place.entry) else {
        return Some("lost");
    };
    let Some(call) = entry.blocks.get(open.place.block).and_then(Block::call) else {
        return Some("lost");
    };
    if call.state.work().is_none() {
        return Some(Awaited::of(transcript).word(transcript, open.place.entry, call));
    }
    let life = Lifecycle::of(transcript, (open.place.entry, &entry.key), call, is_over);
    match life.completed {
        None if life.is_running => Some("running"),
        None => Some("unknown"),
        Some(_) => life.is_undelivered.then_some("undelivered"),
    }
}

fn file(path: &str, change: &Change) -> BriefRow {
    let lines = match change.lines {
        Some((added, removed)) => format!("+{added} -{removed}"),
        None if change.writes > 0 => "written".to_owned(),
        None => "edited".to_owned(),
    };
    let calls = count((change.edits + change.writes) as u64, "call");
    BriefRow {
        code: path.to_owned(),
        text: format!("{lines}  {calls}"),
        place: Some(change.last),
        ..BriefRow::default()
    }
}

/// The number of test runs, and the outcome of the last one.
fn tests(brief: &Brief) -> Vec<BriefRow> {
    let Some(last) = brief.tests.last() else {
        return Vec::new();
    };
    let TestRun {
        command,
        passed,
        summary,
        facts: known,
        place,
        ..
    } = last;
    let summary = summary
        .as_ref()
        .map(|summary| format!(" ({})", line(summary)))
        .unwrap_or_default();
    let (end, tone) = match passed {
        Some(true) => ("passed".to_owned(), Tone::Good),
        Some(false) => ("failed".to_owned(), Tone::Bad),
        None if known.starts_with("exit ") => (format!("ended with {known}"), Tone::Bad),
        None => (
            "ended; whether it passed is not recorded".to_owned(),
            Tone::Plain,
        ),
    };
    let runs = count(brief.tests.len() as u64, "run");
    let text = format!("{runs}, the last {end}: {}{summary}", line(command));
    vec![BriefRow {
        text,
        tone,
        place: Some(*place),
        ..BriefRow::default()
    }]
}

/// Failures of some kinds, those not mended first because there may be no room for all.
fn failed(brief: &Brief, is_such: impl Fn(Fault) -> bool) -> Vec<BriefRow> {
    let such = brief.failed.iter().filter(|failed| is_such(failed.fault));
    let (mended, unmended): (Vec<_>, Vec<_>) =
        group_failures(such).partition(|(failure, _)| failure.mended_by.is_some());
    unmended
        .into_iter()
        .chain(mended)
        .map(|(failure, times)| failure.row(times))
        .collect()
}

/// Groups failures with the same description, reason and outcome: the last of each group, and their number.
pub(crate) fn group_failures<'b>(
    failed: impl Iterator<Item = &'b Failure>,
) -> impl Iterator<Item = (&'b Failure, usize)> {
    let key = |failure: &&'b Failure| {
        let Failure { what, reason, .. } = failure;
        (what, reason, failure.fault.word(), failure.mended_by)
    };
    counted(failed, key).into_iter()
}

/// Items with equal keys as one, in the order of the first: the last of them, and their number.
fn counted<T, K: Eq + Hash>(
    items: impl Iterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(T, usize)> {
    let mut groups: Vec<(T, usize)> = Vec::new();
    let mut numbers = HashMap::new();
    for item in items {
        let number = *numbers.entry(key(&item)).or_insert(groups.len());
        match groups.get_mut(number) {
            Some((known, times)) => (*known, *times) = (item, *times + 1),
            None => groups.push((item, 1)),
        }
    }
    groups
}

impl Failure {
    /// The reason: `exit 101 · error: test failed`.
    pub(crate) fn explanation(&self) -> String {
        let said = self.error_line.as_deref().map(line).unwrap_or_default();
        let reason = line(&self.reason);
        match (reason.is_empty(), said.is_empty()) {
            (false, false) if !said.contains(&reason) => format!("{reason} · {said}"),
            (false, true) => reason,
            _ => said,
        }
    }

    fn row(&self, times: usize) -> BriefRow {
        let times = match times {
            1 => String::new(),
            times => format!(" x{times}"),
        };
        let why = match self.explanation() {
            why if why.is_empty() => why,
            why => format!("  {why}"),
        };
        let state = match self.fault {
            Fault::Failed => "",
            Fault::Hidden => " · though the command ended well",
            Fault::Refused | Fault::Stopped if self.reason == self.fault.word() => "",
            Fault::Refused => " · refused",
            Fault::Stopped => " · stopped",
        };
        let (end, tone) = match (self.mended_by, self.fault) {
            (Some(_), _) if self.is_error => (" · the session went on", Tone::Plain),
            (Some(_), _) => (" · mended later", Tone::Plain),
            (None, Fault::Refused | Fault::Stopped) => ("", Tone::Plain),
            (None, _) => (" · not mended", Tone::Bad),
        };
        BriefRow {
            text: line(&self.what),
            why: times + &why,
            end: format!("{state}{end}"),
            tone,
            place: Some(self.place),
            ..BriefRow::default()
        }
    }
}

/// The position of an entry's first block.
fn start_of(entry: EntryId) -> Place {
    Place { entry, block: 0 }
}

/// The first line of a text, truncated to a row.
pub(crate) fn line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    Text::stub(first, ROW).to_string()
}
