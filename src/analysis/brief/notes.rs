//! Extracts the notes of an entry for the brief: no more than its records claim.

use itertools::Itertools as _;

use super::Whole;
use super::outputs::{
    commits_of, complaint_of, end_of_push, end_of_tests, shows_failures, still_runs, was_stopped,
};
use crate::analysis::calls::likeness_of;
use crate::analysis::files::paths::normal;
use crate::analysis::shell::{
    self, Does, Join, SimpleCommand, does, end_of, is_conditional, steps_within, without_keywords,
};
use crate::model::body::Body;
use crate::model::change;
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::fingerprint::hash_of;
use crate::model::path::{BETWEEN, listed};
use crate::model::text::{Text, tags, without_sgr};
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::Work;
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, is_textual};

/// A fact of a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Note {
    Change(Box<FileChange>),
    /// A commit named by git.
    Commit(Box<CommitNote>),
    /// A successful command with a side effect.
    Command(String),
    Test(Box<TestNote>),
    /// The model continued, without other notes in its answer.
    Answered,
    /// A success, which mends earlier failures of the same kind.
    Done(Like),
    Failed(Box<FailureNote>),
    /// A call without a result or end, or whose end the model was not told.
    Open(Box<CallWords>),
}

/// A short description of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallWords {
    Words(String),
    /// The name of a tool and paths, which are shown relative to the session's root.
    Files(String, String),
}

impl CallWords {
    /// The description, with paths relative to the session's root.
    pub(super) fn words(&self, root: Option<&str>) -> String {
        match self {
            Self::Words(words) => words.clone(),
            Self::Files(word, paths) => {
                let paths = paths
                    .split(BETWEEN)
                    .map(|path| normal(path, root))
                    .collect::<Vec<_>>();
                in_words(word, &paths.join(BETWEEN))
            }
        }
    }
}

/// A commit as named by git.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CommitNote {
    pub(super) hash: String,
    pub(super) subject: String,
    /// Whether it replaced the commit before.
    pub(super) is_amended: bool,
}

/// A change of a file by one call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileChange {
    pub(super) path: String,
    pub(super) is_edit: bool,
    /// Lines added and removed; `None` if unknown.
    pub(super) lines: Option<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct TestNote {
    /// The name of the tool that ran the command.
    pub(super) tool: String,
    pub(super) command: String,
    /// Identifies repeated runs of the same tests: folder and command.
    pub(super) like: String,
    pub(super) passed: Option<bool>,
    /// How the tests or the command failed, and the line of the output that explains it.
    pub(super) failed: Option<(Fault, Option<String>)>,
    pub(super) summary: Option<String>,
    /// The facts of the result, shown if there is no summary line.
    pub(super) facts: String,
    pub(super) at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct FailureNote {
    pub(super) what: CallWords,
    /// The reason, if recorded.
    pub(super) reason: String,
    /// The line of the output that explains it.
    pub(super) error_line: Option<String>,
    pub(super) fault: Fault,
    pub(super) like: Like,
}

/// The way in which an action failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It failed, and its call counts as failed.
    Failed,
    /// Its output reports a failure, but the command succeeded, so that its call counts as done.
    Hidden,
    /// The user or a policy refused it.
    Refused,
    Stopped,
}

impl Fault {
    /// The name, as of the state of a call.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Failed | Self::Hidden => "failed",
            Self::Refused => "refused",
            Self::Stopped => "stopped",
        }
    }

    /// By the state of a call; `None` if that is not a failure.
    fn of(state: &ToolState) -> Option<Self> {
        match state {
            ToolState::Failed(_) => Some(Self::Failed),
            ToolState::Refused(_) => Some(Self::Refused),
            ToolState::Stopped(_) => Some(Self::Stopped),
            _ => None,
        }
    }
}

/// Identifies repeated actions of the same kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Like {
    Call(u64),
    File(String),
    Test(String),
    Commit,
    Push,
    Error,
}

