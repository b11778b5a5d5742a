//! Journeys of a user through the viewer, key by key, with assertions on the screen.

use std::path::Path;

use proptest::prelude::{Strategy, any, prop_oneof, proptest};
use proptest::sample::select;
use tv::app::effect::Effect;
use tv::app::input::bindings::BINDINGS;
use tv::app::input::keys::Press;
use tv::app::mode::Mode as KeyMode;
use tv::app::text::viewport::Focus;
use tv::app::update::Event;
use tv::model::body::Tree;
use tv::model::edit::{BatchMode, Edit, Feed, LinkState, Stage as Stretch};
use tv::model::entry::Break;
use tv::model::record::FileId;
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::tool::{ToolKind, Verdict};
use tv::render::theme::Theme;

use crate::made::{answer, boats, call, calls, lines, prompt, result, rule, talk};
use crate::stage::{Stage, demo};

// === following ===

#[test]
fn a_paused_window_stays_and_the_pill_counts() {
    let mut stage = boats();
    assert!(
        stage.app.reader.text.view.follows(),
        "a session opens at its end and follows"
    );
    talk(&mut stage, 0, 30);
    stage.press("k k k");
    let before = stage.window();
    talk(&mut stage, 30, 500);
    let after = stage.window();
    let kept = before.len().min(after.len());
    assert!(kept + 1 >= before.len(), "the pill takes one line at most");
    assert_eq!(
        before[..kept],
        after[..],
        "500 entries below do not move the window"
    );
}

#[test]
fn the_pill_goes_when_what_is_new_is_seen() {
    let mut stage = boats();
    talk(&mut stage, 0, 30);
    stage.feed(Feed::CaughtUp);
    stage.press("b");
    talk(&mut stage, 30, 500);
    assert!(
        stage.picture().contains("500 new below"),
        "{}",
        stage.picture()
    );
    stage.press("G");
    assert!(stage.app.reader.text.view.follows(), "G follows again");
    assert!(
        !stage.picture().contains("new below"),
        "at the end nothing is below"
    );
    talk(&mut stage, 600, 1);
    assert!(
        stage
            .window()
            .last()
            .is_some_and(|row| row.2.contains("sentence 600") || row.2.is_empty())
    );
    stage.press("F");
    assert!(!stage.app.reader.text.view.follows(), "F stops following");
    talk(&mut stage, 601, 3);
    assert!(stage.picture().contains("3 new below"));
    for _ in 0..20 {
        stage.press("ctrl-e");
    }
    assert!(
        !stage.picture().contains("new below"),
        "scrolled into sight is seen:\n{}",
        stage.picture()
    );
    assert_eq!(
        stage.window().len(),
        21,
        "the line of the pill is filled again"
    );
    stage.press("F");
    assert!(stage.app.reader.text.view.follows(), "F follows again");
}

#[test]
fn what_is_only_read_now_is_not_new() {
    let mut stage = boats();
    talk(&mut stage, 0, 30);
    stage.press("b");
    talk(&mut stage, 30, 500);
    stage.feed(Feed::CaughtUp);
    assert!(
        !stage.picture().contains("new below"),
        "{}",
        stage.picture()
    );
    talk(&mut stage, 600, 2);
    assert!(
        stage.picture().contains("2 new below"),
        "{}",
        stage.picture()
    );
}

#[test]
fn text_that_joins_the_last_entry_below_the_window_is_new() {
    let mut stage = boats();
    talk(&mut stage, 0, 30);
    stage.feed(Feed::CaughtUp);
    let story = |count: usize| answer("story", &lines(count, |n| format!("chapter {n}\n")));
    stage.add([story(2)]);
    stage.press("F");
    stage.add([story(2)]);
    assert!(
        !stage.picture().contains("new below"),
        "nothing has joined it"
    );
    stage.add([story(3)]);
    assert!(
        stage.picture().contains("1 new below"),
        "{}",
        stage.picture()
    );
    stage.add([story(9)]);
    assert!(
        stage.picture().contains("1 new below"),
        "it is one entry: {}",
        stage.picture()
    );
    talk(&mut stage, 30, 2);
    assert!(
        stage.picture().contains("2 new below"),
        "entries below it: {}",
        stage.picture()
    );
    stage.press("G");
    assert!(!stage.picture().contains("new below"), "all of it is seen");
    stage.press("F");
    stage.add([answer("a31", "nothing")]);
    assert!(
        stage.picture().contains("1 new below"),
        "{}",
        stage.picture()
    );
    // Also what joins the first time that the session is known as a whole.
    let mut stage = boats();
    let told = [answer("early", "one"), story(40)];
    stage.add_as(BatchMode::Replace, Stretch::Whole, told);
    stage.feed(Feed::CaughtUp);
    stage.press("F");
    stage.add([story(60)]);
    assert!(
        stage.picture().contains("1 new below"),
        "{}",
        stage.picture()
    );
}

