//! Tests of the views and copies of several sessions that are joined.

use std::fs;
use std::path::PathBuf;

use tv::analysis::activity::{self, Activity};
use tv::app::effect::Effect;
use tv::model::edit::{Feed, LinkState, Stage as Stretch};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;

use crate::joined::{Joined, answers, calls, says, write};
use crate::stage::Stage;

fn answered(id: &str, text: &str, at: &str) -> String {
    let line = says(id, text, at).replace("\"type\":\"user\"", "\"type\":\"assistant\"");
    line.replace(
        "\"role\":\"user\"",
        &format!("\"role\":\"assistant\",\"id\":\"msg-{id}\",\"stop_reason\":\"end_turn\""),
    )
}

fn rows(stage: &Stage) -> Vec<String> {
    stage
        .app
        .reader
        .views
        .sheet
        .rows
        .iter()
        .map(|row| row.line.to_string())
        .collect()
}

fn title(stage: &Stage) -> String {
    stage
        .app
        .reader
        .views
        .sheet
        .title
        .iter()
        .map(|span| span.content.as_ref())
        .collect()
}

#[test]
fn of_two_that_are_over_the_state_is_that_of_the_one_that_ended_last() {
    let dir = tempfile::tempdir().unwrap();
    let session = |name: &str, at: &str| {
        let lines = [says("p", "go", at), answered("a", "done", at)];
        write(dir.path(), name, &lines)
    };
    let (one, two) = (
        session("one.jsonl", "10:00:00"),
        session("two.jsonl", "11:00:00"),
    );
    let late = Timestamp::parse("2026-06-01T00:00:00Z").unwrap();
    let since = Some(Timestamp::parse("2026-05-01T11:00:00Z").unwrap());
    for paths in [[&one, &two], [&two, &one]] {
        let joined = Joined::of(&paths.map(PathBuf::as_path));
        assert_eq!(
            activity::judge(&joined.transcript, None, late),
            Activity::Idle { since }
        );
    }
}

#[test]
fn the_tree_counts_each_turn_once_and_sessions_as_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let own = |id: &str, at: &str| {
        let line = calls(id, "Read", "/work/x", at);
        line.replace(
            "\"type\":\"assistant\"",
            "\"isSidechain\":true,\"agentId\":\"k\",\"type\":\"assistant\"",
        )
    };
    let one = write(
        dir.path(),
        "one.jsonl",
        &[says("a", "a1", "10:00:00"), says("c", "a2", "10:00:08")],
    );
    let two = write(dir.path(), "two.jsonl", &[says("d", "b1", "10:00:03")]);
    let agents = dir.path().join("one/subagents");
    fs::create_dir_all(&agents).unwrap();
    write(&agents, "agent-k.jsonl", &[own("k1", "10:00:05")]);
    let mut stage = Joined::of(&[&one, &two]).stage();
    stage.press("g g 6").wait(300);
    stage.press("g g");
    assert!(
        title(&stage).contains("2 sessions · 3 turns"),
        "{}",
        title(&stage)
    );
    assert!(title(&stage).contains("1 sub-agent"), "{}", title(&stage));
    let foot: Vec<String> = stage
        .app
        .reader
        .views
        .sheet
        .foot
        .iter()
        .map(ToString::to_string)
        .collect();
    let foot = foot.join("\n");
    assert!(foot.contains("2 sessions, 1 sub-agent"), "{foot}");
    assert!(foot.contains("4 entries, 3 turns, 1 call"), "{foot}");
    let rows = rows(&stage);
    let place = |what: &str| {
        rows.iter()
            .position(|row| row.contains(what))
            .unwrap_or_else(|| panic!("{rows:?}"))
    };
    let (first, agent, second) = (place("a1 (claude"), place("one/k"), place("b1 (claude"));
    assert!(
        first < agent && agent < second,
        "it hangs on its session: {rows:?}"
    );
}

#[test]
fn the_brief_has_the_last_answer_of_all() {
    let dir = tempfile::tempdir().unwrap();
    let lines = |answer: &str, at: &str| [says("p", "go", at), answered("a", answer, at)];
    let one = write(
        dir.path(),
        "one.jsonl",
        &lines("the first is done", "10:00:00"),
    );
    let two = write(
        dir.path(),
        "two.jsonl",
        &lines("the second is done", "10:00:09"),
    );
    let mut stage = Joined::of(&[&one, &two]).stage();
    stage.press("B").wait(300);
    let rows = rows(&stage);
    assert!(
        rows.iter()
            .any(|row| row.starts_with("answer") && row.contains("the second is done")),
        "{rows:?}"
    );
}

