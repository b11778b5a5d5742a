//! `[kinds]`: the names of records, attachments, subtypes, parts and blocks of a format that need
//! no code, and how each is shown.

use std::collections::HashMap;

use super::path::{PathScope, RecordPath, word_of};
use crate::formats::json::Json;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::text::Text;

/// How a kind is shown.
#[derive(Debug)]
pub(crate) enum KindRule {
    /// A trace entry.
    Quiet,
    /// A dim row with the text at this path.
    Note(RecordPath),
    /// A separator with the text at this path.
    Setting(RecordPath),
    /// Facts of the session.
    State(Vec<(FactKind, RecordPath)>),
    /// Not shown, for this reason.
    Passed(&'static str),
}

/// A fact of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactKind {
    Id,
    Title,
    Agent,
    Cwd,
    Version,
    Model,
    Window,
    /// The session has ended, for any value.
    Ended,
    /// A fact with a name of the agent's own.
    Other(&'static str),
}

/// The names of facts in a definition.
pub(super) const FACTS: [(&str, FactKind); 8] = [
    ("id", FactKind::Id),
    ("title", FactKind::Title),
    ("agent", FactKind::Agent),
    ("cwd", FactKind::Cwd),
    ("version", FactKind::Version),
    ("model", FactKind::Model),
    ("window", FactKind::Window),
    ("ended", FactKind::Ended),
];

/// The kinds of a format, grouped into classes in the order of its file.
#[derive(Debug, Default)]
pub(crate) struct Kinds(pub(super) Vec<KindClass>);

/// A class: the member that names a kind, and the known kinds.
#[derive(Clone, Debug)]
pub(crate) struct KindClass {
    /// The path of the kind's name in a record.
    pub(crate) name: &'static str,
    /// A sample record of the class, with `?` in place of the name; `None` if the path is enough to
    /// make one.
    pub(super) record: Option<&'static str>,
    /// Known kinds by name; a name that ends in `*` is a prefix.
    pub(super) rules: HashMap<&'static str, &'static KindRule>,
}

pub(crate) static NONE: Kinds = Kinds(Vec::new());

impl Kinds {
    /// How the kind with this name is shown; `None` if it is unknown.
    pub(crate) fn get(&self, class: &str, name: &str) -> Option<&'static KindRule> {
        self.class(class)?.get(name)
    }

    pub(crate) fn class(&self, name: &str) -> Option<&KindClass> {
        self.0.iter().find(|class| class.name == name)
    }

    pub(crate) fn classes(&self) -> impl Iterator<Item = &KindClass> {
        self.0.iter()
    }

    /// The class with this [`label`].
    pub(crate) fn class_of(&self, label: &str) -> Option<&'static str> {
        self.0
            .iter()
            .map(|class| class.name)
            .find(|class| self::label(class) == label)
    }

    /// Merges these kinds with `others`, which take precedence.
    pub(crate) fn with(&self, others: &Self) -> Self {
        let mut all = self.0.clone();
        for other in &others.0 {
            match all.iter_mut().find(|class| class.name == other.name) {
                Some(class) => class.rules.extend(&other.rules),
                None => all.push(other.clone()),
            }
        }
        Self(all)
    }
}

impl KindClass {
    /// Finds a kind by name: exact names take precedence over prefixes, longer prefixes over
    /// shorter ones.
    pub(crate) fn get(&self, name: &str) -> Option<&'static KindRule> {
        let begins = || {
            let all = self
                .rules
                .iter()
                .filter_map(|(known, what)| Some((known.strip_suffix('*')?, *what)));
            all.filter(|(beginning, _)| name.starts_with(beginning))
                .max_by_key(|(beginning, _)| beginning.len())
        };
        self.rules.get(name).copied().or_else(|| Some(begins()?.1))
    }

    #[cfg(test)]
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rules.keys().copied()
    }

    /// A sample record with this name.
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

/// The label of a class: `attachment` for `attachment.type`.
pub(crate) fn label(class: &str) -> &str {
    class.rsplit_once('.').map_or(class, |(class, _)| class)
}

impl KindRule {
    /// Whether two kinds are shown in the same way.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Quiet, Self::Quiet) => true,
            (Self::Passed(one), Self::Passed(other)) => one == other,
            _ => false,
        }
    }

    /// The text of a note or a separator, from the object that names the kind, otherwise from the
    /// whole record.
    pub(crate) fn text(&self, class: &str, record: &Json<'_>) -> Option<String> {
        let (Self::Note(path) | Self::Setting(path)) = self else {
            return None;
        };
        let of =
            |value: &Json<'_>| path.string(PathScope::of(value), |text| text.trim().to_owned());
        let text = named_by(class, record)
            .and_then(of)
            .filter(|text| !text.is_empty());
        let text = text
            .or_else(|| of(record))
            .filter(|text| !text.is_empty())?;
        // A data URL is shortened to its media type.
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
                    .first(PathScope::of(value), |value| of_fact(*fact, value))
                    .flatten()
                {
                    out.meta(edit);
                    break;
                }
            }
        }
    }
}

/// The object in the record that names a kind of this class.
fn named_by<'j, 'a>(class: &str, record: &'j Json<'a>) -> Option<&'j Json<'a>> {
    let inner = record.get(label(class));
    inner.is_object().then_some(inner)
}

/// The edit for a fact of the session.
pub(super) fn of_fact(fact: FactKind, value: &Json<'_>) -> Option<MetaEdit> {
    let text = Text::clean(&word_of(value)?);
    Some(match fact {
        FactKind::Id => MetaEdit::Id(text),
        FactKind::Title => MetaEdit::Title {
            rank: 2,
            title: text,
        },
        FactKind::Agent => MetaEdit::Agent(text),
        FactKind::Cwd => MetaEdit::Cwd(text),
        FactKind::Version => MetaEdit::Version(text),
        FactKind::Model => MetaEdit::Model(text),
        FactKind::Window => MetaEdit::Window(value.count()?),
        FactKind::Ended => MetaEdit::Live(Some(false)),
        FactKind::Other(name) => MetaEdit::Fact { name, value: text },
    })
}
