//! Finds the heads of all formats by name, with the user's overlays applied.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::head::Head;
use super::kinds::{self, Kinds};
use super::read::{self, Overlay};
use crate::formats::{CHOICE, DECODERS, DEFINITIONS};
use crate::model::body::Key;
use crate::model::tool::work::Work;

/// Parses the head of a format with a decoder in Rust. A test ensures that these heads have no
/// mistakes.
pub(crate) fn built_in(text: &'static str) -> Head {
    let head = Head {
        text,
        ..read::head(text).unwrap_or_default()
    };
    match head.inherits.and_then(of) {
        Some(other) => Head {
            kinds: other.kinds.with(&head.kinds),
            companions: if head.companions.is_empty() {
                other.companions.clone()
            } else {
                head.companions
            },
            dependent: head.dependent.or_else(|| other.dependent.clone()),
            counting: head.counting.or(other.counting),
            fields: if head.fields.types.is_empty() {
                other.fields
            } else {
                head.fields
            },
            ..head
        },
        None => head,
    }
}

/// Implements `name` and `head` of a format with a decoder in Rust, from the file with the format's
/// name.
macro_rules! head {
    ($name:literal) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn head(&self) -> &'static $crate::formats::definition::head::Head {
            static HEAD: std::sync::LazyLock<$crate::formats::definition::head::Head> =
                std::sync::LazyLock::new(|| {
                    $crate::formats::definition::heads::built_in(include_str!(concat!(
                        env!("CARGO_MANIFEST_DIR"),
                        "/assets/formats/",
                        $name,
                        ".toml"
                    )))
                });
            &HEAD
        }
    };
}
pub(crate) use head;

/// The head of a format with a decoder in Rust.
pub(crate) fn of(format: &str) -> Option<&'static Head> {
    let decoder = DECODERS.iter().find(|known| known.name() == format)?;
    Some(decoder.head())
}

pub(crate) fn overlays(format: &str) -> impl Iterator<Item = &'static Overlay> {
    let all = CHOICE
        .get()
        .into_iter()
        .flat_map(|choice| &choice.overlays)
        .copied();
    all.filter(move |overlay| overlay.extends == format)
}

/// The kinds of formats that have overlays. If overlays overlap, the first takes precedence.
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

/// The kinds of a format with its overlays.
pub(crate) fn kinds_of(format: &str) -> &'static Kinds {
    ADDED.get(format).unwrap_or_else(|| own_kinds(format))
}

/// The kinds of a format without its overlays.
pub(crate) fn own_kinds(format: &str) -> &'static Kinds {
    find(format).map_or(&kinds::NONE, |head| &head.kinds)
}

/// Background work of this format with the given handle.
pub(crate) fn work(format: &str, handle: Key) -> Work {
    Work::begun(
        handle,
        find(format).map(|head| head.ends).unwrap_or_default(),
    )
}

/// The head of a format. A user's definition replaces the built-in format of the same name.
fn find(format: &str) -> Option<&'static Head> {
    let mut own = CHOICE
        .get()
        .into_iter()
        .flat_map(|choice| &choice.definitions);
    let own = own.find(|known| known.head.name == format);
    let defined = || DEFINITIONS.iter().find(|known| known.head.name == format);
    own.map(|known| &known.head)
        .or_else(|| of(format))
        .or_else(|| Some(&defined()?.head))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::read;
    use crate::formats::DECODERS;

    #[test]
    fn all_heads_are_without_mistakes() {
        for format in DECODERS {
            let head = read::head(format.head().text);
            assert_eq!(head.unwrap().name, format.name());
        }
    }

    #[test]
    fn commands_are_for_files_of_sessions() {
        let resumes = |format: &str, path: &str| {
            let commands = super::of(format).unwrap().resumes(Path::new(path));
            let words = commands.first().and_then(|command| command.words("s1"));
            words.unwrap_or_default().join(" ")
        };
        assert_eq!(
            resumes("pi", "/h/.pi/agent/sessions/a/s1.jsonl"),
            "pi --session s1"
        );
        assert_eq!(
            resumes("pi", "/h/.omp/agent/sessions/a/s1.jsonl"),
            "omp --resume s1"
        );
        assert_eq!(resumes("cline", "/s/s1/s1.messages.json"), "cline --id s1");
        assert_eq!(resumes("cline", "/tasks/s1/ui_messages.json"), "");
    }
}
