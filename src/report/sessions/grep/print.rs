//! Writes hits: under the title of their session, each with its file, or as JSON.
//!
//! Invariant: the hits of a session are written and flushed before those of the next.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use itertools::Itertools as _;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use serde::Serialize;

use super::options::{GrepForm, GrepOptions};
use super::search::LineHit;
use crate::ingest::find::Environment;
use crate::model::found::FoundSession;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;
use crate::report::entry::FromLine;
use crate::report::json;
use crate::report::outcome::ReportError;
use crate::report::reading::{on_one_line, shown};
use crate::report::rows::Paper;

/// Widths of the columns of line number and speaker.
const LINE: usize = 7;
const SPEAKER: usize = 8;

#[derive(Serialize)]
struct HitJson<'a> {
    schema: &'static str,
    path: String,
    session: &'a str,
    format: &'static str,
    title: Option<&'a str>,
    cwd: Option<&'a str>,
    key: &'a str,
    lane: Option<&'a str>,
    #[serde(rename = "line")]
    number: Option<u32>,
    at: Option<String>,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<FromLine<'a>>,
    field: &'static str,
    tool: Option<&'a str>,
    text: &'a str,
    start: usize,
    end: usize,
}

pub(super) struct HitPrinter<'a> {
    form: GrepForm,
    paper: Paper,
    environment: &'a Environment,
    now: Timestamp,
    /// The session that was written last.
    last: Option<Arc<FoundSession>>,
}

impl<'a> HitPrinter<'a> {
    pub(super) fn new(options: &'a GrepOptions, now: Timestamp) -> Self {
        let GrepOptions {
            form,
            paper,
            search,
            ..
        } = options;
        Self {
            form: *form,
            paper: *paper,
            environment: &search.environment,
            now,
            last: None,
        }
    }

    pub(super) fn has_written(&self) -> bool {
        self.last.is_some()
    }

    /// Writes hits of a session.
    pub(super) fn write(
        &mut self,
        found: &Arc<FoundSession>,
        hits: &[LineHit],
        out: &mut dyn Write,
    ) -> Result<(), ReportError> {
        let is_new = self
            .last
            .as_ref()
            .is_none_or(|last| !Arc::ptr_eq(last, found));
        if is_new && self.form == GrepForm::Headed {
            if self.has_written() {
                writeln!(out)?;
            }
            self.head(found, out)?;
        }
        self.last = Some(Arc::clone(found));
        if self.form == GrepForm::Sessions {
            writeln!(out, "{}", name_of(found))?;
        } else {
            hits.iter().try_for_each(|hit| self.hit(found, hit, out))?;
        }
        out.flush().map_err(ReportError::from)
    }

    fn head(&self, found: &FoundSession, out: &mut dyn Write) -> io::Result<()> {
        let dim = Style::new().fg(Color::DarkGray);
        let title = found.title.as_deref().unwrap_or("(no title)");
        let title = title.split_whitespace().join(" ");
        let project = found
            .cwd
            .as_deref()
            .and_then(|cwd| cwd.rsplit('/').find(|name| !name.is_empty()));
        let facts = [
            project.map(str::to_owned),
            Some(found.format.to_owned()),
            found.modified.map(|at| at.day_or_minute(self.now)),
        ];
        let facts = facts.into_iter().flatten().join(&self.dot());
        let width = usize::from(self.paper.width);
        let room = width.saturating_sub(wrap::width(&facts) + 3).max(20);
        let mut spans = wrap::fit(
            &[Span::styled(
                title,
                Style::new().add_modifier(Modifier::BOLD),
            )],
            room,
            self.cut(),
        );
        spans.push(Span::styled(format!("{}{facts}", self.dot()), dim));
        writeln!(out, "{}", self.paper.bare_line(&spans))?;
        let name = self.environment.shortened(name_of(found).as_str().as_ref());
        writeln!(out, "{}", self.paper.bare_line(&[Span::styled(name, dim)]))
    }

