//! Journeys of a user through the ledger, key by key, with sums made by hand.

use tv::analysis::by::By;
use tv::analysis::ledger::counting::{CountingProgress, Question};
use tv::analysis::ledger::{Ledger, Spender, UsageRecord};
use tv::analysis::money::spending::amount::Amount;
use tv::app::effect::Effect;
use tv::app::mode::Mode;
use tv::app::update::Event;
use tv::model::found::FoundSession;
use tv::model::limit::Limit;
use tv::model::request::{CallIdentity, RequestIdentity};
use tv::model::text::Text;
use tv::model::timestamp::Timestamp;
use tv::model::usage::Usage;
use tv::render::theme::Theme;

use crate::stage::Stage;

/// What a stage takes for now.
const NOW: i64 = 1_893_456_000_000;
const HOUR: i64 = 3_600_000;

/// A session with requests at hours before now, of so much output and, if it is known, so much cost.
fn spender(
    id: &str,
    project: &str,
    format: &'static str,
    requests: &[(i64, u64, Option<f64>)],
) -> Spender {
    let found = FoundSession {
        path: format!("/home/me/sessions/{id}.jsonl").into(),
        session: None,
        format,
        id: Text::clean(id),
        key: None,
        agent: None,
        title: Some(Text::clean(&format!("Do what {id} is for"))),
        cwd: Some(Text::clean(&format!("/work/{project}"))),
        model: None,
        started: None,
        modified: Some(Timestamp(NOW - HOUR)),
        size: None,
        live: None,
        unreadable: None,
        project: None,
    };
    let request = |(number, (hours, output, cost)): (usize, &(i64, u64, Option<f64>))| {
        let usage = Usage {
            input: Some(100),
            output: Some(*output),
            cost: *cost,
            ..Usage::default()
        };
        UsageRecord {
            key: Some(Text::clean(&format!("{id}-{number}"))),
            at: Some(Timestamp(NOW - hours * HOUR)),
            model: Text::clean(if format == "pi" {
                "some-model"
            } else {
                "gpt-5.2-codex"
            }),
            attribution: None,
            amount: Amount::of(&usage, None),
            failed: 0,
            is_run: false,
            lacks_agents: false,
        }
    };
    let spent = requests.iter().enumerate().map(request).collect();
    Spender {
        id: Text::clean(id),
        is_fork: false,
        has_files: false,
        spent,
        failed: Vec::new(),
        limits: Vec::new(),
        sums_so_far: Vec::new(),
        newest: None,
        is_covered: false,
        found,
    }
}

/// A failed call of a request.
fn failed_in(request: &UsageRecord) -> (CallIdentity, UsageRecord) {
    let session = Text::default();
    let identity = RequestIdentity::new(request.key.as_ref(), request.at, [0; 3], &session);
    let failed = UsageRecord {
        amount: Amount::default(),
        failed: 1,
        ..request.clone()
    };
    ((identity, 0), failed)
}

fn ledger() -> Ledger {
    let mut ledger = Ledger::new(None..None);
    ledger.add(spender(
        "aaaa-1",
        "mill",
        "pi",
        &[(0, 300, Some(2.0)), (30, 100, Some(1.0))],
    ));
    ledger.add(spender(
        "bbbb-2",
        "mill",
        "codex",
        &[(26, 50_000, None), (75, 10, None)],
    ));
    let mut last = spender(
        "cccc-3-with-a-long-id",
        "yard",
        "pi",
        &[(3, 20, Some(0.25)), (4, 20, Some(0.25))],
    );
    last.failed = last.spent.iter().map(failed_in).collect();
    last.limits = vec![
        Limit {
            minutes: 300,
            used: 65.0,
            resets: Some(Timestamp(NOW + HOUR)),
            recorded: Some(Timestamp(NOW - HOUR)),
        },
        Limit {
            minutes: 10_080,
            used: 91.0,
            resets: Some(Timestamp(NOW + 30 * HOUR)),
            recorded: Some(Timestamp(NOW - HOUR)),
        },
    ];
    ledger.add(last);
    ledger
}

