//! What the agent is doing now, according to its records.
//!
//! The timestamps of records beat the modification time of the file, because a file that changed
//! long after its newest record was copied. While sub-agents work, the timestamps of their records
//! count.

use std::cmp::Reverse;

use super::agents::{self, AgentState};
use super::calls::asking::asks_user;
use crate::model::body::Body;
use crate::model::entry::glance::Boundary;
use crate::model::entry::{BlockKind, Break, Entry, Role, Stop};
use crate::model::meta::{LaneFacts, RunStatus, Running};
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

/// What the agent is doing.
#[derive(Clone, Debug, PartialEq)]
pub enum Activity {
    Tool {
        /// The name of the tool.
        name: Text,
        since: Option<Timestamp>,
    },
    /// The model is answering.
    Model {
        since: Option<Timestamp>,
    },
    /// A failed request is retried.
    Retry {
        since: Option<Timestamp>,
        /// The error of the provider.
        why: Text,
    },
    /// The agent waits for the user.
    Waiting {
        since: Option<Timestamp>,
        /// What it waits for.
        wish: Wish,
        /// Description of what it waits for.
        what: Text,
        /// Number of sub-agents that are still working.
        agents: usize,
    },
    /// Nothing has happened for a long time.
    Idle {
        since: Option<Timestamp>,
    },
    /// The session ended cleanly.
    Ended,
    /// The session stopped in the middle of work.
    Unclean,
    Unknown,
}

/// What the agent waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Prompt,
    Permission,
    /// The answer to a question.
    Question,
}

impl Wish {
    /// The value in JSON outputs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Permission => "permission",
            Self::Question => "question",
        }
    }

    /// Classifies a description by the agent.
    fn of(words: &str) -> Self {
        let words = words.to_ascii_lowercase();
        if words == NEXT_PROMPT {
            return Self::Prompt;
        }
        let is_permission = ["permission", "allow", "approv"]
            .iter()
            .any(|word| words.contains(word));
        if is_permission {
            Self::Permission
        } else {
            Self::Question
        }
    }
}

/// Limit in ms after which the duration of waiting is not updated by the second.
const HOUR_MS: u64 = 60 * 60 * 1000;

impl Activity {
    /// The value in JSON outputs, where a retry is the model's time.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool",
            Self::Model { .. } | Self::Retry { .. } => "model",
            Self::Waiting { .. } => "waiting",
            Self::Idle { .. } => "idle",
            Self::Ended => "ended",
            Self::Unclean => "unclean",
            Self::Unknown => "unknown",
        }
    }

    /// What the agent waits for, if it waits.
    pub(crate) fn wish(&self) -> Option<Wish> {
        match self {
            Self::Waiting { wish, .. } => Some(*wish),
            _ => None,
        }
    }

    /// Whether the agent works, or waits for a user who is still expected.
    pub(crate) fn is_ongoing(&self, now: Timestamp) -> bool {
        match self {
            Self::Tool { .. } | Self::Model { .. } | Self::Retry { .. } => true,
            Self::Waiting { since, agents, .. } => {
                *agents > 0 || since.is_some_and(|since| now.since(since) < HOUR_MS)
            }
            Self::Idle { .. } | Self::Ended | Self::Unclean | Self::Unknown => false,
        }
    }

    /// Number of sub-agents that are still working while the agent waits for the user.
    pub(crate) fn agents(&self) -> usize {
        match self {
            Self::Waiting { agents, .. } => *agents,
            _ => 0,
        }
    }

    /// The start of the activity.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Tool { since, .. }
            | Self::Model { since }
            | Self::Retry { since, .. }
            | Self::Waiting { since, .. }
            | Self::Idle { since } => *since,
            Self::Ended | Self::Unclean | Self::Unknown => None,
        }
    }

    /// Priority of a session in a joined transcript: requests to the user, then work, then complete
    /// answers.
    fn rank(&self) -> u8 {
        match self {
            Self::Waiting {
                wish: Wish::Permission | Wish::Question,
                ..
            } => 0,
            Self::Tool { .. } | Self::Model { .. } | Self::Retry { .. } => 1,
            Self::Waiting {
                wish: Wish::Prompt, ..
            } => 2,
            Self::Unclean => 3,
            Self::Idle { .. } => 4,
            Self::Ended => 5,
            Self::Unknown => 6,
        }
    }

    /// Whether the agent is expected to write further records by itself.
    pub(crate) fn is_work(&self) -> bool {
        matches!(
            self,
            Self::Tool { .. } | Self::Model { .. } | Self::Retry { .. }
        )
    }
}

