//! Splits one JSON document into records: the root object with its array of messages emptied, and
//! the elements of that array, as byte ranges.
//!
//! Only brackets and strings are parsed, so damage within an element stays within it, and the
//! beginning of a document can be split as well as the whole.

use std::ops::Range;

use memchr::{memchr2, memrchr_iter};

/// The first element of an array may be no object if it ends within so many bytes; else the line
/// belongs to a log.
const ODD: usize = 4 << 10;

/// Names of the array of messages; a document without them is split by its longest array of
/// objects.
const MESSAGES: [&[u8]; 2] = [b"\"messages\"", b"\"steps\""];

/// The byte ranges of a split document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// From the opening bracket to the closing one, or to the end of what is there.
    pub root: Range<usize>,
    /// The root object with its array of messages emptied; `None` if the root is an array.
    pub header: Option<Vec<u8>>,
    /// The elements that are complete.
    pub elements: Vec<Range<usize>>,
    /// What follows the last complete element or member if the document breaks off.
    pub cut: Option<Range<usize>>,
}

impl Split {
    /// Whether the document has its closing bracket.
    pub(crate) fn is_complete(&self) -> bool {
        self.cut.is_none()
    }
}

/// Splits a document. Lines before it, such as log messages, are skipped. `None` if there is no
/// document.
pub fn split(bytes: &[u8]) -> Option<Split> {
    let start = Roots::of(bytes).next(beginning(bytes))?;
    let mut scan = Scan { bytes, at: start };
    if bytes.get(start) == Some(&b'[') {
        let array = scan.array();
        let root = start..array.end.unwrap_or(bytes.len());
        let last = array
            .elements
            .last()
            .map_or(start + 1, |element| element.end);
        let cut = array.end.is_none().then_some(last..bytes.len());
        return Some(Split {
            root,
            header: None,
            elements: array.elements,
            cut,
        });
    }
    Some(scan.object())
}

/// Splits JSON values that follow one another, each over several lines, or an array of values.
pub fn split_values(bytes: &[u8]) -> Option<Split> {
    let mut roots = Roots::of(bytes);
    let start = roots.next(beginning(bytes))?;
    if bytes.get(start) == Some(&b'[') {
        return split(bytes);
    }
    let mut scan = Scan { bytes, at: start };
    let mut elements = Vec::new();
    let mut cut = None;
    let mut next = Some(start);
    while let Some(at) = next {
        scan.at = at;
        if scan.value().is_none() {
            cut = Some(at..bytes.len());
            break;
        }
        elements.push(at..scan.at);
        next = roots.next(scan.at);
    }
    let end = elements
        .last()
        .map_or(start, |value: &Range<usize>| value.end);
    let root = start..if cut.is_some() { bytes.len() } else { end };
    Some(Split {
        root,
        header: None,
        elements,
        cut,
    })
}

/// The last elements of a document of which these bytes are the end, in order: elements of the
/// outermost array that began earlier, or values that follow one another.
pub(crate) fn elements_at_end(bytes: &[u8]) -> Vec<Range<usize>> {
    /// A nesting level whose end was found, with the objects directly in it.
    struct NestingLevel {
        end: usize,
        is_array: bool,
        objects: Vec<Range<usize>>,
    }
    let mut levels = vec![NestingLevel {
        end: bytes.len(),
        is_array: true,
        objects: Vec::new(),
    }];
    let mut at = bytes.len();
    // Scanning backwards, a string starts at its closing quote: quotes within it are escaped.
    while let Some(found) = bytes
        .get(..at)
        .and_then(|rest| rest.iter().rposition(|byte| is_structure(*byte)))
    {
        at = found;
        match bytes.get(at) {
            Some(b'"') => match string_before(bytes, at) {
                Some(start) => at = start,
                None => break,
            },
            Some(byte @ (b'}' | b']')) => {
                levels.push(NestingLevel {
                    end: at + 1,
                    is_array: *byte == b']',
                    objects: Vec::new(),
                });
            }
            Some(byte) if levels.len() > 1 => {
                let ended = levels.pop().map_or(at..at, |level| at..level.end);
                if let Some(around) = levels.last_mut().filter(|_| *byte == b'{') {
                    around.objects.push(ended);
                }
            }
            _ => break,
        }
    }
    let mut arrays = levels
        .into_iter()
        .filter(|level| level.is_array)
        .map(|level| level.objects);
    let values = arrays.next().unwrap_or_default();
    let mut last = if values.is_empty() {
        arrays.next().unwrap_or_default()
    } else {
        values
    };
    last.reverse();
    last
}

fn is_structure(byte: u8) -> bool {
    matches!(byte, b'"' | b'{' | b'}' | b'[' | b']')
}

