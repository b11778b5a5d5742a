//! Parses `config.toml`, with a complaint for each part that is not understood.
//!
//! Invariant: never fails. Parts that are understood apply, whatever else is in the file.

mod prices;
pub mod state_files;
mod table;
pub mod themes;

use std::borrow::Cow;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::table::{in_order, position_of};
use crate::analysis::money::prices::Prices;
use crate::app::alarms::AlarmSpec;
use crate::app::input::action::Action;
use crate::app::input::keymap::Preset;
use crate::app::input::keys::{Press, parse_keys};
use crate::app::input::setting::{Assignment, SETTINGS, Setting, Values};
use crate::model::text::likeness::near_words;

/// The settings of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Those that have one value, as far as the file names them.
    pub(crate) values: Vec<Assignment>,
    /// Alarms of every session.
    pub(crate) watch: Vec<AlarmSpec>,
    /// Keys to start from.
    pub(crate) preset: Preset,
    /// Keys of single actions.
    pub(crate) keys: Vec<(Action, Vec<Vec<Press>>)>,
    /// Prices by model, which override those of the table.
    pub(crate) prices: Vec<(String, Prices)>,
    /// Complaints: `line:column: what`.
    pub complaints: Vec<String>,
}

impl Settings {
    /// The value of a setting, or its default.
    pub(crate) fn word(&self, name: &str) -> &str {
        let value = self.values.iter().find(|value| value.setting.name == name);
        value.map_or_else(
            || Setting::by_name(name).map_or("", |setting| setting.default),
            |value| &value.word,
        )
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.word(name) == "on"
    }

    pub(crate) fn number<T: FromStr + Default>(&self, name: &str) -> T {
        self.word(name).parse().unwrap_or_default()
    }
}

/// Parses the text of a settings file.
pub fn parse(text: &str) -> Settings {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = SettingsReader {
        text,
        settings: Settings::default(),
        complaints: Vec::new(),
    };
    for error in errors {
        reader.complain(error.span().map_or(0, |span| span.start), error.message());
    }
    for (key, value) in in_order(table.get_ref()) {
        reader.set(key, value);
    }
    reader.finish()
}

/// Limit of listed complaints; the rest is counted.
const COMPLAINTS: usize = 16;
/// Limit of key sequences for an action.
const SEQUENCES: usize = 16;

const KEYS_WANTED: &str = "keys are written like \"x\", \"ctrl-n\" or \"g g\"";

struct SettingsReader<'t> {
    text: &'t str,
    settings: Settings,
    /// Complaints with their offsets.
    complaints: Vec<(usize, String)>,
}

