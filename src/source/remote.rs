//! Other machines, and containers here: their files are read through a `tv serve` there, over the
//! system's `ssh` or `docker exec`, whose settings, agents and jump hosts apply.
//!
//! A host has one connection and a thread that keeps it: it reads answers and events, and connects
//! again after a cut. Until then every question fails at once, and who follows a file asks again
//! from its offset. An open file is opened again after a cut, if it is still the same file.
//!
//! Invariant: messages of the far side are bounded and checked, and can name only files of its own
//! machine.

mod connection;
mod file;
mod seen;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

pub use self::file::FarFile;
use self::seen::{Answers, Asked, FileSaid, SeenFile};
use super::expansion::{Closed, Expansion, WalkedFile};
use super::metadata::{Metadata, PathKind};
pub use super::wire::Introduction;
use super::wire::{
    BEGINNING, EVENT, Greeting, NamedThere, Reply, UNANSWERED, WireAnswer, WireRequest, bytes_of,
    encoded, malformed, name_of, path_of, write_frame,
};
use crate::model::fingerprint::hash_of;

/// Why a connection is ended.
const SILENT: &str = "it does not answer";

/// How hosts are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transport {
    /// The command in place of `ssh`, with its first arguments.
    pub ssh: Vec<String>,
    /// The command in place of `tv` on the far side, as its shell reads it.
    pub tv: String,
    /// How long a first connection may take, and an answer.
    pub patience: Duration,
}

impl Default for Transport {
    fn default() -> Self {
        Self {
            ssh: vec!["ssh".to_owned()],
            tv: "tv".to_owned(),
            patience: Duration::from_secs(20),
        }
    }
}

static TRANSPORT: OnceLock<Transport> = OnceLock::new();
static HOSTS: Mutex<BTreeMap<String, Arc<Host>>> = Mutex::new(BTreeMap::new());
static WATCHES: AtomicU32 = AtomicU32::new(0);
static NEWS: LazyLock<(Sender<String>, Receiver<String>)> = LazyLock::new(unbounded);

/// Sets how hosts are reached, once.
pub fn install(transport: Transport) {
    let _ = TRANSPORT.set(transport);
}

fn transport() -> &'static Transport {
    TRANSPORT.get_or_init(Transport::default)
}

/// Sentences about hosts that the reader should see, each once.
pub fn news() -> Receiver<String> {
    NEWS.1.clone()
}

/// The host in front of a path and the path there, which may be empty, relative or begin with `~`:
/// `host:path`, `user@host:path`, `[::1]:path`, `docker:name:path`. `None` if it has no such form.
pub fn parse(argument: &str) -> Option<(&str, &str)> {
    let from = argument
        .strip_prefix("docker:")
        .map_or(0, |_| "docker:".len());
    let rest = argument.get(from..)?;
    let colon = match rest.find('[').zip(rest.find("]:")) {
        Some((begin, end)) if !rest.get(..begin)?.contains(':') => end + 1,
        _ => rest.find(':')?,
    };
    let (host, path) = argument.split_at_checked(from + colon)?;
    let name = host.get(from..)?;
    let is_name = !name.is_empty()
        && !name.contains('/')
        && !name.chars().any(|c| c.is_control() || c.is_whitespace());
    is_name.then_some((host, path.strip_prefix(':')?))
}

/// Registers a host: from now on, paths that begin with its name are on it. A name that `ssh` would
/// take for an option is refused.
pub fn host(name: &str) -> Result<Arc<Host>, String> {
    if name.trim_start_matches("docker:").starts_with('-') {
        return Err(format!("{name}: a host does not begin with -"));
    }
    let mut hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = hosts.entry(name.to_owned()).or_insert_with(|| {
        let host = Arc::new(Host::new(name));
        let kept = Arc::clone(&host);
        thread::spawn(move || kept.maintain_connection());
        host
    });
    Ok(Arc::clone(known))
}

/// The host of a path, and the path there.
pub(crate) fn split(path: &Path) -> Option<(Arc<Host>, PathBuf)> {
    // Nearly all paths end here.
    if path.as_os_str().as_bytes().first() == Some(&b'/') {
        return None;
    }
    let mut parts = path.components();
    let Component::Normal(first) = parts.next()? else {
        return None;
    };
    let name = first.to_str()?.strip_suffix(':')?;
    let hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    let host = Arc::clone(hosts.get(name)?);
    Some((host, Path::new("/").join(parts.as_path())))
}

