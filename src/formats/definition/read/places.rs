//! Where a definition says that sessions lie.

use super::table::{Fields, Reader};
use crate::formats::roots::{Holds, Root};

/// `~/.agent/*/log.jsonl`, or `${AGENT_HOME:-~/.agent}/*/log.jsonl`: literal folders, then a pattern. Of a format with
/// databases all that is not named `.json` or `.jsonl` is one.
pub(super) fn roots(reader: &mut Reader<'_>, table: &mut Fields<'_>, has_databases: bool) -> &'static [Root] {
    let mut roots = Vec::new();
    for (text, span) in table.strings(reader, "roots") {
        let is_database = has_databases && ![".json", ".jsonl"].iter().any(|end| text.ends_with(end));
        match root(text, is_database) {
            Some(root) => roots.push(root),
            None => reader.mistake(
                span,
                format!(
                    "`{text}` is no place; write \"~/.agent/*.jsonl\" or \"${{VARIABLE:-~/.agent}}/*.jsonl\""
                ),
            ),
        }
    }
    Box::leak(roots.into_boxed_slice())
}

fn root(text: &str, is_database: bool) -> Option<Root> {
    let (variable, home, rest) = match text.strip_prefix("${") {
        Some(inner) => {
            let (inner, rest) = inner.split_once('}')?;
            let (variable, home) = inner.split_once(":-")?;
            (
                Some(variable),
                home.strip_prefix("~/").or((home == "~").then_some(""))?,
                rest.strip_prefix('/')?,
            )
        }
        None => (None, "", text.strip_prefix("~/")?),
    };
    let parts: Vec<&str> = rest.split('/').collect();
    // The last part names the files, even without a wildcard.
    let literal =
        parts.iter().take(parts.len().saturating_sub(1)).take_while(|part| !part.contains('*')).count();
    let below = parts.iter().take(literal).copied().collect::<Vec<_>>().join("/");
    let pattern = parts.iter().skip(literal).copied().collect::<Vec<_>>().join("/");
    let home = match (home, below.as_str()) {
        // Nothing would be nowhere.
        ("", "") => ".".to_owned(),
        ("", only) | (only, "") => only.to_owned(),
        (home, below) => format!("{home}/{below}"),
    };
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let variables: Vec<(&'static str, &'static str)> =
        variable.map(|name| (leak(name.to_owned()), leak(below))).into_iter().collect();
    let pattern = leak(pattern);
    let holds = vec![if is_database { Holds::Databases(pattern) } else { Holds::Files(pattern) }];
    Some(Root {
        variables: Box::leak(variables.into_boxed_slice()),
        home: leak(home),
        holds: Box::leak(holds.into_boxed_slice()),
    })
}

#[cfg(test)]
mod tests {
    use super::root;
    use crate::formats::roots::Holds;

    #[test]
    fn places_are_folders_and_a_pattern() {
        for (text, variables, home, pattern) in [
            ("~/.a/s/*/e.jsonl", &[][..], ".a/s", "*/e.jsonl"),
            ("~/.a/log.jsonl", &[], ".a", "log.jsonl"),
            ("~/*/.a/log.jsonl", &[], ".", "*/.a/log.jsonl"),
            ("${A_HOME:-~/.a}/s/*.jsonl", &[("A_HOME", "s")], ".a/s", "*.jsonl"),
        ] {
            let root = root(text, false).unwrap();
            assert_eq!((root.variables, root.home), (variables, home), "{text}");
            assert_eq!(root.holds, [Holds::Files(pattern)], "{text}");
        }
        assert!(root("/etc/*.jsonl", false).is_none() && root("${A}/x", false).is_none());
        assert_eq!(root("~/.a/a.db", true).unwrap().holds, [Holds::Databases("a.db")]);
    }
}
