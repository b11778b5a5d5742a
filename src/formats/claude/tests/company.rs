//! Other participants of a session: teams, helpers that copy it, and a user who types while the
//! agent is working.

use std::path::Path;

use super::{Claude, feed_file, of_role, transcript_of};
use crate::formats::decoder::{Format, RecordPlace};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Entry, Role};
use crate::model::transcript::Transcript;

const TEAM: &str = include_str!("../../../../tests/fixtures/claude-code/team.jsonl");
const META: &str = include_str!(
    "../../../../tests/fixtures/claude-code/team/subagents/agent-a0c0ffee00000001.meta.json"
);
const MATES: [(&str, &str); 2] = [
    (
        "a0c0ffee00000001",
        include_str!(
            "../../../../tests/fixtures/claude-code/team/subagents/agent-a0c0ffee00000001.jsonl"
        ),
    ),
    (
        "a0c0ffee00000002",
        include_str!(
            "../../../../tests/fixtures/claude-code/team/subagents/agent-a0c0ffee00000002.jsonl"
        ),
    ),
];
const HELPER: &str = include_str!(
    "../../../../tests/fixtures/claude-code/team/subagents/agent-acompact-5eed5eed5eed5eed.jsonl"
);

/// The session with the files of its team; with `late`, those files are read first.
fn team(late: bool) -> Transcript {
    let (mut decoder, mut out) = (Claude.decoder(None), Batch::default());
    if !late {
        feed_file(&mut *decoder, TEAM, 0, RecordPlace::Line, &mut out);
    }
    for (number, (name, _)) in (1..).zip(MATES) {
        let path = Path::new("team/subagents").join(format!("agent-{name}.meta.json"));
        feed_file(
            &mut *decoder,
            META,
            number,
            RecordPlace::File(&path),
            &mut out,
        );
    }
    for (number, (name, text)) in (3..).zip(MATES) {
        if late && number == 4 {
            feed_file(&mut *decoder, TEAM, 0, RecordPlace::Line, &mut out);
        }
        let path = Path::new("team/subagents").join(format!("agent-{name}.jsonl"));
        feed_file(
            &mut *decoder,
            text,
            number,
            RecordPlace::CompanionLine(&path),
            &mut out,
        );
    }
    let path = Path::new("team/subagents/agent-acompact-5eed5eed5eed5eed.jsonl");
    feed_file(
        &mut *decoder,
        HELPER,
        5,
        RecordPlace::CompanionLine(path),
        &mut out,
    );
    decoder.finish(&mut out);
    transcript_of(out)
}

fn said(transcript: &Transcript) -> Vec<&str> {
    let main = of_role(transcript, Role::User)
        .into_iter()
        .filter(|entry| entry.lane.is_none());
    main.map(|entry| entry.blocks[0].kind.bodies().next().unwrap().stub.as_str())
        .collect()
}

fn entry<'t>(transcript: &'t Transcript, key: &str) -> &'t Entry {
    transcript.get(transcript.find(key).unwrap()).unwrap()
}

#[test]
fn one_member_of_a_team_is_one_lane_below_its_call() {
    for late in [false, true] {
        let transcript = team(late);
        let lanes: Vec<_> = transcript
            .lanes()
            .iter()
            .map(|lane| {
                (
                    lane.name.as_str(),
                    lane.label.as_str(),
                    lane.call.as_deref(),
                )
            })
            .collect();
        let expected = [
            ("a0c0ffee00000001", "wheelwright", Some("toolu_mMate")),
            ("acompact-5eed5eed5eed5eed", "compaction", None),
        ];
        assert_eq!(lanes, expected, "{late}");
        let second = entry(&transcript, "msg_w2");
        assert_eq!(second.lane.as_deref(), Some("a0c0ffee00000001"));
    }
}

#[test]
fn a_prompt_that_was_queued_counts_once_where_it_was_given() {
    let transcript = team(false);
    let expected = [
        "Build a mill with a team of two.",
        "Use oak for the axle.",
        "And a door.",
    ];
    assert_eq!(
        said(&transcript),
        expected,
        "neither a team mate nor a notification is the user"
    );
    assert_eq!(transcript.turns().len(), 3);
    let places: Vec<usize> = transcript.turns().iter().map(|turn| turn.first).collect();
    let answers =
        ["msg_m3", "msg_m4"].map(|key| transcript.place_of(transcript.find(key).unwrap()).unwrap());
    assert!(answers[0] < places[1] && places[1] < answers[1]);
}

