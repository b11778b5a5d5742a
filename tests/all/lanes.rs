//! Tests of the lane gutter with calls in flight, and of the rulers between entries.

use ratatui::layout::Rect;
use tv::app::update::Event;
use tv::model::edit::Feed;
use tv::model::entry::{BlockKind, Role, Stop};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolKind, Verdict};
use tv::render::theme::Theme;

use crate::made::{START, call_of, calls, entry, in_lane, lane, lines, result_at, says, with};
use crate::stage::{Stage, demo};

/// What stands in the gutter, line by line, each with the first word of its row.
fn gutter(stage: &Stage) -> Vec<String> {
    let frame = stage.app.reader.frame();
    let buffer = stage.buffer();
    let Rect { x, y, .. } = frame.transcript;
    let cells = |line: u16| {
        let columns = (1..=frame.lanes).map(|at| buffer[(x + at, y + line)].symbol().to_owned());
        columns.collect::<String>().trim_end().to_owned()
    };
    let window = stage.window();
    let rows = window.iter().zip(0..).map(|((_, _, text), line)| {
        let word = text
            .split_whitespace()
            .find(|word| !word.contains(':'))
            .unwrap_or("");
        format!("{:4}{word}", cells(line)).trim_end().to_owned()
    });
    rows.collect()
}

/// Two calls of one message, and what is said until both have their results; in the given order.
fn crossed(size: (u16, u16), order: [&str; 2]) -> Stage {
    let mut stage = Stage::made(size);
    stage.app.reader.panes.wants_outline = Some(false);
    stage.add([
        says("p", 0, Role::User, "look"),
        entry("a", 1, Role::Assistant, |batch| {
            vec![
                call_of(batch, "c1", "bash", ToolKind::Run, "first"),
                call_of(batch, "c2", "bash", ToolKind::Run, "second"),
            ]
        }),
        result_at(order[0], 3, "one\ntwo", Verdict::Done),
        result_at(order[1], 9, "one\ntwo", Verdict::Done),
        says("b", 10, Role::Assistant, "done"),
    ]);
    stage
}

#[test]
fn calls_that_cross_are_distinguished_from_calls_within_each_other() {
    let within = crossed((120, 40), ["c2", "c1"]);
    assert_eq!(
        gutter(&within)[3..11],
        [
            "╭   bash",
            "│   one",
            "│   two",
            "│╭  bash",
            "││  one",
            "│╰  two",
            "╰",
            "    bot"
        ],
        "{}",
        within.picture()
    );
    let across = crossed((120, 40), ["c1", "c2"]);
    assert_eq!(
        gutter(&across)[3..11],
        [
            "╭   bash",
            "│   one",
            "│   two",
            "│╭  bash",
            "╰│  one",
            " ╰  two",
            "",
            "    bot"
        ],
        "{}",
        across.picture()
    );
}

#[test]
fn the_gutter_is_wider_where_the_text_has_room() {
    assert_eq!(crossed((80, 24), ["c1", "c2"]).app.reader.frame().lanes, 2);
    let wide = crossed((120, 40), ["c1", "c2"]);
    let frame = wide.app.reader.frame();
    assert_eq!((frame.lanes, frame.text()), (4, 112));
    let edge = crossed((107, 40), ["c1", "c2"]);
    let frame = edge.app.reader.frame();
    assert_eq!(
        (frame.lanes, frame.text()),
        (3, 100),
        "the text keeps a hundred columns"
    );
}

#[test]
fn more_calls_than_columns_are_shown_by_the_last_one() {
    let mut stage = Stage::made((80, 24));
    stage.add([entry("a", 1, Role::Assistant, |batch| {
        let names = ["c1", "c2", "c3", "c4"];
        names
            .map(|name| call_of(batch, name, "bash", ToolKind::Run, name))
            .into()
    })]);
    stage.add(["c1", "c2", "c3", "c4"].map(|name| result_at(name, 5, "done", Verdict::Done)));
    stage.add([says("b", 10, Role::Assistant, "bye")]);
    stage.press("z 2 g");
    assert_eq!(
        gutter(&stage)[..5],
        ["╭   bash", "│╭  bash", "│+  bash", "╰+  bash", "    bot"],
        "{}",
        stage.picture()
    );
    stage.app.reader.screen.theme = Theme::mono().with_ascii(true);
    stage.app.reader.text.invalidate_rows();
    stage.arrange();
    assert_eq!(
        gutter(&stage)[..4],
        [".   bash", "|.  bash", "|+  bash", "'+  bash"]
    );
}

