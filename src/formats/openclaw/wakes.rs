//! Messages that the gateway writes to wake the model: heartbeats, ended commands, cron jobs,
//! reminders, session events. They have the user's role, though nobody typed them.
//!
//! The prompt of a cron job in a session of its own is the prompt of that session.
//!
//! Invariant: a text is the gateway's only by its beginning, so that a message about a heartbeat is
//! still a human's.

use crate::model::entry::sender::{Sender, SenderKind};
use crate::model::text::Text;
use crate::model::tool::work::WorkEnd;

/// Beginnings of the gateway's messages, with the kind and name of the sender.
const TEXTS: [(&str, SenderKind, &str); 17] = [
    ("Read HEARTBEAT.md if", SenderKind::Schedule, "heartbeat"),
    (
        "Follow the heartbeat monitor scratch context",
        SenderKind::Schedule,
        "heartbeat",
    ),
    (
        "Run the following periodic tasks (only those due",
        SenderKind::Schedule,
        "heartbeat",
    ),
    (
        "A scheduled reminder has been triggered",
        SenderKind::Schedule,
        "reminder",
    ),
    (
        "A scheduled reminder was triggered",
        SenderKind::Schedule,
        "reminder",
    ),
    (
        "A scheduled cron event has been triggered",
        SenderKind::Schedule,
        "cron",
    ),
    (
        "A scheduled cron event was triggered",
        SenderKind::Schedule,
        "cron",
    ),
    (
        "An async command you ran earlier has completed",
        SenderKind::Task,
        "exec",
    ),
    (
        "An async command you ran earlier completed",
        SenderKind::Task,
        "exec",
    ),
    (
        "An async command completion event was triggered",
        SenderKind::Task,
        "exec",
    ),
    (
        "[Subagent Context] Every subagent spawned from this session has now settled",
        SenderKind::Task,
        "subagents",
    ),
    ("[Inter-session message]", SenderKind::Peer, ""),
    (
        "Continue the OpenClaw runtime event",
        SenderKind::Runtime,
        "",
    ),
    (
        "Pre-compaction memory flush",
        SenderKind::Runtime,
        "memory flush",
    ),
    (
        "[System] Your previous turn was interrupted by a gateway restart",
        SenderKind::Runtime,
        "restart",
    ),
    (
        "A new session was started via /new or /reset",
        SenderKind::Runtime,
        "new session",
    ),
    ("Current time: ", SenderKind::Runtime, ""),
];

/// Announcements of ended work, such as `A subagent task "count" just completed successfully.`
const ANNOUNCED: [(&str, SenderKind); 3] = [
    ("A subagent task \"", SenderKind::Handback),
    ("A background task \"", SenderKind::Task),
    ("A cron job \"", SenderKind::Schedule),
];

/// The maximum length of a reason, in characters.
const REASON_CHARS: usize = 200;

/// Whether the text is one of the gateway's messages.
pub(crate) fn is_wake(text: &str) -> bool {
    sender(text.trim_start()).is_some()
}

/// The sender of a gateway's message; `None` if a human wrote it.
pub(crate) fn sender(said: &str) -> Option<Sender> {
    let first = said.lines().next().unwrap_or_default().trim_end();
    let known = || {
        let (_, kind, name) = TEXTS.iter().find(|(begin, ..)| said.starts_with(begin))?;
        Some(sender_named(*kind, name))
    };
    let announced = || {
        let (begin, kind) = ANNOUNCED
            .iter()
            .find(|(begin, _)| first.starts_with(begin))?;
        let (name, what) = first.get(begin.len()..)?.split_once('"')?;
        what.starts_with(" just ")
            .then(|| sender_named(*kind, name))
    };
    let ended = || {
        end_of_command(first)
            .is_some()
            .then(|| sender_named(SenderKind::Task, "exec"))
    };
    marked(first)
        .or_else(known)
        .or_else(announced)
        .or_else(ended)
}

/// Prefixes of lines about events since the last prompt.
const EVENTS: [&str; 2] = ["System:", "System (untrusted):"];

/// Whether a text begins with an event line.
pub(super) fn is_event(text: &str) -> bool {
    of_event(text).is_some()
}

/// The text of an event line from its time on.
fn of_event(text: &str) -> Option<&str> {
    let rest = EVENTS.iter().find_map(|begin| text.strip_prefix(begin))?;
    Some(rest.trim_start()).filter(|rest| rest.starts_with('['))
}

/// The text of an event line after its time.
fn event(line: &str) -> Option<&str> {
    Some(of_event(line)?.split_once("] ")?.1)
}

