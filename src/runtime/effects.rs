//! Carrying out what the state asks for.
//!
//! Invariant: nothing here waits for a thread; what takes time is handed to one, and its answer comes
//! back as an event.

use std::process::ExitCode;

use super::clock::now;
use super::counting::Counting;
use super::look;
use super::opened::{self, Aside, Kept};
use super::session_discovery::{self, Discovery};
use super::workers::Workers;
use super::{Next, Viewer};
use crate::analysis::ledger::counting::Question;
use crate::app::effect::{Effect, Instead};
use crate::app::input::action::Action;
use crate::app::mode::Mode;
use crate::app::state::CameFrom;
use crate::app::text::moving;
use crate::fleet::{self, Fleet};
use crate::ingest::find::{Search, locate};
use crate::ingest::{self, Session, Target};
use crate::model::text::Text;
use crate::source::regular;
use crate::terminal;

impl Viewer {
    /// Does what the state asks for, and says whether the program goes on.
    pub(super) fn carry_out(&mut self, effect: Effect) -> anyhow::Result<Next> {
        match effect {
            Effect::Page { entries, origins } => {
                self.work(|workers| workers.page(entries, origins));
            }
            Effect::Details { origins, is_whole } => {
                self.work(|workers| workers.details(origins, is_whole));
            }
            Effect::Search(job) => self.work(|workers| workers.search(job)),
            Effect::CancelSearch => self.work(Workers::cancel_search),
            Effect::Filter(job) => self.work(|workers| workers.filter(job)),
            Effect::CancelFilter => self.work(Workers::cancel_filter),
            Effect::Copy(text) => self.copy(&text)?,
            Effect::CopyRecords(origins) => match self.lines_of(&origins) {
                Some(text) => self.copy(&text)?,
                None => self
                    .app
                    .reader
                    .screen
                    .say("the record cannot be read any more"),
            },
            Effect::ShowRecords(origins) => self.work(|workers| workers.show(origins)),
            Effect::Inspect(origins) => self.work(|workers| workers.inspect(origins)),
            Effect::GoBack(instead) => return self.go_back(instead),
            Effect::Seek => {
                let search = session_discovery::search(&self.config);
                self.app.picker.places = session_discovery::places(&search);
                self.seeking = Some(Discovery::start(search));
            }
            Effect::EndSeeking => self.seeking = None,
            Effect::Preview(found) => self.seek(|seeking| seeking.preview(*found)),
            Effect::SearchTexts { generation, words } => {
                self.seek(|seeking| seeking.look_for(generation, words));
            }
            Effect::FollowAll => self.follow_all(),
            Effect::LeaveAll => self.fleet = None,
            Effect::WatchAll(alarms) => {
                if let Some(fleet) = &self.fleet {
                    fleet.watch(alarms);
                }
            }
            Effect::Count(question) => self.count(question, false),
            Effect::CountAnew(question) => self.count(question, true),
            Effect::Open(place) => drop(self.open(Target::of(place))),
            Effect::GoOn(id) => self.go_on(&id),
            Effect::OpenAt { place, entry, text } => {
                self.open_at(Target::of(place), entry, text)?;
            }
            Effect::Join(path) => self.join_named(&path),
            Effect::Leave => self.leave()?,
            Effect::Pipe { command, origins } => return self.pipe(&command, &origins),
            Effect::Mouse(is_on) => terminal::set_mouse(is_on)?,
            Effect::Edit(origin) => return self.edit(origin),
            Effect::Resume { words, folder } => return self.resume(&words, folder.as_deref()),
            Effect::View(image) => self.work(|workers| workers.view(image)),
            Effect::Theme(name) => look::set(&name, &self.config, &mut self.app.reader),
            Effect::Images(choice) => self.set_images(choice)?,
            Effect::Notify(notice) => self.notify(&notice)?,
            Effect::Remember => {
                let reader = &mut self.app.reader;
                self.keeper
                    .keep_marks(&mut reader.text.places, &mut reader.screen);
            }
            Effect::Forget => self.keeper.forget_all(&mut self.app.reader.screen),
            Effect::Reload => self.reload(),
            Effect::Redraw => self.repaint()?,
            Effect::Suspend => self.suspend()?,
            Effect::Quit => return Ok(Next::End(ExitCode::SUCCESS)),
        }
        Ok(Next::Go)
    }

    fn work(&self, order: impl FnOnce(&Workers)) {
        if let Some(opened) = &self.opened {
            order(&opened.workers);
        }
    }

