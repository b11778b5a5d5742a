//! The view of the session's brief: prompts, results and the last answer, each row with its
//! position. It is updated while the agent works.

use std::collections::BTreeSet;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet, SheetRow};
use crate::analysis::brief::rows::{BriefRow, BriefSources, Section, Tone, TurnTimes};
use crate::analysis::brief::{QUOTED, as_is, last_answer, quoted};
use crate::analysis::phrases::{self, headline};
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::model::entry::EntryId;
use crate::model::figures::{count, duration};
use crate::model::path;
use crate::model::text::Text;
use crate::render::markdown::{self, MarkdownMode};
use crate::render::row::{self, Look};
use crate::render::wrap;
use crate::session::indexes::Needs;

/// Width of the column of section names.
const LABEL: usize = 9;
/// Rows of a section that is not opened, on low and on high screens.
const ROWS: (usize, usize) = (3, 8);
/// Lines of the page per row of a section, which leaves room for the answer.
const LINES_A_ROW: usize = 6;
/// Maximum number of rows of the last answer.
const ANSWER: usize = 2_000;
/// Divisor of the page's height for an answer that does not fit in full.
const ANSWER_SHARE: usize = 4;
const HINTS: &[Hint] = &[(&[Action::LevelUp, Action::LevelDown], "all rows, some")];

#[derive(Debug, Default)]
pub(crate) struct BriefView {
    list: List<BriefKey>,
    /// The first rows of each section, and the number of all its rows.
    sections: Vec<(Section, Vec<BriefRow>, usize)>,
    answer: Option<(Focus, Vec<Line<'static>>)>,
    /// Sections of which all rows are shown.
    opened: BTreeSet<Section>,
    /// Whether the whole answer is shown.
    is_answer_opened: bool,
    built_from: Option<BriefSource>,
}

/// The key of a row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BriefKey {
    Row(Section, usize),
    /// The remaining rows of a section.
    More(Section),
    Answer(usize),
    /// The remaining lines of the answer.
    MoreAnswer,
}

/// The state that the rows were built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BriefSource {
    indexes: u64,
    brief: u64,
    width: usize,
    height: usize,
    is_whole: bool,
    is_over: bool,
}

