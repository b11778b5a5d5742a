//! The questions for which users open sessions, and the keys that answer them from the end of the
//! session, where it opens: two keys at most, three for a result without its call. The answer is
//! then visible without scrolling, on a small terminal as well.

use std::path::PathBuf;

use tv::app::input::keys::parse_keys;
use tv::render::theme::Theme;

use crate::stage::{Stage, demo, fixture};

/// The question, the keys that answer it, and words that the screen must have then.
type Answer = (&'static str, &'static str, &'static [&'static str]);

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

#[track_caller]
fn asks(path: PathBuf, most: usize, answers: &[Answer]) {
    for (size, (question, keys, words)) in SIZES
        .into_iter()
        .flat_map(|size| answers.iter().map(move |answer| (size, answer)))
    {
        let mut stage = Stage::open(&path, size, Theme::dark());
        // Some answers are on the first screen.
        if !keys.is_empty() {
            assert!(
                parse_keys(keys).unwrap().len() <= most,
                "{question}: {keys}"
            );
            stage.press(keys);
            stage.wait(300);
            stage.arrange();
        }
        let picture = stage.picture();
        for words in *words {
            assert!(
                picture.contains(words),
                "{question} ({keys}) at {size:?}: {words} is not on the screen:\n{picture}"
            );
        }
    }
}

#[test]
fn a_session_of_claude_code_answers_in_two_keys() {
    asks(
        fixture("claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl"),
        2,
        &[
            (
                "what was asked",
                "B",
                &[
                    "asked",
                    "The forecast prints Fahrenheit as Celsius",
                    "answer",
                ],
            ),
            ("what was done", "B", &["src/parse.rs  +1 -1", "not mended"]),
            (
                "what failed and why",
                "!",
                &["FAILURES", "run cargo test", "exit 101"],
            ),
            (
                "what an edit changed",
                "7 enter",
                &["-        \"fahrenheit\" => Unit::Celsius"],
            ),
            ("what it cost", "", &["$0.18"]),
            ("what a sub-agent did", "[ s", &["Find other unit mix-ups"]),
            ("which call was slowest", "3", &["took↓", "#4 Bash"]),
            (
                "where the time went",
                "2",
                &["TIMELINE", "session", "model", "you"],
            ),
            ("what the model saw", "5", &["CONTEXT"]),
        ],
    );
}

#[test]
fn a_thread_of_codex_answers_in_two_keys() {
    asks(
        fixture("codex/rollout-2026-07-28T15-42-00-019fa8f5-f840-7000-8000-0000000000c1.jsonl"),
        2,
        &[
            ("what was asked", "B", &["asked"]),
            (
                "what failed and why",
                "!",
                &["FAILURES", "TypeError: sacks is undefined"],
            ),
            ("what an edit changed", "7", &["FILES", "flour.txt"]),
            ("which call was slowest", "3", &["took↓", "#1 exec"]),
            ("where the time went", "2", &["TIMELINE", "session"]),
            ("what the model saw", "5", &["CONTEXT"]),
        ],
    );
}

#[test]
fn a_session_of_openclaw_answers_in_two_keys() {
    asks(
        demo(),
        2,
        &[
            ("what was asked", "B", &["asked"]),
            ("what failed and why", "!", &["FAILURES", "✗"]),
            ("what an edit changed", "7 enter", &["FILES", "+"]),
            ("what it cost", "", &["$"]),
            ("which call was slowest", "3", &["took↓"]),
            ("where the time went", "2", &["TIMELINE", "session"]),
        ],
    );
}

#[test]
fn a_session_of_pi_answers_in_two_keys() {
    asks(
        fixture("pi/sub-agents.jsonl"),
        2,
        &[
            (
                "what was asked",
                "B",
                &["asked", "how many sacks, and do the sails turn?"],
            ),
            ("what it cost", "", &["$0.25"]),
            ("what a sub-agent did", "[ s", &["count the sacks"]),
            ("which call was slowest", "3", &["took↓", "#1 "]),
        ],
    );
}

#[test]
fn an_orphan_is_found_and_led_to_where_it_may_belong_in_three_keys() {
    let words = "no call has the id toolu_01Qz4vK1mB7nR2sT8wX3yA1; nothing near it fits";
    let path = fixture("lint/orphan-result/bad.jsonl");
    for size in SIZES {
        let mut stage = Stage::open(&path, size, Theme::dark());
        stage.press("! %");
        assert!(stage.picture().contains(words), "{}", stage.picture());
    }
}

/// The list of what failed, its heading, its title, CHECKS beside the text and the filter of errors all count the same.
#[test]
fn what_failed_is_counted_once() {
    let sessions = [
        fixture("claude-code/5d0c1c52-7f4e-4a39-9d5b-2f6f0c9b1e01.jsonl"),
        demo(),
    ];
    for path in sessions {
        let mut stage = Stage::open(&path, (120, 60), Theme::dark());
        let beside = stage.picture();
        stage.press("!");
        let rows: Vec<String> = stage
            .app
            .reader
            .views
            .sheet
            .rows
            .iter()
            .map(|row| row.line.to_string())
            .collect();
        // Errors of the lint have the line of their record there, in a column of its own.
        let is_failure = |row: &&String| {
            row.starts_with("✗ ") && row.chars().nth(2).is_some_and(|c| c.is_ascii_digit())
        };
        let listed = rows.iter().filter(is_failure).count();
        let words = format!("{listed} failures");
        let title: String = stage
            .app
            .reader
            .views
            .sheet
            .title
            .iter()
            .map(|span| span.content.as_ref())
            .collect();
        assert!(title.contains(&words), "{title}: {listed} are listed");
        assert!(beside.contains(&words), "{words}:\n{beside}");
        assert!(
            rows.contains(&format!("FAILURES  {listed}")),
            "{listed}: {rows:#?}"
        );
        stage.press("q f e g");
        let has_failed = |stage: &Stage| {
            let focus = stage.app.reader.text.view.focus.unwrap();
            let entry = stage
                .app
                .reader
                .session
                .transcript
                .get(focus.entry)
                .unwrap();
            entry.has_failed(&entry.blocks[focus.block].kind)
        };
        let mut found = usize::from(has_failed(&stage));
        let mut here = stage.app.reader.text.view.focus;
        loop {
            stage.press("e");
            if stage.app.reader.text.view.focus == here {
                break;
            }
            here = stage.app.reader.text.view.focus;
            found += 1;
        }
        assert_eq!(found, listed, "{}", stage.picture());
    }
}
