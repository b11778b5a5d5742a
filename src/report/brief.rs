//! `tv brief`: what a session came to, as text, as JSON (schema `tv.brief/1`) or as Markdown for a pull request.

use std::io::{self, Write};

use serde::Serialize;

use super::outcome::{Outcome, ReportError};
use super::reading::{self, Reading};
use super::spent::CostFigures;
use super::{json, show};
use crate::analysis::account::Sums;
use crate::analysis::brief::{Brief, Change, Failure, TestRun};
use crate::analysis::context::window::Windows;
use crate::analysis::index::Live;
use crate::analysis::loops::{Loops, Run, loop_words};
use crate::analysis::phrases;
use crate::ingest::{OpenError, Target};
use crate::model::entry::EntryId;
use crate::model::figures::{count, duration};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::render::tool::changed_lines;

/// Characters of a row that may be long.
const ROW: usize = 140;
/// Rows of a part of the text; the rest is counted. JSON and Markdown have all.
const ROWS: usize = 12;

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// To be read.
    Text,
    /// One JSON object a line.
    Json,
    /// To be pasted into a pull request.
    Markdown,
}

/// What to write.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Files, folders, or sessions in folders; or why what was named is none of them.
    pub targets: Vec<Result<Target, OpenError>>,
    /// How.
    pub form: Form,
}

/// Writes the briefs of all sessions that can be opened.
pub fn write(options: &Options, out: &mut dyn Write) -> Result<Outcome, ReportError> {
    let mut failures = Vec::new();
    let mut is_first = true;
    for target in &options.targets {
        let sessions = target.clone().and_then(|target| reading::sessions(&target)).unwrap_or_else(|error| {
            failures.push(error);
            Vec::new()
        });
        for session in sessions {
            let mut reading = match reading::read(&session, show::is_large(&session)) {
                Ok(reading) => reading,
                Err(error) => {
                    failures.push(error);
                    continue;
                }
            };
            failures.extend(reading.failure());
            let figures = BriefFigures::of(&mut reading);
            if options.form != Form::Json && !is_first {
                writeln!(out)?;
            }
            is_first = false;
            match options.form {
                Form::Text => figures.write_text(out)?,
                Form::Json => json::write_line(out, &figures)?,
                Form::Markdown => figures.write_markdown(out)?,
            }
        }
    }
    Ok(Outcome::of(failures))
}

#[derive(Debug, Serialize)]
struct BriefFigures {
    schema: &'static str,
    path: String,
    title: Option<String>,
    asked: Vec<Said>,
    done: Done,
    failed: Vec<Failed>,
    open: Vec<Open>,
    cost: CostFigures,
    time: Time,
    waste: Waste,
    claims: Vec<Claim>,
    last_answer: Option<Said>,
}