#[test]
fn a_call_without_a_result_is_dashed_until_the_next_prompt() {
    let mut stage = Stage::made((80, 24));
    stage.add([
        says("p", 0, Role::User, "look"),
        calls("a", 1, "bash", ToolKind::Run, "first"),
        says("b", 2, Role::Assistant, "meanwhile"),
    ]);
    stage.press("g");
    assert!(
        gutter(&stage).contains(&"╎   bot".to_owned()),
        "{}",
        stage.picture()
    );
    stage.add([
        says("q", 3, Role::User, "go on"),
        says("c", 4, Role::Assistant, "yes"),
    ]);
    let rows = gutter(&stage);
    assert!(
        rows.contains(&"╎   bot".to_owned()) && rows.contains(&"    you".to_owned()),
        "{rows:?}"
    );
    assert_eq!(
        rows.last().map(String::as_str),
        Some(""),
        "{}",
        stage.picture()
    );
}

#[test]
fn sub_agents_work_within_the_lane_of_their_call() {
    let mut stage = Stage::made((80, 24));
    stage.add([
        says("p", 0, Role::User, "ask around"),
        calls("a", 1, "task", ToolKind::Delegate, "ask the mate"),
        lane("mate", "a"),
        in_lane(calls("m1", 2, "bash", ToolKind::Run, "look"), "mate"),
        result_at("m1", 3, "one\ntwo", Verdict::Done),
        in_lane(says("m2", 4, Role::Assistant, "nothing"), "mate"),
        result_at("a", 5, "he knows nothing", Verdict::Done),
        says("b", 6, Role::Assistant, "nobody knows"),
    ]);
    stage.press("g ] s l l");
    let rows = gutter(&stage);
    let of = |word: &str| {
        rows.iter()
            .position(|row| row.ends_with(word))
            .unwrap_or_else(|| panic!("{rows:?}"))
    };
    assert!(rows[of("task")].starts_with('╭'), "{}", stage.picture());
    // Its call by itself has no lane of its own.
    assert!(rows[of("bash")].starts_with("│ "), "{}", stage.picture());
    assert!(rows[of("two")].starts_with("│ "), "{}", stage.picture());
    assert!(rows[of("nothing")].starts_with('╰'), "{}", stage.picture());
    assert!(
        rows.iter()
            .rev()
            .take(3)
            .all(|row| row.starts_with(' ') || row.is_empty()),
        "{}",
        stage.picture()
    );
}

/// A sub-agent that goes on by itself, its call answered at once, and when it did something last.
fn in_background(size: (u16, u16)) -> Stage {
    let mut stage = Stage::made(size);
    stage.add([
        says("p", 0, Role::User, "ask around"),
        calls("a", 1, "task", ToolKind::Delegate, "ask the mate"),
        lane("mate", "a"),
        result_at("a", 2, "started", Verdict::Done),
        in_lane(calls("m1", 3, "bash", ToolKind::Run, "knock"), "mate"),
        result_at("m1", 4, "one", Verdict::Done),
        in_lane(calls("m2", 10, "bash", ToolKind::Run, "listen"), "mate"),
        result_at("m2", 11, "two", Verdict::Done),
        in_lane(calls("m3", 20, "bash", ToolKind::Run, "shout"), "mate"),
    ]);
    stage
}

