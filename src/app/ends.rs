//! The two ends of a large session while it is read: its last entries are shown at once, its first ones as soon as
//! the reader goes there, and what lies between follows. The whole takes the place of either when it is complete.
//!
//! Invariant: each end is a transcript of its own, in which nothing is left out between two entries; what is known
//! of one is never told of the other.

use super::alarms;
use super::apply::{BODY_BUDGET, apply, show};
use super::effect::Effect;
use super::news;
use super::state::State;
use super::viewport::{Focus, Motion};
use super::whole::Whole;
use crate::model::edit::{Batch, Mode};
use crate::model::pages::WasPacked;
use crate::model::transcript::Transcript;

/// So many entries from the first on can be read before all are known.
const FIRST: usize = 2_000;

/// Entries of a session that is not told anew in its place when its file was cut or replaced, but beside it: to take
/// each of them back takes too long, and unpacks all of them.
const LARGE: usize = 4_000;

/// What there is of a session besides what is shown, until the whole is.
#[derive(Debug, Default)]
pub struct Ends {
    /// The end that is not shown.
    other: Transcript,
    /// Whether the beginning is shown, and the other one is the end of the session.
    is_beginning: bool,
    /// Whether the reader asked for the beginning before anything of it was read.
    is_awaited: bool,
    /// Whether what is shown is all that there was before the file was cut or replaced.
    is_renewed: bool,
    /// Where jumps came from in the other one.
    jumps: Vec<Focus>,
}

impl Ends {
    /// Whether the first entries are shown, and the last ones are not.
    pub fn is_beginning(&self) -> bool {
        self.is_beginning
    }

    /// Whether the first entries are to be shown as soon as there are any.
    pub fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    /// The reader wants something else.
    pub fn forget_wish(&mut self) {
        self.is_awaited = false;
    }
}

impl State {
    /// The transcript that ends where the session ends.
    pub fn last_entries(&self) -> &Transcript {
        if self.ends.is_beginning { &self.ends.other } else { &self.transcript }
    }

    /// Whether a batch of the whole may change what is on the screen.
    pub fn shows_whole(&self) -> bool {
        let grows = self.ends.is_beginning && self.transcript.order().len() < FIRST;
        self.whole.is_none() || self.ends.is_awaited || grows
    }
}

/// Takes a batch of the last entries.
pub fn take_last(state: &mut State, batch: Batch) -> Vec<Effect> {
    // From here on the whole is told beside what is shown, however soon its first batch comes.
    state.whole.get_or_insert_default();
    if !state.ends.is_beginning {
        return apply(state, batch);
    }
    state.ends.other.apply(batch);
    state.ends.other.settle();
    state.stale.facts = true;
    Vec::new()
}

/// Takes a batch of the whole.
pub fn take_whole(state: &mut State, mut batch: Batch) -> Vec<Effect> {
    let begins = batch.is_of_other_file && matches!(batch.mode, Mode::ReplaceStart | Mode::Replace);
    if begins && state.whole.is_none() && state.transcript.order().len() > LARGE {
        state.ends = Ends { is_renewed: true, ..Ends::default() };
        state.whole = Some(Whole::default());
    }
    let is_renewed = state.ends.is_renewed;
    if state.whole.is_none() {
        return apply(state, batch);
    }
    let mut effects = if is_renewed { Vec::new() } else { take_first(state, &batch) };
    let ends = matches!(batch.mode, Mode::ReplaceEnd | Mode::Replace);
    if let Some(whole) = &mut state.whole {
        if begins {
            *whole = Whole::default();
        }
        if batch.is_of_other_file {
            batch.mode = Mode::Append;
        }
        effects.extend(whole.take(batch, &state.indexes).into_iter().map(Effect::Pack));
    }
    if is_renewed && ends {
        state.ends = Ends::default();
        effects.extend(show_whole(state));
        alarms::begin(state);
    }
    effects
}

/// The whole takes the place of what is shown; what is being read stays where it is, by key.
fn show_whole(state: &mut State) -> Vec<Effect> {
    let Some(whole) = state.whole.take() else { return Vec::new() };
    let whole = whole.replace(&mut state.indexes, &mut state.findings);
    let (_, mut effects) = show(state, whole);
    state.transcript.release(BODY_BUDGET, |_| false);
    effects.extend(hand_out(state));
    effects
}

/// Entries that nobody looked at for a while are to be packed: not here, for a frame must not wait for it.
pub fn hand_out(state: &mut State) -> Vec<Effect> {
    state.transcript.hand_out().into_iter().map(Effect::Pack).collect()
}

/// Takes entries that were packed: of the whole, which may be shown by now, or of what is shown before it.
pub fn take_back(state: &mut State, page: WasPacked) {
    let other = match &mut state.whole {
        Some(whole) => whole.transcript.take_back(page),
        None => Some(page),
    };
    other.and_then(|page| state.transcript.take_back(page));
}

/// The first batches of the whole are the beginning, too.
fn take_first(state: &mut State, batch: &Batch) -> Vec<Effect> {
    let first = if state.ends.is_beginning { &state.transcript } else { &state.ends.other };
    if first.order().len() >= FIRST || batch.mode != Mode::Append {
        return Vec::new();
    }
    if state.ends.is_beginning {
        return apply(state, batch.clone());
    }
    state.ends.other.apply(batch.clone());
    state.ends.other.settle();
    if !state.ends.is_awaited || state.ends.other.order().is_empty() {
        return Vec::new();
    }
    let effects = exchange(state);
    state.view.ask(Motion::Top);
    effects
}

/// Shows the first entries, if others are shown and the whole is not known yet.
pub fn to_beginning(state: &mut State) -> Vec<Effect> {
    if state.whole.is_none() || state.ends.is_beginning {
        return Vec::new();
    }
    if state.ends.other.order().is_empty() {
        state.ends.is_awaited = true;
        return Vec::new();
    }
    exchange(state)
}

/// Shows the last entries, if the first ones are shown.
pub fn to_end(state: &mut State) -> Vec<Effect> {
    if state.ends.is_beginning { exchange(state) } else { Vec::new() }
}

fn exchange(state: &mut State) -> Vec<Effect> {
    // Jumps among the last entries are taken up again there.
    let jumps = std::mem::take(&mut state.jumps);
    let kept = std::mem::replace(&mut state.ends.jumps, jumps);
    let other = std::mem::take(&mut state.ends.other);
    state.indexes.clear();
    state.findings.reset();
    let (before, effects) = show(state, other);
    if state.ends.is_beginning {
        state.jumps = kept;
        state.ends.jumps.clear();
    }
    state.ends.other = before;
    state.ends.is_beginning = !state.ends.is_beginning;
    state.ends.is_awaited = false;
    state.unseen = 0;
    effects
}

/// All is read.
pub fn caught_up(state: &mut State) -> Vec<Effect> {
    state.progress = None;
    state.is_caught_up = true;
    let ends = std::mem::take(&mut state.ends);
    if state.whole.is_none() {
        news::settle(state);
        alarms::begin(state);
        state.stale.sequence |= state.seen.is_some();
        return Vec::new();
    }
    let effects = show_whole(state);
    if ends.is_awaited {
        state.view.ask(Motion::Top);
    }
    let moved = |focus: &Focus| {
        let entry = state.transcript.find(&ends.other.get(focus.entry)?.key)?;
        Some(Focus { entry, ..*focus })
    };
    let jumps: Vec<Focus> = ends.jumps.iter().filter_map(moved).collect();
    state.jumps.splice(0..0, jumps);
    news::settle(state);
    alarms::begin(state);
    effects
}
