//! Formats that the user defines, and information about all formats.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::formats::definition::mistakes::DefinitionMistake;
use crate::formats::definition::read::{Base, Overlay, is_overlay, overlay, read};
use crate::formats::definition::rule::{Definition, RecordRule};
use crate::formats::definition::{self, heads};
use crate::formats::roots::Pattern;
use crate::formats::{
    self, DEFINITIONS, FormatChoice, choose, is_built_in, named, registry, remarks,
};
use crate::ingest::find::Environment;
use crate::model::tally::unknown::Judged;

/// A rule of a definition, with its statistics.
pub struct RuleLine {
    /// Line number in the definition.
    pub(crate) line: usize,
    /// Description of the records it is for.
    pub(crate) words: String,
    /// Number of records that it decoded.
    pub(crate) taken: u64,
}

/// Information about a format.
pub struct FormatInfo {
    pub(crate) name: &'static str,
    /// Name of the agent, for display.
    pub(crate) agent: &'static str,
    /// Folders of its sessions, for display.
    pub(crate) places: Vec<String>,
    /// File of a user's definition.
    pub(crate) file: Option<PathBuf>,
}

/// Registers the user's definitions, each with its file, before any format is used; `only` is the
/// one format to try. Returns the errors, a sentence each; other definitions still count.
pub(crate) fn register(own: Vec<(PathBuf, String)>, only: Option<String>) -> Vec<String> {
    let mut complaints = Vec::new();
    // Overlays extend formats, which are not used before all definitions are read.
    let (added, own): (Vec<_>, Vec<_>) = own.into_iter().partition(|(_, text)| is_overlay(text));
    let definitions = definitions(&own, only.as_deref(), &mut complaints);
    let mut overlays: Vec<&'static Overlay> = Vec::new();
    for (path, text) in added {
        match overlay_of(&path, &text, &definitions) {
            Ok(overlay) => overlays.push(Box::leak(Box::new(overlay))),
            Err(mistakes) => complaints.extend(limited(&path, mistakes)),
        }
    }
    choose(FormatChoice {
        definitions,
        overlays,
        only,
    });
    complaints
}

/// Limit of the errors of a definition that each command reports.
const MISTAKES: usize = 8;

fn limited(path: &Path, mut mistakes: Vec<String>) -> Vec<String> {
    if mistakes.len() > MISTAKES {
        mistakes.truncate(MISTAKES);
        mistakes.push(format!(
            "{0}: more is wrong with it: `tv formats check {0}`",
            path.display()
        ));
    }
    mistakes
}

/// Parses the definitions in these files, and returns the errors of the others.
fn definitions(
    files: &[(PathBuf, String)],
    only: Option<&str>,
    complaints: &mut Vec<String>,
) -> Vec<&'static Definition> {
    let mut definitions: Vec<&'static Definition> = Vec::new();
    for (path, text) in files.iter().filter(|(_, text)| !is_overlay(text)) {
        match read(text, Some(path.clone())) {
            // A definition that was requested replaces an installed one of the same name.
            Ok(definition)
                if definitions
                    .iter()
                    .any(|known| known.head.name == definition.head.name) =>
            {
                let what = format!(
                    "{}: another definition is named {}, too",
                    path.display(),
                    definition.head.name
                );
                complaints.extend((only != Some(definition.head.name)).then_some(what));
            }
            Ok(definition) => definitions.push(Box::leak(Box::new(definition))),
            Err(mistakes) => complaints.extend(limited(path, complaints_of(path, mistakes))),
        }
    }
    definitions
}

fn complaints_of(path: &Path, mistakes: Vec<DefinitionMistake>) -> Vec<String> {
    mistakes
        .into_iter()
        .map(|mistake| format!("{}:{mistake}", path.display()))
        .collect()
}

fn overlay_of(
    path: &Path,
    text: &str,
    own: &[&'static Definition],
) -> Result<Overlay, Vec<String>> {
    let kinds = |name: &str| {
        let is_defined = own.iter().any(|known| known.head.name == name);
        let fixed = || heads::of(name).map(|head| Some(&head.kinds));
        let built_in = || is_built_in(name).then_some(None);
        if is_defined {
            Some(None)
        } else {
            fixed().or_else(built_in)
        }
    };
    let names = || {
        let mut all: Vec<&str> = formats::names()
            .chain(own.iter().map(|known| known.head.name))
            .collect();
        all.retain(|name| *name != "generic");
        all.sort_unstable();
        all.dedup();
        all
    };
    let base = Base {
        kinds: &kinds,
        names: &names,
    };
    overlay(text, path.to_owned(), &base).map_err(|mistakes| complaints_of(path, mistakes))
}

/// The name of a definition, or of the format that it extends; and its errors. `files` are the
/// user's other definitions, which are not registered yet.
pub(crate) fn name_of(
    path: &Path,
    text: &str,
    files: &[(PathBuf, String)],
) -> Result<&'static str, Vec<String>> {
    if is_overlay(text) {
        let own = definitions(files, None, &mut Vec::new());
        return overlay_of(path, text, &own).map(|overlay| overlay.extends);
    }
    read(text, None)
        .map(|definition| definition.head.name)
        .map_err(|mistakes| complaints_of(path, mistakes))
}

