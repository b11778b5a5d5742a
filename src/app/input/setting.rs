//! The settings with a single value: each is a row of [`SETTINGS`], which is read by `config.toml`,
//! `:set`, the palette, the keys that change a setting, the manual and the state folder.
//!
//! Invariant: a value is the word that is typed for it, so all values compare, print and parse
//! alike.

use std::fmt;
use std::str::FromStr;

use crate::app::alarms::NotifyMeans;
use crate::app::effect::Effect;
use crate::app::state::App;
use crate::app::text::wrapping::LineNumbers;
use crate::model::timestamp::Zone;

/// An option of the viewer that `config.toml`, `:set` and the palette can change.
pub struct Setting {
    /// The key in `config.toml`, and the name for `:set`.
    pub name: &'static str,
    pub(crate) values: Values,
    /// The value without a settings file; empty if it depends on the size of the screen.
    pub default: &'static str,
    /// Description of the setting.
    pub doc: &'static str,
    /// The field of the viewer with the value; `None` if the value is only passed to `change`, or
    /// read only at the start.
    field: Option<fn(&mut App) -> &mut dyn Slot>,
    /// Further changes that `:set` makes; `None` if the setting is read only at the start.
    change: Option<fn(&mut App, &str) -> Vec<Effect>>,
    /// The message for each value.
    messages: &'static [&'static str],
    /// Whether the state folder stores the value.
    is_remembered: bool,
}

/// The values of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    Switch,
    Words(&'static [&'static str]),
    /// A number in this range, both ends included.
    Number(u32, u32),
    Name,
}

const SWITCH: &[&str] = &["on", "off"];

/// All settings, in the order of the manual.
pub const SETTINGS: &[Setting] = &[
    Setting::new("theme", Values::Name, "auto", "colours, as with --theme")
        .changing(|_, word| vec![Effect::Theme(word.to_owned())]),
    Setting::new(
        "level",
        Values::Number(1, 5),
        "3",
        "level of detail at the start",
    ),
    switch("thinking", "on", "thinking", |app| {
        &mut app.reader.text.shows.thinking
    }),
    switch(
        "intents",
        "on",
        "what calls are for, before their commands",
        |app| &mut app.reader.text.shows.intents,
    )
    .with_messages(&["what calls are for, then what they do", "what calls do"])
    .remembered(),
    switch(
        "utc",
        "off",
        "times in UTC, or in your own time zone",
        |app| &mut app.is_utc,
    )
    .changing(|app, _| {
        Zone::show_utc(app.is_utc);
        Vec::new()
    }),
    switch(
        "outline",
        "",
        "the outline; without: if there is room",
        |app| &mut app.reader.panes.wants_outline,
    ),
    switch("inspector", "", "the inspector, likewise", |app| {
        &mut app.reader.panes.wants_inspector
    })
    .changing(|app, word| {
        app.reader
            .panes
            .show_inspector(&app.reader.screen, word == "on");
        Vec::new()
    }),
    switch("hints", "on", "the line of hints", |app| {
        &mut app.reader.screen.shows_hints
    }),
    switch("bar", "on", "the bar of views", |app| {
        &mut app.reader.screen.shows_bar
    }),
    switch(
        "asof",
        "off",
        "dim what the model did not see at the cursor",
        |app| &mut app.reader.text.as_of.is_on,
    )
    .with_messages(&["", "nothing is dimmed for the cursor's sake"])
    .changing(|app, word| {
        app.reader.text.as_of.is_asked = word == "on";
        Vec::new()
    }),
    switch(
        "marks",
        "on",
        "marks in the text for characters that are not seen",
        |app| &mut app.reader.screen.theme.has_marks,
    ),
    switch(
        "clean",
        "off",
        "copy without control and unseen characters",
        |app| &mut app.copying.is_clean,
    ),
    switch("redact", "off", "copy with keys and tokens masked", |app| {
        &mut app.copying.is_redacted
    }),
    switch("mouse", "off", "wheel, clicks, dividers", |app| {
        &mut app.mouse.is_on
    })
    .with_messages(&[
        "mouse on; with shift the terminal selects text as usual",
        "mouse off",
    ])
    .changing(|app, word| {
        app.mouse.dragged = None;
        vec![Effect::Mouse(word == "on")]
    }),
    Setting::new("ascii", Values::Switch, "off", "glyphs of ASCII only"),
    switch(
        "wrap",
        "on",
        "long lines of code and output wrapped, or cut",
        |app| &mut app.reader.text.wrapping.wraps,
    )
    .with_messages(&[
        "long lines are wrapped",
        "long lines are cut; zl and zh scroll",
    ])
    .changing(|app, _| {
        app.reader.text.wrapping.first_column = 0;
        Vec::new()
    }),
    Setting::new(
        "gutter",
        Values::Words(&["none", "lines", "bytes"]),
        "none",
        "place of the record in the file",
    )
    .at(|app| &mut app.reader.text.wrapping.numbers)
    .with_messages(&["no numbers", "lines of the file", "bytes of the file"]),
    switch(
        "lanes",
        "on",
        "lanes of calls in flight beside the text",
        |app| &mut app.reader.text.wrapping.lanes,
    )
    .with_messages(&["lanes of calls in flight", "no lanes"]),
    switch(
        "rulers",
        "on",
        "times from 30 s on between entries",
        |app| &mut app.reader.text.wrapping.rulers,
    )
    .with_messages(&[
        "long times stand between entries",
        "no times between entries",
    ]),
    Setting::new(
        "state",
        Values::Switch,
        "on",
        "remember marks and typed lines for the next time",
    ),
    Setting::new(
        "images",
        Values::Words(&["auto", "kitty", "iterm2", "sixel", "blocks", "off"]),
        "auto",
        "how images are shown",
    )
    .changing(|_, word| word.parse().map(Effect::Images).into_iter().collect()),
    Setting::new(
        "notify",
        Values::Words(&["bell", "osc", "both", "off"]),
        "both",
        "how alarms are told",
    )
    .at(|app| &mut app.notify),
    Setting::new(
        "late",
        Values::Number(0, u32::MAX),
        "5",
        "minutes after which an end is told late",
    ),
];

