//! Tests of what the lenient reader accepts and repairs.

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use serde_json::Value;

use super::repair::repair;
use super::{Json, parse, read, read_without, split};
use crate::model::body::Tree;
use crate::model::text::{Text, prefix};

#[test]
fn deep_values_stay_text() {
    let text = format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(parse(&text).is_ok());
}

#[test]
fn what_has_millions_of_values_stays_text() {
    let text = format!("{{\"a\":[0{}]}}", ",0".repeat(2_000_000));
    assert_eq!(parse(&text), Ok(Json::Deep(text.as_str().into())));
    assert!(parse(prefix(&text, text.len() - 1)).unwrap_err().unfinished);
}

#[test]
fn a_tree_of_many_short_values_is_their_source() {
    let numbers = format!("[0{}]", ",0".repeat(5_000));
    let text = format!(
        "{{\"words\":\"{}\",\"all\":{numbers}}}",
        "long ".repeat(20_000)
    );
    let tree = parse(&text).unwrap().to_tree();
    assert_eq!(
        tree.get("all"),
        Some(&Tree::Text(Text::from(numbers.as_str())))
    );
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
fn damage_is_where_the_lexer_stops_whatever_python_wrote_before() {
    let text = r#"{"NaN \" é":NaN,"b":[-Infinity,Infinity],"c":tru}"#;
    assert_eq!(parse(text).unwrap_err().at, text.len() - 1);
    assert!(parse(&text.replace("tru", "true")).is_ok());
    assert_eq!(split("{\"a\":NaN}{\"b\":2}").len(), 2);
}

#[test]
fn the_last_of_repeated_keys_counts() {
    assert_eq!(
        parse("{\"a\":1,\"a\":2}").unwrap().get("a"),
        &Json::Integer(2)
    );
}

/// Texts that are JSON or nearly so.
fn nearly_json() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just("\""),
        Just("\\"),
        Just(":"),
        Just(","),
        Just(" "),
        Just("\n"),
        Just("\t"),
        Just("\u{1}"),
        Just("\u{a0}"),
        Just("é"),
        Just("null"),
        Just("true"),
        Just("false"),
        Just("nul"),
        Just("0"),
        Just("-0"),
        Just("-"),
        Just("7"),
        Just("NaN"),
        Just("-Infinity"),
        Just("01"),
        Just("1.5"),
        Just("1e999"),
        Just("2E+3"),
        Just("9223372036854775807"),
        Just("9223372036854775808"),
        Just("-9223372036854775808"),
        Just("99999999999999999999999"),
        Just("123456789012345678"),
        Just("\"a\":"),
        Just("\"\\n\""),
        Just("\"\\u00e9\""),
        Just("\"\\ud83d\\ude00\""),
        Just("\"\\ud83d\""),
        Just("\"\\ude00\""),
        Just("\\u12"),
        Just("\\q"),
        Just("\"\\/\\b\\f\\r\\t\\\\\""),
        Just("long text without end "),
    ];
    prop::collection::vec(bit, 0..24).prop_map(|bits| bits.concat())
}

/// JSON with strings of many kinds.
fn json() -> impl Strategy<Value = Value> {
    let text = prop::collection::vec(
        prop_oneof![
            "[a-z .]{0,40}",
            Just("\n".to_owned()),
            Just("\"\\".to_owned()),
            Just("\u{1b}[0m".to_owned()),
            Just("é😀\u{2028}".to_owned()),
            Just("\t \r\n".to_owned()),
            Just("\u{b}".to_owned()),
            Just("\\n".to_owned())
        ],
        0..40,
    )
    .prop_map(|parts| parts.concat());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..6).prop_map(Value::from_iter),
        ]
    })
}

fn is_same(mine: &Json<'_>, theirs: &Value) -> bool {
    match (mine, theirs) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(mine), Value::Bool(theirs)) => mine == theirs,
        (Json::Integer(mine), Value::Number(theirs)) => theirs.as_i64() == Some(*mine),
        (Json::Number(mine), Value::Number(theirs)) => {
            theirs.as_i64().is_none() && theirs.as_f64().map(f64::to_bits) == Some(mine.to_bits())
        }
        (Json::Str(mine), Value::String(theirs)) => mine == theirs,
        (Json::Array(mine), Value::Array(theirs)) => {
            mine.len() == theirs.len()
                && mine
                    .iter()
                    .zip(theirs)
                    .all(|(mine, theirs)| is_same(mine, theirs))
        }
        (Json::Object(_), Value::Object(theirs)) => theirs
            .iter()
            .all(|(key, theirs)| is_same(mine.get(key), theirs)),
        _ => false,
    }
}

proptest! {
    #[test]
    fn what_is_taken_is_what_the_parser_takes(text in nearly_json()) {
        assert_eq!(read(&text).is_none(), super::damage::find(&text).is_some(), "{text}");
        let member = format!(r#"{{"content":{text},"usage":1}}"#);
        // Numbers out of range and lone surrogates are only found in values that are parsed.
        if read(&member).is_some() {
            assert!(read_without(&member, &["content"]).is_some(), "{text}");
        }
        if let (Some(mine), Ok(theirs)) = (read(&text), serde_json::from_str::<Value>(&text)) {
            assert!(is_same(&mine, &theirs), "{text}");
        }
    }

    #[test]
    fn values_are_those_of_the_parser(value in json(), at in any::<prop::sample::Index>()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap(), ascii(&value.to_string())] {
            let mine = read(&text).unwrap();
            let again: Value = serde_json::from_str(&text).unwrap();
            assert!(is_same(&mine, &again), "{text}");
            let cut = prefix(&text, at.index(text.len()));
            assert_eq!(read(cut).is_none(), super::damage::find(cut).is_some(), "{cut}");
        }
    }
}

/// Escapes all characters except ASCII.
fn ascii(text: &str) -> String {
    let mut out = String::new();
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\u{unit:04X}")),
        }
    }
    out
}

#[test]
fn a_member_that_stays_closed_is_as_it_is_written() {
    let record =
        r#"{"message":{"content":[{"text":"a \"]\\"}, {"x":[1]}],"usage":{"content":"b\n"}}}"#;
    let value = read_without(record, &["content"]).unwrap();
    assert_eq!(
        value.at("message.content").str(),
        Some(r#"[{"text":"a \"]\\"}, {"x":[1]}]"#)
    );
    assert_eq!(value.at("message.usage.content").str(), Some(r"b\n"));
    for broken in [
        r#"[{"text":"a}"#,
        "[1}",
        r#"[{"text":"a"]}"#,
        "[1,]",
        "[1 2]",
        r#""\x""#,
        r#"{"a" 1}"#,
        "[01]",
    ] {
        assert!(
            read_without(&format!(r#"{{"content":{broken}}}"#), &["content"]).is_none(),
            "{broken}"
        );
    }
    assert!(read(record).unwrap().at("message.content").str().is_none());
}