/// Time in ms without a write after which the model is no longer taken to be answering.
const MODEL_PATIENCE_MS: u64 = 5 * 60 * 1000;
/// Time in ms without a write after which a call without a result is taken to be abandoned.
const TOOL_PATIENCE_MS: u64 = 10 * 60 * 1000;
/// Time in ms for which an answer without a stop reason is taken to be incomplete, because a call
/// may follow; longer if it ends with a colon, which announces one.
const SETTLED_MS: u64 = 30 * 1000;
const ANNOUNCED_MS: u64 = 90 * 1000;
/// Time in ms without a write after which the agent is taken to have given up. Most agents retry
/// after transient errors, though few record it.
const RETRY_PATIENCE_MS: u64 = 60 * 1000;
/// Time in ms without a write after which the mark of a running session is taken to be stale.
const MARK_PATIENCE_MS: u64 = 24 * 60 * 60 * 1000;
/// Time in ms after which the user is no longer expected to return.
pub(crate) const IDLE_AFTER_MS: u64 = 60 * 60 * 1000;

/// What the agent waits for between turns.
const NEXT_PROMPT: &str = "the next prompt";

/// The last write to the files of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastWrite {
    pub(crate) at: Timestamp,
    /// Whether the write was observed. The modification time of a file may be the time at which it
    /// was copied.
    pub(crate) is_seen: bool,
}

impl LastWrite {
    /// From the modification time of the file.
    pub fn from_file_time(at: Timestamp) -> Self {
        Self { at, is_seen: false }
    }

    /// Observed while the file was followed.
    pub fn observed(at: Timestamp) -> Self {
        Self { at, is_seen: true }
    }
}

/// Determines the activity from the end of the transcript. For a joined transcript it is that of
/// the session with the highest priority, the latest of equal ones; the write times of the files do
/// not matter then.
pub fn judge(transcript: &Transcript, last_write: Option<LastWrite>, now: Timestamp) -> Activity {
    if !transcript.is_joined() {
        return judge_lane(transcript, None, last_write, now);
    }
    leading_lane(transcript, now).map_or(Activity::Unknown, |(_, state)| state)
}

/// The lane of the session in a joined transcript that determines the activity, and the activity.
pub(crate) fn leading_lane(transcript: &Transcript, now: Timestamp) -> Option<(&Name, Activity)> {
    let sessions = transcript.lanes().iter().filter(|lane| lane.is_session);
    let states = sessions.map(|lane| {
        (
            &lane.name,
            judge_lane(transcript, Some(&lane.name), None, now),
        )
    });
    states.min_by_key(|(_, state)| (state.rank(), Reverse(state.since())))
}

/// Determines the activity of a main lane from its end.
fn judge_lane(
    transcript: &Transcript,
    lane: Option<&Name>,
    last_write: Option<LastWrite>,
    now: Timestamp,
) -> Activity {
    if transcript.has_lane_ended(lane) || (lane.is_none() && transcript.has_ended()) {
        let last = transcript.lane_backwards(lane).find_map(Entry::last_word);
        let has_failed = matches!(last, Some(BlockKind::Break(Break::Error(_))));
        return if has_failed {
            Activity::Unclean
        } else {
            Activity::Ended
        };
    }
    let guess = by_records(transcript, lane, last_write, now);
    match transcript.meta().running.filter(|_| lane.is_none()) {
        Some(running) => with_process_status(running, guess, transcript, now),
        None => guess,
    }
}

/// Combines the agent's recorded process status with the activity by its records: the status takes
/// precedence, and the records add the details.
fn with_process_status(
    running: Running,
    guess: Activity,
    transcript: &Transcript,
    now: Timestamp,
) -> Activity {
    let open = open_call(transcript, None);
    let waiting = |since: Option<Timestamp>, wish, what: Text| Activity::Waiting {
        since,
        wish,
        what,
        agents: agents_at_work(transcript, None, now),
    };
    let since = running.since.max(
        transcript
            .main_lane_backwards()
            .next()
            .and_then(Entry::last_time),
    );
    match (running.status, &guess) {
        (
            RunStatus::Busy,
            Activity::Tool { .. } | Activity::Model { .. } | Activity::Retry { .. },
        )
        | (
            RunStatus::Waiting,
            Activity::Waiting {
                wish: Wish::Permission | Wish::Question,
                ..
            },
        )
        | (
            RunStatus::Idle,
            Activity::Waiting {
                wish: Wish::Prompt, ..
            }
            | Activity::Idle { .. },
        ) => guess,
        (RunStatus::Busy, _) => match open {
            Some((call, since)) => Activity::Tool {
                name: call.name.clone(),
                since,
            },
            None => Activity::Model { since },
        },
        (RunStatus::Waiting, _) => match open {
            Some((call, _)) if asks_user(call) => {
                waiting(running.since, Wish::Question, call.headline.clone())
            }
            Some((call, _)) => {
                let what = Text::clean(&format!("permission for {}", call.name));
                waiting(running.since, Wish::Permission, what)
            }
            None => waiting(running.since, Wish::Question, Text::clean("an answer")),
        },
        (RunStatus::Idle, _) => waiting(since, Wish::Prompt, Text::clean(NEXT_PROMPT)),
    }
}

