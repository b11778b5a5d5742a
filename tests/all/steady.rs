//! The law of the steady window: whatever happens to a session and whatever keys are pressed, except
//! motions, the row that is being read does not move.
//!
//! The window is held by the focused item, by its topmost visible row; if the item is not visible, by
//! the item at the top. The rules, for a window of `H` lines:
//!
//! 1. The held row stays on its line. The only exceptions are the edges: it moves down if there are too
//!    few rows below it to fill the window, up if there are too few above it or if the window shrank.
//! 2. If an item is no longer shown, its focus and its line pass to the call that started its
//!    sub-agent, or to the nearest entry above it; if only its block is gone, to the next block of the
//!    same entry, or to the last one. The new item is visible.
//! 3. A window that follows has the end of the session at its bottom, and continues to follow. Folds
//!    set by hand hold the row as in rule 1, and following continues if the end is still visible.
//!    Selecting rows (`V`) also holds the row, and pauses following: selected rows must not scroll away.
//! 4. A resize is no exception. At another width the rows differ: the n-th row of the item stays.
//! 5. The window is full whenever there are enough rows to fill it, and no entry is shown twice.
//!
//! While nodes of a tree are focused one by one, the node is held instead of the n-th row: `nodes.rs`
//! has that rule. These rules apply to windows of at least 20 by 8; smaller ones must only show
//! something and not fail.

use std::collections::HashSet;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;
use tv::app::input::action::Action;
use tv::app::input::bindings::{BINDINGS, Binding, BindingGroup};
use tv::app::mode::Mode as KeyMode;
use tv::app::panes::Pane;
use tv::app::text::viewport::{Focus, RowSource, WindowLine, focus_of};
use tv::app::text::window::with_layouts;
use tv::model::edit::{BatchMode, Edit, Feed, OpenedSession, Stage as Stretch};
use tv::model::entry::{BlockKind, Break, EntryId, Role};
use tv::model::text::Text;
use tv::model::tool::{ToolKind, ToolState, Verdict};
use tv::render::theme::Theme;

use crate::fixtures;
use crate::made::{calls, entry, in_lane, lane, lines, result_at, rule, says, with};
use crate::stage::Stage;

// === sessions ===

/// One thing that happens in a session. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Happening {
    Prompt(usize),
    Answer(usize),
    Thinking(usize),
    /// Thinking, a text and so many calls in one message.
    Message(usize, usize),
    Call(usize),
    /// A result of one of the calls, late or a second one; some fail.
    Result(usize, usize),
    Running(usize),
    /// The last call starts a sub-agent.
    Lane,
    /// An entry of a sub-agent: says, or calls.
    InLane(usize, usize, bool),
    Rule(usize),
    /// Bookkeeping that only the full level shows.
    Trace(usize),
    /// A text comes again, longer or shorter.
    Again(usize, usize),
    Retired(usize),
}

/// Short, long, wide, strange and tall texts.
fn text(number: usize) -> String {
    match number % 9 {
        0 => "a few words".to_owned(),
        1 => lines(40, |n| format!("row {n} of a tall text\n")),
        2 => "words that go on and on until the row is full ".repeat(9),
        3 => "日本語のテキストと👨‍👩‍👧‍👦 e\u{301} שלום ".repeat(7),
        4 => format!(
            "# Heading\n\n- one\n- two\n\n```rust\n{}```\n",
            "let a = 1;\n".repeat(5)
        ),
        5 => "| a | b |\n|---|---|\n| one | two |\n| three | four |\n".to_owned(),
        6 => String::new(),
        7 => lines(14, |n| format!("\u{1b}[31mred {n}\u{1b}[0m\r")),
        _ => format!("one line of {} characters: {}", 300, "x".repeat(300)),
    }
}

/// A session as it comes: its edits so far, and what later ones can speak of.
#[derive(Default)]
struct Emitter {
    edits: Vec<Edit>,
    entries: Vec<String>,
    texts: Vec<String>,
    calls: Vec<String>,
    lanes: Vec<String>,
}

