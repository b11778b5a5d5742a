//! Which entries are written, and in which order. JSON is used where the order matters, since it does
//! not depend on a layout.

use std::path::PathBuf;

use super::{Choice, Options, Printer};
use crate::ingest::Target;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, EntryId, Piece, Role};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind};
use crate::render::row::Level;
use crate::report::reading::Reading;
use crate::report::rows::Paper;

fn options(level: Level, json: bool) -> Options {
    let target = Target { path: PathBuf::from("a.jsonl"), session: None };
    let paper = Paper { width: 60, colour: false, ascii: false };
    let (joined, branch) = (Vec::new(), Choice::All);
    Options { target, joined, entry: None, paper, level, json, follow: None, branch }
}

/// A call that starts a sub-agent, an answer, and then an entry of the sub-agent.
fn session_with_a_lane(options: &Options) -> Reading {
    let mut out = Batch::default();
    let mut calling = out.new_entry(Text::clean("calling"), Role::Assistant, None);
    let call =
        ToolCall { name: Text::clean("task"), kind: ToolKind::Delegate, ..samples::call(&mut out, "c1") };
    calling.blocks.push(Batch::block(Piece(0), BlockKind::Call(Box::new(call))));
    out.entry(calling);
    let answer = out.new_entry(Text::clean("answer"), Role::Assistant, None);
    out.entry(answer);
    let mut sub = out.new_entry(Text::clean("sub"), Role::Assistant, None);
    sub.lane = Some(Text::clean("lane"));
    out.entry(sub);
    let call = Some(Text::clean("c1"));
    out.meta(MetaEdit::Lane { name: Text::clean("lane"), label: None, call });
    Reading::from_batch(options.target.clone(), out)
}

fn printed(options: &Options) -> (String, Vec<bool>) {
    let mut reading = session_with_a_lane(options);
    let mut printer = Printer::new(options);
    let mut out = Vec::new();
    let mut done_after_first = Vec::new();
    for id in reading.transcript.order().to_vec() {
        printer.print(id, &mut reading, &mut out).unwrap();
        done_after_first.push(printer.has_printed(EntryId(2)));
    }
    (String::from_utf8(out).unwrap(), done_after_first)
}

#[test]
fn json_has_every_entry_in_file_order() {
    let (lines, _) = printed(&options(Level::Preview, true));
    let keys: Vec<String> = lines
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["key"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(keys, ["calling", "answer", "sub"]);
}

#[test]
fn a_lane_is_written_below_its_call_or_folded_under_it() {
    let (_, done) = printed(&options(Level::Full, false));
    assert_eq!(done, [true, true, true], "below its call, so with the first entry");
    let (_, done) = printed(&options(Level::Preview, false));
    assert_eq!(done, [false, false, true], "folded: its turn comes and nothing is written");
}
