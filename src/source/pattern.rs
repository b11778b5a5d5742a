//! Paths with wildcards: which files they name, and which directories must be watched for more.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::expansion::{Closed, ClosedReason, Expansion};
use super::fs::{self, PathKind};
use super::remote::{self, is_far};

/// `**` descends no deeper and follows no links, so that no loop can hold it.
const DEEPEST: usize = 16;

/// A cache of folder listings shared by threads: many patterns lead through the same folders.
#[derive(Debug, Default)]
pub(crate) struct Listings(Mutex<HashMap<PathBuf, Arc<OnceLock<FolderListing>>>>);

/// The entries of a folder in order, each with its own file type.
type FolderListing = io::Result<Vec<(OsString, PathKind)>>;

impl Listings {
    fn with_listing<R>(&self, folder: &Path, read: impl FnOnce(&FolderListing) -> R) -> R {
        let listing = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match known.get(folder) {
                Some(listing) => Arc::clone(listing),
                None => Arc::clone(known.entry(folder.to_owned()).or_default()),
            }
        };
        read(listing.get_or_init(|| list(folder)))
    }

    /// Whether a folder may exist: not if the listing of its parent lacks it or has a file of its
    /// name.
    pub(crate) fn may_have(&self, folder: &Path) -> bool {
        let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else {
            return true;
        };
        self.with_listing(above, |listing| {
            let Ok(entries) = listing else { return true };
            let found = entries.binary_search_by(|(entry, _)| by_number(entry, name));
            found.is_ok_and(|at| {
                entries
                    .get(at)
                    .is_some_and(|(_, kind)| *kind != PathKind::File)
            })
        })
    }
}

/// Finds the files that a pattern names.
pub fn expand(pattern: &Path) -> Expansion {
    expand_with(pattern, &Listings::default())
}

/// As [`expand`], with a cache of listings.
pub(crate) fn expand_with(pattern: &Path, listings: &Listings) -> Expansion {
    if let Some((host, there)) = remote::split(pattern) {
        // It walks its folders itself: each step from here would wait for an answer.
        let named = host.files_matching(&[there]).ok();
        let named = named.and_then(|mut named| named.pop());
        return named.unwrap_or_default().map(|file| file.path);
    }
    let mut found = Expansion::default();
    if is_literal(pattern) {
        found
            .directories
            .extend(pattern.parent().map(Path::to_owned));
        add_file(pattern.to_owned(), true, &mut found);
        return found;
    }
    let components: Vec<Component<'_>> = pattern.components().collect();
    walk(PathBuf::new(), &components, DEEPEST, (listings, &mut found));
    // The results of one directory after the other are in order, unless some directories are listed
    // twice.
    if components
        .iter()
        .any(|component| component.as_os_str() == "**")
    {
        found.files.sort();
        found.files.dedup();
    }
    found
}

/// The absolute path: a relative one does not tell in which folder it lies.
pub(crate) fn from_root(path: &Path) -> PathBuf {
    if path == Path::new("-") || is_far(path) {
        path.to_owned()
    } else {
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    }
}

/// Turns a path or pattern that was found by an [absolute](from_root) path back into the way in
/// which `named` was written, so that each file has one name.
pub(crate) fn named_like(path: PathBuf, named: &Path) -> PathBuf {
    if named.is_absolute() || is_far(named) {
        return path;
    }
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).map(Path::to_owned).ok());
    // A path may begin with a dot, which names the same folder.
    let dot = named
        .strip_prefix(".")
        .is_ok_and(|_| named.as_os_str().as_bytes().starts_with(b"./"));
    below.map_or(path, |below| {
        if dot {
            Path::new(".").join(below)
        } else {
            below
        }
    })
}

/// Whether a pattern names this path.
pub(crate) fn matches(pattern: &Path, path: &Path) -> bool {
    let pattern: Vec<&OsStr> = pattern.iter().collect();
    let path: Vec<&OsStr> = path.iter().collect();
    matches_from(&pattern, &path)
}

fn matches_from(pattern: &[&OsStr], path: &[&OsStr]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if *first == "**" => (0..=path.len()).any(|skipped| {
            path.get(skipped..)
                .is_some_and(|path| matches_from(rest, path))
        }),
        (Some((first, rest)), Some((name, names))) => {
            matches_name(first.as_bytes(), name.as_bytes()) && matches_from(rest, names)
        }
        _ => false,
    }
}

