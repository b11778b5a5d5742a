//! Alarms: an expression that is looked at again and again while a session goes on.
//!
//! Facts of the session come true and cease to be; an alarm rings when they come true. Facts of entries are
//! true of what comes: an alarm rings for each item of which they become true, but for none that was there
//! before. Each alternative of an `or` is watched by itself.

use std::collections::HashSet;

use super::activity::{Activity, Wish};
use super::background;
use super::calls::Place;
use super::calls::lookup::Lookup;
use super::context::ContextUse;
use super::expression::judge::{Judge, is_called};
use super::expression::{Expr, Fill, State, Term};
use super::loops::{self, Run};
use super::money::cost::Cost;
use super::phrases;
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::figures;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// Characters of a text that say enough of an item.
const WORDS_MOST: usize = 120;

/// A session as it is now.
#[derive(Clone, Copy, Debug)]
pub struct Status<'a> {
    /// The session.
    pub(crate) transcript: &'a Transcript,
    /// What the agent does.
    pub activity: &'a Activity,
    /// How long nothing was written at work, in ms.
    pub(crate) silence: Option<u64>,
    /// What was spent.
    pub(crate) cost: &'a Cost,
    /// How full the context is.
    pub(crate) context: Option<ContextUse>,
    /// The newest call with those before it that asked for the same.
    pub(crate) run: Option<&'a Run>,
    /// A call or a result that has lost its other half since the last look, and in which words.
    pub(crate) orphan: Option<(Place, &'a str)>,
}

/// Why an alarm rang.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rung {
    /// In a few words.
    pub(crate) words: String,
    /// The item that it is about.
    pub(crate) at: Option<Place>,
}

/// An expression that is watched.
#[derive(Clone, Debug)]
pub(crate) struct Alarm {
    /// What is watched.
    pub(crate) expr: Expr,
    alternatives: Vec<Alternative>,
}

/// One of the alternatives of an expression, with what it held for at the last look.
#[derive(Clone, Debug)]
struct Alternative {
    expr: Expr,
    judge: Judge,
    has_entry_facts: bool,
    /// Whether it held for the session at the last look.
    held: bool,
    /// Items for which it holds.
    items: HashSet<Place>,
    /// The call with an id that was waited for, if that had ended before.
    ended: Option<Place>,
}

impl Alarm {
    /// An alarm that has seen nothing yet. Times in it are counted from the last entry's.
    pub(crate) fn new(expr: Expr, last: Option<Timestamp>) -> Self {
        let alternatives = match &expr {
            Expr::Any(alternatives) => alternatives.clone(),
            other => vec![other.clone()],
        };
        let alternative = |expr: Expr| Alternative {
            judge: Judge::new(&expr, last),
            has_entry_facts: expr
                .terms()
                .iter()
                .any(|term| !matches!(term, Term::State(_))),
            held: false,
            items: HashSet::new(),
            ended: None,
            expr,
        };
        Self {
            expr,
            alternatives: alternatives.into_iter().map(alternative).collect(),
        }
    }

    /// Whether it asks for this.
    pub(crate) fn asks_for(&self, is_it: impl Fn(&State) -> bool) -> bool {
        self.expr
            .terms()
            .iter()
            .any(|term| matches!(term, Term::State(state) if is_it(state)))
    }

    /// What there is now rings no alarm; facts of the session do if `counts_states`.
    pub(crate) fn begin(&mut self, status: &Status<'_>, counts_states: bool) {
        for alternative in &mut self.alternatives {
            alternative.held = !counts_states && alternative.holds(status, None);
            alternative.items.clear();
            if alternative.has_entry_facts {
                let all = status.transcript.order().iter();
                alternative.items = all
                    .flat_map(|id| alternative.matching(status, *id))
                    .collect();
            }
            alternative.ended = if counts_states {
                alternative.ended(status)
            } else {
                None
            };
        }
    }

    /// The same items in another transcript of the session.
    pub(crate) fn look_up(&mut self, lookup: &Lookup<'_>) {
        for alternative in &mut self.alternatives {
            alternative.items = lookup.blocks(&alternative.items);
        }
    }

    /// Looks at the session, and at the entries that have come or changed since the last look.
    pub(crate) fn look(&mut self, status: &Status<'_>, touched: &[EntryId]) -> Option<Rung> {
        let mut rung = None;
        for alternative in &mut self.alternatives {
            // Each alternative must see everything, whichever rings first.
            let own = alternative.look(status, touched);
            rung = rung.or(own);
        }
        rung
    }
}

impl Alternative {
    fn holds(&self, status: &Status<'_>, place: Option<(&Entry, usize)>) -> bool {
        self.judge
            .holds(status.transcript, place, &|state| status.holds(state))
    }

