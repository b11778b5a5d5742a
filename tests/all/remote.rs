//! Tests of sessions of other machines: over a plain pipe in place of ssh, which every machine has,
//! and over a real sshd where there is one.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::corpus::{corpora, say};
use crate::fixtures::{self, PATIENCE};

/// What runs in place of ssh: what stands after the host, on this machine.
const PIPE: &str =
    "while [ \"$1\" != -- ]; do shift; done; echo $$ >> \"$PIDS\"; shift 2; exec sh -c \"$*\"";

/// A machine that is reached over a pipe.
struct Far {
    folder: TempDir,
    ssh: String,
    tv: String,
}

impl Far {
    fn over(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ssh");
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        Self {
            ssh: file.display().to_string(),
            folder,
            tv: env!("CARGO_BIN_EXE_tv").to_owned(),
        }
    }

    fn pipe() -> Self {
        Self::over(PIPE)
    }

    fn home(&self) -> &Path {
        self.folder.path()
    }

    /// Puts a session of an agent there with this many lines.
    fn place(&self, number: usize, lines: usize) {
        let folder = self.home().join(".claude/projects/-w");
        fs::create_dir_all(&folder).unwrap();
        let id = format!("{number:08}-0000-4000-8000-000000000000");
        let lines = (0..lines).map(|at| line(number * 10_000 + at) + "\n");
        let text = lines
            .collect::<String>()
            .replace("\"sessionId\":\"s\"", &format!("\"sessionId\":\"{id}\""));
        fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tv"));
        command
            .args(arguments)
            .env("HOME", self.home())
            .env("LC_ALL", "C.UTF-8")
            .env("PIDS", self.folder.path().join("pids"))
            .env("TV_SSH", &self.ssh)
            .env("TV_SSH_TV", &self.tv)
            .env("TV_SSH_PATIENCE", "5")
            .stdin(Stdio::null())
            .current_dir(self.home());
        command
    }