fn queue(lines: &[&str]) -> Transcript {
    let line = |(number, event): (usize, &&str)| {
        let time = format!("2026-03-02T09:00:{number:02}.000Z");
        match event.split_once(' ').unwrap_or((event, "")) {
            ("given", words) => format!(
                r#"{{"type":"attachment","uuid":"u{number}","isSidechain":false,"timestamp":"{time}","attachment":{{"type":"queued_command","prompt":"{words}","commandMode":"prompt"}}}}"#
            ),
            ("typed", words) => format!(
                r#"{{"type":"user","uuid":"u{number}","isSidechain":false,"timestamp":"{time}","message":{{"role":"user","content":"{words}"}}}}"#
            ),
            (operation, words) => {
                let (operation, id) = operation.split_once('@').unwrap_or((operation, ""));
                let (operation, reason) = match operation {
                    "delegate" => ("remove", "delivered_to_agent"),
                    other => (other, ""),
                };
                format!(
                    r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"{time}","sessionId":"s","content":"{words}","commandUuid":"{id}","reason":"{reason}"}}"#
                )
            }
        }
    };
    let lines: Vec<String> = lines.iter().enumerate().map(line).collect();
    super::read(&lines.join("\n"))
}

#[test]
fn what_the_queue_says_in_any_order_counts_once() {
    for (events, expected) in [
        (&["enqueue one", "remove"][..], &["one"][..]),
        (&["enqueue one", "given one", "remove"], &["one"]),
        (&["enqueue one", "remove", "given one"], &["one"]),
        (
            &[
                "enqueue one",
                "enqueue two",
                "given one",
                "given two",
                "remove",
                "remove",
            ],
            &["one", "two"],
        ),
        (&["enqueue one", "dequeue", "typed one"], &["one"]),
        (
            &["enqueue one", "remove", "typed two", "typed one"],
            &["one", "two", "one"],
        ),
        (
            &["enqueue one", "enqueue two", "popAll", "typed one, two"],
            &["one, two"],
        ),
        (
            &[
                "enqueue <task-notification>x</task-notification>",
                "enqueue one",
                "remove",
            ],
            &["one"],
        ),
        (&["enqueue one"], &[]),
        (&["remove", "dequeue"], &[]),
        (&["enqueue one", "enqueue two", "remove two"], &["two"]),
        (
            &["enqueue@a one", "enqueue@b two", "absorb@b", "typed one"],
            &["two", "one"],
        ),
        (
            &[
                "enqueue@a one",
                "enqueue@b two",
                "given two",
                "absorb@b",
                "dequeue",
                "typed one",
            ],
            &["two", "one"],
        ),
        (
            &[
                "enqueue@a one",
                "enqueue@b one",
                "given one",
                "remove@a",
                "dequeue",
                "typed one",
            ],
            &["one", "one"],
        ),
        (
            &["enqueue@a one", "enqueue@b two", "delegate@a", "remove"],
            &["two"],
        ),
    ] {
        let transcript = queue(events);
        assert_eq!(said(&transcript), expected, "{events:?}");
        assert_eq!(transcript.turns().len(), expected.len(), "{events:?}");
    }
}

#[test]
fn a_helpers_copy_takes_nothing_from_the_message() {
    let transcript = team(false);
    let message = entry(&transcript, "msg_m1");
    assert_eq!((message.lane.as_ref(), message.origin.file.0), (None, 0));
    assert!(
        matches!(message.blocks[0].kind, BlockKind::Thinking(_)),
        "its thoughts stay"
    );
    assert_eq!(message.calls().count(), 1);
    let helper: Vec<&str> = transcript
        .entries()
        .filter(|entry| {
            entry
                .lane
                .as_ref()
                .is_some_and(|lane| lane.starts_with("acompact"))
        })
        .flat_map(|entry| entry.blocks[0].kind.bodies())
        .map(|body| body.stub.as_str())
        .collect();
    assert_eq!(helper.len(), 2, "{helper:?}");
}

#[test]
fn a_helper_by_itself_asks_for_no_other_file() {
    let started = HELPER.replacen(
        "\"type\":\"user\",\"message\"",
        "\"toolUseResult\":{\"status\":\"completed\",\"agentId\":\"a9\"},\"type\":\"user\",\"message\"",
        9,
    );
    let mut out = Batch::default();
    feed_file(
        &mut *Claude.decoder(None),
        &started,
        0,
        RecordPlace::Line,
        &mut out,
    );
    assert!(out.requested_files.is_empty(), "{:?}", out.requested_files);
    let transcript = transcript_of(out);
    assert_eq!(transcript.lanes().len(), 0);
    assert_eq!(
        transcript
            .find("msg_h1")
            .and_then(|id| transcript.lane_at(id)),
        None
    );
}

#[test]
fn a_whole_record_behind_a_torn_one_counts() {
    let transcript = team(false);
    let tally = transcript.tally();
    assert_eq!(
        (tally.faulty, tally.unknown.len()),
        (1, 0),
        "{:?}",
        tally.unknown
    );
    let call = transcript
        .entries()
        .flat_map(Entry::calls)
        .find(|call| call.key.as_str() == "toolu_mMate");
    assert!(call.unwrap().state.result().is_some());
}

#[test]
fn references_to_tools_are_their_names() {
    let transcript = team(false);
    let call = transcript
        .entries()
        .flat_map(Entry::calls)
        .find(|call| call.key.as_str() == "toolu_mFind");
    let result = call.unwrap().state.result().unwrap();
    assert_eq!(
        result.body.text_or_stub().as_str(),
        "TeamCreate\nSendMessage"
    );
}