    fn seek(&self, order: impl FnOnce(&Discovery)) {
        if let Some(seeking) = &self.seeking {
            order(seeking);
        }
    }

    /// Follows all sessions, unless that is done already.
    fn follow_all(&mut self) {
        if self.fleet.is_some() {
            return;
        }
        let wall = &mut self.app.wall;
        wall.begin();
        let choice = &self.config.wall;
        self.fleet = Some(Fleet::start(fleet::Options {
            search: Search {
                format: choice.format.clone(),
                ..session_discovery::search(&self.config)
            },
            recent_ms: choice.recent_ms,
            most: fleet::MOST,
            watch: self.config.watch,
            alarms: wall.wishes.iter().map(|wish| wish.expr.clone()).collect(),
            clock: now,
        }));
    }

    /// Counts what all sessions came to, unless that is done already; and asks for these sums.
    fn count(&mut self, question: Question, is_anew: bool) {
        match self.counting.as_ref().filter(|_| !is_anew) {
            Some(counting) => counting.ask(question),
            None => {
                self.counting = Some(Counting::start(
                    session_discovery::search(&self.config),
                    question,
                ));
            }
        }
    }

    /// Opens a session that was chosen. Says whether it is shown.
    fn open(&mut self, target: Target) -> bool {
        if self
            .opened
            .as_ref()
            .is_some_and(|opened| opened.target == target)
        {
            self.app.mode = Mode::Normal;
            self.seeking = None;
            return true;
        }
        if let Some(aside) = self.aside.take_if(|aside| aside.is_of(&target)) {
            self.take_up(aside);
            return true;
        }
        match ingest::open(&target) {
            Ok(session) => {
                self.seeking = None;
                let from = match self.app.mode {
                    Mode::Wall | Mode::OnWall { .. } => CameFrom::Wall,
                    Mode::Ledger => CameFrom::Ledger,
                    _ => CameFrom::Picker,
                };
                if let Some(opened) = self.opened.take_if(|_| self.aside.is_none()) {
                    let subject = self.keeper.put_away(&mut self.app.reader);
                    self.aside = Some(Aside::put(opened, subject, &self.config, &mut self.app));
                }
                self.begin(session, target);
                self.app.came_from = from;
                self.app.is_over_session = self.aside.is_some();
                true
            }
            Err(error) => {
                let path = target.path.to_string_lossy();
                // Where there is no room for both, the reason says more.
                let words = format!("{}: {path}", error.about(&target.path));
                self.app.reader.screen.say(Text::clean(&words).to_string());
                false
            }
        }
    }

    /// Opens the session in which this one goes on: beside it, or wherever agents put theirs.
    fn go_on(&mut self, id: &Text) {
        let is_id = id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        let beside = self
            .opened
            .as_ref()
            .filter(|_| is_id && !id.is_empty())
            .map(|opened| {
                let path = &opened.target.path;
                let name = path.extension().map_or_else(
                    || id.to_string(),
                    |extension| format!("{id}.{}", extension.to_string_lossy()),
                );
                Target {
                    path: path.with_file_name(name),
                    session: None,
                }
            });
        let target = match beside.filter(|target| target.path.is_file()) {
            Some(target) => Some(target),
            None if is_id => locate(id, &self.config.environment).and_then(Result::ok),
            None => None,
        };
        match target {
            Some(target) => drop(self.open(target)),
            None => self
                .app
                .reader
                .screen
                .say(format!("the session {id} is not here")),
        }
    }

    /// The same at an entry, with a text searched for from there on.
    fn open_at(&mut self, target: Target, entry: String, text: String) -> anyhow::Result<()> {
        if !self.open(target) {
            return Ok(());
        }
        let places = &mut self.app.reader.text.places;
        (places.wanted, places.sought) = (Some(entry), Some(text));
        let effects = self.app.reader.with_text(moving::go_to_wanted);
        effects
            .into_iter()
            .try_for_each(|effect| self.carry_out(effect).map(drop))
    }

    /// Reads one more session as one with what is shown.
    fn join_named(&mut self, path: &str) {
        let Some(opened) = &self.opened else { return };
        if opened.target.is_stdin() {
            return self
                .app
                .reader
                .screen
                .say("what comes through a pipe cannot be read as one with others");
        }
        let other = Target::parse(path);
        // It may never end, and all others would be waited for with it.
        let kind = other
            .path
            .metadata()
            .ok()
            .map(|metadata| metadata.file_type());
        if let Some(what) = kind
            .filter(|kind| !kind.is_dir())
            .and_then(regular::other_than_file)
        {
            let words = format!(
                "{}: {what} cannot be read as one with others",
                other.path.display()
            );
            return self.app.reader.screen.say(Text::clean(&words).to_string());
        }
        let target = opened.target.clone();
        let mut joined = opened.joined.clone();
        joined.push(other);
        self.join(&target, joined);
    }

