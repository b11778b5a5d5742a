//! Tool calls as cards: a head row with what was done, and the result below.

mod card;
mod facts;
mod plan;

use itertools::Itertools as _;
use ratatui::style::Style;
use ratatui::text::Span;

use self::card::Card;
pub(crate) use self::card::change_text;
use super::excerpt::Detail;
use super::picture::canvas::Means;
use super::picture::drawing::DrawingShape;
use super::picture::{self, PictureState, half_blocks};
use super::row::{LaneLine, Row, RowKind};
use super::sheet::{EntryRows, HeadRow};
use super::source::Source;
use super::wrap::{self, Piece};
use super::{diff, tree};
use crate::model::body::Image;
use crate::model::entry::{Entry, StrayResult};
use crate::model::figures;
use crate::model::text::{Text, without_sgr};
use crate::model::tool::{ToolCall, ToolKind, ToolState, Verdict};

/// Limit of arguments in a head row, in bytes.
const LONG_HEAD: usize = 400;
/// Columns of the name of a tool.
const LONG_NAME: usize = 24;
/// Row limits of an image, and of its preview.
const IMAGE_ROWS: usize = 32;
const PREVIEW_ROWS: usize = 12;
/// Narrower images are not recognizable.
const NARROWEST_IMAGE: usize = 16;

pub fn lay_out(sheet: &mut EntryRows<'_>, call: &ToolCall, detail: Detail) {
    let first = sheet.at();
    let lead = sheet.introduction.take();
    let card = Card::new(sheet, call, detail);
    let body = card.rows();
    let changed = card.change();
    let head = head(sheet, call, detail, changed, (body.is_empty(), lead));
    sheet.head(head);
    sheet.body(body);
    let lanes: Vec<&LaneLine> = sheet
        .item
        .lanes
        .iter()
        .filter(|lane| lane.call == call.key)
        .collect();
    for lane in lanes {
        let rows = lane_rows(sheet, call, lane, detail);
        sheet.body(rows);
    }
    sheet.lane(first, is_running(sheet, call));
}

/// Lays out a result without a call.
pub(crate) fn lay_out_stray(sheet: &mut EntryRows<'_>, stray: &StrayResult, detail: Detail) {
    let theme = sheet.look.theme;
    let why = if stray.duplicate {
        "second result of a call"
    } else {
        "result without a call"
    };
    let mut text = vec![Span::styled(why, theme.warn)];
    if !stray.call.is_empty() {
        text.push(Span::styled(
            format!("  {}", without_sgr(&stray.call)),
            theme.dim,
        ));
    }
    text.extend(number_of(sheet));
    sheet.head(HeadRow {
        kind: if stray.result.verdict == Verdict::Done {
            RowKind::Head
        } else {
            RowKind::Error
        },
        at: stray.result.at.or(sheet.item.entry.at),
        word: Span::styled("orphan", theme.warn),
        text,
        right: vec![Span::styled(facts::short(&stray.result.facts), theme.dim)],
        hides: card::hidden_by_head(detail, stray.result.body.lines),
        is_away: stray.result.body.is_on_disk(),
        ..HeadRow::default()
    });
    if detail != Detail::Closed {
        let rows = card::of_result(sheet, &stray.result, detail);
        sheet.body(rows);
    }
}

