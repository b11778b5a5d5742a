//! What the name of a file among an agent's sessions tells: which session it is of, and whether it is
//! the live transcript, an archive or a copy.

use std::path::Path;

use crate::formats::roots::file_name;
use crate::model::edit::MetaEdit;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// The suffixes that a transcript gets when its agent puts it aside.
pub(crate) const ARCHIVES: [&str; 3] = ["reset", "deleted", "bak"];

/// A transcript's file name, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileName<'p> {
    /// The session's id.
    pub(crate) session: &'p str,
    /// The thread of a Telegram group.
    pub(crate) topic: Option<&'p str>,
    /// The name while the session was live, without `.jsonl`: session and topic.
    pub(crate) stem: &'p str,
    /// What became of it.
    pub(crate) kept: Kept<'p>,
}

/// What a file is to its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept<'p> {
    /// The transcript that is written to.
    Live,
    /// It was put aside: one of [`ARCHIVES`], and when.
    Archived(&'p str, Option<Timestamp>),
    /// A copy that was made before a compaction.
    Checkpoint,
}

impl<'p> FileName<'p> {
    /// Reads the name of a transcript; `None` for all other files.
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
            (Some((stem, _)), _) => (stem, Kept::Checkpoint),
            (None, "") => (stem, Kept::Live),
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
            kept,
        })
    }

    /// The name while the session was live.
    pub(crate) fn live(&self) -> String {
        format!("{}.jsonl", self.stem)
    }

    /// What it tells of the session.
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
        let archived = match self.kept {
            Kept::Live => return facts,
            Kept::Archived(how, Some(at)) => format!("{how} {}", minute(at)),
            Kept::Archived(how, None) => how.to_owned(),
            Kept::Checkpoint => "a copy made before a compaction".to_owned(),
        };
        facts.extend([fact("archived", &archived), MetaEdit::Live(Some(false))]);
        facts
    }
}

/// A time to the minute, in UTC as the names have it.
pub(crate) fn minute(at: Timestamp) -> String {
    let text = at.to_rfc3339();
    text.get(..16).map_or_else(
        || text.clone(),
        |minute| format!("{}Z", minute.replace('T', " ")),
    )
}

/// `.reset.2026-06-27T03-21-20.768Z`, `.deleted.1782530279`, `.bak`
fn archived(suffix: &str) -> Option<Kept<'_>> {
    let suffix = suffix.strip_prefix('.')?;
    let (how, when) = suffix.split_once('.').unwrap_or((suffix, ""));
    if !ARCHIVES.contains(&how) {
        return None;
    }
    let at = match when.split_once('T') {
        // File names hold no colons, and those of July 2026 no points either.
        Some((day, time)) => Timestamp::parse(&format!(
            "{day}T{}",
            time.replacen('-', ":", 2).replacen('-', ".", 1)
        )),
        None => when.parse().ok().and_then(Timestamp::from_number),
    };
    Some(Kept::Archived(how, at))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{FileName, Kept};
    use crate::model::timestamp::Timestamp;

    #[test]
    fn names_give_the_session_and_its_fate() {
        let at = |time: &str| Timestamp::parse(time);
        for (name, session, topic, kept) in [
            ("a1.jsonl", "a1", None, Kept::Live),
            ("a1-topic-7.jsonl", "a1", Some("7"), Kept::Live),
            (
                "a1.jsonl.reset.2026-06-27T03-21-20.768Z",
                "a1",
                None,
                Kept::Archived("reset", at("2026-06-27T03:21:20.768Z")),
            ),
            (
                "a1.jsonl.deleted.2026-07-27T03-21-20-768Z.zst",
                "a1",
                None,
                Kept::Archived("deleted", at("2026-07-27T03:21:20.768Z")),
            ),
            (
                "a1.jsonl.deleted.1782530279.zst",
                "a1",
                None,
                Kept::Archived("deleted", at("2026-06-27T03:17:59Z")),
            ),
            (
                "a1-topic-7.jsonl.bak.old",
                "a1",
                Some("7"),
                Kept::Archived("bak", None),
            ),
            ("a1.checkpoint.0f0f.jsonl", "a1", None, Kept::Checkpoint),
        ] {
            let read = FileName::of(Path::new(name)).unwrap();
            assert_eq!(
                (read.session, read.topic, read.kept),
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
