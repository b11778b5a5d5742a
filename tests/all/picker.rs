//! Journeys of a user through the picker, key by key, with sessions made by hand.

use proptest::prelude::{any, proptest};
use tv::analysis::activity::Activity;
use tv::analysis::wall::{Glance, LastWords, SessionRow, Voice};
use tv::app::effect::Effect;
use tv::app::update::Event;
use tv::model::edit::{Feed, OpenedSession};
use tv::model::found::{FoundSession, Sighting, Target, TextHit};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::render::theme::Theme;

use crate::stage::Stage;

const MINUTE: i64 = 60_000;

/// A session of so many minutes ago.
fn found(name: &str, title: &str, minutes: i64) -> FoundSession {
    FoundSession {
        path: format!("/home/me/.claude/projects/-work/{name}.jsonl").into(),
        session: None,
        format: "claude-code",
        id: Text::from(name),
        key: None,
        agent: None,
        title: Some(title)
            .filter(|title| !title.is_empty())
            .map(Text::clean),
        cwd: Some(Text::from("~/work/boats")),
        model: Some(Text::from("claude-opus-4-6")),
        started: None,
        modified: Some(Timestamp(1_893_456_000_000 - minutes * MINUTE)),
        size: Some(48_200),
        live: None,
        unreadable: None,
        project: None,
    }
}

fn see(stage: &mut Stage, sightings: impl IntoIterator<Item = Sighting>) {
    for sighting in sightings {
        stage.happen(Event::Seen(sighting));
    }
    stage.arrange();
}

fn see_all(stage: &mut Stage, sessions: impl IntoIterator<Item = FoundSession>) {
    see(
        stage,
        sessions
            .into_iter()
            .map(|found| Sighting::Found(Box::new(found))),
    );
}

/// A picker without a session behind it.
fn picker(size: (u16, u16)) -> Stage {
    let mut stage = Stage::made(size);
    stage.app.picker.places = vec![
        "~/.claude/projects".to_owned(),
        "~/.pi/agent/sessions".to_owned(),
    ];
    stage.press("s");
    assert!(
        matches!(stage.asked.as_slice(), [Effect::Seek]),
        "{:?}",
        stage.asked
    );
    stage
}

fn boats() -> Vec<FoundSession> {
    vec![
        FoundSession {
            live: Some(true),
            ..found("5d0c1c52-7f4e", "Count the boats in the harbour", 0)
        },
        FoundSession {
            format: "pi",
            model: Some(Text::from("openai/gpt-5.2-codex")),
            ..found("a5cd40eb-0001", "Why does the lantern flicker?", 12)
        },
        FoundSession {
            format: "openclaw",
            agent: Some(Text::from("main")),
            key: Some(Text::from("agent:main:main")),
            cwd: None,
            size: None,
            ..found("11110000-aaaa", "Water the ferns", 130)
        },
        FoundSession {
            cwd: Some(Text::from("/very/long/way/to/the/harbour/of/南の港")),
            ..found("77aa", "", 3_000)
        },
        found(
            "99bb",
            "猫の本を読む \u{1b}[2Jand\nmore\tof it, which is much longer than any column can hold",
            90_000,
        ),
    ]
}

/// The title of the chosen row.
fn chosen(stage: &Stage) -> String {
    stage
        .app
        .picker
        .chosen()
        .and_then(|(found, _)| found.title.clone())
        .map_or_else(String::new, |t| t.to_string())
}

fn rows(stage: &Stage) -> Vec<String> {
    stage
        .app
        .picker
        .shown()
        .map(|(found, _)| found.id.to_string())
        .collect()
}

/// What was asked for, but for how sessions in sight stand.
fn asked(stage: &Stage) -> Vec<&Effect> {
    let asked = stage.asked.iter();
    asked
        .filter(|effect| !matches!(effect, Effect::Glance(_)))
        .collect()
}

fn last(stage: &Stage) -> &Effect {
    asked(stage).pop().expect("something was asked for")
}

/// What was read of a session.
fn glance(found: &FoundSession, prompt: &str) -> Event {
    let said = LastWords {
        voice: Voice::Agent,
        text: Text::from("The wick is wet. I have dried it."),
    };
    let row = SessionRow {
        activity: Activity::Ended,
        last: vec![said],
        is_complete: true,
        ..SessionRow::found(found, None)
    };
    Event::Glanced(Box::new(Glance {
        row,
        modified: found.modified,
        prompt: Some(Text::from(prompt)),
        counts: Some((3, 41, 252_000)),
    }))
}

