//! Journeys of the keys for panes and margins, for long lines, for new entries, and for copying
//! rows, turns and records: the second part of the table in `keys.rs`.

use tv::app::effect::Effect;
use tv::app::input::action::{Tab, View, Way};
use tv::app::input::mouse::{Gesture, Pointer};
use tv::app::panes::Pane;
use tv::app::text::wrapping::LineNumbers;
use tv::app::update::Event;
use tv::model::edit::{Batch, Edit, Feed};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolKind, Verdict};
use tv::render::row::RowKind;
use tv::render::theme::Theme;
use tv::session::news::LastView;

use super::{BRANCHES, Journey, Key, branches, is, landmarks, long, on_a_record};
use crate::made::{answer, boats, calls, prompt, result_at};
use crate::stage::{Stage, demo, fixture};

/// One journey an action, in the order of the bindings.
pub(super) const JOURNEYS: &[Journey] = &[
    ("next-new", |key| leads_to_news(key, "g")),
    ("previous-new", |key| leads_to_news(key, "G")),
    ("next-pane", |key| {
        cycles(key, [Pane::Inspector, Pane::Outline, Pane::Transcript]);
    }),
    ("previous-pane", |key| {
        cycles(key, [Pane::Outline, Pane::Inspector, Pane::Transcript]);
    }),
    ("toggle-inspector", |key| {
        for (size, is_beside) in [(WIDE, true), ((80, 24), false)] {
            let mut stage = landmarks();
            stage.resize(size.0, size.1);
            stage.press("e").rest();
            assert_eq!(stage.app.reader.frame().inspector.width > 0, is_beside);
            key.press(&mut stage).rest();
            assert_eq!(
                stage.app.reader.frame().inspector.width > 0,
                !is_beside,
                "{}",
                stage.picture()
            );
            key.press(&mut stage).rest();
            assert_eq!(
                stage.app.reader.frame().inspector.width > 0,
                is_beside,
                "{}",
                stage.picture()
            );
        }
        let mut stage = landmarks();
        stage.press("e");
        assert!(!stage.picture().contains("verdict"));
        key.press(&mut stage);
        assert!(
            stage.picture().contains("verdict"),
            "of the item: {}",
            stage.picture()
        );
    }),
    ("inspect-item", |key| {
        let item = "no such lantern";
        inspects(
            key,
            changed(),
            "e",
            Tab::Item,
            &["[call+result]", "bash · c3 · call", item],
        );
        inspects(
            key,
            changed(),
            "g",
            Tab::Item,
            &["[item", "count the boats"],
        );
    }),
    ("inspect-raw", |key| {
        inspects(
            key,
            branches(),
            "} ] t",
            Tab::Raw,
            &["toolCallId:", "call_o1", "grep -l oven"],
        );
    }),
    ("inspect-diff", |key| {
        inspects(
            key,
            changed(),
            "G",
            Tab::Diff,
            &["as the agent recorded it", "three boats", "four boats"],
        );
    }),
    ("inspect-context", |key| {
        inspects(
            key,
            changed(),
            "g ] k",
            Tab::Context,
            &["WINDOW", "9.0k in the prompt", "gpt-5"],
        );
    }),
    ("inspect-timing", |key| {
        inspects(
            key,
            changed(),
            "e",
            Tab::Timing,
            &["took", "ALL bash CALLS", "TURN 2", "SESSION"],
        );
    }),
    ("inspect-why", |key| {
        inspects(
            key,
            changed(),
            "e",
            Tab::Why,
            &["PAIRING", "c3 belongs to this call alone"],
        );
    }),
    ("divider-left", |key| moves_dividers(key, Way::Previous)),
    ("divider-right", |key| moves_dividers(key, Way::Next)),
    ("toggle-wrap", |key| {
        let mut stage = long_lines();
        let count = |stage: &Stage, word: &str| {
            stage
                .window()
                .iter()
                .filter(|row| row.2.contains(word))
                .count()
        };
        let (code, prose) = (count(&stage, "code"), count(&stage, "prose"));
        assert!(code > 2 && prose > 2, "{}", stage.picture());
        key.press(&mut stage);
        assert_eq!(
            (count(&stage, "code"), count(&stage, "prose")),
            (1, prose),
            "{}",
            stage.picture()
        );
        key.press(&mut stage);
        assert_eq!(
            (count(&stage, "code"), count(&stage, "prose")),
            (code, prose),
            "{}",
            stage.picture()
        );
    }),
    ("scroll-right", |key| {
        let mut stage = long_lines();
        stage.press("w");
        let before = code_row(&stage);
        key.press(&mut stage);
        assert_eq!(code_row(&stage)[..40], before[17..57]);
        key.times(2, &mut stage);
        assert_eq!(code_row(&stage)[..20], before[49..69]);
    }),
    ("scroll-left", |key| {
        let mut stage = long_lines();
        stage.press("w");
        let before = code_row(&stage);
        stage.press("z l z l z l");
        key.press(&mut stage);
        assert_eq!(code_row(&stage)[..20], before[33..53]);
        key.times(2, &mut stage);
        assert_eq!(code_row(&stage), before);
    }),
    ("toggle-gutter", |key| {
        let (mut stage, line) = on_a_record(key);
        let text = std::fs::read_to_string(fixture(BRANCHES)).unwrap();
        let byte: usize = text
            .split_inclusive('\n')
            .take(line - 1)
            .map(str::len)
            .sum();
        let beside = |stage: &Stage| {
            let area = stage.app.reader.frame().transcript;
            let y = area.y + u16::try_from(stage.line_of_focus().unwrap()).unwrap();
            let numbers = usize::from(stage.app.reader.frame().numbers);
            stage
                .line(y)
                .chars()
                .skip(usize::from(area.x))
                .take(numbers)
                .collect::<String>()
                .trim()
                .to_owned()
        };
        assert_eq!(beside(&stage), line.to_string(), "{}", stage.picture());
        key.press(&mut stage);
        assert_eq!(beside(&stage), byte.to_string(), "{}", stage.picture());
        key.press(&mut stage);
        assert_eq!(
            (
                beside(&stage).as_str(),
                stage.app.reader.text.wrapping.numbers
            ),
            ("", LineNumbers::None)
        );
    }),
    ("time", |key| {
        let mut stage = boats();
        stage.press("g");
        key.press(&mut stage);
        stage.wait(300);
        assert_eq!(stage.app.reader.views.open(), Some(View::Timeline));
        assert!(stage.picture().contains("TIME  "), "{}", stage.picture());
        key.press(&mut stage);
        stage.wait(300);
        assert_eq!(
            stage.app.reader.views.open(),
            None,
            "the key that opens it closes it"
        );
    }),
    ("failures", |key| {
        let path = fixture("lint/orphan-call/bad.jsonl");
        let mut stage = Stage::open(&path, (100, 24), Theme::dark());
        stage.press("g");
        key.press(&mut stage);
        assert!(
            stage.picture().contains("orphan-call"),
            "{}",
            stage.picture()
        );
        let found = stage
            .app
            .reader
            .session
            .indexes
            .findings
            .iter()
            .next()
            .map(|found| (found.entry, found.block))
            .unwrap();
        // Failures are listed first; the finding is below them.
        stage.press("g");
        let is_on_finding = |stage: &Stage| {
            let mut rows = stage.app.reader.views.sheet.rows.iter();
            rows.any(|row| row.is_chosen && row.line.to_string().contains("orphan-call"))
        };
        for _ in 0..stage.app.reader.views.sheet.rows.len() {
            if is_on_finding(&stage) {
                break;
            }
            stage.press("j");
        }
        stage.press("enter");
        let focus = stage.app.reader.text.view.focus.unwrap();
        assert_eq!((focus.entry, focus.block), found, "the list leads there");
        key.press(&mut stage);
        assert_eq!(stage.app.reader.views.open(), Some(View::Checks));
        key.press(&mut stage);
        assert_eq!(
            stage.app.reader.views.open(),
            None,
            "the key that opens the list closes it"
        );
    }),
    ("brief", |key| {
        let mut stage = Stage::open(&demo(), (100, 40), Theme::dark());
        key.press(&mut stage);
        assert_eq!(stage.app.reader.views.open(), Some(View::Brief));
        for said in ["asked", "files", "tests", "answer"] {
            assert!(
                stage.picture().contains(said),
                "{said}: {}",
                stage.picture()
            );
        }
        stage.press("j enter");
        assert_eq!(
            stage.app.reader.views.open(),
            None,
            "enter leads to the place"
        );
        key.press(&mut stage);
        key.press(&mut stage);
        assert_eq!(
            stage.app.reader.views.open(),
            None,
            "the key that opens the view closes it"
        );
    }),
    ("cost", |key| {
        let mut stage = Stage::open(&fixture("pi/version-3.jsonl"), (100, 24), Theme::dark());
        key.press(&mut stage);
        stage.wait(300);
        assert_eq!(stage.app.reader.views.open(), Some(View::Money));
        assert!(stage.picture().contains("COST"), "{}", stage.picture());
        key.press(&mut stage);
        stage.wait(300);
        assert_eq!(
            stage.app.reader.views.open(),
            None,
            "the key that opens the view closes it"
        );
    }),
    ("files", |key| {
        let mut stage = Stage::open(&demo(), (100, 24), Theme::dark());
        key.press(&mut stage);
        stage.wait(300);
        assert_eq!(stage.app.reader.views.open(), Some(View::Files));
        assert!(stage.picture().contains("FILES"), "{}", stage.picture());
    }),
    ("text", |key| {
        let mut stage = Stage::open(
            &fixture("lint/orphan-call/bad.jsonl"),
            (100, 24),
            Theme::dark(),
        );
        stage.press("!");
        key.press(&mut stage);
        stage.wait(300);
        assert_eq!(stage.app.reader.views.open(), None);
        assert!(stage.picture().contains("level 3"), "{}", stage.picture());
    }),
    ("context-view", |key| {
        let mut stage = branches();
        key.press(&mut stage);
        stage.wait(300);
        assert_eq!(stage.app.reader.views.open(), Some(View::Context));
        assert!(stage.picture().contains("CONTEXT"), "{}", stage.picture());
    }),
    ("toggle-as-of", |key| {
        let mut stage = branches();
        key.press(&mut stage);
        assert!(
            stage.app.reader.text.as_of.is_on
                && stage.status().contains("the model had lost nothing"),
            "{}",
            stage.status()
        );
        key.press(&mut stage);
        assert!(!stage.app.reader.text.as_of.is_on && stage.status().contains("nothing is dimmed"));
    }),
    ("tools", |key| toggles(key, View::Tools, "TOOLS")),
    ("tree", |key| toggles(key, View::Tree, "TREE")),
    ("shift-right", |key| {
        let mut stage = table_of_tools();
        let before = heads(&stage);
        key.press(&mut stage);
        assert!(
            heads(&stage) != before && heads(&stage).contains('↑'),
            "{before} {}",
            heads(&stage)
        );
    }),
    ("shift-left", |key| {
        let mut stage = table_of_tools();
        let first = heads(&stage);
        stage.press(">");
        let before = heads(&stage);
        key.press(&mut stage);
        assert!(
            before != first && heads(&stage) == first,
            "{before} {}",
            heads(&stage)
        );
    }),
    ("reverse", |key| {
        let mut stage = table_of_tools();
        assert!(heads(&stage).contains("took↓"), "{}", heads(&stage));
        key.press(&mut stage);
        assert!(heads(&stage).contains("took↑"), "{}", heads(&stage));
        key.press(&mut stage);
        assert!(heads(&stage).contains("took↓"), "{}", heads(&stage));
    }),
    ("select-rows", |key| {
        let selected = |keys: &str| {
            let mut stage = boats();
            stage.press("g }");
            key.press(&mut stage);
            assert!(stage.app.reader.text.view.selection.is_some());
            copied(stage.press(keys)).to_owned()
        };
        let to_end = selected("G y");
        assert!(to_end.starts_with("and what do they carry?"), "{to_end}");
        assert!(
            to_end.ends_with("thank you\n\nYou are welcome."),
            "{to_end}"
        );
        let from_start = selected("G o g y");
        assert!(
            from_start.starts_with("count the boats\n\nThere are three boats.\n\n"),
            "{from_start}"
        );
        assert!(
            from_start.ends_with(&to_end),
            "the other end stays: {from_start}"
        );
        let mut stage = boats();
        key.press(&mut stage).press("k k esc");
        assert!(stage.app.reader.text.view.selection.is_none() && stage.asked.is_empty());
    }),
    ("copy-turn", |key| {
        let mut stage = boats();
        stage.press("g");
        let untimed = |text: &str| {
            let lines = text.lines().map(|line| match line.strip_prefix("## ") {
                Some(heading) => format!("## {}\n", heading.split(',').next().unwrap()),
                None => format!("{line}\n"),
            });
            lines.collect::<String>().trim_end().to_owned()
        };
        let turn = "## User\n\ncount the boats\n\n## Assistant\n\nThere are three boats.";
        assert_eq!(untimed(copied(key.press(&mut stage))), turn);
    }),
    ("copy-link", |key| {
        let mut stage = landmarks();
        stage.app.reader.session.file.address = Some("/boats/harbour.jsonl".to_owned());
        stage.press("e");
        assert_eq!(copied(key.press(&mut stage)), "/boats/harbour.jsonl#c3");
        let (_, id) = copied(&stage).split_once('#').unwrap();
        let mut opened = landmarks();
        opened.app.reader.text.places.requested_entry = Some(id.to_owned());
        opened.feed(Feed::CaughtUp);
        opened.arrange();
        assert_eq!(opened.focused_key(), "c3", "the link leads there");
    }),
    ("copy-query", |key| {
        let record = r#"{"type":"message","cargo":[{"fish of today":"herring"}]}"#;
        let tree = tv::formats::json::parse(record).unwrap().to_tree();
        let mut stage = landmarks();
        stage.press("r");
        stage.happen(Event::Records {
            title: "raw".to_owned(),
            trees: vec![("line 1".to_owned(), tree)],
        });
        assert_eq!(copied(key.press(&mut stage)), ".type");
        stage.press("G k");
        assert_eq!(
            copied(key.press(&mut stage)),
            r#".cargo[0].["fish of today"]"#
        );
    }),
    ("pipe-record", |key| {
        let (mut stage, record) = on_a_record(key);
        stage.type_in("wc -c").press("enter");
        let [Effect::Pipe { command, origins }] = &stage.asked[..] else {
            panic!("{:?}", stage.asked)
        };
        assert_eq!(command, "wc -c");
        assert!(origins.iter().any(|at| is(*at, record)), "{origins:?}");
    }),
    ("toggle-mouse", |key| {
        let mut stage = long();
        stage.press("g");
        let top = stage.window();
        let wheel = Event::Mouse(Pointer {
            gesture: Gesture::WheelDown,
            column: 20,
            line: 10,
        });
        key.press(&mut stage);
        assert!(
            matches!(stage.asked[..], [Effect::Mouse(true)]),
            "{:?}",
            stage.asked
        );
        stage.happen(wheel.clone());
        stage.arrange();
        assert_eq!(stage.window()[0], top[3], "the wheel scrolls");
        key.press(&mut stage);
        assert!(
            matches!(stage.asked[..], [_, Effect::Mouse(false)]),
            "{:?}",
            stage.asked
        );
        stage.happen(wheel);
        stage.arrange();
        assert_eq!(stage.window()[0], top[3], "and no longer");
    }),
];

