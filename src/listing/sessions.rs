//! Sessions of the last hours, a row each: the same for the wall and for `tv top`.

use ratatui::style::Style;

use super::sort::Value;
use super::table::{Column, Table, cell};
use crate::analysis::activity::Activity;
use crate::analysis::phrases;
use crate::analysis::wall::SessionRow;
use crate::model::timestamp::Timestamp;
use crate::render::theme::Theme;

/// A session, and what time it is.
pub(crate) type SessionAt<'a> = (&'a SessionRow, Timestamp);

/// A title has so much room.
const TITLE: usize = 12;
/// Columns of the screen between those of the table.
const GAP: usize = 2;

type SessionColumn<'a> = Column<SessionAt<'a>>;

/// The columns for lines of this width. What is worth less is left out first.
pub(crate) fn table<'a>(width: usize) -> Table<SessionAt<'a>> {
    let [
        state,
        project,
        agent,
        model,
        call,
        flags,
        context,
        cost,
        hour,
    ] = match width {
        0..46 => [16, 0, 0, 0, 0, 0, 0, 0, 0],
        46..64 => [16, 0, 0, 0, 0, 0, 0, 7, 0],
        64..104 => [19, 12, 0, 0, 0, 0, 4, 8, 0],
        104..150 => [19, 14, 0, 0, 22, 12, 4, 8, 0],
        150..190 => [20, 16, 11, 12, 26, 12, 4, 8, 9],
        _ => [22, 18, 14, 14, 30, 14, 4, 8, 9],
    };
    // On narrow lines a part of the title does.
    let title = if width < 46 { 4 } else { TITLE };
    let last = match width {
        0..190 => SessionColumn::words("last said", 0, 0),
        _ => SessionColumn::rest("last said", TITLE),
    };
    let columns = vec![
        SessionColumn::words("state", state, 9).cell(|(row, now), look| {
            let words = row.state(*now, look.theme.ascii);
            cell(words, state_style(row, look.theme))
        }),
        SessionColumn::words("project", project, 4)
            .value(|(row, _)| Value::line(&row.project()))
            .dim(),
        SessionColumn::rest("title", title)
            .by("title", |(row, _)| Value::line(&row.name()))
            .style(|_, look| look.focus_or(look.theme.text)),
        SessionColumn::words("agent", agent, 2)
            .value(|(row, _)| Value::line(&row.agent()))
            .dim(),
        SessionColumn::words("model", model, 1)
            .value(|(row, _)| Value::text(row.head.model.as_deref().map(phrases::model)))
            .dim(),
        SessionColumn::words("call", call, 6)
            .value(|(row, _)| Value::line(&row.call_words()))
            .style(|_, look| look.theme.tool),
        SessionColumn::words("flags", flags, 5)
            .cell(|(row, now), look| cell(row.flag_words(*now, look.theme.ascii), look.theme.bad)),
        SessionColumn::figures("ctx", context, 7)
            .by("context", |(row, _)| Value::line(&row.context_words()))
            .dim(),
        SessionColumn::figures("cost", cost, 8)
            .by("cost", |_| Value::None)
            .cell(|(row, _), look| cell(row.cost_words(look.theme.ascii), look.theme.dim)),
        SessionColumn::figures("per hour", hour, 3)
            .by("hour", |(row, _)| {
                Value::text(row.hour.as_ref().and_then(phrases::cost))
            })
            .dim(),
        last.value(|(row, _)| Value::line(row.last_line().unwrap_or_default())),
    ];
    Table::new(columns, width, GAP)
}

/// Only what is at work, waits, or went wrong has a colour.
fn state_style(row: &SessionRow, theme: &Theme) -> Style {
    match row.activity {
        _ if row.problem.is_some() => theme.bad,
        Activity::Tool { .. } | Activity::Model { .. } => theme.good,
        Activity::Retry { .. } | Activity::Waiting { .. } => theme.warn,
        Activity::Unclean => theme.bad,
        Activity::Idle { .. } | Activity::Ended | Activity::Unknown => theme.dim,
    }
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn no_line_is_wider_than_its_room() {
        for width in 20..400 {
            let heads = table(width).heads(None, &super::Theme::dark());
            assert!(heads.width() <= width, "{width}: {heads}");
            assert!(heads.to_string().contains("tit"), "{width}: {heads}");
        }
    }
}
