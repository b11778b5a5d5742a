//! Many files that belong together, named by patterns: which are new, which are gone, which may
//! have changed.
//!
//! Tens of thousands of files are common, so a poll without changes must be cheap: it checks recent
//! files and directories each time, the other files a slice at a time, and at once what an event
//! names.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::fs;
use super::pattern::expand;
use super::watch::Hints;

/// Recently changed files, checked at each poll.
const RECENT: usize = 128;
/// Other files that a poll checks.
const SLICE: usize = 256;

/// The changes since the last poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// New files, in order.
    pub(crate) new: Vec<Arc<Path>>,
    /// Files that are gone.
    pub(crate) removed: Vec<Arc<Path>>,
    /// Files that may have changed.
    pub(crate) due: Vec<Arc<Path>>,
}

/// The files that some patterns name.
#[derive(Debug, Default)]
pub(crate) struct PatternFiles {
    patterns: Vec<Arc<Path>>,
    known_patterns: HashSet<Arc<Path>>,
    directories: HashMap<Arc<Path>, Directory>,
    directory_rota: Rota<Arc<Path>>,
    files: HashSet<Arc<Path>>,
    files_of: Vec<Vec<Arc<Path>>>,
    file_rota: Rota<Arc<Path>>,
}

#[derive(Debug)]
struct Directory {
    modified: Option<(i64, i64)>,
    /// Checked twice in the same state: two changes may share one time stamp.
    is_settled: bool,
    patterns: Vec<usize>,
}

impl PatternFiles {
    /// Adds a pattern. Returns the files that no other pattern named before.
    pub(crate) fn add(&mut self, pattern: &Path) -> Vec<Arc<Path>> {
        if self.known_patterns.contains(pattern) {
            return Vec::new();
        }
        let pattern: Arc<Path> = pattern.into();
        self.known_patterns.insert(Arc::clone(&pattern));
        self.patterns.push(pattern);
        self.files_of.push(Vec::new());
        self.reexpand(self.patterns.len() - 1).0
    }

    /// Forgets all files, so that the next poll reports them as new, in order.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }

    /// Directories to watch, the most recently changed ones first.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
        self.directory_rota.recent.iter().rev().map(|path| &**path)
    }

    pub(crate) fn poll(&mut self, hints: &Hints) -> Census {
        let mut census = Census::default();
        let mut stale = Vec::new();
        for path in self.directory_rota.next(hints.everything) {
            self.check_directory(&path, &mut stale);
        }
        for path in hints.paths() {
            if let Some(parent) = path.parent() {
                self.check_directory(parent, &mut stale);
            }
            self.check_directory(path, &mut stale);
            self.touch(path);
        }
        stale.sort_unstable();
        stale.dedup();
        for pattern in stale {
            let (new, gone) = self.reexpand(pattern);
            census.new.extend(new);
            census.removed.extend(gone);
        }
        census.due = self.file_rota.next(hints.everything);
        census
            .due
            .retain(|path| self.files.contains(path) && !census.new.contains(path));
        census
    }

    /// Marks a file as recently changed.
    pub(crate) fn touch(&mut self, path: &Path) {
        if let Some(path) = self.files.get(path) {
            self.file_rota.touch(Arc::clone(path));
        }
    }

    fn check_directory(&mut self, path: &Path, stale: &mut Vec<usize>) {
        let Some(directory) = self.directories.get_mut(path) else {
            return;
        };
        let modified = modified(path);
        let has_changed = modified != directory.modified;
        if has_changed || !directory.is_settled {
            directory.is_settled = !has_changed;
            directory.modified = modified;
            stale.extend(&directory.patterns);
            self.directory_rota.touch(Arc::from(path));
        }
    }

    fn reexpand(&mut self, pattern: usize) -> (Vec<Arc<Path>>, Vec<Arc<Path>>) {
        let Some(path) = self.patterns.get(pattern) else {
            return Default::default();
        };
        let found = expand(path);
        for path in found.directories {
            let path: Arc<Path> = path.into();
            let directory = self
                .directories
                .entry(Arc::clone(&path))
                .or_insert_with(|| {
                    self.directory_rota.add(Arc::clone(&path));
                    Directory {
                        modified: modified(&path),
                        is_settled: false,
                        patterns: Vec::new(),
                    }
                });
            if !directory.patterns.contains(&pattern) {
                directory.patterns.push(pattern);
            }
        }
        let Some(known) = self.files_of.get_mut(pattern) else {
            return Default::default();
        };
        // Several lists share one copy of a path.
        let shared = |path: PathBuf| {
            self.files
                .get(&*path)
                .cloned()
                .unwrap_or_else(|| path.into())
        };
        let before = std::mem::replace(known, found.files.into_iter().map(shared).collect());
        let now: HashSet<&Arc<Path>> = known.iter().collect();
        let gone: Vec<Arc<Path>> = before
            .into_iter()
            .filter(|path| !now.contains(path))
            .collect();
        for path in &gone {
            self.files.remove(path);
        }
        let new: Vec<Arc<Path>> = known
            .iter()
            .filter(|path| !self.files.contains(*path))
            .cloned()
            .collect();
        for path in &new {
            self.files.insert(path.clone());
            self.file_rota.add(path.clone());
        }
        (new, gone)
    }
}