fn head(
    sheet: &EntryRows<'_>,
    call: &ToolCall,
    detail: Detail,
    changed: Option<(usize, usize)>,
    (is_bare, lead): (bool, Option<String>),
) -> HeadRow {
    let theme = sheet.look.theme;
    let run: Vec<(&Entry, &ToolCall)> = sheet
        .item
        .run
        .iter()
        .filter_map(|entry| Some((*entry, entry.calls().next()?)))
        .collect();
    // Some agents report the changed lines themselves.
    let has_counts = call
        .state
        .result()
        .is_some_and(|result| result.facts.contains('−'));
    let changed = if run.is_empty() {
        changed.filter(|_| !has_counts)
    } else {
        changed_by_all(&run)
    };
    let mut suffix: Vec<Piece> = number_of(sheet).into_iter().collect();
    if let Some(counts) = changed {
        suffix.push(Span::raw("  "));
        suffix.extend(diff::summary(counts, sheet.look));
    }
    let failed = matches!(call.state, ToolState::Failed(_));
    HeadRow {
        kind: if failed {
            RowKind::Error
        } else {
            RowKind::Head
        },
        at: call.started.or(sheet.item.entry.at),
        word: Span::styled(
            wrap::fit_end(&call.shown_name(), LONG_NAME, sheet.glyphs().cut),
            theme.tool,
        ),
        is_path: call.is_on_file() && lead.is_none(),
        text: headline(sheet, call, detail, lead),
        suffix,
        right: if run.is_empty() {
            facts::right(sheet, call)
        } else {
            facts::of_run(sheet, &run)
        },
        running_since: is_running(sheet, call)
            .then_some(call.started.or(sheet.item.entry.at))
            .flatten(),
        hides: if is_bare || !run.is_empty() {
            card::hidden_by_head(detail, lines_of(call))
        } else {
            0
        },
        is_away: call.input.is_on_disk()
            || call
                .state
                .result()
                .is_some_and(|result| result.body.is_on_disk()),
        source: Source::own(call.command().unwrap_or(&call.headline).clone()),
        on_focus: false,
    }
}

/// Number of calls that a row represents; `None` if it is one.
pub(super) fn number_of(sheet: &EntryRows<'_>) -> Option<Piece> {
    let theme = sheet.look.theme;
    let times = if theme.ascii {
        "x"
    } else {
        sheet.glyphs().times
    };
    let run = sheet.item.run;
    (!run.is_empty()).then(|| Span::styled(format!("  {times}{}", run.len()), theme.accent))
}

/// Lines changed by all calls of a run; `None` if one has no counts.
fn changed_by_all(run: &[(&Entry, &ToolCall)]) -> Option<(usize, usize)> {
    let all: Option<Vec<(usize, usize)>> =
        run.iter().map(|(_, call)| card::changed_by(call)).collect();
    all.map(|all| {
        all.iter().fold((0, 0), |(more, less), (added, removed)| {
            (more + added, less + removed)
        })
    })
}

/// Whether a call may still get a result, or its background work is running.
fn is_running(sheet: &EntryRows<'_>, call: &ToolCall) -> bool {
    match call.state {
        ToolState::Acknowledged(_) => sheet.item.is_running,
        _ => call.state.is_open() && sheet.item.is_awaited,
    }
}

fn lines_of(call: &ToolCall) -> u32 {
    call.state
        .result()
        .map_or(1, |result| result.body.lines.max(1))
}

/// The subject of a call on one line.
fn headline(
    sheet: &EntryRows<'_>,
    call: &ToolCall,
    detail: Detail,
    lead: Option<String>,
) -> Vec<Piece> {
    let theme = sheet.look.theme;
    // An opened call shows the command as given.
    let is_as_given = call.kind == ToolKind::Run && detail.is_whole();
    let text = if is_as_given {
        first_line(&call.headline)
    } else {
        call.about(sheet.look.root)
    };
    if let Some(input) = call.input.tree().filter(|_| text.starts_with('{')) {
        return vec![Span::styled(tree::arguments(input, LONG_HEAD), theme.text)];
    }
    let intent = call
        .intent()
        .filter(|_| sheet.look.intents)
        .map(first_line)
        .or(lead);
    if let Some(intent) = intent {
        return vec![
            Span::styled(intent, theme.text),
            Span::styled(format!("  {text}"), theme.dim),
        ];
    }
    match call.kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Write | ToolKind::Fetch => {
            vec![Span::styled(text, theme.accent)]
        }
        ToolKind::Run
        | ToolKind::Search
        | ToolKind::Delegate
        | ToolKind::Plan
        | ToolKind::Other => {
            vec![Span::styled(text, theme.text)]
        }
    }
}

pub(crate) fn first_line(text: &Text) -> String {
    let plain = without_sgr(wrap::head(text.trim_start(), 4_096));
    plain.trim().lines().next().unwrap_or_default().to_owned()
}