// === jumps ===

#[test]
fn from_landmark_to_landmark() {
    let mut stage = boats();
    stage.press("g");
    let mut goes = |keys: &str, to: &str| {
        stage.press(keys);
        let shown = stage.window();
        let at = stage
            .line_of_focus()
            .unwrap_or_else(|| panic!("{keys}: the focus is in sight"));
        assert!(
            shown[at..].iter().take(2).any(|row| row.2.contains(to)),
            "{keys} goes to {to}: {:?}",
            &shown[at..]
        );
    };
    goes("}", "what do they carry");
    goes("}", "thank you");
    goes("{", "what do they carry");
    goes("e", "ls lantern");
    goes("[ t", "ls hold");
    goes("] k", "ls hold");
    goes("[ k", "herring");
    goes("] t ] t", "ls lantern");
    goes("] s", "ask the mate");
    goes("] m", "Herring, ninety");
    goes("' '", "ask the mate");
    goes("E", "ls lantern");
    stage.press("E");
    assert!(
        stage.status().contains("no failure before this"),
        "{}",
        stage.status()
    );
    stage.press("] c");
    assert!(
        stage.status().contains("no compaction after this"),
        "{}",
        stage.status()
    );
}

#[test]
fn keys_in_one_burst_lead_where_they_lead_one_by_one() {
    for keys in ["g } }", "g e", "G { {", "G E E", "g m ] t"] {
        let (mut slow, mut fast) = (boats(), boats());
        slow.press(keys);
        fast.burst(keys);
        assert_eq!(
            fast.app.reader.text.view.focus, slow.app.reader.text.view.focus,
            "{keys}"
        );
    }
}

#[test]
fn keys_right_behind_that_of_a_view_are_for_its_rows() {
    for keys in ["3 +", "2 +", "! j", "7 j j", "B j", "6 j", "5 k"] {
        let open = || Stage::open(&demo(), (120, 40), Theme::dark());
        let (mut slow, mut fast) = (open(), open());
        slow.press(keys);
        fast.burst(keys);
        fast.arrange();
        assert_eq!(fast.picture(), slow.picture(), "{keys}");
    }
}

#[test]
fn a_chord_can_be_given_up() {
    let mut stage = boats();
    stage.press("g");
    let before = stage.window();
    stage.press("]");
    assert!(
        stage.picture().contains("next tool call"),
        "the keys that can follow are shown"
    );
    stage.press("esc t");
    assert!(
        !stage.app.reader.text.shows.thinking,
        "after esc, t is t again"
    );
    stage.press("t 7 esc j");
    assert_eq!(
        stage.window(),
        before,
        "esc takes the count back, j moves the focus only"
    );
}

#[test]
fn pairs_and_strays() {
    let mut stage = boats();
    stage.press("g ] t %");
    assert!(
        stage.status().contains("part of this item"),
        "all of it is in sight: {}",
        stage.status()
    );
    stage.press("l %");
    assert!(
        stage.window().iter().any(|row| row.2.contains("crate 90")),
        "% goes to the end of a long result"
    );
    stage.press("%");
    assert!(
        stage.window().iter().any(|row| row.2.contains("ls hold")),
        "and back to the call"
    );
    stage.press("g %");
    assert!(
        stage.status().contains("neither a call nor a result"),
        "{}",
        stage.status()
    );
    stage.add([result("c1", "a second answer", Verdict::Done).again()]);
    stage.press("G %");
    assert!(
        stage.focused().contains("ls hold"),
        "a second result leads to its call: {}",
        stage.focused()
    );
    stage.press("%");
    assert!(
        stage.focused().contains("second result"),
        "and the call to it: {}",
        stage.focused()
    );
    stage.add([call("c9", "sleep")]);
    stage.press("G %");
    assert!(stage.status().contains("no result"), "{}", stage.status());
    stage.press("g ] o");
    assert!(stage.focused().contains("sleep"), "]o finds the open call");
}

