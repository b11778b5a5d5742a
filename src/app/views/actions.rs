//! The views as a pane: arranging the open page before a frame, and the effects of actions.

use super::Views;
use super::page::{Answer, Page, PageScene, Sheet};
use crate::analysis::calls::awaited::Awaited;
use crate::app::effect::Effect;
use crate::app::input::action::{Action, View};
use crate::app::layout::Frame;
use crate::app::panes::Pane;
use crate::app::scene::{Ask, Scene};
use crate::app::side_pane::SidePane;
use crate::app::text::TextPane;
use crate::app::text::find::{Edge, PendingHit, search};
use crate::app::text::jumps::{go_to_item, pair};
use crate::app::text::paging::effect;
use crate::app::text::viewport::Focus;
use crate::listing::call::CallScene;
use crate::model::entry::EntryId;
use crate::session::indexes::Needs;
use crate::session::paging::Paging;

/// Maximum number of entries whose bodies are requested at once for a page.
const READ_AT_ONCE: usize = 32;

impl SidePane for Views {
    fn needs(&self, _: &Frame) -> Needs {
        let page = self.open().and_then(|open| self.pages.get(&open));
        page.map_or_else(Needs::default, |page| page.needs())
    }

    /// Lays out the open page. The transcript has already settled the reader's position.
    fn arrange(&mut self, text: &mut TextPane, scene: &Scene<'_>, _: &Frame) -> Vec<Effect> {
        text.page_item = None;
        if self.open().is_none() {
            return Vec::new();
        }
        let here = text.view.focus;
        let leads = std::mem::take(&mut self.leads);
        let has_moved = !leads && self.synced_focus != here;
        // While indexes are behind, the row of the reader's position may not exist yet, so the
        // search for it is repeated.
        self.synced_focus = here.filter(|_| !has_moved || !scene.session.indexes.is_behind);
        let sheet = with_page(self, text, scene, |page, scene| {
            let legend = scene.legend(&page.legend(scene.theme));
            // The first call updates the page, so that `look_at` finds new rows.
            let sheet = page.arrange(scene);
            let mut sheet = match here.filter(|_| has_moved) {
                Some(focus) => {
                    page.choose_focus(scene, focus);
                    page.arrange(scene)
                }
                None => sheet,
            };
            // On an empty page there is nothing to explain.
            let has_rows = sheet.rows.iter().any(|row| row.is_chosen);
            sheet.foot.extend(legend.filter(|_| has_rows));
            let hints = page.hints();
            (sheet, hints, page.bodies(scene), page.target(scene))
        });
        let bodies;
        (self.sheet, self.hints, bodies, text.page_item) = sheet.unwrap_or_default();
        read(text, scene, &bodies).into_iter().collect()
    }

    /// Passes an action to the open page.
    fn act(
        &mut self,
        text: &mut TextPane,
        scene: &mut Scene<'_>,
        action: Action,
        times: usize,
    ) -> Option<Vec<Effect>> {
        if matches!(action, Action::Cancel | Action::Quit) {
            self.open()?;
            pop_view(self, text, scene);
            return Some(Vec::new());
        }
        let (answer, has_end) = with_page(self, text, scene, |page, scene| {
            (page.act(scene, action, times), page.ends_with_session())
        })?;
        match answer {
            Answer::Pass if action == Action::Expand => enter(self, text, scene),
            // The counterpart is shown in the text.
            Answer::Pass if action == Action::Pair && self.open() == Some(View::Checks) => {
                enter(self, text, scene);
                pair(text, scene);
            }
            // The text behind a page does not scroll for it.
            Answer::Pass if matches!(action, Action::Sideways(_)) => {
                scene.set_status(
                    "a page cuts its rows; its foot and the inspector have more of them",
                );
            }
            // Nor does its detail change unseen.
            Answer::Pass if is_detail(action) && text.frame(scene).covers => {
                scene.set_status("this page has one level of detail; 1 shows the text");
            }
            // What is done with an item is done with that of the chosen row, even before the first movement.
            Answer::Pass => {
                if is_of_item(action) {
                    move_reader(self, text, scene);
                }
                return None;
            }
            Answer::Message(words) => scene.set_status(words),
            Answer::Go(target) => show(self, text, scene, target),
            Answer::Open(place, entry) => {
                let text = None;
                return Some(vec![Effect::OpenAt { place, entry, text }]);
            }
            Answer::Done if action == Action::Bottom && has_end => scene.requests.push(Ask::Follow),
            Answer::Done => move_reader(self, text, scene),
            Answer::Unfolded => {}
        }
        Some(Vec::new())
    }
}

/// Whether an action changes the detail of the text.
fn is_detail(action: Action) -> bool {
    matches!(
        action,
        Action::LevelUp | Action::LevelDown | Action::Level(_)
    )
}

/// Whether an action takes or follows the item in focus.
fn is_of_item(action: Action) -> bool {
    matches!(
        action,
        Action::Copy(_)
            | Action::Edit
            | Action::FirstSeen
            | Action::Mention(_)
            | Action::Pipe
            | Action::Raw
            | Action::SameId(_)
    )
}

/// Requests bodies that are on disk, for at most [`READ_AT_ONCE`] entries.
fn read(text: &mut TextPane, scene: &Scene<'_>, entries: &[EntryId]) -> Option<Effect> {
    let mut paging = Paging::default();
    let unasked: Vec<EntryId> = entries
        .iter()
        .copied()
        .filter(|id| !text.pending_pages.has(*id))
        .collect();
    for id in unasked.into_iter().take(READ_AT_ONCE) {
        if let Some(entry) = scene.session.transcript.get(id) {
            paging.other(&mut text.pending_pages, (id, entry), None);
        }
    }
    effect(paging)
}

