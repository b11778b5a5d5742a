//! What actions do to the inspector, and what it is made of before a frame.

use super::Made;
use super::call;
use super::context;
use super::item;
use super::page::{Page, Take};
use super::raw;
use super::raw::Records;
use super::seek_item;
use super::subject;
use super::subject::Subject;
use super::timing;
use super::why;
use super::words;
use crate::analysis::calls::Place;
use crate::app::action::Tab;
use crate::app::action::{Action, What};
use crate::app::clipboard;
use crate::app::effect::Effect;
use crate::app::excerpt::{self, Excerpt};
use crate::app::layout;
use crate::app::layout::Frame;
use crate::app::moving;
use crate::app::paging::Paging;
use crate::app::panes::{self, Pane};
use crate::app::portions::BLOCKS;
use crate::app::reader::Reader;
use crate::app::viewport::{Focus, Motion};
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::render::row::Look;

/// The inspector follows the cursor when that has rested for so long, in ms.
const REST_MS: i64 = 40;

/// Rows of records among which the first is looked for that the item shows.
const RECORD_ROWS: usize = 1_000;

/// Rows of an item at most; what is beyond them is in the file, one key (`v`) away.
const MOST_ROWS: usize = 20_000;

/// Earlier calls with the same arguments that are looked for.
const EARLIER: usize = 16;

/// Collects what is known of the focused item, as far as it is in sight.
pub fn arrange(reader: &mut Reader, frame: &Frame) -> Vec<Effect> {
    let is_shown = frame.inspector.width > 1 && frame.inspector.height > 1;
    if !is_shown {
        reader.inspector.moved = None;
        return Vec::new();
    }
    let Some(focus) = next_item(reader, frame.is_pushed) else { return Vec::new() };
    let height = usize::from(frame.inspector.height).saturating_sub(1);
    let seen = if reader.inspector.tab == Tab::Raw { RECORD_ROWS } else { 0 };
    let wanted = reader.inspector.top.saturating_add(height + 1).max(seen);
    let known = reader.inspector.made.map_or(0, |made| made.limit);
    // Twice as many each time, so that scrolling to the end costs no more than what is seen on the way.
    let limit = if wanted > known { wanted.saturating_mul(2).min(MOST_ROWS) } else { known };
    let made = Made {
        focus,
        tab: reader.inspector.tab,
        width: frame.inspector.width.saturating_sub(2),
        limit,
        generation: reader.session.indexes.generation,
        colours: reader.text.colours_seen,
        second: if is_running(reader, focus) { reader.screen.now.0 / 1_000 } else { 0 },
    };
    let mut effects = Vec::new();
    if reader.inspector.made != Some(made) {
        effects = make(reader, made);
    }
    seek_item(&mut reader.inspector, height);
    let rows = reader.inspector.rows.len();
    let inspector = &mut reader.inspector;
    inspector.at = inspector.at.min(rows.saturating_sub(1));
    inspector.top = inspector.top.min(rows.saturating_sub(height));
    effects
}

/// The item to show: the focused one, once the cursor rests; until then the one before.
fn next_item(reader: &mut Reader, is_pushed: bool) -> Option<Focus> {
    let focus = reader.text.view.focus?;
    let shown = reader.inspector.shown();
    if shown == Some(focus) {
        reader.inspector.moved = None;
        return Some(focus);
    }
    let is_there = shown.is_some_and(|shown| reader.session.transcript.get(shown.entry).is_some());
    if is_there && !is_pushed {
        let due = match reader.inspector.moved {
            Some((to, due)) if to == focus => due,
            _ => Timestamp(reader.screen.now.0.saturating_add(REST_MS)),
        };
        if reader.screen.now < due {
            reader.inspector.moved = Some((focus, due));
            return shown;
        }
    }
    reader.inspector.moved = None;
    (reader.inspector.top, reader.inspector.at) = (0, 0);
    reader.inspector.seeks_item = true;
    reader.inspector.made = None;
    reader.inspector.focus = Some(focus);
    Some(focus)
}

fn is_running(reader: &Reader, focus: Focus) -> bool {
    let entry = reader.session.transcript.get(focus.entry);
    let call = entry.and_then(|entry| crate::analysis::calls::call_at(entry, focus.block));
    call.is_some_and(|call| call.state.is_open())
        && reader.session.is_at_work_on(focus.entry, reader.screen.now)
}

fn make(reader: &mut Reader, made: Made) -> Vec<Effect> {
    let place = Place { entry: made.focus.entry, block: made.focus.block };
    let earlier = reader.session.indexes.calls.earlier(&reader.session.transcript, place, EARLIER);
    let turn = reader.session.indexes.account.turn_of(&reader.session.transcript, made.focus.entry);
    let turn = turn.and_then(|turn| {
        subject::Turn::of(&reader.session.transcript, &reader.session.indexes.account, turn)
    });
    let effects = ask(reader, made, &earlier.unread);
    let Some(entry) = reader.session.transcript.get(made.focus.entry) else { return effects };
    let subject =
        Subject { session: &reader.session, screen: &reader.screen, focus: made.focus, entry, earlier, turn };
    let look = Look { times: false, ..Look::full(made.width, &reader.screen.theme, &reader.screen.colours) };
    let mut page = Page::new(look, made.limit);
    match (made.tab, subject.call()) {
        (Tab::Item, Some(call)) => call::lay_out(&subject, call, &mut page),
        (Tab::Item, None) => item::lay_out(&subject, &mut page),
        (Tab::Raw, _) => raw::lay_out(&subject, reader.inspector.records.as_ref(), &mut page),
        (Tab::Diff, _) => call::diff(&subject, &mut page),
        (Tab::Context, _) => context::lay_out(&subject, &mut page),
        (Tab::Timing, _) => timing::lay_out(&subject, &mut page),
        (Tab::Why, _) => why::lay_out(&subject, &mut page),
    }
    let is_call = subject.call().is_some();
    let (rows, is_cut) = page.finish();
    reader.inspector.rows = rows;
    reader.inspector.is_cut = is_cut;
    reader.inspector.is_call = is_call;
    reader.inspector.made = Some(made);
    effects
}

