//! The row of a session in lists of sessions: one value that all such lists read. Its activity,
//! cost and context are those of the viewer's header, because both come from the same session
//! (`fleet::row`).
//!
//! A session **needs** the user when it requests a permission or an answer, when it stopped in the
//! middle of its work or cannot be read, when it is stuck (in a loop, or silent for too long), when
//! background work ended and the model was not told for five minutes, and when it has answered and
//! waits for the next prompt; after an hour the user is no longer expected. Sessions that need the
//! user come first, in that order, then those that work, then the rest, the newest first.
//!
//! Invariant: a row has timestamps rather than ages, so that it does not change until something
//! happens.

pub mod columns;
pub mod filter;

use std::cmp::Ordering;

use crate::analysis::activity::{Activity, IDLE_AFTER_MS, Wish};
use crate::analysis::alarm::AlarmFacts;
use crate::analysis::context::ContextUse;
use crate::analysis::money::cost::Cost;
use crate::analysis::phrases;
use crate::model::found::agent_name;
use crate::model::found::{FoundSession, Target};
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;

/// Time in ms for which the end of background work may be on its way to the model.
const UNDELIVERED_MS: u64 = 5 * 60 * 1000;

/// Explanation of the `!` before a session.
pub(crate) const NEEDS: &str =
    "asks, is stuck or broke off; waiting needs you, too, each for an hour";

/// Columns of a state, its sign included.
const STATE: usize = 16;

/// A session in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    pub place: Target,
    /// Its title, agent, model and project.
    pub head: SessionIdentity,
    /// What its agent is doing.
    pub activity: Activity,
    /// What it needs the user for.
    pub need: Need,
    /// The call that runs, or that the user is asked about.
    pub call: Option<CurrentCall>,
    /// The fill level of its context.
    pub context: Option<ContextUse>,
    /// Its cost; `None` until it is read completely.
    pub cost: Option<Cost>,
    /// Its cost in the last hour; `None` if its agent records no timestamps.
    pub hour: Option<Cost>,
    pub flags: Flags,
    /// The last messages and calls, the newest last.
    pub last: Vec<LastWords>,
    /// An error of its file.
    pub problem: Option<Text>,
    /// Whether it is read completely.
    pub is_complete: bool,
}

/// A snapshot of a session that is not followed.
#[derive(Clone, Debug, PartialEq)]
pub struct Glance {
    pub row: SessionRow,
    /// The modification time of its file then, if known.
    pub modified: Option<Timestamp>,
    pub prompt: Option<Text>,
    /// Number of prompts and calls, and work time in ms; `None` unless it was read completely.
    pub counts: Option<(u64, u64, u64)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionIdentity {
    /// The name of its format.
    pub format: &'static str,
    pub id: Option<Text>,
    pub title: Option<Text>,
    /// The name of the agent within the format.
    pub agent: Option<Name>,
    pub cwd: Option<Text>,
    /// The directory of the project: where the session began.
    pub project: Option<Text>,
    /// Models that answered, in the order seen.
    pub models: Vec<Name>,
    /// The model in use.
    pub model: Option<Name>,
    /// The timestamp of its first entry read so far.
    pub started: Option<Timestamp>,
    /// The timestamp of its last entry.
    pub ended: Option<Timestamp>,
}

/// A call that runs, or that the user is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentCall {
    pub name: Name,
    /// Its subject on one line.
    pub headline: Text,
    pub since: Option<Timestamp>,
}

/// Possible problems of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Failed calls and errors of the session, as far as it is read.
    pub errors: u32,
    /// The number of equal calls up to the newest one, and its tool.
    pub same: Option<(usize, String)>,
    pub is_loop: bool,
    /// Since when nothing was written while the agent works.
    pub quiet_since: Option<Timestamp>,
    /// Whether that is longer than expected.
    pub is_silent: bool,
    /// Number of calls and sub-agents in the background.
    pub running: usize,
    /// Since when the end of background work has not been told to the model.
    pub undelivered_since: Option<Timestamp>,
}

/// What a session needs the user for, the most urgent first; or that it needs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    Permission,
    /// The answer to a question.
    Answer,
    /// It stopped in the middle of its work, or cannot be read.
    Error,
    /// It is in a loop, or silent for too long.
    Stuck,
    /// The next prompt: background work ended some time ago, and the model was not told.
    Undelivered,
    Prompt,
    /// Nothing: it works.
    Works,
    /// Nothing: it is at rest.
    Rests,
}

