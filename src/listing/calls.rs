//! The listing of a session's calls.

use ratatui::style::Style;

use super::call::{
    CallScene, CallStatus, PlacedCall, carrying_usd, carrying_width, carrying_words, of_severity,
};
use super::sort::{Order, Sort, Value};
use super::table::{Cell, CellLook, Column, Listing, cell};
use crate::analysis::calls::Place;
use crate::analysis::calls::lifecycle::late_ms;
use crate::model::figures;
use crate::model::text::Text;
use crate::model::text::without_sgr;
use crate::model::tool::{Clocked, Took};
use crate::model::usage::Usage;
use crate::render::wrap;

/// Widths from which there is room for words, and for long names.
const MIDDLE_FROM: usize = 95;
const WIDE_FROM: usize = 150;
/// Width of a status without words.
const SIGN: usize = 1;

/// In file order.
pub(crate) const IN_ORDER: Sort = Sort {
    by: CallList::ORDER,
    order: Order::Rising,
};
/// By duration, the slowest first.
pub(crate) const SLOWEST: Sort = Sort {
    by: "took_ms",
    order: Order::Falling,
};

type CallColumn<'a> = Column<PlacedCall<'a>>;

/// The calls of a session, by position.
pub(crate) struct CallList<'a>(pub(crate) CallScene<'a>);

impl<'a> Listing for CallList<'a> {
    type Key = Place;
    type Row = PlacedCall<'a>;
    const ORDER: &'static str = "number";

    fn columns(&self, width: usize) -> Vec<CallColumn<'a>> {
        // `both` is the room of name and argument.
        let (number, longest, both, status, lane) = match width {
            WIDE_FROM.. => (6, 24, 70, 11, 22),
            MIDDLE_FROM.. => (5, 18, 56, 11, 12),
            _ => (5, 12, 33, SIGN, 10),
        };
        let Self(scene) = self;
        let names = scene.calls.tools.iter().map(|(name, _)| name);
        let names = names.map(|name| wrap::width(name).min(longest));
        let tool = names.max().unwrap_or_default().max(4);
        // The delay until the model was told is shown only if there was work in the background.
        let late_width = if scene.calls.detached.is_empty() {
            0
        } else {
            7
        };
        let carried = carrying_width(scene.carried);
        let found_width = if scene.findings.counts.total() == 0 {
            0
        } else {
            5
        };
        let lane = if scene.transcript.lanes().is_empty() {
            0
        } else {
            lane
        };
        let time = if scene.calls.are_of_days() { 11 } else { 8 };
        vec![
            CallColumn::words("", scene.transcript.sessions_width(), 10)
                .cell(|call, look| vec![look.theme.session_mark(call.session())]),
            CallColumn::figures("#", number, 8)
                .sorted_by(Self::ORDER, |call| Value::int(call.number()))
                .turned()
                .dim(),
            CallColumn::words("time", time, 5)
                .sorted_by("started", |call| Value::time(call.made_at()))
                .cell(|call, look| {
                    let is_dated = call.scene.calls.are_of_days();
                    let words = call.made_at().map(|at| at.clock_or_dated(is_dated));
                    cell(words.unwrap_or_default(), look.theme.dim)
                }),
            CallColumn::words("tool", tool, 9)
                .sorted_by("name", |call| Value::text(Some(call.call.name.as_str())))
                .cell(|call, look| {
                    let cut = look.theme.glyphs().cut;
                    let name = wrap::fit_end(&call.call.shown_name(), look.width, cut);
                    cell(name, plain(call, look.theme.tool, look))
                }),
            CallColumn::rest("argument", both - tool)
                .sorted_by("argument", |call| Value::text(Some(call.argument())))
                .cell(|call, look| {
                    let words = call.argument();
                    // Paths are cut in the middle.
                    let words = if call.call.is_on_file() {
                        wrap::fit_path(&words, look.width, look.theme.glyphs().cut)
                    } else {
                        words
                    };
                    cell(words, look.focus_or(text(call, look)))
                }),
            CallColumn::words(if status > SIGN { "status" } else { "" }, status, 10)
                .sorted_by("state", |call| {
                    Value::text(Some(call.state())).ranked(call.status() as i128)
                })
                .cell(state),
            CallColumn::figures("took", 8, 7)
                .sorted_by(SLOWEST.by, |call| {
                    Value::ms(call.duration().map(|took| took.ms))
                })
                .cell(|call, look| cell(call.duration_text(look.theme), text(call, look))),
            // Durations that were not measured are upper bounds.
            CallColumn::data("took_is_bound", |call| {
                let is_bound = |took: Took| Value::Bool(took.by == Clocked::Bound);
                call.duration().map_or(Value::None, is_bound)
            }),
            CallColumn::figures("told", late_width, 6)
                .sorted_by("told_ms", |call| Value::ms(call.lifecycle().delay()))
                .cell(late),
            CallColumn::figures("size", 7, 4)
                .sorted_by("bytes", |call| Value::bytes(call.bytes()))
                .style(text),
            CallColumn::figures("carried", carried, 5)
                .sorted_by("carried_usd", |call| carrying_usd(call.carriage()))
                .cell(|call, look| cell(carrying_words(call.carriage()), text(call, look))),
            CallColumn::data("carried_requests", |call| {
                Value::int(call.carriage().map(|one| one.requests))
            }),
            CallColumn::data("carried_tokens", |call| {
                Value::tokens(call.carriage().map(|one| one.carried))
            }),
            CallColumn::figures("tokens", 6, 3)
                .sorted_by("tokens", |call| {
                    Value::tokens(call.usage().map(Usage::total))
                })
                .dim(),
            CallColumn::figures("found", found_width, 5)
                .sorted_by("found", |call| {
                    let rules = call.findings().map(|finding| finding.rule.id.to_owned());
                    match call.marks() {
                        Some((severity, count)) => Value::Texts(rules.collect())
                            .ranked(((severity as i128) << 64) + count as i128),
                        None => Value::None,
                    }
                })
                .cell(found),
            CallColumn::words("lane", lane, 2)
                .sorted_by("lane_label", |call| {
                    Value::text(call.lane().map(|lane| lane.label.as_str()))
                })
                .cell(|call, look| {
                    let label = call.lane().map(|lane| wrap::head(&lane.label, 200));
                    cell(label.unwrap_or("main").to_owned(), look.theme.dim)
                }),
            CallColumn::data("lane", |call| {
                Value::text(call.entry.lane.as_ref().map(Text::as_str))
            }),
            CallColumn::data("key", |call| Value::text(Some(call.entry.key.as_str()))),
            CallColumn::data("line", |call| {
                Value::int(Some(call.call.input.from.line).filter(|line| *line > 0))
            }),
            CallColumn::data("id", |call| Value::text(Some(call.call.key.as_str()))),
        ]
    }

    fn row(&self, place: &Place) -> Option<PlacedCall<'a>> {
        PlacedCall::at(self.0, *place)
    }
}

