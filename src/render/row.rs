//! Input and output of a layout: the types shared by `render` and `app`.

use std::ops::Range;
use std::sync::Arc;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::code::Colours;
use super::link::LinkTargets;
use super::nodes::{NodeFolds, ValueNode};
use super::picture::{Pictures, Tile};
use super::source::{Source, SourceText};
use super::theme::Theme;
use super::wrap::{self, LineFrame, Piece};
use crate::model::body::{Body, Key};
use crate::model::entry::details::Details;
use crate::model::entry::{Entry, Marks};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::EndLine;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Prompts only.
    Prompts,
    /// One row for each block.
    Outline,
    /// Prose in full, tool bodies and thinking as previews.
    #[default]
    Preview,
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

    /// Whether an entry with these marks is bookkeeping and hidden at this level.
    pub(crate) fn hides(self, marks: Marks) -> bool {
        self < Self::Full && marks.is_hidden()
    }

    /// The level with this number; numbers out of range are clamped.
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

/// The fold of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fold {
    #[default]
    ByLevel,
    /// Opened by hand: shown in full.
    Open,
    /// Closed by hand: one row.
    Closed,
}

/// Options of a layout. Rows are valid until an option changes.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// Width in columns; no row is wider.
    pub width: u16,
    pub level: Level,
    /// Whether thinking is shown at all.
    pub thinking: bool,
    /// Whether calls show the purpose stated by the agent before what they do.
    pub intents: bool,
    /// Times in front of head rows.
    pub times: Times,
    /// Lines of the screen, by which previews grow. 0 is a small screen.
    pub lines: u16,
    pub theme: &'a Theme,
    pub colours: &'a Colours,
    /// First visible column of long lines of code, output and JSON; `None` wraps them.
    pub sideways: Option<u16>,
    /// Working folder of the session; paths below it are shown relative to it.
    pub root: Option<&'a str>,
    /// Pictures; `None` shows images as words.
    pub pictures: Option<&'a Pictures>,
}

/// Times in front of head rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// No times: the session has none, or the screen is too narrow.
    None,
    /// `10:41`
    Minutes,
    /// `10:41:07`
    Seconds,
}

impl Times {
    /// Width of a time with the blanks after it, in columns.
    pub(crate) fn columns(self) -> usize {
        match self {
            Self::None => 0,
            Self::Minutes => 7,
            Self::Seconds => 9,
        }
    }
}

/// Lines of a screen for which the lines of previews are given.
const SMALL: usize = 24;

impl<'a> Look<'a> {
    /// Lines of a preview on this screen: they grow half as much as the screen.
    pub(crate) fn share(&self, (head, tail): (usize, usize)) -> (usize, usize) {
        let lines = usize::from(self.lines).max(SMALL);
        (
            head * (lines + SMALL) / (2 * SMALL),
            tail * (lines + SMALL) / (2 * SMALL),
        )
    }

    /// Full detail with thinking and times, images as words.
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

/// An entry with the facts from other modules that its layout needs.
pub struct Item<'a> {
    pub entry: &'a Entry,
    /// Folds of its blocks by index; missing ones are [`Fold::ByLevel`].
    pub folds: &'a [Fold],
    /// Folds of the nodes of its trees.
    pub nodes: Option<&'a NodeFolds>,
    /// For each plan by its block, the input of the plan that it replaced.
    pub plans: &'a [(usize, &'a Body)],
    /// Facts of the turn that it starts, for display: `6 calls 1✗ · 1m52s · $0.21`.
    pub turn: Option<&'a str>,
    /// Usage of the answer, for display: `↑118k (97% cached) ↓402  $0.031`.
    pub usage: Option<&'a str>,
    /// Whether it is dim: a copy, or on an abandoned branch.
    pub dim: bool,
    /// Whether its calls without a result may still get one.
    pub is_awaited: bool,
    /// Whether the agent is at work, so that unfinished blocks may still be finished.
    pub is_at_work: bool,
    /// Lanes started by its calls.
    pub lanes: &'a [LaneLine],
    /// Ends of background work reported by it.
    pub ends: &'a [EndLine],
    /// Whether its calls without an end go on: the agent is at work.
    pub is_running: bool,
    /// Depth of its lane: 0 is the main lane. Each indents by two columns, up to four times.
    pub depth: u16,
    /// Whether the lane is the main lane of one of several joined sessions, so that its prompts are
    /// a user's.
    pub is_main_lane: bool,
    /// Whether the keys of the entry end with the number of a joined session.
    pub is_joined: bool,
    /// Index of the block that opens as the raw record (the `r` key).
    pub raw: Option<usize>,
    /// Indices of the visible blocks in order; `None` for all.
    pub only: Option<&'a [usize]>,
    /// Fields of records that no block shows, from level 4 on, by the block above them, in order.
    pub details: &'a [(usize, Arc<Details>)],
    /// The range of blocks that is laid out; the others have rows of their own.
    pub blocks: (usize, usize),
    /// The entries of a run of equal calls or results that its row represents, including itself;
    /// empty if it represents only itself.
    pub run: &'a [&'a Entry],
}

