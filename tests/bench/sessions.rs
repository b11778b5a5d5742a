//! Generates sessions of any size in each format: turns of a prompt, some steps with thinking, a
//! call and its result, and an answer. Lines are as long as real ones, from 300 bytes to 400 KB
//! with an image.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::words::{Dice, Words};

/// Stands in the last entry of every session.
pub(crate) const LAST: &str = "LAST-ENTRY";
/// Stands in one prompt, when nine tenths of the session are written.
pub(crate) const FAR: &str = "cormorant";
/// Stands at the end of the first prompt, where no title reaches.
pub(crate) const FIRST: &str = "THE-BEGINNING";

/// How an agent writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Claude,
    ClaudeStream,
    Pi,
    Openclaw,
    Cline,
    Opencode,
    Generic,
}

impl Shape {
    pub(crate) const ALL: [Self; 7] = [
        Self::Claude,
        Self::ClaudeStream,
        Self::Pi,
        Self::Openclaw,
        Self::Cline,
        Self::Opencode,
        Self::Generic,
    ];

    /// The name of its format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::ClaudeStream => "claude-stream-json",
            Self::Pi => "pi",
            Self::Openclaw => "openclaw",
            Self::Cline => "cline",
            Self::Opencode => "opencode",
            Self::Generic => "generic",
        }
    }
}

struct Step<'w> {
    thinking: Option<&'w str>,
    text: Option<&'w str>,
    tool: usize,
    code: (&'w str, &'w str),
    output: &'w str,
    failed: bool,
}

struct Turn<'w> {
    number: usize,
    prompt: String,
    image: Option<&'w str>,
    steps: Vec<Step<'w>>,
    answer: &'w str,
}

/// Writes a session record by record.
pub(crate) struct Emitter<'w> {
    shape: Shape,
    words: &'w Words,
    dice: Dice,
    turns: usize,
    records: usize,
    ms: i64,
    is_far: bool,
}

impl<'w> Emitter<'w> {
    pub(crate) fn new(shape: Shape, words: &'w Words) -> Self {
        Self {
            shape,
            words,
            dice: Dice::new(7),
            turns: 0,
            records: 0,
            ms: 1_772_000_000_000,
            is_far: false,
        }
    }

    /// What stands before the first turn.
    pub(crate) fn head(&mut self) -> Vec<String> {
        let at = self.time();
        match self.shape {
            Shape::ClaudeStream => vec![format!(
                r#"{{"type":"system","subtype":"init","cwd":"/srv/harbour","session_id":"bench","tools":["Bash","Read"],"mcp_servers":[],"model":"claude-sonnet-4-5-20250929","permissionMode":"default","apiKeySource":"none","claude_code_version":"2.1.157","uuid":"{}"}}"#,
                self.uuid()
            )],
            Shape::Pi | Shape::Openclaw => vec![format!(
                r#"{{"type":"session","version":3,"id":"bench","timestamp":"{at}","cwd":"/srv/harbour"}}"#
            )],
            _ => Vec::new(),
        }
    }

    /// The next turn. `far` puts the word in its prompt that is searched for.
    pub(crate) fn turn(&mut self, far: bool) -> Vec<String> {
        self.turns += 1;
        let (words, dice) = (self.words, &mut self.dice);
        let mark = if far && !std::mem::replace(&mut self.is_far, true) {
            FAR
        } else {
            ""
        };
        let mut prompt = format!("[T{:06}] {mark} {}", self.turns, dice.pick(&words.prose));
        if self.turns == 1 {
            prompt = format!("{prompt} {} {FIRST}", "Read all of it first. ".repeat(8));
        }
        let image = dice.permille(8).then(|| dice.pick(&words.images));
        let steps = (0..dice.between(1, 7))
            .map(|_| Step {
                thinking: dice.permille(500).then(|| dice.pick(&words.thoughts)),
                text: dice.permille(350).then(|| dice.pick(&words.prose)),
                tool: dice.below(4),
                code: (dice.pick(&words.code), dice.pick(&words.code)),
                output: dice.pick(&words.outputs),
                failed: dice.permille(60),
            })
            .collect();
        let turn = Turn {
            number: self.turns,
            prompt,
            image,
            steps,
            answer: dice.pick(&words.answers),
        };
        self.records_of(&turn)
    }

    /// The last turn: short, so that its end and its beginning are on the screen.
    pub(crate) fn end(&mut self) -> Vec<String> {
        self.turns += 1;
        let prompt = format!("[T{:06}] Is it done?", self.turns);
        let answer = "LAST-ENTRY It is done.";
        self.records_of(&Turn {
            number: self.turns,
            prompt,
            image: None,
            steps: Vec::new(),
            answer,
        })
    }

