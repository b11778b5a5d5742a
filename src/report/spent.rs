//! Usage and cost as the reports write them. CONTRACT: unknown is `null`, never 0.

use serde::Serialize;

use crate::analysis::money::cost::Cost;
use crate::analysis::money::spending::amount::Amount;
use crate::model::text::Text;
use crate::model::totals::ModelUsage;

#[derive(Debug, Serialize)]
pub(crate) struct UsageFigures<N = u64> {
    /// Uncached input.
    pub(crate) input: Option<N>,
    /// Output, reasoning included.
    pub(crate) output: Option<N>,
    /// Whether `output` is a lower bound, because some of it was counted before the answer was
    /// complete.
    pub(crate) output_is_partial: bool,
    pub(crate) cache_read: Option<N>,
    pub(crate) cache_write: Option<N>,
    /// The part of the output that was reasoning.
    pub(crate) reasoning: Option<N>,
    /// Requests that recorded usage.
    pub(crate) requests: N,
}

#[derive(Debug, Serialize)]
pub(crate) struct CostFigures {
    pub(crate) usd: Option<f64>,
    /// `recorded`, `estimated`, `mixed`, `unpriced`.
    pub(crate) source: &'static str,
    /// The cost of all tokens by list prices, in USD, if some of the cost is recorded.
    pub(crate) estimated_usd: Option<f64>,
    /// Models with usage but without a price; `unknown` if no model is recorded.
    pub(crate) unpriced_models: Vec<String>,
    /// Whether `usd` is a lower bound: output was counted before answers were complete, prompts are
    /// not recorded, terms have no known price, or the usage of sub-agents is recorded in files
    /// that are missing.
    pub(crate) is_partial: bool,
}

impl From<&ModelUsage> for UsageFigures {
    fn from(spent: &ModelUsage) -> Self {
        Self {
            input: spent.input.value(),
            output: spent.output.value(),
            output_is_partial: spent.partial > 0,
            cache_read: spent.cache_read.value(),
            cache_write: spent.cache_write.value(),
            reasoning: spent.reasoning.value(),
            requests: spent.requests,
        }
    }
}

impl From<&Amount> for UsageFigures<i64> {
    fn from(amount: &Amount) -> Self {
        Self {
            input: amount.input.value(),
            output: amount.output.value(),
            output_is_partial: amount.partial > 0,
            cache_read: amount.cache_read.value(),
            cache_write: amount.cache_write.value(),
            reasoning: amount.reasoning.value(),
            requests: i64::try_from(amount.requests).unwrap_or(i64::MAX),
        }
    }
}

impl From<&Cost> for CostFigures {
    fn from(cost: &Cost) -> Self {
        let named = |model: &Text| {
            if model.is_empty() {
                "unknown".to_owned()
            } else {
                model.to_string()
            }
        };
        let micros = |usd: f64| (usd * 1e6).round() / 1e6;
        Self {
            usd: cost.usd.map(micros),
            source: cost.source.word(),
            estimated_usd: cost.by_list.map(micros),
            unpriced_models: cost.unpriced_models.iter().map(named).collect(),
            is_partial: cost.is_partial,
        }
    }
}
