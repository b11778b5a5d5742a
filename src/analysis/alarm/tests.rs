//! Each condition with a case that fires it and one that must not.

use super::{Alarm, AlarmStatus, Rung};
use crate::analysis::activity::{Activity, Wish};
use crate::analysis::calls::Place;
use crate::analysis::context::ContextUse;
use crate::analysis::derived::Memo;
use crate::analysis::expression::parse::parse_alarm;
use crate::analysis::loops::Loops;
use crate::analysis::money::cost::{Cost, CostSource};
use crate::model::body::Tree;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, EntryId, Role};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use crate::model::transcript::Transcript;

/// A session with all other inputs of an alarm.
struct Session {
    transcript: Transcript,
    loops: Memo<Loops>,
    activity: Activity,
    silence: Option<u64>,
    usd: Option<f64>,
    context: Option<ContextUse>,
    orphan: Option<(Place, &'static str)>,
    touched: Vec<EntryId>,
}

impl Session {
    fn new() -> Self {
        Self {
            transcript: Transcript::new(),
            loops: Memo::default(),
            activity: Activity::Model { since: None },
            silence: None,
            usd: None,
            context: None,
            orphan: None,
            touched: Vec::new(),
        }
    }

    fn feed(&mut self, fill: impl FnOnce(&mut Batch)) {
        let mut batch = Batch::default();
        fill(&mut batch);
        let touched = self.transcript.apply(batch);
        self.transcript.update_derived();
        self.loops.invalidate(&self.transcript, &touched);
        self.loops.follow(&self.transcript, usize::MAX);
        self.touched
            .extend(touched.added.into_iter().chain(touched.changed));
    }

    fn call(&mut self, key: &str, command: &str) {
        self.feed(|out| {
            let input = Tree::Map(vec![("command".into(), Tree::Text(command.into()))]);
            let call = ToolCall {
                key: key.into(),
                name: "bash".into(),
                kind: ToolKind::Run,
                headline: command.into(),
                input: out.tree(&Text::from(command), command.len(), || input),
                state: ToolState::Pending,
                started: None,
                lane: None,
            };
            let mut entry = out.new_entry(key.into(), Role::Assistant, Some(Timestamp(0)));
            entry.push(BlockKind::Call(Box::new(call)));
            out.entry(entry);
        });
    }

    fn result(&mut self, key: &str, verdict: Verdict, output: &str) {
        self.feed(|out| {
            let body = out.output(output);
            let result = ToolResult {
                key: Text::clean(&format!("{key}/result")),
                tool: None,
                verdict,
                body,
                patch: None,
                images: Vec::new(),
                facts: "exit 1".into(),
                at: Some(Timestamp(1_000)),
                duration_ms: None,
                work: None,
            };
            out.push(Edit::Result {
                call: key.into(),
                result: Box::new(result),
                lane: None,
            });
        });
    }

