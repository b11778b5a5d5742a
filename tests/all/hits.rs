//! Tests of hits: the current hit, their list, the folds that they open, and invalid patterns.

use ratatui::style::Modifier;
use tv::app::input::action::View;
use tv::app::mode::Mode as KeyMode;
use tv::app::text::viewport::Focus;
use tv::model::entry::Role;
use tv::model::text::Text;
use tv::model::tool::{ToolKind, Verdict};
use tv::render::row::{Fold, Level};
use tv::render::theme::Theme;

use crate::made::{answer, boats, calls, harbour, lines, prompt, result_at, says};
use crate::stage::{Stage, demo};

fn session() -> Stage {
    let mut stage = Stage::made((100, 40));
    stage.add(harbour());
    stage.press("g");
    stage
}

fn search(stage: &mut Stage, typed: &str) {
    stage.press("/").type_in(typed).press("enter");
}

/// Of each line of the window with hits: whether it has the mark of the current one, and whether its hits are underlined.
fn marked(stage: &Stage, word: &str) -> Vec<(bool, bool)> {
    let buffer = stage.buffer();
    let mut found = Vec::new();
    for y in 0..buffer.area.height - 2 {
        let line: String = (0..buffer.area.width)
            .map(|x| buffer[(x, y)].symbol())
            .collect();
        let Some(at) = line.find(word) else { continue };
        let x = u16::try_from(line[..at].chars().count()).unwrap();
        let is_underlined = buffer[(x, y)].modifier.contains(Modifier::UNDERLINED);
        found.push((buffer[(0, y)].symbol() == "▪", is_underlined));
    }
    found
}

#[test]
fn the_current_hit_stands_out() {
    for theme in [Theme::dark(), Theme::light(), Theme::mono()] {
        let mut stage = Stage::made((80, 24));
        stage.app.reader.screen.theme = theme;
        stage.add([
            prompt("p1", "count"),
            answer("a1", &lines(3, |n| format!("crate {n} of herring\n"))),
        ]);
        stage.press("g");
        search(&mut stage, "herring");
        for current in 0..3 {
            let expected: Vec<(bool, bool)> =
                (0..3).map(|at| (at == current, at == current)).collect();
            assert_eq!(marked(&stage, "herring"), expected, "{}", stage.picture());
            stage.press("n");
        }
    }
}

#[test]
fn a_hit_stands_out_over_all_of_its_styles() {
    let mut stage = Stage::made((80, 24));
    stage.add([
        prompt("p1", "count"),
        answer("a1", "a her**ri**ng in the net"),
    ]);
    stage.press("g");
    search(&mut stage, "her.*ng in");
    for rest in [
        "herring", "erring", "rring", "ring", "ing", "ng in", "g in", "in the",
    ] {
        assert_eq!(
            marked(&stage, rest),
            [(true, true)],
            "{rest}: {}",
            stage.picture()
        );
    }
    assert_eq!(marked(&stage, "the net"), [(true, false)]);
}

#[test]
fn the_status_counts_hits() {
    let mut stage = session();
    search(&mut stage, "herring");
    assert!(
        stage.status().contains("/herring 1/5"),
        "{}",
        stage.status()
    );
    stage.press("n n");
    assert!(
        stage.status().contains("/herring 3/5"),
        "{}",
        stage.status()
    );
}

#[test]
fn what_is_no_pattern_says_so_and_is_taken_literally() {
    let mut stage = Stage::made((100, 24));
    stage.add([
        prompt("p1", "call f(x and g(x)"),
        answer("a1", "f(x was never closed"),
    ]);
    stage.press("g /").type_in("u:f(x");
    let status = stage.status();
    assert!(
        status.contains("/u:f(x  at 4: unclosed group"),
        "the place is that in the line: {status}"
    );
    assert!(
        status.contains("1/1 in prompts taken literally"),
        "{status}"
    );
    stage.type_in(")");
    assert!(!stage.status().contains(" at "), "{}", stage.status());
    stage.press("backspace enter");
    assert!(
        stage
            .status()
            .contains("no regular expression (unclosed group at 4): taken literally"),
        "{}",
        stage.status()
    );
    stage.press("esc g");
    search(&mut stage, "f(x");
    stage.press("n").wait(60_000);
    assert!(
        stage.status().contains("/f(x 2/2 taken literally"),
        "{}",
        stage.status()
    );
    for (typed, at, words) in [
        ("a**", 1, ""),
        ("a{9999999}", 1, ""),
        ("x[z-a]", 3, "range"),
        ("é(", 2, "unclosed"),
    ] {
        stage.press("esc /").type_in(typed);
        let status = stage.status();
        let is_pattern = !status.contains(" at ");
        assert!(is_pattern || status.contains(words), "{typed}: {status}");
        assert!(
            is_pattern || status.contains(&format!(" at {at}:")),
            "{typed}: {status}"
        );
        stage.press("esc");
    }
}

