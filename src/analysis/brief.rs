//! The brief of a session: what was asked, done, left open and answered. Only facts of the file.
//!
//! A row says no more than its record does: a test run has an end only if its output or its exit code says so, a commit
//! counts if git named it, and what failed is mended only by the same thing done later in the same lane.
//!
//! Invariant: what is shown goes over all notes in the order of their entries. Notes are small, so a change of an early
//! one begins that again, while the former facts stay.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::index::Index;
use super::shell::Does;
use crate::model::body::Body;
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Role};
use crate::model::figures::bytes;
use crate::model::text::{Name, Text, prefix, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolResult};
use crate::model::transcript::Transcript;

mod claims;
mod notes;
mod outputs;
pub(crate) mod rows;

pub(crate) use claims::Claim;
use notes::{FileChange, Like, May, Note, Tests};

/// Gives a block with its bodies, as far as they can be had.
pub(crate) type Whole<'w> = &'w mut dyn for<'b> FnMut(&'b Block) -> Cow<'b, Block>;

/// The block as it is known.
pub(crate) fn as_is(block: &Block) -> Cow<'_, Block> {
    Cow::Borrowed(block)
}

/// Notes that are gone over in the time that it takes to take in an entry, which may have to be unpacked.
const NOTES: usize = 16;

/// What a session came to.
#[derive(Clone, Debug, Default)]
pub struct Brief {
    notes: Vec<Noted>,
    /// Notes that the facts have.
    done: usize,
    facts: Facts,
    /// Facts from before all was gone over again, shown until that is done.
    former: Option<Facts>,
    /// Entries whose bodies are on disk, and would say more.
    away: BTreeSet<EntryId>,
    root: Option<Text>,
    read: usize,
    has_news: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Noted {
    place: usize,
    entry: EntryId,
    lane: Option<Name>,
    note: Note,
}

/// What the notes come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Files that were changed, by their paths.
    pub(crate) files: BTreeMap<String, Change>,
    /// Commands that changed something and ended well, but for commits.
    pub(crate) commands: Vec<Command>,
    /// Commits.
    pub(crate) commits: Vec<Commit>,
    hashes: HashSet<String>,
    /// Test runs.
    pub(crate) tests: Vec<TestRun>,
    /// What failed.
    pub(crate) failed: Vec<Failure>,
    /// Calls without a result.
    pub(crate) open: Vec<Open>,
    /// Failures that nothing has mended, by lane and what they are known by, with their words.
    unmended: BTreeMap<(Option<Name>, Like), HashMap<String, usize>>,
    may: May,
    last_change: usize,
    last_may_test: usize,
    last_commit: Option<(EntryId, usize)>,
    has_pushed: bool,
    last_push: Option<Push>,
    last_check: Option<Check>,
    /// Commands that go on, by lane and by their names.
    running: HashMap<(Option<Name>, String), Box<ToolCall>>,
}

/// The last push, or what was tried of one.
#[derive(Clone, Copy, Debug)]
struct Push {
    entry: EntryId,
    place: usize,
    is_done: bool,
}

/// The last run of a compiler or a linter.
#[derive(Clone, Copy, Debug)]
struct Check {
    entry: EntryId,
    place: usize,
    is_well: Option<bool>,
}

/// What was done to a file.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// Calls that changed it.
    pub(crate) edits: usize,
    /// Calls that wrote all of it.
    pub(crate) writes: usize,
    /// Lines that edits added and removed, where all of them say so.
    pub(crate) lines: Option<(usize, usize)>,
    /// The last of these calls.
    pub(crate) last: EntryId,
}

/// A command.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    /// As it was written, the part that counts.
    pub(crate) text: String,
    /// Where.
    pub(crate) entry: EntryId,
}

/// A commit.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    /// Its short hash.
    pub(crate) hash: String,
    /// Its subject.
    pub(crate) subject: String,
    /// Where.
    pub(crate) entry: EntryId,
}

/// A run of tests.
#[derive(Clone, Debug)]
pub(crate) struct TestRun {
    /// The command.
    pub(crate) command: String,
    /// Whether it passed, if that is known.
    pub(crate) passed: Option<bool>,
    /// The line of the output that says so.
    pub(crate) summary: Option<String>,
    /// What is known of its end without that: `exit 1`.
    pub(crate) facts: String,
    /// When it ended.
    pub(crate) at: Option<Timestamp>,
    /// Where.
    pub(crate) entry: EntryId,
    lane: Option<Name>,
    place: usize,
    is_narrow: bool,
    /// The name under which they still run.
    process: Option<String>,
    /// Tests that had failed passed in it.
    has_mended: bool,
}

