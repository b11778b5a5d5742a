//! The view of time: what ran when, in rows on one axis. It opens on the whole session with a row
//! per turn, and turns can be entered.
//!
//! Inside a turn the cursor is a span, and steps go from one span to the next in time, across rows.
//!
//! Invariant: rows are searched for the window of time and formatted for the window of the screen;
//! a frame costs a few binary searches in each row of the session's lanes and reads nothing outside
//! the window.

use axis::Axis;
use bars::{Painter, focus_of, is_within};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use window::{TimelineWindow, WindowScope};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet, SheetRow};
use crate::analysis::account::Class;
use crate::analysis::activity::{self, Activity};
use crate::analysis::calls::Outcome;
use crate::analysis::timeline::{CriticalPaths, Lane, RowContent, SpanId, Timeline, TimelineRow};
use crate::app::input::action::{Action, Way};
use crate::app::outline::row::start_of_turn;
use crate::app::text::viewport::Focus;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::render::theme::Theme;
use crate::render::wrap;
use crate::session::indexes::Needs;

mod axis;
mod bars;
mod captions;
mod turns;
mod window;

/// Lines for the chosen span.
const FOOT: usize = 2;
/// Maximum height of a row with blank lines.
const ROW_MOST: usize = 3;
/// Maximum heights of a turn and of its bar.
const TURN_MOST: usize = 6;
const BAR_MOST: usize = 3;
/// Page heights: below `LOW` the size of the context is hidden; from `HIGH` on the signs are
/// explained.
const LOW: usize = 16;
const HIGH: usize = 24;
/// Number of turns per column above which critical paths are not computed, because turns are too
/// narrow.
const TURNS: usize = 4;

/// Hints for the rows of turns.
const HINTS_OF_TURNS: &[Hint] = &[
    (&[Action::LevelUp], "into the turn"),
    (&[Action::Level(3)], "all by what ran"),
];
/// Hints inside a turn.
const HINTS: &[Hint] = &[
    (&[Action::LevelUp, Action::LevelDown], "zoom"),
    (
        &[Action::Shift(Way::Previous), Action::Shift(Way::Next)],
        "pan",
    ),
    (&[Action::Level(1), Action::Level(3)], "session, turn"),
];

/// The key of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimelineKey {
    Turn(usize),
    /// The main lane's current activity, if it has no row yet.
    Running(Class),
    /// A row of the main lane.
    Row(usize),
    /// A sub-agent, with all its rows in one.
    Lane(usize),
    /// A row of a sub-agent, if there is room for all of them.
    RowOf(usize, usize),
}

/// The view of time.
#[derive(Debug, Default)]
pub(crate) struct TimelineView {
    rows: List<TimelineKey>,
    /// The span of each visible row that is nearest to the cursor.
    near: Vec<(usize, SpanId)>,
    chosen: Option<SpanId>,
    scope: WindowScope,
    /// Whether rows are turns.
    has_turns: bool,
    axis: Axis,
    paths: CriticalPaths,
    /// Whether the windows of time and of rows must be moved to the cursor.
    is_sought: bool,
}

/// What the main agent, or that of one of several sessions, has been doing since the last record:
/// class, start, and lane.
type Growing = Option<(Class, Timestamp, usize)>;

