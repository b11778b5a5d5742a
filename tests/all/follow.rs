//! Tests of sessions that change while they are followed. Each case runs with file events and with
//! polling alone, and waits for conditions, never for a fixed time.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use tempfile::TempDir;
use tv::app::state::App;
use tv::app::update::{Event, update};
use tv::ingest::{Pager, SessionSource, Target, WatchMode, open};
use tv::model::body::{Body, Held, Key};
use tv::model::edit::{Feed, LinkState, Polled, Stage};
use tv::model::timestamp::Timestamp;
use tv::model::transcript::Transcript;
use tv::render::code::Colours;
use tv::render::row::Level;
use tv::render::theme::Theme;

use crate::fixtures::PATIENCE;

/// A session that is followed, and all that was heard of it.
pub(crate) struct Followed {
    feed: Receiver<Feed>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    pub(crate) pager: Pager,
    pub(crate) whole: Transcript,
    pub(crate) preview: Transcript,
    pub(crate) links: Vec<LinkState>,
    pub(crate) polled: Vec<Polled>,
    formats: Vec<&'static str>,
    pub(crate) is_caught_up: bool,
}

impl Followed {
    pub(crate) fn start(path: &Path, mode: WatchMode) -> Self {
        let session = open(&Target {
            path: path.to_owned(),
            session: None,
        })
        .unwrap();
        let mut followed = Self::of(session, mode);
        followed.until("caught up", |followed| followed.is_caught_up);
        followed
    }

    pub(crate) fn of(session: SessionSource, mode: WatchMode) -> Self {
        let pager = session.pager();
        let (sender, feed) = bounded(64);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = Some(session.follow(sender, mode, Arc::clone(&stop), Box::new(|| {})));
        Self {
            feed,
            stop,
            thread,
            pager,
            whole: Transcript::new(),
            preview: Transcript::new(),
            links: Vec::new(),
            polled: Vec::new(),
            formats: Vec::new(),
            is_caught_up: false,
        }
    }

    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&mut Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(
                start.elapsed() < PATIENCE,
                "never {what}: {:?} {:?}",
                self.records(),
                self.links
            );
            if let Ok(feed) = self.feed.recv_timeout(Duration::from_millis(20)) {
                self.take(feed);
            }
        }
    }

    /// Takes what comes within a time.
    pub(crate) fn hear(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            if let Ok(feed) = self.feed.recv_timeout(left) {
                self.take(feed);
            }
        }
    }

    fn take(&mut self, feed: Feed) {
        match feed {
            Feed::Opened(opened) => self.formats.push(opened.format),
            Feed::Batch {
                stage: Stage::Whole,
                batch,
            } => drop(self.whole.apply(*batch)),
            Feed::Batch {
                stage: Stage::Preview,
                batch,
            } => {
                assert!(!self.is_caught_up, "the preview ends with the whole");
                self.preview.apply(*batch);
            }
            Feed::CaughtUp => self.is_caught_up = true,
            Feed::Link(link) => self.links.push(link),
            Feed::Fault(fault) => panic!("{fault}"),
            Feed::Polled(why) => self.polled.push(why),
            Feed::Progress { .. } | Feed::File { .. } => {}
        }
    }

    /// The records of all entries in order, as they are in the file.
    pub(crate) fn records(&mut self) -> Vec<String> {
        let origins: Vec<_> = self.whole.entries().map(|entry| entry.origin).collect();
        let bytes = origins
            .into_iter()
            .map(|origin| self.pager.bytes(origin).unwrap_or_default());
        bytes
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect()
    }

    /// Waits until the entries are these lines and each is counted once.
    pub(crate) fn until_lines(&mut self, lines: &[String]) {
        self.until(&format!("{} lines", lines.len()), |followed| {
            followed.whole.tally().records() == lines.len() as u64 && followed.records() == lines
        });
    }

    pub(crate) fn end(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        thread.thread().unpark();
        let start = Instant::now();
        while !thread.is_finished() {
            assert!(start.elapsed() < PATIENCE, "the thread does not stop");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(thread.join().is_ok());
    }
}

/// A directory with an empty session file.
pub(crate) struct Place {
    _dir: TempDir,
    pub(crate) path: PathBuf,
}

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("project").join(name);
        fs::create_dir(path.parent().unwrap()).unwrap();
        Self { _dir: dir, path }
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.path.with_file_name(name)
    }
}