/// The notes of an entry's blocks, each with the index of the block, and whether bodies on disk may
/// have more. `whole` returns a block with its bodies; only one at a time has to be in memory.
pub(super) fn notes_of(entry: &Entry, whole: Whole<'_>) -> (Vec<(usize, Note)>, bool) {
    let mut noted = Noted::default();
    let mut is_answer = entry.role == Role::Assistant && !entry.marks.trace;
    for (number, block) in entry.blocks.iter().enumerate() {
        noted.block = number;
        match &block.kind {
            BlockKind::Call(_) => whole(block)
                .call()
                .into_iter()
                .for_each(|call| noted.add(call)),
            BlockKind::Break(Break::Error(what)) => {
                is_answer = false;
                if entry.has_failed(&block.kind) {
                    let what = CallWords::Words(first_line(what));
                    noted.fail(what, (String::new(), None), Fault::Failed, Like::Error);
                }
            }
            _ => {}
        }
    }
    let says = |kind: &BlockKind| matches!(kind, BlockKind::Text(_) | BlockKind::Call(_));
    if noted.notes.is_empty() && is_answer && entry.has(says) {
        noted.block = 0;
        noted.push(Note::Answered);
    }
    (noted.notes, noted.is_away)
}

#[derive(Default)]
struct Noted {
    notes: Vec<(usize, Note)>,
    is_away: bool,
    /// The index of the current block.
    block: usize,
}

impl Noted {
    fn push(&mut self, note: Note) {
        self.notes.push((self.block, note));
    }

    fn fail(
        &mut self,
        what: CallWords,
        (reason, said): (String, Option<String>),
        fault: Fault,
        like: Like,
    ) {
        self.push(Note::Failed(Box::new(FailureNote {
            what,
            reason,
            error_line: said,
            fault,
            like,
        })));
    }

    /// The line of the output that explains a failure best.
    fn error_line(&mut self, call: &ToolCall) -> Option<String> {
        self.is_away |= call.state.result()?.body.is_on_disk();
        complaint_of(call)
    }

    fn add(&mut self, call: &ToolCall) {
        let what = call_words(call);
        let is_done = matches!(call.state, ToolState::Done(_));
        let is_file = matches!(call.kind, ToolKind::Edit | ToolKind::Write);
        if is_done && is_file {
            self.change(call);
        }
        let has_ended_badly = matches!(call.state, ToolState::Failed(_) | ToolState::Stopped(_));
        let has_run =
            is_done || has_ended_badly || matches!(call.state, ToolState::Acknowledged(_));
        if has_run && call.kind == ToolKind::Run && self.run(call) {
            return;
        }
        let mut paths = paths_of(call).into_iter();
        let like = match call.kind {
            ToolKind::Edit | ToolKind::Write => Like::File(paths.next().unwrap_or_default()),
            ToolKind::Run => like_of_command(call),
            _ => Like::Call(likeness_of(call)),
        };
        let is_undelivered = |work: &Work| work.completed().is_some() && work.delivered().is_none();
        if call.state.work().is_some_and(is_undelivered) {
            self.push(Note::Open(Box::new(what.clone())));
        }
        if let Some((fault, result)) = Fault::of(&call.state).zip(call.state.result()) {
            let reason = (reason_of(call, result), self.error_line(call));
            return self.fail(what, reason, fault, like);
        }
        match &call.state {
            ToolState::Done(_) => {
                let others = paths.filter(|_| is_file).map(Like::File);
                for like in std::iter::once(like).chain(others) {
                    self.push(Note::Done(like));
                }
            }
            ToolState::Failed(_) | ToolState::Refused(_) | ToolState::Stopped(_) => {}
            // Results of calls in the text of the model are not recorded.
            ToolState::Pending
            | ToolState::Running
            | ToolState::Streaming(_)
            | ToolState::Acknowledged(_)
            | ToolState::Lost => {
                if !is_textual(&call.key) {
                    self.push(Note::Open(Box::new(what)));
                }
            }
        }
    }

    fn change(&mut self, call: &ToolCall) {
        let is_edit = call.kind == ToolKind::Edit;
        let patch = call.state.result().and_then(|result| result.patch.as_ref());
        self.is_away |= patch.unwrap_or(&call.input).is_on_disk();
        // Without a patch, the lines removed by writing a whole file are unknown.
        let is_counted = is_edit || patch.is_some();
        for path in paths_of(call) {
            let lines = change::changed_lines(call, &path).filter(|_| is_counted);
            self.push(Note::Change(Box::new(FileChange {
                path,
                is_edit,
                lines,
            })));
        }
    }