#[test]
fn pictures() {
    for size in [(80, 24), (120, 40), (44, 14), (200, 60)] {
        let mut stage = picker(size);
        see_all(&mut stage, boats());
        see(&mut stage, [Sighting::Complete]);
        stage.press("down");
        stage.happen(glance(
            &boats()[1],
            "Why does the lantern flicker?\n\nIt began on Tuesday, after the storm.",
        ));
        stage.arrange();
        insta::assert_snapshot!(format!("picker-{}x{}", size.0, size.1), stage.picture());
    }
    let mut stage = picker((80, 24));
    stage.app.reader.screen.theme = Theme::mono().with_ascii(true);
    see_all(&mut stage, boats());
    stage.type_in("the boat");
    insta::assert_snapshot!("picker-typed-ascii", stage.picture());
}

#[test]
fn the_newest_come_first_and_the_chosen_one_stays() {
    let mut stage = picker((80, 24));
    assert!(stage.picture().contains("Looking for sessions"));
    see_all(
        &mut stage,
        [found("b", "boats", 10), found("d", "docks", 30)],
    );
    stage.press("down");
    assert_eq!(chosen(&stage), "docks");
    see_all(
        &mut stage,
        [
            found("c", "crates", 20),
            found("a", "anchors", 0),
            found("e", "eels", 40),
        ],
    );
    assert_eq!(
        (rows(&stage).concat().as_str(), chosen(&stage).as_str()),
        ("abcde", "docks")
    );
    // It grows: it comes up, and is still the chosen one.
    see_all(&mut stage, [found("d", "docks", -1)]);
    assert_eq!(
        (rows(&stage).concat().as_str(), chosen(&stage).as_str()),
        ("dabce", "docks")
    );
    see(
        &mut stage,
        [
            Sighting::Removed(found("d", "", 0).place()),
            Sighting::Removed(Target::default()),
        ],
    );
    assert_eq!(
        (rows(&stage).concat().as_str(), chosen(&stage).as_str()),
        ("abce", "anchors")
    );
}

#[test]
fn typing_narrows_at_once_and_enter_opens() {
    let mut stage = picker((80, 24));
    see_all(&mut stage, boats());
    for (typed, fitting) in [
        ("lantern", "a5cd40eb-0001"),
        ("harb count", "5d0c1c52-7f4e"),
        ("openclaw", "11110000-aaaa"),
        ("codex", "a5cd40eb-0001"),
        ("agent:main", "11110000-aaaa"),
        ("77a", "77aa"),
        ("南の", "77aa"),
    ] {
        stage.press("ctrl-u").type_in(typed);
        assert_eq!(rows(&stage), [fitting], "{typed}");
    }
    stage.press("ctrl-u").type_in("ferns").press("enter");
    assert!(
        matches!(last(&stage), Effect::Open(place) if *place == boats()[2].place()),
        "{:?}",
        last(&stage)
    );
    stage.press("ctrl-u").type_in("nothing like it");
    assert!(stage.picture().contains("Looking through their texts"));
    stage.happen(Event::TextsSearched {
        generation: sought(&stage).0,
        is_all: true,
        failures: 0,
    });
    stage.arrange();
    assert!(
        stage
            .picture()
            .contains("No session fits \"nothing like it\".")
    );
    let before = asked(&stage).len();
    stage.press("enter");
    assert_eq!(asked(&stage).len(), before, "nothing is opened");
}

#[test]
fn scattered_letters_are_a_guess_where_nothing_has_the_words() {
    let mut stage = picker((100, 24));
    see_all(&mut stage, boats());
    see(&mut stage, [Sighting::Complete]);
    let done = |stage: &mut Stage| {
        let generation = sought(stage).0;
        stage.happen(Event::TextsSearched {
            generation,
            is_all: true,
            failures: 0,
        });
        stage.arrange();
    };
    stage.type_in("hrbr cnt");
    assert!(rows(&stage).is_empty(), "texts may have it");
    done(&mut stage);
    assert_eq!(rows(&stage), ["5d0c1c52-7f4e"]);
    assert!(stage.line(0).contains("these have its letters"));
    stage.press("ctrl-u").type_in("lntrn");
    let fern = hit(boats().remove(2), "light the lntrn", "lntrn");
    stage.happen(Event::TextHit(sought(&stage).0, fern));
    done(&mut stage);
    assert_eq!(rows(&stage), ["11110000-aaaa"], "a text has the word");
}