/// Answers what was asked last, as the thread does.
fn answer(stage: &mut Stage, ledger: &mut Ledger, progress: &CountingProgress) {
    let asked = stage.asked.iter().rev().find_map(|effect| match effect {
        Effect::Count(question) | Effect::CountAnew(question) => Some(question.clone()),
        _ => None,
    });
    let question = asked.unwrap_or_else(|| stage.app.ledger.question.clone());
    stage.happen(Event::Counted(Box::new(ledger.answer(&question, progress))));
    stage.arrange();
}

fn done() -> CountingProgress {
    CountingProgress {
        done: 3,
        all: 3,
        is_complete: true,
        failures: Vec::new(),
    }
}

fn shown(size: (u16, u16)) -> Stage {
    let mut stage = Stage::made(size);
    stage.press("$");
    assert!(matches!(stage.app.mode, Mode::Ledger));
    answer(&mut stage, &mut ledger(), &done());
    stage
}

fn names(stage: &Stage) -> Vec<String> {
    let by = stage.app.ledger.question.by;
    stage
        .app
        .ledger
        .rows()
        .map(|row| row.group.name(by))
        .collect()
}

fn chosen(stage: &Stage) -> String {
    stage
        .app
        .ledger
        .chosen()
        .map(|(row, _)| row.group.name(stage.app.ledger.question.by))
        .unwrap_or_default()
}

#[test]
fn it_looks_so() {
    for size in [(80, 24), (120, 40), (200, 60), (40, 8)] {
        let stage = shown(size);
        insta::assert_snapshot!(format!("ledger-{}x{}", size.0, size.1), stage.picture());
    }
    let mut stage = shown((100, 24));
    stage.app.reader.screen.theme = Theme::dark().with_ascii(true);
    stage.press("7");
    answer(&mut stage, &mut ledger(), &done());
    insta::assert_snapshot!("ledger-sessions-ascii", stage.picture());
}

#[test]
fn a_row_leads_to_its_sessions_and_each_of_them_to_itself() {
    let mut stage = shown((120, 30));
    stage.press("4");
    answer(&mut stage, &mut ledger(), &done());
    assert_eq!(
        names(&stage),
        ["/work/mill", "/work/yard"],
        "what cost most comes first"
    );
    stage.press("j enter");
    answer(&mut stage, &mut ledger(), &done());
    assert_eq!(names(&stage), ["cccc-3-with-a-long-id"]);
    assert!(
        stage.picture().contains("project /work/yard"),
        "{}",
        stage.picture()
    );
    // The same of another sort: the models of that project.
    stage.press("6");
    answer(&mut stage, &mut ledger(), &done());
    assert_eq!(names(&stage), ["some-model"]);
    stage.press("7");
    answer(&mut stage, &mut ledger(), &done());
    stage.asked.clear();
    stage.press("enter");
    assert!(
        matches!(&stage.asked[..], [Effect::Open(place)] if place.path.ends_with("cccc-3-with-a-long-id.jsonl")),
        "{:?}",
        stage.asked
    );
    stage.press("esc");
    answer(&mut stage, &mut ledger(), &done());
    assert_eq!(
        (stage.app.ledger.question.by, chosen(&stage).as_str()),
        (By::Project, "/work/yard")
    );
    stage.asked.clear();
    stage.press("q");
    assert!(
        matches!(&stage.asked[..], [Effect::Back]),
        "back to what was there before"
    );
}

#[test]
fn what_is_chosen_stays_so_while_rows_come() {
    let mut stage = shown((120, 30));
    let before = names(&stage);
    assert_eq!(before.len(), 4, "{before:?}");
    assert_eq!(
        chosen(&stage),
        before[0],
        "until a key is pressed the first one is chosen"
    );
    stage.press("j");
    let mut more = ledger();
    more.add(spender("dddd-4", "yard", "pi", &[(-30, 1, None)]));
    answer(&mut stage, &mut more, &done());
    assert_eq!(names(&stage).len(), 5);
    assert_eq!(chosen(&stage), before[1]);
    stage.press(">");
    assert!(stage.status().contains("by cost"), "{}", stage.status());
    assert_eq!(chosen(&stage), before[1]);
}

