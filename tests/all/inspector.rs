//! Tests of the inspector: its content, its keys, and its cost.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tv::app::dispatch::act;
use tv::app::effect::Effect;
use tv::app::input::action::Tab;
use tv::app::input::action::{Action, CopyTarget};
use tv::app::panes::Pane;
use tv::ingest::{self, Target};
use tv::model::body::Tree;
use tv::model::edit::{Batch, Edit};
use tv::model::entry::{Block, BlockKind, Piece, Role};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use tv::render::theme::Theme;

use crate::corpus::{corpora, say};
use crate::fixtures;
use crate::stage::{Stage, demo};

const WIDE: (u16, u16) = (200, 60);
const START: i64 = 1_700_000_000_000;

// === sessions made by hand ===

#[expect(
    clippy::unnecessary_wraps,
    reason = "what has a time has it as an option"
)]
fn at(seconds: i64) -> Option<Timestamp> {
    Some(Timestamp(START + seconds * 1_000))
}

fn entry(
    key: &str,
    role: Role,
    seconds: i64,
    kinds: impl FnOnce(&mut Batch) -> Vec<BlockKind>,
) -> Edit {
    let mut batch = Batch::default();
    let kinds = kinds(&mut batch);
    let mut entry = batch.new_entry(Text::from(key), role, at(seconds));
    entry.marks.prompt = role == Role::User;
    let block = |(n, kind): (usize, BlockKind)| Block::new(Piece(n as u64), kind);
    entry.blocks = kinds.into_iter().enumerate().map(block).collect();
    Edit::Entry(Box::new(entry))
}

fn prompt(key: &str, seconds: i64) -> Edit {
    entry(key, Role::User, seconds, |batch| {
        vec![BlockKind::Text(batch.prose("please go on"))]
    })
}

fn answer(key: &str, seconds: i64) -> Edit {
    entry(key, Role::Assistant, seconds, |batch| {
        vec![BlockKind::Text(batch.prose("as you wish"))]
    })
}

/// A message with calls: id, tool, command.
fn calls(key: &str, seconds: i64, calls: &[(&str, &str, &str)]) -> Edit {
    entry(key, Role::Assistant, seconds, |batch| {
        let call = |(id, name, command): &(&str, &str, &str)| {
            let tree = Tree::Map(vec![
                (Text::from("command"), Tree::Text(Text::from(*command))),
                (Text::from("timeout_ms"), Tree::Number(Text::from("120000"))),
            ]);
            BlockKind::Call(Box::new(ToolCall {
                key: Text::from(*id),
                name: Text::from(*name),
                kind: ToolKind::Run,
                headline: Text::stub(command, 60),
                input: batch.tree(&Text::stub(command, 60), command.len(), || tree),
                state: ToolState::Pending,
                started: at(seconds),
                lane: None,
            }))
        };
        calls.iter().map(call).collect()
    })
}

fn result(call: &str, seconds: i64, text: &str, verdict: Verdict) -> Edit {
    let mut batch = Batch::default();
    let result = ToolResult {
        tool: None,
        key: Text::from(format!("result of {call}").as_str()),
        body: batch.output(text),
        patch: None,
        images: Vec::new(),
        verdict,
        facts: Text::from(if verdict == Verdict::Failed {
            "exit 101"
        } else {
            ""
        }),
        duration_ms: None,
        work: None,
        at: at(seconds),
    };
    Edit::Result {
        call: Text::from(call),
        result: Box::new(result),
        lane: None,
    }
}

/// Three runs of the same command, of which the last one runs beside a search.
fn looping(size: (u16, u16)) -> Stage {
    let mut stage = Stage::made(size);
    stage.add([
        prompt("p", 0),
        calls("m1", 2, &[("a", "bash", "cargo test watch")]),
        result("a", 42, "failed", Verdict::Failed),
        calls("m2", 50, &[("b", "bash", "cargo test watch")]),
        result("b", 91, "failed", Verdict::Failed),
        calls(
            "m3",
            100,
            &[("c", "bash", "cargo test watch"), ("d", "grep", "sleep")],
        ),
        result("d", 101, "3 hits", Verdict::Done),
        result("c", 141, "one\ntwo\n\nfour", Verdict::Failed),
        answer("m4", 150),
        prompt("q", 1_000),
        answer("m5", 1_004),
    ]);
    stage
}

