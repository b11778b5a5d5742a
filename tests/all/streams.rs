//! Tests of streams, which send a message in small parts, in any order that the protocol allows,
//! and repeatedly: the result equals the final message alone.
//!
//! The comparison covers visible content only: keys, positions and pieces depend on how the message
//! was sent.

use proptest::prelude::*;
use serde_json::{Value, json};
use tv::formats::decoder::{Format, RecordPlace, feed};
use tv::formats::named;
use tv::model::body::Key;
use tv::model::edit::Batch;
use tv::model::entry::{BlockKind, Entry, Piece};
use tv::model::record::{FileId, Origin, Record};
use tv::model::transcript::Transcript;

// === reading ===

fn format(name: &str) -> &'static dyn Format {
    named(name).unwrap()
}

/// Reads lines, with the end of a reading after each number in `pauses`.
fn read(name: &str, lines: &[Value], pauses: &[usize]) -> Transcript {
    let mut decoder = format(name).decoder(None);
    let mut transcript = Transcript::new();
    let mut batch = Batch::default();
    let mut at = 0;
    for (number, line) in lines.iter().enumerate() {
        let text = line.to_string();
        let len = u32::try_from(text.len()).unwrap();
        let origin = Origin {
            file: FileId(0),
            at,
            len,
            line: u32::try_from(number + 1).unwrap(),
        };
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: text.as_bytes(),
            },
            RecordPlace::Line,
            &mut batch,
        );
        at += u64::from(len) + 1;
        if pauses.contains(&number) {
            decoder.finish(&mut batch);
            let mut next = Batch::default();
            next.tally = batch.tally.clone();
            transcript.apply(std::mem::replace(&mut batch, next));
        }
    }
    decoder.finish(&mut batch);
    transcript.apply(batch);
    transcript.update_derived();
    transcript
}

/// Entries without what depends on how they came.
fn seen(transcript: &Transcript) -> Vec<Entry> {
    let plain = |entry: &Entry| {
        let mut entry = Entry {
            key: Key::default(),
            revision: 0,
            origin: Origin::default(),
            records: Vec::new(),
            ..entry.clone()
        };
        entry
            .blocks
            .iter_mut()
            .for_each(|block| block.piece = Piece(0));
        entry
    };
    transcript.entries().map(plain).collect()
}

fn words(transcript: &Transcript) -> String {
    let blocks = transcript.entries().flat_map(|entry| &entry.blocks);
    let texts = blocks.filter_map(|block| match &block.kind {
        BlockKind::Text(body) | BlockKind::Thinking(body) => Some(body.text_or_stub().as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The stream and its last messages give the same; so does the stream with pauses, and after any cut.
fn check(
    name: &str,
    stream: &[Value],
    last: &[Value],
    pauses: &[usize],
) -> Result<(), TestCaseError> {
    let alone = read(name, last, &[]);
    let whole = read(name, stream, &[]);
    prop_assert_eq!(seen(&whole), seen(&alone), "the stream in one reading");
    prop_assert_eq!(whole.totals().sum(), alone.totals().sum(), "what was spent");
    let paused = read(name, stream, pauses);
    prop_assert_eq!(
        seen(&paused),
        seen(&alone),
        "the stream with pauses {:?}",
        pauses
    );
    for cut in 0..=stream.len() {
        let part = read(name, &stream[..cut], &[]);
        prop_assert_eq!(
            part.tally().records(),
            cut as u64,
            "a record is lost before {}",
            cut
        );
        prop_assert_eq!(part.tally().faulty, 0);
    }
    Ok(())
}

// === messages ===

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Thinking(String),
    Call { name: String, input: Value },
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-zA-Z ,.\n]{0,40}",
        2 => "\\PC{0,24}",
        1 => Just(String::new()),
        1 => "[🦀é漢\u{200d}\u{301}\"\\\\{}\n]{0,12}",
    ]
}

fn input() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let nested = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    });
    prop::collection::btree_map("[a-z]{1,8}", nested, 0..4).prop_map(|map| json!(map))
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => text().prop_map(Part::Text),
        1 => text().prop_map(Part::Thinking),
        2 => ("(bash|read|edit|weather)", input()).prop_map(|(name, input)| Part::Call { name, input }),
    ]
}

fn message() -> impl Strategy<Value = Vec<Part>> {
    prop::collection::vec(part(), 0..4)
}