impl Page for TimelineView {
    fn needs(&self) -> Needs {
        Needs {
            calls: true,
            timeline: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        let timeline = &scene.indexes.timeline;
        if self.chosen.is_none_or(|id| timeline.get(id).is_none()) {
            let own = scene.focus.and_then(|focus| find(scene, focus));
            let is_before_all = scene
                .focus
                .is_some_and(|focus| scene.transcript.turn_of(focus.entry).is_none());
            let edge = if is_before_all {
                timeline.first()
            } else {
                timeline.last()
            };
            self.choose_span(own.or(edge));
        }
        let Some(view) = view(scene, self.chosen) else {
            return empty(scene);
        };
        let is_sought = std::mem::take(&mut self.is_sought);
        if is_sought {
            self.scope = view.reveal(self.scope);
        }
        let scope = self.shown(scene);
        self.has_turns = scope == WindowScope::Turns;
        if self.has_turns {
            return self.arrange_turns(scene, &view);
        }
        let range = view.range(scope);
        let label = (scene.columns() / 6).clamp(8, 20);
        let columns = scene.columns().saturating_sub(label + 1).max(1);
        let gaps: Vec<(Timestamp, Timestamp)> = timeline.gaps(range.0, range.1).collect();
        self.axis = Axis::new(range, &gaps, columns);
        self.paths.clear_if_stale(timeline.generation);
        self.compute_paths(timeline, range);
        let growing = growing(scene).filter(|(_, from, _)| *from < range.1 && scene.now > range.0);
        let extra = [LOW, HIGH]
            .iter()
            .filter(|least| scene.height >= **least)
            .count();
        let (height, foot) = scene.divide(1, FOOT + extra);
        let (keys, has_all_rows) = keys(scene, range, view.now, growing, height);
        let own = self
            .chosen
            .and_then(|id| key_of(timeline, id, has_all_rows));
        self.rows.set(keys, false);
        if let Some(own) = own.filter(|_| is_sought) {
            self.rows.choose_key(&own);
        }
        self.rows.fit(height);
        let painter = Painter {
            scene,
            axis: &self.axis,
            paths: &self.paths,
            chosen: self.chosen,
            now: view.now,
        };
        let (mut rows, mut near, mut above) = (Vec::new(), Vec::new(), None);
        for (number, key, _) in self.rows.window() {
            let (line, nearest) = write(&painter, *key, label, above.replace(*key), growing);
            near.extend(nearest.map(|id| (number, id)));
            rows.push(SheetRow {
                line,
                is_chosen: own == Some(*key),
                number,
            });
        }
        let rows = spread(rows, height);
        self.near = near;
        let captions = captions::Captions {
            painter: &painter,
            view: &view,
            scope,
            range,
            label,
        };
        let foot = match foot {
            0 => Vec::new(),
            lines => captions.foot(lines, self.rows.hidden_counts(), None),
        };
        Sheet {
            title: captions.title(growing),
            right: Vec::new(),
            heads: vec![captions.axis()],
            rows,
            foot,
            ..Sheet::default()
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        let timeline = &scene.indexes.timeline;
        let Some(view) = view(scene, self.chosen) else {
            return Answer::Pass;
        };
        let times = times.max(1);
        let scope = self.shown(scene);
        if scope == WindowScope::Turns {
            return self.act_on_turns(scene, &view, action, times);
        }
        let has_turns = turns::has_several(scene);
        let scope = match action {
            Action::Next => return self.step(scene, times, true),
            Action::Previous => return self.step(scene, times, false),
            Action::Top => return self.go_to_span(timeline.first()),
            Action::Bottom => return self.go_to_span(timeline.last()),
            Action::LineDown | Action::LineUp => {
                self.rows.act(action, times);
                return Answer::Done;
            }
            Action::LevelUp => view.zoom(scope, true, times),
            Action::LevelDown
                if has_turns && matches!(scope, WindowScope::Turn | WindowScope::Session) =>
            {
                Some(WindowScope::Turns)
            }
            Action::LevelDown => view.zoom(scope, false, times),
            Action::Level(1) => Some(WindowScope::Turns),
            Action::Level(2) => Some(WindowScope::Turn),
            Action::Level(3) => Some(WindowScope::Session),
            Action::Level(4) => view.around(3),
            Action::Level(_) => view.around(1),
            Action::Shift(way) => view.pan(scope, times, way == Way::Next),
            Action::HalfDown | Action::HalfUp => {
                view.pan(scope, times * 2, action == Action::HalfDown)
            }
            Action::PageDown | Action::PageUp => {
                view.pan(scope, times * 4, action == Action::PageDown)
            }
            // Nothing can be folded here, and the action must not fold the text behind the page.
            Action::Collapse => return Answer::Unfolded,
            _ => return Answer::Pass,
        };
        match scope {
            Some(scope) => {
                self.scope = scope;
                Answer::Unfolded
            }
            None => Answer::Message(no_farther(action).to_owned()),
        }
    }

    fn choose_focus(&mut self, scene: &PageScene<'_>, focus: Focus) {
        if self.has_turns {
            // A reader at the end sees the whole session.
            let account = &scene.indexes.account;
            let turn = account.turn_of(scene.transcript, focus.entry);
            if let Some(turn) = turn.filter(|_| !scene.follows) {
                self.rows.choose_key(&TimelineKey::Turn(turn));
            }
            return;
        }
        // Several spans may have the same item.
        let timeline = &scene.indexes.timeline;
        let own = self.chosen.filter(|id| timeline.get(*id).is_some());
        if own.is_none_or(|id| focus_of(scene.transcript, id) != focus)
            && let Some(id) = find(scene, focus)
        {
            self.choose_span(Some(id));
        }
    }

    fn choose(&mut self, number: usize) {
        if self.has_turns {
            return self.rows.choose(number);
        }
        let near = self
            .near
            .iter()
            .find(|(row, _)| *row == number)
            .map(|(_, id)| *id);
        self.choose_span(near.or(self.chosen));
    }

    fn reset(&mut self) {
        let scope = match self.scope {
            WindowScope::Part { .. } => WindowScope::default(),
            scope => scope,
        };
        *self = Self {
            scope,
            ..Self::default()
        };
    }

    fn hints(&self) -> &'static [Hint] {
        if self.has_turns {
            HINTS_OF_TURNS
        } else {
            HINTS
        }
    }

    fn target(&self, scene: &PageScene<'_>) -> Option<Focus> {
        if self.has_turns {
            return start_of_turn(scene.transcript, self.turn()?);
        }
        self.chosen.map(|id| focus_of(scene.transcript, id))
    }
}

impl TimelineView {
    /// The effective scope: turns only if there are several.
    fn shown(&self, scene: &PageScene<'_>) -> WindowScope {
        match self.scope {
            WindowScope::Turns if !turns::has_several(scene) => WindowScope::Session,
            scope => scope,
        }
    }