impl BriefView {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let is_over = !scene.activity.is_ongoing(scene.now);
        let made = BriefSource {
            indexes: scene.indexes.generation,
            brief: scene.indexes.brief.generation,
            width: scene.width,
            height: scene.height,
            is_whole: scene.is_whole,
            is_over,
        };
        if self.built_from.replace(made) == Some(made) {
            return;
        }
        let answer =
            last_answer(scene.transcript).and_then(|id| Some((id, scene.transcript.get(id)?)));
        let said = answer.map(|(entry, said)| {
            let block = headline(said);
            (Focus { entry, block }, quoted(said, QUOTED, &mut as_is))
        });
        let sources = BriefSources {
            transcript: scene.transcript,
            brief: &scene.indexes.brief,
            account: &scene.indexes.account,
            loops: &scene.indexes.loops,
            windows: &scene.indexes.windows,
            is_over,
        };
        let section = |section: Section| {
            let most = if self.opened.contains(&section) {
                usize::MAX
            } else {
                scene.height
            };
            let (rows, all) = sources.first(section, most);
            (section, rows, all)
        };
        self.sections = Section::ALL.into_iter().map(section).collect();
        self.answer = said.map(|(at, text)| (at, lines_of(scene, &text)));
        self.list_rows();
    }

    /// Lists the prompts, the answer, and then the other sections.
    fn list_rows(&mut self) {
        let most = self.most_rows();
        let mut keys = Vec::new();
        for (section, _, all) in &self.sections {
            let most = share(*section, most);
            let shown = if self.opened.contains(section) || *all <= most {
                *all
            } else {
                most - 1
            };
            keys.extend((0..shown).map(|number| BriefKey::Row(*section, number)));
            keys.extend((shown < *all).then_some(BriefKey::More(*section)));
            if *section == Section::Asked {
                let shown = self.answer_shown(most);
                keys.extend((0..shown).map(BriefKey::Answer));
                keys.extend((shown < self.answer_lines()).then_some(BriefKey::MoreAnswer));
            }
        }
        self.list.set(keys, false);
    }

    fn answer_lines(&self) -> usize {
        self.answer.as_ref().map_or(0, |(_, lines)| lines.len())
    }

    /// Number of lines of the answer that are shown: all if they fit beside `most` rows of each
    /// section, else a part of the page.
    fn answer_shown(&self, most: usize) -> usize {
        let (all, height) = (self.answer_lines(), self.height());
        let part = (height / ANSWER_SHARE).max(1);
        if self.is_answer_opened || all <= part || self.rows_within(most) + all < height {
            all
        } else {
            part
        }
    }

    fn height(&self) -> usize {
        self.built_from.map_or(0, |made| made.height)
    }

    /// Number of rows of all sections, with at most their share of `most` rows.
    fn rows_within(&self, most: usize) -> usize {
        self.sections
            .iter()
            .map(|(section, _, all)| (*all).min(share(*section, most)))
            .sum()
    }

    /// Maximum number of rows of a section: as many as fit on the page together with the answer, or
    /// few.
    fn most_rows(&self) -> usize {
        let height = self.height();
        let few = (height / LINES_A_ROW).clamp(ROWS.0, ROWS.1);
        let all = (few + 1..height)
            .take_while(|most| self.rows_within(*most) + self.answer_lines() < height)
            .last();
        all.unwrap_or(few)
    }

    fn row(&self, section: Section, number: usize) -> Option<&BriefRow> {
        self.sections
            .iter()
            .find(|(of, ..)| *of == section)?
            .1
            .get(number)
    }

    fn place(&self, key: BriefKey) -> Option<Focus> {
        match key {
            BriefKey::Row(section, number) => self.row(section, number)?.place,
            BriefKey::Answer(_) => self.answer.as_ref().map(|(at, _)| *at),
            BriefKey::MoreAnswer => self.answer.as_ref().map(|(at, _)| *at),
            BriefKey::More(_) => None,
        }
    }

    fn line(&self, scene: &PageScene<'_>, key: BriefKey) -> Line<'static> {
        let theme = scene.theme;
        let label = |word: &str| Span::styled(format!("{word:<LABEL$} "), theme.dim);
        match key {
            BriefKey::Row(section, number) => {
                let Some(row) = self.row(section, number) else {
                    return Line::default();
                };
                let label = label(if number == 0 { section.word() } else { "" });
                let lead = section.prefix(number);
                let mut spans = vec![label];
                let session = row
                    .place
                    .and_then(|at| scene.transcript.session_of(at.entry));
                if let Some((session, _)) = session {
                    spans.extend([theme.session_mark(Some(session)), Span::raw(" ")]);
                }
                spans.push(Span::styled(lead, theme.dim));
                let room = scene.columns().saturating_sub(wrap::width_of(&spans));
                spans.extend(row_spans(scene, (section, row), room.max(1)));
                Line::from(spans)
            }
            BriefKey::More(section) => {
                let all = self
                    .sections
                    .iter()
                    .find(|(of, ..)| *of == section)
                    .map_or(0, |(.., all)| *all);
                let words = format!(
                    "+ {} more",
                    (all + 1).saturating_sub(share(section, self.most_rows()))
                );
                Line::from(vec![label(""), Span::styled(words, theme.dim)])
            }
            BriefKey::Answer(number) => {
                let line = self
                    .answer
                    .as_ref()
                    .and_then(|(_, lines)| lines.get(number));
                let mut spans = vec![label(if number == 0 { "answer" } else { "" })];
                spans.extend(line.map(|line| line.spans.clone()).unwrap_or_default());
                Line::from(spans)
            }
            BriefKey::MoreAnswer => {
                let more = self.answer_lines() - self.answer_shown(self.most_rows());
                let words = format!("+ {}", count(more as u64, "line"));
                Line::from(vec![label(""), Span::styled(words, theme.dim)])
            }
        }
    }

    fn rebuild(&mut self, scene: &PageScene<'_>) {
        self.built_from = None;
        self.refresh(scene);
    }
}

/// Of `most` rows those of a section: what was asked comes first, and has twice as many.
fn share(section: Section, most: usize) -> usize {
    match section {
        Section::Asked => 2 * most,
        _ => most,
    }
}

