//! Pill, status line, hints, and the panel of unfinished chords.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use tui_input::Input;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
        return paint_typing(state, input, area, buffer);
    }
    let left = left_words(state);
    buffer.set_stringn(area.x, area.y, &left, usize::from(area.width), state.theme.bar);
    let room = usize::from(area.width).saturating_sub(left.width());
    let Some(right) = right_words(state).into_iter().find(|words| words.width() < room) else { return };
    let width = u16::try_from(right.width()).unwrap_or(u16::MAX).min(area.width);
    buffer.set_stringn(area.right() - width, area.y, &right, usize::from(width), state.theme.bar);
}

/// The typed pattern, scrolled so that the cursor is in sight, and how many hits it has.
fn paint_typing(state: &State, input: &Input, area: Rect, buffer: &mut Buffer) {
    let hits = format!("  {} ", hits(state));
    let room = usize::from(area.width).saturating_sub(hits.width() + 1).max(1);
    let scroll = input.visual_scroll(room);
    let mut skipped = 0;
    let typed = input.value().chars().skip_while(|c| {
        skipped += c.width().unwrap_or(0);
        skipped <= scroll
    });
    let typed: String = typed.collect();
    let (x, _) = buffer.set_stringn(area.x, area.y, "/", 1, state.theme.bar);
    let (x, _) = buffer.set_stringn(x, area.y, &typed, room, state.theme.bar);
    buffer.set_stringn(x, area.y, &hits, usize::from(area.right() - x), state.theme.bar);
}

/// Where the terminal's cursor stands while something is typed.
pub fn cursor(state: &State, area: Rect) -> Option<(u16, u16)> {
    let Mode::Search { input, .. } = &state.mode else { return None };
    let room = usize::from(area.width).saturating_sub(hits(state).width() + 4).max(1);
    let column = input.visual_cursor().saturating_sub(input.visual_scroll(room));
    let column = u16::try_from(column).unwrap_or(u16::MAX).saturating_add(1);
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
    let open = if search.is_complete { "" } else { state.theme.glyphs().ellipsis };
    let count = search.hits.len();
    match state.view.focus.and_then(|focus| search.number_of(focus)) {
        Some(number) => format!("{number} of {count}{open}"),
        None if count == 0 && search.is_complete => "no hits".to_owned(),
        None => format!("{count}{open} hits"),
    }
}

/// `line 4812 · 96% · 0 bad · 75 records`, and what to say where there is no room for that, the longest
/// first.
fn right_words(state: &State) -> Vec<String> {
    let tally = state.transcript.tally();
    let entry = state.view.focus.and_then(|focus| state.transcript.get(focus.entry));
    let line = entry.filter(|entry| entry.origin.line > 0).map(|entry| format!("line {}", entry.origin.line));
    let share = Some(format!("{}%", percent(state)));
    let (mut bad, mut records) = (None, None);
    if state.progress.is_none() {
        let unknown: u64 = tally.unknown.values().map(|(count, _)| count).sum();
        let unknown = if unknown > 0 { format!(", {unknown} unknown") } else { String::new() };
        bad = Some(format!("{} bad{unknown}", tally.faulty));
        records = Some(figures::count(tally.records(), "record"));
    }
    let dot = format!(" {} ", state.theme.glyphs().dot);
    let join = |parts: &[&Option<String>]| {
        let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
        format!("{} ", parts.join(&dot))
    };
    vec![
        join(&[&line, &share, &bad, &records]),
        join(&[&line, &share, &bad]),
        join(&[&share, &bad]),
        join(&[&share]),
    ]
}

/// The keys that help most here. What comes first matters most; what does not fit whole is left out.
pub fn paint_hints(state: &State, area: Rect, buffer: &mut Buffer) {
    let mut hints = general(state);
    let width =
        |hints: &[(&str, &str)]| hints.iter().map(|(key, doc)| key.len() + doc.len() + 3).sum::<usize>();
    while hints.len() > 1 && width(&hints) > usize::from(area.width) + 1 {
        hints.pop();
    }
    let mut spans = vec![Span::raw(" ")];
    spans.extend(hints.into_iter().flat_map(|(key, doc)| hint(state, key, doc)));
    buffer.set_line(area.x, area.y, &Line::from(spans), area.width);
}

/// What an unfinished chord or a count can become: a panel that grows upwards from the last line of the
/// screen and goes away with the next key.
pub fn paint_chord(state: &State, screen: Rect, buffer: &mut Buffer) {
    let count = state.count.map(|count| count.to_string()).unwrap_or_default();
    let pressed: String = state.pressed.iter().map(ToString::to_string).collect();
    if count.is_empty() && pressed.is_empty() {
        return;
    }
    let next = if state.pressed.is_empty() { Vec::new() } else { continuations(&state.pressed) };
    let cell = next.iter().map(|(keys, binding)| keys.width() + binding.doc.width() + 4).max().unwrap_or(1);
    let across = (usize::from(screen.width.saturating_sub(1)) / cell).clamp(1, 3);
    let lines = next.len().div_ceil(across);
    let rows = u16::try_from(lines + 1).unwrap_or(u16::MAX).min(screen.height);
    let panel = Rect { y: screen.bottom() - rows, height: rows, ..screen };
    Clear.render(panel, buffer);
    let title = format!(" {count}{pressed}{} ", state.theme.glyphs().cut);
    let rule = state.theme.glyphs().rule.repeat(usize::from(panel.width).saturating_sub(title.width()));
    let title =
        Line::from(vec![Span::styled(title, state.theme.accent), Span::styled(rule, state.theme.dim)]);
    buffer.set_line(panel.x, panel.y, &title, panel.width);
    for (place, (keys, binding)) in next.iter().enumerate() {
        let (column, line) = (place / lines.max(1), place % lines.max(1));
        let x = panel.x + u16::try_from(1 + column * cell).unwrap_or(u16::MAX).min(panel.width);
        let y = panel.y + 1 + u16::try_from(line).unwrap_or(u16::MAX).min(panel.height);
        if y < panel.bottom() && x < panel.right() {
            let line = Line::from(hint(state, keys, binding.doc).to_vec());
            buffer.set_line(x, y, &line, panel.right() - x);
        }
    }
}

fn hint(state: &State, key: &str, doc: &str) -> [Span<'static>; 2] {
    [Span::styled(key.to_owned(), state.theme.accent), Span::styled(format!(" {doc}  "), state.theme.dim)]
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
            ("r", "raw"),
            ("F", "follow"),
            ("?", "all keys"),
        ],
    }
}
