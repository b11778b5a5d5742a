//! Parses heads of formats and overlays.

use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::table::{MistakeLog, Span, TomlTable};
use super::{NAME, kinds, leak, no_toml, places};
use crate::formats::definition::head::{Aside, Head, ResumeRule, TitleMark};
use crate::formats::definition::kinds::Kinds;
use crate::formats::definition::mistakes::{LineIndex, Mistake};
use crate::formats::fields;
use crate::formats::roots::Root;
use crate::model::resume::Resume;

/// Roots and kinds that the user adds to a format.
#[derive(Debug)]
pub struct Overlay {
    pub(crate) extends: &'static str,
    pub(crate) file: PathBuf,
    pub(crate) roots: &'static [Root],
    pub(crate) kinds: Kinds,
    /// The classes and names of the kinds, each with its position in the file.
    pub(crate) named: Vec<(&'static str, &'static str, Mistake)>,
}

/// The formats that an overlay may extend.
pub(crate) struct Base<'b> {
    /// The kinds of a format with this name; `Some(None)` if an overlay may add classes.
    pub(crate) kinds: &'b dyn Fn(&str) -> Option<Option<&'b Kinds>>,
    /// The names of all formats.
    pub(crate) names: &'b dyn Fn() -> Vec<&'static str>,
}

/// Parses a head of a format with a decoder in Rust.
pub fn head(text: &str) -> Result<Head, Vec<Mistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let mut reader = MistakeLog::new(text);
    let mut table = TomlTable::root(root.get_ref());
    let head = of_decoder(&mut reader, &mut table);
    table.finish(&mut reader);
    let mistakes = reader.finish();
    match head {
        Some(head) if mistakes.is_empty() => Ok(head),
        _ => Err(mistakes),
    }
}

/// Parses the head of a format with a decoder in Rust.
fn of_decoder(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> Option<Head> {
    let head = common(reader, table);
    let roots = places::roots(reader, table, false);
    let like = table.string(reader, "like").map(|(name, _)| leak(name));
    let deltas = table.string(reader, "deltas");
    let deltas = deltas.map(|(name, _)| leak(&format!("\"{name}\"")));
    let mut titles = Vec::new();
    for value in table.values(reader, "titles") {
        titles.extend(title(reader, value));
    }
    let dependent = table.has("dependent").then(|| {
        let words = table.strings(reader, "dependent").into_iter();
        words.map(|(word, _)| leak(word)).collect()
    });
    let is_continued = table.bool(reader, "continued").unwrap_or(false);
    let aside = table.table(reader, "detect").map(|mut inner| {
        let aside = aside(reader, &mut inner);
        inner.finish(reader);
        aside
    });
    let fields = table.table(reader, "fields").map(|mut inner| {
        let common = inner.strings(reader, "common").into_iter();
        let common: Vec<_> = common.map(|(name, _)| leak(name)).collect();
        let types = inner.table(reader, "types");
        let types = types.map_or_else(Vec::new, |types| types.lists_by_name(reader));
        inner.finish(reader);
        fields::Fields {
            common: common.leak(),
            types: types.leak(),
        }
    });
    Some(Head {
        roots,
        like,
        deltas,
        titles,
        dependent,
        is_continued,
        aside: aside.unwrap_or_default(),
        fields: fields.unwrap_or_default(),
        ..head?
    })
}

/// Parses a mark of records with a title: a type, or `{ refers = "leafUuid", to = "uuid" }`.
fn title(reader: &mut MistakeLog<'_>, value: &Spanned<DeValue<'_>>) -> Option<TitleMark> {
    let Some(mut fields) = TomlTable::of(value) else {
        let (name, _) = reader.text_of("titles", value)?;
        return Some(TitleMark::Last(leak(&format!("\"{name}\""))));
    };
    let mut member = |reader: &mut MistakeLog<'_>, key| {
        let (name, _) = fields.string(reader, key)?;
        Some(leak(&format!("\"{name}\":\"")))
    };
    let (refers, to) = (member(reader, "refers"), member(reader, "to"));
    fields.finish(reader);
    Some(TitleMark::Of(refers?, to?))
}

