//! Tests of files beside or in place of a session that are something else: links out of the agent's
//! folders, pipes and devices.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, mknodat};
use tv::ingest::{Target, WatchMode};
use tv::model::edit::LinkState;

use super::references::{SECRET, doctor_says};
use crate::fixtures;
use crate::follow::{Followed, agent_line};

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap();
}

/// A folder with Claude Code's projects and, beside it, things of the machine.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for folder in ["home/projects/-x/busy", "home/projects/-y", "etc"] {
            fs::create_dir_all(machine.at(folder)).unwrap();
        }
        fs::copy(
            fixtures::root().join("claude-code/busy.jsonl"),
            machine.session(),
        )
        .unwrap();
        fs::write(machine.at("etc/btest01.txt"), SECRET).unwrap();
        fs::write(
            machine.at("etc/agent-a1.jsonl"),
            agent_line("u-5", None, Some("a1"), SECRET) + "\n",
        )
        .unwrap();
        machine
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn session(&self) -> std::path::PathBuf {
        self.at("home/projects/-x/busy.jsonl")
    }

    fn beside(&self, name: &str) -> std::path::PathBuf {
        self.at("home/projects/-x/busy").join(name)
    }
}

const REFUSED: &str = "outside of the agent's folders";

#[test]
fn links_out_of_the_agents_folders_are_reported_and_not_followed() {
    for (link, target, is_folder) in [
        ("tool-results/btest01.txt", "etc/btest01.txt", false),
        ("subagents/agent-a1.jsonl", "etc/agent-a1.jsonl", false),
        ("tool-results", "etc", true),
        ("subagents", "etc", true),
    ] {
        let machine = Machine::new();
        let link = machine.beside(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(machine.at(target), &link).unwrap();
        let text = doctor_says(&machine.session());
        assert!(!text.contains(SECRET), "{}", link.display());
        assert!(
            text.contains(REFUSED),
            "{} is reported ({is_folder})",
            link.display()
        );
        // The same link to another project of the agent is followed.
        fs::remove_file(&link).unwrap();
        let within = machine
            .at("home/projects/-y")
            .join(Path::new(target).file_name().unwrap());
        fs::rename(machine.at(target), &within).unwrap();
        symlink(&within, &link).unwrap();
        let text = doctor_says(&machine.session());
        assert!(
            text.contains(SECRET) && !text.contains(REFUSED),
            "{}",
            link.display()
        );
    }
}

#[test]
fn a_session_that_is_a_link_has_its_files_where_it_lies() {
    let machine = Machine::new();
    fs::create_dir_all(machine.beside("tool-results")).unwrap();
    fs::write(machine.beside("tool-results/btest01.txt"), "STORED HERE").unwrap();
    symlink(machine.session(), machine.at("etc/busy.jsonl")).unwrap();
    symlink(machine.at("home/projects/-x/busy"), machine.at("etc/busy")).unwrap();
    let text = doctor_says(&machine.at("etc/busy.jsonl"));
    assert!(text.contains("STORED HERE") && !text.contains(REFUSED));
}

#[test]
fn a_file_that_is_exchanged_for_a_link_while_it_is_followed_is_not_read() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let machine = Machine::new();
        let path = machine.beside("subagents/agent-a1.jsonl");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            &path,
            agent_line("u-4", None, Some("a1"), "HARMLESS") + "\n",
        )
        .unwrap();
        let mut followed = Followed::start(&machine.session(), mode);
        followed.until("the sub-agent", |f| {
            f.records().iter().any(|record| record.contains("HARMLESS"))
        });
        let aside = machine.beside("subagents/aside");
        symlink(machine.at("etc/agent-a1.jsonl"), &aside).unwrap();
        fs::rename(&aside, &path).unwrap();
        // What comes later is read after it.
        crate::pty::append(
            &machine.session(),
            &(agent_line("u-9", None, None, "LATER") + "\n"),
        );
        let other = machine.beside("subagents/agent-a2.jsonl");
        fs::write(
            &other,
            agent_line("u-6", None, Some("a2"), "ANOTHER") + "\n",
        )
        .unwrap();
        followed.until("what came later", |f| {
            let records = f.records();
            ["LATER", "ANOTHER"]
                .iter()
                .all(|words| records.iter().any(|record| record.contains(words)))
        });
        assert!(
            !followed
                .records()
                .iter()
                .any(|record| record.contains(SECRET))
        );
        followed.end();
    }
}

#[test]
fn a_sub_agent_that_becomes_a_link_to_a_folder_is_told_of_and_nothing_waits() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let machine = Machine::new();
        let path = machine.beside("subagents/agent-a1.jsonl");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(
            &path,
            agent_line("u-4", None, Some("a1"), "HARMLESS") + "\n",
        )
        .unwrap();
        let mut followed = Followed::start(&machine.session(), mode);
        let aside = machine.beside("aside");
        symlink(machine.at("home"), &aside).unwrap();
        fs::rename(&aside, &path).unwrap();
        followed.until("what it is now", |f| {
            let mut notices = f.whole.notices().iter();
            notices.any(|notice| {
                notice.what.contains("agent-a1.jsonl") && notice.what.contains("a folder")
            })
        });
        crate::pty::append(
            &machine.session(),
            &(agent_line("u-9", None, None, "LATER") + "\n"),
        );
        followed.until("what came later", |f| {
            f.records().iter().any(|record| record.contains("LATER"))
        });
        followed.end();
    }
}

