//! Tool calls: what was asked, what came back, and the state between.

pub mod work;

use serde::{Deserialize, Serialize};

use super::body::{Body, Image, Key, Tree};
use super::path;
use super::text::{Name, Text, without_sgr};
use super::timestamp::Timestamp;
use work::{Update, Work};

/// Characters of what a call is about.
const LONGEST: usize = 4_096;

/// What a tool does, whatever its agent calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ToolKind {
    /// Runs a command.
    Run,
    /// Reads a file.
    Read,
    /// Changes a file.
    Edit,
    /// Writes a whole file.
    Write,
    /// Searches files or lists them.
    Search,
    /// Fetches from the network.
    Fetch,
    /// Starts a sub-agent.
    Delegate,
    /// Keeps a plan or a list of tasks.
    Plan,
    /// Anything else.
    Other,
}

impl ToolKind {
    /// The kind in one word, the same wherever it is typed or written.
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

/// One request of the model to run a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The agent's id of the call; empty if it gave none.
    pub key: Key,
    /// The tool's name as the agent writes it.
    pub name: Name,
    /// What the tool does.
    pub kind: ToolKind,
    /// The most meaningful field of the input on one line: command, path, pattern, prompt.
    pub headline: Text,
    /// All of the input, a [`Tree`].
    pub input: Body,
    /// Whether and how it ended.
    pub state: ToolState,
    /// When the call was made or started.
    pub started: Option<Timestamp>,
    /// The lane of the sub-agent that the call started.
    pub lane: Option<Name>,
}

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToolState {
    /// No result in the file.
    Pending,
    /// The agent says that it is running.
    Running,
    /// It is running, and this is the newest of what it has put out so far.
    Streaming(Box<Body>),
    /// Its result says that it began; how it ended nothing tells so far.
    Acknowledged(Box<ToolResult>),
    /// Ended well.
    Done(Box<ToolResult>),
    /// Ended with an error.
    Failed(Box<ToolResult>),
    /// The user or a policy did not allow it.
    Refused(Box<ToolResult>),
    /// Somebody ended it before it came to its end: the user, the program, a limit of time.
    Stopped(Box<ToolResult>),
    /// Interrupted: the agent says there will be no result.
    Lost,
}

impl ToolState {
    /// The result, if there is one.
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

    /// The result, to be changed.
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

    /// Takes in what a record tells of work that its result began. Whether that is news.
    pub(crate) fn take_in(&mut self, update: Update) -> bool {
        let is_news = self
            .result_mut()
            .is_some_and(|result| result.take_in(update));
        if is_news {
            self.judge_again();
        }
        is_news
    }

    /// What was told of the work of an earlier state goes on with a result that is sent again.
    pub(crate) fn go_on_from(&mut self, before: &Self) {
        let Some((before, own)) = before.work().zip(self.work()) else {
            return;
        };
        if before.handle == own.handle {
            for update in before.updates.clone() {
                self.take_in(update);
            }
        }
    }

    /// Its result began no work after all: gives that back, with the key and the time of the result.
    pub(crate) fn end_work(&mut self) -> Option<(Box<Work>, Key, Option<Timestamp>)> {
        let result = self.result_mut()?;
        let known = (result.work.take()?, result.key.clone(), result.at);
        self.judge_again();
        Some(known)
    }

    /// What its result says has changed.
    fn judge_again(&mut self) {
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
    pub fn live(&self) -> Option<&Body> {
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

    /// Whether the agent records of calls like this one neither what came out nor how they ended.
    pub(crate) fn is_unrecorded(&self) -> bool {
        self.result()
            .is_some_and(|result| result.body.flags.unrecorded)
    }

    /// Whether the call came to its end, that of the work that it began included.
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

    /// The word used in JSON outputs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending | Self::Running | Self::Streaming(_) => "pending",
            Self::Acknowledged(_) => "unknown",
            Self::Done(_) if self.is_unrecorded() => "unrecorded",
            Self::Done(_) => "done",
            Self::Failed(_) => "failed",
            Self::Refused(_) => "refused",
            Self::Stopped(_) => "stopped",
            Self::Lost => "lost",
        }
    }
}

/// How long a call took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Took {
    /// Milliseconds.
    pub ms: u64,
    /// How that is known.
    pub by: Clocked,
}

/// How a duration is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocked {
    /// The agent measured it.
    Measured,
    /// From the times of call and result.
    Times,
    /// Only a bound: the call has no time of its own, so the time of its message stands in.
    Bound,
}

