//! Tests of settings that cannot be parsed: every command reports them with their position, and
//! runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::TV;
use crate::pty::{Console, session};

/// The files of settings, below the folder that `XDG_CONFIG_HOME` names.
const FILES: [&str; 4] = [
    "config.toml",
    "prices.json",
    "formats/mine.toml",
    "themes/mine.toml",
];

/// A reader with a session and a folder of settings.
struct Reader {
    dir: tempfile::TempDir,
    session: PathBuf,
}

impl Reader {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        for folder in ["conf/tv/formats", "conf/tv/themes", "home"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let session = session(dir.path());
        Self { dir, session }
    }

    fn settings(&self, name: &str) -> PathBuf {
        self.dir.path().join("conf/tv").join(name)
    }

    /// Exit code and both outputs; a command that waits is ended, and the test fails.
    #[track_caller]
    fn run(&self, before: &[&str], arguments: &[&str]) -> (Option<i32>, String, String) {
        let all = [before, &[TV], arguments].concat();
        let mut command = Command::new(all[0]);
        command
            .args(&all[1..])
            .current_dir(self.dir.path())
            .env_clear()
            .stdin(Stdio::null());
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C.UTF-8");
        command.env("HOME", self.dir.path().join("home"));
        command.env("XDG_CONFIG_HOME", self.dir.path().join("conf"));
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        // The outputs are short enough for a pipe, but for the manual, which is read at once.
        let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let reading =
            std::thread::spawn(move || std::io::read_to_string(&mut out).unwrap_or_default());
        let errors =
            std::thread::spawn(move || std::io::read_to_string(&mut err).unwrap_or_default());
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > Duration::from_secs(20) {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{arguments:?} waits");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        (
            status.code(),
            reading.join().unwrap(),
            errors.join().unwrap(),
        )
    }

    fn commands(&self) -> Vec<Vec<&str>> {
        let file = self.session.to_str().unwrap();
        vec![
            vec!["--version"],
            vec!["--help"],
            vec!["help"],
            vec!["help", "settings"],
            vec!["man"],
            vec!["completions", "bash"],
            vec!["keys"],
            vec!["themes"],
            vec!["formats"],
            vec!["list"],
            vec!["top", "--once"],
            vec!["grep", "FIRST"],
            vec!["usage"],
            vec!["doctor"],
            vec![file],
            vec!["show", file],
            vec!["brief", file],
            vec!["stats", file],
            vec!["check", file],
            vec!["doctor", file],
        ]
    }
}

/// Puts something in the place of a file.
type Fault = fn(&Path);

const FAULTS: [(&str, Fault); 7] = [
    ("no UTF-8", |path| {
        fs::write(path, b"# first\n# caf\xe9\n").unwrap();
    }),
    ("larger than 1 MiB", |path| {
        fs::write(path, vec![b'#'; (1 << 20) + 1]).unwrap();
    }),
    ("a named pipe", |path| {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }),
    ("a device", |path| symlink("/dev/zero", path).unwrap()),
    ("a folder", |path| fs::create_dir(path).unwrap()),
    ("a link that leads nowhere", |path| {
        symlink("nowhere", path).unwrap();
    }),
    ("symbolic links", |path| {
        symlink(path.file_name().unwrap(), path).unwrap();
    }),
];

fn remove(path: &Path) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
}

#[test]
fn every_command_says_which_settings_it_could_not_use_and_goes_on() {
    let reader = Reader::new();
    let sound: Vec<_> = reader
        .commands()
        .iter()
        .map(|command| reader.run(&[], command))
        .collect();
    assert!(
        sound.iter().all(|(_, _, said)| !said.contains("conf/tv")),
        "{sound:?}"
    );
    for (words, fault) in FAULTS {
        for name in FILES {
            fault(&reader.settings(name));
        }
        for (command, (code, written, _)) in reader.commands().iter().zip(&sound) {
            let (now, out, said) = reader.run(&[], command);
            assert_eq!(now, *code, "{words}: {command:?}: {said}");
            // A theme that nobody chose is told where themes are listed.
            let unread = &FILES[..3];
            for name in unread {
                let is_told = |line: &str| line.contains(name) && line.contains(words);
                assert!(
                    said.lines().any(is_told),
                    "{words}: {command:?} does not name {name}: {said}"
                );
            }
            assert_eq!(
                said.lines().filter(|line| line.contains("conf/tv")).count(),
                3,
                "{command:?}: {said}"
            );
            if command[..] == ["themes"] {
                assert!(
                    out.matches("themes/mine.toml").count() == 1 && out.contains(words),
                    "{out}"
                );
            } else if !command.contains(&"top") {
                assert_eq!(&out, written, "{words}: {command:?}");
            }
        }
        for name in FILES {
            remove(&reader.settings(name));
        }
    }
}

