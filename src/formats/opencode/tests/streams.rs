//! An event stream results in the same entries as the files of the same objects, in any order that
//! the protocol allows.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};

use super::{EXPORT, Reader};
use crate::formats::decoder::{Format, RecordPlace};
use crate::formats::json::{Json, parse};
use crate::formats::opencode::Opencode;
use crate::model::body::Image;
use crate::model::entry::{BlockKind, Entry};
use crate::model::record::Origin;
use crate::model::transcript::Transcript;

/// A cycle of random choices.
struct Choices<'c>(std::iter::Cycle<std::slice::Iter<'c, u8>>);

impl Choices<'_> {
    fn of(&mut self, n: u8) -> u8 {
        self.0.next().copied().unwrap_or(0) % n
    }

    fn yes(&mut self) -> bool {
        self.of(3) == 0
    }
}

/// The session and its messages, each with the parts that have ids.
fn session(export: &Json<'static>) -> (String, Vec<(Json<'static>, Vec<Json<'static>>)>) {
    let has_id = |part: &&Json<'static>| part.get("id").str_or_empty().starts_with("prt_");
    let messages = export.get("messages").items().iter().map(|message| {
        let parts = message
            .get("parts")
            .items()
            .iter()
            .filter(has_id)
            .cloned()
            .collect();
        (message.get("info").clone(), parts)
    });
    (export.get("info").to_source(), messages.collect())
}

fn with(object: &Json<'static>, name: &'static str, value: Json<'static>) -> Json<'static> {
    let mut members = object.members().to_vec();
    members.retain(|(key, _)| key != name);
    members.push((name.into(), value));
    Json::Object(members)
}

fn event(kind: &str, properties: &str) -> String {
    format!(r#"{{"type":"{kind}","properties":{properties}}}"#)
}

fn message(info: &Json<'static>) -> String {
    event(
        "message.updated",
        &format!(r#"{{"info":{}}}"#, info.to_source()),
    )
}

fn whole(part: &Json<'static>) -> String {
    event(
        "message.part.updated",
        &format!(r#"{{"part":{}}}"#, part.to_source()),
    )
}

/// The events of a part: as a whole, empty and then growing, or through the states of a call.
fn events_of_part(part: &Json<'static>, choices: &mut Choices<'_>) -> Vec<String> {
    let mut events = Vec::new();
    let text = part.get("text").str_or_empty().to_owned();
    if !text.is_empty() && choices.yes() {
        let start = parse(r#"{"start":1}"#).unwrap();
        events.push(whole(&with(
            &with(part, "text", Json::Str("".into())),
            "time",
            start,
        )));
        let cut = usize::from(choices.of(8)).min(text.len());
        let (head, tail) = text.split_at_checked(cut).unwrap_or(("", &text));
        for delta in [head, tail] {
            let delta = format!(
                r#"{{"sessionID":{},"messageID":{},"partID":{},"field":"text","delta":{}}}"#,
                part.get("sessionID").to_source(),
                part.get("messageID").to_source(),
                part.get("id").to_source(),
                Json::Str(delta.into()).to_source()
            );
            events.push(event("message.part.delta", &delta));
        }
    }
    if part.has("state") && choices.yes() {
        let pending = parse(r#"{"status":"pending","input":[],"raw":""}"#).unwrap();
        events.push(whole(&with(part, "state", pending)));
    }
    events.push(whole(part));
    if choices.yes() {
        events.push(whole(part));
    }
    events
}

fn events(export: &Json<'static>, choices: &mut Choices<'_>) -> Vec<String> {
    let (info, messages) = session(export);
    let mut events = vec![event("session.updated", &format!(r#"{{"info":{info}}}"#))];
    for (info, parts) in messages {
        let is_late = choices.yes();
        if !is_late {
            let time = Json::Object(vec![("created".into(), info.at("time.created").clone())]);
            let begun = with(&info, "time", time);
            events.push(message(&with(
                &with(&begun, "error", Json::Null),
                "tokens",
                Json::Null,
            )));
        }
        for part in &parts {
            events.extend(events_of_part(part, choices));
        }
        events.push(message(&info));
        if choices.yes() {
            events.push(event("session.idle", r#"{"sessionID":"ses_0fixtmain01"}"#));
            events.push(message(&info));
        }
    }
    events
}

fn read(records: &[String], place: RecordPlace<'_>) -> Transcript {
    let (mut reader, mut decoder) = (Reader::default(), Opencode.decoder(None));
    for record in records {
        reader.read(&mut *decoder, record, place);
    }
    decoder.finish(&mut reader.out);
    reader.transcript()
}

/// Entries without their positions in files and their revisions.
fn entries(transcript: &Transcript) -> Vec<Entry> {
    let placeless = |entry: &Entry| {
        let mut entry = Entry {
            origin: Origin::default(),
            records: Vec::new(),
            revision: 0,
            ..entry.clone()
        };
        entry
            .blocks
            .iter_mut()
            .flat_map(|block| images(&mut block.kind))
            .for_each(|image| {
                image.origin = Origin::default();
            });
        entry
    };
    transcript.entries().map(placeless).collect()
}

fn images(kind: &mut BlockKind) -> Vec<&mut Image> {
    match kind {
        BlockKind::Image(image) => vec![image],
        BlockKind::Call(call) => call
            .state
            .result_mut()
            .map(|result| result.images.iter_mut().collect())
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn streams_end_in_what_the_files_say(choices in vec(any::<u8>(), 1..64)) {
        let export = parse(EXPORT).unwrap();
        let (info, messages) = session(&export);
        let mut files = vec![info];
        for (info, parts) in messages {
            files.push(info.to_source());
            files.extend(parts.iter().map(Json::to_source));
        }
        let files = entries(&read(&files, RecordPlace::File(Path::new("x.json"))));
        let stream = entries(&read(&events(&export, &mut Choices(choices.iter().cycle())), RecordPlace::Line));
        for (file, stream) in files.iter().zip(&stream) {
            prop_assert_eq!(file, stream);
        }
        prop_assert_eq!(files.len(), stream.len());
    }
}
