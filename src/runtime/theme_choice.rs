//! Finds the theme: by name, in a file, or by the background of the terminal.

use std::path::Path;

use super::config::{ThemeChoice, ViewConfig, settings_file};
use crate::app::reader::Reader;
use crate::model::text::likeness::near_words;
use crate::render::theme::Theme;
use crate::report::themes::Listed;
use crate::settings::themes;

/// The theme to start with. An unknown background is assumed to be dark.
pub fn first(config: &ViewConfig) -> Result<Theme, String> {
    match &config.theme {
        ThemeChoice::Auto if is_light(config.terminal.colorfgbg.as_deref()) == Some(true) => {
            by_name("light", config)
        }
        ThemeChoice::Auto => by_name("dark", config),
        ThemeChoice::Named(name) | ThemeChoice::Preferred(name) => by_name(name, config),
    }
}

/// As [`first`], but a theme in the settings that cannot be used is reported and replaced.
pub(crate) fn first_of_all(config: &ViewConfig) -> Result<(Theme, Option<String>), String> {
    match first(config) {
        Err(why) if matches!(config.theme, ThemeChoice::Preferred(_)) => {
            Ok((by_name("dark", config)?, Some(why)))
        }
        theme => theme.map(|theme| (theme, None)),
    }
}

/// Whether to query the terminal for its background.
pub(crate) fn needs_background(config: &ViewConfig) -> bool {
    let is_simple = matches!(
        config.terminal.term.as_deref(),
        None | Some("dumb" | "linux")
    );
    config.theme == ThemeChoice::Auto
        && !config.terminal.no_color
        && !is_simple
        && is_light(config.terminal.colorfgbg.as_deref()).is_none()
}

/// The theme with a name, adapted to the terminal.
pub fn by_name(name: &str, config: &ViewConfig) -> Result<Theme, String> {
    let theme = if config.terminal.no_color {
        Theme::mono()
    } else {
        found(name, config)?
    };
    Ok(theme
        .with_depth(config.terminal.depth)
        .with_ascii(config.terminal.ascii)
        .with_links(config.terminal.links))
}

fn found(name: &str, config: &ViewConfig) -> Result<Theme, String> {
    find(name, config.themes.as_deref())?.ok_or_else(|| unknown(name))
}

/// Switches to the theme with a name.
pub fn set(name: &str, config: &ViewConfig, reader: &mut Reader) {
    match by_name(name, config) {
        Ok(theme) => {
            reader.screen.theme = theme
                .with_canvas(reader.screen.theme.terminal.canvas)
                .with_marks(reader.screen.theme.has_marks);
            reader.text.invalidate_rows();
        }
        Err(why) => reader.screen.set_status(why),
    }
}

/// A built-in theme, or one in the user's folder; `None` if there is none, an error if its file
/// cannot be used.
pub(crate) fn find(name: &str, themes: Option<&Path>) -> Result<Option<Theme>, String> {
    if let Some(theme) = themes::built_in(name) {
        return Ok(Some(theme));
    }
    let is_plain = !name.is_empty() && !name.contains(['/', '\\', '.']);
    let path = themes
        .filter(|_| is_plain)
        .map(|folder| folder.join(format!("{name}.toml")));
    path.map_or(Ok(None), |path| read(&path, name))
}

/// The error for an unknown name.
pub(crate) fn unknown(name: &str) -> String {
    format!(
        "no theme is called {name}{}",
        near_words(name, themes::names())
    )
}

/// All themes: the built-in ones, and those in the user's settings folder.
pub fn all(settings_folder: Option<&Path>) -> Vec<Listed> {
    let of_tv = |name: &str| {
        let theme =
            themes::built_in(name).ok_or_else(|| "comes with tv: cannot be read".to_owned());
        Listed {
            name: name.to_owned(),
            from: "comes with tv".to_owned(),
            theme,
        }
    };
    let mut all: Vec<Listed> = themes::names().map(of_tv).collect();
    let folder = settings_folder.map(|folder| folder.join("themes"));
    let files = folder
        .as_deref()
        .map_or_else(|| Ok(Vec::new()), settings_file::files);
    let files = files.unwrap_or_else(|why| {
        let theme = Err(format!("themes of your own: {why}"));
        all.push(Listed {
            name: "…".to_owned(),
            from: String::new(),
            theme,
        });
        Vec::new()
    });
    for path in files {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
            continue;
        };
        let (is_taken, from) = (themes::built_in(name).is_some(), path.display().to_string());
        let theme = if is_taken {
            Err(format!("{from}: never used, one of tv has this name"))
        } else {
            read(&path, name).and_then(|theme| theme.ok_or_else(|| format!("{from}: it is gone")))
        };
        all.push(Listed {
            name: name.to_owned(),
            from,
            theme,
        });
    }
    all
}

/// Reads a theme file, if there is one; errors name the line.
fn read(path: &Path, name: &str) -> Result<Option<Theme>, String> {
    let Some(text) = settings_file::text(path)? else {
        return Ok(None);
    };
    let file = themes::parse(name, &text);
    match file.complaints.into_iter().next() {
        Some(complaint) => Err(format!("{}:{complaint}", path.display())),
        None => Ok(Some(file.theme)),
    }
}

/// Parses COLORFGBG, `foreground;background` in the sixteen colours; 7 and 9 to 15 are light.
fn is_light(colorfgbg: Option<&str>) -> Option<bool> {
    let background: u8 = colorfgbg?.rsplit(';').next()?.parse().ok()?;
    Some(matches!(background, 7 | 9..=15))
}
