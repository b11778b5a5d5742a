//! The files of what outlasts the program, in the state folder.
//!
//! Invariant: best effort. A file is replaced as a whole or not at all; what another program has written
//! meanwhile is read again first; what cannot be understood is reported and stays as it is.

mod folder;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::folder::{Folder, HABITS, Place, SESSIONS};
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

/// The state folder, and the session in it that is looked at.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    /// Nothing is kept without one.
    place: Option<Place>,
    subject: Option<Subject>,
    /// The marks as they were last read or written.
    known: Marks,
    /// Nothing is to be kept, unless something is marked.
    is_forgotten: bool,
    /// The widths of the panes as they were read.
    widths: Arrangement,
}

impl Keeper {
    /// A keeper of this folder of a reader with this home; without a folder nothing is kept.
    pub fn new(folder: Option<PathBuf>, home: Option<&Path>) -> Self {
        Self {
            place: folder.map(|folder| Place::new(&folder, home)),
            ..Self::default()
        }
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
                self.widths = Arrangement {
                    intents: Some(shows.intents),
                    ..habits.widths
                };
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
        match self.keep(Memory {
            marks: places.marks.clone(),
            seen: None,
        }) {
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
            self.keep(Memory {
                marks: reader.text.places.marks.clone(),
                seen,
            })
        } else {
            Ok(Marks::new())
        };
        self.subject = None;
        kept.map(drop)
    }

    // === the files ===

    /// A folder that is there, or with `makes` is made. One that is none for tv is told of once: from then on nothing is
    /// kept.
    fn folder(&mut self, name: Option<&str>, makes: bool) -> Result<Option<Folder>, String> {
        let Some(place) = &self.place else {
            return Ok(None);
        };
        let folder = if makes {
            place.make(name)
        } else {
            place.open(name)
        };
        folder.map_err(|problem| {
            if problem.is_refusal {
                self.place = None;
            }
            problem.why
        })
    }

    /// What is kept of the reader's habits.
    pub(crate) fn habits(&mut self) -> Result<Habits, String> {
        let Some(folder) = self.folder(None, false)? else {
            return Ok(Habits::default());
        };
        folder
            .read(HABITS, memory::habits_of)
            .map(Option::unwrap_or_default)
    }

    /// Keeps the lines that were typed, searches and filters, and the widths of the panes.
    pub(crate) fn keep_habits(
        &mut self,
        typed: (&History, &History),
        widths: Arrangement,
    ) -> Result<(), String> {
        let has_typed = !typed.0.fresh().is_empty() || !typed.1.fresh().is_empty();
        if !has_typed && widths == self.widths {
            return Ok(());
        }
        let Some(folder) = self.folder(None, true)? else {
            return Ok(());
        };
        let _lock = folder.lock()?;
        let habits = folder.read(HABITS, memory::habits_of)?.unwrap_or_default();
        folder.replace(
            HABITS,
            &memory::habits_text(&habits.and(typed, self.widths, widths)),
        )
    }

    /// What is kept of the session that is opened now; `None` for one of which nothing can be kept.
    pub(crate) fn recall(&mut self, subject: Option<Subject>) -> Result<Memory, String> {
        self.known = Marks::default();
        self.is_forgotten = false;
        self.subject = subject;
        let Some((folder, subject)) = self.sessions(false)? else {
            return Ok(Memory::default());
        };
        let read = folder.read(&subject.file_name(), |text| {
            memory::session_of(text, &subject)
        })?;
        let memory = read.unwrap_or_default();
        self.known.clone_from(&memory.marks);
        Ok(memory)
    }

    /// Keeps what is known of the session; gives the marks, those of other programs among them.
    pub fn keep(&mut self, memory: Memory) -> Result<Marks, String> {
        let Some((folder, subject)) = self.sessions(true)? else {
            return Ok(memory.marks);
        };
        let name = subject.file_name();
        let _lock = folder.lock()?;
        let theirs = folder.read(&name, |text| memory::session_of(text, &subject))?;
        let is_new = theirs.is_none();
        let memory = memory.onto(&self.known, theirs.unwrap_or_default());
        folder.replace(&name, &memory::session_text(&memory, &subject))?;
        if is_new {
            trim(&folder);
        }
        self.known.clone_from(&memory.marks);
        Ok(memory.marks)
    }

    /// Deletes what is kept of the session, whatever the file holds. Answers whether there was anything.
    pub fn forget(&mut self) -> Result<bool, String> {
        self.known = Marks::default();
        let Some((folder, subject)) = self.sessions(false)? else {
            return Ok(false);
        };
        folder.forget(&subject.file_name())
    }

    /// The folder of the sessions, and which of them is looked at.
    fn sessions(&mut self, makes: bool) -> Result<Option<(Folder, Subject)>, String> {
        let Some(subject) = self.subject.clone() else {
            return Ok(None);
        };
        Ok(self
            .folder(Some(SESSIONS), makes)?
            .map(|folder| (folder, subject)))
    }
}

