//! Reads the same session as a folder, as an export and as a stream of events.

mod streams;

use std::path::Path;

use super::Opencode;
use crate::formats::decoder::{Decoder, Format, RecordPlace, feed};
use crate::formats::json::{Json, parse};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry, Role, Sent};
use crate::model::record::{Origin, Record};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

static EXPORT: &str = include_str!("../../../tests/fixtures/opencode/export.json");
static EVENTS: &str = include_str!("../../../tests/fixtures/opencode/events.jsonl");

#[derive(Default)]
struct Reader {
    out: Batch,
    at: u64,
}

impl Reader {
    fn read(&mut self, decoder: &mut dyn Decoder, json: &str, place: RecordPlace<'_>) {
        self.at += 1;
        let origin = Origin {
            at: self.at,
            ..Origin::default()
        };
        feed(
            decoder,
            Record {
                origin,
                bytes: json.as_bytes(),
            },
            place,
            &mut self.out,
        );
    }

    fn transcript(self) -> Transcript {
        let mut transcript = Transcript::new();
        transcript.apply(self.out);
        transcript.update_derived();
        transcript
    }
}

fn export() -> Transcript {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    let json = parse(EXPORT).unwrap();
    let header = Json::Object(vec![("info".into(), json.get("info").clone())]);
    reader.read(&mut *decoder, &header.to_source(), RecordPlace::Header);
    for message in json.get("messages").items() {
        reader.read(&mut *decoder, &message.to_source(), RecordPlace::Element);
    }
    decoder.finish(&mut reader.out);
    reader.transcript()
}

/// Reads the records of the export as files; parts come before their messages if `is_hostile`.
fn folder(is_hostile: bool) -> (Transcript, Vec<String>) {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    let json = parse(EXPORT).unwrap();
    let place = RecordPlace::File(Path::new("x.json"));
    let mut records = vec![json.get("info").to_source()];
    for message in json.get("messages").items() {
        let parts = message.get("parts").items().iter().map(Json::to_source);
        records.extend(std::iter::once(message.get("info").to_source()).chain(parts));
    }
    if is_hostile {
        records.reverse();
    }
    for record in &records {
        reader.read(&mut *decoder, record, place);
    }
    decoder.finish(&mut reader.out);
    let wanted = reader
        .out
        .requested_files
        .iter()
        .map(ToString::to_string)
        .collect();
    (reader.transcript(), wanted)
}

fn events() -> Transcript {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    for line in EVENTS.lines() {
        reader.read(&mut *decoder, line, RecordPlace::Line);
    }
    decoder.finish(&mut reader.out);
    reader.transcript()
}

fn calls(transcript: &Transcript) -> Vec<&ToolCall> {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    blocks
        .filter_map(|block| match &block.kind {
            BlockKind::Call(call) => Some(&**call),
            _ => None,
        })
        .collect()
}

fn entry<'t>(transcript: &'t Transcript, key: &str) -> &'t Entry {
    transcript.get(transcript.find(key).unwrap()).unwrap()
}

#[test]
fn calls_say_how_they_ended() {
    let transcript = export();
    let recorded: Vec<_> = calls(&transcript)
        .iter()
        .map(|call| (call.name.to_string(), call.state.word()))
        .collect();
    let expected = [
        ("bash", "failed"),
        ("task", "done"),
        ("edit", "done"),
        ("invalid", "failed"),
        ("webfetch", "refused"),
        ("bash", "done"),
        ("bash", "lost"),
    ];
    assert_eq!(
        recorded,
        expected.map(|(name, word)| (name.to_owned(), word))
    );
    let result = |at: usize| calls(&transcript)[at].state.result().unwrap();
    assert_eq!(result(0).facts.as_str(), "exit 1");
    assert!(result(2).patch.is_some());
    assert_eq!(result(5).images.len(), 1);
    assert_eq!(result(5).duration_ms, Some(10));
}

#[test]
fn messages_are_complete_when_they_say_so() {
    for transcript in [export(), folder(false).0, folder(true).0] {
        let recorded = |key: &str| entry(&transcript, key).ended.map(|ended| ended.0);
        assert_eq!(recorded("msg_02"), Some(1_790_000_009_500));
        assert_eq!(recorded("msg_01"), None, "no longer than a moment");
        let others = transcript
            .entries()
            .filter(|entry| entry.key.starts_with("added:"));
        assert!(others.into_iter().all(|entry| entry.ended.is_none()));
    }
    assert_eq!(
        entry(&events(), "msg_22").ended.map(|ended| ended.0),
        Some(1_790_000_002_500)
    );
}

