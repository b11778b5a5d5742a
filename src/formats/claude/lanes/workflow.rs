//! Workflows: scripts by the model that run sub-agents. The folder of their transcripts is named by
//! the run id that the result of the call names too, and has a journal of starts and ends. The
//! journal is not a transcript.

use std::path::Path;

use crate::formats::anthropic;
use crate::formats::claude::session::DecoderState;
use crate::formats::decoder::Input;
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Piece, Raw, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::tool::identifies;

/// The run of the workflow whose folder contains a file.
pub(crate) fn run_of(path: &Path) -> Option<&str> {
    let folder = path.parent()?;
    let is_run = folder.parent()?.file_name()? == "workflows";
    folder.file_name()?.to_str().filter(|_| is_run)
}

/// Whether a file is the journal of a workflow.
pub(crate) fn is_journal(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "journal.jsonl") && run_of(path).is_some()
}

/// Whether a file is the report of a run, written at its end.
pub(crate) fn is_report(path: &Path) -> bool {
    path.parent()
        .and_then(Path::file_name)
        .is_some_and(|folder| folder == "workflows")
}

/// Decodes the report of a run for the labels of its sub-agents. Their ends are in the journal and
/// in the session.
pub(crate) fn report(json: &Json<'_>, session: &mut DecoderState, out: &mut Batch) -> Fate {
    let run = json.get("runId").str_or_empty();
    for step in json.get("workflowProgress").items() {
        let agent = step.get("agentId").text().filter(|agent| identifies(agent));
        let Some(agent) = agent.filter(|_| step.kind() == "workflow_agent") else {
            continue;
        };
        session.lanes.run_has(run, &agent, out);
        let label = label(step.get("phaseTitle"), step.get("label"));
        if !label.is_blank() {
            session.lanes.name(&agent, 3, label, out);
        }
    }
    Fate::Merged
}

/// Decodes a line of a journal: the start of a sub-agent with its label, or its end.
pub(crate) fn journal(
    path: &Path,
    input: Input<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let json = input.json;
    let kind = json.kind();
    let agent = json.get("agentId").text().filter(|agent| identifies(agent));
    match (kind, agent) {
        ("launched", _) => Fate::Passed("the beginning of a workflow"),
        ("started", Some(agent)) => {
            let label = label(json.get("phase"), json.get("label"));
            session
                .lanes
                .run_has(run_of(path).unwrap_or_default(), &agent, out);
            if label.is_blank() {
                return Fate::Passed("the beginning of a sub-agent");
            }
            session.lanes.name(&agent, 3, label, out);
            Fate::Merged
        }
        ("result", Some(agent)) => {
            let result = json.get("result");
            let title = Text::clean("result for the workflow");
            let body = match anthropic::output_text(result) {
                text if !text.trim_start().is_empty() => out.output(&text),
                _ => result.to_body(&title, out),
            };
            let raw = BlockKind::Raw(Raw { title, body });
            let end = BlockKind::Break(Break::Ended(Text::clean("as its workflow says")));
            end_of(&agent, vec![end, raw], true, session, out)
        }
        ("failed", Some(agent)) => {
            let words = json
                .get("error")
                .filled()
                .unwrap_or("failed, as its workflow says");
            let error = BlockKind::Break(Break::error(words));
            end_of(&agent, vec![error], false, session, out)
        }
        _ => {
            let entry = out.new_entry(out.origin_key(), Role::Harness, None);
            unknown::show_outside(NamedKind("type", kind), json, entry, out)
        }
    }
}

/// `Scan: Audit parser`
fn label(phase: &Json<'_>, label: &Json<'_>) -> Text {
    let parts: Vec<&str> = [phase, label]
        .into_iter()
        .filter_map(|part| part.filled())
        .collect();
    Text::clean(&parts.join(": "))
}

/// Emits the end of a sub-agent, after everything in its own file.
fn end_of(
    agent: &Name,
    blocks: Vec<BlockKind>,
    is_trace: bool,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    session.lanes.enter(agent, out);
    let key: Key = text!("workflow:{agent}:{}", out.origin_key());
    let mut entry = out.new_entry(key, Role::Harness, None);
    entry.lane = Some(agent.clone());
    entry.marks.quiet = is_trace;
    entry.marks.trace = is_trace;
    entry.blocks = blocks
        .into_iter()
        .map(|kind| Block::new(Piece(0), kind))
        .collect();
    out.show(entry)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_journal, is_report, run_of};

    #[test]
    fn the_folder_of_a_run_names_it() {
        let run = |path: &'static str| run_of(Path::new(path));
        assert_eq!(
            run("/p/s/subagents/workflows/wf_a1/agent-1.jsonl"),
            Some("wf_a1")
        );
        assert_eq!(run("/p/s/subagents/agent-1.jsonl"), None);
        assert!(is_journal(Path::new(
            "/p/s/subagents/workflows/wf_a1/journal.jsonl"
        )));
        assert!(!is_journal(Path::new("/p/s/subagents/journal.jsonl")));
        assert!(is_report(Path::new("/p/s/workflows/wf_a1.json")));
        assert!(!is_report(Path::new(
            "/p/s/subagents/workflows/wf_a1/agent-1.meta.json"
        )));
    }
}