    fn matching(&self, status: &Status<'_>, id: EntryId) -> Vec<Place> {
        let Some(entry) = status.transcript.get(id).filter(|entry| !entry.marks.copy) else {
            return Vec::new();
        };
        let blocks = 0..entry.blocks.len();
        let holds = |block: &usize| self.holds(status, Some((entry, *block)));
        blocks
            .filter(holds)
            .map(|block| Place { entry: id, block })
            .collect()
    }

    /// The call that is waited for by its id, if it has ended.
    fn ended(&self, status: &Status<'_>) -> Option<Place> {
        let Expr::Term(Term::Done(id)) = &self.expr else {
            return None;
        };
        let is_it = |place: &&Place| {
            let entry = status.transcript.get(place.entry);
            let call = entry.and_then(|entry| entry.blocks.get(place.block)?.call());
            call.is_some_and(|call| is_called(call, id))
        };
        self.items.iter().find(is_it).copied()
    }

    fn look(&mut self, status: &Status<'_>, touched: &[EntryId]) -> Option<Rung> {
        if let Some(place) = self.ended.take() {
            return Some(self.of_item(status, place));
        }
        let holds = self.holds(status, None);
        let held = std::mem::replace(&mut self.held, holds);
        let news = if self.has_entry_facts {
            self.news(status, touched)
        } else {
            None
        };
        if holds {
            return (!held).then(|| self.of_session(status));
        }
        news.map(|place| self.of_item(status, place))
    }

    /// The first item for which it has come to hold.
    fn news(&mut self, status: &Status<'_>, touched: &[EntryId]) -> Option<Place> {
        let mut first = None;
        for id in touched {
            let matching = self.matching(status, *id);
            self.items
                .retain(|place| place.entry != *id || matching.contains(place));
            let news: Vec<Place> = matching
                .into_iter()
                .filter(|place| self.items.insert(*place))
                .collect();
            first = first.or(news.first().copied());
        }
        first
    }

    fn of_session(&self, status: &Status<'_>) -> Rung {
        let states = self.expr.terms().into_iter().filter_map(|term| match term {
            Term::State(state) if status.holds(*state) => Some(*state),
            _ => None,
        });
        let states: Vec<State> = states.collect();
        let words: Vec<String> = states.iter().map(|state| status.words(*state)).collect();
        let words = if words.is_empty() {
            self.expr.to_string()
        } else {
            words.join(", ")
        };
        let at = states.iter().find_map(|state| status.place_of(*state));
        Rung {
            words,
            at: at.or_else(|| status.last()),
        }
    }

    fn of_item(&self, status: &Status<'_>, place: Place) -> Rung {
        let entry = status.transcript.get(place.entry);
        let words = entry
            .map(|entry| words_of(entry, place.block))
            .unwrap_or_default();
        Rung {
            words: format!("{}: {words}", self.expr),
            at: Some(place),
        }
    }
}

/// What facts of a session are judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    /// What the agent does.
    pub(crate) activity: &'a Activity,
    /// How long nothing was written at work, in ms.
    pub(crate) silence: Option<u64>,
    /// What was spent.
    pub(crate) usd: Option<f64>,
    /// How full the context is.
    pub(crate) context: Option<ContextUse>,
    /// How many of the newest calls ask for the same.
    pub(crate) same: Option<u64>,
    /// Whether a call or a result has lost its other half since the last look.
    pub(crate) has_orphan: bool,
    /// How many calls and sub-agents go on in the background.
    pub(crate) running: usize,
}

impl Facts<'_> {
    /// Whether a fact is true.
    pub(crate) fn holds(&self, state: State) -> bool {
        let is_idle = matches!(self.activity, Activity::Idle { .. });
        let is_unclean = *self.activity == Activity::Unclean;
        match state {
            State::Waiting => is_idle || matches!(self.activity, Activity::Waiting { .. }),
            State::Idle => is_idle,
            State::Ended => is_unclean || *self.activity == Activity::Ended,
            State::Unclean => is_unclean,
            State::Model => matches!(self.activity, Activity::Model { .. }),
            State::Tool => matches!(self.activity, Activity::Tool { .. }),
            State::Retry => matches!(self.activity, Activity::Retry { .. }),
            State::Orphan => self.has_orphan,
            State::Silent(compare, bound) => {
                self.silence.is_some_and(|ms| compare.holds(ms, bound))
            }
            State::Spent(compare, bound) => self.usd.is_some_and(|usd| compare.holds(usd, bound)),
            State::Context(compare, Fill::Tokens(bound)) => self
                .context
                .is_some_and(|context| compare.holds(context.tokens, bound)),
            State::Context(compare, Fill::Percent(bound)) => {
                let window = |context: ContextUse| {
                    Some((context.tokens, context.window.filter(|n| *n > 0)?))
                };
                let fill = self.context.and_then(window);
                fill.is_some_and(|(tokens, window)| {
                    compare.holds(tokens as f64 * 100.0 / window as f64, bound as f64)
                })
            }
            State::Same(compare, bound) => {
                self.same.is_some_and(|count| compare.holds(count, bound))
            }
            State::Running(compare, bound) => compare.holds(self.running as u64, bound),
        }
    }
}

