//! What actions do to the pages, and what they are made of before a frame.

use super::page::{Answer, Page, Scene, Sheet};
use crate::analysis::awaited::Awaited;
use crate::app::action::Action;
use crate::app::action::View;
use crate::app::effect::Effect;
use crate::app::layout;
use crate::app::layout::Frame;
use crate::app::moving::{follow, go};
use crate::app::panes;
use crate::app::reader::Reader;
use crate::session::indexes::Needs;

/// What must be known of the session for the page that is open.
pub(crate) fn needs(reader: &Reader) -> Needs {
    let nothing = Needs::default();
    match reader.views.open() {
        None | Some(View::Transcript) => nothing,
        Some(View::Timeline) => Needs { calls: true, timeline: true, ..nothing },
        Some(View::Money) => Needs { spending: true, ..nothing },
        Some(View::Tools) => Needs { calls: true, findings: true, ..nothing },
        Some(View::Tree) => Needs { calls: true, ..nothing },
        Some(View::Context) => Needs { windows: true, ..nothing },
        Some(View::Files) => Needs { files: true, ..nothing },
        Some(View::Checks) => Needs { findings: true, ..nothing },
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
        findings: &reader.session.indexes.findings,
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
