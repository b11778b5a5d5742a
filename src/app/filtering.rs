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
use crate::model::transcript::Touched;
use crate::render::row::Level;

/// Starts typing, or takes a filter that needs none.
pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    if let Action::Quick(quick) = action {
        return self::quick(state, quick);
    }
    state.history.filters.rest();
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
    if let Some(line) = state.history.filters.recall(is_older, input.value()) {
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
    state.history.filters.keep(&typed);
    set(state, &typed, expr)
}

/// Filters by an expression.
pub fn set(state: &mut State, typed: &str, expr: Expr) -> Vec<Effect> {
    let generation = state.find.next_generation();
    let mut filter = Filter::new(typed, expr, &state.session.transcript, generation);
    let ids = state.session.transcript.order().to_vec();
    if let Some(job) = filter.judge(&state.session.transcript, &ids, false) {
        filter.percent = 0;
        state.find.next_filter = Some(filter);
        return vec![Effect::Filter(job)];
    }
    let effects = cancel(state);
    install(state, filter);
    effects
}

/// Filters by what is focused.
fn quick(state: &mut State, quick: Quick) -> Vec<Effect> {
    let block = state.text.view.focus.and_then(|focus| {
        let entry = state.session.transcript.get(focus.entry)?;
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
            let started = call.and_then(|call| state.session.transcript.lane_of_call(&call.key));
            let own = block.and_then(|(entry, _)| entry.lane.clone());
            let name = started.map(|lane| lane.name.clone()).or(own);
            Ok(Term::Lane(name.map_or_else(|| "main".to_owned(), |name| name.to_string())))
        }
        Quick::Id => {
            let id = state.text.view.focus.and_then(|focus| id_of(&state.session.transcript, focus));
            id.map(Term::Id).ok_or("nothing is focused")
        }
    };
    match term.map(Expr::Term) {
        Ok(expr) => {
            let typed = expr.to_string();
            state.history.filters.keep(&typed);
            set(state, &typed, expr)
        }
        Err(why) => {
            state.screen.say(why);
            Vec::new()
        }
    }
}

/// Shows everything again.
pub fn clear(state: &mut State) -> Vec<Effect> {
    let effects = cancel(state);
    if state.find.filter.take().is_some() {
        // The filter may have shown it although its sub-agent is closed.
        if let Some(focus) = state.text.view.focus {
            reach(state, focus);
        }
        changed(state);
    }
    effects
}

/// Gives up a filter whose texts are still being read.
pub fn cancel(state: &mut State) -> Vec<Effect> {
    state.find.next_filter.take().map(|_| Effect::CancelFilter).into_iter().collect()
}

fn install(state: &mut State, filter: Filter) {
    state.find.filter = Some(filter);
    if state.text.level == Level::Prompts {
        state.text.level = Level::Outline;
    }
    changed(state);
}

fn changed(state: &mut State) {
    state.look_changed();
    state.text.stale.sequence = true;
    searching::narrow(state);
}

/// Takes answers of the thread over: how much is read, and at the end the blocks that match.
pub fn answered(state: &mut State, generation: u32, percent: u8, matched: Option<&[(Focus, u32)]>) {
    let is_it = |filter: &&mut Filter| filter.generation == generation;
    if let Some(filter) = state.find.next_filter.as_mut().filter(is_it) {
        filter.percent = percent.min(99);
    }
    let Some(matched) = matched else { return };
    let is_next = state.find.next_filter.as_ref().is_some_and(|filter| filter.generation == generation);
    let filter = if is_next {
        state.find.next_filter.take()
    } else {
        state.find.filter.take_if(|f| f.generation == generation)
    };
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
    let transcript = &state.session.transcript;
    for filter in state.find.next_filter.iter_mut().chain(&mut state.find.filter) {
        let shown = |filter: &Filter| -> Vec<bool> {
            touched.changed.iter().map(|id| !filter.blocks(*id).is_empty()).collect()
        };
        let before = shown(filter);
        effects.extend(filter.judge(transcript, &ids, true).map(Effect::Filter));
        // What is new is added at the end; what was known comes or goes in the middle.
        state.text.stale.sequence |= before != shown(filter);
        if touched.reordered {
            filter.keep(transcript);
        }
    }
    effects
}

/// Another telling of the session took the place of the one that was judged.
pub fn again(state: &mut State) -> Vec<Effect> {
    let next = state.find.next_filter.take();
    let Some(old) = state.find.filter.take() else {
        return next.map_or_else(Vec::new, |next| set(state, &next.typed, next.expr));
    };
    let ids = state.session.transcript.order().to_vec();
    let generation = state.find.next_generation();
    let mut filter = old.again(&state.session.transcript, generation);
    let job = filter.judge(&state.session.transcript, &ids, false);
    let mut read = filter.clone();
    read.percent = 0;
    // What was shown stays so until its text is read anew.
    for open in job.iter().flat_map(|job| &job.unsure) {
        let key = state.session.transcript.get(open.focus.entry).map(|entry| &entry.key);
        let known = key.and_then(|key| state.session.before()?.find(key));
        if known.is_some_and(|entry| old.shows(Focus { entry, ..open.focus })) {
            filter.show(open.focus, open.revision);
        }
    }
    install(state, filter);
    match (next, job) {
        (Some(next), _) => set(state, &next.typed, next.expr),
        (None, Some(job)) => {
            state.find.next_filter = Some(read);
            vec![Effect::Filter(job)]
        }
        (None, None) => Vec::new(),
    }
}
