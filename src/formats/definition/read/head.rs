//! Heads of formats with a decoder in Rust, and what a reader adds to a format.

use std::path::PathBuf;

use toml::de::DeTable;

use super::table::{Fields, Reader, Span};
use super::{kinds, leak, no_toml, places};
use crate::formats::definition::kinds::Kinds;
use crate::formats::definition::mistakes::{Lines, Mistake};
use crate::formats::roots::Root;
use crate::model::tool::work::Ends;

/// What is known of a format besides how it is read.
#[derive(Debug)]
pub struct Head {
    /// The agent, for people.
    pub(crate) agent: &'static str,
    /// What the agent does not record.
    pub(crate) omits: &'static str,
    /// Whether it records how work ends that goes on after the result of its call.
    pub(crate) ends: Ends,
    /// Where sessions lie.
    pub(crate) roots: &'static [Root],
    /// Kinds that need no code.
    pub(crate) kinds: Kinds,
    /// The format whose kinds are kinds of this one, too.
    pub(crate) kinds_of: Option<&'static str>,
}

/// What a reader adds to a format.
#[derive(Debug)]
pub struct Overlay {
    /// The format.
    pub(crate) extends: &'static str,
    /// Its file.
    pub(crate) file: PathBuf,
    /// Further places.
    pub(crate) roots: &'static [Root],
    /// Further kinds, and other words for kinds that are there.
    pub(crate) kinds: Kinds,
    /// Their classes and names, each with its place in the file.
    pub(crate) named: Vec<(&'static str, &'static str, Mistake)>,
}

/// What there is to add to.
pub(crate) struct Base<'b> {
    /// The kinds of a format with this name, as far as an overlay can make up no others.
    pub(crate) kinds: &'b dyn Fn(&str) -> Option<Option<&'b Kinds>>,
    /// The names of all formats.
    pub(crate) names: &'b dyn Fn() -> Vec<&'static str>,
}

/// Reads a head; or what is wrong with it.
pub fn head(text: &str) -> Result<Head, Vec<Mistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let mut reader = Reader::new(text);
    let mut table = Fields::root(root.get_ref());
    let mut word =
        |reader: &mut Reader<'_>, key| table.string(reader, key).map(|(word, _)| leak(word));
    let (name, agent) = (word(&mut reader, "name"), word(&mut reader, "agent"));
    let omits = word(&mut reader, "omits").unwrap_or("");
    let kinds_of = word(&mut reader, "kinds_of");
    let ends = places::ends(&mut reader, &mut table).unwrap_or_default();
    let roots = places::roots(&mut reader, &mut table, false);
    let kinds = kinds::kinds(&mut reader, &mut table);
    table.finish(&mut reader);
    if name.is_none() {
        reader.mistake(0..0, "`name` is missing".to_owned());
    }
    let mistakes = reader.finish();
    match name {
        Some(name) if mistakes.is_empty() => Ok(Head {
            agent: agent.unwrap_or(name),
            omits,
            ends,
            roots,
            kinds,
            kinds_of,
        }),
        _ => Err(mistakes),
    }
}

/// Whether a text adds to a format instead of defining one.
pub fn is_overlay(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|root| Fields::root(root.get_ref()).has("extends"))
}

/// Reads what a reader adds to a format; or what is wrong with it.
pub(crate) fn overlay(text: &str, file: PathBuf, base: &Base<'_>) -> Result<Overlay, Vec<Mistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let mut reader = Reader::new(text);
    let mut table = Fields::root(root.get_ref());
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
    // Without a format nothing can be said of its kinds.
    let (kinds, named) = kinds::added(&mut reader, &mut table, known.flatten());
    table.finish(&mut reader);
    let lines = Lines::of(text);
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
