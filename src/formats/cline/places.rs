//! Paths of Cline: a folder per session with the manifest and the messages of the lead and of its
//! sub-agents; and task folders of the older extension and its forks, in every editor.

use std::path::{Path, PathBuf};

use crate::formats::roots::{SessionName, file_name, folder_name};

pub(super) const SCREEN: &str = "ui_messages.json";
pub(super) const HISTORY: &str = "api_conversation_history.json";

/// The session that a file belongs to. A lead's file is named after its folder; the files of a task
/// are in a folder named after the task.
pub fn named(path: &Path) -> Option<SessionName<'_>> {
    let (name, folder) = (file_name(path), folder_name(path));
    if [SCREEN, HISTORY].contains(&name) {
        return Some(SessionName::id(folder)).filter(|_| !folder.is_empty());
    }
    if let Some(id) = name.strip_suffix(".messages.json") {
        return Some(SessionName::id(id)).filter(|_| id == folder || !is_session_id(folder));
    }
    let is_manifest = name
        .strip_suffix(".json")
        .is_some_and(|id| id == folder || is_session_id(id));
    SessionName::stem(path).filter(|_| !is_manifest && !name.ends_with(".compaction.json"))
}

/// Whether this is a session id: milliseconds, an underscore and a few letters.
fn is_session_id(word: &str) -> bool {
    word.split_once('_')
        .is_some_and(|(ms, _)| ms.len() > 10 && ms.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The manifest of a session.
pub(crate) fn manifest(path: &Path) -> Option<PathBuf> {
    let id = file_name(path).strip_suffix(".messages.json")?;
    Some(path.with_file_name(format!("{id}.json")))
}

/// For a task's API history the panel's messages, as they contain more.
pub(crate) fn instead(path: &Path) -> Option<PathBuf> {
    (file_name(path) == HISTORY).then(|| path.with_file_name(SCREEN))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::named;

    #[test]
    fn the_lead_names_the_session() {
        let id = |path: &'static str| named(Path::new(path)).map(|named| named.id);
        let lead = "/s/1784094124598_rruoq/1784094124598_rruoq.messages.json";
        assert_eq!(id(lead), Some("1784094124598_rruoq"));
        assert_eq!(id("/s/1784094124598_rruoq/scout.messages.json"), None);
        assert_eq!(id("/s/1784094124598_rruoq/1784094124598_rruoq.json"), None);
        assert_eq!(
            id("/s/1784094124598_rruoq/1784094124598_rruoq.compaction.json"),
            None
        );
        assert_eq!(id("/elsewhere/copy.messages.json"), Some("copy"));
        assert_eq!(
            id("/tasks/1740000000000/ui_messages.json"),
            Some("1740000000000")
        );
    }
}
