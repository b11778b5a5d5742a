//! Commands are typed, completed and carried out.

use super::Choice;
use super::Palette;
use super::choices;
use crate::app::command::{Command, Place, Setting};
use crate::app::effect::Effect;
use crate::app::mode::Mode;
use crate::app::moving::jump;
use crate::app::panes::actions::{show_inspector, show_outline};
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::app::viewport::Focus;
use crate::app::wrapping;
use crate::model::entry::{Entry, EntryId};
use crate::model::record::FileId;
use crate::render::row::Level;
use tui_input::{Input, InputRequest};

/// Opens the command line.
pub fn open(app: &mut App) {
    let palette = Palette { choices: choices(&app.keys.keymap, ""), ..Palette::default() };
    app.mode = Mode::Palette(palette);
}

/// Changes the line; what could be meant follows.
pub(crate) fn type_on(app: &mut App, request: InputRequest) {
    let Mode::Palette(palette) = &mut app.mode else { return };
    palette.input.handle(request);
    palette.choices = choices(&app.keys.keymap, palette.input.value());
    palette.selected = 0;
}

/// Completes the line to what is chosen.
pub fn complete(app: &mut App) {
    let Mode::Palette(palette) = &mut app.mode else { return };
    let Some(choice) = palette.choices.get(palette.selected) else { return };
    let gap = if choice.argument.is_empty() { "" } else { " " };
    palette.input = Input::new(format!("{}{gap}", choice.name));
    palette.choices = choices(&app.keys.keymap, palette.input.value());
    palette.selected = 0;
}

/// What the line means, else what is chosen. Closes the command line, unless an argument is missing.
pub(crate) fn accept(app: &mut App) -> Option<Command> {
    let Mode::Palette(palette) = &app.mode else { return None };
    let typed = palette.input.value().trim().to_owned();
    let is_meant = |choice: &&Choice| !typed.contains(' ') || choice.name.starts_with(&typed);
    let chosen = palette.choices.get(palette.selected).filter(is_meant).cloned();
    match (typed.parse(), chosen) {
        (Ok(command), _) => {
            app.mode = Mode::Normal;
            return Some(command);
        }
        (Err(_), Some(choice)) if choice.argument.is_empty() => {
            app.mode = Mode::Normal;
            return choice.name.parse().ok();
        }
        (Err(_), Some(_)) => complete(app),
        (Err(why), None) => {
            app.mode = Mode::Normal;
            if !typed.is_empty() {
                app.reader.screen.say(why);
            }
        }
    }
    None
}

/// Goes to a place, or says why not.
pub fn go(reader: &mut Reader, place: Place) {
    if let Place::Line(line) = place {
        return match at_line(reader, line) {
            Some(focus) => jump(reader, focus),
            None => reader.screen.say(format!("nothing is at {place}")),
        };
    }
    let entry = match place {
        Place::Entry(number) => number.checked_sub(1).and_then(|at| {
            let from = reader.session.transcript.order().get(at..)?;
            from.iter().copied().find(|id| has_rows(reader, *id))
        }),
        Place::Line(_) => None,
        Place::Percent(percent) => so_far_down(reader, u64::from(percent), 100),
        Place::Clock(clock) => {
            let focused =
                reader.text.view.focus.and_then(|focus| reader.session.transcript.get(focus.entry)?.at);
            let day = focused.unwrap_or(reader.screen.now);
            let then = day.at(clock);
            first(reader, |entry| entry.at.is_some() && entry.at >= then)
        }
        Place::Timestamp(then) => first(reader, |entry| entry.at >= Some(then)),
    };
    match entry {
        Some(entry) => jump(reader, Focus { entry, block: 0 }),
        None => reader.screen.say(format!("nothing is at {place}")),
    }
}

