//! The commands that match the line of the palette, and what the line means.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use tui_input::{Input, InputRequest};

use super::{CommandChoice, Palette};
use crate::app::input::bindings::BINDINGS;
use crate::app::input::command::{COMMANDS, TypedCommand};
use crate::app::input::keymap::Keymap;
use crate::app::input::setting::SETTINGS;
use crate::render::manual::PAGES;

impl Palette {
    /// An empty command line.
    pub(crate) fn empty(keymap: &Keymap) -> Self {
        Self {
            choices: choices(keymap, ""),
            ..Self::default()
        }
    }

    /// Edits the line, and matches again.
    pub(crate) fn type_on(&mut self, keymap: &Keymap, request: InputRequest) {
        self.input.handle(request);
        self.choose_among(keymap);
    }

    /// Completes the line to the selected command.
    pub(crate) fn complete(&mut self, keymap: &Keymap) {
        let Some(choice) = self.choices.get(self.selected) else {
            return;
        };
        let gap = if choice.argument.is_empty() { "" } else { " " };
        self.input = Input::new(format!("{}{gap}", choice.name));
        self.choose_among(keymap);
    }

    fn choose_among(&mut self, keymap: &Keymap) {
        self.choices = choices(keymap, self.input.value());
        self.selected = 0;
    }

    /// Moves the selection.
    pub(crate) fn select(&mut self, by: isize) {
        let last = self.choices.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    /// The command of the line, else the selected one; `None` while its argument is missing.
    pub(crate) fn accept(&mut self, keymap: &Keymap) -> Option<Result<TypedCommand, String>> {
        let typed = self.input.value().trim().to_owned();
        let is_meant =
            |choice: &&CommandChoice| !typed.contains(' ') || choice.name.starts_with(&typed);
        match self.choices.get(self.selected).filter(is_meant) {
            Some(choice) if typed.parse::<TypedCommand>().is_err() => {
                if choice.argument.is_empty() {
                    return Some(choice.name.parse());
                }
                self.complete(keymap);
                None
            }
            _ => Some(typed.parse()),
        }
    }
}

/// The commands that match the line: the usages of a command that is named in full, else a fuzzy match of names and docs.
fn choices(keymap: &Keymap, typed: &str) -> Vec<CommandChoice> {
    let typed = typed.trim_start();
    if let Some((name, _)) = typed.split_once(' ') {
        return forms()
            .filter(|choice| choice.name == name || choice.name.starts_with(typed))
            .collect();
    }
    let actions = BINDINGS.iter().map(|binding| CommandChoice {
        name: binding.name.to_owned(),
        argument: String::new(),
        keys: keymap
            .keys_of(binding.action)
            .next()
            .unwrap_or_default()
            .replace(' ', ""),
        doc: binding.doc,
    });
    let all: Vec<CommandChoice> = actions.chain(forms()).collect();
    if typed.is_empty() {
        return all;
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut score = |text: &str| {
        pattern
            .score(Utf32Str::new(text, &mut buffer), &mut matcher)
            .unwrap_or(0)
    };
    let mut scored: Vec<(u32, CommandChoice)> = all
        .into_iter()
        .map(|choice| (score(&choice.name).max(score(choice.doc) / 2), choice))
        .collect();
    scored.retain(|(score, _)| *score > 0);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, choice)| choice).collect()
}

fn forms() -> impl Iterator<Item = CommandChoice> {
    let named = COMMANDS
        .iter()
        .map(|form| (form.name.to_owned(), form.argument.to_owned(), form.doc));
    let settings = SETTINGS
        .iter()
        .filter_map(|setting| Some(("set".to_owned(), setting.usage()?, setting.doc)));
    let topics = PAGES
        .iter()
        .map(|page| (format!("help {}", page.topic), String::new(), page.about()));
    let choice = |(name, argument, doc)| CommandChoice {
        name,
        argument,
        keys: String::new(),
        doc,
    };
    named.chain(settings).chain(topics).map(choice)
}
