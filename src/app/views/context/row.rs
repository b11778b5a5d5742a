//! A row of the view: figures of a request, the bar of its prompt's composition, and its growth.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::percent;
use crate::analysis::context::window::shares::{self, Shares};
use crate::analysis::context::window::weigh::ContextClass;
use crate::analysis::context::window::{Compaction, ContextRow, Grown, Request, TokenCount};
use crate::app::views::page::PageScene;
use crate::listing::sort::Value;
use crate::listing::table::{Cell, CellLook, Column, Listing, cell, gauge};
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::figures;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Index of the column of bars.
pub(crate) const BAR: usize = 4;

/// Parts of a bar, from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarPart {
    /// System prompt and tools.
    Fixed,
    /// Messages to the model, and summaries.
    Messages,
    /// Output of the model.
    Model,
    Result,
}

impl BarPart {
    const ALL: [Self; 4] = [Self::Fixed, Self::Messages, Self::Model, Self::Result];

    fn of(class: ContextClass) -> Self {
        match class {
            ContextClass::System | ContextClass::Tools => Self::Fixed,
            ContextClass::Summary | ContextClass::Prompt | ContextClass::Added => Self::Messages,
            ContextClass::Thinking | ContextClass::Answer | ContextClass::Call => Self::Model,
            ContextClass::Result => Self::Result,
        }
    }

    fn glyph_and_style(self, theme: &Theme) -> (&'static str, Style) {
        let glyphs = theme.glyphs();
        match self {
            Self::Fixed => (glyphs.chart.fixed, theme.dim),
            Self::Messages => (glyphs.chart.said, theme.voice.user),
            Self::Model => (glyphs.chart.model, theme.voice.assistant),
            Self::Result => (glyphs.chart.result, theme.tool),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Fixed => "system, tools",
            Self::Messages => "prompts, summaries",
            Self::Model => "the model's own",
            Self::Result => "results",
        }
    }
}

/// The legend of the bars.
pub(crate) fn legend(width: usize, theme: &Theme) -> Line<'static> {
    let mut spans = Vec::new();
    for fill in BarPart::ALL {
        let (glyph, style) = fill.glyph_and_style(theme);
        spans.push(Span::styled(glyph.repeat(2), style));
        spans.push(Span::styled(format!(" {}   ", fill.word()), theme.dim));
    }
    spans.push(Span::styled("shares are estimates", theme.dim));
    Line::from(wrap::fit(&spans, width, theme.glyphs().cut))
}

/// The requests of a lane, with compactions between them.
pub(crate) struct RequestList<'a> {
    pub(crate) scene: &'a PageScene<'a>,
    /// In file order.
    pub(crate) rows: &'a [ContextRow],
    /// Average number of bytes per token.
    pub(crate) density: f64,
    /// The largest prompt of the lane, in tokens: the full length of bars if the window is unknown.
    pub(crate) largest: u64,
}

/// The key of a row: its entry, and whether it is a compaction.
pub(crate) type RequestKey = (EntryId, bool);

pub(crate) fn key_of(row: &ContextRow) -> RequestKey {
    (row.entry(), row.request().is_none())
}

pub(crate) struct RequestRow<'a> {
    request: &'a Request,
    scene: &'a PageScene<'a>,
    density: f64,
    largest: u64,
}

type RequestColumn<'a> = Column<RequestRow<'a>>;

impl<'a> Listing for RequestList<'a> {
    type Key = RequestKey;
    type Row = RequestRow<'a>;

