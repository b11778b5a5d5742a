//! All about the focused item.

use super::action::Action;
use super::panes::Frame;
use super::state::{Effect, State};
use crate::model::figures;

/// What the inspector shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspector {
    /// Facts, a line each.
    pub facts: Vec<String>,
}

/// Collects what is known of the focused item.
pub fn arrange(state: &mut State, frame: &Frame) {
    state.inspector.facts.clear();
    if frame.inspector.width == 0 {
        return;
    }
    let Some(entry) = state.view.focus.and_then(|focus| state.transcript.get(focus.entry)) else { return };
    let number =
        state.transcript.order().iter().position(|id| Some(*id) == state.transcript.find(&entry.key));
    let mut facts = vec![entry.role.word().to_owned()];
    facts.extend(number.map(|number| format!("entry {} of {}", number + 1, state.transcript.order().len())));
    facts.extend((entry.origin.line > 0).then(|| format!("line {}", entry.origin.line)));
    facts.push(figures::count(entry.blocks.len() as u64, "block"));
    state.inspector.facts = facts;
}

/// What the inspector does with an action while it has the keys; `None` if that is not its own.
pub fn act(_state: &mut State, _action: Action, _times: usize) -> Option<Vec<Effect>> {
    None
}