/// A result whose call is not there, of a tool that is named or not.
fn stray(call: &str, tool: Option<&str>) -> Edit {
    let Edit::Result {
        call,
        mut result,
        lane,
    } = result(call, "lost and found", Verdict::Done)
    else {
        panic!("a result");
    };
    result.tool = tool.map(Text::from);
    Edit::Result { call, result, lane }
}

#[test]
fn a_stray_leads_to_what_is_nearest_and_says_what_that_is() {
    let ask = |before: Vec<Edit>, stray: Edit, after: Vec<Edit>| {
        let mut stage = Stage::made((120, 40));
        stage.add([prompt("p1", "look around")]);
        stage.add(before);
        stage.add([stray]);
        let at = stage.app.reader.session.transcript.order().last().copied();
        stage.add(after);
        stage.app.reader.text.view.focus = at.map(|entry| Focus { entry, block: 0 });
        stage.press("k j");
        stage.app.reader.text.view.focus = at.map(|entry| Focus { entry, block: 0 });
        stage.press("%");
        (stage.focused_key(), stage.status())
    };
    let calls = || {
        vec![
            calls("c1", 1, "read", ToolKind::Read, "a.rs"),
            call("c2", "ls"),
        ]
    };
    let (key, status) = ask(calls(), stray("x9", Some("read")), Vec::new());
    assert!(
        key == "c1" && status.contains("no call has the id x9; nearest is this read call"),
        "{key} {status}"
    );
    let (key, status) = ask(calls(), stray("x9", None), Vec::new());
    assert!(
        key == "c2" && status.contains("nearest is this call without a result"),
        "{key} {status}"
    );
    let compacted = Break::compaction("");
    let compacted = rule("k1", 2, compacted);
    let (key, status) = ask(
        [calls(), vec![compacted]].concat(),
        stray("x9", Some("read")),
        Vec::new(),
    );
    assert!(
        key == "k1" && status.contains("the history was compacted here"),
        "{key} {status}"
    );
    let (key, status) = ask(Vec::new(), stray("x9", Some("read")), calls());
    assert!(
        key == "c1" && status.contains("nearest is this read call"),
        "behind it: {key} {status}"
    );
    let (key, status) = ask(calls(), stray("x9", Some("grep")), Vec::new());
    assert!(
        status.contains("no call has the id x9; nothing near it fits"),
        "{key} {status}"
    );
}

trait Again {
    fn again(self) -> Self;
}

impl Again for Edit {
    /// The same result from another record.
    fn again(self) -> Self {
        let Self::Result {
            call,
            mut result,
            lane,
        } = self
        else {
            return self;
        };
        result.key = Text::from("another record");
        Self::Result { call, result, lane }
    }
}

// === detail ===

#[test]
fn folds_keep_the_focused_item_on_its_line() {
    let mut stage = boats();
    stage.press("g ] t");
    let line = stage.line_of_focus();
    for keys in ["z a", "z a", "z a", "l", "l", "h", "h", "enter"] {
        stage.press(keys);
        assert!(
            stage.focused().contains("ls hold"),
            "{keys} keeps the focus: {}",
            stage.focused()
        );
        assert_eq!(stage.line_of_focus(), line, "{keys} keeps the line");
    }
}

#[test]
fn the_key_that_opens_closes_again() {
    let mut stage = boats();
    for (to, item) in [
        ("g ] t", "c1"),
        ("g ] s", "c3"),
        ("g ] k", "t2"),
        ("g }", "p1"),
    ] {
        for level in ["z 2", "z 3"] {
            stage.press(level).press(to);
            let before = stage.window();
            stage.press("enter enter");
            assert_eq!(
                stage.window(),
                before,
                "{item} at {level}: {}",
                stage.picture()
            );
        }
    }
    stage.press("z 3 g ] t");
    let before = stage.window();
    stage.press("enter");
    assert_ne!(stage.window(), before, "the rest of the crates");
    stage.press("h");
    assert_eq!(stage.window(), before, "h does the same as ever");
}