    fn columns(&self, _: usize) -> Vec<RequestColumn<'a>> {
        vec![
            RequestColumn::words("time", 8, 3)
                .value(|row| Value::time(row.request.at))
                .dim(),
            RequestColumn::figures("turn", 4, 2)
                .value(|row| {
                    let turn = row.scene.transcript.turn_of(row.request.entry);
                    let turn = turn.filter(|_| row.request.opens_turn);
                    Value::int(turn.map(|turn| turn + 1))
                })
                .dim(),
            RequestColumn::figures("prompt", 6, 9)
                .value(|row| Value::tokens(Some(row.request.prompt)))
                .style(plain),
            RequestColumn::figures("full", 4, 7)
                .value(|row| Value::percent(row.full()))
                .style(|row, look| match row.full() {
                    Some(90..) => look.theme.bad,
                    Some(75..) => look.theme.warn,
                    _ => plain(row, look),
                }),
            RequestColumn::between("", 8, 24, u8::MAX)
                .cell(|row, look| row.bar(look.width, look.theme)),
            RequestColumn::figures("grew", 6, 6).cell(|row, look| {
                let Request { before, prompt, .. } = *row.request;
                let grew = before.map(|before| {
                    if let Some(by) = prompt.checked_sub(before) {
                        format!("+{}", figures::tokens(by))
                    } else {
                        let by = figures::tokens(before - prompt);
                        format!("{}{by}", look.theme.glyphs().minus)
                    }
                });
                cell(grew.unwrap_or_default(), plain(row, look))
            }),
            RequestColumn::rest("mostly by", 14)
                .cell(|row, look| cell(row.grown_by(look), look.theme.dim)),
            RequestColumn::figures("cached", 6, 5)
                .value(|row| {
                    let read = row.request.read;
                    Value::percent(read.map(|read| percent(read, row.request.prompt)))
                })
                .style(plain),
            RequestColumn::words("missed", 8, 8).cell(|row, look| {
                let Some(found) = &row.request.cache_break else {
                    return Cell::new();
                };
                let (sign, style) = if found.is_inside {
                    ("!", look.theme.warn)
                } else {
                    (look.theme.glyphs().outcome.failed, look.theme.bad)
                };
                cell(format!("{sign} {}", figures::tokens(found.repaid)), style)
            }),
        ]
    }

    fn row(&self, key: &RequestKey) -> Option<RequestRow<'a>> {
        Some(RequestRow {
            request: self.find(*key)?.request()?,
            scene: self.scene,
            density: self.density,
            largest: self.largest,
        })
    }

    fn heading(&self, key: &RequestKey, width: usize, theme: &Theme) -> Line<'static> {
        match self.find(*key) {
            Some(ContextRow::Compaction(compaction)) => self.compaction(compaction, width, theme),
            Some(ContextRow::Request(_)) | None => Line::default(),
        }
    }
}

impl<'a> RequestList<'a> {
    fn find(&self, key: RequestKey) -> Option<&'a ContextRow> {
        let transcript = self.scene.transcript;
        let own = transcript.place_of(key.0);
        let end = self
            .rows
            .partition_point(|row| transcript.place_of(row.entry()) <= own);
        let before = self.rows.get(..end)?;
        before.iter().rev().find(|row| key_of(row) == key)
    }

    fn compaction(&self, compaction: &Compaction, width: usize, theme: &Theme) -> Line<'static> {
        let glyphs = theme.glyphs();
        let entry = self.scene.transcript.get(compaction.entry);
        let time = entry.and_then(|entry| entry.at).map(Timestamp::clock);
        let (before, after) = (
            token_words(compaction.before),
            token_words(compaction.after),
        );
        let (what, style) = if compaction.is_partial {
            ("outputs of tools dropped", theme.dim)
        } else {
            ("compacted", theme.warn)
        };
        let words = format!(
            "{} {before} {} {after}  {what}",
            glyphs.compacted, glyphs.arrow
        );
        let spans = [
            Span::styled(format!("{:<8} ", time.unwrap_or_default()), theme.dim),
            Span::styled(words, style),
        ];
        Line::from(wrap::fit(&spans, width, glyphs.cut))
    }
}

/// The style of figures, dim on an abandoned branch.
fn plain(row: &RequestRow<'_>, look: &CellLook<'_>) -> Style {
    let branches = row.scene.transcript.branches();
    look.focus_or(if branches.abandoned.contains(&row.request.entry) {
        look.theme.dim
    } else {
        look.theme.text
    })
}

