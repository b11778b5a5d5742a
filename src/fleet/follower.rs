//! Follows all sessions on one thread: decides which is read next, what is watched, and when to
//! scan for new ones.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};

use super::member::{FleetMember, Inbox};
use super::options::FleetOptions;
use super::sweep::PollSweep;
use crate::analysis::expression::Expr;
use crate::analysis::wall::{News, SessionRow};
use crate::ingest::find::Lookout;
use crate::ingest::{Databases, Outlet, WatchMode, send};
use crate::model::found::{FoundSession, Target};
use crate::model::timestamp::Timestamp;
use crate::source::fs;
use crate::source::watch::{Hints, Watcher};

/// Time slice of the first reading of a session.
const SLICE: Duration = Duration::from_millis(15);
/// Time slice of a session that continues; longer, because it is on the screen already.
const PORTION: Duration = Duration::from_millis(60);
/// Changes within this interval are processed together.
const GATHER: Duration = Duration::from_millis(4);
/// Interval at which time-dependent states are checked: silence, patience, hours.
const TICK: Duration = Duration::from_secs(1);
/// Interval at which all files are polled, with events and without.
const CALM: Duration = Duration::from_secs(2);
const BUSY: Duration = Duration::from_millis(250);
/// Minimum pause between two scans for sessions, after an event and without one; and the factors
/// by which the pauses exceed the duration of a scan.
const SOON: Duration = Duration::from_millis(500);
const LATER: Duration = Duration::from_secs(10);
const SHARE: u32 = 20;
const SHARE_LATER: u32 = 200;

/// The sessions, and the state of the scans.
pub(super) struct FleetFollower<'o> {
    options: FleetOptions,
    outlet: Outlet<'o>,
    inbox: &'o Inbox,
    databases: Databases,
    members: Vec<FleetMember<'o>>,
    lookout: Lookout,
    watcher: Watcher,
    /// Paths that cannot be read at the moment.
    unreadable: Vec<FoundSession>,
    /// Rows of those that were written to recently, in place of the sessions that they may hold.
    rows_of_unreadable: HashMap<Target, SessionRow>,
    /// Paths named by events in which a scan found no session.
    passed: HashSet<PathBuf>,
    /// Number of further sessions in the time range beyond the limit.
    more: usize,
    last_scan: Option<(Instant, Duration)>,
    wants_scan: bool,
    polled: Instant,
    sweep: PollSweep,
    ticked: Instant,
    is_complete: bool,
    alarms: &'o Receiver<Vec<Expr>>,
    news: &'o Sender<News>,
    stop: &'o AtomicBool,
}