/// What decides all that is left to chance in a stream (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed >> 33) % u64::try_from(n.max(1)).unwrap()).unwrap()
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Cuts a text into a few pieces.
    fn split(&mut self, text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let mut pieces = Vec::new();
        let mut rest = chars.as_slice();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(1 + self.below(rest.len().min(9)));
            pieces.push(piece.iter().collect());
            rest = after;
        }
        pieces
    }

    fn pauses(&mut self, len: usize) -> Vec<usize> {
        (0..self.below(4)).map(|_| self.below(len)).collect()
    }
}

/// A step of a stream: which part, what happens to it.
enum Step {
    Start(usize),
    Delta(usize, String),
    End(usize),
}

/// Steps of all parts: each part's own in order, parts begun in order, else mixed.
fn steps(parts: &[Part], dice: &mut Dice) -> Vec<Step> {
    let written = |part: &Part| match part {
        Part::Text(text) | Part::Thinking(text) => text.clone(),
        Part::Call { input, .. } => input.to_string(),
    };
    let mut waiting: Vec<(usize, Vec<String>)> = Vec::new();
    let mut next = 0;
    let mut steps = Vec::new();
    while next < parts.len() || !waiting.is_empty() {
        let may_start = next < parts.len() && (waiting.is_empty() || dice.below(4) == 0);
        if may_start {
            let mut pieces = dice.split(&written(&parts[next]));
            pieces.reverse();
            waiting.push((next, pieces));
            steps.push(Step::Start(next));
            next += 1;
            continue;
        }
        let chosen = dice.below(waiting.len());
        let (index, pieces) = &mut waiting[chosen];
        if let Some(piece) = pieces.pop() {
            steps.push(Step::Delta(*index, piece));
            continue;
        }
        // An end may be missing.
        if dice.below(5) > 0 {
            steps.push(Step::End(*index));
        }
        waiting.remove(chosen);
    }
    steps
}

// === pi and OpenClaw ===

fn pi_block(index: usize, part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Thinking(text) => json!({"type": "thinking", "thinking": text}),
        Part::Call { name, input } => {
            json!({"type": "toolCall", "id": format!("call_{index}"), "name": name, "arguments": input})
        }
    }
}

fn pi_message(content: Vec<Value>, reason: &str) -> Value {
    let cost =
        json!({"input": 0.001, "output": 0.002, "cacheRead": 0, "cacheWrite": 0, "total": 0.003});
    let usage = json!({"input": 10, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 30, "cost": cost});
    json!({"role": "assistant", "content": content, "api": "anthropic-messages", "provider": "anthropic",
        "model": "claude-opus-4-8", "usage": usage, "stopReason": reason, "timestamp": 1_780_000_000_000_u64})
}

/// The wire events of one answer. `partials`: 0 no event has the message so far, 1 some, 2 all.
fn answer_events(parts: &[Part], reason: &str, partials: usize, dice: &mut Dice) -> Vec<Value> {
    let mut so_far: Vec<Part> = Vec::new();
    let mut written: Vec<String> = Vec::new();
    let mut events = vec![json!({"type": "start"})];
    for step in steps(parts, dice) {
        let (index, mut event) = match &step {
            Step::Start(index) => {
                let (empty, mut event) = match &parts[*index] {
                    Part::Text(_) => (Part::Text(String::new()), json!({"type": "text_start"})),
                    Part::Thinking(_) => (
                        Part::Thinking(String::new()),
                        json!({"type": "thinking_start"}),
                    ),
                    Part::Call { name, .. } => {
                        let empty = Part::Call {
                            name: name.clone(),
                            input: json!({}),
                        };
                        (empty, json!({"type": "toolcall_start"}))
                    }
                };
                if let Part::Call { name, .. } = &parts[*index] {
                    event["id"] = json!(format!("call_{index}"));
                    event["toolName"] = json!(name);
                }
                so_far.push(empty);
                written.push(String::new());
                (*index, event)
            }
            Step::Delta(index, piece) => {
                written[*index].push_str(piece);
                let kind = match &mut so_far[*index] {
                    Part::Text(text) => {
                        text.push_str(piece);
                        "text_delta"
                    }
                    Part::Thinking(text) => {
                        text.push_str(piece);
                        "thinking_delta"
                    }
                    Part::Call { .. } => "toolcall_delta",
                };
                (*index, json!({"type": kind, "delta": piece}))
            }
            Step::End(index) => {
                let event = match &parts[*index] {
                    Part::Text(text) => json!({"type": "text_end", "content": text}),
                    Part::Thinking(text) => json!({"type": "thinking_end", "content": text}),
                    call @ Part::Call { .. } => {
                        json!({"type": "toolcall_end", "toolCall": pi_block(*index, call)})
                    }
                };
                so_far[*index] = parts[*index].clone();
                (*index, event)
            }
        };
        event["contentIndex"] = json!(index);
        let mut blocks: Vec<Value> = so_far
            .iter()
            .enumerate()
            .map(|(n, part)| pi_block(n, part))
            .collect();
        for (block, written) in blocks.iter_mut().zip(&written) {
            if block["type"] == "toolCall" && block["arguments"] == json!({}) {
                block["partialJson"] = json!(written);
            }
        }
        if partials == 2 || (partials == 1 && dice.flip()) {
            event["partial"] = pi_message(blocks, "stop");
            // A bare delta that comes twice would be two; with the message so far it is one.
            if dice.below(6) == 0 {
                events.push(event.clone());
            }
        }
        events.push(event);
    }
    if partials == 2 {
        events[0]["partial"] = pi_message(Vec::new(), "stop");
    }
    events.push(last_event(parts, reason));
    events
}

