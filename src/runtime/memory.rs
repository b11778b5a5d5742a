//! The files of what outlasts the program, in the state folder.
//!
//! Invariant: best effort. A file is replaced as a whole or not at all; what another program has written
//! meanwhile is read again first; what cannot be understood is reported and stays as it is.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, Mode, OFlags, fchmod, flock};

use super::clock::now;
use crate::app::input::history::{Histories, History};
use crate::app::reader::Reader;
use crate::app::screen::Screen;
use crate::app::state::App;
use crate::app::text::places::Marks;
use crate::app::text::places::Places;
use crate::ingest::Session;
use crate::model::text::Text;
use crate::settings::memory::{self, Arrangement, Habits, Memory, Subject};

/// Of more sessions the ones that were not looked at for the longest time are forgotten.
const MOST_SESSIONS: usize = 500;
/// Sessions that were not looked at for so long are forgotten.
const OLDEST: Duration = Duration::from_secs(180 * 24 * 60 * 60);
/// A larger file is none of ours.
const LARGEST: u64 = 1 << 20;
/// So often another program is waited for, each time for a while.
const TRIES: u32 = 100;
const PATIENCE: Duration = Duration::from_millis(10);

/// The file of the reader's habits.
const HABITS: &str = "reader.json";
/// The folder of the sessions' files.
const SESSIONS: &str = "sessions";
/// The file by which programs keep each other out of a folder.
const LOCK: &str = "lock";
/// What was read is nobody else's business.
const FOLDER: Mode = Mode::RWXU;
const FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The state folder, and the session in it that is looked at.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    folder: Option<PathBuf>,
    subject: Option<Subject>,
    /// The marks as they were last read or written.
    known: Marks,
    /// Nothing is to be kept, unless something is marked.
    is_forgotten: bool,
    /// The widths of the panes as they were read.
    widths: Arrangement,
}

impl Keeper {
    /// A keeper of this folder; without one nothing is kept.
    pub fn new(folder: Option<PathBuf>) -> Self {
        if let Some(folder) = &folder {
            close_to_others(folder);
            close_to_others(&folder.join(SESSIONS));
        }
        Self { folder, ..Self::default() }
    }

    // === as the viewer asks for it ===

    /// Gives back what was typed in earlier runs.
    pub(crate) fn recall_habits(&mut self, history: &mut Histories, reader: &mut Reader) {
        match self.habits() {
            Ok(habits) => {
                history.searches = History::of(habits.searches);
                history.filters = History::of(habits.filters);
                reader.panes.outline_width = habits.widths.outline;
                reader.panes.inspector_width = habits.widths.inspector;
                let shows = &mut reader.text.shows;
                shows.intents = habits.widths.intents.unwrap_or(shows.intents);
                self.widths = Arrangement { intents: Some(shows.intents), ..habits.widths };
            }
            Err(why) => reader.screen.say(why),
        }
    }

    /// What is kept of a session that is opened now; of `None` nothing is.
    pub(crate) fn take_out(&mut self, subject: Option<Subject>, screen: &mut Screen) -> Memory {
        self.recall(subject).unwrap_or_else(|why| {
            screen.say(why);
            Memory::default()
        })
    }

    /// Something was marked.
    pub(crate) fn keep_marks(&mut self, places: &mut Places, screen: &mut Screen) {
        self.is_forgotten = false;
        match self.keep(Memory { marks: places.marks.clone(), seen: None }) {
            Ok(marks) => places.marks = marks,
            Err(why) => screen.say(unkept(&why)),
        }
    }

    /// The reader leaves the session. Gives what it was kept as.
    pub(crate) fn put_away(&mut self, reader: &mut Reader) -> Option<Subject> {
        let subject = self.subject.clone();
        if let Err(why) = self.finish(reader) {
            reader.screen.say(unkept(&why));
        }
        subject
    }

