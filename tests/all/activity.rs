//! Tests of the activity of an agent, derived from the last records of its session, in every
//! format.

use std::fs;

use serde_json::{Value, json};
use tv::analysis::activity::{Activity, judge};
use tv::ingest::Target;
use tv::model::timestamp::Timestamp;

use crate::fixtures;

/// When the last record of each session was written: 2026-05-01T10:00:09Z.
const LAST: i64 = 1_777_629_609_000;

/// What is judged so many milliseconds after the last record of a file.
fn judged(name: &str, text: &str, after: i64) -> Activity {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let session = fixtures::read(&Target {
        path,
        session: None,
    });
    judge(&session.transcript, None, Timestamp(LAST + after))
}

/// What is judged a minute after the last record of a file.
fn of(name: &str, text: &str) -> Activity {
    judged(name, text, 60_000)
}

/// What is judged a second after it.
fn soon(name: &str, text: &str) -> Activity {
    judged(name, text, 1_000)
}

fn lines(records: &[Value]) -> String {
    records
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n")
        + "\n"
}

fn at(second: usize) -> String {
    format!("2026-05-01T10:00:{second:02}.000Z")
}

/// A session of Claude Code: a prompt, then these messages with their reasons to stop.
fn claude(messages: &[(&str, Value, Option<&str>)]) -> Activity {
    let prompt = ("user", json!("do it"), None);
    let messages = std::iter::once(&prompt).chain(messages);
    let records: Vec<Value> = messages
        .enumerate()
        .map(|(n, (role, content, stop))| {
            let mut message = json!({"role": role, "content": content});
            if *role == "assistant" {
                message["id"] = json!(format!("m{n}"));
                message["model"] = json!("claude-opus-4-6");
                message["stop_reason"] = json!(stop);
            }
            let parent = n.checked_sub(1).map(|before| format!("u{before}"));
            json!({"type": role, "uuid": format!("u{n}"), "parentUuid": parent, "isSidechain": false,
                "sessionId": "s", "cwd": "/w", "version": "2.1.0", "timestamp": at(n), "message": message})
        })
        .collect();
    of("s.jsonl", &lines(&records))
}

#[test]
fn a_command_of_the_user_leaves_the_work_where_it_stood() {
    let answer = (
        "assistant",
        json!([{"type": "text", "text": "done"}]),
        Some("end_turn"),
    );
    let calls = (
        "assistant",
        json!([{"type": "text", "text": "I look"}]),
        Some("tool_use"),
    );
    let typed = |name: &str| {
        let text = format!(
            "<command-name>/{name}</command-name>\n<command-message>{name}</command-message>"
        );
        ("user", json!(text), None)
    };
    let put_out = |text: &str| {
        (
            "user",
            json!(format!(
                "<local-command-stdout>{text}</local-command-stdout>"
            )),
            None,
        )
    };
    let shell = ("user", json!("<bash-input>ls</bash-input>"), None);
    let listed = (
        "user",
        json!("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"),
        None,
    );
    assert_eq!(
        claude(&[answer.clone(), typed("cost"), put_out("Total cost: $0.55")]).word(),
        "waiting"
    );
    assert_eq!(
        claude(&[answer.clone(), typed("clear"), put_out("")]).word(),
        "waiting"
    );
    assert_eq!(claude(&[answer.clone(), shell, listed]).word(), "waiting");
    assert_eq!(
        claude(&[calls, typed("cost"), put_out("Total cost: $0.55")]).word(),
        "model"
    );
    assert_eq!(
        claude(&[answer, typed("plan")]).word(),
        "model",
        "a command that the model is to carry out"
    );
}

#[test]
fn an_answer_of_nothing_is_an_answer() {
    for content in [
        json!([]),
        json!([{"type": "text", "text": ""}]),
        json!([{"type": "thinking", "thinking": ""}]),
    ] {
        assert_eq!(
            claude(&[("assistant", content.clone(), Some("end_turn"))]).word(),
            "waiting",
            "{content}"
        );
        assert_eq!(
            claude(&[("assistant", content.clone(), None)]).word(),
            "model",
            "{content}"
        );
    }
    let pi = |content: Value, stop: &str| {
        let head = json!({"type": "session", "version": 3, "id": "aaaa1111-0000-4000-8000-000000000001",
            "timestamp": at(0), "cwd": "/w"});
        let asked = json!({"role": "user", "content": [{"type": "text", "text": "do it"}], "timestamp": LAST});
        let said = json!({"role": "assistant", "content": content, "api": "anthropic-messages",
            "provider": "anthropic", "model": "claude-opus-4-6", "stopReason": stop, "timestamp": LAST});
        let message = |id: &str, parent: Value, message: Value| json!({"type": "message", "id": id, "parentId": parent, "timestamp": at(9), "message": message});
        let records = [
            head,
            message("00000001", Value::Null, asked),
            message("00000002", json!("00000001"), said),
        ];
        of(
            "2026-05-01T10-00-00-000Z_aaaa1111-0000-4000-8000-000000000001.jsonl",
            &lines(&records),
        )
    };
    let thought = json!([{"type": "thinking", "thinking": "x"}]);
    assert_eq!(pi(json!([]), "stop").word(), "waiting");
    assert_eq!(pi(thought.clone(), "stop").word(), "waiting");
    assert_eq!(pi(thought, "toolUse").word(), "model");
}