fn is_literal(pattern: &Path) -> bool {
    !pattern.as_os_str().as_bytes().contains(&b'*')
}

fn walk(
    base: PathBuf,
    components: &[Component<'_>],
    depth: usize,
    (listings, found): (&Listings, &mut Expansion),
) {
    let Some((first, rest)) = components.split_first() else {
        return;
    };
    let name = first.as_os_str();
    if !name.as_bytes().contains(&b'*') {
        let path = base.join(name);
        if rest.is_empty() {
            add_file(path, true, found);
        } else {
            walk(path, rest, depth, (listings, found));
        }
        return;
    }
    let is_deep = name == "**";
    if is_deep {
        walk(base.clone(), rest, depth, (listings, found));
    }
    listings.with_listing(&base, |listing| {
        let entries = match listing {
            Ok(entries) => entries.as_slice(),
            Err(error) => {
                found.closed.extend(closed(&base, error));
                &[]
            }
        };
        for (file, kind) in entries {
            let matching = matches_name(name.as_bytes(), file.as_bytes());
            if is_deep && *kind == PathKind::Folder && depth > 0 {
                walk(base.join(file), components, depth - 1, (listings, found));
            } else if matching && !is_deep && !rest.is_empty() {
                // A file has no entries; trying to list it would only cost a lookup.
                if *kind != PathKind::File {
                    walk(base.join(file), rest, depth, (listings, found));
                }
            } else if matching && rest.is_empty() && *kind == PathKind::File {
                found.files.push(base.join(file));
            } else if matching && rest.is_empty() && !is_deep {
                // Resolving a link costs another lookup; folders of thousands of files have hardly
                // any.
                add_file(base.join(file), name.as_bytes().contains(&b'.'), found);
            }
        }
    });
    found.directories.push(base);
}

/// Adds an entry whose name matches. A folder or the like is reported only if its name has a file's
/// ending.
fn add_file(path: PathBuf, has_ending: bool, found: &mut Expansion) {
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => found.files.push(path),
        Ok(metadata) if has_ending => found.closed.push(Closed {
            path,
            why: ClosedReason::Kind(metadata.kind),
            is_file: true,
        }),
        Ok(_) => {}
        Err(error) => {
            let closed = closed(&path, &error);
            found.closed.extend(closed.map(|closed| Closed {
                is_file: closed.path == path,
                ..closed
            }));
        }
    }
}

fn list(directory: &Path) -> FolderListing {
    let mut entries = fs::entries(directory)?;
    entries.sort_unstable_by(|(a, _), (b, _)| by_number(a, b));
    Ok(entries)
}

/// Order of the entries of a directory: numbers by value.
fn by_number(a: &OsStr, b: &OsStr) -> Ordering {
    number_of(a).cmp(&number_of(b)).then_with(|| a.cmp(b))
}

/// Why a path cannot be opened; `None` if nothing exists there.
pub(crate) fn closed(path: &Path, error: &io::Error) -> Option<Closed> {
    let (mut at, mut number) = (path, error.raw_os_error()?);
    while let Some(above) = at.parent().filter(|above| !above.as_os_str().is_empty())
        && let Err(error) = fs::metadata(above)
    {
        (at, number) = (above, error.raw_os_error()?);
    }
    let kind = io::Error::from_raw_os_error(number).kind();
    let at = match fs::symlink_metadata(at) {
        Ok(metadata) if metadata.kind == PathKind::Link => at,
        // Where not even metadata can be read, the folder above is what denies it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => at.parent()?,
        _ if matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return None,
        _ => at,
    };
    Some(Closed {
        path: at.to_owned(),
        why: ClosedReason::System(number),
        is_file: false,
    })
}

/// The number of digits of a name that is a number before its ending: 10 comes after 9.
fn number_of(name: &OsStr) -> usize {
    let stem = name
        .as_bytes()
        .split(|byte| *byte == b'.')
        .next()
        .unwrap_or_default();
    if stem.iter().all(u8::is_ascii_digit) {
        stem.len()
    } else {
        0
    }
}

/// `*` matches any bytes of a name; a leading dot must be written out.
fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    if pattern.first() == Some(&b'*') && name.first() == Some(&b'.') && pattern != b"**" {
        return false;
    }
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(byte) if Some(byte) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((star_p, star_n)) = star else {
                    return false;
                };
                star = Some((star_p, star_n + 1));
                p = star_p + 1;
                n = star_n + 1;
            }
        }
    }
    pattern
        .get(p..)
        .is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