#[test]
fn a_branch_that_enter_unfolded_is_folded_by_it() {
    let mut stage = Stage::open(
        &crate::stage::fixture("pi/branches.jsonl"),
        (80, 24),
        Theme::dark(),
    );
    stage.press("g ] b z c");
    let before = stage.window();
    stage.press("enter");
    assert_ne!(stage.window(), before, "{}", stage.picture());
    stage.press("enter");
    assert_eq!(stage.window(), before, "{}", stage.picture());
}

#[test]
fn a_sub_agent_opens_and_closes_in_place() {
    let mut stage = boats();
    stage.press("g ] s");
    let line = stage.line_of_focus();
    let shows_inside = |stage: &Stage| {
        stage
            .window()
            .iter()
            .any(|row| row.2.contains("what is in the hold"))
    };
    assert!(!shows_inside(&stage), "closed at first");
    stage.press("enter");
    assert!(shows_inside(&stage), "enter opens it");
    assert_eq!(stage.line_of_focus(), line, "its call stays where it is");
    stage.press("j j h h");
    assert!(
        stage.focused().contains("ask the mate"),
        "h goes to what holds the item: {}",
        stage.focused()
    );
    stage.press("h");
    assert!(
        !shows_inside(&stage),
        "and h closes it: {}",
        stage.picture()
    );
    assert_eq!(
        stage.line_of_focus(),
        line,
        "and closing it moves nothing above"
    );
}

#[test]
fn levels_keep_the_focused_item_in_sight() {
    let mut stage = boats();
    stage.press("g ] t");
    for keys in ["+", "+", "-", "-", "-", "z 5", "z 4", "z 2", "z 3"] {
        stage.press(keys);
        assert!(
            stage.line_of_focus().is_some(),
            "{keys}: {}",
            stage.picture()
        );
        let focus = stage.app.reader.text.view.focus.unwrap();
        let entry = stage
            .app
            .reader
            .session
            .transcript
            .get(focus.entry)
            .unwrap();
        assert_eq!(entry.key.as_str(), "c1", "{keys} keeps the item");
    }
    stage.press("z 1");
    assert!(
        stage.picture().contains("what do they carry"),
        "only prompts: that of the turn: {}",
        stage.picture()
    );
    let focus = stage.app.reader.text.view.focus.unwrap();
    assert_eq!(
        stage
            .app
            .reader
            .session
            .transcript
            .get(focus.entry)
            .unwrap()
            .key
            .as_str(),
        "p2",
        "the turn's prompt has the focus"
    );
    stage.press("e");
    assert!(
        stage.status().contains("+ shows more"),
        "{}",
        stage.status()
    );
}

#[test]
fn hidden_thinking_loses_the_focus_to_its_neighbour() {
    let mut stage = boats();
    stage.press("g ] k");
    let line = stage.line_of_focus().unwrap();
    stage.press("t");
    assert!(
        stage
            .line_of_focus()
            .is_some_and(|now| now.abs_diff(line) <= 3),
        "{}",
        stage.picture()
    );
    assert!(stage.status().contains("thinking hidden"));
    let before = stage.app.reader.text.view.focus;
    stage.press("j");
    assert_ne!(stage.app.reader.text.view.focus, before, "j still moves");
    stage.press("] k");
    assert!(
        stage.status().contains("thinking is hidden"),
        "{}",
        stage.status()
    );
}

// === search ===

fn type_search(stage: &mut Stage, text: &str) {
    stage.press("/");
    for c in text.chars() {
        let name = if c == ' ' {
            "space".to_owned()
        } else {
            c.to_string()
        };
        stage.press(&name);
    }
}

#[test]
fn search_counts_and_goes_around() {
    let mut stage = boats();
    stage.press("g");
    type_search(&mut stage, "boats");
    stage.press("enter");
    assert!(stage.status().contains("/boats 1/2"), "{}", stage.status());
    stage.press("n");
    assert!(stage.status().contains("2/2"), "{}", stage.status());
    stage.press("n");
    assert!(
        stage.status().contains("goes on at the beginning"),
        "{}",
        stage.status()
    );
    stage.press("N");
    assert!(
        stage.status().contains("goes on at the end"),
        "{}",
        stage.status()
    );
    stage.press("esc n");
    assert!(
        stage.status().contains("nothing is searched for"),
        "{}",
        stage.status()
    );
}