/// Determines the activity of a main lane by its records.
fn by_records(
    transcript: &Transcript,
    lane: Option<&Name>,
    last_write: Option<LastWrite>,
    now: Timestamp,
) -> Activity {
    let tail = |is_such: fn(&Entry) -> bool| {
        let entries = transcript
            .lane_backwards(lane)
            .filter(|entry| is_such(entry));
        let mut words = entries.map(|entry| (entry, entry.last_word()));
        words.find(|(entry, word)| word.is_some() || is_last_answer(entry))
    };
    // Skips what the user ran, which does not affect the agent's work.
    let Some((entry, block)) = tail(|entry| !is_aside(entry)).or_else(|| tail(is_aside)) else {
        return Activity::Unknown;
    };
    let last_time = entry.last_time().max(last_of_agents(transcript, lane));
    let silence = Silence {
        ms: last_active(last_write, last_time, entry.marks.open).map(|seen| now.since(seen)),
        is_running: transcript.meta().live == Some(true),
        written: last_write
            .filter(|write| write.is_seen)
            .map(|write| write.at),
    };
    let open = open_call(transcript, lane);
    // Checked before open calls: the question to the user is why they wait.
    if let Some((since, wish, what)) = pending_question(entry, block, open) {
        return if silence.is_within(IDLE_AFTER_MS * 24) {
            let agents = agents_at_work(transcript, lane, now);
            Activity::Waiting {
                since: silence.since(since, IDLE_AFTER_MS),
                wish,
                what: what.clone(),
                agents,
            }
        } else {
            Activity::Idle { since }
        };
    }
    let agents = || agents_at_work(transcript, lane, now);
    match (open, block) {
        (Some((call, since)), _) => judge_call(call, since, entry, silence),
        (None, Some(block)) if !transcript.has_turn_ended_after(lane, entry) => {
            judge_end(entry, block, silence, agents)
        }
        (None, _) => awaits_prompt(entry, silence, &agents),
    }
}

/// The time without records of an agent.
#[derive(Clone, Copy)]
struct Silence {
    /// In ms; `None` if unrecorded.
    ms: Option<u64>,
    /// Whether the session has the mark of a running one.
    is_running: bool,
    /// The time of an observed write.
    written: Option<Timestamp>,
}

impl Silence {
    /// Whether it is no longer than `patience`. For a session with the mark of a running one the
    /// limit is longer, because a crashed program leaves the mark behind.
    fn is_within(self, patience: u64) -> bool {
        let patience = if self.is_running {
            MARK_PATIENCE_MS
        } else {
            patience
        };
        self.ms.map_or(self.is_running, |ms| ms <= patience)
    }

    /// The start of an activity: the timestamp of its record. If a write was observed much later,
    /// the record has another clock or no timestamp, or was abandoned long ago; then it is the time
    /// of the write.
    fn since(self, at: Option<Timestamp>, patience: u64) -> Option<Timestamp> {
        let is_late = |written: &Timestamp| at.is_none_or(|at| written.since(at) > patience);
        self.written.filter(is_late).or(at)
    }
}

/// The question to the user: in the last block, or in an open call.
fn pending_question<'t>(
    entry: &Entry,
    block: Option<&'t BlockKind>,
    open: Option<(&'t ToolCall, Option<Timestamp>)>,
) -> Option<(Option<Timestamp>, Wish, &'t Text)> {
    if let Some(BlockKind::Break(Break::Waiting(what))) = block {
        return Some((entry.last_time(), Wish::of(what), what));
    }
    let (call, since) = open.filter(|(call, _)| asks_user(call))?;
    Some((since, Wish::Question, &call.headline))
}