fn modified(directory: &Path) -> Option<(i64, i64)> {
    let metadata = fs::metadata(fs::or_here(directory)).ok()?;
    Some(metadata.modified())
}

/// A round over items: recent ones each time, the others in slices.
#[derive(Debug)]
struct Rota<T> {
    all: Vec<T>,
    recent: VecDeque<T>,
    next: usize,
}

impl<T> Default for Rota<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            recent: VecDeque::new(),
            next: 0,
        }
    }
}

impl<T: Clone + Eq + Hash> Rota<T> {
    fn add(&mut self, item: T) {
        self.all.push(item.clone());
        self.push_recent(item);
    }

    fn touch(&mut self, item: T) {
        self.recent.retain(|other| *other != item);
        self.push_recent(item);
    }

    fn push_recent(&mut self, item: T) {
        self.recent.push_back(item);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    fn next(&mut self, everything: bool) -> Vec<T> {
        if everything {
            return self.all.clone();
        }
        let mut due: Vec<T> = self.recent.iter().cloned().collect();
        if self.all.len() > self.recent.len() {
            let slice = self
                .all
                .iter()
                .cycle()
                .skip(self.next)
                .take(SLICE.min(self.all.len()));
            due.extend(slice.cloned());
            self.next = (self.next + SLICE) % self.all.len();
        }
        let mut seen = HashSet::new();
        due.retain(|item| seen.insert(item.clone()));
        due
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use super::{PatternFiles, RECENT, SLICE};
    use crate::source::watch::Hints;

    #[test]
    fn files_come_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| Arc::<Path>::from(dir.path().join("part").join(name));
        let mut folder = PatternFiles::default();
        assert!(folder.add(&file("*.json")).is_empty());
        fs::create_dir(dir.path().join("part")).unwrap();
        fs::write(file("b.json"), "1").unwrap();
        fs::write(file("a.json"), "1").unwrap();
        assert_eq!(
            folder.poll(&Hints::default()).new,
            [file("a.json"), file("b.json")]
        );
        fs::write(file("c.json"), "1").unwrap();
        fs::remove_file(file("a.json")).unwrap();
        let census = folder.poll(&Hints::default());
        assert_eq!(
            (census.new, census.removed),
            (vec![file("c.json")], vec![file("a.json")])
        );
        assert_eq!(folder.poll(&Hints::default()).due.len(), 2);
    }

    #[test]
    fn a_look_at_many_files_is_bounded_and_reaches_all_in_turn() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..2000 {
            fs::write(dir.path().join(format!("{number:04}.json")), "1").unwrap();
        }
        let mut folder = PatternFiles::default();
        assert_eq!(folder.add(&dir.path().join("*.json")).len(), 2000);
        let mut reached = std::collections::HashSet::new();
        for _ in 0..=2000 / SLICE {
            let due = folder.poll(&Hints::default()).due;
            assert!(due.len() <= RECENT + SLICE);
            reached.extend(due);
        }
        assert_eq!(reached.len(), 2000);
    }

    #[test]
    fn when_events_were_lost_everything_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let count = 4 * (RECENT + SLICE);
        for number in 0..count {
            let part = dir.path().join(format!("{number:04}"));
            fs::create_dir(&part).unwrap();
            fs::write(part.join("a.json"), "1").unwrap();
        }
        let mut folder = PatternFiles::default();
        assert_eq!(folder.add(&dir.path().join("*/*.json")).len(), count);
        folder.poll(&Hints::everything());
        fs::write(dir.path().join("0003/b.json"), "1").unwrap();
        fs::remove_file(dir.path().join("0004/a.json")).unwrap();
        let census = folder.poll(&Hints::everything());
        assert_eq!(
            census.new,
            [Arc::<Path>::from(dir.path().join("0003/b.json"))]
        );
        assert_eq!(
            census.removed,
            [Arc::<Path>::from(dir.path().join("0004/a.json"))]
        );
        assert_eq!(census.due.len(), count - 1);
    }
}
