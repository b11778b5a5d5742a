//! A folder in the state folder, and the files in it.
//!
//! Invariant: below the user's home no link is followed, at any level: each folder is opened
//! relative to its parent, and files are opened, renamed and removed relative to the open folder,
//! wherever its path leads by then. Modes are changed only on what tv has created.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::settings::state_files;

/// The file for everything but sessions.
pub(super) const HABITS: &str = "reader.json";
/// The file for costs of today.
pub(super) const TODAY: &str = "today.json";
/// The folder for sessions.
pub(super) const SESSIONS: &str = "sessions";
/// The lock file of a folder.
const LOCK: &str = "lock";
/// Limit of a state file in bytes.
const LARGEST: u64 = 1 << 20;
/// Attempts to lock a folder, and the pause between two.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Only the owner may read what was read or typed.
const FOLDER: Mode = Mode::RWXU;
const FILE: Mode = Mode::RUSR.union(Mode::WUSR);
const OTHERS_MODE: u32 = 0o077;

/// The path of the state folder.
#[derive(Clone, Debug)]
pub(super) struct StateRoot {
    /// The home, or the folder that a variable names: links in it are followed.
    root: PathBuf,
    /// The path below it: no link in it is followed.
    below: PathBuf,
}

/// Why a folder cannot be used.
#[derive(Debug)]
pub(super) struct StateError {
    pub(super) why: String,
    /// The folder is unsafe and will stay so; otherwise the error may pass.
    pub(super) is_refusal: bool,
}

impl From<StateError> for String {
    fn from(problem: StateError) -> Self {
        problem.why
    }
}

impl StateRoot {
    /// Splits the path of the state folder at the home.
    pub(super) fn new(folder: &Path, home: Option<&Path>) -> Self {
        let root = home
            .filter(|home| folder.starts_with(home))
            .or(folder.parent())
            .unwrap_or(folder);
        let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
        Self {
            root: root.to_owned(),
            below: below.to_owned(),
        }
    }

    /// Opens the state folder, or the one with this name in it; `None` if it does not exist. With
    /// `creates` it is created, for its owner only.
    pub(super) fn open(
        &self,
        name: Option<&str>,
        creates: bool,
    ) -> Result<Option<StateFolder>, StateError> {
        if creates {
            let mut builder = DirBuilder::new();
            let made = builder.recursive(true).mode(0o700).create(&self.root);
            made.map_err(|error| failed(&self.root, &error))?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder = match rustix::fs::open(&self.root, flags, Mode::empty()) {
            Ok(opened) => StateFolder {
                opened: File::from(opened),
                path: self.root.clone(),
            },
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(failed(&self.root, &error.into())),
        };
        let all = self.below.join(name.unwrap_or_default());
        let shared = self.below.components().count().saturating_sub(1);
        for (number, level) in all.components().enumerate() {
            let Some((inner, is_new)) = folder.enter(Path::new(level.as_os_str()), creates)? else {
                return Ok(None);
            };
            folder = inner;
            // Folders above the state folder belong to all programs.
            if number >= shared && !is_new {
                folder.check_owner()?;
            }
        }
        Ok(Some(folder))
    }
}

#[derive(Debug)]
pub(super) struct StateFolder {
    opened: File,
    path: PathBuf,
}

impl StateFolder {
    /// Opens a folder in it. Returns whether it was created now.
    fn enter(&self, name: &Path, creates: bool) -> Result<Option<(Self, bool)>, StateError> {
        let path = self.path.join(name);
        let mut is_new = false;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut opened = rustix::fs::openat(&self.opened, name, flags, Mode::empty());
        if creates && matches!(opened, Err(Errno::NOENT)) {
            let made = rustix::fs::mkdirat(&self.opened, name, FOLDER);
            is_new = made.is_ok();
            opened = match made {
                // Another program created it meanwhile.
                Ok(()) | Err(Errno::EXIST) => {
                    rustix::fs::openat(&self.opened, name, flags, Mode::empty())
                }
                Err(error) => Err(error),
            };
        }
        match opened {
            Ok(opened) => Ok(Some((
                Self {
                    opened: File::from(opened),
                    path,
                },
                is_new,
            ))),
            Err(_) if self.is_link(name) => {
                Err(refused(&path, "it is a link, which is not followed"))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(failed(&path, &error.into())),
        }
    }

    fn is_link(&self, name: &Path) -> bool {
        rustix::fs::statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink())
    }

    /// Checks that only the owner can read the folder; one that tv has created is closed to others
    /// if it is not.
    fn check_owner(&self) -> Result<(), StateError> {
        let metadata = self
            .opened
            .metadata()
            .map_err(|error| failed(&self.path, &error))?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(refused(&self.path, "it belongs to another user"));
        }
        if metadata.mode() & OTHERS_MODE == 0 {
            return Ok(());
        }
        if !self.names().iter().any(|name| self.is_name_of_tv(name)) {
            return Err(refused(
                &self.path,
                "it is open to others and was not made by tv (`chmod 700`?)",
            ));
        }
        // Fails on file systems without modes.
        let _ = rustix::fs::fchmod(&self.opened, FOLDER);
        for name in self.names() {
            let _ = self.file(&name, OFlags::RDONLY);
        }
        Ok(())
    }

