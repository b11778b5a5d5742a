//! Tool calls: input, state and result.

pub mod work;

use serde::{Deserialize, Serialize};

use super::body::{Body, Image, Key, Tree};
use super::path;
use super::text::{Name, Text, text, without_sgr};
use super::timestamp::Timestamp;
use work::{Update, Work};

/// Limit of a headline in characters.
const LONGEST: usize = 4_096;

/// What a tool does, independent of the agent's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToolKind {
    Run,
    Read,
    Edit,
    /// Writes a whole file.
    Write,
    /// Searches files or lists them.
    Search,
    /// Fetches from the network.
    Fetch,
    /// Starts a sub-agent.
    Delegate,
    /// Updates a plan or a task list.
    Plan,
    Other,
}

impl ToolKind {
    /// The kind in one word, the same in input and output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Write => "write",
            Self::Search => "search",
            Self::Fetch => "fetch",
            Self::Delegate => "delegate",
            Self::Plan => "plan",
            Self::Other => "other",
        }
    }
}

/// A request of the model to run a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The agent's id of the call; empty if it has none.
    pub key: Key,
    /// The tool's name as the agent writes it.
    pub name: Name,
    /// What the tool does.
    pub kind: ToolKind,
    /// The most informative field of the input on one line: command, path, pattern, prompt.
    pub headline: Text,
    /// The whole input, a [`Tree`].
    pub input: Body,
    /// State, with the result if there is one.
    pub state: ToolState,
    /// When the call was made or started.
    pub started: Option<Timestamp>,
    /// The lane of the sub-agent that the call started.
    pub lane: Option<Name>,
}

/// State of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToolState {
    /// The file has no result.
    Pending,
    /// The agent marked it as running.
    Running,
    /// Running, with the latest output so far.
    Streaming(Box<Body>),
    /// The result only acknowledges that work began; no record says so far how that ended.
    Acknowledged(Box<ToolResult>),
    /// Ended without an error.
    Done(Box<ToolResult>),
    /// Ended with an error.
    Failed(Box<ToolResult>),
    /// The user or a policy refused it.
    Refused(Box<ToolResult>),
    /// Ended early by the user, the program or a timeout.
    Stopped(Box<ToolResult>),
    /// Interrupted: according to the agent there will be no result.
    Lost,
}

impl ToolState {
    /// The state of a running call with its output so far.
    pub(crate) fn running(output: Body) -> Self {
        match output.bytes {
            0 => Self::Running,
            _ => Self::Streaming(Box::new(output)),
        }
    }
    pub fn result(&self) -> Option<&ToolResult> {
        match self {
            Self::Acknowledged(result)
            | Self::Done(result)
            | Self::Failed(result)
            | Self::Refused(result)
            | Self::Stopped(result) => Some(result),
            Self::Pending | Self::Running | Self::Streaming(_) | Self::Lost => None,
        }
    }

    pub(crate) fn result_mut(&mut self) -> Option<&mut ToolResult> {
        match self {
            Self::Acknowledged(result)
            | Self::Done(result)
            | Self::Failed(result)
            | Self::Refused(result)
            | Self::Stopped(result) => Some(result),
            Self::Pending | Self::Running | Self::Streaming(_) | Self::Lost => None,
        }
    }

    /// Applies a report on the work that its result began. Returns whether anything changed.
    pub(crate) fn apply_update(&mut self, update: Update) -> bool {
        let is_news = self
            .result_mut()
            .is_some_and(|result| result.apply_update(update));
        if is_news {
            self.recompute();
        }
        is_news
    }

    /// Adopts the work updates of the previous state when a result is sent again.
    pub(crate) fn copy_updates_from(&mut self, before: &Self) {
        let Some((before, own)) = before.work().zip(self.work()) else {
            return;
        };
        if before.handle == own.handle {
            for update in before.updates.clone() {
                self.apply_update(update);
            }
        }
    }

    /// Removes the work from its result, because it began none after all. Returns the work with the
    /// key and the time of the result.
    pub(crate) fn end_work(&mut self) -> Option<(Box<Work>, Key, Option<Timestamp>)> {
        let result = self.result_mut()?;
        let known = (result.work.take()?, result.key.clone(), result.at);
        self.recompute();
        Some(known)
    }

    /// Recomputes the state after its result has changed.
    fn recompute(&mut self) {
        *self = match std::mem::replace(self, Self::Pending) {
            Self::Acknowledged(result)
            | Self::Done(result)
            | Self::Failed(result)
            | Self::Refused(result)
            | Self::Stopped(result) => ended(*result),
            state => state,
        };
    }

    /// The work that its result began.
    pub fn work(&self) -> Option<&Work> {
        self.result()?.work.as_deref()
    }

