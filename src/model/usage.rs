//! What was spent: tokens and money of one request, and sums of them.

use serde::{Deserialize, Serialize};

use super::text::Name;

/// Tokens of one request or of a run. `None` is "not recorded", which is not 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// What this usage speaks of.
    pub scope: Scope,
    /// Input tokens without cache reads and writes.
    pub input: Option<u64>,
    /// Output tokens, reasoning included.
    pub output: Option<u64>,
    /// Tokens read from the prompt cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the prompt cache.
    pub cache_write: Option<u64>,
    /// How many of `cache_write` live for an hour; they cost more than those of five minutes.
    pub cache_write_1h: Option<u64>,
    /// How many of `output` were reasoning.
    pub reasoning: Option<u64>,
    /// Searches of the web that the provider ran for this request; they are charged apart.
    pub searches: Option<u64>,
    /// What changes the price of its tokens, in the words of the price table and in their order: `batch`, `fast`,
    /// `priority`, `us`.
    pub terms: Vec<Name>,
    /// The last step, where the model was sent several prompts for one answer: the counts above are their sum.
    pub last: Option<Box<Step>>,
    /// Whether it was counted before the answer was complete: its output is at least so much.
    pub is_partial: bool,
    /// Cost in USD as the agent recorded it; `None` if it records none, or a 0 that stands for an unknown price.
    pub cost: Option<f64>,
    /// Whether more was paid than can be told: the agent had no price for a part of it, or did not record a request.
    pub lacks_cost: bool,
}

/// A prompt and what the model answered to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Tokens of the prompt that were neither read from the cache nor written to it.
    pub input: Option<u64>,
    /// Those that were read from the cache.
    pub cache_read: Option<u64>,
    /// Those that were written to it.
    pub cache_write: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
}

impl Step {
    /// The size of the prompt in tokens.
    pub(crate) fn prompt(&self) -> u64 {
        let parts = [self.input, self.cache_read, self.cache_write];
        parts.into_iter().flatten().fold(0, u64::saturating_add)
    }

    /// The prompt and the answer: what the model had before it in the end.
    pub(crate) fn context(&self) -> u64 {
        self.prompt().saturating_add(self.output.unwrap_or(0))
    }
}

/// What a usage record counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// One request to the model.
    #[default]
    Request,
    /// Spent besides the requests that the file holds, for example inside a tool.
    Extra,
    /// A whole run as the agent sums it; it replaces the sum of the requests.
    Run,
    /// As [`Self::Run`], of all that was spent so far: it is no less than the sum of the requests on the same model.
    Total,
    /// A whole run, to be used only if no request records usage. Its cost always counts.
    Fallback,
    /// A request once more, of a run that has not ended while others of the file have: it adds to what those count.
    Open,
}

impl Scope {
    /// Whether it counts requests, or what was spent beside them: what a run sums up belongs to no turn of it.
    pub fn is_of_requests(self) -> bool {
        matches!(self, Self::Request | Self::Extra)
    }
}

impl Usage {
    /// Input, cache reads and cache writes together: all prompts that were paid for.
    pub(crate) fn prompt(&self) -> u64 {
        self.whole().prompt()
    }

    /// What the model saw and said at once: the last step.
    pub(crate) fn seen(&self) -> Step {
        self.last
            .as_deref()
            .copied()
            .unwrap_or_else(|| self.whole())
    }

    fn whole(&self) -> Step {
        let Self {
            input,
            cache_read,
            cache_write,
            output,
            ..
        } = *self;
        Step {
            input,
            cache_read,
            cache_write,
            output,
        }
    }

    /// Whether anything is recorded of the prompt.
    pub(crate) fn has_prompt(&self) -> bool {
        self.input.is_some() || self.cache_read.is_some() || self.cache_write.is_some()
    }

    /// How many of the counts are known.
    pub(crate) fn known_counts(&self) -> usize {
        [
            self.input,
            self.output,
            self.cache_read,
            self.cache_write,
            self.reasoning,
        ]
        .iter()
        .flatten()
        .count()
    }

    /// All tokens.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output.unwrap_or(0))
    }

    /// Whether nothing was spent.
    pub(crate) fn is_zero(&self) -> bool {
        self.total() == 0 && self.cost.is_none_or(|usd| usd == 0.0)
    }
}
