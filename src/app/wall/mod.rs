//! The wall: all sessions of the last hours, a row each, those that need somebody first.
//!
//! **The wall is a mode, as the picker is.** It lies over the session, or over nothing; rows are followed by a thread of
//! their own and come as news. A session that is opened from it is left for it, and what is watched there is watched
//! for as long as the viewer runs.
//!
//! Invariant: what the reader has chosen stays chosen while rows come, go and change their places; until a key was
//! pressed, that is the first row.

pub mod actions;
pub mod layout;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use crate::analysis::money::cost::Cost;
use crate::analysis::phrases;
use crate::analysis::wall::filter::Filter;
use crate::analysis::wall::{News, SessionRow};
use crate::app::alarms::{AlarmSpec, NotifyMeans};
use crate::model::found::{Found, Place};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// All sessions of the last hours.
#[derive(Debug, Default)]
pub struct Wall {
    /// In which order they stand.
    pub sort: Sort,
    /// Whether the last one comes first.
    pub is_reversed: bool,
    /// By what they are grouped.
    pub group: Group,
    /// Which of them are shown.
    pub filter: Option<Filter>,
    /// What is watched for in all of them.
    pub wishes: Vec<AlarmSpec>,
    /// How the reader is notified.
    pub means: NotifyMeans,
    /// Whether all that was there at the start is read.
    pub is_complete: bool,
    /// Why places that the reader named cannot be looked at.
    pub refused: Vec<Text>,
    /// What lies among the sessions and cannot be read.
    pub unreadable: Vec<Found>,
    /// How many sessions of the time that is shown have no row: they are too many to be followed.
    pub more: usize,
    /// Of how many ms they are.
    pub recent_ms: u64,
    /// First line in sight.
    pub top: usize,
    /// Whether the preview is not wanted, where there is room.
    pub(crate) hides_preview: bool,
    rows: HashMap<Place, SessionRow>,
    /// What is shown, in its order.
    lines: Vec<Line>,
    is_stale: bool,
    chosen: Option<Place>,
    /// The line of the chosen one when it was last in sight.
    at: usize,
    has_moved: bool,
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// The head of a group, with how many it has, how many of these need somebody, and what they have cost.
    Head {
        /// What they have in common.
        name: String,
        /// How many they are.
        count: usize,
        /// How many need somebody.
        needing: usize,
        /// What they have cost, as far as it is known.
        cost: Option<Cost>,
    },
    /// A session.
    Row(Place),
}

/// By what sessions are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Who needs somebody, then who works.
    #[default]
    Need,
    /// Who was heard of last.
    Newest,
    /// Who has cost most.
    Cost,
    /// Who has cost most in the last hour.
    Hour,
    /// Whose context is fullest.
    Context,
    /// The title.
    Title,
}

/// By what sessions are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Group {
    /// Not at all.
    #[default]
    None,
    /// By the folder.
    Project,
    /// By the agent.
    Agent,
}

impl Sort {
    /// All of them, in their order.
    pub const ALL: [Self; 6] = [
        Self::Need,
        Self::Newest,
        Self::Cost,
        Self::Hour,
        Self::Context,
        Self::Title,
    ];

    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Need => "need",
            Self::Newest => "newest",
            Self::Cost => "cost",
            Self::Hour => "cost per hour",
            Self::Context => "context",
            Self::Title => "title",
        }
    }

    fn order(self, a: &SessionRow, b: &SessionRow) -> Ordering {
        let usd = |row: &SessionRow| row.cost.as_ref().and_then(|cost| cost.usd).unwrap_or(-1.0);
        let hour = |row: &SessionRow| row.hour.as_ref().and_then(|cost| cost.usd).unwrap_or(-1.0);
        let fill = |row: &SessionRow| row.context.map_or(0, |context| context.tokens);
        let own = match self {
            Self::Need => Ordering::Equal,
            Self::Newest => b.head.ended.cmp(&a.head.ended),
            Self::Cost => usd(b).total_cmp(&usd(a)),
            Self::Hour => hour(b).total_cmp(&hour(a)),
            Self::Context => fill(b).cmp(&fill(a)),
            Self::Title => a.name().to_lowercase().cmp(&b.name().to_lowercase()),
        };
        own.then_with(|| a.by_need(b))
    }
}

