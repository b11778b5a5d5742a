//! Files that may be sessions, by path and name alone.
//!
//! Invariant: opens no file except those that the user names, and databases, whose rows are the
//! sessions.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::formats::decoder::Format;

use crate::formats::generic::Generic;
use crate::formats::roots::{Environment, FileRole, Pattern, Root, RootPattern, SessionName};
use crate::formats::{self, DetectMode, registry};
use crate::ingest::catalog::Unlisted;
use crate::ingest::target::{OpenError, SessionHead};
use crate::ingest::{catalog, far, open, probe, sift};
use crate::model::found::{FoundSession, Target};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::source::discover::{file_at, files_below, files_matching, files_matching_each};
use crate::source::expansion::{Closed, WalkedFile};
use crate::source::fs::{self, Metadata};
use crate::source::pattern::{Listings, from_root};
use crate::source::regular;
use crate::source::rows::{DatabaseFailure, DatabaseState};

/// Maximum depth at which a folder that the user names is searched.
const DEEPEST: usize = 6;

/// Which sessions to search for, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiscoveryQuery {
    /// Where the agents' roots are.
    pub environment: Environment,
    /// Files, databases, folders and sessions in them to search instead of all roots.
    pub targets: Vec<Target>,
    /// Restricts to sessions of the format with this name.
    pub format: Option<String>,
    /// Arguments that are none of these.
    pub refused: Vec<OpenError>,
}

impl DiscoveryQuery {
    /// A search for the sessions that the user names, of all agents or of one.
    pub fn among(
        environment: Environment,
        named: impl IntoIterator<Item = Result<Target, OpenError>>,
        format: Option<String>,
    ) -> Self {
        let (mut targets, mut refused) = (Vec::new(), Vec::new());
        for one in named {
            match one {
                Ok(target) => targets.push(target),
                Err(refusal) => refused.push(refusal),
            }
        }
        // If no argument is a session, the search finds nothing.
        let is_nothing = targets.is_empty() && !refused.is_empty();
        let environment = if is_nothing {
            Environment::default()
        } else {
            environment
        };
        Self {
            environment,
            targets,
            format,
            refused,
        }
    }

    /// Whether a session is of the requested format.
    pub(crate) fn matches(&self, found: &FoundSession) -> bool {
        self.format
            .as_ref()
            .is_none_or(|format| found.format == format)
    }

    /// Folders to search: those that the user named, else the existing roots, or all roots if none
    /// exists.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        if self.targets.is_empty() {
            return places(&self.environment);
        }
        let paths = self.targets.iter().map(|target| target.path.clone());
        paths.collect()
    }
}

/// The existing roots; all of them if none exists.
pub(crate) fn places(environment: &Environment) -> Vec<PathBuf> {
    let known = registry()
        .flat_map(formats::roots)
        .filter(|root| is_own_folder(root));
    let mut places: Vec<PathBuf> = known.filter_map(|root| root.place(environment)).collect();
    places.retain(|place| names_one(place, environment));
    places.dedup();
    if places.iter().any(|place| fs::exists(place)) {
        places.retain(|place| fs::exists(place));
    }
    places
}

/// The current directory is no folder of an agent's own.
fn is_own_folder(root: &Root) -> bool {
    !root
        .holds
        .iter()
        .any(|holds| matches!(holds, RootPattern::Above(_)))
}

/// Agents that store sessions in each project have the home folder as a root, which names no
/// particular folder.
fn names_one(place: &Path, environment: &Environment) -> bool {
    !place.to_string_lossy().contains('*') && Some(place) != environment.home.as_deref()
}

/// A file or row that may be a session.
#[derive(Clone, Default)]
pub(crate) struct Candidate {
    /// Path of the file or database.
    pub(crate) path: PathBuf,
    /// Format of the session. `None`: to be detected from the content.
    pub(crate) format: Option<&'static dyn Format>,
    /// Id from the file name or the row.
    pub(crate) id: String,
    /// Agent name from the path.
    pub(crate) agent: Option<String>,
    pub(crate) is_archive: bool,
    /// When it was last written to.
    pub(crate) modified: Option<Timestamp>,
    /// The file at the scan, or the database.
    pub(crate) metadata: Option<Metadata>,
    /// The session's row in its database.
    pub(crate) row: Option<Box<SessionHead>>,
    /// Whether another session of its database started it.
    pub(crate) is_child: bool,
    /// Whether the user named this very file.
    pub(crate) is_asked: bool,
}