#[test]
fn a_hit_comes_into_sight_whatever_hides_it() {
    let in_sight = |stage: &Stage, words: &str| {
        assert!(
            stage.window().iter().any(|row| row.2.contains(words)),
            "{words}: {}",
            stage.picture()
        );
    };
    let mut stage = boats();
    stage.press("g");
    type_search(&mut stage, "crate 57");
    in_sight(&stage, "crate 57 ");
    stage.press("esc g");
    type_search(&mut stage, "Only the barnacle knows");
    in_sight(&stage, "Only the barnacle knows");
    stage.press("esc g t");
    type_search(&mut stage, "look into the hold");
    in_sight(&stage, "look into the hold");
    stage.press("esc g z 1");
    type_search(&mut stage, "crate 57");
    in_sight(&stage, "crate 57 ");
    stage.press("enter z M");
    assert!(
        !stage.window().iter().any(|row| row.2.contains("crate 57 ")),
        "zM closes all folds"
    );
    stage.press("n");
    in_sight(&stage, "crate 57 ");
}

#[test]
fn giving_a_search_up_restores_the_place() {
    let mut stage = boats();
    talk(&mut stage, 0, 40);
    stage.press("g j j j j j j j j j ctrl-e");
    let before = (stage.window(), stage.app.reader.text.view.focus);
    for text in ["barnacle", "crate 57", "sentence 3", "no such words"] {
        type_search(&mut stage, text);
        stage.press("esc");
        assert_eq!(
            (stage.window(), stage.app.reader.text.view.focus),
            before,
            "after {text}"
        );
    }
    type_search(&mut stage, "crate 57");
    stage.press("ctrl-u");
    assert_eq!(
        (stage.window(), stage.app.reader.text.view.focus),
        before,
        "an empty pattern goes back, too"
    );
    stage.press("esc G");
    type_search(&mut stage, "herring");
    stage.press("esc");
    assert!(
        stage.app.reader.text.view.follows(),
        "who followed follows again"
    );
}

#[test]
fn a_paste_is_searched_for() {
    let mut stage = boats();
    stage.press("g /");
    stage.happen(Event::Paste("ninety\ncrates".to_owned()));
    stage.arrange();
    stage.press("backspace backspace backspace backspace backspace backspace");
    assert!(stage.status().contains("1/1"), "{}", stage.status());
}

#[test]
fn hits_of_new_entries_are_counted() {
    let mut stage = boats();
    stage.press("g");
    type_search(&mut stage, "sentence");
    stage.press("enter");
    assert!(stage.status().contains("no hits"), "{}", stage.status());
    talk(&mut stage, 0, 3);
    assert!(stage.status().contains("3 hits"), "{}", stage.status());
}

// === pop-ups and taking out ===

#[test]
fn the_help_lists_every_binding() {
    let mut stage = Stage::made((100, 200));
    stage.press("?");
    let picture = stage.picture();
    for binding in BINDINGS {
        assert!(
            picture.contains(binding.cell),
            "{} is missing",
            binding.cell
        );
    }
    // Whatever is focused, it is one page of a usual screen.
    stage.press("q").resize(120, 40);
    for view in ["1", "2", "3", "4", "5", "6", "7", "!", "B"] {
        stage.press(view).press("?");
        let head = stage.picture().lines().next().unwrap().to_owned();
        let (_, shown) = head.rsplit_once('\u{2013}').unwrap();
        let (last, all) = shown
            .trim_end_matches([' ', '|'])
            .split_once(" of ")
            .unwrap();
        assert_eq!(last, all, "{view}: {head}");
        stage.press("q");
    }
    stage.press("1").press("?").resize(80, 24);
    stage.press("G j G");
    assert!(
        stage.picture().contains("leave at once"),
        "the end is in sight"
    );
    stage.press("q");
    assert!(
        matches!(stage.app.mode, KeyMode::Normal),
        "q closes the help, not the viewer"
    );
    assert!(stage.asked.is_empty());
    stage.press("q");
    assert!(matches!(stage.asked[..], [Effect::Quit]));
}

#[test]
fn raw_records_pop_up() {
    let mut stage = boats();
    stage.press("g r");
    assert!(matches!(stage.asked[..], [Effect::ShowRecords(_)]));
    let tree = Tree::Map(vec![(
        Text::from("text"),
        Tree::Text(Text::from("count the boats")),
    )]);
    let trees = vec![("line 1".to_owned(), tree)];
    stage.happen(Event::Records {
        title: "raw record".to_owned(),
        trees,
    });
    assert!(stage.picture().contains("count the boats") && stage.picture().contains("raw record"));
    stage.press("esc");
    assert!(stage.picture().contains("you"), "esc closes it");
}

