//! The listing of recent sessions, for the wall and for `tv top`.

use std::collections::HashMap;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::sort::{Order, Sort, Value};
use super::table::{Column, Listing, cell};
use crate::analysis::activity::Activity;
use crate::analysis::money::cost::Cost;
use crate::analysis::phrases;
use crate::analysis::wall::{Need, SessionRow};
use crate::model::figures;
use crate::model::found::Target;
use crate::model::timestamp::Timestamp;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Sessions that need somebody first, then those at work.
pub(crate) const BY_NEED: Sort = Sort {
    by: SessionList::ORDER,
    order: Order::Rising,
};

/// A session and the current time.
pub(crate) type SessionAt<'a> = (&'a SessionRow, Timestamp);

/// Greatest least width of a title.
const TITLE: usize = 36;
/// Width from which lines have room for whole names of agents, and more for titles.
const ROOMY: usize = 100;
/// Width from which lines have the last message.
const WIDE: usize = 150;

type SessionColumn<'a> = Column<SessionAt<'a>>;

/// Sessions by place, and the current time.
pub(crate) struct SessionList<'a> {
    pub(crate) rows: &'a HashMap<Target, SessionRow>,
    pub(crate) now: Timestamp,
}

/// The key of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionRowKey {
    /// A heading: what the sessions below have in common, and their sums.
    Group(String, String),
    Session(Target),
    /// The number of sessions that have been at rest for some time, and how many of these stopped
    /// in the middle of their work.
    Old(usize, usize),
}

impl SessionRowKey {
    /// Whether the line can be chosen.
    pub(crate) fn is_row(&self) -> bool {
        !matches!(self, Self::Group(..))
    }

    /// The session of the line; `None` for other lines.
    pub(crate) fn place(&self) -> Option<&Target> {
        match self {
            Self::Session(place) => Some(place),
            Self::Group(..) | Self::Old(..) => None,
        }
    }
}

impl<'a> Listing for SessionList<'a> {
    type Key = SessionRowKey;
    type Row = SessionAt<'a>;
    const ORDER: &'static str = "need";
    const GAP: usize = 2;
    const SHRINKS: bool = true;