impl Candidate {
    /// A candidate with nothing but a path.
    pub(super) fn at(path: PathBuf, format: Option<&'static dyn Format>, id: &str) -> Self {
        Self {
            path,
            format,
            id: id.to_owned(),
            ..Self::default()
        }
    }

    /// Files beside it, each with its time of modification if known: for a file that the user named
    /// they are known only after it is read.
    pub(crate) fn companion_times(&self) -> impl Iterator<Item = (PathBuf, Timestamp)> {
        let format = self.format.filter(|_| self.row.is_none());
        let beside = format
            .map(|format| sift::companions(&self.path, format))
            .unwrap_or_default();
        beside
            .into_iter()
            .filter_map(|path| fs::written(&path).map(|at| (path, at)))
    }

    /// Length of the file in bytes; `None` for rows of a database.
    pub(super) fn size(&self) -> Option<u64> {
        let file = self.metadata.filter(|_| self.row.is_none());
        file.map(|metadata| metadata.len)
    }

    /// Its stamp, as far as that is known without opening it.
    pub(super) fn stamp(&self) -> (Option<Timestamp>, Option<u64>) {
        (self.modified, self.size())
    }

    pub(crate) fn place(&self) -> Target {
        Target {
            path: self.path.clone(),
            session: self.row.as_ref().map(|row| row.id.clone()),
        }
    }

    /// Whether it is below a target, and is the named session if there is one.
    fn is_of(&self, target: &Target) -> bool {
        let key = self.row.as_ref().and_then(|row| row.key.as_ref());
        let is_named = |name: &String| self.id.starts_with(name) || key == Some(name);
        self.path.starts_with(&target.path) && target.session.as_ref().is_none_or(is_named)
    }
}

/// Cache of the rows of databases, valid until they are written to.
#[derive(Default)]
pub(crate) struct DatabaseCache {
    rows: HashMap<PathBuf, (DatabaseState, Vec<Candidate>)>,
    /// Databases that were tried before.
    tried: HashSet<PathBuf>,
}

/// Result of a scan.
#[derive(Default)]
pub(crate) struct DiscoveryScan {
    /// Candidates, newest first.
    pub(crate) candidates: Vec<Candidate>,
    /// What the user named and is not there, or cannot be read.
    pub(crate) refused: Vec<OpenError>,
    /// Databases, files and folders that cannot be read, each in place of the sessions that it may
    /// hold, by time of modification.
    pub(crate) unreadable: Vec<FoundSession>,
    /// Folders that were searched for files of agents.
    pub(crate) folders: Vec<PathBuf>,
    /// Cached listings of those folders.
    pub(crate) listings: Arc<Listings>,
}

/// Finds candidates, one for each session.
pub(crate) fn collect(search: &DiscoveryQuery, databases: &mut DatabaseCache) -> DiscoveryScan {
    let mut scan = files(search, databases);
    remove_continued(&mut scan.candidates, |candidate| candidate);
    scan
}

/// Like [`collect`], with all files of sessions that have several: a later file may retract what
/// an earlier one records.
pub(crate) fn files(search: &DiscoveryQuery, databases: &mut DatabaseCache) -> DiscoveryScan {
    let mut scanner = Scanner {
        search,
        databases,
        scan: DiscoveryScan::default(),
    };
    let mut refused = search.refused.clone();
    let mut candidates = Vec::new();
    if search.targets.is_empty() {
        candidates = scanner.under_roots(&search.environment, None);
    }
    for Target { path, .. } in &search.targets {
        match scanner.at_path(path) {
            Ok(found) => candidates.extend(found),
            Err(failure) => refused.push(failure),
        }
    }
    refused.extend(retain_named(&mut candidates, &search.targets));
    dedup_paths(&mut candidates);
    remove_copies(&mut candidates);
    candidates
        .sort_by_cached_key(|candidate| (Reverse(candidate.modified), candidate.path.clone()));
    let mut unreadable = std::mem::take(&mut scanner.scan.unreadable);
    unreadable.sort_by_cached_key(|found| (Reverse(found.modified), found.path.clone()));
    DiscoveryScan {
        candidates,
        refused,
        unreadable,
        ..scanner.scan
    }
}

