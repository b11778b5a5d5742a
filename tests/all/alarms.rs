//! Tests of alarms, loops and the activity of the agent on the screen.

use std::fs;

use tv::analysis::activity::{Activity, LastWrite, judge};
use tv::app::alarms::{AlarmNotice, AlarmSpec, Alarms};
use tv::app::effect::Effect;
use tv::app::update::Event;
use tv::formats::decoder::{Format, RecordPlace, feed};
use tv::formats::named;
use tv::model::edit::{Batch, BatchMode, Edit, Feed, Stage as Stretch, saturating_u32};
use tv::model::entry::{BlockKind, Entry, Role};
use tv::model::record::{FileId, Origin, Record};
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolKind, Verdict};
use tv::model::transcript::Transcript;

use crate::corpus::{corpora, say};
use crate::made::{START, answer, call, calls, prompt, result, says};
use crate::stage::Stage;

/// A session of one prompt that has been read to its end, a second after its start.
fn stage() -> Stage {
    let mut stage = Stage::made((120, 40));
    stage.add([prompt("p", "fix the boat")]);
    stage.feed(Feed::CaughtUp);
    later(&mut stage, 1);
    stage
}

/// So many seconds after the start of the session.
fn later(stage: &mut Stage, seconds: i64) {
    stage.happen(Event::Tick {
        now: Timestamp(START + seconds * 1_000),
    });
    stage.arrange();
}

fn command(stage: &mut Stage, typed: &str) {
    stage.press(":").type_in(typed).press("enter");
}

/// What rang since the last time.
fn rung(stage: &mut Stage) -> Vec<AlarmNotice> {
    let asked = std::mem::take(&mut stage.asked).into_iter();
    asked
        .filter_map(|effect| {
            if let Effect::Notify(notice) = effect {
                Some(notice)
            } else {
                None
            }
        })
        .collect()
}

fn words(stage: &mut Stage) -> Vec<String> {
    rung(stage).into_iter().map(|notice| notice.words).collect()
}

fn failing(key: &str, name: &str) -> [Edit; 2] {
    [call(key, name), result(key, "boom", Verdict::Failed)]
}

#[test]
fn an_alarm_rings_for_what_comes_and_marks_its_place() {
    let mut stage = Stage::made((120, 40));
    stage.add([prompt("p", "fix the boat")]);
    stage.add(failing("old", "make old"));
    stage.feed(Feed::CaughtUp);
    later(&mut stage, 1);
    command(&mut stage, "watch err");
    assert!(
        stage.status().contains("watching err"),
        "{}",
        stage.status()
    );
    later(&mut stage, 2);
    assert_eq!(words(&mut stage), [] as [&str; 0], "it was there");
    stage.add([call("new", "make new")]);
    assert_eq!(words(&mut stage), [] as [&str; 0]);
    stage.add([result("new", "boom", Verdict::Failed)]);
    let notices = rung(&mut stage);
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].words, "err: bash make new");
    assert_eq!(notices[0].expression, "err");
    assert!(
        stage.status().contains("! err: bash make new"),
        "{}",
        stage.status()
    );
    let spine: Vec<String> = stage.picture().lines().map(str::to_owned).collect();
    assert!(
        spine.iter().any(|line| line.ends_with("!|")),
        "{}",
        spine.join("\n")
    );
    later(&mut stage, 3);
    assert_eq!(words(&mut stage), [] as [&str; 0], "once");
}

#[test]
fn it_rings_when_the_agent_waits_and_when_it_is_silent() {
    let mut stage = stage();
    command(&mut stage, "watch waiting");
    command(&mut stage, "watch silent>90s");
    stage.happen(Event::Written(Timestamp(START)));
    later(&mut stage, 90);
    assert_eq!(words(&mut stage), [] as [&str; 0]);
    later(&mut stage, 91);
    assert_eq!(words(&mut stage), ["silent for 1m31s"]);
    assert!(stage.line(0).contains("silent 1m31s"), "{}", stage.line(0));
    later(&mut stage, 92);
    assert_eq!(words(&mut stage), [] as [&str; 0]);
    stage.add([says("a", 93, Role::Assistant, "it floats")]);
    assert_eq!(words(&mut stage), [] as [&str; 0], "a call may follow");
    later(&mut stage, 124);
    assert_eq!(words(&mut stage), ["waits for the next prompt"]);
    assert!(!stage.line(0).contains("silent"), "{}", stage.line(0));
}

