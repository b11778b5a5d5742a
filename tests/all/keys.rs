//! A journey for every key: a binding has an entry here that says what pressing it does, and each
//! key of each preset is pressed.
//!
//! A journey prepares a session, presses its key, and asserts what the binding's line in the help
//! promises. All journeys are also run with a key that does nothing, and must then fail.

use std::panic::catch_unwind;
use std::process::Command;

use tv::app::effect::Effect;
use tv::app::input::action::{Action, View};
use tv::app::input::bindings::BINDINGS;
use tv::app::input::keymap::{KeyMatch, Keymap, Preset};
use tv::app::input::keys::parse_keys;
use tv::app::mode::{HelpSubject, Mode};
use tv::app::pop_ups::help::{self, HelpLine, HelpScene};
use tv::app::screens::AppScreen;
use tv::model::body::Image;
use tv::model::edit::Edit;
use tv::model::entry::{BlockKind, Break, EntryId, Role};
use tv::model::record::Origin;
use tv::model::text::Text;
use tv::model::tool::{ToolKind, Verdict};
use tv::model::usage::Usage;
use tv::render::row::{Fold, Level};
use tv::render::theme::Theme;

use crate::made::{
    answer, boats, calls, entry, harbour, in_lane, lane, lines, prompt, result_at, rule, says,
    talk, with,
};
use crate::stage::{Stage, demo, fixture};

mod beside;

/// Keys of an action in a preset. What leads to it is pressed in the default one.
struct Key {
    keys: String,
    preset: Preset,
}

impl Key {
    fn press<'s>(&self, stage: &'s mut Stage) -> &'s mut Stage {
        self.times(1, stage)
    }

    /// So many times.
    fn times<'s>(&self, count: usize, stage: &'s mut Stage) -> &'s mut Stage {
        let usual = std::mem::replace(&mut stage.app.keys.keymap, Keymap::new(self.preset, &[]).0);
        for _ in 0..count {
            stage.press(&self.keys);
        }
        stage.app.keys.keymap = usual;
        stage
    }
}

