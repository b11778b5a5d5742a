//! The steps of a lane: its prompts and calls, as far as runs depend on them. They are kept in a third of the room.

use std::collections::HashMap;
use std::num::NonZeroU32;

use crate::analysis::calls::{Place, likeness_of, print_of};
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::text::Name;
use crate::model::tool::{ToolCall, ToolKind, ToolState};

/// One thing that happened in a lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneStep {
    /// Where.
    pub(crate) place: Place,
    /// What.
    pub(crate) what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A prompt.
    Prompt,
    /// A call.
    Call(Asked),
}

/// A call, as far as runs depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The tool.
    pub(crate) tool: Name,
    /// The same for calls that ask for the same, as far as the beginning of their arguments shows.
    pub(crate) likeness: u64,
    /// Of all arguments, if they were ever in memory.
    pub(crate) print: Option<u64>,
    /// Whether something may be different after it.
    pub(crate) changes: bool,
    /// What came of it, as a number that is the same for the same.
    pub(crate) outcome: Option<u64>,
}

impl Asked {
    /// Whether both ask for the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let prints = self.print.zip(other.print);
        self.likeness == other.likeness && prints.is_none_or(|(one, other)| one == other)
    }

    /// Whether all is the same but for what came of it.
    pub(crate) fn asks_the_same(&self, other: &Self) -> bool {
        let outcome = self.outcome;
        *self == Self { outcome, ..other.clone() }
    }
}

impl LaneStep {
    /// Whether it is a prompt.
    pub(crate) fn is_prompt(&self) -> bool {
        self.what == What::Prompt
    }
}

/// The steps of an entry. What was known of its arguments is kept if they have been left on disk since.
pub(crate) fn steps_of(id: EntryId, entry: &Entry, before: &[LaneStep]) -> Vec<LaneStep> {
    if entry.marks.copy {
        return Vec::new();
    }
    let place = |block: usize| Place { entry: id, block };
    let prompt = entry.marks.prompt.then(|| LaneStep { place: place(0), what: What::Prompt });
    let calls = entry.blocks.iter().enumerate().filter_map(|(block, one)| match &one.kind {
        BlockKind::Call(call) => Some((block, &**call)),
        _ => None,
    });
    // Both are in the order of the blocks.
    let mut before = before.iter().filter(|step| !step.is_prompt()).peekable();
    let calls = calls.map(|(block, call)| {
        while before.next_if(|step| step.place.block < block).is_some() {}
        let known = match before.peek().map(|step| (step.place.block, &step.what)) {
            Some((at, What::Call(asked))) if at == block => Some(asked),
            _ => None,
        };
        LaneStep { place: place(block), what: What::Call(asked(call, known)) }
    });
    prompt.into_iter().chain(calls).collect()
}

fn asked(call: &ToolCall, known: Option<&Asked>) -> Asked {
    let likeness = likeness_of(call);
    let kept = known.filter(|known| known.likeness == likeness).and_then(|known| known.print);
    Asked {
        tool: call.name.clone(),
        likeness,
        print: print_of(&call.input).or(kept),
        changes: may_change(call),
        outcome: call.state.result().map(|result| {
            let body = &result.body;
            let print = print_of(body).unwrap_or_else(|| u64::from(body.bytes) << 32 | u64::from(body.lines));
            print ^ (u64::from(matches!(call.state, ToolState::Done(_))) << 63)
        }),
    }
}

/// Reading and planning change nothing, and neither does an edit that failed.
fn may_change(call: &ToolCall) -> bool {
    match call.kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Fetch | ToolKind::Plan => false,
        ToolKind::Edit | ToolKind::Write => !matches!(
            call.state,
            ToolState::Failed(_) | ToolState::Refused(_) | ToolState::Stopped(_) | ToolState::Lost
        ),
        ToolKind::Run | ToolKind::Delegate | ToolKind::Other => true,
    }
}

/// Steps in the order of the lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    list: Vec<Kept>,
    tools: Vec<Name>,
    /// Prints of arguments that were in memory, by place; those of most calls never are.
    prints: HashMap<usize, u64>,
}

/// A step as it is kept.
#[derive(Clone, Copy, Debug)]
struct Kept {
    likeness: u64,
    /// Means nothing without [`Kept::has_outcome`].
    outcome: u64,
    entry: EntryId,
    block: u32,
    /// Number of the tool in the list of tools, from 1 on; nothing for a prompt.
    tool: Option<NonZeroU32>,
    changes: bool,
    has_outcome: bool,
}

