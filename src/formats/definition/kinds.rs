//! `[kinds]`: what records, attachments, subtypes, parts and blocks of a format are called, and what a reader should see of
//! those for which no code is needed.

use std::borrow::Cow;
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

/// The kinds of a format, by their classes.
#[derive(Debug, Default)]
pub(crate) struct Kinds(pub(super) HashMap<&'static str, Class>);

/// The kinds of a class.
#[derive(Debug, Default)]
pub(super) struct Class {
    /// Those that need no code.
    pub(super) known: HashMap<&'static str, Known>,
    /// Those that the decoder reads by code.
    pub(super) code: Vec<&'static str>,
}

impl Kinds {
    /// What becomes of a kind, if it is named.
    pub(crate) fn get(&self, class: &str, name: &str) -> Option<&Known> {
        self.0.get(class)?.known.get(name)
    }

    /// What a record that has no rule is called, and in which class. A class of the format's own goes before the members
    /// that are common to most, and what is named in some class before what is not.
    pub(super) fn name<'j>(
        &self,
        record: &'j Json<'_>,
        common: &[&'static str],
    ) -> Option<(&'static str, Cow<'j, str>)> {
        let word = |class: &'static str| {
            let value = class.split('.').fold(record, |value, name| value.get(name));
            Some((class, word_of(value)?))
        };
        let known = self.classes().filter_map(word).find(|(class, name)| self.get(class, name).is_some());
        let is_code =
            |class: &str, name: &str| self.0.get(class).is_some_and(|class| class.code.contains(&name));
        let own = || {
            let own = self.classes().filter(|class| !common.contains(class)).filter_map(word);
            own.filter(|(class, name)| !is_code(class, name)).max_by_key(|(class, _)| (class.len(), *class))
        };
        known.or_else(own).or_else(|| common.iter().copied().find_map(word))
    }

    /// The names of all classes.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// The class of which [`label`] says this.
    pub(crate) fn class_of(&self, label: &str) -> Option<&'static str> {
        self.classes().find(|class| self::label(class) == label)
    }
}

/// A class for people: `attachment` for `attachment.type`.
pub(crate) fn label(class: &str) -> &str {
    class.rsplit_once('.').map_or(class, |(class, _)| class)
}

impl Known {
    /// The text of a note, which the object that names the kind holds, or the record around it.
    pub(crate) fn text(&self, class: &str, record: &Json<'_>) -> Option<String> {
        let Self::Note(path) = self else { return None };
        let of = |value: &Json<'_>| path.string(Scope::of(value), |text| text.as_str().trim().to_owned());
        let text = named_by(class, record).and_then(of).filter(|text| !text.is_empty());
        text.or_else(|| of(record)).filter(|text| !text.is_empty())
    }

    /// Emits the facts of a state.
    pub(crate) fn emit(&self, class: &str, record: &Json<'_>, out: &mut Batch) {
        let Self::State(facts) = self else { return };
        for (fact, path) in facts {
            for value in named_by(class, record).into_iter().chain([record]) {
                if let Some(edit) = path.first(Scope::of(value), |value| of_fact(*fact, value)).flatten() {
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
        Fact::Title => MetaEdit::Title { rank: 2, title: text },
        Fact::Agent => MetaEdit::Agent(text),
        Fact::Cwd => MetaEdit::Cwd(text),
        Fact::Version => MetaEdit::Version(text),
        Fact::Model => MetaEdit::Model(text),
        Fact::Window => MetaEdit::Window(value.count()?),
        Fact::Ended => MetaEdit::Live(Some(false)),
        Fact::Other(name) => MetaEdit::Fact { name, value: text },
    })
}
