//! Indexes that are updated in arbitrary steps and portions, compared with fresh ones.

use std::fmt::Debug;

use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_oneof, proptest};
use proptest::test_runner::RngSeed;

use super::{Indexes, Needs};
use crate::analysis::account::Figures;
use crate::analysis::calls::{Outcome, Place};
use crate::analysis::loops::CallRun;
use crate::analysis::timeline::Span;
use crate::model::body::{Held, Tree};
use crate::model::edit::{Batch, BatchMode, Edit, Feed, MetaEdit, Stage};
use crate::model::entry::{Block, BlockKind, Break, Entry, Marks, Piece, Role};
use crate::model::record::{FileId, Origin};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use crate::model::transcript::Transcript;
use crate::model::usage::Usage;
use crate::session::Session;

/// One record of a session. Keys repeat, so entries are sent again: changed, longer, in another
/// lane.
#[derive(Clone, Copy, Debug)]
enum Step {
    Prompt {
        key: u8,
    },
    Answer {
        key: u8,
        calls: u8,
        tool: u8,
        tokens: u8,
        lane: u8,
    },
    Result {
        call: u8,
        is_good: bool,
        after: u8,
    },
    Usage {
        key: u8,
        tokens: u8,
    },
    Lane {
        lane: u8,
        call: u8,
    },
    Compaction {
        key: u8,
    },
    Stop {
        key: u8,
    },
    Retire {
        key: u8,
    },
    RetirePiece {
        key: u8,
        piece: u8,
    },
    Fares {
        call: u8,
        is_lost: bool,
    },
    Live(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0u8..6).prop_map(|key| Step::Prompt { key }),
        8 => (6u8..20, 0u8..4, 0u8..12, 0u8..4, 0u8..4)
            .prop_map(|(key, calls, tool, tokens, lane)| Step::Answer { key, calls, tool, tokens, lane }),
        6 => (0u8..80, any::<bool>(), 0u8..40)
            .prop_map(|(call, is_good, after)| Step::Result { call, is_good, after }),
        1 => (0u8..20, 1u8..4).prop_map(|(key, tokens)| Step::Usage { key, tokens }),
        1 => (1u8..4, 24u8..80).prop_map(|(lane, call)| Step::Lane { lane, call }),
        1 => (20u8..23).prop_map(|key| Step::Compaction { key }),
        1 => (23u8..25).prop_map(|key| Step::Stop { key }),
        1 => (0u8..25).prop_map(|key| Step::Retire { key }),
        1 => (6u8..20, 1u8..4).prop_map(|(key, piece)| Step::RetirePiece { key, piece }),
        1 => (0u8..80, any::<bool>()).prop_map(|(call, is_lost)| Step::Fares { call, is_lost }),
        1 => any::<bool>().prop_map(Step::Live),
    ];
    prop::collection::vec(step, 0..40)
}

fn name(kind: char, number: u8) -> Text {
    Text::from(format!("{kind}{number}").as_str())
}

fn at(number: usize) -> Timestamp {
    Timestamp(1_700_000_000_000 + i64::try_from(number).unwrap() * 1_000)
}

fn call(out: &mut Batch, id: u8, tool: u8) -> ToolCall {
    let (name, kind) = [
        ("bash", ToolKind::Run),
        ("read", ToolKind::Read),
        ("edit", ToolKind::Edit),
        ("task", ToolKind::Delegate),
    ][usize::from(tool % 4)];
    let word = Text::from(["a", "b", "c"][usize::from(tool / 4)]);
    let other = Text::from(["b", "c", "a"][usize::from(tool / 4)]);
    let fields = [
        ("file_path", Text::from("/w/hull")),
        ("old_string", word.clone()),
        ("new_string", other),
        ("command", word),
    ];
    let tree = Tree::Map(
        fields
            .into_iter()
            .map(|(name, text)| (Text::from(name), Tree::Text(text)))
            .collect(),
    );
    let input = out.tree(&Text::from("in"), 20, || tree);
    ToolCall {
        name: Text::from(name),
        kind,
        input,
        ..samples::call(out, &format!("c{id}"))
    }
}

