//! What goes into a layout and what comes out: the border types between `render` and `app`.

use std::ops::Range;
use std::sync::Arc;

use ratatui::text::{Line, Span};

use super::code::Colours;
use super::link::Links;
use super::nodes::{Node, NodeFolds};
use super::picture::{Pictures, Tile};
use super::source::{Of, Source};
use super::theme::Theme;
use super::wrap::{self, Frame, Piece};
use crate::model::body::{Body, Key};
use crate::model::entry::details::Details;
use crate::model::entry::{Entry, Marks};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::EndLine;

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Prompts only.
    Prompts,
    /// One row for each block.
    Outline,
    /// Prose whole, tool bodies and thinking as a preview.
    #[default]
    Preview,
    /// Everything.
    Full,
    /// The record as a JSON tree.
    Raw,
}

impl Level {
    /// 1 to 5.
    pub fn number(self) -> u8 {
        match self {
            Self::Prompts => 1,
            Self::Outline => 2,
            Self::Preview => 3,
            Self::Full => 4,
            Self::Raw => 5,
        }
    }

    /// Whether an entry with these marks is bookkeeping that has no row at this level.
    pub(crate) fn hides(self, marks: Marks) -> bool {
        self < Self::Full && marks.is_hidden()
    }

    /// The level with this number; numbers beyond the ends give the ends.
    pub fn of(number: u8) -> Self {
        match number {
            0 | 1 => Self::Prompts,
            2 => Self::Outline,
            3 => Self::Preview,
            4 => Self::Full,
            _ => Self::Raw,
        }
    }
}

/// Whether the reader folded a block by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fold {
    /// As the level says.
    #[default]
    ByLevel,
    /// Shown whole.
    Open,
    /// One row.
    Closed,
}

/// The outer conditions of a layout. Rows are valid as long as these do not change.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// Columns for the rows; no row is wider.
    pub width: u16,
    /// How much is shown.
    pub level: Level,
    /// Whether thinking is shown at all.
    pub thinking: bool,
    /// Whether calls say what they are for, where the agent said so, before what they do.
    pub intents: bool,
    /// What stands in front of each head row.
    pub times: Times,
    /// Lines of the screen: previews take their share of them. 0 stands for a small one.
    pub lines: u16,
    /// Colours and glyphs.
    pub theme: &'a Theme,
    /// Syntax highlighting: finished pieces, and where to ask for more.
    pub colours: &'a Colours,
    /// The first column of long lines of code, output and JSON that is shown; `None` wraps them.
    pub sideways: Option<u16>,
    /// The folder that the session works in: files below it are named from there.
    pub root: Option<&'a str>,
    /// Images: finished pictures, and where to ask for more. Without, images are shown as words.
    pub pictures: Option<&'a Pictures>,
}

/// Times in front of head rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// None: the session has none, or there is no room.
    None,
    /// `10:41`
    Minutes,
    /// `10:41:07`
    Seconds,
}

impl Times {
    /// Columns that they take, with the air behind them.
    pub(crate) fn columns(self) -> usize {
        match self {
            Self::None => 0,
            Self::Minutes => 7,
            Self::Seconds => 9,
        }
    }
}

/// Lines of a small screen, for which previews are made.
const SMALL: usize = 24;

impl<'a> Look<'a> {
    /// The lines of a preview on this screen: half of what it is higher than a small one is for them.
    pub(crate) fn share(&self, (head, tail): (usize, usize)) -> (usize, usize) {
        let lines = usize::from(self.lines).max(SMALL);
        (
            head * (lines + SMALL) / (2 * SMALL),
            tail * (lines + SMALL) / (2 * SMALL),
        )
    }

    /// All that there is, in this width: full detail, thinking and times, images in words.
    pub fn full(width: u16, theme: &'a Theme, colours: &'a Colours) -> Self {
        Self {
            width,
            level: Level::Full,
            thinking: true,
            intents: true,
            times: Times::Seconds,
            lines: 0,
            theme,
            colours,
            sideways: None,
            root: None,
            pictures: None,
        }
    }
}

/// One entry with what its layout needs from outside.
pub struct Item<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// Folds of its blocks, by place; missing ones are [`Fold::ByLevel`].
    pub folds: &'a [Fold],
    /// Nodes of its trees that were folded by hand.
    pub nodes: Option<&'a NodeFolds>,
    /// Inputs of the plans that its own plans took the place of, by the place of the block.
    pub plans: &'a [(usize, &'a Body)],
    /// Facts of the turn that it opens, ready to print: `6 calls 1✗ · 1m52s · $0.21`.
    pub turn: Option<&'a str>,
    /// Cost and tokens of the answer, ready to print: `↑118k (97% cached) ↓402  $0.031`.
    pub spent: Option<&'a str>,
    /// Whether it is on an abandoned branch, or a copy: drawn dim.
    pub dim: bool,
    /// Whether its calls without a result may still get one.
    pub is_awaited: bool,
    /// Whether the agent is at work: what it has not finished may still be.
    pub is_at_work: bool,
    /// Sub-agents that its calls started.
    pub lanes: &'a [LaneLine],
    /// Ends of work in the background that it tells.
    pub ends: &'a [EndLine],
    /// Whether somebody may still tell how work ended that goes on.
    pub goes_on: bool,
    /// How deep it lies in sub-agents: 0 is the main lane. Indents by two columns each, up to four.
    pub depth: u16,
    /// Whether somebody speaks to its agent, though it has a lane: it is of one of several sessions.
    pub is_spoken_to: bool,
    /// Whether its keys name the one of several sessions that has them.
    pub is_joined: bool,
    /// Index of the block that opens in raw form (the `r` key), if any.
    pub raw: Option<usize>,
    /// The blocks that are shown, in order; `None` for all.
    pub only: Option<&'a [usize]>,
    /// What records hold that no block shows, by the block below which it is shown, in order; from level 4 on.
    pub details: &'a [(usize, Arc<Details>)],
    /// The blocks that are laid out; the others have rows of their own.
    pub blocks: (usize, usize),
    /// The entries of equal calls, or of equal results without calls, that its row stands for, with itself; none if
    /// only for itself.
    pub run: &'a [&'a Entry],
}

