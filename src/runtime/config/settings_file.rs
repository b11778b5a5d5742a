//! Reads the user's settings files: `config.toml`, prices, themes, definitions.
//!
//! Invariant: only regular files are read, checked after opening because a name may lead elsewhere
//! by then, and no more than [`LARGEST`] bytes. Errors name the file.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::source::regular;

/// Limit of a settings file in bytes.
const LARGEST: usize = 1 << 20;

/// The bytes of a file; `None` if there is no file.
pub(crate) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let file = match regular::open(path) {
        Ok(file) => file,
        Err(error) => return absence(path, &error).map(|()| None),
    };
    let mut bytes = Vec::new();
    let read = file.take(LARGEST as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| unusable(path, &error))?;
    if bytes.len() > LARGEST {
        return Err(format!(
            "{}: it is larger than 1 MiB and is not read",
            path.display()
        ));
    }
    Ok(Some(bytes))
}

/// The text of a file; `None` if there is no file.
pub(crate) fn text(path: &Path) -> Result<Option<String>, String> {
    let Some(bytes) = bytes(path)? else {
        return Ok(None);
    };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let (line, column) = place(error.as_bytes(), error.utf8_error().valid_up_to());
        format!(
            "{}:{line}:{column}: this byte is no UTF-8, so the file is not used",
            path.display()
        )
    })
}

/// The `.toml` files of a folder, sorted; none if there is no folder.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return absence(folder, &error).map(|()| Vec::new()),
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    paths.sort();
    Ok(paths)
}

/// Checks that a settings folder can be entered, so that a locked folder is reported once and not
/// per file.
pub(crate) fn enter(folder: &Path) -> Result<(), String> {
    fs::metadata(folder.join(".")).map_or_else(|error| absence(folder, &error), |_| Ok(()))
}

/// A missing file is not an error; a dangling link is.
fn absence(path: &Path, error: &io::Error) -> Result<(), String> {
    let is_absent = matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    );
    match fs::symlink_metadata(path) {
        Err(_) if is_absent => Ok(()),
        Ok(found) if is_absent && found.is_symlink() => Err(format!(
            "{}: it is a link that leads nowhere",
            path.display()
        )),
        _ => Err(unusable(path, error)),
    }
}

fn unusable(path: &Path, error: &io::Error) -> String {
    format!("{}: it cannot be read ({error})", path.display())
}

/// Line and column of a byte offset, counted from 1.
fn place(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = bytes.get(..at).unwrap_or(bytes);
    let line = before
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let lines = before.split(|byte| *byte == b'\n').count();
    (lines, String::from_utf8_lossy(line).chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::{LARGEST, enter, files, text};

    #[test]
    fn what_is_no_file_of_settings_is_told_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("latin"), b"a = 1\nb = \"na\xefve\"\n").unwrap();
        fs::write(path("large"), vec![b'#'; LARGEST + 1]).unwrap();
        fs::write(path("full"), vec![b'#'; LARGEST]).unwrap();
        fs::create_dir(path("folder")).unwrap();
        symlink(path("missing"), path("dangling")).unwrap();
        symlink("loop", path("loop")).unwrap();
        symlink("/dev/zero", path("zero")).unwrap();
        symlink(path("full"), path("link")).unwrap();
        mknodat(
            CWD,
            path("pipe"),
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        for (name, words) in [
            ("latin", "latin:2:8: this byte is no UTF-8"),
            ("large", "larger than 1 MiB"),
            ("folder", "a folder"),
            ("dangling", "a link that leads nowhere"),
            ("loop", "cannot be read"),
            ("zero", "a device"),
            ("pipe", "a named pipe"),
        ] {
            let why = text(&path(name)).unwrap_err();
            assert!(why.contains(words) && why.contains(name), "{name}: {why}");
        }
        assert_eq!(text(&path("missing")), Ok(None));
        assert_eq!(text(&path("full/config.toml")), Ok(None));
        for name in ["full", "link"] {
            assert_eq!(
                text(&path(name)).unwrap().map(|text| text.len()),
                Some(LARGEST)
            );
        }
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_told_and_one_that_is_missing_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("file"), "").unwrap();
        fs::create_dir(path("folder")).unwrap();
        for name in ["b.toml", "a.toml", "notes.txt"] {
            fs::write(path("folder").join(name), "").unwrap();
        }
        symlink(path("missing"), path("dangling")).unwrap();
        for name in ["file", "dangling"] {
            assert!(
                files(&path(name)).is_err() && enter(&path(name)).is_err(),
                "{name}"
            );
        }
        for absent in [
            path("missing"),
            path("file/tv"),
            Path::new("/dev/null/.config/tv").to_owned(),
        ] {
            assert_eq!((files(&absent), enter(&absent)), (Ok(Vec::new()), Ok(())));
        }
        assert_eq!(
            files(&path("folder")),
            Ok(vec![path("folder/a.toml"), path("folder/b.toml")])
        );
    }
}
