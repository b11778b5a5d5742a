//! The sheet that an entry is laid out on: columns, indentation, right edges, marks of rows.
//!
//! Invariant: every row passes [`Sheet::push`], which cuts what is too wide and leaves room for the
//! right edge, so that no layout can overflow.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::excerpt::Detail;
use super::glyphs::Glyphs;
use super::nodes::Nodes;
use super::row::{Fold, Gutter, Item, Level, Look, Row, RowKind, Times, set_source};
use super::source::{Of, Source};
use super::wrap::{self, Piece};
use crate::model::body::Body;
use crate::model::timestamp::Timestamp;

/// Columns that stay free on the head row of a running call: the painter shows the time there.
pub const RUNNING_ROOM: usize = 10;
/// Narrower sheets have no times.
const NARROW: usize = 60;
/// Wider sheets have more air.
pub(crate) const WIDE: usize = 100;
/// Columns that bodies are indented by.
const INDENT: usize = 2;
/// Levels of sub-agents that are indented.
const MAX_DEPTH: usize = 4;

/// Rows in the making.
pub struct Sheet<'a> {
    /// The conditions.
    pub(crate) look: &'a Look<'a>,
    /// The entry.
    pub(crate) item: &'a Item<'a>,
    rows: Vec<Row>,
    block: usize,
    margin: usize,
    /// What was said of the call that comes next, if its row is to say it.
    pub(crate) lead: Option<String>,
}

/// What a head row says.
#[derive(Default)]
pub(crate) struct Head {
    /// What kind of row it is.
    pub(crate) kind: RowKind,
    /// When it happened.
    pub(crate) at: Option<Timestamp>,
    /// `you`, `bot`, `bash`.
    pub(crate) word: Piece,
    /// After the word; cut if it is too long.
    pub(crate) text: Vec<Piece>,
    /// Whether that is the name of a file, of which the end stays.
    pub(crate) is_path: bool,
    /// After the text; never cut before the text.
    pub(crate) suffix: Vec<Piece>,
    /// Facts at the right edge, the most important one last.
    pub(crate) right: Vec<Piece>,
    /// Whether those facts are for who looks at the item only.
    pub(crate) on_focus: bool,
    /// Since when it has been running.
    pub(crate) running_since: Option<Timestamp>,
    /// Rows that open with it.
    pub(crate) hides: u32,
    /// Whether its body is away.
    pub(crate) is_away: bool,
    /// What of the session's texts it shows.
    pub(crate) source: Source,
}

impl<'a> Sheet<'a> {
    /// An empty sheet.
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
            lead: None,
        }
    }

    /// Begins a block.
    pub(crate) fn begin(&mut self, block: usize) {
        self.block = block;
    }

    /// How much of a block is shown.
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

    /// Folds of a tree of the block: `part` distinguishes its trees.
    pub(crate) fn nodes(&self, part: u8) -> Nodes<'a> {
        Nodes::of(self.item.nodes, self.block, part)
    }

    /// The input of the plan that the block's plan took the place of.
    pub(crate) fn plan_before(&self) -> Option<&'a Body> {
        let plans = self.item.plans;
        let at = plans
            .binary_search_by_key(&self.block, |(block, _)| *block)
            .ok()?;
        plans.get(at).map(|(_, input)| *input)
    }

    /// Columns from the margin on.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.look.width)
            .saturating_sub(self.margin)
            .max(1)
    }

    /// Columns for bodies.
    pub(crate) fn room(&self) -> usize {
        usize::from(self.look.width)
            .saturating_sub(self.margin + INDENT)
            .max(1)
    }

    /// Whether the sheet is wide enough for more air.
    pub(crate) fn is_wide(&self) -> bool {
        usize::from(self.look.width) >= WIDE
    }

    /// The signs to be used.
    pub(crate) fn glyphs(&self) -> &'static Glyphs {
        self.look.theme.glyphs()
    }

    /// Number of rows so far: where the next one will be.
    pub(crate) fn at(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing of the entry stands above.
    pub(crate) fn is_at_top(&self) -> bool {
        self.rows.is_empty() && self.item.blocks.0 == 0
    }

    /// Adds a head row.
    pub(crate) fn head(&mut self, head: Head) {
        let glyphs = self.glyphs();
        let width = self.width();
        // Words in the same row are not cut for what is not seen.
        let is_for_words = head.on_focus && !head.text.is_empty();
        let facts = if is_for_words { Vec::new() } else { head.right };
        let right = right_edge(facts, width, glyphs.cut);
        let reserved = reserved(&right, head.running_since.is_some() && width >= 24);
        let mut line = self.front(head.at);
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

    /// The column of times.
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
    pub(crate) fn note(&mut self, text: &str, style: Style) {
        let line = wrap::fit(
            &[Span::styled(text.to_owned(), style)],
            self.room(),
            self.glyphs().cut,
        );
        self.lines(vec![line.into()]);
    }

    /// Adds an empty row between entries.
    pub(crate) fn gap(&mut self) {
        // It belongs to what stands above: a block without rows of its own has none.
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

    /// Adds a row as it is, from the left margin.
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

    /// Sets the text that the lines of the rows from `first` on are of.
    pub(crate) fn set_source(&mut self, first: usize, of: &Of) {
        set_source(self.rows.get_mut(first..).unwrap_or_default(), of);
    }

    /// Draws the lane of a call beside the rows from `first` on.
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

    /// The rows; all dim if the item is.
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

/// Joins facts; the less important ones go when they would take more than half of the width.
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

/// Says that `count` rows are hidden: at the right edge of the last row if there is room, else below.
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

/// A row that stands for hidden ones: `… +212 lines`.
pub(crate) fn hidden_row(what: &str, count: usize, look: &Look<'_>) -> Row {
    let text = format!("{} {what}", look.theme.glyphs().ellipsis);
    Row {
        line: vec![Span::styled(text, look.theme.dim)].into(),
        hides: crate::model::edit::saturating_u32(count.max(1)),
        ..Row::default()
    }
}