#[test]
fn a_folded_sub_agent_at_work_shows_how_long_and_what_it_did_last() {
    let mut stage = in_background((80, 24));
    stage.happen(Event::Written(Timestamp(START + 20_000)));
    stage.happen(Event::Tick {
        now: Timestamp(START + 62_000),
    });
    stage.arrange();
    let picture = stage.picture();
    let place = |words: &str| picture.lines().position(|line| line.contains(words));
    let head = place("▸ mate").unwrap_or_else(|| panic!("{picture}"));
    assert!(
        picture
            .lines()
            .nth(head)
            .is_some_and(|line| line.contains("running 1m01s")),
        "{picture}"
    );
    let flags = ["bash knock", "bash listen", "bash shout"].map(place);
    assert_eq!(flags, [head + 1, head + 2, head + 3].map(Some), "{picture}");
    stage.add([
        result_at("m3", 63, "three", Verdict::Done),
        in_lane(
            with(
                says("m4", 64, Role::Assistant, "he knows nothing"),
                |entry| entry.stop = Stop::Done,
            ),
            "mate",
        ),
    ]);
    let picture = stage.picture();
    assert!(
        picture.contains("· he knows nothing") && !picture.contains("running"),
        "{picture}"
    );
    assert!(
        !picture.contains("bash listen"),
        "what it did is folded away: {picture}"
    );
}

#[test]
fn a_call_by_itself_has_no_lane() {
    let mut stage = Stage::made((80, 24));
    let asks = |key: &'static str, at, call: &'static str| {
        entry(key, at, Role::Assistant, move |batch| {
            vec![call_of(batch, call, "bash", ToolKind::Run, "make")]
        })
    };
    stage.add([
        says("p", 0, Role::User, "look"),
        asks("a", 1, "c1"),
        result_at("c1", 2, "one\ntwo", Verdict::Done),
    ]);
    stage.add([
        asks("b", 3, "c2"),
        result_at("c2", 4, "one\ntwo", Verdict::Done),
        says("c", 5, Role::Assistant, "ok"),
    ]);
    assert!(!stage.picture().contains(['╭', '╰']), "{}", stage.picture());
    stage.add([asks("d", 6, "c3")]);
    assert!(
        stage.picture().contains('╎'),
        "what has no result yet still has one: {}",
        stage.picture()
    );
}

#[test]
fn lanes_can_be_left_out_and_the_text_has_their_room() {
    let mut stage = crossed((80, 24), ["c1", "c2"]);
    let before = stage.app.reader.frame().text();
    stage.press(":").type_in("set lanes=off").press("enter");
    assert_eq!(stage.app.reader.frame().text(), before + 2);
    assert!(!stage.picture().contains('╭'), "{}", stage.picture());
    stage.press(":").type_in("set lanes=on").press("enter");
    assert_eq!(stage.app.reader.frame().text(), before);
    assert!(stage.picture().contains('╭'), "{}", stage.picture());
}

#[test]
fn no_row_depends_on_the_lanes() {
    let mut stage = crossed((80, 24), ["c1", "c2"]);
    let before: Vec<_> = stage.window();
    stage.app.reader.session.indexes.flights = tv::analysis::derived::Memo::default();
    stage.arrange();
    assert_eq!(stage.window(), before);
}

#[test]
fn work_depends_on_the_window() {
    let mut stage = Stage::made((80, 24));
    for n in 0..2_000 {
        let name = format!("c{n}");
        stage.add([
            calls(&name, n, "bash", ToolKind::Run, "ls"),
            result_at(&name, n + 1, &lines(3, |n| n.to_string()), Verdict::Done),
        ]);
    }
    stage.press("g G");
    stage.app.reader.text.cache.laid_out = 0;
    stage.press(":").type_in("50%").press("enter ctrl-e");
    assert!(
        stage.app.reader.text.cache.laid_out < 60,
        "{}",
        stage.app.reader.text.cache.laid_out
    );
    assert_eq!(
        stage.app.reader.text.gutter.lines.len(),
        stage.app.reader.text.view.lines.len()
    );
}

