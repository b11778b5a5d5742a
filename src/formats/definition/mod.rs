//! Formats as data: a mapping of an agent's records to entries, written in TOML. `assets/manual/definitions.md` says what
//! one can say.
//!
//! `read` turns the text into a table of rules (`rule`, with `path`), or into `mistakes`; `sniff` and `run` use it.
//! A definition is a format like all others.

mod chat;
pub(crate) mod head;
pub(crate) mod kinds;
pub mod mistakes;
mod path;
pub mod read;
pub mod rule;
mod run;
mod sniff;
mod store;
mod when;

use std::path::{Path, PathBuf};

use self::rule::Definition;
use self::run::{Run, place_of};
use super::decoder::{Confidence, Decoder, Format, Pattern, Probe, Verdict};
use super::roots::{Beside, Named, Root, file_name};
use super::tables::{Queries, Tables};
use crate::model::record::Shape;

/// The definitions that come with the program, by their files. A further one is a line here, a folder of fixtures with
/// its name, a row in the README and a section in the manual's page on formats.
pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    ("amp.toml", include_str!("../../../assets/formats/amp.toml")),
    (
        "antigravity-cli.toml",
        include_str!("../../../assets/formats/antigravity-cli.toml"),
    ),
    (
        "atif.toml",
        include_str!("../../../assets/formats/atif.toml"),
    ),
    (
        "codex-exec-json.toml",
        include_str!("../../../assets/formats/codex-exec-json.toml"),
    ),
    (
        "continue.toml",
        include_str!("../../../assets/formats/continue.toml"),
    ),
    (
        "copilot-cli.toml",
        include_str!("../../../assets/formats/copilot-cli.toml"),
    ),
    (
        "crush.toml",
        include_str!("../../../assets/formats/crush.toml"),
    ),
    (
        "cursor.toml",
        include_str!("../../../assets/formats/cursor.toml"),
    ),
    (
        "devin.toml",
        include_str!("../../../assets/formats/devin.toml"),
    ),
    ("dsh.toml", include_str!("../../../assets/formats/dsh.toml")),
    (
        "factory-droid.toml",
        include_str!("../../../assets/formats/factory-droid.toml"),
    ),
    (
        "gemini.toml",
        include_str!("../../../assets/formats/gemini.toml"),
    ),
    (
        "goose.toml",
        include_str!("../../../assets/formats/goose.toml"),
    ),
    (
        "gptme.toml",
        include_str!("../../../assets/formats/gptme.toml"),
    ),
    (
        "grok-cli.toml",
        include_str!("../../../assets/formats/grok-cli.toml"),
    ),
    (
        "hermes.toml",
        include_str!("../../../assets/formats/hermes.toml"),
    ),
    (
        "iflow.toml",
        include_str!("../../../assets/formats/iflow.toml"),
    ),
    (
        "kiro.toml",
        include_str!("../../../assets/formats/kiro.toml"),
    ),
    (
        "kiro-cli.toml",
        include_str!("../../../assets/formats/kiro-cli.toml"),
    ),
    (
        "mini-swe-agent.toml",
        include_str!("../../../assets/formats/mini-swe-agent.toml"),
    ),
    (
        "mistral-vibe.toml",
        include_str!("../../../assets/formats/mistral-vibe.toml"),
    ),
    (
        "openhands-events.toml",
        include_str!("../../../assets/formats/openhands-events.toml"),
    ),
    (
        "otel-genai.toml",
        include_str!("../../../assets/formats/otel-genai.toml"),
    ),
    (
        "posit-assistant.toml",
        include_str!("../../../assets/formats/posit-assistant.toml"),
    ),
    (
        "qwen-code.toml",
        include_str!("../../../assets/formats/qwen-code.toml"),
    ),
    (
        "sharegpt.toml",
        include_str!("../../../assets/formats/sharegpt.toml"),
    ),
    (
        "swe-agent-traj.toml",
        include_str!("../../../assets/formats/swe-agent-traj.toml"),
    ),
    (
        "trae-agent.toml",
        include_str!("../../../assets/formats/trae-agent.toml"),
    ),
    (
        "vscode-copilot-chat.toml",
        include_str!("../../../assets/formats/vscode-copilot-chat.toml"),
    ),
    ("zed.toml", include_str!("../../../assets/formats/zed.toml")),
    // Those of no agent come last.
    (
        "messages.toml",
        include_str!("../../../assets/formats/messages.toml"),
    ),
];

