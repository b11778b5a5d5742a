//! Finds the location in the transcript of a value of a record.
//!
//! Values are matched by content: a string of the record belongs to a text of the entry if one is
//! part of the other. So decoders need not record where each text came from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::app::text::viewport::Focus;
use crate::model::body::Body;
use crate::model::entry::Entry;
use crate::model::fingerprint::hash_of;
use crate::model::text::{Text, without_sgr};
use crate::render::row::Row;
use crate::render::source::SourceText;
use crate::render::tree::Leaf;

/// Minimum length of a string in bytes; shorter ones match everywhere.
const SHORTEST: usize = 2;
/// Minimum length in bytes of a string that may match a part of another; shorter ones must be
/// equal.
const SHORTEST_PART: usize = 16;
/// Budget in bytes for searching strings in others.
const BUDGET: usize = 16 << 20;

/// The location in the transcript of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueLocation {
    pub focus: Focus,
    shows: LocationInItem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LocationInItem {
    /// A line of the body with this index in the block.
    Line { body: usize, line: u32 },
    /// An argument of a call.
    Words(Text),
}

impl ValueLocation {
    /// Whether a row shows it.
    pub fn is_in(&self, row: &Row) -> bool {
        let source = &row.source;
        match (&self.shows, &source.of) {
            _ if row.block != self.focus.block => false,
            (LocationInItem::Line { body, line }, SourceText::Body(at)) => {
                at == body && (source.lines.contains(line) || source.extra_line == Some(*line))
            }
            (LocationInItem::Words(words), SourceText::Own(text)) => text.contains(words.as_str()),
            (
                LocationInItem::Line { .. } | LocationInItem::Words(_),
                SourceText::Own(_) | SourceText::Body(_) | SourceText::None,
            ) => false,
        }
    }
}

/// The location of a value in an entry.
#[derive(Clone, Copy)]
enum ValueMatch {
    /// In a body of a block. The first line of the value is line `first` of the body.
    Body {
        block: usize,
        body: usize,
        first: i64,
    },
    /// In the arguments of a call.
    Argument { block: usize },
}

/// An index of the texts of an entry.
pub(crate) struct EntryTexts<'a> {
    focus: Focus,
    bodies: Vec<(usize, usize, Cow<'a, str>)>,
    whole: HashMap<u64, usize>,
    arguments: HashMap<u64, usize>,
    budget: usize,
    /// The last match, with the path of its value.
    last: Option<(Arc<str>, Option<ValueMatch>)>,
}

impl<'a> EntryTexts<'a> {
    /// Indexes an entry. A text that occurs in several blocks is attributed to the focused one.
    pub(crate) fn of(entry: &'a Entry, focus: Focus) -> Self {
        let (bodies, whole, arguments) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut texts = Self {
            focus,
            bodies,
            whole,
            arguments,
            budget: BUDGET,
            last: None,
        };
        let others = (0..entry.blocks.len()).filter(|block| *block != focus.block);
        for block in std::iter::once(focus.block).chain(others) {
            let block_of = entry.blocks.get(block).into_iter();
            let bodies = block_of.flat_map(|block| block.kind.bodies());
            for (at, body) in bodies.enumerate() {
                texts.add((block, at), body);
            }
        }
        texts
    }

    fn add(&mut self, (block, at): (usize, usize), body: &'a Body) {
        match (body.text(), body.tree()) {
            (Some(text), _) => {
                let text = without_sgr(text);
                if let Some(print) = print_of(&text) {
                    self.whole.entry(print).or_insert(self.bodies.len());
                    self.bodies.push((block, at, text));
                }
            }
            (None, Some(tree)) => tree.each_text(&mut |text| {
                if let Some(print) = print_of(&without_sgr(text)) {
                    self.arguments.entry(print).or_insert(block);
                }
            }),
            (None, None) => {}
        }
    }

    /// The location in the transcript of the value in a row of the record's tree.
    pub(crate) fn locate(&mut self, row: &Row, leaf: &Leaf) -> Option<ValueLocation> {
        let value = leaf.value.as_ref()?;
        let known = self
            .last
            .as_ref()
            .filter(|(path, _)| Arc::ptr_eq(path, &leaf.path));
        let found = match known.map(|(_, found)| *found) {
            Some(found) => found,
            None => self.find(&without_sgr(value)),
        };
        self.last = Some((Arc::clone(&leaf.path), found));
        let at = |block| Focus {
            block,
            ..self.focus
        };
        match found? {
            ValueMatch::Body { block, body, first } => {
                let line = u32::try_from(first.saturating_add(i64::from(leaf.line))).ok()?;
                Some(ValueLocation {
                    focus: at(block),
                    shows: LocationInItem::Line { body, line },
                })
            }
            ValueMatch::Argument { block } => {
                let words = match &row.source.of {
                    SourceText::Own(line) if value.contains('\n') => line.clone(),
                    SourceText::Own(_) | SourceText::Body(_) | SourceText::None => value.clone(),
                };
                let is_blank = words.trim().is_empty();
                (!is_blank).then(|| ValueLocation {
                    focus: at(block),
                    shows: LocationInItem::Words(words),
                })
            }
        }
    }

    fn find(&mut self, value: &str) -> Option<ValueMatch> {
        let print = print_of(value)?;
        if let Some((block, body, text)) =
            self.whole.get(&print).and_then(|at| self.bodies.get(*at))
        {
            let first =
                lines_before(text.trim_start(), text) - lines_before(value.trim_start(), value);
            return Some(ValueMatch::Body {
                block: *block,
                body: *body,
                first,
            });
        }
        if let Some(block) = self.arguments.get(&print) {
            return Some(ValueMatch::Argument { block: *block });
        }
        let part = Some(value.trim()).filter(|part| part.len() >= SHORTEST_PART)?;
        let trimmed = lines_before(value.trim_start(), value);
        for (block, body, text) in &self.bodies {
            self.budget = self.budget.checked_sub(text.len() + value.len())?;
            let (block, body) = (*block, *body);
            if let Some(at) = lines_at(part, text) {
                return Some(ValueMatch::Body {
                    block,
                    body,
                    first: lines_in(text, at) - trimmed,
                });
            }
            let own = text.trim();
            if let Some(at) = lines_at(own, value).filter(|_| own.len() >= SHORTEST_PART) {
                let first = lines_before(text.trim_start(), text) - lines_in(value, at);
                return Some(ValueMatch::Body { block, body, first });
            }
        }
        None
    }
}

/// The offset of `part` in a text, if it is made of whole lines there.
fn lines_at(part: &str, text: &str) -> Option<usize> {
    let at = text.find(part)?;
    let bytes = text.as_bytes();
    let begins = at
        .checked_sub(1)
        .is_none_or(|before| bytes.get(before) == Some(&b'\n'));
    let ends = matches!(bytes.get(at + part.len()), None | Some(b'\n' | b'\r'));
    (begins && ends).then_some(at)
}

/// The hash of a trimmed text; `None` if the text is too short.
fn print_of(text: &str) -> Option<u64> {
    Some(text.trim())
        .filter(|text| text.len() >= SHORTEST)
        .map(hash_of)
}

/// Number of lines of `text` before its suffix `rest`.
fn lines_before(rest: &str, text: &str) -> i64 {
    lines_in(text, text.len() - rest.len())
}

fn lines_in(text: &str, end: usize) -> i64 {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes().get(..end).unwrap_or_default()).count();
    i64::try_from(lines).unwrap_or(i64::MAX)
}
