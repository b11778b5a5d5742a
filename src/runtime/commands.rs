//! The commands of alarms: of each one run at a time, and one a second; alarms that come meanwhile are counted.
//!
//! Invariant: the last alarm is never passed over: it waits for its turn, and who ends the program for its command to
//! be started.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::app::alarms::Notice;

/// At least so long between the beginnings of two runs.
const PAUSE: Duration = Duration::from_secs(1);

/// The commands that have run, by what was typed.
#[derive(Default)]
pub(crate) struct Commands(HashMap<String, Arc<Turn>>);

/// What is to be run next.
#[derive(Default)]
struct Turn {
    next: Mutex<Next>,
    bell: Condvar,
}

#[derive(Default)]
struct Next {
    alarm: Option<(Notice, u64)>,
    /// Whether a run was taken that has not begun yet.
    is_starting: bool,
}

impl Turn {
    fn next(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, notice: Notice) {
        let mut next = self.next();
        let missed = next.alarm.take().map_or(0, |(_, missed)| missed + 1);
        next.alarm = Some((notice, missed));
        self.bell.notify_all();
    }

    fn take(&self) -> (Notice, u64) {
        let mut next = self.next();
        loop {
            match next.alarm.take() {
                Some(taken) => {
                    next.is_starting = true;
                    return taken;
                }
                None => next = self.bell.wait(next).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn started(&self) {
        self.next().is_starting = false;
        self.bell.notify_all();
    }

    /// Waits until nothing is left to be started, but not for a run that goes on.
    fn settle(&self) {
        let is_left = |next: &mut Next| next.alarm.is_some() || next.is_starting;
        drop(self.bell.wait_timeout_while(self.next(), PAUSE, is_left));
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        self.0.values().for_each(|turn| turn.settle());
    }
}

impl Commands {
    /// Has a command run for an alarm as soon as it may, with how many were missed before; `start` begins it, and gives
    /// what waits for its end. What goes wrong is said.
    pub(crate) fn ring<W: FnOnce()>(
        &mut self,
        command: &str,
        notice: &Notice,
        start: impl FnMut(&Notice, u64) -> Result<W, String> + Send + 'static,
        say: impl Fn(String) + Send + 'static,
    ) {
        let turn = self.0.entry(command.to_owned()).or_insert_with(|| {
            let turn = Arc::new(Turn::default());
            let worker = Arc::clone(&turn);
            std::thread::spawn(move || work(&worker, start, say));
            turn
        });
        turn.put(notice.clone());
    }
}

fn work<W: FnOnce()>(
    turn: &Turn,
    mut start: impl FnMut(&Notice, u64) -> Result<W, String>,
    say: impl Fn(String),
) {
    loop {
        let (notice, missed) = turn.take();
        let begun = Instant::now();
        let started = start(&notice, missed);
        turn.started();
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

    use super::{Commands, PAUSE};
    use crate::app::alarms::{Notice, Ring};

    fn notice(words: &str) -> Notice {
        Notice {
            session: String::new(),
            words: words.to_owned(),
            expression: "err".to_owned(),
            address: None,
            activity: "model",
            command: Some("x".to_owned()),
            means: Ring::Off,
        }
    }

    #[test]
    fn a_flood_of_alarms_is_few_runs_one_after_the_other_and_none_is_forgotten() {
        let (begins, begun) = unbounded();
        let (go_on, may_go_on) = unbounded();
        let run = move |notice: &Notice, missed: u64| {
            begins
                .send((notice.words.clone(), missed, Instant::now()))
                .unwrap();
            let may_go_on = may_go_on.clone();
            Ok(move || may_go_on.recv().unwrap_or_default())
        };
        let mut commands = Commands::default();
        let mut ring = |words: &str| commands.ring("x", &notice(words), run.clone(), drop);
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
        let mut commands = Commands::default();
        for command in ["a", "b"] {
            let begins = begins.clone();
            let stays = move |_: &Notice, _: u64| {
                begins.send(command).unwrap();
                Ok(stay)
            };
            commands.ring(command, &notice(""), stays, drop);
        }
        let mut both = [begun.recv().unwrap(), begun.recv().unwrap()];
        both.sort_unstable();
        assert_eq!(both, ["a", "b"]);
    }

    #[test]
    fn who_ends_the_program_waits_until_a_command_is_started() {
        let (begins, begun) = unbounded();
        let mut commands = Commands::default();
        let slow = move |_: &Notice, _: u64| {
            std::thread::sleep(PAUSE / 20);
            begins.send(()).unwrap();
            Ok(|| ())
        };
        commands.ring("x", &notice(""), slow, drop);
        drop(commands);
        assert_eq!(begun.try_recv(), Ok(()));
    }
}
