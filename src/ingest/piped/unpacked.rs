//! A compressed file, and whether it is another one: the archive of an evaluation that runs is written again after some
//! samples, and read again then. What was read last stays until the next one is there to its end.
//!
//! Whoever follows many sessions on one thread reads it step by step. Nobody asks for its records then, so there is no
//! copy, and bodies that were taken in may be let go.

use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Piped;
use crate::ingest::emitter::Outlet;
use crate::ingest::files::Files;
use crate::ingest::plan::Plan;
use crate::model::edit::{Feed, LinkState};
use crate::model::text::Text;
use crate::source::follow::is_absence;
use crate::source::packed::{self, Packing};
use crate::source::rewritten::{PATIENCE, RETRY};
use crate::source::stamp::Stamp;
use crate::source::watch::Watcher;
use crate::source::{regular, zip};

/// How much is unpacked at once.
const CHUNK: usize = 64 << 10;

/// Reads a compressed file.
pub(crate) struct Unpacked<'o> {
    piped: Piped<'o>,
    packing: Packing,
    /// What is left of the text.
    text: Option<Box<dyn Read>>,
    /// The state that was read last.
    shown: Option<Stamp>,
    /// A state that is not complete, and since when.
    broken: Option<(Stamp, Instant)>,
    link: Option<LinkState>,
}

impl<'o> Unpacked<'o> {
    /// One that was not looked at yet. `None`: the file is not compressed.
    pub(crate) fn of(plan: &Plan, files: &Files, outlet: Outlet<'o>) -> Option<Self> {
        Some(Self::new(Piped::new(plan.clone(), files, outlet), plan.packing?))
    }

    pub(super) fn new(piped: Piped<'o>, packing: Packing) -> Self {
        Self { piped, packing, text: None, shown: None, broken: None, link: None }
    }

    /// Follows it until asked to stop.
    pub(super) fn follow(mut self, mut watcher: Watcher, stop: &AtomicBool) {
        while self.piped.emitter.is_open() && !stop.load(Ordering::Relaxed) {
            let is_new = self.is_other();
            if is_new {
                self.piped.run(stop);
                self.say(LinkState::Live);
            }
            let path = self.piped.plan.path.as_path();
            watcher.watch(std::iter::once(path).chain(path.parent()), is_new);
            watcher.wait(self.broken.map(|_| RETRY));
        }
    }

    /// Begins to read, if it was not read yet or was written again. Answers whether there is something to be read.
    pub(crate) fn look(&mut self) -> bool {
        if self.text.is_none() && self.is_other() {
            self.piped.begin();
            let opened = regular::open(&self.piped.plan.path);
            match opened.and_then(|file| packed::open(file, self.packing)) {
                Ok(text) => self.text = Some(text),
                Err(error) => self.piped.end(Some(error)),
            }
            self.say(LinkState::Live);
        }
        self.text.is_some()
    }

    /// Reads on for so long. Answers whether there is more to be read.
    pub(crate) fn read(&mut self, slice: Duration) -> bool {
        let begun = Instant::now();
        self.look();
        let mut room = vec![0; CHUNK];
        while let Some(text) = &mut self.text {
            let end = match text.read(&mut room) {
                Ok(0) => None,
                Ok(read) => {
                    self.piped.take(room.get(..read).unwrap_or_default());
                    let excess = self.piped.excess();
                    if excess.is_none() && begun.elapsed() >= slice {
                        return true;
                    }
                    if excess.is_none() {
                        continue;
                    }
                    excess
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Some(error),
            };
            self.piped.end(end);
            self.text = None;
        }
        false
    }

    /// Whether it is another one than was read, and is to be read: it is complete, or will hardly be. What is no archive of
    /// an evaluation is not written again.
    fn is_other(&mut self) -> bool {
        let path = &self.piped.plan.path;
        let stamp = match Stamp::of(path) {
            Ok(stamp) => stamp,
            Err(error) if is_absence(&error) => {
                self.say(LinkState::Gone);
                return false;
            }
            Err(error) => {
                self.say(LinkState::Unreadable(Text::clean(&error.to_string())));
                return false;
            }
        };
        let is_rewritten = self.packing == Packing::Zip && self.shown != Some(stamp);
        let is_whole = || regular::open(path).map_or(true, |file| zip::is_whole(&file));
        let mut is_other = self.shown.is_none() || is_rewritten && is_whole();
        if is_rewritten && !is_other {
            let known = self.broken.filter(|(broken, _)| *broken == stamp);
            let (_, since) = *self.broken.insert(known.unwrap_or((stamp, Instant::now())));
            is_other = since.elapsed() >= PATIENCE;
        }
        if is_other {
            (self.shown, self.broken) = (Some(stamp), None);
        } else {
            self.say(LinkState::Live);
        }
        is_other
    }

    fn say(&mut self, link: LinkState) {
        if self.link.as_ref() != Some(&link) {
            self.piped.emitter.send(Feed::Link(link.clone()));
            self.link = Some(link);
        }
    }
}
