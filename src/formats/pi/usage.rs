//! pi's usage: disjoint token counts of one request, with the cost that pi computed.

use crate::formats::json::Json;
use crate::model::edit::{Batch, Severity};
use crate::model::usage::{Scope, Usage};

/// Parses a `usage` object; `None` for any other value.
pub fn read(usage: &Json<'_>, scope: Scope, out: &mut Batch) -> Option<Usage> {
    if !usage.is_object() {
        return None;
    }
    let counts = ["input", "output", "cacheRead", "cacheWrite"].map(|name| usage.get(name));
    // OpenAI-like providers may report less input than cache reads, and pi subtracts without a
    // floor.
    if counts
        .iter()
        .any(|count| count.number().is_some_and(|n| n < 0.0))
    {
        out.notice(Severity::Note, "a negative token count was taken as 0");
    }
    let [input, output, cache_read, cache_write] = counts.map(Json::count);
    // 0 may mean that pi has no price for the model: see `zeros`.
    let cost = usage.first(&["cost.total", "cost"], Json::number);
    let cost = cost.filter(|usd| *usd >= 0.0);
    Some(Usage {
        scope,
        input,
        output,
        cache_read,
        cache_write,
        cache_write_1h: usage.get("cacheWrite1h").count(),
        reasoning: usage.first(&["reasoning", "reasoningTokens"], Json::count),
        cost,
        ..Usage::default()
    })
}
