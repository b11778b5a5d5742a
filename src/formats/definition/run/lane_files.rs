//! Files beside the session that its records name, each with the records of one sub-agent.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use crate::formats::decoder::RecordPlace;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::Entry;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;

/// The suffix of files that records name without a suffix.
const ENDING: &str = ".json";

/// The sub-agents of files that records have named, and the calls that started sub-agents.
#[derive(Default)]
pub(super) struct LaneFiles {
    /// The folder of the session.
    home: Option<PathBuf>,
    /// Sub-agents by the path of their file, relative to `home`.
    files: HashMap<PathBuf, SubAgent>,
    /// Sub-agents whose records are in the session's own file.
    inline_lanes: HashSet<Name>,
    /// Calls that may have started a sub-agent whose records do not name its call, in order;
    /// `started` has the call of each such sub-agent.
    starters: Vec<StartingCall>,
    known: HashSet<Key>,
    started: HashMap<Name, Key>,
}

struct StartingCall {
    call: Key,
    at: Timestamp,
    lane: Option<Name>,
    has_started: bool,
}

/// The sub-agent whose records a file holds.
struct SubAgent {
    lane: Name,
    call: Option<Key>,
    is_announced: bool,
}

impl LaneFiles {
    pub(super) fn at(home: PathBuf) -> Self {
        Self {
            home: Some(home),
            ..Self::default()
        }
    }

    /// Adds the calls of the tool that starts sub-agents.
    pub(super) fn add_starting_calls(&mut self, tool: &str, entry: &Entry) {
        for call in entry.calls().filter(|call| call.name.as_str() == tool) {
            let Some(at) = call.started.or(entry.at) else {
                continue;
            };
            if self.known.insert(call.key.clone()) {
                let (call, lane) = (call.key.clone(), entry.lane.clone());
                self.starters.push(StartingCall {
                    call,
                    at,
                    lane,
                    has_started: false,
                });
            }
        }
    }

    /// The call that started a sub-agent: the last one before the time at which it began. If
    /// several calls have the same time, each starts one sub-agent.
    pub(super) fn starting_call(
        &mut self,
        agent: Name,
        began: Timestamp,
        of: Option<&Name>,
    ) -> Option<Key> {
        if let Some(known) = self.started.get(&agent) {
            return Some(known.clone());
        }
        let of = of.filter(|of| {
            self.starters
                .iter()
                .any(|starter| starter.lane.as_ref() == Some(of))
        });
        let before = || {
            let all = (0_usize..).zip(&self.starters);
            all.filter(|(_, one)| one.at <= began && one.lane.as_ref() == of)
        };
        let last = before().map(|(_, one)| one.at).max()?;
        let those = || before().filter(|(_, one)| one.at == last);
        let free = those()
            .find(|(_, one)| !one.has_started)
            .or_else(|| those().last())?
            .0;
        let starter = self.starters.get_mut(free)?;
        starter.has_started = true;
        self.started.insert(agent, starter.call.clone());
        Some(starter.call.clone())
    }

    /// Registers a sub-agent whose records are in the session's own file.
    pub(super) fn mark_inline(&mut self, lane: &Name) {
        self.inline_lanes.insert(lane.clone());
    }

    /// Requests the file of a sub-agent. Returns whether the file alone describes it.
    pub(super) fn request(
        &mut self,
        file: Option<Text>,
        lane: &Name,
        call: Option<&Key>,
        out: &mut Batch,
    ) -> bool {
        let Some(file) = file.filter(|_| !self.inline_lanes.contains(lane)) else {
            return false;
        };
        let Some(place) = place_of(&file) else {
            return true;
        };
        let known = self.files.entry(place);
        let agent = known.or_insert_with(|| {
            out.requested_files.push(file);
            SubAgent {
                lane: lane.clone(),
                call: None,
                is_announced: false,
            }
        });
        agent.call = agent.call.take().or_else(|| call.cloned());
        true
    }

    /// The lane of the file that a record is from. The sub-agent is emitted with the first record
    /// of its file.
    pub(super) fn lane_of(&mut self, place: RecordPlace<'_>, out: &mut Batch) -> Option<Name> {
        let (RecordPlace::File(path) | RecordPlace::CompanionLine(path)) = place else {
            return None;
        };
        let agent = self
            .files
            .get_mut(path.strip_prefix(self.home.as_ref()?).ok()?)?;
        if !std::mem::replace(&mut agent.is_announced, true) {
            let (name, call) = (agent.lane.clone(), agent.call.clone());
            out.lane(name, None, call);
        }
        Some(agent.lane.clone())
    }
}

/// The path of a named file relative to the folder of the session. Of an absolute path only the
/// last component counts, as it may be from another machine. `None` if the path leads out of the
/// folder or is a pattern.
pub(in crate::formats::definition) fn place_of(wanted: &str) -> Option<PathBuf> {
    if wanted.contains("://") || wanted.contains(['*', '?', '[', '\0']) {
        return None;
    }
    let path = Path::new(wanted);
    let path = if path.is_absolute() {
        Path::new(path.file_name()?)
    } else {
        path
    };
    let mut place = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => place.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let is_named = place
        .extension()
        .is_some_and(|ending| ending == "json" || ending == "jsonl");
    if !is_named {
        let mut name = place.file_name()?.to_owned();
        name.push(ENDING);
        place.set_file_name(name);
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::place_of;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let place = |wanted: &str| place_of(wanted);
        assert_eq!(
            place("./sub/mast.json"),
            Some(PathBuf::from("sub/mast.json"))
        );
        assert_eq!(place("mast"), Some(PathBuf::from("mast.json")));
        assert_eq!(place("run.7"), Some(PathBuf::from("run.7.json")));
        assert_eq!(
            place("/logs/agent/mast.json"),
            Some(PathBuf::from("mast.json"))
        );
        for hostile in [
            "../mast.json",
            "a/../../b.json",
            "..",
            "/",
            "",
            ".",
            "*.json",
            "s3://b/mast.json",
        ] {
            assert_eq!(place(hostile), None, "{hostile}");
        }
    }
}