fn text(call: &PlacedCall<'_>, look: &CellLook<'_>) -> Style {
    plain(call, look.theme.text, look)
}

/// The style of a call, dim on an abandoned branch.
fn plain(call: &PlacedCall<'_>, style: Style, look: &CellLook<'_>) -> Style {
    let branches = call.scene.transcript.branches();
    if branches.abandoned.contains(&call.place.entry) {
        look.theme.dim
    } else {
        style
    }
}

/// The sign of a call's status, with words unless it succeeded.
fn state(call: &PlacedCall<'_>, look: &CellLook<'_>) -> Cell {
    let status = call.status();
    let (sign, style) = status.sign(look.theme);
    if look.width <= SIGN {
        return cell(sign, style);
    }
    let facts = call
        .call
        .state
        .result()
        .map(|result| without_sgr(wrap::head(&result.facts, 80)).into_owned());
    let exit = facts
        .as_deref()
        .filter(|facts| facts.starts_with("exit "))
        .and_then(|facts| facts.split(['·', ',']).next());
    let words = match status {
        CallStatus::Done => "",
        CallStatus::Failed => exit.map_or(status.word(), str::trim),
        _ => status.word(),
    };
    cell(format!("{sign} {words}"), style)
}

/// The delay from the end of background work until the model was told.
fn late(call: &PlacedCall<'_>, look: &CellLook<'_>) -> Cell {
    let life = call.lifecycle();
    match life.delay() {
        Some(ms) if ms > late_ms() => cell(figures::duration(ms), look.theme.warn),
        Some(ms) => cell(figures::duration(ms), text(call, look)),
        None if life.is_undelivered => cell("never", look.theme.warn),
        None => Cell::new(),
    }
}

/// The sign of the most severe finding, and the number of findings.
fn found(call: &PlacedCall<'_>, look: &CellLook<'_>) -> Cell {
    let Some((severity, count)) = call.marks() else {
        return Cell::new();
    };
    let (sign, style) = of_severity(severity, look.theme);
    match count {
        1 => cell(sign, style),
        count => cell(format!("{count}{sign}"), style),
    }
}