#[test]
fn a_theme_that_was_chosen_and_cannot_be_read_is_told() {
    for (words, fault) in FAULTS {
        let reader = Reader::new();
        fs::write(reader.settings("config.toml"), "theme = \"mine\"\n").unwrap();
        fault(&reader.settings("themes/mine.toml"));
        let (code, _, said) = reader.run(&[], &["keys"]);
        assert_eq!(code, Some(0));
        assert!(said.contains("themes/mine.toml"), "{said}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn prices_that_are_none_are_told_and_leave_the_rest() {
    let reader = Reader::new();
    let file = reader.session.to_str().unwrap();
    for price in ["-5", "nan", "-inf", "inf", "1e300", "\"3\"", "true", "-0.5"] {
        let text = format!(
            "[prices.a]\ninput = 1\noutput = 2\n\n[prices.b]\ninput = {price}\noutput = 1\n"
        );
        fs::write(reader.settings("config.toml"), text).unwrap();
        for command in [&["help"][..], &["stats", file], &["usage"]] {
            let (_, _, said) = reader.run(&[], command);
            assert!(
                said.contains("conf/tv/config.toml:6:9: "),
                "{price}: {command:?}: {said}"
            );
        }
    }
    remove(&reader.settings("config.toml"));
    let table = |model: &str| {
        format!(
            "{{\"date\": \"2026-01-01\", \"models\": {{\n\"a\": {{\"input\": 1, \"output\": 2}},\n\"b\": {model}\n}}}}"
        )
    };
    for (model, words) in [
        ("{\"input\": -5, \"output\": 1}", "b are not used: input"),
        ("{\"input\": 5, \"output\": 1.5}", "b are not used: output"),
        (
            "{\"input\": 5, \"output\": 1, \"cache_read\": -1}",
            "b are not used: cache_read",
        ),
        (
            "{\"input\": 5, \"output\": 1, \"window\": \"large\"}",
            "b are not used: window",
        ),
        (
            "{\"input\": 5, \"output\": 18446744073709551615}",
            "b are not used: output",
        ),
        (
            "{\"input\": 5, \"output\": 1, \"above\": {\"200000\": {\"input\": -1}}}",
            "above.200000.input",
        ),
        ("{\"output\": 1}", "input and output are wanted"),
        ("{\"input\": 5, \"output\": NaN}", "no JSON"),
        ("7", "input and output are wanted"),
    ] {
        fs::write(reader.settings("prices.json"), table(model)).unwrap();
        for command in [&["help"][..], &["stats", file], &["usage"]] {
            let (code, _, said) = reader.run(&[], command);
            assert!(
                said.contains("conf/tv/prices.json:3:") && said.contains(words),
                "{model}: {said}"
            );
            assert_ne!(code, Some(2));
        }
    }
    fs::write(
        reader.settings("prices.json"),
        table("{\"input\": 5, \"output\": 1}"),
    )
    .unwrap();
    assert_eq!(reader.run(&[], &["help"]).2, "");
}

#[test]
fn mistakes_without_number_are_told_in_few_lines_and_at_once() {
    let reader = Reader::new();
    let lines: Vec<String> = (0..60_000)
        .map(|number| format!("x{number} = 1\n"))
        .collect();
    fs::write(reader.settings("config.toml"), lines.concat()).unwrap();
    let models: Vec<String> = (0..40_000)
        .map(|number| format!("\"m{number}\": 1"))
        .collect();
    let table = format!(
        "{{\"date\": \"2026-01-01\", \"models\": {{{}}}}}",
        models.join(",\n")
    );
    fs::write(reader.settings("prices.json"), table).unwrap();
    let names: Vec<String> = (0..150_000).map(|_| "\"x\",".to_owned()).collect();
    let begun = Instant::now();
    let (code, _, said) = reader.run(&[], &["help"]);
    assert_eq!(code, Some(0));
    assert!(
        said.lines().count() < 40 && said.contains("and 59984 more"),
        "{said}"
    );
    fs::write(
        reader.settings("config.toml"),
        format!("[keys]\nnext = [{}]\n", names.concat()),
    )
    .unwrap();
    let (_, _, said) = reader.run(&[], &["keys"]);
    assert!(
        said.contains("config.toml:2:") && said.contains("at most 16"),
        "{said}"
    );
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

/// What an ordinary user may not read.
#[test]
fn settings_without_permission_are_told() {
    const ORDINARY: [&str; 4] = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let reader = Reader::new();
    let before: &[&str] = if super::is_root() { &ORDINARY } else { &[] };
    if !before.is_empty() {
        let mut probe = Command::new(before[0]);
        probe
            .args(&before[1..])
            .args([TV, "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if !probe.status().is_ok_and(|status| status.success()) {
            return;
        }
    }
    let file = reader.session.to_str().unwrap();
    let close = |path: &Path, mode: u32| {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    for name in FILES {
        fs::write(reader.settings(name), "").unwrap();
        close(&reader.settings(name), 0);
    }
    for command in [&["help"][..], &["stats", file], &["list"]] {
        let (_, _, said) = reader.run(before, command);
        for name in &FILES[..3] {
            let is_told = |line: &str| line.contains(name) && line.contains("Permission denied");
            assert!(said.lines().any(is_told), "{command:?}: {name}: {said}");
        }
    }
    // One sentence for a folder, whatever would be in it.
    close(&reader.settings(""), 0);
    for command in [&["help"][..], &["stats", file], &["list"]] {
        let (_, _, said) = reader.run(before, command);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.contains("conf/tv") && said.contains("Permission denied"),
            "{said}"
        );
    }
    close(&reader.settings(""), 0o755);
}

#[test]
fn the_viewer_says_so_in_its_own_line_too() {
    let reader = Reader::new();
    fs::write(reader.settings("config.toml"), b"level = 2\n# caf\xe9\n").unwrap();
    let folder = reader.dir.path().join("conf");
    let environment = [("XDG_CONFIG_HOME", folder.to_str().unwrap())];
    let mut console = Console::start(&[reader.session.to_str().unwrap()], &environment);
    console.wait_for("FIRST ANSWER");
    console.wait_for("config.toml:2:6");
    console.send("Q");
    assert_eq!(console.wait_for_exit(), 0);
    console.assert_restored();
}
