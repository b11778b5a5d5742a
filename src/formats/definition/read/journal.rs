//! Parses `[journal]`.

use super::table::TomlTable;
use super::when::tests;
use crate::formats::definition::rule::Journal;

pub(super) fn journal(mut table: TomlTable<'_>) -> Option<Journal> {
    let (path, value) = (table.required_path("path"), table.required_path("value"));
    let from = table.required_path("from");
    let elements = table.word("elements");
    // An edit without conditions does not occur.
    let mut when = |name| {
        let done = table.table(name).map(|inner| tests(inner, &mut Vec::new()));
        done.filter(|done| !done.is_empty())
    };
    let (whole, set) = (when("whole"), when("set"));
    let (push, delete) = (when("push"), when("delete"));
    let span = table.span();
    table.finish();
    if path.is_none() || value.is_none() || set.is_none() || elements.is_none() {
        let what = "a journal says where records change a document, what they bring, which do, and which list of it holds \
                    its records: { path = \"k\", value = \"v\", set = { kind = 1 }, elements = \"turns\" }, mostly with \
                    whole, push and delete, too";
        table.log.mistake(span, what);
    }
    Some(Journal {
        path: path?,
        value: value?,
        from,
        whole,
        set,
        push,
        delete,
        elements: elements?,
    })
}
