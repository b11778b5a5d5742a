//! A program in a pseudo-terminal: its output with timestamps, and its resource usage as
//! reported by the system.

use std::collections::VecDeque;
use std::fs;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Columns and lines in which programs are measured.
pub(crate) const SIZE: (u16, u16) = (120, 40);

/// How much of what was typed is known.
const REMEMBERED: usize = 60;

/// What a terminal answers to questions of programs.
const ANSWERS: [(&[u8], &[u8]); 7] = [
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[0c", b"\x1b[?62;22c"),
    (b"\x1b[>c", b"\x1b[>41;354;0c"),
    (b"\x1b[5n", b"\x1b[0n"),
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b]10;?", b"\x1b]10;rgb:dddd/dddd/dddd\x1b\\"),
    (b"\x1b]11;?", b"\x1b]11;rgb:1111/1111/1111\x1b\\"),
];

/// Variables that would make programs behave as they do for the person who runs this.
const UNSET: [&str; 12] = [
    "COLORFGBG",
    "COLUMNS",
    "KITTY_WINDOW_ID",
    "LESS",
    "LESSOPEN",
    "LINES",
    "NO_COLOR",
    "PAGER",
    "STY",
    "TERM_PROGRAM",
    "TMUX",
    "WEZTERM_EXECUTABLE",
];

/// A running program and its screen.
pub(crate) struct Console {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    output: Receiver<(Instant, Vec<u8>)>,
    screen: vt100::Parser,
    pub(crate) started: Instant,
    /// When its first byte came.
    pub(crate) first_byte: Option<Duration>,
    /// How many bytes came.
    pub(crate) bytes: usize,
    /// What was typed last.
    pub(crate) typed: VecDeque<String>,
    is_over: bool,
}

/// What the system says of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// The most memory it had, in MB.
    pub(crate) peak: f64,
    /// The memory that it has, in MB.
    pub(crate) rss: f64,
    pub(crate) threads: usize,
    pub(crate) fds: usize,
    /// Processor time in ms.
    pub(crate) cpu: u64,
    /// How often its threads went to sleep, or were put aside.
    pub(crate) switches: u64,
}

impl Console {
    /// Starts a program. Its home is an empty folder, so that it neither finds nor leaves anything.
    pub(crate) fn start(program: &[String], size: (u16, u16), home: &Path) -> Self {
        Self::start_in(program, size, home, &[])
    }

