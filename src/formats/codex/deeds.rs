//! What came of calls. The output tells the model, events tell the program: exit codes, durations, changes of files.
//! Either may come first, and each may come alone.

use std::collections::{HashMap, VecDeque};

use crate::formats::definition::heads;
use crate::formats::waiting::Waiting;
use crate::model::body::{Body, Image, Key};
use crate::model::edit::Batch;
use crate::model::fingerprint::ByKey;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, End, Ends, Update, Work};
use crate::model::tool::{ToolKind, ToolResult, ToolState, Verdict};

/// How a word begins that says under which name a command goes on.
pub(crate) const RUNNING: &str = "still running as ";
/// What stands before the number of a script that goes on: the numbers of processes are others.
pub(crate) const CELL: &str = "cell ";

/// So many results are kept, for what is told of them later.
const KEPT: usize = 16;

/// What one record tells of a result.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// What came out.
    pub(crate) body: Body,
    /// Whether it is what the model was given.
    pub(crate) is_output: bool,
    /// What was changed, as a unified diff.
    pub(crate) patch: Option<Body>,
    /// Images in it.
    pub(crate) images: Vec<Image>,
    /// How it ended.
    pub(crate) verdict: Verdict,
    /// The exit code of a command.
    pub(crate) exit: Option<i64>,
    /// How long it took.
    pub(crate) duration_ms: Option<u64>,
    /// What else is worth a word.
    pub(crate) words: Vec<String>,
    /// When it was told.
    pub(crate) at: Option<Timestamp>,
    /// Whether it tells of the end of what went on after its first output.
    pub(crate) is_end: bool,
    /// The process or the script that went on when it was recorded, and what polls told of that.
    pub(crate) work: Option<Work>,
}

impl Outcome {
    /// Nothing but a text.
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

/// Calls of a thread and what came of them.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    /// Each with whether it starts a sub-agent.
    known: ByKey<bool>,
    open: Waiting,
    outcome: HashMap<Key, Outcome>,
    order: VecDeque<Key>,
    /// Processes of commands whose end was told to the call that began them.
    ended: ByKey<()>,
    /// Processes and scripts that go on, with the call that began each.
    running: HashMap<String, Key>,
    /// Calls that look after a process, until they have their results, with its number.
    polls: HashMap<Key, String>,
    /// Calls of code, with the commands in it of which no record has told yet, the last one first.
    scripts: VecDeque<Script>,
    /// Of those whose output has not come yet, the exit codes of commands in them that failed.
    failed_parts: HashMap<Key, Option<i64>>,
}

/// A call of code that runs commands.
#[derive(Debug)]
struct Script {
    call: Key,
    commands: Vec<String>,
    /// It runs this one command and does nothing else.
    is_one: bool,
}

/// What a record about a command in code belongs to.
#[derive(Debug, PartialEq)]
pub(crate) enum Within {
    /// To this call, which ran nothing else.
    Same(Key),
    /// To a command of several of this call.
    Part(Key),
}

impl Deeds {
    /// A call is made. `false` if it is known.
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

    /// Whether there is such a call.
    pub(crate) fn knows(&self, call: &str) -> bool {
        self.known.contains(call)
    }

    /// Whether what came of a call counts nothing: it is known, so that its result stands under it, and starts no
    /// sub-agent, which spent something unless it failed. Then nobody waits for it any more.
    pub(crate) fn passes_over(&mut self, call: &str) -> bool {
        let counts_nothing = self.known.get(call) == Some(&false);
        if counts_nothing {
            self.open.remove(call);
        }
        counts_nothing
    }

    /// The process of a command has ended, and its call was told how.
    pub(crate) fn end_process(&mut self, process: &str) {
        self.ended.insert(process, ());
    }

    /// A call looks after a process, or after a script that goes on.
    pub(crate) fn poll(&mut self, call: &Key, process: String) {
        self.polls.insert(call.clone(), process);
    }

