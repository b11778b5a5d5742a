//! Each activity from the smallest transcript that has it.

use super::{Activity, LastWrite, Wish, judge};
use crate::analysis::calls::pairing;
use crate::analysis::phrases;
use crate::model::body::Tree;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Break, Marks, Role, Stop};
use crate::model::meta::{RunStatus, Running};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;

const MINUTE: i64 = 60_000;

fn say(out: &mut Batch, key: &str, role: Role, kind: BlockKind) {
    let mut entry = out.new_entry(Text::clean(key), role, Some(Timestamp(0)));
    entry.marks = Marks {
        prompt: role == Role::User,
        ..Marks::default()
    };
    entry.push(kind);
    out.entry(entry);
}

fn prompt(out: &mut Batch) {
    let body = out.prose("fix it");
    say(out, "prompt", Role::User, BlockKind::Text(body));
}

fn answer(out: &mut Batch) {
    let body = out.prose("done");
    say(out, "answer", Role::Assistant, BlockKind::Text(body));
}

fn call(out: &mut Batch, name: &str, state: ToolState) {
    let input = out.tree(&Text::default(), 0, || Tree::Null);
    let headline = Text::clean("which one?");
    let (key, name) = (Text::clean("call"), Text::clean(name));
    let call = ToolCall {
        key,
        name,
        kind: ToolKind::Run,
        headline,
        input,
        state,
        started: None,
        lane: None,
    };
    say(
        out,
        "calling",
        Role::Assistant,
        BlockKind::Call(Box::new(call)),
    );
}

fn judged(fill: impl FnOnce(&mut Batch), minutes_later: i64) -> Activity {
    let mut batch = Batch::default();
    fill(&mut batch);
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    judge(&transcript, None, Timestamp(minutes_later * MINUTE))
}

fn state(fill: impl FnOnce(&mut Batch), minutes_later: i64) -> &'static str {
    judged(fill, minutes_later).word()
}

#[test]
fn an_empty_session_says_nothing() {
    assert_eq!(state(|_| {}, 0), "unknown");
}

#[test]
fn a_prompt_is_being_answered_until_patience_ends() {
    assert_eq!(state(prompt, 1), "model");
    assert_eq!(state(prompt, 6), "unclean");
}

#[test]
fn an_open_call_runs_until_patience_ends() {
    let fill = |out: &mut Batch| {
        prompt(out);
        call(out, "bash", ToolState::Pending);
    };
    assert_eq!(
        judged(fill, 9),
        Activity::Tool {
            name: Text::clean("bash"),
            since: Some(Timestamp(0))
        }
    );
    assert_eq!(state(fill, 11), "unclean");
    let recorded_as_running = |out: &mut Batch| {
        fill(out);
        out.meta(MetaEdit::Live(Some(true)));
    };
    assert_eq!(state(recorded_as_running, 1000), "tool");
    assert_eq!(
        state(recorded_as_running, 2000),
        "unclean",
        "the mark was left behind"
    );
}

#[test]
fn what_the_agent_says_of_its_process_goes_before_what_its_records_let_guess() {
    let running = |status: RunStatus, fill: fn(&mut Batch)| {
        move |out: &mut Batch| {
            prompt(out);
            fill(out);
            out.meta(MetaEdit::Running(Some(Running {
                status,
                since: Some(Timestamp(MINUTE)),
            })));
        }
    };
    let open: fn(&mut Batch) = |out| call(out, "bash", ToolState::Pending);
    let asks: fn(&mut Batch) = |out| call(out, "AskUserQuestion", ToolState::Pending);
    let permission = judged(running(RunStatus::Waiting, open), 2);
    let what = Text::clean("permission for bash");
    let since = Some(Timestamp(MINUTE));
    assert_eq!(
        permission,
        Activity::Waiting {
            since,
            wish: Wish::Permission,
            what,
            agents: 0
        }
    );
    assert_eq!(
        judged(running(RunStatus::Waiting, asks), 2).wish(),
        Some(Wish::Question)
    );
    assert_eq!(
        judged(running(RunStatus::Waiting, answer), 2).wish(),
        Some(Wish::Question)
    );
    assert_eq!(
        judged(running(RunStatus::Idle, open), 2).wish(),
        Some(Wish::Prompt)
    );
    assert_eq!(state(running(RunStatus::Idle, answer), 61), "idle");
    assert_eq!(
        state(running(RunStatus::Busy, open), 600),
        "tool",
        "however long it takes"
    );
    assert_eq!(state(running(RunStatus::Busy, answer), 2), "model");
    let ended = |out: &mut Batch| {
        running(RunStatus::Idle, answer)(out);
        say(
            out,
            "end",
            Role::Harness,
            BlockKind::Break(Break::Ended(Text::clean("success"))),
        );
    };
    assert_eq!(state(ended, 1), "ended", "the records say so");
}

