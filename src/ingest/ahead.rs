//! Many lines at once: another thread takes the JSON of the next ones apart while this one decodes.
//!
//! Invariant: lines are decoded in their order, by one decoder, on the thread that asks; what is done ahead
//! depends on the bytes of a line alone.

use std::path::Path;
use std::sync::LazyLock;
use std::thread;

use crossbeam_channel::bounded;

use super::files::Kind;
use super::strand::tell_line;
use super::teller::Teller;
use crate::formats::decoder::value_of;
use crate::formats::json::Json;
use crate::source::lines::Line;

/// Fewer bytes are done before a thread is there.
const WORTH_A_THREAD: u64 = 256 << 10;
/// Lines that are handed over together.
const GROUP: usize = 16;
/// Groups that may wait.
const AHEAD: usize = 8;

/// Tells lines of a file that follow one another.
pub fn tell_lines(lines: &[Line<'_>], kind: Kind, path: &Path, teller: &mut Teller<'_>) {
    static CAN_HELP: LazyLock<bool> =
        LazyLock::new(|| thread::available_parallelism().is_ok_and(|threads| threads.get() > 1));
    let bytes: u64 = lines.iter().map(|line| u64::from(line.record().origin.len)).sum();
    if bytes < WORTH_A_THREAD || !*CAN_HELP {
        for line in lines {
            tell_line(*line, kind, path, teller);
        }
        return;
    }
    thread::scope(|scope| {
        let (send, values) = bounded(AHEAD);
        scope.spawn(move || {
            for group in lines.chunks(GROUP) {
                let read: Vec<Option<Json<'_>>> =
                    group.iter().map(|line| value_of(line.record().bytes)).collect();
                if send.send(read).is_err() {
                    return;
                }
            }
        });
        for (group, values) in lines.chunks(GROUP).zip(values) {
            for (line, value) in group.iter().zip(values) {
                match (*line, value) {
                    (Line::Whole(record), Some(value)) => {
                        teller.tell_read(record, &value, kind.place(path, record.origin.line));
                    }
                    (line, _) => tell_line(line, kind, path, teller),
                }
            }
        }
    });
}
