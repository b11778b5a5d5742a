//! One session of the fleet: reads it step by step and computes its row.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::row;
use crate::analysis::activity::LastWrite;
use crate::analysis::alarm::{Alarm, Rung};
use crate::analysis::calls::Place as CallPlace;
use crate::analysis::calls::lookup::Lookup;
use crate::analysis::expression::{Expr, State};
use crate::analysis::wall::{Rang, SessionRow};
use crate::ingest::{Databases, FollowedSession, Outlet, guarded, open};
use crate::model::edit::{Feed, LinkState};
use crate::model::entry::EntryId;
use crate::model::found::FoundSession;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::turn::TurnFacts;
use crate::session::{Session, SessionChange};
use crate::source::fs;
use crate::source::rows::DatabaseFailure;
use crate::source::watch::Hints;

/// Bytes of bodies that stay in memory: those of the last messages.
const BODIES: u64 = 64 << 10;
/// Bytes of the end that are read first.
pub(super) const WINDOW: u64 = 64 << 10;
/// Initial and maximum delay before a failed reading is tried again.
const RETRY: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(30);
/// A database that is busy for longer than this is reported.
const QUIET: Duration = Duration::from_secs(2);

/// A file that was not written to for this time, in ms, is closed until it is: there may be more
/// than a process may hold open. Agents move a file while they work on it, or soon after.
const HELD_MS: u64 = 60_000;

/// Events of the session that is being read.
pub(super) type Inbox = RefCell<Vec<Feed>>;

/// A session that is followed.
pub(super) struct FleetMember<'o> {
    /// Facts from the scan.
    pub(super) found: FoundSession,
    session: Session,
    databases: Databases,
    state: ReadState<'o>,
    alarms: Vec<Alarm>,
    orphans: Option<HashSet<CallPlace>>,
    busy_since: Option<Instant>,
    has_begun: bool,
    touched: Vec<EntryId>,
    /// The row that was sent last.
    row: Option<SessionRow>,
    /// Whether the row may have changed.
    is_stale: bool,
    /// Whether only a write can change it, so that everything which can be read again is freed.
    pub(crate) is_idle: bool,
}

enum ReadState<'o> {
    /// Not opened, or to be tried again at that time.
    Closed {
        again: Option<Instant>,
        wait: Duration,
    },
    /// Read for the first time, or followed.
    Open(Box<FollowedSession<'o>>),
    /// Not to be read any more, because of an error in tv.
    Broken,
}

impl<'o> FleetMember<'o> {
    pub(super) fn new(found: FoundSession, databases: Databases, alarms: &[Expr]) -> Self {
        Self {
            found,
            session: Session::default(),
            databases,
            state: ReadState::Closed {
                again: None,
                wait: RETRY,
            },
            alarms: alarms
                .iter()
                .map(|expr| Alarm::new(expr.clone(), None))
                .collect(),
            orphans: None,
            busy_since: None,
            has_begun: false,
            touched: Vec::new(),
            row: None,
            is_stale: true,
            is_idle: false,
        }
    }

    /// Whether there is something to read now.
    pub(super) fn has_more(&self, now: Instant) -> bool {
        match &self.state {
            ReadState::Closed { again, .. } => again.is_none_or(|again| again <= now),
            ReadState::Open(files) => files.has_more,
            ReadState::Broken => false,
        }
    }

    /// Whether not even its end was read.
    pub(super) fn is_unread(&self) -> bool {
        matches!(&self.state, ReadState::Closed { again: None, .. })
    }

    /// Whether all of it was read once.
    pub(super) fn is_read(&self) -> bool {
        match &self.state {
            ReadState::Closed { again, .. } => again.is_some(),
            ReadState::Open(_) => self.session.file.is_caught_up && !self.session.is_part(),
            ReadState::Broken => true,
        }
    }

    /// Number of prompts and calls, and the working time in ms; `None` if it was not read
    /// completely.
    pub(super) fn counts(&self) -> Option<(u64, u64, u64)> {
        if !self.session.file.is_caught_up || self.session.is_part() {
            return None;
        }
        let transcript = &self.session.transcript;
        let calls = TurnFacts::of(transcript.entries()).calls;
        let work = self.session.indexes.account.time(None).work();
        Some((transcript.turns().len() as u64, u64::from(calls), work))
    }

    /// Whether it is polled only by sweeps: it is at rest, and a write to its database is usually
    /// for another session.
    fn waits_for_sweep(&self) -> bool {
        self.is_idle && self.found.session.is_some()
    }