    fn turn(&self) -> Option<usize> {
        match self.rows.chosen()? {
            TimelineKey::Turn(turn) => Some(*turn),
            _ => None,
        }
    }

    fn arrange_turns(&mut self, scene: &PageScene<'_>, view: &TimelineWindow<'_>) -> Sheet {
        let turns = scene.transcript.turns().len();
        let was_of_turns = self.turn().is_some();
        if !was_of_turns || self.rows.keys().len() != turns {
            self.rows
                .set((0..turns).map(TimelineKey::Turn).collect(), false);
        }
        if !was_of_turns {
            let of_span = |id: SpanId| {
                let (account, transcript) = (&scene.indexes.account, scene.transcript);
                account.turn_of(transcript, id.entry)
            };
            let own = self.chosen.filter(|_| !scene.follows).and_then(of_span);
            self.rows
                .choose(own.unwrap_or_else(|| turns::longest(scene)));
        }
        let range = view.range(WindowScope::Turns);
        let beside = turns::ColumnWidths::of(scene.columns());
        let columns = scene
            .columns()
            .saturating_sub(beside.title + beside.figures + 2);
        let gaps: Vec<(Timestamp, Timestamp)> = view.timeline.gaps(range.0, range.1).collect();
        self.axis = Axis::new(range, &gaps, columns.max(1));
        self.paths.clear_if_stale(scene.indexes.timeline.generation);
        let growing = growing(scene);
        let extra = [LOW, HIGH].iter().filter(|least| scene.height >= **least);
        let (height, foot) = scene.divide(1, FOOT + extra.count());
        self.rows.fit(height);
        let painter = Painter {
            scene,
            axis: &self.axis,
            paths: &self.paths,
            chosen: None,
            now: view.now,
        };
        let each = (height / turns.max(1)).clamp(1, TURN_MOST);
        let chosen = self.turn();
        let mut rows = Vec::new();
        for (number, key, is_chosen) in self.rows.window() {
            let TimelineKey::Turn(turn) = key else {
                continue;
            };
            // The first line is for the bar, the second for the sums, the third is blank; further
            // lines make the bar higher.
            let bars = each.saturating_sub(2).clamp(1, BAR_MOST);
            let lines = turns::lines(&painter, view, *turn, growing, (beside, bars));
            let words = format!("   {}", turns::sums(scene, *turn));
            let words = [Span::styled(words, scene.theme.dim)];
            let cut = scene.theme.glyphs().cut;
            let sums = Line::from(wrap::fit(&words, scene.columns(), cut));
            let lines = lines
                .into_iter()
                .chain([sums])
                .chain(std::iter::repeat(Line::default()));
            for (at, line) in lines.take(each).enumerate() {
                rows.push(SheetRow {
                    line,
                    is_chosen: is_chosen && at == 0,
                    number,
                });
            }
        }
        let captions = captions::Captions {
            painter: &painter,
            view,
            scope: WindowScope::Turns,
            range,
            label: beside.title,
        };
        let foot = match foot {
            0 => Vec::new(),
            lines => captions.foot(lines, self.rows.hidden_counts(), chosen),
        };
        Sheet {
            title: captions.title(growing),
            heads: vec![captions.axis()],
            rows,
            foot,
            ..Sheet::default()
        }
    }

