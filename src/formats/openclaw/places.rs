//! Where OpenClaw keeps sessions, what the names of their files tell, and what `sessions.json` says of
//! them. Files were put aside with a suffix; since July 2026 sessions are rows of a database.

use std::path::Path;

use crate::formats::json::Json;
use crate::formats::roots::{Beside, Holds, Listing, Named, Root, file_name};

const HOLDS: &[Holds] =
    &[Holds::Databases("agents/*/agent/openclaw-agent.sqlite"), Holds::Files("agents/*/sessions/*.jsonl*")];

/// Where OpenClaw, its profiles and its earlier names keep sessions.
pub const ROOTS: &[Root] = &[
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

/// `<id>.jsonl`, and behind that what became of it: `.reset.<time>`, `.deleted.<time>`, `.bak.<time>`.
pub fn named(path: &Path) -> Option<Named<'_>> {
    let name = file_name(path);
    let mut folders = path.iter().filter_map(|folder| folder.to_str());
    let agent = folders.find(|folder| *folder == "agents").and_then(|_| folders.next());
    let Some((id, rest)) = name.split_once(".jsonl") else {
        let is_other = name == "sessions.json" || name.ends_with(".trajectory-path.json");
        return Named::stem(path).filter(|_| !is_other).map(|named| Named { agent, ..named });
    };
    let is_archive = [".reset.", ".deleted.", ".bak."].iter().any(|mark| rest.starts_with(mark));
    let is_other = id.ends_with(".trajectory") || id.contains(".checkpoint.");
    if id.is_empty() || is_other || !(rest.is_empty() || is_archive) {
        return None;
    }
    Some(Named { id, agent, is_archive })
}

/// The lock of a run that is live, and the index of the folder.
pub fn beside(path: &Path) -> Beside {
    Beside {
        lock: Some(path.with_file_name(format!("{}.lock", file_name(path)))),
        index: Some(path.with_file_name("sessions.json")),
        ..Beside::default()
    }
}

/// The index is a map from session keys to what is known of their sessions.
pub fn listings(index: &Json<'_>) -> Vec<Listing> {
    let listing = |key: &str, session: &Json<'_>| {
        let file = session.get("sessionFile").filled().map(|file| file_name(Path::new(file)).to_owned());
        let names = [&["label"][..], &["displayName"], &["subject"], &["origin", "label"]];
        Some(Listing {
            id: session.get("sessionId").filled()?.to_owned(),
            file,
            key: key.to_owned(),
            title: names.iter().find_map(|name| session.at(name).text()),
            model: session.get("model").text(),
            parent: session.get("spawnedBy").filled().map(str::to_owned),
        })
    };
    index.members().iter().filter_map(|(key, session)| listing(key, session)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{listings, named};
    use crate::formats::json::parse;
    use crate::model::text::Text;

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
            let told = named(&path);
            assert_eq!(told.map(|named| (named.id, named.is_archive)), expected, "{name}");
            assert!(told.is_none_or(|named| named.agent == Some("main")), "{name}");
        }
    }

    #[test]
    fn the_index_names_sessions() {
        let index = parse(
            r#"{"agent:main:main":{"sessionId":"a1","origin":{"label":"Ann"},"sessionFile":"/x/a1-topic-7.jsonl"},
                "agent:main:subagent:x":{"sessionId":"a2","label":"scout","displayName":"d","spawnedBy":"agent:main:main"},
                "odd":7}"#,
        )
        .unwrap();
        let told = listings(&index);
        let titles: Vec<&str> = told.iter().filter_map(|l| l.title.as_ref()).map(Text::as_str).collect();
        assert_eq!((told.len(), titles), (2, vec!["Ann", "scout"]));
        assert_eq!(told[0].file.as_deref(), Some("a1-topic-7.jsonl"));
        assert_eq!(told[1].parent.as_deref(), Some("agent:main:main"));
    }
}