#[test]
fn what_comes_in_while_something_is_typed_must_fit() {
    let mut stage = picker((80, 24));
    stage.type_in("boat");
    see_all(&mut stage, boats());
    see_all(
        &mut stage,
        [
            found("1", "Paint a boat", 1),
            found("2", "Paint a house", 1),
        ],
    );
    assert_eq!(
        rows(&stage).len(),
        5,
        "all but two lie in a folder of boats"
    );
    stage.press("ctrl-u").type_in("paint a house");
    assert_eq!(rows(&stage), ["2"]);
    stage.press("esc");
    assert_eq!(rows(&stage).len(), 7);
    assert_eq!(chosen(&stage), "Count the boats in the harbour");
}

#[test]
fn esc_clears_then_leaves() {
    let mut stage = picker((80, 24));
    see_all(&mut stage, boats());
    stage.type_in("q").press("esc");
    assert_eq!(
        (asked(&stage).len(), rows(&stage).len()),
        (1, 5),
        "q is typed"
    );
    stage.press("esc");
    assert!(matches!(last(&stage), Effect::Back));
    let mut stage = picker((80, 24));
    stage.press("ctrl-c");
    assert!(matches!(last(&stage), Effect::Quit));
}

#[test]
fn with_a_session_behind_it_is_gone_back_to() {
    let mut stage = Stage::made((80, 24));
    let opened = OpenedSession {
        path: "/s.jsonl".into(),
        format: "pi",
        confidence: "certain",
        reason: Text::from(""),
        resumes: &[],
        written: None,
        joined: Vec::new(),
    };
    stage.feed(Feed::Opened(Box::new(opened)));
    stage.press("0");
    see_all(&mut stage, boats());
    assert!(stage.picture().contains("esc back"));
    stage.press("esc");
    assert!(matches!(last(&stage), Effect::EndSeeking));
    assert!(stage.picture().contains("FOLLOW"));
    stage.press("q");
    assert!(matches!(last(&stage), Effect::Quit));
    stage.app.below.push(tv::app::screens::AppScreen::Picker);
    stage.press("q");
    assert!(
        matches!(last(&stage), Effect::Back),
        "who was chosen is left for the others"
    );
    stage.press("Q");
    assert!(matches!(last(&stage), Effect::Quit));
}

#[test]
fn the_list_moves_by_rows_pages_and_to_its_ends() {
    let mut stage = picker((80, 24));
    see_all(
        &mut stage,
        (0..100).map(|n| found(&format!("s{n}"), &format!("session {n}"), n)),
    );
    for (keys, at) in [
        ("down ctrl-n ctrl-j", 3),
        ("up ctrl-p ctrl-k up", 0),
        ("pgdn", 9),
        ("pgdn pgdn", 27),
        ("pgup", 18),
        ("end", 99),
        ("down", 99),
        ("home", 0),
    ] {
        stage.press(keys);
        assert_eq!(chosen(&stage), format!("session {at}"), "{keys}");
        assert!(
            stage.picture().contains(&format!("▸ session {at} ")),
            "{keys}: in sight"
        );
    }
}

#[test]
fn nothing_found_names_the_places_and_the_demo() {
    let mut stage = picker((80, 24));
    see(&mut stage, [Sighting::Complete]);
    let picture = stage.picture();
    assert!(
        picture.contains("~/.claude/projects, ~/.pi/agent/sessions") && picture.contains("tv demo"),
        "{picture}"
    );
    see(
        &mut stage,
        [Sighting::Refused(vec![Text::from(
            "/x.sqlite: no such file",
        )])],
    );
    assert!(stage.picture().contains("/x.sqlite: no such file"));
}

