//! Parses the usage of answers, as recorded by the core and by the extension.

use crate::formats::json::Json;
use crate::model::edit::{Batch, Severity};
use crate::model::usage::{Scope, Usage};

/// The usage of a message. The core's `inputTokens` includes cache reads and writes.
pub(super) fn usage(metrics: &Json<'_>, out: &mut Batch) -> Option<Usage> {
    if !metrics.is_object() {
        return None;
    }
    let cost = cost(metrics);
    let tokens = metrics.get("tokens");
    if tokens.is_object() {
        // The extension only records the sum of cache reads and writes. If that is 0, so are both;
        // otherwise they are unknown.
        let cached = (count(tokens, "cached", out).unwrap_or(0) == 0).then_some(0);
        return Some(Usage {
            input: count(tokens, "prompt", out),
            output: count(tokens, "completion", out),
            cache_read: cached,
            cache_write: cached,
            cost,
            ..Usage::default()
        });
    }
    let cache_read = count(metrics, "cacheReadTokens", out);
    let cache_write = count(metrics, "cacheWriteTokens", out);
    let cached = cache_read
        .unwrap_or(0)
        .saturating_add(cache_write.unwrap_or(0));
    let input = count(metrics, "inputTokens", out).map(|total| {
        total.checked_sub(cached).unwrap_or_else(|| {
            let what =
                format!("{total} input tokens hold {cached} of the cache: the rest is taken as 0");
            out.notice(Severity::Warning, &what);
            0
        })
    });
    let output = count(metrics, "outputTokens", out);
    Some(Usage {
        input,
        output,
        cache_read,
        cache_write,
        cost,
        ..Usage::default()
    })
}

/// The usage of a request from the panel, where it is JSON in a text.
pub(super) fn of_request(request: &Json<'_>, scope: Scope, out: &mut Batch) -> Option<Usage> {
    let usage = Usage {
        scope,
        input: count(request, "tokensIn", out),
        output: count(request, "tokensOut", out),
        cache_read: count(request, "cacheReads", out),
        cache_write: count(request, "cacheWrites", out),
        cost: cost(request),
        ..Usage::default()
    };
    let is_recorded = request.has("tokensIn")
        || request.has("tokensOut")
        || usage.cost.is_some_and(|usd| usd > 0.0);
    is_recorded.then_some(usage)
}

/// The recorded cost in USD. `zeros` decides what 0 means.
pub(super) fn cost(record: &Json<'_>) -> Option<f64> {
    record.get("cost").number().filter(|usd| *usd >= 0.0)
}

fn count(record: &Json<'_>, name: &str, out: &mut Batch) -> Option<u64> {
    if record.get(name).number().is_some_and(|number| number < 0.0) {
        out.notice(Severity::Warning, &format!("negative {name} counted as 0"));
    }
    record.get(name).count()
}

#[cfg(test)]
mod tests {
    use super::usage;
    use crate::formats::json::parse;
    use crate::model::edit::Batch;
    use crate::model::usage::Usage;

    fn read_metrics(metrics: &str) -> (Usage, usize) {
        let mut out = Batch::default();
        let usage = usage(&parse(metrics).unwrap(), &mut out).unwrap();
        (usage, out.notices.len())
    }

    #[test]
    fn cache_is_taken_out_of_the_input() {
        let (usage, notices) = read_metrics(
            r#"{"inputTokens":100,"outputTokens":7,"cacheReadTokens":60,"cacheWriteTokens":30,"cost":0.5}"#,
        );
        assert_eq!(
            (usage.input, usage.cache_read, usage.cache_write),
            (Some(10), Some(60), Some(30))
        );
        assert_eq!((usage.cost, notices), (Some(0.5), 0));
    }

    #[test]
    fn what_cannot_be_is_0_and_noted() {
        let (usage, notices) =
            read_metrics(r#"{"inputTokens":50,"outputTokens":-7,"cacheReadTokens":60,"cost":0}"#);
        assert_eq!(
            (usage.input, usage.output, usage.cost, notices),
            (Some(0), Some(0), Some(0.0), 2)
        );
    }

    #[test]
    fn a_sum_of_cache_tokens_is_not_split() {
        let metrics = |cached: u32| {
            format!(r#"{{"tokens":{{"prompt":9,"completion":2,"cached":{cached}}},"cost":0}}"#)
        };
        assert_eq!(read_metrics(&metrics(5)).0.cache_read, None);
        assert_eq!(read_metrics(&metrics(0)).0.cache_read, Some(0));
    }
}
