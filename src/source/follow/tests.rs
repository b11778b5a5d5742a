use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::{Fence, FollowChange, Follower, read_at};

fn read_all(follower: &mut Follower) -> String {
    let mut buffer = vec![0; 7];
    let mut all = Vec::new();
    loop {
        match follower.read(&mut buffer).unwrap() {
            0 => return String::from_utf8(all).unwrap(),
            read => all.extend_from_slice(&buffer[..read]),
        }
    }
}

fn append(path: &Path, text: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn followed(text: &str) -> (tempfile::TempDir, std::path::PathBuf, Follower) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.jsonl");
    fs::write(&path, text).unwrap();
    let mut follower = Follower::open(&path, Fence::default()).unwrap();
    assert_eq!(read_all(&mut follower), text);
    (dir, path, follower)
}

#[test]
fn growth_touch_and_truncation_are_distinguished() {
    let (_dir, path, mut follower) = followed("one\n");
    let now = Instant::now();
    assert_eq!(follower.poll(now), FollowChange::Quiet);
    append(&path, "two\n");
    assert_eq!(follower.poll(now), FollowChange::Grown);
    assert_eq!(read_all(&mut follower), "two\n");
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    assert_eq!(follower.poll(now), FollowChange::Quiet);
    fs::write(&path, "").unwrap();
    assert_eq!(follower.poll(now), FollowChange::Quiet);
    append(&path, "one\ntwo\nthree\n");
    assert_eq!(
        follower.poll(now),
        FollowChange::Replaced("cut and written anew")
    );
    assert_eq!(read_all(&mut follower), "one\ntwo\nthree\n");
    assert_eq!(follower.poll(now), FollowChange::Quiet);
}

#[test]
fn reading_ends_where_the_file_ended_at_the_last_poll() {
    let (_dir, path, mut follower) = followed("one\n");
    append(&path, "two\n");
    assert_eq!(read_all(&mut follower), "");
    let now = Instant::now();
    assert_eq!(follower.poll(now), FollowChange::Grown);
    append(&path, "three\n");
    assert_eq!(read_all(&mut follower), "two\n");
    assert_eq!(follower.poll(now), FollowChange::Grown);
    assert_eq!(read_all(&mut follower), "three\n");
    assert_eq!(follower.poll(now), FollowChange::Quiet);
}

#[test]
fn a_file_that_stays_empty_is_said_once() {
    let (_dir, path, mut follower) = followed("one\n");
    let start = Instant::now();
    fs::write(&path, "").unwrap();
    assert_eq!(follower.poll(start), FollowChange::Quiet);
    let due = follower.retry_at().unwrap();
    assert!(due > start);
    assert_eq!(follower.poll(due), FollowChange::Emptied);
    assert_eq!(
        (follower.poll(due), follower.retry_at()),
        (FollowChange::Quiet, None)
    );
    append(&path, "two\n");
    assert_eq!(
        follower.poll(due),
        FollowChange::Replaced("cut and written anew")
    );
    assert_eq!(
        (read_all(&mut follower), follower.poll(due)),
        ("two\n".to_owned(), FollowChange::Quiet)
    );
}

#[test]
fn a_file_cut_and_regrown_between_two_looks_is_noticed() {
    let now = Instant::now();
    for rewritten in ["1ne\ntwo\nthree\n", "one\nTWO\nthree\n"] {
        let (_dir, path, mut follower) = followed("one\ntwo\n");
        fs::write(&path, rewritten).unwrap();
        assert_eq!(
            follower.poll(now),
            FollowChange::Replaced("rewritten in place")
        );
        assert_eq!(read_all(&mut follower), rewritten);
    }
}

#[test]
fn a_replaced_file_is_drained_first() {
    let (dir, path, mut follower) = followed("one\n");
    let now = Instant::now();
    let old = dir.path().join("session.jsonl.1");
    append(&path, "two\n");
    fs::rename(&path, &old).unwrap();
    assert_eq!(follower.poll(now), FollowChange::Grown);
    assert_eq!(read_all(&mut follower), "two\n");
    let moved = |to: &Path| FollowChange::Moved(cfg!(target_os = "linux").then(|| to.to_owned()));
    assert_eq!(follower.poll(now), moved(&old));
    assert_eq!(follower.poll(now), FollowChange::Quiet);
    append(&old, "three\n");
    fs::write(&path, "new\n").unwrap();
    assert_eq!(follower.poll(now), FollowChange::Grown);
    assert_eq!(read_all(&mut follower), "three\n");
    assert_eq!(
        follower.poll(now),
        FollowChange::Replaced("replaced by another file")
    );
    assert_eq!(read_all(&mut follower), "new\n");
    fs::rename(&path, dir.path().join("x")).unwrap();
    assert_eq!(follower.poll(now), moved(&dir.path().join("x")));
    fs::rename(dir.path().join("x"), &path).unwrap();
    assert_eq!(follower.poll(now), FollowChange::Back);
    assert_eq!(follower.poll(now), FollowChange::Quiet);
    fs::rename(&path, &old).unwrap();
    assert_eq!(follower.poll(now), moved(&old));
    fs::remove_file(&old).unwrap();
    assert_eq!(follower.poll(now), FollowChange::Deleted);
    assert_eq!(follower.poll(now), FollowChange::Quiet);
}

#[test]
fn a_swapped_link_is_another_file() {
    let (dir, path, _) = followed("one\n");
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let mut follower = Follower::open(&link, Fence::default()).unwrap();
    read_all(&mut follower);
    let other = dir.path().join("other");
    fs::write(&other, "other\n").unwrap();
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    assert_eq!(
        follower.poll(Instant::now()),
        FollowChange::Replaced("replaced by another file")
    );
}