    /// Whether only tv creates files or folders of this name.
    fn is_name_of_tv(&self, name: &str) -> bool {
        let is_file = is_own_name(name);
        let stat = rustix::fs::statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW);
        let kind = stat.map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode));
        kind.is_ok_and(|kind| (is_file && kind.is_file()) || (name == SESSIONS && kind.is_dir()))
    }

    /// The names of its files.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = rustix::fs::Dir::read_from(&self.opened) else {
            return Vec::new();
        };
        let name = |entry: rustix::fs::DirEntry| entry.file_name().to_str().ok().map(str::to_owned);
        entries
            .flatten()
            .filter_map(name)
            .filter(|name| name != "." && name != "..")
            .collect()
    }

    /// Opens a regular file, without following a link or waiting for a pipe.
    fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.opened, name, flags, FILE).map(File::from);
        let file = opened.map_err(|error| match error {
            _ if self.is_link(Path::new(name)) => {
                io::Error::other("it is a link, which is not followed")
            }
            error => error.into(),
        })?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        if metadata.mode() & OTHERS_MODE != 0
            && is_own_name(name)
            && metadata.nlink() == 1
            && metadata.uid() == rustix::process::geteuid().as_raw()
        {
            let _ = rustix::fs::fchmod(&file, FILE);
        }
        Ok(file)
    }

    /// Reads and parses a file, if there is one.
    pub(super) fn read<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        let path = self.path.join(name);
        let file = match self.file(name, OFlags::RDONLY) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&path, &error).why),
        };
        let mut bytes = Vec::new();
        file.take(LARGEST)
            .read_to_end(&mut bytes)
            .map_err(|error| failed(&path, &error).why)?;
        let parsed = parse(&String::from_utf8_lossy(&bytes));
        parsed
            .map(Some)
            .map_err(|what| format!("{} {what}; it is left as it is", path.display()))
    }

    /// Writes a temporary file and renames it over the old one.
    pub(super) fn replace(&self, name: &str, text: &str) -> Result<(), String> {
        let draft = format!(".{name}.{}", std::process::id());
        let write = || -> io::Result<()> {
            // One may be left by a program that was killed.
            self.remove(&draft)?;
            let mut file = self.file(&draft, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
            file.write_all(text.as_bytes())?;
            file.sync_data()?;
            Ok(rustix::fs::renameat(
                &self.opened,
                &draft,
                &self.opened,
                name,
            )?)
        };
        write().map_err(|error| {
            let _ = self.remove(&draft);
            failed(&self.path.join(name), &error).why
        })
    }

    /// Removes a file. Returns whether there was one.
    pub(super) fn remove(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.opened, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// As [`Self::remove`], with a message as the error.
    pub(super) fn delete(&self, name: &str) -> Result<bool, String> {
        self.remove(name)
            .map_err(|error| failed(&self.path.join(name), &error).why)
    }

    /// Locks the folder until the file is dropped; after [`TRIES`] attempts it goes on without the
    /// lock.
    pub(super) fn lock(&self) -> Result<File, String> {
        let opened = self.file(LOCK, OFlags::WRONLY | OFlags::CREATE);
        let file = opened.map_err(|error| failed(&self.path.join(LOCK), &error).why)?;
        for _ in 0..TRIES {
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
                != Err(Errno::WOULDBLOCK)
            {
                break;
            }
            thread::sleep(PAUSE);
        }
        Ok(file)
    }

    /// The files of sessions with their modification times, the oldest first.
    pub(super) fn sessions(&self) -> Vec<(SystemTime, String)> {
        let dated = |name: String| {
            let file = state_files::is_file_name(&name)
                .then(|| self.file(&name, OFlags::RDONLY).ok())??;
            Some((file.metadata().ok()?.modified().ok()?, name))
        };
        let mut files: Vec<_> = self.names().into_iter().filter_map(dated).collect();
        files.sort_unstable();
        files
    }
}

/// Whether only tv creates files of this name.
fn is_own_name(name: &str) -> bool {
    [HABITS, TODAY, LOCK].contains(&name) || state_files::is_file_name(name)
}

fn failed(path: &Path, error: &io::Error) -> StateError {
    StateError {
        why: format!("{}: {error}", path.display()),
        is_refusal: false,
    }
}

fn refused(path: &Path, why: &str) -> StateError {
    StateError {
        why: format!("{}: {why}, so nothing is kept there", path.display()),
        is_refusal: true,
    }
}