impl RequestRow<'_> {
    /// How full the window is, in percent; `None` if its size is unknown.
    fn full(&self) -> Option<u64> {
        let limit = self.request.limit?;
        Some(percent(self.request.prompt, limit))
    }

    fn bar(&self, width: usize, theme: &Theme) -> Cell {
        let request = self.request;
        let whole = request.limit.unwrap_or(self.largest).max(1);
        if width < super::BAR_WITH_CLASSES {
            return gauge(
                request.prompt as f64 / whole as f64,
                width,
                (theme.tool, theme.dim),
                theme,
            );
        }
        let shares = shares::of(request, self.density);
        let mut spans = Vec::new();
        let (mut tokens, mut drawn) = (0_u64, 0_usize);
        for fill in BarPart::ALL {
            tokens = tokens.saturating_add(tokens_of(&shares, fill));
            // Ends are rounded rather than lengths, so that the bar is as long as the prompt.
            let end = columns(tokens.min(whole), whole, width).max(drawn);
            let (glyph, style) = fill.glyph_and_style(theme);
            spans.push(Span::styled(glyph.repeat(end - drawn), style));
            drawn = end;
        }
        let free = theme.glyphs().dot.repeat(width.saturating_sub(drawn));
        spans.push(Span::styled(free, theme.dim));
        spans
    }

    fn grown_by(&self, look: &CellLook<'_>) -> String {
        match &self.request.grown {
            _ if self.request.is_summary => "asked for a summary".to_owned(),
            Some(grown) => {
                let tokens = figures::tokens(shares::tokens_of(grown.bytes, self.density));
                let size = format!("~{tokens} ");
                let room = look.width.saturating_sub(size.len());
                let cut = look.theme.glyphs().cut;
                format!("{size}{}", name(self.scene.transcript, grown, room, cut))
            }
            None => String::new(),
        }
    }
}

fn tokens_of(shares: &Shares, fill: BarPart) -> u64 {
    let own = shares
        .classes
        .iter()
        .filter(|(class, _)| BarPart::of(*class) == fill)
        .map(|(_, tokens)| tokens);
    own.sum::<u64>()
        + if fill == BarPart::Fixed {
            shares.rest
        } else {
            0
        }
}

/// Converts tokens to columns of a bar, rounded to the nearest.
fn columns(tokens: u64, whole: u64, width: usize) -> usize {
    let wide = u128::from(tokens) * (width as u128);
    usize::try_from((wide + u128::from(whole / 2)) / u128::from(whole.max(1)))
        .unwrap_or(width)
        .min(width)
}

/// Tokens before or after a compaction: `148k` if recorded, `~22k` if taken from the adjacent
/// request.
pub(crate) fn token_words(count: Option<TokenCount>) -> String {
    match count {
        Some(TokenCount {
            tokens,
            is_recorded: true,
        }) => figures::tokens(tokens),
        Some(TokenCount {
            tokens,
            is_recorded: false,
        }) => format!("~{}", figures::tokens(tokens)),
        None => "?".to_owned(),
    }
}

/// What was added: `read src/big.rs`, `prompt`. Paths that are too long are cut at their beginning.
fn name(transcript: &Transcript, grown: &Grown, room: usize, cut: &'static str) -> String {
    let named = |tool: &str, headline: &str| {
        let is_path = headline.contains('/') && !headline.contains(' ');
        let room = room.saturating_sub(wrap::width(tool) + 1);
        let headline = if is_path {
            wrap::fit_path(headline, room, cut)
        } else {
            headline.to_owned()
        };
        format!("{tool} {headline}")
    };
    let about = |call: &ToolCall| call.about(transcript.meta().root.as_deref());
    let entry = transcript.get(grown.entry);
    let kind = entry
        .and_then(|entry: &Entry| entry.blocks.get(grown.block))
        .map(|block| &block.kind);
    match (kind, grown.class) {
        (Some(BlockKind::Call(call)), ContextClass::Result) => {
            named(&call.shown_name(), &about(call))
        }
        (Some(BlockKind::Call(call)), _) => {
            named(&format!("call {}", call.shown_name()), &about(call))
        }
        (Some(BlockKind::Raw(raw) | BlockKind::Aside(_, raw)), _) => raw.title.to_string(),
        (_, ContextClass::System) => "system prompt".to_owned(),
        (_, ContextClass::Tools) => "tools".to_owned(),
        (_, ContextClass::Summary) => "summary".to_owned(),
        (_, ContextClass::Prompt) => "prompt".to_owned(),
        (_, ContextClass::Added) => "added by the program".to_owned(),
        (_, ContextClass::Thinking) => "thinking".to_owned(),
        (_, ContextClass::Answer) => "answer".to_owned(),
        (_, ContextClass::Call) => "call".to_owned(),
        (_, ContextClass::Result) => "result".to_owned(),
    }
}
