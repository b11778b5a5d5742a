//! Carries out the effects that the app requests.
//!
//! Invariant: nothing here waits for a thread; slow work is queued for one, and its result arrives
//! as an event.

use std::process::ExitCode;
use std::sync::Arc;

use super::clock::now;
use super::open_session::{self, ParkedSession, ReaderState};
use super::session_discovery::{self, Discovery};
use super::theme_choice;
use super::usage_worker::UsageWorker;
use super::workers::{ReadJob, Workers};
use super::{Flow, Viewer};
use crate::analysis::ledger::counting::Question;
use crate::app::comparison::{Compared, OtherRun};
use crate::app::dispatch;
use crate::app::effect::Effect;
use crate::app::mode::Mode;
use crate::app::screens::AppScreen;
use crate::app::text::jumps;
use crate::app::update::Event;
use crate::fleet::{self, Fleet};
use crate::ingest::find::{DiscoveryQuery, locate};
use crate::ingest::{self, SessionSource, naming, parse_target};
use crate::model::found::Target;
use crate::model::text::Text;
use crate::report;
use crate::source::fs::{self, PathKind};
use crate::source::regular;
use crate::terminal;

impl Viewer {
    /// Carries out an effect. Returns whether the program goes on.
    pub(super) fn run_effect(&mut self, effect: Effect) -> anyhow::Result<Flow> {
        match effect {
            Effect::Page { entries, origins } => self.read(ReadJob::Page(entries, origins)),
            Effect::Details { origins, is_whole } => self.read(ReadJob::Details(origins, is_whole)),
            Effect::Search(job) => self.with_workers(|workers| workers.search(job)),
            Effect::CancelSearch => self.with_workers(Workers::cancel_search),
            Effect::Filter(job) => self.with_workers(|workers| workers.filter(job)),
            Effect::CancelFilter => self.with_workers(Workers::cancel_filter),
            Effect::Copy(text) => self.copy(&text)?,
            Effect::CopyRecords(origins) => match self.read_lines(&origins) {
                Some(text) => self.copy(&text)?,
                None => self.set_status("the record cannot be read any more"),
            },
            Effect::ShowRecords(origins) => self.read(ReadJob::Show(origins)),
            Effect::Inspect(origins) => self.read(ReadJob::Inspect(origins)),
            Effect::Back => return self.back(),
            Effect::Seek => {
                let search = session_discovery::search(&self.config);
                self.app.picker.places = session_discovery::places(&search);
                self.discovery = Some(Discovery::start(search));
            }
            Effect::EndSeeking => self.discovery = None,
            Effect::Glance(found) => self.with_discovery(|discovery| discovery.glance(found)),
            Effect::SearchTexts { generation, words } => {
                self.with_discovery(|discovery| discovery.search_texts(generation, words));
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
            Effect::Open(place) => drop(self.open(place)),
            Effect::OpenJoined(places) => {
                let mut targets = places.into_iter();
                if let Some(first) = targets.next()
                    && self.open(first.clone())
                {
                    self.join(&first, targets.collect());
                }
            }
            Effect::OpenCompared(places) => {
                if let [one, other] = places.as_slice()
                    && self.open(one.clone())
                {
                    let effects = dispatch::compare(&mut self.app.reader, &other.address());
                    for effect in effects {
                        self.run_effect(effect)?;
                    }
                }
            }
            Effect::OpenContinuation(id) => self.open_continuation(&id),
            Effect::OpenAt { place, entry, text } => {
                self.open_at(place, entry, text)?;
            }
            Effect::Join(path) => self.join_session(&path),
            Effect::Compare { names, run, other } => self.compare(names, run, other),
            Effect::Export(form, extent, keys) => self.export(form, extent, &keys),
            Effect::Pipe { command, origins } => return self.pipe(&command, &origins),
            Effect::Mouse(is_on) => terminal::set_mouse(is_on)?,
            Effect::Edit(origin) => return self.edit(origin),
            Effect::Resume { words, folder } => return self.resume(&words, folder.as_deref()),
            Effect::View(image) => self.read(ReadJob::View(image)),
            Effect::Theme(name) => theme_choice::set(&name, &self.config, &mut self.app.reader),
            Effect::Images(choice) => self.set_images(choice)?,
            Effect::Notify(notice) => self.notify(&notice)?,
            Effect::Remember => {
                let reader = &mut self.app.reader;
                self.state
                    .save_marks(&mut reader.text.places, &mut reader.screen);
            }
            Effect::Forget => self.state.delete_session(&mut self.app.reader.screen),
            Effect::Reload => self.reload(),
            Effect::Redraw => self.repaint()?,
            Effect::Suspend => self.suspend()?,
            Effect::Quit => return Ok(Flow::Exit(ExitCode::SUCCESS)),
        }
        Ok(Flow::Continue)
    }

    fn with_workers(&self, order: impl FnOnce(&Workers)) {
        if let Some(opened) = &self.opened {
            order(&opened.workers);
        }
    }

    fn read(&self, job: ReadJob) {
        self.with_workers(|workers| workers.read(job));
    }

    fn with_discovery(&self, order: impl FnOnce(&Discovery)) {
        if let Some(discovery) = &self.discovery {
            order(discovery);
        }
    }

    /// Starts following all sessions, unless they are followed already.
    fn follow_all(&mut self) {
        if self.fleet.is_some() {
            return;
        }
        let wall = &mut self.app.wall;
        wall.begin();
        let choice = &self.config.wall;
        self.fleet = Some(Fleet::start(fleet::FleetOptions {
            search: DiscoveryQuery {
                format: choice.format.clone(),
                ..session_discovery::search(&self.config)
            },
            recent_ms: choice.recent_ms,
            most: fleet::MOST,
            watch: self.config.watch,
            alarms: wall.alarms.iter().map(|wish| wish.expr.clone()).collect(),
            clock: now,
        }));
    }

    /// Asks the usage worker a question; starts the worker if it does not run, or from scratch
    /// with `starts_over`.
    fn count(&mut self, question: Question, starts_over: bool) {
        match self.usage.as_ref().filter(|_| !starts_over) {
            Some(usage) => usage.set_question(question),
            None => {
                self.usage = Some(UsageWorker::start(
                    session_discovery::search(&self.config),
                    question,
                ));
            }
        }
    }

    /// Opens a chosen session. Returns whether it is shown.
    fn open(&mut self, target: Target) -> bool {
        if self
            .opened
            .as_ref()
            .is_some_and(|opened| opened.target == target)
        {
            let below = &mut self.app.below;
            if let Some(at) = below.iter().rposition(|at| *at == AppScreen::Session) {
                below.truncate(at);
            }
            self.app.mode = Mode::Normal;
            self.discovery = None;
            return true;
        }
        if let Some(parked) = self.parked.take_if(|parked| parked.is_of(&target)) {
            self.resume_parked(parked);
            return true;
        }
        match ingest::open(&target) {
            Ok(session) => {
                self.discovery = None;
                let from = self.app.mode.screen();
                if let Some(opened) = self.opened.take_if(|_| self.parked.is_none()) {
                    if from == AppScreen::Session {
                        self.app.below.push(from);
                    }
                    let key = self.state.save_session(&mut self.app.reader);
                    self.parked = Some(ParkedSession::park(
                        opened,
                        key,
                        &self.config,
                        &mut self.app,
                    ));
                } else if let Some(parked) = &self.parked {
                    parked.drop_screens_above(&mut self.app.below);
                }
                self.begin(session, target);
                let beside = self.parked.as_ref().and_then(ParkedSession::address);
                self.app.reader.session.file.beside = beside;
                if from != AppScreen::Session {
                    self.app.below.push(from);
                }
                true
            }
            Err(error) => {
                let path = target.path.to_string_lossy();
                // The reason comes first, because the end of a long message is cut.
                let words = format!("{}: {path}", error.about(&target.path));
                self.set_status(Text::clean(&words).to_string());
                false
            }
        }
    }

    /// Opens the session that continues this one: a file beside it, or any known session with this
    /// id.
    fn open_continuation(&mut self, id: &Text) {
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
                Target::at(path.with_file_name(name))
            });
        let target = match beside.filter(|target| fs::is_file(&target.path)) {
            Some(target) => Some(target),
            None if is_id => locate(id, &self.config.environment).and_then(Result::ok),
            None => None,
        };
        match target {
            Some(target) => drop(self.open(target)),
            None => self.set_status(format!("the session {id} is not here")),
        }
    }

    /// Opens a session at an entry, and searches a text from there.
    fn open_at(
        &mut self,
        target: Target,
        entry: String,
        text: Option<String>,
    ) -> anyhow::Result<()> {
        if !self.open(target) {
            return Ok(());
        }
        let places = &mut self.app.reader.text.places;
        (places.requested_entry, places.sought) = (Some(entry), text);
        let effects = self.app.reader.with_text(jumps::go_to_requested);
        effects
            .into_iter()
            .try_for_each(|effect| self.run_effect(effect).map(drop))
    }

    /// Reads two runs on a thread, and compares them.
    fn compare(&self, names: [String; 2], run: Option<String>, other: OtherRun) {
        let Some(opened) = &self.opened else { return };
        let target = opened.target.clone();
        let environment = self.config.environment.clone();
        let say = self.events_in.clone();
        std::thread::spawn(move || {
            let (other, is_here) = match other {
                OtherRun::Here(key) => (Ok((target.clone(), key)), true),
                OtherRun::Named(name) => {
                    (naming::with_entry(&name.into(), &environment, false), false)
                }
            };
            let read = report::diff::compare(&[Ok((target, run)), other]);
            let read = read.map(|([_, other], diff)| Compared {
                diff: Arc::new(diff),
                other: (!is_here).then(|| other.target.clone()),
            });
            let read = read.map_err(|failures| {
                let words: Vec<String> = failures.iter().map(ToString::to_string).collect();
                Text::clean(&words.join("; ")).to_string()
            });
            // Without a viewer nobody needs to know.
            let _ = say.send(Event::Compared { names, read });
        });
    }

    /// Joins one more session to the shown one.
    fn join_session(&mut self, path: &str) {
        let Some(opened) = &self.opened else { return };
        if opened.target.is_stdin() {
            return self.set_status("what comes through a pipe cannot be read as one with others");
        }
        let other = parse_target(path);
        // A pipe may never end, and the joined session would wait for it.
        let kind = fs::metadata(&other.path).ok();
        if let Some(what) = kind
            .map(|metadata| metadata.kind)
            .filter(|kind| *kind != PathKind::Folder)
            .and_then(regular::other_than_file)
        {
            let words = format!(
                "{}: {what} cannot be read as one with others",
                other.path.display()
            );
            return self.set_status(Text::clean(&words).to_string());
        }
        let target = opened.target.clone();
        let mut joined = opened.joined.clone();
        joined.push(other);
        self.join(&target, joined);
    }

    /// Joins sessions and shows the result. Those that cannot be opened are reported and left out.
    /// Returns whether all were joined.
    pub(super) fn join(&mut self, target: &Target, joined: Vec<Target>) -> bool {
        let mut failures = Vec::new();
        let mut others = Vec::new();
        let mut kept = Vec::new();
        for other in joined {
            match ingest::open(&other) {
                Ok(session) => {
                    kept.push(open_session::with_name(other, &session));
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
            .filter(SessionSource::is_joined);
        let is_joined = joined.is_some();
        if let Some(session) = joined {
            self.state.save_session(&mut self.app.reader);
            // Saved state belongs to a single session.
            self.state.load_session(None, &mut self.app.reader.screen);
            let state = ReaderState::take_from(&mut self.app.reader);
            let was_joined = self
                .opened
                .as_ref()
                .is_some_and(|opened| !opened.joined.is_empty());
            let state = if was_joined {
                state
            } else {
                state.into_first_of_several()
            };
            self.show(session, target.clone(), state);
            self.opened
                .iter_mut()
                .for_each(|opened| opened.joined.clone_from(&kept));
        } else if failures.is_empty() && !kept.is_empty() {
            self.set_status("that is the session that is shown");
        }
        if !failures.is_empty() {
            self.set_status(failures.join("; "));
        }
        is_joined && failures.is_empty()
    }

    /// Goes back to the screen below: to the parked session, or to the list after closing this session.
    fn back(&mut self) -> anyhow::Result<Flow> {
        match (self.app.below.last().copied(), self.parked.take()) {
            (Some(AppScreen::Session), Some(parked)) => self.resume_parked(parked),
            (None | Some(AppScreen::Session), _) => return Ok(Flow::Exit(ExitCode::SUCCESS)),
            (Some(list), parked) => {
                self.parked = parked;
                self.state.save_session(&mut self.app.reader);
                self.opened = None;
                drop(open_session::clear(&mut self.app, &self.config));
                self.app.below.pop();
                for effect in self.app.show(list) {
                    self.run_effect(effect)?;
                }
            }
        }
        Ok(Flow::Continue)
    }

    fn resume_parked(&mut self, parked: ParkedSession) {
        self.state.save_session(&mut self.app.reader);
        (self.opened, self.discovery) = (None, None);
        let (opened, key) = parked.resume(&self.config, &mut self.app);
        self.opened = Some(opened);
        self.state.load_session(key, &mut self.app.reader.screen);
    }

    /// Opens the session again; the position is restored by the keys of entries.
    fn reload(&mut self) {
        let Some(opened) = &self.opened else { return };
        let (target, joined) = (opened.target.clone(), opened.joined.clone());
        if target.is_stdin() {
            return self.set_status("what came through a pipe cannot be read anew");
        }
        let is_reloaded = if joined.is_empty() {
            match ingest::open(&target) {
                Ok(session) => {
                    let state = ReaderState::take_from(&mut self.app.reader);
                    self.show(session, target, state);
                    true
                }
                Err(error) => {
                    self.set_status(error.to_string());
                    false
                }
            }
        } else {
            self.join(&target, joined)
        };
        if is_reloaded {
            self.set_status("read anew");
        }
    }
}
