//! Actions on alarms: set, remove, list and check.

use super::{ActiveAlarm, AlarmNotice, AlarmSpec, Alarms};
use crate::analysis::alarm::Rung;
use crate::app::effect::Effect;
use crate::app::mode::Mode;
use crate::app::pop_ups::raw::RawView;
use crate::app::scene::Scene;
use crate::app::screen::Screen;
use crate::model::body::Tree;
use crate::model::text::Text;
use crate::session::Session;

pub(crate) fn watch(
    alarms: &mut Alarms,
    session: &mut Session,
    screen: &mut Screen,
    wish: AlarmSpec,
) {
    let words = format!("watching {wish}");
    let last = session.transcript.newest();
    alarms.list.retain(|watch| watch.spec != wish);
    let mut watch = ActiveAlarm::new(wish, last);
    if alarms.has_begun {
        session.with_status(screen.now, None, |status| watch.alarm.begin(status, false));
    }
    alarms.list.push(watch);
    if alarms.list.len() == 1 {
        alarms.touched.clear();
        alarms.orphans = None;
    }
    alarms.has_begun |= session.file.is_caught_up;
    screen.set_status(words);
}

/// Removes an alarm by its number, from 1, or its expression; all alarms if the name is empty.
pub(crate) fn unwatch(alarms: &mut Alarms, screen: &mut Screen, name: &str) {
    let list = &mut alarms.list;
    let before = list.len();
    let number = name
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_sub(1));
    match number {
        _ if name.is_empty() => list.clear(),
        Some(number) if number < before => drop(list.remove(number)),
        _ => list
            .retain(|watch| watch.spec.to_string() != name && watch.spec.expr.to_string() != name),
    }
    screen.set_status(match (before, list.len()) {
        (0, _) => "nothing is watched".to_owned(),
        (_, 0) => "nothing is watched any more".to_owned(),
        (_, left) if before == left => format!("no alarm is called {name}"),
        (_, left) => format!("{left} still watched"),
    });
}

/// Lists the alarms, with the number of their rings and the last time.
pub(crate) fn list(alarms: &Alarms, scene: &mut Scene<'_>) {
    if alarms.list.is_empty() {
        return scene.set_status(
            "nothing is watched; :watch waiting or err rings when the agent waits or fails",
        );
    }
    let text = |text: &str| Tree::Text(Text::clean(text));
    let trees = alarms.list.iter().enumerate().map(|(number, watch)| {
        let mut members = vec![(
            "rang".into(),
            Tree::Number(Text::clean(&watch.fired.to_string())),
        )];
        if let Some((at, words)) = &watch.last {
            members.push(("last".into(), text(&format!("{} {words}", at.clock()))));
        }
        if let Some(command) = &watch.spec.command {
            members.push(("command".into(), text(command)));
        }
        (
            format!("{} {}", number + 1, watch.spec.expr),
            Tree::Map(members),
        )
    });
    let trees: Vec<(String, Tree)> = trees.collect();
    scene.enter(Mode::Raw(RawView::of_trees(
        "watched".to_owned(),
        &trees,
        scene.screen,
    )));
}

/// Called when the session has been read to its end: from then on alarms may ring.
pub(crate) fn begin(alarms: &mut Alarms, session: &mut Session, screen: &Screen) {
    if !alarms.list.is_empty() {
        session.with_status(screen.now, None, |status| {
            alarms
                .list
                .iter_mut()
                .for_each(|watch| watch.alarm.begin(status, false));
        });
        alarms.orphans = None;
    }
    alarms.touched.clear();
    alarms.marks.clear();
    alarms.has_begun = true;
}

/// Checks all alarms against the current session.
pub(crate) fn check(
    alarms: &mut Alarms,
    session: &mut Session,
    screen: &mut Screen,
) -> Vec<Effect> {
    if !alarms.needs_clock() {
        return Vec::new();
    }
    let touched = std::mem::take(&mut alarms.touched);
    let lost = if alarms.needs_findings() {
        session.new_orphan(&mut alarms.orphans)
    } else {
        None
    };
    let mut rung: Vec<(usize, Rung)> = Vec::new();
    let orphan = lost.as_ref().map(|(place, words)| (*place, words.as_str()));
    session.with_status(screen.now, orphan, |status| {
        for (number, watch) in alarms.list.iter_mut().enumerate() {
            rung.extend(
                watch
                    .alarm
                    .check(status, &touched)
                    .map(|rung| (number, rung)),
            );
        }
    });
    rung.into_iter()
        .filter_map(|(number, rung)| fire(alarms, session, screen, number, rung))
        .collect()
}

fn fire(
    alarms: &mut Alarms,
    session: &Session,
    screen: &mut Screen,
    number: usize,
    rung: Rung,
) -> Option<Effect> {
    let watch = alarms.list.get_mut(number)?;
    watch.fired += 1;
    watch.last = Some((screen.now, rung.words.clone()));
    if let Some(place) = rung.at {
        alarms.marks.insert(place.entry);
        alarms.has_new_marks = true;
    }
    screen.set_status(format!("! {}", rung.words));
    let name = session.transcript.meta().title().map(ToString::to_string);
    let file = || {
        let path = &session.file.opened.as_ref()?.path;
        Some(Text::clean(&path.file_name()?.to_string_lossy()).to_string())
    };
    Some(Effect::Notify(AlarmNotice {
        session: name.or_else(file).unwrap_or_default(),
        words: rung.words,
        expression: watch.spec.expr.to_string(),
        address: session.file.address.clone(),
        activity: session.status.activity.word(),
        command: watch.spec.command.clone(),
    }))
}
