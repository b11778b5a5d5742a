//! Waits for a child process that has the terminal.
//!
//! Invariant: a signal that ends this program is handled at once, not after the child's end.

use std::io;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, select_biased};
use rustix::io::Errno;
use rustix::process::{Pid, Signal as Kill, WaitId, WaitIdOptions, kill_process, waitid};

use super::input::Signal;

/// How long the child may take to restore the terminal after the signal was passed on.
const GRACE: Duration = Duration::from_millis(150);

#[derive(Debug)]
pub enum ChildExit {
    /// The child exited, or could not be started.
    Exited(io::Result<ExitStatus>),
    /// This program is to exit with this code. The child was sent the same signal.
    Interrupted(u8),
}

/// Waits for a child process, or for a signal.
pub(crate) fn wait(child: io::Result<Child>, signals: &Receiver<Signal>) -> ChildExit {
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return ChildExit::Exited(Err(error)),
    };
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return ChildExit::Exited(child.wait());
    };
    let ended = end_of(pid);
    loop {
        select_biased! {
            recv(ended) -> _ => return ChildExit::Exited(child.wait()),
            recv(signals) -> signal => match signal {
                Ok(Signal::End(code)) => {
                    let kind = i32::from(code) - 128;
                    let _ = kill_process(pid, Kill::from_named_raw(kind).unwrap_or(Kill::TERM));
                    let _ = ended.recv_timeout(GRACE);
                    return ChildExit::Interrupted(code);
                }
                // The screen is measured when the terminal is taken back.
                Ok(Signal::Resize | Signal::Suspend) => {}
                Err(_) => return ChildExit::Exited(child.wait()),
            },
        }
    }
}

/// Sends when the process has exited. The process is not reaped, so its id is not reused before
/// [`Child::wait`].
fn end_of(pid: Pid) -> Receiver<()> {
    let (done, ended) = bounded(1);
    std::thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
        let _ = done.send(());
    });
    ended
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::process::{Command, Stdio};

    use crossbeam_channel::unbounded;

    use super::{ChildExit, wait};
    use crate::runtime::input::Signal;

    fn sh(script: &str) -> io::Result<std::process::Child> {
        Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::null())
            .spawn()
    }

    #[test]
    fn its_end_is_awaited() {
        let (_send, signals) = unbounded();
        let ChildExit::Exited(Ok(status)) = wait(sh("exit 7"), &signals) else {
            panic!("it ends")
        };
        assert_eq!(status.code(), Some(7));
        let missing = wait(Command::new("/no/such/program").spawn(), &signals);
        assert!(matches!(missing, ChildExit::Exited(Err(_))));
    }

    #[test]
    fn a_signal_is_not_kept_waiting_by_a_program_that_does_not_end() {
        for script in ["exec sleep 1000", "trap '' TERM; sleep 5"] {
            let (send, signals) = unbounded();
            send.send(Signal::Resize).unwrap();
            send.send(Signal::End(143)).unwrap();
            assert!(matches!(
                wait(sh(script), &signals),
                ChildExit::Interrupted(143)
            ));
        }
    }
}
