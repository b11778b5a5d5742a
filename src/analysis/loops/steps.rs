//! Facts of an entry for runs and undone edits: a prompt, calls, replacements.

use std::num::NonZeroU64;

use crate::analysis::calls::{self, likeness_of, print_of};
use crate::analysis::derived::Out;
use crate::model::body::Tree;
use crate::model::edit::saturating_u32;
use crate::model::entry::Entry;
use crate::model::fingerprint::hash_of;
use crate::model::tool::{ToolCall, ToolKind, ToolState, replacements_of};

const PATHS: [&str; 5] = ["file_path", "path", "filePath", "file", "absolutePath"];

/// A fact of an entry: a prompt first, then calls by block, each edit before its replacements.
#[derive(Clone, Debug, PartialEq)]
pub enum StepFact {
    /// The entry is a prompt.
    Prompt,
    Call(CallStep),
    /// A replacement in a file by the call before.
    Hunk(TextChange),
}

#[derive(Clone, Debug, PartialEq)]
pub struct CallStep {
    /// Hash of the tool and the beginning of the arguments.
    likeness: u64,
    /// Hash of the whole arguments, if they were ever in memory.
    pub(super) print: Option<NonZeroU64>,
    /// Hash of the whole result, if it was ever in memory.
    result: Option<NonZeroU64>,
    /// Bytes and lines of the result.
    size: (u32, u32),
    /// The number of the tool.
    pub(super) tool: u32,
    pub(super) block: u32,
    /// Whether it succeeded; `None` without a result.
    is_done: Option<bool>,
    /// Whether it may have changed something.
    pub(super) changes: bool,
}

/// A replacement in a file, by hashes of the old and new text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextChange {
    pub(super) old: u64,
    pub(super) new: u64,
    /// The number of the path.
    pub(super) path: u32,
    pub(super) block: u32,
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ResultFacts {
    is_done: bool,
    size: (u32, u32),
    print: Option<NonZeroU64>,
}

impl ResultFacts {
    /// Whether both are equal, as far as is known.
    pub(super) fn is_same(self, other: Self) -> bool {
        let prints = self.print.zip(other.print);
        (self.is_done, self.size) == (other.is_done, other.size)
            && prints.is_none_or(|(one, other)| one == other)
    }
}

impl CallStep {
    fn of(call: &ToolCall, block: u32, tool: u32, known: Option<&Self>) -> Self {
        let body = call.state.result().map(|result| &result.body);
        let size = body.map_or((0, 0), |body| (body.bytes, body.lines));
        Self {
            likeness: likeness_of(call),
            print: print_of(&call.input).or_else(|| known?.print),
            result: body
                .and_then(print_of)
                .or_else(|| known.filter(|known| known.size == size)?.result),
            size,
            tool,
            block,
            is_done: body.map(|_| matches!(call.state, ToolState::Done(_))),
            changes: may_change(call),
        }
    }

    /// The result, if there is one.
    pub(super) fn outcome(&self) -> Option<ResultFacts> {
        Some(ResultFacts {
            is_done: self.is_done?,
            size: self.size,
            print: self.result,
        })
    }

    /// Whether tool and arguments are equal, as far as is known.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let prints = self.print.zip(other.print);
        self.likeness == other.likeness && prints.is_none_or(|(one, other)| one == other)
    }
}

/// Adds the facts of an entry. Hashes of arguments that are on disk by now are taken from the
/// earlier facts.
pub(super) fn read(entry: &Entry, before: &[StepFact], out: &mut Out<'_, StepFact>) {
    if entry.marks.copy {
        return;
    }
    if entry.marks.prompt {
        out.push(StepFact::Prompt);
    }
    let mut rest = before;
    for (block, call) in entry.numbered_calls() {
        let (block, likeness) = (saturating_u32(block), likeness_of(call));
        rest = rest
            .get(rest.partition_point(|row| row.block() < Some(block))..)
            .unwrap_or_default();
        let known = rest
            .first()
            .and_then(StepFact::step)
            .filter(|known| (known.block, known.likeness) == (block, likeness));
        let tool = out.number(&call.name);
        out.push(StepFact::Call(CallStep::of(call, block, tool, known)));
        if call.kind == ToolKind::Edit && !calls::Outcome::of(&call.state).is_undone() {
            match call.input.tree() {
                Some(tree) => read_hunks(block, call, tree, out),
                None if known.is_some() => {
                    let hunks = rest.iter().skip(1).take_while(|row| row.is_hunk_of(block));
                    hunks.for_each(|row| out.push(row.clone()));
                }
                None => {}
            }
        }
    }
}

impl StepFact {
    fn block(&self) -> Option<u32> {
        match self {
            Self::Prompt => None,
            Self::Call(step) => Some(step.block),
            Self::Hunk(hunk) => Some(hunk.block),
        }
    }

    /// The call, if it is one.
    pub(super) fn step(&self) -> Option<&CallStep> {
        match self {
            Self::Call(step) => Some(step),
            Self::Prompt | Self::Hunk(_) => None,
        }
    }

    fn is_hunk_of(&self, block: u32) -> bool {
        matches!(self, Self::Hunk(hunk) if hunk.block == block)
    }
}

/// Adds the replacements of an edit.
fn read_hunks(block: u32, call: &ToolCall, tree: &Tree, out: &mut Out<'_, StepFact>) {
    let path = tree.text_in(&PATHS).unwrap_or(&call.headline);
    for (old, new) in replacements_of(tree) {
        if old != new && !old.trim().is_empty() && !new.trim().is_empty() {
            let path = out.number(path);
            out.push(StepFact::Hunk(TextChange {
                old: hash_of(old),
                new: hash_of(new),
                path,
                block,
            }));
        }
    }
}

/// Whether a call may change something: reads, plans and failed edits do not.
fn may_change(call: &ToolCall) -> bool {
    match call.kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Fetch | ToolKind::Plan => false,
        ToolKind::Edit | ToolKind::Write => !calls::Outcome::of(&call.state).is_undone(),
        ToolKind::Run | ToolKind::Delegate | ToolKind::Other => true,
    }
}
