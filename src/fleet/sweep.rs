//! Polls sessions at rest, a few in each round.
//!
//! Invariant: however often a sweep begins, each session is polled at least once in the time that
//! one sweep takes.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::member::{FleetMember, Inbox};
use crate::ingest::Outlet;
use crate::model::timestamp::Timestamp;
use crate::source::watch::Hints;

/// Progress of the sweep.
#[derive(Default)]
pub(super) struct PollSweep {
    /// Index of the next session to poll.
    next: usize,
    /// Number of sessions still to poll.
    remaining: usize,
    hints: Rc<Hints>,
}

impl PollSweep {
    /// Starts a sweep of all sessions where the last one ended.
    pub(super) fn begin(&mut self, members: usize, hints: &Rc<Hints>) {
        (self.remaining, self.hints) = (members, Rc::clone(hints));
    }

    /// Whether sessions are still to be polled.
    pub(super) fn has_more(&self) -> bool {
        self.remaining > 0
    }

    /// Polls sessions at rest for the given time: there may be ten thousand. The others are polled
    /// in every round.
    pub(super) fn poll_for<'o>(
        &mut self,
        members: &mut [FleetMember<'o>],
        (outlet, inbox): (Outlet<'o>, &Inbox),
        now: Timestamp,
        slice: Duration,
    ) {
        let begun = Instant::now();
        while self.remaining > 0 {
            self.remaining -= 1;
            self.next = if self.next < members.len() {
                self.next
            } else {
                0
            };
            let member = members.get_mut(self.next).filter(|member| member.is_idle);
            self.next += 1;
            let Some(member) = member else { continue };
            member.poll(outlet, inbox, &self.hints, now);
            if begun.elapsed() >= slice {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;
    use std::rc::Rc;
    use std::time::{Duration, Instant};

    use super::{FleetMember, Inbox, PollSweep};
    use crate::analysis::wall::SessionRow;
    use crate::ingest::{Databases, Outlet};
    use crate::model::found::{FoundSession, Target};
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;
    use crate::source::watch::Hints;

    const NOW: Timestamp = Timestamp(1_772_400_000_000);

    fn record(number: u32) -> String {
        format!(
            r#"{{"type":"message","id":"e{number:07}","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"user","content":"hello"}}}}"#
        ) + "\n"
    }

    /// An old session, fully read.
    fn at_rest<'o>(path: &Path, outlet: Outlet<'o>, inbox: &Inbox) -> FleetMember<'o> {
        let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/work"}"#;
        fs::write(path, format!("{header}\n{}", record(1))).unwrap();
        let file = OpenOptions::new().append(true).open(path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        let place = Target::at(path);
        let found = FoundSession {
            modified: Some(Timestamp(0)),
            ..FoundSession::new(place, "pi", Text::clean("s1"))
        };
        let mut member = FleetMember::new(found, Databases::default(), &[]);
        assert!(!member.is_idle);
        read(&mut member, outlet, inbox);
        assert!(member.is_idle);
        member
    }

    /// Reads everything, and computes the row.
    fn read<'o>(
        member: &mut FleetMember<'o>,
        outlet: Outlet<'o>,
        inbox: &Inbox,
    ) -> Option<SessionRow> {
        while member.has_more(Instant::now()) {
            member.read(outlet, inbox, NOW, Duration::from_secs(1));
        }
        let news = member.news(NOW, false).0;
        member.become_idle(NOW);
        news
    }

    fn round<'o>(
        sweep: &mut PollSweep,
        members: &mut [FleetMember<'o>],
        outlet: Outlet<'o>,
        inbox: &Inbox,
    ) {
        sweep.poll_for(members, (outlet, inbox), NOW, Duration::ZERO);
    }

    #[test]
    fn a_sweep_looks_at_few_sessions_in_a_round_and_at_all_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..5)
            .map(|number| folder.path().join(format!("{number}.jsonl")))
            .collect();
        let inbox = Inbox::default();
        let outlet = |feed| {
            inbox.borrow_mut().push(feed);
            true
        };
        let mut members: Vec<FleetMember<'_>> = paths
            .iter()
            .map(|path| at_rest(path, &outlet, &inbox))
            .collect();
        for path in &paths {
            OpenOptions::new()
                .append(true)
                .open(path)
                .unwrap()
                .write_all(record(2).as_bytes())
                .unwrap();
        }
        let grown = |members: &[FleetMember<'_>]| -> Vec<bool> {
            members
                .iter()
                .map(|member| member.has_more(Instant::now()))
                .collect()
        };
        let hints = Rc::new(Hints::everything());
        let mut sweep = PollSweep::default();
        sweep.begin(members.len(), &hints);
        round(&mut sweep, &mut members, &outlet, &inbox);
        round(&mut sweep, &mut members, &outlet, &inbox);
        assert_eq!(grown(&members), [true, true, false, false, false]);
        // Events come faster than a sweep ends: the next one continues where it is.
        sweep.begin(members.len(), &hints);
        round(&mut sweep, &mut members, &outlet, &inbox);
        round(&mut sweep, &mut members, &outlet, &inbox);
        round(&mut sweep, &mut members, &outlet, &inbox);
        assert_eq!(grown(&members), [true; 5]);
        assert!(sweep.has_more());
        round(&mut sweep, &mut members, &outlet, &inbox);
        round(&mut sweep, &mut members, &outlet, &inbox);
        assert!(!sweep.has_more());
    }

    /// A write to a database is usually for another session: those at rest are not polled for it.
    #[test]
    #[cfg(feature = "sqlite")]
    fn a_session_at_rest_in_a_database_waits_for_a_sweep() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        let add = |session: &str, number: u32| {
            let event = record(number).trim_end().to_owned();
            connection
                .execute(
                    "INSERT INTO transcript_events VALUES (?1, ?2, ?3)",
                    (session, number, event),
                )
                .unwrap();
        };
        connection
            .execute_batch(
                "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, PRIMARY KEY (session_id, seq))",
            )
            .unwrap();
        add("a", 1);
        add("b", 1);
        let inbox = Inbox::default();
        let outlet = |feed| {
            inbox.borrow_mut().push(feed);
            true
        };
        let place = Target {
            path: path.clone(),
            session: Some("a".to_owned()),
        };
        let found = FoundSession {
            modified: Some(Timestamp(0)),
            ..FoundSession::new(place, "openclaw", Text::clean("a"))
        };
        let mut member = FleetMember::new(found, Databases::default(), &[]);
        assert!(read(&mut member, &outlet, &inbox).is_some());
        let named = [path.as_path()].into();
        assert!(member.is_idle && member.due().is_none() && !member.is_named(&named));
        let open = fs::read_dir("/proc/self/fd")
            .into_iter()
            .flatten()
            .flatten();
        let open = open
            .filter_map(|one| fs::read_link(one.path()).ok())
            .filter(|one| *one == path)
            .count();
        assert!(
            open <= 1,
            "the writer of this test has it open, and nobody else"
        );

        add("a", 2);
        let mut members = [member];
        let mut sweep = PollSweep::default();
        let begun = Instant::now();
        while members
            .iter()
            .all(|member| !member.has_more(Instant::now()))
        {
            assert!(begun.elapsed() < Duration::from_secs(20));
            sweep.begin(1, &Rc::new(Hints::default()));
            round(&mut sweep, &mut members, &outlet, &inbox);
        }
        let [mut member] = members;
        let row = read(&mut member, &outlet, &inbox).unwrap();
        assert_eq!(row.last.len(), 2);
        // The session was active just now.
        assert!(!member.is_idle && member.is_named(&named));
    }
}