impl Emitter {
    /// The edits of one more thing.
    fn emit(&mut self, happening: &Happening) -> Vec<Edit> {
        let seconds = i64::try_from(self.edits.len()).unwrap() * 7;
        let number = self.edits.len();
        let key = format!("e{number}");
        let call = |name: String, all: &mut Vec<String>| {
            all.push(name.clone());
            name
        };
        let pick = |all: &[String], n: usize| (!all.is_empty()).then(|| all[n % all.len()].clone());
        let kind = |n: usize| {
            [
                ToolKind::Run,
                ToolKind::Edit,
                ToolKind::Read,
                ToolKind::Other,
            ][n % 4]
        };
        let edits = match *happening {
            Happening::Prompt(n) => vec![says(&key, seconds, Role::User, &text(n))],
            Happening::Answer(n) => vec![says(&key, seconds, Role::Assistant, &text(n))],
            Happening::Thinking(n) => vec![entry(&key, seconds, Role::Assistant, |batch| {
                vec![BlockKind::Thinking(batch.prose(&text(n)))]
            })],
            Happening::Message(n, count) => {
                let names: Vec<String> = (0..count)
                    .map(|at| call(format!("c{number}.{at}"), &mut self.calls))
                    .collect();
                vec![entry(&key, seconds, Role::Assistant, |batch| {
                    let mut kinds = vec![
                        BlockKind::Thinking(batch.prose(&text(n))),
                        BlockKind::Text(batch.prose(&text(n + 1))),
                    ];
                    for name in &names {
                        kinds.push(crate::made::call_of(
                            batch,
                            name,
                            "bash",
                            ToolKind::Run,
                            "ls hold",
                        ));
                    }
                    kinds
                })]
            }
            Happening::Call(n) => {
                let name = call(key.clone(), &mut self.calls);
                vec![calls(&name, seconds, "bash", kind(n), "look into the hold")]
            }
            Happening::Result(of, n) => pick(&self.calls, of)
                .map(|of| {
                    let verdict = [
                        Verdict::Done,
                        Verdict::Failed,
                        Verdict::Done,
                        Verdict::Refused,
                    ][n % 4];
                    result_at(&of, seconds, &text(n), verdict)
                })
                .into_iter()
                .collect(),
            Happening::Running(of) => pick(&self.calls, of)
                .map(|of| Edit::State {
                    call: Text::from(of.as_str()),
                    state: ToolState::Running,
                })
                .into_iter()
                .collect(),
            Happening::Lane => self
                .calls
                .last()
                .map(|of| {
                    let name = format!("mate {number}");
                    self.lanes.push(name.clone());
                    lane(&name, of)
                })
                .into_iter()
                .collect(),
            Happening::InLane(of, n, is_call) => pick(&self.lanes, of)
                .map(|of| {
                    let edit = if is_call {
                        let name = call(key.clone(), &mut self.calls);
                        calls(&name, seconds, "bash", kind(n), "cat hold")
                    } else {
                        says(&key, seconds, Role::Assistant, &text(n))
                    };
                    in_lane(edit, &of)
                })
                .into_iter()
                .collect(),
            Happening::Rule(n) => vec![rule(&key, seconds, break_of(n))],
            Happening::Trace(n) => vec![with(
                says(&key, seconds, Role::Harness, &text(n)),
                |entry| {
                    entry.marks.trace = true;
                },
            )],
            Happening::Again(of, n) => pick(&self.texts, of)
                .map(|of| says(&of, seconds, Role::Assistant, &text(n)))
                .into_iter()
                .collect(),
            Happening::Retired(of) => pick(&self.entries, of)
                .map(|of| Edit::Retire(Text::from(of.as_str())))
                .into_iter()
                .collect(),
        };
        self.entries
            .extend(edits.iter().filter_map(|edit| match edit {
                Edit::Entry(entry) => Some(entry.key.to_string()),
                _ => None,
            }));
        if matches!(happening, Happening::Prompt(_) | Happening::Answer(_)) {
            self.texts.push(key);
        }
        self.edits.extend(edits.iter().cloned());
        edits
    }
}

