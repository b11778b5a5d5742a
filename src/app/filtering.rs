//! Filters as the reader meets them: typing, quick ones, verdicts that come in.
//!
//! **A filter takes effect as a whole.** Facts are judged at once, texts on a thread; until all are known, nothing
//! moves. It judges blocks, and shows nothing else for the sake of context.
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
use super::reader::Reader;
use super::searching;
use super::state::App;
use super::viewport::Focus;
use crate::analysis::expression::{Expr, Speaker, Term, parse};
use crate::model::entry::{BlockKind, EntryId};
use crate::model::transcript::Touched;
use crate::render::row::Level;

/// Starts typing, or takes a filter that needs none.
pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    if let Action::Quick(quick) = action {
        return self::quick(app, quick);
    }
    app.history.filters.rest();
    app.mode = Mode::Filter { input: Input::default() };
    Vec::new()
}

/// Changes what is typed.
pub(crate) fn type_on(app: &mut App, request: InputRequest) {
    if let Mode::Filter { input } = &mut app.mode {
        input.handle(request);
    }
}

/// Takes the line that was typed before, or after, in its place.
pub(crate) fn recall(app: &mut App, is_older: bool) {
    let Mode::Filter { input } = &mut app.mode else { return };
    if let Some(line) = app.history.filters.recall(is_older, input.value()) {
        *input = Input::new(line);
    }
}

/// What is typed takes effect, if it can be read; nothing shows everything.
pub(crate) fn accept(app: &mut App) -> Vec<Effect> {
    let Mode::Filter { input } = &app.mode else { return Vec::new() };
    let typed = input.value().trim().to_owned();
    if typed.is_empty() {
        app.mode = Mode::Normal;
        return clear(&mut app.reader);
    }
    // A mistake is shown beside the line, which stays open.
    let Ok(expr) = parse::parse(&typed) else { return Vec::new() };
    app.mode = Mode::Normal;
    app.history.filters.keep(&typed);
    set(&mut app.reader, &typed, expr)
}

/// Filters by an expression.
pub fn set(reader: &mut Reader, typed: &str, expr: Expr) -> Vec<Effect> {
    let generation = reader.find.next_generation();
    let mut filter = Filter::new(typed, expr, &reader.session.transcript, generation);
    let ids = reader.session.transcript.order().to_vec();
    if let Some(job) = filter.judge(&reader.session.transcript, &ids, false) {
        filter.percent = 0;
        reader.find.next_filter = Some(filter);
        return vec![Effect::Filter(job)];
    }
    let effects = cancel(reader);
    install(reader, filter);
    effects
}

/// Filters by what is focused.
fn quick(app: &mut App, quick: Quick) -> Vec<Effect> {
    let block = app.reader.text.view.focus.and_then(|focus| {
        let entry = app.reader.session.transcript.get(focus.entry)?;
        Some((entry, &entry.blocks.get(focus.block)?.kind))
    });
    let call = block.and_then(|(_, kind)| match kind {
        BlockKind::Call(call) => Some(call),
        _ => None,
    });
    let term = match quick {
        Quick::Clear => return clear(&mut app.reader),
        Quick::Errors => Ok(Term::Error),
        Quick::Tools => Ok(Term::Tool("*".to_owned())),
        Quick::Prompts => Ok(Term::Role(Speaker::User)),
        Quick::Name => call.map(|call| Term::Tool(call.name.to_string())).ok_or("no tool call is focused"),
        Quick::Lane => {
            let started = call.and_then(|call| app.reader.session.transcript.lane_of_call(&call.key));
            let own = block.and_then(|(entry, _)| entry.lane.clone());
            let name = started.map(|lane| lane.name.clone()).or(own);
            Ok(Term::Lane(name.map_or_else(|| "main".to_owned(), |name| name.to_string())))
        }
        Quick::Id => {
            let id =
                app.reader.text.view.focus.and_then(|focus| id_of(&app.reader.session.transcript, focus));
            id.map(Term::Id).ok_or("nothing is focused")
        }
    };
    match term.map(Expr::Term) {
        Ok(expr) => {
            let typed = expr.to_string();
            app.history.filters.keep(&typed);
            set(&mut app.reader, &typed, expr)
        }
        Err(why) => {
            app.reader.screen.say(why);
            Vec::new()
        }
    }
}

