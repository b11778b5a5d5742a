//! The sheet of a page: time spans and facts of its entries, by turn.

use super::class::{Class, Sums, TimeSpan};
use super::figures::Figures;
use super::sweep::{self, WorkCorrection, sweep};
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;

/// What is computed of a page.
#[derive(Clone, Debug, Default)]
pub struct PageTimes {
    /// The state after the page.
    pub(super) exit: PageState,
    /// Time spans, in the order of the entries.
    spans: Box<[SpanRow]>,
    /// Start and end of the spans.
    pub(crate) reach: Option<(Timestamp, Timestamp)>,
    /// Facts by turn, in file order.
    pub(crate) parts: Box<[TurnPart]>,
    /// The time before prompts, which belongs to no turn.
    pub(crate) pauses: Sums,
    /// Durations that the agent itself recorded, with the index of their entry in the page.
    pub(crate) corrections: Vec<(usize, WorkCorrection)>,
}

/// A time span at half its size: it begins where the one before ended. Aligned so that it has no
/// gap at its end.
#[repr(Rust, packed(2))]
#[derive(Clone, Copy, Debug)]
struct SpanRow {
    to: Timestamp,
    /// The block of the call that ran, from 1; 0 without a call.
    block: u32,
    /// Index of the entry in the page.
    at: u8,
    /// `None` for a gap before the next span, or a clock that was set back.
    class: Option<Class>,
}

/// Entries of a page that belong to one turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnPart {
    /// The prompt of the turn; `None` before the first prompt, and in lanes of sub-agents.
    pub(crate) prompt: Option<EntryId>,
    pub(crate) entries: u32,
    /// Number of copies among the entries.
    pub(crate) copies: u32,
    pub(crate) facts: TurnFacts,
    /// Time by class, allocated on demand: a session may have a million prompts of one word.
    time: Option<Box<Sums>>,
}

impl TurnPart {
    fn of(prompt: Option<EntryId>) -> Self {
        Self {
            prompt,
            ..Self::default()
        }
    }

    /// Adds it to the figures of the parts before.
    pub(crate) fn add_to(&self, figures: &mut Figures) {
        figures.facts.merge(&self.facts);
        self.time.iter().for_each(|time| figures.time.merge(time));
    }
}

impl PageTimes {
    /// The spans, each with the index of its entry among `ids`, the entries of the page.
    pub(crate) fn spans(&self, ids: &[EntryId]) -> impl Iterator<Item = (usize, TimeSpan)> {
        let mut until = Timestamp(0);
        self.spans.iter().filter_map(move |row| {
            let from = std::mem::replace(&mut until, row.to);
            let at = usize::from(row.at);
            let span = TimeSpan {
                from,
                to: row.to,
                class: row.class?,
                entry: *ids.get(at)?,
                block: row.block.checked_sub(1),
            };
            Some((at, span))
        })
    }

    /// The time of all parts and pauses.
    pub(crate) fn time(&self) -> Sums {
        let mut sums = self.pauses;
        self.parts
            .iter()
            .flat_map(|part| &part.time)
            .for_each(|time| sums.merge(time));
        sums
    }
}

/// The state before an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageState {
    time: sweep::TimeState,
    prompt: Option<EntryId>,
}

/// Judges the entries of a page; `carry` is the state before it.
pub(super) fn judge(transcript: &Transcript, ids: &[EntryId], mut carry: PageState) -> PageTimes {
    let mut sheet = PageTimes::default();
    let (mut spans, mut parts) = (Vec::new(), Vec::new());
    let mut part = TurnPart::of(carry.prompt);
    let mut until = Timestamp(0);
    for (place, id) in ids.iter().enumerate() {
        let Some(entry) = transcript.get(*id) else {
            continue;
        };
        let is_prompt = entry.marks.prompt && transcript.is_main_lane(entry.lane.as_ref());
        if is_prompt {
            carry.prompt = Some(*id);
            let before = std::mem::replace(&mut part, TurnPart::of(carry.prompt));
            parts.extend(Some(before).filter(|before| before.entries > 0));
        }
        part.entries += 1;
        part.copies += u32::from(entry.marks.copy);
        part.facts.add(entry);
        let said = sweep(transcript, &mut carry.time, *id, entry, &mut |span| {
            let is_pause = is_prompt && span.block.is_none();
            if is_pause {
                sheet.pauses.add(span.class, span.ms());
            } else if span.ms() > 0 {
                part.time.get_or_insert_default().add(span.class, span.ms());
            }
            let (from, to) = sheet.reach.unwrap_or((span.from, span.to));
            sheet.reach = Some((from.min(span.from), to.max(span.to)));
            let row = SpanRow {
                to: span.to,
                block: span.block.map_or(0, |block| block.saturating_add(1)),
                at: u8::try_from(place).unwrap_or(u8::MAX),
                class: Some(span.class),
            };
            let gap = SpanRow {
                to: span.from,
                class: None,
                ..row
            };
            spans.extend(Some(gap).filter(|_| span.from != until));
            spans.push(row);
            until = span.to;
        });
        if let Some(said) = said {
            said.add_to(part.time.get_or_insert_default());
            sheet.corrections.push((place, said));
        }
    }
    parts.push(part);
    PageTimes {
        exit: carry,
        // Copied, because the allocator leaves a block that shrinks by less than half all its room.
        spans: spans.as_slice().into(),
        parts: parts.into(),
        ..sheet
    }
}
