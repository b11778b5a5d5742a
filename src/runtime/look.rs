//! The colours in force: by name, from a file, or by what the terminal says of its background.

use std::fs;

use super::config::{ThemeChoice, ViewConfig};
use crate::app::state::State;
use crate::render::theme::Theme;
use crate::settings::themes;

/// The theme to start with. While nothing is known of the background it is taken for dark.
pub fn first(config: &ViewConfig) -> Result<Theme, String> {
    match &config.theme {
        ThemeChoice::Auto if is_light(config.colorfgbg.as_deref()) == Some(true) => named("light", config),
        ThemeChoice::Auto => named("dark", config),
        ThemeChoice::Named(name) => named(name, config),
    }
}

/// Whether the terminal is worth asking for its background.
pub fn asks_for_background(config: &ViewConfig) -> bool {
    let is_simple = matches!(config.term.as_deref(), None | Some("dumb" | "linux"));
    config.theme == ThemeChoice::Auto
        && !config.no_color
        && !is_simple
        && is_light(config.colorfgbg.as_deref()).is_none()
}

/// The theme with a name, as the terminal can show it.
pub fn named(name: &str, config: &ViewConfig) -> Result<Theme, String> {
    let theme = if config.no_color { Theme::mono() } else { find(name, config)? };
    Ok(theme.with_depth(config.depth).with_ascii(config.ascii).with_links(config.links))
}

/// Uses the colours with a name from now on.
pub fn set(name: &str, config: &ViewConfig, state: &mut State) {
    match named(name, config) {
        Ok(theme) => {
            state.theme = theme;
            state.look_changed();
        }
        Err(why) => state.say(why),
    }
}

fn find(name: &str, config: &ViewConfig) -> Result<Theme, String> {
    if let Some(theme) = themes::known(name) {
        return Ok(theme);
    }
    let is_plain = !name.is_empty() && !name.contains(['/', '\\', '.']);
    let path = config.themes.as_ref().filter(|_| is_plain).map(|folder| folder.join(format!("{name}.toml")));
    let Some((path, text)) = path.and_then(|path| fs::read_to_string(&path).ok().map(|text| (path, text)))
    else {
        return Err(format!("no theme is called {name}"));
    };
    let file = themes::parse(name, &text);
    match file.complaints.first() {
        Some(complaint) => Err(format!("{}:{complaint}", path.display())),
        None => Ok(file.theme),
    }
}

/// COLORFGBG is "foreground;background" in colours of the sixteen; 7 and 9 to 15 are light.
fn is_light(colorfgbg: Option<&str>) -> Option<bool> {
    let background: u8 = colorfgbg?.rsplit(';').next()?.parse().ok()?;
    Some(matches!(background, 7 | 9..=15))
}
