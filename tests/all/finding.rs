//! Tests of filters, scopes, hits within an item, mentions, ids, marks and the jump list.

use std::collections::{BTreeSet, HashSet, VecDeque};

use proptest::prelude::{Strategy, prop_oneof, proptest};
use proptest::sample::select;
use tv::app::effect::Effect;
use tv::app::input::keys::{Code, Press};
use tv::app::mode::Mode as KeyMode;
use tv::app::text::jumps;
use tv::app::text::viewport::{Focus, WindowLine};
use tv::app::update::Event;
use tv::model::edit::{BatchMode, Edit, Feed, Stage as Stretch};
use tv::model::entry::{EntryId, Role};
use tv::model::text::Text;
use tv::model::tool::{ToolKind, Verdict};
use tv::render::row::Fold;
use tv::render::theme::Theme;
use tv::session::search::{Job, hits_of};

use crate::fixtures;
use crate::made::{calls, harbour, result_at, says};
use crate::stage::{Stage, demo};

fn session() -> Stage {
    let mut stage = Stage::made((100, 40));
    stage.add(harbour());
    stage.press("g");
    stage
}

fn filter(stage: &mut Stage, typed: &str) {
    stage.press("&").type_in(typed).press("enter");
    assert!(
        matches!(stage.app.mode, KeyMode::Normal),
        "{typed} can be read"
    );
}

/// Keys of the shown entries, each with the blocks that have rows.
fn shown(stage: &Stage) -> Vec<String> {
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
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
        let block = line.row().unwrap().block;
        match found.last_mut().filter(|(known, _)| *known == key) {
            Some((_, blocks)) if blocks.last() == Some(&block) => {}
            Some((_, blocks)) => blocks.push(block),
            None => found.push((key, vec![block])),
        }
    }
    found
        .into_iter()
        .map(|(key, blocks)| {
            format!(
                "{key}:{}",
                blocks.iter().map(ToString::to_string).collect::<String>()
            )
        })
        .collect()
}

// === filters ===

#[test]
fn filters_show_the_blocks_that_match() {
    for (typed, expected) in [
        ("err", &["c3:0", "m2:0", "w1:0"][..]),
        ("tool:bash", &["a2:2", "c3:0", "m2:0"]),
        ("tool:read", &["a2:3"]),
        ("tool:* -err", &["a2:23", "c4:0"]),
        ("cost>.1", &["a2:0123"]),
        ("tok<1k", &["a1:0"]),
        ("dur>10s", &["a2:2"]),
        ("since:10s", &["c4:0", "m1:0", "m2:0", "w1:0", "a3:0"]),
        ("before:89s", &["p1:0", "a1:0"]),
        // The task of a sub-agent is no word of the user.
        ("role:user", &["p1:0", "p2:0"]),
        ("role:note", &["w1:0"]),
        ("lane:mate", &["m1:0", "m2:0"]),
        ("lane:main err", &["c3:0", "w1:0"]),
        ("id:c4", &["c4:0", "m1:0", "m2:0"]),
        ("file:harbour", &["a2:3"]),
        ("model:opus or model:GPT", &["a1:0"]),
        ("model:opus or model:gpt", &["a1:0", "a2:0123"]),
        ("herring", &["a2:02", "a3:0"]),
        ("Herring", &["a3:0"]),
        ("\"crate 40 of\"", &["a2:2"]),
        ("/boats|mate/", &["p1:0", "a1:0", "c4:0"]),
        ("role:bot -tool:* hold", &["a2:1"]),
    ] {
        let mut stage = session();
        filter(&mut stage, typed);
        stage.press("g");
        assert_eq!(shown(&stage), expected, "{typed}\n{}", stage.picture());
    }
}

#[test]
fn an_empty_filter_shows_all_again() {
    let mut stage = session();
    let before = stage.window();
    filter(&mut stage, "err");
    let blocks: usize = stage
        .app
        .reader
        .session
        .transcript
        .entries()
        .map(|entry| entry.blocks.len())
        .sum();
    assert!(
        stage
            .status()
            .contains(&format!("&err {} hidden", blocks - 3)),
        "{}",
        stage.status()
    );
    stage.press("m a");
    assert!(
        stage.status().contains("marked a") && stage.status().contains("hidden"),
        "beside a message, too: {}",
        stage.status()
    );
    stage.press("& enter g");
    assert_eq!(stage.window(), before);
    assert!(!stage.status().contains("hidden"), "{}", stage.status());
    stage.press(":").type_in("filter tool:bash").press("enter");
    assert!(stage.status().contains("&tool:bash"), "{}", stage.status());
    filter(&mut stage, "\"nothing of the kind\"");
    assert!(
        stage.picture().contains("nothing here fits the filter"),
        "{}",
        stage.picture()
    );
    stage.press("f f");
    assert!(stage.picture().contains("boats"));
}