#[derive(Debug, Serialize)]
struct Said {
    key: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct Done {
    files: Vec<File>,
    commands: Vec<Said>,
    commits: Vec<Commit>,
    tests: Vec<Tests>,
}

#[derive(Debug, Serialize)]
struct File {
    path: String,
    edits: usize,
    writes: usize,
    added: Option<usize>,
    removed: Option<usize>,
    key: String,
}

#[derive(Debug, Serialize)]
struct Commit {
    hash: String,
    subject: String,
    key: String,
}

#[derive(Debug, Serialize)]
struct Tests {
    command: String,
    passed: Option<bool>,
    summary: Option<String>,
    at: Option<String>,
    key: String,
}

#[derive(Debug, Serialize)]
struct Failed {
    what: String,
    facts: String,
    state: &'static str,
    times: usize,
    key: String,
    /// The key of the entry in which the same was done later.
    mended: Option<String>,
}

#[derive(Debug, Serialize)]
struct Open {
    what: String,
    state: &'static str,
    key: String,
}

#[derive(Debug, Serialize)]
struct Time {
    started: Option<String>,
    ended: Option<String>,
    span_ms: Option<u64>,
    work_ms: Option<u64>,
    waiting_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Waste {
    loops: Vec<Said>,
    branches: usize,
    cache_misses: usize,
    cache_usd: f64,
}

#[derive(Debug, Serialize)]
struct Claim {
    text: String,
    verdict: &'static str,
    by: Option<String>,
}

impl BriefFigures {
    fn of(reading: &mut Reading) -> Self {
        let time = time_of(reading);
        let Reading { transcript, pager, account, .. } = reading;
        let mut whole = |entry: &_| reading::whole(entry, pager.as_mut());
        let brief = Brief::of(transcript, changed_lines, &mut whole);
        let key = |id: EntryId| transcript.get(id).map(|entry| entry.key.to_string()).unwrap_or_default();
        let Brief { asked, files, commands, commits, tests, failed, open, answer, claims, .. } = brief;
        let said = |entry, text| Said { key: key(entry), text };
        let done = Done {
            files: files.into_iter().map(|(path, change)| file(path, &change, key(change.last))).collect(),
            commands: commands.into_iter().map(|command| said(command.entry, command.text)).collect(),
            commits: commits
                .into_iter()
                .map(|commit| Commit { hash: commit.hash, subject: commit.subject, key: key(commit.entry) })
                .collect(),
            tests: tests.into_iter().map(|run| tests_of(&run, key(run.entry))).collect(),
        };
        let loops: Live<Loops> = Live::of(transcript);
        let loop_of = |run: &Run<'_>| Some(said(run.first()?.0, loop_words(run, "x")));
        let windows: Live<Windows> = Live::of(transcript);
        let missed: Vec<_> = windows.lanes().map(|lane| windows.sums(lane)).collect();
        Self {
            schema: "tv.brief/1",
            path: reading.target.path.display().to_string(),
            title: transcript.meta().title().map(ToString::to_string),
            asked: asked.into_iter().map(|prompt| said(prompt.entry, prompt.text)).collect(),
            done,
            failed: failed.into_iter().map(|failure| failed_of(failure, &key)).collect(),
            open: open
                .into_iter()
                .map(|open| Open { what: open.what, state: open.word, key: key(open.entry) })
                .collect(),
            cost: (&account.cost(transcript)).into(),
            time,
            waste: Waste {
                loops: loops.loops().iter().filter_map(loop_of).collect(),
                branches: transcript.branches().roots.len(),
                cache_misses: missed.iter().map(|sums| sums.breaks).sum(),
                cache_usd: missed.iter().map(|sums| sums.usd).sum(),
            },
            claims: claims
                .into_iter()
                .map(|claim| Claim { text: claim.text, verdict: claim.verdict.word(), by: claim.by.map(key) })
                .collect(),
            last_answer: answer.map(|answer| said(answer.entry, answer.text)),
        }
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(title) = &self.title {
            writeln!(out, "{}", row(title))?;
        }
        let prompts = self
            .asked
            .iter()
            .zip(1..)
            .map(|(said, number): (_, usize)| format!("{number:>2} {}", row(&said.text)));
        part(out, "asked", prompts)?;
        let Done { files, commands, commits, tests } = &self.done;
        let files = files.iter().map(File::words);
        let commits = commits.iter().map(|commit| format!("{} {}", commit.hash, row(&commit.subject)));
        let commands = commands.iter().map(|command| row(&command.text));
        part(out, "files", files)?;
        part(out, "commits", commits)?;
        part(out, "commands", commands)?;
        part(out, "tests", tests_words(tests).into_iter())?;
        // There is room for some: those that nobody mended come first.
        let (mended, unmended): (Vec<&Failed>, Vec<&Failed>) =
            self.failed.iter().partition(|failed| failed.mended.is_some());
        part(out, "failed", unmended.into_iter().chain(mended).map(Failed::words))?;
        part(out, "open", self.open.iter().map(Open::words))?;
        part(out, "cost", std::iter::once(self.cost_words()))?;
        part(out, "waste", self.waste.words().into_iter())?;
        part(
            out,
            "claims",
            self.claims.iter().map(|claim| format!("{:<12} {}", claim.verdict, row(&claim.text))),
        )?;
        if let Some(answer) = &self.last_answer {
            writeln!(out, "answer")?;
            for line in answer.text.lines() {
                writeln!(out, "{}", format!("          {line}").trim_end())?;
            }
        }
        Ok(())
    }

    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "## {}", plain(self.title.as_deref().unwrap_or("Session")))?;
        let Done { files, commands, commits, tests } = &self.done;
        section(out, "Asked", self.asked.iter().map(|said| plain(&row(&said.text))))?;
        let commits =
            commits.iter().map(|commit| format!("{} {}", code(&commit.hash), plain(&commit.subject)));
        section(out, "Commits", commits)?;
        section(out, "Files", files.iter().map(|file| format!("{} {}", code(&file.path), file.lines())))?;
        section(out, "Tests", tests_words(tests).iter().map(|line| plain(line)))?;
        section(out, "Commands", commands.iter().map(|command| code(&row(&command.text))))?;
        section(out, "Failed", self.failed.iter().map(|failed| plain(&failed.words())))?;
        section(out, "Open", self.open.iter().map(|open| plain(&open.words())))?;
        section(out, "Cost", std::iter::once(plain(&self.cost_words())))?;
        if let Some(answer) = &self.last_answer {
            writeln!(out, "\n### Last answer\n\n{}", answer.text)?;
        }
        Ok(())
    }