    /// Output of a call that is still running.
    pub fn live_output(&self) -> Option<&Body> {
        match self {
            Self::Streaming(body) => Some(body),
            Self::Pending
            | Self::Running
            | Self::Acknowledged(_)
            | Self::Done(_)
            | Self::Failed(_)
            | Self::Refused(_)
            | Self::Stopped(_)
            | Self::Lost => None,
        }
    }

    /// Whether the agent records neither output nor outcome for calls like this one.
    pub(crate) fn is_unrecorded(&self) -> bool {
        self.result()
            .is_some_and(|result| result.body.flags.unrecorded)
    }

    /// Whether the call ended, including the work that it began.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(
            self,
            Self::Done(_) | Self::Failed(_) | Self::Refused(_) | Self::Stopped(_)
        )
    }

    /// Whether a result may still come.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Pending | Self::Running | Self::Streaming(_))
    }

    /// The name in JSON outputs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending | Self::Running | Self::Streaming(_) => "pending",
            Self::Acknowledged(_) => "unknown",
            Self::Done(_) if self.is_unrecorded() => "unrecorded",
            Self::Done(_) => Verdict::Done.word(),
            Self::Failed(_) => Verdict::Failed.word(),
            Self::Refused(_) => Verdict::Refused.word(),
            Self::Stopped(_) => Verdict::Stopped.word(),
            Self::Lost => "lost",
        }
    }
}

/// Duration of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Took {
    /// Duration in milliseconds.
    pub ms: u64,
    /// Source of the duration.
    pub by: Clocked,
}

/// Source of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocked {
    /// The agent measured it.
    Measured,
    /// Difference of the timestamps of call and result.
    Times,
    /// Only a bound: the call has no timestamp, so that of its message is used.
    Bound,
}

/// Tools of all agents that poll the work of other calls or write to it.
const FOLLOW_UPS: [&str; 12] = [
    "wait",
    "write_stdin",
    "TaskOutput",
    "BashOutput",
    "AgentOutputTool",
    "process",
    "read_bash",
    "read_powershell",
    "write_bash",
    "write_powershell",
    "command_status",
    "manage_task",
];

impl ToolCall {
    /// The name of its tool on one line, as all screens and reports show it: the agent's own, which its
    /// users know, filters take and JSON has.
    pub(crate) fn shown_name(&self) -> String {
        let name = without_sgr(&self.name);
        let mut words = name.split_whitespace();
        let first = words.next().unwrap_or("tool").to_owned();
        words.fold(first, |name, word| name + " " + word)
    }

    /// Whether it has started a sub-agent, which has a cost however it ends.
    pub(crate) fn has_started_agent(&self) -> bool {
        let has_begun = matches!(self.state, ToolState::Done(_)) || self.state.work().is_some();
        self.kind == ToolKind::Delegate && has_begun
    }

    /// Whether it polls the work of another call or writes to it: an end in its result is the end
    /// of that work.
    pub(crate) fn is_follow_up(&self) -> bool {
        FOLLOW_UPS.contains(&self.name.as_str())
    }

    /// Its subject on one line; paths are relative to `root`.
    pub(crate) fn about(&self, root: Option<&str>) -> String {
        let line = self.headline.trim().lines().next().unwrap_or_default();
        let line: String = without_sgr(line).chars().take(LONGEST).collect();
        match self.kind {
            _ if self.is_on_file() => path::relative_paths(&line, root).into_owned(),
            ToolKind::Search => path::with_relative_paths(&line, root).into_owned(),
            ToolKind::Run => path::relative_command(&line, root).into_owned(),
            _ => line,
        }
    }

    /// The agent's own description of the purpose.
    pub(crate) fn intent(&self) -> Option<&Text> {
        let input = self.input.tree().filter(|_| self.kind == ToolKind::Run)?;
        input
            .text_in(&["description"])
            .filter(|text| !text.is_blank())
    }

    /// The command that it runs, if it runs one.
    pub(crate) fn command(&self) -> Option<&Text> {
        self.input.tree()?.text_in(&["command", "cmd", "script"])
    }

    /// Whether its subject is a path.
    pub(crate) fn is_on_file(&self) -> bool {
        matches!(self.kind, ToolKind::Read | ToolKind::Edit | ToolKind::Write)
    }

    /// Duration of the call; `said` is the timestamp of its entry. `None` without a result or
    /// timestamps, or if the result is older than the call.
    pub fn duration(&self, said: Option<Timestamp>) -> Option<Took> {
        let result = self.state.result()?;
        if let Some(ms) = result.duration_ms.filter(|_| result.work.is_none()) {
            return Some(Took {
                ms,
                by: Clocked::Measured,
            });
        }
        let by = if self.started.is_some() {
            Clocked::Times
        } else {
            Clocked::Bound
        };
        let (started, ended) = (self.started.or(said)?, result.ended()?);
        (started <= ended).then(|| Took {
            ms: ended.since(started),
            by,
        })
    }
}

