//! The views: pages that lie over the transcript and show the session in another order.
//!
//! The reader has one place. A page's cursor is the focused item of the transcript, which stays arranged
//! behind it: moving in either moves the other, so the inspector and whatever else follows the focused item
//! follows a page, too.
//!
//! Invariant: a page is brought up to date only while it is open, and writes out only what its window shows.

pub mod checks;
pub mod context;
pub mod files;
pub mod list;
pub mod money;
pub mod page;
pub mod table;
pub mod timeline;
pub mod tools;
pub mod tree;

use std::collections::HashSet;

use super::action::Action;
use super::effect::Effect;
use super::moving::{follow, go};
use super::panes::{self, Frame};
use super::state::State;
use super::viewport::Focus;
use crate::analysis::awaited::Awaited;
use crate::model::text::Name;
use crate::session::indexes::Wants;
use page::{Answer, Hint, Page, Scene, Sheet};

/// On screens with so many lines the text stays in sight above the timeline.
const BELOW_FROM: u16 = 50;

/// What can be shown of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The text; it is under all others.
    Transcript,
    /// What ran from when to when.
    Timeline,
    /// What was spent.
    Money,
    /// Every call in a table, and tools against each other.
    Tools,
    /// What filled the model's window.
    Context,
    /// Branches and sub-agents.
    Tree,
    /// Files with their uses.
    Files,
    /// What the lint found.
    Checks,
}

impl View {
    /// All views, in the order of their keys.
    pub const ALL: [Self; 8] = [
        Self::Transcript,
        Self::Timeline,
        Self::Tools,
        Self::Money,
        Self::Context,
        Self::Tree,
        Self::Files,
        Self::Checks,
    ];

    /// Lines that its page has below the text on a screen of so many lines; none if it lies over the text.
    pub fn lines_below(self, lines: u16) -> u16 {
        if self == Self::Timeline && lines >= BELOW_FROM { lines * 2 / 5 } else { 0 }
    }
}

/// The pages, and which of them is open.
#[derive(Debug, Default)]
pub struct Views {
    /// Open pages; the last one is seen.
    stack: Vec<View>,
    /// What the window shows of it.
    pub sheet: Sheet,
    /// The item that page and transcript agreed on.
    told: Option<Focus>,
    /// Whether the page has moved the reader, and the transcript follows.
    leads: bool,
    /// Sub-agents whose entries were shown when the first page was opened.
    lanes: Option<HashSet<Name>>,
    hints: &'static [Hint],
    timeline: timeline::Lanes,
    money: money::Money,
    context: context::Context,
    checks: checks::Checks,
    tools: tools::Tools,
    tree: tree::Tree,
    files: files::Files,
}

impl Views {
    /// The page that is seen.
    pub fn open(&self) -> Option<View> {
        self.stack.last().copied()
    }

    /// Forgets the session, but not which pages are open and how the reader wants them.
    pub fn clear(&mut self) {
        self.sheet = Sheet::default();
        self.told = None;
        for view in View::ALL {
            if let Some(page) = self.page(view) {
                page.forget();
            }
        }
    }

    /// What the keys of the page that is seen do besides what they do in all.
    pub fn hints(&self) -> &'static [Hint] {
        self.hints
    }

    fn page(&mut self, view: View) -> Option<&mut dyn Page> {
        match view {
            View::Transcript => None,
            View::Timeline => Some(&mut self.timeline),
            View::Money => Some(&mut self.money),
            View::Tools => Some(&mut self.tools),
            View::Tree => Some(&mut self.tree),
            View::Context => Some(&mut self.context),
            View::Files => Some(&mut self.files),
            View::Checks => Some(&mut self.checks),
        }
    }
}

/// What must be known of calls and of time for the page that is open.
pub fn wants(state: &State) -> Wants {
    match state.views.open() {
        None | Some(View::Transcript | View::Files) => Wants::default(),
        Some(View::Timeline) => Wants { calls: true, spans: true, ..Wants::default() },
        Some(View::Money) => Wants { money: true, ..Wants::default() },
        Some(View::Tools) => Wants { calls: true, findings: true, ..Wants::default() },
        Some(View::Tree) => Wants { calls: true, ..Wants::default() },
        Some(View::Context) => Wants { windows: true, ..Wants::default() },
        Some(View::Checks) => Wants { findings: true, ..Wants::default() },
    }
}

/// Opens a view, or leaves it if it is seen; the text is under all others, so it closes them.
pub fn open(state: &mut State, view: View) {
    state.panes.is_pushed = false;
    if view == View::Transcript {
        return close(state);
    }
    if state.views.open() == Some(view) {
        return leave(state);
    }
    if state.views.stack.is_empty() {
        state.remember_place();
        state.views.lanes = Some(state.text.open_lanes.clone());
    }
    state.views.stack.retain(|open| *open != view);
    state.views.stack.push(view);
    state.views.told = None;
    state.panes.focus = panes::Pane::View;
    state.look_changed();
}

