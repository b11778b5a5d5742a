//! Results of calls, merged from several records. The output is for the model, events are for the
//! program: exit codes, durations, changes of files. They come in any order, and each may come
//! alone.

use std::collections::{HashMap, VecDeque};

use crate::formats::definition::heads;
use crate::formats::waiting::UnansweredCalls;
use crate::model::body::{Body, Image, Key};
use crate::model::edit::Batch;
use crate::model::fingerprint::ByKey;
use crate::model::text::{Name, Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, EndRecording, Update, Work, WorkEnd};
use crate::model::tool::{ToolKind, ToolResult, ToolState, Verdict};

/// Prefix of the fact that names a command which is still running.
pub(crate) const RUNNING: &str = "still running as ";
/// Prefix of a script's number: processes are numbered separately.
pub(crate) const CELL: &str = "cell ";

/// Limit of the results that are kept for later records, and of the scripts.
const KEPT: usize = 16;

/// The part of a result that one record has.
#[derive(Clone, Debug)]
pub(crate) struct ResultPart {
    pub(crate) body: Body,
    /// Whether it is the output that the model received.
    pub(crate) is_output: bool,
    /// Changes of files, as a unified diff.
    pub(crate) patch: Option<Body>,
    pub(crate) images: Vec<Image>,
    pub(crate) verdict: Verdict,
    /// The exit code of a command.
    pub(crate) exit: Option<i64>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) words: Vec<String>,
    /// The timestamp of the record.
    pub(crate) at: Option<Timestamp>,
    /// Whether it reports the end of a command that was still running at its first output.
    pub(crate) is_end: bool,
    /// The process or script that was still running at the time of the record, and updates from
    /// polls.
    pub(crate) work: Option<Work>,
}

impl ResultPart {
    /// An outcome with only a text.
    pub(crate) fn text(body: Body, at: Option<Timestamp>) -> Self {
        Self {
            body,
            is_output: false,
            patch: None,
            images: Vec::new(),
            verdict: Verdict::Done,
            exit: None,
            duration_ms: None,
            words: Vec::new(),
            at,
            is_end: false,
            work: None,
        }
    }
}

/// Calls of a thread and their results.
#[derive(Debug, Default)]
pub(crate) struct ThreadCalls {
    /// All calls, and whether each starts a sub-agent.
    known: ByKey<bool>,
    open: UnansweredCalls,
    outcome: HashMap<Key, ResultPart>,
    order: VecDeque<Key>,
    /// Processes whose end was reported to the call that started them.
    ended: ByKey<()>,
    /// Running processes and scripts, with the call that started each.
    running: HashMap<String, Key>,
    /// Open calls that poll a process, with its number.
    polls: HashMap<Key, String>,
    /// Calls of code, with the commands in it that are not reported yet; the last call first.
    scripts: VecDeque<Script>,
    /// Exit codes of failed commands in calls of code that have no output yet.
    failed_parts: HashMap<Key, Option<i64>>,
}

/// A call of code that runs commands.
#[derive(Debug)]
struct Script {
    call: Key,
    commands: Vec<String>,
    /// Whether it runs this one command and does nothing else.
    is_one: bool,
}

/// The call that a report of a command in code belongs to.
#[derive(Debug, PartialEq)]
pub(crate) enum CallRelation {
    /// This call, which ran nothing else.
    Same(Key),
    /// This call, which ran several commands.
    Part(Key),
}

impl ThreadCalls {
    /// Adds a call. Returns `false` if it was added before.
    pub(crate) fn begin(&mut self, call: &Key, kind: ToolKind) -> bool {
        let known = self.known.get(call).copied();
        let is_new = known.is_none();
        self.known
            .insert(call, kind == ToolKind::Delegate || known == Some(true));
        if is_new {
            self.open.push(call.clone());
        }
        is_new
    }

    pub(crate) fn contains(&self, call: &str) -> bool {
        self.known.contains(call)
    }

