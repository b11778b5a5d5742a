//! Theme files: built-in ones, and the user's own.
//!
//! ```toml
//! light = false              # missing roles are as in the dark theme; if true, as in the light one
//! background = "#1e1e2e"     # of the terminal that the theme is made for
//! [roles]
//! user = "bold #89b4fa"
//! hit = "#1e1e2e on #f9e2af"
//! ```

use std::borrow::Cow;

use ratatui::style::{Color, Modifier, Style};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::table::{in_order, position_of};
use crate::render::colour::{self, Rgb};
use crate::render::theme::{LIKE, Theme};

/// The built-in theme files.
pub(crate) const EMBEDDED: [(&str, &str); 7] = [
    (
        "catppuccin",
        include_str!("../../assets/themes/catppuccin.toml"),
    ),
    (
        "catppuccin-latte",
        include_str!("../../assets/themes/catppuccin-latte.toml"),
    ),
    ("gruvbox", include_str!("../../assets/themes/gruvbox.toml")),
    (
        "gruvbox-light",
        include_str!("../../assets/themes/gruvbox-light.toml"),
    ),
    ("nord", include_str!("../../assets/themes/nord.toml")),
    (
        "solarized",
        include_str!("../../assets/themes/solarized.toml"),
    ),
    (
        "solarized-light",
        include_str!("../../assets/themes/solarized-light.toml"),
    ),
];

/// A parsed theme file.
#[derive(Clone, Debug, PartialEq)]
pub struct ThemeFile {
    pub(crate) theme: Theme,
    /// The background that it is made for.
    pub(crate) background: Option<Rgb>,
    /// Errors: `line:column: message`.
    pub(crate) complaints: Vec<String>,
}

/// The names of the built-in themes.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ["dark", "light", "mono"]
        .into_iter()
        .chain(EMBEDDED.iter().map(|(name, _)| *name))
}

pub(crate) fn built_in(name: &str) -> Option<Theme> {
    let embedded = || EMBEDDED.iter().find(|(known, _)| *known == name);
    Theme::by_name(name).or_else(|| embedded().map(|(name, text)| parse(name, text).theme))
}

/// Parses a theme file. Never fails: styles with errors keep those of the dark or the light theme.
pub fn parse(name: &str, text: &str) -> ThemeFile {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut complaints: Vec<String> = Vec::new();
    let mut complain =
        |at: usize, what: &str| complaints.push(format!("{}: {what}", position_of(text, at)));
    for error in errors {
        complain(error.span().map_or(0, |span| span.start), error.message());
    }
    let table = table.get_ref();
    let is_light = table
        .get("light")
        .and_then(|value| value.get_ref().as_bool())
        .unwrap_or(false);
    let mut theme = if is_light {
        Theme::light()
    } else {
        Theme::dark()
    };
    name.clone_into(&mut theme.name);
    let background = table
        .get("background")
        .and_then(|value| value.get_ref().as_str());
    for (key, value) in in_order(table) {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("light", DeValue::Boolean(_)) => {}
            ("background", _) if background.and_then(colour::parse).is_some() => {}
            ("roles", DeValue::Table(roles)) => set_roles(roles, &mut theme, &mut complain),
            (other, _) => complain(key.span().start, &format!("{other} is not understood")),
        }
    }
    let background = background.and_then(colour::parse).and_then(colour::rgb);
    ThemeFile {
        theme,
        background,
        complaints,
    }
}

