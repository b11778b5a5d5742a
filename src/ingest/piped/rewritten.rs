//! The archive of an evaluation that runs: it is written again after some samples, and read again then. What was read
//! last stays until the next one is there to its end.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Piped;
use crate::model::edit::{Feed, LinkState};
use crate::model::text::Text;
use crate::source::follow::is_absence;
use crate::source::packed::Packing;
use crate::source::rewritten::{PATIENCE, RETRY};
use crate::source::stamp::Stamp;
use crate::source::watch::Watcher;
use crate::source::{regular, zip};

/// Follows it until asked to stop.
pub(super) fn follow(piped: Piped<'_>, mut watcher: Watcher, stop: &AtomicBool) {
    let mut archive = Archive::new(piped);
    while archive.piped.emitter.is_open() && !stop.load(Ordering::Relaxed) {
        let is_new = archive.look(&mut |piped| piped.run(stop));
        let path = archive.piped.plan.path.as_path();
        watcher.watch(std::iter::once(path).chain(path.parent()), is_new);
        watcher.wait(archive.broken.map(|_| RETRY));
    }
}

pub(super) struct Archive<'o> {
    /// Reads it.
    pub(super) piped: Piped<'o>,
    /// The state that was read last.
    shown: Option<Stamp>,
    /// A state that is not complete, and since when.
    broken: Option<(Stamp, Instant)>,
    link: Option<LinkState>,
}

impl<'o> Archive<'o> {
    /// One that was not looked at yet.
    pub(super) fn new(piped: Piped<'o>) -> Self {
        Self { piped, shown: None, broken: None, link: None }
    }

    /// Reads it if it is another one. Answers whether it was.
    pub(super) fn look(&mut self, read: &mut dyn FnMut(&mut Piped<'o>) -> bool) -> bool {
        match Stamp::of(&self.piped.plan.path) {
            Ok(stamp) => {
                let is_read = self.shown != Some(stamp) && self.may_read(stamp) && read(&mut self.piped);
                if is_read {
                    (self.shown, self.broken) = (Some(stamp), None);
                }
                self.say(LinkState::Live);
                is_read
            }
            Err(error) => {
                self.say(if is_absence(&error) {
                    LinkState::Gone
                } else {
                    LinkState::Unreadable(Text::clean(&error.to_string()))
                });
                false
            }
        }
    }

    /// Whether it is complete, or will hardly be. What is no archive of an evaluation is not written again.
    fn may_read(&mut self, stamp: Stamp) -> bool {
        if self.shown.is_none() {
            return true;
        }
        if self.piped.plan.packing != Some(Packing::Zip) {
            return false;
        }
        if is_whole(&self.piped.plan.path).unwrap_or(true) {
            return true;
        }
        let known = self.broken.filter(|(broken, _)| *broken == stamp);
        let (_, since) = *self.broken.insert(known.unwrap_or((stamp, Instant::now())));
        since.elapsed() >= PATIENCE
    }

    fn say(&mut self, link: LinkState) {
        if self.link.as_ref() != Some(&link) {
            self.piped.emitter.send(Feed::Link(link.clone()));
            self.link = Some(link);
        }
    }
}

fn is_whole(path: &Path) -> io::Result<bool> {
    Ok(zip::is_whole(&regular::open(path)?))
}