pub(crate) fn line(number: usize) -> String {
    format!(r#"{{"role":"user","content":"message {number}"}}"#)
}

pub(crate) fn lines(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(line).collect()
}

pub(crate) fn text(lines: &[String]) -> String {
    lines
        .iter()
        .flat_map(|line| [line.as_str(), "\n"])
        .collect()
}

pub(crate) fn append(path: &Path, bytes: impl AsRef<[u8]>) {
    OpenOptions::new()
        .append(true)
        .open(path)
        .unwrap()
        .write_all(bytes.as_ref())
        .unwrap();
}

/// Runs a case on a file with three lines, in both ways of noticing changes.
pub(crate) fn following(case: impl Fn(&Place, &mut Followed)) {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let place = Place::new("session.jsonl");
        fs::write(&place.path, text(&lines(0..3))).unwrap();
        let mut followed = Followed::start(&place.path, mode);
        followed.until_lines(&lines(0..3));
        case(&place, &mut followed);
        followed.end();
    }
}

#[test]
fn appended_lines_come() {
    following(|place, followed| {
        append(&place.path, text(&lines(3..5)));
        followed.until_lines(&lines(0..5));
        append(&place.path, text(&lines(5..6)));
        followed.until_lines(&lines(0..6));
        assert_eq!(followed.whole.tally().faulty, 0);
    });
}

#[test]
fn a_line_in_two_writes_comes_once() {
    following(|place, followed| {
        let (new, rest) = (line(3), line(4));
        append(&place.path, &new[..20]);
        append(&place.path, format!("{}\n{rest}\n", &new[20..]));
        followed.until_lines(&lines(0..5));
        assert_eq!(followed.whole.tally().faulty, 0);
    });
}

#[test]
fn a_line_byte_by_byte_comes_once() {
    following(|place, followed| {
        let mut file = OpenOptions::new().append(true).open(&place.path).unwrap();
        for byte in format!("{}\n", line(3).replace("message", "méßage")).bytes() {
            file.write_all(&[byte]).unwrap();
            std::thread::sleep(Duration::from_micros(300));
        }
        append(&place.path, text(&lines(4..5)));
        followed.until("five entries", |followed| {
            followed.whole.tally().records() == 5
        });
        assert_eq!(followed.whole.order().len(), 5);
        assert_eq!(followed.whole.tally().faulty, 0);
        assert!(followed.whole.notices().is_empty());
    });
}

#[test]
fn the_last_line_without_newline_shows_and_counts_once() {
    following(|place, followed| {
        append(&place.path, line(3));
        followed.until_lines(&lines(0..4));
        append(&place.path, "\n");
        append(&place.path, text(&lines(4..5)));
        followed.until_lines(&lines(0..5));
        append(&place.path, line(5));
        followed.until_lines(&lines(0..6));
        append(&place.path, format!("{}\n", line(6)));
        followed.until_lines(&lines(0..7));
    });
}

#[test]
fn a_cut_last_line_shows_when_nothing_comes_and_goes_when_it_is_completed() {
    following(|place, followed| {
        let new = line(3);
        append(&place.path, &new[..20]);
        followed.until("an incomplete record", |followed| {
            followed.whole.tally().faulty == 1
        });
        assert_eq!(followed.whole.tally().records(), 4);
        append(&place.path, format!("{}\n", &new[20..]));
        followed.until_lines(&lines(0..4));
        assert_eq!(
            (
                followed.whole.tally().faulty,
                followed.whole.tally().faults.len()
            ),
            (0, 0)
        );
    });
}

#[test]
fn a_file_cut_and_written_anew_is_read_anew() {
    following(|place, followed| {
        fs::copy(&place.path, place.beside("old")).unwrap();
        File::create(&place.path).unwrap();
        append(&place.path, text(&lines(10..12)));
        followed.until_lines(&lines(10..12));
        followed.until("reread", |followed| {
            matches!(followed.links.last(), Some(LinkState::Reread(_)))
        });
        append(&place.path, text(&lines(12..13)));
        followed.until_lines(&lines(10..13));
    });
}

#[test]
fn a_file_regrown_past_the_place_that_was_read_is_read_anew() {
    following(|place, followed| {
        fs::write(&place.path, text(&lines(20..40))).unwrap();
        followed.until_lines(&lines(20..40));
    });
}

#[test]
fn a_replaced_file_keeps_what_it_shares() {
    following(|place, followed| {
        let first = followed.whole.order()[0];
        let new = place.beside("new");
        fs::write(&new, text(&[line(0), line(7), line(8), line(9)])).unwrap();
        fs::rename(&new, &place.path).unwrap();
        followed.until_lines(&[line(0), line(7), line(8), line(9)]);
        assert_eq!(followed.whole.order()[0], first);
        append(&place.path, text(&lines(10..11)));
        followed.until_lines(&[line(0), line(7), line(8), line(9), line(10)]);
    });
}