fn break_of(n: usize) -> Break {
    let words = Text::from("the tide turns");
    match n % 5 {
        0 => Break::Compaction {
            before: Some(9_000),
            after: None,
            trigger: words,
            partial: false,
            took: None,
        },
        1 => Break::Branch(words),
        2 => Break::Error(words),
        3 => Break::Interrupted(words),
        _ => Break::ModelChange(words),
    }
}

// === steps ===

/// What happens.
#[derive(Clone, Debug)]
enum Step {
    /// A key that moves.
    Moves(String),
    /// Keys that do not.
    Keys(String),
    /// Keys that fold by hand, or begin to select: they hold the row of a window that follows.
    Holds(String),
    /// A fold, or a step to what holds the item.
    Collapse,
    /// A search that is typed and given up, with news while it is typed.
    Search(&'static str, Option<Happening>),
    /// A filter.
    Filter(&'static str),
    /// Another size.
    Resize(u16, u16),
    /// News. One at a time: the edges may move what is read with each.
    Happens(Happening),
    /// The session is read anew.
    Replay,
    /// The whole takes the place of the preview.
    CatchUp,
}

fn is_motion(binding: &Binding) -> bool {
    match binding.action {
        Action::SetMark => false,
        Action::Search
        | Action::NextHit
        | Action::PreviousHit
        | Action::Mention(_)
        | Action::FirstSeen => true,
        _ => matches!(binding.group, BindingGroup::Move | BindingGroup::Jump),
    }
}

fn is_fold(binding: &Binding) -> bool {
    matches!(
        binding.action,
        Action::Expand | Action::Unfold | Action::ToggleFold | Action::FoldBranch
    )
}

/// Keys of the bindings, so that new ones are held to the rule as they come.
fn keys(wanted: fn(&Binding) -> bool) -> impl Strategy<Value = String> {
    let bindings = BINDINGS.iter().filter(|binding| wanted(binding));
    select(
        bindings
            .map(|binding| binding.keys[0].replace("a-z", "a"))
            .collect::<Vec<_>>(),
    )
}

fn is_select(binding: &Binding) -> bool {
    binding.action == Action::Select
}

fn stays(binding: &Binding) -> bool {
    !is_motion(binding)
        && !is_fold(binding)
        && !is_select(binding)
        && binding.action != Action::Collapse
}

fn happening() -> impl Strategy<Value = Happening> {
    let n = || 0_usize..40;
    prop_oneof![
        2 => n().prop_map(Happening::Prompt),
        4 => n().prop_map(Happening::Answer),
        1 => n().prop_map(Happening::Thinking),
        2 => (n(), 0_usize..3).prop_map(|(n, count)| Happening::Message(n, count)),
        3 => n().prop_map(Happening::Call),
        4 => (n(), n()).prop_map(|(of, n)| Happening::Result(of, n)),
        1 => n().prop_map(Happening::Running),
        1 => Just(Happening::Lane),
        2 => (n(), n(), any::<bool>()).prop_map(|(of, n, is_call)| Happening::InLane(of, n, is_call)),
        1 => n().prop_map(Happening::Rule),
        1 => n().prop_map(Happening::Trace),
        1 => (n(), n()).prop_map(|(of, n)| Happening::Again(of, n)),
        1 => n().prop_map(Happening::Retired),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    const FILTERS: &[&str] = &[
        "err",
        "tool:*",
        "-tool:*",
        "role:user",
        "hold",
        "-words",
        "nothing like it",
        "",
    ];
    prop_oneof![
        4 => keys(is_motion).prop_map(Step::Moves),
        3 => select(vec!["g", "b", "j", "k", "ctrl-e", "ctrl-y", "G", "}"]).prop_map(|keys| Step::Moves(keys.to_owned())),
        6 => keys(stays).prop_map(Step::Keys),
        3 => keys(is_fold).prop_map(Step::Holds),
        1 => keys(is_select).prop_map(Step::Holds),
        1 => Just(Step::Collapse),
        1 => (select(vec!["hold", "row 3", "(", "tide", "nothing like it"]), proptest::option::of(happening()))
            .prop_map(|(typed, news)| Step::Search(typed, news)),
        2 => select(FILTERS).prop_map(Step::Filter),
        1 => (20_u16..200, 8_u16..60).prop_map(|(columns, lines)| Step::Resize(columns, lines)),
        8 => happening().prop_map(Step::Happens),
        1 => Just(Step::Replay),
        1 => Just(Step::CatchUp),
    ]
}

/// How a session begins.
#[derive(Clone, Debug)]
enum Start {
    /// Made of these; so many at its beginning are not in the preview.
    Made(Vec<Happening>, Option<usize>),
    /// One of the fixtures.
    Fixture(usize),
}

fn start() -> impl Strategy<Value = Start> {
    let made = || proptest::collection::vec(happening(), 0..40);
    prop_oneof![
        3 => made().prop_map(|all| Start::Made(all, None)),
        1 => (made(), 0_usize..30).prop_map(|(all, skipped)| Start::Made(all, Some(skipped))),
        1 => (0_usize..200).prop_map(Start::Fixture),
    ]
}

// === the rule ===

/// What holds the window: an item, the row of it that is uppermost in sight, and the line it is on.
#[derive(Clone, Copy, Debug)]
struct Held {
    item: Focus,
    row: usize,
    line: usize,
    is_focus: bool,
}

fn held(stage: &Stage) -> Option<Held> {
    let lines = &stage.app.reader.text.view.lines;
    let line = stage.line_of_focus();
    let shown = lines.get(line.unwrap_or(0))?;
    let item = focus_of(shown)?;
    let first = shown.rows.iter().position(|row| row.block == item.block)?;
    Some(Held {
        item,
        row: shown.row - first,
        line: line.unwrap_or(0),
        is_focus: line.is_some(),
    })
}

/// Rows of every entry of the sequence, blocks by row.
fn laid_out(stage: &mut Stage) -> Vec<(EntryId, Vec<usize>)> {
    let frame = stage.app.reader.frame();
    let portions: Vec<(EntryId, Vec<usize>)> = stage.app.reader.with_text(|text, scene| {
        with_layouts(text, scene, frame, |layouts, _| {
            let of = |place: usize, layouts: &mut dyn RowSource| {
                let blocks = layouts.rows(place).iter().map(|row| row.block).collect();
                layouts.start(place).map(|start| (start.entry, blocks))
            };
            (0..layouts.len())
                .filter_map(|place| of(place, layouts))
                .collect()
        })
    });
    stage.app.reader.text.cache.clear();
    let of_entry = portions.chunk_by(|one, next| one.0 == next.0);
    of_entry
        .map(|all| {
            (
                all[0].0,
                all.iter().flat_map(|(_, blocks)| blocks).copied().collect(),
            )
        })
        .collect()
}

/// The line on which an item must be, counted by its uppermost row in sight; nothing if it is not shown.
fn due(held: Held, all: &[(EntryId, Vec<usize>)], height: usize) -> Option<usize> {
    let above: usize = all
        .iter()
        .take_while(|(id, _)| *id != held.item.entry)
        .map(|(_, rows)| rows.len())
        .sum();
    let total: usize = all.iter().map(|(_, rows)| rows.len()).sum();
    let (_, rows) = all.iter().find(|(id, _)| *id == held.item.entry)?;
    let first = rows.iter().position(|block| *block == held.item.block)?;
    let count = rows
        .iter()
        .filter(|block| **block == held.item.block)
        .count();
    let row = held.row.min(count - 1);
    let place = above + first + row;
    let line = held
        .line
        .min(height.saturating_sub(1))
        .max(height.saturating_sub(total - place))
        .min(place);
    Some(line.saturating_sub(row))
}

/// Follows a made or a real session through its steps.
struct Journey {
    stage: Stage,
    emitter: Emitter,
    has_preview: bool,
}

impl Journey {
    fn start(start: &Start, size: (u16, u16)) -> Self {
        let mut emitter = Emitter::default();
        let (happenings, skipped) = match start {
            Start::Fixture(number) => {
                let all = fixtures::all();
                let path = &all[number % all.len()];
                let target = fixtures::targets(path).swap_remove(0);
                let stage = Stage::open_target(&target, size, Theme::dark());
                return Self {
                    stage,
                    emitter,
                    has_preview: false,
                };
            }
            Start::Made(all, skipped) => (all, skipped),
        };
        let mut stage = Stage::made(size);
        let opened = OpenedSession {
            format: "made",
            confidence: "certain",
            reason: Text::from("by hand"),
            path: "/home/mira/tide.jsonl".into(),
            resumes: &[],
            written: None,
            joined: Vec::new(),
        };
        stage.feed(Feed::Opened(Box::new(opened)));
        for happening in happenings {
            emitter.emit(happening);
        }
        if let Some(skipped) = skipped {
            let end = emitter.edits.iter().skip(*skipped).cloned();
            stage.add_as(BatchMode::Append, Stretch::Preview, end);
        } else {
            stage.add(emitter.edits.iter().cloned());
            // Only what comes after all is read is new.
            stage.feed(Feed::CaughtUp);
        }
        Self {
            stage,
            emitter,
            has_preview: skipped.is_some(),
        }
    }

    fn happen(&mut self, happening: &Happening) {
        let edits = self.emitter.emit(happening);
        if !self.has_preview {
            self.stage.add(edits);
        }
    }

    /// Takes a step. Answers whether it may move what is read, and whether it may end following.
    fn take(&mut self, step: &Step) -> Leave {
        let stage = &mut self.stage;
        match step {
            Step::Moves(keys) => {
                stage.press(keys);
                self.back_to_normal();
                return Leave::Moves;
            }
            Step::Collapse => {
                let focus = stage.app.reader.text.view.focus;
                stage.press("h");
                return if stage.app.reader.text.view.focus == focus {
                    Leave::Holds
                } else {
                    Leave::Moves
                };
            }
            Step::Holds(keys) => {
                // In another pane the keys that open go to what its row names.
                let is_text = stage.app.reader.focused() == Pane::Transcript;
                stage.press(keys);
                return if is_text { Leave::Holds } else { Leave::Moves };
            }
            Step::Keys(keys) => {
                stage.press(keys);
                self.back_to_normal();
            }
            Step::Search(typed, news) => {
                stage.press("/").type_in(typed);
                if let Some(news) = news {
                    self.happen(news);
                }
                self.stage.press("esc");
            }
            Step::Filter(typed) => {
                stage.press("&").type_in(typed).press("enter");
            }
            Step::Resize(columns, lines) => stage.resize(*columns, *lines),
            Step::Happens(happening) => self.happen(happening),
            Step::Replay if self.has_preview => {}
            Step::Replay => {
                let edits = self.emitter.edits.clone();
                if !edits.is_empty() {
                    stage.add_as(BatchMode::Replace, Stretch::Whole, edits);
                }
            }
            Step::CatchUp if self.has_preview => {
                self.has_preview = false;
                let edits = self.emitter.edits.clone();
                stage.add_as(BatchMode::Append, Stretch::Whole, edits);
                stage.feed(Feed::CaughtUp);
            }
            Step::CatchUp => {}
        }
        Leave::Stays
    }

    fn back_to_normal(&mut self) {
        for _ in 0..3 {
            if !matches!(self.stage.app.mode, KeyMode::Normal)
                || !self.stage.app.keys.pressed.is_empty()
            {
                self.stage.press("esc");
            }
        }
        assert!(
            matches!(self.stage.app.mode, KeyMode::Normal),
            "esc leads back"
        );
    }
}

/// What a step may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    Moves,
    Holds,
    Stays,
}

/// Keys survive when a session is read anew; ids do not.
fn key_of(stage: &Stage, focus: Focus) -> Option<Text> {
    stage
        .app
        .reader
        .session
        .transcript
        .get(focus.entry)
        .map(|entry| entry.key.clone())
}

/// What was seen last: nobody sees where other rows of another width put it below a page, nor where it stands below the
/// next one. What was read before a page was opened is remembered as long as nothing but keys come.
fn seen_last<T: Clone>(
    before: Option<T>,
    below_page: &mut Option<T>,
    covers: (bool, bool),
    step: &Step,
) -> Option<T> {
    match covers {
        (false, true) => below_page.clone_from(&before),
        (true, false) => return below_page.take(),
        (true, true) if matches!(step, Step::Keys(_)) => return None,
        (true, true) => *below_page = None,
        (false, false) => {}
    }
    before
}

fn walk(start: &Start, size: (u16, u16), steps: &[Step]) {
    let mut journey = Journey::start(start, size);
    let mut below_page = None;
    for (number, step) in steps.iter().enumerate() {
        // News leaves a selection where it is; with motions the window follows its cursor, not this rule.
        if journey.stage.app.reader.text.view.selection.is_some()
            && !matches!(step, Step::Happens(_))
        {
            journey.stage.press("esc");
        }
        let before = held(&journey.stage);
        let before = before.and_then(|held| Some((held, key_of(&journey.stage, held.item)?)));
        let was_covered = journey.stage.app.reader.views.open().is_some();
        let followed = journey.stage.app.reader.text.view.follows();
        let was_in_tree = journey.stage.app.reader.text.view.node().is_some();
        // Who asked for the beginning gets it as soon as it is there.
        let was_awaited = journey.stage.app.reader.text.places.wants_beginning;
        let window = journey.stage.window();
        let leave = journey.take(step);
        let stage = &mut journey.stage;
        stage.arrange();
        let all = laid_out(stage);
        let height = usize::from(stage.app.reader.frame().lines());
        let arranged = &journey.stage;
        let place = || {
            let before: Vec<&str> = window.iter().map(|row| row.2.as_str()).collect();
            let before = before.join("\n");
            let focus = (arranged.app.reader.text.view.focus, arranged.focused_key());
            format!(
                "after step {number}, {step:?}; before:\n{before}\nafter:\n{}\n{focus:?}",
                arranged.picture()
            )
        };
        check_window(arranged, &all, height, &place);
        let stage = &journey.stage;
        let is_covered = stage.app.reader.views.open().is_some();
        let before = seen_last(before, &mut below_page, (was_covered, is_covered), step);
        let Some((before, key)) = before else {
            continue;
        };
        if leave == Leave::Moves || was_awaited || was_in_tree {
            continue;
        }
        if followed && (leave == Leave::Stays || stage.app.reader.text.view.follows()) {
            assert!(
                stage.app.reader.text.view.follows(),
                "following goes on {}",
                place()
            );
            continue;
        }
        let item = stage
            .app
            .reader
            .session
            .transcript
            .find(&key)
            .map(|entry| Focus {
                entry,
                ..before.item
            });
        let now = item.and_then(|item| due(Held { item, ..before }, &all, height));
        match (item, now) {
            (Some(item), Some(line)) => {
                let found = stage
                    .app
                    .reader
                    .text
                    .view
                    .lines
                    .iter()
                    .position(|line| focus_of(line) == Some(item));
                assert_eq!(found, Some(line), "{before:?} {}", place());
                assert!(
                    !before.is_focus || stage.app.reader.text.view.focus == Some(item),
                    "the focus stays {}",
                    place()
                );
            }
            _ if all.iter().all(|(_, rows)| rows.is_empty()) => {}
            _ => {
                assert!(
                    !before.is_focus || stage.line_of_focus().is_some(),
                    "the focus is in sight {}",
                    place()
                );
            }
        }
    }
}

/// Rule 5, and that a window that follows ends where the session ends.
fn check_window(
    stage: &Stage,
    all: &[(EntryId, Vec<usize>)],
    height: usize,
    place: &dyn Fn() -> String,
) {
    let app = &stage.app;
    let total: usize = all.iter().map(|(_, rows)| rows.len()).sum();
    let lines: &[WindowLine] = &app.reader.text.view.lines;
    assert_eq!(
        lines.len(),
        total.min(height),
        "the window is full {}",
        place()
    );
    let entries: HashSet<EntryId> = app.reader.text.sequence.order().iter().copied().collect();
    assert_eq!(
        entries.len(),
        app.reader.text.sequence.len(),
        "nothing is shown twice {}",
        place()
    );
    if app.reader.text.view.follows()
        && let Some(last) = lines.last()
    {
        let end = all.iter().rfind(|(_, rows)| !rows.is_empty());
        assert_eq!(
            end.map(|(id, rows)| (*id, rows.len())),
            Some((last.entry, last.row + 1)),
            "{}",
            place()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 4_000, ..fixtures::cases(512) })]

    #[test]
    fn only_motions_move_what_is_read(
        start in start(),
        wide in any::<bool>(),
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        walk(&start, if wide { (120, 40) } else { (60, 20) }, &steps);
    }
}

/// `2` opens the timeline and is a number in front of `/`, which closes it again: the row is where it was before.
#[test]
fn what_is_read_stands_where_it_stood_before_a_page_that_a_number_opened() {
    let session = || {
        use Happening::{Answer, Call, InLane, Lane, Prompt};
        vec![
            Call(0),
            Lane,
            Prompt(0),
            InLane(0, 17, false),
            Prompt(19),
            Answer(7),
        ]
    };
    for number in 0..4 {
        let steps = [
            Step::Keys("f e".to_owned()),
            Step::Happens(Happening::Result(0, number)),
            Step::Moves("g".to_owned()),
            Step::Filter("-tool:*"),
            Step::Keys("2".to_owned()),
            Step::Search("hold", None),
        ];
        walk(&Start::Made(session(), None), (120, 40), &steps);
    }
}

/// A line of the window is taken for what came before it is known whether any of that is shown: if none is, the line is
/// given back, and the row that stood on it stands there again.
#[test]
fn what_came_and_is_not_shown_moves_nothing() {
    for lines in [8, 12, 20] {
        let mut stage = Stage::made((60, lines));
        let tall = crate::made::lines(90, |n| format!("row {n} of a tall text"));
        stage.add([
            says("p", 0, Role::User, "look into the hold"),
            calls("c", 1, "bash", ToolKind::Run, "ask the mate"),
            says("before", 2, Role::Assistant, &tall),
            says("last", 3, Role::Assistant, &tall),
        ]);
        stage.feed(Feed::CaughtUp);
        stage.press("G");
        let height = usize::from(stage.app.reader.frame().lines());
        while stage.line_of_focus().is_none_or(|line| line + 1 < height) {
            stage.press("ctrl-y");
        }
        assert_eq!(
            (stage.focused_key().as_str(), stage.line_of_focus()),
            ("last", Some(height - 1))
        );
        let before = stage.window();
        let trace = with(says("t", 4, Role::Harness, "nothing to see"), |entry| {
            entry.marks.trace = true;
        });
        stage.add([lane("mate", "c"), trace]);
        assert_eq!(stage.window(), before, "{}", stage.picture());
        stage.add([says("new", 5, Role::Assistant, "something to see")]);
        assert_eq!(
            stage.line_of_focus(),
            Some(height - 2),
            "what is shown has its line:\n{}",
            stage.picture()
        );
    }
}
