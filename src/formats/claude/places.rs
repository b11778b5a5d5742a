//! Where Claude Code stores sessions: `<folder of the project>/<session>.jsonl`, sub-agents in a
//! folder below.

use std::path::{Path, PathBuf};

use crate::formats::definition::head::Head;
use crate::formats::roots::{FileRole, Pattern, SessionName, file_name};

/// The session id in a path. `None` for files of sub-agents, which are not sessions; up to 2.0 they
/// are stored beside the sessions. `None` too for the copy of its parent's transcript that a
/// background job keeps.
pub fn named(path: &Path) -> Option<SessionName<'_>> {
    let is_sub_agent =
        file_name(path).starts_with("agent-") || path.iter().any(|folder| folder == "subagents");
    let is_copy = path
        .file_name()
        .is_some_and(|name| name == "parent-transcript.jsonl");
    SessionName::stem(path).filter(|_| !is_sub_agent && !is_copy)
}

/// The session that a sub-agent's file belongs to.
fn owner(path: &Path) -> Option<PathBuf> {
    let folder = path
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "subagents"))?;
    let mut session = folder.parent()?.as_os_str().to_owned();
    session.push(".jsonl");
    Some(session.into())
}

/// The session with this id beside which a sub-agent's file is stored, as up to 2.0.
fn owner_of_id(path: &Path, id: &str) -> Option<PathBuf> {
    let is_old = file_name(path).starts_with("agent-") && owner(path).is_none();
    is_old
        .then(|| path.with_file_name(format!("{id}.jsonl")))
        .filter(|owner| owner.parent() == path.parent())
}

/// The folder of all projects, if the session is in the usual directory; else the session's folder.
fn projects_folder(path: &Path) -> PathBuf {
    let project = path.parent().unwrap_or(path);
    let projects = project
        .parent()
        .filter(|folder| folder.file_name().is_some_and(|name| name == "projects"));
    projects.unwrap_or(project).to_owned()
}

/// The folder with a file for each running process (since 2.1.139), beside that of the projects,
/// wherever that was moved.
pub(crate) fn processes(path: &Path) -> Option<PathBuf> {
    let projects = path
        .parent()?
        .parent()
        .filter(|folder| folder.ends_with("projects"));
    named(path)
        .and(projects)?
        .parent()
        .map(|home| home.join("sessions"))
}

/// The files with a role, as of all agents that write like Claude Code.
pub(super) fn files(head: &Head, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
    match role {
        FileRole::Home => vec![Pattern(projects_folder(path))],
        FileRole::Owner => Pattern::list(owner(path)),
        FileRole::OwnerById(id) => Pattern::list(owner_of_id(path, id)),
        FileRole::Requested(agent) => Pattern::list(of_agent(path, agent)),
        _ => head.files(path, role),
    }
}

/// Old versions, before `subagents/`, stored the transcripts of sub-agents next to those of their
/// sessions.
fn of_agent(path: &Path, agent: &str) -> Option<PathBuf> {
    let is_id = agent
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let folder = path.parent().filter(|_| is_id)?;
    Some(folder.join(format!("agent-{agent}.jsonl")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{named, owner, processes};

    #[test]
    fn processes_are_listed_beside_the_projects() {
        let of = |path: &str| processes(Path::new(path));
        assert_eq!(
            of("/moved/projects/-work/5d0c.jsonl"),
            Some("/moved/sessions".into())
        );
        assert_eq!(
            of("/moved/projects/-work/5d0c/subagents/agent-1.jsonl"),
            None
        );
        assert_eq!(of("/copies/5d0c.jsonl"), None);
    }

    #[test]
    fn sub_agents_lie_beneath_their_session() {
        let session = |path: &str| owner(Path::new(path));
        assert_eq!(
            session("/p/-w/5d0c.1/subagents/agent-1.jsonl"),
            Some("/p/-w/5d0c.1.jsonl".into())
        );
        assert_eq!(
            session("/p/-w/5d0c/subagents/workflows/w/x.jsonl"),
            Some("/p/-w/5d0c.jsonl".into())
        );
        assert_eq!(session("/p/-w/5d0c.jsonl"), None);
    }

    #[test]
    fn sub_agents_are_no_sessions() {
        let id = |path: &'static str| named(Path::new(path)).map(|named| named.id);
        assert_eq!(id("/p/-work/5d0c.jsonl"), Some("5d0c"));
        assert_eq!(id("/p/-work/5d0c/subagents/agent-1.jsonl"), None);
        assert_eq!(id("/p/-work/5d0c/subagents/workflows/w/x.jsonl"), None);
        assert_eq!(id("/p/-work/agent-1.jsonl"), None);
        assert_eq!(id("/h/.claude/jobs/4f/parent-transcript.jsonl"), None);
    }
}
