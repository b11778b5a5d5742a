//! `[kinds]`: what records, attachments, subtypes, parts and blocks of a format are called, and what a reader should see of
//! those for which no code is needed.

use std::collections::HashMap;

use super::path::{Path, Scope, word_of};
use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::text::Text;

/// What becomes of a kind.
#[derive(Debug)]
pub(crate) enum Known {
    /// Bookkeeping: a trace.
    Quiet,
    /// A dim row with the text at this path.
    Note(Path),
    /// A line across the transcript with the text at this path.
    Setting(Path),
    /// Facts of the session.
    State(Vec<(Fact, Path)>),
    /// Nothing to show, for a reason.
    Passed(&'static str),
}

/// A fact of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    Id,
    Title,
    Agent,
    Cwd,
    Version,
    Model,
    Window,
    /// That it ended, whatever the word.
    Ended,
    /// With this name.
    Other(&'static str),
}

/// The words for them.
pub(super) const FACTS: [(&str, Fact); 8] = [
    ("id", Fact::Id),
    ("title", Fact::Title),
    ("agent", Fact::Agent),
    ("cwd", Fact::Cwd),
    ("version", Fact::Version),
    ("model", Fact::Model),
    ("window", Fact::Window),
    ("ended", Fact::Ended),
];

/// The kinds of a format, by their classes in the order of its file.
#[derive(Debug, Default)]
pub(crate) struct Kinds(pub(super) Vec<Class>);

/// The kinds of a class.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// Where the name stands in a record.
    pub(crate) name: &'static str,
    /// A record of the class, with `?` where the name stands; without it the path says all.
    pub(super) record: Option<&'static str>,
    /// What becomes of each; a name that ends in `*` is of all that begin so.
    pub(super) known: HashMap<&'static str, &'static Known>,
}

/// A format of which no kind is named.
pub(crate) static NONE: Kinds = Kinds(Vec::new());

impl Kinds {
    /// What becomes of a kind, if it is named.
    pub(crate) fn get(&self, class: &str, name: &str) -> Option<&'static Known> {
        self.class(class)?.get(name)
    }

    /// A class of this name.
    pub(crate) fn class(&self, name: &str) -> Option<&Class> {
        self.0.iter().find(|class| class.name == name)
    }

    /// All classes.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &Class> {
        self.0.iter()
    }

    /// The class of which [`label`] says this.
    pub(crate) fn class_of(&self, label: &str) -> Option<&'static str> {
        self.0
            .iter()
            .map(|class| class.name)
            .find(|class| self::label(class) == label)
    }

    /// These, and others that count before them.
    pub(crate) fn with(&self, others: &Self) -> Self {
        let mut all = self.0.clone();
        for other in &others.0 {
            match all.iter_mut().find(|class| class.name == other.name) {
                Some(class) => class.known.extend(&other.known),
                None => all.push(other.clone()),
            }
        }
        Self(all)
    }
}

impl Class {
    /// What becomes of a name: a whole one counts before a beginning, and the longest beginning before others.
    pub(crate) fn get(&self, name: &str) -> Option<&'static Known> {
        let begins = || {
            let all = self
                .known
                .iter()
                .filter_map(|(known, what)| Some((known.strip_suffix('*')?, *what)));
            all.filter(|(beginning, _)| name.starts_with(beginning))
                .max_by_key(|(beginning, _)| beginning.len())
        };
        self.known.get(name).copied().or_else(|| Some(begins()?.1))
    }

    /// The names.
    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.known.keys().copied()
    }

    /// A record of the class, with a name in it.
    pub(crate) fn record(&self, name: &str) -> String {
        let name = Json::Str(name.into()).to_source();
        match self.record {
            Some(record) => record.replace("\"?\"", &name),
            None => self
                .name
                .rsplit('.')
                .fold(name, |inner, member| format!("{{\"{member}\":{inner}}}")),
        }
    }
}

/// A class for people: `attachment` for `attachment.type`.
pub(crate) fn label(class: &str) -> &str {
    class.rsplit_once('.').map_or(class, |(class, _)| class)
}

impl Known {
    /// Whether it says nothing else.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Quiet, Self::Quiet) => true,
            (Self::Passed(one), Self::Passed(other)) => one == other,
            _ => false,
        }
    }

    /// The text of a note or a line, which the object that names the kind holds, or the record around it.
    pub(crate) fn text(&self, class: &str, record: &Json<'_>) -> Option<String> {
        let (Self::Note(path) | Self::Setting(path)) = self else {
            return None;
        };
        let of = |value: &Json<'_>| path.string(Scope::of(value), |text| text.trim().to_owned());
        let text = named_by(class, record)
            .and_then(of)
            .filter(|text| !text.is_empty());
        let text = text
            .or_else(|| of(record))
            .filter(|text| !text.is_empty())?;
        // Of data only what it is of.
        let mime = text
            .strip_prefix("data:")
            .and_then(|data| data.split([';', ',']).next())
            .map(str::to_owned);
        Some(mime.unwrap_or(text))
    }

    /// Emits the facts of a state.
    pub(crate) fn emit(&self, class: &str, record: &Json<'_>, out: &mut Batch) {
        let Self::State(facts) = self else { return };
        for (fact, path) in facts {
            for value in named_by(class, record).into_iter().chain([record]) {
                if let Some(edit) = path
                    .first(Scope::of(value), |value| of_fact(*fact, value))
                    .flatten()
                {
                    out.meta(edit);
                    break;
                }
            }
        }
    }
}

/// The object that names a kind of this class, if it lies within the record.
fn named_by<'j, 'a>(class: &str, record: &'j Json<'a>) -> Option<&'j Json<'a>> {
    let inner = record.get(label(class));
    inner.is_object().then_some(inner)
}

/// A fact of the session as an edit.
pub(super) fn of_fact(fact: Fact, value: &Json<'_>) -> Option<MetaEdit> {
    let text = Text::clean(&word_of(value)?);
    Some(match fact {
        Fact::Id => MetaEdit::Id(text),
        Fact::Title => MetaEdit::Title {
            rank: 2,
            title: text,
        },
        Fact::Agent => MetaEdit::Agent(text),
        Fact::Cwd => MetaEdit::Cwd(text),
        Fact::Version => MetaEdit::Version(text),
        Fact::Model => MetaEdit::Model(text),
        Fact::Window => MetaEdit::Window(value.count()?),
        Fact::Ended => MetaEdit::Live(Some(false)),
        Fact::Other(name) => MetaEdit::Fact { name, value: text },
    })
}