#[test]
fn esc_folds_again_what_the_search_opened() {
    let mut stage = boats();
    stage.press("g t");
    let (open, shut) = (Text::from("c1"), Text::from("c2"));
    search(&mut stage, "crate 45 ");
    assert_eq!(
        stage.app.reader.text.folds.get(&open, 0),
        Fold::Open,
        "{}",
        stage.picture()
    );
    assert!(stage.picture().contains("crate 45 "));
    stage.press("esc");
    assert_eq!(stage.app.reader.text.folds.get(&open, 0), Fold::ByLevel);
    assert!(
        !stage.picture().contains("crate 45 "),
        "{}",
        stage.picture()
    );
    assert_eq!(stage.focused_key(), "c1", "the reader stays at the item");
    // A sub-agent, hidden thinking, a level.
    search(&mut stage, "what is in the hold");
    assert!(
        stage.picture().contains("what is in the hold"),
        "{}",
        stage.picture()
    );
    stage.press("esc");
    assert!(
        !stage.picture().contains("what is in the hold"),
        "{}",
        stage.picture()
    );
    assert_eq!(stage.focused_key(), "c3", "the call stands for it");
    search(&mut stage, "look into the hold");
    assert!(stage.app.reader.text.shows.thinking);
    stage.press("esc");
    assert!(!stage.app.reader.text.shows.thinking);
    stage.press("z 1");
    search(&mut stage, "barnacle");
    assert_eq!(stage.app.reader.text.level, Level::Outline);
    stage.press("esc");
    assert_eq!(stage.app.reader.text.level, Level::Prompts);
    // What the reader did since stays.
    stage.press("z 3 t");
    search(&mut stage, "crate 45 ");
    stage.press("] t");
    assert_eq!(stage.focused_key(), "c2");
    stage.press("l [ t h esc");
    assert_eq!(stage.app.reader.text.folds.get(&open, 0), Fold::ByLevel);
    assert_eq!(stage.app.reader.text.folds.get(&shut, 0), Fold::Open);
}

#[test]
fn a_search_that_is_given_up_leaves_nothing_open() {
    let mut stage = boats();
    stage.press("g t");
    let before = stage.window();
    stage.press("/").type_in("look into the hold");
    assert!(stage.app.reader.text.shows.thinking, "{}", stage.picture());
    stage.press("esc");
    assert_eq!(stage.window(), before);
    stage.press("/").type_in("is in the hold");
    assert!(stage.picture().contains("what is in the hold"));
    stage.press("ctrl-u").type_in("boats");
    assert!(
        !stage.picture().contains("what is in the hold"),
        "{}",
        stage.picture()
    );
}

#[test]
fn hits_are_listed_with_their_lines() {
    let mut stage = session();
    stage.press("\\");
    assert!(
        stage.picture().contains("Nothing is searched for"),
        "{}",
        stage.picture()
    );
    // Without a search the key asks for one; given up, the list is closed as usual.
    assert!(
        !matches!(stage.app.mode, KeyMode::Normal),
        "a search is typed"
    );
    stage.press("esc \\");
    assert_eq!(stage.app.reader.views.open(), None);
    search(&mut stage, "herring");
    stage.press("n \\");
    assert_eq!(stage.app.reader.views.open(), Some(View::Hits));
    insta::assert_snapshot!("hits", stage.picture());
    stage.press("j");
    assert_eq!(
        stage.focused_key(),
        "a3",
        "the text goes along: {}",
        stage.picture()
    );
    stage.press("g j enter");
    assert_eq!(stage.app.reader.views.open(), None);
    assert_eq!(stage.focused_key(), "a2");
    assert!(
        stage.picture().contains("crate 20 of herring"),
        "{}",
        stage.picture()
    );
    assert!(
        stage.status().contains("/herring 2/5"),
        "{}",
        stage.status()
    );
    stage.press("n");
    assert!(
        stage.status().contains("/herring 3/5"),
        "it goes on from there: {}",
        stage.status()
    );
    stage.press("\\ n");
    assert_eq!(
        stage.focused_key(),
        "a3",
        "n is the next one in the list, too"
    );
    stage.press("q :").type_in("hits").press("enter");
    assert_eq!(stage.app.reader.views.open(), Some(View::Hits));
}

