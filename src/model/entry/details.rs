//! What a record holds that its entries tell nowhere else, and below which of their blocks it is shown.

use std::collections::HashSet;

use crate::model::body::{Body, Tree};
use crate::model::entry::{BlockKind, Entry};
use crate::model::record::Origin;
use crate::model::text::Text;

/// Fields of a record that nothing else tells, or all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Their paths with what they hold: `message.api`.
    pub(crate) fields: Vec<(Text, Tree)>,
    /// Bytes of texts that were too much to be taken along.
    pub(crate) cut: u64,
    /// All of the record, if that is what was asked for. It has no other fields then.
    pub(crate) record: Option<(Origin, Tree)>,
}

impl Details {
    /// Whether there is nothing to tell.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.cut == 0 && self.record.is_none()
    }
}

/// Which of a block's records it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The one that brought it.
    Block,
    /// The one that brought the result of the call.
    Result,
}

/// The records whose details stand below a block of an entry: of a record that brought several blocks in a row below
/// the last one. Those for which no block stands come below the last of all.
pub(crate) fn records_below(entry: &Entry, block: usize) -> Vec<(Of, Origin)> {
    let (own, result) = records_of(entry, block);
    let (next_own, next_result) = records_of(entry, block + 1);
    let own = own.filter(|own| Some(*own) != next_own);
    let result = result.filter(|result| Some(*result) != next_result && Some(*result) != next_own);
    let result = result.filter(|result| Some(*result) != own);
    let found = [
        own.map(|own| (Of::Block, own)),
        result.map(|result| (Of::Result, result)),
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
        .chain(further.into_iter().map(|record| (Of::Block, record)))
        .collect()
}

/// The records for which no block stands.
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
    use super::{Of, records_below};
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
                vec![(Of::Block, at(1))],
                vec![(Of::Block, at(2))],
                vec![]
            ]
        );
        entry.records = vec![at(7), at(1)];
        let below: Vec<_> = (0..4).map(|block| records_below(&entry, block)).collect();
        assert_eq!(
            below[2],
            [(Of::Block, at(2)), (Of::Block, at(7))],
            "what no block stands for comes last"
        );
        assert_eq!(below[..2], found[..2]);
    }
}
