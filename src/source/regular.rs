//! Opens files for reading: only regular ones, and beside a session only those within its folders.
//!
//! The open file is checked, not its path, which may be exchanged at any time by a pipe without a
//! writer, a device without an end, or a link to any file of the machine.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::fs::{self, File, Metadata, PathKind};
use super::read::read_range;
use super::remote::is_far;

/// Largest file that is read whole, in bytes; a larger one is no document of a session, but damage.
pub(crate) const LARGEST: u64 = 256 << 20;

/// Opens a regular file; anything else is an error at once.
pub fn open(path: &Path) -> io::Result<File> {
    open_with_metadata(path).map(|(_, file)| file)
}

/// As [`open`], for files that must be of one moment.
pub(super) fn open_current(path: &Path) -> io::Result<File> {
    open(path).map(File::current)
}

/// As [`open`], with the file's metadata.
pub(crate) fn open_with_metadata(path: &Path) -> io::Result<(Metadata, File)> {
    // Merely opening some devices has effects; the far side looks by itself.
    if !is_far(path) {
        expect_regular(fs::metadata(path)?.kind)?;
    }
    open_seen(path)
}

/// As [`open_with_metadata`], for a path that was just found to be a regular file.
pub(crate) fn open_seen(path: &Path) -> io::Result<(Metadata, File)> {
    let (metadata, file) = fs::open(path)?;
    expect_regular(metadata.kind)?;
    Ok((metadata, file))
}

/// All of a file of at most `most` bytes.
pub(crate) fn read_small(path: &Path, most: usize) -> Option<Vec<u8>> {
    let (metadata, file) = open_with_metadata(path).ok()?;
    (metadata.len <= most as u64)
        .then(|| read_range(&file, 0, most).ok())
        .flatten()
}

fn expect_regular(kind: PathKind) -> io::Result<()> {
    match other_than_file(kind) {
        None => Ok(()),
        Some(what) => Err(io::Error::other(format!("it is {what} now"))),
    }
}

/// A name for something that is no regular file.
pub(crate) fn other_than_file(kind: PathKind) -> Option<&'static str> {
    Some(match kind {
        PathKind::File => return None,
        PathKind::Folder => "a folder",
        PathKind::Pipe => "a named pipe",
        PathKind::Socket => "a socket",
        PathKind::CharDevice | PathKind::BlockDevice => "a device",
        PathKind::Link | PathKind::Other => "a special file",
    })
}

/// The folders within which files may be read, whatever link leads to them; unrestricted for a file
/// that the reader named.
///
/// The real paths of the folders are resolved at the first use: most sessions have no file beside
/// them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fence(Option<Arc<Folders>>);

type Folders = LazyLock<Vec<PathBuf>, Box<dyn FnOnce() -> Vec<PathBuf> + Send + Sync>>;

impl Fence {
    /// A fence around these folders; a missing folder encloses nothing.
    pub(crate) fn around(folders: impl FnOnce() -> Vec<PathBuf> + Send + Sync + 'static) -> Self {
        let real = |folder: PathBuf| fs::canonicalize(fs::or_here(&folder)).ok();
        let real = move || folders().into_iter().filter_map(real).collect();
        Self(Some(Arc::new(LazyLock::new(Box::new(real)))))
    }

    /// Opens a regular file within the fence.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        let file = open(path)?;
        match &self.0 {
            Some(folders) if !is_inside(&file, path, folders) => Err(io::Error::other(
                "it lies outside of the agent's folders; the link is not followed",
            )),
            _ => Ok(file),
        }
    }
}

fn is_inside(file: &File, path: &Path, folders: &[PathBuf]) -> bool {
    let is_within = |real: &Path| folders.iter().any(|folder| real.starts_with(folder));
    // One system call where the system has it: tens of thousands of files are common.
    let real = match file {
        File::Here(_) => file.current_path(),
        File::Far(far) => far.opened_path().map(Path::to_owned),
    };
    if real.is_some_and(|real| is_within(&real)) {
        return true;
    }
    let Ok(real) = fs::canonicalize(path) else {
        return false;
    };
    let is_same = || Ok::<_, io::Error>(fs::metadata(&real)?.is_same_file(&file.metadata()?));
    is_within(&real) && is_same().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::{Fence, open};

    #[test]
    fn nothing_but_a_regular_file_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("file"), "x").unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        assert!(open(&path("file")).is_ok());
        for (name, words) in [
            ("pipe", "named pipe"),
            ("socket", "socket"),
            (".", "folder"),
            ("/dev/zero", "device"),
        ] {
            let error = open(&path(name)).unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
    }

    #[test]
    fn a_fence_lets_in_what_lies_within_however_it_is_reached() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("real/s-1")).unwrap();
        fs::create_dir_all(path("real-not/s-1")).unwrap();
        for name in ["real/s-1/a", "real-not/s-1/b", "c"] {
            fs::write(path(name), "x").unwrap();
        }
        symlink(path("real"), path("home")).unwrap();
        symlink(path("c"), path("real/out")).unwrap();
        symlink(path("real-not"), path("real/over")).unwrap();
        symlink("s-1/a", path("real/in")).unwrap();
        let folders = vec![path("home"), path("missing")];
        let fence = Fence::around(move || folders);
        for (name, is_in) in [
            ("home/s-1/a", true),
            ("real/s-1/a", true),
            ("home/in", true),
            ("home/out", false),
            ("home/over/s-1/b", false),
            ("home/../c", false),
            ("c", false),
        ] {
            assert_eq!(fence.open(&path(name)).is_ok(), is_in, "{name}");
            assert!(Fence::default().open(&path(name)).is_ok());
        }
        assert!(Fence::around(Vec::new).open(&path("c")).is_err());
        assert!(
            Fence::around(|| vec![Path::new("").to_owned()])
                .open(Path::new("Cargo.toml"))
                .is_ok()
        );
    }
}
