//! Matching and parsing of the command line.

use std::borrow::Cow;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use tui_input::{Input, InputRequest};

use super::{CommandChoice, Commands, Palette};
use crate::analysis::expression::parse::Subject;
use crate::app::input::action::Action;
use crate::app::input::bindings::BINDINGS;
use crate::app::input::command::{COMMANDS, TypedCommand};
use crate::app::input::setting::SETTINGS;
use crate::app::pop_ups::list_keys;
use crate::app::pop_ups::sought::rank;
use crate::app::screens::AppScreen;
use crate::render::manual::PAGES;

impl Palette {
    /// Creates a command line with the beginning of a command; `runs` are those to compare the
    /// session with, and what each is.
    pub(crate) fn of(scene: Commands<'_>, typed: &str, runs: Vec<(String, String)>) -> Self {
        let runs = runs.into_iter();
        let runs = runs.map(|(name, doc)| choice(format!("diff {name}"), "", doc.into()));
        let mut palette = Self {
            input: Input::new(typed.to_owned()),
            below: scene.below,
            runs: runs.collect(),
            ..Self::default()
        };
        palette.update_matches(scene);
        palette
    }

    /// Edits the line, and updates the matches.
    pub(crate) fn edit_input(&mut self, scene: Commands<'_>, request: InputRequest) {
        self.input.handle(request);
        self.update_matches(scene);
    }

    /// Completes the line to the selected command.
    pub(crate) fn complete(&mut self, scene: Commands<'_>) {
        let Some(choice) = self.choices.get(self.selected) else {
            return;
        };
        let gap = if choice.argument.is_empty() { "" } else { " " };
        self.input = Input::new(format!("{}{gap}", choice.name));
        self.update_matches(scene);
    }

    /// The command and the expression that is typed after it, if it takes one.
    pub(crate) fn expression(&self) -> Option<(&str, &str, Subject)> {
        let (name, typed) = self.input.value().trim_start().split_once(' ')?;
        let about = match (name, self.below) {
            ("filter", AppScreen::Session) => Subject::Blocks,
            ("filter", _) => Subject::Sessions,
            ("watch", _) => Subject::Alarm,
            _ => return None,
        };
        Some((name, typed, about))
    }

    fn update_matches(&mut self, scene: Commands<'_>) {
        self.choices = choices(scene, &self.runs, self.input.value());
        self.selected = 0;
        self.has_moved = false;
    }

    /// Whether the line is a command as it stands.
    pub fn is_complete(&self) -> bool {
        self.input.value().trim().parse::<TypedCommand>().is_ok()
    }

    /// The screen below.
    pub fn below(&self) -> AppScreen {
        self.below
    }

    /// Moves the selection.
    pub(crate) fn select(&mut self, by: isize) {
        let last = self.choices.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        self.has_moved = true;
    }

    /// The command of the line, or the selected one. `None` while its argument is missing, or while
    /// no typed word is in the selected one: then the command is offered, not run.
    pub(crate) fn accept(&mut self, scene: Commands<'_>) -> Option<Result<TypedCommand, String>> {
        let typed = self.input.value().trim().to_owned();
        // A name with a blank after it asks for one of the arguments that are offered.
        let is_asked = self.input.value().ends_with(' ')
            && self
                .choices
                .get(self.selected)
                .is_some_and(|choice| choice.name != typed);
        if !is_asked && typed.parse::<TypedCommand>().is_ok() {
            return Some(typed.parse());
        }
        let with_argument = self.choices.iter().any(|choice| {
            typed
                .split_once(' ')
                .is_some_and(|(name, _)| name == choice.name)
        });
        match self.choices.get(self.selected) {
            Some(choice) if !with_argument || choice.name.starts_with(&typed) => {
                if choice.argument.is_empty() && (choice.is_meant || self.has_moved) {
                    return Some(choice.name.parse());
                }
                self.complete(scene);
                None
            }
            _ => Some(typed.parse()),
        }
    }
}