    /// The reader leaves the program; what could not be kept is for [`write_unkept`].
    pub fn close(&mut self, app: &App) -> Vec<String> {
        let habits = self.keep_habits(
            (&app.history.searches, &app.history.filters),
            Arrangement::of(&app.reader.panes, app.reader.text.shows),
        );
        [self.finish(&app.reader), habits]
            .into_iter()
            .filter_map(|kept| kept.err().map(|why| unkept(&why)))
            .collect()
    }

    /// The reader wants nothing to be kept.
    pub(crate) fn forget_all(&mut self, screen: &mut Screen) {
        self.is_forgotten = true;
        match self.forget() {
            Ok(true) => screen.say("forgotten"),
            Ok(false) => screen.say("nothing was kept of this session"),
            Err(why) => screen.say(why),
        }
    }

    fn finish(&mut self, reader: &Reader) -> Result<(), String> {
        let seen = reader.session.end(now());
        let is_wanted = self.subject.is_some()
            && !self.is_forgotten
            && (seen.is_some() || !reader.text.places.marks.is_empty());
        let kept = if is_wanted {
            self.keep(Memory { marks: reader.text.places.marks.clone(), seen })
        } else {
            Ok(Marks::new())
        };
        self.subject = None;
        kept.map(drop)
    }

    // === the files ===

    /// What is kept of the reader's habits.
    pub(crate) fn habits(&self) -> Result<Habits, String> {
        let Some(folder) = &self.folder else { return Ok(Habits::default()) };
        read(&folder.join(HABITS), memory::habits_of).map(Option::unwrap_or_default)
    }

    /// Keeps the lines that were typed, searches and filters, and the widths of the panes.
    pub(crate) fn keep_habits(&self, typed: (&History, &History), widths: Arrangement) -> Result<(), String> {
        let has_typed = !typed.0.fresh().is_empty() || !typed.1.fresh().is_empty();
        let is_fresh = has_typed || widths != self.widths;
        let Some(folder) = self.folder.as_ref().filter(|_| is_fresh) else { return Ok(()) };
        let path = folder.join(HABITS);
        let _lock = lock(folder)?;
        let habits = read(&path, memory::habits_of)?.unwrap_or_default();
        replace(&path, &memory::habits_text(&habits.and(typed, self.widths, widths)))
    }

    /// What is kept of the session that is opened now; `None` for one of which nothing can be kept.
    pub(crate) fn recall(&mut self, subject: Option<Subject>) -> Result<Memory, String> {
        self.known = Marks::default();
        self.is_forgotten = false;
        self.subject = subject;
        let Some((path, subject)) = self.file() else { return Ok(Memory::default()) };
        let memory = read(&path, |text| memory::session_of(text, subject))?.unwrap_or_default();
        self.known.clone_from(&memory.marks);
        Ok(memory)
    }

    /// Keeps what is known of the session; gives the marks, those of other programs among them.
    pub fn keep(&mut self, memory: Memory) -> Result<Marks, String> {
        let Some((path, subject)) = self.file() else { return Ok(memory.marks) };
        let folder = path.parent().unwrap_or(&path);
        let _lock = lock(folder)?;
        let theirs = read(&path, |text| memory::session_of(text, subject))?;
        let is_new = theirs.is_none();
        let memory = memory.onto(&self.known, theirs.unwrap_or_default());
        replace(&path, &memory::session_text(&memory, subject))?;
        if is_new {
            trim(folder);
        }
        self.known.clone_from(&memory.marks);
        Ok(memory.marks)
    }

    /// Deletes what is kept of the session, whatever the file holds. Answers whether there was anything.
    pub fn forget(&mut self) -> Result<bool, String> {
        self.known = Marks::default();
        let Some((path, _)) = self.file() else { return Ok(false) };
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failure(&path, &error)),
        }
    }

    fn file(&self) -> Option<(PathBuf, &Subject)> {
        let subject = self.subject.as_ref()?;
        Some((self.folder.as_ref()?.join(SESSIONS).join(subject.file_name()), subject))
    }
}