#[test]
fn mistakes_are_shown_while_typing() {
    let mut stage = session();
    stage.press("&").type_in("tool:bash cost>");
    assert!(
        stage
            .status()
            .contains("&tool:bash cost>  at 16: an amount"),
        "{}",
        stage.status()
    );
    stage.press("enter");
    assert!(
        matches!(stage.app.mode, KeyMode::Filter { .. }),
        "the line stays open"
    );
    stage.type_in(".1");
    assert!(!stage.status().contains("at 16"), "{}", stage.status());
    stage.press("esc");
    assert!(stage.app.reader.text.find.filter.is_none(), "given up");
    stage.press(":").type_in("filter rol:user").press("enter");
    assert!(
        stage.status().contains("no fact is called rol"),
        "{}",
        stage.status()
    );
}

#[test]
fn typed_filters_come_back() {
    let mut stage = session();
    filter(&mut stage, "err");
    filter(&mut stage, "tool:bash");
    stage.press("& up up");
    assert!(stage.status().starts_with("&err"), "{}", stage.status());
    stage.press("down enter");
    assert!(stage.status().contains("&tool:bash"), "{}", stage.status());
}

#[test]
fn quick_filters() {
    let quick = |before: &str, keys: &str| {
        let mut stage = session();
        stage.press(before);
        stage.press(keys);
        stage.press("g");
        shown(&stage)
    };
    assert_eq!(quick("g", "f e"), ["c3:0", "m2:0", "w1:0"]);
    assert_eq!(quick("g", "f t"), ["a2:23", "c3:0", "c4:0", "m2:0"]);
    assert_eq!(quick("g", "f u"), ["p1:0", "p2:0"]);
    assert_eq!(quick("] t", "f n"), ["a2:2", "c3:0", "m2:0"]);
    assert_eq!(quick("] s", "f s"), ["m1:0", "m2:0"]);
    assert_eq!(quick("] s", "f i"), ["c4:0", "m1:0", "m2:0"]);
    assert_eq!(quick("f e", "f f"), quick("g", "esc"));
    let mut stage = session();
    stage.press("f n");
    assert!(
        stage.status().contains("no tool call is focused"),
        "{}",
        stage.status()
    );
}

#[test]
fn motions_and_searches_stay_within_the_filter() {
    let mut stage = session();
    stage.press("m a");
    stage.app.reader.screen.message = None;
    stage.press("/").type_in("harbour").press("enter");
    assert!(stage.status().contains("/3"), "{}", stage.status());
    filter(&mut stage, "tool:*");
    assert!(
        stage.status().contains("2 hits") || stage.status().contains("/2"),
        "{}",
        stage.status()
    );
    stage.press("g }");
    assert!(
        stage.status().contains("no prompt after this"),
        "{}",
        stage.status()
    );
    stage.press("' a");
    assert!(
        stage.status().contains("the filter hides it"),
        "{}",
        stage.status()
    );
    stage.press(":").type_in("goto #1").press("enter");
    assert_eq!(stage.focused_key(), "a2", "the first one that is shown");
    stage.press("e");
    assert_eq!(stage.focused_key(), "c3");
    stage.press("f u /").type_in("lantern").press("enter n");
    assert!(stage.status().contains("no hits"), "{}", stage.status());
}

#[test]
fn what_comes_is_judged_as_it_comes() {
    let mut stage = session();
    filter(&mut stage, "err or herring");
    let hidden = |stage: &Stage| stage.app.reader.text.find.filter.as_ref().unwrap().hidden;
    let before = hidden(&stage);
    stage.press("G");
    stage.add([says("a4", 100, Role::Assistant, "Nothing new.")]);
    assert_eq!(hidden(&stage), before + 1);
    stage.add([calls("c9", 101, "bash", ToolKind::Run, "sink")]);
    assert_eq!(hidden(&stage), before + 2);
    assert!(!stage.picture().contains("sink"));
    stage.add([result_at("c9", 102, "glug", Verdict::Failed)]);
    assert!(
        stage.picture().contains("sink"),
        "a late failure appears: {}",
        stage.picture()
    );
    assert_eq!(hidden(&stage), before + 1);
    stage.add([says("a5", 103, Role::Assistant, "herring again")]);
    assert!(
        stage
            .window()
            .iter()
            .any(|row| row.2.contains("herring again")),
        "following goes on"
    );
    stage.add([Edit::Retire(Text::from("a4"))]);
    assert_eq!(hidden(&stage), before, "what is gone is not hidden");
}

