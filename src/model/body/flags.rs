//! Facts about the content of a body, detected once at decoding because the content may be on disk
//! later.
//!
//! Invariant: flags are facts about bytes and positions; other modules judge what they mean. They
//! are not part of the equality of bodies.

use serde::{Deserialize, Serialize};

/// Facts about a content that its stub may not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BodyFlags {
    /// Set if an output reads like a failure report.
    pub(crate) failure: Option<OutputFailure>,
    /// Arguments were cut off: what the model wrote of them is no complete value.
    pub(crate) broken_off: bool,
    /// The agent recorded no id for the call; its key was made from its position.
    pub(crate) unnamed: bool,
    /// A failure that the agent's own success flag does not show.
    pub(crate) unmarked: bool,
    /// The result came before its call.
    pub(crate) early: bool,
    /// The result was recorded in another lane than its call.
    pub(crate) elsewhere: bool,
    /// The result has output, but neither an exit code nor a status that says how the call ended.
    pub(crate) unjudged: bool,
    /// The result has neither output nor status. `unjudged` is set as well.
    pub(crate) unrecorded: bool,
}

/// How an output reports a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OutputFailure {
    /// A line about a command that exited with a code other than 0.
    Exit,
    /// An object that reports its own failure: `{"status":"error"}`, `{"success":false}`,
    /// `{"error":"…"}`.
    Object,
    /// Such an object that also names the failed tool, as agents write it and files rarely do.
    Tool,
    /// A prefix such as `Error: `.
    Words,
}

/// Outputs above this size in bytes count as data, whatever they begin with.
const REPORT_BYTES: usize = 16 << 10;
/// Keys and words above this size in bytes are not checked.
const WORD_BYTES: usize = 40;
/// Prefix of outputs that begin with the exit code of the command.
const EXIT_CODE: &str = "Exit code";

impl BodyFlags {
    /// Flags of a tool output.
    pub(crate) fn of_output(raw: &str) -> Self {
        Self {
            failure: failure(raw),
            ..Self::default()
        }
    }
}

/// How an output reports a failure; `None` if it does not or is no report.
fn failure(raw: &str) -> Option<OutputFailure> {
    let begin = raw.trim_start();
    if begin.starts_with('{') {
        return (raw.len() <= REPORT_BYTES)
            .then(|| of_object(begin))
            .flatten();
    }
    let has_failed = starts_with_exit(begin);
    if has_failed || ends_with_exit(raw.trim_end().lines().next_back().unwrap_or_default()) {
        return Some(OutputFailure::Exit);
    }
    let is_error = begin
        .get(..7)
        .is_some_and(|word| word.eq_ignore_ascii_case("error: "));
    (is_error && raw.len() <= REPORT_BYTES).then_some(OutputFailure::Words)
}

/// `Exit code 101` or `Exit code: 1` on the first line.
fn starts_with_exit(begin: &str) -> bool {
    let rest = begin.strip_prefix(EXIT_CODE);
    rest.is_some_and(|rest| is_code(rest.trim_start_matches([':', ' '])))
}

/// `Command exited with code 1` and `(Process exited with code 1.)` on the last line.
fn ends_with_exit(last: &str) -> bool {
    let last = last.trim_start_matches(['(', '[']);
    ["Command exited with code ", "Process exited with code "]
        .iter()
        .any(|place| last.strip_prefix(place).is_some_and(is_code))
}

/// Whether the rest of a line begins with a number other than 0 and has hardly anything after it.
fn is_code(rest: &str) -> bool {
    let line = rest.split('\n').next().unwrap_or_default().trim();
    let digits = line
        .trim_start_matches('-')
        .trim_end_matches([')', ']', '.']);
    !digits.is_empty()
        && digits.len() <= 10
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.bytes().any(|byte| byte != b'0')
}

/// Checks the members of the outermost object only.
fn of_object(begin: &str) -> Option<OutputFailure> {
    let mut has_failed = false;
    let mut names_tool = false;
    for (key, value) in Members::of(begin) {
        match key {
            "status" => has_failed |= matches!(value, "\"error\"" | "\"failed\"" | "\"failure\""),
            "success" | "ok" => has_failed |= value == "false",
            "isError" | "is_error" => has_failed |= value == "true",
            "error" => has_failed |= value.len() > 2 && value.starts_with(['"', '{']),
            "tool" | "toolName" => names_tool |= value.starts_with('"'),
            _ => {}
        }
    }
    match (has_failed, names_tool) {
        (false, _) => None,
        (true, true) => Some(OutputFailure::Tool),
        (true, false) => Some(OutputFailure::Object),
    }
}