/// The session as something to be kept; `None` for a pipe.
pub(crate) fn subject_of(session: &Session) -> Option<Subject> {
    // What is kept of a session says nothing of several.
    let path = fs::canonicalize(&session.opened.path)
        .ok()
        .filter(|_| !session.is_joined())?;
    let kind = fs::metadata(&path).ok()?.file_type();
    let name = session.name().unwrap_or_default().to_owned();
    let subject = Subject {
        path: path.to_string_lossy().into_owned(),
        session: name,
    };
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

/// Deletes the files of sessions that were not looked at for long.
fn trim(folder: &Folder) {
    let files = folder.sessions();
    // The newest one was written just now.
    let Some((now, _)) = files.last() else { return };
    let superfluous = files.len().saturating_sub(MOST_SESSIONS);
    for (number, (modified, name)) in files.iter().enumerate() {
        if number < superfluous || now.duration_since(*modified).is_ok_and(|age| age > OLDEST) {
            let _ = folder.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::time::Duration;

    use super::{Keeper, MOST_SESSIONS, OLDEST};
    use crate::app::input::history::History;
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::session::news::Seen;
    use crate::settings::memory::{Arrangement, Memory, Subject};

    fn subject(name: &str) -> Subject {
        Subject {
            path: format!("/sessions/{name}.jsonl"),
            session: String::new(),
        }
    }

    fn keeper(folder: &Path, name: &str) -> (Keeper, Memory) {
        let mut keeper = Keeper::new(Some(folder.join("tv")), None);
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
        of_one.seen = Some(Seen {
            key: Text::from("e9"),
            at: Timestamp(1_700_000_000_000),
        });
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
        assert_eq!(
            kept.marks.get(&'a').map(|(key, _)| key.as_str()),
            Some("e3")
        );
        assert_eq!((kept.marks.len(), kept.seen), (2, of_one.seen));
        assert_eq!(keeper(dir.path(), "other").1, Memory::default());
        let mode = fs::metadata(dir.path().join("tv/sessions"))
            .unwrap()
            .permissions()
            .mode();
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
                Arrangement {
                    outline: Some(7),
                    inspector: None,
                    intents: None,
                },
            )
            .unwrap();
        fs::write(&notes, "of somebody else").unwrap();
        let open = |path: &Path, mode: u32| {
            fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        for path in [&tv, &tv.join("sessions")] {
            open(path, 0o755);
        }
        for path in [
            &file,
            &reader,
            &notes,
            &tv.join("lock"),
            &tv.join("sessions/lock"),
        ] {
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

    /// A folder as tv makes it.
    fn own_folder(path: &Path) {
        fs::create_dir_all(path).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o700)).unwrap();
    }

    const WIDTHS: Arrangement = Arrangement {
        outline: Some(7),
        inspector: None,
        intents: None,
    };

    #[test]
    fn no_link_in_the_folder_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        let tv = dir.path().join("tv");
        own_folder(&tv);
        own_folder(&tv.join("sessions"));
        for name in ["lock", "reader.json", "sessions/lock"] {
            symlink(&victim, tv.join(name)).unwrap();
        }
        let (mut keeper, memory) = keeper(dir.path(), "s");
        let why = keeper.keep(memory.clone()).unwrap_err();
        assert!(why.contains("a link, which is not followed"), "{why}");
        assert!(!victim.exists(), "nothing is made through a link");
        fs::write(&victim, "{}").unwrap();
        let before = mode(&victim);
        assert!(keeper.keep(memory).is_err() && keeper.habits().is_err());
        assert!(
            keeper
                .keep_habits((&History::default(), &History::default()), WIDTHS)
                .is_err()
        );
        assert_eq!(
            (mode(&victim), fs::read_to_string(&victim).unwrap().as_str()),
            (before, "{}")
        );
    }

    /// Everything that is kept of a session and of habits; what went wrong.
    fn keep_all(keeper: &mut Keeper) -> Vec<String> {
        let mut memory = Memory::default();
        let mut wrong: Vec<String> = keeper.habits().err().into_iter().collect();
        wrong.extend(keeper.recall(Some(subject("s"))).err());
        mark(&mut memory, 'a', "e1");
        wrong.extend(keeper.keep(memory).err());
        wrong.extend(
            keeper
                .keep_habits((&History::default(), &History::default()), WIDTHS)
                .err(),
        );
        wrong
    }

    #[test]
    fn a_link_at_any_level_below_the_home_leaves_what_it_leads_to_alone() {
        for level in [
            "home/.local",
            "home/.local/state",
            "home/.local/state/tv",
            "home/.local/state/tv/sessions",
        ] {
            for is_dangling in [false, true] {
                let dir = tempfile::tempdir().unwrap();
                let (victim, link) = (dir.path().join("victim"), dir.path().join(level));
                if !is_dangling {
                    fs::create_dir_all(victim.join("state/tv/sessions")).unwrap();
                    // What tv would take for its own.
                    fs::write(victim.join("lock"), "").unwrap();
                    fs::set_permissions(&victim, PermissionsExt::from_mode(0o755)).unwrap();
                    fs::set_permissions(victim.join("lock"), PermissionsExt::from_mode(0o755))
                        .unwrap();
                }
                own_folder(link.parent().unwrap());
                symlink(&victim, &link).unwrap();
                let home = dir.path().join("home");
                let mut keeper = Keeper::new(Some(home.join(".local/state/tv")), Some(&home));
                let wrong = keep_all(&mut keeper);
                let [why] = wrong.as_slice() else {
                    panic!("{level}: not one sentence: {wrong:?}")
                };
                assert!(why.contains("a link, which is not followed"), "{why}");
                if is_dangling {
                    assert!(!victim.exists(), "{level}");
                    continue;
                }
                assert_eq!(
                    (mode(&victim), mode(&victim.join("lock"))),
                    (0o755, 0o755),
                    "{level}"
                );
                let names: Vec<_> = fs::read_dir(&victim)
                    .unwrap()
                    .flatten()
                    .map(|entry| entry.file_name())
                    .collect();
                assert_eq!(names.len(), 2, "{level}: {names:?}");
                assert_eq!(
                    fs::read_dir(victim.join("state/tv/sessions"))
                        .unwrap()
                        .count(),
                    0,
                    "{level}"
                );
            }
        }
    }

    #[test]
    fn the_home_and_the_folder_that_a_variable_names_may_be_links() {
        let dir = tempfile::tempdir().unwrap();
        own_folder(&dir.path().join("real"));
        symlink(dir.path().join("real"), dir.path().join("home")).unwrap();
        let home = dir.path().join("home");
        for state in [home.join(".local/state/tv"), home.join("tv")] {
            let named =
                (!state.starts_with(home.join(".local"))).then_some(dir.path().join("other"));
            let mut keeper = Keeper::new(Some(state.clone()), named.as_deref().or(Some(&home)));
            assert_eq!(keep_all(&mut keeper), Vec::<String>::new());
            assert_eq!(
                (mode(&state), mode(&state.join("sessions"))),
                (0o700, 0o700)
            );
            assert!(state.join("reader.json").is_file());
        }
    }

    #[test]
    fn a_folder_that_tv_did_not_make_keeps_its_mode() {
        for level in ["tv", "tv/sessions"] {
            let dir = tempfile::tempdir().unwrap();
            let folder = dir.path().join(level);
            own_folder(folder.parent().unwrap());
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("notes.txt"), "of somebody else").unwrap();
            fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
            let wrong = keep_all(&mut Keeper::new(Some(dir.path().join("tv")), None));
            let [why] = wrong.as_slice() else {
                panic!("{level}: not one sentence: {wrong:?}")
            };
            assert!(why.contains("was not made by tv"), "{why}");
            assert_eq!(mode(&folder), 0o755, "{level}");
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{level}");
        }
    }

    #[test]
    fn a_second_name_of_another_file_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let (tv, victim) = (dir.path().join("tv"), dir.path().join("victim"));
        own_folder(&tv);
        fs::write(&victim, "{}").unwrap();
        fs::set_permissions(&victim, PermissionsExt::from_mode(0o644)).unwrap();
        for name in ["lock", "reader.json"] {
            fs::hard_link(&victim, tv.join(name)).unwrap();
        }
        keep_all(&mut Keeper::new(Some(tv), None));
        assert_eq!(
            (mode(&victim), fs::read_to_string(&victim).unwrap().as_str()),
            (0o644, "{}")
        );
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
            let mut keeper = Keeper::new(Some(dir.path().join("tv")), None);
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
        let mut keeper = Keeper::new(Some(dir.path().join("tv")), None);
        let _ = keeper.recall(Some(subject("s")));
        assert!(keeper.keep(Memory::default()).is_err());
        let mut nowhere = Keeper::new(None, None);
        assert_eq!(nowhere.recall(Some(subject("s"))), Ok(Memory::default()));
        assert!(nowhere.keep(Memory::default()).is_ok() && nowhere.habits().is_ok());
    }

    #[test]
    fn old_files_go_and_foreign_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("tv/sessions");
        own_folder(&dir.path().join("tv"));
        own_folder(&folder);
        let now = fs::metadata(&folder).unwrap().modified().unwrap();
        let write = |name: &str, age: Duration| {
            let file = File::create(folder.join(name)).unwrap();
            file.set_modified(now - age).unwrap();
        };
        for number in 0..MOST_SESSIONS + 20 {
            write(
                &format!("{number:016x}.json"),
                Duration::from_secs(60 + number as u64),
            );
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
        let mut keeper = Keeper::new(Some(dir.path().join("tv")), None);
        let (mut one, mut two) = (History::default(), History::default());
        one.keep("herring");
        two.keep("lantern");
        let widths = Arrangement {
            outline: Some(40),
            inspector: None,
            intents: None,
        };
        keeper
            .keep_habits((&one, &History::default()), widths)
            .unwrap();
        keeper
            .keep_habits((&two, &one), Arrangement::default())
            .unwrap();
        let habits = keeper.habits().unwrap();
        assert_eq!(
            (habits.searches.len(), habits.filters),
            (2, vec!["herring".to_owned()])
        );
        assert_eq!(habits.widths, widths);
    }
}
