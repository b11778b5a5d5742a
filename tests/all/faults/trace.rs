//! Runs everything under `strace`: the program writes, locks and renames nothing but its own state,
//! and opens no network connection.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::TV;
use crate::fixtures::root;
use crate::follow::{agent_line, append, line, text};
use crate::pty::Console;

/// Calls that change files or reach beyond the machine.
const CALLS: &str = "trace=%file,%network,fcntl,flock,ftruncate,fchmod,fchown,fallocate,pwrite64,pwritev,\
                     fsetxattr,fremovexattr,copy_file_range";

/// Whether a call that succeeded changes something outside of these folders.
fn complaint(line: &str, own: &[&Path]) -> bool {
    // `123 openat(AT_FDCWD, "/a/b", O_RDONLY|O_CLOEXEC) = 3`
    let Some((_, call)) = line.split_once(' ') else {
        return false;
    };
    let call = call.trim_start();
    let name = call.split('(').next().unwrap_or_default();
    let has_failed = call
        .rsplit_once("= ")
        .is_some_and(|(_, end)| end.starts_with("-1"));
    let names = |folder: &Path| {
        ["\"", "<"]
            .iter()
            .any(|sign| call.contains(&format!("{sign}{}/", folder.display())))
    };
    // By its name, or as the open folder in which a name is looked up.
    let is_itself = |folder: &Path| {
        let folder = folder.display();
        call.contains(&format!("\"{folder}\"")) || call.contains(&format!("<{folder}>"))
    };
    let is_own = own.iter().any(|folder| names(folder) || is_itself(folder));
    let is_device = ["/dev", "/proc"]
        .iter()
        .any(|folder| names(Path::new(folder)));
    let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
        .iter()
        .any(|flag| call.contains(flag));
    match name {
        "open" | "openat" | "openat2" => writes && !is_own && !is_device,
        "fcntl" => call.contains("F_WRLCK") && !is_own && !has_failed,
        "socket" => !(call.contains("AF_UNIX") || call.contains("AF_LOCAL")),
        "flock" => call.contains("LOCK_EX") && !is_own && !has_failed,
        "connect" | "sendto" | "bind" | "listen" => !(call.contains("AF_UNIX") || name == "sendto"),
        "creat" | "mkdir" | "mkdirat" | "rename" | "renameat" | "renameat2" | "unlink"
        | "unlinkat" | "rmdir" | "chmod" | "fchmodat" | "fchmodat2" | "fchmod" | "chown"
        | "lchown" | "fchown" | "fchownat" | "truncate" | "ftruncate" | "fallocate" | "link"
        | "linkat" | "symlink" | "symlinkat" | "utime" | "utimes" | "utimensat" | "futimesat"
        | "mknod" | "mknodat" | "pwrite64" | "pwritev" | "setxattr" | "lsetxattr" | "fsetxattr"
        | "removexattr" | "copy_file_range" => !is_own && !has_failed,
        _ => false,
    }
}

#[test]
fn complaints_are_about_changes() {
    let own = [Path::new("/own")];
    for line in [
        r#"1 openat(AT_FDCWD, "/a/b", O_RDWR|O_CLOEXEC) = 3"#,
        r#"1 openat(AT_FDCWD, "/a/b-wal", O_WRONLY|O_CREAT, 0644) = 3"#,
        r#"1 unlink("/a/b") = 0"#,
        r#"17  renameat(AT_FDCWD, "/a", AT_FDCWD, "/b") = 0"#,
        "1 fcntl(3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET}) = 0",
        "1 flock(3, LOCK_EX) = 0",
        "1 socket(AF_INET, SOCK_STREAM, 0) = 3",
        "1 fchmod(3, 0600) = 0",
        r#"1 mkdirat(13</owner>, "b", 0700) = 0"#,
        r#"1 utimensat(AT_FDCWD, "/a/b", NULL, 0) = 0"#,
    ] {
        assert!(complaint(line, &own), "{line}");
    }
    for line in [
        r#"1 openat(AT_FDCWD, "/a/b", O_RDONLY|O_CLOEXEC) = 3"#,
        r#"1 openat(AT_FDCWD, "/own/b", O_WRONLY|O_CREAT, 0644) = 3"#,
        r#"1 mkdirat(13</own>, "b", 0700) = 0"#,
        r#"1 renameat(13</own/b>, ".c", 13</own/b>, "c") = 0"#,
        r#"1 openat(AT_FDCWD, "/dev/tty", O_RDWR) = 3"#,
        "1 fcntl(3, F_SETLK, {l_type=F_RDLCK, l_whence=SEEK_SET}) = 0",
        r#"1 unlink("/a/b") = -1 ENOENT (No such file or directory)"#,
        "1 socket(AF_UNIX, SOCK_STREAM, 0) = 3",
    ] {
        assert!(!complaint(line, &own), "{line}");
    }
}

