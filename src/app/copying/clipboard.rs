//! What can be taken out of the session: items, their records and places, selected rows, whole turns.
//!
//! Texts that are on disk are asked for first; what was wished for is done when they have come.

pub mod actions;

use super::excerpt::Excerpt;
use crate::app::input::action::What;
use crate::app::text::viewport::Focus;
use crate::model::figures;
use crate::model::record::Origin;
use crate::model::text::harmless;
use crate::model::text::secrets::Mask;
use crate::session::Session;

/// What becomes of copies before they leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copying {
    /// They have no control characters, none that are not seen, and no marks of such.
    pub(crate) is_clean: bool,
    /// Keys and tokens are masked.
    pub(crate) is_redacted: bool,
}

impl Copying {
    /// The text as it leaves, and what is to be said of it.
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

/// A copy that was wished for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCopy {
    /// The items.
    pub pieces: Vec<Piece>,
    /// What of them.
    pub form: Form,
    tries: u8,
}

/// An item, or rows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The item.
    pub focus: Focus,
    /// First and last row of the block; `None` for all of it.
    pub rows: Option<(usize, usize)>,
}

/// What is to be taken of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// This of each.
    Each(What),
    /// What was selected.
    Selected,
    /// Their entries as Markdown.
    Markdown,
}

/// The records of items, each of them once.
pub(crate) fn origins_of(session: &Session, items: &[Focus]) -> Vec<Origin> {
    let mut origins: Vec<Origin> = Vec::new();
    for focus in items {
        let Some(entry) = session.transcript.get(focus.entry) else {
            continue;
        };
        let bodies = entry
            .blocks
            .get(focus.block)
            .map(|block| block.kind.bodies())
            .unwrap_or_default();
        for origin in bodies
            .iter()
            .map(|body| body.from)
            .chain(bodies.is_empty().then_some(entry.origin))
        {
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
    }
    origins
}

/// What there is; why there is nothing, if there is nothing at all.
fn joined(parts: Vec<Excerpt>, between: &str) -> Excerpt {
    let mut texts = Vec::new();
    let mut nothing = "there is no text in this";
    for part in parts {
        match part {
            Excerpt::Text(text) => texts.push(text.trim_end_matches('\n').to_owned()),
            Excerpt::Nothing(why) => nothing = why,
            Excerpt::Away => return Excerpt::Away,
        }
    }
    if texts.is_empty() {
        Excerpt::Nothing(nothing)
    } else {
        Excerpt::Text(texts.join(between))
    }
}