impl SettingsReader<'_> {
    fn set(&mut self, key: &Spanned<Cow<'_, str>>, value: &Spanned<DeValue<'_>>) {
        match key.get_ref().as_ref() {
            "strip" => self.complain(
                key.span().start,
                "the time strip is gone: the page of time, 2, shows whose it was",
            ),
            "watch" => self.set_alarms(value),
            "keys" => match value.get_ref().as_table() {
                Some(keys) => self.set_keys(keys),
                None => self.complain(value.span().start, "keys is a table: [keys]"),
            },
            "prices" => match value.get_ref().as_table() {
                Some(models) => self.settings.prices = prices::read(models, &mut self.complaints),
                None => self.complain(value.span().start, "prices is a table: [prices.\"name\"]"),
            },
            other => {
                if let Some(setting) = Setting::by_name(other) {
                    return self.set_value(setting, value);
                }
                let near = near_words(other, SETTINGS.iter().map(|setting| setting.name));
                let what = format!("no setting is called {other}{near}");
                self.complain(key.span().start, &what);
            }
        }
    }

    fn set_value(&mut self, setting: &'static Setting, value: &Spanned<DeValue<'_>>) {
        let word = match (setting.values, value.get_ref()) {
            (Values::Switch, DeValue::Boolean(is_on)) => {
                if *is_on {
                    "on"
                } else {
                    "off"
                }
            }
            (Values::Number(..), DeValue::Integer(number)) => number.as_str(),
            (Values::Words(_) | Values::Name, DeValue::String(word)) => word,
            (Values::Switch, _) => {
                return self.complain(value.span().start, "true or false is wanted here");
            }
            _ => "",
        };
        match setting.to(word) {
            Ok(value) => self.settings.values.push(value),
            Err(why) => self.complain(value.span().start, &why),
        }
    }

    fn set_keys(&mut self, keys: &DeTable<'_>) {
        for (name, value) in in_order(keys) {
            if name.get_ref() == "preset" {
                match value.get_ref().as_str().and_then(Preset::by_name) {
                    Some(preset) => self.settings.preset = preset,
                    None => self.complain(value.span().start, "a preset is default, less or vim"),
                }
                continue;
            }
            match name.get_ref().parse::<Action>() {
                Ok(action) => {
                    let sequences = self.sequences(value);
                    self.settings.keys.push((action, sequences));
                }
                Err(why) => self.complain(name.span().start, &why),
            }
        }
    }

    /// Parses expressions, each with an optional command after `|`.
    fn set_alarms(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(wishes) = value.get_ref().as_array() else {
            return self.complain(
                value.span().start,
                "watch is a list: [\"waiting\", \"err\"]",
            );
        };
        for wish in wishes {
            match wish.get_ref().as_str().map(str::parse::<AlarmSpec>) {
                Some(Ok(wish)) => self.settings.watch.push(wish),
                Some(Err(wrong)) => {
                    self.complain(
                        wish.span().start,
                        &format!("at {}: {}", wrong.at + 1, wrong.what),
                    );
                }
                None => self.complain(wish.span().start, "a string is wanted here"),
            }
        }
    }

    /// Parses a key sequence or an array of them; an empty array removes all keys of the action.
    fn sequences(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<Vec<Press>> {
        let names: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
            DeValue::Array(names) => names.iter().collect(),
            _ => vec![value],
        };
        if let Some(name) = names.get(SEQUENCES) {
            self.complain(
                name.span().start,
                "an action has at most 16 sequences of keys",
            );
        }
        let mut sequences = Vec::new();
        for name in names.into_iter().take(SEQUENCES) {
            match name.get_ref().as_str().and_then(parse_keys) {
                Some(keys) => sequences.push(keys),
                None => self.complain(name.span().start, KEYS_WANTED),
            }
        }
        sequences
    }

    fn finish(mut self) -> Settings {
        self.complaints.sort();
        let more = self.complaints.len().saturating_sub(COMPLAINTS);
        for (number, (at, what)) in self.complaints.iter().take(COMPLAINTS).enumerate() {
            let more = if more > 0 && number + 1 == COMPLAINTS {
                format!(" (and {more} more)")
            } else {
                String::new()
            };
            self.settings
                .complaints
                .push(format!("{}: {what}{more}", position_of(self.text, *at)));
        }
        self.settings
    }

    fn complain(&mut self, at: usize, what: &str) {
        self.complaints.push((at, what.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::app::input::action::{Action, LandmarkKind, Way};
    use crate::app::input::keymap::Preset;
    use crate::app::input::setting::{SETTINGS, Values};

    #[test]
    fn settings_are_read() {
        let settings = parse(
            "theme = \"nord\"\nlevel = 4\nhints = false\nimages = \"sixel\"\n[keys]\npreset = \"vim\"\n\
             next-failure = \"x\"\nhelp = [\"F1\", \"g h\"]\n",
        );
        assert_eq!(settings.complaints, Vec::<String>::new());
        let values: Vec<String> = settings.values.iter().map(ToString::to_string).collect();
        assert_eq!(values, ["theme=nord", "level=4", "nohints", "images=sixel"]);
        assert_eq!(settings.preset, Preset::Vim);
        assert_eq!(
            settings.keys.first().map(|(action, _)| *action),
            Some(Action::Seek(LandmarkKind::Error, Way::Next))
        );
        assert_eq!(settings.keys.last().map(|(_, keys)| keys.len()), Some(2));
    }

    #[test]
    fn the_example_of_the_manual_is_right() {
        let page = include_str!("../assets/manual/settings.md");
        let example = page
            .split("```toml\n")
            .nth(1)
            .and_then(|rest| rest.split("```").next())
            .unwrap();
        let settings = parse(example);
        assert_eq!(settings.complaints, Vec::<String>::new());
        assert!(settings.keys.len() >= 2, "{settings:?}");
        for setting in SETTINGS {
            let line = example
                .lines()
                .find(|line| line.starts_with(&format!("{} = ", setting.name)))
                .unwrap_or_else(|| panic!("the manual does not have {}", setting.name));
            let value = settings.word(setting.name);
            assert!(
                setting.default.is_empty() || setting.default == value,
                "{line}: the default is {}",
                setting.default
            );
            assert!(line.contains(setting.doc), "{line}: {}", setting.doc);
            for word in setting.words() {
                assert!(
                    setting.values == Values::Switch || line.contains(word),
                    "{line}: {word}"
                );
            }
        }
    }

    #[test]
    fn what_is_watched_is_read() {
        let settings =
            parse("watch = [\"waiting\", \"err | true\", \"wating\", 3]\nnotify = \"bell\"\n");
        let watched: Vec<String> = settings.watch.iter().map(ToString::to_string).collect();
        assert_eq!(watched, ["waiting", "err | true"]);
        assert_eq!(settings.word("notify"), "bell");
        let complaints = settings.complaints;
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(
            complaints
                .first()
                .is_some_and(|what| what.contains("no fact is called wating"))
        );
        let wrong = parse("watch = \"waiting\"\nnotify = \"loud\"\n");
        assert_eq!(
            wrong.complaints,
            [
                "1:9: watch is a list: [\"waiting\", \"err\"]",
                "2:10: notify is bell, osc, both or off",
            ]
        );
    }

    #[test]
    fn own_prices_are_usd_for_a_million_tokens() {
        let settings = parse("[prices.\"my-model\"]\ninput = 0.5\noutput = 2\nwindow = 200_000\n");
        assert_eq!(settings.complaints, Vec::<String>::new());
        let (name, prices) = settings.prices.first().unwrap();
        assert_eq!(
            (name.as_str(), prices.rates),
            ("my-model", [500_000, 2_000_000, 500_000, 500_000, 500_000])
        );
        assert_eq!(prices.window, Some(200_000));
        let searched = parse("[prices.a]\ninput = 1\noutput = 2\nsearch = 10\n");
        assert_eq!(
            searched.prices.first().map(|(_, prices)| prices.search),
            Some(10_000_000)
        );
        let wrong = parse(
            "[prices.a]\ninput = 1\n[prices.b]\ninput = 1\noutput = -1\n[prices.c]\ntea = 1\n",
        );
        assert!(wrong.prices.is_empty());
        assert_eq!(
            wrong.complaints,
            [
                "1:9: the prices of input and output are wanted, in USD for a million tokens",
                "5:10: a number is wanted here, not below 0",
                "7:1: no price is called tea",
            ]
        );
    }

    #[test]
    fn what_is_not_understood_is_a_complaint_with_its_place_and_the_rest_counts() {
        let settings =
            parse("level = 9\nwarp = 1\nascii = true\n[keys]\nfly = \"x\"\nnext = \"nokey!\"\n");
        assert!(settings.is_on("ascii"));
        assert_eq!(
            settings.complaints,
            [
                "1:9: level is 1 to 5",
                "2:1: no setting is called warp; near: wrap",
                "5:1: no action is called fly",
                "6:8: keys are written like \"x\", \"ctrl-n\" or \"g g\"",
            ]
        );
        let broken = parse("level = 2\nascii = \n");
        assert_eq!(broken.word("level"), "2");
        assert!(
            broken
                .complaints
                .first()
                .is_some_and(|what| what.starts_with("2:")),
            "{broken:?}"
        );
    }

    #[test]
    fn so_many_complaints_and_sequences_are_enough() {
        let keys = vec!["\"x\""; 20].join(", ");
        let settings = parse(&format!("[keys]\nnext = [{keys}]\npreset = \"emacs\"\n"));
        assert_eq!(settings.keys.first().map(|(_, keys)| keys.len()), Some(16));
        assert_eq!(
            settings
                .complaints
                .iter()
                .map(|what| what.split_once(": ").unwrap().1)
                .collect::<Vec<_>>(),
            [
                "an action has at most 16 sequences of keys",
                "a preset is default, less or vim"
            ]
        );
        let many: String = (0..20)
            .flat_map(|number| ["warp".to_owned(), number.to_string(), " = 1\n".to_owned()])
            .collect();
        let complaints = parse(&many).complaints;
        assert_eq!(complaints.len(), 16);
        assert!(complaints.last().is_some_and(
            |what| what == "16:1: no setting is called warp15; near: wrap (and 4 more)"
        ));
    }

    #[test]
    fn a_level_is_one_of_five() {
        for (typed, level) in [("0", "3"), ("1", "1"), ("5", "5"), ("6", "3")] {
            let settings = parse(&format!("level = {typed}\n"));
            assert_eq!(settings.word("level"), level, "{typed}");
        }
    }
}
