//! The far side: answers on standard output what is asked on standard input, until that ends.
//!
//! Invariant: reads what [`Access`] allows, and writes nothing; on Linux the kernel refuses it to
//! all threads of this process.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::discover::files_matching_each;
use super::expansion::{Closed, Expansion, WalkedFile};
use super::fs::{self, File, Metadata};
use super::pattern::Listings;
use super::process::is_running_since;
use super::read::read_at;
use super::regular;
use super::rows::refuse_to_write;
use super::watch::{Watcher, file_system};
use super::wire::{
    BEGINNING, Bytes, EVENT, Greeting, Introduction, MAGIC, NamedThere, PORTION, PROTOCOL, Reply,
    UNANSWERED, WireAnswer, WireChange, WireRequest, bytes_of, decoded, encoded, path_of,
    read_frame, write_frame,
};

/// Most files that are open at a time.
const MOST_OPEN: usize = 4096;
/// Most watches, each of which has a thread.
const MOST_WATCHES: usize = 256;

/// What may be read.
pub trait Access {
    /// Whether the content of a file may be read.
    fn may_read(&self, path: &Path) -> bool;
    /// Whether the names in a folder may be read: also of one on the way to what an agent keeps in
    /// projects.
    fn may_list(&self, path: &Path) -> bool;
    /// Whether facts about a path may be told: also of a folder on the way to one that may be read.
    fn may_stat(&self, path: &Path) -> bool;
    /// Whether a pattern names only files that may be read.
    fn may_expand(&self, pattern: &Path) -> bool;
    /// The reader named this path.
    fn permit(&mut self, path: &Path);
}

type Out = Arc<Mutex<Box<dyn Write + Send>>>;

/// Answers until the input ends, or a message is malformed.
pub fn serve(
    mut input: impl Read,
    output: Box<dyn Write + Send>,
    introduction: Introduction,
    access: impl Access,
) -> io::Result<()> {
    // Threads that are started later inherit it.
    refuse_to_write();
    let greeting = Greeting {
        version: introduction.version,
        home: introduction.home.as_deref().map(bytes_of),
        variables: introduction
            .variables
            .into_iter()
            .map(|(name, value)| (name, bytes_of(&value)))
            .collect(),
    };
    let out: Out = Arc::new(Mutex::new(output));
    {
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(MAGIC)?;
        write_frame(
            &mut *out,
            EVENT,
            &PROTOCOL.to_le_bytes(),
            &encoded(&greeting)?,
        )?;
    }
    let mut server = Server {
        access,
        files: HashMap::new(),
        next: 0,
        watches: HashMap::new(),
        out: Arc::clone(&out),
    };
    while let Some((number, frame)) = read_frame(&mut input)? {
        let reply = decoded(&frame).and_then(|ask| server.answer(ask));
        let reply = reply.unwrap_or_else(|error| {
            Reply::Answer(WireAnswer::Error(error.raw_os_error(), error.to_string()))
        });
        if number != UNANSWERED {
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            reply.write(number, &mut *out)?;
        }
    }
    Ok(())
}

struct Server<A> {
    access: A,
    files: HashMap<u32, File>,
    next: u32,
    watches: HashMap<u32, Watching>,
    out: Out,
}

impl<A: Access> Server<A> {
    fn answer(&mut self, ask: WireRequest) -> io::Result<Reply> {
        Ok(Reply::Answer(match ask {
            WireRequest::Metadata { path, follows } => {
                let path = path_of(path)?;
                if !self.access.may_stat(&path) {
                    return Err(refused());
                }
                WireAnswer::Metadata(if follows {
                    fs::metadata(&path)?
                } else {
                    fs::symlink_metadata(&path)?
                })
            }
            WireRequest::Entries(path) => {
                let entries = fs::entries(&self.allowed(path)?)?.into_iter();
                WireAnswer::Entries(
                    entries
                        .map(|(name, kind)| (bytes_of(name.as_ref()), kind))
                        .collect(),
                )
            }
            WireRequest::Real(path) => {
                WireAnswer::Path(Some(bytes_of(&fs::canonicalize(&self.allowed(path)?)?)))
            }
            WireRequest::Look(path) => self.look(&path_of(path)?)?,
            WireRequest::Open(path) => self.open(&path_of(path)?)?,
            WireRequest::Read { file, at, len } => {
                let len = usize::try_from(len).unwrap_or(PORTION).min(PORTION);
                let mut bytes = vec![0; len];
                let read = self.file(file)?.read_at(&mut bytes, at)?;
                bytes.truncate(read);
                return Ok(Reply::Content(bytes));
            }
            WireRequest::Facts(file) => WireAnswer::Metadata(self.file(file)?.metadata()?),
            WireRequest::PathNow(file) => {
                WireAnswer::Path(self.file(file)?.current_path().as_deref().map(bytes_of))
            }
            WireRequest::Locked {
                file,
                start,
                length,
            } => WireAnswer::Flag(self.file(file)?.is_locked(start, length)),
            WireRequest::Close(file) => {
                self.files.remove(&file);
                WireAnswer::Done
            }
            WireRequest::Named(patterns) => self.match_patterns(patterns)?,
            WireRequest::Running { number, start } => {
                WireAnswer::Flag(is_running_since(Path::new("/"), number, start.as_deref()))
            }
            WireRequest::Permit(path) => {
                self.access.permit(&path_of(path)?);
                WireAnswer::Done
            }
            WireRequest::Watch {
                watch,
                paths,
                renew,
            } => {
                let paths = paths.into_iter().filter_map(|path| self.allowed(path).ok());
                let paths = paths.collect();
                self.watch(watch, paths, renew)?;
                WireAnswer::Done
            }
            WireRequest::Unwatch(watch) => {
                self.watches.remove(&watch);
                WireAnswer::Done
            }
            WireRequest::FileSystem(path) => {
                WireAnswer::Number(file_system(&self.allowed(path)?).unwrap_or_default())
            }
        }))
    }

