//! The lines of a file with their authors as text, in the form of `git blame --porcelain`, and as
//! JSON.

use std::io::{self, Write};
use std::sync::Arc;

use ratatui::text::Span;
use serde::Serialize;

use super::collect::Call;
use super::git::GitCommit;
use super::{BlameOptions, Blamed, Report, Sureness};
use crate::model::fingerprint::hash_of;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;
use crate::report::json;
use crate::report::reading::on_one_line;

/// Least and most columns of what stands in front of a line, and their share of the width.
const FRONT: (usize, usize, usize) = (16, 56, 2);
/// Characters of a commit's id.
const SHORT: usize = 8;

impl Sureness {
    fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Moved => "moved",
        }
    }
}

impl Blamed {
    /// Whether two lines have the same author.
    fn is_like(&self, other: &Self) -> bool {
        match (&self.by, &other.by) {
            (Some((one, at, sureness)), Some((other, other_at, others))) => {
                one.key == other.key && one.id == other.id && at == other_at && sureness == others
            }
            (None, None) => self.commit == other.commit,
            _ => false,
        }
    }
}

/// Lines that follow one another and have the same author.
struct Range<'a> {
    /// Number of the first line, from 1.
    start: usize,
    lines: &'a [Blamed],
}

impl Report {
    fn ranges(&self, (first, last): (usize, usize)) -> Vec<Range<'_>> {
        let last = last.min(self.lines.len());
        let lines = self.lines.get(first - 1..last).unwrap_or_default();
        let mut start = first;
        lines
            .chunk_by(Blamed::is_like)
            .map(|lines| {
                let range = Range { start, lines };
                start += lines.len();
                range
            })
            .collect()
    }

    fn commit(&self, blamed: &Blamed) -> Option<&GitCommit> {
        self.commits.get(blamed.commit.as_deref()?)
    }

    pub(super) fn write_text(
        &self,
        lines: (usize, usize),
        options: &BlameOptions,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if let (Some((first, last)), Some(line)) = (options.lines, self.lines.get(lines.0 - 1))
            && first == last
        {
            return self.write_one(line, first, options, out);
        }
        let paper = options.paper;
        let (theme, width) = (paper.theme(), usize::from(paper.width));
        let cut = theme.glyphs().cut;
        let ranges = self.ranges(lines);
        let fronts: Vec<String> = ranges.iter().map(|range| self.front(range)).collect();
        let widest = fronts
            .iter()
            .map(|front| wrap::width(front))
            .max()
            .unwrap_or(0);
        let front_width = widest.min((width / FRONT.2).clamp(FRONT.0, FRONT.1));
        let digits = lines.1.to_string().len();
        for (range, front) in ranges.iter().zip(&fronts) {
            for (number, line) in (range.start..).zip(range.lines) {
                let front = if number == range.start { front } else { "" };
                let front = wrap::fit(&[Span::raw(front.to_owned())], front_width, cut);
                let gap = front_width.saturating_sub(wrap::width_of(&front));
                let mut spans: Vec<Span<'_>> = front
                    .into_iter()
                    .map(|span| match line.by {
                        Some(_) => span,
                        None => Span::styled(span.content, theme.dim),
                    })
                    .collect();
                let place = format!("{} {number:>digits$}  ", " ".repeat(gap));
                spans.push(Span::styled(place, theme.dim));
                spans.push(Span::styled(line.text.replace('\t', "    "), theme.text));
                let spans = wrap::fit(&spans, width, cut);
                writeln!(out, "{}", paper.bare_line(&spans).trim_end())?;
            }
        }
        Ok(())
    }

    /// Who wrote a range, in a few words.
    fn front(&self, range: &Range<'_>) -> String {
        let Some(line) = range.lines.first() else {
            return String::new();
        };
        if let Some((call, at, sureness)) = &line.by {
            let sign = match sureness {
                Sureness::Exact => ' ',
                Sureness::Moved => '~',
            };
            let turn = call
                .turn
                .map(|turn| format!(" t{turn}"))
                .unwrap_or_default();
            let prompt = call.prompt.as_deref().unwrap_or_default();
            return format!(
                "{sign}{}{turn} {} {}",
                call.format,
                at.date_and_clock(),
                on_one_line(prompt)
            );
        }
        match self.commit(line) {
            Some(commit) => format!("? {} {}", short(&commit.id), commit.at.date_and_clock()),
            None => "?".to_owned(),
        }
    }

    /// All that is known of one line.
    fn write_one(
        &self,
        line: &Blamed,
        number: usize,
        options: &BlameOptions,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut put = |label: &str, words: &str| {
            let words = format!("{label:<9}{}", on_one_line(words));
            writeln!(
                out,
                "{}",
                options.paper.bare_line(&[Span::raw(words)]).trim_end()
            )
        };
        put(&format!("{number}"), line.text.trim())?;
        match &line.by {
            None => put("by", "unknown: no call is known to have written this line")?,
            Some((call, at, sureness)) => {
                let model = call.model.as_deref().unwrap_or_default();
                put("by", format!("{} {model}", call.format).trim())?;
                put("when", &at.date_and_clock())?;
                let turn = call
                    .turn
                    .map(|turn| format!("turn {turn}"))
                    .unwrap_or_default();
                let lane = call
                    .lane
                    .as_deref()
                    .map(|lane| format!(", sub-agent {lane}"));
                put(
                    "where",
                    &format!("{turn}{}, {}", lane.unwrap_or_default(), call.tool),
                )?;
                if let Some(prompt) = &call.prompt {
                    put("asked", prompt)?;
                }
                let how = match sureness {
                    Sureness::Exact => "exact: it stands where this call wrote it",
                    Sureness::Moved => "moved: this call wrote it in another place",
                };
                put("sure", how)?;
            }
        }
        if let Some(commit) = self.commit(line) {
            let words = format!(
                "{} {} {}, {}",
                short(&commit.id),
                commit.at.date_and_clock(),
                commit.author,
                commit.summary
            );
            put("commit", &words)?;
            for trailer in commit.trailers.iter().chain(&commit.notes) {
                put("", trailer)?;
            }
        }
        if let Some((call, ..)) = &line.by {
            put("open", &format!("tv '{}'", call.address))?;
        }
        Ok(())
    }

    pub(super) fn write_porcelain(
        &self,
        lines: (usize, usize),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for range in self.ranges(lines) {
            for (number, line) in (range.start..).zip(range.lines) {
                let is_first = number == range.start;
                let count = if is_first {
                    format!(" {}", range.lines.len())
                } else {
                    String::new()
                };
                writeln!(out, "{} {number} {number}{count}", id_of(line))?;
                if is_first {
                    self.write_facts(line, out)?;
                }
                writeln!(out, "\t{}", line.text)?;
            }
        }
        Ok(())
    }

    fn write_facts(&self, line: &Blamed, out: &mut dyn Write) -> io::Result<()> {
        let commit = self.commit(line);
        let (author, at, summary) = match (&line.by, commit) {
            (Some((call, at, _)), _) => (
                call.format,
                Some(*at),
                call.prompt.as_deref().unwrap_or_default(),
            ),
            (None, Some(commit)) => (commit.author.as_str(), Some(commit.made), &*commit.summary),
            (None, None) => ("unknown", None, ""),
        };
        let seconds = at.map_or(0, |at| at.0 / 1_000);
        writeln!(out, "author {}", on_one_line(author))?;
        writeln!(out, "author-time {seconds}\nauthor-tz +0000")?;
        writeln!(out, "summary {}", on_one_line(summary))?;
        if let Some((call, _, sureness)) = &line.by {
            writeln!(out, "tv-sure {}", sureness.word())?;
            writeln!(out, "tv-open {}", on_one_line(&call.address))?;
            let model = call.model.as_deref().unwrap_or_default();
            writeln!(out, "tv-model {}", on_one_line(model))?;
        } else {
            writeln!(out, "tv-sure unknown")?;
        }
        if let Some(commit) = commit {
            writeln!(out, "tv-commit {}", commit.id)?;
        }
        writeln!(out, "filename {}", on_one_line(&self.path))
    }

    pub(super) fn write_json(&self, lines: (usize, usize), out: &mut dyn Write) -> io::Result<()> {
        for range in self.ranges(lines) {
            let Some(line) = range.lines.first() else {
                continue;
            };
            let call = line.by.as_ref();
            json::write_line(
                out,
                &RangeLine {
                    schema: "tv.blame/1",
                    path: &self.path,
                    start_line: range.start,
                    end_line: range.start + range.lines.len() - 1,
                    sure: call.map_or("unknown", |(.., sureness)| sureness.word()),
                    contributor: Contributor {
                        kind: if call.is_some() { "ai" } else { "unknown" },
                        model_id: call.and_then(|(call, ..)| call.model.as_deref()),
                    },
                    call: call.map(|(call, at, _)| BlamedCall::of(call, *at)),
                    commit: self.commit(line),
                },
            )?;
        }
        Ok(())
    }
}

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// What stands where git writes the id of a commit: the same for all lines of a call.
fn id_of(line: &Blamed) -> String {
    let Some((call, ..)) = &line.by else {
        return line.commit.clone().unwrap_or_else(|| "0".repeat(40));
    };
    let name = (call.address.as_str(), call.id.as_deref());
    let (one, other) = (hash_of(&name), hash_of(&("line", name)));
    format!("{one:016x}{other:016x}{:08x}", one >> 32)
}

#[derive(Serialize)]
struct RangeLine<'a> {
    schema: &'static str,
    path: &'a str,
    start_line: usize,
    end_line: usize,
    sure: &'static str,
    contributor: Contributor<'a>,
    call: Option<BlamedCall<'a>>,
    commit: Option<&'a GitCommit>,
}

#[derive(Serialize)]
struct Contributor<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    model_id: Option<&'a str>,
}

#[derive(Serialize)]
struct BlamedCall<'a> {
    format: &'static str,
    path: &'a str,
    session: Option<&'a str>,
    lane: Option<&'a str>,
    turn: Option<usize>,
    key: &'a str,
    id: Option<&'a str>,
    tool: &'a str,
    at: String,
    prompt: Option<&'a str>,
    open: &'a str,
}

impl<'a> BlamedCall<'a> {
    fn of(call: &'a Arc<Call>, at: Timestamp) -> Self {
        Self {
            format: call.format,
            path: &call.path,
            session: call.session.as_deref(),
            lane: call.lane.as_deref(),
            turn: call.turn,
            key: &call.key,
            id: call.id.as_deref(),
            tool: &call.tool,
            at: at.to_rfc3339(),
            prompt: call.prompt.as_deref(),
            open: &call.address,
        }
    }
}
