//! Journeys of a user through the wall, key by key, with rows made by hand.

use tv::analysis::activity::{Activity, Wish};
use tv::analysis::wall::{CurrentCall, LastWords, Need, News, Rang, SessionRow, Voice};
use tv::app::effect::Effect;
use tv::app::mode::Mode;
use tv::app::screens::AppScreen;
use tv::app::update::Event;
use tv::app::wall::WallGrouping;
use tv::model::edit::{Feed, OpenedSession};
use tv::model::found::FoundSession;
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::render::theme::Theme;

use crate::stage::Stage;

/// What a stage takes for now.
const NOW: i64 = 1_893_456_000_000;

fn ago(seconds: i64) -> Timestamp {
    Timestamp(NOW - seconds * 1_000)
}

fn row(name: &str, title: &str, project: &str, format: &'static str) -> SessionRow {
    let found = FoundSession {
        path: format!("/home/me/sessions/{name}.jsonl").into(),
        session: None,
        format,
        id: Text::from(name),
        key: None,
        agent: None,
        title: Some(Text::clean(title)),
        cwd: Some(Text::clean(&format!("/work/{project}"))),
        model: Some(Text::from("claude-opus-4-6")),
        started: Some(ago(900)),
        modified: Some(ago(30)),
        size: Some(48_200),
        live: Some(true),
        unreadable: None,
        project: None,
    };
    SessionRow {
        is_complete: true,
        ..SessionRow::found(&found, None)
    }
}

fn said(voice: Voice, text: &str) -> LastWords {
    LastWords {
        voice,
        text: Text::clean(text),
    }
}

/// One that needs nobody, one that is asked about, one that waits for a prompt, one that cannot be read.
fn fleet() -> Vec<SessionRow> {
    let working = SessionRow {
        activity: Activity::Tool {
            name: Text::from("Bash"),
            since: Some(ago(42)),
        },
        need: Need::Works,
        call: Some(CurrentCall {
            name: Text::from("Bash"),
            headline: Text::from("make bread"),
            since: Some(ago(42)),
        }),
        last: vec![
            said(Voice::User, "Bake the bread"),
            said(
                Voice::Agent,
                "First the dough, then the oven.\nIt takes an hour.",
            ),
            said(Voice::Open, "Bash make bread"),
        ],
        ..row("a1", "Bake the bread", "mill", "claude-code")
    };
    let asking = SessionRow {
        activity: Activity::Waiting {
            since: Some(ago(180)),
            wish: Wish::Permission,
            what: Text::from("May I burn the old oven?"),
            agents: 0,
        },
        need: Need::Permission,
        ..row("b2", "Clear out the \u{1b}[2Jyard", "yard", "codex")
    };
    let done = SessionRow {
        activity: Activity::Waiting {
            since: Some(ago(600)),
            wish: Wish::Prompt,
            what: Text::from("the next prompt"),
            agents: 0,
        },
        need: Need::Prompt,
        last: vec![said(Voice::Agent, "All 猫 are fed.")],
        ..row("c3", "猫の世話をする", "mill", "pi")
    };
    let mut broken = row("d4", "", "yard", "cline");
    broken.problem = Some(Text::from("file gone"));
    broken.need = Need::Error;
    vec![working, asking, done, broken]
}

fn tell(stage: &mut Stage, rows: impl IntoIterator<Item = SessionRow>) {
    for row in rows {
        stage.happen(Event::News(Box::new(News::Row(Box::new(row)))));
    }
    stage.arrange();
}

/// A wall without a session behind it.
fn wall(size: (u16, u16)) -> Stage {
    let mut stage = Stage::made(size);
    stage.app.wall.recent_ms = 3 * 3_600_000;
    stage.press("S");
    assert!(
        matches!(stage.asked.as_slice(), [Effect::FollowAll]),
        "{:?}",
        stage.asked
    );
    tell(&mut stage, fleet());
    stage.happen(Event::News(Box::new(News::Complete)));
    stage.arrange();
    stage
}

