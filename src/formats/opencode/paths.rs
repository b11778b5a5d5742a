//! Finds the sessions of OpenCode, and the files of a session in a storage folder.
//!
//! Invariant: ids come from files, so only plain ones become parts of paths.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::formats::roots::{Pattern, SessionName, file_name};

/// The session that a file belongs to. Messages and parts are not sessions.
pub(super) fn named(path: &Path) -> Option<SessionName<'_>> {
    let is_inner = ["msg_", "prt_"]
        .iter()
        .any(|prefix| file_name(path).starts_with(prefix));
    SessionName::stem(path).filter(|_| !is_inner)
}

/// Patterns of the session files below `path`.
pub(super) fn sessions(path: &Path) -> Vec<Pattern> {
    roots(path)
        .into_iter()
        .map(|root| Pattern(root.join("session/*/ses_*.json")))
        .collect()
}

/// The files of a session to read first: its own, its messages, its plan and its changes.
pub(super) fn files(path: &Path, session: &str) -> Vec<Pattern> {
    if !is_plain(session) {
        return Vec::new();
    }
    // Before 0.6 messages were stored below `session` as well.
    let places = [
        format!("session/*/{session}.json"),
        format!("message/{session}/*.json"),
        format!("session/message/{session}/*.json"),
        format!("todo/{session}.json"),
        format!("session_diff/{session}.json"),
    ];
    beneath(path, &places)
}

/// Further files that the decoder requested: `part/<message>` or `session/<session>`.
pub(super) fn requested_files(path: &Path, wanted: &str) -> Vec<Pattern> {
    match wanted.split_once('/') {
        Some(("part", id)) if is_plain(id) => beneath(
            path,
            &[
                format!("part/{id}/*.json"),
                format!("session/part/*/{id}/*.json"),
            ],
        ),
        Some(("session", id)) => files(path, id),
        _ => Vec::new(),
    }
}

/// The outermost folder that may contain files of the session.
pub(super) fn home(path: &Path) -> PathBuf {
    roots(path)
        .into_iter()
        .next()
        .unwrap_or_else(|| path.to_owned())
}

fn beneath(path: &Path, places: &[String]) -> Vec<Pattern> {
    let roots = roots(path);
    roots
        .iter()
        .flat_map(|root| places.iter().map(|place| Pattern(root.join(place))))
        .collect()
}

/// The storage folders that `path` may refer to: itself, one inside it, or one around it.
fn roots(path: &Path) -> Vec<PathBuf> {
    let rooms = ["session", "message", "part"].map(OsStr::new);
    let around = path
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| rooms.contains(&name)));
    if let Some(root) = around.and_then(Path::parent) {
        // The oldest versions had the three folders inside `session`.
        let is_oldest = root.file_name() == Some(OsStr::new("session"));
        return vec![
            if is_oldest {
                root.parent().unwrap_or(root)
            } else {
                root
            }
            .to_owned(),
        ];
    }
    if path.file_name() == Some(OsStr::new("storage")) {
        return vec![path.to_owned()];
    }
    vec![path.to_owned(), path.join("storage")]
}

fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{files, requested_files, sessions};

    fn first(patterns: Vec<crate::formats::roots::Pattern>) -> PathBuf {
        patterns
            .into_iter()
            .next()
            .map(|pattern| pattern.0)
            .unwrap_or_default()
    }

    #[test]
    fn the_root_is_found_from_every_place() {
        let expected = Path::new("/d/storage/session/*/ses_*.json");
        for path in [
            "/d/storage",
            "/d/storage/session/p/ses_1.json",
            "/d/storage/part/msg_1/prt_1.json",
        ] {
            assert_eq!(first(sessions(Path::new(path))), expected, "{path}");
        }
        assert!(
            sessions(Path::new("/d"))
                .iter()
                .any(|pattern| pattern.0 == expected)
        );
        let oldest = first(sessions(Path::new("/d/storage/session/info/ses_1.json")));
        assert_eq!(oldest, expected);
        assert_eq!(
            first(sessions(Path::new(
                "/d/storage/session/message/ses_1/msg_1.json"
            ))),
            expected
        );
    }

    #[test]
    fn ids_cannot_leave_the_folder() {
        assert!(files(Path::new("/d/storage"), "../../etc").is_empty());
        assert!(requested_files(Path::new("/d/storage"), "part/*").is_empty());
        let part = first(requested_files(Path::new("/d/storage"), "part/msg_1"));
        assert_eq!(part, Path::new("/d/storage/part/msg_1/*.json"));
    }
}
