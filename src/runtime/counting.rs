//! The threads behind the ledger: one reads sessions and adds up what they spent, one answers what is asked of the sums.
//!
//! Invariant: a question waits for one answer at most, and never for a session that is being read; dropping this ends
//! both.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, never, select, unbounded};

use super::clock::now;
use crate::analysis::ledger::Ledger;
use crate::analysis::ledger::counting::{Counted, Progress, Question};
use crate::ingest::find::Search;
use crate::model::text::Text;
use crate::report::sessions::usage::{Step, count};

/// At least so long between two answers to the same question.
const PAUSE: Duration = Duration::from_millis(120);
/// Answers take at most one part in so many of the time.
const SHARE: u32 = 6;
/// More failures are counted, but not told.
const TOLD: usize = 100;

/// Sums of all sessions, until this is dropped.
pub(super) struct Counting {
    /// What is known.
    pub(super) answers: Receiver<Counted>,
    questions: Sender<Question>,
    stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct Sums {
    ledger: Ledger,
    progress: Progress,
}

impl Counting {
    /// Starts counting.
    pub(super) fn start(search: Search, question: Question) -> Self {
        let sums = Arc::new(Mutex::new(Sums::default()));
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

    /// Asks for other sums.
    pub(super) fn ask(&self, question: Question) {
        let _ = self.questions.send(question);
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Reads all sessions.
fn read(search: &Search, sums: &Mutex<Sums>, touch: &Sender<()>, is_over: &AtomicBool) {
    let change = |change: &mut dyn FnMut(&mut Sums)| {
        change(&mut sums.lock().unwrap_or_else(PoisonError::into_inner));
        !is_over.load(Ordering::Relaxed)
            && touch.try_send(()) != Err(TrySendError::Disconnected(()))
    };
    let miss = |line: String| {
        change(&mut |sums| {
            if sums.progress.failures.len() < TOLD {
                sums.progress.failures.push(Text::clean(&line));
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
        Step::Failure(failure) => miss(failure.to_string()),
        Step::Unreadable(found) => miss(found.unread_line()),
    });
    change(&mut |sums| sums.progress.is_complete = true);
}

/// Answers the newest question, whenever there is more to say.
fn answer(
    mut question: Question,
    sums: &Mutex<Sums>,
    asked: &Receiver<Question>,
    mut touched: Receiver<()>,
    say: &Sender<Counted>,
) {
    loop {
        let begun = Instant::now();
        let counted = {
            let sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            sums.ledger.answer(&question, &sums.progress)
        };
        let took = begun.elapsed();
        if say.send(counted).is_err() {
            return;
        }
        // Other sums are wanted at once, more of the same in a while.
        let newer = match asked.recv_timeout(PAUSE.max(took.saturating_mul(SHARE))) {
            Ok(newer) => Some(newer),
            Err(error) if error.is_disconnected() => return,
            Err(_) => select! {
                recv(asked) -> newer => match newer {
                    Ok(newer) => Some(newer),
                    Err(_) => return,
                },
                recv(touched) -> touch => {
                    // All is read.
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