#[test]
fn texts_are_read_before_anything_moves() {
    let mut stage = session();
    let before = stage.window();
    stage.is_slow = true;
    filter(&mut stage, "herring");
    let Some(Effect::Filter(job)) = stage.asked.pop() else {
        panic!("texts are to be read")
    };
    assert_eq!(stage.window(), before, "nothing moves meanwhile");
    stage.happen(Event::Filtered {
        generation: job.generation,
        percent: 37,
        matched: None,
    });
    assert!(
        stage.status().contains("filtering 37%"),
        "{}",
        stage.status()
    );
    stage.add([says("a9", 110, Role::Assistant, "more herring")]);
    let matching = job
        .unsure
        .iter()
        .filter(|open| job.judge.read(&open.unsure, &mut |_, _| None));
    let matched: Vec<_> = matching.map(|open| (open.focus, open.revision)).collect();
    let answer = Event::Filtered {
        generation: job.generation,
        percent: 100,
        matched: Some(matched),
    };
    stage.happen(answer.clone());
    stage.arrange();
    assert_eq!(
        shown(&stage),
        ["a2:02", "a3:0", "a9:0"],
        "what came meanwhile is judged, too"
    );
    stage.press("f f &").type_in("boats").press("enter esc");
    assert!(matches!(stage.asked.last(), Some(Effect::CancelFilter)));
    stage.happen(answer);
    assert!(
        stage.app.reader.text.find.filter.is_none(),
        "a late answer changes nothing"
    );
}

#[test]
fn a_filter_outlives_a_session_read_anew() {
    let mut stage = Stage::made((100, 40));
    stage.add_as(
        BatchMode::Append,
        Stretch::Preview,
        harbour().into_iter().skip(6),
    );
    filter(&mut stage, "tool:bash or herring");
    stage.add_as(BatchMode::Append, Stretch::Whole, harbour());
    let before = stage
        .window()
        .into_iter()
        .map(|row| row.2)
        .collect::<Vec<_>>();
    stage.feed(Feed::CaughtUp);
    stage.arrange();
    stage.press("g");
    assert_eq!(shown(&stage), ["a2:02", "c3:0", "m2:0", "a3:0"]);
    let after = stage
        .window()
        .into_iter()
        .map(|row| row.2)
        .collect::<Vec<_>>();
    assert!(
        after.ends_with(&before[before.len() - 4..]),
        "{before:?} {after:?}"
    );
}

// === searches ===

#[test]
fn scopes_narrow_a_search() {
    for (typed, status) in [
        ("u:boats", "1/1 in prompts"),
        ("b:boats", "1/1 in answers"),
        ("t:herring", "1/3 in tools"),
        ("e:lantern", "1/2 in errors"),
        ("k:herring", "1/1 in thinking"),
        ("s:tide", "1/1 in notes"),
        ("u:tide", "no hits in prompts"),
        ("herring", "1/5"),
    ] {
        let mut stage = session();
        stage.press("/").type_in(typed).press("enter");
        assert!(
            stage.status().contains(&format!("/{typed} {status}")),
            "{typed}: {}",
            stage.status()
        );
    }
}

#[test]
fn hits_within_an_item_are_gone_to_row_by_row() {
    let mut stage = session();
    stage.press("/").type_in("of herring").press("enter");
    let in_sight = |stage: &Stage, words: &str| {
        assert!(
            stage.window().iter().any(|row| row.2.contains(words)),
            "{words}: {}",
            stage.picture()
        );
    };
    assert!(stage.status().contains("1/3"), "{}", stage.status());
    in_sight(&stage, "crate 20 of");
    stage.press("n");
    assert!(stage.status().contains("2/3"), "{}", stage.status());
    in_sight(&stage, "crate 40 of");
    stage.press("n");
    assert!(stage.status().contains("3/3"), "{}", stage.status());
    in_sight(&stage, "crate 60 of");
    stage.press("N N");
    assert!(stage.status().contains("1/3"), "{}", stage.status());
    stage.press("N");
    assert!(
        stage.status().contains("goes on at the end"),
        "{}",
        stage.status()
    );
    in_sight(&stage, "crate 60 of");
    stage
        .press("N N esc /")
        .type_in("herring")
        .press("enter g n");
    let first = stage.app.reader.text.view.focus;
    stage.press("n n n n");
    assert_eq!(stage.focused_key(), "a3", "{}", stage.status());
    stage.press("N N N N");
    assert_eq!(
        stage.app.reader.text.view.focus, first,
        "four on and four back"
    );
}

