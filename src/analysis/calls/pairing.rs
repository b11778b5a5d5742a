//! Counts of paired and unpaired calls and results.

use super::awaited::Awaited;
use super::lifecycle::Lifecycle;
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::tool::is_textual;
use crate::model::tool::{ToolResult, ToolState, Verdict};
use crate::model::transcript::Transcript;

/// The counts of `tv.stats/2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairingCounts {
    /// Calls with different ids.
    pub(crate) calls: u64,
    /// Distinct results without duplicates.
    pub(crate) results: u64,
    /// Calls with their own result.
    pub(crate) paired: u64,
    /// Results marked as errors.
    pub(crate) failed: u64,
    /// Results of refused calls.
    pub(crate) refused: u64,
    /// Results of interrupted calls.
    pub(crate) stopped: u64,
    /// Calls with running background work.
    pub(crate) running: u64,
    /// Calls with background work without a recorded end.
    pub(crate) without_end: u64,
    /// Calls whose end is recorded, but was never told to the model.
    pub(crate) undelivered: u64,
    /// Calls without a result that may still get one.
    pub pending: u64,
    /// Other calls without a result.
    pub orphan_calls: u64,
    /// Results without a call.
    pub orphan_results: u64,
    pub(crate) duplicate_results: u64,
    /// Calls in the text of the model. They have no ids, so their pairing is unknown, and they are
    /// not in the other counts.
    pub(crate) textual_calls: u64,
}

/// Counts all lanes and branches. `is_over`: the session gets no more records.
pub fn count(transcript: &Transcript, is_over: bool) -> PairingCounts {
    let mut pairing = Pairing::of(transcript, is_over);
    let mut passing = transcript.cursor();
    for id in transcript.order() {
        passing
            .get(*id)
            .into_iter()
            .for_each(|entry| pairing.add(*id, entry));
    }
    pairing.counts()
}

/// Counts entry by entry, for callers that iterate over all entries anyway.
pub(crate) struct Pairing<'t> {
    transcript: &'t Transcript,
    awaited: Awaited,
    is_over: bool,
    counts: PairingCounts,
}

impl<'t> Pairing<'t> {
    /// `is_over`: the session gets no more records.
    pub(crate) fn of(transcript: &'t Transcript, is_over: bool) -> Self {
        Self {
            transcript,
            awaited: Awaited::of(transcript),
            is_over,
            counts: PairingCounts::default(),
        }
    }

    pub(crate) fn add(&mut self, id: EntryId, entry: &Entry) {
        // A copy is counted in its own session.
        if entry.marks.copy {
            return;
        }
        let Self {
            transcript,
            awaited,
            is_over,
            counts,
        } = self;
        count_entry(entry, awaited.has(transcript, id), transcript, counts);
        for call in entry.calls().filter(|call| call.state.work().is_some()) {
            let life = Lifecycle::of(transcript, (id, &entry.key), call, *is_over);
            counts.undelivered += u64::from(life.is_undelivered);
            let goes_on = life.completed.is_none();
            counts.running += u64::from(goes_on && !*is_over);
            counts.without_end += u64::from(goes_on && *is_over);
        }
    }

    pub(crate) fn counts(self) -> PairingCounts {
        let results = self.counts.paired + self.counts.orphan_results;
        PairingCounts {
            results,
            ..self.counts
        }
    }
}

fn count_entry(
    entry: &Entry,
    may_go_on: bool,
    transcript: &Transcript,
    counts: &mut PairingCounts,
) {
    for block in &entry.blocks {
        match &block.kind {
            BlockKind::Call(call) if is_textual(&call.key) => counts.textual_calls += 1,
            BlockKind::Call(call) => {
                counts.calls += 1;
                match &call.state {
                    ToolState::Done(result)
                    | ToolState::Failed(result)
                    | ToolState::Refused(result)
                    | ToolState::Stopped(result) => {
                        counts.paired += 1;
                        counts.judge(result);
                    }
                    ToolState::Acknowledged(_) => counts.paired += 1,
                    ToolState::Pending | ToolState::Running | ToolState::Streaming(_)
                        if may_go_on =>
                    {
                        counts.pending += 1;
                    }
                    ToolState::Pending
                    | ToolState::Running
                    | ToolState::Streaming(_)
                    | ToolState::Lost => {
                        counts.orphan_calls += 1;
                    }
                }
            }
            BlockKind::Result(stray) => {
                // The call may have been added after the stray result, so its mark is not enough.
                let call_exists = !transcript.entries_with_call(&stray.call).is_empty();
                if stray.duplicate || call_exists {
                    counts.duplicate_results += 1;
                } else {
                    counts.orphan_results += 1;
                }
                counts.judge(&stray.result);
            }
            BlockKind::Text(_)
            | BlockKind::Thinking(_)
            | BlockKind::Image(_)
            | BlockKind::Break(_)
            | BlockKind::Raw(_)
            | BlockKind::Aside(..) => {}
        }
    }
}