/// The session as something to be kept; `None` for a pipe.
pub(crate) fn subject_of(session: &Session) -> Option<Subject> {
    // What is kept of a session says nothing of several.
    let path = fs::canonicalize(&session.opened.path).ok().filter(|_| !session.is_joined())?;
    let kind = fs::metadata(&path).ok()?.file_type();
    let name = session.name().unwrap_or_default().to_owned();
    let subject = Subject { path: path.to_string_lossy().into_owned(), session: name };
    (kind.is_file() || kind.is_dir()).then_some(subject)
}

/// Writes to stderr what could not be kept, when there is no screen any more.
pub fn write_unkept(unkept: Vec<String>) {
    for sentence in unkept {
        let _ = writeln!(io::stderr(), "tv: {}", Text::clean(&sentence));
    }
}

fn unkept(why: &str) -> String {
    format!("not kept for the next time: {why}")
}

fn failure(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// Reads a file, if there is one.
fn read<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    let file = match open(path, OFlags::RDONLY) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failure(path, &error)),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(|error| failure(path, &error))?;
    let parsed = parse(&String::from_utf8_lossy(&bytes));
    parsed.map(Some).map_err(|what| format!("{} {what}; it is left as it is", path.display()))
}

/// Writes a file beside the old one, and puts it in its place.
fn replace(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_data()?;
        file.persist(path).map_err(|error| error.error)
    };
    write().map(drop).map_err(|error| failure(path, &error))
}

/// Makes the folder, for its owner only, and keeps other programs out of it until the file is dropped. One
/// that takes too long is not waited for.
fn lock(folder: &Path) -> Result<File, String> {
    let made = DirBuilder::new().recursive(true).mode(FOLDER.bits()).create(folder);
    made.map_err(|error| failure(folder, &error))?;
    let path = folder.join(LOCK);
    let file = open(&path, OFlags::WRONLY | OFlags::CREATE).map_err(|error| failure(&path, &error))?;
    for _ in 0..TRIES {
        if flock(&file, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK) {
            break;
        }
        thread::sleep(PATIENCE);
    }
    Ok(file)
}

/// Opens a file of the state folder, for its owner only. It is a file that was made here: no link, no pipe.
fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, FILE).map(File::from).map_err(|error| match error {
        rustix::io::Errno::LOOP => io::Error::other("it is a link, which is not followed"),
        error => error.into(),
    })?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    keep_private(&file, FILE);
    Ok(file)
}

/// Takes from others what they may do. Whether others may have done so.
fn keep_private(file: &File, mode: Mode) -> bool {
    let is_open = file.metadata().is_ok_and(|metadata| metadata.mode() & 0o077 != 0);
    // What belongs to somebody else is theirs to close.
    is_open && fchmod(file, mode).is_ok()
}

/// Keeps others out of a folder that was open to them, and of the files in it.
fn close_to_others(folder: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(opened) = rustix::fs::open(folder, flags, Mode::empty()) else { return };
    if !keep_private(&File::from(opened), FOLDER) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = |name: &str| name == HABITS || name == LOCK || memory::is_file_name(name);
        if entry.file_name().to_str().is_some_and(is_ours) {
            let _ = open(&entry.path(), OFlags::RDONLY);
        }
    }
}