#[test]
fn a_question_waits_for_its_user() {
    let fill = |out: &mut Batch| {
        prompt(out);
        call(out, "AskUserQuestion", ToolState::Pending);
    };
    let what = Text::clean("which one?");
    assert_eq!(
        judged(fill, 600),
        Activity::Waiting {
            since: Some(Timestamp(0)),
            wish: Wish::Question,
            what,
            agents: 0
        }
    );
}

#[test]
fn a_finished_answer_waits_and_then_idles() {
    let fill = |out: &mut Batch| {
        prompt(out);
        answer(out);
    };
    assert_eq!(state(fill, 1), "waiting");
    assert_eq!(state(fill, 61), "idle");
}

#[test]
fn a_lost_call_was_followed_by_more_work() {
    let fill = |out: &mut Batch| {
        prompt(out);
        call(out, "bash", ToolState::Lost);
    };
    assert_eq!(state(fill, 1), "model");
}

#[test]
fn an_ended_session_has_ended_unless_work_goes_on() {
    let end = |out: &mut Batch| {
        prompt(out);
        say(
            out,
            "end",
            Role::Harness,
            BlockKind::Break(Break::Ended(Text::clean("success"))),
        );
    };
    assert_eq!(state(end, 0), "ended");
    let told = |out: &mut Batch| {
        end(out);
        let body = out.prose("what was handed in");
        say(out, "told", Role::Harness, BlockKind::Text(body));
    };
    assert_eq!(state(told, 0), "ended", "the harness has no last word");
    let go_on = |out: &mut Batch| {
        end(out);
        let body = out.prose("and now");
        say(out, "second", Role::User, BlockKind::Text(body));
    };
    assert_eq!(state(go_on, 0), "model");
    assert_eq!(
        state(|out| out.meta(MetaEdit::Live(Some(false))), 0),
        "ended"
    );
}

fn failed(out: &mut Batch, retried: bool, words: &str) {
    prompt(out);
    let mut entry = out.new_entry(Text::clean("failed"), Role::Harness, Some(Timestamp(0)));
    entry.marks = Marks {
        quiet: retried,
        retried,
        ..Marks::default()
    };
    entry.push(Break::Error(Text::clean(words)));
    out.entry(entry);
}

#[test]
fn a_request_that_is_made_again_is_neither_work_nor_the_end() {
    let activity = judged(|out| failed(out, true, "API error, retry 1 of 10"), 1);
    assert_eq!(
        activity,
        Activity::Retry {
            since: Some(Timestamp(0)),
            why: "API error, retry 1 of 10".into()
        }
    );
    assert_eq!(
        activity.word(),
        "model",
        "the contract of the figures knows no other word"
    );
    assert_eq!(
        judged(|out| failed(out, true, "API error, retry 1 of 10"), 6),
        Activity::Unclean
    );
    let answered = |out: &mut Batch| {
        failed(out, true, "API error, retry 1 of 10");
        answer(out);
    };
    assert_eq!(state(answered, 1), "waiting");
}

