//! Where agents store their sessions, and how the environment moves these roots; also the session
//! ids in file names, the files beside a session, and the entries of an index of sessions.
//!
//! Invariant: paths are computed here; no file is opened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::json::Json;
use crate::model::meta::{RunStatus, Running};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// A folder under which an agent stores sessions.
#[derive(Debug, PartialEq, Eq)]
pub struct Root {
    /// Environment variables that move it, each with a path below its value. The first one that is set wins.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// The default path below the home directory, with wildcards; empty if there is none.
    pub(crate) home: &'static str,
    /// Patterns of files below it.
    pub(crate) holds: &'static [RootPattern],
}

/// A pattern below a root, and what its files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootPattern {
    /// Sessions, if their names are those of sessions.
    Files(&'static str),
    /// Files that belong to a session, and are sessions of their own once it is deleted.
    Beside(&'static str),
    /// Databases of sessions. The empty pattern is the root itself.
    Databases(&'static str),
    /// A session with this name in the root or in any folder above it: for roots that are the working directory.
    Above(&'static str),
}

/// The environment, as far as roots depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    pub home: Option<PathBuf>,
    /// All variables that are set and not empty: which ones matter is known only when all definitions are read.
    pub variables: BTreeMap<String, PathBuf>,
}

impl Root {
    pub(crate) fn place(&self, environment: &Environment) -> Option<PathBuf> {
        let moved = self.variables.iter().find_map(|(name, below)| {
            let value = environment.variables.get(*name)?;
            Some(below_of(&environment.absolute(value), below))
        });
        let at_home =
            || Some(environment.home.as_ref()?.join(self.home)).filter(|_| !self.home.is_empty());
        moved.or_else(at_home)
    }

    /// The patterns of the files below it.
    pub(crate) fn files(&self) -> impl Iterator<Item = &'static str> {
        self.holds.iter().filter_map(|holds| match holds {
            RootPattern::Files(pattern) | RootPattern::Beside(pattern) => Some(*pattern),
            RootPattern::Databases(_) | RootPattern::Above(_) => None,
        })
    }
}

impl RootPattern {
    /// The pattern below a folder.
    pub(crate) fn pattern(self, place: &Path) -> PathBuf {
        below_of(place, self.below())
    }

    fn below(self) -> &'static str {
        let (Self::Files(pattern)
        | Self::Beside(pattern)
        | Self::Databases(pattern)
        | Self::Above(pattern)) = self;
        pattern
    }

    /// The patterns below a folder, and for `Above` below all folders above it.
    pub(crate) fn patterns(self, place: &Path) -> Vec<PathBuf> {
        let above = if matches!(self, Self::Above(_)) {
            usize::MAX
        } else {
            1
        };
        place
            .ancestors()
            .take(above)
            .map(|folder| self.pattern(folder))
            .collect()
    }
}

impl Environment {
    /// A path with `~` replaced by the home directory, as agents read their variables.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => below_of(home, rest),
            _ => path.to_owned(),
        }
    }

    /// A path to print: `~` instead of the home directory.
    pub(crate) fn shortened(&self, path: &Path) -> String {
        let below = self
            .home
            .as_ref()
            .and_then(|home| path.strip_prefix(home).ok());
        below.map_or_else(
            || path.display().to_string(),
            |below| below_of(Path::new("~"), below).display().to_string(),
        )
    }
}

/// Whether a hidden folder of this name is part of a root.
pub(crate) fn is_of_agents(folder: &Path, roots: impl Iterator<Item = &'static Root>) -> bool {
    let name = file_name(folder);
    let is_it = |part: &str| match part.split_once('*') {
        Some((beginning, "")) => name.starts_with(beginning),
        Some(_) => false,
        None => part == name,
    };
    let has_it = |path: &str| {
        path.split('/')
            .any(|part| part.starts_with('.') && is_it(part))
    };
    roots
        .flat_map(|root| {
            std::iter::once(root.home).chain(root.holds.iter().map(|holds| holds.below()))
        })
        .any(has_it)
}