#[test]
fn one_of_several_sessions_that_becomes_a_link_to_a_folder_is_told_of_and_nothing_waits() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        let dir = tempfile::tempdir().unwrap();
        let [one, two, aside] =
            ["one.jsonl", "two.jsonl", "aside"].map(|name| dir.path().join(name));
        let line = |words: &str| agent_line(&format!("u-{words}"), None, None, words) + "\n";
        fs::write(&one, line("FIRST")).unwrap();
        fs::write(&two, line("SECOND")).unwrap();
        let [session, other] = [&one, &two].map(|path| {
            fixtures::open(&Target {
                path: path.clone(),
                session: None,
            })
        });
        let mut followed = Followed::of(session.join(vec![other]), mode);
        let has =
            |f: &mut Followed, words: &str| f.records().iter().any(|record| record.contains(words));
        followed.until("both", |f| {
            f.is_caught_up && has(f, "FIRST") && has(f, "SECOND")
        });
        symlink(dir.path(), &aside).unwrap();
        fs::rename(&aside, &two).unwrap();
        let is_told =
            |link: &LinkState| matches!(link, LinkState::Reread(why) if why.contains("a folder"));
        followed.until("what it is now", |f| f.links.iter().any(is_told));
        crate::pty::append(&one, &line("THIRD"));
        followed.until("what came later", |f| has(f, "THIRD"));
        assert_eq!(followed.whole.order().len(), 3, "what was read stays");
        fs::write(&aside, line("SECOND") + &line("FOURTH")).unwrap();
        fs::rename(&aside, &two).unwrap();
        followed.until("the next file", |f| has(f, "FOURTH"));
        followed.end();
    }
}

const DOCUMENT: &str = "{\n\"messages\":[\n{\"role\":\"user\",\n\"content\":\"FIRST\"},\n\
    {\"role\":\"assistant\",\n\"content\":\"SECOND\"}\n]}\n";

#[test]
fn a_document_that_is_exchanged_for_a_pipe_or_a_device_is_not_read_and_nothing_waits() {
    for mode in [WatchMode::Native, WatchMode::Poll] {
        for (kind, words) in [
            ("pipe", "named pipe"),
            ("device", "device"),
            ("large", "more than 256 MiB"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let (path, aside) = (dir.path().join("session.json"), dir.path().join("aside"));
            fs::write(&path, DOCUMENT).unwrap();
            let mut followed = Followed::start(&path, mode);
            match kind {
                "pipe" => fifo(&aside),
                "device" => symlink("/dev/zero", &aside).unwrap(),
                _ => File::create(&aside).unwrap().set_len(3 << 30).unwrap(),
            }
            fs::rename(&aside, &path).unwrap();
            let is_reported = |link: &LinkState| matches!(link, LinkState::Unreadable(why) if why.contains(words));
            followed.until(kind, |f| f.links.iter().any(is_reported));
            assert!(
                followed.records().len() < 3,
                "what was asked for again is not read, either"
            );
            fs::write(&aside, DOCUMENT.replace("SECOND", "THIRD")).unwrap();
            fs::rename(&aside, &path).unwrap();
            followed.until("the next document", |f| {
                f.records().iter().any(|record| record.contains("THIRD"))
            });
            followed.end();
        }
    }
}

#[test]
fn lines_that_are_exchanged_for_a_pipe_or_a_device_are_not_read_and_nothing_waits() {
    for (kind, words) in [("pipe", "named pipe"), ("device", "device")] {
        let dir = tempfile::tempdir().unwrap();
        let (path, aside) = (dir.path().join("session.jsonl"), dir.path().join("aside"));
        let line = |words: &str| format!("{{\"role\":\"user\",\"content\":\"{words}\"}}\n");
        fs::write(&path, line("FIRST")).unwrap();
        let mut followed = Followed::start(&path, WatchMode::Native);
        match kind {
            "pipe" => fifo(&aside),
            _ => symlink("/dev/zero", &aside).unwrap(),
        }
        fs::rename(&aside, &path).unwrap();
        let is_reported =
            |link: &LinkState| matches!(link, LinkState::Unreadable(why) if why.contains(words));
        followed.until(kind, |f| f.links.iter().any(is_reported));
        fs::write(&aside, line("SECOND")).unwrap();
        fs::rename(&aside, &path).unwrap();
        followed.until("the next file", |f| {
            f.records().iter().any(|record| record.contains("SECOND"))
        });
        followed.end();
    }
}