/// Iterator over the members of an object as written: the key without quotes, and the beginning of
/// the value (`{` for an object). Invalid JSON yields no members or meaningless ones, but the
/// iterator always ends.
struct Members<'a> {
    rest: &'a str,
}

impl<'a> Members<'a> {
    fn of(object: &'a str) -> Self {
        Self {
            rest: object.strip_prefix('{').unwrap_or_default(),
        }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let key_at = self.rest.trim_start_matches([',', ' ', '\n', '\r', '\t']);
        let key_end = end_of_value(key_at);
        let quoted = key_at.get(..key_end)?;
        let key = quoted.strip_prefix('"')?.strip_suffix('"')?;
        let value_at = key_at
            .get(key_end..)?
            .trim_start()
            .strip_prefix(':')?
            .trim_start();
        let value_end = end_of_value(value_at);
        let value = value_at.get(..value_end)?.trim_end();
        self.rest = value_at.get(value_end..)?;
        let key = if key.len() <= WORD_BYTES { key } else { "" };
        let shown = if value.len() <= WORD_BYTES {
            value
        } else {
            long(value)
        };
        Some((key, shown))
    }
}

/// Prefix of a long value; the rest does not matter.
fn long(value: &str) -> &str {
    value
        .get(..WORD_BYTES)
        .or_else(|| value.get(..1))
        .unwrap_or_default()
}

/// End offset of the value at the beginning of the text.
fn end_of_value(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' if depth == 0 => return at + 1,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return if depth == 0 { at } else { at + 1 },
            b'}' | b']' => depth -= 1,
            b',' | b':' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{BodyFlags, OutputFailure};

    fn failure(text: &str) -> Option<OutputFailure> {
        BodyFlags::of_output(text).failure
    }

    #[test]
    fn failures_are_worded_in_several_ways() {
        for (text, expected) in [
            ("Exit code 101\nboom", Some(OutputFailure::Exit)),
            ("Exit code: 2", Some(OutputFailure::Exit)),
            ("a\n\nCommand exited with code 1", Some(OutputFailure::Exit)),
            (
                "a\n\n(Command exited with code 127)",
                Some(OutputFailure::Exit),
            ),
            ("Process exited with code 1.", Some(OutputFailure::Exit)),
            (
                "{\"status\":\"error\",\"message\":\"no\"}",
                Some(OutputFailure::Object),
            ),
            (
                "{\n  \"status\": \"error\",\n  \"tool\": \"read\",\n  \"error\": \"x\"\n}",
                Some(OutputFailure::Tool),
            ),
            (
                "{\"a\":{\"b\":[1,\"}\"]},\"success\" : false}",
                Some(OutputFailure::Object),
            ),
            ("{\"error\":{\"code\":404}}", Some(OutputFailure::Object)),
            ("Error: no such file", Some(OutputFailure::Words)),
            ("error: could not compile", Some(OutputFailure::Words)),
        ] {
            assert_eq!(failure(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_speaks_of_failures_is_none() {
        for text in [
            "",
            "Exit code 0",
            "Exit code: 0\nOutput:\nok",
            "Exit codes are numbers",
            "Command exited with code 0",
            "see: Command exited with code 1\nand more",
            "{\"status\":\"ok\",\"inner\":{\"status\":\"error\"}}",
            "{\"error\":null}",
            "{\"error\":\"\"}",
            "{\"text\":\"\\\"status\\\":\\\"error\\\"\"}",
            "{\"success\":true}",
            "{broken",
            "[{\"status\":\"error\"}]",
            "Errors: 0",
            "0 failed",
        ] {
            assert_eq!(failure(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_signs(text in "[{}\\[\\]\",:\\\\a-zé \n]{0,60}") {
            let _ = BodyFlags::of_output(text.as_str());
            let _ = BodyFlags::of_output(format!("{{{text}").as_str());
        }
    }
}
