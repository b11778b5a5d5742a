//! A row of the view: figures of a request, the bar of what filled its prompt, what it grew by.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::percent;
use crate::analysis::context::window::shares::{self, Shares};
use crate::analysis::context::window::weigh::Class;
use crate::analysis::context::window::{Compaction, ContextRow, Grown, Request, TokenCount};
use crate::app::views::page::PageScene;
use crate::app::views::table::{Column, Table, gauge};
use crate::model::entry::{BlockKind, Entry};
use crate::model::figures;
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Columns of the table.
pub(crate) const COLUMNS: &[Column] = &[
    Column::words("time", 8, 3),
    Column::figures("turn", 4, 2),
    Column::figures("prompt", 6, 9),
    Column::figures("full", 4, 7),
    Column::between("", 8, 24, u8::MAX),
    Column::figures("grew", 6, 6),
    Column::rest("mostly by", 14),
    Column::figures("cached", 6, 5),
    Column::words("missed", 8, 8),
];
/// The column of the bar.
pub(crate) const BAR: usize = 4;
/// The column of what a prompt grew by.
const BY: usize = 6;

/// Parts of a bar, from the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// System prompt and tools.
    Fixed,
    /// What was said to the model, and summaries.
    Said,
    /// What the model wrote.
    Model,
    /// Results of tools.
    Result,
}

impl Fill {
    const ALL: [Self; 4] = [Self::Fixed, Self::Said, Self::Model, Self::Result];

    fn of(class: Class) -> Self {
        match class {
            Class::System | Class::Tools => Self::Fixed,
            Class::Summary | Class::Prompt | Class::Added => Self::Said,
            Class::Thinking | Class::Answer | Class::Call => Self::Model,
            Class::Result => Self::Result,
        }
    }

    fn look(self, theme: &Theme) -> (&'static str, Style) {
        let glyphs = theme.glyphs();
        match self {
            Self::Fixed => (glyphs.chart.fixed, theme.dim),
            Self::Said => (glyphs.chart.said, theme.voice.user),
            Self::Model => (glyphs.chart.model, theme.voice.assistant),
            Self::Result => (glyphs.chart.result, theme.tool),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Fixed => "system, tools",
            Self::Said => "prompts, summaries",
            Self::Model => "the model's own",
            Self::Result => "results",
        }
    }
}

/// What the parts of the bars mean.
pub(crate) fn legend(width: usize, theme: &Theme) -> Line<'static> {
    let mut spans = Vec::new();
    for fill in Fill::ALL {
        let (glyph, style) = fill.look(theme);
        spans.push(Span::styled(glyph.repeat(2), style));
        spans.push(Span::styled(format!(" {}   ", fill.word()), theme.dim));
    }
    spans.push(Span::styled("shares are estimates", theme.dim));
    Line::from(wrap::fit(&spans, width, theme.glyphs().cut))
}

/// What rows are drawn with.
pub struct Drawing<'a> {
    /// What the page may look at.
    pub(crate) scene: &'a PageScene<'a>,
    /// The columns.
    pub(crate) table: &'a Table,
    /// Bytes of texts that make a token.
    pub(crate) density: f64,
    /// The largest prompt of the lane: the end of the bars where no window is known.
    pub(crate) largest: u64,
}

