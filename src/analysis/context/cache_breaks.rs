//! Cache misses: requests that read fewer tokens from the prompt cache than the request before had
//! left there, with the likely cause and the extra cost.
//!
//! A hit rate over a whole session hides them: within a turn nearly everything is read, so only the
//! first request of each turn shows whether the cache was of use.
//!
//! Invariant: a provider that does not cache, as far as the file shows, has no misses.

use crate::analysis::money::{models, prices};
use crate::model::entry::EntryId;
use crate::model::figures;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::usage::StepUsage;

/// Least tokens of a miss where the provider reports cache writes: below the smallest prefix that
/// any provider caches.
const LEAST_REPORTED: u64 = 1_024;
/// Least tokens of a miss where writes are not reported. Such caches consist of blocks of up to
/// this size, of which the last one is incomplete.
const LEAST_UNREPORTED: u64 = 4_096;
/// Lifetime in ms of a cache that was written for five minutes, or without saying for how long.
/// Each read renews it.
const SHORT_MS: u64 = 5 * 60 * 1000;
/// Lifetime in ms of a cache that was written for an hour.
const LONG_MS: u64 = 60 * 60 * 1000;

/// The cache usage of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheUse {
    pub(crate) model: Option<Name>,
    pub(crate) at: Option<Timestamp>,
    /// All tokens of the prompt.
    pub(crate) prompt: u64,
    /// Tokens read from the cache.
    pub(crate) read: u64,
    /// Tokens written to the cache.
    pub(crate) write: u64,
    /// Tokens among them that were written for an hour.
    pub(crate) write_1h: u64,
}

impl CacheUse {
    /// Of a request, with what it wrote to the cache for an hour.
    pub(crate) fn of(
        seen: &StepUsage,
        write_1h: u64,
        model: Option<&Name>,
        at: Option<Timestamp>,
    ) -> Self {
        let write = seen.cache_write.unwrap_or(0);
        Self {
            model: model.cloned(),
            at,
            prompt: seen.prompt(),
            read: seen.cache_read.unwrap_or(0),
            write,
            write_1h: write_1h.min(write),
        }
    }
}

/// The state of a lane's cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cache {
    last: Option<CacheUse>,
    /// Most tokens known to belong to the system prompt and the tools: what the first request read
    /// (others had written it), or what was left when all else was missed.
    fixed: u64,
    /// Whether the provider reports cache writes.
    reports_writes: bool,
    /// Whether anything was ever read or written.
    is_used: bool,
    /// Whether the last write lives for an hour.
    is_long: bool,
}

/// What happened between two requests of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Between {
    pub(crate) compaction: Option<EntryId>,
    /// Whether the session continued from an earlier entry.
    pub(crate) rewind: bool,
    /// The session was closed and opened again.
    pub(crate) resumed: Option<EntryId>,
    /// A system prompt or a list of tools was recorded, other than at the beginning.
    pub(crate) instructions: Option<EntryId>,
    /// Only outputs of tools were dropped.
    pub(crate) pruned: Option<EntryId>,
    /// The thinking effort was changed.
    pub(crate) thinking: Option<EntryId>,
    /// Whether a turn began.
    pub(crate) turn: bool,
}

/// The likely cause of a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The history was replaced by a summary.
    Compaction,
    /// Another model answered than before.
    Model,
    /// The session continued from an earlier entry.
    Rewind,
    /// No request came within the lifetime of the cache, in ms.
    Idle {
        /// Time since the last request.
        ms: u64,
        /// Lifetime of the cache.
        lifetime: u64,
    },
    /// The session was closed and opened again, which sends the history in another form.
    Resumed,
    /// The thinking effort was changed.
    Thinking,
    /// The history became shorter: old outputs of tools were dropped.
    Pruned {
        /// Whether the file says so; else only the prompt is smaller.
        is_recorded: bool,
    },
    /// The system prompt or the tools changed.
    Instructions {
        /// Whether the file records them; else less of the beginning was read than before.
        is_recorded: bool,
    },
    /// Only the beginning was read, which is the system prompt and the tools.
    History,
    /// Nothing in the file tells the cause.
    Unknown,
}

/// A request that paid again for tokens that had been in the cache.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CacheBreak {
    /// Tokens that the request before had left in the cache.
    pub(crate) cached: u64,
    /// Tokens of them that were read.
    pub(crate) read: u64,
    /// Most tokens of this prompt that were paid for again.
    pub(crate) repaid: u64,
    pub(crate) cause: Cause,
    /// Whether it happened within a turn.
    pub(crate) is_inside: bool,
    /// What these tokens cost beyond reading them, in USD by the price table: an estimate.
    pub(crate) usd: Option<f64>,
    /// Whether they were written to the cache again; else they were paid as plain input.
    pub(crate) is_written: bool,
}

