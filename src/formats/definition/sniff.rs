//! Detects formats by the marks in their heads.

use super::head::DetectionMark;
use super::head::{AsideFile, Head};
use super::path::PathScope;
use super::rule::Definition;
use crate::formats::json::Json;
use crate::formats::probe::{Confidence, Probe, ProbeResult, nearly_all};
use crate::model::record::Shape;

/// The verdict by the marks of a head.
pub(crate) fn sniff(head: &Head, probe: &Probe<'_>) -> ProbeResult {
    if !probe.children.is_empty() {
        return ProbeResult::no("a folder");
    }
    let read = |shape: &Shape| match shape {
        Shape::Document => of(head, *shape, probe.elements, probe.header),
        // Databases are detected by their tables, plain texts by their lines.
        Shape::Rows | Shape::Text => None,
        _ => of(head, *shape, probe.lines, None),
    };
    let found = head.detect.shapes.iter().filter_map(read);
    found
        .max_by_key(|found| found.confidence)
        .unwrap_or_else(|| ProbeResult::no("none of the marks of its definition"))
}

/// The verdict of a definition, which may also be for plain text or a folder.
pub(super) fn sniff_definition(definition: &Definition, probe: &Probe<'_>) -> ProbeResult {
    let is_chat = |text| {
        let chat = definition.chat.as_ref();
        chat.is_some_and(|chat| chat.is_start(text))
    };
    if probe.children.is_empty() && probe.text.is_some_and(is_chat) {
        let what = format!("{}: messages in plain text", definition.head.agent);
        return ProbeResult::yes(Confidence::Certain, Shape::Text, what);
    }
    let found = sniff(&definition.head, probe);
    // The file is one record of a session that is a folder.
    if found.confidence > Confidence::NeedMore && definition.is_record(probe.path) {
        ProbeResult {
            shape: Shape::Folder,
            ..found
        }
    } else {
        found
    }
}

/// The description of a file of the agent that is not a session; `None` if no `aside` matches.
pub(crate) fn aside(head: &'static Head, probe: &Probe<'_>) -> Option<&'static str> {
    let records = if probe.is_document {
        probe.elements
    } else {
        probe.lines
    };
    let is = |aside: &&AsideFile| {
        let is_such = |record: &Json<'_>| aside.mark.when.holds(PathScope::of(record));
        if aside.mark.is_header {
            probe.header.is_some_and(is_such)
        } else if aside.is_any {
            records.iter().any(is_such)
        } else {
            nearly_all(records, is_such)
        }
    };
    head.aside.iter().find(is).map(|aside| aside.what)
}

fn of(
    head: &Head,
    shape: Shape,
    records: &[Json<'_>],
    header: Option<&Json<'_>>,
) -> Option<ProbeResult> {
    let is = |mark: &DetectionMark, record: &Json<'_>| mark.when.holds(PathScope::of(record));
    let any = |mark: &&DetectionMark| {
        if mark.is_header {
            header.is_some_and(|header| is(mark, header))
        } else {
            records.iter().any(|record| is(mark, record))
        }
    };
    let detect = &head.detect;
    if detect.never.iter().any(|mark| any(&mark)) {
        return None;
    }
    if let Some(mark) = detect.certain.iter().find(any) {
        return Some(ProbeResult::yes(
            Confidence::Certain,
            shape,
            format!("{}: {}", head.agent, mark.words),
        ));
    }
    // The records of a file may differ in kind: nearly all must match one of the marks.
    let nearly = |marks: &[DetectionMark]| {
        let header = marks.iter().position(|mark| mark.is_header && any(&mark));
        let looks =
            |record: &Json<'_>| marks.iter().any(|mark| !mark.is_header && is(mark, record));
        header.or_else(|| {
            let found = || marks.iter().position(|mark| !mark.is_header && any(&mark));
            nearly_all(records, looks).then(found)?
        })
    };
    let (confidence, marks) = [
        (Confidence::Likely, &detect.likely),
        (Confidence::Maybe, &detect.maybe),
    ]
    .into_iter()
    .find(|(_, marks)| nearly(marks).is_some())?;
    let mark = marks.get(nearly(marks)?)?;
    Some(ProbeResult::yes(
        confidence,
        shape,
        format!("{}: {}", head.agent, mark.words),
    ))
}
