//! The course of a session that is followed: by which plan it is read now, and what was said of it so far. Who
//! follows it waits for its files; what becomes of a look at them is decided here.

use std::io;
use std::time::Instant;

use super::bodies::Bodies;
use super::emitter::{Emitter, Outlet};
use super::files::Files;
use super::piped::Unpacked;
use super::plan::Plan;
use super::preview::show_end;
use super::reader::{Reader, Seen};
use super::rows::Databases;
use crate::model::edit::{Feed, LinkState, Stage};
use crate::model::text::Text;

/// A session that is followed.
pub(crate) struct Course<'f> {
    /// How it is read.
    pub(crate) plan: Plan,
    files: Files,
    databases: Databases,
    outlet: Outlet<'f>,
    is_caught_up: bool,
    /// Why everything is read anew, to be said when that is done.
    reread: Option<String>,
    has_been_read: bool,
    /// More may have been written between the look that told what the file is and the first reading of it.
    may_have_grown: bool,
}

/// What a look at the files came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Everything is read anew, so what is watched may have moved.
    pub(crate) is_anew: bool,
    /// The file turned out to be of another format, so that its reader is to be given up.
    pub(crate) is_other: bool,
}

impl<'f> Course<'f> {
    /// Nothing is read yet.
    pub(crate) fn begin(plan: Plan, files: Files, outlet: Outlet<'f>) -> Self {
        plan.say_opened(outlet);
        Self {
            plan,
            files,
            databases: Databases::default(),
            outlet,
            is_caught_up: false,
            reread: None,
            has_been_read: false,
            may_have_grown: false,
        }
    }

    /// Shares what is open of a database with others that are followed on this thread.
    #[must_use]
    pub(crate) fn with(self, databases: Databases) -> Self {
        Self { databases, ..self }
    }

    /// Opens a reader of all of it.
    pub(crate) fn open(&mut self) -> io::Result<Reader<'f>> {
        let mut emitter = Emitter::new(self.plan.decoder(), Stage::Whole, self.outlet);
        if self.has_been_read {
            emitter.replace();
        }
        let now = (Instant::now(), &self.databases);
        let reader = Reader::new(&self.plan, &self.files, Bodies::Recent, emitter, now)?;
        self.has_been_read = true;
        self.may_have_grown = self.plan.is_provisional;
        Ok(reader)
    }

    /// A reader of all of it, if it is compressed.
    pub(crate) fn unpacked(&self) -> Option<Unpacked<'f>> {
        Unpacked::of(&self.plan, &self.files, self.outlet)
    }

    /// Shows the end of it before all of it is read, if it is long: so many bytes, where it is a file of lines.
    pub(crate) fn show_end(&self, window: u64) {
        if !self.is_caught_up {
            show_end(&self.plan, &self.files, self.outlet, window);
        }
    }

    /// Says that everything is there, and whether it was read anew.
    pub(crate) fn emit_state(&mut self, reader: &mut Reader<'f>) {
        if !std::mem::replace(&mut self.is_caught_up, true) {
            reader.emitter.send(Feed::CaughtUp);
            reader.emitter.send(Feed::Link(LinkState::Live));
        }
        if let Some(why) = self.reread.take() {
            reader.emitter.send(Feed::Link(LinkState::Reread(Text::clean(&why))));
        }
    }

    /// Takes in what a look at the files showed.
    pub(crate) fn take_in(&mut self, seen: Seen, reader: &mut Reader<'f>) -> Taken {
        for link in seen.links {
            reader.emitter.send(Feed::Link(link));
        }
        let is_anew = seen.anew.is_some();
        if is_anew {
            self.reread = seen.anew.filter(|why| !why.is_empty());
        }
        let has_grown = std::mem::take(&mut self.may_have_grown) || seen.has_grown;
        let is_clear = !(self.plan.is_provisional && has_grown);
        let next = if is_anew || !is_clear { self.plan.again() } else { None };
        let Some(plan) = next else { return Taken { is_anew, is_other: false } };
        let is_same = plan.reads_like(&self.plan);
        let is_clearer = plan.opened.confidence != self.plan.opened.confidence
            || plan.opened.reason != self.plan.opened.reason;
        self.plan = plan;
        if !is_same || is_clearer {
            reader.emitter.send(Feed::Opened(Box::new(self.plan.opened.clone())));
        }
        Taken { is_anew, is_other: !is_same }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::Course;
    use crate::ingest::files::{Files, Kind};
    use crate::ingest::open::plan;
    use crate::ingest::target::Target;
    use crate::model::record::Shape;
    use crate::source::watch::Hints;

    #[test]
    fn what_is_written_between_the_look_and_the_first_reading_is_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.traj.json");
        fs::write(&path, "").unwrap();
        let empty = plan(&Target { path: path.clone(), session: None }).unwrap();
        assert_eq!(empty.shape, Shape::Lines);
        fs::write(&path, "{\n\"messages\": [\n{\"role\": \"user\", \"content\": \"Wind it.\"}\n]\n}\n")
            .unwrap();
        let files = Files::default();
        files.number(&path, Kind::Lines);
        let mut course = Course::begin(empty, files, &|_| true);
        let mut reader = course.open().unwrap();
        while reader.step(Instant::now()) {}
        let seen = reader.poll(&Hints::default(), Instant::now());
        assert!(!seen.has_grown);
        assert!(course.take_in(seen, &mut reader).is_other);
        assert_eq!(course.plan.shape, Shape::Document);
    }
}
