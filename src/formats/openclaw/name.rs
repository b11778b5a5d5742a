//! Parses the names of files among an agent's sessions: the session, and whether the file is its
//! live transcript, an archive or a copy.

use std::path::Path;

use crate::formats::roots::file_name;
use crate::model::edit::MetaEdit;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// The suffixes of archived transcripts.
pub(crate) const ARCHIVES: [&str; 3] = ["reset", "deleted", "bak"];

/// A parsed transcript name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileName<'p> {
    /// The id of the session.
    pub(crate) session: &'p str,
    /// The topic of a Telegram group.
    pub(crate) topic: Option<&'p str>,
    /// Session and topic: the name of the live file without `.jsonl`.
    pub(crate) stem: &'p str,
    pub(crate) state: TranscriptState<'p>,
}

/// The relation of a file to its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TranscriptState<'p> {
    /// The live transcript.
    Live,
    /// An archive, with one of [`ARCHIVES`] and its time.
    Archived(&'p str, Option<Timestamp>),
    /// A copy made before a compaction.
    Checkpoint,
}

impl<'p> FileName<'p> {
    /// Parses the name of a transcript; `None` for other files.
    pub(crate) fn of(path: &'p Path) -> Option<Self> {
        let name = file_name(path);
        let name = [".zst", ".gz"]
            .iter()
            .find_map(|packed| name.strip_suffix(packed))
            .unwrap_or(name);
        let (stem, suffix) = name.split_once(".jsonl")?;
        if stem.is_empty() || stem.ends_with(".trajectory") {
            return None;
        }
        let (stem, kept) = match (stem.split_once(".checkpoint."), suffix) {
            (Some((stem, _)), _) => (stem, TranscriptState::Checkpoint),
            (None, "") => (stem, TranscriptState::Live),
            (None, suffix) => (stem, archived(suffix)?),
        };
        let (session, topic) = match stem.split_once("-topic-") {
            Some((session, topic)) => (session, Some(topic)),
            None => (stem, None),
        };
        Some(Self {
            session,
            topic,
            stem,
            state: kept,
        })
    }

    pub(crate) fn live_name(&self) -> String {
        format!("{}.jsonl", self.stem)
    }

    /// The facts about the session in its name.
    pub(crate) fn facts(&self) -> Vec<MetaEdit> {
        let fact = |name, value: &str| MetaEdit::Fact {
            name,
            value: Text::clean(value),
        };
        let mut facts: Vec<MetaEdit> = self
            .topic
            .iter()
            .map(|topic| fact("topic", topic))
            .collect();
        let archived = match self.state {
            TranscriptState::Live => return facts,
            TranscriptState::Archived(how, Some(at)) => format!("{how} {}", minute(at)),
            TranscriptState::Archived(how, None) => how.to_owned(),
            TranscriptState::Checkpoint => "a copy made before a compaction".to_owned(),
        };
        facts.extend([fact("archived", &archived), MetaEdit::Live(Some(false))]);
        facts
    }
}

/// A time to the minute, in UTC like the times in names.
pub(crate) fn minute(at: Timestamp) -> String {
    let text = at.to_rfc3339();
    text.get(..16).map_or_else(
        || text.clone(),
        |minute| format!("{}Z", minute.replace('T', " ")),
    )
}

/// Parses `.reset.2026-06-27T03-21-20.768Z`, `.deleted.1782530279` or `.bak`.
fn archived(suffix: &str) -> Option<TranscriptState<'_>> {
    let suffix = suffix.strip_prefix('.')?;
    let (how, when) = suffix.split_once('.').unwrap_or((suffix, ""));
    if !ARCHIVES.contains(&how) {
        return None;
    }
    let at = match when.split_once('T') {
        // File names have hyphens in place of colons, those of July 2026 also in place of the dot.
        Some((day, time)) => Timestamp::parse(&format!(
            "{day}T{}",
            time.replacen('-', ":", 2).replacen('-', ".", 1)
        )),
        None => when.parse().ok().and_then(Timestamp::from_number),
    };
    Some(TranscriptState::Archived(how, at))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{FileName, TranscriptState};
    use crate::model::timestamp::Timestamp;

    #[test]
    fn names_give_the_session_and_its_fate() {
        let at = |time: &str| Timestamp::parse(time);
        for (name, session, topic, kept) in [
            ("a1.jsonl", "a1", None, TranscriptState::Live),
            ("a1-topic-7.jsonl", "a1", Some("7"), TranscriptState::Live),
            (
                "a1.jsonl.reset.2026-06-27T03-21-20.768Z",
                "a1",
                None,
                TranscriptState::Archived("reset", at("2026-06-27T03:21:20.768Z")),
            ),
            (
                "a1.jsonl.deleted.2026-07-27T03-21-20-768Z.zst",
                "a1",
                None,
                TranscriptState::Archived("deleted", at("2026-07-27T03:21:20.768Z")),
            ),
            (
                "a1.jsonl.deleted.1782530279.zst",
                "a1",
                None,
                TranscriptState::Archived("deleted", at("2026-06-27T03:17:59Z")),
            ),
            (
                "a1-topic-7.jsonl.bak.old",
                "a1",
                Some("7"),
                TranscriptState::Archived("bak", None),
            ),
            (
                "a1.checkpoint.0f0f.jsonl",
                "a1",
                None,
                TranscriptState::Checkpoint,
            ),
        ] {
            let read = FileName::of(Path::new(name)).unwrap();
            assert_eq!(
                (read.session, read.topic, read.state),
                (session, topic, kept)
            );
        }
        for name in [
            "a1.trajectory.jsonl",
            "a1.jsonl.lock",
            "sessions.json",
            "a1.jsonl.swp",
            ".jsonl",
        ] {
            assert_eq!(FileName::of(Path::new(name)), None, "{name}");
        }
    }
}