impl Cause {
    pub(crate) fn words(self) -> String {
        match self {
            Self::Compaction => "compacted: another history is before the model".to_owned(),
            Self::Model => "another model, which has a cache of its own".to_owned(),
            Self::Rewind => "the session went on from an earlier place".to_owned(),
            Self::Idle {
                ms,
                lifetime: lives,
            } => {
                let (idle, lives) = (figures::duration(ms), figures::duration(lives));
                format!("idle for {idle}, longer than the {lives} that its cache was sure to live")
            }
            Self::Resumed => {
                "the session was opened again, which sends its history in another form".to_owned()
            }
            Self::Thinking => "told to think more or less".to_owned(),
            Self::Pruned { is_recorded: true } => "old outputs of tools were dropped".to_owned(),
            Self::Pruned { is_recorded: false } => {
                "the history was shortened, of which the file says nothing".to_owned()
            }
            Self::Instructions { is_recorded: true } => {
                "another system prompt or other tools".to_owned()
            }
            Self::Instructions { is_recorded: false } => {
                "not even the beginning was the same: other tools or another system prompt"
                    .to_owned()
            }
            Self::History => {
                "the beginning was read, but not the messages: they were sent in another form, or \
                              were gone from the cache"
                    .to_owned()
            }
            Self::Unknown => "unknown: the file tells nothing that explains it".to_owned(),
        }
    }
}

impl Cache {
    /// Judges the next request of the lane.
    pub(crate) fn add_request(&mut self, now: CacheUse, between: &Between) -> Option<CacheBreak> {
        let found = self
            .last
            .as_ref()
            .and_then(|last| self.judge(last, &now, between));
        let is_beginning = self.last.is_none()
            || found
                .as_ref()
                .is_some_and(|found| found.read <= found.cached / 2);
        if is_beginning {
            self.fixed = self.fixed.max(now.read);
        }
        self.reports_writes |= now.write > 0;
        self.is_used |= now.read > 0 || now.write > 0;
        if now.write > 0 {
            self.is_long = now.write_1h.saturating_mul(2) >= now.write;
        }
        self.last = Some(now);
        found
    }

    /// Tokens that the request before left in the cache. Where writes are reported, tokens that
    /// were neither read nor written stood behind the last cache mark and cannot be read; else the
    /// whole prompt can.
    fn cached(&self, last: &CacheUse) -> u64 {
        if self.reports_writes {
            last.read.saturating_add(last.write)
        } else if self.is_used {
            last.prompt
        } else {
            0
        }
    }

    fn judge(&self, last: &CacheUse, now: &CacheUse, between: &Between) -> Option<CacheBreak> {
        let held = self.cached(last);
        let least = if self.reports_writes {
            LEAST_REPORTED
        } else {
            LEAST_UNREPORTED
        };
        // A prompt that became smaller pays only for what is left of it.
        let again = held
            .saturating_sub(now.read)
            .min(now.prompt.saturating_sub(now.read));
        if again < least {
            return None;
        }
        Some(CacheBreak {
            cached: held,
            read: now.read,
            repaid: again,
            cause: self.cause(last, now, between, held),
            is_inside: !between.turn,
            usd: price(now, again),
            is_written: now.write > 0,
        })
    }

    fn cause(&self, last: &CacheUse, now: &CacheUse, between: &Between, held: u64) -> Cause {
        let name = |asked: &CacheUse| asked.model.as_ref().map(|name| models::canonical(name));
        let lives = if self.is_long { LONG_MS } else { SHORT_MS };
        let idle = last.at.zip(now.at).map_or(0, |(last, now)| now.since(last));
        // An expired cache is not read at all, except for what other sessions keep alive.
        let is_gone = now.read <= self.fixed.max(held / 2);
        let is_other = name(last)
            .zip(name(now))
            .is_some_and(|(last, now)| last != now);
        let is_smaller = now.prompt.saturating_add(LEAST_REPORTED) < last.prompt;
        if between.compaction.is_some() {
            Cause::Compaction
        } else if is_other {
            Cause::Model
        } else if between.rewind {
            Cause::Rewind
        } else if idle > lives && is_gone {
            Cause::Idle {
                ms: idle,
                lifetime: lives,
            }
        } else if between.instructions.is_some() {
            Cause::Instructions { is_recorded: true }
        } else if between.resumed.is_some() {
            Cause::Resumed
        } else if between.thinking.is_some() {
            Cause::Thinking
        } else if between.pruned.is_some() {
            Cause::Pruned { is_recorded: true }
        } else if is_smaller {
            Cause::Pruned { is_recorded: false }
        } else if now.read == 0 || !self.reports_writes {
            // Where the provider cuts the blocks, it may lose any of them.
            Cause::Unknown
        } else if now.read < self.fixed.saturating_sub(LEAST_REPORTED) {
            Cause::Instructions { is_recorded: false }
        } else {
            Cause::History
        }
    }
}

/// What tokens cost beyond reading them, in USD.
fn price(now: &CacheUse, tokens: u64) -> Option<f64> {
    let [input, _, read, short, long] = prices::of_model(now.model.as_ref()?)?.rates_of(now.prompt);
    let paid = if now.write == 0 {
        input
    } else if now.write_1h.saturating_mul(2) >= now.write {
        long
    } else {
        short
    };
    // Prices are in USD × 10⁻⁶ per million tokens.
    Some(tokens as f64 * paid.saturating_sub(read) as f64 / 1e12)
}

#[cfg(test)]
mod tests;
