//! Tests of the viewer's command line, of the search for keys in the help, and of the user's own
//! bindings.

use std::collections::BTreeMap;

use tv::app::effect::Effect;
use tv::app::input::action::Action;
use tv::app::input::bindings::BINDINGS;
use tv::app::input::keymap::{Keymap, Preset};
use tv::app::input::keys::parse_keys;
use tv::app::input::setting::SETTINGS;
use tv::app::mode::Mode;
use tv::app::panes::Pane;
use tv::app::text::viewport::Focus;
use tv::model::entry::EntryId;
use tv::model::record::FileId;
use tv::render::row::Level;
use tv::render::theme::Theme;

use crate::stage::{Stage, demo, fixture};

fn session() -> Stage {
    Stage::open(&demo(), (100, 30), Theme::dark())
}

/// Types a line and ends it.
fn command(stage: &mut Stage, line: &str) {
    stage.press(":");
    stage.type_in(line);
    stage.press("enter");
}

fn focused(stage: &Stage) -> Option<EntryId> {
    stage.app.reader.text.view.focus.map(|focus| focus.entry)
}

#[test]
fn every_action_can_be_typed() {
    for binding in BINDINGS {
        let mut stage = session();
        command(&mut stage, &binding.action.to_string());
        let status = stage.status();
        assert!(
            !status.contains("no command"),
            "{}: {status}",
            binding.action
        );
    }
}

#[test]
fn letters_are_enough_to_find_a_command() {
    let mut stage = session();
    stage.press(":");
    stage.type_in("lev2");
    assert!(stage.picture().contains("level-2"), "{}", stage.picture());
    stage.press("enter");
    assert!(
        matches!(&stage.app.mode, Mode::Palette(palette) if palette.input.value() == "level-2"),
        "what has only the letters is offered, not run"
    );
    stage.press("enter");
    assert_eq!(stage.app.reader.text.level, Level::of(2));
    stage.press(":");
    stage.type_in("copy");
    let picture = stage.picture();
    assert!(
        picture.contains("copy-json") && picture.contains("yj"),
        "the key stands beside it: {picture}"
    );
    stage.press("down enter");
    assert!(
        !stage.asked.is_empty() || stage.status().contains("copied"),
        "{}",
        stage.status()
    );
    for (typed, name) in [("cost", "cost"), ("orphan", "failures"), ("save", "export")] {
        stage.press(":").type_in(typed);
        let Mode::Palette(palette) = &stage.app.mode else {
            panic!("the palette is open")
        };
        assert_eq!(palette.choices[0].name, name, "{typed}");
        stage.press("esc");
    }
    stage.press(":");
    stage.type_in("flyaway");
    assert!(stage.picture().contains("no such command"));
    stage.press("enter");
    assert!(
        stage.status().contains("no command is called flyaway"),
        "{}",
        stage.status()
    );
    assert!(matches!(stage.app.mode, Mode::Normal));
}

#[test]
fn an_argument_is_asked_for() {
    let mut stage = session();
    stage.press("g");
    let first = focused(&stage);
    stage.press("G :");
    stage.type_in("got");
    stage.press("enter");
    assert!(matches!(&stage.app.mode, Mode::Palette(palette) if palette.input.value() == "goto "));
    stage.type_in("#1");
    stage.press("enter");
    assert_eq!(focused(&stage), first);
    stage.press(": esc");
    assert!(matches!(stage.app.mode, Mode::Normal));
}

#[test]
fn places_are_gone_to() {
    let mut stage = session();
    let order = stage.app.reader.session.transcript.order().to_vec();
    command(&mut stage, "goto #5");
    assert_eq!(focused(&stage), order.get(4).copied());
    let fifth = stage
        .app
        .reader
        .session
        .transcript
        .get(order[4])
        .cloned()
        .unwrap();
    command(&mut stage, "0%");
    assert_ne!(focused(&stage), order.get(4).copied());
    command(&mut stage, &fifth.origin.line.to_string());
    assert_eq!(focused(&stage), order.get(4).copied());
    command(&mut stage, "100%");
    let at_end = focused(&stage);
    command(&mut stage, &fifth.at.unwrap().clock());
    assert_eq!(focused(&stage), order.get(4).copied());
    command(&mut stage, &fifth.at.unwrap().date_and_clock());
    assert!(focused(&stage) <= order.get(4).copied());
    stage.press("' '");
    command(&mut stage, "goto #99999");
    assert!(
        stage.status().contains("nothing is at #99999"),
        "{}",
        stage.status()
    );
    assert_ne!(at_end, order.get(4).copied());
}

