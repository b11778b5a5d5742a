//! A call as lists show it: its status, duration and findings.

use ratatui::style::Style;

use super::sort::Value;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::calls::lifecycle::Lifecycle;
use crate::analysis::calls::{Calls, Outcome, Place};
use crate::analysis::context::window::carried::{Carriage, Carried};
use crate::analysis::lint::{Finding, Findings, Severity};
use crate::analysis::money::cost::usd;
use crate::analysis::phrases;
use crate::model::entry::{Entry, EntryId};
use crate::model::figures::{self, elapsed};
use crate::model::meta::LaneFacts;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Took, ToolCall};
use crate::model::transcript::Transcript;
use crate::model::usage::{Scope, Usage};
use crate::render::theme::Theme;

/// The rule that detects results that the agent made up.
const SYNTHETIC: &str = "synthetic-result";

/// A session's calls and what their status depends on.
#[derive(Clone, Copy)]
pub(crate) struct CallScene<'a> {
    pub(crate) transcript: &'a Transcript,
    /// The session's calls, indexed by tool, time and arguments.
    pub(crate) calls: &'a Calls,
    /// What their results cost to carry.
    pub(crate) carried: &'a Carried,
    /// Findings of the lint.
    pub(crate) findings: &'a Findings,
    /// The calls that may still get their results.
    pub(crate) awaited: Awaited,
    pub(crate) is_at_work: bool,
    pub(crate) now: Timestamp,
}

impl CallScene<'_> {
    /// Whether a call of an entry is running: the agent is at work, and the call's result or the
    /// end of its work may still come.
    pub(crate) fn runs(&self, id: EntryId, call: &ToolCall) -> bool {
        self.is_at_work && self.awaited.is_running(self.transcript, id, call)
    }
}

/// A call with its position and its entry.
#[derive(Clone, Copy)]
pub(crate) struct PlacedCall<'a> {
    pub(crate) scene: CallScene<'a>,
    pub(crate) place: Place,
    pub(crate) entry: &'a Entry,
    pub(crate) call: &'a ToolCall,
}

/// The status of a call; those that need attention are first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallStatus {
    /// Ended with an error.
    Failed,
    Refused,
    /// Interrupted; there will be no result.
    Interrupted,
    /// Has no result, and none is expected.
    NoResult,
    /// The end of its work is not recorded.
    NoEnd,
    /// The agent made the result up.
    Synthetic,
    /// The agent is at work on it.
    Running,
    /// Its outcome is not recorded.
    Unrecorded,
    Done,
}

impl<'a> PlacedCall<'a> {
    /// The call at a position; `None` if there is none.
    pub(crate) fn at(scene: CallScene<'a>, place: Place) -> Option<Self> {
        let entry = scene.transcript.get(place.entry)?;
        Some(Self {
            scene,
            place,
            entry,
            call: entry.call(place.block)?,
        })
    }

    /// Its number in file order, from 1.
    pub(crate) fn number(&self) -> Option<usize> {
        self.scene.calls.number(self.place)
    }

    pub(crate) fn made_at(&self) -> Option<Timestamp> {
        self.call.started.or(self.entry.at)
    }

    pub(crate) fn duration(&self) -> Option<Took> {
        self.call.duration(self.entry.call_time(self.call))
    }

