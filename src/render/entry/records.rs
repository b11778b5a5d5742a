//! Whole records at level 5: which blocks they contain line for line, so that these blocks need
//! only a head row.
//!
//! Text that was streamed in many small records is in none of them as a whole, so its block has all
//! its rows.

use std::collections::HashSet;

use crate::model::body::Body;
use crate::model::entry::{Block, BlockKind};
use crate::model::fingerprint::hash_of;
use crate::model::text::without_sgr;
use crate::render::json;
use crate::render::row::{Item, Level, Look};

/// Hashes of the lines of all strings in an entry's records.
pub struct RecordHashes {
    lines: HashSet<u64>,
}

impl RecordHashes {
    /// Hashes the records that were read; `None` below level 5.
    pub(crate) fn of(item: &Item<'_>, look: &Look<'_>) -> Option<Self> {
        let records = item
            .details
            .iter()
            .filter_map(|(_, details)| details.record.as_ref());
        let records = records.map(|(_, tree)| tree);
        let mut records = records.filter(|_| look.level == Level::Raw).peekable();
        records.peek()?;
        let mut lines = HashSet::new();
        for record in records {
            record.each_text(&mut |text| {
                lines.extend(prints(text));
                // Arguments are often JSON within a string.
                if let Some(inner) = json::parse(text) {
                    inner.each_text(&mut |text| lines.extend(prints(text)));
                }
            });
        }
        Some(Self { lines })
    }

    /// Whether the records contain all lines of a block.
    pub(crate) fn contain(&self, block: &Block) -> bool {
        block.kind.bodies().all(|body| self.contain_body(body))
            && !matches!(&block.kind, BlockKind::Call(call) if call.state.live_output().is_some())
    }

    fn contain_body(&self, body: &Body) -> bool {
        match (body.text(), body.tree()) {
            _ if body.is_on_disk() => false,
            (Some(text), _) => self.have(text),
            (None, Some(tree)) => {
                let mut is_contained = true;
                tree.each_text(&mut |text| is_contained = is_contained && self.have(text));
                is_contained
            }
            (None, None) => true,
        }
    }

    fn have(&self, text: &str) -> bool {
        prints(text).iter().all(|print| self.lines.contains(print))
    }
}

/// Hashes of the lines of a text, without colours and surrounding blanks.
fn prints(text: &str) -> Vec<u64> {
    let plain = without_sgr(text);
    plain
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(hash_of)
        .collect()
}