    /// Whether an event named one of its files, or a folder in which one may be created.
    pub(super) fn is_named(&self, named: &HashSet<&Path>) -> bool {
        let is_in = |path: &PathBuf| named.contains(path.as_path());
        !named.is_empty()
            && !self.waits_for_sweep()
            && (is_in(&self.found.path) || self.folders().iter().any(is_in))
    }

    /// When to poll without an event.
    pub(super) fn due(&self) -> Option<Instant> {
        match &self.state {
            ReadState::Open(_) if self.waits_for_sweep() => None,
            ReadState::Closed { again, .. } => *again,
            ReadState::Open(files) => files.due(),
            ReadState::Broken => None,
        }
    }

    /// The folders to watch.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let own = self.found.path.parent().map(Path::to_owned);
        let ReadState::Open(files) = &self.state else {
            return own.into_iter().collect();
        };
        let is_folder = |path: &&Path| **path != *self.found.path || fs::is_dir(&self.found.path);
        own.into_iter()
            .chain(files.watched().filter(is_folder).map(Path::to_owned))
            .collect()
    }

    /// Opens it, and reads its end.
    pub(super) fn begin(&mut self, outlet: Outlet<'o>, inbox: &Inbox, now: Timestamp) {
        // A single session waits for its writer; here that would block all others.
        if self.found.session.is_some() && self.databases.is_busy(&self.found.path) {
            return self.defer();
        }
        let target = self.found.place();
        self.session.file.last_write = self.written().map(LastWrite::from_file_time);
        guarded(outlet, || match open(&target) {
            Ok(session) => {
                let files = session.into_followed(outlet, self.databases.clone());
                files.send_preview(WINDOW);
                self.state = ReadState::Open(Box::new(files));
            }
            Err(why) => {
                let why = why.about(&target.path);
                outlet(Feed::Link(LinkState::Unreadable(Text::clean(why))));
                self.shut();
            }
        });
        self.process(inbox, now);
        self.close(now);
    }

    /// Schedules another attempt, because its database is busy. If that lasts, it is reported.
    fn defer(&mut self) {
        self.state = ReadState::Closed {
            again: Instant::now().checked_add(RETRY),
            wait: RETRY,
        };
        if self.busy_since.get_or_insert_with(Instant::now).elapsed() > QUIET {
            let why = io::Error::from(DatabaseFailure::Busy).to_string();
            self.session.file.link = LinkState::Unreadable(Text::clean(&why));
            self.is_stale = true;
        }
    }

    fn shut(&mut self) {
        let wait = match self.state {
            ReadState::Closed { wait, .. } => wait,
            ReadState::Open(_) | ReadState::Broken => RETRY,
        };
        let again = Instant::now().checked_add(wait);
        self.state = ReadState::Closed {
            again,
            wait: wait.saturating_mul(2).min(PATIENCE),
        };
    }

    /// Reads for the given time.
    pub(super) fn read(
        &mut self,
        outlet: Outlet<'o>,
        inbox: &Inbox,
        now: Timestamp,
        slice: Duration,
    ) {
        let ReadState::Open(files) = &mut self.state else {
            return self.begin(outlet, inbox, now);
        };
        let mut failure = None;
        guarded(outlet, || match files.read(slice) {
            Ok(true) => {}
            Ok(false) => files.free_buffer(),
            Err(why) => failure = Some(why),
        });
        self.process(inbox, now);
        self.close(now);
        let Some(failure) = failure else {
            return self.busy_since = None;
        };
        if failure.kind() == ErrorKind::ResourceBusy {
            return self.defer();
        }
        self.shut();
        self.session.file.link = LinkState::Unreadable(Text::clean(&failure.to_string()));
        self.is_stale = true;
    }

    /// Polls its files for changes.
    pub(super) fn poll(
        &mut self,
        outlet: Outlet<'o>,
        inbox: &Inbox,
        hints: &Hints,
        now: Timestamp,
    ) {
        let ReadState::Open(files) = &mut self.state else {
            return;
        };
        let mut has_moved = false;
        guarded(outlet, || has_moved = files.poll(hints).has_changed);
        self.process(inbox, now);
        self.is_stale |= has_moved;
        self.close(now);
    }

    /// Closes files that are read to the end and not written to.
    fn close(&mut self, now: Timestamp) {
        let is_live = self.is_live(now);
        if let ReadState::Open(files) = &mut self.state
            && !is_live
        {
            files.close();
        }
    }

    /// Frees what is not needed until the next write: texts, which can be read again, and indexes
    /// of usage, which are derived from entries; entries are packed. The state for alarms stays.
    pub(super) fn become_idle(&mut self, now: Timestamp) {
        let may_change =
            self.is_stale || !self.touched.is_empty() || self.ticks(now) || self.is_live(now);
        if self.is_idle || may_change || self.row.is_none() || !self.is_read() {
            return;
        }
        self.is_idle = true;
        self.session.indexes.clear();
        self.session.transcript.release(0, |_| false);
        self.session.transcript.pack();
    }

    /// Applies the events in the inbox.
    fn process(&mut self, inbox: &Inbox, now: Timestamp) {
        for feed in inbox.take() {
            self.is_idle = false;
            if matches!(feed, Feed::Fault(_)) {
                self.state = ReadState::Broken;
            }
            self.is_stale |= !matches!(feed, Feed::Progress { .. } | Feed::File { .. });
            if matches!(feed, Feed::Batch { .. }) && self.session.file.is_caught_up {
                self.session.file.last_write = Some(LastWrite::observed(now));
            }
            for change in self.session.apply_feed(feed) {
                self.apply_change(change);
            }
        }
        self.session.transcript.release(BODIES, |_| false);
        if self.is_read() {
            self.session.transcript.tidy();
        }
    }

    fn apply_change(&mut self, change: SessionChange) {
        match change {
            SessionChange::Touched(touched) => {
                if !self.alarms.is_empty() {
                    self.touched
                        .extend(touched.added.into_iter().chain(touched.changed));
                }
            }
            SessionChange::Replaced { before, touched } => {
                let lookup = Lookup {
                    before: &before,
                    now: &self.session.transcript,
                };
                self.touched = lookup.entries(&self.touched);
                self.orphans = self.orphans.take().map(|orphans| lookup.blocks(&orphans));
                self.alarms
                    .iter_mut()
                    .for_each(|alarm| alarm.remap(&lookup));
                self.apply_change(SessionChange::Touched(touched));
            }
            // What exists at the start triggers no alarm.
            SessionChange::CaughtUp => self.has_begun = false,
            SessionChange::Message(_) => {}
        }
    }

    /// Replaces the alarms. They apply to everything that is read from here on.
    pub(super) fn set_alarms(&mut self, alarms: &[Expr], now: Timestamp) {
        let last = self.row.as_ref().and_then(|row| row.head.ended);
        self.alarms = alarms
            .iter()
            .map(|expr| Alarm::new(expr.clone(), last))
            .collect();
        self.has_begun = false;
        self.is_idle = false;
        self.touched.clear();
        if !self.alarms.is_empty() && self.is_read() {
            row::update_indexes(&mut self.session);
            self.begin_alarms(now);
        }
    }

    /// Starts the alarms; the current state triggers none.
    fn begin_alarms(&mut self, now: Timestamp) {
        self.has_begun = true;
        self.orphans = None;
        let (session, alarms) = (&mut self.session, &mut self.alarms);
        if alarms.iter().any(needs_orphans) {
            session.new_orphan(&mut self.orphans);
        }
        session.with_status(now, None, |status| {
            for alarm in &mut *alarms {
                alarm.begin(status, false);
            }
        });
    }

    /// Whether a row was sent for it.
    pub(super) fn has_row(&self) -> bool {
        self.row.is_some()
    }

    fn is_live(&self, now: Timestamp) -> bool {
        self.last_sign().is_some_and(|at| now.since(at) <= HELD_MS)
    }

    /// Latest sign of activity.
    pub(super) fn last_sign(&self) -> Option<Timestamp> {
        let seen = self.session.file.last_write.filter(|write| write.is_seen);
        seen.map(|write| write.at).max(self.found.modified)
    }

    /// When its file or its row was last written.
    fn written(&self) -> Option<Timestamp> {
        match self.found.session {
            Some(_) => self.found.modified,
            None => fs::written(&self.found.path),
        }
    }

    /// Whether its state may change with time alone.
    pub(super) fn ticks(&self, now: Timestamp) -> bool {
        self.row.as_ref().is_some_and(|row| row.ticks(now))
    }

    /// The row, if it changed, and the alarms that were triggered.
    pub(super) fn news(
        &mut self,
        now: Timestamp,
        is_tick: bool,
    ) -> (Option<SessionRow>, Vec<Rang>) {
        if !std::mem::take(&mut self.is_stale) && !is_tick {
            return (None, Vec::new());
        }
        self.is_idle = false;
        row::update_indexes(&mut self.session);
        let row = row::of(&mut self.session, &self.found, self.row.as_ref(), now);
        let rang = self.check_alarms(now, &row);
        if self.row.as_ref() == Some(&row) {
            return (None, rang);
        }
        self.row = Some(row.clone());
        (Some(row), rang)
    }

    fn check_alarms(&mut self, now: Timestamp, row: &SessionRow) -> Vec<Rang> {
        let touched = std::mem::take(&mut self.touched);
        if self.alarms.is_empty() || !self.is_read() {
            return Vec::new();
        }
        if !self.has_begun {
            self.begin_alarms(now);
            return Vec::new();
        }
        let (session, alarms) = (&mut self.session, &mut self.alarms);
        let lost = if alarms.iter().any(needs_orphans) {
            session.new_orphan(&mut self.orphans)
        } else {
            None
        };
        let orphan = lost.as_ref().map(|(place, words)| (*place, words.as_str()));
        let mut rung: Vec<(usize, Rung)> = Vec::new();
        session.with_status(now, orphan, |status| {
            for (number, alarm) in alarms.iter_mut().enumerate() {
                rung.extend(alarm.check(status, &touched).map(|rung| (number, rung)));
            }
        });
        rung.into_iter()
            .map(|(alarm, rung)| Rang {
                row: row.clone(),
                alarm,
                words: rung.words,
            })
            .collect()
    }
}

