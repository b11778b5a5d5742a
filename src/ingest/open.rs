//! From a path to a plan: determines the shape, the format and the session.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use super::plan::{FileHead, Plan, Verdicts, files_of, read_head};
use super::target::{OpenError, SessionHead, refusal};
use super::{catalog, probe};
use crate::formats::decoder::Format;
use crate::formats::generic::Generic;
use crate::formats::json;
use crate::formats::probe::{Confidence, ProbeResult};
use crate::formats::roots::{FileRole, Pattern, is_of_agents};
use crate::formats::{DetectMode, Detection, named, registry, roots};
use crate::model::found::Target;
use crate::model::record::Shape;
use crate::model::text::{Text, text_of};
use crate::source::discover::{FolderContents, files_below};
use crate::source::expansion::{Closed, ClosedReason};
use crate::source::follow;
use crate::source::fs::{self, PathKind};
use crate::source::pattern::matches;
use crate::source::read::read_range;
use crate::source::regular::{self, Fence};
use crate::source::remote::is_far;
use crate::source::rewritten::Rewritten;
use crate::source::rows;

/// Maximum depth at which a folder is searched for session files.
const DEEPEST: usize = 3;
/// Number of the newest files of a folder that are tried.
const TRIED: usize = 200;
/// Bytes of a listed file that confirm its format.
const FIRST_BYTES: usize = 32 << 10;

/// Determines what a target is.
pub(crate) fn plan(target: &Target) -> Result<Plan, OpenError> {
    plan_with_verdicts(target, DetectMode::UntilCertain).map(|(plan, _)| plan)
}

/// Verdicts of all formats on a target, in the order of the registry; none for a pipe.
pub(crate) fn verdicts(target: &Target) -> Result<Verdicts, OpenError> {
    plan_with_verdicts(target, DetectMode::All).map(|(_, verdicts)| verdicts)
}

fn plan_with_verdicts(target: &Target, mode: DetectMode) -> Result<(Plan, Verdicts), OpenError> {
    let path = &target.path;
    if target.is_stdin() {
        return Ok((piped(path), Verdicts::new()));
    }
    let kind = fs::metadata(path)
        .map_err(|error| cannot_open(path, &error))?
        .kind;
    if kind == PathKind::Folder {
        return plan_folder(target, mode);
    }
    // What flows on another machine cannot be read at an offset.
    if matches!(kind, PathKind::Pipe | PathKind::CharDevice) && !is_far(path) {
        return Ok((piped(path), Verdicts::new()));
    }
    if kind != PathKind::File {
        return Err(refusal(
            path,
            &format!("{}, not a session file", describe(kind)),
        ));
    }
    let FileHead {
        bytes: head,
        is_whole,
        packing,
    } = read_head(path).map_err(|error| cannot_open(path, &error))?;
    if rows::is_database(&head) {
        return match packing {
            None => catalog::plan(target, mode),
            Some(_) => Err(refusal(path, "a compressed database; unpack it first")),
        };
    }
    let detection = match detect_session(path, &head, is_whole, mode) {
        Ok(detection) => detection,
        Err(NoSession::Aside(what) | NoSession::Foreign(what)) => return Err(refusal(path, what)),
        Err(NoSession::Unclaimed) => {
            let what = format!("{UNCLAIMED}; `tv doctor` says what each format missed");
            return Err(refusal(path, &what));
        }
    };
    // The name after a file's path is that of an entry in its only session.
    let session = session_of(path, &head).unwrap_or_default();
    let (plan, verdicts) = Plan::of(path, session, detection);
    let plan = match packing {
        Some(packing) => plan.packed(packing),
        None => plan,
    };
    Ok((plan, verdicts))
}