/// `▸ reviewer  14 calls · $0.09`, and below it the last actions of a closed lane at work.
fn lane_rows(sheet: &EntryRows<'_>, call: &ToolCall, lane: &LaneLine, detail: Detail) -> Vec<Row> {
    let theme = sheet.look.theme;
    let glyphs = sheet.glyphs();
    let mark = if lane.is_open {
        glyphs.open
    } else {
        glyphs.closed
    };
    let is_listed = lane.since.is_some() && !lane.is_open && detail != Detail::Closed;
    let newest = lane
        .last
        .last()
        .filter(|last| !is_listed && !last.is_empty());
    let newest = newest.map(|last| format!("{}{last}", if theme.ascii { " - " } else { " · " }));
    let spans = vec![
        Span::styled(format!("{mark} "), theme.accent),
        Span::styled(first_line(&lane.label), theme.tool),
        Span::styled(
            format!("  {}{}", lane.facts, newest.unwrap_or_default()),
            theme.dim,
        ),
    ];
    // The row of a running call shows the time already.
    let lane_since = lane.since.filter(|_| !is_running(sheet, call));
    let head = Row {
        line: wrap::fit(&spans, sheet.body_width(), glyphs.cut).into(),
        lane_since,
        ..Row::default()
    };
    let below = lane.last.iter().filter(|_| is_listed).map(|sign| {
        let spans = [
            Span::raw("  "),
            Span::styled(first_line(&Text::clean(sign)), theme.dim),
        ];
        Row {
            line: wrap::fit(&spans, sheet.body_width(), glyphs.cut).into(),
            ..Row::default()
        }
    });
    std::iter::once(head).chain(below).collect()
}

/// `[image png 45 KB]`, and the image below it if the terminal can show it.
pub(crate) fn image_rows(sheet: &EntryRows<'_>, image: &Image, detail: Detail) -> Vec<Row> {
    let (look, width) = (sheet.look, sheet.body_width());
    let theme = look.theme;
    let is_shown = theme.terminal.has_colour
        && !theme.ascii
        && theme.terminal.canvas.means != Means::Off
        && !sheet.item.dim
        && width >= NARROWEST_IMAGE;
    let pictures = look
        .pictures
        .filter(|_| is_shown && image.bytes.is_some() && detail != Detail::Closed);
    let (seen, more) = match pictures.map(|pictures| pictures.get(image)) {
        None | Some(PictureState::Requested) => (None, None),
        Some(PictureState::Ready(picture)) => {
            let (width, height) = picture.size;
            (Some(picture), Some(format!("{width}x{height}")))
        }
        Some(PictureState::Failed(why)) => (None, Some(why.to_string())),
    };
    let kind = image
        .mime
        .rsplit('/')
        .next()
        .filter(|kind| !kind.is_empty());
    let size = image.bytes.map(figures::bytes);
    let source = image
        .source
        .as_ref()
        .map(|source| without_sgr(wrap::head(source, 400)).into_owned());
    let parts = [
        Some("image".to_owned()),
        kind.map(str::to_owned),
        size,
        source,
        more,
    ];
    let words = format!("[{}]", parts.into_iter().flatten().join(" "));
    let line = wrap::fit(&[Span::styled(words, theme.dim)], width, theme.glyphs().cut);
    let mut rows = vec![Row {
        line: line.into(),
        ..Row::default()
    }];
    if let Some(picture) = seen {
        let canvas = theme.terminal.canvas;
        let most = if detail.is_whole() {
            IMAGE_ROWS
        } else {
            PREVIEW_ROWS
        };
        let cells = picture::cells(picture.size, width, most, canvas);
        let drawn = pictures.filter(|_| canvas.is_graphic());
        let drawing =
            drawn.and_then(|pictures| pictures.drawing(image, DrawingShape { cells, canvas }));
        rows.extend(half_blocks::rows(&picture, cells, drawing.as_ref(), theme));
    }
    rows
}

fn styled(text: impl Into<String>, style: Style) -> Piece {
    Span::styled(text.into(), style)
}
