//! Collects the rows of an entry: columns, indentation, right edges, attributes of rows.
//!
//! Invariant: every row passes [`EntryRows::push`], which cuts it to the width less the right edge, so
//! that no layout can overflow.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::excerpt::Detail;
use super::glyphs::Glyphs;
use super::nodes::ValueNodes;
use super::row::{Fold, Gutter, Item, Level, Look, Row, RowKind, Times, set_source};
use super::source::{Source, SourceText};
use super::wrap::{self, Piece};
use crate::model::body::Body;
use crate::model::timestamp::Timestamp;

/// Columns reserved on the head row of a running call for the elapsed time.
pub const RUNNING_ROOM: usize = 10;
/// Screens narrower than this show no times.
const NARROW: usize = 60;
/// Width from which there are more empty rows.
pub(crate) const WIDE: usize = 100;
/// Indentation of bodies in columns.
const INDENT: usize = 2;
/// Columns of the name of a session among joined ones.
const SESSION: usize = 12;
/// Limit of indented lanes.
const MAX_DEPTH: usize = 4;

/// The rows of an entry under construction.
pub struct EntryRows<'a> {
    pub(crate) look: &'a Look<'a>,
    pub(crate) item: &'a Item<'a>,
    rows: Vec<Row>,
    block: usize,
    margin: usize,
    /// The sentence that introduces the next call, to be shown in its head row.
    pub(crate) introduction: Option<String>,
}

/// The content of a head row.
#[derive(Default)]
pub(crate) struct HeadRow {
    pub(crate) kind: RowKind,
    /// Time of the entry.
    pub(crate) at: Option<Timestamp>,
    /// `you`, `bot`, `bash`.
    pub(crate) word: Piece,
    /// Text after the word; truncated if it is too long.
    pub(crate) text: Vec<Piece>,
    /// Whether the text is a path, which is truncated at its beginning.
    pub(crate) is_path: bool,
    /// Text after that; truncated last.
    pub(crate) suffix: Vec<Piece>,
    /// Facts at the right edge, the most important one last.
    pub(crate) right: Vec<Piece>,
    /// Whether those facts are shown only while the item has the focus.
    pub(crate) on_focus: bool,
    /// Start time; `None` if the call is not running.
    pub(crate) running_since: Option<Timestamp>,
    pub(crate) hides: u32,
    /// Whether its body is not in memory.
    pub(crate) is_away: bool,
    /// The source text shown by the row.
    pub(crate) source: Source,
}

impl<'a> EntryRows<'a> {
    pub(crate) fn new(item: &'a Item<'a>, look: &'a Look<'a>) -> Self {
        let width = usize::from(look.width);
        let depth = usize::from(item.depth).min(MAX_DEPTH);
        let margin = (depth * INDENT).min(width / 4);
        Self {
            look,
            item,
            rows: Vec::new(),
            block: 0,
            margin,
            introduction: None,
        }
    }

    pub(crate) fn begin(&mut self, block: usize) {
        self.block = block;
    }

    /// The detail of a block, by its fold and the level.
    pub(crate) fn detail(&self, block: usize) -> Detail {
        if self.item.raw == Some(block) {
            return Detail::Raw;
        }
        match (
            self.item.folds.get(block).copied().unwrap_or_default(),
            self.look.level,
        ) {
            (Fold::Closed, _) | (Fold::ByLevel, Level::Outline) => Detail::Closed,
            (_, Level::Raw) => Detail::Raw,
            (Fold::Open, _) => Detail::Open,
            (Fold::ByLevel, Level::Full) => Detail::Full,
            (Fold::ByLevel, Level::Prompts | Level::Preview) => Detail::Preview,
        }
    }