#[cfg(test)]
mod tests {
    use crate::source::fs::PathKind;
    use std::fs;
    use std::path::Path;

    use super::{ClosedReason, expand, matches};

    #[test]
    fn wildcards_name_files_in_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "a/agent-2.jsonl",
            "a/agent-1.jsonl",
            "a/other.jsonl",
            "a/b/c/agent-3.jsonl",
            "agent-0.jsonl",
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/loop")).unwrap();
        let names = |pattern: &str| -> Vec<String> {
            let found = expand(&dir.path().join(pattern)).files;
            found
                .iter()
                .map(|path| path.strip_prefix(dir.path()).unwrap().display().to_string())
                .collect()
        };
        assert_eq!(
            names("a/agent-*.jsonl"),
            ["a/agent-1.jsonl", "a/agent-2.jsonl"]
        );
        assert_eq!(names("*/other.jsonl"), ["a/other.jsonl"]);
        assert_eq!(
            names("**/agent-*.jsonl"),
            [
                "a/agent-1.jsonl",
                "a/agent-2.jsonl",
                "a/b/c/agent-3.jsonl",
                "agent-0.jsonl"
            ]
        );
        assert_eq!(names("a/other.jsonl"), ["a/other.jsonl"]);
        assert_eq!(names("missing/*.json"), [""; 0]);
        assert_eq!(
            expand(&dir.path().join("missing/*.json")).directories,
            [dir.path().join("missing")]
        );
    }

    #[test]
    fn what_is_closed_is_told_from_what_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        // Links that lead back to themselves or nowhere are closed to everybody, even to root.
        for (to, from) in [
            ("knot", "knot"),
            ("two", "one"),
            ("one", "two"),
            ("/there/is/nothing", "in/gone.jsonl"),
        ] {
            fs::create_dir_all(path("in/folder.jsonl")).unwrap();
            std::os::unix::fs::symlink(to, path(from)).unwrap();
        }
        fs::write(path("file"), "").unwrap();
        let looped = ClosedReason::System(rustix::io::Errno::LOOP.raw_os_error());
        let missing = ClosedReason::System(rustix::io::Errno::NOENT.raw_os_error());
        let on_the_way = [
            ("knot", looped, false),
            ("one", looped, false),
            ("two", looped, false),
        ];
        let in_place = [
            (
                "in/folder.jsonl",
                ClosedReason::Kind(PathKind::Folder),
                true,
            ),
            ("in/gone.jsonl", missing, true),
        ];
        for (pattern, expected) in [
            ("*/a.jsonl", &on_the_way[..]),
            ("*/deep/**/a*.jsonl", &on_the_way),
            ("knot/a.jsonl", &on_the_way[..1]),
            ("knot/b/*/a.jsonl", &on_the_way[..1]),
            ("knot", &[("knot", looped, true)]),
            ("in/*.jsonl", &in_place),
            ("in/gone.jsonl", &in_place[1..]),
            ("in/gone.jsonl/b/*", &[("in/gone.jsonl", missing, false)]),
            ("in/*", &[("in/gone.jsonl", missing, true)]),
            ("file/*.jsonl", &[]),
            ("missing/*.jsonl", &[]),
            ("missing/a.jsonl", &[]),
        ] {
            let closed = expand(&path(pattern)).closed;
            let mut names: Vec<_> = closed
                .iter()
                .map(|closed| {
                    let name = closed
                        .path
                        .strip_prefix(dir.path())
                        .unwrap()
                        .to_str()
                        .unwrap();
                    (name, closed.why, closed.is_file)
                })
                .collect();
            names.dedup();
            assert_eq!(names, expected, "{pattern}");
        }
    }

    #[test]
    fn paths_match_patterns() {
        for (pattern, path, expected) in [
            ("/x/**/agent-*.jsonl", "/x/agent-1.jsonl", true),
            ("/x/**/agent-*.jsonl", "/x/y/z/agent-1.jsonl", true),
            ("/x/*/a*b*c", "/x/y/aXbbYcc", true),
            ("/x/*/a*b*c", "/x/y/aXbbYcd", false),
            ("/x/*", "/x/y/z", false),
            ("/x/*", "/x/.hidden", false),
        ] {
            assert_eq!(
                matches(Path::new(pattern), Path::new(path)),
                expected,
                "{pattern} {path}"
            );
        }
    }
}