#[test]
fn a_turn_that_is_over_is_over_whatever_was_said() {
    let codex = |items: &[Value]| {
        let meta = json!({"id": "019fa8f6-0000-7000-8000-0000000000b8", "timestamp": at(0), "cwd": "/w",
            "originator": "codex_cli_rs", "cli_version": "0.146.0", "source": "cli"});
        let asked = json!({"type": "user_message", "message": "do it", "images": []});
        let head = [
            json!({"timestamp": at(0), "type": "session_meta", "payload": meta}),
            json!({"timestamp": at(1), "type": "event_msg", "payload": asked}),
        ];
        let name = "rollout-2026-05-01T10-00-00-019fa8f6-0000-7000-8000-0000000000b8.jsonl";
        of(name, &lines(&[&head, items].concat()))
    };
    let call = json!({"timestamp": at(2), "type": "response_item", "payload":
        {"type": "function_call", "name": "shell_command", "arguments": "{\"command\": \"ls\"}", "call_id": "a"}});
    let over = json!({"timestamp": at(9), "type": "event_msg", "payload":
        {"type": "task_complete", "turn_id": "t1", "last_agent_message": null, "duration_ms": 1000}});
    assert_eq!(codex(&[]).word(), "model");
    assert_eq!(codex(std::slice::from_ref(&over)).word(), "waiting");
    assert_eq!(codex(std::slice::from_ref(&call)).word(), "tool");
    assert_eq!(codex(&[call, over]).word(), "waiting");

    let kimi = |kinds: &[&str]| {
        let records: Vec<Value> =
            std::iter::once(json!({"type": "metadata", "protocol_version": "1.10"}))
                .chain(kinds.iter().map(|kind| {
                    json!({"timestamp": 1_777_629_609.0, "message":
                    {"type": kind, "payload": {"user_input": "do it", "n": 1}}})
                }))
                .collect();
        of("sess/wire.jsonl", &lines(&records))
    };
    assert_eq!(kimi(&["TurnBegin", "StepBegin"]).word(), "model");
    assert_eq!(
        kimi(&["TurnBegin", "StepBegin", "TurnEnd"]).word(),
        "waiting"
    );
}

