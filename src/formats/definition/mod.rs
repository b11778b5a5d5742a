//! Formats as data: definitions in TOML that map an agent's records to entries, documented in
//! `assets/manual/definitions.md`.
//!
//! `read` parses the text into a table of rules (`rule`, with `path`) or reports `mistakes`;
//! `sniff` detects the format and `run` decodes its records. To the rest of the program a
//! definition is a format like any other.

mod chat;
pub(crate) mod head;
pub(crate) mod heads;
pub(crate) mod kinds;
pub mod mistakes;
mod path;
pub mod read;
pub mod rule;
mod run;
pub(crate) mod sniff;
pub(crate) mod store;
pub(crate) mod template;
mod when;

use std::path::{Path, PathBuf};

use self::head::Head;
use self::rule::Definition;
use self::run::{DefinitionDecoder, place_of};
use self::template::{filled, holder};
use super::decoder::{Decoder, Format, Pattern, Probe, Verdict};
use super::roots::{SessionName, SideFiles, file_name};
use super::tables::{Queries, Tables};

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../assets/formats/", $name, ".toml")))),+]
    };
}

/// The built-in definitions by name. A new one needs a line here, a folder of fixtures with its
/// name, a row in the README and a section in the manual's page on formats.
pub(crate) const BUILT_IN: &[(&str, &str)] = files![
    "amp",
    "antigravity-cli",
    "atif",
    "codex-exec-json",
    "continue",
    "copilot-cli",
    "crush",
    "cursor",
    "devin",
    "dsh",
    "factory-droid",
    "gemini",
    "goose",
    "gptme",
    "grok-cli",
    "hermes",
    "iflow",
    "kiro",
    "kiro-cli",
    "mini-swe-agent",
    "mistral-vibe",
    "openhands-events",
    "otel-genai",
    "posit-assistant",
    "qwen-code",
    "sharegpt",
    "swe-agent-traj",
    "trae-agent",
    "vscode-copilot-chat",
    "zed",
    // Formats of no particular agent are last.
    "messages",
];

/// The text of a built-in definition or of the head of a decoder in Rust.
pub(crate) fn text_of(format: &str) -> Option<&'static str> {
    let defined = || BUILT_IN.iter().find(|(name, _)| *name == format);
    heads::of(format)
        .map(|head| head.text)
        .or_else(|| Some(defined()?.1))
}

impl Format for &'static Definition {
    fn name(&self) -> &'static str {
        self.head.name
    }

    fn head(&self) -> &'static Head {
        &self.head
    }

    fn sniff(&self, probe: &Probe<'_>) -> Verdict {
        sniff::sniff_definition(self, probe)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(DefinitionDecoder::new(self))
    }

    fn decoder_of(&self, path: &Path) -> Box<dyn Decoder> {
        Box::new(DefinitionDecoder::at(
            self,
            self.home(path),
            self.project(path),
        ))
    }

    fn follow_up(&self, path: &Path, wanted: &str) -> Vec<Pattern> {
        place_of(wanted)
            .map(|place| Pattern(self.home(path).join(place)))
            .into_iter()
            .collect()
    }

    fn companions(&self, path: &Path) -> Vec<Pattern> {
        let beside = self.beside.iter().filter(|_| self.is_at_home(path));
        self.head
            .companions
            .iter()
            .chain(beside)
            .filter_map(|template| Some(Pattern(filled(template, path)?)))
            .collect()
    }

    fn home(&self, path: &Path) -> PathBuf {
        let above = if self.folders.records.is_some() && self.is_at_home(path) {
            self.folders.named.max(1)
        } else {
            1
        };
        let around = (self.head.companions.iter())
            .filter_map(|template| holder(template, path).map(|(folder, _)| folder))
            .min_by_key(|folder| folder.as_os_str().len());
        around
            .or_else(|| path.ancestors().nth(above))
            .unwrap_or(path)
            .to_owned()
    }

    fn queries(&self, tables: &Tables) -> Option<Queries> {
        store::queries(self.store.as_ref()?, self.head.agent, tables)
    }

    fn named<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        if self.folders.named == 0 || !self.is_at_home(path) {
            return SessionName::stem(path);
        }
        // Only the first file of the folder is listed, so that the session appears once.
        let is_number = |c: char| c.is_ascii_digit();
        let number = file_name(path)
            .split(|c| !is_number(c))
            .find(|part| !part.is_empty());
        if self.folders.records.is_some()
            && number.is_some_and(|number| !number.trim_start_matches('0').is_empty())
        {
            return None;
        }
        path.ancestors()
            .nth(self.folders.named)
            .map(|folder| SessionName::id(file_name(folder)))
    }

    fn files(&self, path: &Path, _session: &str) -> Vec<Pattern> {
        let folder = self.folders.records.as_ref().and_then(|_| path.parent());
        folder
            .map(|folder| Pattern(folder.join("*.json")))
            .into_iter()
            .collect()
    }

    fn beside(&self, path: &Path) -> SideFiles {
        let place = |template: &Option<String>| {
            template
                .as_ref()
                .and_then(|template| filled(template, path))
        };
        let instead = place(&self.instead).filter(|other| other != path);
        let manifest = place(&self.beside).filter(|_| self.is_at_home(path));
        SideFiles {
            manifest,
            instead,
            ..SideFiles::default()
        }
    }
}

#[cfg(test)]
mod tests;