#[test]
fn a_line_leads_to_what_it_brought() {
    let mut stage = Stage::open(&fixture("claude-code/busy.jsonl"), (100, 30), Theme::dark());
    stage.press("5");
    let mut brought = BTreeMap::new();
    for id in stage.app.reader.text.sequence.order() {
        let entry = stage.app.reader.session.transcript.get(*id).unwrap();
        for (block, one) in entry.blocks.iter().enumerate() {
            let bodies = one.kind.bodies().map(|body| body.from);
            // What has no body came with the entry.
            for from in bodies
                .chain([entry.origin])
                .filter(|from| from.file == FileId(0))
            {
                brought
                    .entry(from.line)
                    .or_insert(Focus { entry: *id, block });
            }
        }
    }
    assert!(brought.len() > 10, "{brought:?}");
    let mut last = None;
    for line in *brought.keys().next().unwrap()..=*brought.keys().last().unwrap() {
        command(&mut stage, &line.to_string());
        last = brought.get(&line).or(last);
        assert_eq!(
            stage.app.reader.text.view.focus,
            last.copied(),
            "line {line}"
        );
    }
    command(&mut stage, "99999");
    assert!(
        stage.status().contains("nothing is at 99999"),
        "{}",
        stage.status()
    );
}

#[test]
fn the_look_can_be_set() {
    let mut stage = session();
    assert!(stage.picture().contains("? all keys"));
    command(&mut stage, "set nohints");
    assert!(!stage.picture().contains("? all keys"));
    command(&mut stage, "set hints");
    assert!(stage.picture().contains("? all keys"));
    command(&mut stage, "set nothinking");
    assert!(stage.status().contains("thinking hidden"));
    command(&mut stage, "set theme=light");
    assert!(matches!(stage.asked.last(), Some(Effect::Theme(name)) if name == "light"));
    command(&mut stage, "set warp");
    assert!(
        stage.status().contains("nothing to set is called warp"),
        "{}",
        stage.status()
    );
}

#[test]
fn the_help_finds_keys() {
    let mut stage = Stage::open(&demo(), (100, 40), Theme::dark());
    stage.press("? /");
    stage.type_in("previous error");
    let picture = stage.picture();
    assert!(
        picture.contains("previous-failure") && !picture.contains("copy-json"),
        "{picture}"
    );
    stage.press("enter esc");
    assert!(
        stage.picture().contains("Marks and signs"),
        "all of it again"
    );
    stage.press("q");
    assert!(matches!(stage.app.mode, Mode::Normal));
    assert!(stage.asked.is_empty(), "q closed the help only");
}

#[test]
fn keys_of_the_readers_own_are_used_and_shown() {
    let mut stage = session();
    let own = [(Action::Help, vec![parse_keys("x h").unwrap()])];
    stage.app.keys.keymap = Keymap::new(Preset::Vim, &own).0;
    stage.press("?");
    assert!(
        matches!(stage.app.mode, Mode::Normal),
        "? was taken from the help"
    );
    stage.press("x");
    assert!(
        stage.picture().contains("the keys and the signs"),
        "the panel of the chord says so: {}",
        stage.picture()
    );
    stage.press("h");
    assert!(matches!(stage.app.mode, Mode::Help { .. }));
    stage.press("/").type_in("help");
    let picture = stage.picture();
    let help = picture
        .lines()
        .find(|line| line.contains("the keys and the signs"));
    assert!(
        help.is_some_and(|line| line.trim_start().starts_with("xh ")),
        "{picture}"
    );
    stage.press("esc q g");
    let here = focused(&stage);
    stage.press("g");
    assert_ne!(focused(&stage), here, "g g is the beginning in vim");
}

#[test]
fn the_help_says_how_many_lines_it_has() {
    let mut stage = Stage::open(&demo(), (100, 40), Theme::dark());
    stage.press("? /");
    stage.type_in("previous error");
    let lines = (1..39).filter(|y| !stage.line(*y).is_empty()).count();
    let title = stage.line(0);
    let (_, counts) = title.rsplit_once("1–").unwrap_or_else(|| panic!("{title}"));
    let (last, all) = counts.split_once(" of ").unwrap();
    assert!(
        last == all
            && all
                .parse::<usize>()
                .is_ok_and(|all| all >= lines && all < 38),
        "{title}"
    );
}