const fn switch(
    name: &'static str,
    default: &'static str,
    doc: &'static str,
    field: fn(&mut App) -> &mut dyn Slot,
) -> Setting {
    Setting::new(name, Values::Switch, default, doc).at(field)
}

impl Setting {
    const fn new(
        name: &'static str,
        values: Values,
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            values,
            default,
            doc,
            field: None,
            change: None,
            messages: &[],
            is_remembered: false,
        }
    }

    const fn at(self, field: fn(&mut App) -> &mut dyn Slot) -> Self {
        Self {
            field: Some(field),
            change: Some(|_, _| Vec::new()),
            ..self
        }
    }

    const fn changing(self, change: fn(&mut App, &str) -> Vec<Effect>) -> Self {
        Self {
            change: Some(change),
            ..self
        }
    }

    const fn with_messages(self, messages: &'static [&'static str]) -> Self {
        Self { messages, ..self }
    }

    const fn remembered(self) -> Self {
        Self {
            is_remembered: true,
            ..self
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// The words that are valid values; empty for numbers and names.
    pub(crate) fn words(&self) -> &'static [&'static str] {
        match self.values {
            Values::Switch => SWITCH,
            Values::Words(words) => words,
            Values::Number(..) | Values::Name => &[],
        }
    }

    /// The assignment of a value; an error describes the valid values.
    pub(crate) fn to(&'static self, word: &str) -> Result<Assignment, String> {
        let is_one = match self.values {
            Values::Switch | Values::Words(_) => self.words().contains(&word),
            Values::Number(least, most) => word
                .parse()
                .is_ok_and(|number| (least..=most).contains(&number)),
            Values::Name => !word.is_empty(),
        };
        let assignment = Assignment {
            setting: self,
            word: word.to_owned(),
        };
        is_one.then_some(assignment).ok_or_else(|| self.expected())
    }

    /// Description of the valid values, for error messages.
    fn expected(&self) -> String {
        match self.values {
            Values::Number(_, u32::MAX) => format!("{} is a number", self.name),
            Values::Number(least, most) => format!("{} is {least} to {most}", self.name),
            Values::Name => format!("{} is a name", self.name),
            Values::Switch | Values::Words(_) => match self.words() {
                [others @ .., last] => {
                    format!("{} is {} or {last}", self.name, others.join(", "))
                }
                [] => String::new(),
            },
        }
    }

    /// Everything that can be typed after `:set` for it; empty for numbers and names.
    pub(crate) fn choices(&'static self) -> Vec<String> {
        let words = self.words().iter().filter(|_| self.change.is_some());
        let assignments = words.filter_map(|word| self.to(word).ok());
        assignments
            .map(|assignment| assignment.to_string())
            .collect()
    }

    /// Syntax after `:set`; `None` if the setting is read only at the start.
    pub(crate) fn usage(&self) -> Option<String> {
        self.change?;
        Some(match self.values {
            Values::Switch => format!("[no]{}", self.name),
            Values::Words(words) => format!("{}={}", self.name, words.join("|")),
            Values::Number(..) | Values::Name => format!("{}=NAME", self.name),
        })
    }

    /// The current value; `None` if the viewer has no field for it.
    fn value(&'static self, app: &mut App) -> Option<Assignment> {
        self.to(&self.field?(app).word()).ok()
    }

    /// The next value; for a switch the other one.
    pub(crate) fn next(&'static self, app: &mut App) -> Option<Assignment> {
        let (words, now) = (self.words(), self.value(app));
        let at = words
            .iter()
            .position(|word| now.as_ref().is_some_and(|now| now.word == *word));
        let next = words.get((at? + 1) % words.len())?;
        self.to(next).ok()
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A setting with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    pub(crate) setting: &'static Setting,
    pub(crate) word: String,
}

impl Assignment {
    pub(crate) fn is_on(&self) -> bool {
        self.word == "on"
    }

    /// Turns a switch on or off.
    pub(crate) fn switch(&mut self, is_on: bool) {
        self.word = is_on.word();
    }

    /// Stores the value in the viewer, without a message.
    pub(crate) fn apply(&self, app: &mut App) {
        if let Some(field) = self.setting.field {
            field(app).set(&self.word);
        }
    }

    /// Makes the further changes of a setting in the running viewer. Returns effects; shows the
    /// message.
    pub(crate) fn follow(&self, app: &mut App) -> Vec<Effect> {
        let at = self
            .setting
            .words()
            .iter()
            .position(|word| *word == self.word);
        let message = at.and_then(|at| self.setting.messages.get(at));
        if let Some(message) = message.filter(|message| !message.is_empty()) {
            app.reader.screen.set_status(*message);
        }
        self.setting
            .change
            .map_or_else(Vec::new, |change| change(app, &self.word))
    }
}

impl FromStr for Assignment {
    type Err = String;

    /// Parses `name`, `noname`, `name=value` and `name value`.
    fn from_str(typed: &str) -> Result<Self, String> {
        let typed = typed.trim();
        let (name, word) = match typed.split_once(['=', ' ']) {
            Some((name, word)) => (name, Some(word.trim())),
            None => (typed, None),
        };
        let off = typed.strip_prefix("no").and_then(Setting::by_name);
        let (setting, word) = match (Setting::by_name(name), off, word) {
            (Some(setting), _, Some(word)) => (setting, word),
            (Some(setting), _, None) => match setting.values {
                Values::Switch => (setting, "on"),
                _ => (setting, ""),
            },
            (None, Some(setting), None) => (setting, "off"),
            _ => {
                let can_be_set = SETTINGS.iter().filter(|setting| setting.change.is_some());
                let names: Vec<&str> = can_be_set.map(|setting| setting.name).collect();
                return Err(format!(
                    "nothing to set is called {typed}; {} are",
                    names.join(", ")
                ));
            }
        };
        let Some(usage) = setting.usage() else {
            return Err(format!("{} is for the settings file", setting.name));
        };
        setting
            .to(word)
            .map_err(|_wrong| format!("{typed} cannot be set; {usage} can"))
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, word) = (self.setting.name, &self.word);
        match self.setting.values {
            Values::Switch if word == "on" => f.write_str(name),
            Values::Switch => write!(f, "no{name}"),
            Values::Words(_) | Values::Number(..) | Values::Name => write!(f, "{name}={word}"),
        }
    }
}

