//! What git knows of a file: its contents by commit, and the commit of each line.
//!
//! The system's git is run for reading only: it takes no locks, fetches nothing, and runs neither
//! hooks nor the filters that a repository's attributes name. Without git, or of a file that it does
//! not track, nothing is known.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::model::text::{Text, text_of};
use crate::model::timestamp::Timestamp;

/// Commits of a file whose contents are read, newest first.
const MOST: &str = "400";
/// Separators of fields and records.
const FIELD: char = '\u{1f}';
const RECORD: char = '\u{1e}';

/// A file of a repository.
pub(super) struct Git {
    root: PathBuf,
    /// The path within the repository.
    path: String,
    /// The folders of all checkouts of the repository.
    pub(super) checkouts: Vec<PathBuf>,
}

/// A content of the file.
pub(super) struct CommittedFile {
    /// When its author made it, and when it was committed: later, if it was amended or rebased.
    pub(super) made: Timestamp,
    pub(super) at: Timestamp,
    pub(super) content: Vec<u8>,
}

/// A commit that a line is from.
#[derive(Clone, Debug, Serialize)]
pub(super) struct GitCommit {
    pub(super) id: String,
    #[serde(skip)]
    pub(super) made: Timestamp,
    #[serde(skip)]
    pub(super) at: Timestamp,
    #[serde(rename = "at")]
    pub(super) time: String,
    pub(super) author: Text,
    pub(super) summary: Text,
    /// Its trailers, such as `Co-authored-by: …`, and its notes, as other tools leave them.
    pub(super) trailers: Vec<Text>,
    pub(super) notes: Option<Text>,
}

impl Git {
    /// The repository of a file, if there is one and git can be run.
    pub(super) fn of(file: &Path) -> Option<Self> {
        let folder = file.parent()?;
        let answer = run(folder, ["rev-parse", "--show-toplevel", "--show-prefix"])?;
        let answer = String::from_utf8(answer).ok()?;
        let mut lines = answer.lines();
        let root = PathBuf::from(lines.next()?);
        let path = format!(
            "{}{}",
            lines.next().unwrap_or_default(),
            file.file_name()?.to_str()?
        );
        let listed = run(&root, ["worktree", "list", "--porcelain"]).unwrap_or_default();
        let checkouts = text_of(&listed)
            .lines()
            .filter_map(|line| line.strip_prefix("worktree "))
            .map(PathBuf::from)
            .collect();
        Some(Self {
            root,
            path,
            checkouts,
        })
    }

    /// The path within the repository.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The content at a revision.
    pub(super) fn content(&self, rev: &str) -> Option<Vec<u8>> {
        self.contents(&[rev]).pop()?
    }

    /// The contents of the file along the first parents of a revision, the oldest first: the last
    /// one before `since`, and all later ones.
    pub(super) fn history(&self, rev: &str, since: Timestamp) -> Vec<CommittedFile> {
        let arguments = [
            "log",
            "--first-parent",
            "--no-show-signature",
            "-n",
            MOST,
            "--format=%H %at %ct",
            rev,
            "--",
            self.path.as_str(),
        ];
        let listed = run(&self.root, arguments).unwrap_or_default();
        let listed = text_of(&listed);
        let mut commits: Vec<(&str, Timestamp, Timestamp)> = Vec::new();
        for line in listed.lines() {
            let mut words = line.split(' ');
            let (Some(id), Some(made), Some(at)) = (
                words.next(),
                words.next().and_then(seconds),
                words.next().and_then(seconds),
            ) else {
                continue;
            };
            commits.push((id, made, at));
            if at < since && made < since {
                break;
            }
        }
        commits.reverse();
        let ids: Vec<&str> = commits.iter().map(|(id, ..)| *id).collect();
        let contents = self.contents(&ids);
        commits
            .iter()
            .zip(contents)
            .map(|((_, made, at), content)| CommittedFile {
                made: *made,
                at: *at,
                // In a commit that removed it there is nothing of it.
                content: content.unwrap_or_default(),
            })
            .collect()
    }

    fn contents(&self, revs: &[&str]) -> Vec<Option<Vec<u8>>> {
        let found = self.read_contents(revs).unwrap_or_default();
        let missing = revs.len().saturating_sub(found.len());
        found
            .into_iter()
            .chain((0..missing).map(|_| None))
            .collect()
    }