    /// A path of a question that may be listed.
    fn allowed(&self, path: Bytes) -> io::Result<PathBuf> {
        let path = path_of(path)?;
        if self.access.may_list(&path) {
            Ok(path)
        } else {
            Err(refused())
        }
    }

    fn file(&self, number: u32) -> io::Result<&File> {
        let file = self.files.get(&number);
        file.ok_or_else(|| io::Error::other("it is not open"))
    }

    fn regular(&self, path: &Path) -> io::Result<(Metadata, File)> {
        if self.access.may_read(path) {
            regular::open_with_metadata(path)
        } else {
            Err(refused())
        }
    }

    fn look(&self, path: &Path) -> io::Result<WireAnswer> {
        let (metadata, file) = self.regular(path)?;
        let mut beginning = vec![0; BEGINNING];
        let read = read_at(&file, &mut beginning, 0)?;
        beginning.truncate(read);
        let real = file.current_path().or_else(|| fs::canonicalize(path).ok());
        // What belongs to a session lies there more often than elsewhere.
        let stem = path.with_extension("");
        let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        let is_missing = fs::symlink_metadata(&stem).is_err_and(is_missing);
        Ok(WireAnswer::Seen {
            metadata,
            real: real.as_deref().map(bytes_of),
            beginning,
            missing: is_missing.then(|| bytes_of(&stem)),
        })
    }

    fn open(&mut self, path: &Path) -> io::Result<WireAnswer> {
        if self.files.len() >= MOST_OPEN {
            return Err(rustix::io::Errno::MFILE.into());
        }
        let (metadata, file) = self.regular(path)?;
        self.next = self.next.wrapping_add(1);
        self.files.insert(self.next, file);
        Ok(WireAnswer::Opened {
            file: self.next,
            metadata,
        })
    }

    fn match_patterns(&self, patterns: Vec<Bytes>) -> io::Result<WireAnswer> {
        let patterns = patterns.into_iter().map(path_of);
        let patterns = patterns.collect::<io::Result<Vec<PathBuf>>>()?;
        // What is not allowed names nothing, in its place.
        let asked: Vec<PathBuf> = patterns
            .iter()
            .filter(|pattern| self.access.may_expand(pattern))
            .cloned()
            .collect();
        let mut found = files_matching_each(&asked, &Listings::default()).into_iter();
        let named = patterns.iter().map(|pattern| {
            let named = self
                .access
                .may_expand(pattern)
                .then(|| found.next())
                .flatten();
            named.map(NamedThere::of).unwrap_or_default()
        });
        Ok(WireAnswer::Named(named.collect()))
    }

    fn watch(&mut self, watch: u32, paths: Vec<PathBuf>, renew: bool) -> io::Result<()> {
        if self.watches.len() >= MOST_WATCHES && !self.watches.contains_key(&watch) {
            return Err(io::Error::other("too many watches"));
        }
        let out = Arc::clone(&self.out);
        let watching = self
            .watches
            .entry(watch)
            .or_insert_with(|| Watching::begin(watch, out));
        watching.change(Some((paths, renew)));
        Ok(())
    }
}

fn refused() -> io::Error {
    io::Error::other("it is in no folder of an agent, and nobody named it")
}

impl NamedThere {
    fn of(named: Expansion<WalkedFile>) -> Self {
        let file = |file: WalkedFile| (bytes_of(&file.path), file.metadata);
        let closed = |closed: Closed| (bytes_of(&closed.path), closed.why, closed.is_file);
        Self {
            files: named.files.into_iter().map(file).collect(),
            folders: named
                .directories
                .iter()
                .map(|path| bytes_of(path))
                .collect(),
            closed: named.closed.into_iter().map(closed).collect(),
        }
    }
}

/// A thread that reports changes.
struct Watching {
    /// What to watch from now on; nothing any more if that is `None`.
    requests: Arc<Mutex<Vec<Option<Wanted>>>>,
    thread: JoinHandle<()>,
}

type Wanted = (Vec<PathBuf>, bool);

impl Watching {
    fn begin(watch: u32, out: Out) -> Self {
        let wanted: Arc<Mutex<Vec<Option<Wanted>>>> = Arc::default();
        let asked = Arc::clone(&wanted);
        let thread = thread::spawn(move || report(watch, &asked, &out));
        Self {
            requests: wanted,
            thread,
        }
    }

    fn change(&self, wanted: Option<Wanted>) {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(wanted);
        self.thread.thread().unpark();
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.change(None);
    }
}

/// Reports changes, until there is nothing more to watch.
fn report(watch: u32, asked: &Mutex<Vec<Option<Wanted>>>, out: &Out) {
    let mut watcher = Watcher::new(true);
    loop {
        let asked = std::mem::take(&mut *asked.lock().unwrap_or_else(PoisonError::into_inner));
        let mut is_new = false;
        for wanted in asked {
            let Some((paths, renew)) = wanted else { return };
            is_new |= watcher.watch(paths.iter().map(PathBuf::as_path), renew);
        }
        let hints = watcher.take();
        let event = WireChange {
            watch,
            paths: hints.paths().map(|path| bytes_of(path)).collect(),
            // What was written before the watch began has no event.
            everything: hints.everything || is_new,
        };
        let is_news = event.everything || !event.paths.is_empty();
        if is_news && send(out, &event).is_err() {
            return;
        }
        watcher.wait(None);
    }
}

fn send(out: &Out, event: &WireChange) -> io::Result<()> {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    write_frame(&mut *out, EVENT, &[], &encoded(event)?)
}