/// The number of files ahead of the one that is read for which another machine is asked: enough that
/// the line to a distant one is never idle.
pub(crate) const AHEAD: usize = 64;

/// Asks for the beginnings of files that will be opened soon, without waiting for them.
pub(crate) fn expect<'p>(paths: impl IntoIterator<Item = &'p Path>) {
    for (host, path) in paths.into_iter().filter_map(split) {
        host.expect(path);
    }
}

/// Whether a path is of another machine.
pub fn is_far(path: &Path) -> bool {
    split(path).is_some()
}

pub struct Host {
    name: String,
    state: Mutex<HostState>,
    changed: Condvar,
    /// Where questions are written, while there is a connection.
    input: Mutex<Option<ChildStdin>>,
    answers: Mutex<Answers>,
    /// Counts events: what was asked before the last one may have changed.
    events: AtomicU64,
}

#[derive(Default)]
struct HostState {
    /// Why there is no connection; `None` if there is one, or the first try is not over.
    failure: Option<String>,
    /// Why this side ended the connection.
    ended: Option<&'static str>,
    is_up: bool,
    /// Counts connections: open files are those of one.
    generation: u64,
    next: u32,
    pending: HashMap<u32, Sender<io::Result<Reply>>>,
    greeting: Option<Greeting>,
    child: Option<Child>,
    permitted: Vec<PathBuf>,
    watches: HashMap<u32, Watched>,
}

/// What somebody waits for.
struct Watched {
    paths: Vec<PathBuf>,
    wake: Wake,
}

/// Is told the paths that were changed, and whether everything may have changed.
pub(super) type Wake = Box<dyn Fn(Vec<PathBuf>, bool) + Send>;