fn chosen(stage: &Stage) -> String {
    stage
        .app
        .wall
        .chosen()
        .map(|row| row.head.id.clone().unwrap().to_string())
        .unwrap_or_default()
}

/// The ids of the rows from top to bottom.
fn order(stage: &Stage) -> Vec<String> {
    let rows = stage.app.wall.shown();
    rows.map(|row| row.head.id.clone().unwrap().to_string())
        .collect()
}

#[test]
fn it_looks_so() {
    for size in [(80, 24), (120, 40), (200, 30), (40, 8)] {
        let stage = wall(size);
        insta::assert_snapshot!(format!("wall-{}x{}", size.0, size.1), stage.picture());
    }
    let mut stage = wall((120, 24));
    stage.app.reader.screen.theme = Theme::dark().with_ascii(true);
    stage.press("+");
    insta::assert_snapshot!("wall-grouped-ascii", stage.picture());
}

#[test]
fn who_needs_somebody_most_comes_first() {
    let mut stage = wall((100, 24));
    assert_eq!(order(&stage), ["b2", "d4", "c3", "a1"]);
    assert_eq!(
        chosen(&stage),
        "b2",
        "until a key is pressed the first one is chosen"
    );
    stage.press("j");
    assert_eq!(chosen(&stage), "d4");
    let mut first = fleet().remove(2);
    first.need = Need::Permission;
    tell(&mut stage, [first]);
    assert_eq!(order(&stage), ["c3", "b2", "d4", "a1"]);
    assert_eq!(chosen(&stage), "d4", "what is chosen stays so");
    let place = fleet().remove(3).place;
    stage.happen(Event::News(Box::new(News::Removed(place))));
    stage.arrange();
    assert_eq!(chosen(&stage), "a1", "the one in its line takes its place");
    stage.press("g ] w");
    assert_eq!(chosen(&stage), "b2", "the next one that needs somebody");
}

#[test]
fn rows_are_sorted_grouped_and_filtered() {
    let mut stage = wall((100, 24));
    stage.press(">");
    assert_eq!(stage.app.wall.sorted_by(), "title");
    assert_eq!(order(&stage), ["a1", "b2", "d4", "c3"]);
    stage.press("z r");
    assert_eq!(order(&stage), ["c3", "d4", "b2", "a1"]);
    stage.press("z r < +");
    assert_eq!(
        (stage.app.wall.sorted_by(), stage.app.wall.group),
        ("need", WallGrouping::Project)
    );
    assert_eq!(order(&stage), ["b2", "d4", "c3", "a1"]);
    assert!(
        stage.picture().contains("yard  2 sessions, 2 need you"),
        "{}",
        stage.picture()
    );
    for (typed, wanted) in [
        ("waiting", &["b2", "c3"][..]),
        ("project:mill -waiting", &["a1"]),
        ("agent:codex", &["b2"]),
        ("bread", &["a1"]),
        ("/cat|hour/ or err", &["d4"]),
        ("tool:bash", &["a1"]),
    ] {
        stage.press("&").type_in(typed).press("enter");
        assert_eq!(order(&stage), wanted, "{typed}");
        stage.press("esc");
        assert!(stage.app.wall.filter.is_none());
    }
    stage.press("&").type_in("role:user").press("enter");
    assert!(
        matches!(stage.app.mode, Mode::OnWall { .. }),
        "what cannot be asked of a session is not taken"
    );
    assert!(
        stage
            .picture()
            .contains("at 1: role is a fact of what is in a session"),
        "{}",
        stage.picture()
    );
    stage.press("esc");
    assert!(matches!(stage.app.mode, Mode::Wall));
}