/// Joins two paths; `Path::join` with an empty one would leave a slash at the end.
fn below_of(place: &Path, below: impl AsRef<Path>) -> PathBuf {
    let below = below.as_ref();
    if below.as_os_str().is_empty() {
        place.to_owned()
    } else {
        place.join(below)
    }
}

/// Extensions of agents' files. Further ones may follow: `ID.jsonl.zst`, `ID.messages.json`.
const EXTENSIONS: [&str; 12] = [
    "json",
    "jsonl",
    "md",
    "messages",
    "compaction",
    "checkpoint",
    "meta",
    "chat",
    "traj",
    "trajectory",
    "atif",
    "mast",
];

/// The session in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionName<'p> {
    pub(crate) id: &'p str,
    /// The agent, if the path names one.
    pub(crate) agent: Option<&'p str>,
    /// Whether it was archived: a session with the same id may continue in another file.
    pub(crate) is_archive: bool,
}

impl<'p> SessionName<'p> {
    /// A session that is not archived.
    pub(crate) fn id(id: &'p str) -> Self {
        Self {
            id,
            agent: None,
            is_archive: false,
        }
    }

    /// The session named by the file name without its extensions; other dots are part of the name.
    pub(crate) fn stem(path: &'p Path) -> Option<Self> {
        let name = file_name(path).trim_start_matches('.');
        let is_extension = |at: &usize| {
            let rest = name.get(at + 1..).unwrap_or_default();
            EXTENSIONS.contains(&rest.split('.').next().unwrap_or_default())
        };
        let mut dots = name.match_indices('.').map(|(at, _)| at);
        let end = dots.find(is_extension).or_else(|| name.rfind('.'));
        let id = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
        (!id.is_empty()).then(|| Self::id(id))
    }
}

