//! The connection to a host: it is made, kept, made again after a cut, and told what arrives.

use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use crossbeam_channel::bounded;

use super::{Host, NEWS, Transport, transport, watch_these};
use crate::source::wire::{
    EVENT, Greeting, LONGEST_GREETING, MAGIC, PROTOCOL, Reply, UNANSWERED, WireChange, WireRequest,
    bytes_of, decoded, malformed, path_of, read_frame, read_frame_within,
};

/// This version.
const OWN: &str = env!("CARGO_PKG_VERSION");
/// Pauses between tries to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LAST_PAUSE: Duration = Duration::from_secs(8);
/// How long a connection that ended may take to say why.
const LEAVE: Duration = Duration::from_millis(500);
/// Limit in bytes of the standard error of ssh and the far side that is quoted.
const LAST_WORDS: u64 = 4 << 10;
/// Characters that are quoted of something that is no greeting.
const QUOTED: usize = 60;

impl Host {
    pub(super) fn maintain_connection(&self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let why = self.connect();
            let mut state = self.lock();
            pause = if std::mem::take(&mut state.is_up) {
                FIRST_PAUSE
            } else {
                (pause * 2).min(LAST_PAUSE)
            };
            let words = why.to_string();
            for (_, pending) in state.pending.drain() {
                let _ = pending.send(Err(self.error(&words)));
            }
            state.failure = Some(words);
            state.notify_all();
            drop(state);
            self.changed.notify_all();
            thread::sleep(pause);
        }
    }

    /// Connects, and serves until the connection ends. Returns why it did.
    fn connect(&self) -> io::Error {
        let (output, errors) = match self.start() {
            Ok(pipes) => pipes,
            Err(error) => return error,
        };
        let (sender, words) = bounded(1);
        thread::spawn(move || sender.send(last_error_line(errors)));
        let ended = self.read(&mut BufReader::new(output));
        // What ends by itself says why.
        *self.input.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let said = words.recv_timeout(LEAVE).unwrap_or_default();
        let why = {
            let mut state = self.lock();
            state.end(None);
            state.ended.take().unwrap_or("the connection is cut")
        };
        match ended {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !said.is_empty() => {
                io::Error::other(said)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => io::Error::other(why),
            Err(error) => error,
            Ok(never) => match never {},
        }
    }

    fn start(&self) -> io::Result<(ChildStdout, ChildStderr)> {
        let mut command = self.command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .spawn()
            .map_err(|error| io::Error::other(format!("{program} cannot be run ({error})")))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut state = self.lock();
        state.child = Some(child);
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(malformed());
        };
        *self.input.lock().unwrap_or_else(PoisonError::into_inner) = Some(input);
        Ok((output, errors))
    }

    fn command(&self) -> Command {
        let Transport { ssh, tv, .. } = transport();
        if let Some(container) = self.name.strip_prefix("docker:") {
            let mut command = Command::new("docker");
            command.args(["exec", "-i", "--", container, "sh", "-c"]);
            command.arg(format!("exec {tv} serve --stdio"));
            return command;
        }
        let mut command = Command::new(ssh.first().map_or("ssh", String::as_str));
        command.args(ssh.iter().skip(1));
        // Nobody can answer a question of ssh; and a dead connection is noticed in 15 seconds.
        command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
        command.args(["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"]);
        let name = self.name.replace(['[', ']'], "");
        command.arg("--").arg(name);
        command.arg(format!("{tv} serve --stdio"));
        command
    }

    /// Reads the greeting, then answers and events, until the end.
    fn read(&self, output: &mut impl BufRead) -> io::Result<std::convert::Infallible> {
        let greeting = read_greeting(output)?;
        let (permitted, watches) = {
            let state = self.lock();
            let watches = state.watches.iter();
            let watches = watches.map(|(watch, watched)| (*watch, watched.paths.clone()));
            (state.permitted.clone(), watches.collect::<Vec<_>>())
        };
        for path in permitted {
            self.write(UNANSWERED, &WireRequest::Permit(bytes_of(&path)))?;
        }
        for (watch, paths) in watches {
            self.write(UNANSWERED, &watch_these(watch, &paths, true))?;
        }
        {
            let mut state = self.lock();
            let known = state.greeting.as_ref().map(|greeting| &greeting.version);
            if known != Some(&greeting.version) && greeting.version != OWN {
                let words = format!("{} has tv {}, this is {OWN}", self.name, greeting.version);
                let _ = NEWS.0.send(words.escape_debug().to_string());
            }
            (state.greeting, state.ended) = (Some(greeting), None);
            state.generation += 1;
            self.events.fetch_add(1, Ordering::AcqRel);
            (state.is_up, state.failure) = (true, None);
            state.notify_all();
        }
        self.changed.notify_all();
        while let Some((number, frame)) = read_frame(output)? {
            if number == EVENT {
                self.events.fetch_add(1, Ordering::AcqRel);
                self.dispatch_event(decoded(&frame)?);
            } else if let Some(pending) = self.lock().pending.remove(&number) {
                let _ = pending.send(Reply::read(frame));
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    fn dispatch_event(&self, event: WireChange) {
        let state = self.lock();
        let Some(watched) = state.watches.get(&event.watch) else {
            return;
        };
        let paths = event
            .paths
            .into_iter()
            .filter_map(|path| path_of(path).ok());
        let paths: Vec<PathBuf> = paths.map(|path| self.path(&path)).collect();
        (watched.wake)(paths, event.everything);
    }
}

/// Reads what comes before the first answer.
pub(super) fn read_greeting(output: &mut impl BufRead) -> io::Result<Greeting> {
    let mut magic = Vec::new();
    output.take(MAGIC.len() as u64).read_to_end(&mut magic)?;
    if magic.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if magic != MAGIC {
        magic.extend_from_slice(output.fill_buf().unwrap_or_default());
        let said: String = String::from_utf8_lossy(&magic)
            .chars()
            .take(QUOTED)
            .collect();
        let said = said.escape_debug();
        let what = format!("no greeting of tv, but \"{said}\": its shell must write nothing");
        return Err(io::Error::other(what));
    }
    let (_, frame) =
        read_frame_within(output, LONGEST_GREETING)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let (protocol, rest) = frame.split_first_chunk::<2>().ok_or_else(malformed)?;
    let protocol = u16::from_le_bytes(*protocol);
    if protocol != PROTOCOL {
        let what = format!(
            "its tv speaks version {protocol} of the protocol, this one {PROTOCOL}; install the same tv there"
        );
        return Err(io::Error::other(what));
    }
    decoded(rest)
}

/// The last line that ssh or the far side wrote on standard error.
fn last_error_line(errors: ChildStderr) -> String {
    let mut said = Vec::new();
    let mut errors = errors;
    let _ = errors.by_ref().take(LAST_WORDS).read_to_end(&mut said);
    // It must not wait for a reader.
    let _ = io::copy(&mut errors, &mut io::sink());
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or_default().to_owned()
}
