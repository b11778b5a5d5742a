//! The brief of a session: what was asked, done, left open and answered. Only facts of the file.
//!
//! A row says no more than its record does: a test run has an end only if its output or its exit code says so, a commit
//! counts if git named it, and what failed is mended only by the same thing done later in the same lane.

use std::collections::{BTreeMap, HashSet};

use super::calls::awaited::Awaited;
use super::calls::likeness_of;
use super::files::paths::normal;
use super::shell::{Does, does, ends_with, simple_commands};
use crate::model::entry::{BlockKind, Break, Entry, EntryId, Role};
use crate::model::text::{Name, Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;

mod claims;
mod outputs;

pub(crate) use claims::Claim;
use outputs::{commit_of, end_of_tests};

/// What a session came to.
#[derive(Debug, Default)]
pub struct Brief {
    /// The prompts.
    pub(crate) asked: Vec<Said>,
    /// Files that were changed, by their paths.
    pub(crate) files: BTreeMap<String, Change>,
    /// Commands that changed something and ended well, but for commits.
    pub(crate) commands: Vec<Command>,
    /// Commits.
    pub(crate) commits: Vec<Commit>,
    /// Test runs.
    pub(crate) tests: Vec<TestRun>,
    /// What failed.
    pub(crate) failed: Vec<Failure>,
    /// Calls without a result.
    pub(crate) open: Vec<Open>,
    /// The last answer of the main lane.
    pub(crate) answer: Option<Said>,
    /// What the last answer claims.
    pub(crate) claims: Vec<Claim>,
    may_have_tested: bool,
    last_change: usize,
    place: usize,
}

/// Something said.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// Where.
    pub(crate) entry: EntryId,
    /// All of it.
    pub(crate) text: String,
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
    /// Whether it pushed.
    pub(crate) is_push: bool,
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
    /// When it ended.
    pub(crate) at: Option<Timestamp>,
    /// Where.
    pub(crate) entry: EntryId,
    place: usize,
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
    /// Where the same was done later.
    pub(crate) mended: Option<EntryId>,
    lane: Option<Name>,
    like: Like,
}

/// What the same thing is known by.
#[derive(Clone, Debug, PartialEq)]
enum Like {
    Call(u64),
    File(String),
    Test(String),
    Commit,
    Push,
    Error,
}

/// A call without a result.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// What.
    pub(crate) what: String,
    /// `pending`, or `lost` if none will come.
    pub(crate) word: &'static str,
    /// Where.
    pub(crate) entry: EntryId,
}

/// What counting the lines of a change takes; the layout of changes is above this.
pub(crate) type Lines = fn(&ToolCall) -> Option<(usize, usize)>;

impl Brief {
    /// Of a whole session. `whole` gives an entry with all its bodies.
    pub(crate) fn of(transcript: &Transcript, lines: Lines, whole: &mut dyn FnMut(&Entry) -> Entry) -> Self {
        let mut brief = Self::default();
        let prompts: HashSet<EntryId> = transcript.turns().iter().map(|turn| turn.prompt).collect();
        let awaited = Awaited::of(transcript);
        for (place, id) in transcript.order().iter().enumerate() {
            let Some(entry) = transcript.get(*id).filter(|entry| !entry.marks.copy) else { continue };
            let entry = whole(entry);
            brief.place = place;
            if prompts.contains(id) {
                brief.asked.push(Said { entry: *id, text: text_of(&entry) });
            }
            brief.note_answer(transcript, *id, &entry);
            for block in &entry.blocks {
                match &block.kind {
                    BlockKind::Call(call) => brief.add(transcript, *id, (&entry, call), (lines, awaited)),
                    BlockKind::Break(Break::Error(what)) if !entry.marks.retried => {
                        brief.fail(*id, &entry, (first_line(what), String::new(), "failed"), Like::Error);
                    }
                    _ => {}
                }
            }
        }
        brief.claims = claims::of(&brief);
        brief
    }