#[test]
fn what_looks_like_a_pattern_can_be_meant_literally() {
    let mut stage = session();
    stage.press("/").type_in("harbour.");
    assert!(
        stage.status().contains("/3"),
        "a dot is any character: {}",
        stage.status()
    );
    stage.press("ctrl-r");
    assert!(
        stage.status().contains("literal") && stage.status().contains("/2"),
        "{}",
        stage.status()
    );
    stage.press("ctrl-r");
    assert!(!stage.status().contains("literal"), "{}", stage.status());
}

#[test]
fn keys_that_come_faster_than_frames_are_one_search() {
    let mut stage = session();
    stage.press("/");
    let before = stage.app.reader.text.find.generation;
    for _ in 0..3_000 {
        stage.happen(Event::Key(Press::plain(Code::Char('e'))));
    }
    assert_eq!(
        stage.app.reader.text.find.generation, before,
        "no key starts a search"
    );
    stage.arrange();
    let typed = stage
        .app
        .reader
        .text
        .find
        .search
        .as_ref()
        .map(|search| search.typed.len());
    assert_eq!(
        (stage.app.reader.text.find.generation, typed),
        (before + 1, Some(3_000))
    );
    stage
        .press("ctrl-u")
        .happen(Event::Key(Press::plain(Code::Char('h'))));
    stage.happen(Event::Key(Press::plain(Code::Enter)));
    let typed = stage
        .app
        .reader
        .text
        .find
        .search
        .as_ref()
        .map(|search| search.typed.clone());
    assert_eq!(
        typed.as_deref(),
        Some("h"),
        "what was typed is searched for before it is accepted"
    );
}

#[test]
fn typed_searches_come_back() {
    let mut stage = session();
    for typed in ["boats", "tide"] {
        stage.press("/").type_in(typed).press("enter");
    }
    stage.press("/").type_in("x").press("up up");
    assert!(stage.status().starts_with("/boats"), "{}", stage.status());
    stage.press("down down");
    assert!(stage.status().starts_with("/x"), "{}", stage.status());
    stage.press("esc g / enter");
    assert!(
        stage.status().contains("/tide 1/1"),
        "an empty search is the last one: {}",
        stage.status()
    );
}

#[test]
fn a_search_shows_how_far_it_is() {
    let mut stage = session();
    stage.is_slow = true;
    stage.press("/").type_in("nowhere");
    assert!(stage.status().contains(" 0%"), "{}", stage.status());
}

#[test]
fn a_share_of_the_session_is_gone_to() {
    let mut stage = Stage::made((100, 40));
    stage.add((0..1_000).map(|n| says(&format!("e{n}"), n, Role::Assistant, "a mast")));
    for (share, around) in [("50%", 500_i32), ("10%", 100), ("90%", 900)] {
        stage.press(":").type_in(share).press("enter");
        let number: i32 = stage.focused_key()[1..].parse().unwrap();
        assert!((number - around).abs() < 30, "{share}: {number}");
    }
}

/// The portions of the search in force that are asked for.
fn portions(stage: &mut Stage) -> Vec<Job> {
    let generation = stage.app.reader.text.find.generation;
    let asked = std::mem::take(&mut stage.asked).into_iter();
    let jobs = asked.filter_map(|effect| {
        if let Effect::Search(job) = effect {
            Some(job)
        } else {
            None
        }
    });
    jobs.filter(|job| job.generation == generation).collect()
}

fn answer(stage: &mut Stage, job: &Job) {
    let blocks = job.entries.iter();
    let hits = blocks
        .flat_map(|(id, blocks)| hits_of(&job.pattern, job.scope, (*id, blocks), &mut |_, _| None));
    let hits = hits.collect();
    stage.happen(Event::Searched {
        generation: job.generation,
        number: job.number,
        hits,
    });
    stage.arrange();
}

