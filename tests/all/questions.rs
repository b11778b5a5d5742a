//! The questions with which sessions are opened, and the keys that answer them: three at most, from the end of the
//! session, at which it opens.

use std::path::PathBuf;

use tv::app::input::keys::parse_keys;
use tv::render::theme::Theme;

use crate::stage::{Stage, demo, fixture};

/// Words that the screen must have, and the keys that lead to them.
type Answer = (&'static str, &'static str, &'static [&'static str]);

fn asks(path: PathBuf, answers: &[Answer]) {
    for (question, keys, words) in answers {
        let mut stage = Stage::open(&path, (120, 40), Theme::dark());
        // Some answers are on the first screen.
        if !keys.is_empty() {
            assert!(parse_keys(keys).unwrap().len() <= 3, "{question}: {keys}");
            stage.press(keys);
        }
        let picture = stage.picture();
        for words in *words {
            assert!(
                picture.contains(words),
                "{question} ({keys}): {words} is not on the screen:\n{picture}"
            );
        }
    }
}

#[test]
fn a_session_of_claude_code_answers_in_three_keys() {
    asks(
        fixture("claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl"),
        &[
            (
                "what was asked",
                "B",
                &[
                    "asked",
                    "The forecast prints Fahrenheit as Celsius",
                    "Thanks. Commit it.",
                ],
            ),
            (
                "what failed and why",
                "g e",
                &["✗", "error: test failed", "panicked at src/unit.rs:29"],
            ),
            (
                "what an edit changed",
                "F7 enter",
                &[
                    "-        \"fahrenheit\" => Unit::Celsius",
                    "+        \"fahrenheit\" => Unit::Fahrenheit",
                ],
            ),
            ("what it cost", "F4", &["MONEY", "$0.18"]),
            (
                "what a sub-agent did",
                "[ s enter",
                &[
                    "Find other unit mix-ups",
                    "Unit:: in src",
                    "names Kelvin and stores Celsius",
                ],
            ),
            (
                "which call was slowest",
                "F3 +",
                &["took↓", "#4 Bash", "cargo test"],
            ),
        ],
    );
}

#[test]
fn a_session_of_openclaw_answers_in_three_keys() {
    asks(
        demo(),
        &[
            ("what was asked", "B", &["asked"]),
            ("what failed and why", "E", &["✗"]),
            ("what an edit changed", "F7 enter", &["FILES", "+"]),
            ("what it cost", "F4", &["MONEY", "$"]),
            ("what a sub-agent did", "[ s enter", &["▾"]),
            ("which call was slowest", "F3 +", &["took↓"]),
        ],
    );
}

#[test]
fn a_session_of_pi_answers_in_three_keys() {
    asks(
        fixture("pi/sub-agents.jsonl"),
        &[
            (
                "what was asked",
                "B",
                &["asked", "how many sacks, and do the sails turn?"],
            ),
            ("what it cost", "", &["$0.25"]),
            ("what a sub-agent did", "[ s enter", &["▾ count the sacks"]),
            ("which call was slowest", "F3 +", &["took↓", "#1 "]),
        ],
    );
}

#[test]
fn an_orphan_is_found_and_led_to_where_it_may_belong_in_three_keys() {
    asks(
        fixture("lint/orphan-result/bad.jsonl"),
        &[(
            "where it belongs",
            "! enter %",
            &["no call has the id toolu_01Qz4vK1mB7nR2sT8wX3yA1; nothing near it fits"],
        )],
    );
}