    /// Its lifecycle, including work that continued after its result.
    pub(crate) fn lifecycle(&self) -> Lifecycle<'a> {
        let of = (self.place.entry, &self.entry.key);
        Lifecycle::of(self.scene.transcript, of, self.call, !self.scene.is_at_work)
    }

    /// Size of its result, or of its output so far, in bytes.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let body = self
            .call
            .state
            .result()
            .map(|result| &result.body)
            .or(self.call.state.live_output());
        body.map(|body| u64::from(body.bytes))
    }

    /// Usage of the request that made it, if recorded. Calls of one answer share it.
    pub(crate) fn usage(&self) -> Option<&'a Usage> {
        self.entry
            .usage
            .as_deref()
            .filter(|usage| usage.scope == Scope::Request && !usage.is_zero())
    }

    /// What its result cost to carry.
    pub(crate) fn carriage(&self) -> Option<&'a Carriage> {
        self.scene.carried.of_call(self.place)
    }

    /// Its argument on one line, with paths relative to the session's root.
    pub(crate) fn argument(&self) -> String {
        let root = self.scene.transcript.root_of(self.place.entry);
        self.call.about(root.map(Text::as_str))
    }

    /// Its findings of the lint.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &'a Finding> {
        let block = self.place.block;
        self.scene
            .findings
            .of_entry(self.place.entry)
            .iter()
            .filter(move |finding| finding.block == block)
    }

    /// The highest severity of its findings, and their number.
    pub(crate) fn marks(&self) -> Option<(Severity, usize)> {
        let worst = self.findings().map(|finding| finding.severity).max()?;
        Some((worst, self.findings().count()))
    }

    pub(crate) fn status(&self) -> CallStatus {
        match Outcome::of(&self.call.state) {
            Outcome::Refused => CallStatus::Refused,
            Outcome::Lost => CallStatus::Interrupted,
            Outcome::Open if self.scene.runs(self.place.entry, self.call) => CallStatus::Running,
            Outcome::Open if self.call.state.work().is_some() => CallStatus::NoEnd,
            Outcome::Open => CallStatus::NoResult,
            Outcome::Failed | Outcome::Done
                if self.findings().any(|finding| finding.rule.id == SYNTHETIC) =>
            {
                CallStatus::Synthetic
            }
            Outcome::Failed => CallStatus::Failed,
            Outcome::Unrecorded => CallStatus::Unrecorded,
            Outcome::Done => CallStatus::Done,
        }
    }

    /// Its state as in JSON.
    pub(crate) fn state(&self) -> &'static str {
        let CallScene {
            transcript,
            awaited,
            ..
        } = self.scene;
        if self.lifecycle().is_running {
            "running"
        } else {
            awaited.word(transcript, self.place.entry, self.call)
        }
    }

    /// Its duration, or the time since it began, as text.
    pub(crate) fn duration_text(&self, theme: &Theme) -> String {
        match (self.duration(), self.made_at()) {
            (Some(took), _) => theme.took(took),
            (None, Some(at)) if self.status() == CallStatus::Running => {
                elapsed(self.scene.now.since(at))
            }
            _ => String::new(),
        }
    }

    /// The number of its joined session; `None` if there is only one session.
    pub(crate) fn session(&self) -> Option<usize> {
        let session = self.scene.transcript.session_of(self.place.entry);
        session.map(|(number, _)| number)
    }

    pub(crate) fn lane(&self) -> Option<&'a LaneFacts> {
        self.scene.transcript.lane(self.entry.lane.as_ref()?)
    }
}

impl CallStatus {
    /// The status as text.
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

/// The width of a column for what results cost to carry; 0 if nothing is known of it.
pub(crate) fn carrying_width(carried: &Carried) -> usize {
    if carried.is_empty() { 0 } else { 8 }
}

/// The cost of carrying results, in USD.
pub(crate) fn carrying_usd(carriage: Option<&Carriage>) -> Value {
    let priced = carriage.filter(|one| !one.is_unpriced);
    Value::usd(priced.map(|one| one.picos))
}

/// `~$0.34`, or the tokens without a price: sizes are only estimates of tokens.
pub(crate) fn carrying_words(carriage: Option<&Carriage>) -> String {
    match carriage {
        None => String::new(),
        Some(one) if one.is_unpriced => format!("~{}", figures::tokens(one.carried)),
        Some(one) => format!("~{}", phrases::usd(usd(one.picos))),
    }
}

/// The sign of a severity with its style.
pub(crate) fn of_severity(severity: Severity, theme: &Theme) -> (&'static str, Style) {
    match severity {
        Severity::Error => (theme.glyphs().outcome.failed, theme.bad),
        Severity::Warning => ("!", theme.warn),
        Severity::Note => (theme.glyphs().dot, theme.dim),
    }
}