    /// Whether the result of a call can be skipped when only counting: the call is in the thread,
    /// so that the result is merged into it, and it starts no sub-agent, which spends tokens unless
    /// it fails. The call is then no longer open.
    pub(crate) fn can_skip_result(&mut self, call: &str) -> bool {
        let counts_nothing = self.known.get(call) == Some(&false);
        if counts_nothing {
            self.open.remove(call);
        }
        counts_nothing
    }

    /// Records that a process has ended and that its call has the exit code.
    pub(crate) fn end_process(&mut self, process: &str) {
        self.ended.insert(process, ());
    }

    /// Records a call that polls a process or a script.
    pub(crate) fn poll(&mut self, call: &Key, process: String) {
        self.polls.insert(call.clone(), process);
    }

    /// Splits the result of a poll: the end of the process or script belongs to the call that
    /// started it, while the poll itself succeeded. Returns that call with its outcome, unless its
    /// end was reported before.
    pub(crate) fn polled(
        &mut self,
        call: &Key,
        mut outcome: ResultPart,
    ) -> (ResultPart, Option<(Key, ResultPart)>) {
        let goes_on = outcome
            .words
            .iter()
            .find_map(|word| word.strip_prefix(RUNNING))
            .map(str::to_owned);
        let Some(process) = self.polls.remove(call) else {
            // Numbers are reused: the last call with this number is meant.
            if let Some(process) = goes_on {
                outcome.work = Some(heads::work("codex", Text::clean(&process)));
                self.running.insert(process, call.clone());
            }
            return (outcome, None);
        };
        let is_script = process.starts_with(CELL);
        let has_ended = outcome.exit.is_some() || is_script && goes_on.is_none();
        let end = has_ended.then_some(WorkEnd {
            verdict: outcome.verdict,
            exit: outcome.exit,
            at: None,
        });
        let update = Update {
            by: call.clone(),
            at: outcome.at,
            carrier: Carrier::Poll,
            end,
            reason: None,
        };
        let work = Work {
            updates: vec![update],
            ..Work::begun(Text::clean(&process), EndRecording::default())
        };
        // An outcome that only reports that the model polled.
        let asked = ResultPart {
            work: Some(work),
            ..ResultPart::text(
                Body {
                    bytes: 0,
                    ..outcome.body.clone()
                },
                None,
            )
        };
        if !has_ended {
            let starter = self.running.get(&process).cloned();
            return (outcome, starter.map(|starter| (starter, asked)));
        }
        let starter = self.running.remove(&process);
        let is_known = self.ended.contains(&process);
        if starter.is_none() && !is_known {
            return (outcome, None);
        }
        let (verdict, exit) = (outcome.verdict, outcome.exit);
        let body = outcome.body.clone();
        let end = if is_known {
            asked
        } else {
            ResultPart {
                verdict,
                exit,
                body,
                at: outcome.at,
                is_end: true,
                ..asked
            }
        };
        let own = ResultPart {
            exit: None,
            verdict: Verdict::Done,
            ..outcome
        };
        (own, starter.map(|starter| (starter, end)))
    }

    /// Adds a call of code that runs these commands; `is_one` if it runs only one, and nothing
    /// else.
    pub(crate) fn add_script(&mut self, call: &Key, commands: Vec<String>, is_one: bool) {
        if commands.is_empty() {
            return;
        }
        self.scripts.truncate(KEPT - 1);
        self.scripts.push_front(Script {
            call: call.clone(),
            commands,
            is_one,
        });
    }

    /// Finds the call of code that ran a reported command.
    pub(crate) fn within(&mut self, command: &str) -> Option<CallRelation> {
        let runs = |script: &&mut Script| script.commands.iter().any(|known| known == command);
        let script = self.scripts.iter_mut().find(runs)?;
        let at = script.commands.iter().position(|known| known == command)?;
        script.commands.remove(at);
        let call = script.call.clone();
        Some(if script.is_one {
            CallRelation::Same(call)
        } else {
            CallRelation::Part(call)
        })
    }