#[test]
fn the_time_that_counts_is_chosen_by_keys_and_words() {
    let mut stage = shown((120, 30));
    assert!(
        stage.line(0).contains("the last 30 days"),
        "{}",
        stage.line(0)
    );
    assert_eq!(names(&stage).len(), 4);
    stage.press("+ +");
    answer(&mut stage, &mut ledger(), &done());
    assert!(stage.line(0).contains("since today"), "{}", stage.line(0));
    assert_eq!(names(&stage), ["2030-01-01"]);
    stage.press("- - - - - -");
    answer(&mut stage, &mut ledger(), &done());
    assert!(stage.line(0).contains("all time"), "{}", stage.line(0));
    assert_eq!(names(&stage).len(), 4);
    stage.press("& ctrl-u").type_in("2d").press("enter");
    answer(&mut stage, &mut ledger(), &done());
    assert_eq!(names(&stage), ["2030-01-01", "2029-12-31", "2029-12-30"]);
    stage.press("& ctrl-u").type_in("tomorrow").press("enter");
    assert!(
        stage.picture().contains("a time is written like"),
        "{}",
        stage.picture()
    );
    stage.press("esc");
    assert!(matches!(stage.app.mode, Mode::Ledger));
}

#[test]
fn the_sum_of_all_stands_below_the_rows() {
    let stage = shown((120, 30));
    let total = (0..30)
        .map(|y| stage.line(y))
        .find(|line| line.contains("total"));
    let total = total.unwrap_or_else(|| panic!("{}", stage.picture()));
    assert!(total.contains("$3.50+") && total.contains(" 6 "), "{total}");
}

/// 2030 begins on a Tuesday: its first week has a day of the year before.
#[test]
fn the_bars_of_the_chosen_week_stand_out() {
    let mut stage = shown((120, 30));
    let stand_out = |stage: &Stage| {
        let buffer = stage.buffer();
        let foot = (1..30)
            .find(|y| stage.line(*y).contains("2029-12-28"))
            .unwrap();
        let cells = (0..120).filter_map(|x| buffer.cell((x, foot - 1)));
        let bars = cells.filter(|cell| "▁▂▃▄▅▆▇█".contains(cell.symbol()));
        let mut runs: Vec<bool> = bars
            .map(|cell| cell.fg == stage.app.reader.screen.theme.focus.fg.unwrap())
            .collect();
        runs.dedup();
        runs
    };
    for (key, names) in [
        ("2", ["2030-W01", "2029-W52"]),
        ("3", ["2030-01", "2029-12"]),
    ] {
        stage.press(key);
        answer(&mut stage, &mut ledger(), &done());
        stage.press("g");
        for (name, expected) in names.into_iter().zip([[false, true], [true, false]]) {
            stage.arrange();
            assert_eq!(
                (chosen(&stage).as_str(), stand_out(&stage)),
                (name, expected.to_vec()),
                "{}",
                stage.picture()
            );
            stage.press("j");
        }
    }
}

#[test]
fn an_answer_to_another_question_is_late() {
    let mut stage = shown((120, 30));
    stage.press("5");
    let late = ledger().answer(
        &Question {
            by: By::Month,
            ..Question::default()
        },
        &done(),
    );
    stage.happen(Event::Counted(Box::new(late)));
    stage.arrange();
    assert!(!stage.app.ledger.is_answered());
    assert!(stage.status().contains("adding up"), "{}", stage.status());
    answer(&mut stage, &mut ledger(), &done());
    assert_eq!(names(&stage), ["pi", "codex"]);
}

