//! Tool calls of both generations of Cline: kind, headline, and the input in the form from which
//! plans and changes are rendered.

use std::borrow::Cow;

use crate::formats::json::{self, Json};
use crate::formats::tools;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::BlockKind;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolState};

pub(super) struct RecordedCall<'a> {
    /// Empty if the call has no id.
    pub(super) key: Key,
    pub(super) name: &'a str,
    pub(super) input: &'a Json<'a>,
    pub(super) state: ToolState,
    pub(super) at: Option<Timestamp>,
}

/// The blocks of a call. Text for the user in its input becomes prose before the call.
pub(super) fn blocks(asked: RecordedCall<'_>, out: &mut Batch) -> Vec<BlockKind> {
    let parsed = asked.input.str().and_then(|text| json::parse(text).ok());
    let input = parsed
        .as_ref()
        .filter(|value| value.is_object())
        .unwrap_or(asked.input);
    let mut shown = Vec::new();
    let said = text_parameter(asked.name).filter(|field| input.get(field).filled().is_some());
    if let Some(field) = said {
        shown.push(BlockKind::Text(
            out.prose(input.get(field).str_or_empty().trim()),
        ));
    }
    let kind = kind_of(asked.name, input);
    let arguments = input
        .get("arguments")
        .str()
        .and_then(|text| json::parse(text).ok());
    let input = shaped(kind, input, arguments.filter(Json::is_object), said);
    let headline = headline(kind, asked.name, &input);
    let mut call = ToolCall {
        key: asked.key,
        state: asked.state,
        started: asked.at,
        ..tools::call_of(asked.name, kind, headline, &input, out)
    };
    call.input.flags.broken_off = tools::is_truncated(asked.input);
    shown.push(call.into());
    shown
}

/// The parameter that contains text for the user.
fn text_parameter(name: &str) -> Option<&'static str> {
    match name {
        "attempt_completion" => Some("result"),
        "plan_mode_respond" | "act_mode_respond" => Some("response"),
        "submit_and_exit" => Some("summary"),
        _ => None,
    }
}

/// The kind of a tool. A tool of an MCP server has the kind of its own name.
pub(super) fn kind_of(name: &str, input: &Json<'_>) -> ToolKind {
    match name {
        "use_mcp_tool" => tools::kind_of_call(server_tool(input).1, input.get("arguments")),
        "newFileCreated" => ToolKind::Write,
        "editedExistingFile" | "appliedDiff" | "fileDeleted" | "insertContent" => ToolKind::Edit,
        "listFilesTopLevel" | "listFilesRecursive" => ToolKind::Search,
        "team_run_task" | "team_spawn_teammate" => ToolKind::Delegate,
        "task_progress" => ToolKind::Plan,
        other => tools::kind_of_call(other, input),
    }
}

/// Server and tool of a call to an MCP server.
fn server_tool<'j>(input: &'j Json<'_>) -> (&'j str, &'j str) {
    let field = |name: &str, other: &str| {
        input
            .get(name)
            .filled()
            .or(input.get(other).filled())
            .unwrap_or("")
    };
    (
        field("server_name", "serverName"),
        field("tool_name", "toolName"),
    )
}

fn headline(kind: ToolKind, name: &str, input: &Json<'_>) -> Text {
    if name == "use_mcp_tool" {
        let (server, tool) = server_tool(input);
        let arguments = input.get("arguments");
        let asked = tools::headline(
            kind,
            if arguments.is_object() {
                arguments
            } else {
                &Json::Null
            },
        );
        return Text::stub(
            format!("{server}.{tool} {}", asked.as_str()).trim_end(),
            200,
        );
    }
    if text_parameter(name).is_some() {
        return Text::stub(input.get("command").str_or_empty(), 200);
    }
    tools::headline(kind, input)
}

/// Converts the input to the rendered form: task lists become lists, arguments in a JSON text are
/// parsed, changes lose the line numbers that Roo Code adds, and the text that was `said` to the
/// user is removed.
fn shaped<'a>(
    kind: ToolKind,
    input: &'a Json<'a>,
    arguments: Option<Json<'a>>,
    said: Option<&str>,
) -> Cow<'a, Json<'a>> {
    let Json::Object(members) = input else {
        return Cow::Borrowed(input);
    };
    let mut is_same = true;
    let mut shaped = Vec::with_capacity(members.len());
    for (name, value) in members {
        if said == Some(name.as_ref()) {
            is_same = false;
            continue;
        }
        let other = match (name.as_ref(), value.str()) {
            ("todos" | "task_progress" | "text", Some(list)) if kind == ToolKind::Plan => {
                checklist(list).map(|list| ("todos".into(), list))
            }
            ("arguments", Some(_)) => arguments.clone().map(|arguments| (name.clone(), arguments)),
            ("diff" | "content", Some(text)) if kind == ToolKind::Edit && is_change(text) => {
                Some(("diff".into(), Json::Str(without_line_numbers(text).into())))
            }
            _ => None,
        };
        is_same &= other.is_none();
        shaped.push(other.unwrap_or_else(|| (name.clone(), value.clone())));
    }
    if is_same {
        Cow::Borrowed(input)
    } else {
        Cow::Owned(Json::Object(shaped))
    }
}