    /// Folds of a tree of the block; `part` distinguishes its trees.
    pub(crate) fn nodes(&self, part: u8) -> ValueNodes<'a> {
        ValueNodes::of(self.item.nodes, self.block, part)
    }

    /// The input of the plan that the plan of this block replaced.
    pub(crate) fn plan_before(&self) -> Option<&'a Body> {
        let plans = self.item.plans;
        let at = plans
            .binary_search_by_key(&self.block, |(block, _)| *block)
            .ok()?;
        plans.get(at).map(|(_, input)| *input)
    }

    /// Columns right of the margin.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.look.width)
            .saturating_sub(self.margin)
            .max(1)
    }

    /// Columns for bodies.
    pub(crate) fn body_width(&self) -> usize {
        usize::from(self.look.width)
            .saturating_sub(self.margin + INDENT)
            .max(1)
    }

    /// Whether the screen is wide enough for more empty rows.
    pub(crate) fn is_wide(&self) -> bool {
        usize::from(self.look.width) >= WIDE
    }

    pub(crate) fn glyphs(&self) -> &'static Glyphs {
        self.look.theme.glyphs()
    }

    /// Index of the next row.
    pub(crate) fn at(&self) -> usize {
        self.rows.len()
    }

    /// Whether the entry has no row yet.
    pub(crate) fn is_at_top(&self) -> bool {
        self.rows.is_empty() && self.item.blocks.0 == 0
    }

    pub(crate) fn head(&mut self, head: HeadRow) {
        let glyphs = self.glyphs();
        let width = self.width();
        // Text is not truncated for facts that are hidden without focus.
        let is_for_words = head.on_focus && !head.text.is_empty();
        let facts = if is_for_words { Vec::new() } else { head.right };
        let right = right_edge(facts, width, glyphs.cut);
        let reserved = reserved(&right, head.running_since.is_some() && width >= 24);
        let mut line = self.front(head.at);
        line.extend(self.session());
        let word_width = if self.is_wide() { 7 } else { 6 };
        let pad = (word_width + 1_usize)
            .saturating_sub(wrap::width(&head.word.content))
            .max(1);
        let has_text = !head.text.is_empty() || !head.suffix.is_empty();
        line.push(head.word);
        if has_text {
            line.push(Span::raw(" ".repeat(pad)));
        }
        let taken = wrap::width_of(&line) + wrap::width_of(&head.suffix) + reserved;
        let room = width.saturating_sub(taken).max(8);
        line.extend(match head.text.as_slice() {
            [path] if head.is_path => {
                vec![Span::styled(
                    wrap::fit_path(&path.content, room, glyphs.cut),
                    path.style,
                )]
            }
            text => wrap::fit(text, room, glyphs.cut),
        });
        line.extend(head.suffix);
        let row = Row {
            line: line.into(),
            right,
            on_focus: head.on_focus,
            kind: head.kind,
            running_since: head.running_since,
            hides: head.hides,
            is_away: head.is_away,
            source: head.source,
            ..Row::default()
        };
        self.push(row, 0);
    }

    /// The time of a head row.
    fn front(&self, at: Option<Timestamp>) -> Vec<Piece> {
        let (clock, columns) = match self.look.times {
            _ if usize::from(self.look.width) < NARROW => return Vec::new(),
            Times::None => return Vec::new(),
            Times::Minutes => (at.map(Timestamp::minute), self.look.times.columns()),
            Times::Seconds => (at.map(Timestamp::clock), self.look.times.columns()),
        };
        vec![Span::styled(
            format!("{:<columns$}", clock.unwrap_or_default()),
            self.look.theme.dim,
        )]
    }

    /// The joined session of the entry, in a colour: its number and the end of its name.
    fn session(&self) -> Vec<Piece> {
        let lane = self.item.entry.lane.as_deref();
        let Some(lane) = lane.filter(|_| self.item.is_joined) else {
            return Vec::new();
        };
        let name = lane.split('/').next().unwrap_or(lane);
        let short = name.split(':').next().unwrap_or(name);
        let number: usize = short.parse().unwrap_or(1);
        let style = self.look.theme.of_session(number.saturating_sub(1));
        let (name, columns) = if self.is_wide() {
            (name, SESSION)
        } else {
            (short, short.len() + 1)
        };
        let name = Span::styled(name.to_owned(), style);
        let mut pieces = wrap::fit(&[name], columns - 1, self.glyphs().cut);
        let rest = columns - wrap::width_of(&pieces);
        pieces.push(Span::raw(" ".repeat(rest)));
        pieces
    }

    /// Adds rows of a body.
    pub(crate) fn body(&mut self, rows: Vec<Row>) {
        for row in rows {
            self.push(row, INDENT);
        }
    }

    /// Adds lines of a body.
    pub(crate) fn lines(&mut self, lines: Vec<Line<'static>>) {
        self.body(
            lines
                .into_iter()
                .map(|line| Row {
                    line,
                    ..Row::default()
                })
                .collect(),
        );
    }

    /// Adds one line of a body in one style, cut to the width.
    pub(crate) fn line(&mut self, text: &str, style: Style) {
        let line = wrap::fit(
            &[Span::styled(text.to_owned(), style)],
            self.body_width(),
            self.glyphs().cut,
        );
        self.lines(vec![line.into()]);
    }

    /// Adds an empty row between entries.
    pub(crate) fn gap(&mut self) {
        // The gap belongs to the block above, and a block without rows has no gap.
        let above = self
            .rows
            .last()
            .filter(|row| row.kind != RowKind::Gap)
            .map(|row| row.block);
        if let Some(block) = above {
            self.rows.push(Row {
                kind: RowKind::Gap,
                block,
                ..Row::default()
            });
        }
    }

    /// Adds a row with an indentation.
    pub(crate) fn push(&mut self, mut row: Row, indent: usize) {
        let width = usize::from(self.look.width);
        let indent = if width > indent * 4 {
            indent + self.margin
        } else {
            0
        };
        if indent > 0 && !row.line.spans.is_empty() {
            row.line.spans.insert(0, Span::raw(" ".repeat(indent)));
        }
        if wrap::width_of(&row.right) + 1 >= width {
            row.right.clear();
        }
        let allowed =
            width.saturating_sub(reserved(&row.right, row.clock().is_some() && width >= 24));
        if wrap::width_of(&row.line.spans) > allowed || !row.line.spans.iter().all(is_safe) {
            row.line.spans = wrap::fit(&row.line.spans, allowed, self.glyphs().cut);
        }
        row.block = self.block;
        self.rows.push(row);
    }

    /// Sets the source text of the rows from `first` on.
    pub(crate) fn set_source(&mut self, first: usize, of: &SourceText) {
        set_source(self.rows.get_mut(first..).unwrap_or_default(), of);
    }

    /// Sets the lane gutter of a call on the rows from `first` on.
    pub(crate) fn lane(&mut self, first: usize, is_open: bool) {
        let Some(rows) = self.rows.get_mut(first..) else {
            return;
        };
        let count = rows.len();
        for (index, row) in rows.iter_mut().enumerate() {
            row.gutter = match (index, count) {
                (0, _) if is_open => Gutter::Open,
                (0, 1) => Gutter::Single,
                (0, _) => Gutter::Opens,
                _ if index + 1 == count && !is_open => Gutter::Closes,
                _ => Gutter::Within,
            };
        }
    }

    /// Returns the rows, dimmed if the item is.
    pub(crate) fn finish(mut self) -> Vec<Row> {
        if self.item.dim {
            let dim = self.look.theme.dim;
            for row in &mut self.rows {
                for span in row.line.spans.iter_mut().chain(&mut row.right) {
                    let kept = span.style.add_modifier & (Modifier::UNDERLINED | Modifier::ITALIC);
                    span.style = dim.add_modifier(kept);
                }
            }
        }
        self.rows
    }
}