/// Why a file holds no session.
enum NoSession {
    /// It belongs to an agent and is no session by design: what it is.
    Aside(&'static str),
    /// It is something else: what.
    Foreign(&'static str),
    /// No format recognizes it.
    Unclaimed,
}

const UNCLAIMED: &str = "no session format is recognised in it";

/// Detects the format of the session in a file with this beginning.
fn detect_session(
    path: &Path,
    head: &[u8],
    is_whole: bool,
    mode: DetectMode,
) -> Result<Detection, NoSession> {
    if let Some(what) = probe::foreign(head) {
        return Err(NoSession::Foreign(what));
    }
    let detection = probe::detect_file_with_verdicts(path, head, is_whole, mode);
    if let Some(what) = detection.aside {
        return Err(NoSession::Aside(what));
    }
    if probe::is_unclaimed(&detection) {
        return Err(NoSession::Unclaimed);
    }
    match probe::without_records(head, &detection) {
        Some(what) => Err(NoSession::Foreign(what)),
        None => Ok(detection),
    }
}

/// Why an agent's file cannot be read as a session. `None`: it can, it is empty so far, or it is no
/// session by design.
pub(crate) fn why_no_session(path: &Path) -> Option<Text> {
    let head = match read_head(path) {
        Ok(head) => head,
        Err(error) => return Some(Text::clean(&why_unread(path, &error))),
    };
    if rows::is_database(&head.bytes) {
        return Some(Text::from("a database in place of a file of records"));
    }
    match detect_session(path, &head.bytes, head.is_whole, DetectMode::UntilCertain) {
        Ok(_) | Err(NoSession::Aside(_)) => None,
        Err(NoSession::Foreign(what)) => Some(Text::clean(what)),
        Err(NoSession::Unclaimed) => Some(Text::from(UNCLAIMED)),
    }
}

/// The plan for a file listed under this format, if its first lines confirm that for certain: a
/// command that goes through thousands of files does not parse fifty lines of each.
pub(crate) fn plan_listed(path: &Path, format: &str) -> Option<Plan> {
    let head = read_range(&regular::open(path).ok()?, 0, FIRST_BYTES).ok()?;
    let format = named(format)?;
    let verdict = probe::certain(format, path, &head)?;
    let detection = Detection {
        format,
        verdict,
        others: Vec::new(),
        is_provisional: false,
        aside: None,
    };
    Some(Plan::new(path, stem(path).unwrap_or_default(), detection))
}

/// The sessions in a folder or database, newest first; one without a name for a plain file.
pub fn sessions(target: &Target) -> Result<Vec<SessionHead>, OpenError> {
    if target.is_stdin() {
        return Ok(vec![SessionHead::default()]);
    }
    let metadata = fs::metadata(&target.path).map_err(|error| cannot_open(&target.path, &error))?;
    if metadata.is_file() && is_database(&target.path) {
        return catalog::sessions(&target.path);
    }
    if !metadata.is_dir() {
        return Ok(vec![SessionHead::default()]);
    }
    let detection = detect_folder(&target.path, DetectMode::UntilCertain)?;
    if !probe::is_folder_of_sessions(&detection) {
        return Ok(vec![SessionHead::default()]);
    }
    let files = session_files(detection.format, &target.path);
    Ok(files
        .iter()
        .filter_map(|path| stem(path))
        .map(SessionHead::with_id)
        .collect())
}

/// Whether a database holds several sessions that no other one there started, and the target names
/// none.
pub(crate) fn is_choice(target: &Target) -> bool {
    // Opening a named pipe would wait for its writer.
    let is_file =
        !target.is_stdin() && fs::metadata(&target.path).is_ok_and(|metadata| metadata.is_file());
    if target.session.is_some() || !is_file || !is_database(&target.path) {
        return false;
    }
    let heads = catalog::heads_at(&target.path, None, false).unwrap_or_default();
    heads
        .iter()
        .filter(|head| catalog::is_main(head, &heads))
        .nth(1)
        .is_some()
}

/// Whether a file is a database, by its content.
pub(crate) fn is_database(path: &Path) -> bool {
    read_head(path).is_ok_and(|head| head.packing.is_none() && rows::is_database(&head.bytes))
}

/// The session that a file of a folder belongs to.
fn session_of(path: &Path, head: &[u8]) -> Option<String> {
    let may_name = memchr::memmem::find(head, b"sessionID").is_some();
    let text = if may_name {
        text_of(head)
    } else {
        Cow::default()
    };
    let named = json::read(&text).and_then(|file| file.get("sessionID").str().map(str::to_owned));
    named.or_else(|| stem(path))
}

/// The format of a pipe is detected when data comes.
fn piped(path: &Path) -> Plan {
    let verdict = ProbeResult::yes(
        Confidence::Maybe,
        Shape::Stream,
        "waiting for the first records",
    );
    let detection = Detection {
        format: &Generic,
        verdict,
        others: Vec::new(),
        is_provisional: true,
        aside: None,
    };
    Plan::new(path, String::new(), detection)
}

fn plan_folder(target: &Target, mode: DetectMode) -> Result<(Plan, Verdicts), OpenError> {
    let path = &target.path;
    let named = target.session.as_deref().filter(|name| !name.is_empty());
    let detection = detect_folder(path, mode)?;
    if probe::is_folder_of_sessions(&detection) {
        let session = match named {
            Some(name) => {
                let files = session_files(detection.format, path);
                find_named(files, name)
                    .map_err(|what| refusal(path, &what))?
                    .0
            }
            None => newest_session(detection.format, path)
                .ok_or_else(|| refusal(path, "no session in this folder"))?,
        };
        return Ok(Plan::of(path, session, detection));
    }
    let found = may_be_sessions(path);
    let none = "no session file in this folder or up to three folders below; name a file";
    let file = match named {
        Some(name) => find_named(found.files, name)
            .map(|(_, file)| file)
            .map_err(|what| refusal(path, &what))?,
        None => newest_session_file(found.files.clone())
            .ok_or_else(|| unreadable_below(&found).unwrap_or_else(|| refusal(path, none)))?,
    };
    let session = None;
    plan_with_verdicts(
        &Target {
            path: file,
            session,
        },
        mode,
    )
}

/// Files below a folder that may be sessions.
fn may_be_sessions(folder: &Path) -> FolderContents {
    let mut found = files_below(folder, DEEPEST, &contains_sessions, &mut |_, _| true);
    found.files.retain(|file| probe::may_contain_session(file));
    found
}

/// The session with this name among files named by their sessions, and its file. Some agents put
/// the start time before the id, or store the topic in a file with the same name.
fn find_named(mut files: Vec<PathBuf>, name: &str) -> Result<(String, PathBuf), String> {
    let id = |file: &PathBuf| stem(file).map(|stem| stem.trim_end_matches(".messages").to_owned());
    files.sort_by_cached_key(|file| (id(file), std::cmp::Reverse(stem(file))));
    files.dedup_by_key(|file| id(file));
    let head = |id: String| {
        let key = id.rsplit_once('_').map(|(_, key)| key.to_owned());
        SessionHead {
            key,
            ..SessionHead::with_id(id)
        }
    };
    let heads: Vec<SessionHead> = files.iter().filter_map(id).map(head).collect();
    let found = catalog::find(&heads, name)?.id.clone();
    let file = files
        .into_iter()
        .find(|file| id(file).as_ref() == Some(&found));
    Ok((found, file.unwrap_or_default()))
}

fn detect_folder(path: &Path, mode: DetectMode) -> Result<Detection, OpenError> {
    let entries = fs::entries(path).map_err(|error| cannot_open(path, &error))?;
    let mut names: Vec<String> = entries
        .into_iter()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(probe::detect_folder(path, &names, mode))
}

/// The session files of a folder, newest first.
fn session_files(format: &dyn Format, path: &Path) -> Vec<PathBuf> {
    let mut files = files_of(&format.files(path, FileRole::Session));
    files.sort_by_cached_key(|file| std::cmp::Reverse(modified(file)));
    files
}

/// The newest session that no other session started.
fn newest_session(format: &dyn Format, path: &Path) -> Option<String> {
    let files = session_files(format, path);
    let is_main = |file: &&PathBuf| {
        let bytes = Rewritten::new(file.as_path(), Fence::default())
            .read()
            .unwrap_or_default();
        json::parse(&String::from_utf8_lossy(&bytes))
            .is_ok_and(|session| session.get("parentID").is_null())
    };
    files
        .iter()
        .find(is_main)
        .or_else(|| files.first())
        .and_then(|file| stem(file))
}

/// Why a file or a folder of a search cannot be read.
fn unreadable_below(found: &FolderContents) -> Option<OpenError> {
    let unread = found
        .files
        .iter()
        .filter_map(|file| read_head(file).err().map(|error| cannot_open(file, &error)));
    let closed = found
        .closed
        .iter()
        .map(|closed| refusal(&closed.path, &why_closed(closed)));
    unread.chain(closed).next()
}

/// The newest file that an agent wrote; of a session and its companions the session.
fn newest_session_file(mut files: Vec<PathBuf>) -> Option<PathBuf> {
    files.sort_by_cached_key(|file| std::cmp::Reverse(modified(file)));
    files.truncate(TRIED);
    let (newest, format) = files.iter().find_map(|file| {
        let FileHead {
            bytes: head,
            is_whole,
            ..
        } = read_head(file).ok()?;
        let detection = probe::detect_file(file, &head, is_whole);
        let is_session = probe::is_certain_of_agent(&detection) && probe::foreign(&head).is_none();
        is_session.then_some((file, detection.format))
    })?;
    if format.session_name(newest).is_none() {
        // Where each record is a file, any of them may be the newest: the session is named by the
        // first one.
        let all = files_of(&format.files(newest, FileRole::Part("")));
        if let Some(first) = all
            .iter()
            .find(|file| format.session_name(file).is_some())
            .filter(|_| all.contains(newest))
        {
            return Some(first.clone());
        }
    }
    // Of two files that are each other's companions the one is opened that only a list leaves out.
    let is_listed_instead =
        |other: &PathBuf| format.file(newest, FileRole::Instead).as_ref() == Some(other);
    let is_owner = |other: &&PathBuf| {
        *other != newest
            && !is_listed_instead(other)
            && format
                .files(other, FileRole::Companion)
                .iter()
                .any(|Pattern(pattern)| matches(pattern, newest))
    };
    Some(files.iter().find(is_owner).unwrap_or(newest).clone())
}

/// Whether a hidden folder is one in which agents store sessions.
pub(crate) fn contains_sessions(folder: &Path) -> bool {
    is_of_agents(folder, registry().flat_map(roots))
}

fn modified(path: &Path) -> Option<(i64, i64)> {
    fs::metadata(path).ok().map(|stamp| stamp.modified())
}

fn stem(path: &Path) -> Option<String> {
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
}

fn describe(kind: PathKind) -> &'static str {
    match kind {
        PathKind::Socket => "a socket",
        PathKind::BlockDevice => "a disk",
        PathKind::Pipe => "a named pipe",
        _ => "a special file",
    }
}

/// The error for a path that the system does not open.
pub(crate) fn cannot_open(path: &Path, error: &io::Error) -> OpenError {
    refusal(
        path,
        &explain(path, error).unwrap_or_else(|| format!("cannot be opened ({error})")),
    )
}

/// A better explanation of a system error, if there is one.
fn explain(path: &Path, error: &io::Error) -> Option<String> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.kind == PathKind::Link);
    let is_loop = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    let what = match error.kind() {
        io::ErrorKind::NotFound if is_link => "a link to a file that does not exist",
        io::ErrorKind::NotFound => "no such file or folder",
        io::ErrorKind::PermissionDenied => return Some(follow::why_unread(error)),
        _ if is_link && is_loop => "a link that leads back to itself",
        _ => return None,
    };
    Some(what.to_owned())
}

