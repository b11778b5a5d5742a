//! What can be taken out of the focused item: its text, its record, its place.

use super::action::What;
use super::excerpt::{self, Excerpt};
use super::state::{Effect, State};
use super::viewport::Focus;
use crate::model::record::Origin;

/// The records of the focused item.
pub fn focused_origins(state: &State) -> Option<Vec<Origin>> {
    origins_of(state, state.view.focus?)
}

/// The records of an item: those of its bodies, or of its entry.
pub fn origins_of(state: &State, focus: Focus) -> Option<Vec<Origin>> {
    let entry = state.transcript.get(focus.entry)?;
    let bodies = entry.blocks.get(focus.block).map(|block| block.kind.bodies()).unwrap_or_default();
    let mut origins: Vec<Origin> = Vec::new();
    for origin in bodies.iter().map(|body| body.from).chain(bodies.is_empty().then_some(entry.origin)) {
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    Some(origins)
}

/// Copies something of the focused item.
pub fn copy(state: &mut State, what: What) -> Vec<Effect> {
    let (Some(focus), Some(origins)) = (state.view.focus, focused_origins(state)) else { return Vec::new() };
    let text = match what {
        What::Json => return vec![Effect::CopyRecords(origins)],
        What::Path => path_of(state, &origins),
        what => match state.transcript.get(focus.entry).map(|entry| excerpt::of(entry, focus.block, what)) {
            Some(Excerpt::Text(text)) => Some(text),
            Some(Excerpt::Nothing(why)) => {
                state.say(why);
                None
            }
            Some(Excerpt::Away) => {
                state.say("still being read; try again");
                None
            }
            None => None,
        },
    };
    text.map_or_else(Vec::new, |text| vec![Effect::Copy(text)])
}

fn path_of(state: &State, origins: &[Origin]) -> Option<String> {
    let origin = origins.first()?;
    let number = usize::try_from(origin.file.0).ok()?;
    let path = state.files.get(number)?;
    Some(format!("{}:{}", path.display(), origin.line))
}