    fn act_on_turns(
        &mut self,
        scene: &PageScene<'_>,
        view: &TimelineWindow<'_>,
        action: Action,
        times: usize,
    ) -> Answer {
        if let Some(answer) = self.rows.act(action, times) {
            return answer;
        }
        let scope = match action {
            Action::Level(3) => WindowScope::Session,
            Action::LevelUp | Action::Level(2..) => WindowScope::Turn,
            Action::Level(_) | Action::Collapse => return Answer::Unfolded,
            Action::LevelDown | Action::Shift(_) => {
                return Answer::Message(no_farther(Action::LevelDown).to_owned());
            }
            _ => return Answer::Pass,
        };
        if let Some(turn) = self.turn() {
            let first = turns::first_span(scene, view, turn);
            self.choose_span(first.or(self.chosen));
        }
        self.scope = scope;
        Answer::Unfolded
    }

    fn choose_span(&mut self, id: Option<SpanId>) {
        self.chosen = id;
        self.is_sought = true;
    }

    fn go_to_span(&mut self, id: Option<SpanId>) -> Answer {
        self.choose_span(id);
        Answer::Done
    }

    /// Moves to another span in time, skipping those that the filter hides.
    fn step(&mut self, scene: &PageScene<'_>, times: usize, forward: bool) -> Answer {
        let Some(id) = self.chosen else {
            return Answer::Done;
        };
        let timeline = &scene.indexes.timeline;
        let is_shown = |id: &SpanId| {
            scene
                .filter
                .is_none_or(|filter| filter.shows(focus_of(scene.transcript, *id)))
        };
        let found = if forward {
            timeline.after(id).filter(is_shown).take(times).last()
        } else {
            timeline.before(id).filter(is_shown).take(times).last()
        };
        match found {
            Some(found) => self.go_to_span(Some(found)),
            None if forward => Answer::Message("nothing began later".to_owned()),
            None => Answer::Message("nothing began earlier".to_owned()),
        }
    }

    /// Computes the critical paths that are visible: those of turns that are wide enough, and of
    /// the cursor's turn.
    fn compute_paths(&mut self, timeline: &Timeline, (from, to): (Timestamp, Timestamp)) {
        if let Some(id) = self.chosen {
            self.paths.compute(timeline, id.from, id.from);
        }
        let most = self.axis.columns() * TURNS;
        let turns: Vec<Timestamp> = std::iter::once(from)
            .chain(timeline.prompts(from, to))
            .take(most + 1)
            .collect();
        if turns.len() <= most {
            for turn in turns {
                self.paths.compute(timeline, turn, from);
            }
        }
    }
}

/// Spreads few rows over a high page with blank lines.
fn spread(rows: Vec<SheetRow>, height: usize) -> Vec<SheetRow> {
    let each = (height / rows.len().max(1)).clamp(1, ROW_MOST);
    let with_air = |row: SheetRow| {
        let air = SheetRow {
            number: row.number,
            ..SheetRow::default()
        };
        std::iter::once(row).chain(std::iter::repeat_n(air, each - 1))
    };
    rows.into_iter().flat_map(with_air).collect()
}

/// The view of the session's time; `None` if it has no timestamps.
fn view<'a>(scene: &PageScene<'a>, chosen: Option<SpanId>) -> Option<TimelineWindow<'a>> {
    let timeline = &scene.indexes.timeline;
    let (from, to) = timeline.extent()?;
    let now = scene.is_at_work.then_some(scene.now);
    let (account, transcript) = (&scene.indexes.account, scene.transcript);
    let turn = chosen.filter(|_| transcript.is_joined()).and_then(|id| {
        let figures = account.turn(transcript, account.turn_of(transcript, id.entry)?);
        figures.facts.started.zip(figures.facts.ended)
    });
    Some(TimelineWindow {
        timeline,
        reach: (from, now.map_or(to, |now| now.max(to))),
        chosen,
        now,
        turn,
    })
}

