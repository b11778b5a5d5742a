//! Alarms are set, looked at and listed.

use super::Alarms;
use super::Notice;
use super::Watch;
use super::Wish;
use super::place_of;
use crate::analysis::activity;
use crate::analysis::alarm::{Rung, Status};
use crate::analysis::calls::Place;
use crate::analysis::lint::Finding;
use crate::app::effect::Effect;
use crate::app::raw;
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::model::body::Tree;
use crate::model::text::Text;

/// Sets an alarm.
pub fn watch(reader: &mut Reader, wish: Wish) {
    let words = format!("watching {wish}");
    let last =
        reader.session.transcript.order().iter().rev().find_map(|id| reader.session.transcript.get(*id)?.at);
    let mut alarms = std::mem::take(&mut reader.alarms);
    alarms.list.retain(|watch| watch.wish != wish);
    let mut watch = Watch::new(wish, last);
    if alarms.has_begun {
        with_status(reader, None, |status| watch.alarm.begin(status, false));
    }
    alarms.list.push(watch);
    if alarms.list.len() == 1 {
        alarms.touched.clear();
        alarms.orphans = None;
    }
    alarms.has_begun |= reader.session.file.is_caught_up;
    reader.alarms = alarms;
    reader.screen.say(words);
}

/// Ends an alarm, by its number from 1 or its expression; without a name all.
pub fn unwatch(reader: &mut Reader, name: &str) {
    let before = reader.alarms.list.len();
    let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match number {
        _ if name.is_empty() => reader.alarms.list.clear(),
        Some(number) if number < before => drop(reader.alarms.list.remove(number)),
        _ => reader
            .alarms
            .list
            .retain(|watch| watch.wish.to_string() != name && watch.wish.expr.to_string() != name),
    }
    let left = reader.alarms.list.len();
    reader.screen.say(match (before, left) {
        (0, _) => "nothing is watched".to_owned(),
        (_, 0) => "nothing is watched any more".to_owned(),
        _ if before == left => format!("no alarm is called {name}"),
        _ => format!("{left} still watched"),
    });
}

/// Shows what is watched, and what came of it.
pub fn list(app: &mut App) {
    if app.reader.alarms.list.is_empty() {
        app.reader
            .screen
            .say("nothing is watched; :watch waiting or err rings when the agent waits or fails");
        return;
    }
    let text = |text: &str| Tree::Text(Text::clean(text));
    let trees = app.reader.alarms.list.iter().enumerate().map(|(number, watch)| {
        let mut members = vec![("rang".into(), Tree::Number(Text::clean(&watch.rung.to_string())))];
        if let Some((at, words)) = &watch.last {
            members.push(("last".into(), text(&format!("{} {words}", at.clock()))));
        }
        if let Some(command) = &watch.wish.command {
            members.push(("command".into(), text(command)));
        }
        (format!("{} {}", number + 1, watch.wish.expr), Tree::Map(members))
    });
    let trees: Vec<(String, Tree)> = trees.collect();
    raw::actions::show(app, "watched".to_owned(), &trees);
}

/// The session is read to its end: from here on things are news.
pub fn begin(reader: &mut Reader) {
    let mut alarms = std::mem::take(&mut reader.alarms);
    if !alarms.list.is_empty() {
        with_status(reader, None, |status| {
            alarms.list.iter_mut().for_each(|watch| watch.alarm.begin(status, false));
        });
        alarms.orphans = None;
    }
    alarms.touched.clear();
    alarms.marks.clear();
    alarms.has_begun = true;
    reader.alarms = alarms;
}

/// Looks at the session as it is now.
pub fn look(reader: &mut Reader) -> Vec<Effect> {
    if !reader.alarms.needs_clock() {
        return Vec::new();
    }
    let mut alarms = std::mem::take(&mut reader.alarms);
    let touched = std::mem::take(&mut alarms.touched);
    let lost = news_of_orphans(reader, &mut alarms);
    let mut rung: Vec<(usize, Rung)> = Vec::new();
    let orphan = lost.as_ref().map(|(place, words)| (*place, words.as_str()));
    with_status(reader, orphan, |status| {
        for (number, watch) in alarms.list.iter_mut().enumerate() {
            rung.extend(watch.alarm.look(status, &touched).map(|rung| (number, rung)));
        }
    });
    let effects = rung.into_iter().filter_map(|(number, rung)| ring(reader, &mut alarms, number, rung));
    let effects: Vec<Effect> = effects.collect();
    reader.alarms = alarms;
    effects
}

fn ring(reader: &mut Reader, alarms: &mut Alarms, number: usize, rung: Rung) -> Option<Effect> {
    let watch = alarms.list.get_mut(number)?;
    watch.rung += 1;
    watch.last = Some((reader.screen.now, rung.words.clone()));
    if let Some(place) = rung.at {
        alarms.marks.insert(place.entry);
        reader.text.stale.spine = true;
    }
    reader.screen.say(format!("! {}", rung.words));
    let name = reader.session.transcript.meta().title().map(ToString::to_string);
    let file = || {
        let path = &reader.session.file.opened.as_ref()?.path;
        Some(Text::clean(&path.file_name()?.to_string_lossy()).to_string())
    };
    Some(Effect::Notify(Notice {
        session: name.or_else(file).unwrap_or_default(),
        words: rung.words,
        expression: watch.wish.expr.to_string(),
        address: reader.session.file.address.clone(),
        activity: reader.session.status.activity.word(),
        command: watch.wish.command.clone(),
        means: alarms.means,
    }))
}

/// A call or a result that has lost its other half since the last look.
fn news_of_orphans(reader: &mut Reader, alarms: &mut Alarms) -> Option<(Place, String)> {
    if !alarms.want_findings() || reader.session.ends.is_part() {
        return None;
    }
    if !reader.session.indexes.follow_findings(&reader.session.transcript) {
        return None;
    }
    let now: Vec<(Place, &Finding)> = orphans(reader).map(|finding| (place_of(finding), finding)).collect();
    let known = alarms.orphans.take();
    let is_new = |place: &Place| known.as_ref().is_some_and(|known| !known.contains(place));
    let news = now.iter().find(|(place, _)| is_new(place));
    let news = news.map(|(place, finding)| (*place, finding.message.clone()));
    alarms.orphans = Some(now.into_iter().map(|(place, _)| place).collect());
    news
}

fn orphans(reader: &Reader) -> impl Iterator<Item = &Finding> {
    reader.session.indexes.findings.iter().filter(|finding| finding.is_orphan())
}

/// Gives the session as it is now.
fn with_status(reader: &mut Reader, orphan: Option<(Place, &str)>, look: impl FnOnce(&Status<'_>)) {
    reader.session.transcript.settle();
    reader.session.status.activity =
        activity::judge(reader.session.last_entries(), reader.session.file.last_write, reader.screen.now);
    let cost = reader.session.indexes.account.cost(&reader.session.transcript);
    look(&Status {
        transcript: &reader.session.transcript,
        activity: &reader.session.status.activity,
        silence: reader.session.silence(reader.screen.now),
        cost: &cost,
        context: crate::analysis::context::of(&reader.session.transcript),
        run: reader.session.indexes.loops.current(&reader.session.transcript),
        orphan,
    });
}