impl Group {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::None, Self::Project, Self::Agent];

    /// What sessions of a group have in common: folders of different places may have one name.
    fn key(self, row: &SessionRow) -> String {
        match self {
            Self::None => String::new(),
            Self::Project => row
                .folder()
                .map(Text::as_str)
                .map_or_else(|| row.project(), str::to_owned),
            Self::Agent => row.agent(),
        }
    }
}

impl Wall {
    /// The lines in sight; of a session its row, and whether it is the chosen one.
    pub fn in_sight(
        &self,
        lines: usize,
    ) -> impl Iterator<Item = (&Line, Option<&SessionRow>, bool)> {
        self.lines
            .iter()
            .skip(self.top)
            .take(lines)
            .map(|line| match line {
                Line::Head { .. } => (line, None, false),
                Line::Row(place) => (
                    line,
                    self.rows.get(place),
                    Some(place) == self.chosen.as_ref(),
                ),
            })
    }

    /// The session that is chosen.
    pub fn chosen(&self) -> Option<&SessionRow> {
        self.rows.get(self.chosen.as_ref()?)
    }

    /// All sessions, whether they are shown or not.
    pub fn rows(&self) -> impl Iterator<Item = &SessionRow> + Clone {
        self.rows.values()
    }

    /// How many sessions are shown, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        let is_row = |line: &&Line| matches!(line, Line::Row(_));
        (self.lines.iter().filter(is_row).count(), self.rows.len())
    }

    /// Why something cannot be looked at or read that has no row.
    pub fn unread(&self) -> Option<String> {
        let without_row = self
            .unreadable
            .iter()
            .filter(|found| !self.rows.contains_key(&found.place()));
        let unreadable = without_row.map(|found| Text::clean(&found.unread_line()));
        phrases::unread(
            &self
                .refused
                .iter()
                .cloned()
                .chain(unreadable)
                .collect::<Vec<_>>(),
        )
    }

    /// Whether what is shown changes with every second.
    pub fn ticks(&self, now: Timestamp) -> bool {
        self.rows.values().any(|row| row.ticks(now))
    }

    /// The list is followed anew.
    pub(crate) fn begin(&mut self) {
        self.rows.clear();
        self.refused.clear();
        self.unreadable.clear();
        self.more = 0;
        self.is_complete = false;
        self.is_stale = true;
    }

    /// Takes what comes of the sessions; alarms are the viewer's.
    pub(crate) fn take(&mut self, news: News) {
        self.is_stale = true;
        match news {
            News::Row(row) => drop(self.rows.insert(row.place.clone(), *row)),
            News::Left(place) => drop(self.rows.remove(&place)),
            News::Refused(why) => self.refused = why,
            News::Unreadable(all) => self.unreadable = all,
            News::More(more) => self.more = more,
            News::Complete => self.is_complete = true,
            News::Rang(_) => {}
        }
    }

    /// Something other than a session has changed.
    pub(crate) fn doubt(&mut self) {
        self.is_stale = true;
    }

    /// Puts those that fit in order. Facts of time may come true by themselves.
    pub(crate) fn order(&mut self, now: Timestamp) {
        let is_timed = self.filter.is_some();
        if !std::mem::take(&mut self.is_stale) && !is_timed {
            return;
        }
        let fits = |row: &&SessionRow| {
            self.filter
                .as_ref()
                .is_none_or(|filter| filter.fits(row, now))
        };
        let mut groups: BTreeMap<String, Vec<&SessionRow>> = BTreeMap::new();
        for row in self.rows.values().filter(fits) {
            groups.entry(self.group.key(row)).or_default().push(row);
        }
        let sort = |a: &&SessionRow, b: &&SessionRow| {
            let order = self.sort.order(a, b);
            if self.is_reversed {
                order.reverse()
            } else {
                order
            }
        };
        let mut groups: Vec<(String, Vec<&SessionRow>)> = groups.into_iter().collect();
        for (_, rows) in &mut groups {
            rows.sort_by(sort);
        }
        // The group with the first of all comes first.
        groups.sort_by(|(_, a), (_, b)| match (a.first(), b.first()) {
            (Some(a), Some(b)) => sort(a, b),
            _ => Ordering::Equal,
        });
        let project = |rows: &[&SessionRow]| rows.first().map(|row| row.project());
        let mut names: HashMap<Option<String>, usize> = HashMap::new();
        for (_, rows) in &groups {
            *names.entry(project(rows)).or_default() += 1;
        }
        let mut lines = Vec::new();
        for (key, rows) in groups {
            let name = project(&rows).filter(|_| self.group == Group::Project);
            let is_alone = |name: &String| names.get(&Some(name.clone())) == Some(&1);
            if self.group != Group::None {
                lines.push(head(name.filter(is_alone).unwrap_or(key), &rows));
            }
            lines.extend(rows.into_iter().map(|row| Line::Row(row.place.clone())));
        }
        self.lines = lines;
        if !self.has_moved {
            self.choose(0);
        } else if self.chosen_line().is_none() {
            // Where the chosen one has gone, the one in its line takes its place.
            self.choose(self.at);
        }
    }

    fn chosen_line(&self) -> Option<usize> {
        let chosen = self.chosen.as_ref()?;
        self.lines
            .iter()
            .position(|line| matches!(line, Line::Row(place) if place == chosen))
    }

    /// Chooses the session at a line, or the next one below it, or above.
    fn choose(&mut self, line: usize) {
        let place = |line: &Line| match line {
            Line::Row(place) => Some(place.clone()),
            Line::Head { .. } => None,
        };
        let line = line.min(self.lines.len().saturating_sub(1));
        let (above, below) = self.lines.split_at(line);
        self.chosen = below
            .iter()
            .find_map(place)
            .or_else(|| above.iter().rev().find_map(place));
        self.at = self.chosen_line().unwrap_or(0);
    }

    /// Goes so many sessions on, or back.
    pub(crate) fn move_by(&mut self, by: isize) {
        self.has_moved = true;
        let rows: Vec<usize> = (0..self.lines.len())
            .filter(|at| matches!(self.lines.get(*at), Some(Line::Row(_))))
            .collect();
        let here = self
            .chosen_line()
            .and_then(|line| rows.iter().position(|at| *at == line))
            .unwrap_or(0);
        let there = here
            .saturating_add_signed(by)
            .min(rows.len().saturating_sub(1));
        if let Some(line) = rows.get(there).copied() {
            self.choose(line);
        }
    }

    /// Brings the chosen one into sight, with the head of its group.
    pub(crate) fn scroll(&mut self, lines: usize) {
        let at = self.chosen_line().unwrap_or(0);
        self.at = at;
        let is_below_head = at
            .checked_sub(1)
            .is_some_and(|above| matches!(self.lines.get(above), Some(Line::Head { .. })));
        let highest = if is_below_head { at - 1 } else { at };
        let lowest = at.saturating_sub(lines.saturating_sub(1)).min(highest);
        self.top = self
            .top
            .clamp(lowest, highest)
            .min(self.lines.len().saturating_sub(lines));
    }
}

fn head(name: String, rows: &[&SessionRow]) -> Line {
    let cost = SessionRow::sum(rows.iter().copied());
    let needing = rows.iter().filter(|row| row.need.is_for_somebody()).count();
    Line::Head {
        name,
        count: rows.len(),
        needing,
        cost,
    }
}