/// The item that a line of the session's file brought; of a line that brought none, the last one before it.
fn at_line(reader: &Reader, line: u32) -> Option<Focus> {
    let mut passing = reader.session.transcript.passing();
    let mut best: Option<(u32, Focus)> = None;
    let mut next: Option<(u32, Focus)> = None;
    let mut is_reached = false;
    // Neither what is shown nor what was told must stand in the order of the lines.
    for id in reader.text.sequence.order().iter().copied() {
        let Some(entry) = passing.get(id).filter(|entry| entry.origin.file == FileId(0)) else { continue };
        if entry.marks.trace && reader.text.level < Level::Full {
            continue;
        }
        let begins = entry.origin.line;
        if begins > line && next.is_none_or(|(nearest, _)| begins < nearest) {
            next = Some((begins, Focus { entry: id, block: 0 }));
        }
        for (block, one) in entry.blocks.iter().enumerate() {
            let bodies = one.kind.bodies().into_iter().map(|body| body.from);
            // What has no body came with the entry.
            for from in bodies.chain([entry.origin]).filter(|from| from.file == FileId(0)) {
                is_reached |= from.line >= line;
                let is_nearer = best.is_none_or(|(nearest, _)| from.line > nearest);
                if from.line <= line && is_nearer {
                    best = Some((from.line, Focus { entry: id, block }));
                }
            }
        }
    }
    // Behind the last line is nothing.
    best.filter(|_| is_reached || next.is_some()).or(next).map(|(_, focus)| focus)
}

/// Goes so far down.
pub(crate) fn go_down(reader: &mut Reader, share: u64, of: u64) {
    if let Some(entry) = so_far_down(reader, share, of) {
        jump(reader, Focus { entry, block: 0 });
    }
}

fn so_far_down(reader: &Reader, share: u64, of: u64) -> Option<EntryId> {
    let row = reader.text.heights.total() * share / of.max(1);
    let from = reader.text.sequence.order().get(reader.text.heights.place_at(row)..).unwrap_or_default();
    from.iter().copied().find(|id| has_rows(reader, *id)).or_else(|| from.first().copied())
}

/// The first shown entry for which this holds.
fn first(reader: &Reader, holds: impl Fn(&Entry) -> bool) -> Option<EntryId> {
    let is_meant =
        |id: &EntryId| has_rows(reader, *id) && reader.session.transcript.get(*id).is_some_and(&holds);
    reader.text.sequence.order().iter().copied().find(is_meant)
}

/// Whether an entry can be seen: bookkeeping has rows at the full levels only.
fn has_rows(reader: &Reader, id: EntryId) -> bool {
    let is_trace = reader.session.transcript.get(id).is_none_or(|entry| entry.marks.trace);
    reader.text.sequence.place_of(id).is_some() && (!is_trace || reader.text.level >= Level::Full)
}

/// Changes the look.
pub fn set(app: &mut App, setting: Setting) -> Vec<Effect> {
    match setting {
        Setting::Mouse(is_on) => return switch_mouse(app, is_on),
        Setting::Theme(name) => return vec![Effect::Theme(name)],
        Setting::Notify(means) => app.reader.alarms.means = means,
        Setting::Images(choice) => return vec![Effect::Images(choice)],
        Setting::AsOf(is_on) => crate::app::as_of::make::switch(&mut app.reader, is_on),
        Setting::Hints(is_on) => app.reader.screen.shows_hints = is_on,
        Setting::Thinking(is_on) => app.reader.text.shows_thinking = is_on,
        Setting::Outline(is_on) => show_outline(&mut app.reader, is_on),
        Setting::Inspector(is_on) => show_inspector(&mut app.reader, is_on),
        Setting::Wrap(is_on) => wrapping::actions::wrap(&mut app.reader, is_on),
        Setting::Gutter(numbers) => wrapping::actions::number(&mut app.reader, numbers),
        Setting::Lanes(is_on) => wrapping::actions::show_lanes(&mut app.reader, is_on),
        Setting::Rulers(is_on) => wrapping::actions::show_rulers(&mut app.reader, is_on),
        Setting::Strip(is_on) => app.reader.panes.wants_strip = Some(is_on),
        Setting::Marks(is_on) => app.reader.screen.theme.has_marks = is_on,
        Setting::Clean(is_on) => app.copying.is_clean = is_on,
        Setting::Redact(is_on) => app.copying.is_redacted = is_on,
    }
    app.reader.look_changed();
    Vec::new()
}

/// Turns the mouse on or off.
pub(crate) fn switch_mouse(app: &mut App, is_on: bool) -> Vec<Effect> {
    app.reader.screen.say(app.mouse.switch(is_on));
    vec![Effect::Mouse(is_on)]
}
