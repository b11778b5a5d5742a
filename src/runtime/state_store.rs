//! Saves what outlasts the program, in files of the state folder.
//!
//! Invariant: best effort. A file is replaced as a whole or not at all; it is read again before it
//! is written, because another program may have written it meanwhile; a file that cannot be parsed
//! is reported and left alone.

mod folder;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::folder::{HABITS, SESSIONS, StateFolder, StateRoot, TODAY};
use super::clock::now;
use crate::app::input::history::{Histories, LineHistory};
use crate::app::reader::Reader;
use crate::app::screen::Screen;
use crate::app::state::App;
use crate::app::text::places::Marks;
use crate::app::text::places::SessionPlaces;
use crate::ingest::SessionSource;
use crate::model::text::Text;
use crate::report::status::Today;
use crate::settings::state_files::{self, Habits, PaneWidths, SessionKey, SessionState};
use crate::source::fs;

/// Limit of saved sessions; the least recently used ones are deleted.
const MOST_SESSIONS: usize = 500;
/// Sessions that were not opened for this long are deleted.
const OLDEST: Duration = Duration::from_secs(180 * 24 * 60 * 60);

/// The state folder, and the session in it that is shown.
#[derive(Debug, Default)]
pub(crate) struct StateStore {
    /// `None` if no state is saved.
    root: Option<StateRoot>,
    key: Option<SessionKey>,
    /// The marks as they were last read or written.
    saved_marks: Marks,
    /// The user had the session forgotten: it is not saved again until something is marked.
    is_paused: bool,
    /// The widths of the panes as they were read.
    widths: PaneWidths,
}

impl StateStore {
    /// Opens no file yet. `home` bounds the folders that are opened without following links.
    pub fn new(folder: Option<PathBuf>, home: Option<&Path>) -> Self {
        Self {
            root: folder.map(|folder| StateRoot::new(&folder, home)),
            ..Self::default()
        }
    }

    /// Restores the lines typed in earlier runs, the widths of the panes, and settings that are remembered.
    pub(crate) fn restore_history(&mut self, app: &mut App) {
        match self.habits() {
            Ok(habits) => {
                app.history.searches = LineHistory::of(habits.searches);
                app.history.filters = LineHistory::of(habits.filters);
                app.history.ran = LineHistory::of(habits.commands);
                habits.widths.apply(app);
                self.widths = PaneWidths::of(app);
            }
            Err(why) => app.reader.screen.set_status(why),
        }
    }

    /// Loads what is saved of a session that is opened now; nothing for `None`.
    pub(crate) fn load_session(
        &mut self,
        key: Option<SessionKey>,
        screen: &mut Screen,
    ) -> SessionState {
        self.load(key).unwrap_or_else(|why| {
            screen.set_status(why);
            SessionState::default()
        })
    }

    /// Saves the marks after one was set.
    pub(crate) fn save_marks(&mut self, places: &mut SessionPlaces, screen: &mut Screen) {
        self.is_paused = false;
        match self.save(SessionState {
            marks: places.marks.clone(),
            seen: None,
        }) {
            Ok(marks) => places.marks = marks,
            Err(why) => screen.set_status(unsaved(&why)),
        }
    }

    /// Saves the session when it is left. Returns which one it was.
    pub(crate) fn save_session(&mut self, reader: &mut Reader) -> Option<SessionKey> {
        let key = self.key.clone();
        if let Err(why) = self.finish(reader) {
            reader.screen.set_status(unsaved(&why));
        }
        key
    }

    /// Saves everything when the program ends; the errors are for [`write_errors`].
    pub fn close(&mut self, app: &mut App) -> Vec<String> {
        let widths = PaneWidths::of(app);
        let habits = self.save_habits(&app.history, widths);
        [self.finish(&app.reader), habits]
            .into_iter()
            .filter_map(|kept| kept.err().map(|why| unsaved(&why)))
            .collect()
    }

    /// Deletes what is saved of the session.
    pub(crate) fn delete_session(&mut self, screen: &mut Screen) {
        self.is_paused = true;
        match self.delete() {
            Ok(true) => screen.set_status("forgotten"),
            Ok(false) => screen.set_status("nothing was kept of this session"),
            Err(why) => screen.set_status(why),
        }
    }

    fn finish(&mut self, reader: &Reader) -> Result<(), String> {
        let seen = reader.session.last_view(now());
        let is_wanted = self.key.is_some()
            && !self.is_paused
            && (seen.is_some() || !reader.text.places.marks.is_empty());
        let kept = if is_wanted {
            self.save(SessionState {
                marks: reader.text.places.marks.clone(),
                seen,
            })
        } else {
            Ok(Marks::new())
        };
        self.key = None;
        kept.map(drop)
    }

