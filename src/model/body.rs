//! Contents of blocks: texts and trees that may stay on disk, and images, which always do.
//!
//! **A body records where it is stored.** A `model::entry::Body` has a stub, its size, its record
//! and its index among the bodies of that record. A fresh decoder makes the same bodies from the
//! same bytes, so a content can be dropped from memory and read again.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::record::Origin;
use super::text::Text;

mod flags;

pub(crate) use flags::{BodyFlags, OutputFailure};

/// A stable identity: the agent's own id, or one made from the origin if there is none.
pub type Key = Text;

/// An ordered JSON-like value, so that the model needs no JSON library.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Tree {
    Null,
    Bool(bool),
    /// A number as written.
    Number(Text),
    Text(Text),
    List(Vec<Self>),
    /// An object in the order of the file.
    Map(Vec<(Text, Self)>),
}

impl Tree {
    /// Calls `take` with every string and number, in order.
    pub(crate) fn each_text(&self, take: &mut impl FnMut(&Text)) {
        match self {
            Self::Text(text) | Self::Number(text) => take(text),
            Self::List(items) => items.iter().for_each(|item| item.each_text(take)),
            Self::Map(members) => members.iter().for_each(|(_, value)| value.each_text(take)),
            Self::Null | Self::Bool(_) => {}
        }
    }

    /// The value of a member; `None` if this is no object or has no such member.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members
                .iter()
                .find(|(key, _)| key.as_str() == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The string of a text node; `None` for other nodes.
    pub(crate) fn as_text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The string of the first of these members that is one.
    pub(crate) fn text_in(&self, names: &[&str]) -> Option<&Text> {
        names.iter().find_map(|name| self.get(name)?.as_text())
    }

    /// The items of a list; empty for other nodes.
    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }
}

/// Metadata of an image; its data is never held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// MIME type, as `image/png`; empty if not recorded.
    pub mime: Text,
    /// Size of the decoded data in bytes; `None` if unknown.
    pub bytes: Option<u64>,
    /// Path or URL; `None` if the image is inline.
    pub source: Option<Text>,
    /// The record that holds it.
    pub origin: Origin,
}

/// A text or tree whose content may be on disk. The stub is always in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Body {
    /// Beginning of the content, one line.
    pub stub: Text,
    /// Size of the content in bytes.
    pub bytes: u32,
    /// Lines of the content.
    pub lines: u32,
    /// The record that holds it.
    pub from: Origin,
    /// Index among the bodies of the record, in the order of decoding.
    pub slot: u16,
    /// Facts about the content that were detected at decoding.
    pub(crate) flags: BodyFlags,
    /// The content, if it is in memory.
    pub held: Held,
}

/// Content of a body, if it is in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// The stub is the whole content.
    Stub,
    Text(Text),
    Tree(Arc<Tree>),
    /// On disk; available after the record is decoded again.
    OnDisk,
}

/// Packed entries hold no content: only `Stub` and `Away` can be serialized.
impl Serialize for Held {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Stub => false.serialize(to),
            Self::OnDisk => true.serialize(to),
            Self::Text(_) | Self::Tree(_) => Err(serde::ser::Error::custom("a body in memory")),
        }
    }
}

impl<'de> Deserialize<'de> for Held {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(if bool::deserialize(from)? {
            Self::OnDisk
        } else {
            Self::Stub
        })
    }
}

/// Bodies are equal if their contents are, as far as both are in memory; their positions are not
/// compared. A body whose stub is its content is never on disk, so it differs from every body that
/// is.
impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        let same_content = match (&self.held, &other.held) {
            (Held::OnDisk, Held::Stub) | (Held::Stub, Held::OnDisk) => false,
            (Held::OnDisk, _) | (_, Held::OnDisk) => true,
            (mine, theirs) => mine == theirs,
        };
        self.bytes == other.bytes
            && self.lines == other.lines
            && self.stub == other.stub
            && same_content
    }
}

impl Body {
    /// A body that no record holds verbatim: its stub is the content, and it is never on disk.
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

    /// The text; `None` if it is on disk or a tree.
    pub(crate) fn text(&self) -> Option<&Text> {
        match &self.held {
            Held::Stub => Some(&self.stub),
            Held::Text(text) => Some(text),
            Held::Tree(_) | Held::OnDisk => None,
        }
    }

    /// The tree; `None` if it is on disk or a text.
    pub fn tree(&self) -> Option<&Tree> {
        match &self.held {
            Held::Tree(tree) => Some(tree),
            Held::Stub | Held::Text(_) | Held::OnDisk => None,
        }
    }

    /// The text, or the stub while the content is on disk.
    pub fn text_or_stub(&self) -> &Text {
        self.text().unwrap_or(&self.stub)
    }

    /// Approximate bytes in memory besides the stub.
    pub(super) fn loaded_bytes(&self) -> u64 {
        match self.held {
            Held::Text(_) | Held::Tree(_) => u64::from(self.bytes),
            Held::Stub | Held::OnDisk => 0,
        }
    }

    /// Whether the record must be read again to show the whole content.
    pub fn is_on_disk(&self) -> bool {
        self.held == Held::OnDisk
    }

    /// Adopts the position of an equal body, and its content unless this one has it in memory: no
    /// record holds the content of a stream.
    pub(super) fn move_to(&mut self, newer: &Self) {
        if self.is_on_disk() {
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

    /// Drops the content from memory; the stub stays. Returns the bytes freed.
    pub fn release(&mut self) -> u32 {
        match self.held {
            Held::Text(_) | Held::Tree(_) => {
                self.held = Held::OnDisk;
                self.bytes
            }
            Held::Stub | Held::OnDisk => 0,
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
        assert_ne!(body(Held::Stub), body(Held::OnDisk));
        assert_ne!(body(Held::OnDisk), body(Held::Stub));
        assert_eq!(body(Held::OnDisk), body(Held::Text("[1]".into())));
    }
}