#[test]
fn enter_opens_and_q_leads_back() {
    let mut stage = wall((100, 24));
    stage.asked.clear();
    stage.press("j enter");
    assert!(matches!(&stage.asked[..], [Effect::Open(place)] if place.path.ends_with("d4.jsonl")));
    stage.asked.clear();
    stage.press("q");
    assert!(
        matches!(stage.asked[..], [Effect::Back]),
        "without a session behind it is the end"
    );
    let mut stage = wall((100, 24));
    let opened = OpenedSession {
        format: "pi",
        confidence: "certain",
        reason: Text::default(),
        path: "/home/me/sessions/b2.jsonl".into(),
        resumes: &[],
        written: None,
        joined: Vec::new(),
    };
    stage.feed(Feed::Opened(Box::new(opened)));
    stage.app.below.push(AppScreen::Session);
    stage.asked.clear();
    stage.press("q");
    assert!(matches!(stage.app.mode, Mode::Normal));
    assert!(
        matches!(stage.asked[..], [Effect::LeaveAll]),
        "nobody needs them any more"
    );
    stage.asked.clear();
    stage.app.below.push(AppScreen::Wall);
    stage.press("q");
    assert!(matches!(stage.asked[..], [Effect::Back]));
    stage.press("S ? q");
    assert!(
        matches!(stage.app.mode, Mode::Wall),
        "the help leads back to the wall"
    );
}

#[test]
fn lists_lead_back_to_where_they_were_opened() {
    let mut stage = wall((100, 24));
    stage.press("s");
    assert!(matches!(stage.app.mode, Mode::Picker));
    stage.press("esc");
    assert!(matches!(stage.app.mode, Mode::Wall), "not the end");
    stage.press("$ s esc");
    assert!(matches!(stage.app.mode, Mode::Ledger));
    stage.press("S");
    assert!(matches!(stage.app.mode, Mode::Wall));
    assert!(stage.app.below.is_empty(), "it was open already");
    stage.asked.clear();
    stage.press("q");
    assert!(matches!(stage.asked[..], [Effect::Back]));
}

#[test]
fn an_alarm_watches_all_and_names_the_session() {
    let mut stage = wall((100, 24));
    stage.asked.clear();
    stage
        .press("W")
        .type_in("waiting or err | beep")
        .press("enter");
    assert!(
        matches!(&stage.asked[..], [Effect::WatchAll(all)] if all.len() == 1),
        "{:?}",
        stage.asked
    );
    stage.asked.clear();
    let rang = Rang {
        row: fleet().remove(1),
        alarm: 0,
        words: "waits for you".to_owned(),
    };
    stage.happen(Event::News(Box::new(News::AlarmFired(Box::new(rang)))));
    let [Effect::Notify(notice)] = &stage.asked[..] else {
        panic!("{:?}", stage.asked)
    };
    assert_eq!(
        (notice.words.as_str(), notice.command.as_deref()),
        ("waits for you", Some("beep"))
    );
    assert_eq!(
        notice.address.as_deref(),
        Some("/home/me/sessions/b2.jsonl")
    );
    assert!(!notice.session.contains('\u{1b}'), "{:?}", notice.session);
    stage.asked.clear();
    stage.press("W ctrl-u enter");
    assert!(
        matches!(&stage.asked[..], [Effect::WatchAll(all)] if all.is_empty()),
        "{:?}",
        stage.asked
    );
    stage.press("W").type_in("wating").press("enter");
    assert!(
        matches!(stage.app.mode, Mode::OnWall { .. }),
        "a slip is no alarm that never comes"
    );
}

