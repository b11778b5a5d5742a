//! A VFS (SQLite's layer under its files) in the place of the one that it brings: it has one open database, and nothing
//! else exists.
//!
//! With its own VFS SQLite opens a log with the wish to create it, gives it to another owner if it is root, and removes it
//! beside an empty database. Here a database is [`DatabaseImage`], which is read; a log, a journal, an index beside it do not
//! exist, and nothing can be created, written, removed or locked. That holds on every system.
//!
//! **It is `unsafe`**, because SQLite calls functions of C. Each is given what SQLite promises
//! (<https://sqlite.org/c3ref/vfs.html>): `open` a piece of memory of `szOsFile` bytes, the others one that `open` has
//! filled, until `close`. None of them panics.
#![expect(
    unsafe_code,
    reason = "functions that SQLite calls, and the structures in which it finds them"
)]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags, ffi};

use super::image::DatabaseImage;

const NAME: &CStr = c"tv";

/// Databases about to be opened, by the names under which SQLite opens them.
static OPENING: Mutex<Option<HashMap<String, DatabaseImage>>> = Mutex::new(None);
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The result of registering the VFS.
static REGISTERED: LazyLock<c_int> = LazyLock::new(register);

pub(super) fn connect(image: DatabaseImage) -> rusqlite::Result<Connection> {
    if *REGISTERED != ffi::SQLITE_OK {
        return Err(rusqlite::Error::SqliteFailure(
            ffi::Error::new(*REGISTERED),
            None,
        ));
    }
    let name = format!("database-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    with_opening(|all| all.insert(name.clone(), image));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags_and_vfs(&name, flags, NAME);
    with_opening(|all| all.remove(&name));
    connection
}

fn with_opening<T>(change: impl FnOnce(&mut HashMap<String, DatabaseImage>) -> T) -> T {
    let mut opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    change(opening.get_or_insert_default())
}

fn register() -> c_int {
    // SAFETY: without a name this is SQLite's default VFS, which lives as long as the program.
    let Some(usual) = (unsafe { ffi::sqlite3_vfs_find(ptr::null()).as_ref() }) else {
        return ffi::SQLITE_ERROR;
    };
    // Time, sleep and randomness are those of the default: they depend on nothing else of it.
    let own = ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: c_int::try_from(size_of::<OpenFile>()).unwrap_or(c_int::MAX),
        pNext: ptr::null_mut(),
        zName: NAME.as_ptr(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_name),
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        ..*usual
    };
    // SAFETY: it is never freed, and neither are its name and its functions.
    unsafe { ffi::sqlite3_vfs_register(Box::leak(Box::new(own)), 0) }
}

