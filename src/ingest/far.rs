//! Sessions of other machines: where their agents keep them; and, on the far side, what may be
//! read for a tv elsewhere.
//!
//! Read are the agents' folders, as this environment moves them, and what the reader of the other
//! tv named, with what lies around it as the files of one session do. Of agents that keep sessions
//! in projects only these are read, with the files beside them that have the same beginning.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::target::OpenError;
use crate::formats::roots::Environment;
use crate::formats::{self, registry};
use crate::model::text::Text;
use crate::source::pattern::matches;
use crate::source::remote::{self, Introduction};
use crate::source::serve::{self, Access};

/// Folders above a named file in which parts of its session may lie.
const ABOVE: usize = 3;

/// The environment that a path is of.
pub(crate) fn environment_of<'e>(
    path: &Path,
    here: &'e Environment,
) -> io::Result<Cow<'e, Environment>> {
    let Some((host, _)) = remote::split(path) else {
        return Ok(Cow::Borrowed(here));
    };
    let there = host.environment()?;
    Ok(Cow::Owned(Environment {
        home: there.home,
        variables: there.variables.into_iter().collect(),
    }))
}

/// A folder that a session recorded, on the session's machine.
pub(crate) fn folder_of(session: &Path, folder: &Text) -> Text {
    let there = remote::split(session).filter(|_| folder.starts_with('/'));
    there.map_or_else(
        || folder.clone(),
        |(host, _)| Text::clean(&host.path(Path::new(folder.as_str())).to_string_lossy()),
    )
}

/// Whether a path is a whole machine.
pub(crate) fn is_host(path: &Path) -> bool {
    remote::split(path).is_some_and(|(_, there)| there == Path::new("/"))
}

/// The path of an argument of the form `host:path`, which from now on may be read there; `None`
/// for any other argument. Of a session's name it is the name that is returned, with the machine's
/// environment.
pub(crate) fn resolve(argument: &str) -> Option<Result<FarTarget, OpenError>> {
    let (name, there) = remote::parse(argument)?;
    let named = || {
        let host = remote::host(name).map_err(OpenError)?;
        if matches!(there, "" | "/") {
            return Ok(FarTarget::Path(host.path(Path::new("/"))));
        }
        let error = |error: io::Error| OpenError(error.to_string());
        let root = host.path(Path::new("/"));
        let unset = Environment::default();
        let environment = environment_of(&root, &unset).map_err(error)?;
        let is_path = there.contains('/') || there.starts_with(['.', '~']);
        let home = environment.home.clone().unwrap_or(root);
        let below = there
            .strip_prefix('~')
            .map(|rest| rest.trim_start_matches('/'));
        let path = match below {
            Some(below) => home.join(below),
            None if there.starts_with('/') => host.path(Path::new(there)),
            None => home.join(there),
        };
        let path = without_parent_dirs(&path);
        // The name of a session in a folder or database, or of an entry, follows the path.
        let text = path.to_string_lossy().into_owned();
        let ends = text.match_indices('#').map(|(at, _)| at);
        for end in ends.chain([text.len()]) {
            let path = Path::new(text.get(..end).unwrap_or_default());
            host.permit(path).map_err(error)?;
        }
        Ok(if is_path || crate::source::fs::exists(&path) {
            FarTarget::Path(path)
        } else {
            FarTarget::Session(there.to_owned(), environment.into_owned())
        })
    };
    Some(named())
}

/// What stands behind a host.
pub(crate) enum FarTarget {
    Path(PathBuf),
    /// The name of a session.
    Session(String, Environment),
}

fn without_parent_dirs(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if plain.components().nth(1).is_some() => drop(plain.pop()),
            Component::ParentDir | Component::CurDir => {}
            _ => plain.push(part),
        }
    }
    plain
}

/// Answers a tv elsewhere until the input ends.
pub fn serve(
    environment: &Environment,
    input: impl Read,
    output: Box<dyn Write + Send>,
) -> io::Result<()> {
    let introduction = Introduction {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home: environment.home.clone(),
        variables: variables(environment),
    };
    serve::serve(input, output, introduction, Readable::of(environment))
}

/// The variables that move folders of agents, and no others: they may hold secrets.
fn variables(environment: &Environment) -> Vec<(String, PathBuf)> {
    let mut names: Vec<&str> = registry()
        .flat_map(formats::roots)
        .flat_map(|root| root.variables)
        .map(|(name, _)| *name)
        .collect();
    names.sort_unstable();
    names.dedup();
    let set = |name: &str| {
        let value = environment.absolute(environment.variables.get(name)?);
        Some((name.to_owned(), value))
    };
    names.into_iter().filter_map(set).collect()
}

struct Readable {
    home: Option<PathBuf>,
    /// Folders of agents, with all that is below them.
    folders: Vec<PathBuf>,
    /// Patterns of files in folders that are no agent's own.
    patterns: Vec<PathBuf>,
    /// What the reader named, and the folders of its session.
    named: Vec<PathBuf>,
}

impl Readable {
    fn of(environment: &Environment) -> Self {
        let home = environment.home.clone();
        let (mut folders, mut patterns) = (Vec::new(), Vec::new());
        for root in registry().flat_map(formats::roots) {
            let Some(place) = root.place(environment).filter(|place| place.is_absolute()) else {
                continue;
            };
            let is_wide = place.as_os_str().as_bytes().contains(&b'*')
                || home.as_ref().is_some_and(|home| home.starts_with(&place))
                || place.parent().is_none();
            for holds in root.holds {
                let above = holds.patterns(&place);
                match above.len() {
                    1 if !is_wide => folders.push(place.clone()),
                    _ => patterns.extend(above),
                }
            }
        }
        Self {
            home,
            folders,
            patterns,
            named: Vec::new(),
        }
    }

