//! When an entry is complete.

use std::sync::atomic::AtomicBool;

use crossbeam_channel::bounded;

use super::{is_complete, write_feed};
use crate::ingest::{Target, WatchMode};
use crate::model::edit::{Batch, BatchMode, Feed, Stage};
use crate::model::entry::{BlockKind, EntryId, Role};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::render::row::Level;
use crate::report::printer::Printer;
use crate::report::printer::{BranchChoice, PrintOptions};
use crate::report::reading::{NamedSessions, Reading};
use crate::report::rows::Paper;

fn say(out: &mut Batch, key: &str, role: Role) {
    let mut entry = out.new_entry(Text::clean(key), role, None);
    let body = out.prose("text");
    entry.push(BlockKind::Text(body));
    out.entry(entry);
}

fn call(out: &mut Batch) {
    let mut entry = out.new_entry(Text::clean("calling"), Role::Assistant, None);
    let call = samples::call(out, "c1");
    entry.push(BlockKind::Call(Box::new(call)));
    out.entry(entry);
}

fn first_is_complete(is_quiet: bool, fill: impl FnOnce(&mut Batch)) -> bool {
    let mut batch = Batch::default();
    fill(&mut batch);
    let mut transcript = Transcript::new();
    transcript.apply(batch);
    is_complete(EntryId(0), is_quiet, &transcript)
}

#[test]
fn the_last_message_may_grow_until_a_pause() {
    let fill = |out: &mut Batch| say(out, "a", Role::Assistant);
    assert!(!first_is_complete(false, fill));
    assert!(first_is_complete(true, fill));
}

#[test]
fn a_call_waits_for_its_result_until_the_model_goes_on() {
    assert!(!first_is_complete(true, call));
    let prompted = |out: &mut Batch| {
        call(out);
        say(out, "typed meanwhile", Role::User);
    };
    assert!(!first_is_complete(true, prompted));
    let answered = |out: &mut Batch| {
        call(out);
        say(out, "answer", Role::Assistant);
    };
    assert!(first_is_complete(false, answered));
}

/// An entry that is missing shifts the ids of all entries after it.
#[test]
fn what_was_written_is_not_written_again_when_its_file_is_written_anew() {
    let batch = |mode, keys: &[&str]| {
        let mut batch = Batch::default();
        batch.mode = mode;
        for key in keys {
            say(&mut batch, key, Role::Assistant);
        }
        Feed::Batch {
            stage: Stage::Whole,
            batch: Box::new(batch),
        }
    };
    let target = Target::at("session.json");
    let options = PrintOptions {
        sessions: NamedSessions {
            targets: vec![Ok(target.clone())],
            ..NamedSessions::default()
        },
        is_joined: false,
        paper: Paper {
            width: 60,
            colour: false,
            ascii: false,
        },
        level: Level::Preview,
        json: true,
        follow: Some(WatchMode::Poll),
        branch: BranchChoice::All,
    };
    let feeds = [
        batch(BatchMode::Append, &["a", "b", "c"]),
        Feed::CaughtUp,
        batch(BatchMode::ReplaceStart, &["b"]),
        batch(BatchMode::ReplaceEnd, &["c", "d"]),
        batch(BatchMode::Replace, &["x", "b", "c", "d", "e"]),
    ];
    let mut reading = Reading::from_batch(target, Batch::default());
    let mut out = Vec::new();
    std::thread::scope(|scope| {
        // A channel without capacity: each message is received before the next is sent.
        let (sender, feed) = bounded(0);
        scope.spawn(move || {
            for message in feeds {
                drop(sender.send(message));
            }
        });
        write_feed(
            Printer::new(&options, || Timestamp(0)),
            &feed,
            &AtomicBool::new(false),
            &mut reading,
            &mut out,
        )
        .map(drop)
        .unwrap();
    });
    let keys: Vec<String> = String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["key"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        keys,
        ["a", "b", "c", "d", "e", "x"],
        "what came between is written in the end"
    );
}