    /// How a process or a script ended belongs to the call that began it: who looked after it did well. Gives that call
    /// with what came of it, unless that was told before.
    pub(crate) fn polled(
        &mut self,
        call: &Key,
        mut outcome: Outcome,
    ) -> (Outcome, Option<(Key, Outcome)>) {
        let goes_on = outcome
            .words
            .iter()
            .find_map(|word| word.strip_prefix(RUNNING))
            .map(str::to_owned);
        let Some(process) = self.polls.remove(call) else {
            // Numbers are used again: the last call that was told one is meant.
            if let Some(process) = goes_on {
                outcome.work = Some(heads::work("codex", Text::clean(&process)));
                self.running.insert(process, call.clone());
            }
            return (outcome, None);
        };
        let is_script = process.starts_with(CELL);
        let has_ended = outcome.exit.is_some() || is_script && goes_on.is_none();
        let end = has_ended.then_some(End {
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
            ..Work::begun(Text::clean(&process), Ends::default())
        };
        // What says nothing of the call but that the model asked.
        let asked = Outcome {
            work: Some(work),
            ..Outcome::text(
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
            Outcome {
                verdict,
                exit,
                body,
                at: outcome.at,
                is_end: true,
                ..asked
            }
        };
        let own = Outcome {
            exit: None,
            verdict: Verdict::Done,
            ..outcome
        };
        (own, starter.map(|starter| (starter, end)))
    }

    /// A call of code runs these commands; `is_one`: only one, and nothing else.
    pub(crate) fn note_script(&mut self, call: &Key, commands: Vec<String>, is_one: bool) {
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

    /// Which call of code ran a command of which a record tells.
    pub(crate) fn within(&mut self, command: &str) -> Option<Within> {
        let runs = |script: &&mut Script| script.commands.iter().any(|known| known == command);
        let script = self.scripts.iter_mut().find(runs)?;
        let at = script.commands.iter().position(|known| known == command)?;
        script.commands.remove(at);
        let call = script.call.clone();
        Some(if script.is_one {
            Within::Same(call)
        } else {
            Within::Part(call)
        })
    }

    /// A command in the code of a call failed. Gives what that makes of the call, if it has its output.
    pub(crate) fn fail_part(
        &mut self,
        call: &Key,
        exit: Option<i64>,
        out: &mut Batch,
    ) -> Option<Outcome> {
        if !self.outcome.contains_key(call) {
            self.failed_parts.entry(call.clone()).or_insert(exit);
            return None;
        }
        Some(Outcome {
            verdict: Verdict::Failed,
            exit,
            ..Outcome::text(out.output(""), None)
        })
    }

    /// Nobody waits for results any more.
    pub(crate) fn lose(&mut self, out: &mut Batch) {
        for call in std::mem::take(&mut self.open) {
            out.state(call, ToolState::Lost);
        }
    }

    /// Takes in what a record tells, and gives the result as all records so far tell it.
    pub(crate) fn join(&mut self, call: &Key, mut new: Outcome, lane: Option<&Name>) -> ToolResult {
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
            Outcome {
                at,
                work,
                ..outcome
            }
        } else {
            if self.order.len() >= KEPT {
                self.forget_oldest();
            }
            self.order.push_back(call.clone());
            new
        };
        let result = result(call, &outcome, lane);
        self.outcome.insert(call.clone(), outcome);
        result
    }

    /// Of what goes on the end will be told.
    fn forget_oldest(&mut self) {
        let goes_on = |call: &Key| self.running.values().any(|running| running == call);
        let oldest = self.order.iter().position(|call| !goes_on(call));
        if let Some(oldest) = oldest.and_then(|at| self.order.remove(at)) {
            self.outcome.remove(&oldest);
        }
    }
}

/// Whether a word says that a command goes on.
fn is_running(word: &str) -> bool {
    word.starts_with(RUNNING)
}

impl Outcome {
    /// The same without how it ended.
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

/// What is known of the work that a call began: polls tell of it, or an event that nobody asked for.
fn joined_work(call: &Key, known: Option<Work>, new: &mut Outcome) -> Option<Work> {
    let (Some(mut work), of_poll) = (known, new.work.take()) else {
        return None;
    };
    match of_poll {
        Some(poll) => poll
            .updates
            .into_iter()
            .for_each(|update| _ = work.take_in(update)),
        None if new.has_ended() => {
            let end = End {
                verdict: new.verdict,
                exit: new.exit,
                at: None,
            };
            let by = Text::clean(&format!("end of {call}"));
            work.take_in(Update {
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

fn joined(known: Outcome, new: Outcome) -> Outcome {
    let is_better = new.is_output || !known.is_output && new.body.bytes > 0;
    let (mut first, mut second) = if is_better {
        (new, known)
    } else {
        (known, new)
    };
    // What ended later than its turn has no time here.
    let went_on =
        first.words.iter().any(|word| is_running(word)) || second.is_end && second.at.is_none();
    if went_on && second.has_ended() {
        // The model was given what came out until then, and how long that took: what came last says how it ended.
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
    // The program measures what the output of a command rounds.
    let durations = if first.is_output {
        (second.duration_ms, first.duration_ms)
    } else {
        (first.duration_ms, second.duration_ms)
    };
    Outcome {
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

fn result(call: &Key, outcome: &Outcome, lane: Option<&Name>) -> ToolResult {
    let exit = outcome
        .exit
        .filter(|code| *code != 0)
        .map(|code| format!("exit {code}"));
    let facts: Vec<String> = exit
        .into_iter()
        .chain(outcome.words.iter().cloned())
        .collect();
    let key = match lane {
        Some(lane) => format!("result of {call} in {lane}"),
        None => format!("result of {call}"),
    };
    let mut body = outcome.body.clone();
    body.flags.unjudged = outcome.exit.is_none();
    ToolResult {
        key: Text::clean(&key),
        tool: None,
        verdict: outcome.verdict,
        body,
        patch: outcome.patch.clone(),
        images: outcome.images.clone(),
        facts: Text::clean(&facts.join(" · ")),
        at: outcome.at,
        duration_ms: outcome.duration_ms,
        work: outcome.work.clone().map(Box::new),
    }
}

#[cfg(test)]
mod tests {
    use super::{Deeds, Outcome};
    use crate::model::edit::Batch;
    use crate::model::tool::{ToolKind, Verdict};

    #[test]
    fn only_what_comes_of_calls_that_start_sub_agents_counts() {
        let mut deeds = Deeds::default();
        deeds.begin(&"run".into(), ToolKind::Run);
        deeds.begin(&"spawn".into(), ToolKind::Delegate);
        deeds.begin(&"spawn".into(), ToolKind::Other);
        let passed = ["run", "spawn", "stray"].map(|call| deeds.passes_over(call));
        assert_eq!(passed, [true, false, false]);
        assert_eq!(deeds.open.len(), 1, "what came is waited for no more");
    }

    #[test]
    fn output_and_event_are_one_result_in_any_order() {
        let mut out = Batch::default();
        let mut outcome = |text: &str| Outcome::text(out.output(text), None);
        let output = Outcome {
            is_output: true,
            duration_ms: Some(2000),
            ..outcome("cut")
        };
        let event = Outcome {
            verdict: Verdict::Failed,
            exit: Some(101),
            duration_ms: Some(1987),
            patch: Some(out.prose("+a")),
            ..Outcome::text(out.output("all of it"), None)
        };
        let call = "c1".into();
        for order in [[output.clone(), event.clone()], [event, output]] {
            let mut deeds = Deeds::default();
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
