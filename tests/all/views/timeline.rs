//! Tests of the timeline: its rows, the jumps of its keys, and its growth.

use tv::app::input::action::View;
use tv::model::edit::Edit;
use tv::model::entry::Role;
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolKind, Verdict};
use tv::model::usage::Usage;
use tv::render::theme::Theme;

use crate::made::{START, calls, in_lane, lane, result_at, says, with};
use crate::stage::Stage;

const HOURS: i64 = 3 * 3_600;
/// No midnight lies within, wherever the test runs.
const MINUTES: i64 = 20 * 60;

fn prompt(key: &str, seconds: i64, text: &str) -> Edit {
    says(key, seconds, Role::User, text)
}

fn answer(key: &str, seconds: i64, tokens: u64) -> Edit {
    with(says(key, seconds, Role::Assistant, "so it is"), |entry| {
        entry.model = Some(Text::from("claude-opus-4-6"));
        entry.usage = Some(Box::new(Usage {
            input: Some(tokens),
            ..Usage::default()
        }));
    })
}

fn done(call: &str, seconds: i64) -> Edit {
    result_at(call, seconds, "done", Verdict::Done)
}

/// A turn with calls side by side and two sub-agents, and another one that begins so many seconds after it.
fn session(later: i64) -> Vec<Edit> {
    vec![
        prompt("p1", 0, "fix the flaky test"),
        answer("a1", 6, 20_000),
        calls("read", 8, "read", ToolKind::Read, "src/watch.rs"),
        done("read", 9),
        calls(
            "test",
            14,
            "bash",
            ToolKind::Run,
            "cargo test watch -- --nocapture",
        ),
        calls("grep", 14, "grep", ToolKind::Search, "sleep( tests/"),
        done("grep", 16),
        result_at("test", 55, "no such lantern", Verdict::Failed),
        calls("slow", 60, "task", ToolKind::Delegate, "review the change"),
        calls("quick", 60, "task", ToolKind::Delegate, "read the notes"),
        lane("reviewer", "slow"),
        lane("reader", "quick"),
        in_lane(
            calls("look", 66, "bash", ToolKind::Run, "git diff"),
            "reviewer",
        ),
        done("look", 90),
        in_lane(answer("r2", 104, 4_000), "reviewer"),
        in_lane(
            calls("notes", 62, "read", ToolKind::Read, "NOTES.md"),
            "reader",
        ),
        done("notes", 70),
        done("quick", 72),
        done("slow", 105),
        answer("a2", 112, 90_000),
        prompt("p2", later, "and the other one?"),
        answer("a3", later + 9, 110_000),
        calls("last", later + 10, "bash", ToolKind::Run, "cargo test"),
        done("last", later + 50),
        answer("a4", later + 60, 120_000),
    ]
}

fn stage(size: (u16, u16), later: i64) -> Stage {
    let mut stage = Stage::made(size);
    stage.add(session(later));
    stage
}

/// Opens the view, which waits for a count, with all that ran.
fn open(stage: &mut Stage) {
    stage.press("2");
    stage.wait(300);
    stage.arrange();
    assert_eq!(stage.app.reader.views.open(), Some(View::Timeline));
    stage.press("z 3");
}

fn title(stage: &Stage) -> String {
    stage
        .app
        .reader
        .views
        .sheet
        .title
        .iter()
        .map(|span| span.content.as_ref())
        .collect()
}

fn foot(stage: &Stage) -> String {
    let lines = stage
        .app
        .reader
        .views
        .sheet
        .foot
        .iter()
        .map(ToString::to_string);
    lines.collect::<Vec<_>>().join("\n")
}

/// The rows of the page.
fn rows(stage: &Stage) -> Vec<String> {
    stage
        .app
        .reader
        .views
        .sheet
        .rows
        .iter()
        .map(|row| row.line.to_string())
        .collect()
}

#[track_caller]
fn row(stage: &Stage, name: &str) -> String {
    let found = rows(stage).into_iter().find(|row| row.starts_with(name));
    found.unwrap_or_else(|| panic!("no row {name}:\n{}", stage.picture()))
}

