//! The paths of OpenClaw's sessions and of the files beside one. Archived files have a suffix;
//! since July 2026 sessions are rows of a database.

use std::path::{Path, PathBuf};

use super::name::{ARCHIVES, FileName, TranscriptState};
use crate::formats::roots::{Pattern, SessionName, file_name};

/// The index of an agent's sessions.
const INDEX: &str = "sessions.json";

/// The session that a file belongs to. A live transcript and its archives are sessions; checkpoint
/// copies and the files beside sessions are not.
pub fn named(path: &Path) -> Option<SessionName<'_>> {
    let mut folders = path.iter().filter_map(|folder| folder.to_str());
    let agent = folders
        .find(|folder| *folder == "agents")
        .and_then(|_| folders.next());
    if let Some(FileName {
        stem, state: kept, ..
    }) = FileName::of(path)
    {
        let is_archive = matches!(kept, TranscriptState::Archived(..));
        return (kept != TranscriptState::Checkpoint).then_some(SessionName {
            id: stem,
            agent,
            is_archive,
        });
    }
    let name = file_name(path);
    let is_other =
        name.contains(".jsonl") || name == INDEX || name.ends_with(".trajectory-path.json");
    SessionName::stem(path)
        .filter(|_| !is_other)
        .map(|named| SessionName { agent, ..named })
}

/// The lock of a running session.
pub(crate) fn lock(path: &Path) -> Option<PathBuf> {
    let name = FileName::of(path).filter(|name| name.state == TranscriptState::Live)?;
    Some(path.with_file_name(format!("{}.lock", name.live_name())))
}

/// The index of the sessions in the folder.
pub(crate) fn index(path: &Path) -> Option<PathBuf> {
    FileName::of(path).map(|_| path.with_file_name(INDEX))
}

/// Patterns of the names that a transcript has once it is archived.
pub(crate) fn archives(path: &Path) -> Vec<Pattern> {
    let name = file_name(path);
    ARCHIVES
        .iter()
        .map(|how| Pattern(path.with_file_name(format!("{name}.{how}*"))))
        .collect()
}

/// The folders of an agent that contain its sessions: as files, and in a database.
const FOLDERS: [&str; 2] = ["sessions", "agent"];

/// The file of a session that is in the agent's database as well, since the gateway may write there
/// first.
pub(crate) fn lines_of(database: &Path, session: &str) -> Option<PathBuf> {
    let agent = database
        .parent()
        .filter(|folder| folder.file_name().is_some_and(|name| name == FOLDERS[1]))?;
    is_plain(session).then(|| {
        agent
            .with_file_name(FOLDERS[0])
            .join(format!("{session}.jsonl"))
    })
}