#[test]
fn the_chosen_command_stays_in_sight() {
    let mut stage = session();
    stage.press(":");
    for _ in 0..40 {
        stage.press("down");
        let Mode::Palette(palette) = &stage.app.mode else {
            panic!("the palette is open")
        };
        let name = palette.choices[palette.selected].name.clone();
        let mark = format!("▸ {name}");
        assert!(
            (0..30).any(|y| stage.line(y).starts_with(&mark)),
            "{mark}: {}",
            stage.picture()
        );
    }
}

/// The mark of the chosen row has the colour of what has the keys.
#[test]
fn a_page_shows_whether_it_has_the_keys() {
    let mut stage = Stage::open(&demo(), (200, 50), Theme::dark());
    stage.press("g 3").wait(300);
    let mark = |stage: &Stage| {
        let view = stage.app.reader.frame().view;
        let buffer = stage.buffer();
        let marks = (view.y..view.bottom())
            .map(|y| &buffer[(view.x, y)])
            .filter(|cell| cell.symbol() == "▸");
        marks.map(|cell| cell.fg).collect::<Vec<_>>()
    };
    let theme = Theme::dark();
    assert_eq!(
        mark(&stage),
        theme.focus.fg.into_iter().collect::<Vec<_>>(),
        "{}",
        stage.picture()
    );
    while stage.app.reader.focused() == Pane::View {
        stage.press("tab");
    }
    assert_eq!(
        mark(&stage),
        theme.dim.fg.into_iter().collect::<Vec<_>>(),
        "{}",
        stage.picture()
    );
}

#[test]
fn an_expression_behind_a_command_is_completed_as_on_its_own_line() {
    let mut stage = Stage::open(&demo(), (80, 24), Theme::dark());
    stage.press(":").type_in("filter err or too").press("tab");
    assert!(
        stage.status().starts_with(":filter err or tool:"),
        "{}",
        stage.picture()
    );
    stage.press("esc :").type_in("watch wai").press("tab");
    assert!(
        stage.status().starts_with(":watch waiting"),
        "{}",
        stage.picture()
    );
}

/// The choices behind a line, as they would be typed.
fn choices(stage: &Stage) -> Vec<String> {
    let Mode::Palette(palette) = &stage.app.mode else {
        panic!("the palette is open: {}", stage.picture())
    };
    let typed = palette
        .choices
        .iter()
        .filter(|choice| choice.argument.is_empty());
    typed.map(|choice| choice.name.clone()).collect()
}

#[test]
fn a_command_with_a_set_of_arguments_offers_each_and_completes_it() {
    let mut stage = session();
    stage.app.themes = vec!["dark", "nord"];
    command(&mut stage, "watch waiting");
    for (typed, offered, narrowed, completed) in [
        (
            "export ",
            "export md rows",
            "marks htm",
            "export html marks",
        ),
        ("set ", "set nohints", "notify osc", "set notify=osc"),
        ("set ", "set theme=nord", "nord", "set theme=nord"),
        ("set ", "set images=sixel", "sixel", "set images=sixel"),
        ("help ", "help finding", "finding", "help finding"),
        ("unwatch ", "unwatch 1", "wait", "unwatch 1"),
        ("filter ", "filter err", "role:b", "filter role:bot"),
        ("watch ", "watch waiting", "wai", "watch waiting"),
    ] {
        stage.press(":").type_in(typed);
        assert!(
            choices(&stage).iter().any(|choice| choice == offered),
            "{typed}: {:?}",
            choices(&stage)
        );
        stage.type_in(narrowed).press("tab");
        let Mode::Palette(palette) = &stage.app.mode else {
            panic!("the palette is open")
        };
        assert_eq!(
            palette.input.value().trim_end(),
            completed,
            "{typed}{narrowed}"
        );
        stage.press("esc");
    }
    // Nothing of a set is done by Enter alone.
    stage.asked.clear();
    stage.press(":").type_in("export ").press("enter");
    assert!(stage.asked.is_empty(), "{:?}", stage.asked);
    assert!(
        stage.status().starts_with(":export html"),
        "{}",
        stage.status()
    );
    stage.press("enter");
    assert!(
        matches!(stage.asked[..], [Effect::Export(..)]),
        "{:?}",
        stage.asked
    );
}