/// Something that failed, perhaps several times.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// What.
    pub(crate) what: String,
    /// What was said of it: `exit 1`.
    pub(crate) facts: String,
    /// `failed` or `refused`.
    pub(crate) word: &'static str,
    /// How often.
    pub(crate) times: usize,
    /// Where it failed last.
    pub(crate) entry: EntryId,
    /// Where the same was done later, or the session went on after an error.
    pub(crate) mended: Option<EntryId>,
    /// It is no call, but an error of the agent or its provider.
    pub(crate) is_error: bool,
    like: Like,
}

/// A call without a result.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// What.
    pub(crate) what: String,
    /// Where.
    pub(crate) entry: EntryId,
    /// The block of the call.
    pub(crate) block: usize,
}

impl Index for Brief {
    type Reads = ();

    fn add(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        if place == 0 {
            self.root.clone_from(&transcript.meta().root);
        }
        if let Some(entry) = transcript.get(id) {
            self.take(place, id, entry, &mut as_is);
        }
    }

    fn change(&mut self, transcript: &Transcript, place: usize, id: EntryId) -> bool {
        let Some(entry) = transcript.get(id) else { return true };
        let first = self.notes.partition_point(|noted| noted.place < place);
        let end = self.notes.partition_point(|noted| noted.place <= place);
        let now = self.notes_of(place, id, entry, &mut as_is);
        if self.notes.get(first..end).is_some_and(|known| known == now) {
            return true;
        }
        self.notes.splice(first..end, now);
        if first < self.done {
            self.done = 0;
            let facts = std::mem::take(&mut self.facts);
            self.former.get_or_insert(facts);
        }
        true
    }

    fn learn(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        self.change(transcript, place, id);
    }

    /// Where the session began is recorded first, or seldom a little later.
    fn begins_again(&self, transcript: &Transcript) -> bool {
        self.root != transcript.meta().root
    }

    fn begin_again(&mut self) {
        let facts = std::mem::take(&mut self.facts);
        *self = Self { former: self.former.take().or(Some(facts)), ..Self::default() };
    }

    fn settle(&mut self, transcript: &Transcript, _reads: &(), most: usize) -> bool {
        let end = self.done.saturating_add(most.saturating_mul(NOTES)).min(self.notes.len());
        for noted in self.notes.get(self.done..end).unwrap_or_default() {
            self.facts.add(noted);
        }
        self.has_news |= end > self.done;
        self.done = end;
        let is_all = self.done == self.notes.len();
        if is_all && self.read >= transcript.order().len() {
            self.has_news |= self.former.take().is_some();
        }
        is_all
    }

    fn has_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }
}

impl Brief {
    /// Of a whole session. `whole` gives a block with all its bodies.
    pub(crate) fn of(transcript: &Transcript, whole: Whole<'_>) -> Self {
        let mut brief = Self { root: transcript.meta().root.clone(), ..Self::default() };
        for (place, id) in transcript.order().iter().enumerate() {
            if let Some(entry) = transcript.get(*id) {
                brief.take(place, *id, entry, whole);
            }
        }
        brief.settle(transcript, &(), usize::MAX);
        brief
    }

    fn take(&mut self, place: usize, id: EntryId, entry: &Entry, whole: Whole<'_>) {
        self.read = place + 1;
        let notes = self.notes_of(place, id, entry, whole);
        self.notes.extend(notes);
    }

    fn notes_of(&mut self, place: usize, id: EntryId, entry: &Entry, whole: Whole<'_>) -> Vec<Noted> {
        if entry.marks.copy {
            return Vec::new();
        }
        let (notes, is_away) = notes::notes_of(entry, self.root.as_ref().map(Text::as_str), whole);
        if is_away {
            self.away.insert(id);
        } else {
            self.away.remove(&id);
        }
        let noted = |note| Noted { place, entry: id, lane: entry.lane.clone(), note };
        notes.into_iter().map(noted).collect()
    }

    /// What the session came to.
    pub(crate) fn facts(&self) -> &Facts {
        self.former.as_ref().unwrap_or(&self.facts)
    }