/// The rows of the inspector that are in sight, and the tabs above them.
fn pane(stage: &Stage) -> Vec<String> {
    let area = stage.app.reader.frame().inspector;
    let buffer = stage.buffer();
    let line = |y: u16| {
        (area.x..area.right())
            .map(|x| buffer[(x, y)].symbol())
            .collect::<String>()
    };
    (area.y..area.bottom())
        .map(|y| line(y).trim_end().to_owned())
        .collect()
}

fn row<'a>(rows: &'a [String], name: &str) -> &'a str {
    let found = rows
        .iter()
        .find(|row| row.trim_start_matches(['▌', '▸', ' ']).starts_with(name));
    found.unwrap_or_else(|| panic!("no row {name} in {rows:#?}"))
}

/// Focuses a call by walking there, and lets the cursor rest.
fn on_call(stage: &mut Stage, number: usize) {
    stage.press("g");
    for _ in 0..number {
        stage.press("] t");
    }
    stage.rest();
}

// === what it shows ===

#[test]
fn a_call_is_shown_with_its_result_and_its_like() {
    let mut stage = looping(WIDE);
    on_call(&mut stage, 3);
    let rows = pane(&stage);
    assert!(
        rows[0].contains("[call+result]") && rows[0].contains("why"),
        "{}",
        rows[0]
    );
    assert!(rows[1].contains("bash · c · call 3 of 4"), "{}", rows[1]);
    assert!(row(&rows, "called").contains("entry 4"), "{rows:#?}");
    assert!(row(&rows, "took").contains("41.0s"), "{rows:#?}");
    assert!(row(&rows, "overlaps").contains("#4 grep") && row(&rows, "overlaps").contains("1.0s"));
    assert!(row(&rows, "verdict").contains("✗ failed  exit 101"));
    assert!(row(&rows, "command").contains("cargo test watch"));
    assert!(row(&rows, "timeout_ms").contains("120000"));
    assert!(
        row(&rows, "4").contains("four"),
        "lines have their own numbers: {rows:#?}"
    );
    assert!(row(&rows, "SAME CALL BEFORE").contains("2 with identical arguments"));
    let earlier: Vec<&String> = rows
        .iter()
        .filter(|row| row.contains("#2 bash") || row.contains("#1 bash"))
        .collect();
    assert!(
        earlier.len() == 2 && earlier[0].contains("#2") && earlier[0].contains("exit 101"),
        "{rows:#?}"
    );
    on_call(&mut stage, 1);
    assert!(
        !pane(&stage)
            .iter()
            .any(|row| row.contains("SAME CALL BEFORE")),
        "nothing came before the first"
    );
}

#[test]
fn a_result_that_comes_late_changes_what_is_shown() {
    let mut stage = Stage::made(WIDE);
    stage.add([prompt("p", 0), calls("m", 2, &[("a", "bash", "make")])]);
    on_call(&mut stage, 1);
    assert!(
        row(&pane(&stage), "verdict").contains("no result"),
        "{:#?}",
        pane(&stage)
    );
    stage.add([result("a", 12, "made", Verdict::Done)]);
    let rows = pane(&stage);
    assert!(
        row(&rows, "verdict").contains("✓ done") && row(&rows, "took").contains("10.0s"),
        "{rows:#?}"
    );
    assert!(row(&rows, "1").contains("made"));
}

#[test]
fn every_tab_shows_its_own() {
    let mut stage = looping(WIDE);
    on_call(&mut stage, 3);
    stage.press("tab alt-5");
    let rows = pane(&stage);
    assert!(row(&rows, "p95").contains("41.0s"), "{rows:#?}");
    assert!(row(&rows, "rank").contains("none took longer"));
    assert!(row(&rows, "AT THE SAME TIME").contains("1 call"));
    assert!(row(&rows, "TURN 1").ends_with("2m30s"), "{rows:#?}");
    assert!(
        row(&rows, "tools").contains("2m02s") && row(&rows, "tools").contains("81%"),
        "{rows:#?}"
    );
    assert!(
        rows.iter().any(|row| row.trim_start().starts_with("you")),
        "the session waited"
    );
    stage.press("alt-6");
    let rows = pane(&stage);
    assert!(
        row(&rows, "id").contains("c belongs to this call alone"),
        "{rows:#?}"
    );
    assert!(row(&rows, "recorded").contains("! the agent recorded an error"));
    stage.press("alt-3");
    assert!(pane(&stage)[1].contains("no change to a file"));
    stage.press("alt-4");
    assert!(
        pane(&stage)
            .join(" ")
            .contains("no request up to here records its tokens")
    );
}