#[test]
fn a_search_goes_outward_from_the_reader() {
    let mut stage = Stage::made((100, 40));
    let words = |n: i64| if n % 500 == 250 { "a keel" } else { "a mast" };
    stage.add((0..6_000).map(|n| says(&format!("e{n}"), n, Role::Assistant, words(n))));
    stage.press("g");
    stage.app.reader.with_text(|text, scene| {
        jumps::go_to_item(
            text,
            scene,
            Focus {
                entry: EntryId(3_000),
                block: 0,
            },
        );
    });
    stage.arrange();
    stage.is_slow = true;
    stage.press("/").type_in("kee");
    let jobs = portions(&mut stage);
    assert_eq!(
        jobs.iter().map(|job| job.entries.len()).collect::<Vec<_>>(),
        [64, 128, 256, 512]
    );
    assert_eq!(
        (jobs[0].entries[0].0, jobs[1].entries[127].0),
        (EntryId(3_000), EntryId(2_999))
    );
    // The later portion has the hit, but the one before it might have a nearer one.
    answer(&mut stage, &jobs[2]);
    assert_eq!(
        stage.app.reader.text.find.search.as_ref().unwrap().total(),
        0
    );
    answer(&mut stage, &jobs[0]);
    assert_eq!(stage.focused_key(), "e3250", "{}", stage.status());
    assert!(
        !stage
            .app
            .reader
            .text
            .find
            .search
            .as_ref()
            .unwrap()
            .is_complete
    );
    let mut waiting: VecDeque<Job> = [jobs[1].clone(), jobs[3].clone()].into();
    waiting.extend(portions(&mut stage));
    let mut searched = 64 + 256;
    while let Some(job) = waiting.pop_front() {
        assert!(waiting.len() < 4 && job.entries.len() <= 2_048);
        searched += job.entries.len();
        answer(&mut stage, &job);
        waiting.extend(portions(&mut stage));
    }
    assert_eq!(searched, 6_000, "each entry once");
    assert!(stage.status().contains("7/12"), "{}", stage.status());
    stage.type_in("l");
    let jobs = portions(&mut stage);
    let entries: usize = jobs.iter().map(|job| job.entries.len()).sum();
    assert_eq!(
        entries, 12,
        "a longer word is looked for where the shorter one was"
    );
}

#[test]
fn records_that_come_during_a_search_do_not_complete_it() {
    let mut stage = Stage::made((60, 20));
    let words = |at: i64| if at == 999 { "a keel" } else { "a mast" };
    stage.add((0..1_000).map(|at| says(&format!("e{at}"), at, Role::Assistant, words(at))));
    stage.press("g");
    let focus = Focus {
        entry: EntryId(100),
        block: 0,
    };
    stage
        .app
        .reader
        .with_text(|text, scene| jumps::go_to_item(text, scene, focus));
    stage.arrange();
    stage.is_slow = true;
    stage.press("/").type_in("keel").press("enter");
    let mut waiting: VecDeque<Job> = portions(&mut stage).into();
    stage.add([says("late", 1_000, Role::Assistant, "a mast")]);
    waiting.extend(portions(&mut stage));
    while let Some(job) = waiting.pop_front() {
        assert!(
            !stage
                .app
                .reader
                .text
                .find
                .search
                .as_ref()
                .unwrap()
                .is_complete
        );
        answer(&mut stage, &job);
        waiting.extend(portions(&mut stage));
    }
    let search = stage.app.reader.text.find.search.as_ref().unwrap();
    assert!(search.is_complete && search.total() == 1);
}

/// Entries of the session that is searched in portions.
const SEARCHED: usize = 1_000;

/// The hit that a search of the whole leads to. `/` counts the place it begins at, and stops at the end of the file;
/// `*` and `#` go round, and take what they come from only where there is nothing else.
fn sought(hits: &BTreeSet<usize>, start: usize, key: &str) -> Option<usize> {
    let others = || hits.iter().copied().filter(|at| *at != start);
    match key {
        "/" => hits.range(start..).next().or_else(|| hits.last()).copied(),
        "*" => others().find(|at| *at > start).or_else(|| others().next()),
        _ => others()
            .rfind(|at| *at < start)
            .or_else(|| others().next_back()),
    }
}