#[test]
fn a_rotated_file_is_read_to_its_end_and_left() {
    following(|place, followed| {
        fs::rename(&place.path, place.beside("session.jsonl.1")).unwrap();
        append(&place.beside("session.jsonl.1"), text(&lines(3..4)));
        followed.until("read on", |followed| followed.whole.tally().records() == 4);
        let moved = LinkState::Moved(cfg!(target_os = "linux").then(|| "session.jsonl.1".into()));
        followed.until("moved", |followed| followed.links.contains(&moved));
        append(&place.beside("session.jsonl.1"), text(&lines(4..5)));
        followed.until("read on under its new name", |followed| {
            followed.whole.tally().records() == 5
        });
        assert_eq!(followed.links.last(), Some(&moved), "it is reported once");
        fs::write(&place.path, text(&lines(30..32))).unwrap();
        followed.until_lines(&lines(30..32));
    });
}

#[test]
fn a_deleted_file_keeps_its_content_until_it_is_there_again() {
    following(|place, followed| {
        fs::remove_file(&place.path).unwrap();
        followed.until("gone", |followed| {
            followed.links.contains(&LinkState::Deleted)
        });
        assert_eq!(followed.whole.order().len(), 3);
        fs::write(&place.path, text(&lines(5..7))).unwrap();
        followed.until_lines(&lines(5..7));
        append(&place.path, text(&lines(7..8)));
        followed.until_lines(&lines(5..8));
    });
}

#[test]
fn a_directory_that_goes_and_returns_is_watched_again() {
    following(|place, followed| {
        fs::remove_dir_all(place.path.parent().unwrap()).unwrap();
        followed.until("gone", |followed| {
            followed.links.contains(&LinkState::Deleted)
        });
        fs::create_dir(place.path.parent().unwrap()).unwrap();
        fs::write(&place.path, text(&lines(0..4))).unwrap();
        followed.until_lines(&lines(0..4));
        append(&place.path, text(&lines(4..5)));
        followed.until_lines(&lines(0..5));
    });
}

#[test]
fn a_link_is_followed_by_its_name() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let place = Place::new("session.jsonl");
        let (one, two) = (place.beside("one"), place.beside("two"));
        fs::write(&one, text(&lines(0..3))).unwrap();
        fs::write(&two, text(&lines(5..7))).unwrap();
        symlink(&one, &place.path).unwrap();
        let mut followed = Followed::start(&place.path, mode);
        append(&one, text(&lines(3..4)));
        followed.until_lines(&lines(0..4));
        fs::remove_file(&place.path).unwrap();
        symlink(&two, &place.path).unwrap();
        followed.until_lines(&lines(5..7));
        append(&two, text(&lines(7..8)));
        followed.until_lines(&lines(5..8));
        followed.end();
    }
}

#[test]
fn odd_bytes_do_not_stop_the_tail() {
    following(|place, followed| {
        let odd = b"\xef\xbb\xbf{\"role\":\"user\",\"content\":\"b\\u0000m\"}\r\n\r\n  \n\xff\xfe not\0 JSON\n{\"role\":\"user\",\"content\":\"\xff\"}\r\nnull\n";
        append(&place.path, odd);
        append(&place.path, text(&lines(3..4)));
        followed.until("eight records", |followed| {
            followed.whole.tally().records() == 8
        });
        assert_eq!(followed.records().last(), Some(&line(3)));
    });
}

/// As many writes as fast as they go; or ten thousand a second for as many seconds as are asked for.
#[test]
fn of_a_burst_no_line_is_lost_or_doubled() {
    let seconds = crate::fixtures::asked("BURST_SECONDS");
    let count = seconds.map_or(24_000, |seconds| seconds * 10_000);
    following(|place, followed| {
        let path = place.path.clone();
        let writer = std::thread::spawn(move || {
            let mut file = OpenOptions::new().append(true).open(path).unwrap();
            let start = Instant::now();
            for number in 3..count {
                file.write_all(format!("{}\n", line(number)).as_bytes())
                    .unwrap();
                if seconds.is_some() && number % 100 == 0 {
                    let due = Duration::from_millis(number as u64 / 10);
                    std::thread::sleep(due.saturating_sub(start.elapsed()));
                }
            }
        });
        while !writer.is_finished() {
            let now = followed.whole.tally().records();
            followed.until("more lines", |followed| {
                followed.whole.tally().records() > now || writer.is_finished()
            });
        }
        writer.join().unwrap();
        followed.until("all lines", |followed| {
            followed.whole.tally().records() == count as u64
        });
        assert_eq!(followed.records(), lines(0..count));
        assert_eq!(followed.whole.tally().faulty, 0);
    });
}

#[test]
fn an_empty_file_shows_what_it_becomes() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        for (is_document, content) in [
            (false, text(&lines(0..2))),
            (
                true,
                format!(
                    "{{\n \"title\": \"x\",\n \"messages\": [\n{},\n{}\n]}}\n",
                    line(0),
                    line(1)
                ),
            ),
        ] {
            let place = Place::new("session.json");
            File::create(&place.path).unwrap();
            let mut followed = Followed::start(&place.path, mode);
            let (half, rest) = content.split_at(content.len() / 2);
            append(&place.path, half);
            append(&place.path, rest);
            followed.until("both messages", |followed| {
                let records = followed.records();
                records.contains(&line(0))
                    && records.contains(&line(1))
                    && records.len() == 2 + usize::from(is_document)
            });
            followed.end();
        }
    }
}