impl<'a> Item<'a> {
    /// An entry by itself, as it is where nothing was folded and nothing stands around it.
    pub fn of(entry: &'a Entry) -> Self {
        Self {
            entry,
            folds: &[],
            nodes: None,
            plans: &[],
            turn: None,
            spent: None,
            dim: false,
            is_awaited: true,
            is_at_work: true,
            lanes: &[],
            ends: &[],
            goes_on: true,
            depth: 0,
            is_spoken_to: false,
            is_joined: false,
            raw: None,
            only: None,
            details: &[],
            blocks: (0, usize::MAX),
            run: &[],
        }
    }
}

/// A sub-agent under its call.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneLine {
    /// The call.
    pub call: Key,
    /// Its name.
    pub label: Text,
    /// Ready to print: `14 calls · $0.09`.
    pub facts: String,
    /// Whether its entries are shown below.
    pub is_open: bool,
    /// What it did last, the newest at the end: several things while it is at work.
    pub last: Vec<String>,
    /// Since when it has been running; `None` if it has come to an end.
    pub since: Option<Timestamp>,
}

/// One line on the screen.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The text, not wider than [`Look::width`] less [`Row::right`].
    pub line: Line<'static>,
    /// Facts at the right edge; the painter aligns them.
    pub right: Vec<Span<'static>>,
    /// Whether those facts are for who looks at the item only.
    pub on_focus: bool,
    /// Place of the block within the entry.
    pub block: usize,
    /// What kind of row it is.
    pub kind: RowKind,
    /// The call's part of the lane gutter.
    pub gutter: Gutter,
    /// Since when the call has been running: the painter shows the elapsed time at the right edge.
    pub running_since: Option<Timestamp>,
    /// Since when the sub-agent of the row has been running: likewise.
    pub lane_since: Option<Timestamp>,
    /// The row stands for lines that are folded away: Enter opens them in place.
    pub hides: u32,
    /// The body of this row was away; it must be fetched to show more than its stub.
    pub is_away: bool,
    /// The row goes on with a line that began above it.
    pub continues: bool,
    /// The node of a tree that it shows, if the reader can go from node to node.
    pub node: Option<Node>,
    /// Where its spans lead.
    pub links: Option<Arc<Links>>,
    /// What of the session's texts it shows.
    pub source: Source,
    /// The row of a drawing over its half blocks, for terminals that can show it.
    pub tile: Option<Tile>,
}

/// Sets the text that the lines of rows are of, where none is set.
pub(crate) fn set_source(rows: &mut [Row], of: &Of) {
    for row in rows
        .iter_mut()
        .filter(|row| row.source.of == Of::Nothing && !row.source.lines.is_empty())
    {
        row.source.of = of.clone();
    }
}

/// Rows with the text that their lines are of; see [`set_source`].
pub(crate) fn with_source(mut rows: Vec<Row>, of: &Of) -> Vec<Row> {
    set_source(&mut rows, of);
    rows
}

/// The rows of a block, with what stands between it and the next one. Rows stand in the order of their blocks, so
/// that the place of one costs little among twenty thousand.
pub(crate) fn rows_of(rows: &[Row], block: usize) -> Range<usize> {
    rows.partition_point(|row| row.block < block)..rows.partition_point(|row| row.block <= block)
}

/// First and last row of an item: of a block, without what stands between items.
pub(crate) fn item_at(rows: &[Row], block: usize) -> Option<(usize, usize)> {
    let all = rows_of(rows, block);
    let is_own = |at: &usize| rows.get(*at).is_some_and(|row| !row.kind.is_between());
    Some((all.clone().find(is_own)?, all.rev().find(is_own)?))
}

/// Kinds of rows, for motions and for the spine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// First row of a prompt.
    Prompt,
    /// First row of another block.
    Head,
    /// First row of a failed call or of an error.
    Error,
    /// A line across: compaction, model change, branch, interruption.
    Rule,
    /// A further row.
    #[default]
    Body,
    /// An empty row between entries.
    Gap,
    /// A line between what was there when the reader last looked and what is new since then.
    News,
    /// A line between entries that shows a long time.
    Ruler,
}

impl Row {
    /// Wraps one logical line to rows; all but the first continue it.
    pub(crate) fn wrapped(spans: &[Piece], frame: &Frame) -> impl Iterator<Item = Self> {
        let lines = wrap::wrap(spans, frame).into_iter().enumerate();
        lines.map(|(number, line)| Self {
            line,
            continues: number > 0,
            ..Self::default()
        })
    }

    /// Since when the call or the lane of the row has been running.
    pub(crate) fn clock(&self) -> Option<Timestamp> {
        self.running_since.or(self.lane_since)
    }
}

impl RowKind {
    /// Whether the row stands between items and belongs to none.
    pub(crate) fn is_between(self) -> bool {
        matches!(self, Self::Gap | Self::News | Self::Ruler)
    }
}

/// A call's part of the lane gutter on a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gutter {
    /// Not a call's row.
    #[default]
    None,
    /// The call's head row with more rows below: `╭`.
    Opens,
    /// Between: `│`.
    Within,
    /// The last row: `╰`.
    Closes,
    /// Head and end in one: `─`.
    Single,
    /// The head row of a call without a result: `╎` runs on below.
    Open,
}