/// The opening quote of the string that ends at `end`.
fn string_before(bytes: &[u8], end: usize) -> Option<usize> {
    memrchr_iter(b'"', bytes.get(..end)?).find(|at| {
        let before = bytes.get(..*at).unwrap_or_default();
        before
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count()
            % 2
            == 0
    })
}

/// The offset of the first line, behind a byte order mark.
fn beginning(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    }
}

/// Finds lines that begin like a JSON document, with `{` or `[`.
struct Roots<'a> {
    bytes: &'a [u8],
    /// Budget in bytes for telling arrays from lines of a log: any `[` may seem to open an array
    /// that goes on to the end.
    budget: usize,
}

impl<'a> Roots<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            budget: ODD + 4 * bytes.len(),
        }
    }

    fn next(&mut self, mut line_start: usize) -> Option<usize> {
        for line in self
            .bytes
            .get(line_start..)?
            .split_inclusive(|byte| *byte == b'\n')
        {
            let indent = line
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
            let at = line_start + indent;
            let begins = match line.get(indent) {
                Some(b'{') => matches!(self.next_nonblank(at + 1), Some(b'"' | b'}') | None),
                Some(b'[') => {
                    matches!(self.next_nonblank(at + 1), Some(b'{' | b']') | None)
                        || self.is_odd_first(at + 1)
                }
                _ => false,
            };
            if begins {
                return Some(at);
            }
            line_start += line.len();
        }
        None
    }

    fn next_nonblank(&self, at: usize) -> Option<u8> {
        self.bytes
            .get(at..)?
            .iter()
            .copied()
            .find(|byte| !byte.is_ascii_whitespace())
    }

    /// Whether the first element of an array is no object and the second one is. A line of a log
    /// may begin like an array.
    fn is_odd_first(&mut self, at: usize) -> bool {
        let end = self.bytes.len().min(at + ODD.min(self.budget));
        let mut scan = Scan {
            bytes: self.bytes.get(..end).unwrap_or_default(),
            at,
        };
        let is_odd = scan.has_odd_first();
        self.budget = self.budget.saturating_sub(scan.at.saturating_sub(at));
        is_odd
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// An array of the root object, or the root itself.
struct Array {
    start: usize,
    /// Behind its closing bracket, if that was found.
    end: Option<usize>,
    elements: Vec<Range<usize>>,
    has_objects: bool,
}

impl Scan<'_> {
    /// Whether the first element is no object and the second one is.
    fn has_odd_first(&mut self) -> bool {
        let is_value = matches!(
            self.skip(),
            Some(b'"' | b'[' | b'-' | b'0'..=b'9' | b'n' | b't' | b'f')
        );
        if !is_value || self.value().is_none() || self.skip() != Some(b',') {
            return false;
        }
        self.at += 1;
        self.skip() == Some(b'{')
    }

    fn skip(&mut self) -> Option<u8> {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        self.peek()
    }

    /// Parses the root object from its opening bracket.
    fn object(&mut self) -> Split {
        let start = self.at;
        self.at += 1;
        let mut best: Option<(bool, Array)> = None;
        let mut last_member = self.at;
        let mut closed = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'}' => {
                    self.at += 1;
                    closed = true;
                    break;
                }
                b'"' => {
                    let Some((is_messages, array)) = self.member() else {
                        break;
                    };
                    let is_open = array.as_ref().is_some_and(|array| array.end.is_none());
                    if let Some(array) =
                        array.filter(|array| is_better(is_messages, array, best.as_ref()))
                    {
                        best = Some((is_messages, array));
                    }
                    if is_open {
                        break;
                    }
                    last_member = self.at;
                }
                _ => self.at += 1,
            }
        }
        self.split_object(
            start,
            best.map(|(_, array)| array),
            (!closed).then_some(last_member),
        )
    }

    fn split_object(
        &self,
        start: usize,
        messages: Option<Array>,
        open_after: Option<usize>,
    ) -> Split {
        let slice = |range: Range<usize>| self.bytes.get(range).unwrap_or_default();
        let root_end = if open_after.is_some() {
            self.bytes.len()
        } else {
            self.at
        };
        let kept_end = open_after.unwrap_or(self.at);
        let mut header = Vec::new();
        let mut cut_at = kept_end;
        let mut elements = Vec::new();
        if let Some(array) = messages {
            header.extend_from_slice(slice(start..array.start + 1));
            header.push(b']');
            if let Some(end) = array.end {
                header.extend_from_slice(slice(end..kept_end));
            } else {
                cut_at = array
                    .elements
                    .last()
                    .map_or(array.start + 1, |element| element.end);
            }
            elements = array.elements;
        } else {
            header.extend_from_slice(slice(start..kept_end));
        }
        if open_after.is_some() {
            header.push(b'}');
        }
        let cut = open_after.map(|_| cut_at..self.bytes.len());
        Split {
            root: start..root_end,
            header: Some(header),
            elements,
            cut,
        }
    }

    /// Parses a member from its key: whether it is named like the array of messages, and its value
    /// if that is an array. `None` if it breaks off.
    fn member(&mut self) -> Option<(bool, Option<Array>)> {
        let key = self.at;
        self.string()?;
        let is_messages = self
            .bytes
            .get(key..self.at)
            .is_some_and(|key| MESSAGES.contains(&key));
        while self.peek()? != b':' {
            self.at += 1;
        }
        self.at += 1;
        while self.peek()?.is_ascii_whitespace() {
            self.at += 1;
        }
        match self.peek()? {
            b'[' => return Some((is_messages, Some(self.array()))),
            // The value is missing.
            b'}' | b',' => {}
            _ => self.value()?,
        }
        Some((false, None))
    }

    /// Parses an array from its opening bracket.
    fn array(&mut self) -> Array {
        let mut array = Array {
            start: self.at,
            end: None,
            elements: Vec::new(),
            has_objects: false,
        };
        self.at += 1;
        while let Some(byte) = self.peek() {
            if byte == b']' {
                self.at += 1;
                array.end = Some(self.at);
                break;
            }
            if byte == b',' || byte.is_ascii_whitespace() {
                self.at += 1;
                continue;
            }
            let start = self.at;
            if self.value().is_none() {
                break;
            }
            array.has_objects |= byte == b'{';
            array.elements.push(start..self.at);
        }
        array
    }

    /// Skips a value from its first byte. `None` if it breaks off.
    fn value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                _ if depth == 0 => return self.scalar(),
                _ => self.at += 1,
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Skips a number or a word, which may go on beyond the end of the bytes.
    fn scalar(&mut self) -> Option<()> {
        while !matches!(
            self.peek()?,
            b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'
        ) {
            self.at += 1;
        }
        Some(())
    }

    /// Skips a string from its opening quote.
    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..)?;
            let found = memchr2(b'"', b'\\', rest)?;
            let is_end = rest.get(found) == Some(&b'"');
            self.at += found + if is_end { 1 } else { 2 };
            if is_end {
                return Some(());
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

fn is_better(is_messages: bool, array: &Array, best: Option<&(bool, Array)>) -> bool {
    match best {
        Some((true, _)) if !is_messages => false,
        Some((false, best)) if !is_messages => {
            array.has_objects && array.elements.len() > best.elements.len()
        }
        None if !is_messages => array.has_objects,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{Split, split};

    fn parts(text: &str) -> (Option<String>, Vec<&str>, Split) {
        let split = split(text.as_bytes()).unwrap();
        let elements = split
            .elements
            .iter()
            .map(|range| text.get(range.clone()).unwrap())
            .collect();
        (
            split
                .header
                .clone()
                .map(|header| String::from_utf8(header).unwrap()),
            elements,
            split,
        )
    }

    #[test]
    fn the_array_of_messages_is_emptied() {
        let text = r#"{"v": 1, "tools": [{"a":1},{"b":[2]}], "messages": [ {"t":"]}\"["}, {"u":{}} ,3], "end": null}"#;
        let (header, elements, split) = parts(text);
        let expected = r#"{"v": 1, "tools": [{"a":1},{"b":[2]}], "messages": [], "end": null}"#;
        assert_eq!(header.as_deref(), Some(expected));
        assert_eq!(elements, [r#"{"t":"]}\"["}"#, r#"{"u":{}}"#, "3"]);
        assert!(split.is_complete() && split.root == (0..text.len()));
    }

    #[test]
    fn without_messages_the_longest_array_of_objects_counts() {
        let (header, elements, _) =
            parts(r#"{"a":[1,2,3,4],"b":[{}],"c":[{},{}],"d":[{"messages":[{}]}]}"#);
        assert_eq!(
            header.as_deref(),
            Some(r#"{"a":[1,2,3,4],"b":[{}],"c":[],"d":[{"messages":[{}]}]}"#)
        );
        assert_eq!(elements.len(), 2);
        let (header, elements, _) = parts(r#"{"messages":[],"tools":[{}]}"#);
        assert_eq!(
            (header.as_deref(), elements.len()),
            (Some(r#"{"messages":[],"tools":[{}]}"#), 0)
        );
    }

    #[test]
    fn values_follow_one_another() {
        let text = "{\n \"a\": 1\n}\nnoise\n{\"b\":\n [{}]} {\"c\":2}\n{\"d\": ";
        let split = super::split_values(text.as_bytes()).unwrap();
        let values: Vec<&str> = split
            .elements
            .iter()
            .map(|range| text.get(range.clone()).unwrap())
            .collect();
        assert_eq!(values, ["{\n \"a\": 1\n}", "{\"b\":\n [{}]}", "{\"c\":2}"]);
        assert_eq!(split.cut.and_then(|cut| text.get(cut)), Some("{\"d\": "));
        assert_eq!(
            super::split_values(b"[{\"a\":1},{}]")
                .unwrap()
                .elements
                .len(),
            2
        );
        assert_eq!(super::split_values(b"words"), None);
    }

    #[test]
    fn the_last_elements_are_known_by_the_end_alone() {
        let text = r#"{"v":"]}","messages":[{"t":"a]\"{"},{"u":[{"n":1}],"w":"\\"},{"x":{"y":"[{"}}],"tags":[{"z":1}],"end":"]"}"#;
        let messages = [
            r#"{"t":"a]\"{"}"#,
            r#"{"u":[{"n":1}],"w":"\\"}"#,
            r#"{"x":{"y":"[{"}}"#,
        ];
        let first = text.find(messages[0]).unwrap();
        let inner = text.find("],\"tags").unwrap();
        for from in first..inner {
            let end = text.get(from..).unwrap();
            let found = super::elements_at_end(end.as_bytes());
            let found: Vec<&str> = found
                .into_iter()
                .map(|range| end.get(range).unwrap())
                .collect();
            let whole = messages
                .iter()
                .filter(|message| text.find(*message).unwrap() >= from);
            let whole: Vec<&str> = whole.copied().collect();
            assert_eq!(found, whole, "{from}");
        }
        for (text, expected) in [
            (
                "1},\n{\"a\":[{}]},{\"b\":2}]\n",
                vec!["{\"a\":[{}]}", "{\"b\":2}"],
            ),
            (
                "\"x\": 1\n}\n{\n\"a\": 1\n}\n{\n\"b\": [{}]\n}\n",
                vec!["{\n\"a\": 1\n}", "{\n\"b\": [{}]\n}"],
            ),
            ("no document", vec![]),
            ("}]}", vec![]),
        ] {
            let found = super::elements_at_end(text.as_bytes());
            let found: Vec<&str> = found
                .into_iter()
                .map(|range| text.get(range).unwrap())
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn lines_before_a_document_are_skipped() {
        let text = "INFO [x] exporting\n[warn] {y}\n  [ {\"a\":1}, {\"b\":2} ]\n";
        let (header, elements, split) = parts(text);
        assert_eq!((header, elements.len()), (None, 2));
        assert_eq!(
            text.get(split.root.clone()).unwrap(),
            "[ {\"a\":1}, {\"b\":2} ]"
        );
        assert_eq!(super::split(b"no document [at] {all}\n"), None);
    }

    #[test]
    fn lines_that_begin_no_document_are_looked_at_a_few_times() {
        for line in ["\n", "\t\n", "[[\n", "[ [1,\n", "[\"\n", "{\n", "[\n \n"] {
            let text = format!("{}[1, {{\"a\":1}}]", line.repeat(200_000));
            let mut roots = super::Roots::of(text.as_bytes());
            let found = roots.next(0);
            let is_blank = line.trim().is_empty();
            assert_eq!(
                found.filter(|_| is_blank),
                is_blank.then(|| text.len() - 12),
                "{line:?}"
            );
            assert!(text.len() * 4 + super::ODD >= roots.budget);
        }
        let (value, long) = (
            "{}\n[[\n",
            format!("[\"{}\", {{}}]", "x".repeat(super::ODD - 9)),
        );
        let text = value.repeat(100_000);
        let split = super::split_values(text.as_bytes()).unwrap();
        assert_eq!(split.elements.len(), 100_000);
        assert_eq!(super::split(long.as_bytes()).unwrap().elements.len(), 2);
    }

    #[test]
    fn every_beginning_can_be_split() {
        let text = r#"{"v":"x","list":[1],"messages":[{"a":"é\\"},{"b":[1]}],"w":12}"#;
        let whole = parts(text).2;
        for end in 1..text.len() {
            let Some(split) = split(&text.as_bytes()[..end]) else {
                continue;
            };
            assert!(!split.is_complete());
            assert!(whole.elements.starts_with(&split.elements), "{end}");
            let header = String::from_utf8(split.header.unwrap()).unwrap();
            assert!(
                serde_json::from_str::<serde_json::Value>(&header).is_ok(),
                "{end}: {header}"
            );
        }
    }
}
