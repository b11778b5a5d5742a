//! Scans for sessions repeatedly: sends each once, then those that are new, have changed or are
//! gone.
//!
//! Invariant: between two scans only stamps of files are read; a file is opened when it is new, has
//! changed, or was running.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::candidates::{DatabaseCache, DiscoveryQuery, collect};
use super::facts::FactReader;
use crate::ingest::target::OpenError;
use crate::model::found::{FoundSession, Sighting, Target};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// Limit of events in the queue.
const WAITING: usize = 64;
/// Pause between two scans.
const PAUSE: Duration = Duration::from_secs(3);
/// Divisor: scans take at most this fraction of the time.
const SHARE: u32 = 20;

/// A repeated scan that stops when this is dropped.
pub struct ScanWatch {
    /// Events of the scan.
    pub sightings: Receiver<Sighting>,
    _wanted: Sender<()>,
}

/// Starts scanning on a thread of its own, which is at most a full queue ahead of the receiver.
pub fn watch(search: DiscoveryQuery, clock: fn() -> Timestamp) -> ScanWatch {
    let (sender, sightings) = bounded(WAITING);
    let (wanted, unwanted) = bounded(0);
    thread::spawn(move || {
        let mut looker = Looker::new(search);
        let mut send = |sighting| sender.send(sighting).is_ok();
        loop {
            let start = Instant::now();
            if !looker.scan(clock(), &mut send) {
                return;
            }
            let pause = PAUSE.max(start.elapsed().saturating_mul(SHARE));
            if unwanted.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    });
    ScanWatch {
        sightings,
        _wanted: wanted,
    }
}

/// Results of earlier scans.
#[derive(Default)]
struct Looker {
    search: DiscoveryQuery,
    databases: DatabaseCache,
    known: HashMap<Target, WatchedSession>,
    /// Paths that the last scan could not read.
    refused: Vec<OpenError>,
}

struct WatchedSession {
    modified: Option<Timestamp>,
    size: Option<u64>,
    /// Whether it is a session that was sent.
    is_sent: bool,
    /// Whether it was running: a run may end without a write.
    is_live: bool,
    /// Why it could not be read; the cause may go away without a change of the file.
    unreadable: Option<Text>,
}

impl Looker {
    fn new(search: DiscoveryQuery) -> Self {
        Self {
            search,
            ..Self::default()
        }
    }

    /// Scans all folders once. Returns `false` when the receiver is gone.
    fn scan(&mut self, now: Timestamp, send: &mut dyn FnMut(Sighting) -> bool) -> bool {
        let scan = collect(&self.search, &mut self.databases);
        if self.refused != scan.refused {
            let refused = (scan.refused.iter())
                .map(|OpenError(why)| Text::clean(why))
                .collect();
            self.refused = scan.refused;
            if !send(Sighting::Refused(refused)) {
                return false;
            }
        }
        let mut facts = FactReader::new(now);
        let mut there = HashSet::new();
        for found in scan.unreadable {
            let place = found.place();
            there.insert(place.clone());
            let stamp = (found.modified, None);
            if !self.send_news(place, stamp, Some(found), send) {
                return false;
            }
        }
        for candidate in scan.candidates {
            let (place, stamp) = (candidate.place(), candidate.stamp());
            there.insert(place.clone());
            let stays = |known: &WatchedSession| {
                (known.modified, known.size) == stamp
                    && !known.is_live
                    && known.unreadable.is_none()
            };
            if self.known.get(&place).is_some_and(stays) {
                continue;
            }
            let found = facts.read(candidate);
            if !self.send_news(place, stamp, found, send) {
                return false;
            }
        }
        let gone: Vec<Target> = self
            .known
            .keys()
            .filter(|place| !there.contains(place))
            .cloned()
            .collect();
        for place in gone {
            let was_sent = self.known.remove(&place).is_some_and(|known| known.is_sent);
            if was_sent && !send(Sighting::Removed(place)) {
                return false;
            }
        }
        send(Sighting::Complete)
    }

    /// Sends the result for a path, if it changed.
    fn send_news(
        &mut self,
        place: Target,
        (modified, size): (Option<Timestamp>, Option<u64>),
        found: Option<FoundSession>,
        send: &mut dyn FnMut(Sighting) -> bool,
    ) -> bool {
        let found = found.filter(|found| self.search.matches(found));
        let is_live = found.as_ref().is_some_and(|found| found.live == Some(true));
        let unreadable = found.as_ref().and_then(|found| found.unreadable.clone());
        let is_known = |known: &WatchedSession| {
            unreadable.is_some() && known.unreadable == unreadable && known.modified == modified
        };
        if self.known.get(&place).is_some_and(is_known) {
            return true;
        }
        let known = WatchedSession {
            modified,
            size,
            is_sent: found.is_some(),
            is_live,
            unreadable,
        };
        let was_sent = self
            .known
            .insert(place.clone(), known)
            .is_some_and(|known| known.is_sent);
        match found {
            Some(found) => send(Sighting::Found(Box::new(found))),
            None => !was_sent || send(Sighting::Removed(place)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Looker, watch};
    use crate::formats::roots::Environment;
    use crate::ingest::find::DiscoveryQuery;
    use crate::model::found::{Sighting, Target};
    use crate::model::text::Text;
    use crate::model::timestamp::Timestamp;

    /// Long after all timestamps written here.
    const LATER: Timestamp = Timestamp(4_000_000_000_000);

    fn session(id: &str, prompt: &str) -> String {
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-03-01T08:00:00.000Z\",\"cwd\":\"/work\"}}\n\
             {{\"type\":\"message\",\"id\":\"e1\",\"parentId\":null,\"timestamp\":\"2026-03-01T08:00:01.000Z\",\
             \"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"{prompt}\"}}],\"timestamp\":1}}}}\n"
        )
    }

    fn sent(looker: &mut Looker) -> Vec<String> {
        let mut sent = Vec::new();
        looker.scan(LATER, &mut |sighting| {
            sent.push(match sighting {
                Sighting::Found(found) => {
                    format!(
                        "{} {}",
                        found.title.as_deref().unwrap_or("-"),
                        found.size.unwrap_or_default()
                    )
                }
                Sighting::Removed(place) => {
                    format!("gone {}", place.path.file_name().unwrap().display())
                }
                Sighting::Refused(why) => {
                    why.iter().map(Text::as_str).collect::<Vec<_>>().join(", ")
                }
                Sighting::Complete => "all".to_owned(),
            });
            true
        });
        sent
    }

    #[test]
    fn each_is_sent_once_and_again_when_it_changes() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".pi/agent/sessions/--work--");
        fs::create_dir_all(&folder).unwrap();
        let environment = Environment {
            home: Some(home.path().to_owned()),
            ..Environment::default()
        };
        let mut looker = Looker::new(DiscoveryQuery {
            environment,
            ..DiscoveryQuery::default()
        });
        assert_eq!(sent(&mut looker), ["all"]);
        let (one, two) = (
            folder.join("2026-03-01_one.jsonl"),
            folder.join("2026-03-01_two.jsonl"),
        );
        fs::write(&one, session("one", "Oil it")).unwrap();
        let size = session("one", "Oil it").len();
        assert_eq!(
            sent(&mut looker),
            [format!("Oil it {size}").as_str(), "all"]
        );
        assert_eq!(sent(&mut looker), ["all"]);
        fs::write(&two, session("two", "Paint it")).unwrap();
        assert_eq!(
            sent(&mut looker),
            [format!("Paint it {}", size + 2).as_str(), "all"]
        );
        fs::write(&one, session("one", "Oil it") + "\n\n\n").unwrap();
        assert_eq!(
            sent(&mut looker),
            [format!("Oil it {}", size + 3).as_str(), "all"]
        );
        fs::remove_file(&two).unwrap();
        assert_eq!(sent(&mut looker), ["gone 2026-03-01_two.jsonl", "all"]);
    }

    #[test]
    fn places_that_are_not_there_are_sent_once() {
        let search = DiscoveryQuery {
            targets: vec![Target::at("/there/is/no/such.sqlite")],
            ..DiscoveryQuery::default()
        };
        let mut looker = Looker::new(search.clone());
        assert!(
            matches!(sent(&mut looker).as_slice(), [why, all] if why.contains("no/such") && all == "all")
        );
        assert_eq!(sent(&mut looker), ["all"]);
        // When the path exists, its error is retracted.
        let folder = tempfile::tempdir().unwrap();
        looker.search.targets = vec![Target::at(folder.path())];
        assert_eq!(sent(&mut looker), ["", "all"]);
        // With a thread, the end of the first scan is enough to wait for.
        let watch = watch(search, || LATER);
        assert!(
            watch
                .sightings
                .iter()
                .any(|sighting| sighting == Sighting::Complete)
        );
    }
}
