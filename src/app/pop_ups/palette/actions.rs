//! Matching and parsing of the command line.

use std::borrow::Cow;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use tui_input::{Input, InputRequest};

use super::{CommandChoice, Commands, Palette};
use crate::analysis::expression::parse::{self, Subject, words};
use crate::app::effect::{PageExtent, PageForm};
use crate::app::input::action::Action;
use crate::app::input::bindings::BINDINGS;
use crate::app::input::command::{COMMANDS, TypedCommand};
use crate::app::input::setting::{SETTINGS, Setting};
use crate::app::pop_ups::list_keys;
use crate::app::pop_ups::sought::rank;
use crate::app::screens::AppScreen;
use crate::render::manual::PAGES;

impl Palette {
    /// Creates a command line with the beginning of a command; `offered` are commands with
    /// arguments that exist here, and what each is.
    pub(crate) fn of(scene: Commands<'_>, typed: &str, offered: Vec<(String, String)>) -> Self {
        let offered = offered.into_iter();
        let offered = offered.map(|(name, doc)| choice(name, "", doc.into()));
        let mut palette = Self {
            input: Input::new(typed.to_owned()),
            below: scene.below,
            offered: offered.collect(),
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
        self.input = Input::new(choice.before_argument());
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
        self.choices = self.choices(scene);
        self.selected = 0;
        self.has_moved = false;
    }

    /// The choices for the line: those of an argument behind the name of a command, otherwise commands.
    fn choices(&self, scene: Commands<'_>) -> Vec<CommandChoice> {
        let typed = self.input.value().trim_start();
        let arguments = typed
            .split_once(' ')
            .map(|(name, rest)| self.arguments(name, rest));
        match arguments {
            Some(arguments) if !arguments.is_empty() => arguments,
            _ => choices(scene, typed),
        }
    }

    /// The arguments of a command that fit what is typed of them, then its usage.
    fn arguments(&self, name: &str, rest: &str) -> Vec<CommandChoice> {
        let is_of = |choice: &CommandChoice| choice.name.split(' ').next() == Some(name);
        let fits = |choice: &CommandChoice| {
            let all = format!("{} {}", choice.name, choice.doc).to_lowercase();
            let mut words = rest.split_whitespace();
            words.all(|word| all.contains(&word.to_lowercase()))
        };
        let closed = closed_sets().chain(self.offered.iter().cloned());
        let mut found: Vec<CommandChoice> = closed
            .filter(|choice| is_of(choice) && self.below.has_effect(choice) && fits(choice))
            .collect();
        // What is typed already is not offered without its argument.
        let typed = self.input.value().trim_start();
        found.retain(|choice| choice.argument.is_empty() || choice.name != typed);
        if !is_closed(name) {
            let usages = forms().filter(|choice| choice.name == name);
            found.extend(usages.filter(|choice| self.below.has_effect(choice)));
        }
        if let Some((_, expression, about)) = self.expression() {
            let begins = expression.rfind([' ', '(', '-']).map_or(0, |at| at + 1);
            let before = expression.get(..begins).unwrap_or_default();
            let words = parse::complete(expression, words(about)).1.into_iter();
            // The rest of a word that ends with a sign is still to be typed.
            found.extend(words.map(|word| {
                let is_whole = word.ends_with(char::is_alphanumeric);
                let argument = if is_whole { "" } else { "\u{2026}" };
                choice(format!("{name} {before}{word}"), argument, "".into())
            }));
        }
        found
    }

    /// Whether the line is a command as it stands.
    pub fn is_complete(&self) -> bool {
        self.input.value().trim().parse::<TypedCommand>().is_ok()
    }

    pub(crate) fn select(&mut self, by: isize) {
        let last = self.choices.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        self.has_moved = true;
    }

    /// The command of the line, or the selected one. `None` while its argument is missing, or while
    /// no typed word is in the selected one: then the command is offered, not run.
    pub(crate) fn accept(&mut self, scene: Commands<'_>) -> Option<Result<TypedCommand, String>> {
        let typed = self.input.value().trim().to_owned();
        let is_open = self.input.value().ends_with(' ');
        // Nothing of a closed set is chosen before a letter or a movement, and no value of a setting
        // while several fit.
        let is_undecided = match typed.split_once(' ') {
            None => is_open && is_closed(&typed),
            Some((name, _)) => {
                name == "set" && self.choices.len() > 1 && typed.parse::<TypedCommand>().is_err()
            }
        };
        if is_undecided && !self.has_moved {
            self.complete(scene);
            return None;
        }
        // A name with a blank after it asks for one of the arguments that are offered.
        let is_asked = (is_open || self.has_moved)
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

/// The commands that match the line: those whose names, descriptions or synonyms have the typed words, or where none
/// has, those whose names have the letters. For an empty line, those that were run last come first.
fn choices(scene: Commands<'_>, typed: &str) -> Vec<CommandChoice> {
    let forms = || forms().filter(|choice| scene.below.has_effect(choice));
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
    // Where something has the words, what has only their letters is noise.
    let has_words = found.first().is_some_and(|(_, choice)| choice.is_meant);
    found.retain(|(_, choice)| choice.is_meant || !has_words);
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
        let name = choice.name.split(' ').next().unwrap_or_default();
        let is_everywhere = ["set", "help"].contains(&name);
        let is_of_wall = ["filter", "watch", "unwatch"].contains(&name);
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
    let settings = SETTINGS.iter().filter_map(setting_usage);
    named.chain(settings).chain(topics())
}

/// The command that changes a setting, which is completed to what its values are listed for.
fn setting_usage(setting: &'static Setting) -> Option<CommandChoice> {
    let usage = setting.usage()?;
    let (name, argument) = match usage.split_once('=') {
        Some((name, values)) => (format!("set {name}="), values.to_owned()),
        None => (
            format!("set {}", setting.name),
            format!("or no{}", setting.name),
        ),
    };
    Some(choice(name, &argument, setting.doc.into()))
}

fn topics() -> impl Iterator<Item = CommandChoice> {
    let topics = PAGES.iter();
    topics.map(|page| choice(format!("help {}", page.topic), "", page.about().into()))
}

/// Whether a command takes only the arguments of [`closed_sets`].
fn is_closed(name: &str) -> bool {
    ["export", "help", "set"].contains(&name)
}

/// Every command whose arguments are a closed set, with each of them.
fn closed_sets() -> impl Iterator<Item = CommandChoice> {
    let forms = [PageForm::Html, PageForm::Markdown].into_iter();
    let exports = forms.flat_map(|form| PageExtent::ALL.map(|extent| (form, extent)));
    let exports = exports.map(|(form, extent)| {
        let name = TypedCommand::Export(form, extent).to_string();
        choice(name, "", extent.doc().into())
    });
    let assignments = SETTINGS.iter().flat_map(|setting| {
        let choices = setting.choices().into_iter();
        choices.map(|words| choice(format!("set {words}"), "", setting.doc.into()))
    });
    // Settings with several values come before these, and lead to them; the names of themes are
    // offered where they are known.
    let names = SETTINGS.iter().filter_map(setting_usage);
    let names = names.filter(|choice| choice.name.ends_with('='));
    exports.chain(topics()).chain(names).chain(assignments)
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
