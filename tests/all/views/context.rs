//! Tests of the context view, the dimming as of the cursor, and the list of the model's context.

use tv::analysis::phrases;
use tv::app::effect::Effect;
use tv::app::input::action::View;
use tv::app::mode::Mode;
use tv::model::body::Key;
use tv::model::edit::{Batch, Edit, MetaEdit};
use tv::model::entry::{BlockKind, Break, Entry, Marks, Piece, Role};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use tv::model::usage::Usage;
use tv::render::theme::Theme;

use crate::stage::Stage;

const START: i64 = 1_790_000_000_000;

fn entry(key: &str, role: Role, second: i64) -> Entry {
    let out = Batch::default();
    let mut entry = out.new_entry(
        Key::from(key),
        role,
        Some(Timestamp(START + second * 1_000)),
    );
    entry.marks = Marks {
        prompt: role == Role::User,
        ..Marks::default()
    };
    entry.model = (role == Role::Assistant).then(|| Text::from("claude-opus-4-6"));
    entry
}

fn text(entry: &mut Entry, words: &str) {
    let mut out = Batch::default();
    let body = out.prose(words);
    push(entry, BlockKind::Text(body));
}

fn push(entry: &mut Entry, kind: BlockKind) {
    let piece = Piece(u64::try_from(entry.blocks.len()).unwrap());
    entry.push_piece(piece, kind);
}

fn call(entry: &mut Entry, id: &str, name: &str, headline: &str, output: usize) {
    let mut out = Batch::default();
    let result = ToolResult {
        key: Text::clean(&format!("r-{id}")),
        tool: None,
        verdict: Verdict::Done,
        body: out.output(&"lines of a file\n".repeat(output / 16)),
        patch: None,
        images: Vec::new(),
        facts: Text::default(),
        at: entry.at,
        duration_ms: None,
        work: None,
    };
    let call = ToolCall {
        key: Text::clean(id),
        name: Text::clean(name),
        kind: ToolKind::Read,
        headline: Text::clean(headline),
        input: out.prose("{}"),
        state: ToolState::Done(Box::new(result)),
        started: None,
        lane: None,
    };
    push(entry, BlockKind::Call(Box::new(call)));
}

fn spent(entry: &mut Entry, [input, read, write]: [u64; 3]) {
    entry.usage = Some(Box::new(Usage {
        input: Some(input),
        cache_read: Some(read),
        cache_write: Some(write),
        output: Some(400),
        ..Usage::default()
    }));
}

fn prompt(key: &str, second: i64, words: &str) -> Edit {
    let mut said = entry(key, Role::User, second);
    text(&mut said, words);
    Edit::Entry(Box::new(said))
}

fn answer(key: &str, second: i64, tokens: [u64; 3], fill: impl FnOnce(&mut Entry)) -> Edit {
    let mut said = entry(key, Role::Assistant, second);
    spent(&mut said, tokens);
    fill(&mut said);
    Edit::Entry(Box::new(said))
}

/// Three turns: one that reads a large file, one after a pause that is longer than the cache lives, and one
/// after a compaction that keeps the last answer.
fn session() -> Vec<Edit> {
    let mut compacted = entry("c", Role::Harness, 900);
    let trigger = Text::from("auto");
    let line = Break::Compaction {
        before: Some(148_000),
        after: None,
        trigger,
        partial: false,
        took: None,
    };
    push(&mut compacted, BlockKind::Break(line));
    text(
        &mut compacted,
        "The watcher test was flaky; a lock was missing.",
    );
    vec![
        prompt("u1", 0, "fix the flaky watcher test"),
        answer("a1", 10, [3, 0, 21_000], |said| {
            text(said, "I will read the watcher first.");
            call(said, "t1", "read", "src/big.rs", 92_000);
        }),
        answer("a2", 20, [3, 21_000, 24_000], |said| {
            call(said, "t2", "bash", "cargo test watch", 8_000);
        }),
        answer("a3", 30, [3, 45_000, 2_300], |said| {
            text(said, "The test sleeps; a lock is missing.");
        }),
        prompt("u2", 790, "and the other tests?"),
        answer("a4", 800, [3, 19_000, 28_500], |said| {
            call(said, "t3", "bash", "cargo test", 400_000);
        }),
        answer("a5", 820, [3, 47_500, 100_000], |said| {
            text(said, "All of them pass.");
        }),
        Edit::Meta(MetaEdit::FirstKept {
            compaction: Key::from("c"),
            first: Key::from("a5"),
        }),
        Edit::Entry(Box::new(compacted)),
        prompt("u3", 1_000, "commit it"),
        answer("a6", 1_010, [3, 19_000, 4_200], |said| {
            call(said, "t4", "bash", "git commit -am fix", 160);
        }),
    ]
}

