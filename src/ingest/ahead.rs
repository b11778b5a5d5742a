//! Reads a large part of a file with two threads: one reads ahead and parses the JSON of the next
//! lines while the caller decodes.
//!
//! Invariant: lines are decoded in order, by one decoder, on the calling thread; what is done ahead
//! depends only on the bytes of a line.

use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::{io, thread};

use crossbeam_channel::bounded;
use memchr::memrchr;

use crate::formats::decoder::value_of;
use crate::formats::json::Json;
use crate::source::follow::Follower;
use crate::source::lines::{Ended, Line, LineBuffer};

/// Smaller files, in bytes, are done before a thread would have started.
const WORTH_A_THREAD: u64 = 256 << 10;
/// Bytes that are read and handed over together; small enough to stay in the processor's cache.
const PORTION: usize = 128 << 10;
/// Limit of portions in the queue.
const AHEAD: usize = 3;

/// Lines that end in one portion of a file.
pub(crate) struct LinePortion<'r> {
    /// Offset of the portion in the file.
    pub(crate) at: u64,
    /// The line that began in an earlier portion.
    pub(crate) first: Option<Ended>,
    /// Lines within the portion, with the JSON parsed ahead.
    pub(crate) lines: Vec<(Line<'r>, Option<Json<'r>>)>,
}

/// Reads until the buffer is full or the file ends, and emits each portion. Returns the number of
/// bytes read. With `is_counted` there is no second thread: counting costs less than the thread
/// would.
pub(crate) fn read_portions<'r>(
    follower: &mut Follower,
    buffer: &mut LineBuffer,
    room: &'r mut [u8],
    is_counted: bool,
    mut each: impl FnMut(LinePortion<'r>),
) -> io::Result<usize> {
    static CAN_HELP: LazyLock<bool> =
        LazyLock::new(|| thread::available_parallelism().is_ok_and(|threads| threads.get() > 1));
    let left = follower.len().saturating_sub(follower.offset);
    // A long line has nothing to parse ahead, and its buffer must not outlive the thread.
    if is_counted || left < WORTH_A_THREAD || buffer.is_in_long_line() || !*CAN_HELP {
        return read_each(follower, buffer, room, |portion| {
            each(portion);
            true
        });
    }
    thread::scope(|scope| {
        let (send, portions) = bounded(AHEAD);
        let ahead = scope.spawn(move || {
            read_each(follower, buffer, room, |mut portion| {
                portion
                    .lines
                    .iter_mut()
                    .for_each(|(line, value)| *value = value_of(line.record().bytes));
                send.send(portion).is_ok()
            })
        });
        portions.into_iter().for_each(each);
        ahead.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Reads portions while `each` accepts them. A line that a portion holds only the beginning of is
/// the first one of the next, so both portions are in the buffer, one after the other.
fn read_each<'r>(
    follower: &mut Follower,
    buffer: &mut LineBuffer,
    room: &'r mut [u8],
    mut each: impl FnMut(LinePortion<'r>) -> bool,
) -> io::Result<usize> {
    let (mut sum, mut begun, mut rest) = (0, 0, room);
    let end = loop {
        let at = follower.offset - begun as u64;
        let filled = rest.len().min(begun + PORTION);
        let read = match follower.read(rest.get_mut(begun..filled).unwrap_or_default()) {
            Ok(read) => read,
            Err(error) => break Err(error),
        };
        sum += read;
        let is_last = begun + read < filled || filled == rest.len();
        let new = rest.get(begun..begun + read).unwrap_or_default();
        let whole = if is_last {
            Some(read)
        } else {
            memrchr(b'\n', new).map(|newline| newline + 1)
        };
        let Some(whole) = whole else {
            begun += read;
            continue;
        };
        let (lines, after) = rest.split_at_mut(begun + whole);
        (begun, rest) = (read - whole, after);
        let (first, lines) = buffer.cut(lines);
        let lines = lines.into_iter().map(|line| (line, None)).collect();
        if !each(LinePortion { at, first, lines }) || is_last {
            break Ok(sum);
        }
    };
    // Wherever it ended, the bytes read are consumed.
    buffer.cut(rest.get(..begun).unwrap_or_default());
    end
}
