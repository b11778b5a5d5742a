//! Computes the row of a session.

use std::path::Path;

use crate::analysis::activity::{self, Activity};
use crate::analysis::background;
use crate::analysis::money::cost::{Cost, Money};
use crate::analysis::money::spending::EntrySpending;
use crate::analysis::wall::{
    CurrentCall, Flags, LastWords, Need, SessionIdentity, SessionRow, Voice,
};
use crate::ingest::far;
use crate::model::edit::LinkState;
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::found::FoundSession;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::session::Session;
use crate::session::indexes::Needs;

/// Time in ms over which the cost per hour is measured.
const HOUR_MS: u64 = 60 * 60 * 1000;
/// Number of the last messages and calls for a preview.
const LAST: usize = 16;
/// Limit of each of them in characters.
const LONGEST: usize = 1_200;
/// Entries at either end among which the first or last timestamp is.
const NEAR: usize = 64;
/// Entries that are searched for them.
const LOOKED_AT: usize = 200;

/// Updates all indexes that a row depends on.
pub(super) fn update_indexes(session: &mut Session) {
    let spent = Needs {
        spending: true,
        ..Needs::default()
    };
    let is_whole = !session.is_part();
    loop {
        session
            .indexes
            .follow(&session.transcript, Needs::default(), is_whole);
        session.indexes.watch(&session.transcript, spent);
        if !session.indexes.is_behind {
            return;
        }
    }
}

/// The row of a session, from the facts of the scan and its previous row.
pub(super) fn of(
    session: &mut Session,
    found: &FoundSession,
    before: Option<&SessionRow>,
    now: Timestamp,
) -> SessionRow {
    session.refresh(now);
    let is_complete = session.file.is_caught_up && !session.is_part();
    let quiet = session.silence(now);
    let newest = session.indexes.loops.current(&session.transcript);
    let flags = Flags {
        errors: session.indexes.account.errors(),
        same: newest.map(|run| (run.count(), run.tool.to_string())),
        is_loop: session.current_loop().is_some(),
        quiet_since: quiet.map(|ms| Timestamp(now.0.saturating_sub_unsigned(ms))),
        is_silent: session.long_silence(now).is_some(),
        running: background::count_running(&session.transcript, &session.status.activity),
        undelivered_since: background::undelivered_since(&session.transcript),
    };
    let known = SessionRow::found(
        found,
        session.file.problem().map(|problem| Text::clean(&problem)),
    );
    let activity = session.status.activity.clone();
    // The start does not change.
    let started = before
        .filter(|before| before.is_complete)
        .and_then(|before| before.head.started);
    let started = started.or_else(|| first_time(session, is_complete));
    let ended = before
        .filter(|before| before.is_complete)
        .and_then(|before| before.head.ended);
    let head = SessionIdentity {
        started,
        ..head(session, (&found.path, known.head), ended)
    };
    let heard = head.ended.or(found.modified);
    let file = &session.file;
    let need = match file.link {
        // A deleted or archived session needs no attention.
        LinkState::Emptied | LinkState::Deleted | LinkState::Archived(_) => Need::Rests,
        _ => {
            let is_unreadable =
                file.fault.is_some() || matches!(file.link, LinkState::Unreadable(_));
            Need::of(&activity, &flags, is_unreadable, heard, now)
        }
    };
    SessionRow {
        need,
        call: call(session, &activity),
        context: session.status.context,
        cost: is_complete.then(|| session.indexes.account.cost(&session.transcript)),
        hour: if is_complete {
            last_hour(session, now)
        } else {
            None
        },
        last: last(
            session,
            before
                .map(|before| before.last.as_slice())
                .unwrap_or_default(),
        ),
        head,
        activity,
        flags,
        is_complete,
        ..known
    }
}

/// Fills fields that the session itself does not have from the scan.
fn head(
    session: &Session,
    (path, found): (&Path, SessionIdentity),
    ended: Option<Timestamp>,
) -> SessionIdentity {
    let meta = session.transcript.meta();
    let is_whole = !session.is_part();
    let there = |folder: &Text| far::folder_of(path, folder);
    // The format of an empty file is only known from its path.
    let opened = session
        .file
        .opened
        .as_ref()
        .filter(|_| !session.transcript.order().is_empty());
    SessionIdentity {
        format: opened.map_or(found.format, |opened| opened.format),
        id: meta.id.clone().or(found.id),
        // The end of a session does not contain its first prompt.
        title: meta
            .title()
            .filter(|_| is_whole)
            .cloned()
            .or(found.title)
            .or_else(|| meta.title().cloned()),
        agent: meta.agent.clone().or(found.agent),
        cwd: meta.cwd.as_ref().map(there).or(found.cwd),
        project: meta
            .project()
            .filter(|_| is_whole)
            .map(there)
            .or(found.project),
        models: if meta.models.is_empty() && !is_whole {
            found.models
        } else {
            meta.models().cloned().collect()
        },
        model: meta.model.clone().or(found.model),
        started: found.started.filter(|_| !is_whole),
        ended: last_time(session).or(ended).or_else(|| {
            // Some agents record the state at the beginning and no later one.
            if is_whole {
                session
                    .transcript
                    .entries()
                    .filter_map(Entry::last_time)
                    .max()
            } else {
                found.ended
            }
        }),
    }
}

