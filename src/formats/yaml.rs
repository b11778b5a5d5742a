//! Facts in YAML files beside a session: `name: value`, one a line.
//!
//! This is not a YAML parser: lists, nested values and texts over several lines are left out.

use super::json::Json;

/// The facts as an object of strings.
pub(crate) fn facts(text: &str) -> Json<'static> {
    let fact = |line: &str| {
        let (name, value) = line.split_once(": ")?;
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let value = value.trim();
        let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
        let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
        let is_text = !value.is_empty() && !value.starts_with(['|', '>', '[', '{', '&', '*']);
        (is_name && is_text).then(|| (name.to_owned().into(), Json::Str(value.to_owned().into())))
    };
    Json::Object(text.lines().filter_map(fact).collect())
}

#[cfg(test)]
mod tests {
    use super::facts;

    #[test]
    fn only_plain_facts_are_read() {
        let text = "# of a session\nid: a1\nname: \"My: session\"\nnote: |\n  more: text\nlist:\n  - b: c\nempty:\n";
        assert_eq!(
            facts(text).to_source(),
            r#"{"id":"a1","name":"My: session"}"#
        );
    }
}
