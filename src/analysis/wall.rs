//! A session in a row among others: how it stands, in one value that is read by every surface that shows many of
//! them. What it does, its cost and its context are those of the viewer's header, for both are read from the same
//! session (`fleet::row`).
//!
//! A session **needs** somebody when it asked for a permission or an answer, when it stopped in the middle of its work
//! or cannot be read, when it is stuck (in a loop, or silent for too long), when work in the
//! background ended and nobody told the model for five minutes, and when it has answered and waits for the next prompt;
//! after an hour nobody is expected any more. Those that need somebody come first, in that order, then those that work,
//! then the rest, the newest first.
//!
//! Invariant: a row speaks of times and never of ages, so that it is the same until something happens.

pub mod columns;
pub mod filter;

use std::cmp::Ordering;

use crate::analysis::activity::{Activity, IDLE_AFTER_MS, Wish};
use crate::analysis::alarm::Facts;
use crate::analysis::context::ContextUse;
use crate::analysis::money::cost::Cost;
use crate::model::found::{Found, Place};
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;

/// For so long an end may be on its way to the model.
const UNDELIVERED_MS: u64 = 5 * 60 * 1000;

/// What `!` before a session means, and when it goes.
pub(crate) const NEEDS: &str = "asks, is stuck or broke off; after an hour nobody is expected";

/// Columns of a state, its sign included.
const STATE: usize = 16;

/// A session among others.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// Where it lies.
    pub place: Place,
    /// What it is.
    pub head: Head,
    /// What its agent does.
    pub activity: Activity,
    /// What it needs somebody for.
    pub need: Need,
    /// The call that runs, or that its user is asked about.
    pub call: Option<Call>,
    /// How full its context is.
    pub context: Option<ContextUse>,
    /// What it has cost; `None` until all of it is read.
    pub cost: Option<Cost>,
    /// How much of that in the last hour; `None` if its agent does not record when.
    pub hour: Option<Cost>,
    /// What may be wrong with it.
    pub flags: Flags,
    /// The last things that were said and done, the newest last.
    pub last: Vec<Said>,
    /// What is wrong with its file.
    pub problem: Option<Text>,
    /// Whether all of it is read.
    pub is_complete: bool,
}

/// What was read of a session that nobody follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Glance {
    /// How it stood.
    pub row: SessionRow,
    /// When it was written last then, as far as it was known.
    pub modified: Option<Timestamp>,
    /// The first prompt.
    pub prompt: Option<Text>,
    /// How many prompts and calls it has, and how long was worked on it in ms; nothing of one that was not read whole.
    pub counts: Option<(u64, u64, u64)>,
}

/// What a session is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The name of its format.
    pub format: &'static str,
    /// Its id.
    pub id: Option<Text>,
    /// Its title.
    pub title: Option<Text>,
    /// The name of the agent in it.
    pub agent: Option<Name>,
    /// The working directory.
    pub cwd: Option<Text>,
    /// The folder of the project that it counts to: where it began.
    pub project: Option<Text>,
    /// Models that answered, in the order seen.
    pub models: Vec<Name>,
    /// The model in use.
    pub model: Option<Name>,
    /// When its first entry was made, as far as it is read.
    pub started: Option<Timestamp>,
    /// When its last one was.
    pub ended: Option<Timestamp>,
}

/// A call that runs, or that somebody is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub name: Name,
    /// What it is about, on one line.
    pub headline: Text,
    /// Since when.
    pub since: Option<Timestamp>,
}

/// What may be wrong with a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Failed calls and errors of the newest turn.
    pub errors: u32,
    /// How often the newest call was made, and its tool.
    pub same: Option<(usize, String)>,
    /// Whether that is a loop.
    pub is_loop: bool,
    /// Since when nothing was written at work.
    pub quiet_since: Option<Timestamp>,
    /// Whether that is longer than anybody expects.
    pub is_silent: bool,
    /// How many calls and sub-agents go on in the background.
    pub running: usize,
    /// Since when the end of such work waits to be told to the model.
    pub undelivered_since: Option<Timestamp>,
}

/// What a session needs somebody for, the most urgent first; and what it does if it needs nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// To allow something.
    Permission,
    /// To answer a question.
    Answer,
    /// It stopped in the middle of its work, or cannot be read.
    Error,
    /// It repeats itself, or was not heard of for too long.
    Stuck,
    /// To say what to do next: work in the background ended some time ago, and the model was not told.
    Undelivered,
    /// To say what to do next.
    Prompt,
    /// Nothing: it works.
    Works,
    /// Nothing: it rests.
    Rests,
}

/// Who said or did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The user.
    User,
    /// The model.
    Agent,
    /// A call that ended well.
    Done,
    /// A call that failed.
    Failed,
    /// A call that somebody did not allow.
    Refused,
    /// A call that was stopped before its end.
    Stopped,
    /// A call of which nobody recorded how it ended.
    Unrecorded,
    /// A call without a result.
    Open,
    /// Something went wrong, or the user is asked.
    Note,
}

/// Something that was said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// By whom.
    pub voice: Voice,
    /// What.
    pub text: Text,
}

