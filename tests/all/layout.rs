//! Tests of the layout of entries: snapshots for every kind of entry, and properties of any entry
//! at any width.

use proptest::prelude::{Strategy, any, prop, prop_assert, prop_oneof, proptest};

use tv::model::body::{Body, Image, Tree};
use tv::model::edit::Batch;
use tv::model::entry::{
    Block, BlockKind, Break, Entry, Marks, Piece, Raw, Role, Stop, StrayResult,
};
use tv::model::record::Origin;
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use tv::render::code::Colours;
use tv::render::lay_out;
use tv::render::row::{Fold, Gutter, Item, LaneLine, Level, Look, Row, RowKind, Times};
use tv::render::sheet::RUNNING_ROOM;
use tv::render::theme::Theme;

const AT: i64 = 1_790_000_000_000;

fn prose(raw: &str) -> Body {
    Batch::default().prose(raw)
}

fn output(raw: &str) -> Body {
    Batch::default().output(raw)
}

fn map(members: &[(&str, &str)]) -> Tree {
    Tree::Map(
        members
            .iter()
            .map(|(key, value)| (Text::from(*key), Tree::Text(Text::from(*value))))
            .collect(),
    )
}

fn tree(headline: &str, tree: Tree) -> Body {
    Batch::default().tree(&Text::from(headline), 200, || tree)
}

fn entry(role: Role, kinds: Vec<BlockKind>) -> Entry {
    Entry {
        key: "k1".into(),
        parent: None,
        lane: None,
        at: Some(Timestamp(AT)),
        ended: None,
        role,
        from: None,
        model: None,
        attribution: None,
        blocks: kinds
            .into_iter()
            .map(|kind| Block::new(Piece::default(), kind))
            .collect(),
        usage: None,
        stop: Stop::Unrecorded,
        origin: Origin::default(),
        records: Vec::new(),
        marks: Marks {
            prompt: role == Role::User,
            ..Marks::default()
        },
        revision: 0,
    }
}

fn result(verdict: Verdict, text: &str, ms: u64, facts: &str) -> Box<ToolResult> {
    Box::new(ToolResult {
        key: "r".into(),
        tool: None,
        verdict,
        body: output(text),
        patch: None,
        images: Vec::new(),
        facts: facts.into(),
        at: None,
        duration_ms: Some(ms),
        work: None,
    })
}

fn call(name: &str, kind: ToolKind, headline: &str, input: Tree, state: ToolState) -> BlockKind {
    BlockKind::Call(Box::new(ToolCall {
        key: "c1".into(),
        name: name.into(),
        kind,
        headline: headline.into(),
        input: tree(headline, input),
        state,
        started: Some(Timestamp(AT + 2_000)),
        lane: None,
    }))
}

fn done(text: &str, ms: u64) -> ToolState {
    ToolState::Done(result(Verdict::Done, text, ms, ""))
}

