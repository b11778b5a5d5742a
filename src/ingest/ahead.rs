//! Much of a file at once: another thread reads on and takes the JSON of the next lines apart while this one
//! decodes.
//!
//! Invariant: lines are decoded in their order, by one decoder, on the thread that asks; what is done ahead
//! depends on the bytes of a line alone.

use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::{io, thread};

use crossbeam_channel::bounded;
use memchr::memrchr;

use crate::formats::decoder::value_of;
use crate::formats::json::Json;
use crate::source::follow::Follower;
use crate::source::lines::{Ended, Line, LineBuffer};

/// Fewer bytes are done before a thread is there.
const WORTH_A_THREAD: u64 = 256 << 10;
/// How much is read and handed over together: so much stays near the processor.
const PORTION: usize = 128 << 10;
/// Portions that may wait.
const AHEAD: usize = 3;

/// Lines that end in one portion of a file.
pub(crate) struct Portion<'r> {
    /// Where the portion begins.
    pub(crate) at: u64,
    /// The line that began before it.
    pub(crate) first: Option<Ended>,
    /// Those that lie in it, with what JSON was found in them ahead.
    pub(crate) lines: Vec<(Line<'r>, Option<Json<'r>>)>,
}

/// Reads on until the room is full or the file ends, and emits one portion after the other. Returns how
/// many bytes it read. What `is_counted` takes less than a thread would: nothing is done ahead.
pub(crate) fn read_portions<'r>(
    follower: &mut Follower,
    buffer: &mut LineBuffer,
    room: &'r mut [u8],
    is_counted: bool,
    mut each: impl FnMut(Portion<'r>),
) -> io::Result<usize> {
    static CAN_HELP: LazyLock<bool> =
        LazyLock::new(|| thread::available_parallelism().is_ok_and(|threads| threads.get() > 1));
    let left = follower.len().saturating_sub(follower.offset);
    // In a long line there is nothing to take apart, and what holds it should not outlive its thread.
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

/// Reads portions for as long as they are welcome. A line that one portion has only the beginning of is the first
/// one of the next: both lie in the room, one behind the other.
fn read_each<'r>(
    follower: &mut Follower,
    buffer: &mut LineBuffer,
    room: &'r mut [u8],
    mut each: impl FnMut(Portion<'r>) -> bool,
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
        if !each(Portion { at, first, lines }) || is_last {
            break Ok(sum);
        }
    };
    // Wherever it ended, what was read is taken.
    buffer.cut(rest.get(..begun).unwrap_or_default());
    end
}
