//! Where Codex stores sessions: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, by local date;
//! archived ones in `archived_sessions`; after a week without changes they may be compressed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::formats::roots::{Pattern, SessionName, file_name};
use crate::model::timestamp::Timestamp;

/// The titles of all threads, one line each.
pub(crate) const INDEX: &str = "session_index.jsonl";
const ARCHIVE: &str = "archived_sessions";
/// Length of a thread's id in characters.
const ID: usize = 36;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The thread of a rollout; `None` for the prompt history and the index of titles.
pub(crate) fn named(path: &Path) -> Option<SessionName<'_>> {
    let name = file_name(path);
    if name == INDEX || name == "history.jsonl" {
        return None;
    }
    thread_of(path)
        .map(SessionName::id)
        .or_else(|| SessionName::stem(path))
}

/// The thread that a file is named after: `…-<thread>.jsonl`, or `…-<thread>_<segment>.jsonl` for a
/// continuation after a turn was undone or the history was shortened.
pub(crate) fn thread_of(path: &Path) -> Option<&str> {
    let stem = file_name(path).split('.').next()?;
    let before = stem.rsplit_once('_').map(|(before, _)| before);
    before.and_then(at_end).or_else(|| at_end(stem))
}

fn at_end(stem: &str) -> Option<&str> {
    stem.get(stem.len().checked_sub(ID)?..)
        .filter(|word| is_thread(word))
}

/// Whether a word has the form of a thread's id, and so cannot contain a glob pattern.
pub(crate) fn is_thread(word: &str) -> bool {
    let is_digit = |(at, byte): (usize, u8)| {
        if matches!(at, 8 | 13 | 18 | 23) {
            byte == b'-'
        } else {
            byte.is_ascii_hexdigit()
        }
    };
    word.len() == ID && word.bytes().enumerate().all(is_digit)
}

/// The index of titles, which belongs to each rollout.
pub(crate) fn index(path: &Path) -> Option<PathBuf> {
    codex_home(path).map(|home| home.join(INDEX))
}

/// Number of folders from Codex's home to that of a day: `sessions/YYYY/MM/DD`.
const DATED: usize = 4;

