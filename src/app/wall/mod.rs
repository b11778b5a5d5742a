//! The wall: all sessions of the last hours, a row each, those that need somebody first.
//!
//! **The wall is a mode, like the picker.** It covers the session, or nothing; a separate thread
//! follows the sessions and sends rows as news. Opening a session leaves the wall, but its alarms
//! stay active as long as the viewer runs.
//!
//! Invariant: the chosen row stays chosen while rows are added, removed and reordered; before the
//! first key press, the first row is chosen.

pub mod actions;
pub(crate) mod sheet;

use std::collections::HashMap;

use crate::analysis::activity::Activity;
use crate::analysis::phrases;
use crate::analysis::wall::filter::SessionFilter;
use crate::analysis::wall::{News, SessionRow};
use crate::app::alarms::AlarmSpec;
use crate::app::views::list::List;
use crate::app::views::page::Sheet;
use crate::listing::sessions::{BY_NEED, SessionList, SessionRowKey};
use crate::model::figures;
use crate::model::found::{FoundSession, Target};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// State of the wall.
#[derive(Debug)]
pub struct Wall {
    /// Grouping of the sessions.
    pub group: WallGrouping,
    pub filter: Option<SessionFilter>,
    /// Alarms for all sessions.
    pub alarms: Vec<AlarmSpec>,
    /// Whether all sessions that existed at the start are read.
    pub is_complete: bool,
    /// Errors for places requested by the user that cannot be searched.
    pub refused: Vec<Text>,
    /// Files among the sessions that cannot be read.
    pub unreadable: Vec<FoundSession>,
    /// Number of recent sessions without a row, because they exceed the limit of followed sessions.
    pub more: usize,
    /// The span of time of the wall, in ms.
    pub recent_ms: u64,
    /// The page as written for the screen.
    pub sheet: Sheet,
    /// Whether the user has hidden the preview.
    hides_preview: bool,
    /// Whether sessions that ended some time ago have rows of their own.
    shows_old: bool,
    rows: HashMap<Target, SessionRow>,
    list: List<SessionRowKey>,
    is_stale: bool,
}

