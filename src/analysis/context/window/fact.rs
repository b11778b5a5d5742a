//! Facts of an entry that matter for the model's window.

use super::weigh::{self, ContextClass};
use crate::analysis::context::is_request;
use crate::analysis::money::prices::{self, Rates};
use crate::analysis::money::spending::amount::Amount;
use crate::model::body::Key;
use crate::model::edit::saturating_u32;
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::fingerprint::Print;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::model::usage::{StepUsage, Usage};

/// Name of the hook that Claude Code runs when a session is opened again.
const OPENED_AGAIN: &str = "hook SessionStart:resume";

/// Beginning of the lines in which agents record the thinking effort.
const THINKING: &str = "thinking";

/// The facts of an entry; of a copy only whether it is a compaction.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryFact {
    pub(super) at: Option<Timestamp>,
    pub(super) role: Role,
    pub(super) is_copy: bool,
    /// Whether it opens a turn, or is the task of a sub-agent.
    pub(super) opens_turn: bool,
    /// Whether the session was opened again here.
    pub(super) is_resumed: bool,
    /// Whether it changes the thinking effort.
    pub(super) sets_thinking: bool,
    /// Whether it has a text.
    pub(super) says: bool,
    /// Whether the history before it was replaced.
    pub(super) is_compaction: bool,
    /// The parent, for answers only.
    pub(super) parent: Option<Print>,
    /// What the model saw of it, without what is dropped later.
    pub(super) parts: Box<[SentEntryPart]>,
    pub(super) request: Option<Box<Prompted>>,
    pub(super) rare: Option<Box<Rare>>,
}

/// A part of an entry as the model saw it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SentEntryPart {
    pub(super) class: ContextClass,
    pub(super) block: u32,
    pub(super) bytes: u32,
}

/// What an answer records of its request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prompted {
    pub(super) seen: StepUsage,
    /// Tokens written to the cache for an hour.
    pub(super) write_1h: u64,
    pub(super) model: Option<Name>,
    pub(super) paid: Paid,
}

/// What a request cost, in pico-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Paid {
    /// The tokens of the prompt that were read from the cache.
    pub(super) cached: f64,
    /// All other tokens of the prompt.
    pub(super) uncached: f64,
    /// All of it, the answer included.
    pub(super) all: i128,
}

/// Prices relative to each other, in the order of [`Rates`], for requests with a recorded cost on a
/// model that is in no table.
const USUAL_RATES: Rates = [100, 500, 10, 125, 200];

impl Paid {
    fn of(usage: &Usage, model: Option<&Name>) -> Self {
        let prices = prices::of_model(model.map_or("", Name::as_str));
        let all = Amount::of(usage, prices).money.picos();
        let rates = prices.map_or(USUAL_RATES, |prices| {
            prices.rates_at(&prices.tier_of(usage))
        });
        let [input, output, read, short, long] = rates.map(|rate| rate as f64);
        let tokens = |count: Option<u64>| count.unwrap_or(0) as f64;
        let written = tokens(usage.cache_write);
        let written_1h = tokens(usage.cache_write_1h).min(written);
        let searches = prices.map_or(0, |prices| prices.search) as f64 * 1e6;
        let cached = tokens(usage.cache_read) * read;
        let uncached =
            tokens(usage.input) * input + (written - written_1h) * short + written_1h * long;
        let listed =
            cached + uncached + tokens(usage.output) * output + tokens(usage.searches) * searches;
        // A recorded cost is divided as list prices would divide it.
        let scale = if listed > 0.0 {
            all as f64 / listed
        } else {
            0.0
        };
        Self {
            cached: cached * scale,
            uncached: uncached * scale,
            all,
        }
    }
}

/// Facts that few entries have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rare {
    /// Parts that are dropped later, and when.
    pub(super) dropped: Vec<(Timestamp, SentEntryPart)>,
    pub(super) compacted: Option<Compacted>,
    /// Size in bytes and beginning of a system prompt.
    pub(super) system: Option<(u64, Text)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compacted {
    pub(super) key: Key,
    /// Tokens before and after it, if recorded.
    pub(super) before: Option<u64>,
    pub(super) after: Option<u64>,
    /// Whether only outputs of tools were dropped.
    pub(super) is_partial: bool,
}