fn document(numbers: std::ops::Range<usize>) -> String {
    format!(
        "{{\n  \"title\": \"a talk\",\n  \"messages\": [\n    {}\n  ]\n}}\n",
        lines(numbers).join(",\n    ")
    )
}

#[test]
fn a_document_written_in_pieces_keeps_its_last_good_state() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let place = Place::new("session.json");
        fs::write(&place.path, document(0..3)).unwrap();
        let mut followed = Followed::start(&place.path, mode);
        followed.until("header and messages", |followed| {
            followed.whole.order().len() == 4
        });
        let ids: Vec<_> = followed.whole.order().to_vec();
        let new = document(0..5);
        File::create(&place.path).unwrap();
        for piece in new.as_bytes().chunks(40) {
            append(&place.path, piece);
            std::thread::sleep(Duration::from_millis(3));
            while let Ok(feed) = followed.feed.try_recv() {
                followed.take(feed);
                assert!(followed.whole.order().len() >= 4, "no half state is shown");
            }
        }
        followed.until("the new messages", |followed| {
            followed.whole.order().len() == 6
        });
        assert!(ids.iter().all(|id| followed.whole.order().contains(id)));
        assert_eq!(followed.whole.tally().records(), 5);
        assert_eq!(followed.whole.tally().faulty, 0);
        let records = followed.records();
        assert_eq!(records[1..], lines(0..5));
        followed.end();
    }
}

/// A messages file of Cline with these messages.
fn messages_file(agent: &str, ids: &[&str]) -> String {
    let message = |id: &&str| {
        let role = if id.starts_with('u') {
            "user"
        } else {
            "assistant"
        };
        format!(
            r#"{{"id":"{id}","role":"{role}","content":[{{"type":"text","text":"said {id} é"}}]}}"#
        )
    };
    let messages: Vec<String> = ids.iter().map(message).collect();
    let messages = messages.join(",\n    ");
    format!(
        "{{\n  \"version\": 1,\n  \"agent\": \"{agent}\",\n  \"sessionId\": \"s\",\n  \"messages\": [\n    \
         {messages}\n  ]\n}}\n"
    )
}

#[test]
fn messages_rewritten_in_place_are_known_by_their_ids() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let place = Place::new("s.messages.json");
        fs::write(&place.path, messages_file("lead", &["u1", "a1"])).unwrap();
        let mut followed = Followed::start(&place.path, mode);
        // Emptied, then written in two pieces: what was shown stays until the file is whole again.
        let next = messages_file("lead", &["u0", "u1", "a1", "u2"]);
        let cut = next.find("said a1 é").unwrap() + "said a1 ".len() + 1;
        fs::write(&place.path, "").unwrap();
        std::thread::sleep(Duration::from_millis(150));
        fs::write(&place.path, &next.as_bytes()[..cut]).unwrap();
        std::thread::sleep(Duration::from_millis(150));
        assert_eq!(keys(&followed.whole), [Key::from("u1"), Key::from("a1")]);
        append(&place.path, &next.as_bytes()[cut..]);
        followed.until("rewritten", |followed| followed.whole.find("u2").is_some());
        let now: Vec<String> = keys(&followed.whole)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(now, ["u0", "u1", "a1", "u2"]);
        assert_eq!(followed.whole.tally().records(), 4);
        followed.end();
    }
}

#[test]
fn an_agent_whose_file_appears_and_is_rewritten_is_a_lane() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("s")).unwrap();
        let path = dir.path().join("s/s.messages.json");
        fs::write(&path, messages_file("lead", &["u1", "a1"])).unwrap();
        let mut followed = Followed::start(&path, mode);
        let scout = path.with_file_name("scout.messages.json");
        fs::write(&scout, messages_file("subagent", &[])).unwrap();
        let text = messages_file("subagent", &["u7", "a7"]);
        fs::write(&scout, &text[..text.len() / 2]).unwrap();
        fs::write(&scout, &text).unwrap();
        followed.until("there", |followed| followed.whole.find("a7").is_some());
        fs::write(&scout, messages_file("subagent", &["u7", "a7", "a8"])).unwrap();
        followed.until("rewritten", |followed| followed.whole.find("a8").is_some());
        let lanes: Vec<_> = followed
            .whole
            .lanes()
            .iter()
            .map(|lane| (&*lane.label, lane.entries.len()))
            .collect();
        assert_eq!(lanes, [("subagent scout", 3)]);
        assert_eq!(
            followed.whole.tally().records(),
            3,
            "a file beside the session is one record"
        );
        followed.end();
    }
}