    fn tv(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What is said on standard error.
    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.tv(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Ends all connections, as a network that is lost does.
    fn cut(&self) {
        let pids = fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        for pid in pids.lines() {
            let _ = Command::new("kill")
                .args(["-9", pid])
                .stderr(Stdio::null())
                .status();
        }
        fs::write(self.folder.path().join("pids"), "").unwrap();
    }
}

/// What a command says of each path, here and there.
fn compare(far: &Far, paths: &[PathBuf]) {
    for paths in paths.chunks(100) {
        let here: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let there: Vec<String> = here.iter().map(|path| format!("box:{path}")).collect();
        let run = |names: &[String]| {
            let mut arguments = vec!["stats", "--json"];
            arguments.extend(names.iter().map(String::as_str));
            let output = far.tv(&arguments);
            let text = |bytes| String::from_utf8(bytes).unwrap().replace("box:/", "/");
            (text(output.stdout), text(output.stderr))
        };
        let (here, there) = (run(&here), run(&there));
        for (here, there) in here.0.lines().zip(there.0.lines()) {
            assert_eq!(here, there);
        }
        assert_eq!(here, there);
    }
}

#[test]
fn figures_are_the_same_from_afar() {
    let far = Far::pipe();
    compare(&far, &fixtures::all());
    for corpus in corpora().iter().filter(|corpus| !corpus.is_ours()) {
        // A tenth: each file is read twice.
        let some: Vec<PathBuf> = corpus.files().into_iter().step_by(10).collect();
        compare(&far, &some);
    }
}

fn line(number: usize) -> String {
    format!(
        r#"{{"type":"user","uuid":"u{number}","sessionId":"s","timestamp":"2026-11-20T10:00:00.000Z","cwd":"/w","version":"2.1.0","message":{{"role":"user","content":"word {number}"}}}}"#
    )
}

/// Runs `tv show --follow` on a file there.
fn follow(far: &Far, path: &str) -> (Child, PathBuf) {
    let out = far.home().join("out");
    let child = far
        .command(&["show", "--follow", "--json", path])
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(far.home().join("err")).unwrap())
        .spawn()
        .unwrap();
    (child, out)
}

fn words(out: &Path) -> Vec<usize> {
    let text = fs::read_to_string(out).unwrap();
    let number = |line: &str| {
        let entry: Value = serde_json::from_str(line).ok()?;
        let key = entry["key"].as_str()?.strip_prefix('u')?.to_owned();
        key.parse().ok()
    };
    text.lines().filter_map(number).collect()
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_cut_loses_and_doubles_nothing() {
    let far = Far::pipe();
    let path = far.home().join("a.jsonl");
    fs::write(&path, line(0) + "\n").unwrap();
    let (mut child, out) = follow(&far, "box:a.jsonl");
    wait_until("the beginning is shown", || !words(&out).is_empty());
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    let mut count = 1;
    for cut in 0..10 {
        for _ in 0..20 {
            // A line that is cut in the middle is one line.
            let text = line(count) + "\n";
            let (begin, end) = text.split_at(text.len() / 2);
            file.write_all(begin.as_bytes()).unwrap();
            if count % 20 == 10 {
                far.cut();
            }
            file.write_all(end.as_bytes()).unwrap();
            count += 1;
        }
        wait_until(&format!("all is shown after cut {cut}"), || {
            words(&out).len() >= count
        });
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(words(&out), (0..count).collect::<Vec<_>>());
}

#[test]
fn a_file_here_comes_before_a_host() {
    let far = Far::pipe();
    fs::write(far.home().join("box:a.jsonl"), line(0)).unwrap();
    let shown = |name: &str| {
        let output = far.tv(&["stats", "--json", name]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["path"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(shown("box:a.jsonl"), "./box:a.jsonl");
    fs::write(far.home().join("a.jsonl"), line(1)).unwrap();
    fs::remove_file(far.home().join("box:a.jsonl")).unwrap();
    let home = far.home().canonicalize().unwrap();
    assert!(shown("box:a.jsonl").ends_with("/a.jsonl"));
    assert_eq!(
        shown("box:~/a.jsonl"),
        format!("box:{}/a.jsonl", home.display())
    );
    assert!(
        far.refusal(&["stats", "./box:a.jsonl"])
            .contains("no such file")
    );
    // ssh would take it for an option.
    let refusal = far.refusal(&["stats", "--", "-oProxyCommand=touch${IFS}x:a"]);
    assert!(refusal.contains("does not begin with -"), "{refusal}");
}

#[test]
fn lists_and_sums_are_those_of_the_far_agents() {
    let far = Far::pipe();
    let folder = far.home().join(".claude/projects/-w");
    for number in 0..3 {
        far.place(number, 1);
    }
    let written = |arguments: &[&str]| {
        let output = far.tv(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?} {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let plain = |text: String| text.replace("box:/", "/");
    assert_eq!(written(&["list", "--json"]).lines().count(), 3);
    assert_eq!(
        plain(written(&["list", "--json", "box:"])),
        written(&["list", "--json"])
    );
    assert_eq!(
        written(&["usage", "box:", "--json"]),
        written(&["usage", "--json"])
    );
    assert_eq!(
        written(&["grep", "-l", "word 10000", "box:"])
            .lines()
            .count(),
        1
    );
    assert_eq!(written(&["stats", "--json", "box:"]).lines().count(), 3);
    assert!(written(&["brief", "box:00000002"]).contains("word 20000"));
    let both = written(&[
        "top",
        "--once",
        "--json",
        "--since",
        "9999d",
        "box:",
        &folder.display().to_string(),
    ]);
    assert_eq!(both.lines().count(), 6, "{both}");
}

/// Questions that are answered: each waits for a way there and back.
fn questions(asked: &[u8]) -> usize {
    let (mut rest, mut count) = (asked, 0);
    while let Some((len, frame)) = rest.split_first_chunk::<4>() {
        let len = u32::from_le_bytes(*len) as usize;
        count += usize::from(frame[..4] != [0xff; 4]);
        rest = &frame[len..];
    }
    count
}

#[test]
fn many_sessions_take_few_questions() {
    let far = Far::over(
        "while [ \"$1\" != -- ]; do shift; done; shift 2; tee \"$HOME/asked\" | sh -c \"$*\"",
    );
    // One of ten is longer than a beginning; four come whole as it is as long as what the probe reads.
    for number in 0..100 {
        let lines = match number % 10 {
            0 => 2_000,
            1..=4 => 500,
            _ => 20,
        };
        far.place(number, lines);
    }
    for (arguments, most) in [
        (&["list", "--json", "box:"][..], 250),
        (&["usage", "--json", "box:"], 300),
        (&["grep", "-l", "no such word", "box:"], 250),
        (&["stats", "--json", "box:"], 450),
    ] {
        far.tv(arguments);
        let asked = questions(&fs::read(far.home().join("asked")).unwrap());
        assert!((50..most).contains(&asked), "{arguments:?}: {asked}");
    }
}

#[test]
fn a_container_is_reached_by_docker() {
    let far = Far::over("exit 1");
    far.place(1, 1);
    let folder = far.home().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let docker = folder.join("docker");
    let script = "#!/bin/sh\necho \"$@\" > \"$HOME/said\"\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\nexec \"$@\"\n";
    fs::write(&docker, script).unwrap();
    fs::set_permissions(&docker, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let output = far
        .command(&["list", "--json", "docker:agent:"])
        .env("PATH", path)
        .output()
        .unwrap();
    let rows = String::from_utf8(output.stdout).unwrap();
    assert!(
        rows.contains("\"path\":\"docker:agent:/"),
        "{rows} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = fs::read_to_string(far.home().join("said")).unwrap();
    assert!(said.starts_with("exec -i -- agent sh -c exec "), "{said}");
}

#[test]
fn ssh_is_called_so_that_nobody_is_asked() {
    let far = Far::over("echo \"$@\" > \"$HOME/said\"; exit 255");
    far.refusal(&["stats", "u@box:/a.jsonl"]);
    let said = fs::read_to_string(far.home().join("said")).unwrap();
    assert!(said.starts_with("-T -o BatchMode=yes "), "{said}");
    assert!(said.contains(" -- u@box "), "{said}");
}

#[test]
fn a_host_that_cannot_be_reached_is_a_row() {
    let far = Far::over("echo 'ssh: no way there' >&2; exit 255");
    let output = far.tv(&["top", "--once", "box:"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("box:") && text.contains("no way there"),
        "{text}"
    );
    assert!(!text.contains("generic"), "{text}");
    let refusal = far.refusal(&["stats", "box:/a.jsonl"]);
    assert!(refusal.contains("no way there"), "{refusal}");
}

#[test]
fn a_silent_host_is_tried_again_and_another_version_is_told() {
    // Silent at first, then a greeting of another tv, which is silent, too.
    let far = Far::over(&format!(
        "echo >> \"$HOME/tried\"; [ $(wc -l < \"$HOME/tried\") = 1 ] && exec sleep 60; {}; exec sleep 60",
        greeting()
    ));
    let mut child = far
        .command(&["top", "--json", "box:"])
        .env("TV_SSH_PATIENCE", "1")
        .stdout(fs::File::create(far.home().join("out")).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let tried = || {
        let tried = fs::read_to_string(far.home().join("tried"));
        tried.map_or(0, |tried| tried.lines().count())
    };
    wait_until("it is tried again", || tried() > 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let out = fs::read_to_string(far.home().join("out")).unwrap();
    assert!(out.contains("does not answer"), "{out}");
    let output = far
        .command(&["stats", "box:/a.jsonl"])
        .env("TV_SSH_PATIENCE", "1")
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("box has tv x, this is"), "{told}");
}

/// Writes a greeting of protocol 2, version "x", without a home.
fn greeting() -> String {
    "printf 'tv serve\\n\\012\\0\\0\\0\\0\\0\\0\\0\\002\\0\\001x\\0\\0'".to_owned()
}

#[test]
fn malformed_messages_are_bounded_and_told() {
    let magic = "printf 'tv serve\\n'";
    let greeting = greeting();
    for (script, said) in [
        (
            "echo Welcome to \"$(printf '\\033')]0;box\"; sleep 60",
            "no greeting of tv",
        ),
        ("head -c 100000000 /dev/zero", "no greeting of tv"),
        (
            &format!(
                "{}; sleep 60",
                greeting.replace("\\002\\0\\001x", "\\001\\0\\001x")
            ),
            "its tv speaks version 1 of the protocol, this one 2; install the same tv there",
        ),
        (
            &format!("{magic}; printf '\\377\\377\\377\\377'; sleep 60"),
            "no message of tv",
        ),
        (
            &format!("{magic}; printf '\\001\\0\\0\\0'; sleep 60"),
            "no message of tv",
        ),
        (
            &format!("{magic}; printf '\\006\\0\\0\\0\\0\\0\\0\\0\\007\\0'; sleep 60"),
            "version 7",
        ),
        (
            &format!("{greeting}; printf '\\377\\377\\377\\177'; sleep 60"),
            "no message of tv",
        ),
        (&format!("{greeting}; cat >/dev/null"), "does not answer"),
        ("sleep 60", "does not answer"),
        ("exit 127", "cut"),
    ] {
        let far = Far::over(script);
        let refusal = far.refusal(&["stats", "box:/a.jsonl"]);
        assert!(refusal.contains(said), "{script}: {refusal}");
        assert!(!refusal.contains('\u{1b}'), "{refusal}");
    }
}

#[test]
fn the_far_side_reads_what_tv_reads_and_no_more() {
    let far = Far::pipe();
    let other = tempfile::tempdir().unwrap();
    let secret = other.path().join("secret/folder/deep/key.jsonl");
    fs::create_dir_all(secret.parent().unwrap()).unwrap();
    fs::write(&secret, line(0)).unwrap();
    let session = far.home().join("work/runs/one/a.jsonl");
    fs::create_dir_all(session.parent().unwrap()).unwrap();
    fs::write(&session, line(0)).unwrap();
    // A link beside a session leads nowhere else.
    let beside = far.home().join("work/runs/one/a/subagents");
    fs::create_dir_all(&beside).unwrap();
    std::os::unix::fs::symlink(&secret, beside.join("agent-x.jsonl")).unwrap();
    let trace = far.home().join("trace");
    let has_strace = Command::new("strace").arg("-V").output().is_ok();
    let far = Far {
        tv: if has_strace {
            let calls = "open,openat,creat,rename,unlink,mkdir,chmod,truncate";
            format!(
                "strace -f -e trace={calls} -o {} {}",
                trace.display(),
                far.tv
            )
        } else {
            say("no strace: which files are opened is not looked at");
            far.tv
        },
        ..far
    };
    let output = far.tv(&["show", "box:work/runs/one/a.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    if has_strace {
        let trace = fs::read_to_string(&trace).unwrap();
        assert!(trace.contains("work/runs/one/a.jsonl"), "{trace}");
        for line in trace.lines().filter(|line| !line.contains("= -1")) {
            let writes = [
                "O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "creat(", "rename", "unlink", "mkdir",
                "chmod", "truncate",
            ];
            assert!(!writes.iter().any(|word| line.contains(word)), "{line}");
        }
    }
}

/// An sshd of this test's own, with keys of its own.
struct Sshd {
    folder: TempDir,
    server: Child,
    port: u16,
}

impl Sshd {
    fn start() -> Option<Self> {
        let program = Path::new("/usr/sbin/sshd");
        if !program.is_file() {
            say("no sshd: sessions over a real ssh are not tested");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        for name in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &path(name)])
                .status();
            assert!(made.unwrap().success());
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n",
            path("host"),
            path("user.pub")
        );
        fs::write(path("config"), config).unwrap();
        // It wants a folder to lock itself in, which a package's start makes.
        let _ = fs::create_dir_all("/run/sshd");
        let server = Command::new(program)
            .args(["-D", "-e", "-f", &path("config")])
            .stderr(fs::File::create(path("log")).unwrap())
            .spawn()
            .unwrap();
        let sshd = Self {
            folder,
            server,
            port,
        };
        let start = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if start.elapsed() > Duration::from_secs(5) {
                let log = sshd.folder.path().join("log");
                let log = fs::read_to_string(log).unwrap_or_default();
                say(&format!(
                    "sshd does not start ({}): not tested over a real ssh",
                    log.trim()
                ));
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(sshd)
    }

    fn far(&self) -> Far {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        Far {
            ssh: format!(
                "ssh -F none -p {} -i {} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
                self.port,
                path("user"),
            ),
            ..Far::pipe()
        }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn over_a_real_ssh_it_is_the_same() {
    let Some(sshd) = Sshd::start() else { return };
    let far = sshd.far();
    let all = fixtures::all();
    let name = |path: &PathBuf| format!("127.0.0.1:{}", path.display());
    let there: Vec<String> = all.iter().map(name).collect();
    let here: Vec<String> = all.iter().map(|path| path.display().to_string()).collect();
    let stats = |names: &[String]| {
        let arguments: Vec<&str> = ["stats", "--json"]
            .into_iter()
            .chain(names.iter().map(String::as_str))
            .collect();
        let output = far.tv(&arguments);
        String::from_utf8(output.stdout)
            .unwrap()
            .replace("127.0.0.1:/", "/")
    };
    let (here, there) = (stats(&here), stats(&there));
    assert!(here.lines().count() > 100);
    assert_eq!(here, there);
}
