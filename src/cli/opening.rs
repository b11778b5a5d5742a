//! What the viewer is opened with: the session, the reader's settings, the surroundings.

use super::{DEFAULT_LEVEL, LookArgs, Surroundings, watch};
use crate::analysis::money::prices::{self, Prices};
use crate::app::copying::clipboard::Copying;
use crate::app::input::keymap::Keymap;
use crate::app::text::wrapping::Wrapping;
use crate::ingest::{self, Target};
use crate::render::colour::Depth;
use crate::render::row::Level;
use crate::runtime::config::{Start, TerminalConfig, ThemeChoice, ViewConfig, ViewDefaults, WallChoice};
use crate::runtime::graphics::Setup;
use crate::settings::{self, Settings, ViewSettings};

/// The viewer of a session. A database of several ones leaves the choice to the reader; several sessions are
/// read as one. The picker, the wall and the ledger are of what was named, unless that is one file.
pub(super) fn view_of(
    target: Target,
    others: &[Target],
    look: &LookArgs,
    surroundings: Surroundings,
) -> ViewConfig {
    let is_choice = ingest::is_choice(&target);
    let is_folder = target.session.is_none() && target.path.is_dir();
    let is_list = is_choice || is_folder || !others.is_empty();
    let named = [&target].into_iter().chain(others).filter(|_| is_list);
    let listed = named.map(|target| Target { path: target.path.clone(), session: None }).collect();
    let start = if is_choice { Start::Picker } else { Start::Session(target) };
    let joined = if is_choice { Vec::new() } else { others.to_vec() };
    ViewConfig { listed, joined, ..view(start, look, surroundings) }
}

pub(super) fn view(start: Start, look: &LookArgs, surroundings: Surroundings) -> ViewConfig {
    let (settings, keymap, complaint) = read_settings(&surroundings);
    let complaints: Vec<String> = surroundings.passed_over.iter().cloned().chain(complaint).collect();
    let terminal = terminal(&surroundings, &settings);
    let state = surroundings.state_folder.clone().filter(|_| settings.state != Some(false));
    let themes = surroundings.settings_folder.as_ref().map(|folder| folder.join("themes"));
    let Surroundings { editor, test_panic, environment, .. } = surroundings;
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
        copying: Copying {
            is_clean: settings.clean.unwrap_or(false),
            is_redacted: settings.redact.unwrap_or(false),
        },
        watched: settings.watch,
        notify: settings.notify.unwrap_or_default(),
        keymap,
        state,
        complaint: (!complaints.is_empty()).then(|| complaints.join("; ")),
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
        strip: settings.strip,
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
        graphics: Setup {
            choice: settings.images.unwrap_or_default(),
            environment: surroundings.terminal.clone(),
            is_plain: surroundings.no_color || ascii,
            has_few_colours: depth == Depth::Sixteen,
        },
        clipboard: surroundings.clipboard.clone(),
    }
}

/// What was typed goes before the settings, and must exist.
fn theme(look: &LookArgs, settings: &Settings) -> ThemeChoice {
    let typed = look.theme.clone().map(ThemeChoice::Named);
    let choice = typed.or_else(|| settings.theme.clone().map(ThemeChoice::Preferred));
    let is_auto = |choice: &ThemeChoice| matches!(choice, ThemeChoice::Named(name) | ThemeChoice::Preferred(name) if name == "auto");
    choice.filter(|choice| !is_auto(choice)).unwrap_or(ThemeChoice::Auto)
}

/// The prices that the reader set, by the name of the model. The viewer says what is wrong with them.
pub fn own_prices(surroundings: &Surroundings) -> Vec<(String, Prices)> {
    let text = surroundings.settings.as_ref().and_then(|(_, text)| text.as_deref().ok());
    text.map(|text| settings::parse(text).prices).unwrap_or_default()
}

/// Puts the reader's table of prices in the place of the one of tv, and says why if it cannot be used.
pub fn replace_prices(surroundings: &Surroundings) -> Option<String> {
    let (path, text) = surroundings.price_table.as_ref()?;
    let path = path.display();
    match text {
        Err(error) => Some(format!("{path} cannot be read ({error})")),
        Ok(text) if prices::replace_table(text).is_some() => None,
        Ok(_) => Some(format!("{path} is no table of prices, which `tv manual money` describes")),
    }
}

/// The settings, the keys that follow from them, and one sentence if something is wrong with them.
pub(super) fn read_settings(surroundings: &Surroundings) -> (Settings, Keymap, Option<String>) {
    let Some((path, text)) = &surroundings.settings else {
        return (Settings::default(), Keymap::default(), None);
    };
    let path = path.display();
    let mut settings = match text {
        Ok(text) => settings::parse(text),
        Err(error) => {
            let complaint = format!("{path} cannot be read ({error})");
            return (Settings::default(), Keymap::default(), Some(complaint));
        }
    };
    let (keymap, _) = Keymap::new(settings.preset, &settings.keys);
    let complaints = std::mem::take(&mut settings.complaints);
    let more = complaints.len().saturating_sub(1);
    let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    let complaint = complaints.first().map(|first| format!("{path}:{first}{more}"));
    (settings, keymap, complaint)
}