// === the sessions ===

/// A screen with room for all panes.
const WIDE: (u16, u16) = (200, 60);

/// The landmarks, and at their end a call that changed a file.
fn changed() -> Stage {
    let mut stage = landmarks();
    let mut outcome = result_at("c0", 410, "done", Verdict::Done);
    if let Edit::Result { result, .. } = &mut outcome {
        let patch = "--- a/boats.md\n+++ b/boats.md\n@@ -1 +1 @@\n-three boats\n+four boats\n";
        result.patch = Some(Batch::default().output(patch));
    }
    stage.add([
        calls("c0", 409, "edit", ToolKind::Edit, "boats.md"),
        outcome,
    ]);
    stage.press("g");
    stage
}

/// Prose and code in lines that are longer than the screen is wide.
fn long_lines() -> Stage {
    let mut stage = Stage::made((80, 40));
    let prose = "prose that is long enough to be wrapped ".repeat(6);
    let code = (0..40)
        .map(|n| format!("code{n:02}"))
        .collect::<Vec<_>>()
        .join("+");
    stage.add([
        prompt("p1", "show it"),
        answer("a1", &format!("{prose}\n\n```\n{code}\n```\n")),
    ]);
    stage.press("z 4 g");
    stage
}

/// The row of the code, without the marks that stand for what is cut off.
#[track_caller]
fn code_row(stage: &Stage) -> String {
    let rows = stage.window();
    let row = rows
        .iter()
        .find(|row| row.2.contains("code") && row.2.contains('+'))
        .expect("code in sight");
    row.2.trim_matches([' ', '│', '…']).to_owned()
}