fn batch(number: usize, step: Step) -> Batch {
    let mut out = Batch::default();
    let line = u32::try_from(number).unwrap() + 1;
    out.begin_record(Origin {
        file: FileId(0),
        at: u64::from(line) * 100,
        len: 99,
        line,
    });
    let mut said = |key: u8, role: Role| {
        let mut entry = out.new_entry(name('k', key), role, Some(at(number)));
        entry.push(BlockKind::Text(out.prose("so")));
        entry
    };
    match step {
        Step::Prompt { key } => {
            let mut entry = said(key, Role::User);
            entry.marks = Marks {
                prompt: true,
                ..Marks::default()
            };
            out.entry(entry);
        }
        Step::Answer {
            key,
            calls,
            tool,
            tokens,
            lane,
        } => {
            let mut entry = said(key, Role::Assistant);
            entry.lane = (lane > 0).then(|| name('l', lane));
            entry.usage = (tokens > 0).then(|| Box::new(usage(tokens)));
            for place in 0..calls {
                let call = call(&mut out, key * 4 + place, tool);
                entry.push_piece(Piece(u64::from(place) + 1), BlockKind::Call(Box::new(call)));
            }
            out.entry(entry);
        }
        Step::Result {
            call,
            is_good,
            after,
        } => {
            let verdict = if is_good {
                Verdict::Done
            } else {
                Verdict::Failed
            };
            let sample =
                samples::result(&mut out, &format!("r{call}"), Some(at(usize::from(after))));
            let result = Box::new(ToolResult { verdict, ..sample });
            out.push(Edit::Result {
                call: name('c', call),
                result,
                lane: None,
            });
        }
        Step::Usage { key, tokens } => {
            out.push(Edit::Usage {
                of: name('k', key),
                usage: Box::new(usage(tokens)),
                model: None,
            });
        }
        Step::Lane { lane, call } => {
            out.meta(MetaEdit::Lane {
                name: name('l', lane),
                label: None,
                call: Some(name('c', call)),
            });
        }
        Step::Compaction { key } => {
            let mut entry = said(key, Role::Harness);
            let line = Break::compaction("");
            entry.push_piece(Piece(1), line);
            out.entry(entry);
        }
        Step::Stop { key } => {
            let mut entry = said(key, Role::Harness);
            let line = Break::Interrupted(Text::default());
            entry.blocks = vec![Block::new(Piece(1), BlockKind::Break(line))];
            out.entry(entry);
        }
        Step::Retire { key } => out.push(Edit::Retire(name('k', key))),
        Step::RetirePiece { key, piece } => {
            out.push(Edit::RetirePiece {
                of: name('k', key),
                piece: Piece(u64::from(piece)),
            });
        }
        Step::Fares { call, is_lost } => {
            let state = if is_lost {
                ToolState::Lost
            } else {
                ToolState::Running
            };
            out.push(Edit::State {
                call: name('c', call),
                state,
            });
        }
        Step::Live(is_live) => out.meta(MetaEdit::Live(Some(is_live))),
    }
    out
}

fn usage(tokens: u8) -> Usage {
    Usage {
        input: Some(u64::from(tokens) * 1_000),
        output: Some(10),
        ..Usage::default()
    }
}

const ALL: Needs = Needs {
    loops: true,
    calls: true,
    spending: true,
    timeline: true,
    windows: true,
    carried: true,
    flights: true,
    files: true,
    brief: true,
    findings: true,
};