/// Tools of all agents that look after the work of other calls, or write to it.
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
    /// Whether it has started a sub-agent, which costs something however it ends.
    pub(crate) fn has_started_agent(&self) -> bool {
        let has_begun = matches!(self.state, ToolState::Done(_)) || self.state.work().is_some();
        self.kind == ToolKind::Delegate && has_begun
    }

    /// Whether it looks after the work of another call, or writes to it: an end that its result tells is the end of that.
    pub(crate) fn follows_up(&self) -> bool {
        FOLLOW_UPS.contains(&self.name.as_str())
    }

    /// What it is about, on one line; files are named from a folder on.
    pub(crate) fn about(&self, root: Option<&str>) -> String {
        let line = self.headline.trim().lines().next().unwrap_or_default();
        let line: String = without_sgr(line).chars().take(LONGEST).collect();
        match self.kind {
            _ if self.names_a_file() => path::all_below(&line, root).into_owned(),
            ToolKind::Search => path::words_below(&line, root).into_owned(),
            ToolKind::Run => path::command_below(&line, root).into_owned(),
            _ => line,
        }
    }

    /// What it is for, in the agent's own words.
    pub(crate) fn intent(&self) -> Option<&Text> {
        let input = self.input.tree().filter(|_| self.kind == ToolKind::Run)?;
        input
            .get("description")?
            .as_text()
            .filter(|text| !text.is_blank())
    }

    /// Whether what it is about is the name of a file.
    pub(crate) fn names_a_file(&self) -> bool {
        matches!(self.kind, ToolKind::Read | ToolKind::Edit | ToolKind::Write)
    }

    /// How long it took; `said` is the time of its entry. Nothing without a result, without times, or
    /// if the result is older than the call.
    pub fn took(&self, said: Option<Timestamp>) -> Option<Took> {
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

/// How a result ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Without an error.
    Done,
    /// With an error.
    Failed,
    /// Not allowed by the user or a policy.
    Refused,
    /// Ended by somebody before it came to its end.
    Stopped,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Identity of the result record: the same key is the same result, sent again.
    pub key: Key,
    /// The tool that gave it, where the record of the result names one.
    pub tool: Option<Name>,
    /// How it ended.
    pub verdict: Verdict,
    /// The output as text; SGR colours kept.
    pub body: Body,
    /// A unified diff of what the tool changed, if the agent records one.
    pub patch: Option<Body>,
    /// Images in the output.
    pub images: Vec<Image>,
    /// Short facts for the right edge: `exit 101`, `61 lines`, `3 hits`.
    pub facts: Text,
    /// When the result was recorded.
    pub at: Option<Timestamp>,
    /// Duration in ms as the agent measured it; else it is derived from the times.
    pub duration_ms: Option<u64>,
    /// Work that went on when the result was recorded, with what is told of it.
    pub work: Option<Box<Work>>,
}

impl ToolResult {
    /// When the call came to its end: that of its work, if any went on. Nothing if that is not told.
    pub fn ended(&self) -> Option<Timestamp> {
        match &self.work {
            Some(work) => work.completed()?.0.at,
            None => self.at,
        }
    }

    /// Takes in what a record tells of the work that went on. Whether that is news.
    pub(crate) fn take_in(&mut self, update: Update) -> bool {
        let Some(work) = &mut self.work else {
            return false;
        };
        if !work.take_in(update) {
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

/// The state of a call that has this result.
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

/// Whether an id tells things apart. Empty and redacted ids do not.
pub fn identifies(id: &str) -> bool {
    !id.trim().is_empty() && !id.trim_start_matches('[').starts_with("REDACTED")
}

/// The key of a call that the model wrote into its text: it has no id, only its place.
pub(crate) fn textual_key(message: &Key, number: usize) -> Key {
    Key::clean(&format!("{TEXTUAL}{message}/{number}"))
}

/// Whether a call was written into a text, so that nothing proves which result is its own.
pub(crate) fn is_textual(call: &Key) -> bool {
    call.starts_with(TEXTUAL)
}

/// How the keys of such calls begin.
const TEXTUAL: &str = "text:";

/// Names of an old and a new string.
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
/// Lists of edits; some agents write a single one without its list.
const LISTS: [&str; 6] = [
    "edits",
    "edit",
    "changes",
    "replacements",
    "diffs",
    "ReplacementChunks",
];
/// Texts that may be patches.
const PATCHES: [&str; 5] = ["patch", "diff", "patchText", "input", "patch_text"];

/// The pairs of old and new strings that a tool's input asks for, in order.
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

/// The old and the new string of one edit.
fn pair_of(edit: &Tree) -> Option<(&str, &str)> {
    EDITS.iter().find_map(|(old, new)| {
        let text = |name: &str| edit.get(name).and_then(Tree::as_text).map(Text::as_str);
        match (text(old), text(new)) {
            (Some(old), new) => Some((old, new.unwrap_or_default())),
            (None, Some(new)) if edit.get(old).is_some() => Some(("", new)),
            (None, _) => None,
        }
    })
}

/// What a tool's input has a file written with.
pub(crate) fn content_of(input: &Tree) -> Option<&Text> {
    [
        "content",
        "contents",
        "file_text",
        "text",
        "data",
        "new_content",
        "CodeContent",
    ]
    .iter()
    .find_map(|name| input.get(name).and_then(Tree::as_text))
}

/// The text of a tool's input that is a patch, if any of it is.
pub(crate) fn patch_of(input: &Tree) -> Option<&str> {
    let text = |name: &str| input.get(name).and_then(Tree::as_text);
    // What a file is written with is seldom a patch, but some agents hand their blocks over under that name.
    let blocks = || text("content").filter(|text| text.trim_start().starts_with("<<<<<<< SEARCH"));
    let text = PATCHES
        .iter()
        .find_map(|name| text(name))
        .or_else(blocks)
        .or(input.as_text());
    text.map(Text::as_str)
        .or_else(|| patch_of_command(command_in(input)?).map(|(_, patch)| patch))
}

/// The command of a tool's input; of a list of words the last, which is what a shell is given.
fn command_in(input: &Tree) -> Option<&str> {
    let command = ["command", "cmd"].iter().find_map(|name| input.get(name))?;
    command
        .as_text()
        .or_else(|| command.items().last()?.as_text())
        .map(Text::as_str)
}

/// The patch that a shell command hands to `apply_patch`, if it does nothing else, and the folder that it goes to
/// first.
///
/// Codex takes such a command for a call of its tool: `apply_patch <<'EOF'`, perhaps behind `cd FOLDER &&`
/// (`codex-rs/apply-patch`).
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

/// The last line of a patch of the shape that OpenAI's models write.
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