fn stage(size: (u16, u16)) -> Stage {
    let mut stage = Stage::made(size);
    stage.add(session());
    stage
}

fn open(size: (u16, u16)) -> Stage {
    let mut stage = stage(size);
    stage.press("5").wait(300);
    assert_eq!(stage.app.reader.views.open(), Some(View::Context));
    stage
}

#[test]
fn requests_are_shown_with_what_filled_them() {
    for (columns, lines) in [(80, 24), (120, 40), (200, 60)] {
        let mut stage = open((columns, lines));
        stage.press("g j j j");
        insta::assert_snapshot!(format!("context-{columns}x{lines}"), stage.picture());
    }
}

#[test]
fn it_fits_a_small_screen_and_ascii() {
    let mut stage = open((44, 14));
    insta::assert_snapshot!("context-44x14", stage.picture());
    stage.app.reader.screen.theme = Theme {
        ascii: true,
        ..Theme::dark()
    };
    stage.resize(120, 30);
    let picture = stage.picture();
    let page: String = picture.lines().filter(|line| line.contains('%')).collect();
    assert!(page.is_ascii(), "{page}");
}

#[test]
fn a_miss_says_why_and_what_it_cost() {
    let mut stage = open((120, 40));
    stage.press("g j j j");
    let foot_text = flowing(&stage);
    assert!(
        foot_text
            .contains("idle for 12m50s, longer than the 5m00s that its cache was sure to live"),
        "{foot_text}"
    );
    // 28,300 of the 47,300 tokens before were written again: $6.25 a million less $0.50.
    assert!(
        foot_text.contains("19k of the 47k before were read; 28k were written again, for ~$0.16"),
        "{foot_text}"
    );
    stage.press("G");
    assert!(
        flowing(&stage).contains("compacted: another history"),
        "{}",
        stage.picture()
    );
    stage.press("k");
    assert!(
        flowing(&stage).contains("It kept 1 entry before it"),
        "{}",
        stage.picture()
    );
}

