//! Runs of sub-agents in files of their own beside `<session>.jsonl`:
//! `<session>/<run>/run-<n>/session.jsonl` of the extension pi-subagents,
//! `<time>_<id>/<agent>.jsonl` of Oh My Pi. The result of the call names the file or the agent; the
//! file replaces what the result repeats of the run.
//!
//! Invariant: the lane of a run is named after its file, in any reading order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::decode::result_key;
use super::lane::{inside, into_lane};
use super::session::SessionDecoder;
use super::{prompt, result};
use crate::formats::decoder::{Decoder, Input};
use crate::formats::json::Json;
use crate::formats::roots::{file_name, folder_name};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text, text};
use crate::model::usage::{Scope, Usage};

/// The file name of a run.
pub(super) const FILE: &str = "session.jsonl";
/// The prefix of its folder's name.
const FOLDER: &str = "run-";
/// The maximum length of a lane's label, in characters.
const LABEL_CHARS: usize = 120;

/// The name of the run in a file: its folder with the one above, or the agent. `None` if the file
/// is not a run.
pub(super) fn name_of(path: &Path) -> Option<Name> {
    if is_agents(path) {
        return Some(Text::clean(path.file_stem()?.to_str()?));
    }
    let number = folder_name(path);
    let is_number = |number: &str| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let is_run = file_name(path) == FILE && number.strip_prefix(FOLDER).is_some_and(is_number);
    let folder = path.parent().filter(|_| is_run).map(folder_name)?;
    Some(text!("{folder}/{number}"))
}

/// Whether a file is that of an agent of Oh My Pi: its folder is named after the time and id of a
/// session.
fn is_agents(path: &Path) -> bool {
    let is_time =
        |front: &str| front.starts_with(|c: char| c.is_ascii_digit()) && front.contains('T');
    let of_session = folder_name(path)
        .split_once('_')
        .is_some_and(|(front, id)| is_time(front) && !id.is_empty());
    of_session
        && path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
}

/// The file of the session that started the run. It is beside the folder of its runs.
pub(super) fn owner(path: &Path) -> Option<PathBuf> {
    name_of(path)?;
    let above = if is_agents(path) { 1 } else { 3 };
    let mut session = path.ancestors().nth(above)?.as_os_str().to_owned();
    session.push(".jsonl");
    Some(session.into())
}

/// The runs of a session by name, which is also the name of their lane.
#[derive(Default)]
pub(super) struct AgentRuns(BTreeMap<Name, AgentRun>);

#[derive(Default)]
struct AgentRun {
    /// Entries made from a result, which are retired when a line of the run's file is read.
    entries: Vec<Key>,
    /// The usage according to results, emitted at the end if the run has no file, and the keys of
    /// emitted usage.
    spent: Vec<(Key, Box<Usage>, Option<Name>)>,
    counted: Vec<Key>,
    /// The decoder of the run's file, once a line of it is read.
    decoder: Option<Box<SessionDecoder>>,
    has_lines: bool,
}

impl AgentRun {
    /// Applies an edit that a result of this lane repeats of the run.
    fn apply_repeated(&mut self, edit: Edit, lane: Option<&Name>, out: &mut Batch) {
        if self.has_lines {
            return;
        }
        match edit {
            Edit::Meta(_) => {}
            Edit::Usage { of, usage, model } => self.spent.push((inside(lane, of), usage, model)),
            edit => {
                if let Edit::Entry(entry) = &edit {
                    self.entries.push(inside(lane, entry.key.clone()));
                }
                out.edits.push(edit);
            }
        }
    }
}

impl AgentRuns {
    /// Finds runs in the result of a call, which the session or another run has just decoded. Its
    /// edits begin at index `from`.
    pub(super) fn find_runs(
        &mut self,
        json: &Json<'_>,
        lane: Option<&Name>,
        from: usize,
        out: &mut Batch,
    ) {
        let message = json.get("message");
        if !message.get("role").is("toolResult") {
            return;
        }
        let Some(line) = json.get("id").text() else {
            return;
        };
        for (number, one) in message.at("details.results").items().iter().enumerate() {
            let named = one
                .get("sessionFile")
                .filled()
                .and_then(|file| name_of(Path::new(file)));
            // Results of Oh My Pi have an id and no messages.
            let named = named.or_else(|| one.get("id").text().filter(|_| !one.has("messages")));
            let Some(name) = named else { continue };
            let inner = text!("{line}/{number}");
            let sums = [result_key(&inner), result_key(&line)];
            let label = one.first(&["description", "task", "agent"], Json::filled);
            let label = label.map(|label| Text::stub(label, LABEL_CHARS));
            let call = Some(result::call_key(message.get("toolCallId")));
            let run = self.0.entry(name.clone()).or_default();
            let made = out.edits.split_off(from.min(out.edits.len()));
            for mut edit in made {
                let is_its = match &mut edit {
                    Edit::Entry(entry) => replace_lane(&mut entry.lane, &inner, &name),
                    Edit::Result { lane, .. } => replace_lane(lane, &inner, &name),
                    Edit::Meta(MetaEdit::Lane { name: known, .. }) => *known == inner,
                    Edit::Usage { of, .. } => sums.contains(of),
                    _ => false,
                };
                if is_its {
                    run.apply_repeated(edit, lane, out);
                } else {
                    out.edits.push(edit);
                }
            }
            out.lane(name, label, call);
        }
    }