    /// Marks a call of code as failed, because a command in it failed. Returns the outcome if the
    /// call has its output.
    pub(crate) fn fail_part(
        &mut self,
        call: &Key,
        exit: Option<i64>,
        out: &mut Batch,
    ) -> Option<ResultPart> {
        if !self.outcome.contains_key(call) {
            self.failed_parts.entry(call.clone()).or_insert(exit);
            return None;
        }
        Some(ResultPart {
            verdict: Verdict::Failed,
            exit,
            ..ResultPart::text(out.output(""), None)
        })
    }

    pub(crate) fn mark_all_lost(&mut self, out: &mut Batch) {
        for call in std::mem::take(&mut self.open) {
            out.state(call, ToolState::Lost);
        }
    }

    /// Merges an outcome into the result of a call, and returns the merged result.
    pub(crate) fn join(
        &mut self,
        call: &Key,
        mut new: ResultPart,
        lane: Option<&Name>,
    ) -> ToolResult {
        self.open.remove(call);
        if new.is_output
            && let Some(exit) = self.failed_parts.remove(call)
        {
            (new.verdict, new.exit) = (Verdict::Failed, new.exit.or(exit));
        }
        let outcome = if let Some(mut known) = self.outcome.remove(call) {
            let work = joined_work(call, known.work.take(), &mut new);
            let acknowledged = known.at;
            let outcome = joined(known, new);
            let at = if work.is_some() {
                acknowledged.or(outcome.at)
            } else {
                outcome.at
            };
            ResultPart {
                at,
                work,
                ..outcome
            }
        } else {
            if self.order.len() >= KEPT {
                self.drop_oldest();
            }
            self.order.push_back(call.clone());
            new
        };
        let result = result(call, &outcome, lane);
        self.outcome.insert(call.clone(), outcome);
        result
    }

    /// Drops the oldest result of a call that is not running: the end of a running one is still to
    /// come.
    fn drop_oldest(&mut self) {
        let goes_on = |call: &Key| self.running.values().any(|running| running == call);
        let oldest = self.order.iter().position(|call| !goes_on(call));
        if let Some(oldest) = oldest.and_then(|at| self.order.remove(at)) {
            self.outcome.remove(&oldest);
        }
    }
}

/// Whether a fact says that a command is still running.
fn is_running(word: &str) -> bool {
    word.starts_with(RUNNING)
}

impl ResultPart {
    /// Removes the exit code and verdict.
    pub(crate) fn unknown(self) -> Self {
        Self {
            exit: None,
            verdict: Verdict::Done,
            is_end: false,
            ..self
        }
    }

    fn has_ended(&self) -> bool {
        self.is_end || self.exit.is_some()
    }
}

/// Merges updates of the work that a call started, from polls or from an event.
fn joined_work(call: &Key, known: Option<Work>, new: &mut ResultPart) -> Option<Work> {
    let (Some(mut work), of_poll) = (known, new.work.take()) else {
        return None;
    };
    match of_poll {
        Some(poll) => poll
            .updates
            .into_iter()
            .for_each(|update| _ = work.add_update(update)),
        None if new.has_ended() => {
            let end = WorkEnd {
                verdict: new.verdict,
                exit: new.exit,
                at: None,
            };
            let by = text!("end of {call}");
            work.add_update(Update {
                by,
                at: new.at,
                carrier: Carrier::Record,
                end: Some(end),
                reason: None,
            });
        }
        None => {}
    }
    Some(work)
}

