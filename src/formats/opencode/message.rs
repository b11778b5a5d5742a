//! The facts of a message itself: usage, errors, retries and how it ended. Its content is in parts.

use itertools::Itertools as _;

use crate::formats::json::Json;
use crate::model::entry::Break;
use crate::model::text::Text;
use crate::model::usage::{Scope, Usage};

/// The usage of an answer; `None` if it records no tokens.
pub(super) fn usage(info: &Json<'_>) -> Option<Usage> {
    let tokens = info.get("tokens");
    if !tokens.is_object() {
        return None;
    }
    let reasoning = tokens.get("reasoning").count();
    let input = tokens.get("input").count();
    let cache_read = tokens.at("cache.read").count();
    let cache_write = tokens.at("cache.write").count();
    let output = tokens.get("output").count();
    let known: u64 = [input, output, cache_read, cache_write]
        .into_iter()
        .flatten()
        .fold(0, u64::saturating_add);
    // Since 1.15 reasoning tokens are separate from output; before, they were included. Only
    // `total` shows which applies.
    let beside = reasoning
        .filter(|n| *n > 0 && tokens.get("total").count() == Some(known.saturating_add(*n)));
    Some(Usage {
        scope: Scope::Request,
        input,
        output: output.map_or(beside, |n| Some(n.saturating_add(beside.unwrap_or(0)))),
        cache_read,
        cache_write,
        reasoning,
        cost: info.get("cost").number().filter(|usd| *usd > 0.0),
        ..Usage::default()
    })
}

/// The error that ended an answer.
pub(super) fn failure(error: &Json<'_>) -> Option<Break> {
    if !error.is_object() {
        return error.text().map(Break::Error);
    }
    let name = error
        .first(&["name", "type"], Json::filled)
        .unwrap_or_default();
    let message = error.first(&["data.message", "message"], Json::filled);
    if matches!(name, "MessageAbortedError" | "aborted") {
        return Some(Break::Interrupted(Text::clean(
            message.unwrap_or("aborted"),
        )));
    }
    let status = error
        .at("data.statusCode")
        .int()
        .map(|code| format!(" {code}"));
    let head = format!(
        "{}{}",
        if name.is_empty() { "error" } else { name },
        status.unwrap_or_default()
    );
    Some(Break::error(&message.map_or_else(
        || head.clone(),
        |message| format!("{head}: {message}"),
    )))
}

/// Whether an answer that ended with this error is omitted from later requests. An answer that the
/// user stopped is not.
pub(super) fn is_omitted(error: &Json<'_>) -> bool {
    !error.is_null() && !matches!(failure(error), None | Some(Break::Interrupted(_)))
}

/// A failed request that will be retried.
pub(super) fn retry(json: &Json<'_>) -> Break {
    let what = match failure(json.get("error")) {
        Some(Break::Error(what) | Break::Interrupted(what)) => what,
        _ => json
            .get("message")
            .text()
            .unwrap_or_else(|| Text::from("error")),
    };
    let attempt = json.get("attempt").count().unwrap_or(0);
    Break::error(&format!("attempt {attempt} failed: {what}"))
}

/// An answer that was cut off: it ended neither normally nor with calls.
pub(super) fn cut_short(info: &Json<'_>) -> Option<Break> {
    let why = match info.get("finish").str_or_empty() {
        "length" => "the answer was cut at the limit of output tokens",
        "content-filter" => "the answer was cut by a content filter",
        _ => return None,
    };
    (!info.get("error").is_object()).then(|| Break::Error(Text::from(why)))
}

/// The system prompt that messages of 0.15 repeat, a string or a list of strings.
pub(super) fn system(info: &Json<'_>) -> Option<String> {
    let recorded = info
        .get("system")
        .blocks()
        .iter()
        .filter_map(Json::filled)
        .join("\n\n");
    (!recorded.is_empty()).then_some(recorded)
}

#[cfg(test)]
mod tests {
    use super::usage;
    use crate::formats::json::parse;

    fn output(tokens: &str) -> (Option<u64>, Option<u64>) {
        let text = format!(r#"{{"cost":0,"tokens":{tokens}}}"#);
        let usage = usage(&parse(&text).unwrap()).unwrap();
        (usage.output, usage.reasoning)
    }

    #[test]
    fn reasoning_is_added_only_where_the_total_says_so() {
        let beside =
            r#"{"total":35,"input":10,"output":5,"reasoning":20,"cache":{"read":0,"write":0}}"#;
        assert_eq!(output(beside), (Some(25), Some(20)));
        let within =
            r#"{"total":35,"input":10,"output":25,"reasoning":20,"cache":{"read":0,"write":0}}"#;
        assert_eq!(output(within), (Some(25), Some(20)));
        let old = r#"{"input":10,"output":25,"reasoning":20,"cache":[]}"#;
        assert_eq!(output(old), (Some(25), Some(20)));
    }

    #[test]
    fn cost_zero_is_no_price() {
        assert_eq!(
            usage(&parse(r#"{"cost":0,"tokens":{"input":9}}"#).unwrap())
                .unwrap()
                .cost,
            None
        );
        assert_eq!(usage(&parse(r#"{"role":"user"}"#).unwrap()), None);
    }
}