/// Deletes the files of sessions that were not looked at for long.
fn trim(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let dated = |entry: fs::DirEntry| {
        let is_ours = entry.file_name().to_str().is_some_and(memory::is_file_name);
        let modified = entry.metadata().ok()?.modified().ok()?;
        is_ours.then(|| (modified, entry.path()))
    };
    let mut files: Vec<(SystemTime, PathBuf)> = entries.flatten().filter_map(dated).collect();
    files.sort_unstable();
    // The newest one was written just now.
    let Some((now, _)) = files.last().cloned() else { return };
    let superfluous = files.len().saturating_sub(MOST_SESSIONS);
    for (number, (modified, path)) in files.iter().enumerate() {
        if number < superfluous || now.duration_since(*modified).is_ok_and(|age| age > OLDEST) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::Duration;

    use super::{Keeper, MOST_SESSIONS, OLDEST};
    use crate::app::input::history::History;
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::session::news::Seen;
    use crate::settings::memory::{Arrangement, Memory, Subject};

    fn subject(name: &str) -> Subject {
        Subject { path: format!("/sessions/{name}.jsonl"), session: String::new() }
    }

    fn keeper(folder: &Path, name: &str) -> (Keeper, Memory) {
        let mut keeper = Keeper::new(Some(folder.join("tv")));
        let memory = keeper.recall(Some(subject(name))).unwrap();
        (keeper, memory)
    }

    fn mark(memory: &mut Memory, letter: char, key: &str) {
        memory.marks.insert(letter, (Text::from(key), 0));
    }

    fn file_of(folder: &Path, name: &str) -> std::path::PathBuf {
        folder.join("tv/sessions").join(subject(name).file_name())
    }

    #[test]
    fn two_at_once_keep_each_others_marks() {
        let dir = tempfile::tempdir().unwrap();
        let (mut one, mut of_one) = keeper(dir.path(), "s");
        let (mut two, mut of_two) = keeper(dir.path(), "s");
        mark(&mut of_one, 'a', "e1");
        of_one.seen = Some(Seen { key: Text::from("e9"), at: Timestamp(1_700_000_000_000) });
        mark(&mut of_two, 'b', "e2");
        one.keep(of_one.clone()).unwrap();
        let both = two.keep(of_two).unwrap();
        assert_eq!(both.len(), 2);
        // Who kept first does not bring back what the other one changed meanwhile.
        let (mut three, mut of_three) = keeper(dir.path(), "s");
        mark(&mut of_three, 'a', "e3");
        three.keep(of_three).unwrap();
        one.keep(of_one.clone()).unwrap();
        let (_, kept) = keeper(dir.path(), "s");
        assert_eq!(kept.marks.get(&'a').map(|(key, _)| key.as_str()), Some("e3"));
        assert_eq!((kept.marks.len(), kept.seen), (2, of_one.seen));
        assert_eq!(keeper(dir.path(), "other").1, Memory::default());
        let mode = fs::metadata(dir.path().join("tv/sessions")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "what was read is nobody else's business");
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_was_open_to_others_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let (mut first, mut memory) = keeper(dir.path(), "s");
        mark(&mut memory, 'a', "e1");
        first.keep(memory.clone()).unwrap();
        let (tv, file) = (dir.path().join("tv"), file_of(dir.path(), "s"));
        let (reader, notes) = (tv.join("reader.json"), tv.join("notes.txt"));
        first
            .keep_habits(
                (&History::default(), &History::default()),
                Arrangement { outline: Some(7), inspector: None, intents: None },
            )
            .unwrap();
        fs::write(&notes, "of somebody else").unwrap();
        let open =
            |path: &Path, mode: u32| fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        for path in [&tv, &tv.join("sessions")] {
            open(path, 0o755);
        }
        for path in [&file, &reader, &notes, &tv.join("lock"), &tv.join("sessions/lock")] {
            open(path, 0o644);
        }
        let (_, kept) = keeper(dir.path(), "other");
        assert_eq!(kept, Memory::default());
        assert_eq!((mode(&tv), mode(&tv.join("sessions"))), (0o700, 0o700));
        for path in [&file, &reader, &tv.join("lock"), &tv.join("sessions/lock")] {
            assert_eq!(mode(path), 0o600, "{}", path.display());
        }
        assert_eq!(mode(&notes), 0o644, "what is not tv's is left alone");
        // One alone is closed when it is read.
        open(&file, 0o644);
        keeper(dir.path(), "s");
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn no_link_in_the_folder_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        let tv = dir.path().join("tv");
        fs::create_dir_all(tv.join("sessions")).unwrap();
        for name in ["lock", "reader.json", "sessions/lock"] {
            std::os::unix::fs::symlink(&victim, tv.join(name)).unwrap();
        }
        let (mut keeper, memory) = keeper(dir.path(), "s");
        let why = keeper.keep(memory.clone()).unwrap_err();
        assert!(why.contains("a link, which is not followed"), "{why}");
        assert!(!victim.exists(), "nothing is made through a link");
        fs::write(&victim, "{}").unwrap();
        let before = mode(&victim);
        assert!(keeper.keep(memory).is_err() && keeper.habits().is_err());
        let widths = Arrangement { outline: Some(7), inspector: None, intents: None };
        assert!(keeper.keep_habits((&History::default(), &History::default()), widths).is_err());
        assert_eq!((mode(&victim), fs::read_to_string(&victim).unwrap().as_str()), (before, "{}"));
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for letter in 'a'..='h' {
                let path = dir.path();
                scope.spawn(move || {
                    let (mut keeper, mut memory) = keeper(path, "s");
                    mark(&mut memory, letter, "e1");
                    keeper.keep(memory).unwrap();
                });
            }
        });
        assert_eq!(keeper(dir.path(), "s").1.marks.len(), 8);
    }

    #[test]
    fn a_strange_file_is_reported_and_left_alone_until_it_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let (mut first, mut memory) = keeper(dir.path(), "s");
        mark(&mut memory, 'a', "e1");
        first.keep(memory.clone()).unwrap();
        let path = file_of(dir.path(), "s");
        for strange in ["{\"schema\": \"tv.state/9\"}", "half a fi", ""] {
            fs::write(&path, strange).unwrap();
            let mut keeper = Keeper::new(Some(dir.path().join("tv")));
            let why = keeper.recall(Some(subject("s"))).unwrap_err();
            assert!(why.contains("left as it is"), "{why}");
            assert!(keeper.keep(memory.clone()).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), strange);
        }
        assert_eq!(first.forget(), Ok(true));
        assert_eq!(first.forget(), Ok(false));
        first.keep(memory.clone()).unwrap();
        assert_eq!(keeper(dir.path(), "s").1.marks, memory.marks);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("tv"), "a file in its place").unwrap();
        let mut keeper = Keeper::new(Some(dir.path().join("tv")));
        let _ = keeper.recall(Some(subject("s")));
        assert!(keeper.keep(Memory::default()).is_err());
        let mut nowhere = Keeper::new(None);
        assert_eq!(nowhere.recall(Some(subject("s"))), Ok(Memory::default()));
        assert!(nowhere.keep(Memory::default()).is_ok() && nowhere.habits().is_ok());
    }

    #[test]
    fn old_files_go_and_foreign_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("tv/sessions");
        fs::create_dir_all(&folder).unwrap();
        let now = fs::metadata(&folder).unwrap().modified().unwrap();
        let write = |name: &str, age: Duration| {
            let file = File::create(folder.join(name)).unwrap();
            file.set_modified(now - age).unwrap();
        };
        for number in 0..MOST_SESSIONS + 20 {
            write(&format!("{number:016x}.json"), Duration::from_secs(60 + number as u64));
        }
        write("ffffffffffffffff.json", OLDEST + Duration::from_secs(3_600));
        write("notes.txt", OLDEST * 2);
        let (mut keeper, memory) = keeper(dir.path(), "s");
        keeper.keep(memory).unwrap();
        let left = fs::read_dir(&folder).unwrap().count();
        // The foreign one and the lock are not counted.
        assert_eq!(left, MOST_SESSIONS + 2);
        assert!(folder.join("notes.txt").exists() && file_of(dir.path(), "s").exists());
        assert!(!folder.join("ffffffffffffffff.json").exists());
    }

    #[test]
    fn typed_lines_of_several_programs_are_joined() {
        let dir = tempfile::tempdir().unwrap();
        let keeper = Keeper::new(Some(dir.path().join("tv")));
        let (mut one, mut two) = (History::default(), History::default());
        one.keep("herring");
        two.keep("lantern");
        let widths = Arrangement { outline: Some(40), inspector: None, intents: None };
        keeper.keep_habits((&one, &History::default()), widths).unwrap();
        keeper.keep_habits((&two, &one), Arrangement::default()).unwrap();
        let habits = keeper.habits().unwrap();
        assert_eq!((habits.searches.len(), habits.filters), (2, vec!["herring".to_owned()]));
        assert_eq!(habits.widths, widths);
    }
}