/// The file name; empty if it is not UTF-8.
pub(crate) fn file_name(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// The name of the folder that contains a file.
pub(crate) fn folder_name(path: &Path) -> &str {
    path.parent().map(file_name).unwrap_or_default()
}

/// The role of a file for a session. What the head of a format does not say as a template, its
/// `Format::files` does; most formats have only a few of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole<'a> {
    /// Files that belong to the session besides its own, now or later.
    Companion,
    /// A file with facts about the session, which the decoder reads.
    Manifest,
    /// A file with `{"pid": …}` that exists while the agent runs.
    Lock,
    /// An index of all sessions in the folder.
    Index,
    /// Another form of the same session, which is listed instead.
    Instead,
    /// A folder with a file for each running process of the agent.
    Processes,
    /// The folder that contains all files of the session. Links that leave it are not followed.
    Home,
    /// The paths to which the agent may move the file when it archives the session.
    Archive,
    /// The session that the file belongs to, by its path.
    Owner,
    /// The session that the file belongs to, by the id in its content: for files whose path does not name it.
    OwnerById(&'a str),
    /// Where the session that started this one may be stored, by what the content records about
    /// it. The file itself, if the format does not define where such sessions are stored.
    Starter(&'a str),
    /// The session whose records were copied to the beginning of the file, which is this text.
    Original(&'a str),
    /// All files of the session with this id, which continues in the file at `path`.
    Earlier(&'a str),
    /// Files for a request of the decoder with `Batch::wanted`.
    Requested(&'a str),
    /// For a folder: files whose stems are the ids of its sessions.
    Session,
    /// For a folder: the first files of the session with this id; the decoder may request more.
    Part(&'a str),
    /// A file of lines beside a database that may contain its session with this id too.
    Lines(&'a str),
}

/// A path whose components may be `*` wildcards (`agent-*.jsonl`), or `**` for any depth.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern(pub PathBuf);

impl Pattern {
    /// A path, or none.
    pub(crate) fn list(path: Option<PathBuf>) -> Vec<Self> {
        path.map(Self).into_iter().collect()
    }
}

/// A running process of an agent, from its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The id of the session that it has open.
    pub(crate) session: String,
    /// The process id.
    pub(crate) number: i64,
    /// The start time, in units of the system.
    pub(crate) start: Option<String>,
    /// The state of the session, if recorded.
    pub(crate) running: Option<Running>,
    /// When the file was written.
    pub(crate) updated: Option<Timestamp>,
}

impl Process {
    /// Parses the file of a process, as Claude Code writes it. Programs that embed the agent write no
    /// status; files of an older kind (`pid-<n>.json`) name neither process nor status.
    pub(crate) fn of(file: &Json<'_>) -> Option<Self> {
        let status = match file.get("status").str_or_empty() {
            "busy" => Some(RunStatus::Busy),
            "waiting" => Some(RunStatus::Waiting),
            "idle" | "shell" => Some(RunStatus::Idle),
            _ => None,
        };
        let since = file.get("statusUpdatedAt").moment();
        let start = file.get("procStart");
        Some(Self {
            session: file.get("sessionId").filled()?.to_owned(),
            number: file.get("pid").int()?,
            start: start
                .filled()
                .map(str::to_owned)
                .or_else(|| Some(start.int()?.to_string())),
            running: status.map(|status| Running { status, since }),
            updated: file.get("updatedAt").moment().max(since),
        })
    }
}

/// A session in an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedSession {
    pub(crate) id: String,
    pub(crate) file: Option<String>,
    /// Another name, by which the agent finds it.
    pub(crate) key: String,
    /// A title that replaces the first prompt.
    pub(crate) title: Option<Text>,
    pub(crate) model: Option<Text>,
    /// The session that started it.
    pub(crate) parent: Option<String>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::{Environment, Root, RootPattern, SessionName};

    const ROOT: Root = Root {
        variables: &[("SESSION_DIR", ""), ("AGENT_DIR", "sessions")],
        home: ".agent/sessions",
        holds: &[RootPattern::Files("*/*.jsonl"), RootPattern::Databases("")],
    };

    fn place(variables: &[(&'static str, &str)]) -> Option<PathBuf> {
        let variables: BTreeMap<_, _> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), PathBuf::from(value)))
            .collect();
        ROOT.place(&Environment {
            home: Some("/home/me".into()),
            variables,
        })
    }

    #[test]
    fn dots_are_part_of_a_name_and_extensions_are_not() {
        let id = |name: &str| SessionName::stem(Path::new(name)).map(|named| named.id.to_owned());
        for (name, named) in [
            ("s/app__v2.1.98.jsonl", "app__v2.1.98"),
            ("s/app__v2.1.126.jsonl.zst", "app__v2.1.126"),
            ("s/a1.jsonl.reset.2026-06-27T03", "a1"),
            ("s/first.traj.json", "first"),
            ("s/notes.today.log", "notes.today"),
            ("s/.a1.jsonl", "a1"),
            ("s/a1", "a1"),
        ] {
            assert_eq!(id(name).as_deref(), Some(named), "{name}");
        }
    }

    #[test]
    fn the_first_variable_that_is_set_moves_a_root() {
        assert_eq!(place(&[]), Some("/home/me/.agent/sessions".into()));
        assert_eq!(place(&[("AGENT_DIR", "/a")]), Some("/a/sessions".into()));
        assert_eq!(
            place(&[("AGENT_DIR", "/a"), ("SESSION_DIR", "/s")]),
            Some("/s".into())
        );
        assert_eq!(
            place(&[("AGENT_DIR", "~/a")]),
            Some("/home/me/a/sessions".into())
        );
        assert_eq!(
            place(&[("OTHER", "/a")]),
            Some("/home/me/.agent/sessions".into())
        );
        assert_eq!(ROOT.place(&Environment::default()), None);
    }

    #[test]
    fn patterns_lie_below_their_place() {
        let patterns: Vec<PathBuf> = ROOT
            .holds
            .iter()
            .map(|holds| holds.pattern(Path::new("/s")))
            .collect();
        assert_eq!(patterns, [Path::new("/s/*/*.jsonl"), Path::new("/s")]);
    }

    #[test]
    fn paths_are_shortened_for_people() {
        let environment = Environment {
            home: Some("/home/me".into()),
            variables: BTreeMap::new(),
        };
        for (path, expected) in [
            ("/home/me/x", "~/x"),
            ("/home/me", "~"),
            ("/home/meg", "/home/meg"),
        ] {
            assert_eq!(environment.shortened(Path::new(path)), expected);
        }
    }
}