/// Why a path was not searched, for the row of an unreadable path.
pub(crate) fn why_closed(closed: &Closed) -> Text {
    Text::clean(&match closed.why {
        ClosedReason::System(number) => {
            why_unread(&closed.path, &io::Error::from_raw_os_error(number))
        }
        ClosedReason::Kind(kind) => {
            let what = regular::other_than_file(kind).unwrap_or("something else");
            format!("{what} in place of a file")
        }
    })
}

/// Why a file cannot be read, for the row of an unreadable path.
pub(crate) fn why_unread(path: &Path, error: &io::Error) -> String {
    explain(path, error).unwrap_or_else(|| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{plan, plan_listed};
    use crate::ingest::parse_target;
    use crate::model::found::Target;

    fn refusal(path: PathBuf) -> String {
        plan(&Target::at(path))
            .err()
            .map(|error| error.0)
            .unwrap_or_default()
    }

    #[test]
    fn what_is_no_session_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("a.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
        fs::write(path("a.zst"), [0x28, 0xb5, 0x2f, 0xfd]).unwrap();
        fs::write(
            path("a.eval"),
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        )
        .unwrap();
        fs::write(path("a.db"), b"SQLite format 3\0").unwrap();
        fs::write(path("a.txt"), b"\xff\xfe{\0").unwrap();
        fs::write(path("a.bin"), [7, 0, 0, 1, b'{', 9]).unwrap();
        let noise: Vec<u8> = (0..4_096_u32)
            .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1] | 1)
            .collect();
        fs::write(path("noise"), noise).unwrap();
        fs::write(
            path("a.db-wal"),
            [0x37, 0x7f, 0x06, 0x82, 0, 0x2d, 0xe2, 0x18],
        )
        .unwrap();
        fs::write(path("notes.md"), "# Notes\n\nNothing of an agent.\n").unwrap();
        std::os::unix::fs::symlink(path("nowhere"), path("dangling")).unwrap();
        std::os::unix::fs::symlink(path("loop"), path("loop")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        fs::create_dir(path("empty")).unwrap();
        for (name, words) in [
            ("a.gz", "the gzip archive breaks off"),
            ("a.eval", "git lfs pull"),
            ("a.zst", "the zstd archive breaks off"),
            (
                "a.db",
                if cfg!(feature = "sqlite") {
                    "not a database"
                } else {
                    "opencode export"
                },
            ),
            ("a.txt", "UTF-16"),
            ("a.bin", "binary"),
            ("noise", "binary"),
            ("a.db-wal", "open the database itself"),
            ("notes.md", "text without a JSON record"),
            ("dangling", "does not exist"),
            ("loop", "back to itself"),
            ("socket", "a socket"),
            ("missing", "no such file"),
            ("empty", "no session file"),
        ] {
            let refusal = refusal(path(name));
            assert!(refusal.contains(words), "{name}: {refusal}");
        }
    }

    #[test]
    fn a_listed_file_is_known_by_its_first_lines_or_looked_at_as_any_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.jsonl");
        let user =
            r#"{"type":"user","parentUuid":null,"isSidechain":false,"message":{"content":"Go"}}"#;
        let note = r#"{"type":"summary","summary":"Go","leafUuid":"1"}"#;
        let event =
            r#"{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"x"}}"#;
        for (lines, is_known) in [
            (vec![user, user], true),
            (vec![note, user], true),
            (vec![user], false),
            (vec![note, note], false),
            (vec![event, event], false),
            (vec![user, "{\"type\":", user], false),
            (vec!["", user, user], false),
            (vec![note; 9], false),
        ] {
            fs::write(&path, lines.join("\n") + "\n").unwrap();
            let known = plan_listed(&path, "claude-code");
            assert_eq!(known.is_some(), is_known, "{lines:?}");
            let usual = plan(&Target::at(&path)).unwrap();
            assert!(
                known.is_none_or(|known| known.reads_like(&usual)),
                "{lines:?}"
            );
        }
    }

    #[test]
    fn records_that_no_agent_writes_are_a_session() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        for text in [
            "",
            "\n",
            "starting\n{\"a\":1}\n",
            "[1,2]",
            "{\"a\":",
            "  {\n \"a\": 1\n}",
        ] {
            fs::write(&path, text).unwrap();
            let plan = plan(&Target::at(&path));
            assert_eq!(
                plan.map(|plan| plan.format.name()).ok(),
                Some("generic"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_name_that_no_session_of_a_folder_has_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let line = "{\"type\":\"session\",\"version\":3,\"id\":\"0b1\",\"timestamp\":\"2026-01-02T03:04:05Z\",\"cwd\":\"/\"}\n";
        for name in ["2026_0b1.jsonl", "2026_0b2.jsonl", "2027_0c1.jsonl"] {
            fs::write(dir.path().join(name), line).unwrap();
        }
        let plan = |name: &str| {
            plan(&Target {
                path: dir.path().to_owned(),
                session: Some(name.to_owned()),
            })
        };
        for (name, file) in [
            ("0b2", "2026_0b2.jsonl"),
            ("2027", "2027_0c1.jsonl"),
            ("2026_0b1", "2026_0b1.jsonl"),
        ] {
            assert_eq!(
                plan(name).map(|plan| plan.path).ok(),
                Some(dir.path().join(file)),
                "{name}"
            );
        }
        for (name, words) in [
            ("nonsense", "no session nonsense among 3"),
            ("2026", "may mean 2 sessions"),
        ] {
            let refusal = plan(name).err().map(|error| error.0).unwrap_or_default();
            assert!(refusal.contains(words), "{refusal}");
        }
    }

    #[test]
    fn a_session_in_a_folder_is_named_after_a_hash() {
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join("odd#name");
        fs::write(&odd, "").unwrap();
        assert_eq!(parse_target(odd.to_str().unwrap()).session, None);
        let target = parse_target("storage#ses_1");
        assert_eq!(
            (target.path, target.session.as_deref()),
            (PathBuf::from("storage"), Some("ses_1"))
        );
        assert!(parse_target("-").is_stdin());
    }
}
