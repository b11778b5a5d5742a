//! The contents of a copy: items, their records, paths and links, selected rows, whole turns.
//!
//! Bodies on disk are read first; the copy is pending until they have arrived.

pub mod actions;

use super::excerpt::ItemText;
use crate::app::input::action::CopyTarget;
use crate::app::text::viewport::Focus;
use crate::model::figures;
use crate::model::record::Origin;
use crate::model::text::harmless;
use crate::model::text::secrets::Mask;
use crate::session::Session;

/// Preparation of text before it is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// Whether control and invisible characters are removed.
    pub(crate) is_clean: bool,
    /// Whether keys and tokens are masked.
    pub(crate) is_redacted: bool,
}

impl CopyOptions {
    /// The text to copy, and a note for the message about the copy.
    pub fn prepare(self, text: &str) -> (String, String) {
        let mut mask = Mask::default();
        let masked = self.is_redacted.then(|| mask.apply(text)).flatten();
        let mut words = if self.is_redacted {
            format!("; {}", mask.words())
        } else {
            String::new()
        };
        let text = masked.as_deref().unwrap_or(text);
        let (clean, hidden) = harmless(text);
        let characters = figures::count(hidden as u64, "control or unseen character");
        match (self.is_clean, hidden) {
            (_, 0) => {}
            (true, _) => words.push_str(&format!("; {characters} left out")),
            (false, _) => {
                words.push_str(&format!("; {characters} in it, :set clean leaves such out"));
            }
        }
        (
            if self.is_clean {
                clean
            } else {
                text.to_owned()
            },
            words,
        )
    }
}

/// A copy that waits for bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCopy {
    /// The items to copy.
    pub pieces: Vec<CopyItem>,
    /// The part of the items to copy.
    pub form: CopyFormat,
    tries: u8,
}

/// An item, or rows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyItem {
    pub focus: Focus,
    /// First and last row of the block; `None` for all of it.
    pub rows: Option<(usize, usize)>,
}

/// The part of items to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFormat {
    /// This part of each item.
    Each(CopyTarget),
    Selected,
    /// Their entries as Markdown.
    Markdown,
}

/// The records of items, each once.
pub(crate) fn origins_of(session: &Session, items: &[Focus]) -> Vec<Origin> {
    let mut origins: Vec<Origin> = Vec::new();
    for focus in items {
        let Some(entry) = session.transcript.get(focus.entry) else {
            continue;
        };
        let block = entry.blocks.get(focus.block).into_iter();
        let mut bodies = block.flat_map(|block| block.kind.bodies());
        let first = bodies.next().map_or(entry.origin, |body| body.from);
        for origin in std::iter::once(first).chain(bodies.map(|body| body.from)) {
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
    }
    origins
}

/// Joins the parts that have text; if none has, returns the reason.
fn joined(parts: Vec<ItemText>, between: &str) -> ItemText {
    let mut texts = Vec::new();
    let mut nothing = "there is no text in this";
    for part in parts {
        match part {
            ItemText::Text(text) => texts.push(text.trim_end_matches('\n').to_owned()),
            ItemText::Nothing(why) => nothing = why,
            ItemText::OnDisk => return ItemText::OnDisk,
        }
    }
    if texts.is_empty() {
        ItemText::Nothing(nothing)
    } else {
        ItemText::Text(texts.join(between))
    }
}
