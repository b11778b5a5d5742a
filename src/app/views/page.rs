//! What a view is: a page with a cursor, which writes out what its window shows.

use std::fmt::Debug;

use ratatui::text::{Line, Span};

use crate::analysis::activity::Activity;
use crate::analysis::lint::Findings;
use crate::app::checks::Checks;
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::listing::call::CallScene;
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::render::code::Colours;
use crate::render::theme::Theme;
use crate::session::filter::Filter;
use crate::session::indexes::{Indexes, Needs};
use crate::session::search::Search;

/// What a page may look at.
pub struct PageScene<'a> {
    /// The session.
    pub(crate) transcript: &'a Transcript,
    /// Indexes of it, as far as the page wants them.
    pub(crate) indexes: &'a Indexes,
    /// What is known of its calls.
    pub(crate) calls: CallScene<'a>,
    /// What the lint found.
    pub(crate) findings: &'a Findings,
    /// That and what else is wrong, kind by kind.
    pub(crate) checks: &'a Checks,
    /// Colours and glyphs.
    pub(crate) theme: &'a Theme,
    /// Syntax highlighting.
    pub(crate) colours: &'a Colours,
    /// Columns of the page.
    pub(crate) width: usize,
    /// Lines of the page, its title included.
    pub(crate) height: usize,
    /// It is now.
    pub(crate) now: Timestamp,
    /// What the agent is doing.
    pub(crate) activity: &'a Activity,
    /// Whether the agent is at work.
    pub(crate) is_at_work: bool,
    /// Whether all of the session was read.
    pub(crate) is_whole: bool,
    /// Where the reader is in the transcript.
    pub(crate) focus: Option<Focus>,
    /// Whether the reader follows the end.
    pub(crate) follows: bool,
    /// The search.
    pub(crate) search: Option<&'a Search>,
    /// The filter in force.
    pub(crate) filter: Option<&'a Filter>,
}

/// A view of the session.
pub(crate) trait Page: Debug {
    /// What must be known of the session for it.
    fn needs(&self) -> Needs;
    /// Brings the page up to date, and writes out what the window shows.
    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet;
    /// Carries out an action.
    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer;
    /// The reader is at this item: chooses the row that holds it, or the nearest one before it.
    fn look_at(&mut self, scene: &PageScene<'_>, focus: Focus);
    /// Chooses a row by its [`SheetRow::number`].
    fn choose(&mut self, number: usize);
    /// Another transcript has taken the place of this one: forgets its rows, but not how the reader wants them.
    fn forget(&mut self);
    /// What else its keys do, for the line of hints.
    fn hints(&self) -> &'static [Hint] {
        &[]
    }
    /// Whether the last row is what came last, so that who goes to it follows the session.
    fn ends_with_session(&self) -> bool {
        true
    }
    /// Entries whose bodies would make it say more.
    fn bodies(&self, _scene: &PageScene<'_>) -> Vec<EntryId> {
        Vec::new()
    }
    /// The item that the chosen row names.
    fn target(&self, scene: &PageScene<'_>) -> Option<Focus>;
}

/// Keys that do one thing, and what.
pub type Hint = (&'static [Action], &'static str);

/// What a page did with an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing: it is for the transcript. [`Action::Expand`] goes to what the chosen row names.
    Pass,
    /// It was carried out; the reader goes to what the chosen row names now.
    Done,
    /// It shows more or less of itself, or in another order, and leads nowhere by that.
    Unfolded,
    /// It cannot be done, for this reason.
    Say(String),
}

/// What the screen shows of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// The name of the page, and what is true of all of it.
    pub title: Vec<Span<'static>>,
    /// At the right end of the title, where there is room.
    pub(crate) right: Vec<Span<'static>>,
    /// Lines that do not scroll: heads of columns, charts.
    pub heads: Vec<Line<'static>>,
    /// The rows of the window.
    pub rows: Vec<SheetRow>,
    /// The details of the chosen row, under a rule.
    pub foot: Vec<Line<'static>>,
    /// The same beside the rows, in so many columns.
    pub side: Option<(u16, Vec<Line<'static>>)>,
    /// What the status line says, where the page has one of its own.
    pub status: String,
}

/// A row in sight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetRow {
    /// The text, from the third column of the page on.
    pub line: Line<'static>,
    /// Whether the cursor is on it.
    pub is_chosen: bool,
    /// Which row of the page it is.
    pub number: usize,
}

impl Sheet {
    /// A page without rows, which says why.
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

impl PageScene<'_> {
    /// Whether nothing more is known of the session than what the page shows.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_whole && !self.indexes.is_behind
    }

    /// Columns of rows: all but the mark of the chosen one, and a column of air at each side.
    pub(crate) fn columns(&self) -> usize {
        self.width.saturating_sub(3).max(1)
    }

    /// Lines that are left for rows beside the title, so many heads, and a foot of so many lines with its
    /// rule; and the lines of the foot, none where rows would have too little room.
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

/// A foot leaves the rows at least so many lines.
const LEAST_ROWS: usize = 4;
