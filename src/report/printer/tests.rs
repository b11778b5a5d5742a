//! Which entries are written, and in which order. Tests of the order use JSON, which does not
//! depend on the layout.

use super::{BLOCKS, BranchChoice, Portioned, PrintOptions, Printer, end_of_portion};
use crate::ingest::Target;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, EntryId, Piece, Role};
use crate::model::record::Origin;
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolKind};
use crate::render::row::Level;
use crate::report::reading::{Contents, NamedSessions, Reading};
use crate::report::rows::Paper;

fn options(level: Level, json: bool) -> PrintOptions {
    let target = Target::at("a.jsonl");
    let paper = Paper {
        width: 60,
        colour: false,
        ascii: false,
    };
    let branch = BranchChoice::All;
    PrintOptions {
        sessions: NamedSessions {
            targets: vec![Ok(target)],
            ..NamedSessions::default()
        },
        is_joined: false,
        paper,
        level,
        json,
        follow: None,
        branch,
    }
}

/// A call that starts a sub-agent, an answer, and then an entry of the sub-agent.
fn session_with_a_lane(options: &PrintOptions) -> Reading {
    let mut out = Batch::default();
    let mut calling = out.new_entry(Text::clean("calling"), Role::Assistant, None);
    let call = ToolCall {
        name: Text::clean("task"),
        kind: ToolKind::Delegate,
        ..samples::call(&mut out, "c1")
    };
    calling.push(BlockKind::Call(Box::new(call)));
    out.entry(calling);
    let answer = out.new_entry(Text::clean("answer"), Role::Assistant, None);
    out.entry(answer);
    let mut sub = out.new_entry(Text::clean("sub"), Role::Assistant, None);
    sub.lane = Some(Text::clean("lane"));
    out.entry(sub);
    let call = Some(Text::clean("c1"));
    out.meta(MetaEdit::Lane {
        name: Text::clean("lane"),
        label: None,
        call,
    });
    Reading::from_batch(options.sessions.targets[0].clone().unwrap(), out)
}

fn printed(options: &PrintOptions) -> (String, Vec<bool>) {
    let mut reading = session_with_a_lane(options);
    let mut printer = Printer::new(options, || Timestamp(0));
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
            serde_json::from_str::<serde_json::Value>(line).unwrap()["key"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(keys, ["calling", "answer", "sub"]);
}

#[test]
fn a_lane_is_written_below_its_call_or_folded_under_it() {
    let (_, done) = printed(&options(Level::Full, false));
    assert_eq!(
        done,
        [true, true, true],
        "below its call, so with the first entry"
    );
    let (_, done) = printed(&options(Level::Preview, false));
    assert_eq!(
        done,
        [false, false, true],
        "folded: its turn comes and nothing is written"
    );
}

/// An answer with `blocks` blocks: some are sentences before calls, some calls of a plan.
fn large_answer(options: &PrintOptions, blocks: usize) -> Reading {
    let mut out = Batch::default();
    let mut entry = out.new_entry(Text::clean("large"), Role::Assistant, None);
    for number in 0..blocks {
        let piece = Piece(u64::try_from(number).unwrap());
        out.begin_record(Origin {
            at: piece.0,
            len: 1,
            ..Origin::default()
        });
        let kind = if number % 3 == 0 {
            BlockKind::Text(out.prose(&format!("sentence {number}")))
        } else {
            let kind = if number % 50 == 1 {
                ToolKind::Plan
            } else {
                ToolKind::Run
            };
            let call = ToolCall {
                kind,
                ..samples::call(&mut out, &format!("c{number}"))
            };
            BlockKind::Call(Box::new(call))
        };
        entry.push_piece(piece, kind);
    }
    out.entry(entry);
    Reading::from_batch(options.sessions.targets[0].clone().unwrap(), out)
}

#[test]
fn a_large_entry_is_laid_out_in_portions_that_make_up_the_whole() {
    for level in [
        Level::Prompts,
        Level::Outline,
        Level::Preview,
        Level::Full,
        Level::Raw,
    ] {
        let options = options(level, false);
        let mut reading = large_answer(&options, 3 * BLOCKS + 7);
        let mut out = Vec::new();
        Printer::new(&options, || Timestamp(0))
            .print(EntryId(0), &mut reading, &mut out)
            .unwrap();
        let entry = reading.transcript.get(EntryId(0)).unwrap();
        let ends: Vec<usize> =
            std::iter::successors(Some(0), |first| Some(end_of_portion(entry, *first, level)))
                .skip(1)
                .take_while(|end| *end < entry.blocks.len())
                .collect();
        assert!(
            ends.len() >= 2 && ends.windows(2).all(|pair| pair[1] - pair[0] < BLOCKS + 4),
            "{ends:?}"
        );
        // In one portion, like an entry of a few blocks.
        let printer = Printer::new(&options, || Timestamp(0));
        let Reading {
            transcript,
            account,
            pager,
            ..
        } = &mut reading;
        let entry = transcript.get(EntryId(0)).unwrap().clone();
        let mut whole = Portioned {
            id: EntryId(0),
            depth: 0,
            turn: None,
            is_awaited: true,
            is_over: true,
            transcript,
            account,
            contents: Contents::of(pager.as_mut()),
            entry,
            above: None,
        };
        let rows = printer.rows_of(&mut whole, 0..usize::MAX);
        let lines: String = rows
            .iter()
            .map(|row| options.paper.line(row) + "\n")
            .collect();
        assert_eq!(String::from_utf8(out).unwrap(), lines, "{level:?}");
    }
}
