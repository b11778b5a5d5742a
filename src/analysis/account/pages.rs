//! What is kept of the entries of a page: whose time it was, and what happened, turn by turn.

use std::ops::Range;

use super::class::{Sums, TimeSpan};
use super::figures::Figures;
use super::sweep::{self, Said, sweep};
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;

/// Entries to be judged.
pub struct Page<'a> {
    /// Those of the lane, in the order of the file.
    pub(crate) lane: &'a [EntryId],
    /// The places of the page's own among them.
    pub(crate) own: Range<usize>,
}

impl Page<'_> {
    /// The page's own entries.
    pub(crate) fn ids(&self) -> &[EntryId] {
        self.lane.get(self.own.clone()).unwrap_or_default()
    }
}

/// What is kept of a page.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Whose time it was, in the order of the entries.
    pub(crate) spans: Box<[TimeSpan]>,
    /// From when to when these reach.
    pub(crate) reach: Option<(Timestamp, Timestamp)>,
    /// What happened, by turn, in the order of the file.
    pub(crate) parts: Box<[TurnPart]>,
    /// The time before prompts, which belongs to no turn.
    pub(crate) pauses: Sums,
    /// What the agent itself says of time, with the place in the page of the entry that says so.
    pub(crate) said: Vec<(usize, Said)>,
}

/// Entries of a page that belong to one turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnPart {
    /// The prompt of the turn; none before the first one, and in lanes of sub-agents.
    pub(crate) prompt: Option<EntryId>,
    /// How many there are.
    pub(crate) entries: u32,
    /// How many of them are copies.
    pub(crate) copies: u32,
    /// What happened.
    pub(crate) facts: TurnFacts,
    /// Whose time it was, if it took any: a session may have a million prompts of a word.
    time: Option<Box<Sums>>,
}

impl TurnPart {
    fn of(prompt: Option<EntryId>) -> Self {
        Self {
            prompt,
            ..Self::default()
        }
    }

    /// Adds it to what came before.
    pub(crate) fn add_to(&self, figures: &mut Figures) {
        figures.facts.join(&self.facts);
        self.time.iter().for_each(|time| figures.time.join(time));
    }
}

impl Sheet {
    /// What happened.
    pub(crate) fn facts(&self) -> TurnFacts {
        let mut facts = TurnFacts::default();
        self.parts.iter().for_each(|part| facts.join(&part.facts));
        facts
    }

    /// Whose time it was.
    pub(crate) fn time(&self) -> Sums {
        let mut sums = self.pauses;
        self.parts
            .iter()
            .flat_map(|part| &part.time)
            .for_each(|time| sums.join(time));
        sums
    }
}

/// What is known before an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carry {
    time: sweep::Carry,
    prompt: Option<EntryId>,
}

/// Judges a page; what is known before it becomes what is known behind it.
pub(super) fn judge(transcript: &Transcript, page: &Page<'_>, carry: &mut Carry) -> Sheet {
    let mut sheet = Sheet::default();
    let (mut spans, mut parts) = (Vec::new(), Vec::new());
    let mut part = TurnPart::of(carry.prompt);
    for (place, id) in page.ids().iter().enumerate() {
        let Some(entry) = transcript.get(*id) else {
            continue;
        };
        let is_prompt = entry.marks.prompt && transcript.is_spoken_to(entry.lane.as_ref());
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
                sheet.pauses.spend(span.class, span.ms());
            } else if span.ms() > 0 {
                part.time
                    .get_or_insert_default()
                    .spend(span.class, span.ms());
            }
            let (from, to) = sheet.reach.unwrap_or((span.from, span.to));
            sheet.reach = Some((from.min(span.from), to.max(span.to)));
            spans.push(span);
        });
        if let Some(said) = said {
            said.add_to(part.time.get_or_insert_default());
            sheet.said.push((place, said));
        }
    }
    parts.push(part);
    Sheet {
        spans: spans.into(),
        parts: parts.into(),
        ..sheet
    }
}
