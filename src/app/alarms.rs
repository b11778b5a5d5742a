//! Alarms that the reader set: `:watch EXPR`, or `watch` in the settings.
//!
//! Invariant: an alarm rings for what comes after the session was read to its end, never for what was there
//! when watching began; and no text of the session is a part of a command.

use std::collections::HashSet;
use std::str::FromStr;

use super::effect::Effect;
use super::raw;
use super::reader::Reader;
use super::state::App;
use crate::analysis::activity;
use crate::analysis::alarm::{Alarm, Rung, Status};
use crate::analysis::calls::Place;
use crate::analysis::expression::parse::{Mistake, parse_alarm};
use crate::analysis::expression::{Expr, State as Fact};
use crate::analysis::lint::Finding;
use crate::model::body::Tree;
use crate::model::entry::EntryId;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Touched;

/// How the reader is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ring {
    /// By the terminal's bell.
    Bell,
    /// By a notification, where the terminal has them.
    Osc,
    /// By both.
    #[default]
    Both,
    /// Only on the screen.
    Off,
}

/// What is watched, and the shell command that runs when it comes about.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// What is watched.
    pub expr: Expr,
    /// The command.
    pub command: Option<String>,
}

/// Something that came about, for whoever tells the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What the session is called.
    pub session: String,
    /// What came about.
    pub words: String,
    /// What was watched.
    pub expression: String,
    /// What opens the session on the command line.
    pub address: Option<String>,
    /// What the agent does, in the word of the JSON outputs.
    pub activity: &'static str,
    /// A shell command of the reader's.
    pub command: Option<String>,
    /// How the reader is told.
    pub means: Ring,
}

/// An alarm that was set.
#[derive(Clone, Debug)]
struct Watch {
    wish: Wish,
    alarm: Alarm,
    rung: u64,
    last: Option<(Timestamp, String)>,
}

/// All alarms of a session.
#[derive(Clone, Debug, Default)]
pub struct Alarms {
    /// How the reader is told.
    pub means: Ring,
    list: Vec<Watch>,
    /// Entries that have come or changed since the last look.
    touched: Vec<EntryId>,
    /// Entries at which an alarm rang.
    pub marks: HashSet<EntryId>,
    /// Findings of lost halves that were there at the last look.
    orphans: Option<HashSet<Place>>,
    has_begun: bool,
}

impl Ring {
    const ALL: [(&'static str, Self); 4] =
        [("bell", Self::Bell), ("osc", Self::Osc), ("both", Self::Both), ("off", Self::Off)];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, means)| *means == self).map_or("", |(word, _)| word)
    }
}

impl FromStr for Ring {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let means = Self::ALL.iter().find(|(word, _)| *word == typed).map(|(_, means)| *means);
        means.ok_or_else(|| "an alarm is told by bell, osc, both or off".to_owned())
    }
}

impl FromStr for Wish {
    type Err = Mistake;

    /// `EXPR` or `EXPR | COMMAND`. A bar within quotes or a regular expression is a part of those.
    fn from_str(typed: &str) -> Result<Self, Mistake> {
        let whole = parse_alarm(typed);
        for (at, _) in typed.match_indices('|').filter(|_| whole.is_err()) {
            let (left, right) =
                (typed.get(..at).unwrap_or_default(), typed.get(at + 1..).unwrap_or_default());
            if let (Ok(expr), command) = (parse_alarm(left), right.trim())
                && !command.is_empty()
            {
                return Ok(Self { expr, command: Some(command.to_owned()) });
            }
        }
        // A mistake before the bar is the one to be told.
        match typed.split_once('|') {
            Some((left, _)) if whole.is_err() => parse_alarm(left).and(whole),
            _ => whole,
        }
        .map(|expr| Self { expr, command: None })
    }
}

impl std::fmt::Display for Wish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.command {
            Some(command) => write!(f, "{} | {command}", self.expr),
            None => write!(f, "{}", self.expr),
        }
    }
}

impl Alarms {
    /// The alarms that the settings ask for.
    pub fn of(wishes: &[Wish], means: Ring) -> Self {
        let list = wishes.iter().map(|wish| Watch::new(wish.clone(), None)).collect();
        Self { means, list, ..Self::default() }
    }

    /// The same alarms for the same session, read anew.
    #[must_use]
    pub fn again(self) -> Self {
        Self { means: self.means, list: self.list, ..Self::default() }
    }

    /// Whether time alone may make one ring.
    pub fn needs_clock(&self) -> bool {
        !self.list.is_empty() && self.has_begun
    }

    /// Whether one waits for what the lint finds.
    pub fn want_findings(&self) -> bool {
        self.list.iter().any(|watch| watch.alarm.asks_for(|fact| *fact == Fact::Orphan))
    }

    /// How many are set.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Notes what a batch touched.
    pub fn note(&mut self, touched: &Touched) {
        if !self.list.is_empty() {
            self.touched.extend(touched.added.iter().chain(&touched.changed));
        }
    }
}

impl Watch {
    fn new(wish: Wish, last: Option<Timestamp>) -> Self {
        let alarm = Alarm::new(wish.expr.clone(), last);
        Self { wish, alarm, rung: 0, last: None }
    }
}

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
    raw::show(app, "watched".to_owned(), &trees);
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
    if !reader.session.indexes.follow_findings(&reader.session.transcript, &mut reader.session.findings) {
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
    reader.session.findings.iter().filter(|finding| finding.is_orphan())
}

fn place_of(finding: &Finding) -> Place {
    Place { entry: finding.entry, block: finding.block }
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

#[cfg(test)]
mod tests {
    use super::Wish;

    #[test]
    fn what_is_watched_prints_as_it_is_parsed() {
        for (typed, command) in [
            ("waiting", None),
            ("err or silent>90s", None),
            ("waiting | notify-send tv", Some("notify-send tv")),
            ("/a|b/ | tee x | wc", Some("tee x | wc")),
            ("\"a|b\"", None),
            ("/a|b/", None),
        ] {
            let wish: Wish = typed.parse().unwrap();
            assert_eq!(wish.command.as_deref(), command, "{typed}");
            assert_eq!(wish.to_string(), typed);
        }
    }

    #[test]
    fn mistakes_are_those_of_the_expression() {
        let mistake = |typed: &str| typed.parse::<Wish>().unwrap_err().what;
        assert!(mistake("wating | true").contains("wating"));
        assert!(mistake("waiting |").contains('|'), "{}", mistake("waiting |"));
        assert!(mistake("").contains("missing"));
    }
}