fn last_event(parts: &[Part], reason: &str) -> Value {
    let message = pi_message(
        parts
            .iter()
            .enumerate()
            .map(|(n, part)| pi_block(n, part))
            .collect(),
        reason,
    );
    match reason {
        "error" | "aborted" => json!({"type": "error", "reason": reason, "error": message}),
        _ => json!({"type": "done", "reason": reason, "message": message}),
    }
}

fn reason() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["stop", "toolUse", "length", "error", "aborted"])
}

/// The same answer as agent events: with its tools, and all that closes turn and run.
fn agent_events(parts: &[Part], has_messages: bool, dice: &mut Dice) -> (Vec<Value>, Vec<Value>) {
    let blocks = || {
        parts
            .iter()
            .enumerate()
            .map(|(n, part)| pi_block(n, part))
            .collect::<Vec<_>>()
    };
    let message = pi_message(blocks(), "toolUse");
    let mut stream = vec![
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
    ];
    let mut last = vec![json!({"type": "message_end", "message": message})];
    if has_messages {
        stream.push(json!({"type": "message_start", "message": pi_message(Vec::new(), "stop")}));
        let partials = dice.below(3);
        for event in answer_events(parts, "stop", partials, dice) {
            let mut update = json!({"type": "message_update", "assistantMessageEvent": event});
            if let Some(partial) = event.get("partial") {
                update["message"] = partial.clone();
            }
            stream.push(update);
        }
        stream.push(last[0].clone());
    }
    let mut results = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let Part::Call { name, input } = part else {
            continue;
        };
        let call = json!({"toolCallId": format!("call_{index}"), "toolName": name});
        let with = |kind: &str, more: Value| {
            let mut event = call.clone();
            event["type"] = json!(kind);
            event
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            event
        };
        let content = json!([{"type": "text", "text": format!("output of {index}")}]);
        let is_error = dice.flip();
        stream.push(with("tool_execution_start", json!({"args": input})));
        for n in 0..dice.below(3) {
            let so_far = json!({"content": [{"type": "text", "text": "out".repeat(n)}]});
            stream.push(with(
                "tool_execution_update",
                json!({"args": input, "partialResult": so_far}),
            ));
        }
        let ended = json!({"result": {"content": content, "details": {}}, "isError": is_error});
        stream.push(with("tool_execution_end", ended));
        let mut result = with(
            "",
            json!({"role": "toolResult", "content": content, "details": {}, "isError": is_error, "timestamp": 1_780_000_001_000_u64}),
        );
        result.as_object_mut().unwrap().remove("type");
        if has_messages {
            stream.push(json!({"type": "message_start", "message": result}));
            stream.push(json!({"type": "message_end", "message": result}));
        }
        last.push(json!({"type": "message_end", "message": result}));
        results.push(result);
    }
    stream.push(json!({"type": "turn_end", "message": message, "toolResults": results}));
    let mut messages = vec![message];
    messages.extend(results);
    stream.push(json!({"type": "agent_end", "messages": messages}));
    (stream, last)
}

