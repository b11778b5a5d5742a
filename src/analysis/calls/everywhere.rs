//! Calls of many sessions, by tool or by something else: how many, how they failed, how long they
//! took, how late the model was told of an end.
//!
//! Invariant: the sums are those of the sessions, and a call that stands in several, as in a fork,
//! counts in the one that was added first.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use itertools::Itertools as _;
use regex::Regex;

use super::durations::percentile;
use super::lifecycle::Lifecycle;
use super::tools::CallSums;
use super::{Calls, Outcome};
use crate::analysis::align::{UUID, compiled};
use crate::analysis::brief::complaint_of;
use crate::analysis::by::By;
use crate::model::body::Key;
use crate::model::request::{CallIdentity, call_identity};
use crate::model::text::{Name, Text};
use crate::model::tool::{Took, ToolCall};
use crate::model::transcript::Transcript;

/// A call of a session.
#[derive(Clone, Debug)]
pub(crate) struct CallSeen {
    /// Copies that ended differently are not the same: a fork may have been made before the result.
    identity: (CallIdentity, Outcome),
    group: Name,
    tool: Name,
    outcome: Outcome,
    took: Option<Took>,
    /// How late the model was told of its end, in ms.
    late_ms: Option<u64>,
    is_undelivered: bool,
    /// Why it failed, and the key of its entry.
    failure: Option<(String, Key)>,
}

/// The calls of a session; `of_session` names the group of a whole session.
pub(crate) fn calls_of(
    transcript: &Transcript,
    calls: &Calls,
    by: By,
    of_session: &Name,
    is_over: bool,
) -> Vec<CallSeen> {
    let session = transcript.meta().id.clone().unwrap_or_default();
    let seen = calls.all().filter_map(|place| {
        let entry = transcript.get(place.entry)?;
        let call = entry.call(place.block)?;
        let life = Lifecycle::of(transcript, (place.entry, &entry.key), call, is_over);
        let outcome = Outcome::of(&call.state);
        let failure = (outcome == Outcome::Failed).then(|| (signature_of(call), entry.key.clone()));
        Some(CallSeen {
            identity: (call_identity(entry, place.block, &session), outcome),
            group: by.group_of((transcript, of_session), entry, Some(call)),
            tool: call.name.clone(),
            outcome,
            took: call.duration(entry.call_time(call)),
            late_ms: life.delay(),
            is_undelivered: life.is_undelivered,
            failure,
        })
    });
    seen.collect()
}

/// What failures of one kind have in common: the line that explains them, without names, numbers
/// and paths.
pub(crate) fn signature_of(call: &ToolCall) -> String {
    let said = complaint_of(call).unwrap_or_default();
    let facts = call.state.result().map(|result| result.facts.trim());
    let said = if said.trim().is_empty() {
        facts.unwrap_or("(nothing)").to_owned()
    } else {
        said
    };
    signature(&said)
}

static VARIES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    compiled(&[
        (UUID, "ID"),
        (
            r"[\x22'`\u{2018}\u{201c}][^\x22'`\u{2019}\u{201d}\n]{1,200}[\x22'`\u{2019}\u{201d}]",
            "'\u{2026}'",
        ),
        (
            r"(?:[A-Za-z]:)?(?:\.{0,2}/)?(?:[\w.@+-]+/)+[\w.@+-]*",
            "PATH",
        ),
        (r"(^|[\s(:=,])/[\w.@+-]+", "${1}PATH"),
        (
            r"\b[\w-]+\.(?:rs|ts|tsx|js|py|go|java|c|h|cpp|md|json|toml|yaml|yml|txt|html|css|sh|lock)\b",
            "PATH",
        ),
        (r"(?i)\b(?:0x)?[0-9a-f]{7,}\b", "ID"),
        (r"\d+", "N"),
    ])
});

/// Length of a signature, in characters.
const LONGEST: usize = 120;

fn signature(said: &str) -> String {
    let mut words = said.split_whitespace().join(" ");
    for (pattern, word) in VARIES.iter() {
        words = pattern.replace_all(&words, *word).into_owned();
    }
    words.chars().take(LONGEST).collect()
}

/// Failures with the same signature.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SameFailures {
    pub(crate) signature: String,
    pub(crate) tools: BTreeSet<Name>,
    pub(crate) count: usize,
    /// The argument that opens the last one.
    pub(crate) example: String,
}

/// The calls of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct GroupSums {
    pub(crate) sessions: BTreeSet<Text>,
    pub(crate) sums: CallSums,
    late: Vec<u64>,
    pub(crate) undelivered: usize,
    failures: BTreeMap<String, SameFailures>,
}

impl GroupSums {
    /// The delay that nineteen of twenty ends were told within, in ms.
    pub(crate) fn late_p95(&self) -> Option<u64> {
        percentile(&self.late, 95)
    }

    /// Failures by signature, the most frequent first.
    pub(crate) fn failures(&self) -> Vec<&SameFailures> {
        let mut failures: Vec<&SameFailures> = self.failures.values().collect();
        failures.sort_by(|one, other| {
            other
                .count
                .cmp(&one.count)
                .then_with(|| one.signature.cmp(&other.signature))
        });
        failures
    }

    fn add(&mut self, call: CallSeen, address: &str) {
        self.sums.add(call.outcome, call.took);
        self.late.extend(call.late_ms);
        self.undelivered += usize::from(call.is_undelivered);
        if let Some((signature, key)) = call.failure {
            let same = self
                .failures
                .entry(signature)
                .or_insert_with_key(|signature| SameFailures {
                    signature: signature.clone(),
                    tools: BTreeSet::new(),
                    count: 0,
                    example: String::new(),
                });
            same.count += 1;
            same.example = format!("{address}#{key}");
            same.tools.insert(call.tool);
        }
    }
}

/// The calls of all sessions, by group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Everywhere {
    pub(crate) groups: BTreeMap<Text, GroupSums>,
    pub(crate) all: GroupSums,
    seen: HashSet<(CallIdentity, Outcome)>,
}

impl Everywhere {
    /// Adds the calls of a file of a session, which the address opens; takes effect with
    /// [`Everywhere::sort`].
    pub(crate) fn add(&mut self, (session, address): (&Text, &str), mut calls: Vec<CallSeen>) {
        calls.retain(|call| !self.seen.contains(&call.identity));
        // What a session repeats are calls of their own.
        self.seen
            .extend(calls.iter().map(|call| call.identity.clone()));
        for call in calls {
            let group = self.groups.entry(call.group.clone()).or_default();
            for sums in [&mut self.all, group] {
                if !sums.sessions.contains(session) {
                    sums.sessions.insert(session.clone());
                }
                sums.add(call.clone(), address);
            }
        }
    }

    /// To be called after all sessions were added.
    pub(crate) fn sort(&mut self) {
        for sums in self.groups.values_mut().chain([&mut self.all]) {
            sums.sums.durations.sort();
            sums.late.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn failures_of_one_kind_are_one() {
        for (one, other) in [
            (
                "error[E0425]: cannot find value `x` in this scope",
                "error[E0425]: cannot find value `yard` in this scope",
            ),
            (
                "cat: /home/mira/a.rs: No such file or directory",
                "cat: src/b.rs: No such file or directory",
            ),
            ("exit 101 after 12.5s", "exit 2 after 3.25s"),
        ] {
            assert_eq!(signature(one), signature(other), "{one}");
        }
        assert_ne!(signature("permission denied"), signature("no such file"));
    }
}
