//! Several sessions as one: each is followed as it would be alone, and their edits are merged.
//!
//! `seat` makes keys, lanes and files of each session unique, `merge` brings the edits into one
//! order.

mod merge;
mod seat;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};
use itertools::Itertools as _;

use merge::Merge;
pub(crate) use seat::{key_at, of_file};

use super::emitter::Outlet;
use super::files::FileTable;
use super::live;
use super::piped;
use super::plan::Plan;
use crate::model::edit::{Batch, Feed, LinkState, OpenedSession, Stage};
use crate::model::found::Target;
use crate::model::record::{FileId, Shape};
use crate::model::text::Text;
use crate::source::pattern::from_root;

/// Limit of messages in the queue of the merge.
const DEPTH: usize = 8;
/// Interval at which the stop flag is checked.
const CALM: Duration = Duration::from_millis(50);

/// Whether a session shares a database or a folder with others.
fn shares_storage(plan: &Plan) -> bool {
    matches!(plan.shape, Shape::Rows | Shape::Folder)
}

/// Names of sessions for display, from the distinct parts of their file names, and their formats.
fn names(plans: &[&Plan]) -> Vec<(String, &'static str)> {
    let stem = |plan: &&Plan| {
        let stem = plan.path.file_stem().unwrap_or(plan.path.as_os_str());
        let named = shares_storage(plan).then_some(plan.session.as_str());
        named.map_or_else(|| stem.to_string_lossy().into_owned(), str::to_owned)
    };
    let stems: Vec<String> = plans.iter().map(stem).collect();
    // Ids of one day begin alike; the end distinguishes them.
    let short = |stem: &String| match stem.char_indices().rev().nth(SHORT - 1) {
        Some((at, _)) if stem.chars().count() > LONGEST => {
            stem.get(at..).unwrap_or(stem).to_owned()
        }
        _ => stem.clone(),
    };
    let shorts = stems.iter().map(short);
    plans
        .iter()
        .zip(shorts)
        .map(|(plan, short)| (short, plan.opened.format))
        .collect()
}

/// Limit of a name in characters; longer ones are reduced to their last characters.
const LONGEST: usize = 20;
const SHORT: usize = 8;

/// The event for the joined session.
pub(crate) fn opened(plans: &[&Plan]) -> Option<OpenedSession> {
    let first = plans.first()?;
    let reason = Text::clean(&format!("{} sessions joined", plans.len()));
    let joined = plans.iter().map(|plan| Target {
        path: from_root(&plan.path),
        session: shares_storage(plan).then(|| plan.session.clone()),
    });
    Some(OpenedSession {
        format: "joined",
        reason,
        resumes: &[],
        joined: joined.collect(),
        ..first.opened.clone()
    })
}

/// Follows one session until the stop flag is set.
pub(super) fn follow_one(
    plan: Plan,
    files: &FileTable,
    outlet: Outlet<'_>,
    native: bool,
    stop: &AtomicBool,
) {
    if plan.is_pipe() {
        piped::run(plan, files, outlet, stop);
    } else {
        live::follow(&plan, files, outlet, native, stop);
    }
}