    /// Decodes a line of a run's file. `is_copied` says whether the session has the line as well.
    pub(super) fn decode(
        &mut self,
        path: &Path,
        input: Input<'_>,
        is_copied: impl Fn(&Json<'_>) -> bool,
        out: &mut Batch,
    ) -> Fate {
        let name = name_of(path).unwrap_or_else(|| Text::clean(folder_name(path)));
        let run = self.0.entry(name.clone()).or_default();
        if !std::mem::replace(&mut run.has_lines, true) {
            out.edits.extend(run.entries.drain(..).map(Edit::Retire));
            // Empty usage that belongs to no request replaces usage that was emitted.
            let nothing = || {
                Box::new(Usage {
                    scope: Scope::Open,
                    ..Usage::default()
                })
            };
            run.spent.clear();
            let counted = run.counted.drain(..);
            out.edits.extend(counted.map(|of| Edit::Usage {
                of,
                usage: nothing(),
                model: None,
            }));
        }
        // A run may begin with a copy of its session's history.
        if is_copied(input.json) {
            return Fate::Merged;
        }
        let mut decoder = run
            .decoder
            .take()
            .unwrap_or_else(|| Box::new(SessionDecoder::new(prompt::open)));
        let from = out.edits.len();
        let fate = decoder.decode(input, out);
        self.find_runs(input.json, Some(&name), from, out);
        into_lane(from, &name, out);
        self.0.entry(name).or_default().decoder = Some(decoder);
        fate
    }

    /// Emits what the decoders held back, and the usage of runs without a file.
    pub(super) fn finish(&mut self, out: &mut Batch) {
        for (name, run) in &mut self.0 {
            if let Some(decoder) = &mut run.decoder {
                let from = out.edits.len();
                decoder.finish(out);
                into_lane(from, name, out);
            }
            for (of, usage, model) in run.spent.drain(..) {
                run.counted.push(of.clone());
                out.usage(of, usage, model);
            }
        }
    }
}

/// Moves an item from one lane to another. Returns whether it was in the first.
fn replace_lane(lane: &mut Option<Name>, from: &Name, to: &Name) -> bool {
    let is_its = lane.as_ref() == Some(from);
    if is_its {
        *lane = Some(to.clone());
    }
    is_its
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{name_of, owner};

    #[test]
    fn a_run_is_named_by_its_folders_and_lies_beside_its_session() {
        let path = Path::new("/s/--w--/2026-09-01T10-00-00-000Z_a5/6e01/run-0/session.jsonl");
        assert_eq!(name_of(path).as_deref(), Some("6e01/run-0"));
        assert_eq!(
            owner(path).as_deref(),
            Some(Path::new("/s/--w--/2026-09-01T10-00-00-000Z_a5.jsonl"))
        );
        let agents = Path::new("/s/-w/2026-09-01T10-00-00-000Z_a5/Scout.jsonl");
        assert_eq!(name_of(agents).as_deref(), Some("Scout"));
        assert_eq!(
            owner(agents).as_deref(),
            Some(Path::new("/s/-w/2026-09-01T10-00-00-000Z_a5.jsonl"))
        );
        let nested = Path::new("/s/--w--/a5/6e01/run-0/session/7f02/run-1/session.jsonl");
        assert_eq!(
            owner(nested).as_deref(),
            Some(Path::new("/s/--w--/a5/6e01/run-0/session.jsonl"))
        );
        for other in [
            "/s/--w--/session.jsonl",
            "/s/a5/6e01/run-x/session.jsonl",
            "/s/a5/6e01/run-0/notes.jsonl",
        ] {
            assert_eq!(name_of(Path::new(other)), None, "{other}");
        }
    }
}
