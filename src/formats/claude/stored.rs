//! Large outputs (since 2.1): the result has the beginning and names a file beside the session,
//! `tool-results/<id>.txt`, with the whole output.
//!
//! Invariant: a result keeps the content of its line until the file is read.

use std::collections::HashMap;
use std::path::Path;

use crate::formats::json::Json;
use crate::model::body::{Body, Key};
use crate::model::edit::{Batch, Edit, Severity};
use crate::model::entry::{BlockKind, Role};
use crate::model::figures::count;
use crate::model::record::Origin;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::tool::ToolResult;

/// Stored outputs by file name.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    named: HashMap<String, StoredResult>,
    read: HashMap<String, Body>,
}

#[derive(Debug)]
struct StoredResult {
    call: Key,
    result: ToolResult,
    lane: Option<Name>,
    at: Origin,
    is_missed: bool,
}

impl Stored {
    /// Records a result that names a file, and completes it if the file was read.
    pub(crate) fn name(
        &mut self,
        call: &Key,
        result: &mut ToolResult,
        lane: Option<&Name>,
        file: &str,
        out: &mut Batch,
    ) {
        if let Some(body) = self.read.get(file) {
            complete(result, body.clone());
            out.push(Edit::Retire(key(file)));
        }
        let (call, result, lane) = (call.clone(), result.clone(), lane.cloned());
        self.named.insert(
            file.to_owned(),
            StoredResult {
                call,
                result,
                lane,
                at: out.origin(),
                is_missed: false,
            },
        );
    }

    /// Applies a stored output to the result that names it.
    pub(crate) fn arrive(&mut self, path: &Path, text: &str, out: &mut Batch) -> Fate {
        let file = file_of(&path.to_string_lossy()).to_owned();
        let body = out.output(text);
        let mut released = body.clone();
        released.release();
        self.read.insert(file.clone(), released);
        if let Some(named) = self.named.get_mut(&file) {
            complete(&mut named.result, body);
            let result = Box::new(named.result.clone());
            named.result.body.release();
            out.result(named.call.clone(), result, named.lane.clone());
            return Fate::Merged;
        }
        let mut entry = out.new_entry(key(&file), Role::Harness, None);
        entry.marks.quiet = true;
        entry.push(BlockKind::raw(&format!("stored output {file}"), body));
        out.show(entry)
    }

    /// Notes the outputs that are missing: the program deletes them after some weeks.
    pub(crate) fn report_missing(&mut self, out: &mut Batch) {
        let mut missed: Vec<(&String, &mut StoredResult)> = self.named.iter_mut().collect();
        missed.retain(|(file, named)| !named.is_missed && !self.read.contains_key(*file));
        missed.sort_by_key(|(_, named)| (named.at.file, named.at.at));
        for (file, named) in missed {
            named.is_missed = true;
            out.begin_record(named.at);
            let what = format!(
                "the whole output was stored in {file}, which is gone; its beginning is here"
            );
            out.notice(Severity::Note, &what);
        }
    }
}

/// Replaces the body of a result by the whole output, and counts its lines again.
fn complete(result: &mut ToolResult, body: Body) {
    let others = result
        .facts
        .split(" · ")
        .filter(|fact| !fact.is_empty() && !fact.ends_with(" lines"));
    let mut facts: Vec<String> = others.map(str::to_owned).collect();
    facts.push(count(u64::from(body.lines), "line"));
    result.facts = Text::clean(&facts.join(" · "));
    result.body = body;
}

/// The name of the file with the whole output, if the text is only its beginning.
pub(crate) fn named_in(text: &str, details: &Json<'_>) -> Option<String> {
    let path = details.get("persistedOutputPath").filled().or_else(|| {
        let (_, rest) = preview(text)?.split_once("saved to: ")?;
        rest.lines().next()
    })?;
    let file = file_of(path.trim());
    (!file.is_empty()).then(|| file.to_owned())
}

/// The text between the tags around the beginning of a stored output.
pub fn preview(text: &str) -> Option<&str> {
    const TAG: &str = "<persisted-output>";
    let inner = text.trim_start().strip_prefix(TAG)?;
    Some(
        inner
            .split_once("</persisted-output>")
            .map_or(inner, |(inner, _)| inner)
            .trim(),
    )
}

/// The file name in a path of any operating system: the agent may have run on another one.
fn file_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn key(file: &str) -> Key {
    text!("stored:{file}")
}

#[cfg(test)]
mod tests {
    use super::{named_in, preview};
    use crate::formats::json::parse;

    #[test]
    fn the_file_is_named_by_the_text_or_beside_it() {
        let text = "<persisted-output>\nOutput too large (35.1KB). Full output saved to: C:\\p\\b1.txt\n\n\
                    Preview (first 2KB):\na\n</persisted-output>";
        assert_eq!(
            named_in(text, &parse("null").unwrap()).as_deref(),
            Some("b1.txt")
        );
        let details =
            parse(r#"{"stdout":"a","persistedOutputPath":"/home/me/s/tool-results/b2.txt"}"#)
                .unwrap();
        assert_eq!(named_in("a", &details).as_deref(), Some("b2.txt"));
        assert_eq!(
            named_in("it was saved to: a.txt", &parse("{}").unwrap()),
            None
        );
        assert!(preview(text).unwrap().ends_with("(first 2KB):\na"));
    }
}
