//! The requests in the panel: their usage, and the results in their texts.

use crate::formats::cline::history::result_title;
use crate::formats::cline::metrics;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::usage::{Scope, Usage};

/// Beginnings of notes after the results.
const NOTES: [&str; 3] = [
    "\n<environment_details>",
    "\n# task_progress",
    "\n<feedback>",
];
/// Tools that only address the user. The panel does not record them as calls.
const SPEAKING: [&str; 4] = [
    "attempt_completion",
    "ask_followup_question",
    "plan_mode_respond",
    "act_mode_respond",
];

/// The title of a failed result if tools are called by the API.
pub(super) const FAILED: &str = "Tool (Error)";

pub(in crate::formats::cline) struct PanelRequest {
    pub(in crate::formats::cline) key: Key,
    pub(in crate::formats::cline) at: Option<Timestamp>,
    /// The index in the history of the message before the request.
    pub(in crate::formats::cline) index: Option<i64>,
    pub(in crate::formats::cline) usage: Option<Usage>,
    pub(in crate::formats::cline) model: Option<Name>,
}

impl PanelRequest {
    pub(in crate::formats::cline) fn new(
        message: &Json<'_>,
        key: Key,
        usage: Option<Usage>,
    ) -> Self {
        Self {
            key,
            at: message.get("ts").moment(),
            index: message.get("conversationHistoryIndex").int(),
            usage,
            model: message.at("modelInfo.modelId").text(),
        }
    }
}

/// The usage in a message; `None` if it has none, as a request that was not answered, whose counts
/// are all 0.
pub(in crate::formats::cline) fn usage(
    kind: &str,
    payload: &Json<'_>,
    out: &mut Batch,
) -> Option<Usage> {
    let scope = match kind {
        "api_req_started" => Scope::Request,
        // Usage of requests that the user rewound, and of sub-agents without files.
        "deleted_api_reqs" | "subagent_usage" => Scope::Extra,
        _ => return None,
    };
    metrics::of_request(payload, scope, out).filter(|usage| !usage.is_zero())
}

/// The cost of a compaction, which no request records.
pub(in crate::formats::cline) fn of_condensing(condensed: &Json<'_>) -> Option<Usage> {
    let cost = condensed.get("cost").number()?;
    Some(Usage {
        cost: Some(cost),
        scope: Scope::Extra,
        ..Usage::default()
    })
}

/// The results in the text of a request, with their titles.
pub(super) fn results(request: &str) -> Vec<(&str, String)> {
    let end = NOTES
        .iter()
        .filter_map(|note| request.find(note))
        .min()
        .unwrap_or(request.len());
    let text = request.get(..end).unwrap_or(request);
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match (
            result_title(line).or_else(|| tool_line(line)),
            found.last_mut(),
        ) {
            (Some((title, rest)), _) => found.push((title, rest.trim_start().to_owned())),
            (None, Some((_, result))) => result.push_str(line),
            (None, None) => {}
        }
    }
    if found.is_empty() && !text.trim_start().starts_with(['<', '[', '#']) {
        // Results have no title if tools are called by the API.
        found.push(("", text.to_owned()));
    }
    found.retain(|(_, text)| !text.trim().is_empty());
    found.retain(|(title, _)| !SPEAKING.iter().any(|tool| title.starts_with(tool)));
    found
        .into_iter()
        .map(|(title, text)| (title, text.trim_matches('\n').to_owned()))
        .collect()
}

/// Parses a title line that names no tool: `[Tool]`, or [`FAILED`] in brackets.
fn tool_line(line: &str) -> Option<(&str, &str)> {
    let title = line.trim_end().strip_prefix('[')?.strip_suffix(']')?;
    is_unnamed(title).then_some((title, ""))
}

pub(super) fn is_unnamed(title: &str) -> bool {
    matches!(title, "Tool" | FAILED)
}

#[cfg(test)]
mod tests {
    use super::results;

    #[test]
    fn results_of_tools_without_names_have_a_line_above() {
        let found = results(
            "[Tool]\n{\"status\":\"denied\"}\n\n[Tool (Error)]\nno\n\n<environment_details>\nx",
        );
        assert_eq!(
            found,
            [
                ("Tool", "{\"status\":\"denied\"}".to_owned()),
                ("Tool (Error)", "no".to_owned())
            ]
        );
    }

    #[test]
    fn results_end_where_the_notes_begin() {
        let request = "[read_file for 'a'] Result:\n1\n[x] not one\n2\n\n[attempt_completion] Result: Done\n\n\
                       [list_files for '.'] Result:\nb\n\n\n<environment_details>\n[read_file for 'z'] Result:";
        let found: Vec<_> = results(request);
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0],
            ("read_file for 'a'", "1\n[x] not one\n2".to_owned())
        );
        assert_eq!(found[1].1, "b");
        assert!(results("<task>\nx\n</task>").is_empty());
    }
}
