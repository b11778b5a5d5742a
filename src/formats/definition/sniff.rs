//! Whether a file is of a definition's format.

use super::path::Scope;
use super::rule::{Definition, Mark};
use crate::formats::decoder::{Confidence, Probe, Verdict, nearly_all};
use crate::formats::json::Json;
use crate::model::record::Shape;

/// What a definition says of a file.
pub(super) fn sniff(definition: &Definition, probe: &Probe<'_>) -> Verdict {
    if !probe.children.is_empty() {
        return Verdict::no("a folder");
    }
    let read = |shape: Shape| match shape {
        Shape::Document => of(definition, shape, probe.elements, probe.header),
        _ => of(definition, shape, probe.lines, None),
    };
    let found =
        definition.shapes.iter().filter_map(|shape| read(*shape)).max_by_key(|found| found.confidence);
    found.unwrap_or_else(|| Verdict::no("none of the marks of its definition"))
}

fn of(
    definition: &Definition,
    shape: Shape,
    records: &[Json<'_>],
    header: Option<&Json<'_>>,
) -> Option<Verdict> {
    let is = |mark: &Mark, record: &Json<'_>| mark.when.holds(Scope::of(record));
    let any = |mark: &&Mark| {
        if mark.is_header {
            header.is_some_and(|header| is(mark, header))
        } else {
            records.iter().any(|record| is(mark, record))
        }
    };
    let detect = &definition.detect;
    if detect.never.iter().any(|mark| any(&mark)) {
        return None;
    }
    if let Some(mark) = detect.certain.iter().find(any) {
        return Some(Verdict::yes(
            Confidence::Certain,
            shape,
            format!("{}: {}", definition.agent, mark.words),
        ));
    }
    let nearly = |mark: &&Mark| {
        if mark.is_header { any(mark) } else { nearly_all(records, |record| is(mark, record)) }
    };
    let mark = detect.likely.iter().find(nearly)?;
    Some(Verdict::yes(Confidence::Likely, shape, format!("{}: {}", definition.agent, mark.words)))
}
