//! The filter of the transcript pane: typed filters, quick filters, results of the worker.
//!
//! **A filter takes effect as a whole.** Facts are checked immediately, texts by a worker. A filter
//! matches blocks, and adds no context around them.
//!
//! Invariant: a filter is installed immediately or when all texts are read, never in parts; until
//! then no row moves.

use tui_input::Input;

use super::search;
use crate::analysis::expression::{Expr, Speaker, Term, parse};
use crate::app::effect::Effect;
use crate::app::input::action::{Action, QuickFilter};
use crate::app::input::history::HistoryKind;
use crate::app::mode::Mode;
use crate::app::scene::{Ask, Scene};
use crate::app::text::TextPane;
use crate::app::text::folds::reveal;
use crate::app::text::landmarks::id_of;
use crate::app::text::viewport::Focus;
use crate::model::entry::EntryId;
use crate::model::transcript::{Touched, Transcript};
use crate::render::row::Level;
use crate::session::Session;
use crate::session::filter::Filter;

/// Starts typing a filter, or sets a quick one.
pub fn act(text: &mut TextPane, scene: &mut Scene<'_>, action: Action) -> Vec<Effect> {
    if let Action::Quick(quick) = action {
        return self::quick(text, scene, quick);
    }
    scene.enter(Mode::Filter {
        input: Input::default(),
    });
    Vec::new()
}

/// Sets the typed filter; an empty one removes the filter. `None` if it cannot be parsed: the line
/// stays open and shows the error.
pub(crate) fn accept(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    typed: &str,
) -> Option<Vec<Effect>> {
    if typed.is_empty() {
        return Some(clear(text, scene));
    }
    let expr = parse::parse(typed).ok()?;
    scene
        .requests
        .push(Ask::Keep(HistoryKind::Filter, typed.to_owned()));
    Some(set(text, scene, typed, expr))
}

/// Filters by an expression.
pub fn set(text: &mut TextPane, scene: &Scene<'_>, typed: &str, expr: Expr) -> Vec<Effect> {
    let generation = text.find.next_generation();
    let mut filter = Filter::new(typed, expr, &scene.session.transcript, generation);
    let ids = scene.session.transcript.order().to_vec();
    if let Some(job) = filter.judge(&scene.session.transcript, &ids, false) {
        filter.percent = 0;
        text.find.next_filter = Some(filter);
        return vec![Effect::Filter(job)];
    }
    let effects = cancel(text);
    install(text, filter);
    effects
}

/// Sets a filter made from the focused item.
fn quick(text: &mut TextPane, scene: &mut Scene<'_>, quick: QuickFilter) -> Vec<Effect> {
    let block = text.view.focus.and_then(|focus| {
        let entry = scene.session.transcript.get(focus.entry)?;
        Some((entry, entry.blocks.get(focus.block)?))
    });
    let call = block.and_then(|(_, block)| block.call());
    let term = match quick {
        QuickFilter::Clear => return clear(text, scene),
        QuickFilter::Errors => Ok(Term::Error),
        QuickFilter::Tools => Ok(Term::Tool("*".to_owned())),
        QuickFilter::Prompts => Ok(Term::Role(Speaker::User)),
        QuickFilter::Name => call
            .map(|call| Term::Tool(call.name.to_string()))
            .ok_or("no tool call is focused"),
        QuickFilter::Lane => {
            let started = call.and_then(|call| scene.session.transcript.lane_of_call(&call.key));
            let own = block.and_then(|(entry, _)| entry.lane.clone());
            let name = started.map(|lane| lane.name.clone()).or(own);
            Ok(Term::Lane(name.map_or_else(
                || "main".to_owned(),
                |name| name.to_string(),
            )))
        }
        QuickFilter::Id => {
            let id = text
                .view
                .focus
                .and_then(|focus| id_of(&scene.session.transcript, focus));
            id.map(Term::Id).ok_or("nothing is focused")
        }
    };
    match term.map(Expr::Term) {
        Ok(expr) => {
            let typed = expr.to_string();
            scene
                .requests
                .push(Ask::Keep(HistoryKind::Filter, typed.clone()));
            set(text, scene, &typed, expr)
        }
        Err(why) => {
            scene.set_status(why);
            Vec::new()
        }
    }
}

