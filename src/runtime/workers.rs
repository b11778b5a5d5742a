//! Threads for what takes time: reading bodies again and searching, for one session; colouring.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::images;
use crate::app::inspector;
use crate::app::update::Event;
use crate::ingest::Pager;
use crate::model::body::{Held, Image, Tree};
use crate::model::entry::EntryId;
use crate::model::figures;
use crate::model::record::Origin;
use crate::model::text::Text;
use crate::render::code::Colours;
use crate::render::picture::Pictures;
use crate::session::filter::FilterJob;
use crate::session::search::progress::Hit;
use crate::session::search::{Job, hits_of};

/// How far a filter is, is sent so often.
const PROGRESS: Duration = Duration::from_millis(50);
/// Grammars are let go if nothing was to be coloured for so long.
const FORGETTING: Duration = Duration::from_secs(15);

enum Work {
    Page(Vec<EntryId>, Vec<Origin>),
    Details(Vec<Origin>, bool),
    Show(Vec<Origin>),
    Inspect(Vec<Origin>),
    Texts(Vec<Origin>, Sender<Option<Vec<String>>>),
    View(Image),
}

/// Generations whose answers are still waited for; others stop.
#[derive(Default)]
struct Wanted {
    search: AtomicU32,
    filter: AtomicU32,
}

/// The threads and how to reach them.
pub(crate) struct Workers {
    work: Sender<Work>,
    searches: Sender<Job>,
    filters: Sender<FilterJob>,
    wanted: Arc<Wanted>,
}

impl Workers {
    /// Starts the threads. They end when this is dropped.
    pub(crate) fn start(pagers: [Pager; 5], pictures: Arc<Pictures>, say: Sender<Event>) -> Self {
        let [pager, viewer, reader, searchers @ ..] = pagers;
        let (work, work_in) = unbounded();
        let (searches, searches_in) = unbounded();
        let (filters, filters_in) = unbounded();
        let wanted = Arc::new(Wanted::default());
        let pages = say.clone();
        thread::spawn(move || page(pager, &work_in, &pages));
        for searcher in searchers {
            let (jobs, current, found) = (searches_in.clone(), Arc::clone(&wanted), say.clone());
            let look = move |records: &mut Records, job: &Job| {
                search(records, job, &current.search, &found)
            };
            thread::spawn(move || each(searcher, &jobs, look));
        }
        // Of filters one after the other: what came later is judged last.
        let (current, judged) = (Arc::clone(&wanted), say.clone());
        let judge = move |records: &mut Records, job: &FilterJob| {
            filter(records, job, &current.filter, &judged)
        };
        thread::spawn(move || each(reader, &filters_in, judge));
        thread::spawn(move || images::work(viewer, &pictures, &say));
        Self {
            work,
            searches,
            filters,
            wanted,
        }
    }

    /// Reads bodies again.
    pub(crate) fn page(&self, entries: Vec<EntryId>, origins: Vec<Origin>) {
        let _ = self.work.send(Work::Page(entries, origins));
    }

    /// Reads what records hold that no block shows, or all of it.
    pub(crate) fn details(&self, origins: Vec<Origin>, is_whole: bool) {
        let _ = self.work.send(Work::Details(origins, is_whole));
    }

    /// Reads records to be shown raw.
    pub(crate) fn show(&self, origins: Vec<Origin>) {
        let _ = self.work.send(Work::Show(origins));
    }

    /// Reads records for the inspector.
    pub(crate) fn inspect(&self, origins: Vec<Origin>) {
        let _ = self.work.send(Work::Inspect(origins));
    }

    /// Opens an image with another program.
    pub(crate) fn view(&self, image: Image) {
        let _ = self.work.send(Work::View(image));
    }

    /// The texts of records. Waits for them, but not for long.
    pub(crate) fn texts(&self, origins: &[Origin]) -> Option<Vec<String>> {
        let (answer, answered) = unbounded();
        self.work.send(Work::Texts(origins.to_vec(), answer)).ok()?;
        answered.recv_timeout(Duration::from_secs(2)).ok().flatten()
    }

    /// Searches a portion; an earlier search stops.
    pub(crate) fn search(&self, job: Job) {
        self.wanted.search.store(job.generation, Ordering::SeqCst);
        let _ = self.searches.send(job);
    }

    /// Stops the search.
    pub(crate) fn cancel_search(&self) {
        self.wanted.search.store(0, Ordering::SeqCst);
    }

    /// Reads texts for a filter. What is read for another filter as a whole stops.
    pub(crate) fn filter(&self, job: FilterJob) {
        if job.is_whole {
            self.wanted.filter.store(job.generation, Ordering::SeqCst);
        }
        let _ = self.filters.send(job);
    }

    /// Stops reading for a filter.
    pub(crate) fn cancel_filter(&self) {
        self.wanted.filter.store(0, Ordering::SeqCst);
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.cancel_search();
        self.cancel_filter();
    }
}

/// Starts the thread that colours what was asked for, until it is stopped.
pub(crate) fn start_colouring(colours: Arc<Colours>, say: Sender<Event>) {
    thread::spawn(move || colour(&colours, &say));
}

