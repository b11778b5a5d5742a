//! What counts as an error wherever one looks for them: filters, alarms, searches, landmarks.

use crate::model::entry::{Block, BlockKind, Break};
use crate::model::tool::ToolState;

/// Whether a block is an error to stop at: failed calls, strays, errors of the agent, broken records.
pub fn is_error(block: &Block) -> bool {
    match &block.kind {
        BlockKind::Call(call) => matches!(call.state, ToolState::Failed(_)),
        BlockKind::Result(_) | BlockKind::Break(Break::Error(_)) => true,
        BlockKind::Raw(raw) => ["broken record", "incomplete record", "not JSON"]
            .iter()
            .any(|title| raw.title.starts_with(title)),
        BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Image(_) | BlockKind::Break(_) => false,
    }
}
