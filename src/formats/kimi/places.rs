//! Paths of both generations: a folder per session within a folder per working directory.

use std::path::{Path, PathBuf};

use crate::formats::roots::{Pattern, SessionName, file_name, folder_name};

const WIRE: &str = "wire.jsonl";
const STATE: &str = "state.json";

/// The session that a file belongs to, named after its folder. The model's context and the state
/// are not sessions.
pub(crate) fn named(path: &Path) -> Option<SessionName<'_>> {
    let name = file_name(path);
    if name != WIRE {
        let is_beside = name == STATE || name.starts_with("context");
        return SessionName::stem(path).filter(|_| !is_beside);
    }
    let folder = match agent_of(path) {
        Some("main") => session_folder(path)?,
        Some(_) => return None,
        None if path.iter().any(|part| part == "subagents") => return None,
        None => path.parent()?,
    };
    Some(SessionName::id(file_name(folder))).filter(|named| !named.id.is_empty())
}

/// The agent that a wire of Kimi Code belongs to.
pub(crate) fn agent_of(path: &Path) -> Option<&str> {
    let is_agent = path
        .parent()?
        .parent()
        .is_some_and(|agents| file_name(agents) == "agents");
    is_agent.then(|| folder_name(path))
}

/// The folder of a session of Kimi Code.
pub(crate) fn session_folder(path: &Path) -> Option<&Path> {
    agent_of(path)?;
    path.ancestors().nth(3)
}

/// The state of a session, which has its title.
pub(crate) fn state(path: &Path) -> Option<PathBuf> {
    let folder = session_folder(path).or(path.parent());
    folder
        .filter(|_| file_name(path) == WIRE)
        .map(|folder| folder.join(STATE))
}

/// Files of a session of Kimi Code: the wires of sub-agents, the state and the files of its tasks.
pub(super) fn companions(path: &Path) -> Vec<Pattern> {
    let folder = session_folder(path).filter(|_| agent_of(path) == Some("main"));
    let files = [STATE, "agents/*/wire.jsonl", "tasks/*.json"];
    folder
        .into_iter()
        .flat_map(|folder| files.map(|file| Pattern(folder.join(file))))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::named;

    #[test]
    fn a_session_is_named_as_its_folder() {
        let id = |path: &'static str| named(Path::new(path)).map(|named| named.id);
        assert_eq!(id("/h/.kimi/sessions/0a1b/5d0c/wire.jsonl"), Some("5d0c"));
        assert_eq!(
            id("/h/.kimi/sessions/0a1b/5d0c/subagents/a1/wire.jsonl"),
            None
        );
        assert_eq!(id("/h/.kimi/sessions/0a1b/5d0c/context.jsonl"), None);
        assert_eq!(
            id("/h/.kimi-code/sessions/wd_x_1/session_2/state.json"),
            None
        );
        assert_eq!(
            id("/h/.kimi-code/sessions/wd_x_1/session_2/agents/main/wire.jsonl"),
            Some("session_2")
        );
        assert_eq!(
            id("/h/.kimi-code/sessions/wd_x_1/session_2/agents/agent-0/wire.jsonl"),
            None
        );
        assert_eq!(id("/elsewhere/saved.jsonl"), Some("saved"));
    }

    #[test]
    fn the_state_lies_in_the_folder_of_the_session() {
        let state =
            |path: &str| super::state(Path::new(path)).map(|path| path.display().to_string());
        assert_eq!(
            state("/k/s/a/b/wire.jsonl").as_deref(),
            Some("/k/s/a/b/state.json")
        );
        assert_eq!(
            state("/k/s/a/b/agents/main/wire.jsonl").as_deref(),
            Some("/k/s/a/b/state.json")
        );
        assert_eq!(state("/k/saved.jsonl"), None);
    }
}
