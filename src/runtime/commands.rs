//! The commands of alarms: of each one run at a time, and one a second; alarms that come meanwhile are counted.
//!
//! Invariant: the last alarm is never passed over: it waits for its turn.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::app::watching::Notice;

/// At least so long between the beginnings of two runs.
const PAUSE: Duration = Duration::from_secs(1);

/// The commands that have run, by what was typed.
#[derive(Default)]
pub struct Commands(HashMap<String, Arc<Turn>>);

/// What is to be run next.
#[derive(Default)]
struct Turn {
    next: Mutex<Option<(Notice, u64)>>,
    bell: Condvar,
}

impl Turn {
    fn put(&self, notice: Notice) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let missed = next.take().map_or(0, |(_, missed)| missed + 1);
        *next = Some((notice, missed));
        self.bell.notify_one();
    }

    fn take(&self) -> (Notice, u64) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match next.take() {
                Some(taken) => return taken,
                None => next = self.bell.wait(next).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl Commands {
    /// Has a command run for an alarm as soon as it may, with how many were missed before; `run` waits for its end.
    /// What goes wrong is said.
    pub fn ring(
        &mut self,
        command: &str,
        notice: &Notice,
        run: impl FnMut(&Notice, u64) -> Result<(), String> + Send + 'static,
        say: impl Fn(String) + Send + 'static,
    ) {
        let turn = self.0.entry(command.to_owned()).or_insert_with(|| {
            let turn = Arc::new(Turn::default());
            let worker = Arc::clone(&turn);
            std::thread::spawn(move || work(&worker, run, say));
            turn
        });
        turn.put(notice.clone());
    }
}

fn work(turn: &Turn, mut run: impl FnMut(&Notice, u64) -> Result<(), String>, say: impl Fn(String)) {
    loop {
        let (notice, missed) = turn.take();
        let begun = Instant::now();
        if let Err(why) = run(&notice, missed) {
            say(why);
        }
        std::thread::sleep(PAUSE.saturating_sub(begun.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use crossbeam_channel::unbounded;

    use super::{Commands, PAUSE};
    use crate::app::watching::{Notice, Ring};

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
            begins.send((notice.words.clone(), missed, Instant::now())).unwrap();
            may_go_on.recv().map_err(|error| error.to_string())
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

    #[test]
    fn commands_do_not_wait_for_each_other() {
        let (begins, begun) = unbounded();
        let mut commands = Commands::default();
        for command in ["a", "b"] {
            let begins = begins.clone();
            let stays = move |_: &Notice, _: u64| {
                begins.send(command).unwrap();
                loop {
                    std::thread::park();
                }
            };
            commands.ring(command, &notice(""), stays, drop);
        }
        let mut both = [begun.recv().unwrap(), begun.recv().unwrap()];
        both.sort_unstable();
        assert_eq!(both, ["a", "b"]);
    }
}
