//! The beginning of a file without most of the content of its strings and arrays, because the kind
//! of a record depends on types and keys, however long its texts are.
//!
//! Invariant: the skeleton of a JSON record is valid JSON.

use std::io::{self, Read};
use std::path::Path;

use memchr::{memchr2, memrchr};

use super::{HEAD, RECORDS};
use crate::source::packed;
use crate::source::regular;

/// Limit of a string in bytes.
const STRING: usize = 256;
/// Marks a string of which the rest is dropped.
const CUT: usize = usize::MAX;
/// Limit of the elements of an array, by depth of nesting.
const ELEMENTS: [usize; 3] = [RECORDS / 2, 6, 3];
/// Limit of the bytes read, and the limit once a record has ended.
const MOST: u64 = 256 << 20;
const ENOUGH: u64 = 16 << 20;
const CHUNK: usize = 256 << 10;
/// Limit of the skeleton in bytes.
const LARGEST: usize = 4 << 20;
/// Limit of open brackets.
const DEEPEST: usize = 1 << 16;
/// If the beginning ends in a line longer than this, in bytes, its first records may be truncated.
const LONG: usize = 64 << 10;

/// Whether the beginning of a file may not contain a single complete record.
pub(super) fn is_needed(head: &[u8]) -> bool {
    head.len() >= HEAD && memrchr(b'\n', head).is_none_or(|end| head.len() - end > LONG)
}

/// The skeleton of a file, decompressed if necessary, and whether all of it was read.
pub(super) fn of_file(path: &Path) -> io::Result<(Vec<u8>, bool)> {
    of(&mut packed::text_of(regular::open(path)?)?)
}

/// The skeleton of a text.
pub(super) fn of(text: &mut dyn Read) -> io::Result<(Vec<u8>, bool)> {
    let mut skeleton = Skeleton::default();
    let mut chunk = vec![0; CHUNK];
    let mut read = 0;
    while !skeleton.is_enough(read) {
        match text.read(&mut chunk) {
            Ok(0) => return Ok((skeleton.out, true)),
            Ok(count) => {
                skeleton.feed(chunk.get(..count).unwrap_or_default());
                read += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if read == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok((skeleton.out, false))
}

#[derive(Default)]
struct Skeleton {
    out: Vec<u8>,
    /// Open brackets: for arrays the number of elements that have ended.
    open: Vec<Option<usize>>,
    arrays: usize,
    /// Number of open brackets around the part that is dropped.
    left_out: Option<usize>,
    /// Bytes of the current string.
    string: Option<usize>,
    is_escaped: bool,
    /// Lines that ended between records.
    records: usize,
}

impl Skeleton {
    fn is_enough(&self, read: u64) -> bool {
        let is_clear = self.records >= RECORDS || self.records > 0 && read >= ENOUGH;
        is_clear || self.out.len() >= LARGEST || self.open.len() >= DEEPEST || read >= MOST
    }

    fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            let is_beyond = self.left_out.is_some() || self.string == Some(CUT);
            if self.string.is_some() && is_beyond && !self.is_escaped {
                // Most input is plain string content.
                let next = memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                bytes = bytes.get(next..).unwrap_or_default();
                if let Some((first, rest)) = bytes.split_first() {
                    self.in_string(*first);
                    bytes = rest;
                }
                continue;
            }
            bytes = rest;
            if self.string.is_some() {
                self.in_string(*first);
            } else {
                self.between(*first);
            }
        }
    }

    fn push(&mut self, byte: u8) {
        if self.left_out.is_none() {
            self.out.push(byte);
        }
    }

    fn in_string(&mut self, byte: u8) {
        let len = self.string.unwrap_or(0);
        let was_escaped = std::mem::take(&mut self.is_escaped);
        match byte {
            b'"' if !was_escaped => {
                self.string = None;
                self.push(byte);
            }
            _ => {
                self.is_escaped = byte == b'\\' && !was_escaped;
                if len < STRING {
                    self.push(byte);
                    self.string = Some(len + 1);
                } else if len != CUT {
                    self.string = Some(CUT);
                    self.trim_end();
                }
            }
        }
    }

    /// Ends a truncated string before an incomplete character or escape.
    fn trim_end(&mut self) {
        if self.left_out.is_some() {
            return;
        }
        let start = self.out.len().saturating_sub(STRING);
        let string = self.out.get(start..).unwrap_or_default();
        let string = string
            .utf8_chunks()
            .next()
            .map_or("", |chunk| chunk.valid());
        let end = string.find('\\').unwrap_or(string.len());
        self.out.truncate(start + end);
    }

    fn between(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.push(byte);
                self.string = Some(0);
                return;
            }
            b'{' => {
                self.push(byte);
                self.open.push(None);
                return;
            }
            b'[' => {
                self.push(byte);
                self.open.push(Some(0));
                self.arrays += 1;
                return;
            }
            b'}' | b']' => {
                self.arrays -= usize::from(matches!(self.open.pop(), Some(Some(_))));
                if self.left_out.is_some_and(|depth| self.open.len() < depth) {
                    self.left_out = None;
                }
            }
            b',' => {
                let depth = self.open.len();
                let arrays = self.arrays;
                if let Some(Some(ended)) = self.open.last_mut() {
                    *ended += 1;
                    let most = ELEMENTS.get(arrays.saturating_sub(1)).or(ELEMENTS.last());
                    if self.left_out.is_none() && most.is_some_and(|most| *ended >= *most) {
                        self.left_out = Some(depth);
                    }
                }
            }
            b'\n' if self.open.is_empty() => self.records += 1,
            _ => {}
        }
        self.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::{LARGEST, of};
    use crate::formats::json::parse;

    fn skeleton(text: &str) -> (String, bool) {
        let (out, is_whole) = of(&mut text.as_bytes()).unwrap();
        (String::from_utf8(out).unwrap(), is_whole)
    }

    #[test]
    fn what_is_short_stays_as_it_is() {
        for text in [
            "",
            "{\"a\":[1,{\"b\":\"c\\\"\"}]}\n{\"d\":null}\n",
            "[1,2]",
            "log\n{\"a\":\n1}",
            "{\"a\":\"b",
        ] {
            assert_eq!(skeleton(text), (text.to_owned(), true));
        }
    }

    #[test]
    fn long_strings_and_arrays_are_cut_and_all_else_is_there() {
        for long in [
            "x".repeat(900_000),
            "\\n".repeat(900_001),
            "é".repeat(900_000),
            "\\u00e9\\\"".repeat(90_000),
            "\\ud83d\\ude00".repeat(90_000),
        ] {
            for front in ["", "a", "ab", "abc"] {
                let record = format!(
                    "{{\"a\":\"{front}{long}\",\"type\":\"user\",\"b\":[[{}1],\"{long}\"],\"end\":1}}",
                    "[1],".repeat(9_000)
                );
                let (out, is_whole) = skeleton(&format!("{record}\n{record}\n"));
                assert!(is_whole && out.len() < LARGEST, "{}", out.len());
                assert_eq!(out.lines().count(), 2);
                for line in out.lines() {
                    let json = parse(line)
                        .unwrap_or_else(|_| panic!("{}", line.get(..2_000).unwrap_or(line)));
                    assert_eq!(
                        (json.get("type").str(), json.get("end").int()),
                        (Some("user"), Some(1))
                    );
                }
            }
        }
    }

    #[test]
    fn not_all_of_an_endless_record_is_held() {
        let (out, is_whole) = skeleton(&"{\"a\":1,\"b\":\"c\",".repeat(900_000));
        assert!(!is_whole && out.len() <= LARGEST + (256 << 10));
    }
}