#[test]
fn a_failure_is_reported_once_and_tried_again_later() {
    let (dir, path, mut follower) = followed("one\n");
    let now = Instant::now();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert!(matches!(follower.poll(now), FollowChange::Unreadable(_)));
    assert_eq!(
        follower.poll(now + Duration::from_millis(100)),
        FollowChange::Quiet
    );
    assert_eq!(
        follower.poll(now + Duration::from_millis(300)),
        FollowChange::Quiet
    );
    fs::remove_file(&path).unwrap();
    fs::write(&path, "two\n").unwrap();
    assert_eq!(
        follower.poll(now + Duration::from_millis(500)),
        FollowChange::Quiet
    );
    assert!(matches!(
        follower.poll(now + Duration::from_secs(1)),
        FollowChange::Replaced(_)
    ));
    drop(dir);
}

thread_local! {
    /// Errors that the disk answers with, one after the other, and then no more.
    static ERRORS: RefCell<VecDeque<Errno>> = const { RefCell::new(VecDeque::new()) };
}

fn faulty(file: &crate::source::fs::File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    match ERRORS.with_borrow_mut(VecDeque::pop_front) {
        Some(error) => Err(error.into()),
        None => read_at(file, buffer, at),
    }
}

#[test]
fn a_disk_that_fails_is_tried_again_ever_more_seldom_and_costs_no_byte() {
    for errno in [Errno::IO, Errno::STALE] {
        let (_dir, path, mut follower) = followed("one\n");
        follower.read_at = faulty;
        append(&path, "two\n");
        ERRORS.set([errno; 8].into());
        let (mut now, mut changes, mut delays) = (Instant::now(), Vec::new(), Vec::new());
        let mut buffer = [0; 64];
        let read = loop {
            match follower.poll(now) {
                FollowChange::Grown => {}
                FollowChange::Quiet => {
                    let retry = follower.retry_at().unwrap();
                    delays.push(u64::try_from((retry - now).as_millis()).unwrap());
                    now = retry;
                    continue;
                }
                other => panic!("{other:?}"),
            }
            match follower.read(&mut buffer) {
                Ok(read) => break read,
                Err(error) => changes.push(follower.failed(&error, now)),
            }
        };
        assert_eq!(&buffer[..read], b"two\n");
        assert_eq!(delays, [250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
        assert!(
            matches!(&changes[0], FollowChange::Unreadable(why) if *why == io::Error::from(errno).to_string())
        );
        assert!(
            changes[1..]
                .iter()
                .all(|change| *change == FollowChange::Quiet),
            "it is reported once"
        );
        assert_eq!(follower.poll(now), FollowChange::Back);
        assert_eq!(follower.poll(now), FollowChange::Quiet);
        append(&path, "three\n");
        assert_eq!(follower.poll(now), FollowChange::Grown);
        assert_eq!(read_all(&mut follower), "three\n");
    }
}

#[test]
fn a_failure_of_the_name_alone_ends_when_there_is_something_to_read() {
    let (dir, path, mut follower) = followed("one\n");
    let (now, away) = (Instant::now(), dir.path().join("away"));
    fs::rename(&path, &away).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert!(matches!(follower.poll(now), FollowChange::Unreadable(_)));
    append(&away, "two\n");
    assert_eq!(
        follower.poll(now),
        FollowChange::Grown,
        "what is open is read on"
    );
    assert_eq!(read_all(&mut follower), "two\n");
    fs::remove_file(&path).unwrap();
    append(&away, "three\n");
    fs::rename(&away, &path).unwrap();
    let later = now + Duration::from_secs(1);
    assert_eq!(follower.poll(later), FollowChange::Grown);
    assert_eq!(read_all(&mut follower), "three\n");
    assert_eq!(follower.poll(later), FollowChange::Back);
    assert_eq!(follower.poll(later), FollowChange::Quiet);
}

#[test]
fn a_new_file_with_the_number_of_the_old_one_is_another_text() {
    for text in ["other\nlonger\n", "ONE\ntwo\n", "1\n"] {
        let (dir, path, mut follower) = followed("one\ntwo\n");
        // As files beside the session are: nothing holds their number.
        follower.close();
        let number = fs::metadata(&path).unwrap().ino();
        fs::remove_file(&path).unwrap();
        let mut tries = Vec::new();
        let is_reused = (0..200).any(|n| {
            let other = dir.path().join(n.to_string());
            tries.push(File::create(&other).unwrap());
            let is_it = fs::metadata(&other).unwrap().ino() == number;
            fs::rename(&other, if is_it { path.clone() } else { other.clone() }).unwrap();
            is_it
        });
        if !is_reused {
            println!("this file system gives no number again so soon");
            return;
        }
        append(&path, text);
        let now = Instant::now();
        assert!(
            matches!(follower.poll(now), FollowChange::Replaced(_)),
            "{text}"
        );
        assert_eq!(read_all(&mut follower), text);
        assert_eq!(follower.poll(now), FollowChange::Quiet);
    }
}

#[test]
fn a_successor_that_is_empty_yet_takes_nothing_away() {
    let (dir, path, mut follower) = followed("one\n");
    let now = Instant::now();
    let next = dir.path().join("next");
    fs::write(&next, "").unwrap();
    fs::rename(&next, &path).unwrap();
    assert_eq!(follower.poll(now), FollowChange::Quiet);
    append(&path, "another\n");
    assert_eq!(
        follower.poll(now),
        FollowChange::Replaced("replaced by another file")
    );
    assert_eq!(read_all(&mut follower), "another\n");
}