#[test]
fn long_times_stand_between_entries() {
    let mut stage = Stage::made((80, 24));
    stage.add([
        says("p", 0, Role::User, "think hard"),
        says("a", 41, Role::Assistant, "done"),
        says("q", 293, Role::User, "and now?"),
        calls("c", 294, "bash", ToolKind::Run, "sleep 100"),
        result_at("c", 394, "slept", Verdict::Done),
        says("b", 395, Role::Assistant, "rested"),
    ]);
    stage.press("g");
    let picture = stage.picture();
    assert!(
        picture.contains("── 41s model ──") && picture.contains("── 4m12s you ──"),
        "{picture}"
    );
    assert_eq!(
        picture.matches(" ──").count(),
        4,
        "the tool says its own time: {picture}"
    );
    stage.press("z 2");
    assert!(stage.picture().contains("── 4m12s you ──"));
    stage.press("z 1");
    assert!(!stage.picture().contains("── 4m12s you ──"), "prompts only");
    stage
        .press("z 3 :")
        .type_in("set rulers=off")
        .press("enter");
    assert!(!stage.picture().contains(" you ──"), "{}", stage.picture());
}

#[test]
fn a_ruler_is_no_item() {
    let mut stage = Stage::made((80, 24));
    stage.add([
        says("p", 0, Role::User, "think"),
        says("a", 50, Role::Assistant, "done"),
    ]);
    stage.press("g j");
    assert_eq!(stage.focused_key(), "a");
    stage.press("k");
    assert_eq!(stage.focused_key(), "p");
    let before = stage.line_of_focus();
    stage.add([
        says("q", 200, Role::User, "next"),
        says("b", 300, Role::Assistant, "late"),
    ]);
    assert_eq!(
        stage.line_of_focus(),
        before,
        "nothing above moves when one comes"
    );
    assert!(stage.picture().contains("2m30s you"), "{}", stage.picture());
}

#[test]
fn a_time_is_a_bound_where_the_entry_above_has_none() {
    let mut stage = Stage::made((80, 24));
    let timeless = says("a", 0, Role::Assistant, "somewhen");
    let timeless = with(timeless, |entry| entry.at = None);
    stage.add([
        says("p", 0, Role::User, "think"),
        timeless,
        says("b", 60, Role::Assistant, "done"),
    ]);
    stage.press("g");
    assert!(
        stage.picture().contains("── ≤ 1m00s unknown ──"),
        "{}",
        stage.picture()
    );
}

#[test]
fn the_demo_has_lanes_at_all_sizes() {
    for size in [(80, 24), (120, 40), (200, 60), (44, 14), (20, 8)] {
        let mut stage = Stage::open(&demo(), size, Theme::dark());
        for keys in ["g", "] s", "l", "G", "z 2", "z 4", "k k k"] {
            stage.press(keys);
            let lanes = &stage.app.reader.text.gutter.lines;
            assert_eq!(
                lanes.len(),
                stage.app.reader.text.view.lines.len(),
                "{size:?} {keys}"
            );
            let opens = |(line, cells): (usize, &Vec<tv::app::text::gutter::GutterCell>)| {
                let row = stage.app.reader.text.view.lines[line].row().unwrap();
                let entry = stage
                    .app
                    .reader
                    .session
                    .transcript
                    .get(stage.app.reader.text.view.lines[line].entry)
                    .unwrap();
                let is_call = matches!(
                    entry.blocks.get(row.block).map(|b| &b.kind),
                    Some(BlockKind::Call(_))
                );
                let opens = cells
                    .iter()
                    .filter(|cell| cell.part == tv::app::text::gutter::Stroke::Opens)
                    .count();
                opens <= usize::from(is_call)
            };
            assert!(
                lanes.iter().enumerate().all(opens),
                "{size:?} {keys}\n{}",
                stage.picture()
            );
        }
    }
}

