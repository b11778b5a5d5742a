//! A folder of exported sessions: file names, sessions already exported, and atomic replacement of
//! files.
//!
//! Invariant: a session keeps its name from one export to the next, and no two sessions share a
//! name on any file system.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::{ExportOptions, WriteFile};
use crate::model::entry::Piece;
use crate::model::found::FoundSession;
use crate::report::stamps::Stamps;

/// Name of the journal of exported sessions, one per line.
const JOURNAL: &str = ".tv-export";
/// Maximum length of a name without its extension, in characters.
const LONGEST: usize = 80;

/// A folder that sessions are exported to.
pub(super) struct Folder {
    path: PathBuf,
    form: &'static str,
    /// Other settings that the content depends on.
    settings: String,
    written: Mutex<Written>,
}

struct Written {
    /// Exported sessions by form and address.
    sessions: HashMap<(String, String), SessionFiles>,
    /// Addresses of sessions by file name in lower case.
    names: HashMap<String, String>,
    journal: File,
}

/// A session that was exported.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SessionFiles {
    form: String,
    settings: String,
    place: String,
    name: String,
    files: Vec<String>,
    /// The stamps of the session's own files at that time; `None` if they changed meanwhile.
    stamps: Option<Stamps>,
}

impl Folder {
    /// Opens the folder, and creates it if it does not exist.
    pub(super) fn open(path: &Path, options: &ExportOptions) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        let journal = path.join(JOURNAL);
        // A full disk may have cut the last line anywhere.
        let known = fs::read(&journal).unwrap_or_default();
        let known = String::from_utf8_lossy(&known);
        let known = known
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let mut sessions: HashMap<(String, String), SessionFiles> = HashMap::new();
        for session in known {
            let session: SessionFiles = session;
            sessions.insert((session.form.clone(), session.place.clone()), session);
        }
        let names = sessions.values();
        let names = names.map(|known| (known.name.to_lowercase(), known.place.clone()));
        let names = names.collect();
        replace(&journal, |out| {
            sessions
                .values()
                .try_for_each(|known| write_line(out, known))
        })?;
        let turn = options.turn.iter().map(|turn| format!(" turn={turn}"));
        let entries = options.entries.iter().map(|key| format!(" entry={key}"));
        Ok(Self {
            form: options.form.name(),
            settings: format!(
                "{} redacted={}{}",
                env!("CARGO_PKG_VERSION"),
                options.is_redacted,
                turn.chain(entries).collect::<String>()
            ),
            written: Mutex::new(Written {
                sessions,
                names,
                journal: OpenOptions::new().append(true).open(&journal)?,
            }),
            path: path.to_path_buf(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn contains(&self, file: &Path) -> bool {
        file.starts_with(&self.path)
            || fs::canonicalize(file)
                .ok()
                .zip(fs::canonicalize(&self.path).ok())
                .is_some_and(|(file, own)| file.starts_with(own))
    }

    /// The source files of a session whose export is up to date; `None` if it has to be written.
    pub(super) fn unchanged(&self, found: &FoundSession) -> Option<Vec<PathBuf>> {
        let known = self.locked(|written| written.sessions.get(&self.key(found)).cloned())?;
        let stamps = known
            .stamps
            .filter(|stamps| stamps.are_current(found.modified))?;
        let is_there = |name: &String| self.path.join(name).is_file();
        let is_same = known.settings == self.settings && known.files.iter().all(is_there);
        is_same.then(|| stamps.files())
    }

    /// Writes the files of a session. Returns their names; the first is the common name without
    /// extension.
    pub(super) fn write<'f>(
        &self,
        found: &FoundSession,
        files: impl Iterator<Item = &'f (&'static str, WriteFile)>,
        write: &mut dyn FnMut(WriteFile, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Vec<String>> {
        let name = self.locked(|written| written.name(found));
        let mut names = vec![name.clone()];
        for (ending, form) in files {
            let file = format!("{name}.{ending}");
            replace(&self.path.join(&file), |out| write(*form, out))?;
            names.push(file);
        }
        Ok(names)
    }

    /// Records in the journal that a session was exported.
    pub(super) fn record(
        &self,
        found: &FoundSession,
        mut files: Vec<String>,
        stamps: Option<Stamps>,
    ) -> io::Result<()> {
        let session = SessionFiles {
            form: self.form.to_owned(),
            settings: self.settings.clone(),
            place: found.place().address(),
            name: files.remove(0),
            files,
            stamps,
        };
        self.locked(|written| {
            write_line(&mut written.journal, &session)?;
            written.sessions.insert(self.key(found), session);
            Ok(())
        })
    }

    fn key(&self, found: &FoundSession) -> (String, String) {
        (self.form.to_owned(), found.place().address())
    }

    fn locked<T>(&self, act: impl FnOnce(&mut Written) -> T) -> T {
        act(&mut self.written.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Written {
    /// Reserves a file name for a session.
    fn name(&mut self, found: &FoundSession) -> String {
        let place = found.place().address();
        let plain = file_name(&found.id);
        let hash = format!("{:016x}", Piece::of(&place).0);
        let names = [plain.clone(), format!("{plain}-{hash}")];
        let [plain, long] = names;
        let is_free = |name: &String| {
            let owner = self.names.get(&name.to_lowercase());
            owner.is_none_or(|owner| *owner == place)
        };
        let name = if is_free(&plain) { plain } else { long };
        self.names.insert(name.to_lowercase(), place);
        name
    }
}

/// Converts an id to a name that is valid on every file system.
fn file_name(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    let words = id
        .split(|c| !is_plain(c))
        .map(|word| word.trim_matches('.'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(LONGEST).collect();
    if name.is_empty() {
        "session".to_owned()
    } else {
        name
    }
}

fn write_line(out: &mut dyn Write, session: &SessionFiles) -> io::Result<()> {
    let mut line = serde_json::to_vec(session)?;
    line.push(b'\n');
    out.write_all(&line)
}

/// Writes a file atomically. Anything but a regular file, such as a pipe, is written to directly.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir()) {
        let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let part = path.with_file_name(format!(".{}.part", name.to_string_lossy()));
    let written = File::create(&part).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()
    });
    let written = written.and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // Removes the partial file.
        let _ = fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_are_plain_and_short() {
        for (id, name) in [
            ("../../etc/passwd", "etc-passwd"),
            ("a\nb\0c", "a-b-c"),
            ("agent:main:main", "agent-main-main"),
            ("…", "session"),
            (".hidden", "hidden"),
            ("-rf", "rf"),
        ] {
            assert_eq!(file_name(id), name);
        }
        assert_eq!(file_name(&"x".repeat(300)).len(), 80);
    }
}