    /// Opens a folder, or creates it with `creates`. One that is not safe to use is reported once,
    /// and nothing is saved from then on.
    fn folder(&mut self, name: Option<&str>, creates: bool) -> Result<Option<StateFolder>, String> {
        let Some(root) = &self.root else {
            return Ok(None);
        };
        root.open(name, creates).map_err(|problem| {
            if problem.is_refusal {
                self.root = None;
            }
            problem.why
        })
    }

    /// Reads what is saved besides sessions.
    pub(crate) fn habits(&mut self) -> Result<Habits, String> {
        let Some(folder) = self.folder(None, false)? else {
            return Ok(Habits::default());
        };
        folder
            .read(HABITS, state_files::parse_habits)
            .map(Option::unwrap_or_default)
    }

    /// Saves typed searches and filters, commands that were run, and the widths of the panes.
    pub(crate) fn save_habits(
        &mut self,
        typed: &Histories,
        widths: PaneWidths,
    ) -> Result<(), String> {
        let kept = [&typed.searches, &typed.filters, &typed.ran];
        let has_typed = kept.iter().any(|lines| !lines.fresh.is_empty());
        if !has_typed && widths == self.widths {
            return Ok(());
        }
        let Some(folder) = self.folder(None, true)? else {
            return Ok(());
        };
        let _lock = folder.lock()?;
        let habits = folder
            .read(HABITS, state_files::parse_habits)?
            .unwrap_or_default();
        folder.replace(
            HABITS,
            &state_files::habits_text(&habits.and(typed, &self.widths, widths)),
        )
    }

    /// Reads the stored costs of today.
    pub(crate) fn today(&mut self) -> Result<Today, String> {
        let Some(folder) = self.folder(None, false)? else {
            return Ok(Today::default());
        };
        folder
            .read(TODAY, Today::parse)
            .map(Option::unwrap_or_default)
    }

    /// Stores the costs of today.
    pub(crate) fn save_today(&mut self, today: &Today) -> Result<(), String> {
        match self.folder(None, true)? {
            Some(folder) => folder.replace(TODAY, &today.text()),
            None => Ok(()),
        }
    }

    /// Reads what is saved of a session; `None` for one that cannot be saved.
    pub(crate) fn load(&mut self, key: Option<SessionKey>) -> Result<SessionState, String> {
        self.saved_marks = Marks::default();
        self.is_paused = false;
        self.key = key;
        let Some((folder, key)) = self.sessions(false)? else {
            return Ok(SessionState::default());
        };
        let read = folder.read(&key.file_name(), |text| {
            state_files::parse_session(text, &key)
        })?;
        let memory = read.unwrap_or_default();
        self.saved_marks.clone_from(&memory.marks);
        Ok(memory)
    }

    /// Saves a session; returns the marks, merged with those of other programs.
    pub fn save(&mut self, memory: SessionState) -> Result<Marks, String> {
        let Some((folder, key)) = self.sessions(true)? else {
            return Ok(memory.marks);
        };
        let name = key.file_name();
        let _lock = folder.lock()?;
        let theirs = folder.read(&name, |text| state_files::parse_session(text, &key))?;
        let is_new = theirs.is_none();
        let memory = memory.onto(&self.saved_marks, theirs.unwrap_or_default());
        folder.replace(&name, &state_files::session_text(&memory, &key))?;
        if is_new {
            trim(&folder);
        }
        self.saved_marks.clone_from(&memory.marks);
        Ok(memory.marks)
    }

    /// Deletes the file of the session, whatever it holds. Returns whether there was one.
    pub fn delete(&mut self) -> Result<bool, String> {
        self.saved_marks = Marks::default();
        let Some((folder, key)) = self.sessions(false)? else {
            return Ok(false);
        };
        folder.delete(&key.file_name())
    }

    /// The folder of sessions, and the session that is shown.
    fn sessions(&mut self, creates: bool) -> Result<Option<(StateFolder, SessionKey)>, String> {
        let Some(key) = self.key.clone() else {
            return Ok(None);
        };
        Ok(self
            .folder(Some(SESSIONS), creates)?
            .map(|folder| (folder, key)))
    }
}

/// Identifies a session in the state folder; `None` for a pipe.
pub(crate) fn key_of(session: &SessionSource) -> Option<SessionKey> {
    // Saved state belongs to a single session.
    let path = fs::canonicalize(&session.opened.path)
        .ok()
        .filter(|_| !session.is_joined())?;
    let file = fs::metadata(&path).ok()?;
    let name = session.name().unwrap_or_default().to_owned();
    let key = SessionKey {
        path: path.to_string_lossy().into_owned(),
        session: name,
    };
    (file.is_file() || file.is_dir()).then_some(key)
}