/// Asks for what is on disk: bodies of the item, arguments of calls that look the same, its records.
fn ask(reader: &mut Reader, made: Made, unread: &[EntryId]) -> Vec<Effect> {
    let mut paging = Paging::default();
    for id in unread {
        if let Some(entry) = reader.session.transcript.get(*id) {
            paging.other(&mut reader.text.asked, (*id, entry), None);
        }
    }
    let Focus { entry: id, block } = made.focus;
    if let Some(entry) = reader.session.transcript.get(id) {
        paging.portion(&mut reader.text.asked, (id, entry), block / BLOCKS);
    }
    let mut effects: Vec<Effect> = paging.effect().into_iter().collect();
    let records = clipboard::origins_of(&reader.session, &[made.focus]);
    if made.tab == Tab::Raw && reader.inspector.asked.as_ref() != Some(&records) {
        reader.inspector.asked = Some(records.clone());
        reader.inspector.records = None;
        effects.push(Effect::Inspect(records));
    }
    effects
}

/// Takes records that were asked for.
pub fn take(reader: &mut Reader, records: Records) {
    reader.inspector.records = Some(records);
    reader.inspector.forget_rows();
}

/// Shows a tab, and the inspector with it.
pub fn choose(reader: &mut Reader, tab: Tab) {
    if layout::divide(reader).inspector.width == 0 {
        panes::actions::show_inspector(reader, true);
    }
    reader.inspector.tab = tab;
    reader.inspector.seeks_item = true;
    (reader.inspector.top, reader.inspector.at) = (0, 0);
}

/// What the inspector does with an action while it has the keys; `None` if that is not its own.
pub fn act(reader: &mut Reader, action: Action, times: usize) -> Option<Vec<Effect>> {
    let page = usize::from(layout::divide(reader).inspector.height).saturating_sub(2).max(1);
    let by = |n: usize| isize::try_from(n.saturating_mul(times)).unwrap_or(isize::MAX);
    match action {
        Action::Next | Action::LineDown => step(reader, by(1)),
        Action::Previous | Action::LineUp => step(reader, -by(1)),
        Action::PageDown => step(reader, by(page)),
        Action::PageUp => step(reader, -by(page)),
        Action::HalfDown => step(reader, by(page.div_ceil(2))),
        Action::HalfUp => step(reader, -by(page.div_ceil(2))),
        Action::Top => step(reader, isize::MIN / 2),
        Action::Bottom => step(reader, isize::MAX / 2),
        Action::Expand => return Some(enter(reader)),
        Action::Copy(What::Text) => return Some(copy(reader)),
        _ => return None,
    }
    Some(Vec::new())
}

/// Moves the row that the keys are on, and the rows in sight with it.
fn step(reader: &mut Reader, by: isize) {
    let height = usize::from(layout::divide(reader).inspector.height).saturating_sub(1).max(1);
    let inspector = &mut reader.inspector;
    let last = if inspector.is_cut { MOST_ROWS } else { inspector.rows.len().saturating_sub(1) };
    inspector.at = inspector.at.saturating_add_signed(by).min(last);
    if inspector.at < inspector.top {
        inspector.top = inspector.at;
    } else if inspector.at >= inspector.top + height {
        inspector.top = inspector.at + 1 - height;
    }
    show_spot(reader);
}

/// Brings the text into sight that shows what the keys are on. Another item than the shown one is left where it
/// is: the inspector would follow it.
fn show_spot(reader: &mut Reader) {
    let shown = reader.inspector.shown();
    let Some(spot) = reader.inspector.spot().filter(|spot| Some(spot.focus) == shown).cloned() else {
        return;
    };
    let rows = clipboard::actions::rows_of(reader, spot.focus);
    if let Some(row) = rows.iter().position(|row| spot.is_in(row)) {
        reader.text.view.ask(Motion::ShowRow(spot.focus, row));
    }
}

/// Goes to what the row names.
fn enter(reader: &mut Reader) -> Vec<Effect> {
    match reader.inspector.rows.get(reader.inspector.at).and_then(|fact| fact.target) {
        Some(target) => {
            reader.panes.is_pushed = false;
            reader.panes.focus = Pane::Transcript;
            moving::jump(reader, target);
        }
        None => reader.screen.say("this row names no other item"),
    }
    Vec::new()
}

/// Copies what the row is a part of: a value of the input, the output, or the row itself.
fn copy(reader: &mut Reader) -> Vec<Effect> {
    let Some(fact) = reader.inspector.rows.get(reader.inspector.at) else { return Vec::new() };
    let entry =
        reader.inspector.shown().and_then(|focus| Some((reader.session.transcript.get(focus.entry)?, focus)));
    let Some((entry, focus)) = entry else { return Vec::new() };
    let excerpt = match fact.take {
        Take::Row => Excerpt::Text(words(&fact.line)),
        Take::Value(number) => excerpt::value(entry, focus.block, number),
        Take::Output => excerpt::of(entry, focus.block, What::Result),
        Take::Text => excerpt::of(entry, focus.block, What::Text),
    };
    match excerpt {
        Excerpt::Text(text) => vec![Effect::Copy(text)],
        Excerpt::Nothing(why) => {
            reader.screen.say(why);
            Vec::new()
        }
        Excerpt::Away => {
            reader.screen.say("still being read; try again");
            Vec::new()
        }
    }
}
