//! Rewrites texts with an XML tag around each field, which programs write for models, to lines
//! such as `exit code: 1`.
//!
//! Invariant: the text of a field is unchanged up to its closing tag.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Beginnings of results that programs wrote, and the levels of their fields. The tags of other
/// results belong to what a tool returned.
const RESULTS: [(&str, usize); 12] = [
    ("<persisted-output>", 1),
    ("<retrieval_status>", 1),
    ("<returncode>", 1),
    ("<file_write_result>", 2),
    // Roo Code and Kilo Code.
    ("<files>\n<file><path>", 3),
    (
        "The tool execution failed with the following error:\n<error>",
        1,
    ),
    (
        "The user denied this operation and provided the following feedback:\n<feedback>",
        1,
    ),
    (
        "The user approved this operation and provided the following context:\n<feedback>",
        3,
    ),
    // Crush, whose lines of a file have numbers.
    ("<file>\n  ", 1),
    ("<result>\nFile ", 1),
    ("<result>\nContent ", 1),
    ("<result>\nApplied ", 1),
];
/// Tags of what programs add behind results.
const BEHIND: [&str; 3] = ["system-reminder", "usage", "cwd"];

/// A notice with its fields as lines; `None` if it has no tags.
pub(crate) fn readable(text: &str) -> Option<String> {
    // Deeper tags are in the content of a field, which anybody may have written.
    with_fields(text, 2)
}

/// A result without the tags of its program.
pub(crate) fn readable_result(text: &str) -> Cow<'_, str> {
    let (mut rest, mut behind) = (text.trim_end(), Vec::new());
    while let Some((before, name, inner)) = BEHIND.iter().find_map(|name| last(rest, name)) {
        rest = before.trim_end();
        behind.push(format!("{}: {}", words(name), inner.trim()));
    }
    let start = rest.trim_start();
    let levels = RESULTS.iter().find(|(tag, _)| start.starts_with(tag));
    let fields = levels.and_then(|(_, levels)| with_fields(start, *levels));
    if fields.is_none() && behind.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = fields.unwrap_or_else(|| rest.to_owned());
    for block in behind.iter().rev() {
        add(&mut out, block);
    }
    Cow::Owned(out)
}

/// A block of lines in a tag at the end of a text, and the text before it.
fn last<'t>(text: &'t str, name: &'static str) -> Option<(&'t str, &'static str, &'t str)> {
    let before = before_end(text, name)?;
    let (before, inner) = before.rsplit_once(&*format!("<{name}>"))?;
    let is_line = before.is_empty() || before.ends_with('\n');
    is_line.then_some((before, name, inner))
}

fn words(name: &str) -> String {
    name.replace(['-', '_'], " ")
}

fn with_fields(text: &str, levels: usize) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let (mut out, mut has_tags, mut is_after_field) = (String::new(), false, false);
    for line in text.lines() {
        let trimmed = line.trim();
        if std::mem::take(&mut is_after_field) && trimmed.is_empty() && open.is_empty() {
            is_after_field = true;
            continue;
        }
        if let Some(name) = open.last().copied()
            && let Some(rest) = before_end(line, name)
        {
            open.pop();
            if !rest.trim().is_empty() {
                add(&mut out, rest);
            }
            continue;
        }
        let tag = (open.len() < levels).then(|| begin(trimmed)).flatten();
        let Some(Tag { name, facts, rest }) = tag else {
            add(&mut out, line);
            continue;
        };
        has_tags = true;
        let words = words(name);
        if let Some(inner) = before_end(rest, name) {
            add(&mut out, &format!("{words}: {}", fields(inner)));
            is_after_field = true;
        } else {
            if !(rest.is_empty() && facts.is_empty() && open.is_empty()) {
                let value = [facts, &*fields(rest.trim())].join(" ");
                add(&mut out, format!("{words}: {}", value.trim()).trim_end());
            }
            open.push(name);
        }
    }
    has_tags.then_some(out)
}

fn add(out: &mut String, line: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(line);
}

/// `<name facts>rest`
struct Tag<'t> {
    name: &'t str,
    facts: &'t str,
    rest: &'t str,
}

fn begin(text: &str) -> Option<Tag<'_>> {
    let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
    let (name, facts) = tag.split_once(' ').unwrap_or((tag, ""));
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_part);
    is_name.then_some(Tag { name, facts, rest })
}

