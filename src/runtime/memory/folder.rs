//! A folder of the state, and the files in it.
//!
//! Invariant: below the reader's home no link is followed, at no level: each is opened in the one above it, and
//! files are opened, put in place and removed in the open folder, wherever its path leads by then. Modes are only set on
//! what tv has made.

use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::settings::memory;

/// The file of the reader's habits.
pub(super) const HABITS: &str = "reader.json";
/// The folder of the sessions' files.
pub(super) const SESSIONS: &str = "sessions";
/// The file by which programs keep each other out of a folder.
const LOCK: &str = "lock";
/// A larger file is none of ours.
const LARGEST: u64 = 1 << 20;
/// So often another program is waited for, each time for a while.
const TRIES: u32 = 100;
const PATIENCE: Duration = Duration::from_millis(10);

/// What was read is nobody else's business.
const FOLDER: Mode = Mode::RWXU;
const FILE: Mode = Mode::RUSR.union(Mode::WUSR);
const OF_OTHERS: u32 = 0o077;

/// Where the state is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The home, or the folder that a variable names: it is found as any other folder.
    root: PathBuf,
    /// The state folder below it.
    below: PathBuf,
}

/// Why nothing can be read or written.
#[derive(Debug)]
pub(super) struct Problem {
    /// A sentence.
    pub(super) why: String,
    /// The folder is none for tv, and will not become one.
    pub(super) is_refusal: bool,
}

impl From<Problem> for String {
    fn from(problem: Problem) -> Self {
        problem.why
    }
}

impl Place {
    /// The state folder of a reader with this home.
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

    /// The folder, or the one with this name in it; `None` if it is not there.
    pub(super) fn open(&self, name: Option<&str>) -> Result<Option<Folder>, Problem> {
        self.descend(name, false)
    }

    /// The same, made for its owner only if it is not there.
    pub(super) fn make(&self, name: Option<&str>) -> Result<Option<Folder>, Problem> {
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.root);
        made.map_err(|error| failed(&self.root, &error))?;
        self.descend(name, true)
    }

    fn descend(&self, name: Option<&str>, makes: bool) -> Result<Option<Folder>, Problem> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder = match rustix::fs::open(&self.root, flags, Mode::empty()) {
            Ok(opened) => Folder {
                opened: File::from(opened),
                path: self.root.clone(),
            },
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(failed(&self.root, &error.into())),
        };
        let all = self.below.join(name.unwrap_or_default());
        let shared = self.below.components().count().saturating_sub(1);
        for (number, level) in all.components().enumerate() {
            let Some((inner, is_new)) = folder.enter(Path::new(level.as_os_str()), makes)? else {
                return Ok(None);
            };
            folder = inner;
            // Those above are for all programs.
            if number >= shared && !is_new {
                folder.expect_own()?;
            }
        }
        Ok(Some(folder))
    }
}

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    opened: File,
    path: PathBuf,
}

impl Folder {
    /// A folder in it, and whether it was made just now.
    fn enter(&self, name: &Path, makes: bool) -> Result<Option<(Self, bool)>, Problem> {
        let path = self.path.join(name);
        let mut is_new = false;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut opened = rustix::fs::openat(&self.opened, name, flags, Mode::empty());
        if makes && matches!(opened, Err(Errno::NOENT)) {
            let made = rustix::fs::mkdirat(&self.opened, name, FOLDER);
            is_new = made.is_ok();
            opened = match made {
                // Another program was faster.
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

    /// Whether nobody else can look into it; what tv itself has made is closed to others.
    fn expect_own(&self) -> Result<(), Problem> {
        let metadata = self
            .opened
            .metadata()
            .map_err(|error| failed(&self.path, &error))?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(refused(&self.path, "it belongs to another user"));
        }
        if metadata.mode() & OF_OTHERS == 0 {
            return Ok(());
        }
        if !self.names().iter().any(|name| self.is_own(name)) {
            return Err(refused(
                &self.path,
                "it is open to others and was not made by tv (`chmod 700`?)",
            ));
        }
        // A file system without modes has nothing to close.
        let _ = rustix::fs::fchmod(&self.opened, FOLDER);
        for name in self.names() {
            let _ = self.file(&name, OFlags::RDONLY);
        }
        Ok(())
    }

    /// Whether it is something that only tv makes.
    fn is_own(&self, name: &str) -> bool {
        let is_file = name == HABITS || name == LOCK || memory::is_file_name(name);
        let stat = rustix::fs::statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW);
        let kind = stat.map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode));
        kind.is_ok_and(|kind| (is_file && kind.is_file()) || (name == SESSIONS && kind.is_dir()))
    }

    /// The names in it.
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

    /// Opens a file that was made here: no link, no pipe.
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
        if metadata.mode() & OF_OTHERS != 0 && is_made_by_tv(name, &metadata) {
            let _ = rustix::fs::fchmod(&file, FILE);
        }
        Ok(file)
    }

    /// Reads a file, if there is one.
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

    /// Writes a file beside the old one, and puts it in its place.
    pub(super) fn replace(&self, name: &str, text: &str) -> Result<(), String> {
        let draft = format!(".{name}.{}", std::process::id());
        let write = || -> io::Result<()> {
            // One that was left by a program that was killed.
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

    /// Removes a file. Whether there was one.
    pub(super) fn remove(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::unlinkat(&self.opened, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// As [`Self::remove`], with a sentence.
    pub(super) fn forget(&self, name: &str) -> Result<bool, String> {
        self.remove(name)
            .map_err(|error| failed(&self.path.join(name), &error).why)
    }

    /// Keeps other programs out of it until the file is dropped. One that takes too long is not waited for.
    pub(super) fn lock(&self) -> Result<File, String> {
        let opened = self.file(LOCK, OFlags::WRONLY | OFlags::CREATE);
        let file = opened.map_err(|error| failed(&self.path.join(LOCK), &error).why)?;
        for _ in 0..TRIES {
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
                != Err(Errno::WOULDBLOCK)
            {
                break;
            }
            thread::sleep(PATIENCE);
        }
        Ok(file)
    }

    /// The files of sessions with their times, the oldest first.
    pub(super) fn sessions(&self) -> Vec<(SystemTime, String)> {
        let dated = |name: String| {
            let file =
                memory::is_file_name(&name).then(|| self.file(&name, OFlags::RDONLY).ok())??;
            Some((file.metadata().ok()?.modified().ok()?, name))
        };
        let mut files: Vec<_> = self.names().into_iter().filter_map(dated).collect();
        files.sort_unstable();
        files
    }
}

/// Whether tv made this file, under this name only: a second name may be that of somebody else's file.
fn is_made_by_tv(name: &str, metadata: &Metadata) -> bool {
    let is_ours = name == HABITS || name == LOCK || memory::is_file_name(name);
    is_ours && metadata.nlink() == 1 && metadata.uid() == rustix::process::geteuid().as_raw()
}

fn failed(path: &Path, error: &io::Error) -> Problem {
    Problem {
        why: format!("{}: {error}", path.display()),
        is_refusal: false,
    }
}

fn refused(path: &Path, why: &str) -> Problem {
    Problem {
        why: format!("{}: {why}, so nothing is kept there", path.display()),
        is_refusal: true,
    }
}