impl Steps {
    /// Number of steps.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds a step.
    pub(crate) fn push(&mut self, step: LaneStep) {
        let kept = self.kept(self.list.len(), step);
        self.list.push(kept);
    }

    /// Puts a step in the place of another one.
    pub(crate) fn set(&mut self, at: usize, step: LaneStep) {
        let kept = self.kept(at, step);
        if let Some(place) = self.list.get_mut(at) {
            *place = kept;
        }
    }

    /// Drops all steps from this place on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
        self.prints.retain(|at, _| *at < len);
    }

    /// The step at a place.
    pub(crate) fn get(&self, at: usize) -> Option<LaneStep> {
        let kept = self.list.get(at)?;
        let place = Place { entry: kept.entry, block: usize::try_from(kept.block).ok()? };
        let tool = kept.tool.and_then(|tool| self.tools.get(usize::try_from(tool.get() - 1).ok()?));
        let what = tool.map_or(What::Prompt, |tool| {
            What::Call(Asked {
                tool: tool.clone(),
                likeness: kept.likeness,
                print: self.prints.get(&at).copied(),
                changes: kept.changes,
                outcome: kept.has_outcome.then_some(kept.outcome),
            })
        });
        Some(LaneStep { place, what })
    }

    /// Whether a prompt stands at a place.
    pub(crate) fn is_prompt(&self, at: usize) -> bool {
        self.list.get(at).is_some_and(|kept| kept.tool.is_none())
    }

    fn kept(&mut self, at: usize, step: LaneStep) -> Kept {
        let LaneStep { place: Place { entry, block }, what } = step;
        let block = u32::try_from(block).unwrap_or(u32::MAX);
        self.prints.remove(&at);
        let What::Call(asked) = what else {
            return Kept {
                likeness: 0,
                outcome: 0,
                entry,
                block,
                tool: None,
                changes: false,
                has_outcome: false,
            };
        };
        if let Some(print) = asked.print {
            self.prints.insert(at, print);
        }
        let known = self.tools.iter().position(|known| *known == asked.tool);
        let tool = known.unwrap_or(self.tools.len()) + 1;
        if known.is_none() {
            self.tools.push(asked.tool);
        }
        Kept {
            likeness: asked.likeness,
            outcome: asked.outcome.unwrap_or(0),
            entry,
            block,
            tool: u32::try_from(tool).ok().and_then(NonZeroU32::new),
            changes: asked.changes,
            has_outcome: asked.outcome.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, LaneStep, Place, Steps, What};
    use crate::model::entry::EntryId;
    use crate::model::text::Name;

    fn call(entry: u32, tool: &str, print: Option<u64>, outcome: Option<u64>) -> LaneStep {
        let (tool, likeness, changes) = (Name::from(tool), u64::from(entry) << 40, print.is_some());
        let what = What::Call(Asked { tool, likeness, print, changes, outcome });
        LaneStep { place: Place { entry: EntryId(entry), block: 3 }, what }
    }

    fn prompt(entry: u32) -> LaneStep {
        LaneStep { place: Place { entry: EntryId(entry), block: 0 }, what: What::Prompt }
    }

    fn assert_are(steps: &Steps, expected: &[LaneStep]) {
        let kept: Vec<LaneStep> = (0..steps.len()).filter_map(|at| steps.get(at)).collect();
        assert_eq!(format!("{kept:?}"), format!("{expected:?}"));
        let prompts = (0..steps.len()).filter(|at| steps.is_prompt(*at)).count();
        assert_eq!(prompts, expected.iter().filter(|step| step.is_prompt()).count());
    }

    #[test]
    fn what_is_kept_is_what_was_pushed() {
        let mut all = vec![
            prompt(0),
            call(1, "Bash", None, Some(0)),
            call(2, "Read", Some(5), None),
            call(2, "Bash", Some(0), Some(u64::MAX)),
            prompt(7),
        ];
        let mut steps = Steps::default();
        all.iter().cloned().for_each(|step| steps.push(step));
        assert_are(&steps, &all);
        all[2] = call(2, "Edit", None, Some(9));
        steps.set(2, all[2].clone());
        assert_are(&steps, &all);
        all.truncate(3);
        steps.truncate(3);
        steps.push(all[1].clone());
        all.push(all[1].clone());
        assert_are(&steps, &all);
    }
}
