//! The shape of `tv.entry/2`.

use serde_json::{Value, json};

use super::of;
use crate::ingest::Target;
use crate::model::body::{Image, Tree};
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Block, BlockKind, Break, EntryId, Piece, Raw, Role};
use crate::model::samples;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolResult, Verdict};
use crate::model::usage::Usage;
use crate::report::reading::{Contents, Reading};

fn written(fill: impl FnOnce(&mut Batch)) -> Value {
    let mut batch = Batch::default();
    fill(&mut batch);
    let reading = Reading::from_batch(Target::at("a.jsonl"), batch);
    let entry = reading.transcript.get(EntryId(0)).unwrap();
    let line = serde_json::to_string(&of((EntryId(0), entry), Contents::of(None), &reading, true))
        .unwrap();
    assert!(!line.contains('\n') && !line.contains("u001b"), "{line}");
    serde_json::from_str(&line).unwrap()
}

fn call(out: &mut Batch) -> ToolCall {
    let number = |digits| Tree::Number(Text::clean(digits));
    let input = Tree::Map(vec![
        (Text::clean("z"), number("1.50")),
        (
            Text::clean("a"),
            Tree::List(vec![
                Tree::Null,
                Tree::Bool(true),
                number("1e400"),
                number("NaN"),
            ]),
        ),
    ]);
    ToolCall {
        input: out.tree(&Text::default(), 1, || input),
        ..samples::call(out, "c1")
    }
}

#[test]
fn an_answer_with_a_call_and_its_result() {
    let entry = written(|out| {
        let mut entry = out.new_entry(Text::clean("k"), Role::Assistant, Some(Timestamp(1_000)));
        entry.usage = Some(Box::new(Usage {
            input: Some(3),
            cost: Some(0.5),
            ..Usage::default()
        }));
        let body = out.prose("on it");
        entry.push(BlockKind::Text(body));
        let call = call(out);
        entry.push_piece(Piece(1), BlockKind::Call(Box::new(call)));
        out.entry(entry);
        let result = ToolResult {
            verdict: Verdict::Failed,
            body: out.output("\u{1b}[31mexit 1\u{1b}[0m"),
            ..samples::result(out, "r1", Some(Timestamp(3_500)))
        };
        out.push(Edit::Result {
            call: Text::clean("c1"),
            result: Box::new(result),
            lane: None,
        });
    });
    assert_eq!(entry["schema"], "tv.entry/2");
    assert_eq!(entry["blocks"][0], json!({"type": "text", "text": "on it"}));
    let call = &entry["blocks"][1];
    assert_eq!(
        (&call["type"], &call["state"]),
        (&json!("call"), &json!("failed"))
    );
    assert_eq!(call["duration_ms"], 2_500);
    assert_eq!(call["result"]["text"], "exit 1");
    assert_eq!(call["input"]["z"].to_string(), "1.5");
    assert_eq!(call["input"]["a"], json!([null, true, "1e400", "NaN"]));
    assert_eq!(entry["usage"]["output"], Value::Null);
    assert_eq!(
        entry["cost"],
        json!({"usd": 0.5, "source": "recorded", "estimated_usd": null, "unpriced_models": [], "is_partial": false})
    );
    assert_eq!(entry["origin"]["file"], "a.jsonl");
    assert_eq!(entry["active"], true);
}

#[test]
fn every_kind_of_block_has_a_type() {
    let entry = written(|out| {
        let mut entry = out.new_entry(Text::clean("k"), Role::Harness, None);
        let (thought, raw) = (out.prose("hm"), out.prose("?"));
        let image = Image {
            mime: Text::default(),
            bytes: None,
            source: None,
            origin: out.origin(),
        };
        let compaction = Break::Compaction {
            before: Some(9),
            after: None,
            trigger: Text::clean("auto"),
            partial: false,
            took: None,
        };
        let kinds = [
            BlockKind::Thinking(thought),
            BlockKind::Image(image),
            BlockKind::Break(compaction),
            BlockKind::Break(Break::Error(Text::clean("overloaded"))),
            BlockKind::Raw(Raw {
                title: Text::clean("x"),
                body: raw,
            }),
        ];
        let blocks = kinds
            .into_iter()
            .zip(0..)
            .map(|(kind, piece)| Block::new(Piece(piece), kind));
        entry.blocks.extend(blocks);
        out.entry(entry);
    });
    let types: Vec<&str> = entry["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["thinking", "image", "break", "break", "raw"]);
    assert_eq!(entry["blocks"][2]["compaction"]["tokens_before"], 9);
    assert_eq!(entry["blocks"][3]["text"], "overloaded");
    assert_eq!(
        (&entry["at"], &entry["usage"], &entry["cost"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
}

#[test]
fn a_result_that_stands_alone_is_written_as_one() {
    let entry = written(|out| {
        let result = samples::result(out, "r1", None);
        out.push(Edit::Result {
            call: Text::clean("nobody"),
            result: Box::new(result),
            lane: None,
        });
    });
    let block = &entry["blocks"][0];
    assert_eq!(
        (&block["type"], &block["call_id"]),
        (&json!("result"), &json!("nobody"))
    );
    assert_eq!(
        (&block["duplicate"], &block["result"]["error"]),
        (&json!(false), &json!(false))
    );
}