/// Writes to stderr what could not be saved, when the screen is gone.
pub fn write_errors(errors: Vec<String>) {
    for sentence in errors {
        let _ = writeln!(io::stderr(), "tv: {}", Text::clean(&sentence));
    }
}

fn unsaved(why: &str) -> String {
    format!("not kept for the next time: {why}")
}

/// Deletes files of sessions that were not opened for long.
fn trim(folder: &StateFolder) {
    let files = folder.sessions();
    // The newest file was written just now, so its time is the current time.
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
    use std::collections::BTreeMap;
    use std::fs::{self, File};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::time::Duration;

    use super::{MOST_SESSIONS, OLDEST, StateStore};
    use crate::app::input::history::Histories;
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::session::news::LastView;
    use crate::settings::state_files::{PaneWidths, SessionKey, SessionState};

    fn key(name: &str) -> SessionKey {
        SessionKey {
            path: format!("/sessions/{name}.jsonl"),
            session: String::new(),
        }
    }

    fn store(folder: &Path, name: &str) -> (StateStore, SessionState) {
        let mut state = StateStore::new(Some(folder.join("tv")), None);
        let memory = state.load(Some(key(name))).unwrap();
        (state, memory)
    }

    fn mark(memory: &mut SessionState, letter: char, key: &str) {
        memory.marks.insert(letter, (Text::from(key), 0));
    }

    fn file_of(folder: &Path, name: &str) -> std::path::PathBuf {
        folder.join("tv/sessions").join(key(name).file_name())
    }

    #[test]
    fn two_at_once_keep_each_others_marks() {
        let dir = tempfile::tempdir().unwrap();
        let (mut one, mut one_state) = store(dir.path(), "s");
        let (mut two, mut two_state) = store(dir.path(), "s");
        mark(&mut one_state, 'a', "e1");
        one_state.seen = Some(LastView {
            key: Text::from("e9"),
            at: Timestamp(1_700_000_000_000),
        });
        mark(&mut two_state, 'b', "e2");
        one.save(one_state.clone()).unwrap();
        let both = two.save(two_state).unwrap();
        assert_eq!(both.len(), 2);
        // Who kept first does not bring back what the other one changed meanwhile.
        let (mut three, mut three_state) = store(dir.path(), "s");
        mark(&mut three_state, 'a', "e3");
        three.save(three_state).unwrap();
        one.save(one_state.clone()).unwrap();
        let (_, kept) = store(dir.path(), "s");
        assert_eq!(
            kept.marks.get(&'a').map(|(key, _)| key.as_str()),
            Some("e3")
        );
        assert_eq!((kept.marks.len(), kept.seen), (2, one_state.seen));
        assert_eq!(store(dir.path(), "other").1, SessionState::default());
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
        let (mut first, mut memory) = store(dir.path(), "s");
        mark(&mut memory, 'a', "e1");
        first.save(memory.clone()).unwrap();
        let (tv, file) = (dir.path().join("tv"), file_of(dir.path(), "s"));
        let (reader, notes) = (tv.join("reader.json"), tv.join("notes.txt"));
        first
            .save_habits(
                &Histories::default(),
                PaneWidths {
                    outline: Some(7),
                    inspector: None,
                    switches: BTreeMap::new(),
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
        let (_, kept) = store(dir.path(), "other");
        assert_eq!(kept, SessionState::default());
        assert_eq!((mode(&tv), mode(&tv.join("sessions"))), (0o700, 0o700));
        for path in [&file, &reader, &tv.join("lock"), &tv.join("sessions/lock")] {
            assert_eq!(mode(path), 0o600, "{}", path.display());
        }
        assert_eq!(mode(&notes), 0o644, "what is not tv's is left alone");
        // One alone is closed when it is read.
        open(&file, 0o644);
        store(dir.path(), "s");
        assert_eq!(mode(&file), 0o600);
    }

    /// A folder as tv creates it.
    fn own_folder(path: &Path) {
        fs::create_dir_all(path).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o700)).unwrap();
    }

    const WIDTHS: PaneWidths = PaneWidths {
        outline: Some(7),
        inspector: None,
        switches: BTreeMap::new(),
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
        let (mut state, memory) = store(dir.path(), "s");
        let why = state.save(memory.clone()).unwrap_err();
        assert!(why.contains("a link, which is not followed"), "{why}");
        assert!(!victim.exists(), "nothing is made through a link");
        fs::write(&victim, "{}").unwrap();
        let before = mode(&victim);
        assert!(state.save(memory).is_err() && state.habits().is_err());
        assert!(state.save_habits(&Histories::default(), WIDTHS).is_err());
        assert_eq!(
            (mode(&victim), fs::read_to_string(&victim).unwrap().as_str()),
            (before, "{}")
        );
    }

    /// Everything that is kept of a session and of habits; what went wrong.
    fn save_all(state: &mut StateStore) -> Vec<String> {
        let mut memory = SessionState::default();
        let mut wrong: Vec<String> = state.habits().err().into_iter().collect();
        wrong.extend(state.load(Some(key("s"))).err());
        mark(&mut memory, 'a', "e1");
        wrong.extend(state.save(memory).err());
        wrong.extend(state.save_habits(&Histories::default(), WIDTHS).err());
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
                let mut state = StateStore::new(Some(home.join(".local/state/tv")), Some(&home));
                let wrong = save_all(&mut state);
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
        for folder in [home.join(".local/state/tv"), home.join("tv")] {
            let named =
                (!folder.starts_with(home.join(".local"))).then_some(dir.path().join("other"));
            let mut state = StateStore::new(Some(folder.clone()), named.as_deref().or(Some(&home)));
            assert_eq!(save_all(&mut state), Vec::<String>::new());
            assert_eq!(
                (mode(&folder), mode(&folder.join("sessions"))),
                (0o700, 0o700)
            );
            assert!(folder.join("reader.json").is_file());
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
            let wrong = save_all(&mut StateStore::new(Some(dir.path().join("tv")), None));
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
        save_all(&mut StateStore::new(Some(tv), None));
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
                    let (mut state, mut memory) = store(path, "s");
                    mark(&mut memory, letter, "e1");
                    state.save(memory).unwrap();
                });
            }
        });
        assert_eq!(store(dir.path(), "s").1.marks.len(), 8);
    }

    #[test]
    fn a_strange_file_is_reported_and_left_alone_until_it_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let (mut first, mut memory) = store(dir.path(), "s");
        mark(&mut memory, 'a', "e1");
        first.save(memory.clone()).unwrap();
        let path = file_of(dir.path(), "s");
        for strange in ["{\"schema\": \"tv.state/9\"}", "half a fi", ""] {
            fs::write(&path, strange).unwrap();
            let mut state = StateStore::new(Some(dir.path().join("tv")), None);
            let why = state.load(Some(key("s"))).unwrap_err();
            assert!(why.contains("left as it is"), "{why}");
            assert!(state.save(memory.clone()).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), strange);
        }
        assert_eq!(first.delete(), Ok(true));
        assert_eq!(first.delete(), Ok(false));
        first.save(memory.clone()).unwrap();
        assert_eq!(store(dir.path(), "s").1.marks, memory.marks);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("tv"), "a file in its place").unwrap();
        let mut state = StateStore::new(Some(dir.path().join("tv")), None);
        let _ = state.load(Some(key("s")));
        assert!(state.save(SessionState::default()).is_err());
        let mut nowhere = StateStore::new(None, None);
        assert_eq!(nowhere.load(Some(key("s"))), Ok(SessionState::default()));
        assert!(nowhere.save(SessionState::default()).is_ok() && nowhere.habits().is_ok());
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
        let (mut state, memory) = store(dir.path(), "s");
        state.save(memory).unwrap();
        let left = fs::read_dir(&folder).unwrap().count();
        // The foreign one and the lock are not counted.
        assert_eq!(left, MOST_SESSIONS + 2);
        assert!(folder.join("notes.txt").exists() && file_of(dir.path(), "s").exists());
        assert!(!folder.join("ffffffffffffffff.json").exists());
    }

    #[test]
    fn typed_lines_of_several_programs_are_joined() {
        let dir = tempfile::tempdir().unwrap();
        let mut state = StateStore::new(Some(dir.path().join("tv")), None);
        let (mut one, mut two) = (Histories::default(), Histories::default());
        one.searches.add("herring");
        one.ran.add("cost");
        two.searches.add("lantern");
        two.filters.add("herring");
        let widths = PaneWidths {
            outline: Some(40),
            inspector: None,
            switches: BTreeMap::new(),
        };
        state.save_habits(&one, widths.clone()).unwrap();
        state.save_habits(&two, PaneWidths::default()).unwrap();
        let habits = state.habits().unwrap();
        assert_eq!(
            (habits.searches.len(), habits.filters, habits.commands),
            (2, vec!["herring".to_owned()], vec!["cost".to_owned()])
        );
        assert_eq!(habits.widths, widths);
    }
}