#[test]
fn alarms_are_listed_and_ended() {
    let mut stage = stage();
    command(&mut stage, "watch");
    assert!(
        stage.status().contains("nothing is watched"),
        "{}",
        stage.status()
    );
    command(&mut stage, "watch err | true");
    command(&mut stage, "watch waiting or cost>2");
    stage.add(failing("a", "make"));
    let notices = rung(&mut stage);
    assert_eq!(
        notices
            .iter()
            .map(|notice| notice.command.as_deref())
            .collect::<Vec<_>>(),
        [Some("true")]
    );
    command(&mut stage, "watch");
    let picture = stage.picture();
    for words in [
        "1 err",
        "rang",
        "err: bash make",
        "command",
        "2 waiting or cost>2",
    ] {
        assert!(picture.contains(words), "{words}:\n{picture}");
    }
    stage.press("q");
    command(&mut stage, "unwatch 1");
    stage.add(failing("b", "make"));
    assert_eq!(words(&mut stage), [] as [&str; 0]);
    command(&mut stage, "unwatch loop");
    assert!(
        stage.status().contains("no alarm is called loop"),
        "{}",
        stage.status()
    );
    command(&mut stage, "unwatch");
    assert!(
        stage.status().contains("nothing is watched any more"),
        "{}",
        stage.status()
    );
}

#[test]
fn a_slip_is_no_alarm() {
    let mut stage = stage();
    command(&mut stage, "watch wating");
    assert!(
        stage.status().contains("no fact is called wating"),
        "{}",
        stage.status()
    );
    stage.press("&").type_in("waiting");
    assert!(
        stage.status().contains("fact of the session"),
        "{}",
        stage.status()
    );
}

#[test]
fn alarms_of_the_settings_wait_until_the_session_is_read() {
    let mut stage = Stage::made((120, 40));
    let wish: AlarmSpec = "err or loop".parse().unwrap();
    stage.app.reader.alarms = Alarms::of(&[wish]);
    stage.add([prompt("p", "fix the boat")]);
    for key in ["a", "b", "c"] {
        stage.add(failing(key, "make"));
    }
    assert_eq!(words(&mut stage), [] as [&str; 0]);
    stage.feed(Feed::CaughtUp);
    later(&mut stage, 1);
    assert_eq!(words(&mut stage), [] as [&str; 0]);
    stage.add(failing("d", "make install"));
    let notices = rung(&mut stage);
    assert_eq!(
        notices
            .iter()
            .map(|notice| notice.words.as_str())
            .collect::<Vec<_>>(),
        ["err: bash make install"]
    );
}

#[test]
fn a_loop_is_shown_in_the_header_the_outline_and_the_spine() {
    let mut stage = stage();
    stage.app.reader.panes.wants_outline = Some(true);
    command(&mut stage, "watch loop");
    for key in ["a", "b", "c"] {
        stage.add(failing(key, "cargo test"));
        stage.add([calls(
            &format!("r{key}"),
            0,
            "read",
            ToolKind::Read,
            "src/lib.rs",
        )]);
    }
    assert_eq!(
        words(&mut stage),
        ["loop ×3 bash, same result: bash cargo test"]
    );
    stage.add(failing("d", "cargo test"));
    assert_eq!(
        words(&mut stage),
        [] as [&str; 0],
        "it is still the same loop"
    );
    let picture = stage.picture();
    assert!(picture.contains("loop ×4 bash, same result"), "{picture}");
    assert!(
        stage.line(0).contains("! loop ×4 bash"),
        "{}",
        stage.line(0)
    );
    assert!(
        picture.lines().any(|line| line.ends_with("!|")),
        "{picture}"
    );
    stage.add([answer("z", "I give up")]);
    later(&mut stage, 40);
    assert!(
        !stage.line(0).contains("loop"),
        "nobody is at work any more: {}",
        stage.line(0)
    );
    assert!(stage.picture().contains("loop ×4 bash"), "but it was one");
}

#[test]
fn reading_anew_rings_nothing() {
    let mut stage = stage();
    command(&mut stage, "watch err or waiting");
    stage.add(failing("a", "make"));
    assert_eq!(words(&mut stage).len(), 1);
    let all = [prompt("p", "fix the boat")]
        .into_iter()
        .chain(failing("a", "make"));
    stage.add_as(BatchMode::Replace, Stretch::Whole, all);
    assert_eq!(words(&mut stage), [] as [&str; 0]);
}