#[test]
fn opened_again_it_shows_what_was_there_until_all_places_are_looked_at() {
    let mut stage = picker((80, 24));
    see_all(
        &mut stage,
        [found("a", "anchors", 0), found("b", "boats", 1)],
    );
    stage.app.mode = tv::app::mode::Mode::Normal;
    stage.press("s");
    assert_eq!(rows(&stage).concat(), "ab");
    see_all(&mut stage, [found("b", "boats", 1)]);
    see(&mut stage, [Sighting::Complete]);
    assert_eq!(rows(&stage).concat(), "b");
}

#[test]
fn what_is_in_sight_is_read_once_and_again_when_it_grows() {
    let wanted = |stage: &Stage| {
        let names = |effect: &Effect| match effect {
            Effect::Glance(found) => {
                let ids: Vec<String> = found.iter().map(|one| one.id.to_string()).collect();
                Some(ids.concat())
            }
            _ => None,
        };
        stage.asked.iter().filter_map(names).collect::<Vec<_>>()
    };
    // As wide as all facts of a row beside the preview.
    let mut stage = picker((130, 24));
    let boats = found("b", "boats", 6);
    see_all(&mut stage, [found("a", "anchors", 5), boats.clone()]);
    stage.press("down left right");
    assert_eq!(wanted(&stage), ["ab"], "the chosen one first, and once");
    stage.happen(glance(&found("a", "anchors", 5), "not chosen"));
    stage.happen(glance(&boats, "just right"));
    stage.arrange();
    let picture = stage.picture();
    assert!(picture.contains("just right") && !picture.contains("not chosen"));
    assert!(
        picture.contains("3 prompts · 41 calls · 4m12s"),
        "{picture}"
    );
    // It grows: what is known stays until more is.
    see_all(&mut stage, [found("b", "boats", 1)]);
    assert_eq!(wanted(&stage), ["ab", "b"]);
    assert!(stage.picture().contains("just right"));
    stage.press("tab");
    assert!(!stage.picture().contains("just right"));
    // Only those in sight are read.
    let mut stage = picker((80, 24));
    see_all(
        &mut stage,
        (0..100).map(|n| found(&format!("s{n}"), &format!("session {n}"), n)),
    );
    let asked = stage.asked.iter().rev().find_map(|effect| match effect {
        Effect::Glance(found) => Some(found.len()),
        _ => None,
    });
    assert_eq!(asked, Some(10), "two lines each");
}

#[test]
fn several_are_marked_and_opened_as_one() {
    let mut stage = picker((80, 24));
    see_all(&mut stage, boats());
    stage.press("space down space");
    assert!(stage.picture().contains("2 marked"), "{}", stage.picture());
    stage.press("enter");
    let places = [boats()[0].place(), boats()[2].place()];
    assert!(
        matches!(last(&stage), Effect::OpenJoined(all)
            if all.len() == 2 && places.iter().all(|place| all.contains(place))),
        "{:?}",
        last(&stage)
    );
    stage.press("space down space D");
    assert!(
        matches!(last(&stage), Effect::OpenCompared(two) if two.len() == 2),
        "{:?}",
        last(&stage)
    );
    // Within what is typed a blank is a blank.
    stage.type_in("the boat");
    assert!(!stage.picture().contains("marked"));
    stage.press("esc space esc");
    assert!(!stage.picture().contains("marked"), "esc takes marks away");
}

#[test]
fn rows_of_one_title_are_told_apart() {
    let mut stage = picker((80, 24));
    let [one, other] = ["1111aaaa-7f4e", "2222bbbb-7f4e"].map(|id| found(id, "README.md", 1));
    see_all(&mut stage, [one, other, found("c", "LICENCE", 1)]);
    let picture = stage.picture();
    assert!(
        picture.contains("1111aaaa ") && picture.contains("2222bbbb "),
        "{picture}"
    );
}