#[test]
fn copies() {
    let mut stage = boats();
    stage.feed(Feed::File {
        id: FileId(0),
        path: Path::new("/home/mira/boats.jsonl").into(),
    });
    stage.press("g ] t ] t");
    let mut copied = |keys: &str| {
        stage.asked.clear();
        stage.press(keys);
        match stage.asked.pop() {
            Some(Effect::Copy(text)) => text,
            other => format!("{other:?} {}", stage.status()),
        }
    };
    assert_eq!(copied("y y"), "ls: no such lantern");
    assert_eq!(copied("y r"), "ls: no such lantern");
    assert_eq!(copied("y c"), "ls lantern");
    assert_eq!(copied("y i"), "c2");
    assert!(copied("y p").starts_with("/home/mira/boats.jsonl:"));
    assert!(copied("y j").starts_with("Some(CopyRecords"));
    assert_eq!(copied("{ y y"), "and what do they carry?");
    assert!(copied("y r").contains("only tool calls have results"));
}

// === what comes from outside ===

#[test]
fn another_size_keeps_the_place() {
    let mut stage = boats();
    talk(&mut stage, 0, 40);
    for _ in 0..12 {
        stage.press("b");
        let focus = stage.app.reader.text.view.focus;
        for size in [(44, 9), (120, 40), (30, 5), (80, 24)] {
            stage.resize(size.0, size.1);
            assert_eq!(stage.app.reader.text.view.focus, focus, "the focus stays");
            assert!(
                stage.line_of_focus().is_some(),
                "and is in sight at {size:?}: {}",
                stage.picture()
            );
        }
    }
}

#[test]
fn a_late_result_does_not_move_what_is_read() {
    let mut stage = boats();
    stage.add([call("c8", "tide")]);
    talk(&mut stage, 0, 6);
    stage.press("k k");
    let (line, focus) = (stage.line_of_focus(), stage.app.reader.text.view.focus);
    stage.add([result(
        "c8",
        &lines(9, |n| format!("wave {n}")),
        Verdict::Done,
    )]);
    assert!(
        stage.picture().contains("wave 9"),
        "the result is shown above: {}",
        stage.picture()
    );
    assert_eq!(
        (stage.line_of_focus(), stage.app.reader.text.view.focus),
        (line, focus),
        "what is read stays"
    );
}

fn whole() -> Vec<Edit> {
    let mut edits = vec![prompt("p0", "before all that")];
    edits.extend((0..60).map(|n| answer(&format!("talk {n}"), &format!("sentence {n}"))));
    edits.push(call("c1", "ls hold"));
    edits.push(result(
        "c1",
        &lines(90, |n| format!("crate {n}")),
        Verdict::Done,
    ));
    edits.extend((60..90).map(|n| answer(&format!("talk {n}"), &format!("sentence {n}"))));
    edits
}

#[test]
fn reading_anew_keeps_place_folds_and_search() {
    let mut stage = Stage::made((80, 24));
    stage.add(whole());
    stage.press("g ] t l");
    type_search(&mut stage, "crate 4");
    stage.press("enter j");
    let before = (
        stage.window().len(),
        stage.line_of_focus(),
        stage.focused(),
        stage.status(),
    );
    stage.add_as(
        BatchMode::ReplaceStart,
        Stretch::Whole,
        whole().into_iter().take(40),
    );
    stage.add_as(
        BatchMode::ReplaceEnd,
        Stretch::Whole,
        whole().into_iter().skip(40),
    );
    let after = (
        stage.window().len(),
        stage.line_of_focus(),
        stage.focused(),
        stage.status(),
    );
    assert_eq!(before, after, "read anew, nothing moves");
}

