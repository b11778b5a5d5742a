//! The page of the picker.

use ratatui::text::{Line, Span};

use super::texts::TextProgress;
use super::{BY_AGE, Picker, PickerList};
use crate::analysis::phrases;
use crate::app::list_page::{self, Room, end_of, lines_of};
use crate::app::screen::Screen;
use crate::app::views::list::ListLines;
use crate::app::views::page::{Sheet, SheetRow};
use crate::listing::found::shared_titles;
use crate::listing::table::Listing;
use crate::model::figures;
use crate::model::found::{FoundSession, Target, TextHit};
use crate::render::wrap;

/// Least width in columns with the preview beside the list.
const WIDE: u16 = 120;
/// Least height of the list, in lines, at which each session has two lines; with hits in texts it
/// always has two.
const TWO_LINES: usize = 16;

/// Writes the visible rows.
pub(super) fn arrange(picker: &mut Picker, screen: &Screen) {
    let theme = &screen.theme;
    let room = Room::of(screen);
    let pane = room.preview(WIDE, picker.hides_preview);
    let (side, below) = pane.size();
    let heads = usize::from(room.has_heads());
    let lines = room.lines().saturating_sub(heads + below).max(1);
    let has_two = lines >= TWO_LINES || picker.hits > 0 && lines >= 2;
    picker.list.fit(if has_two { lines / 2 } else { lines });
    let width = room.columns(side);
    let mut list = std::mem::take(&mut picker.list);
    let found = |place: &Target| picker.at(place).map(|(found, _)| found);
    let shown = PickerList {
        shared_titles: shared_titles(list.window().filter_map(|(_, place, _)| found(place))),
        has_two_lines: has_two,
        ..PickerList::of(picker, screen.now)
    };
    let ListLines { head, rows, .. } = list.lines(&shown, width, theme);
    // What the second lines tell of is sorted by, too.
    list.offer(&PickerList::of(picker, screen.now));
    let mut written = Vec::new();
    for (row, (_, place, _)) in rows.into_iter().zip(list.window()) {
        written.push(row);
        if let Some(row) = shown.row(place).filter(|_| has_two) {
            let indent = 2;
            let mut line = row.facts(width.saturating_sub(indent), theme);
            line.spans.insert(0, Span::raw(" ".repeat(indent)));
            written.push(SheetRow {
                line,
                ..SheetRow::default()
            });
        }
    }
    picker.list = list;
    written.truncate(lines);
    let mut sheet = Sheet {
        title: vec![
            Span::raw("tv"),
            Span::styled("  sessions", theme.heading),
            Span::styled(marked(picker), theme.accent),
        ],
        right: vec![Span::styled(news(picker, screen), theme.dim)],
        heads: std::iter::repeat_n(head, heads).collect(),
        rows: written,
        ..Sheet::default()
    };
    if sheet.rows.is_empty() {
        sheet.heads.clear();
        let lines = lines.saturating_sub(1);
        sheet.show_message(&why_empty(picker, screen, (width, lines)), theme, width);
    }
    picker.sheet = sheet.with_preview(pane, room, |width, lines| {
        picker.chosen().map_or_else(Vec::new, |(found, hit)| {
            preview_of(picker, screen, (found, hit), (width, lines))
        })
    });
}

/// Shows or hides the preview.
pub(crate) fn toggle_preview(picker: &mut Picker, screen: &mut Screen) {
    list_page::toggle_preview(&mut picker.hides_preview, WIDE, screen);
}

fn marked(picker: &Picker) -> String {
    match picker.marked.len() {
        0 => String::new(),
        1 => "  1 marked: mark more to open them as one".to_owned(),
        2 => "  2 marked: enter opens them as one, D compares them".to_owned(),
        marked => format!("  {marked} marked: enter opens them as one"),
    }
}

/// A message, the progress of the search, places that cannot be searched, or the order.
fn news(picker: &Picker, screen: &Screen) -> String {
    let order = || {
        let sort = picker.list.sort().filter(|sort| *sort != BY_AGE);
        sort.map(|_| picker.list.sorted_by(&screen.theme))
    };
    let guess = || {
        let is_guess = picker.is_guess && picker.counts().0 > 0;
        is_guess.then(|| "no session has it; these have its letters".to_owned())
    };
    match (&screen.message, picker.is_complete) {
        (Some(message), _) => message.text.clone(),
        (None, true) => phrases::unread(&picker.refused)
            .or_else(order)
            .or_else(guess)
            .unwrap_or_default(),
        (None, false) => format!("looking{}", screen.theme.glyphs().ellipsis),
    }
}