    fn note_answer(&mut self, transcript: &Transcript, id: EntryId, entry: &Entry) {
        let is_answer = entry.role == Role::Assistant
            && entry.lane.is_none()
            && !entry.marks.trace
            && !transcript.branches().abandoned.contains(&id);
        if is_answer {
            let text = text_of(entry);
            if !text.trim().is_empty() {
                self.answer = Some(Said { entry: id, text });
            }
        }
    }

    fn add(
        &mut self,
        transcript: &Transcript,
        id: EntryId,
        (entry, call): (&Entry, &ToolCall),
        (lines, awaited): (Lines, Awaited),
    ) {
        let root = root_of(transcript);
        let what = what_of(call, root);
        let is_done = matches!(call.state, ToolState::Done(_));
        let has_ended = is_done || matches!(call.state, ToolState::Failed(_));
        if is_done && matches!(call.kind, ToolKind::Edit | ToolKind::Write) {
            self.change(id, entry, call, (root, lines));
        }
        if has_ended && call.kind == ToolKind::Run && self.run(id, entry, call) {
            return;
        }
        let like = match call.kind {
            ToolKind::Edit => Like::File(what.clone()),
            ToolKind::Run => like_of_command(call),
            _ => Like::Call(likeness_of(call)),
        };
        match &call.state {
            ToolState::Done(_) => self.mend(id, entry.lane.as_ref(), |failed| *failed == like),
            ToolState::Failed(result) | ToolState::Refused(result) => {
                self.fail(id, entry, (what, result.facts.to_string(), call.state.word()), like);
            }
            ToolState::Pending | ToolState::Running | ToolState::Streaming(_) | ToolState::Lost => {
                self.open.push(Open { what, word: awaited.word(transcript, id, call), entry: id });
            }
        }
    }

    fn change(&mut self, id: EntryId, entry: &Entry, call: &ToolCall, (root, lines): (Option<&str>, Lines)) {
        let path = normal(without_sgr(&call.headline).trim(), root);
        self.last_change = self.place;
        let counts = lines(call);
        let is_edit = call.kind == ToolKind::Edit;
        let change =
            self.files.entry(path).or_insert(Change { edits: 0, writes: 0, lines: Some((0, 0)), last: id });
        change.edits += usize::from(is_edit);
        change.writes += usize::from(!is_edit);
        // A file that was written whole took lines from one that is not known.
        let has_patch = call.state.result().is_some_and(|result| result.patch.is_some());
        let counts = counts.filter(|_| is_edit || has_patch);
        change.lines = change.lines.zip(counts).map(|(all, own)| (all.0 + own.0, all.1 + own.1));
        change.last = id;
        let like = Like::File(what_of(call, root));
        self.mend(id, entry.lane.as_ref(), |failed| *failed == like);
    }

    /// Takes in a command. Answers whether it ran tests, so that their end is what counts.
    fn run(&mut self, id: EntryId, entry: &Entry, call: &ToolCall) -> bool {
        let command = command_of(call);
        let output = call.state.result().map(|result| without_sgr(result.body.text_or_stub()).into_owned());
        let output = output.unwrap_or_default();
        let is_done = matches!(call.state, ToolState::Done(_));
        self.may_have_tested |= ["test", "check", "spec"].iter().any(|word| command.contains(word));
        let mut test = None;
        for simple in simple_commands(&command) {
            let words = simple.split_whitespace().filter(|word| !word.starts_with("2>"));
            let text = words.collect::<Vec<_>>().join(" ");
            match does(simple) {
                Some(Does::Test) => test = Some((text, ends_with(&command, simple))),
                Some(Does::Commit) => match commit_of(&output) {
                    Some((hash, subject)) if self.commits.iter().all(|known| known.hash != hash) => {
                        self.commits.push(Commit { hash, subject, entry: id });
                    }
                    None if is_done => self.commands.push(Command { text, entry: id, is_push: false }),
                    _ => {}
                },
                Some(what @ (Does::Push | Does::Change)) if is_done => {
                    self.last_change = if what == Does::Change { self.place } else { self.last_change };
                    self.commands.push(Command { text, entry: id, is_push: what == Does::Push });
                }
                _ => {}
            }
        }
        let Some((command, is_own_end)) = test else { return false };
        let said = end_of_tests(&output);
        let passed = said.as_ref().map(|(passed, _)| *passed).or_else(|| is_own_end.then_some(is_done));
        let summary = said.map(|(_, line)| line);
        let at = call.state.result().and_then(|result| result.at);
        let facts = summary.clone().or_else(|| call.state.result().map(|result| result.facts.to_string()));
        self.tests.push(TestRun {
            command: command.clone(),
            passed,
            summary,
            at,
            entry: id,
            place: self.place,
        });
        match passed {
            Some(true) => {
                // The same tests, or more of them.
                self.mend(
                    id,
                    entry.lane.as_ref(),
                    |failed| matches!(failed, Like::Test(known) if known.starts_with(&command)),
                );
            }
            Some(false) => {
                let what = (format!("run {command}"), facts.unwrap_or_default(), "failed");
                self.fail(id, entry, what, Like::Test(command));
            }
            None if !is_done => return false,
            None => {}
        }
        true
    }

