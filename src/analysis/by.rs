//! What usage and calls are grouped by.

use crate::model::entry::Entry;
use crate::model::entry::attribution::Attribution;
use crate::model::found::FoundSession;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;

/// What rows are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// A day of the local calendar.
    #[default]
    Day,
    /// A week, from Monday.
    Week,
    Month,
    /// The project or working directory.
    Project,
    /// The agent, by its format.
    Agent,
    Model,
    Session,
    /// The type of the sub-agent.
    SubAgent,
    /// The skill in use.
    Skill,
    Branch,
    Mcp,
    Tool,
}

impl By {
    /// All groupings with their names.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Day, "day"),
        (Self::Week, "week"),
        (Self::Month, "month"),
        (Self::Project, "project"),
        (Self::Agent, "agent"),
        (Self::Model, "model"),
        (Self::Session, "session"),
        (Self::SubAgent, "sub-agent"),
        (Self::Skill, "skill"),
        (Self::Branch, "branch"),
        (Self::Mcp, "mcp"),
        (Self::Tool, "tool"),
    ];

    /// The grouping with this name.
    pub(crate) fn named(word: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, known)| *known == word).map(|(by, _)| by)
    }

    /// The name of the grouping.
    pub fn word(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(by, _)| *by == self)
            .map_or("", |(_, word)| word)
    }

    /// Whether it is a period of time.
    pub fn is_period(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month)
    }

    /// Whether the group of a request depends on its calls, which counting alone does not read.
    pub(crate) fn needs_calls(self) -> bool {
        matches!(self, Self::Mcp | Self::Tool)
    }

    /// The day, week or month of a timestamp, in the local time zone; the day for other groupings.
    pub fn period(self, at: Timestamp) -> String {
        match self {
            Self::Week => at.calendar_week(),
            Self::Month => at.calendar_month(),
            _ => at.calendar_day(),
        }
    }

    /// The name of the group of what has none: of some facts every record tells, of others only
    /// those to which they apply.
    pub(crate) fn none(self) -> &'static str {
        match self {
            Self::SubAgent | Self::Skill | Self::Branch | Self::Mcp | Self::Tool => "(none)",
            _ => "?",
        }
    }

    /// The group of an entry, or of a call in it, in a session whose group is given where it is one
    /// for all of it; empty if it has none.
    pub(crate) fn group_of(
        self,
        (transcript, of_session): (&Transcript, &Name),
        entry: &Entry,
        call: Option<&ToolCall>,
    ) -> Name {
        let group = match self {
            Self::Agent | Self::Project | Self::Session => Some(of_session.clone()),
            Self::Model => entry.model.clone(),
            Self::Day | Self::Week | Self::Month => {
                let at = call.and_then(|call| call.started).or(entry.at);
                at.map(|at| Name::clean(&self.period(at)))
            }
            Self::Mcp => call.and_then(server_of),
            Self::Tool => call.map(|call| call.name.clone()),
            Self::SubAgent | Self::Skill | Self::Branch => {
                let attribution = attribution_of(transcript, entry, false);
                self.of(&attribution).cloned()
            }
        };
        group.unwrap_or_default()
    }

    /// The group of a whole session; empty for groupings of its parts.
    pub(crate) fn group_of_session(self, found: &FoundSession, transcript: &Transcript) -> Name {
        let group = match self {
            Self::Agent => Some(Name::from(found.format)),
            Self::Project => found.project.clone().or_else(|| found.cwd.clone()),
            Self::Session => transcript.meta().id.clone(),
            _ => None,
        };
        group.unwrap_or_default()
    }

    /// The name of the group by an attribution; `None` for other groupings.
    pub(crate) fn of(self, attribution: &Attribution) -> Option<&Name> {
        match self {
            Self::SubAgent => attribution.sub_agent.as_ref(),
            Self::Skill => attribution.skill.as_ref(),
            Self::Branch => attribution.branch.as_ref(),
            Self::Mcp => attribution.mcp.as_ref(),
            Self::Tool => attribution.tool.as_ref(),
            _ => None,
        }
    }
}

/// The group of requests that call different tools.
const SEVERAL: &str = "(several)";

/// What an entry is attributed to: by its record, else by its lane and its session; if calls are
/// read, also by these.
pub(crate) fn attribution_of(
    transcript: &Transcript,
    entry: &Entry,
    has_calls: bool,
) -> Attribution {
    let recorded = entry.attribution.as_deref().cloned().unwrap_or_default();
    let calls = || entry.calls().filter(|_| has_calls);
    Attribution {
        sub_agent: recorded
            .sub_agent
            .or_else(|| unnamed_agent(transcript, entry)),
        branch: recorded.branch.or_else(|| branch_of(transcript)),
        mcp: recorded
            .mcp
            .or_else(|| common(calls().filter_map(server_of))),
        tool: common(calls().map(|call| call.name.clone())),
        skill: recorded.skill,
    }
}

/// The branch that the session records.
pub(crate) fn branch_of(transcript: &Transcript) -> Option<Name> {
    transcript.meta().fact("git branch").cloned()
}

/// The group of sub-agents whose type is not recorded.
fn unnamed_agent(transcript: &Transcript, entry: &Entry) -> Option<Name> {
    let lane = transcript.lane(entry.lane.as_ref()?)?;
    (!lane.is_helper && !transcript.is_joined()).then(|| Name::from("?"))
}

/// The server of a call, by the names that agents give to tools of servers: `mcp__files__read`.
pub(crate) fn server_of(call: &ToolCall) -> Option<Name> {
    let (server, _) = call.name.strip_prefix("mcp__")?.split_once("__")?;
    Some(Name::from(server))
}

/// The name that all of them are, if there is any.
fn common(mut names: impl Iterator<Item = Name>) -> Option<Name> {
    let first = names.next()?;
    if names.all(|name| name == first) {
        Some(first)
    } else {
        Some(Name::from(SEVERAL))
    }
}
