//! The spans of time of a page, in a quarter of the room.

use super::{Class, TimeSpan};
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// Spans in the order of the entries that they end with; all are of one page.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    list: Vec<Short>,
    tools: Vec<Name>,
    /// The beginning of the first one, in ms as all timestamps.
    base: i64,
    /// Beginning and end of those that are too far from it, or too long, by their places in the list.
    far: Vec<(usize, Timestamp, Timestamp)>,
}

/// A span as it is kept.
#[derive(Clone, Copy, Debug)]
struct Short {
    /// ms since the base, or [`FAR`].
    from: u32,
    ms: u32,
    /// The block of the call, or [`NONE`].
    block: u32,
    /// Place of the tool in the list of tools; one beyond its end if there is none.
    tool: u16,
    class: Class,
    /// Place of the entry in its page.
    place: u8,
}

const FAR: u32 = u32::MAX;
const NONE: u32 = u32::MAX;

impl Kept {
    /// Adds a span that belongs to the entry at this place of the page.
    pub(crate) fn push(&mut self, place: u8, span: &TimeSpan) {
        if self.list.is_empty() {
            self.base = span.from.0;
        }
        let since = span.from.0.checked_sub(self.base).and_then(|ms| u32::try_from(ms).ok());
        let since = since.filter(|since| *since != FAR);
        let (from, ms) = since.zip(u32::try_from(span.ms()).ok()).unwrap_or_else(|| {
            self.far.push((self.list.len(), span.from, span.to));
            (FAR, 0)
        });
        let block = span.block.and_then(|block| u32::try_from(block).ok()).unwrap_or(NONE);
        let tool = span.tool.as_ref().map_or(usize::from(u16::MAX), |name| self.tool(name));
        let tool = u16::try_from(tool).unwrap_or(u16::MAX);
        self.list.push(Short { from, ms, block, tool, class: span.class, place });
    }

    fn tool(&mut self, name: &Name) -> usize {
        self.tools.iter().position(|known| known == name).unwrap_or_else(|| {
            self.tools.push(name.clone());
            self.tools.len() - 1
        })
    }

    /// Gives back the room that was taken for more.
    pub(crate) fn fit(&mut self) {
        self.list.shrink_to_fit();
        self.tools.shrink_to_fit();
        self.far.shrink_to_fit();
    }

    /// All spans, with the places of their entries in the page; `ids` are those of the page.
    pub(crate) fn iter<'a>(
        &'a self,
        ids: &'a [EntryId],
    ) -> impl Iterator<Item = (usize, TimeSpan)> + use<'a> {
        (0..self.list.len()).filter_map(|at| self.get(at, ids))
    }

    /// Those of one entry.
    pub(crate) fn of_entry<'a>(
        &'a self,
        place: usize,
        ids: &'a [EntryId],
    ) -> impl Iterator<Item = TimeSpan> + use<'a> {
        let first = self.list.partition_point(|short| usize::from(short.place) < place);
        let own = (first..self.list.len()).map_while(move |at| self.get(at, ids));
        own.take_while(move |(at, _)| *at == place).map(|(_, span)| span)
    }

    fn get(&self, at: usize, ids: &[EntryId]) -> Option<(usize, TimeSpan)> {
        let short = self.list.get(at)?;
        let far = self.far.iter().find(|(far, ..)| short.from == FAR && *far == at);
        let (from, to) = far.map_or_else(
            || {
                let from = self.base + i64::from(short.from);
                (Timestamp(from), Timestamp(from + i64::from(short.ms)))
            },
            |(_, from, to)| (*from, *to),
        );
        let place = usize::from(short.place);
        let span = TimeSpan {
            from,
            to,
            class: short.class,
            tool: self.tools.get(usize::from(short.tool)).cloned(),
            entry: *ids.get(place)?,
            block: usize::try_from(short.block).ok().filter(|_| short.block != NONE),
        };
        Some((place, span))
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Kept, TimeSpan};
    use crate::model::entry::EntryId;
    use crate::model::text::Name;
    use crate::model::timestamp::Timestamp;

    #[test]
    fn what_is_kept_is_what_was_pushed() {
        const YEAR: i64 = 365 * 24 * 3_600_000;
        let ids: Vec<EntryId> = (7..11).map(EntryId).collect();
        let span_at = |at: u8, from: i64, to: i64, tool: Option<&str>, block: Option<usize>| {
            let (class, tool) = (Class::ALL[usize::from(at)], tool.map(Name::from));
            let entry = ids[usize::from(at)];
            (at, TimeSpan { from: Timestamp(from), to: Timestamp(to), class, tool, entry, block })
        };
        let all = [
            span_at(0, 1_000, 1_500, None, None),
            span_at(0, 1_500, 2_500, Some("Bash"), Some(0)),
            span_at(1, 2_500, 2_500 + YEAR, None, None),
            // The clock was set back.
            span_at(1, 10, 20, Some("Read"), Some(70_000)),
            span_at(3, YEAR, YEAR + 5, Some("Bash"), Some(2)),
            span_at(3, 30_000, 31_000, None, None),
        ];
        let mut kept = Kept::default();
        for (place, span) in &all {
            kept.push(*place, span);
        }
        kept.fit();
        let expected: Vec<(usize, TimeSpan)> =
            all.iter().map(|(place, span)| (usize::from(*place), span.clone())).collect();
        assert_eq!(kept.iter(&ids).collect::<Vec<_>>(), expected);
        for place in 0..4 {
            let own = expected.iter().filter(|(at, _)| *at == place).map(|(_, span)| span.clone());
            assert_eq!(kept.of_entry(place, &ids).collect::<Vec<_>>(), own.collect::<Vec<_>>());
        }
    }
}