fn find(scene: &PageScene<'_>, focus: Focus) -> Option<SpanId> {
    scene
        .indexes
        .timeline
        .span_of(scene.transcript, focus.entry, focus.block)
}

fn empty(scene: &PageScene<'_>) -> Sheet {
    let why = if scene.is_complete() {
        "Nothing in this session tells when it was."
    } else {
        "The session is still being read."
    };
    Sheet::empty(vec![Span::raw("TIME")], why, scene)
}

fn no_farther(action: Action) -> &'static str {
    match action {
        Action::LevelUp => "there is no closer look",
        Action::LevelDown => "this is all of the session",
        Action::Shift(Way::Next) | Action::HalfDown | Action::PageDown => "the session ends here",
        _ => "the session begins here",
    }
}

/// What the agent has been doing since the last record, if no open call shows it.
fn growing(scene: &PageScene<'_>) -> Growing {
    let timeline = &scene.indexes.timeline;
    let session = scene
        .transcript
        .is_joined()
        .then(|| activity::leading_lane(scene.transcript, scene.now))
        .flatten();
    let session = session.map(|(name, _)| name);
    let lane = timeline
        .lanes()
        .iter()
        .position(|lane| lane.name.as_ref() == session)?;
    if !scene.is_at_work || timeline.open_calls(lane).next().is_some() {
        return None;
    }
    let class = match scene.activity {
        Activity::Model { .. } => Class::Model,
        Activity::Retry { .. } => Class::Retry,
        Activity::Waiting { .. } => Class::Human,
        _ => return None,
    };
    Some((class, scene.activity.since()?, lane))
}

fn key_of(timeline: &Timeline, id: SpanId, has_all_rows: bool) -> Option<TimelineKey> {
    let (_, number) = timeline.get(id)?;
    Some(match timeline.row(number)?.lane {
        0 => TimelineKey::Row(number),
        lane if has_all_rows => TimelineKey::RowOf(lane, number),
        lane => TimelineKey::Lane(lane),
    })
}

/// Rows with spans in the window: the model, the human, tools in the order of first use,
/// sub-agents. The second value is whether sub-agents have all their rows, which depends on the
/// room.
fn keys(
    scene: &PageScene<'_>,
    (from, to): (Timestamp, Timestamp),
    now: Option<Timestamp>,
    growing: Growing,
    room: usize,
) -> (Vec<TimelineKey>, bool) {
    let timeline = &scene.indexes.timeline;
    let end = Timestamp(to.0.saturating_add(1));
    let is_seen = |row: &TimelineRow| !row.within(from, end, now).is_empty();
    let main = rows_in_order(timeline, 0, &is_seen);
    let grows = growing.filter(|(class, _, lane)| {
        let kind = if *class == Class::Model { MODEL } else { HUMAN };
        *lane == 0 && !main.iter().any(|row| (row.kind, row.number) == (kind, 0))
    });
    let grows = grows.map(|(class, ..)| TimelineKey::Running(class));
    let mut keys: Vec<TimelineKey> = grows.into_iter().collect();
    keys.extend(main.into_iter().map(|row| TimelineKey::Row(row.id)));
    let lanes = timeline.lanes().iter().enumerate().skip(1);
    let grows_in = |number: usize| growing.is_some_and(|(.., lane)| lane == number);
    let is_at_work =
        |number: usize, lane: &Lane| now.is_some() && is_open(timeline, lane) || grows_in(number);
    let mut lanes: Vec<usize> = lanes
        .filter(|(number, lane)| is_within(lane, (from, end)) || is_at_work(*number, lane))
        .map(|(number, _)| number)
        .collect();
    // Sub-agents are below their joined session.
    lanes.sort_by_key(|lane| {
        let session = session_of_lane(scene, *lane);
        (session, !is_session(scene, *lane))
    });
    if keys.len() + lanes.len() <= room {
        let rows_of = |lane: usize| {
            let rows = rows_in_order(timeline, lane, &is_seen)
                .into_iter()
                .map(|row| TimelineKey::RowOf(lane, row.id));
            let rows: Vec<TimelineKey> = rows.collect();
            if rows.is_empty() {
                vec![TimelineKey::Lane(lane)]
            } else {
                rows
            }
        };
        let left = room - keys.len();
        let all: Vec<TimelineKey> = lanes
            .iter()
            .flat_map(|lane| rows_of(*lane))
            .take(left + 1)
            .collect();
        if all.len() <= left {
            keys.extend(all);
            return (keys, true);
        }
    }
    keys.extend(lanes.into_iter().map(TimelineKey::Lane));
    (keys, false)
}

