//! `tv brief`: the summary of a session, as text, as JSON (schema `tv.brief/2`) or as Markdown for
//! a pull request.

use std::io::{self, Write};

use serde::Serialize;

use super::json;
use super::outcome::{ReportError, ReportOutcome};
use super::reading::{self, Contents, NamedSessions, Reading};
use super::spent::CostFigures;
use crate::analysis::brief::rows::{self, BriefRow, BriefSources, Section, TurnTimes, word_of};
use crate::analysis::brief::{
    Brief, Change, Failure, QUOTED, TestRun, beginning, last_answer, prompts, quoted,
};
use crate::analysis::context::window::Windows;
use crate::analysis::derived::Memo;
use crate::analysis::loops::{CallRun, Loops, loop_words};
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;

/// Rows of a section of the text; the rest is counted. JSON and Markdown have all rows.
const ROWS: usize = 12;

/// Bytes quoted in full. Once they are used up, only the first `BEGINNING` bytes of each further
/// text are quoted.
const QUOTED_IN_ALL: usize = 1 << 20;
const BEGINNING: usize = 160;

/// The budget of quoted bytes.
struct Quotes {
    budget: usize,
}

impl Quotes {
    fn most(&self) -> usize {
        self.budget.clamp(BEGINNING, QUOTED)
    }

    fn spend_budget(&mut self, text: String) -> String {
        self.budget = self.budget.saturating_sub(text.len());
        text
    }