#[test]
fn ids_and_links_are_copied_as_the_files_have_them() {
    let dir = tempfile::tempdir().unwrap();
    let lines = |said: &str, at: &str| {
        [
            says("p", said, at),
            calls("m", "Read", "/work/x", at),
            answers("m", said, at),
        ]
    };
    let one = write(dir.path(), "one.jsonl", &lines("of-one", "10:00:01"));
    let two = write(dir.path(), "two.jsonl", &lines("of-two", "10:00:09"));
    let mut stage = Joined::of(&[&one, &two]).stage();
    let mut copied = |keys: &str| {
        stage.asked.clear();
        stage.press(keys);
        match stage.asked.last() {
            Some(Effect::Copy(text)) => text.clone(),
            _ => panic!("{}", stage.status()),
        }
    };
    assert_eq!(copied("G y i"), "toolu_m");
    let link = copied("y l");
    assert!(
        link.starts_with(&format!("{}#", two.display())) && !link.contains('~'),
        "{link}"
    );
    stage.press("i").rest();
    assert!(
        stage.picture().contains("toolu_m") && !stage.picture().contains("toolu_m~"),
        "{}",
        stage.picture()
    );
}

#[test]
fn the_window_that_is_opened_is_that_of_the_session_of_the_cursor() {
    let dir = tempfile::tempdir().unwrap();
    let clock = |n: usize| format!("10:{:02}:{:02}", n / 60, n % 60);
    let session = |name: &str, from: usize| {
        let own =
            (0..400).map(|n| calls(&format!("{name}{n}"), "Read", "/work/x", &clock(from + n)));
        let lines: Vec<String> = std::iter::once(says("p", name, &clock(from)))
            .chain(own)
            .collect();
        write(dir.path(), &format!("{name}.jsonl"), &lines)
    };
    let (one, two) = (session("first", 0), session("second", 900));
    let mut stage = Joined::of(&[&one, &two]).stage();
    stage.press("G F5").wait(300);
    stage.wait(300).wait(300);
    assert!(title(&stage).contains("second"), "{}", title(&stage));
    assert!(
        stage.picture().contains("< lane 2 of 2 >"),
        "{}",
        stage.picture()
    );
}

#[test]
fn a_session_that_is_lost_is_named_as_long_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let one = write(dir.path(), "one.jsonl", &[says("a", "a1", "10:00:00")]);
    let two = write(dir.path(), "two.jsonl", &[says("b", "b1", "10:00:01")]);
    let mut stage = Joined::of(&[&one, &two]).stage();
    stage.feed(Feed::Link(LinkState::InPart(Text::from("1: file gone"))));
    stage.wait(60_000);
    assert!(stage.line(0).contains("1: file gone"), "{}", stage.line(0));
    stage.feed(Feed::Link(LinkState::Live));
    stage.arrange();
    assert!(!stage.line(0).contains("file gone"), "{}", stage.line(0));
}

#[test]
fn what_a_session_does_now_stands_in_its_row_of_the_timeline() {
    let dir = tempfile::tempdir().unwrap();
    let done = [
        says("p", "first", "10:00:00"),
        answered("a", "done", "10:00:20"),
    ];
    let asked = [
        says("q", "second", "10:00:02"),
        answered("b", "yes", "10:00:22"),
        says("r", "on", "10:00:30"),
    ];
    let (one, two) = (
        write(dir.path(), "one.jsonl", &done),
        write(dir.path(), "two.jsonl", &asked),
    );
    let mut stage = Stage::made((120, 40));
    stage.app.reader.screen.now = Timestamp::parse("2026-05-01T10:00:40Z").unwrap();
    for batch in Joined::of(&[&one, &two]).batches.clone() {
        stage.feed(Feed::Batch {
            stage: Stretch::Whole,
            batch: Box::new(batch),
        });
    }
    stage.feed(Feed::CaughtUp);
    stage.wait(1_000).press("2").wait(300);
    let turns = rows(&stage);
    for turn in ["1  1 first", "2  2 second", "2  3 on"] {
        assert!(turns.iter().any(|row| row.starts_with(turn)), "{turns:?}");
    }
    let head = stage.picture();
    assert!(
        head.contains("TIME  session") && head.contains("model "),
        "{head}"
    );
    stage.press("z 3").wait(300);
    let rows = rows(&stage);
    assert!(
        !rows.iter().any(|row| row.starts_with("model")),
        "no row without a session: {rows:?}"
    );
    let last = |row: &String| row.trim_end().chars().count();
    let of = |title: &str| last(rows.iter().find(|row| row.contains(title)).unwrap());
    assert!(of("second") > of("first"), "{rows:?}");
}
