//! Pill, status line and hints.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::arrange::percent;
use crate::app::bindings::continuations;
use crate::app::state::{Mode, State};
use crate::model::figures;

/// Between the transcript and the status line while paused: what arrived below.
pub fn paint_pill(state: &State, area: Rect, buffer: &mut Buffer) {
    let words = format!(" {} new below {} G to follow ", state.unseen, state.theme.glyphs().dot);
    let width = usize::from(area.width).saturating_sub(words.chars().count());
    let rule = state.theme.glyphs().rule;
    let line = Line::from(vec![
        Span::styled(rule.repeat(width / 2), state.theme.dim),
        Span::styled(words, state.theme.warn),
        Span::styled(rule.repeat(width - width / 2), state.theme.dim),
    ]);
    buffer.set_line(area.x, area.y, &line, area.width);
}

/// Mode, search and level at the left; place and completeness at the right.
pub fn paint_status(state: &State, area: Rect, buffer: &mut Buffer) {
    buffer.set_style(area, state.theme.bar);
    if let Mode::Search { input, .. } = &state.mode {
        let line = format!("/{}   {}", input.value(), hits(state));
        buffer.set_stringn(area.x, area.y, &line, usize::from(area.width), state.theme.bar);
        return;
    }
    let right = right_words(state);
    let right_width = u16::try_from(right.chars().count()).unwrap_or(u16::MAX).min(area.width);
    let left = left_words(state);
    buffer.set_stringn(area.x, area.y, &left, usize::from(area.width), state.theme.bar);
    let left_width = u16::try_from(left.chars().count()).unwrap_or(u16::MAX);
    if left_width.saturating_add(right_width) < area.width {
        buffer.set_stringn(
            area.right() - right_width,
            area.y,
            &right,
            usize::from(right_width),
            state.theme.bar,
        );
    }
}

/// Where the terminal's cursor stands while something is typed.
pub fn cursor(state: &State, area: Rect) -> Option<(u16, u16)> {
    let Mode::Search { input, .. } = &state.mode else { return None };
    let column = u16::try_from(input.visual_cursor()).unwrap_or(u16::MAX).saturating_add(1);
    Some((area.x + column.min(area.width.saturating_sub(1)), area.y))
}

fn left_words(state: &State) -> String {
    let mut parts = Vec::new();
    parts.push(if state.view.follows() { " FOLLOW".to_owned() } else { " PAUSED".to_owned() });
    if let Some(message) = &state.message {
        parts.push(message.text.clone());
        return parts.join("  ");
    }
    if let Some((done, total)) = state.progress {
        parts.push(format!("reading {}%", (done * 100).checked_div(total).unwrap_or(100)));
    }
    if let Some(search) = &state.search {
        parts.push(format!("/{} {}", search.typed, hits(state)));
    }
    parts.push(format!("level {}/5", state.level.number()));
    if !state.shows_thinking {
        parts.push("thinking hidden".to_owned());
    }
    parts.join("  ")
}

fn hits(state: &State) -> String {
    let Some(search) = &state.search else { return String::new() };
    let open = if search.is_complete { "" } else { "…" };
    let count = search.hits.len();
    match state.view.focus.and_then(|focus| search.number_of(focus)) {
        Some(number) => format!("{number} of {count}{open}"),
        None if count == 0 && search.is_complete => "no hits".to_owned(),
        None => format!("{count}{open} hits"),
    }
}

/// `line 4812 · 96% · 0 bad · 100% shown`
fn right_words(state: &State) -> String {
    let tally = state.transcript.tally();
    let entry = state.view.focus.and_then(|focus| state.transcript.get(focus.entry));
    let mut parts = Vec::new();
    parts.extend(
        entry.filter(|entry| entry.origin.line > 0).map(|entry| format!("line {}", entry.origin.line)),
    );
    parts.push(format!("{}%", percent(state)));
    if state.progress.is_none() {
        let records = tally.records();
        parts.push(format!("{} bad", tally.faulty));
        let unknown: u64 = tally.unknown.values().map(|(count, _)| count).sum();
        if unknown > 0 {
            parts.push(format!("{unknown} unknown"));
        }
        parts.push(figures::count(records, "record"));
    }
    let dot = state.theme.glyphs().dot;
    format!("{} ", parts.join(&format!(" {dot} ")))
}

/// The hints: what an unfinished chord can become, else the keys that help most here.
pub fn paint_hints(state: &State, area: Rect, buffer: &mut Buffer) {
    let pairs: Vec<(String, String)> = if state.pressed.is_empty() {
        general(state).into_iter().map(|(key, doc)| (key.to_owned(), doc.to_owned())).collect()
    } else {
        let next = continuations(&state.pressed).into_iter();
        next.map(|(keys, binding)| (keys, binding.doc.to_owned())).collect()
    };
    let mut room = usize::from(area.width).saturating_sub(1);
    let mut spans = vec![Span::raw(" ")];
    // What comes first matters most; what does not fit whole is left out.
    for (key, doc) in pairs {
        let width = key.chars().count() + doc.chars().count() + 3;
        if width <= room + 2 {
            room = room.saturating_sub(width);
            spans.push(Span::styled(key, state.theme.accent));
            spans.push(Span::styled(format!(" {doc}  "), state.theme.dim));
        }
    }
    buffer.set_line(area.x, area.y, &Line::from(spans), area.width);
}

fn general(state: &State) -> Vec<(&'static str, &'static str)> {
    match &state.mode {
        Mode::Search { .. } => vec![("enter", "keep"), ("esc", "give up"), ("ctrl-u", "clear")],
        Mode::Help { .. } | Mode::Raw { .. } => vec![("j/k", "scroll"), ("space/b", "page"), ("q", "close")],
        Mode::Normal if state.search.is_some() => vec![
            ("n/N", "hit"),
            ("esc", "end search"),
            ("j/k", "move"),
            ("enter", "open"),
            ("G", "follow"),
            ("?", "all keys"),
        ],
        Mode::Normal => vec![
            ("j/k", "move"),
            ("{/}", "prompt"),
            ("e", "error"),
            ("enter", "open"),
            ("+/-", "detail"),
            ("/", "search"),
            ("?", "all keys"),
            ("r", "raw"),
            ("F", "follow"),
        ],
    }
}