    fn cost_words(&self) -> String {
        let cost = match self.cost.usd {
            Some(usd) => format!("{} {}", phrases::usd(usd), self.cost.source),
            None => self.cost.source.to_owned(),
        };
        let cost = if self.cost.is_partial { format!("{cost}, or more") } else { cost };
        let Time { span_ms, work_ms, waiting_ms, .. } = self.time;
        let parts = [
            Some(cost),
            work_ms.map(|ms| format!("{} work", duration(ms))),
            waiting_ms.filter(|ms| *ms > 0).map(|ms| format!("{} waiting for you", duration(ms))),
            span_ms.map(|ms| format!("{} from first to last", duration(ms))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

fn file(path: String, change: &Change, key: String) -> File {
    let (added, removed) = change.lines.unzip();
    File { path, edits: change.edits, writes: change.writes, added, removed, key }
}

impl File {
    fn lines(&self) -> String {
        match (self.added, self.removed) {
            (Some(added), Some(removed)) => format!("+{added} -{removed}"),
            _ if self.writes > 0 => "written".to_owned(),
            _ => "edited".to_owned(),
        }
    }

    fn words(&self) -> String {
        let calls = count((self.edits + self.writes) as u64, "call");
        format!("{} {}  {calls}", self.path, self.lines())
    }
}

fn tests_of(run: &TestRun, key: String) -> Tests {
    Tests {
        command: run.command.clone(),
        passed: run.passed,
        summary: run.summary.clone(),
        at: run.at.map(Timestamp::to_rfc3339),
        key,
    }
}

impl Tests {
    fn end(&self) -> &'static str {
        match self.passed {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "ended; whether it passed is not recorded",
        }
    }
}

/// How often tests ran, and how the last run ended.
fn tests_words(tests: &[Tests]) -> Vec<String> {
    let Some(last) = tests.last() else { return Vec::new() };
    let summary = last.summary.as_ref().map(|line| format!(" ({})", row(line))).unwrap_or_default();
    vec![format!(
        "{}, the last {}: {}{summary}",
        count(tests.len() as u64, "run"),
        last.end(),
        row(&last.command)
    )]
}

fn failed_of(failure: Failure, key: &impl Fn(EntryId) -> String) -> Failed {
    let Failure { what, facts, word, times, entry, mended, .. } = failure;
    Failed { what, facts, state: word, times, key: key(entry), mended: mended.map(key) }
}

impl Failed {
    fn words(&self) -> String {
        let times = if self.times > 1 { format!(" x{}", self.times) } else { String::new() };
        let facts = if self.facts.is_empty() { String::new() } else { format!("  {}", row(&self.facts)) };
        let state = if self.state == "refused" && self.facts != "refused" { "  refused" } else { "" };
        let end = if self.mended.is_some() { " · mended later" } else { "" };
        format!("{}{times}{facts}{state}{end}", row(&self.what))
    }
}

impl Open {
    fn words(&self) -> String {
        let end = if self.state == "pending" { "has no result yet" } else { "never got a result" };
        format!("{} · {end}", row(&self.what))
    }
}

impl Waste {
    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.loops.iter().map(|run| row(&run.text)).collect();
        if self.branches > 0 {
            let many = if self.branches == 1 { "abandoned branch" } else { "abandoned branches" };
            words.push(format!("{} {many}", self.branches));
        }
        if self.cache_misses > 0 {
            let usd = if self.cache_usd > 0.0 {
                format!(", ~{}", phrases::usd(self.cache_usd))
            } else {
                String::new()
            };
            let many = if self.cache_misses == 1 { "missed cache" } else { "missed caches" };
            words.push(format!("{} {many}{usd}", self.cache_misses));
        }
        words
    }
}

fn time_of(reading: &Reading) -> Time {
    let Reading { transcript, account, .. } = reading;
    let mut sums = Sums::default();
    let (mut started, mut ended) = (None, None);
    for number in 0..transcript.turns().len() {
        let turn = account.turn(transcript, number);
        sums.join(&turn.time);
        started = started.or(turn.facts.started);
        ended = ended.max(turn.facts.ended);
    }
    let is_known = sums.work() > 0;
    Time {
        started: started.map(Timestamp::to_rfc3339),
        ended: ended.map(Timestamp::to_rfc3339),
        span_ms: started.zip(ended).map(|(started, ended)| ended.since(started)),
        work_ms: is_known.then(|| sums.work()),
        waiting_ms: is_known.then(|| sums.waiting()),
    }
}

/// The first line of a text, in so much room as a row has.
fn row(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    Text::stub(first, ROW).to_string()
}

fn part(out: &mut dyn Write, name: &str, rows: impl Iterator<Item = String>) -> io::Result<()> {
    let rows: Vec<String> = rows.collect();
    let mut label = name;
    for row in rows.iter().take(ROWS) {
        writeln!(out, "{label:<9} {row}")?;
        label = "";
    }
    match rows.len().saturating_sub(ROWS) {
        0 => Ok(()),
        more => writeln!(out, "{:<9} + {more} more", ""),
    }
}

fn section(out: &mut dyn Write, name: &str, rows: impl Iterator<Item = String>) -> io::Result<()> {
    for (number, row) in rows.enumerate() {
        if number == 0 {
            writeln!(out, "\n### {name}\n")?;
        }
        writeln!(out, "- {}", row.trim_end())?;
    }
    Ok(())
}

/// Words that Markdown and HTML leave as they are.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '&' => plain.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}

/// Words as code, whatever backticks they have.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let room = if longest > 0 { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

#[cfg(test)]
mod tests {
    use super::{code, plain};

    #[test]
    fn words_stay_words_in_markdown() {
        assert_eq!(plain("a_b <script> `x`"), "a\\_b &lt;script> \\`x\\`");
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("echo `date`"), "`` echo `date` ``");
    }
}