/// A home with sessions of all shapes. Returns what is to be opened.
fn home(folder: &Path) -> Vec<PathBuf> {
    let lines = folder.join("session.jsonl");
    fs::write(&lines, text(&[line(0), line(1)])).unwrap();
    let claude = folder.join("s-1.jsonl");
    fs::write(&claude, agent_line("u-1", None, None, "begin") + "\n").unwrap();
    fs::create_dir_all(folder.join("s-1/subagents")).unwrap();
    fs::write(
        folder.join("s-1/subagents/agent-a1.jsonl"),
        agent_line("u-2", None, Some("a1"), "look") + "\n",
    )
    .unwrap();
    let document = folder.join("talk.json");
    fs::copy(root().join("messages/array.json"), &document).unwrap();
    let storage = folder.join("storage");
    copy(&root().join("opencode/storage"), &storage);
    let archive = folder.join("log.eval");
    fs::copy(root().join("inspect-eval/log.eval"), &archive).unwrap();
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(unused_mut, reason = "databases are an extra")
    )]
    let mut all = vec![lines, claude, document, storage, archive];
    #[cfg(feature = "sqlite")]
    {
        let database = folder.join("agent.db");
        crate::databases::write(&root().join("openclaw/openclaw-agent.sql"), &database);
        all.push(database);
    }
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// Name, content and times of all files below a folder.
fn state_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let modified = entry.metadata().unwrap().modified().unwrap();
        if path.is_dir() {
            all.extend(state_of(&path));
        }
        all.push((path.clone(), fs::read(&path).unwrap_or_default(), modified));
    }
    all.sort();
    all
}

#[test]
fn nothing_is_changed_and_nobody_called() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: strace is not installed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (place, state) = (dir.path().join("sessions"), dir.path().join("state"));
    fs::create_dir(&place).unwrap();
    fs::create_dir(&state).unwrap();
    let targets = home(&place);
    let before = state_of(&place);
    let traces = dir.path().join("traces");
    fs::create_dir(&traces).unwrap();
    let strace = |name: &str| -> Vec<String> {
        let trace = traces.join(name).display().to_string();
        ["-f", "-qq", "-y", "-o", &trace, "-e", CALLS, TV]
            .map(str::to_owned)
            .into()
    };
    for command in ["show", "stats", "check", "doctor"] {
        let status = Command::new("strace")
            .args(strace(command))
            .arg(command)
            .args(&targets)
            .env("TV_STATE", &state)
            .env("HOME", &state)
            .env("TMPDIR", &state)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.code().is_some(), "{command}");
    }
    assert_eq!(state_of(&place), before);
    // The viewer, with a state of its own and all that keys can do without leaving it.
    for (number, target) in targets.iter().enumerate() {
        let mut arguments = strace(&format!("view{number}"));
        let is_database = target
            .extension()
            .is_some_and(|extension| extension == "db");
        arguments.push(format!(
            "{}{}",
            target.display(),
            if is_database { "#1111" } else { "" }
        ));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let state = state.display().to_string();
        let mut console = Console::run(
            "strace",
            &arguments,
            // What came out of an archive is kept in a file without a name.
            &[("TV_STATE", &state), ("HOME", &state), ("TMPDIR", &state)],
        );
        console.wait_for("FOLLOW");
        console.wait("all of it", |console| console.text().contains("bad"));
        if number == 0 {
            append(target, text(&[line(7)]));
            console.wait_for("message 7");
        }
        for keys in ["g", "r", "\u{1b}", "ma", "/e", "\r", "\u{1b}", "4"] {
            console.send(keys);
            std::thread::sleep(std::time::Duration::from_millis(60));
        }
        std::thread::sleep(std::time::Duration::from_millis(400));
        // Traced on a busy machine, keys may arrive together: Esc and 4 are then Alt-4, which opens a
        // pane that `q` would only close.
        console.send("Q");
        console.wait_for_exit();
    }
    let mut seen = 0;
    for trace in fs::read_dir(&traces).unwrap().flatten() {
        let text = fs::read_to_string(trace.path()).unwrap();
        seen += text
            .lines()
            .filter(|line| line.contains(place.to_str().unwrap()))
            .count();
        let complaints: Vec<&str> = text
            .lines()
            .filter(|line| complaint(line, &[&state]))
            .collect();
        assert!(
            complaints.is_empty(),
            "{:?}:\n{}",
            trace.path(),
            complaints.join("\n")
        );
    }
    assert!(seen > 20, "the traces are of the right program");
    let after: Vec<_> = state_of(&place)
        .into_iter()
        .filter(|(path, _, _)| *path != targets[0])
        .collect();
    let before: Vec<_> = before
        .into_iter()
        .filter(|(path, _, _)| *path != targets[0])
        .collect();
    assert_eq!(after, before);
}