/// Follows all sessions until the stop flag is set.
pub(crate) fn follow(
    sessions: Vec<(Plan, FileTable)>,
    outlet: Outlet<'_>,
    native: bool,
    stop: &AtomicBool,
) {
    let plans: Vec<&Plan> = sessions.iter().map(|(plan, _)| plan).collect();
    let names = names(&plans);
    let (merge, ends) = (Merge::new(&names), Some(JoinedPreview::new(&names)));
    let mut joiner = Joiner {
        merge,
        ends,
        outlet,
        progress: vec![(0, 0); plans.len()],
        lost: BTreeMap::new(),
    };
    let (sender, feeds) = bounded(DEPTH);
    let is_over = AtomicBool::new(false);
    let is_over = &is_over;
    thread::scope(|scope| {
        for (number, (plan, files)) in sessions.into_iter().enumerate() {
            let sender = sender.clone();
            scope.spawn(move || {
                let outlet = |feed| live::send((number, feed), &sender, is_over, &|| ());
                let outlet: Outlet<'_> = &outlet;
                live::guarded(outlet, || follow_one(plan, &files, outlet, native, is_over));
            });
        }
        drop(sender);
        while !stop.load(Ordering::Relaxed) {
            match feeds.recv_timeout(CALM) {
                Ok((number, feed)) => {
                    if !joiner.process(number, feed) {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        is_over.store(true, Ordering::SeqCst);
    });
}

struct Joiner<'o> {
    merge: Merge,
    /// The preview that is shown until everything is read.
    ends: Option<JoinedPreview>,
    outlet: Outlet<'o>,
    progress: Vec<(u64, u64)>,
    /// Sessions that cannot be followed any more, with the reason in a word or two.
    lost: BTreeMap<usize, &'static str>,
}

impl Joiner<'_> {
    /// Processes an event of a session. Returns whether more are accepted.
    fn process(&mut self, number: usize, feed: Feed) -> bool {
        match feed {
            Feed::Batch {
                stage: Stage::Preview,
                batch,
            } => self.show(|ends| ends.add_end(number, *batch)),
            Feed::Batch {
                stage: Stage::Whole,
                batch,
            } => {
                let is_shown = self.show(|ends| ends.add_whole(number, &batch));
                let batches = self.merge.add(number, *batch);
                is_shown
                    && batches
                        .into_iter()
                        .all(|batch| self.send(Stage::Whole, batch))
            }
            Feed::CaughtUp => self.finish(number),
            Feed::Progress { done, total } => {
                if !self.show(|ends| ends.finish_end(number)) {
                    return false;
                }
                self.progress
                    .get_mut(number)
                    .into_iter()
                    .for_each(|known| *known = (done, total));
                let sum = |(n, m), (done, total)| (n + done, m + total);
                let (done, total) = self.progress.iter().copied().fold((0, 0), sum);
                (self.outlet)(Feed::Progress { done, total })
            }
            Feed::File { id, path } => self.merge.seat(number).is_none_or(|seat| {
                let id: FileId = seat.file(id);
                (self.outlet)(Feed::File { id, path })
            }),
            Feed::Polled(why) if number == 0 => (self.outlet)(Feed::Polled(why)),
            Feed::Link(LinkState::Unreadable(why)) => {
                self.report_lost(number, "unreadable", &format!("cannot be read ({why})"))
            }
            Feed::Link(LinkState::Emptied) => {
                self.report_lost(number, "file emptied", "the file was emptied")
            }
            Feed::Link(LinkState::Deleted) => {
                self.report_lost(number, "file gone", "the file is gone")
            }
            Feed::Fault(why) => self.report_lost(number, "reading stopped", &why),
            Feed::Link(LinkState::Reread(why)) => {
                self.send_message(number, &why) && self.have(number)
            }
            Feed::Link(LinkState::Live) => self.have(number),
            // These events do not affect what is shown.
            Feed::Link(_) | Feed::Polled(_) | Feed::Opened(_) => true,
        }
    }

    /// Reports that a session cannot be followed; a short form is shown as long as that lasts.
    fn report_lost(&mut self, number: usize, word: &'static str, what: &str) -> bool {
        self.lost.insert(number, word);
        self.send_message(number, what) && self.send_lost()
    }

    /// Reports that a session can be followed again.
    fn have(&mut self, number: usize) -> bool {
        let was_lost = self.lost.remove(&number).is_some();
        !was_lost && self.lost.is_empty() || self.send_lost()
    }

    fn send_lost(&mut self) -> bool {
        let mut words = self
            .lost
            .iter()
            .map(|(number, word)| format!("{}: {word}", number + 1));
        let words = words.join(", ");
        let state = if words.is_empty() {
            LinkState::Live
        } else {
            LinkState::InPart(Text::clean(&words))
        };
        (self.outlet)(Feed::Link(state))
    }

    /// Sends a message about a session that does not affect the others: they do not wait for it any
    /// longer.
    fn send_message(&mut self, number: usize, what: &str) -> bool {
        let words = Text::clean(&self.merge.message(number, what));
        self.finish(number) && (self.outlet)(Feed::Link(LinkState::Reread(words)))
    }

    fn finish(&mut self, number: usize) -> bool {
        let Some(batches) = self.merge.finish(number) else {
            return self.show(|ends| ends.finish(number));
        };
        self.ends = None;
        batches
            .into_iter()
            .all(|batch| self.send(Stage::Whole, batch))
            && (self.outlet)(Feed::CaughtUp)
    }

    /// Sends the preview, as long as it is of use.
    fn show(&mut self, of: impl FnOnce(&mut JoinedPreview) -> Vec<Batch>) -> bool {
        let batches = self.ends.as_mut().map(of).unwrap_or_default();
        batches
            .into_iter()
            .all(|batch| self.send(Stage::Preview, batch))
    }

    fn send(&self, stage: Stage, batch: Batch) -> bool {
        (self.outlet)(Feed::Batch {
            stage,
            batch: Box::new(batch),
        })
    }
}

/// A preview of several sessions as one, shown while each is read completely.
///
/// It consists of the last entries of long sessions and of all entries of short ones. Their ranges
/// of time differ: entries older than the latest start among them are left out, so that none is
/// missing between two entries. Nothing is shown before the first event of each session, and
/// nothing at all if none of them is long.
struct JoinedPreview {
    merge: Merge,
    /// Which sessions are shown by their last entries only.
    is_end: Vec<bool>,
}

impl JoinedPreview {
    /// A preview of sessions with these names and formats.
    fn new(names: &[(String, &'static str)]) -> Self {
        Self {
            merge: Merge::new(names),
            is_end: vec![false; names.len()],
        }
    }

    /// Adds a batch of the last entries of a session. Returns the batches to show.
    fn add_end(&mut self, number: usize, batch: Batch) -> Vec<Batch> {
        self.is_end
            .get_mut(number)
            .into_iter()
            .for_each(|is_end| *is_end = true);
        self.merge.cut(number);
        self.merge.add(number, batch)
    }

    fn add_whole(&mut self, number: usize, batch: &Batch) -> Vec<Batch> {
        match self.is_end.get(number) {
            Some(false) => self.merge.add(number, batch.clone()),
            _ => self.finish_end(number),
        }
    }

    /// The session continues with entries before its last ones.
    fn finish_end(&mut self, number: usize) -> Vec<Batch> {
        if self.is_end.get(number) == Some(&true) {
            self.finish(number)
        } else {
            Vec::new()
        }
    }

    /// The session is complete, or cannot be read at all.
    fn finish(&mut self, number: usize) -> Vec<Batch> {
        let batches = self.merge.finish(number).unwrap_or_default();
        if self.is_end.contains(&true) {
            batches
        } else {
            Vec::new()
        }
    }
}