    /// Entries whose bodies would say more.
    pub(crate) fn away(&self) -> impl Iterator<Item = EntryId> {
        self.away.iter().copied()
    }
}

impl Facts {
    /// What an answer claims, against what the session shows.
    pub(crate) fn claims(&self, answer: &str) -> Vec<Claim> {
        claims::of(self, answer)
    }

    fn add(&mut self, noted: &Noted) {
        let Noted { place, entry, lane, note } = noted;
        if let Note::Continued(process, result, otherwise) = note {
            let at_last = self.at_last(lane.clone(), process, result);
            for note in at_last.unwrap_or_else(|| otherwise.clone()) {
                self.add(&Noted { note, lane: lane.clone(), ..*noted });
            }
            return;
        }
        let (entry, lane) = (*entry, lane.as_ref());
        if !matches!(note, Note::Failed(failed) if failed.like == Like::Error) {
            self.mend(entry, lane, &Like::Error);
        }
        match note {
            Note::Change(change) => {
                self.last_change = *place;
                self.change(entry, change);
            }
            Note::Commit(commit) => {
                let notes::Committed { hash, subject, is_amended } = &**commit;
                if *is_amended && let Some(replaced) = self.commits.pop() {
                    self.hashes.remove(&replaced.hash);
                }
                self.last_commit = Some((entry, *place));
                if self.hashes.insert(hash.clone()) {
                    self.commits.push(Commit { hash: hash.clone(), subject: subject.clone(), entry });
                }
            }
            Note::Command { text, does } => {
                match does {
                    Does::Change => self.last_change = *place,
                    Does::Commit => self.last_commit = Some((entry, *place)),
                    Does::Push => {
                        self.has_pushed = true;
                        self.last_push = Some(Push { entry, place: *place, is_done: true });
                    }
                    Does::Test | Does::Check => {}
                }
                self.commands.push(Command { text: text.clone(), entry });
            }
            Note::PushFailed => self.last_push = Some(Push { entry, place: *place, is_done: false }),
            Note::Test(tests) => self.test(*place, entry, lane, tests),
            Note::Check(is_well) => {
                self.last_check = Some(Check { entry, place: *place, is_well: *is_well });
            }
            Note::May(may) => {
                self.last_may_test = if may.test { *place } else { self.last_may_test };
                self.may = self.may.or(*may);
            }
            Note::Done(like) => self.mend(entry, lane, like),
            Note::Answered | Note::Continued(..) => {}
            Note::Running(process, call) => {
                self.running.insert((lane.cloned(), process.clone()), call.clone());
            }
            Note::Failed(failed) => {
                let notes::Failed { what, facts, word, like } = &**failed;
                self.fail((entry, lane), (what, facts, word), like.clone());
            }
            Note::Open(block, what) => {
                self.open.push(Open { what: what.clone(), entry, block: *block });
            }
        }
    }

    /// What a command that went on comes to now that its end is told: its tests take the place of those that ran.
    fn at_last(&mut self, lane: Option<Name>, process: &str, result: &ToolResult) -> Option<Vec<Note>> {
        let call = self.running.remove(&(lane.clone(), process.to_owned()))?;
        self.tests.retain(|run| run.lane != lane || run.process.as_deref() != Some(process));
        Some(notes::notes_at_last(*call, result.clone()))
    }

    fn change(&mut self, entry: EntryId, change: &FileChange) {
        let FileChange { path, is_edit, lines } = change;
        let new = || Change { edits: 0, writes: 0, lines: Some((0, 0)), last: entry };
        let known = self.files.entry(path.clone()).or_insert_with(new);
        known.edits += usize::from(*is_edit);
        known.writes += usize::from(!is_edit);
        known.lines = known.lines.zip(*lines).map(|(all, own)| (all.0 + own.0, all.1 + own.1));
        known.last = entry;
    }

    fn test(&mut self, place: usize, entry: EntryId, lane: Option<&Name>, tests: &Tests) {
        let Tests { command, like, is_narrow, passed, has_failed, summary, facts, at, process } = tests;
        let has_mended = *passed == Some(true) && self.mend_tests(entry, lane, like);
        self.tests.push(TestRun {
            command: command.clone(),
            passed: *passed,
            summary: summary.clone(),
            facts: facts.clone(),
            at: *at,
            entry,
            lane: lane.cloned(),
            place,
            is_narrow: *is_narrow,
            process: process.clone(),
            has_mended,
        });
        if *has_failed {
            let facts = summary.as_ref().unwrap_or(facts);
            let what = format!("run {command}");
            self.fail((entry, lane), (&what, facts, "failed"), Like::Test(like.clone()));
        }
    }

