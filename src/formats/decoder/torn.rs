//! Records that were cut off, with a whole one behind them on the same line: an agent was stopped while it
//! wrote, and another one went on in the same file.

use std::ops::Range;

use crate::formats::json::{self, Damage};

/// More torn records on one line are not an accident of writing.
const MOST: usize = 8;

/// The ranges of the torn records of a text and of the whole one that ends it; empty if the text is not made of these.
///
/// A torn record breaks where the next one begins: in a string the first quote of the next record ends the string,
/// elsewhere its brace is out of place. So each range is parsed once.
pub(crate) fn parts(text: &str, damage: &Damage) -> Vec<Range<usize>> {
    let (mut start, mut broken) = (0, damage.clone());
    let mut parts = Vec::new();
    while parts.len() < MOST && !broken.unfinished {
        let Some(rest) = text.get(start..) else { break };
        let Some(next) = begins_at(rest, broken.at).filter(|next| *next > 0) else {
            break;
        };
        parts.push(start..start + next);
        start += next;
        match json::parse(text.get(start..).unwrap_or_default()) {
            Ok(_) => {
                parts.push(start..text.len());
                return parts;
            }
            Err(damage) => broken = damage,
        }
    }
    Vec::new()
}

/// The start of the record at which the text breaks.
fn begins_at(text: &str, broken: usize) -> Option<usize> {
    let before = text.get(..broken)?;
    let is_begin = |at: &usize| matches!(text.get(at + 1..).map(str::trim_start), Some(rest) if rest.starts_with('"'));
    let own = text.get(broken..)?.starts_with('{').then_some(broken);
    let close = || {
        let at = before.rfind('{')?;
        let between = text.get(at + 1..broken)?.trim();
        matches!(between, "" | "\"").then_some(at)
    };
    own.or_else(close).filter(is_begin)
}

#[cfg(test)]
mod tests {
    use super::parts;
    use crate::formats::json;

    fn texts(text: &str) -> Vec<&str> {
        let damage = json::parse(text).map(|_| ()).unwrap_err();
        parts(text, &damage)
            .into_iter()
            .map(|range| text.get(range).unwrap())
            .collect()
    }

    #[test]
    fn a_whole_record_behind_a_torn_one_is_found() {
        let whole = r#"{"a":"b","c":{"d":1}}"#;
        for torn in [
            r#"{"a":"b{"#,
            r#"{"a":"b"#,
            r#"{"a":"b","#,
            r#"{"a":12"#,
            r#"{"a"#,
            r#"{"a":"\"#,
            "{",
        ] {
            assert_eq!(texts(&format!("{torn}{whole}")), [torn, whole], "{torn}");
        }
        assert_eq!(
            texts(&format!(r#"{{"a":"x{{"a":"y{whole}"#)),
            [r#"{"a":"x"#, r#"{"a":"y"#, whole]
        );
    }

    #[test]
    fn what_ends_otherwise_is_left_alone() {
        for text in [
            r#"{"a":"b","c":{"d":1}"#,
            r#"{"a":[1,{"a":"b","c":{"d":1}}"#,
            r#"{"a":"he said {"b":1} again"}"#,
            r#"{"a":bad,"c":{"d":1}}"#,
            r#"{"a":"x{"a":"y"#,
            r#"{"{"{"{"{"{"{"{"{"{"{"{"{"{"#,
        ] {
            assert!(texts(text).is_empty(), "{text}");
        }
    }
}