fn title(scene: &PageScene<'_>) -> Vec<Span<'static>> {
    let times = TurnTimes::of(scene.transcript, &scene.indexes.account);
    let parts = [
        times
            .started
            .map(|at| format!("{} {}", at.date(), at.minute())),
        times.work_ms.map(|ms| format!("{} of work", duration(ms))),
    ];
    let words = phrases::joined(parts, scene.theme.ascii);
    vec![
        Span::raw("BRIEF"),
        Span::styled(format!("  {words}"), scene.theme.dim),
    ]
}

/// Lays out the answer as lines, without the facts that only the text pane shows.
fn lines_of(scene: &PageScene<'_>, text: &str) -> Vec<Line<'static>> {
    let room = scene.columns().saturating_sub(LABEL + 1).max(1);
    let width = u16::try_from(room).unwrap_or(u16::MAX);
    let look = Look {
        times: row::Times::None,
        ..Look::full(width, scene.theme, scene.colours)
    };
    let rows = markdown::rows(text, MarkdownMode::Prose, room, ANSWER, &look);
    rows.into_iter().map(|row| row.line).collect()
}

fn row_spans(
    scene: &PageScene<'_>,
    (section, row): (Section, &BriefRow),
    room: usize,
) -> Vec<Span<'static>> {
    let theme = scene.theme;
    let cut = theme.glyphs().cut;
    let style = match (section, row.tone) {
        (_, Tone::Bad) => theme.bad,
        (_, Tone::Good) => theme.good,
        (Section::Asked, _) => theme.voice.user,
        _ => Style::default(),
    };
    if row.code.is_empty() {
        // The end is always shown; the reason gets at most half of the remaining room.
        let end = wrap::width(&row.end).min(room / 2);
        let room = room - end;
        let why = wrap::width(&row.why).min(room / 2);
        let text = wrap::fit_action(&row.text, room - why, cut);
        let mut spans = wrap::fit(&[Span::styled(text, style)], room - why, cut);
        for (words, room) in [(&row.why, room), (&row.end, room + end)] {
            let rest = room.saturating_sub(wrap::width_of(&spans));
            spans.extend(wrap::fit(&[Span::styled(words.clone(), style)], rest, cut));
        }
        return spans;
    }
    // Paths are cut in the middle, so that the figures after them stay visible.
    let beside = if row.text.is_empty() {
        0
    } else {
        wrap::width(&row.text) + 2
    };
    let code = match section {
        Section::Files => {
            // Paths of joined sessions are those that each of them would have alone.
            let root = row.place.and_then(|at| scene.transcript.root_of(at.entry));
            let path = path::relative_to(&row.code, root.map(Text::as_str));
            wrap::fit_path(path, room.saturating_sub(beside).max(12), cut)
        }
        _ => row.code.clone(),
    };
    let spans = [
        Span::styled(code, style),
        Span::raw("  "),
        Span::styled(
            row.text.clone(),
            if section == Section::Commits {
                style
            } else {
                theme.dim
            },
        ),
    ];
    wrap::fit(&spans, room, cut)
}

impl Page for BriefView {
    fn needs(&self) -> Needs {
        Needs {
            brief: true,
            windows: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let (height, _) = scene.divide(0, 0);
        self.list.fit(height);
        let rows = self.list.window().map(|(number, key, is_chosen)| SheetRow {
            line: self.line(scene, *key),
            is_chosen,
            number,
        });
        let is_behind = scene.indexes.is_behind || !scene.is_whole;
        let right = if is_behind {
            vec![Span::styled("adding up", scene.theme.warn)]
        } else {
            Vec::new()
        };
        Sheet {
            title: title(scene),
            right,
            rows: rows.collect(),
            ..Sheet::default()
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        if let Some(answer) = self.list.act(action, times) {
            return answer;
        }
        match (action, self.list.chosen().copied()) {
            (Action::Expand | Action::ToggleFold, Some(BriefKey::More(section))) => {
                self.opened.insert(section);
                self.rebuild(scene);
                self.list.choose_key(&BriefKey::Row(
                    section,
                    share(section, self.most_rows()) - 1,
                ));
            }
            (Action::Expand | Action::ToggleFold, Some(BriefKey::MoreAnswer)) => {
                self.is_answer_opened = true;
                let number = self.answer_shown(self.most_rows());
                self.rebuild(scene);
                self.list.choose_key(&BriefKey::Answer(number));
            }
            (Action::LevelUp, chosen) => {
                self.opened.extend(Section::ALL);
                self.is_answer_opened = true;
                self.rebuild(scene);
                if let Some(BriefKey::More(section)) = chosen {
                    self.list.choose_key(&BriefKey::Row(
                        section,
                        share(section, self.most_rows()) - 1,
                    ));
                }
            }
            (Action::LevelDown, _) => {
                self.opened.clear();
                self.is_answer_opened = false;
                self.rebuild(scene);
            }
            _ => return Answer::Pass,
        }
        Answer::Unfolded
    }

    /// The page starts at its top, wherever the reader is in the session.
    fn choose_focus(&mut self, _scene: &PageScene<'_>, _focus: Focus) {}

    fn choose(&mut self, number: usize) {
        self.list.choose(number);
    }

    fn reset(&mut self) {
        let opened = std::mem::take(&mut self.opened);
        *self = Self {
            opened,
            is_answer_opened: self.is_answer_opened,
            ..Self::default()
        };
    }

    fn hints(&self) -> &'static [Hint] {
        HINTS
    }

    fn ends_with_session(&self) -> bool {
        false
    }

    fn target(&self, _scene: &PageScene<'_>) -> Option<Focus> {
        self.place(*self.list.chosen()?)
    }

    /// Results of test runs, hashes of commits and the answer are in bodies.
    fn bodies(&self, scene: &PageScene<'_>) -> Vec<EntryId> {
        let answer = self.answer.as_ref().map(|(at, _)| at.entry);
        answer
            .into_iter()
            .chain(scene.indexes.brief.incomplete.iter().copied())
            .collect()
    }
}
