//! A session on the screen: the session, all panes that show it, and what actions do to them.

mod apply;

use std::sync::Arc;

use super::alarms::{self, Alarms};
use super::checks::Checks;
use super::copying::clipboard;
use super::effect::Effect;
use super::input::action::{Action, View};
use super::inspector::{self, Inspector};
use super::layout::{Frame, Wishes};
use super::outline::Outline;
use super::panes::{Pane, Panes};
use super::scene::{Ask, Scene};
use super::screen::Screen;
use super::side_pane::SidePane;
use super::text::moving::{go_to_left, go_to_wanted, jump, scroll};
use super::text::places::{Trail, marks};
use super::text::viewport::{Motion, Viewport};
use super::text::{self, TextPane, runs};
use super::views::{self, Views};
use crate::analysis::calls::{Place, call_at};
use crate::model::timestamp::Timestamp;
use crate::render::code::Colours;
use crate::render::row::Level;
use crate::render::theme::Theme;
use crate::session::Session;

/// A session and its panes. Several of them do not know of each other.
pub struct Reader {
    /// The session.
    pub session: Session,
    /// The window onto its text.
    pub text: TextPane,
    /// What is wrong with the session, or may be.
    pub checks: Checks,
    /// The outline.
    pub outline: Outline,
    /// All about the focused item.
    pub inspector: Inspector,
    /// Pages over the transcript.
    pub views: Views,
    /// Alarms that the reader set.
    pub alarms: Alarms,
    /// Which panes are shown, how wide, and which has the keys.
    pub panes: Panes,
    /// The part of the screen that they have, and how it looks.
    pub screen: Screen,
    /// How things were before a digit opened a view that may be a count.
    before_view: Option<BeforeView>,
    /// What panes ask of the viewer, until it answers.
    pub(crate) asks: Vec<Ask>,
}

/// How things were before a digit opened a view.
struct BeforeView {
    views: views::Standing,
    panes: Panes,
    /// The places that were jumped from, and where the text was; nothing if the session has changed since.
    place: Option<(Trail, Viewport)>,
}

/// The panes, each to be changed by itself, while the session is only read.
pub(crate) struct Lent<'a> {
    pub(crate) text: &'a mut TextPane,
    pub(crate) outline: &'a mut Outline,
    pub(crate) inspector: &'a mut Inspector,
    pub(crate) views: &'a mut Views,
    pub(crate) alarms: &'a mut Alarms,
}