proptest! {
    #![proptest_config(crate::fixtures::cases(96))]

    #[test]
    fn an_answer_by_its_events_is_the_answer(
        parts in message(), reason in reason(), partials in 0_usize..3, chance: u64,
    ) {
        let mut dice = Dice(chance);
        let stream = answer_events(&parts, reason, partials, &mut dice);
        let pauses = dice.pauses(stream.len());
        for name in ["pi", "openclaw"] {
            check(name, &stream, &[last_event(&parts, reason)], &pauses)?;
        }
    }

    #[test]
    fn a_cut_answer_shows_what_came(parts in message(), partials in 0_usize..3, chance: u64) {
        let mut dice = Dice(chance);
        let stream = answer_events(&parts, "stop", partials, &mut dice);
        let unfinished = read("pi", &stream[..stream.len() - 1], &[]);
        let entry = unfinished.entries().next().unwrap();
        prop_assert!(entry.marks.open);
        let whole = read("pi", &[last_event(&parts, "stop")], &[]);
        prop_assert_eq!(words(&unfinished), words(&whole));
        let (part, finished) = (entry.key.clone(), read("pi", &stream, &[stream.len() - 2]));
        prop_assert!(finished.find(&part).is_some(), "the key stays");
        prop_assert!(finished.entries().all(|entry| !entry.marks.open));
    }

    #[test]
    fn a_run_by_its_events_is_the_run(parts in message(), has_messages: bool, chance: u64) {
        let mut dice = Dice(chance);
        let (stream, last) = agent_events(&parts, has_messages, &mut dice);
        let pauses = dice.pauses(stream.len());
        check("pi", &stream, &last, &pauses)?;
    }

    #[test]
    fn a_chat_by_its_deltas_is_its_final_message(said in text(), whole: bool, chance: u64) {
        let mut dice = Dice(chance);
        let frame = |state: &str, text: &str, seq: usize| json!({"event": "chat", "data": {
            "runId": "r", "sessionKey": "agent:main:telegram:dm:7", "seq": seq, "state": state,
            "message": {"role": "assistant", "content": [{"type": "text", "text": text}], "timestamp": 1_740_000_000}}});
        let mut so_far = String::new();
        let mut stream = Vec::new();
        for (seq, piece) in dice.split(&said).iter().enumerate() {
            so_far.push_str(piece);
            if dice.flip() {
                let data = json!({"text": so_far, "delta": piece});
                stream.push(json!({"event": "agent", "data": {"runId": "r", "sessionKey": "agent:main:telegram:dm:7",
                    "seq": seq, "stream": "assistant", "ts": 1_740_000_000_000_u64, "data": data}}));
            } else {
                stream.push(frame("delta", if whole { &so_far } else { piece }, seq));
            }
        }
        let last = frame("final", &said, 99);
        stream.push(last.clone());
        let pauses = dice.pauses(stream.len());
        if whole && !said.trim().is_empty() {
            let unfinished = read("openclaw", &stream[..stream.len() - 1], &[]);
            prop_assert_eq!(words(&unfinished), words(&read("openclaw", std::slice::from_ref(&last), &[])));
            prop_assert!(unfinished.entries().all(|entry| entry.marks.open));
        }
        check("openclaw", &stream, &[last], &pauses)?;
    }

    #[test]
    fn partial_messages_of_claude_are_its_messages(parts in message(), chance: u64) {
        // What an answer without words cost stands in its events alone.
        proptest::prop_assume!(!parts.is_empty());
        let mut dice = Dice(chance);
        let (stream, last) = claude_events(&parts, &mut dice);
        let pauses = dice.pauses(stream.len());
        check("claude-stream-json", &stream, &last, &pauses)?;
    }

    #[test]
    fn parts_of_opencode_are_as_they_came_last(parts in message(), chance: u64) {
        let mut dice = Dice(chance);
        let (stream, last) = opencode_events(&parts, &mut dice);
        let pauses = dice.pauses(stream.len());
        check("opencode", &stream, &last, &pauses)?;
    }
}

// === Claude ===