#[test]
fn raw_records_mark_what_was_taken() {
    let mut stage = Stage::open(&demo(), WIDE, Theme::dark());
    stage.press("g ] t").rest().press("tab alt-2");
    let rows = pane(&stage);
    let taken: Vec<&String> = rows
        .iter()
        .filter(|row| row.trim_start().starts_with('•'))
        .collect();
    assert!(
        taken
            .iter()
            .any(|row| row.contains("name:") && row.contains("Bash")),
        "{rows:#?}"
    );
    assert!(taken.iter().any(|row| row.contains("model:")), "{rows:#?}");
    assert!(
        rows.iter().any(|row| row.trim_start().starts_with("type:")),
        "{rows:#?}"
    );
}

// === what the keys do ===

#[test]
fn it_follows_when_the_cursor_rests() {
    let mut stage = looping(WIDE);
    on_call(&mut stage, 1);
    assert!(pane(&stage)[1].contains("call 1 of 4"));
    stage.press("] t");
    assert!(
        pane(&stage)[1].contains("call 1 of 4"),
        "not while the reader moves"
    );
    assert!(
        stage.app.ms_until_follow().is_some(),
        "the runtime is asked to look again"
    );
    stage.rest();
    assert!(pane(&stage)[1].contains("call 2 of 4"));
    assert_eq!(stage.app.ms_until_follow(), None);
}

#[test]
fn its_keys_are_its_own_only_while_it_has_them() {
    let mut stage = looping(WIDE);
    on_call(&mut stage, 3);
    let focus = stage.app.reader.text.view.focus;
    stage.press("tab");
    while stage.app.reader.focused() != Pane::Inspector {
        stage.press("tab");
    }
    stage.press("j j k");
    assert_eq!(
        (
            stage.app.reader.text.view.focus,
            stage.app.reader.inspector.at
        ),
        (focus, 1)
    );
    stage.press("l l");
    assert_eq!(stage.app.reader.inspector.tab, Tab::Diff);
    stage.press("h h h h");
    assert_eq!(stage.app.reader.inspector.tab, Tab::Item);
    stage.press("alt-6 alt-5");
    assert_eq!(stage.app.reader.inspector.tab, Tab::Timing);
    stage.press("esc");
    assert_eq!(stage.app.reader.focused(), Pane::Transcript);
    stage.press("k k");
    assert_ne!(stage.app.reader.text.view.focus, focus);
}

#[test]
fn enter_goes_where_a_row_leads_and_back_again() {
    let mut stage = looping(WIDE);
    on_call(&mut stage, 3);
    let here = stage.app.reader.text.view.focus;
    stage.press("tab");
    let rows = &stage.app.reader.inspector.rows;
    let place = rows
        .iter()
        .position(|fact| fact.line.to_string().contains("#1 bash"))
        .unwrap();
    for _ in 0..place {
        stage.press("j");
    }
    stage.press("enter").rest();
    assert_eq!(stage.app.reader.focused(), Pane::Transcript);
    assert!(
        pane(&stage)[1].contains("call 1 of 4"),
        "{:#?}",
        pane(&stage)
    );
    stage.press("' '");
    assert_eq!(stage.app.reader.text.view.focus, here);
}

