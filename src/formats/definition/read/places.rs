//! Parses `roots` and `ends`.

use itertools::Itertools as _;

use super::leak;
use super::table::TomlTable;
use crate::formats::roots::{Root, RootPattern};
use crate::model::tool::work::EndRecording;

/// Parses `~/.agent/*/log.jsonl` or `${AGENT_HOME:-~/.agent}/*/log.jsonl`: literal folders, then a
/// pattern. In a format with databases, every file that does not end in `.json`, `.jsonl` or `.txt`
/// is a database.
pub(super) fn roots(table: &mut TomlTable<'_>, has_databases: bool) -> &'static [Root] {
    let mut roots = Vec::new();
    for value in table.values("roots") {
        if let Some(fields) = TomlTable::of(value, table.log) {
            roots.extend(folder(fields));
            continue;
        }
        let Some((text, span)) = table.log.text_of("roots", value) else {
            continue;
        };
        let ends = |ends: &[&str]| ends.iter().any(|end| text.ends_with(end));
        let is_database =
            ends(&[".db", ".sqlite"]) || (has_databases && !ends(&[".json", ".jsonl", ".txt"]));
        match root(text, is_database) {
            Some(root) => roots.push(root),
            None => table.log.mistake(
                span,
                format!(
                    "`{text}` is no place; write \"~/.agent/*.jsonl\" or \"${{VARIABLE:-~/.agent}}/*.jsonl\""
                ),
            ),
        }
    }
    Box::leak(roots.into_boxed_slice())
}

/// Parses `{ at = "~/.agent", moved = ["AGENT_SESSIONS", "AGENT_HOME/sessions"], files =
/// ["*/*.jsonl"] }`: a folder, environment variables that move it, each with a path below its
/// value, and patterns of files.
fn folder(mut fields: TomlTable<'_>) -> Option<Root> {
    let span = fields.span();
    let home = match fields.string("at") {
        None => "",
        Some((at, span)) => {
            let home = at.strip_prefix("~/");
            if home.is_none() {
                fields.log.mistake(
                    span,
                    format!("`{at}` is no folder of the home directory, such as \"~/.agent\""),
                );
            }
            home?
        }
    };
    let moved = fields.strings("moved");
    let moved = moved
        .into_iter()
        .map(|(text, _)| text.split_once('/').unwrap_or((text, "")));
    let variables: Vec<_> = moved
        .map(|(name, below)| (leak(name), leak(below)))
        .collect();
    let mut holds = Vec::new();
    let mut patterns = |name| {
        fields
            .strings(name)
            .into_iter()
            .map(|(pattern, _)| leak(pattern))
    };
    holds.extend(patterns("databases").map(RootPattern::Databases));
    holds.extend(patterns("files").map(RootPattern::Files));
    holds.extend(patterns("beside").map(RootPattern::Beside));
    holds.extend(patterns("above").map(RootPattern::Above));
    fields.finish();
    if holds.is_empty() || (home.is_empty() && variables.is_empty()) {
        let right = "{ at = \"~/.agent/sessions\", files = [\"*.jsonl\"] }";
        fields.log.mistake(
            span,
            format!("a place is a folder and what it holds, such as {right}"),
        );
        return None;
    }
    Some(Root {
        variables: Box::leak(variables.into_boxed_slice()),
        home: leak(home),
        holds: Box::leak(holds.into_boxed_slice()),
    })
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
    // The last component is a pattern of files, even without a wildcard.
    let literal = parts
        .iter()
        .take(parts.len().saturating_sub(1))
        .take_while(|part| !part.contains('*'))
        .count();
    let below = parts.iter().take(literal).copied().join("/");
    let pattern = parts.iter().skip(literal).copied().join("/");
    let home = match (home, below.as_str()) {
        // An empty home means that there is no home folder.
        ("", "") => ".".to_owned(),
        ("", only) | (only, "") => only.to_owned(),
        (home, below) => format!("{home}/{below}"),
    };
    let variables: Vec<(&'static str, &'static str)> = variable
        .map(|name| (leak(name), leak(&below)))
        .into_iter()
        .collect();
    let pattern = leak(&pattern);
    let holds = vec![if is_database {
        RootPattern::Databases(pattern)
    } else {
        RootPattern::Files(pattern)
    }];
    Some(Root {
        variables: Box::leak(variables.into_boxed_slice()),
        home: leak(&home),
        holds: Box::leak(holds.into_boxed_slice()),
    })
}

/// Parses `ends`: whether an agent records the end of background work.
pub(super) fn ends(table: &mut TomlTable<'_>) -> Option<EndRecording> {
    let words = [
        ("told", EndRecording::Announced),
        ("asked", EndRecording::Asked),
        ("unrecorded", EndRecording::Unrecorded),
    ];
    table.one_of("ends", &words)
}

#[cfg(test)]
mod tests {
    use super::root;
    use crate::formats::roots::RootPattern;

    #[test]
    fn places_are_folders_and_a_pattern() {
        for (text, variables, home, pattern) in [
            ("~/.a/s/*/e.jsonl", &[][..], ".a/s", "*/e.jsonl"),
            ("~/.a/log.jsonl", &[], ".a", "log.jsonl"),
            ("~/*/.a/log.jsonl", &[], ".", "*/.a/log.jsonl"),
            (
                "${A_HOME:-~/.a}/s/*.jsonl",
                &[("A_HOME", "s")],
                ".a/s",
                "*.jsonl",
            ),
        ] {
            let root = root(text, false).unwrap();
            assert_eq!((root.variables, root.home), (variables, home), "{text}");
            assert_eq!(root.holds, [RootPattern::Files(pattern)], "{text}");
        }
        assert!(root("/etc/*.jsonl", false).is_none() && root("${A}/x", false).is_none());
        assert_eq!(
            root("~/.a/a.db", true).unwrap().holds,
            [RootPattern::Databases("a.db")]
        );
    }
}