/// The sender of event lines that no message follows.
pub(super) fn of_events(events: &str) -> Sender {
    let has = |words: &[&str]| words.iter().any(|word| events.contains(word));
    if has(&["] Exec ", "] exec "]) {
        sender_named(SenderKind::Task, "exec")
    } else if has(&["] Cron", "] Reminder"]) {
        sender_named(SenderKind::Schedule, "cron")
    } else {
        Sender::of(SenderKind::Runtime)
    }
}

/// The sender of a message that the gateway inserted, by its provenance.
pub(crate) fn of_provenance(kind: &str, tool: &str, session: &str) -> Sender {
    let name = if session.is_empty() { tool } else { session };
    match (kind, tool) {
        ("internal_system", "heartbeat" | "cron") => sender_named(SenderKind::Schedule, tool),
        ("internal_system", "exec" | "exec-event") => sender_named(SenderKind::Task, "exec"),
        ("internal_system", _) => sender_named(SenderKind::Runtime, tool),
        (_, tool) if tool.contains("subagent") => sender_named(SenderKind::Handback, name),
        _ => sender_named(SenderKind::Peer, name),
    }
}

/// Parses a line such as `[OpenClaw heartbeat poll]`.
fn marked(line: &str) -> Option<Sender> {
    let what = line
        .strip_prefix("[OpenClaw ")?
        .strip_suffix(']')
        .filter(|what| !what.contains([']', '[']))?;
    let has = |words: &[&str]| words.iter().any(|word| what.contains(word));
    let kind = if has(&["heartbeat", "cron", "reminder", "schedule"]) {
        SenderKind::Schedule
    } else if has(&["exec", "task", "completion"]) {
        SenderKind::Task
    } else {
        SenderKind::Runtime
    };
    Some(sender_named(kind, what))
}

/// The beginning of the session name of a command in such a line, and how the command ended.
fn end_of_command(line: &str) -> Option<(&str, WorkEnd)> {
    let line = line.trim_start();
    let rest = line
        .get(..5)
        .filter(|begin| begin.eq_ignore_ascii_case("exec "))
        .and(line.get(5..))?;
    let (word, rest) = rest.split_once(" (")?;
    let (inside, _) = rest.split_once(')')?;
    let (name, how) = inside.rsplit_once(", ")?;
    let is_word = ["completed", "failed", "finished"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known));
    let end = match (how.strip_prefix("code "), how.strip_prefix("signal ")) {
        (Some(code), _) => WorkEnd::from_word(Some(word), code.trim().parse().ok()),
        (None, Some(_)) => WorkEnd::from_word(Some("killed"), None),
        (None, None) => None,
    };
    Some((name, end?)).filter(|_| is_word)
}

/// The ends of commands in a message: in its first line, or in event lines above a prompt.
pub(crate) fn ends_of_commands(text: &str) -> Vec<(&str, WorkEnd)> {
    let of_event = |line| event(line).and_then(end_of_command);
    let first = text.lines().next().and_then(end_of_command);
    first
        .into_iter()
        .chain(text.lines().filter_map(of_event))
        .collect()
}

/// The beginning of a notice that a task of the gateway has ended.
const COMPLETION: &str = "[Internal task completion event]";

/// The ends of sub-agents in a message: the session key, if it is named, how the sub-agent ended,
/// and the reason.
pub(crate) fn ends_of_agents(text: &str) -> Vec<(Option<&str>, WorkEnd, Option<Text>)> {
    let end = |status: &str| {
        let (word, reason) = status.split_once(": ").unwrap_or((status, ""));
        let word = match word.split([' ', '.']).next()? {
            "timed" => "stopped",
            word => word,
        };
        let reason = (!reason.is_empty()).then(|| Text::stub(reason, REASON_CHARS));
        Some((WorkEnd::from_word(Some(word), None)?, reason))
    };
    if let Some(rest) = text.trim_start().strip_prefix(ANNOUNCED[0].0) {
        let line = rest.lines().next().unwrap_or_default();
        let status = line.split_once("\" just ").map(|(_, status)| status);
        let ended = status.and_then(|status| end(status.trim_end_matches('.')));
        let ended = ended.map(|(end, reason)| (None, end, reason));
        return ended.into_iter().collect();
    }
    let event = |part| {
        let field = |name: &str| {
            let mut lines = str::lines(part)
                .skip(1)
                .take_while(|line| !line.trim().is_empty());
            lines.find_map(|line| line.strip_prefix(name))
        };
        let (end, reason) = end(field("status: ")?)?;
        Some((Some(field("session_key: ")?), end, reason))
    };
    text.split(COMPLETION).skip(1).filter_map(event).collect()
}

