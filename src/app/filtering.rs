//! Filters as the reader meets them: typing, quick ones, verdicts that come in.
//!
//! Invariant: a filter takes effect at once or when all texts are read, never piece by piece; what is read
//! meanwhile stays where it is.

use tui_input::{Input, InputRequest};

use super::action::{Action, Quick};
use super::effect::Effect;
use super::filter::Filter;
use super::landmarks::id_of;
use super::mode::Mode;
use super::reach::reach;
use super::searching;
use super::state::State;
use super::viewport::Focus;
use crate::analysis::expression::{Expr, Speaker, Term, parse};
use crate::model::entry::{BlockKind, EntryId};
use crate::model::transcript::{Touched, Transcript};
use crate::render::row::Level;

/// Starts typing, or takes a filter that needs none.
pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    if let Action::Quick(quick) = action {
        return self::quick(state, quick);
    }
    state.filters.rest();
    state.mode = Mode::Filter { input: Input::default() };
    Vec::new()
}

/// Changes what is typed.
pub fn type_on(state: &mut State, request: InputRequest) {
    if let Mode::Filter { input } = &mut state.mode {
        input.handle(request);
    }
}

/// Takes the line that was typed before, or after, in its place.
pub fn recall(state: &mut State, is_older: bool) {
    let Mode::Filter { input } = &mut state.mode else { return };
    if let Some(line) = state.filters.recall(is_older, input.value()) {
        *input = Input::new(line);
    }
}

/// What is typed takes effect, if it can be read; nothing shows everything.
pub fn accept(state: &mut State) -> Vec<Effect> {
    let Mode::Filter { input } = &state.mode else { return Vec::new() };
    let typed = input.value().trim().to_owned();
    if typed.is_empty() {
        state.mode = Mode::Normal;
        return clear(state);
    }
    // A mistake is shown beside the line, which stays open.
    let Ok(expr) = parse::parse(&typed) else { return Vec::new() };
    state.mode = Mode::Normal;
    state.filters.keep(&typed);
    set(state, &typed, expr)
}

/// Filters by an expression.
pub fn set(state: &mut State, typed: &str, expr: Expr) -> Vec<Effect> {
    let generation = next_generation(state);
    let mut filter = Filter::new(typed, expr, &state.transcript, generation);
    let ids = state.transcript.order().to_vec();
    if let Some(job) = filter.judge(&state.transcript, &ids, false) {
        filter.percent = 0;
        state.next_filter = Some(filter);
        return vec![Effect::Filter(job)];
    }
    let effects = cancel(state);
    install(state, filter);
    effects
}

fn next_generation(state: &mut State) -> u32 {
    state.generation = state.generation.wrapping_add(1).max(1);
    state.generation
}

/// Filters by what is focused.
fn quick(state: &mut State, quick: Quick) -> Vec<Effect> {
    let block = state.view.focus.and_then(|focus| {
        let entry = state.transcript.get(focus.entry)?;
        Some((entry, &entry.blocks.get(focus.block)?.kind))
    });
    let call = block.and_then(|(_, kind)| match kind {
        BlockKind::Call(call) => Some(call),
        _ => None,
    });
    let term = match quick {
        Quick::Clear => return clear(state),
        Quick::Errors => Ok(Term::Error),
        Quick::Tools => Ok(Term::Tool("*".to_owned())),
        Quick::Prompts => Ok(Term::Role(Speaker::User)),
        Quick::Name => call.map(|call| Term::Tool(call.name.to_string())).ok_or("no tool call is focused"),
        Quick::Lane => {
            let started = call.and_then(|call| state.transcript.lane_of_call(&call.key));
            let own = block.and_then(|(entry, _)| entry.lane.clone());
            let name = started.map(|lane| lane.name.clone()).or(own);
            Ok(Term::Lane(name.map_or_else(|| "main".to_owned(), |name| name.to_string())))
        }
        Quick::Id => {
            let id = state.view.focus.and_then(|focus| id_of(&state.transcript, focus));
            id.map(Term::Id).ok_or("nothing is focused")
        }
    };
    match term.map(Expr::Term) {
        Ok(expr) => {
            let typed = expr.to_string();
            state.filters.keep(&typed);
            set(state, &typed, expr)
        }
        Err(why) => {
            state.say(why);
            Vec::new()
        }
    }
}

