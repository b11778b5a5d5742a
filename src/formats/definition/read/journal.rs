//! Parses `[journal]` and the parts of rules.

use super::table::{MistakeLog, TomlTable};
use super::when::{flag, tests};
use crate::formats::definition::rule::{BlockRule, Journal, PartOf, PartRule, RepeatedKey, Rule};
use crate::model::text::Text;

pub(super) fn journal(reader: &mut MistakeLog<'_>, mut table: TomlTable<'_>) -> Option<Journal> {
    let (path, value) = (table.path(reader, "path"), table.path(reader, "value"));
    let from = table.path(reader, "from");
    let elements = table
        .string(reader, "elements")
        .map(|(list, _)| Text::from(list));
    // An operation without conditions is in no record.
    let mut when = |reader: &mut MistakeLog<'_>, name| {
        let done = table
            .table(reader, name)
            .map(|inner| tests(reader, inner, &mut Vec::new()));
        done.filter(|done| !done.is_empty())
    };
    let (whole, set) = (when(reader, "whole"), when(reader, "set"));
    let (push, delete) = (when(reader, "push"), when(reader, "delete"));
    let span = table.span();
    table.finish(reader);
    if path.is_none() || value.is_none() || set.is_none() {
        let what = "a journal says where records change a state, what they bring, and which do: \
                    { path = \"k\", value = \"v\", set = { kind = 1 } }, mostly with whole, push and delete, too";
        reader.mistake(span, what.to_owned());
    }
    Some(Journal {
        path: path?,
        value: value?,
        from,
        whole,
        set,
        push,
        delete,
        elements,
    })
}

/// Parses `part` of a rule.
pub(super) fn part(reader: &mut MistakeLog<'_>, table: &mut TomlTable<'_>) -> Option<PartRule> {
    let unless = flag(reader, table, "unless");
    let (text, span) = table.string(reader, "part")?;
    let of = parts(text);
    if of.is_none() {
        let what =
            format!("`{text}` names no parts of a state; parts are written as \"list[].member\"");
        reader.mistake(span, what);
    }
    let of = of?;
    let owner = of
        .iter()
        .position(|step| *step == PartOf::Each)
        .map_or(0, |each| each + 1);
    Some(PartRule { of, owner, unless })
}

fn parts(text: &str) -> Option<Vec<PartOf>> {
    let mut parts = Vec::new();
    for step in text.split('.') {
        let name = step.trim_end_matches("[]");
        if name.is_empty() || name.contains(['[', ']', '|', ':', '=']) {
            return None;
        }
        parts.push(PartOf::Member(Text::from(name)));
        parts.extend((0..(step.len() - name.len()) / 2).map(|_| PartOf::Each));
    }
    Some(parts)
}

/// Why a rule for parts is not allowed.
pub(super) fn is_wrong(rule: &Rule) -> Option<&'static str> {
    let part = rule.part.as_ref()?;
    let other = rule.also
        || rule.skip.is_some()
        || rule.again != RepeatedKey::Join
        || !rule.states.is_empty()
        || rule.lane.is_some()
        || rule.records.is_some()
        || rule.rewind.is_some()
        || rule.resets.run.is_some();
    if other {
        return Some("a rule with `part` makes entries only: entry, block, result, usage, mark");
    }
    let has_results = || !rule.results.is_empty() || rule.blocks.iter().any(BlockRule::has_results);
    (part.unless.is_some() && has_results())
        .then_some("a rule with `unless` has no results: they would stay with their calls")
}