/// Enter on a setting whose value is missing lists its values, and sets none of them.
#[test]
fn a_setting_without_a_value_leads_to_its_values() {
    let mut stage = session();
    stage.app.themes = vec!["dark", "nord"];
    for (typed, leads, offered) in [
        ("set theme", "set theme=", "set theme=nord"),
        ("theme", "set theme=", "set theme=nord"),
        ("set gutter", "set gutter=", "set gutter=bytes"),
        ("set images", "set images=", "set images=sixel"),
        ("set mou", "set mouse", "set mouse"),
    ] {
        stage.asked.clear();
        stage.press(":").type_in(typed).press("enter");
        let Mode::Palette(palette) = &stage.app.mode else {
            panic!("{typed}: the palette is open: {}", stage.status())
        };
        assert_eq!(palette.input.value().trim_end(), leads, "{typed}");
        assert!(
            choices(&stage).iter().any(|choice| choice == offered),
            "{typed}: {:?}",
            choices(&stage)
        );
        assert!(stage.asked.is_empty(), "{typed}: {:?}", stage.asked);
        stage.press("esc");
    }
    stage.press(":").type_in("theme").press("enter down enter");
    assert!(
        matches!(&stage.asked[..], [Effect::Theme(name)] if name == "nord"),
        "{:?}",
        stage.asked
    );
}

/// The panel shows a dozen rows of all that it counts, and marks those that it cuts.
#[test]
fn the_palette_counts_what_it_does_not_show_and_marks_what_it_cuts() {
    let mut stage = Stage::open(&demo(), (60, 24), Theme::dark());
    stage.press(":").type_in("set ");
    let Mode::Palette(palette) = &stage.app.mode else {
        panic!("the palette is open")
    };
    let all = palette.choices.len();
    let rows = |stage: &Stage| -> Vec<String> {
        let lines = (0..24).map(|y| stage.line(y));
        lines
            .filter(|line| line.trim_start_matches(['▸', ' ']).starts_with("set "))
            .collect()
    };
    let picture = stage.picture();
    assert!(picture.contains(&format!(" {all} commands ")), "{picture}");
    assert_eq!(rows(&stage).len(), 12, "{picture}");
    assert!(all > 12);
    stage.press("esc").press(":").type_in("export");
    let picture = stage.picture();
    let cut = (0..24).map(|y| stage.line(y));
    let cut: Vec<String> = cut.filter(|line| line.contains("export html|md")).collect();
    assert!(
        !cut.is_empty() && cut.iter().all(|line| line.trim_end().ends_with('…')),
        "{picture}"
    );
}

#[test]
fn every_setting_that_can_be_set_is_offered() {
    let mut stage = session();
    for setting in SETTINGS {
        stage.press(":").type_in("set ").type_in(setting.name);
        let Mode::Palette(palette) = &stage.app.mode else {
            panic!("the palette is open")
        };
        let offers = palette
            .choices
            .iter()
            .filter(|choice| choice.name.starts_with("set"));
        let is_offered = offers.clone().count() > 0;
        let line = format!("set {}", setting.name);
        let can_be_set = !["level", "ascii", "state", "late"].contains(&setting.name);
        assert_eq!(is_offered, can_be_set, "{line}: {:?}", palette.choices);
        stage.press("esc");
    }
}

/// `?` begins with the kind of the chosen row and its marks, as the row has them.
#[test]
fn the_help_explains_the_chosen_row_first() {
    let mut stage = Stage::open(&demo(), (120, 40), Theme::dark());
    let first = |stage: &Stage| (1..5).map(|y| stage.line(y)).collect::<Vec<_>>().join("\n");
    stage.press("g ?");
    assert!(first(&stage).contains("This row"), "{}", stage.picture());
    assert!(
        first(&stage).contains("a prompt; it opens a turn"),
        "{}",
        stage.picture()
    );
    stage.press("q e ?");
    for (columns, lines) in [(120, 40), (100, 30)] {
        stage.resize(columns, lines);
        assert!(
            first(&stage).contains("✗      the tool or its command failed"),
            "{}",
            stage.picture()
        );
    }
    let mut stage = Stage::open(
        &fixture("lint/orphan-result/bad.jsonl"),
        (80, 24),
        Theme::dark(),
    );
    stage.press("! ?");
    let words = first(&stage);
    assert!(
        words.contains("orphan") && words.contains("% looks for it"),
        "{}",
        stage.picture()
    );
    assert!(words.contains("!      "), "its finding: {words}");
}
