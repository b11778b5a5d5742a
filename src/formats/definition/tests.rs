mod ends;
mod hostile;
mod unknown;

use std::path::Path as FilePath;

use super::read::read;
use super::rule::Definition;
use crate::formats;
use crate::formats::decoder::{Format, RecordPlace, feed};
use crate::formats::fed;
use crate::formats::json::{self, Json};
use crate::formats::probe::{Confidence, Probe};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Entry, Role};
use crate::model::record::{Origin, Record};
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

/// The format of an invented agent.
const HOME_MADE: &str = r#"
name = "home-made"
[detect]
certain = [{ has = ["who", "step"] }]
[entry]
at = "t"
[session]
cwd = "dir"
[[record]]
when  = { who = "me" }
entry = { role = "user" }
block = [{ text = "say" }]
[[record]]
when  = { who = "bot" }
entry = { role = "assistant", key = "id", model = "llm" }
block = [{ thinking = "why" }, { text = "say" }, { each = "do[]", call = "n", name = "tool", input = "with" }]
usage = { input = "tok.in", cache_read = "tok.hit", output = ["tok.out", "tok.more"], input_includes_cache = true }
[[record]]
when   = { has = "did" }
result = { of = "did", text = "got", failed = "ok=false", took = "secs:s" }
[[record]]
when   = { has = "back" }
rewind = { to = "back" }
[[record]]
when    = { has = "all" }
records = "all[]"
replace = true
[[record]]
when = { who = "clock" }
skip = "a tick"
"#;

fn definition(text: &str) -> &'static Definition {
    Box::leak(Box::new(
        read(text, None).unwrap_or_else(|mistakes| panic!("{mistakes:?}")),
    ))
}

/// Reads lines with a definition. Returns the transcript and the batch.
pub(in crate::formats::definition) fn read_lines(
    text: &str,
    lines: &[&str],
) -> (Transcript, Batch) {
    let mut decoder = definition(text).decoder(None);
    let mut out = Batch::default();
    for (at, line) in (0..).zip(lines) {
        let origin = Origin {
            at,
            ..Origin::default()
        };
        feed(
            &mut *decoder,
            Record {
                origin,
                bytes: line.as_bytes(),
            },
            RecordPlace::Line,
            &mut out,
        );
    }
    let mut transcript = Transcript::new();
    transcript.apply(out.clone());
    transcript.update_derived();
    (transcript, out)
}

#[test]
fn a_session_is_read_by_its_rules() {
    let (transcript, out) = read_lines(
        HOME_MADE,
        &[
            r#"{"who":"me","step":1,"t":1700000000,"say":"hello","dir":"/w"}"#,
            r#"{"who":"bot","step":2,"id":"b1","t":1700000001,"llm":"m","why":"asked","say":"hi","do":[{"n":"c1","tool":"bash","with":{"command":"ls"}}],"tok":{"in":10,"hit":4,"out":5,"more":2}}"#,
            r#"{"did":"c1","got":"a\nb","ok":false,"secs":1.5,"t":1700000002}"#,
            r#"{"who":"clock"}"#,
            r#"{"who":"alien","x":1}"#,
        ],
    );
    let words: Vec<&str> = transcript
        .entries()
        .map(|entry| entry.role.word())
        .collect();
    assert_eq!(words, ["user", "assistant", "harness"]);
    let bot = transcript.entries().nth(1).unwrap();
    let call = bot.calls().next().unwrap();
    assert_eq!(
        (call.state.word(), call.headline.as_str()),
        ("failed", "ls")
    );
    assert_eq!(call.state.result().unwrap().duration_ms, Some(1500));
    let usage = bot.usage.as_ref().unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.output),
        (Some(6), Some(4), Some(7))
    );
    assert_eq!(transcript.meta().cwd.as_ref().unwrap().as_str(), "/w");
    assert_eq!(transcript.meta().title().unwrap().as_str(), "hello");
    let tally = &out.tally;
    assert_eq!((tally.shown, tally.merged, tally.passed), (3, 1, 1));
    assert_eq!(tally.unknown.len(), 1, "{:?}", tally.unknown);
}