#[test]
fn a_document_that_stays_broken_is_shown_as_far_as_it_goes() {
    let place = Place::new("session.json");
    let whole = document(0..3);
    fs::write(&place.path, &whole).unwrap();
    let mut followed = Followed::start(&place.path, WatchMode::Native);
    fs::write(&place.path, &whole[..whole.len() - 30]).unwrap();
    followed.until("a fault", |followed| followed.whole.tally().faulty == 1);
    assert_eq!(followed.whole.tally().records(), 3);
    fs::write(&place.path, &whole).unwrap();
    followed.until("whole again", |followed| {
        followed.whole.tally().faulty == 0 && followed.whole.order().len() == 4
    });
    followed.end();
}

// === pipes ===

#[test]
fn a_pipe_shows_what_comes_through_it() {
    let place = Place::new("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &place.path,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    let path = place.path.clone();
    let writer = std::thread::spawn(move || OpenOptions::new().write(true).open(path).unwrap());
    let session = open(&Target {
        path: place.path.clone(),
        session: None,
    })
    .unwrap();
    let mut followed = Followed::of(session, WatchMode::Native);
    let mut pipe = writer.join().unwrap();
    let (half, rest) = (
        agent_line("u-1", None, None, "begin"),
        agent_line("u-2", Some("u-1"), None, "end"),
    );
    let (first, second) = half.split_at(30);
    pipe.write_all(b"{\"note\":\"no known agent\"}\n").unwrap();
    followed.until("the first line", |followed| {
        followed.whole.order().len() == 1
    });
    pipe.write_all(first.as_bytes()).unwrap();
    pipe.write_all(format!("{second}\n{rest}").as_bytes())
        .unwrap();
    followed.until("a format", |followed| {
        followed.formats.last() == Some(&"claude-code")
    });
    followed.until("all lines", |followed| {
        said(&followed.whole).ends_with(&["begin".into(), "end".into()])
    });
    drop(pipe);
    followed.until("the end", |followed| {
        followed.links.contains(&LinkState::Closed)
    });
    assert_eq!(followed.whole.tally().records(), 3);
    assert!(followed.is_caught_up);
    assert!(
        followed.records().iter().all(|record| !record.is_empty()),
        "what came is kept"
    );
    followed.end();
}

/// Of a compressed session nothing more is expected, nor of what lies beside it: what breaks off there shows at once.
#[test]
fn what_breaks_off_beside_a_compressed_session_is_shown() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("5d0c.gz");
    let mut file =
        flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
    let lines = [
        agent_line("u-1", None, None, "begin"),
        agent_line("u-2", Some("u-1"), None, "end"),
    ];
    file.write_all(lines.join("\n").as_bytes()).unwrap();
    file.finish().unwrap();
    let agents = dir.path().join("5d0c/subagents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("agent-1.jsonl"), "{\"type\":\"user\",\"mess").unwrap();
    let session = open(&Target {
        path,
        session: None,
    })
    .unwrap();
    let mut followed = Followed::of(session, WatchMode::Native);
    followed.until("the end", |followed| {
        followed.links.contains(&LinkState::Closed)
    });
    let tally = followed.whole.tally();
    assert_eq!((tally.records(), tally.faulty), (3, 1));
    followed.end();
}

// === folders ===

pub(crate) fn message(place: &Path, id: &str, role: &str) {
    let folder = place.join("message/ses_1");
    fs::create_dir_all(&folder).unwrap();
    let text =
        format!(r#"{{"id":"{id}","sessionID":"ses_1","role":"{role}","time":{{"created":1}}}}"#);
    fs::write(folder.join(format!("{id}.json")), text).unwrap();
}

pub(crate) fn part(place: &Path, message: &str, id: &str, text: &str) {
    let folder = place.join("part").join(message);
    fs::create_dir_all(&folder).unwrap();
    let json = format!(
        r#"{{"id":"{id}","messageID":"{message}","sessionID":"ses_1","type":"text","text":"{text}"}}"#
    );
    fs::write(folder.join(format!("{id}.json")), json).unwrap();
}

pub(crate) fn said(transcript: &Transcript) -> Vec<String> {
    let bodies = |entry: &tv::model::entry::Entry| -> String {
        let bodies = entry
            .blocks
            .iter()
            .flat_map(|block| block.kind.bodies().cloned().collect::<Vec<_>>());
        bodies
            .map(|body| body.stub.to_string())
            .collect::<Vec<_>>()
            .join("|")
    };
    transcript
        .entries()
        .map(bodies)
        .filter(|said| !said.is_empty())
        .collect()
}

#[test]
fn a_folder_gets_new_parts_and_loses_some() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let dir = tempfile::tempdir().unwrap();
        let storage = dir.path().join("storage");
        fs::create_dir_all(storage.join("session/project")).unwrap();
        fs::write(
            storage.join("session/project/ses_1.json"),
            r#"{"id":"ses_1","projectID":"project","directory":"/x","title":"t","version":"1.0.0","time":{"created":1,"updated":2}}"#,
        )
        .unwrap();
        message(&storage, "msg_1", "user");
        part(&storage, "msg_1", "prt_1", "hello");
        let mut followed = Followed::start(&storage, mode);
        followed.until("the first message", |followed| {
            said(&followed.whole) == ["hello"]
        });
        message(&storage, "msg_2", "assistant");
        part(&storage, "msg_2", "prt_2", "one");
        followed.until("a new part", |followed| {
            said(&followed.whole) == ["hello", "one"]
        });
        part(&storage, "msg_2", "prt_2", "one and more");
        followed.until("a changed part", |followed| {
            said(&followed.whole) == ["hello", "one and more"]
        });
        let half = storage.join("part/msg_2/prt_3.json");
        fs::write(&half, r#"{"id":"prt_3","messageID":"msg_2","#).unwrap();
        part(&storage, "msg_2", "prt_4", "four");
        followed.until("the part after", |followed| {
            said(&followed.whole) == ["hello", "one and more|four"]
        });
        part(&storage, "msg_2", "prt_3", "three");
        followed.until("the half part", |followed| {
            said(&followed.whole)[1].contains("three")
        });
        assert_eq!(followed.whole.tally().records(), 7);
        assert_eq!(followed.whole.tally().faulty, 0);
        fs::remove_file(half).unwrap();
        fs::remove_file(storage.join("message/ses_1/msg_1.json")).unwrap();
        followed.until("fewer", |followed| followed.whole.tally().records() == 4);
        assert_eq!(said(&followed.whole).len(), 1);
        followed.end();
    }
}

// === files beside the session ===

pub(crate) fn agent_line(
    uuid: &str,
    parent: Option<&str>,
    agent: Option<&str>,
    said: &str,
) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    let agent = agent.map_or(String::new(), |agent| format!(r#""agentId":"{agent}","#));
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":{},{agent}"sessionId":"s-1","version":"2.1.0","cwd":"/x","type":"user","uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"{said}"}}}}"#,
        !agent.is_empty()
    )
}