/// Parses what all heads have. `None` if there is no name.
pub(super) fn common(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> Option<Head> {
    let name = name(reader, table);
    let mut word =
        |reader: &mut MistakeLog<'_>, key| table.string(reader, key).map(|(word, _)| leak(word));
    let (agent, omits) = (word(reader, "agent"), word(reader, "omits"));
    let ends = places::ends(reader, table).unwrap_or_default();
    let companions = table.strings(reader, "companions").into_iter();
    let companions = companions.map(|(text, _)| text.to_owned()).collect();
    let resumes = table.tables(reader, "resume").into_iter();
    let resumes = resumes.map(|resume| self::resume(reader, resume)).collect();
    let kinds = kinds::kinds(reader, table);
    Some(Head {
        name: name?,
        agent: agent.or(name)?,
        omits: omits.unwrap_or(""),
        ends,
        companions,
        resumes,
        kinds,
        ..Head::default()
    })
}

fn name(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> Option<&'static str> {
    let Some((name, span)) = table.string(reader, "name") else {
        reader.mistake(
            0..0,
            "`name` is missing, such as name = \"my-agent\"".to_owned(),
        );
        return None;
    };
    if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
    {
        reader.mistake(
            span.clone(),
            "`name` is made of letters, digits, `-`, `_` and `.`".to_owned(),
        );
    }
    if name.len() > NAME {
        reader.mistake(span, format!("`name` has at most {NAME} characters"));
    }
    Some(leak(name))
}

/// Parses `[resume]`: the words of the commands, with `{id}` for the id of the session.
fn resume(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> ResumeRule {
    let mut word =
        |reader: &mut MistakeLog<'_>, key| table.string(reader, key).map(|(word, _)| leak(word));
    let (within, suffix) = (word(reader, "within"), word(reader, "suffix"));
    let back = word(reader, "back").unwrap_or("");
    let mut commands = Vec::new();
    for does in ["continue", "fork"] {
        if !table.has(does) {
            continue;
        }
        let words = table.strings(reader, does);
        let words: Vec<_> = words.into_iter().map(|(word, _)| leak(word)).collect();
        let words: &'static [&'static str] = words.leak();
        if let Some(id @ 1..) = words.iter().position(|word| *word == "{id}") {
            let (before, after) = words.split_at(id);
            commands.push(Resume {
                does,
                before,
                after: after.get(1..).unwrap_or_default(),
                back,
            });
        } else {
            let what =
                format!("`{does}` is a command, such as [\"agent\", \"--resume\", \"{{id}}\"]");
            reader.mistake(table.span(), what);
        }
    }
    table.finish(reader);
    ResumeRule {
        within,
        suffix,
        commands: commands.leak(),
    }
}

/// Parses `aside` of `[detect]`: files that are no sessions, each with a hint.
pub(super) fn aside(reader: &mut MistakeLog<'_>, detect: &mut TomlTable<'_>) -> Vec<Aside> {
    let mut all = Vec::new();
    for mut table in detect.tables(reader, "aside") {
        let (span, what) = (table.span(), table.string(reader, "what"));
        let is_any = table.bool(reader, "any").unwrap_or(false);
        let mark = super::mark(reader, table);
        if let Some((what, _)) = what {
            all.push(Aside {
                mark,
                is_any,
                what: leak(what),
            });
        } else {
            let right = "`what` is missing: what the file is and which one to open, such as \"a list of prompts; open …\"";
            reader.mistake(span, right.to_owned());
        }
    }
    all
}

/// Whether a text adds to a format instead of defining one.
pub fn is_overlay(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|root| TomlTable::root(root.get_ref()).has("extends"))
}

pub(crate) fn overlay(text: &str, file: PathBuf, base: &Base<'_>) -> Result<Overlay, Vec<Mistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let mut reader = MistakeLog::new(text);
    let mut table = TomlTable::root(root.get_ref());
    let extends = table.string(&mut reader, "extends");
    let known = extends.as_ref().and_then(|(name, _)| (base.kinds)(name));
    if let (Some((name, span)), None) = (&extends, known) {
        let names = (base.names)().join(", ");
        reader.mistake(
            span.clone(),
            format!("there is no format `{name}`; formats are {names}"),
        );
    }
    let roots = places::roots(&mut reader, &mut table, false);
    // If the format is unknown, its kinds are not checked.
    let (kinds, named) = kinds::added(&mut reader, &mut table, known.flatten());
    table.finish(&mut reader);
    let lines = LineIndex::of(text);
    let place =
        |(class, name, span): (_, _, Span)| (class, name, lines.mistake(span.start, String::new()));
    let named = named.into_iter().map(place).collect();
    let mistakes = reader.finish();
    match extends {
        Some((name, _)) if mistakes.is_empty() => Ok(Overlay {
            extends: leak(name),
            file,
            roots,
            kinds,
            named,
        }),
        _ => Err(mistakes),
    }
}