    fn hit(&self, found: &FoundSession, hit: &LineHit, out: &mut dyn Write) -> io::Result<()> {
        if self.form == GrepForm::Json {
            return write_json(found, hit, out);
        }
        let dim = Style::new().fg(Color::DarkGray);
        let at = hit.at.map(Timestamp::day_and_minute).unwrap_or_default();
        let who = match (&hit.tool, hit.field) {
            (Some((_, word)), _) => word.as_str(),
            (None, "thinking") => "think",
            (None, "output" | "patch") => "result",
            (None, _) => &hit.speaker,
        };
        let line = hit.line.map(|line| line.to_string()).unwrap_or_default();
        let who_style = Style::new().fg(Color::Cyan);
        if self.form == GrepForm::Plain {
            let place = if *hit.path == *found.path {
                name_of(found)
            } else {
                Text::clean(&on_one_line(&shown(&hit.path)))
            };
            let front = format!("{place}:{line}: {at} ");
            if self.paper.colour {
                let who = [Span::styled(who.to_owned(), who_style), Span::raw(": ")];
                let text = self.excerpt(&hit.text, hit.found.clone(), usize::MAX);
                let spans: Vec<_> = std::iter::once(Span::styled(front, dim))
                    .chain(who)
                    .chain(text)
                    .collect();
                return writeln!(out, "{}", self.paper.bare_line(&spans));
            }
            return writeln!(out, "{front}{who}: {}", hit.text.replace('\n', " "));
        }
        let who = wrap::fit(&[Span::raw(who.to_owned())], SPEAKER, self.cut());
        let who: String = who.iter().map(|span| span.content.as_ref()).collect();
        let gap = " ".repeat(SPEAKER.saturating_sub(wrap::width(&who)));
        let front = format!("{line:>LINE$}  {at:>11}  ");
        let room = usize::from(self.paper.width)
            .saturating_sub(front.len() + SPEAKER + 2)
            .max(20);
        let mut spans = vec![
            Span::styled(front, dim),
            Span::styled(who, who_style),
            Span::raw(format!("{gap}  ")),
        ];
        spans.extend(self.excerpt(&hit.text, hit.found.clone(), room));
        writeln!(out, "{}", self.paper.bare_line(&spans))
    }

    /// The part of a line around the hit that fits into `room` columns.
    fn excerpt(&self, text: &str, found: Range<usize>, room: usize) -> Vec<Span<'static>> {
        let style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
        wrap::fit_match(text, found, room, [Style::new(), style], self.cut())
    }

    fn cut(&self) -> &'static str {
        self.paper.glyphs().cut
    }

    fn dot(&self) -> String {
        format!(" {} ", self.paper.glyphs().dot)
    }
}

/// The argument that opens a session.
fn name_of(found: &FoundSession) -> Text {
    let path = shown(&found.path);
    let name = found
        .session
        .as_ref()
        .map(|session| format!("{path}#{session}"));
    Text::clean(&on_one_line(name.as_deref().unwrap_or(&path)))
}

fn write_json(found: &FoundSession, hit: &LineHit, out: &mut dyn Write) -> io::Result<()> {
    let line = HitJson {
        schema: "tv.hit/1",
        path: hit.path.to_string_lossy().into_owned(),
        session: &found.id,
        format: found.format,
        title: found.title.as_deref(),
        cwd: found.cwd.as_deref(),
        key: &hit.key,
        lane: hit.lane.as_deref(),
        number: hit.line,
        at: hit.at.map(Timestamp::to_rfc3339),
        role: hit.role,
        from: hit.from.as_deref().map(Into::into),
        field: hit.field,
        tool: hit.tool.as_ref().map(|(tool, _)| tool.as_str()),
        text: &hit.text,
        start: hit.found.start,
        end: hit.found.end,
    };
    json::write_line(out, &line)
}