/// In whatever order its portions are answered, a search leads to one place only, the one that a search of the whole
/// leads to, and it is complete when the last portion is answered and not before. A record that comes meanwhile is
/// known at once, and may be the place; but not before all that is nearer is searched.
fn lead_to_what_is_sure(
    mut hits: BTreeSet<usize>,
    late: Option<bool>,
    start: usize,
    key: &str,
    order: &[usize],
) {
    let mut stage = Stage::made((60, 20));
    hits.extend(late.filter(|is_hit| *is_hit).map(|_| SEARCHED));
    let is_hit = |at: usize| hits.contains(&at) || key != "/" && at == start;
    let words = |at: usize| if is_hit(at) { "keel" } else { "mast" };
    let said = |at: usize| says(&format!("e{at}"), 0, Role::Assistant, words(at));
    stage.add((0..SEARCHED).map(said));
    stage.press("g");
    let focus = Focus {
        entry: EntryId(u32::try_from(start).unwrap()),
        block: 0,
    };
    stage
        .app
        .reader
        .with_text(|text, scene| jumps::go_to_item(text, scene, focus));
    stage.arrange();
    stage.is_slow = true;
    stage.press(key);
    if key == "/" {
        stage.type_in("keel");
    }
    let mut waiting = portions(&mut stage);
    if late.is_some() {
        stage.add([said(SEARCHED)]);
        waiting.extend(portions(&mut stage));
    }
    let (from, to) = (
        format!("e{start}"),
        sought(&hits, start, key).map(|at| format!("e{at}")),
    );
    let mut searched = 0;
    for turn in order.iter().cycle() {
        let is_complete = stage
            .app
            .reader
            .text
            .find
            .search
            .as_ref()
            .unwrap()
            .is_complete;
        assert_eq!(is_complete, waiting.is_empty(), "{searched} searched");
        let at = stage.focused_key();
        assert!(
            at == from || Some(&at) == to.as_ref(),
            "at {at} from {from} for {to:?}, {searched} searched"
        );
        if waiting.is_empty() {
            break;
        }
        let job = waiting.remove(turn % waiting.len());
        searched += job.entries.len();
        answer(&mut stage, &job);
        waiting.extend(portions(&mut stage));
    }
    let all = SEARCHED + usize::from(late.is_some());
    assert_eq!((searched, stage.focused_key()), (all, to.unwrap_or(from)));
}

proptest! {
    #![proptest_config(fixtures::cases(48))]

    #[test]
    fn a_search_leads_to_what_is_sure(
        hits in proptest::collection::btree_set(0..SEARCHED, 0..5),
        late: Option<bool>,
        start in 0..SEARCHED,
        key in select(vec!["/", "*", "#"]),
        order in proptest::collection::vec(0_usize..4, 16),
    ) {
        lead_to_what_is_sure(hits, late, start, key, &order);
    }
}

// === mentions, ids, landmarks ===

#[test]
fn mentions_of_a_path() {
    let mut stage = session();
    stage.press("*");
    assert_eq!(
        stage.app.reader.text.view.focus.unwrap().block,
        3,
        "{}",
        stage.picture()
    );
    assert!(
        stage.status().contains("/src/harbour.rs 2/2"),
        "{}",
        stage.status()
    );
    stage.press("*");
    assert_eq!(stage.focused_key(), "p1", "around the end");
    stage.press("#");
    assert_eq!(stage.focused_key(), "a2");
    stage.press("esc ] t");
    assert_eq!(stage.focused_key(), "c3");
    stage.press("#");
    let search = stage.app.reader.text.find.search.as_ref().unwrap();
    assert_eq!(
        (search.typed.as_str(), search.is_literal),
        ("ls: no such lantern", true),
        "what a failed call says"
    );
}

#[test]
fn records_that_come_while_a_search_is_typed_end_the_typing() {
    let mut stage = session();
    stage.press("/ h");
    stage.happen(Event::Records {
        title: "raw record".to_owned(),
        trees: Vec::new(),
    });
    stage.press("esc esc enter");
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
    let fold = stage.app.reader.text.folds.get(&key, focus.block);
    assert_eq!(fold, Fold::Open, "{}", stage.picture());
    stage.press("*");
    assert_eq!(
        stage.app.reader.text.folds.get(&key, focus.block),
        fold,
        "no search goes back behind what was done"
    );
}

#[test]
fn the_same_id() {
    let mut stage = session();
    stage.press("] s o");
    assert_eq!(
        stage.focused_key(),
        "m1",
        "into the sub-agent: {}",
        stage.picture()
    );
    stage.press("o");
    assert_eq!(stage.focused_key(), "m2");
    stage.press("O O");
    assert_eq!(stage.focused_key(), "c4");
    stage.press("O");
    assert!(
        stage.status().contains("nothing else has this id"),
        "{}",
        stage.status()
    );
}

