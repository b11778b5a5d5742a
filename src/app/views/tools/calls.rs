//! The table of calls: its columns, its cells, and by what it is sorted.

use ratatui::style::Style;
use ratatui::text::Span;

use super::call::{PlacedCall, Status, took_words};
use super::order::Sort;
use crate::analysis::calls::Place;
use crate::analysis::calls::lifecycle::late_ms;
use crate::app::views::checks::of_severity;
use crate::app::views::page::PageScene;
use crate::app::views::table::{Column, Order, Table};
use crate::model::figures;
use crate::model::text::{Name, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::render::wrap;

const NUMBER: usize = 0;
const TIME: usize = 1;
const TOOL: usize = 2;
const ARGUMENT: usize = 3;
const STATUS: usize = 4;
pub(crate) const TOOK: usize = 5;
const LATE: usize = 6;
const SIZE: usize = 7;
const TOKENS: usize = 8;
const FOUND: usize = 9;
const LANE: usize = 10;

/// Columns that are sorted with the greatest on top.
pub(crate) const FALLING: [usize; 5] = [TOOK, LATE, SIZE, TOKENS, FOUND];

const fn columns(
    (number, tool, argument): (usize, usize, usize),
    status: usize,
    late: usize,
    lane: usize,
) -> [Column; 11] {
    [
        Column::figures("#", number, 8),
        Column::words("time", 8, 5),
        Column::words("tool", tool, 9),
        Column::rest("argument", argument),
        Column::words(if status > SIGN { "status" } else { "" }, status, 10),
        Column::figures("took", 8, 7),
        Column::figures("told", late, 6),
        Column::figures("size", 7, 4),
        Column::figures("tokens", 6, 3),
        Column::figures("found", 5, 5),
        Column::words("lane", lane, 2),
    ]
}

/// A status without words.
const SIGN: usize = 1;
/// How long until the model was told is a column where anything went on in the background.
const LATE_WIDTH: usize = 7;
const NARROW: [&[Column]; 2] = [
    &columns((5, 9, 24), SIGN, 0, 10),
    &columns((5, 9, 24), SIGN, LATE_WIDTH, 10),
];
const MIDDLE: [&[Column]; 2] = [
    &columns((5, 10, 48), 11, 0, 12),
    &columns((5, 10, 48), 11, LATE_WIDTH, 12),
];
const WIDE: [&[Column]; 2] = [
    &columns((6, 22, 48), 11, 0, 22),
    &columns((6, 22, 48), 11, LATE_WIDTH, 22),
];
/// Rows with so many columns of the screen have room for words, and for long names.
const MIDDLE_FROM: usize = 95;
const WIDE_FROM: usize = 150;

/// The columns for a screen; without sub-agents all is of one lane.
pub(crate) fn columns_of(scene: &PageScene<'_>) -> &'static [Column] {
    let [without, with] = match scene.columns() {
        WIDE_FROM.. => WIDE,
        MIDDLE_FROM.. => MIDDLE,
        _ => NARROW,
    };
    let all = if scene.indexes.calls.detached().is_empty() {
        without
    } else {
        with
    };
    let shown = if scene.transcript.lanes().is_empty() {
        LANE
    } else {
        LANE + 1
    };
    all.get(..shown).unwrap_or(all)
}

/// What a column holds.
pub(crate) fn title(column: usize) -> &'static str {
    let [_, all] = MIDDLE;
    all.get(column).map_or("", |column| column.title)
}

/// Calls of the session, or of one tool, as far as the filter shows them; in the order of the file.
pub(crate) fn shown(scene: &PageScene<'_>, tool: Option<&Name>) -> Vec<Place> {
    let calls = &scene.indexes.calls;
    let passes = |place: &Place| scene.filter.is_none_or(|filter| filter.shows(*place));
    match tool {
        Some(name) => calls.of_tool(name).filter(passes).collect(),
        None => calls.all().filter(passes).collect(),
    }
}

/// Sorts calls that stand in the order of the file.
pub(crate) fn sorted(scene: &PageScene<'_>, places: Vec<Place>, sort: Sort) -> Vec<Place> {
    let placed = |place: &Place| PlacedCall::at(scene, *place);
    let figure = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    match sort.column {
        NUMBER if sort.order == Order::Rising => places,
        NUMBER => places.into_iter().rev().collect(),
        TOOL => sort.sort(places, |place| {
            placed(place).map(|placed| placed.call.name.as_str())
        }),
        ARGUMENT => sort.sort(places, |place| {
            placed(place).map(|placed| placed.argument(scene))
        }),
        LANE => sort.sort(places, |place| {
            placed(place)?.lane(scene).map(|lane| &lane.label)
        }),
        STATUS => sort.sort(places, |place| {
            placed(place).map(|placed| placed.status(scene))
        }),
        FOUND => sort.sort(places, |place| placed(place)?.marks(scene)),
        column => sort.sort(places, |place| {
            let placed = placed(place)?;
            match column {
                TIME => placed.made_at().map(|at| at.0),
                TOOK => placed.took().map(|took| figure(took.ms)),
                LATE => placed.life(scene).delay().map(figure),
                SIZE => placed.bytes().map(figure),
                TOKENS => placed.usage().map(|usage| figure(usage.total())),
                _ => None,
            }
        }),
    }
}

/// The cells of a call.
pub(crate) fn cells(
    scene: &PageScene<'_>,
    table: &Table,
    place: Place,
    is_chosen: bool,
) -> Vec<Span<'static>> {
    let theme = scene.theme;
    let Some(placed) = PlacedCall::at(scene, place) else {
        return Vec::new();
    };
    let number = scene
        .indexes
        .calls
        .number(place)
        .map(|number| number.to_string());
    let is_left = scene.transcript.branches().abandoned.contains(&place.entry);
    let (plain, tool) = if is_left {
        (theme.dim, theme.dim)
    } else {
        (theme.text, theme.tool)
    };
    let argument = if is_chosen { theme.focus } else { plain };
    let has_words = table.width_of(STATUS).is_some_and(|width| width > SIGN);
    let (status, style) = status(&placed, scene, has_words);
    let found = placed.marks(scene).map(|(severity, count)| {
        let (sign, style) = of_severity(severity, theme);
        Span::styled(
            if count > 1 {
                format!("{count}{sign}")
            } else {
                sign.to_owned()
            },
            style,
        )
    });
    vec![
        Span::styled(number.unwrap_or_default(), theme.dim),
        Span::styled(
            placed.made_at().map(Timestamp::clock).unwrap_or_default(),
            theme.dim,
        ),
        Span::styled(wrap::head(&placed.call.name, 100).to_owned(), tool),
        Span::styled(
            argument_in(&placed, scene, table.width_of(ARGUMENT).unwrap_or(0)),
            argument,
        ),
        Span::styled(status, style),
        Span::styled(took(&placed, scene), plain),
        late(&placed, scene, plain),
        Span::styled(
            placed.bytes().map(figures::bytes).unwrap_or_default(),
            plain,
        ),
        Span::styled(
            placed
                .usage()
                .map(|usage| figures::tokens(usage.total()))
                .unwrap_or_default(),
            theme.dim,
        ),
        found.unwrap_or_default(),
        Span::styled(
            placed.lane(scene).map_or_else(
                || "main".to_owned(),
                |lane| wrap::head(&lane.label, 200).to_owned(),
            ),
            theme.dim,
        ),
    ]
}