#[test]
fn what_passes_is_tried_again_for_a_while_and_the_rest_is_the_users() {
    let busy = |words: &'static str| move |out: &mut Batch| failed(out, false, words);
    for words in [
        "529 {\"type\":\"overloaded_error\"}",
        "429 Too Many Requests",
        "Connection error.",
    ] {
        assert!(
            matches!(judged(busy(words), 1), Activity::Retry { .. }),
            "{words}"
        );
        assert_eq!(state(busy(words), 2), "waiting", "{words}");
        let ended = |out: &mut Batch| {
            prompt(out);
            let mut answer =
                out.new_entry(Text::clean("failed"), Role::Assistant, Some(Timestamp(0)));
            answer.stop = Stop::of("stop_sequence");
            answer.push(Break::Error(Text::clean(words)));
            out.entry(answer);
        };
        assert_eq!(state(ended, 0), "waiting", "the agent ended there: {words}");
    }
    for words in [
        "401 invalid x-api-key",
        "the prompt is too long: 200429 tokens",
        "ref 15029",
    ] {
        assert_eq!(state(busy(words), 1), "waiting", "{words}");
    }
}

#[test]
fn a_text_before_a_call_is_no_waiting() {
    let text = |stop: Stop| {
        move |out: &mut Batch| {
            prompt(out);
            let body = out.prose("I will look");
            let mut entry =
                out.new_entry(Text::clean("answer"), Role::Assistant, Some(Timestamp(0)));
            entry.stop = stop;
            entry.push(BlockKind::Text(body));
            out.entry(entry);
        }
    };
    assert_eq!(state(text(Stop::Calls), 1), "model");
    assert_eq!(state(text(Stop::Done), 0), "waiting");
    assert_eq!(
        state(text(Stop::Unrecorded), 0),
        "model",
        "a call may follow"
    );
    assert_eq!(state(text(Stop::Unrecorded), 1), "waiting");
    let over = |out: &mut Batch, kind: BlockKind, stop: Stop| {
        text(Stop::Unrecorded)(out);
        let mut entry = out.new_entry(Text::clean("note"), Role::Harness, Some(Timestamp(0)));
        entry.marks = Marks {
            quiet: true,
            trace: true,
            ..Marks::default()
        };
        entry.stop = stop;
        entry.push(kind);
        out.entry(entry);
    };
    let setting = || BlockKind::Break(Break::Setting(Text::clean("hook Stop")));
    assert_eq!(
        state(|out| over(out, setting(), Stop::Unrecorded), 0),
        "model"
    );
    assert_eq!(
        state(|out| over(out, setting(), Stop::Done), 0),
        "waiting",
        "its turn is over"
    );
    assert_eq!(
        state(
            |out| over(out, BlockKind::Break(Break::Took(5)), Stop::Unrecorded),
            0
        ),
        "waiting"
    );
}

#[test]
fn what_the_user_runs_leaves_the_work_where_it_stood() {
    let run = |out: &mut Batch| {
        let body = out.prose("!git status");
        let mut entry = out.new_entry(Text::clean("run"), Role::User, Some(Timestamp(0)));
        entry.push(BlockKind::Text(body));
        out.entry(entry);
    };
    let after = |before: fn(&mut Batch)| {
        move |out: &mut Batch| {
            prompt(out);
            before(out);
            run(out);
        }
    };
    assert_eq!(state(after(answer), 1), "waiting");
    assert_eq!(state(after(answer), 61), "idle");
    assert_eq!(
        state(after(|_| {}), 1),
        "model",
        "the prompt is still to be answered"
    );
    assert_eq!(state(run, 1), "waiting");
}

#[test]
fn a_permission_counts_before_the_call_that_waits_for_it() {
    let fill = |out: &mut Batch| {
        prompt(out);
        call(out, "bash", ToolState::Pending);
        let asked = Break::Waiting(Text::clean("permission: bash ls"));
        say(out, "asked", Role::Harness, BlockKind::Break(asked));
    };
    assert_eq!(judged(fill, 1).wish(), Some(Wish::Permission));
    assert_eq!(
        judged(fill, 20 * 60).wish(),
        Some(Wish::Permission),
        "somebody may still come"
    );
    assert_eq!(state(fill, 48 * 60), "idle", "nobody waits for so long");
}

