//! The interface of a view: a page with a cursor, which formats what is in its window.

use std::fmt::Debug;

use ratatui::text::{Line, Span};

use crate::analysis::activity::Activity;
use crate::analysis::lint::Findings;
use crate::app::checks::Checks;
use crate::app::comparison::Comparison;
use crate::app::input::action::{Action, LandmarkKind, Way};
use crate::app::text::viewport::Focus;
use crate::listing::call::CallScene;
use crate::model::entry::EntryId;
use crate::model::found::Target;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::render::code::Colours;
use crate::render::theme::Theme;
use crate::render::wrap::{self, LineFrame};
use crate::session::filter::Filter;
use crate::session::indexes::{Indexes, Needs};
use crate::session::search::Search;

/// What a page can read.
pub struct PageScene<'a> {
    pub(crate) transcript: &'a Transcript,
    /// The session's indexes that the page needs.
    pub(crate) indexes: &'a Indexes,
    /// The facts of its calls.
    pub(crate) calls: CallScene<'a>,
    /// The findings of the lint.
    pub(crate) findings: &'a Findings,
    /// Findings and other problems, by kind.
    pub(crate) checks: &'a Checks,
    pub(crate) theme: &'a Theme,
    pub(crate) colours: &'a Colours,
    /// Width of the page in columns.
    pub(crate) width: usize,
    /// Height of the page in lines, including its title.
    pub(crate) height: usize,
    pub(crate) now: Timestamp,
    /// What the agent is doing.
    pub(crate) activity: &'a Activity,
    pub(crate) is_at_work: bool,
    /// Whether the whole session is read.
    pub(crate) is_whole: bool,
    /// The reader's item in the transcript.
    pub(crate) focus: Option<Focus>,
    /// Whether the reader follows the end.
    pub(crate) follows: bool,
    pub(crate) search: Option<&'a Search>,
    pub(crate) filter: Option<&'a Filter>,
    /// The comparison with another run.
    pub(crate) compared: Option<&'a Comparison>,
}

/// A view of the session.
pub(crate) trait Page: Debug {
    /// The indexes that it needs.
    fn needs(&self) -> Needs;
    /// Updates the page and lays out its window.
    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet;
    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer;
    /// Chooses the row of the reader's item, or the nearest one before it.
    fn choose_focus(&mut self, scene: &PageScene<'_>, focus: Focus);
    /// Chooses a row by its [`SheetRow::number`].
    fn choose(&mut self, number: usize);
    /// Forgets the rows, but not the settings, because the transcript was replaced by another.
    fn reset(&mut self);
    /// Further keys of the page, for the line of hints.
    fn hints(&self) -> &'static [Hint] {
        &[]
    }
    /// Its signs and their meaning, for a line below a page with room.
    fn legend(&self, _theme: &Theme) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
    /// Whether the last row is the newest, so that a cursor on it follows the session.
    fn ends_with_session(&self) -> bool {
        true
    }
    /// Entries whose bodies would complete the page.
    fn bodies(&self, _scene: &PageScene<'_>) -> Vec<EntryId> {
        Vec::new()
    }
    /// The item that the chosen row leads to.
    fn target(&self, scene: &PageScene<'_>) -> Option<Focus>;
}

/// Actions with the same description, and the description.
pub type Hint = (&'static [Action], &'static str);

/// The keys of a list that can be sorted.
pub(crate) const SORT: Hint = (
    &[Action::Shift(Way::Previous), Action::Shift(Way::Next)],
    "sort",
);
pub(crate) const REVERSE: Hint = (&[Action::Reverse], "reverse");
/// The keys of a list with headings.
pub(crate) const HEADINGS: Hint = (
    &[
        Action::Seek(LandmarkKind::Prompt, Way::Previous),
        Action::Seek(LandmarkKind::Prompt, Way::Next),
    ],
    "heading",
);

/// What a page did with an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing: the action is for the transcript. [`Action::Expand`] goes to the target of the
    /// chosen row.
    Pass,
    /// It was handled; the reader moves to the target of the row chosen now.
    Done,
    /// The page shows more or less, or another order; the reader does not move.
    Unfolded,
    /// It is not possible, for this reason.
    Message(String),
    /// It leads to this item.
    Go(Focus),
    /// It leads to another session, to the entry with this key or the call with this id.
    Open(Target, String),
}

