//! The usage and cost of answers.

use std::path::Path;

use serde_json::json;

use super::{Claude, EARLY, feed_file, read, result_of, transcript_of};
use crate::formats::decoder::{Format, RecordPlace};
use crate::model::edit::Batch;

#[test]
fn output_without_a_reason_for_its_end_is_at_least_so_much() {
    let line = |number: u32, stop: &str| {
        let usage = json!({"input_tokens": 10, "output_tokens": 3});
        let message = json!({"id": format!("msg_{number}"), "role": "assistant", "model": "claude-opus-4-6",
            "content": [{"type": "text", "text": "There."}], "usage": usage,
            "stop_reason": Some(stop).filter(|stop| !stop.is_empty())});
        json!({"type": "assistant", "uuid": format!("u{number}"), "message": message}).to_string()
    };
    let partial = |stops: [&str; 2]| {
        let text = format!("{}\n{}\n", line(1, stops[0]), line(2, stops[1]));
        read(&text).totals().sum().partial
    };
    assert_eq!(
        [
            partial(["end_turn", "tool_use"]),
            partial(["end_turn", ""]),
            partial(["", ""])
        ],
        [0, 1, 2]
    );
    // The lines of one message arrive one by one; the last one has the stop reason.
    let text = format!("{}\n{}\n", line(1, ""), line(1, "end_turn"));
    assert_eq!(read(&text).totals().sum().partial, 0);
    let early = read(EARLY).totals().sum();
    assert_eq!(
        (early.requests, early.priced, early.partial),
        (3, 1, 2),
        "where the cost is recorded, it is complete"
    );
}

#[test]
fn what_the_program_says_below_a_file_is_no_line_of_it() {
    let facts = |content: &str| {
        let call = json!({"type": "tool_use", "id": "toolu_R", "name": "Read", "input": {"file_path": "a.rs"}});
        let result = json!({"type": "tool_result", "tool_use_id": "toolu_R", "content": content});
        let line = |role: &str, block| json!({"type": role, "uuid": role, "message": {"role": role, "content": [block]}});
        let text = format!("{}\n{}\n", line("assistant", call), line("user", result));
        result_of(&read(&text), "toolu_R").facts.to_string()
    };
    let file = "     1→fn main() {\n     2→}\n";
    assert_eq!(
        facts(&format!(
            "{file}\n<system-reminder>\nbe kind\n</system-reminder>\n"
        )),
        "2 lines"
    );
    assert_eq!(facts(file), "", "all lines are the file's");
    assert_eq!(
        facts("notes\n<system-reminder>\nbe kind\n</system-reminder>"),
        "",
        "no file"
    );
}

/// An answer with 10 input tokens at this minute of an hour, in the main lane or in the file of a
/// sub-agent.
fn answer(number: u32, minute: u32, agent: Option<&str>) -> String {
    let message = json!({"id": format!("msg_{number:08}"), "role": "assistant", "model": "claude-opus-4-6",
        "content": [{"type": "text", "text": "There."}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 1000}});
    let mut line = json!({"type": "assistant", "uuid": format!("u{number}"), "sessionId": "s",
        "timestamp": format!("2026-10-20T10:{minute:02}:00.000Z"), "isSidechain": agent.is_some(), "message": message});
    if let Some(agent) = agent {
        line["agentId"] = json!(agent);
    }
    format!("{line}\n")
}

fn cost_state(total: f64, models: &[(&str, u32, f64)], lacks_cost: bool) -> String {
    let model = |(name, input, usd): &(&str, u32, f64)| {
        (
            (*name).to_owned(),
            json!({"inputTokens": input, "outputTokens": 1000, "costUSD": usd}),
        )
    };
    let models: serde_json::Map<String, serde_json::Value> = models.iter().map(model).collect();
    let line = json!({"type": "cost-state", "sessionId": "s", "totalCostUSD": total, "modelUsage": models,
        "hasUnknownModelCost": lacks_cost});
    format!("{line}\n")
}

