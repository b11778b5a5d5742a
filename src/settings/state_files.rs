//! The contents of the state files: marks and last seen end of each session, and the history of
//! typed lines.
//!
//! Invariant: a file of another schema or of a newer version is rejected as a whole, never parsed
//! in part.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::app::input::history::{Histories, LineHistory};
use crate::app::input::setting;
use crate::app::state::App;
use crate::app::text::places::Marks;
use crate::model::entry::Piece;
use crate::model::text::Text;
use crate::model::text::secrets::Mask;
use crate::model::timestamp::Timestamp;
use crate::session::news::LastView;

/// Schema of the file of a session.
const OF_SESSION: &str = "tv.state/1";
/// Schema of the file for all other state.
const OF_READER: &str = "tv.reader/1";

/// Identifies a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionKey {
    /// The session's file, folder or database, with links resolved.
    pub(crate) path: String,
    /// Name of the session within the path; empty if the file is the session.
    pub session: String,
}

impl SessionKey {
    /// The name of the session's state file, which is the same in every run.
    pub(crate) fn file_name(&self) -> String {
        format!(
            "{:016x}.json",
            Piece::of(&format!("{}#{}", self.path, self.session)).0
        )
    }
}

/// Whether a name is that of a session's state file.
pub(crate) fn is_file_name(name: &str) -> bool {
    let stem = name.strip_suffix(".json").unwrap_or_default();
    stem.len() == 16 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Saved state of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SessionState {
    /// Marks set by the user.
    pub(crate) marks: Marks,
    /// End of the session when it was last seen.
    pub(crate) seen: Option<LastView>,
}

impl SessionState {
    /// Merges with the state saved by another process: marks that changed since `before` was read
    /// replace the other's.
    #[must_use]
    pub(crate) fn onto(self, before: &Marks, theirs: Self) -> Self {
        let mut marks = theirs.marks;
        marks.extend(
            self.marks
                .into_iter()
                .filter(|(letter, mark)| before.get(letter) != Some(mark)),
        );
        Self {
            marks,
            seen: self.seen.or(theirs.seen),
        }
    }
}

/// Saved state besides sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Habits {
    /// Typed searches, the newest last.
    pub(crate) searches: Vec<String>,
    /// Typed filters, the newest last.
    pub(crate) filters: Vec<String>,
    /// Names of commands that were run, the newest last.
    pub(crate) commands: Vec<String>,
    /// Widths of panes whose dividers were moved.
    pub(crate) widths: PaneWidths,
}

/// Widths of panes, and remembered settings. `None` leaves the value to the size of the screen or
/// to the settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PaneWidths {
    /// Columns of the outline.
    #[serde(default)]
    pub(crate) outline: Option<u16>,
    /// Columns of the inspector.
    #[serde(default)]
    pub(crate) inspector: Option<u16>,
    /// Remembered switches by name.
    #[serde(flatten)]
    pub(crate) switches: BTreeMap<String, Option<bool>>,
}

impl PaneWidths {
    /// The current widths and settings.
    pub(crate) fn of(app: &mut App) -> Self {
        let switches = setting::remembered(app).into_iter();
        let switches = switches.map(|value| (value.setting.name.to_owned(), Some(value.is_on())));
        Self {
            outline: app.reader.panes.outline_width,
            inspector: app.reader.panes.inspector_width,
            switches: switches.collect(),
        }
    }

    /// Applies widths and settings to a new viewer; settings that are not remembered are unchanged.
    pub(crate) fn apply(&self, app: &mut App) {
        app.reader.panes.outline_width = self.outline;
        app.reader.panes.inspector_width = self.inspector;
        for mut value in setting::remembered(app) {
            if let Some(Some(is_on)) = self.switches.get(value.setting.name) {
                value.switch(*is_on);
                value.apply(app);
            }
        }
    }
}