fn sender_named(kind: SenderKind, name: &str) -> Sender {
    Sender {
        kind,
        name: (!name.is_empty()).then(|| Text::clean(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::{ends_of_agents, ends_of_commands, of_events, sender};
    use crate::model::entry::sender::SenderKind;
    use crate::model::tool::Verdict;

    #[test]
    fn what_wakes_the_model_is_known_by_its_beginning() {
        for (said, kind) in [
            ("[OpenClaw heartbeat poll]", SenderKind::Schedule),
            ("[OpenClaw exec completion]\nTurn it off.", SenderKind::Task),
            ("[OpenClaw session event]", SenderKind::Runtime),
            ("[OpenClaw cron wake]", SenderKind::Schedule),
            (
                "Read HEARTBEAT.md if it exists (workspace context).",
                SenderKind::Schedule,
            ),
            (
                "A scheduled reminder has been triggered. The reminder content is:\n\nwater",
                SenderKind::Schedule,
            ),
            (
                "An async command you ran earlier has completed. The result is above.",
                SenderKind::Task,
            ),
            (
                "exec failed (q7w2, signal SIGTERM) :: killed",
                SenderKind::Task,
            ),
            ("Exec finished (gateway id=9f2c, code 0)", SenderKind::Task),
            (
                "A subagent task \"count\" just completed successfully.\n\nFindings:",
                SenderKind::Handback,
            ),
            ("A cron job \"news\" just failed.", SenderKind::Schedule),
            (
                "[Inter-session message] sourceSession=agent:b:main",
                SenderKind::Peer,
            ),
            ("Continue the OpenClaw runtime event.", SenderKind::Runtime),
        ] {
            assert_eq!(sender(said).map(|sender| sender.kind), Some(kind), "{said}");
        }
        for said in [
            "why does the [OpenClaw heartbeat poll] come?",
            "[OpenClaw heartbeat poll] is what I see",
            "An async command you ran earlier failed, why?",
            "A scheduled reminder would be nice",
            "Read HEARTBEAT.md and tell me what is in it",
            "exec failed (again), why?",
            "A background task is running",
            "A cron job \"news\" is what I want",
            "[urgent] look",
        ] {
            assert_eq!(sender(said), None, "{said}");
        }
    }

    #[test]
    fn ends_of_sub_agents_are_told_by_their_keys() {
        let ends = |text| -> Vec<(Option<String>, Verdict, Option<String>)> {
            let ends = ends_of_agents(text).into_iter();
            ends.map(|(key, end, reason)| {
                let reason = reason.map(|reason| reason.to_string());
                (key.map(str::to_owned), end.verdict, reason)
            })
            .collect()
        };
        let event = "[Internal task completion event]\nsource: subagent\nsession_key: agent:main:subagent:7\n\
                     session_id: 7\ntype: subagent task\ntask: count\nstatus: failed: no such model\n\nResult:\n\
                     status: completed successfully";
        let key = Some("agent:main:subagent:7".to_owned());
        let reason = Some("no such model".to_owned());
        assert_eq!(ends(event), [(key.clone(), Verdict::Failed, reason)]);
        let late = event.replace("failed: no such model", "timed out");
        assert_eq!(ends(&late), [(key, Verdict::Stopped, None)]);
        let old = "A subagent task \"count\" just completed successfully.\n\nFindings:\nnine";
        assert_eq!(ends(old), [(None, Verdict::Done, None)]);
        assert_eq!(ends("A subagent task \"count\" is running"), []);
    }

    #[test]
    fn events_are_told_by_their_words() {
        assert_eq!(
            of_events("System: [2026-01-31] Exec failed (a, code 1)").kind,
            SenderKind::Task
        );
        assert_eq!(
            of_events("System: [2026-01-31] WhatsApp connected").kind,
            SenderKind::Runtime
        );
    }

    #[test]
    fn ends_of_commands_are_told_in_lines() {
        let told = |text| -> Vec<(String, Verdict, Option<i64>)> {
            let ends = ends_of_commands(text).into_iter();
            ends.map(|(name, end)| (name.to_owned(), end.verdict, end.exit))
                .collect()
        };
        let events = "System: [2026-03-06 12:00:00 UTC] Exec failed (quiet-nu, signal SIGKILL) :: a (b, code 1)\n\
                      System: [2026-03-06 12:00:01 UTC] Exec completed (good-cla, code 0) :: done\n\
                      System: [2026-03-06 12:00:02 UTC] WhatsApp connected\n\nand now?";
        let expected = [
            ("quiet-nu".to_owned(), Verdict::Stopped, None),
            ("good-cla".to_owned(), Verdict::Done, Some(0)),
        ];
        assert_eq!(told(events), expected);
        assert_eq!(
            told("exec finished (tide, code 2)"),
            [("tide".to_owned(), Verdict::Failed, Some(2))]
        );
        assert_eq!(
            told("why?\nExec failed (tide, code 2)"),
            [],
            "somebody quotes it"
        );
    }
}