/// Where entries are missed, all below them have other ids.
#[test]
fn of_a_file_that_was_written_anew_only_what_was_not_there_rings() {
    let mut stage = stage();
    stage.add([answer("a", "I look at it")]);
    stage.add(failing("old", "make old"));
    command(&mut stage, "watch err");
    stage.add(failing("b", "make b"));
    assert_eq!(words(&mut stage), ["err: bash make b"]);
    let anew = || {
        let known = failing("old", "make old")
            .into_iter()
            .chain(failing("b", "make b"));
        [prompt("p", "fix the boat")].into_iter().chain(known)
    };
    stage.add_as(BatchMode::Replace, Stretch::Whole, anew());
    assert_eq!(words(&mut stage), [] as [&str; 0]);
    let marked: Vec<_> = stage.app.reader.alarms.marks.iter().copied().collect();
    let b = stage.app.reader.session.transcript.find("b");
    assert_eq!(marked, Vec::from_iter(b), "the mark is where it was");
    let more = [answer("c", "again")]
        .into_iter()
        .chain(anew())
        .chain(failing("d", "make d"));
    stage.add_as(BatchMode::Replace, Stretch::Whole, more);
    assert_eq!(words(&mut stage), ["err: bash make d"]);
}

// === real sessions ===

/// Whether the model goes on with what came since; nothing if nobody has said anything.
fn went_on(before: usize, transcript: &Transcript) -> Option<bool> {
    let new = transcript.order().get(before..).unwrap_or_default();
    let new = new.iter().filter_map(|id| transcript.get(*id));
    let is_said = |entry: &&Entry| {
        // What a task or another agent has to say wakes the model like a prompt.
        let is_shown = !entry.marks.quiet || entry.from.is_some();
        entry.lane.is_none() && !entry.marks.copy && is_shown && !entry.blocks.is_empty()
    };
    let next = new.filter(is_said).find(|entry| {
        let says = |kind: &BlockKind| {
            matches!(
                kind,
                BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Call(_)
            )
        };
        entry.from.is_some() || entry.blocks.iter().any(|block| says(&block.kind))
    })?;
    Some(next.role == Role::Assistant)
}

/// Whenever a session is said to wait for its next prompt: the line that came then, and whether the model
/// went on without one.
fn waits_in(format: &'static dyn Format, text: &str) -> Vec<(u32, bool)> {
    let mut decoder = format.decoder(None);
    let mut transcript = Transcript::new();
    let mut open: Option<(usize, u32)> = None;
    let mut waits = Vec::new();
    let mut at = 0;
    for (line, number) in text.lines().zip(1_u32..) {
        let len = saturating_u32(line.len());
        let origin = Origin {
            file: FileId(0),
            at,
            len,
            line: number,
        };
        at += u64::from(len) + 1;
        let last = transcript.entries().last().and_then(|entry| entry.at);
        let before = transcript.order().len();
        let mut batch = Batch::default();
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: line.as_bytes(),
            },
            RecordPlace::Line,
            &mut batch,
        );
        // Just before this record came.
        let then = batch.edits.iter().find_map(|edit| match edit {
            Edit::Entry(entry) => entry.at,
            Edit::Result { result, .. } => result.at,
            _ => None,
        });
        if let Some(then) = then.filter(|_| last.is_some() && open.is_none()) {
            // A question may be answered by its result, which is no entry.
            let is_waiting = match judge(
                &transcript,
                last.map(LastWrite::from_file_time),
                Timestamp(then.0 - 1),
            ) {
                Activity::Waiting { what, .. } => what.as_str() == "the next prompt",
                activity => matches!(activity, Activity::Idle { .. }),
            };
            open = is_waiting.then_some((before, number));
        }
        transcript.apply(batch);
        transcript.update_derived();
        let went_on = open.and_then(|(from, number)| Some((number, went_on(from, &transcript)?)));
        if let Some(wait) = went_on {
            waits.push(wait);
            open = None;
        }
    }
    waits
}

#[test]
fn a_real_session_that_waits_goes_on_with_its_user() {
    for corpus in corpora() {
        let (mut waits, mut wrong) = (0, Vec::new());
        for name in ["claude-code", "pi", "openclaw"] {
            let format = named(name).unwrap();
            for path in corpus.of(&[name]) {
                let name = path.to_string_lossy().into_owned();
                if !name.contains(".jsonl") || name.contains("/subagents/") {
                    continue;
                }
                let Ok(text) = fs::read_to_string(&path) else {
                    continue;
                };
                let found = waits_in(format, &text);
                waits += found.len();
                wrong.extend(
                    found
                        .iter()
                        .filter(|(_, is_wrong)| *is_wrong)
                        .map(|(line, _)| format!("{name}:{line}")),
                );
            }
        }
        say(&format!(
            "{waits} waits, {} of them went on without a user: {wrong:#?}",
            wrong.len()
        ));
        assert!(waits > corpus.least(3, 100), "{waits}");
        // Before 2.1.98 Claude Code did not record whether a call follows a text, and some take a minute to write.
        // Of ours, six go on without one: streams that hold no prompts, answers that come twice, and outcomes in a row.
        assert!(
            wrong.len() <= if corpus.is_ours() { 6 } else { waits / 25 },
            "{} of {waits}: {wrong:#?}",
            wrong.len()
        );
    }
}