#[test]
fn a_sub_agent_has_below_it_what_it_started() {
    let mut stage = Stage::made((80, 24));
    let task = |key: &str, call: &str| {
        entry(key, 0, Role::Assistant, |batch| {
            vec![call_of(batch, call, "task", ToolKind::Delegate, "look")]
        })
    };
    stage.add([
        task("a", "c1"),
        in_lane(task("b", "c2"), "one"),
        in_lane(task("c", "c3"), "two"),
        in_lane(task("d", "c1"), "three"),
        lane("one", "c1"),
        lane("two", "c2"),
        lane("three", "c3"),
    ]);
    let transcript = &stage.app.reader.session.transcript;
    let below = |name: &str| {
        let lane = transcript.lane(&Text::from(name)).unwrap();
        transcript
            .with_nested(lane)
            .iter()
            .map(|lane| lane.name.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(below("one"), ["one", "two", "three"]);
    assert_eq!(
        below("three"),
        ["three"],
        "the id that repeats belongs to the main agent's call"
    );
}

#[test]
fn a_new_day_begins_with_its_date() {
    let mut stage = Stage::made((80, 24));
    let day = 86_400;
    stage.add([
        says("a", 0, Role::User, "good night"),
        says("b", 10, Role::Assistant, "sleep well"),
        says("c", day, Role::User, "good morning"),
        says("d", day + 1, Role::Assistant, "did you sleep well?"),
    ]);
    let dates = |stage: &Stage| stage.picture().matches("Wed 15 Nov 2023 ──").count();
    assert_eq!(dates(&stage), 1, "{}", stage.picture());
    let rows: Vec<String> = stage.picture().lines().map(str::to_owned).collect();
    let of = |words: &str| rows.iter().position(|row| row.contains(words)).unwrap();
    assert!(
        of("sleep well") < of("2023 ──") && of("2023 ──") < of("good morning"),
        "{}",
        stage.picture()
    );
    stage.press(":").type_in("set rulers=off").press("enter");
    assert_eq!(
        dates(&stage),
        1,
        "the date stays where times between entries are not wanted"
    );
}

// === sub-agents at work ===

/// A session that is being written: the agent waits for a sub-agent, and for nothing else.
fn delegating() -> Stage {
    let mut stage = Stage::made((100, 40));
    stage.app.reader.screen.now = Timestamp(START + 5_000);
    stage.add([
        says("p", 0, Role::User, "ask around"),
        calls("a", 1, "task", ToolKind::Delegate, "ask the mate"),
        lane("mate", "a"),
        in_lane(says("m1", 2, Role::User, "what is in the hold?"), "mate"),
        in_lane(calls("m2", 3, "bash", ToolKind::Run, "look below"), "mate"),
    ]);
    stage.feed(Feed::CaughtUp);
    stage.happen(Event::Written(Timestamp(START + 4_000)));
    stage.wait(1_000);
    stage
}

/// The keys of the entries in sight.
fn shown(stage: &Stage) -> Vec<String> {
    let transcript = &stage.app.reader.session.transcript;
    let lines = stage.app.reader.text.view.lines.iter();
    lines
        .map(|line| transcript.get(line.entry).unwrap().key.to_string())
        .collect()
}

fn is_open(stage: &Stage) -> bool {
    shown(stage).contains(&"m2".to_owned())
}

/// The result of the sub-agent's call, and what the agent says to it.
fn answered(stage: &mut Stage) {
    stage.add([
        result_at("a", 9, "he knows nothing", Verdict::Done),
        says("b", 10, Role::Assistant, "nobody"),
    ]);
}

#[test]
fn a_sub_agent_at_work_alone_opens_by_itself_and_folds_when_it_ends() {
    let mut stage = delegating();
    assert!(
        is_open(&stage) && stage.app.reader.text.view.follows(),
        "{}",
        stage.picture()
    );
    stage.add([in_lane(
        says("m3", 7, Role::Assistant, "nothing there"),
        "mate",
    )]);
    assert!(
        stage.picture().contains("nothing there"),
        "{}",
        stage.picture()
    );
    answered(&mut stage);
    assert!(
        !is_open(&stage) && stage.app.reader.text.view.follows(),
        "{}",
        stage.picture()
    );
    assert!(stage.picture().contains("nobody"), "{}", stage.picture());
}

#[test]
fn what_the_reader_has_touched_stays_as_it_is() {
    // Stopped among its entries.
    let mut stage = delegating();
    stage.press("k");
    answered(&mut stage);
    stage.press("G");
    assert!(is_open(&stage), "{}", stage.picture());
    // Folded by hand.
    let mut stage = delegating();
    stage.press("[ s h G");
    assert!(
        !is_open(&stage) && stage.app.reader.text.view.follows(),
        "{}",
        stage.picture()
    );
    stage.add([in_lane(
        says("m3", 7, Role::Assistant, "nothing there"),
        "mate",
    )]);
    stage.wait(1_000);
    assert!(!is_open(&stage), "{}", stage.picture());
    // Elsewhere in the session nothing opens.
    let mut stage = Stage::made((100, 40));
    stage.app.reader.screen.now = Timestamp(START + 5_000);
    stage.add([
        says("p", 0, Role::User, "ask around"),
        calls("a", 1, "task", ToolKind::Delegate, "ask the mate"),
    ]);
    stage.press("k");
    stage.add([
        lane("mate", "a"),
        in_lane(says("m1", 2, Role::User, "what is in the hold?"), "mate"),
    ]);
    stage.feed(Feed::CaughtUp);
    stage.happen(Event::Written(Timestamp(START + 4_000)));
    stage.wait(1_000);
    assert!(!stage.app.reader.text.view.follows());
    assert!(
        !shown(&stage).contains(&"m1".to_owned()),
        "{}",
        stage.picture()
    );
}

#[test]
fn of_several_sub_agents_none_opens_and_folded_ones_have_clocks() {
    let mut stage = Stage::made((100, 40));
    stage.app.reader.screen.now = Timestamp(START + 65_000);
    stage.add([
        says("p", 0, Role::User, "ask around"),
        entry("a", 1, Role::Assistant, |batch| {
            vec![
                call_of(batch, "c1", "task", ToolKind::Delegate, "ask the mate"),
                call_of(batch, "c2", "task", ToolKind::Delegate, "ask the cook"),
            ]
        }),
        lane("mate", "c1"),
        lane("cook", "c2"),
        in_lane(calls("m1", 3, "bash", ToolKind::Run, "look below"), "mate"),
        in_lane(
            calls("k1", 3, "bash", ToolKind::Run, "look into the pot"),
            "cook",
        ),
    ]);
    stage.feed(Feed::CaughtUp);
    stage.happen(Event::Written(Timestamp(START + 64_000)));
    stage.wait(1_000);
    let rows: Vec<String> = stage.picture().lines().map(str::to_owned).collect();
    for (call, at_work) in [
        ("ask the mate", "look below"),
        ("ask the cook", "look into the pot"),
    ] {
        let row = rows.iter().find(|row| row.contains(call)).unwrap();
        assert!(row.contains("1m05s"), "a clock runs: {row}");
        assert!(
            stage.picture().contains(at_work),
            "and the current call is named: {}",
            stage.picture()
        );
    }
    let shown = shown(&stage);
    assert!(
        !shown.contains(&"m1".to_owned()) && !shown.contains(&"k1".to_owned()),
        "{shown:?}"
    );
}

#[test]
fn the_time_of_a_turn_goes_on_while_only_its_sub_agent_works() {
    let mut stage = Stage::made((140, 40));
    stage.app.reader.screen.now = Timestamp(START + 65_000);
    stage.add([
        says("p", 0, Role::User, "ask around"),
        calls("a", 1, "task", ToolKind::Delegate, "ask the mate"),
        lane("mate", "a"),
        in_lane(calls("m1", 3, "bash", ToolKind::Run, "look below"), "mate"),
    ]);
    stage.feed(Feed::CaughtUp);
    stage.happen(Event::Written(Timestamp(START + 64_000)));
    let turn = |stage: &mut Stage| {
        let picture = stage.wait(1_000).picture();
        picture
            .lines()
            .find(|row| row.contains("1 ask around"))
            .unwrap()
            .to_owned()
    };
    assert!(turn(&mut stage).contains("1m06s"), "{}", stage.picture());
    assert!(turn(&mut stage).contains("1m07s"), "{}", stage.picture());
    assert!(
        stage.picture().contains("2 calls · 1m07s"),
        "the prompt says the same: {}",
        stage.picture()
    );
    stage.add([result_at("a", 70, "he knows nothing", Verdict::Done)]);
    stage.add([says("b", 71, Role::Assistant, "nobody")]);
    assert!(turn(&mut stage).contains("1m11s"), "{}", stage.picture());
}