#[test]
fn expensive_turns_and_pauses() {
    let mut stage = session();
    stage.press("] $");
    assert_eq!(
        stage.focused_key(),
        "p2",
        "the second turn cost ten times the first"
    );
    stage.press("] $");
    assert!(
        stage.status().contains("no expensive turn after this"),
        "{}",
        stage.status()
    );
    stage.press("g ] g");
    assert_eq!(
        stage.focused_key(),
        "p2",
        "a minute passed before the second prompt"
    );
    stage.press("] g");
    assert!(
        stage.status().contains("no pause after this"),
        "a running call is no pause: {}",
        stage.status()
    );
    stage.press("G [ g");
    assert_eq!(stage.focused_key(), "p2");
    stage.press("G [ $");
    assert_eq!(stage.focused_key(), "p2");
}

// === marks and jumps ===

#[test]
fn marks_are_kept_by_key() {
    let mut stage = session();
    stage.press("] t m a } m z");
    assert!(stage.status().contains("marked z"), "{}", stage.status());
    stage.press("g ' a");
    assert_eq!(
        (
            stage.focused_key(),
            stage.app.reader.text.view.focus.unwrap().block
        ),
        ("a2".to_owned(), 2)
    );
    stage.press("'");
    assert!(
        stage.picture().contains("a bash ls hold"),
        "the panel lists the marks: {}",
        stage.picture()
    );
    stage.press("q");
    assert!(
        stage.status().contains("nothing is marked q"),
        "{}",
        stage.status()
    );
    stage.add_as(BatchMode::Replace, Stretch::Whole, harbour());
    stage.press("g ' a");
    assert_eq!(
        stage.focused_key(),
        "a2",
        "when the entry comes again, the mark stays"
    );
    stage.add([Edit::Retire(Text::from("a2"))]);
    stage.press("' a");
    assert!(
        stage.status().contains("not in the session any more"),
        "{}",
        stage.status()
    );
}

#[test]
fn a_mark_leads_into_what_is_closed() {
    let mut stage = session();
    stage.press("] s l j m i h h g ' i");
    assert_eq!(stage.focused_key(), "m1", "{}", stage.picture());
    stage.press("z 1 ' i");
    assert_eq!(stage.focused_key(), "m1", "{}", stage.picture());
}

#[test]
fn jumps_go_back_and_forth() {
    let mut stage = session();
    stage.press("} e G");
    assert_eq!(stage.focused_key(), "a3");
    stage.press("alt-left");
    assert_eq!(stage.focused_key(), "c3");
    stage.press("' '");
    assert_eq!(stage.focused_key(), "p2");
    stage.press("alt-right alt-right");
    assert_eq!(stage.focused_key(), "a3");
    stage.press("alt-right");
    assert!(
        stage.status().contains("no jump was taken back"),
        "{}",
        stage.status()
    );
    stage.press("alt-left alt-left e alt-right");
    assert!(
        stage.status().contains("no jump was taken back"),
        "a new jump ends the way forward"
    );
}

#[test]
fn marks_show_on_the_spine() {
    let mut stage = Stage::open(&demo(), (100, 40), Theme::dark());
    let marked = |stage: &Stage| stage.picture().matches('◆').count();
    let before = marked(&stage);
    stage.press("g ] t m a");
    assert_eq!(marked(&stage), before + 1, "{}", stage.picture());
}

// === laws ===

#[test]
fn every_fixture_is_shown_or_hidden() {
    // What makes a database is a text, and no session.
    for path in fixtures::all()
        .into_iter()
        .filter(|path| path.extension().is_none_or(|end| end != "sql"))
    {
        let name = fixtures::name(&path);
        let mut stage = Stage::open(&path, (80, 24), Theme::dark());
        let blocks: usize = stage
            .app
            .reader
            .session
            .transcript
            .entries()
            .map(|entry| entry.blocks.len())
            .sum();
        let mut shown_by = |typed: &str| {
            filter(&mut stage, typed);
            assert!(
                stage.app.reader.text.find.next_filter.is_none(),
                "{name}: all texts are read"
            );
            blocks - stage.app.reader.text.find.filter.as_ref().unwrap().hidden
        };
        for typed in [
            "err",
            "tool:*",
            "role:user",
            "cost>0 or tok>0",
            "dur>1s",
            "the",
            "/[0-9]+/",
            "since:1h",
        ] {
            let (these, others) = (shown_by(typed), shown_by(&format!("-({typed})")));
            assert_eq!(
                these + others,
                blocks,
                "{name}: {typed} and what it leaves out are all"
            );
        }
        assert_eq!(shown_by("a -a"), 0, "{name}");
        assert_eq!(shown_by("a or -a"), blocks, "{name}");
    }
}