/// Outcome of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    Done,
    Failed,
    /// Refused by the user or a policy.
    Refused,
    Stopped,
}

impl Verdict {
    pub(crate) fn of(has_failed: bool, is_refused: bool) -> Self {
        match (is_refused, has_failed) {
            (true, _) => Self::Refused,
            (false, true) => Self::Failed,
            (false, false) => Self::Done,
        }
    }
    /// The name in JSON outputs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Stopped => "stopped",
        }
    }
}

/// Result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Identity of the result record: a result with the same key is the same one, sent again.
    pub key: Key,
    /// Name of the tool, if the record of the result has one.
    pub tool: Option<Name>,
    pub verdict: Verdict,
    /// The output as text; SGR colours are retained.
    pub body: Body,
    /// A unified diff of what the tool changed, if the agent records one.
    pub patch: Option<Body>,
    /// Images in the output.
    pub images: Vec<Image>,
    /// Short facts for the right edge of the row: `exit 101`, `61 lines`, `3 hits`.
    pub facts: Text,
    /// When the result was recorded.
    pub at: Option<Timestamp>,
    /// Duration in ms as the agent measured it; `None` if it must be derived from timestamps.
    pub duration_ms: Option<u64>,
    /// Work that continued after the result, with the reports on it.
    pub work: Option<Box<Work>>,
}

impl ToolResult {
    /// A result without facts beside its output.
    pub(crate) fn new(key: Key, verdict: Verdict, body: Body, at: Option<Timestamp>) -> Self {
        Self {
            key,
            tool: None,
            verdict,
            body,
            patch: None,
            images: Vec::new(),
            facts: Text::default(),
            at,
            duration_ms: None,
            work: None,
        }
    }

    /// The key of the result of a call whose id is unique within its lane.
    pub(crate) fn key_of(call: &Key, lane: Option<&Name>) -> Key {
        match lane {
            Some(lane) => text!("result of {call} in {lane}"),
            None => text!("result of {call}"),
        }
    }

    /// When the call ended, including its work. `None` if that is not recorded.
    pub fn ended(&self) -> Option<Timestamp> {
        match &self.work {
            Some(work) => work.completed()?.0.at,
            None => self.at,
        }
    }

    /// Applies a report on the work. Returns whether anything changed.
    pub(crate) fn apply_update(&mut self, update: Update) -> bool {
        let Some(work) = &mut self.work else {
            return false;
        };
        if !work.add_update(update) {
            return false;
        }
        if let Some((end, _)) = work.completed() {
            self.verdict = end.verdict;
            let exit = end.exit.filter(|code| *code != 0);
            let exit = exit.map(|code| Text::clean(&format!("exit {code}")));
            let reason = || work.reason().cloned();
            self.facts = exit.or_else(reason).unwrap_or_default();
        }
        true
    }
}

/// The state of a call with this result.
pub(crate) fn ended(result: ToolResult) -> ToolState {
    if result
        .work
        .as_ref()
        .is_some_and(|work| work.completed().is_none())
    {
        return ToolState::Acknowledged(Box::new(result));
    }
    match result.verdict {
        Verdict::Done => ToolState::Done(Box::new(result)),
        Verdict::Failed => ToolState::Failed(Box::new(result)),
        Verdict::Refused => ToolState::Refused(Box::new(result)),
        Verdict::Stopped => ToolState::Stopped(Box::new(result)),
    }
}

/// Whether an id is unique; empty and redacted ids are not.
pub fn identifies(id: &str) -> bool {
    !id.trim().is_empty() && !id.trim_start_matches('[').starts_with("REDACTED")
}

/// Key of a call that the model wrote as text: it has no id, only its position.
pub(crate) fn textual_key(message: &Key, number: usize) -> Key {
    Key::clean(&format!("{TEXTUAL}{message}/{number}"))
}

/// Whether a call was written as text, so that no id proves which result belongs to it.
pub(crate) fn is_textual(call: &Key) -> bool {
    call.starts_with(TEXTUAL)
}

/// Prefix of the keys of such calls.
const TEXTUAL: &str = "text:";

/// Field names of old and new strings.
pub(crate) const EDITS: [(&str, &str); 9] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
    ("old_str", "new_str"),
    ("old", "new"),
    ("search", "replace"),
    ("find", "replace"),
    ("TargetContent", "ReplacementContent"),
];
/// Field names of lists of edits; some agents write a single edit without a list.
const LISTS: [&str; 6] = [
    "edits",
    "edit",
    "changes",
    "replacements",
    "diffs",
    "ReplacementChunks",
];
/// Field names of texts that may be patches.
const PATCHES: [&str; 5] = ["patch", "diff", "patchText", "input", "patch_text"];

