//! Parses `config.toml`, with a complaint for each part that is not understood.
//!
//! Invariant: never fails. Parts that are understood apply, whatever else is in the file.

mod prices;
pub mod state_files;
mod table;
pub mod themes;

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::table::{in_order, position_of};
use crate::analysis::money::prices::Prices;
use crate::app::alarms::{AlarmSpec, NotifyMeans};
use crate::app::input::action::Action;
use crate::app::input::keymap::Preset;
use crate::app::input::keys::{Press, parse_keys};
use crate::app::text::wrapping::Numbers;
use crate::render::picture::canvas::Choice;

/// The settings; `None` for those that the file does not contain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Name of the theme.
    pub(crate) theme: Option<String>,
    /// Initial settings of a session's view.
    pub(crate) view: ViewSettings,
    /// Only ASCII glyphs.
    pub(crate) ascii: Option<bool>,
    /// Whether the mouse is on at the start.
    pub(crate) mouse: Option<bool>,
    /// Whether control and invisible characters are removed from copies.
    pub(crate) clean: Option<bool>,
    /// Whether keys and tokens are masked in copies.
    pub(crate) redact: Option<bool>,
    /// Whether state is saved.
    pub(crate) state: Option<bool>,
    /// How images are shown.
    pub(crate) images: Option<Choice>,
    /// Alarms of every session.
    pub(crate) watch: Vec<AlarmSpec>,
    /// How alarms are announced.
    pub(crate) notify: Option<NotifyMeans>,
    /// Keys to start from.
    pub(crate) preset: Preset,
    /// Keys of single actions.
    pub(crate) keys: Vec<(Action, Vec<Vec<Press>>)>,
    /// Prices by model, which override those of the table.
    pub(crate) prices: Vec<(String, Prices)>,
    /// From this many minutes after its end, the report of background work counts as late.
    pub(crate) late: Option<u32>,
    /// Complaints: `line:column: what`.
    pub complaints: Vec<String>,
}

