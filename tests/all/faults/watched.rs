//! Tests of other programs that use the file, and of clocks that are wrong.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use tv::ingest::WatchMode;
use tv::model::edit::Polled;

use super::TV;
use crate::follow::{Followed, Place, agent_line, append, following, line, lines, said, text};

#[test]
fn the_poll_is_reported_when_it_is_asked_for() {
    following(|_, followed| {
        let is_reported = followed.polled.contains(&Polled::Requested);
        let is_unsure = followed
            .polled
            .iter()
            .any(|why| matches!(why, Polled::Eventless(_)));
        assert!(
            followed.polled.len() <= 1 && (is_reported || is_unsure || followed.polled.is_empty())
        );
    });
    let place = Place::new("session.jsonl");
    fs::write(&place.path, text(&lines(0..1))).unwrap();
    let followed = Followed::start(&place.path, WatchMode::Poll);
    assert_eq!(followed.polled, [Polled::Requested]);
    followed.end();
}

#[test]
fn what_is_written_under_another_name_of_the_file_is_shown() {
    following(|place, followed| {
        let other = place.beside("other").join("name.jsonl");
        fs::create_dir(other.parent().unwrap()).unwrap();
        fs::hard_link(&place.path, &other).unwrap();
        append(&other, text(&lines(3..5)));
        followed.until_lines(&lines(0..5));
        append(&place.path, text(&lines(5..6)));
        append(&other, text(&lines(6..7)));
        followed.until_lines(&lines(0..7));
    });
}

#[test]
fn clocks_have_no_say() {
    following(|place, followed| {
        let set = |time: SystemTime| {
            File::options()
                .append(true)
                .open(&place.path)
                .unwrap()
                .set_modified(time)
                .unwrap();
        };
        let mut expected = lines(0..3);
        let year = Duration::from_secs(365 * 86_400);
        let written = fs::metadata(&place.path).unwrap().modified().unwrap();
        let jumps = [SystemTime::UNIX_EPOCH, written + 30 * year, written - year];
        for (number, time) in jumps.into_iter().enumerate() {
            set(time);
            expected.push(line(3 + number));
            append(&place.path, text(&lines(3 + number..4 + number)));
            set(time);
            followed.until_lines(&expected);
        }
        for time in [
            r#""2031-01-01T00:00:00Z""#,
            r#""1999-01-01T00:00:00+14:00""#,
            r#""2026-01-01T00:00:00-11:30""#,
            r#""yesterday""#,
            "-1",
            "99999999999999999",
            "null",
        ] {
            let odd = format!(
                r#"{{"role":"user","timestamp":{time},"content":"at {}"}}"#,
                expected.len()
            );
            append(&place.path, format!("{odd}\n"));
            expected.push(odd);
        }
        followed.until_lines(&expected);
        assert!(
            followed
                .links
                .iter()
                .all(|link| !matches!(link, tv::model::edit::LinkState::Reread(_)))
        );
    });
}

/// A file beside the session that is made anew keeps nothing of the old one.
#[test]
fn a_companion_that_is_deleted_and_made_again_is_another_one() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let place = Place::new("s-1.jsonl");
        fs::write(&place.path, agent_line("u-1", None, None, "begin") + "\n").unwrap();
        let folder = place.beside("s-1").join("subagents");
        fs::create_dir_all(&folder).unwrap();
        let agent = folder.join("agent-a1.jsonl");
        fs::write(
            &agent,
            agent_line("u-2", None, Some("a1"), "look here") + "\n",
        )
        .unwrap();
        let mut followed = Followed::start(&place.path, mode);
        followed.until("both", |followed| {
            said(&followed.whole) == ["begin", "look here"]
        });
        fs::remove_file(&agent).unwrap();
        fs::write(
            &agent,
            agent_line("u-2", None, Some("a1"), "look there") + "\n",
        )
        .unwrap();
        followed.until("the new one", |followed| {
            said(&followed.whole) == ["begin", "look there"]
        });
        assert_eq!(followed.whole.tally().records(), 2);
        followed.end();
    }
}

fn stamps(folder: &Path) -> Vec<(String, SystemTime, u32)> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            (
                name,
                metadata.modified().unwrap(),
                metadata.permissions().mode(),
            )
        })
        .collect();
    all.sort();
    all
}

#[test]
fn several_readers_of_a_file_wake_nobody_and_leave_nothing() {
    let place = Place::new("session.jsonl");
    fs::write(&place.path, text(&lines(0..3))).unwrap();
    let folder = place.path.parent().unwrap();
    let before = stamps(folder);
    let mut followed: Vec<_> = [WatchMode::Native, WatchMode::Poll]
        .map(|mode| Followed::start(&place.path, mode))
        .into();
    let mut child = Command::new(TV)
        .args(["show", "--follow", "--json"])
        .arg(&place.path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    for _ in 0..3 {
        out.next().unwrap().unwrap();
    }
    // Others read the file all the time; nobody takes that for a change.
    let path = place.path.clone();
    let reader = std::thread::spawn(move || {
        for _ in 0..400 {
            fs::read(&path).unwrap();
            std::thread::sleep(Duration::from_millis(3));
        }
    });
    let (_, before_reading) = super::work(child.id());
    std::thread::sleep(Duration::from_secs(1));
    let (_, ran) = super::work(child.id());
    assert!(
        ran - before_reading < 30,
        "it ran for {} of 100 ticks",
        ran - before_reading
    );
    reader.join().unwrap();
    assert_eq!(stamps(folder), before);
    append(&place.path, text(&lines(3..4)));
    for followed in &mut followed {
        followed.until_lines(&lines(0..4));
    }
    assert!(out.next().unwrap().unwrap().contains("message 3"));
    child.kill().unwrap();
    child.wait().unwrap();
    followed.into_iter().for_each(Followed::end);
}
