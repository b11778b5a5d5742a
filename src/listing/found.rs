//! The listing of sessions to choose from, with a glance at those that are visible.

use std::collections::HashSet;

use ratatui::text::{Line, Span};

use super::sort::Value;
use super::table::{Cell, CellLook, Column, cell};
use crate::analysis::phrases;
use crate::analysis::wall::Glance;
use crate::model::figures;
use crate::model::found::{FoundSession, TextHit};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Length of the part of an id that distinguishes sessions with the same title.
const ID: usize = 8;

/// Width of a folder for which there is little room.
const SHORT_FOLDER: usize = 16;
/// Least width for what was said last, with the sign in front of it.
const LAST_WORDS: usize = 15;

/// A session that can be chosen.
pub(crate) struct FoundRow<'a> {
    pub(crate) found: &'a FoundSession,
    /// The facts read from it so far.
    pub(crate) glance: Option<&'a Glance>,
    /// The match in its text, if the typed words match nothing else of it.
    pub(crate) hit: Option<&'a TextHit>,
    /// Whether it is marked, to be opened with others.
    pub(crate) is_marked: bool,
    /// Whether another visible session has the same title.
    pub(crate) has_shared_title: bool,
    pub(crate) now: Timestamp,
}

pub(crate) type FoundColumn<'a> = Column<FoundRow<'a>>;

/// The columns of a row. Rows of two lines have the facts on the second line instead.
pub(crate) fn columns<'a>(has_two_lines: bool) -> Vec<FoundColumn<'a>> {
    let mut columns = vec![
        FoundColumn::words("", 1, 30).cell(|row, look| {
            let sign = if row.is_marked { "+" } else { "" };
            cell(sign, look.theme.accent)
        }),
        FoundColumn::between("state", 8, 20, 8).cell(state),
        FoundColumn::rest("title", 14)
            .sorted_by("title", |row| {
                Value::text(row.found.title.as_deref().map(str::to_lowercase))
            })
            .cell(title),
        FoundColumn::figures("age", 4, 20)
            .sorted_by("age", |row| Value::time(row.found.modified))
            .turned()
            .cell(|row, look| {
                let age = row.found.modified.map(|at| figures::age(row.now.since(at)));
                cell(age.unwrap_or_default(), look.theme.dim)
            }),
    ];
    if !has_two_lines {
        let facts = [
            FoundColumn::words("project", 18, 4)
                .sorted_by("project", |row| Value::text(Some(folder(row.found))))
                .cell(|row, look| {
                    let cut = look.theme.glyphs().cut;
                    cell(
                        wrap::fit_path(folder(row.found), look.width, cut),
                        look.theme.dim,
                    )
                }),
            FoundColumn::words("agent", 12, 6)
                .sorted_by("agent", |row| Value::line(&row.found.agent_name()))
                .style(|_, look| look.theme.tool),
            FoundColumn::words("model", 14, 1)
                .sorted_by("model", |row| {
                    Value::text(row.found.model.as_deref().map(phrases::model))
                })
                .dim(),
            FoundColumn::figures("took", 7, 2)
                .value(|row| Value::ms(row.counts().map(|(.., ms)| ms)))
                .dim(),
            FoundColumn::figures("cost", 8, 5)
                .value(|row| Value::text(row.cost()))
                .dim(),
        ];
        let age = columns.len() - 1;
        columns.splice(age..age, facts);
    }
    columns
}

