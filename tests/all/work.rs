//! Tests of background work, which goes on after the result of its call, on all surfaces.

use tv::app::update::Event;
use tv::model::edit::{Edit, Feed};
use tv::model::entry::{BlockKind, Raw, Role};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::work::{Carrier, Update, Work, WorkEnd, WorkReference};
use tv::model::tool::{ToolKind, Verdict};
use tv::render::theme::Theme;

use crate::made::{START, answer, calls, entry, prompt, result_at, says, with};
use crate::stage::{Stage, fixture};

/// The result of a call that goes on as this work.
fn begun(call: &str, seconds: i64, handle: &str) -> Edit {
    match result_at(call, seconds, "it goes on", Verdict::Done) {
        Edit::Result {
            call,
            mut result,
            lane,
        } => {
            result.work = Some(Box::new(Work {
                handle: Text::from(handle),
                ..Work::default()
            }));
            Edit::Result { call, result, lane }
        }
        other => other,
    }
}

/// A record about work, with the entry that shows it.
fn told(by: &str, seconds: i64, handle: &str, carrier: Carrier, exit: i64) -> [Edit; 2] {
    let verdict = if exit == 0 {
        Verdict::Done
    } else {
        Verdict::Failed
    };
    let end = WorkEnd {
        verdict,
        exit: Some(exit),
        at: None,
    };
    let at = Some(Timestamp(START + seconds * 1_000));
    let update = Update {
        by: Text::from(by),
        at,
        carrier,
        end: Some(end),
        reason: None,
    };
    let about = WorkReference {
        call: None,
        handle: Some(Text::from(handle)),
    };
    let words = "<task-notification>it ended</task-notification>";
    let shown = entry(by, seconds, Role::Harness, |batch| {
        vec![BlockKind::Raw(Raw {
            title: Text::from("task notification"),
            body: batch.output(words),
        })]
    });
    [
        Edit::Update {
            about,
            update,
            lane: None,
        },
        shown,
    ]
}

#[test]
fn one_row_stands_for_all_that_tells_an_end() {
    let path = fixture("claude-code/background.jsonl");
    let mut stage = Stage::open(&path, (140, 60), Theme::dark());
    let picture = stage.picture();
    assert!(
        picture.contains("Bash \"In the harbour\" ended  exit 3 · ran 4m58s · told 7m00s later"),
        "{picture}"
    );
    assert!(
        picture.contains("ended  ran 5m28s · never told to the model"),
        "{picture}"
    );
    assert!(picture.contains("no end recorded"), "{picture}");
    assert_eq!(
        picture.matches(" ended  ").count(),
        2,
        "what a poll told has no row of its own:\n{picture}"
    );
    assert!(
        !picture.contains("task-notification") && !picture.contains("queued"),
        "{picture}"
    );
    stage.resize(140, 200);
    stage.press("+");
    let picture = stage.picture();
    assert!(
        picture.contains("exit 3 · ran 4m58s · in the queue"),
        "{picture}"
    );
}

#[test]
fn a_key_leads_along_a_call_to_the_answer_that_saw_its_end() {
    let path = fixture("claude-code/background.jsonl");
    let mut stage = Stage::open(&path, (140, 60), Theme::dark());
    let notice = "ba5e0009-1111-4222-8333-444455556666";
    stage.press("g ] t");
    let walk = |stage: &mut Stage, keys: &[&str]| {
        for key in keys {
            stage.press("%");
            assert_eq!(stage.focused_key(), *key, "{}", stage.picture());
        }
    };
    walk(
        &mut stage,
        &[
            "ba5e0009-1111-4222-8333-444455556666",
            "msg_01Bg4",
            "msg_01Bg1",
            notice,
        ],
    );
    stage.press("g ] t ] t");
    walk(&mut stage, &["msg_01Bg2", "msg_01Bg3", "msg_01Bg1"]);
    stage.press("+ g ] t");
    walk(&mut stage, &["@0:5553"]);
}

#[test]
fn an_answer_that_saw_two_ends_leads_back_to_the_call_that_led_there() {
    let mut stage = Stage::made((130, 40));
    let call = |id: &str, key: &'static str, seconds| {
        with(
            calls(id, seconds, "bash", ToolKind::Run, "cargo test"),
            |entry| entry.key = key.into(),
        )
    };
    stage.add([
        prompt("p", "test it twice"),
        call("c1", "a1", 1),
        begun("c1", 2, "w1"),
        call("c2", "a2", 3),
        begun("c2", 4, "w2"),
        says("a3", 5, Role::Assistant, "Both run."),
    ]);
    stage.add(told("n1", 10, "w1", Carrier::Notice, 0));
    stage.add(told("n2", 11, "w2", Carrier::Notice, 0));
    stage.add([says("a4", 12, Role::Assistant, "Both are done.")]);
    stage.feed(Feed::CaughtUp);
    for (to, keys) in [
        ("g ] t", ["n1", "a4", "a1"]),
        ("g ] t ] t", ["n2", "a4", "a2"]),
    ] {
        stage.press(to);
        for key in keys {
            stage.press("%");
            assert_eq!(stage.focused_key(), key, "{to}\n{}", stage.picture());
        }
    }
}