    /// One more answer, for a session that grows.
    pub(crate) fn answer(&mut self, text: &str) -> String {
        match self.shape {
            Shape::Pi | Shape::Openclaw => {
                self.pi_assistant(&[block_of("text", "text", text)], "stop")
            }
            _ => self.claude_assistant(&[block_of("text", "text", text)], "end_turn", "main"),
        }
    }

    /// A call that starts a sub-agent, and its result.
    pub(crate) fn task(&mut self, call: &str, what: &str) -> [String; 2] {
        let input =
            format!(r#"{{"description":"{what}","prompt":"{what}","subagent_type":"Explore"}}"#);
        let block = format!(r#"{{"type":"tool_use","id":"{call}","name":"Task","input":{input}}}"#);
        let result = format!(
            r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{call}","type":"tool_result","content":"It is deep."}}]}}"#
        );
        [
            self.claude_assistant(&[block], "tool_use", call),
            self.claude_line(&result),
        ]
    }

    fn records_of(&mut self, turn: &Turn<'_>) -> Vec<String> {
        match self.shape {
            Shape::Claude => self.claude(turn),
            Shape::ClaudeStream => self.stream(turn),
            Shape::Pi | Shape::Openclaw => self.pi(turn),
            Shape::Cline => self.cline(turn),
            Shape::Opencode => self.opencode(turn),
            Shape::Generic => self.generic(turn),
        }
    }

    // === small things ===

    fn time(&mut self) -> String {
        self.ms += 200 + i64::try_from(self.dice.below(9_000)).unwrap();
        jiff::Timestamp::from_millisecond(self.ms)
            .unwrap()
            .to_string()
    }

    fn uuid(&self) -> String {
        format!("{:08x}-0000-4000-8000-{:012x}", self.turns, self.records)
    }

    // === Claude Code ===

    fn claude_line(&mut self, fields: &str) -> String {
        let parent = self.uuid();
        self.records += 1;
        let (at, uuid) = (self.time(), self.uuid());
        format!(
            r#"{{"parentUuid":"{parent}","isSidechain":false,"userType":"external","cwd":"/srv/harbour","sessionId":"bench","version":"2.1.157","gitBranch":"main",{fields},"uuid":"{uuid}","timestamp":"{at}"}}"#
        )
    }

    fn claude_assistant(&mut self, blocks: &[String], stop: &str, message: &str) -> String {
        let fields = format!(
            r#""type":"assistant","requestId":"req_{message}_{n}","message":{{{}}}"#,
            self.claude_message(blocks, stop, message),
            n = self.records,
        );
        self.claude_line(&fields)
    }

    fn claude_message(&mut self, blocks: &[String], stop: &str, message: &str) -> String {
        let (dice, n) = (&mut self.dice, self.records);
        format!(
            r#""id":"msg_{message}_{n}","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[{}],"stop_reason":"{stop}","stop_sequence":null,"usage":{{"input_tokens":3,"cache_creation_input_tokens":{},"cache_read_input_tokens":{},"output_tokens":{},"service_tier":"standard"}}"#,
            blocks.join(","),
            dice.below(9_000),
            dice.below(180_000),
            dice.below(3_000),
        )
    }

    fn claude(&mut self, turn: &Turn<'_>) -> Vec<String> {
        let prompt = &turn.prompt;
        let content = match turn.image {
            None => format!(r#""{prompt}""#),
            Some(image) => format!(
                r#"[{{"type":"text","text":"{prompt}"}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{image}"}}}}]"#
            ),
        };
        let mut lines = vec![self.claude_line(&format!(
            r#""type":"user","message":{{"role":"user","content":{content}}}"#
        ))];
        for (place, step) in turn.steps.iter().enumerate() {
            let id = call_id(turn, place);
            for block in said(step) {
                lines.push(self.claude_assistant(&[block], "tool_use", &id));
            }
            let (name, input) = tool(step);
            let call =
                format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{{input}}}}}"#);
            lines.push(self.claude_assistant(&[call], "tool_use", &id));
            let (output, failed) = (step.output, step.failed);
            let details = match step.tool {
                0 => format!(
                    r#"{{"stdout":"{output}","stderr":"","interrupted":false,"isImage":false}}"#
                ),
                1 => format!(
                    r#"{{"type":"text","file":{{"filePath":"/srv/harbour/src/tide.rs","content":"{output}","numLines":40,"startLine":1,"totalLines":400}}}}"#
                ),
                _ => format!(
                    r#"{{"filePath":"/srv/harbour/src/tide.rs","content":"{}"}}"#,
                    step.code.0
                ),
            };
            lines.push(self.claude_line(&format!(
                r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":"{output}","is_error":{failed}}}]}},"toolUseResult":{details}"#
            )));
        }
        lines.push(self.claude_assistant(
            &[block_of("text", "text", turn.answer)],
            "end_turn",
            "end",
        ));
        if turn.number.is_multiple_of(90) {
            lines.push(self.claude_line(
                r#""type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":155000}"#,
            ));
        }
        lines
    }