#[test]
fn a_file_that_was_copied_later_has_its_own_time() {
    let mut batch = Batch::default();
    prompt(&mut batch);
    answer(&mut batch);
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    let months = Timestamp(100 * 24 * 3_600_000);
    assert_eq!(
        judge(&transcript, Some(LastWrite::from_file_time(months)), months).word(),
        "idle"
    );
    let seen = judge(
        &transcript,
        Some(LastWrite::observed(months)),
        Timestamp(months.0 + 5 * 60_000),
    );
    assert_eq!((seen.word(), seen.since()), ("waiting", Some(months)));
    let (soon, now) = (Timestamp(50 * 60_000), Timestamp(70 * 60_000));
    assert_eq!(
        judge(&transcript, Some(LastWrite::from_file_time(soon)), now).word(),
        "waiting",
        "not all that is written has a time"
    );
}

#[test]
fn a_call_goes_on_while_its_sub_agent_works() {
    let mut batch = Batch::default();
    prompt(&mut batch);
    call(&mut batch, "Task", ToolState::Pending);
    batch.meta(MetaEdit::Lane {
        name: Text::clean("scout"),
        label: Some(Text::clean("scout")),
        call: Some(Text::clean("call")),
    });
    for minute in [5, 25] {
        let key = Text::clean(&format!("scout-{minute}"));
        let mut entry = batch.new_entry(key, Role::Assistant, Some(Timestamp(minute * MINUTE)));
        entry.lane = Some(Text::clean("scout"));
        let body = batch.prose("on it");
        entry.push(BlockKind::Text(body));
        batch.entry(entry);
    }
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    let at = |minutes: i64| judge(&transcript, None, Timestamp(minutes * MINUTE));
    assert_eq!(
        at(30),
        Activity::Tool {
            name: Text::clean("Task"),
            since: Some(Timestamp(0))
        }
    );
    assert_eq!(at(36).word(), "unclean");
    assert_eq!(
        super::silence(&transcript, &at(30), None, Timestamp(30 * MINUTE)),
        Some(5 * MINUTE as u64)
    );
}

/// With writes long after the last record, or without timestamps, an activity begins at the
/// observed write.
#[test]
fn a_state_is_no_older_than_what_was_seen_of_it_allows() {
    let days = |days: i64| Timestamp(days * 24 * 60 * MINUTE);
    for (at, written, expected) in [
        (
            Some(Timestamp(0)),
            LastWrite::observed(days(249)),
            Some(days(249)),
        ),
        (None, LastWrite::observed(days(249)), Some(days(249))),
        (
            Some(Timestamp(0)),
            LastWrite::observed(Timestamp(MINUTE)),
            Some(Timestamp(0)),
        ),
    ] {
        let mut batch = Batch::default();
        let mut entry = batch.new_entry(Text::clean("prompt"), Role::User, at);
        entry.marks = Marks {
            prompt: true,
            ..Marks::default()
        };
        let body = batch.prose("fix it");
        entry.push(BlockKind::Text(body));
        batch.entry(entry);
        let mut transcript = Transcript::new();
        transcript.apply(batch);
        transcript.update_derived();
        let now = Timestamp(written.at.0 + 1_000);
        assert_eq!(
            judge(&transcript, Some(written), now),
            Activity::Model { since: expected }
        );
    }
}

#[test]
fn an_interrupted_call_is_not_waited_for() {
    let interrupted = |out: &mut Batch| {
        prompt(out);
        call(out, "bash", ToolState::Running);
        say(
            out,
            "abort",
            Role::Harness,
            BlockKind::Break(Break::Interrupted(Text::default())),
        );
    };
    assert_eq!(judged(interrupted, 1).wish(), Some(Wish::Prompt));
    let mut batch = Batch::default();
    interrupted(&mut batch);
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    transcript.update_derived();
    let counts = pairing::count(&transcript, true);
    assert_eq!((counts.pending, counts.orphan_calls), (0, 1));
}

