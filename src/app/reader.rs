//! One session on the screen: its data, its panes, and the actions that involve several panes.

mod apply;

use std::sync::Arc;

use super::alarms::{self, Alarms};
use super::checks::Checks;
use super::copying::clipboard;
use super::effect::Effect;
use super::input::action::{Action, View};
use super::inspector::{self, Inspector};
use super::layout::{Frame, LayoutInput};
use super::outline::Outline;
use super::panes::{Pane, Panes};
use super::scene::{Ask, Scene};
use super::screen::Screen;
use super::side_pane::SidePane;
use super::text::jumps::{go_to_requested, jump, restore_position, scroll};
use super::text::places::marks;
use super::text::viewport::Motion;
use super::text::{self, TextPane, runs};
use super::views::{self, Views};
use crate::analysis::calls::Place;
use crate::model::timestamp::Timestamp;
use crate::render::code::Colours;
use crate::render::row::Level;
use crate::render::theme::Theme;
use crate::session::Session;

/// A session and its panes. Readers share nothing, so several can be shown side by side.
pub struct Reader {
    pub session: Session,
    pub text: TextPane,
    /// Problems of the session.
    pub checks: Checks,
    pub outline: Outline,
    /// The inspector of the focused item.
    pub inspector: Inspector,
    /// The views, which cover the transcript.
    pub views: Views,
    /// Alarms, set with `:watch` or in the settings.
    pub alarms: Alarms,
    /// Visibility and widths of the panes, and which has the focus.
    pub panes: Panes,
    /// Size, theme and time.
    pub screen: Screen,
    /// Requests of panes to the whole viewer; [`dispatch::answer`](super::dispatch::answer) runs
    /// them.
    pub(crate) requests: Vec<Ask>,
}

/// The panes, borrowed one by one, so that one can change while the [`Scene`] reads the session.
pub(crate) struct PanesMut<'a> {
    pub(crate) text: &'a mut TextPane,
    pub(crate) outline: &'a mut Outline,
    pub(crate) inspector: &'a mut Inspector,
    pub(crate) views: &'a mut Views,
    pub(crate) alarms: &'a mut Alarms,
}

impl Reader {
    /// Creates a reader without a session, in which all settings are off; [`App::new`](super::state::App::new)
    /// gives them their defaults.
    pub fn new(theme: Theme, level: Level, colours: Arc<Colours>, now: Timestamp) -> Self {
        Self {
            session: Session::default(),
            text: TextPane::new(level),
            checks: Checks::default(),
            outline: Outline::default(),
            inspector: Inspector::default(),
            views: Views::default(),
            alarms: Alarms::default(),
            panes: Panes::default(),
            screen: Screen::new(theme, colours, now),
            requests: Vec::new(),
        }
    }

    /// The areas of the screen.
    pub fn frame(&self) -> Frame {
        self.layout_input().divide()
    }

    pub fn focused(&self) -> Pane {
        self.layout_input().focused()
    }

