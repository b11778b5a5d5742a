//! What an answer cost, as the core and the older extension write it.

use crate::formats::json::Json;
use crate::model::usage::{Scope, Usage};

/// The usage of a message. The core's `inputTokens` includes cache reads and writes.
pub(super) fn usage(metrics: &Json<'_>) -> Option<Usage> {
    if !metrics.is_object() {
        return None;
    }
    let cost = metrics.get("cost").number().filter(|usd| *usd > 0.0);
    let tokens = metrics.get("tokens");
    if tokens.is_object() {
        // The extension sums cache reads and writes up; only a sum of 0 says how many of each.
        let cached = (tokens.get("cached").count().unwrap_or(0) == 0).then_some(0);
        let (input, output) = (tokens.get("prompt").count(), tokens.get("completion").count());
        return Some(Usage {
            input,
            output,
            cache_read: cached,
            cache_write: cached,
            cost,
            ..Usage::default()
        });
    }
    let cache_read = metrics.get("cacheReadTokens").count();
    let cache_write = metrics.get("cacheWriteTokens").count();
    let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    Some(Usage {
        input: metrics.get("inputTokens").count().map(|total| total.saturating_sub(cached)),
        output: metrics.get("outputTokens").count(),
        cache_read,
        cache_write,
        cost,
        ..Usage::default()
    })
}

/// The usage of a request as the extension's screen tells it, in a JSON text.
pub(super) fn ui_usage(told: &Json<'_>, scope: Scope) -> Option<Usage> {
    let usage = Usage {
        scope,
        input: told.get("tokensIn").count(),
        output: told.get("tokensOut").count(),
        cache_read: told.get("cacheReads").count(),
        cache_write: told.get("cacheWrites").count(),
        cost: told.get("cost").number().filter(|usd| *usd > 0.0),
        ..Usage::default()
    };
    let is_told = told.has("tokensIn") || told.has("tokensOut") || usage.cost.is_some();
    is_told.then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::usage;
    use crate::formats::json::parse;

    #[test]
    fn cache_is_taken_out_of_the_input() {
        let metrics =
            r#"{"inputTokens":100,"outputTokens":7,"cacheReadTokens":60,"cacheWriteTokens":30,"cost":0.5}"#;
        let usage = usage(&parse(metrics).unwrap()).unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.cache_write), (Some(10), Some(60), Some(30)));
        assert_eq!(usage.cost, Some(0.5));
    }

    #[test]
    fn a_sum_of_cache_tokens_is_not_split() {
        let told =
            |cached: u32| format!(r#"{{"tokens":{{"prompt":9,"completion":2,"cached":{cached}}},"cost":0}}"#);
        assert_eq!(usage(&parse(&told(5)).unwrap()).unwrap().cache_read, None);
        assert_eq!(usage(&parse(&told(0)).unwrap()).unwrap().cache_read, Some(0));
    }
}
