//! Tests of faults in a session file, in the system, and by other programs that use both: none may
//! stop the viewer, hide a record or leave a trace on disk. Plain appends and replacements are
//! tested in `follow`, databases in `rows`.

mod fits;
mod insertion;
mod kinds;
mod links;
mod overlays;
mod records;
mod references;
mod replays;
mod screen;
mod settings;
mod several;
mod sizes;
#[cfg(feature = "sqlite")]
mod stores;
mod surroundings;
mod trace;
mod unknown;
mod watched;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::pty::Console;

const TV: &str = env!("CARGO_BIN_EXE_tv");

/// A program of the system in front of this one, which replaces itself by what follows.
#[derive(Clone, Copy, Debug)]
struct Wrapper(&'static [&'static str]);

/// What is left of the arguments sees the folder of the second one as it is, but can write nothing to it.
const READ_ONLY: Wrapper = Wrapper(&[
    "unshare",
    "-U",
    "-r",
    "-m",
    "sh",
    "-c",
    "test -n \"$2\" || exec \"$0\"; d=$(dirname \"$2\"); mount --bind \"$d\" \"$d\" && \
     mount -o remount,ro,bind \"$d\" && ! touch \"$d/x\" 2>/dev/null && exec \"$0\" \"$@\"",
]);

impl Wrapper {
    /// The command in front of another one, unless this system does not let it be done.
    #[expect(
        clippy::print_stdout,
        reason = "the reason of a skipped test is for who runs it"
    )]
    fn before(self, command: &[&str]) -> Option<Vec<String>> {
        let (program, rest) = self.0.split_first()?;
        let works = Command::new(program)
            .args(rest)
            .arg("true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !works {
            println!("skipped: `{}` does not work here", self.0.join(" "));
        }
        works.then(|| {
            self.0
                .iter()
                .chain(command)
                .map(ToString::to_string)
                .collect()
        })
    }

    /// The viewer behind it.
    fn view(self, arguments: &[&str]) -> Option<Console> {
        let command = self.before(&[&[TV], arguments].concat())?;
        let (program, rest) = command.split_first()?;
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        Some(Console::run(program, &rest, &[]))
    }
}

/// A number from `/proc`; nothing on systems without it.
fn figure(process: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| {
        line.strip_prefix(name)?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    })
}

/// The most memory a process ever had, in KB.
fn peak(process: u32) -> u64 {
    figure(process, "VmHWM:").unwrap_or(0)
}

/// How many files a process has open, and how many threads.
fn handles(process: u32) -> (usize, usize) {
    let count =
        |name: &str| fs::read_dir(format!("/proc/{process}/{name}")).map_or(0, Iterator::count);
    (count("fd"), count("task"))
}

/// How often threads of a process went to sleep so far, and the ticks for which they ran. Whoever waits
/// in the right way does little of both.
fn work(process: u32) -> (u64, u64) {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return (0, 0);
    };
    let paths: Vec<_> = threads.flatten().map(|thread| thread.path()).collect();
    let switches = |path: &Path| -> u64 {
        let status = fs::read_to_string(path.join("status")).unwrap_or_default();
        let of = |line: &str| {
            line.strip_prefix("voluntary_ctxt_switches:")?
                .trim()
                .parse::<u64>()
                .ok()
        };
        status.lines().find_map(of).unwrap_or(0)
    };
    let ticks = |path: &Path| -> u64 {
        let stat = fs::read_to_string(path.join("stat")).unwrap_or_default();
        let fields = stat
            .rsplit(") ")
            .next()
            .unwrap_or_default()
            .split(' ')
            .skip(11)
            .take(2);
        fields.filter_map(|field| field.parse::<u64>().ok()).sum()
    };
    (
        paths.iter().map(|path| switches(path)).sum(),
        paths.iter().map(|path| ticks(path)).sum(),
    )
}

/// A second in which nothing happens must cost next to nothing.
#[track_caller]
fn assert_idle(process: u32) {
    let (slept, ran) = work(process);
    std::thread::sleep(std::time::Duration::from_secs(1));
    let (slept_now, ran_now) = work(process);
    let (slept, ran) = (slept_now.saturating_sub(slept), ran_now.saturating_sub(ran));
    assert!(
        slept < 150 && ran < 30,
        "in a second it woke {slept} times and ran for {ran} of 100 ticks"
    );
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