#[test]
fn what_goes_on_has_a_clock_until_it_ends() {
    let mut stage = Stage::made((130, 30));
    let clock = |stage: &mut Stage, seconds: i64| {
        stage.happen(Event::Tick {
            now: Timestamp(START + seconds * 1_000),
        });
        stage.arrange();
    };
    clock(&mut stage, 10);
    stage.add([
        prompt("p", "test it"),
        with(
            calls("c1", 1, "bash", ToolKind::Run, "cargo test"),
            |entry| entry.key = "a1".into(),
        ),
        begun("c1", 2, "w1"),
        says("a2", 3, Role::Assistant, "It runs."),
    ]);
    stage.feed(Feed::CaughtUp);
    clock(&mut stage, 70);
    assert!(
        stage.picture().contains("running 1m09s"),
        "{}",
        stage.picture()
    );
    assert!(stage.app.reader.ticks(), "its clock goes on");
    let picture = stage.picture();
    assert!(
        picture.contains("waiting for you 1m07s · 1 running") && picture.contains("RUNNING"),
        "{picture}"
    );
    let listed = picture
        .lines()
        .find(|line| line.contains("bash cargo test"))
        .unwrap();
    assert!(listed.contains("1m09s"), "{picture}");
    stage.press("6");
    clock(&mut stage, 70);
    let picture = stage.picture();
    let listed = picture
        .lines()
        .find(|line| line.contains("bash  cargo test"))
        .unwrap_or_default();
    assert!(
        listed.contains("running") && listed.contains("1m09s"),
        "{picture}"
    );
    stage.press("esc");
    stage.add(told("q", 80, "w1", Carrier::Queue, 1));
    clock(&mut stage, 85);
    let picture = stage.picture();
    assert!(
        picture.contains("exit 1") && !picture.contains("running"),
        "{picture}"
    );
    assert!(
        picture.contains("bash \"cargo test\" ended  exit 1 · ran 1m19s · in the queue"),
        "{picture}"
    );
    stage.add(told("n", 90, "w1", Carrier::Notice, 1));
    let picture = stage.picture();
    assert!(
        picture.contains("ran 1m19s · told 10.0s later"),
        "{picture}"
    );
    assert_eq!(picture.matches(" ended  ").count(), 1, "{picture}");
    stage.add(told("n2", 95, "w1", Carrier::Notice, 1));
    stage.add([answer("a3", "It failed.")]);
    assert_eq!(
        stage.picture().matches(" ended  ").count(),
        1,
        "{}",
        stage.picture()
    );
    // A file that nobody writes any more has no clock.
    let mut stage = Stage::made((130, 30));
    stage.add([
        prompt("p", "test it"),
        calls("c1", 1, "bash", ToolKind::Run, "cargo test"),
        begun("c1", 2, "w1"),
    ]);
    stage.feed(Feed::CaughtUp);
    assert!(
        stage.picture().contains("no end recorded"),
        "{}",
        stage.picture()
    );
}

#[test]
fn the_table_of_calls_says_how_much_later_the_model_was_told() {
    let path = fixture("claude-code/background.jsonl");
    let mut stage = Stage::open(&path, (120, 40), Theme::dark());
    stage.press("3");
    let picture = stage.picture();
    let row = |words: &str| {
        picture
            .lines()
            .find(|line| line.contains(words))
            .unwrap()
            .to_owned()
    };
    assert!(picture.contains("told"), "{picture}");
    assert!(
        row("make dredge").contains("exit 3") && row("make dredge").contains("4m58s   7m00s"),
        "{picture}"
    );
    assert!(row("make lamps").contains("never"), "{picture}");
    assert!(row("make wreck").contains("no end"), "{picture}");
}

#[test]
fn a_search_finds_the_words_of_the_row_that_stands_for_a_notice() {
    let path = fixture("claude-code/background.jsonl");
    for typed in ["told 7m00s later", "ran 4m58s", "exit 3 · ran 4m58s · told"] {
        let mut stage = Stage::open(&path, (140, 60), Theme::dark());
        stage.press("g g /");
        stage.type_in(typed);
        stage.press("enter");
        stage.rest();
        assert_eq!(
            stage.focused_key(),
            "ba5e0009-1111-4222-8333-444455556666",
            "{typed}: {}",
            stage.picture()
        );
    }
}

#[test]
fn behind_the_row_of_a_notice_its_fields_are_named_in_words() {
    let mut stage = Stage::made((130, 40));
    stage.add([
        prompt("p", "test it"),
        calls("c1", 1, "bash", ToolKind::Run, "cargo test"),
        begun("c1", 2, "w1"),
    ]);
    stage.add(told("n", 90, "w1", Carrier::Notice, 1));
    stage.feed(Feed::CaughtUp);
    stage.press("+ G");
    let picture = stage.picture();
    assert!(picture.contains("task notification: it ended"), "{picture}");
    assert!(!picture.contains("<task-notification>"), "{picture}");
    let path = fixture("claude-code/background.jsonl");
    let mut stage = Stage::open(&path, (140, 200), Theme::dark());
    stage.press("+");
    let picture = stage.picture();
    assert!(picture.contains("content  task id: "), "{picture}");
    assert!(!picture.contains("content  <task-"), "{picture}");
}

#[test]
fn many_calls_without_a_recorded_end_are_one_row_of_the_tree() {
    for (most, is_one) in [(5, false), (6, true)] {
        let mut stage = Stage::made((130, 40));
        stage.add([prompt("p", "serve it")]);
        for number in 1..=most {
            let (call, about) = (format!("c{number}"), format!("serve {number}"));
            stage.add([
                with(
                    calls(&call, number, "bash", ToolKind::Run, &about),
                    |entry| entry.key = Text::clean(&format!("a{number}")),
                ),
                begun(&call, number, &format!("w{number}")),
            ]);
        }
        stage.feed(Feed::CaughtUp);
        stage.press("6");
        let picture = stage.picture();
        let words = format!("{most} calls without a recorded end");
        assert_eq!(picture.contains(&words), is_one, "{picture}");
        assert_eq!(picture.contains("bash  serve 2"), !is_one, "{picture}");
    }
}
