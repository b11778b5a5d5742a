//! What an entry does, as far as runs and edits that are turned back depend on it: a prompt, calls, replacements.

use super::churn::{Hunk, hunks_of};
use crate::analysis::calls::{likeness_of, print_of};
use crate::model::entry::{BlockKind, Entry};
use crate::model::text::Name;
use crate::model::tool::{ToolCall, ToolKind, ToolState};

/// What an entry does.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    pub(super) is_prompt: bool,
    /// By their blocks.
    pub(super) calls: Box<[Step]>,
    /// Replacements with their blocks.
    pub(super) hunks: Box<[(usize, Hunk)]>,
}

/// A call, as far as runs depend on it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) block: usize,
    /// The tool.
    pub(super) tool: Name,
    /// The same for calls that ask for the same, as far as the beginning of their arguments shows.
    likeness: u64,
    /// Of all arguments, if they were ever in memory.
    pub(super) print: Option<u64>,
    /// Whether something may be different after it.
    pub(super) changes: bool,
    /// What came of it.
    pub(super) outcome: Option<Outcome>,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    is_done: bool,
    /// Bytes and lines of the result.
    size: (u32, u32),
    /// Of the whole result, if it was ever in memory.
    print: Option<u64>,
}

impl Outcome {
    /// What is known of it, with what was known before of the whole.
    fn of(call: &ToolCall, before: Option<&Self>) -> Option<Self> {
        let body = &call.state.result()?.body;
        let size = (body.bytes, body.lines);
        let known = before.filter(|before| before.size == size).and_then(|before| before.print);
        let is_done = matches!(call.state, ToolState::Done(_));
        Some(Self { is_done, size, print: print_of(body).or(known) })
    }

    /// Whether both are the same, as far as it is known.
    pub(super) fn is_same(self, other: Self) -> bool {
        let prints = self.print.zip(other.print);
        (self.is_done, self.size) == (other.is_done, other.size)
            && prints.is_none_or(|(one, other)| one == other)
    }
}

impl Step {
    /// Whether both ask for the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let prints = self.print.zip(other.print);
        self.likeness == other.likeness && prints.is_none_or(|(one, other)| one == other)
    }
}

impl Steps {
    /// What an entry does; nothing if it does nothing. What was known of arguments is kept if they have been left on
    /// disk since.
    pub(super) fn of(entry: &Entry, before: Option<&Self>) -> Option<Self> {
        if entry.marks.copy {
            return None;
        }
        let mut hunks = Vec::new();
        let calls = entry.blocks.iter().enumerate().filter_map(|(block, one)| match &one.kind {
            BlockKind::Call(call) => Some((block, &**call)),
            _ => None,
        });
        let calls = calls.map(|(block, call)| {
            let likeness = likeness_of(call);
            let known = before.and_then(|before| {
                let at = before.calls.binary_search_by_key(&block, |step| step.block).ok()?;
                before.calls.get(at)
            });
            let known = known.filter(|known| known.likeness == likeness);
            if call.kind == ToolKind::Edit && !is_undone(&call.state) {
                match (call.input.tree(), before.filter(|_| known.is_some())) {
                    (Some(tree), _) => {
                        hunks.extend(hunks_of(call, tree).into_iter().map(|hunk| (block, hunk)));
                    }
                    (None, Some(before)) => {
                        let first = before.hunks.partition_point(|(at, _)| *at < block);
                        let own = before.hunks.iter().skip(first).take_while(|(at, _)| *at == block);
                        hunks.extend(own.cloned());
                    }
                    (None, None) => {}
                }
            }
            Step {
                block,
                tool: call.name.clone(),
                likeness,
                print: print_of(&call.input).or_else(|| known?.print),
                changes: may_change(call),
                outcome: Outcome::of(call, known.and_then(|known| known.outcome.as_ref())),
            }
        });
        let calls: Box<[Step]> = calls.collect();
        let is_prompt = entry.marks.prompt;
        (is_prompt || !calls.is_empty()).then(|| Self { is_prompt, calls, hunks: hunks.into() })
    }
}

/// Whether what was asked for was not done.
fn is_undone(state: &ToolState) -> bool {
    matches!(state, ToolState::Failed(_) | ToolState::Refused(_) | ToolState::Stopped(_) | ToolState::Lost)
}

/// Reading and planning change nothing, and neither does an edit that failed.
fn may_change(call: &ToolCall) -> bool {
    match call.kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Fetch | ToolKind::Plan => false,
        ToolKind::Edit | ToolKind::Write => !is_undone(&call.state),
        ToolKind::Run | ToolKind::Delegate | ToolKind::Other => true,
    }
}
