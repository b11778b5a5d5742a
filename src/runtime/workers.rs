//! Worker threads of a session, which read bodies again, search and filter; and the thread that
//! highlights code.

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
use crate::session::search::progress::BlockHits;
use crate::session::search::{Job, hits_of};

/// Least time between two progress reports of a filter.
const PROGRESS: Duration = Duration::from_millis(50);
/// Syntax definitions are dropped after this long without work.
const FORGETTING: Duration = Duration::from_secs(15);

/// Records that the session's own worker reads, each kind for an event of its own.
pub(crate) enum ReadJob {
    /// Bodies of entries.
    Page(Vec<EntryId>, Vec<Origin>),
    /// Fields of records that no block shows, or the whole records.
    Details(Vec<Origin>, bool),
    /// Records for the raw view.
    Show(Vec<Origin>),
    /// Records for the inspector.
    Inspect(Vec<Origin>),
    /// The texts of records, for who waits for them.
    Texts(Vec<Origin>, Sender<Option<Vec<String>>>),
    /// An image to open in another program.
    View(Image),
}

/// Current generation of each kind of job; jobs of another one stop.
#[derive(Default)]
struct Generations {
    search: AtomicU32,
    filter: AtomicU32,
}

/// The queues of the worker threads.
pub(crate) struct Workers {
    work: Sender<ReadJob>,
    searches: Sender<Job>,
    filters: Sender<FilterJob>,
    generations: Arc<Generations>,
}

impl Workers {
    /// Starts the threads, which end when this is dropped.
    pub(crate) fn start(pagers: [Pager; 5], pictures: Arc<Pictures>, say: Sender<Event>) -> Self {
        let [pager, viewer, reader, searchers @ ..] = pagers;
        let (work, work_in) = unbounded();
        let (searches, searches_in) = unbounded();
        let (filters, filters_in) = unbounded();
        let wanted = Arc::new(Generations::default());
        let pages = say.clone();
        thread::spawn(move || page(pager, &work_in, &pages));
        for searcher in searchers {
            let (jobs, current, found) = (searches_in.clone(), Arc::clone(&wanted), say.clone());
            let look = move |records: &mut RecordReader, job: &Job| {
                search(records, job, &current.search, &found)
            };
            thread::spawn(move || each(searcher, &jobs, look));
        }
        // A single thread filters, so that later changes are judged last.
        let (current, judged) = (Arc::clone(&wanted), say.clone());
        let judge = move |records: &mut RecordReader, job: &FilterJob| {
            filter(records, job, &current.filter, &judged)
        };
        thread::spawn(move || each(reader, &filters_in, judge));
        thread::spawn(move || images::work(viewer, &pictures, &say));
        Self {
            work,
            searches,
            filters,
            generations: wanted,
        }
    }

    /// Queues records to be read.
    pub(crate) fn read(&self, job: ReadJob) {
        let _ = self.work.send(job);
    }

    /// Reads the texts of records; waits for them up to two seconds.
    pub(crate) fn texts(&self, origins: &[Origin]) -> Option<Vec<String>> {
        let (answer, answered) = unbounded();
        self.work
            .send(ReadJob::Texts(origins.to_vec(), answer))
            .ok()?;
        answered.recv_timeout(Duration::from_secs(2)).ok().flatten()
    }

    /// Queues a part of a search; an earlier search stops.
    pub(crate) fn search(&self, job: Job) {
        self.generations
            .search
            .store(job.generation, Ordering::SeqCst);
        let _ = self.searches.send(job);
    }

    pub(crate) fn cancel_search(&self) {
        self.generations.search.store(0, Ordering::SeqCst);
    }

    /// Queues texts to be filtered. A job for the whole session stops an earlier one.
    pub(crate) fn filter(&self, job: FilterJob) {
        if job.is_whole {
            self.generations
                .filter
                .store(job.generation, Ordering::SeqCst);
        }
        let _ = self.filters.send(job);
    }

    pub(crate) fn cancel_filter(&self) {
        self.generations.filter.store(0, Ordering::SeqCst);
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.cancel_search();
        self.cancel_filter();
    }
}

/// Starts the thread that highlights code, until it is stopped.
pub(crate) fn start_colouring(colours: Arc<Colours>, say: Sender<Event>) {
    thread::spawn(move || colour(&colours, &say));
}

fn page(mut pager: Pager, work: &Receiver<ReadJob>, say: &Sender<Event>) {
    for work in work {
        let event = match work {
            ReadJob::Page(entries, origins) => {
                let contents: Vec<(Origin, Vec<Held>)> = origins
                    .into_iter()
                    .map(|origin| (origin, pager.read(origin)))
                    .collect();
                Event::Paged { entries, contents }
            }
            ReadJob::Details(origins, is_whole) => {
                let details = |origin: Origin| (origin, pager.details(origin, is_whole));
                Event::Detailed {
                    is_whole,
                    found: origins.into_iter().map(details).collect(),
                }
            }
            ReadJob::Show(origins) => {
                let trees = records(&mut pager, &origins);
                let title = match trees.len() {
                    1 => "raw record".to_owned(),
                    number => format!("{number} raw records"),
                };
                Event::Records { title, trees }
            }
            ReadJob::Inspect(origins) => {
                let trees = records(&mut pager, &origins);
                Event::Inspected(inspector::InspectedRecords { origins, trees })
            }
            ReadJob::View(image) => match images::open(&mut pager, &image) {
                Ok(()) => Event::Status("opened outside".to_owned()),
                Err(why) => Event::Status(why),
            },
            ReadJob::Texts(origins, answer) => {
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

/// Runs a worker until nothing receives its results.
fn each<J>(pager: Pager, jobs: &Receiver<J>, work: impl Fn(&mut RecordReader, &J) -> bool) {
    let mut records = RecordReader { pager, read: None };
    for job in jobs {
        let is_heard = work(&mut records, &job);
        records.drop_cache();
        if !is_heard {
            return;
        }
    }
}

/// Reads records; the last one is cached, because its bodies are requested one after the other.
struct RecordReader {
    pager: Pager,
    read: Option<(Origin, Vec<Held>)>,
}

impl RecordReader {
    /// A body of a record. A record that is not read yet is only decoded if `is_worth` says so.
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

    /// Drops the cache: the file may change before the next job.
    fn drop_cache(&mut self) {
        self.read = None;
        self.pager.free_window();
    }
}

fn percent(done: usize, of: usize) -> u8 {
    u8::try_from(done * 100 / of.max(1)).unwrap_or(100).min(99)
}

/// Returns whether anything still receives the results.
fn search(records: &mut RecordReader, job: &Job, wanted: &AtomicU32, say: &Sender<Event>) -> bool {
    let generation = job.generation;
    let is_worth = |record: &[u8]| job.prefilter.may_be_in(record);
    let mut hits: Vec<BlockHits> = Vec::new();
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

/// Returns whether anything still receives the results.
fn filter(
    records: &mut RecordReader,
    job: &FilterJob,
    wanted: &AtomicU32,
    say: &Sender<Event>,
) -> bool {
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
        // The event only causes a frame, which fetches the new colours.
        if say.send(Event::Coloured).is_err() {
            return;
        }
    }
}
