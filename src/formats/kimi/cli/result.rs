//! Results of Kimi CLI's tools: the output, a message about it, and its display in the terminal.

use crate::formats::json::Json;
use crate::formats::kimi::content::{images, output_of};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolResult, Verdict};

/// The number of context lines in a diff.
const AROUND: usize = 3;
/// The maximum length of a message that is shown as facts, in bytes.
const SHORT: usize = 48;
/// Words in the messages of refused calls.
const REFUSALS: [&str; 3] = [
    "rejected by the user",
    "rejected by user",
    "blocked by hook",
];

pub(crate) fn read(
    key: Key,
    value: &Json<'_>,
    at: Option<Timestamp>,
    out: &mut Batch,
) -> ToolResult {
    let output = output_of(value.get("output"));
    let message = value.get("message").str_or_empty();
    let is_error = value.get("is_error").is_true();
    let body = match (output.trim().is_empty(), is_error) {
        (true, _) => out.output(message),
        (false, true) if !message.is_empty() => {
            out.output(&format!("{}\n{message}", output.trim_end()))
        }
        (false, _) => out.output(&output),
    };
    let display = value.get("display").items();
    let diffs: String = display.iter().filter_map(diff).collect();
    let brief = display.iter().find(|shown| shown.kind() == "brief");
    let brief = brief
        .and_then(|brief| brief.get("text").filled())
        .filter(|text| text.len() <= SHORT);
    let is_refused = is_error && REFUSALS.iter().any(|mark| message.contains(mark));
    let verdict = Verdict::of(is_error, is_refused);
    ToolResult {
        patch: (!diffs.is_empty()).then(|| out.prose(&diffs)),
        images: images(value.get("output"), out),
        facts: brief.map(Text::clean).unwrap_or_default(),
        ..ToolResult::new(key, verdict, body, at)
    }
}

/// The diff of a display that contains both whole texts.
fn diff(shown: &Json<'_>) -> Option<String> {
    if shown.kind() != "diff" {
        return None;
    }
    let lines = |name: &str| -> Vec<&str> { shown.get(name).str_or_empty().lines().collect() };
    let (old, new) = (lines("old_text"), lines("new_text"));
    let same = old
        .iter()
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    let rest = old.len().min(new.len()) - same;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(|(old, new)| old == new)
        .count();
    let first = same.saturating_sub(AROUND);
    let start = |name: &str| {
        shown
            .get(name)
            .count()
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(1)
    };
    let after = tail.min(AROUND);
    let count = |all: usize| all - first - (tail - after);
    let path = shown.get("path").str_or_empty();
    let mut text = format!(
        "--- {path}\n+++ {path}\n@@ -{},{} +{},{} @@\n",
        start("old_start") + first,
        count(old.len()),
        start("new_start") + first,
        count(new.len())
    );
    let mut push = |sign: char, lines: Option<&[&str]>| {
        for line in lines.unwrap_or_default() {
            text.push(sign);
            text.push_str(line);
            text.push('\n');
        }
    };
    push(' ', old.get(first..same));
    push('-', old.get(same..old.len() - tail));
    push('+', new.get(same..new.len() - tail));
    push(' ', old.get(old.len() - tail..old.len() - tail + after));
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{diff, read};
    use crate::formats::json::parse;
    use crate::model::edit::Batch;
    use crate::model::tool::Verdict;

    #[test]
    fn what_the_system_denies_was_not_refused() {
        for (message, expected) in [
            (
                "Failed to read x. Error: [Errno 13] Permission denied: 'x'",
                Verdict::Failed,
            ),
            ("The tool call is rejected by the user.", Verdict::Refused),
        ] {
            let value = format!(r#"{{"is_error":true,"message":"{message}"}}"#);
            let value = parse(&value).unwrap();
            let result = read("k".into(), &value, None, &mut Batch::default());
            assert_eq!(result.verdict, expected, "{message}");
        }
    }

    #[test]
    fn only_what_differs_is_told() {
        let shown = r#"{"type":"diff","path":"a","old_text":"1\n2\n3\n4\n5\n6\n7\n8\n9","new_text":"1\n2\n3\n4\nfive\n6\n7\n8\n9"}"#;
        let expected = "--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(diff(&parse(shown).unwrap()).as_deref(), Some(expected));
        let new = r#"{"type":"diff","path":"a","old_text":"","new_text":"x\n"}"#;
        assert_eq!(
            diff(&parse(new).unwrap()).as_deref(),
            Some("--- a\n+++ a\n@@ -1,0 +1,1 @@\n+x\n")
        );
        let twice = r#"{"type":"diff","path":"a","old_text":"x\nx","new_text":"x\nx\nx"}"#;
        assert_eq!(
            diff(&parse(twice).unwrap()).as_deref(),
            Some("--- a\n+++ a\n@@ -1,2 +1,3 @@\n x\n x\n+x\n")
        );
        assert_eq!(
            diff(&parse(r#"{"type":"brief","text":"x"}"#).unwrap()),
            None
        );
    }
}
