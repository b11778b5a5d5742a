//! The command line: what is typed after `:`, what could be meant by it, and going to places.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use tui_input::{Input, InputRequest};

use super::bindings::BINDINGS;
use super::command::{Command, FORMS, Place, Setting};
use super::effect::Effect;
use super::keymap::Keymap;
use super::mode::Mode;
use super::moving::jump;
use super::panes::{show_inspector, show_outline};
use super::state::State;
use super::viewport::Focus;
use super::wrapping;
use crate::model::entry::{Entry, EntryId};
use crate::model::record::FileId;
use crate::render::manual::PAGES;
use crate::render::row::Level;

/// What is typed, and what it may become.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    /// The line.
    pub input: Input,
    /// What fits it, the best first.
    pub choices: Vec<Choice>,
    /// Which of them is chosen.
    pub selected: usize,
}

/// Something that could be meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The name of the command.
    pub name: String,
    /// What must follow the name; empty if nothing.
    pub argument: &'static str,
    /// Keys that do the same.
    pub keys: String,
    /// What it does.
    pub doc: &'static str,
}

/// Opens the command line.
pub fn open(state: &mut State) {
    let palette = Palette { choices: choices(&state.keys.keymap, ""), ..Palette::default() };
    state.mode = Mode::Palette(palette);
}

/// Changes the line; what could be meant follows.
pub fn type_on(state: &mut State, request: InputRequest) {
    let Mode::Palette(palette) = &mut state.mode else { return };
    palette.input.handle(request);
    palette.choices = choices(&state.keys.keymap, palette.input.value());
    palette.selected = 0;
}

/// Chooses another of what could be meant.
pub fn select(palette: &mut Palette, by: isize) {
    let last = palette.choices.len().saturating_sub(1);
    palette.selected = palette.selected.saturating_add_signed(by).min(last);
}

/// Completes the line to what is chosen.
pub fn complete(state: &mut State) {
    let Mode::Palette(palette) = &mut state.mode else { return };
    let Some(choice) = palette.choices.get(palette.selected) else { return };
    let gap = if choice.argument.is_empty() { "" } else { " " };
    palette.input = Input::new(format!("{}{gap}", choice.name));
    palette.choices = choices(&state.keys.keymap, palette.input.value());
    palette.selected = 0;
}

/// What the line means, else what is chosen. Closes the command line, unless an argument is missing.
pub fn accept(state: &mut State) -> Option<Command> {
    let Mode::Palette(palette) = &state.mode else { return None };
    let typed = palette.input.value().trim().to_owned();
    let is_meant = |choice: &&Choice| !typed.contains(' ') || choice.name.starts_with(&typed);
    let chosen = palette.choices.get(palette.selected).filter(is_meant).cloned();
    match (typed.parse(), chosen) {
        (Ok(command), _) => {
            state.mode = Mode::Normal;
            return Some(command);
        }
        (Err(_), Some(choice)) if choice.argument.is_empty() => {
            state.mode = Mode::Normal;
            return choice.name.parse().ok();
        }
        (Err(_), Some(_)) => complete(state),
        (Err(why), None) => {
            state.mode = Mode::Normal;
            if !typed.is_empty() {
                state.screen.say(why);
            }
        }
    }
    None
}

/// All that can be meant by what is typed: of a command that is named, its forms; else whatever has the
/// letters in its name or words.
fn choices(keymap: &Keymap, typed: &str) -> Vec<Choice> {
    let typed = typed.trim_start();
    if let Some((name, _)) = typed.split_once(' ') {
        return forms().filter(|choice| choice.name == name || choice.name.starts_with(typed)).collect();
    }
    let actions = BINDINGS.iter().map(|binding| Choice {
        name: binding.action.to_string(),
        argument: "",
        keys: keymap.keys_of(binding.action).next().unwrap_or_default().replace(' ', ""),
        doc: binding.doc,
    });
    let all: Vec<Choice> = actions.chain(forms()).collect();
    if typed.is_empty() {
        return all;
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut score = |text: &str| pattern.score(Utf32Str::new(text, &mut buffer), &mut matcher).unwrap_or(0);
    let mut scored: Vec<(u32, Choice)> =
        all.into_iter().map(|choice| (score(&choice.name).max(score(choice.doc) / 2), choice)).collect();
    scored.retain(|(score, _)| *score > 0);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, choice)| choice).collect()
}

fn forms() -> impl Iterator<Item = Choice> {
    let named = FORMS.iter().map(|form| (form.name.to_owned(), form.argument, form.doc));
    let topics = PAGES.iter().map(|page| (format!("help {}", page.topic), "", page.about()));
    let choice = |(name, argument, doc)| Choice { name, argument, keys: String::new(), doc };
    named.chain(topics).map(choice)
}

