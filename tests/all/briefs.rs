//! Briefs of sessions of which everything is known: no statement of them is false.

use std::process::Command;

use serde_json::{Value, json};

/// A session of Claude Code that grows call by call.
struct Session {
    lines: Vec<String>,
}

impl Session {
    fn new() -> Self {
        let mut session = Self { lines: Vec::new() };
        session.record("user", "u0", json!({"role": "user", "content": "Mend the lamp"}));
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
        let content =
            json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error}]);
        self.record("user", &format!("r{n}"), json!({"role": "user", "content": content}));
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

    fn edit(&mut self, old: &str, new: &str) -> &mut Self {
        let input = json!({"file_path": "/w/a.rs", "old_string": old, "new_string": new});
        self.call("Edit", input, "updated", false)
    }

    /// The brief with this last answer.
    fn brief(&mut self, answer: &str) -> Value {
        self.said("z", json!([{"type": "text", "text": answer}]));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, self.lines.join("\n") + "\n").unwrap();
        let output =
            Command::new(env!("CARGO_BIN_EXE_tv")).args(["brief", "--json"]).arg(&path).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn claims(&mut self, answer: &str) -> Vec<(String, String)> {
        claims_of(&self.brief(answer))
    }
}

fn claims_of(brief: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let claims = brief["claims"].as_array().unwrap().iter();
    claims.map(|claim| (word(&claim["verdict"]), word(&claim["text"]))).collect()
}

fn failed_of(brief: &Value) -> Vec<(&str, bool)> {
    let failed = brief["failed"].as_array().unwrap().iter();
    failed.map(|one| (one["what"].as_str().unwrap(), one["mended"].is_string())).collect()
}

fn ends_of(brief: &Value) -> Vec<Option<bool>> {
    brief["done"]["tests"].as_array().unwrap().iter().map(|run| run["passed"].as_bool()).collect()
}