    /// Whether a folder is so far above that all of somebody's files are below it.
    fn is_wide(&self, folder: &Path) -> bool {
        folder.components().count() < 3
            || self
                .home
                .as_ref()
                .is_some_and(|home| home.starts_with(folder))
    }
}

impl Access for Readable {
    fn may_read(&self, path: &Path) -> bool {
        let mut below = self.folders.iter().chain(&self.named);
        below.any(|folder| path.starts_with(folder))
            || self.patterns.iter().any(|pattern| is_of(path, pattern))
    }

    fn may_list(&self, path: &Path) -> bool {
        let is_deep = path.components().count() > 3;
        let mut patterns = self.patterns.iter();
        self.may_read(path) || is_deep && patterns.any(|pattern| may_match_below(path, pattern))
    }

    fn may_stat(&self, path: &Path) -> bool {
        let mut known = self.folders.iter().chain(&self.named).chain(&self.patterns);
        self.may_read(path) || known.any(|folder| may_match_below(path, folder))
    }

    fn may_expand(&self, pattern: &Path) -> bool {
        let is_star = |part: &std::ffi::OsStr| part.as_bytes().contains(&b'*');
        let fixed: PathBuf = pattern.iter().take_while(|part| !is_star(part)).collect();
        self.patterns.iter().any(|known| known == pattern) || self.may_read(&fixed)
    }

    fn permit(&mut self, path: &Path) {
        self.named.push(path.to_owned());
        let above = path.ancestors().skip(1).take(ABOVE);
        let own: Vec<PathBuf> = above
            .take_while(|folder| !self.is_wide(folder))
            .map(Path::to_owned)
            .collect();
        self.named.extend(own);
    }
}

/// Whether a file is of a pattern, or beside such a file with the same beginning of its name.
fn is_of(path: &Path, pattern: &Path) -> bool {
    if matches(pattern, path) {
        return true;
    }
    let (Some(folder), Some(names)) = (pattern.parent(), pattern.file_name()) else {
        return false;
    };
    let begin: Vec<u8> = {
        let names = names.as_bytes();
        let dot = names.iter().skip(1).position(|byte| *byte == b'.');
        let star = names.iter().position(|byte| *byte == b'*');
        let end = dot.map_or(names.len(), |dot| dot + 1);
        names
            .iter()
            .take(end.min(star.unwrap_or(end)))
            .copied()
            .collect()
    };
    let name = path.file_name().unwrap_or_default();
    !begin.is_empty()
        && name.as_bytes().starts_with(&begin)
        && path.parent().is_some_and(|parent| matches(folder, parent))
}

/// Whether something that a pattern names may lie below a folder.
fn may_match_below(folder: &Path, pattern: &Path) -> bool {
    let depth = folder.components().count();
    let begin: PathBuf = pattern.components().take(depth).collect();
    depth < pattern.components().count() && matches(&begin, folder)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Readable, without_parent_dirs};
    use crate::formats::roots::Environment;
    use crate::source::serve::Access;

    #[test]
    fn agents_folders_are_read_and_nothing_else() {
        let mut readable = Readable::of(&Environment {
            home: Some(PathBuf::from("/home/u")),
            ..Environment::default()
        });
        let reads = |readable: &Readable, path: &str| readable.may_read(Path::new(path));
        assert!(readable.may_list(Path::new("/home/u/work/.crush")));
        assert!(
            !readable.may_list(Path::new("/home/u/.ssh/keys"))
                && !readable.may_list(Path::new("/home/u"))
        );
        for path in [
            "/home/u/.claude/projects/p/a.jsonl",
            "/home/u/.codex/sessions",
            "/home/u/work/.crush/crush.db",
            "/home/u/work/.crush/crush.db-wal",
        ] {
            assert!(reads(&readable, path), "{path}");
        }
        for path in [
            "/etc/passwd",
            "/home/u/.ssh/id_ed25519",
            "/home/u/.bashrc",
            "/home/u/work/secrets.db",
            "/home/u/work/.crush/other",
            "/home/u",
            "/",
        ] {
            assert!(!reads(&readable, path), "{path}");
        }
        assert!(readable.may_stat(Path::new("/home/u")) && !readable.may_stat(Path::new("/etc")));
        assert!(
            !readable.may_expand(Path::new("/home/u/*/*"))
                && !readable.may_expand(Path::new("/etc/*"))
        );
        readable.permit(Path::new("/srv/runs/one/a.jsonl"));
        assert!(reads(&readable, "/srv/runs/one/a.jsonl"));
        assert!(reads(&readable, "/srv/runs/one/a/subagents/b.jsonl"));
        assert!(!reads(&readable, "/srv/other"));
        readable.permit(Path::new("/home/u/b.jsonl"));
        assert!(reads(&readable, "/home/u/b.jsonl") && !reads(&readable, "/home/u/.bashrc"));
    }

    #[test]
    fn ways_back_end_at_the_machine() {
        for (path, plain) in [
            ("h:/home/u/../x", "h:/home/x"),
            ("h:/../../etc", "h:/etc"),
            ("h:/a/./b", "h:/a/b"),
        ] {
            assert_eq!(without_parent_dirs(Path::new(path)), Path::new(plain));
        }
    }
}
