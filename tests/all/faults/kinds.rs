//! Tests of files that are no sessions, which are reported as such, and of sessions under
//! misleading names.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tv::render::theme::Theme;
use tv::session::BODY_BUDGET;

use super::TV;
use crate::stage::Stage;

const LINE: &str = "{\"role\":\"user\",\"content\":\"hello\"}\n";

fn run(command: &str, path: &Path) -> Output {
    Command::new(TV)
        .arg(command)
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Exit code 2, and one line that says why.
#[track_caller]
fn refused(path: &Path, words: &str) {
    for command in ["show", "stats", "check"] {
        let output = run(command, path);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            output.status.code(),
            Some(2),
            "{command} {}: {errors}",
            path.display()
        );
        assert!(
            errors.starts_with("tv: ") && errors.lines().count() == 1,
            "{command}: {errors}"
        );
        assert!(errors.contains(words), "{command}: {errors}");
    }
}

#[test]
fn what_is_no_session_is_refused_by_its_kind() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    symlink(path("b"), path("a")).unwrap();
    symlink(path("a"), path("b")).unwrap();
    symlink(path("nowhere"), path("dangling")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    fs::create_dir(path("folder")).unwrap();
    for (name, bytes) in [
        (
            "image.jsonl",
            &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01"[..],
        ),
        ("program", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"),
        ("archive.zip", b"PK\x03\x04\x14\0\0\0\x08\0"),
        ("wide.jsonl", b"\xff\xfe{\0\"\0a\0\"\0:\x001\0}\0"),
        ("page.db", b"SQLite format 3\0 and nothing more"),
        ("half.gz", &[0x1f, 0x8b, 8, 0]),
        ("half.zst", &[0x28, 0xb5, 0x2f, 0xfd]),
    ] {
        fs::write(path(name), bytes).unwrap();
    }
    for (name, words) in [
        ("a", "back to itself"),
        ("dangling", "does not exist"),
        ("missing", "no such file"),
        ("socket", "a socket"),
        ("folder", "no session file"),
        ("image.jsonl", "binary"),
        ("program", "binary"),
        ("archive.zip", "archive"),
        ("wide.jsonl", "UTF-16"),
        ("half.gz", "breaks off"),
        ("half.zst", "breaks off"),
    ] {
        refused(&path(name), words);
    }
    refused(&path("page.db"), "");
}

/// They may be read, but nothing waits for them for ever.
#[test]
fn devices_and_files_of_the_kernel_end() {
    for name in ["/dev/null", "/proc/self/status", "/proc/self/mem"] {
        if Path::new(name).exists() {
            let output = run("show", Path::new(name));
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0 | 2)) && !errors.contains("panicked"),
                "{errors}"
            );
        }
    }
}

#[test]
fn a_named_pipe_is_a_stream() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    let writer = std::thread::spawn({
        let path = path.clone();
        move || {
            fs::OpenOptions::new()
                .write(true)
                .open(path)
                .unwrap()
                .write_all(LINE.as_bytes())
                .unwrap();
        }
    });
    let output = run("show", &path);
    writer.join().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("hello"));
}

#[test]
fn compressed_sessions_are_read_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.jsonl.gz");
    let mut packed = flate2::write::GzEncoder::new(
        fs::File::create(&path).unwrap(),
        flate2::Compression::fast(),
    );
    packed.write_all(LINE.repeat(3).as_bytes()).unwrap();
    packed.finish().unwrap();
    let output = run("show", &path);
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout)
            .matches("    hello")
            .count(),
        3
    );
}

#[test]
fn what_cannot_be_read_again_is_kept_however_much_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (plain, packed) = (
        dir.path().join("session.jsonl"),
        dir.path().join("session.jsonl.gz"),
    );
    let long = "tide and harbour ".repeat(usize::try_from(BODY_BUDGET).unwrap() / 17 / 20);
    let text = LINE.replace("hello", &long).repeat(30);
    let mut to = flate2::write::GzEncoder::new(
        fs::File::create(&packed).unwrap(),
        flate2::Compression::fast(),
    );
    to.write_all(text.as_bytes()).unwrap();
    to.finish().unwrap();
    fs::write(&plain, &text).unwrap();
    let away = |path: &Path| {
        let stage = Stage::open(path, (80, 24), Theme::dark());
        let blocks = stage
            .app
            .reader
            .session
            .transcript
            .entries()
            .flat_map(|entry| &entry.blocks);
        let away = blocks
            .flat_map(|block| block.kind.bodies())
            .filter(|body| body.is_on_disk())
            .count();
        (away, stage.app.reader.session.transcript.loaded_bytes())
    };
    let (gone, held) = away(&plain);
    assert!(
        gone > 0 && held <= BODY_BUDGET,
        "{gone} of a file are away, {held} bytes are not"
    );
    assert_eq!(away(&packed).0, 0);
}

#[test]
fn a_line_that_was_cut_for_ever_is_one_mark_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.jsonl");
    fs::write(&path, LINE.repeat(3) + &LINE[..20]).unwrap();
    let output = run("show", &path);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(
        (
            text.matches("    hello").count(),
            text.matches("incomplete record").count()
        ),
        (3, 1),
        "{text}"
    );
    assert!(text.trim_end().ends_with(&LINE[..20]), "{text}");
}