/// One entry of each kind, in the order of a session.
fn session() -> Vec<Entry> {
    let compiling = (0..220)
        .map(|n| format!("   Compiling crate-{n} v0.{n}.0\n"))
        .collect::<Vec<_>>()
        .concat();
    let failed = format!(
        "{compiling}\u{1b}[31mtest watch::coalesce … FAILED\u{1b}[0m\nassertion failed: rx.try_recv().is_ok()\n  tests/watch.rs:46\nerror: test failed, to rerun pass `--test watch`\n"
    );
    let source = (120..181)
        .map(|n| format!("   {n}→    let x{n} = mpsc::channel();\n"))
        .collect::<Vec<_>>()
        .concat();
    let old = "    fs::write(&p, b\"x\")?;\n    sleep(Duration::from_millis(50));\n    assert!(rx.try_recv().is_ok());\n";
    let new = "    fs::write(&p, b\"x\")?;\n    rx.recv_timeout(SECOND)?; // armed\n    assert!(rx.try_recv().is_ok());\n";
    vec![
        entry(Role::System, vec![BlockKind::Text(prose("You are a coding agent.\n\nRules:\n- be kind\n- be brief\n- be right\n- and more"))]),
        entry(Role::User, vec![BlockKind::Text(prose("fix the flaky watcher test and tell me why it flaked\n  - keep *.rs files tidy")), BlockKind::Image(Image { mime: "image/png".into(), bytes: Some(45_300), source: None, origin: Origin::default() })]),
        entry(Role::Assistant, vec![BlockKind::Thinking(prose("The test sleeps 50 ms, but inotify coalesces events; on a loaded machine the write lands before the watch is armed.\nI should look at the watcher first.\nThen at the test.\nThen run it."))]),
        entry(Role::Assistant, vec![BlockKind::Thinking(prose(""))]),
        entry(Role::Assistant, vec![
            BlockKind::Text(prose("I will look at the watcher.")),
            call("Read", ToolKind::Read, "src/watch.rs:120-180", map(&[("file_path", "src/watch.rs")]), done(&source, 8)),
        ]),
        entry(Role::Assistant, vec![call("Bash", ToolKind::Run, "cargo test watch -- --nocapture", map(&[("command", "cargo test watch -- --nocapture")]), ToolState::Failed(result(Verdict::Failed, &failed, 41_200, "exit 101")))]),
        entry(Role::Assistant, vec![call("Grep", ToolKind::Search, "\"sleep\\(\" tests/", map(&[("pattern", "sleep\\(")]), done("tests/watch.rs:44:    sleep(Duration::from_millis(50));\ntests/watch.rs:71:    sleep(Duration::from_millis(50));\ntests/a.rs:1:x\ntests/b.rs:2:y\ntests/c.rs:3:z\n", 12))]),
        entry(Role::Assistant, vec![BlockKind::Text(prose("The flake is a **race**: the writer closes the file before the watcher is armed. I will wait for the *arm event* instead of sleeping, see [inotify](https://man7.org/inotify).\n\n## Plan\n\n1. arm the watch\n2. then write\n   - with a `timeout`\n\n```rust\nfn wait(rx: &Receiver<Event>) -> Result<Event> {\n    rx.recv_timeout(SECOND) // armed\n}\n```\n\n| file | change |\n|------|--------|\n| tests/watch.rs | waits for the event instead of sleeping |\n| src/watch.rs | none |\n\n> It never was the kernel."))]),
        entry(Role::Assistant, vec![call("Edit", ToolKind::Edit, "tests/watch.rs", map(&[("file_path", "tests/watch.rs"), ("old_string", old), ("new_string", new)]), done("The file tests/watch.rs has been updated.", 15))]),
        entry(Role::Assistant, vec![call("Write", ToolKind::Write, "notes.md", map(&[("file_path", "notes.md"), ("content", "# Notes\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\n")]), done("ok", 3))]),
        entry(Role::Assistant, vec![call("TodoWrite", ToolKind::Plan, "3 tasks", Tree::Map(vec![("todos".into(), Tree::List(vec![
            map(&[("content", "find the race"), ("status", "completed")]),
            map(&[("content", "wait for the arm event"), ("status", "in_progress")]),
            map(&[("content", "run the tests"), ("status", "pending")]),
        ]))]), done("ok", 1))]),
        entry(Role::Assistant, vec![call("WebFetch", ToolKind::Fetch, "https://man7.org/linux/man-pages/man7/inotify.7.html", map(&[("url", "https://man7.org")]), done("inotify - monitoring filesystem events\n\nDESCRIPTION\n  The inotify API\n  provides\n  a mechanism\n", 840))]),
        entry(Role::Assistant, vec![call("mcp__github__search_issues", ToolKind::Other, "flaky inotify", Tree::Map(vec![("query".into(), Tree::Text("flaky inotify".into())), ("limit".into(), Tree::Number("10".into())), ("labels".into(), Tree::List(vec![Tree::Text("bug".into())]))]), done("{\"total\": 2, \"items\": [{\"id\": 12, \"title\": \"watch is late\", \"labels\": []}, {\"id\": 13, \"title\": \"events are lost\", \"body\": \"first line\\nsecond line\"}]}", 1_204))]),
        entry(Role::Assistant, vec![call("Task", ToolKind::Delegate, "reviewer: \"check the diff\"", map(&[("prompt", "Check the diff of tests/watch.rs.\nSay whether the race is gone.\nBe brief.\nBe right.")]), ToolState::Running)]),
        entry(Role::Assistant, vec![call("Bash", ToolKind::Run, "rm -rf /", map(&[("command", "rm -rf /")]), ToolState::Refused(result(Verdict::Refused, "The user does not want to run this.", 0, "")))]),
        entry(Role::Assistant, vec![call("Bash", ToolKind::Run, "cargo test watch --release", map(&[("command", "cargo test watch --release")]), ToolState::Lost)]),
        entry(Role::Harness, vec![BlockKind::Text(prose("<system-reminder>\nThe file was changed.\n</system-reminder>"))]),
        entry(Role::Harness, vec![BlockKind::Break(Break::Compaction { before: Some(148_000), after: Some(22_000), trigger: "auto".into(), partial: false, took: None })]),
        entry(Role::Harness, vec![BlockKind::Break(Break::ModelChange("claude-opus-4-6".into()))]),
        entry(Role::Harness, vec![BlockKind::Break(Break::Interrupted("by the user".into()))]),
        entry(Role::Harness, vec![BlockKind::Break(Break::Error("API error 529: the service is overloaded, and this message is long enough to be wrapped on eighty columns".into()))]),
        entry(Role::Harness, vec![BlockKind::Break(Break::Waiting("which vault?".into()))]),
        entry(Role::Harness, vec![BlockKind::Break(Break::Ended("41 calls, 0 errors".into()))]),
        entry(Role::Harness, vec![BlockKind::Result(Box::new(StrayResult { call: "toolu_01".into(), result: *result(Verdict::Done, "some output\nof a call that is not there", 3, ""), duplicate: false }))]),
        entry(Role::Harness, vec![BlockKind::Raw(Raw { title: "unknown record: telemetry".into(), body: tree("{…}", Tree::Map(vec![("type".into(), Tree::Text("telemetry".into())), ("value".into(), Tree::Number("12.5".into())), ("nested".into(), map(&[("key", "value"), ("empty", "")]))])) })]),
    ]
}