impl FleetFollower<'_> {
    /// Follows sessions until the stop flag is set or the receiver is gone.
    pub(super) fn run(
        options: FleetOptions,
        news: &Sender<News>,
        orders: &Receiver<Vec<Expr>>,
        stop: &AtomicBool,
    ) {
        let inbox: Inbox = RefCell::default();
        let outlet = |feed| {
            inbox.borrow_mut().push(feed);
            true
        };
        let lookout = Lookout::new(options.search.clone());
        let now = Instant::now();
        let mut watcher = Watcher::new(options.watch == WatchMode::Native);
        for place in lookout.places() {
            watcher.check_file_system(&place);
        }
        let mut follower = FleetFollower {
            options,
            outlet: &outlet,
            inbox: &inbox,
            databases: Databases::default(),
            members: Vec::new(),
            lookout,
            watcher,
            unreadable: Vec::new(),
            rows_of_unreadable: HashMap::new(),
            passed: HashSet::new(),
            more: 0,
            last_scan: None,
            wants_scan: true,
            polled: now,
            sweep: PollSweep::default(),
            ticked: now,
            is_complete: false,
            alarms: orders,
            news,
            stop,
        };
        while follower.step().is_some() {}
    }

    /// One round. `None` when it is over.
    fn step(&mut self) -> Option<()> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        if self.is_scan_due() {
            self.scan()?;
        }
        if self.lookout.has_older() && !self.members.iter().any(FleetMember::is_unread) {
            self.scan_companions();
        }
        let begun = Instant::now();
        self.apply_alarms();
        self.poll();
        let is_busy = self.read()?;
        self.tick()?;
        if is_busy {
            return Some(());
        }
        if !std::mem::replace(&mut self.is_complete, true) {
            self.send_news(News::Complete)?;
        }
        self.wait(begun);
        Some(())
    }

    /// Applies the latest alarms. They cover everything that is read from here on.
    fn apply_alarms(&mut self) {
        let Some(alarms) = self.alarms.try_iter().last() else {
            return;
        };
        let now = self.now();
        self.members
            .iter_mut()
            .for_each(|member| member.set_alarms(&alarms, now));
        self.options.alarms = alarms;
    }

    fn send_news(&self, news: News) -> Option<()> {
        send(news, self.news, self.stop, &|| ()).then_some(())
    }

    fn now(&self) -> Timestamp {
        (self.options.clock)()
    }

    // === scanning for sessions ===

    fn scan_due(&self) -> Option<Instant> {
        let (at, took) = self.last_scan?;
        let (pause, share) = if self.wants_scan {
            (SOON, SHARE)
        } else {
            (LATER, SHARE_LATER)
        };
        at.checked_add(pause.max(took.saturating_mul(share)))
    }

    fn is_scan_due(&self) -> bool {
        self.last_scan.is_none() || self.scan_due().is_some_and(|due| due <= Instant::now())
    }

    /// Scans, and once more if a folder was not watched before, because a session may have begun in
    /// it meanwhile.
    fn scan(&mut self) -> Option<()> {
        let is_first = self.last_scan.is_none();
        let mut has_new = self.scan_once()?;
        if has_new && !is_first {
            has_new = self.scan_once()?;
        }
        self.wants_scan |= has_new;
        Some(())
    }

    /// Scans once. Returns whether a folder is newly watched.
    fn scan_once(&mut self) -> Option<bool> {
        self.wants_scan = false;
        let now = self.now();
        let from = Timestamp(now.0.saturating_sub_unsigned(self.options.recent_ms));
        let look = self.lookout.scan(from, now);
        if let Some(refused) = look.refused {
            self.send_news(News::Refused(refused))?;
        }
        let mut found = look.found;
        for found in found.split_off(found.len().min(self.options.most)) {
            self.lookout.set_idle(found.place(), found.modified);
        }
        for found in found {
            self.members.push(FleetMember::new(
                found,
                self.databases.clone(),
                &self.options.alarms,
            ));
        }
        self.name_unreadable(look.unreadable, from)?;
        self.drop_old(from)?;
        let more = self.lookout.count_idle(from);
        if std::mem::replace(&mut self.more, more) != more {
            self.send_news(News::More(more))?;
        }
        self.last_scan = Some((Instant::now(), look.duration));
        Some(self.watch())
    }

    /// Drops sessions that are at rest for too long, or exceed the limit.
    fn drop_old(&mut self, from: Timestamp) -> Option<()> {
        let mut signs: Vec<Option<Timestamp>> =
            self.members.iter().map(FleetMember::last_sign).collect();
        signs.sort_by_key(|at| Reverse(*at));
        let is_full = signs.len() > self.options.most;
        let last = signs
            .get(self.options.most.saturating_sub(1))
            .filter(|_| is_full);
        let earliest = last.copied().flatten().map_or(from, |at| at.max(from));
        let is_old = |last: Option<Timestamp>| last.is_some_and(|at| at < earliest);
        let mut left: Vec<Target> = Vec::new();
        for member in self
            .members
            .extract_if(.., |member| is_old(member.last_sign()))
        {
            self.lookout
                .set_idle(member.found.place(), member.last_sign());
            left.extend(member.has_row().then(|| member.found.place()));
        }
        for place in left {
            self.send_news(News::Removed(place))?;
        }
        Some(())
    }

    /// Checks the files beside old sessions, after the end of all others was read.
    fn scan_companions(&mut self) {
        let now = self.now();
        let from = Timestamp(now.0.saturating_sub_unsigned(self.options.recent_ms));
        for found in self.lookout.scan_companions(from, now) {
            self.members.push(FleetMember::new(
                found,
                self.databases.clone(),
                &self.options.alarms,
            ));
        }
        self.watch();
    }

    /// Reports unreadable paths, and gives those that were written to since `from` a row until they
    /// can be read.
    fn name_unreadable(&mut self, unreadable: Vec<FoundSession>, from: Timestamp) -> Option<()> {
        let recent = unreadable
            .iter()
            .filter(|found| found.modified.is_none_or(|at| at >= from));
        let rows = recent
            .map(|found| (found.place(), SessionRow::found(found, None)))
            .collect();
        let before = std::mem::replace(&mut self.rows_of_unreadable, rows);
        for place in before
            .keys()
            .filter(|place| !self.rows_of_unreadable.contains_key(place))
        {
            self.send_news(News::Removed(place.clone()))?;
        }
        for (_, row) in self
            .rows_of_unreadable
            .iter()
            .filter(|(place, row)| before.get(place) != Some(row))
        {
            self.send_news(News::Row(Box::new(row.clone())))?;
        }
        // No event tells when their writer is done.
        self.wants_scan |= !self.rows_of_unreadable.is_empty();
        if unreadable != self.unreadable {
            self.unreadable.clone_from(&unreadable);
            self.send_news(News::Unreadable(unreadable))?;
        }
        Some(())
    }

    /// Watches the folders of the sessions, newest first, and those in which new ones may appear.
    /// Returns whether any folder is new, because something may have happened in it before.
    fn watch(&mut self) -> bool {
        let mut folders: Vec<PathBuf> = Vec::new();
        let mut seen = HashSet::new();
        let own = self
            .members
            .iter()
            .flat_map(FleetMember::folders)
            .collect::<Vec<_>>();
        let others = self
            .lookout
            .places()
            .into_iter()
            .chain(self.lookout.folders.iter().cloned());
        for folder in own.into_iter().chain(others) {
            if seen.insert(folder.clone()) {
                folders.push(folder);
            }
        }
        self.watcher
            .watch(folders.iter().map(PathBuf::as_path), false)
    }

    // === reading ===

    /// Polls the files that events named, and periodically all of them.
    fn poll(&mut self) {
        let hints = Rc::new(self.watcher.take());
        let pause = if self.watcher.is_trusted() {
            CALM
        } else {
            BUSY
        };
        let is_all = hints.everything || self.polled.elapsed() >= pause;
        if is_all {
            self.polled = Instant::now();
            self.wants_scan |= self.watch();
            self.sweep.begin(self.members.len(), &hints);
        }
        let named: HashSet<&Path> = hints
            .paths()
            .flat_map(|path| [Some(&**path), path.parent()])
            .flatten()
            .collect();
        let (now, clock) = (self.now(), Instant::now());
        let mut own = HashSet::new();
        for member in &mut self.members {
            let is_in_turn = is_all && !member.is_idle;
            let is_due = member.due().is_some_and(|due| due <= clock);
            if is_in_turn || is_due || member.is_named(&named) {
                member.poll(self.outlet, self.inbox, &hints, now);
            }
            // Another session of the database may have begun.
            if !named.is_empty() && member.found.session.is_none() {
                own.insert(member.found.path.clone());
            }
        }
        self.wants_scan |= self.is_unknown(&hints, &own);
        self.sweep
            .poll_for(&mut self.members, (self.outlet, self.inbox), now, SLICE);
    }

    /// Whether an event named a path in which a session may have begun or continued.
    fn is_unknown(&mut self, hints: &Hints, own: &HashSet<PathBuf>) -> bool {
        let mut is_unknown = false;
        for path in hints.paths().filter(|path| !own.contains(*path)) {
            // For a session at rest, each write may be the first; for everything else, only the
            // first write matters.
            is_unknown |= self.lookout.contains(path)
                || (self.passed.insert(path.clone()) && fs::exists(path));
        }
        is_unknown
    }

    /// Reads a slice. Returns whether there is more to read.
    fn read(&mut self) -> Option<bool> {
        let clock = Instant::now();
        let now = self.now();
        let mut is_busy = false;
        // Continued sessions are read before new ones, and the end of each before the whole of any.
        let unread = self.members.iter().position(FleetMember::is_unread);
        let mut background = unread.or_else(|| {
            self.members
                .iter()
                .position(|member| !member.is_read() && member.has_more(clock))
        });
        for index in 0..self.members.len() {
            // Requested while the others were read.
            self.apply_alarms();
            let is_background = background == Some(index);
            let Some(member) = self.members.get_mut(index) else {
                break;
            };
            let goes_on = member.is_read() && member.has_more(clock);
            if !(is_background || goes_on) {
                continue;
            }
            let slice = if is_background { SLICE } else { PORTION };
            member.read(self.outlet, self.inbox, now, slice);
            is_busy |= member.has_more(clock);
            self.send(index, now, false)?;
            if is_background {
                background = None;
            }
        }
        let waits = |member: &FleetMember<'_>| !member.is_read() && member.has_more(clock);
        Some(is_busy || self.members.iter().any(waits))
    }

    fn send(&mut self, index: usize, now: Timestamp, is_tick: bool) -> Option<()> {
        let Some(member) = self.members.get_mut(index) else {
            return Some(());
        };
        let (row, rang) = member.news(now, is_tick);
        if let Some(row) = row {
            self.send_news(News::Row(Box::new(row)))?;
        }
        for rang in rang {
            self.send_news(News::AlarmFired(Box::new(rang)))?;
        }
        Some(())
    }

    /// Once a second: updates sessions that work or wait, and sends what polls have changed.
    fn tick(&mut self) -> Option<()> {
        let now = self.now();
        let is_tick = self.ticked.elapsed() >= TICK;
        if is_tick {
            self.ticked = Instant::now();
        }
        for index in 0..self.members.len() {
            let ticks = is_tick
                && self
                    .members
                    .get(index)
                    .is_some_and(|member| member.ticks(now));
            self.send(index, now, ticks)?;
            if let Some(member) = self.members.get_mut(index) {
                member.become_idle(now);
            }
        }
        Some(())
    }

    fn wait(&mut self, begun: Instant) {
        let now = Instant::now();
        let tick = self.ticked.checked_add(TICK);
        let rest_of_sweep = self.sweep.has_more().then_some(now);
        let due = self
            .members
            .iter()
            .filter_map(FleetMember::due)
            .chain(self.scan_due())
            .chain(tick);
        let due = due.chain(rest_of_sweep).min();
        self.watcher
            .wait(due.map(|due| due.saturating_duration_since(now).max(GATHER)));
        let too_soon = GATHER.saturating_sub(begun.elapsed());
        if !too_soon.is_zero() {
            std::thread::sleep(too_soon);
        }
    }
}
