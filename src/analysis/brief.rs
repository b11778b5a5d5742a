//! The brief of a session: prompts, changes, failures, open calls and answers, all facts of the
//! records.
//!
//! A row claims no more than its record: a test run passed or failed only by its output or exit
//! code, a commit counts if git named it, and a failure is mended only by the same action later in
//! the same lane.
//!
//! Notes of an entry are extracted while its bodies are in memory; the brief is computed from these
//! notes in the order of the entries.

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::calls::Place;
use super::derived::{Derived, Facts, Out};
use super::files::paths::normal;
use crate::model::body::Body;
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Role};
use crate::model::figures::bytes;
use crate::model::text::{Name, Text, prefix, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

pub(crate) mod notes;
mod outputs;
pub(crate) mod rows;

pub(crate) use notes::Fault;
use notes::{FileChange, Like, Note, TestNote};
pub(crate) use outputs::complaint_of;

/// Returns a block with its bodies loaded as far as possible.
pub(crate) type Whole<'w> = &'w mut dyn for<'b> FnMut(&'b Block) -> Cow<'b, Block>;

/// The block as it is in memory.
pub(crate) fn as_is(block: &Block) -> Cow<'_, Block> {
    Cow::Borrowed(block)
}

/// What an entry contributes to the brief.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryNotes {
    /// Each with the index of its block.
    notes: Box<[(usize, Note)]>,
    /// Whether bodies on disk may have more.
    is_away: bool,
}

/// The brief of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brief {
    /// Changed files by path.
    pub(crate) files: BTreeMap<String, Change>,
    /// Successful commands with side effects, except commits.
    pub(crate) commands: Vec<SideEffect>,
    pub(crate) commits: Vec<Commit>,
    pub(crate) tests: Vec<TestRun>,
    /// Failed, refused or interrupted actions, in the order of the entries.
    pub(crate) failed: Vec<Failure>,
    /// Calls without a result.
    pub(crate) open: Vec<UnfinishedCall>,
    /// Entries whose bodies are on disk and may have more.
    pub(crate) incomplete: BTreeSet<EntryId>,
}

/// The state of the pass over the notes.
#[derive(Default)]
struct Going {
    brief: Brief,
    root: Option<Text>,
    hashes: HashSet<String>,
    /// Indexes of failures that are not mended, by lane and kind.
    unmended: BTreeMap<(Option<Name>, Like), Vec<usize>>,
}

/// Position of a note.
#[derive(Clone, Copy)]
struct At<'a> {
    place: Place,
    lane: Option<&'a Name>,
    /// The folder in which its agent began.
    root: Option<&'a str>,
}

/// Changes of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    /// Number of calls that edited it.
    pub(crate) edits: usize,
    /// Number of calls that wrote it whole.
    pub(crate) writes: usize,
    /// Lines added and removed; `None` if that is unknown for some edit.
    pub(crate) lines: Option<(usize, usize)>,
    /// The last of these calls.
    pub(crate) last: Place,
}

