//! Threads for what takes time: reading bodies again and searching, for one session; colouring.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::images;
use crate::app::search::{Job, Piece, has_hit, tree_has_hit};
use crate::app::update::Event;
use crate::app::viewport::Focus;
use crate::formats::json;
use crate::ingest::Pager;
use crate::model::body::{Held, Image, Tree};
use crate::model::entry::EntryId;
use crate::model::figures;
use crate::model::record::Origin;
use crate::model::text::{Text, without_sgr};
use crate::render::code::Colours;
use crate::render::picture::Pictures;

/// Hits are told at least so often.
const TELL: Duration = Duration::from_millis(50);
/// Larger records are shown as their first part.
const LARGEST_RECORD: usize = 4 << 20;

enum Work {
    Page(Vec<EntryId>, Vec<Origin>),
    Show(Vec<Origin>),
    Bytes(Vec<Origin>, Sender<Option<String>>),
    View(Image),
}

/// The threads and how to reach them.
pub struct Workers {
    work: Sender<Work>,
    searches: Sender<Job>,
    wanted: Arc<AtomicU32>,
}

impl Workers {
    /// Starts the threads. They end when this is dropped.
    pub fn start([pager, searcher, viewer]: [Pager; 3], pictures: Arc<Pictures>, say: Sender<Event>) -> Self {
        let (work, work_in) = unbounded();
        let (searches, searches_in) = unbounded();
        let wanted = Arc::new(AtomicU32::new(0));
        let told = say.clone();
        thread::spawn(move || page(pager, &work_in, &told));
        let current = Arc::clone(&wanted);
        let found = say.clone();
        thread::spawn(move || search(searcher, &searches_in, &current, &found));
        thread::spawn(move || images::work(viewer, &pictures, &say));
        Self { work, searches, wanted }
    }

    /// Reads bodies again.
    pub fn page(&self, entries: Vec<EntryId>, origins: Vec<Origin>) {
        let _ = self.work.send(Work::Page(entries, origins));
    }

    /// Reads records to be shown raw.
    pub fn show(&self, origins: Vec<Origin>) {
        let _ = self.work.send(Work::Show(origins));
    }

    /// Opens an image with another program.
    pub fn view(&self, image: Image) {
        let _ = self.work.send(Work::View(image));
    }

    /// The text of records. Waits for it, but not for long.
    pub fn bytes(&self, origins: &[Origin]) -> Option<String> {
        let (answer, answered) = unbounded();
        self.work.send(Work::Bytes(origins.to_vec(), answer)).ok()?;
        answered.recv_timeout(Duration::from_secs(1)).ok().flatten()
    }

    /// Starts a search; an earlier one stops.
    pub fn search(&self, job: Job) {
        self.wanted.store(job.generation, Ordering::SeqCst);
        let _ = self.searches.send(job);
    }

    /// Stops the search.
    pub fn cancel_search(&self) {
        self.wanted.store(0, Ordering::SeqCst);
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.cancel_search();
    }
}

/// Starts the thread that colours what was asked for, until it is told to stop.
pub fn start_colouring(colours: Arc<Colours>, say: Sender<Event>) {
    thread::spawn(move || colour(&colours, &say));
}

fn page(mut pager: Pager, work: &Receiver<Work>, say: &Sender<Event>) {
    for work in work {
        let event = match work {
            Work::Page(entries, origins) => {
                let contents: Vec<(Origin, Vec<Held>)> =
                    origins.into_iter().map(|origin| (origin, pager.read(origin))).collect();
                Event::Paged { entries, contents }
            }
            Work::Show(origins) => records(&mut pager, &origins),
            Work::View(image) => match images::open(&mut pager, &image) {
                Ok(()) => Event::Say("opened outside".to_owned()),
                Err(why) => Event::Say(why),
            },
            Work::Bytes(origins, answer) => {
                let parts: Option<Vec<String>> =
                    origins.iter().map(|origin| text_of(&mut pager, *origin)).collect();
                let _ = answer.send(parts.map(|parts| parts.join("\n")));
                continue;
            }
        };
        if say.send(event).is_err() {
            return;
        }
    }
}

fn text_of(pager: &mut Pager, origin: Origin) -> Option<String> {
    pager.bytes(origin).map(|bytes| String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn records(pager: &mut Pager, origins: &[Origin]) -> Event {
    let mut trees = Vec::new();
    for origin in origins {
        let title =
            format!("line {} · byte {} · {}", origin.line, origin.at, figures::bytes(u64::from(origin.len)));
        let tree = match text_of(pager, *origin) {
            None => Tree::Text(Text::from("the record cannot be read any more")),
            Some(text) if text.len() > LARGEST_RECORD => {
                Tree::Text(Text::clean(crate::model::edit::prefix(&text, LARGEST_RECORD)))
            }
            Some(text) => {
                json::parse(&text).map_or_else(|_| Tree::Text(Text::clean(&text)), |value| value.to_tree())
            }
        };
        trees.push((title, tree));
    }
    let title =
        if trees.len() == 1 { "raw record".to_owned() } else { format!("{} raw records", trees.len()) };
    Event::Records { title, trees }
}

fn search(mut pager: Pager, jobs: &Receiver<Job>, wanted: &AtomicU32, say: &Sender<Event>) {
    for job in jobs {
        let generation = job.generation;
        let mut hits = Vec::new();
        let mut told = Instant::now();
        let mut is_wanted = true;
        for (entry, pieces) in job.entries.iter() {
            is_wanted = wanted.load(Ordering::Relaxed) == generation;
            if !is_wanted {
                break;
            }
            hits.extend(hits_of(&job, *entry, pieces, &mut pager));
            if told.elapsed() >= TELL && !hits.is_empty() {
                told = Instant::now();
                let _ = say.send(Event::Searched {
                    generation,
                    hits: std::mem::take(&mut hits),
                    is_complete: false,
                });
            }
        }
        if is_wanted && say.send(Event::Searched { generation, hits, is_complete: true }).is_err() {
            return;
        }
    }
}

/// Blocks of an entry with hits. A record on disk is read once for all its bodies.
fn hits_of(job: &Job, entry: EntryId, pieces: &[(usize, Piece)], pager: &mut Pager) -> Vec<Focus> {
    let mut read: Option<(Origin, Vec<Held>)> = None;
    let mut blocks: Vec<usize> = Vec::new();
    for (block, piece) in pieces {
        if blocks.last() == Some(block) {
            continue;
        }
        let is_hit = match piece {
            Piece::Away(origin, slot) => {
                if read.as_ref().is_none_or(|(known, _)| known != origin) {
                    read = Some((*origin, pager.read(*origin)));
                }
                let held = read.as_ref().and_then(|(_, bodies)| bodies.get(usize::from(*slot)));
                held.is_some_and(|held| match held {
                    Held::Text(text) => job.pattern.is_match(&without_sgr(text)),
                    Held::Tree(tree) => tree_has_hit(&job.pattern, tree),
                    Held::Stub | Held::Away => false,
                })
            }
            here => has_hit(&job.pattern, here),
        };
        if is_hit {
            blocks.push(*block);
        }
    }
    blocks.into_iter().map(|block| Focus { entry, block }).collect()
}

fn colour(colours: &Colours, say: &Sender<Event>) {
    while colours.wait_for_work() {
        while colours.work() {}
        // An event without meaning of its own: the frame after it asks for the colours again.
        if say.send(Event::Coloured).is_err() {
            return;
        }
    }
}
