//! What a call did to a file, or what it saw of it, as far as its input and its result determine
//! that.

use std::sync::Arc;

use itertools::Itertools as _;

use super::uses::Op;
use crate::model::body::Tree;
use crate::model::change::{self, DiffLine, LineSign};
use crate::model::path::listed;
use crate::model::text::split_number;
use crate::model::tool::{self, ToolCall};

/// Fields by which a call asks for a part of a file.
const PARTS: [&str; 12] = [
    "offset",
    "limit",
    "view_range",
    "range",
    "ranges",
    "start_line",
    "end_line",
    "startLine",
    "endLine",
    "StartLine",
    "EndLine",
    "pages",
];
/// Fields by which a call replaces all occurrences of a text.
const ALL: [&str; 5] = [
    "replace_all",
    "replaceAll",
    "allow_multiple",
    "AllowMultiple",
    "all",
];
/// Tools cut off files with more lines, and longer lines.
const LONG: (usize, usize) = (2_000, 2_000);

/// What a call did to a file, or saw of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FileStep {
    /// It wrote the whole file.
    Write {
        content: String,
        /// Whether there was no such file before.
        is_new: bool,
    },
    /// It removed the file.
    Delete,
    /// It replaced texts by others.
    Replace {
        /// The old and new texts, in order.
        pairs: Vec<(String, String)>,
        /// Whether each stands for all places where it occurs.
        is_all: bool,
        /// The change as the agent recorded it.
        recorded: Vec<Hunk>,
    },
    /// It applied a patch.
    Patch(Vec<Hunk>),
    Read {
        /// The number of the first, from 1.
        from: usize,
        /// The lines without their ends.
        lines: Vec<String>,
        /// Whether these are all.
        is_whole: bool,
    },
    /// The agent recorded what the file was before it.
    Before(String),
    /// It changed the file in a way that is not recorded.
    Unknown,
}

/// Lines of a patch that stand together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hunk {
    /// The number of the first line in the changed file, from 1.
    pub(crate) at: Option<usize>,
    /// The line under which it stands.
    pub(crate) anchor: Option<String>,
    pub(crate) lines: Vec<(LineSign, String)>,
}

impl Hunk {
    /// The added lines, as one text.
    pub(crate) fn added(&self) -> String {
        let added = self
            .lines
            .iter()
            .filter(|(sign, _)| *sign == LineSign::Added);
        added.map(|(_, text)| text.as_str()).join("\n")
    }

    /// The lines of the old file (`Removed`) or of the new one (`Added`).
    pub(super) fn side(&self, side: LineSign) -> Vec<Arc<str>> {
        let own = self
            .lines
            .iter()
            .filter(|(sign, _)| *sign == LineSign::Same || *sign == side);
        own.map(|(_, text)| ended(text)).collect()
    }
}

/// What a call did to the file with this path; `None` if it neither changed nor showed it.
pub(crate) fn step_of(call: &ToolCall, path: &str, (op, by_shell): (Op, bool)) -> Option<FileStep> {
    match (op, by_shell) {
        (Op::Grep, _) | (Op::Read, true) => None,
        (Op::Read, false) => read_of(call),
        (Op::Edit | Op::Write, true) => Some(FileStep::Unknown),
        (Op::Edit | Op::Write, false) => Some(change_of(call, path, op)),
    }
}

fn change_of(call: &ToolCall, path: &str, op: Op) -> FileStep {
    let input = call.input.tree();
    let content = input
        .and_then(tool::content_of)
        .filter(|_| op == Op::Write && is_alone(call));
    if let Some(content) = content {
        let said = call.state.result().map(|result| &result.body.stub);
        return FileStep::Write {
            content: content.to_string(),
            is_new: said.is_some_and(|said| said.to_lowercase().contains("created")),
        };
    }
    let hunks = |lines: Option<Vec<DiffLine>>| {
        let lines = lines.unwrap_or_default();
        hunks_of(change::of_file(&lines, path))
    };
    let recorded = hunks(change::recorded(call));
    let pairs = input.map(tool::replacements_of).unwrap_or_default();
    if !pairs.is_empty() && is_alone(call) {
        return FileStep::Replace {
            pairs: pairs
                .into_iter()
                .map(|(old, new)| (old.to_owned(), new.to_owned()))
                .collect(),
            is_all: input.is_some_and(replaces_all),
            recorded,
        };
    }
    let lines = change::requested(call).unwrap_or_default();
    let own = change::of_file(&lines, path);
    let head = own.first().filter(|line| line.sign == LineSign::File);
    if head.is_some_and(|head| head.text().ends_with(change::DELETED)) {
        return FileStep::Delete;
    }
    let asked = hunks_of(own);
    let is_new = head.is_some_and(|head| head.text().ends_with(change::NEW));
    match asked.as_slice() {
        [hunk] if is_new => FileStep::Write {
            content: hunk.side(LineSign::Added).concat(),
            is_new,
        },
        [] if recorded.is_empty() => FileStep::Unknown,
        [] => FileStep::Patch(recorded),
        _ => FileStep::Patch(asked),
    }
}