pub fn clear(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    let effects = cancel(text);
    if text.find.filter.take().is_some() {
        // The focused item may be visible only through the filter, because its sub-agent is closed.
        if let Some(focus) = text.view.focus {
            reveal(text, scene, focus);
        }
        changed(text);
    }
    effects
}

/// Cancels a filter whose texts are still being read.
pub fn cancel(text: &mut TextPane) -> Vec<Effect> {
    text.find
        .next_filter
        .take()
        .map(|_| Effect::CancelFilter)
        .into_iter()
        .collect()
}

fn install(text: &mut TextPane, filter: Filter) {
    text.find.filter = Some(filter);
    if text.level == Level::Prompts {
        text.level = Level::Outline;
    }
    changed(text);
}

fn changed(text: &mut TextPane) {
    text.invalidate_rows();
    text.stale.sequence = true;
    search::apply_filter(text);
}

/// Applies results of the worker: the progress, and at the end the blocks that match.
pub fn apply_results(
    text: &mut TextPane,
    generation: u32,
    percent: u8,
    matched: Option<&[(Focus, u32)]>,
) {
    let is_it = |filter: &&mut Filter| filter.generation == generation;
    if let Some(filter) = text.find.next_filter.as_mut().filter(is_it) {
        filter.percent = percent.min(99);
    }
    let Some(matched) = matched else { return };
    let is_next = text
        .find
        .next_filter
        .as_ref()
        .is_some_and(|filter| filter.generation == generation);
    let filter = if is_next {
        text.find.next_filter.take()
    } else {
        text.find.filter.take_if(|f| f.generation == generation)
    };
    let Some(mut filter) = filter else { return };
    filter.percent = 100;
    for (focus, revision) in matched {
        filter.show(*focus, *revision);
    }
    install(text, filter);
}

/// Checks new and changed entries.
pub(crate) fn judge_new(text: &mut TextPane, session: &Session, touched: &Touched) -> Vec<Effect> {
    let mut effects = Vec::new();
    let ids: Vec<EntryId> = touched
        .added
        .iter()
        .chain(&touched.changed)
        .copied()
        .collect();
    let transcript = &session.transcript;
    for filter in text
        .find
        .next_filter
        .iter_mut()
        .chain(&mut text.find.filter)
    {
        let shown = |filter: &Filter| -> Vec<bool> {
            touched
                .changed
                .iter()
                .map(|id| !filter.blocks(*id).is_empty())
                .collect()
        };
        let before = shown(filter);
        effects.extend(filter.judge(transcript, &ids, true).map(Effect::Filter));
        // New entries are appended; changed ones may appear or disappear in the middle.
        text.stale.sequence |= before != shown(filter);
        if touched.reordered {
            filter.retain_known(transcript);
        }
    }
    effects
}

/// Checks the whole transcript again after it was replaced.
pub(crate) fn restart(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    before: &Transcript,
) -> Vec<Effect> {
    let next = text.find.next_filter.take();
    let Some(old) = text.find.filter.take() else {
        return next.map_or_else(Vec::new, |next| set(text, scene, &next.typed, next.expr));
    };
    let ids = scene.session.transcript.order().to_vec();
    let generation = text.find.next_generation();
    let mut filter = old.rebuilt(&scene.session.transcript, generation);
    let job = filter.judge(&scene.session.transcript, &ids, false);
    let mut read = filter.clone();
    read.percent = 0;
    // Shown items stay shown until their text is read again.
    for open in job.iter().flat_map(|job| &job.unsure) {
        let key = scene
            .session
            .transcript
            .get(open.focus.entry)
            .map(|entry| &entry.key);
        let known = key.and_then(|key| before.find(key));
        if known.is_some_and(|entry| {
            old.shows(Focus {
                entry,
                ..open.focus
            })
        }) {
            filter.show(open.focus, open.revision);
        }
    }
    install(text, filter);
    match (next, job) {
        (Some(next), _) => set(text, scene, &next.typed, next.expr),
        (None, Some(job)) => {
            text.find.next_filter = Some(read);
            vec![Effect::Filter(job)]
        }
        (None, None) => Vec::new(),
    }
}