/// Closes all views.
pub fn close(state: &mut State) {
    state.views.stack.clear();
    state.views.lanes = None;
    state.views.sheet = Sheet::default();
    state.panes.focus = panes::Pane::Transcript;
    state.look_changed();
}

/// Back to what was seen before.
fn leave(state: &mut State) {
    state.views.stack.pop();
    state.views.told = None;
    if state.views.stack.is_empty() {
        close(state);
    }
}

/// Lends the page that is open, and what it may look at.
fn with_page<T>(state: &mut State, work: impl FnOnce(&mut dyn Page, &Scene<'_>) -> T) -> Option<T> {
    let mut views = std::mem::take(&mut state.views);
    let frame = panes::divide_with(state, views.open());
    let done = views.open().and_then(|open| views.page(open)).map(|page| work(page, &scene(state, &frame)));
    state.views = views;
    done
}

fn scene<'a>(state: &'a State, frame: &Frame) -> Scene<'a> {
    Scene {
        transcript: &state.session.transcript,
        indexes: &state.session.indexes,
        findings: &state.session.findings,
        checks: &state.checks,
        theme: &state.screen.theme,
        width: usize::from(frame.view.width),
        height: usize::from(frame.view.height),
        now: state.screen.now,
        activity: &state.session.status.activity,
        is_at_work: state.session.is_at_work(state.screen.now),
        awaited: Awaited::of(&state.session.transcript),
        is_whole: !state.session.ends.is_part() && state.session.file.is_caught_up,
        focus: state.text.view.focus,
        follows: state.text.view.follows(),
        filter: state.find.filter.as_ref(),
    }
}

/// Carries out an action in the page that has the keys; `None` leaves it to the transcript.
pub fn act(state: &mut State, action: Action, times: usize) -> Option<Vec<Effect>> {
    if matches!(action, Action::Cancel | Action::Quit) {
        state.views.open()?;
        leave(state);
        return Some(Vec::new());
    }
    let (answer, has_end) =
        with_page(state, |page, scene| (page.act(scene, action, times), page.ends_with_session()))?;
    match answer {
        Answer::Pass if action == Action::Expand => enter(state),
        Answer::Pass => return None,
        Answer::Say(words) => state.screen.say(words),
        Answer::Done if action == Action::Bottom && has_end => return Some(follow(state)),
        Answer::Done => lead(state),
    }
    Some(Vec::new())
}

/// Chooses a row of the page, as a mouse does; one that is chosen already is entered if it is pressed twice.
pub fn press(state: &mut State, line: usize, is_double: bool) {
    let row = line.checked_sub(1 + state.views.sheet.heads.len());
    let Some(number) = row.and_then(|row| state.views.sheet.rows.get(row)).map(|row| row.number) else {
        return;
    };
    state.panes.focus = panes::Pane::View;
    with_page(state, |page, _| page.choose(number));
    lead(state);
    if is_double {
        act(state, Action::Expand, 1);
    }
}

/// Goes to what the chosen row names, and closes the views.
fn enter(state: &mut State) {
    match with_page(state, |page, scene| page.target(scene)).flatten() {
        Some(target) => {
            lead(state);
            if panes::divide(state).covers {
                close(state);
            } else {
                state.panes.focus = panes::Pane::Transcript;
            }
            go(state, target);
        }
        None => state.screen.say("this leads nowhere"),
    }
}

/// Moves the reader to what the chosen row names. Only the sub-agent that this leads to is opened for it, not
/// all that were passed.
fn lead(state: &mut State) {
    let Some(target) = with_page(state, |page, scene| page.target(scene)).flatten() else { return };
    if state.text.view.focus == Some(target) {
        return;
    }
    if let Some(lanes) = &state.views.lanes
        && *lanes != state.text.open_lanes
    {
        state.text.open_lanes.clone_from(lanes);
        state.text.stale.sequence = true;
        state.text.cache.clear();
    }
    go(state, target);
    state.views.leads = true;
}

/// Writes out the page that is open, after the transcript has found the reader's place.
pub fn arrange(state: &mut State) {
    if state.views.open().is_none() {
        return;
    }
    let here = state.text.view.focus;
    let leads = std::mem::take(&mut state.views.leads);
    let has_moved = !leads && state.views.told != here;
    state.views.told = here;
    let told = with_page(state, |page, scene| {
        // What is new is taken in before the row of the reader's place is looked for.
        let sheet = page.arrange(scene);
        let sheet = match here.filter(|_| has_moved) {
            Some(focus) => {
                page.look_at(scene, focus);
                page.arrange(scene)
            }
            None => sheet,
        };
        (sheet, page.hints())
    });
    (state.views.sheet, state.views.hints) = told.unwrap_or_default();
}