/// What an agent took back above moves all that stands below to other ids.
#[test]
fn what_is_left_out_above_moves_nothing_and_only_what_is_new_counts() {
    let mut stage = Stage::made((80, 24));
    stage.add(whole());
    stage.feed(Feed::CaughtUp);
    stage.press("g ] t l");
    type_search(&mut stage, "crate 4");
    stage.press("enter j");
    let texts = |stage: &Stage| {
        stage
            .window()
            .into_iter()
            .map(|row| row.2)
            .collect::<Vec<_>>()
    };
    let before = (texts(&stage), stage.line_of_focus(), stage.focused());
    let mut anew = whole();
    anew.remove(3);
    anew.insert(9, answer("between", "not there before"));
    anew.extend([answer("last", "news"), answer("very last", "more news")]);
    stage.add_as(
        BatchMode::ReplaceStart,
        Stretch::Whole,
        anew.iter().take(40).cloned(),
    );
    assert_eq!(
        (texts(&stage), stage.line_of_focus(), stage.focused()),
        before,
        "while it is read"
    );
    stage.add_as(
        BatchMode::ReplaceEnd,
        Stretch::Whole,
        anew.iter().skip(40).cloned(),
    );
    // The line that tells of news takes the last one.
    let after = texts(&stage);
    assert_eq!(after, before.0[..after.len()]);
    assert_eq!(
        (after.len(), stage.line_of_focus(), stage.focused()),
        (before.0.len() - 1, before.1, before.2)
    );
    assert!(
        stage.status().contains("/crate 4 1/11"),
        "{}",
        stage.status()
    );
    assert_eq!(
        stage.app.reader.text.unseen, 3,
        "of what was there before nothing is new"
    );
    stage.add_as(BatchMode::Replace, Stretch::Whole, anew);
    assert_eq!(
        stage.app.reader.text.unseen, 3,
        "nor is anything that was not there the first time"
    );
}

#[test]
fn what_stands_beside_a_row_that_goes_holds_the_window() {
    let mut stage = Stage::made((80, 24));
    stage.add(whole());
    stage.feed(Feed::CaughtUp);
    stage.press("g } ctrl-d ctrl-d k k");
    let before = stage.window();
    let line = stage.line_of_focus().unwrap();
    let gone = stage.focused_key();
    let is_gone = |edit: &Edit| matches!(edit, Edit::Entry(entry) if *entry.key == *gone);
    stage.add_as(
        BatchMode::Replace,
        Stretch::Whole,
        whole().into_iter().filter(|edit| !is_gone(edit)),
    );
    let after = stage.window();
    let held = (0..after.len())
        .filter(|at| after[*at].2 == before[*at].2 && !after[*at].2.is_empty())
        .count();
    assert!(held > 4, "line {line}, {gone}: {before:#?} {after:#?}");
    assert!(!stage.app.reader.text.view.follows());
}