/// The order of kinds of rows in a lane.
const CALLER: u8 = 0;
const MODEL: u8 = 1;
const HUMAN: u8 = 2;
const TOOL: u8 = 3;

/// The sort key of a row in its lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RowOrder {
    kind: u8,
    first: usize,
    /// The number of the row among those of its tool.
    number: usize,
    id: usize,
}

/// The visible rows of a lane: the model, the human, tools in the order of first use.
fn rows_in_order(
    timeline: &Timeline,
    lane: usize,
    is_seen: &impl Fn(&TimelineRow) -> bool,
) -> Vec<RowOrder> {
    let mut rows = Vec::new();
    for id in timeline
        .lanes()
        .get(lane)
        .into_iter()
        .flat_map(|lane| &lane.rows)
    {
        let Some(row) = timeline.row(*id).filter(|row| is_seen(row)) else {
            continue;
        };
        let (kind, first) = match &row.what {
            RowContent::Caller => (CALLER, 0),
            RowContent::Model => (MODEL, 0),
            RowContent::Human => (HUMAN, 0),
            RowContent::Tool(_) => (TOOL, timeline.first_row(lane, &row.what).unwrap_or(*id)),
        };
        rows.push(RowOrder {
            kind,
            first,
            number: row.number,
            id: *id,
        });
    }
    rows.sort_unstable();
    rows
}

/// Whether the call that started a lane, or a call in it, is open.
fn is_open(timeline: &Timeline, lane: &Lane) -> bool {
    let is_open = |id: SpanId| {
        timeline
            .get(id)
            .is_some_and(|(span, _)| span.outcome == Outcome::Open)
    };
    lane.caller.is_some_and(|(_, id)| is_open(id))
}

fn row_label(row: &TimelineRow, theme: &Theme) -> (String, Style) {
    match &row.what {
        RowContent::Model => ("model".to_owned(), theme.voice.assistant),
        RowContent::Human => ("you".to_owned(), theme.voice.user),
        RowContent::Caller => (String::new(), theme.dim),
        RowContent::Tool(name) => (name.to_string(), theme.tool),
    }
}

fn name_of<'a>(scene: &PageScene<'a>, lane: usize) -> Option<&'a Name> {
    let lane = scene.indexes.timeline.lanes().get(lane)?;
    lane.name.as_ref()
}

/// The number of the joined session of a lane; `None` if there is only one session.
fn session_of_lane(scene: &PageScene<'_>, lane: usize) -> Option<usize> {
    let session = scene.transcript.session_of_lane(name_of(scene, lane)?);
    session.map(|(number, _)| number)
}

/// Whether a lane is that of a joined session itself.
fn is_session(scene: &PageScene<'_>, lane: usize) -> bool {
    scene.transcript.is_main_lane(name_of(scene, lane))
}

/// The style of a lane's title.
fn lane_style(scene: &PageScene<'_>, lane: usize) -> Style {
    let theme = scene.theme;
    session_of_lane(scene, lane).map_or(theme.accent, |session| theme.of_session(session))
}

