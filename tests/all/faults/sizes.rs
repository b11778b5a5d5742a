//! Tests of extreme sizes, and of the limits of their cost.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::{TV, figure, handles, peak};
use crate::pty::{Console, append, line, session};

/// What a viewer may take beside what is asked of it, in KB; programs made for tests are large.
const BASE: u64 = 120 << 10;

fn viewed() -> (Console, std::path::PathBuf, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let mut console = Console::start(&[path.to_str().unwrap()], &[]);
    console.wait_for("FIRST ANSWER");
    (console, path, dir)
}

#[test]
fn a_line_of_fifty_megabytes_is_a_placeholder() {
    let (mut console, path, _dir) = viewed();
    let data = "iVBORw0KGgoAAAANSUhE".repeat(50 * 1024 * 1024 / 20);
    let image = format!(r#"{{"type":"image","mimeType":"image/png","data":"{data}"}}"#);
    let bytes = data.len() as u64 / 1024;
    drop(data);
    let with_text = line("user", "WITH AN IMAGE", 3);
    let cut = with_text.find(r#"{"type":"text""#).unwrap();
    append(
        &path,
        &format!("{}{image},{}", &with_text[..cut], &with_text[cut..]),
    );
    drop(image);
    append(&path, &line("assistant", "AFTER THE IMAGE", 4));
    console.wait_for("AFTER THE IMAGE");
    console.wait_for("image png 39 MB");
    // The line as it was read, and once more while it is decoded.
    let peak = peak(console.process());
    assert!(
        peak < BASE + 3 * bytes,
        "{peak} KB for a line of {bytes} KB"
    );
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
}

/// Lines, then nothing but zeros up to a place, without taking room on the disk.
fn sparse(lines: usize, to: u64) -> (TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = session(dir.path());
    let many: String = (0..lines)
        .map(|number| line("assistant", "before the hole", 1000 + number))
        .collect();
    append(&path, &many);
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(to)
        .unwrap();
    (dir, path)
}

#[test]
fn a_line_that_never_ends_is_reported_and_not_held() {
    let (_dir, path) = sparse(2000, 1 << 30);
    let mut child = Command::new(TV)
        .args(["stats", "--json"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = most.max(peak(child.id()));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let stats: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stats["records"]["faulty"], 1);
    assert_eq!(stats["records"]["faults"][0]["line"], 2016);
    let what = stats["records"]["faults"][0]["what"].as_str().unwrap();
    assert!(what.contains("too long"), "{what}");
    // A line is held up to a quarter of a gigabyte: it might end.
    assert!(most < BASE + (256 << 10), "{most} KB");
}

#[test]
fn beyond_four_gigabytes_the_end_is_shown_first_and_places_are_true() {
    let (_dir, path) = sparse(0, 5 << 30);
    let mut file = File::options().write(true).open(&path).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(b"\n").unwrap();
    for number in 0..20 {
        file.write_all(line("assistant", &format!("beyond {number}"), 5000 + number).as_bytes())
            .unwrap();
    }
    file.write_all(line("user", "THE TAIL", 6000).as_bytes())
        .unwrap();
    let mut console = Console::start(&[path.to_str().unwrap()], &[]);
    console.wait_for("THE TAIL");
    let at = fs::metadata(&path).unwrap().len();
    append(&path, &line("assistant", "APPENDED", 6001));
    console.wait_for("APPENDED");
    // The record is read again by its place.
    console.send("Gr");
    console.wait_for("e0006001");
    console.wait_for(&format!("byte {at}"));
    let peak = peak(console.process());
    assert!(peak < BASE + (256 << 10), "{peak} KB");
    console.send("\u{1b}");
    console.wait("the record is closed", |console| {
        !console.text().contains("e0006001")
    });
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
}

/// Many records with long texts: as many as are asked for, else some thousand.
#[test]
fn what_is_appended_for_long_costs_by_the_entry_and_not_by_the_byte() {
    let count = crate::fixtures::asked("APPENDED_RECORDS").unwrap_or(2_000);
    let (mut console, path, _dir) = viewed();
    let filler = "lorem ipsum ".repeat(3_000);
    let add = |console: &mut Console, numbers: std::ops::Range<usize>| {
        for first in numbers.clone().step_by(50) {
            let some = first..numbers.end.min(first + 50);
            let text: String = some
                .map(|n| {
                    line(
                        "assistant",
                        &format!("record {n} {filler} END {n}"),
                        100 + n,
                    )
                })
                .collect();
            append(&path, &text);
        }
        console.wait_for(&format!("END {}", numbers.end - 1));
    };
    // By then as many bodies are held as ever will be, on a machine that is busy, too.
    add(&mut console, 0..4_000);
    let process = console.process();
    let of = |process| (figure(process, "VmRSS:").unwrap_or(0), handles(process));
    let (memory, open) = of(process);
    add(&mut console, 4_000..4_000 + count);
    let (memory_now, open_now) = of(process);
    // A file may be open for a moment, to be read.
    let (files, threads) = (open.0.abs_diff(open_now.0), open.1.abs_diff(open_now.1));
    assert!(
        files < 3 && threads < 2,
        "open files and threads: {open:?}, then {open_now:?}"
    );
    let (grown, written) = (
        memory_now.saturating_sub(memory),
        count as u64 * filler.len() as u64 / 1024,
    );
    assert!(grown < written / 4, "{grown} KB more for {written} KB");
    fs::remove_file(&path).unwrap();
    console.wait_for("file gone");
    console.send("q");
    assert_eq!(console.wait_for_exit(), 0);
}
