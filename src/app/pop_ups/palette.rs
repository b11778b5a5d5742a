//! The command line: what is typed after `:`, and what could be meant by it.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use tui_input::{Input, InputRequest};

use crate::app::input::bindings::BINDINGS;
use crate::app::input::command::{Command, FORMS};
use crate::app::input::keymap::Keymap;
use crate::render::manual::PAGES;

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

impl Palette {
    /// An empty command line.
    pub(crate) fn empty(keymap: &Keymap) -> Self {
        Self {
            choices: choices(keymap, ""),
            ..Self::default()
        }
    }

    /// Changes the line; what could be meant follows.
    pub(crate) fn type_on(&mut self, keymap: &Keymap, request: InputRequest) {
        self.input.handle(request);
        self.choose_among(keymap);
    }

    /// Completes the line to what is chosen.
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

    /// Chooses another of what could be meant.
    pub(crate) fn select(&mut self, by: isize) {
        let last = self.choices.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    /// The command of the line, else the chosen one; nothing while an argument of it is missing.
    pub(crate) fn accept(&mut self, keymap: &Keymap) -> Option<Result<Command, String>> {
        let typed = self.input.value().trim().to_owned();
        let is_meant = |choice: &&Choice| !typed.contains(' ') || choice.name.starts_with(&typed);
        match self.choices.get(self.selected).filter(is_meant) {
            Some(choice) if typed.parse::<Command>().is_err() => {
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

/// All that can be meant by what is typed: of a command that is named, its forms; else whatever has the
/// letters in its name or words.
fn choices(keymap: &Keymap, typed: &str) -> Vec<Choice> {
    let typed = typed.trim_start();
    if let Some((name, _)) = typed.split_once(' ') {
        return forms()
            .filter(|choice| choice.name == name || choice.name.starts_with(typed))
            .collect();
    }
    let actions = BINDINGS.iter().map(|binding| Choice {
        name: binding.name.to_owned(),
        argument: "",
        keys: keymap
            .keys_of(binding.action)
            .next()
            .unwrap_or_default()
            .replace(' ', ""),
        doc: binding.doc,
    });
    let all: Vec<Choice> = actions.chain(forms()).collect();
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
    let mut scored: Vec<(u32, Choice)> = all
        .into_iter()
        .map(|choice| (score(&choice.name).max(score(choice.doc) / 2), choice))
        .collect();
    scored.retain(|(score, _)| *score > 0);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, choice)| choice).collect()
}

fn forms() -> impl Iterator<Item = Choice> {
    let named = FORMS
        .iter()
        .map(|form| (form.name.to_owned(), form.argument, form.doc));
    let topics = PAGES
        .iter()
        .map(|page| (format!("help {}", page.topic), "", page.about()));
    let choice = |(name, argument, doc)| Choice {
        name,
        argument,
        keys: String::new(),
        doc,
    };
    named.chain(topics).map(choice)
}