#[test]
fn it_opens_on_the_turns_of_the_session_and_goes_into_them() {
    for size in [(80, 24), (120, 40)] {
        let mut stage = stage(size, MINUTES);
        stage.press("2").wait(300);
        assert!(
            title(&stage).contains("session") && title(&stage).contains("tools"),
            "{}",
            title(&stage)
        );
        let first = row(&stage, " 1 fix the flaky test");
        assert!(first.contains('█') && first.contains("1m52s"), "{first}");
        assert!(!first.contains("and the other one"), "{first}");
        let second = row(&stage, " 2 and the other one?");
        let column = |row: &str| row.chars().position(|c| c == '█').unwrap();
        assert!(column(&first) < column(&second), "{}", stage.picture());
        // Who is at the end is shown the turn that took the most work.
        assert!(
            foot(&stage).contains("fix the flaky test"),
            "{}",
            foot(&stage)
        );
        assert!(foot(&stage).contains("1 failed"), "{}", foot(&stage));
        stage.press("+");
        assert!(title(&stage).contains("turn 1 of 2"), "{}", title(&stage));
        assert!(row(&stage, "bash").contains('✗'), "{}", stage.picture());
        stage.press("- j +");
        assert!(title(&stage).contains("turn 2 of 2"), "{}", title(&stage));
        stage.press("- enter");
        assert_eq!(
            (stage.app.reader.views.open(), stage.focused_key().as_str()),
            (None, "p2"),
            "enter goes to the prompt"
        );
        stage.press("{ 2").wait(300);
        assert!(
            foot(&stage).contains("fix the flaky test"),
            "{}",
            foot(&stage)
        );
    }
}

#[test]
fn the_cursor_goes_through_time_and_is_the_readers_place() {
    let mut stage = stage((120, 40), HOURS);
    open(&mut stage);
    stage.press("g");
    assert!(
        title(&stage).contains("session"),
        "it is short: {}",
        title(&stage)
    );
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(stage.focused_key());
        stage.press("j");
    }
    assert_eq!(
        seen,
        ["a1", "read", "read", "test", "test"],
        "{}",
        stage.picture()
    );
    stage.press("g j j j");
    assert_eq!(stage.focused_key(), "test");
    stage.press("j");
    assert!(
        foot(&stage).contains("cargo test watch -- --nocapture"),
        "{}",
        foot(&stage)
    );
    assert!(
        foot(&stage).contains("failed") && foot(&stage).contains("≤41.0s"),
        "{}",
        foot(&stage)
    );
    assert!(
        foot(&stage).contains("on the critical path") && foot(&stage).contains("meanwhile grep")
    );
    stage.press("j");
    assert!(foot(&stage).contains("grep") && foot(&stage).contains("not on the critical path"));
    stage.press("enter");
    assert_eq!(
        (stage.app.reader.views.open(), stage.focused_key().as_str()),
        (None, "grep")
    );
    // The page opens at the item that the reader is at, inside a sub-agent as well.
    stage.press("] s enter");
    open(&mut stage);
    assert!(
        stage
            .app
            .reader
            .views
            .sheet
            .rows
            .iter()
            .any(|row| row.is_chosen),
        "{}",
        stage.picture()
    );
}

#[test]
fn rows_show_what_decided_the_end() {
    let mut stage = stage((120, 40), HOURS);
    open(&mut stage);
    stage.press("g z 2");
    assert!(title(&stage).contains("turn 1 of 2"), "{}", title(&stage));
    assert!(title(&stage).contains("model") && title(&stage).contains("tools"));
    assert!(
        row(&stage, "bash").contains('━') && row(&stage, "bash").contains('✗'),
        "{}",
        stage.picture()
    );
    assert!(row(&stage, "grep").contains('░') && !row(&stage, "grep").contains('━'));
    assert!(
        row(&stage, "◦ reviewer").contains('━'),
        "{}",
        stage.picture()
    );
    // With room below, a sub-agent has rows of its own, else it is one.
    let below = |stage: &Stage| {
        let rows: Vec<String> = rows(stage)
            .into_iter()
            .filter(|row| !row.trim().is_empty())
            .collect();
        rows.into_iter()
            .skip_while(|row| !row.starts_with("◦ reviewer"))
            .nth(1)
            .unwrap_or_default()
    };
    assert!(
        below(&stage).starts_with("  model") && below(&stage).contains('█'),
        "{}",
        stage.picture()
    );
    stage.resize(120, 16);
    stage.press("g z 2");
    assert!(!below(&stage).starts_with("  model"), "{}", stage.picture());
    assert!(
        row(&stage, "◦ reviewer").contains("━━"),
        "{}",
        stage.picture()
    );
    stage.resize(120, 40);
    assert!(
        !row(&stage, "◦ reader").contains('━'),
        "{}",
        stage.picture()
    );
    assert!(
        !rows(&stage).iter().any(|row| row.starts_with("task")),
        "a sub-agent is its own row"
    );
    assert!(stage.picture().contains("ctx 90k"), "{}", stage.picture());
}