impl Host {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            state: Mutex::default(),
            changed: Condvar::new(),
            input: Mutex::default(),
            answers: Mutex::default(),
            events: AtomicU64::new(0),
        }
    }

    /// The path of something there.
    pub fn path(&self, there: &Path) -> PathBuf {
        let below = there.strip_prefix("/").unwrap_or(there);
        let root = PathBuf::from(format!("{}:", self.name));
        if below.as_os_str().is_empty() {
            root
        } else {
            root.join(below)
        }
    }

    /// What the far side said of itself, as paths here.
    pub fn environment(&self) -> io::Result<Introduction> {
        self.wait()?;
        let state = self.lock();
        let greeting = state.greeting.clone().unwrap_or_default();
        let version = greeting.version;
        let there = |bytes| path_of(bytes).ok().map(|path| self.path(&path));
        let variables = greeting.variables.into_iter();
        let variables = variables.filter_map(|(name, value)| Some((name, there(value)?)));
        Ok(Introduction {
            version,
            home: greeting.home.and_then(there),
            variables: variables.collect(),
        })
    }

    /// Lets a path be read that the reader named, with what belongs to a session there.
    pub fn permit(&self, path: &Path) -> io::Result<()> {
        let Some((_, there)) = split(path) else {
            return Ok(());
        };
        self.lock().permitted.push(there.clone());
        self.request(&WireRequest::Permit(bytes_of(&there)))
            .map(drop)
    }

    pub(super) fn metadata(&self, path: &Path, follows: bool) -> io::Result<Metadata> {
        if path == Path::new("/") {
            // The whole machine is a place to search, even while it cannot be reached.
            return Ok(Metadata::FOLDER);
        }
        if self.answers().is_missing(path, self.events()) {
            return Err(rustix::io::Errno::NOENT.into());
        }
        if let Some(Ok(seen)) = self.known(path).filter(|_| follows) {
            return Ok(seen.metadata);
        }
        let path = bytes_of(path);
        match self.ask_once(&WireRequest::Metadata { path, follows })? {
            WireAnswer::Metadata(metadata) => Ok(self.marked(metadata)),
            _ => Err(malformed()),
        }
    }

    /// What is known of a file there, which is none of another machine that has the same numbers.
    fn marked(&self, metadata: Metadata) -> Metadata {
        let device = metadata.device ^ hash_of(self.name.as_bytes());
        Metadata { device, ..metadata }
    }

    pub(super) fn entries(&self, folder: &Path) -> io::Result<Vec<(OsString, PathKind)>> {
        match self.ask_once(&WireRequest::Entries(bytes_of(folder)))? {
            WireAnswer::Entries(entries) => entries
                .into_iter()
                .map(|(name, kind)| Ok((name_of(name)?, kind)))
                .collect(),
            _ => Err(malformed()),
        }
    }

    pub(super) fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match self.ask_once(&WireRequest::Real(bytes_of(path)))? {
            WireAnswer::Path(Some(real)) => Ok(self.path(&path_of(real)?)),
            _ => Err(malformed()),
        }
    }

    pub(super) fn open(self: Arc<Self>, path: PathBuf) -> io::Result<(Metadata, FarFile)> {
        let seen = if let Some(Ok(seen)) = self.known(&path) {
            seen
        } else {
            let asked = Asked::now(self.events());
            let reply = self.request(&WireRequest::Look(bytes_of(&path)));
            self.see(&path, asked, reply)?
        };
        Ok((seen.metadata, FarFile::new(self, path, seen)))
    }

    fn open_there(&self, path: &Path) -> io::Result<(u64, u32, Metadata)> {
        let generation = self.lock().generation;
        match self.request(&WireRequest::Open(bytes_of(path)))? {
            Reply::Answer(WireAnswer::Opened { file, metadata }) => {
                // A number of an earlier connection would name another file.
                Ok((generation.max(1), file, self.marked(metadata)))
            }
            _ => Err(malformed()),
        }
    }

    fn expect(&self, path: PathBuf) {
        let asked = Asked::now(self.events());
        // Who cannot wait for a connection will find out why when it opens the file.
        if !self.lock().is_up || self.answers().has_file(&path, self.events()) {
            return;
        }
        if let Ok(reply) = self.begin(&WireRequest::Look(bytes_of(&path))) {
            self.answers().expect_file(path, asked, reply);
        }
    }

    /// What was said of a file a moment ago, or is being said.
    fn known(&self, path: &Path) -> Option<io::Result<Arc<SeenFile>>> {
        // The lock is not held while an answer is awaited.
        let said = self.answers().file(path, self.events())?;
        Some(match said {
            FileSaid::Seen(seen) => Ok(seen),
            FileSaid::Coming(asked, reply) => self.see(path, asked, self.end(&reply)),
        })
    }

    /// Keeps what is said of a file.
    fn see(
        &self,
        path: &Path,
        asked: Asked,
        reply: io::Result<Reply>,
    ) -> io::Result<Arc<SeenFile>> {
        let Reply::Answer(WireAnswer::Seen {
            metadata,
            real,
            beginning,
            missing,
        }) = reply?
        else {
            return Err(malformed());
        };
        let asked = asked.answered();
        let real = real.map(path_of).transpose()?;
        let real = real.map(|real| self.path(&real));
        let missing = missing.map(path_of).transpose()?;
        let seen = SeenFile::new(self.marked(metadata), real, asked);
        seen.keep(0, beginning, BEGINNING, asked);
        let seen = Arc::new(seen);
        let mut answers = self.answers();
        answers.keep_file(path.to_owned(), &seen, self.events());
        if let Some(missing) = missing {
            answers.lacks(missing, asked);
        }
        Ok(seen)
    }

    /// Asks, unless the same was answered a moment ago.
    fn ask_once(&self, ask: &WireRequest) -> io::Result<WireAnswer> {
        let asked = Asked::now(self.events());
        let question = encoded(ask)?;
        if let Some(answer) = self.answers().find(&question, self.events()) {
            return answer;
        }
        let answer = match self.request(ask) {
            Ok(Reply::Answer(answer)) => Ok(answer),
            Ok(Reply::Content(_)) => Err(malformed()),
            Err(error) => Err(error),
        };
        self.answers().keep(question, asked, &answer);
        answer
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn events(&self) -> u64 {
        self.events.load(Ordering::Acquire)
    }

    /// The files that each of some patterns names.
    pub(super) fn files_matching(
        &self,
        patterns: &[PathBuf],
    ) -> io::Result<Vec<Expansion<WalkedFile>>> {
        let is_missing = |pattern: &PathBuf| self.answers().is_missing(pattern, self.events());
        if patterns.iter().all(is_missing) {
            let folder = |pattern: &PathBuf| -> PathBuf {
                let is_star = |part: &std::ffi::OsStr| part.as_bytes().contains(&b'*');
                pattern.iter().take_while(|part| !is_star(part)).collect()
            };
            let nothing = |pattern: &PathBuf| Expansion {
                directories: vec![self.path(&folder(pattern))],
                ..Expansion::default()
            };
            return Ok(patterns.iter().map(nothing).collect());
        }
        let asked = patterns.iter().map(|pattern| bytes_of(pattern)).collect();
        let WireAnswer::Named(found) = self.ask_once(&WireRequest::Named(asked))? else {
            return Err(malformed());
        };
        if found.len() != patterns.len() {
            return Err(malformed());
        }
        let here = |bytes| Ok(self.path(&path_of(bytes)?));
        let named = |found: NamedThere| {
            let file = |(path, metadata): (_, Option<Metadata>)| {
                Ok(WalkedFile {
                    path: here(path)?,
                    metadata: metadata.map(|metadata| self.marked(metadata)),
                })
            };
            let closed = |(path, why, is_file)| {
                Ok(Closed {
                    path: here(path)?,
                    why,
                    is_file,
                })
            };
            Ok(Expansion {
                files: found
                    .files
                    .into_iter()
                    .map(file)
                    .collect::<io::Result<_>>()?,
                directories: found
                    .folders
                    .into_iter()
                    .map(here)
                    .collect::<io::Result<_>>()?,
                closed: found
                    .closed
                    .into_iter()
                    .map(closed)
                    .collect::<io::Result<_>>()?,
            })
        };
        found.into_iter().map(named).collect()
    }

    pub(super) fn is_running(&self, number: i64, start: Option<&str>) -> bool {
        let start = start.map(str::to_owned);
        self.flag(&WireRequest::Running { number, start })
            .unwrap_or(false)
    }

    pub(super) fn file_system(&self, path: &Path) -> Option<i64> {
        match self
            .request(&WireRequest::FileSystem(bytes_of(path)))
            .ok()?
        {
            Reply::Answer(WireAnswer::Number(number)) => Some(number),
            _ => None,
        }
    }

    fn flag(&self, ask: &WireRequest) -> io::Result<bool> {
        match self.request(ask)? {
            Reply::Answer(WireAnswer::Flag(flag)) => Ok(flag),
            _ => Err(malformed()),
        }
    }

    /// Waits for the first connection, or for the failure of the first try.
    fn wait(&self) -> io::Result<()> {
        let is_open = |state: &mut HostState| !state.is_up && state.failure.is_none();
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), transport().patience, is_open);
        let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            state.end(Some(SILENT));
            return Err(self.error(SILENT));
        }
        match &state.failure {
            Some(why) if !state.is_up => Err(self.error(why)),
            _ => Ok(()),
        }
    }

    fn request(&self, ask: &WireRequest) -> io::Result<Reply> {
        self.wait()?;
        self.end(&self.begin(ask)?)
    }

    /// Asks without waiting for the answer.
    fn begin(&self, ask: &WireRequest) -> io::Result<Receiver<io::Result<Reply>>> {
        let (sender, reply) = bounded(1);
        let number = {
            let mut state = self.lock();
            if let Some(why) = state.failure.as_ref().filter(|_| !state.is_up) {
                return Err(self.error(why));
            }
            state.next = match state.next {
                UNANSWERED.. => EVENT + 1,
                next if next + 1 == UNANSWERED => EVENT + 1,
                next => next + 1,
            };
            let number = state.next;
            state.pending.insert(number, sender);
            number
        };
        // If the connection is cut, the thread that reads says why.
        if self.write(number, ask).is_err() {
            self.lock().end(None);
        }
        Ok(reply)
    }

    fn end(&self, reply: &Receiver<io::Result<Reply>>) -> io::Result<Reply> {
        let Ok(reply) = reply.recv_timeout(transport().patience) else {
            self.lock().end(Some(SILENT));
            return Err(self.error(SILENT));
        };
        match reply? {
            Reply::Answer(WireAnswer::Error(Some(number), _)) => {
                Err(io::Error::from_raw_os_error(number))
            }
            Reply::Answer(WireAnswer::Error(None, words)) => Err(io::Error::other(words)),
            reply => Ok(reply),
        }
    }

    fn write(&self, number: u32, ask: &WireRequest) -> io::Result<()> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(input) = input.as_mut() else {
            return Err(self.error("the connection is cut"));
        };
        write_frame(input, number, &[], &encoded(ask)?)
            .map_err(|error| self.error(&format!("the connection is cut ({error})")))
    }

    /// Questions whose answers nobody waits for.
    fn send(&self, ask: &WireRequest) {
        if self.lock().is_up {
            let _ = self.write(UNANSWERED, ask);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, why: &str) -> io::Error {
        io::Error::new(io::ErrorKind::NotConnected, format!("{}: {why}", self.name))
    }

    // === the thread that keeps the connection ===
}

