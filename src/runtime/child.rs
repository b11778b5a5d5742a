//! A program that has the terminal: it is waited for, and so is a signal that ends this one.
//!
//! Invariant: whoever wants this program to end does not wait for the other one.

use std::io;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded, select_biased};
use rustix::io::Errno;
use rustix::process::{Pid, Signal as Kill, WaitId, WaitIdOptions, kill_process, waitid};

use super::input::Signal;

/// So long a program that is to end may put its affairs in order, and the terminal.
const GRACE: Duration = Duration::from_millis(150);

/// What came first.
#[derive(Debug)]
pub enum Outcome {
    /// The program ended, or could not be started.
    Ended(io::Result<ExitStatus>),
    /// This one is to end with this exit code. The program was sent the same signal.
    Over(u8),
}

/// Waits for the program.
pub(crate) fn wait(child: io::Result<Child>, signals: &Receiver<Signal>) -> Outcome {
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Outcome::Ended(Err(error)),
    };
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return Outcome::Ended(child.wait());
    };
    let ended = end_of(pid);
    loop {
        select_biased! {
            recv(ended) -> _ => return Outcome::Ended(child.wait()),
            recv(signals) -> signal => match signal {
                Ok(Signal::End(code)) => {
                    let kind = i32::from(code) - 128;
                    let _ = kill_process(pid, Kill::from_named_raw(kind).unwrap_or(Kill::TERM));
                    let _ = ended.recv_timeout(GRACE);
                    return Outcome::Over(code);
                }
                // The screen is measured when it is taken back.
                Ok(Signal::Resize | Signal::Suspend) => {}
                Err(_) => return Outcome::Ended(child.wait()),
            },
        }
    }
}

/// Sends when the process has ended. It is not asked for its exit code, so its number stays its own until then.
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

    use super::{Outcome, wait};
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
        let Outcome::Ended(Ok(status)) = wait(sh("exit 7"), &signals) else {
            panic!("it ends")
        };
        assert_eq!(status.code(), Some(7));
        let missing = wait(Command::new("/no/such/program").spawn(), &signals);
        assert!(matches!(missing, Outcome::Ended(Err(_))));
    }

    #[test]
    fn a_signal_is_not_kept_waiting_by_a_program_that_does_not_end() {
        for script in ["exec sleep 1000", "trap '' TERM; sleep 5"] {
            let (send, signals) = unbounded();
            send.send(Signal::Resize).unwrap();
            send.send(Signal::End(143)).unwrap();
            assert!(matches!(wait(sh(script), &signals), Outcome::Over(143)));
        }
    }
}