/// The screen as one line.
fn flowing(stage: &Stage) -> String {
    stage
        .picture()
        .replace('|', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn enter_leads_to_the_request_and_the_place_is_one() {
    let mut stage = open((120, 40));
    stage.press("g j");
    assert_eq!(stage.focused_key(), "a2");
    stage.press("enter");
    assert_eq!(
        (stage.app.reader.views.open(), stage.focused_key().as_str()),
        (None, "a2")
    );
    stage.press("} 5").wait(300);
    // The prompt belongs to the request before it.
    assert!(
        stage
            .picture()
            .lines()
            .any(|line| line.contains('▸') && line.contains("47k")),
        "{}",
        stage.picture()
    );
}

#[test]
fn new_requests_come_while_the_view_is_open() {
    let mut stage = open((120, 40));
    stage.press("G");
    stage.add([answer("a7", 1_020, [3, 23_200, 900], |said| {
        text(said, "Committed.");
    })]);
    let picture = stage.picture();
    assert!(picture.contains("+900"), "{picture}");
    assert_eq!(stage.focused_key(), "a7", "the cursor at the end goes on");
    stage.press("g");
    stage.add([answer("a8", 1_030, [3, 24_100, 77_000], |said| {
        text(said, "Done.");
    })]);
    assert!(stage.picture().contains("+77k"), "{}", stage.picture());
    assert_eq!(stage.focused_key(), "a1", "elsewhere it stays");
}

#[test]
fn a_session_without_tokens_says_so() {
    let mut stage = Stage::made((100, 24));
    stage.add([prompt("u1", 0, "hello")]);
    stage.app.reader.session.file.is_caught_up = true;
    stage.press("5").wait(300);
    assert!(
        stage
            .picture()
            .contains("No request of this session records its tokens"),
        "{}",
        stage.picture()
    );
}

/// Entries in the window whose first row is marked as lost.
fn lost(stage: &Stage) -> Vec<String> {
    let mut keys = Vec::new();
    for line in &stage.app.reader.text.view.lines {
        let key = stage
            .app
            .reader
            .session
            .transcript
            .get(line.entry)
            .unwrap()
            .key
            .to_string();
        if stage.app.reader.text.as_of.is_dimmed(line.entry) && keys.last() != Some(&key) {
            keys.push(key);
        }
    }
    keys
}

#[test]
fn what_the_model_no_longer_saw_is_dimmed_on_demand() {
    let mut stage = stage((120, 60));
    stage.press("G");
    assert_eq!(
        lost(&stage),
        Vec::<String>::new(),
        "nothing is, until it is asked for"
    );
    let before = stage.picture();
    let whole = stage
        .line(0)
        .rsplit(' ')
        .next()
        .unwrap_or_default()
        .to_owned();
    stage.press("z v");
    assert_eq!(
        lost(&stage),
        ["u1", "a1", "a2", "a3", "u2", "a4"],
        "what was kept is not"
    );
    assert!(stage.status().contains("as of cursor") || stage.status().contains("did not see"));
    let dimmed = stage.picture();
    assert!(
        dimmed.lines().filter(|line| line.contains("│╌")).count() >= 6,
        "colour is not all: {dimmed}"
    );
    let moved = before
        .lines()
        .zip(dimmed.lines())
        .filter(|(one, other)| **one != other.replace('╌', " "));
    let moved: Vec<_> = moved.map(|(_, line)| line.to_owned()).collect();
    let [header, status] = moved.as_slice() else {
        panic!("only the header and the status line: {moved:?}")
    };
    assert!(
        header.contains("as of 00:00:00") && status.contains("did not see"),
        "{moved:?}"
    );
    stage.press("{ {");
    assert_eq!(stage.focused_key(), "u2");
    assert_eq!(
        lost(&stage),
        Vec::<String>::new(),
        "before the compaction all was seen"
    );
    let then = stage
        .app
        .reader
        .text
        .as_of
        .totals()
        .map(|then| then.cost.clone())
        .expect("a state at the cursor");
    let then = phrases::cost(&then).unwrap();
    let header = stage.line(0);
    assert!(
        then != whole && header.ends_with(then.as_str()),
        "{then} of {whole}: {header}"
    );
    stage.press(":").type_in("set asof=off").press("enter G");
    assert_eq!(lost(&stage), Vec::<String>::new());
}

#[test]
fn the_list_of_what_the_model_saw_can_be_read_and_copied() {
    let mut stage = stage((120, 40));
    stage.press("G :").type_in("context").press("enter");
    assert!(matches!(stage.app.mode, Mode::Raw(_)));
    insta::assert_snapshot!("context-list", stage.picture());
    stage.asked.clear();
    stage.press("y");
    let Some(Effect::Copy(copied)) = stage.asked.pop() else {
        panic!("nothing was copied")
    };
    for said in ["a lock was missing", "All of them pass", "commit it"] {
        assert!(copied.contains(said), "{said}: {copied}");
    }
    for gone in ["fix the flaky", "src/big.rs", "git commit"] {
        assert!(!copied.contains(gone), "{gone}: {copied}");
    }
    stage.press("q");
    assert!(matches!(stage.app.mode, Mode::Normal));
}
