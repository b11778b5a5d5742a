//! The heads of formats with a decoder in Rust: name, agent, places and kinds are data, in `assets/formats`. And what a
//! reader adds to a format that is there.

use std::path::PathBuf;
use std::sync::LazyLock;

use super::kinds::{Kinds, Known};
use super::read;
use crate::formats::roots::Root;
use crate::formats::{CHOICE, DEFINITIONS};

/// What is known of a format besides how it is read.
#[derive(Debug)]
pub struct Head {
    /// The agent, for people.
    pub(crate) agent: &'static str,
    /// What the agent does not record.
    pub(crate) omits: &'static str,
    /// Where sessions lie.
    pub(crate) roots: &'static [Root],
    /// Kinds that need no code, and the names of those that have it.
    pub(crate) kinds: Kinds,
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
}

/// A head that is read when it is first asked for.
struct Entry {
    name: &'static str,
    text: &'static str,
    head: LazyLock<Option<Head>>,
}

macro_rules! heads {
    ($($name:literal),+ $(,)?) => {
        [$({
            const TEXT: &str = include_str!(concat!("../../../assets/formats/", $name, ".toml"));
            Entry { name: $name, text: TEXT, head: LazyLock::new(|| read::head(TEXT).ok()) }
        }),+]
    };
}

/// Each is the file of its name.
static HEADS: [Entry; 11] = heads![
    "aider",
    "claude-code",
    "claude-stream-json",
    "cline",
    "codex",
    "inspect-eval",
    "kimi-cli",
    "kimi-code",
    "openclaw",
    "opencode",
    "pi",
];

/// The head of a format with a decoder in Rust.
pub(crate) fn of(format: &str) -> Option<&'static Head> {
    HEADS.iter().find(|entry| entry.name == format)?.head.as_ref()
}

/// The text of a head, to read.
pub(crate) fn text_of(format: &str) -> Option<&'static str> {
    HEADS.iter().find(|entry| entry.name == format).map(|entry| entry.text)
}

/// What the reader added to a format.
pub(crate) fn overlays(format: &str) -> impl Iterator<Item = &'static Overlay> {
    let all = CHOICE.get().into_iter().flat_map(|choice| &choice.overlays).copied();
    all.filter(move |overlay| overlay.extends == format)
}

/// The kinds of a format itself.
pub(crate) fn kinds_of(format: &str) -> Option<&'static Kinds> {
    let defined = || DEFINITIONS.iter().find(|known| known.name == format).map(|known| &known.kinds);
    of(format).map(|head| &head.kinds).or_else(defined)
}

/// What becomes of a kind: what the reader says of it counts before what the format says.
pub(crate) fn known(format: &'static str, class: &str, name: &str) -> Option<&'static Known> {
    let own = overlays(format).find_map(|overlay| overlay.kinds.get(class, name));
    own.or_else(|| kinds_of(format)?.get(class, name))
}

#[cfg(test)]
mod tests {
    use super::{HEADS, read};

    #[test]
    fn all_heads_are_without_mistakes() {
        for entry in &HEADS {
            assert!(read::head(entry.text).is_ok(), "{}: {:?}", entry.name, read::head(entry.text));
            assert!(entry.text.contains(&format!("name  = \"{}\"", entry.name)), "{}", entry.name);
        }
    }
}
