//! One entry after the other along a path: what the model has before it, and what the next request is judged by.

use std::collections::BTreeMap;

use super::weigh::{Class, Sizes, parts};
use super::{Compaction, ContextRow, Grown, Request, TokenCount};
use crate::analysis::context::cache_breaks::{Asked, Between, Cache};
use crate::analysis::context::seen::{self, Path};
use crate::analysis::context::{is_request, window_at};
use crate::model::entry::{BlockKind, Break, Entry, EntryId, Role, Sent};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// How Claude Code names what it runs when a session is opened again.
const OPENED_AGAIN: &str = "hook SessionStart:resume";

/// How agents begin the line that says how much the model is to think.
const THINKING: &str = "thinking";

/// What is known on the way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carry {
    /// What the model has before it.
    sizes: Sizes,
    /// What of it is dropped later, by when: results, and what another takes the place of.
    dropped: BTreeMap<Timestamp, Sizes>,
    /// What it had at the last request.
    asked: Sizes,
    /// Tokens of the last request with its answer.
    last: Option<(u64, u64)>,
    grown: Option<Grown>,
    cache: Cache,
    between: Between,
    /// A compaction whose summary is being written.
    pending: Option<EntryId>,
    /// Size and beginning of the system prompt, if the file holds it.
    system: Option<(u64, Text)>,
    /// Growth of prompts without compactions: bytes and tokens.
    pub(crate) growth: (u64, u64),
}

/// Where an entry stands.
pub struct Spot<'a> {
    /// The session.
    pub(crate) transcript: &'a Transcript,
    /// Entries of the lane.
    pub(crate) ids: &'a [EntryId],
    /// The place of the entry among them.
    pub(crate) place: usize,
}

impl Carry {
    /// Takes in the next entry; emits the rows that it makes.
    pub(crate) fn step(
        &mut self,
        spot: &Spot<'_>,
        id: EntryId,
        entry: &Entry,
        emit: &mut impl FnMut(ContextRow),
    ) {
        if entry.marks.copy {
            return;
        }
        self.note(id, entry);
        self.drop_results(entry.at);
        let is_answer = entry.role == Role::Assistant;
        let is_summary = is_answer && seen::is_summary(spot.transcript, entry);
        // A line without a summary asks the model for one: until it has answered, it sees all.
        if is_answer && !is_summary {
            self.drop_pending(spot, id);
        }
        if is_answer && is_request(entry) {
            self.request(spot.transcript, id, entry, is_summary, emit);
        }
        if let Some((before, after, is_partial)) = compaction(entry) {
            let recorded =
                |tokens: Option<u64>| tokens.map(|tokens| TokenCount { tokens, is_recorded: true });
            let asked = self.last.map(|(prompt, output)| prompt.saturating_add(output));
            let asked = asked.map(|tokens| TokenCount { tokens, is_recorded: false });
            let before = recorded(before).or(asked);
            emit(ContextRow::Compaction(Compaction {
                entry: id,
                before,
                after: recorded(after),
                is_partial,
            }));
            if is_partial {
                self.between.pruned = Some(id);
            } else {
                let says = entry.blocks.iter().any(|block| matches!(block.kind, BlockKind::Text(_)));
                self.pending = Some(id);
                if says {
                    self.drop_pending(spot, id);
                }
            }
        } else if is_summary {
            self.drop_pending(spot, id);
        }
        self.add(id, entry);
    }

    /// The session goes on from an earlier place of the path.
    pub(crate) fn rewind(&mut self) {
        self.between.rewind = true;
    }

    fn add(&mut self, id: EntryId, entry: &Entry) {
        for (block, class, bytes) in self.take_in(entry, entry.at) {
            if self.grown.is_none_or(|grown| grown.bytes < bytes) {
                self.grown = Some(Grown { entry: id, block, class, bytes });
            }
        }
    }

    /// Adds what the model sees of an entry from some time on.
    fn take_in(&mut self, entry: &Entry, now: Option<Timestamp>) -> Vec<(usize, Class, u64)> {
        let parts = parts(entry, now);
        for (block, class, bytes) in &parts {
            self.sizes.add(*class, *bytes);
            let block = entry.blocks.get(*block);
            if let Some(Sent::Until(end)) = block.map(|block| &block.sent)
                && (*class == Class::Result || block.is_some_and(|block| block.call().is_none()))
            {
                self.dropped.entry(*end).or_default().add(*class, *bytes);
            }
        }
        parts
    }

