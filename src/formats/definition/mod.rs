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

use std::path::Path;

use self::head::Head;
use self::rule::Definition;
use self::run::{DefinitionDecoder, place_of};
use self::template::filled;
use super::decoder::{Decoder, Format};
use super::probe::{Probe, ProbeResult};
use super::roots::{FileRole, Pattern, SessionName, file_name};
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

    fn decoder(&self, path: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(match path {
            Some(path) => DefinitionDecoder::at(self, self.home(path), self.project(path)),
            None => DefinitionDecoder::new(self),
        })
    }

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        sniff::sniff_definition(self, probe)
    }

    fn session_name<'p>(&self, path: &'p Path) -> Option<SessionName<'p>> {
        if self.folders.named == 0 || !self.is_in_agent_folder(path) {
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

    fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        let place = |template: &Option<String>| filled(template.as_ref()?, path);
        let manifest = || place(&self.facts_file).filter(|_| self.is_in_agent_folder(path));
        match role {
            FileRole::Companion => {
                let mut files = self.head.files(path, role);
                files.extend(manifest().map(Pattern));
                files
            }
            FileRole::Manifest => Pattern::list(manifest()),
            FileRole::Instead => Pattern::list(place(&self.instead).filter(|other| other != path)),
            FileRole::Home => vec![Pattern(self.home(path))],
            FileRole::Requested(wanted) => {
                Pattern::list(place_of(wanted).map(|place| self.home(path).join(place)))
            }
            FileRole::Part(_) => {
                let folder = self.folders.records.as_ref().and_then(|_| path.parent());
                Pattern::list(folder.map(|folder| folder.join("*.json")))
            }
            _ => self.head.files(path, role),
        }
    }

    fn queries(&self, tables: &Tables) -> Option<Queries> {
        store::queries(self.store.as_ref()?, self.head.agent, tables)
    }
}

#[cfg(test)]
mod tests;
