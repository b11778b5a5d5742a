//! An open session: a source and a decoder, whose records become events on a bounded channel.
//!
//! `find` finds sessions, `sift` searches their bytes. `target` → `open` (with `probe`) → `plan`;
//! then `live` follows the session ([`FollowedSession`]), or it is read once: a `reader` reads `line_file`s,
//! `whole` files and a `packed_file` through an `emitter`; `piped` reads pipes. `pager` reads
//! single records again. `joined` reads several sessions as one, `naming` says which session an argument means.

mod bodies;
mod catalog;
pub(crate) mod defined;
mod earlier;
mod emitter;
pub mod far;
mod files;
pub mod find;
mod followed;
mod image_data;
pub(crate) mod joined;
mod line_file;
mod live;
pub(crate) mod naming;
mod open;
mod packed_file;
mod pager;
mod piped;
mod plan;
mod preview;
mod probe;
mod reader;
mod rows;
pub(crate) mod sift;
mod target;
mod whole;

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::{Sender, bounded};

pub(crate) use self::emitter::Outlet;
pub(crate) use self::followed::FollowedSession;
pub(crate) use self::image_data::{image_data, image_ending};
pub(crate) use self::live::{guarded, send};
pub use self::open::sessions;
pub(crate) use self::open::{cannot_open, is_choice, is_database};
pub use self::pager::{Pager, contents};
pub(crate) use self::rows::Databases;
pub(crate) use self::target::parse_target;
pub use self::target::{OpenError, SessionHead};
pub use crate::model::found::Target;

pub(crate) use crate::source::fs;
pub use crate::source::remote;

use self::bodies::Bodies;
use self::emitter::Emitter;
use self::files::FileTable;
use self::plan::Plan;
use self::reader::SessionReader;
use self::sift::Picked;
use crate::formats::decoder::{Format, RecordPlace};
use crate::formats::generic::Generic;
use crate::formats::named;
use crate::formats::probe::ProbeResult;
use crate::formats::survey::SharedSurvey;
use crate::model::coverage::Coverage;
use crate::model::edit::{Feed, OpenedSession, Stage};
use crate::model::record::Shape;
use crate::model::text::Text;

/// Batches that may wait between the thread that decodes and the one that applies.
const QUEUE: usize = 2;

/// How changes of files are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchMode {
    /// Events of the operating system, and infrequent polling as a fallback.
    #[default]
    Native,
    /// Polling only.
    Poll,
}

/// A session that can be read, followed and paged.
pub struct SessionSource {
    /// What was found out when it was opened.
    pub opened: OpenedSession,
    plan: Plan,
    files: FileTable,
    /// The sessions that are joined with it.
    others: Vec<Self>,
}

/// Opens a session: detects its format and shape, and reads nothing else.
pub fn open(target: &Target) -> Result<SessionSource, OpenError> {
    open::plan(target).map(SessionSource::of)
}

/// Like [`open`], for a session that was listed under the format with this name.
pub(crate) fn open_listed(target: &Target, format: &str) -> Result<SessionSource, OpenError> {
    let listed = target
        .session
        .is_none()
        .then(|| open::plan_listed(&target.path, format))
        .flatten();
    listed.map_or_else(|| open(target), |plan| Ok(SessionSource::of(plan)))
}

/// Verdict of one format on a file.
#[derive(Clone, Debug)]
pub struct FormatVerdict {
    /// Name of the format in JSON outputs.
    pub format: &'static str,
    /// `no`, `need-more`, `maybe`, `likely`, `certain`.
    pub confidence: &'static str,
    /// Reason, in a sentence without a full stop.
    pub(crate) reason: Text,
}

/// Whether a format identifies the agent that wrote a file.
pub(crate) fn names_an_agent(format: &str) -> bool {
    !format.is_empty() && format != Format::name(&Generic)
}

/// What the agents that write a format do not record; empty if nothing is known.
pub(crate) fn omits(format: &str) -> &'static str {
    named(format).map_or("", |known| known.head().omits)
}