fn print(row: &Row, width: usize) -> String {
    let gutter = match row.gutter {
        Gutter::None => ' ',
        Gutter::Opens => '╭',
        Gutter::Within => '│',
        Gutter::Closes => '╰',
        Gutter::Single => '─',
        Gutter::Open => '╎',
    };
    let line = row.line.to_string();
    let right: String = row.right.iter().map(|span| span.content.as_ref()).collect();
    let used = row.line.width() + ratatui::text::Line::from(row.right.clone()).width();
    let running = if row.running_since.is_some() && width >= 24 {
        "   0:42  "
    } else {
        ""
    };
    let free = width.saturating_sub(used + running.chars().count());
    format!("{gutter} {line}{}{running}{right}", " ".repeat(free))
        .trim_end()
        .to_owned()
}

fn show(width: u16, level: Level, theme: &Theme) -> String {
    let colours = Colours::never();
    let look = Look {
        level,
        ..Look::full(width, theme, &colours)
    };
    let mut out = String::new();
    for (index, entry) in session().iter().enumerate() {
        let lanes = [LaneLine {
            call: "c1".into(),
            label: "reviewer".into(),
            facts: "14 calls · $0.09".into(),
            is_open: false,
            last: vec!["read src/watch.rs › grep recv_timeout".into()],
            since: None,
        }];
        let lanes: &[LaneLine] = if index == 13 { &lanes } else { &[] };
        let item = Item {
            turn: entry.marks.prompt.then_some("6 calls 1✗ · 1m52s · $0.21"),
            usage: (index == 7).then_some("↑118k (97% cached) ↓402  $0.031"),
            lanes,
            ..Item::of(entry)
        };
        for row in lay_out(&item, &look) {
            check(&row, width);
            out.push_str(&print(&row, usize::from(width)));
            out.push('\n');
        }
    }
    // The reader's time zone is not the test's business.
    out.lines().map(|line| mask_clock(line) + "\n").collect()
}