#[test]
fn the_last_cost_that_is_recorded_counts_and_what_comes_later_on_top() {
    // The recorded cost in micro-dollars, the output tokens of open requests, and whether the agent
    // says that the cost is incomplete.
    let cost = |text: &str| {
        let transcript = read(text);
        let totals = transcript.totals();
        let open: u64 = totals
            .open_by_model()
            .iter()
            .map(|(_, spent)| spent.output.total)
            .sum();
        (
            totals.run_nanos().map(|nanos| nanos / 1000),
            open,
            totals.lacks_run_cost(),
        )
    };
    let (opus, haiku) = ("claude-opus-4-6", "claude-haiku-4-5");
    let first = answer(1, 0, None) + &cost_state(0.5, &[(opus, 10, 0.3), (haiku, 7, 0.2)], false);
    assert_eq!(cost(&first), (Some(500_000), 0, false));
    let later = first.clone() + &answer(2, 1, None);
    assert_eq!(cost(&later), (Some(500_000), 1000, false));
    let again = later + &cost_state(0.9, &[(opus, 20, 0.9)], true);
    assert_eq!(
        cost(&again),
        (Some(900_000), 0, true),
        "the agent had no price for a model"
    );
    let transcript = read(&again);
    let models: Vec<(String, i64)> = transcript
        .totals()
        .by_model()
        .iter()
        .filter(|(_, spent)| spent.input.total > 0)
        .map(|(name, spent)| (name.to_string(), spent.recorded_nanos))
        .collect();
    assert_eq!(
        models,
        [(opus.to_owned(), 900_000_000)],
        "what the first one said of others is gone"
    );
    assert_eq!(transcript.totals().sum().requests, 2);
}

#[test]
fn what_sub_agents_spend_after_a_recorded_cost_is_the_same_whichever_file_is_read_first() {
    let opus = "claude-opus-4-6";
    let main = answer(1, 0, None)
        + &answer(2, 10, None)
        + &cost_state(1.0, &[(opus, 40, 1.0)], false)
        + &answer(3, 30, None);
    // The second one ran while the main lane was idle, the third one after that had resumed.
    let agent =
        answer(11, 5, Some("a1")) + &answer(12, 20, Some("a1")) + &answer(13, 40, Some("a1"));
    let path = Path::new("agent-a1.jsonl");
    let read = |agent_first: bool| {
        let mut decoder = Claude.decoder(None);
        let mut out = Batch::default();
        let mut files = [
            (main.as_str(), 0, RecordPlace::Line),
            (agent.as_str(), 1, RecordPlace::CompanionLine(path)),
        ];
        if agent_first {
            files.reverse();
        }
        for (text, file, place) in files {
            feed_file(&mut *decoder, text, file, place, &mut out);
        }
        transcript_of(out)
    };
    for agent_first in [false, true] {
        let transcript = read(agent_first);
        let open: u64 = transcript
            .totals()
            .open_by_model()
            .iter()
            .map(|(_, spent)| spent.output.total)
            .sum();
        assert_eq!(
            (open, transcript.totals().sum().requests),
            (2_000, 6),
            "agent first: {agent_first}"
        );
    }
}

#[test]
fn requests_within_a_request_are_paid_for_and_fill_no_window() {
    let step = |kind: &str, input: u32, model: Option<&str>| json!({"type": kind, "input_tokens": input, "output_tokens": 10, "model": model});
    let usage = json!({"input_tokens": 300, "output_tokens": 20, "iterations": [step("message", 100, None),
        step("advisor_message", 5000, Some("claude-haiku-4-5")), step("message", 200, None)]});
    let line = |number: u32| {
        let message = json!({"id": "msg_00000001", "role": "assistant", "model": "claude-opus-4-6",
            "content": [{"type": "text", "text": "There."}], "stop_reason": "end_turn", "usage": usage});
        json!({"type": "assistant", "uuid": format!("u{number}"), "message": message}).to_string()
    };
    let transcript = read(&format!("{}\n{}\n", line(1), line(2)));
    let sums: Vec<(String, u64, u64)> = transcript
        .totals()
        .by_model()
        .iter()
        .map(|(name, spent)| (name.to_string(), spent.requests, spent.input.total))
        .collect();
    let expected = [("claude-haiku-4-5", 1, 5000), ("claude-opus-4-6", 1, 300)];
    assert_eq!(
        sums,
        expected.map(|(name, requests, input)| (name.to_owned(), requests, input))
    );
    let answer = transcript.find("msg_00000001");
    let usage = answer.and_then(|id| transcript.get(id)?.usage.as_deref());
    assert_eq!(usage.unwrap().last_step().context(), 210);
    let (_, advice) = transcript.asides().next().unwrap();
    assert_eq!(
        advice.after, answer,
        "it belongs to the answer that it was made for"
    );
}