/// What whoever follows many sessions comes by.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// A session, for the first time or because something of it changed.
    Row(Box<SessionRow>),
    /// A session is no longer one of those that are shown.
    Left(Place),
    /// An alarm rang.
    Rang(Box<Rang>),
    /// Why places cannot be looked at: all that cannot be now.
    Refused(Vec<Text>),
    /// What lies among the sessions and cannot be read: all that cannot be now. Of it what was written to lately has a row.
    Unreadable(Vec<Found>),
    /// How many more sessions there are of the time that is shown: they are too many to be followed.
    More(usize),
    /// All that is there now was looked for and read.
    Complete,
}

/// An alarm that rang.
#[derive(Clone, Debug, PartialEq)]
pub struct Rang {
    /// In which session, as it was then.
    pub row: SessionRow,
    /// Which alarm: its number.
    pub alarm: usize,
    /// In a few words.
    pub words: String,
}

impl Need {
    /// What a session needs somebody for that does this, of which was heard last then.
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
            // Its sub-agents come back to it before anybody has to.
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

    /// Whether somebody is needed.
    pub fn is_for_somebody(self) -> bool {
        self < Self::Works
    }

    /// The word used in JSON outputs and for filters.
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
    /// A session of which no more is known than that it is there, or why it cannot be read.
    pub fn found(found: &Found, problem: Option<Text>) -> Self {
        let problem = problem.or_else(|| found.fault());
        let head = Head {
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

    /// Since when it stands so.
    pub fn since(&self) -> Option<Timestamp> {
        let quiet = self.flags.quiet_since.filter(|_| self.flags.is_silent);
        quiet.or_else(|| self.activity.since()).or(self.head.ended)
    }

    /// What the wish of an agent that waits is, in words.
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

    /// What it is called, whatever is known of it.
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
            // What is too long for the column of what it does.
            (None, file, Some(problem)) if problem.chars().count() > STATE => {
                format!("{problem} ({file})")
            }
            (None, file, _) => file.to_string(),
        }
    }

    /// The folder of its project; else the one that it works in.
    pub fn folder(&self) -> Option<&Text> {
        self.head.project.as_ref().or(self.head.cwd.as_ref())
    }

    /// That folder by its last name; else its format.
    pub fn project(&self) -> String {
        let name = |path: &Text| {
            path.rsplit(['/', '\\'])
                .find(|part| !part.is_empty())
                .map(str::to_owned)
        };
        self.folder()
            .and_then(name)
            .unwrap_or_else(|| self.head.format.to_owned())
    }

    /// The format, with the name of the agent in it: `openclaw/main`.
    pub fn agent(&self) -> String {
        match &self.head.agent {
            Some(agent) => format!("{}/{agent}", self.head.format),
            None => self.head.format.to_owned(),
        }
    }

    /// The last line that anybody said.
    pub fn last_line(&self) -> Option<&str> {
        let said = |said: &&Said| matches!(said.voice, Voice::User | Voice::Agent | Voice::Note);
        let last = self.last.iter().rev().find(said)?;
        last.text
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
    }

    /// Which of two comes first: who needs somebody most, and longest; who works, the newest first; who rests, the one
    /// that was heard of last first.
    pub fn by_need(&self, other: &Self) -> Ordering {
        let newest_first = |a: Option<Timestamp>, b: Option<Timestamp>| b.cmp(&a);
        let within = match self.need {
            need if need.is_for_somebody() => self.since().cmp(&other.since()),
            Need::Works => newest_first(self.head.started, other.head.started),
            _ => newest_first(self.head.ended, other.head.ended),
        };
        self.need
            .cmp(&other.need)
            .then(within)
            .then_with(|| self.place.path.cmp(&other.place.path))
    }

    /// What several have cost, marked as not all where of one that is not known yet.
    pub fn sum<'r>(rows: impl Iterator<Item = &'r Self> + Clone) -> Option<Cost> {
        let is_unknown = rows.clone().any(|row| row.cost.is_none());
        Cost::sum(rows.filter_map(|row| row.cost.as_ref())).map(|cost| cost.lacking(is_unknown))
    }

    /// Whether nothing is expected of it any more.
    pub fn is_old(&self, now: Timestamp) -> bool {
        self.need == Need::Rests && !is_expected(self.head.ended, now)
    }

    /// What facts of the session are judged by.
    pub(crate) fn facts(&self, now: Timestamp) -> Facts<'_> {
        Facts {
            activity: &self.activity,
            silence: self.flags.quiet_since.map(|since| now.since(since)),
            usd: self.cost.as_ref().and_then(|cost| cost.usd),
            context: self.context,
            same: self.flags.same.as_ref().map(|(count, _)| *count as u64),
            has_orphan: false,
            running: self.flags.running,
        }
    }

    /// Whether time alone may change how it stands soon.
    pub fn ticks(&self, now: Timestamp) -> bool {
        self.activity.is_work() || self.need.is_for_somebody() && is_expected(self.since(), now)
    }
}

/// Whether somebody may come.
fn is_expected(since: Option<Timestamp>, now: Timestamp) -> bool {
    since.is_some_and(|since| now.since(since) <= IDLE_AFTER_MS)
}
