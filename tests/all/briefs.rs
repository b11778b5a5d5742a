//! Tests of briefs, over sessions whose content is known exactly: no statement of a brief is false.

use std::process::Command;

use serde_json::{Value, json};

/// A session of Claude Code that grows call by call.
struct Session {
    lines: Vec<String>,
}

impl Session {
    fn new() -> Self {
        let mut session = Self { lines: Vec::new() };
        session.record(
            "user",
            "u0",
            json!({"role": "user", "content": "Mend the lamp"}),
        );
        session
    }

    fn record(&mut self, kind: &str, uuid: &str, message: Value) {
        let n = self.lines.len();
        let at = format!("2026-05-01T10:{:02}:{:02}Z", n / 60, n % 60);
        let record = json!({"type": kind, "uuid": uuid, "parentUuid": null, "sessionId": "s", "timestamp": at,
            "cwd": "/w", "version": "2.0.0", "message": message});
        self.lines.push(record.to_string());
    }

    fn call(&mut self, tool: &str, input: Value, output: &str, is_error: bool) -> &mut Self {
        let n = self.lines.len();
        let id = format!("toolu_{n}");
        let content = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        self.said(&format!("a{n}"), content);
        let content = json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error}]);
        self.record(
            "user",
            &format!("r{n}"),
            json!({"role": "user", "content": content}),
        );
        self
    }

    fn said(&mut self, uuid: &str, content: Value) {
        let message = json!({"id": format!("m{uuid}"), "role": "assistant", "model": "claude-opus-4-6",
            "content": content});
        self.record("assistant", uuid, message);
    }

    fn run(&mut self, command: &str, output: &str) -> &mut Self {
        self.call("Bash", json!({ "command": command }), output, false)
    }

    fn fails(&mut self, command: &str, output: &str) -> &mut Self {
        self.call("Bash", json!({ "command": command }), output, true)
    }

    fn is_interrupted(&mut self, command: &str, output: &str) -> &mut Self {
        self.run(command, output);
        let mut record: Value = serde_json::from_str(&self.lines.pop().unwrap()).unwrap();
        record["toolUseResult"] =
            json!({"stdout": output, "stderr": "", "interrupted": true, "isImage": false});
        self.lines.push(record.to_string());
        self
    }

    fn edit(&mut self, old: &str, new: &str) -> &mut Self {
        let input = json!({"file_path": "/w/a.rs", "old_string": old, "new_string": new});
        self.call("Edit", input, "updated", false)
    }

    /// The brief with this last answer.
    fn brief(&mut self, answer: &str) -> Value {
        self.said("z", json!([{"type": "text", "text": answer}]));
        brief_of("s.jsonl", &(self.lines.join("\n") + "\n"))
    }
}

/// The brief of a file with this name and text.
fn brief_of(name: &str, text: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tv"))
        .args(["brief", "--json"])
        .arg(&path)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no brief: {}", String::from_utf8_lossy(&output.stderr)))
}

/// A thread of Codex with these items, and a last answer.
fn codex(items: &[Value], answer: &str) -> Value {
    let meta = json!({"id": "019fa8f6-0000-7000-8000-0000000000b7", "timestamp": "2026-11-20T10:00:01.000Z",
        "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.146.0", "source": "cli"});
    let user = json!({"type": "user_message", "message": "do it", "images": []});
    let said = json!({"type": "message", "role": "assistant", "phase": "final_answer",
        "content": [{"type": "output_text", "text": answer}]});
    let mut lines = vec![("session_meta", &meta), ("event_msg", &user)];
    lines.extend(items.iter().map(|item| ("response_item", item)));
    lines.push(("response_item", &said));
    let line = |(n, (kind, payload)): (usize, (&str, &Value))| {
        json!({"timestamp": format!("2026-11-20T10:00:{n:02}.000Z"), "type": kind, "payload": payload})
            .to_string()
    };
    let lines: Vec<String> = lines.into_iter().enumerate().map(line).collect();
    brief_of(
        "rollout-2026-11-20T10-00-00-019fa8f6-0000-7000-8000-0000000000b7.jsonl",
        &(lines.join("\n") + "\n"),
    )
}

