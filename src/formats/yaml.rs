//! Facts in YAML files beside a session: `name: value`, one per line.
//!
//! This is not a YAML parser: lists, nested values and texts over several lines are skipped. A file
//! may have facts before and after a text, each time between lines of dashes.

use std::borrow::Cow;

use super::json::{self, Json};

/// The facts as an object of strings.
pub(crate) fn facts(text: &str) -> Json<'static> {
    Json::Object(members(text.lines()).collect())
}

fn members<'t>(
    lines: impl Iterator<Item = &'t str>,
) -> impl Iterator<Item = (Cow<'static, str>, Json<'static>)> {
    lines.filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let value = value.trim();
        let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
        let escaped = || Some(json::parse(value).ok()?.str()?.to_owned());
        let plain = || quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
        let is_text = !value.is_empty() && !value.starts_with(['|', '>', '[', '{', '&', '*']);
        let value = || escaped().unwrap_or_else(|| plain().to_owned());
        (is_name && is_text).then(|| (name.to_owned().into(), Json::Str(value().into())))
    })
}

/// The line between facts and a text.
const FENCE: &str = "---";
/// Size limit of the facts after a text, in bytes.
const LONGEST: usize = 64 << 10;

/// The facts before and after a text, with the name of its `file`; for a file without facts only
/// the name.
pub(crate) fn framed(text: &str, file: &str) -> Json<'static> {
    let mut all = vec![("file".into(), Json::Str(file.to_owned().into()))];
    let is_fence = |line: &&str| line.trim_end() == FENCE;
    let mut lines = text.lines();
    if lines.next().is_some_and(|line| is_fence(&line)) {
        all.extend(members(lines.by_ref().take_while(|line| !is_fence(line))));
        let mut behind = 0;
        let mut end: Vec<&str> = lines
            .rev()
            .skip_while(|line| line.trim().is_empty())
            .take_while(|line| {
                behind += line.len();
                behind <= LONGEST
            })
            .collect();
        if end.first().is_some_and(is_fence) {
            end.remove(0);
            let foot = end.iter().position(is_fence).unwrap_or(0);
            all.extend(members(end.into_iter().take(foot).rev()));
        }
    }
    Json::Object(all)
}

#[cfg(test)]
mod tests {
    use super::{facts, framed};

    #[test]
    fn facts_may_stand_around_a_text() {
        let head = "---\npid: 7\ncommand: \"make \\\"all\\\"\"\nstatus: failed   \n---\n";
        for (text, expected) in [
            (
                format!("{head}out: put\n---\nmore\n"),
                r#"{"file":"3","pid":"7","command":"make \"all\"","status":"failed"}"#,
            ),
            (
                format!(
                    "{head}pid: 8\n---\nname: x\n---\nexit_code: 2\nended_at: 2026-01-01\n---\n"
                ),
                r#"{"file":"3","pid":"7","command":"make \"all\"","status":"failed","exit_code":"2","ended_at":"2026-01-01"}"#,
            ),
            ("pid: 7\n---\nx: y\n---\n".to_owned(), r#"{"file":"3"}"#),
            (
                head.to_owned(),
                r#"{"file":"3","pid":"7","command":"make \"all\"","status":"failed"}"#,
            ),
            (String::new(), r#"{"file":"3"}"#),
        ] {
            assert_eq!(framed(&text, "3").to_source(), expected, "{text}");
        }
    }

    #[test]
    fn only_plain_facts_are_read() {
        let text = "# of a session\nid: a1\nname: \"My: session\"\nnote: |\n  more: text\nlist:\n  - b: c\nempty:\n";
        assert_eq!(
            facts(text).to_source(),
            r#"{"id":"a1","name":"My: session"}"#
        );
    }
}