#[test]
fn what_ended_over_an_hour_ago_shares_a_line() {
    let mut stage = wall((100, 24));
    let rested = |name: &str, activity: Activity, minutes: i64| {
        let mut row = row(name, name, "mill", "pi");
        (row.activity, row.need) = (activity, Need::Rests);
        row.head.ended = Some(ago(minutes * 60));
        row
    };
    let idle = |minutes: i64| Activity::Idle {
        since: Some(ago(minutes * 60)),
    };
    let rows = [
        ("e5", idle(50), 50),
        ("f6", Activity::Unclean, 150),
        ("g7", idle(80), 80),
    ];
    tell(
        &mut stage,
        rows.map(|(name, activity, minutes)| rested(name, activity, minutes)),
    );
    assert_eq!(order(&stage), ["b2", "d4", "c3", "a1", "e5"]);
    let picture = stage.picture();
    let words = "2 more are idle for over an hour, 1 in the middle of their work";
    assert!(picture.contains(words), "{picture}");
    assert!(
        picture.contains("waiting needs you, too, each for an hour"),
        "{picture}"
    );
    stage.asked.clear();
    stage.press("G enter");
    assert!(stage.asked.is_empty());
    assert_eq!(order(&stage), ["b2", "d4", "c3", "a1", "e5", "g7", "f6"]);
    assert!(
        stage.picture().contains("unclean end"),
        "{}",
        stage.picture()
    );
}

#[test]
fn the_reason_for_which_somebody_is_needed_is_there_at_every_width() {
    let mut looping = row("e5", "Grind", "mill", "pi");
    looping.activity = Activity::Model {
        since: Some(ago(5)),
    };
    looping.need = Need::Stuck;
    (looping.flags.is_loop, looping.flags.same) = (true, Some((7, "Bash".to_owned())));
    for width in [40, 80, 120, 200] {
        let mut stage = wall((width, 24));
        tell(&mut stage, [looping.clone()]);
        let picture = stage.picture();
        for reason in ["! permission 3m00s", "! file gone", "! loop ×7 5s"] {
            assert!(picture.contains(reason), "{reason} at {width}: {picture}");
        }
    }
}

#[test]
fn the_row_of_who_is_needed_says_which_call_loops_and_at_what_error_the_agent_stopped() {
    let mut looping = row("e5", "Grind", "mill", "pi");
    looping.need = Need::Stuck;
    (looping.flags.is_loop, looping.flags.same) = (true, Some((7, "Bash".to_owned())));
    looping.last = vec![said(Voice::Failed, "Bash grind rye")];
    let mut failed = row("f6", "Sift", "mill", "pi");
    failed.need = Need::Prompt;
    failed.activity = Activity::Idle { since: None };
    failed.last = vec![said(Voice::Note, "529 overloaded")];
    let mut answered = failed.clone();
    answered.place.path = "/home/me/sessions/g7.jsonl".into();
    answered.last = vec![said(Voice::Agent, "All is sifted")];
    let mut stage = wall((120, 24));
    tell(&mut stage, [looping, failed, answered]);
    stage.press("i");
    let picture = stage.picture();
    for words in ["Bash grind rye", "529 overloaded"] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
    assert!(!picture.contains("All is sifted"), "{picture}");
}

/// What a command asked for, and what it left on the screen.
fn command(stage: &mut Stage, line: &str) -> (Vec<Effect>, Mode, String) {
    stage.asked.clear();
    stage.press(":").type_in(line).press("enter");
    (stage.asked.clone(), stage.app.mode.clone(), stage.picture())
}

