//! Tests of the arguments, in several environments.

use std::ffi::OsString;
use std::sync::Arc;

use clap::{CommandFactory, Parser};

use super::{Args, Command, Config, Output, Surroundings, charset, completions, redacts};
use super::{list_options, show_instead, show_options};
use crate::analysis::by::By;
use crate::app::input::setting::{self, Assignment, Values};
use crate::app::state::App;
use crate::ingest::find::Environment;
use crate::ingest::{Target, WatchMode, parse_target};
use crate::model::text::outlet::Charset;
use crate::model::timestamp::{Timestamp, Zone};
use crate::render::code::Colours;
use crate::render::manual::PAGES;
use crate::render::row::Level;
use crate::render::theme::Theme;
use crate::report::outcome::ReportOutcome;
use crate::runtime::config::{DemoSpeed, Start, ThemeChoice};
use crate::runtime::open_session;

fn on_a_terminal() -> Surroundings {
    Surroundings {
        columns: Some(120),
        term: Some("xterm-256color".to_owned()),
        ..Surroundings::default()
    }
}

fn resolve(line: &str, surroundings: Surroundings) -> Result<Config, clap::Error> {
    let words = std::iter::once("tv")
        .chain(line.split_whitespace())
        .map(OsString::from);
    Config::resolve(words, surroundings)
}

fn args(line: &str) -> Args {
    Args::try_parse_from(std::iter::once("tv").chain(line.split_whitespace())).unwrap()
}

/// What a report comes to, and what it writes.
fn report(line: &str, surroundings: Surroundings) -> (ReportOutcome, String) {
    let Config::Report(report) = resolve(line, surroundings).unwrap() else {
        panic!("{line} is no report")
    };
    let mut out = Vec::new();
    let to = Output {
        now: || Timestamp(0),
        progress: &mut |_, _| {},
        out: &mut out,
    };
    let outcome = report.write(to).unwrap();
    (outcome, String::from_utf8(out).unwrap())
}

#[test]
fn the_arguments_are_well_formed() {
    Args::command().debug_assert();
}

#[test]
fn a_session_is_viewed_on_a_terminal_and_written_elsewhere() {
    let on_terminal = resolve("a.jsonl --level 4 --poll", on_a_terminal()).unwrap();
    let Config::View(view) = on_terminal else {
        panic!("{on_terminal:?}")
    };
    assert_eq!((view.level, view.watch), (Level::Full, WatchMode::Poll));
    let target = Target::at("a.jsonl");
    assert_eq!(view.start, Start::Session(target));
    let elsewhere = |surroundings: Surroundings| {
        let config = resolve("a.jsonl --level 2", surroundings.clone()).unwrap();
        assert!(matches!(config, Config::Report(_)), "{config:?}");
        show_instead(Vec::new(), &args("a.jsonl --level 2").look, &surroundings)
    };
    let show = elsewhere(Surroundings::default());
    assert_eq!(
        (show.level, show.paper.width, show.paper.colour),
        (Level::Outline, 100, false)
    );
    let dumb = Surroundings {
        term: Some("dumb".to_owned()),
        ..on_a_terminal()
    };
    assert!(!elsewhere(dumb).paper.colour);
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let no_color = || Surroundings {
        no_color: true,
        ..on_a_terminal()
    };
    for (line, surroundings, expected) in [
        ("show a", on_a_terminal(), true),
        ("show a", no_color(), false),
        ("show a", Surroundings::default(), false),
        ("show a --color always", no_color(), true),
        ("show a --color never", on_a_terminal(), false),
    ] {
        let Some(Command::Show(show)) = args(line).command else {
            panic!("{line}")
        };
        let show = show_options(&show, &surroundings);
        assert_eq!(show.paper.colour, expected, "{line}");
    }
}

#[test]
fn the_locale_decides_on_glyphs() {
    for (locale, ascii) in [
        (None, false),
        (Some("C"), true),
        (Some("C.UTF-8"), false),
        (Some("en_US.utf8"), false),
        (Some("de_DE"), true),
        (Some("de_DE.ISO-8859-1"), true),
    ] {
        let surroundings = Surroundings {
            locale: locale.map(str::to_owned),
            ..on_a_terminal()
        };
        let Some(Command::Show(show)) = args("show a").command else {
            panic!("no command")
        };
        let show = show_options(&show, &surroundings);
        assert_eq!(show.paper.ascii, ascii, "{locale:?}");
    }
}