fn page(mut pager: Pager, work: &Receiver<Work>, say: &Sender<Event>) {
    for work in work {
        let event = match work {
            Work::Page(entries, origins) => {
                let contents: Vec<(Origin, Vec<Held>)> = origins
                    .into_iter()
                    .map(|origin| (origin, pager.read(origin)))
                    .collect();
                Event::Paged { entries, contents }
            }
            Work::Details(origins, is_whole) => {
                let details = |origin: Origin| (origin, pager.details(origin, is_whole));
                Event::Detailed {
                    is_whole,
                    found: origins.into_iter().map(details).collect(),
                }
            }
            Work::Show(origins) => {
                let trees = records(&mut pager, &origins);
                let title = match trees.len() {
                    1 => "raw record".to_owned(),
                    number => format!("{number} raw records"),
                };
                Event::Records { title, trees }
            }
            Work::Inspect(origins) => {
                let trees = records(&mut pager, &origins);
                Event::Inspected(inspector::Records { origins, trees })
            }
            Work::View(image) => match images::open(&mut pager, &image) {
                Ok(()) => Event::Say("opened outside".to_owned()),
                Err(why) => Event::Say(why),
            },
            Work::Texts(origins, answer) => {
                let parts: Option<Vec<String>> = origins
                    .iter()
                    .map(|origin| text_of(&mut pager, *origin))
                    .collect();
                let _ = answer.send(parts);
                continue;
            }
        };
        if say.send(event).is_err() {
            return;
        }
    }
}

fn text_of(pager: &mut Pager, origin: Origin) -> Option<String> {
    pager
        .bytes(origin)
        .map(|bytes| String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn records(pager: &mut Pager, origins: &[Origin]) -> Vec<(String, Tree)> {
    let mut trees = Vec::new();
    for origin in origins {
        let title = format!(
            "line {} · byte {} · {}",
            origin.line,
            origin.at,
            figures::bytes(u64::from(origin.len))
        );
        let gone = || Tree::Text(Text::from("the record cannot be read any more"));
        let tree = pager.tree(*origin).unwrap_or_else(gone);
        trees.push((title, tree));
    }
    trees
}

/// Does one job after the other, as long as anybody listens.
fn each<J>(pager: Pager, jobs: &Receiver<J>, work: impl Fn(&mut Records, &J) -> bool) {
    let mut records = Records { pager, read: None };
    for job in jobs {
        let is_heard = work(&mut records, &job);
        records.rest();
        if !is_heard {
            return;
        }
    }
}

/// Records on disk. One is read once for all its bodies.
struct Records {
    pager: Pager,
    read: Option<(Origin, Vec<Held>)>,
}

impl Records {
    /// A body of a record that is worth decoding.
    fn body(
        &mut self,
        origin: Origin,
        slot: u16,
        is_worth: &dyn Fn(&[u8]) -> bool,
    ) -> Option<Held> {
        if self.read.as_ref().is_none_or(|(known, _)| *known != origin) {
            self.read = Some((origin, self.pager.read_next(origin, is_worth)));
        }
        self.read.as_ref()?.1.get(usize::from(slot)).cloned()
    }

    /// Lets go of what was read: it may be another text by the time of the next reading.
    fn rest(&mut self) {
        self.read = None;
        self.pager.rest();
    }
}

fn percent(done: usize, of: usize) -> u8 {
    u8::try_from(done * 100 / of.max(1)).unwrap_or(100).min(99)
}

/// Answers whether anybody still listens.
fn search(records: &mut Records, job: &Job, wanted: &AtomicU32, say: &Sender<Event>) -> bool {
    let generation = job.generation;
    let is_worth = |record: &[u8]| job.prefilter.may_be_in(record);
    let mut hits: Vec<Hit> = Vec::new();
    for (entry, blocks) in &job.entries {
        if wanted.load(Ordering::Relaxed) != generation {
            return true;
        }
        let mut read = |origin: Origin, slot: u16| records.body(origin, slot, &is_worth);
        hits.extend(hits_of(
            &job.pattern,
            job.scope,
            (*entry, blocks),
            &mut read,
        ));
    }
    say.send(Event::Searched {
        generation,
        number: job.number,
        hits,
    })
    .is_ok()
}

/// Answers whether anybody still listens.
fn filter(records: &mut Records, job: &FilterJob, wanted: &AtomicU32, say: &Sender<Event>) -> bool {
    let generation = job.generation;
    let mut matched = Vec::new();
    let mut sent = Instant::now();
    for (done, open) in job.unsure.iter().enumerate() {
        if job.is_whole && wanted.load(Ordering::Relaxed) != generation {
            return true;
        }
        if job.judge.read(&open.unsure, &mut |origin, slot| {
            records.body(origin, slot, &|_| true)
        }) {
            matched.push((open.focus, open.revision));
        }
        if sent.elapsed() >= PROGRESS {
            sent = Instant::now();
            let percent = percent(done, job.unsure.len());
            let _ = say.send(Event::Filtered {
                generation,
                percent,
                matched: None,
            });
        }
    }
    say.send(Event::Filtered {
        generation,
        percent: 100,
        matched: Some(matched),
    })
    .is_ok()
}

fn colour(colours: &Colours, say: &Sender<Event>) {
    while colours.wait_for_work(FORGETTING) {
        while colours.work() {}
        // An event without meaning of its own: the frame after it asks for the colours again.
        if say.send(Event::Coloured).is_err() {
            return;
        }
    }
}