/// Retains the named sessions, if any are named. A named session that was not found is a failure.
fn retain_named(candidates: &mut Vec<Candidate>, named: &[Target]) -> Vec<OpenError> {
    if named.iter().all(|target| target.session.is_none()) {
        return Vec::new();
    }
    candidates.retain(|candidate| named.iter().any(|target| candidate.is_of(target)));
    let is_main = |candidate: &&Candidate| !(candidate.row.is_some() && candidate.is_child);
    let is_there = |target: &&Target| {
        candidates
            .iter()
            .filter(is_main)
            .any(|one| one.is_of(target))
    };
    let missing = named
        .iter()
        .filter(|target| target.session.is_some() && !is_there(target));
    let why = |target: &Target| {
        let (path, name) = (
            target.path.display(),
            target.session.as_deref().unwrap_or_default(),
        );
        let started =
            format!("{path}#{name}: another session started it, and is read with it; name that");
        open::plan(target).err().unwrap_or(OpenError(started))
    };
    missing.map(why).collect()
}

/// A scan in progress.
struct Scanner<'s> {
    search: &'s DiscoveryQuery,
    databases: &'s mut DatabaseCache,
    scan: DiscoveryScan,
}

impl Scanner<'_> {
    /// Candidates below the roots of the agents, or of one, optionally within a folder.
    fn under_roots(&mut self, environment: &Environment, within: Option<&Path>) -> Vec<Candidate> {
        let wanted = self.search.format.as_deref();
        let formats: Vec<_> = registry()
            .filter(|known| wanted.is_none_or(|wanted| known.name() == wanted))
            .collect();
        let place = |root: &'static Root| {
            let place = root.place(environment)?;
            let names_one = names_one(&place, environment);
            Some((place, root.holds, names_one))
        };
        let held = |format: &'static dyn Format| {
            let places = formats::roots(format).filter_map(place);
            places.flat_map(|(place, holds, names_one)| {
                let patterns = move |holds: &'static RootPattern| {
                    holds
                        .patterns(&place)
                        .into_iter()
                        .map(move |pattern| (holds, pattern, names_one))
                };
                holds.iter().flat_map(patterns)
            })
        };
        let patterns: Vec<PathBuf> = formats
            .iter()
            .flat_map(|format| held(*format))
            .map(|(_, pattern, _)| pattern)
            .collect();
        let mut named = files_matching_each(&patterns, &self.scan.listings).into_iter();
        let is_within = |path: &Path| within.is_none_or(|folder| path.starts_with(folder));
        let mut all = Vec::new();
        for format in formats {
            let (mut found, mut beside) = (Vec::new(), Vec::new());
            for ((holds, _, names_one), named) in held(format).zip(named.by_ref()) {
                let files = named.files.into_iter().filter(|file| is_within(&file.path));
                // The current directory and its parents are full of unrelated files.
                if !matches!(holds, RootPattern::Above(_)) {
                    self.scan.folders.extend(
                        named
                            .directories
                            .into_iter()
                            .filter(|folder| is_within(folder)),
                    );
                }
                let is_missing = |closed: &Closed| match holds {
                    // An unreadable folder elsewhere belongs to no agent in particular.
                    _ if !closed.is_file => names_one && !matches!(holds, RootPattern::Above(_)),
                    RootPattern::Files(_) => format.session_name(&closed.path).is_some(),
                    RootPattern::Databases(_) => true,
                    // Unreadable files beside a session are reported when that is read.
                    RootPattern::Beside(_) | RootPattern::Above(_) => false,
                };
                let closed = named
                    .closed
                    .into_iter()
                    .filter(|closed| is_missing(closed) && is_within(&closed.path));
                closed.for_each(|closed| self.scan.add_closed(&closed, format.name()));
                match holds {
                    RootPattern::Files(_) | RootPattern::Above(_) => {
                        found.extend(files.filter_map(|file| of_file(file, Some(format))));
                    }
                    RootPattern::Beside(_) => beside.extend(files),
                    RootPattern::Databases(_) => found.extend(
                        files.flat_map(|file| self.rows(&file, Some(format)).unwrap_or_default()),
                    ),
                }
            }
            add_orphans(&mut found, beside, format);
            all.append(&mut found);
        }
        all
    }

    /// Candidates for a path that the user names.
    fn at_path(&mut self, path: &Path) -> Result<Vec<Candidate>, OpenError> {
        if far::is_host(path) {
            return Ok(self.on_host(path));
        }
        let metadata = fs::metadata(path).map_err(|error| open::cannot_open(path, &error))?;
        let file = file_at(path.to_owned());
        // A named folder is listed even if it is no session.
        let looked = if metadata.is_dir() {
            fs::entries(path).map(drop)
        } else {
            regular::open(path).map(drop)
        };
        looked.map_err(|error| open::cannot_open(path, &error))?;
        if metadata.is_dir() {
            return Ok(self.in_folder(path));
        }
        if open::is_database(path) {
            return self.rows(&file, None);
        }
        open::plan(&Target::at(path))?;
        let named = SessionName::stem(path);
        Ok(vec![Candidate {
            is_asked: true,
            ..candidate(file, None, named.unwrap_or(SessionName::id("")))
        }])
    }

    /// The sessions of another machine; in their place the reason if it cannot be reached, which is
    /// tried again in the next scan.
    fn on_host(&mut self, path: &Path) -> Vec<Candidate> {
        match far::environment_of(path, &self.search.environment) {
            Ok(there) => self.under_roots(&there, None),
            Err(error) => {
                let why = open::why_unread(path, &error);
                // Nothing there has been read, so no agent is known.
                self.scan.add_unreadable(FoundSession::unreadable(
                    path.to_owned(),
                    "",
                    Text::clean(&why),
                ));
                Vec::new()
            }
        }
    }

    /// A folder is searched with the agents' own patterns, which include hidden folders, and then file
    /// by file.
    fn in_folder(&mut self, folder: &Path) -> Vec<Candidate> {
        let absolute = from_root(folder);
        let here = &self.search.environment;
        let environment = far::environment_of(folder, here).unwrap_or(Cow::Borrowed(here));
        let mut found = self.under_roots(&environment, Some(&absolute));
        let known: HashSet<PathBuf> = found
            .iter()
            .map(|candidate| candidate.path.clone())
            .collect();
        let mut stores: Vec<Candidate> = Vec::new();
        // What is below the roots was found already.
        let roots = registry()
            .flat_map(formats::roots)
            .filter(|root| is_own_folder(root));
        let mut roots: Vec<PathBuf> = roots.filter_map(|root| root.place(&environment)).collect();
        roots.retain(|root| Some(root) != environment.home.as_ref());
        let is_root = |folder: &Path| {
            roots
                .iter()
                .any(|root| root.starts_with(folder) || folder.starts_with(root))
        };
        let is_seen = |folder: &Path| open::contains_sessions(folder) && !is_root(folder);
        let below = files_below(&absolute, DEEPEST, &is_seen, &mut |folder, names| {
            let sessions = self.in_store(folder, names);
            let is_store = sessions.is_some();
            stores.extend(sessions.unwrap_or_default());
            !is_store
        });
        below
            .closed
            .iter()
            .for_each(|closed| self.scan.add_closed(closed, Generic.name()));
        let is_missed = |path: &PathBuf, missed: &[FoundSession]| {
            missed.iter().any(|found| found.path == *path)
        };
        for path in below.files.into_iter().filter(|path| !known.contains(path)) {
            if is_missed(&path, &self.scan.unreadable) {
                continue;
            }
            if may_be_a_database(&path) {
                found.extend(self.rows_if_database(&file_at(path)));
            } else if probe::may_contain_session(&path) {
                let format = probe::claimed(&path);
                found.extend(of_file(file_at(path), format));
            }
        }
        found.extend(
            stores
                .into_iter()
                .filter(|candidate| !known.contains(&candidate.path)),
        );
        found
    }

    /// The sessions of a folder in which each has many files, if it is such a folder.
    fn in_store(&mut self, folder: &Path, names: &[String]) -> Option<Vec<Candidate>> {
        let detection = probe::detect_folder(folder, names, DetectMode::UntilCertain);
        let format = Some(detection.format).filter(|_| probe::is_folder_of_sessions(&detection))?;
        let files = format
            .files(folder, FileRole::Session)
            .into_iter()
            .flat_map(|Pattern(pattern)| files_matching(&pattern));
        let mut sessions: Vec<Candidate> = files
            .filter_map(|file| of_file(file, Some(format)))
            .collect();
        for name in names
            .iter()
            .filter(|name| may_be_a_database(Path::new(name)))
        {
            sessions.extend(self.rows_if_database(&file_at(folder.join(name))));
        }
        Some(sessions)
    }

    /// The current sessions of a database; those of an earlier scan, if it cannot be read. If there
    /// was no earlier scan, the database is reported as unreadable.
    fn rows(
        &mut self,
        file: &WalkedFile,
        format: Option<&'static dyn Format>,
    ) -> Result<Vec<Candidate>, OpenError> {
        self.listed(file, format).map_err(|why| why.of(&file.path))
    }

    /// The sessions of a file that may be a database of some agent. If it is busy it may be one;
    /// any other unreadable file belongs to no agent in particular.
    fn rows_if_database(&mut self, file: &WalkedFile) -> Vec<Candidate> {
        self.listed(file, None).unwrap_or_else(|why| {
            if let Unlisted::Unreadable(
                failure @ (DatabaseFailure::Busy | DatabaseFailure::Unfinished),
            ) = why
            {
                self.scan
                    .add_unreadable_database(file, Generic.name(), &failure.words());
            }
            Vec::new()
        })
    }

    fn listed(
        &mut self,
        file: &WalkedFile,
        format: Option<&'static dyn Format>,
    ) -> Result<Vec<Candidate>, Unlisted> {
        let state = DatabaseState::of(&file.path).ok();
        let is_again = !self.databases.tried.insert(file.path.clone());
        let known = self.databases.rows.get(&file.path);
        if let Some((_, rows)) = known.filter(|(known, _)| Some(*known) == state) {
            return Ok(rows.clone());
        }
        let rows = match (of_database(file, format, is_again), known, format) {
            (Ok(rows), ..) => rows,
            (Err(Unlisted::Unreadable(_)), Some((_, rows)), _) => return Ok(rows.clone()),
            (Err(Unlisted::Unreadable(failure)), None, Some(format))
                if failure != DatabaseFailure::Deleted =>
            {
                self.scan
                    .add_unreadable_database(file, format.name(), &failure.words());
                return Ok(Vec::new());
            }
            (Err(Unlisted::Unknown(why)), _, Some(format)) => {
                self.scan.add_unreadable_database(file, format.name(), &why);
                return Ok(Vec::new());
            }
            // A database with other tables has no sessions to list.
            (Err(Unlisted::Foreign(_)), _, Some(_)) => Vec::new(),
            (Err(why), ..) => return Err(why),
        };
        if let Some(state) = state {
            self.databases
                .rows
                .insert(file.path.clone(), (state, rows.clone()));
        }
        Ok(rows)
    }
}

