//! What answers cost.

use serde_json::json;

use super::{EARLY, read};

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
