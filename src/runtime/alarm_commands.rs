//! Runs the commands of alarms: one process at a time per command, started at most once a second.
//! Alarms that arrive meanwhile are counted, and the next run is told how many were missed.
//!
//! Invariant: the last alarm is never dropped. It waits until its command may start, and when the
//! program ends it waits for that start.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::app::alarms::AlarmNotice;

/// Least time between two starts of a command.
const PAUSE: Duration = Duration::from_secs(1);

/// A worker thread per command line.
#[derive(Default)]
pub(crate) struct AlarmCommands(HashMap<String, Arc<PendingAlarm>>);

/// A queue of one: a newer alarm replaces the pending one.
#[derive(Default)]
struct PendingAlarm {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Default)]
struct Pending {
    alarm: Option<(AlarmNotice, u64)>,
    /// A notice was popped, and its command has not been started yet.
    is_starting: bool,
}

impl PendingAlarm {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, notice: AlarmNotice) {
        let mut pending = self.lock();
        let missed = pending.alarm.take().map_or(0, |(_, missed)| missed + 1);
        pending.alarm = Some((notice, missed));
        self.changed.notify_all();
    }

    fn pop(&self) -> (AlarmNotice, u64) {
        let mut pending = self.lock();
        loop {
            match pending.alarm.take() {
                Some(taken) => {
                    pending.is_starting = true;
                    return taken;
                }
                None => {
                    pending = self
                        .changed
                        .wait(pending)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn started(&self) {
        self.lock().is_starting = false;
        self.changed.notify_all();
    }

    /// Waits until nothing is pending; a command that runs is not waited for.
    fn wait_until_started(&self) {
        let is_left = |pending: &mut Pending| pending.alarm.is_some() || pending.is_starting;
        drop(self.changed.wait_timeout_while(self.lock(), PAUSE, is_left));
    }
}

impl Drop for AlarmCommands {
    fn drop(&mut self) {
        self.0.values().for_each(|queue| queue.wait_until_started());
    }
}

impl AlarmCommands {
    /// Queues an alarm for a command. `start` starts the command, given the alarm and the number
    /// of alarms missed before it, and returns what waits for its end; errors go to `say`.
    pub(crate) fn push<W: FnOnce()>(
        &mut self,
        command: &str,
        notice: &AlarmNotice,
        start: impl FnMut(&AlarmNotice, u64) -> Result<W, String> + Send + 'static,
        say: impl Fn(String) + Send + 'static,
    ) {
        let queue = self.0.entry(command.to_owned()).or_insert_with(|| {
            let queue = Arc::new(PendingAlarm::default());
            let worker = Arc::clone(&queue);
            std::thread::spawn(move || work(&worker, start, say));
            queue
        });
        queue.push(notice.clone());
    }
}

fn work<W: FnOnce()>(
    queue: &PendingAlarm,
    mut start: impl FnMut(&AlarmNotice, u64) -> Result<W, String>,
    say: impl Fn(String),
) {
    loop {
        let (notice, missed) = queue.pop();
        let begun = Instant::now();
        let started = start(&notice, missed);
        queue.started();
        match started {
            Ok(wait) => wait(),
            Err(why) => say(why),
        }
        std::thread::sleep(PAUSE.saturating_sub(begun.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use crossbeam_channel::unbounded;

    use super::{AlarmCommands, PAUSE};
    use crate::app::alarms::AlarmNotice;

    fn notice(words: &str) -> AlarmNotice {
        AlarmNotice {
            session: String::new(),
            words: words.to_owned(),
            expression: "err".to_owned(),
            address: None,
            activity: "model",
            command: Some("x".to_owned()),
        }
    }

    #[test]
    fn a_flood_of_alarms_is_few_runs_one_after_the_other_and_none_is_forgotten() {
        let (begins, begun) = unbounded();
        let (go_on, may_go_on) = unbounded();
        let run = move |notice: &AlarmNotice, missed: u64| {
            begins
                .send((notice.words.clone(), missed, Instant::now()))
                .unwrap();
            let may_go_on = may_go_on.clone();
            Ok(move || may_go_on.recv().unwrap_or_default())
        };
        let mut commands = AlarmCommands::default();
        let mut ring = |words: &str| commands.push("x", &notice(words), run.clone(), drop);
        let start = Instant::now();
        ring("0");
        let (first, missed, _) = begun.recv().unwrap();
        assert_eq!((first.as_str(), missed), ("0", 0));
        for number in 1..=1_000 {
            ring(&number.to_string());
        }
        assert!(begun.is_empty(), "one at a time");
        go_on.send(()).unwrap();
        let (last, missed, at) = begun.recv().unwrap();
        assert_eq!((last.as_str(), missed), ("1000", 999));
        assert!(at - start >= PAUSE, "one a second");
        go_on.send(()).unwrap();
        ring("later");
        let (later, missed, at) = begun.recv().unwrap();
        assert_eq!((later.as_str(), missed), ("later", 0));
        assert!(at - start >= PAUSE * 2);
        go_on.send(()).unwrap();
    }

    fn stay() {
        loop {
            std::thread::park();
        }
    }

    #[test]
    fn commands_do_not_wait_for_each_other() {
        let (begins, begun) = unbounded();
        let mut commands = AlarmCommands::default();
        for command in ["a", "b"] {
            let begins = begins.clone();
            let stays = move |_: &AlarmNotice, _: u64| {
                begins.send(command).unwrap();
                Ok(stay)
            };
            commands.push(command, &notice(""), stays, drop);
        }
        let mut both = [begun.recv().unwrap(), begun.recv().unwrap()];
        both.sort_unstable();
        assert_eq!(both, ["a", "b"]);
    }

    #[test]
    fn who_ends_the_program_waits_until_a_command_is_started() {
        let (begins, begun) = unbounded();
        let mut commands = AlarmCommands::default();
        let slow = move |_: &AlarmNotice, _: u64| {
            std::thread::sleep(PAUSE / 20);
            begins.send(()).unwrap();
            Ok(|| ())
        };
        commands.push("x", &notice(""), slow, drop);
        drop(commands);
        assert_eq!(begun.try_recv(), Ok(()));
    }
}