    fn mend(&mut self, entry: EntryId, lane: Option<&Name>, like: &Like) {
        if self.unmended.is_empty() {
            return;
        }
        for number in self.unmended.remove(&(lane.cloned(), like.clone())).unwrap_or_default().into_values() {
            if let Some(failure) = self.failed.get_mut(number) {
                failure.mended = Some(entry);
            }
        }
    }

    /// Tests passed: the same ones, or more of them, failed before. Answers whether any did.
    fn mend_tests(&mut self, entry: EntryId, lane: Option<&Name>, passed: &str) -> bool {
        let from = (lane.cloned(), Like::Test(passed.to_owned()));
        let failed = self.unmended.range(from..).map_while(|((of, like), _)| {
            let Like::Test(tests) = like else { return None };
            Some((like, tests.strip_prefix(passed).filter(|_| of.as_ref() == lane)?))
        });
        let mended = failed.filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
        let mended: Vec<Like> = mended.map(|(like, _)| like.clone()).collect();
        for like in &mended {
            self.mend(entry, lane, like);
        }
        !mended.is_empty()
    }

    fn fail(
        &mut self,
        (entry, lane): (EntryId, Option<&Name>),
        (what, facts, word): (&str, &str, &'static str),
        like: Like,
    ) {
        let numbers = self.unmended.entry((lane.cloned(), like.clone())).or_default();
        if let Some(known) = numbers.get(what).and_then(|number| self.failed.get_mut(*number)) {
            known.times += 1;
            known.entry = entry;
            facts.clone_into(&mut known.facts);
            return;
        }
        numbers.insert(what.to_owned(), self.failed.len());
        let (what, facts) = (what.to_owned(), facts.to_owned());
        let is_error = like == Like::Error;
        self.failed.push(Failure { what, facts, word, times: 1, entry, mended: None, is_error, like });
    }
}

/// The prompts of a session, with what they say as far as that is in memory.
pub(crate) fn prompts(transcript: &Transcript) -> impl Iterator<Item = (EntryId, &Entry)> {
    transcript.turns().iter().filter_map(|turn| Some((turn.prompt, transcript.get(turn.prompt)?)))
}

/// The last answer of the main lane that says something; of several sessions the last one of all their agents.
pub(crate) fn last_answer(transcript: &Transcript) -> Option<EntryId> {
    let is_answer = |id: &&EntryId| {
        transcript.get(**id).is_some_and(|entry| {
            entry.role == Role::Assistant
                && transcript.is_spoken_to(entry.lane.as_ref())
                && !(entry.marks.trace || entry.marks.quiet || entry.marks.copy)
                && texts(entry).any(|body| !body.text_or_stub().trim().is_empty())
                && !transcript.branches().abandoned.contains(id)
        })
    };
    transcript.order().iter().rev().find(is_answer).copied()
}

/// What is quoted of one text.
pub(crate) const QUOTED: usize = 64 << 10;

/// What an entry says, without its thoughts: at most so many bytes of it, with a word on what is left out.
pub(crate) fn quoted(entry: &Entry, most: usize, whole: Whole<'_>) -> String {
    let mut said = String::new();
    let mut rest = 0;
    for block in &entry.blocks {
        let BlockKind::Text(body) = &block.kind else { continue };
        if said.len() >= most {
            rest += u64::from(body.bytes);
            continue;
        }
        let block = whole(block);
        let BlockKind::Text(body) = &block.kind else { continue };
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
    with_rest(said, rest)
}

/// The beginning of a text, with a word on what is left out.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let begin = prefix(text, most);
    with_rest(begin.to_owned(), (text.len() - begin.len()) as u64)
}

fn with_rest(begin: String, rest: u64) -> String {
    match rest {
        0 => begin,
        rest => format!("{begin}\n[{} more left out; `tv show` has all]", bytes(rest)),
    }
}

fn texts(entry: &Entry) -> impl Iterator<Item = &Body> {
    entry.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Text(body) => Some(body),
        _ => None,
    })
}