impl Default for Wall {
    fn default() -> Self {
        Self {
            group: WallGrouping::None,
            filter: None,
            alarms: Vec::new(),
            is_complete: false,
            refused: Vec::new(),
            unreadable: Vec::new(),
            more: 0,
            recent_ms: 0,
            sheet: Sheet::default(),
            hides_preview: false,
            shows_old: false,
            rows: HashMap::new(),
            list: List::with_headings(SessionRowKey::is_row)
                .sorted(BY_NEED)
                .kept_on_top(),
            is_stale: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WallGrouping {
    #[default]
    None,
    Project,
    Agent,
}

impl WallGrouping {
    /// All groupings in order.
    pub const ALL: [Self; 3] = [Self::None, Self::Project, Self::Agent];

    /// The key of a session's group: the whole path of a folder, since folders may have equal
    /// names.
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
    pub fn chosen(&self) -> Option<&SessionRow> {
        self.rows.get(self.list.chosen()?.place()?)
    }

    /// The shown sessions in order.
    pub fn shown(&self) -> impl Iterator<Item = &SessionRow> {
        let places = self.list.keys().iter().filter_map(SessionRowKey::place);
        places.filter_map(|place| self.rows.get(place))
    }

    /// The name of the column that the rows are sorted by.
    pub fn sorted_by(&self) -> &'static str {
        self.list.sort().map_or("", |sort| sort.by)
    }

    /// All sessions, whether shown or not.
    pub fn rows(&self) -> impl Iterator<Item = &SessionRow> + Clone {
        self.rows.values()
    }

    /// Number of shown sessions, and of all sessions.
    pub fn counts(&self) -> (usize, usize) {
        let shown = |key: &SessionRowKey| match key {
            SessionRowKey::Session(_) => 1,
            SessionRowKey::Old(count, _) => *count,
            SessionRowKey::Group(..) => 0,
        };
        (self.list.keys().iter().map(shown).sum(), self.rows.len())
    }

    /// The message about places and files that cannot be read and have no row; `None` if there are
    /// none.
    pub fn unread(&self) -> Option<String> {
        let without_row = self
            .unreadable
            .iter()
            .filter(|found| !self.rows.contains_key(&found.place()));
        let unreadable = without_row.map(FoundSession::unread_row);
        phrases::unread(
            &self
                .refused
                .iter()
                .cloned()
                .chain(unreadable)
                .collect::<Vec<_>>(),
        )
    }

    /// Whether the wall changes every second.
    pub fn ticks(&self, now: Timestamp) -> bool {
        self.rows.values().any(|row| row.ticks(now))
    }

    /// Resets the list before the sessions are followed again.
    pub(crate) fn begin(&mut self) {
        self.rows.clear();
        self.refused.clear();
        self.unreadable.clear();
        self.more = 0;
        self.is_complete = false;
        self.is_stale = true;
    }

    /// Applies news of sessions; the viewer handles alarms.
    pub(crate) fn apply(&mut self, news: News) {
        self.is_stale = true;
        match news {
            News::Row(row) => drop(self.rows.insert(row.place.clone(), *row)),
            News::Removed(place) => drop(self.rows.remove(&place)),
            News::Refused(why) => self.refused = why,
            News::Unreadable(all) => self.unreadable = all,
            News::More(more) => self.more = more,
            News::Complete => self.is_complete = true,
            News::AlarmFired(_) => {}
        }
    }

    /// Moves the cursor by rows.
    pub(crate) fn move_by(&mut self, by: isize) {
        self.list.step(by);
    }

    /// Marks the list as stale after a change that is not news of a session.
    pub(crate) fn mark_stale(&mut self) {
        self.is_stale = true;
    }

    /// Filters and sorts the rows. A filter on time may change its result without news.
    fn sort_rows(&mut self, now: Timestamp) {
        let is_timed = self.filter.is_some();
        if !std::mem::take(&mut self.is_stale) && !is_timed {
            return;
        }
        let fits = |row: &&SessionRow| {
            self.filter
                .as_ref()
                .is_none_or(|filter| filter.fits(row, now))
        };
        let mut rows: Vec<&SessionRow> = self.rows.values().filter(fits).collect();
        rows.sort_by(|one, other| one.cmp_by_need(other));
        let keys = rows
            .iter()
            .map(|row| SessionRowKey::Session(row.place.clone()))
            .collect();
        let list = SessionList {
            rows: &self.rows,
            now,
        };
        let sort = self.list.sort().unwrap_or(BY_NEED);
        let keys = self.grouped(sort.sort(&list, keys));
        let keys = if self.folds_old() {
            self.folded(keys, now)
        } else {
            keys
        };
        self.list.set(keys, false);
    }

    /// Groups the rows under headings; the group with the first row comes first.
    fn grouped(&self, keys: Vec<SessionRowKey>) -> Vec<SessionRowKey> {
        if self.group == WallGrouping::None {
            return keys;
        }
        let row = |key: &SessionRowKey| self.rows.get(key.place()?);
        let mut groups: Vec<(String, Vec<SessionRowKey>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for key in keys {
            let name = row(&key).map_or_else(String::new, |row| self.group.key(row));
            let place = *places.entry(name.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some((_, keys)) => keys.push(key),
                None => groups.push((name, vec![key])),
            }
        }
        let project = |keys: &[SessionRowKey]| keys.first().and_then(row).map(SessionRow::project);
        let mut names: HashMap<Option<String>, usize> = HashMap::new();
        for (_, keys) in &groups {
            *names.entry(project(keys)).or_default() += 1;
        }
        let head = |name: String, keys: &[SessionRowKey]| {
            // The heading shows the whole path if two folders have the same name.
            let short = project(keys).filter(|_| self.group == WallGrouping::Project);
            let is_alone = |name: &String| names.get(&Some(name.clone())) == Some(&1);
            let rows = keys.iter().filter_map(row);
            let needing = rows.clone().filter(|row| row.need.needs_user()).count();
            let facts = [
                Some(figures::count(keys.len() as u64, "session")),
                (needing > 0).then(|| phrases::needing(needing as u64, "you")),
                SessionRow::sum(rows).as_ref().and_then(phrases::cost),
            ];
            let facts: Vec<String> = facts.into_iter().flatten().collect();
            SessionRowKey::Group(short.filter(is_alone).unwrap_or(name), facts.join(", "))
        };
        let lines = groups
            .into_iter()
            .flat_map(|(name, keys)| std::iter::once(head(name, &keys)).chain(keys));
        lines.collect()
    }

    /// Whether sessions that ended some time ago share one line. Only in the default order they are
    /// together at the end.
    fn folds_old(&self) -> bool {
        !self.shows_old
            && self.group == WallGrouping::None
            && self.filter.is_none()
            && self.list.sort() == Some(BY_NEED)
    }

    fn folded(&self, mut keys: Vec<SessionRowKey>, now: Timestamp) -> Vec<SessionRowKey> {
        let row = |key: &SessionRowKey| self.rows.get(key.place()?);
        let is_old = |key: &SessionRowKey| row(key).is_some_and(|row| row.is_old(now));
        let first = keys.iter().position(is_old).unwrap_or(keys.len());
        let old = keys.split_off(first);
        // If all sessions are old, each has its row.
        if keys.is_empty() || old.len() < 2 {
            keys.extend(old);
            return keys;
        }
        let is_unclean =
            |key: &&SessionRowKey| row(key).is_some_and(|row| row.activity == Activity::Unclean);
        let unclean = old.iter().filter(is_unclean).count();
        keys.push(SessionRowKey::Old(old.len(), unclean));
        keys
    }
}