impl Format for &'static Definition {
    fn name(&self) -> &'static str {
        self.name
    }

    fn agent(&self) -> &'static str {
        self.agent
    }

    fn omits(&self) -> &'static str {
        self.recorded.omits
    }

    fn sniff(&self, probe: &Probe<'_>) -> Verdict {
        sniff::sniff(self, probe)
    }

    fn sniff_text(&self, text: &str) -> Option<Verdict> {
        let is_chat = self.chat.as_ref().is_some_and(|chat| chat.begins(text));
        is_chat.then(|| {
            let what = format!("{}: messages in plain text", self.agent);
            Verdict::yes(Confidence::Certain, Shape::Text, what)
        })
    }

    fn aside(&self, probe: &Probe<'_>) -> Option<&'static str> {
        sniff::aside(self, probe)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Run::new(self))
    }

    fn decoder_of(&self, path: &Path) -> Box<dyn Decoder> {
        Box::new(Run::at(self, self.home(path), self.project(path)))
    }

    fn follow_up(&self, path: &Path, wanted: &str) -> Vec<Pattern> {
        place_of(wanted)
            .map(|place| Pattern(self.home(path).join(place)))
            .into_iter()
            .collect()
    }

    fn asks(&self) -> Option<&'static str> {
        Definition::asks(self)
    }

    fn companions(&self, path: &Path) -> Vec<Pattern> {
        let beside = self.around.beside.iter().filter(|_| self.is_at_home(path));
        self.around
            .companions
            .iter()
            .chain(beside)
            .map(|template| Pattern(filled(template, path)))
            .collect()
    }

    fn rows_beside(&self, path: &Path) -> Option<PathBuf> {
        self.around
            .rows_beside
            .as_ref()
            .map(|rows| filled(&rows.database, path))
    }

    fn query_beside(&self, path: &Path, tables: &Tables) -> Option<(String, String)> {
        let sql = store::query_beside(self.around.rows_beside.as_ref()?, tables)?;
        Some((sql, self.named(path)?.id.to_owned()))
    }

    fn home(&self, path: &Path) -> PathBuf {
        let above = if self.folders.records.is_some() && self.is_at_home(path) {
            self.folders.named.max(1)
        } else {
            1
        };
        path.ancestors().nth(above).unwrap_or(path).to_owned()
    }

    fn queries(&self, tables: &Tables) -> Option<Queries> {
        store::queries(self.store.as_ref()?, self.agent, tables)
    }

    fn has_index(&self) -> bool {
        self.store
            .as_ref()
            .is_some_and(|store| matches!(store, rule::Store::Rows(rows) if rows.index))
    }

    fn roots(&self) -> &'static [Root] {
        self.roots
    }

    fn named<'p>(&self, path: &'p Path) -> Option<Named<'p>> {
        if self.folders.named == 0 || !self.is_at_home(path) {
            return Named::stem(path);
        }
        // Of the files of a folder the first one is listed.
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
            .map(|folder| Named::id(file_name(folder)))
    }

    fn files(&self, path: &Path, _session: &str) -> Vec<Pattern> {
        let folder = self.folders.records.as_ref().and_then(|_| path.parent());
        folder
            .map(|folder| Pattern(folder.join("*.json")))
            .into_iter()
            .collect()
    }

    fn beside(&self, path: &Path) -> Beside {
        let place =
            |template: &Option<String>| template.as_ref().map(|template| filled(template, path));
        let instead = place(&self.around.instead).filter(|other| other != path);
        let manifest = place(&self.around.beside).filter(|_| self.is_at_home(path));
        Beside {
            manifest,
            instead,
            ..Beside::default()
        }
    }
}

/// A place beside a session: `{dir}` is its folder, `{above}` the one that this lies in, `{name}` its file, `{stem}` that
/// without its ending, `{tail}` what is behind the last hyphen of it.
fn filled(template: &str, path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new(""));
    let above = folder.parent().unwrap_or(Path::new("")).to_string_lossy();
    let folder = folder.to_string_lossy();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let tail = stem.rsplit('-').next().unwrap_or_default().to_owned();
    let text = template
        .replace("{dir}", &folder)
        .replace("{above}", &above)
        .replace("{stem}", &stem)
        .replace("{tail}", &tail);
    let text = text.replace("{name}", file_name(path));
    PathBuf::from(text)
}

#[cfg(test)]
mod tests;