/// The message that explains an empty list.
fn why_empty(picker: &Picker, screen: &Screen, room: (usize, usize)) -> String {
    let (_, all) = picker.counts();
    let ellipsis = screen.theme.glyphs().ellipsis;
    match (phrases::unread(&picker.refused), all, picker.is_complete) {
        (Some(why), 0, _) => why,
        (_, 0, true) => nowhere(picker, room),
        (_, 0, false) => format!("Looking for sessions{ellipsis}"),
        (_, _, _) if picker.is_at_work() => String::new(),
        (_, _, _) if picker.texts.progress == TextProgress::Underway => {
            format!("Looking through their texts{ellipsis}")
        }
        (_, _, _) => format!("No session fits \"{}\".", picker.input.value()),
    }
}

/// The message for no sessions at all: what to do, then as many of the searched places as fit.
fn nowhere(picker: &Picker, (width, lines): (usize, usize)) -> String {
    const TRY: &str = "No session is there yet. To see what they look like, try: tv demo";
    if picker.places.is_empty() {
        return format!("{TRY}\n\nLooked for nowhere: $HOME is not set.");
    }
    let words = |some: usize| {
        let more = match picker.places.len() - some {
            0 => String::new(),
            more => format!(", and {more} more that `tv formats` lists"),
        };
        let named = picker.places.get(..some).unwrap_or_default().join(", ");
        format!("{TRY}\n\nLooked for under {named}{more}.")
    };
    let fits = |some: &usize| {
        let all = lines_of(
            &words(*some),
            ratatui::style::Style::new(),
            "",
            (width, usize::MAX),
        );
        all.len() <= lines
    };
    let some = (1..=picker.places.len()).rev().find(fits);
    some.map_or_else(|| TRY.to_owned(), words)
}

/// Facts, first prompt and end of a session.
fn preview_of(
    picker: &Picker,
    screen: &Screen,
    (found, hit): (&FoundSession, Option<&TextHit>),
    (width, most): (usize, usize),
) -> Vec<Line<'static>> {
    let theme = &screen.theme;
    let fault = found.fault();
    let title = fault.as_ref().or(found.title.as_ref());
    let title = title.map_or("(no title)", |title| title.as_str());
    let mut lines = lines_of(title, theme.heading, theme.glyphs().cut, (width, 2));
    for line in facts(picker, screen, found) {
        let line = wrap::fit(&[Span::styled(line, theme.dim)], width, theme.glyphs().cut);
        lines.push(Line::from(line));
    }
    let glance = picker.glances.get(&found.place());
    let prompt = glance.and_then(|glance| glance.prompt.as_ref());
    let parts = [
        (
            "has it in this line",
            hit.map(|hit| &hit.line),
            theme.hit.any,
        ),
        ("first prompt", prompt, theme.voice.user),
    ];
    // Each part gets at most a third of the lines, and the end gets the remaining lines.
    for (name, text, style) in parts {
        if let Some(text) = text.filter(|_| lines.len() + 2 < most) {
            lines.extend([Line::default(), Line::styled(name, style)]);
            let room = (most - lines.len()).min(most / 3);
            lines.extend(lines_of(
                text,
                theme.text,
                theme.glyphs().cut,
                (width, room),
            ));
        }
    }
    let left = most.saturating_sub(lines.len() + 2);
    if let Some(glance) = glance.filter(|glance| left > 0 && !glance.row.last.is_empty()) {
        let end = end_of(screen, &glance.row.last, width);
        lines.extend([Line::default(), Line::styled("end", theme.voice.assistant)]);
        let hidden = end.len().saturating_sub(left);
        lines.extend(end.into_iter().skip(hidden));
    }
    lines.truncate(most);
    lines
}

/// `claude-code · opus-4-6 · 12 prompts · 24m00s · 12 KB · 3d ago`, the folder, and the id.
fn facts(picker: &Picker, screen: &Screen, found: &FoundSession) -> Vec<String> {
    let ascii = screen.theme.ascii;
    let glance = picker.glances.get(&found.place());
    let counts = glance.and_then(|glance| glance.counts);
    let cost = glance.and_then(|glance| phrases::cost(glance.row.cost.as_ref()?));
    let what = [
        glance.map(|glance| glance.row.state(screen.now, ascii)),
        Some(found.agent_name()),
        found.model.as_deref().map(phrases::model),
        counts.map(|(prompts, ..)| figures::count(prompts, "prompt")),
        counts.map(|(_, calls, _)| figures::count(calls, "call")),
        counts.map(|(.., ms)| figures::duration(ms)),
        cost,
        found.size.map(figures::bytes),
        found
            .modified
            .map(|at| format!("written {}", at.short(screen.now))),
    ];
    let cwd = found.cwd.as_ref().map(ToString::to_string);
    [
        Some(phrases::joined(what, ascii)),
        cwd,
        Some(found.id.to_string()),
    ]
    .into_iter()
    .flatten()
    .collect()
}