fn set_roles(roles: &DeTable<'_>, theme: &mut Theme, complain: &mut impl FnMut(usize, &str)) {
    for (role, value) in in_order(roles) {
        let (role, at): (&Cow<'_, str>, usize) = (role.get_ref(), role.span().start);
        let Some(slot) = theme.role_mut(role) else {
            complain(at, &format!("no role is called {role}"));
            continue;
        };
        match style(value) {
            Some(style) => *slot = style,
            None => complain(
                value.span().start,
                "a style is written like \"bold #89b4fa on #313244\"",
            ),
        }
    }
    for (role, other) in LIKE
        .into_iter()
        .filter(|(role, _)| !roles.contains_key(*role))
    {
        if let (Some(style), true) = (theme.role_mut(other).copied(), roles.contains_key(other)) {
            theme
                .role_mut(role)
                .into_iter()
                .for_each(|slot| *slot = style);
        }
    }
}

/// Parses `bold italic #89b4fa on #313244`.
fn style(value: &Spanned<DeValue<'_>>) -> Option<Style> {
    let mut style = Style::new();
    let mut is_ground = false;
    for word in value.get_ref().as_str()?.split_whitespace() {
        match word {
            "on" => is_ground = true,
            "bold" => style = style.add_modifier(Modifier::BOLD),
            "dim" => style = style.add_modifier(Modifier::DIM),
            "italic" => style = style.add_modifier(Modifier::ITALIC),
            "underlined" => style = style.add_modifier(Modifier::UNDERLINED),
            "reversed" => style = style.add_modifier(Modifier::REVERSED),
            colour => {
                let colour: Color = colour::parse(colour)?;
                style = if is_ground {
                    style.bg(colour)
                } else {
                    style.fg(colour)
                };
            }
        }
    }
    Some(style)
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Modifier};

    use super::{EMBEDDED, built_in, parse};
    use crate::render::colour::{Rgb, contrast, rgb};
    use crate::render::theme::{LIKE, ROLES, Theme};

    /// Roles that are less prominent on purpose.
    const FAINT: [&str; 3] = ["dim", "thinking", "comment"];

    /// All text must be easy to read, and faint text still readable. The sixteen colours depend on
    /// the user's palette, so they are checked as most terminals show them.
    fn check(theme: &mut Theme, background: Rgb) {
        let name = theme.name.clone();
        let mut checked = 0;
        for role in ROLES {
            let style = *theme.role_mut(role).unwrap();
            if style.add_modifier.contains(Modifier::REVERSED) {
                continue;
            }
            let ground = style.bg.and_then(rgb).unwrap_or(background);
            let Some(colour) = style.fg.and_then(rgb) else {
                continue;
            };
            let is_fixed = matches!(style.fg, Some(Color::Rgb(..) | Color::Indexed(16..)));
            let found = contrast(colour, ground);
            let wanted = if FAINT.contains(&role) || !is_fixed {
                3.0
            } else {
                4.5
            };
            assert!(
                found >= wanted,
                "{name}: {role} has a contrast of {found:.2}, not {wanted}"
            );
            checked += 1;
        }
        assert!(checked > 10, "{name} has only {checked} colours");
    }

    #[test]
    fn all_themes_can_be_read() {
        for (name, text) in EMBEDDED {
            let mut file = parse(name, text);
            assert_eq!(file.complaints, Vec::<String>::new(), "{name}");
            for role in ROLES {
                let is_named = |role: &str| text.contains(&format!("\n{role} = "));
                let other = LIKE
                    .iter()
                    .find(|(like, _)| *like == role)
                    .map(|(_, other)| *other);
                assert!(
                    is_named(role) || other.is_some_and(is_named),
                    "{name} leaves {role} open"
                );
            }
            check(&mut file.theme, file.background.unwrap());
            assert!(built_in(name).is_some());
        }
        check(&mut Theme::dark(), (0, 0, 0));
        check(&mut Theme::light(), (255, 255, 255));
    }

    #[test]
    fn the_example_of_the_manual_is_right() {
        let page = include_str!("../../assets/manual/settings.md");
        let example = page
            .split("```toml\n")
            .nth(2)
            .and_then(|rest| rest.split("```").next())
            .unwrap();
        let mut file = parse("mine", example);
        assert_eq!(file.complaints, Vec::<String>::new());
        check(&mut file.theme, file.background.unwrap());
        assert_ne!(file.theme.voice.user, Theme::dark().voice.user);
        for role in ROLES {
            assert!(
                page.contains(&format!("`{role}`")),
                "the manual does not name {role}"
            );
        }
    }

    #[test]
    fn a_role_that_is_left_out_looks_like_another() {
        let named = |roles: &str| parse("mine", &format!("[roles]\n{roles}")).theme;
        let red = Color::Rgb(255, 0, 0);
        assert_eq!(named("good = \"#ff0000\"").syntax.string.fg, Some(red));
        assert_ne!(
            named("good = \"#ff0000\"\nstring = \"#00ff00\"")
                .syntax
                .string
                .fg,
            Some(red)
        );
        assert_eq!(named("bad = \"#ff0000\"").syntax, Theme::dark().syntax);
        for mut theme in [Theme::dark(), Theme::light()] {
            for (role, other) in LIKE {
                assert_eq!(
                    theme.role_mut(role).copied(),
                    theme.role_mut(other).copied(),
                    "{role} of {}",
                    theme.name
                );
            }
        }
    }

    #[test]
    fn each_word_of_a_style_counts() {
        for (word, modifier) in [
            ("bold", Modifier::BOLD),
            ("dim", Modifier::DIM),
            ("italic", Modifier::ITALIC),
            ("underlined", Modifier::UNDERLINED),
            ("reversed", Modifier::REVERSED),
        ] {
            let mut theme = parse(
                "mine",
                &format!("[roles]\nuser = \"{word} #ff0000 on #0000ff\"\n"),
            )
            .theme;
            let style = theme.role_mut("user").copied().unwrap();
            assert_eq!(style.add_modifier, modifier, "{word}");
            assert_eq!(
                (style.fg, style.bg),
                (Some(Color::Rgb(255, 0, 0)), Some(Color::Rgb(0, 0, 255)))
            );
        }
    }

    #[test]
    fn what_is_not_understood_is_a_complaint() {
        let file = parse(
            "mine",
            "light = true\nglow = 1\n[roles]\nuser = \"bold\"\nbot = \"red\"\ndim = \"#1\"\n",
        );
        assert_eq!(
            file.complaints,
            [
                "2:1: glow is not understood",
                "5:1: no role is called bot",
                "6:7: a style is written like \"bold #89b4fa on #313244\"",
            ]
        );
        assert!(file.theme.is_light && file.theme.name == "mine");
    }
}
