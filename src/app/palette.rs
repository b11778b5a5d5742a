//! The command line: what is typed after `:`, what could be meant by it, and going to places.

pub mod actions;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use tui_input::Input;

use super::bindings::BINDINGS;
use super::command::FORMS;
use super::keymap::Keymap;
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

/// Chooses another of what could be meant.
pub fn select(palette: &mut Palette, by: isize) {
    let last = palette.choices.len().saturating_sub(1);
    palette.selected = palette.selected.saturating_add_signed(by).min(last);
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