/// The commands that match the line: the usages of a command with exactly this name; otherwise
/// those whose names, descriptions or synonyms have the typed words, then those whose names have
/// the letters. For an empty line, those that were run last come first.
fn choices(scene: Commands<'_>, runs: &[CommandChoice], typed: &str) -> Vec<CommandChoice> {
    let typed = typed.trim_start();
    let forms = || forms().filter(|choice| scene.below.has_effect(choice));
    if let Some((name, _)) = typed.split_once(' ') {
        let named: Vec<CommandChoice> = runs
            .iter()
            .cloned()
            .chain(forms())
            .filter(|choice| choice.name == name || choice.name.starts_with(typed))
            .collect();
        if !named.is_empty() {
            return named;
        }
    }
    let actions = BINDINGS
        .iter()
        .filter(|binding| has_action(scene.below, binding.action))
        .map(|binding| CommandChoice {
            name: binding.name.to_owned(),
            argument: String::new(),
            keys: scene
                .keymap
                .keys_of(binding.action)
                .next()
                .unwrap_or_default()
                .replace(' ', ""),
            doc: binding.doc.into(),
            also: binding.also,
            is_meant: true,
        });
    let mut all: Vec<CommandChoice> = actions.chain(forms()).collect();
    if typed.is_empty() {
        let ran = |choice: &CommandChoice| {
            let ran = scene.ran.iter().rev().position(|name| *name == choice.name);
            ran.unwrap_or(usize::MAX)
        };
        all.sort_by_key(ran);
        return all;
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(typed, CaseMatching::Smart, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut letters = |name: &str| {
        let score = pattern.score(Utf32Str::new(name, &mut buffer), &mut matcher);
        score.filter(|score| *score > 0)
    };
    let mut found: Vec<((bool, usize, u32), CommandChoice)> = Vec::new();
    for mut choice in all {
        let worth = match rank(typed, &choice.name, &choice.doc, choice.also) {
            Some(rank) => (false, rank, 0),
            None => match letters(&choice.name) {
                Some(score) => (true, 0, u32::MAX - score),
                None => continue,
            },
        };
        choice.is_meant = !worth.0;
        found.push((worth, choice));
    }
    found.sort_by_key(|(worth, _)| *worth);
    found.into_iter().map(|(_, choice)| choice).collect()
}

/// Whether an action has an effect on a screen.
fn has_action(below: AppScreen, action: Action) -> bool {
    match below {
        AppScreen::Session => true,
        list => list_keys::has_effect(list, action),
    }
}

impl AppScreen {
    /// Whether a command with an argument has an effect on the screen below; settings and the
    /// manual have one everywhere.
    fn has_effect(self, choice: &CommandChoice) -> bool {
        let is_everywhere = choice.name == "set" || choice.name.starts_with("help ");
        let is_of_wall = ["filter", "watch", "unwatch"].contains(&choice.name.as_str());
        match self {
            Self::Session => true,
            Self::Wall => is_everywhere || is_of_wall,
            Self::Picker | Self::Ledger => is_everywhere,
        }
    }
}

fn forms() -> impl Iterator<Item = CommandChoice> {
    let named = COMMANDS
        .iter()
        .map(|form| choice(form.name.to_owned(), form.argument, form.doc.into()));
    let settings = SETTINGS.iter().filter_map(|setting| {
        Some(choice(
            "set".to_owned(),
            &setting.usage()?,
            setting.doc.into(),
        ))
    });
    let topics = PAGES
        .iter()
        .map(|page| choice(format!("help {}", page.topic), "", page.about().into()));
    named.chain(settings).chain(topics)
}

fn choice(name: String, argument: &str, doc: Cow<'static, str>) -> CommandChoice {
    CommandChoice {
        name,
        argument: argument.to_owned(),
        keys: String::new(),
        doc,
        also: "",
        is_meant: true,
    }
}