#[test]
fn it_says_how_far_it_is_and_why_nothing_is_there() {
    let mut stage = Stage::made((100, 24));
    stage.press("$");
    assert!(stage.picture().contains("Counting…"), "{}", stage.picture());
    let progress = CountingProgress {
        done: 412,
        all: 10_004,
        ..CountingProgress::default()
    };
    answer(&mut stage, &mut ledger(), &progress);
    assert!(
        stage.line(0).contains("412 of 10 004 files"),
        "{}",
        stage.line(0)
    );
    let mut empty = Ledger::new(None..None);
    answer(
        &mut stage,
        &mut empty,
        &CountingProgress {
            is_complete: true,
            ..CountingProgress::default()
        },
    );
    assert!(
        stage.picture().contains("No session is there yet"),
        "{}",
        stage.picture()
    );
    let why = "/elsewhere/x: Permission denied (os error 13)".to_owned();
    let failures = vec![Text::clean(&why)];
    answer(
        &mut stage,
        &mut empty,
        &CountingProgress {
            all: 1,
            done: 0,
            is_complete: true,
            failures,
        },
    );
    assert!(
        stage.picture().contains("Permission denied"),
        "{}",
        stage.picture()
    );
    answer(
        &mut stage,
        &mut empty,
        &CountingProgress {
            done: 4,
            all: 4,
            is_complete: true,
            failures: Vec::new(),
        },
    );
    assert!(
        stage.picture().contains("Nothing was spent"),
        "{}",
        stage.picture()
    );
}

#[test]
fn it_is_there_from_the_wall_and_from_the_picker() {
    let mut stage = Stage::made((100, 24));
    stage.press("S $");
    assert!(matches!(stage.app.mode, Mode::Ledger));
    stage.press("?").press("q");
    assert!(
        matches!(stage.app.mode, Mode::Ledger),
        "the help lies over it"
    );
    stage.press("q");
    assert!(matches!(stage.app.mode, Mode::Wall));
    stage.press("$ esc s $");
    assert!(matches!(stage.app.mode, Mode::Ledger));
    stage.press("q");
    assert!(matches!(stage.app.mode, Mode::Picker));
}

#[test]
fn a_limit_that_is_nearly_used_up_stands_out() {
    let stage = shown((120, 40));
    let (buffer, theme) = (stage.buffer(), Theme::dark());
    let colour = |used: &str| {
        let y = (0..40)
            .find(|y| stage.line(*y).contains(used))
            .unwrap_or_else(|| panic!("{}", stage.picture()));
        buffer[(2, y)].fg
    };
    assert_ne!(theme.warn.fg, theme.dim.fg);
    assert_eq!(Some(colour("91%")), theme.warn.fg);
    assert_eq!(Some(colour("65%")), theme.dim.fg);
}

fn sort_by(stage: &mut Stage, column: &str) {
    for _ in 0..9 {
        if stage.app.ledger.sorted_by() != column {
            stage.press(">");
        }
    }
    assert_eq!(stage.app.ledger.sorted_by(), column);
}

#[test]
fn sorts_go_by_what_they_say() {
    let mut ledger = Ledger::new(None..None);
    ledger.add(spender("dear", "a", "pi", &[(1, 10, Some(9.0))]));
    ledger.add(spender(
        "long",
        "b",
        "pi",
        &[(1, 5_000, Some(1.0)), (2, 5_000, Some(1.0))],
    ));
    ledger.add(spender(
        "often",
        "c",
        "pi",
        &[(1, 7, Some(0.5)), (2, 7, None), (3, 7, None), (4, 7, None)],
    ));
    let mut stage = Stage::made((120, 40));
    stage.press("$ 7");
    answer(&mut stage, &mut ledger, &done());
    for (sort, first) in [("cost", "dear"), ("output", "long"), ("requests", "often")] {
        sort_by(&mut stage, sort);
        assert_eq!(names(&stage)[0], first, "{sort}");
    }
}

#[test]
fn the_head_of_the_figure_that_is_sorted_by_stands_out() {
    let mut stage = shown((120, 40));
    let theme = Theme::dark();
    for head in ["requests", "output", "cost"] {
        sort_by(&mut stage, head);
        let buffer = stage.buffer();
        for other in ["requests", "output", "cost"] {
            let y = (1..40)
                .find(|y| stage.line(*y).contains("cache read"))
                .unwrap();
            let at = stage.line(y).find(other).unwrap();
            let x = u16::try_from(stage.line(y)[..at].chars().count()).unwrap();
            let style = if other == head {
                theme.focus
            } else {
                theme.dim
            };
            assert_eq!(
                Some(buffer[(x, y)].fg),
                style.fg,
                "{other} by {head}: {}",
                stage.line(y)
            );
        }
    }
}