/// Goes to a place, or says why not.
pub fn go(state: &mut State, place: Place) {
    if let Place::Line(line) = place {
        return match at_line(state, line) {
            Some(focus) => jump(state, focus),
            None => state.screen.say(format!("nothing is at {place}")),
        };
    }
    let entry = match place {
        Place::Entry(number) => number.checked_sub(1).and_then(|at| {
            let from = state.session.transcript.order().get(at..)?;
            from.iter().copied().find(|id| has_rows(state, *id))
        }),
        Place::Line(_) => None,
        Place::Percent(percent) => so_far_down(state, u64::from(percent), 100),
        Place::Clock(clock) => {
            let focused =
                state.text.view.focus.and_then(|focus| state.session.transcript.get(focus.entry)?.at);
            let day = focused.unwrap_or(state.screen.now);
            let then = day.at(clock);
            first(state, |entry| entry.at.is_some() && entry.at >= then)
        }
        Place::Timestamp(then) => first(state, |entry| entry.at >= Some(then)),
    };
    match entry {
        Some(entry) => jump(state, Focus { entry, block: 0 }),
        None => state.screen.say(format!("nothing is at {place}")),
    }
}

/// The item that a line of the session's file brought; of a line that brought none, the last one before it.
fn at_line(state: &State, line: u32) -> Option<Focus> {
    let mut passing = state.session.transcript.passing();
    let mut best: Option<(u32, Focus)> = None;
    let mut next: Option<(u32, Focus)> = None;
    let mut is_reached = false;
    // Neither what is shown nor what was told must stand in the order of the lines.
    for id in state.text.sequence.order().iter().copied() {
        let Some(entry) = passing.get(id).filter(|entry| entry.origin.file == FileId(0)) else { continue };
        if entry.marks.trace && state.text.level < Level::Full {
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
pub fn go_down(state: &mut State, share: u64, of: u64) {
    if let Some(entry) = so_far_down(state, share, of) {
        jump(state, Focus { entry, block: 0 });
    }
}

fn so_far_down(state: &State, share: u64, of: u64) -> Option<EntryId> {
    let row = state.text.heights.total() * share / of.max(1);
    let from = state.text.sequence.order().get(state.text.heights.place_at(row)..).unwrap_or_default();
    from.iter().copied().find(|id| has_rows(state, *id)).or_else(|| from.first().copied())
}

/// The first shown entry for which this holds.
fn first(state: &State, holds: impl Fn(&Entry) -> bool) -> Option<EntryId> {
    let is_meant =
        |id: &EntryId| has_rows(state, *id) && state.session.transcript.get(*id).is_some_and(&holds);
    state.text.sequence.order().iter().copied().find(is_meant)
}

/// Whether an entry can be seen: bookkeeping has rows at the full levels only.
fn has_rows(state: &State, id: EntryId) -> bool {
    let is_trace = state.session.transcript.get(id).is_none_or(|entry| entry.marks.trace);
    state.text.sequence.place_of(id).is_some() && (!is_trace || state.text.level >= Level::Full)
}

/// Changes the look.
pub fn set(state: &mut State, setting: Setting) -> Vec<Effect> {
    match setting {
        Setting::Mouse(is_on) => return super::mouse::switch(state, is_on),
        Setting::Theme(name) => return vec![Effect::Theme(name)],
        Setting::Notify(means) => state.alarms.means = means,
        Setting::Images(choice) => return vec![Effect::Images(choice)],
        Setting::AsOf(is_on) => super::as_of::switch(state, is_on),
        Setting::Hints(is_on) => state.screen.shows_hints = is_on,
        Setting::Thinking(is_on) => state.text.shows_thinking = is_on,
        Setting::Outline(is_on) => show_outline(state, is_on),
        Setting::Inspector(is_on) => show_inspector(state, is_on),
        Setting::Wrap(is_on) => wrapping::wrap(state, is_on),
        Setting::Gutter(numbers) => wrapping::number(state, numbers),
        Setting::Lanes(is_on) => wrapping::show_lanes(state, is_on),
        Setting::Rulers(is_on) => wrapping::show_rulers(state, is_on),
        Setting::Strip(is_on) => state.panes.wants_strip = Some(is_on),
        Setting::Marks(is_on) => state.screen.theme.has_marks = is_on,
        Setting::Clean(is_on) => state.clipboard.copying.is_clean = is_on,
        Setting::Redact(is_on) => state.clipboard.copying.is_redacted = is_on,
    }
    state.look_changed();
    Vec::new()
}