impl PairingCounts {
    fn judge(&mut self, result: &ToolResult) {
        match result.verdict {
            Verdict::Done => {}
            Verdict::Failed => self.failed += 1,
            Verdict::Refused => self.refused += 1,
            Verdict::Stopped => self.stopped += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PairingCounts, count};
    use crate::model::body::Tree;
    use crate::model::edit::{Batch, Edit, MetaEdit};
    use crate::model::entry::{BlockKind, Marks, Role};
    use crate::model::text::Text;
    use crate::model::tool::textual_key;
    use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
    use crate::model::transcript::Transcript;
    use crate::model::turn::TurnFacts;

    fn prompt(out: &mut Batch, key: &str) {
        let mut entry = out.new_entry(Text::clean(key), Role::User, None);
        entry.marks = Marks {
            prompt: true,
            ..Marks::default()
        };
        out.entry(entry);
    }

    fn call(out: &mut Batch, key: &str, state: ToolState) {
        let mut entry = out.new_entry(Text::clean(&format!("answer {key}")), Role::Assistant, None);
        let call = ToolCall {
            key: Text::clean(key),
            name: Text::clean("bash"),
            kind: ToolKind::Run,
            headline: Text::default(),
            input: out.tree(&Text::default(), 0, || Tree::Null),
            state,
            started: None,
            lane: None,
        };
        entry.push(BlockKind::Call(Box::new(call)));
        out.entry(entry);
    }

    fn result(out: &mut Batch, key: &str, call: &str, verdict: Verdict) {
        let result = ToolResult {
            key: Text::clean(key),
            tool: None,
            verdict,
            body: out.output("done"),
            patch: None,
            images: Vec::new(),
            facts: Text::default(),
            at: None,
            duration_ms: None,
            work: None,
        };
        out.push(Edit::Result {
            call: Text::clean(call),
            result: Box::new(result),
            lane: None,
        });
    }

    fn counted(fill: impl FnOnce(&mut Batch)) -> PairingCounts {
        let mut batch = Batch::default();
        fill(&mut batch);
        let mut transcript = Transcript::new();
        transcript.apply(batch);
        transcript.update_derived();
        let counts = count(&transcript, true);
        let open = TurnFacts::of(transcript.entries()).open;
        assert_eq!(
            u64::from(open),
            counts.pending + counts.orphan_calls,
            "turns say the same"
        );
        counts
    }

    #[test]
    fn every_anomaly_has_its_own_count() {
        let counts = counted(|out| {
            prompt(out, "p1");
            call(out, "a", ToolState::Pending);
            result(out, "r1", "a", Verdict::Failed);
            result(out, "r2", "a", Verdict::Done);
            call(out, "b", ToolState::Pending);
            result(out, "r3", "nobody", Verdict::Refused);
            result(out, "r4", "no one", Verdict::Stopped);
            prompt(out, "p2");
            call(out, "d", ToolState::Lost);
            call(out, &textual_key(&Text::clean("p2"), 0), ToolState::Pending);
            call(out, "c", ToolState::Running);
        });
        let expected = PairingCounts {
            calls: 4,
            results: 3,
            paired: 1,
            failed: 1,
            refused: 1,
            stopped: 1,
            pending: 1,
            orphan_calls: 2,
            orphan_results: 2,
            duplicate_results: 1,
            textual_calls: 1,
            ..PairingCounts::default()
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn nothing_is_pending_after_the_end() {
        let counts = counted(|out| {
            prompt(out, "p1");
            call(out, "a", ToolState::Pending);
            out.meta(MetaEdit::Live(Some(false)));
        });
        assert_eq!((counts.pending, counts.orphan_calls), (0, 1));
    }

    #[test]
    fn a_second_result_before_its_call_is_a_duplicate() {
        let counts = counted(|out| {
            result(out, "r1", "a", Verdict::Done);
            result(out, "r2", "a", Verdict::Done);
            call(out, "a", ToolState::Pending);
        });
        assert_eq!(
            (
                counts.paired,
                counts.duplicate_results,
                counts.orphan_results
            ),
            (1, 1, 0)
        );
    }
}
