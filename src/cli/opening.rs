//! Builds the configuration of the viewer from targets, settings and environment.

use std::path::Path;

use super::{LookArgs, Surroundings, watch};
use crate::analysis::calls::lifecycle;
use crate::analysis::money::prices;
use crate::app::input::keymap::Keymap;
use crate::ingest::Target;
use crate::ingest::fs;
use crate::render::colour::Depth;
use crate::render::row::Level;
use crate::runtime::config::{Start, TerminalConfig, ThemeChoice, ViewConfig, WallChoice};
use crate::runtime::graphics::GraphicsSetup;
use crate::runtime::theme_choice;
use crate::settings::{self, Settings};

/// The viewer of a session. A folder or database with several sessions opens the picker; several
/// sessions are joined. Picker, wall and ledger list the targets in the arguments, unless that is a
/// single file.
pub(super) fn view_of(
    target: Target,
    others: &[Target],
    is_choice: bool,
    look: &LookArgs,
    surroundings: Surroundings,
) -> ViewConfig {
    let is_folder = target.session.is_none() && fs::is_dir(&target.path);
    let is_list = is_choice || is_folder || !others.is_empty();
    let named = [&target].into_iter().chain(others).filter(|_| is_list);
    let listed = named.map(|target| Target::at(&target.path)).collect();
    let start = if is_choice {
        Start::Picker
    } else {
        Start::Session(target)
    };
    ViewConfig {
        listed,
        joined: others.to_vec(),
        ..view(start, look, surroundings)
    }
}

pub(super) fn view(start: Start, look: &LookArgs, surroundings: Surroundings) -> ViewConfig {
    let (settings, keymap) = read_settings(&surroundings);
    let more = surroundings.passed_over.len().saturating_sub(1);
    let more = if more > 0 {
        format!(" (and {more} more)")
    } else {
        String::new()
    };
    let complaint = surroundings
        .passed_over
        .first()
        .map(|first| format!("{first}{more}"));
    let terminal = terminal(&surroundings, &settings);
    let state = surroundings
        .state_folder
        .clone()
        .filter(|_| settings.is_on("state"));
    let themes = surroundings
        .settings_folder
        .as_ref()
        .map(|folder| folder.join("themes"));
    let Surroundings {
        editor,
        test_panic,
        environment,
        ..
    } = surroundings;
    ViewConfig {
        start,
        listed: Vec::new(),
        joined: Vec::new(),
        wall: WallChoice::default(),
        environment,
        theme: theme(look, &settings),
        themes,
        terminal,
        watch: watch(look.poll),
        level: look
            .level
            .map_or_else(|| Level::of(settings.number("level")), Level::of),
        settings: settings.values,
        entry: None,
        watched: settings.watch,
        keymap,
        state,
        complaint,
        editor,
        test_panic,
    }
}

fn terminal(surroundings: &Surroundings, settings: &Settings) -> TerminalConfig {
    let ascii = settings.is_on("ascii") || surroundings.is_ascii();
    let depth = surroundings.depth();
    TerminalConfig {
        term: surroundings.term.clone(),
        depth,
        no_color: surroundings.no_color,
        ascii,
        links: surroundings.has_links(),
        colorfgbg: surroundings.colorfgbg.clone(),
        graphics: GraphicsSetup {
            choice: settings.word("images").parse().unwrap_or_default(),
            environment: surroundings.terminal.clone(),
            is_plain: surroundings.no_color || ascii,
            has_few_colours: depth == Depth::Sixteen,
        },
        clipboard: surroundings.clipboard.clone(),
    }
}

/// A theme in the arguments has priority over the one in the settings, and must exist.
fn theme(look: &LookArgs, settings: &Settings) -> ThemeChoice {
    match (look.theme.as_deref(), settings.word("theme")) {
        (Some("auto"), _) | (None, "auto") => ThemeChoice::Auto,
        (Some(typed), _) => ThemeChoice::Named(typed.to_owned()),
        (None, preferred) => ThemeChoice::Preferred(preferred.to_owned()),
    }
}

/// Applies settings that all commands share (prices, late reports). Returns the errors in the
/// settings.
pub fn apply_settings(surroundings: &Surroundings) -> Vec<String> {
    let mut wrong = Vec::new();
    let shown = |path: &Path| surroundings.environment.shortened(path);
    if let Some((path, text)) = &surroundings.price_table {
        let mistakes = prices::replace_table(text).unwrap_or_else(|why| vec![why]);
        wrong.extend(
            mistakes
                .into_iter()
                .map(|what| format!("{}:{what}", shown(path))),
        );
    }
    let Some((path, text)) = &surroundings.settings else {
        prices::install(Vec::new());
        return wrong;
    };
    let settings = settings::parse(text);
    lifecycle::install_late(settings.number::<u64>("late") * 60_000);
    wrong.extend(
        settings
            .complaints
            .iter()
            .map(|what| format!("{}:{what}", shown(path))),
    );
    let themes = surroundings
        .settings_folder
        .as_ref()
        .map(|folder| folder.join("themes"));
    let theme = Some(settings.word("theme")).filter(|name| *name != "auto");
    wrong.extend(theme.and_then(|name| {
        match theme_choice::find(name, themes.as_deref()) {
            Ok(found) => found
                .is_none()
                .then(|| format!("{}: {}", shown(path), theme_choice::unknown(name))),
            Err(why) => Some(why),
        }
    }));
    prices::install(settings.prices);
    wrong
}

/// Parses the settings, and builds the keymap from them.
pub(super) fn read_settings(surroundings: &Surroundings) -> (Settings, Keymap) {
    let settings = surroundings
        .settings
        .as_ref()
        .map(|(_, text)| settings::parse(text))
        .unwrap_or_default();
    let (keymap, _) = Keymap::new(settings.preset, &settings.keys);
    (settings, keymap)
}