fn commands_of(brief: &Value) -> Vec<&str> {
    brief["done"]["commands"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect()
}

fn verdicts(claims: &[(&str, &str)]) -> Vec<(String, String)> {
    claims.iter().map(|(verdict, text)| ((*verdict).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_brief_of_known_calls_is_true() {
    let mut session = Session::new();
    session
        .run("cargo test 2>&1 | tail -3", "test result: FAILED. 1 passed; 2 failed")
        .call(
            "Edit",
            json!({"file_path": "/w/a.rs", "old_string": "zzz", "new_string": "b"}),
            "String to replace not found",
            true,
        )
        .edit("a\nb\n", "a\nc\nd\n")
        .run("cargo test 2>&1 | tail -3", "test result: ok. 3 passed; 0 failed")
        .run("git add -A && git commit -m 'Mend; rm -rf x'", "[main 1a2b3c4] Mend; rm -rf x\n 1 file changed")
        .fails("ls nowhere", "Exit code 2\nno such file");
    let answer =
        "All tests pass. It is committed. It is committed and pushed. Tests would not pass without it.";
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
    assert_eq!(ends_of(&brief), [Some(false), Some(true)], "the pipe ended well both times");
    assert_eq!(failed_of(&brief), [("run cargo test", true), ("edit a.rs", true), ("run ls nowhere", false)]);
    let expected = [
        ("proven", "All tests pass."),
        ("proven", "It is committed."),
        ("unproven", "It is committed and pushed."),
    ];
    assert_eq!(claims_of(&brief), verdicts(&expected));
}

#[test]
fn a_test_run_has_an_end_only_if_something_says_so() {
    let mut session = Session::new();
    session
        .run("cargo test", "Command running in background with ID: b1. Output is being written to: /tmp/b1")
        .fails("make && npm test", "Exit code 2\nno rule to make target")
        .fails("npm test", "Exit code 1\nError: unsupported engine")
        .fails("npm test", "Exit code 124\ntimed out")
        .run("go test ./... | head -3", "ok  \ta/b\t0.1s\nok  \ta/c\t0.1s")
        .run("go test ./... | grep -v PASS", "ok  \ta/b\t0.1s")
        .run("nix-shell --run \"pytest -q\" 2>&1 | tail -3", "536 passed in 1.86s")
        .run("pnpm --filter a test", "Tests  1 failed | 4 passed (5)")
        .run("./run_tests.sh", "fine");
    let brief = session.brief("Done.");
    assert_eq!(ends_of(&brief), [None, None, None, Some(true), Some(false), Some(true)]);
    let expected = [
        ("run make && npm test", false),
        ("run npm test", false),
        ("run npm test", false),
        ("run pnpm --filter a test", false),
    ];
    assert_eq!(failed_of(&brief), expected, "{brief:#}");
    assert_eq!(brief["failed"][1]["facts"], "exit 1");
}

#[test]
fn what_is_mended_is_the_same_thing_done_again() {
    let mut session = Session::new();
    session
        .run("mise run test:all", "FAIL\ta/b\t0.1s")
        .run("mise run test", "ok  \ta/b\t0.1s")
        .call("Bash", json!({"command": "npm run build", "description": "Build"}), "Exit code 1", true)
        .call("Bash", json!({"command": "npm run build", "description": "Build again"}), "built", false)
        .run("cd a && cargo test", "test result: FAILED. 1 passed; 2 failed")
        .run("cd b && cargo test", "test result: ok. 1 passed");
    let brief = session.brief("Done.");
    let expected = [("run mise run test:all", false), ("run npm run build", true), ("run cargo test", false)];
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
        .run("git pull || git reset --hard origin/main", "Already up to date.")
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
    assert_eq!(brief["claims"], json!([]), "a push before the last commit says nothing of that");
}

#[test]
fn a_claim_is_contradicted_only_by_what_cannot_be_otherwise() {
    let failed = "test result: FAILED. 1 passed; 2 failed";
    let claim = "All tests pass.";
    let mut plain = Session::new();
    assert_eq!(plain.run("cargo test", failed).claims(claim), verdicts(&[("contradicted", claim)]));
    let mut edited = Session::new();
    assert_eq!(edited.run("cargo test", failed).edit("a", "b").claims(claim), [], "changed after it");
    let mut same = Session::new();
    assert_eq!(same.run("git stash; cargo test; git stash pop", failed).claims(claim), [], "changed with it");
    let mut other = Session::new();
    assert_eq!(other.run("cargo test", failed).run("./ci.sh test", "fine").claims(claim), [], "another run");
    let mut without = Session::new();
    assert_eq!(without.fails("cargo test", "Exit code 101\nerror: no such command").claims(claim), []);
    let mut some = Session::new();
    assert_eq!(some.run("cargo test watch", "test result: ok. 1 passed").claims(claim), [], "one of them");
    let mut none = Session::new();
    assert_eq!(none.edit("a", "b").claims(claim), verdicts(&[("unproven", claim)]));

    let rejected = "! [rejected] main -> main\nerror: failed to push some refs to 'a'";
    let mut pushed = Session::new();
    let found = pushed.fails("git push", rejected).claims("Pushed to origin.");
    assert_eq!(found, verdicts(&[("contradicted", "Pushed to origin.")]));
    let mut again = Session::new();
    assert_eq!(again.fails("git push", rejected).run("./release.sh", "sent").claims("Pushed to origin."), []);
}

#[test]
fn claims_are_proven_by_what_does_them() {
    let mut session = Session::new();
    session
        .run("cargo test", "test result: FAILED. 1 passed; 2 failed")
        .edit("a", "b")
        .call("Write", json!({"file_path": "/w/src/new.rs", "content": "x\n"}), "File created", false)
        .run("cargo build", "Finished")
        .run("cargo test", "test result: ok. 3 passed");
    let answer = "✅ Created `src/new.rs` and **updated** a table.\n\
        Fixed the failing tests. The build has no errors. Updated [a](a.rs).\n\
        Created `a.rs` and `src/new.rs`. If the build has no errors, all is well.\n\
        ```\nAll tests pass.\n```\n> All tests pass.\nTests pass everywhere. \"All tests pass\" is what it says.\n\
        Created:\n- `src/new.rs`: the new one\n- `docs/`: a folder";
    let expected = [
        ("proven", "✅ Created `src/new.rs` and updated a table."),
        ("proven", "Fixed the failing tests."),
        ("proven", "The build has no errors."),
        ("proven", "Updated [a](a.rs)."),
        ("proven", "Created `src/new.rs`: the new one"),
    ];
    assert_eq!(session.claims(answer), verdicts(&expected));

    let write = |error: bool| {
        let mut session = Session::new();
        let input = json!({"file_path": "/w/b.md", "content": "x"});
        session.call("Write", input, if error { "Permission denied" } else { "File created" }, error);
        session
    };
    let claim = "Created `b.md`.";
    assert_eq!(write(false).claims(claim), verdicts(&[("proven", claim)]));
    assert_eq!(write(true).claims(claim), verdicts(&[("contradicted", claim)]));
    assert_eq!(write(true).run("echo x > b.md", "").claims(claim), [], "the command may have done it");
    assert_eq!(
        write(false).claims("Created `c.md`. Fixed it."),
        verdicts(&[("unproven", "Created `c.md`.")])
    );
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
    let tool = json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c1", "input": patch});
    for (call, folder) in [(tool, ""), (shell("/w"), ""), (shell("/w/deck"), "deck/")] {
        let output = json!({"type": "function_call_output", "call_id": "c1", "output":
            json!({"output": "Success. Updated the following files:\nA Dockerfile\nM src/a b.js\n",
                "metadata": {"exit_code": 0, "duration_seconds": 0.1}}).to_string()});
        let meta = json!({"id": "019cadc6-0000-7000-8000-000000000001", "timestamp": "2026-03-02T09:00:00.000Z",
            "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.60.0"});
        let record = |kind: &str, payload: &Value| {
            json!({"timestamp": "2026-03-02T09:00:00.000Z", "type": kind, "payload": payload}).to_string()
                + "\n"
        };
        let lines = [("session_meta", &meta), ("response_item", &call), ("response_item", &output)];
        let text: String = lines.iter().map(|(kind, payload)| record(kind, payload)).collect();
        let folder_of_file = tempfile::tempdir().unwrap();
        let path = folder_of_file
            .path()
            .join("rollout-2026-03-02T09-00-00-019cadc6-0000-7000-8000-000000000001.jsonl");
        std::fs::write(&path, text).unwrap();
        let output =
            Command::new(env!("CARGO_BIN_EXE_tv")).args(["brief", "--json"]).arg(&path).output().unwrap();
        let brief: Value = serde_json::from_slice(&output.stdout).unwrap();
        let files = brief["done"]["files"].as_array().unwrap().iter();
        let said: Vec<String> = files
            .map(|file| format!("{} +{} -{}", file["path"].as_str().unwrap(), file["added"], file["removed"]))
            .collect();
        assert_eq!(said, [format!("{folder}Dockerfile +2 -0"), format!("{folder}src/a b.js +1 -1")]);
    }
}