/// What a call is about, in so many columns; of the name of a file the middle goes.
fn argument_in(placed: &PlacedCall<'_>, scene: &PageScene<'_>, width: usize) -> String {
    let words = placed.argument(scene);
    if placed.call.names_a_file() {
        wrap::fit_path(&words, width, scene.theme.glyphs().cut)
    } else {
        words
    }
}

/// The sign of a call, and what it means where that is more than that all went well.
fn status(placed: &PlacedCall<'_>, scene: &PageScene<'_>, has_words: bool) -> (String, Style) {
    let status = placed.status(scene);
    let (sign, style) = status.sign(scene.theme);
    if !has_words {
        return (sign.to_owned(), style);
    }
    let facts = placed
        .call
        .state
        .result()
        .map(|result| without_sgr(wrap::head(&result.facts, 80)).into_owned());
    let exit = facts
        .filter(|facts| facts.starts_with("exit "))
        .map(|facts| {
            facts
                .split(['·', ','])
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        });
    let words = match status {
        Status::Done => String::new(),
        Status::Failed => exit.unwrap_or_else(|| status.word().to_owned()),
        _ => status.word().to_owned(),
    };
    (format!("{sign} {words}"), style)
}

/// How long after its end the model was told of work in the background, if that was later.
fn late(placed: &PlacedCall<'_>, scene: &PageScene<'_>, plain: Style) -> Span<'static> {
    let life = placed.life(scene);
    match life.delay() {
        Some(ms) if ms > late_ms() => Span::styled(figures::duration(ms), scene.theme.warn),
        Some(ms) => Span::styled(figures::duration(ms), plain),
        None if life.is_undelivered => Span::styled("never", scene.theme.warn),
        None => Span::default(),
    }
}

/// How long a call took, or has been running.
pub fn took(placed: &PlacedCall<'_>, scene: &PageScene<'_>) -> String {
    match (placed.took(), placed.made_at()) {
        (Some(took), _) => took_words(took, scene.theme),
        (None, Some(at)) if placed.status(scene) == Status::Running => {
            figures::elapsed(scene.now.since(at))
        }
        _ => String::new(),
    }
}
