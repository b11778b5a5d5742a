//! Tests of archives of evaluations: a zip of small files is one session.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tv::ingest::{Target, WatchMode};
use tv::model::edit::LinkState;
use tv::model::entry::{BlockKind, Break, Entry};
use tv::model::transcript::Transcript;

use crate::corpus::corpora;
use crate::fixtures::{self, ReadSession, children};
use crate::follow::{Followed, Place};

fn fixture(name: &str) -> PathBuf {
    fixtures::root().join("inspect-eval").join(name)
}

fn read(path: &Path) -> ReadSession {
    fixtures::read(&Target {
        path: path.to_owned(),
        session: None,
    })
}

fn samples(transcript: &Transcript) -> Vec<String> {
    let line = |entry: &Entry| match &entry.blocks.first()?.kind {
        BlockKind::Break(Break::Setting(words)) => Some(words.to_string()),
        _ => None,
    };
    transcript.entries().filter_map(line).collect()
}

fn text_of(entry: &Entry) -> String {
    let text = |kind: &BlockKind| match kind {
        BlockKind::Text(body) => Some(body.stub.to_string()),
        _ => None,
    };
    entry
        .blocks
        .iter()
        .find_map(|block| text(&block.kind))
        .unwrap_or_default()
}

#[test]
fn an_archive_reads_like_the_document_of_its_log() {
    let (archive, document) = (read(&fixture("log.eval")), read(&fixture("log.json")));
    assert_eq!(
        (archive.opened.format, archive.opened.confidence),
        ("inspect-eval", "certain")
    );
    assert!(
        archive.opened.reason.ends_with("decompressed from zip"),
        "{}",
        archive.opened.reason
    );
    let (archive, document) = (archive.transcript, document.transcript);
    assert_eq!(
        samples(&archive),
        ["sample 2, epoch 1", "sample 10, epoch 1"]
    );
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
    assert_eq!(
        (archive.tally().faulty, archive.tally().unknown.len()),
        (0, 0)
    );
}

#[test]
fn an_archive_that_breaks_off_shows_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("half.eval");
    let bytes = fs::read(fixture("log.eval")).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 40]).unwrap();
    let transcript = read(&path).transcript;
    assert_eq!(samples(&transcript).len(), 2);
    let is_told = transcript
        .notices()
        .iter()
        .any(|notice| notice.what.contains("the zip archive breaks off"));
    assert!(is_told, "{:?}", transcript.notices());
    // Any other archive is none of ours.
    fs::write(
        &path,
        b"PK\x03\x04\x14\0\0\0\0\0aaaabbbbccccdddd\x05\0\0\0a.txt",
    )
    .unwrap();
    let refused = tv::ingest::open(&Target {
        path,
        session: None,
    })
    .err()
    .map(|error| error.to_string());
    assert!(refused.is_some_and(|why| why.contains("an archive; unpack it")));
}

/// An archive of these members, which are not compressed.
fn archive(members: &[(&str, String)]) -> Vec<u8> {
    let short = |number: usize| u16::try_from(number).unwrap().to_le_bytes();
    let long = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let (mut bytes, mut listed) = (Vec::new(), Vec::new());
    for (name, text) in members {
        let facts = [
            &[0; 12][..],
            &long(text.len()),
            &long(text.len()),
            &short(name.len()),
            &[0; 2],
        ]
        .concat();
        listed.extend(
            [
                b"PK\x01\x02\0\0\0\0",
                &facts[..],
                &[0; 10],
                &long(bytes.len()),
                name.as_bytes(),
            ]
            .concat(),
        );
        bytes.extend(
            [
                b"PK\x03\x04\0\0",
                &facts[..],
                name.as_bytes(),
                text.as_bytes(),
            ]
            .concat(),
        );
    }
    let (at, len, count) = (long(bytes.len()), long(listed.len()), short(members.len()));
    bytes.extend(
        [
            &listed[..],
            b"PK\x05\x06\0\0\0\0",
            &count,
            &count,
            &len,
            &at,
            &[0; 2],
        ]
        .concat(),
    );
    bytes
}