impl DiscoveryScan {
    /// Reports a path that exists and cannot be read.
    fn add_closed(&mut self, closed: &Closed, format: &'static str) {
        let modified = fs::symlink_metadata(&closed.path)
            .ok()
            .map(|link| link.moment());
        self.add_unreadable(FoundSession {
            modified,
            ..FoundSession::unreadable(closed.path.clone(), format, open::why_closed(closed))
        });
    }

    /// Reports a database that cannot be read, in place of its sessions.
    fn add_unreadable_database(&mut self, file: &WalkedFile, format: &'static str, why: &str) {
        let named = formats::named(format).and_then(|format| format.session_name(&file.path));
        let agent = named.and_then(|named| named.agent).map(Text::clean);
        let found = FoundSession::unreadable(file.path.clone(), format, Text::clean(why));
        self.add_unreadable(FoundSession {
            agent,
            modified: written(file),
            ..found
        });
    }

    /// Several patterns may match the same path.
    fn add_unreadable(&mut self, found: FoundSession) {
        if !self.unreadable.iter().any(|known| known.path == found.path) {
            self.unreadable.push(found);
        }
    }
}

/// A file beside a session that was deleted is a session of its own. If no path tells whose it is,
/// its content does.
fn add_orphans(found: &mut Vec<Candidate>, beside: Vec<WalkedFile>, format: &'static dyn Format) {
    if beside.is_empty() {
        return;
    }
    let places: HashSet<PathBuf> = found
        .iter()
        .map(|candidate| candidate.path.clone())
        .collect();
    for file in beside {
        let is_gone = |owner: PathBuf| !places.contains(&owner) && !fs::exists(&owner);
        if format.file(&file.path, FileRole::Owner).is_none_or(is_gone) {
            let path = file.path.clone();
            found
                .extend(SessionName::stem(&path).map(|named| candidate(file, Some(format), named)));
        }
    }
}