impl Status<'_> {
    fn holds(&self, state: State) -> bool {
        self.facts().holds(state)
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            activity: self.activity,
            silence: self.silence,
            usd: self.cost.usd,
            context: self.context,
            same: self.run.map(|run| run.count() as u64),
            has_orphan: self.orphan.is_some(),
            running: background::running(self.transcript, self.activity),
        }
    }

    /// A fact in a few words.
    fn words(&self, state: State) -> String {
        match (state, self.activity) {
            (State::Waiting | State::Idle, Activity::Idle { since: Some(since) }) => {
                format!("idle since {}", since.minute())
            }
            (
                State::Waiting,
                Activity::Waiting {
                    wish: Wish::Prompt, ..
                },
            ) => "waits for the next prompt".to_owned(),
            (State::Waiting, Activity::Waiting { what, .. }) => {
                format!("waits for you: {}", short(what))
            }
            (State::Ended | State::Unclean, Activity::Unclean) => {
                "stopped in the middle of work".to_owned()
            }
            (State::Ended, _) => "ended".to_owned(),
            (State::Model, _) => "the model answers".to_owned(),
            (State::Tool, Activity::Tool { name, .. }) => format!("{name} runs"),
            (State::Retry, Activity::Retry { why, .. }) => format!("tries again: {}", short(why)),
            (State::Orphan, _) => self
                .orphan
                .map(|(_, words)| words.to_owned())
                .unwrap_or_default(),
            (State::Silent(..), _) => {
                let silence = self.silence.unwrap_or_default();
                format!("silent for {}", figures::duration(silence))
            }
            (State::Spent(..), _) => phrases::cost(self.cost)
                .map(|cost| format!("cost {cost}"))
                .unwrap_or_default(),
            (State::Context(..), _) => self.context.map(context_words).unwrap_or_default(),
            (State::Same(..), _) => self.run.map(|run| self.run_words(run)).unwrap_or_default(),
            (State::Running(..), _) => match background::running(self.transcript, self.activity) {
                0 => "nothing runs in the background".to_owned(),
                running => format!("{running} running in the background"),
            },
            (other, _) => other.to_string(),
        }
    }

    fn run_words(&self, run: &Run) -> String {
        let last = run.last();
        let call =
            last.and_then(|place| Some(words_of(self.transcript.get(place.entry)?, place.block)));
        format!(
            "{}: {}",
            loops::loop_words(run, "×"),
            call.unwrap_or_default()
        )
    }

    fn place_of(&self, state: State) -> Option<Place> {
        match state {
            State::Orphan => self.orphan.map(|(place, _)| place),
            State::Same(..) => self.run.and_then(Run::last),
            _ => None,
        }
    }

    fn last(&self) -> Option<Place> {
        let order = self.transcript.order().iter().rev();
        let mut shown = order.filter_map(|id| Some((*id, self.transcript.get(*id)?)));
        let (entry, last) =
            shown.find(|(_, entry)| !entry.marks.trace && !entry.blocks.is_empty())?;
        Some(Place {
            entry,
            block: last.blocks.len().saturating_sub(1),
        })
    }
}

fn context_words(context: ContextUse) -> String {
    let tokens = figures::tokens(context.tokens);
    match context.window.filter(|window| *window > 0) {
        Some(window) => {
            let percent = context.tokens.saturating_mul(100) / window;
            format!(
                "context {percent}%, {tokens} of {}",
                figures::tokens(window)
            )
        }
        None => format!("context {tokens}"),
    }
}

/// What an item is, on one line.
fn words_of(entry: &Entry, block: usize) -> String {
    let Some(block) = entry.blocks.get(block) else {
        return String::new();
    };
    let words = match &block.kind {
        BlockKind::Call(call) => {
            let facts = call
                .state
                .result()
                .map(|result| result.facts.as_str())
                .unwrap_or_default();
            let gap = if facts.is_empty() { "" } else { ", " };
            return format!("{} {}{gap}{facts}", call.name, short(&call.headline))
                .trim()
                .to_owned();
        }
        BlockKind::Text(body) | BlockKind::Thinking(body) => body.stub.to_string(),
        BlockKind::Result(stray) => {
            format!("a result without its call: {}", stray.result.body.stub)
        }
        BlockKind::Image(_) => "an image".to_owned(),
        BlockKind::Break(what) => what.words().to_string(),
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => raw.title.to_string(),
    };
    short(&words)
}

/// The beginning of a text, on one line.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(WORDS_MOST) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