#[test]
fn the_list_of_hits_keeps_up() {
    let mut stage = session();
    search(&mut stage, "herring");
    stage.press("\\ G");
    let chosen = stage.focused_key();
    stage.add([answer("z1", "more herring"), answer("z2", "no more")]);
    assert!(
        stage.picture().contains("6 hits in 4 items"),
        "{}",
        stage.picture()
    );
    assert!(
        stage.picture().contains("more herring"),
        "{}",
        stage.picture()
    );
    assert_eq!(stage.focused_key(), chosen);
    stage.press("/").type_in("tide").press("enter");
    assert!(
        stage.picture().contains("1 hit in 1 item"),
        "a search from the list: {}",
        stage.picture()
    );
    assert!(matches!(stage.app.mode, KeyMode::Normal));
    stage.press("esc esc");
    assert_eq!(stage.app.reader.views.open(), None);
}

#[test]
fn texts_on_disk_are_read_for_the_list() {
    let mut here = Stage::open(&demo(), (100, 30), Theme::dark());
    let mut away = Stage::open_from_disk(&demo(), (100, 30));
    for stage in [&mut here, &mut away] {
        stage.press("g");
        search(stage, "the");
        stage.press("\\ g");
    }
    let list = |stage: &Stage| {
        (1..stage.app.reader.screen.size.1 - 2)
            .map(|y| stage.line(y))
            .collect::<Vec<_>>()
    };
    assert!(
        list(&here).len() > 10 && !away.picture().contains("being read"),
        "{}",
        away.picture()
    );
    assert_eq!(list(&here), list(&away));
}

#[test]
fn every_listed_line_has_the_hit() {
    let mut stage = session();
    for word in ["boats", "herring", "lantern", "hold", "crate 6", "harbour"] {
        search(&mut stage, word);
        stage.press("\\ g");
        let hits = stage.app.reader.views.sheet.rows.clone();
        assert!(!hits.is_empty(), "{word}");
        for row in hits {
            assert!(
                row.line.to_string().to_lowercase().contains(word),
                "{word}: {}",
                row.line
            );
        }
        stage.press("q esc");
    }
    let at: Option<Focus> = stage.app.reader.text.view.focus;
    assert!(at.is_some());
}

#[test]
fn a_word_leads_back_to_where_it_is_from() {
    let mut stage = Stage::made((120, 40));
    stage.add([
        says("s1", 0, Role::System, "Name the harbour."),
        prompt("p1", "mend the boat"),
        calls("c1", 1, "bash", ToolKind::Run, "ls"),
        result_at("c1", 2, "src/watch.rs\nsrc/hull.rs", Verdict::Done),
        says("a1", 3, Role::Assistant, "I will read `src/watch.rs` now."),
        calls("c2", 4, "read", ToolKind::Read, "src/watch.rs"),
        result_at("c2", 5, "fn keel() {}", Verdict::Done),
        says("p2", 6, Role::User, "and the keel of src/watch.rs?"),
    ]);
    stage.press("G [ *");
    assert_eq!(stage.focused_key(), "c1");
    let status = stage.status();
    assert!(
        status.contains(
            "`src/watch.rs` first seen in the result of `bash ls` at turn 1, 3 entries before"
        ),
        "{status}"
    );
    for (word, key, words) in [
        (
            "keel",
            "c2",
            "first seen in the file that `read src/watch.rs` read",
        ),
        ("boat", "p1", "first seen in your prompt"),
        ("harbour", "s1", "first seen in the system prompt"),
        ("now", "a1", "first written by the model, in its answer"),
    ] {
        stage
            .press("G :")
            .type_in(&format!("from {word}"))
            .press("enter");
        assert_eq!(stage.focused_key(), key, "{word}");
        assert!(stage.status().contains(words), "{}", stage.status());
    }
    stage.press(":").type_in("from anchor").press("enter");
    assert!(
        stage.status().contains("has not seen it"),
        "{}",
        stage.status()
    );
}