/// Codex's home, which contains all files of a thread and of its sub-agents, if the rollout is in
/// the usual directory. A relative path may begin anywhere below
/// it; the names of the folders above its beginning are then unknown.
pub(crate) fn codex_home(path: &Path) -> Option<PathBuf> {
    let named = path
        .ancestors()
        .skip(1)
        .find(|folder| ["sessions", ARCHIVE].contains(&file_name(folder)));
    if let Some(sessions) = named {
        return Some(above(sessions, 1));
    }
    let day = path.parent()?;
    let is_number = |folder: &OsStr| {
        folder
            .to_str()
            .is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_dated = day.is_relative()
        && day
            .iter()
            .all(|folder| folder == "." || folder == ".." || is_number(folder));
    is_dated.then(|| above(day, DATED))
}

/// The folder this many levels above another one.
fn above(folder: &Path, steps: usize) -> PathBuf {
    let mut folder = folder.to_owned();
    for _ in 0..steps {
        if folder.file_name().is_none() || !folder.pop() {
            folder.push("..");
        }
    }
    folder
}

/// The path of a rollout once it is archived.
pub(crate) fn archive(path: &Path) -> Option<PathBuf> {
    codex_home(path).map(|home| home.join(ARCHIVE).join(file_name(path)))
}

/// Where the rollout of a sub-agent may be: beside its parent's, in the folder of the date in its
/// id, or archived. Folders are by local date in an unknown time zone, so those of the adjacent
/// days are included.
pub(crate) fn of_thread(path: &Path, thread: &str) -> Vec<Pattern> {
    if !is_thread(thread) {
        return Vec::new();
    }
    let mut folders: Vec<PathBuf> = path.parent().map(Path::to_owned).into_iter().collect();
    if let Some(home) = codex_home(path) {
        let began = time_of(thread).map(|at| at.0);
        let days = began
            .into_iter()
            .flat_map(|at| [at - DAY_MS, at, at + DAY_MS]);
        let day = |at| {
            home.join("sessions").join(
                Timestamp(at)
                    .to_rfc3339()
                    .get(..10)
                    .unwrap_or("")
                    .replace('-', "/"),
            )
        };
        folders.extend(
            days.map(day)
                .filter(|folder| Some(folder.as_path()) != path.parent()),
        );
        folders.push(home.join(ARCHIVE));
    }
    let names = [format!("*{thread}.jsonl"), format!("*{thread}.jsonl.zst")];
    folders
        .iter()
        .flat_map(|folder| names.iter().map(|name| Pattern(folder.join(name))))
        .collect()
}

/// All files of a thread: the first one and its continuations, each in the folder of its own date.
pub(crate) fn files_of_thread(path: &Path, thread: &str) -> Vec<Pattern> {
    if !is_thread(thread) {
        return Vec::new();
    }
    let name = format!("*{thread}*.jsonl*");
    let folders = match codex_home(path) {
        Some(home) => vec![home.join("sessions/*/*/*"), home.join(ARCHIVE).join("**")],
        None => path.parent().map(Path::to_owned).into_iter().collect(),
    };
    folders
        .iter()
        .map(|folder| Pattern(folder.join(&name)))
        .collect()
}

/// The creation time in an id: those of version 7 begin with milliseconds.
pub(crate) fn time_of(id: &str) -> Option<Timestamp> {
    if id.as_bytes().get(14) != Some(&b'7') {
        return None;
    }
    let digits = format!("{}{}", id.get(..8)?, id.get(9..13)?);
    i64::from_str_radix(&digits, 16).ok().map(Timestamp)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{codex_home, named, of_thread, time_of};

    #[test]
    fn the_thread_is_the_first_id_of_a_name() {
        let id = |path: &'static str| named(Path::new(path)).map(|named| named.id);
        let thread = Some("01a0f000-0000-7000-8000-00000000000a");
        for name in [
            "/s/rollout-2026-10-01T09-00-00-01a0f000-0000-7000-8000-00000000000a.jsonl",
            "/s/rollout-2026-10-01T09-00-00-01a0f000-0000-7000-8000-00000000000a.jsonl.zst",
            "/s/rollout-2026-10-01T09-05-00-01a0f000-0000-7000-8000-00000000000a_01a0f111-0000-7000-8000-00000000000b.jsonl",
            "/s/rollout-2026-10-01T09-05-00-01a0f000-0000-7000-8000-00000000000a_2.jsonl",
        ] {
            assert_eq!(id(name), thread);
        }
        assert_eq!(id("/x/saved.jsonl"), Some("saved"));
        assert_eq!(id("/home/.codex/history.jsonl"), None);
        assert_eq!(id("/home/.codex/session_index.jsonl"), None);
    }

    #[test]
    fn the_folder_is_found_however_the_path_is_written() {
        for (path, expected) in [
            ("/h/.codex/sessions/2026/07/28/rollout-x.jsonl", "/h/.codex"),
            (
                "/backup/codex/archived_sessions/rollout-x.jsonl",
                "/backup/codex",
            ),
            ("sessions/2026/07/28/rollout-x.jsonl", ""),
            ("2026/07/28/rollout-x.jsonl", ".."),
            ("28/rollout-x.jsonl", "../../.."),
            ("rollout-x.jsonl", "../../../.."),
            ("./rollout-x.jsonl", "./../../../.."),
            ("../27/rollout-x.jsonl", "../../../.."),
        ] {
            let home = codex_home(Path::new(path));
            assert_eq!(home.as_deref(), Some(Path::new(expected)), "{path}");
        }
        assert_eq!(codex_home(Path::new("/x/saved/rollout-x.jsonl")), None);
        assert_eq!(codex_home(Path::new("saved/rollout-x.jsonl")), None);
    }

    #[test]
    fn an_id_tells_the_day_of_its_folder() {
        let child = "019fa8f6-0000-7000-8000-00000000000c";
        assert!(
            time_of(child)
                .unwrap()
                .to_rfc3339()
                .starts_with("2026-07-28")
        );
        assert_eq!(time_of("38b123ff-933b-4dfe-bd12-d42671fcb25f"), None);
        let parent = Path::new("/h/.codex/sessions/2026/07/28/rollout-x.jsonl");
        let all: Vec<String> = of_thread(parent, child)
            .iter()
            .map(|pattern| pattern.0.display().to_string())
            .collect();
        assert!(
            all.contains(&format!("/h/.codex/sessions/2026/07/28/*{child}.jsonl")),
            "{all:?}"
        );
        assert!(
            all.contains(&format!("/h/.codex/sessions/2026/07/29/*{child}.jsonl")),
            "{all:?}"
        );
        assert!(
            all.contains(&format!("/h/.codex/archived_sessions/*{child}.jsonl.zst")),
            "{all:?}"
        );
        assert!(of_thread(parent, "../../etc/passwd").is_empty());
    }
}