/// The value of each index in the list. Add new indexes here, too.
fn answers(indexes: &Indexes, transcript: &Transcript) -> Vec<(&'static str, String)> {
    let Indexes {
        account,
        loops,
        calls,
        spending,
        timeline,
        windows,
        carried,
        flights,
        files,
        brief,
        findings,
        generation: _,
        delayed: _,
        needs: _,
        is_behind: _,
    } = indexes;
    let lanes: Vec<Option<Text>> = [None]
        .into_iter()
        .chain((1..4).map(|lane| Some(name('l', lane))))
        .collect();
    let mut answers: Vec<(&'static str, String)> = Vec::new();
    let mut add = |name: &'static str, what: &dyn Debug| answers.push((name, format!("{what:?}")));
    let sums = |figures: &Figures| {
        let facts = &figures.facts;
        let counts = (
            facts.calls,
            facts.failed,
            facts.errors,
            facts.open,
            facts.delegated,
        );
        (
            counts,
            facts.started,
            facts.ended,
            facts.totals.sum(),
            figures.time,
            figures.lacks_agents,
        )
    };
    for turn in 0..transcript.turns().len() {
        add("account", &(turn, sums(&account.turn(transcript, turn))));
    }
    for lane in &lanes {
        let path = account.path(lane.as_ref());
        add(
            "account",
            &(
                lane,
                path.entries,
                sums(&path.work),
                account.time(lane.as_ref()),
            ),
        );
        add(
            "windows",
            &(
                lane,
                windows.rows(lane.as_ref()),
                windows.sums(lane.as_ref()),
            ),
        );
    }
    add("account", &account.cost(transcript));
    let mut results: Vec<_> = carried.results().collect();
    results.sort_by_key(|(place, _)| *place);
    add("carried", &(results, carried.classes().collect::<Vec<_>>()));
    let runs = &loops.runs;
    add(
        "loops",
        &runs
            .iter()
            .map(|run| (run.places().collect::<Vec<_>>(), run.results()))
            .collect::<Vec<_>>(),
    );
    add(
        "loops",
        &(
            loops.undone.iter().collect::<Vec<_>>(),
            loops.current(transcript).map(CallRun::count),
        ),
    );
    let places: Vec<Place> = calls.all().collect();
    for place in &places {
        add(
            "calls",
            &(place, calls.number(*place), calls.overlaps(*place, 9)),
        );
        add("calls", &calls.earlier(*place, 9));
        add("files", &files.of_call(*place));
    }
    for (name, tool) in calls.tools.iter() {
        let spread = tool.sums.durations.spread();
        add(
            "calls",
            &(
                name,
                tool.calls.len(),
                tool.sums.ended(Outcome::Failed),
                tool.bytes,
                spread,
                calls.of_tool(name).collect::<Vec<_>>(),
            ),
        );
    }
    add("calls", &calls.delegates().collect::<Vec<_>>());
    add(
        "spending",
        &(&spending.charges, spending.total, spending.without_tokens),
    );
    let spans = timeline
        .first()
        .into_iter()
        .flat_map(|first| [first].into_iter().chain(timeline.after(first)));
    for id in spans {
        // Lanes are numbered in order of occurrence.
        let lane = |number: usize| timeline.lanes()[number].name.clone();
        let (span, row) = timeline.get(id).unwrap();
        let (own, row) = (lane(span.lane), lane(timeline.row(row).unwrap().lane));
        add(
            "timeline",
            &(
                Span {
                    lane: 0,
                    ..span.clone()
                },
                own,
                row,
                timeline.started_by(id).map(lane),
            ),
        );
    }
    add(
        "timeline",
        &(
            timeline.count(),
            timeline.untimed,
            timeline.prompts(at(0), at(999)).collect::<Vec<_>>(),
        ),
    );
    for id in transcript.order() {
        let mut beside: Vec<_> = flights.overlapping(*id).collect();
        beside.sort_by_key(|flight| flight.from);
        add("flights", &(id, flights.position(*id, 0), beside));
        add("windows", &windows.row_at(transcript, *id));
    }
    let mut list: Vec<_> = files
        .list()
        .map(|(path, file)| (path, &file.uses, file.reads, file.edits))
        .collect();
    list.sort_by_key(|(path, ..)| path.to_string());
    add("files", &list);
    add(
        "brief",
        &(
            &brief.files,
            &brief.commands,
            &brief.commits,
            &brief.tests,
            &brief.failed,
            &brief.open,
        ),
    );
    add("brief", &brief.incomplete);
    add("findings", &findings.iter().collect::<Vec<_>>());
    answers
}

/// Processes all entries.
fn follow(indexes: &mut Indexes, transcript: &Transcript) {
    indexes.follow(transcript, ALL, true);
    while indexes.is_behind {
        indexes.follow(transcript, ALL, true);
    }
}

fn assert_are_those_of_fresh_ones(indexes: &mut Indexes, transcript: &Transcript) {
    follow(indexes, transcript);
    let mut fresh = Indexes::default();
    follow(&mut fresh, transcript);
    for (grown, fresh) in answers(indexes, transcript)
        .into_iter()
        .zip(answers(&fresh, transcript))
    {
        assert_eq!(grown, fresh);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        rng_seed: RngSeed::Fixed(2_026),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Whatever is added in whatever steps, and whatever is viewed meanwhile: each index equals one
    /// that is computed from scratch.
    #[test]
    fn what_has_grown_is_what_is_read_at_once(steps in steps(), looks in prop::collection::vec(0u16..256, 40)) {
        let (mut transcript, mut indexes) = (Transcript::new(), Indexes::default());
        for (number, step) in steps.iter().enumerate() {
            let touched = transcript.apply(batch(number, *step));
            indexes.invalidate(&transcript, &touched);
            indexes.watch(&transcript, Needs::default());
            transcript.update_derived();
            let is_seen = |bit: u16| looks[number] & (1 << bit) == 0;
            let needs = Needs {
                calls: is_seen(0),
                spending: is_seen(1),
                timeline: is_seen(2),
                windows: is_seen(3),
                flights: is_seen(4),
                files: is_seen(5),
                findings: is_seen(6),
                ..Needs::default()
            };
            indexes.follow(&transcript, needs, is_seen(7));
        }
        assert_are_those_of_fresh_ones(&mut indexes, &transcript);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 50,
        rng_seed: RngSeed::Fixed(2_026),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The indexes of a session are updated for all its changes: of the shown transcript, and of
    /// one that is read beside it and replaces it, whether it is the whole session or a rewritten
    /// file with fewer entries.
    #[test]
    fn a_session_informs_its_indexes_of_every_change(
        steps in steps(),
        shown_first in 0usize..40,
        left_out in prop::collection::vec(any::<bool>(), 40),
    ) {
        let mut session = Session::default();
        let take = |session: &mut Session, stage: Stage, batch: Batch| {
            session.apply_feed(Feed::Batch { stage, batch: Box::new(batch) });
            session.indexes.follow(&session.transcript, ALL, true);
        };
        let is_beside = shown_first % 2 == 0;
        for (number, step) in steps.iter().enumerate().skip(shown_first).filter(|_| is_beside) {
            take(&mut session, Stage::Preview, batch(number, *step));
        }
        for (number, step) in steps.iter().enumerate() {
            take(&mut session, Stage::Whole, batch(number, *step));
        }
        session.apply_feed(Feed::CaughtUp);
        assert_are_those_of_fresh_ones(&mut session.indexes, &session.transcript);
        let before = (session.indexes.account.generation, session.indexes.files.generation);
        let anew = steps.iter().enumerate().filter(|(number, _)| !left_out[*number]);
        for (count, (number, step)) in anew.enumerate() {
            let mut again = batch(number, *step);
            again.mode = if count == 0 { BatchMode::ReplaceStart } else { BatchMode::ReplaceMore };
            take(&mut session, Stage::Whole, again);
        }
        let mut end = Batch::default();
        end.mode = if left_out[..steps.len()].contains(&false) { BatchMode::ReplaceEnd } else { BatchMode::Replace };
        take(&mut session, Stage::Whole, end);
        assert_are_those_of_fresh_ones(&mut session.indexes, &session.transcript);
        let now = (session.indexes.account.generation, session.indexes.files.generation);
        assert!(before.0 < now.0 && before.1 < now.1, "whoever goes by these sees another session");
    }
}

#[test]
fn a_session_remembers_what_was_read_again() {
    let mut session = Session::default();
    for (number, key) in [6, 7].into_iter().enumerate() {
        let step = Step::Answer {
            key,
            calls: 1,
            tool: 0,
            tokens: 0,
            lane: 0,
        };
        session.apply_feed(Feed::Batch {
            stage: Stage::Whole,
            batch: Box::new(batch(number, step)),
        });
    }
    let ids = session.transcript.order().to_vec();
    let content = |entry: &Entry| {
        let bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
        (entry.origin, bodies.map(|body| body.held.clone()).collect())
    };
    let contents: Vec<(Origin, Vec<Held>)> = session.transcript.entries().map(content).collect();
    session.transcript.release(0, |_| false);
    follow(&mut session.indexes, &session.transcript);
    let unread = |session: &Session| {
        let place = Place {
            entry: ids[1],
            block: 1,
        };
        session.indexes.calls.earlier(place, 9).unread.len()
    };
    assert_eq!(unread(&session), 2);
    session.fill(&ids, &contents);
    session.transcript.release(0, |_| false);
    follow(&mut session.indexes, &session.transcript);
    assert_eq!(unread(&session), 0);
}

#[test]
fn a_large_entry_is_not_judged_with_each_of_its_results_and_judged_in_the_end() {
    const CALLS: u32 = 8 * 1024;
    const RESULTS: u32 = 64;
    let take = |batch: Batch, transcript: &mut Transcript, indexes: &mut Indexes| {
        let touched = transcript.apply(batch);
        indexes.invalidate(transcript, &touched);
        indexes.watch(transcript, Needs::default());
        transcript.update_derived();
    };
    let (mut transcript, mut indexes) = (Transcript::new(), Indexes::default());
    let mut out = Batch::default();
    let mut entry = out.new_entry(Text::from("a"), Role::Assistant, Some(at(0)));
    for number in 0..CALLS {
        let call = samples::call(&mut out, &format!("c{number}"));
        entry.push_piece(Piece(number.into()), BlockKind::Call(Box::new(call)));
    }
    out.entry(entry);
    take(out, &mut transcript, &mut indexes);
    let before = indexes.account.work();
    for number in 0..RESULTS {
        let mut out = Batch::default();
        let result = samples::result(&mut out, &format!("r{number}"), Some(at(1)));
        let call = Text::clean(&format!("c{number}"));
        out.push(Edit::Result {
            call,
            result: Box::new(result),
            lane: None,
        });
        take(out, &mut transcript, &mut indexes);
    }
    let judged = indexes.account.work() - before;
    assert!((1..=u64::from(RESULTS) / 8).contains(&judged), "{judged}");
    for _ in 0..8 {
        indexes.follow(&transcript, Needs::always(), true);
    }
    assert!(!indexes.is_behind);
    let facts = indexes.account.path(None).work.facts;
    assert_eq!((facts.calls, facts.open), (CALLS, CALLS - RESULTS));
}

/// Number of lines that are appended one by one, with a frame for each.
const LINES: u32 = 96;

/// Work of these lines for the account, for joining results and for the lint, in a session with
/// this number of active sub-agents.
fn steps_of_lines(lanes: u32) -> [u64; 3] {
    let (mut transcript, mut indexes) = (Transcript::new(), Indexes::default());
    let mut number = 0;
    let needs = Needs {
        findings: true,
        ..Needs::default()
    };
    let mut take = |is_seen: bool, fill: &dyn Fn(&mut Batch)| {
        let mut out = Batch::default();
        number += 1;
        out.begin_record(Origin {
            file: FileId(0),
            at: u64::from(number) * 100,
            len: 99,
            line: number,
        });
        fill(&mut out);
        let touched = transcript.apply(out);
        indexes.invalidate(&transcript, &touched);
        indexes.watch(&transcript, Needs::default());
        transcript.update_derived();
        if is_seen {
            indexes.follow(&transcript, needs, true);
        }
        let steps = [
            indexes.account.work(),
            transcript.work(),
            indexes.findings.work() as u64,
        ];
        (steps, indexes.is_behind)
    };
    let named = |kind: char, number: u32| Text::clean(&format!("{kind}{number}"));
    let asks = |out: &mut Batch, (key, call): (Text, Text), lane: Option<Text>| {
        let mut entry = out.new_entry(key, Role::Assistant, Some(at(1)));
        entry.lane = lane;
        let call = samples::call(out, &call);
        entry.push_piece(Piece(1), BlockKind::Call(Box::new(call)));
        out.entry(entry);
    };
    let answers = |out: &mut Batch, number: u32| {
        let result = samples::result(out, &named('r', number), Some(at(2)));
        out.push(Edit::Result {
            call: named('b', number),
            result: Box::new(result),
            lane: None,
        });
    };
    for lane in 0..lanes {
        take(false, &|out| {
            asks(out, (named('m', lane), named('t', lane)), None);
            let (name, call) = (named('l', lane), Some(named('t', lane)));
            out.meta(MetaEdit::Lane {
                name,
                label: None,
                call,
            });
            asks(
                out,
                (named('a', lane), named('b', lane)),
                Some(named('l', lane)),
            );
            answers(out, lane);
        });
    }
    let before = loop {
        let (steps, is_behind) = take(true, &|_| {});
        if !is_behind {
            break steps;
        }
    };
    for line in 0..LINES {
        let (lane, new) = (line * 31 % lanes, lanes + line);
        take(true, &|out| {
            asks(
                out,
                (named('a', new), named('b', new)),
                Some(named('l', lane)),
            );
        });
        take(true, &|out| answers(out, new));
    }
    let (after, _) = take(true, &|_| {});
    [0, 1, 2].map(|one| after[one] - before[one])
}

#[test]
fn a_line_costs_the_same_however_many_sub_agents_there_are() {
    let (few, many) = (steps_of_lines(100), steps_of_lines(800));
    for (number, name) in ["account", "joining", "lint"].into_iter().enumerate() {
        let (few, many) = (few[number], many[number]);
        assert!(
            few >= u64::from(LINES),
            "{name}: {few} steps: it counts something"
        );
        assert!(
            many <= few + few / 4,
            "{name}: {few} steps with 100 sub-agents, {many} with 800"
        );
    }
}
