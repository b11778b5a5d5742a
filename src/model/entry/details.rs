//! Fields of a record that its entries do not show, and the block below which they are shown.

use std::collections::HashSet;

use crate::model::body::{Body, Tree};
use crate::model::entry::{BlockKind, Entry};
use crate::model::record::Origin;
use crate::model::text::Text;

/// Fields of a record that are shown nowhere else, or the whole record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Field paths with their values: `message.api`.
    pub(crate) fields: Vec<(Text, Tree)>,
    /// Bytes of texts left out because of the size limit.
    pub(crate) cut: u64,
    /// The whole record, if that was requested; `fields` is empty then.
    pub(crate) record: Option<(Origin, Tree)>,
}

impl Details {
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.cut == 0 && self.record.is_none()
    }
}

/// Which of a block's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockRecord {
    /// The record that brought the block.
    Block,
    /// The record that brought the result of the call.
    Result,
}

/// Records whose details are shown below a block of an entry: a record that brought several
/// consecutive blocks is shown below the last of them. Records without a block come below the last
/// block of the entry.
pub(crate) fn records_below(entry: &Entry, block: usize) -> Vec<(BlockRecord, Origin)> {
    let (own, result) = records_of(entry, block);
    let (next_own, next_result) = records_of(entry, block + 1);
    let own = own.filter(|own| Some(*own) != next_own);
    let result = result.filter(|result| Some(*result) != next_result && Some(*result) != next_own);
    let result = result.filter(|result| Some(*result) != own);
    let found = [
        own.map(|own| (BlockRecord::Block, own)),
        result.map(|result| (BlockRecord::Result, result)),
    ];
    let is_last = block + 1 == entry.blocks.len();
    let further = if is_last {
        without_blocks(entry)
    } else {
        Vec::new()
    };
    found
        .into_iter()
        .flatten()
        .chain(
            further
                .into_iter()
                .map(|record| (BlockRecord::Block, record)),
        )
        .collect()
}

/// Records without a block.
fn without_blocks(entry: &Entry) -> Vec<Origin> {
    if entry.records.is_empty() {
        return Vec::new();
    }
    let all = (0..entry.blocks.len()).map(|block| records_of(entry, block));
    let place = |record: &Origin| (record.file, record.at);
    let own: HashSet<_> = all
        .flat_map(|(own, result)| [own, result])
        .flatten()
        .map(|record| place(&record))
        .collect();
    entry
        .records
        .iter()
        .filter(|record| !own.contains(&place(record)))
        .copied()
        .collect()
}

fn records_of(entry: &Entry, block: usize) -> (Option<Origin>, Option<Origin>) {
    let from = |body: &Body| Some(body.from);
    match entry.blocks.get(block).map(|block| &block.kind) {
        None => (None, None),
        Some(BlockKind::Text(body) | BlockKind::Thinking(body)) => (from(body), None),
        Some(BlockKind::Raw(raw) | BlockKind::Aside(_, raw)) => (from(&raw.body), None),
        Some(BlockKind::Call(call)) => (
            from(&call.input),
            call.state.result().and_then(|result| from(&result.body)),
        ),
        Some(BlockKind::Result(stray)) => (None, from(&stray.result.body)),
        Some(BlockKind::Image(image)) => (Some(image.origin), None),
        Some(BlockKind::Break(_)) => (Some(entry.origin), None),
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockRecord, records_below};
    use crate::model::edit::Batch;
    use crate::model::entry::{BlockKind, Piece, Role};
    use crate::model::record::Origin;

    #[test]
    fn a_record_of_several_blocks_stands_below_the_last() {
        let mut out = Batch::default();
        let mut entry = out.new_entry("a".into(), Role::Assistant, None);
        let at = |at| Origin {
            at,
            ..Origin::default()
        };
        for record in [1, 1, 2] {
            out.begin_record(at(record));
            let body = out.prose("words");
            entry.push_piece(Piece(record), BlockKind::Text(body));
        }
        let found: Vec<_> = (0..4).map(|block| records_below(&entry, block)).collect();
        assert_eq!(
            found,
            [
                vec![],
                vec![(BlockRecord::Block, at(1))],
                vec![(BlockRecord::Block, at(2))],
                vec![]
            ]
        );
        entry.records = vec![at(7), at(1)];
        let below: Vec<_> = (0..4).map(|block| records_below(&entry, block)).collect();
        assert_eq!(
            below[2],
            [(BlockRecord::Block, at(2)), (BlockRecord::Block, at(7))],
            "what no block stands for comes last"
        );
        assert_eq!(below[..2], found[..2]);
    }
}