/// The content of a page on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The name of the page, and facts about the whole of it.
    pub title: Vec<Span<'static>>,
    /// Spans at the right end of the title, where there is room.
    pub(crate) right: Vec<Span<'static>>,
    /// Lines that do not scroll: heads of columns, charts.
    pub heads: Vec<Line<'static>>,
    /// The rows of the window.
    pub rows: Vec<SheetRow>,
    /// The details of the chosen row, below a rule.
    pub foot: Vec<Line<'static>>,
    /// The details of the chosen row beside the rows, with their width in columns.
    pub side: Option<(u16, Vec<Line<'static>>)>,
    /// The page's own text for the status line, if any.
    pub status: String,
}

/// A row in the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetRow {
    /// The text, from the third column of the page on.
    pub line: Line<'static>,
    /// Whether the cursor is on it.
    pub is_chosen: bool,
    /// The index of the row in the page.
    pub number: usize,
}

impl Sheet {
    /// A page without rows, with the reason.
    pub(crate) fn empty(
        title: Vec<Span<'static>>,
        why: &'static str,
        scene: &PageScene<'_>,
    ) -> Self {
        let line = Line::styled(why, scene.theme.dim);
        let rows = vec![SheetRow {
            line,
            ..SheetRow::default()
        }];
        Self {
            title,
            rows,
            ..Self::default()
        }
    }
}

/// The signs of a legend that fit with their words. A sign whose words are cut explains nothing; the
/// page of keys and signs has it, too.
pub(crate) fn whole_signs(
    signs: impl Iterator<Item = Vec<Span<'static>>>,
    columns: usize,
) -> Line<'static> {
    let mut legend = Vec::new();
    for sign in signs {
        if wrap::width_of(&legend) + wrap::width_of(&sign) > columns {
            break;
        }
        legend.extend(sign);
        legend.push(Span::raw("  "));
    }
    Line::from(legend)
}

impl PageScene<'_> {
    /// Whether everything is read and indexed, so that the page is not provisional.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_whole && !self.indexes.is_behind
    }

    /// Width of rows: without the mark of the chosen row and a blank column at each side.
    pub(crate) fn columns(&self) -> usize {
        self.width.saturating_sub(3).max(1)
    }

    /// The frame of a text with at most `most` lines, whose cut is marked.
    pub(crate) fn frame(&self, most: usize) -> LineFrame {
        LineFrame {
            limit: most,
            cut: self.theme.glyphs().cut,
            ..LineFrame::of(self.columns())
        }
    }

    /// Takes the last line for the legend of a page that has one and enough lines. Returns the legend.
    pub(crate) fn legend(
        &mut self,
        signs: &[(&'static str, &'static str)],
    ) -> Option<Line<'static>> {
        if signs.is_empty() || self.height < LEGEND_FROM {
            return None;
        }
        self.height -= 1;
        let signs = signs.iter().map(|(sign, words)| {
            let words = format!(" {words}");
            vec![
                Span::styled(*sign, self.theme.text),
                Span::styled(words, self.theme.dim),
            ]
        });
        Some(whole_signs(signs, self.columns()))
    }

    /// Divides the page's height. Returns the lines for rows, beside the title, `heads` lines and
    /// the foot with its rule; and the lines of the foot, 0 if rows would have too little room.
    pub(crate) fn divide(&self, heads: usize, foot: usize) -> (usize, usize) {
        let inner = self.height.saturating_sub(1 + heads);
        let foot = if foot > 0 && inner > foot + LEAST_ROWS {
            foot
        } else {
            0
        };
        let taken = if foot > 0 { foot + 1 } else { 0 };
        (inner.saturating_sub(taken).max(1), foot)
    }
}

/// Height of a page from which it has a line for its legend.
const LEGEND_FROM: usize = 30;
/// Minimum number of lines for rows beside a foot.
const LEAST_ROWS: usize = 4;
