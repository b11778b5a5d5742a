//! What blocks hold: texts and trees that may be left on disk, and images that always are.
//!
//! **Bodies know where they lie.** A `model::entry::Body` keeps its beginning, its size, its record and its place
//! among the bodies of that record. A fresh decoder gives the same bodies for the same bytes, so contents can be left
//! on disk and read again.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::record::Origin;
use super::text::Text;

mod flags;

pub(crate) use flags::{BodyFlags, Failure};

/// A stable identity: the agent's own id, else one made from the origin.
pub type Key = Text;

/// An ordered JSON-like value without a JSON library.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Tree {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as written.
    Number(Text),
    /// A string.
    Text(Text),
    /// An array.
    List(Vec<Self>),
    /// An object in the order of the file.
    Map(Vec<(Text, Self)>),
}

impl Tree {
    /// Goes over all strings and numbers, in order.
    pub(crate) fn each_text(&self, take: &mut impl FnMut(&Text)) {
        match self {
            Self::Text(text) | Self::Number(text) => take(text),
            Self::List(items) => items.iter().for_each(|item| item.each_text(take)),
            Self::Map(members) => members.iter().for_each(|(_, value)| value.each_text(take)),
            Self::Null | Self::Bool(_) => {}
        }
    }

    /// The member of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members
                .iter()
                .find(|(key, _)| key.as_str() == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The string of a text node.
    pub(crate) fn as_text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list, nothing for other nodes.
    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }
}

/// An image, described but not held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// `image/png`; empty if not recorded.
    pub mime: Text,
    /// Size of the decoded data in bytes, if known.
    pub bytes: Option<u64>,
    /// Path or address, if it is not inline.
    pub source: Option<Text>,
    /// The record that holds it.
    pub origin: Origin,
}

/// Text or a tree that may have been left on disk. The stub always stays.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Body {
    /// Its beginning, one line.
    pub stub: Text,
    /// Size of the whole in bytes.
    pub bytes: u32,
    /// Lines of the whole.
    pub lines: u32,
    /// The record that holds it.
    pub from: Origin,
    /// Which body of that record it is, counted in the order of decoding.
    pub slot: u16,
    /// What the whole gives away.
    pub(crate) flags: BodyFlags,
    /// The whole, if it is in memory.
    pub held: Held,
}

/// Whether a body is in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// The stub is the whole.
    Stub,
    /// Text.
    Text(Text),
    /// A tree.
    Tree(Arc<Tree>),
    /// On disk; decode the record again to have it.
    Away,
}

/// Only what keeps nothing in memory is packed: its stub, or that it is on disk.
impl Serialize for Held {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Stub => false.serialize(to),
            Self::Away => true.serialize(to),
            Self::Text(_) | Self::Tree(_) => Err(serde::ser::Error::custom("a body in memory")),
        }
    }
}

impl<'de> Deserialize<'de> for Held {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(if bool::deserialize(from)? {
            Self::Away
        } else {
            Self::Stub
        })
    }
}

/// Bodies are equal if their contents are, as far as both are in memory; where they lie does not matter. What is
/// the whole of a stub is never left on disk, so it differs from all that is.
impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        let same_content = match (&self.held, &other.held) {
            (Held::Away, Held::Stub) | (Held::Stub, Held::Away) => false,
            (Held::Away, _) | (_, Held::Away) => true,
            (mine, theirs) => mine == theirs,
        };
        self.bytes == other.bytes
            && self.lines == other.lines
            && self.stub == other.stub
            && same_content
    }
}

impl Body {
    /// A body that no record holds as it is: its stub is the whole, and it is never left on disk.
    pub(crate) fn in_memory(text: &str, from: Origin) -> Self {
        let capped = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        Self {
            stub: Text::clean(text),
            bytes: capped(text.len()),
            lines: capped(text.lines().count()),
            from,
            slot: 0,
            flags: BodyFlags::default(),
            held: Held::Stub,
        }
    }

    /// The text, unless it is away or a tree.
    pub(crate) fn text(&self) -> Option<&Text> {
        match &self.held {
            Held::Stub => Some(&self.stub),
            Held::Text(text) => Some(text),
            Held::Tree(_) | Held::Away => None,
        }
    }

    /// The tree, unless it is away or text.
    pub fn tree(&self) -> Option<&Tree> {
        match &self.held {
            Held::Tree(tree) => Some(tree),
            Held::Stub | Held::Text(_) | Held::Away => None,
        }
    }

    /// The text, or its beginning while the rest is away.
    pub fn text_or_stub(&self) -> &Text {
        self.text().unwrap_or(&self.stub)
    }

    /// Bytes that it keeps in memory besides its stub, roughly.
    pub(super) fn held_bytes(&self) -> u64 {
        match self.held {
            Held::Text(_) | Held::Tree(_) => u64::from(self.bytes),
            Held::Stub | Held::Away => 0,
        }
    }

    /// Whether it must be read again before it can be shown whole.
    pub fn is_away(&self) -> bool {
        self.held == Held::Away
    }

    /// Takes over where an equal body lies, and what only memory may hold: a stream is kept by no record.
    pub(super) fn move_to(&mut self, newer: &Self) {
        if self.is_away() {
            self.held = newer.held.clone();
        }
        self.from = newer.from;
        self.slot = newer.slot;
        let early = self.flags.early;
        self.flags = BodyFlags {
            early,
            ..newer.flags
        };
    }

    /// Lets go of the content; the stub stays. Returns how many bytes that frees.
    pub fn release(&mut self) -> u32 {
        match self.held {
            Held::Text(_) | Held::Tree(_) => {
                self.held = Held::Away;
                self.bytes
            }
            Held::Stub | Held::Away => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Body, BodyFlags, Held, Origin};

    #[test]
    fn what_is_whole_in_its_stub_is_nothing_that_was_left_on_disk() {
        let origin = Origin {
            file: crate::model::record::FileId(0),
            at: 0,
            len: 9,
            line: 1,
        };
        let body = |held| Body {
            stub: "[1]".into(),
            bytes: 3,
            lines: 1,
            from: origin,
            slot: 0,
            flags: BodyFlags::default(),
            held,
        };
        assert_ne!(body(Held::Stub), body(Held::Away));
        assert_ne!(body(Held::Away), body(Held::Stub));
        assert_eq!(body(Held::Away), body(Held::Text("[1]".into())));
    }
}