    fn with<T>(&self, look: impl FnOnce(&AlarmStatus<'_>) -> T) -> T {
        let (source, unpriced_models) = (CostSource::Recorded, Vec::new());
        let cost = Cost {
            usd: self.usd,
            source,
            unpriced_models,
            is_partial: false,
            is_estimated: false,
            by_list: None,
        };
        look(&AlarmStatus {
            transcript: &self.transcript,
            activity: &self.activity,
            silence: self.silence,
            cost: &cost,
            context: self.context,
            run: self.loops.current(&self.transcript),
            orphan: self.orphan,
        })
    }

    fn alarm(&self, typed: &str) -> Alarm {
        let mut alarm = Alarm::new(parse_alarm(typed).unwrap(), None);
        self.with(|status| alarm.begin(status, false));
        alarm
    }

    fn look(&mut self, alarm: &mut Alarm) -> Option<Rung> {
        let touched = std::mem::take(&mut self.touched);
        self.with(|status| alarm.check(status, &touched))
    }

    fn rings(&mut self, alarm: &mut Alarm) -> Option<String> {
        self.look(alarm).map(|rung| rung.words)
    }
}

fn waiting() -> Activity {
    Activity::Waiting {
        since: None,
        wish: Wish::Question,
        what: "which vault?".into(),
        agents: 0,
    }
}

#[test]
fn a_state_rings_when_it_comes_true_and_again_only_after_it_was_false() {
    let mut session = Session::new();
    let mut alarm = session.alarm("waiting");
    assert_eq!(session.rings(&mut alarm), None);
    session.activity = waiting();
    assert_eq!(
        session.rings(&mut alarm).as_deref(),
        Some("waits for you: which vault?")
    );
    assert_eq!(session.rings(&mut alarm), None, "it still waits");
    session.activity = Activity::Idle {
        since: Some(Timestamp(0)),
    };
    assert_eq!(session.rings(&mut alarm), None, "who is idle waits, too");
    session.activity = Activity::Model { since: None };
    assert_eq!(session.rings(&mut alarm), None);
    session.activity = waiting();
    assert!(session.rings(&mut alarm).is_some());
}

#[test]
fn what_is_true_when_watching_begins_rings_nothing_unless_it_is_waited_for() {
    let mut session = Session::new();
    session.activity = waiting();
    let mut alarm = session.alarm("waiting");
    assert_eq!(session.rings(&mut alarm), None);
    let mut alarm = Alarm::new(parse_alarm("waiting").unwrap(), None);
    session.with(|status| alarm.begin(status, true));
    assert!(session.rings(&mut alarm).is_some());
}

#[test]
fn each_state_is_its_own() {
    let states = [
        ("model", Activity::Model { since: None }),
        (
            "tool",
            Activity::Tool {
                name: "bash".into(),
                since: None,
            },
        ),
        (
            "retry",
            Activity::Retry {
                since: None,
                why: "529".into(),
            },
        ),
        ("unclean", Activity::Unclean),
        ("idle", Activity::Idle { since: None }),
    ];
    for (word, _) in &states {
        let expr = parse_alarm(word).unwrap();
        for (own, activity) in &states {
            let mut session = Session::new();
            session.activity = activity.clone();
            let mut alarm = Alarm::new(expr.clone(), None);
            session.with(|status| alarm.begin(status, true));
            assert_eq!(
                session.rings(&mut alarm).is_some(),
                word == own,
                "{word} while {own}"
            );
        }
    }
    for activity in [Activity::Ended, Activity::Unclean] {
        let mut session = Session::new();
        let mut alarm = session.alarm("ended");
        session.activity = activity;
        assert!(session.rings(&mut alarm).is_some());
    }
}

#[test]
fn figures_ring_when_they_pass_their_bound() {
    let mut session = Session::new();
    let mut silent = session.alarm("silent>90s");
    let mut cost = session.alarm("cost>2");
    let mut full = session.alarm("ctx>80%");
    let mut many = session.alarm("ctx>=150k");
    session.silence = Some(90_000);
    session.usd = Some(2.0);
    session.context = Some(ContextUse {
        tokens: 149_999,
        window: Some(200_000),
    });
    for alarm in [&mut silent, &mut cost, &mut full, &mut many] {
        assert_eq!(session.rings(alarm), None, "{}", alarm.expr);
    }
    session.silence = Some(90_001);
    session.usd = Some(2.01);
    session.context = Some(ContextUse {
        tokens: 161_000,
        window: Some(200_000),
    });
    assert_eq!(
        session.rings(&mut silent).as_deref(),
        Some("silent for 1m30s")
    );
    assert_eq!(session.rings(&mut cost).as_deref(), Some("cost $2.01"));
    assert_eq!(
        session.rings(&mut full).as_deref(),
        Some("context 80%, 161k of 200k")
    );
    assert!(session.rings(&mut many).is_some());
    session.context = Some(ContextUse {
        tokens: 161_000,
        window: None,
    });
    let mut unknown = session.alarm("ctx>10%");
    assert_eq!(
        session.rings(&mut unknown),
        None,
        "of what is not known no share is"
    );
}

#[test]
fn errors_ring_one_by_one_and_old_ones_never() {
    let mut session = Session::new();
    session.call("a", "make");
    session.result("a", Verdict::Failed, "boom");
    session.call("b", "make test");
    let mut alarm = session.alarm("err");
    assert_eq!(session.rings(&mut alarm), None);
    session.result("b", Verdict::Failed, "boom");
    let rung = session.look(&mut alarm).unwrap();
    assert_eq!(rung.words, "err: bash make test, exit 1");
    assert_eq!(
        rung.at,
        Some(Place {
            entry: session.transcript.find("b").unwrap(),
            block: 0
        })
    );
    session.call("c", "make install");
    session.result("c", Verdict::Done, "fine");
    assert_eq!(session.rings(&mut alarm), None);
    session.call("d", "false");
    session.result("d", Verdict::Failed, "");
    assert!(session.rings(&mut alarm).is_some());
}

#[test]
fn facts_of_entries_and_of_the_session_may_be_joined() {
    let mut session = Session::new();
    let mut both = session.alarm("tool:bash err and cost>1");
    let mut either = session.alarm("waiting or tool:bash -\"install\"");
    session.activity = waiting();
    assert!(session.rings(&mut either).is_some());
    session.call("a", "make install");
    let touched = session.touched.clone();
    assert_eq!(
        session.rings(&mut either),
        None,
        "it goes on waiting, and this call is none of those"
    );
    session.touched = touched;
    session.call("b", "make");
    let touched = session.touched.clone();
    assert_eq!(
        session.rings(&mut either).as_deref(),
        Some("tool:bash -\"install\": bash make")
    );
    session.touched = touched;
    session.result("b", Verdict::Failed, "");
    assert_eq!(session.rings(&mut both), None, "it has cost nothing");
    session.usd = Some(1.5);
    session.call("c", "make");
    session.result("c", Verdict::Failed, "");
    assert!(session.rings(&mut both).is_some());
}

#[test]
fn a_loop_rings_at_its_third_call() {
    let mut session = Session::new();
    let mut alarm = session.alarm("loop");
    let mut long = session.alarm("same-call>=4");
    for (key, rung) in [("a", false), ("b", false), ("c", true), ("d", false)] {
        session.call(key, "cargo test");
        session.result(key, Verdict::Failed, "boom");
        let touched = session.touched.clone();
        assert_eq!(session.look(&mut alarm).is_some(), rung, "{key}");
        session.touched = touched;
        assert_eq!(session.look(&mut long).is_some(), key == "d", "{key}");
    }
    session.call("e", "cargo test --release");
    assert_eq!(session.rings(&mut alarm), None);
    assert_eq!(session.alarm("same-call>=3").expr.to_string(), "loop");
}

#[test]
fn an_orphan_rings_when_it_is_found() {
    let mut session = Session::new();
    session.call("a", "make");
    let mut alarm = session.alarm("orphan");
    assert_eq!(session.rings(&mut alarm), None);
    let place = Place {
        entry: session.transcript.find("a").unwrap(),
        block: 0,
    };
    session.orphan = Some((place, "bash has no result"));
    let rung = session.look(&mut alarm).unwrap();
    assert_eq!(
        rung,
        Rung {
            words: "bash has no result".into(),
            at: Some(place)
        }
    );
    session.orphan = None;
    assert_eq!(session.rings(&mut alarm), None);
}
