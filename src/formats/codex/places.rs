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
/// Days after which a thread's files are searched in all folders at once.
const MOST_DAYS: i64 = 100;

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
/// id, or archived.
pub(crate) fn of_thread(path: &Path, thread: &str) -> Vec<Pattern> {
    if !is_thread(thread) {
        return Vec::new();
    }
    let mut folders: Vec<PathBuf> = path.parent().map(Path::to_owned).into_iter().collect();
    if let Some(home) = codex_home(path) {
        let days = time_of(thread).map(|began| days(&home, began, began));
        folders.extend(
            days.into_iter()
                .flatten()
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

/// The files of a thread from which the rollout at `path` may continue: the first one and its
/// continuations, each in the folder of its own date.
pub(crate) fn files_of_thread(path: &Path, thread: &str) -> Vec<Pattern> {
    if !is_thread(thread) {
        return Vec::new();
    }
    let name = format!("*{thread}*.jsonl*");
    let folders = match codex_home(path) {
        Some(home) => {
            // All days of some years are hundreds of folders, which would be listed again for each
            // session.
            let span = time_of(thread).zip(day_in_name(path));
            let is_near = |(began, day): &(Timestamp, Timestamp)| {
                (-DAY_MS..MOST_DAYS * DAY_MS).contains(&(day.0 - began.0))
            };
            let mut folders = match span.filter(is_near) {
                Some((began, day)) => days(&home, began, day),
                None => vec![home.join("sessions/*/*/*")],
            };
            folders.push(home.join(ARCHIVE).join("**"));
            folders
        }
        None => path.parent().map(Path::to_owned).into_iter().collect(),
    };
    folders
        .iter()
        .map(|folder| Pattern(folder.join(&name)))
        .collect()
}

/// The folders of the days from `first` to `last`. They are by local date in an unknown time zone,
/// so those of the adjacent days are included.
fn days(home: &Path, first: Timestamp, last: Timestamp) -> Vec<PathBuf> {
    let sessions = home.join("sessions");
    let folder = |at: Timestamp| Some(sessions.join(at.to_rfc3339().get(..10)?.replace('-', "/")));
    let days = std::iter::successors(Some(first.0 - DAY_MS), |at| Some(at + DAY_MS));
    days.take_while(|at| *at <= last.0 + DAY_MS)
        .filter_map(|at| folder(Timestamp(at)))
        .collect()
}

/// The date in the name of a rollout.
fn day_in_name(path: &Path) -> Option<Timestamp> {
    let day = file_name(path).strip_prefix("rollout-")?.get(..10)?;
    Timestamp::parse(&format!("{day}T23:59:59Z"))
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

    use super::{codex_home, files_of_thread, named, of_thread, time_of};

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

    #[test]
    fn a_base_is_searched_in_the_days_between_it_and_its_continuation() {
        let base = "019fa8f6-0000-7000-8000-00000000000c";
        let places = |path: &str| -> Vec<String> {
            let patterns = files_of_thread(Path::new(path), base);
            let folder =
                |pattern: &super::Pattern| pattern.0.parent().unwrap().display().to_string();
            patterns.iter().map(folder).collect()
        };
        let dated = places("/h/.codex/sessions/2026/07/29/rollout-2026-07-29T01-00-00-x.jsonl");
        for day in ["27", "28", "29", "30"] {
            assert!(
                dated.contains(&format!("/h/.codex/sessions/2026/07/{day}")),
                "{dated:?}"
            );
        }
        assert!(dated.contains(&"/h/.codex/archived_sessions/**".to_owned()));
        assert_eq!(dated.len(), 5, "{dated:?}");
        let any = ["/h/.codex/sessions/*/*/*", "/h/.codex/archived_sessions/**"];
        assert_eq!(places("/h/.codex/archived_sessions/saved.jsonl"), any);
        // The clock was set back, or the name is not the agent's.
        assert_eq!(
            places("/h/.codex/sessions/2025/01/01/rollout-2025-01-01T01-00-00-x.jsonl"),
            any
        );
    }
}
