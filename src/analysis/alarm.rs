//! Alarms: an expression that is evaluated again and again while a session is live.
//!
//! An alarm fires when a fact of the session becomes true. For facts of entries it fires for each
//! new or changed item for which they become true, but for none that existed before. Each
//! alternative of an `or` is evaluated by itself.

use std::collections::HashSet;

use super::activity::{Activity, Wish};
use super::background;
use super::calls::Place;
use super::calls::lookup::Lookup;
use super::context::ContextUse;
use super::expression::judge::{Judge, call_has_id};
use super::expression::{Expr, Fill, State, Term};
use super::loops::{self, CallRun};
use super::money::cost::Cost;
use super::phrases;
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::figures;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// Limit in characters for the text of an item.
const WORDS_MOST: usize = 120;

/// The current state of a session.
#[derive(Clone, Copy, Debug)]
pub struct AlarmStatus<'a> {
    pub(crate) transcript: &'a Transcript,
    /// What the agent is doing.
    pub activity: &'a Activity,
    /// Time in ms without a write while the agent works.
    pub(crate) silence: Option<u64>,
    pub(crate) cost: &'a Cost,
    /// The fill level of the context.
    pub(crate) context: Option<ContextUse>,
    /// The current run of equal calls.
    pub(crate) run: Option<&'a CallRun>,
    /// A call without result, or a result without call, that is new since the last check, and its
    /// message.
    pub(crate) orphan: Option<(Place, &'a str)>,
}

/// Why an alarm fired.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rung {
    /// What holds, in the words of a status line.
    pub(crate) words: String,
    /// Position of the item that it is about.
    pub(crate) at: Option<Place>,
}

#[derive(Clone, Debug)]
pub(crate) struct Alarm {
    pub(crate) expr: Expr,
    alternatives: Vec<Alternative>,
}

/// An alternative of the expression, with its state at the last check.
#[derive(Clone, Debug)]
struct Alternative {
    expr: Expr,
    judge: Judge,
    has_entry_facts: bool,
    /// Whether it held for the session at the last check.
    was_true: bool,
    /// Items for which it holds.
    items: HashSet<Place>,
    /// The call that `done:ID` names, if it had ended before the start.
    ended: Option<Place>,
}

impl Alarm {
    /// A new alarm without state. Relative times in it count from that of the last entry.
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
            was_true: false,
            items: HashSet::new(),
            ended: None,
            expr,
        };
        Self {
            expr,
            alternatives: alternatives.into_iter().map(alternative).collect(),
        }
    }

    /// Whether the expression has a fact of the session that matches.
    pub(crate) fn has_state(&self, is_it: impl Fn(&State) -> bool) -> bool {
        self.expr
            .terms()
            .iter()
            .any(|term| matches!(term, Term::State(state) if is_it(state)))
    }

    /// Records the present items, which do not fire the alarm; facts of the session that hold
    /// already do if `counts_states`.
    pub(crate) fn begin(&mut self, status: &AlarmStatus<'_>, counts_states: bool) {
        for alternative in &mut self.alternatives {
            alternative.was_true = !counts_states && alternative.holds(status, None);
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

    /// Maps the items to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        for alternative in &mut self.alternatives {
            alternative.items = lookup.blocks(&alternative.items);
        }
    }

    /// Evaluates the alarm on the session, and on the entries that are new or changed since the
    /// last check.
    pub(crate) fn check(&mut self, status: &AlarmStatus<'_>, touched: &[EntryId]) -> Option<Rung> {
        let mut rung = None;
        for alternative in &mut self.alternatives {
            // Every alternative must update its state, whichever fires first.
            let own = alternative.check(status, touched);
            rung = rung.or(own);
        }
        rung
    }
}

impl Alternative {
    fn holds(&self, status: &AlarmStatus<'_>, place: Option<(&Entry, usize)>) -> bool {
        self.judge
            .holds(status.transcript, place, &|state| status.holds(state))
    }

    fn matching(&self, status: &AlarmStatus<'_>, id: EntryId) -> Vec<Place> {
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

    /// The call that is named by its id, if it has ended.
    fn ended(&self, status: &AlarmStatus<'_>) -> Option<Place> {
        let Expr::Term(Term::Done(id)) = &self.expr else {
            return None;
        };
        let is_it = |place: &&Place| {
            let entry = status.transcript.get(place.entry);
            let call = entry.and_then(|entry| entry.blocks.get(place.block)?.call());
            call.is_some_and(|call| call_has_id(call, id))
        };
        self.items.iter().find(is_it).copied()
    }

    fn check(&mut self, status: &AlarmStatus<'_>, touched: &[EntryId]) -> Option<Rung> {
        if let Some(place) = self.ended.take() {
            return Some(self.of_item(status, place));
        }
        let holds = self.holds(status, None);
        let held = std::mem::replace(&mut self.was_true, holds);
        let news = if self.has_entry_facts {
            self.first_new_match(status, touched)
        } else {
            None
        };
        if holds {
            return (!held).then(|| self.of_session(status));
        }
        news.map(|place| self.of_item(status, place))
    }

    /// The first item for which it has become true.
    fn first_new_match(&mut self, status: &AlarmStatus<'_>, touched: &[EntryId]) -> Option<Place> {
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

    fn of_session(&self, status: &AlarmStatus<'_>) -> Rung {
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

    fn of_item(&self, status: &AlarmStatus<'_>, place: Place) -> Rung {
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

/// Values that facts of a session are compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlarmFacts<'a> {
    /// What the agent is doing.
    pub(crate) activity: &'a Activity,
    /// Time in ms without a write while the agent works.
    pub(crate) silence: Option<u64>,
    /// The cost of the session in USD.
    pub(crate) usd: Option<f64>,
    /// The fill level of the context.
    pub(crate) context: Option<ContextUse>,
    /// Number of equal calls up to the newest one.
    pub(crate) same: Option<u64>,
    /// Whether there is a new call without result, or result without call, since the last check.
    pub(crate) has_orphan: bool,
    /// Number of calls and sub-agents in the background.
    pub(crate) running: usize,
}

impl AlarmFacts<'_> {
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

impl AlarmStatus<'_> {
    fn holds(&self, state: State) -> bool {
        self.facts().holds(state)
    }

    fn facts(&self) -> AlarmFacts<'_> {
        AlarmFacts {
            activity: self.activity,
            silence: self.silence,
            usd: self.cost.usd,
            context: self.context,
            same: self.run.map(|run| run.count() as u64),
            has_orphan: self.orphan.is_some(),
            running: background::count_running(self.transcript, self.activity),
        }
    }

    /// A short description of a fact.
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
            (State::Running(..), _) => {
                match background::count_running(self.transcript, self.activity) {
                    0 => "nothing runs in the background".to_owned(),
                    running => format!("{running} running in the background"),
                }
            }
            (other, _) => other.to_string(),
        }
    }

    fn run_words(&self, run: &CallRun) -> String {
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
            State::Same(..) => self.run.and_then(CallRun::last),
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

/// A description of an item on one line.
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
            return format!(
                "{} {}{gap}{facts}",
                call.shown_name(),
                short(&call.headline)
            )
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
