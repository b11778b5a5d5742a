//! Threads whose decoding depends on more than one line.

use std::path::Path;

use super::Codex;
use crate::formats::decoder::RecordPlace;
use crate::formats::fed;
use crate::model::entry::{BlockKind, Break, Entry, Role, Stop};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState, Verdict};
use crate::model::transcript::Transcript;

/// The transcript of a file and of companion files.
fn transcript(files: &[(RecordPlace<'_>, &[String])]) -> Transcript {
    fed::transcript(&Codex, files)
}

fn alone(lines: &[String]) -> Transcript {
    transcript(&[(RecordPlace::Line, lines)])
}

fn line(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-03-02T09:00:00.000Z","type":"{kind}","payload":{payload}}}"#)
}

fn item(payload: &str) -> String {
    line("response_item", payload)
}

fn event(payload: &str) -> String {
    line("event_msg", payload)
}

fn said(role: &str, text: &str) -> String {
    item(&format!(
        r#"{{"type":"message","role":"{role}","content":[{{"type":"output_text","text":"{text}"}}]}}"#
    ))
}

fn tokens(input: u64, output: u64) -> String {
    event(&format!(
        r#"{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{input},"output_tokens":{output}}}}}}}"#
    ))
}

fn texts(transcript: &Transcript) -> Vec<String> {
    let text = |entry: &Entry| -> Vec<String> {
        let blocks = entry.blocks.iter().filter_map(|block| match &block.kind {
            BlockKind::Text(body) | BlockKind::Thinking(body) => {
                Some(body.stub.as_str().to_owned())
            }
            BlockKind::Call(call) => Some(format!("{}: {}", call.name, call.headline)),
            _ => None,
        });
        blocks.collect()
    };
    transcript.entries().flat_map(text).collect()
}

#[test]
fn a_text_and_its_event_are_one_block_in_any_order() {
    let agent = event(r#"{"type":"agent_message","message":"Done."}"#);
    let thought = event(r#"{"type":"agent_reasoning","text":"hm"}"#);
    let reasoning = item(
        r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}"#,
    );
    let user = event(r#"{"type":"user_message","message":"Go"}"#);
    let first = [
        user.clone(),
        said("user", "Go"),
        thought.clone(),
        reasoning.clone(),
        agent.clone(),
        said("assistant", "Done."),
    ];
    let second = [
        said("user", "Go"),
        user,
        reasoning,
        thought,
        said("assistant", "Done."),
        agent,
    ];
    for lines in [first, second] {
        let transcript = alone(&lines);
        assert_eq!(texts(&transcript), ["Go", "hm", "Done."]);
        assert_eq!(
            (transcript.tally().shown, transcript.tally().merged),
            (2, 4)
        );
        assert_eq!(transcript.turns().len(), 1);
    }
    let twice = alone(&[said("assistant", "Again."), said("assistant", "Again.")]);
    assert_eq!(texts(&twice), ["Again.", "Again."], "said twice is no copy");
}

#[test]
fn tags_around_an_image_are_not_said() {
    let parts = ["look\\n", "<image>", "</image>"]
        .map(|text| format!(r#"{{"type":"input_text","text":"{text}"}}"#));
    let image = r#"{"type":"input_image","image_url":"data:image/png;base64,aGk="}"#;
    let [words, open, close] = parts;
    let message = item(&format!(
        r#"{{"type":"message","role":"user","content":[{words},{open},{image},{close}]}}"#
    ));
    let outcome = event(
        r#"{"type":"user_message","message":"look\n","images":["data:image/png;base64,aGk="]}"#,
    );
    for lines in [[message.clone(), outcome.clone()], [outcome, message]] {
        let transcript = alone(&lines);
        let blocks: Vec<usize> = transcript
            .entries()
            .map(|entry| entry.blocks.len())
            .collect();
        assert_eq!(blocks, [2], "a text and an image");
    }
}

#[test]
fn what_the_program_takes_out_of_an_answer_makes_no_second_one() {
    let agent = event(r#"{"type":"agent_message","message":"So:\nIt is."}"#);
    let plan =
        event(r##"{"type":"item_completed","item":{"type":"Plan","text":"# Do\n1. it\n"}}"##);
    let answer = said(
        "assistant",
        r"So:\n<proposed_plan>\n# Do\n1. it\n</proposed_plan>\nIt is.<oai-mem-citation>\nM.md:1\n</oai-mem-citation>",
    );
    let end = event(r#"{"type":"task_complete","last_agent_message":"So:\nIt is."}"#);
    let orders = [
        [agent.clone(), answer.clone(), plan.clone(), end.clone()],
        [plan.clone(), agent.clone(), answer.clone(), end.clone()],
        [answer, agent, plan, end],
    ];
    for lines in orders {
        let transcript = alone(&lines);
        assert_eq!(texts(&transcript).len(), 1, "{:?}", texts(&transcript));
        assert!(texts(&transcript)[0].starts_with("So:"));
        let cited = transcript.entries().flat_map(|entry| &entry.blocks);
        let cited = cited
            .filter(|block| matches!(&block.kind, BlockKind::Raw(raw) if raw.body.stub.as_str() == "M.md:1"));
        assert_eq!(cited.count(), 1);
        assert_eq!(transcript.entries().count(), 1);
    }
}

#[test]
fn tokens_go_to_the_request_that_spent_them() {
    let call = |id: &str| {
        item(&format!(
            r#"{{"type":"function_call","name":"shell","arguments":"{{}}","call_id":"{id}"}}"#
        ))
    };
    let output = |id: &str| {
        item(&format!(
            r#"{{"type":"function_call_output","call_id":"{id}","output":"ok"}}"#
        ))
    };
    let spent = |lines: &[String]| -> Vec<Option<u64>> {
        let transcript = alone(lines);
        let answers = transcript.entries().filter(|entry| !entry.marks.prompt);
        answers
            .map(|entry| entry.usage.as_ref().map(|usage| usage.total()))
            .collect()
    };
    let late = [
        said("user", "Go"),
        call("a"),
        output("a"),
        tokens(10, 1),
        call("b"),
        tokens(30, 2),
        output("b"),
        said("assistant", "ok"),
        tokens(60, 3),
        tokens(60, 3),
    ];
    assert_eq!(spent(&late), [Some(11), Some(21), Some(31)]);
    // Early versions write counts before the items.
    let early = [
        said("user", "Go"),
        tokens(10, 1),
        call("a"),
        output("a"),
        tokens(30, 2),
        call("b"),
        output("b"),
        tokens(60, 3),
        said("assistant", "ok"),
    ];
    assert_eq!(spent(&early), [Some(11), Some(21), Some(31)]);
}

#[test]
fn a_model_is_named_with_who_runs_it() {
    let named = |provider: &str| {
        let meta = line(
            "session_meta",
            &format!(r#"{{"id":"x","model_provider":"{provider}"}}"#),
        );
        let turn = line("turn_context", r#"{"model":"gpt-5"}"#);
        let transcript = alone(&[meta, turn, said("assistant", "ok")]);
        transcript.meta().model.as_ref().map(ToString::to_string)
    };
    assert_eq!(named("openai").as_deref(), Some("gpt-5"));
    assert_eq!(
        named("ollama").as_deref(),
        Some("ollama/gpt-5"),
        "it costs nothing there"
    );
    assert_eq!(named("[removed]").as_deref(), Some("gpt-5"));
}

#[test]
fn turns_that_were_taken_back_are_undone() {
    let back = event(r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let lines = [
        said("user", "one"),
        said("assistant", "1"),
        said("user", "two"),
        said("assistant", "2"),
        back,
        said("user", "three"),
    ];
    let undone: Vec<bool> = alone(&lines)
        .entries()
        .map(|entry| entry.marks.undone)
        .collect();
    assert_eq!(undone, [false, false, true, true, false, false]);
}

/// A call of code that runs these commands, a report for each with this exit code, and the text
/// that the code printed.
fn code_that_runs(commands: &[(&str, i64)], printed: &str) -> [Vec<String>; 3] {
    let calls: Vec<String> = commands
        .iter()
        .map(|(command, _)| format!(r#"await tools.exec_command({{cmd:\"{command}\"}})"#))
        .collect();
    let code = item(&format!(
        r#"{{"type":"custom_tool_call","name":"exec","input":"{}","call_id":"c1"}}"#,
        calls.join("; ")
    ));
    let deed = |(command, exit): &(&str, i64)| {
        event(&format!(
            r#"{{"type":"item_completed","item":{{"type":"CommandExecution","id":"exec-{command}","command":["bash","-lc","{command}"],"status":"completed","aggregated_output":"no such file","exit_code":{exit},"duration":{{"secs":1,"nanos":0}}}}}}"#
        ))
    };
    let output = item(&format!(
        r#"{{"type":"custom_tool_call_output","call_id":"c1","output":"Script completed\nWall time 1.5 seconds\nOutput:\n{printed}"}}"#
    ));
    [
        vec![code],
        commands.iter().map(deed).collect(),
        vec![output],
    ]
}

/// State, facts and output of all calls.
fn outcomes(transcript: &Transcript) -> Vec<(&'static str, String, String)> {
    let words = |call: &ToolCall| {
        let result = call.state.result().unwrap();
        (
            call.state.word(),
            result.facts.to_string(),
            result.body.stub.to_string(),
        )
    };
    transcript
        .entries()
        .flat_map(Entry::calls)
        .map(words)
        .collect()
}

fn told(word: &'static str, facts: &str, body: &str) -> (&'static str, String, String) {
    (word, facts.to_owned(), body.to_owned())
}

#[test]
fn ends_of_agents_find_the_calls_that_spawned_them() {
    let call = |id: &str, name: &str, arguments: &str| {
        let arguments = serde_json::json!(arguments);
        item(&format!(
            r#"{{"type":"function_call","name":"{name}","namespace":"collaboration","arguments":{arguments},"call_id":"{id}"}}"#
        ))
    };
    let output = |id: &str, output: &str| {
        let output = serde_json::json!(output);
        item(&format!(
            r#"{{"type":"function_call_output","call_id":"{id}","output":{output}}}"#
        ))
    };
    let activity = |id: &str, kind: &str, name: &str| {
        event(&format!(
            r#"{{"type":"item_completed","item":{{"type":"SubAgentActivity","id":"{id}","kind":"{kind}","agent_thread_id":"t-{name}","agent_path":"/lead/{name}"}}}}"#
        ))
    };
    let spawned = |name: &str| {
        [
            call(
                name,
                "spawn_agent",
                &format!(r#"{{"task_name":"{name}","message":"do"}}"#),
            ),
            activity(name, "started", name),
            output(name, &format!(r#"{{"task_name":"/lead/{name}"}}"#)),
        ]
    };
    let message = |name: &str, said: &str| {
        let text = format!(
            "Message Type: FINAL_ANSWER\nTask name: /lead\nSender: /lead/{name}\nPayload:\n{said}"
        );
        let text = serde_json::json!(text);
        item(&format!(
            r#"{{"type":"agent_message","author":"/lead/{name}","recipient":"/lead","content":[{{"type":"input_text","text":{text}}}]}}"#
        ))
    };
    let mut lines: Vec<String> = ["fine", "bad", "quiet", "shut", "open", "veiled"]
        .iter()
        .flat_map(|name| spawned(name))
        .collect();
    lines.extend([
        call("wait", "wait_agent", r#"{"timeout_ms":9000}"#),
        output("wait", r#"{"message":"Wait completed.","timed_out":false}"#),
        message("fine", "All is well."),
        message("bad", "Agent errored: no tools\n\nTry again."),
        activity("quiet", "completed", "quiet"),
        activity("veiled", "completed", "veiled"),
        item(r#"{"type":"agent_message","author":"/lead/veiled","recipient":"/lead","content":[{"type":"encrypted_content","encrypted_content":"x"}]}"#),
        call("stop", "interrupt_agent", r#"{"target":"/lead/shut"}"#),
        output("stop", r#"{"previous_status":"running"}"#),
        call("list", "list_agents", "{}"),
        output("list", r#"{"agents":[{"agent_name":"/lead/open","agent_status":"running"},{"agent_name":"/lead/fine","agent_status":{"completed":"All is well."}}]}"#),
    ]);
    let transcript = alone(&lines);
    let ends: Vec<_> = transcript
        .calls_with_work()
        .map(|(_, call)| {
            let work = call.state.work().unwrap();
            let polls = work
                .polls()
                .map(|poll| poll.by.as_str())
                .collect::<Vec<_>>();
            let is_seen = work.delivered().is_some();
            (
                call.key.as_str(),
                call.state.word(),
                is_seen,
                polls.join(" "),
            )
        })
        .collect();
    let row = |call, word, is_seen, polls: &str| (call, word, is_seen, polls.to_owned());
    assert_eq!(
        ends,
        [
            row("fine", "done", true, "wait list"),
            row("bad", "failed", true, "wait"),
            row("quiet", "done", false, "wait"),
            row("shut", "stopped", true, "wait stop"),
            row("open", "unknown", false, "wait list"),
            row("veiled", "done", true, "wait"),
        ]
    );
    let bad = transcript
        .calls_with_work()
        .find(|(_, call)| call.key.as_str() == "bad");
    assert_eq!(
        bad.unwrap().1.state.result().unwrap().facts.as_str(),
        "no tools"
    );
}

#[test]
fn the_only_command_in_code_is_what_the_code_did() {
    let [code, deeds, output] = code_that_runs(&[("ls", 2)], "no");
    let orders = [
        [code.clone(), deeds.clone(), output.clone()],
        [code, output, deeds],
    ];
    for order in orders {
        let transcript = alone(&order.concat());
        assert_eq!(texts(&transcript), ["exec: ls"]);
        assert_eq!(outcomes(&transcript), [told("failed", "exit 2", "no")]);
        let call = transcript.entries().flat_map(Entry::calls).next().unwrap();
        assert_eq!(
            call.state.result().unwrap().duration_ms,
            Some(1000),
            "measured"
        );
    }
}

#[test]
fn several_commands_in_code_are_calls_below_it_and_one_that_failed_is_no_success() {
    let [code, deeds, output] = code_that_runs(&[("ls", 0), ("make", 2)], "no");
    let orders = [
        [code.clone(), deeds.clone(), output.clone()],
        [code, output, deeds],
    ];
    for order in orders {
        let transcript = alone(&order.concat());
        assert_eq!(
            texts(&transcript),
            ["exec: ls ; make", "exec_command: ls", "exec_command: make"]
        );
        let states: Vec<_> = outcomes(&transcript)
            .into_iter()
            .map(|(state, facts, _)| (state, facts))
            .collect();
        let told = |word, facts: &str| (word, facts.to_owned());
        assert_eq!(
            states,
            [
                told("failed", "exit 2"),
                told("done", ""),
                told("failed", "exit 2")
            ]
        );
    }
    let [code, deeds, output] = code_that_runs(&[("ls", 0), ("make", 0)], "yes");
    let transcript = alone(&[code, deeds, output].concat());
    assert!(
        outcomes(&transcript)
            .iter()
            .all(|(state, ..)| *state == "done")
    );
}

#[test]
fn what_ends_behind_its_turn_belongs_to_the_call_that_began_it_and_not_to_the_time_of_the_turn() {
    let prompt = said("user", "Go");
    let answer = item(
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It runs."}],"phase":"final_answer"}"#,
    );
    let end = event(r#"{"type":"task_complete"}"#);
    let late = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .map(|line| line.replace("09:00:00.000Z", "09:05:00.000Z"))
            .collect()
    };
    let of = |commands: &[(&str, i64)]| {
        let [code, deeds, output] = code_that_runs(commands, "4711");
        let turn = vec![
            prompt.clone(),
            code[0].clone(),
            output[0].clone(),
            answer.clone(),
            end.clone(),
        ];
        alone(&[turn, late(&deeds)].concat())
    };
    let transcript = of(&[("serve", 1)]);
    assert_eq!(
        outcomes(&transcript),
        [told("failed", "exit 1", "no such file")],
        "all that came out"
    );
    let times = transcript
        .entries()
        .filter_map(Entry::last_time)
        .max()
        .unwrap();
    assert!(times.to_rfc3339().starts_with("2026-03-02T09:00:00"));
    // One of several commands is a call of its own, and still ends after the turn.
    let transcript = of(&[("serve", 1), ("watch", 1)]);
    let last = transcript.entries().last().unwrap();
    assert_eq!((last.stop, last.calls().count()), (Stop::Done, 1));
}

#[test]
fn whoever_looks_after_a_script_tells_how_it_ended() {
    let code = item(
        r#"{"type":"custom_tool_call","name":"exec","input":"await tools.exec_command({cmd:\"make\"})","call_id":"c1"}"#,
    );
    let output = |call: &str, text: &str| {
        item(&format!(
            r#"{{"type":"function_call_output","call_id":"{call}","output":"{text}"}}"#
        ))
    };
    let wait = |call: &str| {
        item(&format!(
            r#"{{"type":"function_call","name":"wait","arguments":"{{\"cell_id\":\"7\"}}","call_id":"{call}"}}"#
        ))
    };
    let goes_on = r"Script running with cell ID 7\nWall time 1.0 seconds\nOutput:\n.";
    for (end, state) in [("Script failed", "failed"), ("Script completed", "done")] {
        let end = format!(r"{end}\nWall time 2.0 seconds\nOutput:\nall");
        let transcript = alone(&[
            code.clone(),
            output("c1", goes_on),
            wait("c2"),
            output("c2", goes_on),
            wait("c3"),
            output("c3", &end),
        ]);
        let expected = [
            told(state, "", "all"),
            told("done", "still running as cell 7", "."),
            told("done", "", "all"),
        ];
        assert_eq!(outcomes(&transcript), expected);
    }
}

#[test]
fn what_was_delivered_is_not_said_again_and_an_answer_of_the_user_is() {
    let delivered = |text: &str| {
        let message = format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#
        );
        item(&message).replace(
            r#""payload""#,
            r#""metadata":{"delivered_assistant_message":"codex:code-mode-delivery:v1:complete"},"payload""#,
        )
    };
    let transcript = alone(&[
        said("user", "Ask me"),
        said("assistant", "Which?"),
        delivered("The content of a confirmed assistant message is unavailable now."),
        delivered("Which?"),
        line(
            "retained_context",
            r#"{"type":"verified_answer","questions":[{"question":"Which?","answer":"Left"}]}"#,
        ),
    ]);
    let said: Vec<_> = transcript
        .entries()
        .filter(|entry| !entry.marks.quiet && !entry.marks.trace)
        .flat_map(|entry| entry.blocks.iter().map(move |block| (entry.role, block)))
        .filter_map(|(role, block)| match &block.kind {
            BlockKind::Text(body) => Some((role, body.stub.to_string())),
            _ => None,
        })
        .collect();
    let expected = [
        (Role::User, "Ask me"),
        (Role::Assistant, "Which?"),
        (Role::User, "Left"),
    ];
    assert_eq!(said, expected.map(|(role, text)| (role, text.to_owned())));
    assert_eq!(transcript.turns().len(), 1);
}

#[test]
fn siblings_that_a_copy_tells_of_are_no_lanes_of_it() {
    let own = "019cadc6-9a80-7000-8000-0000000000b1";
    let sibling = r#"{"type":"item_completed","turn_id":"old","item":{"type":"SubAgentActivity","id":"c0","kind":"started","agent_thread_id":"019cadc6-9a80-7000-8000-0000000000b0","agent_path":"/team/other"}}"#;
    let spawn = r#"{"type":"function_call","name":"spawn_agent","arguments":"{}","call_id":"c0"}"#;
    let numbered =
        |ordinal: u32, line: String| line.replacen('{', &format!(r#"{{"ordinal":{ordinal},"#), 1);
    for (first, is_lane) in [
        (r#""subagent_history_start_ordinal":3"#, false),
        (r#""subagent_history_start_ordinal":"3""#, false),
        (r#""forked_from_ordinal_exclusive":3"#, false),
        (r#""cwd":"/x""#, true),
    ] {
        let transcript = alone(&[
            numbered(
                0,
                line("session_meta", &format!(r#"{{"id":"{own}",{first}}}"#)),
            ),
            numbered(1, said("user", "inherited")),
            numbered(2, item(spawn)),
            numbered(2, event(sibling)),
            numbered(3, said("assistant", "own")),
        ]);
        assert_eq!(transcript.lanes().len(), usize::from(is_lane), "{first}");
        let copies: Vec<_> = transcript
            .entries()
            .filter(|entry| {
                entry
                    .blocks
                    .iter()
                    .any(|block| matches!(block.kind, BlockKind::Text(_)))
            })
            .map(|entry| entry.marks.copy)
            .collect();
        assert_eq!(copies, [!is_lane, false], "{first}");
    }
}

#[test]
fn a_sub_agent_is_a_lane_of_its_parent() {
    let child = "01a0fbd7-d0a0-7000-8000-0000000000a2";
    let meta = |id: &str, more: &str| {
        line(
            "session_meta",
            &format!(r#"{{"id":"{id}","cwd":"/x"{more}}}"#),
        )
    };
    let spawn = item(
        r#"{"type":"function_call","name":"spawn_agent","arguments":"{\"message\":\"look\"}","call_id":"c1"}"#,
    );
    let output = item(&format!(
        r#"{{"type":"function_call_output","call_id":"c1","output":"{{\"agent_id\":\"{child}\",\"nickname\":\"Ada\"}}"}}"#
    ));
    let path = format!("/s/rollout-x-{child}.jsonl");
    let packed = format!("/s/rollout-x-{child}.jsonl.zst");
    let own = [
        meta(
            child,
            r#","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}}"#,
        ),
        said("assistant", "seen"),
    ];
    let parent = [
        meta("01a0fbd7-8280-7000-8000-0000000000a1", ""),
        spawn,
        output,
    ];
    let transcript = transcript(&[
        (RecordPlace::Line, &parent),
        (RecordPlace::CompanionLine(Path::new(&path)), &own),
        (RecordPlace::CompanionLine(Path::new(&packed)), &own),
    ]);
    let lanes: Vec<_> = transcript
        .lanes()
        .iter()
        .map(|lane| (lane.label.clone(), lane.call.clone()))
        .collect();
    assert_eq!(lanes, [("Ada".into(), Some("c1".into()))]);
    assert_eq!(
        texts(&transcript)
            .iter()
            .filter(|text| *text == "seen")
            .count(),
        1
    );
    assert_eq!(
        transcript.meta().id.as_deref(),
        Some("01a0fbd7-8280-7000-8000-0000000000a1")
    );
}

#[test]
fn a_sub_agent_without_its_rollout_is_a_lane_with_its_name() {
    let spawn = item(
        r#"{"type":"function_call","name":"spawn_agent","arguments":"{\"message\":\"look\"}","call_id":"c1"}"#,
    );
    let begun = event(
        r#"{"type":"collab_agent_spawn_end","call_id":"c1","new_thread_id":"01a0fbd7-d0a0-7000-8000-0000000000a2","new_agent_nickname":"Gibbs","status":"pending_init"}"#,
    );
    let transcript = alone(&[spawn, begun]);
    let lanes: Vec<_> = transcript
        .lanes()
        .iter()
        .map(|lane| (lane.label.as_str(), lane.call.clone()))
        .collect();
    assert_eq!(lanes, [("Gibbs", Some("c1".into()))]);
}

#[test]
fn a_command_that_went_on_ends_with_its_own_call_and_not_with_those_that_looked_after_it() {
    let begin = item(
        r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make\"}","call_id":"c1"}"#,
    );
    let running = item(
        r#"{"type":"function_call_output","call_id":"c1","output":"Chunk ID: a\nWall time: 1.0 seconds\nProcess running with session ID 43\nOutput:\nmake"}"#,
    );
    let end = event(
        r#"{"type":"exec_command_end","call_id":"c1","process_id":"43","command":["bash","-lc","make"],"aggregated_output":"make: no rule","exit_code":2,"duration":{"secs":2,"nanos":0}}"#,
    );
    let poll = item(
        r#"{"type":"function_call","name":"write_stdin","arguments":"{\"session_id\":43,\"chars\":\"\"}","call_id":"c2"}"#,
    );
    let polled = item(
        r#"{"type":"function_call_output","call_id":"c2","output":"Chunk ID: b\nWall time: 0.0 seconds\nProcess exited with code 2\nOutput:\n: no rule"}"#,
    );
    let all = [
        begin.clone(),
        running.clone(),
        end,
        poll.clone(),
        polled.clone(),
    ];
    let expected = [
        told("failed", "exit 2", "make: no rule"),
        told("done", "", ": no rule"),
    ];
    assert_eq!(outcomes(&alone(&all)), expected);
    // Without another record of its end, that of the poll counts.
    let expected = [
        told("failed", "exit 2", ": no rule"),
        told("done", "", ": no rule"),
    ];
    assert_eq!(
        outcomes(&alone(&[begin, running, poll.clone(), polled.clone()])),
        expected
    );
    // The end of a process that no call here started belongs to the poll.
    assert_eq!(
        outcomes(&alone(&[poll, polled])),
        [told("failed", "exit 2", ": no rule")]
    );
}

#[test]
fn titles_come_from_the_list_of_threads() {
    let id = "01a0fbd7-8280-7000-8000-0000000000a1";
    let meta = [
        line("session_meta", &format!(r#"{{"id":"{id}"}}"#)),
        said("user", "the first prompt"),
    ];
    let index = [
        format!(r#"{{"id":"{id}","thread_name":"old","updated_at":"2026-06-11T02:44:29Z"}}"#),
        format!(r#"{{"id":"{id}","thread_name":"new","updated_at":"2026-06-12T02:44:29Z"}}"#),
        r#"{"id":"another","thread_name":"other"}"#.to_owned(),
    ];
    let place = RecordPlace::CompanionLine(Path::new("/h/.codex/session_index.jsonl"));
    let transcript = transcript(&[(RecordPlace::Line, &meta), (place, &index)]);
    assert_eq!(transcript.meta().title().map(Text::as_str), Some("new"));
    assert_eq!(
        transcript.tally().records(),
        2,
        "it is no part of the session"
    );
}

#[test]
fn an_interruption_loses_what_is_open() {
    let call = item(r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"a"}"#);
    let aborted = event(r#"{"type":"turn_aborted","reason":"interrupted"}"#);
    let transcript = alone(&[call, aborted]);
    let states: Vec<_> = transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| call.state.clone())
        .collect();
    assert_eq!(states, [ToolState::Lost]);
}

#[test]
fn a_refusal_is_no_failure_and_a_compaction_is_one_line() {
    let call = item(r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"a"}"#);
    let output = item(
        r#"{"type":"function_call_output","call_id":"a","output":"exec command rejected by user"}"#,
    );
    let compacted = line("compacted", r#"{"message":"","replacement_history":[]}"#);
    let event = event(r#"{"type":"context_compacted"}"#);
    let transcript = alone(&[call, output, compacted, event]);
    let calls: Vec<_> = transcript.entries().flat_map(Entry::calls).collect();
    assert!(
        matches!(&calls[0].state, ToolState::Refused(result) if result.verdict == Verdict::Refused)
    );
    let is_compaction = |entry: &&Entry| {
        matches!(
            entry.blocks.first().map(|block| &block.kind),
            Some(BlockKind::Break(Break::Compaction { .. }))
        )
    };
    assert_eq!(transcript.entries().filter(is_compaction).count(), 1);
}

/// Turn ids with and without a time, and turns without ids.
#[test]
fn a_copy_whose_turns_tell_no_time_ends_where_somebody_paused() {
    let at = |second: u32, kind: &str, payload: &str| {
        format!(
            r#"{{"timestamp":"2026-03-02T09:00:{second:02}.000Z","type":"{kind}","payload":{payload}}}"#
        )
    };
    let meta = |id: &str, more: &str| {
        at(
            1,
            "session_meta",
            &format!(r#"{{"id":"019cadc6-9a80-7000-8000-0000000000{id}"{more}}}"#),
        )
    };
    let said = |second, role: &str, text: &str| {
        let content = format!(r#"[{{"type":"output_text","text":"{text}"}}]"#);
        at(
            second,
            "response_item",
            &format!(r#"{{"type":"message","role":"{role}","content":{content}}}"#),
        )
    };
    for (copied, own) in [(r#"{"turn_id":"u1"}"#, r#"{"turn_id":"v1"}"#), ("{}", "{}")] {
        let transcript = alone(&[
            meta(
                "b1",
                r#","forked_from_id":"019cadc6-9a80-7000-8000-0000000000a1""#,
            ),
            meta("a1", ""),
            at(1, "turn_context", copied),
            said(1, "user", "before"),
            said(1, "assistant", "answered"),
            at(2, "turn_context", own),
            said(3, "user", "mine"),
            said(6, "assistant", "yours"),
        ]);
        let is_copy = transcript.entries().filter(|entry| {
            entry
                .blocks
                .iter()
                .any(|block| matches!(block.kind, BlockKind::Text(_)))
        });
        let marks: Vec<_> = is_copy.map(|entry| entry.marks.copy).collect();
        assert_eq!(marks, [true, true, false, false], "{copied}");
    }
}

#[test]
fn a_sub_agent_that_code_started_is_a_lane_of_a_call_of_its_own() {
    let child = "01a0fbd7-d0a0-7000-8000-0000000000a2";
    let path = format!("/s/rollout-x-{child}.jsonl");
    let exec = item(
        r#"{"type":"custom_tool_call","call_id":"c2","name":"exec","input":"tools.spawn_agent({})"}"#,
    );
    let done = |tool: &str| {
        event(&format!(
            r#"{{"type":"item_completed","item":{{"type":"CollabAgentToolCall","id":"exec-{tool}","tool":"{tool}","status":"completed","receiver_thread_ids":["{child}"],"prompt":"check two","agents_states":{{"{child}":{{"status":"completed","message":"two fine"}}}}}}}}"#
        ))
    };
    let own = [
        line("session_meta", &format!(r#"{{"id":"{child}"}}"#)),
        said("assistant", "seen"),
    ];
    let transcript = transcript(&[
        (
            RecordPlace::Line,
            &[exec, done("spawn_agent"), done("wait")],
        ),
        (RecordPlace::CompanionLine(Path::new(&path)), &own),
    ]);
    let calls: Vec<_> = transcript
        .lanes()
        .iter()
        .map(|lane| lane.call.clone())
        .collect();
    assert_eq!(calls, [Some("exec-spawn_agent".into())]);
    assert!(
        texts(&transcript).contains(&"spawn_agent: check two".to_owned()),
        "{:?}",
        texts(&transcript)
    );
}

#[test]
fn the_first_generation_tells_when_and_where_it_began() {
    let environment =
        r"<environment_context>\nCurrent working directory: /home/ada/mill\n</environment_context>";
    let transcript = alone(&[
        r#"{"id":"38b123aa-933b-4dfe-bd12-d42671fcb001","timestamp":"2025-08-20T12:00:00.000Z","instructions":null}"#
            .to_owned(),
        format!(
            r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{environment}"}}]}}"#
        ),
    ]);
    let began = transcript
        .entries()
        .find_map(|entry| entry.at)
        .map(Timestamp::to_rfc3339);
    assert!(began.is_some_and(|at| at.starts_with("2025-08-20T12:00:00")));
    assert_eq!(transcript.meta().cwd.as_deref(), Some("/home/ada/mill"));
}

#[test]
fn of_a_process_that_was_lost_nobody_knows_how_it_ended() {
    let end = |code: i64, status: &str| {
        let call = item(
            r#"{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"serve\"}","call_id":"c1"}"#,
        );
        let output = item(
            r#"{"type":"function_call_output","call_id":"c1","output":"Chunk ID: a\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\nup"}"#,
        );
        let ended = event(&format!(
            r#"{{"type":"item_completed","item":{{"type":"CommandExecution","id":"c1","process_id":"7","command":["serve"],"status":"{status}","exit_code":{code},"aggregated_output":"up"}}}}"#
        ));
        let transcript = alone(&[call, output, ended]);
        let calls: Vec<&ToolCall> = transcript.entries().flat_map(Entry::calls).collect();
        let result = calls[0].state.result().unwrap();
        (result.verdict, result.facts.to_string())
    };
    assert_eq!(
        end(-1, "failed"),
        (Verdict::Done, "still running as 7".into())
    );
    assert_eq!(end(3, "failed"), (Verdict::Failed, "exit 3".into()));
}