/// Verdicts of all formats on a target, in the order of the registry; none for a pipe. Opening
/// queries no more formats than it needs.
pub fn verdicts(target: &Target) -> Result<Vec<FormatVerdict>, OpenError> {
    let verdict_of = |(format, verdict): (&'static str, ProbeResult)| FormatVerdict {
        format,
        confidence: verdict.confidence.word(),
        reason: Text::clean(&verdict.reason),
    };
    Ok(open::verdicts(target)?
        .into_iter()
        .map(verdict_of)
        .collect())
}

impl SessionSource {
    fn of(plan: Plan) -> Self {
        let files = FileTable::default();
        files.number(&plan.path, files::FileKind::Lines);
        files.set_format(plan.format, &plan.path);
        Self {
            opened: plan.opened.clone(),
            plan,
            files,
            others: Vec::new(),
        }
    }

    /// Name of the session in its folder or database; `None` for a file that is one session.
    pub(crate) fn name(&self) -> Option<&str> {
        matches!(self.plan.shape, Shape::Folder | Shape::Rows).then_some(self.plan.session.as_str())
    }

    /// Storage shape of the session.
    pub(crate) fn shape(&self) -> Shape {
        self.plan.shape
    }

    /// Reads everything that exists now, including companions, and ends with [`Feed::CaughtUp`]. A
    /// thread of its own reads and decodes, while the caller's applies.
    pub fn read_whole(self, stubs_only: bool, sink: &mut dyn FnMut(Feed)) {
        with_outlet(sink, |apply| {
            std::thread::scope(|scope| {
                let (sender, feeds) = bounded(QUEUE);
                scope.spawn(move || {
                    let outlet = |feed| sender.send(feed).is_ok();
                    guarded(&outlet, || self.read_to(stubs_only, &outlet));
                });
                for feed in feeds {
                    apply(feed);
                }
            });
        });
    }

    fn read_to(self, stubs_only: bool, outlet: Outlet<'_>) {
        if self.plan.is_pipe() {
            piped::run(self.plan, &self.files, outlet, &AtomicBool::new(false));
        } else {
            let bodies = if stubs_only {
                Bodies::OnDisk
            } else {
                Bodies::InMemory
            };
            read_files(&self.plan, &self.files, bodies, outlet);
        }
    }

    /// Like [`SessionSource::read_whole`], with bodies on disk and only what figures need: usage, times and
    /// models, but no texts. Returns whether results of calls were left out, too.
    pub(crate) fn read_counted(mut self, sink: &mut dyn FnMut(Feed)) -> bool {
        (self.plan.is_counted, self.plan.is_paged) = (true, false);
        let counting = self
            .plan
            .counting(RecordPlace::Line)
            .filter(|_| self.plan.shape == Shape::Lines);
        let lacks_results = counting.is_some_and(|counting| counting.skips_results());
        // Sessions are counted in parallel, so each is read on one thread.
        with_outlet(sink, |outlet| {
            self.read_to(true, &|mut feed| {
                if let Feed::Batch { batch, .. } = &mut feed
                    && lacks_results
                {
                    batch.strip_contents();
                }
                outlet(feed)
            });
        });
        lacks_results
    }

    /// Reads only these lines of its files, with their bodies, and ends with [`Feed::CaughtUp`].
    pub(crate) fn read_lines(&self, picked: &[Picked], sink: &mut dyn FnMut(Feed)) {
        with_outlet(sink, |outlet| {
            sift::read_lines(&self.plan, &self.files, picked, outlet);
        });
    }

    /// Whether its records are lines.
    pub(crate) fn has_lines(&self) -> bool {
        self.plan.shape == Shape::Lines
    }

    /// Whether these lines decode to the same by themselves as among all others.
    pub(crate) fn is_independent(&self, picked: &[Picked]) -> bool {
        self.has_lines() && !sift::is_entangled(self.plan.format, picked)
    }