    /// Adds the notes of a shell command. Returns whether they are complete: it ran tests, whose
    /// outcome counts, or it is still running.
    fn run(&mut self, call: &ToolCall) -> bool {
        let command = command_of(call);
        let result = call.state.result();
        let output = result.map(|result| without_sgr(result.body.text_or_stub()).into_owned());
        let output = output.unwrap_or_default();
        let facts = result
            .map(|result| result.facts.to_string())
            .unwrap_or_default();
        let is_done = matches!(call.state, ToolState::Done(_));
        let is_running = is_running(call, &facts, &output);
        let steps = steps_within(&command);
        let shown = |step: &SimpleCommand<'_>| does(step.text).filter(|_| !is_conditional(step));
        let is_judged_by_output = steps.iter().any(|step| {
            matches!(
                does(step.text),
                Some(Does::Test | Does::Commit | Does::Push)
            )
        });
        let is_away = |body: &Body| body.is_on_disk();
        self.is_away |= is_away(&call.input);
        self.is_away |= is_judged_by_output && result.is_some_and(|result| is_away(&result.body));
        // Without an exit code the outcome is unknown.
        let is_judged = !result.is_some_and(|result| is_done && result.body.flags.unjudged);
        if is_running {
            self.test(call, &steps, &output, facts.clone());
            // Work that was acknowledged and has not ended is open.
            return !matches!(call.state, ToolState::Acknowledged(_));
        }
        let commits: Vec<_> = steps
            .iter()
            .filter(|step| does(step.text) == Some(Does::Commit))
            .collect();
        let is_amended = commits.iter().any(|step| step.text.contains("--amend"));
        let made = if commits.is_empty() {
            Vec::new()
        } else {
            commits_of(&output)
        };
        let has_named = !made.is_empty();
        let mut has_committed = has_named || commits.is_empty();
        let commit = |(hash, subject)| {
            Note::Commit(Box::new(CommitNote {
                hash,
                subject,
                is_amended,
            }))
        };
        for note in made.into_iter().map(commit) {
            self.push(note);
        }
        let mut push_failed = false;
        for (number, step) in steps.iter().enumerate() {
            let text = words_of(without_keywords(step.text));
            let end = || end_of(&steps, number, is_done).filter(|_| is_judged);
            match shown(step) {
                Some(Does::Commit) if !has_named && end() == Some(true) => {
                    has_committed = true;
                    self.push(Note::Command(text));
                }
                Some(Does::Push) => {
                    match end_of_push(&output).or_else(|| end().filter(|is_well| *is_well)) {
                        Some(true) => self.push(Note::Command(text)),
                        Some(false) => push_failed = true,
                        None => {}
                    }
                }
                Some(Does::Change) if is_done => self.push(Note::Command(text)),
                _ => {}
            }
        }
        if push_failed && is_done {
            // The steps after the push succeeded.
            let reason = (facts.clone(), self.error_line(call));
            self.fail(call_words(call), reason, Fault::Hidden, Like::Push);
        }
        // The success of the command does not imply that it committed or pushed.
        let is_unclear = is_done && (push_failed || !has_committed);
        self.test(call, &steps, &output, facts) || is_unclear
    }