fn mask_clock(line: &str) -> String {
    let is_clock = |word: &str| word.len() == 8 && word.matches(':').count() == 2;
    line.split(' ')
        .map(|word| if is_clock(word) { "10:41:07" } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

/// What holds for every row.
#[track_caller]
fn check(row: &Row, width: u16) {
    let width = usize::from(width);
    let right = ratatui::text::Line::from(row.right.clone()).width();
    let reserved = if right > 0 { right + 1 } else { 0 };
    assert!(
        row.line.width() + reserved <= width,
        "{} of {width}: {:?}",
        row.line.width() + reserved,
        row.line
    );
    for span in row.line.spans.iter().chain(&row.right) {
        assert!(!span.content.chars().any(char::is_control), "{span:?}");
    }
    assert!(row.kind != RowKind::Gap || row.line.spans.is_empty());
}

#[test]
fn samples_at_80() {
    insta::assert_snapshot!(show(76, Level::Preview, &Theme::dark()));
}

#[test]
fn samples_at_120() {
    insta::assert_snapshot!(show(116, Level::Preview, &Theme::dark()));
}

#[test]
fn samples_as_outline_in_ascii() {
    insta::assert_snapshot!(show(76, Level::Outline, &Theme::mono().with_ascii(true)));
}

#[test]
fn samples_in_full() {
    let shown = show(76, Level::Full, &Theme::dark());
    assert!(shown.contains("Compiling crate-219"));
    assert!(!shown.contains("+1 line"));
}

#[test]
fn samples_at_every_width() {
    for theme in [Theme::dark(), Theme::mono().with_ascii(true)] {
        for width in (1..50).chain((50..200).step_by(7)) {
            for level in 1..=5 {
                show(width, Level::of(level), &theme);
            }
        }
    }
}

#[test]
fn head_row_of_a_running_call_leaves_room_for_its_time() {
    let theme = Theme::dark();
    let colours = Colours::never();
    let look = Look {
        level: Level::Preview,
        ..Look::full(60, &theme, &colours)
    };
    let long = "x".repeat(200);
    let running = entry(
        Role::Assistant,
        vec![call(
            "Bash",
            ToolKind::Run,
            &long,
            map(&[]),
            ToolState::Running,
        )],
    );
    let rows = lay_out(&Item::of(&running), &look);
    let right = ratatui::text::Line::from(rows[0].right.clone()).width();
    assert!(rows[0].line.width() + right + 1 + RUNNING_ROOM <= 60);
    assert_eq!(rows[0].gutter, Gutter::Open);
}

fn lines_of(item: &Item<'_>, look: &Look<'_>) -> Vec<String> {
    lay_out(item, look)
        .iter()
        .map(|row| row.line.to_string().trim().to_owned())
        .collect()
}

#[test]
fn a_sentence_that_leads_to_a_call_is_one_row_with_it_in_the_outline() {
    let (theme, colours) = (Theme::dark(), Colours::never());
    let look = Look {
        level: Level::Outline,
        times: Times::None,
        ..Look::full(90, &theme, &colours)
    };
    let run = || {
        call(
            "Bash",
            ToolKind::Run,
            "cargo test",
            map(&[]),
            ToolState::Pending,
        )
    };
    let said = |text: &str| entry(Role::Assistant, vec![BlockKind::Text(prose(text)), run()]);
    let led = said("Let me run the tests:");
    assert_eq!(
        lines_of(&Item::of(&led), &look),
        ["Bash   Let me run the tests  cargo test"]
    );
    let commands = Look {
        intents: false,
        ..look
    };
    assert_eq!(
        lines_of(&Item::of(&led), &commands),
        ["bot    Let me run the tests:", "Bash   cargo test"]
    );
    let opened = Item {
        folds: &[Fold::Open],
        ..Item::of(&led)
    };
    assert_eq!(
        lines_of(&opened, &look).last().map(String::as_str),
        Some("Bash   cargo test")
    );
    let long = said("First this.\nThen that:");
    assert_eq!(
        lines_of(&Item::of(&long), &look).len(),
        2,
        "more than a sentence has its own row"
    );
}

#[test]
fn previews_have_their_share_of_the_screen() {
    let (theme, colours) = (Theme::dark(), Colours::never());
    let text = (1..200)
        .map(|n| format!("line {n}"))
        .collect::<Vec<_>>()
        .join("\n");
    let ran = ToolState::Done(result(Verdict::Done, &text, 5, ""));
    let ran = entry(
        Role::Assistant,
        vec![call("Bash", ToolKind::Run, "seq", map(&[]), ran)],
    );
    let rows = |lines| {
        let look = Look {
            level: Level::Preview,
            lines,
            ..Look::full(90, &theme, &colours)
        };
        lay_out(&Item::of(&ran), &look).len()
    };
    assert_eq!(rows(0), rows(24));
    assert!(
        rows(24) < rows(40) && rows(40) < rows(60),
        "{:?}",
        [24, 40, 60].map(rows)
    );
}

#[test]
fn what_an_answer_cost_is_for_who_looks_at_it() {
    let (theme, colours) = (Theme::dark(), Colours::never());
    let answer = entry(Role::Assistant, vec![BlockKind::Text(prose("done"))]);
    let item = Item {
        usage: Some("$0.02"),
        ..Item::of(&answer)
    };
    for (level, is_hidden) in [(Level::Preview, true), (Level::Full, false)] {
        let rows = lay_out(
            &item,
            &Look {
                level,
                ..Look::full(90, &theme, &colours)
            },
        );
        assert_eq!((rows[0].on_focus, rows[0].right.len()), (is_hidden, 1));
    }
}

#[test]
fn huge_bodies_cost_little() {
    let theme = Theme::dark();
    let colours = Colours::never();
    let line = "x ".repeat(25_000_000);
    let lines = "some output of a tool\n".repeat(1_000_000);
    for (text, rows_at_most) in [(line.as_str(), 2_100), (lines.as_str(), 2_100)] {
        for level in [Level::Preview, Level::Full, Level::Raw] {
            let look = Look {
                level,
                ..Look::full(100, &theme, &colours)
            };
            let entries = [
                entry(Role::User, vec![BlockKind::Text(prose(text))]),
                entry(
                    Role::Assistant,
                    vec![
                        BlockKind::Text(prose(text)),
                        BlockKind::Thinking(prose(text)),
                    ],
                ),
                entry(
                    Role::Assistant,
                    vec![call("Bash", ToolKind::Run, "x", map(&[]), done(text, 1))],
                ),
                entry(
                    Role::Assistant,
                    vec![call(
                        "Write",
                        ToolKind::Write,
                        "x",
                        map(&[("content", text)]),
                        done("", 1),
                    )],
                ),
            ];
            for entry in &entries {
                let rows = lay_out(&Item::of(entry), &look);
                assert!(
                    rows.len() <= rows_at_most * 2,
                    "{} rows at {level:?}",
                    rows.len()
                );
                assert!(
                    rows.iter().any(|row| row.hides > 0),
                    "{level:?} {:?}",
                    entry.role
                );
            }
        }
    }
}

/// Texts that viewers stumble over.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~\n\t]{0,200}",
        "([#>*`|~_\\[\\]()-]|[a-z ]|\n|日|é|👨‍👩‍👧‍👦|\u{301}|&#27;){0,120}",
        "(\\|[a-z日 ]{0,9}){1,5}\n(\\|-){1,5}\n(\\|[a-z日 ]{0,30}){1,5}",
        "(\u{1b}\\[[0-9;]{0,6}m|[a-z\n\t日]){0,80}",
        "([+ -]|@@ -1,2 \\+3,4 @@|[0-9]{1,3}|[a-z]|\n){0,80}",
        "[{}\\[\\]\":,a-z0-9\\\\]{0,80}",
    ]
}