/// Opens a view, or leaves it if it is already on top. The transcript is below all views, so
/// opening it closes them.
pub(crate) fn open(views: &mut Views, text: &mut TextPane, scene: &mut Scene<'_>, view: View) {
    scene.requests.push(Ask::ShowText);
    if view == View::Transcript {
        return close(views, text, scene);
    }
    if views.open() == Some(view) {
        return pop_view(views, text, scene);
    }
    if views.stack.is_empty() {
        text.remember_place(scene.session);
        views.lanes = Some(text.open_lanes.clone());
    }
    views.stack.retain(|open| *open != view);
    views.stack.push(view);
    views.synced_focus = None;
    scene.requests.push(Ask::Focus(Pane::View));
    text.invalidate_rows();
    if view == View::Hits && text.find.search.is_none() {
        search::act(text, scene, Action::Search);
    }
}

fn close(views: &mut Views, text: &mut TextPane, scene: &mut Scene<'_>) {
    views.stack.clear();
    views.lanes = None;
    views.sheet = Sheet::default();
    scene.view = None;
    scene.requests.push(Ask::Focus(Pane::Transcript));
    text.invalidate_rows();
}

/// Returns to the view that was open before.
fn pop_view(views: &mut Views, text: &mut TextPane, scene: &mut Scene<'_>) {
    views.stack.pop();
    views.synced_focus = None;
    if views.stack.is_empty() {
        close(views, text, scene);
    }
}

/// Calls `work` with the open page and its scene. `None` if no page is open.
fn with_page<T>(
    views: &mut Views,
    text: &TextPane,
    scene: &Scene<'_>,
    work: impl FnOnce(&mut dyn Page, &mut PageScene<'_>) -> T,
) -> Option<T> {
    let mut around = page_scene(text, scene);
    let page = views.pages.get_mut(views.stack.last()?)?;
    Some(work(page.as_mut(), &mut around))
}

fn page_scene<'a>(text: &'a TextPane, scene: &Scene<'a>) -> PageScene<'a> {
    let page = text.frame(scene).view;
    let session = scene.session;
    PageScene {
        transcript: &session.transcript,
        indexes: &session.indexes,
        calls: CallScene {
            transcript: &session.transcript,
            calls: &session.indexes.calls,
            carried: &session.indexes.carried,
            findings: &session.indexes.findings,
            awaited: Awaited::of(&session.transcript),
            is_at_work: session.is_at_work(scene.screen.now),
            now: scene.screen.now,
        },
        findings: &session.indexes.findings,
        checks: scene.checks,
        theme: &scene.screen.theme,
        colours: &scene.screen.colours,
        width: usize::from(page.width),
        height: usize::from(page.height),
        now: scene.screen.now,
        activity: &session.status.activity,
        is_at_work: session.is_at_work(scene.screen.now),
        is_whole: !session.is_part() && session.file.is_caught_up,
        focus: text.view.focus,
        follows: text.view.follows(),
        search: text.find.search.as_ref(),
        filter: text.find.filter.as_ref(),
        compared: text.compared.as_ref(),
    }
}

/// Chooses a row of the page by a mouse click. A second click on the chosen row enters it.
pub(crate) fn press(
    views: &mut Views,
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    line: usize,
    is_double: bool,
) {
    let row = line.checked_sub(1 + views.sheet.heads.len());
    let Some(number) = row
        .and_then(|row| views.sheet.rows.get(row))
        .map(|row| row.number)
    else {
        return;
    };
    scene.requests.push(Ask::Focus(Pane::View));
    with_page(views, text, scene, |page, _| page.choose(number));
    move_reader(views, text, scene);
    if is_double {
        views.act(text, scene, Action::Expand, 1);
    }
}

/// Goes to the target of the chosen row and closes the views.
fn enter(views: &mut Views, text: &mut TextPane, scene: &mut Scene<'_>) {
    let is_hit = views.open() == Some(View::Hits);
    match with_page(views, text, scene, |page, scene| page.target(scene)).flatten() {
        Some(target) => {
            move_reader(views, text, scene);
            show(views, text, scene, target);
            if is_hit {
                text.find.sought = Some(PendingHit {
                    block: Some((target, Edge::First)),
                    steps: 0,
                });
            }
        }
        None => scene.set_status("this leads nowhere"),
    }
}

/// Shows an item in the text, and closes the views if they cover it.
fn show(views: &mut Views, text: &mut TextPane, scene: &mut Scene<'_>, target: Focus) {
    if text.frame(scene).covers {
        close(views, text, scene);
    } else {
        scene.requests.push(Ask::Focus(Pane::Transcript));
    }
    go_to_item(text, scene, target);
}

/// Moves the reader to the target of the chosen row. Only the target's sub-agent is unfolded, not
/// those of rows that the cursor passed.
fn move_reader(views: &mut Views, text: &mut TextPane, scene: &mut Scene<'_>) {
    let Some(target) = with_page(views, text, scene, |page, scene| page.target(scene)).flatten()
    else {
        return;
    };
    if text.view.focus == Some(target) {
        return;
    }
    if let Some(lanes) = &views.lanes
        && *lanes != text.open_lanes
    {
        text.open_lanes.clone_from(lanes);
        text.stale.sequence = true;
        text.cache.clear();
    }
    go_to_item(text, scene, target);
    views.leads = true;
}