    fn columns(&self, width: usize) -> Vec<SessionColumn<'a>> {
        // What a session waits for is in the call, too.
        let (title, agent, call) = if width < ROOMY {
            (width / 4, 8, 13)
        } else {
            (width / 3, 12, 20)
        };
        let title = title.clamp(4, TITLE);
        let mut columns = vec![
            SessionColumn::words("state", 20, 10)
                .sorted_by(Self::ORDER, |_| Value::None)
                .cell(|(row, now), look| {
                    let words = row.state_without_age(*now, look.theme.ascii);
                    cell(words, state_style(row, look.theme))
                }),
            SessionColumn::words("project", 16, 3)
                .value(|(row, _)| Value::line(&row.project()))
                .dim(),
            SessionColumn::rest("title", title)
                .sorted_by("title", |(row, _)| Value::line(&row.name().to_lowercase()))
                .cell(|(row, _), look| {
                    let name = Value::line(&row.name()).words();
                    cell(name, look.focus_or(look.theme.text))
                }),
            SessionColumn::words("agent", agent, 9)
                .value(|(row, _)| Value::line(&row.agent()))
                .cell(|(row, _), look| {
                    let name = row.agent();
                    let is_whole = wrap::width(&name) <= look.width;
                    let begin = name.split(['-', '/']).next().filter(|_| !is_whole);
                    let shown = Value::line(begin.unwrap_or(&name));
                    cell(shown.words(), look.theme.dim)
                }),
            SessionColumn::words("model", 14, 1)
                .value(|(row, _)| Value::text(row.head.model.as_deref().map(phrases::model)))
                .dim(),
            SessionColumn::between("call", call, 30, 8)
                .value(|(row, _)| Value::line(&row.call_words()))
                .style(|_, look| look.theme.tool),
            SessionColumn::figures("failed", 6, 4)
                .sorted_by("failed", |(row, _)| Value::int(Some(row.flags.errors)))
                .style(|_, look| look.theme.bad),
            SessionColumn::figures("age", 4, 7)
                .sorted_by("age", |(row, _)| Value::time(row.head.ended))
                .cell(|(row, now), look| {
                    let age = row.head.ended.map(|at| figures::age(now.since(at)));
                    cell(age.unwrap_or_default(), look.theme.dim)
                }),
            SessionColumn::figures("ctx", 8, 5)
                .sorted_by("context", |(row, _)| {
                    Value::int(row.context.map(|context| context.tokens))
                })
                .cell(|(row, _), look| cell(row.context_words(), look.theme.dim)),
            SessionColumn::figures("cost", 8, 6)
                .sorted_by("cost", |(row, _)| usd(row.cost.as_ref()))
                .cell(|(row, _), look| cell(row.cost_words(look.theme.ascii), look.theme.dim)),
            SessionColumn::figures("per hour", 9, 2)
                .sorted_by("hour", |(row, _)| usd(row.hour.as_ref()))
                .cell(|(row, _), look| {
                    let hour = row.hour.as_ref().and_then(phrases::cost);
                    cell(hour.unwrap_or_default(), look.theme.dim)
                }),
        ];
        if width >= WIDE {
            columns.push(
                SessionColumn::between("last said", 12, 60, 2)
                    .value(|(row, _)| Value::text(row.last_words()))
                    .dim(),
            );
        }
        columns
    }

    fn row(&self, key: &SessionRowKey) -> Option<SessionAt<'a>> {
        Some((self.rows.get(key.place()?)?, self.now))
    }

    fn heading(&self, key: &SessionRowKey, width: usize, theme: &Theme) -> Line<'static> {
        let spans = match key {
            SessionRowKey::Group(name, facts) => vec![
                Span::styled(format!("{name}  "), theme.heading),
                Span::styled(facts.clone(), theme.dim),
            ],
            SessionRowKey::Old(count, unclean) => {
                let unclean = match unclean {
                    0 => String::new(),
                    some => format!(", {some} in the middle of their work"),
                };
                let are = if *count == 1 { "is" } else { "are" };
                let words = format!("{count} more {are} idle for over an hour{unclean}");
                vec![Span::styled(words, theme.dim)]
            }
            SessionRowKey::Session(_) => Vec::new(),
        };
        Line::from(wrap::fit(&spans, width, theme.glyphs().cut))
    }
}

/// A cost as a value to sort by, in millionths of a USD.
fn usd(cost: Option<&Cost>) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "nobody spends so many dollars"
    )]
    let micros = cost.and_then(|cost| cost.usd).map(|usd| (usd * 1e6) as i64);
    Value::int(micros)
}

/// Only sessions that are at work, wait, or have problems have a colour.
pub(crate) fn state_style(row: &SessionRow, theme: &Theme) -> Style {
    if row.problem.is_some() || row.need == Need::Error {
        theme.bad
    } else if row.need <= Need::Undelivered {
        theme.warn
    } else {
        activity_style(&row.activity, theme)
    }
}

pub(crate) fn activity_style(activity: &Activity, theme: &Theme) -> Style {
    match activity {
        Activity::Tool { .. } | Activity::Model { .. } => theme.good,
        Activity::Retry { .. } | Activity::Waiting { .. } => theme.warn,
        Activity::Unclean => theme.bad,
        Activity::Idle { .. } | Activity::Ended | Activity::Unknown => theme.dim,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::SessionList;
    use crate::listing::table::Table;
    use crate::model::timestamp::Timestamp;
    use crate::render::theme::Theme;

    #[test]
    fn no_line_is_wider_than_its_room() {
        let list = SessionList {
            rows: &HashMap::new(),
            now: Timestamp(0),
        };
        for width in 20..400 {
            let heads = Table::of(&list, width).heads(None, &Theme::dark());
            assert!(heads.width() <= width, "{width}: {heads}");
            assert!(heads.to_string().contains("tit"), "{width}: {heads}");
        }
    }
}
