//! Sessions of the core with a sub-agent, and the task files of the older extension.

use std::path::Path;

use super::{Cline, companions};
use crate::formats::decoder::{Format, Place, feed};
use crate::formats::json::{Json, parse};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::record::{FileId, Origin, Record};
use crate::model::transcript::Transcript;

static LEAD: &str =
    include_str!("../../../tests/fixtures/cline/1790000000000_abcde/1790000000000_abcde.messages.json");
static SCOUT: &str = include_str!("../../../tests/fixtures/cline/1790000000000_abcde/scout.messages.json");
static MANIFEST: &str =
    include_str!("../../../tests/fixtures/cline/1790000000000_abcde/1790000000000_abcde.json");
static HISTORY: &str = include_str!("../../../tests/fixtures/cline/legacy/api_conversation_history.json");
static PANEL: &str = include_str!("../../../tests/fixtures/cline/legacy/ui_messages.json");

fn read(document: &str, companions: &[&str]) -> Transcript {
    let mut decoder = Cline.decoder();
    let mut out = Batch::default();
    let json = parse(document).unwrap();
    let mut records = Vec::new();
    let elements = if let Json::Object(members) = &json {
        let header = members.iter().filter(|(name, _)| name != "messages").cloned();
        let empty = ("messages".into(), Json::Array(Vec::new()));
        records.push((Json::Object(header.chain([empty]).collect()).to_source(), Place::Header));
        json.get("messages").items()
    } else {
        json.items()
    };
    records.extend(elements.iter().map(|element| (element.to_source(), Place::Element)));
    for (at, (record, place)) in (0..).zip(&records) {
        let origin = Origin { at, ..Origin::default() };
        feed(&mut *decoder, Record { origin, bytes: record.as_bytes() }, *place, &mut out);
    }
    for (file, companion) in (1..).zip(companions) {
        let origin = Origin { file: FileId(file), ..Origin::default() };
        let place = Place::File(Path::new("companion.json"));
        feed(&mut *decoder, Record { origin, bytes: companion.as_bytes() }, place, &mut out);
    }
    decoder.finish(&mut out);
    let mut transcript = Transcript::new();
    transcript.apply(out);
    transcript.settle();
    transcript
}

fn entry<'t>(transcript: &'t Transcript, key: &str) -> &'t Entry {
    transcript.get(transcript.find(key).unwrap()).unwrap()
}

fn first_text(entry: &Entry) -> Option<String> {
    entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Text(body) => body.text().map(ToString::to_string),
        _ => None,
    })
}

fn states(transcript: &Transcript) -> Vec<&'static str> {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    let word =
        |kind: &BlockKind| if let BlockKind::Call(call) = kind { Some(call.state.word()) } else { None };
    blocks.filter_map(|block| word(&block.kind)).collect()
}

#[test]
fn messages_keep_what_was_said_apart_from_what_was_added() {
    let transcript = read(LEAD, &[]);
    let first = entry(&transcript, "msg_a1");
    assert_eq!(first_text(first).as_deref(), Some("why does the third gear squeak?"));
    assert!(first.role == Role::User && first.marks.prompt && first.blocks.len() == 3);
    assert!(
        matches!(&first.blocks[2].kind, BlockKind::Raw(raw) if raw.title.as_str() == "environment details")
    );
    let notice = entry(&transcript, "msg_a6");
    assert!(notice.role == Role::Harness && notice.marks.quiet);
    assert_eq!(transcript.find("msg_a3"), None, "results are no entries");
    let summary = entry(&transcript, "msg_a8");
    assert_eq!(summary.role, Role::Harness);
    let BlockKind::Break(Break::Compaction { before, .. }) = summary.blocks[0].kind else { panic!() };
    assert_eq!(before, Some(2630));
    assert_eq!(transcript.turns().len(), 2);
    let system = transcript.entries().next().unwrap();
    assert_eq!(system.role, Role::System);
}

#[test]
fn results_find_their_calls_and_their_failures() {
    let transcript = read(LEAD, &[]);
    assert_eq!(states(&transcript), ["failed", "done", "done"]);
    let answer = entry(&transcript, "msg_a4");
    let BlockKind::Call(call) = &answer.blocks[0].kind else { panic!() };
    let output = call.state.result().unwrap().body.text().unwrap();
    assert!(output.starts_with("Edited /home/ada/gears/third.txt\n"), "{output}");
    let usage = answer.usage.as_ref().unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.cache_write), (Some(400), Some(1500), Some(400)));
}

#[test]
fn sub_agents_are_lanes_and_the_manifest_tells_of_the_session() {
    let transcript = read(LEAD, &[SCOUT, MANIFEST]);
    let lane = &transcript.lanes()[0];
    assert_eq!((lane.name.as_str(), lane.label.as_str()), ("scout", "subagent scout"));
    assert_eq!(lane.entries.len(), 3);
    assert_eq!(transcript.turns().len(), 2, "prompts of a sub-agent open no turn");
    let meta = transcript.meta();
    assert_eq!(meta.title().unwrap().as_str(), "Oil the third gear");
    assert_eq!(meta.live, Some(false));
    assert_eq!(meta.id.as_deref(), Some("1790000000000_abcde"));
}

#[test]
fn only_the_lead_of_a_session_has_sub_agents_beside_it() {
    let patterns = |path: &str| companions(Path::new(path)).len();
    assert_eq!(patterns("/s/1_a/1_a.messages.json"), 2);
    assert_eq!(patterns("/s/1_a/scout.messages.json"), 1);
    assert_eq!(patterns("/s/1_a/1_a.json"), 0);
}

#[test]
fn results_in_plain_text_go_to_the_calls_in_order() {
    let transcript = read(HISTORY, &[]);
    assert_eq!(states(&transcript), ["done"]);
    let users: Vec<&Entry> = transcript.entries().filter(|entry| entry.role == Role::User).collect();
    let said: Vec<_> = users.iter().filter_map(|entry| first_text(entry)).collect();
    assert_eq!(said, ["list the gears", "and the second?"]);
}

#[test]
fn the_panel_shows_requests_tools_and_commands() {
    let transcript = read(PANEL, &[]);
    assert_eq!(states(&transcript), ["done", "done"]);
    let usage: Vec<_> = transcript.entries().filter_map(|entry| entry.usage.as_deref()).collect();
    assert_eq!(usage.iter().filter_map(|usage| usage.input).sum::<u64>(), 910);
    let users = transcript.entries().filter(|entry| entry.role == Role::User).count();
    assert_eq!((users, transcript.turns().len()), (2, 2));
    let tally = transcript.tally();
    assert_eq!((tally.records(), tally.passed, tally.merged, tally.faulty), (17, 2, 1, 0));
}