impl Drawing<'_> {
    /// A row.
    pub(crate) fn line(&self, row: &ContextRow, is_chosen: bool) -> Line<'static> {
        match row {
            ContextRow::Request(request) => self.request(request, is_chosen),
            ContextRow::Compaction(compaction) => self.compaction(compaction),
        }
    }

    fn compaction(&self, compaction: &Compaction) -> Line<'static> {
        let theme = self.scene.theme;
        let glyphs = theme.glyphs();
        let time = self
            .scene
            .transcript
            .get(compaction.entry)
            .and_then(|entry| entry.at);
        let time = time
            .map(crate::model::timestamp::Timestamp::clock)
            .unwrap_or_default();
        let (before, after) = (
            token_words(compaction.before),
            token_words(compaction.after),
        );
        let what = if compaction.is_partial {
            "outputs of tools dropped"
        } else {
            "compacted"
        };
        let words = format!(
            "{} {before} {} {after}  {what}",
            glyphs.compacted, glyphs.arrow
        );
        let style = if compaction.is_partial {
            theme.dim
        } else {
            theme.warn
        };
        let spans = [
            Span::styled(format!("{time:<8} "), theme.dim),
            Span::styled(words, style),
        ];
        Line::from(wrap::fit(&spans, self.scene.columns(), glyphs.cut))
    }

    fn request(&self, request: &Request, is_chosen: bool) -> Line<'static> {
        let (theme, transcript) = (self.scene.theme, self.scene.transcript);
        let glyphs = theme.glyphs();
        let is_left = transcript.branches().abandoned.contains(&request.entry);
        let plain = match (is_chosen, is_left) {
            (true, _) => theme.focus,
            (false, true) => theme.dim,
            (false, false) => theme.text,
        };
        let time = request
            .at
            .map(crate::model::timestamp::Timestamp::clock)
            .unwrap_or_default();
        let turn = transcript
            .place_of(request.entry)
            .and_then(|place| transcript.turn_at(place));
        let turn = turn
            .filter(|_| request.opens_turn)
            .map(|turn| (turn + 1).to_string());
        let full = request.limit.map(|limit| percent(request.prompt, limit));
        let full_style = match full {
            Some(90..) => theme.bad,
            Some(75..) => theme.warn,
            _ => plain,
        };
        let (grew, by) = self.growth(request);
        let cached = request
            .read
            .map(|read| format!("{}%", percent(read, request.prompt)));
        let missed = request.cache_break.as_ref().map(|found| {
            let style = if found.is_inside {
                theme.warn
            } else {
                theme.bad
            };
            let sign = if found.is_inside {
                "!"
            } else {
                glyphs.outcome.failed
            };
            Span::styled(format!("{sign} {}", figures::tokens(found.again)), style)
        });
        let cells = vec![
            Span::styled(time, theme.dim),
            Span::styled(turn.unwrap_or_default(), theme.dim),
            Span::styled(figures::tokens(request.prompt), plain),
            Span::styled(
                full.map(|full| format!("{full}%")).unwrap_or_default(),
                full_style,
            ),
            Span::raw(""),
            Span::styled(grew, plain),
            Span::styled(by, theme.dim),
            Span::styled(cached.unwrap_or_default(), plain),
            missed.unwrap_or_default(),
        ];
        let mut line = self.table.row(cells, theme);
        self.insert_bar(&mut line, request);
        line
    }

    /// Cells have one style, and the bar has several: it takes the place of its empty cell.
    fn insert_bar(&self, line: &mut Line<'static>, request: &Request) {
        let Some(width) = self.table.width_of(BAR) else {
            return;
        };
        let before: usize = (0..BAR)
            .filter_map(|column| self.table.width_of(column))
            .map(|width| width + 1)
            .sum();
        let mut at = 0;
        let place = line.spans.iter().position(|span| {
            let is_it = at == before && wrap::width(&span.content) == width;
            at += wrap::width(&span.content);
            is_it
        });
        if let Some(place) = place {
            line.spans.splice(place..=place, self.bar(request, width));
        }
    }

    fn bar(&self, request: &Request, width: usize) -> Vec<Span<'static>> {
        let theme = self.scene.theme;
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
        for fill in Fill::ALL {
            tokens = tokens.saturating_add(tokens_of(&shares, fill));
            // Ends are rounded, not lengths, so that the bar is as long as the prompt.
            let end = columns(tokens.min(whole), whole, width).max(drawn);
            let (glyph, style) = fill.look(theme);
            spans.push(Span::styled(glyph.repeat(end - drawn), style));
            drawn = end;
        }
        let free = theme.glyphs().dot.repeat(width.saturating_sub(drawn));
        spans.push(Span::styled(free, theme.dim));
        spans
    }

    fn growth(&self, request: &Request) -> (String, String) {
        let glyphs = self.scene.theme.glyphs();
        let grew = request.before.map(|before| {
            let (sign, by) = match request.prompt.checked_sub(before) {
                Some(by) => ("+", by),
                None => (glyphs.minus, before - request.prompt),
            };
            format!("{sign}{}", figures::tokens(by))
        });
        let by = match &request.grown {
            _ if request.is_summary => "asked for a summary".to_owned(),
            Some(grown) => {
                let tokens = figures::tokens(shares::tokens_of(grown.bytes, self.density));
                let size = format!("~{tokens} ");
                let room = self
                    .table
                    .width_of(BY)
                    .unwrap_or(0)
                    .saturating_sub(size.len());
                format!(
                    "{size}{}",
                    name(self.scene.transcript, grown, room, glyphs.cut)
                )
            }
            None => String::new(),
        };
        (grew.unwrap_or_default(), by)
    }
}

fn tokens_of(shares: &Shares, fill: Fill) -> u64 {
    let own = shares
        .classes
        .iter()
        .filter(|(class, _)| Fill::of(*class) == fill)
        .map(|(_, tokens)| tokens);
    own.sum::<u64>() + if fill == Fill::Fixed { shares.rest } else { 0 }
}

/// So many columns of a bar, rounded to the nearest.
fn columns(tokens: u64, whole: u64, width: usize) -> usize {
    let wide = u128::from(tokens) * (width as u128);
    usize::try_from((wide + u128::from(whole / 2)) / u128::from(whole.max(1)))
        .unwrap_or(width)
        .min(width)
}

/// Tokens before or after a compaction: `148k` as recorded, `~22k` from the request beside it.
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

/// What was added: `read src/big.rs`, `prompt`. Of paths the end is shown where there is no room.
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
        (Some(BlockKind::Call(call)), Class::Result) => named(&call.name, &about(call)),
        (Some(BlockKind::Call(call)), _) => named(&format!("call {}", call.name), &about(call)),
        (Some(BlockKind::Raw(raw) | BlockKind::Aside(_, raw)), _) => raw.title.to_string(),
        (_, Class::System) => "system prompt".to_owned(),
        (_, Class::Tools) => "tools".to_owned(),
        (_, Class::Summary) => "summary".to_owned(),
        (_, Class::Prompt) => "prompt".to_owned(),
        (_, Class::Added) => "added by the program".to_owned(),
        (_, Class::Thinking) => "thinking".to_owned(),
        (_, Class::Answer) => "answer".to_owned(),
        (_, Class::Call) => "call".to_owned(),
        (_, Class::Result) => "result".to_owned(),
    }
}
