//! What answers cost, and how much was read.

use serde_json::json;

use super::{EARLY, read, result_of};

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
    assert_eq!([partial(["end_turn", "tool_use"]), partial(["end_turn", ""]), partial(["", ""])], [0, 1, 2]);
    // The lines of one message come one by one; the last one says why it stopped.
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
        let call =
            json!({"type": "tool_use", "id": "toolu_R", "name": "Read", "input": {"file_path": "a.rs"}});
        let result = json!({"type": "tool_result", "tool_use_id": "toolu_R", "content": content});
        let line = |role: &str, block| json!({"type": role, "uuid": role, "message": {"role": role, "content": [block]}});
        let text = format!("{}\n{}\n", line("assistant", call), line("user", result));
        result_of(&read(&text), "toolu_R").facts.to_string()
    };
    let file = "     1→fn main() {\n     2→}\n";
    assert_eq!(facts(&format!("{file}\n<system-reminder>\nbe kind\n</system-reminder>\n")), "2 lines");
    assert_eq!(facts(file), "", "all lines are the file's");
    assert_eq!(facts("notes\n<system-reminder>\nbe kind\n</system-reminder>"), "", "no file");
}
