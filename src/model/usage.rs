//! Tokens and cost of one request.

use serde::{Deserialize, Serialize};

use super::text::Name;

/// Tokens and cost of a request or a run. `None` is "not recorded", which is not 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// What the figures cover.
    pub scope: Scope,
    /// Input tokens, without cache reads and writes.
    pub input: Option<u64>,
    /// Output tokens, including reasoning.
    pub output: Option<u64>,
    /// Tokens read from the prompt cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the prompt cache.
    pub cache_write: Option<u64>,
    /// Part of `cache_write` that lives for an hour; it costs more than writes for five minutes.
    pub cache_write_1h: Option<u64>,
    /// Part of `output` that was reasoning.
    pub reasoning: Option<u64>,
    /// Web searches that the provider ran for this request; they are charged separately.
    pub searches: Option<u64>,
    /// Terms that change the price of the tokens, named and ordered as in the price table: `batch`,
    /// `fast`, `priority`, `us`.
    pub terms: Vec<Name>,
    /// The last step, if the model was sent several prompts for one answer: the counts above are
    /// the sum of all.
    pub last: Option<Box<StepUsage>>,
    /// Whether it was recorded before the answer was complete, so that the output is a lower bound.
    pub is_partial: bool,
    /// Cost in USD as the agent recorded it; `None` if it records none, or a 0 that means an
    /// unknown price.
    pub cost: Option<f64>,
    /// Whether the cost is incomplete: the agent had no price for a part of it, or did not record a
    /// request.
    pub lacks_cost: bool,
}

/// One prompt and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepUsage {
    /// Input tokens, without cache reads and writes.
    pub input: Option<u64>,
    /// Tokens read from the prompt cache.
    pub cache_read: Option<u64>,
    /// Tokens written to the prompt cache.
    pub cache_write: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
}

impl StepUsage {
    /// Size of the prompt in tokens.
    pub(crate) fn prompt(&self) -> u64 {
        let parts = [self.input, self.cache_read, self.cache_write];
        parts.into_iter().flatten().fold(0, u64::saturating_add)
    }

    /// Size of prompt and answer in tokens: the context after the step.
    pub(crate) fn context(&self) -> u64 {
        self.prompt().saturating_add(self.output.unwrap_or(0))
    }
}

/// What a usage record covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// One request to the model.
    #[default]
    Request,
    /// Usage besides the recorded requests, for example inside a tool.
    Extra,
    /// A whole run; it replaces the sum of its requests.
    Run,
    /// Like [`Self::Run`], for everything spent so far: it is no less than the sum of the requests on
    /// the same model.
    Total,
    /// A whole run, used only if no request records usage. Its cost always counts.
    Fallback,
    /// A request of a run that has not ended, while others of the file have: it is added to the
    /// totals of those.
    Open,
}

impl Scope {
    /// Whether it covers requests or usage besides them; the total of a run belongs to no turn.
    pub fn is_of_requests(self) -> bool {
        matches!(self, Self::Request | Self::Extra)
    }
}

impl Usage {
    /// Input, cache reads and cache writes: the tokens of all prompts.
    pub(crate) fn prompt(&self) -> u64 {
        self.as_step().prompt()
    }

    /// The last step, which is the size of the context.
    pub(crate) fn last_step(&self) -> StepUsage {
        self.last
            .as_deref()
            .copied()
            .unwrap_or_else(|| self.as_step())
    }

    fn as_step(&self) -> StepUsage {
        let Self {
            input,
            cache_read,
            cache_write,
            output,
            ..
        } = *self;
        StepUsage {
            input,
            cache_read,
            cache_write,
            output,
        }
    }

    /// Whether any prompt tokens are recorded.
    pub(crate) fn has_prompt(&self) -> bool {
        self.input.is_some() || self.cache_read.is_some() || self.cache_write.is_some()
    }

    pub(crate) fn recorded_counts(&self) -> usize {
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

    /// Sum of all tokens.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output.unwrap_or(0))
    }

    /// Whether there are no tokens and no cost.
    pub(crate) fn is_zero(&self) -> bool {
        self.total() == 0 && self.cost.is_none_or(|usd| usd == 0.0)
    }
}