impl FoundRow<'_> {
    fn counts(&self) -> Option<(u64, u64, u64)> {
        self.glance?.counts
    }

    fn cost(&self) -> Option<String> {
        phrases::cost(self.glance?.row.cost.as_ref()?)
    }

    /// The second line of a row: `claude-code · ~/boats · opus-4-6 · 12 prompts · 220 calls ·
    /// 24m00s · ~$14.32 · and the last message`; or the matching line of its text.
    pub(crate) fn facts(&self, width: usize, theme: &Theme) -> Line<'static> {
        let cut = theme.glyphs().cut;
        if let Some(hit) = self.hit {
            let styles = [theme.dim, theme.dim.patch(theme.hit.any)];
            return Line::from(wrap::fit_match(
                &hit.line,
                hit.at.clone(),
                width,
                styles,
                cut,
            ));
        }
        let counts = self.counts();
        let count = |number: u64, word| figures::count(number, word);
        let folder = folder(self.found);
        // With the order in which parts without room are left out; the cost is the last to go.
        let mut parts = vec![
            (1, Some(self.found.agent_name())),
            (2, Some(wrap::fit_path(folder, width / 3, cut))),
            (3, self.found.model.as_deref().map(phrases::model)),
            (6, counts.map(|(prompts, ..)| count(prompts, "prompt"))),
            (5, counts.map(|(_, calls, _)| count(calls, "call"))),
            (
                4,
                counts
                    .filter(|(.., ms)| *ms > 0)
                    .map(|(.., ms)| figures::duration(ms)),
            ),
            (0, self.cost()),
        ];
        parts.retain(|(_, part)| part.as_ref().is_some_and(|part| !part.is_empty()));
        let joined = |parts: &[(u8, Option<String>)]| {
            phrases::joined(parts.iter().map(|(_, part)| part.clone()), theme.ascii)
        };
        if wrap::width(&joined(&parts)) > width {
            let short = wrap::fit_path(folder, SHORT_FOLDER, cut);
            let own = parts.iter_mut().find(|(rank, _)| *rank == 2);
            if let Some((_, part)) = own {
                *part = Some(short);
            }
        }
        while parts.len() > 1 && wrap::width(&joined(&parts)) > width {
            let last = parts.iter().map(|(rank, _)| *rank).max();
            parts.retain(|(rank, _)| Some(*rank) != last);
        }
        let words = joined(&parts);
        let last = self.glance.and_then(|glance| glance.row.last_words());
        let last = last.filter(|_| wrap::width(&words) + LAST_WORDS <= width);
        let words = phrases::joined([Some(words), last], theme.ascii);
        Line::from(wrap::fit(&[Span::styled(words, theme.dim)], width, cut))
    }
}

/// The folder in which the session began, else its working directory.
fn folder(found: &FoundSession) -> &str {
    let folder = found.project.as_deref().or(found.cwd.as_deref());
    folder.unwrap_or_default()
}

/// The activity of its agent if the session was read, else whether it runs.
fn state(row: &FoundRow<'_>, look: &CellLook<'_>) -> Cell {
    let theme = look.theme;
    let is_live = row.found.live == Some(true);
    let style = if is_live { theme.good } else { theme.dim };
    let words = match row.glance {
        Some(glance) => {
            let words = glance.row.state_without_age(row.now, theme.ascii);
            let style = super::sessions::state_style(&glance.row, theme);
            return cell(words, style);
        }
        None if is_live && theme.ascii => "* runs",
        None if is_live => "● runs",
        None => "",
    };
    cell(words, style)
}

/// The title, or the error of an unreadable session. Titles that several sessions have are followed
/// by the id.
fn title(row: &FoundRow<'_>, look: &CellLook<'_>) -> Cell {
    let (theme, found) = (look.theme, row.found);
    if let Some(fault) = found.fault() {
        let path = Text::clean(&found.path.to_string_lossy());
        let words = format!("{fault} ({path})");
        return cell(Value::line(&words).words(), look.focus_or(theme.bad));
    }
    let (title, style) = match &found.title {
        Some(title) => (Value::line(title).words(), theme.text),
        None => ("(no title)".to_owned(), theme.dim),
    };
    let mut spans = cell(title, look.focus_or(style));
    if row.has_shared_title {
        let id = short_id(&found.id);
        let room = look.width.saturating_sub(id.len() + 2);
        spans = wrap::fit(&spans, room, theme.glyphs().cut);
        spans.push(Span::styled(format!("  {id}"), theme.dim));
    }
    spans
}

/// The part of an id that differs from others: its beginning, unless that is a word.
fn short_id(id: &str) -> &str {
    let (begin, end) = (id.get(..ID), id.get(id.len().saturating_sub(ID)..));
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    begin.filter(is_number).or(end).unwrap_or(id)
}

/// The titles that several sessions have.
pub(crate) fn shared_titles<'a>(all: impl Iterator<Item = &'a FoundSession>) -> HashSet<&'a str> {
    let mut seen = HashSet::new();
    let titles = all.filter_map(|found| found.title.as_deref());
    titles.filter(|title| !seen.insert(*title)).collect()
}