/// Whether a file of an agent is no session of its own: its path says so, or another file
/// represents it. A file beside one that has an owner belongs to the owner, if that exists.
pub(crate) fn is_companion(format: &dyn Format, path: &Path) -> bool {
    let is_named =
        format.session_name(path).is_some() || format.file(path, FileRole::Owner).is_some();
    !is_named || has_replacement(format, path)
}

/// Whether another file records the same session more completely.
pub(crate) fn has_replacement(format: &dyn Format, path: &Path) -> bool {
    format
        .file(path, FileRole::Instead)
        .is_some_and(|other| fs::exists(&other))
}

fn of_file(file: WalkedFile, format: Option<&'static dyn Format>) -> Option<Candidate> {
    let path = file.path.clone();
    let named = format.map_or_else(
        || SessionName::stem(&path),
        |format| format.session_name(&path),
    )?;
    let has_other = format.is_some_and(|format| has_replacement(format, &path));
    (!has_other).then(|| candidate(file, format, named))
}

fn candidate(
    file: WalkedFile,
    format: Option<&'static dyn Format>,
    named: SessionName<'_>,
) -> Candidate {
    let WalkedFile { path, metadata } = file;
    Candidate {
        agent: named.agent.map(str::to_owned),
        is_archive: named.is_archive,
        modified: metadata.map(|metadata| metadata.moment()),
        metadata,
        ..Candidate::at(path, format, named.id)
    }
}