/// Whether a call is about one file.
fn is_alone(call: &ToolCall) -> bool {
    listed(&call.headline).nth(1).is_none()
}

fn replaces_all(input: &Tree) -> bool {
    let is_set = |name: &str| matches!(input.get(name), Some(Tree::Bool(true)));
    let below = match input {
        Tree::Map(members) => members.iter().any(|(_, value)| match value {
            Tree::List(items) => items.iter().any(replaces_all),
            Tree::Map(_) => replaces_all(value),
            _ => false,
        }),
        _ => false,
    };
    ALL.iter().any(|name| is_set(name)) || below
}

/// The hunks of a file in a patch.
fn hunks_of(lines: &[DiffLine]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut next = Some(None);
    for line in lines {
        let text = line.text();
        match line.sign {
            LineSign::File => next = Some(None),
            // `\ No newline at end of file` is no line of it.
            LineSign::Note if text.starts_with('\\') => {}
            LineSign::Note => next = Some(Some(text).filter(|text| !text.trim().is_empty())),
            sign => {
                if let Some(anchor) = next.take() {
                    hunks.push(Hunk {
                        at: None,
                        anchor,
                        lines: Vec::new(),
                    });
                }
                if let Some(hunk) = hunks.last_mut() {
                    hunk.at = hunk.at.or(line.new.map(|number| number as usize));
                    hunk.lines.push((sign, text));
                }
            }
        }
    }
    hunks
}

/// The lines that a call showed.
fn read_of(call: &ToolCall) -> Option<FileStep> {
    if !is_alone(call) {
        return None;
    }
    let body = call.state.result()?.body.text()?;
    let asks_for_part = call
        .input
        .tree()
        .is_none_or(|input| PARTS.iter().any(|name| input.get(name).is_some()));
    let mut from = None;
    let mut lines: Vec<String> = Vec::new();
    let mut rest = body.lines();
    for line in rest.by_ref() {
        let Some((number, text)) = number_of(line) else {
            // Some tools say something above.
            if from.is_none() && (line.starts_with('<') || line.is_empty()) {
                continue;
            }
            break;
        };
        let first = *from.get_or_insert(number);
        if number != first + lines.len() {
            break;
        }
        lines.push(text.to_owned());
    }
    let from = from.filter(|from| *from > 0)?;
    // A line that was cut off is not the line of the file.
    if lines.iter().any(|line| line.len() >= LONG.1) {
        return None;
    }
    let is_said_to_end = |line: &str| {
        line.trim().is_empty() || line.starts_with('<') || line.starts_with("(End of file")
    };
    let is_whole = from == 1
        && !asks_for_part
        && lines.len() < LONG.0
        && rest.next().is_none_or(is_said_to_end);
    Some(FileStep::Read {
        from,
        lines,
        is_whole,
    })
}

/// The number of a line and its text, also as Copilot writes them: `12. text`.
fn number_of(line: &str) -> Option<(usize, &str)> {
    let (number, text) = match split_number(line) {
        ("", _) => {
            let (number, text) = line.split_once('.')?;
            (number, text.strip_prefix(' ').unwrap_or(text))
        }
        parts => parts,
    };
    Some((number.parse().ok()?, text))
}

/// A line with its line end.
pub(super) fn ended(text: &str) -> Arc<str> {
    Arc::from(format!("{text}\n"))
}
