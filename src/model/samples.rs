//! Minimal calls and results for tests.

use super::body::Tree;
use super::edit::Batch;
use super::text::Text;
use super::timestamp::Timestamp;
use super::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};

/// A pending call of the shell.
pub(crate) fn call(out: &mut Batch, key: &str) -> ToolCall {
    ToolCall {
        key: Text::clean(key),
        name: Text::from("bash"),
        kind: ToolKind::Run,
        headline: Text::default(),
        input: out.tree(&Text::default(), 0, || Tree::Null),
        state: ToolState::Pending,
        started: None,
        lane: None,
    }
}

/// A result with the output `done`.
pub(crate) fn result(out: &mut Batch, key: &str, at: Option<Timestamp>) -> ToolResult {
    ToolResult::new(Text::clean(key), Verdict::Done, out.output("done"), at)
}