fn of_database(
    file: &WalkedFile,
    format: Option<&'static dyn Format>,
    is_again: bool,
) -> Result<Vec<Candidate>, Unlisted> {
    let target = Target::at(&file.path);
    let heads = catalog::heads_at(&file.path, format, is_again)?;
    let format = match format {
        Some(format) => format,
        None => open::plan(&target).map_err(Unlisted::Foreign)?.format,
    };
    let agent = format
        .session_name(&file.path)
        .and_then(|named| named.agent)
        .map(str::to_owned);
    let written = catalog::last_written(&heads);
    let row = |head: &SessionHead| Candidate {
        agent: agent.clone(),
        modified: written.get(&head.id).copied(),
        metadata: file.metadata,
        is_child: !catalog::is_main(head, &heads),
        row: Some(Box::new(head.clone())),
        ..Candidate::at(file.path.clone(), Some(format), &head.id)
    };
    Ok(heads.iter().map(row).collect())
}

/// When a database was last written to: its log is newer than itself.
fn written(file: &WalkedFile) -> Option<Timestamp> {
    let log = DatabaseState::of(&file.path)
        .ok()
        .and_then(|state| state.log);
    file.metadata
        .into_iter()
        .chain(log)
        .map(|metadata| metadata.moment())
        .max()
}