fn kind() -> impl Strategy<Value = ToolKind> {
    prop::sample::select(vec![
        ToolKind::Run,
        ToolKind::Read,
        ToolKind::Edit,
        ToolKind::Write,
        ToolKind::Search,
        ToolKind::Fetch,
        ToolKind::Delegate,
        ToolKind::Plan,
        ToolKind::Other,
    ])
}

fn block() -> impl Strategy<Value = BlockKind> {
    prop_oneof![
        text().prop_map(|text| BlockKind::Text(prose(&text))),
        text().prop_map(|text| BlockKind::Thinking(prose(&text))),
        text().prop_map(|text| BlockKind::Break(Break::Error(Text::clean(&text)))),
        text().prop_map(|text| BlockKind::Break(Break::Branch(Text::clean(&text)))),
        text().prop_map(|text| BlockKind::Raw(Raw {
            title: Text::clean(&text),
            body: output(&text)
        })),
        (kind(), text(), text(), text(), 0_u8..6, any::<bool>()).prop_map(
            |(kind, name, first, second, state, away)| {
                let input = map(&[
                    ("old_string", &first),
                    ("new_string", &second),
                    ("content", &second),
                    ("prompt", &first),
                ]);
                let mut found = result(Verdict::Done, &second, 1_000, &first);
                found.patch = (state == 4).then(|| output(&second));
                let state = match state {
                    0 => ToolState::Pending,
                    1 => ToolState::Running,
                    2 => ToolState::Lost,
                    3 => ToolState::Failed(found),
                    4 => ToolState::Done(found),
                    5 => ToolState::Stopped(found),
                    _ => ToolState::Refused(found),
                };
                let mut made = call(&name, kind, &first, input, state);
                if away {
                    for body in made.bodies_mut() {
                        body.release();
                    }
                }
                made
            }
        ),
    ]
}