    fn layout_input(&self) -> LayoutInput<'_> {
        let Self {
            session,
            screen,
            panes,
            views,
            text,
            ..
        } = self;
        let margin = text.margin(&session.transcript);
        LayoutInput {
            screen,
            panes,
            view: views.open(),
            margin,
        }
    }

    /// Whether a call is still running.
    pub(crate) fn is_running(&self, place: Place) -> bool {
        let call = place.call(&self.session.transcript);
        call.is_some_and(|call| self.session.runs(place.entry, call, self.screen.now))
    }

    /// Whether the screen changes every second: because of clocks of calls, which run only while
    /// the agent is at work, a message that expires, or an alarm on time.
    pub fn ticks(&self) -> bool {
        let is_at_work = self.session.is_at_work(self.screen.now);
        is_at_work || self.screen.message.is_some() || self.alarms.needs_clock()
    }

    /// Whether work remains for the next frame although no event has come.
    pub fn is_unfinished(&self) -> bool {
        let seeks_runs = self.session.file.is_caught_up && runs::is_scanning(&self.text);
        seeks_runs || self.session.indexes.is_behind || self.outline.is_incomplete()
    }

    /// Runs `work` on the panes with a scene, then runs the requests that it pushed.
    pub(crate) fn with_panes<T>(
        &mut self,
        work: impl FnOnce(PanesMut<'_>, &mut Scene<'_>) -> T,
    ) -> T {
        let Self {
            session,
            text,
            checks,
            outline,
            inspector,
            views,
            alarms,
            panes,
            screen,
            ..
        } = self;
        let mut scene = Scene {
            session,
            screen,
            panes,
            checks,
            view: views.open(),
            requests: Vec::new(),
        };
        let done = work(
            PanesMut {
                text,
                outline,
                inspector,
                views,
                alarms,
            },
            &mut scene,
        );
        for ask in scene.requests {
            self.answer(ask);
        }
        done
    }

    /// Runs `work` on the transcript pane.
    pub fn with_text<T>(&mut self, work: impl FnOnce(&mut TextPane, &mut Scene<'_>) -> T) -> T {
        self.with_panes(|panes, scene| work(panes.text, scene))
    }

    fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Status(words) => self.screen.set_status(words),
            Ask::Focus(pane) => self.panes.focus = pane,
            Ask::ShowText => self.panes.is_pushed = false,
            Ask::Jump(focus) => self.with_text(|text, scene| jump(text, scene, focus)),
            Ask::Motion(motion) => self.text.view.push_motion(motion),
            Ask::ShowInspector(is_shown) => {
                self.panes.show_inspector(&self.screen, is_shown);
                self.text.invalidate_rows();
            }
            Ask::Follow => self.follow(),
            Ask::Enter(_) | Ask::Keep(..) | Ask::Act(_) => self.requests.push(ask),
        }
    }

    /// Checks the alarms against the current session.
    pub(crate) fn check_alarms(&mut self) -> Vec<Effect> {
        alarms::actions::check(&mut self.alarms, &mut self.session, &mut self.screen)
    }

    /// Offers an action to the focused pane; `None` if the pane does not handle it.
    pub(crate) fn act_in_pane(&mut self, action: Action) -> Option<Vec<Effect>> {
        let pane = match self.focused() {
            // From the transcript beside a view, `q` closes the view, which was opened last.
            Pane::Transcript if action == Action::Quit => Pane::View,
            pane => pane,
        };
        // Only the transcript toggles; in the other panes enter opens.
        let action = match (pane, action) {
            (Pane::Outline | Pane::View | Pane::Inspector, Action::Unfold) => Action::Expand,
            (_, action) => action,
        };
        self.act_in(pane, action, 1)
            .or_else(|| self.leave_pane(pane, action))
    }

    /// Offers an action to a pane; `None` if the pane does not handle it.
    pub(crate) fn act_in(
        &mut self,
        pane: Pane,
        action: Action,
        times: usize,
    ) -> Option<Vec<Effect>> {
        self.with_panes(|panes, scene| {
            let PanesMut {
                text,
                outline,
                views,
                inspector,
                ..
            } = panes;
            let pane: &mut dyn SidePane = match pane {
                Pane::Transcript => return None,
                Pane::Outline => outline,
                Pane::View => views,
                Pane::Inspector => inspector,
            };
            pane.act(text, scene, action, times)
        })
    }

    /// Moves the focus from a side pane back to the transcript.
    fn leave_pane(&mut self, pane: Pane, action: Action) -> Option<Vec<Effect>> {
        let is_left = matches!(pane, Pane::Outline | Pane::Inspector);
        (is_left && matches!(action, Action::Cancel | Action::Quit))
            .then(|| self.panes.focus_transcript(pane))?;
        Some(Vec::new())
    }

    /// Runs an action on the session.
    pub fn act(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Top => {
                self.text.remember_place(&self.session);
                // To the top of what is read so far, and to the beginning as soon as it is read.
                self.text.places.wants_beginning = self.session.is_replacement_pending();
                scroll(&mut self.text, Motion::Top);
                Vec::new()
            }
            Action::Bottom => {
                self.text.remember_place(&self.session);
                self.follow();
                Vec::new()
            }
            Action::ToggleFollow if !self.text.view.follows() => {
                self.follow();
                Vec::new()
            }
            Action::Back | Action::Forward => {
                let is_back = action == Action::Back;
                let travel = |text: &mut TextPane, scene: &mut Scene<'_>| {
                    marks::step_jumps(text, scene, is_back);
                };
                self.with_text(travel);
                Vec::new()
            }
            Action::Edit => self
                .focused_origins()
                .first()
                .copied()
                .map(Effect::Edit)
                .into_iter()
                .collect(),
            Action::Raw => {
                let origins = self.focused_origins();
                (!origins.is_empty())
                    .then_some(Effect::ShowRecords(origins))
                    .into_iter()
                    .collect()
            }
            Action::Inspect(tab) => {
                self.with_panes(|panes, scene| {
                    inspector::actions::choose(panes.inspector, panes.text, scene, tab);
                });
                Vec::new()
            }
            Action::Panes(change) => {
                let (frame, here) = (self.frame(), self.focused());
                let moved = self.panes.change(&frame, here, &mut self.screen, change);
                self.fit_divider(moved);
                Vec::new()
            }
            Action::View(view) => {
                self.open(view);
                Vec::new()
            }
            action => self.with_text(|pane, scene| text::actions::act(pane, scene, action)),
        }
    }

    /// Moves the divider of a pane to a column of the screen.
    pub(crate) fn drag_divider(&mut self, pane: Pane, column: u16) {
        let frame = self.frame();
        self.panes.drag_divider(&frame, pane, column);
        self.fit_divider(Some(pane));
    }

    fn fit_divider(&mut self, moved: Option<Pane>) {
        if let Some(pane) = moved {
            let frame = self.frame();
            self.panes.fit(&frame, pane);
        }
        self.text.invalidate_rows();
    }

    /// Opens a view, or closes it if it is open.
    fn open(&mut self, view: View) {
        self.with_panes(|panes, scene| views::actions::open(panes.views, panes.text, scene, view));
    }

    /// Goes to the end, and follows.
    fn follow(&mut self) {
        self.text.unseen = 0;
        self.text.view.push_motion(Motion::Tail);
    }

    fn focused_origins(&self) -> Vec<crate::model::record::Origin> {
        let focus = self.text.view.focus;
        focus.map_or_else(Vec::new, |focus| {
            clipboard::origins_of(&self.session, &[focus])
        })
    }
}