/// Parses a task list in Markdown: `- [x] done`, `[-] doing`, `[ ] open`.
pub(super) fn checklist(text: &str) -> Option<Json<'static>> {
    let mut tasks = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let line = line
            .trim_start()
            .trim_start_matches(['-', '*'])
            .trim_start();
        let (mark, content) = line.strip_prefix('[')?.split_once(']')?;
        let status = match mark {
            "x" | "X" => "completed",
            "-" | "~" => "in_progress",
            "" | " " => "pending",
            _ => return None,
        };
        let text = |text: &str| Json::Str(text.to_owned().into());
        tasks.push(Json::Object(vec![
            ("content".into(), text(content.trim())),
            ("status".into(), text(status)),
        ]));
    }
    (!tasks.is_empty()).then_some(Json::Array(tasks))
}

fn is_change(text: &str) -> bool {
    let first = text.trim_start();
    first.starts_with("------- SEARCH") || first.starts_with("<<<<<<< SEARCH")
}

/// Removes the `:start_line:12` and the ruler with which Roo Code begins each search block.
fn without_line_numbers(text: &str) -> String {
    let mut lines = Vec::new();
    let mut is_head = false;
    for line in text.lines() {
        let is_number = line.starts_with(":start_line:") || line.starts_with(":end_line:");
        if !(is_number || is_head && line.trim_end() == "-------") {
            lines.push(line);
        }
        is_head = is_number;
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{RecordedCall, blocks, checklist, without_line_numbers};
    use crate::formats::json::parse;
    use crate::model::edit::Batch;
    use crate::model::entry::BlockKind;
    use crate::model::text::Text;
    use crate::model::tool::{ToolKind, ToolState};

    fn asked(name: &str, input: &str) -> (usize, ToolKind, String) {
        let input = parse(input).unwrap();
        let asked = RecordedCall {
            key: Text::default(),
            name,
            input: &input,
            state: ToolState::Pending,
            at: None,
        };
        let shown = blocks(asked, &mut Batch::default());
        let Some(BlockKind::Call(call)) = shown.last() else {
            panic!()
        };
        (shown.len(), call.kind, call.headline.to_string())
    }

    #[test]
    fn head_rows_say_what_was_asked() {
        for (name, input, blocks, kind, headline) in [
            (
                "use_mcp_tool",
                r#"{"server_name":"files","tool_name":"read_file","arguments":"{\"path\":\"a\"}"}"#,
                1,
                ToolKind::Read,
                "files.read_file a",
            ),
            (
                "update_todo_list",
                r#"{"todos":"[x] oil\n[-] turn\n[ ] rest"}"#,
                1,
                ToolKind::Plan,
                "1/3 turn",
            ),
            (
                "attempt_completion",
                r#"{"result":"It turns.","command":"make run"}"#,
                2,
                ToolKind::Other,
                "make run",
            ),
            (
                "replace_in_file",
                r#"{"path":"a","diff":"------- SEARCH\nx\n=======\ny\n+++++++ REPLACE"}"#,
                1,
                ToolKind::Edit,
                "a",
            ),
            (
                "team_run_task",
                r#"{"agentId":"scout","task":"count"}"#,
                1,
                ToolKind::Delegate,
                "scout: count",
            ),
        ] {
            assert_eq!(
                asked(name, input),
                (blocks, kind, headline.to_owned()),
                "{name}"
            );
        }
    }

    #[test]
    fn only_lists_of_boxes_are_plans() {
        assert!(checklist("- [ ] a\n\n* [X] b").is_some());
        assert!(checklist("- a\n- [ ] b").is_none() && checklist("").is_none());
    }

    #[test]
    fn line_numbers_are_no_lines_of_a_change() {
        let diff =
            "<<<<<<< SEARCH\n:start_line:1\n-------\n-------\nx\n=======\ny\n>>>>>>> REPLACE";
        assert_eq!(
            without_line_numbers(diff),
            "<<<<<<< SEARCH\n-------\nx\n=======\ny\n>>>>>>> REPLACE"
        );
    }
}