/// The source of a line, with the outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    User,
    Agent,
    /// A call that succeeded.
    Done,
    /// A call that failed.
    Failed,
    /// A call that was refused.
    Refused,
    /// A call that was interrupted.
    Stopped,
    /// A call whose outcome is not recorded.
    Unrecorded,
    /// A call without a result.
    Open,
    /// An error, or a question to the user.
    Note,
}

/// A message or a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWords {
    pub voice: Voice,
    pub text: Text,
}

/// An event from the thread that follows many sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// A new session, or a changed one.
    Row(Box<SessionRow>),
    /// A session is no longer shown.
    Removed(Target),
    AlarmFired(Box<Rang>),
    /// The errors of all locations of sessions that cannot be read now.
    Refused(Vec<Text>),
    /// All sessions that cannot be read now. Those modified recently have rows as well.
    Unreadable(Vec<FoundSession>),
    /// The number of further sessions in the selected time, which are too many to be followed.
    More(usize),
    /// All present sessions have been found and read.
    Complete,
}

/// An alarm that fired.
#[derive(Clone, Debug, PartialEq)]
pub struct Rang {
    pub row: SessionRow,
    /// The index of the alarm.
    pub alarm: usize,
    pub words: String,
}

impl Need {
    /// The need of a session with this activity; `heard` is its newest timestamp.
    pub(crate) fn of(
        activity: &Activity,
        flags: &Flags,
        is_unreadable: bool,
        heard: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        let is_late = flags
            .undelivered_since
            .is_some_and(|since| now.since(since) >= UNDELIVERED_MS);
        match activity {
            _ if is_unreadable => Self::Error,
            Activity::Waiting {
                wish: Wish::Permission,
                ..
            } => Self::Permission,
            Activity::Waiting {
                wish: Wish::Question,
                ..
            } => Self::Answer,
            Activity::Unclean if is_expected(heard, now) => Self::Error,
            Activity::Waiting {
                wish: Wish::Prompt, ..
            } if is_late => Self::Undelivered,
            // Its sub-agents will report to it first.
            Activity::Waiting {
                wish: Wish::Prompt,
                agents: 1..,
                ..
            } => Self::Works,
            Activity::Waiting {
                wish: Wish::Prompt, ..
            } => Self::Prompt,
            Activity::Tool { .. } | Activity::Model { .. } | Activity::Retry { .. } => {
                if flags.is_loop || flags.is_silent {
                    Self::Stuck
                } else {
                    Self::Works
                }
            }
            Activity::Unclean | Activity::Idle { .. } | Activity::Ended | Activity::Unknown => {
                Self::Rests
            }
        }
    }

    pub fn needs_user(self) -> bool {
        self < Self::Works
    }

    /// The value in JSON outputs and filters.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Permission => Some("permission"),
            Self::Answer => Some("answer"),
            Self::Error => Some("error"),
            Self::Stuck => Some("stuck"),
            Self::Undelivered => Some("undelivered"),
            Self::Prompt => Some("prompt"),
            Self::Works | Self::Rests => None,
        }
    }
}

impl SessionRow {
    /// The row of a session that is only found, or cannot be read.
    pub fn found(found: &FoundSession, problem: Option<Text>) -> Self {
        let problem = problem.or_else(|| found.fault());
        let head = SessionIdentity {
            format: found.format,
            id: Some(found.id.clone()),
            title: found.title.clone(),
            agent: found.agent.clone(),
            cwd: found.cwd.clone(),
            project: found.project.clone(),
            models: found.model.iter().cloned().collect(),
            model: found.model.clone(),
            started: found.started,
            ended: found.modified,
        };
        let need = if problem.is_some() {
            Need::Error
        } else {
            Need::Rests
        };
        Self {
            place: found.place(),
            head,
            activity: Activity::Unknown,
            need,
            call: None,
            context: None,
            cost: None,
            hour: None,
            flags: Flags::default(),
            last: Vec::new(),
            problem,
            is_complete: false,
        }
    }

    /// Since when it is in its state.
    pub fn since(&self) -> Option<Timestamp> {
        let quiet = self.flags.quiet_since.filter(|_| self.flags.is_silent);
        quiet.or_else(|| self.activity.since()).or(self.head.ended)
    }

    /// What a waiting agent requests, or why a request is retried.
    pub fn wish(&self) -> Option<&Text> {
        match &self.activity {
            Activity::Waiting {
                wish: Wish::Permission | Wish::Question,
                what,
                ..
            } => Some(what),
            Activity::Retry { why, .. } => Some(why),
            _ => None,
        }
    }