#[test]
fn what_is_listed_comes_from_the_arguments_and_the_environment() {
    let environment = Environment {
        home: Some("/home/me".into()),
        ..Environment::default()
    };
    let surroundings = || Surroundings {
        environment: environment.clone(),
        ..on_a_terminal()
    };
    let Some(Command::List(list)) = args("list --agent pi --limit 5 src tests").command else {
        panic!("no command")
    };
    let list = list_options(list, surroundings());
    assert_eq!(
        (list.limit, list.json, list.paper.width),
        (Some(5), false, 120)
    );
    assert_eq!(
        (list.search.targets, list.search.format),
        (
            ["src", "tests"].map(Target::at).to_vec(),
            Some("pi".to_owned())
        )
    );
    assert_eq!(list.search.environment, environment);
    let (nameless, _) = report("wait no-such-session --until err", surroundings());
    assert!(
        matches!(&nameless, ReportOutcome::Failed(why) if why[0].0.contains("`tv list` shows all")),
        "{nameless:?}"
    );
}

#[test]
fn several_sessions_are_read_as_one_and_the_picker_lists_them() {
    let config = resolve("a.jsonl b.jsonl", on_a_terminal()).unwrap();
    let Config::View(view) = config else {
        panic!("{config:?}")
    };
    assert_eq!(view.start, Start::Session(Target::at("a.jsonl")));
    assert_eq!(view.listed, ["a.jsonl", "b.jsonl"].map(parse_target));
    assert_eq!(view.joined, [Target::at("b.jsonl")]);
    let one = resolve("a.jsonl", on_a_terminal()).unwrap();
    assert!(matches!(one, Config::View(view) if view.listed.is_empty()));
    let folder = resolve("src", on_a_terminal()).unwrap();
    assert!(matches!(folder, Config::View(view) if view.listed == [parse_target("src")]));
    // A folder with several sessions opens the picker, unless they are read as one or `--newest` is
    // given.
    let folder = "tests/fixtures/gemini";
    let start = |line: String| match resolve(&line, on_a_terminal()).unwrap() {
        Config::View(view) => (view.start, view.joined.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(start(folder.to_owned()), (Start::Picker, 0));
    let (first, others) = start(format!("--join {folder}"));
    assert!(matches!(first, Start::Session(_)) && others > 0);
    let (newest, others) = start(format!("--newest {folder}"));
    assert_eq!((newest, others), (first, 0));
    let (_, listed) = report(folder, Surroundings::default());
    assert!(listed.lines().count() > others, "{listed}");
    let session = |name| format!("{folder}/session-2026-0{name}.jsonl");
    let (one, other) = (
        session("9-10T09-00-9a000000"),
        session("9-03T09-00-8f000000"),
    );
    let (_, both) = report(&format!("{one} {other}"), Surroundings::default());
    let (head, both) = both.split_once('\n').unwrap();
    assert!(head.contains("2 sessions joined: "), "{head}");
    let earlier = both.find("Which valve leaks?");
    assert!(
        earlier.is_some() && earlier < both.find("Name one lock."),
        "as one session, by time: {both}"
    );
}

#[test]
fn options_stand_behind_the_command() {
    for line in ["--ascii list", "--format codex list"] {
        let error = resolve(line, Surroundings::default()).unwrap_err();
        let said = error.to_string();
        assert!(
            error.exit_code() == 2 && said.contains("behind the command: `tv list --"),
            "{said}"
        );
    }
}

#[test]
fn the_demo_needs_a_terminal_and_a_speed() {
    let demo = resolve("demo --speed 2.5 --theme light", on_a_terminal()).unwrap();
    let Config::View(view) = demo else {
        panic!("{demo:?}")
    };
    let light = ThemeChoice::Named("light".to_owned());
    assert_eq!(
        (view.start, view.theme),
        (Start::Demo(DemoSpeed(2.5)), light)
    );
    assert!(resolve("demo --speed 0", on_a_terminal()).is_err());
    assert!(resolve("demo --speed nan", on_a_terminal()).is_err());
    assert!(resolve("demo", Surroundings::default()).is_err());
}

#[test]
fn without_a_session_all_are_to_choose_from_on_a_terminal() {
    let config = resolve("--ascii", on_a_terminal()).unwrap();
    let Config::View(view) = config else {
        panic!("{config:?}")
    };
    assert_eq!(
        (view.start, view.listed, view.terminal.ascii),
        (Start::Picker, Vec::new(), true)
    );
    let dumb = Surroundings {
        term: Some("dumb".to_owned()),
        ..on_a_terminal()
    };
    for surroundings in [dumb, Surroundings::default()] {
        let error = resolve("", surroundings).unwrap_err();
        assert!(
            error.exit_code() == 2 && error.to_string().contains("tv list"),
            "{error}"
        );
    }
}

#[test]
fn wrong_arguments_are_usage_errors() {
    for line in [
        "stats",
        "show",
        "list --agent nobody",
        "show a --width 3",
        "a --level 6",
        "a --nonsense",
        "completions tcl",
    ] {
        let error = resolve(line, on_a_terminal()).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
    }
    assert_eq!(
        resolve("--help", on_a_terminal()).unwrap_err().exit_code(),
        0
    );
}

#[test]
fn completions_know_the_commands_and_the_topics() {
    let script = String::from_utf8(completions(clap_complete::Shell::Bash)).unwrap();
    assert!(
        ["show", "stats", "doctor", "list", "demo"]
            .iter()
            .all(|command| script.contains(command))
    );
    assert!(
        PAGES.iter().all(|page| script.contains(page.topic)),
        "{script}"
    );
}

#[test]
fn help_is_a_page_or_that_of_a_command() {
    let help = |line, surroundings| {
        let (_, page) = report(line, surroundings);
        let widest = page.lines().map(|line| line.chars().count()).max();
        (page.contains('\x1b'), widest > Some(80), page)
    };
    let (is_coloured, is_wide, page) = help("help finding", on_a_terminal());
    assert!(is_coloured && is_wide, "{page}");
    let (is_coloured, is_wide, page) = help("help finding", Surroundings::default());
    assert!(!is_coloured && !is_wide, "{page}");
    let (.., topics) = help("help", Surroundings::default());
    assert!(
        PAGES.iter().all(|page| topics.contains(page.topic)),
        "{topics}"
    );
    for command in super::command().get_subcommands() {
        let name = command.get_name();
        // A page with the name of a command also describes the command.
        if let Some(page) = PAGES.iter().find(|page| page.topic == name) {
            assert!(
                page.text(str::to_owned).contains(&format!("`tv {name}`")),
                "{name} hides a command"
            );
            continue;
        }
        let help = resolve(&format!("help {name}"), on_a_terminal()).unwrap_err();
        assert!(
            !help.use_stderr() && help.to_string().contains(&format!("Usage: tv {name}")),
            "{help}"
        );
    }
}

#[test]
fn keys_themes_and_manual_pages_are_written() {
    let (_, keys) = report("keys", Surroundings::default());
    assert!(keys.contains("pgdn"), "{keys}");
    let (_, page) = report("man", on_a_terminal());
    assert!(
        page.contains(".TH tv 1") && page.contains("tv\\-show(1)"),
        "{page}"
    );
    let (_, page) = report("man show", on_a_terminal());
    assert!(
        page.contains("\\-\\-width") && page.contains("tv\\-show"),
        "{page}"
    );
    assert_eq!(
        resolve("man fly", on_a_terminal()).unwrap_err().exit_code(),
        2
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("themes")).unwrap();
    std::fs::write(folder.path().join("themes/mine.toml"), "light = true\n").unwrap();
    std::fs::write(folder.path().join("themes/nord.toml"), "").unwrap();
    let settings_folder = Some(folder.path().to_owned());
    let surroundings = Surroundings {
        settings_folder,
        ..Surroundings::default()
    };
    let (_, themes) = report("themes", surroundings.clone());
    let name_of = |line: &'_ str| line.split(' ').next().unwrap_or_default().to_owned();
    let names: Vec<String> = themes.lines().map(name_of).collect();
    assert!(
        names.starts_with(&["dark", "light", "mono"].map(str::to_owned))
            && names.ends_with(&["mine", "nord"].map(str::to_owned)),
        "{themes}"
    );
    let (_, sampled) = report("themes --color always", surroundings);
    assert!(
        sampled.lines().count() > themes.lines().count() && sampled.contains('\x1b'),
        "{sampled}"
    );
}

#[test]
fn a_slip_in_a_command_is_named_and_a_session_never_taken_for_one() {
    for (line, meant) in [
        (
            "shwo a.jsonl",
            "neither a command nor a session is called shwo; did you mean `tv show`?",
        ),
        ("stat a.jsonl b.jsonl", "did you mean `tv stats`?"),
        ("lits", "did you mean `tv list`?"),
        ("breif a", "did you mean `tv brief`?"),
    ] {
        for surroundings in [on_a_terminal(), Surroundings::default()] {
            let error = resolve(line, surroundings).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(meant), "{line}: {error}");
        }
    }
    for line in [
        "a.jsonl",
        "show.jsonl",
        "./shwo",
        "5d0c1c52",
        "src",
        "harbour",
    ] {
        assert!(resolve(line, on_a_terminal()).is_ok(), "{line}");
    }
    let error = resolve("wait a --until silent", on_a_terminal())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("silent needs a figure, as in silent>90s"),
        "{error}"
    );
}

