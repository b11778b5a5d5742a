//! The heads of formats with a decoder in Rust: name, agent, places and kinds are data, in `assets/formats`. And what a
//! reader adds to a format that is there.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::kinds::{self, Kinds};
use super::read::{self, Head, Overlay};
use crate::formats::{CHOICE, DEFINITIONS};
use crate::model::body::Key;
use crate::model::tool::work::{Ends, Work};

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
            Entry { name: $name, text: TEXT, head: LazyLock::new(|| Some(completed(read::head(TEXT).ok()?))) }
        }),+]
    };
}

/// Each is the file of its name.
static HEADS: [Entry; 12] = heads![
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
    "qoder",
];

/// A head with the kinds of the one that it shares a decoder with.
fn completed(head: Head) -> Head {
    match head.kinds_of.and_then(of) {
        Some(other) => Head {
            kinds: other.kinds.with(&head.kinds),
            ..head
        },
        None => head,
    }
}

/// The head of a format with a decoder in Rust.
pub(crate) fn of(format: &str) -> Option<&'static Head> {
    HEADS
        .iter()
        .find(|entry| entry.name == format)?
        .head
        .as_ref()
}

/// The text of a head, to read.
pub(crate) fn text_of(format: &str) -> Option<&'static str> {
    HEADS
        .iter()
        .find(|entry| entry.name == format)
        .map(|entry| entry.text)
}

/// What the reader added to a format.
pub(crate) fn overlays(format: &str) -> impl Iterator<Item = &'static Overlay> {
    let all = CHOICE
        .get()
        .into_iter()
        .flat_map(|choice| &choice.overlays)
        .copied();
    all.filter(move |overlay| overlay.extends == format)
}

/// The kinds of formats to which the reader added some: what the first of several files says counts.
static ADDED: LazyLock<HashMap<&'static str, Kinds>> = LazyLock::new(|| {
    let mut added: HashMap<&'static str, Kinds> = HashMap::new();
    for overlay in CHOICE
        .get()
        .into_iter()
        .flat_map(|choice| choice.overlays.iter().rev())
    {
        let before = added
            .get(overlay.extends)
            .unwrap_or_else(|| own_kinds(overlay.extends));
        let kinds = before.with(&overlay.kinds);
        added.insert(overlay.extends, kinds);
    }
    added
});

/// The kinds of a format, with those that the reader added.
pub(crate) fn kinds_of(format: &str) -> &'static Kinds {
    ADDED.get(format).unwrap_or_else(|| own_kinds(format))
}

/// The kinds of a format itself. A reader's own definition takes the place of a decoder with its name.
pub(crate) fn own_kinds(format: &str) -> &'static Kinds {
    let mut own = CHOICE.get().into_iter().flat_map(|choice| &choice.own);
    let own = own
        .find(|known| known.name == format)
        .map(|known| &known.kinds);
    let defined = || {
        DEFINITIONS
            .iter()
            .find(|known| known.name == format)
            .map(|known| &known.kinds)
    };
    own.or_else(|| of(format).map(|head| &head.kinds))
        .or_else(defined)
        .unwrap_or(&kinds::NONE)
}

/// The work that a result of this format says it began.
pub(crate) fn work(format: &str, handle: Key) -> Work {
    Work::begun(handle, ends_of(format))
}

/// Whether a format records how work ends that goes on after the result of its call.
fn ends_of(format: &str) -> Ends {
    let mut own = CHOICE.get().into_iter().flat_map(|choice| &choice.own);
    let own = own
        .find(|known| known.name == format)
        .map(|known| known.recorded.ends);
    let defined = || {
        DEFINITIONS
            .iter()
            .find(|known| known.name == format)
            .map(|known| known.recorded.ends)
    };
    own.or_else(|| of(format).map(|head| head.ends))
        .or_else(defined)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{HEADS, read};

    #[test]
    fn all_heads_are_without_mistakes() {
        for entry in &HEADS {
            assert!(
                read::head(entry.text).is_ok(),
                "{}: {:?}",
                entry.name,
                read::head(entry.text)
            );
            assert!(
                entry.text.contains(&format!("name  = \"{}\"", entry.name)),
                "{}",
                entry.name
            );
        }
    }
}
