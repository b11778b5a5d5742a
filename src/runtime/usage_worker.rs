//! The threads behind the ledger: one reads all sessions and adds up their usage, one answers
//! questions about the sums.
//!
//! Invariant: an answer never waits for a session that is being read; dropping the worker ends
//! both threads.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, never, select, unbounded};

use super::clock::now;
use crate::analysis::ledger::Ledger;
use crate::analysis::ledger::counting::{CountedUsage, CountingProgress, Question};
use crate::ingest::find::DiscoveryQuery;
use crate::model::text::Text;
use crate::report::outcome::ReadFailure;
use crate::report::sessions::usage::{Step, count};

/// Least time between two answers to the same question.
const PAUSE: Duration = Duration::from_millis(120);
/// An answer is followed by a pause of at least this many times its own duration.
const SHARE: u32 = 6;
/// Limit of the failures that are listed; all are counted.
const LISTED_FAILURES: usize = 100;

/// Adds up the usage of all sessions until it is dropped.
pub(super) struct UsageWorker {
    /// Answers to the current question.
    pub(super) answers: Receiver<CountedUsage>,
    questions: Sender<Question>,
    stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct UsageState {
    ledger: Ledger,
    progress: CountingProgress,
}

impl UsageWorker {
    pub(super) fn start(search: DiscoveryQuery, question: Question) -> Self {
        let sums = Arc::new(Mutex::new(UsageState::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let (say, answers) = bounded(1);
        let (questions, asked) = unbounded();
        let (touch, touched) = bounded(1);
        let (own, is_over) = (Arc::clone(&sums), Arc::clone(&stop));
        thread::spawn(move || read(&search, &own, &touch, &is_over));
        thread::spawn(move || answer(question, &sums, &asked, touched, &say));
        Self {
            answers,
            questions,
            stop,
        }
    }

    pub(super) fn set_question(&self, question: Question) {
        let _ = self.questions.send(question);
    }
}

impl Drop for UsageWorker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn read(
    search: &DiscoveryQuery,
    sums: &Mutex<UsageState>,
    touch: &Sender<()>,
    is_over: &AtomicBool,
) {
    let change = |change: &mut dyn FnMut(&mut UsageState)| {
        change(&mut sums.lock().unwrap_or_else(PoisonError::into_inner));
        !is_over.load(Ordering::Relaxed)
            && touch.try_send(()) != Err(TrySendError::Disconnected(()))
    };
    let miss = |line: Text| {
        change(&mut |sums| {
            if sums.progress.failures.len() < LISTED_FAILURES {
                sums.progress.failures.push(line.clone());
            }
        })
    };
    let shorten = |cwd: Text| Text::clean(&search.environment.shortened(Path::new(cwd.as_str())));
    count(search, None, now(), |step| match step {
        Step::Found(all) => change(&mut |sums| sums.progress.all = all),
        Step::Done => change(&mut |sums| sums.progress.done += 1),
        Step::Session(mut session) => {
            session.found.cwd = session.found.cwd.map(shorten);
            session.found.project = session.found.project.map(shorten);
            let mut session = Some(session);
            change(&mut |sums| {
                session
                    .take()
                    .into_iter()
                    .for_each(|session| sums.ledger.add(*session));
            })
        }
        Step::Failure(ReadFailure::Named(failure)) => miss(Text::clean(&failure.to_string())),
        Step::Failure(ReadFailure::CameBy(found)) => miss(found.unread_row()),
    });
    change(&mut |sums| sums.progress.is_complete = true);
}

/// Answers the newest question, again after the sums have changed.
fn answer(
    mut question: Question,
    sums: &Mutex<UsageState>,
    asked: &Receiver<Question>,
    mut touched: Receiver<()>,
    say: &Sender<CountedUsage>,
) {
    loop {
        let begun = Instant::now();
        let counted = {
            let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            let UsageState { ledger, progress } = &mut *sums;
            ledger.answer(&question, progress)
        };
        let took = begun.elapsed();
        if say.send(counted).is_err() {
            return;
        }
        // A new question is answered at once, the same one only after a pause.
        let newer = match asked.recv_timeout(PAUSE.max(took.saturating_mul(SHARE))) {
            Ok(newer) => Some(newer),
            Err(error) if error.is_disconnected() => return,
            Err(_) => select! {
                recv(asked) -> newer => match newer {
                    Ok(newer) => Some(newer),
                    Err(_) => return,
                },
                recv(touched) -> touch => {
                    // Disconnected: all sessions are read.
                    if touch.is_err() {
                        touched = never();
                    }
                    None
                }
            },
        };
        question = asked.try_iter().last().or(newer).unwrap_or(question);
    }
}