/// Gives each field of the viewer the default of its setting.
pub(crate) fn apply_defaults(app: &mut App) {
    for setting in SETTINGS {
        if let Some(field) = setting.field
            && !setting.default.is_empty()
        {
            field(app).set(setting.default);
        }
    }
}

/// The values of all settings that the viewer has fields for.
pub(crate) fn values(app: &mut App) -> Vec<Assignment> {
    SETTINGS
        .iter()
        .filter_map(|setting| setting.value(app))
        .collect()
}

/// The values that are stored in the state folder.
pub(crate) fn remembered(app: &mut App) -> Vec<Assignment> {
    let mut all = values(app);
    all.retain(|value| value.setting.is_remembered);
    all
}

/// A field with the value of a setting.
trait Slot {
    /// The word for the value; empty if there is none.
    fn word(&self) -> String;
    /// Sets the value; an unknown word changes nothing.
    fn set(&mut self, word: &str);
}

impl Slot for bool {
    fn word(&self) -> String {
        if *self { "on" } else { "off" }.to_owned()
    }

    fn set(&mut self, word: &str) {
        *self = word == "on";
    }
}

impl Slot for Option<bool> {
    fn word(&self) -> String {
        self.map(|is_on| is_on.word()).unwrap_or_default()
    }

    fn set(&mut self, word: &str) {
        *self = Some(word == "on");
    }
}

impl Slot for LineNumbers {
    fn word(&self) -> String {
        Self::word(*self).to_owned()
    }

    fn set(&mut self, word: &str) {
        *self = Self::parse(word).unwrap_or(*self);
    }
}

impl Slot for NotifyMeans {
    fn word(&self) -> String {
        Self::word(*self).to_owned()
    }

    fn set(&mut self, word: &str) {
        *self = Self::parse(word).unwrap_or(*self);
    }
}
