//! Which rows of the transcript show a value of a record, and which values of its record an item shows.
//!
//! Both are found by content: a string of the record and a text of the entry belong together if one is a part of
//! the other. So no decoder keeps a map of where its texts came from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::app::text::viewport::Focus;
use crate::model::body::Body;
use crate::model::entry::Entry;
use crate::model::text::{Text, without_sgr};
use crate::render::row::Row;
use crate::render::source::Of;
use crate::render::tree::Leaf;

/// Shorter strings stand everywhere.
const SHORTEST: usize = 2;
/// Shorter strings are looked for as a whole only.
const SHORTEST_PART: usize = 16;
/// Bytes that are looked at for strings that are a part of another.
const BUDGET: usize = 16 << 20;

/// Where the transcript shows a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The item.
    pub focus: Focus,
    shows: Shows,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shows {
    /// A line of the body with this place in the block.
    Line { body: usize, line: u32 },
    /// An argument of a call.
    Words(Text),
}

impl Spot {
    /// Whether a row shows it.
    pub fn is_in(&self, row: &Row) -> bool {
        let source = &row.source;
        match (&self.shows, &source.of) {
            _ if row.block != self.focus.block => false,
            (Shows::Line { body, line }, Of::Body(at)) => {
                at == body && (source.lines.contains(line) || source.beside == Some(*line))
            }
            (Shows::Words(words), Of::Own(text)) => text.contains(words.as_str()),
            (Shows::Line { .. } | Shows::Words(_), Of::Own(_) | Of::Body(_) | Of::Nothing) => false,
        }
    }
}

/// Where a value stands in an entry.
#[derive(Clone, Copy)]
enum Found {
    /// In this block's body; the value's first line is the body's line of this number.
    Body {
        block: usize,
        body: usize,
        first: i64,
    },
    /// Among the arguments of this block's call.
    Argument { block: usize },
}

/// The texts of an entry, to look values of its records up.
pub(crate) struct Texts<'a> {
    focus: Focus,
    bodies: Vec<(usize, usize, Cow<'a, str>)>,
    whole: HashMap<u64, usize>,
    arguments: HashMap<u64, usize>,
    budget: usize,
    /// What was found last, by the place of the value.
    last: Option<(Arc<str>, Option<Found>)>,
}

impl<'a> Texts<'a> {
    /// Those of an entry. What stands in several blocks is taken to be in the focused one.
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
            let bodies = entry
                .blocks
                .get(block)
                .map(|block| block.kind.bodies())
                .unwrap_or_default();
            for (at, body) in bodies.into_iter().enumerate() {
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

    /// Where the transcript shows what a row of the record's tree shows.
    pub(crate) fn spot(&mut self, row: &Row, leaf: &Leaf) -> Option<Spot> {
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
            Found::Body { block, body, first } => {
                let line = u32::try_from(first.saturating_add(i64::from(leaf.line))).ok()?;
                Some(Spot {
                    focus: at(block),
                    shows: Shows::Line { body, line },
                })
            }
            Found::Argument { block } => {
                let words = match &row.source.of {
                    Of::Own(line) if value.contains('\n') => line.clone(),
                    Of::Own(_) | Of::Body(_) | Of::Nothing => value.clone(),
                };
                let is_blank = words.trim().is_empty();
                (!is_blank).then(|| Spot {
                    focus: at(block),
                    shows: Shows::Words(words),
                })
            }
        }
    }

    fn find(&mut self, value: &str) -> Option<Found> {
        let print = print_of(value)?;
        if let Some((block, body, text)) =
            self.whole.get(&print).and_then(|at| self.bodies.get(*at))
        {
            let first =
                lines_before(text.trim_start(), text) - lines_before(value.trim_start(), value);
            return Some(Found::Body {
                block: *block,
                body: *body,
                first,
            });
        }
        if let Some(block) = self.arguments.get(&print) {
            return Some(Found::Argument { block: *block });
        }
        let part = Some(value.trim()).filter(|part| part.len() >= SHORTEST_PART)?;
        let trimmed = lines_before(value.trim_start(), value);
        for (block, body, text) in &self.bodies {
            self.budget = self.budget.checked_sub(text.len() + value.len())?;
            let (block, body) = (*block, *body);
            if let Some(at) = lines_at(part, text) {
                return Some(Found::Body {
                    block,
                    body,
                    first: lines_in(text, at) - trimmed,
                });
            }
            let own = text.trim();
            if let Some(at) = lines_at(own, value).filter(|_| own.len() >= SHORTEST_PART) {
                let first = lines_before(text.trim_start(), text) - lines_in(value, at);
                return Some(Found::Body { block, body, first });
            }
        }
        None
    }
}

/// Where a text holds another one as whole lines.
fn lines_at(part: &str, text: &str) -> Option<usize> {
    let at = text.find(part)?;
    let bytes = text.as_bytes();
    let begins = at
        .checked_sub(1)
        .is_none_or(|before| bytes.get(before) == Some(&b'\n'));
    let ends = matches!(bytes.get(at + part.len()), None | Some(b'\n' | b'\r'));
    (begins && ends).then_some(at)
}

/// The hash of a text without the blanks around it; nothing for short ones.
fn print_of(text: &str) -> Option<u64> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let text = Some(text.trim()).filter(|text| text.len() >= SHORTEST)?;
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Some(hasher.finish())
}

/// Lines of a text before the end of it that is `rest`.
fn lines_before(rest: &str, text: &str) -> i64 {
    lines_in(text, text.len() - rest.len())
}

fn lines_in(text: &str, end: usize) -> i64 {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes().get(..end).unwrap_or_default()).count();
    i64::try_from(lines).unwrap_or(i64::MAX)
}
