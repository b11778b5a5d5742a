//! Heads of formats with a decoder in Rust, and what a reader adds to a format.

use std::path::PathBuf;

use toml::de::DeTable;

use super::table::{Fields, Reader};
use super::{kinds, leak, no_toml, places};
use crate::formats::definition::built_in as built_in_named;
use crate::formats::definition::head::{self, Head, Overlay};
use crate::formats::definition::mistakes::Mistake;
use crate::formats::definition::rule::Definition;

/// Reads a head; or what is wrong with it.
pub fn head(text: &str) -> Result<Head, Vec<Mistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let mut reader = Reader::new(text);
    let mut table = Fields::root(root.get_ref());
    let mut word = |reader: &mut Reader<'_>, key| table.string(reader, key).map(|(word, _)| leak(word));
    let (name, agent) = (word(&mut reader, "name"), word(&mut reader, "agent"));
    let omits = word(&mut reader, "omits").unwrap_or("");
    let roots = places::roots(&mut reader, &mut table, false);
    let kinds = kinds::kinds(&mut reader, &mut table, None);
    table.finish(&mut reader);
    if name.is_none() {
        reader.mistake(0..0, "`name` is missing".to_owned());
    }
    let mistakes = reader.finish();
    match name {
        Some(name) if mistakes.is_empty() => Ok(Head { agent: agent.unwrap_or(name), omits, roots, kinds }),
        _ => Err(mistakes),
    }
}

/// Whether a text adds to a format instead of defining one.
pub fn is_overlay(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|root| Fields::root(root.get_ref()).has("extends"))
}

/// Reads what a reader adds to a format; or what is wrong with it.
/// `own` are the reader's own definitions, which nobody has chosen yet.
pub fn overlay(text: &str, file: PathBuf, own: &[&'static Definition]) -> Result<Overlay, Vec<Mistake>> {
    let root = DeTable::parse(text).map_err(|error| vec![no_toml(text, &error)])?;
    let mut reader = Reader::new(text);
    let mut table = Fields::root(root.get_ref());
    let extends = table.string(&mut reader, "extends");
    let built_in;
    let base = match &extends {
        None => None,
        Some((name, _)) => {
            built_in = built_in_named(name);
            let chosen = own.iter().find(|known| known.name == *name).map(|known| &known.kinds);
            let with_head = || head::of(name).map(|head| &head.kinds);
            chosen.or_else(with_head).or_else(|| built_in.as_ref().map(|known| &known.kinds))
        }
    };
    if let (Some((name, span)), None) = (&extends, base) {
        let mut names: Vec<&str> =
            crate::formats::names().chain(own.iter().map(|known| known.name)).collect();
        names.retain(|name| *name != "generic");
        names.sort_unstable();
        reader
            .mistake(span.clone(), format!("there is no format `{name}`; formats are {}", names.join(", ")));
    }
    let roots = places::roots(&mut reader, &mut table, false);
    // Without a format nothing can be said of its kinds.
    let kinds = match base {
        Some(base) => kinds::kinds(&mut reader, &mut table, Some(base)),
        None => kinds::kinds(&mut reader, &mut table, None),
    };
    table.finish(&mut reader);
    let mistakes = reader.finish();
    match extends {
        Some((name, _)) if mistakes.is_empty() => Ok(Overlay { extends: leak(name), file, roots, kinds }),
        _ => Err(mistakes),
    }
}