#[test]
fn hours_without_work_do_not_flatten_the_rest() {
    let mut stage = stage((80, 24), HOURS);
    open(&mut stage);
    let heads = stage.app.reader.views.sheet.heads[0].to_string();
    assert!(
        heads.contains("2h58m"),
        "the length of what is left out: {heads}"
    );
    let columns = row(&stage, "model").chars().filter(|c| *c == '█').count();
    assert!(columns > 12, "{}", stage.picture());
    // Zooming and moving pass over what is left out, too.
    stage.press("G k k k");
    let before = title(&stage);
    stage.press("+");
    assert_ne!(title(&stage), before);
    stage.press("- - - -");
    assert!(title(&stage).contains("session"), "{}", title(&stage));
    stage.press("-");
    assert!(
        stage.picture().contains("this is all of the session"),
        "{}",
        stage.picture()
    );
    stage.press("g + + >");
    let moved = title(&stage);
    stage.press("<");
    assert_ne!(title(&stage), moved);
    stage.press("< < < < <");
    assert!(
        stage.picture().contains("the session begins here"),
        "{}",
        stage.picture()
    );
}

#[test]
fn fifty_calls_at_once_have_a_row_each() {
    let mut stage = Stage::made((80, 24));
    stage.add([prompt("p", 0, "all of them")]);
    for n in 0..50 {
        stage.add([calls(
            &format!("c{n}"),
            2,
            "bash",
            ToolKind::Run,
            &format!("cargo test part{n}"),
        )]);
    }
    for n in 0..50 {
        let which = n * 37 % 50;
        stage.add([done(&format!("c{which}"), 10 + which)]);
    }
    stage.add([answer("end", 62, 9_000)]);
    open(&mut stage);
    stage.press("g");
    let mut seen = Vec::new();
    for _ in 0..51 {
        stage.press("j");
        let chosen: Vec<usize> = stage
            .app
            .reader
            .views
            .sheet
            .rows
            .iter()
            .filter(|row| row.is_chosen)
            .map(|row| row.number)
            .collect();
        assert_eq!(
            chosen.len(),
            1,
            "the cursor is in sight: {}",
            stage.picture()
        );
        seen.push((stage.focused_key(), chosen[0]));
    }
    let mut numbers: Vec<usize> = seen
        .iter()
        .filter(|(key, _)| key != "end")
        .map(|(_, row)| *row)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 50, "{seen:?}");
    let on_path = |stage: &Stage| rows(stage).iter().filter(|row| row.contains('━')).count();
    stage.press("g 5 0 j");
    assert!(
        on_path(&stage) <= 1,
        "only the last to end decided it: {}",
        stage.picture()
    );
}

#[test]
fn what_runs_grows_and_the_end_is_followed() {
    let mut stage = Stage::made((100, 30));
    let now = |seconds: i64| Timestamp(START + seconds * 1_000);
    let tick = |stage: &mut Stage, seconds: i64| {
        stage.happen(tv::app::update::Event::Tick { now: now(seconds) });
        stage.arrange();
    };
    stage.app.reader.screen.now = now(30);
    stage.add([
        prompt("p", 0, "go"),
        answer("a", 10, 9_000),
        calls("run", 12, "bash", ToolKind::Run, "cargo build"),
    ]);
    tick(&mut stage, 30);
    open(&mut stage);
    let length = |stage: &Stage| row(stage, "bash").trim_end().chars().count();
    assert!(row(&stage, "bash").contains('▶'), "{}", stage.picture());
    assert!(foot(&stage).contains("running 18s"), "{}", foot(&stage));
    let full = length(&stage);
    tick(&mut stage, 60);
    assert!(
        foot(&stage).contains("running 48s") && length(&stage) >= full,
        "{}",
        stage.picture()
    );
    stage.add([
        done("run", 61),
        calls("next", 70, "grep", ToolKind::Search, "boats"),
    ]);
    tick(&mut stage, 80);
    assert!(
        !row(&stage, "bash").contains('▶') && row(&stage, "grep").contains('▶'),
        "{}",
        stage.picture()
    );
    assert!(
        foot(&stage).contains("boats"),
        "the cursor follows: {}",
        stage.picture()
    );
    // A reader who has gone back stays where he is.
    stage.press("g");
    let here = foot(&stage);
    stage.add([done("next", 85), answer("b", 90, 12_000)]);
    // An answer that does not say why it ended might go on for a while.
    tick(&mut stage, 130);
    assert_eq!(
        foot(&stage).lines().nth(1),
        here.lines().nth(1),
        "{}",
        stage.picture()
    );
    assert!(
        row(&stage, "you").contains('▶'),
        "now it waits: {}",
        stage.picture()
    );
}