fn is_safe(span: &Piece) -> bool {
    !span.content.chars().any(char::is_control)
}

/// Columns that the right edge takes from the line.
fn reserved(right: &[Piece], is_running: bool) -> usize {
    let right = if right.is_empty() {
        0
    } else {
        wrap::width_of(right) + 1
    };
    right + if is_running { RUNNING_ROOM } else { 0 }
}

/// Joins facts; the first ones are dropped while all take more than half of the width.
fn right_edge(facts: Vec<Piece>, width: usize, cut: &'static str) -> Vec<Piece> {
    let facts = facts.into_iter().map(|fact| wrap::fit(&[fact], width, cut));
    let mut facts: Vec<Piece> = facts
        .flatten()
        .filter(|fact| !fact.content.is_empty())
        .collect();
    let total = |facts: &[Piece]| wrap::width_of(facts) + facts.len() * 2;
    while !facts.is_empty() && total(&facts) > width / 2 {
        facts.remove(0);
    }
    let mut out = Vec::with_capacity(facts.len() * 2);
    for fact in facts {
        if !out.is_empty() {
            out.push(Span::raw("  "));
        }
        out.push(fact);
    }
    out
}

/// Marks `count` rows as hidden: at the right edge of the last row if that fits, otherwise in a row
/// below.
pub(crate) fn mark_hidden(
    rows: &mut Vec<Row>,
    what: &str,
    count: usize,
    width: usize,
    look: &Look<'_>,
) {
    let marker = hidden_row(what, count, look);
    match rows.last_mut() {
        Some(last)
            if last.right.is_empty()
                && last.hides == 0
                && wrap::width_of(&last.line.spans) + wrap::width_of(&marker.line.spans) + 2
                    <= width =>
        {
            last.right = marker.line.spans;
            last.hides = marker.hides;
        }
        _ => rows.push(marker),
    }
}

/// A row that replaces hidden ones: `… +212 lines`.
pub(crate) fn hidden_row(what: &str, count: usize, look: &Look<'_>) -> Row {
    let text = format!("{} {what}", look.theme.glyphs().ellipsis);
    Row {
        line: vec![Span::styled(text, look.theme.dim)].into(),
        hides: crate::model::edit::saturating_u32(count.max(1)),
        ..Row::default()
    }
}