    fn of(&mut self, text: &str) -> String {
        let text = beginning(text, self.most());
        self.spend_budget(text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BriefForm {
    Text,
    /// One JSON object per line.
    Json,
    /// Markdown for a pull request.
    Markdown,
}

/// Options of `tv brief`.
pub struct BriefOptions {
    pub sessions: NamedSessions,
    pub form: BriefForm,
}

/// Writes the brief of every session that can be opened.
pub fn write(
    options: &BriefOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let mut is_first = true;
    let missed = options.sessions.each(
        |target| reading::read(target, reading::is_large(target)),
        |mut reading| {
            let gathered = Gathered::of(&mut reading, now);
            if options.form != BriefForm::Json && !std::mem::take(&mut is_first) {
                writeln!(out)?;
            }
            match options.form {
                BriefForm::Text => gathered.write_text(&reading, out)?,
                BriefForm::Json => json::write_line(out, &gathered.figures(&mut reading))?,
                BriefForm::Markdown => gathered.write_markdown(&reading, out)?,
            }
            Ok(())
        },
    )?;
    Ok(options.sessions.outcome(missed, ReportOutcome::Complete))
}

/// A session's brief and the values that it is computed from.
struct Gathered {
    brief: Brief,
    loops: Memo<Loops>,
    windows: Memo<Windows>,
    answer: Option<(EntryId, String)>,
    /// Whether the session has ended, so that nothing more will be appended.
    is_over: bool,
}

impl Gathered {
    fn of(reading: &mut Reading, now: Timestamp) -> Self {
        let is_over = !reading.activity(now).is_ongoing(now);
        let Reading {
            transcript, pager, ..
        } = reading;
        let mut contents = Contents::of(pager.as_mut());
        let brief = Brief::with_bodies(transcript, &mut |block| contents.with_bodies(block));
        let answer = last_answer(transcript).and_then(|id| {
            Some((
                id,
                quoted(transcript.get(id)?, QUOTED, &mut |block| {
                    contents.with_bodies(block)
                }),
            ))
        });
        Self {
            brief,
            loops: Memo::of(transcript),
            windows: Memo::of(transcript),
            answer,
            is_over,
        }
    }

    fn sources<'a>(&'a self, reading: &'a Reading) -> BriefSources<'a> {
        let Self {
            brief,
            loops,
            windows,
            is_over,
            ..
        } = self;
        let (transcript, account, is_over) = (&reading.transcript, &reading.account, *is_over);
        BriefSources {
            transcript,
            brief,
            account,
            loops,
            windows,
            is_over,
        }
    }

    fn write_text(&self, reading: &Reading, out: &mut dyn Write) -> io::Result<()> {
        if let Some(title) = reading.transcript.meta().title() {
            writeln!(out, "{}", rows::line(title))?;
        }
        let sources = self.sources(reading);
        for section in Section::ALL {
            let rows = sources.rows(section);
            let mut label = section.word();
            for (number, row) in rows.iter().take(ROWS).enumerate() {
                writeln!(out, "{label:<9} {}{}", section.prefix(number), row.words())?;
                label = "";
            }
            if rows.len() > ROWS {
                writeln!(out, "{:<9} + {} more", "", rows.len() - ROWS)?;
            }
        }
        if let Some((_, answer)) = &self.answer {
            writeln!(out, "answer")?;
            for line in answer.lines() {
                writeln!(out, "{}", format!("          {line}").trim_end())?;
            }
        }
        Ok(())
    }

    fn write_markdown(&self, reading: &Reading, out: &mut dyn Write) -> io::Result<()> {
        let title = reading
            .transcript
            .meta()
            .title()
            .map_or("Session", |title| title.as_str());
        writeln!(out, "## {}", plain(title))?;
        let sources = self.sources(reading);
        // Wasted work is of no use to a reviewer of the change.
        for section in Section::ALL
            .into_iter()
            .filter(|section| *section != Section::Waste)
        {
            for (number, row) in sources.rows(section).iter().enumerate() {
                if number == 0 {
                    writeln!(out, "\n### {}\n", capitalised(section.word()))?;
                }
                writeln!(out, "- {}", markdown(row).trim_end())?;
            }
        }
        if let Some((_, answer)) = &self.answer {
            writeln!(out, "\n### Last answer\n\n{answer}")?;
        }
        Ok(())
    }

    fn figures(&self, reading: &mut Reading) -> BriefFigures {
        let sources = self.sources(reading);
        let times = TurnTimes::of(&reading.transcript, &reading.account);
        let (cache_misses, cache_usd) = sources.cache_misses();
        let transcript = &reading.transcript;
        let key = |id: EntryId| {
            transcript
                .get(id)
                .map(|entry| entry.key.to_string())
                .unwrap_or_default()
        };
        let said = |entry, text: String| PromptJson {
            key: key(entry),
            text,
        };
        let brief = &self.brief;
        let mut quotes = Quotes {
            budget: QUOTED_IN_ALL,
        };
        let done = done_of(brief, &key, &mut quotes);
        let loop_of = |run: &CallRun| Some(said(run.first()?.entry, loop_words(run, "x")));
        let mut figures = BriefFigures {
            schema: "tv.brief/2",
            path: reading.target.path.display().to_string(),
            title: transcript.meta().title().map(ToString::to_string),
            asked: Vec::new(),
            done,
            failed: rows::group_failures(brief.failed.iter())
                .map(|(failure, times)| failed_of(failure, times, &key))
                .collect(),
            open: brief
                .open
                .iter()
                .filter_map(|open| {
                    let state = word_of(transcript, open, self.is_over)?;
                    Some(UnfinishedJson {
                        what: open.what.clone(),
                        state,
                        key: key(open.place.entry),
                    })
                })
                .collect(),
            cost: (&reading.account.cost(transcript)).into(),
            time: Time {
                started: times.started.map(Timestamp::to_rfc3339),
                ended: times.ended.map(Timestamp::to_rfc3339),
                span_ms: times.span_ms(),
                work_ms: times.work_ms,
                waiting_ms: times.waiting_ms,
            },
            waste: WasteJson {
                loops: self.loops.runs.iter().filter_map(loop_of).collect(),
                branches: transcript.branches().roots.len(),
                cache_misses,
                cache_usd,
            },
            last_answer: self
                .answer
                .as_ref()
                .map(|(entry, text)| said(*entry, text.clone())),
        };
        let Reading {
            transcript, pager, ..
        } = reading;
        let mut contents = Contents::of(pager.as_mut());
        let asked = prompts(transcript).map(|(_, entry)| {
            let text = quoted(entry, quotes.most(), &mut |block| {
                contents.with_bodies(block)
            });
            PromptJson {
                key: entry.key.to_string(),
                text: quotes.spend_budget(text),
            }
        });
        figures.asked = asked.collect();
        figures
    }
}

/// Builds the section of what was done. Texts are quoted within the remaining budget.
fn done_of(brief: &Brief, key: &impl Fn(EntryId) -> String, quotes: &mut Quotes) -> Done {
    Done {
        files: brief
            .files
            .iter()
            .map(|(path, change)| file(path, change, key(change.last.entry)))
            .collect(),
        commands: brief
            .commands
            .iter()
            .map(|command| PromptJson {
                key: key(command.place.entry),
                text: quotes.of(&command.text),
            })
            .collect(),
        commits: brief
            .commits
            .iter()
            .map(|commit| CommitJson {
                hash: commit.hash.clone(),
                subject: commit.subject.clone(),
                key: key(commit.place.entry),
            })
            .collect(),
        tests: brief
            .tests
            .iter()
            .map(|run| tests_of(run, quotes.of(&run.command), key(run.place.entry)))
            .collect(),
    }
}

#[derive(Debug, Serialize)]
struct BriefFigures {
    schema: &'static str,
    path: String,
    title: Option<String>,
    asked: Vec<PromptJson>,
    done: Done,
    failed: Vec<FailureJson>,
    open: Vec<UnfinishedJson>,
    cost: CostFigures,
    time: Time,
    waste: WasteJson,
    last_answer: Option<PromptJson>,
}

#[derive(Debug, Serialize)]
struct PromptJson {
    key: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct Done {
    files: Vec<FileJson>,
    commands: Vec<PromptJson>,
    commits: Vec<CommitJson>,
    tests: Vec<TestJson>,
}

#[derive(Debug, Serialize)]
struct FileJson {
    path: String,
    edits: usize,
    writes: usize,
    added: Option<usize>,
    removed: Option<usize>,
    key: String,
}

#[derive(Debug, Serialize)]
struct CommitJson {
    hash: String,
    subject: String,
    key: String,
}

#[derive(Debug, Serialize)]
struct TestJson {
    command: String,
    passed: Option<bool>,
    summary: Option<String>,
    at: Option<String>,
    key: String,
}

#[derive(Debug, Serialize)]
struct FailureJson {
    what: String,
    /// The reason, if recorded, such as `exit 1`.
    reason: Option<String>,
    /// The output line with the error.
    said: Option<String>,
    state: &'static str,
    times: usize,
    key: String,
    /// The key of the entry in which the same command succeeded later.
    mended_by: Option<String>,
}

#[derive(Debug, Serialize)]
struct UnfinishedJson {
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
struct WasteJson {
    loops: Vec<PromptJson>,
    branches: usize,
    cache_misses: usize,
    cache_usd: f64,
}

fn file(path: &str, change: &Change, key: String) -> FileJson {
    let (added, removed) = change.lines.unzip();
    FileJson {
        path: path.to_owned(),
        edits: change.edits,
        writes: change.writes,
        added,
        removed,
        key,
    }
}

fn tests_of(run: &TestRun, command: String, key: String) -> TestJson {
    TestJson {
        command,
        passed: run.passed,
        summary: run.summary.clone(),
        at: run.at.map(Timestamp::to_rfc3339),
        key,
    }
}

fn failed_of(failure: &Failure, times: usize, key: &impl Fn(EntryId) -> String) -> FailureJson {
    let Failure {
        what,
        reason,
        error_line: said,
        fault,
        place,
        mended_by,
        ..
    } = failure;
    FailureJson {
        what: what.clone(),
        reason: (!reason.is_empty()).then(|| reason.clone()),
        said: said.clone(),
        state: fault.word(),
        times,
        key: key(place.entry),
        mended_by: mended_by.map(|place| key(place.entry)),
    }
}

fn markdown(row: &BriefRow) -> String {
    match (
        row.code.as_str(),
        plain(&format!("{}{}{}", row.text, row.why, row.end)),
    ) {
        ("", text) => text,
        (words, text) => format!("{} {text}", code(words)),
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

/// Escapes the characters that are special in Markdown or HTML.
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

/// Formats a text as inline code, with a fence longer than any run of backticks in it.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let room = if longest > 0 { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

#[cfg(test)]
mod tests {
    use super::{Gathered, QUOTED, QUOTED_IN_ALL, ROWS, code, plain};
    use crate::ingest::Target;
    use crate::model::edit::Batch;
    use crate::model::entry::{BlockKind, Role};
    use crate::model::text::Text;
    use crate::report::reading::Reading;

    /// A session with `count` prompts of `bytes` bytes each.
    fn prompts(count: usize, bytes: usize) -> Reading {
        let mut out = Batch::default();
        for number in 0..count {
            let mut entry = out.new_entry(Text::clean(&format!("u{number}")), Role::User, None);
            entry.marks.prompt = true;
            let body = out.prose(&"x".repeat(bytes));
            entry.push(BlockKind::Text(body));
            out.entry(entry);
        }
        Reading::from_batch(Target::at("a.jsonl"), out)
    }

    #[test]
    fn what_is_quoted_in_all_is_bounded_and_says_what_is_left_out() {
        let asked = |count, bytes| {
            let mut reading = prompts(count, bytes);
            let gathered = Gathered::of(&mut reading, super::Timestamp(0));
            gathered
                .figures(&mut reading)
                .asked
                .into_iter()
                .map(|said| said.text)
                .collect::<Vec<_>>()
        };
        let few = asked(3, 10_000);
        assert!(few.iter().all(|text| text.len() == 10_000), "all of it");
        let long = asked(1, QUOTED + 2_048);
        assert!(
            long.concat()
                .ends_with("x\n[2.0 KB more left out; `tv show` has all]"),
            "{:?}",
            long.concat().get(QUOTED..)
        );
        let many = asked(1_000, 10_000);
        assert!(many.concat().len() < QUOTED_IN_ALL + 400 * many.len());
        assert!(
            many.last()
                .is_some_and(|text| text.starts_with("xxx") && text.contains("more left out"))
        );
    }

    #[test]
    fn rows_beyond_so_many_are_counted() {
        for (more, told) in [(0, None), (3, Some("\n          + 3 more\n"))] {
            let mut reading = prompts(ROWS + more, 4);
            let mut out = Vec::new();
            Gathered::of(&mut reading, super::Timestamp(0))
                .write_text(&reading, &mut out)
                .unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(
                told.map_or_else(|| !text.contains("more"), |told| text.contains(told)),
                "{text}"
            );
        }
    }

    #[test]
    fn words_stay_words_in_markdown() {
        assert_eq!(plain("a_b <script> `x`"), "a\\_b &lt;script> \\`x\\`");
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("echo `date`"), "`` echo `date` ``");
    }
}