fn codex_call(id: &str, name: &str, arguments: &Value, output: &str) -> [Value; 2] {
    [
        json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id}),
        json!({"type": "function_call_output", "call_id": id, "output": output}),
    ]
}

fn codex_script(id: &str, code: &str, outputs: &[&str]) -> [Value; 2] {
    let outputs: Vec<Value> = outputs
        .iter()
        .map(|text| json!({"type": "input_text", "text": text}))
        .collect();
    [
        json!({"type": "custom_tool_call", "call_id": id, "name": "exec", "status": "completed", "input": code}),
        json!({"type": "custom_tool_call_output", "call_id": id, "output": outputs}),
    ]
}

fn failed_of(brief: &Value) -> Vec<(&str, bool)> {
    let failed = brief["failed"].as_array().unwrap().iter();
    failed
        .map(|one| (one["what"].as_str().unwrap(), one["mended_by"].is_string()))
        .collect()
}

fn ends_of(brief: &Value) -> Vec<Option<bool>> {
    brief["done"]["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["passed"].as_bool())
        .collect()
}

fn commands_of(brief: &Value) -> Vec<&str> {
    brief["done"]["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["text"].as_str().unwrap())
        .collect()
}

#[test]
fn a_brief_of_known_calls_is_true() {
    let mut session = Session::new();
    session
        .run(
            "cargo test 2>&1 | tail -3",
            "test result: FAILED. 1 passed; 2 failed",
        )
        .call(
            "Edit",
            json!({"file_path": "/w/a.rs", "old_string": "zzz", "new_string": "b"}),
            "String to replace not found",
            true,
        )
        .edit("a\nb\n", "a\nc\nd\n")
        .run(
            "cargo test 2>&1 | tail -3",
            "test result: ok. 3 passed; 0 failed",
        )
        .run(
            "git add -A && git commit -m 'Mend; rm -rf x'",
            "[main 1a2b3c4] Mend; rm -rf x\n 1 file changed",
        )
        .fails("ls nowhere", "Exit code 2\nno such file");
    let answer = "All tests pass. It is committed. It is committed and pushed. Tests would not pass without it.";
    let brief = session.brief(answer);
    let done = &brief["done"];
    let file = &done["files"][0];
    assert_eq!((&file["path"], &file["edits"]), (&"a.rs".into(), &1.into()));
    assert_eq!((&file["added"], &file["removed"]), (&2.into(), &1.into()));
    assert_eq!(done["commands"], json!([]), "what is quoted is no command");
    assert_eq!(
        (&done["commits"][0]["hash"], &done["commits"][0]["subject"]),
        (&"1a2b3c4".into(), &"Mend; rm -rf x".into())
    );
    assert_eq!(
        ends_of(&brief),
        [Some(false), Some(true)],
        "the pipe ended well both times"
    );
    assert_eq!(
        failed_of(&brief),
        [
            ("Bash cargo test", true),
            ("Edit a.rs", true),
            ("Bash ls nowhere", false)
        ]
    );
}

#[test]
fn a_test_run_has_an_end_only_if_something_says_so() {
    let mut session = Session::new();
    session
        .run(
            "cargo test",
            "Command running in background with ID: b1. Output is being written to: /tmp/b1",
        )
        .fails("make && npm test", "Exit code 2\nno rule to make target")
        .fails("npm test", "Exit code 1\nError: unsupported engine")
        .fails("npm test", "Exit code 124\ntimed out")
        .run(
            "go test ./... | head -3",
            "ok  \ta/b\t0.1s\nok  \ta/c\t0.1s",
        )
        .run("go test ./... | grep -v PASS", "ok  \ta/b\t0.1s")
        .run(
            "nix-shell --run \"pytest -q\" 2>&1 | tail -3",
            "536 passed in 1.86s",
        )
        .run("pnpm --filter a test", "Tests  1 failed | 4 passed (5)")
        .run("./run_tests.sh", "fine");
    let brief = session.brief("Done.");
    let background = None;
    assert_eq!(
        ends_of(&brief),
        [
            background,
            None,
            None,
            None,
            Some(true),
            Some(false),
            Some(true)
        ]
    );
    let expected = [
        ("Bash make && npm test", false),
        ("Bash npm test", false),
        ("Bash npm test", false),
        ("Bash pnpm --filter a test", false),
    ];
    assert_eq!(failed_of(&brief), expected, "{brief:#}");
    assert_eq!(brief["failed"][1]["reason"], "exit 1");
}

#[test]
fn what_is_mended_is_the_same_thing_done_again() {
    let mut session = Session::new();
    session
        .run("mise run test:all", "FAIL\ta/b\t0.1s")
        .run("mise run test", "ok  \ta/b\t0.1s")
        .call(
            "Bash",
            json!({"command": "npm run build", "description": "Build"}),
            "Exit code 1",
            true,
        )
        .call(
            "Bash",
            json!({"command": "npm run build", "description": "Build again"}),
            "built",
            false,
        )
        .run(
            "cd a && cargo test",
            "test result: FAILED. 1 passed; 2 failed",
        )
        .run("cd b && cargo test", "test result: ok. 1 passed");
    let brief = session.brief("Done.");
    let expected = [
        ("Bash mise run test:all", false),
        ("Bash npm run build", true),
        ("Bash cargo test", false),
    ];
    assert_eq!(failed_of(&brief), expected);
}

#[test]
fn commands_are_those_that_ran_and_ended_well() {
    let mut session = Session::new();
    session
        .run(
            "git commit -m \"$(cat <<'EOF'\nSay \"so\"\nEOF\n)\" && git push",
            "[main 1a2b3c4] Say\n  1a..2b  main -> main",
        )
        .run("git commit --amend -m 'Say it'", "[main 2b3c4d5] Say it")
        .run(
            "git push 2>&1 | tail -2",
            " ! [rejected]  main -> main (fetch first)\nerror: failed to push some refs",
        )
        .run(
            "git pull || git reset --hard origin/main",
            "Already up to date.",
        )
        .run("if [ -f x ]; then rm x; fi", "")
        .run("git push --dry-run", "Everything up-to-date")
        .call(
            "Bash",
            json!({"command": "npm install", "run_in_background": true}),
            "Command running in background with ID: b2",
            false,
        );
    let brief = session.brief("It is pushed. Committed `2b3c4d5` and pushed 1a2b3c4.");
    assert_eq!(commands_of(&brief), ["git push", "git pull"]);
    let commits: Vec<&str> = brief["done"]["commits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["hash"].as_str().unwrap())
        .collect();
    assert_eq!(commits, ["2b3c4d5"], "the first was amended");
}

#[test]
fn an_error_is_over_once_the_session_goes_on() {
    let mut session = Session::new();
    let error = json!({"type": "assistant", "uuid": "e", "parentUuid": null, "sessionId": "s", "cwd": "/w",
        "timestamp": "2026-05-01T10:05:00Z", "version": "2.0.0", "isApiErrorMessage": true,
        "message": {"id": "e", "role": "assistant", "model": "<synthetic>",
            "content": [{"type": "text", "text": "API Error: 500"}]}});
    session.lines.push(error.to_string());
    let brief = session.brief("Here it is.");
    assert_eq!(failed_of(&brief), [("API Error: 500", true)]);
}

/// Codex hands a patch to its tool, or to a shell; each file of it was changed.
#[test]
fn each_file_of_a_patch_was_changed_however_it_was_applied() {
    let patch = "*** Begin Patch\n*** Add File: Dockerfile\n+FROM scratch\n+COPY . .\n*** Update File: src/a b.js\n\
                 @@\n-old\n+new\n*** End Patch";
    let shell = |workdir: &str| {
        let command = format!("apply_patch <<'PATCH'\n{patch}\nPATCH");
        json!({"type": "function_call", "name": "shell", "call_id": "c1", "arguments":
            json!({"command": ["bash", "-lc", command], "workdir": workdir}).to_string()})
    };
    let tool =
        json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c1", "input": patch});
    for (call, folder) in [(tool, ""), (shell("/w"), ""), (shell("/w/deck"), "deck/")] {
        let output = json!({"type": "function_call_output", "call_id": "c1", "output":
            json!({"output": "Success. Updated the following files:\nA Dockerfile\nM src/a b.js\n",
                "metadata": {"exit_code": 0, "duration_seconds": 0.1}}).to_string()});
        let meta = json!({"id": "019cadc6-0000-7000-8000-000000000001", "timestamp": "2026-03-02T09:00:00.000Z",
            "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.60.0"});
        let record = |kind: &str, payload: &Value| {
            json!({"timestamp": "2026-03-02T09:00:00.000Z", "type": kind, "payload": payload})
                .to_string()
                + "\n"
        };
        let lines = [
            ("session_meta", &meta),
            ("response_item", &call),
            ("response_item", &output),
        ];
        let text: String = lines
            .iter()
            .map(|(kind, payload)| record(kind, payload))
            .collect();
        let folder_of_file = tempfile::tempdir().unwrap();
        let path = folder_of_file
            .path()
            .join("rollout-2026-03-02T09-00-00-019cadc6-0000-7000-8000-000000000001.jsonl");
        std::fs::write(&path, text).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_tv"))
            .args(["brief", "--json"])
            .arg(&path)
            .output()
            .unwrap();
        let brief: Value = serde_json::from_slice(&output.stdout).unwrap();
        let files = brief["done"]["files"].as_array().unwrap().iter();
        let said: Vec<String> = files
            .map(|file| {
                format!(
                    "{} +{} -{}",
                    file["path"].as_str().unwrap(),
                    file["added"],
                    file["removed"]
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                format!("{folder}Dockerfile +2 -0"),
                format!("{folder}src/a b.js +1 -1")
            ]
        );
    }
}

#[test]
fn what_was_stopped_proves_nothing() {
    let mut session = Session::new();
    session
        .is_interrupted("cargo test", "   Compiling x")
        .is_interrupted("pytest", "3 passed in 1.00s")
        .is_interrupted("npm install left-pad", "added 1 package");
    let brief = session.brief("All tests pass.");
    assert_eq!(
        ends_of(&brief),
        [None, None],
        "a summary of some tests is not that of all"
    );
    assert_eq!(commands_of(&brief), Vec::<&str>::new());
    let reasons: Vec<&Value> = brief["failed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["reason"])
        .collect();
    assert_eq!(reasons, ["interrupted"; 3]);
}

#[test]
fn a_command_that_goes_on_ends_where_its_end_is_told() {
    let answer = "All tests pass.";
    let running = "Chunk ID: ab\nWall time: 1.0 seconds\nProcess running with session ID 42\nOutput:\n   Compiling x\n";
    let begun = codex_call("c1", "exec_command", &json!({"cmd": "cargo test"}), running);
    let brief = codex(&begun, answer);
    assert_eq!(ends_of(&brief), [None], "it never ended");

    let poll = json!({"session_id": 42, "chars": ""});
    let still = codex_call("c2", "write_stdin", &poll, running);
    let end = |code: u8, text: &str| {
        let output = format!(
            "Chunk ID: ac\nWall time: 5.0 seconds\nProcess exited with code {code}\nOutput:\n{text}\n"
        );
        codex_call("c3", "write_stdin", &poll, &output)
    };
    let failed = end(101, "test result: FAILED. 3 passed; 1 failed; 0 ignored");
    let brief = codex(&[begun.clone(), still.clone(), failed].concat(), answer);
    assert_eq!(ends_of(&brief), [Some(false)]);
    assert_eq!(
        failed_of(&brief),
        [("exec_command cargo test", false)],
        "its end is no failure of its own"
    );

    let passed = end(0, "test result: ok. 4 passed; 0 failed; 0 ignored");
    let brief = codex(&[begun, still, passed].concat(), answer);
    assert_eq!(ends_of(&brief), [Some(true)]);

    let push = json!({"cmd": "git commit -am x && git push"});
    let begun = codex_call("c1", "exec_command", &push, running);
    let brief = codex(
        &[begun, end(1, "error: failed to push some refs")].concat(),
        "It is pushed.",
    );
    assert_eq!(commands_of(&brief), Vec::<&str>::new());
}

#[test]
fn a_script_is_as_good_as_what_it_ran() {
    let answer = "All tests pass.";
    let code = "const r = await tools.exec_command({cmd:`cargo test`}); text(r.output)";
    let begun = codex_script(
        "x1",
        code,
        &["Script running with cell ID 7\nWall time 10 seconds\nOutput:\n"],
    );
    let output =
        "Script completed\nWall time 3 seconds\nOutput:\ntest result: FAILED. 1 passed; 2 failed";
    let ended = codex_call("w1", "wait", &json!({"cell_id": "7"}), output);
    let brief = codex(&[begun, ended].concat(), answer);
    assert_eq!(ends_of(&brief), [Some(false)]);

    let head = "Script completed\nWall time 0.5 seconds\nOutput:\n";
    let exit = "Exit code: 101\nWall time: 1 seconds\nOutput:\nerror: could not compile";
    let brief = codex(&codex_script("x1", code, &[head, exit]), answer);
    assert_eq!(ends_of(&brief), [None]);
    assert_eq!(brief["failed"][0]["reason"], "exit 101");
    let brief = codex(
        &codex_script("x1", code, &[head, "error: could not compile"]),
        answer,
    );
    assert_eq!(ends_of(&brief), [None], "no code is recorded");
}

#[test]
fn what_has_no_exit_code_has_only_its_summary() {
    let answer = "All tests pass.";
    let openai = |output: &str| {
        let call = json!({"id": "c1", "type": "function",
            "function": {"name": "bash", "arguments": json!({"command": "npm test"}).to_string()}});
        json!([{"role": "user", "content": "run the tests"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": output},
            {"role": "assistant", "content": answer}])
    };
    let anthropic = |is_error: Option<bool>| {
        let mut result = json!({"type": "tool_result", "tool_use_id": "c1", "content": "bash: pytest: not found"});
        if let Some(flag) = is_error {
            result["is_error"] = json!(flag);
        }
        let call =
            json!({"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "pytest"}});
        json!([{"role": "user", "content": "run the tests"}, {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]}, {"role": "assistant", "content": answer}])
    };
    for (session, passed) in [
        (
            openai("  3 passing (20ms)\n  1 failing\n\n  1) adds:"),
            Some(false),
        ),
        (openai("  4 passing (20ms)"), Some(true)),
        (openai("sh: mocha: not found"), None),
        (anthropic(None), None),
        (anthropic(Some(false)), Some(true)),
    ] {
        let brief = brief_of("session.json", &session.to_string());
        assert_eq!(ends_of(&brief), [passed], "{session}");
    }
}

#[test]
fn what_was_not_allowed_did_not_fail() {
    let record = |n: usize, kind: &str, data: Value| {
        json!({"type": kind, "data": data, "id": format!("e{n}"), "timestamp": format!("2026-11-20T10:00:{n:02}.000Z")})
            .to_string()
    };
    let session = |error: Value| {
        let request =
            json!({"toolCallId": "t1", "name": "bash", "arguments": {"command": "rm -rf a"}});
        [
            record(0, "session.start", json!({"sessionId": "7d0c1c54-0000-4000-8000-0000000000ab", "version": 1,
                "producer": "copilot-agent", "copilotVersion": "1.0.77", "startTime": "2026-11-20T10:00:00.000Z"})),
            record(1, "user.message", json!({"content": "do it"})),
            record(2, "assistant.message", json!({"messageId": "m", "content": "", "toolRequests": [request]})),
            record(3, "tool.execution_complete", json!({"toolCallId": "t1", "success": false, "error": error})),
        ]
        .join("\n")
    };
    for (code, state) in [("rejected", "refused"), ("failure", "failed")] {
        let error = json!({"message": "The user rejected this tool call.", "code": code});
        let brief = brief_of("events.jsonl", &session(error));
        assert_eq!(brief["failed"][0]["state"], state, "{brief:#}");
    }
}

#[test]
fn an_exit_code_in_the_output_of_a_shell_counts() {
    let session = |tool: &str, code: u8| {
        let record = |n: usize, kind: &str, message: Value| {
            json!({"uuid": format!("q{n}"), "parentUuid": n.checked_sub(1).map(|n| format!("q{n}")), "sessionId": "qs",
                "timestamp": format!("2026-11-20T10:00:{n:02}.000Z"), "type": kind, "cwd": "/w", "version": "0.18.1",
                "message": message})
            .to_string()
        };
        let call =
            json!({"functionCall": {"id": "c1", "name": tool, "args": {"command": "npm test"}}});
        let output = format!(
            "Command: npm test\nOutput: fine\nError: (none)\nExit Code: {code}\nSignal: (none)"
        );
        let answer =
            json!({"functionResponse": {"id": "c1", "name": tool, "response": {"output": output}}});
        [
            record(
                0,
                "user",
                json!({"role": "user", "parts": [{"text": "run the tests"}]}),
            ),
            record(1, "assistant", json!({"role": "model", "parts": [call]})),
            record(2, "tool_result", json!({"role": "user", "parts": [answer]})),
        ]
        .join("\n")
    };
    let brief = brief_of("q.jsonl", &session("run_shell_command", 1));
    assert_eq!(
        (ends_of(&brief), &brief["failed"][0]["reason"]),
        (vec![None], &json!("exit 1"))
    );
    assert_eq!(
        ends_of(&brief_of("q.jsonl", &session("run_shell_command", 0))),
        [Some(true)]
    );
    assert_eq!(
        brief_of("q.jsonl", &session("read_file", 1))["failed"],
        json!([]),
        "a file may say so"
    );
}

#[test]
fn what_a_brief_quotes_is_bounded_and_says_what_it_left_out() {
    let mut session = Session::new();
    session.record(
        "user",
        "u1",
        json!({"role": "user", "content": "é".repeat(100_000)}),
    );
    session.said(
        "end",
        json!([{"type": "text", "text": "word ".repeat(100_000)}]),
    );
    let brief = brief_of("s.jsonl", &session.lines.join("\n"));
    for (text, left) in [
        (&brief["asked"][1]["text"], "134 KB"),
        (&brief["last_answer"]["text"], "434 KB"),
    ] {
        let text = text.as_str().unwrap();
        assert!(
            text.len() < 66_000 && text.contains(&format!("[{left} more left out")),
            "{}",
            &text[text.len() - 80..]
        );
    }
}

#[test]
fn time_of_work_and_of_waiting_are_told_apart() {
    let mut session = Session::new();
    let question = json!({"questions": [{"question": "Which wick?", "options": []}]});
    session.call("AskUserQuestion", question, "the long one", false);
    session.said("a9", json!([{"type": "text", "text": "lit"}]));
    for (line, clock) in session
        .lines
        .iter_mut()
        .zip(["10:00:00", "10:01:00", "10:05:00", "10:05:30"])
    {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["timestamp"] = format!("2026-05-01T{clock}Z").into();
        *line = record.to_string();
    }
    let time = &brief_of("s.jsonl", &(session.lines.join("\n") + "\n"))["time"];
    assert_eq!(
        (&time["work_ms"], &time["waiting_ms"]),
        (&json!(90_000), &json!(240_000)),
        "{time}"
    );
}