// === what they are asked ===

/// The key leads from there to the first entry that was not there at the last visit, with a line above it.
fn leads_to_news(key: &Key, before: &str) {
    let mut stage = landmarks();
    let is_marked = |stage: &Stage| {
        stage
            .app
            .reader
            .text
            .view
            .lines
            .iter()
            .any(|line| line.row().is_some_and(|row| row.kind == RowKind::News))
    };
    stage.app.reader.text.places.last_visit = Some(LastView {
        key: Text::from("p3"),
        at: Timestamp(stage.app.reader.screen.now.0 - 60_000),
    });
    stage.resize(80, 16);
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    stage.press(before);
    assert!(
        stage.focused_key() != "a4" && !is_marked(&stage),
        "{}",
        stage.picture()
    );
    key.press(&mut stage);
    assert_eq!(stage.focused_key(), "a4", "{}", stage.picture());
    assert!(is_marked(&stage), "{}", stage.picture());
}

/// The key gives the keys to these panes, one after the other; the others stand still meanwhile.
fn cycles(key: &Key, order: [Pane; 3]) {
    let mut stage = landmarks();
    stage.resize(WIDE.0, WIDE.1);
    stage.press("e").rest();
    let places = |stage: &Stage| {
        let cursor = stage
            .app
            .reader
            .outline
            .sections
            .iter()
            .position(|section| section.cursor.is_some());
        let row = stage
            .app
            .reader
            .outline
            .sections
            .iter()
            .find_map(|section| section.cursor);
        (
            stage.app.reader.text.view.focus,
            (cursor, row),
            stage.app.reader.inspector.at,
        )
    };
    for pane in order {
        key.press(&mut stage);
        assert_eq!(stage.app.reader.focused(), pane);
        let before = places(&stage);
        stage.press("j");
        let after = places(&stage);
        let moved = [
            (Pane::Transcript, after.0 != before.0),
            (Pane::Outline, after.1 != before.1),
            (Pane::Inspector, after.2 != before.2),
        ];
        for (of, has_moved) in moved {
            assert_eq!(
                has_moved,
                of == pane,
                "j moves in {pane:?} alone: {before:?} {after:?}"
            );
        }
    }
}

