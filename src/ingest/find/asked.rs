//! Which files are parts of others that lie beside them, and only these say so.
//!
//! Only formats are asked whose records name such files (`Format::asks`). The files of a folder are looked through once
//! for the word; those with it are decoded.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;

use super::glance;
use crate::formats::decoder::Format;
use crate::source::regular;
use crate::source::stamp::read_range;

/// A larger file is not looked through.
const LARGEST: usize = 64 << 20;
/// Nor more files than this in a folder.
const MOST: usize = 4_000;
/// How many folders above its own may hold the file that asks for one.
const ABOVE: usize = 2;

/// What is known of the folders that were asked for.
#[derive(Default)]
pub(super) struct Asked(HashMap<(&'static str, PathBuf), Askers>);

/// Files that ask for others, with these.
type Askers = HashMap<PathBuf, HashSet<PathBuf>>;

impl Asked {
    /// Whether a file beside this one, or above it, asks for it. Of two that ask for each other neither is a part.
    pub(super) fn is_part(&mut self, path: &Path, format: &'static dyn Format) -> bool {
        let Some(word) = format.asks() else { return false };
        path.ancestors().skip(1).take(ABOVE).any(|folder| {
            let place = (format.name(), folder.to_owned());
            let askers = self.0.entry(place).or_insert_with(|| askers(folder, format, word));
            let asks =
                |asker: &Path, file: &Path| askers.get(asker).is_some_and(|files| files.contains(file));
            askers.keys().any(|asker| asker != path && asks(asker, path) && !asks(path, asker))
        })
    }
}

fn askers(folder: &Path, format: &'static dyn Format, word: &str) -> Askers {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names = fs::read_dir(listed).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_json =
        |name: &PathBuf| name.extension().is_some_and(|ending| ending == "json" || ending == "jsonl");
    let word = Finder::new(word);
    let asker = |name: PathBuf| {
        let path = folder.join(name);
        let bytes = read_range(&regular::open(&path).ok()?, 0, LARGEST).ok()?;
        word.find(&bytes)?;
        let files: HashSet<PathBuf> = glance::asked_by(&path, format, &bytes).into_iter().collect();
        (!files.is_empty()).then_some((path, files))
    };
    names.map(PathBuf::from).filter(is_json).take(MOST).filter_map(asker).collect()
}
