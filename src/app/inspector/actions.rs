//! The inspector as a side pane: layout and actions.

use super::inspected::InspectedItem;
use super::page::{PageBuilder, RowCopy};
use super::{
    Inspector, RowsKey, call, context, inspected, item, raw, seek_item, timing, why, words,
};
use crate::app::copying::clipboard;
use crate::app::copying::excerpt::{self, ItemText};
use crate::app::effect::Effect;
use crate::app::input::action::{Action, CopyTarget, Tab};
use crate::app::layout::Frame;
use crate::app::panes::Pane;
use crate::app::scene::{Ask, Scene};
use crate::app::side_pane::SidePane;
use crate::app::text::TextPane;
use crate::app::text::paging::effect;
use crate::app::text::viewport::{Focus, Motion};
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::render::row::{Look, Times};
use crate::session::indexes::Needs;
use crate::session::paging::{BLOCKS, Paging};

/// Time in ms for which the text's cursor must rest before the inspector follows it.
const REST_MS: i64 = 40;

/// Rows of records that are searched for the first value that the item shows.
const RECORD_ROWS: usize = 1_000;

/// Maximum number of rows of an item; `v` opens the file for the rest.
const MOST_ROWS: usize = 20_000;

/// Maximum number of earlier equal calls to search for.
const EARLIER: usize = 16;

impl SidePane for Inspector {
    fn needs(&self, frame: &Frame) -> Needs {
        let is_shown = frame.inspector.width > 1 && frame.inspector.height > 1;
        Needs {
            calls: is_shown,
            ..Needs::default()
        }
    }

    /// Builds the rows of the focused item, as far as they are visible.
    fn arrange(&mut self, text: &mut TextPane, scene: &Scene<'_>, frame: &Frame) -> Vec<Effect> {
        let is_shown = frame.inspector.width > 1 && frame.inspector.height > 1;
        if !is_shown {
            self.moved = None;
            return Vec::new();
        }
        let Some(focus) = next_item(self, text, scene, frame.is_pushed) else {
            return Vec::new();
        };
        let height = usize::from(frame.inspector.height).saturating_sub(1);
        let seen = if self.tab == Tab::Raw { RECORD_ROWS } else { 0 };
        let wanted = self.top.saturating_add(height + 1).max(seen);
        let known = self.rows_key.map_or(0, |made| made.limit);
        // Doubles the limit each time, so that scrolling to the end costs O(n).
        let limit = if wanted > known {
            wanted.saturating_mul(2).min(MOST_ROWS)
        } else {
            known
        };
        let made = RowsKey {
            focus,
            tab: self.tab,
            width: frame.inspector.width.saturating_sub(2),
            limit,
            generation: scene.session.indexes.generation,
            colours: text.stale.colours_seen,
            look: text.stale.look_generation,
            second: if is_running(scene, focus) {
                scene.screen.now.0 / 1_000
            } else {
                0
            },
        };
        let mut effects = Vec::new();
        if self.rows_key != Some(made) {
            effects = make(self, text, scene, made);
        }
        seek_item(self, height);
        let rows = self.rows.len();
        self.at = self.at.min(rows.saturating_sub(1));
        self.top = self.top.min(rows.saturating_sub(height));
        effects
    }

    fn act(
        &mut self,
        text: &mut TextPane,
        scene: &mut Scene<'_>,
        action: Action,
        times: usize,
    ) -> Option<Vec<Effect>> {
        let page = usize::from(text.frame(scene).inspector.height)
            .saturating_sub(2)
            .max(1);
        if let Some(by) = action.steps(page, times) {
            step(self, text, scene, by);
            return Some(Vec::new());
        }
        match action {
            Action::Expand => Some(enter(self, scene)),
            Action::Copy(CopyTarget::Text) => Some(copy(self, scene)),
            _ => None,
        }
    }
}