impl Reader {
    /// Nothing read yet.
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
            before_view: None,
            asks: Vec::new(),
        }
    }

    /// Where the parts of the screen are.
    pub fn frame(&self) -> Frame {
        self.wishes().divide()
    }

    /// The pane that has the keys.
    pub fn focused(&self) -> Pane {
        self.wishes().focused()
    }

    fn wishes(&self) -> Wishes<'_> {
        let Self {
            session,
            screen,
            panes,
            views,
            text,
            ..
        } = self;
        let margin = text.margin(&session.transcript);
        Wishes {
            screen,
            panes,
            view: views.open(),
            margin,
        }
    }

    /// Whether a call still runs.
    pub(crate) fn is_running(&self, place: Place) -> bool {
        let call = self
            .session
            .transcript
            .get(place.entry)
            .and_then(|entry| call_at(entry, place.block));
        call.is_some_and(|call| self.session.runs(place.entry, call, self.screen.now))
    }

    /// Whether what is shown changes with every second: a second hand, or a message that goes away. The
    /// clocks of calls run only while the agent is at work.
    pub fn ticks(&self) -> bool {
        let is_at_work = self.session.is_at_work(self.screen.now);
        is_at_work || self.screen.message.is_some() || self.alarms.needs_clock()
    }

    /// Whether the next frame would show more, though nothing has happened.
    pub fn is_unfinished(&self) -> bool {
        let seeks_runs = self.session.file.is_caught_up && runs::are_sought(&self.text);
        seeks_runs || self.session.indexes.is_behind() || self.outline.is_behind()
    }

    /// Lends the panes with what stands around them, and answers what they ask for.
    pub(crate) fn lend<T>(&mut self, work: impl FnOnce(Lent<'_>, &mut Scene<'_>) -> T) -> T {
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
            asks: Vec::new(),
        };
        let done = work(
            Lent {
                text,
                outline,
                inspector,
                views,
                alarms,
            },
            &mut scene,
        );
        for ask in scene.asks {
            self.answer(ask);
        }
        done
    }

    /// Lends the text alone.
    pub fn with_text<T>(&mut self, work: impl FnOnce(&mut TextPane, &mut Scene<'_>) -> T) -> T {
        self.lend(|lent, scene| work(lent.text, scene))
    }

    fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Say(words) => self.screen.say(words),
            Ask::Focus(pane) => self.panes.focus = pane,
            Ask::ShowText => self.panes.is_pushed = false,
            Ask::Jump(focus) => self.with_text(|text, scene| jump(text, scene, focus)),
            Ask::Motion(motion) => self.text.view.ask(motion),
            Ask::ShowInspector(is_shown) => {
                self.panes.show_inspector(&self.screen, is_shown);
                self.text.look_changed();
            }
            Ask::Follow => self.follow(),
            Ask::Enter(_) | Ask::Keep(..) | Ask::Act(_) | Ask::Order(_) => self.asks.push(ask),
        }
    }

    /// Looks whether what is watched has come about.
    pub(crate) fn look_out(&mut self) -> Vec<Effect> {
        alarms::actions::look(&mut self.alarms, &mut self.session, &mut self.screen)
    }

    /// What the pane that has the keys does with an action, if that is its own.
    pub(crate) fn act_in_pane(&mut self, action: Action, times: usize) -> Option<Vec<Effect>> {
        let pane = match self.focused() {
            // The page below it is what was opened last.
            Pane::Transcript if action == Action::Quit => Pane::View,
            pane => pane,
        };
        // Beside the text there is nothing to fold with it.
        let action = match (pane, action) {
            (Pane::Outline | Pane::View | Pane::Inspector, Action::Unfold) => Action::Expand,
            (_, action) => action,
        };
        self.act_in(pane, action, times)
            .or_else(|| self.leave(pane, action))
    }

    /// What a pane does with an action, if that is its own.
    pub(crate) fn act_in(
        &mut self,
        pane: Pane,
        action: Action,
        times: usize,
    ) -> Option<Vec<Effect>> {
        self.lend(|lent, scene| {
            let Lent {
                text,
                outline,
                views,
                inspector,
                ..
            } = lent;
            let pane: &mut dyn SidePane = match pane {
                Pane::Transcript => return None,
                Pane::Outline => outline,
                Pane::View => views,
                Pane::Inspector => inspector,
            };
            pane.act(text, scene, action, times)
        })
    }

    /// From a pane beside it back to the transcript.
    fn leave(&mut self, pane: Pane, action: Action) -> Option<Vec<Effect>> {
        let is_left = matches!(pane, Pane::Outline | Pane::Inspector);
        (is_left && matches!(action, Action::Cancel | Action::Quit))
            .then(|| self.panes.leave(pane))?;
        Some(Vec::new())
    }

    /// Carries out an action on the session so many times.
    pub fn act(&mut self, action: Action, times: usize) -> Vec<Effect> {
        match action {
            Action::Top => {
                self.text.remember_place(&self.session);
                // As far up as there is something now, and further as soon as it is read.
                self.text.places.wants_beginning = self.session.is_read_beside();
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
                    marks::travel(text, scene, is_back);
                };
                (0..times.min(1_000)).for_each(|_| self.with_text(travel));
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
                self.lend(|lent, scene| {
                    inspector::actions::choose(lent.inspector, lent.text, scene, tab);
                });
                Vec::new()
            }
            Action::Panes(change) => {
                let (frame, here) = (self.frame(), self.focused());
                let moved = self
                    .panes
                    .change(&frame, here, &mut self.screen, change, times);
                self.fit_divider(moved);
                Vec::new()
            }
            Action::View(view) => {
                self.open(view);
                Vec::new()
            }
            action => self.with_text(|pane, scene| text::actions::act(pane, scene, action, times)),
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
        self.text.look_changed();
    }

    /// Opens a view, or leaves it if it is open.
    fn open(&mut self, view: View) {
        self.lend(|lent, scene| views::actions::open(lent.views, lent.text, scene, view));
    }

    /// Keeps how things are, before a digit opens a view that may turn out to be a count.
    pub(crate) fn try_view(&mut self) {
        self.before_view = Some(BeforeView {
            views: self.views.standing(),
            panes: self.panes,
            place: Some((self.text.places.trail().clone(), self.text.view.clone())),
        });
    }

    /// The digit that opened a view was a count: all is as it was.
    pub(crate) fn take_view_back(&mut self) {
        if let Some(BeforeView {
            views,
            panes,
            place,
        }) = self.before_view.take()
        {
            self.panes = panes;
            if let Some((trail, view)) = place {
                self.text.places.go_by(trail);
                self.text.view = view;
            }
            self.lend(|lent, scene| views::actions::stand(lent.views, lent.text, scene, views));
        }
    }

    /// To the end, and on with it.
    fn follow(&mut self) {
        self.text.unseen = 0;
        self.text.view.ask(Motion::Tail);
    }

    fn focused_origins(&self) -> Vec<crate::model::record::Origin> {
        let focus = self.text.view.focus;
        focus.map_or_else(Vec::new, |focus| {
            clipboard::origins_of(&self.session, &[focus])
        })
    }
}