#[test]
fn a_session_that_was_resumed_goes_on() {
    let across = |out: &mut Batch, key: &str, what: Break| {
        say(out, key, Role::Harness, BlockKind::Break(what));
    };
    let ended = |out: &mut Batch| {
        prompt(out);
        answer(out);
        across(out, "end", Break::Ended(Text::default()));
    };
    assert_eq!(state(ended, 1), "ended");
    let resumed = |out: &mut Batch| {
        ended(out);
        across(out, "again", Break::Resumed(Text::default()));
    };
    assert_eq!(judged(resumed, 1).wish(), Some(Wish::Prompt));
}

/// A call that started a sub-agent, with its state, and what the sub-agent did after `minutes`.
fn started(out: &mut Batch, name: &str, state: ToolState, minutes: i64, does: BlockKind) {
    let input = out.tree(&Text::default(), 0, || Tree::Null);
    let (key, lane) = (Text::clean(&format!("call-{name}")), Text::clean(name));
    let call = ToolCall {
        key: key.clone(),
        name: Text::clean("Agent"),
        kind: ToolKind::Delegate,
        headline: Text::clean("check it"),
        input,
        state,
        started: None,
        lane: Some(lane.clone()),
    };
    say(
        out,
        &format!("calls-{name}"),
        Role::Assistant,
        BlockKind::Call(Box::new(call)),
    );
    out.meta(MetaEdit::Lane {
        name: lane.clone(),
        label: None,
        call: Some(key),
    });
    let mut entry = out.new_entry(
        Text::clean(&format!("of-{name}")),
        Role::Assistant,
        Some(Timestamp(minutes * MINUTE)),
    );
    entry.lane = Some(lane);
    entry.push(does);
    out.entry(entry);
}

#[test]
fn sub_agents_in_the_background_work_on_while_the_user_is_waited_for() {
    let at_once = |out: &mut Batch| {
        let result = samples::result(out, "started", Some(Timestamp(0)));
        ToolState::Done(Box::new(result))
    };
    let runs = |out: &mut Batch| {
        let input = out.tree(&Text::default(), 0, || Tree::Null);
        let (key, name) = (Text::clean("inner"), Text::clean("bash"));
        let (kind, headline, state) = (ToolKind::Run, Text::default(), ToolState::Pending);
        BlockKind::Call(Box::new(ToolCall {
            key,
            name,
            kind,
            headline,
            input,
            state,
            started: None,
            lane: None,
        }))
    };
    let fill = |out: &mut Batch| {
        prompt(out);
        let (state, does) = (at_once(out), runs(out));
        started(out, "one", state, 5, does);
        let (state, says) = (at_once(out), out.prose("all is well"));
        started(out, "two", state, 5, BlockKind::Text(says));
        answer(out);
    };
    let agents = |minutes| judged(fill, minutes).agents();
    assert_eq!(
        (state(fill, 6), agents(6)),
        ("waiting", 1),
        "the other one has come to its end"
    );
    assert_eq!(
        (state(fill, 30), agents(30)),
        ("waiting", 0),
        "nothing was heard of it for long"
    );
    let helped = |out: &mut Batch| {
        fill(out);
        out.meta(MetaEdit::Helper(Text::clean("one")));
    };
    assert_eq!(
        judged(helped, 6).agents(),
        0,
        "a helper of the program is no sub-agent"
    );
    let words =
        |minutes| phrases::activity(&judged(fill, minutes), Timestamp(minutes * MINUTE), false);
    assert_eq!(words(6), "◔ waiting 6m00s, 1 sub-agent at work");
    assert_eq!(words(30), "◔ waiting 30m00s");
}
