//! The files of a session: every read, search, edit and write of each, in the order of their times, over
//! all lanes, with what went wrong between them.
//!
//! A file is known by its path without detours. Shell commands that name a file where they read or write
//! it count for what the lanes know of it, but make no file of the list by themselves.

use std::collections::HashMap;

use super::calls::Place;
use super::derived::{Derived, Facts};
use crate::model::entry::EntryId;
use crate::model::text::Text;
use crate::model::transcript::Transcript;

mod file;
mod flags;
pub(crate) mod paths;
mod uses;

pub(crate) use file::File;
use uses::Used;
pub(crate) use uses::{Flag, Op, Outcome, Use};

/// The files of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    by_path: HashMap<Text, File>,
    /// The first listed file of each call.
    of_call: HashMap<Place, Text>,
}

impl Derived for Files {
    /// The files that the calls of an entry use.
    type Fact = Vec<Used>;
    type Reads = ();

    fn fact(transcript: &Transcript, id: EntryId, before: &Vec<Used>) -> Vec<Used> {
        transcript.get(id).map(|entry| uses::of_entry(entry, before)).unwrap_or_default()
    }

    fn of(transcript: &Transcript, facts: &Facts<Vec<Used>>, _reads: &()) -> Self {
        let root = transcript.meta().root.as_ref();
        let mut uses: HashMap<Text, Vec<(Use, &Used)>> = HashMap::new();
        let mut named: Vec<(Place, Text)> = Vec::new();
        for (_, id, used) in facts.in_order(transcript).filter(|(_, _, used)| !used.is_empty()) {
            // Of sessions that began in different folders, each has its own.
            let session = transcript.session_of(id).and_then(|(_, session)| session.root.as_ref());
            let folder = session.filter(|folder| root != Some(*folder));
            let mut before = None;
            for one in used {
                let place = Place { entry: id, block: one.block };
                let path = paths::seen_from(&one.path, folder.map(Text::as_str), root.map(Text::as_str));
                let again = Some((place, path.clone(), one.op));
                if before == again {
                    continue;
                }
                before = again;
                // One name for all uses of a file.
                let known = uses.get_key_value(&*path).map(|(known, _)| known.clone());
                let path = known.unwrap_or_else(|| Text::from(&*path));
                let by = Use::of(one, place, transcript.lane_at(id));
                uses.entry(path.clone()).or_default().push((by, one));
                named.push((place, path));
            }
        }
        let by_path: HashMap<Text, File> =
            uses.into_iter().map(|(path, uses)| (path, File::of(uses))).collect();
        let mut of_call = HashMap::new();
        for (place, path) in named {
            if by_path.get(&path).is_some_and(|file| file.is_listed) {
                of_call.entry(place).or_insert(path);
            }
        }
        Self { by_path, of_call }
    }
}

impl Files {
    /// Files that tools for files used, with their paths, in no order.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&Text, &File)> {
        self.by_path.iter().filter(|(_, file)| file.is_listed)
    }

    /// The file with a path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.by_path.get(path).filter(|file| file.is_listed)
    }

    /// The first listed file that a call used.
    pub(crate) fn of_call(&self, place: Place) -> Option<&Text> {
        self.of_call.get(&place)
    }
}

#[cfg(test)]
mod tests;