/// Pairs of old and new strings in a tool's input, in order.
pub(crate) fn replacements_of(input: &Tree) -> Vec<(&str, &str)> {
    let lists = LISTS
        .iter()
        .filter_map(|name| input.get(name))
        .flat_map(|list| match list {
            Tree::Map(_) => std::slice::from_ref(list),
            list => list.items(),
        });
    pair_of(input)
        .into_iter()
        .chain(lists.filter_map(pair_of))
        .collect()
}

/// The old and new string of one edit.
fn pair_of(edit: &Tree) -> Option<(&str, &str)> {
    EDITS.iter().find_map(|(old, new)| {
        let text = |name: &str| edit.text_in(&[name]).map(Text::as_str);
        match (text(old), text(new)) {
            (Some(old), new) => Some((old, new.unwrap_or_default())),
            (None, Some(new)) if edit.get(old).is_some() => Some(("", new)),
            (None, _) => None,
        }
    })
}

/// Content that a tool's input writes to a file.
pub(crate) fn content_of(input: &Tree) -> Option<&Text> {
    input.text_in(&[
        "content",
        "contents",
        "file_text",
        "text",
        "data",
        "new_content",
        "CodeContent",
    ])
}

/// The patch in a tool's input, if there is one.
pub(crate) fn patch_of(input: &Tree) -> Option<&str> {
    // Written content is seldom a patch, but some agents pass search-and-replace blocks in that
    // field.
    let blocks = || {
        let content = input.text_in(&["content"]);
        content.filter(|text| text.trim_start().starts_with("<<<<<<< SEARCH"))
    };
    let text = input.text_in(&PATCHES).or_else(blocks).or(input.as_text());
    text.map(Text::as_str)
        .or_else(|| patch_of_command(command_in(input)?).map(|(_, patch)| patch))
}

/// The command in a tool's input; of a list of arguments the last, which is the shell's script.
fn command_in(input: &Tree) -> Option<&str> {
    let command = ["command", "cmd"].iter().find_map(|name| input.get(name))?;
    command
        .as_text()
        .or_else(|| command.items().last()?.as_text())
        .map(Text::as_str)
}

/// The patch that a shell command passes to `apply_patch`, if it does nothing else, and the folder
/// that it changes to first.
///
/// Codex treats such a command as a call of its tool: `apply_patch <<'EOF'`, perhaps after `cd
/// FOLDER &&` (`codex-rs/apply-patch`).
pub(crate) fn patch_of_command(command: &str) -> Option<(Option<&str>, &str)> {
    let command = command.trim();
    let (folder, step) = match command
        .strip_prefix("cd ")
        .and_then(|rest| rest.split_once(" && "))
    {
        Some((folder, step)) => (
            Some(folder.trim().trim_matches(['"', '\''])),
            step.trim_start(),
        ),
        None => (None, command),
    };
    let rest = ["apply_patch", "applypatch"]
        .iter()
        .find_map(|name| step.strip_prefix(name))?;
    let (head, patch) = rest.split_at(rest.find("*** Begin Patch")?);
    let (patch, tail) = patch.split_at(patch.rfind(PATCH_ENDS)? + PATCH_ENDS.len());
    let is_quote = |text: &str| {
        text.chars()
            .all(|c| matches!(c, '"' | '\'' | ')') || c.is_whitespace())
    };
    let tail = tail
        .trim_start()
        .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let is_all =
        head.trim_end().lines().count() <= 1 && !head.contains([';', '|', '&']) && is_quote(tail);
    is_all.then_some((folder, patch))
}

/// Last line of patches in the shape of OpenAI's models.
const PATCH_ENDS: &str = "*** End Patch";

#[cfg(test)]
mod tests {
    use super::patch_of_command;

    #[test]
    fn a_command_that_only_applies_a_patch_is_one() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        for (command, folder) in [
            (format!("apply_patch <<'PATCH'\n{patch}\nPATCH"), None),
            (format!("apply_patch << \"EOF\"\n{patch}\nEOF\n"), None),
            (format!("apply_patch '{patch}'"), None),
            (
                format!("apply_patch \"$(cat <<'EOF'\n{patch}\nEOF\n)\""),
                None,
            ),
            (
                format!("cd \"src/a b\" && apply_patch <<EOF\n{patch}\nEOF"),
                Some("src/a b"),
            ),
        ] {
            assert_eq!(
                patch_of_command(&command),
                Some((folder, patch)),
                "{command}"
            );
        }
        for command in [
            format!("apply_patch <<'EOF'\n{patch}\nEOF\ncargo test"),
            format!("cat <<'EOF'\n{patch}\nEOF"),
            format!("apply_patch --help; echo '{patch}'"),
            "apply_patch < a.patch".to_owned(),
        ] {
            assert_eq!(patch_of_command(&command), None, "{command}");
        }
    }
}