/// The earliest timestamp of the first entries, or of all entries once they are read: copied
/// histories may be in any order.
fn first_time(session: &Session, is_complete: bool) -> Option<Timestamp> {
    if session.is_part() {
        return None;
    }
    let transcript = &session.transcript;
    let looked_at = if is_complete { usize::MAX } else { NEAR };
    let first = transcript
        .order()
        .iter()
        .take(looked_at)
        .filter_map(|id| transcript.get(*id));
    first
        .filter(|entry| !entry.is_aside())
        .filter_map(|entry| entry.times().min())
        .min()
}

/// The latest timestamp of the last entries, because lanes alternate.
fn last_time(session: &Session) -> Option<Timestamp> {
    let transcript = &session.transcript;
    let last = transcript
        .order()
        .iter()
        .rev()
        .take(NEAR)
        .filter_map(|id| transcript.get(*id));
    last.filter(|entry| !entry.is_aside())
        .filter_map(Entry::last_time)
        .max()
}

fn call(session: &Session, activity: &Activity) -> Option<CurrentCall> {
    let is_shown = matches!(activity, Activity::Tool { .. } | Activity::Waiting { .. });
    let (call, since) = activity::open_call(&session.transcript, None).filter(|_| is_shown)?;
    Some(CurrentCall {
        name: call.name.clone(),
        headline: call.headline.clone(),
        since,
    })
}

/// Cost in the last hour. Run totals have no times within the run.
fn last_hour(session: &Session, now: Timestamp) -> Option<Cost> {
    let from = Timestamp(now.0.saturating_sub_unsigned(HOUR_MS));
    let mut money = Money::default();
    let mut has_times = false;
    let facts = session.indexes.spending.facts.in_order(&session.transcript);
    for spent in facts
        .flat_map(|(.., rows)| rows)
        .filter_map(EntrySpending::usage)
    {
        has_times |= spent.at.is_some();
        if spent.at.is_some_and(|at| at > from) {
            money.plus(&spent.amount().money);
        }
    }
    has_times
        .then(|| money.cost())
        .filter(|cost| cost.usd.is_some())
}

/// The last messages and calls; `known` are those of the previous row.
fn last(session: &Session, mut known: &[LastWords]) -> Vec<LastWords> {
    let mut said: Vec<LastWords> = Vec::new();
    let entries = session.transcript.main_lane_backwards().take(LOOKED_AT);
    for entry in entries.filter(|entry| !entry.marks.trace) {
        said.extend(
            entry
                .blocks
                .iter()
                .rev()
                .filter_map(|block| words(entry, &block.kind, &mut known)),
        );
        if said.len() >= LAST {
            break;
        }
    }
    said.truncate(LAST);
    said.reverse();
    said
}

/// The text of a block. If it was freed, it is taken from the end of the previous texts.
fn words(entry: &Entry, block: &BlockKind, known: &mut &[LastWords]) -> Option<LastWords> {
    let (voice, text) = match block {
        BlockKind::Text(body) => {
            let voice = match entry.role {
                Role::User => Voice::User,
                Role::Assistant => Voice::Agent,
                Role::System => return None,
                Role::Harness => Voice::Note,
            };
            let beginning = body.stub.trim_end_matches('…');
            let is_it = |said: &LastWords| {
                said.voice == voice && said.text.trim_start().starts_with(beginning)
            };
            if body.is_on_disk()
                && let Some(at) = known.iter().rposition(is_it)
                && let Some((said, earlier)) = known.get(..=at).and_then(<[LastWords]>::split_last)
            {
                *known = earlier;
                return Some(said.clone());
            }
            (
                voice,
                Text::clean(
                    &body
                        .text_or_stub()
                        .chars()
                        .take(LONGEST)
                        .collect::<String>(),
                ),
            )
        }
        BlockKind::Call(call) => (
            voice_of(call),
            Text::clean(&format!("{} {}", call.name, call.headline)),
        ),
        BlockKind::Break(
            what @ (Break::Error(_)
            | Break::Waiting(_)
            | Break::Interrupted(_)
            | Break::Ended(_)
            | Break::Continued(_)),
        ) => (Voice::Note, what.words()),
        BlockKind::Thinking(_)
        | BlockKind::Result(_)
        | BlockKind::Image(_)
        | BlockKind::Break(_)
        | BlockKind::Raw(_)
        | BlockKind::Aside(..) => return None,
    };
    (!text.is_blank()).then_some(LastWords { voice, text })
}

fn voice_of(call: &ToolCall) -> Voice {
    match call.state {
        ToolState::Done(_) if call.state.is_unrecorded() => Voice::Unrecorded,
        ToolState::Done(_) => Voice::Done,
        ToolState::Failed(_) => Voice::Failed,
        ToolState::Refused(_) => Voice::Refused,
        ToolState::Stopped(_) => Voice::Stopped,
        ToolState::Pending
        | ToolState::Running
        | ToolState::Streaming(_)
        | ToolState::Acknowledged(_)
        | ToolState::Lost => Voice::Open,
    }
}
