//! Builds the configuration of the viewer from targets, settings and environment.

use super::{DEFAULT_LEVEL, LookArgs, Surroundings, watch};
use crate::analysis::calls::lifecycle;
use crate::analysis::money::prices;
use crate::app::copying::clipboard::CopyOptions;
use crate::app::input::keymap::Keymap;
use crate::app::text::wrapping::Wrapping;
use crate::ingest::Target;
use crate::render::colour::Depth;
use crate::render::row::Level;
use crate::runtime::config::{
    Start, TerminalConfig, ThemeChoice, ViewConfig, ViewDefaults, WallChoice,
};
use crate::runtime::graphics::GraphicsSetup;
use crate::runtime::theme_choice;
use crate::settings::{self, Settings, ViewSettings};

/// The viewer of a session. A folder or database with several sessions opens the picker; several sessions
/// are joined. Picker, wall and ledger list what was named, unless that is a single file.
pub(super) fn view_of(
    target: Target,
    others: &[Target],
    is_choice: bool,
    look: &LookArgs,
    surroundings: Surroundings,
) -> ViewConfig {
    let is_folder = target.session.is_none() && target.path.is_dir();
    let is_list = is_choice || is_folder || !others.is_empty();
    let named = [&target].into_iter().chain(others).filter(|_| is_list);
    let listed = named
        .map(|target| Target {
            path: target.path.clone(),
            session: None,
        })
        .collect();
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
        .filter(|_| settings.state != Some(false));
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
        defaults: defaults(look, &settings.view),
        mouse: settings.mouse.unwrap_or(false),
        entry: None,
        copying: CopyOptions {
            is_clean: settings.clean.unwrap_or(false),
            is_redacted: settings.redact.unwrap_or(false),
        },
        watched: settings.watch,
        notify: settings.notify.unwrap_or_default(),
        keymap,
        state,
        complaint,
        editor,
        test_panic,
    }
}

fn defaults(look: &LookArgs, settings: &ViewSettings) -> ViewDefaults {
    ViewDefaults {
        level: Level::of(look.level.or(settings.level).unwrap_or(DEFAULT_LEVEL)),
        thinking: settings.thinking.unwrap_or(true),
        intents: settings.intents.unwrap_or(true),
        utc: settings.utc.unwrap_or(false),
        outline: settings.outline,
        inspector: settings.inspector,
        hints: settings.hints.unwrap_or(true),
        asof: settings.asof.unwrap_or(false),
        marks: settings.marks.unwrap_or(true),
        wrapping: Wrapping {
            sideways: (settings.wrap == Some(false)).then_some(0),
            numbers: settings.gutter.unwrap_or_default(),
            lanes: settings.lanes.unwrap_or(true),
            rulers: settings.rulers.unwrap_or(true),
        },
    }
}

fn terminal(surroundings: &Surroundings, settings: &Settings) -> TerminalConfig {
    let ascii = settings.ascii == Some(true) || surroundings.is_ascii();
    let depth = surroundings.depth();
    TerminalConfig {
        term: surroundings.term.clone(),
        depth,
        no_color: surroundings.no_color,
        ascii,
        links: surroundings.has_links(),
        colorfgbg: surroundings.colorfgbg.clone(),
        graphics: GraphicsSetup {
            choice: settings.images.unwrap_or_default(),
            environment: surroundings.terminal.clone(),
            is_plain: surroundings.no_color || ascii,
            has_few_colours: depth == Depth::Sixteen,
        },
        clipboard: surroundings.clipboard.clone(),
    }
}

/// A theme in the arguments goes before the one in the settings, and must exist.
fn theme(look: &LookArgs, settings: &Settings) -> ThemeChoice {
    let typed = look.theme.clone().map(ThemeChoice::Named);
    let choice = typed.or_else(|| settings.theme.clone().map(ThemeChoice::Preferred));
    let is_auto = |choice: &ThemeChoice| matches!(choice, ThemeChoice::Named(name) | ThemeChoice::Preferred(name) if name == "auto");
    choice
        .filter(|choice| !is_auto(choice))
        .unwrap_or(ThemeChoice::Auto)
}

/// Applies settings that hold for all commands (prices, late reports), and returns what is wrong
/// with the settings.
pub fn apply_settings(surroundings: &Surroundings) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some((path, text)) = &surroundings.price_table {
        let mistakes = prices::replace_table(text).unwrap_or_else(|why| vec![why]);
        wrong.extend(
            mistakes
                .into_iter()
                .map(|what| format!("{}:{what}", path.display())),
        );
    }
    let Some((path, text)) = &surroundings.settings else {
        prices::install(Vec::new());
        return wrong;
    };
    let settings = settings::parse(text);
    prices::install(settings.prices);
    if let Some(minutes) = settings.late {
        lifecycle::install_late(u64::from(minutes) * 60_000);
    }
    wrong.extend(
        settings
            .complaints
            .into_iter()
            .map(|what| format!("{}:{what}", path.display())),
    );
    let themes = surroundings
        .settings_folder
        .as_ref()
        .map(|folder| folder.join("themes"));
    let theme = settings.theme.filter(|name| name != "auto");
    wrong.extend(theme.and_then(|name| {
        match theme_choice::find(&name, themes.as_deref()) {
            Ok(found) => found
                .is_none()
                .then(|| format!("{}: {}", path.display(), theme_choice::unknown(&name))),
            Err(why) => Some(why),
        }
    }));
    wrong
}

/// Parses the settings, and the key bindings that follow from them.
pub(super) fn read_settings(surroundings: &Surroundings) -> (Settings, Keymap) {
    let settings = surroundings
        .settings
        .as_ref()
        .map(|(_, text)| settings::parse(text))
        .unwrap_or_default();
    let (keymap, _) = Keymap::new(settings.preset, &settings.keys);
    (settings, keymap)
}