#[test]
fn ten_thousand_sessions_are_matched_in_steps() {
    let mut stage = picker((80, 24));
    for n in 0..10_000 {
        stage.happen(Event::Seen(Sighting::Found(Box::new(found(
            &format!("id{n}"),
            &format!("session {n}"),
            n,
        )))));
    }
    let mut frames = 0;
    while stage.app.is_unfinished() {
        tv::app::update::arrange(&mut stage.app);
        frames += 1;
    }
    assert_eq!((frames, stage.app.picker.counts()), (3, (10_000, 10_000)));
    for c in "session 99".chars() {
        stage.happen(Event::Key(tv::app::input::keys::Press::plain(
            tv::app::input::keys::Code::Char(c),
        )));
    }
    tv::app::update::arrange(&mut stage.app);
    assert!(
        stage.app.is_unfinished(),
        "a frame does not wait for all of them"
    );
    // Enter does: what is opened is the best of all.
    stage.happen(Event::Key(
        tv::app::input::keys::parse_keys("enter").unwrap()[0],
    ));
    assert!(
        matches!(last(&stage), Effect::Open(place) if place.path.ends_with("id99.jsonl")),
        "{:?}",
        last(&stage)
    );
}

/// A session whose text has such a line.
fn hit(found: FoundSession, line: &str, word: &str) -> Box<TextHit> {
    let at = line.find(word).expect("the line has the word");
    Box::new(TextHit {
        found,
        entry: Text::from("e7"),
        line: Text::from(line),
        at: at..at + word.len(),
    })
}

/// What was asked for last: the number of the search, and its words.
fn sought(stage: &Stage) -> (u32, Vec<String>) {
    let search = stage.asked.iter().rev().find_map(|effect| match effect {
        Effect::SearchTexts { generation, words } => Some((*generation, words.clone())),
        _ => None,
    });
    search.expect("texts are searched")
}

#[test]
fn sessions_whose_text_has_it_stand_below_those_that_fit() {
    let mut stage = picker((100, 24));
    see_all(&mut stage, boats());
    stage.type_in("ta");
    assert_eq!(asked(&stage).len(), 1, "two letters are in all texts");
    stage.type_in("llow");
    let (number, words) = sought(&stage);
    assert_eq!(words, ["tallow"]);
    assert!(stage.picture().contains("Looking through their texts"));
    stage.happen(Event::TextHit(
        number - 1,
        hit(boats().remove(0), "old tallow", "tallow"),
    ));
    stage.happen(Event::TextHit(
        number,
        hit(boats().remove(1), "Dry the Tallow first.", "Tallow"),
    ));
    stage.happen(Event::TextHit(
        number,
        hit(found("lost", "Wax", 1), "no tallow, no light", "tallow"),
    ));
    see_all(&mut stage, [found("w", "Melt the tallow", 9_999)]);
    assert_eq!(
        rows(&stage),
        ["w", "lost", "a5cd40eb-0001"],
        "the first fits by its title"
    );
    assert!(
        stage.picture().contains("1 of 6, 2 by text…"),
        "{}",
        stage.picture()
    );
    let (buffer, line) = (stage.buffer(), |y: u16| stage.line(y));
    let y = (0..20).find(|y| line(*y).contains("no tallow")).unwrap();
    let at = line(y).find("no tallow").unwrap();
    let x = u16::try_from(line(y)[..at].chars().count()).unwrap();
    let [before, within] = [x, x + 3].map(|x| buffer[(x, y)].style());
    assert_ne!(before, within, "what was sought stands out: {}", line(y));
    stage.happen(Event::TextsSearched {
        generation: number,
        is_all: true,
        failures: 1,
    });
    stage.arrange();
    assert!(stage.picture().contains("1 of 6, 2 by text, 1 not read"));
    stage.press("down down");
    insta::assert_snapshot!("picker-by-text", stage.picture());
    stage.press("enter");
    assert!(
        matches!(last(&stage), Effect::OpenAt { place, entry, text }
            if *place == boats()[1].place() && entry == "e7" && text.as_deref() == Some("tallow")),
        "{:?}",
        last(&stage)
    );
    // What the next word belies goes at once; what is gone has no text.
    stage.type_in(" dry");
    assert_eq!(
        (rows(&stage), sought(&stage).1),
        (vec!["a5cd40eb-0001".to_owned()], words_of("tallow dry"))
    );
    stage.type_in(" !codex");
    assert!(rows(&stage).is_empty(), "{:?}", rows(&stage));
    stage.press("ctrl-w backspace");
    see(&mut stage, [Sighting::Removed(boats()[1].place())]);
    assert!(rows(&stage).is_empty());
    stage.press("esc");
    assert_eq!((sought(&stage).1, rows(&stage).len()), (Vec::new(), 5));
}