#[test]
fn what_is_copied_is_the_whole_value() {
    let command = format!("echo {}", "much ".repeat(200));
    let mut stage = Stage::made(WIDE);
    stage.add([
        prompt("p", 0),
        calls("m", 2, &[("a", "bash", &command)]),
        result("a", 3, "out\nput", Verdict::Done),
    ]);
    on_call(&mut stage, 1);
    stage.press("tab");
    let mut copy = |wanted: &str| {
        let rows = &stage.app.reader.inspector.rows;
        stage.app.reader.inspector.at = rows
            .iter()
            .position(|fact| fact.line.to_string().contains(wanted))
            .unwrap();
        stage.asked.clear();
        stage.press("y y");
        match stage.asked.first() {
            Some(Effect::Copy(text)) => text.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(copy("much much"), command);
    assert_eq!(copy("  put"), "out\nput");
    assert_eq!(copy("verdict"), "verdict   ✓ done");
    // The transcript's own key is as it was.
    stage.press("esc");
    let effects = act(&mut stage.app, Action::Copy(CopyTarget::Command));
    assert!(matches!(effects.first(), Some(Effect::Copy(text)) if *text == command));
}

#[test]
fn on_small_screens_it_lies_over_the_text() {
    let mut stage = looping((80, 24));
    on_call(&mut stage, 3);
    assert_eq!(stage.app.reader.frame().inspector.width, 0);
    stage.press("i");
    assert!(
        pane(&stage)[1].contains("call 3 of 4"),
        "{:#?}",
        pane(&stage)
    );
    assert_eq!(stage.app.reader.focused(), Pane::Inspector);
    stage.press("alt-5");
    assert!(pane(&stage).iter().any(|row| row.contains("p95")));
    stage.press("esc");
    assert_eq!(stage.app.reader.frame().inspector.width, 0);
}

#[test]
fn a_palette_name_opens_a_tab() {
    let mut stage = looping((80, 24));
    on_call(&mut stage, 3);
    stage.press(":").type_in("inspect-why").press("enter");
    assert_eq!(stage.app.reader.inspector.tab, Tab::Why);
    assert!(
        pane(&stage)
            .iter()
            .any(|row| row.contains("belongs to this call alone"))
    );
}

// === what it costs ===

#[test]
fn only_rows_in_sight_are_made() {
    let mut stage = Stage::made(WIDE);
    let output = "a line of output\n".repeat(100_000);
    stage.add([
        prompt("p", 0),
        calls("m", 2, &[("a", "bash", "yes")]),
        result("a", 3, &output, Verdict::Done),
    ]);
    on_call(&mut stage, 1);
    let made = |stage: &Stage| stage.app.reader.inspector.rows.len();
    assert!(
        made(&stage) <= 2 * usize::from(WIDE.1),
        "{} rows",
        made(&stage)
    );
    stage.press("tab space space");
    assert!(
        made(&stage) <= 8 * usize::from(WIDE.1),
        "{} rows",
        made(&stage)
    );
    assert!(stage.app.reader.inspector.top > 50);
    stage.press("G");
    assert_eq!(made(&stage), 20_000, "what is beyond is in the file");
    stage.press("g");
    assert_eq!(
        (
            stage.app.reader.inspector.top,
            stage.app.reader.inspector.at
        ),
        (0, 0)
    );
}

#[test]
fn a_long_session_costs_no_more_for_a_key() {
    const CALLS: usize = 30_000;
    let mut stage = Stage::made(WIDE);
    let mut edits = vec![prompt("p", 0)];
    for n in 0..CALLS {
        let seconds = i64::try_from(n).unwrap() * 3;
        let (key, id) = (format!("m{n}"), format!("c{n}"));
        edits.push(calls(&key, seconds, &[(&id, "bash", "cargo test watch")]));
        edits.push(result(&id, seconds + 2, "failed", Verdict::Failed));
    }
    stage.add(edits);
    while stage.app.is_unfinished() {
        stage.arrange();
    }
    assert_eq!(stage.app.reader.session.indexes.calls.count(), CALLS);
    stage.press(":").type_in("50%").press("enter").rest();
    let began = Instant::now();
    for _ in 0..40 {
        stage.press("k").rest();
    }
    // Unoptimized builds included; a pass over all calls would take many times as long.
    assert!(
        began.elapsed() < Duration::from_secs(4),
        "{:?}",
        began.elapsed()
    );
    assert!(
        pane(&stage)
            .iter()
            .any(|row| row.contains("at least 16 with identical arguments")),
        "{:#?}",
        pane(&stage)
    );
}

#[test]
fn a_call_names_the_step_of_the_plan_that_was_in_work() {
    let plan = |key: &str, seconds: i64, headline: &str| {
        let headline = Text::from(headline);
        entry(key, Role::Assistant, seconds, |batch| {
            let call = ToolCall {
                key: Text::from(key),
                name: Text::from("update_plan"),
                kind: ToolKind::Plan,
                input: batch.tree(&headline, headline.len(), || Tree::Map(Vec::new())),
                headline: headline.clone(),
                state: ToolState::Pending,
                started: None,
                lane: None,
            };
            vec![BlockKind::Call(Box::new(call))]
        })
    };
    let mut stage = Stage::made(WIDE);
    stage.add([
        prompt("p", 0),
        calls("m0", 1, &[("c0", "bash", "ls hold")]),
        plan("t1", 2, "1/3 count the crates"),
        calls("m1", 3, &[("c1", "bash", "ls hold")]),
        plan("t2", 4, "3/3"),
        calls("m2", 5, &[("c2", "bash", "ls deck")]),
        plan("t3", 6, "0/2 look for the lamp"),
        prompt("q", 7),
        calls("m3", 8, &[("c3", "bash", "ls mast")]),
    ]);
    let step = |stage: &Stage| {
        pane(stage)
            .into_iter()
            .find(|row| row.contains(" done") && row.contains("plan"))
    };
    stage.press("g j j j").rest();
    assert_eq!(stage.focused_key(), "m1");
    let row = step(&stage).unwrap_or_else(|| panic!("{:#?}", pane(&stage)));
    assert!(
        row.contains("count the crates") && row.contains("1/3 done"),
        "{row}"
    );
    for (keys, key, why) in [
        ("g j", "m0", "there is no plan yet"),
        ("g j j j j j", "m2", "nothing of it is in work"),
        ("G", "m3", "something else was asked"),
    ] {
        stage.press(keys).rest();
        assert_eq!(
            (stage.focused_key().as_str(), step(&stage)),
            (key, None),
            "{why}"
        );
    }
}

#[test]
fn the_inspector_draws_in_ascii() {
    let mut stage = looping(WIDE);
    stage.app.reader.screen.theme = Theme::mono().with_ascii(true);
    stage.app.reader.text.invalidate_rows();
    on_call(&mut stage, 3);
    stage.press("tab");
    for tab in ["alt-1", "alt-2", "alt-3", "alt-4", "alt-5", "alt-6"] {
        stage.press(tab);
        let area = stage.app.reader.frame().inspector;
        assert!(
            area.width > 0 && pane(&stage).iter().all(|row| row.is_ascii()),
            "{:#?}",
            pane(&stage)
        );
    }
}

// === pictures and real files ===

#[test]
fn pictures() {
    let mut stage = Stage::open(&demo(), WIDE, Theme::dark());
    stage.press("g ] t").rest();
    insta::assert_snapshot!("inspector-item-200x60", stage.picture());
    for (key, name) in [
        ("alt-2", "raw"),
        ("alt-4", "context"),
        ("alt-5", "timing"),
        ("alt-6", "why"),
    ] {
        stage.press("tab").press(key);
        insta::assert_snapshot!(format!("inspector-{name}-200x60"), stage.picture());
        stage.press("esc");
    }
    let mut stage = Stage::open(&demo(), (80, 24), Theme::dark());
    stage.press("g ] t i");
    insta::assert_snapshot!("inspector-80x24", stage.picture());
}

/// Items of a session whose tabs are all made.
const ITEMS: usize = 12;
/// All sessions together must not take longer.
const AT_MOST: Duration = Duration::from_secs(20);
/// Larger files are for the benchmarks.
const LARGEST: u64 = 2 << 20;

#[test]
fn real_sessions_fit_into_the_pane() {
    for corpus in corpora() {
        let started = Instant::now();
        let (mut sessions, mut rows) = (0, 0);
        for path in corpus.files() {
            let is_small = path.metadata().is_ok_and(|facts| facts.len() <= LARGEST);
            if !is_small
                || ingest::open(&Target {
                    path: path.clone(),
                    session: None,
                })
                .is_err()
            {
                continue;
            }
            if started.elapsed() > AT_MOST {
                say(&format!("stopped after {sessions} sessions: time is up"));
                break;
            }
            sessions += 1;
            rows += inspect(&path);
        }
        assert!(
            sessions > 5 && rows > 1_000,
            "{sessions} sessions, {rows} rows"
        );
    }
}

#[test]
fn no_parent_is_called_missing_that_is_in_the_file() {
    let files = fixtures::line_files();
    let of_claude = |path: &&PathBuf| {
        path.components()
            .any(|part| part.as_os_str() == "claude-code")
    };
    let mut beside = 0;
    for path in files.iter().filter(of_claude) {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let mut stage = Stage::open(path, WIDE, Theme::dark());
        let order = stage.app.reader.session.transcript.order().to_vec();
        for id in order {
            let transcript = &stage.app.reader.session.transcript;
            let Some(entry) = transcript.get(id) else {
                continue;
            };
            let Some(parent) = entry.parent.clone() else {
                continue;
            };
            let is_there = text.contains(&format!("\"uuid\":\"{parent}\""));
            if !is_there || transcript.parent_of(transcript.print_of(&parent)).is_some() {
                continue;
            }
            // It is a line of a sub-agent: those are not linked, and the inspector says so.
            beside += 1;
            let line = entry.origin.line;
            stage
                .press(":")
                .type_in(&format!("{line}"))
                .press("enter")
                .rest();
            act(&mut stage.app, Action::Inspect(Tab::Why));
            stage.rest();
            let why = stage
                .app
                .reader
                .inspector
                .rows
                .iter()
                .map(|row| row.line.to_string());
            let why = why
                .collect::<Vec<_>>()
                .join(" ")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            assert!(
                why.contains("which may have it"),
                "{}: {line}: {why}",
                path.display()
            );
        }
    }
    assert!(beside > 0, "no fixture has such a parent");
}

fn inspect(path: &Path) -> usize {
    let mut stage = Stage::open(path, WIDE, Theme::dark());
    let mut rows = 0;
    for _ in 0..ITEMS {
        stage.press("k k k").rest();
        for tab in Tab::ALL.into_iter().filter(|tab| *tab != Tab::Raw) {
            act(&mut stage.app, Action::Inspect(tab));
            stage.arrange();
            let room = usize::from(stage.app.reader.frame().inspector.width) - 2;
            for fact in &stage.app.reader.inspector.rows {
                let text = fact.line.to_string();
                assert!(fact.line.width() <= room, "{}: {text}", path.display());
                assert!(
                    !text.chars().any(char::is_control),
                    "{}: {text}",
                    path.display()
                );
                rows += 1;
            }
        }
    }
    rows
}

#[test]
fn a_single_endless_line_is_not_laid_out_whole_and_none_of_it_is_lost_silently() {
    let mut stage = Stage::made(WIDE);
    let output = "字".repeat(2_000_000);
    stage.add([
        prompt("p", 0),
        calls("m", 2, &[("a", "bash", "cat")]),
        result("a", 3, &output, Verdict::Done),
    ]);
    on_call(&mut stage, 1);
    let began = Instant::now();
    stage.press("tab space space space");
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
    assert!(stage.app.reader.inspector.is_cut, "more would come");
    let area = stage.app.reader.frame().inspector;
    assert!(
        stage.line(area.bottom() - 1).ends_with("more"),
        "{}",
        stage.line(area.bottom() - 1)
    );
}

#[test]
fn a_value_of_the_record_and_the_text_that_shows_it_mark_each_other() {
    let mut stage = Stage::open(&demo(), WIDE, Theme::dark());
    stage.press("z 4 g g");
    let mut marked = 0;
    for _ in 0..ITEMS {
        act(&mut stage.app, Action::Inspect(Tab::Raw));
        stage.arrange();
        let Some(focus) = stage.app.reader.text.view.focus else {
            break;
        };
        let text = stage.focused();
        let own: Vec<usize> = (0..stage.app.reader.inspector.rows.len())
            .filter(|row| {
                stage.app.reader.inspector.rows[*row]
                    .spot
                    .as_ref()
                    .is_some_and(|spot| spot.focus == focus)
            })
            .collect();
        if !own.is_empty() {
            assert_eq!(
                stage.app.reader.inspector.at, own[0],
                "the keys are on the first of them: {text}"
            );
            stage.press("tab");
            assert_eq!(stage.app.reader.focused(), Pane::Inspector);
            stage.arrange();
            let spot = stage.app.reader.inspector.location().unwrap();
            let is_lit = |line: &tv::app::text::viewport::WindowLine| {
                line.entry == focus.entry && line.row().is_some_and(|row| spot.is_in(row))
            };
            assert!(
                stage.app.reader.text.view.lines.iter().any(is_lit),
                "{text}:\n{}",
                stage.picture()
            );
            stage.press("tab");
            while stage.app.reader.focused() != Pane::Transcript {
                stage.press("tab");
            }
            marked += 1;
        }
        stage.press("j").rest();
    }
    assert!(marked > ITEMS / 2, "{marked}");
}