    fn mend(&mut self, id: EntryId, lane: Option<&Name>, is_it: impl Fn(&Like) -> bool) {
        for failure in &mut self.failed {
            if failure.mended.is_none() && failure.lane.as_ref() == lane && is_it(&failure.like) {
                failure.mended = Some(id);
            }
        }
    }

    fn fail(
        &mut self,
        id: EntryId,
        entry: &Entry,
        (what, facts, word): (String, String, &'static str),
        like: Like,
    ) {
        let is_it = |known: &&mut Failure| {
            known.mended.is_none() && known.lane == entry.lane && known.like == like && known.what == what
        };
        if let Some(known) = self.failed.iter_mut().find(is_it) {
            known.times += 1;
            known.entry = id;
            known.facts = facts;
            return;
        }
        let lane = entry.lane.clone();
        self.failed.push(Failure { what, facts, word, times: 1, entry: id, mended: None, lane, like });
    }

    /// Whether tests may have run in a way that is not known.
    pub(crate) fn may_have_tested(&self) -> bool {
        self.may_have_tested
    }

    /// The last test run, and whether anything was changed after it.
    pub(crate) fn last_tests(&self) -> Option<(&TestRun, bool)> {
        self.tests.last().map(|run| (run, self.last_change > run.place))
    }
}

fn root_of(transcript: &Transcript) -> Option<&str> {
    transcript.meta().root.as_ref().map(Text::as_str)
}

/// What an entry says, without its thoughts.
fn text_of(entry: &Entry) -> String {
    let texts = entry.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Text(body) => Some(without_sgr(body.text_or_stub()).trim().to_owned()),
        _ => None,
    });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// A call in a few words.
fn what_of(call: &ToolCall, root: Option<&str>) -> String {
    let line = first_line(&call.headline);
    let line = match call.kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Write => normal(&line, root),
        _ => line,
    };
    let word = if call.kind == ToolKind::Other { call.name.as_str() } else { call.kind.word() };
    format!("{word} {line}").trim_end().to_owned()
}

fn first_line(text: &Text) -> String {
    without_sgr(text).lines().next().unwrap_or_default().trim().to_owned()
}

/// What a command is known by when it is run again: whatever was said of a commit, it is a commit.
fn like_of_command(call: &ToolCall) -> Like {
    let command = command_of(call);
    let last = simple_commands(&command).into_iter().filter_map(does).next_back();
    last.map_or(Like::Call(likeness_of(call)), |last| match last {
        Does::Commit => Like::Commit,
        Does::Push => Like::Push,
        Does::Test | Does::Change => Like::Call(likeness_of(call)),
    })
}

/// The command that a call runs.
fn command_of(call: &ToolCall) -> String {
    let named = |name: &&str| call.input.tree()?.get(name)?.as_text();
    let text = ["command", "cmd", "script"].iter().find_map(named).unwrap_or(&call.headline);
    without_sgr(text).into_owned()
}