/// The activity with an open call.
fn judge_call(
    call: &ToolCall,
    since: Option<Timestamp>,
    last: &Entry,
    silence: Silence,
) -> Activity {
    if last.marks.open && call.state == ToolState::Pending && silence.is_within(MODEL_PATIENCE_MS) {
        // Its arguments are incomplete.
        Activity::Model {
            since: silence.since(last.last_time(), IDLE_AFTER_MS),
        }
    } else if silence.is_within(TOOL_PATIENCE_MS) {
        Activity::Tool {
            name: call.name.clone(),
            since: silence.since(since, MARK_PATIENCE_MS),
        }
    } else {
        Activity::Unclean
    }
}

/// The activity by the last block, without an open call.
fn judge_end(
    entry: &Entry,
    block: &BlockKind,
    silence: Silence,
    agents: impl Fn() -> usize,
) -> Activity {
    let since = silence.since(entry.last_time(), IDLE_AFTER_MS);
    let working = || {
        let is_work = silence.is_within(MODEL_PATIENCE_MS);
        if is_work {
            Activity::Model { since }
        } else {
            Activity::Unclean
        }
    };
    let is_retried = |error: &Text| {
        let is_expected =
            entry.marks.retried || entry.marks.open || (silence.is_running && is_transient(error));
        let patience = if is_expected {
            MODEL_PATIENCE_MS
        } else {
            RETRY_PATIENCE_MS
        };
        let is_over = is_last_answer(entry);
        !is_over && (is_expected || is_transient(error)) && silence.is_within(patience)
    };
    let goes_on = |body: &Body| {
        let patience = if body
            .text()
            .is_some_and(|text| text.trim_end().ends_with([':', '：']))
        {
            ANNOUNCED_MS
        } else {
            SETTLED_MS
        };
        let is_open = entry.stop == Stop::Unrecorded && entry.role == Role::Assistant;
        is_open && silence.ms.is_some_and(|ms| ms < patience)
    };
    match block {
        BlockKind::Break(Break::Error(why)) if is_retried(why) => Activity::Retry {
            since,
            why: why.clone(),
        },
        BlockKind::Break(Break::Error(_)) if entry.marks.retried => Activity::Unclean,
        BlockKind::Call(_) | BlockKind::Result(_) | BlockKind::Thinking(_)
            if !is_last_answer(entry) =>
        {
            working()
        }
        _ if entry.marks.open || entry.from.is_some() => working(),
        _ if entry.role == Role::User && !is_aside(entry) => working(),
        BlockKind::Text(_) if entry.stop == Stop::Calls => working(),
        BlockKind::Text(body) if goes_on(body) => Activity::Model { since },
        _ => awaits_prompt(entry, silence, &agents),
    }
}

/// The activity after a complete answer: waiting for the next prompt, or idle if that takes long.
fn awaits_prompt(entry: &Entry, silence: Silence, agents: &dyn Fn() -> usize) -> Activity {
    let (since, agents) = (entry.last_time(), agents());
    if agents == 0 && silence.ms.is_some_and(|ms| ms > IDLE_AFTER_MS) {
        return Activity::Idle { since };
    }
    Activity::Waiting {
        since: silence.since(since, IDLE_AFTER_MS),
        wish: Wish::Prompt,
        what: Text::clean(NEXT_PROMPT),
        agents,
    }
}

/// Whether an entry is a complete answer by its stop reason, even without blocks.
fn is_last_answer(entry: &Entry) -> bool {
    entry.role == Role::Assistant && entry.stop == Stop::Done && !entry.marks.open
}

/// When the agent was last active: the newest timestamp of its records and of writes. A
/// modification time long after the records is that of a copy, and ignored. Modification times
/// count otherwise, because not all records have timestamps, and parts of a message have that of
/// its start; observed writes always count, whatever the agent's clock.
fn last_active(
    last_write: Option<LastWrite>,
    last_time: Option<Timestamp>,
    is_open: bool,
) -> Option<Timestamp> {
    let is_late =
        |write: Timestamp| last_time.is_some_and(|last| write.since(last) > IDLE_AFTER_MS);
    let is_copy = |write: &LastWrite| !write.is_seen && !is_open && is_late(write.at);
    last_write
        .filter(|write| !is_copy(write))
        .map(|write| write.at)
        .max(last_time)
}

/// The newest timestamp of sub-agents that open calls of the last answer started, nested ones
/// included.
fn last_of_agents(transcript: &Transcript, lane: Option<&Name>) -> Option<Timestamp> {
    let started = last_answer(transcript, lane)?
        .calls()
        .filter(|call| call.state.is_open());
    let lanes = started.flat_map(|call| transcript.lanes_of_call(&call.key));
    let ends = lanes
        .flat_map(|lane| transcript.with_nested(lane))
        .filter_map(|lane| lane.entries.last());
    ends.filter_map(|id| transcript.get(*id)?.last_time()).max()
}