fn needs_orphans(alarm: &Alarm) -> bool {
    alarm.has_state(|state| *state == State::Orphan)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::time::SystemTime;

    use super::*;
    use crate::analysis::expression::parse::parse_alarm;
    use crate::model::found::Target;

    fn record(id: &str, text: &str) -> String {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
        ) + "\n"
    }

    /// Reads everything, and puts the session at rest.
    fn read<'o>(
        member: &mut FleetMember<'o>,
        outlet: Outlet<'o>,
        inbox: &Inbox,
        now: Timestamp,
    ) -> (Option<SessionRow>, Vec<Rang>) {
        while member.has_more(Instant::now()) {
            member.read(outlet, inbox, now, Duration::from_secs(1));
        }
        let news = member.news(now, false);
        member.become_idle(now);
        news
    }

    /// A session with alarms is put at rest, and continues.
    #[test]
    fn what_rests_lets_go_of_texts_and_of_nothing_that_anybody_asks_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/work"}"#;
        let long = "the WORD of old ".repeat(100);
        let records: String = (0..300)
            .map(|number| record(&format!("e{number:07}"), &long))
            .collect();
        let answer = record("a0000001", "Done.").replace(
            r#""role":"user""#,
            r#""role":"assistant","provider":"p","model":"some-model","stopReason":"stop","usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.5}}"#,
        );
        fs::write(&path, format!("{header}\n{records}{answer}")).unwrap();
        let ended = Timestamp(1_772_359_200_000);
        let written = SystemTime::UNIX_EPOCH + Duration::from_millis(ended.0.unsigned_abs());
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(written)
            .unwrap();
        let now = Timestamp(ended.0 + 3 * 3_600_000);
        let inbox = Inbox::default();
        let outlet = |feed| {
            inbox.borrow_mut().push(feed);
            true
        };
        let place = Target::at(&path);
        let found = FoundSession::new(place, "pi", Text::clean("s1"));
        let found = FoundSession {
            modified: Some(ended),
            ..found
        };
        let mut member = FleetMember::new(found, Databases::default(), &[]);
        let (row, _) = read(&mut member, &outlet, &inbox, now);
        let is_let_go = |member: &FleetMember<'_>| {
            let transcript = &member.session.transcript;
            (
                transcript.order().len(),
                transcript.loaded_bytes(),
                transcript.open_pages(),
            )
        };
        assert_eq!(is_let_go(&member), (301, 0, 0));
        member.set_alarms(
            &[
                parse_alarm("\"WORD\"").unwrap(),
                parse_alarm("cost>0.1").unwrap(),
            ],
            now,
        );
        member.become_idle(now);
        assert_eq!(is_let_go(&member), (301, 0, 0));

        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(record("f0000001", "the new WORD").as_bytes())
            .unwrap();
        member.poll(&outlet, &inbox, &Hints::everything(), now);
        let (woken, rang) = read(&mut member, &outlet, &inbox, now);
        let rang: Vec<(usize, String)> = rang
            .into_iter()
            .map(|rang| (rang.alarm, rang.words))
            .collect();
        assert_eq!(rang, [(0, "\"WORD\": the new WORD".to_owned())]);
        let (row, woken) = (row.unwrap(), woken.unwrap());
        // Earlier texts are unchanged, although they are on disk only.
        assert_eq!(woken.last.split_last().unwrap().1, &row.last[1..]);
        assert!(row.last[1].text.len() > 1_000);
        assert!(woken.cost.is_some() && woken.cost == row.cost);
    }

    /// There may be thousands of sessions at rest.
    #[test]
    fn a_session_at_rest_takes_little_room() {
        let folder = tempfile::tempdir().unwrap();
        let id = "0a000000-0000-4000-8000-000000000001";
        let path = folder.path().join(format!("{id}.jsonl"));
        let words = "keel and mast and sail ".repeat(12);
        let records: String = (0..40)
            .map(|number| {
                let call = format!(r#"[{{"type":"tool_use","id":"t{number}","name":"Bash","input":{{"command":"ls {words}"}}}}]"#);
                let result = format!(r#"[{{"type":"tool_result","tool_use_id":"t{}","content":"{words}"}}]"#, number - 1);
                let text = format!(r#"[{{"type":"text","text":"{words}"}}]"#);
                let (kind, content) = [("user", format!("\"{words}\"")), ("assistant", call), ("user", result), ("assistant", text)]
                    [usize::try_from(number).unwrap() % 4]
                    .clone();
                let usage = r#""usage":{"input_tokens":10,"output_tokens":20}"#;
                format!(
                    r#"{{"type":"{kind}","uuid":"u{number:04}","parentUuid":null,"isSidechain":false,"sessionId":"{id}","cwd":"/work","version":"2.0.30","timestamp":"2026-03-01T10:00:{number:02}.000Z","requestId":"r{number}","message":{{"id":"m{number}","role":"{kind}","model":"some-model","content":{content},{usage}}}}}"#
                ) + "\n"
            })
            .collect();
        fs::write(&path, records).unwrap();
        let ended = Timestamp(1_772_359_240_000);
        let written = SystemTime::UNIX_EPOCH + Duration::from_millis(ended.0.unsigned_abs());
        let file = OpenOptions::new().append(true).open(&path).unwrap();
        file.set_modified(written).unwrap();
        let now = Timestamp(ended.0 + 3_600_000);
        let inbox = Inbox::default();
        let outlet = |feed| {
            inbox.borrow_mut().push(feed);
            true
        };
        let found = || {
            let place = Target::at(&path);
            FoundSession {
                modified: Some(ended),
                ..FoundSession::new(place, "claude-code", Text::clean(id))
            }
        };
        // Shared data exists after the first session was read.
        let [mut first, mut member] =
            [found(), found()].map(|found| FleetMember::new(found, Databases::default(), &[]));
        read(&mut first, &outlet, &inbox, now);
        let taken = allocation_counter::measure(|| {
            read(&mut member, &outlet, &inbox, now);
        });
        assert!(member.is_idle);
        assert!(taken.bytes_current < 30_000, "{}", taken.bytes_current);
        // After a write it is as it was.
        let before = member.row.clone().unwrap();
        member.is_stale = true;
        member.row = None;
        let (again, _) = read(&mut member, &outlet, &inbox, now);
        let again = again.unwrap();
        assert_eq!((&again.cost, &again.hour), (&before.cost, &before.hour));
        assert_eq!(again.flags, before.flags);
        assert!(before.cost.is_some());
    }

    #[test]
    fn what_is_read_after_an_alarm_was_set_is_news() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/work"}"#;
        fs::write(
            &path,
            format!("{header}\n{}", record("e0000001", "the WORD of old")),
        )
        .unwrap();
        let now = Timestamp(1_772_359_200_000);
        let inbox = Inbox::default();
        let outlet = |feed| {
            inbox.borrow_mut().push(feed);
            true
        };
        let place = Target::at(&path);
        let mut member = FleetMember::new(
            FoundSession::new(place, "pi", Text::clean("s1")),
            Databases::default(),
            &[],
        );
        while !member.is_read() {
            member.read(&outlet, &inbox, now, Duration::from_secs(1));
        }
        member.news(now, false);

        let alarms = [
            parse_alarm("\"WORD\"").unwrap(),
            parse_alarm("\"old\"").unwrap(),
        ];
        member.set_alarms(&alarms, now);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(record("e0000002", "the new WORD").as_bytes())
            .unwrap();
        member.poll(&outlet, &inbox, &Hints::everything(), now);
        while member.has_more(Instant::now()) {
            member.read(&outlet, &inbox, now, Duration::from_secs(1));
        }
        let (_, rang) = member.news(now, false);
        let rang: Vec<(usize, String)> = rang
            .into_iter()
            .map(|rang| (rang.alarm, rang.words))
            .collect();
        assert_eq!(rang, [(0, "\"WORD\": the new WORD".to_owned())]);
    }
}