/// Shows everything again.
pub fn clear(reader: &mut Reader) -> Vec<Effect> {
    let effects = cancel(reader);
    if reader.find.filter.take().is_some() {
        // The filter may have shown it although its sub-agent is closed.
        if let Some(focus) = reader.text.view.focus {
            reach(reader, focus);
        }
        changed(reader);
    }
    effects
}

/// Gives up a filter whose texts are still being read.
pub fn cancel(reader: &mut Reader) -> Vec<Effect> {
    reader.find.next_filter.take().map(|_| Effect::CancelFilter).into_iter().collect()
}

fn install(reader: &mut Reader, filter: Filter) {
    reader.find.filter = Some(filter);
    if reader.text.level == Level::Prompts {
        reader.text.level = Level::Outline;
    }
    changed(reader);
}

fn changed(reader: &mut Reader) {
    reader.look_changed();
    reader.text.stale.sequence = true;
    searching::narrow(reader);
}

/// Takes answers of the thread over: how much is read, and at the end the blocks that match.
pub fn answered(reader: &mut Reader, generation: u32, percent: u8, matched: Option<&[(Focus, u32)]>) {
    let is_it = |filter: &&mut Filter| filter.generation == generation;
    if let Some(filter) = reader.find.next_filter.as_mut().filter(is_it) {
        filter.percent = percent.min(99);
    }
    let Some(matched) = matched else { return };
    let is_next = reader.find.next_filter.as_ref().is_some_and(|filter| filter.generation == generation);
    let filter = if is_next {
        reader.find.next_filter.take()
    } else {
        reader.find.filter.take_if(|f| f.generation == generation)
    };
    let Some(mut filter) = filter else { return };
    filter.percent = 100;
    for (focus, revision) in matched {
        filter.show(*focus, *revision);
    }
    install(reader, filter);
}

/// Judges entries that have just come or changed.
pub(crate) fn judge_new(reader: &mut Reader, touched: &Touched) -> Vec<Effect> {
    let mut effects = Vec::new();
    let ids: Vec<EntryId> = touched.added.iter().chain(&touched.changed).copied().collect();
    let transcript = &reader.session.transcript;
    for filter in reader.find.next_filter.iter_mut().chain(&mut reader.find.filter) {
        let shown = |filter: &Filter| -> Vec<bool> {
            touched.changed.iter().map(|id| !filter.blocks(*id).is_empty()).collect()
        };
        let before = shown(filter);
        effects.extend(filter.judge(transcript, &ids, true).map(Effect::Filter));
        // What is new is added at the end; what was known comes or goes in the middle.
        reader.text.stale.sequence |= before != shown(filter);
        if touched.reordered {
            filter.keep(transcript);
        }
    }
    effects
}

/// Another telling of the session took the place of the one that was judged.
pub fn again(reader: &mut Reader) -> Vec<Effect> {
    let next = reader.find.next_filter.take();
    let Some(old) = reader.find.filter.take() else {
        return next.map_or_else(Vec::new, |next| set(reader, &next.typed, next.expr));
    };
    let ids = reader.session.transcript.order().to_vec();
    let generation = reader.find.next_generation();
    let mut filter = old.again(&reader.session.transcript, generation);
    let job = filter.judge(&reader.session.transcript, &ids, false);
    let mut read = filter.clone();
    read.percent = 0;
    // What was shown stays so until its text is read anew.
    for open in job.iter().flat_map(|job| &job.unsure) {
        let key = reader.session.transcript.get(open.focus.entry).map(|entry| &entry.key);
        let known = key.and_then(|key| reader.session.before()?.find(key));
        if known.is_some_and(|entry| old.shows(Focus { entry, ..open.focus })) {
            filter.show(open.focus, open.revision);
        }
    }
    install(reader, filter);
    match (next, job) {
        (Some(next), _) => set(reader, &next.typed, next.expr),
        (None, Some(job)) => {
            reader.find.next_filter = Some(read);
            vec![Effect::Filter(job)]
        }
        (None, None) => Vec::new(),
    }
}