/// Initial settings of a session's view; `None` for those that the file does not contain.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ViewSettings {
    /// Level of detail, 1 to 5.
    pub(crate) level: Option<u8>,
    /// Whether thinking is shown.
    pub(crate) thinking: Option<bool>,
    /// Whether calls show their purpose.
    pub(crate) intents: Option<bool>,
    /// Whether times are in UTC.
    pub(crate) utc: Option<bool>,
    /// Whether the outline is shown.
    pub(crate) outline: Option<bool>,
    /// Whether the inspector is shown.
    pub(crate) inspector: Option<bool>,
    /// Whether the line of hints is shown.
    pub(crate) hints: Option<bool>,
    /// Whether what the model could not see at the cursor is dimmed.
    pub(crate) asof: Option<bool>,
    /// Whether invisible characters are marked.
    pub(crate) marks: Option<bool>,
    /// Whether long lines are wrapped.
    pub(crate) wrap: Option<bool>,
    /// Numbers beside the text.
    pub(crate) gutter: Option<Numbers>,
    /// Whether lanes of running calls are shown beside the text.
    pub(crate) lanes: Option<bool>,
    /// Whether long pauses between entries are shown.
    pub(crate) rulers: Option<bool>,
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
            "theme" => self.settings.theme = self.string(value),
            "level" => self.settings.view.level = self.level(value),
            "ascii" => self.settings.ascii = self.switch(value),
            "thinking" => self.settings.view.thinking = self.switch(value),
            "intents" => self.settings.view.intents = self.switch(value),
            "utc" => self.settings.view.utc = self.switch(value),
            "outline" => self.settings.view.outline = self.switch(value),
            "inspector" => self.settings.view.inspector = self.switch(value),
            "strip" => self.complain(
                key.span().start,
                "the time strip is gone: the timeline, 2, shows whose time it was",
            ),
            "mouse" => self.settings.mouse = self.switch(value),
            "hints" => self.settings.view.hints = self.switch(value),
            "asof" => self.settings.view.asof = self.switch(value),
            "marks" => self.settings.view.marks = self.switch(value),
            "clean" => self.settings.clean = self.switch(value),
            "redact" => self.settings.redact = self.switch(value),
            "wrap" => self.settings.view.wrap = self.switch(value),
            "gutter" => {
                let numbers = value.get_ref().as_str().and_then(Numbers::named);
                self.settings.view.gutter =
                    self.wanted(numbers, value, "a gutter is none, lines or bytes");
            }
            "lanes" => self.settings.view.lanes = self.switch(value),
            "rulers" => self.settings.view.rulers = self.switch(value),
            "state" => self.settings.state = self.switch(value),
            "images" => self.settings.images = self.images(value),
            "watch" => self.set_alarms(value),
            "notify" => {
                let means = value.get_ref().as_str().and_then(|word| word.parse().ok());
                self.settings.notify =
                    self.wanted(means, value, "an alarm is told by bell, osc, both or off");
            }
            "late" => {
                let minutes = value
                    .get_ref()
                    .as_integer()
                    .and_then(|number| number.as_str().parse().ok());
                self.settings.late = self.wanted(minutes, value, "late is a number of minutes");
            }
            "keys" => match value.get_ref().as_table() {
                Some(keys) => self.set_keys(keys),
                None => self.complain(value.span().start, "keys is a table: [keys]"),
            },
            "prices" => match value.get_ref().as_table() {
                Some(models) => self.settings.prices = prices::read(models, &mut self.complaints),
                None => self.complain(value.span().start, "prices is a table: [prices.\"name\"]"),
            },
            other => self.complain(key.span().start, &format!("nothing is called {other}")),
        }
    }

    fn set_keys(&mut self, keys: &DeTable<'_>) {
        for (name, value) in in_order(keys) {
            if name.get_ref() == "preset" {
                match value.get_ref().as_str().and_then(Preset::named) {
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

    fn string(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let string = value.get_ref().as_str().map(str::to_owned);
        self.wanted(string, value, "a string is wanted here")
    }

    fn switch(&mut self, value: &Spanned<DeValue<'_>>) -> Option<bool> {
        self.wanted(
            value.get_ref().as_bool(),
            value,
            "true or false is wanted here",
        )
    }

    fn level(&mut self, value: &Spanned<DeValue<'_>>) -> Option<u8> {
        let level = value
            .get_ref()
            .as_integer()
            .and_then(|number| number.as_str().parse().ok());
        self.wanted(
            level.filter(|level| (1..=5).contains(level)),
            value,
            "a level is 1 to 5",
        )
    }

    fn images(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Choice> {
        match value
            .get_ref()
            .as_str()
            .unwrap_or_default()
            .parse::<Choice>()
        {
            Ok(choice) => Some(choice),
            Err(why) => {
                self.complain(value.span().start, &why);
                None
            }
        }
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

    fn wanted<T>(
        &mut self,
        found: Option<T>,
        value: &Spanned<DeValue<'_>>,
        what: &str,
    ) -> Option<T> {
        if found.is_none() {
            self.complain(value.span().start, what);
        }
        found
    }

    fn complain(&mut self, at: usize, what: &str) {
        self.complaints.push((at, what.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::{Settings, ViewSettings, parse};
    use crate::app::alarms::NotifyMeans;
    use crate::app::input::action::{Action, LandmarkKind, Way};
    use crate::app::input::keymap::Preset;
    use crate::render::picture::canvas::{Choice, Means};

    #[test]
    fn settings_are_read() {
        let settings = parse(
            "theme = \"nord\"\nlevel = 4\nhints = false\nimages = \"sixel\"\n[keys]\npreset = \"vim\"\n\
             next-error = \"x\"\nhelp = [\"F1\", \"g h\"]\n",
        );
        assert_eq!(settings.complaints, Vec::<String>::new());
        assert_eq!(settings.theme.as_deref(), Some("nord"));
        assert_eq!(settings.images, Some(Choice::Only(Means::Sixel)));
        assert_eq!(
            (settings.view.level, settings.view.hints, settings.preset),
            (Some(4), Some(false), Preset::Vim)
        );
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
        assert!(
            settings.theme.is_some() && settings.keys.len() >= 2,
            "{settings:?}"
        );
    }

    #[test]
    fn what_is_watched_is_read() {
        let settings =
            parse("watch = [\"waiting\", \"err | true\", \"wating\", 3]\nnotify = \"bell\"\n");
        let watched: Vec<String> = settings.watch.iter().map(ToString::to_string).collect();
        assert_eq!(watched, ["waiting", "err | true"]);
        assert_eq!(settings.notify, Some(NotifyMeans::Bell));
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
                "2:10: an alarm is told by bell, osc, both or off",
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
        assert_eq!(settings.ascii, Some(true));
        assert_eq!(
            settings.complaints,
            [
                "1:9: a level is 1 to 5",
                "2:1: nothing is called warp",
                "5:1: no action is called fly",
                "6:8: keys are written like \"x\", \"ctrl-n\" or \"g g\"",
            ]
        );
        let broken = parse("level = 2\nascii = \n");
        assert_eq!(broken.view.level, Some(2));
        assert!(
            broken
                .complaints
                .first()
                .is_some_and(|what| what.starts_with("2:")),
            "{broken:?}"
        );
    }

    #[test]
    fn each_switch_is_one_of_its_own() {
        let told = |settings: &Settings| {
            let Settings {
                ascii,
                mouse,
                clean,
                redact,
                state,
                view,
                ..
            } = settings;
            let ViewSettings {
                thinking,
                intents,
                utc,
                outline,
                inspector,
                hints,
                ..
            } = view;
            let ViewSettings {
                asof,
                marks,
                wrap,
                lanes,
                rulers,
                ..
            } = view;
            let first = [
                ascii, mouse, clean, redact, state, thinking, intents, utc, outline,
            ];
            let others = [inspector, hints, asof, marks, wrap, lanes, rulers];
            first
                .into_iter()
                .chain(others)
                .copied()
                .collect::<Vec<Option<bool>>>()
        };
        let first = [
            "ascii", "mouse", "clean", "redact", "state", "thinking", "intents", "utc", "outline",
        ];
        let others = [
            "inspector",
            "hints",
            "asof",
            "marks",
            "wrap",
            "lanes",
            "rulers",
        ];
        let names: Vec<&str> = first.into_iter().chain(others).collect();
        for (number, name) in names.iter().enumerate() {
            for value in [true, false] {
                let mut expected = vec![None; names.len()];
                expected[number] = Some(value);
                assert_eq!(
                    told(&parse(&format!("{name} = {value}\n"))),
                    expected,
                    "{name}"
                );
            }
        }
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
        assert!(
            complaints
                .last()
                .is_some_and(|what| what == "16:1: nothing is called warp15 (and 4 more)")
        );
    }

    #[test]
    fn a_level_is_one_of_five() {
        for (typed, level) in [("0", None), ("1", Some(1)), ("5", Some(5)), ("6", None)] {
            assert_eq!(
                parse(&format!("level = {typed}\n")).view.level,
                level,
                "{typed}"
            );
        }
    }
}
