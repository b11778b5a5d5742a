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
use super::layout;
use super::layout::Frame;
use super::moving::{follow, go};
use super::panes;
use super::reader::Reader;
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
pub fn wants(reader: &Reader) -> Wants {
    match reader.views.open() {
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
pub fn open(reader: &mut Reader, view: View) {
    reader.panes.is_pushed = false;
    if view == View::Transcript {
        return close(reader);
    }
    if reader.views.open() == Some(view) {
        return leave(reader);
    }
    if reader.views.stack.is_empty() {
        reader.remember_place();
        reader.views.lanes = Some(reader.text.open_lanes.clone());
    }
    reader.views.stack.retain(|open| *open != view);
    reader.views.stack.push(view);
    reader.views.told = None;
    reader.panes.focus = panes::Pane::View;
    reader.look_changed();
}

/// Closes all views.
pub fn close(reader: &mut Reader) {
    reader.views.stack.clear();
    reader.views.lanes = None;
    reader.views.sheet = Sheet::default();
    reader.panes.focus = panes::Pane::Transcript;
    reader.look_changed();
}

/// Back to what was seen before.
fn leave(reader: &mut Reader) {
    reader.views.stack.pop();
    reader.views.told = None;
    if reader.views.stack.is_empty() {
        close(reader);
    }
}

/// Lends the page that is open, and what it may look at.
fn with_page<T>(reader: &mut Reader, work: impl FnOnce(&mut dyn Page, &Scene<'_>) -> T) -> Option<T> {
    let mut views = std::mem::take(&mut reader.views);
    let frame = layout::divide_with(reader, views.open());
    let done = views.open().and_then(|open| views.page(open)).map(|page| work(page, &scene(reader, &frame)));
    reader.views = views;
    done
}

fn scene<'a>(reader: &'a Reader, frame: &Frame) -> Scene<'a> {
    Scene {
        transcript: &reader.session.transcript,
        indexes: &reader.session.indexes,
        findings: &reader.session.findings,
        checks: &reader.checks,
        theme: &reader.screen.theme,
        width: usize::from(frame.view.width),
        height: usize::from(frame.view.height),
        now: reader.screen.now,
        activity: &reader.session.status.activity,
        is_at_work: reader.session.is_at_work(reader.screen.now),
        awaited: Awaited::of(&reader.session.transcript),
        is_whole: !reader.session.ends.is_part() && reader.session.file.is_caught_up,
        focus: reader.text.view.focus,
        follows: reader.text.view.follows(),
        filter: reader.find.filter.as_ref(),
    }
}

/// Carries out an action in the page that has the keys; `None` leaves it to the transcript.
pub fn act(reader: &mut Reader, action: Action, times: usize) -> Option<Vec<Effect>> {
    if matches!(action, Action::Cancel | Action::Quit) {
        reader.views.open()?;
        leave(reader);
        return Some(Vec::new());
    }
    let (answer, has_end) =
        with_page(reader, |page, scene| (page.act(scene, action, times), page.ends_with_session()))?;
    match answer {
        Answer::Pass if action == Action::Expand => enter(reader),
        Answer::Pass => return None,
        Answer::Say(words) => reader.screen.say(words),
        Answer::Done if action == Action::Bottom && has_end => return Some(follow(reader)),
        Answer::Done => lead(reader),
    }
    Some(Vec::new())
}

/// Chooses a row of the page, as a mouse does; one that is chosen already is entered if it is pressed twice.
pub fn press(reader: &mut Reader, line: usize, is_double: bool) {
    let row = line.checked_sub(1 + reader.views.sheet.heads.len());
    let Some(number) = row.and_then(|row| reader.views.sheet.rows.get(row)).map(|row| row.number) else {
        return;
    };
    reader.panes.focus = panes::Pane::View;
    with_page(reader, |page, _| page.choose(number));
    lead(reader);
    if is_double {
        act(reader, Action::Expand, 1);
    }
}

/// Goes to what the chosen row names, and closes the views.
fn enter(reader: &mut Reader) {
    match with_page(reader, |page, scene| page.target(scene)).flatten() {
        Some(target) => {
            lead(reader);
            if layout::divide(reader).covers {
                close(reader);
            } else {
                reader.panes.focus = panes::Pane::Transcript;
            }
            go(reader, target);
        }
        None => reader.screen.say("this leads nowhere"),
    }
}

/// Moves the reader to what the chosen row names. Only the sub-agent that this leads to is opened for it, not
/// all that were passed.
fn lead(reader: &mut Reader) {
    let Some(target) = with_page(reader, |page, scene| page.target(scene)).flatten() else { return };
    if reader.text.view.focus == Some(target) {
        return;
    }
    if let Some(lanes) = &reader.views.lanes
        && *lanes != reader.text.open_lanes
    {
        reader.text.open_lanes.clone_from(lanes);
        reader.text.stale.sequence = true;
        reader.text.cache.clear();
    }
    go(reader, target);
    reader.views.leads = true;
}

/// Writes out the page that is open, after the transcript has found the reader's place.
pub fn arrange(reader: &mut Reader) {
    if reader.views.open().is_none() {
        return;
    }
    let here = reader.text.view.focus;
    let leads = std::mem::take(&mut reader.views.leads);
    let has_moved = !leads && reader.views.told != here;
    reader.views.told = here;
    let told = with_page(reader, |page, scene| {
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
    (reader.views.sheet, reader.views.hints) = told.unwrap_or_default();
}
