//! Ranges of a record that hold a value, or damage, of their own.
//!
//! Invariant: a range that is read again by its offset in the file gives the same text as in its record.

use std::ops::Range;

use crate::model::edit::saturating_u32;
use crate::model::record::Origin;

/// A text without leading blanks, byte order marks and the zeros that a crash leaves.
pub(crate) fn started(text: &str) -> &str {
    text.trim_start_matches(|c: char| matches!(c, '\u{feff}' | '\0') || c.is_whitespace())
}

/// A text without trailing blanks and zeros.
pub(crate) fn ended(text: &str) -> &str {
    text.trim_end_matches(|c: char| c == '\0' || c.is_whitespace())
}

/// The value in a line of server-sent events, `data: {…}`; empty for the lines that only frame one.
pub fn unframed(line: &str) -> &str {
    // A record itself may be long, and need not be searched.
    if line.starts_with(['{', '[']) {
        return line;
    }
    if let Some(value) = line.strip_prefix("data:").map(str::trim_start)
        && value.starts_with(['{', '['])
    {
        return value;
    }
    let is_event = |name: &str| name == "message" || name.contains('.') && !name.contains(' ');
    let is_frame = match line.split_once(": ") {
        Some(("event", name)) => is_event(name),
        Some(("id", id)) => id.starts_with("evt_") && !id.contains(' '),
        Some(("", comment)) => matches!(comment, "ping" | "heartbeat" | "keepalive" | "keep-alive"),
        _ => line == ":",
    };
    if is_frame { "" } else { line }
}

/// A range of a record's text.
#[derive(Clone, Copy)]
pub(crate) struct TextPart<'a> {
    pub(crate) record: Origin,
    /// Where offsets in the text and in the record diverge.
    pub(crate) shifts: &'a [Shift],
    /// The offset of the range in the text.
    pub(crate) at: usize,
    pub(crate) text: &'a str,
}

impl TextPart<'_> {
    /// A range of it, without blanks around it and without the frame of an event.
    pub(crate) fn within(self, range: Range<usize>) -> Self {
        let text = self.text.get(range.clone()).unwrap_or_default();
        let part = unframed(ended(started(text)));
        let end = ended(text).len();
        Self {
            at: self.at + range.start + end.saturating_sub(part.len()),
            text: part,
            ..self
        }
    }

    /// Its position in the file.
    pub(crate) fn origin(self) -> Origin {
        let (start, end) = (self.byte(self.at), self.byte(self.at + self.text.len()));
        Origin {
            at: self.record.at + start as u64,
            len: saturating_u32(end - start),
            ..self.record
        }
    }

    /// The offset in the record of an offset in the text.
    fn byte(self, at: usize) -> usize {
        let before = self.shifts.partition_point(|shift| shift.text <= at);
        let shift = before.checked_sub(1).and_then(|last| self.shifts.get(last));
        shift.map_or(at, |shift| shift.bytes + at - shift.text)
    }
}

/// An offset in the text and the one in the record that it stands for: behind bytes that are not UTF-8 they differ.
pub(crate) struct Shift {
    text: usize,
    bytes: usize,
}

/// One shift for each run of bytes that are not UTF-8.
pub(crate) fn shifts(bytes: &[u8]) -> Vec<Shift> {
    let (mut text, mut place) = (0, 0);
    let invalid = bytes.utf8_chunks().filter_map(|chunk| {
        text += chunk.valid().len() + char::REPLACEMENT_CHARACTER.len_utf8();
        place += chunk.valid().len() + chunk.invalid().len();
        (!chunk.invalid().is_empty()).then_some(Shift { text, bytes: place })
    });
    invalid.collect()
}

#[cfg(test)]
mod tests {
    use super::{ended, started};

    #[test]
    fn zeros_of_a_crash_are_no_part_of_a_record() {
        let record = "\0\0 \0\u{feff}{\"a\":\"b\"}\0\n\0";
        assert_eq!(ended(started(record)), "{\"a\":\"b\"}");
        assert_eq!(ended(started("\0\0\n")), "");
    }
}