/// Whether a name from a session may be a part of a path.
fn is_plain(name: &str) -> bool {
    !name.contains("..")
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

/// The folder of all agents; `None` if the session is not in OpenClaw's usual layout. A path may
/// begin below that folder, where the folders above have no name.
pub(crate) fn agents(path: &Path) -> Option<PathBuf> {
    let sessions = folder_of(path);
    let has_name = |folder: &Path| folder.file_name().is_some();
    if has_name(&sessions)
        && !FOLDERS
            .iter()
            .any(|known| sessions.file_name().is_some_and(|name| name == *known))
    {
        return None;
    }
    let named = sessions
        .parent()
        .filter(|agent| has_name(&sessions) && has_name(agent))
        .and_then(Path::parent);
    Some(named.map_or_else(|| sessions.join("../.."), Path::to_owned))
}

/// The files of the session that a decoder requested as `<agent>/<id>`. Without an id it is that
/// agent's index.
pub(crate) fn of_child(path: &Path, wanted: &str) -> Vec<Pattern> {
    let Some((agent, id)) = wanted.split_once('/') else {
        return Vec::new();
    };
    if !is_plain(agent) || !is_plain(id) {
        return Vec::new();
    }
    let own = folder_of(path);
    let other = agents(path).map(|agents| agents.join(agent).join("sessions"));
    let folders = other
        .into_iter()
        .filter(|other| !agent.is_empty() && *other != own);
    let folders: Vec<PathBuf> = folders.chain([own.clone()]).collect();
    let names: Vec<String> = if id.is_empty() {
        vec![INDEX.to_owned()]
    } else {
        let archives = ARCHIVES.iter().map(|how| format!("{id}.jsonl.{how}*"));
        std::iter::once(format!("{id}.jsonl"))
            .chain(archives)
            .collect()
    };
    folders
        .iter()
        .flat_map(|folder| names.iter().map(|name| Pattern(folder.join(name))))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{agents, lines_of, named, of_child};

    #[test]
    fn children_are_found_however_the_path_is_written() {
        for (path, expected) in [
            (
                "/h/.openclaw/agents/main/sessions/a1.jsonl",
                "/h/.openclaw/agents",
            ),
            ("main/sessions/a1.jsonl", ""),
            ("sessions/a1.jsonl", "sessions/../.."),
            ("./sessions/a1.jsonl", "./sessions/../.."),
            ("a1.jsonl", "../.."),
            ("./a1.jsonl", "./../.."),
            ("../sessions/a1.jsonl", "../sessions/../.."),
            ("../a1.jsonl", "../../.."),
        ] {
            let path = Path::new(path);
            assert_eq!(
                agents(path).as_deref(),
                Some(Path::new(expected)),
                "{path:?}"
            );
            let all: Vec<_> = of_child(path, "other/c1")
                .into_iter()
                .map(|pattern| pattern.0)
                .collect();
            let child = Path::new(expected).join("other/sessions/c1.jsonl");
            assert!(all.contains(&child), "{path:?}: {all:?}");
            assert!(
                all.contains(&path.with_file_name("c1.jsonl")),
                "{path:?}: {all:?}"
            );
        }
        // In another layout the folders above have no meaning.
        assert_eq!(agents(Path::new("/x/saved/a1.jsonl")), None);
        assert!(of_child(Path::new("/h/agents/main/sessions/a1.jsonl"), "../etc/x").is_empty());
    }

    #[test]
    fn a_session_in_a_database_may_have_a_file_in_the_next_folder() {
        let database = Path::new("/h/agents/main/agent/openclaw-agent.sqlite");
        let file = lines_of(database, "a1");
        assert_eq!(
            file.as_deref(),
            Some(Path::new("/h/agents/main/sessions/a1.jsonl"))
        );
        assert_eq!(agents(database).as_deref(), Some(Path::new("/h/agents")));
        assert!(lines_of(database, "../../x").is_none());
        assert!(lines_of(Path::new("/copies/openclaw-agent.sqlite"), "a1").is_none());
    }

    #[test]
    fn archives_are_sessions_and_copies_are_none() {
        for (name, expected) in [
            ("a1.jsonl", Some(("a1", false))),
            ("a1-topic-7.jsonl", Some(("a1-topic-7", false))),
            (
                "a1.jsonl.reset.2026-06-27T03-21-20.768Z",
                Some(("a1", true)),
            ),
            ("a1.jsonl.deleted.1782530279.zst", Some(("a1", true))),
            ("a1.jsonl.bak.1", Some(("a1", true))),
            ("a1.jsonl.lock", None),
            ("a1.checkpoint.5f.jsonl", None),
            ("a1.trajectory.jsonl", None),
            ("a1.trajectory-path.json", None),
            ("sessions.json", None),
        ] {
            let path = Path::new("/s/agents/main/sessions").join(name);
            let recorded = named(&path);
            assert_eq!(
                recorded.map(|named| (named.id, named.is_archive)),
                expected,
                "{name}"
            );
            assert!(
                recorded.is_none_or(|named| named.agent == Some("main")),
                "{name}"
            );
        }
    }
}