#[test]
fn every_setting_reaches_the_viewer_and_has_its_default_there() {
    let new_app = || {
        let colours = Arc::new(Colours::never());
        App::new(Theme::dark(), Level::Preview, colours, Timestamp(0))
    };
    let mut kept = setting::values(&mut new_app());
    assert!(kept.len() > 10);
    for value in &kept {
        assert_eq!(value.word, value.setting.default, "{value}");
    }
    let panes = ["outline", "inspector"].map(|name| format!("no{name}").parse().unwrap());
    kept.extend::<[Assignment; 2]>(panes);
    for value in kept {
        let mut words = value.setting.words().to_vec();
        assert!(words.len() > 1, "{value}");
        words.push(words[0]);
        for word in words {
            let name = value.setting.name;
            let typed = match (value.setting.values, word) {
                (Values::Switch, "on") => "true".to_owned(),
                (Values::Switch, _) => "false".to_owned(),
                _ => format!("\"{word}\""),
            };
            let settings = Some(("config.toml".into(), format!("{name} = {typed}\n")));
            let config = resolve(
                "a.jsonl",
                Surroundings {
                    settings,
                    ..on_a_terminal()
                },
            )
            .unwrap();
            let Config::View(view) = config else {
                panic!("{config:?}")
            };
            let mut app = new_app();
            view.apply(&mut app);
            let values = setting::values(&mut app);
            let set = values.iter().find(|value| value.setting.name == name);
            assert_eq!(set.map(|set| set.word.as_str()), Some(word), "{name}");
            drop(open_session::clear(&mut app, &view));
            assert_eq!(setting::values(&mut app), values, "in the next session");
        }
    }
    Zone::show_utc(false);
}

#[test]
fn sums_are_by_one_span_of_time() {
    for (line, expected) in [
        ("usage", vec![By::Day]),
        ("usage --by month,day,model", vec![By::Day, By::Model]),
        ("usage --by session,month", vec![By::Month, By::Session]),
    ] {
        let Some(Command::Usage(usage)) = args(line).command else {
            panic!("{line}")
        };
        assert_eq!(usage.options(&on_a_terminal()).by, expected, "{line}");
    }
}

#[test]
fn what_stands_behind_two_dashes_is_no_switch() {
    let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    for (line, is_switch) in [
        ("grep x --ascii --redact", true),
        ("grep x -- --ascii --redact", false),
    ] {
        let charset = charset(words(line), &Surroundings::default());
        assert_eq!(
            (charset == Charset::Ascii, redacts(words(line))),
            (is_switch, is_switch),
            "{line}"
        );
    }
}