/// A file may have several paths, by links to it or to a parent folder: only one is retained, the
/// session's own path if that is among them, unless the user named another one.
fn dedup_paths(candidates: &mut Vec<Candidate>) {
    let mut kept: Vec<Candidate> = Vec::with_capacity(candidates.len());
    let mut places: HashMap<_, usize> = HashMap::with_capacity(candidates.len());
    for candidate in candidates.drain(..) {
        let row = candidate.row.as_ref().map(|row| row.id.clone());
        let identity = candidate.metadata.map(|metadata| metadata.identity());
        let path = identity.is_none().then(|| candidate.path.clone());
        let place = *places.entry((identity, path, row)).or_insert(kept.len());
        match kept.get_mut(place) {
            None => kept.push(candidate),
            Some(known) if known.path != candidate.path && known.is_asked <= candidate.is_asked => {
                if fs::canonicalize(&candidate.path).is_ok_and(|path| path == candidate.path) {
                    *known = candidate;
                }
            }
            Some(_) => {}
        }
    }
    *candidates = kept;
}

/// A database may leave imported files beside it: files of sessions that are rows now are old
/// copies, or are read with the rows, which then get their time of modification. Rows of an index
/// are left out if their files exist.
fn remove_copies(candidates: &mut Vec<Candidate>) {
    let name = |candidate: &Candidate| (candidate.format.map(Format::name), candidate.id.clone());
    let rows: HashSet<_> = candidates
        .iter()
        .filter(|candidate| candidate.row.is_some())
        .map(name)
        .collect();
    if rows.is_empty() {
        return;
    }
    let has_index = |candidate: &Candidate| {
        candidate
            .format
            .is_some_and(|format| format.head().has_index)
    };
    let files = candidates
        .iter()
        .filter(|candidate| candidate.row.is_none() && has_index(candidate));
    let files: HashSet<_> = files.map(name).collect();
    let is_copy = |candidate: &mut Candidate| {
        if has_index(candidate) {
            return candidate.row.is_some() && files.contains(&name(candidate));
        }
        let is_file = candidate.row.is_none() && !candidate.is_archive && !candidate.is_asked;
        is_file && rows.contains(&name(candidate))
    };
    let copies = candidates.extract_if(.., is_copy);
    let written: HashMap<_, _> = copies.map(|copy| (copy.path, copy.modified)).collect();
    if written.is_empty() {
        return;
    }
    for row in candidates
        .iter_mut()
        .filter(|candidate| candidate.row.is_some())
    {
        let lines = row
            .format
            .and_then(|format| format.file(&row.path, FileRole::Lines(&row.id)));
        let lines = lines.and_then(|path| written.get(&path).copied());
        row.modified = row.modified.max(lines.flatten());
    }
}

/// Of several files of one session in one folder, only the newest is retained, which continues the
/// others. A compressed file beside its original is the same.
pub(super) fn remove_continued<T>(all: &mut Vec<T>, candidate: impl Fn(&T) -> &Candidate) {
    let is_packed = |it: &Candidate| {
        it.path
            .extension()
            .is_some_and(|extension| extension == "zst")
    };
    if all.iter().any(|one| is_packed(candidate(one))) {
        let paths: HashSet<PathBuf> = all.iter().map(|one| candidate(one).path.clone()).collect();
        all.retain(|one| {
            let it = candidate(one);
            it.is_asked || !is_packed(it) || !paths.contains(&it.path.with_extension(""))
        });
    }
    let mut ids = HashSet::new();
    let again = all
        .iter()
        .map(|one| candidate(one).id.as_str())
        .filter(|id| !ids.insert(*id));
    let again: HashSet<String> = again.map(str::to_owned).collect();
    let mut known = HashSet::new();
    all.retain(|one| {
        let candidate = candidate(one);
        let may_go_on =
            candidate.row.is_none() && !candidate.is_asked && again.contains(&candidate.id);
        let Some(format) = candidate.format.filter(|_| may_go_on) else {
            return true;
        };
        known.insert((
            format.name(),
            format.home(&candidate.path),
            candidate.id.clone(),
            candidate.is_archive,
        ))
    });
}

fn may_be_a_database(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        ["db", "sqlite", "sqlite3"]
            .iter()
            .any(|known| extension == *known)
    })
}