/// SQLite's struct of an open file, followed by our own field.
#[repr(C)]
struct OpenFile {
    known: ffi::sqlite3_file,
    image: *mut DatabaseImage,
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(accept),
    xFileSize: Some(file_size),
    xLock: Some(accept),
    xUnlock: Some(accept),
    xCheckReservedLock: Some(is_reserved),
    xFileControl: Some(control),
    xSectorSize: Some(sector),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    granted: *mut c_int,
) -> c_int {
    let file = file.cast::<OpenFile>();
    let known = ffi::sqlite3_file {
        pMethods: ptr::null(),
    };
    // SAFETY: the memory is for an `OpenFile`. Without methods SQLite does not close it.
    unsafe {
        file.write(OpenFile {
            known,
            image: ptr::null_mut(),
        });
    };
    if flags & ffi::SQLITE_OPEN_MAIN_DB == 0 || name.is_null() {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: a name ends with a zero.
    let name = unsafe { CStr::from_ptr(name) };
    let image = name
        .to_str()
        .ok()
        .and_then(|name| with_opening(|all| all.remove(name)));
    let Some(image) = image else {
        return ffi::SQLITE_CANTOPEN;
    };
    let known = ffi::sqlite3_file {
        pMethods: &raw const METHODS,
    };
    // SAFETY: as above; `close` takes the image back.
    unsafe {
        file.write(OpenFile {
            known,
            image: Box::into_raw(Box::new(image)),
        });
    };
    if !granted.is_null() {
        // SAFETY: SQLite passes a pointer for the result.
        unsafe { granted.write(ffi::SQLITE_OPEN_READONLY | ffi::SQLITE_OPEN_MAIN_DB) };
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, _: *const c_char, _: c_int) -> c_int {
    ffi::SQLITE_READONLY
}

unsafe extern "C" fn access(
    _: *mut ffi::sqlite3_vfs,
    _: *const c_char,
    _: c_int,
    is_there: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes a pointer for the result.
    unsafe { is_there.write(0) };
    ffi::SQLITE_OK
}

/// Names are absolute already.
unsafe extern "C" fn full_name(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    full: *mut c_char,
) -> c_int {
    // SAFETY: a name ends with a zero.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul();
    if usize::try_from(room).is_ok_and(|room| bytes.len() <= room) {
        // SAFETY: there is room, in memory of its own.
        unsafe { ptr::copy_nonoverlapping(name, full, bytes.len()) };
        return ffi::SQLITE_OK;
    }
    ffi::SQLITE_CANTOPEN
}

/// The database of an open file.
///
/// # Safety
/// `open` has filled the file, and `close` was not called.
unsafe fn image<'f>(file: *mut ffi::sqlite3_file) -> Option<&'f DatabaseImage> {
    // SAFETY: `open` has put an image there, which is only read until `close`.
    unsafe { (*file.cast::<OpenFile>()).image.as_ref() }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let file = file.cast::<OpenFile>();
    // SAFETY: `open` has filled the file.
    let image = unsafe { ptr::replace(&raw mut (*file).image, ptr::null_mut()) };
    if !image.is_null() {
        // SAFETY: it is of `open`, and given back once.
        drop(unsafe { Box::from_raw(image) });
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    buffer: *mut c_void,
    len: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: `open` has filled the file.
    let image = unsafe { image(file) };
    let (Some(image), Ok(len), Ok(at)) = (image, usize::try_from(len), u64::try_from(at)) else {
        return ffi::SQLITE_IOERR_READ;
    };
    let buffer = buffer.cast::<u8>();
    // SAFETY: the buffer has so many bytes, and is SQLite's own. What cannot be read is zeros.
    let bytes = unsafe {
        buffer.write_bytes(0, len);
        std::slice::from_raw_parts_mut(buffer, len)
    };
    match image.read(bytes, at) {
        Ok(read) if read == len => ffi::SQLITE_OK,
        Ok(_) => ffi::SQLITE_IOERR_SHORT_READ,
        Err(_) => ffi::SQLITE_IOERR_READ,
    }
}

unsafe extern "C" fn write(
    _: *mut ffi::sqlite3_file,
    _: *const c_void,
    _: c_int,
    _: ffi::sqlite3_int64,
) -> c_int {
    ffi::SQLITE_READONLY
}

unsafe extern "C" fn truncate(_: *mut ffi::sqlite3_file, _: ffi::sqlite3_int64) -> c_int {
    ffi::SQLITE_READONLY
}

/// Nothing is written or locked, so these calls succeed.
unsafe extern "C" fn accept(_: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(
    file: *mut ffi::sqlite3_file,
    size: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: `open` has filled the file.
    let len = unsafe { image(file) }.and_then(|image| image.len().ok());
    let Some(len) = len.and_then(|len| ffi::sqlite3_int64::try_from(len).ok()) else {
        return ffi::SQLITE_IOERR_FSTAT;
    };
    // SAFETY: SQLite passes a pointer for the result.
    unsafe { size.write(len) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn is_reserved(_: *mut ffi::sqlite3_file, is_reserved: *mut c_int) -> c_int {
    // SAFETY: SQLite passes a pointer for the result.
    unsafe { is_reserved.write(0) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector(_: *mut ffi::sqlite3_file) -> c_int {
    4096
}

/// The file counts as immutable: the reader checks for changes itself, and reads again if there were any.
unsafe extern "C" fn characteristics(_: *mut ffi::sqlite3_file) -> c_int {
    ffi::SQLITE_IOCAP_IMMUTABLE
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use rusqlite::Connection;

    use super::super::image::DatabaseImage;
    use super::super::sidecar;
    use super::connect;

    /// A database with a log in which rows wait, without its index, as an agent leaves it that was killed.
    fn with_log(dir: &Path, rows: i64) -> PathBuf {
        let (written, path) = (dir.join("written.db"), dir.join("folder/agent ?#%.db"));
        fs::create_dir(dir.join("folder")).unwrap();
        let writer = Connection::open(&written).unwrap();
        writer
            .execute_batch(
                "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n, x);",
            )
            .unwrap();
        for number in 0..rows {
            writer
                .execute("INSERT INTO t VALUES (?1, zeroblob(900))", [number])
                .unwrap();
            if number == rows / 2 {
                writer
                    .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                    .unwrap();
                writer
                    .execute("UPDATE t SET x = 'changed' WHERE n = 0", [])
                    .unwrap();
            }
        }
        for ending in ["", "-wal"] {
            fs::copy(sidecar(&written, ending), sidecar(&path, ending)).unwrap();
        }
        path
    }

    /// All files of the folder, with what is in them.
    fn files(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(path.parent().unwrap()).unwrap().flatten();
        let mut files: Vec<_> = entries
            .map(|entry| (entry.path(), fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        files
    }

    fn sum(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
        let sql = "SELECT count(*), sum(n) FROM t WHERE x IS NOT NULL";
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    #[test]
    fn rows_in_a_log_are_read_without_the_kernels_help_and_nothing_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let path = with_log(dir.path(), 200);
        let before = files(&path);
        assert_eq!(before.len(), 2);
        let connection = connect(DatabaseImage::open(&path, true).unwrap()).unwrap();
        assert_eq!(sum(&connection).unwrap(), (200, 199 * 100));
        let changed: String = connection
            .query_row("SELECT x FROM t WHERE n = 0", [], |row| row.get(0))
            .unwrap();
        assert_eq!(changed, "changed");
        let sound: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(sound, "ok");
        for change in [
            "INSERT INTO t VALUES (1, 2)",
            "DROP TABLE t",
            "PRAGMA journal_mode = delete",
            "VACUUM",
        ] {
            let _ = connection.execute_batch(change);
        }
        assert!(connection.execute("DELETE FROM t", []).is_err());
        drop(connection);
        assert!(files(&path) == before, "something was made or written");
        // Without its log it is what was moved so far.
        let connection = connect(DatabaseImage::open(&path, false).unwrap()).unwrap();
        assert_eq!(sum(&connection).unwrap().0, 101);
    }

    #[test]
    fn what_goes_or_comes_beside_an_open_database_is_neither_made_nor_removed() {
        for (ending, keeps) in [("-wal", false), ("", false), ("-wal", true)] {
            let dir = tempfile::tempdir().unwrap();
            let path = with_log(dir.path(), 20);
            let image = DatabaseImage::open(&path, true).unwrap();
            if keeps {
                // With its own VFS SQLite removes the log of an empty database.
                fs::write(&path, "").unwrap();
            } else {
                fs::remove_file(sidecar(&path, ending)).unwrap();
            }
            let before = files(&path);
            let connection = connect(image).unwrap();
            let _ = sum(&connection);
            drop(connection);
            let image = DatabaseImage::open(&path, true);
            let _ = image.map(|image| connect(image).map(|connection| sum(&connection)));
            assert!(files(&path) == before, "{ending} {keeps}");
        }
    }

    #[test]
    fn a_change_in_a_log_counts_when_it_is_complete_and_sound() {
        let dir = tempfile::tempdir().unwrap();
        let path = with_log(dir.path(), 40);
        let log = sidecar(&path, "-wal");
        let whole = fs::read(&log).unwrap();
        let count = || {
            let connection = connect(DatabaseImage::open(&path, true).unwrap()).unwrap();
            sum(&connection).map(|(count, _)| count)
        };
        let mut last = count().unwrap();
        assert_eq!(last, 40);
        // Cut at any place it is an earlier state.
        for len in (0..whole.len()).rev().step_by(1_777) {
            fs::write(&log, &whole[..len]).unwrap();
            let now = count().unwrap();
            assert!(now <= last && now >= 21, "{len}: {now} after {last}");
            last = now;
        }
        assert_eq!(last, 21);
        for at in (0..whole.len()).step_by(2_111) {
            let mut broken = whole.clone();
            broken[at] ^= 0x55;
            fs::write(&log, &broken).unwrap();
            assert!((21..=40).contains(&count().unwrap()), "{at}");
        }
    }
}
