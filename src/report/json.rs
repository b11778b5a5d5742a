//! JSON on stdout.
//!
//! Invariant: file names are written unchanged and may contain any character. Control characters,
//! which could steer a terminal, are written as `\u` escapes, which JSON readers decode to the same
//! string.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::Formatter;

use crate::model::text::first_hostile;

struct Plain;

impl Formatter for Plain {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = first_hostile(rest) {
            let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
            out.write_all(before.as_bytes())?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = after.get(c.len_utf8()..).unwrap_or_default();
        }
        out.write_all(rest.as_bytes())
    }
}

pub(crate) fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut *out, Plain,
    ))?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{self, Write};

    use serde::ser::{Serialize, SerializeSeq, Serializer};

    /// Counts itself when it is serialized.
    struct CountedWriter<'c>(&'c Cell<usize>);

    impl Write for CountedWriter<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.set(self.0.get() + bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A list whose texts are each created after the ones before are written.
    struct Texts<'c>(&'c Cell<usize>);

    impl Serialize for Texts<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut list = serializer.serialize_seq(None)?;
            for number in 0..100 {
                assert!(
                    self.0.get() >= number * 1_000,
                    "{number} before the others were written"
                );
                list.serialize_element(&"x".repeat(1_000))?;
            }
            list.end()
        }
    }

    #[test]
    fn a_line_is_never_in_memory_as_a_whole() {
        let written = Cell::new(0);
        super::write_line(&mut CountedWriter(&written), &Texts(&written)).unwrap();
        assert_eq!(written.get(), 100 * 1_003 + 2);
    }

    #[test]
    fn what_could_steer_a_terminal_is_written_by_its_number() {
        let name = "a\u{1b}[2J\u{9b}2J\u{202e}b\u{e0041}\u{7f}é宽\n";
        let mut out = Vec::new();
        super::write_line(&mut out, &name).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text.trim_end(),
            r#""a\u001b[2J\u009b2J\u202eb\udb40\udc41\u007fé宽\n""#
        );
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), name);
    }
}
