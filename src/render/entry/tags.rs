//! Rewrites notices with an XML tag around each field, which programs write for models, to lines
//! such as `exit code: 1`.
//!
//! Invariant: the text of a field is unchanged up to its closing tag.

use std::fmt::Write as _;

/// The text with its fields as lines; `None` if it has no tags.
pub(super) fn readable(text: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let (mut out, mut has_tags) = (String::new(), false);
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(name) = open.last().copied()
            && let Some(rest) = before_end(line, name)
        {
            open.pop();
            if !rest.trim().is_empty() {
                add(&mut out, rest);
            }
            continue;
        }
        // Only two levels are parsed: deeper tags are in the content of a field, which anybody may
        // have written.
        let tag = (open.len() < 2).then(|| begin(trimmed)).flatten();
        let Some(Tag { name, facts, rest }) = tag else {
            add(&mut out, line);
            continue;
        };
        has_tags = true;
        let words = name.replace(['-', '_'], " ");
        if let Some(inner) = before_end(rest, name) {
            add(&mut out, &format!("{words}: {}", fields(inner)));
        } else {
            if !(rest.is_empty() && facts.is_empty() && open.is_empty()) {
                let value = [facts, rest.trim()].join(" ");
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
        let words = tag.name.replace(['-', '_'], " ");
        _ = write!(all, "{gap}{words} {}", inner.trim());
        rest = behind.trim_start();
    }
    if all.is_empty() || !rest.is_empty() {
        return text.to_owned();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::readable;

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
