//! Whether a process runs: some agents write their process id beside a session.

use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::remote;

/// Whether a process with this id runs on the machine of a path, whoever owns it.
pub(crate) fn is_running(at: &Path, number: i64) -> bool {
    is_running_since(at, number, None)
}

fn runs(number: i64) -> bool {
    let pid = i32::try_from(number)
        .ok()
        .filter(|number| *number > 0)
        .and_then(Pid::from_raw);
    pid.is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

/// Whether it runs and began then: ids are reused. Where the system does not say when a process
/// began, or the agent did not write it, the id has to do.
pub(crate) fn is_running_since(at: &Path, number: i64, start: Option<&str>) -> bool {
    if let Some((host, _)) = remote::split(at) {
        return host.is_running(number, start);
    }
    let is_other = || {
        start
            .zip(started(number))
            .is_some_and(|(start, now)| start != now)
    };
    runs(number) && !is_other()
}

/// When a process began, in ticks since boot (field 22 of `/proc/<pid>/stat`); `None` on other
/// systems.
pub(crate) fn started(number: i64) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The second field is a name, which may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_running, is_running_since, started};

    #[test]
    fn this_process_runs() {
        let is_running = |number| is_running(Path::new("/"), number);
        let is_running_since = |number, start| is_running_since(Path::new("/"), number, start);
        assert!(is_running(i64::from(std::process::id())));
        let own = i64::from(std::process::id());
        let start = started(own);
        assert!(is_running_since(own, start.as_deref()) && is_running_since(own, None));
        assert_eq!(is_running_since(own, Some("1")), start.is_none());
        assert!(
            ![0, -1, i64::from(i32::MAX), i64::MAX]
                .into_iter()
                .any(is_running)
        );
    }
}