fn claude_events(parts: &[Part], dice: &mut Dice) -> (Vec<Value>, Vec<Value>) {
    let block = |index: usize| match &parts[index] {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "c2ln"}),
        Part::Call { name, input } => {
            json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": input})
        }
    };
    let usage = json!({"input_tokens": 5, "output_tokens": 7});
    let envelope = |kind: &str, uuid: String| json!({"type": kind, "uuid": uuid, "session_id": "s", "parent_tool_use_id": null});
    let event = |number: usize, event: Value| {
        let mut line = envelope("stream_event", format!("e{number}"));
        line["event"] = event;
        line
    };
    let full = |index: usize| {
        let mut line = envelope("assistant", format!("a{index}"));
        line["message"] = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-8",
            "content": [block(index)], "usage": usage});
        line
    };
    let start = json!({"id": "msg_1", "role": "assistant", "model": "claude-opus-4-8", "content": [], "usage": usage});
    let mut stream = vec![event(0, json!({"type": "message_start", "message": start}))];
    // The API gives one block after the other; its full line comes before or after its stop.
    for (index, part) in parts.iter().enumerate() {
        let empty = match part {
            Part::Text(_) => json!({"type": "text", "text": ""}),
            Part::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
            Part::Call { name, .. } => {
                json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {}})
            }
        };
        let begun = json!({"type": "content_block_start", "index": index, "content_block": empty});
        stream.push(event(stream.len(), begun));
        let (kind, field, written) = match part {
            Part::Text(text) => ("text_delta", "text", text.clone()),
            Part::Thinking(text) => ("thinking_delta", "thinking", text.clone()),
            Part::Call { input, .. } => ("input_json_delta", "partial_json", input.to_string()),
        };
        for piece in dice.split(&written) {
            let delta = json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, field: piece}});
            stream.push(event(stream.len(), delta));
        }
        if matches!(part, Part::Thinking(_)) {
            let delta = json!({"type": "signature_delta", "signature": "c2ln"});
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            stream.push(event(stream.len(), delta));
        }
        let stop = json!({"type": "content_block_stop", "index": index});
        let is_first = dice.flip();
        if is_first {
            stream.push(full(index));
        }
        if dice.below(5) > 0 {
            stream.push(event(stream.len(), stop));
        }
        if !is_first {
            stream.push(full(index));
        }
    }
    let delta =
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage});
    stream.push(event(stream.len(), delta));
    stream.push(event(stream.len(), json!({"type": "message_stop"})));
    (stream, (0..parts.len()).map(full).collect())
}

// === OpenCode ===

fn opencode_events(parts: &[Part], dice: &mut Dice) -> (Vec<Value>, Vec<Value>) {
    let of = json!({"sessionID": "ses_1", "messageID": "msg_2"});
    let info = |completed: bool| {
        let mut time = json!({"created": 1_780_000_000_000_u64});
        if completed {
            time["completed"] = json!(1_780_000_009_000_u64);
        }
        let tokens =
            json!({"input": 3, "output": 4, "reasoning": 0, "cache": {"read": 0, "write": 0}});
        let info = json!({"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "parentID": "msg_1", "modelID": "m",
            "providerID": "p", "mode": "build", "agent": "build", "path": {"cwd": "/w", "root": "/w"}, "cost": 0.5,
            "tokens": tokens, "time": time});
        json!({"type": "message.updated", "properties": {"info": info}})
    };
    let part = |index: usize, kind: Value| {
        let mut part = of.clone();
        part["id"] = json!(format!("prt_{index}"));
        part.as_object_mut()
            .unwrap()
            .extend(kind.as_object().unwrap().clone());
        part
    };
    let event = |part: Value, delta: Option<&str>| {
        let mut properties = json!({"part": part});
        if let Some(delta) = delta {
            properties["delta"] = json!(delta);
        }
        json!({"type": "message.part.updated", "properties": properties})
    };
    let mut stream = vec![info(false)];
    let mut last = vec![info(true)];
    for (index, content) in parts.iter().enumerate() {
        let time = json!({"start": 1_780_000_001_000_u64, "end": 1_780_000_002_000_u64});
        let finished = match content {
            Part::Text(text) => part(index, json!({"type": "text", "text": text, "time": time})),
            Part::Thinking(text) => part(
                index,
                json!({"type": "reasoning", "text": text, "time": time}),
            ),
            Part::Call { name, input } => {
                let state = json!({"status": "completed", "input": input, "output": "done", "title": "t", "metadata": {}, "time": time});
                part(
                    index,
                    json!({"type": "tool", "tool": name, "callID": format!("call_{index}"), "state": state}),
                )
            }
        };
        match content {
            Part::Text(text) | Part::Thinking(text) => {
                let mut so_far = String::new();
                for piece in dice.split(text) {
                    so_far.push_str(&piece);
                    let mut growing = finished.clone();
                    growing["text"] = json!(so_far);
                    growing["time"] = json!({"start": 1_780_000_001_000_u64});
                    stream.push(event(growing, Some(&piece)));
                }
            }
            Part::Call { name, input } => {
                for state in [
                    json!({"status": "pending", "input": {}, "raw": ""}),
                    json!({"status": "running", "input": input, "metadata": {"output": "do"}, "time": {"start": 1_780_000_001_000_u64}}),
                ] {
                    let call = json!({"type": "tool", "tool": name, "callID": format!("call_{index}"), "state": state});
                    stream.push(event(part(index, call), None));
                }
            }
        }
        stream.push(event(finished.clone(), None));
        if dice.flip() {
            stream.push(stream.last().unwrap().clone());
        }
        last.push(event(finished, None));
    }
    stream.push(info(true));
    (stream, last)
}