#[test]
fn a_step_among_thousands_of_sub_agents_costs_at_most_in_proportion() {
    let (few, many) = (allocations_of_a_step(400), allocations_of_a_step(4_000));
    assert!(
        many < few * 10,
        "a step takes {few} allocations beside 400, and {many} beside 4000"
    );
}

/// The least that one of some steps takes through a session with so many sub-agents.
fn allocations_of_a_step(agents: i64) -> u64 {
    let mut stage = Stage::made((120, 40));
    let mut edits = vec![prompt("p", 0, "everybody")];
    for n in 0..agents {
        let (call, name) = (format!("c{n}"), format!("worker {n}"));
        edits.push(calls(&call, n, "task", ToolKind::Delegate, "help"));
        edits.push(lane(&name, &call));
        edits.push(in_lane(
            calls(&format!("x{n}"), n + 1, "bash", ToolKind::Run, "true"),
            &name,
        ));
        edits.push(done(&format!("x{n}"), n + 30));
        edits.push(done(&call, n + 31));
    }
    edits.push(answer("end", agents + 100, 9_000));
    stage.add(edits);
    open(&mut stage);
    stage.press("z 1 g");
    assert!(
        rows(&stage).len() < 40 && foot(&stage).contains("below"),
        "{}",
        stage.picture()
    );
    let step = |_| {
        let taken = allocation_counter::measure(|| {
            stage.press("j");
        });
        taken.count_total
    };
    (0..20).map(step).min().unwrap()
}

#[test]
fn a_session_without_times_says_so() {
    let mut stage = Stage::made((80, 24));
    stage.add([with(prompt("p", 0, "when?"), |entry| entry.at = None)]);
    stage.app.reader.session.file.is_caught_up = true;
    open(&mut stage);
    assert!(
        stage
            .picture()
            .contains("Nothing in this session tells when it was."),
        "{}",
        stage.picture()
    );
    stage.press("j + > q");
    assert_eq!(stage.app.reader.views.open(), None);
}

/// A turn in which nothing but its prompt has a time took nobody knows how long, which is not 0 ms.
#[test]
fn a_turn_of_unknown_length_has_a_question_mark() {
    let mut stage = Stage::made((80, 24));
    stage.add([
        prompt("p1", 0, "when?"),
        with(answer("a1", 0, 100), |entry| entry.at = None),
        prompt("p2", 60, "and now?"),
        answer("a2", 66, 200),
    ]);
    stage.app.reader.session.file.is_caught_up = true;
    stage.press("2");
    stage.wait(300);
    stage.arrange();
    let (first, second) = (row(&stage, " 1 when?"), row(&stage, " 2 and now?"));
    assert!(first.ends_with(" ?"), "{}", stage.picture());
    assert!(second.ends_with(" 6.0s"), "{}", stage.picture());
}

/// The longest of many turns is chosen, with turns before and after it in sight.
#[test]
fn it_opens_on_the_longest_turn_with_others_around_it() {
    let mut stage = Stage::made((80, 24));
    let turn = |number: i64| {
        let (at, long) = (number * 60, if number == 20 { 50 } else { 5 });
        [
            prompt(&format!("p{number}"), at, &format!("prompt {number}")),
            answer(&format!("a{number}"), at + long, 100),
        ]
    };
    stage.add((1..=40).flat_map(turn));
    stage.app.reader.session.file.is_caught_up = true;
    stage.press("2");
    stage.wait(300);
    stage.arrange();
    let rows = stage.app.reader.views.sheet.rows.iter();
    let chosen = rows.clone().position(|row| row.is_chosen);
    let chosen = chosen.expect("a chosen row");
    let words = rows.clone().nth(chosen).map(|row| row.line.to_string());
    assert!(words.is_some_and(|words| words.contains("prompt 20")));
    let last = rows.count() - 1;
    assert!((3..last - 3).contains(&chosen), "{}", stage.picture());
}

#[test]
fn pages_at_all_sizes() {
    for (columns, lines) in [(80, 24), (120, 40), (200, 60), (44, 14)] {
        let mut stage = stage((columns, lines), MINUTES);
        open(&mut stage);
        stage.press("g j j j");
        insta::assert_snapshot!(format!("timeline-{columns}x{lines}"), stage.picture());
    }
    let mut stage = stage((80, 24), MINUTES);
    stage.app.reader.screen.theme = Theme::mono().with_ascii(true);
    stage.app.reader.text.invalidate_rows();
    open(&mut stage);
    stage.press("g j j j");
    let picture = stage.picture();
    insta::assert_snapshot!("timeline-ascii", picture);
    for size in [(1, 1), (5, 3), (20, 5), (30, 9)] {
        stage.resize(size.0, size.1);
        stage.press("j k + -");
    }
}