    /// As [`Console::start`], with more variables.
    pub(crate) fn start_in(
        program: &[String],
        size: (u16, u16),
        home: &Path,
        variables: &[(&str, &str)],
    ) -> Self {
        let pair = native_pty_system().openpty(pty_size(size)).unwrap();
        let mut command = CommandBuilder::new(&program[0]);
        command.args(&program[1..]);
        for name in UNSET {
            command.env_remove(name);
        }
        let environment = [
            ("TERM", "xterm-256color"),
            ("COLORTERM", "truecolor"),
            ("LANG", "C.UTF-8"),
        ];
        for (name, value) in environment.iter().chain(variables) {
            command.env(name, value);
        }
        command.env("TV_STATE", "off");
        command.env("HOME", home);
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if send
                    .send((Instant::now(), buffer[..count].to_vec()))
                    .is_err()
                {
                    return;
                }
            }
        });
        let screen = vt100::Parser::new(cells(size.1), cells(size.0), 0);
        let master = pair.master;
        let (first_byte, bytes, is_over) = (None, 0, false);
        let typed = VecDeque::new();
        Self {
            child,
            master,
            writer,
            output,
            screen,
            started,
            first_byte,
            bytes,
            typed,
            is_over,
        }
    }

    /// Takes what comes next, and says when it came.
    pub(crate) fn pump(&mut self, patience: Duration) -> Option<Instant> {
        match self.output.recv_timeout(patience) {
            Ok((at, bytes)) => {
                self.first_byte.get_or_insert(at - self.started);
                self.bytes += bytes.len();
                for (question, answer) in ANSWERS {
                    if memchr::memmem::find(&bytes, question).is_some() {
                        let _ = self.writer.write_all(answer);
                    }
                }
                self.screen.process(&bytes);
                Some(at)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.is_over = true;
                None
            }
        }
    }

    /// Waits until the screen is as it should be; says when that came, or `None` if it never did.
    pub(crate) fn wait(
        &mut self,
        patience: Duration,
        is_so: impl Fn(&Self) -> bool,
    ) -> Option<Instant> {
        let end = Instant::now() + patience;
        while !self.is_over && Instant::now() < end {
            let at = self.pump(Duration::from_millis(50));
            if let Some(at) = at.filter(|_| is_so(self)) {
                return Some(at);
            }
        }
        None
    }

    /// Waits until tv, which showed a session's end at `shown`, knows all of it; says when.
    pub(crate) fn known(&mut self, shown: Instant, patience: Duration) -> Option<Instant> {
        let reads = |console: &Self| console.text().contains("reading ");
        // That the rest is being read comes a little later than the newest entry.
        match self.wait(Duration::from_millis(500), reads) {
            Some(_) => self.wait(patience, |console| !reads(console)),
            None => Some(shown),
        }
    }

    /// Waits until nothing comes for so long.
    pub(crate) fn quiet(&mut self, gap: Duration) {
        let end = Instant::now() + Duration::from_secs(3);
        while !self.is_over && Instant::now() < end && self.pump(gap).is_some() {}
    }

    /// Types, and says when.
    pub(crate) fn send(&mut self, keys: &str) -> Instant {
        let at = Instant::now();
        self.typed.push_back(keys.to_owned());
        self.typed
            .drain(..self.typed.len().saturating_sub(REMEMBERED));
        let _ = self
            .writer
            .write_all(keys.as_bytes())
            .and_then(|()| self.writer.flush());
        at
    }

    /// Whether words are on the screen, also across the end of a row.
    pub(crate) fn shows(&self, words: &str) -> bool {
        let screen = self.screen.screen();
        let columns = screen.size().1.get();
        let rows: Vec<String> = screen.rows(0, columns).collect();
        rows.iter().any(|row| row.contains(words)) || rows.concat().contains(words)
    }

    /// The words on the screen.
    pub(crate) fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// The screen with its colours.
    pub(crate) fn picture(&self) -> String {
        self.screen.screen().contents_formatted()
    }

    pub(crate) fn resize(&mut self, size: (u16, u16)) {
        self.master.resize(pty_size(size)).unwrap();
        self.screen.set_size(cells(size.1), cells(size.0));
    }

    /// What the system says of the process; nothing where there is no `/proc`.
    pub(crate) fn facts(&self) -> Facts {
        let Some(pid) = self.child.process_id() else {
            return Facts::default();
        };
        let root = Path::new("/proc").join(pid.to_string());
        let status = fs::read_to_string(root.join("status")).unwrap_or_default();
        let megabytes = |name: &str| field(&status, name) as f64 * 1024.0 / 1e6;
        let stat = fs::read_to_string(root.join("stat")).unwrap_or_default();
        let times = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let ticks: u64 = times
            .skip(11)
            .take(2)
            .filter_map(|ticks| ticks.parse::<u64>().ok())
            .sum();
        let tasks = fs::read_dir(root.join("task"))
            .into_iter()
            .flatten()
            .flatten();
        let switches = tasks.map(|task| {
            let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            field(&status, "voluntary_ctxt_switches:")
                + field(&status, "nonvoluntary_ctxt_switches:")
        });
        Facts {
            peak: megabytes("VmHWM:"),
            rss: megabytes("VmRSS:"),
            threads: usize::try_from(field(&status, "Threads:")).unwrap(),
            fds: fs::read_dir(root.join("fd")).map_or(0, Iterator::count),
            // A tick is a hundredth of a second wherever Linux runs today.
            cpu: ticks * 10,
            switches: switches.sum(),
        }
    }

    /// How it ended, if it did.
    pub(crate) fn exit(&mut self) -> Option<u32> {
        self.child
            .try_wait()
            .unwrap()
            .map(|status| status.exit_code())
    }

    /// Asks it to end, waits a moment, and gives the exit code; ends it if it does not.
    pub(crate) fn quit(&mut self, keys: &str) -> Option<u32> {
        self.send(keys);
        let end = Instant::now() + Duration::from_secs(3);
        while Instant::now() < end {
            self.pump(Duration::from_millis(10));
            if let Some(code) = self.exit() {
                self.quiet(Duration::from_millis(50));
                return Some(code);
            }
        }
        None
    }

    /// What a program should have put back, and did not.
    pub(crate) fn left_behind(&self) -> Vec<&'static str> {
        let screen = self.screen.screen();
        let has_mouse = screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None;
        let found = [
            (screen.alternate_screen(), "the alternate screen"),
            (screen.hide_cursor(), "a hidden cursor"),
            (screen.bracketed_paste(), "bracketed paste"),
            (has_mouse, "the mouse"),
        ];
        found
            .into_iter()
            .filter_map(|(is_left, what)| is_left.then_some(what))
            .collect()
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A number in a file of `/proc`.
fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap()
}

fn pty_size((cols, rows): (u16, u16)) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: cols * 10,
        pixel_height: rows * 20,
    }
}
