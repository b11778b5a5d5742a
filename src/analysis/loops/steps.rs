//! The steps of a lane, in a third of the room.

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::runs::{Asked, Step, What};
use crate::analysis::calls::Place;
use crate::model::entry::EntryId;
use crate::model::text::Name;

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
    pub(crate) fn push(&mut self, step: Step) {
        let kept = self.kept(self.list.len(), step);
        self.list.push(kept);
    }

    /// Puts a step in the place of another one.
    pub(crate) fn set(&mut self, at: usize, step: Step) {
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
    pub(crate) fn get(&self, at: usize) -> Option<Step> {
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
        Some(Step { place, what })
    }

    /// Whether a prompt stands at a place.
    pub(crate) fn is_prompt(&self, at: usize) -> bool {
        self.list.get(at).is_some_and(|kept| kept.tool.is_none())
    }

    fn kept(&mut self, at: usize, step: Step) -> Kept {
        let Step { place: Place { entry, block }, what } = step;
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
    use super::{Asked, Place, Step, Steps, What};
    use crate::model::entry::EntryId;
    use crate::model::text::Name;

    fn call(entry: u32, tool: &str, print: Option<u64>, outcome: Option<u64>) -> Step {
        let (tool, likeness, changes) = (Name::from(tool), u64::from(entry) << 40, print.is_some());
        let what = What::Call(Asked { tool, likeness, print, changes, outcome });
        Step { place: Place { entry: EntryId(entry), block: 3 }, what }
    }

    fn prompt(entry: u32) -> Step {
        Step { place: Place { entry: EntryId(entry), block: 0 }, what: What::Prompt }
    }

    fn assert_are(steps: &Steps, expected: &[Step]) {
        let told: Vec<Step> = (0..steps.len()).filter_map(|at| steps.get(at)).collect();
        assert_eq!(format!("{told:?}"), format!("{expected:?}"));
        let prompts = (0..steps.len()).filter(|at| steps.is_prompt(*at)).count();
        assert_eq!(prompts, expected.iter().filter(|step| step.is_prompt()).count());
    }

    #[test]
    fn what_is_kept_is_what_was_told() {
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
