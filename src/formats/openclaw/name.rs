//! What the name of a file among an agent's sessions tells: which session it is of, and whether it is
//! the live transcript, an archive or a copy.

use std::path::Path;

use crate::model::edit::MetaEdit;
use crate::model::moment::Moment;
use crate::model::text::Text;

/// A transcript's file name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// The session's id.
    pub session: String,
    /// The thread of a Telegram group.
    pub topic: Option<String>,
    /// The name while the session was live.
    pub live: String,
    /// What became of it.
    pub kept: Kept,
}

/// What a file is to its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The transcript that is written to.
    Live,
    /// It was put aside: `reset`, `deleted`, `bak`, and when.
    Archived(String, Option<Moment>),
    /// A copy that was made before a compaction.
    Checkpoint,
}

impl FileName {
    /// Reads the name of a transcript; `None` for all other files.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name = [".zst", ".gz"].iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(name);
        let (stem, suffix) = name.split_once(".jsonl")?;
        if stem.ends_with(".trajectory") || suffix == ".lock" {
            return None;
        }
        let (stem, kept) = match (stem.split_once(".checkpoint."), suffix) {
            (Some((stem, _)), _) => (stem, Kept::Checkpoint),
            (None, "") => (stem, Kept::Live),
            (None, suffix) => (stem, archived(suffix)?),
        };
        let (session, topic) = match stem.split_once("-topic-") {
            Some((session, topic)) => (session, Some(topic.to_owned())),
            None => (stem, None),
        };
        Some(Self { session: session.to_owned(), topic, live: format!("{stem}.jsonl"), kept })
    }

    /// What it tells of the session.
    pub fn facts(&self) -> Vec<MetaEdit> {
        let fact = |name, value: &str| MetaEdit::Fact { name, value: Text::clean(value) };
        let mut facts: Vec<MetaEdit> = self.topic.iter().map(|topic| fact("topic", topic)).collect();
        let archived = match &self.kept {
            Kept::Live => return facts,
            Kept::Archived(how, Some(at)) => format!("{how} {}", minute(*at)),
            Kept::Archived(how, None) => how.clone(),
            Kept::Checkpoint => "a copy made before a compaction".to_owned(),
        };
        facts.extend([fact("archived", &archived), MetaEdit::Live(Some(false))]);
        facts
    }
}

/// A time to the minute, in UTC as the names have it.
pub fn minute(at: Moment) -> String {
    let text = at.to_rfc3339();
    text.get(..16).map_or_else(|| text.clone(), |minute| format!("{}Z", minute.replace('T', " ")))
}

/// `.reset.2026-06-27T03-21-20.768Z`, `.deleted.1782530279`, `.bak`
fn archived(suffix: &str) -> Option<Kept> {
    let (how, when) = match suffix.strip_prefix('.')?.split_once('.') {
        Some((how, when)) => (how, when),
        None => (suffix.strip_prefix('.')?, ""),
    };
    if !matches!(how, "reset" | "deleted" | "bak") {
        return None;
    }
    let at = match when.split_once('T') {
        // File names hold no colons.
        Some((day, time)) => Moment::parse(&format!("{day}T{}", time.replace('-', ":"))),
        None => when.parse().ok().and_then(Moment::from_number),
    };
    Some(Kept::Archived(how.to_owned(), at))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{FileName, Kept};
    use crate::model::moment::Moment;

    #[test]
    fn names_tell_the_session_and_its_fate() {
        let at = |time: &str| Moment::parse(time);
        for (name, session, topic, kept) in [
            ("a1.jsonl", "a1", None, Kept::Live),
            ("a1-topic-7.jsonl", "a1", Some("7"), Kept::Live),
            (
                "a1.jsonl.reset.2026-06-27T03-21-20.768Z",
                "a1",
                None,
                Kept::Archived("reset".into(), at("2026-06-27T03:21:20.768Z")),
            ),
            (
                "a1.jsonl.deleted.1782530279.zst",
                "a1",
                None,
                Kept::Archived("deleted".into(), at("2026-06-27T03:17:59Z")),
            ),
            ("a1-topic-7.jsonl.bak.old", "a1", Some("7"), Kept::Archived("bak".into(), None)),
            ("a1.checkpoint.0f0f.jsonl", "a1", None, Kept::Checkpoint),
        ] {
            let read = FileName::of(Path::new(name)).unwrap();
            assert_eq!((read.session.as_str(), read.topic.as_deref(), read.kept), (session, topic, kept));
        }
        for name in ["a1.trajectory.jsonl", "a1.jsonl.lock", "sessions.json", "a1.jsonl.swp"] {
            assert_eq!(FileName::of(Path::new(name)), None, "{name}");
        }
    }
}