    fn read_contents(&self, revs: &[&str]) -> Option<Vec<Option<Vec<u8>>>> {
        let mut child = git(&self.root, ["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .spawn()
            .ok()?;
        let (mut input, output) = (child.stdin.take()?, child.stdout.take()?);
        let mut output = std::io::BufReader::new(output);
        let mut contents = Vec::new();
        for rev in revs {
            writeln!(input, "{rev}:{}", self.path).ok()?;
            input.flush().ok()?;
            let mut head = String::new();
            output.read_line(&mut head).ok()?;
            let size = head
                .trim_end()
                .strip_suffix(" missing")
                .is_none()
                .then(|| head.trim_end().rsplit(' ').next()?.parse::<usize>().ok())
                .flatten();
            contents.push(match size {
                Some(size) => {
                    let mut content = vec![0; size + 1];
                    output.read_exact(&mut content).ok()?;
                    content.pop();
                    Some(content)
                }
                None => None,
            });
        }
        drop(input);
        child.wait().ok()?;
        Some(contents)
    }

    /// The commits that the lines of the file are from; `None` for a line that is not committed.
    pub(super) fn blame(
        &self,
        rev: Option<&str>,
    ) -> (Vec<Option<String>>, HashMap<String, GitCommit>) {
        let mut arguments = vec!["blame", "--porcelain", "--no-textconv"];
        arguments.extend(rev);
        arguments.extend(["--", self.path.as_str()]);
        let blamed = run(&self.root, arguments).unwrap_or_default();
        let (mut lines, mut ids) = (Vec::new(), HashSet::new());
        for line in text_of(&blamed).lines() {
            let id = line.split(' ').next().unwrap_or_default();
            let is_head = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
            // A line of the file begins with a tab.
            if line.starts_with('\t') || !is_head {
                continue;
            }
            let id = Some(id.to_owned()).filter(|id| id.bytes().any(|byte| byte != b'0'));
            ids.extend(id.clone());
            lines.push(id);
        }
        (lines, self.commits(ids))
    }

    fn commits(&self, ids: HashSet<String>) -> HashMap<String, GitCommit> {
        let format = "--format=%H%x1f%at%x1f%ct%x1f%an%x1f%s%x1f%(trailers:only,unfold)%x1f%N%x1e";
        let mut found = HashMap::new();
        let ids: Vec<String> = ids.into_iter().collect();
        for ids in ids.chunks(200) {
            let mut arguments = vec![
                "log",
                "--no-walk",
                "--no-show-signature",
                "--notes=*",
                format,
            ];
            arguments.extend(ids.iter().map(String::as_str));
            let listed = run(&self.root, arguments).unwrap_or_default();
            let listed = text_of(&listed);
            found.extend(listed.split(RECORD).filter_map(commit_of));
        }
        found
    }
}

fn commit_of(record: &str) -> Option<(String, GitCommit)> {
    let fields: Vec<&str> = record.trim_start_matches('\n').split(FIELD).collect();
    let [id, made, at, author, summary, trailers, notes] = fields.as_slice() else {
        return None;
    };
    let (made, at) = (seconds(made)?, seconds(at)?);
    let lines = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(Text::clean).collect::<Vec<Text>>()
    };
    let commit = GitCommit {
        id: (*id).to_owned(),
        made,
        at,
        time: at.to_rfc3339(),
        author: Text::clean(author),
        summary: Text::clean(summary),
        trailers: lines(trailers),
        notes: Some(Text::clean(notes.trim())).filter(|notes| !notes.is_empty()),
    };
    Some((commit.id.clone(), commit))
}

fn seconds(typed: &str) -> Option<Timestamp> {
    Some(Timestamp(typed.parse::<i64>().ok()?.checked_mul(1_000)?))
}

fn git<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new("git");
    command
        .args(["--no-pager", "--no-replace-objects", "--literal-pathspecs"])
        .args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(["-c", "core.quotePath=false", "-c", "blame.ignoreRevsFile="])
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// What git writes; `None` if it fails.
fn run<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Option<Vec<u8>> {
    let done = git(folder, arguments).output().ok()?;
    done.status.success().then_some(done.stdout)
}