#[test]
fn commands_are_of_all_sessions() {
    let (asked, mode, _) = command(&mut wall((100, 24)), "usage");
    assert!(
        matches!((&asked[..], mode), ([Effect::Count(_)], Mode::Ledger)),
        "{asked:?}"
    );
    let mut stage = wall((100, 24));
    let mut run = |line: &str| command(&mut stage, line);
    assert!(matches!(&run("watch err").0[..], [Effect::WatchAll(all)] if all.len() == 1));
    assert!(matches!(&run("unwatch").0[..], [Effect::WatchAll(all)] if all.is_empty()));
    assert!(matches!(&run("set theme=light").0[..], [Effect::Theme(name)] if name == "light"));
    let (_, _, picture) = run("goto 50%");
    assert!(picture.contains("goto is of one session"), "{picture}");
    let (_, _, picture) = run("fly");
    assert!(picture.contains("no command is called fly"), "{picture}");
    assert!(matches!(run("filter waiting").1, Mode::Wall));
    let (_, _, picture) = run("filter (");
    assert!(picture.contains("filter, at 2"), "{picture}");
    assert!(matches!(command(&mut stage, "help").1, Mode::Help { .. }));
    stage.press("esc");
    let (_, mode, picture) = command(&mut stage, "help finding");
    assert!(
        matches!(mode, Mode::Raw(_)) && picture.contains("Help on finding"),
        "{picture}"
    );
    assert!(matches!(stage.press("esc").app.mode, Mode::Wall));
    assert!(matches!(
        &command(&mut stage, "quit-now").0[..],
        [Effect::Quit]
    ));
}

#[test]
fn the_end_of_a_session_is_set_as_the_session_sets_it() {
    let mut stage = wall((200, 30));
    let mut first = fleet().remove(1);
    first.last = vec![said(
        Voice::Agent,
        "It has **three** parts:\n\n- the `stone`\n- the wheel",
    )];
    tell(&mut stage, [first]);
    let picture = stage.picture();
    assert!(
        picture.contains("It has three parts:") && picture.contains("• the stone"),
        "{picture}"
    );
}

#[test]
fn who_works_stands_by_when_it_began_and_titles_by_their_letters() {
    let mut stage = wall((100, 24));
    let working = |name: &str, title: &str, seconds: i64| {
        let mut row = row(name, title, "mill", "pi");
        (row.need, row.activity) = (
            Need::Works,
            Activity::Model {
                since: Some(ago(5)),
            },
        );
        row.head.started = Some(ago(seconds));
        row
    };
    tell(
        &mut stage,
        [
            working("e5", "clean the barn", 60),
            working("f6", "Admit the fox", 5_000),
        ],
    );
    assert_eq!(
        order(&stage),
        ["b2", "d4", "c3", "e5", "a1", "f6"],
        "the newest first"
    );
    stage.press(">");
    assert_eq!(
        order(&stage)[..3],
        ["f6", "a1", "e5"],
        "a capital is a letter like others"
    );
}

#[test]
fn the_head_of_what_is_sorted_by_stands_out() {
    let mut stage = wall((180, 24));
    let theme = Theme::dark();
    for (sort, head) in [("age", "age"), ("title", "title")] {
        while stage.app.wall.sorted_by() != sort {
            stage.press(">");
        }
        let (line, buffer) = (stage.line(1), stage.buffer());
        for other in ["age", "title"] {
            let (before, _) = line.rsplit_once(other).unwrap();
            let x = u16::try_from(before.chars().count()).unwrap();
            let style = if other == head {
                theme.focus
            } else {
                theme.dim
            };
            assert_eq!(
                Some(buffer[(x, 1)].fg),
                style.fg,
                "{other} by {sort}: {line}"
            );
        }
    }
}

#[test]
fn a_mistake_is_red_where_it_is_typed() {
    let mut stage = wall((160, 24));
    for (key, sign, right, wrong) in [
        ("&", "&", "err or ", "role:user"),
        ("W", "!", "err or ", "wating"),
    ] {
        stage.press(key).type_in(right).type_in(wrong);
        let y = (0..24)
            .rfind(|y| stage.line(*y).starts_with(sign))
            .unwrap_or_else(|| panic!("{}", stage.picture()));
        let (buffer, bad) = (stage.buffer(), Theme::dark().bad.fg);
        let cells = (0..160).map(|x| &buffer[(x, y)]);
        let red: String = cells
            .filter(|cell| Some(cell.fg) == bad)
            .map(ratatui::buffer::Cell::symbol)
            .collect();
        assert_eq!(red, wrong, "{}", stage.picture());
        stage.press("esc");
    }
}