type Journey = (&'static str, fn(&Key));

/// What is bound to nothing.
const IDLE: &str = "€";

/// One journey an action, in the order of the bindings; further ones are in `keys/beside.rs`.
const JOURNEYS: &[Journey] = &[
    ("next", |key| {
        let mut stage = landmarks();
        key.press(&mut stage);
        assert_eq!(stage.focused_key(), "a1");
        key.times(2, &mut stage);
        assert_eq!(stage.focused_key(), "a2");
        let mut tall = one_tall();
        let before = tall.window();
        key.press(&mut tall);
        assert_eq!(
            tall.window()[..20],
            before[1..21],
            "a line further in the tall item"
        );
    }),
    ("previous", |key| {
        let mut stage = landmarks();
        stage.press("j j");
        key.press(&mut stage);
        assert_eq!(stage.focused_key(), "a1");
        let mut tall = one_tall();
        let before = tall.press("j j j j j").window();
        key.press(&mut tall);
        assert_eq!(
            tall.window()[1..21],
            before[..20],
            "a line back in the tall item"
        );
    }),
    ("line-down", |key| scrolls(key, "g", 1)),
    ("line-up", |key| scrolls(key, "g ctrl-d ctrl-d ctrl-d", -1)),
    ("page-down", |key| scrolls(key, "g", 19)),
    ("page-up", |key| scrolls(key, "g ctrl-d ctrl-d ctrl-d", -19)),
    ("half-page-down", |key| scrolls(key, "g", 10)),
    ("half-page-up", |key| {
        scrolls(key, "g ctrl-d ctrl-d ctrl-d", -10);
    }),
    ("top", |key| {
        let mut stage = long();
        key.press(&mut stage);
        assert_eq!(
            (stage.window()[0].1, stage.focused_key()),
            (0, "p1".to_owned())
        );
    }),
    ("bottom", |key| {
        let mut stage = long();
        stage.press("g");
        key.press(&mut stage);
        assert_eq!(stage.focused_key(), "talk 59");
        talk(&mut stage, 60, 1);
        assert_eq!(stage.focused_key(), "talk 60", "the window follows");
    }),
    ("toggle-follow", |key| {
        let mut stage = long();
        key.press(&mut stage);
        assert!(!stage.app.reader.text.view.follows());
        key.press(&mut stage);
        assert!(stage.app.reader.text.view.follows());
    }),
    ("next-prompt", |key| leads(key, "g", "p2")),
    ("previous-prompt", |key| leads(key, "G", "p4")),
    ("next-failure", |key| leads(key, "g", "c3")),
    ("previous-failure", |key| leads(key, "G", "w2")),
    ("pair", |key| {
        let mut stage = boats();
        let shows =
            |stage: &Stage, words: &str| stage.window().iter().any(|row| row.2.contains(words));
        stage.press("g ] t l");
        assert!(shows(&stage, "ls hold") && !shows(&stage, "crate 90"));
        key.press(&mut stage);
        assert!(shows(&stage, "crate 90"), "the end of the result");
        key.press(&mut stage);
        assert!(shows(&stage, "ls hold"), "the call");
    }),
    ("next-tool", |key| leads(key, "g", "a2")),
    ("previous-tool", |key| leads(key, "G", "c9")),
    ("next-message", |key| leads(key, "g", "a1")),
    ("previous-message", |key| leads(key, "G", "a5")),
    ("next-thinking", |key| leads(key, "g", "a2")),
    ("previous-thinking", |key| leads(key, "G", "t5")),
    ("next-subagent", |key| leads(key, "g", "c4")),
    ("previous-subagent", |key| leads(key, "G", "c7")),
    ("next-compaction", |key| leads(key, "g", "k1")),
    ("previous-compaction", |key| leads(key, "G", "k2")),
    ("next-branch", |key| leads(key, "g", "b1")),
    ("previous-branch", |key| leads(key, "G", "b2")),
    ("next-image", |key| leads(key, "g", "i1")),
    ("previous-image", |key| leads(key, "G", "i2")),
    ("next-open-call", |key| leads(key, "g", "c8")),
    ("previous-open-call", |key| leads(key, "G", "c9")),
    ("next-expensive-turn", |key| leads(key, "g", "p3")),
    ("previous-expensive-turn", |key| leads(key, "G", "p4")),
    ("next-carried", |key| leads(key, "g", "a2")),
    ("previous-carried", |key| leads(key, "G", "a2")),
    ("next-difference", |key| {
        let mut stage = crate::views::diff::compared((120, 40));
        stage.press("g");
        key.press(&mut stage);
        let picture = stage.picture();
        assert!(picture.contains("▸ t3   was asked Then"), "{picture}");
    }),
    ("previous-difference", |key| {
        let mut stage = crate::views::diff::compared((120, 40));
        stage.press("G");
        key.press(&mut stage);
        let picture = stage.picture();
        assert!(picture.contains("▸ t4   was asked Check"), "{picture}");
    }),
    ("next-gap", |key| leads(key, "g", "p2")),
    ("previous-gap", |key| leads(key, "G", "p4")),
    ("next-same-id", |key| leads(key, "g ] s", "m1")),
    ("previous-same-id", |key| leads(key, "g ] s o", "c4")),
    ("back", |key| leads(key, "g e G", "c3")),
    ("forward", |key| leads(key, "g e alt-left", "c3")),
    ("set-mark", |key| {
        let mut stage = landmarks();
        stage.press("e");
        key.press(&mut stage);
        assert!(stage.status().contains("marked a"), "{}", stage.status());
        stage.press("G ' a");
        assert_eq!(stage.focused_key(), "c3");
    }),
    ("jump-to-mark", |key| leads(key, "g e m a G", "c3")),
    ("expand", |key| {
        let mut stage = tall_screen();
        let shows = |stage: &Stage, words: &str| stage.picture().contains(words);
        key.press(&mut stage);
        assert!(shows(&stage, "crate 45 "), "hidden lines");
        stage.press("h h");
        assert!(!shows(&stage, "crate 1 "));
        key.press(&mut stage);
        assert!(shows(&stage, "crate 1 "), "a fold");
        stage.press("] s");
        assert!(!shows(&stage, "what is in the hold"));
        key.press(&mut stage);
        assert!(shows(&stage, "what is in the hold"), "a sub-agent");
    }),
    ("unfold", |key| {
        let mut stage = tall_screen();
        let before = stage.window();
        key.press(&mut stage);
        assert!(stage.picture().contains("crate 45 "), "hidden lines");
        key.press(&mut stage);
        assert_eq!(stage.window(), before, "and as before");
        stage.press("] s");
        key.press(&mut stage);
        assert!(
            stage.picture().contains("what is in the hold"),
            "a sub-agent"
        );
        key.press(&mut stage);
        assert!(
            !stage.picture().contains("what is in the hold"),
            "closed again"
        );
    }),
    ("collapse", |key| {
        let mut stage = boats();
        stage.press("g ] s l j");
        assert_eq!(stage.focused_key(), "m1");
        key.press(&mut stage);
        assert_eq!(
            stage.app.reader.text.folds.get(&Text::from("m1"), 0),
            Fold::Closed,
            "the item"
        );
        key.press(&mut stage);
        assert_eq!(stage.focused_key(), "c3", "what holds it");
        key.press(&mut stage);
        assert!(
            !stage.picture().contains("what is in the hold"),
            "the sub-agent"
        );
    }),
    ("toggle-fold", |key| {
        let mut stage = boats();
        stage.press("g } ] k");
        let is_seen = |stage: &Stage| stage.picture().contains("look into the hold");
        let mut seen = vec![is_seen(&stage)];
        for _ in 0..3 {
            key.press(&mut stage);
            seen.push(is_seen(&stage));
        }
        assert!(seen.contains(&true) && seen.contains(&false), "{seen:?}");
    }),
    ("fold-branch", |key| {
        let mut stage = branches();
        stage.press("g ] b");
        let before = stage.app.reader.text.sequence.len();
        key.press(&mut stage);
        assert!(
            stage.picture().contains("▸ branch 1"),
            "{}",
            stage.picture()
        );
        assert!(stage.app.reader.text.sequence.len() < before);
        key.press(&mut stage);
        assert!(
            stage.picture().contains("▾ branch 1"),
            "{}",
            stage.picture()
        );
    }),
    ("open-all", |key| {
        let mut stage = tall_screen();
        key.press(&mut stage);
        assert!(stage.picture().contains("crate 45 "), "{}", stage.picture());
    }),
    ("close-all", |key| {
        let mut stage = tall_screen();
        key.press(&mut stage);
        assert!(!stage.picture().contains("crate 1 "), "{}", stage.picture());
        assert!(stage.picture().contains("ls hold"), "{}", stage.picture());
    }),
    ("level-up", |key| {
        let mut stage = tall_screen();
        key.press(&mut stage);
        assert!(
            stage.picture().contains("crate 45 "),
            "full shows all of a result"
        );
    }),
    ("level-down", |key| {
        let mut stage = tall_screen();
        key.press(&mut stage);
        assert!(
            !stage.picture().contains("crate 1 "),
            "the outline shows no results"
        );
    }),
    ("level-1", |key| {
        let mut stage = tall_screen();
        key.press(&mut stage);
        let keys: Vec<String> = stage
            .app
            .reader
            .text
            .sequence
            .order()
            .iter()
            .map(|id| key_of(&stage, *id))
            .collect();
        assert_eq!(keys, ["p1", "p2", "p3"]);
    }),
    ("level-2", |key| {
        let mut stage = tall_screen();
        key.press(&mut stage);
        let heads = stage
            .window()
            .iter()
            .filter(|row| row.2.contains("ls hold"))
            .count();
        assert!(
            heads == 1 && !stage.picture().contains("crate 1 "),
            "{}",
            stage.picture()
        );
        assert!(
            stage.picture().contains("ninety crates"),
            "{}",
            stage.picture()
        );
    }),
    ("level-3", |key| {
        let mut stage = tall_screen();
        stage.press("z 2");
        key.press(&mut stage);
        let picture = stage.picture();
        assert!(
            picture.contains("crate 1 ") && picture.contains("crate 90 "),
            "{picture}"
        );
        assert!(
            !picture.contains("crate 45 ") && picture.contains("lines"),
            "{picture}"
        );
    }),
    ("level-4", |key| {
        let mut stage = tall_screen();
        key.press(&mut stage);
        assert!(stage.picture().contains("crate 45 "));
    }),
    ("level-5", |key| {
        let mut stage = tall_screen();
        stage.press("z 4 g");
        assert!(!stage.picture().contains("user p1"));
        key.press(&mut stage);
        assert!(
            stage.picture().contains("user p1"),
            "what the record says: {}",
            stage.picture()
        );
    }),
    ("toggle-thinking", |key| {
        let mut stage = tall_screen();
        assert!(stage.picture().contains("maybe nothing"));
        key.press(&mut stage);
        assert!(
            !stage.picture().contains("maybe nothing")
                && stage.status().contains("thinking hidden")
        );
        key.press(&mut stage);
        assert!(stage.picture().contains("maybe nothing"));
    }),
    ("toggle-intents", |key| {
        let mut stage = Stage::open(&demo(), (120, 40), Theme::dark());
        stage.press("g ] t");
        let both = "Run the tests  cargo test";
        assert!(stage.picture().contains(both), "{}", stage.picture());
        key.press(&mut stage);
        assert!(!stage.picture().contains(both) && stage.picture().contains("Bash   cargo test"));
        key.press(&mut stage);
        assert!(stage.picture().contains(both));
    }),
    ("toggle-tools", |key| {
        let mut stage = tall_screen();
        key.press(&mut stage);
        assert!(stage.picture().contains("crate 45 "), "full");
        key.press(&mut stage);
        assert!(!stage.picture().contains("crate 45 "), "preview");
    }),
    ("toggle-outline", |key| {
        let mut stage = tall_screen();
        let before = divided(&stage);
        key.press(&mut stage);
        let shown = divided(&stage);
        assert_ne!(shown, before);
        key.press(&mut stage);
        assert_eq!(divided(&stage), before);
    }),
    ("search", |key| {
        let mut stage = landmarks();
        key.press(&mut stage).type_in("lantern").press("enter");
        assert!(
            stage.status().contains("/lantern 1/2"),
            "{}",
            stage.status()
        );
        stage.press("esc g");
        key.press(&mut stage).type_in("u:carry").press("enter");
        assert!(stage.status().contains("in prompts"), "{}", stage.status());
    }),
    ("hits", |key| {
        let mut stage = landmarks();
        stage.press("/").type_in("lantern").press("enter");
        key.press(&mut stage);
        let (lines, list) = (stage.picture(), stage.app.reader.views.open());
        assert!(
            list == Some(View::Hits) && lines.contains("2 hits in 1 item"),
            "{lines}"
        );
        key.press(&mut stage);
        assert_eq!(stage.app.reader.views.open(), None);
    }),
    ("diff", |key| {
        let mut stage = landmarks();
        key.press(&mut stage);
        let picture = stage.picture();
        assert!(
            picture.contains(":diff") && picture.contains("cook"),
            "{picture}"
        );
    }),
    ("next-hit", |key| {
        let mut stage = landmarks();
        stage.press("/").type_in("lantern").press("enter");
        key.press(&mut stage);
        assert!(stage.status().contains("2/2"), "{}", stage.status());
    }),
    ("previous-hit", |key| {
        let mut stage = landmarks();
        stage.press("/").type_in("lantern").press("enter n");
        key.press(&mut stage);
        assert!(stage.status().contains("1/2"), "{}", stage.status());
    }),
    ("next-mention", |key| leads(key, "g", "a2")),
    ("previous-mention", |key| {
        let mut stage = landmarks();
        stage.press("*");
        let there = stage.app.reader.text.view.focus;
        key.press(&mut stage);
        assert_eq!(stage.focused_key(), "p1");
        assert_ne!(stage.app.reader.text.view.focus, there);
    }),
    ("first-seen", |key| {
        let mut stage = landmarks();
        stage.press("G");
        key.press(&mut stage);
        assert!(stage.status().contains("` first "), "{}", stage.status());
    }),
    ("filter-expression", |key| {
        let mut stage = landmarks();
        key.press(&mut stage).type_in("lantern").press("enter g");
        assert_eq!(shown(&stage), ["c3"]);
        key.press(&mut stage).press("enter g");
        assert!(shown(&stage).len() > 5, "empty shows all");
    }),
    ("filter-failures", |key| {
        filters(key, "g", &["c3", "m2", "w1", "w2"]);
    }),
    ("filter-tools", |key| {
        filters(key, "g", &["a2", "c3", "c4", "m2", "c7", "c8", "c9"]);
    }),
    ("filter-prompts", |key| {
        // Messages to sub-agents, m1 and m3, are written by agents.
        filters(key, "g", &["p1", "p2", "p3", "i1", "p4", "i2"]);
    }),
    ("filter-this-tool", |key| {
        filters(key, "g ] s", &["c4", "c7"]);
    }),
    ("filter-this-subagent", |key| {
        filters(key, "g ] s", &["m1", "m2"]);
    }),
    ("filter-this-id", |key| {
        filters(key, "g ] s", &["c4", "m1", "m2"]);
    }),
    ("clear-filter", |key| {
        let mut stage = landmarks();
        stage.press("f e");
        key.press(&mut stage).press("g");
        assert!(stage.app.reader.text.find.filter.is_none() && shown(&stage).len() > 5);
    }),
    ("copy-text", |key| copies(key, "ls: no such lantern")),
    ("copy-json", |key| {
        let (stage, record) = on_a_record(key);
        assert!(
            matches!(&stage.asked[..], [Effect::CopyRecords(all)] if all.iter().any(|at| is(*at, record)))
        );
    }),
    ("copy-result", |key| copies(key, "ls: no such lantern")),
    ("copy-command", |key| copies(key, "ls lantern")),
    ("copy-path", |key| {
        let (stage, record) = on_a_record(key);
        let wanted = format!("{}:{record}", fixture(BRANCHES).display());
        assert!(
            matches!(&stage.asked[..], [Effect::Copy(text)] if *text == wanted),
            "{:?}",
            stage.asked
        );
    }),
    ("copy-id", |key| copies(key, "c3")),
    ("raw", |key| {
        let (stage, record) = on_a_record(key);
        assert!(
            matches!(&stage.asked[..], [Effect::ShowRecords(all)] if all.iter().any(|at| is(*at, record)))
        );
    }),
    ("edit", |key| {
        let (stage, record) = on_a_record(key);
        assert!(matches!(&stage.asked[..], [Effect::Edit(at)] if is(*at, record)));
    }),
    ("resume", |key| {
        let mut stage = Stage::open(&fixture(BRANCHES), (80, 24), Theme::dark());
        key.press(&mut stage);
        assert!(
            stage.picture().contains("continue  pi --session"),
            "{}",
            stage.picture()
        );
        assert!(matches!(&stage.asked[..], [Effect::Copy(line)] if line.contains("pi --session")));
        stage.press("enter");
        assert!(matches!(&stage.asked[..], [_, Effect::Resume { words, .. }] if words[0] == "pi"));
    }),
    ("sessions", |key| {
        let mut stage = landmarks();
        key.press(&mut stage);
        assert!(matches!(stage.app.mode, Mode::Picker));
        assert!(matches!(stage.asked[..], [Effect::Seek]));
    }),
    ("all-sessions", |key| {
        let mut stage = landmarks();
        key.press(&mut stage);
        assert!(matches!(stage.app.mode, Mode::Wall));
        assert!(matches!(stage.asked[..], [Effect::FollowAll]));
    }),
    ("next-need", who_needs_me),
    ("previous-need", who_needs_me),
    ("alarm", |key| {
        let mut stage = landmarks();
        key.press(&mut stage).type_in("waiting").press("enter");
        assert!(stage.status().contains("watching"), "{}", stage.status());
    }),
    ("usage", |key| {
        let mut stage = landmarks();
        key.press(&mut stage);
        assert!(matches!(stage.app.mode, Mode::Ledger));
        assert!(matches!(stage.asked[..], [Effect::Count(_)]));
    }),
    ("command", |key| {
        let mut stage = landmarks();
        key.press(&mut stage).type_in("level-5").press("enter");
        assert_eq!(stage.app.reader.text.level, Level::Raw);
    }),
    ("help", |key| {
        let mut stage = landmarks();
        key.press(&mut stage);
        assert!(
            stage.picture().contains("Marks and signs"),
            "{}",
            stage.picture()
        );
        stage.press("/").type_in("session anew").press("enter");
        assert!(
            stage.picture().contains("read the session anew")
                && !stage.picture().contains("Marks and signs")
        );
    }),
    ("reload", |key| {
        asks(key, |effect| matches!(effect, Effect::Reload));
    }),
    ("redraw", |key| {
        asks(key, |effect| matches!(effect, Effect::Redraw));
    }),
    ("suspend", |key| {
        asks(key, |effect| matches!(effect, Effect::Suspend));
    }),
    ("cancel", |key| {
        let mut stage = landmarks();
        stage.press("?");
        key.press(&mut stage);
        assert!(matches!(stage.app.mode, Mode::Normal), "the pop-up");
        stage.press("/").type_in("lantern").press("enter");
        key.press(&mut stage);
        assert!(stage.app.reader.text.find.search.is_none(), "the search");
    }),
    ("quit", |key| {
        asks(key, |effect| matches!(effect, Effect::Quit));
        let mut stage = landmarks();
        stage.app.below.push(AppScreen::Picker);
        key.press(&mut stage);
        assert!(
            matches!(stage.asked[..], [Effect::Back]),
            "back to the picker"
        );
    }),
    ("quit-now", |key| {
        let mut stage = landmarks();
        stage.app.below.push(AppScreen::Picker);
        key.press(&mut stage);
        assert!(matches!(stage.asked[..], [Effect::Quit]));
    }),
];

// === the sessions ===

fn compacted() -> Break {
    Break::Compaction {
        before: Some(90_000),
        after: Some(9_000),
        trigger: Text::from("auto"),
        partial: false,
        took: None,
    }
}

fn image(key: &str, seconds: i64) -> Edit {
    entry(key, seconds, Role::User, |_| {
        let image = Image {
            mime: Text::from("image/png"),
            bytes: Some(70),
            source: Some(Text::from("mast.png")),
            origin: Origin::default(),
        };
        vec![BlockKind::Image(image)]
    })
}

fn costs(edit: Edit, usd: f64) -> Edit {
    with(edit, |entry| {
        entry.model = Some(Text::from("gpt-5"));
        entry.usage = Some(Box::new(Usage {
            input: Some(9_000),
            cost: Some(usd),
            ..Usage::default()
        }));
    })
}

/// The harbour with two of each landmark, from its beginning.
fn landmarks() -> Stage {
    let mut stage = Stage::made((100, 40));
    stage.add(harbour());
    stage.add([
        says("p3", 200, Role::User, "and the lighthouse?"),
        costs(says("a4", 201, Role::Assistant, "It stands."), 0.6),
        rule("k1", 202, compacted()),
        rule("b1", 203, Break::Branch(Text::from("the other way round"))),
        with(image("i1", 204), |entry| entry.marks.prompt = false),
        calls("c7", 205, "task", ToolKind::Delegate, "ask the cook"),
        lane("cook", "c7"),
        in_lane(says("m3", 206, Role::User, "and you?"), "cook"),
        result_at("c7", 207, "the cook is asleep", Verdict::Done),
        calls("c8", 208, "bash", ToolKind::Run, "ring the bell"),
        says("p4", 400, Role::User, "is that all?"),
        rule("k2", 401, compacted()),
        rule("b2", 402, Break::Branch(Text::from("once more"))),
        with(image("i2", 403), |entry| entry.marks.prompt = false),
        entry("t5", 404, Role::Assistant, |batch| {
            vec![BlockKind::Thinking(batch.prose("Is it?"))]
        }),
        rule("w2", 405, Break::Error(Text::from("the lamp is out"))),
        calls("c9", 406, "bash", ToolKind::Run, "light the lamp"),
        costs(says("a5", 407, Role::Assistant, "That is all."), 0.6),
        says("z9", 408, Role::Harness, "the end"),
    ]);
    stage.press("g");
    stage
}

/// Boats and sixty answers.
fn long() -> Stage {
    let mut stage = boats();
    talk(&mut stage, 0, 60);
    stage
}

/// One answer that is taller than the screen.
fn one_tall() -> Stage {
    let mut stage = Stage::made((80, 24));
    let crates = lines(90, |n| format!("crate {n}\n"));
    stage.add([answer("a1", &crates), prompt("p1", "enough")]);
    stage.press("z 4 g");
    stage
}

/// All of the boats on one screen.
fn tall_screen() -> Stage {
    let mut stage = boats();
    stage.resize(80, 160);
    stage.press("g ] t");
    stage
}

const BRANCHES: &str = "pi/branches.jsonl";

fn branches() -> Stage {
    let mut stage = Stage::open(&fixture(BRANCHES), (80, 24), Theme::dark());
    stage.press("g");
    stage
}

// === what they are asked ===

/// The key scrolls by so many lines.
fn scrolls(key: &Key, before: &str, by: isize) {
    let mut stage = long();
    stage.press(before);
    let whole = |stage: &Stage| {
        stage
            .window()
            .into_iter()
            .map(|row| (row.0, row.1))
            .collect::<Vec<_>>()
    };
    let from = whole(&stage);
    key.press(&mut stage);
    let to = whole(&stage);
    let by_lines = by.unsigned_abs();
    let (upper, lower) = if by > 0 { (&from, &to) } else { (&to, &from) };
    assert_eq!(
        upper[by_lines..],
        lower[..upper.len() - by_lines],
        "{by} lines"
    );
}

/// From a session it leads to the wall, whose first row needs one most.
fn who_needs_me(key: &Key) {
    let mut stage = landmarks();
    key.press(&mut stage);
    assert!(matches!(stage.app.mode, Mode::Wall));
}

/// After these keys the key leads to the entry.
fn leads(key: &Key, before: &str, to: &str) {
    let mut stage = landmarks();
    stage.press(before);
    assert_ne!(stage.focused_key(), to, "the journey leads somewhere");
    key.press(&mut stage);
    assert_eq!(stage.focused_key(), to, "{}", stage.picture());
    assert!(stage.line_of_focus().is_some(), "in sight");
}

fn key_of(stage: &Stage, id: EntryId) -> String {
    stage
        .app
        .reader
        .session
        .transcript
        .get(id)
        .unwrap()
        .key
        .to_string()
}

/// Keys of the entries in the sequence.
fn shown(stage: &Stage) -> Vec<String> {
    stage
        .app
        .reader
        .text
        .sequence
        .order()
        .iter()
        .map(|id| key_of(stage, *id))
        .collect()
}

fn filters(key: &Key, before: &str, to: &[&str]) {
    let mut stage = landmarks();
    stage.press(before);
    key.press(&mut stage);
    assert_eq!(shown(&stage), to, "{}", stage.status());
}

/// Presses the key on a prompt of a real file; with the number of the line that holds its record.
fn on_a_record(key: &Key) -> (Stage, usize) {
    let mut stage = branches();
    stage.press("} }");
    key.press(&mut stage);
    let id = format!("\"id\":\"{}\"", stage.focused_key());
    let text = std::fs::read_to_string(fixture(BRANCHES)).unwrap();
    let line = text.lines().position(|line| line.contains(&id));
    (stage, line.expect("the record is in the file") + 1)
}

fn is(origin: Origin, line: usize) -> bool {
    usize::try_from(origin.line) == Ok(line)
}

/// On the failed call the key copies this.
fn copies(key: &Key, wanted: &str) {
    let mut stage = landmarks();
    stage.press("e");
    key.press(&mut stage);
    assert!(
        matches!(&stage.asked[..], [Effect::Copy(text)] if text == wanted),
        "{:?}",
        stage.asked
    );
}

fn asks(key: &Key, is_it: fn(&Effect) -> bool) {
    let mut stage = landmarks();
    key.press(&mut stage);
    assert!(
        stage.asked.len() == 1 && stage.asked.iter().all(is_it),
        "{:?}",
        stage.asked
    );
}

fn divided(stage: &Stage) -> tv::app::layout::Frame {
    stage.app.reader.frame()
}

// === the journeys ===

const PRESETS: [Preset; 3] = [Preset::Default, Preset::Less, Preset::Vim];

/// All of them.
fn journeys() -> impl Iterator<Item = &'static Journey> {
    JOURNEYS.iter().chain(beside::JOURNEYS)
}