fn words_of(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn opened_again_it_looks_through_texts_again() {
    let mut stage = picker((80, 24));
    see_all(&mut stage, boats());
    stage.type_in("tallow");
    let (number, words) = sought(&stage);
    stage.app.mode = tv::app::mode::Mode::Normal;
    stage.press("s");
    assert_eq!(sought(&stage), (number + 1, words));
}

proptest! {
    #![proptest_config(crate::fixtures::cases(60))]

    #[test]
    fn any_session_fits_any_screen(
        texts in proptest::collection::vec((any::<String>(), any::<String>(), any::<String>()), 0..6),
        typed in "[a-z 日é!^$']{0,6}",
        line in any::<String>(),
        columns in 1_u16..220,
        lines in 1_u16..50,
    ) {
        let mut stage = picker((columns, lines));
        let session = |(n, (title, cwd, model)): (usize, (String, String, String))| FoundSession {
            cwd: Some(Text::clean(&cwd)),
            model: Some(Text::clean(&model)),
            ..found(&n.to_string(), &title, 1)
        };
        see_all(&mut stage, texts.into_iter().enumerate().map(session));
        stage.picture();
        stage.type_in(&typed);
        for generation in 0..8 {
            let line = Text::clean(&line);
            let hit = TextHit { found: found("beside", "", 1), entry: Text::from("e"), line, at: 1..5 };
            stage.happen(Event::TextHit(generation, Box::new(hit)));
        }
        stage.press("down pgdn up");
        let (fitting, all) = stage.app.picker.counts();
        let shown = fitting + stage.app.picker.hits;
        assert!(fitting <= all && (shown == 0) == stage.app.picker.chosen().is_none());
        stage.picture();
    }
}

#[test]
fn only_a_session_that_runs_has_a_dot() {
    let mut stage = picker((80, 24));
    let live = [Some(true), Some(false), None];
    see_all(
        &mut stage,
        live.iter()
            .zip(0..)
            .map(|(live, minutes)| FoundSession {
                live: *live,
                ..found("a", "Row the boat", minutes)
            })
            .zip(["a1", "b2", "c3"])
            .map(|(found, id)| FoundSession {
                path: format!("/home/me/{id}.jsonl").into(),
                ..found
            }),
    );
    let rows: Vec<String> = [2, 4, 6].map(|y| stage.line(y)).into();
    assert!(
        rows.iter().all(|row| row.contains("Row the boat")),
        "{rows:?}"
    );
    assert_eq!(
        rows.iter().map(|row| row.contains('●')).collect::<Vec<_>>(),
        [true, false, false],
        "{rows:?}"
    );
}

#[test]
fn sessions_are_sorted_by_what_a_row_tells_and_the_chosen_one_stays_in_sight() {
    let mut stage = picker((80, 12));
    let agents = ["pi", "codex", "cline"];
    let all = (0..60).map(|number: i64| FoundSession {
        format: agents[usize::try_from(number).unwrap() % agents.len()],
        ..found(
            &format!("s{number:02}"),
            &format!("Task {:02}", 99 - number),
            number + 1,
        )
    });
    see_all(&mut stage, all);
    see(&mut stage, [Sighting::Complete]);
    let titles = |stage: &Stage| -> Vec<String> {
        let shown = stage.app.picker.shown();
        shown
            .map(|(found, _)| found.title.as_ref().unwrap().to_string())
            .collect()
    };
    assert_eq!(titles(&stage)[..2], ["Task 99", "Task 98"]);
    stage.press("down down");
    assert_eq!(chosen(&stage), "Task 97");
    stage.press(">");
    while !stage.picture().contains("by title") {
        stage.press(">");
    }
    assert_eq!(titles(&stage)[..2], ["Task 40", "Task 41"]);
    assert_eq!(chosen(&stage), "Task 97");
    assert!(stage.picture().contains("Task 97"), "{}", stage.picture());
    while !stage.picture().contains("by agent") {
        stage.press("<");
    }
    let shown: Vec<&str> = stage
        .app
        .picker
        .shown()
        .map(|(found, _)| found.format)
        .collect();
    assert!(shown.is_sorted(), "{shown:?}");
    // What is typed comes in the order of how well it fits.
    stage.type_in("task 5");
    assert!(!stage.picture().contains("by agent"), "{}", stage.picture());
}