    /// Reads sessions as one, and says whether that came about. What cannot be opened keeps nothing from the others.
    pub(super) fn join(&mut self, target: &Target, joined: Vec<Target>) -> bool {
        let mut failures = Vec::new();
        let mut others = Vec::new();
        let mut kept = Vec::new();
        for other in joined {
            match ingest::open(&other) {
                Ok(session) => {
                    kept.push(opened::resolved(other, &session));
                    others.push(session);
                }
                Err(error) => failures.push(Text::clean(&error.to_string()).to_string()),
            }
        }
        let first = ingest::open(target);
        failures.extend(
            first
                .as_ref()
                .err()
                .map(|error| Text::clean(&error.to_string()).to_string()),
        );
        let joined = first
            .ok()
            .map(|first| first.join(others))
            .filter(Session::is_joined);
        let is_joined = joined.is_some();
        if let Some(session) = joined {
            self.keeper.put_away(&mut self.app.reader);
            // What is kept of a session says nothing of several.
            self.keeper.take_out(None, &mut self.app.reader.screen);
            let reading = Kept::of(&mut self.app.reader);
            let was_joined = self
                .opened
                .as_ref()
                .is_some_and(|opened| !opened.joined.is_empty());
            let reading = if was_joined {
                reading
            } else {
                reading.among_others()
            };
            self.show_again(session, target.clone(), reading);
            self.opened
                .iter_mut()
                .for_each(|opened| opened.joined.clone_from(&kept));
        } else if failures.is_empty() && !kept.is_empty() {
            self.app
                .reader
                .screen
                .say("that is the session that is shown");
        }
        if !failures.is_empty() {
            self.app.reader.screen.say(failures.join("; "));
        }
        is_joined && failures.is_empty()
    }

    /// Shows the session again over which others were chosen.
    fn go_back(&mut self, instead: Instead) -> anyhow::Result<Next> {
        match (self.aside.take(), instead) {
            (Some(aside), _) => self.take_up(aside),
            (None, Instead::Quit) => return Ok(Next::End(ExitCode::SUCCESS)),
            (None, Instead::Sessions) => self.show_all(Action::Sessions)?,
        }
        Ok(Next::Go)
    }

    fn take_up(&mut self, aside: Aside) {
        self.keeper.put_away(&mut self.app.reader);
        (self.opened, self.seeking) = (None, None);
        let (opened, subject) = aside.take_up(&self.config, &mut self.app);
        self.opened = Some(opened);
        self.keeper.take_out(subject, &mut self.app.reader.screen);
        self.app.is_over_session = false;
    }

    /// Leaves the session for the picker, or the wall.
    fn leave(&mut self) -> anyhow::Result<()> {
        self.keeper.put_away(&mut self.app.reader);
        self.opened = None;
        let from = self.app.came_from;
        drop(opened::clear(&mut self.app, &self.config));
        let below = self.app.ledger.below;
        self.show_all(match from {
            CameFrom::Wall => Action::Wall,
            CameFrom::Ledger => Action::Usage,
            CameFrom::Outside | CameFrom::Picker => Action::Sessions,
        })?;
        // What lay below the ledger lies there still.
        self.app.ledger.below = below;
        Ok(())
    }

    /// Opens the session anew; the keys of entries keep the place.
    fn reload(&mut self) {
        let Some(opened) = &self.opened else { return };
        let (target, joined) = (opened.target.clone(), opened.joined.clone());
        if target.is_stdin() {
            return self
                .app
                .reader
                .screen
                .say("what came through a pipe cannot be read anew");
        }
        let is_anew = if joined.is_empty() {
            match ingest::open(&target) {
                Ok(session) => {
                    let kept = Kept::of(&mut self.app.reader);
                    self.show_again(session, target, kept);
                    true
                }
                Err(error) => {
                    self.app.reader.screen.say(error.to_string());
                    false
                }
            }
        } else {
            self.join(&target, joined)
        };
        if is_anew {
            self.app.reader.screen.say("read anew");
        }
    }

    /// Shows a session in place of what was read of it before.
    fn show_again(&mut self, session: Session, target: Target, kept: Kept) {
        let came_from = self.app.came_from;
        self.show(session, target, kept);
        self.app.came_from = came_from;
    }
}
