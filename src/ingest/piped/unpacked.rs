//! A compressed file read step by step, by who follows many sessions on one thread. Nobody asks for its records, so
//! there is no copy, and bodies that were taken in may be let go.

use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

use super::Piped;
use super::rewritten::Archive;
use crate::ingest::emitter::Outlet;
use crate::ingest::files::Files;
use crate::ingest::plan::Plan;
use crate::source::packed::{self, Packing};
use crate::source::regular;

/// How much is unpacked at once.
const CHUNK: usize = 64 << 10;

/// Reads a compressed file.
pub(crate) struct Unpacked<'o> {
    archive: Archive<'o>,
    packing: Packing,
    /// What is left of the text.
    text: Option<Box<dyn Read>>,
}

impl<'o> Unpacked<'o> {
    /// Nothing is read yet. `None`: the file is not compressed.
    pub(crate) fn of(plan: &Plan, files: &Files, outlet: Outlet<'o>) -> Option<Self> {
        let packing = plan.packing?;
        let piped = Piped::new(plan.clone(), files, outlet);
        Some(Self { archive: Archive::new(piped), packing, text: None })
    }

    /// Begins to read, if it was not read yet or was written again. Answers whether there is something to be read.
    pub(crate) fn look(&mut self) -> bool {
        let (text, packing) = (&mut self.text, self.packing);
        if text.is_none() {
            self.archive.look(&mut |piped| {
                piped.begin();
                match regular::open(&piped.plan.path).and_then(|file| packed::open(file, packing)) {
                    Ok(opened) => *text = Some(opened),
                    Err(error) => piped.end(Some(error)),
                }
                true
            });
        }
        self.text.is_some()
    }

    /// Reads on for so long. Answers whether there is more to be read.
    pub(crate) fn read(&mut self, slice: Duration) -> bool {
        let begun = Instant::now();
        self.look();
        let mut room = vec![0; CHUNK];
        let piped = &mut self.archive.piped;
        while let Some(text) = &mut self.text {
            let end = match text.read(&mut room) {
                Ok(0) => None,
                Ok(read) => {
                    piped.take(room.get(..read).unwrap_or_default());
                    if let Some(why) = piped.excess() {
                        piped.end(Some(why));
                        self.text = None;
                        return false;
                    }
                    if begun.elapsed() >= slice {
                        return true;
                    }
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Some(error),
            };
            piped.end(end);
            self.text = None;
        }
        false
    }
}