/// Returns the item to show: the focused one once the cursor rests, until then the previous one.
fn next_item(
    inspector: &mut Inspector,
    text: &mut TextPane,
    scene: &Scene<'_>,
    is_pushed: bool,
) -> Option<Focus> {
    let focus = text.page_item.or(text.view.focus)?;
    let shown = inspector.focus;
    if shown == Some(focus) {
        inspector.moved = None;
        return Some(focus);
    }
    let is_there = shown.is_some_and(|shown| scene.session.transcript.get(shown.entry).is_some());
    if is_there && !is_pushed {
        let due = match inspector.moved {
            Some((to, due)) if to == focus => due,
            _ => Timestamp(scene.screen.now.0.saturating_add(REST_MS)),
        };
        if scene.screen.now < due {
            inspector.moved = Some((focus, due));
            return shown;
        }
    }
    inspector.moved = None;
    (inspector.top, inspector.at) = (0, 0);
    inspector.seeks_item = true;
    inspector.rows_key = None;
    inspector.focus = Some(focus);
    Some(focus)
}

fn is_running(scene: &Scene<'_>, focus: Focus) -> bool {
    let entry = scene.session.transcript.get(focus.entry);
    let call = entry.and_then(|entry| entry.call(focus.block));
    call.is_some_and(|call| scene.session.runs(focus.entry, call, scene.screen.now))
}

fn make(
    inspector: &mut Inspector,
    text: &mut TextPane,
    scene: &Scene<'_>,
    made: RowsKey,
) -> Vec<Effect> {
    let earlier = scene.session.indexes.calls.earlier(made.focus, EARLIER);
    let turn = scene
        .session
        .indexes
        .account
        .turn_of(&scene.session.transcript, made.focus.entry);
    let turn = turn.and_then(|turn| {
        inspected::TurnSummary::of(
            &scene.session.transcript,
            &scene.session.indexes.account,
            turn,
        )
    });
    let effects = request_bodies(inspector, text, scene, made, &earlier.unread);
    let Some(entry) = scene.session.transcript.get(made.focus.entry) else {
        return effects;
    };
    let subject = InspectedItem {
        session: scene.session,
        screen: scene.screen,
        focus: made.focus,
        entry,
        earlier,
        turn,
    };
    let look = Look {
        times: Times::None,
        ..Look::full(made.width, &scene.screen.theme, &scene.screen.colours)
    };
    let mut page = PageBuilder::new(look, made.limit);
    match (made.tab, subject.call()) {
        (Tab::Item, Some(call)) => call::lay_out(&subject, call, &mut page),
        (Tab::Item, None) => item::lay_out(&subject, &mut page),
        (Tab::Raw, _) => raw::lay_out(&subject, inspector.records.as_ref(), &mut page),
        (Tab::Diff, _) => call::diff(&subject, &mut page),
        (Tab::Context, _) => context::lay_out(&subject, &mut page),
        (Tab::Timing, _) => timing::lay_out(&subject, &mut page),
        (Tab::Why, _) => why::lay_out(&subject, &mut page),
    }
    let is_call = subject.call().is_some();
    let (rows, is_cut) = page.finish();
    inspector.rows = rows;
    inspector.is_cut = is_cut;
    inspector.is_call = is_call;
    inspector.rows_key = Some(made);
    effects
}

/// Requests bodies of the item, arguments of calls that may be equal, and its records, as far as
/// they are on disk.
fn request_bodies(
    inspector: &mut Inspector,
    text: &mut TextPane,
    scene: &Scene<'_>,
    made: RowsKey,
    unread: &[EntryId],
) -> Vec<Effect> {
    let mut paging = Paging::default();
    for id in unread {
        if let Some(entry) = scene.session.transcript.get(*id) {
            paging.other(&mut text.pending_pages, (*id, entry), None);
        }
    }
    let Focus { entry: id, block } = made.focus;
    if let Some(entry) = scene.session.transcript.get(id) {
        paging.portion(&mut text.pending_pages, (id, entry), block / BLOCKS);
    }
    let mut effects: Vec<Effect> = effect(paging).into_iter().collect();
    let records = clipboard::origins_of(scene.session, &[made.focus]);
    if made.tab == Tab::Raw && inspector.requested.as_ref() != Some(&records) {
        inspector.requested = Some(records.clone());
        inspector.records = None;
        effects.push(Effect::Inspect(records));
    }
    effects
}