    /// A name to show: the title, otherwise the name of the file.
    pub fn name(&self) -> String {
        let title = self.head.title.as_ref().filter(|title| !title.is_blank());
        let file = || {
            self.place
                .path
                .file_name()
                .map(|name| Text::clean(&name.to_string_lossy()))
        };
        match (title, file().unwrap_or_default(), &self.problem) {
            (Some(title), ..) => title.to_string(),
            // A problem that is too long for the column of the state.
            (None, file, Some(problem)) if problem.chars().count() > STATE => {
                format!("{problem} ({file})")
            }
            (None, file, _) => file.to_string(),
        }
    }

    /// The directory of its project, otherwise its working directory.
    pub fn folder(&self) -> Option<&Text> {
        self.head.project.as_ref().or(self.head.cwd.as_ref())
    }

    /// The last component of that directory, otherwise the format.
    pub fn project(&self) -> String {
        let name = |path: &Text| {
            let last = path.rsplit(['/', '\\']).find(|part| !part.is_empty())?;
            // A drive of Windows has one letter.
            let host = path.split_once(":/").map(|(host, _)| host);
            let host = host.filter(|host| host.len() > 1 && !host.contains('/'));
            Some(host.map_or_else(|| last.to_owned(), |host| format!("{host}:{last}")))
        };
        self.folder()
            .and_then(name)
            .unwrap_or_else(|| self.head.format.to_owned())
    }

    /// The format, with the name of the agent in it: `openclaw/main`.
    pub fn agent(&self) -> String {
        agent_name(self.head.format, self.head.agent.as_deref())
    }

    /// The first sentence of the last answer; without an answer, of what was said last.
    pub fn last_words(&self) -> Option<String> {
        let last = |voices: &[Voice]| {
            let mut said = self.last.iter().rev();
            said.find(|said| voices.contains(&said.voice))
        };
        let said = last(&[Voice::Agent]).or_else(|| last(&[Voice::User, Voice::Note]))?;
        Some(phrases::first_sentence(&said.text)).filter(|words| !words.is_empty())
    }

    /// Compares by urgency: sessions that need the user, the longest waiting first; then working
    /// ones, the newest first; then the rest, by their last entry.
    pub fn cmp_by_need(&self, other: &Self) -> Ordering {
        let newest_first = |a: Option<Timestamp>, b: Option<Timestamp>| b.cmp(&a);
        let within = match self.need {
            need if need.needs_user() => self.since().cmp(&other.since()),
            Need::Works => newest_first(self.head.started, other.head.started),
            _ => newest_first(self.head.ended, other.head.ended),
        };
        self.need
            .cmp(&other.need)
            .then(within)
            .then_with(|| self.place.path.cmp(&other.place.path))
    }

    /// The total cost of sessions, marked as partial if one is not known yet.
    pub fn sum<'r>(rows: impl Iterator<Item = &'r Self> + Clone) -> Option<Cost> {
        let is_unknown = rows.clone().any(|row| row.cost.is_none());
        Cost::sum(rows.filter_map(|row| row.cost.as_ref())).map(|cost| cost.partial_if(is_unknown))
    }

    /// Whether it is at rest and the user is no longer expected.
    pub fn is_old(&self, now: Timestamp) -> bool {
        self.need == Need::Rests && !is_expected(self.head.ended, now)
    }

    /// The facts for filters and alarms.
    pub(crate) fn facts(&self, now: Timestamp) -> AlarmFacts<'_> {
        AlarmFacts {
            activity: &self.activity,
            silence: self.flags.quiet_since.map(|since| now.since(since)),
            usd: self.cost.as_ref().and_then(|cost| cost.usd),
            context: self.context,
            same: self.flags.same.as_ref().map(|(count, _)| *count as u64),
            has_orphan: false,
            running: self.flags.running,
        }
    }

    /// Until when it needs the user or not, if nothing is written; `None` if that may change at any
    /// time.
    pub(crate) fn holds_until(&self, now: Timestamp) -> Option<Timestamp> {
        if self.activity.is_work() || self.flags.running > 0 {
            return None;
        }
        if !self.need.needs_user() {
            return Some(Timestamp(i64::MAX));
        }
        let since = self.since()?;
        let until = Timestamp(since.0.saturating_add_unsigned(IDLE_AFTER_MS));
        Some(until).filter(|until| *until >= now)
    }

    /// Whether its state may change soon by time alone.
    pub fn ticks(&self, now: Timestamp) -> bool {
        self.activity.is_work() || self.need.needs_user() && is_expected(self.since(), now)
    }
}

/// Whether the user is still expected.
fn is_expected(since: Option<Timestamp>, now: Timestamp) -> bool {
    since.is_some_and(|since| now.since(since) <= IDLE_AFTER_MS)
}