impl EntryFact {
    pub(super) fn of(transcript: &Transcript, entry: &Entry) -> Option<Self> {
        let is_compaction = entry.is_compaction();
        if entry.marks.copy && !is_compaction {
            return None;
        }
        let (mut parts, mut rare) = (Vec::new(), Rare::default());
        for (block, class, bytes, until) in weigh::all_parts(entry) {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            let part = SentEntryPart {
                class,
                block: saturating_u32(block),
                bytes,
            };
            match until {
                Some(until) => rare.dropped.push((until, part)),
                None => parts.push(part),
            }
        }
        rare.compacted = compacted(entry);
        rare.system = system(entry);
        let is_rare = !rare.dropped.is_empty() || rare.compacted.is_some() || rare.system.is_some();
        let parent = entry
            .parent
            .as_ref()
            .filter(|_| entry.role == Role::Assistant);
        Some(Self {
            at: entry.at,
            role: entry.role,
            is_copy: entry.marks.copy,
            opens_turn: entry.marks.prompt || (entry.lane.is_some() && entry.role == Role::User),
            is_resumed: entry.has(|kind| match kind {
                BlockKind::Break(Break::Resumed(_)) => true,
                BlockKind::Raw(raw) => raw.title.starts_with(OPENED_AGAIN),
                _ => false,
            }),
            sets_thinking: entry.has(|kind| match kind {
                BlockKind::Break(Break::Setting(words)) => words.starts_with(THINKING),
                _ => false,
            }),
            says: entry.has(|kind| matches!(kind, BlockKind::Text(_))),
            is_compaction,
            parent: parent.map(|parent| transcript.print_of(parent)),
            parts: parts.into(),
            request: prompted(entry),
            rare: is_rare.then(|| Box::new(rare)),
        })
    }

    pub(super) fn compacted(&self) -> Option<&Compacted> {
        self.rare.as_ref()?.compacted.as_ref()
    }

    /// What the model saw of the entry at a time, with the time when a part is dropped. Without a
    /// time every part that is ever dropped counts as dropped.
    pub(super) fn parts_at(
        &self,
        now: Option<Timestamp>,
    ) -> impl Iterator<Item = (SentEntryPart, Option<Timestamp>)> {
        let dropped = self.rare.iter().flat_map(|rare| &rare.dropped);
        let later = dropped.filter(move |(until, _)| now.is_some_and(|now| *until > now));
        let stays = self.parts.iter().map(|part| (*part, None));
        stays.chain(later.map(|(until, part)| (*part, Some(*until))))
    }
}

/// The first compaction of an entry, or one that only dropped outputs of tools.
fn compacted(entry: &Entry) -> Option<Compacted> {
    entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Break(Break::Compaction {
            before,
            after,
            partial,
            ..
        }) => Some(Compacted {
            key: entry.key.clone(),
            before: *before,
            after: *after,
            is_partial: *partial,
        }),
        _ => None,
    })
}

fn system(entry: &Entry) -> Option<(u64, Text)> {
    let bodies = || entry.blocks.iter().flat_map(|block| block.kind.bodies());
    let first = bodies().next().filter(|_| entry.role == Role::System)?;
    let size = bodies().fold(0, |sum: u64, body| sum.saturating_add(body.bytes.into()));
    Some((size, first.stub.clone()))
}

fn prompted(entry: &Entry) -> Option<Box<Prompted>> {
    let is_it = entry.role == Role::Assistant && is_request(entry);
    let usage = entry.usage.as_ref().filter(|_| is_it)?;
    let write_1h = usage.cache_write_1h.unwrap_or(0);
    Some(Box::new(Prompted {
        seen: usage.last_step(),
        write_1h,
        model: entry.model.clone(),
        paid: Paid::of(usage, entry.model.as_ref()),
    }))
}