/// The number of sub-agents that are still working while their main lane waits: those in the
/// background, and those that run beside a question. Each is judged by its own last entries, if
/// they are recent.
fn agents_at_work(transcript: &Transcript, lane: Option<&Name>, now: Timestamp) -> usize {
    if !transcript.is_main_lane(lane) {
        return 0;
    }
    let session = lane
        .and_then(|lane| transcript.session_of_lane(lane))
        .map(|(session, _)| session);
    let may_work = |agent: &&LaneFacts| {
        let is_recent = agent
            .last_time
            .is_some_and(|heard| now.since(heard) <= TOOL_PATIENCE_MS);
        is_recent && !agent.is_session && !agent.is_helper
    };
    let is_at_work = |agent: &&LaneFacts| {
        let own = transcript
            .session_of_lane(&agent.name)
            .map(|(session, _)| session);
        let caller = transcript.caller(agent).and_then(|id| transcript.get(id));
        let call = caller.and_then(|entry| {
            entry
                .calls()
                .find(|call| Some(&call.key) == agent.call.as_ref())
        });
        own == session
            && agents::fate(transcript, Some(agent), call, true) == AgentState::Running
            && judge_lane(transcript, Some(&agent.name), None, now).is_work()
    };
    transcript
        .lanes()
        .iter()
        .filter(may_work)
        .filter(is_at_work)
        .count()
}

/// Whether an entry is an action of the user that is not a message to the model: a shell command,
/// or a command of the program.
fn is_aside(entry: &Entry) -> bool {
    let last = entry.blocks.last().map(|block| &block.kind);
    let is_answered = || matches!(last, Some(BlockKind::Raw(raw)) if raw.is_command_output());
    entry.role == Role::User && (!entry.marks.prompt || is_answered())
}

/// Whether an error is transient: rate limits, an overloaded provider, a lost connection.
fn is_transient(error: &str) -> bool {
    const WORDS: [&str; 9] = [
        "overloaded",
        "rate limit",
        "rate_limit",
        "too many requests",
        "unavailable",
        "server error",
        "connection",
        "timed out",
        "timeout",
    ];
    let error = error.to_ascii_lowercase();
    let mut numbers = error.split(|c: char| !c.is_ascii_alphanumeric());
    WORDS.iter().any(|word| error.contains(word))
        || numbers.any(|word| matches!(word, "429" | "500" | "502" | "503" | "504" | "529"))
}

/// Time in ms since the last write while the agent is expected to write. Includes abandoned work,
/// whose end is not recorded.
pub(crate) fn silence(
    transcript: &Transcript,
    activity: &Activity,
    last_write: Option<LastWrite>,
    now: Timestamp,
) -> Option<u64> {
    if !activity.is_work() && *activity != Activity::Unclean || transcript.has_ended() {
        return None;
    }
    let last_time = transcript
        .main_lane_backwards()
        .next()
        .and_then(Entry::last_time);
    let last_time = last_time.max(last_of_agents(transcript, None));
    last_write
        .map(|write| write.at)
        .max(last_time)
        .map(|seen| now.since(seen))
}

/// The newest open call of the last answer of a lane, and its start. Calls of earlier answers are
/// not awaited: the model continued without them. While a message is incomplete, calls that are not
/// recorded as running are still being written.
pub(crate) fn open_call<'t>(
    transcript: &'t Transcript,
    lane: Option<&'t Name>,
) -> Option<(&'t ToolCall, Option<Timestamp>)> {
    let answer = last_answer(transcript, lane)?;
    let is_asked = |call: &&ToolCall| !answer.marks.open || call.state != ToolState::Pending;
    let call = answer
        .calls()
        .filter(|call| call.state.is_open())
        .filter(is_asked)
        .last()?;
    Some((call, call.started.or(answer.at)))
}

/// The last answer of the newest turn.
fn last_answer<'t>(transcript: &'t Transcript, lane: Option<&'t Name>) -> Option<&'t Entry> {
    let stops = |entry: &Entry| entry.marks.prompt || Boundary::of(entry) == Boundary::Cut;
    let newest_turn = transcript
        .lane_backwards(lane)
        .take_while(|entry| !stops(entry));
    newest_turn
        .into_iter()
        .find(|entry| entry.role == Role::Assistant)
}

#[cfg(test)]
mod tests;