#[test]
fn a_companion_that_appears_is_followed() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let place = Place::new("s-1.jsonl");
        fs::write(
            &place.path,
            format!("{}\n", agent_line("u-1", None, None, "begin")),
        )
        .unwrap();
        let mut followed = Followed::start(&place.path, mode);
        followed.until("the session", |followed| said(&followed.whole) == ["begin"]);
        let folder = place.beside("s-1").join("subagents");
        fs::create_dir_all(&folder).unwrap();
        let agent = folder.join("agent-a1.jsonl");
        fs::write(
            &agent,
            format!("{}\n", agent_line("u-2", None, Some("a1"), "look")),
        )
        .unwrap();
        followed.until("the companion", |followed| {
            said(&followed.whole) == ["begin", "look"]
        });
        append(
            &agent,
            format!("{}\n", agent_line("u-3", Some("u-2"), Some("a1"), "found")),
        );
        followed.until("more of it", |followed| said(&followed.whole).len() == 3);
        append(
            &place.path,
            format!("{}\n", agent_line("u-4", Some("u-1"), None, "end")),
        );
        followed.until("more of the session", |followed| {
            said(&followed.whole).len() == 4
        });
        assert_eq!(followed.whole.tally().records(), 4);
        assert_eq!(followed.whole.lanes().len(), 1);
        followed.end();
    }
}

#[test]
fn the_end_is_fed_before_the_companions_are_looked_for() {
    let place = Place::new("s-2.jsonl");
    let filler = "lorem ipsum dolor sit amet ".repeat(40);
    let lines: Vec<String> = (0..5_000)
        .map(|n| agent_line(&format!("u-{n}"), None, None, &format!("{n} {filler}")))
        .collect();
    fs::write(&place.path, text(&lines)).unwrap();
    let folder = place.beside("s-2").join("subagents");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..600 {
        let line = agent_line(
            &format!("v-{number}"),
            None,
            Some(&format!("a{number:03}")),
            "look",
        );
        fs::write(
            folder.join(format!("agent-a{number:03}.jsonl")),
            format!("{line}\n"),
        )
        .unwrap();
    }
    let session = open(&Target {
        path: place.path.clone(),
        session: None,
    })
    .unwrap();
    let (sender, feed) = bounded(64);
    let stop = Arc::new(AtomicBool::new(false));
    let thread = session.follow(sender, WatchMode::Poll, Arc::clone(&stop), Box::new(|| {}));
    let fed: Vec<Feed> = feed
        .iter()
        .take_while(|feed| !matches!(feed, Feed::CaughtUp))
        .collect();
    let place_of = |is_it: fn(&Feed) -> bool| fed.iter().position(is_it).unwrap();
    let preview = place_of(|feed| {
        matches!(
            feed,
            Feed::Batch {
                stage: Stage::Preview,
                ..
            }
        )
    });
    let is_shown = place_of(|feed| matches!(feed, Feed::Progress { .. }));
    let companion = place_of(|feed| matches!(feed, Feed::File { id, .. } if id.0 > 0));
    assert!(
        preview < is_shown && is_shown < companion,
        "{preview} {is_shown} {companion}"
    );
    assert_eq!(
        fed.iter()
            .filter(|feed| matches!(feed, Feed::File { .. }))
            .count(),
        601
    );
    stop.store(true, Ordering::Relaxed);
    drop(feed);
    thread.thread().unpark();
    thread.join().unwrap();
}

