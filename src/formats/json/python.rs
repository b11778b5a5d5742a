//! Replaces `NaN` and infinities, which Python writes although JSON does not have them.

use std::borrow::Cow;

const PYTHON: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// An empty array of the same length as the word, so that all offsets stay the same.
pub(super) fn as_wide(word: &str) -> String {
    format!("[{:1$}]", "", word.len() - 2)
}

/// The text with these numbers replaced by JSON.
pub(super) fn without_python(text: &str, instead: impl Fn(&str) -> String) -> Cow<'_, str> {
    if !["NaN", "Infinity"].iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut is_escaped) = (false, false);
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let word = PYTHON
            .iter()
            .find(|word| !in_string && rest.starts_with(**word));
        if let Some(word) = word {
            out.push_str(&instead(word));
            at += word.len();
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        at += c.len_utf8();
        in_string ^= c == '"' && !is_escaped;
        is_escaped = in_string && c == '\\' && !is_escaped;
        out.push(c);
    }
    Cow::Owned(out)
}