/// A session of OpenCode with a prompt and an answer of these facts and parts.
fn opencode(facts: &Value, parts: &[Value]) -> Activity {
    let mut info = json!({"id": "msg_2", "sessionID": "ses_9", "role": "assistant", "parentID": "msg_1",
        "modelID": "m", "providerID": "p", "mode": "build", "path": {"cwd": "/w", "root": "/"}, "cost": 0,
        "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
    for (name, value) in facts.as_object().unwrap() {
        info[name] = value.clone();
    }
    let part = |(n, part): (usize, &Value)| {
        let mut part = part.clone();
        part["id"] = json!(format!("prt_2_{n}"));
        (part["messageID"], part["sessionID"]) = (json!("msg_2"), json!("ses_9"));
        part
    };
    let parts: Vec<Value> = parts.iter().enumerate().map(part).collect();
    let asked = json!({"id": "prt_1", "messageID": "msg_1", "sessionID": "ses_9", "type": "text", "text": "do it"});
    let export = json!({
        "info": {"id": "ses_9", "projectID": "p", "directory": "/w", "title": "T", "version": "1.16.0",
            "time": {"created": LAST - 9000, "updated": LAST}},
        "messages": [
            {"info": {"id": "msg_1", "sessionID": "ses_9", "role": "user", "time": {"created": LAST - 8000}},
                "parts": [asked]},
            {"info": info, "parts": parts},
        ]
    });
    of("export.json", &export.to_string())
}

#[test]
fn a_tool_that_runs_is_no_model_that_writes() {
    let ended = json!({"time": {"created": LAST, "completed": LAST}});
    let bash =
        |state: Value| json!({"type": "tool", "tool": "bash", "callID": "c1", "state": state});
    let running =
        bash(json!({"status": "running", "input": {"command": "ls"}, "time": {"start": LAST}}));
    let written = bash(json!({"status": "pending", "input": {}, "raw": "{\"comm"}));
    let done = bash(
        json!({"status": "completed", "input": {"command": "ls"}, "output": "a", "title": "",
        "metadata": {"output": "a"}, "time": {"start": LAST, "end": LAST}}),
    );
    let open = json!({"time": {"created": LAST}});
    let stopped = json!({"time": {"created": LAST, "completed": LAST}, "finish": "stop"});
    let step = json!({"type": "step-start"});
    assert_eq!(opencode(&open, &[step.clone(), running]).word(), "tool");
    assert_eq!(opencode(&open, &[step.clone(), written]).word(), "model");
    assert_eq!(
        opencode(&stopped, &[]).word(),
        "waiting",
        "it had nothing to say"
    );
    assert_eq!(opencode(&ended, &[step, done.clone()]).word(), "model");
    assert_eq!(
        opencode(&ended, &[done]).word(),
        "waiting",
        "the user ran it, the model asked for nothing"
    );
}

#[test]
fn a_panel_that_asks_waits_for_permission() {
    let panel = |messages: &[(&str, &str, &str)]| {
        let task = ("say", "task", "do it");
        let request = (
            "say",
            "api_req_started",
            "{\"request\":\"...\",\"tokensIn\":1,\"tokensOut\":1}",
        );
        let messages = [&[task, request], messages].concat();
        let records: Vec<Value> = messages
            .iter()
            .zip(LAST - 9_000..)
            .map(|((class, kind, text), ts)| json!({"ts": ts, "type": class, (*class): kind, "text": text}))
            .collect();
        of(
            "1777629600000/ui_messages.json",
            &Value::Array(records).to_string(),
        )
    };
    let tool = "{\"tool\":\"editedExistingFile\",\"path\":\"a\",\"diff\":\"x\"}";
    for asked in [("ask", "command", "rm x"), ("ask", "tool", tool)] {
        let Activity::Waiting { what, .. } = panel(&[asked]) else {
            panic!("{asked:?}")
        };
        assert!(what.starts_with("permission: "), "{what}");
        let answered = panel(&[
            asked,
            (
                "say",
                "api_req_started",
                "{\"request\":\"[x] Result:\\n\\nok\"}",
            ),
        ]);
        assert_eq!(answered.word(), "model", "{asked:?}");
    }
    assert_eq!(
        panel(&[("say", "command", "rm x")]).word(),
        "tool",
        "nobody is asked"
    );
}

/// A second after the last record of a session of Copilot: its start, a prompt, then these events.
fn copilot(events: &[(&str, Value)]) -> Activity {
    let head = [
        (
            "session.start",
            json!({"sessionId": "c1", "producer": "copilot-agent", "context": {"cwd": "/w"}}),
        ),
        ("user.message", json!({"content": "do it"})),
        ("assistant.turn_start", json!({"turnId": "0"})),
    ];
    let records: Vec<Value> = head
        .iter()
        .chain(events)
        .enumerate()
        .map(|(n, (kind, data))| {
            json!({"type": kind, "data": data, "id": format!("e{n}"), "timestamp": at(n), "parentId": null})
        })
        .collect();
    soon("session-state/c1/events.jsonl", &lines(&records))
}

#[test]
fn a_final_answer_is_waited_behind_at_once() {
    let said = |calls: Value| {
        (
            "assistant.message",
            json!({"messageId": "m1", "content": "Done.", "toolRequests": calls}),
        )
    };
    let call = said(json!([{"toolCallId": "t1", "name": "bash", "arguments": {"command": "ls"}}]));
    let result = (
        "tool.execution_complete",
        json!({"toolCallId": "t1", "success": true, "result": {"content": "a"}}),
    );
    let turn_ends = ("assistant.turn_end", json!({"turnId": "0"}));
    let checked = ("session.usage_checkpoint", json!({"totalNanoAiu": 1}));
    let task_ends = (
        "session.task_complete",
        json!({"summary": "All is done.", "success": true}),
    );
    assert_eq!(
        copilot(&[said(json!([])), turn_ends.clone(), checked]).word(),
        "waiting"
    );
    assert_eq!(
        copilot(&[call.clone(), result.clone(), turn_ends.clone()]).word(),
        "model",
        "each request ends a turn"
    );
    assert_eq!(
        copilot(&[call.clone(), result, task_ends, turn_ends]).word(),
        "waiting"
    );
    assert_eq!(copilot(&[call]).word(), "tool");

    let gemini = |content: &str, calls: Value| {
        let head = json!({"sessionId": "aaaaaaaa-0000-4000-8000-000000000001", "projectHash": "p", "startTime": at(0)});
        let asked =
            json!({"id": "1", "timestamp": at(1), "type": "user", "content": [{"text": "do it"}]});
        let said = json!({"id": "2", "timestamp": at(2), "type": "gemini", "content": content, "model": "m", "toolCalls": calls});
        soon(
            "session-2026-05-01T10-00-aaaaaaaa.jsonl",
            &lines(&[head, asked, said]),
        )
    };
    let ran = json!([{"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}, "status": "success",
        "result": [{"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": "a"}}}]}]);
    assert_eq!(gemini("Done.", json!([])).word(), "waiting");
    assert_eq!(gemini("I look:", ran).word(), "model");

    let qwen = |part: Value| {
        let record = |n: usize, kind: &str, part: Value| {
            json!({"uuid": format!("{n}"), "parentUuid": null, "sessionId": "q1", "cwd": "/w", "version": "0.20.0",
                "timestamp": at(n), "type": kind, "message": {"role": kind, "parts": [part]}})
        };
        let asked = record(1, "user", json!({"text": "do it"}));
        let measured = json!({"uuid": "3", "sessionId": "q1", "timestamp": at(3), "type": "system",
            "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {"event.name": "qwen-code.api_response"}}});
        soon(
            "chats/q1.jsonl",
            &lines(&[asked, record(2, "assistant", part), measured]),
        )
    };
    assert_eq!(qwen(json!({"text": "Done."})).word(), "waiting");
    assert_eq!(
        qwen(json!({"functionCall": {"id": "c1", "name": "ls", "args": {}}})).word(),
        "tool"
    );

    let vibe = |content: &str| {
        let asked = json!({"role": "user", "content": "do it", "message_id": "1"});
        let said = json!({"role": "assistant", "content": content, "message_id": "2"});
        soon(
            "session_20260501_100000_0e000000/messages.jsonl",
            &lines(&[asked, said]),
        )
    };
    assert_eq!(vibe("Done.").word(), "waiting");

    let cline = |metrics: Value| {
        let asked = json!({"id": "m1", "role": "user", "content": [{"type": "text", "text": "do it"}], "ts": LAST - 9_000});
        let said = json!({"id": "m2", "role": "assistant", "content": [{"type": "text", "text": "Done."}], "ts": LAST, "metrics": metrics});
        let whole = json!({"version": 1, "agent": "lead", "sessionId": "1777629600000_abcde", "messages": [asked, said]});
        soon("1777629600000_abcde.messages.json", &whole.to_string())
    };
    assert_eq!(
        cline(json!({"inputTokens": 1, "outputTokens": 2})).word(),
        "waiting"
    );
    assert_eq!(
        cline(Value::Null).word(),
        "model",
        "only the last answer of a turn has them"
    );
}

#[test]
fn what_the_user_was_asked_is_waited_for_until_it_is_answered() {
    let call = (
        "assistant.message",
        json!({"messageId": "m1", "content": "", "toolRequests": [
        {"toolCallId": "t1", "name": "bash", "arguments": {"command": "ls"}},
        {"toolCallId": "t2", "name": "bash", "arguments": {"command": "pwd"}}]}),
    );
    let asked = |id: &str, command: &str| {
        let request = json!({"kind": "shell", "toolCallId": "t1", "fullCommandText": command});
        (
            "permission.requested",
            json!({"requestId": id, "permissionRequest": request}),
        )
    };
    let answered = |id: &str| {
        (
            "permission.completed",
            json!({"requestId": id, "result": {"kind": "approved"}}),
        )
    };
    let waits = |events: &[(&str, Value)]| match copilot(events) {
        Activity::Waiting { what, .. } => what.to_string(),
        other => other.word().to_owned(),
    };
    let both = [
        call,
        asked("p1", "ls"),
        asked("p2", "pwd"),
        answered("p2"),
        answered("p1"),
    ];
    assert_eq!(waits(&both[..2]), "permission: ls");
    assert_eq!(waits(&both[..3]), "permission: pwd");
    assert_eq!(
        waits(&both[..4]),
        "permission: ls",
        "the other one is still open"
    );
    assert_eq!(waits(&both), "tool");
    let question = (
        "user_input.requested",
        json!({"requestId": "q1", "question": "Which one?"}),
    );
    assert_eq!(waits(std::slice::from_ref(&question)), "Which one?");
    assert_eq!(
        waits(&[
            question,
            (
                "user_input.completed",
                json!({"requestId": "q1", "answer": "b"})
            )
        ]),
        "model"
    );

    let kiro = |count: usize| {
        let folder =
            fixtures::root().join("kiro/sess_4b000000-0000-4000-8000-000000000001/messages.jsonl");
        let text = fs::read_to_string(folder).unwrap();
        let begun: Vec<String> = text
            .lines()
            .take(count)
            .map(|line| line.replace("2026-09-03T12:00", "2026-05-01T10:00"))
            .collect();
        soon(
            "sess_4b000000-0000-4000-8000-000000000001/messages.jsonl",
            &begun.join("\n"),
        )
    };
    let Activity::Waiting { what, .. } = kiro(7) else {
        panic!("an approval is open")
    };
    assert_eq!(what.as_str(), "permission: run lamps --count");
    assert_eq!(kiro(8).word(), "tool");
}
