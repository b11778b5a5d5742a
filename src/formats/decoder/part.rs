//! Parts of a record that are values, or damage, by themselves.
//!
//! Invariant: a part that is read again by its place in the file is the same text as in its record.

use std::ops::Range;

use crate::model::edit::saturating_u32;
use crate::model::record::Origin;

/// A text without blanks, marks of the order of bytes and the zeros of a crash before it. A part of a record that is read again by its
/// place begins with none either.
pub(crate) fn started(text: &str) -> &str {
    text.trim_start_matches(|c: char| matches!(c, '\u{feff}' | '\0') || c.is_whitespace())
}

/// The same for what stands behind it.
pub(crate) fn ended(text: &str) -> &str {
    text.trim_end_matches(|c: char| c == '\0' || c.is_whitespace())
}

/// The value in a line of server-sent events, `data: {…}`; empty for the lines that only frame one.
pub fn unframed(line: &str) -> &str {
    // A record itself, which may be long, is not looked through.
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

/// A part of a record's text.
#[derive(Clone, Copy)]
pub(crate) struct TextPart<'a> {
    /// Where the record is.
    pub(crate) record: Origin,
    /// What is not UTF-8 in it.
    pub(crate) shifts: &'a [Shift],
    /// Where it begins in the text.
    pub(crate) at: usize,
    /// The part.
    pub(crate) text: &'a str,
}

impl TextPart<'_> {
    /// What is in a range of it, without blanks around and without the frame of an event.
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

    /// Its own place in the file.
    pub(crate) fn origin(self) -> Origin {
        let (start, end) = (self.byte(self.at), self.byte(self.at + self.text.len()));
        Origin {
            at: self.record.at + start as u64,
            len: saturating_u32(end - start),
            ..self.record
        }
    }

    /// Which byte of the record a place in the text is.
    fn byte(self, at: usize) -> usize {
        let before = self.shifts.partition_point(|shift| shift.text <= at);
        let shift = before.checked_sub(1).and_then(|last| self.shifts.get(last));
        shift.map_or(at, |shift| shift.bytes + at - shift.text)
    }
}

/// Behind bytes that are not UTF-8, places in the text are no longer those in the record.
pub(crate) struct Shift {
    text: usize,
    bytes: usize,
}

/// Where places in the text and in the record part.
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