fn joined(known: ResultPart, new: ResultPart) -> ResultPart {
    let is_better = new.is_output || !known.is_output && new.body.bytes > 0;
    let (mut first, mut second) = if is_better {
        (new, known)
    } else {
        (known, new)
    };
    // A command that ended after its turn has no timestamp here.
    let went_on =
        first.words.iter().any(|word| is_running(word)) || second.is_end && second.at.is_none();
    if went_on && second.has_ended() {
        // The model received the output and duration up to that point; the last record has the end.
        first.words.retain(|word| !is_running(word));
        first.duration_ms = None;
        if second.body.bytes > 0 {
            std::mem::swap(&mut first.body, &mut second.body);
        }
    }
    let verdict = if first.verdict == Verdict::Done {
        second.verdict
    } else {
        first.verdict
    };
    let mut words = first.words;
    words.extend(
        second
            .words
            .into_iter()
            .filter(|word| !words.contains(word))
            .collect::<Vec<_>>(),
    );
    // Events have the exact duration, which the output of a command rounds.
    let durations = if first.is_output {
        (second.duration_ms, first.duration_ms)
    } else {
        (first.duration_ms, second.duration_ms)
    };
    ResultPart {
        body: first.body,
        is_output: first.is_output,
        patch: first.patch.or(second.patch),
        images: if first.images.is_empty() {
            second.images
        } else {
            first.images
        },
        verdict,
        exit: first.exit.or(second.exit),
        duration_ms: durations.0.or(durations.1),
        words,
        at: first.at.max(second.at),
        is_end: first.is_end || second.is_end,
        work: None,
    }
}

fn result(call: &Key, outcome: &ResultPart, lane: Option<&Name>) -> ToolResult {
    let exit = outcome
        .exit
        .filter(|code| *code != 0)
        .map(|code| format!("exit {code}"));
    let facts: Vec<String> = exit
        .into_iter()
        .chain(outcome.words.iter().cloned())
        .collect();
    let mut body = outcome.body.clone();
    body.flags.unjudged = outcome.exit.is_none();
    ToolResult {
        patch: outcome.patch.clone(),
        images: outcome.images.clone(),
        facts: Text::clean(&facts.join(" · ")),
        duration_ms: outcome.duration_ms,
        work: outcome.work.clone().map(Box::new),
        ..ToolResult::new(
            ToolResult::key_of(call, lane),
            outcome.verdict,
            body,
            outcome.at,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{ResultPart, ThreadCalls};
    use crate::model::edit::Batch;
    use crate::model::tool::{ToolKind, Verdict};

    #[test]
    fn only_what_comes_of_calls_that_start_sub_agents_counts() {
        let mut deeds = ThreadCalls::default();
        deeds.begin(&"run".into(), ToolKind::Run);
        deeds.begin(&"spawn".into(), ToolKind::Delegate);
        deeds.begin(&"spawn".into(), ToolKind::Other);
        let passed = ["run", "spawn", "stray"].map(|call| deeds.can_skip_result(call));
        assert_eq!(passed, [true, false, false]);
        assert_eq!(deeds.open.len(), 1, "what came is waited for no more");
    }

    #[test]
    fn output_and_event_are_one_result_in_any_order() {
        let mut out = Batch::default();
        let mut outcome = |text: &str| ResultPart::text(out.output(text), None);
        let output = ResultPart {
            is_output: true,
            duration_ms: Some(2000),
            ..outcome("cut")
        };
        let event = ResultPart {
            verdict: Verdict::Failed,
            exit: Some(101),
            duration_ms: Some(1987),
            patch: Some(out.prose("+a")),
            ..ResultPart::text(out.output("all of it"), None)
        };
        let call = "c1".into();
        for order in [[output.clone(), event.clone()], [event, output]] {
            let mut deeds = ThreadCalls::default();
            assert!(deeds.begin(&call, ToolKind::Run) && !deeds.begin(&call, ToolKind::Run));
            let [_, result] = order.map(|outcome| deeds.join(&call, outcome, None));
            assert_eq!(result.body.stub.as_str(), "cut", "what the model was given");
            assert_eq!(
                (result.facts.as_str(), result.verdict),
                ("exit 101", Verdict::Failed)
            );
            assert_eq!(result.duration_ms, Some(1987), "measured");
            assert!(result.patch.is_some());
        }
    }
}