impl HostState {
    /// Ends the connection: its reader then finds the end.
    fn end(&mut self, why: Option<&'static str>) {
        self.ended = why.or(self.ended);
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Whatever is watched may have changed.
    fn notify_all(&self) {
        for watched in self.watches.values() {
            (watched.wake)(Vec::new(), true);
        }
    }
}

fn watch_these(watch: u32, paths: &[PathBuf], renew: bool) -> WireRequest {
    WireRequest::Watch {
        watch,
        paths: paths.iter().map(|path| bytes_of(path)).collect(),
        renew,
    }
}

/// A share in the events of a host.
pub(super) struct FarWatch {
    host: Arc<Host>,
    number: u32,
}

impl FarWatch {
    pub(super) fn new(host: Arc<Host>, wake: Wake) -> Self {
        let number = WATCHES.fetch_add(1, Ordering::Relaxed);
        let watched = Watched {
            paths: Vec::new(),
            wake,
        };
        host.lock().watches.insert(number, watched);
        Self { host, number }
    }

    pub(super) fn is_of(&self, host: &Arc<Host>) -> bool {
        Arc::ptr_eq(&self.host, host)
    }

    /// Watches exactly these paths, of which all that is written from now on is reported.
    pub(super) fn watch(&self, mut paths: Vec<PathBuf>, renew: bool) {
        paths.sort();
        {
            let mut state = self.host.lock();
            let Some(watched) = state.watches.get_mut(&self.number) else {
                return;
            };
            if watched.paths == paths && !renew {
                return;
            }
            watched.paths.clone_from(&paths);
        }
        self.host.send(&watch_these(self.number, &paths, renew));
    }
}

impl Drop for FarWatch {
    fn drop(&mut self) {
        self.host.lock().watches.remove(&self.number);
        self.host.send(&WireRequest::Unwatch(self.number));
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{host, parse, split};
    use crate::source::wire;

    #[test]
    fn hosts_stand_in_front_of_paths() {
        for (argument, parsed) in [
            ("box:", Some(("box", ""))),
            ("box:a/b:c", Some(("box", "a/b:c"))),
            ("u@box:/x", Some(("u@box", "/x"))),
            ("[::1]:/x", Some(("[::1]", "/x"))),
            ("u@[fe80::1]:x", Some(("u@[fe80::1]", "x"))),
            ("docker:web:/x", Some(("docker:web", "/x"))),
            ("docker:web:", Some(("docker:web", ""))),
            ("-x:/etc", Some(("-x", "/etc"))),
            ("./box:a", None),
            ("a/b:c", None),
            ("/a:b", None),
            (":a", None),
            ("a b:c", None),
            ("a\n:c", None),
            ("plain.jsonl", None),
        ] {
            assert_eq!(parse(argument), parsed, "{argument}");
        }
        assert!(host("-x").is_err() && host("docker:-x").is_err());
        assert!(split(Path::new("nobody-named-this:/x")).is_none());
    }

    #[test]
    fn what_a_far_side_names_is_on_its_machine() {
        for path in ["/a/../b", "a", "", "/a/\0", "//../a"] {
            assert!(wire::path_of(path.as_bytes().to_vec()).is_err(), "{path:?}");
        }
        for name in ["", ".", "..", "a/b", "a\0"] {
            assert!(wire::name_of(name.as_bytes().to_vec()).is_err(), "{name:?}");
        }
        assert!(wire::path_of(b"/a b/\x1b[2J\xff".to_vec()).is_ok());
    }

    #[test]
    fn frames_are_as_long_as_they_say_and_not_too_long() {
        let mut written = Vec::new();
        wire::write_frame(&mut written, 7, &[1], b"abc").unwrap();
        let read = |bytes: &[u8]| wire::read_frame(&mut &*bytes);
        assert_eq!(read(&written).unwrap(), Some((7, b"\x01abc".to_vec())));
        for len in 0..written.len() {
            let cut = written.get(..len).unwrap();
            assert!(!matches!(read(cut), Ok(Some(_))), "{len}");
        }
        for len in [0_u32, 3, u32::MAX] {
            assert!(read(&[&len.to_le_bytes()[..], &[0; 8]].concat()).is_err());
        }
    }
}