impl Habits {
    /// Adds the lines typed in this run, and the widths that changed in it.
    #[must_use]
    pub(crate) fn and(self, typed: &Histories, before: &PaneWidths, now: PaneWidths) -> Self {
        let joined = |before: Vec<String>, fresh: &[String]| {
            let mut history = LineHistory::of(before);
            for line in fresh {
                history.add(line);
            }
            history.lines
        };
        Self {
            searches: joined(self.searches, &typed.searches.fresh),
            filters: joined(self.filters, &typed.filters.fresh),
            commands: joined(self.commands, &typed.ran.fresh),
            widths: PaneWidths {
                outline: later(self.widths.outline, before.outline, now.outline),
                inspector: later(self.widths.inspector, before.inspector, now.inspector),
                switches: now
                    .switches
                    .iter()
                    .map(|(name, is_on)| {
                        let [theirs, before] = [&self.widths, before]
                            .map(|widths| widths.switches.get(name).copied().flatten());
                        (name.clone(), later(theirs, before, *is_on))
                    })
                    .collect(),
            },
        }
    }
}

/// A value that did not change in this run keeps the value saved by another process.
fn later<T: PartialEq>(theirs: Option<T>, before: Option<T>, now: Option<T>) -> Option<T> {
    if now == before { theirs } else { now }
}

#[derive(Serialize, Deserialize)]
struct SessionFile {
    schema: String,
    path: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    session: String,
    #[serde(default)]
    seen: Option<SeenStateFile>,
    #[serde(default)]
    marks: BTreeMap<char, MarkFile>,
}

#[derive(Serialize, Deserialize)]
struct SeenStateFile {
    entry: String,
    at: String,
}

#[derive(Serialize, Deserialize)]
struct MarkFile {
    entry: String,
    block: usize,
}

#[derive(Serialize, Deserialize)]
struct ReaderFile {
    schema: String,
    #[serde(default)]
    searches: Vec<String>,
    #[serde(default)]
    filters: Vec<String>,
    #[serde(default)]
    commands: Vec<String>,
    #[serde(default)]
    widths: PaneWidths,
}

/// Parses the state of a session.
pub(crate) fn parse_session(text: &str, key: &SessionKey) -> Result<SessionState, String> {
    let file: SessionFile = of_schema(text, OF_SESSION)?;
    if (&file.path, &file.session) != (&key.path, &key.session) {
        return Err("is of another session".to_owned());
    }
    let marks = file
        .marks
        .into_iter()
        .filter(|(letter, _)| letter.is_alphanumeric());
    let marks: HashMap<char, _> = marks
        .map(|(letter, mark)| (letter, (Text::clean(&mark.entry), mark.block)))
        .collect();
    let seen = file.seen.and_then(|seen| {
        Some(LastView {
            key: Text::clean(&seen.entry),
            at: Timestamp::parse(&seen.at)?,
        })
    });
    Ok(SessionState { marks, seen })
}

/// Serializes the state of a session.
pub(crate) fn session_text(memory: &SessionState, key: &SessionKey) -> String {
    let mark = |(letter, (key, block)): (&char, &(Text, usize))| {
        (
            *letter,
            MarkFile {
                entry: key.to_string(),
                block: *block,
            },
        )
    };
    let seen = memory.seen.as_ref();
    text(&SessionFile {
        schema: OF_SESSION.to_owned(),
        path: key.path.clone(),
        session: key.session.clone(),
        seen: seen.map(|seen| SeenStateFile {
            entry: seen.key.to_string(),
            at: seen.at.to_rfc3339(),
        }),
        marks: memory.marks.iter().map(mark).collect(),
    })
}

/// Parses the state besides sessions. Lines are cleaned, because a file may contain anything.
pub(crate) fn parse_habits(text: &str) -> Result<Habits, String> {
    let file: ReaderFile = of_schema(text, OF_READER)?;
    let clean = |lines: Vec<String>| {
        let lines = lines
            .iter()
            .map(|line| Text::clean(line).replace(['\n', '\t'], " "));
        lines.filter(|line| !line.trim().is_empty()).collect()
    };
    Ok(Habits {
        searches: clean(file.searches),
        filters: clean(file.filters),
        commands: clean(file.commands),
        widths: file.widths,
    })
}