/// A log as it stands in its archive when these samples are done.
fn log_of(samples: &[u32], is_over: bool) -> Vec<u8> {
    let log = |status: &str| {
        format!(
            "{{\"version\":2,\"status\":\"{status}\",\"eval\":{{\"task\":\"mill\",\"model\":\"m\"}},\"plan\":{{}}{}}}",
            if status == "success" {
                ",\"results\":{\"completed_samples\":3}"
            } else {
                ""
            }
        )
    };
    let mut members = vec![("_journal/start.json".to_owned(), log("started"))];
    for id in samples {
        let text = format!(
            "{{\"id\":{id},\"epoch\":1,\"input\":\"?\",\"messages\":[{{\"role\":\"user\",\"content\":\"stone {id}\"}}]}}"
        );
        members.push((format!("samples/{id}_epoch_1.json"), text));
    }
    if is_over {
        members.push(("header.json".to_owned(), log("success")));
    }
    let members: Vec<(&str, String)> = members
        .iter()
        .map(|(name, text)| (&**name, text.clone()))
        .collect();
    archive(&members)
}

/// An evaluation that runs writes its archive again after some samples, and says at its end how it went.
#[test]
fn an_archive_that_is_written_again_is_followed() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let place = Place::new("log.eval");
        fs::write(&place.path, log_of(&[2], false)).unwrap();
        let mut followed = Followed::start(&place.path, mode);
        assert_eq!(samples(&followed.whole), ["sample 2, epoch 1"]);
        followed.until("live", |followed| followed.links == [LinkState::Live]);
        let of_two = |followed: &Followed| {
            let is_it = |entry: &&Entry| entry.marks.prompt && text_of(entry) == "stone 2";
            followed.whole.entries().find(is_it).unwrap().key.clone()
        };
        let known = of_two(&followed);

        fs::write(&place.path, log_of(&[2, 1], false)).unwrap();
        followed.until("two samples", |followed| {
            samples(&followed.whole).len() == 2
        });
        assert_eq!(
            samples(&followed.whole),
            ["sample 1, epoch 1", "sample 2, epoch 1"]
        );
        assert_eq!(of_two(&followed), known, "the place of who reads it");
        assert!(
            followed
                .records()
                .iter()
                .any(|record| record.contains("stone 1"))
        );

        // While it is written, what was there stays.
        let whole = log_of(&[2, 1, 3], true);
        fs::write(&place.path, &whole[..whole.len() / 2]).unwrap();
        std::thread::sleep(Duration::from_millis(700));
        fs::write(&place.path, whole).unwrap();
        followed.until("three samples", |followed| {
            samples(&followed.whole).len() == 3
        });
        assert_eq!(
            (of_two(&followed), followed.whole.tally().faulty),
            (known.clone(), 0)
        );
        assert!(
            followed.whole.notices().is_empty(),
            "{:?}",
            followed.whole.notices()
        );
        assert_eq!(followed.whole.meta().live, Some(false));

        fs::remove_file(&place.path).unwrap();
        followed.until("gone", |followed| {
            followed.links.last() == Some(&LinkState::Deleted)
        });
        fs::write(&place.path, log_of(&[2, 1, 3, 4], true)).unwrap();
        followed.until("back", |followed| samples(&followed.whole).len() == 4);
        followed.until("live", |followed| {
            followed.links.last() == Some(&LinkState::Live)
        });
        followed.end();
    }
}

/// Half of an archive that stays as it is is all there is.
#[test]
fn an_archive_that_stays_broken_is_shown_as_far_as_it_goes() {
    let place = Place::new("log.eval");
    fs::write(&place.path, log_of(&[2], false)).unwrap();
    let mut followed = Followed::start(&place.path, WatchMode::Native);
    let bytes = log_of(&[2, 1], false);
    fs::write(&place.path, &bytes[..bytes.len() - 30]).unwrap();
    followed.until("shown", |followed| samples(&followed.whole).len() == 2);
    assert!(
        followed
            .whole
            .notices()
            .iter()
            .any(|notice| notice.what.contains("breaks off"))
    );
    followed.end();
}

/// Of real logs every sample is shown, and every call has its result.
#[test]
fn real_archives_are_read_whole() {
    for corpus in corpora() {
        for path in children(&corpus.folder.join("inspect-eval")) {
            if path.extension().is_none_or(|extension| extension != "eval") {
                continue;
            }
            let target = Target {
                path: path.clone(),
                session: None,
            };
            let Ok(session) = tv::ingest::open(&target) else {
                assert!(
                    fs::read(&path)
                        .unwrap()
                        .starts_with(b"version https://git-lfs"),
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
