//! The files of a session: every read, search, edit and write of each, in order of time over all
//! lanes, with flags for conflicts between them.
//!
//! A file is identified by its normalized path. Shell commands that read or write a file by name
//! count as uses, but do not add a file to the list by themselves.

use std::collections::HashMap;

use super::calls::Place;
use super::derived::{Derived, Facts, Out};
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Text;
use crate::model::transcript::Transcript;

mod file;
mod flags;
pub(crate) mod paths;
pub(crate) mod steps;
mod uses;
pub(crate) mod version;

pub(crate) use file::FileUses;
use uses::UseFact;
pub(crate) use uses::{Flag, Op, Use};

/// The files of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    by_path: HashMap<Text, FileUses>,
    /// The first listed file of each call, by the call's position.
    of_call: Vec<(Place, Text)>,
}

impl Derived for Files {
    type Row = UseFact;
    type Reads = ();
    const IS_OF_ROWS: bool = true;

    fn rows(
        _transcript: &Transcript,
        (_, entry): (EntryId, &Entry),
        before: &[UseFact],
        out: &mut Out<'_, UseFact>,
    ) {
        uses::read(entry, before, out);
    }

    fn of(transcript: &Transcript, facts: &Facts<UseFact>, _reads: &()) -> Self {
        let mut found = FileCollector {
            transcript,
            facts,
            numbers: HashMap::new(),
            by_path: HashMap::new(),
            list: Vec::new(),
        };
        let mut named: Vec<(Place, usize)> = Vec::new();
        for (_, id, rows) in facts
            .in_order(transcript)
            .filter(|(.., rows)| !rows.is_empty())
        {
            let mut before = None;
            for (at, row) in rows.iter().enumerate() {
                let UseFact::Use(used) = row else { continue };
                let place = Place {
                    entry: id,
                    block: used.block as usize,
                };
                let number = found.number(id, used.path);
                let again = Some((place, number, used.op));
                if before == again {
                    continue;
                }
                before = again;
                let changes = uses::changes(rows.get(at + 1..).unwrap_or_default());
                let one = (Use::of(used, place, transcript.lane_at(id)), changes);
                if let Some((_, uses)) = found.list.get_mut(number) {
                    uses.push(one);
                }
                named.push((place, number));
            }
        }
        let files = found
            .list
            .into_iter()
            .map(|(path, uses)| (path, FileUses::of(uses)));
        let files: Vec<(Text, FileUses)> = files.collect();
        named.retain(|(_, number)| files.get(*number).is_some_and(|(_, file)| file.is_listed));
        named.dedup_by_key(|(place, _)| *place);
        let path = |number: usize| {
            files
                .get(number)
                .map(|(path, _)| path.clone())
                .unwrap_or_default()
        };
        let of_call = named
            .into_iter()
            .map(|(place, number)| (place, path(number)))
            .collect();
        Self {
            of_call,
            by_path: files.into_iter().collect(),
        }
    }
}

/// A use of a file, and the rows with its changes.
type UseRows<'a> = (Use, &'a [UseFact]);

/// Files found so far.
struct FileCollector<'a> {
    transcript: &'a Transcript,
    facts: &'a Facts<UseFact>,
    /// Index in `list`, by session and number of the path.
    numbers: HashMap<(Option<usize>, u32), usize>,
    by_path: HashMap<Text, usize>,
    /// The path of each file, and its uses in the order of the session.
    list: Vec<(Text, Vec<UseRows<'a>>)>,
}

impl FileCollector<'_> {
    /// The index of the file with a path that an entry names.
    fn number(&mut self, id: EntryId, path: u32) -> usize {
        let root = self.transcript.meta().root.as_ref();
        let session = self.transcript.session_of(id);
        let key = (session.map(|(number, _)| number), path);
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        // Sessions that began in different directories have roots of their own.
        let folder = session
            .and_then(|(_, session)| session.root.as_ref())
            .filter(|folder| root != Some(*folder));
        let named = self.facts.name(path);
        let path = paths::path_from_root(&named, folder.map(Text::as_str), root.map(Text::as_str));
        let number = self.by_path.get(&*path).copied().unwrap_or_else(|| {
            let path = Text::from(&*path);
            self.by_path.insert(path.clone(), self.list.len());
            self.list.push((path, Vec::new()));
            self.list.len() - 1
        });
        self.numbers.insert(key, number);
        number
    }
}

impl Files {
    /// Files that were used by file tools, with their paths, unsorted.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&Text, &FileUses)> {
        self.by_path.iter().filter(|(_, file)| file.is_listed)
    }

    /// All files, also those that only shell commands used.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Text, &FileUses)> {
        self.by_path.iter()
    }

    pub(crate) fn file(&self, path: &str) -> Option<&FileUses> {
        self.file_with_path(path).map(|(_, file)| file)
    }

    /// A file by path, with the path as stored.
    pub(crate) fn file_with_path(&self, path: &str) -> Option<(&Text, &FileUses)> {
        let found = self.by_path.get_key_value(path);
        found.filter(|(_, file)| file.is_listed)
    }

    /// The first listed file that a call used.
    pub(crate) fn of_call(&self, place: Place) -> Option<&Text> {
        let at = self
            .of_call
            .binary_search_by_key(&place, |(place, _)| *place)
            .ok()?;
        self.of_call.get(at).map(|(_, path)| path)
    }
}

#[cfg(test)]
mod tests;
