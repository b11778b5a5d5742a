//! Parses tool calls in the model's text, as in older versions of the extension:
//! `<read_file><path>a.rs</path></read_file>`.
//!
//! Invariant: the segments contain the whole text; a tag that is not closed stays prose.

use crate::formats::json::Json;

/// The tools of Cline and its forks. Any other tag is prose.
static TOOLS: &str = "execute_command read_file write_to_file replace_in_file apply_diff apply_patch \
    insert_content search_and_replace search_files list_files list_code_definition_names browser_action \
    use_mcp_tool access_mcp_resource ask_followup_question attempt_completion new_task condense \
    summarize_task plan_mode_respond act_mode_respond load_mcp_documentation switch_mode fetch_instructions \
    codebase_search update_todo_list focus_chain web_fetch web_search new_rule report_bug use_skill \
    use_subagents generate_image run_slash_command edit_file simple_read_file explain_changes";

/// Parameters that contain parameters.
const NESTED: [&str; 3] = ["args", "file", "diff"];
/// The maximum nesting: arguments, file, change.
const DEEPEST: usize = 3;
/// The maximum length of a name in bytes.
const LONGEST: usize = 40;
/// The maximum number of parameters.
const MOST: usize = 64;

/// A part of a text.
#[derive(Debug)]
pub(super) enum Segment<'t> {
    Prose(&'t str),
    /// The name and the parameters of a call.
    Call(&'t str, Json<'t>),
}

/// Splits a text into prose and calls.
pub(super) fn parts(text: &str) -> Vec<Segment<'_>> {
    let mut parts = Vec::new();
    let mut unclosed: Vec<&str> = Vec::new();
    let mut rest = text;
    let mut at = 0;
    while let Some((start, name)) = opening(rest, at) {
        let inner = start + name.len() + 2;
        let tail = rest.get(inner..).unwrap_or("");
        let closed = if unclosed.contains(&name) {
            None
        } else {
            tail.split_once(&format!("</{name}>"))
        };
        let Some((content, after)) = closed else {
            unclosed.push(name);
            at = inner;
            continue;
        };
        push_prose(rest.get(..start).unwrap_or(""), &mut parts);
        parts.push(Segment::Call(name, parameters(content, 0)));
        (rest, at) = (after, 0);
    }
    push_prose(rest, &mut parts);
    parts
}

fn push_prose<'t>(text: &'t str, parts: &mut Vec<Segment<'t>>) {
    if !text.trim().is_empty() {
        parts.push(Segment::Prose(text.trim()));
    }
}

/// The next tool tag at the beginning of a line: its offset and the tool.
fn opening(text: &str, from: usize) -> Option<(usize, &str)> {
    let mut at = from;
    loop {
        at += text.get(at..)?.find('<')?;
        let before = text.get(..at)?.trim_end_matches([' ', '\t']);
        let begins_line = before.is_empty() || before.ends_with('\n');
        let name = tag(text.get(at..)?);
        match name {
            Some(name) if begins_line && TOOLS.split_whitespace().any(|tool| tool == name) => {
                return Some((at, name));
            }
            _ => at += 1,
        }
    }
}

/// The name of the tag at the beginning of a text.
fn tag(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let end = inner
        .bytes()
        .take(LONGEST + 1)
        .position(|byte| byte == b'>')?;
    let name = inner.get(..end)?;
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}

/// The parameters of a call. Repeated names become a list.
fn parameters(text: &str, depth: usize) -> Json<'_> {
    let mut members: Vec<(std::borrow::Cow<'_, str>, Json<'_>)> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(name) = tag(rest).filter(|_| members.len() < MOST) {
        let tail = rest.get(name.len() + 2..).unwrap_or("");
        // The content of a file may itself contain the closing tag.
        let close = format!("</{name}>");
        let end = if name == "content" {
            tail.rfind(&close)
        } else {
            tail.find(&close)
        };
        let Some((content, after)) =
            end.and_then(|end| Some((tail.get(..end)?, tail.get(end + close.len()..)?)))
        else {
            break;
        };
        let is_nested =
            NESTED.contains(&name) && depth < DEEPEST && tag(content.trim_start()).is_some();
        let value = if is_nested {
            parameters(content, depth + 1)
        } else {
            Json::Str(unframed(content).into())
        };
        match members.iter_mut().find(|(known, _)| known == name) {
            Some((_, Json::Array(items))) => items.push(value),
            Some((_, known)) => {
                *known = Json::Array(vec![std::mem::replace(known, Json::Null), value]);
            }
            None => members.push((name.into(), value)),
        }
        rest = after.trim_start();
    }
    if !rest.trim().is_empty() {
        members.push(("text".into(), Json::Str(unframed(rest).into())));
    }
    unwrapped(Json::Object(members))
}

/// Roo Code wraps all parameters in `<args>`, the files of a call in `<file>`.
fn unwrapped(input: Json<'_>) -> Json<'_> {
    let Json::Object(members) = &input else {
        return input;
    };
    match members.as_slice() {
        [(name, inner)] if name == "args" && inner.is_object() => inner.clone(),
        [(name, Json::Array(files))] if name == "file" => {
            Json::Object(vec![("files".into(), Json::Array(files.clone()))])
        }
        [(name, file)] if name == "file" && file.is_object() => file.clone(),
        _ => input,
    }
}

/// A value without the line breaks after its opening and before its closing tag.
fn unframed(text: &str) -> &str {
    let text = text.strip_prefix('\n').unwrap_or(text);
    text.strip_suffix('\n').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{Segment, parts};

    fn segments(text: &str) -> Vec<String> {
        let show = |part: &Segment<'_>| match part {
            Segment::Prose(text) => (*text).to_owned(),
            Segment::Call(name, input) => format!("{name} {}", input.to_source()),
        };
        parts(text).iter().map(show).collect()
    }

    #[test]
    fn calls_stand_between_prose() {
        let text = "I look.\n\n<read_file>\n<path>a.rs</path>\n</read_file>\nThen <b>more</b>.";
        assert_eq!(
            segments(text),
            [
                "I look.",
                r#"read_file {"path":"a.rs"}"#,
                "Then <b>more</b>."
            ]
        );
    }

    #[test]
    fn contents_may_hold_tags() {
        let text = "<write_to_file>\n<path>a.xml</path>\n<content>\n<content>1</content>\n</content>\n\
                    </write_to_file>";
        assert_eq!(
            segments(text),
            [r#"write_to_file {"path":"a.xml","content":"<content>1</content>"}"#]
        );
    }

    #[test]
    fn arguments_may_be_wrapped() {
        let one = "<read_file>\n<args>\n<file>\n<path>a</path>\n</file>\n</args>\n</read_file>";
        assert_eq!(segments(one), [r#"read_file {"path":"a"}"#]);
        let two = "<read_file><args><file><path>a</path></file><file><path>b</path></file></args></read_file>";
        assert_eq!(
            segments(two),
            [r#"read_file {"files":[{"path":"a"},{"path":"b"}]}"#]
        );
    }

    #[test]
    fn what_is_no_call_stays_prose() {
        for text in [
            "<read_file><path>a",
            "say `<read_file>` to read",
            "<unknown_tool></unknown_tool>",
            "a < b",
        ] {
            assert_eq!(segments(text), [text]);
        }
        let deep = "<read_file><file>".to_owned() + &"<file>".repeat(5000) + "</file></read_file>";
        assert_eq!(segments(&deep).len(), 1);
    }
}
