//! Money in a few characters, honest about where it comes from.

use super::cost::{Cost, CostSource};

/// `$1.84`; `~$0.031` for an estimate; `+?` when a part has no price; `$?` when nothing has one; empty
/// when nothing was spent.
pub fn price_tag(cost: &Cost) -> String {
    let Some(usd) = cost.usd else {
        return if cost.unpriced_models.is_empty() { String::new() } else { "$?".to_owned() };
    };
    let mark = match cost.source {
        CostSource::Recorded | CostSource::Unpriced => "",
        CostSource::Estimated | CostSource::Mixed => "~",
    };
    let open = if cost.unpriced_models.is_empty() { "" } else { "+?" };
    let figure = if usd >= 0.1 || usd == 0.0 { format!("{usd:.2}") } else { format!("{usd:.3}") };
    format!("{mark}${figure}{open}")
}