    /// Adds a test run. Returns whether the command ran tests with a known outcome, or nothing
    /// else.
    fn test(
        &mut self,
        call: &ToolCall,
        steps: &[SimpleCommand<'_>],
        output: &str,
        facts: String,
    ) -> bool {
        let is_done = matches!(call.state, ToolState::Done(_) | ToolState::Acknowledged(_));
        let is_test = |(_, step): &(usize, &SimpleCommand<'_>)| {
            does(step.text) == Some(Does::Test) && !is_conditional(step)
        };
        let tests: Vec<(usize, &SimpleCommand<'_>)> =
            steps.iter().enumerate().filter(is_test).collect();
        let Some((last, _)) = tests.last() else {
            return false;
        };
        let is_running = is_running(call, &facts, output);
        let is_stopped = !is_done && was_stopped(&facts);
        let is_whole = !is_running && !is_stopped;
        let said =
            end_of_tests(output).filter(|(passed, _)| !passed || is_whole && !is_cut(steps, *last));
        let is_judged = !call
            .state
            .result()
            .is_some_and(|result| is_done && result.body.flags.unjudged);
        let exit = end_of(steps, *last, is_done).filter(|_| is_whole && is_judged);
        let may_not_have_run = !is_done && !is_stopped && (exit.is_none() || !is_own_exit(&facts));
        if said.is_none() && may_not_have_run {
            // It may have failed or been killed before any test ran.
            return false;
        }
        // Tests that failed to start have the same exit code as failed tests: only a summary tells.
        let passed = said
            .as_ref()
            .map(|(passed, _)| *passed)
            .or(exit.filter(|is_well| *is_well));
        let of = |step: &SimpleCommand<'_>| words_of(without_keywords(step.text));
        let command = tests.iter().map(|(_, step)| of(step)).join("; ");
        let folder = steps
            .iter()
            .map(of)
            .rfind(|text| text.starts_with("cd "))
            .unwrap_or_default();
        let failed =
            Fault::of(&call.state).or_else(|| (passed == Some(false)).then_some(Fault::Hidden));
        let tests = TestNote {
            tool: call.shown_name(),
            like: format!("{folder}; {command}"),
            command,
            passed,
            failed: failed.map(|fault| (fault, self.error_line(call))),
            summary: said.map(|(_, line)| line),
            at: call.state.result().and_then(|result| result.at),
            facts,
        };
        self.push(Note::Test(Box::new(tests)));
        true
    }
}

/// Whether a command is still running; without recorded work, by the text of its result.
fn is_running(call: &ToolCall, facts: &str, output: &str) -> bool {
    match call.state.work() {
        _ if Fault::of(&call.state).is_some() => false,
        Some(work) => work.completed().is_none(),
        None => still_runs(facts, output),
    }
}

/// The words of a command on one line, without redirections of stderr.
fn words_of(command: &str) -> String {
    let mut words = command
        .split_whitespace()
        .filter(|word| !word.starts_with("2>"));
    words.join(" ")
}

/// Whether a filter after the tests may have removed failures from the output, so that the rest
/// proves nothing.
fn is_cut(steps: &[SimpleCommand<'_>], number: usize) -> bool {
    let behind = steps.get(number + 1..).unwrap_or_default();
    behind
        .iter()
        .take_while(|step| step.join == Join::Pipe)
        .any(|step| {
            let text = step.text.trim();
            match text.split_whitespace().next() {
                Some("tail" | "tee" | "cat") => false,
                Some("grep" | "rg" | "egrep") => !shows_failures(text),
                _ => true,
            }
        })
}

/// Whether the exit code is the command's own, rather than that of a missing or killed command.
fn is_own_exit(facts: &str) -> bool {
    let code = facts
        .split_once("exit ")
        .and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next());
    code.and_then(|code| code.parse::<u32>().ok())
        .is_some_and(|code| code < 124 && code != 0)
}

/// The paths that a call names; an empty one if it names none.
fn paths_of(call: &ToolCall) -> Vec<String> {
    let headline = without_sgr(call.headline.trim());
    let paths: Vec<String> = listed(&headline).map(|path| normal(path, None)).collect();
    if paths.is_empty() {
        vec![String::new()]
    } else {
        paths
    }
}

fn call_words(call: &ToolCall) -> CallWords {
    let line = first_line(&call.headline);
    match call.kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Write => {
            CallWords::Files(call.shown_name(), line)
        }
        _ => CallWords::Words(in_words(&call.shown_name(), &line)),
    }
}

/// Joins a verb and its object, but not the same word twice.
fn in_words(word: &str, line: &str) -> String {
    let line = line
        .strip_prefix(word)
        .filter(|rest| rest.starts_with(' '))
        .map_or(line, str::trim);
    format!("{word} {line}").trim_end().to_owned()
}

/// The reason of a failure: the facts of the result, otherwise the first line of the output, except
/// of shell commands.
fn reason_of(call: &ToolCall, result: &ToolResult) -> String {
    let is_tool_error = matches!(call.state, ToolState::Failed(_)) && call.kind != ToolKind::Run;
    if result.facts.is_blank() && is_tool_error {
        return first_line(&tags::readable_result(&result.body.stub));
    }
    result.facts.to_string()
}

pub(crate) fn first_line(text: &str) -> String {
    without_sgr(text)
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Identifies repeated commands. Commits are one kind, whatever their message.
fn like_of_command(call: &ToolCall) -> Like {
    let command = command_of(call);
    let last = shell::simple_commands(&command)
        .into_iter()
        .filter_map(does)
        .next_back();
    match last {
        Some(Does::Commit) => Like::Commit,
        Some(Does::Push) => Like::Push,
        _ if command.trim().is_empty() => Like::Call(likeness_of(call)),
        _ => {
            let input = call.input.tree();
            let folder = input.and_then(|input| input.text_in(&["workdir", "cwd"]));
            Like::Call(hash_of(&(folder.map(Text::as_str), words_of(&command))))
        }
    }
}

/// The shell command of a call.
fn command_of(call: &ToolCall) -> String {
    without_sgr(call.command().unwrap_or(&call.headline)).into_owned()
}