/// Shows everything again.
pub fn clear(state: &mut State) -> Vec<Effect> {
    let effects = cancel(state);
    if state.filter.take().is_some() {
        // The filter may have shown it although its sub-agent is closed.
        if let Some(focus) = state.view.focus {
            reach(state, focus);
        }
        changed(state);
    }
    effects
}

/// Gives up a filter whose texts are still being read.
pub fn cancel(state: &mut State) -> Vec<Effect> {
    state.next_filter.take().map(|_| Effect::CancelFilter).into_iter().collect()
}

fn install(state: &mut State, filter: Filter) {
    state.filter = Some(filter);
    if state.level == Level::Prompts {
        state.level = Level::Outline;
    }
    changed(state);
}

fn changed(state: &mut State) {
    state.look_changed();
    state.stale.sequence = true;
    searching::narrow(state);
}

/// Takes answers of the thread over: how much is read, and at the end the blocks that match.
pub fn answered(state: &mut State, generation: u32, percent: u8, matched: Option<&[(Focus, u32)]>) {
    let is_it = |filter: &&mut Filter| filter.generation == generation;
    if let Some(filter) = state.next_filter.as_mut().filter(is_it) {
        filter.percent = percent.min(99);
    }
    let Some(matched) = matched else { return };
    let is_next = state.next_filter.as_ref().is_some_and(|filter| filter.generation == generation);
    let filter =
        if is_next { state.next_filter.take() } else { state.filter.take_if(|f| f.generation == generation) };
    let Some(mut filter) = filter else { return };
    filter.percent = 100;
    for (focus, revision) in matched {
        filter.show(*focus, *revision);
    }
    install(state, filter);
}

/// Judges entries that have just come or changed.
pub fn judge_new(state: &mut State, touched: &Touched) -> Vec<Effect> {
    let mut effects = Vec::new();
    let ids: Vec<EntryId> = touched.added.iter().chain(&touched.changed).copied().collect();
    let transcript = &state.transcript;
    for filter in state.next_filter.iter_mut().chain(&mut state.filter) {
        let shown = |filter: &Filter| -> Vec<bool> {
            touched.changed.iter().map(|id| !filter.blocks(*id).is_empty()).collect()
        };
        let before = shown(filter);
        effects.extend(filter.judge(transcript, &ids, true).map(Effect::Filter));
        // What is new is added at the end; what was known comes or goes in the middle.
        state.stale.sequence |= before != shown(filter);
        if touched.reordered {
            filter.keep(transcript);
        }
    }
    effects
}

/// Another telling of the session took the place of the one that was judged.
pub fn again(state: &mut State, before: &Transcript) -> Vec<Effect> {
    let next = state.next_filter.take();
    let Some(old) = state.filter.take() else {
        return next.map_or_else(Vec::new, |next| set(state, &next.typed, next.expr));
    };
    let ids = state.transcript.order().to_vec();
    let generation = next_generation(state);
    let mut filter = old.again(&state.transcript, generation);
    let job = filter.judge(&state.transcript, &ids, false);
    let mut read = filter.clone();
    read.percent = 0;
    // What was shown stays so until its text is read anew.
    for open in job.iter().flat_map(|job| &job.unsure) {
        let key = state.transcript.get(open.focus.entry).map(|entry| &entry.key);
        let known = key.and_then(|key| before.find(key));
        if known.is_some_and(|entry| old.shows(Focus { entry, ..open.focus })) {
            filter.show(open.focus, open.revision);
        }
    }
    install(state, filter);
    match (next, job) {
        (Some(next), _) => set(state, &next.typed, next.expr),
        (None, Some(job)) => {
            state.next_filter = Some(read);
            vec![Effect::Filter(job)]
        }
        (None, None) => Vec::new(),
    }
}