proptest! {
    #![proptest_config(crate::fixtures::cases(400))]

    #[test]
    fn any_entry_fits_at_any_width(
        blocks in prop::collection::vec(block(), 0..3),
        role in 0_u8..4,
        width in 0_u16..=400,
        level in 1_u8..=5,
        folds in prop::collection::vec(0_u8..3, 0..3),
        depth in 0_u16..6,
        marks in any::<(bool, bool, bool, bool)>(),
    ) {
        let role = [Role::User, Role::Assistant, Role::System, Role::Harness][usize::from(role)];
        let mut entry = entry(role, blocks);
        (entry.marks.quiet, entry.marks.open) = (marks.0, marks.1);
        let theme = if marks.2 { Theme::light() } else { Theme::mono().with_ascii(true) };
        let folds: Vec<Fold> = folds.iter().map(|fold| [Fold::ByLevel, Fold::Open, Fold::Closed][usize::from(*fold)]).collect();
        let colours = Colours::never();
        let look = Look { level: Level::of(level), times: if marks.3 { Times::Seconds } else { Times::None }, ..Look::full(width, &theme, &colours) };
        let item = Item { folds: &folds, turn: Some("6 calls · $0.21"), usage: Some("↑118k"), dim: marks.3, depth, ..Item::of(&entry) };
        for row in lay_out(&item, &look) {
            check(&row, width);
            prop_assert!(row.block < entry.blocks.len().max(1));
        }
    }
}
