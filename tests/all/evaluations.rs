//! Archives of evaluations: a zip of small files is one session.

use std::fs;
use std::path::{Path, PathBuf};

use tv::ingest::Target;
use tv::model::entry::{BlockKind, Break, Entry};
use tv::model::transcript::Transcript;
use tv::render::theme::Theme;

use crate::corpus::corpora;
use crate::fixtures::{self, ReadSession, children};
use crate::stage::Stage;

fn fixture(name: &str) -> PathBuf {
    fixtures::root().join("inspect-eval").join(name)
}

fn read(path: &Path) -> ReadSession {
    fixtures::read(&Target { path: path.to_owned(), session: None })
}

fn samples(transcript: &Transcript) -> Vec<String> {
    let line = |entry: &Entry| match &entry.blocks.first()?.kind {
        BlockKind::Break(Break::Setting(words)) => Some(words.to_string()),
        _ => None,
    };
    transcript.entries().filter_map(line).collect()
}

#[test]
fn an_archive_reads_like_the_document_of_its_log() {
    let (archive, document) = (read(&fixture("log.eval")), read(&fixture("log.json")));
    assert_eq!((archive.opened.format, archive.opened.confidence), ("inspect-eval", "certain"));
    assert!(archive.opened.reason.ends_with("decompressed from zip"), "{}", archive.opened.reason);
    let (archive, document) = (archive.transcript, document.transcript);
    assert_eq!(samples(&archive), ["sample 2, epoch 1", "sample 10, epoch 1"]);
    assert_eq!(samples(&archive), samples(&document));
    assert_eq!(archive.totals().sum(), document.totals().sum());
    let calls = |transcript: &Transcript| -> Vec<String> {
        transcript
            .entries()
            .flat_map(Entry::calls)
            .map(|call| format!("{} {}", call.key, call.state.word()))
            .collect()
    };
    assert_eq!(calls(&archive), calls(&document));
    assert_eq!((archive.tally().faulty, archive.tally().unknown.len()), (0, 0));
}

#[test]
fn an_archive_that_breaks_off_shows_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("half.eval");
    let bytes = fs::read(fixture("log.eval")).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 40]).unwrap();
    let transcript = read(&path).transcript;
    assert_eq!(samples(&transcript).len(), 2);
    let is_told =
        transcript.notices().iter().any(|notice| notice.what.contains("the zip archive breaks off"));
    assert!(is_told, "{:?}", transcript.notices());
    // Any other archive is none of ours.
    fs::write(&path, b"PK\x03\x04\x14\0\0\0\0\0aaaabbbbccccdddd\x05\0\0\0a.txt").unwrap();
    let refused = tv::ingest::open(&Target { path, session: None }).err().map(|error| error.to_string());
    assert!(refused.is_some_and(|why| why.contains("an archive; unpack it")));
}

/// What is compressed is read once.
#[test]
fn an_archive_is_not_said_to_be_followed() {
    let status = |name| Stage::open(&fixture(name), (80, 24), Theme::dark()).status();
    assert!(status("log.eval").starts_with(" CLOSED"), "{}", status("log.eval"));
    assert!(status("log.json").starts_with(" FOLLOW"), "{}", status("log.json"));
}

/// Of real logs every sample is shown, and every call has its result.
#[test]
fn real_archives_are_read_whole() {
    for corpus in corpora() {
        for path in children(&corpus.folder.join("inspect-eval")) {
            if path.extension().is_none_or(|extension| extension != "eval") {
                continue;
            }
            let target = Target { path: path.clone(), session: None };
            let Ok(session) = tv::ingest::open(&target) else {
                assert!(
                    fs::read(&path).unwrap().starts_with(b"version https://git-lfs"),
                    "{}",
                    path.display()
                );
                continue;
            };
            assert_eq!(session.opened.format, "inspect-eval", "{}", path.display());
            let transcript = read(&path).transcript;
            assert!(!samples(&transcript).is_empty(), "{}", path.display());
            assert_eq!(transcript.tally().faulty, 0, "{}", path.display());
            assert!(
                transcript.tally().unknown.is_empty(),
                "{}: {:?}",
                path.display(),
                transcript.tally().unknown
            );
        }
    }
}