    // === what `claude -p --output-format stream-json` prints ===

    fn stream_line(&mut self, fields: &str) -> String {
        self.records += 1;
        format!(
            r#"{{{fields},"parent_tool_use_id":null,"session_id":"bench","uuid":"{}"}}"#,
            self.uuid()
        )
    }

    fn stream_answer(&mut self, turn: &Turn<'_>, lines: &mut Vec<String>) {
        let message =
            self.claude_message(&[block_of("text", "text", &turn.prompt)], "end_turn", "end");
        let event = |what: &str| format!(r#""type":"stream_event","event":{{{what}}}"#);
        let begun = message.replacen("\"content\":[{", "\"content\":[],\"began\":[{", 1);
        lines.push(self.stream_line(&event(&format!(
            r#""type":"message_start","message":{{{begun}}}"#
        ))));
        lines.push(self.stream_line(&event(
            r#""type":"content_block_start","index":0,"content_block":{"type":"text","text":""}"#,
        )));
        for word in turn.prompt.split(' ') {
            lines.push(self.stream_line(&event(&format!(
                r#""type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{word} "}}"#
            ))));
        }
        lines.push(self.stream_line(&event(r#""type":"content_block_stop","index":0"#)));
        lines.push(self.stream_line(&event(r#""type":"message_stop""#)));
        lines.push(self.stream_line(&format!(r#""type":"assistant","message":{{{message}}}"#)));
    }

    fn stream(&mut self, turn: &Turn<'_>) -> Vec<String> {
        let mut lines = Vec::new();
        self.stream_answer(turn, &mut lines);
        for (place, step) in turn.steps.iter().enumerate() {
            let id = call_id(turn, place);
            let (name, input) = tool(step);
            let call =
                format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{{input}}}}}"#);
            for block in said(step).into_iter().chain([call]) {
                let message = self.claude_message(&[block], "tool_use", &id);
                lines.push(
                    self.stream_line(&format!(r#""type":"assistant","message":{{{message}}}"#)),
                );
            }
            let (output, failed) = (step.output, step.failed);
            lines.push(self.stream_line(&format!(
                r#""type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":"{output}","is_error":{failed}}}]}}"#
            )));
        }
        lines
    }

    // === pi, and OpenClaw in pi's container ===

    fn pi_line(&mut self, message: &str) -> String {
        let parent = self.records;
        self.records += 1;
        let at = self.time();
        format!(
            r#"{{"type":"message","id":"{:08x}","parentId":"{parent:08x}","timestamp":"{at}","message":{{{message},"timestamp":{}}}}}"#,
            self.records, self.ms
        )
    }

    fn pi_assistant(&mut self, blocks: &[String], stop: &str) -> String {
        let dice = &mut self.dice;
        let message = format!(
            r#""role":"assistant","content":[{}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{{"input":3,"output":{},"cacheRead":{},"cacheWrite":{},"totalTokens":1,"cost":{{"input":0.001,"output":0.02,"cacheRead":0.003,"cacheWrite":0.01,"total":0.034}}}},"stopReason":"{stop}""#,
            blocks.join(","),
            dice.below(3_000),
            dice.below(180_000),
            dice.below(9_000),
        );
        self.pi_line(&message)
    }

    fn pi(&mut self, turn: &Turn<'_>) -> Vec<String> {
        let is_openclaw = self.shape == Shape::Openclaw;
        let sender = if is_openclaw {
            r#"Sender (untrusted metadata):\n```json\n{\"name\":\"Ann\",\"id\":\"7\"}\n```\n\n[Sun 2026-03-08 22:00 GMT+9] "#
        } else {
            ""
        };
        let mut blocks = vec![block_of(
            "text",
            "text",
            &format!("{sender}{}", turn.prompt),
        )];
        let picture =
            |image| format!(r#"{{"type":"image","data":"{image}","mimeType":"image/png"}}"#);
        blocks.extend(turn.image.map(picture));
        let mut lines = vec![self.pi_line(&format!(
            r#""role":"user","content":[{}]"#,
            blocks.join(",")
        ))];
        for (place, step) in turn.steps.iter().enumerate() {
            let id = call_id(turn, place);
            let (_, input) = tool(step);
            let name = ["bash", "read", "edit", "grep"][step.tool];
            let mut blocks = said(step);
            blocks.push(format!(
                r#"{{"type":"toolCall","id":"{id}","name":"{name}","arguments":{{{input}}}}}"#
            ));
            lines.push(self.pi_assistant(&blocks, "toolUse"));
            let (output, failed) = (step.output, step.failed);
            let details = match (is_openclaw, step.tool) {
                (true, 0) => format!(
                    r#""details":{{"status":"completed","exitCode":0,"durationMs":812,"aggregated":"{output}","cwd":"/srv/harbour"}},"#
                ),
                (_, 2) => format!(r#""details":{{"diff":"{}"}},"#, step.code.0),
                _ => String::new(),
            };
            lines.push(self.pi_line(&format!(
                r#""role":"toolResult","toolCallId":"{id}","toolName":"{name}","content":[{{"type":"text","text":"{output}"}}],{details}"isError":{failed}"#
            )));
        }
        lines.push(self.pi_assistant(&[block_of("text", "text", turn.answer)], "stop"));
        lines
    }

    // === Cline: elements of a document's array ===

    fn cline(&mut self, turn: &Turn<'_>) -> Vec<String> {
        let mut elements = Vec::new();
        let message = |emitter: &mut Self, role: &str, blocks: &[String]| {
            emitter.records += 1;
            emitter.ms += 4_000;
            let facts = if role == "assistant" {
                r#""modelInfo":{"id":"claude-sonnet-4-6","provider":"anthropic"},"metrics":{"inputTokens":21,"outputTokens":80,"cacheReadTokens":3000,"cacheWriteTokens":1,"cost":0.013},"#
            } else {
                ""
            };
            format!(
                r#"{{"id":"msg_{}","role":"{role}","ts":{},{facts}"content":[{}]}}"#,
                emitter.records,
                emitter.ms,
                blocks.join(",")
            )
        };
        elements.push(message(
            self,
            "user",
            &[block_of("text", "text", &turn.prompt)],
        ));
        for (place, step) in turn.steps.iter().enumerate() {
            let id = call_id(turn, place);
            let name = ["run_commands", "read_files", "editor", "search_codebase"][step.tool];
            let (_, input) = tool(step);
            let mut blocks = said(step);
            blocks.push(format!(
                r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{{input}}}}}"#
            ));
            elements.push(message(self, "assistant", &blocks));
            let (output, failed) = (step.output, step.failed);
            let result = format!(
                r#"{{"type":"tool_result","tool_use_id":"{id}","name":"{name}","content":"{output}","is_error":{failed}}}"#
            );
            elements.push(message(self, "user", &[result]));
        }
        elements.push(message(
            self,
            "assistant",
            &[block_of("text", "text", turn.answer)],
        ));
        elements
    }

    // === OpenCode: messages and parts, as its folder and its database hold them ===

    fn opencode(&mut self, turn: &Turn<'_>) -> Vec<String> {
        let mut records = Vec::new();
        records.push(self.opencode_message("user"));
        records.push(self.opencode_part(&format!(r#""type":"text","text":"{}""#, turn.prompt)));
        records.push(self.opencode_message("assistant"));
        for (place, step) in turn.steps.iter().enumerate() {
            let id = call_id(turn, place);
            let name = ["bash", "read", "edit", "grep"][step.tool];
            let (_, input) = tool(step);
            if let Some(text) = step.thinking {
                let time = format!(r#""time":{{"start":{0},"end":{0}}}"#, self.ms);
                records.push(
                    self.opencode_part(&format!(r#""type":"reasoning","text":"{text}",{time}"#)),
                );
            }
            if let Some(text) = step.text {
                records.push(self.opencode_part(&format!(r#""type":"text","text":"{text}""#)));
            }
            records.push(self.opencode_part(&format!(
                r#""type":"tool","tool":"{name}","callID":"{id}","state":{{"status":"completed","input":{{{input}}},"output":"{}","title":"tide","metadata":{{"exit":0}},"time":{{"start":{ms},"end":{ms}}}}}"#,
                step.output,
                ms = self.ms,
            )));
        }
        records.push(self.opencode_part(&format!(r#""type":"text","text":"{}""#, turn.answer)));
        records
    }

    fn opencode_message(&mut self, role: &str) -> String {
        self.records += 1;
        self.ms += 4_000;
        let facts = if role == "assistant" {
            r#""parentID":"msg_0","modelID":"claude-sonnet-4-5","providerID":"anthropic","mode":"build","agent":"build","path":{"cwd":"/srv/harbour","root":"/srv/harbour"},"cost":0.01,"tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"read":0,"write":0}},"finish":"stop","#
        } else {
            ""
        };
        format!(
            r#"{{"id":"msg_{:010}","sessionID":"ses_bench","role":"{role}",{facts}"time":{{"created":{ms},"completed":{ms}}}}}"#,
            self.records,
            ms = self.ms,
        )
    }

    /// A part of the message that came last; ids rise with the time.
    fn opencode_part(&mut self, fields: &str) -> String {
        self.ms += 1_000;
        format!(
            r#"{{"id":"prt_{:016}","messageID":"msg_{:010}","sessionID":"ses_bench",{fields}}}"#,
            self.ms, self.records
        )
    }

    // === anything else ===

    fn generic(&mut self, turn: &Turn<'_>) -> Vec<String> {
        let mut said = |sender: &str, text: &str| {
            let at = self.time();
            format!(r#"{{"sender":"{sender}","text":"{text}","created_at":"{at}"}}"#)
        };
        let mut lines = vec![said("human", &turn.prompt)];
        lines.extend(turn.steps.iter().map(|step| said("tool", step.output)));
        lines.push(said("bot", turn.answer));
        lines
    }
}

fn call_id(turn: &Turn<'_>, place: usize) -> String {
    format!("toolu_{:06}{place:02}", turn.number)
}

/// What is said before a call.
fn said(step: &Step<'_>) -> Vec<String> {
    let thinking = step.thinking.map(|text| {
        format!(
            r#"{{"type":"thinking","thinking":"{text}","signature":"{}"}}"#,
            "c2lnbmF0dXJl".repeat(40)
        )
    });
    thinking
        .into_iter()
        .chain(step.text.map(|text| block_of("text", "text", text)))
        .collect()
}

fn block_of(kind: &str, field: &str, text: &str) -> String {
    format!(r#"{{"type":"{kind}","{field}":"{text}"}}"#)
}

fn tool(step: &Step<'_>) -> (&'static str, String) {
    let path = r#""file_path":"/srv/harbour/src/tide.rs""#;
    match step.tool {
        0 => (
            "Bash",
            r#""command":"cargo test tides -- --nocapture 2>&1 | tail -n 50","description":"Run the tests""#
                .to_owned(),
        ),
        1 => ("Read", format!(r#"{path},"offset":120,"limit":200"#)),
        2 => (
            "Edit",
            format!(
                r#"{path},"old_string":"{}","new_string":"{}","replace_all":false"#,
                step.code.0, step.code.1
            ),
        ),
        _ => ("Grep", r#""pattern":"spring_tide","path":"/srv/harbour","output_mode":"content""#.to_owned()),
    }
}

/// The records of a session of about so many bytes, for shapes that are no line files too.
pub(crate) fn records(shape: Shape, bytes: usize, words: &Words) -> Vec<String> {
    let mut emitter = Emitter::new(shape, words);
    let mut all = emitter.head();
    let mut size = 0;
    while size < bytes {
        let turn = emitter.turn(size > bytes / 10 * 9);
        size += turn.iter().map(|record| record.len() + 1).sum::<usize>();
        all.extend(turn);
    }
    all.extend(emitter.end());
    all
}

/// A line file of about so many megabytes, unless it is there from an earlier run.
pub(crate) fn file(folder: &Path, shape: Shape, megabytes: u64, words: &Words) -> PathBuf {
    let path = folder.join(format!("{}-{megabytes}.jsonl", shape.name()));
    let wanted = megabytes * 1_000_000;
    if fs::metadata(&path).is_ok_and(|found| found.len() >= wanted) {
        return path;
    }
    let half = path.with_extension("half");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&half).unwrap());
    let mut emitter = Emitter::new(shape, words);
    let mut size = 0;
    let mut write = |records: Vec<String>, size: &mut u64| {
        for record in records {
            *size += record.len() as u64 + 1;
            writeln!(out, "{record}").unwrap();
        }
    };
    write(emitter.head(), &mut size);
    while size < wanted {
        write(emitter.turn(size > wanted / 10 * 9), &mut size);
    }
    write(emitter.end(), &mut size);
    out.flush().unwrap();
    fs::rename(half, &path).unwrap();
    path
}