impl Change {
    /// A sort key for the amount of changes.
    pub(crate) fn extent(&self) -> (usize, usize) {
        let lines = self.lines.map_or(0, |(added, removed)| added + removed);
        (self.edits + self.writes, lines)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SideEffect {
    /// The simple command of the line that has the side effect.
    pub(crate) text: String,
    pub(crate) place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Commit {
    /// Abbreviated, as git printed it.
    pub(crate) hash: String,
    pub(crate) subject: String,
    pub(crate) place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TestRun {
    pub(crate) command: String,
    /// Whether it passed; `None` if unknown.
    pub(crate) passed: Option<bool>,
    /// The summary line of the output.
    pub(crate) summary: Option<String>,
    /// The facts of its result: `exit 1`.
    pub(crate) facts: String,
    /// When the run ended.
    pub(crate) at: Option<Timestamp>,
    pub(crate) place: Place,
}

/// A failed, refused or interrupted action.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    /// A description of the action.
    pub(crate) what: String,
    /// The reason, if recorded: `exit 1`.
    pub(crate) reason: String,
    /// The line of its output that explains the failure best.
    pub(crate) error_line: Option<String>,
    pub(crate) fault: Fault,
    pub(crate) place: Place,
    /// The later success of the same action; for errors, where the session continued.
    pub(crate) mended_by: Option<Place>,
    /// Whether it is an error of the agent or its provider rather than a call.
    pub(crate) is_error: bool,
}

/// A call without a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnfinishedCall {
    /// A description of the call.
    pub(crate) what: String,
    pub(crate) place: Place,
}

impl Derived for Brief {
    type Row = EntryNotes;
    type Reads = ();

    fn rows(
        _transcript: &Transcript,
        (_, entry): (EntryId, &Entry),
        _before: &[EntryNotes],
        out: &mut Out<'_, EntryNotes>,
    ) {
        let notes = EntryNotes::from_entry(entry, &mut as_is);
        if notes != EntryNotes::default() {
            out.push(notes);
        }
    }

    fn of(transcript: &Transcript, facts: &Facts<EntryNotes>, _reads: &()) -> Self {
        let entries = facts.in_order(transcript);
        Self::of_all(
            transcript,
            entries.filter_map(|(_, id, rows)| Some((id, rows.first()?))),
        )
    }
}

impl EntryNotes {
    fn from_entry(entry: &Entry, whole: Whole<'_>) -> Self {
        if entry.marks.copy {
            return Self::default();
        }
        let (notes, is_away) = notes::notes_of(entry, whole);
        Self {
            notes: notes.into(),
            is_away,
        }
    }
}

impl Brief {
    /// The brief of a session with all bodies. `whole` returns a block with its bodies.
    pub(crate) fn with_bodies(transcript: &Transcript, whole: Whole<'_>) -> Self {
        let ids = transcript.order().iter().copied();
        let entries =
            ids.filter_map(|id| Some((id, EntryNotes::from_entry(transcript.get(id)?, whole))));
        Self::of_all(transcript, entries)
    }

    fn of_all(
        transcript: &Transcript,
        entries: impl Iterator<Item = (EntryId, impl Borrow<EntryNotes>)>,
    ) -> Self {
        let mut going = Going {
            root: transcript.meta().root.clone(),
            ..Going::default()
        };
        for (entry, notes) in entries {
            let EntryNotes { notes, is_away } = notes.borrow();
            if *is_away {
                going.brief.incomplete.insert(entry);
            }
            let lane = transcript.lane_at(entry);
            let root = transcript.root_of(entry).map(Text::as_str);
            for (block, note) in notes {
                let place = Place {
                    entry,
                    block: *block,
                };
                going.add(At { place, lane, root }, note);
            }
        }
        going.brief
    }
}

impl Going {
    fn add(&mut self, at: At<'_>, note: &Note) {
        let place = at.place;
        if !matches!(note, Note::Failed(failed) if failed.like == Like::Error) {
            self.mark_fixed(at, &Like::Error);
        }
        match note {
            Note::Change(change) => self.change(place, change),
            Note::Commit(commit) => {
                let notes::CommitNote {
                    hash,
                    subject,
                    is_amended,
                } = &**commit;
                let commits = &mut self.brief.commits;
                if *is_amended && let Some(replaced) = commits.pop() {
                    self.hashes.remove(&replaced.hash);
                }
                if self.hashes.insert(hash.clone()) {
                    commits.push(Commit {
                        hash: hash.clone(),
                        subject: subject.clone(),
                        place,
                    });
                }
            }
            Note::Command(text) => self.brief.commands.push(SideEffect {
                text: text.clone(),
                place,
            }),
            Note::Test(tests) => self.test(at, tests),
            Note::Done(like) => {
                let like = self.within_root(like);
                self.mark_fixed(at, &like);
            }
            Note::Answered => {}
            Note::Failed(failed) => {
                let notes::FailureNote {
                    what,
                    reason,
                    error_line: said,
                    fault,
                    like,
                } = &**failed;
                let failure = Failure {
                    what: what.words(at.root),
                    reason: reason.clone(),
                    error_line: said.clone(),
                    fault: *fault,
                    place,
                    mended_by: None,
                    is_error: *like == Like::Error,
                };
                let like = self.within_root(like).into_owned();
                self.fail(at, failure, like);
            }
            Note::Open(what) => {
                let what = what.words(at.root);
                self.brief.open.push(UnfinishedCall { what, place });
            }
        }
    }

    /// Makes the path of a file relative to the session's root.
    fn within_root<'l>(&self, like: &'l Like) -> Cow<'l, Like> {
        match like {
            Like::File(path) => Cow::Owned(Like::File(normal(path, self.root.as_deref()))),
            _ => Cow::Borrowed(like),
        }
    }

    fn change(&mut self, place: Place, change: &FileChange) {
        let FileChange {
            path,
            is_edit,
            lines,
        } = change;
        let new = || Change {
            edits: 0,
            writes: 0,
            lines: Some((0, 0)),
            last: place,
        };
        let path = normal(path, self.root.as_deref());
        let known = self.brief.files.entry(path).or_insert_with(new);
        known.edits += usize::from(*is_edit);
        known.writes += usize::from(!is_edit);
        known.lines = known
            .lines
            .zip(*lines)
            .map(|(all, own)| (all.0 + own.0, all.1 + own.1));
        known.last = place;
    }