fn journey_of(action: Action) -> Option<&'static Journey> {
    let name = action.to_string();
    journeys().find(|(of, _)| *of == name)
}

#[test]
fn every_binding_has_a_journey() {
    let missing = BINDINGS.iter().filter(|binding| journey_of(binding.action).is_none()).map(|binding| {
        format!(
            "{} has no journey. Add to JOURNEYS in tests/all/keys.rs:\n    (\"{}\", |key| {{\n        \
             let mut stage = landmarks();\n        key.press(&mut stage);\n        \
             assert!(…, \"{}\");\n    }}),",
            binding.keys.join(" "),
            binding.action,
            binding.doc,
        )
    });
    let missing: Vec<String> = missing.collect();
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
    for (name, _) in journeys() {
        let is_bound = BINDINGS
            .iter()
            .any(|binding| binding.action.to_string() == *name);
        assert!(is_bound, "the journey of {name} belongs to no binding");
    }
}

#[test]
fn every_key_of_every_preset_does_what_its_journey_says() {
    let mut failed = Vec::new();
    for preset in PRESETS {
        let keymap = Keymap::new(preset, &[]).0;
        for binding in BINDINGS {
            let Some((name, walk)) = journey_of(binding.action) else {
                continue;
            };
            for keys in keymap.keys_of(binding.action) {
                let key = Key {
                    keys: keys.replace("a-z", "a"),
                    preset,
                };
                if catch_unwind(move || walk(&key)).is_err() {
                    failed.push(format!("{preset:?}: {keys} ({name}: {})", binding.doc));
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "these keys do not do what their journeys say:\n{}",
        failed.join("\n")
    );
}

/// The help, the listing that `tv --keys` writes and the keys in force are one in every preset; the table
/// in the manual is held against the bindings elsewhere.
#[test]
fn help_and_listing_show_the_keys_in_force() {
    for preset in PRESETS {
        let keymap = Keymap::new(preset, &[]).0;
        let mut stage = Stage::made((120, 40));
        stage.app.keys.keymap = keymap.clone();
        let scene = HelpScene {
            keymap: &keymap,
            here: &HelpSubject::default(),
            below: AppScreen::Session,
            screen: &stage.app.reader.screen,
        };
        let found = |keys: &str| -> Vec<HelpLine> {
            help::lines(scene, keys).into_iter().flatten().collect()
        };
        let listing = keymap.listing();
        assert_eq!(listing.lines().count(), BINDINGS.len());
        for (binding, listed) in BINDINGS.iter().zip(listing.lines()) {
            let name = binding.action.to_string();
            let keys: Vec<String> = keymap.keys_of(binding.action).collect();
            for keys in &keys {
                let presses = parse_keys(&keys.replace("a-z", "a")).unwrap();
                assert_eq!(
                    keymap.find(&presses),
                    KeyMatch::Action(binding.action),
                    "{preset:?} {keys}"
                );
            }
            assert!(
                !keys.is_empty() && listed.starts_with(&keys.join("  ")),
                "{preset:?}: {listed}"
            );
            assert!(
                listed.contains(&name) && listed.ends_with(binding.doc),
                "{preset:?}: {listed}"
            );
            let pressed: Vec<String> = keys.iter().map(|keys| keys.replace(' ', "")).collect();
            let pressed = pressed.join("  ");
            let is_found = found(&name).iter().any(|line| match line {
                HelpLine::Found {
                    keys: listed,
                    doc,
                    action,
                } => *action == name && *doc == binding.doc && *listed == pressed,
                HelpLine::Heading(_) | HelpLine::Cells(_) => false,
            });
            assert!(is_found, "{preset:?}: the help lacks {name}");
        }
    }
}

#[test]
fn the_program_lists_the_keys_of_the_preset() {
    for (word, preset) in [
        ("default", Preset::Default),
        ("less", Preset::Less),
        ("vim", Preset::Vim),
    ] {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("tv");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(
            folder.join("config.toml"),
            format!("[keys]\npreset = \"{word}\"\n"),
        )
        .unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_tv"));
        let output = program
            .arg("keys")
            .env("XDG_CONFIG_HOME", home.path())
            .output()
            .unwrap();
        let written = String::from_utf8(output.stdout).unwrap();
        assert_eq!(written, Keymap::new(preset, &[]).0.listing(), "{word}");
    }
}

#[test]
fn no_journey_arrives_without_its_key() {
    let walked = |walk: fn(&Key)| {
        let key = Key {
            keys: IDLE.to_owned(),
            preset: Preset::Default,
        };
        catch_unwind(move || walk(&key)).is_ok()
    };
    let hollow: Vec<&str> = journeys()
        .filter(|(_, walk)| walked(*walk))
        .map(|(name, _)| *name)
        .collect();
    assert!(
        hollow.is_empty(),
        "these journeys assert nothing that their keys do: {hollow:?}"
    );
}