    /// Like [`SessionSource::read_whole`], with bodies on disk; also returns how much of the strings of all
    /// records is shown.
    pub(crate) fn survey(mut self, sink: &mut dyn FnMut(Feed)) -> Coverage {
        let sums = SharedSurvey::default();
        self.plan.survey = Some(SharedSurvey::clone(&sums));
        self.read_whole(true, sink);
        sums.lock().unwrap_or_else(PoisonError::into_inner).finish()
    }

    /// The session to follow, for a caller that waits for changes of its files.
    pub(crate) fn into_followed(
        self,
        outlet: Outlet<'_>,
        databases: Databases,
    ) -> FollowedSession<'_> {
        let plan = Plan {
            is_paged: false,
            ..self.plan
        };
        FollowedSession::begin(plan, self.files, outlet).with(databases)
    }

    /// Joins other sessions with it; duplicates are read once.
    #[must_use]
    pub fn join(mut self, others: Vec<Self>) -> Self {
        let place = |session: &Self| {
            let path = &session.plan.path;
            (
                fs::canonicalize(path).unwrap_or_else(|_| path.clone()),
                session.plan.session.clone(),
            )
        };
        let mut known = vec![place(&self)];
        for other in others {
            let place = place(&other);
            if !known.contains(&place) {
                known.push(place);
                self.others.push(other);
            }
        }
        if self.is_joined() {
            let others = self.others.iter().map(|other| &other.plan);
            let plans: Vec<&Plan> = std::iter::once(&self.plan).chain(others).collect();
            self.opened = joined::opened(&plans).unwrap_or(self.opened);
        }
        self
    }

    /// Whether several sessions are joined.
    pub(crate) fn is_joined(&self) -> bool {
        !self.others.is_empty()
    }

    /// A reader of bodies that are on disk.
    pub fn pager(&self) -> Pager {
        Pager::new(
            std::iter::once(self)
                .chain(&self.others)
                .map(|session| session.files.clone()),
        )
    }

    /// Reads and follows the session on a thread of its own until `stop` is set or the receiver is
    /// gone. `wake` is called after each message. The thread checks `stop` twice a second, and at
    /// once when it is unparked.
    pub fn follow(
        self,
        feed: Sender<Feed>,
        mode: WatchMode,
        stop: Arc<AtomicBool>,
        wake: Box<dyn Fn() + Send>,
    ) -> JoinHandle<()> {
        std::thread::spawn(move || {
            let outlet = |message: Feed| send(message, &feed, &stop, &*wake);
            let outlet: Outlet<'_> = &outlet;
            guarded(outlet, || {
                let native = mode == WatchMode::Native;
                if !self.is_joined() {
                    return joined::follow_one(self.plan, &self.files, outlet, native, &stop);
                }
                let sessions = std::iter::once((self.plan, self.files));
                let others = self
                    .others
                    .into_iter()
                    .map(|other| (other.plan, other.files));
                joined::follow(sessions.chain(others).collect(), outlet, native, &stop);
            });
        })
    }
}

/// Reads with an outlet that accepts everything.
fn with_outlet(sink: &mut dyn FnMut(Feed), read: impl FnOnce(Outlet<'_>)) {
    let sink = RefCell::new(sink);
    let outlet = |feed: Feed| {
        (sink.borrow_mut())(feed);
        true
    };
    guarded(&outlet, || read(&outlet));
}

fn read_files(plan: &Plan, files: &FileTable, bodies: Bodies, outlet: Outlet<'_>) {
    plan.send_opened(outlet);
    let is_counted = plan.counting(RecordPlace::Line).is_some();
    let emitter = Emitter::new(plan.decoder(), Stage::Whole, outlet).counting(is_counted);
    match SessionReader::new(
        plan,
        files,
        bodies,
        emitter,
        (Instant::now(), &Databases::default()),
    ) {
        Ok(mut reader) => {
            while reader.step(Instant::now()) || reader.finish_reading(Instant::now(), true) {}
            outlet(Feed::CaughtUp);
        }
        Err(error) => {
            let what = format!("{}: cannot be read ({error})", plan.path.display());
            outlet(Feed::Fault(Text::clean(&what)));
        }
    }
}
