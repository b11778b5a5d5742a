//! Tests of changes to a file while it is on the screen, in the real program.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{Wrapper, assert_idle, is_root};
use crate::pty::{Console, append, line, session};

/// A session on the screen.
struct Viewed {
    console: Console,
    path: PathBuf,
    dir: TempDir,
}

impl Viewed {
    fn start(arguments: &[&str]) -> Self {
        Self::behind(|path| Some(Console::start(&[arguments, &[path][..]].concat(), &[]))).unwrap()
    }

    fn behind(start: impl FnOnce(&str) -> Option<Console>) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let folder = dir.path().join("project");
        fs::create_dir(&folder).unwrap();
        let path = session(&folder);
        let mut console = start(path.to_str().unwrap())?;
        console.wait_for("FIRST ANSWER");
        Some(Self { console, path, dir })
    }

    fn say(&self, text: &str, number: usize) {
        append(&self.path, &line("assistant", text, number));
    }

    /// It goes on as if nothing had happened.
    #[track_caller]
    fn goes_on(mut self) {
        self.say("AND SO ON", 999);
        self.console.wait_for("AND SO ON");
        self.console.send("q");
        assert_eq!(self.console.wait_for_exit(), 0);
    }
}

#[test]
fn a_line_shows_when_it_is_whole_and_nothing_of_it_before() {
    let mut viewed = Viewed::start(&[]);
    let (one, two) = (
        line("assistant", "IN TWO PIECES", 3),
        line("assistant", "BYTE BY BYTE", 4),
    );
    append(&viewed.path, &one[..60]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    append(&viewed.path, &one[60..]);
    viewed.console.wait_for("IN TWO PIECES");
    for byte in two.as_bytes().chunks(3) {
        append(&viewed.path, std::str::from_utf8(byte).unwrap());
    }
    viewed.console.wait_for("BYTE BY BYTE");
    let raw = String::from_utf8_lossy(&viewed.console.raw).into_owned();
    assert!(
        !raw.contains("incomplete") && !raw.contains("1 bad"),
        "no fault is shown meanwhile"
    );
    viewed.goes_on();
}

#[test]
fn a_file_cut_and_filled_again_is_shown_anew_and_the_status_line_says_so() {
    let mut viewed = Viewed::start(&[]);
    fs::copy(&viewed.path, viewed.path.with_extension("old")).unwrap();
    File::create(&viewed.path).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    viewed.say("AFTER THE CUT", 3);
    viewed.console.wait_for("AFTER THE CUT");
    viewed.console.wait_for("cut and written anew");
    assert!(!viewed.console.text().contains("FIRST ANSWER"));
    viewed.goes_on();
}

#[test]
fn a_file_cut_and_regrown_at_once_is_shown_anew() {
    let mut viewed = Viewed::start(&[]);
    let length = usize::try_from(fs::metadata(&viewed.path).unwrap().len()).unwrap();
    fs::write(
        &viewed.path,
        "{}\n".repeat(length / 3 + 1) + &line("assistant", "OTHER TEXT", 3),
    )
    .unwrap();
    viewed.console.wait_for("OTHER TEXT");
    viewed.console.wait("the old text gone", |console| {
        !console.text().contains("FIRST ANSWER")
    });
    viewed.goes_on();
}

#[test]
fn a_replaced_file_keeps_the_readers_place_by_the_messages() {
    keeps_the_place_in_a_replaced_file(60);
}

/// It is read beside what is shown, and takes its place when it is known.
#[test]
fn a_large_replaced_file_keeps_the_readers_place_too() {
    keeps_the_place_in_a_replaced_file(6_000);
}

fn keeps_the_place_in_a_replaced_file(messages: usize) {
    let last = 200 + messages;
    let mut viewed = Viewed::start(&[]);
    let talk = |numbers: std::ops::Range<usize>| -> String {
        numbers
            .map(|number| line("assistant", &format!("message {number} of many"), number))
            .collect()
    };
    append(&viewed.path, &talk(200..last));
    viewed
        .console
        .wait_for(&format!("message {} of many", last - 1));
    viewed.console.send(&format!("g{}", "j".repeat(30)));
    viewed.console.wait_for("PAUSED");
    viewed.console.wait_for("message 21");
    let place = |console: &Console| {
        let text = console.text();
        let rows = text
            .lines()
            .enumerate()
            .filter(|(_, row)| row.contains("of many"));
        // But for the map in the last column.
        let text = |row: &str| {
            row.chars()
                .take(79)
                .collect::<String>()
                .trim_end()
                .to_owned()
        };
        rows.map(|(at, row)| (at, text(row))).collect::<Vec<_>>()
    };
    let before = place(&viewed.console);
    assert!(before.len() > 1, "{}", viewed.console.text());
    let text = fs::read_to_string(&viewed.path).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let new = viewed.path.with_extension("new");
    fs::write(
        &new,
        format!(
            "{header}\n{}{rest}{}",
            talk(9500..9530),
            talk(last..last + 10)
        ),
    )
    .unwrap();
    fs::rename(&new, &viewed.path).unwrap();
    viewed.console.wait_for("replaced by another file");
    // But for the last line, where it says that there is more below.
    let after = place(&viewed.console);
    assert!(
        after.len() > 1 && before.starts_with(&after),
        "{}",
        viewed.console.text()
    );
    viewed.console.send("g");
    viewed.console.wait_for("message 9500 of many");
    viewed.console.send("G");
    viewed
        .console
        .wait_for(&format!("message {} of many", last + 9));
    // What is cut off is gone, and the reader is where the file ends.
    let short: String = text
        .lines()
        .take(40)
        .flat_map(|line| [line, "\n"])
        .collect();
    fs::write(&viewed.path, short).unwrap();
    viewed.console.wait_for("message 224 of many");
    viewed.goes_on();
}

#[test]
fn a_file_that_is_moved_away_is_read_on_and_its_successor_too() {
    let mut viewed = Viewed::start(&[]);
    let moved = viewed.path.with_file_name("elsewhere.jsonl");
    fs::rename(&viewed.path, &moved).unwrap();
    viewed.console.wait_for(if cfg!(target_os = "linux") {
        "moved to elsewhere"
    } else {
        "file moved"
    });
    append(&moved, &line("assistant", "STILL READ", 3));
    viewed.console.wait_for("STILL READ");
    assert!(viewed.console.text().contains("moved"));
    fs::write(&viewed.path, line("assistant", "IN THE NEW FILE", 4)).unwrap();
    viewed.console.wait_for("IN THE NEW FILE");
    viewed.console.wait("no word of the old file", |console| {
        !console.text().contains("moved to")
    });
    viewed.goes_on();
}

#[test]
fn a_deleted_file_stays_on_the_screen_and_costs_nothing() {
    let mut viewed = Viewed::start(&[]);
    fs::remove_file(&viewed.path).unwrap();
    viewed.console.wait_for("file gone");
    assert!(viewed.console.text().contains("FIRST ANSWER"));
    assert_idle(viewed.console.process());
    assert!(viewed.console.text().contains("file gone"));
    fs::write(&viewed.path, line("assistant", "THERE AGAIN", 3)).unwrap();
    viewed.console.wait_for("THERE AGAIN");
    viewed.goes_on();
}

#[test]
fn a_folder_that_is_moved_away_and_back_is_watched_again() {
    let mut viewed = Viewed::start(&[]);
    let (folder, away) = (
        viewed.path.parent().unwrap().to_owned(),
        viewed.dir.path().join("away"),
    );
    fs::rename(&folder, &away).unwrap();
    viewed.console.wait_for("moved");
    fs::rename(&away, &folder).unwrap();
    viewed
        .console
        .wait("the file back", |console| !console.text().contains("moved"));
    viewed.goes_on();
}

#[test]
fn a_burst_is_shown_to_its_end() {
    let mut viewed = Viewed::start(&[]);
    let filler = "y".repeat(200);
    let burst: String = (0..2000)
        .map(|number| {
            line(
                "assistant",
                &format!("burst {number} {filler}"),
                1000 + number,
            )
        })
        .collect();
    append(&viewed.path, &burst);
    viewed.console.wait_for("burst 1999");
    viewed.goes_on();
}

#[test]
fn the_poll_alone_is_shown_in_the_status_line() {
    let mut viewed = Viewed::start(&["--poll"]);
    viewed.console.wait_for("FOLLOW  poll");
    viewed.goes_on();
}

/// Modes mean nothing to root, so the viewer is somebody else where the tests are root's.
#[test]
fn permission_that_is_lost_is_reported_and_noticed_when_it_returns() {
    let nobody = [
        "setpriv",
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
    ];
    let start = |path: &str| {
        if !is_root() {
            return Some(Console::start(&[path], &[]));
        }
        let is_allowed = std::process::Command::new(nobody[0])
            .args(&nobody[1..])
            .args([super::TV, "--version"])
            .output()
            .is_ok_and(|output| output.status.success());
        if !is_allowed {
            println!("skipped: nobody else may run {}", super::TV);
            return None;
        }
        Wrapper(&[
            "setpriv",
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
        ])
        .view(&[path])
    };
    let Some(mut viewed) = Viewed::behind(start) else {
        return;
    };
    let set = |mode| fs::set_permissions(&viewed.path, fs::Permissions::from_mode(mode)).unwrap();
    let mut writer = OpenOptions::new().append(true).open(&viewed.path).unwrap();
    set(0o000);
    writer
        .write_all(line("assistant", "READ ON", 3).as_bytes())
        .unwrap();
    viewed.console.wait_for("READ ON");
    assert!(
        !viewed.console.text().contains("unreadable"),
        "what is open can still be read"
    );
    let new = viewed.path.with_extension("new");
    fs::write(&new, line("assistant", "FORBIDDEN", 4)).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o000)).unwrap();
    fs::rename(&new, &viewed.path).unwrap();
    viewed
        .console
        .wait_for("unreadable: no permission to read it");
    assert!(viewed.console.text().contains("READ ON"));
    assert_idle(viewed.console.process());
    set(0o644);
    viewed.console.wait_for("FORBIDDEN");
    viewed.console.wait("the trouble gone", |console| {
        !console.text().contains("unreadable")
    });
    viewed.goes_on();
}