impl<'a> Item<'a> {
    /// An entry without folds and context.
    pub fn of(entry: &'a Entry) -> Self {
        Self {
            entry,
            folds: &[],
            nodes: None,
            plans: &[],
            turn: None,
            usage: None,
            dim: false,
            is_awaited: true,
            is_at_work: true,
            lanes: &[],
            ends: &[],
            is_running: true,
            depth: 0,
            is_main_lane: false,
            is_joined: false,
            raw: None,
            only: None,
            details: &[],
            blocks: (0, usize::MAX),
            run: &[],
        }
    }
}

/// The row of a lane below its call.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneLine {
    pub call: Key,
    pub label: Text,
    /// Facts to show: `14 calls · $0.09`.
    pub facts: String,
    /// Whether its entries are shown below.
    pub is_open: bool,
    /// The last actions, the newest last; several while the lane is at work.
    pub last: Vec<String>,
    /// Start of the lane; `None` if it has ended.
    pub since: Option<Timestamp>,
}

/// One line on the screen.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The text, at most as wide as [`Look::width`] less [`Row::right`].
    pub line: Line<'static>,
    /// Facts aligned at the right edge.
    pub right: Vec<Span<'static>>,
    /// Whether those facts are shown only while the item has the focus.
    pub on_focus: bool,
    /// Index of the block within the entry.
    pub block: usize,
    pub kind: RowKind,
    /// The call's part of the lane gutter.
    pub gutter: Gutter,
    /// Start of a running call; the elapsed time is shown at the right edge.
    pub running_since: Option<Timestamp>,
    /// Start of a running lane; the elapsed time is shown at the right edge.
    pub lane_since: Option<Timestamp>,
    /// Number of hidden lines that the row represents; Enter opens them.
    pub hides: u32,
    /// Whether the body must be fetched to show more than its stub.
    pub is_away: bool,
    /// Whether the row continues the line above it.
    pub continues: bool,
    /// The node of a tree shown by the row, if nodes can be focused one by one.
    pub node: Option<ValueNode>,
    /// Links of its spans.
    pub links: Option<Arc<LinkTargets>>,
    /// The source text shown by the row.
    pub source: Source,
    /// The row of a drawing over its half blocks, for terminals with graphics.
    pub tile: Option<Tile>,
}

/// Sets the source text of rows that have source lines and no text yet.
pub(crate) fn set_source(rows: &mut [Row], of: &SourceText) {
    for row in rows
        .iter_mut()
        .filter(|row| row.source.of == SourceText::None && !row.source.lines.is_empty())
    {
        row.source.of = of.clone();
    }
}

/// Replaces the style of rows, but keeps bold, italic and underlined text.
pub(crate) fn restyle(rows: &mut [Row], style: Style) {
    for span in rows.iter_mut().flat_map(|row| &mut row.line.spans) {
        span.style = style.add_modifier(span.style.add_modifier);
    }
}

/// Rows with their source text set; see [`set_source`].
pub(crate) fn with_source(mut rows: Vec<Row>, of: &SourceText) -> Vec<Row> {
    set_source(&mut rows, of);
    rows
}

/// The rows of a block, with the rows between it and the next one. Rows are ordered by block, so a
/// binary search finds them.
pub(crate) fn rows_of(rows: &[Row], block: usize) -> Range<usize> {
    rows.partition_point(|row| row.block < block)..rows.partition_point(|row| row.block <= block)
}

/// First and last row of a block, without the rows between blocks.
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
    /// A rule: compaction, change of the model, branch, interruption.
    Rule,
    #[default]
    Body,
    /// An empty row between entries.
    Gap,
    /// The line above the first entry that is new since the last visit.
    News,
    /// A ruler between entries: a long pause, or the start of a day.
    Ruler,
}

impl Row {
    /// Wraps one logical line to rows; all but the first continue it.
    pub(crate) fn wrapped(spans: &[Piece], frame: &LineFrame) -> impl Iterator<Item = Self> {
        let lines = wrap::wrap(spans, frame).into_iter().enumerate();
        lines.map(|(number, line)| Self {
            line,
            continues: number > 0,
            ..Self::default()
        })
    }

    /// Start of the running call or lane of the row.
    pub(crate) fn clock(&self) -> Option<Timestamp> {
        self.running_since.or(self.lane_since)
    }
}

impl RowKind {
    /// Whether the row is between items and belongs to none.
    pub(crate) fn is_between(self) -> bool {
        matches!(self, Self::Gap | Self::News | Self::Ruler)
    }
}

/// A call's part of the lane gutter on a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gutter {
    /// The row belongs to no call.
    #[default]
    None,
    /// The call's head row with more rows below: `╭`.
    Opens,
    /// A row between the first and the last: `│`.
    Within,
    /// The last row: `╰`.
    Closes,
    /// Head and end in one: `─`.
    Single,
    /// The head row of a call without a result: `╎` runs on below.
    Open,
}