    /// Takes out what is dropped by now.
    fn drop_results(&mut self, now: Option<Timestamp>) {
        let Some(now) = now else { return };
        while let Some(first) = self.dropped.first_entry().filter(|first| *first.key() <= now) {
            let sizes = first.remove();
            for class in Class::ALL {
                self.sizes.remove(class, sizes.of(class));
            }
        }
    }

    /// What may have changed the beginning of the next prompt.
    fn note(&mut self, id: EntryId, entry: &Entry) {
        self.between.turn |= entry.marks.prompt || (entry.lane.is_some() && entry.role == Role::User);
        self.note_system(id, entry);
        for block in &entry.blocks {
            match &block.kind {
                BlockKind::Break(Break::Resumed(_)) => self.between.resumed = Some(id),
                BlockKind::Break(Break::Setting(words)) if words.starts_with(THINKING) => {
                    self.between.thinking = Some(id);
                }
                BlockKind::Raw(raw) if raw.title.starts_with(OPENED_AGAIN) => {
                    self.between.resumed = Some(id);
                }
                _ => {}
            }
        }
    }

    /// A system prompt that is recorded once more is no other one.
    fn note_system(&mut self, id: EntryId, entry: &Entry) {
        let bodies = || entry.blocks.iter().flat_map(|block| block.kind.bodies());
        let Some(first) = bodies().next().filter(|_| entry.role == Role::System) else { return };
        let size = bodies().fold(0, |sum: u64, body| sum.saturating_add(body.bytes.into()));
        let prompt = (size, first.stub.clone());
        if self.system.replace(prompt.clone()).is_some_and(|before| before != prompt) {
            self.between.instructions = Some(id);
        }
    }

    fn request(
        &mut self,
        transcript: &Transcript,
        id: EntryId,
        entry: &Entry,
        is_summary: bool,
        emit: &mut impl FnMut(ContextRow),
    ) {
        let Some(usage) = entry.usage.as_deref() else { return };
        let seen = usage.seen();
        let prompt = seen.prompt();
        let is_continued = self.between.compaction.is_none() && !self.between.rewind && !is_summary;
        let before = self.last.map(|(prompt, _)| prompt).filter(|_| is_continued);
        if let Some(before) = before
            && prompt > before
            && self.sizes.total() > self.asked.total()
        {
            self.growth.0 = self.growth.0.saturating_add(self.sizes.total() - self.asked.total());
            self.growth.1 = self.growth.1.saturating_add(prompt - before);
        }
        // Summaries are asked for with instructions of their own, which nothing of the session follows.
        let asked = Asked::of(usage, entry.model.as_ref(), entry.at);
        let cache_break = if is_summary { None } else { self.cache.ask(asked, &self.between) };
        emit(ContextRow::Request(Box::new(Request {
            entry: id,
            at: entry.at,
            prompt,
            read: seen.cache_read,
            write: seen.cache_write,
            output: seen.output,
            limit: window_at(transcript, entry, seen.context()),
            sizes: self.sizes,
            before,
            grown: self.grown.take(),
            cache_break,
            compacted: self.between.compaction,
            opens_turn: self.between.turn,
            is_summary,
        })));
        self.asked = self.sizes;
        self.last = Some((prompt, seen.output.unwrap_or(0)));
        self.between = Between::default();
    }

    /// The compaction takes effect: what it kept is left, and what came since.
    fn drop_pending(&mut self, spot: &Spot<'_>, here: EntryId) {
        let Some(compaction) = self.pending.take() else { return };
        self.sizes = Sizes::default();
        self.dropped = BTreeMap::new();
        self.grown = None;
        self.between.compaction = Some(compaction);
        let transcript = spot.transcript;
        let Some(end) = transcript.place_of(compaction) else { return };
        let first = seen::kept(transcript, compaction, end).unwrap_or(end);
        let path = Path::to(transcript, here);
        let now = transcript.get(here).and_then(|entry| entry.at);
        for id in spot.ids.iter().take(spot.place).rev() {
            let Some(place) = transcript.place_of(*id).filter(|place| *place >= first) else { break };
            let Some(entry) = transcript.get(*id) else { continue };
            let is_older = place < end && seen::is_compaction(entry);
            if !is_older && path.holds(transcript, *id, place) {
                self.take_in(entry, now);
            }
        }
    }
}

/// Tokens before and after, and whether only outputs were dropped.
fn compaction(entry: &Entry) -> Option<(Option<u64>, Option<u64>, bool)> {
    entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Break(Break::Compaction { before, after, partial, .. }) => {
            Some((*before, *after, *partial))
        }
        _ => None,
    })
}
