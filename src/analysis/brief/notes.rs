//! What a record has to do with the brief: no more than it says itself.

use super::outputs::{commit_of, end_of_tests};
use crate::analysis::calls::likeness_of;
use crate::analysis::files::paths::normal;
use crate::analysis::shell::{Does, does, ends_with, simple_commands};
use crate::model::body::Body;
use crate::model::change;
use crate::model::entry::{BlockKind, Break, Entry};
use crate::model::text::{Text, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolState};

/// What a block says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Note {
    /// A file was changed.
    Change(Box<FileChange>),
    /// Git named a commit: its hash and subject.
    Commit(Box<(String, String)>),
    /// A command that changes something ended well.
    Command { text: String, is_push: bool, is_change: bool },
    /// Tests ran.
    Test(Box<Tests>),
    /// A command that may have run tests without being known for it.
    MayTest,
    /// Something ended well, so that what failed and is like it is mended.
    Done(Like),
    /// Something failed.
    Failed(Box<Failed>),
    /// A call of the block with this number has no result.
    Open(usize, String),
}

/// A change of a file by one call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileChange {
    pub(super) path: String,
    pub(super) is_edit: bool,
    /// Lines added and removed, if that is known.
    pub(super) lines: Option<(usize, usize)>,
}

/// A run of tests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tests {
    pub(super) command: String,
    pub(super) passed: Option<bool>,
    pub(super) summary: Option<String>,
    /// What is said of the run if no line of it says how it ended.
    pub(super) facts: String,
    pub(super) at: Option<Timestamp>,
}

/// Something that failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failed {
    pub(super) what: String,
    pub(super) facts: String,
    pub(super) word: &'static str,
    pub(super) like: Like,
}

/// What the same thing is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Like {
    Call(u64),
    File(String),
    Test(String),
    Commit,
    Push,
    Error,
}

/// What an entry says, and whether bodies that are on disk would say more.
pub(super) fn notes_of(entry: &Entry, root: Option<&str>) -> (Vec<Note>, bool) {
    let mut noted = Noted { notes: Vec::new(), is_away: false, root };
    for (number, block) in entry.blocks.iter().enumerate() {
        match &block.kind {
            BlockKind::Call(call) => noted.add(number, call),
            BlockKind::Break(Break::Error(what)) if !entry.marks.retried => {
                let what = first_line(what);
                let failed = Failed { what, facts: String::new(), word: "failed", like: Like::Error };
                noted.notes.push(Note::Failed(Box::new(failed)));
            }
            _ => {}
        }
    }
    (noted.notes, noted.is_away)
}

struct Noted<'a> {
    notes: Vec<Note>,
    is_away: bool,
    root: Option<&'a str>,
}

impl Noted<'_> {
    fn add(&mut self, number: usize, call: &ToolCall) {
        let what = what_of(call, self.root);
        let is_done = matches!(call.state, ToolState::Done(_));
        if is_done && matches!(call.kind, ToolKind::Edit | ToolKind::Write) {
            self.change(call);
            self.notes.push(Note::Done(Like::File(what.clone())));
        }
        let has_ended = is_done || matches!(call.state, ToolState::Failed(_));
        if has_ended && call.kind == ToolKind::Run && self.run(call) {
            return;
        }
        let like = match call.kind {
            ToolKind::Edit => Like::File(what.clone()),
            ToolKind::Run => like_of_command(call),
            _ => Like::Call(likeness_of(call)),
        };
        match &call.state {
            ToolState::Done(_) => self.notes.push(Note::Done(like)),
            ToolState::Failed(result) | ToolState::Refused(result) => {
                let (facts, word) = (result.facts.to_string(), call.state.word());
                self.notes.push(Note::Failed(Box::new(Failed { what, facts, word, like })));
            }
            ToolState::Pending | ToolState::Running | ToolState::Streaming(_) | ToolState::Lost => {
                self.notes.push(Note::Open(number, what));
            }
        }
    }

    fn change(&mut self, call: &ToolCall) {
        let path = normal(without_sgr(&call.headline).trim(), self.root);
        let is_edit = call.kind == ToolKind::Edit;
        let patch = call.state.result().and_then(|result| result.patch.as_ref());
        self.is_away |= patch.unwrap_or(&call.input).is_away();
        // A file that was written whole took lines from one that is not known.
        let lines = change::changed_lines(call).filter(|_| is_edit || patch.is_some());
        self.notes.push(Note::Change(Box::new(FileChange { path, is_edit, lines })));
    }

    /// Takes in a command. Answers whether it ran tests, so that their end is what counts.
    fn run(&mut self, call: &ToolCall) -> bool {
        let command = command_of(call);
        let result = call.state.result();
        let output = result.map(|result| without_sgr(result.body.text_or_stub()).into_owned());
        let output = output.unwrap_or_default();
        let is_done = matches!(call.state, ToolState::Done(_));
        let mut test = None;
        let mut is_judged_by_output = false;
        for simple in simple_commands(&command) {
            let words = simple.split_whitespace().filter(|word| !word.starts_with("2>"));
            let text = words.collect::<Vec<_>>().join(" ");
            let what = does(simple);
            is_judged_by_output |= matches!(what, Some(Does::Test | Does::Commit));
            match what {
                Some(Does::Test) => test = Some((text, ends_with(&command, simple))),
                Some(Does::Commit) => match commit_of(&output) {
                    Some(commit) => self.notes.push(Note::Commit(Box::new(commit))),
                    None if is_done => {
                        self.notes.push(Note::Command { text, is_push: false, is_change: false });
                    }
                    None => {}
                },
                Some(what @ (Does::Push | Does::Change)) if is_done => {
                    let (is_push, is_change) = (what == Does::Push, what == Does::Change);
                    self.notes.push(Note::Command { text, is_push, is_change });
                }
                _ => {}
            }
        }
        let is_away = |body: &Body| body.is_away();
        self.is_away |= is_away(&call.input);
        self.is_away |= is_judged_by_output && result.is_some_and(|result| is_away(&result.body));
        let Some((command, is_own_end)) = test else {
            if ["test", "check", "spec"].iter().any(|word| command.contains(word)) {
                self.notes.push(Note::MayTest);
            }
            return false;
        };
        let said = end_of_tests(&output);
        let passed = said.as_ref().map(|(passed, _)| *passed).or_else(|| is_own_end.then_some(is_done));
        let summary = said.map(|(_, line)| line);
        let facts = result.map(|result| result.facts.to_string()).unwrap_or_default();
        let at = result.and_then(|result| result.at);
        self.notes.push(Note::Test(Box::new(Tests { command, passed, summary, facts, at })));
        passed.is_some() || is_done
    }
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