/// The number of requests of an open answer without usage, read with its parts in this order, and
/// the time of its end in ms.
fn requests_of(recorded: &[&str]) -> (u64, Option<i64>) {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    for recorded in recorded {
        let recorded = recorded.replacen('{', r#"{"sessionID":"ses_1","messageID":"msg_1","#, 1);
        reader.read(
            &mut *decoder,
            &recorded,
            RecordPlace::File(Path::new("x.json")),
        );
    }
    let transcript = reader.transcript();
    let ended = transcript.entries().next().unwrap().ended;
    (
        transcript.totals().sum().requests,
        ended.map(|ended| ended.0 - 1_790_000_000_000),
    )
}

const OPEN: &str = r#"{"id":"msg_1","role":"assistant","time":{"created":1790000000000},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}}"#;
const RUNS: &str = r#"{"id":"prt_2","type":"tool","callID":"c","tool":"task","state":{"status":"running","time":{"start":1790000000500}}}"#;
const SAID: &str = r#"{"id":"prt_1","type":"text","text":"I look","time":{"start":1790000000300,"end":1790000000400}}"#;

#[test]
fn a_message_of_calls_alone_without_usage_is_no_request() {
    let failed = OPEN.replace(r#""cost""#, r#""error":{"name":"APIError"},"cost""#);
    let done = OPEN.replace("00000}", "00000,\"completed\":1790000000900}");
    let start = r#"{"id":"prt_0","type":"step-start"}"#;
    for (recorded, requests) in [
        (vec![OPEN, RUNS], 0),
        (vec![RUNS, OPEN], 0),
        (vec![OPEN, RUNS, &done], 0),
        (vec![OPEN, &failed], 1),
        (vec![OPEN, RUNS, SAID], 1),
        (vec![SAID, RUNS, OPEN], 1),
        (vec![OPEN, start, RUNS, &done], 1),
    ] {
        assert_eq!(requests_of(&recorded).0, requests, "{recorded:?}");
    }
    let whole = format!(
        r#"{{"info":{},"parts":[{RUNS}]}}"#,
        OPEN.replacen('{', r#"{"sessionID":"ses_1","#, 1)
    );
    assert_eq!(requests_of(&[&whole]).0, 0);
}

#[test]
fn an_open_answer_lasts_as_long_as_its_parts_say() {
    assert_eq!(requests_of(&[OPEN]).1, None);
    assert_eq!(requests_of(&[OPEN, SAID]).1, Some(400));
    assert_eq!(requests_of(&[RUNS, SAID, OPEN]).1, Some(500));
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    for line in EVENTS
        .lines()
        .filter(|line| !line.contains(r#""completed":"#))
    {
        let line = line.replace(
            r#"[],"time":{"created":1790000001000}"#,
            r#"[],"time":{"created":1790000001900}"#,
        );
        reader.read(&mut *decoder, &line, RecordPlace::Line);
    }
    let asked = entry(&reader.transcript(), "msg_22").ended;
    assert_eq!(
        asked.map(|asked| asked.0),
        Some(1_790_000_001_900),
        "the user was asked in the middle of it"
    );
}

#[test]
fn a_call_id_that_comes_twice_names_two_calls() {
    let transcript = export();
    let keys: Vec<_> = calls(&transcript)
        .iter()
        .map(|call| call.key.clone())
        .collect();
    assert_eq!(keys[0].as_str(), "call_1");
    assert_ne!(keys[5], keys[0]);
}

#[test]
fn roles_and_marks_follow_what_was_said() {
    let transcript = export();
    let first = entry(&transcript, "msg_01");
    assert!(first.role == Role::User && first.marks.prompt);
    let asks = entry(&transcript, "msg_03");
    assert_eq!(asks.role, Role::Harness);
    assert!(matches!(
        asks.blocks[0].kind,
        BlockKind::Break(Break::Compaction { .. })
    ));
    assert!(!entry(&transcript, "msg_04").marks.undone);
    assert!(entry(&transcript, "msg_05").marks.undone && entry(&transcript, "msg_06").marks.undone);
    assert_eq!(transcript.turns().len(), 2);
    assert_eq!(
        transcript.meta().title().unwrap().as_str(),
        "Oil the third gear"
    );
}

fn compactions(transcript: &Transcript) -> usize {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    blocks
        .filter(|block| matches!(block.kind, BlockKind::Break(Break::Compaction { .. })))
        .count()
}

#[test]
fn the_order_of_the_files_does_not_matter() {
    let export = export();
    for is_hostile in [false, true] {
        let (folder, wanted) = folder(is_hostile);
        for entry in export.entries() {
            let other = folder.get(folder.find(&entry.key).unwrap()).unwrap();
            assert_eq!(
                (other.role, other.marks),
                (entry.role, entry.marks),
                "{} {is_hostile}",
                entry.key
            );
            assert_eq!(
                other.blocks.len(),
                entry.blocks.len(),
                "{} {is_hostile}",
                entry.key
            );
            assert_eq!(other.usage, entry.usage);
        }
        assert_eq!(compactions(&folder), 1, "{is_hostile}");
        assert!(wanted.iter().any(|wanted| wanted == "part/msg_02"));
        assert!(
            wanted
                .iter()
                .any(|wanted| wanted == "session/ses_0fixtchild1")
        );
        assert_eq!(
            calls(&folder)
                .iter()
                .filter(|call| call.state == ToolState::Lost)
                .count(),
            1
        );
    }
}

#[test]
fn events_end_in_what_the_session_is() {
    let transcript = events();
    let answer = entry(&transcript, "msg_22");
    let texts: Vec<_> = answer
        .blocks
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::Text(body) => body.text().map(ToString::to_string),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["I oil it."]);
    assert_eq!(
        answer.blocks.len(),
        3,
        "a part that was removed is gone, output so far too"
    );
    assert!(
        matches!(answer.blocks[2].kind, BlockKind::Break(Break::Setting(_))),
        "nobody waits any more"
    );
    assert!(!answer.marks.open);
    assert_eq!(calls(&transcript)[0].state.word(), "done");
    assert_eq!(transcript.find("msg_23"), None);
    assert_eq!(transcript.meta().title().unwrap().as_str(), "Oil");
    let last = transcript.entries().last().unwrap();
    assert!(matches!(
        last.blocks[0].kind,
        BlockKind::Break(Break::Error(_))
    ));
    assert_eq!(
        transcript.tally().reasons.keys().collect::<Vec<_>>(),
        [&"an event of the server"]
    );
    assert!(transcript.tally().unknown.is_empty());
}

#[test]
fn child_sessions_are_lanes_of_their_calls() {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    let json = parse(EXPORT).unwrap();
    let header = Json::Object(vec![("info".into(), json.get("info").clone())]);
    reader.read(&mut *decoder, &header.to_source(), RecordPlace::Header);
    reader.read(
        &mut *decoder,
        &json.get("messages").items()[1].to_source(),
        RecordPlace::Element,
    );
    let child =
        r#"{"id":"msg_11","sessionID":"ses_0fixtchild1","role":"user","time":{"created":1}}"#;
    reader.read(
        &mut *decoder,
        child,
        RecordPlace::File(Path::new("msg_11.json")),
    );
    let transcript = reader.transcript();
    let lane = &transcript.lanes()[0];
    assert_eq!(
        (lane.name.as_str(), lane.label.as_str()),
        ("ses_0fixtchild1", "explore: Count cans")
    );
    assert_eq!(lane.call.as_deref(), Some("call_2"));
    assert_eq!(lane.entries.len(), 1);
}

#[test]
fn a_part_without_its_message_is_shown_at_once() {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    let line = r#"{"type":"text","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1","sessionID":"ses_1","type":"text","text":"hi"}}"#;
    reader.read(&mut *decoder, line, RecordPlace::Line);
    assert_eq!(reader.transcript().entries().count(), 1);
}

#[test]
fn what_the_program_added_to_a_prompt_is_folded() {
    let transcript = export();
    assert!(entry(&transcript, "msg_01").blocks.iter().all(
        |block| !matches!(&block.kind, BlockKind::Raw(raw) if raw.title.starts_with("added"))
    ));
    let added = entry(&transcript, "added:msg_01");
    assert!(added.marks.quiet && added.role == Role::Harness);
    assert!(matches!(added.blocks[0].kind, BlockKind::Raw(_)));
}

#[test]
fn undo_hides_and_redo_shows_again() {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    let undone = r#"{"type":"session.updated","properties":{"info":{"id":"ses_1","revert":{"messageID":"msg_2"}}}}"#;
    let redone = r#"{"type":"session.updated","properties":{"info":{"id":"ses_1"}}}"#;
    for id in ["msg_1", "msg_2"] {
        let line = format!(
            r#"{{"type":"message.updated","properties":{{"info":{{"id":"{id}","role":"user","sessionID":"ses_1"}}}}}}"#
        );
        reader.read(&mut *decoder, &line, RecordPlace::Line);
    }
    let mut transcript = Transcript::new();
    for (event, expected) in [(undone, [false, true]), (redone, [false, false])] {
        reader.read(&mut *decoder, event, RecordPlace::Line);
        transcript.apply(std::mem::take(&mut reader.out));
        let marks = ["msg_1", "msg_2"].map(|key| entry(&transcript, key).marks.undone);
        assert_eq!(marks, expected);
    }
}

#[test]
fn questions_wait_until_they_are_answered() {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    let ask = r#"{"type":"permission.asked","properties":{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["ls"],"tool":{"messageID":"msg_9","callID":"c"}}}"#;
    let reply = r#"{"type":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"reject"}}"#;
    let mut transcript = Transcript::new();
    let mut lines = Vec::new();
    for event in [ask, reply] {
        reader.read(&mut *decoder, event, RecordPlace::Line);
        transcript.apply(std::mem::take(&mut reader.out));
        let entries: Vec<_> = transcript.entries().collect();
        assert_eq!(entries.len(), 1);
        lines.push(entries[0].blocks[0].kind.clone());
    }
    let asked = BlockKind::Break(Break::Waiting("permission: bash ls".into()));
    let refused = BlockKind::Break(Break::Setting("refused: bash ls".into()));
    assert_eq!(lines, [asked, refused]);
}

#[test]
fn text_that_grows_is_shown_before_it_is_whole() {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    let mut grow = |id: &str, delta: &str| {
        let line = format!(
            r#"{{"id":"{id}","type":"message.part.delta","properties":{{"sessionID":"ses_1","messageID":"msg_1","partID":"prt_1","field":"text","delta":"{delta}"}}}}"#
        );
        reader.read(&mut *decoder, &line, RecordPlace::Line);
    };
    grow("evt_1", "gre");
    grow("evt_2", "ase");
    grow("evt_2", "ase");
    decoder.finish(&mut reader.out);
    let transcript = reader.transcript();
    let BlockKind::Text(body) = &entry(&transcript, "msg_1").blocks[0].kind else {
        panic!("no text")
    };
    assert_eq!(body.text().unwrap().as_str(), "grease");
}

#[test]
fn parts_say_what_the_model_was_sent_of_them() {
    let sent = |part: &str| {
        let part =
            format!("{{\"id\":\"prt_1\",\"messageID\":\"msg_1\",\"sessionID\":\"ses_1\",{part}}}");
        let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
        let user =
            r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1790000000000}}"#;
        reader.read(&mut *decoder, user, RecordPlace::File(Path::new("m.json")));
        reader.read(&mut *decoder, &part, RecordPlace::File(Path::new("p.json")));
        decoder.finish(&mut reader.out);
        let transcript = reader.transcript();
        let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
        blocks.map(|block| block.sent.clone()).next().unwrap()
    };
    let words = |words: &str| Sent::As(Box::new(words.into()));
    let dropped = r#""type":"tool","callID":"c","tool":"read","state":{"status":"completed","input":{},"output":"x",
        "time":{"start":1,"end":2,"compacted":1790000009000}}"#;
    for (part, is) in [
        (r#""type":"text","text":"hello""#, Sent::Usual),
        (
            r#""type":"text","text":"hello","ignored":true"#,
            Sent::Never,
        ),
        (dropped, Sent::Until(Timestamp(1_790_000_009_000))),
        (
            r#""type":"tool","callID":"c","tool":"read","state":{"status":"running","input":{}}"#,
            words("[Tool execution was interrupted]"),
        ),
        (
            r#""type":"compaction","auto":true"#,
            words("What did we do so far?"),
        ),
        (
            r#""type":"subtask","prompt":"p","description":"d","agent":"build""#,
            words("The following tool was executed by the user"),
        ),
    ] {
        assert_eq!(sent(part), is, "{part}");
    }
}

#[test]
fn an_answer_that_failed_is_not_sent_again() {
    let unsent = |error: &str| {
        let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
        let answer = format!(
            r#"{{"id":"msg_1","sessionID":"ses_1","role":"assistant","time":{{"created":1790000000000}},"error":{error}}}"#
        );
        reader.read(
            &mut *decoder,
            &answer,
            RecordPlace::File(Path::new("m.json")),
        );
        decoder.finish(&mut reader.out);
        reader.transcript().entries().next().unwrap().marks.unsent
    };
    assert!(unsent(
        r#"{"name":"APIError","data":{"message":"overloaded"}}"#
    ));
    assert!(!unsent(
        r#"{"name":"MessageAbortedError","data":{"message":"aborted"}}"#
    ));
    assert!(!unsent("null"));
}

/// Version 1 copies messages into a fork with new ids and unchanged times.
#[test]
fn what_a_fork_of_version_1_copied_was_paid_for_elsewhere() {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    let session = r#"{"id":"ses_fork","title":"Oil it (fork #1)","directory":"/mill","version":"1.17.0","cost":0.7,"time":{"created":5000,"updated":9000}}"#;
    reader.read(&mut *decoder, session, RecordPlace::Row("session"));
    let asked = |id: &str, at: u64| {
        format!(r#"{{"id":"{id}","sessionID":"ses_fork","role":"user","time":{{"created":{at}}}}}"#)
    };
    let answered = |id: &str, of: &str, at: u64, cost: f64| {
        format!(
            r#"{{"id":"{id}","sessionID":"ses_fork","role":"assistant","parentID":"{of}","modelID":"m-1","cost":{cost},"tokens":{{"input":100,"output":7,"reasoning":0,"cache":{{"read":0,"write":0}}}},"time":{{"created":{at},"completed":{}}}}}"#,
            at + 10
        )
    };
    let rows = [
        asked("msg_11", 1000),
        answered("msg_12", "msg_02", 1100, 0.5),
        asked("msg_13", 6000),
        answered("msg_14", "msg_13", 6100, 0.2),
    ];
    for row in &rows {
        reader.read(&mut *decoder, row, RecordPlace::Row("message"));
        let text = format!(
            r#"{{"id":"prt_{0}","messageID":"{0}","sessionID":"ses_fork","type":"text","text":"said by {0}"}}"#,
            parse(row).unwrap().get("id").str_or_empty()
        );
        reader.read(&mut *decoder, &text, RecordPlace::Row("part"));
    }
    decoder.finish(&mut reader.out);
    let transcript = reader.transcript();
    let copies: Vec<bool> = transcript.entries().map(|entry| entry.marks.copy).collect();
    assert_eq!(copies, [true, true, false, false]);
    let spent = transcript.totals().sum();
    assert_eq!((spent.requests, spent.recorded_nanos), (1, 200_000_000));
}

#[test]
fn how_long_a_permission_waited_is_known_where_events_have_times() {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    for line in [
        r#"{"type":"message.updated","properties":{"info":{"id":"msg_1","role":"assistant","sessionID":"ses_1","time":{"created":1000}}}}"#,
        r#"{"id":"evt_1","created":2000,"type":"permission.v2.asked","data":{"id":"per_1","sessionID":"ses_1","action":"shell","resources":["ls"],"messageID":"msg_1"}}"#,
        r#"{"id":"evt_2","created":9000,"type":"permission.v2.replied","data":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}}"#,
        r#"{"id":"evt_3","created":9500,"type":"question.v2.asked","data":{"id":"que_1","sessionID":"ses_1","questions":[{"question":"Which?"}]}}"#,
    ] {
        reader.read(&mut *decoder, line, RecordPlace::Line);
    }
    let transcript = reader.transcript();
    let lines: Vec<_> = transcript
        .entries()
        .filter_map(|entry| match &entry.blocks.first()?.kind {
            BlockKind::Break(line) => Some((line.clone(), entry.at, entry.ended)),
            _ => None,
        })
        .collect();
    let at = |seconds: i64| Some(Timestamp(seconds * 1_000));
    assert_eq!(
        lines,
        [
            (
                Break::Setting("allowed once: shell ls".into()),
                at(2000),
                at(9000)
            ),
            (Break::Waiting("question: Which?".into()), None, None),
        ]
    );
}

#[test]
fn a_session_whose_server_was_stopped_does_not_work() {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    let info = |suspended: &str| {
        format!(
            r#"{{"info":{{"id":"ses_1","location":{{"directory":"/x"}},"time":{{"created":1000,"idle":2000{suspended}}}}}}}"#
        )
    };
    let rows = [
        r#"{"id":"msg_1","type":"idle","sessionID":"ses_1","outcome":"succeeded","time":{"created":2000}}"#,
        r#"{"id":"msg_2","type":"assistant","sessionID":"ses_1","content":[{"type":"text","text":"Half"}],"time":{"created":3000}}"#,
    ];
    let mut ends = |suspended: &str| {
        reader.read(&mut *decoder, &info(suspended), RecordPlace::Header);
        for row in rows {
            reader.read(&mut *decoder, row, RecordPlace::Row("session_message"));
        }
        decoder.finish(&mut reader.out);
        let mut transcript = Transcript::new();
        transcript.apply(reader.out.clone());
        let last = transcript
            .entries()
            .last()
            .map(|entry| entry.blocks[0].kind.clone());
        matches!(last, Some(BlockKind::Break(Break::Interrupted(_))))
    };
    assert!(ends(r#","suspended":4000"#));
    assert!(!ends(""), "it goes on");
}
