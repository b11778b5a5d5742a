//! Parses conditions on records.

use itertools::Itertools as _;
use toml::Spanned;
use toml::de::DeValue;

use super::table::{MistakeLog, TomlTable};
use crate::formats::definition::path::RecordPath;
use crate::formats::definition::rule::FlagRule;
use crate::formats::definition::when::{Condition, Conditions, Literal, Want};

/// Parses `path = value`, `has`, `lacks`, `starts` and `not`, and adds each condition as text to
/// `words`.
pub(super) fn tests(mut table: TomlTable<'_>, words: &mut Vec<String>) -> Conditions {
    let mut when = Conditions::default();
    for (name, is_there) in [("has", true), ("lacks", false)] {
        for value in table.values(name) {
            if let Some(path) = table.log.path_of(name, value) {
                words.push(format!(
                    "{name} {}",
                    value.get_ref().as_str().unwrap_or_default()
                ));
                when.all.push(Condition {
                    path,
                    want: if is_there { Want::There } else { Want::Missing },
                });
            }
        }
    }
    if let Some(starts) = table.table("starts") {
        for (name, value) in starts.unread_fields() {
            let marks: Vec<Box<str>> = literals(table.log, &name, value)
                .iter()
                .map(|one| one.word().into())
                .collect();
            words.push(format!("{name} begins with {}", marks.join(" or ")));
            when.all
                .extend(path(table.log, &name, value).map(|path| Condition {
                    path,
                    want: Want::Starts(marks),
                }));
        }
    }
    if let Some(none) = table.table("not") {
        when.none = tests(none, &mut Vec::new()).all;
    }
    for (name, value) in table.unread_fields() {
        let literals = literals(table.log, &name, value);
        let list = literals.iter().map(Literal::word).join(" or ");
        words.push(format!("{name} {list}"));
        when.all
            .extend(path(table.log, &name, value).map(|path| Condition {
                path,
                want: Want::OneOf(literals),
            }));
    }
    when
}

pub(super) fn path(
    log: &MistakeLog<'_>,
    text: &str,
    value: &Spanned<DeValue<'_>>,
) -> Option<RecordPath> {
    RecordPath::parse(text)
        .map_err(|why| log.mistake(value.span(), why))
        .ok()
}

pub(super) fn literals(
    log: &MistakeLog<'_>,
    name: &str,
    value: &Spanned<DeValue<'_>>,
) -> Vec<Literal> {
    let one = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
        DeValue::String(text) => Some(Literal::Text(text.as_ref().into())),
        DeValue::Integer(number) => number.as_str().parse().ok().map(Literal::Number),
        DeValue::Float(number) => number.as_str().parse().ok().map(Literal::Number),
        DeValue::Boolean(flag) => Some(Literal::Bool(*flag)),
        _ => None,
    };
    let values: Option<Vec<Literal>> = match value.get_ref().as_array() {
        Some(items) if !log.expect_few(name, items.len(), value.span()) => return Vec::new(),
        Some(items) => items.iter().map(one).collect(),
        None => one(value).map(|one| vec![one]),
    };
    values
        .filter(|values| !values.is_empty())
        .unwrap_or_else(|| {
            log.mistake(
                value.span(),
                format!(
                    "`{name}` is compared with a text, a number, true, false or a list of them"
                ),
            );
            Vec::new()
        })
}

pub(super) fn flag(table: &mut TomlTable<'_>, name: &'static str) -> FlagRule {
    given_flag(table, name).unwrap_or_default()
}

pub(super) fn given_flag(table: &mut TomlTable<'_>, name: &'static str) -> Option<FlagRule> {
    let value = table.get(name)?;
    match value.get_ref() {
        DeValue::Boolean(fixed) => Some(FlagRule::Fixed(*fixed)),
        DeValue::String(text) => match Condition::parse(text) {
            Ok(test) => Some(FlagRule::If(vec![Conditions {
                all: vec![test],
                none: Vec::new(),
            }])),
            Err(why) => {
                table.log.mistake(value.span(), why);
                None
            }
        },
        DeValue::Table(_) | DeValue::Array(_) => {
            let each = table.tables(name).into_iter();
            Some(FlagRule::If(
                each.map(|inner| tests(inner, &mut Vec::new())).collect(),
            ))
        }
        _ => {
            let what = format!(
                "`{name}` is true, false, \"path\", \"!path\", \"path=value\", \"path!=value\" or tests as in `when`"
            );
            table.log.mistake(value.span(), what);
            None
        }
    }
}