/// Shows a tab, and the inspector if it is hidden.
pub fn choose(inspector: &mut Inspector, text: &mut TextPane, scene: &mut Scene<'_>, tab: Tab) {
    if text.frame(scene).inspector.width == 0 {
        scene.requests.push(Ask::ShowInspector(true));
    }
    inspector.tab = tab;
    inspector.seeks_item = true;
    (inspector.top, inspector.at) = (0, 0);
}

/// Moves the cursor, and scrolls to keep it visible.
fn step(inspector: &mut Inspector, text: &mut TextPane, scene: &mut Scene<'_>, by: isize) {
    let height = usize::from(text.frame(scene).inspector.height)
        .saturating_sub(1)
        .max(1);
    let last = if inspector.is_cut {
        MOST_ROWS
    } else {
        inspector.rows.len().saturating_sub(1)
    };
    inspector.at = inspector.at.saturating_add_signed(by).min(last);
    if inspector.at < inspector.top {
        inspector.top = inspector.at;
    } else if inspector.at >= inspector.top + height {
        inspector.top = inspector.at + 1 - height;
    }
    show_location(inspector, text, scene);
}

/// Scrolls the text to the value of the cursor's row. Only within the inspected item, since the inspector would follow
/// another one.
fn show_location(inspector: &mut Inspector, text: &mut TextPane, scene: &mut Scene<'_>) {
    let shown = inspector.focus;
    let Some(spot) = inspector
        .location()
        .filter(|spot| Some(spot.focus) == shown)
        .cloned()
    else {
        return;
    };
    let rows = clipboard::actions::rows_of(text, scene, spot.focus);
    if let Some(row) = rows.iter().position(|row| spot.is_in(row)) {
        scene
            .requests
            .push(Ask::Motion(Motion::ShowRow(spot.focus, row)));
    }
}

/// Jumps to the item that the row leads to.
fn enter(inspector: &mut Inspector, scene: &mut Scene<'_>) -> Vec<Effect> {
    match inspector
        .rows
        .get(inspector.at)
        .and_then(|fact| fact.target)
    {
        Some(target) => {
            scene.requests.extend([
                Ask::ShowText,
                Ask::Focus(Pane::Transcript),
                Ask::Jump(target),
            ]);
        }
        None => scene.set_status("this row names no other item"),
    }
    Vec::new()
}

/// Copies the row's value: a value of the input, the output, or the row itself.
fn copy(inspector: &mut Inspector, scene: &mut Scene<'_>) -> Vec<Effect> {
    let Some(fact) = inspector.rows.get(inspector.at) else {
        return Vec::new();
    };
    let entry = inspector
        .focus
        .and_then(|focus| Some((scene.session.transcript.get(focus.entry)?, focus)));
    let Some((entry, focus)) = entry else {
        return Vec::new();
    };
    let excerpt = match fact.take {
        RowCopy::Row => ItemText::Text(words(&fact.line)),
        RowCopy::Value(number) => excerpt::value(entry, focus.block, number),
        RowCopy::Output => excerpt::of(entry, focus.block, CopyTarget::Result),
        RowCopy::Text => excerpt::of(entry, focus.block, CopyTarget::Text),
    };
    match excerpt {
        ItemText::Text(text) => vec![Effect::Copy(text)],
        ItemText::Nothing(why) => {
            scene.set_status(why);
            Vec::new()
        }
        ItemText::OnDisk => {
            scene.set_status("still being read; try again");
            Vec::new()
        }
    }
}