#[test]
fn what_is_taken_back_stays_and_is_undone() {
    let say = |id: &str| format!(r#"{{"who":"bot","step":1,"id":"{id}","say":"{id}"}}"#);
    let (a, b, c) = (say("a"), say("b"), say("c"));
    let undone = |transcript: &Transcript| -> Vec<(String, bool)> {
        transcript
            .entries()
            .map(|entry| (entry.key.as_str().to_owned(), entry.marks.undone))
            .collect()
    };
    let (transcript, _) = read_lines(HOME_MADE, &[&a, &b, &c, r#"{"back":"b"}"#]);
    assert_eq!(
        undone(&transcript),
        [("a".into(), false), ("b".into(), true), ("c".into(), true)]
    );
    let all = format!(r#"{{"all":[{},{}]}}"#, say("a"), say("d"));
    let (transcript, _) = read_lines(HOME_MADE, &[&a, &b, &all]);
    assert_eq!(
        undone(&transcript),
        [("a".into(), false), ("b".into(), true), ("d".into(), false)]
    );
    assert!(
        transcript
            .entries()
            .all(|entry| matches!(entry.blocks[0].kind, BlockKind::Text(_)))
    );
}

#[test]
fn records_that_lie_too_deep_are_shown_and_told() {
    let mut line = r#"{"who":"me","step":1,"say":"deep"}"#.to_owned();
    for _ in 0..6 {
        line = format!(r#"{{"all":[{line},{{"who":"me","step":1,"say":"x"}}]}}"#);
    }
    let text = HOME_MADE.replace("replace = true", "");
    let (transcript, out) = read_lines(&text, &[&line]);
    assert_eq!(
        transcript.entries().count(),
        6,
        "four of the rules, two as they are"
    );
    assert!(
        out.notices
            .iter()
            .any(|notice| notice.what.contains("what lies deeper")),
        "{:?}",
        out.notices
    );
}

#[test]
fn a_constant_that_is_no_role_is_a_mistake() {
    let wrong = |role: &str| {
        read(
            &HOME_MADE.replace("role = \"user\"", &format!("role = \"{role}\"")),
            None,
        )
        .err()
    };
    assert!(wrong("='Human'").is_none() && wrong("who|='harness'").is_none());
    let mistakes = wrong("who|='usr'").unwrap();
    assert!(
        mistakes
            .iter()
            .any(|mistake| mistake.what.contains("`usr` is no role")),
        "{mistakes:?}"
    );
}

/// A followed session is read in the order of writing; when it is read again, one lane follows the
/// other.
#[test]
fn calls_without_ids_pair_within_their_lanes() {
    let text = HOME_MADE
        .replace("at = \"t\"", "at = \"t\"\nlane = \"in\"")
        .replace("call = \"n\"", "call = \"@order\"")
        .replace("of = \"did\"", "of = \"@order\"");
    let ask = |lane: &str| {
        format!(r#"{{"who":"bot","step":1,"id":"{lane}","in":"{lane}","do":[{{"tool":"bash"}}]}}"#)
    };
    let answer = |lane: &str| format!(r#"{{"did":"x","got":"{lane}","in":"{lane}"}}"#);
    let (ask, answer) = (["a", "b"].map(ask), ["a", "b"].map(answer));
    let outputs = |lines: [&str; 4]| -> Vec<(String, String)> {
        let (transcript, _) = read_lines(&text, &lines);
        let mut outputs: Vec<_> = transcript
            .entries()
            .flat_map(|entry| entry.calls().map(|call| (entry.key.to_string(), call)))
            .map(|(key, call)| {
                (
                    key,
                    call.state
                        .result()
                        .map_or("none", |result| result.body.stub.as_str())
                        .to_owned(),
                )
            })
            .collect();
        outputs.sort();
        outputs
    };
    let reread = outputs([&ask[0], &answer[0], &ask[1], &answer[1]]);
    assert_eq!(outputs([&ask[0], &ask[1], &answer[0], &answer[1]]), reread);
    assert_eq!(
        reread,
        [
            ("a".to_owned(), "a".to_owned()),
            ("b".to_owned(), "b".to_owned())
        ]
    );
}

#[test]
fn sessions_within_a_project_are_about_it() {
    let definition = definition(&HOME_MADE.replace("[detect]", "within = \".agent\"\n[detect]"));
    let cwd = |path: &str, line: &str| {
        let mut decoder = definition.decoder(Some(FilePath::new(path)));
        let mut out = Batch::default();
        let record = Record {
            origin: Origin::default(),
            bytes: line.as_bytes(),
        };
        feed(&mut *decoder, record, RecordPlace::Line, &mut out);
        let mut transcript = Transcript::new();
        transcript.apply(out);
        transcript.meta().cwd.as_ref().map(ToString::to_string)
    };
    let said = r#"{"who":"me","step":1,"say":"hello"}"#;
    assert_eq!(
        cwd("/home/mira/boats/.agent/db/s.jsonl", said).as_deref(),
        Some("/home/mira/boats")
    );
    assert_eq!(cwd("/home/mira/boats/s.jsonl", said), None);
    let own = r#"{"who":"me","step":1,"say":"hello","dir":"/tmp"}"#;
    assert_eq!(
        cwd("/home/mira/boats/.agent/s.jsonl", own).as_deref(),
        Some("/tmp")
    );
}

#[test]
fn lists_within_strings_are_lists() {
    let definition = HOME_MADE.replace("input = \"with\"", "input = \"with:unquoted\"");
    let line = r#"{"who":"bot","step":1,"do":[{"n":"c","tool":"t","with":{"a":"\"x\"","b":"[{\"c\":\"[1]\"}]","d":"7","e":"{cut"}}]}"#;
    let (transcript, _) = read_lines(&definition, &[line]);
    let call = transcript.entries().flat_map(Entry::calls).next().unwrap();
    let expected = json::parse(r#"{"a":"x","b":[{"c":"[1]"}],"d":"7","e":"{cut"}"#)
        .unwrap()
        .to_tree();
    assert_eq!(call.input.tree(), Some(&expected));
}

#[test]
fn a_call_that_goes_on_has_no_result_yet() {
    let definition = HOME_MADE.replace(
        "failed = \"ok=false\"",
        "failed = \"ok=false\", running = \"now\"",
    );
    let call = r#"{"who":"bot","step":1,"do":[{"n":"c1","tool":"bash"}]}"#;
    let state = |lines: &[&str]| {
        let (transcript, _) = read_lines(&definition, &[&[call], lines].concat());
        transcript
            .entries()
            .flat_map(Entry::calls)
            .next()
            .unwrap()
            .state
            .clone()
    };
    assert_eq!(
        state(&[r#"{"step":2,"did":"c1","now":true}"#]),
        ToolState::Running
    );
    let so_far = r#"{"step":2,"did":"c1","now":true,"got":"one"}"#;
    assert_eq!(
        state(&[so_far])
            .live_output()
            .map(|body| body.stub.as_str()),
        Some("one")
    );
    let ended = state(&[so_far, r#"{"step":2,"did":"c1","got":"one two"}"#]);
    assert_eq!(
        ended.result().map(|result| result.body.stub.as_str()),
        Some("one two")
    );
}

#[test]
fn a_session_may_have_one_prompt_only() {
    let definition = HOME_MADE.replace("role = \"user\"", "role = \"user\", once = true");
    let said = |say: &str| format!(r#"{{"who":"me","step":1,"say":"{say}"}}"#);
    let (transcript, _) = read_lines(&definition, &[&said("task"), &said("what was seen")]);
    let roles: Vec<_> = transcript
        .entries()
        .map(|entry| (entry.role, entry.marks.prompt))
        .collect();
    assert_eq!(roles, [(Role::User, true), (Role::Harness, false)]);
}

#[test]
fn calls_without_ids_pair_in_order() {
    let text = HOME_MADE
        .replace("call = \"n\"", "call = \"@order\"")
        .replace("of = \"did\"", "of = \"@order\", tool = \"did\"");
    let (transcript, _) = read_lines(
        &text,
        &[
            r#"{"who":"bot","step":1,"id":"b","do":[{"tool":"view_file","with":{}},{"tool":"list_dir","with":{}}]}"#,
            r#"{"did":"LIST_DIR","got":"two"}"#,
            r#"{"did":"GENERIC","got":"one"}"#,
        ],
    );
    let entry = transcript.entries().next().unwrap();
    let outputs: Vec<&str> = entry
        .calls()
        .map(|call| call.state.result().unwrap().body.stub.as_str())
        .collect();
    assert_eq!(outputs, ["one", "two"]);
}

#[test]
fn the_main_agent_may_have_a_name_among_its_sub_agents() {
    const NAMED: &str = r#"
name = "crew"
detect = { certain = [{ has = "by" }] }
entry = { lane = "by", main = ["root", "boss"] }
[[record]]
when = { kind = "say" }
entry = { role = "assistant" }
block = [{ text = "text" }, { each = "do", call = "n", name = "tool" }]
[[record]]
when = { kind = "out" }
result = { each = "all", of = "n", text = "got", failed = "err", exit = "code" }
[[record]]
when = { kind = "sub" }
lane = { name = "of", label = "goal" }
[[record]]
when = { kind = "stop" }
entry = { at = "t" }
mark = { kind = "ended", text = "kind" }
"#;
    let (transcript, _) = read_lines(
        NAMED,
        &[
            r#"{"kind":"say","by":"root","text":"hi","do":[{"n":"a","tool":"x"},{"n":"b","tool":"y"}]}"#,
            r#"{"kind":"sub","by":"root","of":"scout"}"#,
            r#"{"kind":"say","by":"scout","text":"here"}"#,
            r#"{"kind":"out","by":"root","all":[{"n":"a","got":"1","code":3},{"n":"b","got":"2","err":true}]}"#,
            r#"{"kind":"stop","by":"boss","t":1700000000}"#,
        ],
    );
    let lanes: Vec<Option<&str>> = transcript
        .entries()
        .map(|entry| entry.lane.as_ref().map(Text::as_str))
        .collect();
    assert_eq!(lanes, [None, Some("scout"), None]);
    let calls: Vec<&str> = transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| call.state.word())
        .collect();
    assert_eq!(calls, ["failed", "failed"], "a code and a flag each say so");
    assert!(
        read(&NAMED.replace("entry = { role = \"assistant\" }", ""), None).is_err(),
        "nobody speaks"
    );
}

#[test]
fn sums_that_grow_count_by_their_growth() {
    let text = HOME_MADE.replace("input_includes_cache = true", "cumulative = true");
    let say = |id: &str, n: u64| {
        format!(r#"{{"who":"bot","step":1,"id":"{id}","say":"x","tok":{{"in":{n},"out":{n}}}}}"#)
    };
    let lines = [say("a", 10), say("b", 10), say("c", 25), say("d", 5)];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (transcript, _) = read_lines(&text, &lines);
    let inputs: Vec<Option<u64>> = transcript
        .entries()
        .map(|entry| entry.usage.as_ref().and_then(|usage| usage.input))
        .collect();
    assert_eq!(inputs, [Some(10), None, Some(15), Some(5)]);
}

#[test]
fn marks_identify_a_file() {
    let lines: Vec<Json<'_>> = [r#"{"a":1}"#, r#"{"who":"me","step":1}"#]
        .map(|l| json::parse(l).unwrap())
        .into();
    let probe = Probe {
        path: std::path::Path::new("x.jsonl"),
        text: None,
        children: &[],
        lines: &lines,
        header: None,
        elements: &[],
        is_document: false,
        is_whole: true,
    };
    let definition = definition(HOME_MADE);
    let verdict = definition.sniff(&probe);
    assert_eq!(
        (verdict.confidence, verdict.reason.as_str()),
        (Confidence::Certain, "home-made: has who, has step")
    );
    assert_eq!(
        definition
            .sniff(&Probe {
                lines: &lines[..1],
                ..probe
            })
            .confidence,
        Confidence::No
    );
}

#[test]
fn a_rule_that_takes_nothing_sees_what_others_took() {
    let text = HOME_MADE.replace("[[record]]\nwhen = { who = \"clock\" }", "[[record]]\nalso = true\n\
        when = { has = \"sum\" }\nmark = { kind = \"compaction\", text = \"sum\" }\n[[record]]\nwhen = { who = \"clock\" }");
    let (transcript, out) = read_lines(
        &text,
        &[r#"{"who":"me","step":1,"say":"hello","sum":"greeted"}"#],
    );
    let words: Vec<&str> = transcript
        .entries()
        .map(|entry| entry.role.word())
        .collect();
    assert_eq!((words, out.tally.shown), (vec!["user", "harness"], 1));
}

#[test]
fn mistakes_have_their_place() {
    for (text, expected) in [
        ("name = ", "1:8: no TOML"),
        (
            "agent = 'x'\n[[record]]\nskip = 'x'",
            "1:1: `name` is missing",
        ),
        (
            "name = 'x'\nshap = 'lines'\n[[record]]\nskip = 'x'",
            "2:1: `shap` is not known here; near: shape",
        ),
        (
            "name = 'x'\nshape = 'line'\n[[record]]\nskip = 'x'",
            "2:9: `line` is no shape; shapes are lines,",
        ),
        ("name = 'x'", "1:1: there is no [[record]]"),
        (
            "name = 'x'\n[[record]]\nentry = { rol = 'user' }\nblock = [{ text = 'a[' }]",
            "3:11: `rol` is not known here",
        ),
        (
            "name = 'x'\n[[record]]\nentry = { role = 'user' }\nblock = [{ text = 'a[' }]",
            "4:19: in the path `a[`",
        ),
        (
            "name = 'x'\n[[record]]\nentry = { role = 'user' }\nblock = [{ txt = 'a' }]",
            "4:10: a block is one of",
        ),
        (
            "name = 'x'\n[[record]]\nresult = { text = 'a' }",
            "3:10: a result names its call",
        ),
        (
            "name = 'x'\n[[record]]\nmark = { kind = 'odd' }",
            "3:17: `kind` of a mark is one of compaction,",
        ),
        (
            "name = 'x'\n[[record]]\nwhen = { a = 'b' }",
            "2:1: a rule does something",
        ),
        (
            "name = 'x'\nroots = ['/etc/*']\n[[record]]\nskip = 'x'",
            "2:10: `/etc/*` is no place",
        ),
    ] {
        let mistakes = read(text, None).unwrap_err();
        let all: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        assert!(
            all.iter().any(|one| one.starts_with(expected)),
            "{text}\n{all:#?}"
        );
    }
}

#[test]
fn a_shell_of_gemini_fails_by_what_its_command_ended_with() {
    let (_, gemini) = super::BUILT_IN
        .iter()
        .find(|(file, _)| *file == "gemini")
        .unwrap();
    let call = |id: &str, name: &str, code: &str| {
        format!(
            r#"{{"id":"{id}","name":"{name}","args":{{}},"status":"success","result":[{{"functionResponse":{{"response":{{"output":"Output: it\nExit Code: {code}\nProcess Group PGID: 7"}}}}}}]}}"#
        )
    };
    let calls = [
        call("a", "run_shell_command", "1"),
        call("b", "run_shell_command", "0"),
        call("c", "read_file", "1"),
    ];
    let line = format!(
        r#"{{"id":"g","type":"gemini","content":"","toolCalls":[{}]}}"#,
        calls.join(",")
    );
    let (transcript, _) = read_lines(gemini, &[&line]);
    let states: Vec<&str> = transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| call.state.word())
        .collect();
    assert_eq!(
        states,
        ["failed", "done", "done"],
        "a file may hold the same words"
    );
}

#[test]
fn built_in_definitions_have_no_mistakes() {
    for (name, text) in super::BUILT_IN {
        let definition = read(text, None).unwrap_or_else(|mistakes| panic!("{name}: {mistakes:?}"));
        assert_eq!(definition.head.name, *name);
        assert!(text.lines().count() <= 256, "{name} is long");
    }
}

#[test]
fn the_sample_of_the_manual_is_read_as_it_says() {
    let page = include_str!("../../../assets/manual/definitions.md");
    let sample = |kind: &str| {
        let (_, rest) = page.split_once(&format!("```{kind}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let lines: Vec<&str> = sample("json").trim().lines().collect();
    let (transcript, out) = read_lines(sample("toml"), &lines);
    assert!(
        out.tally.unknown.is_empty() && out.tally.faulty == 0,
        "{:?}",
        out.tally.unknown
    );
    let states: Vec<&str> = transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| call.state.word())
        .collect();
    assert_eq!(states, ["done", "failed", "failed"]);
    assert_eq!(transcript.totals().sum().cache_read.value(), Some(820));
    assert_eq!(
        transcript.meta().title().unwrap().as_str(),
        "How many orders came?"
    );
}

/// `cargo test --release --lib -- --ignored --nocapture a_definition_is_as_fast`
#[test]
#[ignore = "measures time"]
fn a_definition_is_as_fast_as_a_decoder() {
    const ROUNDS: u64 = 400;
    let lines: Vec<&str> = include_str!("../../../tests/fixtures/claude-code/busy.jsonl")
        .lines()
        .collect();
    let own = definition(include_str!("../../../tests/bench/claude-plain.toml"));
    let time = |format: &dyn Format| {
        let mut decoder = format.decoder(None);
        let begun = std::time::Instant::now();
        for round in 0..ROUNDS {
            let mut out = Batch::default();
            for (at, line) in (round * 1_000_000..).zip(&lines) {
                let origin = Origin {
                    at,
                    ..Origin::default()
                };
                feed(
                    &mut *decoder,
                    Record {
                        origin,
                        bytes: line.as_bytes(),
                    },
                    RecordPlace::Line,
                    &mut out,
                );
            }
        }
        begun.elapsed()
    };
    let both = || (time(&formats::claude::Claude), time(&own));
    let ratio = (0..5)
        .map(|_| both())
        .map(|(rust, data)| data.as_secs_f64() / rust.as_secs_f64());
    let best = ratio.fold(f64::INFINITY, f64::min);
    println!("a definition takes {best:.2} times as long as the decoder");
    assert!(best <= 1.5, "{best}");
}

#[test]
fn a_sum_that_is_not_told_is_not_begun_anew() {
    let text = HOME_MADE.replace(
        "input_includes_cache = true",
        "cumulative = true, cost = \"tok.cost\"",
    );
    let line = |tok: &str| format!(r#"{{"who":"bot","step":1,"say":"a","tok":{tok}}}"#);
    let sums = [
        r#"{"in":100,"out":10,"hit":5,"cost":0.25}"#,
        r#"{"in":200,"out":20,"cost":0.5}"#,
        r#"{"in":300,"out":30,"hit":6,"cost":0.75}"#,
        r#"{"in":40,"out":4,"hit":1,"cost":0.125}"#,
    ];
    let lines = sums.map(line);
    let (transcript, _) = read_lines(&text, &lines.each_ref().map(String::as_str));
    let spent: Vec<_> = transcript
        .entries()
        .filter_map(|entry| entry.usage.as_ref())
        .map(|usage| (usage.input, usage.output, usage.cache_read, usage.cost))
        .collect();
    let expected = [
        (Some(100), Some(10), Some(5), Some(0.25)),
        (Some(100), Some(10), None, Some(0.25)),
        (Some(100), Some(10), Some(1), Some(0.25)),
        (Some(40), Some(4), Some(1), Some(0.125)),
    ];
    assert_eq!(spent, expected);
}

/// The model's answer and the tool's run both record a call; ids are never reused.
#[test]
fn a_call_that_two_records_tell_is_one() {
    const TOLD: &str = r#"
name = "spans"
detect = { certain = [{ has = "span" }] }

[[record]]
when = { span = "answer" }
entry = { role = "assistant" }
block = [{ each = "asks[]", call = "id", name = "tool", once = true }]

[[record]]
when = { span = "tool" }
entry = { role = "assistant", at = "from" }
block = [{ call = "id", name = "tool", once = true, result = { text = "got", at = "to" } }]

[[record]]
when = { span = "history" }
result = { each = "said[]", of = "id", text = "got", once = true }
"#;
    let answer = r#"{"span":"answer","asks":[{"id":"a","tool":"ls"},{"id":"b","tool":"cat"}]}"#;
    let tool =
        r#"{"span":"tool","id":"a","tool":"ls","got":"x","from":1790000000000,"to":1790000000250}"#;
    let history = r#"{"span":"history","said":[{"id":"a","got":"again"},{"id":"b","got":"y"}]}"#;
    let calls = |lines: &[&str]| -> Vec<(String, String, Option<u64>)> {
        let (transcript, _) = read_lines(TOLD, lines);
        assert!(
            transcript
                .entries()
                .all(|entry| entry.calls().next().is_some()),
            "no stray results"
        );
        let calls = transcript
            .entries()
            .flat_map(|entry| entry.calls().collect::<Vec<_>>());
        let result = |call: &ToolCall| {
            let result = call.state.result();
            let text = result
                .map_or("none", |result| result.body.stub.as_str())
                .to_owned();
            (
                call.key.to_string(),
                text,
                result.and_then(|result| result.duration_ms),
            )
        };
        calls.map(result).collect()
    };
    let one = |id: &str, text: &str, took| (id.to_owned(), text.to_owned(), took);
    let all = [one("a", "x", Some(250)), one("b", "y", None)];
    assert_eq!(calls(&[answer, tool, history]), all);
    assert_eq!(
        calls(&[answer, tool, tool, history, history]),
        all,
        "read again"
    );
    assert_eq!(
        calls(&[tool]),
        [one("a", "x", None)],
        "nobody told what the model asked for"
    );
    assert_eq!(
        calls(&[tool, answer]),
        [one("a", "x", None), one("b", "none", None)],
        "in the other order"
    );
}

/// The transcript of lines in a built-in format.
fn built_in(name: &str, lines: &[&str]) -> Transcript {
    fed::transcript(formats::named(name).unwrap(), &[(RecordPlace::Line, lines)])
}

fn states(transcript: &Transcript) -> Vec<&'static str> {
    transcript
        .entries()
        .flat_map(Entry::calls)
        .map(|call| call.state.word())
        .collect()
}

/// The tool succeeded, but the command that it ran failed.
#[test]
fn a_command_that_failed_is_a_failed_call() {
    let qwen = built_in(
        "qwen-code",
        &[
            r#"{"uuid":"q2","sessionId":"s","type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"npm test"}}}]}}"#,
            r#"{"uuid":"q3","sessionId":"s","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"Command: npm test\nOutput: 1 failing\nError: (none)\nExit Code: 1\nSignal: (none)"}}}]},"toolCallResult":{"callId":"c1","status":"success"}}"#,
        ],
    );
    assert_eq!(states(&qwen), ["failed"]);
    let parts = |parts: &str| serde_json::to_string(parts).unwrap();
    let asked = |id: &str| {
        parts(&format!(
            r#"[{{"type":"tool_call","data":{{"id":"{id}","name":"bash","input":"{{}}"}}}}]"#
        ))
    };
    let given = |id: &str, output: &str| {
        let metadata = parts(&format!(
            r#"{{"start_time":1754567938785,"output":"{output}"}}"#
        ));
        parts(&format!(
            r#"[{{"type":"tool_result","data":{{"tool_call_id":"{id}","name":"","content":"{output}\n\n<cwd>/w</cwd>","metadata":{metadata},"is_error":false}}}}]"#
        ))
    };
    let row = |id: &str, role: &str, parts: &str| {
        format!(
            r#"{{"id":"{id}","session_id":"s","role":"{role}","parts":{parts},"created_at":1754570654}}"#
        )
    };
    let rows = [
        row("1", "assistant", &asked("a")),
        row("2", "tool", &given("a", r"no module\n\nExit code 1")),
        row("3", "assistant", &asked("b")),
        row("4", "tool", &given("b", "fine")),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert_eq!(states(&built_in("crush", &rows)), ["failed", "done"]);
}

#[test]
fn an_exit_code_stands_where_the_agent_writes_it() {
    for (name, text, expected) in [
        (
            "gemini",
            include_str!("../../../tests/fixtures/gemini/session-2026-06-01T10-00-7e000000.jsonl"),
            ["failed", "done"],
        ),
        (
            "qwen-code",
            include_str!(
                "../../../tests/fixtures/qwen-code/6a000000-0000-4000-8000-00000000000c.jsonl"
            ),
            ["failed", "done"],
        ),
        (
            "copilot-cli",
            include_str!("../../../tests/fixtures/copilot-cli/exits.jsonl"),
            ["failed", "done"],
        ),
        (
            "antigravity-cli",
            include_str!("../../../tests/fixtures/antigravity-cli/exits.jsonl"),
            ["failed", "done"],
        ),
        (
            "crush",
            concat!(
                r#"{"id":"1","role":"assistant","parts":"[{\"type\":\"tool_call\",\"data\":{\"id\":\"a\",\"name\":\"bash\",\"input\":\"{}\"}},{\"type\":\"tool_call\",\"data\":{\"id\":\"b\",\"name\":\"bash\",\"input\":\"{}\"}}]"}"#,
                "\n",
                r#"{"id":"2","role":"tool","parts":"[{\"type\":\"tool_result\",\"data\":{\"tool_call_id\":\"a\",\"content\":\"\",\"metadata\":\"{\\\"output\\\":\\\"one\\\\n\\\\nExit code 0\\\\ntwo\\\\n\\\\nExit code 4\\\"}\"}}]"}"#,
                "\n",
                r#"{"id":"3","role":"tool","parts":"[{\"type\":\"tool_result\",\"data\":{\"tool_call_id\":\"b\",\"content\":\"\",\"metadata\":\"{\\\"output\\\":\\\"one\\\\n\\\\nExit code 4\\\\nand on\\\"}\"}}]"}"#,
            ),
            ["failed", "done"],
        ),
    ] {
        let lines: Vec<&str> = text.lines().collect();
        let transcript = built_in(name, &lines);
        assert_eq!(states(&transcript), expected, "{name}");
        let facts = transcript
            .entries()
            .flat_map(Entry::calls)
            .filter_map(|call| call.state.result());
        let exit = if name == "antigravity-cli" {
            "exit 1"
        } else {
            "exit 4"
        };
        assert_eq!(
            facts
                .map(|result| result.facts.as_str())
                .collect::<Vec<_>>(),
            [exit, ""],
            "{name}"
        );
    }
}

#[test]
fn a_run_is_one_of_its_own_though_its_first_line_is_lost() {
    let item = |kind: &str, id: u8, text: &str| {
        format!(
            r#"{{"type":"item.{kind}","item":{{"id":"item_{id}","type":"agent_message","text":"{text}"}}}}"#
        )
    };
    let thread = |name: &str| format!(r#"{{"type":"thread.started","thread_id":"{name}"}}"#);
    let (begun, over) = (r#"{"type":"turn.started"}"#.to_owned(), |n: u32| {
        format!(r#"{{"type":"turn.completed","usage":{{"input_tokens":{n},"output_tokens":1}}}}"#)
    });
    let said = |lines: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let transcript = built_in("codex-exec-json", &lines);
        let texts = transcript
            .entries()
            .flat_map(|entry| &entry.blocks)
            .filter_map(|block| match &block.kind {
                BlockKind::Text(body) => Some(body.stub.to_string()),
                _ => None,
            });
        (
            texts.collect::<Vec<_>>().join(" "),
            transcript.totals().sum().input.total,
        )
    };
    let first = [
        thread("a"),
        begun.clone(),
        item("completed", 0, "a0"),
        item("completed", 1, "a1"),
        over(100),
    ];
    let after = |lines: &[String]| said(&[first.as_slice(), lines].concat());
    // The record of the second run's beginning is missing.
    let lost = [
        begun.clone(),
        item("completed", 0, "b0"),
        item("completed", 1, "b1"),
        over(150),
    ];
    assert_eq!(after(&lost), ("a0 a1 b0 b1".to_owned(), 250));
    // The record comes late, and names the run that has begun.
    let late = [
        begun.clone(),
        item("completed", 0, "b0"),
        thread("b"),
        item("completed", 1, "b1"),
        over(150),
    ];
    let next = [
        thread("b"),
        begun.clone(),
        item("completed", 0, "c0"),
        over(170),
    ];
    assert_eq!(after(&late), ("a0 a1 b0 b1".to_owned(), 250));
    assert_eq!(
        after(&[late.as_slice(), &next].concat()),
        ("a0 a1 b0 b1 c0".to_owned(), 270),
        "one thread"
    );
    // The record of the first run's end is missing, too.
    let cut = [first.get(..4).unwrap(), &lost].concat();
    assert_eq!(said(&cut), ("a0 a1 b0 b1".to_owned(), 150));
    // A turn of the same run continues the numbering; a repeated line counts once.
    let more = [
        begun,
        item("started", 2, ""),
        item("completed", 2, "a2"),
        item("completed", 2, "a2"),
        over(150),
    ];
    assert_eq!(after(&more), ("a0 a1 a2".to_owned(), 150));
}

#[test]
fn calls_of_cursor_wait_for_nothing_and_that_is_said_once() {
    let ask = r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"path":"/a"}}]}}"#;
    let transcript = built_in(
        "cursor",
        &[
            r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nfix it\n</user_query>"}]}}"#,
            ask,
            ask,
            r#"{"role":"assistant","message":{"content":[{"type":"text","text":"Done"}]}}"#,
            r#"{"type":"turn_ended","status":"success"}"#,
        ],
    );
    assert_eq!(states(&transcript), ["unrecorded", "unrecorded"]);
    let told = r#"{"role":"user","message":{"content":[{"type":"tool_result","name":"Read","content":"a file"}]}}"#;
    let with_result = built_in("cursor", &[ask, told, ask]);
    assert_eq!(
        states(&with_result),
        ["done", "unrecorded"],
        "some results are there"
    );
    assert!(with_result.entries().all(|entry| {
        !entry
            .blocks
            .iter()
            .any(|block| matches!(block.kind, BlockKind::Result(_)))
    }));
    assert!(!transcript.has_ended());
    let says = |entry: &&Entry| {
        let is_it = |kind: &BlockKind| matches!(kind, BlockKind::Text(body) if body.stub.contains("does not record"));
        entry.blocks.iter().any(|block| is_it(&block.kind))
    };
    assert_eq!(transcript.entries().filter(says).count(), 1);
}

#[test]
fn tags_in_conversations_for_training_are_reasoning_calls_and_results() {
    let transcript = built_in(
        "sharegpt",
        &[
            r#"{"conversations":[{"from":"human","value":"x"},{"from":"gpt","value":"<think>\nhm\n</think>\n\nLook.\n<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":1}}\n</tool_call>\n<tool_call>\n{\"name\":\"g\",\"arguments\":{}}\n</tool_call>"},{"from":"tool","value":"<tool_response>\nr\n</tool_response>\n<tool_response>\ns\n</tool_response>"},{"from":"gpt","value":"ok"}]}"#,
        ],
    );
    let word = |kind: &BlockKind| match kind {
        BlockKind::Text(body) => body.stub.to_string(),
        BlockKind::Thinking(body) => format!("thought {}", body.stub),
        BlockKind::Call(call) => {
            let result = call
                .state
                .result()
                .map(|result| result.body.stub.to_string());
            format!("{} {}", call.name, result.unwrap_or_default())
        }
        other => format!("{other:?}"),
    };
    let words: Vec<String> = transcript
        .entries()
        .flat_map(|entry| entry.blocks.iter().map(|block| word(&block.kind)))
        .collect();
    assert_eq!(
        words[..6],
        ["x", "thought hm", "Look.", "f r", "g s", "ok"],
        "{words:?}"
    );
}

#[test]
fn a_fact_may_say_that_the_session_ended() {
    let swe = formats::named("swe-agent-traj").unwrap();
    let ended = |info: &str| {
        let head = format!(r#"{{"environment":"e","trajectory":[],"info":{info}}}"#);
        let message =
            r#"{"role":"assistant","content":"go","agent":"main","message_type":"action"}"#;
        fed::transcript(
            swe,
            &[
                (RecordPlace::Header, &[head.as_str()][..]),
                (RecordPlace::Element, &[message]),
            ],
        )
        .has_ended()
    };
    assert!(ended(r#"{"exit_status":"exit_cost"}"#));
    assert!(!ended(r#"{"exit_status":null}"#));
}

#[test]
fn a_session_of_droid_says_its_id() {
    let transcript = built_in(
        "factory-droid",
        &[
            r#"{"type":"session_start","id":"dr-1","title":"t","owner":"u","version":2,"cwd":"/w"}"#,
            r#"{"type":"message","id":"m0","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}"#,
        ],
    );
    assert_eq!(transcript.meta().id.as_deref(), Some("dr-1"));
}

#[test]
fn a_title_may_stand_in_yaml_beside_the_session() {
    let start = r#"{"type":"session.start","data":{"sessionId":"cop-1","producer":"copilot-agent"},"id":"e1"}"#;
    let place = RecordPlace::File(FilePath::new("/s/cop-1/workspace.yaml"));
    let facts = "id: cop-1\ncwd: /w\nname: My named session\n";
    let copilot = formats::named("copilot-cli").unwrap();
    let transcript = fed::transcript(
        copilot,
        &[(RecordPlace::Line, &[start][..]), (place, &[facts])],
    );
    assert_eq!(
        transcript.meta().title().map(Text::as_str),
        Some("My named session")
    );
}
