//! Walks through folders: which files a pattern names, which files lie below a folder, and their
//! metadata. Knows no agent.
//!
//! Invariant: opens no file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::expansion::{Closed, Expansion, WalkedFile};
use super::fs::{self, PathKind};
use super::pattern::{Listings, closed, expand_with};
use super::remote;

/// Files whose metadata a thread reads at a time.
const PORTION: usize = 256;

/// What lies below a folder.
#[derive(Debug, Default)]
pub(crate) struct FolderContents {
    pub(crate) files: Vec<PathBuf>,
    /// Folders that cannot be listed.
    pub(crate) closed: Vec<Closed>,
}

/// The file at a path.
pub(crate) fn file_at(path: PathBuf) -> WalkedFile {
    let metadata = fs::metadata(&path).ok();
    WalkedFile { path, metadata }
}

pub(crate) fn files_matching(pattern: &Path) -> Vec<WalkedFile> {
    files_matching_each(&[pattern.to_owned()], &Listings::default())
        .into_iter()
        .flat_map(|named| named.files)
        .collect()
}

/// The files that each of some patterns names. There may be tens of thousands, so two threads read
/// their metadata; another machine walks its folders itself.
pub(crate) fn files_matching_each(
    patterns: &[PathBuf],
    listings: &Listings,
) -> Vec<Expansion<WalkedFile>> {
    if let Some((host, _)) = patterns.first().and_then(|first| remote::split(first)) {
        let there: Vec<PathBuf> = patterns
            .iter()
            .filter_map(|pattern| remote::split(pattern))
            .filter(|(other, _)| Arc::ptr_eq(&host, other))
            .map(|(_, path)| path)
            .collect();
        return host.files_matching(&there).unwrap_or_default();
    }
    let named = on_two_threads(patterns, |pattern| expand_with(pattern, listings));
    let paths: Vec<&PathBuf> = named.iter().flat_map(|named| &named.files).collect();
    let portions: Vec<&[&PathBuf]> = paths.chunks(PORTION).collect();
    let metadata = on_two_threads(&portions, |portion| {
        portion
            .iter()
            .map(|path| fs::metadata(path).ok())
            .collect::<Vec<_>>()
    });
    let mut metadata = metadata.into_iter().flatten();
    let mut walked = |path| WalkedFile {
        path,
        metadata: metadata.next().flatten(),
    };
    named
        .into_iter()
        .map(|named| named.map(&mut walked))
        .collect()
}

/// Maps items on two threads; results keep the order of the items.
pub(crate) fn on_two_threads<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let run = || {
        let next = || {
            let at = next.fetch_add(1, Ordering::Relaxed);
            Some((at, work(items.get(at)?)))
        };
        std::iter::from_fn(next).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let other = (items.len() > 1).then(|| scope.spawn(run));
        let mut done = run();
        if let Some(other) = other {
            done.extend(
                other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            );
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The files up to `depth` folders below a folder. Links are not followed; hidden folders are
/// skipped unless `is_seen` names them. `enter` decides, given a folder and the names in it,
/// whether to descend.
pub(crate) fn files_below(
    folder: &Path,
    depth: usize,
    is_seen: &dyn Fn(&Path) -> bool,
    enter: &mut dyn FnMut(&Path, &[String]) -> bool,
) -> FolderContents {
    let mut found = FolderContents::default();
    walk((folder, depth), is_seen, enter, &mut found);
    found
}

fn walk(
    (folder, depth): (&Path, usize),
    is_seen: &dyn Fn(&Path) -> bool,
    enter: &mut dyn FnMut(&Path, &[String]) -> bool,
    found: &mut FolderContents,
) {
    let entries = match fs::entries(folder) {
        Ok(entries) => entries,
        Err(error) => return found.closed.extend(closed(folder, &error)),
    };
    let name = |(name, _): &(OsString, PathKind)| name.to_string_lossy().into_owned();
    let names: Vec<String> = entries.iter().map(name).collect();
    if !enter(folder, &names) {
        return;
    }
    for ((entry, kind), name) in entries.iter().zip(names) {
        let path = folder.join(entry);
        if *kind == PathKind::Folder && depth > 0 && (!name.starts_with('.') || is_seen(&path)) {
            walk((&path, depth - 1), is_seen, enter, found);
        } else if *kind == PathKind::File {
            found.files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Listings, files_below, files_matching, files_matching_each};

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "12345").unwrap();
        }
        folder
    }

    fn names(folder: &Path, paths: impl IntoIterator<Item = std::path::PathBuf>) -> Vec<String> {
        let name =
            |path: std::path::PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
        let mut names: Vec<String> = paths.into_iter().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn folders_are_entered_when_wanted() {
        let tree = tree(&["a", "b/c", "b/d/e", "b/d/f/g", ".hidden/h", "store/i"]);
        std::os::unix::fs::symlink(tree.path(), tree.path().join("b/loop")).unwrap();
        let mut asked = 0;
        let mut enter = |folder: &Path, names: &[String]| {
            asked += 1;
            !(folder.ends_with("store") && names == ["i"])
        };
        let found = files_below(tree.path(), 2, &|_| false, &mut enter).files;
        assert_eq!(names(tree.path(), found), ["a", "b/c", "b/d/e"]);
        assert_eq!(asked, 4);
        let found = files_below(
            tree.path(),
            2,
            &|folder| folder.ends_with(".hidden"),
            &mut |_, _| true,
        )
        .files;
        assert_eq!(
            names(tree.path(), found),
            [".hidden/h", "a", "b/c", "b/d/e", "store/i"]
        );
        assert!(
            files_below(&tree.path().join("missing"), 2, &|_| false, &mut |_, _| {
                true
            })
            .files
            .is_empty()
        );
    }

    #[test]
    fn patterns_name_files_with_their_metadata() {
        let tree = tree(&["p/one.jsonl", "q/two.jsonl", "q/three.txt"]);
        let found = files_matching(&tree.path().join("*/*.jsonl"));
        assert!(
            found
                .iter()
                .all(|file| file.metadata.is_some_and(|metadata| metadata.len == 5))
        );
        assert_eq!(
            names(tree.path(), found.into_iter().map(|file| file.path)),
            ["p/one.jsonl", "q/two.jsonl"]
        );
    }

    #[test]
    fn several_patterns_name_what_each_does() {
        let many: Vec<String> = (0..700).map(|n| format!("p/{n}.jsonl")).collect();
        let tree = tree(
            &many
                .iter()
                .map(String::as_str)
                .chain(["q/two.jsonl", "q/x.txt"])
                .collect::<Vec<_>>(),
        );
        let patterns = [
            "p/*.jsonl",
            "none/*",
            "q/*.txt",
            "*/two.jsonl",
            "*/*/deeper/*",
        ];
        let patterns = patterns.map(|pattern| tree.path().join(pattern));
        let each: Vec<_> = patterns
            .iter()
            .map(|pattern| files_matching(pattern))
            .collect();
        assert_eq!(
            each.iter().map(Vec::len).collect::<Vec<_>>(),
            [700, 0, 1, 1, 0]
        );
        let together = files_matching_each(&patterns, &Listings::default());
        assert_eq!(
            together
                .iter()
                .map(|named| &named.files)
                .collect::<Vec<_>>(),
            each.iter().collect::<Vec<_>>()
        );
        assert_eq!(together[3].directories, [tree.path()]);
    }
}