/// The title of a lane: `◦ title` of a sub-agent, `2 title` of a joined session.
fn lane_title(scene: &PageScene<'_>, lane: usize) -> String {
    let name = name_of(scene, lane);
    let facts = name.and_then(|name| scene.transcript.lane(name));
    let title = facts
        .map(|facts| &facts.label)
        .or(name)
        .map(ToString::to_string);
    let title = title.unwrap_or_default();
    let bullet = scene.theme.glyphs().list.bullet_inner;
    match session_of_lane(scene, lane) {
        Some(session) if is_session(scene, lane) => format!("{} {title}", session + 1),
        Some(_) => format!("  {bullet} {title}"),
        None => format!("{bullet} {title}"),
    }
}

/// The row of the current activity.
fn running_content(class: Class) -> RowContent {
    if class == Class::Model {
        RowContent::Model
    } else {
        RowContent::Human
    }
}

/// Formats a row, and finds its span that is nearest to the cursor.
fn write(
    painter: &Painter<'_>,
    key: TimelineKey,
    label: usize,
    above: Option<TimelineKey>,
    growing: Growing,
) -> (Line<'static>, Option<SpanId>) {
    let (scene, theme) = (painter.scene, painter.scene.theme);
    let timeline = &scene.indexes.timeline;
    let mut cells = painter.cells();
    let (title, style, (in_lane, what)) = match key {
        TimelineKey::Running(Class::Model) => (
            "model".to_owned(),
            theme.voice.assistant,
            (0, Some(RowContent::Model)),
        ),
        TimelineKey::Turn(_) => return (Line::default(), None),
        TimelineKey::Running(_) => (
            "you".to_owned(),
            theme.voice.user,
            (0, Some(RowContent::Human)),
        ),
        TimelineKey::Row(number) => {
            let Some(row) = timeline.row(number) else {
                return (Line::default(), None);
            };
            painter.paint_row(row, &mut cells);
            let is_named = row.number == 0 || above.is_none();
            let (title, style) = row_label(row, theme);
            let what = (row.number == 0).then(|| row.what.clone());
            (
                if is_named { title } else { String::new() },
                style,
                (0, what),
            )
        }
        TimelineKey::RowOf(lane, number) => {
            let Some(row) = timeline.row(number) else {
                return (Line::default(), None);
            };
            painter.paint_row(row, &mut cells);
            let is_head = !matches!(above, Some(TimelineKey::RowOf(other, _)) if other == lane);
            let (title, style) = row_label(row, theme);
            let what = (lane, (row.number == 0).then(|| row.what.clone()));
            match (is_head, row.number) {
                (true, _) => (lane_title(scene, lane), lane_style(scene, lane), what),
                (false, 0) => (format!("  {title}"), style, what),
                (false, _) => (String::new(), style, what),
            }
        }
        TimelineKey::Lane(number) => {
            let lane = timeline.lanes().get(number);
            for number in lane.into_iter().flat_map(|lane| &lane.rows) {
                if let Some(row) = timeline.row(*number) {
                    painter.paint_row(row, &mut cells);
                }
            }
            let what = growing.map(|(class, ..)| running_content(class));
            (
                lane_title(scene, number),
                lane_style(scene, number),
                (number, what),
            )
        }
    };
    if let Some((class, from, lane)) = growing
        && (in_lane, what) == (lane, Some(running_content(class)))
    {
        painter.paint_running(class, from, scene.now, &mut cells);
    }
    let mut spans = bars::fitted(&title, label, style, theme);
    spans.push(Span::raw(" "));
    spans.extend(painter.write(&cells, |id| match key {
        TimelineKey::Lane(_) => captions::class_words(painter, id),
        TimelineKey::Row(_) | TimelineKey::RowOf(..) => captions::headline(scene.transcript, id),
        TimelineKey::Running(_) | TimelineKey::Turn(_) => None,
    }));
    let here = painter.chosen.map_or(0, |id| painter.axis.column(id.from));
    let columns = painter.axis.columns();
    let nearest = (0..columns).find_map(|by| {
        let left = here.checked_sub(by).and_then(|column| cells.at(column));
        left.or_else(|| cells.at(here + by))
            .filter(|id| timeline.get(*id).is_some())
    });
    (
        Line::from(wrap::fit(&spans, scene.columns(), theme.glyphs().cut)),
        nearest,
    )
}