/// Serializes the state besides sessions. A line that contains a key or a token is not saved.
pub(crate) fn habits_text(habits: &Habits) -> String {
    let open = |lines: &[String]| {
        lines
            .iter()
            .filter(|line| Mask::default().apply(line).is_none())
            .cloned()
            .collect()
    };
    text(&ReaderFile {
        schema: OF_READER.to_owned(),
        searches: open(&habits.searches),
        filters: open(&habits.filters),
        commands: open(&habits.commands),
        widths: habits.widths.clone(),
    })
}

fn of_schema<'t, T: Deserialize<'t>>(text: &'t str, wanted: &str) -> Result<T, String> {
    #[derive(Deserialize)]
    struct SchemaName {
        schema: String,
    }
    let stranger = |_: serde_json::Error| "is no file of tv".to_owned();
    let named: SchemaName = serde_json::from_str(text).map_err(stranger)?;
    if named.schema != wanted {
        return Err(format!("is {}, not {wanted}", Text::clean(&named.schema)));
    }
    serde_json::from_str(text).map_err(stranger)
}

fn text(file: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(file).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{
        Habits, PaneWidths, SessionKey, SessionState, habits_text, is_file_name, parse_habits,
        parse_session, session_text,
    };
    use crate::app::input::history::{Histories, LineHistory};
    use crate::app::text::places::Marks;
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::session::news::LastView;

    fn key() -> SessionKey {
        SessionKey {
            path: "/a/b.jsonl".to_owned(),
            session: String::new(),
        }
    }

    fn marks(of: &[(char, &str, usize)]) -> Marks {
        of.iter()
            .map(|(letter, key, block)| (*letter, (Text::from(*key), *block)))
            .collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let seen = LastView {
            key: Text::from("e7"),
            at: Timestamp(1_700_000_000_123),
        };
        let memory = SessionState {
            marks: marks(&[('a', "e1", 2), ('7', "e9", 0)]),
            seen: Some(seen),
        };
        let text = session_text(&memory, &key());
        assert_eq!(parse_session(&text, &key()), Ok(memory));
        let widths = PaneWidths {
            outline: Some(40),
            inspector: None,
            switches: BTreeMap::from([("intents".to_owned(), Some(false))]),
        };
        let habits = Habits {
            searches: vec!["x".to_owned()],
            filters: vec!["err \"a\"".to_owned()],
            commands: vec!["cost".to_owned()],
            widths,
        };
        assert_eq!(parse_habits(&habits_text(&habits)), Ok(habits));
        let lines = "{\"schema\": \"tv.reader/1\", \"searches\": [\"x\", \"  \", \"\"]}";
        assert_eq!(
            parse_habits(lines).map(|habits| habits.searches),
            Ok(vec!["x".to_owned()])
        );
    }

    #[test]
    fn keys_and_tokens_that_were_typed_are_not_kept() {
        let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let lines = vec![
            "herring".to_owned(),
            key.to_owned(),
            format!("\"{key}\" and err"),
        ];
        let habits = Habits {
            searches: lines.clone(),
            filters: lines,
            ..Habits::default()
        };
        let text = habits_text(&habits);
        assert!(!text.contains("0123456789"), "{text}");
        let kept = parse_habits(&text).unwrap();
        assert_eq!(
            (kept.searches, kept.filters),
            (vec!["herring".to_owned()], vec!["herring".to_owned()])
        );
    }

    #[test]
    fn what_is_strange_is_refused() {
        let text = session_text(&SessionState::default(), &key());
        let other = SessionKey {
            session: "s2".to_owned(),
            ..key()
        };
        assert_eq!(
            parse_session(&text, &other),
            Err("is of another session".to_owned())
        );
        let newer = text.replace("tv.state/1", "tv.state/2");
        assert_eq!(
            parse_session(&newer, &key()),
            Err("is tv.state/2, not tv.state/1".to_owned())
        );
        let half: String = text.chars().take(text.len() / 2).collect();
        for broken in ["", "{", "[]", "{\"schema\": 1}", half.as_str()] {
            assert_eq!(
                parse_session(broken, &key()),
                Err("is no file of tv".to_owned()),
                "{broken}"
            );
            assert!(parse_habits(broken).is_err());
        }
        assert!(parse_habits(&text).is_err());
    }

    #[test]
    fn two_programs_do_not_destroy_each_others_marks() {
        let before = marks(&[('a', "e1", 0), ('b', "e2", 0)]);
        let mine = SessionState {
            marks: marks(&[('a', "e1", 0), ('b', "e5", 0), ('c', "e3", 0)]),
            seen: None,
        };
        let seen = Some(LastView {
            key: Text::from("e7"),
            at: Timestamp(1),
        });
        let theirs = SessionState {
            marks: marks(&[('a', "e4", 0), ('d', "e6", 0)]),
            seen: seen.clone(),
        };
        let both = mine.onto(&before, theirs);
        assert_eq!(
            both.marks,
            marks(&[
                ('a', "e4", 0),
                ('b', "e5", 0),
                ('c', "e3", 0),
                ('d', "e6", 0)
            ])
        );
        assert_eq!(both.seen, seen);
        let later = Some(LastView {
            key: Text::from("e8"),
            at: Timestamp(2),
        });
        let [mine, theirs] = [later.clone(), seen].map(|seen| SessionState {
            marks: marks(&[]),
            seen,
        });
        assert_eq!(
            mine.onto(&before, theirs).seen,
            later,
            "this one looked last"
        );
        let mut history = LineHistory::of(vec!["old".to_owned()]);
        history.add("new");
        let widths = |outline, inspector| PaneWidths {
            outline,
            inspector,
            switches: BTreeMap::new(),
        };
        let searches = vec!["other".to_owned(), "new".to_owned()];
        let theirs = Habits {
            searches,
            widths: widths(Some(30), Some(50)),
            ..Habits::default()
        };
        let typed = Histories {
            searches: history,
            ..Histories::default()
        };
        let both = theirs.and(&typed, &widths(Some(20), None), widths(Some(20), Some(60)));
        let first = |intents| PaneWidths {
            switches: BTreeMap::from([("intents".to_owned(), Some(intents))]),
            ..PaneWidths::default()
        };
        let kept = |now| {
            Habits::default()
                .and(&Histories::default(), &first(true), first(now))
                .widths
                .switches
                .get("intents")
                .copied()
                .flatten()
        };
        assert_eq!(
            (kept(true), kept(false)),
            (None, Some(false)),
            "only what the reader changed is kept"
        );
        assert_eq!(both.searches, ["other", "new"]);
        assert_eq!(
            both.widths,
            widths(Some(30), Some(60)),
            "what did not change here is as they left it"
        );
    }

    #[test]
    fn files_are_named_alike_in_every_run() {
        assert_eq!(key().file_name(), key().file_name());
        assert!(is_file_name(&key().file_name()) && !is_file_name("config.json"));
        let other = SessionKey {
            session: "s2".to_owned(),
            ..key()
        };
        assert_ne!(key().file_name(), other.file_name());
    }

    #[test]
    fn a_mark_is_a_letter_or_a_digit() {
        let all = marks(&[
            ('a', "e1", 0),
            ('7', "e2", 0),
            ('\u{202e}', "e3", 0),
            (' ', "e4", 0),
        ]);
        let text = session_text(
            &SessionState {
                marks: all,
                seen: None,
            },
            &key(),
        );
        let kept = parse_session(&text, &key()).unwrap().marks;
        assert_eq!(kept, marks(&[('a', "e1", 0), ('7', "e2", 0)]));
    }
}