/// On the item that these keys lead to, the key opens the inspector, which shows that; where another tab
/// is shown, it changes it.
fn inspects(key: &Key, mut stage: Stage, before: &str, tab: Tab, wanted: &[&str]) {
    stage.resize(200, 120);
    let other = if tab == Tab::Item { "alt-6" } else { "alt-1" };
    stage.press("i").press(before).rest();
    assert_eq!(stage.app.reader.frame().inspector.width, 0);
    let shown = |stage: &Stage| {
        let area = stage.app.reader.frame().inspector;
        let buffer = stage.buffer();
        let line = |y: u16| {
            (area.x..area.right())
                .map(|x| buffer[(x, y)].symbol())
                .collect::<String>()
        };
        (area.y..area.bottom())
            .map(|y| line(y).trim_end().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    };
    for _ in 0..2 {
        key.press(&mut stage).rest();
        let after = shown(&stage);
        assert_eq!(stage.app.reader.inspector.tab, tab);
        for words in wanted {
            assert!(after.contains(words), "{words:?} is missing: {after}");
        }
        stage.press(other).rest();
        assert!(
            !wanted.iter().all(|words| shown(&stage).contains(words)),
            "the other tab shows the same"
        );
    }
}

/// The key moves the divider by two columns: that of the inspector from the text, and that of the outline
/// from the outline.
fn moves_dividers(key: &Key, way: Way) {
    let mut stage = landmarks();
    stage.resize(WIDE.0, WIDE.1);
    let places = |stage: &Stage| {
        let frame = stage.app.reader.frame();
        [frame.outline_divider.x, frame.inspector_divider.x]
    };
    let by = |place: u16, columns: u16| match way {
        Way::Next => place + columns,
        Way::Previous => place - columns,
    };
    let [outline, inspector] = places(&stage);
    key.press(&mut stage);
    assert_eq!(places(&stage), [outline, by(inspector, 2)]);
    stage.press("shift-tab");
    assert_eq!(stage.app.reader.focused(), Pane::Outline);
    key.times(3, &mut stage);
    assert_eq!(places(&stage), [by(outline, 6), by(inspector, 2)]);
}

#[test]
fn a_digit_opens_its_view_at_once_wherever_the_keys_are() {
    let mut stage = landmarks();
    stage.press("j j 2 k 3 j");
    assert_eq!(stage.app.reader.views.open(), Some(View::Tools));
    stage.press("1");
    assert_eq!(stage.app.reader.views.open(), None);
    stage.resize(200, 50);
    stage.press("tab");
    assert_eq!(stage.app.reader.focused(), Pane::Inspector);
    stage.press("4");
    assert_eq!(stage.app.reader.views.open(), Some(View::Money));
}

#[test]
fn a_key_that_means_nothing_says_so_once() {
    let mut stage = landmarks();
    stage.press("\u{20ac}");
    assert!(
        stage
            .status()
            .contains("\u{20ac} does nothing; ? lists the keys"),
        "{}",
        stage.status()
    );
    stage.press("j \u{20ac}");
    assert!(
        !stage.status().contains("does nothing"),
        "{}",
        stage.status()
    );
}

#[test]
fn escape_and_a_key_that_arrive_together_are_two_keys() {
    let mut stage = landmarks();
    stage.press("alt-q alt-q");
    assert!(
        stage
            .asked
            .iter()
            .any(|effect| matches!(effect, Effect::Quit))
    );
}

/// What was copied last.
#[track_caller]
fn copied(stage: &Stage) -> &str {
    match stage.asked.last() {
        Some(Effect::Copy(text)) => text,
        other => panic!("nothing was copied: {other:?}; {}", stage.status()),
    }
}

/// A view opens over the text, and its key closes it again.
fn toggles(key: &Key, view: View, title: &str) {
    let mut stage = Stage::open(&fixture("pi/branches.jsonl"), (100, 24), Theme::dark());
    key.press(&mut stage);
    stage.wait(300);
    assert_eq!(stage.app.reader.views.open(), Some(view));
    assert!(stage.picture().contains(title), "{}", stage.picture());
    key.press(&mut stage);
    stage.wait(300);
    assert_eq!(
        stage.app.reader.views.open(),
        None,
        "the key that opens the view closes it"
    );
}

/// A page whose rows can be sorted.
fn table_of_tools() -> Stage {
    let mut stage = Stage::open(&fixture("pi/branches.jsonl"), (100, 24), Theme::dark());
    stage.press("3");
    stage.wait(300);
    stage
}

/// The heads of its columns.
fn heads(stage: &Stage) -> String {
    stage
        .app
        .reader
        .views
        .sheet
        .heads
        .iter()
        .map(ToString::to_string)
        .collect()
}