/// The text before a closing tag at the end of a line.
fn before_end<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let before = text.trim_end().strip_suffix('>')?.strip_suffix(name)?;
    before.strip_suffix("</")
}

/// Fields on one line: `<a>1</a><b>2</b>`; other text is unchanged.
fn fields(text: &str) -> String {
    let (mut rest, mut all) = (text.trim(), String::new());
    while let Some(tag) = begin(rest) {
        let end = format!("</{}>", tag.name);
        let Some((inner, behind)) = tag.rest.split_once(&*end) else {
            return text.to_owned();
        };
        let gap = if all.is_empty() { "" } else { ", " };
        _ = write!(all, "{gap}{} {}", words(tag.name), inner.trim());
        rest = behind.trim_start();
    }
    if all.is_empty() || !rest.is_empty() {
        return text.to_owned();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{readable, readable_result};

    #[test]
    fn results_lose_the_tags_of_their_program_and_no_others() {
        for (text, expected) in [
            (
                "<retrieval_status>timeout</retrieval_status>\n\n<task_id>b7</task_id>\n\n<output>\n<p>x</p>\nok\n</output>",
                "retrieval status: timeout\ntask id: b7\n<p>x</p>\nok",
            ),
            (
                "<returncode>1</returncode>\n<output>\n<a>\n</output>",
                "returncode: 1\n<a>",
            ),
            (
                "<persisted-output>\nOutput too large.\n\n<a>b</a>\n</persisted-output>",
                "Output too large.\n\n<a>b</a>",
            ),
            (
                "     1\tfn a()\n\n<system-reminder>\nBe brief.\n</system-reminder>\n",
                "     1\tfn a()\nsystem reminder: Be brief.",
            ),
            (
                "Done.\n<usage>total_tokens: 4\ntool_uses: 2</usage>\n<system-reminder>x</system-reminder>",
                "Done.\nusage: total_tokens: 4\ntool_uses: 2\nsystem reminder: x",
            ),
            (
                "<files>\n<file><path>a.rs</path>\n<content lines=\"1-2\">\n 1 | <b>\n 2 | x\n</content>\n</file>\n</files>",
                "file: path a.rs\ncontent: lines=\"1-2\"\n 1 | <b>\n 2 | x",
            ),
            (
                "The tool execution failed with the following error:\n<error>\nNo <file> there\n</error>",
                "The tool execution failed with the following error:\nNo <file> there",
            ),
            (
                "<file>\n     1|<result>\n     2|</result>\n</file>\n",
                "     1|<result>\n     2|</result>",
            ),
            (
                "<result>\nFile successfully written: a\n</result>\n\n<cwd>/w</cwd>",
                "File successfully written: a\ncwd: /w",
            ),
            (
                "<file>\n<name>a</name>\n</file>",
                "<file>\n<name>a</name>\n</file>",
            ),
            ("<html>\n<p>x</p>\n</html>\n", "<html>\n<p>x</p>\n</html>\n"),
            ("1: <usage>a</usage>", "1: <usage>a</usage>"),
        ] {
            assert_eq!(readable_result(text), expected, "{text}");
        }
    }

    #[test]
    fn fields_are_named_in_words() {
        for (text, expected) in [
            (
                "<task-notification>\n<task-id>b7</task-id>\n<status>completed</status>\n</task-notification>",
                Some("task id: b7\nstatus: completed"),
            ),
            (
                "[NOTE]\n<n>\n<result>It says\n<div>x</div>\n</n>\nand more</result>\n<usage><total_tokens>4</total_tokens><tool_uses>2</tool_uses></usage>\n</n>",
                Some(
                    "[NOTE]\nresult: It says\n<div>x</div>\n</n>\nand more\nusage: total tokens 4, tool uses 2",
                ),
            ),
            (
                "<notification id=\"a\" type=\"task.failed\">\nTitle: x\n<output-file path=\"p\">\n<a>b</a>\n</output-file>\n</notification>",
                Some(
                    "notification: id=\"a\" type=\"task.failed\"\nTitle: x\noutput file: path=\"p\"\n<a>b</a>",
                ),
            ),
            ("no tags\na < b > c", None),
            ("<T>x</T>", None),
            ("<half>\nx", Some("x")),
            ("<a>b <c> d</a>", Some("a: b <c> d")),
        ] {
            assert_eq!(readable(text).as_deref(), expected, "{text}");
        }
    }
}