#[test]
fn the_whole_takes_the_place_of_the_preview() {
    let mut stage = Stage::made((80, 24));
    let end: Vec<Edit> = whole().into_iter().skip(55).collect();
    stage.add_as(BatchMode::Append, Stretch::Preview, end);
    stage.feed(Feed::Progress {
        done: 10,
        total: 100,
    });
    stage.arrange();
    assert!(stage.status().contains("reading 10%"), "{}", stage.status());
    stage.press("[ t l j j j j");
    type_search(&mut stage, "sentence");
    stage.press("enter N");
    let before = (stage.window(), stage.focused());
    stage.add_as(BatchMode::Append, Stretch::Whole, whole());
    let texts = |window: &[(u32, usize, String)]| {
        window.iter().map(|row| row.2.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        texts(&stage.window()),
        texts(&before.0),
        "nothing is seen of the reading"
    );
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    assert_eq!(
        texts(&stage.window()),
        texts(&before.0),
        "the swap moves nothing"
    );
    assert_eq!(stage.focused(), before.1);
    assert!(
        stage.status().contains("/90"),
        "the search covers the whole: {}",
        stage.status()
    );
    assert!(!stage.status().contains("reading"));
}

#[test]
fn a_retired_entry_gives_way_to_the_one_before() {
    let mut stage = Stage::made((80, 24));
    stage.add(whole());
    stage.press("g ] t k k");
    let before = stage.line_of_focus();
    let focus = stage.app.reader.text.view.focus.unwrap();
    let key = stage
        .app
        .reader
        .session
        .transcript
        .get(focus.entry)
        .unwrap()
        .key
        .clone();
    assert_eq!(key.as_str(), "talk 58");
    stage.add([Edit::Retire(key)]);
    assert!(
        stage
            .window()
            .iter()
            .any(|row| row.2.contains("sentence 57")),
        "{}",
        stage.picture()
    );
    let focus = stage.app.reader.text.view.focus.unwrap();
    assert_eq!(
        stage
            .app
            .reader
            .session
            .transcript
            .get(focus.entry)
            .unwrap()
            .key
            .as_str(),
        "talk 57"
    );
    assert_eq!(stage.line_of_focus(), before);
}

#[test]
fn an_empty_session_and_a_fault_say_so() {
    let mut stage = Stage::made((80, 24));
    assert!(stage.picture().contains("reading"), "nothing is known yet");
    stage.feed(Feed::CaughtUp);
    let opened = tv::model::edit::OpenedSession {
        format: "pi",
        confidence: "certain",
        reason: Text::from("a session line"),
        path: "/home/mira/empty.jsonl".into(),
        resumes: &[],
        written: None,
        joined: Vec::new(),
    };
    stage.feed(Feed::Opened(Box::new(opened)));
    stage.arrange();
    assert!(
        stage.picture().contains("nothing here yet"),
        "{}",
        stage.picture()
    );
    for binding in BINDINGS {
        stage.press(binding.keys[0]).press("esc");
    }
    stage.feed(Feed::Link(LinkState::Deleted));
    stage.arrange();
    assert!(
        stage.picture().contains("the file is gone"),
        "{}",
        stage.picture()
    );
    stage.feed(Feed::Fault(Text::from("the disk is on fire")));
    stage.arrange();
    assert!(
        stage.picture().contains("the disk is on fire"),
        "{}",
        stage.picture()
    );
    stage.add([prompt("p1", "still there")]);
    assert!(
        stage.picture().contains("reading stopped"),
        "{}",
        stage.picture()
    );
}

// === clocks ===

#[test]
fn clocks_tick_only_while_the_agent_is_at_work() {
    let mut stage = Stage::made((80, 24));
    let start = 1_700_000_000_000;
    stage.add([prompt("p1", "wait"), call("c1", "sleep 1000")]);
    stage.happen(Event::Tick {
        now: Timestamp(start + 42_000),
    });
    stage.happen(Event::Written(Timestamp(start)));
    stage.arrange();
    assert!(
        stage.picture().contains("running 42s"),
        "{}",
        stage.picture()
    );
    assert!(stage.app.reader.ticks(), "a running call has a second hand");
    stage.happen(Event::Tick {
        now: Timestamp(start + 86_400_000),
    });
    stage.arrange();
    assert!(
        stage.picture().contains("no result"),
        "a day later nothing runs: {}",
        stage.picture()
    );
    assert!(!stage.picture().contains("running"), "{}", stage.picture());
    assert!(!stage.app.reader.ticks(), "and nothing ticks");
}

// === anything ===

fn keys() -> impl Strategy<Value = Vec<String>> {
    let bound = || {
        let all = BINDINGS
            .iter()
            .flat_map(|binding| binding.keys.iter().copied());
        select(
            all.filter(|keys| !["q", "Q"].contains(keys))
                .collect::<Vec<_>>(),
        )
    };
    let key = prop_oneof![
        8 => bound().prop_map(str::to_owned),
        1 => select(vec!["/ t e s t enter", "/ ( enter", "/ x esc", "esc", "5", "z", "]"]).prop_map(str::to_owned),
    ];
    proptest::collection::vec(key, 1..40)
}

proptest! {
    #![proptest_config(crate::fixtures::cases(24))]

    /// Whatever is pressed, the window is full and no key lays the whole session out.
    #[test]
    fn any_keys_leave_a_full_window(keys in keys(), wide in any::<bool>()) {
        let size = if wide { (120, 40) } else { (44, 14) };
        let mut stage = Stage::open(&demo(), size, Theme::dark());
        for key in &keys {
            for press in key.split(' ') {
                stage.app.reader.text.cache.laid_out = 0;
                stage.press(press);
                let laid_out = stage.app.reader.text.cache.laid_out;
                assert!(laid_out <= 480, "{press} of {keys:?} laid {laid_out} entries out");
            }
            let height = usize::from(stage.app.reader.frame().lines());
            let is_short = stage.app.reader.text.level.number() == 1 || stage.app.reader.text.find.filter.is_some();
            assert!(is_short || stage.app.reader.text.view.lines.len() == height, "after {key} of {keys:?}");
            assert!(Press::parse("j").is_some() && !stage.picture().is_empty());
        }
    }
}
