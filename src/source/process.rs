//! Whether a process runs: some agents leave the number of theirs beside a session.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Whether a process with this number runs, whoever owns it.
pub(crate) fn is_running(number: i64) -> bool {
    let pid = i32::try_from(number).ok().filter(|number| *number > 0).and_then(Pid::from_raw);
    pid.is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
}

#[cfg(test)]
mod tests {
    use super::is_running;

    #[test]
    fn this_process_runs() {
        assert!(is_running(i64::from(std::process::id())));
        assert!(![0, -1, i64::from(i32::MAX), i64::MAX].into_iter().any(is_running));
    }
}