fn steps() -> impl Strategy<Value = Vec<String>> {
    let filters = vec![
        "err",
        "tool:*",
        "-tool:*",
        "role:user",
        "role:bot",
        "a",
        "-e",
        "cost>.01 or err",
        "dur>1s",
        "/[aeiou]{2}/",
        "the",
        "lane:main",
        "",
    ];
    let step = prop_oneof![
        4 => select(filters).prop_map(|typed| format!("&{typed}")),
        2 => select(vec!["+says", "+fails", "+late"]).prop_map(str::to_owned),
        3 => select(vec!["j", "k", "b", "space", "ctrl-d", "}", "g", "G"]).prop_map(str::to_owned),
    ];
    proptest::collection::vec(step, 1..24)
}

/// How many blocks are shown and hidden, of how many.
fn counts(stage: &Stage) -> (usize, usize, usize) {
    let transcript = &stage.app.reader.session.transcript;
    let all: usize = transcript.entries().map(|entry| entry.blocks.len()).sum();
    match &stage.app.reader.text.find.filter {
        None => (all, 0, all),
        Some(filter) => (
            transcript
                .order()
                .iter()
                .map(|id| filter.blocks(*id).len())
                .sum(),
            filter.hidden,
            all,
        ),
    }
}

/// Takes a step; answers whether it was a motion.
fn take(stage: &mut Stage, step: &str, number: usize) -> bool {
    let seconds = i64::try_from(number).unwrap();
    let call = |number: usize| format!("call {number}");
    match (step.strip_prefix('&'), step) {
        (Some(typed), _) => {
            stage.press("&").type_in(typed).press("enter");
        }
        (_, "+says") => {
            stage.add([says(
                &format!("new {number}"),
                seconds,
                Role::Assistant,
                "the tide",
            )]);
        }
        (_, "+fails") => {
            stage.add([calls(&call(number), seconds, "bash", ToolKind::Run, "sink")]);
        }
        (_, "+late") => {
            let call = call(number.saturating_sub(1));
            stage.add([result_at(&call, seconds, "glug", Verdict::Failed)]);
        }
        _ => {
            stage.press(step);
            return true;
        }
    }
    false
}

/// Filters and appends leave the focused item on its row as long as it is shown and there are rows to
/// stand between; and every block is shown or counted as hidden.
fn check(steps: &[String]) {
    let mut stage = Stage::open(&demo(), (90, 30), Theme::dark());
    stage.press("b");
    for (number, step) in steps.iter().enumerate() {
        let (focus, line) = (stage.app.reader.text.view.focus, stage.line_of_focus());
        let followed = stage.app.reader.text.view.follows();
        let is_motion = take(&mut stage, step, number);
        stage.arrange();
        let place = format!("after {step} of {steps:?}");
        let (shown, hidden, all) = counts(&stage);
        assert_eq!(shown + hidden, all, "{place}");
        let app = &stage.app;
        let entries: HashSet<_> = app.reader.text.sequence.order().iter().collect();
        assert_eq!(
            entries.len(),
            app.reader.text.sequence.len(),
            "nothing is shown twice, {place}"
        );
        let Some((focus, line)) = focus.zip(line) else {
            continue;
        };
        if is_motion || followed || !app.reader.text.find.shows(focus) {
            continue;
        }
        assert_eq!(app.reader.text.view.focus, Some(focus), "{place}");
        let lines = &app.reader.text.view.lines;
        let place_of = |line: &WindowLine| app.reader.text.sequence.place_of(line.entry);
        let is_at_start = lines
            .first()
            .is_some_and(|line| line.row == 0 && place_of(line) == Some(0));
        let is_at_end = lines.last().is_some_and(|line| {
            line.row + 1 == line.rows.len()
                && place_of(line) == app.reader.text.sequence.len().checked_sub(1)
        });
        // The line that says what is new takes the last one.
        let expected = line.min(lines.len().saturating_sub(1));
        assert!(
            stage.line_of_focus() == Some(expected) || is_at_start || is_at_end,
            "{place}"
        );
    }
}

proptest! {
    #![proptest_config(fixtures::cases(32))]

    #[test]
    fn only_motions_move_what_is_read(steps in steps()) {
        check(&steps);
    }
}