#[test]
fn one_of_many_companions_is_followed() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let place = Place::new("s-3.jsonl");
        fs::write(
            &place.path,
            format!("{}\n", agent_line("u-1", None, None, "begin")),
        )
        .unwrap();
        let folder = place.beside("s-3").join("subagents");
        fs::create_dir_all(&folder).unwrap();
        let file = |number: usize| folder.join(format!("agent-a{number:03}.jsonl"));
        for number in 0..600 {
            let line = agent_line(
                &format!("v-{number}"),
                None,
                Some(&format!("a{number:03}")),
                "look",
            );
            fs::write(file(number), format!("{line}\n")).unwrap();
        }
        let mut followed = Followed::start(&place.path, mode);
        for (number, records) in [(0, 602), (599, 603), (300, 604)] {
            let line = agent_line(
                &format!("w-{number}"),
                None,
                Some(&format!("a{number:03}")),
                "found",
            );
            append(&file(number), format!("{line}\n"));
            followed.until("more of it", |followed| {
                followed.whole.tally().records() == records
            });
        }
        assert_eq!(followed.whole.lanes().len(), 600);
        followed.end();
    }
}

// === long files ===

/// A file of some megabytes: lines with a body that is too long for a stub.
fn long_file(path: &Path, count: usize) -> Vec<String> {
    let filler = "lorem ipsum dolor sit amet ".repeat(30);
    let lines: Vec<String> = (0..count)
        .map(|n| format!(r#"{{"role":"assistant","content":"{n} {filler}"}}"#))
        .collect();
    fs::write(path, text(&lines)).unwrap();
    lines
}

fn read_whole(path: &Path, stubs_only: bool) -> (Transcript, Pager) {
    let session = open(&Target {
        path: path.to_owned(),
        session: None,
    })
    .unwrap();
    let pager = session.pager();
    let mut transcript = Transcript::new();
    let mut is_caught_up = false;
    session.read_whole(stubs_only, &mut |feed| match feed {
        Feed::Batch { batch, .. } => drop(transcript.apply(*batch)),
        Feed::CaughtUp => is_caught_up = true,
        Feed::Fault(fault) => panic!("{fault}"),
        _ => {}
    });
    assert!(is_caught_up);
    (transcript, pager)
}

fn keys(transcript: &Transcript) -> Vec<Key> {
    transcript
        .entries()
        .map(|entry| entry.key.clone())
        .collect()
}

#[test]
fn a_long_file_shows_its_end_first_and_then_the_same_as_when_read_whole() {
    let place = Place::new("session.jsonl");
    let lines = long_file(&place.path, 10_000);
    let mut followed = Followed::start(&place.path, WatchMode::Native);
    let shown = followed.preview.order().len();
    assert!(shown > 100 && shown < lines.len(), "{shown}");
    let (mut whole, _) = read_whole(&place.path, true);
    assert_eq!(keys(&followed.whole), keys(&whole));
    assert_eq!(followed.whole.tally(), whole.tally());
    assert!(keys(&whole).ends_with(&keys(&followed.preview)));
    assert!(
        followed
            .preview
            .entries()
            .all(|e| e.blocks[0].kind.bodies().all(|body| !body.is_on_disk()))
    );
    append(&place.path, text(&self::lines(0..1)));
    followed.until("the appended line", |followed| {
        followed.whole.order().len() == lines.len() + 1
    });
    followed.end();
    whole.update_derived();
}

#[test]
fn what_is_appended_while_a_file_is_read_is_left_to_the_next_reading() {
    let place = Place::new("session.jsonl");
    let lines = long_file(&place.path, 2_000);
    let session = open(&Target {
        path: place.path.clone(),
        session: None,
    })
    .unwrap();
    let (mut transcript, mut batches) = (Transcript::new(), 0);
    session.read_whole(true, &mut |feed| {
        if let Feed::Batch { batch, .. } = feed {
            transcript.apply(*batch);
            batches += 1;
            if batches < 50 {
                append(&place.path, text(&lines[..1_000]));
            }
        }
    });
    assert_eq!(transcript.order().len(), lines.len());
}

#[test]
fn a_line_that_began_before_the_last_part_of_a_long_file_stays_there() {
    let place = Place::new("session.jsonl");
    let long = format!(
        r#"{{"role":"user","content":"{}"}}"#,
        "the tide ".repeat(1 << 20)
    );
    let lines: Vec<String> = lines(0..9)
        .into_iter()
        .chain([long])
        .chain(lines(9..12))
        .collect();
    fs::write(&place.path, text(&lines)).unwrap();
    let mut followed = Followed::start(&place.path, WatchMode::Native);
    followed.until_lines(&lines);
    let is_away: Vec<bool> = followed
        .whole
        .entries()
        .flat_map(|entry| &entry.blocks)
        .flat_map(|block| block.kind.bodies())
        .filter(|body| body.bytes > 1 << 20)
        .map(Body::is_on_disk)
        .collect();
    assert_eq!(is_away, [true]);
    followed.end();
}

#[test]
fn a_viewer_of_a_long_file_has_it_from_its_first_line() {
    let place = Place::new("session.jsonl");
    let lines = long_file(&place.path, 10_000);
    let session = open(&Target {
        path: place.path.clone(),
        session: None,
    })
    .unwrap();
    let (sender, feed) = bounded(64);
    let stop = Arc::new(AtomicBool::new(false));
    let thread = session.follow(
        sender,
        WatchMode::Native,
        Arc::clone(&stop),
        Box::new(|| {}),
    );
    let mut app = App::new(
        Theme::mono(),
        Level::Preview,
        Arc::new(Colours::never()),
        Timestamp(0),
    );
    // The figures of progress depend on the clock: without them it must work, too.
    while let Ok(message) = feed.recv_timeout(PATIENCE) {
        let is_last = matches!(message, Feed::CaughtUp);
        if !matches!(message, Feed::Progress { .. }) {
            update(&mut app, Event::Feed(Box::new(message)));
        }
        if is_last {
            break;
        }
    }
    stop.store(true, Ordering::Relaxed);
    thread.thread().unpark();
    assert_eq!(app.reader.session.transcript.order().len(), lines.len());
    assert_eq!(
        app.reader
            .session
            .transcript
            .entries()
            .next()
            .map(|entry| entry.origin.at),
        Some(0)
    );
    drop(feed);
    assert!(thread.join().is_ok());
}

#[test]
fn bodies_come_again_from_their_records() {
    let place = Place::new("session.jsonl");
    long_file(&place.path, 50);
    let (full, _) = read_whole(&place.path, false);
    let (stubs, mut pager) = read_whole(&place.path, true);
    for (full, stub) in full.entries().zip(stubs.entries()) {
        for (full, stub) in full.blocks.iter().zip(&stub.blocks) {
            for (full, stub) in full.kind.bodies().zip(stub.kind.bodies()) {
                assert!(stub.is_on_disk());
                assert_eq!(pager.read(stub.from)[usize::from(stub.slot)], full.held);
            }
        }
    }
    let json = place.beside("talk.json");
    fs::write(
        &json,
        document(0..3).replace("a talk", &"a long talk ".repeat(40)),
    )
    .unwrap();
    let (full, _) = read_whole(&json, false);
    let (stubs, mut pager) = read_whole(&json, true);
    let header = (
        full.entries().next().unwrap(),
        stubs.entries().next().unwrap(),
    );
    let (full, stub) = (
        header.0.blocks[0].kind.bodies().next().unwrap(),
        header.1.blocks[0].kind.bodies().next().unwrap(),
    );
    assert!(matches!(full.held, Held::Tree(_)) && stub.is_on_disk());
    assert_eq!(pager.read(stub.from)[usize::from(stub.slot)], full.held);
}

#[test]
fn whole_reading_counts_each_record_and_shows_what_is_cut() {
    let place = Place::new("session.jsonl");
    let cut = line(3);
    fs::write(&place.path, format!("{}{}", text(&lines(0..3)), &cut[..20])).unwrap();
    let tally = read_whole(&place.path, false).0.tally().clone();
    assert_eq!((tally.records(), tally.faulty), (4, 1));
    fs::write(&place.path, format!("{}{cut}", text(&lines(0..3)))).unwrap();
    let tally = read_whole(&place.path, false).0.tally().clone();
    assert_eq!(
        (tally.shown, tally.merged, tally.passed, tally.faulty),
        (4, 0, 0, 0)
    );
}

#[test]
fn what_came_through_a_pipe_can_be_read_again_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl.gz");
    let lines: Vec<String> = (0..500)
        .map(|n| format!(r#"{{"role":"user","content":"line {n}"}}"#))
        .collect();
    let mut file =
        flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
    file.write_all((lines.join("\n") + "\n").as_bytes())
        .unwrap();
    file.finish().unwrap();
    let mut followed = Followed::start(&path, WatchMode::Poll);
    fs::remove_file(&path).unwrap();
    followed.until_lines(&lines);
    followed.end();
}