    fn test(&mut self, at: At<'_>, tests: &TestNote) {
        let TestNote {
            tool,
            command,
            like,
            passed,
            failed,
            summary,
            facts,
            at: ended,
        } = tests;
        if *passed == Some(true) {
            self.mark_tests_fixed(at, like);
        }
        self.brief.tests.push(TestRun {
            command: command.clone(),
            passed: *passed,
            summary: summary.clone(),
            facts: facts.clone(),
            at: *ended,
            place: at.place,
        });
        if let Some((fault, said)) = failed {
            let failure = Failure {
                what: format!("{tool} {command}"),
                reason: summary.as_ref().unwrap_or(facts).clone(),
                error_line: said.clone(),
                fault: *fault,
                place: at.place,
                mended_by: None,
                is_error: false,
            };
            self.fail(at, failure, Like::Test(like.clone()));
        }
    }

    fn mark_fixed(&mut self, at: At<'_>, like: &Like) {
        if self.unmended.is_empty() {
            return;
        }
        let mended = self
            .unmended
            .remove(&(at.lane.cloned(), like.clone()))
            .unwrap_or_default();
        for number in mended {
            if let Some(failure) = self.brief.failed.get_mut(number) {
                failure.mended_by = Some(at.place);
            }
        }
    }

    /// Marks failures of the same tests, or of more specific runs, as mended.
    fn mark_tests_fixed(&mut self, at: At<'_>, passed: &str) {
        let from = (at.lane.cloned(), Like::Test(passed.to_owned()));
        let failed = self.unmended.range(from..).map_while(|((of, like), _)| {
            let Like::Test(tests) = like else { return None };
            Some((
                like,
                tests
                    .strip_prefix(passed)
                    .filter(|_| of.as_ref() == at.lane)?,
            ))
        });
        let mended = failed.filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
        let mended: Vec<Like> = mended.map(|(like, _)| like.clone()).collect();
        for like in &mended {
            self.mark_fixed(at, like);
        }
    }

    fn fail(&mut self, at: At<'_>, failure: Failure, like: Like) {
        self.unmended
            .entry((at.lane.cloned(), like))
            .or_default()
            .push(self.brief.failed.len());
        self.brief.failed.push(failure);
    }
}

/// The prompts of a session.
pub(crate) fn prompts(transcript: &Transcript) -> impl Iterator<Item = (EntryId, &Entry)> {
    transcript
        .turns()
        .iter()
        .filter_map(|turn| Some((turn.prompt, transcript.get(turn.prompt)?)))
}

/// The last answer of the main lane with text; in joined sessions the last one of all main lanes.
pub(crate) fn last_answer(transcript: &Transcript) -> Option<EntryId> {
    let is_answer = |id: &&EntryId| {
        transcript.get(**id).is_some_and(|entry| {
            entry.role == Role::Assistant
                && transcript.is_main_lane(entry.lane.as_ref())
                && !(entry.marks.trace || entry.marks.quiet || entry.marks.copy)
                && texts(entry).any(|body| !body.text_or_stub().trim().is_empty())
                && !transcript.branches().abandoned.contains(*id)
        })
    };
    transcript.order().iter().rev().find(is_answer).copied()
}

/// Limit of a quoted text in bytes.
pub(crate) const QUOTED: usize = 64 << 10;

/// The text of an entry without thinking: at most `most` bytes, with a note on what is left out.
pub(crate) fn quoted(entry: &Entry, most: usize, whole: Whole<'_>) -> String {
    let mut said = String::new();
    let mut rest = 0;
    for block in &entry.blocks {
        let BlockKind::Text(body) = &block.kind else {
            continue;
        };
        if said.len() >= most {
            rest += u64::from(body.bytes);
            continue;
        }
        let block = whole(block);
        let BlockKind::Text(body) = &block.kind else {
            continue;
        };
        let text = without_sgr(body.text_or_stub());
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if !said.is_empty() {
            said.push_str("\n\n");
        }
        let begin = prefix(text, most.saturating_sub(said.len()));
        said.push_str(begin);
        rest += (text.len() - begin.len()) as u64;
    }
    with_omitted(said, rest)
}

/// The beginning of a text, with a note on what is left out.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let begin = prefix(text, most);
    with_omitted(begin.to_owned(), (text.len() - begin.len()) as u64)
}

fn with_omitted(begin: String, rest: u64) -> String {
    match rest {
        0 => begin,
        rest => format!(
            "{begin}\n[{} more left out; `tv show` has all]",
            bytes(rest)
        ),
    }
}

fn texts(entry: &Entry) -> impl Iterator<Item = &Body> {
    entry.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Text(body) => Some(body),
        _ => None,
    })
}
