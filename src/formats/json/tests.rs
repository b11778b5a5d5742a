//! What the lenient reader takes and what it mends.

use super::repair::repair;
use super::{Json, parse, split};

#[test]
fn deep_values_stay_text() {
    let text = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(parse(&text).is_ok());
}

#[test]
fn lone_surrogates_and_bare_controls_are_mended() {
    let broken = "{\"a\":\"lone \\ud800 x\u{1}\\q\",\"b\":\"\\ud83d\\ude00\"}";
    assert!(parse(broken).is_err());
    let mended = repair(broken).unwrap();
    let value = parse(&mended).unwrap();
    assert_eq!(value.get("a").str(), Some("lone \u{fffd} x\u{1}\\q"));
    assert_eq!(value.get("b").str(), Some("😀"));
    assert_eq!(repair("{\"fine\":1}"), None);
}

#[test]
fn two_values_on_a_line_are_split() {
    let line = "{\"a\":1}{\"b\":2}";
    assert!(parse(line).unwrap_err().trailing);
    assert_eq!(split(line), [0..7, 7..14]);
}

#[test]
fn the_last_of_repeated_keys_counts() {
    assert_eq!(parse("{\"a\":1,\"a\":2}").unwrap().get("a"), &Json::Integer(2));
}