/// The parts of a registered definition or overlay that have no effect; or its errors.
pub(crate) fn judge(path: &Path, text: &str) -> Result<(&'static str, Vec<String>), Vec<String>> {
    if !is_overlay(text) {
        return Ok((name_of(path, text, &[])?, Vec::new()));
    }
    let own: Vec<_> = formats::user_definitions().copied().collect();
    let overlay = overlay_of(path, text, &own)?;
    let format = named(overlay.extends);
    let remarks =
        format.map(|format| remarks::remarks(&overlay, format, heads::own_kinds(overlay.extends)));
    let placed = |remark| format!("{}{remark}", path.display());
    Ok((
        overlay.extends,
        remarks
            .unwrap_or_default()
            .into_iter()
            .map(placed)
            .collect(),
    ))
}

/// The files that extend a format.
pub(crate) fn overlay_files(format: &str) -> impl Iterator<Item = &'static Path> {
    heads::overlays(format).map(|overlay| overlay.file.as_path())
}

/// Default field paths for the text of a note.
const SAID: &str =
    "text|message.content|content|message|summary|prompt|body|output|$.rendered[].content";

/// Overlay lines that name unknown kinds of a format, by their names in the tally, each with
/// whether it has a text. Kinds that the format's lists cannot name are left out.
pub(crate) fn naming(
    format: &str,
    kinds: impl Iterator<Item = (String, Judged)>,
) -> Option<String> {
    let known = heads::kinds_of(format);
    let mut classes: BTreeMap<&str, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for (kind, judged) in kinds {
        let Some((label, name)) = kind.split_once('/') else {
            continue;
        };
        let Some(class) = known.class_of(label) else {
            continue;
        };
        let (quiet, notes) = classes.entry(class).or_default();
        if judged == Judged::Trace {
            quiet.push(quoted(name));
        } else {
            notes.push(format!("{} = {}", quoted(name), quoted(SAID)));
        }
    }
    if classes.is_empty() {
        return None;
    }
    let mut text = format!("extends = {}\n", quoted(format));
    for (class, (quiet, notes)) in classes {
        text.push_str(&format!("\n[kinds.{}]\n", quoted(class)));
        if !quiet.is_empty() {
            text.push_str(&format!("quiet = [{}]\n", quiet.join(", ")));
        }
        if !notes.is_empty() {
            text.push_str(&format!("note = {{ {} }}\n", notes.join(", ")));
        }
    }
    Some(text)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

pub(crate) fn exists(name: &str) -> bool {
    named(name).is_some()
}

/// The definition of a format; `None` for formats with a decoder of their own.
pub(crate) fn definition_of(name: &str) -> Option<&'static Definition> {
    DEFINITIONS
        .iter()
        .copied()
        .find(|definition| definition.head.name == name)
}

/// The text of the definition or head with this name, a user's own before a built-in one.
pub(crate) fn text_of(name: &str) -> Option<Result<String, String>> {
    let built_in = || definition::text_of(name).map(|text| Ok(text.to_owned()));
    let file = definition_of(name).and_then(|definition| definition.file.as_deref());
    match file {
        Some(file) => {
            Some(std::fs::read_to_string(file).map_err(|why| format!("{}: {why}", file.display())))
        }
        None => built_in(),
    }
}

/// Whether a built-in format has the name of a user's definition.
pub(crate) fn is_replaced(name: &str) -> bool {
    is_built_in(name)
}

/// Information about all formats.
pub(crate) fn format_infos(environment: &Environment) -> Vec<FormatInfo> {
    let place = |pattern: &Pattern| environment.shortened(&pattern.0);
    registry()
        .map(|format| {
            let roots = formats::roots(format);
            let below = roots.filter_map(|root| Some((root.place(environment)?, root.holds)));
            let patterns = below
                .flat_map(|(at, holds)| holds.iter().map(move |holds| Pattern(holds.pattern(&at))));
            FormatInfo {
                name: format.name(),
                agent: format.head().agent,
                places: patterns.map(|pattern| place(&pattern)).collect(),
                file: definition_of(format.name()).and_then(|definition| definition.file.clone()),
            }
        })
        .collect()
}

/// The rules of the definition with this name, with the number of records each has decoded since
/// the start of the program.
pub(crate) fn rules(name: &str) -> Vec<RuleLine> {
    let rules = definition_of(name)
        .into_iter()
        .flat_map(|definition| &definition.rules);
    let line = |rule: &RecordRule| RuleLine {
        line: rule.line,
        words: rule.words.clone(),
        taken: rule.matched.load(Ordering::Relaxed),
    };
    rules.map(line).collect()
}
