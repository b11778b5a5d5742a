//! A call as the table has it: how it fares, how long it took, what was found in it.

use ratatui::style::Style;

use crate::analysis::calls::lifecycle::Lifecycle;
use crate::analysis::calls::{Outcome, Place, call_at};
use crate::analysis::lint::{Finding, Severity};
use crate::app::views::page::PageScene;
use crate::model::entry::Entry;
use crate::model::figures::duration;
use crate::model::meta::LaneFacts;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, Took, ToolCall};
use crate::model::usage::{Scope, Usage};
use crate::render::theme::Theme;

/// The rule that finds results which the agent made up.
const SYNTHETIC: &str = "synthetic-result";

/// A call with its place and its entry.
#[derive(Clone, Copy)]
pub struct PlacedCall<'a> {
    /// Where it is.
    pub(crate) place: Place,
    /// Its entry.
    pub(crate) entry: &'a Entry,
    /// The call.
    pub(crate) call: &'a ToolCall,
}

/// How a call fares: what needs a look comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// Ended with an error.
    Failed,
    /// Was not allowed.
    Refused,
    /// Interrupted: there will be no result.
    Interrupted,
    /// Without a result, and nobody waits for one.
    NoResult,
    /// Nothing tells how its work ended.
    NoEnd,
    /// Its result is none: the agent made it up.
    Synthetic,
    /// The agent is at work on it.
    Running,
    /// Nobody recorded how it ended.
    Unrecorded,
    /// Ended well.
    Done,
}

impl<'a> PlacedCall<'a> {
    /// The call at a place.
    pub(crate) fn at(scene: &PageScene<'a>, place: Place) -> Option<Self> {
        let entry = scene.transcript.get(place.entry)?;
        Some(Self {
            place,
            entry,
            call: call_at(entry, place.block)?,
        })
    }

    /// When it was made.
    pub(crate) fn made_at(&self) -> Option<Timestamp> {
        self.call.started.or(self.entry.at)
    }

    /// How long it took.
    pub(crate) fn took(&self) -> Option<Took> {
        self.call.took(self.entry.said(self.call))
    }

    /// Its course, with the work that went on after its result.
    pub(crate) fn life(&self, scene: &PageScene<'a>) -> Lifecycle<'a> {
        let of = (self.place.entry, &self.entry.key);
        Lifecycle::of(scene.transcript, of, self.call, !scene.is_at_work)
    }

    /// Size of its result, or of what it has put out so far, in bytes.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let body = self
            .call
            .state
            .result()
            .map(|result| &result.body)
            .or(self.call.state.live());
        body.map(|body| u64::from(body.bytes))
    }

    /// What the request that asked for it spent, if that is recorded. Calls of one answer share it.
    pub(crate) fn usage(&self) -> Option<&'a Usage> {
        self.entry
            .usage
            .as_deref()
            .filter(|usage| usage.scope == Scope::Request && !usage.is_zero())
    }

    /// What it asks for on one line; files as scene from where the session began.
    pub(crate) fn argument(&self, scene: &PageScene<'_>) -> String {
        self.call.about(scene.transcript.meta().root.as_deref())
    }

    /// What the lint found in it.
    pub(crate) fn findings(&self, scene: &PageScene<'a>) -> impl Iterator<Item = &'a Finding> {
        let block = self.place.block;
        scene
            .findings
            .of_entry(self.place.entry)
            .iter()
            .filter(move |finding| finding.block == block)
    }

    /// The worst of it, and how much there is.
    pub(crate) fn marks(&self, scene: &PageScene<'a>) -> Option<(Severity, usize)> {
        let worst = self.findings(scene).map(|finding| finding.severity).max()?;
        Some((worst, self.findings(scene).count()))
    }

    /// How it fares.
    pub(crate) fn status(&self, scene: &PageScene<'a>) -> Status {
        match Outcome::of(&self.call.state) {
            Outcome::Refused => Status::Refused,
            Outcome::Lost => Status::Interrupted,
            Outcome::Open if scene.runs(self.place.entry, self.call) => Status::Running,
            Outcome::Open if self.call.state.work().is_some() => Status::NoEnd,
            Outcome::Open => Status::NoResult,
            Outcome::Failed | Outcome::Done
                if self
                    .findings(scene)
                    .any(|finding| finding.rule.id == SYNTHETIC) =>
            {
                Status::Synthetic
            }
            Outcome::Failed => Status::Failed,
            Outcome::Unrecorded => Status::Unrecorded,
            Outcome::Done => Status::Done,
        }
    }

    /// The sub-agent that made it.
    pub(crate) fn lane(&self, scene: &PageScene<'a>) -> Option<&'a LaneFacts> {
        scene.transcript.lane(self.entry.lane.as_ref()?)
    }
}

impl Status {
    /// In a word or two.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Interrupted => "stopped",
            Self::NoResult => "no result",
            Self::NoEnd => "no end",
            Self::Synthetic => "synthetic",
            Self::Running => "running",
            Self::Unrecorded => "unknown",
            Self::Done => "done",
        }
    }

    /// Its sign with its colour.
    pub(crate) fn sign(self, theme: &Theme) -> (&'static str, Style) {
        let glyphs = theme.glyphs();
        match self {
            Self::Failed => (glyphs.outcome.failed, theme.bad),
            Self::Refused => (glyphs.outcome.refused, theme.warn),
            Self::Interrupted | Self::NoResult | Self::NoEnd => (glyphs.outcome.lost, theme.warn),
            Self::Synthetic => ("!", theme.warn),
            Self::Running => (glyphs.outcome.running, theme.warn),
            Self::Unrecorded => (glyphs.outcome.lost, theme.dim),
            Self::Done => (glyphs.outcome.done, theme.good),
        }
    }
}

/// `41.2s`, and `≤41.2s` for a bound.
pub(crate) fn took_words(took: Took, theme: &Theme) -> String {
    at_most(took.ms, took.by == Clocked::Bound, theme)
}

/// `41.2s`, and `≤41.2s` for a bound.
pub(crate) fn at_most(ms: u64, is_bound: bool, theme: &Theme) -> String {
    let sign = match (is_bound, theme.ascii) {
        (false, _) => "",
        (true, false) => "≤",
        (true, true) => "<=",
    };
    format!("{sign}{}", duration(ms))
}
