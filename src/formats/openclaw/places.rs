//! Where OpenClaw keeps sessions, and which files lie beside one. Files were put aside with a suffix;
//! since July 2026 sessions are rows of a database.

use std::path::{Path, PathBuf};

use super::name::{ARCHIVES, FileName, Kept};
use crate::formats::decoder::Pattern;
use crate::formats::roots::{Beside, Holds, Named, Root, file_name};

/// The index of an agent's sessions.
const INDEX: &str = "sessions.json";

const HOLDS: &[Holds] =
    &[Holds::Databases("agents/*/agent/openclaw-agent.sqlite"), Holds::Files("agents/*/sessions/*.jsonl*")];

/// Where OpenClaw, its profiles and its earlier names keep sessions.
pub(crate) const ROOTS: &[Root] = &[
    Root {
        variables: &[("OPENCLAW_STATE_DIR", ""), ("OPENCLAW_HOME", ".openclaw")],
        home: ".openclaw",
        holds: HOLDS,
    },
    Root { variables: &[], home: ".openclaw-*", holds: HOLDS },
    Root {
        variables: &[("CLAWDBOT_STATE_DIR", ""), ("CLAWDBOT_HOME", ".clawdbot")],
        home: ".clawdbot",
        holds: HOLDS,
    },
    Root {
        variables: &[("MOLTBOT_STATE_DIR", ""), ("MOLTBOT_HOME", ".moltbot")],
        home: ".moltbot",
        holds: HOLDS,
    },
];

/// A live transcript and its archives are sessions; copies and what lies beside sessions are none.
pub fn named(path: &Path) -> Option<Named<'_>> {
    let mut folders = path.iter().filter_map(|folder| folder.to_str());
    let agent = folders.find(|folder| *folder == "agents").and_then(|_| folders.next());
    if let Some(FileName { stem, kept, .. }) = FileName::of(path) {
        let is_archive = matches!(kept, Kept::Archived(..));
        return (kept != Kept::Checkpoint).then_some(Named { id: stem, agent, is_archive });
    }
    let name = file_name(path);
    let is_other = name.contains(".jsonl") || name == INDEX || name.ends_with(".trajectory-path.json");
    Named::stem(path).filter(|_| !is_other).map(|named| Named { agent, ..named })
}

/// The lock of a run that is live, and the index of the folder.
pub(crate) fn beside(path: &Path) -> Beside {
    let Some(name) = FileName::of(path) else { return Beside::default() };
    Beside {
        lock: (name.kept == Kept::Live).then(|| path.with_file_name(format!("{}.lock", name.live()))),
        index: Some(path.with_file_name(INDEX)),
        ..Beside::default()
    }
}

/// What a transcript may be called once its agent has put it aside.
pub(crate) fn archives(path: &Path) -> Vec<Pattern> {
    let name = file_name(path);
    ARCHIVES.iter().map(|how| Pattern(path.with_file_name(format!("{name}.{how}*")))).collect()
}

/// The folder of all agents, if the session lies where OpenClaw puts it.
pub(crate) fn home(path: &Path) -> PathBuf {
    let sessions = path.parent().unwrap_or(path);
    let is_usual = sessions.file_name().is_some_and(|name| name == "sessions");
    let agents = sessions.parent().and_then(Path::parent).filter(|_| is_usual);
    agents.unwrap_or(sessions).to_owned()
}

/// The files of the session that a decoder asked for as `<agent>/<id>`; without an id, that agent's index.
pub(crate) fn of_child(path: &Path, wanted: &str) -> Vec<Pattern> {
    let Some((agent, id)) = wanted.split_once('/') else { return Vec::new() };
    // They come from the session itself and become parts of a path.
    let is_plain = |name: &str| {
        !name.contains("..") && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let Some(home) = path.parent().filter(|_| is_plain(agent) && is_plain(id)) else { return Vec::new() };
    let agents = home.parent().filter(|_| home.file_name().is_some_and(|name| name == "sessions"));
    let other = agents.and_then(Path::parent).map(|agents| agents.join(agent).join("sessions"));
    let folders = other.into_iter().filter(|other| !agent.is_empty() && other != home);
    let folders: Vec<PathBuf> = folders.chain([home.to_owned()]).collect();
    let names: Vec<String> = if id.is_empty() {
        vec![INDEX.to_owned()]
    } else {
        let archives = ARCHIVES.iter().map(|how| format!("{id}.jsonl.{how}*"));
        std::iter::once(format!("{id}.jsonl")).chain(archives).collect()
    };
    folders.iter().flat_map(|folder| names.iter().map(|name| Pattern(folder.join(name)))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::named;

    #[test]
    fn archives_are_sessions_and_copies_are_none() {
        for (name, expected) in [
            ("a1.jsonl", Some(("a1", false))),
            ("a1-topic-7.jsonl", Some(("a1-topic-7", false))),
            ("a1.jsonl.reset.2026-06-27T03-21-20.768Z", Some(("a1", true))),
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
            assert_eq!(recorded.map(|named| (named.id, named.is_archive)), expected, "{name}");
            assert!(recorded.is_none_or(|named| named.agent == Some("main")), "{name}");
        }
    }
}
